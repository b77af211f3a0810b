"""The class below ``Tensor`` that has torch's bound methods: ``torch._C.TensorBase``.

Mirrors ``THPVariableType`` and its metaclass in ``torch/csrc/autograd/python_variable.cpp``.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2.tensor.made_in_c import MadeInC
from mindtorch_v2.torch_function import disabled

_stored_name: Final = vars(type)["__name__"]
"""See Note [tp_name] in :mod:`mindtorch_v2.pybind.classes`."""


def _short_name(cls: type) -> str:
    name: str = _stored_name.__get__(cls)
    return name.rpartition(".")[2]


def _unbound(cls: type, name: str) -> Any:
    """A class's method as it was written; None if it has none."""
    method = getattr(cls, name, None)
    return getattr(method, "__func__", method)


class _TensorMeta(type, metaclass=MadeInC):
    """The metaclass of tensors: ``__name__`` is short, the stored name has its module.

    A class whose operators are overridden has its functions not overridden, unless it says how.
    """

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> None:
        super().__init__(name, bases, namespace)
        if not bases:
            return
        if not _tensor_class:
            _tensor_class.append(cls)
        (tensor,) = _tensor_class
        if not issubclass(cls, tensor):
            raise RuntimeError("Cannot subclass _TensorBase directly")
        if getattr(cls, "__torch_dispatch__", None) is getattr(tensor, "__torch_dispatch__", None):
            return
        if _unbound(cls, "__torch_function__") is _unbound(tensor, "__torch_function__"):
            cls.__torch_function__ = disabled

    __module__ = "mindtorch_v2._C"
    __name__: Any = property(_short_name, _stored_name.__set__)


_tensor_class: Final[list[Any]] = []
"""``torch.Tensor``, the first class below TensorBase and the only one directly below it."""


class TensorBase(metaclass=_TensorMeta):
    """Has no state of its own; its methods are bound from the profile."""

    __slots__ = ()

    def __reduce__(self) -> Any:
        """What ``copyreg`` does for a class of C: it makes one of that, which refuses."""
        make: Any = TensorBase
        return make(self)


TensorBase.__module__ = "mindtorch_v2._C"
_stored_name.__set__(TensorBase, "torch._C.TensorBase")
