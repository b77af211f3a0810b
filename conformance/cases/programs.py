"""Area ``programs``: programs that train, from the same seed on both sides.

A perceptron, a transformer block and a convolutional network, trained for fifty steps: all losses
are shown to four digits, and those of the first twenty steps compare by the rule of
:mod:`conformance.closeness`.  The same programs on meta, where only shapes come out.  Then what
programs do around that: descent by hand, accumulation, clipping, freezing, groups of parameters,
states saved and loaded, hooks; modules and optimizers as text, and what they refuse.

Weights after training, and further digits of late losses, are not compared: a last digit that
differs grows over the steps, and torch's own differ between processors.
"""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import indent
from typing import Final

from hypothesis import strategies as st

from conformance.area import Area, Text
from conformance.cases import programs_hooks, programs_modules, programs_optimizers
from conformance.cases.programs_pools import (
    CLIPPED,
    LAYERS,
    LIMITED,
    LOSSES,
    MODULES,
    NORMALIZED,
    OPTIMIZERS,
    OVERRIDDEN,
    REDUCED,
    REFUSED,
    SMALL,
    WRONG_OPTIMIZERS,
)
from mindtorch_v2.profile import Profile

STEPS: Final = 50
EARLY: Final = 20
"""Steps whose losses compare in all their digits."""

_HEAD: Final = "xp.manual_seed({seed})\nnn = xp.nn\nF = nn.functional\n"
_LOOP: Final = (
    "losses = []\n"
    "for i in range({steps}):\n"
    "    optimizer.zero_grad()\n"
    "    loss = compute()\n"
    "    loss.backward()\n"
    "    optimizer.step()\n"
    "    losses.append(loss.detach())\n"
)
_SHOWN: Final = f"['%.4f' % loss.item() for loss in losses], xp.stack(losses[:{EARLY}])"
_EVERY_LOSS: Final = "xp.stack(losses)"
"""Of few steps: text would not say how close two of them are."""
_SHAPES: Final = "[(p.shape, p.grad.shape, p.grad.device) for p in parameters], losses[-1]"

_OVERRIDING: Final = (
    "class Asked:\n"
    "    @classmethod\n"
    "    def __torch_function__(cls, func, types, args=(), kwargs=None):\n"
    "        return func.__name__, types, args[1:], kwargs\n"
    "F, o, t = xp.nn.functional, Asked(), xp.ones(2)\n"
)
_WITH_GRADIENTS: Final = (
    "p, q, r = (xp.nn.Parameter(xp.ones(n)) for n in (2, 3, 1))\n"
    "(p * 3 + q.double().sum() * xp.tensor([1.0, -2.0])).sum().backward()\n"
)

MLP: Final = (
    "net = nn.Sequential(nn.Linear(4, 16), {activation}, nn.Dropout({p}), nn.Linear(16, 3))\n"
    "x, y = xp.randn(12, 4), xp.randint(3, (12,))\n"
    "compute = lambda: F.cross_entropy(net(x), y)\n"
    "parameters = list(net.parameters())\n"
)
TRANSFORMER: Final = (
    "embed, norm1, norm2 = nn.Embedding(11, 8), nn.LayerNorm(8), nn.LayerNorm(8)\n"
    "qkv, out, head = nn.Linear(8, 24), nn.Linear(8, 8), nn.Linear(8, 11)\n"
    "mlp = nn.Sequential(nn.Linear(8, 32), {activation}, nn.Linear(32, 8), nn.Dropout({p}))\n"
    "def attend(t):\n"
    "    q, k, v = [part.view(2, 6, 2, 4).transpose(1, 2) for part in qkv(t).chunk(3, -1)]\n"
    "    scores = (q @ k.transpose(-2, -1) * 0.5).masked_fill(mask, float('-inf'))\n"
    "    mixed = F.dropout(scores.softmax(-1), {p}) @ v\n"
    "    return out(mixed.transpose(1, 2).reshape(2, 6, 8))\n"
    "tokens = xp.randint(11, (2, 7))\n"
    "mask = xp.ones(6, 6, dtype=xp.bool).triu(1)\n"
    "def compute():\n"
    "    t = embed(tokens[:, :-1])\n"
    "    t = t + attend(norm1(t))\n"
    "    t = t + mlp(norm2(t))\n"
    "    return F.cross_entropy(head(t).flatten(0, 1), tokens[:, 1:].flatten())\n"
    "all = nn.ModuleList([embed, norm1, norm2, qkv, out, head, mlp])\n"
    "parameters = list(all.parameters())\n"
)
CONVOLUTIONAL: Final = (
    "net = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), {activation}, nn.MaxPool2d(2),\n"
    "    nn.Conv2d(4, 6, 2), {activation}, nn.Flatten(), nn.Dropout({p}), nn.Linear(24, 3))\n"
    "x, y = xp.randn(6, 1, 6, 6), xp.randint(3, (6,))\n"
    "compute = lambda: F.nll_loss(net(x).log_softmax(1), y)\n"
    "parameters = list(net.parameters())\n"
)
NETWORKS: Final = {"MLP": MLP, "transformer": TRANSFORMER, "convolutional": CONVOLUTIONAL}
ACTIVATIONS: Final = ("nn.ReLU()", "nn.GELU()", "nn.SiLU()")


def texts(profile: Profile) -> Iterator[Text]:
    yield from _trained()
    yield from _on_meta()
    yield from _modules()
    yield from programs_hooks.texts()
    for text in SMALL:
        yield "training", text
    for made in (*OPTIMIZERS, *WRONG_OPTIMIZERS):
        head = "p = xp.ones(2, requires_grad=True)\nq = xp.ones(1, requires_grad=True)\n"
        yield "optimizers", f"{head}repr({made.format('[p, q]')})"
    for text in REFUSED:
        yield "refused", text
    yield from programs_modules.texts()
    yield from programs_optimizers.texts()


def _trained() -> Iterator[Text]:
    """Each network with both ways of training that matter most; each optimizer for some steps."""
    for name, network in NETWORKS.items():
        for optimizer, activation, p in (
            (OPTIMIZERS[0], ACTIVATIONS[0], "0.0"),
            (OPTIMIZERS[0], ACTIVATIONS[1], "0.2"),
            (OPTIMIZERS[2], ACTIVATIONS[2], "0.1"),
        ):
            yield name, _program(network, optimizer, activation, p, 0, STEPS) + _SHOWN
    for optimizer in OPTIMIZERS:
        yield "MLP", _program(MLP, optimizer, ACTIVATIONS[0], "0.0", 1, 10) + _SHOWN


def _program(network: str, optimizer: str, activation: str, p: str, seed: int, steps: int) -> str:
    made = network.format(activation=activation, p=p)
    loop = _LOOP.format(steps=steps)
    return f"{_HEAD.format(seed=seed)}{made}optimizer = {optimizer.format('parameters')}\n{loop}"


def _on_meta() -> Iterator[Text]:
    """Every tensor that is made has no values."""
    for name, network in NETWORKS.items():
        for optimizer, p in zip(OPTIMIZERS[:2], ("0.0", "0.2"), strict=True):
            text = _program(network, optimizer, ACTIVATIONS[0], p, 0, 2)
            yield name, _without_values(text) + _SHAPES


def _without_values(text: str) -> str:
    for made in ("xp.randn(12, 4", "xp.randn(6, 1, 6, 6", "xp.randint(3, (12,)"):
        text = text.replace(made, f"{made}, device='meta'")
    for made in ("xp.randint(3, (6,)", "xp.randint(11, (2, 7)"):
        text = text.replace(made, f"{made}, device='meta'")
    text = text.replace("xp.ones(6, 6", "xp.ones(6, 6, device='meta'")
    for made in ("Linear(", "Embedding(", "LayerNorm(", "Conv2d("):
        text = text.replace(f"nn.{made}", f"nn.{made}device='meta', *(")
    return _closed(text)


def _closed(text: str) -> str:
    """``f(device='meta', *(`` has a parenthesis more: close it where the call closes."""
    parts = text.split("device='meta', *(")
    closed = [parts[0]]
    for part in parts[1:]:
        depth, place = 1, 0
        while depth:
            depth += {"(": 1, ")": -1}.get(part[place], 0)
            place += 1
        arguments, rest = part[: place - 1], part[place - 1 :]
        closed.append(f"{arguments}, device='meta'{rest}")
    return "".join(closed)


def _modules() -> Iterator[Text]:
    for made in MODULES:
        yield "modules", f"nn = xp.nn\nrepr({made})"
    for made, given in LAYERS:
        head = f"xp.manual_seed(3)\nnn = xp.nn\nnet = {made}\n"
        yield "modules", f"{head}net(xp.{given})"
        yield "modules", f"{head}[(n, p) for n, p in net.named_parameters()]"
        yield (
            "modules",
            f"{head}net(xp.{given}).sum().backward()\n[p.grad for p in net.parameters()]",
        )
        yield "modules", f"{head}list(net.state_dict().items())"
        yield "modules", f"{head}[n for n, m in net.named_modules()], net.training"
        yield "modules", f"{head}net.double()\n[p.dtype for p in net.parameters()]"
        yield (
            "modules",
            f"{head}net.requires_grad_(False)\n[p.requires_grad for p in net.parameters()]",
        )
    for made, given in NORMALIZED:
        head = f"xp.manual_seed(3)\nnn = xp.nn\nnet = {made}\nx = xp.{given}.requires_grad_()\n"
        grads = "(x.grad, [p.grad for p in net.parameters()], list(net.state_dict().items()))"
        yield "modules", f"{head}net(x), net(x)"
        yield "modules", f"{head}(net(x) * x ** 2).sum().backward()\n{grads}"
    for call in OVERRIDDEN:
        yield "overridden", f"{_OVERRIDING}{call}"
    for given in CLIPPED:
        yield (
            "clip_grad_norm_",
            f"{_WITH_GRADIENTS}n = xp.nn.utils.clip_grad_norm_({given})\n(n, p.grad, q.grad)",
        )
    for given, device in LIMITED:
        made = (
            _WITH_GRADIENTS
            if device == "cpu"
            else f"with xp.device('{device}'):\n" + indent(_WITH_GRADIENTS, "    ")
        )
        call = f"xp.nn.utils.clip_grad_value_({given})"
        yield "clip_grad_value_", f"{made}n = {call}\n(n, p.grad, q.grad)"
    for made, compared in LOSSES:
        head = f"nn = xp.nn\nx = xp.{compared[0]}.requires_grad_()\ny = xp.{compared[1]}\n"
        yield "losses", f"{head}loss = nn.{made}(x, y)\nloss.sum().backward()\nloss, x.grad"
    for call in REDUCED:
        yield "losses", f"x, y = xp.arange(6.0).view(2, 3), xp.tensor([2, 0])\n{call}"


def strategy(profile: Profile) -> st.SearchStrategy[Text]:
    """A network with drawn parts, trained for a few steps."""
    return st.builds(
        lambda name, optimizer, activation, p, seed: (
            name,
            _program(NETWORKS[name], optimizer, activation, p, seed, 3) + _EVERY_LOSS,
        ),
        st.sampled_from(sorted(NETWORKS)),
        st.sampled_from(OPTIMIZERS),
        st.sampled_from(ACTIVATIONS),
        st.sampled_from(["0.0", "0.1", "0.5"]),
        st.integers(0, 2**32),
    )


AREA: Final = Area("programs", texts, strategy, close=True, examples={"ci": 30, "dev": 30})
