"""Parameters of float32 for inputs of half precision.

Mirrors ``aten/src/ATen/native/cpu/mixed_data_type.h``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mindtorch_v2.tensor.dtype import DTYPES, DType
from mindtorch_v2.tensor.tensor import Tensor

_FLOAT: Final = DTYPES["float32"]
_HALVES: Final = (DTYPES["float16"], DTYPES["bfloat16"])


def _is_mixed(input: Tensor, parameters: Sequence[Tensor | None]) -> bool:
    """``is_mixed_type``: the first parameter that is given says it."""
    first = next((each for each in parameters if each is not None), None)
    return first is not None and first._dtype is not input._dtype


def parameter_dtype(input: Tensor, *parameters: Tensor | None) -> DType:
    """``param_scalar_type``: of what is learned and counted, the input's or float32."""
    return _FLOAT if _is_mixed(input, parameters) else input._dtype


def checked_parameter_dtype(input: Tensor, *parameters: Tensor | None) -> DType:
    """The same; RuntimeError for a mixture that there is none of (``check_mixed_data_type``)."""
    if _is_mixed(input, parameters):
        if any(each is not None and each._dtype is not _FLOAT for each in parameters):
            raise RuntimeError("mixed dtype (CPU): expect parameter to have scalar type of Float")
        if input._dtype not in _HALVES:
            raise RuntimeError("mixed dtype (CPU): all inputs must share same datatype.")
    return parameter_dtype(input, *parameters)
