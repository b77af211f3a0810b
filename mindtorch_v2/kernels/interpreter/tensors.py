"""Operators of tensors that only the interpreter has: ``prim::dtype``, ``aten::to.prim_dtype`` …

Mirrors ``torch/csrc/jit/runtime/register_prim_ops.cpp`` and ``register_special_ops.cpp``.  Most
call operators of the dispatcher, which is where they dispatch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from mindtorch_v2.autograd.functions_manual.shapes import sum_to
from mindtorch_v2.autograd.variable import variable_data
from mindtorch_v2.binding.convert import enum_value
from mindtorch_v2.binding.values import dtype_of_value
from mindtorch_v2.dispatch.tls import AutoGradMode
from mindtorch_v2.kernels.elementwise import broadcasting
from mindtorch_v2.kernels.elementwise.promotion import number_dtype
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.interpreter.values import Operation
from mindtorch_v2.tensor.default_dtype import default_complex_dtype, get_default_dtype
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.dtype import DTYPES
from mindtorch_v2.tensor.scalar_ops import scalar_tensor_static
from mindtorch_v2.tensor.tensor import Tensor

_ABS: Final = OperatorHandle("aten::abs")
_COPY_: Final = OperatorHandle("aten::copy_")
_DEQUANTIZE: Final = OperatorHandle("aten::dequantize.self")
_DEQUANTIZE_ALL: Final = OperatorHandle("aten::dequantize.tensors")
_EMBEDDING_RENORM_: Final = OperatorHandle("aten::embedding_renorm_")
_EMPTY: Final = OperatorHandle("aten::empty.memory_format")
_FILL_: Final = OperatorHandle("aten::fill_.Scalar")
_FULL: Final = OperatorHandle("aten::full")
_INDEX: Final = OperatorHandle("aten::index.Tensor")
_INDEX_PUT: Final = OperatorHandle("aten::index_put")
_INDEX_PUT_: Final = OperatorHandle("aten::index_put_")
_INDEX_PUT_IMPL_: Final = OperatorHandle("aten::_index_put_impl_")
_MATRIX_H: Final = OperatorHandle("aten::matrix_H")
_MH: Final = OperatorHandle("aten::mH")
_MT: Final = OperatorHandle("aten::mT")
_NORMAL_: Final = OperatorHandle("aten::normal_")
_NUMPY_T: Final = OperatorHandle("aten::numpy_T")
_SPLIT: Final = OperatorHandle("aten::split_with_sizes")
_TO_DEVICE: Final = OperatorHandle("aten::to.device")
_TO_OPTIONS: Final = OperatorHandle("aten::to.dtype_layout")
_TO_DTYPE: Final = OperatorHandle("aten::to.dtype")
_UNIFORM_: Final = OperatorHandle("aten::uniform_")
_UNSAFE_INDEX: Final = OperatorHandle("aten::_unsafe_index.Tensor")
_UNSAFE_INDEX_PUT: Final = OperatorHandle("aten::_unsafe_index_put")
_ZERO_: Final = OperatorHandle("aten::zero_")

_CPU: Final = Device("cpu")
_BOOL: Final = DTYPES["bool"]
_INT64: Final = DTYPES["int64"]
_INT32: Final = DTYPES["int32"]


# --- conversions ----------------------------------------------------------------------------------


def _to(
    self: Tensor | None, device: Device | None, dtype: int | None, non_blocking: bool, copy: bool
) -> Any:
    """``to_dispatch``."""
    if self is None:
        raise RuntimeError("tensor does not have a device")
    if device is None and dtype is None and not copy:
        return self
    if device is None:
        kind = enum_value(self._dtype) if dtype is None else dtype
        return _TO_DTYPE(self, kind, non_blocking, copy)
    if dtype is None:
        return _TO_OPTIONS(self, None, None, device, None, non_blocking, copy)
    return _TO_DEVICE(self, device, dtype, non_blocking, copy)


def _to_dtype(self: Tensor, dtype: int | None, non_blocking: bool, copy: bool) -> Any:
    return _to(self, None, dtype, non_blocking, copy)


def _to_other(self: Tensor, non_blocking: bool, copy: bool) -> Any:
    return _to(self, None, None, non_blocking, copy)


def _to_device(name: str) -> Operation:
    """``Tensor::cpu`` and ``Tensor::cuda``."""
    return lambda self: _to(self, Device(name), None, False, False)


def _cast(tensor: Tensor, dtype: int | None, device: Device | None) -> Any:
    """``castTensorTo``."""
    kind = tensor._dtype if dtype is None else dtype_of_value(dtype)
    place = tensor._device if device is None else device
    if kind is tensor._dtype and place == tensor._device:
        return tensor
    return _TO_DEVICE(tensor, place, enum_value(kind), False, False)


def _tensor_of(own: Callable[[], Any]) -> Operation:
    """``aten::tensor`` and ``as_tensor`` of a number: of its own dtype first."""

    def run(t: Any, dtype: int | None, device: Device | None, requires_grad: bool = False) -> Any:
        made = _cast(_FULL([], t, enum_value(own()), None, _CPU, None), dtype, device)
        if requires_grad:
            if not (made._dtype.is_floating_point or made._dtype.is_complex):
                raise RuntimeError(
                    "Only Tensors of floating point and complex dtype can require gradients"
                )
            made.requires_grad_(True)
        return made

    return run


def _of_no_elements(data: list[Any], *options: Any) -> None:
    """``createTensorFromList``, which only an empty list gets to."""
    raise RuntimeError("Input must be of ints, floats, or bools, got t")


_OWN: Final[dict[str, Callable[[], Any]]] = {
    "bool": lambda: _BOOL,
    "complex": default_complex_dtype,
    "float": get_default_dtype,
    "int": lambda: _INT64,
}


def _list_to_tensor(values: list[int]) -> Any:
    made = _EMPTY([len(values)], enum_value(_INT32), None, None, None, None)
    for place, value in enumerate(values):
        _FILL_(made[place], value)
    return made


def _num_to_tensor(a: Any) -> Any:
    """``at::scalar_to_tensor``."""
    return scalar_tensor_static(a, number_dtype(a))


# --- in place -------------------------------------------------------------------------------------


def _without_grad(handle: OperatorHandle) -> Operation:
    def run(*stack: Any) -> Any:
        mode = AutoGradMode(False)
        try:
            return handle(*stack)
        finally:
            mode.close()

    return run


# --- what others have under another name ----------------------------------------------------------


def _grad_sum_to_size(self: Tensor, size: list[int] | None) -> Any:
    return self if size is None else sum_to(self, size)


def _infer_size(a: Sequence[int], b: Sequence[int]) -> list[int]:
    """Of the second and the first: they are popped that way."""
    return list(broadcasting.infer_size(b, a))


def _dequantize(tensors: Any) -> Any:
    if isinstance(tensors, tuple):
        return tuple(_DEQUANTIZE(each) if isinstance(each, Tensor) else each for each in tensors)
    raise RuntimeError(
        "Unsupported type in dequantize, only List[Tensor] and  Tuple[Tensor or other types] are "
        f"supported, got type:{_type_name(tensors)}"
    )


def _type_name(value: Any) -> str:
    if isinstance(value, list):
        return f"{_type_name(value[0]) if value else 't'}[]"
    if value is None:
        return "NoneType"
    return "Tensor" if isinstance(value, Tensor) else type(value).__name__


# --- properties -----------------------------------------------------------------------------------


def _property(name: str) -> Operation:
    def read(a: Tensor) -> Any:
        return getattr(a, name)

    return read


def _dtype(a: Tensor) -> int:
    return int(enum_value(a._dtype))


def _get_device(a: Tensor) -> int:
    index = a._device.index
    return -1 if index is None else int(index)


def _element_size(a: Tensor) -> int:
    return int(a.element_size())


_PROPERTIES: Final = (
    "grad",
    "is_cpu",
    "is_cuda",
    "is_ipu",
    "is_maia",
    "is_meta",
    "is_mkldnn",
    "is_mps",
    "is_mtia",
    "is_nested",
    "is_quantized",
    "is_sparse",
    "is_sparse_csr",
    "is_vulkan",
    "is_xla",
    "is_xpu",
    "itemsize",
    "nbytes",
    "requires_grad",
)

OPERATIONS: Final[dict[str, Operation]] = {
    **{f"prim::{name}": _property(name) for name in _PROPERTIES},
    **{f"aten::tensor.{name}": _tensor_of(own) for name, own in _OWN.items()},
    **{f"aten::as_tensor.{name}": _tensor_of(own) for name, own in _OWN.items()},
    "aten::_grad_sum_to_size": _grad_sum_to_size,
    "aten::_index_put_impl_.hacked_twin": _INDEX_PUT_IMPL_,
    "aten::_infer_size": _infer_size,
    "aten::_list_to_tensor": _list_to_tensor,
    "aten::_no_grad_embedding_renorm_": _without_grad(_EMBEDDING_RENORM_),
    "aten::_no_grad_fill_": _without_grad(_FILL_),
    "aten::_no_grad_normal_": _without_grad(_NORMAL_),
    "aten::_no_grad_uniform_": _without_grad(_UNIFORM_),
    "aten::_no_grad_zero_": _without_grad(_ZERO_),
    "aten::_pack_sequence": lambda *stack: stack,
    "aten::_unsafe_index.Tensor_hacked_twin": _UNSAFE_INDEX,
    "aten::_unsafe_index_put.hacked_twin": _UNSAFE_INDEX_PUT,
    "aten::as_tensor": _cast,
    "aten::as_tensor.list": _of_no_elements,
    "aten::broadcast_shapes": _infer_size,
    "aten::copy_.Tensor": _COPY_,
    "aten::copy_.float": _FILL_,
    "aten::copy_.int": _FILL_,
    "aten::cpu": _to_device("cpu"),
    "aten::cuda": _to_device("cuda"),
    "aten::dequantize.any": _dequantize,
    "aten::dequantize.list": _DEQUANTIZE_ALL,
    "aten::dequantize.tensor": _DEQUANTIZE,
    "aten::element_size": _element_size,
    "aten::get_device": _get_device,
    "aten::index.Tensor_hacked_twin": _INDEX,
    "aten::index_put.hacked_twin": _INDEX_PUT,
    "aten::index_put_.hacked_twin": _INDEX_PUT_,
    "aten::mH.a": _MH,
    "aten::mT.a": _MT,
    "aten::matrix_H.a": _MATRIX_H,
    "aten::numpy_T.a": _NUMPY_T,
    "aten::split": _SPLIT,
    "aten::tensor": _of_no_elements,
    "aten::to.prim_Device": _to,
    "aten::to.prim_dtype": _to_dtype,
    "aten::to.prim_other": _to_other,
    "prim::NumToTensor.Scalar": _num_to_tensor,
    "prim::NumToTensor.bool": _num_to_tensor,
    "prim::abs": _ABS,
    "prim::data": variable_data,
    "prim::dtype": _dtype,
}
