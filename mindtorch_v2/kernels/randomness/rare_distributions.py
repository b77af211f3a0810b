"""Samples that few programs draw: ``geometric_``, ``cauchy_``, ``log_normal_`` and ``poisson``.

Mirrors ``aten/src/ATen/native/DistributionTemplates.h`` and ``Distributions.cpp``, and on meta
``torch/_refs/__init__.py``.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2.kernels.cpu.samples import distributions
from mindtorch_v2.kernels.refs.common import assertion
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import FLOATING_TYPES, HALVES, dispatch_over
from mindtorch_v2.tensor import factories
from mindtorch_v2.tensor.copying import store, value_array
from mindtorch_v2.tensor.generator import Generator
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.support import TYPE_NAMES, streamed
from mindtorch_v2.tensor.tensor import Tensor

_CONTINUOUS: Final = (
    "Cauchy distribution is a continuous probability distribution. {}dtype must be a floating "
    "point but you specified {}"
)


@kernel("aten::geometric_")
def geometric_(self: Tensor, p: float, generator: Generator | None) -> Tensor:
    check_share(p, f"{streamed(p)}")
    if numel(self._sizes):
        distributions.geometric(self, p, generator)
    return self


@kernel("aten::geometric_", key="Meta")
def geometric_on_meta(self: Tensor, p: float, generator: Generator | None) -> Tensor:
    check_ref("geometric", self, generator, integers=True)
    check_share(p, str(p))
    return self


def check_share(p: float, shown: str) -> None:
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={shown}")


@kernel("aten::cauchy_")
def cauchy_(self: Tensor, median: float, sigma: float, generator: Generator | None) -> Tensor:
    check_width("cauchy_", "sigma", sigma, f"{streamed(sigma)}")
    if not self._dtype.is_floating_point:
        raise RuntimeError(_CONTINUOUS.format("", TYPE_NAMES[self._dtype]))
    if numel(self._sizes):
        distributions.cauchy(self, median, sigma, generator)
    return self


@kernel("aten::cauchy_", key="Meta")
def cauchy_on_meta(
    self: Tensor, median: float, sigma: float, generator: Generator | None
) -> Tensor:
    if generator is not None:
        raise assertion("generator is not supported in refs")
    if not self._dtype.is_floating_point:
        raise RuntimeError(_CONTINUOUS.format(" " * 8, self._dtype))
    check_width("cauchy_", "sigma", sigma, str(sigma))
    return self


@kernel("aten::log_normal_")
def log_normal_(self: Tensor, mean: float, std: float, generator: Generator | None) -> Tensor:
    check_width("log_normal_", "std", std, f"{streamed(std)}")
    if numel(self._sizes):
        distributions.log_normal(self, mean, std, generator)
    return self


@kernel("aten::log_normal_", key="Meta")
def log_normal_on_meta(
    self: Tensor, mean: float, std: float, generator: Generator | None
) -> Tensor:
    check_ref("log_normal", self, generator, integers=False)
    check_width("log_normal_", "std", std, str(std))
    return self


def check_width(name: str, what: str, value: float, shown: str) -> None:
    if not value > 0:
        raise RuntimeError(f"{name} expects {what} > 0.0, but found {what}={shown}")


def check_ref(name: str, self: Tensor, generator: Generator | None, *, integers: bool) -> None:
    """What a function of Python's refuses: generators, and dtypes it does not compute in."""
    if generator is not None:
        raise assertion("generator is not supported in refs")
    dtype = self._dtype
    is_integer = not (dtype.is_floating_point or dtype.is_complex or dtype is distributions.BOOL)
    if not (dtype.is_floating_point or (integers and is_integer)):
        raise RuntimeError(f"{name} not implemented for {dtype}")


@kernel("aten::poisson", key="Meta")
def poisson_on_meta(self: Tensor, generator: Generator | None) -> Tensor:
    return factories.empty_like(self)


@kernel("aten::poisson")
def poisson(self: Tensor, generator: Generator | None) -> Any:
    made = factories.zeros(tuple(self._sizes), dtype=self._dtype)
    if numel(self._sizes):
        dispatch_over(FLOATING_TYPES | HALVES, "poisson_cpu", self._dtype)
        store(made, distributions.poisson(value_array(self), generator))
    return made
