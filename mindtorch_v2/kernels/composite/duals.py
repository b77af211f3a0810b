"""Tensors that carry a tangent, where nothing is to be differentiated forward.

Mirrors ``aten/src/ATen/native/AutogradComposite.cpp`` and ``_fw_primal`` in
``VariableMethodStubs.cpp``.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2.dispatch import tls
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.messages import internal_assert
from mindtorch_v2.tensor.tensor import Tensor

_EXPLICIT: Final = "CompositeExplicitAutograd"
_ALIAS: Final = OperatorHandle("aten::alias")
_AS_STRIDED: Final = OperatorHandle("aten::as_strided")
_FW_PRIMAL: Final = OperatorHandle("aten::_fw_primal")
_ZEROS: Final = OperatorHandle("aten::zeros")


def _check_is_inference(kind: str, name: str, **tensors: Tensor) -> None:
    """That a kernel is reached as autograd leaves it out: all others have a kernel above it."""
    if tls.is_inference_mode_enabled() and all(each._is_inference() for each in tensors.values()):
        return
    condition = " && ".join(
        ("InferenceMode::is_enabled()", *(f"{each}.is_inference()" for each in tensors))
    )
    raise RuntimeError(
        f"{internal_assert(condition, name)}Expected this {kind} to only be reached in inference "
        "mode and when all the inputs are inference tensors. You should NOT call this "
        f"{kind} directly as native::{name}. Please use the dispatcher, i.e., at::{name}. Please "
        "file an issue if you come across this error otherwise."
    )


@kernel("aten::_fw_primal", key=_EXPLICIT)
def fw_primal(self: Tensor, level: int) -> Any:
    _check_is_inference("method", "_fw_primal", self=self)
    return _ALIAS(self)


@kernel("aten::_make_dual", key=_EXPLICIT)
def make_dual(primal: Tensor, tangent: Tensor, level: int) -> Any:
    _check_is_inference("function", "_make_dual", primal=primal, tangent=tangent)
    return _ALIAS(primal)


@kernel("aten::_unpack_dual", key="CompositeImplicitAutograd")
def unpack_dual(dual: Tensor, level: int) -> tuple[Any, None]:
    """No tensor has a tangent yet."""
    return _FW_PRIMAL(dual, level), None


@kernel("aten::_new_zeros_with_same_feature_meta", key=_EXPLICIT)
def new_zeros_with_same_feature_meta(self: Tensor, other: Any, self_num_batch_dims: int) -> Any:
    """Zeros over as much memory as ``other`` has, which lie as it does.

    Before its dimensions stand those that ``self`` is a batch of, one after the other in memory.
    """
    batch = list(self._sizes[:self_num_batch_dims])
    elements = other.untyped_storage().nbytes() // other._dtype.itemsize
    strides: list[int] = []
    for size in reversed(batch):
        strides.insert(0, elements)
        elements *= size
    made = _ZEROS([elements], dtype=other._dtype, layout=other._layout, device=other._device)
    sizes = [*batch, *other._sizes]
    return _AS_STRIDED(made, sizes, [*strides, *other._strides], other._storage_offset)
