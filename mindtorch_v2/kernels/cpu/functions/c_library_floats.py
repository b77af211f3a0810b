"""The C library's logarithm, sine and cosine of floats, next to the nearest number now and then:
once in a hundred results.

Mirrors glibc's ``e_logf.c``, ``s_sinf.c`` and ``s_cosf.c``, which compute in doubles.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from mindtorch_v2.tensor.elements import Array

_hex: Final = float.fromhex

# --- the logarithm ----------------------------------------------------------------------------

_CENTRES: Final = np.array(
    [
        *(_hex("0x1.661ec79f8f3bep+0"), _hex("0x1.571ed4aaf883dp+0"), _hex("0x1.49539f0f010bp+0")),
        *(_hex("0x1.3c995b0b80385p+0"), _hex("0x1.30d190c8864a5p+0"), _hex("0x1.25e227b0b8eap+0")),
        *(_hex("0x1.1bb4a4a1a343fp+0"), _hex("0x1.12358f08ae5bap+0"), _hex("0x1.0953f419900a7p+0")),
        *(1.0, _hex("0x1.e608cfd9a47acp-1"), _hex("0x1.ca4b31f026aap-1")),
        *(_hex("0x1.b2036576afce6p-1"), _hex("0x1.9c2d163a1aa2dp-1"), _hex("0x1.886e6037841edp-1")),
        _hex("0x1.767dcf5534862p-1"),
    ]
)
"""By the first four bits of a mantissa, what it is multiplied by to be close to one."""
_LOGARITHMS: Final = np.array([-math.log(centre) for centre in _CENTRES])
_LN2: Final = _hex("0x1.62e42fefa39efp-1")
_LOG: Final = _hex("-0x1.ffffef20a4123p-2"), _hex("0x1.5575b0be00b6ap-2")
_LOG_LAST: Final = _hex("-0x1.00ea348b88334p-2")
_LEAST_MANTISSA: Final = np.int32(0x3F330000)
_EXPONENT: Final = np.int32(-0x800000)
_MANTISSA_BITS: Final = 23
_TABLE_BITS: Final = 4


def log(x: Array) -> Array:
    """Of floats that are positive and normal."""
    bits = x.view(np.int32)
    distance = bits - _LEAST_MANTISSA
    place = (distance >> (_MANTISSA_BITS - _TABLE_BITS)) & (2**_TABLE_BITS - 1)
    mantissa = (bits - (distance & _EXPONENT)).view(np.float32).astype(np.float64)
    rest = mantissa * _CENTRES[place] - 1
    start = _LOGARITHMS[place] + (distance >> _MANTISSA_BITS) * _LN2
    square = rest * rest
    series = _LOG_LAST * square + (_LOG[1] * rest + _LOG[0])
    return np.asarray(series * square + (start + rest), np.float32)


# --- sine and cosine --------------------------------------------------------------------------

_QUARTERS: Final = _hex("0x1.45F306DC9C883p+23")
"""``2 / pi``, in 2**24ths."""
_QUARTER_BITS: Final = 24
_HALF_PI: Final = _hex("0x1.921FB54442D18p0")
_SINE: Final = (
    *(_hex("-0x1.555545995a603p-3"), _hex("0x1.1107605230bc4p-7")),
    _hex("-0x1.994eb3774cf24p-13"),
)
_COSINE: Final = (
    *(1.0, _hex("-0x1.ffffffd0c621cp-2"), _hex("0x1.55553e1068f19p-5")),
    *(_hex("-0x1.6c087e89a359dp-10"), _hex("0x1.99343027bf8c3p-16")),
)


def sin(x: Array) -> Array:
    """Of floats of a size below 120."""
    return np.where(x == 0, x, _turned(x, 0))


def cos(x: Array) -> Array:
    return _turned(x, 1)


def _turned(x: Array, ahead: int) -> Array:
    """The sine of what is so many quarters of a turn on."""
    angle = x.astype(np.float64)
    half = 1 << (_QUARTER_BITS - 1)
    quarter = ((angle * _QUARTERS).astype(np.int64) + half) >> _QUARTER_BITS
    rest = angle - quarter * _HALF_PI
    square = rest * rest
    is_cosine = (quarter + ahead) & 1 == 1
    found = np.where(is_cosine, _cosine(square), _sine(rest, square))
    is_behind = (quarter + ahead) & 2 == 2
    return np.asarray(np.where(is_behind, -found, found), np.float32)


def _sine(x: Array, square: Array) -> Array:
    cube = x * square
    return (x + cube * _SINE[0]) + cube * square * (_SINE[1] + square * _SINE[2])


def _cosine(square: Array) -> Array:
    fourth = square * square
    start = (_COSINE[0] + square * _COSINE[1]) + fourth * _COSINE[2]
    return start + fourth * square * (_COSINE[3] + square * _COSINE[4])
