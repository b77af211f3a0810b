"""Operators that join, arrange, gather and scatter elements."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from mindtorch_v2.kernels.elementwise.promotion import Number, Operand
from mindtorch_v2.kernels.indexing.index import check_put
from mindtorch_v2.kernels.npu.marshal import UnsupportedError
from mindtorch_v2.kernels.npu.plans import Builder, RefusedError, as_scalar, is_number, number_of
from mindtorch_v2.kernels.npu.rows import add, row
from mindtorch_v2.kernels.overlap import has_internal_overlap
from mindtorch_v2.tensor.dtype import DTYPES
from mindtorch_v2.tensor.geometry import is_contiguous, numel
from mindtorch_v2.tensor.scalars import is_integral
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.tensor.views import infer_size

_BOOL: Final = DTYPES["bool"]
_MASKS: Final = (_BOOL, DTYPES["uint8"])
_SET: Final = 0


# --- joining and arranging ------------------------------------------------------------------------


@row("aten::cat")
def cat(b: Builder, tensors: Sequence[Tensor], dim: int) -> Tensor:
    out = b.out
    full = [b.cast(tensor, out._dtype) for tensor in tensors if 0 not in tensor._sizes]
    b.launch("Cat", full, dim, out)
    return out


def _arranged(name: str, b: Builder, self: Tensor, *sizes: Sequence[int] | int) -> Tensor:
    out = b.out
    b.launch(name, self, *sizes, out)
    return out


for _short in ("repeat", "flip", "roll", "tril", "triu"):
    add(f"aten::{_short}", partial(_arranged, _short.capitalize()))


@row("aten::constant_pad_nd")
def constant_pad_nd(b: Builder, self: Tensor, pad: Sequence[int], value: Number) -> Tensor:
    if any(extent < 0 for extent in pad):
        raise UnsupportedError("a negative padding cuts")
    out = b.out
    b.launch("ConstantPadNd", self, pad, as_scalar(value, self._dtype), out)
    return out


# --- by index -------------------------------------------------------------------------------------


@row("aten::index_select")
def index_select(b: Builder, self: Tensor, dim: int, index: Tensor) -> Tensor:
    out = b.out
    if len(index._sizes) > 1:
        raise RefusedError("the index is no vector")
    b.launch("IndexSelect", self, dim, index, out)
    return out


def _with_axis(*tensors: Tensor) -> list[Tensor]:
    """Tensors of a dimension at least: ACLNN wants as many of each where torch lets one be none."""
    return [
        each if each._sizes else each._as_view((1,), (1,), each._storage_offset) for each in tensors
    ]


@row("aten::gather")
def gather(b: Builder, self: Tensor, dim: int, index: Tensor, sparse_grad: bool) -> Tensor:
    out = b.out
    values, indices, gathered = _with_axis(self, index, out)
    b.launch("Gather", values, dim, indices, gathered)
    return out


@row("aten::scatter.src")
def scatter_src(b: Builder, self: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    out = b.out
    values, indices, sources, scattered = _with_axis(self, index, src, out)
    b.launch("Scatter", values, dim, indices, sources, _SET, scattered)
    return out


@row("aten::scatter.value")
def scatter_value(b: Builder, self: Tensor, dim: int, index: Tensor, value: Number) -> Tensor:
    out = b.out
    number = as_scalar(value, self._dtype)
    values, indices, scattered = _with_axis(self, index, out)
    b.launch("ScatterValue", values, dim, indices, number, _SET, scattered)
    return out


@row("aten::scatter_add")
def scatter_add(b: Builder, self: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    out = b.out
    values, indices, sources, scattered = _with_axis(self, index, src, out)
    b.launch("ScatterAdd", values, dim, indices, sources, scattered)
    return out


@row("aten::index_add")
def index_add(
    b: Builder, self: Tensor, dim: int, index: Tensor, source: Tensor, alpha: Number
) -> Tensor:
    out = b.out
    b.launch("IndexAdd", self, dim, index, source, as_scalar(alpha, self._dtype), out)
    return out


def _indices(b: Builder, self: Tensor, indices: Sequence[Tensor | None]) -> list[Tensor]:
    """A whole dimension is a tensor of no elements; indices are on the device."""
    found = []
    for index in indices:
        if index is None:
            found.append(b.new((0,), self._dtype))
        elif index._device != b.device:
            raise UnsupportedError("an index is on another device")
        elif not is_integral(index._dtype) or not index._sizes:
            raise UnsupportedError("an index is a mask, or has no dimensions")
        else:
            found.append(index)
    if any(index is not None and index._dtype in _MASKS for index in indices):
        raise UnsupportedError("the shape depends on the values of a mask")
    return found


@row("aten::index.Tensor")
def index(b: Builder, self: Tensor, indices: Sequence[Tensor | None]) -> Tensor:
    out = b.out
    b.launch("Index", self, _indices(b, self, indices), out)
    return out


@row("aten::_index_put_impl_")
def index_put_impl_(
    b: Builder,
    self: Tensor,
    indices: Sequence[Tensor | None],
    values: Tensor,
    accumulate: bool,
    unsafe: bool,
) -> Tensor:
    if not is_contiguous(self._sizes, self._strides):
        raise UnsupportedError("what is written to has gaps")
    found = _indices(b, self, indices)
    try:
        check_put(self, indices, values)
    except (IndexError, RuntimeError) as error:  # its meta kernel looks at nothing
        raise RefusedError(str(error)) from error
    b.launch("IndexPutImpl", self, found, b.operand(values, self._dtype), accumulate, unsafe)
    return self


# --- by mask --------------------------------------------------------------------------------------


def _fill(b: Builder, target: Tensor, mask: Tensor, value: Operand) -> None:
    """A value on the device stays there; then nobody sees whether it fits another dtype."""
    if not is_number(value):
        assert isinstance(value, Tensor)
        if value._dtype is not target._dtype:
            raise UnsupportedError("a value on the device, of another dtype")
        b.launch("InplaceMaskedFillTensor", target, mask, value)
        return
    number = number_of(value)
    if isinstance(number, complex) and not target._dtype.is_complex:
        raise UnsupportedError("a complex number for real ones")
    b.launch("InplaceMaskedFillScalar", target, mask, as_scalar(number, target._dtype))


def masked_fill(b: Builder, self: Tensor, mask: Tensor, value: Operand) -> Tensor:
    """A copy, in which the mask is filled."""
    out = b.out
    b.copy(out, self)
    _fill(b, out, mask, value)
    return out


def masked_fill_(b: Builder, self: Tensor, mask: Tensor, value: Operand) -> Tensor:
    """In place: masking needs no second tensor."""
    b.check()
    if has_internal_overlap(self):
        raise UnsupportedError("a tensor that overlaps itself")
    if mask._dtype is not _BOOL:
        raise UnsupportedError("a mask that is none")
    _fill(b, self, mask, value)
    return self


for _overload in ("Scalar", "Tensor"):
    add(f"aten::masked_fill.{_overload}", masked_fill)
    add(f"aten::masked_fill_.{_overload}", masked_fill_)


# --- embeddings -----------------------------------------------------------------------------------


@row("aten::embedding")
def embedding(
    b: Builder, weight: Tensor, indices: Tensor, padding_idx: int, *of_gradients: bool
) -> Tensor:
    out = b.out
    b.launch("Embedding", weight, indices, out)
    return out


@row("aten::embedding_dense_backward")
def embedding_dense_backward(
    b: Builder,
    grad_output: Tensor,
    indices: Tensor,
    num_weights: int,
    padding_idx: int,
    scale_grad_by_freq: bool,
) -> Tensor:
    out = b.out
    infer_size([numel(indices._sizes), out._sizes[-1]], numel(grad_output._sizes))
    settings = (num_weights, padding_idx, scale_grad_by_freq)  # no padding is the largest uint64
    b.launch("EmbeddingDenseBackward", b.contiguous(grad_output), indices, *settings, out)
    return out
