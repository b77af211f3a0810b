"""Plain calls of view operators: parts of dense tensors of the CPU, where they lay before.

Where a view lies in its base's memory follows from the base's sizes and strides and from the
operator's arguments.  So a call that has been made before with the same needs no computation and no
checks: the short way knows the geometry, and makes the alias.  It calls no operator, so who stands
above may call it without masking keys for it.  Of tensors that are more than dense, or elsewhere,
it makes nothing, and answers UNUSUAL.  Tensors are of the class Tensor itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

from mindtorch_v2.binding.unboxed import UNUSUAL
from mindtorch_v2.dispatch import tls
from mindtorch_v2.dispatch.keyset import BELOW_INPLACE_OR_VIEW
from mindtorch_v2.kernels.plain import KEYS
from mindtorch_v2.tensor.size import Size
from mindtorch_v2.tensor.tensor import Tensor

Kernel = TypeVar("Kernel", bound=Callable[..., Tensor])

_MOST_GEOMETRIES: Final = 1000

Geometries = dict[Any, tuple[Size, tuple[int, ...], int]]
"""By a base's sizes and strides and the arguments: sizes, strides, and how far behind the base's
first element the view's is."""


def geometric(kernel: Kernel) -> Kernel:
    """Give a view operator's kernel a short way: it looks at nothing but geometry."""
    known: Geometries = {}

    kinds = [str(kind) for name, kind in kernel.__annotations__.items() if name != "return"]
    takes_list = kinds[1:2] == ["Sequence[int]"]

    def short(self: Tensor, *args: Any) -> Any:
        if self._keys != KEYS:
            return UNUSUAL
        key = (tuple(args[0]), *args[1:]) if takes_list else args
        try:
            found = known.get((self._sizes, self._strides, key))
        except TypeError:  # arguments that are no integers
            return UNUSUAL
        if found is not None:
            sizes, strides, distance = found
            return self._as_view(sizes, strides, self._storage_offset + distance)
        view: Tensor = tls.call_excluding(BELOW_INPLACE_OR_VIEW, kernel, self, *args)
        if len(known) < _MOST_GEOMETRIES:
            distance = view._storage_offset - self._storage_offset
            known[self._sizes, self._strides, key] = view._sizes, view._strides, distance
        return view

    kernel.short_way = short  # type: ignore[attr-defined]
    return kernel
