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
from mindtorch_v2.binding.fallbacks import list_of_tensors, tensors_of
from mindtorch_v2.binding.operators import Call
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
from mindtorch_v2.pipeline.meta import CannotWaitError, Recipe
from mindtorch_v2.pipeline.pipeline import Pipeline
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
_AUTOCAST: Final = reduce(
    or_, (functionality_bit(key) for key in DispatchKey if key.name.startswith("Autocast"))
)
_SPECIAL: Final = ~(
    BACKEND_MASK
    | _AUTOCAST
    | _AUTOGRAD
    | functionality_bit(DispatchKey.AutogradOther)  # of None and numbers in a tensor's place
    | functionality_bit(DispatchKey.Dense)
    | functionality_bit(DispatchKey.ADInplaceOrView)
)
"""Keys of tensors that do not wait."""
_BELOW: Final = full_after(PIPELINE_VALUE)


_recipes: Final[dict[Signature, Recipe]] = {}
_ways: Final[dict[tuple[str, int, int], Target | Traits]] = {}
_MOST_RECIPES: Final = 10_000
"""So many are kept; then all are forgotten."""


def pipeline_fallback(call: Call, keyset: int) -> Any:
    """What the call answers, or will answer."""
    below = intersection(keyset, _BELOW)
    pipeline = tls.local_dispatch_key_set().pipeline
    if not isinstance(pipeline, Pipeline):  # somebody has included the key without a pipeline
        return call.redispatch(below)
    way = _way(call, below)
    if not isinstance(way, Traits):
        return call.run_at(way)
    tensors = list_of_tensors(call.stack)
    reason = _why_not(call, way, tensors, pipeline)
    if not reason:
        try:
            recipe = _recipe(call, tensors, below)
        except CannotWaitError as error:
            reason = str(error)
        else:
            return pipeline.enqueue(call, tensors, recipe, below)
    with pipeline.at_its_place(call, reason):
        return call.run()


def _recipe(call: Call, tensors: Sequence[Tensor], keyset: int) -> Recipe:
    """CannotWaitError for a call of which nothing can be said before it runs."""
    signature = signature_of(call, keyset, tensors)
    recipe = None if signature is None else _recipes.get(signature)
    if recipe is None:
        device = _device_of(call, tensors)
        _, kernel = call.operator.entry.table.lookup(keyset if tensors else _dense_on(device))
        recipe = Recipe(call, tensors, device, keyset, kernel)
        if signature is not None:
            if len(_recipes) >= _MOST_RECIPES:
                _recipes.clear()
            _recipes[signature] = recipe
    return recipe


def _way(call: Call, keyset: int) -> Target | Traits:
    """What the operator alone says: where the call goes at once, if its kernel is a composite one,
    else its traits."""
    asked = call.operator.canonical, keyset, DISPATCHER.version
    way = _ways.get(asked)
    if way is None:
        if len(_ways) >= _MOST_RECIPES:
            _ways.clear()
        composite = _composite_of(call.operator.entry.table, keyset)
        way = _ways[asked] = composite or traits_of(call.operator)
    return way


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
    return next(iter(found), Device("cpu"))


# --- what does not wait ---------------------------------------------------------------------------


def _why_not(call: Call, traits: Traits, tensors: Sequence[Tensor], pipeline: Pipeline) -> str:
    """Why a call has to run at its place, as far as its operator and its tensors tell; or "".

    Here is all that may differ between calls of one signature.
    """
    if traits.reason:
        return traits.reason
    if anomaly.is_enabled() or saved_variable.defaults.hooks:
        return "hooks want to see what is saved"
    inference = tls.is_inference_mode_enabled()
    for tensor in tensors:
        if tensor._keys & _SPECIAL:
            return "it has keys of a layout or a quantized dtype"
        if not inference and tensor._is_inference():
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
    if type(tensor).__getattr__ is not Tensor.__getattr__:
        return "its class has a __getattr__ of its own"
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
