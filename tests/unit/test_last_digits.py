"""Products that are not rounded, and functions of vectors: against numbers computed exactly."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import mindtorch_v2 as torch
from mindtorch_v2.kernels.cpu import (
    onednn,
)
from mindtorch_v2.kernels.cpu.functions.fused import fused
from mindtorch_v2.kernels.cpu.functions.vector_functions import exp_of_vectors, over_lanes


def _exactly(a: Any, b: Any, c: Any) -> Fraction:
    return Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_product_is_rounded_with_the_sum(kind: type) -> None:
    chosen = np.random.default_rng(0)
    a, b = (chosen.normal(size=500).astype(kind) for _ in range(2))
    c = (-a * b).astype(kind)  # of which only what the product lost is left
    for found, *numbers in zip(fused(a, b, c), a, b, c, strict=True):
        assert Fraction(float(found)) == _exactly(*numbers)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_zeros_keep_their_signs_and_what_overflows_is_infinite(kind: type) -> None:
    a, b, c = (np.array(each, kind) for each in ([-0.0, np.finfo(kind).max], [1, 2], [-0.0, 0]))
    with np.errstate(all="ignore"):
        found = fused(a, b, c)
    assert np.signbit(found[0])
    assert found[0] == 0
    assert found[1] == np.inf


def test_the_exponential_of_vectors_is_close_and_has_ends() -> None:
    x = np.linspace(-103, 88, 3001).astype(np.float32)
    exact = np.exp(x.astype(np.float64))
    normal = x > -87
    assert np.all(np.abs(exp_of_vectors(x) / exact - 1)[normal] < 1.2e-7)
    ends = exp_of_vectors(np.array([-105, 101, np.nan, np.inf, -np.inf, 0], np.float32))
    assert np.array_equal(ends, np.array([0, np.inf, np.nan, np.inf, 0, 1]), equal_nan=True)


def test_what_is_left_over_of_a_row_is_computed_one_by_one() -> None:
    seen: list[int] = []

    def compute(functions: Any, values: np.ndarray) -> np.ndarray:
        seen.append(values.size)
        return values + (functions.exp is exp_of_vectors)

    run = over_lanes(compute)
    values = np.zeros(20, np.float32)
    assert run(values).tolist() == [1] * 16 + [0] * 4
    assert run(values[:16]).tolist() == [1] * 16
    assert run(values[:3]).tolist() == [0] * 3
    assert run(values, lanes=values > 0).tolist() == [0] * 20


_CALLS: list[Callable[[torch.Tensor], torch.Tensor]] = [
    torch.sigmoid,
    torch.nn.functional.silu,
    torch.nn.functional.gelu,
    lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
]


@pytest.mark.parametrize("call", _CALLS)
def test_a_call_answers_the_same_the_second_time(
    call: Callable[[torch.Tensor], torch.Tensor],
) -> None:
    """The first call finds out what there is to check, and the others go a shorter way."""
    x = torch.linspace(-9, 9, 187)
    first = call(x).tolist()
    for _ in range(12):
        assert call(x).tolist() == first


def test_the_derivative_of_tanh_keeps_what_one_loses() -> None:
    y = torch.tensor([1 - 2.0**-22, 1 - 2.0**-23])
    found = torch.ops.aten.tanh_backward(torch.ones(2), y)
    assert found.tolist() == [2.0**-21 - 2.0**-44, 2.0**-22 - 2.0**-46]


def test_quotients_of_halves_are_rounded_before_they_are_cut() -> None:
    x, y = torch.tensor([29.875], dtype=torch.bfloat16), torch.tensor([1.0, 0.99609375])
    rows = x.expand(2), y.to(torch.bfloat16)
    assert torch.div(*rows, rounding_mode="trunc").tolist() == [29, 30]


_AVX512 = SimpleNamespace(__cpu_features__={"AVX512_SKX": True})


@pytest.fixture
def limit(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Limits oneDNN's vectors on a processor that has AVX512."""

    def limit(isa: str) -> None:
        monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", isa)
        onednn.has_avx512.cache_clear()

    monkeypatch.setattr(onednn, "import_module", lambda name: _AVX512)
    yield limit
    onednn.has_avx512.cache_clear()


@pytest.mark.parametrize(
    ("isa", "far_below"),
    [
        ("AVX2", "0.0"),
        ("avx2_vnni", "0.0"),
        ("SSE41", "0.0"),
        ("AVX512_CORE", "-0.0"),
        ("", "-0.0"),
    ],
)
def test_gelu_is_computed_with_the_vectors_that_onednn_may_use(
    isa: str, far_below: str, limit: Callable[[str], None]
) -> None:
    """Of AVX2 it is another polynomial than of AVX512, and loses the sign of nothing."""
    limit(isa)
    assert str(torch.nn.functional.gelu(torch.tensor([-9.0, 1.0])).tolist()[0]) == far_below


def test_the_derivative_of_gelu_has_the_constants_of_onednn(limit: Callable[[str], None]) -> None:
    """With the root of pi rounded, and not cut off, these were a digit more."""
    limit("AVX2")
    x = torch.tensor([-2.125, -2.0, -1.5])
    found = torch.ops.aten.gelu_backward(torch.ones(3), x).tolist()
    expected = ["-0x1.265ab00000000p-4", "-0x1.5d1c180000000p-4", "-0x1.050e8c0000000p-3"]
    assert [value.hex() for value in found] == expected
