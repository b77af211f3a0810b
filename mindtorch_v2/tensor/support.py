"""What a release's kernels take and how it words things: lookups in the profile's ``values``.

Mirrors the ``AT_DISPATCH`` switches of ``aten/src/ATen/Dispatch.h``, whose every kernel has its
own list of dtypes.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Mapping, Sequence
from math import copysign, isnan
from typing import Any, Final

from mindtorch_v2 import profile
from mindtorch_v2.tensor.dtype import DTYPES, DType

_FACTS: Final = profile.active().values

CPP_NAMES: Final[dict[DType, str]] = {
    DTYPES[name]: cpp for name, cpp in _FACTS["cpp_names"].items()
}
"""The names in ``c10::ScalarType``."""

C_TYPES: Final[dict[DType, str | None]] = {
    DTYPES[name]: c_type for name, c_type in _FACTS["c_types"].items()
}
"""The C++ types of elements, as messages of number conversions show them."""
SCALAR_TENSOR_TYPES: Final[dict[DType, str | None]] = {
    DTYPES[name]: c_type for name, c_type in _FACTS["scalar_tensor_types"].items()
}
"""The same where one number becomes a tensor; None where its range is not looked at."""
TYPE_NAMES: Final[dict[DType, str]] = {
    DTYPES[name]: type_name for name, type_name in _FACTS["type_names"].items()
}
"""The C++ types of elements, as ``caffe2::TypeMeta`` prints them."""
ELEMENT_TYPES: Final = {
    dtype: SCALAR_TENSOR_TYPES[dtype] if dtype.is_complex else c_type
    for dtype, c_type in C_TYPES.items()
}
"""The same in kernels, which convert numbers to complex halves and not by way of floats."""
FINFO: Final[dict[DType, dict[str, Any]]] = {
    DTYPES[name]: limits for name, limits in _FACTS["finfo"].items()
}
IINFO: Final[dict[DType, dict[str, Any]]] = {
    DTYPES[name]: limits for name, limits in _FACTS["iinfo"].items()
}

HABITS: Final[dict[str, bool]] = _FACTS["habits"]
"""Questions that releases answer differently (``conformance/extract/values.py`` asks them)."""

_PLACES: Final = {dtype: place for place, dtype in enumerate(CPP_NAMES)}
_BY_PLACE: Final = [*CPP_NAMES]
_PROMOTIONS: Final[list[list[int]]] = _FACTS["promotions"]


def _refusals() -> dict[str, dict[DType, tuple[str, str]]]:
    return {
        kernel: {
            DTYPES[name]: (refusal["error"], refusal["message"])
            for refusal in found
            for name in refusal["dtypes"]
        }
        for kernel, found in _FACTS["refusals"].items()
    }


_REFUSALS: Final = _refusals()


def check_dtype(kernel: str, dtype: DType) -> None:
    """Raise what ``kernel`` of this release raises for a dtype that it does not take."""
    refusal = _REFUSALS[kernel].get(dtype)
    if refusal is not None:
        error, message = refusal
        text = message.replace("{dtype}", repr(dtype)).replace("{}", CPP_NAMES[dtype])
        raise exception_of(error, text)


def check_words(kernel: str, dtype: DType) -> None:
    """The same of what ``kernel`` refuses in words of its own, before it comes to its switch."""
    refusal = _REFUSALS[kernel].get(dtype)
    if refusal is not None and "not implemented for" not in refusal[1]:
        check_dtype(kernel, dtype)


def takes(kernel: str, dtype: DType) -> bool:
    return dtype not in _REFUSALS[kernel]


def has_words(subject: str) -> bool:
    """Whether this release says something at all; one that does not takes the call, or dies."""
    return _FACTS["words"][subject] is not None


def worded(subject: str, **words: str) -> Exception:
    """The exception with which this release says something, some words of it replaced."""
    return reworded(_FACTS["words"][subject], words)


def streamed(number: float) -> str:
    """As a stream of C++ shows a double: six digits, and of a NaN its sign too."""
    shown = f"{number:g}"
    return f"-{shown}" if isnan(number) and copysign(1, number) < 0 else shown


def refused_as(subject: str, message: str) -> Exception:
    """The exception that this release raises where it says something, with other words."""
    return exception_of(_FACTS["words"][subject][0], message)


def reworded(answer: Sequence[str], words: Mapping[str, str]) -> Exception:
    """An exception from its type and an example of its message, some words of that replaced."""
    error, message = answer
    if words:  # all at once: what is put in may look like another word
        pattern = "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
        message = re.sub(pattern, lambda found: words[found[0]], message)
    return exception_of(error, message)


def exception_of(error: str, message: str) -> Exception:
    """An exception of Python's, by the name of its class."""
    kind: Any = getattr(builtins, error)
    made: Exception = kind(message)
    return made


def promote_types(one: DType, two: DType) -> DType:
    """``c10::promoteTypes``: the smallest dtype that both convert to; RuntimeError for none."""
    place = _PROMOTIONS[_PLACES[one]][_PLACES[two]]
    if place < 0:
        message: str = _FACTS["promotion_refusals"][-place - 1]
        raise RuntimeError(message.format(CPP_NAMES[one], CPP_NAMES[two]))
    return _BY_PLACE[place]


def promoted(one: DType, two: DType) -> DType | None:
    """As :func:`promote_types`, but None for ``ScalarType::Undefined``, which only Python
    refuses."""
    place = _PROMOTIONS[_PLACES[one]][_PLACES[two]]
    if place < 0 and _FACTS["promotion_refusals"][-place - 1] == _UNDEFINED:
        return None
    return promote_types(one, two)


_UNDEFINED: Final = "Promotion from {0} and {1} is unsupported."
