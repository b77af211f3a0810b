"""What stands beside quantization: sums and products that are cut off at nought, products with
bytes, FBGEMM's refusals, the indices of sparse matrices and what is said of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from conformance.area import Text

_A: Final = "xp.ops.aten."
_SUMS: Final = (
    *(
        "xp.linspace(-3, 3, 40), xp.linspace(-3, 3, 40).flip(0) * 2",
        "xp.arange(-5, 5), xp.ones(10)",
    ),
    *(
        "xp.linspace(-3, 3, 40).view(8, 5), xp.linspace(-3, 3, 5).double()",
        "xp.ones(2), xp.ones(3)",
    ),
    "xp.arange(-5, 5).to(xp.int8) * 20, xp.arange(-5, 5).to(xp.int16) * 20",
    "xp.arange(-5, 5).to(xp.int8) * 20, xp.arange(-5, 5).to(xp.int8) * 20",
    *("xp.arange(-5., 5), xp.arange(-5, 5).bool()", "xp.arange(-5., 5), xp.ones(10).cfloat()"),
    *(
        "xp.ones(2).half(), xp.ones(2)",
        "xp.ones(2).bool(), xp.ones(2)",
        "xp.ones(2, 2).t(), xp.ones(2)",
    ),
    *("xp.ones(2).byte(), xp.ones(2)", "xp.ones(2), xp.ones(2, device='meta')"),
    *("xp.ones(2, device='meta'), xp.ones(3, 2, device='meta')", "xp.ones(0), xp.ones(0)"),
)
_ALPHAS: Final = ("1", "0.3", "2", "2j", "1e300")
_OUTPUTS: Final = ("xp.ones(3)", "xp.ones(10).long()", "xp.ones(2, 10)", "xp.ones(1).expand(10)")
_PRODUCTS: Final = (
    *("xp.linspace(-3, 3, 3), xp.linspace(-1, 3, 6).view(2, 3), xp.linspace(-3, 3, 9).view(3, 3)",),
    "xp.arange(3), xp.arange(6).view(2, 3), xp.arange(9).view(3, 3) - 4",
    *("xp.ones(3), xp.ones(2, 3), xp.ones(4, 3)", "xp.ones(4), xp.ones(2, 3), xp.ones(3, 3)"),
    *("xp.ones(3), xp.ones(3), xp.ones(3, 3)", "xp.ones(3), xp.ones(2, 0), xp.ones(0, 3)"),
    *("xp.ones(3), xp.ones(0, 2), xp.ones(2, 3)", "xp.ones(3), xp.ones(2, 3), xp.ones(3, 3).int()"),
    *("xp.ones(3).half(), xp.ones(2, 3).half(), xp.ones(3, 3).half()",),
    "xp.ones(3).cfloat(), xp.ones(2, 3).cfloat(), xp.ones(3, 3).cfloat()",
    "xp.ones(3, device='meta'), xp.ones(2, 3, device='meta'), xp.ones(3, 3, device='meta')",
    "xp.ones(3, device='meta'), xp.ones(2, 3, device='meta'), xp.ones(4, 3, device='meta')",
)
_OPTIONS: Final = ("", ", use_gelu=True", ", beta=0.5, alpha=2")
_ROWS: Final = (
    *("xp.tensor([0, 1, 1, 4]), 5", "xp.tensor([0, 1, 1, 4]).int(), 6", "xp.tensor([1.]), 3"),
    *("xp.tensor([], dtype=xp.int64), 3", "xp.tensor(1), 3", "xp.tensor([[1]]), 3"),
    *("xp.tensor([True]), 3", "xp.tensor([]), 3", "xp.tensor([], dtype=xp.int64), -3"),
    *("xp.tensor([1, 2]).byte(), 4", "xp.tensor([0, 1], device='meta'), 3"),
)
_STARTS: Final = (
    *("xp.tensor([0, 1, 1, 4]), xp.tensor([0, 1, 2, 5])", "xp.tensor([0, 1]), xp.tensor([3.])"),
    "xp.tensor([[0, 1, 2], [0, 0, 2]]), xp.tensor([[0, 1], [1, 5]])",
    "xp.tensor([[[0, 1, 2], [0, 0, 2]]]), xp.tensor([[[0, 1], [1, 5]]])",
    *("xp.tensor([0, 4]), xp.tensor([[0, 1, 2, 5]])", "xp.tensor([0., 1]), xp.tensor([5])"),
    *("xp.tensor([0, 0]), xp.tensor([]).long()", "xp.tensor([0., 0]), xp.tensor([]).long()"),
    *("xp.tensor([0, 1]), xp.tensor([3]).int()", "xp.tensor([0, 1]).int(), xp.tensor([3])"),
    "xp.tensor([0, 1, 1], device='meta'), xp.tensor([0, 1, 1], device='meta')",
)
_INDICES: Final = (
    *("xp.tensor([0, 1, 2]), xp.tensor([0, 1])", "xp.tensor([1, 1, 2]), xp.tensor([0, 1])"),
    *("xp.tensor([0, 1, 1]), xp.tensor([0, 1])", "xp.tensor([0, 3, 2]), xp.tensor([0, 1])"),
    *("xp.tensor([0, 2, 2]), xp.tensor([1, 0])", "xp.tensor([0, 2, 2]), xp.tensor([1, 1])"),
    *("xp.tensor([0, 2, 2]), xp.tensor([0, 2])", "xp.tensor([0, 2, 2]), xp.tensor([-1, 1])"),
    *("xp.tensor([0, 2, 2.]), xp.tensor([0, 1.])", "xp.tensor([0, 2, 2]), xp.tensor([0, 1]).int()"),
    "xp.tensor([0, 2, 2]).int(), xp.tensor([0, 1]).int()",
    "xp.tensor([[0, 2, 2], [0, 0, 2]]), xp.tensor([[0, 1], [0, 1]])",
    "xp.tensor([[0, 2, 2], [0, 1, 2]]), xp.tensor([[0, 1], [1, 0]])",
    "xp.tensor([[0, 2, 2], [0, 0, 2]]), xp.tensor([[0, 1], [1, 0]])",
    "xp.tensor([[0, 2, 1], [1, 0, 2]]), xp.tensor([[0, 1], [1, 0]])",
)
_COUNTS: Final = ("2, 2, 2", "1, 2, 2", "2, 2, 3")
_PARTS: Final = (
    *(
        "xp.tensor([0, 1, 2]), xp.tensor([0, 1]), xp.ones(2)",
        "xp.tensor(0), xp.tensor([0]), xp.ones(1)",
    ),
    "xp.tensor([0, 1, 2]), xp.tensor([0, 1]), xp.ones(2, 2, 3)",
    "xp.tensor([0, 1, 2]), xp.tensor([0, 1]), xp.ones(2, 0, 3)",
    *("xp.tensor([[0, 1]]), xp.tensor([0, 1]), xp.ones(2)",),
    "xp.tensor([[0, 1]]), xp.tensor([[0, 1]]), xp.ones(1, 2)",
    "xp.tensor([0, 5, 1, 5])[::2], xp.tensor([0]), xp.ones(1)",
    *("xp.tensor([0, 1]), xp.tensor([0, 1])[::2], xp.ones(1)",),
    *("xp.tensor([0, 1]), xp.tensor([0]).int(), xp.ones(1)", "xp.ones(2), xp.ones(1), xp.ones(1)"),
    "xp.tensor([0, 1], device='meta'), xp.tensor([1], device='meta'), xp.ones(1, device='meta')",
    "xp.tensor([0, 1], device='meta'), xp.ones(0).long(), xp.ones(0, device='meta')",
    "xp.tensor([0, 1]), xp.tensor([1]), xp.ones(1, device='meta')",
    "xp.tensor([0, 1]), xp.tensor([1]), xp.ones(1).to_sparse()",
)
_SIZES: Final = ("[2, 2]", "[4, 6]", "[5, 7]", "[1, 2]", "[1, 1, 2]", "[2, 2, 7, 7]", "[1, -1]")
_COORDINATES: Final = (
    *("xp.tensor([[0, 1], [1, 1]])", "xp.tensor([[0, 1], [1, -1]])", "xp.tensor([[0], [1]])"),
    *("xp.tensor([0, 1])", "xp.tensor([[0, 1], [1, 1]]).int()", "xp.tensor([[1, 0], [1, 1]])"),
    *("xp.tensor([[1, 1], [1, 1]])", "xp.ones(2, 0).long()", "xp.ones(1, 2).to_sparse()"),
)
_VALUES: Final = ("xp.ones(2)", "xp.ones(2, 3)", "xp.ones(())", "xp.ones(0)")
_SHAPES: Final = ("[2, 2]", "[2, 1]", "[2]", "[2, 2, 3], True", "[2, 2], True", "[2, 2], False")
_BYTES: Final = "xp.arange(-3, 3).to(xp.int8)"
_WITH_BYTES: Final = (
    *(f"{{x}}, {_BYTES}.view(3, 2), xp.linspace(0.1, 1, 3)", f"{{x}}, {_BYTES}, xp.ones(3)"),
    *(f"{{x}}, {_BYTES}.view(3, 2), xp.ones(2)", f"{{x}}, {_BYTES}.view(3, 2), xp.ones(3, 1)"),
    *(f"{{x}}, {_BYTES}.view(2, 3), xp.ones(2)", f"{{x}}, {_BYTES}.view(2, 3).t(), xp.ones(3)"),
    *("{x}, xp.ones(3, 2), xp.ones(3)", f"{{x}}, {_BYTES}.view(3, 2), xp.ones(3).half()"),
)
_LEFT: Final = (
    *("xp.linspace(-3, 5, 8).view(4, 2)", "xp.linspace(-3, 5, 8).view(2, 4).t()"),
    *("xp.linspace(-3, 5, 8).view(4, 2, 1)", "xp.ones(8)", "xp.ones(4, 2).double()"),
)
_LINEAR: Final = (
    *(
        "xp.ones(1), xp.ones(1), 0.5, 1, xp.ones(4)",
        "xp.ones(1).byte(), xp.ones(1), 0.5, 1, xp.ones(4)",
    ),
    *("xp.ones(1), xp.ones(1), 5, 1, xp.ones(4)", "xp.ones(1), xp.ones(1), 0.5, 1., xp.ones(4)"),
    *("xp.ones(1), xp.ones(1), 0.5, 1, xp.ones(3)", "xp.ones(1), xp.ones(1), 5, 1, xp.ones(4, 3)"),
)
_META: Final = (
    *(
        "_convert_weight_to_int4pack_for_cpu({m}.int(), 2)",
        "_convert_weight_to_int4pack_for_cpu({m}, 2)",
    ),
    *("_weight_int4pack_mm_for_cpu({m}, {m}.byte(), 2, {v})", "_weight_int8pack_mm({m}, {v}, {v})"),
    *("_weight_int4pack_mm_for_cpu({m}, {m}, 2, {v})", "_weight_int8pack_mm({v}, {m}.char(), {v})"),
    *("_weight_int4pack_mm_for_cpu({v}, {m}, 2, {v})", "_weight_int8pack_mm({m}, {m}.char(), {v})"),
    *("_weight_int8pack_mm({m}, {m}.char(), {m})", "_weight_int8pack_mm({m}.int(), {m}, {v})"),
    *("_dyn_quant_pack_4bit_weight({m}.byte(), {v}, None, 32, 12, 4)",),
    *("_dyn_quant_pack_4bit_weight({m}, {v}, {v}, 32, 12, 4)",),
    *("_dyn_quant_matmul_4bit({m}, {v}, 32, 12, 4)", "_dyn_quant_matmul_4bit({v}, {v}, 12, 12, 4)"),
    "_dyn_quant_matmul_4bit({m}.bfloat16(), {v}, 32, 12, 4)",
    "_dyn_quant_matmul_4bit({m}.bfloat16(), {v}, 12, 12, 4)",
    "addmm.dtype({v}.half(), {m}.half(), {m}.t().half(), xp.float32)",
    "addmm.dtype({v}.half(), {m}.half(), {m}.t().half(), xp.float64)",
    "baddbmm.dtype({v}.half(), {m}[None].half(), {m}.t()[None].half(), xp.float32)",
    "baddbmm.dtype({v}.long(), {m}[None].long(), {m}.t()[None].long(), xp.int64, beta=0.5)",
)


_ODD_ROWS: Final = (
    *("xp.tensor([2, 0, 1]), 3", "xp.tensor([1, 0, 4, 0]).int(), 5"),
    *("xp.tensor([3, 3, 1, 1, 0, 3])[::2], 4", "xp.tensor([[0, 1], [1, 3]])[:, 1], 4"),
    *("xp.tensor([1.]), -2", "xp.tensor([[1]]), -2", "xp.tensor([]).long(), -1"),
    "xp.tensor([1], device='meta'), -1",
)
"""In no order, apart in memory, or of a matrix of fewer rows than none."""


def texts() -> Iterator[Text]:
    for text in (*_sums(), *_products(), *_of_indices(), *_arguments(), *_with_bytes()):
        yield "low-precision", text


def _sums() -> Iterator[str]:
    for operands, alpha in product(_SUMS, _ALPHAS):
        yield f"{_A}_add_relu.Tensor({operands}, alpha={alpha})"
    for out in _OUTPUTS:
        yield f"{_A}_add_relu.out(xp.arange(-5., 5), xp.ones(10), out={out})"
    for number in ("2", "2.5", "2j"):
        for x in ("xp.arange(-5., 5)", "xp.arange(-5, 5)", "xp.ones(3, device='meta')"):
            yield f"{_A}_add_relu_.Scalar({x}, 2, 3)"
            yield f"{_A}_add_relu.Scalar({x}, {number}, 3)"
    odd = "x = xp.tensor([float('nan'), float('inf'), -float('inf'), -0.])\n"
    yield f"{odd}[{_A}_add_relu.Scalar(x.repeat(n), 0) for n in (1, 4, 7, 11)]"
    yield f"{_A}_add_relu.Tensor(xp.ones(2, requires_grad=True), xp.ones(2)).sum().backward()"


def _products() -> Iterator[str]:
    for operands, options in product(_PRODUCTS, _OPTIONS):
        yield f"{_A}_addmm_activation({operands}{options})"
    for out in ("xp.ones(2, 2)", "xp.ones(2, 3).double()", "xp.ones(3, 2).t()"):
        yield f"{_A}_addmm_activation.out({_PRODUCTS[0]}, out={out})"
    matrix, vector = "xp.ones(2, 4, device='meta')", "xp.ones(2, device='meta')"
    for call in _META:
        yield _A + call.format(m=matrix, v=vector)


def _of_indices() -> Iterator[str]:
    coo, csr = f"{_A}_convert_indices_from_coo_to_csr", f"{_A}_convert_indices_from_csr_to_coo"
    for rows, wide in product(_ROWS, ("", ", out_int32=True")):
        yield f"{coo}({rows}{wide})"
    for rows in _ODD_ROWS:
        yield f"{coo}({rows})"
    yield f"{coo}.out(xp.tensor([1, 2]), -4, out=xp.zeros(1))"
    for out in ("xp.ones(2).long()", "xp.ones(5)", "xp.ones(5).int()"):
        yield f"{coo}.out(xp.tensor([1, 2]), 4, out={out})"
    for starts, options in product(_STARTS, ("", ", out_int32=True, transpose=True")):
        yield f"{csr}({starts}{options})"
    for out in ("xp.ones(2, 3).long()", "xp.ones(4, 2).long().t()", "xp.ones(2, 4)"):
        yield f"{csr}.out({_STARTS[0]}, out={out})"


def _arguments() -> Iterator[str]:
    for indices, counts, is_crow in product(_INDICES, _COUNTS, (True, False)):
        yield f"{_A}_validate_compressed_sparse_indices({is_crow}, {indices}, {counts})"
    small = "xp.tensor([0, 2, 2]).int(), xp.tensor([0, 1]).int()"
    for wide, is_crow in product((2**31 - 1, 2**31), (True, False)):
        yield f"{_A}_validate_compressed_sparse_indices({is_crow}, {small}, 2, {wide}, 2)"
    for parts, sizes, layout in product(_PARTS, _SIZES, ("csr", "csc", "bsr", "bsc")):
        yield f"{_A}_validate_sparse_{layout}_tensor_args({parts}, {sizes})"
    for layout in ("sparse_csr", "sparse_bsc", "strided", "sparse_coo"):
        call = f"{_A}_validate_sparse_compressed_tensor_args"
        yield f"{call}({_PARTS[0]}, [2, 2], xp.{layout})"
    for indices, values, shape in product(_COORDINATES, _VALUES, _SHAPES):
        yield f"{_A}_validate_sparse_coo_tensor_args({indices}, {values}, {shape})"


def _with_bytes() -> Iterator[str]:
    for x, call in product(_LEFT, _WITH_BYTES):
        yield f"{_A}_weight_int8pack_mm({call.format(x=x)})"
    table = "xp.arange(-128, 128).to(xp.int8).view(8, 32)"
    for kind in ("bfloat16", "half", "float"):
        x, scales = (
            f"xp.linspace(-3, 5, 64).view(2, 32).{kind}()",
            f"xp.linspace(0.1, 1, 8).{kind}()",
        )
        yield f"{_A}_weight_int8pack_mm({x}, {table}, {scales})"
    for x in (*_LEFT, "xp.linspace(-3, 5, 600).view(30, 20)", "xp.linspace(1, 2, 6).view(2, 3)"):
        yield f"{_A}fbgemm_linear_quantize_weight({x})"
    for x, weight, rest in product(("2, 3", "3"), ("4, 3", "4, 2", "4"), _LINEAR):
        yield f"{_A}fbgemm_linear_int8_weight(xp.ones({x}), xp.ones({weight}).char(), {rest})"
    for x, packed in product(("xp.ones(2, 3)", "xp.ones(2, 3).double()"), ("", ".byte()")):
        yield f"{_A}fbgemm_linear_fp16_weight({x}, xp.ones(4){packed}, xp.ones(1))"
    for rows in ("[1e5, -1e6, 3.1, float('nan'), float('inf')]", "[1e5, -1e6], [3.1, 2.]"):
        for turned in ("", ".t()"):
            saturated = "y = xp._saturate_weight_to_fp16(x)\n(x, y)"
            yield f"x = xp.tensor([{rows}]){turned}\n{saturated}"
    for x in ("xp.ones(2)", "xp.ones(2, 2).double()", "xp.ones(2, 2)"):
        yield f"xp._saturate_weight_to_fp16({x})"
        yield f"xp.fbgemm_linear_quantize_weight({x})"
        yield f"xp.fbgemm_linear_int8_weight({x}, *[xp.ones(2)] * 3, 1, 1, xp.ones(1))"
    yield from _ranges()


def _ranges() -> Iterator[str]:
    """Those that quantize well, and rows that are kept."""
    x = "xp.linspace(-3, 5, 8)"
    for given in (x, f"{x}.square()", f"{x}.double()", f"{x}.view(2, 4).t()", "xp.ones(8)"):
        for rest in ("8, 20, 0.2, 4", "5, 200, 0.16, 2", "9, 9, 0.1, 4", "-1, 9, 0.1, 4"):
            yield f"{_A}choose_qparams_optimized({given}, {rest})"
        yield f"{_A}_choose_qparams_per_tensor({given}, True)"
    odd = (
        "[0, float('nan')]",
        "[0, float('inf')]",
        "[0, 1e-4]",
        "[-1e-5, 1e-4]",
        "[1e-42, -1e-42]",
    )
    for values in (*odd, "[]", "[0.]", "[1j]", "[True, False]", "[-3, 4]", "[-1., -2.]"):
        yield f"{_A}_choose_qparams_per_tensor(xp.tensor({values}), False)"
    kinds = (".view(4, 2)", ".view(4, 2).half()", ".view(2, 4).t()", "", ".view(4, 2).cfloat()")
    masks = ("xp.tensor([True, False, True, True])", "xp.ones(2, 2).bool()", "xp.ones(4)")
    for kind, mask, dtype in product(kinds, (*masks, "xp.ones(3).bool()"), ("int32", "int16")):
        yield f"{_A}_rowwise_prune({x}{kind}, {mask}, xp.{dtype})"
