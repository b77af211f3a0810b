"""Operators of two numbers: ``aten::add.int``, ``aten::pow.float_int``, ``aten::lt`` …

Mirrors what ``DEFINE_BINARY_OP``, ``DEFINE_COMPARISON_OP`` and their like make in
``torch/csrc/jit/runtime/register_ops_utils.h``: of each operator there is an overload for any two
kinds of numbers, and one for ``Scalar`` that looks at its values.  All of them compute alike, in
what the operands have in common.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np

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

Binary = Callable[[Any, Any], Any]


class Family(NamedTuple):
    """What operators of one name do with two operands, by what these are computed in.

    A complex number and a real one are handed on as they are.  Most operators of two ``Scalar`` are
    not meant for complex numbers, whatever the others do.
    """

    int: Binary
    float: Binary
    complex: Binary | None = None
    scalars_may_be_complex: bool = False
    answers_nothing: Callable[[str, Any, Any], bool] | None = None


def find(base: str, types: tuple[str, ...]) -> Operation | None:
    """The operator for two numbers of these types."""
    family = FAMILIES.get(base)
    if family is None or len(types) != 2 or not NUMBERS.issuperset(types):
        return None
    return partial(_run, family, *types)


def _run(family: Family, left: str, right: str, a: Any, b: Any) -> Any:
    a, b = cast(a, left), cast(b, right)
    if family.answers_nothing is not None and family.answers_nothing(left, a, b):
        return None
    kind = kinds((a, b))
    if kind == "int":
        return family.int(a, b)
    if kind == "float":
        return family.float(float(a), float(b))
    if family.complex is None or (left == "number" and not family.scalars_may_be_complex):
        raise no_int()
    return family.complex(*(each if isinstance(each, complex) else float(each) for each in (a, b)))


# --- arithmetic ---------------------------------------------------------------------------------


def _wrapped(function: Binary) -> Binary:
    return lambda a, b: int64(function(a, b))


def _by_numpy(ufunc: Any, dtype: type) -> Binary:
    """What raises in Python and does not in C++: divisions by zero, and what overflows."""

    def run(a: Any, b: Any) -> Any:
        with np.errstate(all="ignore"):
            return ufunc(dtype(a), dtype(b)).item()

    return run


def _doubles(ufunc: Any) -> Binary:
    return _by_numpy(ufunc, np.float64)


def _add(a: Any, b: Any) -> complex:
    """A real operand has no imaginary part that could have a sign."""
    if isinstance(b, float):
        return complex(a.real + b, a.imag)
    if isinstance(a, float):
        return complex(a + b.real, b.imag)
    return complex(a.real + b.real, a.imag + b.imag)


def _subtract(a: Any, b: Any) -> complex:
    return _add(a, -b if isinstance(b, float) else complex(-b.real, -b.imag))


def _multiply(a: Any, b: Any) -> complex:
    if isinstance(b, float):
        return complex(a.real * b, a.imag * b)
    if isinstance(a, float):
        return complex(a * b.real, a * b.imag)
    return complex(a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real)


def _divide_complex(a: Any, b: Any) -> complex:
    if isinstance(b, float):
        return complex(_divide(a.real, b), _divide(a.imag, b))
    with np.errstate(all="ignore"):
        found: complex = (np.complex128(a) / np.complex128(b)).item()
    return found


def _log_complex(a: Any) -> Any:
    """``std::log`` of a number of either kind."""
    if isinstance(a, float):
        return log(a)
    with np.errstate(all="ignore"):
        return np.log(np.complex128(a)).item()


def _exp_complex(a: complex) -> complex:
    with np.errstate(all="ignore"):
        found: complex = np.exp(np.complex128(a)).item()
    return found


def _pow_complex(a: Any, b: Any) -> complex:
    """``std::pow``: by way of the logarithm, which a real base or exponent makes shorter."""
    if isinstance(b, float):
        if a.imag == 0 and a.real > 0:
            return complex(_power(a.real, b), 0.0)
        root = _log_complex(a)
        return _polar(_exp_complex(b * root.real + 0j).real, b * root.imag)
    if isinstance(a, float):
        if a > 0:
            return _polar(_power(a, b.real), b.imag * log(a))
        a = complex(a)
    return _exp_complex(_multiply(b, _log_complex(a)))


def _arithmetic(function: Binary, ufunc: Any, complex: Binary) -> Family:
    return Family(_wrapped(function), _doubles(ufunc), complex, scalars_may_be_complex=True)


def _on_doubles(function: Binary) -> Family:
    """Of integers it computes as of doubles."""
    return Family(lambda a, b: function(float(a), float(b)), function)


_divide: Final = _doubles(np.divide)


def _floordiv(a: int, b: int) -> int:
    if b == 0:
        raise RuntimeError("division by 0")
    return int64(a // b)


def _floordiv_float(a: float, b: float) -> float:
    return float(np.floor(_divide(a, b)))


def _truncated(a: int, b: int) -> int:
    """C++'s ``/``, which would end the process for a division by zero."""
    if b == 0:
        raise ZeroDivisionError("integer division by zero")
    quotient = abs(a) // abs(b)
    return int64(quotient if (a < 0) == (b < 0) else -quotient)


def _rest(a: int, b: int) -> int:
    """C++'s ``%``."""
    return a - _truncated(a, b) * b


def _remainder(a: int, b: int) -> int:
    return _rest(int64(b + _rest(a, b)), b)


_fmod: Final = _doubles(np.fmod)


def _remainder_float(a: float, b: float) -> float:
    rest: float = _fmod(b + _fmod(a, b), b)
    return rest


def _ieee_remainder(a: float, b: float) -> float:
    try:
        return math.remainder(a, b)
    except ValueError:  # of an infinity, or by zero
        return math.nan


_power: Final = library(math.pow, np.power)


def _check_power(a: float, b: float) -> None:
    if a == 0 and b < 0:
        raise RuntimeError("0.0 cannot be raised to a negative power")


def _pow(a: float, b: float) -> float:
    _check_power(a, b)
    return float(_power(float(a), float(b)))


def _as_minimum(a: Any, b: Any) -> Any:
    return a if a < b else b


def _as_maximum(a: Any, b: Any) -> Any:
    return a if a > b else b


def _polar(a: float, b: float) -> complex:
    """``std::polar``."""
    if not math.isfinite(b):
        return complex(math.nan, math.nan)
    return complex(a * math.cos(b), a * math.sin(b))


log: Final = library(math.log, np.log)
"""``std::log``."""


def _log_to_base(a: float, b: float) -> float:
    return float(_divide(log(a), log(b)))


def _complex_log_to_base(a: Any, b: Any) -> complex:
    return _divide_complex(_log_complex(a), _log_complex(b))


def _divmod(a: int, b: int) -> tuple[int, int]:
    if b == 0:
        raise RuntimeError("ZeroDivisionError: integer division or modulo by zero")
    return divmod(a, b)


def _divmod_float(a: float, b: float) -> tuple[float, float]:
    if b == 0:
        raise RuntimeError("ZeroDivisionError: float divmod()")
    rest = _fmod(a, b)
    if rest and (a < 0) != (b < 0):
        rest += b
    return float(_divide(a - rest, b)), rest


def _gcd(a: int, b: int) -> int:
    return int64(math.gcd(a, b))


def _shifted(shift: Binary) -> Binary:
    """By as many bits as the lower six of the second operand tell, as the processor does."""
    return lambda a, b: int64(shift(a, b & 63))


def _compared(function: Binary) -> Family:
    return Family(function, function)


def _is_no_pair(type: str, a: Any, b: Any) -> bool:
    """Of two ``Scalar`` an integer and a complex number are not compared, and no bool: torch's
    ``DEFINE_SCALAR_BINARY_OP_WITH_COMPLEX_WITHOUT_INT_COMPLEX_PAIR`` leaves nothing then."""
    if type != "number" or isinstance(a, bool):
        return False
    if isinstance(a, complex):
        return not isinstance(b, (complex, float))
    return not isinstance(a, float) and (isinstance(b, (bool, complex)))


def _equated(function: Binary) -> Family:
    return Family(function, function, function, True, _is_no_pair)


def _divmod_mixed(a: Any, b: Any) -> tuple[float, float]:
    """``aten::divmod.int_float`` and ``float_int``, in C++'s ``int`` and ``float``."""
    if isinstance(a, int):
        a, b = int32(a), float32(b)
    else:
        a, b = float32(a), int32(b)
    if b == 0:
        raise RuntimeError("ZeroDivisionError: float divmod()")
    ratio = float32(_divide(float32(a), float32(b)))
    check_in_range(ratio)
    quotient = math.floor(ratio)
    return float(quotient), a - quotient * b


FAMILIES: Final[dict[str, Family]] = {
    "aten::__and__": Family(operator.and_, operator.and_),
    "aten::__lshift__": Family(_shifted(operator.lshift), _shifted(operator.lshift)),
    "aten::__or__": Family(operator.or_, operator.or_),
    "aten::__round_to_zero_floordiv": Family(_truncated, _truncated),
    "aten::__rshift__": Family(_shifted(operator.rshift), _shifted(operator.rshift)),
    "aten::__xor__": Family(operator.xor, operator.xor),
    "aten::add": _arithmetic(operator.add, np.add, _add),
    "aten::atan2": _on_doubles(math.atan2),
    "aten::copysign": _on_doubles(math.copysign),
    "aten::div": Family(_divide, _divide, _divide_complex),
    "aten::divmod": Family(_divmod, _divmod_float),
    "aten::eq": _equated(operator.eq),
    "aten::floordiv": Family(_floordiv, _floordiv_float),
    "aten::fmod": _on_doubles(_fmod),
    "aten::gcd": Family(_gcd, _gcd),
    "aten::ge": _compared(operator.ge),
    "aten::gt": _compared(operator.gt),
    "aten::le": _compared(operator.le),
    "aten::log": Family(_log_to_base, _log_to_base, _complex_log_to_base),
    "aten::lt": _compared(operator.lt),
    "aten::mathremainder": _on_doubles(_ieee_remainder),
    "aten::mul": _arithmetic(operator.mul, np.multiply, _multiply),
    "aten::ne": _equated(operator.ne),
    "aten::polar": _on_doubles(_polar),
    "aten::pow": Family(_pow, _pow, _pow_complex),
    "aten::remainder": Family(_remainder, _remainder_float),
    "aten::sub": _arithmetic(operator.sub, np.subtract, _subtract),
    "prim::max": _compared(_as_maximum),
    "prim::min": _compared(_as_minimum),
}


def _pow_of_scalars(a: Any, b: Any) -> float:
    """``aten::pow.Scalar_Scalar``, which asks nothing of its operands."""
    if kinds((a, b)) == "complex":
        raise no_int()
    return float(_power(float(a), float(b)))


def _pow_of_integers(a: int, b: int) -> float:
    """``aten::pow.int_to_int``, which answers a double all the same."""
    return _pow(a, b)


OPERATIONS: Final[dict[str, Operation]] = {
    "aten::divmod.float_int": _divmod_mixed,
    "aten::divmod.int_float": _divmod_mixed,
    "aten::pow.Scalar_Scalar": _pow_of_scalars,
    "aten::pow.int_to_int": _pow_of_integers,
}
"""Those that compute otherwise than their family."""
