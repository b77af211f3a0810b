"""The meta stage: what a call will answer, known from the metadata of its arguments.

The operator runs on tensors of the device meta that look like the arguments, below autograd.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any, Final, NamedTuple

from mindtorch_v2 import warn
from mindtorch_v2.binding.fallbacks import tensors_of
from mindtorch_v2.binding.operators import Call
from mindtorch_v2.dispatch import tls
from mindtorch_v2.dispatch.calls import Target
from mindtorch_v2.dispatch.dispatcher import DISPATCHER
from mindtorch_v2.dispatch.kernel import Kernel
from mindtorch_v2.dispatch.key import PIPELINE_BIT, DispatchKey
from mindtorch_v2.dispatch.keyset import functionality_bit, highest_priority_type_id, mask_of
from mindtorch_v2.dispatch.operator_entry import Plan
from mindtorch_v2.dispatch.unboxing import REFUSES_UNSIGNED, is_unsigned
from mindtorch_v2.kernels import rows
from mindtorch_v2.kernels.elementwise.tensor_iterator import standing_for_cpu
from mindtorch_v2.kernels.handle import PassedOn
from mindtorch_v2.kernels.structured import is_structured
from mindtorch_v2.kernels.wrapping.inplace_or_view import inplace_or_view, makes_views, with_written
from mindtorch_v2.pipeline.rehearsal import (
    StateNeededError,
    rehearse,
    storage_without_bytes,
    without_state,
)
from mindtorch_v2.pipeline.traits import traits_of
from mindtorch_v2.tensor import geometry
from mindtorch_v2.tensor.device import EXTENSION_DEVICE, Device
from mindtorch_v2.tensor.generator import Generator, default_generator
from mindtorch_v2.tensor.options import compute_dispatch_key, tensor_keyset
from mindtorch_v2.tensor.pending import AWAY
from mindtorch_v2.tensor.storage import UntypedStorage
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.tensor.version import VersionCounter

_HOME: Final = Device("cpu")
_META: Final = Device("meta")
_META_KEY: Final = int(DispatchKey.Meta)
_CPU: Final = mask_of(DispatchKey.CPU)
_BELOW_AUTOGRAD: Final = functionality_bit(DispatchKey.AutogradFunctionality) | functionality_bit(
    DispatchKey.ADInplaceOrView
)
_AUTOGRAD: Final = functionality_bit(DispatchKey.AutogradFunctionality)
_INPLACE_OR_VIEW: Final = functionality_bit(DispatchKey.ADInplaceOrView)
_LAZY: Final = (
    functionality_bit(DispatchKey.Conjugate)
    | functionality_bit(DispatchKey.Negative)
    | functionality_bit(DispatchKey.ZeroTensor)
)


class Planned(NamedTuple):
    """What a plan kernel may answer that says more than the plan.

    ``again`` answers a plan for a later call of the same signature: with tensors of the same
    geometry, dtype, keys and device, and the same other arguments; None if it has none any more.
    """

    #: What the impl kernel is handed.
    plan: Any
    #: New tensors like those that the call answers, with the memory that those will have, or what
    #: makes them: what is planned later may ask for it (`planned_output`).
    outputs: Sequence[Tensor] | Callable[[], Sequence[Tensor]] = ()
    again: Callable[[], Planned | None] | None = None
    #: Computes the call in the place of the impl kernel, for whom nothing is left to be asked; or
    #: answers None for one whose arguments turned out to be others.
    run: Callable[[Call], Any] | None = None


def Reusable(plan: Any) -> Planned:  # noqa: N802 (a kind of `Planned`)
    """A plan that is itself good for every call of the same signature."""
    planned = Planned(plan, again=lambda: planned)
    return planned


class CannotWaitError(Exception):
    """A call must run at its place in the program; the text says why."""


class Forecast(NamedTuple):
    """What a call will answer: arguments of the call, and new tensors that have metadata only."""

    answer: Any
    #: The new tensors, in the order of the answer.
    outputs: list[Tensor]
    #: For each the argument whose memory it shares, if it does.
    bases: list[Tensor | None]


class _Given(NamedTuple):
    """In an answer, the tensor at a position among those of the call."""

    position: int


class _Made(NamedTuple):
    """In an answer, a new tensor, and where among those of the call that is whose memory it has."""

    template: Tensor
    base: int | None


def _base_of(made: _Made, tensors: Sequence[Tensor]) -> Tensor | None:
    return None if made.base is None else tensors[made.base]


class Recipe:
    """How to foresee the calls of one signature, and what their flushes have in common."""

    #: The plan kernel on the backend that will compute, if there is one.
    plan: Plan | None
    #: Where a call may go at once, past autograd, if nothing is to be recorded.
    straight: Target | None
    #: Whether its answers are views, of which all is known but what they are views of.
    is_plain_view: bool = False
    #: Whether its answers are known to be nothing but its arguments' memory, though no views.
    is_bare_alias: bool = False
    #: How later calls are planned, once the plan kernel has said it.
    again: Callable[[], Planned | None] | None = None

    def __init__(
        self,
        call: Call,
        tensors: Sequence[Tensor],
        device: Device,
        keyset: int,
        kernel: Kernel,
        *,
        is_rehearsed: bool = True,
    ):
        """CannotWaitError if nothing can be said, as where the call would raise or warn.

        ``kernel`` is what will compute, the one at the highest key of ``keyset``.  A structured
        one is asked itself, and so is one that serves every backend, or that has a row at Meta,
        whatever speaks there in torch, and of an operator that passes its arguments on the kernel
        that gets them; for others the meta kernel speaks, which in torch is now and then another
        function than the backend's, and the CPU's kernel rehearses, for an NPU too.
        """
        self.version = DISPATCHER.version
        self.plan = call.operator.entry.plans.get(highest_priority_type_id(keyset))
        self.straight = None
        if tensors:  # else BackendSelect is to find the backend
            self.straight = _past_autograd(call, keyset, kernel, is_planned=self.plan is not None)
        self._device = device
        traits = traits_of(call.operator)
        self._is_mutable, self.is_functional = traits.is_mutable, traits.is_functional
        #: The positions of the arguments that it writes to.
        self.written = traits.written
        self.is_view = traits.is_view and kernel.is_native and self.plan is None
        self.is_plain_view = self.is_view and _is_plain_view(call, keyset)
        self.is_random = traits.is_random
        self._positions = {id(tensor): at for at, tensor in reversed(list(enumerate(tensors)))}
        self._shells: dict[int, Tensor] = {}
        self._originals: dict[int, Tensor] = {}
        is_at_home = device.type in ("cpu", EXTENSION_DEVICE)
        stack = tuple(mapped(value, self._shell) for value in _on_meta(call))
        found = [(shell, _geometry(shell)) for shell in self._shells.values()]
        generators = self.generators(call)
        with tls.with_state(_state_below_autograd()), warn.rehearsal(), without_state(generators):
            try:
                asked, speaker = call, _speaker(call, kernel, device)
                while isinstance(speaker.function, PassedOn):
                    target = speaker.function.target
                    asked, stack = call._replace(operator=target.operator), target.stack(stack, {})
                    found_below = asked.operator.entry.table.lookup(keyset)[1]
                    speaker = _speaker(asked, found_below, device)
                with standing_for_cpu() if is_at_home else nullcontext():
                    if _speaks_for_meta(asked, speaker):
                        assert speaker.function is not None
                        answer = speaker.function(*stack)
                    else:
                        answer = asked._replace(stack=stack).run()
                answer = with_written(asked.operator, stack, answer)
            except (Exception, StateNeededError) as error:
                raise CannotWaitError(f"meta: {type(error).__name__}: {error}") from error
        if is_rehearsed and speaker.is_native and tensors and is_at_home:
            _rehearse(call, generators, answer)
        if any(_geometry(shell) != geometry for shell, geometry in found):
            raise CannotWaitError("it changes the geometry of an argument")
        self._answer = mapped(answer, self._leaf)
        #: Whether it answers a tensor, and not a list of them, which may have one alone.
        self.is_single = type(self._answer) in (_Given, _Made)
        del self._shells, self._originals, self._positions

    def forecast(self, tensors: Sequence[Tensor]) -> Forecast:
        """What a call with these tensors will answer."""
        outputs: list[Tensor] = []
        bases: list[Tensor | None] = []
        found = self._answer
        if type(found) is _Given:
            return Forecast(tensors[found.position], outputs, bases)
        if type(found) is _Made:
            output, base = metadata_copy(found.template), found.base
            return Forecast(output, [output], [None if base is None else tensors[base]])

        def filled(leaf: _Given | _Made) -> Tensor:
            if type(leaf) is _Given:
                return tensors[leaf.position]
            assert isinstance(leaf, _Made)
            output = metadata_copy(leaf.template)
            outputs.append(output)
            bases.append(_base_of(leaf, tensors))
            return output

        return Forecast(mapped(found, filled, (_Given, _Made)), outputs, bases)

    def generators(self, call: Call) -> list[Generator]:
        """Those that a call takes random numbers of."""
        if not self.is_random:
            return []
        given = [value for value in call.stack if isinstance(value, Generator)]
        return given or [default_generator]

    def _shell(self, tensor: Tensor) -> Tensor:
        """A tensor on meta that looks like ``tensor``."""
        shell = self._shells.get(id(tensor))
        if shell is None:
            shell = _look_alike(tensor, _META)
            shell._storage, shell._autograd = _storage_of(tensor), None
            shell._versions = VersionCounter()
            self._shells[id(tensor)], self._originals[id(shell)] = shell, tensor
        return shell

    def _leaf(self, answered: Tensor) -> _Given | _Made:
        """The argument that the operator answered, or a new tensor that looks as it will."""
        original = self._originals.get(id(answered))
        if original is not None:
            if not self._is_mutable:
                raise CannotWaitError("autograd may make a view of the argument that it answers")
            return _Given(self._positions[id(original)])
        if answered._device.type != "meta":
            raise CannotWaitError("its meta kernel answers a tensor that is not on meta")
        aliased = [
            self._originals[id(shell)]
            for shell in self._shells.values()
            if shell._storage is answered._storage
        ]
        if aliased and nbytes_of(answered) > answered._untyped_storage()._nbytes:
            raise CannotWaitError("it may reach beyond the end of a storage")
        if aliased and not (self.is_view or tls.is_below_inplace_or_view()):
            raise CannotWaitError("autograd sees the views of which its kernel makes the answer")
        is_inference = aliased[0]._is_inference() if aliased else tls.is_inference_mode_enabled()
        output = _look_alike(answered, self._device)
        backend = mask_of(compute_dispatch_key(output._dtype, output._layout, self._device.type))
        output._keys = tensor_keyset(backend, is_inference) | answered._keys & _LAZY
        return _Made(output, self._positions[id(aliased[0])] if aliased else None)


def _past_autograd(call: Call, keyset: int, kernel: Kernel, *, is_planned: bool) -> Target | None:
    """Where a call may go that autograd only lets through: an operator's that makes new tensors.

    What somebody has registered at Autograd wants to be called, and torch's own kernels there see
    to it that each tensor is one, and that each number has a box.
    """
    if not (kernel.is_native or is_planned) or not traits_of(call.operator).is_functional:
        return None
    if REFUSES_UNSIGNED and any(map(is_unsigned, call.stack)):
        return None
    entry = call.operator.entry
    key, above = entry.table.lookup(keyset | _AUTOGRAD)
    if not above.is_native and above is not entry.fallback_at(key):
        return None
    arguments = zip(call.operator.schema.arguments, call.stack, strict=True)
    if any(value is None and str(argument.type) == "Tensor" for argument, value in arguments):
        return None
    return Target(keyset, highest_priority_type_id(keyset), kernel)


def _is_plain_view(call: Call, keyset: int) -> bool:
    """Whether nothing but torch's own kernels stands above that of a view, and nothing is masked
    or included that is not so by default."""
    raw = tls.local_dispatch_key_set()
    included = raw.included & ~PIPELINE_BIT
    if (included, raw.excluded) != (tls.DEFAULT_INCLUDED, tls.DEFAULT_EXCLUDED):
        return False
    table, own = call.operator.entry.table, call.operator.entry.fallback_at
    key, above = table.lookup(keyset | _AUTOGRAD)
    _, making = table.lookup(keyset | _INPLACE_OR_VIEW)
    return (
        (above.is_native or above is own(key))
        and making.function is inplace_or_view
        and makes_views(call.operator)
    )


def _rehearse(call: Call, generators: Sequence[Generator], foreseen: Any) -> None:
    """CannotWaitError for what the kernel refuses or answers otherwise than its meta kernel."""

    def without_bytes(tensor: Tensor) -> Tensor:
        device = _HOME if tensor._device.type == EXTENSION_DEVICE else tensor._device
        twin = _look_alike(tensor, device)
        twin._storage = storage_without_bytes(nbytes_of(tensor), device)
        twin._autograd, twin._versions = None, VersionCounter()
        return twin

    stack = tuple(
        _HOME
        if isinstance(value, Device) and value.type == EXTENSION_DEVICE
        else mapped(value, without_bytes)
        for value in call.stack
    )
    try:
        with without_state(generators):
            answer = rehearse(call._replace(stack=stack), _state_below_autograd())
    except Exception as error:
        raise CannotWaitError(f"kernel: {type(error).__name__}: {error}") from error
    pairs = zip(tensors_of((answer,)), tensors_of((foreseen,)), strict=False)
    if any(_shape(one) != _shape(other) for one, other in pairs):
        raise CannotWaitError("its kernel answers another geometry than its meta kernel")


_OF_EVERY_BACKEND: Final = (
    DispatchKey.CompositeExplicitAutograd,
    DispatchKey.CompositeExplicitAutogradNonFunctional,
)


def _speaker(call: Call, kernel: Kernel, device: Device) -> Kernel:
    """The kernel to ask: on an NPU that of the CPU, for that is what the NPU answers like."""
    if device.type != EXTENSION_DEVICE:
        return kernel
    return call.operator.entry.table.lookup(_CPU)[1]


def _speaks_for_meta(call: Call, kernel: Kernel) -> bool:
    """Whether the kernel itself can be run on tensors that have metadata only."""
    if kernel.function is None or not kernel.is_native or kernel.with_keyset:
        return False
    if is_structured(kernel.function):
        return True
    entry, row = call.operator.entry, rows.ROWS.get((call.operator.canonical, _META_KEY))
    if row is not None and row.function is kernel.function:
        return True
    return any(entry.kernel_at(key) is kernel for key in _OF_EVERY_BACKEND)


def _look_alike(tensor: Tensor, device: Device) -> Tensor:
    """A tensor of the same geometry and dtype, without anything in it."""
    twin = metadata_copy(tensor)
    twin._device = device
    twin._keys = tensor_keyset(mask_of(compute_dispatch_key(tensor._dtype, None, device.type)))
    return twin


def metadata_copy(tensor: Tensor) -> Tensor:
    """A tensor with the same metadata, without anything in it."""
    twin = object.__new__(Tensor)
    twin._sizes, twin._strides = tensor._sizes, tensor._strides
    twin._storage_offset, twin._dtype = tensor._storage_offset, tensor._dtype
    twin._layout, twin._device, twin._keys = tensor._layout, tensor._device, tensor._keys
    twin._raw_storage = twin._raw_autograd = twin._raw_versions = AWAY
    twin._content = twin._functional = twin._custom = twin._pending = twin._array = None
    return twin


def _storage_of(tensor: Tensor) -> UntypedStorage:
    """A storage with room for no more than the tensor, whatever else its own has room for."""
    return UntypedStorage._without_memory(nbytes_of(tensor), _META)


def like(tensor: Tensor, storage: UntypedStorage) -> Tensor:
    """A new tensor of the same metadata in a storage, which autograd has nothing to do with."""
    twin = metadata_copy(tensor)
    put_into(storage, twin)
    return twin


def put_into(storage: UntypedStorage, tensor: Tensor) -> None:
    """Give a tensor that has metadata only all that it lacks."""
    tensor._storage, tensor._autograd, tensor._pending = storage, None, None
    tensor._versions = VersionCounter(None if tensor._is_inference() else 0)


def nbytes_of(tensor: Tensor) -> int:
    """Of the part of a storage that it needs."""
    return geometry.storage_bytes(
        tensor._sizes, tensor._strides, tensor._storage_offset, tensor._dtype.itemsize
    )


def _geometry(tensor: Tensor) -> tuple[object, ...]:
    storage = tensor._storage
    assert storage is not None
    return (*_shape(tensor), id(storage), storage._nbytes)


def _shape(tensor: Tensor) -> tuple[object, ...]:
    return tensor._sizes, tensor._strides, tensor._storage_offset, tensor._dtype


def _on_meta(call: Call) -> list[Any]:
    """The arguments, with meta for the device where one is named."""
    return [_META if isinstance(value, Device) else value for value in call.stack]


def mapped(value: Any, change: Callable[[Any], Any], leaves: Any = Tensor) -> Any:
    """``value`` with each tensor (or other leaf) changed, those in lists and tuples too."""
    if isinstance(value, leaves):
        return change(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(mapped(each, change, leaves) for each in value))
    if isinstance(value, (list, tuple)):
        return type(value)(mapped(each, change, leaves) for each in value)
    return value


def _state_below_autograd() -> tls.RawLocalDispatchKeySet:
    state = tls.local_dispatch_key_set().copy()
    state.pipeline, state.grad_mode = None, False
    state.included &= ~PIPELINE_BIT
    state.excluded |= _BELOW_AUTOGRAD
    return state
