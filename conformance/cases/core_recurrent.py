"""Recurrent networks, their cells, and sequences that are packed.

Of floats oneDNN computes an LSTM, whose exponentials are only near to others: nothing cancels.
An LSTM of bfloat16 is computed by it where the processor can, so there is none here.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from conformance.area import Text
from conformance.cases.functionalize_programs import program
from conformance.functionalized import WAYS

_MADE: Final = """\
def some(*sizes):
    count = 1
    for size in sizes:
        count = count * size
    return (xp.arange(count) * 7 % 11 + 1).div(16).view(sizes).to({options})"""
_GATES: Final = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}
_DTYPES: Final = ("xp.float32", "xp.float64", "xp.bfloat16", "xp.float16", "xp.int64")
_OF_INPUT: Final = (  # layers, directions, biases, batch first
    *((1, 1, True, False), (1, 2, True, True), (2, 1, False, True), (2, 2, True, False)),
    (1, 2, False, False),
)
_GRADIENTS: Final = """\
leaves = [each.requires_grad_() for each in (x, *(h if type(h) is list else [h]), *w)]
found = {call}
total = sum([(each * each).sum() * (place + 1) for place, each in enumerate(found)])
total.backward()
found[0].grad_fn, [each.grad for each in leaves]"""
_TWICE: Final = """\
g = xp.autograd.grad(total, leaves, create_graph=True)
sum([each.exp().sum() for each in g]).backward()
g, [each.grad for each in leaves]"""
_SEEN: Final = """\
class Seen(xp.utils._python_dispatch.TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        are = [isinstance(each, xp.Tensor) for each in args]
        shown = [a.shape if is_one else type(a).__name__ for a, is_one in zip(args, are)]
        log.append((str(func), shown, str(kwargs)))
        return func(*args, **(kwargs or {}))
log = []"""


def _operands(
    name: str, layers: int, directions: int, biases: bool, *, projected: bool = False
) -> str:
    """Lines that make what a network begins with, and its weights."""
    size, count = 3, layers * directions
    out, rows = 2 if projected else size, _GATES[name] * size
    weights = []
    for layer in range(layers):
        width = out * directions if layer else 4
        sizes = [(rows, width), (rows, out), *([(rows,)] * 2 if biases else [])]
        sizes += [(out, size)] if projected else []
        weights += [f"some{each}" for each in sizes] * directions
    state = f"some({count}, 2, {out})"
    hidden = f"[{state}, some({count}, 2, {size})]" if name == "lstm" else state
    return f"h = {hidden}\nw = [{', '.join(weights)}]"


def _network(
    name: str,
    setting: tuple[int, int, bool, bool],
    options: str,
    *,
    packed: bool = False,
    projected: bool = False,
    dropout: str = "0., False",
) -> tuple[str, str]:
    """Lines that make the operands, and a call."""
    layers, directions, biases, batch_first = setting
    sizes = "3, 4" if packed else "2, 3, 4" if batch_first else "3, 2, 4"
    lines = [_MADE.format(options=options), f"x = some({sizes})"]
    lines.append(_operands(name, layers, directions, biases, projected=projected))
    middle = "xp.tensor([2, 1]), " if packed else ""
    rest = f"{biases}, {layers}, {dropout}, {directions == 2}"
    last = "" if packed else f", {batch_first}"
    return "\n".join(lines), f"xp.{name}(x, {middle}h, w, {rest}{last})"


def _networks() -> Iterator[Text]:
    for name, setting, packed in product(_GATES, _OF_INPUT, (False, True)):
        for options in ("xp.float32", "xp.float64", "'meta'"):
            lines, call = _network(name, setting, options, packed=packed)
            yield "recurrent", f"{lines}\n{call}"
        for options in ("xp.float32", "xp.float64")[setting[0] - 1 :]:
            lines, call = _network(name, setting, options, packed=packed)
            yield "recurrent-gradients", f"{lines}\n{_GRADIENTS.format(call=call)}"
        lines, call = _network(name, setting, "xp.float32", packed=packed)
        yield "recurrent-seen", f"{lines}\n{_SEEN}\nwith Seen():\n    {call}\nlog"
        if setting[0] == 1:
            made, call = _network(name, setting, "xp.float64", packed=packed)
            first, _, _ = _GRADIENTS.format(call=call).partition("total.backward()")
            yield "recurrent-gradients", f"{made}\n{first}{_TWICE}"
        lines, call = _network(name, setting, "'meta'", packed=packed)
        yield "recurrent-seen", f"{lines}\n{_SEEN}\nwith Seen():\n    {call}\nlog"
    for name, dtype, packed in product(_GATES, _DTYPES[2:], (False, True)):
        if name != "lstm" or packed or dtype != "xp.bfloat16":
            lines, call = _network(name, _OF_INPUT[0], dtype, packed=packed)
            yield "recurrent", f"{lines}\n{call}"
    for setting, packed, options in product(_OF_INPUT, (False, True), ("xp.float64", "'meta'")):
        lines, call = _network("lstm", setting, options, packed=packed, projected=True)
        yield "recurrent", f"{lines}\n{call}"
        if options != "'meta'":
            yield "recurrent-gradients", f"{lines}\n{_GRADIENTS.format(call=call)}"
    lines, call = _network("lstm", _OF_INPUT[0], "xp.float32", projected=True)
    yield "recurrent-warned", f"{lines}\n{call}"
    for name, dropout, packed in product(_GATES, ("0.5, False", "1., True"), (False, True)):
        lines, call = _network(name, _OF_INPUT[3], "xp.float32", packed=packed, dropout=dropout)
        yield "recurrent", f"{lines}\n{call}"
    for name, packed in product(_GATES, (False, True)):
        lines, call = _network(name, _OF_INPUT[1], "xp.float32", packed=packed)
        lines, call = (
            f"{lines}\ncounts = xp.tensor([2, 1])",
            call.replace("xp.tensor([2, 1])", "counts"),
        )
        for context in ("xp.no_grad()", "xp.inference_mode()"):
            seen = f"with {context}, Seen():\n    found = {call}\nfound, log"
            yield "recurrent", f"{lines}\n{_SEEN}\n{seen}"


# --- what is refused --------------------------------------------------------------------------

_X: Final = ("(3, 2, 4)", "(3, 2)", "(0, 2, 4)", "(3, 0, 4)", "(3, 2, 5)", "(4,)")
_BEGINS: Final = ("(1, 2, 3)", "(2, 2, 3)", "(1, 2)", "(3,)", "()", "(1, 4, 3)")
_WEIGHTS: Final = (
    "[xp.ones({r}, 4), xp.ones({r}, 3)]",
    "[xp.ones({r}, 4), xp.ones({r}, 3), xp.ones({r}), xp.ones({r})]",
    *("[xp.ones({r}, 4)]", "[]", "[xp.ones({r}, 4).to('meta'), xp.ones({r}, 3).to('meta')]"),
    "[xp.ones({r}, 4).double(), xp.ones({r}, 3).double()]",
)


def _equally_long() -> Iterator[Text]:
    for setting, count, options, projected in product(
        ((1, 1, True, False), (2, 2, False, False)),
        (4, 2, 3, 5),
        ("xp.float32", "xp.float64", "'meta'"),
        (False, True),
    ):
        lines, call = _network("lstm", setting, options, packed=True, projected=projected)
        counts = "[2]" if count == 2 else "[2, 2]"
        lines = lines.replace("some(3, 4)", f"some({count}, 4)", 1)
        call = call.replace("[2, 1]", counts)
        if projected and options == "xp.float32":
            continue
        if count in (2, 4):
            yield "recurrent-seen", f"{lines}\n{_SEEN}\nwith Seen():\n    {call}\nlog"
        yield "recurrent", f"{lines}\n{call}"


def _refused() -> Iterator[Text]:
    for name, x, begin in product(("gru",), _X, _BEGINS):
        weights = _WEIGHTS[0].format(r=_GATES[name] * 3)
        yield (
            "recurrent-refused",
            f"xp.{name}(xp.ones{x}, xp.ones{begin}, {weights}, False, 1, 0., *[False] * 3)",
        )
    for x, begin in product(_X, _BEGINS):
        weights = _WEIGHTS[0].format(r=12)
        yield (
            "recurrent-refused",
            f"xp.lstm(xp.ones{x}.double(), [xp.ones{begin}.double(), xp.ones{begin}.double()], "
            f"[each.double() for each in {weights}], False, 1, 0., *[False] * 3)",
        )
    for name, weight, layers, directions in product(_GATES, _WEIGHTS, (1, 2), (False, True)):
        begin = "xp.ones(1, 2, 3)"
        hidden = f"[{begin}, {begin}]" if name == "lstm" else begin
        weights = weight.format(r=_GATES[name] * 3)
        settings = f"False, {layers}, 0., False, {directions}"
        if name != "lstm" or layers + directions == 1:  # else it reads what is not there
            yield (
                "recurrent-refused",
                f"xp.{name}(xp.ones(3, 2, 4), {hidden}, {weights}, {settings}, {name != 'lstm'})",
            )
        if "meta" not in weight:
            yield (
                "recurrent-refused",
                f"xp.{name}(xp.ones(3, 4), xp.tensor([2, 1]), {hidden}, {weights}, {settings})",
            )
    for sizes in (
        *("xp.tensor([2, 1]).int()", "xp.tensor(2)", "xp.tensor([3, 3])", "xp.ones(1)"),
        *("xp.tensor([[2, 1]]).double()", "xp.tensor([2, 1], device='meta')"),
    ):
        for name, directions in product(("gru", "lstm"), (False, True)):
            begin = "xp.ones(2, 2, 3)"
            hidden = f"[{begin}, {begin}]" if name == "lstm" else begin
            weights = _WEIGHTS[0].format(r=_GATES[name] * 3)
            layers = 1 if directions else 2
            yield (
                "recurrent-refused",
                f"xp.{name}(xp.ones(3, 4), {sizes}, {hidden}, {weights} * 2, False, {layers}, 0., "
                f"False, {directions})",
            )
    for hidden in ("[]", "[xp.ones(1, 2, 3)]", "[xp.ones(1, 2, 3)] * 3", "[xp.ones(2, 3)] * 2"):
        for first in ("xp.ones(3, 2, 4)", "xp.ones(3, 4), xp.tensor([2, 1])"):
            last = ", False" if "tensor" not in first else ""
            yield (
                "recurrent-refused",
                f"xp.lstm({first}, {hidden}, [], False, 1, 0., False, False{last})",
            )


# --- cells ------------------------------------------------------------------------------------

_CELLS: Final = {"lstm_cell": 4, "gru_cell": 3, "rnn_tanh_cell": 1, "rnn_relu_cell": 1}


def _cells() -> Iterator[Text]:
    for (name, gates), dtype, biases in product(
        _CELLS.items(), (*_DTYPES, "'meta'"), ("", ", some({r}), some({r})", ", None, some({r})")
    ):
        begin = "[some(2, 3), some(2, 3)]" if name == "lstm_cell" else "some(2, 3)"
        rest = biases.format(r=gates * 3)
        lines = [_MADE.format(options=dtype), f"x, h = some(2, 4), {begin}"]
        lines.append(f"w = [some({gates * 3}, 4), some({gates * 3}, 3){rest}]")
        call = f"xp.{name}(x, h, *w)"
        yield "recurrent-cells", "\n".join([*lines, call])
        if dtype in _DTYPES[:2] and "None" not in biases:
            made = f"found = {call}\nfound = found if type(found) is tuple else [found]"
            steps = _GRADIENTS.replace("found = {call}", made)
            yield "recurrent-cells", "\n".join([*lines, steps])
            yield "recurrent-seen", "\n".join([*lines, _SEEN, f"with Seen():\n    {call}\nlog"])
    for (name, gates), x, begin in product(
        _CELLS.items(),
        ("(2, 4)", "(2,)", "(3, 4)", "(2, 5)"),
        ("(2, 3)", "(3,)", "(2, 5)"),
    ):
        hidden = f"[xp.ones(2, 3), xp.ones{begin}]" if name == "lstm_cell" else f"xp.ones{begin}"
        weights = f"xp.ones({gates * 3}, 4), xp.ones({gates * 3}, 3)"
        yield "recurrent-refused", f"xp.{name}(xp.ones{x}, {hidden}, {weights})"
    for (name, gates), x in product(_CELLS.items(), ("(2, 3, 4)", "()", "(2, 4)")):
        begin = "(2, 3, 1)" if x == "(2, 4)" else "(2, 3)"
        hidden = f"[xp.ones(2, 3), xp.ones{begin}]" if name == "lstm_cell" else f"xp.ones{begin}"
        weights = f"xp.ones({gates * 3}, 4), xp.ones({gates * 3}, 3)"
        yield "recurrent-refused", f"xp.{name}(xp.ones{x}, {hidden}, {weights})"
    for hidden in ("[]", "[xp.ones(2, 3)]"):
        yield (
            "recurrent-refused",
            f"xp.lstm_cell(xp.ones(2, 4), {hidden}, xp.ones(12, 4), xp.ones(12, 3))",
        )


_FUSED: Final = (
    "_thnn_differentiable_lstm_cell_backward({a}, {a}, {g4}, {g4}, {b4}, {b4}, {a}, {a})",
    "_thnn_differentiable_lstm_cell_backward(None, {a}, {g4}, {g4}, {b4}, None, {a}, {a})",
    "_thnn_differentiable_lstm_cell_backward({a}, None, {g4}, {g4}, None, {b4}, {a}, {a})",
    "_thnn_differentiable_lstm_cell_backward(None, None, {g4}, {g4}, None, None, {a}, {a})",
    "_thnn_differentiable_gru_cell_backward({a}, {g3}, {g3}, {a}, {b3}, {b3})",
    "_thnn_differentiable_gru_cell_backward({a}, {g3}, {g3}, {a}, None, {b3})",
    "_thnn_differentiable_gru_cell_backward({a}, {g3}, {g3}, {a}, None, None)",
    "_thnn_fused_lstm_cell({g4}, {g4}, {a}, {b4}, {b4})",
    "_thnn_fused_lstm_cell({g4}, {g3}, {a}, {b4}, {b4})",
    "_thnn_fused_lstm_cell({g4}, {g4}, {a})",
    "_thnn_fused_lstm_cell({g4}, {g4}, {a}, {b3}, {b4})",
    "_thnn_fused_lstm_cell({g4}, {g4}, {a}, {b4})",
    "_thnn_fused_lstm_cell({b4}, {g4}, {a})",
    "_thnn_fused_lstm_cell({g4}, {g4}, {g3}, {b4}, {b4})",
    "_thnn_fused_lstm_cell_backward_impl({a}, {a}, {a}, {a}, {g4}, True)",
    "_thnn_fused_lstm_cell_backward_impl(None, {a}, {a}, {a}, {g4}, False)",
    "_thnn_fused_lstm_cell_backward_impl(None, None, {a}, {a}, {g4}, False)",
    "_thnn_fused_lstm_cell_backward_impl(None, {a}, {a}, {g4}, {g4}, False)",
    "_thnn_fused_lstm_cell_backward({a}, {a}, {a}, {a}, {g4}, True)",
    "_thnn_fused_gru_cell({g3}, {g3}, {a}, {b3}, {b3})",
    "_thnn_fused_gru_cell({g3}, {g3}, {a})",
    "_thnn_fused_gru_cell({g3}, {g4}, {a}, {b3}, {b3})",
    "_thnn_fused_gru_cell({g3}, {g3}, {g3})",
    "_thnn_fused_lstm_cell({g4}, {g4}, {a}, None, {b4})",
    "_thnn_fused_gru_cell_backward({a}, {g3}, True)",
    "_thnn_fused_gru_cell_backward({a}, {a}.repeat(1, 5), True)",
    "_thnn_fused_gru_cell_backward({a}, {a}.double().repeat(1, 5), False)",
    "_thnn_fused_gru_cell_backward({b3}, {g3}, True)",
    "_thnn_fused_gru_cell_backward({a}, {b3}, True)",
    "_thnn_fused_gru_cell_backward({a}, {g3}[:1], True)",
    "_thnn_fused_gru_cell_backward(None, {g3}, True)",
    "_cudnn_rnn({x}, [{b3}], 1, None, {x}, None, 2, 5, 0, 1, False, 0., False, False, [], None)",
    "_cudnn_rnn({x}, [{b3}], 1, {a}, {x}, {x}, 2, 5, 2, 3, True, 0., True, True, [], None)",
    "_cudnn_rnn({a}, [{b3}], 1, {a}, {x}, {x}, 2, 5, 0, 1, False, 0., True, True, [2, 1], None)",
    "_cudnn_rnn({b3}, [{b3}], 1, {a}, {x}, {x}, 2, 5, 0, 1, False, 0., True, True, [], None)",
    "miopen_rnn({x}, [{b3}], 1, {x}, None, 2, 5, 1, False, 0., False, False, [], None)",
    "_lstm_mps({x}, [{x}, {x}], [], False, 1, 0., False, False, False)",
)
_LAYER: Final = (
    "mkldnn_rnn_layer({x}, some(12, 4), some(12, 3), some(12), some(12), some(2, 3), some(2, 3), "
    "{reverse}, [], {mode}, 3, 1, {biases}, False, {first}, False)"
)


def _inner() -> Iterator[Text]:
    for call, device in product(_FUSED, ("'cpu'", "'meta'")):
        sizes = {"a": "2, 1", "g4": "2, 4", "g3": "2, 3", "b4": "4", "b3": "3", "x": "2, 3, 4"}
        made = {name: f"xp.ones({each}, device={device})" for name, each in sizes.items()}
        yield "recurrent-inner", "xp.ops.aten." + call.format(**made)
        if device == "'cpu'" and "differentiable" in call:
            run = "xp.ops.aten." + call.format(**made)
            yield "recurrent-seen", f"{_SEEN}\nwith Seen():\n    {run}\nlog"
    yield "recurrent-inner", "xp._use_cudnn_rnn_flatten_weight()"
    for options, reverse, mode, biases in product(
        ("xp.float32", "xp.float64", "xp.int8", "'meta'"),
        (False, True),
        (2, 3),
        (True, False),
    ):
        x = "some(3, 2, 4)"
        call = _LAYER.format(x=x, reverse=reverse, mode=mode, biases=biases, first=False)
        lines = _MADE.format(options=options)
        yield (
            "recurrent-inner",
            f"{lines}\ny = xp.ops.aten.{call}\ny[:3], y[3].shape",
        )
        yield (
            "recurrent-inner",
            f"{lines}\nwith xp.no_grad():\n    y = xp.ops.aten.{call}\ny[:3], y[3] is None",
        )
    for shape in ("3, 2, 4", "3, 2", "3", "", "5, 8, 256"):
        for first in (False, True):
            x = f"xp.ones({shape}, device='meta')".replace("(, ", "((), ")
            call = _LAYER.format(x=x, reverse=False, mode=2, biases=True, first=first)
            yield "recurrent-inner", f"{_MADE.format(options=repr('meta'))}\nxp.ops.aten.{call}"
    for length, batch, width, hidden in (
        (1, 1, 1, 1),
        (3, 4, 17, 16),
        (2, 3, 64, 20),
        (5, 8, 3, 64),
    ):
        rows = 4 * hidden
        yield (
            "recurrent-inner",
            f"y = xp.ops.aten.mkldnn_rnn_layer(xp.ones({length}, {batch}, {width}), "
            f"xp.ones({rows}, {width}), xp.ones({rows}, {hidden}), xp.ones({rows}), "
            f"xp.ones({rows}), xp.ones({batch}, {hidden}), xp.ones({batch}, {hidden}), False, [], "
            f"2, {hidden}, 1, True, False, False, False)\ny[3].shape",
        )
    for mode, dtype in product((2, 3), ("xp.float32", "xp.float64")):
        some = f"some = lambda *sizes: xp.ones(sizes, dtype={dtype}, device='meta')"
        yield (
            "recurrent-inner",
            f"{some}\nxp.ops.aten.mkldnn_rnn_layer_backward(some(3, 2, 4), some(12, 4), "
            "some(12, 3), some(12), some(12), some(2, 3), some(2, 3), some(3, 2, 3), some(2, 3), "
            f"some(2, 3), None, some(2, 3), None, False, {mode}, 3, 1, True, True, False, [], "
            "False, some(1))",
        )


# --- sequences that are packed ----------------------------------------------------------------

_LENGTHS: Final = (
    *("[4, 2, 1]", "[4, 4, 4]", "[2, 1, 1]", "[1, 2, 3]", "[4, 2]", "[0, 0, 0]", "[4, 2, 0]"),
    *("[9, 2, 1]", "[[4, 2, 1]]", "4", "[4., 2, 1]"),
)
_PADDED: Final = ("(4, 3, 2)", "(4, 3)", "(3, 4, 2)", "(4,)", "(4, 0, 2)", "()")
_COUNTS: Final = ("[3, 2, 1, 1]", "[3, 3]", "[4, 3]", "[2, 1]", "[[3, 2]]", "3", "[3., 2.]")


def _packed() -> Iterator[Text]:
    for lengths, sizes, first in product(_LENGTHS, _PADDED, (False, True)):
        x = f"xp.arange(48.)[:1].expand{sizes}" if sizes == "(4,)" else f"xp.ones{sizes}"
        yield (
            "packed-sequences",
            f"xp._pack_padded_sequence({x}.cumsum(0), xp.tensor({lengths}), {first})"
            if sizes != "()"
            else f"xp._pack_padded_sequence({x}, xp.tensor({lengths}), {first})",
        )
    for counts, sizes, first, total in product(
        _COUNTS, ("(7, 2)", "(6,)", "()"), (False, True), (0, 1, 6)
    ):
        if sizes != "()" or not first:
            x = "xp.ones(())" if sizes == "()" else f"xp.ones{sizes}.cumsum(0)"
            yield (
                "packed-sequences",
                f"xp._pad_packed_sequence({x}, xp.tensor({counts}), {first}, -1, {total})",
            )
    for size, counts, first in product(
        ("[4, 3, 2]", "[3, 4, 2]", "[4]", "[]", "[2, 3, 2]", "[-1, 3, 2]"), _COUNTS, (False, True)
    ):
        yield (
            "packed-sequences",
            "xp.ops.aten._pack_padded_sequence_backward(xp.ones(7, 2).cumsum(0), "
            f"{size}, xp.tensor({counts}), {first})",
        )
    for dtype, first in product(("int64", "bool", "complex64", "bfloat16"), (False, True)):
        x = f"xp.arange(24).view(4, 3, 2).to(xp.{dtype})"
        made = f"d, n = xp._pack_padded_sequence({x}, xp.tensor([3, 3, 2]), False)"
        yield "packed-sequences", f"{made}\nd, n, xp._pad_packed_sequence(d, n, {first}, 1, 5)"
    for first, lengths in product((False, True), ("[3, 3, 1]", "[2, 1, 1]")):
        size = "(3, 4, 2)" if first else "(4, 3, 2)"
        lines = (
            f"x = xp.ones{size}.requires_grad_()",
            f"d, n = xp._pack_padded_sequence(x, xp.tensor({lengths}), {first})",
            f"p, m = xp._pad_packed_sequence(d * d, n, {first}, 3., 5)",
            "g, = xp.autograd.grad(p.exp().sum(), x, create_graph=True)",
            "g.sum().backward()",
            "d, n, p, m, g, x.grad",
        )
        yield "packed-sequences", "\n".join(lines)
    for call in (
        "xp._pack_padded_sequence(xp.ones(4, 3, 2, device='meta'), xp.tensor([4, 2, 1]), False)",
        "xp._pad_packed_sequence(xp.ones(7, 2).to('meta'), xp.tensor([3, 2, 1, 1]), True, 0, 0)",
        "xp._pack_padded_sequence(xp.ones(4, 3, 2), xp.ones(3, device='meta').long(), False)",
        "xp._pack_padded_sequence(xp.ones(4, 3, 2), xp.tensor([4, 9, 2, 9, 1])[::2], True)",
        "xp._pack_padded_sequence(xp.ones(4, 3, 2), xp.tensor([3, 9, 2, 9, 1])[::2], False)",
        "xp.gru(xp.ones(5, 2), xp.tensor([2, 2, 1, 1])[::2], xp.ones(1, 2, 1), "
        "[xp.ones(3, 2), xp.ones(3, 1)], False, 1, 0., False, False)",
        "xp.ops.aten._pack_padded_sequence.out(xp.ones(4, 3, 2), xp.tensor([4, 2, 1]), False, "
        "out0=xp.ones(1), out1=xp.ones(0).long())",
    ):
        yield "packed-sequences", call


# --- programs ---------------------------------------------------------------------------------

_STEPS: Final = (
    "return xp.gru(x, x.new_ones(1, 2, 3), [x.new_ones(9, 4), x.new_ones(9, 3)], "
    "False, 1, 0., False, False, {first})",
    "return xp.rnn_relu(x, x.new_ones(1, 2, 3), [x.new_ones(3, 4), x.new_ones(3, 3)], "
    "False, 1, 0., False, False, {first})",
    "return xp.lstm(x, [x.new_ones(1, 2, 3), x.new_ones(1, 2, 3)], [x.new_ones(12, 4), "
    "x.new_ones(12, 3)], False, 1, 0., False, False, {first})",
    "return xp.lstm_cell(x[0], [x.new_ones(2, 3), x.new_ones(2, 3)], x.new_ones(12, 4), "
    "x.new_ones(12, 3))",
    "return xp.gru_cell(x[0], x.new_ones(2, 3), x.new_ones(9, 4), x.new_ones(9, 3))",
    "return xp._pack_padded_sequence(x, xp.tensor([2, 2]), {first})",
)
_AUTOCAST: Final = """\
with xp.autocast("cpu", dtype=xp.bfloat16), Seen():
    found = {call}
found, log"""


def _programs() -> Iterator[Text]:
    for step, way, first in product(_STEPS, WAYS, (False, True)):
        if first or "{first}" not in step:
            x = "xp.ones(2, 3, 4)" if "{first}" in step else "xp.ones(2, 2, 4)"
            yield "recurrent-functionalized", program(x, [step.format(first=first)], way)
    for name in ("gru", "rnn_relu"):
        for packed in (False, True):
            lines, call = _network(name, _OF_INPUT[1], "xp.float32", packed=packed)
            seen = _AUTOCAST.format(call=call)
            yield "recurrent-autocast", f"{lines}\n{_SEEN}\n{seen}"


def texts() -> Iterator[Text]:
    yield from _networks()
    yield from _equally_long()
    yield from _refused()
    yield from _cells()
    yield from _inner()
    yield from _packed()
    yield from _programs()
