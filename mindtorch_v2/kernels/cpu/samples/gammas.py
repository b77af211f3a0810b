"""Samples of binomial, gamma and Dirichlet distributions.

Mirrors ``aten/src/ATen/native/Distributions.h`` and ``Distributions.cpp``: inversion of geometric
samples or transformed rejection (Hörmann, 1993), and the rejection of Marsaglia and Tsang (2000).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels.cpu.samples import distributions
from mindtorch_v2.kernels.cpu.samples.distributions import FLOAT64, generator_of
from mindtorch_v2.kernels.elementwise.tensor_iterator import Config, TensorIterator
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import FLOATING_TYPES, HABITS, dispatch_over
from mindtorch_v2.tensor import factories
from mindtorch_v2.tensor.copying import store, value_array
from mindtorch_v2.tensor.elements import Array, elements_of
from mindtorch_v2.tensor.generator import Generator
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.support import CPP_NAMES
from mindtorch_v2.tensor.tensor import Tensor

ALIKE: Final = Config(is_structured=False)
_SUM: Final = OperatorHandle("aten::sum.dim_IntList")
_THIRD: Final = float(np.float32(1) / np.float32(3))
_SQUEEZE: Final = float(np.float32(0.0331))

#: What Stirling's formula lacks of the logarithms of small factorials.
_TAILS: Final = (
    0.0810614667953272,
    0.0413406959554092,
    0.0276779256849983,
    0.02079067210376509,
    0.0166446911898211,
    0.0138761288230707,
    0.0118967099458917,
    0.0104112652619720,
    0.00925546218271273,
    0.00833056343336287,
)

Draw = Callable[[], float]


def fitted(like: Tensor, inputs: Sequence[Tensor]) -> tuple[Tensor, list[Array]]:
    """An output of a tensor's size, and the inputs' values in the shape that they have together."""
    output = factories.zeros(tuple(like._sizes), dtype=like._dtype)
    iterator = TensorIterator(ALIKE, (output,), inputs)
    return output, [np.broadcast_to(value_array(each), iterator.shape) for each in inputs]


def _log(value: float) -> float:
    """As C has it."""
    if value > 0:
        return math.log(value)
    return math.nan if value else -math.inf


def _uniform_of(generator: Generator) -> Draw:
    return lambda: float(distributions.uniform_doubles(generator, 1)[0])


# --- binomial ---------------------------------------------------------------------------------


@kernel("aten::binomial")
def binomial(count: Tensor, prob: Tensor, generator: Generator | None) -> Tensor:
    if HABITS["a binomial sample looks at dtypes first"]:
        for name, tensor in (("count", count), ("prob", prob)):
            if not tensor._dtype.is_floating_point:
                raise ValueError(
                    f"binomial only supports floating-point dtypes for {name}, got: "
                    f"{CPP_NAMES[tensor._dtype]}"
                )
    output, (counts, probabilities) = fitted(count, (count, prob))
    dispatch_over(FLOATING_TYPES, "binomial_cpu", output._dtype)
    draw = _uniform_of(generator_of(generator))
    pairs = zip(counts.ravel(), probabilities.ravel(), strict=True)
    with np.errstate(all="ignore"):
        found = [_binomial(*pair, draw) for pair in pairs]
    if found:
        store(output, np.array(found, np.float64).reshape(counts.shape))
    return output


def _binomial(count: Any, prob: Any, draw: Draw) -> Any:
    """Of a number of trials and a probability, which are computed with in their own precision."""
    if count <= 0 or prob <= 0:
        return 0
    if prob >= 1:
        return count
    if math.isnan(prob):
        return prob
    if prob > 0.5:
        return count - _successes(count, type(prob)(1.0 - float(prob)), draw)
    return _successes(count, prob, draw)


def _successes(count: Any, prob: Any, draw: Draw) -> Any:
    if count * prob >= 10:
        return _by_rejection(count, prob, draw)
    rate, found, total = float(np.log1p(-prob)), 0, 0.0
    while True:
        ratio = _log(draw()) / rate
        total += math.ceil(ratio) if math.isfinite(ratio) else ratio
        if total > count:
            return type(count)(found)
        found += 1


def _by_rejection(count: Any, prob: Any, draw: Draw) -> Any:
    deviation = float(np.sqrt(count * prob * (1 - prob)))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * float(prob)
    middle = float(count * prob) + 0.5
    odds = float(prob / (1 - prob))
    alpha = (2.83 + 5.1 / b) * deviation
    mode = float(np.floor((count + 1) * prob))
    while True:
        u, v = draw() - 0.5, draw()
        distance = 0.5 - abs(u)
        place = (2 * a / distance + b) * u + middle if distance else math.copysign(math.inf, u)
        found = type(count)(np.floor(place))
        if not 0 <= found <= count:
            continue
        if distance >= 0.07 and v <= 0.92 - 4.2 / b:
            return found
        left = float(count - found + 1)
        bound = (
            (mode + 0.5) * math.log((mode + 1) / (odds * (float(count) - mode + 1)))
            + float(count + 1) * math.log((float(count) - mode + 1) / left)
            + (float(found) + 0.5) * math.log(odds * left / float(found + 1))
            + _tail(mode)
            + _tail(float(count) - mode)
            - _tail(float(found))
            - _tail(float(count - found))
        )
        if _log(v * alpha / (a / (distance * distance) + b)) <= bound:
            return found


def _tail(number: float) -> float:
    if number <= 9:
        return _TAILS[int(number)]
    square = (number + 1) * (number + 1)
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (number + 1)


# --- gamma ------------------------------------------------------------------------------------


@kernel("aten::_standard_gamma")
def standard_gamma(self: Tensor, generator: Generator | None) -> Tensor:
    output, (alphas,) = fitted(self, (self,))
    dispatch_over(FLOATING_TYPES, "gamma_cpu", output._dtype)
    found = _gammas(alphas, generator_of(generator))
    least = np.finfo(alphas.dtype).tiny
    if found.size:
        store(output, np.maximum(found.astype(alphas.dtype), least))
    return output


def _gammas(alphas: Array, generator: Generator) -> Array:
    found = [_gamma(alpha, generator) for alpha in alphas.ravel()]
    return np.array(found, np.float64).reshape(alphas.shape)


def _gamma(alpha: Any, generator: Generator) -> float:
    """A sample, in the order in which the generator is asked.

    Of a negative parameter and of what is no number there is none, and torch looks for one for
    ever.
    """
    draw = _uniform_of(generator)
    if not alpha >= 0:
        raise RuntimeError("_standard_gamma: PyTorch would look for a sample for ever")
    scale = 1.0
    if alpha < 1:
        if alpha == 0:
            return 0.0
        scale = (1 - draw()) ** float(type(alpha)(1) / alpha)
        alpha = alpha + type(alpha)(1)
    d = float(alpha - type(alpha)(_THIRD))
    c = 1 / math.sqrt(9 * d)
    while True:
        x, y = 0.0, 0.0
        while y <= 0:
            x = float(distributions.normal_doubles(generator, 1)[0])
            y = 1 + c * x
        v, u = y * y * y, 1 - draw()
        square = x * x
        if u < 1 - _SQUEEZE * square * square:
            return scale * d * v
        if _log(u) < 0.5 * square + d * (1 - v + _log(v)):
            return scale * d * v


# --- Dirichlet --------------------------------------------------------------------------------


@kernel("aten::_sample_dirichlet")
def sample_dirichlet(self: Tensor, generator: Generator | None) -> Tensor:
    """Gamma samples in double precision, as shares of their sum."""
    sizes = tuple(self._sizes)
    output = factories.zeros(sizes, dtype=self._dtype)
    dispatch_over(FLOATING_TYPES, "dirichlet", output._dtype)
    gammas = new_tensor(sizes, FLOAT64, self._device)
    source = generator_of(generator)
    if numel(sizes):
        found = _gammas(value_array(self).astype(np.float64), source)
        store(gammas, np.maximum(found, np.finfo(np.float64).tiny))
    sums = _SUM(gammas, [-1], True)
    kind = elements_of(self._dtype).computed
    with np.errstate(all="ignore"):
        shares = (value_array(gammas) / value_array(sums)).astype(kind)
    most = np.nextafter(kind.type(1), kind.type(0))
    if numel(sizes):
        store(output, np.minimum(most, np.maximum(np.finfo(kind).tiny, shares)))
    return output
