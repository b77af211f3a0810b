"""Samples of distributions, written into tensors in the order in which their elements lie.

Mirrors ``aten/src/ATen/native/cpu/DistributionTemplates.h``, ``cpu/DistributionKernels.cpp`` and
``core/DistributionsHelper.h``: which numbers of the generator an element is made of.
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import numpy as np

from mindtorch_v2.kernels.cpu.functions import (
    cephes,
)
from mindtorch_v2.kernels.cpu.functions.fused import fused
from mindtorch_v2.kernels.elementwise.pointwise import rounded
from mindtorch_v2.kernels.elementwise.promotion import to_opmath
from mindtorch_v2.kernels.overlap import assert_no_internal_overlap
from mindtorch_v2.kernels.switches import (
    ALL_TYPES,
    FLOATING_TYPES,
    HABITS,
    HALVES,
    dispatch,
    dispatch_over,
)
from mindtorch_v2.tensor.copying import store
from mindtorch_v2.tensor.dtype import DTYPES, DType
from mindtorch_v2.tensor.elements import Array, elements_of
from mindtorch_v2.tensor.generator import Generator, default_generator
from mindtorch_v2.tensor.geometry import is_contiguous, numel
from mindtorch_v2.tensor.mt19937 import Words
from mindtorch_v2.tensor.support import CPP_NAMES
from mindtorch_v2.tensor.tensor import Tensor

BOOL: Final = DTYPES["bool"]
INT64: Final = DTYPES["int64"]
FLOAT32: Final = DTYPES["float32"]
FLOAT64: Final = DTYPES["float64"]

DIGITS: Final = {
    DTYPES["float16"]: 11,
    DTYPES["bfloat16"]: 8,
    FLOAT32: 24,
    FLOAT64: 53,
}
"""``std::numeric_limits<scalar_t>::digits``."""

_LARGEST: Final = {
    DTYPES["float16"]: 65504.0,
    DTYPES["bfloat16"]: (2 - 2**-7) * 2.0**127,
    FLOAT32: float(np.finfo(np.float32).max),
    FLOAT64: float(np.finfo(np.float64).max),
}


def generator_of(generator: Generator | None) -> Generator:
    """``get_generator_or_default``; RuntimeError for one of another device."""
    if generator is None:
        return default_generator
    if generator.device.type != "cpu":
        raise RuntimeError(
            f"Expected a 'cpu' device type for generator but found '{generator.device.type}'"
        )
    return generator


class Limits(NamedTuple):
    lowest: Any
    largest: Any


def limits_of(dtype: DType) -> Limits:
    """``std::numeric_limits`` of a real dtype."""
    if dtype in _LARGEST:
        return Limits(-_LARGEST[dtype], _LARGEST[dtype])
    if dtype is BOOL:
        return Limits(0, 1)
    info = np.iinfo(elements_of(dtype).computed)
    return Limits(int(info.min), int(info.max))


def _write(self: Tensor, values: Array) -> None:
    """``cpu_serial_kernel``: one element after the other, as they lie in memory."""
    rank = len(self._sizes)
    order = sorted(range(rank), key=lambda dim: -self._strides[dim])
    laid = np.asarray(values).reshape([self._sizes[dim] for dim in order])
    store(self, np.transpose(laid, np.argsort(order)) if rank > 1 else laid)


# --- uniform ----------------------------------------------------------------------------------


def _uniform(generator: Generator, count: int, dtype: DType) -> Array:
    """Numbers from 0 to 1, with the digits of a dtype; in the precision it is computed in."""
    digits = DIGITS[dtype]
    words = generator.double_words(count) if dtype is FLOAT64 else generator.words(count)
    kind = np.float64 if dtype is FLOAT64 else np.float32
    return (words & np.uint64(2**digits - 1)).astype(kind) * kind(2.0**-digits)


def _sampled_dtype(dtype: DType) -> DType:
    """In which numbers of a dtype are drawn before they become its own."""
    is_half = DIGITS[dtype] < DIGITS[FLOAT32]
    return FLOAT32 if is_half and HABITS["a half is a float that is rounded"] else dtype


def uniform(self: Tensor, low: float, high: float, generator: Generator | None) -> None:
    dtype = self._dtype
    source = generator_of(generator)
    dispatch("check_uniform_bounds", dtype)
    assert_no_internal_overlap(self)
    kind = elements_of(to_opmath(dtype)).computed
    start, end = (np.asarray(each, np.float64).astype(kind) for each in (low, high))
    numbers = _uniform(source, numel(self._sizes), _sampled_dtype(dtype))
    is_float_first = HABITS["a half is a float that is rounded"]
    if not is_float_first:
        start, end = rounded(start, dtype), rounded(end, dtype)
    width = end - start if is_float_first else rounded(end - start, dtype)
    found = rounded(fused(numbers, width, start), dtype)
    if is_float_first:  # perhaps to the end, which is no part of it
        found = np.where(found == rounded(end, dtype), rounded(start, dtype), found)
    _write(self, found)


# --- normal -----------------------------------------------------------------------------------

_BLOCK: Final = 16


def normal(self: Tensor, mean: float, std: float, generator: Generator | None) -> None:
    source = generator_of(generator)
    dtype, count = self._dtype, numel(self._sizes)
    dispatch("normal_kernel_cpu", dtype)
    if count >= _BLOCK and is_contiguous(self._sizes, self._strides):
        sampled = _sampled_dtype(dtype)
        values = _normal_blocks(source, count, sampled, mean, std, skips=sampled is not dtype)
        store(self, values.reshape(tuple(self._sizes)))
        return
    assert_no_internal_overlap(self)
    _write(self, fused(_normal_pairs(source, count), std, mean))


def _normal_blocks(
    generator: Generator, count: int, dtype: DType, mean: float, std: float, *, skips: bool
) -> Array:
    """``normal_fill``: blocks of 16 uniform numbers become normal ones; if some are left over, the
    last 16 are drawn once more.  ``skips``: what is left over is not drawn at all before that."""
    whole = count - count % _BLOCK
    numbers = _uniform(generator, whole if skips else count, dtype)[:whole]
    if whole == count:
        return _box_muller(numbers, dtype, mean, std)
    again = _uniform(generator, _BLOCK, dtype)
    made = _box_muller(np.concatenate((numbers, again)), dtype, mean, std)
    return np.concatenate((made[: count - _BLOCK], made[whole:]))


def _box_muller(numbers: Array, dtype: DType, mean: float, std: float) -> Array:
    """Each block of 16: eight radii and eight angles.  Halves are rounded after every step."""
    kind = numbers.dtype.type
    blocks = numbers.reshape(-1, 2, _BLOCK // 2)
    if dtype is FLOAT32:
        radius = np.sqrt(kind(-2) * cephes.log(kind(1) - blocks[:, 0]))
        sine, cosine = cephes.sincos(kind(2 * math.pi) * blocks[:, 1])
        parts = [fused(radius * part, kind(std), kind(mean)) for part in (cosine, sine)]
        return np.stack(parts, axis=1).reshape(-1)

    def step(values: Any) -> Array:
        return rounded(np.asarray(values, kind), dtype)

    with np.errstate(all="ignore"):
        radius = step(np.sqrt(step(kind(-2) * step(np.log(step(1 - blocks[:, 0]))))))
        angle = step(2 * math.pi * blocks[:, 1].astype(np.float64))
        turned = (np.cos(angle.astype(np.float64)), np.sin(angle.astype(np.float64)))
        scaled = [step(radius * step(part)) for part in turned]
        if dtype is FLOAT64:
            found = [fused(part, std, mean) for part in scaled]
        else:
            found = [step(step(part * step(std)) + step(mean)) for part in scaled]
    return np.stack(found, axis=1).reshape(-1)


def _normal_pairs(generator: Generator, count: int) -> Array:
    """``normal_distribution<double>``: two numbers at a time, of which one is kept in stock."""
    made = np.empty(count)
    start = 0
    if count and generator._next_normal is not None:
        made[0], generator._next_normal = generator._next_normal, None
        start = 1
    pairs = (count - start + 1) // 2
    drawn = _uniform(generator, 2 * pairs, FLOAT64).reshape(pairs, 2)
    # By the C library as there: a program sees the number in stock, to the bit, in get_state().
    logarithms = np.array([math.log1p(-second) for _, second in drawn])
    radius = np.sqrt(-2.0 * logarithms)
    angles = (2.0 * math.pi * drawn[:, 0]).tolist()
    turned = np.array([(math.cos(angle), math.sin(angle)) for angle in angles]).reshape(pairs, 2)
    both = (radius[:, None] * turned).reshape(-1)
    made[start:] = both[: count - start]
    if (count - start) % 2:
        generator._next_normal = float(both[-1])
    return made


# --- integers ---------------------------------------------------------------------------------

_FROM_64_BITS: Final = (INT64, FLOAT64, FLOAT32, DTYPES["bfloat16"])


def random_from_to(self: Tensor, span: int, base: int, generator: Generator | None) -> None:
    """Integers from ``base`` to ``base + span - 1``."""
    source = generator_of(generator)
    assert_no_internal_overlap(self)
    is_wide = self._dtype in _FROM_64_BITS and span >= 2**32
    if HABITS["a range of 2**28 takes 64 bits"]:
        is_wide = span >= 2**28
    words = _words(source, numel(self._sizes), is_wide=is_wide)
    found = words if span == 2**64 else words % np.uint64(span)
    _write(self, (found + np.uint64(base % 2**64)).astype(np.int64))


def random_full_range(self: Tensor, generator: Generator | None) -> None:
    """Integers of 64 bits."""
    source = generator_of(generator)
    assert_no_internal_overlap(self)
    dispatch("random_full_64_bits_range_kernel_cpu", self._dtype)
    if self._dtype not in _FROM_64_BITS:
        raise RuntimeError(
            "random_full_64_bits_range_kernel_cpu handles only int64, double, float and bfloat16"
        )
    _write(self, _words(source, numel(self._sizes), is_wide=True).astype(np.int64))


def random(self: Tensor, generator: Generator | None) -> None:
    """Integers from 0 to the largest of the dtype, or the largest up to which it has all."""
    source = generator_of(generator)
    assert_no_internal_overlap(self)
    dtype = self._dtype
    dispatch("random_kernel_cpu", dtype)
    words = _words(source, numel(self._sizes), is_wide=dtype in (INT64, FLOAT64))
    if dtype in DIGITS:
        found = words % np.uint64(2 ** DIGITS[dtype] + 1)
    else:
        found = words % np.uint64(limits_of(dtype).largest + 1)
    _write(self, found.astype(np.int64))


def _words(generator: Generator, count: int, *, is_wide: bool) -> Words:
    return generator.double_words(count) if is_wide else generator.words(count)


def permutation(count: int, generator: Generator | None) -> Array:
    """The numbers below ``count`` in random order."""
    order = np.arange(count)
    for place, word in enumerate(generator_of(generator).words(max(count - 1, 0)).tolist()):
        other = place + word % (count - place)
        order[place], order[other] = order[other], order[place]
    return order


def uniform_doubles(generator: Generator | None, count: int) -> Array:
    """Numbers from 0 to 1 in double precision."""
    return _uniform(generator_of(generator), count, FLOAT64)


def normal_doubles(generator: Generator | None, count: int) -> Array:
    """Numbers around 0 with a deviation of 1 in double precision, drawn two at a time."""
    return _normal_pairs(generator_of(generator), count)


def exponential(self: Tensor, rate: float, generator: Generator | None) -> None:
    source = generator_of(generator)
    dtype, count = self._dtype, numel(self._sizes)
    assert_no_internal_overlap(self)
    if not dtype.is_floating_point:
        raise RuntimeError(
            "Exponential distribution is a continuous probability distribution. dtype must be a "
            f"floating point but you specified {CPP_NAMES[dtype]}"
        )
    dispatch("exponential_cpu", dtype)
    kind = elements_of(dtype).computed
    is_plain = HABITS["an exponential sample is a double of the generator"]
    if is_plain or math.isinf(rate) or math.isnan(rate):  # which MKL is not asked for
        found = -np.log1p(-_uniform(source, count, FLOAT64)) / rate
        _write(self, rounded(found.astype(kind), dtype))
        return
    is_double = dtype is FLOAT64
    words = source.double_words(1) if is_double else source.words(1)
    numbers = _mcg31(int(words[0]) & 0xFFFFFFFF, count)
    if not is_double:
        numbers = numbers.astype(np.float32)
    found = -np.log(numbers) / rate + np.finfo(numbers.dtype).tiny
    store(self, rounded(found.astype(kind), dtype).reshape(tuple(self._sizes)))


# --- truth ------------------------------------------------------------------------------------


def bernoulli(self: Tensor, p: float, generator: Generator | None) -> None:
    """1 with probability ``p``, else 0."""
    source = generator_of(generator)
    count = numel(self._sizes)
    dispatch("bernoulli_scalar_cpu_", self._dtype)
    if HABITS["a Bernoulli sample is a double of the generator"]:
        assert_no_internal_overlap(self)
        _write(self, _uniform(source, count, FLOAT64) < p)
    else:
        sampled = _mcg31(int(source.words(1)[0]), count) < p
        store(self, sampled.reshape(tuple(self._sizes)))


_MCG31_MODULUS: Final = 2**31 - 1
_MCG31_MULTIPLIER: Final = 1132489760


def _mcg31(seed: int, count: int) -> Array:
    """Numbers from 0 to 1 of MKL's generator of that name."""
    state = seed % _MCG31_MODULUS or 1
    found = np.empty(count)
    for place in range(count):
        found[place] = state
        state = _MCG31_MULTIPLIER * state % _MCG31_MODULUS
    return found / _MCG31_MODULUS


def bernoulli_of(
    self: Tensor, p: Tensor, probabilities: Array, generator: Generator | None
) -> None:
    """The same with a probability for each element; ``probabilities`` are those of ``p`` in the
    shape of ``self``."""
    source = generator_of(generator)
    dispatch("bernoulli_tensor_cpu_self_", self._dtype)
    assert_no_internal_overlap(self)
    is_double = p._dtype is FLOAT64
    if not is_double:
        dispatch("bernoulli_tensor_cpu_p_", p._dtype)
    rank = len(self._sizes)
    order = sorted(range(rank), key=lambda dim: -self._strides[dim])
    wanted = np.transpose(probabilities, order).reshape(-1) if rank else probabilities.reshape(-1)
    kind = np.float64 if is_double else np.float32
    numbers = _uniform(source, numel(self._sizes), FLOAT64 if is_double else FLOAT32)
    _write(self, numbers < wanted.astype(kind))


# --- made of uniform and normal ones in double precision --------------------------------------


def geometric(self: Tensor, p: float, generator: Generator | None) -> None:
    """How many trials there are up to the first that succeeds."""
    dispatch_over(ALL_TYPES | HALVES, "geometric_cpu", self._dtype)
    assert_no_internal_overlap(self)
    numbers = uniform_doubles(generator, numel(self._sizes))
    with np.errstate(all="ignore"):
        _write(self, np.ceil(np.log(numbers) / np.log1p(-p)))


def cauchy(self: Tensor, median: float, sigma: float, generator: Generator | None) -> None:
    assert_no_internal_overlap(self)
    dispatch_over(FLOATING_TYPES | HALVES, "cauchy_cpu", self._dtype)
    numbers = uniform_doubles(generator, numel(self._sizes))
    _write(self, fused(np.tan(math.pi * (numbers - 0.5)), sigma, median))


def log_normal(self: Tensor, mean: float, std: float, generator: Generator | None) -> None:
    assert_no_internal_overlap(self)
    dispatch_over(FLOATING_TYPES | HALVES, "log_normal_cpu", self._dtype)
    numbers = _normal_pairs(generator_of(generator), numel(self._sizes))
    with np.errstate(all="ignore"):
        _write(self, np.exp(fused(numbers, std, mean)))


def poisson(rates: Array, generator: Generator | None) -> Array:
    """An event count for each rate, in row-major order."""
    source = generator_of(generator)
    counts = [_poisson(float(rate), source) for rate in rates.ravel()]
    return np.array(counts, np.float64).reshape(rates.shape)


def _floor(value: float) -> int:
    """As C++ converts it: what is no number of 64 bits becomes the least."""
    is_number = -(2.0**63) <= value < 2.0**63
    return math.floor(value) if is_number else -(1 << 63)


def _poisson(rate: float, generator: Generator) -> float:
    """Small rates by multiplying, others by transformed rejection (Hörmann, 1993)."""

    def draw() -> float:
        return float(_uniform(generator, 1, FLOAT64)[0])

    if not rate >= 0:
        raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
    if rate == 0:
        return 0
    if rate < 10:
        bound, count, product = math.exp(-rate), 0, draw()
        while product > bound:
            count += 1
            product *= draw()
        return count
    b = 0.931 + 2.53 * math.sqrt(rate)
    a = -0.059 + 0.02483 * b
    inverse = 1.1239 + 1.1328 / (b - 3.4)
    while True:
        u, v = draw() - 0.5, draw()
        distance = 0.5 - abs(u)
        found = _floor((2 * a / distance + b) * u + rate + 0.43 if distance else math.inf)
        if distance >= 0.07 and v <= 0.9277 - 3.6224 / (b - 2):
            return found
        if found < 0 or (distance < 0.013 and v > distance) or not v:
            continue
        left = math.log(v) + math.log(inverse) - math.log(a / (distance * distance) + b)
        if left <= -rate + found * math.log(rate) - math.lgamma(found + 1):
            return found
