"""``linalg.multi_dot`` and ``chain_matmul``: many matrices, multiplied in the cheapest order.

Mirrors ``multi_dot_impl`` of ``aten/src/ATen/native/LinearAlgebra.cpp``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Final

from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import resize_output
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.tensor.support import TYPE_NAMES
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.warn import warn_once

_CLONE: Final = OperatorHandle("aten::clone")
_COPY_: Final = OperatorHandle("aten::copy_")
_MM: Final = OperatorHandle("aten::mm")
_MM_OUT: Final = OperatorHandle("aten::mm.out")
_UNSQUEEZE: Final = OperatorHandle("aten::unsqueeze")
_VIEW: Final = OperatorHandle("aten::view")

_DEPRECATED: Final = (
    "torch.chain_matmul is deprecated and will be removed in a future PyTorch release. Use "
    "torch.linalg.multi_dot instead, which accepts a list of two or more tensors rather than "
    "multiple parameters."
)
Multiply = Callable[[Tensor, Tensor], Any]


@kernel("aten::linalg_multi_dot", key="CompositeImplicitAutograd")
def linalg_multi_dot(tensors: Sequence[Tensor]) -> Any:
    matrices, shape = _checked(tensors)
    return _VIEW(_product(matrices, _MM), shape)


@kernel("aten::linalg_multi_dot.out", key="CompositeImplicitAutograd")
def linalg_multi_dot_out(tensors: Sequence[Tensor], out: Tensor) -> Any:
    matrices, shape = _checked(tensors)
    first = matrices[0]
    for what, found, expected in (
        ("to have dtype", TYPE_NAMES[out._dtype], TYPE_NAMES[first._dtype]),
        ("to be on device", out._device, first._device),
    ):
        if found != expected:
            raise RuntimeError(
                f"multi_dot(): expected out tensor {what} {expected} but got {found}"
            )
    resize_output(out, shape)
    result = _VIEW(out, [first._sizes[0], matrices[-1]._sizes[1]])
    _product(matrices, lambda one, two: _MM_OUT(one, two, out=result))
    return out


@kernel("aten::chain_matmul", key="CompositeImplicitAutograd")
def chain_matmul(matrices: Sequence[Tensor]) -> Any:
    warn_once("chain_matmul", _DEPRECATED)
    _check_chain(matrices)
    return _CLONE(matrices[0]) if len(matrices) == 1 else linalg_multi_dot(matrices)


@kernel("aten::chain_matmul.out", key="CompositeImplicitAutograd")
def chain_matmul_out(matrices: Sequence[Tensor], out: Tensor) -> Any:
    warn_once("chain_matmul_out", _DEPRECATED)
    _check_chain(matrices)
    if len(matrices) > 1:
        return linalg_multi_dot_out(matrices, out)
    resize_output(out, matrices[0]._sizes)
    return _COPY_(out, matrices[0])


def _check_chain(matrices: Sequence[Tensor]) -> None:
    for matrix in matrices:
        if len(matrix._sizes) != 2:
            raise RuntimeError(f"Tensor dimension is {len(matrix._sizes)}, expected 2 instead.")
    if not matrices:
        raise RuntimeError("chain_matmul(): Expected one or more matrices")


def _checked(tensors: Sequence[Tensor]) -> tuple[list[Tensor], list[int]]:
    """The matrices, vectors at the ends made such, and the shape of their product; RuntimeError if
    they cannot be multiplied."""
    if len(tensors) < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {len(tensors)}")
    (first, rows), (last, columns) = (
        _matrix(tensors[at], name, at) for at, name in ((0, "first"), (-1, "last"))
    )
    for place, tensor in enumerate(tensors[1:-1], 1):
        if len(tensor._sizes) != 2:
            raise RuntimeError(
                f"multi_dot(): tensor {place} must be 2D but got {len(tensor._sizes)}D"
            )
    matrices = [first, *tensors[1:-1], last]
    for place, (one, two) in enumerate(pairwise(matrices), 1):
        _check_pair(place, matrices[0], one, two, tensors)
    return matrices, [*rows, *columns]


def _matrix(tensor: Tensor, name: str, at: int) -> tuple[Tensor, list[int]]:
    """A tensor at an end as a matrix, and its part of the product's shape."""
    rank = len(tensor._sizes)
    if rank == 1:
        return _UNSQUEEZE(tensor, at), []
    if rank != 2:
        raise RuntimeError(f"multi_dot(): the {name} tensor must be 1D or 2D but got {rank}D")
    return tensor, [tensor._sizes[at]]


def _check_pair(
    place: int, first: Tensor, one: Tensor, two: Tensor, given: Sequence[Tensor]
) -> None:
    if two._dtype is not first._dtype:
        raise RuntimeError(
            "multi_dot(): all tensors must have be the same dtype but tensor 0 is "
            f"{TYPE_NAMES[first._dtype]} and tensor {place} {TYPE_NAMES[two._dtype]}"
        )
    if two._device != first._device:
        raise RuntimeError(
            "multi_dot(): all tensors must be on the same device but tensor 0 is on "
            f"{first._device} and tensor {place} on {two._device}"
        )
    if one._sizes[-1] != two._sizes[0]:
        shapes = [list(tensor._sizes) for tensor in given[place - 1 : place + 1]]
        raise RuntimeError(
            f"multi_dot(): tensors {place - 1} and {place} with shapes {shapes[0]} and "
            f"{shapes[1]} cannot be multiplied"
        )


# --- the order ------------------------------------------------------------------------------------


def _product(matrices: Sequence[Tensor], last: Multiply) -> Any:
    """All of them multiplied; ``last`` makes the last product."""
    sizes = [matrix._sizes[0] for matrix in matrices] + [matrices[-1]._sizes[1]]
    if len(matrices) == 3:  # where of two ways that cost the same torch takes the other
        a, b, c, d = sizes
        splits = {(0, 2): int(a * c * (b + d) <= b * d * (a + c)), (0, 1): 0, (1, 2): 1}
    else:
        splits = _order(sizes)

    def product(i: int, j: int, multiply: Multiply) -> Any:
        if i == j:
            return matrices[i]
        k = splits[i, j]
        right = product(k + 1, j, _MM)  # as torch's compilers have it, which evaluate this first
        return multiply(product(i, k, _MM), right)

    return product(0, len(matrices) - 1, last)


def _order(sizes: Sequence[int]) -> dict[tuple[int, int], int]:
    """After which matrix to split each run of them, ``matrix_chain_order``."""
    count = len(sizes) - 1
    costs = {(i, i): 0 for i in range(count)}
    splits: dict[tuple[int, int], int] = {}
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            costs[i, j], splits[i, j] = min(
                (costs[i, k] + costs[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k)
                for k in range(i, j)
            )
    return splits
