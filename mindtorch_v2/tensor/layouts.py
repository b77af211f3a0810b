"""Copies between layouts: dense, sparse, mkldnn, quantized.

Mirrors ``aten/src/ATen/native/TensorConversions.cpp``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mindtorch_v2.tensor import copying, quantized, sparse
from mindtorch_v2.tensor.dtype import (
    CPP_LAYOUTS,
    MKLDNN_DTYPES,
    DType,
    Layout,
    jagged,
    mkldnn,
    sparse_compressed,
    sparse_coo,
    strided,
)

if TYPE_CHECKING:
    from mindtorch_v2.tensor.tensor import Tensor

_SPARSE: Final = (sparse_coo, *sparse_compressed)


def check_mkldnn(dtype: DType) -> None:
    """RuntimeError unless a tensor of ``dtype`` can have the mkldnn layout."""
    if dtype not in MKLDNN_DTYPES:
        raise RuntimeError("get_mkldnn_dtype: unsupported data type")


def check_is_not_compressed(layout: Layout, what: str) -> None:
    """RuntimeError for the layouts that have no strides, nor what is asked of these."""
    if layout in sparse_compressed:
        name = CPP_LAYOUTS[layout].removeprefix("Sparse").upper()
        raise RuntimeError(f"Sparse {name} tensors do not have {what}")


def copy_contents(target: Tensor, source: Tensor) -> None:
    """The values of ``source`` in the layout, dtype and device of ``target``."""
    if source.is_nested:
        target._content = source._content
    elif source.layout is target.layout and source.layout in _SPARSE:
        sparse.copy_parts(target, source)
    elif target.layout in (strided, jagged):
        _copy_to_dense(target, source)
    elif target.layout is mkldnn:
        target._content = dense(source)._detached()._fresh()
    else:
        sparse.from_dense(target, dense(source))


def _copy_to_dense(target: Tensor, source: Tensor) -> None:
    if source.layout in _SPARSE:
        sparse.to_dense(target, source)
    elif source.layout is mkldnn:
        copying.copy_values(target, dense(source))
    elif source.is_quantized:
        _copy_quantized(target, source)
    else:
        copying.copy_values(target, source)


def _copy_quantized(target: Tensor, source: Tensor) -> None:
    if not target.is_quantized:
        quantized.dequantize(target, source)
    elif not target.is_meta:
        copying.store_bits(target, copying.raw_array(source))
    if target.is_quantized:
        target._content = source._content


def dense(source: Tensor) -> Tensor:
    """A dense tensor with the values of ``source``: itself, if it is one."""
    if source.layout is mkldnn:
        if source._content is None:
            source._content = type(source)._make(source._sizes, source.dtype)
        held: Tensor = source._content
        return held
    if source.layout in (strided, jagged):
        return source
    return source._fresh(layout=strided)
