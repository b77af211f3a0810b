"""The reference functions of products of matrices.

Mirrors ``meta_mm`` and ``meta_bmm`` of ``torch/_meta_registrations.py``.
"""

from __future__ import annotations

from typing import Final

from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.refs.bodies import body
from mindtorch_v2.kernels.refs.common import HABITS
from mindtorch_v2.tensor.tensor import Tensor

_META: Final = "torch._meta_registrations."


@body(_META + "meta_mm")
def meta_mm(a: Tensor, b: Tensor) -> Tensor:
    for name, one in (("a", a), ("b", b)):
        if len(one._sizes) != 2:
            raise RuntimeError(f"{name} must be 2D")
    (rows, inner), (other, columns) = a._sizes, b._sizes
    if inner != other:
        raise RuntimeError(
            f"a and b must have same reduction dim, but got [{rows}, {inner}] X "
            f"[{other}, {columns}]."
        )
    return new_tensor((rows, columns), a._dtype, a._device)


@body(_META + "meta_bmm")
def meta_bmm(self: Tensor, mat2: Tensor) -> Tensor:
    for name, one in (("batch1", self), ("batch2", mat2)):
        if len(one._sizes) != 3:
            raise RuntimeError(f"{name} must be a 3D tensor")
    if HABITS["bmm looks at dtypes"] and self._dtype is not mat2._dtype:
        raise RuntimeError(f"expected scalar type {self._dtype} but found {mat2._dtype}")
    count, rows, inner = self._sizes
    if tuple(mat2._sizes[:2]) != (count, inner):
        raise RuntimeError(
            "Expected size for first two dimensions of batch2 tensor to be: "
            f"[{count}, {inner}] but got: [{mat2._sizes[0]}, {mat2._sizes[1]}]."
        )
    return new_tensor((count, rows, mat2._sizes[2]), mat2._dtype, mat2._device)
