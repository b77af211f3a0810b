"""What PyTorch registers on meta for bags of embeddings.

Mirrors ``torch/_meta_registrations.py``; a function is named as it is there.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2._checks import UNSAID
from mindtorch_v2.kernels.cpu.embedding_bag import MAX, SUM, is_fast_path
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.refs.bodies import body
from mindtorch_v2.kernels.switches import HABITS
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.tensor.dtype import DTYPES
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.support import worded
from mindtorch_v2.tensor.tensor import Tensor

_META: Final = "torch._meta_registrations."
_SPARSE: Final = OperatorHandle("aten::_embedding_bag_sparse_backward")
_INTEGERS: Final = (DTYPES["int64"], DTYPES["int32"])


@body(_META + "meta_embedding_bag")
def meta_embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int = -1,
) -> tuple[Tensor, ...]:
    for name, each in (("indices", indices), ("offsets", offsets)):
        if each._dtype not in _INTEGERS:
            raise RuntimeError(f"expected {name} to be long or int, got {each._dtype}")
    if not weight._dtype.is_floating_point:
        raise RuntimeError(f"expected weight to be floating point type, got {weight._dtype}")
    count = size_at(offsets, 0)
    if include_last_offset:
        if count < 1:
            raise RuntimeError("include_last_offset: numBags should be at least 1")
        count -= 1
    shape = (count, size_at(weight, 1))
    output = new_tensor(shape, weight._dtype, weight._device)
    if per_sample_weights is not None:
        _check_factors(per_sample_weights, weight, indices, mode)
    is_on_cpu = offsets._device.type == "cpu"
    like = offsets if is_on_cpu else indices
    needs_no_bags = (
        is_on_cpu and mode == SUM and is_fast_path(weight, per_sample_weights, padding_idx)
    )
    bags = (0,) if needs_no_bags else (size_at(indices, 0),)
    sizes = (count,) if is_on_cpu else tuple(offsets._sizes)
    largest = shape if mode == MAX else sizes if is_on_cpu else (0,)
    rest = (new_tensor(each, like._dtype, like._device) for each in (bags, sizes, largest))
    return output, *rest


def _check_factors(factors: Tensor, weight: Tensor, indices: Tensor, mode: int) -> None:
    if mode != SUM:
        raise RuntimeError("embedding_bag: per_sample_weights only supported with mode='sum'")
    is_checked = HABITS["bags on meta are weighed in one dtype"]
    if is_checked and factors._dtype is not weight._dtype:
        raise RuntimeError(
            f"expected weight ({weight._dtype}) and per_sample_weights ({factors._dtype}) to have "
            "same dtype"
        )
    if len(factors._sizes) != 1:
        raise RuntimeError(
            f"expected per_sample_weights to be 1D tensor, got {len(factors._sizes)}D"
        )
    one, two = numel(factors._sizes), numel(indices._sizes)
    if one != two:
        raise RuntimeError(
            f"expected per_sample_weights.numel() ({one} to be the same as indices.numel() ({two})"
        )


@body(_META + "meta_embedding_bag_forward_only")
def meta_embedding_bag_forward_only(
    weight: Tensor, indices: Tensor, offsets: Tensor, *args: Any
) -> tuple[Tensor, ...]:
    output, bags, sizes, largest = meta_embedding_bag(weight, indices, offsets, *args)
    if offsets._device.type == "cpu":
        sizes = new_tensor(offsets._sizes, offsets._dtype, offsets._device)
    return output, bags, sizes, largest


@body(_META + "meta_embedding_bag_backward")
def meta_embedding_bag_backward(
    grad: Tensor,
    indices: Tensor,
    offsets: Tensor,
    offset2bag: Tensor,
    bag_size: Tensor,
    maximum_indices: Tensor,
    num_weights: int,
    scale_grad_by_freq: bool,
    mode: int,
    sparse: bool,
    per_sample_weights: Tensor | None,
    padding_idx: int = -1,
) -> Any:
    options: Any = (num_weights, scale_grad_by_freq, mode, per_sample_weights, padding_idx)
    if sparse:
        return _SPARSE(grad, indices, offsets, offset2bag, bag_size, *options)
    places = (indices, offset2bag, bag_size, maximum_indices)
    return meta_embedding_bag_dense_backward(grad, *places, *options)


@body(_META + "meta_embedding_bag_dense_backward")
def meta_embedding_bag_dense_backward(
    grad: Tensor,
    indices: Tensor,
    offset2bag: Tensor,
    bag_size: Tensor,
    maximum_indices: Tensor,
    num_weights: int,
    scale_grad_by_freq: bool,
    mode: int,
    per_sample_weights: Tensor | None,
    padding_idx: int = -1,
) -> Tensor:
    floats = [DTYPES[name] for name in ("float16", "bfloat16", "float32", "float64")]
    if grad._dtype not in floats:
        raise RuntimeError(f"Unsupported input type encountered: {grad._dtype}")
    return new_tensor((num_weights, size_at(grad, 1)), grad._dtype, grad._device)


@body(_META + "meta_embedding_bag_per_sample_weights_backward")
def meta_embedding_bag_per_sample_weights_backward(
    grad: Tensor,
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    offset2bag: Tensor,
    mode: int,
    padding_idx: int = -1,
) -> Tensor:
    features = size_at(grad, 1)
    if mode != SUM:
        raise worded("gradients on meta of what a bag was not summed by")
    ranks = ((grad, 2), (indices, 1), (weight, 2))
    is_expected = all(len(each._sizes) == rank for each, rank in ranks)
    if not (is_expected and weight._sizes[1] == features):
        raise RuntimeError(UNSAID)
    return new_tensor((size_at(indices, 0),), grad._dtype, grad._device)
