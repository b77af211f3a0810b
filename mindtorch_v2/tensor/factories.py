"""Functions that make tensors, as far as metadata goes.

Mirrors ``aten/src/ATen/native/TensorFactories.cpp`` and its sparse, quantized and mkldnn
siblings: which options there are, and which of them an empty tensor cannot have.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.keyset import functionality_bit, mask_of
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.dtype import (
    DTYPES,
    LAYOUTS,
    DType,
    Layout,
    float32,
    int64,
    jagged,
    mkldnn,
    sparse_compressed,
    sparse_coo,
    strided,
)
from mindtorch_v2.tensor.options import BACKEND_OF_DEVICE, compute_dispatch_key
from mindtorch_v2.tensor.tensor import Tensor, check_mkldnn

_KEYS_WITH_TENSORS: Final = frozenset(
    DispatchKey[prefix + backend]
    for prefix in ("", "Quantized", "Sparse", "SparseCsr")
    for backend in ("CPU", "Meta", "NPU")
) | {DispatchKey.MkldnnCPU}
"""Where a tensor can be made without a third-party backend."""


def empty(
    *size: Any,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """An uninitialised tensor of shape ``size``, given as integers or as one sequence."""
    shape = _shape(size)
    kind, where, how = dtype or float32, Device(device or "cpu"), layout or strided
    key = compute_dispatch_key(kind, how, where.type)
    if key not in _KEYS_WITH_TENSORS:
        raise NotImplementedError(
            f"mindtorch_v2 makes no tensors on {where} yet; use cpu, meta or npu"
        )
    _check_layout(shape, kind, how, where)
    return Tensor._make(shape, kind, how, where, requires_grad=requires_grad)


def _shape(size: tuple[Any, ...]) -> tuple[int, ...]:
    if len(size) == 1 and isinstance(size[0], Sequence):
        return tuple(size[0])
    return size


def _check_layout(shape: tuple[int, ...], dtype: DType, layout: Layout, device: Device) -> None:
    """What the kernels of the special layouts refuse."""
    if layout is mkldnn:
        check_mkldnn(dtype)
    elif layout is sparse_coo and dtype._is_quantized:
        if device.type == "meta":
            raise RuntimeError("Unrecognized tensor type ID: QuantizedMeta")
        backend = BACKEND_OF_DEVICE[device.type]
        raise RuntimeError(
            f"backend of indices ({backend}) must match backend of values (Quantized{backend})"
        )
    elif layout is jagged and device.type == "meta" and not dtype._is_quantized:
        raise NotImplementedError("non-strided meta tensors not supported yet")
    elif layout in sparse_compressed:
        if len(shape) < 2:
            raise RuntimeError(
                "torch.empty: Only batched sparse compressed (non-block) tensors are supported, "
                f"but got size {list(shape)}"
            )
        if layout in (LAYOUTS["sparse_bsr"], LAYOUTS["sparse_bsc"]):
            raise RuntimeError(
                "empty_sparse_compressed expected sparse compressed (non-block) tensor layout "
                f"but got {sparse_compressed[layout]}"
            )


def ones(*size: Any, layout: Layout | None = None, **options: Any) -> Tensor:
    """A strided tensor of ones."""
    if layout in (sparse_coo, *sparse_compressed):
        kind = "sparse" if layout is sparse_coo else repr(layout)
        raise RuntimeError(f"full(...) is not implemented for {kind} layout")
    return empty(*size, layout=layout, **options)


def zeros(*size: Any, **options: Any) -> Tensor:
    """A tensor of zeros; for the sparse layouts, one that stores no value."""
    return empty(*size, **options)


def empty_like(tensor: Tensor, **options: Any) -> Tensor:
    """A new tensor with the options of another where none are given."""
    given = {"dtype": tensor.dtype, "layout": tensor.layout, "device": tensor.device, **options}
    return empty(tensor.shape, **given)


def tensor(data: Any, **options: Any) -> Tensor:
    """A tensor of the shape of nested lists."""
    shape: list[int] = []
    item = data
    while isinstance(item, (list, tuple)):
        shape.append(len(item))
        item = item[0] if item else None
    options.setdefault("dtype", _dtype_of(item))
    return empty(shape, **options)


def full(size: Sequence[int], value: Any, **options: Any) -> Tensor:
    """A tensor of one value, whose type is the dtype's if none is given."""
    options.setdefault("dtype", _dtype_of(value))
    return empty(size, **options)


def arange(*bounds: Any, **options: Any) -> Tensor:
    """The numbers from a start (0) to an end, by a step (1)."""
    start, end, step = (0, *bounds, 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    whole = all(isinstance(bound, int) for bound in bounds)
    options.setdefault("dtype", int64 if whole else float32)
    return empty(max(0, math.ceil((end - start) / step)), **options)


def eye(rows: int, columns: int | None = None, **options: Any) -> Tensor:
    """Ones on the diagonal, zeros elsewhere."""
    return empty(rows, rows if columns is None else columns, **options)


def _dtype_of(value: Any) -> DType:
    if isinstance(value, bool):
        return DTYPES["bool"]
    if isinstance(value, complex):
        return DTYPES["complex64"]
    return int64 if isinstance(value, int) else float32


def sparse_coo_tensor(
    indices: Any = None, values: Any = None, size: Sequence[int] = (), **options: Any
) -> Tensor:
    """A sparse tensor of these values at these indices."""
    return _sparse(sparse_coo, values, size, options)


def sparse_csr_tensor(
    compressed: Any, plain: Any, values: Any, size: Sequence[int] = (), **options: Any
) -> Tensor:
    """A tensor that stores rows by the bounds of their values and their columns."""
    return _sparse(LAYOUTS["sparse_csr"], values, size, options)


def sparse_csc_tensor(
    compressed: Any, plain: Any, values: Any, size: Sequence[int] = (), **options: Any
) -> Tensor:
    """A tensor that stores columns by the bounds of their values and their rows."""
    return _sparse(LAYOUTS["sparse_csc"], values, size, options)


def _sparse(layout: Layout, values: Any, size: Sequence[int], options: dict[str, Any]) -> Tensor:
    if values is not None:
        stored = values if isinstance(values, Tensor) else tensor(values)
        options.setdefault("dtype", stored.dtype)
    return empty(tuple(size), layout=layout, **options)


def _efficientzerotensor(
    *size: Any, dtype: DType | None = None, device: Device | str | None = None
) -> Tensor:
    """A tensor of zeros that stores nothing."""
    zero = functionality_bit(DispatchKey.ZeroTensor)
    return Tensor._make(
        _shape(size), dtype or float32, device=Device(device or "cpu"), extra_keys=zero
    )


def _neg_view(tensor: Tensor) -> Tensor:
    """A view whose values are negated when read."""
    return tensor._neg_view()


def quantize_per_tensor(tensor: Tensor, scale: float, zero_point: int, dtype: DType) -> Tensor:
    """A quantized copy of a float32 tensor."""
    return Tensor._make(tensor.shape, dtype, device=tensor.device)


def _empty_affine_quantized(
    size: Sequence[int], *, dtype: DType, scale: float = 1.0, zero_point: int = 0
) -> Tensor:
    """An uninitialised quantized tensor."""
    return Tensor._make(tuple(size), dtype)


def nested_tensor(
    tensors: Sequence[Tensor], *, dtype: DType | None = None, requires_grad: bool = False
) -> Tensor:
    """A tensor whose rows are tensors of different shapes (the strided nested layout)."""
    nested = mask_of(DispatchKey.NestedTensor)
    made = Tensor._make((len(tensors),), dtype or tensors[0].dtype, requires_grad=requires_grad)
    made._keys = made._keys & ~mask_of(DispatchKey.Dense) | nested
    if not made.is_inference():
        made._keys |= mask_of(DispatchKey.AutogradNestedTensor)
    return made
