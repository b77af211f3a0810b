"""What a tensor does not know of itself: its class in Python answers for it.

Mirrors the custom policies of ``c10/core/TensorImpl.h``: ``SizesStridesPolicy``,
``python_custom_device_`` and ``python_custom_layout_``.  Tensors of C++ with policies of their own
(nested, functional, sparse) have classes or layouts here instead.

Note [Custom policies]
    A subclass may ask to be asked: for its sizes, strides, device or layout.  Then whoever reads
    one of these, from Python or from within a kernel, makes a call that ``__torch_dispatch__``
    answers.  So such a tensor has these slots empty, and CPython asks ``__getattr__`` for a slot
    without a value.  There is no reader that could forget to ask, and
    a tensor that knows itself pays nothing: the class gets its ``__getattr__`` when the first of
    its tensors asks to be asked.

    What it was made with is kept as its ``own``: it counts where the class declines to say (None),
    and it is what a shallow copy gets, which has no object in Python to ask.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol
from weakref import WeakSet

from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.dtype import layout, memory_format
from mindtorch_v2.tensor.size import Size

if TYPE_CHECKING:
    from mindtorch_v2.tensor.tensor import Tensor

_STRIDES: Final = ("_strides",)
_SIZES: Final = (*_STRIDES, "_sizes", "_storage_offset")
SIZES_STRIDES_POLICIES: Final[Mapping[str | None, tuple[str, ...]]] = {
    None: (),
    "strides": _STRIDES,
    "sizes": _SIZES,
}
"""``SizesStridesPolicy``: which slots are asked for."""

_ASKED: Final = frozenset({*_SIZES, "_device", "_layout"})
"""All slots that a class may answer for."""


class PyInterpreter(Protocol):
    """Puts the questions of C++ to the class of a tensor: ``c10::impl::PyInterpreter``."""

    def slot(self, tensor: Tensor, name: str) -> Any: ...

    def dim(self, tensor: Tensor) -> int: ...

    def numel(self, tensor: Tensor) -> int: ...

    def sym_numel(self, tensor: Tensor) -> int: ...

    def is_contiguous(self, tensor: Tensor, kind: memory_format) -> bool: ...


class Custom(NamedTuple):
    """Which questions the class of a tensor answers, and who puts them."""

    #: The slots that are asked for, with the values that the tensor was made with.
    own: Mapping[str, Any]
    interpreter: PyInterpreter

    @property
    def asks_for_sizes(self) -> bool:
        return "_sizes" in self.own

    @property
    def asks_for_strides(self) -> bool:
        return "_strides" in self.own


def _have_asked(cls: type) -> None:
    """Give a class what CPython asks for slots without a value; what it has itself comes next."""
    otherwise = getattr(cls, "__getattr__", object.__getattribute__)
    if otherwise in _ASKING:
        return

    def ask_or(self: Any, name: str) -> Any:
        if name in _ASKED and self._custom is not None:
            return self._custom.interpreter.slot(self, name)
        return otherwise(self, name)  # by default raises what the look-up has raised

    _ASKING.add(ask_or)
    type.__setattr__(cls, "__getattr__", ask_or)


_ASKING: Final[WeakSet[Callable[[Any, str], Any]]] = WeakSet()


def customize(tensor: Tensor, slots: tuple[str, ...], interpreter: PyInterpreter) -> None:
    """From now on these slots are asked for."""
    if slots:
        _have_asked(type(tensor))
        tensor._custom = Custom({name: getattr(tensor, name) for name in slots}, interpreter)
        for name in slots:
            delattr(tensor, name)


def own(tensor: Tensor, slot: str) -> Any:
    """The tensor's own value, without asking."""
    custom = tensor._custom
    if custom is not None and slot in custom.own:
        return custom.own[slot]
    return getattr(tensor, slot)


def own_geometry(tensor: Tensor) -> tuple[Size, tuple[int, ...], int]:
    """Sizes, strides and offset that nobody is asked for."""
    return own(tensor, "_sizes"), own(tensor, "_strides"), own(tensor, "_storage_offset")


def own_kind(tensor: Tensor) -> tuple[layout, Device]:
    """Layout and device that nobody is asked for."""
    return own(tensor, "_layout"), own(tensor, "_device")
