"""A function's schema from its type annotations.

Mirrors ``torch/_library/infer_schema.py``.  Types registered as opaque, and those of scripted
objects, are left out.
"""

from __future__ import annotations

import collections.abc
import inspect
import sys
import typing
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator
from types import GenericAlias
from typing import Any, Final

from mindtorch_v2._library.release import does, exposed, fact, message
from mindtorch_v2._operator_bindings import Tag
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.dtype import dtype
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.types import Number

_UNKNOWN_MUTATES: Final = "unknown"
_TAG_OUT: Final = getattr(Tag, "out", None)
_TAG_INPLACE: Final = getattr(Tag, "inplace", None)

_SEQUENCE: Final[Any] = typing.Sequence
_LIST: Final[Any] = typing.List  # noqa: UP006
_LISTS: Final[dict[str, Callable[[Any], Any]]] = {
    "typing.Sequence": lambda item: _SEQUENCE[item],
    "typing.List": lambda item: _LIST[item],
    "collections.abc.Sequence": lambda item: GenericAlias(collections.abc.Sequence, (item,)),
    "list": lambda item: GenericAlias(list, (item,)),
}
"""What makes a list's type of its elements', by how it is printed."""


class _Base(typing.NamedTuple):
    """A type of parameters, its name in schemas, and which lists there are of it."""

    type: Any
    name: str
    lists: bool = False
    lists_of_optionals: bool = False
    optional_lists: bool = False

    def derived(self) -> Iterator[tuple[Any, str]]:
        """The type itself and what is made of it, in the order in which messages list them."""
        lists = [_LISTS[name] for name in fact("list_types")]
        optional: Any = typing.Optional
        yield self.type, self.name
        yield optional[self.type], f"{self.name}?"
        if self.lists:
            yield from ((each(self.type), f"{self.name}[]") for each in lists)
        if self.lists_of_optionals:
            yield from ((each(optional[self.type]), f"{self.name}?[]") for each in lists)
        if self.optional_lists:
            yield from ((optional[each(self.type)], f"{self.name}[]?") for each in lists)
        if self.lists_of_optionals and self.optional_lists:
            yield from ((optional[each(optional[self.type])], f"{self.name}?[]?") for each in lists)


_GroupName = typing.NewType("_GroupName", str)
_GroupName.__qualname__ = "GroupName"
_GroupName.__module__ = "mindtorch_v2.distributed.distributed_c10d"
"""``torch.distributed.distributed_c10d.GroupName``."""


def _bases() -> Iterator[_Base]:
    yield _Base(Tensor, "Tensor", True, True, optional_lists=fact("optional_tensor_lists"))
    yield _Base(int, "SymInt", lists=True, optional_lists=True)
    yield _Base(float, "float", lists=True, optional_lists=True)
    yield _Base(bool, "bool", lists=True, optional_lists=True)
    yield _Base(str, "str")
    yield _Base(Number, "Scalar", lists=True)
    yield _Base(dtype, "ScalarType")
    yield _Base(Device, "Device")
    if fact("group_name"):
        yield _Base(_GroupName, "str")


SUPPORTED_PARAM_TYPES: Final[dict[Any, str]] = dict(
    pair for base in _bases() for pair in base.derived()
)
_LISTS_OF_TENSORS: Final = [_LISTS[name](Tensor) for name in fact("list_types") if "ist" in name]
SUPPORTED_RETURN_TYPES: Final[dict[Any, str]] = {
    Tensor: "Tensor",
    **dict.fromkeys(_LISTS_OF_TENSORS, "Tensor[]"),
    int: "SymInt",
    float: "float",
    bool: "bool",
    Number: "Scalar",
}


@exposed
def infer_schema(
    prototype_function: Callable[..., Any],
    /,
    *,
    mutates_args: str | Iterable[str],
    op_name: str | None = None,
    tags: Any = (),
) -> str:
    """The schema of a function with type hints, ``name(Tensor x) -> Tensor``, or without a name.

    ``mutates_args`` names the tensors that it writes to, or is ``"unknown"`` for all of them.
    ValueError in torch's words for what no schema can say.
    """
    return _Inference(prototype_function, mutates_args, tags).schema(op_name)


def _names_in_hints() -> dict[str, Any]:
    """What text in hints may name, where the release has it name the same for every function."""
    package = sys.modules["mindtorch_v2"]
    known = ChainMap({"torch": package, "typing": typing}, vars(package), vars(typing))
    return {name: known[name] for name in fact("names_in_hints")}


def _tags(tags: Any) -> tuple[Any, ...]:
    if tags is None:
        return ()
    listed = (tags,) if isinstance(tags, Tag) else tuple(tags)
    if _TAG_OUT in listed and _TAG_INPLACE in listed:
        raise AssertionError("torch.Tag.inplace and torch.Tag.out are mutually exclusive")
    return listed


class _Inference:
    """One function whose schema is inferred."""

    def __init__(self, function: Callable[..., Any], mutates_args: Any, tags: Any) -> None:
        #: What text in hints may name; a callable that is no function has no such names.
        self.names: dict[str, Any] = {}
        if does("infer_schema reads hints that are text"):
            self.names = _names_in_hints() or function.__globals__
        self.signature = inspect.signature(function)
        wanted = _tags(tags)
        self.is_out = _TAG_OUT in wanted
        self.is_inplace = _TAG_INPLACE in wanted
        is_listed = type(mutates_args) is not str and does("infer_schema lists mutations first")
        self.mutates_args = tuple(mutates_args) if is_listed else mutates_args
        self.parameters: list[str] = []
        #: Name, type and alias of the first positional parameter.
        self.first: tuple[str, str, str] | None = None
        #: Name to alias of the parameters that results are written to.
        self.written: dict[str, str] = {}

    def refusal(self, what: str) -> ValueError:
        return ValueError(f"infer_schema(func): {what} Got func with signature {self.signature})")

    def schema(self, op_name: str | None) -> str:
        for index, parameter in enumerate(self.signature.parameters.values()):
            self.add(index, parameter)
        self.check_names()
        self.check_tags()
        returns = self.returns()
        return f"{op_name or ''}({', '.join(self.parameters)}) -> {returns}"

    # --- parameters ---------------------------------------------------------------------------

    def add(self, index: int, parameter: inspect.Parameter) -> None:
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise self.refusal("We do not support positional-only args, varargs, or varkwargs.")
        if parameter.kind == parameter.KEYWORD_ONLY and "*" not in self.parameters:
            self.parameters.append("*")
        type_name, alias = self.type_name(parameter), f"a{index}"
        if parameter.kind == parameter.POSITIONAL_OR_KEYWORD and self.first is None:
            self.first = (parameter.name, type_name, alias)
        if self.is_mutated(parameter.name, type_name):
            type_name = f"Tensor({alias}!){type_name.removeprefix('Tensor')}"
            if self.is_out:
                self.add_written(parameter, type_name, alias)
        default = self.default(parameter)
        self.parameters.append(f"{type_name} {parameter.name}{default}")

    def type_name(self, parameter: inspect.Parameter) -> str:
        """The type of a parameter as schemas name it."""
        if parameter.annotation is parameter.empty:
            raise self.refusal(f"Parameter {parameter.name} must have a type annotation.")
        annotation = self.read(parameter.annotation)
        if annotation in SUPPORTED_PARAM_TYPES:
            return SUPPORTED_PARAM_TYPES[annotation]
        advice = ""
        asked = does("infer_schema asks every hint for its origin")
        origin = annotation.__origin__ if asked else getattr(annotation, "__origin__", None)
        if origin is tuple and does("infer_schema advises lists for tuples"):
            advice = _advice(annotation)
        raise self.refusal(
            f"Parameter {parameter.name} has unsupported type {parameter.annotation}. {advice}"
            f"The valid types are: {SUPPORTED_PARAM_TYPES.keys()}."
        )

    def read(self, annotation: Any) -> Any:
        """An annotation with what is text in it evaluated, where the release does that."""
        if isinstance(annotation, str) and does("infer_schema reads hints that are text"):
            return self.evaluated(annotation)
        origin = typing.get_origin(annotation)
        if origin and does("infer_schema reads text in hints"):
            before = typing.get_args(annotation)
            after = tuple(map(self.read, before))
            if any(new is not old for new, old in zip(after, before, strict=True)):
                return GenericAlias(origin, after)
        return annotation

    def evaluated(self, text: str) -> Any:
        try:
            return eval(text, self.names)
        except Exception as error:
            name = "hint of no name" if isinstance(error, NameError) else "hint of no value"
            shown = {"hint": text, "type": type(error).__name__, "error": error}
            raise ValueError(*message(name, **shown, signature=self.signature)) from None

    def is_mutated(self, name: str, type_name: str) -> bool:
        if type(self.mutates_args) is str and does("infer_schema knows unknown mutations"):
            if self.mutates_args != _UNKNOWN_MUTATES:
                raise ValueError(
                    "mutates_args must either be a sequence of the names of the arguments that "
                    "are mutated or the string 'unknown'. "
                )
            return type_name.startswith("Tensor")
        if name not in self.mutates_args:
            return False
        if not type_name.startswith("Tensor"):
            raise self.refusal(
                f"Parameter {name} is in mutable_args but only Tensors or collections of Tensors "
                "can be mutated"
            )
        return True

    def add_written(self, parameter: inspect.Parameter, type_name: str, alias: str) -> None:
        """A tensor that a result is written to, of an operator with ``Tag.out``."""
        if parameter.kind != parameter.KEYWORD_ONLY:
            raise self.refusal("torch.Tag.out requires mutable arguments to be keyword-only.")
        if type_name != f"Tensor({alias}!)":
            raise self.refusal("torch.Tag.out only supports mutable keyword-only Tensor arguments.")
        self.written[parameter.name] = alias

    def default(self, parameter: inspect.Parameter) -> str:
        """``=1``, or nothing."""
        value = parameter.default
        if value is parameter.empty:
            return ""
        if value is None or isinstance(value, (int, float, bool)):
            return f"={value}"
        if does("infer_schema takes text for a default"):
            if isinstance(value, (str, Device)):
                return f'="{value}"'
            if isinstance(value, dtype):
                return f"={repr(value).removeprefix('torch.')}"
        shown = {
            "parameter": f"Parameter {parameter.name}",
            "type": type(value),
            "signature": self.signature,
        }
        raise ValueError(*message("unsupported default", **shown))

    # --- checks of the whole ------------------------------------------------------------------

    def check_names(self) -> None:
        """That every mutated argument is one."""
        if self.mutates_args == _UNKNOWN_MUTATES and does("infer_schema knows unknown mutations"):
            return
        unknown = set(self.mutates_args) - set(self.signature.parameters)
        if unknown:
            shown = {"names": unknown, "signature": self.signature}
            raise ValueError(*message("unknown mutated argument", **shown))

    def check_tags(self) -> None:
        if self.is_inplace:
            self.check_inplace()
        if self.is_out and not self.written:
            raise self.refusal(
                "torch.Tag.out requires at least one mutable keyword-only Tensor argument."
            )

    def check_inplace(self) -> None:
        if self.first is None:
            raise self.refusal("torch.Tag.inplace requires a positional Tensor argument.")
        name, type_name, _ = self.first
        if type_name != "Tensor":
            raise self.refusal(
                "torch.Tag.inplace requires the first positional argument to be a Tensor."
            )
        if type(self.mutates_args) is str or set(self.mutates_args) != {name}:
            raise self.refusal(
                "torch.Tag.inplace requires mutates_args to contain exactly the first positional "
                f"argument, got {self.mutates_args}."
            )

    # --- returns ------------------------------------------------------------------------------

    def returns(self) -> str:
        annotation = self.read(self.signature.return_annotation)
        if self.is_out:
            return self.written_returns(annotation)
        plain = self.plain_returns(annotation)
        if not self.is_inplace:
            return plain
        if plain != "Tensor":
            raise self.refusal(
                "torch.Tag.inplace requires the return annotation to be torch.Tensor."
            )
        assert self.first is not None
        return f"Tensor({self.first[2]}!)"

    def plain_returns(self, annotation: Any) -> str:
        if annotation is None:
            return "()"
        is_missing = annotation is inspect.Parameter.empty
        if is_missing and does("infer_schema misses return annotations"):
            raise self.refusal("No return type annotation was provided. Please add one.")
        is_tuple = typing.get_origin(annotation) is tuple
        parts = typing.get_args(annotation) if is_tuple else (annotation,)
        if any(part not in SUPPORTED_RETURN_TYPES for part in parts):
            raise self.refusal(
                f"Return has unsupported type {annotation}. "
                f"The valid types are: {SUPPORTED_RETURN_TYPES}."
            )
        listed = ", ".join(SUPPORTED_RETURN_TYPES[part] for part in parts)
        if not is_tuple:
            return listed
        if len(parts) == 1 and does("infer_schema marks a tuple of one"):
            listed = f"({listed})"
        return f"({listed})"

    def written_returns(self, annotation: Any) -> str:
        """The returns of an operator with ``Tag.out``: what it has written to."""
        if len(self.written) == 1:
            matches = annotation is Tensor
        else:
            parts = typing.get_args(annotation)
            is_tuple = typing.get_origin(annotation) is tuple
            matches = is_tuple and parts == (Tensor,) * len(self.written)
        if not matches:
            raise self.refusal(
                "torch.Tag.out requires the return annotation to match the mutable keyword-only "
                f"Tensor arguments {tuple(self.written)}."
            )
        listed = ", ".join(f"Tensor({alias}!)" for alias in self.written.values())
        return listed if len(self.written) == 1 else f"({listed})"


def _advice(annotation: Any) -> str:
    """What to annotate in place of a tuple."""
    as_list = tuple_to_list(annotation)
    example = f"For example, {as_list}.\n\n" if as_list in SUPPORTED_PARAM_TYPES else "\n\n"
    return (
        "We do not support Tuple inputs in schema. As a workaround, please try to use List "
        f"instead. {example}"
    )


def tuple_to_list(annotation: Any) -> Any:
    """The list that stands for a tuple: of what it holds, or of any of that."""
    parts = typing.get_args(annotation)
    if not parts:
        return list
    if len(parts) == 1 or (len(parts) == 2 and parts[1] is Ellipsis):
        return _LISTS[fact("advised_list")](parts[0])
    return _LISTS[fact("advised_list")](typing.Union[parts])  # noqa: UP007
