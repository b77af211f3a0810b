"""The class below ``Tensor`` that has torch's bound methods: ``torch._C.TensorBase``.

Mirrors ``THPVariableType`` and its metaclass in ``torch/csrc/autograd/python_variable.cpp``.
"""

from __future__ import annotations

from typing import Any, Final

_stored_name: Final = vars(type)["__name__"]
"""See Note [tp_name] in :mod:`mindtorch_v2.pybind.classes`."""


def _short_name(cls: type) -> str:
    name: str = _stored_name.__get__(cls)
    return name.rpartition(".")[2]


class _TensorMeta(type):
    """The metaclass of tensors: ``__name__`` is short, the stored name has its module."""

    __name__: Any = property(_short_name, _stored_name.__set__)


class TensorBase(metaclass=_TensorMeta):
    """Has no state of its own; its methods are bound from the profile."""

    __slots__ = ()


_TensorMeta.__module__ = TensorBase.__module__ = "mindtorch_v2._C"
_stored_name.__set__(TensorBase, "torch._C.TensorBase")
