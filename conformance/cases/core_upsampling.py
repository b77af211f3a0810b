"""Images of another size and at the places of a grid for the area core-ops: the operators
themselves, their gradients and what both refuse.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from conformance.area import Text
from conformance.cases.pairwise import pairwise

_DEVICES: Final = ("cpu", "meta")
_SHAPES: Final = {1: (2, 5, 4), 2: (2, 5, 4, 3), 3: (1, 5, 2, 3, 2)}
"""Of inputs, by how many dimensions are interpolated."""
_SIZES: Final = (5, 2, 3)
_FORMATS: Final = {1: "", 2: "xp.channels_last", 3: "xp.channels_last_3d"}
_OPERATORS: Final = (
    *((f"upsample_nearest{rank}d", rank, "") for rank in (1, 2, 3)),
    *((f"_upsample_nearest_exact{rank}d", rank, "") for rank in (1, 2, 3)),
    *(("upsample_linear1d", 1, ", False"), ("upsample_bilinear2d", 2, ", True")),
    *(("upsample_trilinear3d", 3, ", False"), ("upsample_bicubic2d", 2, ", False")),
    *(("_upsample_bilinear2d_aa", 2, ", False"), ("_upsample_bicubic2d_aa", 2, ", True")),
)
"""With what stands between sizes and scales."""
_MODES: Final = ("nearest", "linear", "bilinear", "trilinear", "bicubic", "nearest-exact", "foo")
_RESIZED: Final = (
    *("3", "(3, 4)", "0", "-1", "3.5", "None", "None, 1.6", "None, 0.1", "None, -2.0"),
    *("None, float('nan')", "None, 1e30", "None, (2.0,)", "3, 2.0", "None, 2", "(11, 130)"),
)
_IMAGES: Final = ("(2, 5, 4, 3)", "(2, 5, 4)", "(1, 2, 3, 4, 3)", "(0, 3, 4, 4)", "(2, 0, 4, 4)")
_DTYPES: Final = ("float64", "uint8", "bfloat16", "int64", "complex64")
_PADDINGS: Final = ("zeros", "border", "reflection")
_GRIDS: Final = {
    2: ("(2, 3, 4, 2)", "(1, 3, 4, 2)", "(2, 3, 4, 4)", "(2, 3, 4)", "(2, 0, 4, 2)"),
    3: ("(2, 2, 3, 2, 3)", "(2, 2, 3, 2, 2)", "(2, 2, 3, 3)"),
}
_SAMPLED: Final = {
    2: ("(2, 3, 4, 5)", "(2, 0, 4, 5)", "(2, 3, 0, 5)", "(2, 3, 4)", "(2, 1, 1, 1)"),
    3: ("(2, 3, 2, 3, 4)", "(2, 1, 1, 1, 1)", "(2, 3, 2, 0, 4)"),
}
_MAPS: Final = ("(2, 2, 3)", "(2, 3, 4)", "(3, 2, 3)", "(2, 3)")
_TO: Final = ("(2, 3, 4, 5)", "(2, 1, 2, 3, 4)", "[2, 3, 1, 5]", "(2, 3, 0, 5)", "(2, 3, 4)")


def _made(shape: object, device: str, dtype: str = "float64", factor: int = 7) -> str:
    count = f"xp.ones({shape}).numel()"
    numbers = f"((xp.arange({count}, device='{device}') * {factor} % 23) * 0.11 - 1.2)"
    return f"{numbers}.reshape({shape}).to(xp.{dtype})"


def texts() -> Iterator[Text]:
    for name, rank, flag in _OPERATORS:
        for device in _DEVICES:
            yield from _operator(name, rank, flag, device)
    yield from _interpolated()
    yield from _of_bytes()
    yield from _sampled()
    yield from _affine()
    yield from _modules()


def _operator(name: str, rank: int, flag: str, device: str) -> Iterator[Text]:
    shape, sizes = _SHAPES[rank], list(_SIZES[:rank])
    grown = (*shape[:2], *sizes)
    call, image = f"xp.ops.aten.{name}", _made(shape, device)
    format = f".to(memory_format={_FORMATS[rank]})" if _FORMATS[rank] else ""
    yield name, f"{call}({image}{format}, {sizes}{flag}, *{[1.3] * rank})"
    yield name, f"{call}({image}, {[*sizes, 1]}{flag})"
    yield name, f"{call}({_made((*shape, 2), device)}, {sizes}{flag})"
    out = f"xp.empty(0, dtype=xp.float64, device='{device}')"
    yield name, f"{call}.out({image}{format}, {sizes}{flag}, out={out})"
    yield name, f"{call}.vec({image}, None{flag}, {[1.5] * rank})"
    yield name, f"{call}.vec({image}, {sizes}{flag}, {[1.5] * rank})"
    yield name, f"{call}.vec({image}, None{flag}, {[1.5] * (rank + 1)})"
    grad = f"({_made(grown, device)} + 3)"  # of one sign, so that nothing cancels
    yield name, f"{call}_backward({grad}{format}, {sizes}, {list(shape)}{flag})"
    yield name, f"{call}_backward({grad}, {[*sizes[:-1], 7]}, {list(shape)}{flag})"
    yield name, f"{call}_backward({_made(grown, device, 'int64')}, {sizes}, {list(shape)}{flag})"
    if device == "cpu":
        yield (
            name,
            f"a = {image}.requires_grad_()\ny = {call}(a, {sizes}{flag})\n"
            "g = xp.autograd.grad((y * y).sum(), a, create_graph=True)[0]\n"
            "(y.grad_fn.name(), g, xp.autograd.grad(g.sum(), a))",
        )


def _interpolated() -> Iterator[Text]:
    pools = (_IMAGES, _MODES, _RESIZED, _DTYPES, _DEVICES)
    for shape, mode, size, dtype, device in pairwise(*pools):
        image = _made(shape, device, dtype)
        yield "interpolate", f"xp.nn.functional.interpolate({image}, {size}, mode='{mode}')"


def _of_bytes() -> Iterator[Text]:
    sizes = ("(3, 4)", "(11, 13)", "(7, 5)", "(7, 9)")
    pools = (("bilinear", "bicubic"), sizes, ("True", "False"), ("True", "False"), ("3", "5"))
    for mode, size, antialias, corners, channels in pairwise(*pools):
        image = f"(xp.arange({channels} * 63) * 77 % 251).to(xp.uint8).reshape(1, {channels}, 7, 9)"
        options = f"mode='{mode}', antialias={antialias}, align_corners={corners}"
        yield "interpolate", f"xp.nn.functional.interpolate({image}, {size}, {options})"


def _sampled() -> Iterator[Text]:
    for rank in (2, 3):
        modes = ("bilinear", "nearest", "bicubic")
        flags = ("True", "False", "None")
        pools = (_SAMPLED[rank], _GRIDS[rank], modes, _PADDINGS, flags, _DTYPES, _DEVICES)
        for shape, grid, mode, padding, corners, dtype, device in pairwise(*pools):
            places = _made(grid, device, dtype, 11)
            options = f"mode='{mode}', padding_mode='{padding}', align_corners={corners}"
            image = _made(shape, device, dtype)
            yield "grid_sample", f"xp.nn.functional.grid_sample({image}, {places}, {options})"
        for mode, padding, corners in pairwise(modes[:2], _PADDINGS, flags[:2]):
            options = f"mode='{mode}', padding_mode='{padding}', align_corners={corners}"
            yield (
                "grid_sample",
                f"a = {_made(_SAMPLED[rank][0], 'cpu')}.requires_grad_()\n"
                f"b = {_made(_GRIDS[rank][0], 'cpu', factor=11)}.requires_grad_()\n"
                f"y = xp.nn.functional.grid_sample(a, b, {options})\n"
                "(y.grad_fn.name(), xp.autograd.grad((y * y).sum(), (a, b)))",
            )


def _affine() -> Iterator[Text]:
    for theta, size, corners, device in pairwise(_MAPS, _TO, ("True", "False", "None"), _DEVICES):
        maps = _made(theta, device)
        yield "affine_grid", f"xp.nn.functional.affine_grid({maps}, {size}, {corners})"
        yield "affine_grid_generator", f"xp.affine_grid_generator({maps}, {size}, False)"


def _modules() -> Iterator[Text]:
    image = _made("(1, 2, 3, 4)", "cpu")
    for module in (
        *("Upsample(scale_factor=2)", "Upsample((3, 5), mode='bilinear')", "Upsample()"),
        *("UpsamplingNearest2d(scale_factor=2)", "UpsamplingBilinear2d(3)"),
    ):
        yield "Upsample", f"repr(xp.nn.{module})"
        yield "Upsample", f"xp.nn.{module}({image})"
