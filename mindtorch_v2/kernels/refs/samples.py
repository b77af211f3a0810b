"""The reference functions of distributions, and of what is drawn by keys.

Mirrors ``torch/_refs/__init__.py``, ``torch/_meta_registrations.py`` and
``torch/_decomp/decompositions.py``.
"""

from __future__ import annotations

import math
from typing import Any, Final

from mindtorch_v2 import profile
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.randomness.keyed import (
    Manner,
    check_filled_by,
    check_key,
    check_splits,
)
from mindtorch_v2.kernels.randomness.rare_distributions import check_ref, check_share, check_width
from mindtorch_v2.kernels.refs.bodies import body
from mindtorch_v2.kernels.refs.common import (
    HABITS,
    assertion,
    elementwise_dtypes,
    strides_in_format_of,
    to_dtype,
)
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.dtype import DTYPES, DType, Layout, memory_format
from mindtorch_v2.tensor.generator import Generator
from mindtorch_v2.tensor.tensor import Tensor

_META: Final = "torch._meta_registrations."
_REFS: Final = "torch._refs."

_ADD: Final = OperatorHandle("aten::add.Scalar")
_DIV: Final = OperatorHandle("aten::div.Scalar")
_EMPTY_LIKE: Final = OperatorHandle("aten::empty_like")
_EXP: Final = OperatorHandle("aten::exp")
_FLOOR: Final = OperatorHandle("aten::floor")
_LOG1P: Final = OperatorHandle("aten::log1p")
_LT: Final = OperatorHandle("aten::lt.Scalar")
_MUL: Final = OperatorHandle("aten::mul.Tensor")
_MUL_SCALAR: Final = OperatorHandle("aten::mul.Scalar")
_NEG: Final = OperatorHandle("aten::neg")
_TAN: Final = OperatorHandle("aten::tan")

_REF_FACTS: Final = profile.active().refs
_DROPOUT_WRAPPERS: Final = _REF_FACTS["wrappers"][_REF_FACTS["wrapped"]["aten::_fused_dropout"]]

#: The function that a wrapper casts for scales by a number, the one that casts itself by a tensor.
_SCALES_BY_NUMBER: Final = any(wrapper == "type_casts" for wrapper, _ in _DROPOUT_WRAPPERS)

_OF_PYTHON: Final = Manner(lambda sizes: sizes, lambda dtype: dtype)
_CONTINUOUS: Final = (
    "{} distribution is a continuous probability distribution.         dtype must be a floating "
    "point but you specified {}"
)


# --- of Python's decompositions ---------------------------------------------------------------


def _check_continuous(name: str, self: Tensor, generator: Generator | None) -> None:
    if generator is not None:
        raise assertion("generator is not supported in refs")
    if not self._dtype.is_floating_point:
        raise RuntimeError(_CONTINUOUS.format(name, self._dtype))


@body(_REFS + "cauchy")
def cauchy(
    self: Tensor, median: float = 0, sigma: float = 1, generator: Generator | None = None
) -> Any:
    _check_continuous("Cauchy", self, generator)
    check_width("cauchy_", "sigma", sigma, str(sigma))
    angles = _MUL_SCALAR(_ADD(_EMPTY_LIKE(self), -0.5), math.pi)
    return _ADD(_MUL_SCALAR(_TAN(angles), sigma), median)


@body(_REFS + "exponential")
def exponential(self: Tensor, rate: float = 1, generator: Generator | None = None) -> Any:
    _check_continuous("Exponential", self, generator)
    if not rate > 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={rate}")
    return _MUL_SCALAR(_LOG1P(_EMPTY_LIKE(self)), -1 / rate)


@body(_REFS + "geometric")
def geometric(self: Tensor, p: float, generator: Generator | None = None) -> Any:
    check_ref("geometric", self, generator, integers=True)
    check_share(p, str(p))
    trials = _LOG1P(_NEG(_EMPTY_LIKE(self)))
    return _ADD(_FLOOR(_DIV(trials, math.log1p(-p))), 1)


@body(_REFS + "log_normal")
def log_normal(
    self: Tensor, mean: float = 1, std: float = 2, generator: Generator | None = None
) -> Any:
    check_ref("log_normal", self, generator, integers=False)
    check_width("log_normal_", "std", std, str(std))
    return _EXP(_ADD(_MUL_SCALAR(_EMPTY_LIKE(self), std), mean))


@body("torch._decomp.decompositions._fused_dropout_decomposition")
def fused_dropout(input: Tensor, p: float, generator: Generator | None = None) -> tuple[Any, Any]:
    if generator is not None:
        raise assertion(f"generator must be None for _fused_dropout decomposition, got {generator}")
    computed, result = elementwise_dtypes(input, kind="DEFAULT")
    values = to_dtype(input, computed)
    mask = to_dtype(_LT(_EMPTY_LIKE(values), p), DTYPES["uint8"])
    kept = _MUL(to_dtype(mask, computed), values)
    if _SCALES_BY_NUMBER:  # which Python does not divide by nought
        return _MUL_SCALAR(kept, 1.0 / p), mask
    found = _MUL(kept, _DIV(new_tensor((), computed, input._device), p))
    return to_dtype(found, result), mask


# --- registered for meta ----------------------------------------------------------------------


@body(_META + "meta__masked_scale")
def masked_scale(self: Tensor, mask: Tensor, scale: float) -> Tensor:
    strides = strides_in_format_of(self, self._sizes)
    return new_tensor(self._sizes, self._dtype, self._device, strides)


@body(_META + "meta__standard_gamma")
def standard_gamma(self: Tensor, generator: Generator | None = None) -> Any:
    return _EMPTY_LIKE(self)


@body(_META + "meta_randint_like")
def randint_like(
    self: Tensor,
    high: Tensor,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: bool | None = None,
    memory_format: memory_format | None = None,
) -> Any:
    if HABITS["randint_like below a tensor is a new tensor on meta"]:
        return new_tensor(self._sizes, self._dtype, self._device)
    return _EMPTY_LIKE(
        self,
        dtype=dtype,
        layout=layout,
        device=device,
        pin_memory=pin_memory,
        memory_format=memory_format,
    )


@body(_META + "meta_philox_key_split")
def philox_key_split(key: Tensor, num_splits: int) -> Tensor:
    name = "_philox_key_split"
    check_key(name, key, _OF_PYTHON)
    check_splits(name, num_splits)
    return new_tensor((num_splits, *key._sizes), key._dtype, key._device)


@body(_META + "meta_philox_key_fold_in")
def philox_key_fold_in(key: Tensor, data: int) -> Any:
    check_key("_philox_key_fold_in", key, _OF_PYTHON)
    return _EMPTY_LIKE(key)


@body(_META + "meta_philox_normal_")
def philox_normal_(self: Tensor, key: Tensor, mean: float = 0.0, std: float = 1.0) -> Tensor:
    check_filled_by("_philox_normal_", self, key, _OF_PYTHON)
    return self


@body(_META + "meta_philox_uniform_")
def philox_uniform_(self: Tensor, key: Tensor, low: float = 0.0, high: float = 1.0) -> Tensor:
    check_filled_by("_philox_uniform_", self, key, _OF_PYTHON)
    return self
