"""Operators given ranks, sizes and numbers that their arithmetic has no use for.

What is looked at first, and what is not looked at at all: gradients called by themselves, inner
operators whose caller has checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from conformance.area import Text

_PLACES: Final = "xp.tensor([0, 1, 1])"
_X: Final = ("xp.tensor(2.)", "xp.ones(2)", "xp.ones(3, 3)", "xp.ones(1, 2, 3)", "xp.tensor(2)")
_OF_ONE: Final = (
    *("linalg_tensorinv({x}, 1)", "linalg_tensorinv({x}, 2)", "linalg_tensorinv({x}, 4)"),
    *("_cholesky_solve_helper({x}, {x}, False)", "linalg_pinv({x}.long())"),
    *("linalg_ldl_factor({x})", "linalg_ldl_factor({x}, hermitian=True)"),
    *("linalg_cholesky_ex(-{x})", "linalg_cholesky_ex({x}.cumsum(-1))"),
    *("_linalg_check_errors({x}, 'f', is_matrix=True)", "_reshape_from_tensor(xp.ones(2), {x})"),
    *("_linalg_check_errors({x}.int(), 'f', is_matrix=False)", "_pdist_forward({x}, 1.)"),
    *("_fused_rms_norm({x}, [3], None, None)", "_fused_rms_norm({x}, [3, 3], xp.ones(3), 0.5)"),
    *("_fused_rms_norm({x}, [], None, None)", "_fused_rms_norm({x}, [2], xp.ones(2), 1e-5)"),
    "stft.center({x}, 1, align_to_window=False, window=xp.ones(1))",
)
#: Of tensors that are no matrices: what comes out is another number for whoever adds it up.
_OF_VECTORS: Final = (
    *("linalg_pinv({x})", "linalg_pinv({x}, hermitian=True)"),
    *("_pdist_backward({x}, xp.ones(1, 2, 3), 1., xp.ones(2))",),
    "reflection_pad2d_backward({x}, {x}, [1, 1])",
)
_OF_TWO: Final = (
    *("linalg_tensorsolve({x}, {y})", "linalg_tensorsolve({x}, {y}, [0])"),
    *("bilinear({x}, {x}, {y})", "bilinear({x}, {y}, {x}, {y})"),
    *("_pdist_backward({x}, xp.ones(2), 1., {y})", "_pdist_backward({x}, {y}, 0., {x})"),
    *("_trilinear({x}, {y}, {x}, [], [], [], [0])", "_trilinear({x}, {y}, {x}, [1], [0], [], [0])"),
    "fractional_max_pool2d_backward({x}, {y}, [2, 2], [1, 2], xp.zeros(0, 3))",
    "fractional_max_pool3d_backward({x}, {y}, [2, 2, 2], [1, 2, 1], xp.zeros(0, 3))",
)
_META: Final = tuple(
    f"xp.ones({sizes}, device='meta')" for sizes in ("()", "3", "(2, 3)", "(2, 3, 3)")
)
_ON_META: Final = (
    *(
        "_cholesky_solve_helper({x}, xp.ones(3, 3, device='meta'), True)",
        "_stack.out([{x}], out={x})",
    ),
    *("grid_sampler({x}, {x}, 0, 0, False)", "grid_sampler_3d({x}, {y}, 0, 0, False)"),
    *("_euclidean_dist({x}, {y})", "_euclidean_dist({x}.long(), {y}.int())", "_stack([{x}, {y}])"),
    *("soft_margin_loss_backward({x}, {y}, {y}, 1)", "soft_margin_loss_backward({y}, {x}, {x}, 1)"),
    "_scaled_dot_product_flash_attention_for_cpu_backward({x}, {y}, {x}, {x}, {x}, {x}, 0., False)",
    "_scaled_dot_product_flash_attention_for_cpu_backward({x}, {x}, {y}, {y}, {y}, {y}, 0., False)",
    "_adaptive_avg_pool3d_backward.out({x}, {y}, out={x})",
    "_embedding_bag_per_sample_weights_backward({x}, {y}, {i}, {i}, {i}, 0)",
    "_embedding_bag_per_sample_weights_backward({x}, {y}, {i}, {i}, {i}, 1)",
    "upsample_nearest1d.out({x}, [3, 4], out={y})",
)
_BAGS: Final = (
    *("xp.ones(3), xp.ones(3, 3), {p}, {p}, {p}, 0", "xp.ones(3, 3), xp.ones(3), {p}, {p}, {p}, 0"),
    "xp.ones(3, 3), xp.ones(3, 4), {p}, {p}, {p}, 0",
    "xp.ones(3, 3), xp.ones(3, 3), {p}[None], {p}, {p}, 0",
    "xp.ones(3, 3), xp.ones(3, 3), {p}, {p}, {p}, 1",
    "xp.ones(3, 3).long(), xp.ones(3, 3), {p}, {p}, {p}, 1",
)
_MODES: Final = ("0, None", "1, xp.ones(3)", "3, None", "5, xp.ones(3)")
_BETAS: Final = ("0.5", "1.0", "0.1", "float('nan')")
_DTYPES: Final = ("float32", "float64", "bfloat16", "int64", "uint8")
_POWERS: Final = ("float('nan')", "1", "2**40", "2.5", "True")


_LEFT: Final = ("cholesky", "eig", "lstsq", "matrix_rank", "qr", "solve", "symeig")
"""What has left torch, or did with 2.14; a function says so, and so does a method."""


def _of_what_has_left() -> Iterator[Text]:
    for name in _LEFT:
        for given in ("", "xp.eye(2)", "xp.eye(2), xp.eye(2)", "xp.eye(2), nosuch=1"):
            if (name, given) != ("qr", "xp.eye(2)"):  # whose zeros have LAPACK's signs
                yield "removed", f"xp.{name}({given})"
        for given in ("", "xp.eye(2)", "nosuch=1"):
            if (name, given) != ("qr", ""):
                yield "removed", f"xp.eye(2).{name}({given})"
    for norm in ("3", "-7.5", "'x'", "1j", "True"):
        yield "linalg_cond", f"xp.linalg.cond(xp.eye(2), {norm})"


_OF_A_SIGNED_NAN: Final = (
    *("xp.arange({nan}, 1.)", "xp.ones(2).bernoulli_({nan})", "xp.ones(2).uniform_({nan}, 1.)"),
    *("xp.ones(2).normal_(0., {nan})", "xp.ones(2).exponential_({nan})"),
    *("xp.ones(2).geometric_({nan})", "xp.ones(2).cauchy_(0., {nan})"),
    *("xp.dropout(xp.ones(2), {nan}, True)", "xp.renorm(xp.ones(2, 2), 2, 0, {nan})"),
    *("xp.linalg.cond(xp.eye(2), {nan})", "xp.linalg.matrix_norm(xp.eye(2), {nan})"),
    *("xp.quantile(xp.ones(3), {nan})", "xp.nn.functional.softshrink(xp.ones(2), {nan})"),
    *("xp.isclose(xp.ones(2), xp.ones(2), rtol={nan})", "xp.histc(xp.tensor([1., {nan}]), 3)"),
    "xp.pairwise_distance(xp.ones(2, 2), xp.ones(2, 2), eps={nan})",
    "xp.nn.functional.cross_entropy(xp.ones(2, 2), xp.zeros(2).long(), label_smoothing={nan})",
    *("xp.histogram(xp.tensor([1., {nan}, {other}]), 3)", "xp.histc(xp.tensor([{nan}]), 3)"),
    *("xp.histogram(xp.tensor([{nan}, 1.]), 3)", "xp.tensor([1., {nan}]).min().signbit()"),
    *("xp.tensor([{nan}, 1.]).double().max().signbit()", "xp.tensor([{nan}]).max().signbit()"),
    *("xp.tensor([1., {nan}]).half().aminmax()[1].signbit()",),
    *("xp.tensor([1., {nan}]).bfloat16().aminmax()[0].signbit()",),
    *("xp.histogram(xp.ones(3), 3, range=(0., {nan}))", "xp.histc(xp.ones(3), 3, {nan}, 1.)"),
    "xp.aminmax(xp.tensor([[{nan}, 1.], [{other}, 2.]]), dim=1)[0].signbit()",
)


def _of_nan() -> Iterator[Text]:
    """C++ shows the sign of a NaN, and comparisons with one say whichever way they are asked."""
    for nan, other in (("float('nan')", "-float('nan')"), ("-float('nan')", "float('nan')")):
        for text in _OF_A_SIGNED_NAN:
            yield "signed NaN", text.format(nan=nan, other=other)


_PIVOTS: Final = (
    *(("4, 1", "1, 2, 4, 4"), ("4, 1", "4, 3"), ("1, 4", "1, 1"), ("2, 2", "2, 2, 2")),
    *(("3, 3", "2, 3, 3, 1"), ("2, 4", "2, 2, 7"), ("3, 3", "2, 4, 3, 1"), ("0, 2", "1, 1")),
)


def _of_more_pivots() -> Iterator[Text]:
    """Those behind the last row or column nobody reads."""
    for sizes, pivots in _PIVOTS:
        yield (
            "lu_unpack",
            (
                f"xp.lu_unpack(xp.arange(xp.ones({sizes}).numel()).view({sizes}).float(), "
                f"xp.tensor([{pivots}], dtype=xp.int32))"
            ),
        )


def texts() -> Iterator[Text]:
    yield from _of_what_has_left()
    yield from _of_more_pivots()
    yield from _of_nan()
    for call, x in product(_OF_ONE, _X):
        yield "misfits", "xp.ops.aten." + call.format(x=x)
    for call, x in product(_OF_VECTORS, _X[:2]):
        yield "misfits", "xp.ops.aten." + call.format(x=x)
    for call, x, y in product(_OF_TWO, _X, _X):
        yield "misfits", "xp.ops.aten." + call.format(x=x, y=y)
    for call, x, y in product(_ON_META, _META, _META):
        yield "misfits on meta", "xp.ops.aten." + call.format(x=x, y=y, i=f"{_PLACES}.to('meta')")
    for x, dim, eps in product(("xp.ones(3)", _META[2]), (0, 1), ("-1.5", "-0.0", "float('nan')")):
        for y in (x, f"{x}.long()"):
            yield "misfits", f"xp.ops.aten.cosine_similarity({x}, {y}, {dim}, {eps})"
    for dims, onesided in product(("[0, 0]", "[-1, 1]", "[5]", "[]", "[0, 1]"), (True, False)):
        spectrum = f"xp.ops.aten._fft_r2c({_META[2]}, {dims}, 1, {onesided})"
        yield "misfits on meta", spectrum
    yield from _of_bags()
    yield from _of_losses()


def _of_bags() -> Iterator[Text]:
    for arguments in _BAGS:
        call = "xp.ops.aten._embedding_bag_per_sample_weights_backward"
        yield "gradients of bags", f"{call}({arguments.format(p=_PLACES)})"
    for mode in _MODES:
        call = "xp.ops.aten._embedding_bag_dense_backward"
        places = ", ".join([_PLACES] * 4)
        yield "gradients of bags", f"{call}(xp.ones(3, 3), {places}, 4, False, {mode})"


def _of_losses() -> Iterator[Text]:
    for beta, dtype, size in product(_BETAS, _DTYPES, (3, 40)):
        if size > 3 and "int" in dtype and beta != "1.0":
            continue  # divides by nought
        numbers = f"xp.arange({size}).to(xp.{dtype}).fmod(7)"
        other = f"xp.arange({size}).to(xp.{dtype}).fmod(4)"
        call = f"xp.ops.aten.smooth_l1_loss_backward({other}, {numbers}, {other}, 0, {beta})"
        yield "numbers of losses", call
    for power in _POWERS:
        target = "xp.tensor([0, 1, 2])"
        yield (
            "numbers of losses",
            f"xp.ops.aten.multi_margin_loss(xp.ones(3, 3), {target}, {power})",
        )
    for target in ("[1.+2j, 0]", "[1., float('nan')]", "[True, False]", "[7., 0.]", "[-2, 0]"):
        call = "xp.ops.aten.multilabel_margin_loss_forward"
        yield "numbers of losses", f"{call}(xp.tensor([1., 2.]), xp.tensor({target}), 0)"
