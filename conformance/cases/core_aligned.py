"""Losses of sequences that are aligned with labels and of images; convolutions under the names of
what computes them: called by themselves, with what a caller would have checked."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from conformance.area import Text

_A: Final = "xp.ops.aten."
_PROBS: Final = "xp.arange(40.).fmod(7).div(4).view(5, 2, 4)"
_TARGETS: Final = "xp.tensor([[1, 2, 3], [3, 2, 2]])"
_SHORT: Final = "xp.zeros(5, 2, 4)"
_LABELS: Final = "xp.ones(2, 3).long()"
_REFUSED: Final = (
    *("xp.zeros(5, 2), {l}, [5, 5], [3, 3]", "{s}, {l}.half(), [5, 5], [3, 3]"),
    *("{s}, {l}[None], [5, 5], [3, 3]", "{s}, {l}[0, 0], [5, 5], [3, 3]"),
    *("{s}, {l}, [5, 5], [3, 3], 4", "{s}, {l}, [5, 5], [3, 3], -1", "{s}, {l}, [5], [3, 3]"),
    *("{s}, {l}, [5, 5], [3, 3, 3]", "{s}, {l}, [5, 5], [3, -1]", "{s}, {l}, [5, 5], [3, 4]"),
    *("{s}, {l}[:1], [5, 5], [3, 4]", "{s}, {l}[0], [5, 5], [3, 4]", "{s}, {l}, [5, 6], [3, 3]"),
    *("{s}, {l}, [5, -6], [3, 3]", "{s}.half(), {l}, [5, 5], [3, 3]", "{s}.long(), {l}, [], []"),
    *("xp.zeros(0, 2, 4), {l}, [0, 0], [3, 3]", "xp.zeros(3, 0, 4), {l}[:0], [], []"),
    *("xp.zeros(3, 2, 0), {l}, [3, 3], [3, 3]", "xp.zeros(0, 2), {l}.half(), [0, 0], [3, 3]"),
    *("{s}, {l}, xp.ones(2), xp.ones(2).long()", "{s}, {l}, xp.ones(2).long(), xp.ones(2).bool()"),
    *("{s}, {l}, xp.tensor(5), xp.tensor(3)", "{s}, {l}, xp.tensor([[5, 5]]), xp.tensor([3, 3])"),
)
_LENGTHS: Final = (
    *("[5, 5], [3, 3]", "[5, 4], [3, 2]", "[5, 3], [3, 3]", "[5, 0], [3, 0]", "[5, 0], [3, 1]"),
    *("[1, 5], [1, 0]", "xp.tensor([5, 4]), xp.tensor([3, 3])"),
    "xp.tensor([5, 4]).byte(), xp.tensor([3, 3]).short()",
)
_REDUCED: Final = ("0, 0", "0, 1, True", "0, 2", "1, 0, True", "3, 7")
_BACKWARD: Final = (
    *("xp.ones(2), {s}, {l}", "xp.ones(2).double(), {s}, {l}", "xp.ones(2, 1), {s}, {l}"),
    *("xp.ones(2), {s}.half(), {l}", "xp.ones(2), {s}[0], {l}", "xp.ones(2), {s}[..., None], {l}"),
    *("xp.ones(2), {s}, {l}.half()", "xp.ones(2), {s}, {l}[0, 0]", "xp.ones(2), {s}, {l}.int()"),
    "xp.ones(2), {s}.transpose(0, 1).contiguous().transpose(0, 1), {l}",
)
_KEPT: Final = (
    "xp.ones(2), xp.ones(2, 5, 7), 0",
    "xp.full((2,), float('inf')), xp.ones(2, 5, 7), 0, True",
    "xp.ones(2).double(), xp.ones(2, 5, 7), 0",
    "xp.ones(2), xp.ones(2, 35), 0",
    "xp.ones(2), xp.ones(2, 5, 7).double(), 0",
)


def texts() -> Iterator[Text]:
    yield from _of_sequences()
    yield from _of_images()
    yield from _of_convolutions()
    yield from _of_settings()
    yield from _of_other_names()


# --- sequences --------------------------------------------------------------------------------


def _of_sequences() -> Iterator[Text]:
    for call, device in product(_REFUSED, ("cpu", "meta")):
        short = _SHORT if device == "cpu" else f"{_SHORT}.to('meta')"
        yield "aligned sequences", f"{_A}_ctc_loss({call.format(s=short, l=_LABELS)})"
    for lengths, reduced, dtype in product(_LENGTHS, _REDUCED, ("float32", "float64")):
        probs = f"{_PROBS}.to(xp.{dtype}).log_softmax(2)"
        yield "aligned sequences", f"xp.ctc_loss({probs}, {_TARGETS}, {lengths}, {reduced})"
    for targets in (
        f"{_TARGETS}.view(-1)",
        f"{_TARGETS}.int()",
        f"{_TARGETS}.repeat(1, 2)[:, ::2]",
    ):
        yield "aligned sequences", f"{_A}_ctc_loss({_PROBS}, {targets}, [5, 5], [3, 3], 0)"
    twice = "xp.tensor([1, 9, 2, 9, 3, 9, 3, 9, 2, 9, 2, 9]).fmod(4)[::2]"
    yield "aligned sequences", f"{_A}_ctc_loss({_PROBS}, {twice}, [5, 5], [3, 3], 0)"
    for lengths, reduced in product(_LENGTHS[:5], ("0, 1", "0, 2, True", "1, 1, True")):
        made = f"x = {_PROBS}.double().requires_grad_()"
        loss = f"xp.ctc_loss(x.log_softmax(2), {_TARGETS}, {lengths}, {reduced})"
        yield "gradients of sequences", f"{made}\n{loss}.backward()\nx.grad"
    made = f"x = {_PROBS}.requires_grad_()"
    for lengths in ("[5, 5], [3, 3]", "xp.tensor([5, 5]), xp.tensor([3, 3])"):
        loss = f"{_A}_ctc_loss(x, {_TARGETS}, {lengths})"
        yield "gradients of sequences", f"{made}\n{loss}"
        twice = f"g = xp.autograd.grad({loss}[0].sum(), x, create_graph=True)[0]"
        yield "gradients of sequences", f"{made}\n{twice}\ng.sum().backward()"
    for given, kept in product(_BACKWARD, _KEPT):
        arguments = f"{given.format(s=_SHORT, l=_LABELS)}, [5, 5], [3, 3], {kept}"
        yield "gradients of sequences", f"{_A}_ctc_loss_backward({arguments})"
    for alone in ("[5], [3]", "[5], [3], 0, 0", "[5], [3], 1, 2, True"):
        loss = f"xp.ctc_loss({_PROBS}[:, 0].log_softmax(1), {_TARGETS}[0], {alone})"
        yield "aligned sequences", loss
    for module in ("CTCLoss()", "CTCLoss(1, 'none', True)", "CTCLoss(reduction='sum')"):
        call = f"xp.nn.{module}({_PROBS}.log_softmax(2), {_TARGETS}, (5, 4), (3, 2))"
        yield "aligned sequences", call


# --- images -----------------------------------------------------------------------------------

_IMAGES: Final = (
    "xp.arange(16.).view(2, 2, 2, 2)",
    "xp.arange(16.).view(2, 2, 2, 2).to(memory_format=xp.channels_last)",
    *("xp.ones(2, 2, 2, 2).long()", "xp.zeros(0, 2, 2, 2)", "xp.ones(2, 2, 2)"),
    "xp.ones(2, 2, 2, 2).bfloat16()",
)
_PLACES: Final = (
    "xp.tensor([[[0, 1], [1, 1]], [[-100, 1], [0, 0]]])",
    *("xp.zeros(2, 2, 2)", "xp.zeros(0, 2, 2).long()", "xp.ones(2, 2).long()"),
    *("xp.ones(2, 2, 2).byte()", "xp.full((2, 2, 2), -100)"),
)
_WEIGHTS: Final = ("None", "xp.tensor([2., 3])", "xp.ones(3)", "xp.ones(1, 2)")
_WRITTEN: Final = (
    "output=xp.empty(0), total_weight=xp.empty(0)",
    "output=xp.zeros(3), total_weight=xp.zeros(2)",
    "output=xp.zeros(2, 2, 2).double(), total_weight=xp.zeros(())",
    "output=xp.zeros(2, 2, 2).permute(2, 1, 0), total_weight=xp.zeros(()).double()",
)
_GRADIENTS: Final = (
    *("xp.ones(2, 2, 2), {}, xp.tensor(3.)", "xp.ones(()), {}, xp.ones(1, 1) * 2"),
    *("xp.ones(1), {}, xp.ones(2)", "xp.ones(1, 1), {}, xp.ones(1)"),
    "xp.ones(2, 2, 3), {}, xp.tensor(3.)",
)


def _of_images() -> Iterator[Text]:
    for x, labels, weight, reduction in product(_IMAGES, _PLACES, _WEIGHTS, (0, 1)):
        call = f"nll_loss2d_forward({x}, {labels}, {weight}, {reduction}, -100)"
        yield "losses of images", _A + call
    for x, labels, reduction, outputs in product(_IMAGES[:4], _PLACES[:2], (0, 1), _WRITTEN):
        call = f"nll_loss2d_forward.output({x}, {labels}, None, {reduction}, -100, {outputs})"
        yield "losses of images", _A + call
    for x, labels, reduction, out in product(_IMAGES[:3], _PLACES[:2], (0, 2), ("0", "3")):
        call = f"nll_loss2d.out({x}, {labels}, None, {reduction}, out=xp.zeros({out}))"
        yield "losses of images", _A + call
    for x, labels, reduction, given in product(_IMAGES, _PLACES, (0, 1), _GRADIENTS):
        arguments = given.format(f"{x}, {labels}, None, {reduction}, -100")
        yield "losses of images", f"{_A}nll_loss2d_backward({arguments})"


# --- convolutions -----------------------------------------------------------------------------

_IMAGE: Final = "xp.arange(40.).fmod(7).sub(3).view(2, 2, 2, 5)"
_VOLUME: Final = "xp.arange(48.).fmod(7).sub(3).view(1, 2, 2, 3, 4)"
_KERNEL: Final = "xp.arange(24.).fmod(5).sub(2).view({}, 2, 3)"
_BIASED: Final = ("None", "xp.arange({}.)", "xp.arange({}.).double()", "xp.ones(4)", "xp.ones(())")
_FORMED: Final = ("{}", "{}.to(xp.bfloat16)", "{}.int()", "{}.bool()", "{}.transpose(-1, -2)")
_LAST: Final = "{}.to(memory_format=xp.channels_last)"
#: Operators with what they are called with, and how many channels come out.
_NAMED: Final = (
    ("thnn_conv2d", 2, "2, 2", "[2, 3], {b}, [1, 1], [1, 1]", 2),
    ("_slow_conv2d_forward", 2, "2, 2", "[2, 3], {b}, [1, 2], [0, 1]", 2),
    ("slow_conv_dilated2d", 2, "2, 2", "[2, 3], {b}, [1, 1], [1, 2], [1, 2]", 2),
    ("slow_conv_transpose2d", 2, "2, 2", "[2, 3], {b}, [1, 2], [1, 0], [0, 1], [2, 1]", 2),
    ("slow_conv3d", 3, "2, 2, 1", "[1, 2, 3], {b}, [1, 1, 1], [0, 1, 1]", 2),
    ("slow_conv3d_forward", 3, "2, 2, 1", "[1, 2, 3], {b}, [1, 2, 1], [1, 0, 0]", 2),
    ("slow_conv_dilated3d", 3, "2, 2, 1", "[1, 2, 3], {b}, [1, 1, 1], [0, 1, 1], [2, 1, 1]", 2),
    ("slow_conv_transpose3d", 3, "2, 2, 1", "[1, 2, 3], {b}, [1, 2, 1], [0, 1, 0]", 2),
)


def _of_convolutions() -> Iterator[Text]:
    grouped = f"{_VOLUME}, {_KERNEL.format('2, 1, 2')}, [2, 2, 3], None"
    yield "slow convolutions", f"{_A}slow_conv3d({grouped})"
    for form in ("{}", "{}.transpose(0, 1).contiguous().transpose(0, 1)"):
        x = form.format(f"{_IMAGE}[0]")
        made = f"x = {x}\ny = {_A}slow_conv_transpose2d(x, {_KERNEL.format('2, 2')}, [2, 3])"
        yield "slow convolutions", f"{made}\n(x, y)"
        x = form.format(f"{_VOLUME}[0]")
        made = f"x = {x}\ny = {_A}slow_conv_transpose3d(x, {_KERNEL.format('2, 2, 1')}, [1, 2, 3])"
        yield "slow convolutions", f"{made}\n(x, y)"
        yield (
            "slow convolutions",
            f"{_A}slow_conv_dilated3d({x}, xp.ones(1, 2, 1, 1, 1), [1, 1, 1])",
        )
    for name, dim, sizes, given, channels in _NAMED:
        image = _IMAGE if dim == 2 else _VOLUME
        weight = _KERNEL.format(sizes)
        formed = (*_FORMED, _LAST) if dim == 2 else _FORMED
        for form in formed:
            x, w = form.format(image), form.format(weight)
            if "transpose(" in form or "channels_last" in form:
                w = weight
            yield "slow convolutions", f"{_A}{name}({x}, {w}, {given.format(b='None')})"
            both = f"{form.format(image)}, {weight}.double(), {given.format(b='None')}"
            yield "slow convolutions", f"{_A}{name}({both})"
        for bias in _BIASED:
            shown = given.format(b=bias.format(channels))
            yield "slow convolutions", f"{_A}{name}({image}, {weight}, {shown})"
        plain = given.format(b="None")
        for x in (f"{image}[:0]", f"{image}[:, :1]", f"{image}[0, 0]", f"{image}[..., :0]"):
            yield "slow convolutions", f"{_A}{name}({x}, {weight}, {plain})"
        for w in (f"{weight}[:0]", f"{weight}[:, :1]", f"{weight}[0]", f"{weight}.view(-1)"):
            if name.startswith("slow_conv3d") and w.endswith(":1]"):
                continue  # which is a group
            yield "slow convolutions", f"{_A}{name}({image}, {w}, {plain})"
        on_meta = f"{image}.to('meta'), {weight}.to('meta'), {plain}"
        yield "slow convolutions", f"{_A}{name}({on_meta})"
        yield from _written(name, image, weight, plain)
        yield from _differentiated(name, image, weight, given)


def _written(name: str, image: str, weight: str, given: str) -> Iterator[Text]:
    """Into tensors that are there."""
    name = name + (".output" if name.endswith("_forward") else ".out")
    out = "output" if name.endswith("output") else "out"
    for target in ("xp.empty(0)", "xp.zeros(3)", "xp.zeros(0).double()"):
        yield "slow convolutions", f"{_A}{name}({image}, {weight}, {given}, {out}={target})"


def _differentiated(name: str, image: str, weight: str, given: str) -> Iterator[Text]:
    leaves = f"x = {image}.requires_grad_()\nw = {weight}.requires_grad_()"
    biased = f"{leaves}\nb = xp.ones(2, requires_grad=True)"
    shown = given.format(b="b")
    yield (
        "gradients of slow convolutions",
        f"{biased}\n{_A}{name}(x, w, {shown}).pow(2).sum().backward()\n(x.grad, w.grad, b.grad)",
    )
    shown = given.format(b="None")
    yield (
        "gradients of slow convolutions",
        f"{leaves}\ny = {_A}{name}(x, w, {shown}).pow(2).sum()\n"
        "g = xp.autograd.grad(y, [x, w], create_graph=True)\n"
        "(g[0].pow(2).sum() + g[1].sum()).backward()\n(x.grad, w.grad)",
    )


_NUMBERS: Final = (
    ("thnn_conv2d", "{k}, None, {s}, {p}"),
    ("slow_conv_dilated2d", "{k}, None, {s}, {p}, {d}"),
    ("slow_conv_transpose2d", "{k}, None, {s}, {p}, {o}, {d}"),
)
_GIVEN: Final = {
    "k": ("[2, 3]", "[0, 3]", "[2]", "[1, 1]"),
    "s": ("[1, 1]", "[2, 0]", "[1]", "[-1, 1]"),
    "p": ("[1, 1]", "[-1, 1]", "[0, -1]", "[0]"),
    "o": ("[0, 0]", "[1, 0]", "[0, 2]", "[-1, 0]", "[0]"),
    "d": ("[1, 1]", "[2, 1]", "[0, 1]", "[3]"),
}


def _of_settings() -> Iterator[Text]:
    """One that is odd, and two."""
    usual = {key: values[0] for key, values in _GIVEN.items()}
    weight = _KERNEL.format("2, 2")
    for name, given in _NUMBERS:
        asked = [key for key in _GIVEN if f"{{{key}}}" in given]
        for one in asked:
            for odd in _GIVEN[one][1:]:
                shown = given.format(**usual | {one: odd})
                yield "slow convolutions", f"{_A}{name}({_IMAGE}, {weight}, {shown})"
                for two in asked[asked.index(one) + 1 :]:
                    shown = given.format(**usual | {one: odd, two: _GIVEN[two][1]})
                    yield "slow convolutions", f"{_A}{name}({_IMAGE}, {weight}, {shown})"
    for form, mask in product(("{}", _LAST, "{}.double()", "{}.int()"), ("1, 1, 1", "0, 1, 0")):
        flags = [flag == "1" for flag in mask.split(", ")]
        given = f"{form.format(weight)}, [2, 3], [1, 1], [0, 0]"
        both = f"{form.format('xp.arange(12.).view(2, 2, 1, 3)')}, {form.format(_IMAGE)}"
        call = f"_slow_conv2d_backward.output_mask({both}, {given}, {flags})"
        yield "gradients of slow convolutions", _A + call
    outs = "grad_input=xp.empty(0), grad_weight=xp.zeros(2), grad_bias=xp.zeros(3)"
    for g in ("xp.ones(2, 2, 1, 3)", "xp.ones(2, 3, 1, 3)", "xp.ones(2, 2, 2, 3)", "xp.ones(3)"):
        given = f"{_IMAGE}, {weight}, [2, 3], [1, 1], [0, 0]"
        call = f"_slow_conv2d_backward.grad_input({g}, {given}, {outs})"
        yield "gradients of slow convolutions", _A + call


# --- other names ------------------------------------------------------------------------------

_TIMES: Final = "xp.arange(24.).fmod(5).view(3, 2, 4)"
_TBC: Final = (
    *("xp.arange(24.).fmod(7).view(2, 4, 3), xp.arange(3.), 0", "xp.ones(2, 4, 3), xp.ones(3), 1"),
    *("xp.ones(3, 4, 2), xp.ones(2), 2", "xp.ones(4, 4, 2), xp.ones(2), 0"),
    *("xp.ones(5, 4, 2), xp.ones(2), 0", "xp.ones(2, 3, 2), xp.ones(2), 0"),
    *("xp.ones(2, 4, 2), xp.ones(3), 0", "xp.ones(2, 4), xp.ones(3), 0"),
    *("xp.ones(2, 4, 2), xp.ones(1, 2), 0", "xp.ones(2, 4, 2), xp.ones(2), -1"),
    *("xp.ones(2, 4, 2).double(), xp.ones(2), 0", "xp.ones(0, 4, 2), xp.ones(2), 0"),
)
_ONEDNN: Final = (
    *("{x}, {w}, None, [0, 0], [1, 1], [1, 1], 1", "{x}, {w}, xp.ones(2), [1], [2, 1], [1], 1"),
    *("{x}.double(), {w}, None, [0], [1], [1], 1", "{x}, {w}.double(), None, [0], [1], [1], 1"),
    *("{x}, {w}, xp.ones(2).long(), [0], [1], [1], 1", "{x}, {w}, xp.ones(3), [0], [1], [1], 1"),
    *("{x}[0], {w}[0], None, [0], [1], [1], 1", "{x}[0, 0], {w}[0, 0], None, [], [], [], 1"),
    *("{x}[0], {w}, None, [0], [1], [1], 1", "{x}, {w}, None, [0, 0, 0], [1], [1], 1"),
    *("{x}, {w}, None, [0], [1, 1, 1], [1], 1", "{x}, {w}, None, [0], [1], [1, 1, 1], 1"),
    *("{x}, {w}, None, [-1], [0], [1], 1", "{x}, {w}, None, [0], [0], [0], 1"),
    *("{x}, {w}, None, [0], [1], [0], 0", "{x}, {w}, None, [0], [1], [1], 0"),
    *("{x}, {w}, None, [0], [1], [1], 3", "{x}, {w}, None, [0], [1], [3], 1"),
    *("{x}[:0], {w}, None, [0], [1], [1], 1", "{x}, {w}[:, :, :0], None, [1], [1], [1], 1"),
    "{x}.to(memory_format=xp.channels_last), {w}, None, [0], [1], [1], 1",
    *("{x}, {w}[:, :1], None, [0], [1], [1], 2", "{x}.to('meta'), {w}, None, [0], [1], [1], 1"),
)
_SETTINGS: Final = "None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1"


def _of_other_names() -> Iterator[Text]:
    for given in _TBC:
        yield "convolutions along time", f"{_A}conv_tbc({_TIMES}, {given})"
        moved = f"{_TIMES}.transpose(0, 1).contiguous().transpose(0, 1)"
        yield "convolutions along time", f"{_A}conv_tbc({moved}, {given})"
        yield "convolutions along time", f"{_A}conv_tbc.out({_TIMES}, {given}, out=xp.zeros(1))"
    for given in _TBC[:3]:
        weight, bias, pad = given.rsplit(", ", 2)
        leaves = f"x = {_TIMES}.requires_grad_()\nw = {weight}.requires_grad_()\nb = {bias}"
        loss = f"{_A}conv_tbc(x, w, b, {pad}).pow(2).sum()"
        yield "convolutions along time", f"{leaves}\n{loss}.backward()\n(x.grad, w.grad)"
        twice = f"g = xp.autograd.grad({loss}, [x, w], create_graph=True)"
        more = "(g[0].pow(2).sum() + g[1].sum()).backward()\n(x.grad, w.grad)"
        yield "convolutions along time", f"{leaves}\n{twice}\n{more}"
    x, w = "xp.arange(18.).view(1, 2, 3, 3)", "xp.arange(16.).fmod(5).view(2, 2, 2, 2)"
    for given in _ONEDNN:
        yield "convolutions of oneDNN", f"{_A}mkldnn_convolution({given.format(x=x, w=w)})"
    leaves = f"x = {x}.requires_grad_()\nw = {w}.requires_grad_()\nb = xp.ones(2)"
    call = f"{_A}mkldnn_convolution(x, w, b, [0], [1], [1], 1).pow(2).sum().backward()"
    yield "convolutions of oneDNN", f"{leaves}\n{call}\n(x.grad, w.grad)"
    for device in ("cpu", "meta"):
        both = f"{x}.to('{device}'), {w}.to('{device}')"
        flags = "False, False, False"
        grad = f"xp.ones(1, 2, 2, 2, device='{device}')"
        rest = _SETTINGS.removeprefix("None, ")
        for call in (
            f"_convolution.deprecated({both}, {_SETTINGS}, {flags})",
            f"_convolution({both}, {_SETTINGS}, {flags}, True)",
            f"convolution_overrideable({both}, {_SETTINGS})",
            f"convolution_backward_overrideable({grad}, {both}, {rest}, [True] * 3)",
        ):
            yield "convolutions of old", _A + call
