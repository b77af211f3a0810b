"""Windows of signals: numbers that rise from the ends to the middle.

Mirrors ``bartlett_window`` and its likes in ``aten/src/ATen/native/TensorFactories.cpp``, and
``kaiser_window_kernel`` in ``cpu/UnaryOpsKernel.cpp``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels.cpu.functions.bessel import i0
from mindtorch_v2.kernels.elementwise.pointwise import rounded
from mindtorch_v2.kernels.elementwise.promotion import to_opmath
from mindtorch_v2.kernels.factories.factories import given_options
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import FLOATING_TYPES, HALVES, dispatch_over
from mindtorch_v2.tensor.copying import store, value_array
from mindtorch_v2.tensor.default_dtype import get_default_dtype
from mindtorch_v2.tensor.dtype import CPP_LAYOUTS, strided
from mindtorch_v2.tensor.elements import elements_of
from mindtorch_v2.tensor.support import TYPE_NAMES
from mindtorch_v2.tensor.tensor import Tensor

_BETA: Final = 12.0
_KEY: Final = "CompositeExplicitAutograd"

_ADD: Final = OperatorHandle("aten::add.Scalar")
_ADD_: Final = OperatorHandle("aten::add_.Scalar")
_ARANGE: Final = OperatorHandle("aten::arange")
_COS_: Final = OperatorHandle("aten::cos_")
_EMPTY: Final = OperatorHandle("aten::empty.memory_format")
_MUL: Final = OperatorHandle("aten::mul.Scalar")
_MUL_: Final = OperatorHandle("aten::mul_.Scalar")
_NARROW: Final = OperatorHandle("aten::narrow")
_ONES: Final = OperatorHandle("aten::ones")
_SUB: Final = OperatorHandle("aten::sub.Tensor")


def _check(name: str, length: int, given: dict[str, Any]) -> None:
    """``window_function_checks``."""
    dtype = given.get("dtype") or get_default_dtype()
    if given.get("layout", strided) is not strided:
        raise RuntimeError(f"{name} is not implemented for sparse types, got: {_shown(given)}")
    if not (dtype.is_floating_point or dtype.is_complex):
        raise RuntimeError(f"{name} expects floating point dtypes, got: {_shown(given)}")
    if length < 0:
        raise RuntimeError(
            f"{name} requires non-negative window_length, got window_length={length}"
        )


def _shown(given: dict[str, Any]) -> str:
    """``TensorOptions``, as C++ prints them."""
    shown = {
        "dtype": TYPE_NAMES[given.get("dtype") or get_default_dtype()],
        "device": given.get("device", "cpu"),
        "layout": CPP_LAYOUTS[given.get("layout", strided)],
        "requires_grad": "false",
        "pinned_memory": str(given.get("pin_memory", False)).lower(),
    }
    named = {"pinned_memory": "pin_memory"}
    parts = [
        f"{name}={value}{'' if named.get(name, name) in given else ' (default)'}"
        for name, value in shown.items()
    ]
    return f"TensorOptions({', '.join(parts)}, memory_format=(nullopt))"


def _window(
    name: str, length: int, periodic: bool, options: tuple[Any, ...], shape: Callable[[Any], Any]
) -> Any:
    """What ``shape`` makes of the numbers from zero on: a periodic window lacks the last."""
    given = given_options(options)
    if name == "hann_window":  # which looks before it asks for the default
        _check(name, length, given)
    given = {"dtype": get_default_dtype(), **given}
    _check(name, length, given)
    if length < 2:
        return (_ONES if length else _EMPTY)([length], **given)
    made = shape(_ARANGE(length + periodic, **given))
    return _NARROW(made, 0, 0, length) if periodic else made


def _bartlett(numbers: Any) -> Any:
    last = numbers._sizes[0] - 1
    window, first_half = _MUL_(numbers, 2.0 / last), (last >> 1) + 1
    _ADD_(_MUL_(_NARROW(window, 0, first_half, last + 1 - first_half), -1), 2)
    return window


def _blackman(numbers: Any) -> Any:
    window = _MUL_(numbers, math.pi / (numbers._sizes[0] - 1))
    fast, slow = (_COS_(_MUL(window, factor)) for factor in (4, 2))
    return _ADD(_SUB(_MUL_(fast, 0.08), _MUL_(slow, 0.5)), 0.42)


def _hamming(alpha: float, beta: float) -> Callable[[Any], Any]:
    def shape(numbers: Any) -> Any:
        angles = _MUL_(numbers, math.pi * 2.0 / (numbers._sizes[0] - 1))
        return _ADD_(_MUL_(_COS_(angles), -beta), alpha)

    return shape


def _add(name: str, shape: Callable[[Any], Any], said: str) -> None:
    @kernel(f"aten::{name}.periodic", key=_KEY)
    def window(length: int, periodic: bool, *options: Any) -> Any:
        return _window(said, length, periodic, options, shape)

    @kernel(f"aten::{name}", key=_KEY)
    def periodic_window(length: int, *options: Any) -> Any:
        return _window(said, length, True, options, shape)


_add("bartlett_window", _bartlett, "bartlett_window")
_add("blackman_window", _blackman, "blackman_window")
_add("hamming_window", _hamming(0.54, 0.46), "hamming_window")
_add("hann_window", _hamming(0.5, 0.5), "hann_window")


@kernel("aten::hamming_window.periodic_alpha", key=_KEY)
def hamming_window_alpha(length: int, periodic: bool, alpha: float, *options: Any) -> Any:
    return _window("hamming_window", length, periodic, options, _hamming(alpha, 0.46))


@kernel("aten::hamming_window.periodic_alpha_beta", key=_KEY)
def hamming_window_alpha_beta(
    length: int, periodic: bool, alpha: float, beta: float, *options: Any
) -> Any:
    return _window("hamming_window", length, periodic, options, _hamming(alpha, beta))


# --- Kaiser's ---------------------------------------------------------------------------------


@kernel("aten::kaiser_window", key=_KEY)
def kaiser_window(length: int, *options: Any) -> Any:
    return kaiser_window_beta(length, True, _BETA, *options)


@kernel("aten::kaiser_window.periodic", key=_KEY)
def kaiser_window_periodic(length: int, periodic: bool, *options: Any) -> Any:
    return kaiser_window_beta(length, periodic, _BETA, *options)


@kernel("aten::kaiser_window.beta", key=_KEY)
def kaiser_window_beta(length: int, periodic: bool, beta: float, *options: Any) -> Any:
    given = {"dtype": get_default_dtype(), **given_options(options)}
    _check("kaiser_window", length, given)
    device = given.get("device")
    if device is not None and device.type == "meta":
        return _EMPTY([length], **given)
    if length < 2:
        return (_ONES if length else _EMPTY)([length], **given)
    numbers = _ARANGE(length + periodic, **given)
    window = _EMPTY([length + periodic], **given)
    if not window.is_meta:
        _kaiser(window, numbers, beta)
    return _NARROW(window, 0, 0, length) if periodic else window


def _kaiser(window: Tensor, numbers: Tensor, beta: float) -> None:
    """``kaiser_window_kernel``."""
    dtype = window._dtype
    dispatch_over(FLOATING_TYPES | HALVES, "kaiser_window_cpu", dtype)
    kind = elements_of(to_opmath(dtype)).computed.type
    with np.errstate(all="ignore"):
        half, slope = kind((numbers._sizes[0] - 1) / 2), kind(beta)
        places = (value_array(numbers).astype(kind) - half) / half
        heights = slope * np.sqrt(np.abs(kind(1) - places * places))
        store(window, rounded(i0(heights) / i0(np.asarray(slope)), dtype))
