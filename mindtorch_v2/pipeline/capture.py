"""Which calls wait: the kernel at the key ``Pipeline``.

A call whose kernel is the same with and without autograd is a composite one: its kernel runs, and
the calls that it makes come here in turn.  Of the others those wait of which nothing but values
must be computed.  The rest runs at its place in the program, after what waits.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import or_
from typing import Any, Final

from mindtorch_v2.autograd import anomaly, saved_variable
from mindtorch_v2.binding.fallbacks import tensors_of
from mindtorch_v2.binding.operators import Call
from mindtorch_v2.dispatch import tls
from mindtorch_v2.dispatch.calls import Target
from mindtorch_v2.dispatch.kernel import MISSING, Kernel
from mindtorch_v2.dispatch.key import PIPELINE_VALUE, DispatchKey
from mindtorch_v2.dispatch.keyset import (
    BACKEND_MASK,
    full_after,
    functionality_bit,
    intersection,
)
from mindtorch_v2.kernels.overlap import has_internal_overlap
from mindtorch_v2.pipeline.meta import CannotWaitError, Forecast
from mindtorch_v2.pipeline.pipeline import Pipeline
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.dtype import strided
from mindtorch_v2.tensor.tensor import Tensor

_AUTOGRAD: Final = functionality_bit(DispatchKey.AutogradFunctionality)
_AUTOCAST: Final = reduce(
    or_, (functionality_bit(key) for key in DispatchKey if key.name.startswith("Autocast"))
)
_PLAIN: Final = (
    BACKEND_MASK
    | _AUTOCAST
    | _AUTOGRAD
    | functionality_bit(DispatchKey.AutogradOther)  # of None and numbers in a tensor's place
    | functionality_bit(DispatchKey.Dense)
    | functionality_bit(DispatchKey.ADInplaceOrView)
)
"""Keys of tensors that may wait."""

_TENSORS: Final = frozenset(("Tensor", "List[Tensor]", "Optional[Tensor]"))
_AT_THEIR_PLACE: Final = {
    "data_dependent_output": "its answer depends on values",
    "dynamic_output_shape": "its shape depends on values",
    "inplace_view": "it changes the geometry of an argument",
    "nondeterministic_seeded": "it takes random numbers, in the order of the program",
}
"""By tag, why an operator does not wait."""


def pipeline_fallback(call: Call, keyset: int) -> Any:
    """What the call answers, or will answer."""
    below = intersection(keyset, full_after(PIPELINE_VALUE))
    pipeline = tls.local_dispatch_key_set().pipeline
    if not isinstance(pipeline, Pipeline):  # somebody has included the key without a pipeline
        return call.redispatch(below)
    key, kernel = call.operator.entry.table.lookup(below)
    reason, forecast = "", None
    try:
        device = _device_of_waiting(call, pipeline)
        if not _is_composite(call, below, kernel):
            forecast = Forecast(call, device, kernel)
    except CannotWaitError as error:
        reason = str(error)
    if reason:
        with pipeline.at_its_place(call, reason):
            return call.run()
    if forecast is None:
        return call.run_at(Target(below, key, kernel))
    return pipeline.enqueue(call, below, forecast)


def _is_composite(call: Call, keyset: int, kernel: Kernel) -> bool:
    """Whether autograd sees what the kernel calls, and not the call (CompositeImplicit)."""
    if kernel is MISSING:  # without tensors, BackendSelect would find the backend
        return False
    return call.operator.entry.table.lookup(keyset | _AUTOGRAD)[1] is kernel


def _device_of_waiting(call: Call, pipeline: Pipeline) -> Device:
    """The device that the answer will be on; CannotWaitError for a call that cannot wait."""
    _check_operator(call)
    if call.keys() & ~_PLAIN:
        raise CannotWaitError("it has keys of a layout or a quantized dtype")
    if anomaly.is_enabled() or saved_variable.defaults.hooks:
        raise CannotWaitError("hooks want to see what is saved")
    devices: dict[str, Device] = {}
    tensors = list(tensors_of(call.stack))
    for tensor in tensors:
        _check_tensor(tensor, pipeline)
        devices[str(tensor._device)] = tensor._device
    if call.operator.schema.is_mutable:
        _check_writes(call, tensors, pipeline)
    if pipeline.records() and any(map(pipeline.may_require_grad, tensors)):
        _check_autograd(call, tensors, pipeline)
    for value in call.stack:
        if isinstance(value, Device):
            devices[str(value)] = value
    if len(devices) > 1:
        raise CannotWaitError("values go from device to device")
    return next(iter(devices.values()), Device("cpu"))


def _check_writes(call: Call, tensors: Sequence[Tensor], pipeline: Pipeline) -> None:
    """What a kernel refuses to write to is known of metadata, though not to meta kernels."""
    arguments = zip(call.operator.schema.arguments, call.stack, strict=True)
    for written in tensors_of(value for argument, value in arguments if argument.is_write):
        others = (each for each in tensors if each is not written)
        if has_internal_overlap(written) or any(
            pipeline.memory_of(each) == pipeline.memory_of(written) for each in others
        ):
            raise CannotWaitError("it writes to one place in memory twice, or to what it reads")


def _check_autograd(call: Call, tensors: Sequence[Tensor], pipeline: Pipeline) -> None:
    """What autograd may refuse runs where the program can be told."""
    if call.operator.schema.is_mutable:
        raise CannotWaitError("autograd may refuse a change of a tensor that requires grad")
    if any(map(pipeline.may_be_forbidden, tensors)):
        raise CannotWaitError("autograd may refuse a view that was made in another mode")
    if any(tensor._is_inference() for tensor in tensors):
        raise CannotWaitError("autograd may refuse to save an inference tensor")


def _check_operator(call: Call) -> None:
    operator = call.operator
    for tag in operator.registered_tags:
        if tag in _AT_THEIR_PLACE:
            raise CannotWaitError(_AT_THEIR_PLACE[tag])
    if any(argument.name == "output_mask" for argument in operator.schema.arguments):
        raise CannotWaitError("it may answer None for a tensor")
    returns = operator.schema.returns
    if not returns or any(str(each.type) not in _TENSORS for each in returns):
        raise CannotWaitError("it answers more than tensors")


def _check_tensor(tensor: Tensor, pipeline: Pipeline) -> None:
    if tensor._is_inference() and not tls.is_inference_mode_enabled():
        raise CannotWaitError("what may be done with inference tensors depends on the mode")
    pending = tensor._pending
    if pending is pipeline:
        return
    if pending is not None:
        pending.settle()  # of another pipeline, or of one that has failed
    if type(tensor).__getattr__ is not Tensor.__getattr__:
        raise CannotWaitError("its class has a __getattr__ of its own")
    if tensor._layout is not strided or tensor._storage is None:
        raise CannotWaitError("it has a layout without strides")
    if tensor._storage._is_exported:
        raise CannotWaitError("others than tensors know the memory")
