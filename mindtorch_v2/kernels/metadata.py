"""What a tensor is, asked as an operator: ``size``, ``stride``, ``dim``, ``is_contiguous`` …

Mirrors ``aten/src/ATen/native/TensorProperties.cpp``, and of
``torch/csrc/jit/runtime/register_prim_ops.cpp`` the operators that a release has for its
interpreter alone: what tensors dispatch by is not looked at for these.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2 import py_interpreter
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.tensor.custom import own
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.dtype import LAYOUTS, MEMORY_FORMATS
from mindtorch_v2.tensor.geometry import wrap_dim
from mindtorch_v2.tensor.layouts import check_is_not_compressed
from mindtorch_v2.tensor.tensor import Tensor

_KEY: Final = "CompositeImplicitAutograd"
_FORMATS: Final = dict(enumerate(MEMORY_FORMATS.values()))
"""By the numbers that schemas have for them; C++ takes any number."""
_LAYOUTS: Final = tuple(LAYOUTS.values())


def _place(self: Tensor, dim: int) -> int:
    return wrap_dim(dim, self._dim(), scalar=False)


@kernel("aten::size", key=_KEY)
def size(self: Tensor) -> list[int]:
    return list(py_interpreter.sizes(self))


@kernel("aten::sym_size", key=_KEY)
def sym_size(self: Tensor) -> list[Any]:
    return list(self._sizes)


@kernel("aten::size.int", key=_KEY)
def size_int(self: Tensor, dim: int) -> int:
    place = _place(self, dim)
    return py_interpreter.sizes(self)[place]


@kernel("aten::sym_size.int", key=_KEY)
def sym_size_int(self: Tensor, dim: int) -> Any:
    place = _place(self, dim)
    return self._sizes[place]


def _check_has_strides(self: Tensor) -> None:
    check_is_not_compressed(own(self, "_layout"), "strides")


@kernel("aten::stride", key=_KEY)
def stride(self: Tensor) -> list[int]:
    _check_has_strides(self)
    return list(py_interpreter.strides(self))


@kernel("aten::sym_stride", key=_KEY)
def sym_stride(self: Tensor) -> list[Any]:
    _check_has_strides(self)
    return list(self._strides)


@kernel("aten::stride.int", key=_KEY)
def stride_int(self: Tensor, dim: int) -> int:
    _check_has_strides(self)
    strides = py_interpreter.strides(self)
    return strides[wrap_dim(dim, len(strides), scalar=False)]


@kernel("aten::sym_stride.int", key=_KEY)
def sym_stride_int(self: Tensor, dim: int) -> Any:
    _check_has_strides(self)
    strides = self._strides
    return strides[wrap_dim(dim, len(strides), scalar=False)]


@kernel("aten::dim", key=_KEY)
def dim(self: Tensor) -> int:
    return self._dim()


@kernel("aten::numel", key=_KEY)
def numel(self: Tensor) -> int:
    return self._numel()


@kernel("aten::sym_numel", key=_KEY)
def sym_numel(self: Tensor) -> Any:
    return self._sym_numel()


@kernel("aten::storage_offset", "aten::sym_storage_offset", key=_KEY)
def storage_offset(self: Tensor) -> Any:
    return self._storage_offset


@kernel("aten::is_contiguous", key=_KEY)
def is_contiguous(self: Tensor) -> bool:
    return self._is_contiguous(MEMORY_FORMATS["contiguous_format"])


@kernel("aten::is_contiguous.memory_format", key=_KEY)
def is_contiguous_in(self: Tensor, memory_format: int) -> bool:
    return self._is_contiguous(_FORMATS.get(memory_format, MEMORY_FORMATS["contiguous_format"]))


@kernel("aten::is_strides_like_format", key=_KEY)
def is_strides_like_format(self: Tensor, memory_format: int) -> bool:
    known = _FORMATS.get(memory_format)
    return known is not None and py_interpreter.is_strides_like(self, known)


@kernel("aten::is_non_overlapping_and_dense", key=_KEY)
def is_non_overlapping_and_dense(self: Tensor) -> bool:
    return py_interpreter.is_non_overlapping_and_dense(self)


@kernel("prim::device", key=_KEY)
def device(a: Tensor) -> Device:
    return a._device


@kernel("prim::layout", key=_KEY)
def layout(a: Tensor) -> int:
    return _LAYOUTS.index(a._layout)
