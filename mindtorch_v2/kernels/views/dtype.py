"""The same bytes as elements of another dtype.

Mirrors ``view_dtype`` in ``aten/src/ATen/native/TensorConversions.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mindtorch_v2.binding.values import dtype_of_value
from mindtorch_v2.dispatch import tls
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.keyset import AUTOGRAD_KEYS, difference, mask_of
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.views.strided import BACKENDS
from mindtorch_v2.tensor.dtype import DType
from mindtorch_v2.tensor.options import tensor_keyset
from mindtorch_v2.tensor.support import CPP_NAMES, HABITS
from mindtorch_v2.tensor.tensor import Tensor

_RECORDED: Final = AUTOGRAD_KEYS | mask_of(DispatchKey.ADInplaceOrView)


@kernel("aten::view.dtype", keys=BACKENDS)
def view_dtype(self: Tensor, dtype: int) -> Tensor:
    target = dtype_of_value(dtype)
    if target is self._dtype and HABITS["a conjugate view can be viewed in its own dtype"]:
        return self
    _check_lazy_bits(self)
    old, new = self._dtype.itemsize, target.itemsize
    if old != new and not self._sizes:
        raise _refusal(self, target, "self.dim() cannot be 0", "")
    if old > new:
        return _downsized(self, target, old // new)
    if old < new:
        return _upsized(self, target, new // old)
    return _over_storage(self, self._sizes, self._strides, self._storage_offset, target)


def _check_lazy_bits(self: Tensor) -> None:
    for stands, what in (
        (self._is_conj(), "conjugate view tensors"),
        (self._is_neg(), "tensors with negative bit set"),
    ):
        if stands:
            raise RuntimeError(
                f"torch.Tensor.view is not supported for {what} when converting to a different "
                "dtype."
            )


def _over_storage(
    self: Tensor, sizes: Sequence[int], strides: tuple[int, ...], offset: int, dtype: DType
) -> Tensor:
    """A new tensor over the storage: an inference tensor as the mode says, not as ``self`` is."""
    made = self._as_view(sizes, strides, offset, dtype=dtype)
    made._keys = tensor_keyset(difference(self._keys, _RECORDED), tls.is_inference_mode_enabled())
    made._versions = made._new_counter()
    return made


def _downsized(self: Tensor, target: DType, ratio: int) -> Tensor:
    _check_last_stride(self, target)
    sizes, strides = self._sizes, self._strides
    return _over_storage(
        self,
        (*sizes[:-1], sizes[-1] * ratio),
        (*(stride * ratio for stride in strides[:-1]), 1),
        self._storage_offset * ratio,
        target,
    )


def _upsized(self: Tensor, target: DType, ratio: int) -> Tensor:
    sizes, strides, offset = self._sizes, self._strides, self._storage_offset
    _check_divisible(self, target, "self.size(-1)", sizes[-1], ratio)
    _check_divisible(self, target, "self.storage_offset()", offset, ratio)
    _check_last_stride(self, target)
    for dim, stride in enumerate(strides[:-1]):
        _check_divisible(self, target, f"self.stride({dim})", stride, ratio)
    return _over_storage(
        self,
        (*sizes[:-1], sizes[-1] // ratio),
        (*(stride // ratio for stride in strides[:-1]), 1),
        offset // ratio,
        target,
    )


def _check_last_stride(self: Tensor, target: DType) -> None:
    if self._strides[-1] != 1:
        got = f", but got {self._strides[-1]}"
        raise _refusal(self, target, "self.stride(-1) must be 1", got)


def _check_divisible(self: Tensor, target: DType, what: str, value: int, ratio: int) -> None:
    if value % ratio:
        raise _refusal(self, target, f"{what} must be divisible by {ratio}", f", but got {value}")


def _refusal(self: Tensor, target: DType, why: str, got: str) -> RuntimeError:
    return RuntimeError(
        f"{why} to view {CPP_NAMES[self._dtype]} as {CPP_NAMES[target]} (different element "
        f"sizes){got}"
    )
