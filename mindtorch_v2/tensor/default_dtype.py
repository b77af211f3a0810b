"""The dtype that a Python float becomes.

Mirrors ``get_default_dtype`` and ``set_default_dtype`` of ``torch/csrc/tensor/python_tensor.cpp``.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2.by_position import by_position
from mindtorch_v2.dispatch import tls
from mindtorch_v2.tensor.dtype import DTYPES, DType, float32
from mindtorch_v2.tensor.support import check_dtype

_state: dict[str, DType] = {"default": float32}

_COMPLEX: Final = {
    DTYPES["float16"]: DTYPES["complex32"],
    DTYPES["float32"]: DTYPES["complex64"],
    DTYPES["float64"]: DTYPES["complex128"],
}


def get_default_dtype() -> DType:
    return _state["default"]


@by_position
def set_default_dtype(d: Any, /) -> None:
    """Make ``d`` the dtype of floats; TypeError for what is none, or has no storage type."""
    if not isinstance(d, DType):
        raise TypeError(
            "invalid dtype object: only floating-point types are supported as the default type"
        )
    check_dtype("set_default_dtype", d)
    with tls.outside_pipeline("set_default_dtype"):  # what waits was called with the other one
        _state["default"] = d


def default_complex_dtype() -> DType:
    """The dtype of a Python complex; RuntimeError where the default has no complex counterpart."""
    found = _COMPLEX.get(get_default_dtype())
    if found is None:
        raise RuntimeError("invalid default scalar type for complex")
    return found
