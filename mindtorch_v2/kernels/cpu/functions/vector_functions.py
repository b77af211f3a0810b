"""Functions of ``math.h`` as a loop over vectors computes them, and as it does one at a time.

Mirrors ``aten/src/ATen/cpu/vec/vec256/vec256_float.h``: ``Vectorized<float>`` takes them from the
library Sleef, or has a polynomial of its own, while what is left over of a loop goes to the C
library, whose results are the nearest numbers.  The two differ in the last digits, and these are
all that is left of ``1 + tanh(x)`` far below zero.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np

from mindtorch_v2.kernels.cpu.functions.blocks import by_blocks
from mindtorch_v2.kernels.cpu.functions.cephes import polynomial
from mindtorch_v2.kernels.cpu.functions.error_function import erf, erf_of_vectors
from mindtorch_v2.kernels.cpu.functions.fused import fused
from mindtorch_v2.kernels.elementwise.vector_loop import in_vectors_of_one_row
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.quiet import quietly

_F: Final = np.float32
_FLOAT: Final = np.dtype(_F)
_LOG2_E: Final = _F(1.4426950408889634)
_LN2: Final = (_F(0.693145751953125), _F(1.428606765330187045e-06))
"""ln 2 in two parts, of which the first has few bits."""
_EXPONENTIAL: Final = (
    *(0.000198527617612853646278381, 0.00139304355252534151077271, 0.00833336077630519866943359),
    *(0.0416664853692054748535156, 0.166666671633720397949219, 0.5),
)
_LEAST_POWER: Final = -104
_MOST_POWER: Final = 100
_SATURATION: Final = {_FLOAT: 8.664339742, np.dtype(np.float64): 18.714973875}
"""Beyond it ``tanh`` is one (``Sleef_tanhf8_u10``, ``Sleef_tanhd4_u10``)."""


class Functions(NamedTuple):
    """Of floats or doubles."""

    exp: Callable[[Array], Array]
    erf: Callable[[Array], Array]
    tanh: Callable[[Array], Array]


@by_blocks
def exp_of_vectors(self: Array) -> Array:
    """``Sleef_expf8_u10`` of floats: of what is left of the power of two, a polynomial."""
    if self.dtype != _FLOAT:
        return np.asarray(np.exp(self))
    return quietly(_exp_of_floats, self)  # of infinity, and NaN is no power


def _exp_of_floats(self: Array) -> Array:
    power = np.rint(self * _LOG2_E)
    rest = fused(-power, _LN2[1], fused(-power, _LN2[0], self))
    one_less = fused(rest * rest, polynomial(rest, _EXPONENTIAL), rest)
    bounded = np.minimum(np.maximum(power, _LEAST_POWER * 2), _MOST_POWER * 2).astype(np.int32)
    found = np.ldexp(_F(1) + one_less, bounded)
    found = np.where(self < _LEAST_POWER, _F(0), found)
    return np.where(self > _MOST_POWER, _F(np.inf), found)


def to_the_last_digit(function: Any) -> Callable[[Array], Array]:
    """A function whose results in float32 are the next numbers to the exact ones.

    Those of MKL and Sleef mostly are.  Of NumPy's own, two of five results of ``exp`` have a wrong
    last digit, and one of three of ``tanh``.
    """

    def compute(self: Array) -> Array:
        if self.dtype == _FLOAT:
            return np.asarray(function(self.astype(np.float64)).astype(_FLOAT))
        return np.asarray(function(self))

    return compute


log_of_vectors: Final = to_the_last_digit(np.log)
"""``Sleef_logf8_u10`` of floats."""
_tanh_of_floats: Final = to_the_last_digit(np.tanh)


def _tanh(self: Array) -> Array:
    """Of doubles too: the last digit is the first of ``1 + tanh`` close to minus one."""
    if self.dtype == _FLOAT:
        return _tanh_of_floats(self)
    return np.asarray(np.tanh(self.astype(np.longdouble)), self.dtype)


def _erf_of_vectors(self: Array) -> Array:
    return erf_of_vectors(self) if self.dtype == _FLOAT else erf(self)


def _tanh_of_vectors(self: Array) -> Array:
    is_one = np.abs(self) > _SATURATION[self.dtype]
    return np.where(is_one, np.copysign(self.dtype.type(1), self), _tanh(self))


ONE_BY_ONE: Final = Functions(to_the_last_digit(np.exp), erf, _tanh)
IN_VECTORS: Final = Functions(exp_of_vectors, _erf_of_vectors, _tanh_of_vectors)


def over_lanes(compute: Callable[..., Array]) -> Callable[..., Array]:
    """A function of arrays of which a part is computed in vectors, from one that gets
    :class:`Functions` and arrays.

    ``lanes`` says which elements are; None of operands that lie alike, without gaps.
    """
    of_vectors = by_blocks(partial(compute, IN_VECTORS))
    of_each = by_blocks(partial(compute, ONE_BY_ONE))

    def run(*arrays: Array, lanes: Array | None = None) -> Array:
        if arrays[0].dtype.kind == "c":
            return compute(ONE_BY_ONE, *arrays)
        if lanes is None:
            lanes = in_vectors_of_one_row(arrays[0])
        arrays = tuple(np.broadcast_to(each, lanes.shape) for each in arrays)
        if lanes.all():
            return of_vectors(*arrays)
        if not lanes.any():
            return of_each(*arrays)
        found = of_vectors(*arrays)
        rest = ~lanes
        found[rest] = of_each(*(each[rest] for each in arrays))
        return found

    return run


def always(dtype: Any, *arguments: Any) -> bool:
    """Whether a kernel goes by lanes, of one that does whatever it is given."""
    return True
