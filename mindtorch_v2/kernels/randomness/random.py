"""Random operators: in place, and what they are the filling of.

Mirrors ``aten/src/ATen/native/DistributionTemplates.h``, ``Distributions.cpp`` and the random
factories of ``TensorFactories.cpp``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from mindtorch_v2.binding.values import dtype_of_value
from mindtorch_v2.kernels.cpu.samples import distributions
from mindtorch_v2.kernels.cpu.samples.distributions import DIGITS, limits_of
from mindtorch_v2.kernels.factories.factories import given_options, made_empty
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor, set_sizes
from mindtorch_v2.kernels.overlap import assert_no_internal_overlap
from mindtorch_v2.kernels.pinning import check_pin_memory
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.structured import prologue
from mindtorch_v2.kernels.switches import HABITS, dispatch
from mindtorch_v2.tensor.copying import is_on_accelerator, store, value_array
from mindtorch_v2.tensor.default_dtype import get_default_dtype
from mindtorch_v2.tensor.dtype import DTYPES, DType
from mindtorch_v2.tensor.elements import elements_of
from mindtorch_v2.tensor.generator import Generator
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.scalars import is_integral, scalar_to
from mindtorch_v2.tensor.support import CPP_NAMES, TYPE_NAMES, streamed
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.warn import warn

_BACKENDS: Final = ("CPU", "Meta")
_MADE: Final = ("Meta", "CompositeExplicitAutograd")
_INT64: Final = DTYPES["int64"]
_LOWEST: Final = -(2**63)
_NOT_TRUE: Final = (
    "Expected {} to be True, but got False. (Could this error message be improved? If so, please "
    "report an enhancement request to PyTorch.)"
)
"""``torch._check`` without a message."""

_REAL_VIEW: Final = OperatorHandle("aten::view_as_real")
_EMPTY_LIKE: Final = OperatorHandle("aten::empty_like")
_UNIFORM_: Final = OperatorHandle("aten::uniform_")
_CLONE: Final = OperatorHandle("aten::clone")
_NORMAL_: Final = OperatorHandle("aten::normal_")
_RANDOM_: Final = OperatorHandle("aten::random_.from")
_BERNOULLI_: Final = OperatorHandle("aten::bernoulli_.float")
_BERNOULLI_OF_: Final = OperatorHandle("aten::bernoulli_.Tensor")
_RANDPERM_OUT: Final = OperatorHandle("aten::randperm.generator_out")
_ITEM: Final = OperatorHandle("aten::item")
_SCALAR_TENSOR: Final = OperatorHandle("aten::scalar_tensor")


@kernel("aten::uniform_", "aten::random_", "aten::random_.to", "aten::random_.from", key="Meta")
@kernel("aten::bernoulli_.float", "aten::bernoulli_.Tensor", key="Meta")
def nothing_to_fill(self: Tensor, *rest: Any) -> Tensor:
    """On meta there are no values, and nobody looks at the limits of them."""
    return self


# --- uniform and normal -----------------------------------------------------------------------


@kernel("aten::uniform_")
def uniform_(self: Tensor, low: float, high: float, generator: Generator | None) -> Tensor:
    if self._dtype.is_complex:
        if numel(self._sizes):
            uniform_(_REAL_VIEW(self), low, high, generator)
        return self
    _check_bounds(self._dtype, low, high)
    if numel(self._sizes):
        distributions.uniform(self, low, high, generator)
    return self


@prologue("aten::uniform")
def prepare_uniform(
    outputs: Sequence[Tensor], self: Tensor, low: float, high: float, generator: Generator | None
) -> None:
    if not self._dtype.is_complex:
        _check_bounds(self._dtype, low, high)


def _check_bounds(dtype: DType, low: float, high: float) -> None:
    dispatch("check_uniform_bounds", dtype)
    lowest, largest = limits_of(dtype)
    for name, bound in (("from", low), ("to", high)):
        if not lowest <= bound <= largest:
            raise RuntimeError(f"{name} is out of bounds for {TYPE_NAMES[dtype]}")
    if not low <= high:
        raise RuntimeError(
            "uniform_ expects to return a [from, to) range, but found "
            f"from={streamed(low)} > to={streamed(high)}"
        )
    if high - low > largest:
        raise RuntimeError(
            f"uniform_ expects to-from <= std::numeric_limits<{CPP_NAMES[dtype]}>::max(), but "
            f"found to={streamed(high)} and from={streamed(low)} which result in to-from to exceed "
            "the limit"
        )


@kernel("aten::normal_")
def normal_(self: Tensor, mean: float, std: float, generator: Generator | None) -> Tensor:
    check_std(std)
    if not numel(self._sizes):
        return self
    if self._dtype.is_complex:  # of whose variance each part has one half
        distributions.normal(_REAL_VIEW(self), mean, std / math.sqrt(2), generator)
    else:
        distributions.normal(self, mean, std, generator)
    return self


@kernel("aten::normal_functional", key="CompositeExplicitAutograd")
def normal_functional(self: Tensor, mean: float, std: float, generator: Generator | None) -> Any:
    return _NORMAL_(_CLONE(self, memory_format=None), mean, std, generator=generator)


@kernel("aten::normal_", key="Meta")
def normal_on_meta(self: Tensor, mean: float, std: float, generator: Generator | None) -> Tensor:
    """A function of Python's, which writes numbers its own way."""
    if not std >= 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
    return self


def check_std(std: float) -> None:
    if not std >= 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {streamed(std)}")


# --- integers ---------------------------------------------------------------------------------


@kernel("aten::random_")
def random_(self: Tensor, generator: Generator | None) -> Tensor:
    if numel(self._sizes):
        distributions.random(self, generator)
    return self


@kernel("aten::random_.to")
def random_to(self: Tensor, to: int, generator: Generator | None) -> Tensor:
    return random_from(self, 0, to, generator)


@kernel("aten::random_.from")
def random_from(self: Tensor, low: int, to: int | None, generator: Generator | None) -> Tensor:
    """Integers from ``low`` to ``to``, that not included; without ``to``, to the largest."""
    dtype = self._dtype
    assert_no_internal_overlap(self)
    if to is None and low == _LOWEST:
        if numel(self._sizes):
            distributions.random_full_range(self, generator)
        return self
    if to is None:
        low, last = _range_up(low, dtype)
    else:
        low, last = _range_to(low, to, dtype)
    _check_range(low, last, dtype)
    if numel(self._sizes):
        distributions.random_from_to(self, last - low + 1, low, generator)
    return self


def _range_to(low: int, to: int, dtype: DType) -> tuple[int, int]:
    if low >= to:
        raise RuntimeError(
            f"random_ expects 'from' to be less than 'to', but got from={low} >= to={to}"
        )
    if dtype.is_floating_point:
        dispatch("random_update_from_to", dtype)
        low, to = _exact(low, dtype, up=True), _exact(to, dtype, up=False)
        if low >= to:
            raise RuntimeError(
                "random_ expects 'from' casted to dtype to be less than 'to' casted to dtype, but "
                f"got from={low} >= to={to}"
            )
    return low, to - 1


def _range_up(low: int, dtype: DType) -> tuple[int, int]:
    if dtype.is_floating_point:
        dispatch("random_from_to_range_calc", dtype)
        last = 2 ** DIGITS[dtype]
        low = _exact(low, dtype, up=True)
        if low >= last:
            raise RuntimeError(
                "random_ expects 'from' casted to dtype to be less than or equal to 'to_inc' "
                f"casted to dtype, but got from={low} > to_inc={last}"
            )
        return low, last
    if not is_integral(dtype):
        raise RuntimeError(
            "random_from_to_impl handles only integral, floating-point and boolean types"
        )
    return low, min(limits_of(dtype).largest, 2**63 - 1)


def _exact(bound: int, dtype: DType, *, up: bool) -> int:
    """``update_from`` and ``update_to``: a limit that the rounding of floats does not pass."""
    towards = 1 if up else -1
    neighbour = bound + towards
    with np.errstate(all="ignore"):
        elements = elements_of(dtype)
        found = float(elements.decode(elements.encode(np.asarray(float(neighbour)))))
    rounded = int(found) if math.isfinite(found) else -(2**63)  # as the processor converts
    if not (rounded < bound if up else rounded >= bound):
        return bound
    step = 1 << max(abs(neighbour).bit_length() - DIGITS[dtype], 0)
    return rounded + towards * step


def _check_range(low: int, last: int, dtype: DType) -> None:
    """``check_from_to_in_range``."""
    if dtype.is_complex:
        raise RuntimeError(
            "check_random_bounds handles only integral, floating-point and boolean types"
        )
    lowest, largest = limits_of(dtype)
    bounds = (("from", low), ("to - 1", last))
    for name, bound in bounds:
        if not lowest <= bound <= largest:
            raise RuntimeError(f"{name} is out of bounds for {TYPE_NAMES[dtype]}")
    if dtype in DIGITS:
        digits = DIGITS[dtype]
        for line, (name, bound) in enumerate(bounds, start=-1):
            if abs(bound) > 2**digits:
                warn(
                    "check_from_to_in_range",
                    f"{name} is out of bounds [-(2^{digits}), 2^{digits}]. Due to precision "
                    f"limitations {TYPE_NAMES[dtype]} can support discrete uniform distribution "
                    "only within this range. This warning will become an error in version 1.7 "
                    "release, please fix the code in advance",
                    line=line,
                )


# --- truth ------------------------------------------------------------------------------------


@kernel("aten::bernoulli_.float")
def bernoulli_(self: Tensor, p: float, generator: Generator | None) -> Tensor:
    if not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={streamed(p)}")
    if numel(self._sizes):
        assert_no_internal_overlap(self)
        distributions.bernoulli(self, p, generator)
    return self


@kernel("aten::bernoulli_.Tensor")
def bernoulli_of_(self: Tensor, p: Tensor, generator: Generator | None) -> Tensor:
    if not numel(self._sizes):
        return self
    assert_no_internal_overlap(self)
    dispatch("bernoulli_tensor_cpu_self_", self._dtype)
    probabilities = _expanded(p, self)
    if p._dtype in DIGITS and not ((probabilities >= 0) & (probabilities <= 1)).all():
        raise RuntimeError(
            "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message "
            "be improved?  If so, please report an enhancement request to PyTorch.)"
        )
    distributions.bernoulli_of(self, p, probabilities, generator)
    return self


def _expanded(p: Tensor, self: Tensor) -> Any:
    """The values of ``p`` in the shape of ``self``."""
    expanded = OperatorHandle("aten::expand")(p, list(self._sizes))
    return value_array(expanded)


@kernel("aten::bernoulli", keys=_MADE)
def bernoulli(self: Tensor, generator: Generator | None) -> Any:
    return _BERNOULLI_OF_(contiguous_like(self, self._sizes), self, generator=generator)


@kernel("aten::bernoulli.out", keys=("CPU", "Meta"))
def bernoulli_out(self: Tensor, generator: Generator | None, out: Tensor) -> Any:
    if tuple(out._sizes) != tuple(self._sizes):
        set_sizes(out, tuple(self._sizes))
    return _BERNOULLI_OF_(out, self, generator=generator)


@kernel("aten::bernoulli.p", keys=("Meta", "CompositeExplicitAutogradNonFunctional"))
def bernoulli_p(self: Tensor, p: float, generator: Generator | None) -> Any:
    return _BERNOULLI_(contiguous_like(self, self._sizes), p, generator=generator)


def contiguous_like(tensor: Tensor, sizes: Sequence[int]) -> Tensor:
    return new_tensor(tuple(sizes), tensor._dtype, tensor._device)


# --- factories --------------------------------------------------------------------------------


@kernel("aten::rand", keys=_MADE)
def rand(size: Sequence[int], *options: Any) -> Any:
    return rand_of(size, None, *options)


@kernel("aten::rand.generator", key="CompositeExplicitAutograd")
def rand_of(size: Sequence[int], generator: Generator | None, *options: Any) -> Any:
    made = made_empty(size, **given_options(options))
    return _UNIFORM_(made, 0.0, 1.0, generator=generator)


@kernel("aten::randn", key="Meta")
def randn_on_meta(size: Sequence[int], dtype: int | None, *options: Any) -> Any:
    check_pin_memory(options[-1])
    if min(size, default=0) < 0:
        raise RuntimeError(_NOT_TRUE.format("cond"))
    check_continuous(dtype)
    return randn_of(size, None, dtype, *options)


def check_continuous(dtype: int | None) -> None:
    found = get_default_dtype() if dtype is None else dtype_of_value(dtype)
    if not found.is_floating_point and not found.is_complex:
        raise RuntimeError(f"expected a floating-point or complex dtype, but got dtype={found}")


@kernel("aten::randn", key="CompositeExplicitAutograd")
def randn(size: Sequence[int], *options: Any) -> Any:
    return randn_of(size, None, *options)


@kernel("aten::randn.generator", key="CompositeExplicitAutograd")
def randn_of(size: Sequence[int], generator: Generator | None, *options: Any) -> Any:
    made = made_empty(size, **given_options(options))
    return _NORMAL_(made, 0.0, 1.0, generator=generator)


@kernel("aten::rand.out", keys=_MADE)
def rand_out(size: Sequence[int], out: Tensor) -> Any:
    return rand_of_out(size, None, out)


@kernel("aten::rand.generator_out", key="CompositeImplicitAutograd")
def rand_of_out(size: Sequence[int], generator: Generator | None, out: Tensor) -> Any:
    set_sizes(out, tuple(size))
    return _UNIFORM_(out, 0.0, 1.0, generator=generator)


@kernel("aten::randn.out", keys=("Meta", "CompositeImplicitAutograd"))
def randn_out(size: Sequence[int], out: Tensor) -> Any:
    return randn_of_out(size, None, out)


@kernel("aten::randn.generator_out", key="CompositeImplicitAutograd")
def randn_of_out(size: Sequence[int], generator: Generator | None, out: Tensor) -> Any:
    set_sizes(out, tuple(size))
    return _NORMAL_(out, 0.0, 1.0, generator=generator)


@kernel("aten::rand_like", key="CompositeExplicitAutograd")
def rand_like(self: Tensor, *options: Any) -> Any:
    return _UNIFORM_(_EMPTY_LIKE(self, **_named(options)), 0.0, 1.0)


@kernel("aten::rand_like.generator", key="CompositeExplicitAutograd")
def rand_like_of(self: Tensor, generator: Generator | None, *options: Any) -> Any:
    return _UNIFORM_(_EMPTY_LIKE(self, **_named(options)), 0.0, 1.0, generator=generator)


@kernel("aten::randn_like", key="CompositeExplicitAutograd")
def randn_like(self: Tensor, *options: Any) -> Any:
    return _NORMAL_(_EMPTY_LIKE(self, **_named(options)), 0.0, 1.0)


@kernel("aten::randn_like.generator", key="CompositeExplicitAutograd")
def randn_like_of(self: Tensor, generator: Generator | None, *options: Any) -> Any:
    return _NORMAL_(_EMPTY_LIKE(self, **_named(options)), 0.0, 1.0, generator=generator)


_OPTIONS: Final = ("dtype", "layout", "device", "pin_memory", "memory_format")


def _named(options: Sequence[Any]) -> dict[str, Any]:
    return dict(zip(_OPTIONS, options, strict=True))


@kernel("aten::randint", key="Meta")
def randint_on_meta(high: int, size: Sequence[int], *options: Any) -> Any:
    return randint_low_on_meta(0, high, size, *options)


@kernel("aten::randint.low", key="Meta")
def randint_low_on_meta(low: int, high: int, size: Sequence[int], *options: Any) -> Any:
    if HABITS["random integers on meta have limits"] and low >= high:
        raise RuntimeError(
            f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}"
        )
    return randint_of(low, high, size, None, *options)


@kernel("aten::randint", key="CompositeExplicitAutograd")
def randint(high: int, size: Sequence[int], *options: Any) -> Any:
    return randint_of(0, high, size, None, *options)


@kernel("aten::randint.generator", key="CompositeExplicitAutograd")
def randint_generator(
    high: int, size: Sequence[int], generator: Generator | None, *options: Any
) -> Any:
    return randint_of(0, high, size, generator, *options)


@kernel("aten::randint.low", key="CompositeExplicitAutograd")
def randint_low(low: int, high: int, size: Sequence[int], *options: Any) -> Any:
    return randint_of(low, high, size, None, *options)


@kernel("aten::randint.low_generator", key="CompositeExplicitAutograd")
def randint_of(
    low: int, high: int, size: Sequence[int], generator: Generator | None, *options: Any
) -> Any:
    made = made_empty(size, **given_options(options))
    return _RANDOM_(made, low, high, generator=generator)


@kernel("aten::randint.out", keys=_MADE)
def randint_out(high: int, size: Sequence[int], out: Tensor) -> Any:
    return randint_low_out(0, high, size, out)


@kernel("aten::randint.low_out", keys=_MADE)
def randint_low_out(low: int, high: int, size: Sequence[int], out: Tensor) -> Any:
    set_sizes(out, tuple(size))
    return _RANDOM_(out, low, high)


@kernel("aten::randint.generator_out", key="CompositeExplicitAutograd")
def randint_generator_out(
    high: int, size: Sequence[int], generator: Generator | None, out: Tensor
) -> Any:
    return randint_low_generator_out(0, high, size, generator, out)


@kernel("aten::randint.low_generator_out", key="CompositeExplicitAutograd")
def randint_low_generator_out(
    low: int, high: int, size: Sequence[int], generator: Generator | None, out: Tensor
) -> Any:
    set_sizes(out, tuple(size))
    return _RANDOM_(out, low, high, generator=generator)


@kernel("aten::randint_like", key="CompositeExplicitAutograd")
def randint_like(self: Tensor, high: int, *options: Any) -> Any:
    return randint_like_of(self, 0, high, None, *options)


@kernel("aten::randint_like.low_dtype", key="CompositeExplicitAutograd")
def randint_like_low(self: Tensor, low: int, high: int, *options: Any) -> Any:
    return randint_like_of(self, low, high, None, *options)


@kernel("aten::randint_like.generator", key="CompositeExplicitAutograd")
def randint_like_generator(
    self: Tensor, high: int, generator: Generator | None, *options: Any
) -> Any:
    return randint_like_of(self, 0, high, generator, *options)


@kernel("aten::randint_like.low_generator_dtype", key="CompositeExplicitAutograd")
def randint_like_of(
    self: Tensor, low: int, high: int, generator: Generator | None, *options: Any
) -> Any:
    made = _EMPTY_LIKE(self, **_named(options))
    return _RANDOM_(made, low, high, generator=generator)


@kernel("aten::randint_like.Tensor", key="CompositeExplicitAutograd")
def randint_like_below(self: Tensor, high: Tensor, *options: Any) -> Any:
    return randint_like_below_of(self, high, None, *options)


@kernel("aten::randint_like.Tensor_generator", key="CompositeExplicitAutograd")
def randint_like_below_of(
    self: Tensor, high: Tensor, generator: Generator | None, *options: Any
) -> Any:
    if high._sizes or high._device.type != "cpu":
        raise RuntimeError("high must be a scalar tensor and on CPU")
    bound = int(scalar_to(_ITEM(high), _INT64))
    return randint_like_of(self, 0, bound, generator, *options)


@kernel("aten::randperm", key="Meta")
def randperm_on_meta(n: int, *options: Any) -> Any:
    return made_empty((n,), **{"dtype": _INT64, **given_options(options)})


@kernel("aten::randperm", key="CompositeExplicitAutograd")
def randperm(n: int, *options: Any) -> Any:
    return randperm_of(n, None, *options)


@kernel("aten::randperm.generator", key="CompositeExplicitAutograd")
def randperm_of(n: int, generator: Generator | None, *options: Any) -> Any:
    given = {"dtype": _INT64, **given_options(options)}
    made = made_empty((n,), **given)
    _check_precision(n, made)
    return _RANDPERM_OUT(n, generator=generator, out=made)


@kernel("aten::randperm.out", key="CompositeExplicitAutograd")
def randperm_out(n: int, out: Tensor) -> Any:
    return _RANDPERM_OUT(n, generator=None, out=out)


@kernel("aten::randperm.generator_out", keys=_BACKENDS)
def randperm_generator_out(n: int, generator: Generator | None, out: Tensor) -> Tensor:
    prepare_randperm((out,), n, generator)
    if not out.is_meta:
        store(out, distributions.permutation(n, generator))
    return out


@prologue("aten::randperm.generator")
def prepare_randperm(outputs: Sequence[Tensor], n: int, generator: Generator | None) -> None:
    (out,) = outputs
    if n < 0:
        raise RuntimeError(f"n must be non-negative, got{n}")
    is_elsewhere = generator is not None and generator.device != out._device
    if is_elsewhere and not (out.is_meta or is_on_accelerator(out)):  # for which the CPU draws
        assert generator is not None
        raise RuntimeError(
            f"Expected a '{out._device}' generator device but found '{generator.device}'"
        )
    _check_precision(n, out)
    set_sizes(out, (n,))
    if not out.is_meta:
        dispatch("randperm", out._dtype)


_PRECISE: Final = {
    DTYPES["float16"]: (11, "2049"),
    DTYPES["float32"]: (24, "2^24+1"),
    DTYPES["float64"]: (53, "2^53+1"),
}


def _check_precision(n: int, like: Tensor) -> None:
    """``check_supported_max_int_with_precision``."""
    dtype = like._dtype
    _SCALAR_TENSOR(max(n - 1, 0), dtype=dtype, device=like._device)
    if dtype in _PRECISE:
        digits, largest = _PRECISE[dtype]
        if n > 2**digits + 1:
            raise RuntimeError(f"n cannot be greater than {largest} for {CPP_NAMES[dtype]} type.")
