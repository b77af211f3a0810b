"""How a test of one operator is written: its arguments, and what numpy says.

    Case("Add", [T(2, 3), T(3), S(2), Out()], lambda a, b: a + 2 * b)

The function gets the tensors that are read, in order; what it returns gives the outputs' shapes
and values.  A case runs with contiguous and with strided tensors, and, where ``empty`` says so,
with a first dimension of 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

from .harness import Runtime, Tensor, bfloat16

__all__ = ["Case", "Fixed", "Out", "Ref", "T", "empty_of", "in_place_of", "run_case"]

LAYOUTS: Final = ("contiguous", "strided")


@dataclass(frozen=True)
class T:
    """A tensor that is read: random values in [low, high), or whole numbers for integers."""

    shape: tuple[int, ...]
    dtype: str = "float32"
    low: float = -3
    high: float = 3

    def __init__(self, *shape: int, dtype: str = "float32", low: float = -3, high: float = 3):
        object.__setattr__(self, "shape", shape)
        object.__setattr__(self, "dtype", dtype)
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    def values(self, random: np.random.Generator) -> np.ndarray:
        if self.dtype == "bool":
            return random.integers(0, 2, self.shape).astype(bool)
        if self.dtype.startswith("complex"):
            parts = [random.uniform(self.low, self.high, self.shape) for _ in range(2)]
            return np.asarray(parts[0] + 1j * parts[1]).astype(self.dtype)
        if "int" in self.dtype:
            low = max(self.low, 0) if self.dtype.startswith("u") else self.low
            return np.asarray(random.integers(int(low), int(self.high), self.shape), self.dtype)
        if self.dtype == "bfloat16":
            bits = bfloat16(random.uniform(self.low, self.high, self.shape))
            return (bits.astype(np.uint32) << 16).view(np.float32)
        return np.asarray(random.uniform(self.low, self.high, self.shape), self.dtype)


class Ref(T):
    """A tensor that is read and written: the first result is what it then holds."""


@dataclass(frozen=True)
class Fixed:
    """A tensor with given values: indices, masks, probabilities."""

    array: np.ndarray

    @property
    def dtype(self) -> str:
        return str(self.array.dtype)

    def values(self, random: np.random.Generator) -> np.ndarray:
        return self.array


@dataclass(frozen=True)
class Out:
    """A tensor that is written; its dtype is the result's unless it says another."""

    dtype: str | None = None


@dataclass(frozen=True)
class Case:
    name: str
    arguments: Sequence[Any]
    expected: Callable[..., Any]
    empty: bool = False
    rtol: float = 2e-6
    atol: float = 1e-6
    note: str = ""
    layouts: tuple[str, ...] = field(default=LAYOUTS)

    def __str__(self) -> str:
        return f"{self.name}{'-' + self.note if self.note else ''}"


def in_place_of(case: Case) -> Case:
    """The in-place twin: the first tensor is written, and there is no other output."""
    arguments = list(case.arguments)
    first = next(i for i, each in enumerate(arguments) if isinstance(each, T))
    given = arguments[first]
    arguments[first] = Ref(*given.shape, dtype=given.dtype, low=given.low, high=given.high)
    kept = [each for each in arguments if not isinstance(each, Out)]
    return replace(case, name=f"Inplace{case.name}", arguments=kept)


def empty_of(case: Case) -> Case:
    """The same with no elements in the first dimension of every tensor of full rank."""
    rank = max(len(each.shape) for each in case.arguments if isinstance(each, T))

    def without(each: Any) -> Any:
        if not isinstance(each, T) or len(each.shape) < rank:
            return each
        return type(each)(0, *each.shape[1:], dtype=each.dtype, low=each.low, high=each.high)

    arguments = [
        [without(part) for part in each] if isinstance(each, list) else without(each)
        for each in case.arguments
    ]
    return replace(case, arguments=arguments, note=f"{case.note}empty")


def strided(array: np.ndarray) -> np.ndarray:
    """The same values as a view of a larger array: every second element, axes in reverse."""
    base = np.zeros([2 * size + 1 for size in reversed(array.shape)], array.dtype)
    view = base[tuple(slice(1, None, 2) for _ in array.shape)].T
    view[...] = array
    return view


def run_case(runtime: Runtime, case: Case, layout: str) -> None:
    """Runs a case and compares every output."""
    random = np.random.default_rng(1)
    read: list[np.ndarray] = []

    def place(array: np.ndarray, dtype: str) -> Tensor:
        bits = bfloat16(array) if dtype == "bfloat16" else array
        laid = strided(bits) if layout == "strided" and bits.size > 1 else bits
        return runtime.tensor(laid, dtype)

    def make(each: Any) -> Any:
        if isinstance(each, list) and any(isinstance(part, (T, Fixed)) for part in each):
            return [make(part) for part in each]
        if isinstance(each, (T, Fixed)):
            read.append(each.values(random))
            return place(read[-1], each.dtype)
        return each

    given = [make(each) for each in case.arguments]
    with np.errstate(all="ignore"):
        results = case.expected(*read)
    results = list(results) if isinstance(results, (tuple, list)) else [results]
    outputs: list[tuple[Tensor, np.ndarray]] = []

    def receive(each: Any, given_value: Any) -> Any:
        if isinstance(each, list) and each and isinstance(each[0], Out):
            return [receive(part, None) for part in each]
        if not isinstance(each, (Ref, Out)):
            return given_value
        result = np.asarray(results[len(outputs)])
        if isinstance(each, Out):
            dtype = each.dtype or result.dtype.name
            bits = np.dtype("uint16" if dtype == "bfloat16" else dtype)
            given_value = place(np.zeros(result.shape, bits), dtype)
        outputs.append((given_value, result))
        return given_value

    given = [receive(each, value) for each, value in zip(case.arguments, given, strict=True)]
    assert len(outputs) == len(results), "a result for each output"
    runtime.op(case.name, *given)
    for tensor, result in outputs:
        got = tensor.read()
        np.testing.assert_allclose(
            got.astype(result.dtype), result, case.rtol, case.atol, err_msg=str(case)
        )
