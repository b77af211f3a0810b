"""The reference functions of what selects elements by indices and writes to them.

Mirrors functions of ``torch/_meta_registrations.py``, ``torch/_decomp/decompositions.py`` and
``torch/_refs/__init__.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mindtorch_v2.kernels.dtypes import HABITS as KERNEL_HABITS
from mindtorch_v2.kernels.elementwise.promotion import BOOL, Number
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.indexing.scatter_reducing import is_reduction
from mindtorch_v2.kernels.outputs import new_tensor, set_sizes
from mindtorch_v2.kernels.refs.bodies import body
from mindtorch_v2.kernels.refs.common import (
    HABITS,
    dtype_to_type,
    is_weakly_lesser_type,
    maybe_broadcast,
    maybe_wrap_dim,
    output_strides,
    row_major_like,
    suggest_memory_format,
    worded,
)
from mindtorch_v2.kernels.refs.wrappers import resize_out, written_out
from mindtorch_v2.kernels.switches import HABITS as SWITCHES
from mindtorch_v2.tensor.dtype import DTYPES, MEMORY_FORMATS, int64
from mindtorch_v2.tensor.geometry import (
    is_non_overlapping_and_dense,
    numel,
    wrap_dim,
)
from mindtorch_v2.tensor.support import HABITS as TENSOR_HABITS
from mindtorch_v2.tensor.tensor import Tensor

_META: Final = "torch._meta_registrations."
_DECOMPOSED: Final = "torch._decomp.decompositions."
_REFS: Final = "torch._refs."

_CONTIGUOUS: Final = MEMORY_FORMATS["contiguous_format"]
_CLONE: Final = OperatorHandle("aten::clone")
_DIV: Final = OperatorHandle("aten::div.Tensor")
_EMPTY: Final = OperatorHandle("aten::empty.memory_format")
_EQ: Final = OperatorHandle("aten::eq.Scalar")
_EXPAND: Final = OperatorHandle("aten::expand")
_INDEX: Final = OperatorHandle("aten::index.Tensor")
_INDEX_COPY: Final = OperatorHandle("aten::index_copy")
_INDEX_COPY_: Final = OperatorHandle("aten::index_copy_")
_INDEX_SELECT: Final = OperatorHandle("aten::index_select")
_MASKED_FILL: Final = OperatorHandle("aten::masked_fill.Scalar")
_MUL: Final = OperatorHandle("aten::mul.Tensor")
_RESTRIDED: Final = OperatorHandle("aten::contiguous")
_SQUEEZE: Final = OperatorHandle("aten::squeeze.dim")
_UNSQUEEZE: Final = OperatorHandle("aten::unsqueeze")

_INDEX_DTYPES: Final = (int64, DTYPES["int32"]) if TENSOR_HABITS["gather takes int32"] else (int64,)


def _rank(tensor: Tensor) -> int:
    """``ensure_nonempty_dim``: a tensor without dimensions counts as one of size 1."""
    return max(len(tensor._sizes), 1)


def _size(tensor: Tensor, dim: int) -> int:
    """``ensure_nonempty_size``; IndexError for a dimension that the tensor lacks."""
    return tensor._sizes[dim] if tensor._sizes else 1


def _like(tensor: Tensor, sizes: Sequence[int] | None = None) -> Tensor:
    """``new_empty``, row-major; of the tensor's own sizes without others."""
    return new_tensor(tensor._sizes if sizes is None else sizes, tensor._dtype, tensor._device)


# --- gather -----------------------------------------------------------------------------------


@body(_META + "meta_gather")
def meta_gather(self: Tensor, dim: int, index: Tensor, sparse_grad: bool = False) -> Tensor:
    wrapped = maybe_wrap_dim(dim, len(self._sizes))
    if numel(index._sizes):
        if index._dtype not in _INDEX_DTYPES:
            raise worded("gather by floats", **{"torch.float32": str(index._dtype)})
        if _rank(self) != _rank(index):
            raise RuntimeError(
                "Index tensor must have the same number of dimensions as input tensor"
            )
        for at in range(_rank(self)):
            if at != wrapped and _size(index, at) > _size(self, at):
                words = {
                    "torch.Size([1, 2])": str(index._sizes),
                    "torch.Size([1, 1])": str(self._sizes),
                    "dimension 1 ": f"dimension {at} ",
                    "from dimension 0": f"from dimension {wrapped}",
                }
                raise worded("gather with a large index", **words)
    return _like(self, index._sizes)


# --- scatter ----------------------------------------------------------------------------------


@body(_META + "meta_scatter")
def meta_scatter(
    self: Tensor, dim: int, index: Tensor, src_or_value: Any, reduce: str | None = None
) -> Tensor:
    _check_scattered(self, dim, index, src_or_value, reduce)
    return _like(self)


@body(_META + "meta_scatter_")
def meta_scatter_(
    self: Tensor, dim: int, index: Tensor, src_or_value: Any, reduce: str | None = None
) -> Tensor:
    _check_scattered(self, dim, index, src_or_value, reduce)
    return self


@body(_META + "meta_scatter_add")
def meta_scatter_add(self: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    return meta_scatter(self, dim, index, src, "add")


@body(_META + "meta_scatter_add_")
def meta_scatter_add_(self: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    return meta_scatter_(self, dim, index, src, "add")


@body(_META + "meta_scatter_reduce_two")
def meta_scatter_reduce_two(
    self: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, include_self: bool = True
) -> Tensor:
    _check_scattered(self, dim, index, src, None)
    if not is_reduction(reduce):
        raise RuntimeError("reduce argument must be either sum, prod, mean, amax or amin.")
    return _like(self)


@body(_META + "meta_scatter_reduce__two")
def meta_scatter_reduce__two(
    self: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, include_self: bool = True
) -> Tensor:
    meta_scatter_reduce_two(self, dim, index, src, reduce, include_self)
    return self


def _check_scattered(
    self: Tensor, dim: int, index: Tensor, src_or_value: Any, reduce: str | None
) -> None:
    """``scatter_meta_impl``."""
    source = src_or_value if isinstance(src_or_value, Tensor) else None
    dim = maybe_wrap_dim(dim, len(self._sizes))
    is_empty = not numel(index._sizes)
    if not is_empty and index._dtype not in _INDEX_DTYPES:
        raise worded("scatter by floats")
    if source is not None and source._dtype is not self._dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    if not is_empty:
        _check_scattered_sizes(self, dim, index, source)
    if reduce not in (None, "add", "multiply"):
        raise RuntimeError("reduce argument must be either add or multiply.")


def _check_scattered_sizes(self: Tensor, dim: int, index: Tensor, source: Tensor | None) -> None:
    """``scatter_shape_check``."""
    if _rank(self) != _rank(index):
        raise RuntimeError("Index tensor must have the same number of dimensions as self tensor")
    words = {
        "torch.Size([1, 2])": str(index._sizes),
        "torch.Size([1, 1])": str(self._sizes),
        "dimension 0": f"dimension {dim}",
    }
    if source is not None:
        words["torch.Size([3, 3])"] = str(source._sizes)
    what = "a number" if source is None else "a tensor"
    dims = range(_rank(self))
    if any(at != dim and _size(index, at) > _size(self, at) for at in dims):
        raise worded(f"scatter {what} with a large index", **words)
    if source is None:
        return
    if HABITS["scatter counts the dimensions of its source"] and _rank(self) != _rank(source):
        raise RuntimeError("Index tensor must have the same number of dimensions as src tensor")
    if any(_size(index, at) > _size(source, at) for at in dims):
        words["torch.Size([2, 2])"] = words.pop("torch.Size([1, 1])")
        words["torch.Size([1, 1])"] = words.pop("torch.Size([3, 3])")
        raise worded("scatter a small tensor", **words)


# --- one index for a dimension ----------------------------------------------------------------


@body(_META + "meta_index_select")
def meta_index_select(self: Tensor, dim: int, index: Tensor) -> Tensor:
    sizes = list(self._sizes)
    if sizes:
        sizes[dim] = numel(index._sizes)  # the list's IndexError is torch's as well
    return _like(self, sizes)


def _check_vector(index: Tensor) -> None:
    if len(index._sizes) > 1:
        raise RuntimeError(f"Index should have dimension 1 or 0 (got {len(index._sizes)})")


@body(_REFS + "index_select")
def index_select(x: Tensor, dim: int, index: Tensor) -> Any:
    dim = wrap_dim(dim, len(x._sizes))
    _check_vector(index)
    if not x._sizes:
        return _like(x)
    if not index._sizes:
        index = _UNSQUEEZE(index, 0)
    selected = _INDEX(x, [None] * dim + [index])
    return _RESTRIDED(selected, memory_format=suggest_memory_format(x))


@body(_DECOMPOSED + "index_add")
def index_add(x: Tensor, dim: int, index: Tensor, tensor: Tensor, *, alpha: Number = 1) -> Tensor:
    _check_added(x, dim, index, tensor, alpha)
    return row_major_like(x)


@body(_DECOMPOSED + "index_add_")
def index_add_(x: Tensor, dim: int, index: Tensor, tensor: Tensor, *, alpha: Number = 1) -> Tensor:
    _check_added(x, dim, index, tensor, alpha)
    return x


def _check_added(x: Tensor, dim: int, index: Tensor, tensor: Tensor, alpha: Number) -> None:
    """``_index_add``, whose ``index_put`` looks at nothing on meta."""
    dim = wrap_dim(dim, len(x._sizes))
    if not KERNEL_HABITS["index_add takes an index from elsewhere"] and not (
        x._device == index._device == tensor._device
    ):
        raise RuntimeError(
            "index_add(): self, index and source expected to be in the same device, but got "
            f"(self) {x._device}, (index) {index._device}, and (source) {tensor._device}"
        )
    _check_vector(index)
    indices = index._sizes[0] if index._sizes else 1
    if tensor._sizes:
        size = tensor._sizes[wrap_dim(dim, len(tensor._sizes))]
    else:
        size = 1
    if size != indices:
        raise RuntimeError(
            f"Number of indices ({indices}) should be equal to tensor.size(dim) ({size}), for "
            f"{dim=}"
        )
    if alpha != 1:
        wanted = dtype_to_type(x._dtype)
        if wanted is not bool and not is_weakly_lesser_type(type(alpha), wanted):
            raise RuntimeError(
                f"alpha argument of type {type(alpha)} cannot be safely cast to type {wanted}!"
            )
        _MUL(tensor, alpha)


# --- index_copy, index_fill -------------------------------------------------------------------


@body(_DECOMPOSED + "index_copy")
def index_copy(x: Tensor, dim: int, index: Tensor, tensor: Tensor) -> Tensor:
    _check_copied(x, dim, index, tensor)
    return row_major_like(x)


@body(_DECOMPOSED + "index_copy_")
def index_copy_(x: Tensor, dim: int, index: Tensor, tensor: Tensor) -> Tensor:
    _check_copied(x, dim, index, tensor)
    return x


def _check_copied(x: Tensor, dim: int, index: Tensor, tensor: Tensor) -> None:
    """``_index_copy``, whose ``index_put`` looks at nothing on meta."""
    dim = wrap_dim(dim, len(x._sizes))
    looks = HABITS["index_copy looks at its source"]
    if looks and not x._device == index._device == tensor._device:
        raise RuntimeError(
            "index_copy(): self, index and source expected to be in the same device, but got "
            f"(self) {x._device}, (index) {index._device}, and (source) {tensor._device}"
        )
    _check_vector(index)
    if looks:
        _check_source(x, dim, numel(index._sizes), tensor)


def _check_source(x: Tensor, dim: int, count: int, tensor: Tensor) -> None:
    rank, wanted = len(tensor._sizes), len(x._sizes)
    if not rank and count != 1:
        raise RuntimeError(
            f"index_copy_(): When source is scalar, index should have one element (got {count})"
        )
    if rank and wanted and rank != wanted:
        raise RuntimeError(
            "index_copy_(): When source and destination are not scalars, their dimensionality "
            f"must match. Source dimensionality ({rank}), destination dimensionality ({wanted})"
        )
    slices = [
        each.shape[:dim] + each.shape[dim + 1 :] if each._sizes else () for each in (x, tensor)
    ]
    if tuple(slices[0]) != tuple(slices[1]):
        raise RuntimeError(
            "index_copy_(): Source/destination tensor must have same slice shapes. Destination "
            f"slice shape: {slices[0]} at dimension {dim} and source slice shape: {slices[1]} at "
            "dimension 0."
        )
    if rank and count != tensor._sizes[dim]:
        raise RuntimeError(
            f"index_copy_(): Number of indices ({count}) should be equal to source.size(dim) "
            f"({tensor._sizes[dim]})"
        )


@body(_REFS + "index_fill")
def index_fill(x: Tensor, dim: int, index: Tensor, value: Number | Tensor) -> Tensor:
    _INDEX_COPY(*_as_copied(x, dim, index, value))
    strides = output_strides(x._sizes, (x,))
    if HABITS["index_fill keeps strides that leave no gaps only"] and is_non_overlapping_and_dense(
        x._sizes, x._strides
    ):
        strides = x._strides
    return new_tensor(x._sizes, x._dtype, x._device, strides)


@body(_REFS + "index_fill_")
def index_fill_(x: Tensor, dim: int, index: Tensor, value: Number | Tensor) -> Tensor:
    _INDEX_COPY_(*_as_copied(x, dim, index, value))
    return x


def _as_copied(
    x: Tensor, dim: int, index: Tensor, value: Number | Tensor
) -> tuple[Tensor, int, Tensor, Tensor]:
    """``_index_fill``: the arguments of the copy that it is."""
    _check_vector(index)
    if isinstance(value, Tensor):
        if value._sizes:
            raise RuntimeError(
                "Only supports 0-dimensional value tensor. Got a tensor with "
                f"{len(value._sizes)} dimensions."
            )
    else:
        value = new_tensor((), x._dtype, x._device)
    y = x if x._sizes else _UNSQUEEZE(x, 0)
    sizes = list(y._sizes)
    sizes[dim] = numel(index._sizes)
    return y, dim, index, _EXPAND(value, sizes)


# --- embedding --------------------------------------------------------------------------------


def _check_weight(weight: Tensor) -> None:
    if len(weight._sizes) != 2:
        count = f", got {len(weight._sizes)}-D" * SWITCHES["functions on meta count dimensions"]
        raise AssertionError("'weight' must be 2-D" + count)


@body(_META + "embedding")
def embedding(
    weight: Tensor,
    indices: Tensor,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Any:
    _check_weight(weight)
    is_looked_at = HABITS["embedding looks at its indices"]
    if is_looked_at and indices._dtype not in (int64, DTYPES["int32"]):
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: "
            f"Long, Int; but got {indices._dtype} instead"
        )
    return _like(weight, (*indices._sizes, weight._sizes[1]))


@body(_DECOMPOSED + "embedding")
def decomposed_embedding(
    weight: Tensor,
    indices: Tensor,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Any:
    _check_weight(weight)
    if len(indices._sizes) > 1:
        return _INDEX(weight, [indices])
    chosen = _INDEX_SELECT(weight, 0, indices)
    return chosen if indices._sizes else _SQUEEZE(chosen, 0)


@body(_META + "meta_embedding_dense_backward")
def meta_embedding_dense_backward(
    grad_output: Tensor,
    indices: Tensor,
    num_weights: int,
    padding_idx: int,
    scale_grad_by_freq: bool,
) -> Tensor:
    if not grad_output._sizes:
        raise IndexError("Dimension specified as -1 but tensor has no dimensions")
    return _like(grad_output, (num_weights, grad_output._sizes[-1]))


@body(_DECOMPOSED + "embedding_dense_backward")
def embedding_dense_backward(
    grad_output: Tensor,
    indices: Tensor,
    num_weights: int,
    padding_idx: int,
    scale_grad_by_freq: bool,
) -> Tensor:
    """Gradients over how often their rows were read, but for those of the padding."""
    if scale_grad_by_freq:
        grad_output = _DIV(grad_output, _UNSQUEEZE(indices, -1))
    mask = _EQ(indices, padding_idx)
    for _ in range(len(grad_output._sizes) - len(indices._sizes)):
        mask = _UNSQUEEZE(mask, -1)
    grad = _MASKED_FILL(grad_output, mask, 0)
    return _like(grad, (num_weights, *grad._sizes[len(indices._sizes) :]))


# --- take, masked_scatter, multinomial --------------------------------------------------------


@body(_META + "meta_take")
def meta_take(self: Tensor, index: Tensor) -> Tensor:
    if index._dtype is not int64:
        raise RuntimeError(f"take(): Expected a long tensor for index, but got {index._dtype}")
    if not numel(self._sizes) and numel(index._sizes):
        raise IndexError("take(): tried to take from an empty tensor")
    return _like(self, index._sizes)


@body(_META + "meta_masked_scatter_")
def meta_masked_scatter_(self: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    if mask._dtype not in (BOOL, DTYPES["uint8"]):
        raise RuntimeError("Mask must be bool or uint8")
    if self._dtype is not source._dtype:
        words = {"torch.float32": str(self._dtype), "torch.int64": str(source._dtype)}
        raise worded("masked_scatter from another dtype", **words)
    return self


@body(_META + "meta_masked_scatter")
def meta_masked_scatter(self: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    broadcast, mask = maybe_broadcast(self, mask)  # type: ignore[assignment]
    assert isinstance(broadcast, Tensor)
    return meta_masked_scatter_(_like(broadcast), mask, source)


@body(_META + "meta_multinomial")
def meta_multinomial(
    input: Tensor, num_samples: int, replacement: bool = False, *, generator: Any = None
) -> Any:
    rank = len(input._sizes)
    if rank not in (1, 2):
        raise worded("multinomial of a number", **{"got 0": f"got {rank}"})
    sizes = [*input._sizes[:-1], num_samples]
    return _EMPTY(sizes, dtype=int64, device=input._device)


# --- sort, topk, roll -------------------------------------------------------------------------


@body(_META + "meta_sort")
def meta_sort(
    self: Tensor,
    stable: bool | None = None,
    dim: int = -1,
    descending: bool = False,
    values: Tensor | None = None,
    indices: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Which does not look at the dimension; the outputs get the strides of what is sorted."""
    strides = output_strides(self._sizes, (self,))
    made = (
        new_tensor(self._sizes, self._dtype, self._device, strides),
        new_tensor(self._sizes, int64, self._device, strides),
    )
    if values is None or indices is None:
        return made
    for output in (values, indices):
        resize_out(output, made[0])
        set_sizes(output, self._sizes, strides)
    for output, result in zip((values, indices), made, strict=True):
        written_out(output, result)
    return values, indices


@body(_META + "topk_meta")
def topk_meta(
    self: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> tuple[Tensor, Tensor]:
    dim = maybe_wrap_dim(dim, len(self._sizes))
    if k < 0:
        raise worded("topk of less than nothing")
    sizes = list(self._sizes)
    if k > (sizes[dim] if sizes else 1):
        raise worded("topk of more than there is")
    if sizes:
        sizes[dim] = k
    return _like(self, sizes), new_tensor(sizes, int64, self._device)


@body(_REFS + "roll")
def roll(a: Tensor, shifts: Sequence[int], dims: Sequence[int] = ()) -> Any:
    rank = len(a._sizes)
    dims = [wrap_dim(dim, rank) for dim in dims]
    if not numel(a._sizes):
        return _CLONE(a, memory_format=None)
    if not rank and dims:
        raise IndexError(f"Dimension specified as {dims[0]} but tensor has no dimensions")
    if len(shifts) == 1 == len(dims):
        return _like(a)
    if not shifts:
        raise RuntimeError("`shifts` required")
    if len(shifts) != len(dims) and (dims or len(shifts) != 1):
        raise RuntimeError(
            f"shifts and dimensions must align. shifts: {len(shifts)}, dims: {len(dims)}"
        )
    return _like(a)
