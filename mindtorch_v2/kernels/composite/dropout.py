"""Dropout: elements, or whole features, that are left out at random.

Mirrors ``aten/src/ATen/native/Dropout.cpp``, and of ``aten/src/ATen/functorch/
PyTorchOperatorHacks.cpp`` the same functions, which transforms call in their stead.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Any, Final, NamedTuple

from mindtorch_v2.kernels.elementwise.promotion import BOOL
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import add, kernel
from mindtorch_v2.kernels.switches import HABITS
from mindtorch_v2.tensor.dtype import MEMORY_FORMATS, REAL_OF_COMPLEX
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.support import streamed
from mindtorch_v2.tensor.tensor import Tensor

_ADD: Final = OperatorHandle("aten::add.Scalar")
_ADD_: Final = OperatorHandle("aten::add_.Tensor")
_ADD_SCALAR_: Final = OperatorHandle("aten::add_.Scalar")
_BERNOULLI: Final = OperatorHandle("aten::bernoulli.p")
_BERNOULLI_: Final = OperatorHandle("aten::bernoulli_.float")
_CLONE: Final = OperatorHandle("aten::clone")
_DIV_: Final = OperatorHandle("aten::div_.Scalar")
_EMPTY: Final = OperatorHandle("aten::empty.memory_format")
_EMPTY_LIKE: Final = OperatorHandle("aten::empty_like")
_EXPAND: Final = OperatorHandle("aten::expand")
_MUL: Final = OperatorHandle("aten::mul.Tensor")
_MUL_: Final = OperatorHandle("aten::mul_.Tensor")
_MUL_SCALAR: Final = OperatorHandle("aten::mul.Scalar")
_MUL_SCALAR_: Final = OperatorHandle("aten::mul_.Scalar")
_NEW_EMPTY: Final = OperatorHandle("aten::new_empty")
_ONES_LIKE: Final = OperatorHandle("aten::ones_like")
_ZEROS: Final = OperatorHandle("aten::zeros")

_ALPHA: Final = 1.7580993408473766
"""What SELU tends to, with its sign turned: alpha dropout sets elements to its negative."""

_NOISE_FORMAT: Final = (
    MEMORY_FORMATS["contiguous_format"] if HABITS["dropout has row-major noise"] else None
)
_HAS_REAL_NOISE: Final = HABITS["dropout draws real noise for complex numbers"]

Noise = Callable[[Tensor, float], Any]
"""From the input and how likely an element stays, ones and zeros."""


class _Dropout(NamedTuple):
    """One of the functions of this kind."""

    of_features: bool
    is_alpha: bool


_KINDS: Final = {
    "aten::dropout": _Dropout(of_features=False, is_alpha=False),
    "aten::feature_dropout": _Dropout(of_features=True, is_alpha=False),
    "aten::alpha_dropout": _Dropout(of_features=False, is_alpha=True),
    "aten::feature_alpha_dropout": _Dropout(of_features=True, is_alpha=True),
}


# --- noise ------------------------------------------------------------------------------------


def _feature_sizes(input: Tensor) -> list[int]:
    if len(input._sizes) < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    return [*input._sizes[:2], *(1 for _ in input._sizes[2:])]


def _empty(input: Tensor, sizes: list[int]) -> Any:
    return _EMPTY(sizes, dtype=input._dtype, layout=input._layout, device=input._device)


def _real_options(input: Tensor) -> dict[str, Any]:
    """Noise is drawn of real numbers, in releases that draw it of complex ones."""
    if not (_HAS_REAL_NOISE and input._dtype.is_complex):
        return {}
    dtype = REAL_OF_COMPLEX[input._dtype]
    return {"dtype": dtype, "layout": input._layout, "device": input._device}


def _of_elements(input: Tensor, kept: float) -> Any:
    options = _real_options(input)
    return _BERNOULLI_(_EMPTY_LIKE(input, **options, memory_format=_NOISE_FORMAT), kept)


def _of_features(input: Tensor, kept: float) -> Any:
    return _BERNOULLI_(_NEW_EMPTY(input, _feature_sizes(input), **_real_options(input)), kept)


def _of_elements_in_transform(input: Tensor, kept: float) -> Any:
    """Without a change: a transform may have other elements for each of several samples."""
    return _BERNOULLI(_EXPAND(_empty(input, []), list(input._sizes)), kept)


def _of_features_in_transform(input: Tensor, kept: float) -> Any:
    return _BERNOULLI(_empty(input, _feature_sizes(input)), kept)


# --- the functions ----------------------------------------------------------------------------


def _dropout(kind: _Dropout, noise_of: Noise, multiply: OperatorHandle) -> Callable[..., Any]:
    def run(input: Tensor, p: float, train: bool) -> Any:
        if not 0 <= p <= 1:
            raise RuntimeError(
                f"dropout probability has to be between 0 and 1, but got {streamed(p)}"
            )
        if p == 0 or not train or not numel(input._sizes):
            return input
        if p == 1:
            options = {"dtype": input._dtype, "layout": input._layout, "device": input._device}
            return multiply(input, _ZEROS([], **options))
        noise = noise_of(input, 1 - p)
        if not kind.is_alpha:
            return multiply(input, _DIV_(noise, 1 - p))
        scale = 1.0 / sqrt((_ALPHA * _ALPHA * p + 1) * (1 - p))
        shift = _MUL_SCALAR_(_ADD(noise, -1), _ALPHA * scale)
        shift = _ADD_SCALAR_(shift, _ALPHA * scale * p)
        return _ADD_(multiply(input, _MUL_SCALAR_(noise, scale)), shift)

    return run


for _name, _kind in _KINDS.items():
    for _key, _features, _elements in (
        ("CompositeImplicitAutograd", _of_features, _of_elements),
        (
            "FuncTorchDynamicLayerFrontMode",
            _of_features_in_transform,
            _of_elements_in_transform,
        ),
    ):
        _noise = _features if _kind.of_features else _elements
        add(_name, _key, _dropout(_kind, _noise, _MUL))
        add(f"{_name}_", _key, _dropout(_kind, _noise, _MUL_))


# --- native_dropout ---------------------------------------------------------------------------


@kernel("aten::native_dropout", keys=("CPU", "Meta"))
def native_dropout(input: Tensor, p: float, train: bool | None) -> tuple[Any, Any]:
    if not numel(input._sizes):
        return input, _EMPTY_LIKE(input)
    if train is not None and not train:
        return _CLONE(input, memory_format=None), _ONES_LIKE(input, dtype=BOOL)
    kept = 1.0 - p
    mask = _BERNOULLI_(_EMPTY_LIKE(input, dtype=BOOL), kept)
    return _MUL_SCALAR_(_MUL(input, mask), 1 / kept if kept else 0.0), mask


@kernel("aten::native_dropout_backward")
def native_dropout_backward(grad_output: Tensor, mask: Tensor, scale: float) -> Any:
    return _MUL_SCALAR(_MUL(grad_output, mask), scale)
