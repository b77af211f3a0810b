"""The reference functions of what is sought among sorted values and counted in bins.

Mirrors functions of ``torch/_meta_registrations.py``.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2.binding.convert import enum_value
from mindtorch_v2.kernels.cpu.searching import NOT_TESTED
from mindtorch_v2.kernels.elementwise.promotion import BOOL, Operand
from mindtorch_v2.kernels.elementwise.tensor_iterator import dtype_of, sizes_of
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.refs.bodies import body
from mindtorch_v2.kernels.refs.common import HABITS, worded
from mindtorch_v2.tensor.dtype import DTYPES, int64
from mindtorch_v2.tensor.tensor import Tensor

_META: Final = "torch._meta_registrations."
_EMPTY_LIKE: Final = OperatorHandle("aten::empty_like")


def _places(like: Operand, boundaries: Tensor, out_int32: bool) -> Tensor:
    dtype = DTYPES["int32"] if out_int32 else int64
    device = (like if isinstance(like, Tensor) else boundaries)._device
    return new_tensor(sizes_of(like), dtype, device)


@body(_META + "meta_searchsorted")
def meta_searchsorted(
    sorted_sequence: Tensor,
    self: Operand,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:
    if HABITS["searchsorted on meta looks at shapes"]:
        _check_search(sorted_sequence, self, right, side, sorter)
    return _places(self, sorted_sequence, out_int32)


def _check_search(
    boundaries: Tensor, sought: Any, right: bool, side: str | None, sorter: Tensor | None
) -> None:
    sizes = boundaries._sizes
    if len(sizes) > 1 and sizes[:-1] != sought.shape[:-1]:  # a number has none, and Python says so
        words = {"[1, 2]": f"{list(sizes)}", "[3, 4]": f"{list(sought.shape)}"}
        raise worded("searchsorted in other rows", **words)
    if sorter is not None and sorter._sizes != sizes:
        words = {"[2]": f"{list(sizes)}", "[3]": f"{list(sorter._sizes)}"}
        raise worded("searchsorted by a larger order", **words)
    if side == "left" and right:
        raise worded("searchsorted on both sides")


@body(_META + "meta_bucketize", _META + "meta_bucketize_scalar")
def meta_bucketize(
    self: Operand, boundaries: Tensor, *, out_int32: bool = False, right: bool = False
) -> Tensor:
    return _places(self, boundaries, out_int32)


@body(_META + "meta_isin")
def meta_isin(
    elements: Operand, test_elements: Operand, *, assume_unique: bool = False, invert: bool = False
) -> Any:
    tensor = elements if isinstance(elements, Tensor) else test_elements
    assert isinstance(tensor, Tensor)
    for each in (elements, test_elements):
        if dtype_of(each) in NOT_TESTED:
            raise RuntimeError(f"Unsupported input type encountered for isin(): {dtype_of(each)}")
    if isinstance(elements, Tensor):
        return _EMPTY_LIKE(elements, dtype=enum_value(BOOL))
    return new_tensor((), BOOL, tensor._device)


@body(_META + "meta_histc")
def meta_histc(input: Tensor, bins: int = 100, min: Any = 0, max: Any = 0) -> Tensor:
    """Complex numbers have no order, and Python says so."""
    if bins <= 0:
        raise RuntimeError(f"histc(): bins must be > 0, but got {bins}")
    if not max >= min:  # nor has a NaN
        raise worded("histc from a number to a lesser one")
    return new_tensor((bins,), input._dtype, input._device)
