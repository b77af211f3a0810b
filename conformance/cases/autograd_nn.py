"""Gradients of the operators of neural networks for the area autograd.

Each is asked with weights for its results, since the plain sum of what softmax and layer_norm
answer does not depend on what they are given.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final

from conformance.area import Text

_LEAVES: Final = (
    "def made(*sizes):\n"
    "    count = xp.ones(sizes).numel()\n"
    "    t = (xp.arange(count, dtype=xp.float64) ** 2 * 3 % 11 + 1) / 4\n"
    "    return t.view(sizes).requires_grad_()\n"
    "n = xp._C._nn\n"
    "labels = xp.tensor([2, 0])\n"
)

#: An operator of ``x``, perhaps of ``w`` and ``b``; and their sizes.
OPERATORS: Final = (
    ("x.softmax(1)", "2, 3"),
    ("x.softmax(0)", "2, 3"),
    ("x.softmax(0)", ""),
    ("x.log_softmax(-1)", "2, 3"),
    ("x.log_softmax(0)", "2, 3, 2"),
    ("xp.layer_norm(x, (3,), eps=0.5)", "2, 3"),
    ("xp.layer_norm(x, (2, 3), eps=0.5)", "2, 2, 3"),
    ("xp.layer_norm(x, (3,), w)", "2, 3", "3"),
    ("xp.layer_norm(x, (3,), w, b)", "2, 3", "3", "3"),
    ("xp.layer_norm(x, (3,), None, b, 0.5)", "2, 3", "3", "3"),
    ("xp.embedding(x, xp.tensor([1, 0, 1]))", "3, 2"),
    ("xp.embedding(x, xp.tensor([[1, 0], [2, 2]]), 2)", "3, 2"),
    ("xp.embedding(x, xp.tensor([1, 0, 1]), -1, True)", "3, 2"),
    ("n.mse_loss(x, w)", "2, 3", "2, 3"),
    ("n.mse_loss(x, w, 0)", "2, 3", "2, 3"),
    ("n.mse_loss(x, w, 2)", "2, 3", "2, 3"),
    ("n.l1_loss(x, w + 0.1)", "2, 3", "2, 3"),
    ("n.nll_loss(x, labels)", "2, 3"),
    ("n.nll_loss(x, labels, None, 0)", "2, 3"),
    ("n.nll_loss(x, labels, xp.ones(3, dtype=xp.float64) * 2, 2, 0)", "2, 3"),
    ("n.nll_loss_nd(x, xp.ones(2, 2).long())", "2, 3, 2"),
    ("n.nll_loss_nd(x, xp.ones(2, 1, 2).long(), None, 0)", "2, 3, 1, 2"),
    ("n.cross_entropy_loss(x, labels)", "2, 3"),
    ("n.cross_entropy_loss(x, labels, None, 2)", "2, 3"),
    ("n.cross_entropy_loss(x, labels, None, 1, -100, 0.1)", "2, 3"),
    ("n.cross_entropy_loss(x, w)", "2, 3", "2, 3"),
    ("xp.conv2d(x, w)", "1, 2, 4, 4", "3, 2, 2, 2"),
    ("xp.conv2d(x, w, b)", "2, 2, 4, 4", "2, 2, 3, 3", "2"),
    ("xp.conv2d(x, w, b, 2, 1)", "2, 2, 4, 4", "2, 2, 3, 3", "2"),
    ("xp.conv2d(x, w, None, 1, 0, 2)", "1, 1, 5, 5", "1, 1, 2, 2"),
    ("xp.conv2d(x, w, b, groups=2)", "1, 2, 4, 3", "2, 1, 2, 2", "2"),
    ("xp.conv2d(x, w)", "2, 4, 4", "3, 2, 2, 2"),
    ("xp.conv1d(x, w, b, padding='same')", "1, 2, 4", "2, 2, 3", "2"),
    ("xp.conv1d(x, w, padding='same')", "1, 2, 4", "2, 2, 2"),
    ("xp.conv3d(x, w, padding='valid')", "1, 2, 2, 3, 2", "1, 2, 2, 1, 2"),
    ("xp.conv_transpose1d(x, w, b, 2, 1, 1)", "1, 2, 4", "2, 2, 3", "2"),
    ("xp.conv_transpose2d(x, w, b, groups=2)", "1, 4, 2, 3", "4, 1, 2, 2", "2"),
    ("xp.conv_transpose3d(x, w)", "1, 2, 2, 1, 2", "2, 1, 2, 1, 2"),
    ("xp.convolution(x, w, None, [1], [0], [1], False, [0], 1)", "1, 2, 4", "2, 2, 3"),
    ("xp.ops.aten.convolution(x, w, b, [1], [0], [1], True, [0], 1)", "1, 2, 4", "2, 2, 3", "2"),
    ("xp.constant_pad_nd(x, [1, -1, 0, 2], 3)", "2, 3"),
    ("xp.batch_norm(x, w, b, None, None, True, 0.1, 0.5, True)", "2, 3, 2", "3", "3"),
    ("xp.batch_norm(x, None, None, None, None, True, 0.1, 0.5, True)", "4, 3"),
    (
        "xp.batch_norm(x, w, b, xp.ones(3).double(), xp.ones(3).double(), False, 0.1, 0.5, True)",
        *("2, 3, 2", "3", "3"),
    ),
    ("xp.instance_norm(x, w, b, None, None, True, 0.1, 0.5, True)", "2, 3, 2", "3", "3"),
    ("xp.max_pool2d(x, 2)", "1, 2, 4, 4"),
    ("xp.max_pool2d(x, 3, 1, 1)", "1, 1, 4, 4"),
    ("xp.max_pool2d(x, 2, 2, 0, 1, True)", "1, 3, 5"),
    ("x.logcumsumexp(1)", "2, 3"),
    ("x.kthvalue(2)[0]", "2, 3"),
    ("x.mode(0, True)[0]", "2, 3"),
    ("xp.inner(x, w)", "2, 3", "4, 3"),
    ("xp.ops.aten.tensordot(x, w, [0], [1])", "2, 3", "3, 2"),
    ("n.linear(x, w)", "2, 3", "4, 3"),
    ("n.linear(x, w, b)", "2, 3", "4, 3", "4"),
    ("n.linear(x, w, b)", "2, 2, 3", "4, 3", "4"),
    ("n.linear(x, w, b)", "3", "4, 3", "4"),
    ("n.gelu(x)", "2, 3"),
    ("n.gelu(x, approximate='tanh')", "2, 3"),
    ("n.silu(x)", "2, 3"),
    ("n.leaky_relu(x - 1, 0.2)", "2, 3"),
    ("xp.dropout(x, 0.5, True)", "3, 4"),
    ("xp.dropout(x, 0.5, False)", "3, 4"),
    ("xp.dropout(x, 1.0, True)", "3, 4"),
    ("xp.native_dropout(x, 0.25, True)[0]", "3, 4"),
)

#: What has a second derivative.
TWICE: Final = (
    ("n.gelu(x)", "2, 3"),
    ("n.gelu(x, approximate='tanh')", "2, 3"),
    ("n.mse_loss(x, w)", "2, 3", "2, 3"),
    ("n.mse_loss(x, w, 0)", "2, 3", "2, 3"),
    ("n.mse_loss(x, w, 2)", "2, 3", "2, 3"),
    ("xp.native_dropout(x, 0.25, True)[0]", "3, 4"),
    ("n.silu(x)", "2, 3"),
    ("x.softmax(1)", "2, 3"),
    ("xp.constant_pad_nd(x, [1, 2], 3)", "2, 3"),
    ("xp.layer_norm(x, (3,), eps=0.5)", "2, 3"),
    ("xp.layer_norm(x, (3,), w)", "2, 3", "3"),
    ("xp.layer_norm(x, (2, 3), w, b, 0.5)", "2, 2, 3", "2, 3", "2, 3"),
    ("xp.layer_norm(x, (3,), None, b, 0.5)", "2, 3", "3", "3"),
    ("n.elu(x - 1, 2, 3, 0.5)", "2, 3"),
    ("n.elu_(x - 1, 2, 3, 0.5)", "2, 3"),
    ("n.softplus(x - 1, 2, 1)", "2, 3"),
    ("n.log_sigmoid(x - 1)", "2, 3"),
    ("n.smooth_l1_loss(x, w)", "2, 3", "2, 3"),
    ("n.smooth_l1_loss(x, w + 0.1, 0, 0.5)", "2, 3", "2, 3"),
    ("n.smooth_l1_loss(x, w + 0.1, 2, 0.0)", "2, 3", "2, 3"),
    ("n.huber_loss(x, w + 0.1)", "2, 3", "2, 3"),
    ("n.huber_loss(x, w + 0.1, 0, 0.5)", "2, 3", "2, 3"),
    ("n.huber_loss(x, w, 2)", "2, 3", "2, 3"),
    ("n.binary_cross_entropy(x / 4, w / 5)", "2, 3", "2, 3"),
    ("n.binary_cross_entropy(x / 4, w / 5, b, 0)", "2, 3", "2, 3", "2, 3"),
    ("xp.max_pool2d(x, 2)", "1, 2, 4, 4"),
    ("xp.max_pool2d(x, 3, 1, 1)", "1, 4, 4"),
    ("xp.max_pool2d(x.contiguous(memory_format=xp.channels_last), 2)", "1, 2, 4, 4"),
    ("xp.conv2d(x, w)", "1, 2, 4, 4", "3, 2, 2, 2"),
    ("xp.conv2d(x, w, b, 2, 1)", "2, 2, 4, 4", "2, 2, 3, 3", "2"),
    ("xp.conv2d(x, w, None, 1, 0, 2)", "1, 1, 5, 5", "1, 1, 2, 2"),
    ("xp.conv2d(x, w, b, groups=2)", "1, 2, 4, 3", "2, 1, 2, 2", "2"),
    ("xp.conv1d(x, w, b, 2)", "1, 2, 4", "2, 2, 3", "2"),
    ("xp.conv3d(x, w, padding='valid')", "1, 2, 2, 3, 2", "1, 2, 2, 1, 2"),
    ("xp.conv_transpose1d(x, w, b, 2, 1, 1)", "1, 2, 4", "2, 2, 3", "2"),
    ("xp.conv_transpose2d(x, w, b, groups=2)", "1, 4, 2, 3", "4, 1, 2, 2", "2"),
)

_WALK: Final = (
    "def walk(node, depth):\n"
    "    if node is None or depth == 0:\n"
    "        return node and node.name()\n"
    "    return node.name(), [(walk(f, depth - 1), i) for f, i in node.next_functions]\n"
)


#: What writes to an output and has no tensor to derive by, or not only results with gradients.
FILLED: Final = (
    *("xp.zeros(2, out=a)", "xp.ones(2, out=a)", "xp.full([2], 3, out=a)", "xp.arange(2, out=a)"),
    *("xp.linspace(0, 1, 2, out=a)", "xp.eye(1, 2, out=a)", "xp.empty(2, out=a)"),
    *("xp.rand(2, out=a)", "xp.ops.aten.ones_like.out(xp.ones(2), out=a)"),
    *("xp.max(xp.ones(2, 2), 0, out=(xp.zeros(2), a))", "xp.sort(xp.ones(2), out=(a, a))"),
    *("xp.eq(xp.ones(2), 1, out=a)", "xp.argmax(xp.ones(2), out=a)", "xp.add(a, 1, out=a)"),
)
_FILLED: Final = (
    "a = xp.ones(2, requires_grad=True)",
    "a = xp.ones(2, requires_grad=True).clone()",
)

_BIASES: Final = (
    "def biases(node):\n"
    "    own = 'Convolution' in node.name() and [node._saved_bias_sym_sizes_opt]\n"
    "    return (own or []) + [b for f, i in node.next_functions if f for b in biases(f)]\n"
)
"""What convolutions know of their biases: C++ hands on an undefined one, and Python none."""


def _program(made: str, sizes: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Leaves and what is made of them, and the leaves' names."""
    names = ("x", "w", "b")[: len(sizes)]
    leaves = "".join(f"{name} = made({size})\n" for name, size in zip(names, sizes, strict=True))
    return f"{_LEAVES}xp.manual_seed(2)\n{leaves}y = {made}\n", names


def texts() -> Iterator[Text]:
    for made, call in product(_FILLED, FILLED):
        yield "out", f"{made}\n{call}\na.grad_fn"
        yield "out", f"{made}\n{call}\n(a * a.detach()).sum().backward()"
    for made, *sizes in TWICE:
        head, names = _program(made, sizes)
        leaves = ", ".join(names)
        first = f"g = xp.autograd.grad((y * y).sum(), [{leaves}], create_graph=True)\n"
        yield (
            made,
            f"{head}{first}h = xp.autograd.grad(sum((a * a).sum() for a in g), [{leaves}])\n(g, h)",
        )
    for made, *sizes in OPERATORS:
        head, names = _program(made, sizes)
        grads = ", ".join(f"{name}.grad" for name in names)
        yield made, f"{head}(y, y.grad_fn, y.requires_grad)"
        yield made, f"{head}(y * made(*y.shape)).sum().backward()\n[{grads}]"
        yield made, f"{_WALK}{head}walk(y.grad_fn, 3)"
        if "conv" in made:
            yield made, f"{_BIASES}{head}biases(y.grad_fn)"
        yield made, f"{head}y.detach().requires_grad, y._version, y.is_leaf"
        yield made, f"{head}(y * y).sum().backward()\n(y * y).sum().backward()"
        yield made, f"{head}x.data.mul_(2)\n(y * made(*y.shape)).sum().backward()\n[{grads}]"
        yield made, f"{head}with xp.no_grad():\n    x.mul_(2)\ny.sum().backward()\nx._version"
        meta = head.replace("dtype=xp.float64)", "dtype=xp.float64, device='meta')")
        meta = meta.replace("xp.tensor([", "xp.tensor(device='meta', data=[")
        if "long()" not in made and "ones(3" not in made and "native" not in made:
            yield made, f"{meta}y.sum().backward()\n[{grads}]"
