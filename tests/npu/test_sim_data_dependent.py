"""Operators of the simulator whose numbers are random or whose shapes are data."""

from __future__ import annotations

from ctypes import POINTER, byref, c_float, c_int, c_int64, c_uint64, c_void_p

import numpy as np
import pytest

from .sim.harness import Runtime, S, Tensor

pytestmark = pytest.mark.npu


def found(runtime: Runtime, out: Tensor) -> np.ndarray:
    """What an operator wrote into an output of its own shape."""
    runtime.synchronize()
    dims, count = POINTER(c_int64)(), c_uint64()
    runtime.call("aclGetViewShape", c_void_p(out.handle), byref(dims), byref(count))
    shape = tuple(dims[: count.value])
    return out.read().reshape(-1)[: int(np.prod(shape))].reshape(shape)


@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
def test_masked_select(runtime: Runtime, share: float) -> None:
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    mask = np.random.default_rng(1).random((3, 4)) < share
    out = runtime.empty((12,))
    runtime.op("MaskedSelect", runtime.tensor(x), runtime.tensor(mask), out)
    np.testing.assert_array_equal(found(runtime, out), x[mask])


def test_nonzero_in_both_layouts(runtime: Runtime) -> None:
    x = np.array([[0, 1, 2], [3, 0, 0]], np.float32)
    places = np.argwhere(x)
    rows, columns = runtime.empty((6, 2), "int64"), runtime.empty((2, 6), "int64")
    runtime.op("Nonzero", runtime.tensor(x), rows)
    runtime.op("NonzeroV2", runtime.tensor(x), columns)
    np.testing.assert_array_equal(found(runtime, rows), places)
    np.testing.assert_array_equal(found(runtime, columns), places.T)


def test_unique(runtime: Runtime) -> None:
    x = np.array([3, 1, 3, 2, 1], np.int64)
    values, inverse, counts = (runtime.empty((5,), "int64") for _ in range(3))
    runtime.op("Unique2", runtime.tensor(x), True, True, True, values, inverse, counts)
    expected = np.unique(x, return_inverse=True, return_counts=True)
    np.testing.assert_array_equal(found(runtime, values), expected[0])
    np.testing.assert_array_equal(inverse.read(), expected[1])
    np.testing.assert_array_equal(counts.read()[:3], expected[2])


# --- random numbers ------------------------------------------------------------------------


def drawn(runtime: Runtime, name: str, *rest: object, dtype: str = "float32") -> np.ndarray:
    x = runtime.empty((100, 100), dtype)
    runtime.op(name, x, *rest)
    return x.read()


def test_the_same_seed_gives_the_same_numbers(runtime: Runtime) -> None:
    first, again = (drawn(runtime, "InplaceUniform", 0.0, 1.0, 5, 0) for _ in range(2))
    other = drawn(runtime, "InplaceUniform", 0.0, 1.0, 5, 1)
    np.testing.assert_array_equal(first, again)
    assert (first != other).mean() > 0.99


def test_uniform_numbers(runtime: Runtime) -> None:
    x = drawn(runtime, "InplaceUniform", -1.0, 3.0, 5, 0)
    assert x.min() >= -1
    assert x.max() < 3
    assert abs(x.mean() - 1) < 0.05
    assert abs(x.var() - 16 / 12) < 0.05


def test_normal_numbers(runtime: Runtime) -> None:
    x = drawn(runtime, "InplaceNormal", c_float(2), c_float(3), 5, 0)
    assert abs(x.mean() - 2) < 0.1
    assert abs(x.std() - 3) < 0.1
    assert 0.66 < (abs(x - 2) < 3).mean() < 0.70


def test_whole_numbers(runtime: Runtime) -> None:
    x = drawn(runtime, "InplaceRandom", 2, 6, 5, 0, dtype="int64")
    values, counts = np.unique(x, return_counts=True)
    assert list(values) == [2, 3, 4, 5]
    assert counts.min() > 2300


def test_bernoulli_by_scalar_and_by_tensor(runtime: Runtime) -> None:
    x = drawn(runtime, "InplaceBernoulli", S(0.25), 5, 0)
    assert set(np.unique(x)) == {0, 1}
    assert abs(x.mean() - 0.25) < 0.02
    out = runtime.empty((100, 100))
    runtime.op("Bernoulli", runtime.empty((100, 100)), S(0.25), 5, 0, out)
    np.testing.assert_array_equal(out.read(), x)
    chances = runtime.tensor(
        np.repeat([[0.0], [1.0]], 50, 0).astype(np.float32) * np.ones(100, "f")
    )
    y = drawn(runtime, "InplaceBernoulliTensor", chances, 5, 0)
    assert (y[:50] == 0).all()
    assert (y[50:] == 1).all()


def test_permutations(runtime: Runtime) -> None:
    out = runtime.empty((50,), "int64")
    runtime.op("Randperm", 50, 3, 0, out)
    assert sorted(out.read()) == list(range(50))
    assert list(out.read()) != list(range(50))


def test_draws_by_weight(runtime: Runtime) -> None:
    weights = runtime.tensor(np.array([[0, 1, 3], [2, 0, 0]], np.float32))
    out = runtime.empty((2, 4000), "int64")
    runtime.op("Multinomial", weights, 4000, True, 3, 0, out)
    first, second = out.read()
    assert set(np.unique(first)) == {1, 2}
    assert abs((first == 2).mean() - 0.75) < 0.03
    assert (second == 0).all()
    once = runtime.empty((2,), "int64")
    runtime.op("Multinomial", runtime.tensor(np.array([1, 1], np.float32)), 2, False, 3, 0, once)
    assert sorted(once.read()) == [0, 1]


def test_dropout_keeps_what_its_mask_says(runtime: Runtime) -> None:
    x, out = runtime.tensor(np.ones((10, 100), np.float32)), runtime.empty((10, 100))
    mask, same = runtime.empty((128,), "uint8"), runtime.empty((128,), "uint8")
    runtime.op("DropoutGenMask", (10, 100), 0.25, 7, 0, mask)
    runtime.op("DropoutGenMaskV2", (10, 100), 0.25, 7, 0, c_int(0), same)
    runtime.op("DropoutDoMask", x, mask, 0.25, out)
    np.testing.assert_array_equal(mask.read(), same.read())
    kept = np.unpackbits(mask.read(), bitorder="little")[:1000].reshape(10, 100)
    assert abs(kept.mean() - 0.75) < 0.05
    np.testing.assert_allclose(out.read(), kept / 0.75, rtol=1e-6)


def test_maxima_come_back_by_their_mask(runtime: Runtime) -> None:
    x = np.random.default_rng(2).normal(size=(1, 2, 4, 4)).astype(np.float32)
    two, zero, one = (2, 2), (0, 0), (1, 1)
    out, mask = runtime.empty((1, 2, 2, 2)), runtime.empty((1, 2, 4, 64), "int8")
    given = runtime.tensor(x)
    runtime.op("MaxPool2dWithMask", given, two, two, zero, one, False, out, mask)
    windows = x.reshape(1, 2, 2, 2, 2, 2)
    np.testing.assert_array_equal(out.read(), windows.max((3, 5)))
    grad, result = runtime.tensor(np.full((1, 2, 2, 2), 3, np.float32)), runtime.empty(x.shape)
    runtime.op("MaxPool2dWithMaskBackward", grad, given, mask, two, two, zero, one, False, result)
    spread = windows.max((3, 5)).repeat(2, 2).repeat(2, 3)
    np.testing.assert_array_equal(result.read(), np.where(x == spread, 3, 0))


def test_attributes_of_random_operators_are_checked(lazy: Runtime) -> None:
    x = lazy.empty((4,))
    assert lazy.refusal("InplaceUniform", x, 2.0, 1.0, 0, 0) == 161002
    assert lazy.refusal("InplaceNormal", x, c_float(0), c_float(-1), 0, 0) == 161002
    assert lazy.refusal("InplaceRandom", x, 3, 3, 0, 0) == 161002
    assert lazy.refusal("InplaceBernoulli", x, S(1.5), 0, 0) == 161002
    assert lazy.refusal("DropoutDoMask", x, lazy.empty((4,), "uint8"), 0.5, x) == 161002
    assert lazy.rules() == ["operator-attribute"] * 4 + ["operator-shape"]
