"""Small operators that stand alone: assertions, duals, casts, rows that are put together, products
with an activation behind them, and what operators of sparse matrices say of dense ones.

What a library for CUDA says is left out: builds differ in whether they have it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from conformance.area import Text

_ASSERTED: Final = (
    *("[2, 3]", "[2, 4]", "[2, 4], [3, 2], xp.int32", "None, [3, 2]", "None, [3]", "[]"),
    *("None, None, xp.int64", "None, None, xp.float32", "None, None, xp.bfloat16", "[2], [1]"),
)
_SEEN: Final = (
    *("xp.ones(2, 3)", "xp.ones(2, 3).long()", "xp.ones(2, 3, device='meta')", "xp.ones(())"),
    *("xp.ones(3, 2).t().bfloat16()", "xp.ones(2, 3).to_sparse()", "xp.ones(2, 3) * 1j"),
)
_TOKENS: Final = (
    *("_make_dep_token().shape", "_make_dep_token(dtype=xp.int32).dtype"),
    *("_make_dep_token(device='meta')", "_make_dep_token(memory_format=xp.channels_last)"),
    "_make_dep_token(memory_format=xp.preserve_format)",
    "_make_dep_token(device='meta', dtype=xp.int32)",
    *(
        f"_functional_sym_constrain_range{name}({numbers}, xp.ones(2, device='meta'))"
        for name in ("", "_for_size")
        for numbers in ("3, 1, 2", "2, 1, 2", "3, 4, 7", "3, None, None", "-1, None, None")
    ),
    *("_nnpack_available()", "get_gradients(0)", "_propagate_xla_data(xp.ones(2), xp.ones(2))"),
)
_CASTS: Final = (
    "True, True, xp.float16, xp.bfloat16",
    "True, False, xp.float16, xp.bfloat16",
    "False, True, xp.float16, xp.int64",
)
_CAST: Final = (
    *("xp.ones(2)", "xp.ones(2).half()", "xp.ones(2).bfloat16()", "xp.ones(2).double()"),
    *("xp.ones(2).long()", "xp.ones(2, device='meta')", "xp.ones(2).to_sparse()"),
    *("xp.ones(2, requires_grad=True)", "xp.ones(2, dtype=xp.complex64)"),
)
_FEATURES: Final = (
    *("xp.ones(2), xp.ones(2, 3).t()", "xp.ones(2, 5, 4), xp.ones(2, 3).t(), 2"),
    *("xp.ones(2, 5, 4), xp.ones(2, 3).long()[:, 1], 1", "xp.ones(2, 5), xp.ones(4, 3)[1:], 1"),
    *("xp.ones(2, 5), xp.ones(4, 3, device='meta')[1:], 1", "xp.ones(2), xp.ones(2).to_sparse()"),
    "xp.ones(2).to_sparse(), xp.ones(2).expand(3, 2), 1",
    "xp.ones(2, requires_grad=True), xp.ones(2, requires_grad=True)",
)
_DUALS: Final = (
    *("_fw_primal(xp.ones(2), 0)", "_fw_primal(xp.ones(2, device='meta'), 3)"),
    *("_fw_primal(xp.ones(2, requires_grad=True), -1)", "_fw_primal_copy(xp.ones(2), 0)"),
    *("_make_dual(xp.ones(2), xp.ones(2), 0)", "_make_dual(xp.ones(2), xp.ones(3), 1)"),
    *("_make_dual(xp.ones(2), xp.ones(3), 0)", "_make_dual(xp.ones(2).int(), xp.ones(2), 0)"),
    *("_make_dual(xp.ones(2), xp.ones(3).int(), 0)", "_make_dual(xp.ones(2), xp.ones(2), -1)"),
    *("_make_dual_copy(xp.ones(2), xp.ones(3), 1)", "_unpack_dual(xp.ones(2), 0)"),
    *("_unpack_dual(xp.ones(2, requires_grad=True), 7)", "_lazy_clone(xp.ones(2, 3).t())"),
    "_make_dual_copy.out(xp.ones(2), xp.ones(3), 1, out=xp.ones(2))",
    *("_lazy_clone(xp.ones(2, device='meta').expand(3, 2)).stride()",),
    *("_lazy_clone(xp.ones(2, dtype=xp.complex64).conj())", "_lazy_clone(xp.ones(2).to_sparse())"),
    *("_lazy_clone.out(xp.ones(2), out=xp.ones(3))", "_lazy_clone(xp.ones(2, requires_grad=True))"),
)
_FORMATS: Final = ("", "xp.channels_last", "xp.preserve_format", "xp.contiguous_format")
_BATCHES: Final = (
    *("xp.ones(2, 3), 1, 4, 0", "xp.ones(2, 3), 1, 4, 1", "xp.ones(2, 3), 1, 4, 2"),
    *("xp.ones(2, 1), 1, 4, 2", "xp.ones(1, 2), 1, 4, 1", "xp.ones(2, 3), 1, -1, 0"),
    *(
        "xp.ones(2, 3), 1, 0, 0",
        "xp.ones(2, 3), 1, -3, 0",
        "xp.ones(2, requires_grad=True), 1, 2, 0",
    ),
    *("xp.ones(2, 3, device='meta'), 1, 4, 0", "xp.ones(2).to_sparse(), 1, 4, 0"),
    "xp.ones(()), 1, 4, 0",
)
_ROWS: Final = "xp.arange(6.).view(2, 3)"
_MASKS: Final = (
    "[True, False]",
    "[False, True]",
    "[False, False]",
    "[True, True]",
    "[1, 0]",
    "[True]",
)
_PRUNED: Final = (
    *(_ROWS, f"{_ROWS}.int()", f"{_ROWS}.half()", f"{_ROWS}.bfloat16()", "xp.ones(2)"),
    *("xp.arange(6.).view(3, 2).t()", "xp.ones(2, 2, 2)", f"{_ROWS}.bool()", f"({_ROWS} * 1j)"),
)
_COMBINED: Final = (
    *(f"{_ROWS}, xp.arange(4.).view(2, 2)", f"{_ROWS}, xp.arange(6.).view(3, 2)"),
    *(f"{_ROWS}, xp.arange(3.)", f"{_ROWS}.int(), xp.arange(4).view(2, 2).int()"),
    *(
        "xp.arange(12.).view(2, 3, 2), xp.arange(4.).view(2, 2)",
        f"{_ROWS}, xp.arange(2.).view(2, 1)",
    ),
    *("xp.arange(2.), xp.arange(4.).view(2, 2)", "xp.ones(()), xp.ones(2, 2)"),
    *(f"{_ROWS}.half() / 3, xp.arange(4.).view(2, 2).half() / 7", "xp.ones(0, 3), xp.ones(0, 2)"),
    *(f"{_ROWS}.bfloat16() / 3, xp.arange(4.).view(2, 2).bfloat16() / 7",),
    *(f"{_ROWS}.bool(), xp.arange(4).view(2, 2).bool()", f"{_ROWS} * 1j, xp.arange(4.).view(2, 2)"),
    *("xp.arange(6.).view(3, 2).t(), xp.arange(4.).view(2, 2).t()", "xp.ones(2, 0), xp.ones(3, 2)"),
    *("xp.arange(6., requires_grad=True).view(2, 3), xp.ones(2, 2)",),
)
_DEPRECATED: Final = (
    "xp.ones(1, 1, 3), xp.ones(1, 1, 2), None, [1], [0], [1], False, [0], 1, False, False, True",
    "xp.ones(1, 1, 3), xp.ones(2), None, [1], [0], [1], False, [0], 1, False, False, True",
    "xp.ones(1, 1, 3, requires_grad=True), xp.ones(1, 1, 2), xp.ones(1), [2], [1], [1], False, "
    "[0], 1, True, True, True",
    "xp.ones(1, 2, 3, 3), xp.ones(2, 1, 2, 2), None, [1, 1], [0, 0], [1, 1], True, [0, 0], 2, "
    "False, False, True",
)
_MATRICES: Final = ("xp.ones(2, 3)", "xp.ones(3, 2)", "xp.ones(3)", "xp.ones(3, 2).long()")
_OF_SPARSE: Final = (
    *("smm({x}, {y})", "sspaddmm(xp.ones(2, 2), {x}, {y})", "_sparse_mm({x}, {y})"),
    *("_sparse_mm.reduce({x}, {y}, 'sum')", "_sparse_addmm(xp.ones(2), {x}, {y}, beta=2, alpha=3)"),
    "sspaddmm.out({x}, {x}, {y}, out={y})",
)
_GRADIENTS: Final = (
    *("(x * 2)", "(x * 2).sum(), []", "x * 2, [], xp.ones(2)", "x * 2, [], xp.ones(3)"),
    *("x * y, [y], xp.ones(2)", "x * 2, [y], xp.ones(2)", "x * 2, [xp.ones(2)], xp.ones(2)"),
    *("x * x, [], xp.ones(2), None, True", "xp.ones(2), []", "(x * 2), []", "(x * 1j).sum(), []"),
)
_OF_GRADIENTS: Final = (
    "x = xp.ones(2, requires_grad=True)\ny = xp.ops.aten._fw_primal(x, 0)\n"
    "(y * 3).sum().backward()\nx.grad",
    "x = xp.ones(2)\ny = xp.ops.aten._fw_primal(x, 0)\ny.add_(1)\n(x, x._version, y._is_view())",
    "x = xp.ones(2, requires_grad=True)\ny = xp._lazy_clone(x)\ny.sum().backward()\nx.grad",
    "x = xp.arange(6.)\ny = xp._lazy_clone(x[2:4])\nx.add_(1)\ny.mul_(3)\n"
    "(x, y, y.storage_offset(), y.untyped_storage().nbytes(), y._is_view(), y._version)",
    "x = xp.ones(2, 3, requires_grad=True)\nxp.sparse.mm(x, xp.ones(3, 2)).sum().backward()\n"
    "x.grad",
    "x = xp.ones(2, 3, requires_grad=True)\n"
    "xp.sparse.addmm(xp.ones(2, 2), x, xp.ones(3, 2), alpha=3).sum().backward()\nx.grad",
    "x = xp.ones(2, requires_grad=True)\nz = x * x\n"
    "xp.ops.aten._backward(z, [], xp.ones(2), True)\n"
    "xp.ops.aten._backward(z, [], xp.ones(2))\nx.grad",
    "x = xp.zeros(2, 3)\n"
    "xp.ops.aten._compute_linear_combination.out(xp.ones(2, 3), xp.ones(2, 2), out=x)\n"
    "xp.ops.aten._compute_linear_combination.out(xp.ones(2, 3), xp.ones(2, 2), out=x)\nx",
    "xp.ops.aten._compute_linear_combination.out(xp.ones(2, 3), xp.ones(2, 2), out=xp.ones(2))",
)
_ACTIVATED: Final = (
    "_addmm_activation(xp.arange(2.)-3, xp.ones(2, 3), xp.ones(3, 2))",
    "_addmm_activation(xp.arange(2.)-5, xp.ones(2, 3), xp.ones(3, 2), beta=2, alpha=1)",
    "_addmm_activation(xp.arange(2.)-5, xp.ones(2, 3), xp.ones(3, 2), use_gelu=True)",
    "_addmm_activation(xp.arange(2)-5, xp.ones(2, 3).long(), xp.ones(3, 2).long())",
    "_addmm_activation(xp.arange(2)-5, xp.ones(2, 3).long(), xp.ones(3, 2).long(), use_gelu=True)",
    "_addmm_activation(xp.arange(2.)-5, xp.ones(2, 3), xp.ones(2, 2), use_gelu=True)",
    "_addmm_activation(xp.arange(2.)-5, xp.ones(3), xp.ones(2, 2), use_gelu=True)",
    "_addmm_activation(xp.arange(2.)-5, xp.ones(2, 3), xp.ones(3, 2).double())",
    "_addmm_activation(xp.arange(3.)-5, xp.ones(2, 3), xp.ones(3, 2))",
    "_addmm_activation(xp.arange(2.).bfloat16()-3, xp.ones(2, 3).bfloat16(), xp.ones(3, "
    "2).bfloat16(), use_gelu=True)",
    "_addmm_activation(xp.arange(2.)*1j, xp.ones(2, 3)*1j, xp.ones(3, 2)*1j)",
    "_addmm_activation(xp.arange(2., requires_grad=True)-5, xp.ones(2, 3), xp.ones(3, 2))",
    "_addmm_activation.out(xp.arange(2.)-5, xp.ones(2, 3), xp.ones(3, 2), out=xp.ones(2, 2))",
    "_addmm_activation.out(xp.arange(2.)-5, xp.ones(2, 3), xp.ones(3, 2), out=xp.ones(2, "
    "2).double())",
    "_addmm_activation.out(xp.arange(2.)-5, xp.ones(2, 3), xp.ones(3, 2), out=xp.ones(0))",
    "_addmm_activation.out(xp.arange(2.)-5, xp.ones(2, 0), xp.ones(0, 2), out=xp.ones(2, 2).t())",
    "_addmm_activation(xp.ones(2, device='meta'), xp.ones(2, 3, device='meta'), xp.ones(3, 2, "
    "device='meta'))",
    "_addmm_activation(xp.ones(2, device='meta'), xp.ones(2, 3, device='meta'), xp.ones(2, 2, "
    "device='meta'))",
    "_addmm_activation(xp.ones(2, device='meta').int(), xp.ones(2, 3, device='meta').int(), "
    "xp.ones(3, 2, device='meta').int(), use_gelu=True)",
    "_addmm_activation(xp.ones(2, device='meta'), xp.ones(2, 3, device='meta'), xp.ones(3, 2, "
    "device='meta').double())",
    "_masked_scale(xp.ones(2, 3, device='meta'), xp.ones(2, device='meta'), 2.)",
    "_masked_scale(xp.ones(2, 3, 4, 5, device='meta').to(memory_format=xp.channels_last), "
    "xp.ones(2, device='meta'), 2.).stride()",
    "_masked_scale(xp.ones(2, 3, device='meta').t(), xp.ones(2, device='meta'), 2.).stride()",
    "masked_scatter_backward(xp.ones(2, 3, device='meta'), xp.ones(2, 3, "
    "device='meta').bool(), [4, 5])",
    "masked_scatter_backward(xp.ones(2, 3, device='meta').int(), xp.ones(7, device='meta'), [])",
    "masked_scatter_backward(xp.ones(2, 3, device='meta').int(), xp.ones(7, device='meta'), [-1])",
)
_LEVELS: Final = (
    *("unpack_dual(xp.ones(2))", "unpack_dual(xp.ones(2), level=0)", "exit_dual_level()"),
    *("unpack_dual(xp.ones(2, requires_grad=True), level=0)", "exit_dual_level(level=3)"),
)


def texts() -> Iterator[Text]:
    """Cases of this module."""
    for call in _calls():
        yield "small operator", f"xp.ops.aten.{call}"
    for given in _GRADIENTS:
        yield (
            "small operator",
            "x = xp.ones(2, requires_grad=True)\ny = xp.ones(2, requires_grad=True)\n"
            f"xp.ops.aten._backward({given})\n(x.grad, y.grad)",
        )
    for call in _LEVELS:
        yield "small operator", f"xp.autograd.forward_ad.{call}"
    yield (
        "small operator",
        "with xp.autograd.forward_ad.dual_level():\n"
        "    y = xp.autograd.forward_ad.unpack_dual(xp.ones(2))\ny",
    )
    yield (
        "small operator",
        "with xp.autograd.forward_ad.dual_level():\n"
        "    y = xp.autograd.forward_ad.enter_dual_level()\ny",
    )
    for text in _OF_GRADIENTS:
        yield "small operator", text


def _calls() -> Iterator[str]:
    for seen in _SEEN:
        yield from (f"_assert_tensor_metadata({seen}, {each})" for each in _ASSERTED)
    yield from _TOKENS
    for given in _CAST:
        yield from (f"_autocast_to_reduced_precision({given}, {each})" for each in _CASTS)
        yield from (f"_autocast_to_full_precision({given}, True, {each})" for each in (True, False))
    for features in _FEATURES:
        *tensors, last = features.rsplit(", ", 1)
        given = f"{tensors[0]}, self_num_batch_dims={last}" if last.isdigit() else features
        for asked in ("", ".stride()", ".storage_offset()", ".untyped_storage().nbytes()"):
            yield f"_new_zeros_with_same_feature_meta({given}){asked}"
    yield from _DUALS
    yield from _ACTIVATED
    yield from (f"_remove_batch_dim({each})" for each in _BATCHES)
    for weight in _PRUNED:
        yield from (
            f"_rowwise_prune({weight}, xp.tensor({mask}), xp.{dtype})"
            for mask in _MASKS
            for dtype in ("int32", "int64")
        )
    yield f"_rowwise_prune({_ROWS}, xp.tensor([True, False]), xp.float32)"
    yield from (f"_compute_linear_combination({each})" for each in _COMBINED)
    yield from (f"_convolution.deprecated({each})" for each in _DEPRECATED)
    for one in _MATRICES:
        for two in _MATRICES:
            yield from (each.format(x=one, y=two) for each in _OF_SPARSE)
