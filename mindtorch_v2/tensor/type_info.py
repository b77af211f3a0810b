"""``torch.finfo`` and ``torch.iinfo``: the limits of number types.

Mirrors ``torch/csrc/TypeInfo.cpp``; the numbers are facts of the profile.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from mindtorch_v2.tensor.default_dtype import get_default_dtype
from mindtorch_v2.tensor.dtype import REAL_OF_COMPLEX, DType
from mindtorch_v2.tensor.made_in_c import MadeInC, final, tp_name
from mindtorch_v2.tensor.support import FINFO, HABITS, IINFO, check_dtype, exception_of

ARGUMENTS: Final[list[Callable[[str, Any, Any], DType | None]]] = [
    lambda name, args, kwargs: args[0] if args else None
]
"""Reads of what dtype limits are asked; the Python binding puts its own here, which refuses."""

# ``finfo`` and ``iinfo`` have no base in common: these are the methods of both.


def _fact(self: finfo | iinfo, name: str) -> Any:
    """An answer of the release; or it raises, as the release does."""
    facts = FINFO if isinstance(self, finfo) else IINFO
    found = facts[self._dtype][name]
    if isinstance(found, list):
        raise exception_of(*found)
    return found


def _bits(self: Any) -> int:
    return int(_fact(self, "bits"))


def _name(self: Any) -> str:
    return str(_fact(self, "dtype"))


def _repr(self: Any) -> str:
    return str(_fact(self, "repr"))


def _equals(self: Any, other: object) -> bool:
    """Whether ``other`` names the same dtype: never ``NotImplemented``, whatever it is.

    ``THPDTypeInfo_compare`` takes any object for limits and reads the byte where those have
    their dtype. A ``torch.dtype`` has its own there; what else lies there is an accident of
    memory, which is not mirrored.
    """
    if isinstance(other, DType):
        return self._dtype is other
    return isinstance(other, (finfo, iinfo)) and self._dtype is other._dtype


def _hash(self: Any) -> int:
    return hash(self._dtype)


def _reduce_ex(self: Any, protocol: Any, /) -> Any:
    """C keeps the dtype where nobody finds it, so that CPython refuses: TypeError."""
    kind = type(self)
    raise TypeError(f"cannot pickle '{tp_name(kind) if protocol > 1 else kind.__name__}' object")


def _reduce(self: Any) -> Any:
    return _reduce_ex(self, 0)


@final
class finfo(metaclass=MadeInC):  # noqa: N801 (torch's name)
    """Limits of a floating-point type, of the default one if none is given."""

    __slots__ = ("_dtype",)
    __module__ = "mindtorch_v2"
    bits = property(_bits)
    dtype = property(_name)
    __repr__ = _repr
    __eq__ = _equals
    __hash__ = _hash if HABITS["limits of dtypes have a hash"] else None  # type: ignore[assignment]
    __reduce_ex__ = _reduce_ex
    __reduce__ = _reduce

    _dtype: DType

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Of ``type``, which may be complex; TypeError for other arguments and other dtypes."""
        dtype = ARGUMENTS[0]("finfo", args, kwargs) or get_default_dtype()
        check_dtype("finfo", dtype)
        self._dtype = REAL_OF_COMPLEX.get(dtype, dtype)

    @property
    def eps(self) -> float:
        return float(_fact(self, "eps"))

    @property
    def max(self) -> float:
        return float(_fact(self, "max"))

    @property
    def min(self) -> float:
        return float(_fact(self, "min"))

    @property
    def tiny(self) -> float:
        return float(_fact(self, "tiny"))

    @property
    def smallest_normal(self) -> float:
        return self.tiny

    @property
    def resolution(self) -> float:
        return float(_fact(self, "resolution"))


@final
class iinfo(metaclass=MadeInC):  # noqa: N801 (torch's name)
    """Limits of an integer type."""

    __slots__ = ("_dtype",)
    __module__ = "mindtorch_v2"
    bits = property(_bits)
    dtype = property(_name)
    __repr__ = _repr
    __eq__ = _equals
    __hash__ = _hash if HABITS["limits of dtypes have a hash"] else None  # type: ignore[assignment]
    __reduce_ex__ = _reduce_ex
    __reduce__ = _reduce

    _dtype: DType

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Of ``type``; TypeError for other arguments and other dtypes."""
        dtype = ARGUMENTS[0]("iinfo", args, kwargs)
        assert dtype is not None, "limits of integers are those of a dtype that is named"
        check_dtype("iinfo", dtype)
        self._dtype = dtype

    @property
    def max(self) -> int:
        return int(_fact(self, "max"))

    @property
    def min(self) -> int:
        return int(_fact(self, "min"))
