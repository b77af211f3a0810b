"""Comparisons and logic: truth values of one or two tensors.

Mirrors the second half of ``aten/src/ATen/native/BinaryOps.cpp``, ``cpu/BinaryOpsKernel.cpp`` and
``TensorCompare.cpp``.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from mindtorch_v2.kernels.elementwise.pointwise import pointwise
from mindtorch_v2.kernels.elementwise.promotion import BOOL
from mindtorch_v2.kernels.elementwise.tensor_iterator import (
    COMPARISON_OP,
    STRUCTURED_COMPARISON_OP,
    Config,
)

for _name, _compare in (
    ("eq", np.equal),
    ("ne", np.not_equal),
    ("lt", np.less),
    ("le", np.less_equal),
    ("gt", np.greater),
    ("ge", np.greater_equal),
):
    pointwise(f"aten::{_name}.Tensor", _compare, STRUCTURED_COMPARISON_OP, 2)
    pointwise(f"aten::{_name}.Scalar", _compare, STRUCTURED_COMPARISON_OP, 2)

_LOGICAL_OP: Final = STRUCTURED_COMPARISON_OP._replace(is_structured=False)

pointwise("aten::logical_and", np.logical_and, _LOGICAL_OP, 2)
pointwise("aten::logical_or", np.logical_or, _LOGICAL_OP, 2)
pointwise("aten::logical_xor", np.logical_xor, _LOGICAL_OP, 2)

_TRUTH_OP: Final = Config(check_all_same_dtype=False, static_dtype=BOOL)

pointwise("aten::logical_not", np.logical_not, _TRUTH_OP, 1, also_output=True)
pointwise("aten::isnan", np.isnan, COMPARISON_OP._replace(allow_cpu_scalars=False), 1)
