"""Functions of one number: ``aten::sqrt.int``, ``aten::floor.float``, ``prim::abs.complex`` …

Mirrors what ``DEFINE_UNARY_OP`` and its like make in
``torch/csrc/jit/runtime/register_ops_utils.h``.  The overload for a ``Scalar`` casts what comes out
to what its macro was told, C++'s ``int`` or ``float``: half of the bits are lost.
"""

from __future__ import annotations

import ctypes
import math
import os
from collections.abc import Callable
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np

from mindtorch_v2.kernels.interpreter.numbers import log
from mindtorch_v2.kernels.interpreter.values import (
    NUMBERS,
    Operation,
    cast,
    check_in_range,
    float32,
    int32,
    int64,
    kinds,
    library,
    no_int,
)
from mindtorch_v2.kernels.switches import HABITS

Unary = Callable[[Any], Any]

_C_LIBRARY: Final = ctypes.CDLL(None) if os.name == "posix" else None
_LOG_OF_TEN: Final = math.log(10.0)


class Family(NamedTuple):
    """What operators of one name do with a double, an integer and a complex number.

    ``returns`` says what C++ casts the answers of the overload for ``Scalar`` to, by its operand.
    """

    float: Unary
    int: Unary
    complex: Unary | None = None
    returns: tuple[str, str] = ("float", "float")


def find(base: str, types: tuple[str, ...]) -> Operation | None:
    """The operator for a number of this type."""
    family = FAMILIES.get(base)
    if family is None or len(types) != 1 or not NUMBERS.issuperset(types):
        return None
    return partial(_run, family, types[0])


def _run(family: Family, type: str, a: Any) -> Any:
    a = cast(a, type)
    kind = kinds((a,))
    if kind == "complex":
        if family.complex is None:
            raise no_int()
        found = family.complex(a)
        return float32(found) if type == "number" and not isinstance(found, complex) else found
    found = family.int(a) if kind == "int" else family.float(a)
    if type != "number":
        return found
    returned = family.returns[kind == "float"]
    return int32(int(found)) if returned == "int" else float32(found)


def _of_doubles(function: Unary, complex: Unary | None = None) -> Family:
    """Of an integer it computes as of a double."""
    return Family(function, lambda a: function(float(a)), complex)


def _complex(ufunc: Any) -> Unary:
    def run(a: complex) -> Any:
        with np.errstate(all="ignore"):
            return ufunc(np.complex128(a)).item()

    return run


def _elementary(function: Unary, ufunc: Any, *, complex: bool = True) -> Family:
    return _of_doubles(library(function, ufunc), _complex(ufunc) if complex else None)


def _whole(function: Unary) -> Family:
    """``floor`` and ``ceil``, which answer an integer."""

    def run(a: float) -> int:
        check_in_range(a)
        return int64(function(a))

    return Family(run, lambda a: run(float(a)), returns=("int", "int"))


def _round_to_even(a: float) -> float:
    return float(np.round(a))


def _of_c(name: str, otherwise: Unary) -> Unary:
    """A function that Python's ``math`` has in another way than the C library, whose it is here
    where there is one."""
    function = getattr(_C_LIBRARY, name, None)
    if function is None:
        return library(otherwise, lambda a: np.float64(math.nan))
    function.restype, function.argtypes = ctypes.c_double, (ctypes.c_double,)
    return lambda a: float(function(a))


def _log10(a: complex) -> complex:
    """``std::log10``: the logarithm, divided."""
    with np.errstate(all="ignore"):
        log = np.log(np.complex128(a))
        return complex(log.real / _LOG_OF_TEN, log.imag / _LOG_OF_TEN)


def _argument(a: float) -> float:
    """``std::arg``, by the sign alone."""
    return math.pi if math.copysign(1, a) < 0 else 0.0


def _asked(question: Unary) -> Unary:
    """Of a double some releases answer the integer that C has for true or false."""
    return (lambda a: int(question(a))) if HABITS["isnan of a number is an integer"] else question


def _ldexp(x: float, exponent: int) -> float:
    try:
        return math.ldexp(x, int32(exponent))
    except OverflowError:
        return math.copysign(math.inf, x)


def _factorial(a: int) -> int:
    """``aten::factorial.int``: its 64 lowest bits."""
    n = int32(a)
    if n < 0:
        raise RuntimeError("factorial() not defined for negative values")
    twos = n - n.bit_count()  # so many factors of two has it, by which C++ shifts in the end
    return int64(math.factorial(n) >> twos << (twos & 63))


FAMILIES: Final[dict[str, Family]] = {
    "aten::acos": _elementary(math.acos, np.arccos),
    "aten::acosh": _elementary(math.acosh, np.arccosh),
    "aten::angle": _of_doubles(_argument, _complex(np.angle)),
    "aten::asin": _elementary(math.asin, np.arcsin),
    "aten::asinh": _elementary(math.asinh, np.arcsinh),
    "aten::atan": _elementary(math.atan, np.arctan),
    "aten::atanh": _elementary(math.atanh, np.arctanh),
    "aten::ceil": _whole(math.ceil),
    "aten::cos": _elementary(math.cos, np.cos),
    "aten::cosh": _elementary(math.cosh, np.cosh),
    "aten::degrees": _of_doubles(lambda a: a * (180.0 / math.pi)),
    "aten::erf": _of_doubles(math.erf),
    "aten::erfc": _of_doubles(math.erfc),
    "aten::exp": _elementary(math.exp, np.exp),
    "aten::expm1": _elementary(math.expm1, np.expm1, complex=False),
    "aten::fabs": _of_doubles(math.fabs),
    "aten::floor": _whole(math.floor),
    "aten::gamma": _of_doubles(_of_c("tgamma", math.gamma)),
    "aten::isfinite": _of_doubles(math.isfinite, lambda a: math.isfinite(abs(a))),
    "aten::isinf": _of_doubles(
        _asked(math.isinf), lambda a: math.isinf(a.real) or math.isinf(a.imag)
    ),
    "aten::isnan": _of_doubles(
        _asked(math.isnan), lambda a: math.isnan(a.real) or math.isnan(a.imag)
    ),
    "aten::lgamma": _of_doubles(_of_c("lgamma", math.lgamma)),
    "aten::log": _of_doubles(log, _complex(np.log)),
    "aten::log10": _of_doubles(library(math.log10, np.log10), _log10),
    "aten::log1p": _elementary(math.log1p, np.log1p, complex=False),
    "aten::neg": Family(
        lambda a: -a, lambda a: int64(-a), lambda a: complex(-a.real, -a.imag), ("int", "float")
    ),
    "aten::radians": _of_doubles(lambda a: a * (math.pi / 180.0)),
    "aten::round": _of_doubles(_round_to_even),
    "aten::sin": _elementary(math.sin, np.sin),
    "aten::sinh": _elementary(math.sinh, np.sinh),
    "aten::sqrt": _elementary(math.sqrt, np.sqrt),
    "aten::tan": _elementary(math.tan, np.tan),
    "aten::tanh": _elementary(math.tanh, np.tanh),
    "prim::abs": Family(math.fabs, lambda a: int64(abs(a)), _complex(np.abs), ("int", "float")),
}

OPERATIONS: Final[dict[str, Operation]] = {
    "aten::factorial.int": _factorial,
    "aten::frexp": math.frexp,
    "aten::ldexp": _ldexp,
    "aten::modf": math.modf,
}
