"""Products of two vectors and a matrix for each output, and the sum of three factors behind it.

Mirrors ``_trilinear`` and ``bilinear`` of ``aten/src/ATen/native/Linear.cpp``.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final

from mindtorch_v2.autograd.at import TensorOptions, call
from mindtorch_v2.autograd.operators import add
from mindtorch_v2.kernels.composite.einsum import sumproduct_pair
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.tensor.geometry import dim_list, numel
from mindtorch_v2.tensor.support import TYPE_NAMES
from mindtorch_v2.tensor.tensor import Tensor

_TRILINEAR: Final = OperatorHandle("aten::_trilinear")


@kernel("aten::_trilinear", key="CompositeExplicitAutogradNonFunctional")
def _trilinear(
    i1: Tensor,
    i2: Tensor,
    i3: Tensor,
    expand1: Sequence[int],
    expand2: Sequence[int],
    expand3: Sequence[int],
    sumdim: Sequence[int],
    unroll_dim: int,
) -> Any:
    """Slice by slice of one dimension: the product of all three would be too large."""
    rank = len(i1._sizes) + len(expand1)
    if not 0 <= unroll_dim < rank:
        raise RuntimeError(f"unroll_dim must be in [0,{rank - 1}]")
    new = [dim_list(dims, rank) for dims in (expand1, expand2, expand3)]
    summed = dim_list(sumdim, rank)
    factors: list[Any] = [i1, i2, i3]
    sizes = [_take_dim(factors, new, dim) for dim in range(rank)]
    output = call(
        "zeros",
        [1 if dim in summed else size for dim, size in enumerate(sizes)],
        TensorOptions.of(i1),
    )
    if all(numel(each._sizes) for each in factors):
        inner = [dim for dim in range(rank) if dim in summed and dim != unroll_dim]
        first = [dim for dim in inner if dim in new[2]]
        then = [dim for dim in inner if dim not in new[2]]
        for place in range(sizes[unroll_dim]):
            one, two, three = (
                call("narrow", each, unroll_dim, 0 if unroll_dim in dims else place, 1)
                for each, dims in zip(factors, new, strict=True)
            )
            part = sumproduct_pair(sumproduct_pair(one, two, first), three, then)
            whole = unroll_dim in summed
            call("add_", output if whole else call("narrow", output, unroll_dim, place, 1), part)
    for dim in sorted(summed, reverse=True):
        output = call("squeeze_", output, dim)
    return output


def _take_dim(factors: list[Any], new: Sequence[Collection[int]], dim: int) -> int:
    """Give a dimension to the factors for which it is new; its size in the last of the others."""
    size = 0
    for place, dims in enumerate(new):
        if dim in dims:
            factors[place] = call("unsqueeze", factors[place], dim)
        else:
            size = size_at(factors[place], dim)
    return size


@kernel("aten::bilinear", key="CompositeImplicitAutograd")
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None) -> Any:
    _check_dtypes(input1=input1, input2=input2, weight=weight, bias=bias)
    _check_sizes(input1, input2, weight, bias)
    sizes = [*input1._sizes[:-1], weight._sizes[0]]
    one, two = (call("reshape", each, [-1, each._sizes[-1]]) for each in (input1, input2))
    output = _TRILINEAR(one, weight, two, [1, 3], [0], [1, 2], [2, 3])
    output = call("reshape", output, sizes)
    return output if bias is None else add(output, bias)


def _check_dtypes(**tensors: Tensor | None) -> None:
    given = {name: each._dtype for name, each in tensors.items() if each is not None}
    if len(set(given.values())) > 1:
        found = ", ".join(f"{name}: {TYPE_NAMES[dtype]}" for name, dtype in given.items())
        raise RuntimeError(f"All tensors must have the same dtype, got {found}")


def _check_sizes(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None) -> None:
    rank = len(input1._sizes)
    if rank != len(input2._sizes):
        raise RuntimeError(
            f"bilinear(): input dimensions do not match: got {rank} and {len(input2._sizes)}"
        )
    for dim in range(rank - 1):
        one, two = input1._sizes[dim], input2._sizes[dim]
        if one != two:
            raise RuntimeError(
                f"bilinear(): input batch dimensions do not match at dim {dim}: got {one} and {two}"
            )
    for place, each in enumerate((input1, input2), 1):
        wanted = size_at(weight, place)
        size = size_at(each, rank - 1)
        if size != wanted:
            raise RuntimeError(
                f"bilinear(): input{place} size does not match weight size: got {size} but "
                f"expected {wanted}"
            )
    if bias is not None and size_at(bias, 0) != size_at(weight, 0):
        raise RuntimeError(
            f"bilinear(): bias size does not match weight size: got {bias._sizes[0]} but expected "
            f"{weight._sizes[0]}"
        )
