"""``Parameter``: a tensor that a module learns.

Mirrors ``torch/nn/parameter.py``.
"""

from __future__ import annotations

from typing import Any

from mindtorch_v2.tensor.factories import empty
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.torch_function import disabled

__all__ = ["Parameter"]


class Parameter(Tensor):
    """A tensor that becomes one of a module's parameters when the module gets it as attribute.

    It requires a gradient unless ``requires_grad`` says otherwise, in ``no_grad`` mode as well.
    """

    __torch_function__ = disabled

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Parameter:
        given = empty(0) if data is None else data
        made: Parameter = Tensor._make_subclass(cls, given, requires_grad)  # type: ignore[attr-defined]
        return made

    def __repr__(self) -> str:
        return f"Parameter containing:\n{super().__repr__()}"
