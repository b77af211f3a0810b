"""Every function and method that torch binds, made from the profile's signatures.

One mechanism for all: an :class:`~mindtorch_v2.binding.python.parser.ArgParser` made at the first
call, then the operator that :mod:`~mindtorch_v2.binding.python.calls` finds.  What torch writes by
hand is in :mod:`~mindtorch_v2.binding.python.by_hand`, and the few rules that go by a function's
name are in :mod:`~mindtorch_v2.binding.python.exceptions`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache, cached_property, partial
from typing import Any, Final

from mindtorch_v2 import profile, return_types
from mindtorch_v2.binding.operators import Call, Operator
from mindtorch_v2.binding.python import by_hand, checks, exceptions, manual
from mindtorch_v2.binding.python.calls import call_of, operator_named
from mindtorch_v2.binding.python.factories import new_variable
from mindtorch_v2.binding.python.function import (
    Entry,
    Implementation,
    builtin_function_or_method,
    method,
    not_implemented_on_type_error,
    with_one_argument,
    wrapper_descriptor,
)
from mindtorch_v2.binding.python.parser import ArgParser, Parsed
from mindtorch_v2.binding.python.recalled import Factory
from mindtorch_v2.binding.python.seen import is_read_at_once, operators_are_seen
from mindtorch_v2.binding.python.unpack import unpack
from mindtorch_v2.binding.python.usual import Form, Known, Lines, form_of, lines_of, usual_function
from mindtorch_v2.binding.values import to_python
from mindtorch_v2.call_site import hands_over_keywords, is_called_by_cpp
from mindtorch_v2.profile.sections import Function, ManualBinding
from mindtorch_v2.pybind.cast import PybindTypeError
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.torch_function import handle_torch_function, is_mode_enabled
from mindtorch_v2.warn import warn_once, warning_handler

_SIGNATURES: Final = profile.active().signatures

_METHODS: Final = "torch.Tensor"
_PACKAGE: Final = __name__.rpartition(".")[0]


class _Binding(Entry):
    """A parser with what a call that it takes does.

    ``written`` is what runs instead of an operator without a kernel: the function of the same name
    that this package has by hand.  ``owner`` finds the function that the user called.  ``is_asked``
    says whether anything may override the call, and ``is_noargs`` that the C function has no
    parser: of a method it then asks the receiver.
    """

    _passed_on: Entry | None = None
    """Takes the calls that the runner leaves to it."""
    _name = ""
    """What the function is called if its signatures say otherwise."""
    _calls_operators = False
    """Whether each signature has an operator of its own."""
    _lines: tuple[Lines, ...] = ()
    """Of the forms of calls that go without the parser."""

    def __init__(
        self, written: Implementation | None, owner: str, *, is_asked: bool, is_noargs: bool = False
    ) -> None:
        super().__init__(self._called)
        self._written = written
        self._owner = owner
        self._is_asked = is_asked
        self._is_noargs = is_noargs

    def _read_signatures(self) -> Iterable[str]:
        raise NotImplementedError

    def _run(self, receiver: Any, parsed: Parsed, call: Call | None) -> Any:
        """The answer; ``call`` is that of :meth:`_call_of`, if it was asked for."""
        raise NotImplementedError

    def _call_of(self, receiver: Any, parsed: Parsed) -> Call | None:
        """The call of the operator, if that is known."""
        return None

    def _operator_of(self, parsed: Parsed) -> Operator | None:
        """The operator whose answer is all that comes of a parsed call, if there is one."""
        return None

    def _makes_variables(self, parsed: Parsed, operator: Operator) -> bool:
        """Whether a function of C++ makes a variable of what the operator answers."""
        return False

    # There are more bindings than any program calls, so the rest is made at the first call.

    @cached_property
    def _parser(self) -> ArgParser:
        return ArgParser(tuple(self._read_signatures()))

    @cached_property
    def _counts(self) -> dict[Form, int]:
        """How often forms of calls have come."""
        return {}

    def _called(self, receiver: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        parsed = self._parser.parse(receiver, args, kwargs)
        if parsed.warning is None and not parsed.overloaded:
            return self._parsed(parsed, receiver, args, kwargs)
        with warning_handler():
            if parsed.warning is not None:
                warn_once("check_deprecated", parsed.warning)
            return self._parsed(parsed, receiver, args, kwargs)

    def _parsed(
        self, parsed: Parsed, receiver: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        if self._is_asked and (parsed.overloaded or is_mode_enabled()) and not is_called_by_cpp():
            return self._overridden(parsed, receiver, args, kwargs)
        call = None
        if self._written is not None and not operators_are_seen((receiver, *parsed.values)):
            call = self._call_of(receiver, parsed)
            if call is None:
                is_own = not parsed.signature.takes_name
            else:
                is_own = not (call.has_kernel() or call.is_missing())
            if is_own:
                for place in parsed.signature.integers:  # C++ refuses those of more than 64 bits
                    unpack(parsed.signature, place, parsed.values[place])
                return self._written(receiver, args, kwargs)
        if self._calls_operators:
            self._note_form(parsed, receiver, args, kwargs)
        try:
            answer = self._run(receiver, parsed, call)
        except PybindTypeError as error:
            raise RuntimeError(str(error)) from None
        if answer is manual.PASSED_ON and self._passed_on is not None:
            return self._passed_on.front(receiver, args, kwargs)
        return answer

    def _note_form(
        self, parsed: Parsed, receiver: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        """Have usual calls of this form go without the parser, once it is worth it."""
        if not self.is_shown:
            return
        form = form_of(args, kwargs)
        count = self._counts[form] = self._counts.get(form, 0) + 1
        if count != _CALLS_BEFORE_COMPILING or len(self._lines) == _MOST_FORMS or parsed.overloaded:
            return
        operator = self._operator_of(parsed)
        if operator is None:
            return
        known = Known(
            operator,
            wrapped=partial(_wrapped, operator),
            new=Factory(operator) if self._makes_variables(parsed, operator) else None,
            keys=_keys_of((receiver, *args, *kwargs.values())),
            computed=None if self._written is None else operator.computed,
            is_forgiving=self.is_forgiving,
        )
        lines = lines_of(form, self._parser.tried(parsed), receiver, known, len(self._lines))
        if lines is not None:
            self._lines = (lines, *self._lines)
            has_receiver = receiver is not None
            usual = usual_function(self._lines, self.otherwise, has_receiver=has_receiver)
            self.take_before(usual)

    def _overridden(
        self, parsed: Parsed, receiver: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        name = parsed.signature.name
        if receiver is not None:
            args = (receiver, *args)
            function = getattr(Tensor, name)
        else:
            name = name if name in FUNCTIONS[self._owner] else self._name
            function = FUNCTIONS[self._owner][name]
        shown = f"{self._owner.replace('torch._C._', 'torch.')}.{name}"
        handed_over = not self._is_noargs and (kwargs or hands_over_keywords(_PACKAGE))
        keywords = kwargs if handed_over else None
        asks_receiver = self._is_noargs and receiver is not None
        overloaded = [receiver] if asks_receiver else parsed.overloaded
        return handle_torch_function(function, shown, overloaded, args, keywords)


_CALLS_BEFORE_COMPILING: Final = 8
_MOST_FORMS: Final = 12

FUNCTIONS: Final[dict[str, dict[str, builtin_function_or_method]]] = {}
"""Every bound function, by the module that messages name and its own name."""


class _Generated(_Binding):
    """A binding that torch's code generator writes: its overloads name their operators."""

    _calls_operators = True

    def __init__(self, facts: Function, written: Implementation | None, owner: str) -> None:
        is_noargs = facts["noargs"]
        # a function without arguments has nobody to ask
        is_asked = owner == _METHODS or not is_noargs
        super().__init__(written, owner, is_asked=is_asked, is_noargs=is_noargs)
        self._overloads = facts["overloads"]

    def _read_signatures(self) -> Iterable[str]:
        return (each["signature"] for each in self._overloads)

    def _asks_for_gradients(self, parsed: Parsed) -> bool:
        return "requires_grad=" in self._overloads[parsed.chosen]["signature"]

    def _call_of(self, receiver: Any, parsed: Parsed) -> Call | None:
        overload = self._overloads[parsed.chosen]
        return None if overload.get("direct") else call_of(overload, parsed, receiver)

    def _run(self, receiver: Any, parsed: Parsed, call: Call | None) -> Any:
        overload = self._overloads[parsed.chosen]
        if overload.get("direct"):
            return manual.run_directly(receiver, parsed)
        if call is None:
            call = call_of(overload, parsed, receiver)
        asks_for_gradients = self._asks_for_gradients(parsed)
        if self._makes_variables(parsed, call.operator):
            answer = _wrapped(call.operator, new_variable(call))
        else:
            answer = _wrapped(call.operator, call.run())
        if answer is None and _changes_a_list(call.operator):
            return parsed.values[0]
        if asks_for_gradients and answer is not None:
            requires_grad = manual.value(parsed, "requires_grad")
            if requires_grad:  # a new tensor does not, and one that waits need not be asked
                answer._set_requires_grad(requires_grad)
        return answer

    def _operator_of(self, parsed: Parsed) -> Operator | None:
        overload = self._overloads[parsed.chosen]
        if overload.get("direct") or overload.get("deprecated"):
            return None
        operator = operator_named(overload["base"])
        return operator if operator.in_dispatcher and not _changes_a_list(operator) else None

    def _makes_variables(self, parsed: Parsed, operator: Operator) -> bool:
        is_factory = self._owner != _METHODS and self._asks_for_gradients(parsed)
        return is_factory and not _writes(operator)


class _ByHand(_Binding):
    """A binding written by hand, with a parser."""

    def __init__(
        self,
        signatures: Iterable[str],
        run: Callable[[Any, Parsed], Any],
        written: Implementation | None,
        owner: str,
        *,
        is_asked: bool,
        passed_on: Entry | None,
        name: str,
    ) -> None:
        super().__init__(written, owner, is_asked=is_asked)
        self._signatures = signatures
        self._runner = run
        self._passed_on = passed_on
        self._name = name

    def _read_signatures(self) -> Iterable[str]:
        return self._signatures

    def _run(self, receiver: Any, parsed: Parsed, call: Call | None) -> Any:
        return self._runner(receiver, parsed)


def _keys_of(values: Iterable[Any]) -> int:
    """Those of the tensors; their very number if they have one, which calls find sooner."""
    keys = 0
    for each in values:
        if isinstance(each, Tensor) and each._keys is not keys:
            keys = keys | each._keys if keys else each._keys
    return keys


@cache
def _changes_a_list(operator: Operator) -> bool:
    """Whether it changes the tensors of a list, which Python gets back of these operators alone."""
    if not operator.schema.arguments or not operator.full_name.startswith("aten::_foreach_"):
        return False
    first = operator.schema.arguments[0]
    return first.is_write and str(first.type) == "List[Tensor]" and not first.is_out


def _writes(operator: Operator) -> bool:
    """Whether a factory was given ``out``, whose version counts the change."""
    return any(argument.is_out for argument in operator.schema.arguments)


def _wrapped(operator: Operator, answer: Any) -> Any:
    """``wrap``: C++ makes tuples of lists, alone or among others, tuples with names of what has
    these, and of the number of a dtype the dtype."""
    if isinstance(answer, list):
        return tuple(answer)
    if type(answer) is int:
        return to_python(operator.schema.returns[0], answer)
    if not isinstance(answer, tuple):
        return answer
    parts = tuple(tuple(each) if type(each) is list else each for each in answer)
    return return_types.wrap(operator, parts)


def functions_of(module: str, written: Mapping[str, Any]) -> dict[str, builtin_function_or_method]:
    """The functions of a Python module of torch (``torch``, ``nn``, ``fft`` …) by name."""
    owner = "torch" if module == "torch" else f"torch._C._{module}"
    made: dict[str, builtin_function_or_method] = {}
    for name, facts in _SIGNATURES["modules"][module].items():
        call: Implementation = _Generated(facts, _as_written(written.get(name)), owner)
        if facts["noargs"]:
            call = _ignoring_arguments(call)
        if exceptions.is_operator_of_python(name):
            call = not_implemented_on_type_error(call)
        made[name] = builtin_function_or_method(name, call, owner)
    if module == "torch":
        for name, signatures in _SIGNATURES["compiled"].items():
            own = _as_written(written.get(name))
            call = _parsing(name, signatures, own, owner)
            made[name] = builtin_function_or_method(name, call, owner)
        for name, other in _SIGNATURES["renamed"].items():
            made[name] = builtin_function_or_method(name, made[other].call, owner)
    for name, binding in _SIGNATURES["manual"].get(module, {}).items():
        own = _as_written(written.get(name))
        made[name] = _function_by_hand(name, binding, own, owner)
    for name, function in made.items():
        if exceptions.has_no_module(name):
            function.__module__ = None
    FUNCTIONS[owner] = made
    return made


def _function_by_hand(
    name: str, binding: ManualBinding, own: Implementation | None, owner: str
) -> builtin_function_or_method:
    call: Implementation
    if binding["signatures"]:
        call = _parsing(binding["function"], binding["signatures"], own, owner)
    else:
        bound = by_hand.WITHOUT_PARSER.get(binding["function"])
        call = _chosen(bound, own) or _nothing_unparsed(name)
    if "METH_O" in binding["flags"]:
        call = with_one_argument(f"torch._VariableFunctionsClass.{name}", call)
    return builtin_function_or_method(name, call, owner)


def _parsing(
    function: str,
    signatures: Iterable[str],
    own: Implementation | None,
    owner: str,
    passed_on: Entry | None = None,
) -> Implementation:
    """A binding written by hand, with a parser."""
    run = by_hand.RUNNERS.get(function, _nothing_by_hand(function))
    is_asked = function not in exceptions.UNASKED
    call: Implementation = _ByHand(
        signatures, run, own, owner, is_asked=is_asked, passed_on=passed_on, name=function
    )
    return _asking(function, call) if function in exceptions.ASKED_FIRST else call


def _asking(function: str, call: Implementation) -> Implementation:
    """A method that looks first whether its receiver overrides it.

    Of several names that a C function is bound to, it shows its own, or else the first.  A slot of
    Python's (``__index__``) is reached through Python, whoever asks.
    """
    names = sorted(
        name
        for name, binding in _SIGNATURES["manual"]["Tensor"].items()
        if binding["function"] == function
    )
    name = function if function in names else names[0]
    is_slot = name.startswith("__")

    def run(receiver: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        is_asked = checks.is_asked(receiver) if is_slot else checks.is_overridden(receiver)
        if not is_asked:
            return call(receiver, args, kwargs)
        method = getattr(Tensor, name)
        handed_over = kwargs or (function == "new" and hands_over_keywords(_PACKAGE))
        keywords = kwargs if handed_over else None
        args = (receiver, *args)
        return handle_torch_function(method, f"{_METHODS}.{name}", [receiver], args, keywords)

    return run


def _chosen(bound: Implementation | None, own: Implementation | None) -> Implementation | None:
    """What calls operators, if somebody sees them or reads elements with a kernel of his own; else
    what was written in their place."""
    if bound is None or own is None:
        return bound or own

    def call(receiver: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        is_seen = operators_are_seen((receiver, *args)) or not is_read_at_once(receiver)
        return (bound if is_seen else own)(receiver, args, kwargs)

    return call


def _unasked_of_plain_tensors(call: Implementation, chosen: Implementation) -> Entry:
    """Calls that nobody observes, of a plain tensor, which overrides nothing, need no asking."""
    entry = Entry.of(call)
    entry.reads = lambda receiver: chosen(receiver, (), {})
    return entry


def _reading_at_once(name: str, call: Implementation, written: Any) -> Implementation:
    """A method that only reads what a tensor has goes to what was written, without the parser, in
    calls that nobody observes, with nothing but a plain tensor."""
    if name not in manual.READ_AT_ONCE:
        return call
    entry = Entry.of(call)
    entry.reads = written
    return entry


def _ignoring_arguments(call: Implementation) -> Implementation:
    """A function without parameters has no parser that would refuse what it is given."""
    return lambda receiver, args, kwargs: call(receiver, (), {})


def methods(written: Mapping[str, Any]) -> dict[str, Any]:
    """The methods of tensors by name."""
    generated = _SIGNATURES["modules"]["Tensor"]
    made = {}
    for name, facts in generated.items():
        call: Implementation = _Generated(facts, _as_written_method(written.get(name)), _METHODS)
        call = _reading_at_once(name, call, written.get(name))
        if exceptions.is_operator_of_python(name):
            call = not_implemented_on_type_error(call)
        flags = "METH_NOARGS" if facts["noargs"] else ""
        made[name] = method(name, call, flags=flags)
    for name, binding in _SIGNATURES["manual"]["Tensor"].items():
        own_method = _method_by_hand(name, binding, written.get(name))
        if own_method is not None:
            made[name] = own_method
    for name, (slot, count) in by_hand.SLOTS.items():
        made[name] = wrapper_descriptor(name, slot, count)
    return made


def _method_by_hand(name: str, binding: ManualBinding, written: Any) -> Any:
    function = binding["function"]
    own = _as_written_method(written)
    generated = _SIGNATURES["modules"]["Tensor"]
    call: Implementation
    passed_on = None
    if binding["signatures"]:
        bare = generated.get(function.strip("_"))
        passed_on = None if bare is None else _Generated(bare, None, _METHODS)
        call = _parsing(function, binding["signatures"], own, _METHODS, passed_on)
        if "METH_STATIC" in binding["flags"]:
            return staticmethod(builtin_function_or_method(name, call, None))
    elif function in generated:
        call = _Generated(generated[function], own, _METHODS)
    else:
        chosen = _chosen(by_hand.WITHOUT_PARSER.get(function), own)
        if chosen is None:
            return None
        call = chosen if function in exceptions.SILENT else _asking(function, chosen)
        if binding["flags"] == "METH_NOARGS" and not binding["not_implemented"]:
            call = _unasked_of_plain_tensors(call, chosen)
    call = _reading_at_once(name, call, written)
    if binding["not_implemented"]:
        call = not_implemented_on_type_error(call)
    made = method(name, call, flags=binding["flags"])
    if passed_on is not None:  # whose forms the types tell: usual calls go there at once
        passed_on.is_forgiving = binding["not_implemented"]
        passed_on.show(made)
    return made


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
