"""Elements in memory: for each dtype, the NumPy dtype of its bits and of its values.

Mirrors the C++ types of ``c10/core/ScalarType.h``.  NumPy computes in the type of the values;
where it has none (bfloat16, float8, complex32) values are held in the next larger one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from mindtorch_v2.numpy_later import np
from mindtorch_v2.tensor import low_precision
from mindtorch_v2.tensor.dtype import DTYPES, DType
from mindtorch_v2.tensor.quiet import quietly

if TYPE_CHECKING:
    import numpy.typing as npt

Array: TypeAlias = "npt.NDArray[Any]"


class Elements(NamedTuple):
    """How the elements of a dtype are stored and computed with."""

    raw: np.dtype[Any]
    """Of the bits in a storage."""
    computed: np.dtype[Any]
    """Of the values."""
    decode: Callable[[Array], Array]
    """From bits to values; a view of them where the types are the same."""
    encode: Callable[[Array], Array]
    """From values of any type to bits."""


def _native(name: str) -> Elements:
    kind = np.dtype(name)
    return Elements(kind, kind, lambda raw: raw, lambda values: _cast(values, kind))


def _cast(values: Array, kind: np.dtype[Any]) -> Array:
    """``static_cast``, without NumPy's warnings; halves by way of floats as ``c10::convert``."""
    return values.astype(kind) if values.dtype == kind else quietly(_converted, values, kind)


def _converted(values: Array, kind: np.dtype[Any]) -> Array:
    if kind.kind != "c" and values.dtype.kind == "c":
        values = values != 0 if kind.kind == "b" else values.real
    if kind == np.float16 and values.dtype != np.float16:
        values = values.astype(np.float32)
    return values.astype(kind)


def _as_float32(encode: Callable[[low_precision.Floats], Array]) -> Callable[[Array], Array]:
    return lambda values: encode(_cast(values, np.dtype(np.float32)))


def _low(raw: str, decode: Callable[[Array], Array], encode: Callable[[Any], Array]) -> Elements:
    return Elements(np.dtype(raw), np.dtype(np.float32), decode, _as_float32(encode))


def _of_two(real: Elements) -> Elements:
    """Complex elements whose halves are 16 bits wide, each as ``real`` has them."""

    def decode(raw: Array) -> Array:
        halves = np.array(raw, order="C").reshape(*raw.shape, 1).view(real.raw)
        return real.decode(halves).astype(np.float32).view(np.complex64).reshape(raw.shape)

    def encode(values: Array) -> Array:
        with np.errstate(all="ignore"):
            wide = np.array(values, np.complex64, order="C").reshape(*values.shape, 1)
            return real.encode(wide.view(np.float32)).view(np.uint32).reshape(values.shape)

    return Elements(np.dtype(np.uint32), np.dtype(np.complex64), decode, encode)


@cache
def _special() -> dict[str, Elements]:
    """Those of dtypes that NumPy does not have, by name."""
    bfloat16 = _low("uint16", low_precision.bfloat16_to_float32, low_precision.float32_to_bfloat16)
    e8m0 = _low("uint8", low_precision.e8m0_to_float32, low_precision.float32_to_e8m0)
    return {
        "bfloat16": bfloat16,
        "float8_e8m0fnu": e8m0,
        "complex32": _of_two(_native("float16")),
        "bcomplex32": _of_two(bfloat16),
        **{
            name: _low("uint8", format.decode, format.encode)
            for name, format in low_precision.FLOAT8.items()
        },
    }


_NUMPY_TYPES: Final = frozenset(
    ["bool"]
    + [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
    + [f"float{bits}" for bits in (16, 32, 64)]
    + [f"complex{bits}" for bits in (64, 128)]
)


@cache
def elements_of(dtype: DType) -> Elements:
    """What a dtype's elements are; bits, packed and quantized ones are the integers they fill."""
    name = repr(dtype).removeprefix("torch.")
    special = _special()
    if name in special:
        return special[name]
    if name in _NUMPY_TYPES:
        return _native(name)
    signed = re.fullmatch(r"q?int\d+", name) is not None
    return _native(f"{'int' if signed else 'uint'}{8 * dtype.itemsize}")


@cache
def dtypes_of_numpy() -> dict[np.dtype[Any], DType]:
    """The dtypes that NumPy has too, by what they are there."""
    return {np.dtype(name): DTYPES[name] for name in sorted(_NUMPY_TYPES) if name in DTYPES}


def has_numpy_type(dtype: DType) -> bool:
    return repr(dtype).removeprefix("torch.") in _NUMPY_TYPES
