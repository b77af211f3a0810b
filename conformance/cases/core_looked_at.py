"""What tensors are asked, and asserted of them, and what little is made of others.

How they lie in memory, covariances and weights of observations, products of bytes, and batches
whose strides do not suggest the format that they are in.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from conformance.area import Text
from conformance.cases.core_odd_calls import named

_BYTES: Final = (
    *("xp.ones(2, 3).char(), xp.ones(3, 2).char()", "xp.ones(2, 3).char(), xp.ones(2, 3).char()"),
    *("xp.ones(0, 3).char(), xp.ones(3, 2).char()", "xp.ones(2, 0).char(), xp.ones(0, 2).char()"),
    *("xp.ones(2, 3).char(), xp.ones(3, 2)", "xp.ones(2, 2).char(), xp.ones(3, 2).char()"),
    *("xp.ones(2, 3).byte(), xp.ones(3, 2).char()", "xp.ones(2, 3).byte(), xp.ones(3, 2).byte()"),
    *("xp.ones(2, 3).char(), xp.ones(3, 2).byte()", "xp.ones(2, 3).int(), xp.ones(3, 2).char()"),
    *("xp.ones(2).char(), xp.ones(2, 3).char()", "xp.ones(2, 3).char(), xp.ones(3).char()"),
)
_OF_BYTES: Final = (
    *("xp.zeros(2, 2, dtype=xp.int32)", "xp.zeros(2, 2)", "xp.zeros(2, 3, dtype=xp.int32)"),
    *("xp.zeros(2, 2, dtype=xp.int32).t()", "xp.zeros(4, dtype=xp.int32)"),
)
"""Results for the first of them."""
_LOOKED_AT: Final = (
    *("xp._debug_has_internal_overlap({})", "({0}.sparse_dim(), {0}.dense_dim())"),
    *("{}.dim_order()", "{}.dim_order(ambiguity_check=True)", "{}.dim_order(ambiguity_check='x')"),
    "{}.dim_order(ambiguity_check=[xp.contiguous_format, xp.channels_last])",
    *(
        "{}.chalf()",
        "xp.kron({0}, {0})",
        "xp.kron({0}, {0}, out=xp.ones(0))",
        "xp.dist({}, xp.ones(1))",
    ),
)
_LYING: Final = (
    *("xp.ones(2, 3)", "xp.ones(2, 3).t()", "xp.ones(1, 3, 1, 1)"),
    *("xp.ones(6).as_strided((3, 3), (1, 1))", "xp.ones(6)[::2]", "xp.ones(())", "xp.ones(0, 3)"),
    "xp.ones(2, 3, 4, 5).to(memory_format=xp.channels_last)",
    *("xp.ones(3, 1).expand(3, 4)", "xp.ones(4).expand(2, 3, 4)", "xp.ones(3, 1).expand(3, 4).t()"),
    "xp.ones(12).as_strided((2, 2, 2), (2, 4, 2))",
)
_CHECKED: Final = (
    *("xp.tensor(True)", "xp.ones(2), lambda: 'x'", "5", "False, 'told'", "False, lambda: 5"),
    *("False, 5", "True, 5"),
)
_SIZES_CHECKED: Final = ("1", "-1", "-1, lambda: 'told'", "xp.tensor(1)", "3, max=2", "1.5, max=2")
_LEFT_OF_NOTHING: Final = (
    *("xp.ones(3, 2), [-2, 0, 1, 1], 5", "xp.ones(0, 2), [1, 1, 0, 0]", "xp.ones(3, 2), [-1, -1]"),
    *("xp.ones(3, 2, device='meta'), [-2, 0, 1, 1]", "xp.ones(3, 2), [-3, 0, 1, 1]"),
    *("xp.ones(0, 2), [1, 2]", "xp.ones(0, 2), [-3, 2]"),
)
_ORDERED: Final = (
    *("xp.ones(2, 3, device='meta').t()", "xp.ones(2, 3, device='meta', dtype=xp.int64).t()"),
    "xp.ones(1, 2, 2, 2, device='meta').to(memory_format=xp.channels_last)",
)
_ASSERTED: Final = ("xp.ones(1)", "xp.zeros(1)", "xp.ones(0)", "xp.ones(2)")
_WEIGHTED: Final = (
    *("fweights=xp.ones(3)", "fweights=xp.tensor([1, 2])", "fweights=xp.tensor([1, -2, 3])"),
    *("aweights=xp.tensor([1, 2, 3])", "aweights=-xp.ones(3)", "aweights=xp.ones(1, 3)"),
    *("aweights=xp.zeros(3)", "correction=5", "fweights=xp.ones(3).bool()"),
)
_NARROW: Final = (
    *("xp.arange(6.0).reshape(1, 3, 2, 1).permute(0, 2, 1, 3)", "xp.ones(2, 3, 1, 1).mT"),
    *("xp.ones(2, 3, 1, 1).permute(3, 1, 2, 0)", "xp.ones(2, 3, 1, 1).permute(0, 3, 1, 2)"),
)
"""Contiguous in a format that their strides do not suggest."""


def texts() -> Iterator[Text]:
    """What a tensor is asked or asserted of it, and what little is made of others."""
    for given in _BYTES:
        yield "_int_mm", f"xp._int_mm({given})"
        meta = given.replace(").", ", device='meta').")
        yield "_int_mm", f"xp._int_mm({meta})"
    for out in _OF_BYTES:
        yield "_int_mm", f"xp._int_mm({_BYTES[0]}, out={out})"
    for call, made in product(_LOOKED_AT, _LYING):
        yield named(call), call.format(made)
    for made, message in product(_ASSERTED, ("", ", 'said'")):
        yield "_assert_async", f"xp._assert_async({made}{message})"
    for given in _WEIGHTED:
        yield "cov", f"xp.cov(xp.tensor([[1.0, 2.0, 3.0], [3.0, 1.0, 4.0]]), {given})"
    for given in _CHECKED:
        yield "_check", f"xp._check({given})"
    for given in _SIZES_CHECKED:
        yield "_check_is_size", f"xp._check_is_size({given})"
    for given in _LEFT_OF_NOTHING:
        yield "constant_pad_nd", f"xp.ops.aten.constant_pad_nd({given})"
    for made in _ORDERED:
        yield "nan_to_num", f"xp.nan_to_num({made})"
    for made, training in product(_NARROW, (True, False)):
        yield (
            "native_batch_norm",
            f"x = {made}\nn = xp.ones(x.shape[1])\n"
            f"xp.native_batch_norm(x, None, None, n, n, {training}, 0.1, 1e-5)[0].stride()",
        )
