"""In-place operators that look at nothing on meta.

Torch's code generator writes a kernel at Meta for an in-place operator that has none: it answers
its first argument.  Mirrors ``inplace_meta`` in ``torchgen/dest/register_dispatch_key.py``.

Of these operators some have a row at Meta all the same, which checks what the kernel on the CPU
does: a pipeline asks it (:mod:`mindtorch_v2.pipeline.meta`).
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.native import NONE, Native
from mindtorch_v2.kernels import rows
from mindtorch_v2.tensor.tensor import Tensor

_META: Final = int(DispatchKey.Meta)
_NAMES: Final = (
    *("aten::_add_relu_.Scalar", "aten::_add_relu_.Tensor", "aten::_amp_update_scale_"),
    *("aten::_coalesced_", "aten::copy_sparse_to_sparse_", "aten::embedding_renorm_"),
    *("aten::put_", "aten::resize_as_sparse_", "aten::sparse_resize_"),
    "aten::sparse_resize_and_clear_",
)


def _self(self: Tensor, *rest: Any) -> Tensor:
    if not self.is_meta:
        raise NotImplementedError("Cannot inplace into non-meta tensor with meta tensor argument")
    return self


def _find(name: str, key: int) -> Native:
    return Native(_self) if key == _META and name in _NAMES else NONE


rows.FIRST.append(_find)
