"""What oneDNN computes where torch's CPU has it do so (``use_mkldnn``).

Mirrors ``gelu_erf_compute_vector_fwd`` and ``exp_compute_vector_fwd`` of its
``src/cpu/x64/injectors/jit_uni_eltwise_injector.cpp``: the error function is a polynomial of
Abramowitz and Stegun, right to seven digits of one, which are few of what is left far below zero.
Processors with AVX512 have another polynomial, which is closer, and no answer to infinity.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Final

import numpy as np

from mindtorch_v2.kernels.cpu.functions.blocks import by_blocks
from mindtorch_v2.kernels.cpu.functions.cephes import polynomial
from mindtorch_v2.kernels.cpu.functions.error_function import ERROR, ERROR_AT
from mindtorch_v2.kernels.cpu.functions.fused import fused
from mindtorch_v2.tensor.elements import Array

_F: Final = np.float32
_ONE: Final = _F(1)
_HALF: Final = _F(0.5)
_ROOT_HALF: Final = _F(math.sqrt(0.5))


def _bits(pattern: int) -> np.float32:
    return _F(np.array(pattern, np.uint32).view(np.float32))


_ONE_OVER_ROOT_PI: Final = _bits(0x3F106EBA)
"""Cut off, and not rounded."""
_LOWEST: Final = _bits(0xC2AEAC50)
"""The logarithm of the smallest normal float: what is below has no exponential."""
_LOG2_E: Final = _F(math.log2(math.e))
_LN2: Final = _F(math.log(2))
_EXPONENTIAL: Final = (
    *(_bits(0x3C07CFCE), _bits(0x3D2B9D0D), _bits(0x3E2AAD40), _bits(0x3EFFFEE3)),
    *(_bits(0x3F7FFFFB), _ONE),
)


_LIMITS: Final = ("ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA")
"""Variables of the environment that keep oneDNN from using all that a processor has."""


@cache
def has_avx512() -> bool:
    """Whether oneDNN finds a processor with wider vectors, as NumPy sees it, and may use them."""
    limit = next(filter(None, map(os.environ.get, _LIMITS)), "").upper()
    if limit == "AVX" or limit.startswith(("SSE", "AVX2")):
        return False
    return is_found("AVX512_SKX")


@cache
def multiplies_halves() -> bool:
    """The same of a processor that multiplies them, if nobody says how far oneDNN may go."""
    return not any(map(os.environ.get, _LIMITS)) and is_found("AVX512_SPR")


def is_found(feature: str) -> bool:
    """Whether a processor has something, may it be used or not."""
    return bool(_features().get(feature))


def _features() -> Mapping[str, bool]:
    core = "numpy._core" if np.__version__[0] > "1" else "numpy.core"
    features: Mapping[str, bool] = import_module(f"{core}._multiarray_umath").__cpu_features__
    return features


def _exponential(x: Array) -> Array:
    """Of what is not above zero."""
    at = np.maximum(x, _LOWEST)
    power = np.floor(at * _LOG2_E + _HALF)
    found = polynomial(fused(-power, _LN2, at), _EXPONENTIAL)
    return np.where(x < _LOWEST, _F(0), np.ldexp(found, power.astype(np.int32)))


@by_blocks
def gelu(x: Array) -> Array:
    """``x / 2 * (1 + erf(x / sqrt(2)))`` of float32s."""
    root = x * _ROOT_HALF
    return fused(x * _HALF, _error(root, _exponential(-(root * root))), x * _HALF)


@by_blocks
def gelu_derivative(x: Array) -> Array:
    """``gelu_erf_compute_vector_bwd``."""
    root = x * _ROOT_HALF
    powers = _exponential(-(root * root))
    density = root * _ONE_OVER_ROOT_PI * powers
    return fused(_error(root, powers), _HALF, density + _HALF)


def _error(root: Array, powers: Array) -> Array:
    """The error function, ``powers`` being ``exp(-root**2)``."""
    w = _ONE / fused(np.abs(root), ERROR_AT, _ONE)
    size = fused(-powers * w, polynomial(w, ERROR), _ONE)
    return np.where(np.signbit(root), -size, size)
