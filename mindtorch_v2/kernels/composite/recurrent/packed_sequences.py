"""Sequences of unlike lengths without what fills them up: of each step those that reach so far.

Mirrors ``aten/src/ATen/native/PackedSequence.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from mindtorch_v2.autograd.at import TensorOptions, call
from mindtorch_v2.kernels.pointers import check_pointers
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.messages import expected
from mindtorch_v2.tensor.copying import store, value_array
from mindtorch_v2.tensor.dtype import int64
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.support import CPP_NAMES
from mindtorch_v2.tensor.tensor import Tensor

_IMPLICIT: Final = "CompositeImplicitAutograd"
_EXPLICIT: Final = "CompositeExplicitAutograd"


def counts(batch_sizes: Tensor) -> list[int]:
    """How many sequences reach each step, as a pointer reads them: in a row."""
    size = size_at(batch_sizes, 0)
    check_pointers(int64, batch_sizes)
    row = batch_sizes._as_view((size,), (1,), batch_sizes._storage_offset)
    found: list[int] = value_array(row).tolist()
    return found


def _check_lengths(tensor: Tensor) -> None:
    """``checkLongTensor``."""
    is_on_cpu = tensor._device.type == "cpu"
    if len(tensor._sizes) != 1 or not is_on_cpu or tensor._dtype is not int64:
        raise RuntimeError(
            "'lengths' argument should be a 1D CPU int64 tensor, but got "
            f"{len(tensor._sizes)}D {tensor._device} {CPP_NAMES[tensor._dtype]} tensor"
        )


@kernel("aten::_pack_padded_sequence", key=_EXPLICIT)
def _pack_padded_sequence(input: Tensor, lengths: Tensor, batch_first: bool) -> tuple[Any, Any]:
    if not numel(input._sizes):
        raise RuntimeError("Cannot pack empty tensors.")
    padded = call("transpose", input, 0, 1) if batch_first else input
    row = call("contiguous", lengths)
    _check_lengths(row)
    batch = size_at(padded, 1)
    ends: list[int] = value_array(row).tolist()
    if len(ends) != batch:
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(ends)} "
            f"(batch_size={batch})"
        )
    if ends[-1] <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' "
            "that is <= 0"
        )
    if ends != sorted(ends, reverse=True):
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You "
            "can pass `enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to "
            "sidestep this requirement if you do not need ONNX exportability."
        )
    batch_sizes = call("empty", [ends[0]], TensorOptions.of(lengths))
    shape = [-1, *padded._sizes[2:]]
    steps, sizes = [], []
    begin = 0
    for place, end in enumerate(reversed(ends)):
        if end > begin:
            part = call("slice", call("slice", padded, 0, begin, end), 1, 0, batch - place)
            steps.append(call("view", call("contiguous", part), shape))
            sizes += [batch - place] * (end - begin)
            begin = end
    store(batch_sizes, np.array(sizes, dtype=np.int64))
    return call("cat", steps), batch_sizes


@kernel("aten::_pack_padded_sequence_backward", key=_IMPLICIT)
def _pack_padded_sequence_backward(
    grad: Tensor, input_size: Sequence[int], batch_sizes: Tensor, batch_first: bool
) -> Any:
    sizes = list(input_size)
    if batch_first:
        if len(sizes) < 2:
            raise RuntimeError(expected("input_size.size() >= 2"))
        sizes[:2] = sizes[1::-1]
    found = call("zeros", sizes, TensorOptions.of(grad))
    row = call("contiguous", batch_sizes)
    _check_lengths(row)
    offset = 0
    for step, count in enumerate(value_array(row).tolist()):
        part = call("slice", call("select", found, 0, step), 0, 0, count)
        call("copy_", part, call("slice", grad, 0, offset, offset + count))
        offset += count
    return call("transpose", found, 0, 1) if batch_first else found


@kernel("aten::_pad_packed_sequence", key=_IMPLICIT)
def _pad_packed_sequence(
    data: Tensor, batch_sizes: Tensor, batch_first: bool, padding_value: Any, total_length: int
) -> tuple[Any, Any]:
    row = call("contiguous", batch_sizes)
    _check_lengths(row)
    counted: list[int] = value_array(row).tolist()
    batch, longest = counted[0], len(counted)
    if 0 < total_length < longest:
        raise RuntimeError(
            "Expected total_length to be at least the length of the longest sequence in input, but "
            f"got total_length={total_length} and max sequence length being {longest}"
        )
    if not data._sizes:
        raise RuntimeError("ArrayRef: invalid slice, N = 1; size = 0")
    inner = list(data._sizes[1:])
    sizes = [max(total_length, longest), batch, *inner]
    output = call("full", sizes, padding_value, TensorOptions.of(data))
    lengths = call("empty", [batch], TensorOptions.of(row))
    ends = [0] * batch
    offset = begin = 0
    before = batch
    for step, count in enumerate((*counted, 0)):
        if count != before:
            total = before * (step - begin)
            part = call("slice", data, 0, offset, offset + total)
            target = call("slice", call("slice", output, 0, begin, step), 1, 0, before)
            call("copy_", target, call("view", part, [step - begin, before, *inner]))
            offset += total
            begin = step
        if count < before:
            ends[count:before] = [step] * (before - count)
        before = count
    store(lengths, np.array(ends, dtype=np.int64))
    return (call("transpose", output, 0, 1) if batch_first else output), lengths
