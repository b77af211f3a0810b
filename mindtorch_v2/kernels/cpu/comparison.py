"""Comparisons and logic: truth values of one or two tensors.

Mirrors the second half of ``aten/src/ATen/native/BinaryOps.cpp``, ``cpu/BinaryOpsKernel.cpp`` and
``TensorCompare.cpp``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from mindtorch_v2.kernels import structured
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.pointwise import Pointwise, pointwise
from mindtorch_v2.kernels.promotion import BOOL
from mindtorch_v2.kernels.structured import Outputs, Structured
from mindtorch_v2.kernels.tensor_iterator import COMPARISON_OP, STRUCTURED_COMPARISON_OP, Config
from mindtorch_v2.tensor.scalars import is_integral
from mindtorch_v2.tensor.tensor import Tensor

_IMAG: Final = OperatorHandle("aten::imag")
_OR_: Final = OperatorHandle("aten::__ior__.Tensor")
_REAL: Final = OperatorHandle("aten::real")
_ZEROS_LIKE: Final = OperatorHandle("aten::zeros_like")

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

pointwise("aten::logical_and", np.logical_and, COMPARISON_OP, 2)
pointwise("aten::logical_or", np.logical_or, COMPARISON_OP, 2)
pointwise("aten::logical_xor", np.logical_xor, COMPARISON_OP, 2)

_TRUTH_OP: Final = Config(check_all_same_dtype=False, static_dtype=BOOL)

pointwise("aten::logical_not", np.logical_not, _TRUTH_OP, 1, also_output=True)
pointwise("aten::isnan", np.isnan, replace(COMPARISON_OP, allow_cpu_scalars=False), 1)


def _like_integers(question: Structured, answer: OperatorHandle) -> Structured:
    """What integers need not be asked: all zeros or ones, laid out as the tensor is."""

    def run(outputs: Outputs, self: Tensor) -> tuple[Tensor, ...]:
        if outputs[0] is None and is_integral(self._dtype):
            return (answer(self, dtype=BOOL),)
        return question(outputs, self)

    return run


def _of_parts(question: Structured) -> Structured:
    """Of complex numbers both parts are asked, and the answer lies as they do."""

    def run(outputs: Outputs, self: Tensor) -> tuple[Tensor, ...]:
        if outputs[0] is None and self._dtype.is_complex:
            return (_OR_(*(question((None,), part(self))[0] for part in (_REAL, _IMAG))),)
        return question(outputs, self)

    return run


structured.add(
    "aten::isinf",
    _of_parts(_like_integers(Pointwise("aten::isinf", np.isinf, _TRUTH_OP, 1), _ZEROS_LIKE)),
)
