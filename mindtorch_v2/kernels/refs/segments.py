"""The reference functions of reductions of segments.

Mirrors functions of ``torch/_meta_registrations.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mindtorch_v2.kernels.elementwise.promotion import Number
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.refs.bodies import body
from mindtorch_v2.kernels.refs.common import HABITS, row_major
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.tensor import Tensor

_META: Final = "torch._meta_registrations."
_EMPTY_LIKE: Final = OperatorHandle("aten::empty_like")
_COUNTS_ALONG_AXIS: Final = HABITS["segments are counted along their axis"]
"""Or else they are the first dimensions of the result."""
_UNDEFINED: Final = "segment_reduce(): Either lengths or offsets must be defined"


@body(_META + "meta_segment_reduce")
def meta_segment_reduce(
    data: Tensor,
    reduce: str,
    *,
    lengths: Tensor | None = None,
    indices: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: Number | None = None,
) -> Tensor:
    if indices is not None:
        raise NotImplementedError("segment_reduce(): indices based reduction is not supported yet.")
    given = offsets if lengths is None else lengths
    if given is None:
        raise RuntimeError(f"{_UNDEFINED}.")
    sizes: Sequence[int]
    if _COUNTS_ALONG_AXIS:
        count = given._sizes[axis]
        sizes = list(data._sizes)
        sizes[axis] = count if lengths is not None else count - 1
    elif lengths is not None:
        sizes = (*given._sizes, *data._sizes[axis + 1 :])
    else:
        sizes = (*given._sizes[:-1], given._sizes[-1] - 1, *data._sizes[axis + 1 :])
    return new_tensor(sizes, data._dtype, Device._made("meta"))


@body(_META + "meta__segment_reduce_backward")
def meta__segment_reduce_backward(
    grad: Tensor,
    output: Tensor,
    data: Tensor,
    reduce: str,
    lengths: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: int = 0,
    initial: Number | None = None,
) -> Any:
    if lengths is None and offsets is None:
        raise AssertionError(_UNDEFINED)
    options = {"dtype": grad._dtype, "layout": grad._layout, "device": grad._device}
    return _EMPTY_LIKE(row_major(data), **options)
