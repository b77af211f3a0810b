"""Lazy conjugation and negation, carried out.

Mirrors ``resolve_conj`` and ``resolve_neg`` of ``aten/src/ATen/native/UnaryOps.cpp``.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.tensor.tensor import Tensor

_CLONE: Final = OperatorHandle("aten::clone")
_IMPLICIT: Final = "CompositeImplicitAutograd"


@kernel("aten::resolve_conj", key=_IMPLICIT)
def resolve_conj(self: Tensor) -> Any:
    return _CLONE(self) if self._is_conj() else self


@kernel("aten::resolve_neg", key=_IMPLICIT)
def resolve_neg(self: Tensor) -> Any:
    return _CLONE(self) if self._is_neg() else self
