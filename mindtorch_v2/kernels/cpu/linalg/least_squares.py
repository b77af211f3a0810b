"""Solutions of least squares.

Mirrors ``linalg_lstsq`` of ``aten/src/ATen/native/BatchLinearAlgebra.cpp``.  Of LAPACK's drivers
``gels`` takes the matrix to have full rank, the others answer the shortest solution of what is left
once small singular values are dropped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels.cpu.linalg.lapack_outputs import give_sizes, is_written_directly, write
from mindtorch_v2.kernels.cpu.linalg.orthogonal import adjoint, factorized, in_double
from mindtorch_v2.kernels.cpu.moments import real_value_type
from mindtorch_v2.kernels.elementwise.broadcasting import infer_size
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.linear_algebra import (
    COMPUTED,
    INT32,
    check_castable,
    check_matrices,
    check_same_device,
    column_major_strides,
    is_column_major,
    is_vector_rhs,
)
from mindtorch_v2.kernels.outputs import new_tensor, resize_output, set_sizes_and_strides
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import dispatch_over
from mindtorch_v2.tensor.copying import copy_values, store
from mindtorch_v2.tensor.dtype import DTYPES, DType
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import contiguous_strides, is_contiguous, numel
from mindtorch_v2.tensor.support import CPP_NAMES
from mindtorch_v2.tensor.tensor import Tensor

_NAME: Final = "torch.linalg.lstsq"
_INT64: Final = DTYPES["int64"]
_OUT: Final = OperatorHandle("aten::linalg_lstsq.out")
_DRIVERS: Final = ("gels", "gelsy", "gelsd", "gelss")
_BY_SINGULAR_VALUES: Final = ("gelsd", "gelss")
_EPSILON: Final = {
    DTYPES["float32"]: float(np.finfo(np.float32).eps),
    DTYPES["float64"]: float(np.finfo(np.float64).eps),
}


def epsilon(dtype: DType) -> float:
    """``_get_epsilon`` of a dtype's parts."""
    found = _EPSILON.get(real_value_type(dtype))
    if found is None:
        raise RuntimeError("This function doesn't handle types other than float and double")
    return found


@kernel("aten::linalg_lstsq", key="CompositeExplicitAutograd")
def linalg_lstsq(self: Tensor, b: Tensor, rcond: float | None, driver: str | None) -> Any:
    real = real_value_type(self._dtype)
    outputs = [new_tensor((0,), dtype, self._device) for dtype in (self._dtype, real, _INT64, real)]
    names = ("solution", "residuals", "rank", "singular_values")
    return _OUT(self, b, rcond, driver=driver, **dict(zip(names, outputs, strict=True)))


@kernel("aten::linalg_lstsq.out")
def linalg_lstsq_out(
    self: Tensor,
    b: Tensor,
    rcond: float | None,
    driver: str | None,
    solution: Tensor,
    residuals: Tensor,
    rank: Tensor,
    singular_values: Tensor,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    is_vector = _check(self, b)
    outputs = (solution, residuals, rank, singular_values)
    _check_outputs(self, b, *outputs)
    name = _driver(driver)
    if rcond is None:
        rcond = epsilon(self._dtype) * max(self._sizes[-2:])
    dispatch_over(COMPUTED, "linalg_lstsq_cpu", self._dtype)
    found = _solved(in_double(self), in_double(b), rcond, name, is_vector=is_vector)
    if _are_written_directly(self, b, outputs, name, is_vector=is_vector):
        _write(outputs, found, self, is_vector=is_vector)
    else:
        _write_copies(outputs, found, self, is_vector=is_vector)
    if name == "gels":
        _check_full_rank(self, in_double(self))
    return outputs


def _write_copies(
    outputs: tuple[Tensor, ...], found: _Solved, self: Tensor, *, is_vector: bool
) -> None:
    made = tuple(new_tensor((0,), dtype, self._device) for dtype in _dtypes(self))
    _write(made, found, self, is_vector=is_vector)
    for out, each in zip(outputs, made, strict=True):
        resize_output(out, each._sizes)
        copy_values(out, each)


# --- checks -------------------------------------------------------------------------------------


def _check(self: Tensor, b: Tensor) -> bool:
    """Whether the right-hand sides are vectors; RuntimeError if they do not fit."""
    if len(self._sizes) < 2:
        raise RuntimeError(f"{_NAME}: input must have at least 2 dimensions.")
    if not b._sizes:
        raise RuntimeError(f"{_NAME}: other must have at least 1 dimension.")
    if self._dtype is not b._dtype:
        raise RuntimeError(
            f"{_NAME}: Expected input and other to have the same dtype, but got input's dtype "
            f"{CPP_NAMES[self._dtype]} and other's dtype {CPP_NAMES[b._dtype]}"
        )
    if not 0 <= len(self._sizes) - len(b._sizes) <= 1:
        raise RuntimeError(
            f"{_NAME}: input.dim() must be greater or equal to other.dim() and (input.dim() - "
            "other.dim()) <= 1"
        )
    is_vector = is_vector_rhs(self, b)
    place = -1 if is_vector else -2
    if self._sizes[-2] != b._sizes[place]:
        raise RuntimeError(f"{_NAME}: input.size(-2) should match other.size({place})")
    return is_vector


def _dtypes(self: Tensor) -> tuple[DType, DType, DType, DType]:
    """Those of the outputs."""
    real = real_value_type(self._dtype)
    return self._dtype, real, _INT64, real


def _check_outputs(self: Tensor, b: Tensor, *outputs: Tensor) -> None:
    names = ("solution", "residuals", "rank", "singular_values")
    for name, each in zip(("other", *names), (b, *outputs), strict=True):
        check_same_device(_NAME, each, self, name)
    said = ("solution", "solution", "rank", "singular_values")
    for name, each, dtype in zip(said, outputs, _dtypes(self), strict=True):
        check_castable(_NAME, each, dtype, name)


def _driver(driver: str | None) -> str:
    """``get_default_lstsq_driver`` on the CPU."""
    name = "gelsy" if driver is None else driver.lower()
    if name not in _DRIVERS:
        raise RuntimeError(
            f"{_NAME}: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)"
        )
    return name


# --- the computation ----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Solved:
    """What a driver finds: ``values`` and what it has no word about, None."""

    values: Array
    residuals: Array | None
    rank: Array | None
    singular_values: Array | None


def _solved(
    matrices: Array, others: Array, rcond: float, driver: str, *, is_vector: bool
) -> _Solved:
    if is_vector:
        others = others[..., None]
    rows, columns = matrices.shape[-2:]
    batch = infer_size(matrices.shape[:-2], others.shape[:-2])
    if not matrices.size:
        values = np.zeros((*batch, columns, others.shape[-1]), matrices.dtype)
        rank = np.zeros(matrices.shape[:-2], np.int64)
        singular = np.zeros((*matrices.shape[:-2], min(rows, columns)))
        left = np.broadcast_to(others, (*batch, *others.shape[-2:])) * (driver != "gels")
    else:
        u, singular, vh = np.linalg.svd(matrices, full_matrices=rows > columns)
        kept = singular > rcond * singular[..., :1]
        if driver == "gels":
            kept = np.ones(singular.shape, bool)
        rank = kept.sum(axis=-1)
        with np.errstate(all="ignore"):
            inverse = np.where(kept & (singular > 0), 1 / singular, 0)[..., None]
        turned = adjoint(u) @ others
        count = singular.shape[-1]
        values = adjoint(vh) @ (inverse * turned[..., :count, :])
        left = turned[..., count:, :]
    if driver == "gelsy" and not (rank == min(rows, columns)).all():
        values, rank = _by_columns(matrices, others, rcond)
    has_residuals = rows > columns and driver != "gelsy" and (rank == columns).all()
    return _Solved(
        values,
        np.sum(np.abs(left) ** 2, axis=-2) if has_residuals else None,
        None if driver == "gels" else rank,
        singular if driver in _BY_SINGULAR_VALUES else None,
    )


def _by_columns(matrices: Array, others: Array, rcond: float) -> tuple[Array, Array]:
    """``gelsy``: of the columns, each of which is the longest of what others leave, so many that
    they are independent."""
    batch = infer_size(matrices.shape[:-2], others.shape[:-2])
    values = np.zeros((*batch, matrices.shape[-1], others.shape[-1]), matrices.dtype)
    rank = np.zeros(batch, np.int64)
    wide = [np.broadcast_to(each, (*batch, *each.shape[-2:])) for each in (matrices, others)]
    for place in np.ndindex(*batch):
        matrix, other = (each[place] for each in wide)
        order = _pivots(matrix)
        q, r = np.linalg.qr(matrix[:, order])
        rank[place] = count = _independent(r, rcond)
        if count:
            found = np.linalg.pinv(r[:count]) @ adjoint(q[:, :count]) @ other
            values[(*place, order)] = found
    return values, rank[tuple([0] * (rank.ndim - len(matrices.shape[:-2])))]


def _pivots(matrix: Array) -> list[int]:
    left, order = matrix.copy(), list(range(matrix.shape[1]))
    for place in range(min(matrix.shape)):
        lengths = np.linalg.norm(left[:, order[place:]], axis=0)
        best = place + int(lengths.argmax())
        order[place], order[best] = order[best], order[place]
        column = left[:, order[place], None]
        length = lengths.max()
        if length:
            column = column / length
            left = left - column @ (adjoint(column) @ left)
    return order


def _independent(r: Array, rcond: float) -> int:
    """How many rows of a triangular matrix are not nearly singular."""
    for count in range(1, min(r.shape) + 1):
        singular = np.linalg.svd(r[:count, :count], compute_uv=False)
        if singular[-1] < rcond * singular[0] or not singular[0]:
            return count - 1
    return int(min(r.shape))


def _check_full_rank(self: Tensor, matrices: Array) -> None:
    """What ``gels`` informs of: the first zero on the diagonal of the triangular factor."""
    if not matrices.size:
        return
    rows, columns = matrices.shape[-2:]
    packed, _ = factorized(matrices if rows >= columns else adjoint(matrices))
    is_zero = np.diagonal(packed, axis1=-2, axis2=-1) == 0
    found = np.where(is_zero.any(axis=-1), is_zero.argmax(axis=-1) + 1, 0)
    found = np.where((matrices == 0).all(axis=(-2, -1)), 0, found)  # whose solution is nought
    info = new_tensor(self._sizes[:-2], INT32, self._device)
    store(info, found)
    check_matrices(info, _NAME, self)


# --- what is written ----------------------------------------------------------------------------


def _are_written_directly(
    self: Tensor, b: Tensor, outputs: tuple[Tensor, ...], driver: str, *, is_vector: bool
) -> bool:
    """Whether no output needs a copy.

    A matrix of solutions that is no batch never has the shape that is asked for, unless it is
    empty.
    """
    solution, _, rank, singular = outputs
    *batch, rows, columns = self._sizes
    wanted = [*infer_size(batch, b._sizes[: len(batch)]), max(rows, columns)]
    if not is_vector and len(b._sizes) > 2:
        wanted.append(b._sizes[-1])
    if solution._dtype is not self._dtype:
        return False
    if numel(solution._sizes):
        if is_vector:
            lies = is_contiguous(solution._sizes, solution._strides)
        else:
            lies = len(solution._sizes) >= 2 and is_column_major(solution)
        if not lies or list(solution._sizes) != wanted:
            return False
    real = real_value_type(self._dtype)
    has_values = driver in _BY_SINGULAR_VALUES
    if driver != "gels" and not is_written_directly(rank, batch, _INT64):
        return False
    shape = (*batch, min(rows, columns))
    return not has_values or is_written_directly(singular, shape, real)


def _write(outputs: tuple[Tensor, ...], found: _Solved, self: Tensor, *, is_vector: bool) -> None:
    """The solution lies where the right-hand sides have been, which may have more rows."""
    solution, residuals, rank, singular = outputs
    *sizes, columns, count = found.values.shape
    room = max(self._sizes[-2:])
    if is_vector:
        strides = contiguous_strides((*sizes, room))
        give_sizes(solution, (*sizes, room), directly=True)
        set_sizes_and_strides(solution, (*sizes, columns), strides)
        write(solution, found.values[..., 0])
    else:
        strides = column_major_strides((*sizes, room, count))
        give_sizes(solution, (*sizes, room, count), directly=True, columns=True)
        set_sizes_and_strides(solution, (*sizes, columns, count), strides)
        write(solution, found.values)
    if found.rank is not None:
        write(give_sizes(rank, found.rank.shape, directly=True), found.rank)
    if found.singular_values is not None:
        values = found.singular_values
        write(give_sizes(singular, values.shape, directly=True), values)
    if found.residuals is not None:
        resize_output(residuals, found.residuals.shape)
        write(residuals, found.residuals)
