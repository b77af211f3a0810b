"""Samples of categories by their probabilities, and of exponential distributions.

Mirrors ``multinomial_out`` of ``aten/src/ATen/native/Distributions.cpp``,
``cpu/MultinomialKernel.cpp`` and ``exponential_``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels.cpu.samples import distributions
from mindtorch_v2.kernels.elementwise.pointwise import as_array
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor, set_sizes
from mindtorch_v2.kernels.refs.common import assertion
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.structured import prologue
from mindtorch_v2.kernels.switches import dispatch, is_known
from mindtorch_v2.tensor.copying import store
from mindtorch_v2.tensor.dtype import int64
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.generator import Generator
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.support import CPP_NAMES, streamed
from mindtorch_v2.tensor.tensor import Tensor

_BACKENDS: Final = ("CPU", "Meta")
_ARGMAX_OUT: Final = OperatorHandle("aten::argmax.out")
_DIV_OUT: Final = OperatorHandle("aten::div.out")
_EMPTY_LIKE: Final = OperatorHandle("aten::empty_like")
_EXPONENTIAL_: Final = OperatorHandle("aten::exponential_")
_TOPK_OUT: Final = OperatorHandle("aten::topk.values")
_MOST: Final = 2**24
"""Integers up to which float32 has them all."""
_NOTHING: Final = "invalid multinomial distribution (sum of probabilities <= 0)"


@kernel("aten::exponential_", key="Meta")
def exponential_on_meta(self: Tensor, lambd: float, generator: Generator | None) -> Tensor:
    """A function of Python's, which writes numbers its own way."""
    if generator is not None:
        raise assertion("generator is not supported in refs")
    if not self._dtype.is_floating_point:
        raise RuntimeError(
            "Exponential distribution is a continuous probability distribution.         dtype must "
            f"be a floating point but you specified {self._dtype}"
        )
    if not lambd > 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd}")
    return self


@kernel("aten::exponential_")
def exponential_(self: Tensor, lambd: float, generator: Generator | None) -> Tensor:
    if not lambd > 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={streamed(lambd)}")
    if numel(self._sizes):
        distributions.exponential(self, lambd, generator)
    return self


@kernel("aten::multinomial", keys=_BACKENDS)
def multinomial(
    self: Tensor, num_samples: int, replacement: bool, generator: Generator | None
) -> Tensor:
    result = new_tensor((0,), int64, self._device)
    return multinomial_out(self, num_samples, replacement, generator, result)


@kernel("aten::multinomial.out", keys=_BACKENDS)
def multinomial_out(
    self: Tensor, num_samples: int, replacement: bool, generator: Generator | None, out: Tensor
) -> Tensor:
    _prepare((out,), self, num_samples, replacement, generator)
    if out.is_meta or not numel(out._sizes):
        return out
    if replacement and num_samples != 1:
        dispatch("multinomial", self._dtype)
        if not self._sizes[-1]:
            raise RuntimeError(_NOTHING)
        rows = as_array(self, self._dtype).reshape(-1, self._sizes[-1])
        drawn = [_with_replacement(row, num_samples, generator) for row in rows]
        store(out, np.array(drawn).reshape(tuple(out._sizes)))
        return out
    dispatch("aminmax_cpu" if is_known("aminmax_cpu") else "min_all", self._dtype)
    _check_probabilities(as_array(self, self._dtype))
    noise = _EXPONENTIAL_(_EMPTY_LIKE(self), 1.0, generator=generator)
    _DIV_OUT(self, noise, out=noise)
    if num_samples == 1:
        _ARGMAX_OUT(noise, -1, True, out=out)
    else:
        values = new_tensor(out._sizes, self._dtype, self._device)
        _TOPK_OUT(noise, num_samples, values=values, indices=out)
    return out


@prologue("aten::multinomial")
def _prepare(
    outputs: Sequence[Tensor],
    self: Tensor,
    num_samples: int,
    replacement: bool,
    generator: Generator | None,
) -> None:
    (out,) = outputs
    if out._device != self._device:
        raise RuntimeError("multinomial arguments must have the same device")
    if len(self._sizes) not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    if not self._dtype.is_floating_point:
        raise RuntimeError(
            "multinomial only supports floating-point dtypes for input, got: "
            f"{CPP_NAMES[self._dtype]}"
        )
    if out._dtype is not int64:
        raise RuntimeError(f"multinomial expects Long tensor out, got: {CPP_NAMES[out._dtype]}")
    if num_samples <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    categories = self._sizes[-1]
    if not replacement and num_samples > categories:
        raise RuntimeError(
            "cannot sample n_sample > prob_dist.size(-1) samples without replacement"
        )
    if categories > _MOST:
        raise RuntimeError("number of categories cannot exceed 2^24")
    set_sizes(out, (*self._sizes[:-1], num_samples))


def _check_probabilities(values: Array) -> None:
    if not (np.isfinite(values) & (values >= 0)).all():
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if (values.sum(axis=-1) == 0).any():
        raise RuntimeError(_NOTHING)


def _with_replacement(row: Array, count: int, generator: Generator | None) -> Any:
    """Categories in whose share of the line from 0 to 1 the numbers of the generator fall."""
    wrong = row[~((row >= 0) & np.isfinite(row))]
    if wrong.size:
        entry = "= infinity or NaN" if wrong[0] >= 0 else "< 0"  # a NaN is not at least 0
        raise RuntimeError(
            f"invalid multinomial distribution (encountering probability entry {entry})"
        )
    shares = np.cumsum(row, dtype=row.dtype)
    if not shares.size or not shares[-1] > 0:
        raise RuntimeError(_NOTHING)
    shares = shares / shares[-1]
    shares[-1] = 1
    samples = distributions.uniform_doubles(generator, count)
    return np.searchsorted(shares.astype(np.float64), samples, side="left")
