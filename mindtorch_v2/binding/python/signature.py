"""One signature, and the match of a call against it.

Mirrors ``FunctionSignature`` in ``torch/csrc/utils/python_arg_parser.cpp``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from mindtorch_v2 import profile
from mindtorch_v2.binding.python import checks
from mindtorch_v2.binding.python.errors import type_error
from mindtorch_v2.binding.python.parameter import (
    DIMNAME,
    INT64,
    INT_LISTS,
    Parameter,
    parse_parameter,
)
from mindtorch_v2.binding.python.type_names import type_name
from mindtorch_v2.torch_function import Overloaded, append_overloaded

_NUMBERS_AS_TENSORS: Final = frozenset(
    name.removeprefix("aten::") for name in profile.active().conversions["numbers_as_tensors"]
)


_FACTS: Final = profile.active().argument_parser
_VARARGS_BEGIN_WITH_INT: Final[bool] = _FACTS["varargs_begin_with_int"]
"""Whether arguments are taken for the integers of one list only if the first is one."""


_OF_A_NEW_TENSOR: Final = {"dtype", "layout", "device", "pin_memory", "requires_grad"}


class Absent:
    """The value of a parameter that was not given, or given as None where that says the same."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = Absent()

Values = list[Any]
"""A value for each parameter of a signature, in order; ABSENT for its default."""


class NoMatchError(Exception):
    """The call is not for this signature; ``complaint()`` words why."""

    def complaint(self) -> TypeError:
        raise NotImplementedError


@dataclass(frozen=True, eq=False)  # as what it is kept by it is looked up at every call
class Signature:
    """A function's name and parameters; ``hidden`` ones are not listed in messages."""

    name: str
    parameters: tuple[Parameter, ...]
    deprecated: bool
    hidden: bool

    def __post_init__(self) -> None:
        positional = [each for each in self.parameters if not each.keyword_only]
        put = object.__setattr__
        put(self, "min_args", sum(not each.optional for each in self.parameters))
        put(self, "max_args", len(self.parameters))
        must = [place for place, each in enumerate(self.parameters) if not each.optional]
        put(self, "required", max(must, default=-1) + 1)
        put(self, "max_positional", len(positional))
        put(self, "varargs", len(positional) == 1 and self.parameters[0].type in INT_LISTS)
        places = {each.name: place for place, each in enumerate(self.parameters)}
        put(self, "places", places)
        integers = [place for place, each in enumerate(self.parameters) if each.type is INT64]
        put(self, "integers", integers)
        put(self, "takes_name", any(each.type is DIMNAME for each in self.parameters))
        put(self, "makes_tensor", places.keys() >= _OF_A_NEW_TENSOR)

    min_args = 0
    max_args = 0
    required = 0
    """So many parameters begin with what must be given; the others need not be."""
    max_positional = 0
    varargs = False
    """Whether integers given one by one become the only positional parameter, a list of them."""
    places: ClassVar[Mapping[str, int]] = {}
    """The parameters' places by their names."""
    integers: ClassVar[Sequence[int]] = ()
    """The places of those that are one integer."""
    takes_name = False
    """Whether a dimension is given by its name."""
    makes_tensor = False
    """Whether the parameters hold a new tensor's options."""

    def __str__(self) -> str:
        """The parameters, as a message lists them."""
        shown: list[str] = []
        for parameter in self.parameters:
            if parameter.keyword_only and "*" not in shown:
                shown.append("*")
            shown.append(str(parameter))
        return f"({', '.join(shown)})"

    def match(
        self, receiver: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> tuple[Values, Overloaded]:
        """The values of the parameters, and the arguments that override functions.

        NoMatchError if the call is not for this signature.
        """
        overloaded: Overloaded = []
        varargs = self.varargs and (
            not _VARARGS_BEGIN_WITH_INT or checks.is_int_list(args, overloaded)
        )
        if len(args) > self.max_positional and not varargs:
            raise _TooManyError(self, len(args))
        if receiver is not None and checks.has_torch_function(receiver):
            append_overloaded(overloaded, receiver)
        values: Values = []
        position, unused = 0, len(kwargs)
        for parameter in self.parameters:
            by_position = position < len(args)
            if by_position:
                if parameter.keyword_only:
                    raise _TooManyError(self, len(args))
                value = args[position]
            elif kwargs:
                value = _keyword(parameter, kwargs)
            elif len(values) >= self.required:
                values += [ABSENT] * (len(self.parameters) - len(values))
                break
            else:
                value = ABSENT
            if (value is ABSENT and parameter.optional) or (
                value is None and parameter.allows_none
            ):
                values.append(ABSENT)
            elif value is ABSENT:
                raise _MissingError(self, len(values))
            elif parameter.takes(value, overloaded, len(values)):
                values.append(value)
            elif varargs and by_position and position == 0 and checks.is_int_list(args, overloaded):
                values.append(args)
                position = len(args)
                continue
            else:
                raise _WrongTypeError(self, parameter, args, value, position, by_position)
            if by_position:
                position += 1
            elif value is not ABSENT:
                unused -= 1
        if unused > 0:
            raise _UnexpectedError(self, kwargs, len(args))
        return values, overloaded


def _keyword(parameter: Parameter, kwargs: Mapping[str, Any]) -> Any:
    for name in parameter.names:
        if name in kwargs:
            return kwargs[name]
    return ABSENT


class _TooManyError(NoMatchError):
    def __init__(self, signature: Signature, given: int) -> None:
        self._signature, self._given = signature, given

    def complaint(self) -> TypeError:
        signature, given = self._signature, self._given
        least, most = signature.min_args, signature.max_positional
        if least != most:
            return type_error(
                f"{signature.name}() takes from {least} to {most} positional arguments "
                f"but {given} were given"
            )
        return type_error(
            f"{signature.name}() takes {most} positional argument{'' if most == 1 else 's'} "
            f"but {given} {'was' if given == 1 else 'were'} given"
        )


class _MissingError(NoMatchError):
    def __init__(self, signature: Signature, first: int) -> None:
        self._signature, self._first = signature, first

    def complaint(self) -> TypeError:
        left = self._signature.parameters[self._first :]
        missing = [f'"{parameter.name}"' for parameter in left if not parameter.optional]
        return type_error(
            f"{self._signature.name}() missing {len(missing)} required positional "
            # torch has its plural the wrong way round
            f"argument{'s' if len(missing) == 1 else ''}: {', '.join(missing)}"
        )


class _WrongTypeError(NoMatchError):
    def __init__(
        self,
        signature: Signature,
        parameter: Parameter,
        args: Sequence[Any],
        value: Any,
        position: int,
        by_position: bool,
    ) -> None:
        self._signature, self._parameter, self._args = signature, parameter, args
        self._value, self._position, self._by_position = value, position, by_position

    def complaint(self) -> TypeError:
        parameter, value = self._parameter, self._value
        where = f" (position {self._position + 1})" if self._by_position else ""
        start = (
            f"{self._signature.name}(): argument '{parameter.name}'{where} "
            f"must be {parameter.type.shown}, "
        )
        wrong_list = self._wrong_list() if self._by_position else None
        if wrong_list is not None:
            return type_error(
                f"{start}but found element of type {type_name(wrong_list[0])} at pos 0"
            )
        return type_error(f"{start}not {type_name(value)}")

    def _wrong_list(self) -> Sequence[Any] | None:
        """The list whose first element is to blame, where integers are wanted."""
        if self._parameter.type not in INT_LISTS:
            return None
        if isinstance(self._value, (list, tuple)):
            return self._value
        begins_list = self._signature.varargs and self._position == 0
        return self._args if begins_list and not _VARARGS_BEGIN_WITH_INT else None


class _UnexpectedError(NoMatchError):
    def __init__(self, signature: Signature, kwargs: Mapping[str, Any], given: int) -> None:
        self._signature, self._kwargs, self._given = signature, kwargs, given

    def complaint(self) -> TypeError:
        name = self._signature.name
        names = [parameter.name for parameter in self._signature.parameters]
        for keyword in self._kwargs:
            if keyword not in names:
                return type_error(f"{name}() got an unexpected keyword argument '{keyword}'")
            if names.index(keyword) < self._given:
                return type_error(f"{name}() got multiple values for argument '{keyword}'")
        return type_error("invalid keyword arguments")


def parse_signature(text: str) -> Signature:
    """The signature of ``add(Tensor input, Tensor other, *, Scalar alpha=1)|deprecated``."""
    name, _, rest = text.partition("(")
    listed, _, mark = rest.rpartition(")")
    parameters: list[Parameter] = []
    keyword_only = False
    for declared in listed.split(", ") if listed else []:
        if declared == "*":
            keyword_only = True
            continue
        parameters.append(
            parse_parameter(
                declared,
                keyword_only=keyword_only,
                numbers_as_tensors=name in _NUMBERS_AS_TENSORS,
            )
        )
    return Signature(
        name,
        tuple(parameters),
        deprecated=mark == "|deprecated",
        hidden=mark in ("|deprecated", "|hidden"),
    )
