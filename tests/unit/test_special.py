"""Special functions against what they are defined by, or what ties them to each other."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import mindtorch_v2 as torch
from mindtorch_v2.kernels.cpu.functions import (
    c_library,
)
from mindtorch_v2.kernels.cpu.functions.series import by_pieces
from mindtorch_v2.tensor.quiet import quietly

FEW_ULPS = 1e-13


def _points(low: float, high: float, count: int = 400) -> Any:
    return torch.linspace(low, high, count, dtype=torch.float64)


def _near(found: Any, wanted: Any, tolerance: float = FEW_ULPS) -> None:
    np.testing.assert_allclose(
        np.asarray(found), np.asarray(wanted), rtol=tolerance, atol=tolerance
    )


def test_bessel_functions_of_both_kinds_have_their_wronskian() -> None:
    """To the digits that torch's have: divisors lack their highest power."""
    x, special = _points(0.1, 40), torch.special
    j0, j1 = special.bessel_j0(x), special.bessel_j1(x)
    _near(j1 * special.bessel_y0(x) - j0 * special.bessel_y1(x), 2 / (math.pi * x), 1e-6)


def test_modified_bessel_functions_have_theirs() -> None:
    x, special = _points(0.1, 40), torch.special
    falling = special.scaled_modified_bessel_k0(x), special.scaled_modified_bessel_k1(x)
    growing = special.i0e(x), special.i1e(x)
    _near(growing[0] * falling[1] + growing[1] * falling[0], 1 / x)
    _near(special.i1(-x[:9]), -special.modified_bessel_i1(x[:9]))


def test_pieces_of_airys_function_meet() -> None:
    """Nearly: as torch has it, divisors of the waves lack their highest power."""
    for end in (-2.09, 2.09, 8.3203353):
        sides = torch.tensor([end - 1e-9, end + 1e-9], dtype=torch.float64)
        below, above = torch.special.airy_ai(sides).tolist()
        assert below == pytest.approx(above, rel=1e-4)
    assert torch.special.airy_ai(torch.zeros(1, dtype=torch.float64)).item() == pytest.approx(
        1 / (3 ** (2 / 3) * math.gamma(2 / 3)), rel=FEW_ULPS
    )


def test_the_two_incomplete_gamma_functions_add_up_to_one() -> None:
    a = torch.logspace(-2, 3, 60, dtype=torch.float64)[:, None]
    x = a * _points(0.1, 4, 50)
    _near(torch.igamma(a, x) + torch.igammac(a, x), np.ones((60, 50)))
    _near(torch.igamma(torch.ones_like(x), x), 1 - torch.exp(-x))


def test_the_inverse_of_the_normal_distribution_is_one() -> None:
    y = torch.cat((torch.logspace(-300, -1, 50, dtype=torch.float64), _points(0.1, 0.99)))
    logarithm = torch.special.log_ndtr(torch.special.ndtri(y))
    _near(logarithm, torch.log(y))
    _near(torch.special.ndtr(torch.special.ndtri(y)), y)


def test_erfcx_is_scaled_erfc() -> None:
    x = _points(-5, 5)
    wanted = [math.exp(each * each) * math.erfc(each) for each in x.tolist()]
    _near(torch.special.erfcx(x), wanted)
    far = torch.tensor([50.1, 1e8], dtype=torch.float64)
    _near(torch.special.erfcx(far) * far * math.sqrt(math.pi), [1, 1], 1e-3)


def test_polynomials_of_chebyshev_are_waves() -> None:
    angle, special = _points(0.1, 3, 50), torch.special
    x, n = torch.cos(angle), torch.arange(20, dtype=torch.float64)[:, None]
    _near(special.chebyshev_polynomial_t(x, n), torch.cos(n * angle), 1e-11)
    _near(special.chebyshev_polynomial_u(x, n) * angle.sin(), torch.sin((n + 1) * angle), 1e-11)
    halves = (x + 1) / 2
    for letter in "tuvw":
        plain = getattr(special, f"chebyshev_polynomial_{letter}")
        shifted = getattr(special, f"shifted_chebyshev_polynomial_{letter}")
        _near(shifted(halves, n), plain(x, n), 1e-11)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("hermite_polynomial_h", lambda x: 8 * x**3 - 12 * x),
        ("hermite_polynomial_he", lambda x: x**3 - 3 * x),
        ("laguerre_polynomial_l", lambda x: (-(x**3) + 9 * x**2 - 18 * x + 6) / 6),
        ("legendre_polynomial_p", lambda x: (5 * x**3 - 3 * x) / 2),
    ],
)
def test_a_polynomial_of_degree_three(name: str, wanted: Any) -> None:
    x, function = _points(-3, 3), getattr(torch.special, name)
    _near(function(x, 3.9), wanted(x))
    assert function(x, -1).tolist() == [0] * len(x)
    assert function(x, math.nan).tolist() == [0] * len(x)


def test_zeta_and_its_poles() -> None:
    found = torch.special.zeta(
        torch.tensor([2.0, 4.0, 1.0, 0.5, 3.0]), torch.tensor([1, 1, 1, 1, -2])
    )
    _near(found[:2], [math.pi**2 / 6, math.pi**4 / 90], 1e-6)
    assert found[2:].isinf().tolist() == [True, False, True]
    assert found[3].isnan()


def test_mvlgamma_is_a_sum() -> None:
    x = _points(2, 9)
    wanted = torch.lgamma(x) + torch.lgamma(x - 0.5) + math.log(math.pi) / 2
    _near(torch.mvlgamma(x, 2), wanted)
    with pytest.raises(RuntimeError, match="greater than or equal to 1"):
        torch.mvlgamma(x, 0)


def test_the_slope_of_i1_at_nought_is_a_half() -> None:
    x = torch.zeros(1, requires_grad=True)
    torch.special.i1(x).backward()
    assert x.grad is not None
    assert x.grad.tolist() == [0.5]


def test_floats_of_the_c_library_are_next_to_the_exact_number() -> None:
    inner = np.linspace(-0.999, 0.999, 5001, dtype=np.float32)
    large = np.linspace(0.1, 500, 5001, dtype=np.float32)
    for found, wanted in (
        (quietly(c_library.acos, inner), np.arccos(inner.astype(np.float64))),
        (quietly(c_library.log1p, inner), np.log1p(inner.astype(np.float64))),
        (quietly(c_library.log1p, large), np.log1p(large.astype(np.float64))),
    ):
        assert np.all(np.abs(found - wanted) <= np.spacing(np.abs(found)))
    wanted = np.array([math.lgamma(each) for each in large.tolist()])
    np.testing.assert_allclose(c_library.lgamma(large), wanted, rtol=1e-6, atol=1e-6)


def test_the_first_piece_that_is_there_is_computed() -> None:
    x = np.array([1.0, 2.0, 3.0])
    seen: list[list[float]] = []

    def double(values: Any) -> Any:
        seen.append(values.tolist())
        return values * 2

    assert by_pieces((x,), (x < 2, 0), (x < 3, double), (True, np.nan)).tolist()[:2] == [0, 4]
    assert seen == [[2]]
