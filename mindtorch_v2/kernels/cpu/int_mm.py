"""Products of matrices of bytes, added up in integers.

Mirrors ``_int_mm_out_cpu`` of ``aten/src/ATen/native/LinearAlgebra.cpp`` and, for meta, what
``torch/_meta_registrations.py`` has of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from mindtorch_v2.kernels.cpu.products import check_matrices
from mindtorch_v2.kernels.elementwise.pointwise import as_array
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.structured import prologue
from mindtorch_v2.kernels.switches import HABITS
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.tensor.copying import store
from mindtorch_v2.tensor.dtype import DTYPES
from mindtorch_v2.tensor.geometry import is_contiguous
from mindtorch_v2.tensor.support import TYPE_NAMES
from mindtorch_v2.tensor.tensor import Tensor

_TAKES_BYTES: Final = HABITS["_int_mm takes bytes on its left"]
_IS_WORDED_AS_MM: Final = HABITS["_int_mm is worded as mm is"]
_BYTE: Final = DTYPES["uint8"]
_CHAR: Final = DTYPES["int8"]
_INT: Final = DTYPES["int32"]


@prologue("aten::_int_mm")
def _check(outputs: Sequence[Tensor], self: Tensor, mat2: Tensor) -> None:
    (result,) = outputs
    expected = "int_mm_out_cpu: Expected"
    if _IS_WORDED_AS_MM:
        check_matrices("mm", self, mat2, **{"mm: ": "_int_mm: "})
    for name, given in (("self", self), ("mat2", mat2)):
        if len(given._sizes) != 2:
            raise RuntimeError(
                f"{expected} {name} to be of dimension 2 but got {len(given._sizes)}"
            )
    if self._sizes[1] != mat2._sizes[0]:
        raise RuntimeError(
            "int_mm_out_cpu: self.size(1) needs to match mat2.size(0) but got "
            f"{self._sizes[1]} and {mat2._sizes[0]}"
        )
    if _TAKES_BYTES and self._dtype is not _BYTE and self._dtype is not _CHAR:
        raise RuntimeError(
            f"{expected} self dtype to be int8 or uint8 but got {TYPE_NAMES[self._dtype]}"
        )
    for name, given in (("mat2", mat2),) if _TAKES_BYTES else (("self", self), ("mat2", mat2)):
        if given._dtype is not _CHAR:
            raise RuntimeError(
                f"{expected} {name} dtype to be of type int8 but got {TYPE_NAMES[given._dtype]}"
            )
    if result._dtype is not _INT:
        raise RuntimeError(
            f"{expected} result dtype to be of type kInt but got {TYPE_NAMES[result._dtype]}"
        )
    for dim, size in enumerate((self._sizes[0], mat2._sizes[1])):
        if size_at(result, dim) != size:
            raise RuntimeError(
                f"{expected} result.size({dim}) to be {size} but got {size_at(result, dim)}"
            )
    if len(result._sizes) != 2:
        raise RuntimeError(f"{expected} result to be of dimension 2 but got {len(result._sizes)}")
    if not is_contiguous(result._sizes, result._strides):
        raise RuntimeError(f"{expected} result to be contiguous.")


@kernel("aten::_int_mm.out")
def int_mm_out(self: Tensor, mat2: Tensor, out: Tensor) -> Tensor:
    _check((out,), self, mat2)
    wide = np.dtype(np.int32)
    store(out, as_array(self, self._dtype).astype(wide) @ as_array(mat2, _CHAR).astype(wide))
    return out


@kernel("aten::_int_mm")
def int_mm(self: Tensor, mat2: Tensor) -> Tensor:
    made = new_tensor((size_at(self, 0), size_at(mat2, 1)), _INT, self._device)
    return int_mm_out(self, mat2, made)
