"""What a node keeps of a tensor of which it needs no values.

Mirrors ``TypeAndSize`` of ``torch/csrc/autograd/generated/Functions.h``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from mindtorch_v2.autograd import at


class TypeAndSize(NamedTuple):
    """Enough of a tensor to make zeros like it."""

    sizes: tuple[int, ...]
    options: Any

    @classmethod
    def of(cls, tensor: Any) -> TypeAndSize:
        return cls(tuple(tensor._sizes), at.TensorOptions.of(tensor))

    def zeros(self) -> Any:
        return at.call("zeros", self.sizes, self.options)
