"""Operators of neural networks for the area core-ops.

Each on values of every dtype, in shapes that fit and that do not, with wrong arguments, with
``out=``, and on meta as on the CPU.

Not here: softmax and differences of halves, which a vector unit rounds step by step and about which
a warning is given once in a process; convolutions of halves, which another library computes if the
machine has the instructions for it.  Not here yet: what the functions of Python that are kernels on
meta say of images of labels and dimensions of softmax that do not fit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final

from conformance.area import Text

DEVICES: Final = ("cpu", "meta")
_DTYPES: Final = (
    *("float32", "float64", "float16", "bfloat16", "int64", "int32", "uint8", "bool"),
    *("complex64", "float8_e5m2"),
)
_FLOATS: Final = ("float32", "float64")
_SHAPES: Final = ("()", "(3,)", "(2, 3)", "(0, 3)", "(3, 0)", "(2, 1, 3)", "(1, 2, 3, 2)")
_ROWS: Final = "xp.tensor([[0.5, -1.0, 2.0], [1.5, 0.25, -0.5]], dtype=xp.{0}, device='{1}')"
_LABELS: Final = "xp.tensor([2, 0], device='{0}')"


def _whole(dtypes: Sequence[str]) -> list[str]:
    """Those that are no halves."""
    return [name for name in dtypes if name not in ("float16", "bfloat16")]


def _made(shape: str, device: str, dtype: str = "float32") -> str:
    """Numbers that count up from one, in a shape."""
    count = f"xp.ones({shape}, device='{device}').numel()"
    made = f"(xp.arange({count}, device='{device}').add(1) * 0.37).view({shape})"
    return made if dtype == "float32" else f"{made}.to(xp.{dtype})"


def texts(dtypes: Sequence[str]) -> Iterator[Text]:
    known = [name for name in _DTYPES if name in dtypes]
    yield from _softmax(known)
    yield from _layer_norm(known)
    yield from _embedding(known)
    yield from _losses(known)
    yield from _convolutions(known)
    yield from _pooling(known)
    yield from _linear(known)
    yield from _dropout(known)


# --- softmax ----------------------------------------------------------------------------------


def _softmax(dtypes: Sequence[str]) -> Iterator[Text]:
    for name, device in product(("softmax", "log_softmax"), DEVICES):
        for shape, dim in product(_SHAPES, ("0", "1", "-1", "2", "-3")):
            if device == "meta" and (dim not in ("0", "-1") and len(shape) < 7):
                continue
            yield name, f"xp.{name}({_made(shape, device)}, {dim})"
        for dtype, dim in product(_whole(dtypes), ("0", "1")):
            rows = _ROWS.format(dtype, device)
            if device == "meta" and dtype == "bool":
                continue
            yield name, f"xp.{name}({rows}, {dim})"
            yield name, f"xp.{name}({rows}, {dim}, dtype=xp.float64)"
            yield name, f"xp.ops.aten._{name}({rows}, {dim}, False)"
        for dtype in _whole(dtypes):
            rows = _ROWS.format("float32", device)
            if device == "meta" and dtype == "bool":
                continue
            yield name, f"{rows}.{name}(-1, dtype=xp.{dtype})"
            out = f"xp.zeros(2, 3, dtype=xp.{dtype}, device='{device}')"
            if device == "cpu":
                yield name, f"o = {out}\nxp.ops.aten._{name}({rows}, 1, False, out=o)\no"
        for view in ("t()", "unsqueeze(0)", "expand(2, 2, 3)", "select(0, 1)"):
            rows = _ROWS.format("float32", device)
            yield name, f"xp.{name}({rows}.{view}, 0)"
        for call in ("xp.{0}({1})", "xp.{0}({1}, [])", "xp.{0}({1}, 0, 1)", "{1}.{0}(0.5)"):
            yield name, call.format(name, _ROWS.format("float32", device))
        if device == "cpu":
            yield name, f"xp.ops.aten._{name}({_ROWS.format('float32', device)}, 1, True)"
            yield name, f"xp.{name}(xp.tensor([float('inf'), 1.0]), 0)"
            yield name, f"xp.{name}(xp.tensor([float('-inf'), 1.0, float('-inf')]), 0)"
            yield name, f"xp.{name}(xp.tensor([float('nan'), 1.0]), 0)"
        for dtype, dim in product(_whole(dtypes), ("0", "1", "-2")):
            grad = _made("(2, 3)", device, dtype)
            output = _ROWS.format(dtype, device)
            call = f"xp.ops.aten._{name}_backward_data({grad}, {output}, {dim}, xp.{dtype})"
            if device == "cpu":
                yield name, call


# --- layer_norm -------------------------------------------------------------------------------

_NORMALIZED: Final = ("(3,)", "(2, 3)", "(2,)", "()", "(4,)", "3", "(1, 2, 3)")


def _layer_norm(dtypes: Sequence[str]) -> Iterator[Text]:
    name = "layer_norm"
    for device in DEVICES:
        rows = _ROWS.format("float32", device)
        for shape, normalized in product(_SHAPES, _NORMALIZED):
            yield name, f"xp.{name}({_made(shape, device)} ** 2, {normalized})"
        for weight, bias in product(("None", "(3,)", "(2,)", "(2, 3)"), repeat=2):
            parameters = [
                each if each == "None" else f"({_made(each, device)} * 9)"
                for each in (weight, bias)
            ]
            yield name, f"xp.{name}({rows}, (3,), {', '.join(parameters)})"
            yield name, f"xp.native_{name}({rows}, (3,), {', '.join(parameters)}, 1e-5)"
        for eps in ("0", "1", "-1", "'x'", "1e-12"):
            yield name, f"xp.{name}({rows}, (3,), eps={eps})"
        for view in ("t().contiguous().t()", "expand(2, 2, 3)", "unsqueeze(1)"):
            yield name, f"xp.{name}({rows}.{view}, (3,))"
        if device == "meta":
            continue
        for dtype in dtypes:
            one = _ROWS.format(dtype, device)
            yield name, f"xp.{name}({one}, (3,))"
            yield name, f"xp.{name}({rows}, (3,), {_made('(3,)', device, dtype)})"
        for dtype, mask in product(_FLOATS, ("True, True, True", "True, False, False")):
            one = _ROWS.format(dtype, device)
            yield (
                name,
                (
                    f"x = {one}\nw = {_made('(3,)', device, dtype)}\n"
                    "y, m, r = xp.native_layer_norm(x, (3,), w, w, 1e-5)\n"
                    f"xp.ops.aten.native_layer_norm_backward(x * x, x, (3,), m, r, w, w, [{mask}])"
                ),
            )

    yield from _layer_norms_of_few()


def _layer_norms_of_few() -> Iterator[Text]:
    """Without rows, or without elements in a row, and of parameters of another dtype."""
    sizes = (((0, 3), 3), ((2, 0), 0), ((0, 0), 0), ((2, 3), 3))
    kinds = ("int64", "bfloat16", "float32")
    for ((rows, width), each), kind, device in product(sizes, kinds, ("cpu", "meta")):
        x = f"x = xp.ones(({rows}, {width}), dtype=xp.{kind}, device='{device}')"
        yield "layer_norm", f"{x}\nxp.layer_norm(x, ({each},))"
        for learned, moment in product(kinds, sorted({kind, "float32"})):
            w = f"w = xp.ones({each}, dtype=xp.{learned}, device='{device}')"
            m = f"m = xp.ones(({rows}, 1), dtype=xp.{moment}, device='{device}')"
            call = (
                f"xp.ops.aten.native_layer_norm_backward(x, x, ({each},), m, m, w, w, [True] * 3)"
            )
            yield "layer_norm", f"{x}\n{w}\n{m}\n{call}"


# --- embedding --------------------------------------------------------------------------------

_INDICES: Final = ("[0, 2, 1]", "[[0, 2], [1, 1]]", "0", "[]", "[[]]", "[True]", "[0.5]")


def _embedding(dtypes: Sequence[str]) -> Iterator[Text]:
    name = "embedding"
    for device in DEVICES:
        table = _made("(3, 2)", device)
        for indices in _INDICES:
            made = f"xp.tensor({indices}, device='{device}')"
            cast = "" if "." in indices or "T" in indices else ".long()"
            if device == "cpu" or cast:
                yield name, f"xp.{name}({table}, {made}{cast})"
        for shape in ("()", "(3,)", "(2, 3, 2)", "(3, 0)"):
            made = f"xp.tensor([0, 1], device='{device}')"
            yield name, f"xp.{name}({_made(shape, device)}, {made})"
        for dtype in dtypes:
            made = f"xp.tensor([0, 1], device='{device}')"
            yield name, f"xp.{name}({_made('(3, 2)', device, dtype)}, {made})"
            if device == "cpu":
                yield name, f"xp.{name}({table}, {made}.to(xp.{dtype}))"
        for padding, scaled in product(("-1", "0", "1", "5"), ("False", "True")):
            grads = _made("(2, 2, 2)", device)
            indices = f"xp.tensor([[0, 2], [1, 2]], device='{device}')"
            rest = f"3, {padding}, {scaled}"
            yield name, f"xp.ops.aten.embedding_dense_backward({grads}, {indices}, {rest})"
    for indices in ("[3]", "[-1]", "[0, 4]"):
        yield name, f"xp.{name}({_made('(3, 2)', 'cpu')}, xp.tensor({indices}))"
    for call in ("{}, [0]", "{}", "xp.tensor([0]), {}", "{}, xp.tensor([0]), 'x'"):
        yield name, f"xp.{name}({call.format(_made('(3, 2)', 'cpu'))})"


# --- losses -----------------------------------------------------------------------------------


def _losses(dtypes: Sequence[str]) -> Iterator[Text]:
    for device in DEVICES:
        yield from _differences(dtypes, device)
        yield from _likelihood(dtypes, device)
        yield from _cross_entropy(device)


def _differences(dtypes: Sequence[str], device: str) -> Iterator[Text]:
    for name, reduction in product(("mse_loss", "l1_loss"), range(3)):
        call = f"xp._C._nn.{name}"
        for one, two in product(("()", "(3,)", "(2, 3)", "(0, 3)", "(2,)"), repeat=2):
            pair = f"{_made(one, device)}, {_made(two, device)} * 2"
            yield name, f"{call}({pair}, {reduction})"
        for dtype in dtypes:
            one, two = _ROWS.format(dtype, device), _ROWS.format("float32", device)
            if device == "cpu" and dtype not in ("complex64", "float8_e5m2", "float16"):
                yield name, f"{call}({one}, {one}, {reduction})"
                yield name, f"{call}({one}, {two} * 2, {reduction})"
    for shape, reduction in product(("()", "(3,)", "(2, 3)", "(2,)"), range(3)):
        grad = _made("()" if reduction else shape, device)
        one = _made(shape, device)
        call = f"xp.ops.aten.mse_loss_backward({grad}, {one}, {one} * 2, {reduction})"
        yield "mse_loss_backward", call


def _likelihood(dtypes: Sequence[str], device: str) -> Iterator[Text]:
    rows, labels = _ROWS.format("float32", device), _LABELS.format(device)
    weights = ("None", _made("(3,)", device), _made("(2,)", device), _made("(1, 3)", device))
    for weight, reduction, ignored in product(weights, range(3), ("-100", "0", "2")):
        rest = f"{weight}, {reduction}, {ignored}"
        yield "nll_loss", f"xp._C._nn.nll_loss({rows}, {labels}, {rest})"
        yield "nll_loss", f"xp.ops.aten.nll_loss_forward({rows}, {labels}, {rest})"
    shapes = ("()", "(3,)", "(2, 3)", "(0, 3)", "(2, 3, 2)", "(2, 3, 1, 2)", "(2, 3, 0)")
    targets = ("()", "(2,)", "(0,)", "(2, 2)", "(2, 1, 2)", "(3,)", "(2, 0)")
    for one, two, name in product(shapes, targets, ("nll_loss", "nll_loss_nd", "nll_loss2d")):
        target = f"xp.ones({two}, device='{device}').long()"
        for reduction in range(2):
            if not (device == "meta" and (name != "nll_loss" or "0" in two)):
                yield name, f"xp._C._nn.{name}({_made(one, device)}, {target}, None, {reduction})"
    if device == "meta":
        return
    for dtype in dtypes:
        yield "nll_loss", f"xp._C._nn.nll_loss({_ROWS.format(dtype, device)}, {labels})"
        yield "nll_loss", f"xp._C._nn.nll_loss({rows}, {labels}.to(xp.{dtype}))"
        yield "nll_loss", f"xp._C._nn.nll_loss({rows}, {labels}, {_made('(3,)', 'cpu', dtype)})"
    for wrong in ("[3, 0]", "[-1, 0]", "[0, 7]"):
        yield "nll_loss", f"xp._C._nn.nll_loss({rows}, xp.tensor({wrong}))"
    for weight, reduction in product(weights[:2], range(3)):
        grad = _made("(2,)", device) if not reduction else _made("()", device)
        rest = f"{rows}, {labels}, {weight}, {reduction}, -100, {_made('()', device)}"
        yield "nll_loss_backward", f"xp.ops.aten.nll_loss_backward({grad}, {rest})"


def _cross_entropy(device: str) -> Iterator[Text]:
    rows, labels = _ROWS.format("float32", device), _LABELS.format(device)
    name = "cross_entropy_loss"
    weights = ("None", _made("(3,)", device), _made("(2,)", device))
    smoothings = ("0.0", "0.1", "1.0", "1.5")
    for weight, reduction, smoothing in product(weights, range(3), smoothings):
        for target in (labels, f"({rows} * 0.5)"):
            rest = f"{weight}, {reduction}, -100, {smoothing}"
            yield name, f"xp._C._nn.{name}({rows}, {target}, {rest})"
    for shape, target in product(("(3,)", "(2, 3)", "(2, 3, 2)"), ("()", "(2,)", "(2, 2)", "(3,)")):
        made = f"xp.ones({target}, device='{device}').long()"
        yield name, f"xp._C._nn.{name}({_made(shape, device)}, {made})"


# --- convolutions -----------------------------------------------------------------------------

_WINDOWS: Final = (
    *("", "stride=2", "padding=1", "dilation=2", "stride=(2, 1), padding=(0, 1)", "stride=0"),
    *("padding=-1", "dilation=0", "stride=(1, 2, 3)", "padding=3", "groups=0", "groups=2"),
)


def _convolutions(dtypes: Sequence[str]) -> Iterator[Text]:
    name = "conv2d"
    for device in DEVICES:
        image = _made("(2, 2, 5, 4)", device)
        for weight, window in product(("(2, 2, 2, 3)", "(4, 1, 3, 3)", "(3, 2, 6, 1)"), _WINDOWS):
            rest = f", {window}" if window else ""
            yield name, f"xp.{name}({image}, {_made(weight, device)}{rest})"
        for bias in ("(2,)", "(3,)", "(2, 1)", "()"):
            weight = _made("(2, 2, 2, 3)", device)
            yield name, f"xp.{name}({image}, {weight}, {_made(bias, device)})"
        shapes = ("(2, 4, 4)", "(2, 4)", "(1, 3, 4, 4)", "(0, 2, 4, 4)", "(1, 2, 2, 2)", "(1,) * 5")
        for shape in shapes:
            yield name, f"xp.{name}({_made(shape, device)}, {_made('(2, 2, 3, 3)', device)})"
        for weight in ("(2, 2, 3)", "(2, 2)", "(2, 3, 3, 3)"):
            yield name, f"xp.{name}({image}, {_made(weight, device)})"
        last = "contiguous(memory_format=xp.channels_last)"
        weight = _made("(2, 2, 3, 3)", device)
        yield name, f"xp.{name}({image}.{last}, {weight})"
        yield name, f"xp.{name}({image}, {weight}.{last})"
    for one, two in product(("float32", "float64", "int64", "bool", "uint8"), repeat=2):
        pair = f"{_made('(1, 1, 3, 3)', 'cpu', one)}, {_made('(1, 1, 2, 2)', 'cpu', two)}"
        yield name, f"xp.{name}({pair})"
    for mask, window in product(
        ("True, True, True", "True, False, False", "False, True, False"),
        ("[1, 1], [0, 0], [1, 1]", "[2, 1], [1, 0], [1, 1]", "[1, 1], [2, 2], [2, 2]"),
    ):
        operands = f"x = {_made('(2, 2, 5, 4)', 'cpu')}\nw = {_made('(2, 1, 2, 2)', 'cpu')}\n"
        made = f"y = xp.convolution(x, w, None, {window}, False, [0, 0], 2)\n"
        call = f"xp.ops.aten.convolution_backward(y, x, w, [2], {window}, False, [0, 0], 2"
        yield "convolution_backward", f"{operands}{made}{call}, [{mask}])"


def _pooling(dtypes: Sequence[str]) -> Iterator[Text]:
    name = "max_pool2d"
    windows = (
        *("2", "3, 2", "2, 1", "(2, 3)", "3, 1, 1", "2, 2, 1", "3, 2, 1, 2", "2, 3, 0, 1, True"),
        *("0", "-1", "2, 0", "2, 2, 2", "2, 2, -1", "(1, 2, 3)", "9", "2, 2, 0, 0", "'x'", "[]"),
        *("2, []", "(2,)", "3, 3, 1, 1, True", "2, (1, 2), (1, 0)"),
    )
    image = "(({0} * 7) % 5)"
    for device, window in product(DEVICES, windows):
        made = image.format(_made("(2, 2, 5, 4)", device))
        yield name, f"xp.{name}({made}, {window})"
        yield name, f"xp._C._nn.{name}_with_indices({made}, {window})"
    for device, shape in product(DEVICES, ("(2, 4, 4)", "(0, 2, 4, 4)", "(1, 0, 4, 4)", "(4, 4)")):
        yield name, f"xp.{name}({_made(shape, device)}, 2)"
    for device in DEVICES:
        last = "contiguous(memory_format=xp.channels_last)"
        yield name, f"xp.{name}({_made('(1, 2, 4, 4)', device)}.{last}, 2)"
        yield name, f"xp.{name}({_made('(1, 2, 4, 4)', device)}.transpose(2, 3), 2)"
    for dtype in dtypes:
        yield name, f"xp.{name}({_made('(1, 1, 4, 4)', 'cpu', dtype)}, 2)"
    yield name, f"xp.{name}(xp.tensor([[[1.0, float('nan')], [3.0, 2.0]]]), 2)"


# --- linear and dropout -----------------------------------------------------------------------


def _linear(dtypes: Sequence[str]) -> Iterator[Text]:
    name = "linear"
    for device in DEVICES:
        shapes = ("()", "(3,)", "(2, 3)", "(2, 2, 3)", "(0, 3)", "(1, 2, 2, 3)", "(2, 2)")
        for one, two, bias in product(shapes, ("(2, 3)", "(3,)", "(0, 3)"), ("", "(2,)", "(1,)")):
            if device == "cpu" or "()" not in one:
                added = f", {_made(bias, device)}" if bias else ""
                pair = f"{_made(one, device)}, {_made(two, device)}"
                yield name, f"xp._C._nn.{name}({pair}{added})"
        yield name, f"xp._C._nn.{name}({_made('(3, 2)', device)}.t(), {_made('(2, 3)', device)})"
    for one, two in product(("float32", "float64", "int64"), repeat=2):
        pair = f"{_made('(2, 3)', 'cpu', one)}, {_made('(2, 3)', 'cpu', two)}"
        yield name, f"xp._C._nn.{name}({pair}, {_made('(2,)', 'cpu', one)})"
        yield name, f"xp._C._nn.{name}({pair})"


def _dropout(dtypes: Sequence[str]) -> Iterator[Text]:
    seed = "xp.manual_seed(7)\n"
    for device, p, train in product(DEVICES, ("0", "0.25", "1", "1.5", "-1", "'x'"), _TRUTH):
        for shape in ("(3, 4)", "(20,)", "(0,)"):
            made = _made(shape, device)
            yield "dropout", f"{seed}xp.dropout({made}, {p}, {train})"
            yield "dropout_", f"{seed}x = {made}\nxp.dropout_(x, {p}, {train})\nx"
            if device == "cpu" and p in ("0", "0.25", "1"):
                yield "native_dropout", f"{seed}xp.native_dropout({made}, {p}, {train})"
    for dtype in dtypes:
        if not dtype.startswith("float8"):
            made = _made("(3, 4)", "cpu", dtype)
            yield "dropout", f"{seed}xp.dropout({made}, 0.5, True)"
            yield "dropout", f"{seed}xp.dropout({made}.t(), 0.5, True)"


_TRUTH: Final = ("True", "False")
