"""Functions that make tensors.

Mirrors ``aten/src/ATen/native/TensorFactories.cpp`` and its sparse, quantized and mkldnn
siblings: which options there are, and which of them an empty tensor cannot have.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from mindtorch_v2 import profile
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.keyset import functionality_bit, mask_of
from mindtorch_v2.numpy_later import np
from mindtorch_v2.tensor import construct, quantized, sparse
from mindtorch_v2.tensor.absent_devices import check_linked, is_absent
from mindtorch_v2.tensor.arange import (
    arange_size,
    arange_values,
    are_whole,
    check_range_on_meta,
    is_in_python,
)
from mindtorch_v2.tensor.copying import fill, is_on_accelerator, store, zero
from mindtorch_v2.tensor.default_dtype import get_default_dtype
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.device_memory import allocated_on
from mindtorch_v2.tensor.dtype import (
    DTYPES,
    LAYOUTS,
    MEMORY_FORMATS,
    PYTHON_DTYPES,
    DType,
    Layout,
    int64,
    jagged,
    mkldnn,
    sparse_compressed,
    sparse_coo,
    strided,
)
from mindtorch_v2.tensor.dtype import memory_format as MemoryFormat
from mindtorch_v2.tensor.experimental import warn_of_nested
from mindtorch_v2.tensor.geometry import (
    CHANNELS_LAST,
    channels_last_strides,
    check_numel,
    check_size_nonnegative,
    contiguous_strides,
    dense_strides_like,
    storage_bytes,
)
from mindtorch_v2.tensor.layouts import check_mkldnn
from mindtorch_v2.tensor.names import set_names
from mindtorch_v2.tensor.options import BACKEND_OF_DEVICE, compute_dispatch_key
from mindtorch_v2.tensor.plain import forget, set_strides
from mindtorch_v2.tensor.storage import UntypedStorage
from mindtorch_v2.tensor.support import check_dtype, worded
from mindtorch_v2.tensor.tensor import Tensor

_KEYS_WITH_TENSORS: Final = frozenset(
    DispatchKey[prefix + backend]
    for prefix in ("", "Quantized", "Sparse", "SparseCsr")
    for backend in ("CPU", "Meta", "NPU")
) | {DispatchKey.MkldnnCPU}
"""Where a tensor can be made without a third-party backend."""
REFUSE: Final[list[Callable[[Sequence[int], DType, Layout, Device], Any]]] = []
"""Raises what the dispatcher says of a tensor on a device that is not there; it stands above this
package, and puts that here."""
_IN_PYTHON: Final = profile.active().refs["functions"].keys()
"""The operators that functions of Python's compute on meta."""


def empty(*size: Any, **options: Any) -> Tensor:
    """An uninitialised tensor of shape ``size``, given as integers or as one sequence."""
    return _empty("empty", *size, **options)


def _empty(
    name: str,
    *size: Any,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    memory_format: MemoryFormat | None = None,
    names: Sequence[str | None] | None = None,
) -> Tensor:
    """A tensor for the function ``name``, by which messages call it."""
    shape = _shape(size)
    kind, how = dtype or get_default_dtype(), layout or strided
    where = device if isinstance(device, Device) else Device(device or "cpu")
    key = compute_dispatch_key(kind, how, where.type)
    if is_absent(where):
        REFUSE[0](shape, kind, how, where)
    if key not in _KEYS_WITH_TENSORS:
        raise NotImplementedError(
            f"mindtorch_v2 makes no tensors on {where} yet; use cpu, meta or npu"
        )
    if pin_memory and where.type == "cpu":
        raise worded("pin_memory")
    if pin_memory and where.type == "npu":
        raise RuntimeError("Only dense CPU tensors can be pinned")
    _check_layout(name, shape, kind, how, where)
    made = Tensor._make(
        shape,
        kind,
        how,
        where,
        requires_grad=requires_grad,
        strides=strides_in(shape, memory_format),
    )
    return set_names(made, names)


def strides_in(shape: Sequence[int], format: MemoryFormat | None) -> tuple[int, ...] | None:
    """Strides of a new tensor in a memory format; RuntimeError if it cannot have that."""
    check_size_nonnegative(shape)
    return format_strides(shape, format)


def format_strides(shape: Sequence[int], format: MemoryFormat | None) -> tuple[int, ...] | None:
    """``empty_tensor_restride``, None for a row-major tensor; RuntimeError for a wrong rank."""
    if format is MEMORY_FORMATS["preserve_format"]:
        raise RuntimeError("unsupported memory format Preserve")
    order = CHANNELS_LAST.get(format) if format is not None else None
    if order is None:
        return None
    if len(order) != len(shape):
        raise RuntimeError(
            f"required rank {len(order)} tensor to use {_format_name(format)} format"
        )
    return channels_last_strides(shape, order)


def _format_name(format: MemoryFormat | None) -> str:
    return repr(format).removeprefix("torch.")


def _shape(size: tuple[Any, ...]) -> tuple[int, ...]:
    if len(size) == 1 and isinstance(size[0], Sequence):
        return tuple(size[0])
    return size


def _check_layout(
    name: str, shape: tuple[int, ...], dtype: DType, layout: Layout, device: Device
) -> None:
    """What the kernels of the special layouts refuse."""
    if layout is mkldnn:
        check_mkldnn(dtype)
        if min(shape, default=0) < 0:
            raise RuntimeError("could not construct a memory descriptor using a format tag")
    elif layout is sparse_coo and min(shape, default=0) < 0 and 0 not in shape:
        raise RuntimeError("numel: integer multiplication overflow")
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
                f"torch.{name}: Only batched sparse compressed (non-block) tensors are supported, "
                f"but got size {list(shape)}"
            )
        if layout in (LAYOUTS["sparse_bsr"], LAYOUTS["sparse_bsc"]):
            raise RuntimeError(
                f"{name}_sparse_compressed expected sparse compressed (non-block) tensor layout "
                f"but got {sparse_compressed[layout]}"
            )


def ones(*size: Any, layout: Layout | None = None, **options: Any) -> Tensor:
    """A strided tensor of ones."""
    check_layout_of_full(layout)
    return _filled(empty(*size, layout=layout, **options), 1)


def check_layout_of_full(layout: Layout | None) -> None:
    """RuntimeError for one in which not every element is stored."""
    if layout in (sparse_coo, *sparse_compressed):
        kind = "sparse" if layout is sparse_coo else repr(layout)
        raise RuntimeError(f"full(...) is not implemented for {kind} layout")


def _filled(tensor: Tensor, value: Any) -> Tensor:
    """A new tensor, with one number everywhere."""
    if tensor.layout is strided and not tensor.is_quantized:
        fill(tensor, value)
    return tensor


def zeros(*size: Any, **options: Any) -> Tensor:
    """A tensor of zeros; for the sparse layouts, one that stores no value."""
    is_python = str(options.get("device")) == "meta" and "aten::zeros" in _IN_PYTHON
    if not is_python and any(isinstance(extent, int) and extent < 0 for extent in _shape(size)):
        shape = _shape(size)
        wrong = next(extent for extent in shape if extent < 0)
        raise worded("zeros of a negative size", **{"-1: [-1]": f"{wrong}: {list(shape)}"})
    return _zeroed(_empty("zeros", *size, **options))


def _zeroed(tensor: Tensor) -> Tensor:
    """A new tensor, of zeros: the host's memory comes so, an accelerator's does not."""
    if is_on_accelerator(tensor) and tensor._layout is strided and not tensor._dtype._is_quantized:
        zero(tensor)
    return tensor


def empty_like(tensor: Tensor, **options: Any) -> Tensor:
    """A new tensor with the options of another where none are given."""
    given = {"dtype": tensor.dtype, "layout": tensor.layout, "device": tensor.device, **options}
    made = empty(tensor.shape, **given)
    if made.layout is strided and tensor.layout is strided and "memory_format" not in options:
        set_strides(made, dense_strides_like(tensor._sizes, tensor._strides))
    return made


def zeros_like(tensor: Tensor, **options: Any) -> Tensor:
    return _zeroed(empty_like(tensor, **options))


def ones_like(tensor: Tensor, **options: Any) -> Tensor:
    return _filled(empty_like(tensor, **options), 1)


def tensor(
    data: Any,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    names: Sequence[str | None] | None = None,
) -> Tensor:
    """A copy of nested sequences, numbers, an array or a tensor."""
    where = device if device is None or isinstance(device, Device) else Device(device)
    scalar_type = PYTHON_DTYPES.get(dtype, dtype)
    made = construct.tensor_from_data(data, scalar_type, where, requires_grad, pin_memory)
    return set_names(made, names)


def as_tensor(data: Any, dtype: DType | None = None, device: Device | str | None = None) -> Tensor:
    """The same, but of an array or a tensor itself if it fits."""
    where = None if device is None else Device(device)
    return construct.as_tensor(data, PYTHON_DTYPES.get(dtype, dtype), where)


def from_numpy(array: Any) -> Tensor:
    """A tensor that shares an array's memory."""
    return construct.from_numpy(array)


def dtype_to_fill(value: Any) -> DType:
    """``infer_full_options``: of complex numbers the wide one where the default is double alone."""
    if isinstance(value, complex):
        is_double = get_default_dtype() is DTYPES["float64"]
        return DTYPES["complex128" if is_double else "complex64"]
    return construct.infer_dtype(value)


def full(size: Sequence[int], fill_value: Any, **options: Any) -> Tensor:
    """A tensor of one value, whose type is the dtype's if none is given."""
    if options.get("dtype") is None:
        options["dtype"] = dtype_to_fill(fill_value)
    return _filled(empty(size, **options), fill_value)


def arange(*bounds: Any, **options: Any) -> Tensor:
    """The numbers from a start (0) to an end, by a step (1)."""
    start, end, step = (0, *bounds, 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    if options.get("dtype") is None:
        options["dtype"] = dtype_of_range(start, end, step)
    where = Device(options.get("device") or "cpu").type
    if where == "cpu":
        check_dtype("arange", options["dtype"])
    elif (
        where == "meta" and is_in_python() and not any(isinstance(each, complex) for each in bounds)
    ):
        check_range_on_meta(start, end, step, options["dtype"])
    count = arange_size(start, end, step, options["dtype"])
    made = empty(count, **options)
    if not made.is_meta:
        store(made, arange_values(start, step, count, made.dtype))
    return made


def dtype_of_range(*numbers: Any) -> DType:
    """That of whole numbers, or the default."""
    return int64 if are_whole(*numbers) else get_default_dtype()


def check_eye(n: int, m: int) -> None:
    for name, size in (("n", n), ("m", m)):
        if size < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {size}")


def eye(n: int, m: int | None = None, **options: Any) -> Tensor:
    """Ones on the diagonal, zeros elsewhere."""
    columns = n if m is None else m
    check_eye(n, columns)
    made = empty(n, columns, **options)
    if not made.is_meta:
        check_dtype("eye", made.dtype)
        store(made, np.eye(n, columns))
    return made


def sparse_coo_tensor(
    indices: Any = None, values: Any = None, size: Sequence[int] | None = None, **options: Any
) -> Tensor:
    """A sparse tensor of these values at these indices; one without values takes a size alone."""
    if values is None and size is None:
        indices, size = None, indices
    return _sparse(sparse_coo, (indices,), values, size, options)


def sparse_csr_tensor(
    crow_indices: Any,
    col_indices: Any,
    values: Any,
    size: Sequence[int] | None = None,
    **options: Any,
) -> Tensor:
    """A tensor that stores rows by the bounds of their values and their columns."""
    return _sparse(LAYOUTS["sparse_csr"], (crow_indices, col_indices), values, size, options)


def sparse_csc_tensor(
    ccol_indices: Any,
    row_indices: Any,
    values: Any,
    size: Sequence[int] | None = None,
    **options: Any,
) -> Tensor:
    """A tensor that stores columns by the bounds of their values and their rows."""
    return _sparse(LAYOUTS["sparse_csc"], (ccol_indices, row_indices), values, size, options)


def _sparse(
    layout: Layout,
    indices: tuple[Any, ...],
    values: Any,
    size: Sequence[int] | None,
    options: dict[str, Any],
) -> Tensor:
    if options.get("device") is not None:  # a guard, which comes before everything
        check_linked(Device(options["device"]))
    is_checked = options.pop("check_invariants", False)
    if values is None:
        return empty(tuple(size or ()), layout=layout, **options)
    if is_checked and layout is not sparse_coo:
        raise NotImplementedError(
            f"mindtorch_v2 does not check the invariants of {layout} tensors yet; leave out "
            "check_invariants"
        )
    stored = as_tensor(values, options.get("dtype"))
    parts = [construct.as_tensor(part) for part in indices]
    if size is None:
        if str(options.get("device") or stored.device) == "meta":
            raise NotImplementedError("Cannot copy out of meta tensor; no data!")
        size = sparse.inferred_size(layout, parts, stored)
    made = empty(tuple(size), layout=layout, **{**options, "dtype": stored.dtype})
    if not made.is_meta:
        if layout is sparse_coo:
            made._content = sparse.Coordinates(parts[0], stored)
        else:
            made._content = sparse.Compressed(parts[0], parts[1], stored)
    return made


def _efficientzerotensor(
    *size: Any, dtype: DType | None = None, device: Device | str | None = None
) -> Tensor:
    """A tensor of zeros that stores nothing."""
    zero = functionality_bit(DispatchKey.ZeroTensor)
    shape, kind, where = _shape(size), dtype or get_default_dtype(), Device(device or "cpu")
    check_size_nonnegative(shape)
    if where.type == "meta":
        check_numel(shape)  # before the bytes, where sizes may be symbols
    count = storage_bytes(shape, contiguous_strides(shape), 0, kind.itemsize)
    storage = UntypedStorage._without_memory(count, allocated_on(where))
    return Tensor._make(shape, kind, device=where, storage=storage, extra_keys=zero)


def _neg_view(tensor: Tensor) -> Tensor:
    """A view whose values are negated when read."""
    return tensor._neg_view()


def quantize_per_tensor(tensor: Tensor, scale: float, zero_point: int, dtype: DType) -> Tensor:
    """A quantized copy of a float32 tensor; RuntimeError for another, or another zero point."""
    quantized.check_source(tensor, int(zero_point), dtype)
    made = Tensor._make(tensor.shape, dtype, device=tensor.device)
    quantized.quantize(made, tensor, quantized.Quantizer(float(scale), int(zero_point)))
    return made


def _empty_affine_quantized(
    size: Sequence[int],
    *,
    dtype: DType,
    scale: float = 1.0,
    zero_point: int = 0,
    device: Device | str | None = None,
    memory_format: MemoryFormat | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """An uninitialised quantized tensor."""
    where = Device("cpu") if device is None else Device(device)
    if pin_memory:
        raise worded("pin_memory")
    made = Tensor._make(
        tuple(size),
        dtype,
        device=where,
        strides=strides_in(size, memory_format),
        requires_grad=requires_grad,
    )
    made._content = quantized.Quantizer(float(scale), int(zero_point))
    return made


def nested_tensor(
    rows: Sequence[Any], *, dtype: DType | None = None, requires_grad: bool = False
) -> Tensor:
    """A tensor whose rows are tensors of different shapes (the strided nested layout).

    RuntimeError for rows of different numbers of dimensions.
    """
    tensors = [row if isinstance(row, Tensor) else tensor(row, dtype=dtype) for row in rows]
    for place, row in enumerate(tensors):
        if row.dim() != tensors[0].dim():
            raise RuntimeError(
                "All Tensors given to nested_tensor must have the same dimension. Found dimension "
                f"{row.dim()} for Tensor at index {place} and dimension {tensors[0].dim()} for "
                "Tensor at index 0."
            )
    warn_of_nested()
    nested = mask_of(DispatchKey.NestedTensor)
    made = Tensor._make((len(tensors),), dtype or tensors[0].dtype, requires_grad=requires_grad)
    made._content = tuple(row._detached()._converted(made.device, made.dtype) for row in tensors)
    forget(made)._keys = made._keys & ~mask_of(DispatchKey.Dense) | nested
    if not made._is_inference():
        made._keys |= mask_of(DispatchKey.AutogradNestedTensor)
    return made
