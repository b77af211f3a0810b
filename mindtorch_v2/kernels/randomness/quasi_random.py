"""Quasi-random numbers: what an engine of Sobol's sequences is made of.

Mirrors ``aten/src/ATen/native/SobolEngineOps.cpp``, which goes through memory by strides, and in
some releases looks at sizes before it does.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from mindtorch_v2.binding.values import dtype_of_value
from mindtorch_v2.kernels.cpu.samples.direction_numbers import MAXBIT, MAXDIM, states
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.pointers import check_accessor
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import FLOATING_TYPES, HABITS, dispatch_over
from mindtorch_v2.tensor.copying import store, value_array
from mindtorch_v2.tensor.dtype import DTYPES, MEMORY_FORMATS, int64
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import wrap_dim
from mindtorch_v2.tensor.tensor import Tensor

_KEY: Final = "CompositeImplicitAutograd"
_CONTIGUOUS: Final = MEMORY_FORMATS["contiguous_format"]
_RECIPROCAL: Final = 2.0**-MAXBIT
_LARGEST_COUNT: Final = 2**MAXBIT
_LOOKS_AT_SIZES: Final = HABITS["a Sobol engine looks at its sizes"]

_ARANGE: Final = OperatorHandle("aten::arange.start_step")
_ARANGE_OUT: Final = OperatorHandle("aten::arange.start_out")
_CLONE: Final = OperatorHandle("aten::clone")
_DIAGONAL: Final = OperatorHandle("aten::diagonal")
_EMPTY: Final = OperatorHandle("aten::empty.memory_format")
_EXPAND_AS: Final = OperatorHandle("aten::expand_as")
_FILL_: Final = OperatorHandle("aten::fill_.Scalar")
_MUL: Final = OperatorHandle("aten::mul.Tensor")
_MUL_: Final = OperatorHandle("aten::mul_.Tensor")
_MUL_NUMBER_: Final = OperatorHandle("aten::mul_.Scalar")
_POW: Final = OperatorHandle("aten::pow.Scalar")
_SUM: Final = OperatorHandle("aten::sum.dim_IntList")


@kernel("aten::_sobol_engine_draw", key=_KEY)
def sobol_engine_draw(
    quasi: Tensor,
    n: int,
    sobolstate: Tensor,
    dimension: int,
    num_generated: int,
    dtype: int | None,
) -> tuple[Any, Any]:
    _check_long(sobolstate=sobolstate, quasi=quasi)
    _check_walk(quasi, n, sobolstate, dimension, num_generated)
    last = _CLONE(quasi, memory_format=_CONTIGUOUS)
    made = DTYPES["float32"] if dtype is None else dtype_of_value(dtype)
    result = _EMPTY(
        [n, dimension], dtype=made, layout=sobolstate._layout, device=sobolstate._device
    )
    dispatch_over(FLOATING_TYPES, "_sobol_engine_draw", made)
    line = _line(last, dimension)
    found = np.empty((n, dimension), np.int64)
    steps = _steps(sobolstate, dimension, n, num_generated)
    np.bitwise_xor.accumulate(steps, axis=0, out=found)
    found ^= value_array(line)
    if n and dimension:
        store(line, found[-1])
        store(result, found)
    return _MUL_NUMBER_(result, _RECIPROCAL), last


@kernel("aten::_sobol_engine_ff_", key=_KEY)
def sobol_engine_ff_(
    self: Tensor, n: int, sobolstate: Tensor, dimension: int, num_generated: int
) -> Tensor:
    _check_long(sobolstate=sobolstate, quasi=self)
    _check_walk(self, n, sobolstate, dimension, num_generated)
    line = _line(self, dimension)
    steps = _steps(sobolstate, dimension, max(n, 0), num_generated)
    if dimension > 0:
        store(line, value_array(line) ^ np.bitwise_xor.reduce(steps, axis=0))
    return self


@kernel("aten::_sobol_engine_scramble_", key=_KEY)
def sobol_engine_scramble_(self: Tensor, ltm: Tensor, dimension: int) -> Tensor:
    """Each number becomes what matrices of bits make of its bits."""
    _check_long(sobolstate=self)
    check_accessor(int64, 2, self)
    table = _table(self, dimension)
    numbers = value_array(table)
    rows = _CLONE(ltm, memory_format=_CONTIGUOUS)
    _FILL_(_DIAGONAL(rows, 0, -2, -1), 1)
    dots = _dot_powers(rows)
    check_accessor(int64, 2, dots)
    factors = value_array(_table(dots, dimension))
    found = np.zeros_like(numbers)
    for bit in range(MAXBIT):
        product = factors[:, MAXBIT - 1 - bit, None] & numbers
        found |= _parity(product) << bit
    store(table, found)
    return self


@kernel("aten::_sobol_engine_initialize_state_", key=_KEY)
def sobol_engine_initialize_state_(self: Tensor, dimension: int) -> Tensor:
    _check_long(sobolstate=self)
    if _LOOKS_AT_SIZES:
        if not 1 <= dimension <= MAXDIM:
            raise ValueError(f"dimension must be between 1 and {MAXDIM}, but got {dimension}")
        _check_state(self, dimension)
    check_accessor(int64, 2, self)
    count = max(dimension, 1)
    store(_table(self, count), states(count))
    options = {"dtype": self._dtype, "layout": self._layout, "device": self._device}
    powers = _ARANGE_OUT(MAXBIT - 1, -1, -1, out=_EMPTY([0], **options))  # by a function of C++
    _MUL_(self, _POW(2, powers))
    return self


def _check_long(**tensors: Tensor) -> None:
    for name, tensor in tensors.items():
        if tensor._dtype is not int64:
            raise RuntimeError(f"{name} needs to be of type Long")


def _check_walk(
    quasi: Tensor, n: int, sobolstate: Tensor, dimension: int, num_generated: int
) -> None:
    """What is asked before ``n`` numbers follow ``num_generated`` others."""
    if not _LOOKS_AT_SIZES:
        return
    if n < 0:
        raise ValueError(f"n must be non-negative, but got {n}")
    if tuple(quasi._sizes) != (dimension,):
        raise ValueError(
            f"dimension must match the size of quasi, but got dimension {dimension} and quasi "
            f"with shape {list(quasi._sizes)}"
        )
    _check_state(sobolstate, dimension)
    if num_generated < 0 or n > _LARGEST_COUNT - num_generated:
        raise ValueError(f"SobolEngine can generate at most {_LARGEST_COUNT} points")


def _check_state(state: Tensor, dimension: int) -> None:
    sizes = state._sizes
    if len(sizes) != 2 or sizes[0] != dimension or sizes[1] < MAXBIT:
        raise ValueError(
            f"sobolstate must have shape [{dimension}, at least {MAXBIT}], but got {list(sizes)}"
        )


def _line(tensor: Tensor, dimension: int) -> Tensor:
    """The elements that the first stride leads to."""
    step = tensor._strides[wrap_dim(0, len(tensor._sizes), scalar=False)]
    return tensor._as_view((max(dimension, 0),), (step,), tensor._storage_offset)


def _table(tensor: Tensor, rows: int) -> Tensor:
    sizes = (max(rows, 0), MAXBIT)
    return tensor._as_view(sizes, tensor._strides, tensor._storage_offset)


def _steps(state: Tensor, dimension: int, count: int, generated: int) -> Array:
    """What the last numbers are changed by, one row after the other: a column of the state, by the
    rightmost zero of how many there were."""
    row, column = (state._strides[wrap_dim(dim, len(state._sizes), scalar=False)] for dim in (0, 1))
    sizes = (max(dimension, 0), MAXBIT)
    table = value_array(state._as_view(sizes, (row, column), state._storage_offset))
    places = [_rightmost_zero(generated + each) for each in range(count)]
    return table[:, places].T if count else np.zeros((0, sizes[0]), np.int64)


def _rightmost_zero(number: int) -> int:
    place = 0
    while number > 0 and number & 1:
        place, number = place + 1, number >> 1
    return place


def _dot_powers(rows: Tensor) -> Any:
    """``cdot_pow2``: the numbers whose bits are those of rows."""
    options = {"dtype": rows._dtype, "layout": rows._layout, "device": rows._device}
    powers = _POW(2, _ARANGE(rows._sizes[-1] - 1, -1, -1, **options))
    return _SUM(_MUL(_EXPAND_AS(powers, rows), rows), [-1])


def _parity(numbers: Array) -> Array:
    for shift in (16, 8, 4, 2, 1):
        numbers = numbers ^ (numbers >> shift)
    return numbers & 1
