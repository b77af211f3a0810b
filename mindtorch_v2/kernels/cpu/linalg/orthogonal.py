"""Orthogonal matrices as products of reflections: QR decompositions and what they are made of.

Mirrors ``linalg_qr``, ``geqrf``, ``linalg_householder_product`` and ``ormqr`` of
``aten/src/ATen/native/BatchLinearAlgebra.cpp``.  A reflection is ``I - tau * v @ v^H``; LAPACK
keeps each vector below the diagonal, where it begins with a one that is not stored.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from mindtorch_v2.kernels import structured
from mindtorch_v2.kernels.cpu.linalg.lapack_outputs import give_sizes, is_written_directly, write
from mindtorch_v2.kernels.linear_algebra import (
    COMPUTED,
    check_castable,
    check_floating_or_complex,
    check_is_matrix,
    check_same_device,
    column_major_strides,
)
from mindtorch_v2.kernels.outputs import new_tensor, set_output
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.structured import Outputs
from mindtorch_v2.kernels.switches import HABITS, dispatch_over
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.tensor.copying import value_array
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.support import CPP_NAMES
from mindtorch_v2.tensor.tensor import Tensor

_PRODUCT: Final = "torch.linalg.householder_product"


# --- reflections --------------------------------------------------------------------------------


def in_double(tensor: Tensor) -> Array:
    """The values in the precision that everything here is computed in."""
    values = value_array(tensor)
    return values.astype(np.complex128 if values.dtype.kind == "c" else np.float64)


def _reflections(packed: Array, tau: Array) -> Iterator[tuple[int, Array, Array]]:
    """Where each vector begins, the vector as a column, and its factor."""
    for place in range(tau.shape[-1]):
        vector = packed[..., place:, place, None].copy()
        vector[..., 0, :] = 1
        yield place, vector, tau[..., place, None, None]


def adjoint(values: Array) -> Array:
    return np.asarray(np.conj(np.swapaxes(values, -2, -1)))


def factorized(matrices: Array) -> tuple[Array, Array]:
    """LAPACK's ``geqrf``: reflections below the diagonal, R on it and above; and their factors."""
    rows, columns = matrices.shape[-2:]
    if not matrices.size:
        count = min(rows, columns)
        return matrices, np.zeros((*matrices.shape[:-2], count), matrices.dtype)
    turned, tau = np.linalg.qr(matrices, mode="raw")
    return np.swapaxes(turned, -2, -1), tau


def multiplied(packed: Array, tau: Array, columns: int) -> Array:
    """LAPACK's ``orgqr``: the first columns of the product of all reflections."""
    found = np.zeros((*packed.shape[:-1], columns), packed.dtype)
    found[...] = np.eye(packed.shape[-2], columns)
    for start, vector, factor in reversed(list(_reflections(packed, tau))):
        part = found[..., start:, :]
        part -= factor * vector @ (adjoint(vector) @ part)
    return found


def _applied(packed: Array, tau: Array, other: Array, *, left: bool, turned: bool) -> Array:
    """LAPACK's ``ormqr``: their product, or its adjoint, times a matrix from a side."""
    found: Array = other.copy()
    reflections = list(_reflections(packed, np.conj(tau) if turned else tau))
    if left is not turned:
        reflections.reverse()
    for start, vector, factor in reflections:
        if left:
            part = found[..., start:, :]
            part -= factor * vector @ (adjoint(vector) @ part)
        else:
            part = found[..., start:]
            part -= factor * (part @ vector) @ adjoint(vector)
    return found


# --- QR -----------------------------------------------------------------------------------------


def parse_qr_mode(mode: str) -> tuple[bool, bool]:
    """``_parse_qr_mode``: whether Q is computed, and whether it is reduced."""
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', "
            "or 'complete'"
        )
    return mode != "r", mode != "complete"


@structured.structured("aten::linalg_qr", outputs=2)
def linalg_qr(outputs: Outputs, self: Tensor, mode: str) -> tuple[Tensor, ...]:
    check_is_matrix(self, "linalg.qr")
    check_floating_or_complex(self, "linalg.qr")
    computes_q, is_reduced = parse_qr_mode(mode)
    *batch, rows, columns = self._sizes
    count = min(rows, columns)
    sizes = (*batch, rows, count if is_reduced else rows) if computes_q else (0,)
    q = set_output(outputs[0], sizes, self._dtype, self._device, column_major_strides(sizes))
    sizes = (*batch, count if is_reduced else rows, columns)
    r = set_output(outputs[1], sizes, self._dtype, self._device, column_major_strides(sizes))
    if not r.is_meta:
        dispatch_over(COMPUTED, "geqrf_cpu", self._dtype)
        packed, tau = factorized(in_double(self))
        write(r, np.triu(packed[..., : r._sizes[-2], :]))
        if computes_q:
            write(q, multiplied(packed, tau, q._sizes[-1]))
    return q, r


@kernel("aten::geqrf")
def geqrf(self: Tensor) -> tuple[Tensor, Tensor]:
    made = (new_tensor((0,), self._dtype, self._device) for _ in range(2))
    return geqrf_out(self, *made)


@kernel("aten::geqrf.a")
def geqrf_out(self: Tensor, a: Tensor, tau: Tensor) -> tuple[Tensor, Tensor]:
    if len(self._sizes) < 2:
        raise RuntimeError("torch.geqrf: input must have at least 2 dimensions.")
    for name, out in (("a", a), ("tau", tau)):
        check_same_device("torch.geqrf", out, self, name)
    for name, out in (("a", a), ("tau", tau)):
        check_castable("torch.geqrf", out, self._dtype, name)
    sizes = self._sizes
    factors = (*sizes[:-2], min(sizes[-2:]))
    directly = is_written_directly(a, sizes, self._dtype, columns=True)
    directly &= is_written_directly(tau, factors, self._dtype)
    dispatch_over(COMPUTED, "geqrf_cpu", self._dtype)
    packed, found = factorized(in_double(self))
    write(give_sizes(a, sizes, directly=directly, columns=True), packed)
    write(give_sizes(tau, factors, directly=directly), found)
    return a, tau


# --- products of reflections --------------------------------------------------------------------


@kernel("aten::linalg_householder_product")
def linalg_householder_product(input: Tensor, tau: Tensor) -> Tensor:
    made = new_tensor((0,), input._dtype, input._device)
    return linalg_householder_product_out(input, tau, made)


@kernel("aten::linalg_householder_product.out")
def linalg_householder_product_out(input: Tensor, tau: Tensor, out: Tensor) -> Tensor:
    check_reflections(input, tau)
    check_same_device(_PRODUCT, tau, input, "tau")
    check_same_device(_PRODUCT, out, input)
    check_castable(_PRODUCT, out, input._dtype)
    directly = is_written_directly(out, input._sizes, input._dtype, columns=True)
    if numel(input._sizes):
        dispatch_over(COMPUTED, "orgqr_cpu", input._dtype)
    found = multiplied(in_double(input), in_double(tau), input._sizes[-1])
    write(give_sizes(out, input._sizes, directly=directly, columns=True), found)
    return out


def check_reflections(input: Tensor, tau: Tensor, *, python: bool = False) -> None:
    """What a product of reflections says of their vectors and factors, which ``python`` shows as
    it does."""
    if len(input._sizes) < 2:
        raise RuntimeError(f"{_PRODUCT}: input must have at least 2 dimensions.")
    rows, columns = input._sizes[-2:]
    if rows < columns:
        raise RuntimeError(
            f"{_PRODUCT}: input.shape[-2] must be greater than or equal to input.shape[-1]"
        )
    if columns < size_at(tau, -1):
        raise RuntimeError(
            f"{_PRODUCT}: input.shape[-1] must be greater than or equal to tau.shape[-1]"
        )
    if len(input._sizes) - len(tau._sizes) != 1:
        raise RuntimeError(
            f"{_PRODUCT}: Expected tau to have one dimension less than input, but got tau.ndim "
            f"equal to {len(tau._sizes)} and input.ndim is equal to {len(input._sizes)}"
        )
    if tuple(tau._sizes[:-1]) != tuple(input._sizes[:-2]):
        shown = tau._sizes[:-1] if python else list(tau._sizes[:-1])
        raise RuntimeError(
            f"{_PRODUCT}: Expected batch dimensions of tau to be equal to input.shape[:-2], but "
            f"got {shown}"
        )
    if tau._dtype is not input._dtype:
        dtypes = (tau._dtype, input._dtype)
        own, wanted = dtypes if python else (CPP_NAMES[each] for each in dtypes)
        raise RuntimeError(f"{_PRODUCT}: tau dtype {own} does not match input dtype {wanted}")


@kernel("aten::ormqr")
def ormqr(self: Tensor, input2: Tensor, input3: Tensor, left: bool, transpose: bool) -> Tensor:
    made = new_tensor((0,), self._dtype, self._device)
    return ormqr_out(self, input2, input3, left, transpose, made)


@kernel("aten::ormqr.out")
def ormqr_out(
    self: Tensor, input2: Tensor, input3: Tensor, left: bool, transpose: bool, out: Tensor
) -> Tensor:
    tau, other = input2, input3
    check_product(self, tau, other, left)
    for name, each in (("tau", tau), ("other", other), ("result", out)):
        if each._dtype is not self._dtype:
            raise RuntimeError(
                f"torch.ormqr: Expected input and {name} to have the same dtype, but input has "
                f"dtype{CPP_NAMES[self._dtype]} and {name} has dtype {CPP_NAMES[each._dtype]}"
            )
    for name, each in (("tau", tau), ("other", other), ("result", out)):
        check_same_device("torch.ormqr", each, self, name)
    directly = is_written_directly(out, other._sizes, self._dtype, columns=True)
    dispatch_over(COMPUTED, "ormqr_cpu", self._dtype)
    operands = (in_double(each) for each in (self, tau, other))
    found = _applied(*operands, left=left, turned=transpose)
    write(give_sizes(out, other._sizes, directly=directly, columns=True), found)
    return out


def check_product(
    input: Tensor, tau: Tensor, other: Tensor, left: bool, *, python: bool = False
) -> None:
    """What ``ormqr`` says of shapes, which ``python`` shows as it does."""
    rank, place = len(input._sizes), -2 if left else -1
    for name, each in (("input", input), ("other", other)):
        if len(each._sizes) < 2:
            raise RuntimeError(f"torch.ormqr: {name} must have at least 2 dimensions.")
    counts = HABITS["ormqr counts its reflections"] and not python
    if other._sizes[place] < size_at(tau, -1) and not counts:
        raise RuntimeError(
            f"torch.ormqr: other.shape[{place}] must be greater than or equal to tau.shape[-1]"
        )
    if other._sizes[place] != input._sizes[-2]:
        raise RuntimeError(f"torch.ormqr: other.shape[{place}] must be equal to input.shape[-2]")
    if counts and size_at(tau, -1) != min(input._sizes[-2:]):
        raise RuntimeError(
            f"torch.ormqr: tau.shape[-1] must be equal to min(other.shape[{place}], "
            "input.shape[-1])"
        )
    if size_at(tau, -1) > input._sizes[-1]:
        raise RuntimeError(
            "torch.ormqr: tau.shape[-1] must be less than or equal to input.shape[-1]"
        )
    if rank - len(tau._sizes) != 1:
        raise RuntimeError(
            "torch.ormqr: Expected tau to have one dimension less than input, but got tau.ndim "
            f"equal to {len(tau._sizes)} and input.ndim is equal to {rank}"
        )
    if rank != len(other._sizes):
        raise RuntimeError(
            "torch.ormqr: Expected other to have the same number of dimensions as input, but got "
            f"other.ndim equal to {len(other._sizes)} and input.ndim is equal to {rank}"
        )
    for name, batch in (("tau", tau._sizes[:-1]), ("other", other._sizes[:-2])):
        if tuple(batch) != tuple(input._sizes[:-2]):
            raise RuntimeError(
                f"torch.ormqr: Expected batch dimensions of {name} to be equal to "
                f"input.shape[:-2], but got {batch if python else list(batch)}"
            )
