"""Section ``conversions.json``: which Python values an operator's arguments take in this release.

The rules themselves are code (``toIValue`` in torch/csrc/jit/python/pybind_utils.cpp, and the
casters of the pybind11 it was built with).  Here is what of them differs between releases, and
the numbers that stand for dtypes, layouts, memory formats and qschemes; what symbolic numbers
print; and, of the objects of torch.ops, those whose tags Python has set.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch

C: Any = torch._C

TOO_BIG = 2**70
"""No C++ integer: a conversion that looks at it fails, one that does not never sees it."""


def extract() -> dict[str, Any]:
    return {
        "scalar_types": numbers(torch.dtype),
        "layouts": numbers(torch.layout),
        "memory_formats": numbers(torch.memory_format),
        "qschemes": numbers(torch.qscheme),
        "symbolic_reprs": symbolic_reprs(),
        "symbolic_float_conversions": symbolic_float_conversions(),
        "numbers_as_tensors": numbers_as_tensors(),
        "bytes_are_strings": not message(lambda: infer(b"x")),
        "no_type": message(lambda: infer(...)).partition("\n:")[2].removesuffix("ellipsis."),
        "tags_as_tuples": sorted(tags_as_tuples()),
        "registered_tags": registered_tags(),
        "unsigned_numbers": binds(lambda: ops("aten::add.Scalar")(META, 2**63)),
        "vectors_from_iterables": binds(lambda: ops("aten::sum.dim_IntList")(META, {0})),
        "tensors_as_symbolic_sizes": not refuses_cast(
            lambda: ops("aten::view")(META, [True, META_INTEGER])
        ),
    }


META = torch.empty(2, device="meta")
META_INTEGER = torch.empty(1, device="meta", dtype=torch.int64)


def numbers(kind: type) -> dict[str, int]:
    """The C++ enum value of every instance of ``kind``, by repr."""
    values = {repr(value): value for value in vars(torch).values() if isinstance(value, kind)}
    return {name: ops("aten::add.int")(value, 0) for name, value in sorted(values.items())}


class Probe:
    """A node of a symbolic number whose every way to be printed says which it is."""

    def __str__(self) -> str:
        return "__str__"

    def _graph_repr(self) -> str:
        return "_graph_repr"

    def str(self) -> str:
        return "str"


def symbolic_reprs() -> dict[str, str]:
    """Which method of its node a symbolic number prints."""
    classes = (torch.SymInt, torch.SymFloat, torch.SymBool)
    return {cls.__name__: repr(cls(Probe())) for cls in classes}


def symbolic_float_conversions() -> list[str]:
    """Which of Python's conversions to plain numbers the class SymFloat has."""
    names = ("__float__", "__int__", "__trunc__", "__index__")
    return [name for name in names if name in vars(torch.SymFloat)]


def ops(name: str) -> Any:
    namespace, _, rest = name.partition("::")
    operator, _, overload = rest.partition(".")
    return getattr(getattr(getattr(torch.ops, namespace), operator), overload or "default")


def infer(value: object) -> object:
    """Have torch find the type of a value; RuntimeError if it has none."""
    return C._jit_assert_is_instance(value, C.AnyType.get())


def message(call: Callable[[], object]) -> str:
    """What a call is refused with; empty if it is taken."""
    try:
        call()
    except (RuntimeError, OverflowError) as error:
        return str(error)
    return ""


def binds(call: Callable[[], object]) -> bool:
    """Whether the arguments of a call are taken, whatever its kernel makes of them."""
    return "Expected a value of type" not in message(call)


def refuses_cast(call: Callable[[], object]) -> bool:
    """Whether a list is refused for its tensor rather than for the truth value before it."""
    return "<class 'torch.Tensor'>" in message(call)


def tags_as_tuples() -> Iterator[str]:
    """Operators whose ``tags`` torch._prims has set, to a tuple where C++ has a list."""
    for schema in C._jit_get_all_schemas():
        name = f"{schema.name}.{schema.overload_name}".rstrip(".")
        try:
            tags = ops(name).tags
        except (AttributeError, RuntimeError):
            continue
        if isinstance(tags, tuple):
            yield name


def registered_tags() -> dict[str, list[str]]:
    """The tags that C++ has of the operators whose ``tags`` Python has set otherwise."""
    found = {}
    for schema in C._jit_get_all_schemas():
        name = f"{schema.name}.{schema.overload_name}".rstrip(".")
        try:
            tags = ops(name).tags
        except (AttributeError, RuntimeError):
            continue
        registered = C._get_operation_overload(schema.name, schema.overload_name)[2]
        if list(tags) != registered:
            found[name] = [tag.name for tag in registered]
    return dict(sorted(found.items()))


def numbers_as_tensors() -> list[str]:
    """Operators that take a number where their schema says Tensor; all of ``prims`` do."""
    return sorted({packet for packet, taken in first_tensor_arguments() if taken})


def first_tensor_arguments() -> Iterator[tuple[str, bool]]:
    for schema in C._jit_get_all_schemas():
        arguments = schema.arguments
        if not arguments or str(arguments[0].real_type) != "Tensor" or arguments[0].kwarg_only:
            continue
        if schema.name.startswith("prims::"):
            continue
        name = f"{schema.name}.{schema.overload_name}".rstrip(".")
        try:
            overload = ops(name)
        except (AttributeError, RuntimeError):
            continue  # no object of torch.ops has its name
        yield schema.name, "Unable to cast" not in message(partial(overload, TOO_BIG))
