"""Calls that a schema allows and hardly anybody makes.

Dtypes that a kernel's switch refuses, powers of complex zeros, sizes below zero, outputs and
parameters of another dtype, and conversions that a gradient does not survive.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations, product
from typing import Final

from conformance.area import Text

#: By operators whose kernels refuse dtypes in words of their own.
_SWITCHED: Final = (
    *("xp.round({x}, decimals=0)", "xp.round({x}, decimals=0, out=xp.zeros(1))"),
    *("xp.repeat_interleave({x})", "xp.repeat_interleave({x}[None])"),
    *("xp.nn.functional.softshrink({x})", "xp.clamp_min({x}, {x})", "xp.clamp_max({x}, {x})"),
    *("xp.deg2rad({x})", "xp.logaddexp2({x}, {x})", "xp.isposinf({x})"),
    *("xp.polygamma(0, {x})", "xp.polygamma(1, {x})", "xp.polygamma(2, {x})"),
    *("xp._C._nn.hardtanh({x}, 2, 1)", "xp._C._nn.hardtanh_({x}, 2, 1)", "xp.isnan({x})"),
)
_CONVERTED: Final = ("x.to(xp.{0})", "x.type(xp.{0})", "x.to(xp.zeros(1, dtype=xp.{0}))")
_COMPLEX_ZEROS: Final = ("0j", "complex(-0.0, 0.0)", "complex(0.0, -0.0)")
_ENDS: Final = ("", "[::2]")
_EXPONENTS: Final = ("0", "1", "2", "-1", "0.5", "1j", "-2-1j", "complex('nan')", "complex('inf')")
_INFINITE: Final = (
    "[float('inf')]",
    "[1.0, float('inf')]",
    "[1.0, float('inf'), float('-inf'), float('nan'), 2.0]",
)
_REFLECTED: Final = (
    "[0.0, -1.0, -2.0, -6.0, -40.0, -0.5, 0.25, 3.0, float('nan'), -float('inf'), float('inf')]"
)
_STRIDED: Final = (
    "xp.ones(3, 3, device='{}').t()",
    "xp.ones(1, 2, 3, device='{}').mT[:, :, :1]",
    "xp.ones(4, device='{}')[::4]",
)
"""In dimensions of one element too."""
_PAIRS: Final = (
    *("(1, 2), (3, 1)", "(2, 2), (3, 1)", "(0, 2), (3, 1)", "(1, 2), (3, 1), 1", "(2, 2), (4, 2)"),
    *("(1, 3, 2), (3, 2, 1)", "(1, 1, 2), (5, 7, 1)", "(2, 1, 2), (4, 7, 1)", "(2, 3), (4, 1)"),
)
"""Sizes and strides of real parts beside imaginary ones, or of what is none."""
_SET_FROM: Final = (
    *("xp.arange(4.0)", "xp.ones(0)", "xp.ones(2, 2, requires_grad=True)"),
    *("xp.ones(2, dtype=xp.complex64).conj()", "xp.ones(2, device='meta')"),
)
_SET_TO: Final = (
    *("x", "x[:]", "x[1:]", "x.clone()", "x.detach()", "x.view(-1)", "x.view(xp.int32)"),
    *("x.conj()", "xp.tensor([]).set_(x.detach())", "xp.ones(2, device='meta')", "3"),
)
_TWO_DEVICES: Final = (
    "xp.take_along_dim(xp.ones(2, 3, device='{}'), xp.tensor([0], device='{}'), 1)",
    "xp.inner(xp.ones(2, 3, device='{}'), xp.ones(2, device='{}'))",
    "xp.inner(xp.ones(2, device='{}'), xp.ones(2), out=xp.ones(1, device='{}'))",
)
_REDUCED: Final = ("sum", "prod", "mean", "amax", "amin")

_OBSERVED: Final = (
    *(("xp.ones(())", 1), ("xp.ones(1, dtype=xp.int64)", 1), ("xp.ones(2, 1)", 1)),
    *(("xp.ones(2, 2)", 2), ("xp.tensor([[1 + 2j, 3 - 4j]])", 2)),
    ("xp.ones(1, requires_grad=True)", 1),
)
"""Tensors, with how many observations they have."""
_WEIGHED: Final = (
    *(("None", "None"), ("xp.ones({}).int()", "None")),
    *(("None", "xp.ones({})"), ("xp.ones({}).int()", "xp.ones({})")),
)
"""Frequencies and weights of so many observations."""
_LAID: Final = ("xp.ones(2, 3)", "xp.ones(3, 2).t()")
_BACKWARD: Final = (
    *("threshold_backward({g}, {x}, 0)", "leaky_relu_backward({g}, {x}, 0.1, False)"),
    *("elu_backward({g}, 1, 1, 1, False, {x})", "hardtanh_backward({g}, {x}, 0, 2)"),
    *(
        "softplus_backward({g}, {x}, 1, 20)",
        "sigmoid_backward({g}, {x})",
        "silu_backward({g}, {x})",
    ),
    *("hardshrink_backward({g}, {x}, 0.5)", "softshrink_backward({g}, {x}, 0.5)"),
    *("logit_backward({g}, {x})", "tanh_backward({g}, {x})", "mish_backward({g}, {x})"),
    *("gelu_backward({g}, {x})", "hardsigmoid_backward({g}, {x})", "hardswish_backward({g}, {x})"),
)
_MIXED_STRIDES: Final = (
    *("xp.fmod({x}, {b})", "xp.add({x}, {b})", "xp.mul({b}, {x})", "xp.polar({x}, {x})"),
    *("xp.complex({x}, {x})", "xp.xlogy({x}, 1)", "xp.xlogy(1, {x})", "xp.xlogy({x}, {b})"),
    *("xp._C._nn.hardtanh({x}, 0, 6)", "xp.clamp({x}, 0, 6)", "xp.where({x} > 0, {b}, {x})"),
    *("xp.div({x}, {b}, rounding_mode='trunc')", "xp.isinf({x} * 1j)", "xp.isinf(({x} * 1j).mT)"),
    "xp.div({b}.int(), {x}.int(), rounding_mode='trunc')",
    *(f"xp.div({{x}}.sum(), {{x}}, rounding_mode='{mode}')" for mode in ("trunc", "floor")),
    *("xp.lcm({x}.int(), {b}.int())", "xp.lcm({x}.bool(), {b}.bool())", "xp.lcm({x}.bool(), 3)"),
)
_FLOATS: Final = ("float16", "bfloat16", "float32", "float64")
_SIZES: Final = ("2, -1", "-1,", "-1, -1", "-1, 2, -1", "2, -5, -1", "3, 2")

#: ``out=`` operators that torch generates of those that make a tensor.
_GENERATED: Final = (
    *("isnan.out({x}, out={out})", "isinf.out({x}, out={out})", "_to_copy.out({x}, out={out})"),
    *("ones_like.out({x}, out={out})", "zeros_like.out({x}, out={out})"),
    *("new_ones.out({x}, [2], out={out})", "new_full.out({x}, [2], 3, out={out})"),
    *("clone.out({x}, out={out})", "flip.out({x}, [0], out={out})"),
)

#: Operators that are functions in Python on meta: what they promote and refuse.
_PYTHONS: Final = (
    *("hardsigmoid({x})", "hardswish({x})", "log_sigmoid_forward({x})", "logaddexp({x}, {x})"),
    *("mse_loss({x}, {x}, {r})", "smooth_l1_loss({x}, {x}, {r})", "glu({x}[0])"),
    *("binary_cross_entropy({x}, {x}, {x}, {r})", "mse_loss_backward({x}, {x}, {x}, {r})"),
    "binary_cross_entropy_with_logits({x}, {x}, None, {x}, {r})",
    "binary_cross_entropy_with_logits({x}, {x}, {x}, None, {r})",
    *("log_sigmoid_backward({x}, {x}, {x})", "threshold_backward({x}, {x}, 1)"),
    *("hardtanh_backward({x}, {x}, 0, 6)", "glu_backward({x}[:1], {x}, 0)"),
    *("huber_loss_backward({x}, {x}, {x}, {r}, 1.0)", "index.Tensor({x}, [{x}])"),
    *("elu_backward({x}, -1, 1, 1, True, {x})", "embedding({x}[None], {x})"),
    *("nll_loss2d({x}, {x}, None, {r})", "native_layer_norm({x}, [2], None, None, 0.1)"),
    *("diagonal_backward({x}, [2], 0, 0, 1)", "slice_backward({x}, [2], 0, 0, 2, {r})"),
    *("select_backward({x}, [2, 2], {r}, 5)", "fill.Tensor({x}, {x})"),
)
#: Those that write to an output of another dtype.
_PYTHONS_OUT: Final = (
    *("hardswish.out({x}, out={o})", "log_sigmoid.out({x}, out={o})", "lift.out({x}, out={o})"),
    *("gelu_backward.grad_input({x}, {x}, grad_input={o})", "diag_embed.out({x}, out={o})"),
    *("tanh_backward.grad_input({x}, {x}, grad_input={o})", "repeat.out({x}, [], out={o})"),
    *("select_scatter.out({x}, {x}[0], 0, 5, out={o})", "_unsafe_view.out({x}, [2], out={o})"),
    *("slice_scatter.out({x}, {x}, 0, 0, 2, 1, out={o})", "block_diag.out([{x}], out={o})"),
    *("slice_scatter.out({x}, {x}, 0, 0, 2, 0, out={o})", "index_select.out({x}, 0, {x}, out={o})"),
    *("diagonal_scatter.out({x}, {x}, out={o})", "embedding.out({x}[None], {x}, out={o})"),
    "as_strided_scatter.out({x}, {x}, [1, 1], [2], out={o})",
    "select_scatter.out({x}[0], {x}, 0, 0, out={o})",
    "as_strided_scatter.out({x}, {x}, [2], [1, 1], out={o})",
    "smooth_l1_loss_backward.grad_input({x}, {x}, {x}, 2, 1.0, grad_input={o})",
)

#: Shapes, and how much is put around them.
_PADDED: Final = (
    *("3), (1, 1)", "2, 2), ()", "2, 2), (1, 1)", "2, 2), (1, 1, 1, 1)", "1, 2, 2, 2), (1, 1)"),
    *("1, 2, 2, 2), (1,) * 4", "1, 2, 2, 2), (1,) * 8", "1, 1, 2, 2, 2), (1, 1)", "3), (1,) * 4"),
)

#: Operands that nearly fit: what each kernel, and what calls it, asks of them.
_NEARLY: Final = (
    *("_foreach_acos.out([x], out=[x, x])", "_foreach_add.Scalar_out([x, x], 1, out=[x])"),
    *("_cummax_helper(x, x.double(), xp.zeros(2).long(), 0)", "_pad_enum(x[None], [1, 1], 4, 0)"),
    *("_cummin_helper(x, x.clone(), xp.zeros(2).int(), 0)", "leaky_relu_backward(x, x, 1j, {8})"),
    "leaky_relu_backward(x, x, -0.5, {8})",
    *("embedding_dense_backward(xp.ones(5), xp.zeros(5).long(), 3, 0, {0})",),
    *("embedding_dense_backward(xp.ones(4, 2), xp.arange(4) - 1, 2, 0, False)",),
    *("embedding_dense_backward(xp.ones(()), xp.arange(1), 2, 0, {0})", "addmv(x[0], x[None], x)"),
    *("embedding_dense_backward(xp.ones(0), xp.arange(1), -2, 0, {0})", "addmv(x, x[None], x)"),
    *("glu_backward(xp.ones({1}), xp.ones({2}), 0)", "addmv(x[0], xp.ones(2, 3), xp.ones(5))"),
    *("_softmax_backward_data(x, x, 0, {3})", "_log_softmax_backward_data(x, x, 0, {3})"),
    *("multinomial(xp.ones({4}), 3, True)", "set_.source_Tensor(xp.ones(4)[{5}], xp.ones(3))"),
    *("native_layer_norm_backward(x, x, [2], x[0], x[0], None, None, [True] * {6})",),
    *("native_batch_norm_backward(x, x, None, None, None, x, x, True, 0.5, [True] * {6})",),
    *("native_batch_norm_backward(x, x, None, None, None, x, x, True, 0.5, [False] * 3)",),
    *("_native_batch_norm_legit.no_stats_out(x, x, x, True, 0.1, 1, out=x, {7})",),
)
_FILLINGS: Final = (
    *(("{0}", "False", "True"), ("{1}", "2, 3", "1, 3", "3", "3, 3"), ("{2}", "2, 3", "4, 3")),
    *(("{3}", "-2", "6", "100"), ("{4}", "2, 0", "0", "0, 2"), ("{6}", "2", "4")),
    *(("{5}", ":3", "1:", "::2", ":1"), ("{7}", "save_mean=x, save_invstd=x")),
    ("{8}", "False", "True"),
)

#: Operators that once took names of dimensions.
_NAMED: Final = (
    *("cumsum.dimname(xp.ones(2), {0})", "unbind.Dimname(xp.ones(2), {0})"),
    *("sum.dim_DimnameList(xp.ones(2), [{0}])", "squeeze.dimname(xp.ones(2), {0})"),
    *("select.Dimname(xp.ones(2), {0}, 0)", "cumprod.dimname(xp.ones(2), {0})"),
)

_WEIGHTS: Final = (
    *("0.5", "xp.tensor(0.5)", "xp.tensor([0.5])", "xp.tensor(2)"),
    *("xp.tensor(0.5, dtype=xp.float64)", "xp.tensor([0.5], dtype=xp.float64)"),
)
_SOURCES: Final = (
    "xp.ones(2)",
    "xp.ones(2, 2)",
    "xp.ones(())",
    "xp.ones(1, 2, 2)",
    "xp.ones(1, 1)",
)

_SHARES: Final = (
    *("xp.tensor([0.0, 0.5, 1.0])", "xp.tensor([0.5, 2.0, -1.0])", "xp.tensor([-0.5, 0.5, 0.5])"),
    *("xp.tensor([0.5, 0.5, float('nan')])", "xp.ones(0)"),
)


_RANGES: Final = (
    *("float('nan')", "0, float('nan')", "0, float('inf')", "0, 3, float('nan')", "3, 0"),
    *(
        "0, 3, float('inf')",
        "0, 3, 0",
        "0, float('nan'), 0",
        "0, 3, -1",
        "1, 2.5, 0.5",
        "0, -3, -1",
    ),
)

#: Calls that list dimensions, of a tensor that may have more of them than a word has bits.
_LISTED: Final = (
    *("squeeze([0, 1])", "squeeze([])", "squeeze_([0])", "flip([0])", "flip([])", "sum([0])"),
    *("sum([])", "amax([0])", "all([])", "any([0])", "var([0])", "max(0)", "softmax(0)"),
    *("unsqueeze(0).squeeze([0])", "rot90(1, [0, 1])", "squeeze(0)", "cumsum(0)", "prod(0)"),
)
_FLIPPED: Final = ("[0, 0]", "[0, -2]", "[2]", "[-3]", "[]", "[1, 0]")

#: Numbers and nothing in the place of tensors that are written to.
_IN_PLACE: Final = (
    *("floor_divide_(1, {0})", "floor_divide_.Tensor(None, {0})", "add_.Tensor(1, {0})"),
    *("mul_.Tensor(2.5, {0})", "floor_divide_.Tensor({0}, None)", "sub_.Tensor(True, {0})"),
    *("add_.Tensor(1, 2)", "multiply_(3, 2)", "mul_.Tensor(2.5, 2)", "sub_(1j, 2.5, alpha=2)"),
)

_EXPONENTS_OF_TWO: Final = ("int32", "int64", "uint8", "bool", "uint16", "float32")
_SCALED: Final = ("float16", "bfloat16", "float32", "float64", "int32", "complex64", "float8_e5m2")
_POWERS: Final = ("[1, -3, 200]", "[0, 1, 1]")

#: Shapes of a gradient, and of what was unfolded along which dimension.
_UNFOLDED: Final = (
    *("(2, 3), [2, 3], 0", "(3, 3), [5, 3], 0", "(2, 3), [4, 2], 0", "(2, 3, 4), [4, 2], 0"),
    *("(1, 2, 4), [3, 4], 1", "(2, 3, 2), [2, 4], 1", "(3, 4), [1, 4], 0", "(3, 2, 2), [7, 2], -2"),
)

#: What reads, copies or computes with a tensor that ``as_strided_`` gave a negative size.
_NEGATIVE: Final = ("[0, 2, -1, 1], [0, 2, 2, 1]", "[0, -1], [1, 1]", "[-1, 0], [1, 1]")
_LAZY: Final = ("x", "x.conj()", "xp._neg_view(x)")
_OF_NEGATIVE: Final = (
    *("t.clone()", "t.contiguous()", "t.tolist()", "t.detach().resolve_conj().numpy()", "t.sum()"),
    *("(t + 1).shape", "t.to(xp.complex128)", "xp.empty_like(t)", "xp.equal(t, t)", "t.repeat(1)"),
)

_STACKED: Final = ("2", "3", "0", "2, 1", "()")
_LAID_OUT: Final = (
    *("zero(x)", "zero.out(x, out=x.new_ones(2))", "isinf(x)", "isinf(x.unsqueeze(-2))"),
    *("isfinite(x.unsqueeze(-2))", "huber_loss(x, x, -1)", "huber_loss(x, x, 3)"),
)

_LOSSES: Final = ("mse_loss", "smooth_l1_loss", "huber_loss", "l1_loss")
_NAMES: Final = ("None", "(None,)", "(None, None)", "('a', None)", "[]", "(1,)")
_NAMED_MAKERS: Final = ("ones(2", "zeros(2", "full((2,), 1.0", "rand(2", "randn(2", "empty(2")


def _of_kernels(dtypes: Sequence[str]) -> Iterator[Text]:
    """What kernels alone look at, and functions in Python on meta."""
    for name, dtype, half in product(("_softmax", "_log_softmax"), dtypes, (False, True)):
        yield name, f"xp.{name}(xp.ones(2, 2, dtype=xp.{dtype}, device='meta'), 0, {half})"
    for name, dim in product(("_softmax", "_log_softmax"), (2, -3)):
        yield name, f"xp.{name}(xp.ones(2, 2, device='meta'), {dim}, False)"
    for bounds, device in product(_RANGES, ("cpu", "meta")):
        yield "arange", f"xp.arange({bounds}, device='{device}')"
    for dims, device in product(_FLIPPED, ("cpu", "meta")):
        yield "flip", f"xp.ones(2, 3, device='{device}').flip({dims})"
    for sizes, lazy, call in product(_NEGATIVE, _LAZY, _OF_NEGATIVE):
        made = f"x = xp.tensor([[1j, 2]])\nt = {lazy}.as_strided_({sizes})"
        yield "as_strided_", f"{made}\n{call}"
    for total, given in product(("-2", "0", "1", "3"), ("{0}", "xp.ones(2, 3), {0}, dim=0")):
        given = given.format("xp.tensor([0, 1])")
        yield "repeat_interleave", f"xp.repeat_interleave({given}, output_size={total})"
    for call in _filled(_NEARLY):
        yield named(call), f"x = xp.ones(2)\ny = xp.ops.aten.{call}\n(x, y)"
    for extent, stride, offset in product(("2", "4"), ("", "1", "2"), (0, 2)):
        given = f"{offset}, ({extent},)" + f", ({stride},)" * bool(stride)
        made = "x = xp.ones(4)[::2] if {0} else xp.ones(4)\ny = xp.ones(3).untyped_storage()"
        for gaps in (0, 1):
            shown = "(y.nbytes(), x.shape, x.stride(), x.storage_offset())"
            yield "set_", f"{made.format(gaps)}\nx.set_(y, {given})\n{shown}"
    for call, rank in product(_LISTED, (63, 64, 65)):
        yield named(call), f"xp.ones([1] * {rank}, device='meta').{call}"
    for made, other in product(_SET_FROM, _SET_TO):
        yield "is_set_to", f"x = {made}\nx.is_set_to({other})"
    for sizes, dim, device in product(_STACKED, (0, 1, -1, 5), ("cpu", "meta")):
        made = f"xp.ones(2, device='{device}'), xp.ones({sizes}, device='{device}')"
        yield "stack", f"xp.stack([{made}], {dim})"
        yield "stack", f"xp.stack([{made}], {dim}, out=xp.empty(0, device='{device}'))"
    for call, device in product(_LAID_OUT, ("cpu", "meta")):
        yield named(call), f"x = xp.ones(2, 0, 3, device='{device}').mT\nxp.ops.aten.{call}"
    for call, mode in product(_PADDED, ("circular", "constant")):
        yield "pad", f"xp.nn.functional.pad(xp.ones({call}, '{mode}')"
    for dtype, device in product(dtypes, ("cpu", "meta")):
        labels = f"xp.zeros(2, dtype=xp.{dtype}, device='{device}')"
        yield "nll_loss", f"xp._C._nn.nll_loss(xp.ones(2, 3, device='{device}'), {labels})"
    for dtype, name in product(dtypes, ("tril", "triu")):
        yield name, f"xp.ones(2, 2).to(xp.{dtype}).{name}()"
        yield name, f"xp.ones(2, 2).to(xp.{dtype}).{name}_(1)"
    for dtype in dtypes:
        yield "_neg_view", f"xp._neg_view(xp.ones(2).to(xp.{dtype})).clone()"
        yield "polar", f"xp.polar(xp.ones(2, dtype=xp.{dtype}), xp.ones(2, dtype=xp.{dtype}))"
    for shapes, size in product(_UNFOLDED, (1, 2)):
        made, rest = shapes.split(", [")
        given = f"xp.arange(24.)[:xp.Size({made}).numel()].view({made}), [{rest}"
        yield "unfold_backward", f"xp.ops.aten.unfold_backward({given}, {size}, 1)"
    for one, two, powers in product(_SCALED, _EXPONENTS_OF_TWO, _POWERS):
        if not (two.startswith(("b", "u")) and "-" in powers):
            made = f"xp.tensor([1.5, 3.0, 1e-3]).to(xp.{one})"
            yield "ldexp", f"xp.ldexp({made}, xp.tensor({powers}, dtype=xp.{two}))"
    for one, out in product(_SCALED[:4], ("float16", "float32", "float64", "int32")):
        target = f"out=xp.zeros(1, dtype=xp.{out})"
        yield "ldexp", f"xp.ldexp(xp.ones(1, dtype=xp.{one}), xp.tensor([2]), {target})"
    for call, other in product(_IN_PLACE, ("xp.ones(2)", "xp.ones(2, dtype=xp.int64)")):
        yield call.partition("(")[0], f"xp.ops.aten.{call.format(other)}"
    for name, reduced in product(_LOSSES, ("none", "mean", "sum")):
        made = f"xp.nn.functional.{name}(xp.ones(2, 3), xp.zeros(2, 3), reduction='{reduced}')"
        yield name, f"{made}.untyped_storage().nbytes()"
    for name, dtype in product(_LOSSES, ("int64", "int32", "bool", "float64", "float16")):
        made = f"x = xp.ones(2, requires_grad=True)\ny = xp.tensor([1, 3]).to(xp.{dtype})"
        yield name, f"{made}\nxp.nn.functional.{name}(x, y).backward()\nx.grad"
    for reduction, target, smoothing in product(
        (0, 1, 2, 3, -1), ("xp.tensor([1, 2])", "xp.ones(2, 3)"), ("0.0", "0.1")
    ):
        arguments = f"xp.ones(2, 3), {target}, None, {reduction}, -100, {smoothing}"
        yield "cross_entropy_loss", f"xp.ops.aten.cross_entropy_loss({arguments})"
    for shape, training in product(("()", "2", "2, 2"), (True, False)):
        learned = "xp.ones(2)" if not training else "None"
        arguments = f"xp.ones({shape}), None, None, {learned}, {learned}, {training}, 0.1, 1e-5"
        yield "native_batch_norm", f"xp.native_batch_norm({arguments})"
    for maker, names in product(_NAMED_MAKERS, _NAMES):
        yield maker.partition("(")[0], f"xp.{maker}, names={names}).shape"


def texts(dtypes: Sequence[str]) -> Iterator[Text]:
    yield from _of_kernels(dtypes)
    for call, dtype, device in product(_SWITCHED, dtypes, ("cpu", "meta")):
        made = f"xp.ones(2, dtype=xp.{dtype}, device='{device}')"
        yield named(call), call.format(x=made)
    for call, one, two in product(_TWO_DEVICES, ("cpu", "meta"), ("cpu", "meta")):
        yield named(call), call.format(one, two)
    for name, counts in product(("repeat", "tile"), ("-1, 2", "2, -1", "-1", "0, -1, 1")):
        yield name, f"xp.ones(2, 3, device='meta').{name}({counts})"
    for name, dtype in product(
        (*(f"polygamma({order}, " for order in range(4)), "lgamma("), _FLOATS
    ):
        yield name.partition("(")[0], f"xp.{name}xp.tensor({_REFLECTED}, dtype=xp.{dtype}))"
    for pairs, device in product(_PAIRS, ("cpu", "meta")):
        made = f"xp.arange(12.0, device='{device}').as_strided({pairs})"
        yield "view_as_complex", f"xp.view_as_complex({made})"
    for call, dtype in product(_BACKWARD, dtypes):
        made = f"xp.ones(2, dtype=xp.{dtype})"
        yield named(call), f"xp.ops.aten.{call.format(g=made, x=made)}"
    for call, dtype, x in product(_CONVERTED, dtypes, ("", " * 1")):
        yield "to", f"x = xp.ones(2, requires_grad=True){x}\n{call.format(dtype)}"
    for call, name in product(_NAMED, ("'a'", "'dimname::a'", "'dimname::*'", "'a b'", "1")):
        yield named(call), f"xp.ops.aten.{call.format(name)}"
    for weight, one, two in product(_WEIGHTS, ("float32", "int64"), ("float32", "float64")):
        yield "lerp", f"xp.lerp(xp.ones(2, dtype=xp.{one}), xp.zeros(2, dtype=xp.{two}), {weight})"
    for index, source in product(("xp.tensor([[0, 1]])", "xp.tensor([0, 1])"), _SOURCES):
        for dim in (0, 1, -2):
            yield "scatter", f"xp.zeros(2, 2).scatter({dim}, {index}, {source})"
    for one, two in product(_SHARES, _SHARES):
        yield "binary_cross_entropy", f"xp._C._nn.binary_cross_entropy({one}, {two})"
    for dtype, values, end in product(
        _FLOATS, _INFINITE, ("", "[::2]", "[None]", ".requires_grad_()")
    ):
        is_for_onednn = dtype in ("float32", "bfloat16") and "," in values
        for approximate in ("tanh",) if is_for_onednn else ("none", "tanh"):
            x = f"xp.tensor({values}, dtype=xp.{dtype}){end}"
            yield "gelu", f"xp._C._nn.gelu({x}, approximate='{approximate}')"
    for device, (call, x) in product(("cpu", "meta"), product(_MIXED_STRIDES, _STRIDED)):
        yield (
            named(call),
            call.format(x=x.format(device), b=f"xp.ones(3, 3, device='{device}')[None]"),
        )
    for call, (grad, x) in product(_BACKWARD, permutations(_LAID, 2)):
        yield named(call), f"xp.ops.aten.{call.format(g=grad, x=x)}"
    for shape, n, device in product(("0, 3", "1, 3", "2, 3"), (1, 2), ("cpu", "meta")):
        made = f"xp.ones({shape}, device='{device}')"
        for out in ("", f", out=xp.ones(0, device='{device}')"):
            yield "diff", f"xp.diff({made}, n={n}, dim=0{out})"
    for width, base, end in product(
        (64, 128), (*_COMPLEX_ZEROS, "1e-9 + 1e-9j", "complex(-1.0, -0.0)"), _ENDS
    ):
        x = f"xp.tensor([{base}] * 3, dtype=xp.complex{width}){end}"
        for name in ("log2", "log10", "log1p", "log"):
            yield name, f"{x}.{name}()"
    for width, base, exponent in product((64, 128), _COMPLEX_ZEROS, _EXPONENTS):
        dtype = f"dtype=xp.complex{width}"
        base, power = f"xp.tensor([{base}] * 3, {dtype})", f"xp.tensor([{exponent}] * 3, {dtype})"
        yield "pow", f"xp.pow({base}, {power})"
    for sizes, device in product(_SIZES, ("cpu", "meta")):
        yield "resize_", f"xp.ones(6, device='{device}').resize_({sizes})"
        for name in ("new_zeros", "new_ones", "new_empty"):
            yield name, f"xp.ones(6, device='{device}').{name}([{sizes}]).shape"
    for call, dtype, other in product(_GENERATED, ("float32", "int64"), ("bool", *_FLOATS)):
        out = f"xp.zeros(2, dtype=xp.{other})"
        yield named(call), f"xp.ops.aten.{call.format(x=f'xp.ones(2, dtype=xp.{dtype})', out=out)}"
    for dtype, *parameters in product(_FLOATS, ("None", *_FLOATS), ("None", *_FLOATS)):
        given = [each if each == "None" else f"xp.ones(3, dtype=xp.{each})" for each in parameters]
        for shape in ("[3]", "[2]"):
            x = f"xp.ones(2, 3, dtype=xp.{dtype})"
            yield "layer_norm", f"xp.native_layer_norm({x}, {shape}, {', '.join(given)}, 0.1)"
    for dtype, device in product(("complex64", "float64", "int64"), ("cpu", "meta")):
        x = f"xp.ones(2, 3, dtype=xp.{dtype}, device='{device}').t()"
        yield "angle", f"xp.angle({x})"
    for dtype, other in product(("float32", "float64", "complex64", "int64"), _FLOATS):
        x = f"xp.tensor([-6.01, -5.23, 3.0]).to(xp.{dtype})"
        yield "mean", f"{x}.mean(dtype=xp.{other})"
    for dtype, reduce in product(("bool", "complex64"), _REDUCED):
        ones, index = f"xp.ones(2, dtype=xp.{dtype})", "xp.tensor([2])"
        yield (
            "scatter_reduce",
            f"{ones}.scatter_reduce(0, {index}, {ones}, '{reduce}', include_self=False)",
        )
    for dtype, reduce, include in product(dtypes, _REDUCED, (True, False)):
        ones, index = f"xp.ones(2, dtype=xp.{dtype})", "xp.tensor([0, 0])"
        yield (
            "scatter_reduce",
            f"{ones}.scatter_reduce(0, {index}, {ones}, '{reduce}', include_self={include})",
        )
    for dtype, training in product(("int64", "bool", "float16", "bfloat16"), (True, False)):
        x = f"xp.tensor([[-7.1, 1.3], [2.1, 3.7]]).to(xp.{dtype}).t()"
        made = f"m, v = [xp.ones(2, dtype=xp.{dtype}) for _ in range(2)]"
        yield (
            "batch_norm",
            f"{made}\nxp.native_batch_norm({x}, None, None, m, v, {training}, 0.3, 0.1), m, v",
        )
    for weights in ("", ", fweights=xp.ones(2, dtype=xp.uint8)", ", aweights=xp.ones(2)"):
        yield "cov", f"xp.cov(xp.ones(2, dtype=xp.bool){weights})"
    for (x, count), correction, (often, weights) in product(_OBSERVED, (0, 1, 2), _WEIGHED):
        weighed = f"fweights={often.format(count)}, aweights={weights.format(count)}"
        yield "cov", f"x = {x}\ny = xp.cov(x, correction={correction}, {weighed})\n(x, y)"
    for dtype, bounds in product(("bool", "uint8"), ("0, 1, 1e-3", "0, 0, 0.5", "1, 0, -0.5")):
        yield "arange", f"xp.arange({bounds}, dtype=xp.{dtype}, device='meta')"
    for depth, device in product((3, 5), ("cpu", "meta")):
        grad, x = (f"xp.ones(1, 2, {size}, 3, 3, device='{device}')" for size in (depth, 3))
        for padding in ("[0, 0, 0, 0, -2, 3]", "[0, 0, 0, 0, 3, 0]"):
            call = f"reflection_pad3d_backward({grad}, {x}, {padding})"
            yield named(call), f"xp.ops.aten.{call}.shape"
    for kind, rank, dims in product(("reflection", "replication"), (1, 2, 3), range(7)):
        name = f"{kind}_pad{rank}d"
        for size, device in product((2, 3), ("cpu", "meta")):
            x = f"xp.ones({[size] * dims}, device='{device}')"
            yield name, f"xp.ops.aten.{name}({x}, {[0, 0] * rank})"
            yield name, f"xp.ops.aten.{name}({x}, {[1, -1] * rank}).shape"
            yield name, f"xp.ops.aten.{name}({x}, {[0, -size] * rank}).shape"
            if kind == "replication":
                yield name, f"xp.ops.aten.{name}({x}, [1])"
    yield from _on_meta()


def _on_meta() -> Iterator[Text]:
    for call, dtype, r in product(_PYTHONS, ("bool", "int16", "float16"), (0, 1, 2)):
        if r and "{r}" not in call:
            continue
        x = f"xp.ones(2, dtype=xp.{dtype}, device='meta')"
        yield named(call), f"xp.ops.aten.{call.format(x=x, r=r)}"
    for call, dtype, other in product(_PYTHONS_OUT, ("int16", "float16"), ("bool", "float64")):
        x = f"xp.ones(2, dtype=xp.{dtype}, device='meta')"
        o = f"xp.zeros(0, dtype=xp.{other}, device='meta')"
        yield named(call), f"xp.ops.aten.{call.format(x=x, o=o)}"


def _filled(calls: Sequence[str]) -> Iterator[str]:
    """Calls with every text for each of their places."""
    for call in calls:
        places = [filling for filling in _FILLINGS if filling[0] in call]
        for texts_ in product(*(filling[1:] for filling in places)):
            found = call
            for (place, *_), text in zip(places, texts_, strict=True):
                found = found.replace(place, text)
            yield found


def named(call: str) -> str:
    return call.split("(")[0].split(".")[-1 if call.startswith("xp") else 0]
