"""Operators and functions with arguments that nobody means.

Outputs that are None, or of a backend that cannot be resized; lists of other lengths; tensors of
layouts without strides; leaves in operators that are recorded boxed.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from conformance.area import Text

_X: Final = (
    *("xp.ones(2, 3)", "xp.tensor([1, 2, 3])", "xp.tensor(True)", "xp.ones(3, 1)"),
    *("xp.ones(2, 3, device='meta')", "xp.ones(3, requires_grad=True)", "xp.tensor([1+2j, 3-1j])"),
)
#: For a tensor alone.
_OF_ONE: Final = (
    *("xp.ops.aten._is_all_true({x})", "xp.ops.aten._is_any_true.default({x})"),
    *("xp.ops.aten._local_scalar_dense({x})", "xp.ops.aten._test_check_tensor({x})"),
    *("xp.ops.aten.to.other({x}, None)", "xp.ops.aten.is_contiguous.memory_format({x}, 3)"),
    *("{x}.crow_indices()", "{x}.ccol_indices()", "{x}._nnz()", "{x}._values()", "{x}.values()"),
    *("{x}.to_sparse(3)", "{x}.to_sparse_csr(-1)", "{x}.to_sparse(layout=xp.sparse_bsr)"),
    *("{x}.size(10**30)", "{x}.stride(10**30)", "{x}.map_(xp.ones(2, 3, dtype=xp.int8), max)"),
    *("xp.nn.functional.unfold({x}, 1)", "{x}.__ilshift__(1)", "{x}.__irshift__(1)", "{x} << 1"),
    *("xp.tril({x}, -1)", "xp.nan_to_num({x})", "{x} - 1", "{x} - {x}.conj()"),
)
_OUTPUTS: Final = ("None", "xp.ones(2, 2).to_sparse()", "xp.ones(2, 3)")
#: For an output.
_INTO: Final = (
    *("xp.ops.aten.sum.out(xp.ones(3), out={o})", "xp.ops.aten.flip.out(xp.ones(3), [0], out={o})"),
    "xp.ops.aten.clone.out(xp.ones(2, 2, 3), out={o})",
    "xp.ops.aten._foreach_sub([xp.ones(3)], 0, out=[{o}])",
)
_NOWHERE: Final = (
    *("xp.ops.aten.add.out(xp.ones(3), 1, out=None)", "xp.ops.aten.arange.out(5, out=None)"),
    "xp.ops.aten.cat.out([xp.ones(2)], out=None)",
)
_LISTS: Final = ("[]", "[xp.ones(3)]", "[xp.ones(3), xp.zeros(2, 1)]", "[xp.zeros(0)]")
_OF_LISTS: Final = (
    *("xp._foreach_add({a}, {b})", "xp._foreach_sub_({a}, {b})", "xp._foreach_copy_({a}, {b})"),
    *("xp._foreach_clamp_min({a}, {b})", "xp._foreach_addcmul({a}, {b}, {a})"),
    *("xp._foreach_lerp({a}, {b}, {b})", "xp.ops.aten._foreach_pow.List_out({a}, {b}, out={a})"),
    "xp.ops.aten._foreach_copy({a}, {a})",
)
_OF_A_LIST: Final = (
    *("xp._foreach_norm({a}, True)", "xp._foreach_norm({a}, float('inf'))", "xp._foreach_max({a})"),
    *("xp._foreach_norm({a}, 1j)", "xp._foreach_norm({a}, 1)", "xp._foreach_norm({a}, -1)"),
)
_GRADIENTS: Final = ("3, 3", "2, 3, 3", "3", "1, 2, 3, 3", "2, 0, 3")
_POOLED: Final = ("2, 3, 3", "1, 2, 3, 3")


def texts() -> Iterator[Text]:
    for text, x in product(_OF_ONE, _X):
        yield "odd arguments", text.format(x=x)
    for text, o in product(_INTO, _OUTPUTS):
        yield "odd outputs", text.format(o=o)
    for text in _NOWHERE:
        yield "odd outputs", text
    for text, a, b in product(_OF_LISTS, _LISTS, _LISTS):
        yield "odd lists", text.format(a=a, b=b)
    for text, a in product(_OF_A_LIST, _LISTS):
        yield "odd lists", text.format(a=a)
    for a, b in product(_GRADIENTS, _POOLED):
        given = f"xp.ones({a}), xp.ones({b})"
        yield "odd gradients", f"xp.ops.aten._adaptive_avg_pool2d_backward({given})"
