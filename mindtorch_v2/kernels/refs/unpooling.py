"""The reference functions of the inverse of max pools, and of pools of random windows.

Mirrors functions of ``torch/_meta_registrations.py`` and ``torch/_decomp/decompositions.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mindtorch_v2.context import alert_not_deterministic
from mindtorch_v2.kernels.cpu.pools.unpooling import (
    check_counts,
    check_rank,
    check_same_shape,
    check_stride,
    check_volumes,
)
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.refs.bodies import body
from mindtorch_v2.kernels.switches import HABITS
from mindtorch_v2.tensor.dtype import int64
from mindtorch_v2.tensor.tensor import Tensor

_META: Final = "torch._meta_registrations."
_DECOMP: Final = "torch._decomp.decompositions."
_NOT_NEGATIVE: Final = HABITS["max_unpool on meta takes no sizes below zero"]


def _check_shapes(self: Tensor, indices: Tensor, dims: int) -> None:
    check_same_shape(self, indices, (self._sizes, indices._sizes))
    for dim, size in enumerate(self._sizes[1:], 1):
        if not size:
            raise RuntimeError(
                f"max_unpooling{dims}d(): Expected input to have non-zero size for non-batch "
                f"dimensions, but got {self._sizes} with dimension {dim} being empty."
            )


def _unpooled(self: Tensor, output_size: Sequence[int]) -> Tensor:
    dims = len(output_size)
    for dim, size in enumerate(output_size):
        if _NOT_NEGATIVE and size < 0:
            raise RuntimeError(
                f"max_unpooling{dims}d(): output_size must contain non-negative spatial "
                f"dimensions, but got output_size[{dim}]={size}"
            )
    return new_tensor((*self._sizes[:-dims], *output_size), self._dtype, self._device)


@body(_META + "meta_max_unpool2d", _DECOMP + "max_unpool2d")
def max_unpool2d(self: Tensor, indices: Tensor, output_size: Sequence[int]) -> Tensor:
    alert_not_deterministic("max_unpooling2d_forward_out")
    if indices._dtype is not int64:
        raise RuntimeError(f"elements in indices should be type int64 but got: {indices._dtype}")
    check_counts(2, "output_size", output_size)
    check_rank(2, self)
    _check_shapes(self, indices, 2)
    return _unpooled(self, output_size)


@body(_META + "meta_max_unpool3d", _DECOMP + "max_unpool3d")
def max_unpool3d(
    input: Tensor,
    indices: Tensor,
    output_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
) -> Tensor:
    alert_not_deterministic("max_unpooling3d_forward_out")
    check_volumes(input, indices, output_size, stride, padding)
    _check_shapes(input, indices, 3)
    check_stride(stride)
    return _unpooled(input, output_size)


# --- windows where random numbers say ---------------------------------------------------------


def _refused(message: str) -> Exception:
    """What is said by a check whose words once were no function that makes them."""
    if HABITS["fractional_max_pool2d on meta has words for all it refuses"]:
        return RuntimeError(message)
    return TypeError("message must be a callable")


@body(_META + "meta_fractional_max_pool2d")
def meta_fractional_max_pool2d(
    self: Tensor, kernel_size: Sequence[int], output_size: Sequence[int], random_samples: Tensor
) -> tuple[Tensor, Tensor]:
    name, rank = "fractional_max_pool2d", len(self._sizes)
    if rank not in (3, 4):
        raise RuntimeError(f"{name}: Expected 3D or 4D tensor, but got: {rank}")
    for dim in range(rank - 3, rank):
        if not self._sizes[dim]:
            raise _refused(
                f"{name}: Expected input to have non-zero  size for non-batch dimensions, but got "
                f"{self._sizes} with dimension {dim} empty"
            )
    if len(kernel_size) != 2:
        raise RuntimeError(f"{name}: kernel_size musteither be a single int or tuple of Ints")
    if len(output_size) != 2:
        raise RuntimeError(f"{name}: output_size must either be a single int or tuple of Ints")
    _check_samples(self, random_samples)
    sides = zip(("height", "width"), kernel_size, output_size, self._sizes[-2:], strict=True)
    for side, pool, count, size in sides:
        if count + pool - 1 > size:
            raise RuntimeError(
                f"{name}: kernel {side} {pool} is too large relative to input {side} {size}"
            )
    shape = (*self._sizes[:-2], *output_size)
    output = new_tensor(shape, self._dtype, self._device)
    return output, new_tensor(shape, int64, self._device)


def _check_samples(self: Tensor, samples: Tensor) -> None:
    if self._dtype is not samples._dtype:
        raise RuntimeError("Expect _random_samples to have the same dtype as input")
    if len(samples._sizes) != 3:
        raise RuntimeError(
            f"Expect _random samples to have 3 dimensions got, {len(samples._sizes)}"
        )
    count, channels, numbers = samples._sizes
    batch, planes = (1, *self._sizes)[-4:-2]
    if count < batch:
        raise _refused("Expect _random_samples.size(0) no less then input batch size.")
    if channels != planes:
        raise RuntimeError("Expect _random_samples.size(1) equals to input channel size.")
    if numbers != 2:
        raise RuntimeError(f"Expect _random_samples.size(2) equals to 2 got {numbers}.")
