"""``Tensor.dim_order``: which dimension of a tensor lies within which.

Mirrors the method in ``torch/_tensor.py``; older releases have it without ``ambiguity_check``.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Final

from mindtorch_v2.overrides import handle_torch_function, has_torch_function
from mindtorch_v2.tensor.dtype import memory_format
from mindtorch_v2.tensor.support import HABITS
from mindtorch_v2.tensor.tensor import Tensor

_TENSOR: Final[Any] = Tensor


def of_any(self: Any) -> Any:
    """From the outermost dimension; one order of several, where sizes of one leave a choice."""
    if has_torch_function((self,)):
        return handle_torch_function(_TENSOR.dim_order, (self,), self)
    return _order(self)


def of_unambiguous(self: Any, *, ambiguity_check: Any = False) -> Any:
    """RuntimeError, if that is asked for, where it is not the only one."""
    if has_torch_function((self,)):
        return handle_torch_function(_TENSOR.dim_order, (self,), self)
    formats = [] if isinstance(ambiguity_check, bool) else ambiguity_check
    if not isinstance(formats, list) or not all(isinstance(f, memory_format) for f in formats):
        raise TypeError("The ambiguity_check argument must be a bool or a list of memory formats.")
    if ambiguity_check is not False and _is_ambiguous(self):
        fitting = [f for f in formats if self.is_contiguous(memory_format=f)]
        if len(fitting) != 1:
            raise RuntimeError(
                "The tensor does not have unique dim order, or cannot map to exact one of the "
                "given memory formats."
            )
    order = _order(self)
    if ambiguity_check and HABITS["dimensions that are expanded have no order"]:
        _expect_strict(self, order)
    return order


def _order(tensor: Any) -> tuple[int, ...]:
    from mindtorch_v2.kernels.refs.common import physical_order  # kernels wait until one is needed

    return tuple(reversed(physical_order(tensor.shape, [tensor])))


def _expect_strict(tensor: Any, order: tuple[int, ...]) -> None:
    """RuntimeError if a dimension that was sorted could as well lie within the one within it."""
    from mindtorch_v2.kernels.refs.common import is_sorted_strictly

    if not is_sorted_strictly(list(reversed(order)), tensor.shape, [tensor]):
        raise RuntimeError("The tensor does not have unique dim order.")


def _is_ambiguous(tensor: Any) -> bool:
    return 1 in tensor.size() or any(a == b for a, b in pairwise(tensor.stride()))
