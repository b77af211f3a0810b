"""``torch.Size``: the shape of a tensor, a tuple of integers.

Mirrors ``torch/csrc/Size.cpp``, without symbolic sizes.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Iterable
from typing import Any, Final, SupportsIndex, overload

from mindtorch_v2.call_site import is_in_place
from mindtorch_v2.numpy_later import np
from mindtorch_v2.tensor.made_in_c import METH_NOARGS, MadeInC, final
from mindtorch_v2.tensor.scalars import HEAP_TYPE, type_name
from mindtorch_v2.tensor.support import HABITS, worded

_INT64: Final = 1 << 63
_SEQUENCES: Final = (list, tuple, str, bytes, bytearray)
"""Builtin types that repeat and concatenate themselves."""


@final
class Size(tuple[int, ...], metaclass=MadeInC):
    """The sizes of a tensor's dimensions; TypeError for what is no integer."""

    __slots__ = ()
    __module__ = "mindtorch_v2"

    def __new__(cls, *sizes: Any, **keywords: Any) -> Size:
        if keywords:
            raise TypeError("tuple() takes no keyword arguments")
        if len(sizes) > 1:
            raise TypeError(f"tuple expected at most 1 argument, got {len(sizes)}")
        items: Iterable[Any] = sizes[0] if sizes else ()
        return super().__new__(cls, [_checked(*item) for item in enumerate(items)])

    @classmethod
    def _of(cls, sizes: Iterable[int]) -> Size:
        """The size of what are integers for certain."""
        return super().__new__(cls, sizes)

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, map(_as_int64, self)))}])"

    @METH_NOARGS
    def numel(self) -> int:
        """The number of elements: the product, in 64 bits as C++ has it."""
        product = 1
        for size in self:
            product *= _as_int64(size)
        return (product + _INT64) % (2 * _INT64) - _INT64

    @overload
    def __getitem__(self, at: SupportsIndex) -> int: ...
    @overload
    def __getitem__(self, at: slice) -> Size: ...
    def __getitem__(self, at: SupportsIndex | slice) -> int | Size:
        found = super().__getitem__(at)
        return Size(found) if isinstance(found, tuple) else found

    def __add__(self, other: Any) -> Any:
        answer = _reflected("__radd__", other, self)
        if answer is not NotImplemented:
            return answer
        if not isinstance(other, tuple):
            raise worded("add a list to a Size", list=type(other).__name__)
        return Size(super().__add__(other))

    if HABITS["a tuple plus a Size is a Size"]:

        def __radd__(self, other: Any) -> Size:
            if not isinstance(other, tuple):
                return NotImplemented
            return Size(other + tuple(self))

    def __mul__(self, times: Any) -> Any:
        answer = NotImplemented
        if not isinstance(times, np.generic):  # which leave this to sequences
            answer = _reflected("__rmul__", times, self)
        return self._repeated(times) if answer is NotImplemented else answer

    def __rmul__(self, times: Any) -> Any:
        """``times * self``; ``times *= self`` is for ``times`` alone if it may have items."""
        if isinstance(times, _SEQUENCES) or (
            type(times).__flags__ & HEAP_TYPE and is_in_place(sys._getframe(1))
        ):
            return NotImplemented
        return self._repeated(times)

    def _repeated(self, times: Any) -> Size:
        """``sq_repeat``."""
        if not hasattr(type(times), "__index__"):
            raise TypeError(f"can't multiply sequence by non-int of type '{type_name(times)}'")
        return Size(super().__mul__(times))

    def __reduce__(self) -> tuple[type[Size], tuple[tuple[int, ...]]]:
        return Size, (tuple(self),)


def _reflected(name: str, operand: Any, size: Size) -> Any:
    """What the right operand answers, which is asked first: a tuple of C has no operators of
    numbers, and repeats and concatenates only when nobody else knows better."""
    method = getattr(type(operand), name, None)
    if method is None or isinstance(operand, _SEQUENCES):
        return NotImplemented
    return method(operand, size)


def _checked(position: int, size: Any) -> int:
    """A size as the tuple keeps it: NumPy's integers as they are, a bool as a number."""
    if isinstance(size, (int, np.integer)) and not isinstance(size, bool):
        return size  # type: ignore[return-value]
    try:
        return int(operator.index(size))
    except Exception:
        raise TypeError(
            f"torch.Size() takes an iterable of 'int' (item {position} is '{type_name(size)}')"
        ) from None


def _as_int64(value: int) -> int:
    if not -_INT64 <= value < _INT64:
        raise worded("unpack an int")
    return value
