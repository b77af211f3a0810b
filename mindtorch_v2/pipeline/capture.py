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
from mindtorch_v2.binding.operators import Call, Operator
from mindtorch_v2.binding.unboxed import Run
from mindtorch_v2.dispatch import tls
from mindtorch_v2.dispatch.calls import Target
from mindtorch_v2.dispatch.dispatch_table import DispatchTable
from mindtorch_v2.dispatch.dispatcher import DISPATCHER
from mindtorch_v2.dispatch.kernel import MISSING
from mindtorch_v2.dispatch.key import PIPELINE_VALUE, DispatchKey
from mindtorch_v2.dispatch.keyset import (
    BACKEND_MASK,
    full_after,
    functionality_bit,
    intersection,
    mask_of,
)
from mindtorch_v2.kernels.overlap import has_internal_overlap
from mindtorch_v2.pipeline.block import Pipeline
from mindtorch_v2.pipeline.meta import CannotWaitError, Recipe
from mindtorch_v2.pipeline.signature import Signature, signature_of
from mindtorch_v2.pipeline.traits import Traits, traits_of
from mindtorch_v2.tensor.default_dtype import get_default_dtype
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.device_memory import with_index
from mindtorch_v2.tensor.dtype import strided
from mindtorch_v2.tensor.options import compute_dispatch_key
from mindtorch_v2.tensor.pending import settled
from mindtorch_v2.tensor.tensor import Tensor

_AUTOGRAD: Final = functionality_bit(DispatchKey.AutogradFunctionality)
_INPLACE_OR_VIEW: Final = functionality_bit(DispatchKey.ADInplaceOrView)
_AUTOCAST: Final = reduce(
    or_, (functionality_bit(key) for key in DispatchKey if key.name.startswith("Autocast"))
)
_SPECIAL: Final = ~(
    BACKEND_MASK
    | _AUTOCAST
    | _AUTOGRAD
    | functionality_bit(DispatchKey.AutogradOther)  # of None and numbers in a tensor's place
    | functionality_bit(DispatchKey.Dense)
    | _INPLACE_OR_VIEW
)
"""Keys of tensors that do not wait."""
_BELOW: Final = full_after(PIPELINE_VALUE)


class Way:
    """Where the calls of one operator with one keyset go, as it is registered now."""

    __slots__ = ("composite", "keyset", "recipes", "traits")

    def __init__(self, operator: Operator, keyset: int) -> None:
        #: Where a call goes at once, if its kernel is a composite one.
        self.composite = _composite_of(operator.entry.table, keyset)
        self.keyset, self.traits = keyset, traits_of(operator)
        self.recipes: dict[Signature, Recipe] = {}

    def recipe(self, call: Call, tensors: Sequence[Tensor], signature: Signature | None) -> Recipe:
        """CannotWaitError for a call of which nothing can be said before it runs."""
        found = None if signature is None else self.recipes.get(signature)
        if found is None:
            keyset, device = self.keyset, _device_of(call, tensors)
            _, kernel = call.operator.entry.table.lookup(keyset if tensors else _dense_on(device))
            found = Recipe(call, tensors, device, keyset, kernel)
            if signature is not None:
                if len(self.recipes) >= _MOST_RECIPES:
                    self.recipes.clear()
                self.recipes[signature] = found
        return found


_ways: Final[dict[tuple[str, int, int], Way]] = {}
_MOST_WAYS: Final = 10_000
_MOST_RECIPES: Final = 1_000
"""So many are kept, and recipes of each way; then all are forgotten."""


def _way(operator: Operator, keyset: int) -> Way:
    """The way that calls with a keyset go which have come to the key."""
    asked = operator.canonical, intersection(keyset, _BELOW), DISPATCHER.version
    way = _ways.get(asked)
    if way is None:
        if len(_ways) >= _MOST_WAYS:
            _ways.clear()
        way = _ways[asked] = Way(operator, asked[1])
    return way


def pipeline_fallback(call: Call, keyset: int) -> Any:
    """What the call answers, or will answer."""
    pipeline = tls.local_dispatch_key_set().pipeline
    if not isinstance(pipeline, Pipeline):  # somebody has included the key without a pipeline
        return call.redispatch(intersection(keyset, _BELOW))
    way = _way(call.operator, keyset)
    if way.composite is not None:
        return call.run_at(way.composite)
    return _waiting(call, way, pipeline)


def run_in_pipeline(operator: Operator, keyset: int) -> Run:
    """The same for calls of one operator that nobody observes: a composite one's kernel itself."""
    way = _way(operator, keyset)
    if way.composite is not None:
        return operator.run_of(way.composite)

    def run(*stack: Any) -> Any:
        pipeline = tls.thread_local.raw.pipeline
        if not isinstance(pipeline, Pipeline):
            return Call(operator, stack).redispatch(way.keyset)
        return _waiting(Call(operator, stack), way, pipeline)

    return run


def _waiting(call: Call, way: Way, pipeline: Pipeline) -> Any:
    """What a call will answer that no composite kernel makes of other calls."""
    tensors: list[Tensor] = []
    signature = signature_of(call.stack, tensors)
    reason = _why_not(call, way.traits, tensors, pipeline)
    if not reason:
        try:
            recipe = way.recipe(call, tensors, signature)
        except CannotWaitError as error:
            reason = str(error)
        else:
            return pipeline.enqueue(call, tensors, recipe, way.keyset)
    with pipeline.at_its_place(call, reason):
        return call.run()


def _composite_of(table: DispatchTable, keyset: int) -> Target | None:
    """Where a call goes if autograd sees what its kernel calls, and not the call
    (CompositeImplicit)."""
    key, kernel = table.lookup(keyset)
    if kernel is MISSING:  # without tensors, BackendSelect would find the backend
        return None
    return Target(keyset, key, kernel) if table.lookup(keyset | _AUTOGRAD)[1] is kernel else None


def _dense_on(device: Device) -> int:
    """Where BackendSelect sends what makes a tensor out of none."""
    return mask_of(compute_dispatch_key(get_default_dtype(), strided, device.type))


def _device_of(call: Call, tensors: Sequence[Tensor]) -> Device:
    """The device that the answer will be on; CannotWaitError if there are several."""
    found = {tensor._device for tensor in tensors}
    found.update(with_index(value) for value in call.stack if isinstance(value, Device))
    if len(found) > 1:
        raise CannotWaitError("values go from device to device")
    return next(iter(found), Device._made("cpu"))


# --- what does not wait ---------------------------------------------------------------------------


def _why_not(call: Call, traits: Traits, tensors: Sequence[Tensor], pipeline: Pipeline) -> str:
    """Why a call has to run at its place, as far as its operator and its tensors tell; or "".

    Here is all that may differ between calls of one signature.
    """
    if traits.reason:
        return traits.reason
    if anomaly.is_anomaly_enabled() or saved_variable.defaults.hooks:
        return "hooks want to see what is saved"
    is_inference_mode = tls.thread_local.raw.inference_mode
    for tensor in tensors:
        keys = tensor._keys
        if keys & _SPECIAL:
            return "it has keys of a layout or a quantized dtype"
        if not (is_inference_mode or keys & _INPLACE_OR_VIEW):
            return "what may be done with inference tensors depends on the mode"
        if tensor._pending is not pipeline:
            reason = _why_not_ready(tensor, pipeline)
            if reason:
                return reason
    if traits.is_mutable:
        reason = _why_not_written(call, traits.written, tensors, pipeline)
        if reason:
            return reason
    if pipeline.records() and any(map(pipeline.may_require_grad, tensors)):
        return _why_not_recorded(traits, tensors, pipeline)
    return ""


def _why_not_ready(tensor: Tensor, pipeline: Pipeline) -> str:
    """Of a tensor that this pipeline has not to do with yet."""
    if tensor._pending is not None:
        tensor._pending.settle()  # of another pipeline, or of one that has failed
    base = tensor._view_base()
    if base is not None and base._pending not in (None, pipeline):
        settled(base)
    if tensor._layout is not strided or tensor._storage is None:
        return "it has a layout without strides"
    if tensor._storage._is_exported:
        return "others than tensors know the memory"
    if not (pipeline.counts_changes(tensor) or tensor._is_inference()):
        return "its version is not counted, which autograd may ask for"
    return ""


def _why_not_written(
    call: Call, positions: Sequence[int], tensors: Sequence[Tensor], pipeline: Pipeline
) -> str:
    """What a kernel refuses to write to is known of metadata, though not to meta kernels."""
    for written in tensors_of(call.stack[position] for position in positions):
        others = (each for each in tensors if each is not written)
        if has_internal_overlap(written) or any(
            pipeline.memory_of(each) == pipeline.memory_of(written) for each in others
        ):
            return "it writes to one place in memory twice, or to what it reads"
    return ""


def _why_not_recorded(traits: Traits, tensors: Sequence[Tensor], pipeline: Pipeline) -> str:
    """What autograd may refuse runs where the program can be told."""
    if traits.is_mutable:
        return "autograd may refuse a change of a tensor that requires grad"
    if any(map(pipeline.may_be_forbidden, tensors)):
        return "autograd may refuse a view whose memory was changed"
    if any(tensor._is_inference() for tensor in tensors):
        return "autograd may refuse to save an inference tensor"
    return ""
