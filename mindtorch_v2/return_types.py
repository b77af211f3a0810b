"""``torch.return_types``: what functions return whose schema names several results.

Mirrors ``torch/return_types.py`` and the struct sequences that ``tools/autograd`` generates; which
there are, and their fields, are facts of the profile.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from operator import itemgetter
from typing import Any

from mindtorch_v2 import profile
from mindtorch_v2.binding.operators import Operator
from mindtorch_v2.tensor.made_in_c import MadeInC, final
from mindtorch_v2.utils._pytree import register_pytree_node


class _Member(property):
    """A place of such a tuple by its name."""

    def __set__(self, instance: Any, value: Any) -> None:
        raise AttributeError("readonly attribute")

    def __delete__(self, instance: Any) -> None:
        raise AttributeError("readonly attribute")


_Member.__name__ = _Member.__qualname__ = "member_descriptor"
_Member.__module__ = "builtins"


class _StructSequence(tuple[Any, ...], metaclass=MadeInC):
    """A tuple whose places have names: CPython's ``structseq``."""

    __slots__ = ()
    __match_args__: tuple[str, ...] = ()

    def __new__(cls, *args: Any, **kwargs: Any) -> _StructSequence:
        if not args and "sequence" not in kwargs:
            raise TypeError("structseq() missing required argument 'sequence' (pos 1)")
        sequence = args[0] if args else kwargs["sequence"]
        if not isinstance(sequence, Iterable):
            raise TypeError("constructor requires a sequence")
        items, count = tuple(sequence), len(cls.__match_args__)
        if len(items) != count:
            raise TypeError(
                f"torch.return_types.{cls.__name__}() takes a {count}-sequence "
                f"({len(items)}-sequence given)"
            )
        return super().__new__(cls, items)

    def __repr__(self) -> str:
        pairs = zip(self.__match_args__, self, strict=True)
        shown = ",\n".join(f"{name}={value!r}" for name, value in pairs)
        return f"torch.return_types.{type(self).__name__}(\n{shown})"


def _struct_sequence(name: str, fields: list[str]) -> type[_StructSequence]:
    members: dict[str, Any] = {
        "__slots__": (),
        "__module__": __name__,
        "__match_args__": tuple(fields),
        "n_fields": len(fields),
        "n_sequence_fields": len(fields),
        "n_unnamed_fields": 0,
        **{field: _Member(itemgetter(place)) for place, field in enumerate(fields)},
    }
    made: Any = final(MadeInC(name, (_StructSequence,), members))
    register_pytree_node(made, lambda tree: (list(tree), None), lambda items, _: made(items))
    return made  # type: ignore[no-any-return]


@cache
def _fields() -> dict[str, list[str]]:
    """By type; read when first asked."""
    fields: dict[str, list[str]] = profile.active().signatures["return_types"]
    return fields


@cache
def _type_of(name: str) -> type[_StructSequence]:
    """Made when first asked: most programs need few of them."""
    return _struct_sequence(name, _fields()[name])


def __getattr__(name: str) -> Any:
    if name == "all_return_types":
        return [_type_of(name) for name in _fields() if not name.startswith("_")]
    if name not in _fields():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _type_of(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_fields(), "all_return_types"})


def wrap(operator: Operator, answer: tuple[Any, ...]) -> tuple[Any, ...]:
    """The results of an operator as Python gets them: with names if the schema has any."""
    if not all(each.name for each in operator.schema.returns):
        return answer
    name = operator.name.removeprefix("aten::")
    is_out = any(argument.is_out for argument in operator.schema.arguments)
    name = f"{name}_out" if is_out else name
    return _type_of(name)(answer) if name in _fields() else answer
