"""Conversions of whole tensors, ``to`` above all, and of one element to a number.

Mirrors ``aten/src/ATen/native/TensorConversions.cpp``, ``Scalar.cpp`` and the ``resize_`` of
``Resize.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mindtorch_v2.binding.convert import enum_value
from mindtorch_v2.binding.values import dtype_of_value, memory_format_of_value
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.keyset import has
from mindtorch_v2.kernels.elementwise.promotion import Number, can_cast, result_type
from mindtorch_v2.kernels.factories.factories import given_options
from mindtorch_v2.kernels.factories.uninitialized import fill_grown
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor, set_sizes
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.tensor.absent_devices import (
    ensure_has_index,
    is_absent,
    supports_as_strided,
)
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.dtype import (
    DTYPES,
    MEMORY_FORMATS,
    memory_format,
    mkldnn,
    sparse_coo,
    strided,
)
from mindtorch_v2.tensor.factories import format_strides, strides_in
from mindtorch_v2.tensor.geometry import (
    contiguous_strides,
    dense_strides_like,
    suggest_memory_format,
)
from mindtorch_v2.tensor.options import compute_dispatch_key
from mindtorch_v2.tensor.plain import set_strides
from mindtorch_v2.tensor.support import promote_types
from mindtorch_v2.tensor.tensor import Tensor

_IMPLICIT: Final = "CompositeImplicitAutograd"
_PRESERVE: Final = MEMORY_FORMATS["preserve_format"]
_EMPTY: Final = OperatorHandle("aten::empty.memory_format")
_EMPTY_STRIDED: Final = OperatorHandle("aten::empty_strided")
_COPY: Final = OperatorHandle("aten::copy_")
_RESIZE: Final = OperatorHandle("aten::resize_")
_TO_COPY: Final = OperatorHandle("aten::_to_copy")
_TO_DTYPE: Final = OperatorHandle("aten::to.dtype")
_EXCHANGEABLE: Final = (
    DispatchKey.CPU,
    DispatchKey.NPU,
    DispatchKey.SparseCPU,
    DispatchKey.SparseCsrCPU,
)
"""Keys of the tensors whose elements can be exchanged, among the backends that there are."""


@kernel("aten::to.dtype_layout", key=_IMPLICIT)
def to_dtype_layout(
    self: Tensor,
    dtype: int | None,
    layout: int | None,
    device: Device | None,
    pin_memory: bool | None,
    non_blocking: bool,
    copy: bool,
    memory_format: int | None,
) -> Any:
    """Itself, if it has all of that already."""
    device = None if device is None else ensure_has_index(device)
    given = given_options((dtype, layout, device, None))
    same = (
        given.get("dtype", self._dtype) is self._dtype
        and given.get("layout", self._layout) is self._layout
        and given.get("device", self._device) == self._device
    )
    format = _PRESERVE if memory_format is None else memory_format_of_value(memory_format)
    if same and not copy and _has_format(self, format):
        return self
    return _TO_COPY(self, dtype, layout, device, pin_memory, non_blocking, memory_format)


def _has_format(self: Tensor, wanted: memory_format) -> bool:
    return wanted is _PRESERVE or suggest_memory_format(self._sizes, self._strides) is wanted


@kernel("aten::to.dtype", key=_IMPLICIT)
def to_dtype(
    self: Tensor, dtype: int, non_blocking: bool, copy: bool, memory_format: int | None
) -> Any:
    return to_dtype_layout(self, dtype, None, None, None, non_blocking, copy, memory_format)


@kernel("aten::to_dense", key=_IMPLICIT)
def to_dense(self: Tensor, dtype: int | None, masked_grad: bool | None) -> Any:
    dense = self if self._layout is strided else _made_dense(self, dtype)
    return dense if dtype is None else to_dtype(dense, dtype, False, False, None)


def _made_dense(self: Tensor, dtype: int | None) -> Tensor:
    if dtype is not None and self._layout is not mkldnn:
        kind = "sparse" if self._layout is sparse_coo else "sparse_csr"
        raise RuntimeError(f"dtype argument is not supported by {kind}_to_dense")
    return self._fresh(layout=strided)


@kernel("aten::dequantize.self", key="QuantizedCPU")
def dequantize_quantized(self: Tensor) -> Tensor:
    return self._fresh(dtype=DTYPES["float32"])


@kernel("aten::dequantize.self")
def dequantize_cpu_or_cuda(self: Tensor) -> Any:
    """Of what is not quantized."""
    return _TO_DTYPE(self, DTYPES["float32"])


@kernel("aten::type_as", key=_IMPLICIT)
def type_as(self: Tensor, other: Tensor) -> Any:
    dtype, layout = enum_value(other._dtype), enum_value(other._layout)
    return to_dtype_layout(self, dtype, layout, other._device, None, False, False, None)


@kernel("aten::to.device", key=_IMPLICIT)
def to_device(
    self: Tensor,
    device: Device,
    dtype: int,
    non_blocking: bool,
    copy: bool,
    memory_format: int | None,
) -> Any:
    return to_dtype_layout(self, dtype, None, device, None, non_blocking, copy, memory_format)


@kernel("aten::to.other", key=_IMPLICIT)
def to_other(
    self: Tensor, other: Tensor, non_blocking: bool, copy: bool, memory_format: int | None
) -> Any:
    if other is None:  # an undefined tensor
        raise RuntimeError("tensor does not have a device")
    dtype, layout = enum_value(other._dtype), enum_value(other._layout)
    return to_dtype_layout(
        self, dtype, layout, other._device, False, non_blocking, copy, memory_format
    )


@kernel("aten::chalf", key=_IMPLICIT)
def chalf(self: Tensor, memory_format: int | None) -> Any:
    return to_dtype(self, enum_value(DTYPES["complex32"]), False, False, memory_format)


@kernel("aten::_to_copy", key="CompositeExplicitAutograd")
def to_copy(
    self: Tensor,
    dtype: int | None,
    layout: int | None,
    device: Device | None,
    pin_memory: bool | None,
    non_blocking: bool,
    memory_format: int | None,
) -> Any:
    if device is not None and is_absent(device):
        compute_dispatch_key(self._dtype, self._layout, device.type)  # BackendSelect comes first
    device = None if device is None else ensure_has_index(device)
    if is_absent(device):
        return _copied_nowhere(self, dtype, layout, device, pin_memory, memory_format)
    given = given_options((dtype, layout, device, pin_memory))
    if self._layout is not strided or given.get("layout", strided) is not strided:
        return self._fresh(**{name: value for name, value in given.items() if name != "pin_memory"})
    wanted = _PRESERVE if memory_format is None else memory_format_of_value(memory_format)
    strides = (
        dense_strides_like(self._sizes, self._strides)
        if wanted is _PRESERVE
        else strides_in(self._sizes, wanted)
    )
    kind, where = given.get("dtype", self._dtype), given.get("device", self._device)
    made = new_tensor(self._sizes, kind, where, strides)
    return _COPY(made, self, non_blocking)


def _copied_nowhere(
    self: Tensor,
    dtype: int | None,
    layout: int | None,
    device: Device | None,
    pin_memory: bool | None,
    memory_format: int | None,
) -> Any:
    """Raise what the operator does that is to make the copy, on a device that is not there.

    Of a sparse tensor its parts are copied, which are strided.
    """
    if self._layout is not strided:
        layout = enum_value(strided)
    options: dict[str, Any] = {
        "dtype": enum_value(self._dtype) if dtype is None else dtype,
        "layout": enum_value(self._layout) if layout is None else layout,
        "device": device,
        "pin_memory": pin_memory,
    }
    wanted = _PRESERVE if memory_format is None else memory_format_of_value(memory_format)
    if wanted is _PRESERVE and device is not None and supports_as_strided(device):
        return _EMPTY_STRIDED(self._sizes, self._strides, **options)
    return _EMPTY(self._sizes, **options)


@kernel("aten::result_type.Tensor", "aten::result_type.Scalar", key=_IMPLICIT)
@kernel("aten::result_type.Scalar_Tensor", "aten::result_type.Scalar_Scalar", key=_IMPLICIT)
def result_type_of_both(one: Tensor | Number, two: Tensor | Number) -> int:
    return enum_value(result_type((one, two)))


@kernel("aten::can_cast", key=_IMPLICIT)
def can_cast_dtype(source: int, target: int) -> bool:
    return can_cast(dtype_of_value(source), dtype_of_value(target))


@kernel("aten::promote_types", key=_IMPLICIT)
def promote_types_of_values(type1: int, type2: int) -> int:
    return enum_value(promote_types(dtype_of_value(type1), dtype_of_value(type2)))


@kernel("aten::_has_compatible_shallow_copy_type", key=_IMPLICIT)
def has_compatible_shallow_copy_type(self: Tensor, from_: Tensor) -> bool:
    """Whether one can be given the other's elements: their keys are the same, or both are dense,
    or both sparse, on backends that compute."""
    if self._keys == from_._keys:
        return True
    return any(has(self._keys, key) and has(from_._keys, key) for key in _EXCHANGEABLE)


@kernel("aten::resize_", keys=("CPU", "Meta"))
def resize_(self: Tensor, size: Sequence[int], memory_format: int | None) -> Tensor:
    wanted = None if memory_format is None else memory_format_of_value(memory_format)
    if wanted is not None or tuple(size) != tuple(self._sizes):
        nbytes = self.untyped_storage().nbytes()
        set_sizes(self, tuple(size))
        if wanted not in (None, _PRESERVE):
            set_strides(self, format_strides(size, wanted) or contiguous_strides(size))
        fill_grown(self, nbytes)
        if wanted is _PRESERVE:
            raise RuntimeError("Unsupported memory formatPreserve")
    return self


@kernel("aten::resize_as_", key="CompositeExplicitAutograd")
def resize_as_(self: Tensor, the_template: Tensor, memory_format: int | None) -> Any:
    wanted = None if memory_format is None else memory_format_of_value(memory_format)
    _RESIZE(self, list(the_template._sizes))
    if wanted is not None:
        if wanted is _PRESERVE:
            wanted = suggest_memory_format(the_template._sizes, the_template._strides)
        sizes = tuple(self._sizes)
        set_sizes(self, sizes, strides_in(sizes, wanted) or contiguous_strides(sizes))
    return self


@kernel("aten::detach_", key="CompositeExplicitAutograd")
def detach_(self: Tensor) -> Tensor:
    """Itself: what there is to do is autograd's."""
    return self
