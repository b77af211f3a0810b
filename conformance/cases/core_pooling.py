"""Pooling for the area core-ops: windows, layouts, dtypes, outputs and gradients of all kinds.

Gradients are given places that there are: what lies elsewhere in memory, torch reads and writes.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from conformance.area import Text
from conformance.cases.pairwise import pairwise

_DEVICES: Final = ("cpu", "meta")
_DTYPES: Final = ("float32", "float64", "bfloat16", "int64", "complex64")

_ROWS: Final = ("(2, 9)", "(2, 3, 8)", "(0, 2, 4)", "(2, 0)", "(5,)")
_IMAGES: Final = ("(2, 5, 6)", "(2, 3, 4, 6)", "(0, 2, 4, 4)", "(2, 0, 4)", "(4, 4)")
_VOLUMES: Final = (
    *("(2, 4, 5, 6)", "(2, 1, 4, 4, 5)", "(0, 2, 4, 4, 4)", "(2, 3, 0, 4, 4)", "(4, 4, 4)"),
)
_WINDOWS: Final = ("[2]", "[3, 2, 2]", "[2, 2]", "[-1]", "[7]", "[2147483648]")
_STRIDES: Final = ("[]", "[1]", "[2, 1, 3]", "[0]")
_PADDINGS: Final = ("[0]", "[1]", "[0, 1, 0]", "[-1]")
_LAYOUTS: Final = ("", ".mT", ".flip(0)", ".transpose(0, 1)")
_OF_VOLUMES: Final = (*_LAYOUTS, ".contiguous(memory_format=xp.channels_last_3d)")


def _made(shape: str, device: str = "cpu", dtype: str = "float32") -> str:
    count = f"xp.ones({shape}).numel()"
    numbers = f"((xp.arange({count}, device='{device}') * 7 % 23) * 0.5 - 3)"
    made = f"{numbers}.reshape({shape})"
    return made if dtype == "float32" else f"{made}.to(xp.{dtype})"


def texts() -> Iterator[Text]:
    yield from _rows()
    yield from _volumes()
    yield from _backward_of_volumes()
    yield from _adaptive()
    yield from _fractional()
    yield from _unpooling()
    yield from _outputs()
    yield from _followed()
    yield from _modules()


def _rows() -> Iterator[Text]:
    windows, strides = ("[2]", "[3, 2]", "[0]", "[12]"), ("[]", "[1]", "[1, 1]", "[-1]")
    pools = (_ROWS, windows, strides, ("[0]", "[1]", "[-1]"), ("[1]", "[2]", "[0]"))
    for shape, window, stride, padding, dilation, dtype, device, ceil in pairwise(
        *pools, _DTYPES, _DEVICES, ("False", "True")
    ):
        sizes = f"{window}, {stride}, {padding}, {dilation}, {ceil}"
        yield "max_pool1d", f"xp.max_pool1d({_made(shape, device, dtype)}, {sizes})"
    x = _made("(2, 4)")
    yield "max_pool1d", f"xp.max_pool1d(xp._neg_view({x}), 2)"
    yield "max_pool1d", f"xp.max_pool1d(xp._neg_view({x}).t(), 2)"
    yield "max_pool1d_with_indices", f"xp.max_pool1d_with_indices({x}, [2, 2])"


def _volumes() -> Iterator[Text]:
    pools = (_VOLUMES, _WINDOWS, _STRIDES, _PADDINGS, _DTYPES, _DEVICES, ("False", "True"))
    for shape, window, stride, padding, dtype, device, ceil in pairwise(*pools):
        x = _made(shape, device, dtype)
        sizes = f"{x}, {window}, {stride}, {padding}"
        yield "avg_pool3d", f"xp._C._nn.avg_pool3d({sizes}, {ceil}, {ceil})"
        dilation = "[1, 2, 1]" if stride == "[1]" else "[1]"
        text = f"xp._C._nn.max_pool3d_with_indices({sizes}, {dilation}, {ceil})"
        yield "max_pool3d_with_indices", text
    for layout, device in product(_OF_VOLUMES, _DEVICES):
        x = f"{_made('(2, 1, 4, 4, 5)', device)}{layout}"
        yield "max_pool3d", f"xp.nn.functional.max_pool3d({x}, 2, 1, return_indices=True)"
    for device in _DEVICES:  # of which a batch would have its channels innermost, or an image
        for order in ("3, 0, 1, 2", "0, 3, 1, 2"):
            x = f"{_made('(3, 4, 5, 2)', device)}.permute({order})"
            yield "max_pool3d", f"xp.nn.functional.max_pool3d({x}, 2, return_indices=True)"
    for divisor, padded, dtype, device in pairwise(
        ("None", "3", "-2", "0"), ("True", "False"), ("float32", "int64"), _DEVICES
    ):
        x = _made("(1, 3, 5, 4)", device, dtype)
        text = f"xp._C._nn.avg_pool3d({x}, [2, 3, 2], [2], [1], True, {padded}, {divisor})"
        yield "avg_pool3d", text


def _backward_of_volumes() -> Iterator[Text]:
    grads = ("(2, 2, 2, 2)", "(1, 2, 2, 2)", "(2, 2, 2, 1)", "(1, 2, 2, 2, 2)", "(2, 2)")
    window = "[2], [2], [0]"
    for grad, dtype, other, device in pairwise(
        grads, ("float32", "float64", "bfloat16"), ("float32", "int64"), _DEVICES
    ):
        x, g = _made("(2, 4, 4, 5)", device), _made(grad, device, dtype)
        places = f"xp.zeros({grad}, dtype=xp.{'int64' if other == 'float32' else 'int32'}"
        places += f", device='{device}')"
        text = f"xp.ops.aten.avg_pool3d_backward({g}, {x}, {window}, False, True, None)"
        yield "avg_pool3d_backward", text
        yield (
            "max_pool3d_with_indices_backward",
            "xp.ops.aten.max_pool3d_with_indices_backward("
            f"{g}, {x}, {window}, [1], False, {places})",
        )
        if grad == "(2, 2, 2, 2)":
            yield (
                "adaptive_max_pool3d_backward",
                f"xp.ops.aten.adaptive_max_pool3d_backward({g}, {x}, {places})",
            )
            yield (
                "fractional_max_pool3d_backward",
                "xp.ops.aten.fractional_max_pool3d_backward("
                f"{g}, {x}, [2, 2, 2], [2, 2, 2], {places})",
            )


def _adaptive() -> Iterator[Text]:
    for dims, shapes in ((1, _ROWS), (2, _IMAGES), (3, _VOLUMES)):
        sizes = ("2", "0", "-1", f"({'2, ' * (dims + 1)})")
        for shape, size, dtype, device in pairwise(shapes, sizes, _DTYPES[2:], _DEVICES):
            x = _made(shape, device, dtype)
            functional = "xp.nn.functional.adaptive"
            text = f"{functional}_max_pool{dims}d({x}, {size}, return_indices=True)"
            yield f"adaptive_max_pool{dims}d", text
            if dims == 3:
                yield "adaptive_avg_pool3d", f"{functional}_avg_pool3d({x}, {size})"
    for layout, device in product(_LAYOUTS, _DEVICES):
        x = f"({_made('(2, 3, 4, 5)', device)}){layout}"
        text = f"xp.nn.functional.adaptive_max_pool2d({x}, (None, 3), True)"
        yield "adaptive_max_pool2d", text
        text = f"xp.nn.functional.adaptive_avg_pool3d({x}, (None, 3, 2))"
        yield "adaptive_avg_pool3d", text
        yield "adaptive_avg_pool3d", f"xp.nn.functional.adaptive_avg_pool3d({x}, 1)"


def _fractional() -> Iterator[Text]:
    for dims, shape in ((2, "(2, 5, 7)"), (3, "(2, 5, 6, 7)")):
        name = f"fractional_max_pool{dims}d"
        ones, twos, threes = (f"[{', '.join([each] * dims)}]" for each in "123")
        samples = (f"(1, 2, {dims})", f"(2, 2, {dims})", f"(1, 3, {dims})", f"(0, 2, {dims})")
        shapes = (
            shape,
            f"(0, *{shape})",
            f"(1, *{shape})",
            f"{shape}[1:]",
            f"(1, 0, *{shape}[2:])",
        )
        pools = (
            *(shapes, (ones, twos, "[2]"), (twos, threes, "[1]", f"[{', '.join(['0'] * dims)}]")),
            *((*samples, f"(1, 2, {dims + 1})"), _DTYPES[1:4], _DEVICES),
        )
        for sizes, window, output, sample, dtype, device in pairwise(*pools):
            x, u = _made(sizes, device, dtype), f"xp.full({sample}, 0.4, device='{device}')"
            u = u if dtype == "float32" else f"{u}.to(xp.{dtype})"
            yield name, f"xp._C._nn.{name}({x}, {window}, {output}, {u})"
        for ratio in ("0.5", "(0.5, 0.6)", "(0.5, 0.4, 0.7)", "None"):
            x, u = _made(shape), f"xp.full((1, 2, {dims}), 0.7)"
            yield name, f"xp.nn.functional.{name}({x}, 2, None, {ratio}, True, {u})"
        yield name, f"xp.manual_seed(3)\nxp.nn.functional.{name}({_made(shape)}, 2, 2, None, True)"


def _unpooling() -> Iterator[Text]:
    for name, shape, ones in (
        ("max_unpool2d", "(2, 2, 3)", ""),
        ("max_unpool3d", "(2, 1, 2, 3)", ", [1, 1, 1], [0, 0, 0]"),
    ):
        depth = "1, " if name == "max_unpool3d" else ""
        shapes = (
            shape,
            f"(1, *{shape})",
            f"(0, *{shape})",
            f"{shape}[1:]",
            f"(2, 0, *{shape}[2:])",
        )
        sizes = (f"[{depth}3, 4]", "[2]", f"[{depth}-1, 4]")
        for each, size, dtype, kind, device in pairwise(
            shapes, sizes, _DTYPES[1:4], ("int64", "int32"), _DEVICES
        ):
            x = _made(each, device, dtype)
            places = f"xp.arange({x}.numel(), device='{device}').reshape({each}) % 12"
            places = f"({places}).to(xp.{kind})"
            yield name, f"xp._C._nn.{name}({x}, {places}, {size}{ones})"
        x, size = _made(shape), f"[{depth}2, 3]"
        places = f"xp.arange({x}.numel()).reshape({shape}) % 6"
        for wrong in ("12", "-1"):  # of several, threads say one
            text = f"i = {places}\ni.view(-1)[2] = {wrong}\nxp._C._nn.{name}({x}, i, {size}{ones})"
            yield name, text
        yield name, f"xp._C._nn.{name}({x}.mT, ({places}).mT, {size}{ones})"
    for dims, shape in ((1, "(1, 8)"), (2, "(1, 6, 8)"), (3, "(1, 4, 6, 8)")):
        for size in ("None", f"({', '.join(['7'] * dims)},)", f"({'9, ' * dims})", "(2,) * 6"):
            yield (
                f"max_unpool{dims}d",
                f"y, i = xp.nn.functional.max_pool{dims}d({_made(shape)}, 2, return_indices=True)\n"
                f"xp.nn.functional.max_unpool{dims}d(y, i, 2, output_size={size})",
            )


def _outputs() -> Iterator[Text]:
    rows, images, volumes = (_made(each) for each in ("(2, 6)", "(2, 4, 4)", "(2, 4, 4, 4)"))
    u = "xp.full((1, 2, 2), 0.4)"
    for call, outs in (
        (f"xp._C._nn.avg_pool3d({volumes}, 2, out={{}})", 1),
        (f"xp._C._nn.max_pool3d_with_indices({volumes}, 2, out={{}})", 2),
        (f"xp._C._nn.adaptive_avg_pool3d({volumes}, 2, out={{}})", 1),
        (f"xp._C._nn.adaptive_max_pool3d({volumes}, 2, out={{}})", 2),
        (f"xp._C._nn.adaptive_max_pool2d({images}, 2, out={{}})", 2),
        (f"xp._C._nn.fractional_max_pool2d({images}, 2, 2, {u}, out={{}})", 2),
        (f"xp._C._nn.max_unpool2d({images}, {images}.long() * 0, 2, out={{}})", 1),
    ):
        name = call.split("(")[0].rpartition(".")[2]
        for shape, dtype, places in product(("0", "3, 2"), ("float32", "float64"), (0, 1)):
            out = f"xp.empty({shape}, dtype=xp.{dtype})"
            if outs == 2:
                out = f"({out}, xp.empty(0, dtype=xp.{'int32' if places else 'int64'}))"
            elif places:
                continue
            yield name, call.format(out)
    yield "max_pool1d", f"xp.max_pool1d({rows}, 2)._version"


def _followed() -> Iterator[Text]:
    functional = "xp.nn.functional."
    u = "xp.full((1, 2, 3), 0.4)"
    for call, shape in (
        ("max_pool1d(x, 3, 2)", "(2, 7)"),
        ("adaptive_max_pool1d(x, 3)", "(2, 7)"),
        ("adaptive_max_pool2d(x, 3)", "(2, 5, 4)"),
        ("avg_pool3d(x, 2, 1, 1)", "(2, 4, 4, 3)"),
        ("max_pool3d(x, 2, 1, 1)", "(2, 4, 4, 3)"),
        ("adaptive_avg_pool3d(x, 3)", "(2, 4, 4, 3)"),
        ("adaptive_avg_pool3d(x, 1)", "(2, 4, 4, 3)"),
        ("adaptive_max_pool3d(x, 2)", "(2, 4, 4, 3)"),
        (f"fractional_max_pool3d(x, 2, 2, _random_samples={u})", "(2, 4, 4, 5)"),
        ("max_unpool2d(x, xp.arange(8).reshape(2, 2, 2) % 4, 2)", "(2, 2, 2)"),
        ("max_unpool3d(x, xp.arange(8).reshape(2, 1, 2, 2) % 4, 2)", "(2, 1, 2, 2)"),
    ):
        name = call.split("(")[0]
        begin = f"x = {_made(shape)}.requires_grad_()\ny = {functional}{call}\n"
        yield name, f"{begin}(y, y.grad_fn.name())"
        twice = "g, = xp.autograd.grad(y.square().sum(), x, create_graph=True)\n"
        yield name, f"{begin}{twice}(g, xp.autograd.grad(g.square().sum(), x))"


def _cube(dims: int, size: int) -> str:
    """Numbers in two channels."""
    return _made(f"(2, {', '.join([str(size)] * dims)})")


def _modules() -> Iterator[Text]:
    for kind, arguments, all_dims in (
        ("MaxPool", "2, padding=1", (1, 2, 3)),
        ("AvgPool", "2, 1", (1, 2, 3)),
        ("AdaptiveAvgPool", "3", (1, 2, 3)),
        ("AdaptiveMaxPool", "3, True", (1, 2, 3)),
        ("FractionalMaxPool", "2, 2", (2, 3)),
    ):
        for dims in all_dims:
            name = f"{kind}{dims}d"
            made = f"xp.manual_seed(1)\nm = xp.nn.{name}({arguments})\n"
            yield name, f"{made}(repr(m), m({_cube(dims, 5)}))"
    for dims, arguments in product(
        (2, 3), ("2", "2, 2, 0.5", "2, None, 1.5", "0, 2", "(2, -1), 2")
    ):
        yield f"FractionalMaxPool{dims}d", f"repr(xp.nn.FractionalMaxPool{dims}d({arguments}))"
    for dims in (1, 2, 3):
        pool = f"xp.nn.MaxPool{dims}d(2, return_indices=True)"
        yield (
            f"MaxUnpool{dims}d",
            f"y, i = {pool}({_cube(dims, 4)})\nm = xp.nn.MaxUnpool{dims}d(2)\n(repr(m), m(y, i))",
        )
