"""Operators that answer what a tensor is, or change what is known of it, and compute nothing.

Mirrors ``aten/src/ATen/native/TensorProperties.cpp`` and ``VariableMethodStubs.cpp``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from mindtorch_v2.autograd.at import call
from mindtorch_v2.binding.values import memory_format_of_value
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.rows import add, kernel
from mindtorch_v2.tensor.copying import store
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.dtype import DTYPES, int64
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.tensor.zeros import is_zero_tensor

_IMPLICIT: Final = "CompositeImplicitAutograd"
_EXPLICIT: Final = "CompositeExplicitAutograd"


def _numbers(sizes: Sequence[int]) -> Tensor:
    made = new_tensor((len(sizes),), int64, Device("cpu"))
    store(made, np.asarray(sizes, np.int64))
    return made


_ANSWERS: Final[dict[str, Callable[[Any], Any]]] = {
    "get_device": lambda self: self.get_device(),
    "is_complex": lambda self: self._dtype.is_complex,
    "is_floating_point": lambda self: self._dtype.is_floating_point,
    "is_signed": lambda self: self._dtype.is_signed,
    "is_conj": lambda self: self._is_conj(),
    "is_neg": lambda self: self.is_neg(),
    "is_inference": lambda self: self.is_inference(),
    "is_leaf": lambda self: self.is_leaf,
    "output_nr": lambda self: self.output_nr,
    "_version": lambda self: self._version,
    "data": lambda self: self.data,
    "retains_grad": lambda self: self.retains_grad,
    "retain_grad": lambda self: self.retain_grad(),
    "is_distributed": lambda self: False,
    "_is_zerotensor": is_zero_tensor,
    "cudnn_is_acceptable": lambda self: False,
    "_shape_as_tensor": lambda self: _numbers(self._sizes),
}

for _name, _answer in _ANSWERS.items():
    add(f"aten::{_name}", _IMPLICIT, _answer)

_CASTS: Final = {
    "Byte": "uint8",
    "Char": "int8",
    "Double": "float64",
    "Float": "float32",
    "Half": "float16",
    "Int": "int32",
    "Long": "int64",
    "Short": "int16",
}


def _cast_to(name: str) -> Callable[..., Any]:
    def cast(self: Tensor, non_blocking: bool) -> Any:
        if self._dtype is DTYPES[name]:
            return self
        return call("to", self, DTYPES[name], non_blocking)

    return cast


for _name, _dtype in _CASTS.items():
    add(f"aten::_cast_{_name}", _IMPLICIT, _cast_to(_dtype))


@kernel("aten::is_vulkan_available", key=_IMPLICIT)
def is_vulkan_available() -> bool:
    return False


@kernel("aten::set_data", key=_IMPLICIT)
def set_data(self: Any, new_data: Tensor) -> None:
    self.data = new_data


@kernel("aten::requires_grad_", key=_IMPLICIT)
def requires_grad_(self: Any, requires_grad: bool) -> Any:
    if requires_grad or self.is_leaf:
        self._set_requires_grad(requires_grad)
        return self
    return self.requires_grad_(requires_grad)  # which is refused


@kernel("aten::_has_same_storage_numel", key=_EXPLICIT)
def _has_same_storage_numel(self: Tensor, other: Tensor) -> bool:
    one, two = (each.untyped_storage().nbytes() // each._dtype.itemsize for each in (self, other))
    return one == two


@kernel("aten::sym_is_contiguous", key=_IMPLICIT)
def sym_is_contiguous(self: Tensor, memory_format: int) -> bool:
    return self._is_contiguous(memory_format_of_value(memory_format))


@kernel("aten::_to_cpu", key=_IMPLICIT)
def _to_cpu(tensors: Sequence[Tensor]) -> list[Any]:
    return [call("to", each, device=Device("cpu")) for each in tensors]
