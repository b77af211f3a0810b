"""Whatever an operator refuses it refuses by a ``raise`` of its own, whatever its operands are: no
error of NumPy's and none of Python's reaches the user.

Operands are drawn by the operators' schemas, from few shapes, so that many fit and many nearly do.
"""

from __future__ import annotations

import ast
import random
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Final

import pytest

import mindtorch_v2 as torch
from mindtorch_v2 import profile
from mindtorch_v2.dispatch import native
from mindtorch_v2.schema.parser import parse_printed_schema
from tests.other_profiles import once_per_other_profile, run_again

PACKAGE: Final = str(Path(torch.__file__).parent)
CALLS: Final = 2
"""Of each operator; with many more, and other seeds, it is a survey."""
PARTS: Final = 16

SHAPES: Final[tuple[tuple[int, ...], ...]] = (
    *((), (0,), (1,), (2,), (3,), (5,), (2, 3), (3, 2), (1, 3), (2, 0), (2, 3, 4)),
    *((1, 2, 4, 4), (2, 3, 4, 4), (1, 1, 3, 4, 4)),
)
DTYPES: Final = (
    *("float32",) * 6,
    *("float64", "int64", "int64", "bool", "float16", "complex64", "uint8", "int32", "bfloat16"),
)
OPTIONS: Final = ("dtype", "layout", "device", "pin_memory", "memory_format", "generator")
POOLS: Final[dict[str, tuple[Any, ...]]] = {
    "int": (0, 1, 2, -1, 3, -2, 5),
    "SymInt": (0, 1, 2, -1, 3, -2, 5),
    "float": (0.0, 0.5, 1.0, -1.0, 2.0),
    "number": (0, 1, 2.5, -1, True, 1j),
    "bool": (True, False),
    "str": ("sum", "mean", "none", "constant", "ij", "linear", "trunc", "floor", "i,j->ij"),
}


class Draw:
    """Values by the types of a schema; `LookupError` for a type that none is known of."""

    def __init__(self, seed: str) -> None:
        self.random = random.Random(seed)

    def arguments(self, schema: Any) -> tuple[list[Any], dict[str, Any]]:
        """What stands by place, and by name; defaults of the former half of the time."""
        given: list[Any] = []
        named: dict[str, Any] = {}
        usual = self.random.choice(SHAPES)
        for argument in schema.arguments:
            is_default = argument.has_default and self.random.random() < 0.5
            if argument.name in OPTIONS and not argument.has_default:
                raise LookupError(argument.name)
            if is_default or argument.name in OPTIONS:
                value = argument.default_value
            else:
                value = self.value(str(argument.type), usual)
            if argument.kwarg_only:
                named[argument.name] = value
            else:
                given.append(value)
        return given, named

    def value(self, kind: str, usual: tuple[int, ...]) -> Any:
        if kind.startswith("Optional["):
            is_none = self.random.random() < 0.4
            return None if is_none else self.value(kind[len("Optional[") : -1], usual)
        if kind.startswith("List["):
            inner = kind[len("List[") : -1]
            return [self.value(inner, usual) for _ in range(self.random.randint(0, 4))]
        if kind == "Tensor":
            return self.tensor(usual)
        return self.random.choice(POOLS[kind])

    def tensor(self, usual: tuple[int, ...]) -> Any:
        shape = self.random.choice((usual, self.random.choice(SHAPES)))
        dtype = getattr(torch, self.random.choice(DTYPES))
        numbers = [
            self.random.choice((0, 1, 2, 3, 0.5, -1)) for _ in range(torch.Size(shape).numel())
        ]
        made = torch.tensor(numbers, dtype=torch.float64).reshape(shape).to(dtype)
        return made.transpose(0, -1) if shape and self.random.random() < 0.1 else made


@cache
def raises(file: str) -> frozenset[int]:
    """The lines of a file on which it raises something, or asserts."""
    nodes = ast.walk(ast.parse(Path(file).read_text()))
    return frozenset(node.lineno for node in nodes if isinstance(node, (ast.Raise, ast.Assert)))


def is_own(trace: TracebackType | None) -> bool:
    """Whether the innermost frame of an error stands at a statement of ours that raises."""
    assert trace is not None
    while trace.tb_next is not None:
        trace = trace.tb_next
    file = trace.tb_frame.f_code.co_filename
    return file.startswith(PACKAGE) and trace.tb_lineno in raises(file)


def slips(name: str, schema: Any, call: Callable[..., Any]) -> Iterator[str]:
    """Calls of an operator that end with an error that nobody here has raised."""
    draw = Draw(name)
    for _ in range(CALLS):
        try:
            given, named = draw.arguments(schema)
        except LookupError:
            return
        try:
            call(*given, **named)
        except Exception as error:
            if not is_own(error.__traceback__):
                yield f"{name}{shown(given)}{shown(named)}: {type(error).__name__}: {error}"


def shown(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"{value.dtype}{list(value.shape)}"
    if isinstance(value, dict):
        return ", ".join(f"{name}={shown(each)}" for name, each in value.items())
    return f"[{', '.join(map(shown, value))}]" if isinstance(value, list) else repr(value)


def operators() -> Iterator[tuple[str, Any, Any]]:
    """Those with kernels: the name, the schema and what is called."""
    for text in profile.active().schemas["schemas"]:
        name = text.partition("(")[0]
        if name.startswith("aten::") and native.has_kernel(name):
            base, _, overload = name.removeprefix("aten::").partition(".")
            packet = getattr(torch.ops.aten, base, None)
            found = getattr(packet, overload or "default", None)
            if found is not None:
                yield name, parse_printed_schema(text), found


@pytest.mark.parametrize("part", range(PARTS))
def test_an_operator_refuses_operands_itself(part: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [slip for each in list(operators())[part::PARTS] for slip in slips(*each)]
    assert not found


def test_what_numpy_raises_is_not_our_own() -> None:
    """The check above sees an error that comes out of NumPy, and lets one of ours be."""
    with pytest.raises(ValueError, match="broadcast") as caught:
        torch.ones(2).numpy() + torch.ones(3).numpy()
    assert not is_own(caught.value.__traceback__)
    with pytest.raises(RuntimeError) as refused:
        torch.ones(2) + torch.ones(3)
    assert is_own(refused.value.__traceback__)


@once_per_other_profile
def test_other_releases_refuse_operands_themselves(other: str) -> None:
    run_again(__file__, other)
