"""The reference functions of pooling to sizes that are asked for.

Mirrors functions of ``torch/_meta_registrations.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.refs.bodies import body
from mindtorch_v2.kernels.refs.pooling import formatted
from mindtorch_v2.tensor.dtype import int64
from mindtorch_v2.tensor.tensor import Tensor

_META: Final = "torch._meta_registrations."


@body(_META + "meta_adaptive_avg_pool2d")
def meta_adaptive_avg_pool2d(self: Tensor, output_size: Sequence[int]) -> Tensor:
    if len(self._sizes) not in (3, 4):
        raise RuntimeError(f"Expected 3D or 4D tensor, but got {self._sizes}")
    return formatted(self, (*self._sizes[:-2], *output_size), self._dtype)


@body(_META + "meta__adaptive_avg_pool2d_backward")
def meta__adaptive_avg_pool2d_backward(grad_out: Tensor, self: Tensor) -> Tensor:
    name, rank = "adaptive_avg_pool2d_backward()", len(grad_out._sizes)
    for dim in range(1, rank):
        if not grad_out._sizes[dim]:
            raise RuntimeError(
                f"{name}: Expected grad_output to have non-zero                       size for "
                f"non-batch dimensions, {grad_out._sizes} with dimension {dim} being empty"
            )
    if rank not in (3, 4):
        raise RuntimeError(f"{name}: Expected 3D or 4D tensor, but got {self._sizes}")
    if self._dtype is not grad_out._dtype:
        raise RuntimeError(
            f"expected dtype {self._dtype} for `grad_output` but got dtype {grad_out._dtype}"
        )
    return formatted(self, self._sizes, self._dtype)


def _row_major(self: Tensor, sizes: Sequence[int]) -> Tensor:
    return new_tensor(sizes, self._dtype, self._device)


def _check_gradient_not_empty(name: str, grad_output: Tensor) -> None:
    """``_adaptive_pool_empty_output_check``."""
    for dim, size in enumerate(grad_output._sizes[1:], 1):
        if not size:
            raise RuntimeError(
                f"{name}(): Expected grad_output to have non-zero size for non-batch dimensions, "
                f"but grad_output has sizes {grad_output._sizes} with dimension {dim} being empty"
            )


@body(_META + "meta_adaptive_avg_pool3d")
def meta_adaptive_avg_pool3d(self: Tensor, output_size: Sequence[int]) -> Tensor:
    if len(self._sizes) not in (4, 5):
        raise RuntimeError(f"Expected 4D or 5D tensor, but got {self._sizes}")
    return _row_major(self, (*self._sizes[:-3], *output_size))


@body(_META + "meta__adaptive_avg_pool3d_backward")
def meta__adaptive_avg_pool3d_backward(grad_output: Tensor, self: Tensor) -> Tensor:
    _check_gradient_not_empty("adaptive_avg_pool3d_backward", grad_output)
    return _row_major(self, self._sizes)


def _largest_sizes(
    name: str, input: Tensor, output_size: Sequence[int], dims: int
) -> tuple[int, ...]:
    rank = len(input._sizes)
    if rank not in (dims + 1, dims + 2):
        raise RuntimeError(
            f"{name}(): Expected {dims + 1}D or {dims + 2}D tensor, but got: {input._sizes}"
        )
    for dim, size in enumerate(input._sizes[1:], 1):
        if not size:
            raise RuntimeError(
                f"{name}(): Expected input to have non-zero size for non-batch dimensions, but "
                f"input has sizes {input._sizes} with dimension {dim} being empty"
            )
    if len(output_size) != dims:
        raise RuntimeError(f"{name}(): internal error: output_size.size() must be {dims}")
    return (*input._sizes[:-dims], *output_size)


@body(_META + "meta_adaptive_max_pool2d")
def meta_adaptive_max_pool2d(input: Tensor, output_size: Sequence[int]) -> tuple[Tensor, Tensor]:
    sizes = _largest_sizes("adaptive_max_pool2d", input, output_size, 2)
    return formatted(input, sizes, input._dtype), formatted(input, sizes, int64)


@body(_META + "meta_adaptive_max_pool2d_backward")
def meta_adaptive_max_pool2d_backward(
    grad_output: Tensor, input: Tensor, indices: Tensor
) -> Tensor:
    if len(grad_output._sizes) not in (3, 4):
        raise RuntimeError(
            "adaptive_max_pooling2d_backward(): Expected 3D or 4D grad_output, but got: "
            f"{grad_output._sizes}"
        )
    _check_gradient_not_empty("adaptive_max_pool2d_backward", grad_output)
    if input._dtype is not grad_output._dtype:
        raise RuntimeError(
            f"expected dtype {input._dtype} for `grad_output` but got dtype {grad_output._dtype}"
        )
    return formatted(input, input._sizes, input._dtype)


@body(_META + "meta_adaptive_max_pool3d")
def meta_adaptive_max_pool3d(input: Tensor, output_size: Sequence[int]) -> tuple[Tensor, Tensor]:
    sizes = _largest_sizes("adaptive_max_pool3d", input, output_size, 3)
    return _row_major(input, sizes), new_tensor(sizes, int64, input._device)


@body(_META + "meta_adaptive_max_pool3d_backward")
def meta_adaptive_max_pool3d_backward(
    grad_output: Tensor, input: Tensor, indices: Tensor
) -> Tensor:
    _check_gradient_not_empty("adaptive_max_pool3d_backward", grad_output)
    return _row_major(input, input._sizes)
