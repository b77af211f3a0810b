"""``torch.finfo`` and ``torch.iinfo``: the limits of number types.

Mirrors ``torch/csrc/TypeInfo.cpp``; the numbers are facts of the profile.
"""

from __future__ import annotations

from typing import Any, ClassVar

from mindtorch_v2.tensor.default_dtype import get_default_dtype
from mindtorch_v2.tensor.dtype import PYTHON_DTYPES, REAL_OF_COMPLEX, DType
from mindtorch_v2.tensor.made_in_c import MadeInC
from mindtorch_v2.tensor.scalars import type_name
from mindtorch_v2.tensor.support import FINFO, HABITS, IINFO, check_dtype, exception_of


class _Limits(metaclass=MadeInC):
    """What is asked of a dtype is a fact about it."""

    __slots__ = ("_dtype",)
    _facts: ClassVar[dict[DType, dict[str, Any]]]

    _dtype: DType

    def _fact(self, name: str) -> Any:
        """An answer of the release; or it raises, as the release does."""
        found = self._facts[self._dtype][name]
        if isinstance(found, list):
            raise exception_of(*found)
        return found

    @property
    def bits(self) -> int:
        return int(self._fact("bits"))

    @property
    def dtype(self) -> str:
        return str(self._fact("dtype"))

    def __repr__(self) -> str:
        return str(self._fact("repr"))

    def __eq__(self, other: object) -> bool:
        """Whether ``other`` names the same dtype: never ``NotImplemented``, whatever it is.

        ``THPDTypeInfo_compare`` takes any object for limits and reads the byte where those have
        their dtype. A ``torch.dtype`` has its own there; what else lies there is an accident of
        memory, which is not mirrored.
        """
        if isinstance(other, DType):
            return self._dtype is other
        return isinstance(other, _Limits) and self._dtype is other._dtype

    if HABITS["limits of dtypes have a hash"]:

        def __hash__(self) -> int:
            return hash(self._dtype)
    else:
        __hash__ = None  # type: ignore[assignment]


class finfo(_Limits):  # noqa: N801 (torch's name)
    """Limits of a floating-point type, of the default one if none is given."""

    __slots__ = ()
    __module__ = "mindtorch_v2"
    _facts = FINFO

    def __init__(self, type: DType | None = None) -> None:
        dtype = get_default_dtype() if type is None else PYTHON_DTYPES.get(type, type)
        if not isinstance(dtype, DType):
            raise TypeError(
                f"finfo(): argument 'type' (position 1) must be torch.dtype, not {type_name(type)}"
            )
        check_dtype("finfo", dtype)
        self._dtype = REAL_OF_COMPLEX.get(dtype, dtype)

    @property
    def eps(self) -> float:
        return float(self._fact("eps"))

    @property
    def max(self) -> float:
        return float(self._fact("max"))

    @property
    def min(self) -> float:
        return float(self._fact("min"))

    @property
    def tiny(self) -> float:
        return float(self._fact("tiny"))

    @property
    def smallest_normal(self) -> float:
        return self.tiny

    @property
    def resolution(self) -> float:
        return float(self._fact("resolution"))


class iinfo(_Limits):  # noqa: N801 (torch's name)
    """Limits of an integer type."""

    __slots__ = ()
    __module__ = "mindtorch_v2"
    _facts = IINFO

    def __init__(self, type: DType) -> None:
        dtype = PYTHON_DTYPES.get(type, type)
        if not isinstance(dtype, DType):
            raise TypeError(
                f"iinfo(): argument 'type' (position 1) must be torch.dtype, not {type_name(type)}"
            )
        check_dtype("iinfo", dtype)
        self._dtype = dtype

    @property
    def max(self) -> int:
        return int(self._fact("max"))

    @property
    def min(self) -> int:
        return int(self._fact("min"))
