"""Operators that ask what a build was made with, or serve a library that this package has not.

Mirrors ``_nnpack_available`` in ``aten/src/ATen/native/NNPACK.cpp``, the plans of cuFFT in
``SpectralOps.cpp``, which ``aten/src/ATen/detail/CUDAHooksInterface.h`` answers where there is no
CUDA, ``_propagate_xla_data`` in ``Copy.cpp`` and ``get_gradients`` in
``torch/csrc/jit/runtime/register_distributed_ops.cpp``.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.messages import internal_assert
from mindtorch_v2.tensor.tensor import Tensor

_IMPLICIT: Final = "CompositeImplicitAutograd"
_CUDA_HELP: Final = (
    "PyTorch splits its backend into two shared libraries: a CPU library and a CUDA library; this "
    "error has occurred because you are trying to use some CUDA functionality, but the CUDA "
    "library has not been loaded by the dynamic linker for some reason.  The CUDA library MUST be "
    "loaded, EVEN IF you don't directly use any symbols from the CUDA library! One common culprit "
    "is a lack of -Wl,--no-as-needed in your link arguments; many dynamic linkers will delete "
    "dynamic library dependencies if you don't depend on any of their symbols.  You can check if "
    "this has occurred by using ldd on your binary to see if there is a dependency on *_cuda.so "
    "library."
)


@kernel("aten::_nnpack_available", key=_IMPLICIT)
def nnpack_available() -> bool:
    """Builds for the processors of servers have it."""
    return True


@kernel(
    "aten::_cufft_get_plan_cache_size",
    "aten::_cufft_get_plan_cache_max_size",
    "aten::_cufft_clear_plan_cache",
    key=_IMPLICIT,
)
def without_plans(device_index: int) -> Any:
    raise RuntimeError(f"Cannot access cuFFT plan cache without ATen_cuda library. {_CUDA_HELP}")


@kernel("aten::_cufft_set_plan_cache_max_size", key=_IMPLICIT)
def set_plan_cache_max_size(device_index: int, max_size: int) -> None:
    without_plans(device_index)


@kernel("aten::_propagate_xla_data", key=_IMPLICIT)
def propagate_xla_data(input: Tensor, output: Tensor) -> None:
    condition = "input.device().type() == kXLA"
    asserted = internal_assert(condition, "_propagate_xla_data")
    raise RuntimeError(f"{asserted}This op should only be called by XLA")


@kernel("aten::get_gradients", key=_IMPLICIT)
def get_gradients(context_id: int) -> Any:
    raise RuntimeError(
        "Need to initialize distributed autograd using torch.distributed.autograd.init()"
    )
