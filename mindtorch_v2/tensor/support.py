"""What a release's kernels take and how it words things: lookups in the profile's ``values``.

Mirrors the ``AT_DISPATCH`` switches of ``aten/src/ATen/Dispatch.h``, whose every kernel has its
own list of dtypes.
"""

from __future__ import annotations

import builtins
import re
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
TYPE_META_NAMES: Final[dict[DType, str]] = {
    DTYPES[name]: text for name, text in _FACTS["type_meta_names"].items()
}
"""How ``caffe2::TypeMeta`` prints."""
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


def takes(kernel: str, dtype: DType) -> bool:
    return dtype not in _REFUSALS[kernel]


def worded(subject: str, **words: str) -> Exception:
    """The exception with which this release says something, some words of it replaced."""
    error, message = _FACTS["words"][subject]
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
