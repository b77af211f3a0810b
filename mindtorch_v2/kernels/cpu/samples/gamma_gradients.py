"""How samples of gamma and Dirichlet distributions move with their parameters.

Mirrors ``standard_gamma_grad_one``, ``dirichlet_grad_one`` and ``digamma_one`` of
``aten/src/ATen/native/Distributions.h``: series for small numbers, saddle points for large ones,
and rational approximations between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels.cpu.samples.gammas import fitted
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import FLOATING_TYPES, dispatch_over
from mindtorch_v2.tensor.copying import store
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.tensor import Tensor

_LIMIT: Final = float(np.float32(0.8))
_CLOSE: Final = (float(np.float32(0.9)), float(np.float32(1.1)))
_PSI_10: Final = 2.25175258906672110764
_ASYMPTOTIC: Final = (
    8.33333333333333333333e-2,
    -2.10927960927960927961e-2,
    7.57575757575757575758e-3,
    -4.16666666666666666667e-3,
    3.96825396825396825397e-3,
    -8.33333333333333333333e-3,
    8.33333333333333333333e-2,
)

#: Of the gradient of a gamma sample, by powers of one logarithm and of another.
_GAMMA: Final = (
    (0.16009398, -0.094634809, 0.025146376, -0.0030648343),
    (1, 0.32668115, 0.10406089, 0.0014179084),
    (0.53487893, 0.1298071, 0.065735949, -0.0015649758),
    (0.16639465, 0.020070113, -0.0035938915, -0.00058392623),
    (0.040121004, -0.0065914022, -0.0026286047, -0.0013441777),
    (0.017050642, -0.0021309326, 0.00085092367, -1.5247877e-07),
)
#: Of that of a Dirichlet sample: numerator and denominator, by powers of three.
_DIRICHLET: Final = (
    (
        (
            (1.003668233, -0.01061107488, -0.0657888334, 0.01201642863),
            (0.6336835991, -0.3557432599, 0.05486251648, -0.001465281033),
            (-0.03276231906, 0.004474107445, 0.002429354597, -0.0001557569013),
        ),
        (
            (0.221950385, -0.3187676331, 0.01799915743, 0.01074823814),
            (-0.2951249643, 0.06219954479, 0.01535556598, 0.001550077057),
            (0.02155310298, 0.004170831599, 0.001292462449, 6.976601077e-05),
        ),
        (
            (-0.05980841433, 0.008441916499, 0.01085618172, 0.002319392565),
            (0.02911413504, 0.01400243777, -0.002721828457, 0.000751041181),
            (0.005900514878, -0.001936558688, -9.495446725e-06, 5.385558597e-05),
        ),
    ),
    (
        (
            (1, -0.02924021934, -0.04438342661, 0.007285809825),
            (0.6357567472, -0.3473456711, 0.05454656494, -0.002407477521),
            (-0.03301322327, 0.004845219414, 0.00231480583, -0.0002307248149),
        ),
        (
            (0.5925320577, -0.1757678135, 0.01505928619, 0.000564515273),
            (0.1014815858, -0.06589186703, 0.01272886114, -0.0007316646956),
            (-0.007258481865, 0.001096195486, 0.0003934994223, -4.12701925e-05),
        ),
        (
            (0.06469649321, -0.0236701437, 0.002902096474, -5.896963079e-05),
            (0.001925008108, -0.002869809258, 0.0008000589141, -6.063713228e-05),
            (-0.0003477407336, 6.959756487e-05, 1.097287507e-05, -1.650964693e-06),
        ),
    ),
)


@kernel("aten::_standard_gamma_grad")
def standard_gamma_grad(self: Tensor, output: Tensor) -> Tensor:
    result, (alphas, samples) = fitted(self, (self, output))
    dispatch_over(FLOATING_TYPES, "_standard_gamma_grad_cpu", self._dtype)
    with np.errstate(all="ignore"):
        store(result, _gamma_grad(alphas.astype(np.float64), samples.astype(np.float64)))
    return result


@kernel("aten::_dirichlet_grad")
def dirichlet_grad(x: Tensor, alpha: Tensor, total: Tensor) -> Tensor:
    result, values = fitted(x, (x, alpha, total))
    dispatch_over(FLOATING_TYPES, "_dirichlet_grad_cpu", x._dtype)
    with np.errstate(all="ignore"):
        store(result, _dirichlet_grad(*values))
    return result


def digamma_one(x: Array) -> Array:
    """In double precision, of a number in its own."""
    kind = x.dtype.type
    is_integer = x == np.floor(x)
    reflected = np.where(x < 0, -kind(np.pi) / np.tan(kind(np.pi) * x), kind(0))
    at = np.where(x < 0, kind(1) - x, x)
    total = np.zeros(at.shape)
    for _ in range(10):
        is_small = at < 10
        total = np.where(is_small, total - kind(1) / at, total)
        at = np.where(is_small, at + kind(1), at)
    inverse = (1.0 / (at * at)).astype(np.float64)
    tail = np.zeros(at.shape)
    for coefficient in _ASYMPTOTIC:
        tail = tail * inverse + coefficient
    tail = np.where(at < np.float32(1e17), inverse * tail, 0)
    found = total + np.log(at) - kind(0.5) / at - tail + reflected
    found = np.where(at == 10, total + _PSI_10 + reflected, found)
    return np.where((x == 0) | ((x < 0) & is_integer), np.inf, found)


# --- gamma ------------------------------------------------------------------------------------


def _gamma_grad(alpha: Array, x: Array) -> Array:
    between = _gamma_between(alpha, x)
    found = np.where(alpha > 8, _gamma_large(alpha, x), between)
    return np.asarray(np.where(x < _LIMIT, _gamma_small(alpha, x), found))


def _gamma_small(alpha: Array, x: Array) -> Any:
    numerator, denominator = np.ones(x.shape), alpha
    first, second = numerator / denominator, numerator / (denominator * denominator)
    for step in range(1, 6):
        numerator = numerator * (-x / step)
        denominator = denominator + 1
        first = first + numerator / denominator
        second = second + numerator / (denominator * denominator)
    power = x**alpha
    density = x ** (alpha - 1) * np.exp(-x)
    slope = (np.log(x) - digamma_one(alpha)) * (power * first) - power * second
    found = -slope / density
    return np.where(np.isnan(found), 0, found)


def _gamma_large(alpha: Array, x: Array) -> Any:
    numer_1 = 1 + 24 * alpha * (1 + 12 * alpha)
    numer_2 = (
        1440 * (alpha * alpha)
        + 6 * x * (53 - 120 * x)
        - 65 * x * x / alpha
        + alpha * (107 + 3600 * x)
    )
    near = numer_1 * numer_2 / (1244160 * (alpha * alpha) * (alpha * alpha))
    root = np.sqrt(8 * alpha)
    term2 = root / (alpha - x)
    term3 = (x - alpha - alpha * np.log(x / alpha)) ** -1.5
    term23 = np.where(x < alpha, term2 - term3, term2 + term3)
    distance = (alpha - x) * (alpha - x)
    term1 = np.log(x / alpha) * term23 - np.sqrt(2 / alpha) * (alpha + x) / distance
    stirling = 1 + 1 / (12 * alpha) * (1 + 1 / (24 * alpha))
    low, high = _CLOSE
    return np.where((low * alpha <= x) & (x <= high * alpha), near, -stirling * (x * term1) / root)


def _gamma_between(alpha: Array, x: Array) -> Any:
    u, v = np.log(x / alpha), np.log(alpha)
    parts = []
    for place in range(2):
        rows = _GAMMA[place::2]
        by_v = [a + u * (b + u * c) for a, b, c in zip(*rows, strict=True)]
        parts.append(by_v[0] + v * (by_v[1] + v * (by_v[2] + v * by_v[3])))
    return np.exp(parts[0] / parts[1])


# --- Dirichlet --------------------------------------------------------------------------------


def _dirichlet_grad(x: Array, alpha: Array, total: Array) -> Array:
    kind = x.dtype.type
    beta = total - alpha
    boundary = total * x * (kind(1) - x)
    wide = [each.astype(np.float64) for each in (x, alpha, total)]
    found = _beta_between(wide, total, alpha)
    is_large = (alpha > 6) & (beta > 6)
    found = np.where(is_large, _beta_large(wide[0], wide[1], wide[2] - wide[1]), found)
    ends = -_beta_small_in_beta(kind(1) - x, beta, alpha)
    found = np.where((x >= 0.5) & (boundary < 0.75), ends, found)
    return np.asarray(np.where((x <= 0.5) & (boundary < 2.5), _beta_small(x, alpha, beta), found))


def _beta_small(x: Array, alpha: Array, beta: Array) -> Any:
    kind = x.dtype.type
    log = np.log(x)
    factor = (digamma_one(alpha) - digamma_one(alpha + beta)).astype(kind) - log
    numerator: Any = np.ones(x.shape, kind)
    series = numerator / alpha * (factor + kind(1) / alpha)
    for step in range(1, 11):
        number = kind(step)
        numerator = numerator * ((number - beta) * x / number)
        denominator = alpha + number
        series = series + numerator / denominator * (factor + kind(1) / denominator)
    found = x * (kind(1) - x) ** -beta * series
    return np.where(np.isnan(found), kind(0), found)


def _beta_small_in_beta(x: Array, alpha: Array, beta: Array) -> Any:
    kind = x.dtype.type
    factor = (digamma_one(alpha + beta) - digamma_one(beta)).astype(kind)
    numerator, betas = np.ones(x.shape, kind), np.ones(x.shape, kind)
    slopes = np.zeros(x.shape, kind)
    series = factor / alpha
    for step in range(1, 9):
        number = kind(step)
        numerator = numerator * (-x / number)
        slopes = slopes * (beta - number) + betas
        betas = betas * (beta - number)
        series = series + numerator / (alpha + number) * (slopes + factor * betas)
    found = -((kind(1) - x) ** (kind(1) - beta)) * series
    return np.where(np.isnan(found), kind(0), found)


def _beta_large(x: Array, alpha: Array, beta: Array) -> Any:
    total = alpha + beta
    mean = alpha / total
    deviation = np.sqrt(alpha * beta / (total + 1)) / total
    poly = 8 * (1 - x) * (135 * beta - 11)
    poly = (453 + 1620 * beta * (1 - x) - 455 * x) * beta + alpha * poly
    poly = 3 * (59 + 180 * beta - 90 * x) * (beta * beta) + alpha * poly
    poly = (43 + 20 * (16 + 27 * beta) * x) * (beta * beta) * beta + alpha * poly
    poly = 47 * x * (beta * beta) * (beta * beta) + alpha * poly
    above = (1 + 12 * alpha) * (1 + 12 * beta) / (total * total)
    below = 12960 * alpha * alpha * alpha * beta * beta * (1 + 12 * total)
    near = above / (1 - x) * poly / below
    prefactor = -x / np.sqrt(2 * alpha * beta / total)
    first, second, both = (
        1 + 1 / (12 * each) + 1 / (288 * each * each) for each in (alpha, beta, total)
    )
    axbx = alpha * (x - 1) + beta * x
    term1 = 2 * (alpha * alpha) * (x - 1) + alpha * beta * (x - 1) - x * (beta * beta)
    term1 = term1 / (np.sqrt(2 * alpha / beta) * total**1.5 * axbx * axbx)
    term2 = 0.5 * np.log(alpha / (total * x))
    term3 = np.sqrt(8 * alpha * beta / total) / (beta * x + alpha * (x - 1))
    base = beta * np.log(beta / (total * (1 - x))) + alpha * np.log(alpha / (total * x))
    term4 = base**-1.5
    terms = term1 + term2 * (term3 + np.where(x < mean, term4, -term4))
    is_near = (mean - 0.1 * deviation <= x) & (x <= mean + 0.1 * deviation)
    return np.where(is_near, near, first * second / both * prefactor * terms)


def _beta_between(wide: Sequence[Array], own_total: Array, own_alpha: Array) -> Any:
    x, alpha, total = wide
    u = np.log(x)
    a = np.log(alpha) - u
    b = np.log(total) - a
    parts = []
    for rows in _DIRICHLET:
        part = np.zeros(x.shape)
        for power_u, by_a in zip((1, u, u * u), rows, strict=True):
            for power_a, (c0, c1, c2, c3) in zip((1, a, a * a), by_a, strict=True):
                part = part + power_u * power_a * (c0 + b * (c1 + b * (c2 + b * c3)))
        parts.append(part)
    kind = own_total.dtype
    psi = digamma_one(own_total).astype(kind) - digamma_one(own_alpha).astype(kind)
    return parts[0] / parts[1] * (x * psi / (total - alpha))
