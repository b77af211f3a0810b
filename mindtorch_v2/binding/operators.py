"""Operators that can be called: packets and their overloads, each parsed when it is first used.

Mirrors ``getOpWithStack`` and ``opAllowsNumbersAsTensors`` of torch/csrc/jit/python.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cache, cached_property, partial
from importlib import import_module
from typing import Any, Final, NamedTuple

from mindtorch_v2 import profile
from mindtorch_v2.binding import messages
from mindtorch_v2.binding.errors import ReferenceCastError, SchemaMatchError, text_of
from mindtorch_v2.binding.fallbacks import FALLBACKS
from mindtorch_v2.binding.op_schema import OpSchema, Stack
from mindtorch_v2.binding.python_kernel import call_python, python_route, python_run
from mindtorch_v2.binding.stop import Stopped, is_stopping
from mindtorch_v2.binding.unboxed import Kept, Route, Run, Unboxed, Way, made_for, route_for
from mindtorch_v2.dispatch import native, registry, tls, trace
from mindtorch_v2.dispatch.calls import Target, at_highest, at_key, resolve
from mindtorch_v2.dispatch.dispatcher import DISPATCHER
from mindtorch_v2.dispatch.kernel import MISSING
from mindtorch_v2.dispatch.key import DispatchKey, key_name
from mindtorch_v2.dispatch.keyset import full_after, intersection, mask_of
from mindtorch_v2.dispatch.observers import OBSERVERS
from mindtorch_v2.dispatch.operator_entry import AnnotatedSchema, OperatorEntry
from mindtorch_v2.dispatch.operator_names import OperatorText, check_qualified, in_call_order
from mindtorch_v2.schema.function_schema import FunctionSchema
from mindtorch_v2.schema.parser import parse_printed_schema
from mindtorch_v2.tensor.options import tensor_keyset
from mindtorch_v2.tensor.tensor import Tensor

_TAGS_AS_TUPLES: Final = frozenset(profile.active().conversions["tags_as_tuples"])
_REGISTERED_TAGS: Final[Mapping[str, list[str]]] = profile.active().conversions["registered_tags"]
_NUMBERS_AS_TENSORS: Final = frozenset(profile.active().conversions["numbers_as_tensors"])


_UNDEFINED_TENSOR: Final = tensor_keyset(0, inference=False)
"""The keys of what None is where a tensor is declared (``UndefinedTensorImpl``)."""
KEYS_OF_NUMBER: Final = tensor_keyset(mask_of(DispatchKey.CPU), inference=False)
"""Of the tensor on the CPU that a number is in C++, outside of inference mode."""
_NUMBER_IN_INFERENCE_MODE: Final = tensor_keyset(mask_of(DispatchKey.CPU), inference=True)
_DISPATCH_TYPES: Final = {
    "Tensor": _UNDEFINED_TENSOR,
    "Optional[Tensor]": 0,
    "List[Tensor]": 0,
    "List[Optional[Tensor]]": 0,
}
"""The types whose keys count, to the keys of None in an argument of that type."""


class Operator:
    """One overload; ``canonical`` is its name without aliases, by which kernels are found."""

    undefined: frozenset[int] = frozenset()
    """Positions at which None in a call stands for an undefined tensor that an optional holds: what
    C++ code has no tensor for it passes on like this, and autograd and Python tell it from none."""

    def __init__(self, text: OperatorText, name: str) -> None:
        self.name = name
        self.overload_name = text.overload_name
        self.in_dispatcher = text.in_dispatcher
        self.takes_numbers = takes_numbers(name)
        self._text = text
        self._calls = 0
        #: Whether this package has kernels for calls with these keys; registrations empty it.
        self.computed: dict[int, bool] = {}
        #: Whether calls with these keys end at torch's kernel; registrations empty it.
        self._untouched: dict[int, bool] = {}
        self._handing_on: dict[frozenset[int], Operator] = {frozenset(): self}

    def handing_on(self, undefined: frozenset[int]) -> Operator:
        """The same for calls in which None is an undefined tensor at these positions.

        What runs such a call has this operator, so whoever redispatches hands it on as well.
        """
        if undefined not in self._handing_on:
            operator = copy(self)
            operator.undefined = undefined
            for kept in ("unboxed", "_unboxed"):
                operator.__dict__.pop(kept, None)
            self._handing_on[undefined] = operator
        return self._handing_on[undefined]

    @cached_property
    def optional_tensors(self) -> frozenset[int]:
        """The positions of arguments that may be an undefined tensor."""
        return _optional_tensors(self.schema)

    @property
    def text(self) -> str:
        """The schema as text, with the name that the user typed."""
        return self.name + self._text.schema.removeprefix(self._text.name)

    @cached_property
    def binder(self) -> OpSchema:
        schema = parse_printed_schema(self.text)
        return OpSchema(schema, numbers_as_tensors=takes_numbers(self._text.name))

    def bind(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Call:
        """The call with these arguments; RuntimeError in torch's words if they do not suit."""
        return Call(self, self.binder.stack(args, kwargs))

    @property
    def schema(self) -> FunctionSchema:
        return self.binder.schema

    # --- the short way ------------------------------------------------------------------------

    @cached_property
    def unboxed(self) -> Unboxed:
        return Unboxed(self, self.binder, dict(self.dispatch_arguments))

    def is_worth_compiling(self) -> bool:
        """Whether calls have come that often that the short way pays; this one counts."""
        self._calls += 1
        return self._calls > _CALLS_BEFORE_COMPILING and self.in_dispatcher

    def find_kernel(self, kept: Kept[Way], keys: int, way: Callable[[Target], Way]) -> Way:
        """How to run a call whose arguments have these keys.

        A call that goes past the pipeline whose block it is in waits for that each time.  Raises as
        :func:`~mindtorch_v2.dispatch.calls.resolve`.
        """
        version, raw = DISPATCHER.version, tls.local_dispatch_key_set()
        found = kept.of_thread(raw)
        is_kept = raw.pipeline is None or not tls.goes_past_pipeline(keys)
        made = way(resolve(self.entry, keys, self.full_name))
        if is_kept:
            DISPATCHER.remember(self.canonical, version, found, keys, made)
        return made

    def find_computed(self, keys: int) -> bool:
        """Whether this package computes calls with these keys, on the backend of the tensors."""
        if not native.has_kernel(self.canonical):
            return False
        version, backends = DISPATCHER.version, intersection(keys, _BACKENDS)
        found = not backends or self.entry.table.lookup(backends)[1].function is not None
        DISPATCHER.remember(self.canonical, version, self.computed, keys, found)
        return found

    def is_missing(self, keys: int) -> bool:
        """Whether torch has no kernel either for such keys, on the backend of the tensors: none
        but the backend's fallback."""
        backends = intersection(keys, _BACKENDS)
        if not backends:
            return False
        key, kernel = self.entry.table.lookup(backends)
        return kernel is MISSING or kernel is DISPATCHER.fallback(key)

    def is_untouched(self, keys: int) -> bool:
        """Whether calls with these keys, on the backend of the tensors, end at what torch has
        there: nobody has put another kernel in its place."""
        known = self._untouched.get(keys)
        if known is None:
            version, backends = DISPATCHER.version, intersection(keys, _BACKENDS)
            kernel = self.entry.table.lookup(backends)[1]
            known = kernel.is_native or (kernel.function is None and kernel is not MISSING)
            DISPATCHER.remember(self.canonical, version, self._untouched, keys, known)
        return known

    def find_below(self, found: dict[int, Way], keyset: int, way: Callable[[Target], Way]) -> Way:
        """How to run a call at the highest key of a keyset; ``found`` keeps it."""
        version = DISPATCHER.version
        made = way(at_highest(self.entry, keyset, self.full_name))
        DISPATCHER.remember(self.canonical, version, found, keyset, made)
        return made

    def route_of(self, target: Target) -> Route:
        """How a user's call runs at a target, while nobody observes."""
        found = python_route(target.kernel, self)
        if found is None and self._is_fallback(target):
            found = route_for(self, target.keyset, FALLBACKS.get(target.key))
        return found or (self.run_of(target), None, None)

    def run_of(self, target: Target) -> Run:
        """What runs a call at a target, while nobody observes."""
        kernel = target.kernel
        if kernel.is_native:
            assert kernel.function is not None
            if not kernel.with_keyset:
                return kernel.function
            return made_for(self, target.keyset, kernel.function) or partial(
                kernel.function, self, target.keyset
            )
        made: Run | None
        if kernel.function is not None:
            made = python_run(kernel, self)
        else:
            fallback = FALLBACKS.get(target.key) if self._is_fallback(target) else None
            made = made_for(self, target.keyset, fallback)
        return made or (lambda *stack: Call(self, stack)._run_kernel(target))

    def _is_fallback(self, target: Target) -> bool:
        return target.kernel is self.entry.fallback_at(target.key)

    def long_way(self, *stack: Any) -> Any:
        return Call(self, stack).run_observed()

    def call(self, stack: Stack) -> Call:
        """The call with these values, yet to be run."""
        return Call(self, stack)

    @staticmethod
    def keys_of(value: Any, none: int) -> int:
        """The keys of one argument whose keys count; ``none`` are those of None."""
        mask = 0
        for each in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(each, Tensor):
                mask |= each._keys
            else:
                mask |= none if each is None else _keys_of_number()
        return mask

    @cached_property
    def dispatch_arguments(self) -> tuple[tuple[int, int], ...]:
        """The positions of the arguments whose keys count, and the keys of None there."""
        return _dispatch_arguments(self.schema)

    @property
    def entry(self) -> OperatorEntry:
        """NotImplementedError for an operator that the dispatcher does not know."""
        entry = DISPATCHER.find(self.canonical)
        if entry is None:
            raise NotImplementedError(f"mindtorch_v2 does not run {self.full_name} yet")
        return entry

    @cached_property
    def full_name(self) -> str:
        """``aten::add.Tensor``, as the user typed it."""
        return _joined(self.name, self.overload_name)

    @cached_property
    def canonical(self) -> str:
        return _joined(self._text.name, self.overload_name)

    @property
    def tags(self) -> Sequence[str]:
        """Names of tags; a tuple where torch's Python has set them, else a list."""
        known = profile.active().schemas["tags"]
        if self.canonical in known:
            tags: Sequence[str] = known[self.canonical]
        else:
            defined = DISPATCHER.find_schema(self.canonical) if self.in_dispatcher else None
            tags = defined.schema.tags if defined is not None and defined.schema else ()
        return tuple(tags) if self.canonical in _TAGS_AS_TUPLES else list(tags)

    @property
    def registered_tags(self) -> list[str]:
        """Those that C++ has, whatever Python has set."""
        return list(_REGISTERED_TAGS.get(self.canonical, self.tags))


class DefinedOperator(Operator):
    """One that has been defined since the start: it may be defined no more, or anew.

    Its schema is what it was last defined with.  torch keeps a pointer to the entry, and reads
    freed memory once the last kernel and definition are gone; here the name finds another entry.
    """

    _unboxed: Unboxed | None = None

    def __init__(self, entry: OperatorEntry, text: OperatorText, name: str) -> None:
        super().__init__(text, name)
        self._entry = entry
        self._bound: tuple[AnnotatedSchema, OpSchema] | None = None

    @property
    def entry(self) -> OperatorEntry:
        return DISPATCHER.find(self.canonical) or self._entry

    @property
    def binder(self) -> OpSchema:
        """RuntimeError while the operator is not defined."""
        annotated = self.entry.defined_schema
        if self._bound is None or self._bound[0] is not annotated:
            schema = replace(annotated.schema, name=self.name)
            numbers = takes_numbers(self._text.name)
            self._bound = annotated, OpSchema(schema, numbers_as_tensors=numbers)
        return self._bound[1]

    @property
    def dispatch_arguments(self) -> tuple[tuple[int, int], ...]:
        return _dispatch_arguments(self.schema)

    @property
    def optional_tensors(self) -> frozenset[int]:
        return _optional_tensors(self.schema)

    @property
    def unboxed(self) -> Unboxed:
        """RuntimeError while the operator is not defined."""
        binder = self.binder
        if self._unboxed is None or self._unboxed.schema is not binder:
            self._unboxed = Unboxed(self, binder, dict(self.dispatch_arguments))
        return self._unboxed

    @property
    def tags(self) -> Sequence[str]:
        return list(self.entry.defined_schema.tags)

    @property
    def registered_tags(self) -> list[str]:
        return list(self.entry.defined_schema.tags)


_CALLS_BEFORE_COMPILING: Final = 8
"""Most programs call most operators a few times only."""
_BACKENDS: Final = full_after(DispatchKey.BackendSelect)


class Call(NamedTuple):
    """An operator and a value for each of its arguments."""

    operator: Operator
    stack: Stack

    def run(self) -> Any:
        """What the kernel answers that the arguments and the thread's masks lead to.

        NotImplementedError in torch's words where there is none, and in ours for a kernel that
        torch has and this package has not.
        """
        if not OBSERVERS.count and self.operator.is_worth_compiling():
            return self.operator.unboxed.call(*self.stack)
        return self.run_observed()

    def run_observed(self) -> Any:
        """The same step by step, for who wants to see it."""
        if is_stopping():
            raise Stopped(self)
        if not self.operator.in_dispatcher:
            return self._interpreted()
        entry = self.operator.entry
        return self.run_at(resolve(entry, self.keys(), self.operator.full_name))

    def _interpreted(self) -> Any:
        """What an operator does that torch has for its interpreter alone: nothing dispatches."""
        name = self.operator.canonical
        function = native.find(name, DispatchKey.CompositeImplicitAutograd).function
        if function is None:
            # They are many, and whoever calls none of them need not wait for them.
            types = tuple(str(each.type) for each in self.operator.schema.arguments)
            function = import_module("mindtorch_v2.kernels.interpreter").find(name, types)
        if function is None:
            raise NotImplementedError(f"mindtorch_v2 does not run {self.operator.full_name} yet")
        return function(*self.stack)

    def redispatch(self, keyset: int) -> Any:
        """The kernel at the highest key of a keyset, and no other: nothing is passed over."""
        if not OBSERVERS.count:
            return self.operator.unboxed.below(keyset)(*self.stack)
        if is_stopping():
            raise Stopped(self)
        entry = self.operator.entry
        target = at_highest(entry, keyset, self.operator.full_name)
        return self.run_at(target, redispatched=True)

    def run_at_key(self, key: int) -> Any:
        """The kernel registered for exactly this key, or the key's fallback."""
        if is_stopping():
            raise Stopped(self)
        entry = self.operator.entry
        target = at_key(entry, key, self.keys())
        if target is None:
            raise NotImplementedError(
                f"{self.operator.full_name} has no kernel at {key_name(key)}, and PyTorch would "
                "read a null pointer"
            )
        return self.run_at(target)

    def keys(self) -> int:
        """The keys of all tensors among the arguments that are declared as tensors."""
        mask = 0
        for position, none in self.operator.dispatch_arguments:
            mask |= Operator.keys_of(self.stack[position], none)
        return mask

    def run_at(self, target: Target, *, redispatched: bool = False) -> Any:
        """What the target's kernel answers; ``redispatched`` is for a trace to say."""
        if trace.is_tracing():
            name = self.operator.canonical
            return trace.traced(name, target, redispatched, lambda: self._run_kernel(target))
        return self._run_kernel(target)

    def _run_kernel(self, target: Target) -> Any:
        kernel = target.kernel
        if kernel.is_native:
            assert kernel.function is not None
            if kernel.with_keyset:
                return kernel.function(self.operator, target.keyset, *self.stack)
            return kernel.function(*self.stack)
        if kernel.function is not None:
            return call_python(kernel, target.keyset, self)
        fallback = FALLBACKS.get(target.key)
        if fallback is not None and self.operator._is_fallback(target):
            return fallback(self, target.keyset)
        raise NotImplementedError(
            f"mindtorch_v2 has no kernel for {self.operator.full_name} at "
            f"{key_name(target.key)} yet"
        )

    def has_kernel(self) -> bool:
        """Whether this package computes the call, on the backend of its tensors."""
        keys = self.keys()
        known = self.operator.computed.get(keys)
        return self.operator.find_computed(keys) if known is None else known

    def is_missing(self) -> bool:
        """Whether nobody computes the call: to run it raises."""
        return self.operator.is_missing(self.keys())

    def python_arguments(self) -> tuple[Stack, dict[str, Any]]:
        """What a kernel written in Python is called with."""
        return self.operator.unboxed.python_arguments(self.stack)


class Packet:
    """All overloads of a name, in the order in which a call tries them."""

    def __init__(self, name: str, operators: Sequence[Operator]) -> None:
        self.name = name
        self.overloads = {operator.overload_name: operator for operator in operators}

    def bind(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Call:
        """The call of the first overload that takes these arguments.

        RuntimeError with every overload's reason if none does; of a single overload, its own.
        """
        try:
            return self.match(args, kwargs)
        except ReferenceCastError:
            raise messages.not_called(self.name.partition("::")[2], args, kwargs) from None

    def match(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Call:
        """The same for other functions than the packet: ReferenceCastError comes through."""
        reasons = []
        for operator in self.overloads.values():
            try:
                return Call(operator, operator.binder.match(args, kwargs))
            except SchemaMatchError as error:
                reasons.append(error.args)  # the error keeps this frame, and what it holds
        if len(reasons) == 1:
            raise RuntimeError(text_of(reasons[0], {}))
        raise messages.no_overload(reasons)


def _joined(name: str, overload_name: str) -> str:
    return f"{name}.{overload_name}" if overload_name else name


def _keys_of_number() -> int:
    """The same in the mode that the thread is in."""
    return _NUMBER_IN_INFERENCE_MODE if tls.is_inference_mode_enabled() else KEYS_OF_NUMBER


def _dispatch_arguments(schema: FunctionSchema) -> tuple[tuple[int, int], ...]:
    """Tensors and lists of them count, perhaps optional ones
    (``DispatchKeyExtractor::makeBitsetForDispatchArgs``)."""
    return tuple(
        (position, _DISPATCH_TYPES[str(argument.type)])
        for position, argument in enumerate(schema.arguments)
        if str(argument.type) in _DISPATCH_TYPES
    )


def _optional_tensors(schema: FunctionSchema) -> frozenset[int]:
    arguments = enumerate(schema.arguments)
    return frozenset(place for place, each in arguments if str(each.type) == "Optional[Tensor]")


def takes_numbers(name: str) -> bool:
    """``opAllowsNumbersAsTensors``: whether numbers pass for tensors, by the name alone."""
    return name.startswith("prims::") or name in _NUMBERS_AS_TENSORS


def find_packet(name: str) -> Packet | None:
    """The operators of a qualified name or alias; RuntimeError for a name without namespace."""
    check_qualified(name)
    canonical = registry.resolve(name)
    known = _packet(name, canonical)
    defined = DISPATCHER.defined(canonical)
    if not defined:
        return known
    operators = [_defined_operator(entry, name, canonical) for entry in defined]
    return Packet(name, (*_in_dispatcher(known, True), *operators, *_in_dispatcher(known, False)))


@cache
def _packet(name: str, canonical: str) -> Packet | None:
    operators = [Operator(text, name) for text in in_call_order(canonical)]
    return Packet(name, operators) if operators else None


def _in_dispatcher(packet: Packet | None, whether: bool) -> list[Operator]:
    operators = packet.overloads.values() if packet is not None else ()
    return [operator for operator in operators if operator.in_dispatcher is whether]


def _defined_operator(entry: OperatorEntry, name: str, canonical: str) -> DefinedOperator:
    overload_name = entry.name.removeprefix(canonical).lstrip(".")
    text = OperatorText(canonical, overload_name, entry.defined_schema.text, in_dispatcher=True)
    return DefinedOperator(entry, text, name)


def find_operator(name: str, overload_name: str) -> Operator | None:
    packet = find_packet(name)
    return None if packet is None else packet.overloads.get(overload_name)
