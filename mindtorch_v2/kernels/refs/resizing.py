"""``resize_as`` on meta.

Mirrors ``torch/_decomp/decompositions.py``.
"""

from __future__ import annotations

from typing import Any, Final, NoReturn

from mindtorch_v2.binding.values import memory_format_of_value
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.tensor.dtype import MEMORY_FORMATS
from mindtorch_v2.tensor.geometry import suggest_memory_format
from mindtorch_v2.tensor.tensor import Tensor

_CONTIGUOUS: Final = MEMORY_FORMATS["contiguous_format"]
_PRESERVE: Final = MEMORY_FORMATS["preserve_format"]
_RESIZE: Final = OperatorHandle("aten::resize")


@kernel("aten::resize_as", key="Meta")
def resize_as(self: Tensor, the_template: Tensor, memory_format: int | None) -> Any:
    wanted = _CONTIGUOUS if memory_format is None else memory_format_of_value(memory_format)
    if wanted is _PRESERVE:
        wanted = suggest_memory_format(the_template._sizes, the_template._strides)
    return _RESIZE(self, the_template._sizes, memory_format=wanted)


@kernel("aten::resize_as.out", key="Meta")
def resize_as_out(
    self: Tensor, the_template: Tensor, memory_format: int | None, out: Tensor
) -> NoReturn:
    """The function in Python has no such parameter."""
    raise TypeError("resize_as() got an unexpected keyword argument 'out'")
