"""The loss of sequences that are aligned with no more than labels, reduced to a number.

Mirrors ``ctc_loss`` of ``aten/src/ATen/native/LossCTC.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels.cpu.ctc_loss import check_lengths, numbers_of
from mindtorch_v2.kernels.cpu.losses import MEAN, SUM
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.tensor.copying import store
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.dtype import DTYPES
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.torch_dispatch import is_tensor_subclass_like

_IMPLICIT: Final = "CompositeImplicitAutograd"
_LONG: Final = DTYPES["int64"]
_CLAMP_MIN: Final = OperatorHandle("aten::clamp_min")
_DIV: Final = OperatorHandle("aten::div.Tensor")
_EMPTY: Final = OperatorHandle("aten::empty.memory_format")
_EQ: Final = OperatorHandle("aten::eq.Scalar")
_MEAN: Final = OperatorHandle("aten::mean")
_OF_NUMBERS: Final = OperatorHandle("aten::_ctc_loss")
_OF_TENSORS: Final = OperatorHandle("aten::_ctc_loss.Tensor")
_SQUEEZE: Final = OperatorHandle("aten::squeeze.dim")
_SUM: Final = OperatorHandle("aten::sum")
_TO_DEVICE: Final = OperatorHandle("aten::to.device")
_UNSQUEEZE: Final = OperatorHandle("aten::unsqueeze")
_WHERE: Final = OperatorHandle("aten::where.self")
_ZEROS: Final = OperatorHandle("aten::zeros")


def _at_least_one(lengths: Sequence[int] | Tensor, like: Any) -> Any:
    """``get_clamped_target_length``: numbers become a tensor first, on the CPU."""
    if isinstance(lengths, Tensor):
        return _CLAMP_MIN(lengths, 1)
    made = _EMPTY([len(lengths)], dtype=like._dtype, device=Device("cpu"))
    store(made, np.asarray(lengths, np.float64))
    if like._device.type != "cpu":
        made = _TO_DEVICE(made, like._device, like._dtype)
    return _CLAMP_MIN(made, 1)


def _loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Sequence[int] | Tensor,
    target_lengths: Sequence[int] | Tensor,
    blank: int,
    reduction: int,
    zero_infinity: bool,
) -> Any:
    """``ctc_loss_impl``."""
    is_batched = len(log_probs._sizes) == 3
    batch = log_probs if is_batched else _UNSQUEEZE(log_probs, 1)
    labels = _TO_DEVICE(targets, batch._device, _LONG)
    run = _OF_TENSORS if isinstance(input_lengths, Tensor) else _OF_NUMBERS
    losses = run(batch, labels, input_lengths, target_lengths, blank, zero_infinity)[0]
    if zero_infinity:
        zero = _ZEROS([], dtype=losses._dtype, device=losses._device)
        losses = _WHERE(_EQ(losses, float("inf")), zero, losses)
    if reduction == MEAN:
        return _MEAN(_DIV(losses, _at_least_one(target_lengths, losses)))
    if reduction == SUM:
        return _SUM(losses)
    return losses if is_batched else _SQUEEZE(losses, 0)


@kernel("aten::ctc_loss.IntList", key=_IMPLICIT)
def ctc_loss(*stack: Any) -> Any:
    return _loss(*stack)


@kernel("aten::ctc_loss.Tensor", key=_IMPLICIT)
def ctc_loss_of_tensors(
    log_probs: Tensor, targets: Tensor, input_lengths: Tensor, target_lengths: Tensor, *rest: Any
) -> Any:
    """Lengths are looked at, unless nobody may look into one of the tensors."""
    tensors = (log_probs, targets, input_lengths, target_lengths)
    if any(map(is_tensor_subclass_like, tensors)):
        return _loss(*tensors, *rest)
    check_lengths(input_lengths, target_lengths)
    inputs, labels = numbers_of(input_lengths), numbers_of(target_lengths)
    return _loss(log_probs, targets, inputs, labels, *rest)
