"""The same bytes as elements of another dtype.

Mirrors ``view_dtype`` in ``aten/src/ATen/native/TensorConversions.cpp``.
"""

from __future__ import annotations

from mindtorch_v2.binding.values import dtype_of_value
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.views import BACKENDS
from mindtorch_v2.tensor.dtype import DType
from mindtorch_v2.tensor.support import CPP_NAMES
from mindtorch_v2.tensor.tensor import Tensor


@kernel("aten::view.dtype", keys=BACKENDS)
def view_dtype(self: Tensor, dtype: int) -> Tensor:
    target = dtype_of_value(dtype)
    for stands, what in (
        (self._is_conj(), "conjugate view tensors"),
        (self._is_neg(), "tensors with negative bit set"),
    ):
        if stands:
            raise RuntimeError(
                f"torch.Tensor.view is not supported for {what} when converting to a different "
                "dtype."
            )
    old, new = self._dtype.itemsize, target.itemsize
    if old != new and not self._sizes:
        raise _refusal(self, target, "self.dim() cannot be 0", "")
    if old > new:
        return _downsized(self, target, old // new)
    if old < new:
        return _upsized(self, target, new // old)
    return self._as_view(self._sizes, self._strides, self._storage_offset, dtype=target)


def _downsized(self: Tensor, target: DType, ratio: int) -> Tensor:
    _check_last_stride(self, target)
    sizes, strides = self._sizes, self._strides
    return self._as_view(
        (*sizes[:-1], sizes[-1] * ratio),
        (*(stride * ratio for stride in strides[:-1]), 1),
        self._storage_offset * ratio,
        dtype=target,
    )


def _upsized(self: Tensor, target: DType, ratio: int) -> Tensor:
    sizes, strides, offset = self._sizes, self._strides, self._storage_offset
    _check_divisible(self, target, "self.size(-1)", sizes[-1], ratio)
    _check_divisible(self, target, "self.storage_offset()", offset, ratio)
    _check_last_stride(self, target)
    for dim, stride in enumerate(strides[:-1]):
        _check_divisible(self, target, f"self.stride({dim})", stride, ratio)
    return self._as_view(
        (*sizes[:-1], sizes[-1] // ratio),
        (*(stride // ratio for stride in strides[:-1]), 1),
        offset // ratio,
        dtype=target,
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
