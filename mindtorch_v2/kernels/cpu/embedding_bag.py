"""Sums, means and largest elements of rows of a table, bag by bag, and their derivatives.

Mirrors ``aten/src/ATen/native/EmbeddingBag.cpp``.  A sum that can be found in one pass has no need
to know which bag an index is in: then that is not answered either.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from mindtorch_v2.autograd.at import call
from mindtorch_v2.kernels.elementwise.pointwise import as_array, rounded
from mindtorch_v2.kernels.foretold import foretell
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.indexing.accumulating import add_in_turn
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import HABITS, HALVES, dispatch_over
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.messages import expected, internal_assert
from mindtorch_v2.tensor.copying import store, value_array
from mindtorch_v2.tensor.dtype import DTYPES, DType
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import wrap_dim
from mindtorch_v2.tensor.support import CPP_NAMES, promote_types
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.tensor.type_string import type_string

SUM: Final = 0
MEAN: Final = 1
MAX: Final = 2
"""``EmbeddingBagMode``."""

_COUNTS_ITS_OWN: Final = HABITS["a bag divides its rows by their own counts"]
_INTEGERS: Final = tuple(DTYPES[name] for name in ("int64", "int32"))
_FLOATS: Final = tuple(DTYPES[name] for name in ("float16", "bfloat16", "float32", "float64"))
_IN_ONE_PASS: Final = HALVES | {DTYPES["float32"]}
_BAG: Final = OperatorHandle("aten::_embedding_bag", none_is_undefined=True)
_FORWARD_ONLY: Final = OperatorHandle("aten::_embedding_bag_forward_only", none_is_undefined=True)
_DENSE: Final = OperatorHandle("aten::_embedding_bag_dense_backward")
_SPARSE: Final = OperatorHandle("aten::_embedding_bag_sparse_backward")

_IS_SUM: Final = "mode == EmbeddingBagMode::SUM"
_IS_SUM_OR_MEAN: Final = f"mode == EmbeddingBagMode::MEAN || {_IS_SUM}"

Bags = tuple[Any, Any, Any, Any]
"""What comes out, the bag of each index, the size of each bag, and where the largest are from."""


def _check_dtype(tensor: Tensor, name: str, dtypes: Sequence[DType]) -> None:
    """``checkScalarTypes``."""
    if tensor._dtype not in dtypes:
        listed = ", ".join(CPP_NAMES[dtype] for dtype in dtypes)
        raise RuntimeError(
            f"Expected tensor for argument #1 '{name}' to have one of the following scalar types: "
            f"{listed}; but got {type_string(tensor)} instead (while checking arguments for "
            "embedding_bag)"
        )


def _assert(holds: bool, condition: str, function: str) -> None:
    """``AT_ASSERT``."""
    if not holds:
        raise RuntimeError(internal_assert(condition, function))


def _promoted(indices: Tensor, offsets: Tensor) -> tuple[Any, Any]:
    dtype = promote_types(offsets._dtype, indices._dtype)
    one, two = (
        each if each._dtype is dtype else call("to", each, dtype) for each in (indices, offsets)
    )
    return one, two


# --- the operator -------------------------------------------------------------------------------


@kernel("aten::embedding_bag", key="CompositeImplicitAutograd")
def embedding_bag(*stack: Any) -> Any:
    return embedding_bag_padding_idx(*(*stack, None))


@kernel("aten::embedding_bag.padding_idx", key="CompositeImplicitAutograd")
def embedding_bag_padding_idx(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool,
    mode: int,
    sparse: bool,
    per_sample_weights: Tensor | None,
    include_last_offset: bool,
    padding_idx: int | None,
) -> Any:
    padding = -1
    if padding_idx is not None:
        count = size_at(weight, 0)
        if not -count <= padding_idx < count:
            raise RuntimeError(
                f"padding_idx must be within the number of embeddings, -{count} through "
                f"{count - 1}, but got {padding_idx}"
            )
        padding = wrap_dim(padding_idx, count)
    needs_grad = any(
        each is not None and each._requires_grad() for each in (weight, per_sample_weights)
    )
    places = (call("contiguous", each) for each in (indices, offsets))
    rest = (scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, padding)
    return (_BAG if needs_grad else _FORWARD_ONLY)(weight, *places, *rest)


@kernel("aten::_embedding_bag")
def _embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool,
    mode: int,
    sparse: bool,
    per_sample_weights: Tensor | None,
    include_last_offset: bool,
    padding_idx: int,
) -> Bags:
    options = (mode, per_sample_weights, include_last_offset, padding_idx)
    return _bags(weight, indices, offsets, *options, needs_grad=True)


@kernel("aten::_embedding_bag_forward_only")
def _embedding_bag_forward_only(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool,
    mode: int,
    sparse: bool,
    per_sample_weights: Tensor | None,
    include_last_offset: bool,
    padding_idx: int,
) -> Bags:
    options = (mode, per_sample_weights, include_last_offset, padding_idx)
    return _bags(weight, indices, offsets, *options, needs_grad=False)


def _bags(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    mode: int,
    per_sample_weights: Tensor | None,
    include_last_offset: bool,
    padding_idx: int,
    *,
    needs_grad: bool,
) -> Bags:
    """``_embedding_bag_cpu_impl``."""
    _check_ranks(weight, indices, offsets)
    indices, offsets = _promoted(indices, offsets)
    _check_dtypes(weight, indices, offsets)
    count = max(size_at(offsets, 0) - include_last_offset, 0)  # if below, that is refused
    fast = mode != MAX and is_fast_path(weight, per_sample_weights, padding_idx)
    is_needless = fast and mode == SUM
    sized = needs_grad or mode != SUM
    shape, bags_shape = (count, weight._sizes[1]), (count,) if sized else offsets._sizes
    output = new_tensor(shape, weight._dtype, weight._device)
    offset2bag, bag_size, chosen = (
        new_tensor(each, offsets._dtype, offsets._device)
        for each in (
            (0,) if is_needless else indices._sizes[:1],
            bags_shape,
            shape if mode == MAX else bags_shape,
        )
    )
    for name in ("_embedding_bag", "_embedding_bag_forward_only"):  # meta's are those of a GPU
        foretell(f"aten::{name}", output, offset2bag, bag_size, chosen)
    _check_arguments(weight, indices, offsets, mode, per_sample_weights, include_last_offset)
    call("zero_", output)
    of_bags = offsets if count == offsets._sizes[0] else call("narrow", offsets, 0, 0, count)
    if not is_needless:
        offset2bag = _bag_of_each(of_bags, indices)
    sizes = np.diff(value_array(of_bags), append=indices._sizes[0])
    call("zero_", chosen)
    read = _Read(value_array(indices).reshape(-1), weight._sizes[0], padding_idx)
    if fast:
        bags = read.in_one_pass(value_array(offsets), include_last_offset=include_last_offset)
    else:
        bags = value_array(offset2bag)
        read.check()
    if mode == MAX:
        _store_largest(output, chosen, weight, read, bags)
    else:
        factors = (
            None if per_sample_weights is None else as_array(per_sample_weights, weight._dtype)
        )
        _store_sums(output, weight, read, bags, factors)
    if mode == SUM:
        call("zero_", bag_size)
        return output, offset2bag, bag_size, chosen
    if not fast:  # where nothing is padding
        sizes = sizes - np.bincount(bags[read.is_padding], minlength=count)
    store(bag_size, sizes)
    if mode == MEAN:
        ones = call("ones_like", bag_size)
        divisors = call("unsqueeze", call("to", call("maximum", bag_size, ones), output._dtype), 1)
        call("div_", output, divisors)
        call("copy_", chosen, bag_size)
    return output, offset2bag, bag_size, chosen


def _check_ranks(weight: Tensor, indices: Tensor, offsets: Tensor) -> None:
    rank = len(indices._sizes)
    if rank not in (1, 2):
        raise RuntimeError(f"input has to be a 1D or 2D Tensor, but got Tensor of dimension {rank}")
    for name, each, wanted in (("offsets", offsets, 1), ("weight", weight, 2)):
        found = len(each._sizes)
        if found != wanted and (rank == 1 or name == "weight"):
            raise RuntimeError(
                f"{name} has to be a {wanted}D Tensor, but got Tensor of dimension {found}"
            )


def _check_dtypes(weight: Tensor, indices: Tensor, offsets: Tensor) -> None:
    _check_dtype(indices, "indices", _INTEGERS)
    _check_dtype(offsets, "offsets", _INTEGERS)
    _check_dtype(weight, "weight", _FLOATS)


def _check_arguments(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    mode: int,
    per_sample_weights: Tensor | None,
    include_last_offset: bool,
) -> None:
    if size_at(offsets, 0):
        values, count = value_array(offsets).reshape(-1), indices._sizes[0]
        if values[0] != 0:
            raise RuntimeError(
                "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start "
                f"from position 0. However, got {values[0]}\n[ {type_string(offsets)}{{}} ]"
            )
        if values[-1] > count:
            raise RuntimeError(
                f"offsets[-1] can not be greater than input's length {count} but got offsets[-1] "
                f"of {values[-1]}"
            )
    if per_sample_weights is not None:
        _check_factors(per_sample_weights, weight, indices, mode)
    if include_last_offset and not offsets._sizes[0]:
        raise RuntimeError("include_last_offset: number of offset should be at least 1")


def _check_factors(factors: Tensor, weight: Tensor, indices: Tensor, mode: int) -> None:
    if mode != SUM:
        raise RuntimeError("embedding_bag: per_sample_weights only supported with mode='sum'")
    if factors._dtype is not weight._dtype:
        raise RuntimeError(
            "Expected tensor for argument #1 'weight' to have the same type as tensor for argument "
            f"#1 'per_sample_weights'; but type {type_string(weight)} does not equal "
            f"{type_string(factors)} (while checking arguments for embedding_bag)"
        )
    if len(factors._sizes) != 1:
        raise RuntimeError(expected("per_sample_weights.value().dim() == 1"))
    if factors._sizes[0] != np.prod(indices._sizes):
        raise RuntimeError(expected("per_sample_weights.value().numel() == indices.numel()"))


def is_fast_path(weight: Tensor, per_sample_weights: Tensor | None, padding_idx: int) -> bool:
    return (
        weight._dtype in _IN_ONE_PASS
        and weight._strides[1] == 1
        and (per_sample_weights is None or per_sample_weights._strides[:1] == (1,))
        and padding_idx < 0
    )


def _bag_of_each(offsets: Tensor, indices: Tensor) -> Any:
    """``make_offset2bag``: how many bags have begun."""
    count = indices._sizes[0]
    begun = call("zero_", new_tensor((count + 1,), offsets._dtype, offsets._device))
    call("index_add_", begun, 0, offsets, call("ones_like", offsets))
    call("sub_", call("select", begun, 0, 0), 1)
    return call("narrow", call("cumsum", begun, 0, dtype=offsets._dtype), 0, 0, count)


class _Read(NamedTuple):
    """The rows that are read of a table."""

    rows: Array
    table_size: int
    padding_idx: int

    @property
    def is_padding(self) -> Array:
        return np.asarray(self.rows == self.padding_idx)

    def check(self) -> None:
        wrong = self.rows[(self.rows < 0) | (self.rows >= self.table_size)]
        if wrong.size:
            raise RuntimeError(
                "embedding_bag: Expected idx >= 0 && idx < num_embeddings but found idx to be "
                f"{wrong[0]}"
            )

    def in_one_pass(self, offsets: Array, *, include_last_offset: bool) -> Array:
        """The bag of each row; what is behind the last bag may not be there."""
        ends = (offsets if include_last_offset else np.append(offsets, self.rows.size))[1:]
        starts = offsets[: ends.size]
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
            for place in range(start, end):
                row = self.rows[place]
                if not 0 <= row < self.table_size:
                    raise RuntimeError(
                        f"Index {place} of input takes value {row} which is not in the valid range "
                        f"[0, {self.table_size})"
                    )
        return np.repeat(np.arange(ends.size), np.maximum(ends - starts, 0))


def _store_sums(
    output: Tensor, weight: Tensor, read: _Read, bags: Array, factors: Array | None
) -> None:
    table = as_array(weight, weight._dtype)
    total = np.zeros(tuple(output._sizes), table.dtype)
    kept = ~read.is_padding[: bags.size]
    parts = table[read.rows[: bags.size][kept]]
    if factors is not None:
        parts = parts * factors[: bags.size][kept][:, None]
    np.add.at(total, bags[kept], parts)
    store(output, rounded(total, weight._dtype))


def _store_largest(
    output: Tensor, chosen: Tensor, weight: Tensor, read: _Read, bags: Array
) -> None:
    table, kept = as_array(weight, weight._dtype), ~read.is_padding
    largest, places = np.zeros(tuple(output._sizes), table.dtype), value_array(chosen).copy()
    seen: set[int] = set()
    for bag, row in zip(bags[kept].tolist(), read.rows[kept].tolist(), strict=True):
        is_larger = (table[row] > largest[bag]) | (bag not in seen)
        largest[bag] = np.where(is_larger, table[row], largest[bag])
        places[bag] = np.where(is_larger, row, places[bag])
        seen.add(bag)
    store(output, largest)
    store(chosen, places)


# --- gradients ----------------------------------------------------------------------------------


@kernel("aten::_embedding_bag_backward", keys=("CPU", "CompositeImplicitAutograd"))
def _embedding_bag_backward(
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
    padding_idx: int,
) -> Any:
    indices, offsets = _promoted(indices, offsets)
    bags = _checked_bags(indices, offsets, offset2bag)
    options = (num_weights, scale_grad_by_freq, mode, per_sample_weights, padding_idx)
    if sparse:
        return _SPARSE(grad, indices, offsets, bags, bag_size, *options)
    return _DENSE(grad, indices, bags, bag_size, maximum_indices, *options)


def _checked_bags(indices: Tensor, offsets: Tensor, offset2bag: Tensor) -> Any:
    """The bag of each index, which may not have been answered."""
    _check_dtype(indices, "indices", _INTEGERS)
    _check_dtype(offsets, "offsets", _INTEGERS)
    if indices._sizes[0] and not offset2bag._sizes[0]:
        return _bag_of_each(offsets, indices)
    _check_dtype(offset2bag, "offset2bag", _INTEGERS)
    return offset2bag


@kernel("aten::_embedding_bag_sparse_backward", key="CompositeImplicitAutograd")
def _embedding_bag_sparse_backward(grad: Tensor, *rest: Any) -> Any:
    raise NotImplementedError("mindtorch_v2 has no sparse gradients of embedding_bag yet")


@kernel("aten::_embedding_bag_dense_backward")
def _embedding_bag_dense_backward(
    grad: Tensor,
    indices: Tensor,
    offset2bag: Tensor,
    bag_size: Tensor,
    maximum_indices: Tensor,
    num_weights: int,
    scale_grad_by_freq: bool,
    mode: int,
    per_sample_weights: Tensor | None,
    padding_idx: int,
) -> Any:
    _check_dtype(grad, "grad_", _FLOATS)
    dtype = grad._dtype
    _assert(mode in (SUM, MEAN, MAX), _IS_SUM_OR_MEAN, "_embedding_bag_dense_backward_cpu")
    made = new_tensor((num_weights, size_at(grad, 1)), dtype, grad._device)
    grads, sizes = as_array(grad, dtype), value_array(bag_size)
    total = np.zeros(tuple(made._sizes), grads.dtype)
    if mode == MAX:
        filled = np.argwhere(sizes).reshape(-1)
        _check_largest(grad, maximum_indices, filled, num_weights)
        rows = value_array(maximum_indices)[filled]
        places = (rows, np.broadcast_to(np.arange(rows.shape[1]), rows.shape))
        add_in_turn(total, places, grads[filled], dtype)
        store(made, total)
        return made
    _check_places(indices, offset2bag, bag_size, per_sample_weights, grad, num_weights, mode)
    rows, bags = value_array(indices), value_array(offset2bag)[: indices._sizes[0]]
    factors = np.ones(rows.size)
    if per_sample_weights is not None:
        factors = as_array(per_sample_weights, dtype).astype(np.float64)[: rows.size]
    if scale_grad_by_freq:
        factors = factors / _counts(rows, num_weights)
    if mode == MEAN:
        divisors = sizes[bags]
        factors = factors / np.where(divisors == 0, 1, divisors)
    kept = rows != padding_idx
    scale = rounded(factors.astype(grads.dtype), dtype)[kept, None]
    add_in_turn(total, rows[kept], rounded(scale * grads[bags[kept]], dtype), dtype)
    store(made, total)
    return made


def _check_largest(grad: Tensor, largest: Tensor, filled: Array, num_weights: int) -> None:
    """Of gradients of largest elements, of the bags that have any."""
    for each in (largest, grad):
        if len(each._sizes) != 2 or (filled >= each._sizes[0]).any():
            raise IndexError("index out of range in self")
    if largest._dtype not in _INTEGERS:
        raise RuntimeError(
            "index_add_(): Expected dtype int32/int64 for index but got: "
            f"{CPP_NAMES[largest._dtype]}"
        )
    rows, columns = value_array(largest)[filled], largest._sizes[1]
    if columns != grad._sizes[1]:
        raise IndexError(
            f"select(): index {columns} out of range for tensor of size {[*largest._sizes]} at "
            "dimension 1"
        )
    if ((rows < 0) | (rows >= num_weights)).any():
        raise IndexError("index out of range in self")


def _check_places(
    indices: Tensor,
    offset2bag: Tensor,
    bag_size: Tensor,
    weights: Tensor | None,
    grad: Tensor,
    num_weights: int,
    mode: int,
) -> None:
    """Of gradients of sums and means; also for what torch would read outside of its memory."""
    if len(indices._sizes) != 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    count = indices._sizes[0]
    for each in (offset2bag, weights):
        if each is not None and (len(each._sizes) != 1 or each._sizes[0] < count):
            raise IndexError("index out of range in self")
    name = "_embedding_bag_dense_backward_cpu_sum_mean"
    dispatch_over(frozenset(_INTEGERS), name, indices._dtype)
    expected_dtypes = [(offset2bag, indices), (bag_size, indices)]
    if weights is not None:
        expected_dtypes.append((weights, grad))
    for each, like in expected_dtypes:
        if each._dtype is not like._dtype:
            raise RuntimeError(
                f"expected scalar type {CPP_NAMES[like._dtype]} but found {CPP_NAMES[each._dtype]}"
            )
    bags = value_array(offset2bag)[:count]
    sizes = [(value_array(indices), num_weights), (bags, grad._sizes[0])]
    if mode == MEAN:
        sizes.append((bags, bag_size._sizes[0] if len(bag_size._sizes) == 1 else 0))
    if len(grad._sizes) != 2 or any(((at < 0) | (at >= size)).any() for at, size in sizes):
        raise IndexError("index out of range in self")
    is_sum = mode == SUM or weights is None or not count
    _assert(is_sum, _IS_SUM, "_embedding_bag_dense_backward_cpu_sum_mean")


def _counts(rows: Array, num_weights: int) -> Array:
    """What each index is divided by: how often it occurs, or in older releases, how often the one
    does that is in its place among the sorted ones."""
    counts = np.bincount(rows, minlength=num_weights)
    if _COUNTS_ITS_OWN:
        return counts[rows]
    ordered = np.sort(rows)
    _, ordinal = np.unique(rows, return_inverse=True)
    return np.asarray(counts[ordered[ordinal]])


def _assert_ranks(grad: Tensor, indices: Tensor, weight: Tensor) -> None:
    where = "_embedding_bag_per_sample_weights_backward_cpu_template"
    for name, each, rank in (("grad", grad, 2), ("indices", indices, 1), ("weight", weight, 2)):
        _assert(len(each._sizes) == rank, f"{name}.dim() == {rank}", f"{where}({name})")
    is_as_wide = weight._sizes[1] == grad._sizes[1]
    _assert(is_as_wide, "weight.sizes()[1] == embedding_features", f"{where}(width)")


@kernel("aten::_embedding_bag_per_sample_weights_backward")
def _embedding_bag_per_sample_weights_backward(
    grad: Tensor,
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    offset2bag: Tensor,
    mode: int,
    padding_idx: int,
) -> Any:
    dispatch_over(frozenset(_FLOATS), "_embedding_bag_per_sample_weights_backward_cpu", grad._dtype)
    if mode != SUM:
        raise RuntimeError(
            "embedding_bag_backward: per_sample_weights only supported for mode='sum'"
        )
    indices, offsets = _promoted(indices, offsets)
    _assert_ranks(grad, indices, weight)
    bags = value_array(_checked_bags(indices, offsets, offset2bag))
    dtype, rows = grad._dtype, value_array(indices)
    made = new_tensor((rows.size,), dtype, grad._device)
    parts = rounded(as_array(grad, dtype)[bags] * as_array(weight, dtype)[rows], dtype)
    total = np.zeros(rows.size, parts.dtype)
    for column in range(parts.shape[1]):
        total = rounded(total + parts[:, column], dtype)
    store(made, np.where(rows == padding_idx, 0, total))
    return made
