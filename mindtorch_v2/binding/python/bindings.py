"""Every function and method that torch binds, made from the profile's signatures.

One mechanism for all: an :class:`~mindtorch_v2.binding.python.parser.ArgParser` made at the first
call, then the operator that :mod:`~mindtorch_v2.binding.python.calls` finds.  What torch writes by
hand is in :mod:`~mindtorch_v2.binding.python.manual`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

from mindtorch_v2 import profile
from mindtorch_v2.binding.python import (
    accessors,
    constructors,
    indexing,
    legacy,
    manual,
    sparse,
    subclasses,
)
from mindtorch_v2.binding.python.calls import call_of
from mindtorch_v2.binding.python.function import (
    Implementation,
    builtin_function_or_method,
    method,
    not_implemented_on_type_error,
    slot_wrapper,
    with_one_argument,
)
from mindtorch_v2.binding.python.parser import ArgParser, Parsed
from mindtorch_v2.binding.stop import is_stopping
from mindtorch_v2.dispatch import native
from mindtorch_v2.profile.sections import Function, ManualBinding
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.torch_function import handle_torch_function
from mindtorch_v2.warn import warn_once

_SIGNATURES: Final = profile.active().signatures

_METHODS: Final = "torch.Tensor"

_BY_HAND: Final = (manual, constructors, legacy, accessors, sparse, subclasses)
_RUNNERS: Final[dict[str, manual.Runner]] = {
    name: run for module in _BY_HAND for name, run in module.RUNNERS.items()
}
_WITHOUT_PARSER: Final[dict[str, Implementation]] = {
    **constructors.WITHOUT_PARSER,
    **legacy.WITHOUT_PARSER,
    **accessors.WITHOUT_PARSER,
    **subclasses.WITHOUT_PARSER,
}


class _Binding:
    """A parser with what a call that it takes does.

    ``written`` is what runs instead of an operator without a kernel: the function of the same name
    that this package has by hand.  ``operators`` are those that the signatures call, if they are
    known; ``owner`` finds the function that the user called.
    """

    def __init__(
        self,
        signatures: Iterable[str],
        run: Callable[[Any, Parsed], Any],
        written: Implementation | None,
        owner: str,
        operators: Sequence[str] = (),
    ) -> None:
        self._signatures = tuple(signatures)
        self._run = run
        self._written = written
        self._owner = owner
        self._operators = operators

    @cached_property
    def _parser(self) -> ArgParser:
        return ArgParser(self._signatures)

    def __call__(self, receiver: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        parsed = self._parser.parse(receiver, args, kwargs)
        if parsed.warning is None:
            return self._parsed(parsed, receiver, args, kwargs)
        try:
            return self._parsed(parsed, receiver, args, kwargs)
        finally:
            warn_once("check_deprecated", parsed.warning)

    def _parsed(
        self, parsed: Parsed, receiver: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        if parsed.overloaded:
            return self._overridden(parsed, receiver, args, kwargs)
        if self._written is not None and not is_stopping() and not self._has_kernel(parsed):
            return self._written(receiver, args, kwargs)
        return self._run(receiver, parsed)

    def _has_kernel(self, parsed: Parsed) -> bool:
        return bool(self._operators) and native.has_kernel(self._operators[parsed.chosen])

    def _overridden(
        self, parsed: Parsed, receiver: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        name = parsed.signature.name
        if receiver is not None:
            args = (receiver, *args)
        function = getattr(Tensor, name) if receiver is not None else FUNCTIONS[self._owner][name]
        return handle_torch_function(
            function, f"{self._owner}.{name}", parsed.overloaded, args, kwargs
        )


FUNCTIONS: Final[dict[str, dict[str, builtin_function_or_method]]] = {}
"""Every bound function, by the module that messages name and its own name."""


def _generated(facts: Function, written: Implementation | None, owner: str) -> _Binding:
    """A binding that torch's code generator writes: its overloads name their operators."""
    overloads = facts["overloads"]

    def run(receiver: Any, parsed: Parsed) -> Any:
        overload = overloads[parsed.chosen]
        if overload.get("direct"):
            return manual.run_directly(receiver, parsed)
        return _wrapped(call_of(overload, parsed, receiver).run(), parsed)

    signatures = (each["signature"] for each in overloads)
    return _Binding(signatures, run, written, owner, [each["base"] for each in overloads])


def _wrapped(answer: Any, parsed: Parsed) -> Any:
    """What Python is given: lists as tuples, new tensors with the flag that was asked for."""
    names = [parameter.name for parameter in parsed.signature.parameters]
    if isinstance(answer, Tensor) and "requires_grad" in names:
        answer._set_requires_grad(manual.value(parsed, "requires_grad"))
    return tuple(answer) if isinstance(answer, list) else answer


def functions_of(module: str, written: Mapping[str, Any]) -> dict[str, builtin_function_or_method]:
    """The functions of a Python module of torch (``torch``, ``nn``, ``fft`` …) by name."""
    owner = "torch" if module == "torch" else f"torch._C._{module}"
    made: dict[str, builtin_function_or_method] = {}
    for name, facts in _SIGNATURES["modules"][module].items():
        call: Implementation = _generated(facts, _as_written(written.get(name)), owner)
        if facts["noargs"]:
            call = _ignoring_arguments(call)
        if name.startswith("__"):
            call = not_implemented_on_type_error(call)
        made[name] = builtin_function_or_method(name, call)
    if module == "torch":
        for name, signatures in _SIGNATURES["compiled"].items():
            run = _RUNNERS.get(name, _nothing_by_hand(name))
            by_hand = _Binding(signatures, run, _as_written(written.get(name)), owner)
            made[name] = builtin_function_or_method(name, by_hand)
        for name, other in _SIGNATURES["renamed"].items():
            made[name] = made[other]
    for name, binding in _SIGNATURES["manual"].get(module, {}).items():
        own = _as_written(written.get(name))
        made[name] = _function_by_hand(name, binding, own, owner)
    FUNCTIONS[owner] = made
    return made


def _function_by_hand(
    name: str, binding: ManualBinding, own: Implementation | None, owner: str
) -> builtin_function_or_method:
    call: Implementation
    if binding["signatures"]:
        run = _RUNNERS.get(binding["function"], _nothing_by_hand(name))
        call = _Binding(binding["signatures"], run, own, owner)
    else:
        call = _chosen(_WITHOUT_PARSER.get(binding["function"]), own) or _nothing_unparsed(name)
    if "METH_O" in binding["flags"]:
        call = with_one_argument(f"torch._VariableFunctionsClass.{name}", call)
    return builtin_function_or_method(name, call)


def _chosen(bound: Implementation | None, own: Implementation | None) -> Implementation | None:
    """What calls operators, or while they have no kernels, what was written in their place."""
    if bound is None or own is None:
        return bound or own
    return lambda *call: (bound if is_stopping() else own)(*call)


def _ignoring_arguments(call: Implementation) -> Implementation:
    """A function without parameters has no parser that would refuse what it is given."""
    return lambda receiver, args, kwargs: call(receiver, (), {})


def methods(written: Mapping[str, Any]) -> dict[str, Any]:
    """The methods of tensors by name."""
    generated = _SIGNATURES["modules"]["Tensor"]
    made = {}
    for name, facts in generated.items():
        call: Implementation = _generated(facts, _as_written_method(written.get(name)), _METHODS)
        if name.startswith("__"):
            call = not_implemented_on_type_error(call)
        flags = "METH_NOARGS" if facts["noargs"] else ""
        made[name] = method(name, call, flags=flags)
    for name, binding in _SIGNATURES["manual"]["Tensor"].items():
        by_hand = _method_by_hand(name, binding, written.get(name))
        if by_hand is not None:
            made[name] = by_hand
    for name, (slot, count) in indexing.SLOTS.items():
        chosen = _chosen(slot, _as_written_method(written.get(name))) or slot
        made[name] = slot_wrapper(name, chosen, count)
    return made


def _method_by_hand(name: str, binding: ManualBinding, written: Any) -> Any:
    function = binding["function"]
    own = _as_written_method(written)
    generated = _SIGNATURES["modules"]["Tensor"]
    call: Implementation
    if binding["signatures"]:
        run = _RUNNERS.get(function, _nothing_by_hand(function))
        call = _Binding(binding["signatures"], run, own, _METHODS)
        if "METH_STATIC" in binding["flags"]:
            return staticmethod(builtin_function_or_method(name, call))
    elif function in generated:
        call = _generated(generated[function], own, _METHODS)
    else:
        chosen = _chosen(_WITHOUT_PARSER.get(function), own)
        if chosen is None:
            return None
        call = chosen
    if binding["not_implemented"]:
        call = not_implemented_on_type_error(call)
    return method(name, call, flags=binding["flags"])


def _nothing_by_hand(name: str) -> manual.Runner:
    def run(receiver: Any, parsed: Any) -> Any:
        raise NotImplementedError(f"mindtorch_v2 has no {name} yet")

    return run


def _nothing_unparsed(name: str) -> Implementation:
    def call(receiver: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        raise NotImplementedError(f"mindtorch_v2 has no {name} yet")

    return call


def _as_written(function: Any) -> Implementation | None:
    if function is None:
        return None
    return lambda receiver, args, kwargs: function(*args, **kwargs)


def _as_written_method(function: Any) -> Implementation | None:
    if function is None:
        return None
    return lambda receiver, args, kwargs: function(receiver, *args, **kwargs)
