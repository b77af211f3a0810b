"""What the functions of :mod:`~mindtorch_v2.binding.unboxed` read, line by line.

Values are called ``_0``, ``_1`` and so on; every other name is one of the scope that a function is
made in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from mindtorch_v2.binding.written import names
from mindtorch_v2.schema.base_types import Type
from mindtorch_v2.schema.function_schema import Argument, FunctionSchema

_PLAIN_KINDS: Final = frozenset(
    (
        *("NumberType", "IntType", "FloatType", "BoolType", "ComplexType", "StringType"),
        *("SymIntType", "ScalarTypeType", "LayoutType", "MemoryFormatType", "DeviceObjType"),
    )
)
"""Kinds of arguments that take plain values."""

_CALL: Final = """\
def call({values}):
 if observers.count: return long_way({values})
 keys = {keys}
 raw = thread.raw
 try: run = (kernels if raw.pipeline is None else waiting)[raw.sets][keys]
 except KeyError: run = None
 return (run or find(keys))({values})
"""

# Who leaves the loop has done nothing yet: ``otherwise`` is called outside of every handler.

_ENTRY: Final = """\
def entry(*args, **kwargs):
 while not observers.count:
{bound}
  raw = thread.raw
  try: route = (routes if raw.pipeline is None else waiting_routes)[raw.sets][keys]
  except KeyError: route = None
  if route is None:
   route = find_route(keys)
   if route is None: break
  run, finish, recording = route
  if recording is not None and ({is_known}): run = recording
  outer, raw.numbers_as_tensors = raw.numbers_as_tensors, takes_numbers
  try:
   answer = run({values})
   return answer if finish is None or type(answer) is Tensor else finish(answer)
  except PybindTypeError as error: raise TypeError(str(error)) from None
  finally: raw.numbers_as_tensors = outer
 return otherwise(args, kwargs)
"""

_ENTRY_BELOW: Final = """\
def entry_below(keyset, args, kwargs):
 while not observers.count:
{bound}
  route = routes_below.get(keyset) or find_route_below(keyset)
  if route is None: break
  run, finish, recording = route
  if recording is not None and ({is_known}): run = recording
  try:
   answer = run({values})
   return answer if finish is None or type(answer) is Tensor else finish(answer)
  except PybindTypeError as error: raise TypeError(str(error)) from None
 return UNUSUAL
"""


def of_call(schema: FunctionSchema, none: Mapping[int, int]) -> str:
    """The function that takes a stack's values; ``none`` has the positions of those that count."""
    keys = (
        f"(_{position}._keys if isinstance(_{position}, Tensor) "
        f"else keys_of(_{position}, none{position}))"
        for position in none
    )
    return _CALL.format(values=names(len(schema.arguments)), keys=" | ".join(keys) or "0")


def of_entry(schema: FunctionSchema, none: Mapping[int, int], *, is_below: bool) -> str:
    """The function that takes what a user gave."""
    bound = "\n".join(f"  {line}" for line in _bound(schema, none))
    text = _ENTRY_BELOW if is_below else _ENTRY
    # a route that asks is that of an operator without lists
    known = (
        f"_{each} is not None and _{each}._raw_autograd is not None"
        f" and _{each}._autograd is not None"
        for each in none
    )
    values, is_known = names(len(schema.arguments)), " or ".join(known) or "False"
    return text.format(values=values, bound=bound, is_known=is_known)


def _bound(schema: FunctionSchema, none: Mapping[int, int]) -> Iterator[str]:
    """From arguments and keywords to a value for each argument of the schema, and their keys."""
    arguments = schema.arguments
    may_be_left_out = any(each.has_default or each.kwarg_only for each in arguments)
    given = "args + rest[len(args)]" if may_be_left_out else "args"
    yield f"try: [{names(len(arguments))}] = named(*args, **kwargs) if kwargs else {given}"
    yield "except NOT_SO: break"
    first = min(none, default=None)
    if first is None:
        yield "keys = 0"
    for position, argument in enumerate(arguments):
        if position in none:
            yield from _of_tensors(position, argument, "=" if position == first else "|=")
        else:
            yield from _of_others(position, argument)


def _of_tensors(position: int, argument: Argument, gets: str) -> Iterator[str]:
    """An argument whose keys count."""
    name = f"_{position}"
    if argument.real_type.kind == "ListType":
        yield f"found = keys_of_list({name})"
        yield "if found is None: break"
        yield f"keys {gets} found"
        yield f"{name} = list({name})"
    else:
        yield f"if type({name}) is Tensor: keys {gets} {name}._keys"
        yield f"elif {name} is None: keys {gets} none{position}"
        yield "else: break"


def _of_others(position: int, argument: Argument) -> Iterator[str]:
    """Any other: its default, or what its conversion makes of a plain value."""
    lines = _converted(position, argument.real_type)
    if argument.has_default:
        is_float = argument.real_type.kind == "FloatType"  # an equal float may be another object
        further = f" and type(_{position}) is not float" if is_float else ""
        yield f"if _{position} is not default{position}{further}:"
        lines = (f" {line}" for line in lines)
    yield from lines


def _converted(position: int, type: Type) -> Iterator[str]:
    name = f"_{position}"
    if type.kind == "OptionalType":
        type = type.contained[0]
    if type.kind in _PLAIN_KINDS:
        yield f"if type({name}) not in PLAIN: break"
    elif type.kind == "ListType" and type.contained[0].kind in _PLAIN_KINDS:
        yield f"if not is_plain_list({name}): break"
    else:
        yield "break"
        return
    yield f"try: {name} = convert{position}({name})"
    yield "except Exception: break"
