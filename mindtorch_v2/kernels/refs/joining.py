"""The reference functions of what joins tensors.

Mirrors ``cat`` and ``stack`` of ``torch/_refs/__init__.py``, ``cat`` of
``torch/_prims/__init__.py``, and ``_chunk_cat`` of ``torch/_decomp/decompositions.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mindtorch_v2.binding.convert import enum_value
from mindtorch_v2.kernels.composite.stacking import preprocess_chunk_cat_inputs
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.refs.bodies import body
from mindtorch_v2.kernels.refs.common import (
    HABITS,
    check_same_device,
    suggest_memory_format,
    worded,
)
from mindtorch_v2.kernels.refs.wrappers import written_out
from mindtorch_v2.kernels.switches import HABITS as NEURAL_HABITS
from mindtorch_v2.tensor.dtype import MEMORY_FORMATS, memory_format
from mindtorch_v2.tensor.geometry import CHANNELS_LAST, channels_last_strides, wrap_dim
from mindtorch_v2.tensor.tensor import Tensor

_REFS: Final = "torch._refs."

_CONTIGUOUS: Final = MEMORY_FORMATS["contiguous_format"]
_CAT: Final = OperatorHandle("aten::cat")
_CAT_OUT: Final = OperatorHandle("aten::cat.out")
_CLONE: Final = OperatorHandle("aten::clone")
_CONSTANT_PAD_ND: Final = OperatorHandle("aten::constant_pad_nd")
_SPLIT_WITH_SIZES: Final = OperatorHandle("aten::split_with_sizes")
_UNSQUEEZE: Final = OperatorHandle("aten::unsqueeze")
_RESHAPE: Final = OperatorHandle("aten::reshape")
_VIEW: Final = OperatorHandle("aten::view")


@body(_REFS + "stack")
def stack(tensors: Sequence[Tensor], dim: int = 0) -> Any:
    if not tensors:
        raise AssertionError("stack expects a non-empty TensorList")
    first = tensors[0]._sizes
    dim = wrap_dim(dim, len(first) + 1)
    if dim == len(first):
        return _CAT([_UNSQUEEZE(tensor, dim) for tensor in tensors], dim)
    for place, tensor in enumerate(tensors):
        if tensor._sizes != first:
            words = {
                "[2]": f"{list(first)}",
                "[3]": f"{list(tensor._sizes)}",
                "entry 1": f"entry {place}",
            }
            raise worded("stack of other sizes", **words)
    return _VIEW(_CAT(tensors, dim), (*first[:dim], len(tensors), *first[dim:]))


@body("torch._decomp.decompositions.split_with_sizes_copy")
def split_with_sizes_copy(
    self: Tensor, split_sizes: Sequence[int], dim: int = 0, out: Sequence[Tensor] | None = None
) -> list[Any] | None:
    """Without a wrapper, which knows no results that may be given and may not."""
    if HABITS["split_with_sizes_copy splits in Python"]:
        _check_split(self, split_sizes, dim)
    parts = _SPLIT_WITH_SIZES(self, split_sizes, dim)
    if out is None:
        return [_CLONE(part, memory_format=enum_value(_CONTIGUOUS)) for part in parts]
    for each, part in zip(out, parts, strict=False):
        written_out(each, part, exact_dtype=True)
    return None


def _check_split(self: Tensor, split_sizes: Sequence[int], dim: int) -> None:
    if min(split_sizes, default=0) < 0:
        raise worded("split_with_sizes_copy into less than nothing")
    count = self._sizes[dim]  # which Python looks up, in words of its own
    if sum(split_sizes) != count:
        words = {"8": f"{sum(split_sizes)}", "7": f"{count}"}
        raise worded("split_with_sizes_copy into too much", **words)


@body(_REFS + "cat")
def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    if not tensors:
        raise ValueError("cat expects at least one tensor, but received zero!")
    check_same_device(*tensors, allow_cpu_scalar_tensors=False)
    example = _example(tensors)
    joined = [
        tensor
        for place, tensor in enumerate(tensors)
        if not _is_left_out(tensor, place, len(example._sizes))
    ]
    if not joined:
        return new_tensor((0,), tensors[0]._dtype, tensors[0]._device)
    rank = len(joined[0]._sizes)
    dim = wrap_dim(dim, rank)
    sizes = _joined_sizes(joined, dim)
    order = CHANNELS_LAST.get(_output_format(tensors))
    strides = None if order is None or len(order) != rank else channels_last_strides(sizes, order)
    return new_tensor(sizes, joined[0]._dtype, joined[0]._device, strides)


def _example(tensors: Sequence[Tensor]) -> Tensor:
    """The first tensor that has not one dimension, whose number all such have."""
    shaped = [(place, each) for place, each in enumerate(tensors) if len(each._sizes) != 1]
    if not shaped:
        return tensors[0]
    _, example = shaped[0]
    for place, tensor in shaped:
        if len(tensor._sizes) != len(example._sizes):
            raise _mismatch(len(example._sizes), len(tensor._sizes), place)
    return example


def _is_left_out(tensor: Tensor, place: int, rank: int) -> bool:
    """An empty tensor of one dimension goes with any, as it always did."""
    is_empty = tuple(tensor._sizes) == (0,)
    if len(tensor._sizes) != rank and not is_empty:
        raise _mismatch(rank, 1, place)
    return is_empty


def _mismatch(wanted: int, rank: int, place: int) -> RuntimeError:
    return RuntimeError(
        f"Number of dimensions of tensors must match.  Expected {wanted}-D tensors, but got "
        f"{rank}-D for tensor number {place} in the list"
    )


def _joined_sizes(tensors: Sequence[Tensor], dim: int) -> list[int]:
    """``prims.cat``."""
    first = tensors[0]._sizes
    for place, tensor in enumerate(tensors):
        for at, (common, size) in enumerate(zip(first, tensor._sizes, strict=True)):
            if at != dim and size != common:
                words = {
                    "dimension 0": f"dimension {dim}",
                    "Expected 5": f"Expected {common}",
                    "in dimension 1": f"in dimension {at}",
                    "got 6": f"got {size}",
                    "number 1": f"number {place}",
                }
                raise worded("cat of other sizes", **words)
    sizes = list(first)
    sizes[dim] = sum(each._sizes[dim] for each in tensors if each._sizes)
    return sizes


def _output_format(tensors: Sequence[Tensor]) -> memory_format:
    """``cat_compute_output_memory_format``."""
    formats = {suggest_memory_format(tensor) for tensor in tensors}
    return formats.pop() if len(formats) == 1 else _CONTIGUOUS


@body("torch._decomp.decompositions._chunk_cat")
def _chunk_cat(
    tensors: Sequence[Tensor], dim: int, num_chunks: int, out: Tensor | None = None
) -> Any:
    dim = preprocess_chunk_cat_inputs(tensors, dim, num_chunks)
    padded = [_padded_chunks(each, dim, num_chunks) for each in tensors]
    return _CAT(padded, dim + 1) if out is None else _CAT_OUT(padded, dim + 1, out=out)


def _padded_chunks(tensor: Tensor, dim: int, num_chunks: int) -> Any:
    sizes, missing = tensor._sizes, -tensor._sizes[dim] % num_chunks
    if missing:
        pad = [*(0,) * (2 * (len(sizes) - dim - 1)), 0, missing]
        tensor = _CONSTANT_PAD_ND(tensor, pad, 0)
    shaped = _RESHAPE if NEURAL_HABITS["chunks of any strides are joined"] else _VIEW
    return shaped(tensor, [*sizes[:dim], num_chunks, -1])
