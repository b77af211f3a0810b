"""The class below ``Tensor`` that has torch's bound methods: ``torch._C.TensorBase``.

Mirrors ``THPVariableType`` and its metaclass in ``torch/csrc/autograd/python_variable.cpp``.
"""

from __future__ import annotations

from typing import Final

_stored_name: Final = vars(type)["__name__"]
"""See Note [tp_name] in :mod:`mindtorch_v2.pybind.classes`."""


class _TensorMeta(type):
    """The metaclass of tensors: ``__name__`` is short, the stored name has its module."""

    @property
    def __name__(cls) -> str:  # type: ignore[override]
        name: str = _stored_name.__get__(cls)
        return name.rpartition(".")[2]

    @__name__.setter
    def __name__(cls, name: str) -> None:
        _stored_name.__set__(cls, name)


class TensorBase(metaclass=_TensorMeta):
    """Has no state of its own; its methods are bound from the profile."""

    __slots__ = ()


_TensorMeta.__module__ = TensorBase.__module__ = "mindtorch_v2._C"
_stored_name.__set__(TensorBase, "torch._C.TensorBase")
