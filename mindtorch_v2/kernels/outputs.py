"""Tensors that kernels write to: made, or given and then resized.

Mirrors ``aten/src/ATen/native/Resize.cpp`` and the ``set_output`` functions that torch's code
generator writes for structured kernels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.dtype import DType
from mindtorch_v2.tensor.geometry import (
    check_numel,
    check_size_nonnegative,
    check_strides,
    completed_strides,
    contiguous_strides,
    numel,
    storage_bytes,
    symbolic_nbytes,
)
from mindtorch_v2.tensor.plain import forget
from mindtorch_v2.tensor.size import Size
from mindtorch_v2.tensor.support import CPP_NAMES, TYPE_NAMES
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.torch_dispatch import is_seen_by_python
from mindtorch_v2.warn import warn

_RESIZE_: Final = OperatorHandle("aten::resize_")


def new_tensor(
    sizes: Sequence[int],
    dtype: DType,
    device: Device,
    strides: tuple[int, ...] | None = None,
) -> Tensor:
    """An uninitialised tensor; row-major without ``strides``.  RuntimeError for a negative size."""
    check_size_nonnegative(sizes)
    return Tensor._make(sizes, dtype, device=device, strides=strides)


def set_sizes(tensor: Tensor, sizes: Sequence[int], strides: tuple[int, ...] | None = None) -> None:
    """``resize_``: another geometry, over the storage that grows if it must.

    Without ``strides`` a tensor that has the sizes keeps its own.
    """
    if strides is None and tuple(tensor._sizes) == tuple(sizes):
        return
    if strides is None:
        set_sizes_contiguous(tensor, sizes)
    else:
        set_sizes_and_strides(tensor, sizes, strides)
    strides, itemsize = tensor._strides, tensor._dtype.itemsize
    if tensor.is_meta:
        maybe_resize_storage(tensor, symbolic_nbytes(sizes, strides, itemsize))
    else:
        maybe_resize_storage(tensor, storage_bytes(sizes, strides, 0, itemsize))


def maybe_resize_storage(tensor: Tensor, nbytes: int) -> None:
    """``maybe_resize_storage_cpu``: a storage of ``nbytes`` and those before the tensor's first
    element, unless it has them or there are no elements."""
    needed = nbytes + tensor._storage_offset * tensor._dtype.itemsize
    storage = tensor.untyped_storage()
    if numel(tensor._sizes) and needed > storage.nbytes():
        storage.resize_(needed)


def set_sizes_contiguous(tensor: Tensor, sizes: Sequence[int]) -> None:
    """``TensorImpl::set_sizes_contiguous``.

    RuntimeError where the elements cannot be counted: the sizes stay, with strides of before.
    """
    before = forget(tensor)._strides
    tensor._sizes = Size._of(sizes)
    tensor._strides = (*before, *[0] * len(sizes))[: len(sizes)]
    check_numel(sizes)
    tensor._strides = contiguous_strides(sizes)
    check_strides(tensor._strides)


def set_sizes_and_strides(
    tensor: Tensor, sizes: Sequence[int], strides: Sequence[int], offset: int | None = None
) -> None:
    """``TensorImpl::set_sizes_and_strides``, without a look at the storage.

    RuntimeError where the elements cannot be counted: the sizes and strides stay, with the offset
    of before.
    """
    forget(tensor)._sizes, tensor._strides = Size._of(sizes), completed_strides(sizes, strides)
    check_strides(tensor._strides)
    check_numel(sizes)
    if offset is not None:
        tensor._storage_offset = offset


def resize_output(
    tensor: Tensor, sizes: Sequence[int], strides: tuple[int, ...] | None = None
) -> bool:
    """Have an ``out=`` tensor the shape of the result; a warning if it had elements.

    Answers whether it had another shape.  ``strides`` are those it gets then.  No operator is
    called for it, unless somebody would be told of that.
    """
    if tensor is None:  # an undefined one, which no backend has
        _RESIZE_(tensor, sizes)
    if tuple(tensor._sizes) == tuple(sizes):
        return False
    warn_of_resizing(tensor._sizes, sizes)
    if tensor._functional is not None:  # what it wraps is to be another tensor
        _RESIZE_(tensor, sizes)
        return True
    if tensor._storage is None:  # its backend has to know how
        _RESIZE_(tensor, sizes)
        return True
    if is_seen_by_python((tensor,)):
        _RESIZE_(tensor, sizes)
    set_sizes(tensor, sizes, strides)
    return True


def warn_of_resizing(sizes: Sequence[int], wanted: Sequence[int]) -> None:
    """``resize_output_check``: what had elements should not be resized."""
    if numel(sizes):
        warn(
            "resize_output_check",
            "An output with one or more elements was resized since it had shape "
            f"{list(sizes)}, which does not match the required output shape "
            f"{list(wanted)}. This behavior is deprecated, and in a future PyTorch release "
            "outputs will not be resized unless they have zero elements. You can explicitly "
            "reuse an out tensor t by resizing it, inplace, to zero elements with t.resize_(0).",
        )


def as_it_was(tensor: Tensor, outputs: Sequence[Tensor | None]) -> Tensor:
    """What a kernel reads of a tensor that may be an output as well, and then be resized.

    C++ reads it in its new shape, past the end of what there is or not at all: of the result's
    values nothing is to be expected.
    """
    if any(tensor is output for output in outputs):
        return tensor._as_view(tensor._sizes, tensor._strides, tensor._storage_offset)
    return tensor


def check_out(tensor: Tensor, dtype: DType, device: Device) -> None:
    """``resize_out`` of structured kernels: RuntimeError for a dtype or device it cannot have."""
    if tensor._dtype is not dtype:
        raise RuntimeError(
            f"Expected out tensor to have dtype {TYPE_NAMES[dtype]}, but got "
            f"{TYPE_NAMES[tensor._dtype]} instead"
        )
    if tensor._device != device:
        raise RuntimeError(
            f"Expected out tensor to have device {device}, but got {tensor._device} instead"
        )


def check_like(out: Tensor, self: Tensor, dtype: DType) -> None:
    """``check_scalar_type_device_layout_equal``."""
    if out._dtype is not dtype:
        raise RuntimeError(
            f"expected scalar_type {CPP_NAMES[dtype]} but found {CPP_NAMES[out._dtype]}"
        )
    if out._device != self._device:
        raise RuntimeError(f"expected device {self._device} but found {out._device}")


def check_inplace(tensor: Tensor, sizes: Sequence[int], dtype: DType, device: Device) -> None:
    """RuntimeError if a result cannot take the place of the tensor that it is computed from."""
    if tensor._dtype is not dtype:
        raise RuntimeError(
            f"Bad in-place call: input tensor dtype {TYPE_NAMES[tensor._dtype]} and output tensor "
            f"dtype {TYPE_NAMES[dtype]} should match"
        )
    if tensor._device != device:
        raise RuntimeError(
            f"Bad in-place call: input tensor device {tensor._device} and output tensor device "
            f"{device} should match"
        )
    if tuple(tensor._sizes) != tuple(sizes):
        raise RuntimeError(
            f"Bad in-place call: input tensor size {list(tensor._sizes)} and output tensor size "
            f"{list(sizes)} should match"
        )


def set_output(
    given: Tensor | None,
    sizes: Sequence[int],
    dtype: DType,
    device: Device,
    strides: tuple[int, ...] | None = None,
    *,
    self: Tensor | None = None,
) -> Tensor:
    """The tensor to write a result to: a new one, or ``given`` once it is checked and resized.

    ``self`` is the tensor whose place the result takes in the operator's in-place form.
    """
    if given is None:
        return new_tensor(sizes, dtype, device, strides)
    if given is self:
        check_inplace(given, sizes, dtype, device)
    else:
        check_out(given, dtype, device)
        resize_output(given, sizes, strides)
    return given
