"""Programs for the area ``pipeline``: what waits, interleaved with what does not.

A program has operators, views and changes in place as those of the area ``autograd``, and between
them what asks for values (boundaries), flushes, random numbers, factories, ``out=``, other dtypes,
other threads, names that are forgotten and blocks within the block.  Its limits are 1, 2, 7 calls
or none.  Nothing is caught but what the call itself refuses, so the first refusal ends a program.

Beside them are small texts about what a random program seldom has (`lists_of_views`).
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import product
from typing import Final

from conformance.cases.autograd_programs import Shape, Writer

LIMITS: Final = ("", "max_ops=1", "max_ops=2", "max_ops=7")

_LEAVES: Final = (
    ("xp.tensor([[1.0, 2.0, 3.0], [4.0, 0.5, 2.0]])", (2, 3)),
    ("xp.tensor([0.5, 1.5, 2.5])", (3,)),
    ("xp.tensor([[3.0, 1.0, 2.0], [0.5, 1.0, 4.0]], dtype=xp.float64)", (2, 3)),
    ("xp.tensor([[1.0, 2.0], [3.0, 4.0]])", (2, 2)),
    ("xp.tensor(2.0)", ()),
    ("xp.tensor([[1.0, 2.0, 3.0], [4.0, 0.5, 2.0]], requires_grad=True)", (2, 3)),
    ("xp.tensor([0.5, 1.5, 2.5], requires_grad=True)", (3,)),
    ("xp.ones(2, 3, requires_grad=True)", (2, 3)),
)
_ASKED: Final = (
    *("xp.tensor({}.tolist())", "xp.tensor({}.sum().item())", "bool(({} > 1).any())"),
    *("xp.tensor(float({}.mean()))", "int({}.detach().sum() > 5)", "len({}.nonzero())"),
    *("{}[{} > 1]", "{}._version", "{}.grad_fn", "{}.requires_grad", "{}.is_leaf", "{}.shape"),
    *("{}.stride()", "{}.storage_offset()", "{}._is_view()", "len(repr({})) > 5", "{}.dtype"),
    *("xp.tensor({}.detach().numpy().tolist())", "deepcopy({}).detach() + 0", "{}.numel()"),
    *("[xp.tensor(each.tolist()) for each in {}.reshape(-1)]", "1 if {}.sum() > 3 else 0"),
    *("xp.tensor({}.to('cpu').tolist())", "{}.untyped_storage().nbytes()", "{}.is_contiguous()"),
    *("{}.detach().requires_grad", "xp.get_rng_state().sum()", "xp.masked_select({}, {} > 1)"),
    *("xp.tensor({}.unbind()[0].tolist())", "{}.is_inference()", "{}.output_nr", "{}.ndim"),
    *("{}.max() == {}.max()", "in_thread(lambda: xp.tensor({}.tolist()))", "len(str({})) > 5"),
    *("in_thread(lambda: xp.tensor(({} + 1).sum().item()))", "in_thread(lambda: {}.requires_grad)"),
)
"""Questions, most of which need values.  Numbers are answered in tensors, whose elements may differ
in the last digit."""
_SAME: Final = (
    *("({} > 1).to(xp.float32)", "{}.double()", "{}.to(xp.complex64).real", "{}.to(xp.float32)"),
    *("{}.sign()", "{}.floor()", "{}.cumsum(0) if {}.dim() else {}", "{}.trunc()", "{}.float()"),
    *("xp.zeros_like({})", "xp.ones_like({})", "xp.full_like({}, 1.5)", "{}.contiguous()"),
    *("{}.masked_fill({} > 2, 0.5)", "{}.clamp(0.5, 3.0)", "xp.maximum({}, {} - 1)", "{}.relu()"),
    *("{}.flip(0) if {}.dim() else {}.clone()", "{}.detach().clone()", "{}.long() * 0.5"),
    *("xp.func.functionalize(lambda x: x.clone().add_(1))({})", "{}.roll(1)", "{}.square()"),
    *("xp._foreach_mul([{}, {}], 2)[1]", "xp.nn.functional.relu({})", "{}.abs().neg()"),
    *("xp.add({}, {}, alpha=2)", "xp.lerp({}, {} * 2, 0.5)", "xp.addcmul({}, {}, {}, value=0.5)"),
)
_RANDOM: Final = (
    *("xp.rand_like({})", "xp.bernoulli({}.detach() * 0 + 0.25)", "{} + xp.rand({}.shape)"),
    *("xp.nn.functional.dropout({}, 0.5)", "{}.detach().clone().uniform_()", "{}.bernoulli(0.5)"),
    *("xp.empty_like({}).uniform_()", "xp.randint_like({}, 10)", "xp.rand({}.shape, generator=g)"),
    *("{}.detach().clone().random_(0, 9)", "{} * xp.randint(0, 5, {}.shape, generator=g)"),
)
"""Numbers whose bits are the same everywhere (`_INEXACT` has normal ones)."""
_INEXACT: Final = (
    *("{}.exp()", "{}.tanh()", "{}.softmax(-1)", "{}.cos()", "{}.abs().sqrt()", "{}.sigmoid()"),
    *("xp.nn.functional.gelu({}.abs())", "xp.log_softmax({}, -1)", "{}.detach().clone().sin_()"),
    *("xp.normal({}.detach(), 1.0, generator=xp.Generator().manual_seed(5))", "{}.exp().sum()"),
    *("{}.detach().clone().normal_(generator=xp.Generator().manual_seed(3))", "{}.expm1()"),
    *("xp.exp({}.detach(), out=xp.empty_like({}))", "{}.detach().clone().tanh_().view(-1)"),
    *("xp.randn({}.shape, generator=xp.Generator().manual_seed(9))", "({} + 5).log().neg()"),
)
"""What differs in the last digit from machine to machine: it is shown, and nothing comes of it.
The generators of normal numbers are their own, for such a digit is part of their state."""
_CHANGES: Final = (
    *("{}.floor_()", "{}.uniform_()", "{}.clamp_(0.5, 3.0)", "{}.masked_fill_({} > 2, 0.5)"),
    *("{}[...] = 1.5", "{}.copy_({}.detach().clone() + 1)", "xp.mul({}.clone(), 2, out={})"),
    *("xp._foreach_add_([{}], 1)", "{}.detach_()", "{}.detach().add_(1)", "{}.data.mul_(2)"),
    *("{}.data = {}.detach() + 1", "{}.set_({}.detach().clone())", "{}.grad = None"),
    *("in_thread(lambda: {}.mul_(2) and None)", "{}.zero_().add_(2)", "{} += 1", "{}.sub_(0.25)"),
    *("xp.func.functionalize(lambda x: x.mul_(2))({})", "{}.requires_grad_(False)", "{} *= 2"),
    *("{}.addcmul_({}.clone(), xp.ones(()), value=0.5)", "{}.uniform_(generator=g)", "{}.sign_()"),
)
_STATEMENTS: Final = (
    *("queue.flush()", "queue.flush()", "queue.flush()", "xp.manual_seed(3)", "g.manual_seed(2)"),
    *("log.append(g.initial_seed())", "state = xp.get_rng_state()", "g.set_state(g.get_state())"),
)
_REFUSED: Final = ("{} + xp.ones(7, 7, 7)", "{}.view(77)", "xp.mm({}, xp.ones(9))", "{}.nosuch")
"""What the call itself refuses."""
_MADE: Final = (
    ("xp.zeros(2, 3)", (2, 3)),
    ("xp.full((3,), 2.5)", (3,)),
    ("xp.arange(6.0).view(2, 3)", (2, 3)),
    ("xp.eye(2)", (2, 2)),
    ("xp.tensor([1.5, 2.5, 3.5])", (3,)),
    ("xp.rand(2, 3)", (2, 3)),
    ("xp.rand(3, generator=g)", (3,)),
    ("xp.randperm(3).float()", (3,)),
)


class _Interleaved(Writer):
    """Lines of a block, and what else than values is there to forget or to ask."""

    def __init__(self, generator: random.Random) -> None:
        super().__init__(generator)
        self.kept: set[str] = set()
        #: Names that are shown and not used.
        self.results: list[str] = []

    def define(self, expression: str, shape: Shape, margin: str = "") -> str:
        """Names are never used again, be they forgotten."""
        name = f"t{self.count}"
        self.count += 1
        self.lines.append(f"{margin}{name} = {expression}")
        self.shapes[name] = shape
        return name

    count = 0

    def mixed_step(self) -> None:
        kind, name = self.generator.random(), self.pick()
        if kind < 0.4:
            self.step()
        elif kind < 0.52:
            self.apply(_SAME, name, self.shapes[name])
        elif kind < 0.58:
            self.apply(_RANDOM, name, self.shapes[name])
        elif kind < 0.62:
            self.conclude(name)
        elif kind < 0.7:
            self.lines.append(self.generator.choice(_CHANGES).replace("{}", name))
        elif kind < 0.8:
            asked = self.generator.choice(_ASKED).replace("{}", name)
            self.lines.append(f"log.append({asked})")
        elif kind < 0.85:
            self.lines.append(self.generator.choice(_STATEMENTS))
        elif kind < 0.9:
            self.define(*self.generator.choice(_MADE))
        elif kind < 0.93:
            refused = self.generator.choice(_REFUSED).replace("{}", name)
            found = "log.append((type(error).__name__, str(error)))"
            self.lines.append(f"try: {refused}\nexcept Exception as error: {found}")
        elif kind < 0.97:
            self.forget(name)
        else:
            self.block()

    def finish(self) -> None:
        """Of tensors that autograd has nothing to do with, what they are."""
        if any("requires_grad=True" in line for line in self.lines):
            super().finish()
        else:
            asked = "(t, t._version, t.is_leaf, t._is_view(), t.stride())"
            self.lines.append(f"[{asked} for t in [{', '.join(self.shapes)}]]")

    def apply(self, pool: tuple[str, ...], name: str, shape: Shape) -> None:
        self.define(self.generator.choice(pool).replace("{}", name), shape)

    def conclude(self, name: str) -> None:
        """A result of which nothing comes."""
        result = f"r{len(self.results)}"
        self.lines.append(f"{result} = {self.generator.choice(_INEXACT).replace('{}', name)}")
        self.results.append(result)

    def forget(self, name: str) -> None:
        """A name less: what was computed for it, nobody may ever see."""
        if name not in self.kept and len(self.shapes) > 1:
            del self.shapes[name]
            self.lines.append(f"del {name}")

    def block(self) -> None:
        """A block within the block."""
        at = len(self.lines)
        for _ in range(self.generator.randint(1, 3)):
            self.step()
        steps = self.lines[at:] or ["inner.flush()"]
        inner = [f"    {line}" for line in "\n".join(steps).split("\n")]
        limits = self.generator.choice(LIMITS)
        self.lines[at:] = [f"with pipeline({limits}) as inner:", *inner]


_LISTS: Final = (
    *("x.chunk({})", "x.split(2 // {})", "x.tensor_split({})", "x.view({}, -1).unbind()"),
    *("x.split([2] if {} == 1 else [1, 1])", "xp.hsplit(x, {})"),
)
_TRIED: Final = "try: r = v.view(-1) + v\n    except Exception as error: r = str(error)"
_OF_A_VIEW: Final = (
    *("v.mul_(xp.ones(2, requires_grad=True)[: v.numel()])", "v.add_(1)", "v.requires_grad_()"),
    *("v.detach_()", "r = v + 1", "v.mul_(2) if not v.requires_grad else v"),
    *(f"with xp.no_grad(): {change}\n    {_TRIED}" for change in ("x.mul_(2)", "v.mul_(2)")),
    f"r = v * 2\n    with xp.no_grad(): x.mul_(2)\n    {_TRIED}",
)


def lists_of_views() -> Iterator[tuple[str, str]]:
    """Operators that answer lists, of one view or two, and what may be done with the first."""
    for answer, count, then in product(_LISTS, (1, 2), _OF_A_VIEW):
        for turn, leaf in enumerate(("xp.ones(2)", "xp.ones(2, requires_grad=True) * 1")):
            flush = "\n    queue.flush()" if (count + turn) % 2 else ""
            asked = "v.detach(), r, v._version, v._is_view()"
            yield (
                "lists of views",
                f"x, r = {leaf}, 0\nwith pipeline() as queue:\n    v = {answer.format(count)}[0]"
                f"{flush}\n    {then}\n    queue.flush()\n({asked})",
            )


_OTHERWISE_ON_META: Final = (
    "xp.nonzero_static(xp.ones(2, 3), size=2)",
    "xp.ones(3)[xp.tensor([[0, 1], [1, 2], [0, 2]]).t()]",
    *(
        f"xp.native_layer_norm(xp.ones(2, 3, dtype=xp.{dtype}), [3], {weight}, None, 1e-5)"
        for dtype, weight in product(
            ("float32", "float16", "bfloat16"), ("None", "xp.ones(3)", "xp.ones(3, dtype=xp.half)")
        )
    ),
    *(
        f"xp.nn.functional.huber_loss(xp.ones(2), xp.ones({other}), reduction='{reduction}')"
        for other, reduction in product(
            ("2", "2, dtype=xp.float64", "3, 2, dtype=xp.float64"), ("mean", "none")
        )
    ),
    *("xp.nansum(xp.ones(3), [])", "xp.nanmean(xp.ones(3), [])"),
    *("xp.polar(xp.ones(2, 3).t(), xp.ones(2))", "xp.complex(xp.ones(2, 3).t(), xp.ones(2))"),
    *("xp.nn.functional.hardtanh(xp.ones(4)[::4], 0, 6)", "xp.xlogy(xp.ones(1, 1, 3).mT, 1)"),
    *(
        f"xp.{name}(xp.ones(2, 2, 2, dtype=xp.{dtype}).mT[:, :, :1]{more})"
        for dtype, (name, more) in product(
            ("int64", "float32"),
            (("log2", ""), ("neg", ""), ("add", ", 1.5"), ("mul", ", xp.ones(2, 1)"), ("mean", "")),
        )
    ),
    *(
        f"xp.conv2d(xp.ones(2, 2, 5, 4){one}, xp.ones(2, 2, 3, 3){two})"
        for one, two in product(("", ".to(memory_format=xp.channels_last)"), repeat=2)
    ),
    "xp.ops.aten._native_batch_norm_legit_no_training"
    "(xp.ones(1, 3, 2), None, None, xp.ones(3), xp.ones(3), 0.3, 1e-5)",
)


def otherwise_on_meta() -> Iterator[tuple[str, str]]:
    """What a backend's kernel answers in other strides or dtypes than the meta kernel, asked of a
    tensor that may be waiting."""
    for call in _OTHERWISE_ON_META:
        yield (
            "otherwise on meta",
            f"with pipeline() as queue:\n    found = {call}\n"
            "    found = found if isinstance(found, tuple) else [found]\n"
            "    shown = [(each.dtype, each.shape, each.stride()) for each in found]\nshown",
        )


_MODES: Final = ("xp.inference_mode()", "xp.inference_mode(False)")
_OF_DATA: Final = (
    *("v.expand(2, 2)", "v.unbind()", "v * 2", "v.detach()", "v.add_(1)", "v.view(2)", "v[0]"),
    *("v.clone().add_(v)", "v.t() + 1", "v.chunk(2, 1)[1].mul_(2)", "xp.neg(v, out=v)"),
)


def data_of_another_mode() -> Iterator[tuple[str, str]]:
    """A tensor, or a view, whose data were made in another mode, and which of both says whether
    versions are counted; what may be done with it is refused or not by the call itself."""
    for made, given, view, then in product(_MODES, _MODES, ("v", "v.view(1, 2)"), _OF_DATA):
        yield (
            "data of another mode",
            f"with {made}:\n    v = xp.ones(1, 2)\nv, log = {view}, []\n"
            f"with {given}:\n    d = xp.zeros(1, 2)\nv.data = d\nwith pipeline() as queue:\n"
            f"    try:\n        log.append({then})\n    except Exception as error:\n"
            f"        log.append(str(error))\n(log, v, v.is_inference())",
        )


def program(generator: random.Random) -> str:
    """The text of one."""
    writer = _Interleaved(generator)
    for leaf in generator.sample(_LEAVES, generator.randint(1, 2)):
        writer.kept.add(writer.define(*leaf))
    if generator.random() < 0.6:
        name = writer.pick()
        writer.define(f"{name}.clone()", writer.shapes[name])
    before = len(writer.lines) if generator.random() < 0.5 else 0
    for _ in range(generator.randint(3, 14)):
        writer.mixed_step()
    within = len(writer.lines)
    writer.finish()
    *ending, answer = writer.lines[within:]
    if generator.random() < 0.5:  # backward within the block
        within += len(ending)
    made, body, after = writer.lines[:before], writer.lines[before:within], writer.lines[within:-1]
    body = body or ["queue.flush()"]  # where every step had nothing to do
    indented = [f"    {line}" for line in "\n".join(body).split("\n")]
    block = f"with pipeline({generator.choice(LIMITS)}) as queue:"
    start = ["log = []", "xp.manual_seed(1)", "g = xp.Generator().manual_seed(7)"]
    tensors = ", ".join((*writer.shapes, *writer.results))
    shown = f"(log, {answer}, [{tensors}], xp.get_rng_state().sum())"
    return "\n".join((*start, *made, block, *indented, *after, shown))
