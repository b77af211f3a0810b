"""What CANN's documents leave open: the simulator notices it, and can make something else of it."""

from __future__ import annotations

from collections.abc import Callable
from ctypes import c_int8

import numpy as np
import pytest

from .sim.harness import Runtime, S

pytestmark = pytest.mark.npu

NAN, INF = float("nan"), float("inf")

Run = Callable[[Runtime], np.ndarray]
"""Runs an operator and reads what came of it."""


def cast(values: object, dtype: str, code: int) -> Run:
    def run(runtime: Runtime) -> np.ndarray:
        x = np.asarray(values)
        x = x.astype(np.float32) if x.dtype.kind == "f" else x.astype(np.complex64)
        out = runtime.empty(x.shape, dtype)
        runtime.op("Cast", runtime.tensor(x), code, out)
        return out.read()

    return run


def to_int32(*values: float) -> Run:
    return cast(values, "int32", 3)


def put(*values: float) -> Run:
    def run(runtime: Runtime) -> np.ndarray:
        x = runtime.tensor(np.zeros(3, np.float32))
        places = runtime.tensor(np.array([0, 2, 0]))
        runtime.op(
            "IndexPutImpl", x, [places], runtime.tensor(np.array(values, np.float32)), False, False
        )
        return x.read()

    return run


def scatter(*values: float) -> Run:
    def run(runtime: Runtime) -> np.ndarray:
        x = runtime.tensor(np.zeros(3, np.float32))
        places = runtime.tensor(np.array([0, 2, 0]))
        runtime.op("InplaceScatter", x, 0, places, runtime.tensor(np.array(values, np.float32)), 0)
        return x.read()

    return run


def topk(*values: int, k: int = 2) -> Run:
    def run(runtime: Runtime) -> np.ndarray:
        best, places = runtime.empty((k,), "int64"), runtime.empty((k,), "int64")
        runtime.op(
            "Topk", runtime.tensor(np.array(values, np.int64)), k, 0, True, True, best, places
        )
        return places.read()

    return run


def unary(name: str, *values: complex) -> Run:
    def run(runtime: Runtime) -> np.ndarray:
        x = np.array(values)
        x = x.astype(np.float32 if x.dtype.kind == "f" else np.complex64)
        out = runtime.empty(x.shape, x.dtype.name)
        runtime.op(name, runtime.tensor(x), out)
        return out.read()

    return run


def clamp(low: float) -> Run:
    def run(runtime: Runtime) -> np.ndarray:
        x, out = runtime.tensor(np.array([1, NAN], np.float32)), runtime.empty((2,))
        runtime.op("Clamp", x, S(low), None, out)
        return out.read()

    return run


def moments(*values: float) -> Run:
    def run(runtime: Runtime) -> np.ndarray:
        variance, mean = runtime.empty(()), runtime.empty(())
        x = runtime.tensor(np.array(values, np.float32))
        runtime.op("VarMean", x, [0], 0, False, variance, mean)
        return mean.read()

    return run


def times_nothing(value: float) -> Run:
    def run(runtime: Runtime) -> np.ndarray:
        x, y = (
            runtime.tensor(np.array([[value]], np.float32)),
            runtime.tensor(np.array([[1]], np.float32)),
        )
        out = runtime.empty((1, 1))
        runtime.op("Addmm", y, x, y, S(1.0), S(0.0), out, c_int8(0))
        return out.read()

    return run


OPEN: dict[str, tuple[str, list[int], Run]] = {
    "an integer of infinity": ("integer", [1], to_int32(1.5, INF, -3)),
    "an integer of NaN": ("integer", [0], to_int32(NAN, 2)),
    "an integer of what is too large": ("integer", [0], to_int32(2.0**31, 2)),
    "an unsigned integer of a negative number": ("integer", [1], cast([1.5, -1], "uint8", 4)),
    "an integer of a complex infinity": ("integer", [1], cast([1 + 0j, complex(INF)], "int64", 9)),
    "the sign of NaN": ("nan", [0], unary("Sign", NAN, -2.0)),
    "a bound that is NaN": ("nan", [0, 1], clamp(NAN)),
    "the mean of infinity": ("nan", [0], moments(1, INF)),
    "NaN times nothing": ("nan", [0], times_nothing(NAN)),
    "one by complex infinity": ("complex", [0], unary("Reciprocal", complex(INF, 1), 2j)),
    "two values in one place": ("twice", [0], put(1, 2, 3)),
    "two values scattered to one place": ("twice", [0], scatter(1, 2, 3)),
    "which of two is the largest": ("tie", [0], topk(7, 3, 7, k=1)),
    "in which order three alike come": ("tie", [0, 1, 2], topk(7, 3, 7, 7, k=3)),
}
"""The word for it, and where in the result it shows."""

SETTLED: dict[str, Run] = {
    "integers of numbers that they can be": to_int32(1.5, -(2.0**31), 2.0**31 - 129, -0.9),
    "an unsigned integer of what is nothing": cast([-0.9, 255.9], "uint8", 4),
    "an integer of a complex number": cast([1.5 + 2j], "int64", 9),
    "truth of infinity": cast([INF, NAN, 0], "bool", 12),
    "the sign of infinity": unary("Sign", INF, -INF),
    "a bound": clamp(2.0),
    "a bound that is infinite, and none": clamp(-INF),
    "the mean of numbers": moments(1, 2),
    "a number times nothing": times_nothing(2),
    "one by a complex number": unary("Reciprocal", 1 + 1j, 2j),
    "one value in two places": put(1, 2, 1),
    "one value scattered to two places": scatter(1, 2, 1),
    "two alike that are not among the largest": topk(3, 9, 3, 8),
}


def made(runtime: Runtime, run: Run) -> list[np.ndarray]:
    """What comes of it with each choice."""
    results = []
    for choice in (0, 1, 2):
        runtime.config("choice", choice)
        results.append(np.ravel(run(runtime)))
    return results


@pytest.mark.parametrize("what", OPEN)
def test_what_is_open_is_noticed_and_may_be_something_else(runtime: Runtime, what: str) -> None:
    word, places, run = OPEN[what]
    results = made(runtime, run)
    assert runtime.open() == [word]
    assert runtime.open() == []
    differing = [
        place
        for place in range(results[0].size)
        if len({result[place].tobytes() for result in results}) > 1
    ]
    assert differing == places


@pytest.mark.parametrize("what", SETTLED)
def test_what_is_not_open_is_always_the_same(runtime: Runtime, what: str) -> None:
    results = made(runtime, SETTLED[what])
    assert runtime.open() == []
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])


def test_an_index_out_of_range_is_noticed(lazy: Runtime) -> None:
    out = lazy.empty((1,))
    lazy.op(
        "IndexSelect", lazy.tensor(np.array([1], np.float32)), 0, lazy.tensor(np.array([1])), out
    )
    assert lazy.status("aclrtSynchronizeStream", None) == 507015
    assert lazy.open() == ["fault"]
