"""Texts of area ``autograd`` about gradients of odd tensors: numbers, zeros with a sign, none,
elements that lie in one place, parts that count for themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from conformance.area import Text

#: A tensor and a gradient of it with a complex number: conj makes a tensor of what wraps that.
_WRAPPED: Final = (
    ("xp.tensor(2 + 1j, requires_grad=True)", "xp.tensor(1 + 1j, requires_grad=True)"),
    ("xp.tensor([2 + 1j], requires_grad=True)", "xp.tensor([1 + 1j], requires_grad=True)"),
    ("xp.tensor(2.0, requires_grad=True)", "xp.tensor(1 + 1j, requires_grad=True)"),
    ("xp.tensor([2.0], requires_grad=True)", "xp.tensor([1 + 1j], requires_grad=True)"),
    (
        "xp.tensor(2.0, device='meta', requires_grad=True)",
        "xp.tensor(1 + 1j, device='meta', requires_grad=True)",
    ),
)
_BY_NUMBER: Final = ("z * 2j", "2j * z", "z * (1 + 2j)", "z / 2j", "2j / z", "z + 2j", "z - 2j")

_NORMALIZED: Final = (
    "x = xp.ones(3, 2, requires_grad=True)\nv = xp.ones(2, requires_grad=True)\n"
    "y = xp.nn.functional.layer_norm(x, [2], {}, v).sum()\n"
    "g, h = xp.autograd.grad(y, [x, v], xp.tensor(1.0, requires_grad=True), create_graph=True)\n"
    "xp.autograd.grad({}, x, allow_unused=True)"
)

_IMAGES: Final = (
    *("xp.zeros(0, 8, 4, 4)[:, ::2, ::2, ::2]", "xp.zeros(2, 8, 4, 4)[:, ::2, ::2, ::2]"),
    *("xp.zeros(0, 2, 2, 4).permute(0, 3, 1, 2)", "xp.zeros(2, 2, 2, 4).permute(0, 3, 1, 2)"),
)

_OVERLAPPING: Final = (
    *("xp.ones(1, 3).expand(3, 3)", "xp.ones(3, 3)", "xp.ones(9).as_strided((3, 3), (2, 1))"),
)

_PARTS: Final = ("unsafe_split(1)[0]", "unsafe_chunk(2)[0]", "unsafe_split_with_sizes([1, 2])[0]")
_VIEWS: Final = ("v.select(-1, 0)", "v.view(-1)", "v.detach()", "v.unsqueeze(0)[0]")
_CHANGES: Final = (
    "with xp.inference_mode(): w.t_()",
    "w.add_(1)",
    "v.add_(1)",
    "with xp.no_grad(): w.zero_()",
)


def texts() -> Iterator[Text]:
    for (leaf, grad), made in product(_WRAPPED, _BY_NUMBER):
        given = (
            f"z = {leaf}\ny = {grad}\n(g,) = xp.autograd.grad({made}, z, y, create_graph=True)\n"
        )
        yield made, f"{given}(g, g.grad_fn, g._is_view(), g.grad_fn and g.grad_fn.next_functions)"
        yield made, f"{given}xp.autograd.grad(g.abs(), y, xp.ones_like(g.abs()), allow_unused=True)"
    for weight, asked in product(("None", "v"), ("g.sum() + h.sum()", "g.sum()", "h.sum()")):
        yield "layer_norm", _NORMALIZED.format(weight, asked)
    for name in ("cumsum", "sum", "prod"):
        leaf = "x = xp.ones(3, dtype=xp.float64, requires_grad=True)\n"
        made = f"x.{name}(0, dtype=xp.complex64)"
        yield name, f"{leaf}y = {made}\nxp.autograd.grad(y, x, xp.ones_like(y) * (1 + 1j))"
    dtypes = ("float32", "float64", "bfloat16", "float16")
    for dtype, name, shape in product(dtypes, ("softmax", "log_softmax"), ("1", "3", "3, 20")):
        for dim in range(shape.count(",") + 1):
            leaf = f"b = xp.zeros({shape}, dtype=xp.{dtype}, requires_grad=True)\n"
            yield name, f"{leaf}xp.autograd.grad(b.{name}({dim}), b, xp.full_like(b, -0.0))"
    for image, device, reduction in product(_IMAGES, ("cpu", "meta"), ("mean", "none")):
        count = "0" if "zeros(0" in image else "2"
        leaf = image.replace(")", f", device='{device}')", 1)
        target = f"xp.zeros({count}, 2, 2, dtype=xp.int64, device='{device}')"
        yield (
            "nll_loss",
            f"b = {leaf}.requires_grad_()\n"
            f"y = xp.nn.functional.nll_loss(b, {target}, reduction='{reduction}').sum()\n"
            "xp.autograd.grad(y, b)[0].stride()",
        )
    for leaf, strides in product(_OVERLAPPING, ("(1, 1)", "(2, 1)", "(0, 1)")):
        made = f"x = {leaf}.detach().requires_grad_()\ny = x.as_strided((2, 2), {strides})\n"
        yield (
            "as_strided",
            f"{made}(g,) = xp.autograd.grad(y.sum(), x)\n(g, g._version, g.stride())",
        )
    yield (
        "edges",
        "x = xp.ones(1, 3).requires_grad_()\ne = xp.autograd.graph.get_gradient_edge(x.sum())\n"
        "xp.autograd.grad(e, [e])[0]._version",
    )
    for leaf, part, view, change in product(("", ", requires_grad=True"), _PARTS, _VIEWS, _CHANGES):
        yield (
            "versions",
            f"a = xp.ones(3, 2{leaf})\nwith xp.inference_mode(): v = a.{part}\nw = {view}\n"
            f"{change}\n(a._version, v._version, w._version, v)",
        )
