"""Margin losses, dropout of channels, and norms of instances and vectors for the area core-ops.

What torch's own samples leave out: sizes that do not fit, dtypes that are refused, outputs of
other shapes, second gradients, memory formats, and the modules of all these.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from conformance.area import Text
from conformance.cases.pairwise import pairwise

_DEVICES: Final = ("cpu", "meta")
_REDUCTIONS: Final = ("0", "1", "2", "5")
_LAYOUTS: Final = (
    *("", ".to(memory_format=xp.channels_last)", ".transpose(2, 3)", "[:, :, :0]", "[:0]"),
)
_OUTPUTS: Final = ("xp.empty(0)", "xp.empty(5)", "xp.empty(4)[::2]", "xp.empty(2).double()")
_LABELS: Final = ("[0, 3, 1]", "[-2, 0, 1]", "[1, -1, 5]", "[1, 1, 2]", "[-1, 1, 2]")
_TRIPLETS: Final = ("(4, 3)", "(1, 3)", "(3,)", "(4, 1)")


def _made(shape: str, device: str = "cpu", dtype: str = "float32") -> str:
    count = f"xp.ones({shape}).numel()"
    numbers = f"((xp.arange({count}, device='{device}') * 7 % 23) * 0.37 - 3.1)"
    made = f"{numbers}.reshape({shape})"
    return made if dtype == "float32" else f"{made}.to(xp.{dtype})"


def _labels(shape: str, device: str, classes: int = 3, dtype: str = "int64") -> str:
    count = f"xp.ones({shape}).numel()"
    labels = f"(xp.arange({count}, device='{device}') * 7 % {classes}).reshape({shape})"
    return labels if dtype == "int64" else f"{labels}.to(xp.{dtype})"


def texts() -> Iterator[Text]:
    yield from _one_label()
    yield from _several_labels()
    yield from _soft_margins()
    yield from _outputs()
    yield from _distances()
    yield from _variances()
    yield from _dropouts()
    yield from _norms()
    yield from _shuffles()
    yield from _random_slopes()
    yield from _modules()


# --- losses -----------------------------------------------------------------------------------


def _one_label() -> Iterator[Text]:
    targets = ("(4,)", "(1,)", "()", "(3,)", "(4, 1)")
    weights = ("None", "(3,)", "(4,)", "(3, 1)")
    dtypes = ("float32", "bfloat16", "int64")
    pools = (("(4, 3)", "(3,)", "(2, 2, 3)"), targets, weights, _REDUCTIONS, _DEVICES, dtypes)
    for shape, target, weight, reduction, device, dtype in pairwise(*pools):
        given = weight if weight == "None" else _made(weight, device, dtype)
        arguments = f"{_made(shape, device, dtype)}, {_labels(target, device)}, 2, 0.7, {given}"
        yield "multi_margin_loss", f"xp._C._nn.multi_margin_loss({arguments}, {reduction})"
    for arguments in ("1.5", "3", "1, 2j", "1, 1, xp.ones(3).double()"):
        loss = f"xp._C._nn.multi_margin_loss(xp.ones(2, 3), xp.tensor([0, 1]), {arguments})"
        yield "multi_margin_loss", loss


def _several_labels() -> Iterator[Text]:
    for shape, target, device in product(("(2, 3)", "(3,)", "()"), ("(2, 3)", "(1,)"), _DEVICES):
        arguments = f"{_made(shape, device)}, {_labels(target, device)}, 0"
        yield (
            "multilabel_margin_loss_forward",
            f"xp.ops.aten.multilabel_margin_loss_forward({arguments})",
        )
    for labels in _LABELS:
        yield (
            "multilabel_margin_loss",
            f"x = {_made('(3,)')}.requires_grad_()\n"
            f"y = xp.nn.functional.multilabel_margin_loss(x, xp.tensor({labels}))\n"
            "y.backward()\n(y, x.grad)",
        )
    for grad, is_target in (
        ("xp.ones(2)", "[[1., 1, 0], [0, 0, 1]]"),
        ("xp.ones(2)", "[[1., 2, 0], [0, 0, 1]]"),
        ("xp.ones(2)", "[[1., 1, 0]]"),
        ("xp.ones(3)", "[[1., 1, 0], [0, 0, 1]]"),
    ):
        labels = "xp.tensor([[0, 1, -1], [2, -1, 0]])"
        yield (
            "multilabel_margin_loss_backward",
            f"xp.ops.aten.multilabel_margin_loss_backward({grad}, {_made('(2, 3)')}, {labels}, 0, "
            f"xp.tensor({is_target}))",
        )


def _soft_margins() -> Iterator[Text]:
    pools = (("float64", "float16", "complex64"), ("int64", "bool", "float64"), ("0", "1"))
    for dtype, other, reduction in pairwise(*pools):
        yield (
            "soft_margin_loss",
            f"x = {_made('(2, 3)', dtype=dtype)}.requires_grad_()\n"
            f"y = xp._C._nn.soft_margin_loss(x, {_labels('(2, 3)', 'cpu', 3, other)}, {reduction})"
            "\ng, = xp.autograd.grad(y.sum(), x, create_graph=True)\ng.sum().backward()\n"
            "(y, g, x.grad)",
        )


def _outputs() -> Iterator[Text]:
    for output, reduction in product(_OUTPUTS, ("0", "1")):
        for loss in (
            "multi_margin_loss(xp.ones(2, 3), xp.tensor([0, 1])",
            "multilabel_margin_loss(xp.ones(2, 3), xp.tensor([[0, 1, -1], [2, -1, 0]])",
            "soft_margin_loss(xp.ones(2), xp.ones(2)",
        ):
            call = f"xp._C._nn.{loss}, reduction={reduction}, out=y)"
            yield loss.partition("(")[0], f"y = {output}\n{call}\ny"


def _distances() -> Iterator[Text]:
    pools = (_TRIPLETS, _TRIPLETS, _TRIPLETS, ("True", "False"), _DEVICES)
    for one, two, three, swap, device in pairwise(*pools):
        triplet = ", ".join(_made(each, device) for each in (one, two, three))
        options = f"swap={swap}, margin=2.5, reduction='none'"
        for name in ("triplet_margin_loss", "triplet_margin_with_distance_loss"):
            yield name, f"xp.nn.functional.{name}({triplet}, {options})"
    pairs = (("(4, 3)", "(3,)", "(4, 3, 2)"), ("(4, 3)", "(3,)"))
    for one, two, target in product(*pairs, ("(4,)", "()", "(4, 1)")):
        arguments = ", ".join(_made(each, dtype="float64") for each in (one, two, target))
        loss = f"xp.nn.functional.cosine_embedding_loss({arguments}.sign(), 0.2, reduction='none')"
        yield "cosine_embedding_loss", loss


def _variances() -> Iterator[Text]:
    function = "xp.nn.functional.gaussian_nll_loss"
    for input, var in product(("(2, 3)", "()"), ("(2,)", "(2, 1)", "(1, 3)", "(1,)", "()")):
        arguments = f"{_made(input)}, {_made('(3,)')}, {_made(var)}.abs()"
        yield "gaussian_nll_loss", f"{function}({arguments}, True, reduction='none')"
    for var in ("1.0", "-1.0", "2", "-xp.ones(3)"):
        yield "gaussian_nll_loss", f"{function}(xp.ones(3), xp.zeros(3), {var})"
    yield (
        "gaussian_nll_loss",
        "v = xp.tensor([1e-9, 2.0]).requires_grad_()\n"
        f"y = {function}(xp.ones(2), xp.zeros(2), v)\ny.backward()\n(y, v.grad)",
    )


# --- dropout and norms ------------------------------------------------------------------------


def _dropouts() -> Iterator[Text]:
    names = ("alpha_dropout", "feature_alpha_dropout", "dropout1d", "dropout2d", "dropout3d")
    shapes = ("(2, 3)", "(2, 3, 4)", "(2, 3, 2, 2)", "(2, 3, 1, 2, 2)", "(3,)")
    for name, shape, in_place in pairwise(names, shapes, ("True", "False")):
        yield (
            name,
            f"xp.manual_seed(3)\nx = {_made(shape)}.requires_grad_()\n"
            f"y = xp.nn.functional.{name}(x * 1, 0.4, True, {in_place})\n"
            "y.sum().backward()\n(y, x.grad)",
        )
    for name in names:
        yield name, f"xp.nn.functional.{name}(xp.ones(2, 3, 4), 1.5)"


def _norms() -> Iterator[Text]:
    function = "xp.nn.functional."
    pools = (
        ("(2, 3, 4)", "(2, 3, 1)", "(2, 3)", "(0, 3, 2)", "(2, 0, 2)"),
        ("None", "xp.ones(3)", "xp.ones(2)"),
        ("None", "xp.ones(3)"),
        ("True", "False"),
    )
    for shape, weight, mean, learns in pairwise(*pools):
        made = f"{function}instance_norm({_made(shape)}, m, v, {weight}, None, {learns}, 0.3)"
        yield "instance_norm", f"m, v = {mean}, {mean}\ny = {made}\n(y, m, v)"
    normalized = ("(3,)", "(2, 3)", "(0, 3)", "()", "(1, 3, 4, 2, 3)")
    for layout, dims, device in pairwise(_LAYOUTS, normalized, _DEVICES):
        x = f"({_made('(3, 4, 2, 3)', device)}){layout}"
        yield "rms_norm", f"{function}rms_norm({x}, {dims})"
    for layout in _LAYOUTS:
        x = f"({_made('(3, 4, 2, 3)')}){layout}"
        yield "normalize", f"{function}normalize({x}, 1, -1)"
    for dtype, weight in product(("bfloat16", "complex64", "int64"), ("float32", "float64")):
        x, learned = _made("(2, 4)", dtype=dtype), _made("(4,)", dtype=weight)
        yield "rms_norm", f"{function}rms_norm({x}, (4,), {learned}, 0.001)"
    for shape in ("(3, 4)", "(2, 4, 3)", "(2, 4, 0)"):
        yield (
            "local_response_norm",
            f"{function}local_response_norm({_made(shape)}, 3, 0.1, 0.5, 2)",
        )


# --- channels and slopes ----------------------------------------------------------------------


def _shuffles() -> Iterator[Text]:
    pools = (_LAYOUTS, ("1", "2", "3", "4", "0", "-1"), _DEVICES)
    for layout, groups, device in pairwise(*pools):
        x = f"({_made('(3, 4, 2, 3)', device)}){layout}"
        yield "channel_shuffle", f"xp.channel_shuffle({x}, {groups})"
    for shape, device in product(("(2, 4)", "(4,)", "(1, 0, 2)", "(2, 4, 3)"), _DEVICES):
        for name in ("channel_shuffle", "native_channel_shuffle"):
            yield name, f"xp.{name}({_made(shape, device)}, 2)"


def _random_slopes() -> Iterator[Text]:
    for dtype, training, in_place in product(
        ("float64", "bfloat16", "float16", "int64"), ("True", "False"), ("True", "False")
    ):
        yield (
            "rrelu",
            f"xp.manual_seed(1)\nx = {_made('(2, 3)', dtype=dtype)}\n"
            f"(xp.nn.functional.rrelu(x, 0.1, 0.3, {training}, {in_place}), x)",
        )
    pools = (("", "_"), ("(2, 3)", "(3, 2)"), ("float32", "float64"), ("True", "False"), _DEVICES)
    for form, sizes, dtype, training, device in pairwise(*pools):
        noise = f"xp.zeros({sizes}, device='{device}', dtype=xp.{dtype})"
        arguments = f"{_made('(2, 3)', device)}, n, 0.1, 0.3, {training}"
        call = f"xp.ops.aten.rrelu_with_noise{form}({arguments})"
        yield f"rrelu_with_noise{form}", f"xp.manual_seed(1)\nn = {noise}\ny = {call}\n(y, n)"
    for bounds in ("1, 2", "2, 1", "0, xp.inf", "xp.nan, 1", "0, 1j"):
        yield "rrelu", f"xp.rrelu(xp.tensor([-1.0, 1.0]), {bounds})"


# --- modules ----------------------------------------------------------------------------------

_MADE: Final = (
    *("SoftMarginLoss()", "MultiMarginLoss(2, 0.5)", "MultiMarginLoss(3)"),
    *("MultiMarginLoss(weight=xp.ones(1, 3))", "MultiLabelMarginLoss(reduction='sum')"),
    *("MultiLabelSoftMarginLoss(xp.ones(3))", "CosineEmbeddingLoss(0.5, False)"),
    *("TripletMarginLoss(0)", "TripletMarginWithDistanceLoss(margin=-1)", "GaussianNLLLoss()"),
    *("TripletMarginWithDistanceLoss()", "Dropout2d(2)", "AlphaDropout(0.1, True)"),
    *("FeatureAlphaDropout()", "RReLU()", "RReLU(0, 1, True)", "InstanceNorm1d(3)"),
    *("InstanceNorm2d(3, affine=True)", "InstanceNorm3d(2, track_running_stats=True)"),
    *("InstanceNorm1d(3, bias=False)", "RMSNorm(4)", "RMSNorm((2, 4), 1e-3, False)"),
    *("LocalResponseNorm(2)", "ChannelShuffle(2)", "PairwiseDistance(1.0)"),
)
_CALLED: Final = (
    ("SoftMarginLoss()", "xp.ones(2), xp.ones(2)"),
    ("MultiMarginLoss(weight=xp.ones(3))", "xp.ones(2, 3), xp.tensor([0, 1])"),
    ("MultiLabelMarginLoss()", "xp.ones(3), xp.tensor([0, -1, 1])"),
    ("MultiLabelSoftMarginLoss()", "xp.ones(2, 3), xp.ones(2, 3)"),
    ("CosineEmbeddingLoss()", "xp.ones(2, 3), xp.ones(2, 3), xp.ones(2)"),
    ("TripletMarginLoss(swap=True)", "xp.ones(2, 3), xp.zeros(2, 3), xp.ones(2, 3)"),
    ("TripletMarginWithDistanceLoss()", "xp.ones(2, 3), xp.zeros(2, 3), xp.ones(2, 3)"),
    ("GaussianNLLLoss(full=True)", "xp.ones(2, 3), xp.zeros(2, 3), xp.ones(2, 1)"),
    ("Dropout1d()", "xp.ones(2, 3)"),
    ("Dropout2d()", "xp.ones(2, 3)"),
    ("Dropout3d()", "xp.ones(2, 3)"),
    ("AlphaDropout()", "xp.ones(2, 3)"),
    ("FeatureAlphaDropout()", "xp.ones(2, 3, 2)"),
    ("RReLU()", "-xp.ones(2, 3)"),
    ("InstanceNorm1d(3)", "xp.arange(6.).view(2, 3)"),
    ("InstanceNorm1d(3, affine=True)", "xp.arange(6.).view(3, 2)"),
    ("InstanceNorm2d(2, track_running_stats=True)", "xp.arange(8.).view(1, 2, 2, 2)"),
    ("InstanceNorm2d(2, momentum=None, track_running_stats=True)", "xp.ones(1, 2, 1, 2)"),
    ("InstanceNorm3d(2)", "xp.ones(2, 2)"),
    ("RMSNorm(4)", "xp.arange(8.).view(2, 4)"),
    ("LocalResponseNorm(2)", "xp.ones(1, 2, 3)"),
    ("ChannelShuffle(2)", "xp.arange(8).view(1, 4, 2)"),
    ("PairwiseDistance(keepdim=True)", "xp.ones(2, 3), xp.zeros(2, 3)"),
)


def _modules() -> Iterator[Text]:
    for made in _MADE:
        yield made.partition("(")[0], f"m = xp.nn.{made}\n(repr(m), m.state_dict())"
    for made, arguments in _CALLED:
        is_trained = made.startswith(("Dropout", "RReLU", "Instance"))
        for mode in ("", ".train(False)") if is_trained else ("",):
            call = f"xp.manual_seed(2)\nm = xp.nn.{made}{mode}\n(m({arguments}), m.state_dict())"
            yield made.partition("(")[0], call
    yield (
        "InstanceNorm1d",
        "xp.nn.InstanceNorm1d(3).load_state_dict({'running_mean': xp.ones(3)})",
    )
