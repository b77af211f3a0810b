"""Binding of a call's arguments to a schema.

A schema of which there are many calls is turned into a Python function of the same signature, so
that a good call costs CPython's own argument binding and the conversion of each value.  The calls
before, and any that this function does not take, are bound by :meth:`OpSchema._match`, step by step
as in C++, which finds torch's words.
Mirrors ``createStackForSchema`` in ``torch/csrc/jit/python/pybind_utils.h``.
"""

from __future__ import annotations

import keyword
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

from mindtorch_v2.binding import messages
from mindtorch_v2.binding.casts import Cast
from mindtorch_v2.binding.convert import converter, number_to_tensor
from mindtorch_v2.binding.errors import ConversionError, ReferenceCastError, SchemaMatchError
from mindtorch_v2.schema.function_schema import Argument, FunctionSchema
from mindtorch_v2.schema.parser import parse_schema

Stack = tuple[Any, ...]
"""A value for each argument of the schema, in its order."""

_ABSENT: Final = object()
_CALLS_BEFORE_COMPILING: Final = 100
"""In fewer calls the function does not save what it takes to be made."""


class OpSchema:
    """A schema that arguments are bound to.

    >>> OpSchema("aten::relu(Tensor self) -> Tensor").bind((), {})
    RuntimeError: aten::relu() is missing value for argument 'self'. Declaration: …
    """

    __slots__ = ("__dict__", "__weakref__", "numbers_as_tensors", "schema")

    def __init__(self, schema: str | FunctionSchema, *, numbers_as_tensors: bool = False) -> None:
        self.schema = parse_schema(schema) if isinstance(schema, str) else schema
        self.numbers_as_tensors = numbers_as_tensors
        self._calls = 0

    def __repr__(self) -> str:
        return f"OpSchema({str(self.schema)!r})"

    def bind(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """The value of every argument by name, defaults filled in; RuntimeError in torch's words.

        What a conversion itself raises (a device that does not exist) comes through unchanged.
        """
        stack = self.stack(args, kwargs)
        names = (argument.name for argument in self.schema.arguments)
        return dict(zip(names, stack, strict=True))

    def stack(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Stack:
        """The same without names."""
        try:
            return self.match(args, kwargs)
        except SchemaMatchError as error:
            raise RuntimeError(str(error)) from None
        except ReferenceCastError:
            raise messages.not_called("", args, kwargs) from None

    def match(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Stack:
        """The same for who has other schemas to try: SchemaMatchError if this one does not suit."""
        if self._calls < _CALLS_BEFORE_COMPILING:
            self._calls += 1
            return self._match(args, kwargs)
        try:
            return self._compiled(*args, **kwargs)
        except TypeError:
            return self._match(args, kwargs)

    @cached_property
    def converters(self) -> tuple[Cast, ...]:
        """What converts each argument."""
        return tuple(map(self._converter, self.schema.arguments))

    def _converter(self, argument: Argument) -> Cast:
        cast = converter(argument.real_type, argument.N, self.numbers_as_tensors)
        if not (self.numbers_as_tensors and argument.is_write):
            return cast
        return lambda value: number_to_tensor(cast(value))

    @cached_property
    def _compiled(self) -> Callable[..., Stack]:
        return compile_signature(self.schema, self.converters)

    def _match(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Stack:
        schema = self.schema
        arguments = schema.arguments
        if len(args) + len(kwargs) > len(arguments):
            raise messages.too_many(schema, len(args) + len(kwargs))
        stack: list[Any] = []
        for position, value in enumerate(args):
            if arguments[position].kwarg_only:
                raise messages.keyword_only(schema, position, len(args))
            stack.append(self._convert(position, value))
        consumed = 0
        for position in range(len(args), len(arguments)):
            argument = arguments[position]
            if argument.name in kwargs:
                stack.append(self._convert(position, kwargs[argument.name]))
                consumed += 1
            elif argument.has_default:
                stack.append(argument.default_value)
            else:
                raise messages.missing(schema, argument)
        if consumed != len(kwargs):
            raise messages.wrong_keywords(schema, kwargs)
        return tuple(stack)

    def _convert(self, position: int, value: Any) -> Any:
        try:
            return self.converters[position](value)
        except ConversionError as error:
            raise messages.mismatch(self.schema, position, value, error) from None


def compile_signature(schema: FunctionSchema, converters: Sequence[Cast]) -> Callable[..., Stack]:
    """A function with the schema's parameters that returns the converted values as a tuple.

    TypeError, CPython's or ours, for a call that it does not take; SchemaMatchError for a value.
    For ``add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor`` it reads:

        def bind(self, other, *, alpha=_absent):
            _at = 0
            try:
                _value0 = _convert0(self)
                _at = 1
                _value1 = _convert1(other)
                _at = 2
                _value2 = _default2 if alpha is _absent else _convert2(alpha)
            except _ConversionError as _error:
                raise _mismatch(_schema, _at, (self, other, alpha)[_at], _error) from None
            return _value0, _value1, _value2
    """
    arguments = schema.arguments
    prefix = free_prefix(arguments)
    names = parameter_names(arguments, prefix)
    scope: dict[str, Any] = {
        f"{prefix}absent": _ABSENT,
        f"{prefix}schema": schema,
        f"{prefix}mismatch": messages.mismatch,
        f"{prefix}ConversionError": ConversionError,
    }
    for position, (argument, convert) in enumerate(zip(arguments, converters, strict=True)):
        scope[f"{prefix}convert{position}"] = convert
        scope[f"{prefix}default{position}"] = argument.default_value
    exec("\n".join(_source(arguments, names, prefix)), scope)
    bind: Callable[..., Stack] = scope["bind"]
    return bind


def _source(arguments: Sequence[Argument], names: Sequence[str], prefix: str) -> Iterator[str]:
    yield f"def bind({', '.join(_parameters(arguments, names, prefix))}):"
    if not names:
        yield " return ()"
        return
    for argument, name, absent in zip(arguments, names, _may_be_absent(arguments), strict=True):
        if absent and not argument.has_default:  # looked at before a conversion has effects
            yield f" if {name} is {prefix}absent: raise TypeError"
    yield " try:"
    for position, (argument, name) in enumerate(zip(arguments, names, strict=True)):
        yield f"  {prefix}at = {position}"
        yield f"  {prefix}value{position} = {_value(argument, name, position, prefix)}"
    yield f" except {prefix}ConversionError as {prefix}error:"
    given = f"({', '.join(names)},)[{prefix}at]"
    yield (
        f"  raise {prefix}mismatch({prefix}schema, {prefix}at, {given}, {prefix}error) from None"
    )
    yield f" return ({''.join(f'{prefix}value{position}, ' for position in range(len(names)))})"


def _parameters(arguments: Sequence[Argument], names: Sequence[str], prefix: str) -> Iterator[str]:
    starred = False
    for argument, name, absent in zip(arguments, names, _may_be_absent(arguments), strict=True):
        if argument.kwarg_only and not starred:
            starred = True
            yield "*"
        yield f"{name}={prefix}absent" if absent else name


def _may_be_absent(arguments: Sequence[Argument]) -> Iterator[bool]:
    """Which arguments Python lets be absent: after one with a default all of their kind."""
    optional, by_keyword = False, False
    for argument in arguments:
        optional = argument.has_default or (optional and argument.kwarg_only == by_keyword)
        by_keyword = argument.kwarg_only
        yield optional


def _value(argument: Argument, name: str, position: int, prefix: str) -> str:
    convert = f"{prefix}convert{position}"
    if argument.has_default:
        return f"{prefix}default{position} if {name} is {prefix}absent else {convert}({name})"
    return f"{convert}({name})"


def free_prefix(arguments: Sequence[Argument]) -> str:
    """Underscores that begin no argument's name."""
    prefix = "_"
    while any(argument.name.startswith(prefix) for argument in arguments):
        prefix += "_"
    return prefix


def parameter_names(arguments: Sequence[Argument], prefix: str) -> list[str]:
    """The arguments' names where Python has such names, and has them once."""
    names: list[str] = []
    for position, argument in enumerate(arguments):
        usable = argument.name.isidentifier() and not keyword.iskeyword(argument.name)
        fresh = usable and argument.name not in names
        names.append(argument.name if fresh else f"{prefix}{position}")
    return names
