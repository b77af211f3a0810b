"""Usual calls of a bound function: recognised by the types of their arguments, parsed once.

Whether a signature takes a call, the types of the arguments alone say as long as these are usual:
tensors, plain numbers, torch's constants, lists of integers.  So a call that was parsed leaves
behind lines for all calls of its :data:`Form`, which go from the arguments to the operator with no
parser between.  The lines of all forms are one function, which Python calls with what the user gave
(:class:`~mindtorch_v2.binding.python.function.Entry`).  After ``x.select(0, 1)`` it reads:

    def usual(receiver=ABSENT, _0=ABSENT, _1=ABSENT, /, *args, **kwargs):
        while not args and not kwargs and not observers.count:
            if type(receiver) is not Tensor and not is_usual(receiver): break
            if type(_0) is not type_0_0 or type(_1) is not type_1_0: break
            if not (-(1 << 29) < _0 < 1 << 29 or -(1 << 63) <= _0 < 1 << 63): break
            …
            keys = receiver._keys
            if keys == keys_0 and held_0 and (not watched or is_usual_thread()):
                …  # the lines of a kernel for plain calls
            run = kernels_0.get(keys) if not watched or is_usual_thread() else None
            if run is None: run = call_0
            try: answer = run(receiver, _0, _1)
            except PybindTypeError as error: raise RuntimeError(str(error)) from None
            return answer if type(answer) is Tensor else wrapped_0(answer)
        …  # those of another form
        if _1 is ABSENT: return otherwise(*given(receiver, _0, _1), **kwargs)
        return otherwise(receiver, _0, _1, *args, **kwargs)

What the types do not say (the range of an integer, what a list holds, whether a parameter or a
tensor of another class overrides functions) it checks itself.  Who leaves a loop has done nothing
yet.

The lines of a factory look first for what it has made of the same arguments
(:mod:`~mindtorch_v2.binding.python.recalled`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from mindtorch_v2.binding.convert import enum_value
from mindtorch_v2.binding.operators import KEYS_OF_NUMBER, Operator
from mindtorch_v2.binding.python import parameter as types
from mindtorch_v2.binding.python.checks import has_torch_function
from mindtorch_v2.binding.python.factories import default_device
from mindtorch_v2.binding.python.parameter import INT_LISTS, Parameter, ParameterType
from mindtorch_v2.binding.python.recalled import Factory, state
from mindtorch_v2.binding.python.signature import Signature
from mindtorch_v2.binding.python.unpack import default_value, device_of
from mindtorch_v2.binding.unboxed import PLAIN
from mindtorch_v2.dispatch import native, tls
from mindtorch_v2.dispatch.observers import OBSERVERS
from mindtorch_v2.pybind.cast import PybindTypeError
from mindtorch_v2.tensor.absent_devices import initialized
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.dtype import DType, Layout, memory_format
from mindtorch_v2.tensor.plain import KEYS
from mindtorch_v2.tensor.size import Size
from mindtorch_v2.tensor.tensor import Tensor

Form = tuple[tuple[type, ...], tuple[str, ...], tuple[type, ...]]
"""The types of positional arguments, the keywords, and the types of what is given by keyword."""

_LISTS: Final = (list, tuple, Size)
_NUMBERS: Final = (bool, int, float)
_USUAL: Final = PLAIN | {Tensor, *_LISTS}

_IN_RANGE: Final = "(-(1 << 29) < {0} < 1 << 29 or -(1 << 63) <= {0} < 1 << 63)"
"""Of integers of one digit CPython finds it out several times as fast."""

_CONVERSIONS: Final[Mapping[tuple[ParameterType, type], tuple[str, str]]] = {
    (types.TENSOR, Tensor): ("", "{0}"),
    (types.TENSOR, bool): ("", "{0}"),
    (types.TENSOR, int): (_IN_RANGE, "{0}"),
    (types.TENSOR, float): ("", "{0}"),
    (types.SCALAR, bool): ("", "{0}"),
    (types.SCALAR, int): (_IN_RANGE, "{0}"),
    (types.SCALAR, float): ("", "{0}"),
    (types.SCALAR, complex): ("", "{0}"),
    (types.DOUBLE, float): ("", "{0}"),
    (types.DOUBLE, int): (_IN_RANGE, "float({0})"),
    (types.INT64, int): (_IN_RANGE, "{0}"),
    (types.SYM_INT, int): (_IN_RANGE, "{0}"),
    (types.BOOL, bool): ("", "{0}"),
    (types.SCALARTYPE, DType): ("", "enum_value({0})"),
    (types.LAYOUT, Layout): ("", "enum_value({0})"),
    (types.MEMORY_FORMAT, memory_format): ("", "enum_value({0})"),
    (types.DEVICE, Device): ("", "{0}"),
    (types.DEVICE, str): ("", "device_of({0})"),
    **{
        (wanted, given): ("are_integers({0})", "list({0})")
        for wanted in INT_LISTS
        for given in _LISTS
    },
    **{(types.TENSOR_LIST, given): ("are_tensors({0})", "list({0})") for given in (list, tuple)},
}
"""What a parameter makes of an argument: a condition that it has to meet, and the value."""

_NO_TENSORS: Final = (
    *(types.TENSOR_LIST, types.FLOAT_LIST, types.SCALAR_LIST, types.DIMNAME, types.DIMNAME_LIST),
    *(types.GENERATOR, types.BOOL, types.STORAGE, types.SCALARTYPE, types.LAYOUT, types.QSCHEME),
    *(types.MEMORY_FORMAT, types.DEVICE, types.STRING, types.STREAM, types.DISPATCH_KEY_SET),
)
"""Types of parameters that take no tensor; of numbers it depends on the tensor."""


def form_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Form:
    return tuple(map(type, args)), tuple(kwargs), tuple(map(type, kwargs.values()))


class _Absent:
    """The type of what nobody gave."""


_ABSENT: Final = _Absent()


def _present(*values: Any) -> list[Any]:
    return [value for value in values if value is not _ABSENT]


def is_usual(receiver: Any) -> bool:
    """Whether a receiver is a tensor, or a parameter, whose class overrides nothing."""
    return isinstance(receiver, Tensor) and not has_torch_function(receiver)


def are_integers(value: Sequence[Any]) -> bool:
    """Whether a list holds integers of 64 bits and nothing else, and one at least."""
    for each in value:
        if type(each) is not int or not -(1 << 63) <= each < 1 << 63:
            return False
    return len(value) > 0


def are_tensors(value: Sequence[Any]) -> bool:
    """Whether a list holds tensors whose class overrides nothing, and one at least."""
    for each in value:
        if type(each) is not Tensor:
            return False
    return len(value) > 0


class Untellable(Exception):  # noqa: N818 (no error: such calls are parsed)
    """The form of a call does not say what becomes of it."""


class Lines(NamedTuple):
    """What makes calls of one form: the lines of a loop, and what they name."""

    form: Form
    text: Sequence[str]
    scope: Mapping[str, Any]


@dataclass(frozen=True)
class Known:
    """What a binding knows of the calls of a form, all of which an operator takes.

    ``wrapped`` makes of the operator's answer what Python gets if that is no tensor; ``new`` calls
    an operator of which C++ makes a variable; ``keys`` are those of the latest call;
    ``computed`` says for which keys this package has kernels, where a function by hand takes the
    other calls.  ``is_forgiving`` calls answer NotImplemented in place of a TypeError.
    """

    operator: Operator
    wrapped: Callable[[Any], Any]
    new: Factory | None = None
    keys: int = 0
    computed: Mapping[int, bool] | None = None
    is_forgiving: bool = False


def lines_of(
    form: Form, tried: Sequence[Signature], receiver: Any, known: Known, number: int
) -> Lines | None:
    """Of calls of a form that the last of the signatures which were ``tried`` takes.

    None where the types do not tell, or the signature wants more than this module knows.
    ``number`` is another for each form of a function.
    """
    *before, chosen = tried
    kinds = {Tensor if issubclass(kind, Tensor) else kind for kind in (*form[0], *form[2])}
    if not (receiver is None or is_usual(receiver)) or not kinds <= _USUAL:
        return None
    try:
        for signature in before:
            _check_refused_by_types(signature, form)
        if before and any(each.type is types.TENSOR_LIST for each, _ in _matched(chosen, form)):
            return None  # tensors of integers may stand for a list of these
        scope = _Scope(number)
        return Lines(form, list(_source(form, chosen, receiver is not None, known, scope)), scope)
    except Untellable:
        return None


def usual_function(
    calls: Sequence[Lines], otherwise: Callable[..., Any], *, has_receiver: bool
) -> Callable[..., Any]:
    """Makes calls of several forms, and leaves others to ``otherwise``."""
    most = max(len(each.form[0]) for each in calls)
    listed = [*(["receiver"] if has_receiver else []), *(f"_{place}" for place in range(most))]
    by_position = [*(f"{name}=ABSENT" for name in listed), "/"] if listed else []
    text = [f"def usual({', '.join((*by_position, '*args', '**kwargs'))}):"]
    for each in calls:
        count = len(each.form[0])
        others = "not args" if count == most else f"_{count} is ABSENT"
        keywords = len(each.form[1])
        given = f"len(kwargs) == {keywords}" if keywords else "not kwargs"
        text += f" while {others} and {given} and not observers.count:", *each.text
    if listed:
        passed = f"*given({', '.join(listed)}), **kwargs"
        text.append(f" if {listed[-1]} is ABSENT: return otherwise({passed})")
    text.append(f" return otherwise({', '.join((*listed, '*args', '**kwargs'))})")
    scope = {**_SHARED, "otherwise": otherwise}
    for each in calls:
        scope.update(each.scope)
    exec("\n".join(text), scope)
    usual: Callable[..., Any] = scope["usual"]
    return usual


_SHARED: Final[Mapping[str, Any]] = {
    "__name__": f"{__package__}.bindings",  # whose frame this stands for
    "ABSENT": _ABSENT,
    "KEYS": KEYS,
    "PybindTypeError": PybindTypeError,
    "Tensor": Tensor,
    "are_integers": are_integers,
    "are_tensors": are_tensors,
    "device_of": device_of,
    "enum_value": enum_value,
    "given": _present,
    "has_torch_function": has_torch_function,
    "initialized": initialized,
    "is_usual": is_usual,
    "is_usual_thread": tls.is_usual_thread,
    "observers": OBSERVERS,
    "state": state,
    "watched": tls.watched,
}


class _Scope(dict[str, Any]):
    """What the lines of one form name, under names that no other form's have."""

    def __init__(self, number: int) -> None:
        self._number = number

    def name(self, name: str, value: Any) -> str:
        own = f"{name}_{self._number}"
        self[own] = value
        return own


def _check_refused_by_types(signature: Signature, form: Form) -> None:
    """A signature that did not take a call takes none of the form, unless a tensor decides."""
    for parameter, given in _matched(signature, form):
        if issubclass(given, Tensor) and parameter.type is not types.TENSOR:
            _check_takes_no_tensor(parameter)
    if signature.varargs and form[0] and issubclass(form[0][0], Tensor):
        raise Untellable


def _check_takes_no_tensor(parameter: Parameter) -> None:
    fills_list = parameter.type in INT_LISTS and not parameter.length
    if not fills_list and parameter.type not in _NO_TENSORS:
        raise Untellable


def _matched(signature: Signature, form: Form) -> Iterator[tuple[Parameter, type]]:
    """The parameters that are given, and the types of what is given for them."""
    positional, keywords, by_keyword = form
    given = dict(zip(keywords, by_keyword, strict=True))
    for place, parameter in enumerate(signature.parameters):
        if place < len(positional):
            yield parameter, positional[place]
            continue
        for name in parameter.names:
            if name in given:
                yield parameter, given[name]
                break


def _source(
    form: Form, signature: Signature, has_receiver: bool, known: Known, scope: _Scope
) -> Iterator[str]:
    """The lines; ``scope`` gets what they name."""
    operator, given, (positional, keywords, _) = known.operator, form, form
    if has_receiver:
        yield "  if type(receiver) is not Tensor and not is_usual(receiver): break"
    yield from _types_source(form, scope)
    names: dict[str, str] = {}
    listed = [f"_{place}" for place in range(len(positional))]
    if _takes_integers_one_by_one(signature, form):
        names[signature.parameters[0].name] = f"[{', '.join(listed)}]"
        for source in listed:
            yield f"  if not {_IN_RANGE.format(source)}: break"
        form, listed = ((), *form[1:]), []
    places = iter(listed)
    for parameter, kind in _matched(signature, form):
        source = next(places, "")
        if not source:
            source = next(f"_{name}" for name in parameter.names if name in keywords)
        if kind is type(None):
            if not parameter.allows_none:
                raise Untellable
            continue
        condition, value = _conversion(parameter, kind)
        if condition:
            yield f"  if not {condition.format(source)}: break"
        names[parameter.name] = value.format(source)
    new = known.new if _is_recalled(signature, given, known) else None
    if new is not None:
        yield from _recalled_source(given, new, names.get("requires_grad"), scope)
    passed: list[str] = []
    for value in _stack(signature, operator, names, has_receiver, scope):
        if not value.isidentifier():
            yield f"  v{len(passed)} = {value}"
            value = f"v{len(passed)}"
        passed.append(value)
    stack, requires_grad = ", ".join(passed), names.pop("requires_grad", None)
    if names:  # what is to be written to
        raise Untellable
    keys = list(_keys_source(operator, passed, form, scope))
    if known.computed is not None and not keys and not _runs_anyway(operator):
        raise Untellable
    if keys:
        yield from keys
        if not requires_grad and not known.new:
            yield from _plain_source(form, passed, known, scope)
    yield from _kernel_source(known, scope, has_keys=bool(keys))
    if new is not None:
        yield f"  if is_plain: run = {scope.name('keeping', new.keeping)}(key)"
    yield f"  try: answer = run({stack})"
    yield "  except PybindTypeError as error: raise RuntimeError(str(error)) from None"
    if known.is_forgiving:
        yield "  except TypeError: return NotImplemented"
    if requires_grad is not None:
        yield f"  if {requires_grad}: answer._set_requires_grad(True)"
    wrapped = scope.name("wrapped", known.wrapped)
    yield f"  return answer if type(answer) is Tensor else {wrapped}(answer)"


def _plain_source(form: Form, stack: Sequence[str], known: Known, scope: _Scope) -> Iterator[str]:
    """The lines of the kernel, as long as that is the one for such keys."""
    found = known.operator.unboxed.inline(known.keys)
    if found is None:
        return
    inline, held = found
    tensors = {"receiver", *(name for name, kind in _given(form) if issubclass(kind, Tensor))}
    if not {*stack[: inline.tensors]} <= tensors:
        return
    own, holds = scope.name("keys", known.keys), scope.name("held", held)
    yield f"  if (keys is {own} or keys == {own}) and {holds} and {_USUAL_THREAD}:"
    yield from (f"   {line}" for line in inline.written(stack, scope.name))


def _recalled_source(
    form: Form, new: Factory, requires_grad: str | None, scope: _Scope
) -> Iterator[str]:
    """Makes again what a factory has made of the same arguments; gets the ``key`` of these."""
    parts = ["state()"]
    conditions: list[str] = []
    for name, kind in _given(form):
        part = f"tuple({name})" if kind in _LISTS else name  # of integers alone
        if kind in (float, complex):
            part = f"repr({name})"  # 0.0 equals -0.0
        elif kind is Tensor:
            part = f"{name}._dtype, {name}._sizes, {name}._strides, {name}._device"
            conditions += f"{name}._keys == KEYS", f"{name}._custom is None"
        parts.append(part)
    yield f"  is_plain = {' and '.join(conditions) or True}"
    yield f"  key = {', '.join(parts)},"
    found = f"{scope.name('kept', new.kept)}.get(key)"
    yield f"  again = {found} if is_plain and {_USUAL_THREAD} else None"
    yield "  if again is not None:"
    yield "   answer = again()"
    if requires_grad is not None:
        yield f"   if {requires_grad}: answer._set_requires_grad(True)"
    yield "   return answer"


def _kernel_source(known: Known, scope: _Scope, *, has_keys: bool) -> Iterator[str]:
    """Gets ``run``, which answers: the kernel for the keys of a call, if that is known.

    Calls that a function by hand would take leave the loop where this package has no kernel.
    """
    unboxed, computed = known.operator.unboxed, known.computed
    run = scope.name("new", known.new) if known.new else scope.name("call", unboxed.call)
    if not has_keys or (known.new and computed is None):
        yield f"  run = {run}"
        return
    kernel = run if known.new else f"{scope.name('kernels', unboxed.kernels)}.get(keys)"
    yield f"  run = {kernel} if {_USUAL_THREAD} else None"
    if computed is not None:
        yield f"  if run is None or not {scope.name('computed', computed)}.get(keys): break"
    else:
        yield f"  if run is None: run = {run}"


def _runs_anyway(operator: Operator) -> bool:
    """Whether there is a kernel, and no tensor that could lie where there is none."""
    return not operator.dispatch_arguments and native.has_kernel(operator.canonical)


_USUAL_THREAD: Final = "(not watched or is_usual_thread())"
"""Whether the arguments' keys alone decide where a call goes; numbers in the place of tensors have
those of :data:`KEYS_OF_NUMBER` then."""


def _keys_source(
    operator: Operator, stack: Sequence[str], form: Form, scope: _Scope
) -> Iterator[str]:
    """Gets the keys of a call; nothing where a list has some, or no tensor."""
    given = {"receiver": Tensor, **dict(_given(form))}
    tensors = []
    others = 0
    for place, none in operator.dispatch_arguments:
        name = stack[place]
        kind = given.get(name)
        if kind is not None and issubclass(kind, Tensor):
            tensors.append(name)
        elif kind in _NUMBERS:
            others |= KEYS_OF_NUMBER
        elif scope.get(name, name) is None:
            others |= none
        else:
            return
    if not tensors:
        return
    first, *further = tensors
    yield f"  keys = {first}._keys"
    for name in further:  # which mostly have the very same
        yield f"  if {name}._keys is not keys: keys |= {name}._keys"
    if others:
        yield f"  keys |= {others}"


def _is_recalled(signature: Signature, form: Form, known: Known) -> bool:
    """Whether it is a factory, and what is given says what it makes: of a tensor its geometry, to
    those that make one like it."""
    if known.new is None or not known.new.makes_the_same:
        return False
    is_like = signature.name.endswith("_like")
    for parameter, kind in _matched(signature, form):
        if issubclass(kind, Tensor):
            if not is_like or kind is not Tensor or parameter.type is not types.TENSOR:
                return False
        elif parameter.type is types.TENSOR_LIST:
            return False
    return True


def _given(form: Form) -> Iterator[tuple[str, type]]:
    """What the arguments are called, and their types."""
    positional, keywords, by_keyword = form
    yield from ((f"_{place}", kind) for place, kind in enumerate(positional))
    yield from ((f"_{name}", kind) for name, kind in zip(keywords, by_keyword, strict=True))


def _types_source(form: Form, scope: _Scope) -> Iterator[str]:
    """Gives names to what is given by keyword, and leaves the loop if types are others."""
    for keyword in form[1]:
        yield f"  if {keyword!r} not in kwargs: break"
        yield f"  _{keyword} = kwargs[{keyword!r}]"
    others = []
    for name, kind in _given(form):
        wanted = "Tensor" if kind is Tensor else scope.name(f"type{name}", kind)
        others.append(f"type({name}) is not {wanted}")
    if others:
        yield f"  if {' or '.join(others)}: break"


def _takes_integers_one_by_one(signature: Signature, form: Form) -> bool:
    positional = form[0]
    if not signature.varargs or signature.parameters[0].length:
        return False
    return set(positional) == {int}


def _conversion(parameter: Parameter, kind: type) -> tuple[str, str]:
    if kind is int and parameter.type in INT_LISTS and parameter.length:
        return _IN_RANGE, f"[{{0}}] * {parameter.length}"
    if issubclass(kind, Tensor) and kind is not Tensor and parameter.type is types.TENSOR:
        return "not has_torch_function({0})", "{0}"
    found = _CONVERSIONS.get((parameter.type, kind))
    if found is None:
        raise Untellable
    return found


def _stack(
    signature: Signature,
    operator: Operator,
    names: dict[str, str],
    has_receiver: bool,
    scope: _Scope,
) -> Iterator[str]:
    """Where the operator's arguments come from, which takes them out of ``names``.

    As :func:`~mindtorch_v2.binding.python.calls.call_of` has it.
    """
    parameters = {each.name: each for each in signature.parameters}
    for place, argument in enumerate(operator.schema.arguments):
        name = argument.name
        if name == "self" and has_receiver:
            yield "receiver"
            continue
        if name == "self" and name not in parameters:
            name = "input"
        if name in names:
            source = names.pop(name)
            is_place = name == "device" and signature.makes_tensor
            yield f"initialized({source})" if is_place else source
            continue
        is_parameter = name in parameters
        if name == "device" and signature.makes_tensor:
            default = default_device(signature)
        elif name in ("dtype", "layout") and signature.makes_tensor:
            default = argument.default_value
        else:
            default = default_value(parameters[name]) if is_parameter else argument.default_value
        own = scope.name(f"default{place}", default)
        yield f"list({own})" if is_parameter and isinstance(default, list) else own
