"""What PyTorch registers on meta for distances.

Mirrors ``torch/_meta_registrations.py``; a function is named as it is there.
"""

from __future__ import annotations

import math
from typing import Any, Final

from mindtorch_v2.autograd.at import call
from mindtorch_v2.kernels.composite.distances import squared_distances
from mindtorch_v2.kernels.cpu.distances import check_columns
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.refs.bodies import body
from mindtorch_v2.kernels.switches import HABITS
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.tensor.geometry import is_contiguous
from mindtorch_v2.tensor.size import Size
from mindtorch_v2.tensor.tensor import Tensor

_META: Final = "torch._meta_registrations."


@body("torch._decomp.decompositions._euclidean_dist")
def _euclidean_dist(x1: Tensor, x2: Tensor) -> Any:
    return call("sqrt", call("clamp_min", squared_distances(x1, x2), 0))


@body(_META + "meta_cdist_forward")
def meta_cdist_forward(x1: Tensor, x2: Tensor, p: float, compute_mode: int | None) -> Tensor:
    check_columns(x1, x2)
    for name, each in (("X1", x1), ("X2", x2)):
        if not each._dtype.is_floating_point:
            is_told = HABITS["cdist on meta tells a dtype"]
            dtype = f"{each._dtype}" if is_told else f"{{{name.lower()}.dtype}}"
            raise RuntimeError(f"cdist only supports floating-point dtypes, {name} got: {dtype}")
    if not p >= 0:
        raise RuntimeError("cdist only supports non-negative p values")
    modes = (None, 0, 1, 2) if HABITS["cdist on meta takes mode 0"] else (None, 1, 2)
    if compute_mode not in modes:
        raise RuntimeError(f"possible modes: {', '.join(map(str, modes))}, but was: {compute_mode}")
    batch = _broadcast_shapes(x1, x2)
    sizes = (*batch, x1._sizes[-2], x2._sizes[-2])
    return new_tensor(sizes, x1._dtype, x1._device)


@body(_META + "meta_cdist_backward")
def meta_cdist_backward(grad: Tensor, x1: Tensor, x2: Tensor, p: float, cdist: Tensor) -> Any:
    columns, rows, others = x1._sizes[-1], x1._sizes[-2], x2._sizes[-2]
    batch = _broadcast_shapes(x1, x2)
    if not (rows and others and columns and math.prod(batch)):
        return call("zeros_like", x1)
    return new_tensor((*batch, rows, columns), x1._dtype, x1._device)


def _broadcast_shapes(x1: Tensor, x2: Tensor) -> Size:
    """``torch.broadcast_shapes`` of what is before the last two dimensions."""
    from mindtorch_v2.functional import broadcast_shapes  # which needs the bound operators

    return broadcast_shapes(x1._sizes[:-2], x2._sizes[:-2])


@body(_META + "meta__pdist_forward")
def meta__pdist_forward(self: Tensor, p: float = 2) -> Tensor:
    if not is_contiguous(self._sizes, self._strides):
        raise RuntimeError("_pdist_forward requires contiguous input")
    count = size_at(self, 0)
    return new_tensor((count * (count - 1) // 2,), self._dtype, self._device)


@body(_META + "meta__pdist_backward")
def meta__pdist_backward(grad: Tensor, self: Tensor, p: float, pdist: Tensor) -> Tensor:
    for name, each in (("self", self), ("pdist", pdist)):
        if not is_contiguous(each._sizes, each._strides):
            raise RuntimeError(f"_pdist_backward requires {name} to be contiguous")
    return new_tensor(self._sizes, self._dtype, self._device)
