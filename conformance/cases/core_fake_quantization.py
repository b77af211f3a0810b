"""Simulated quantization: by one scale or by one for each channel, learnt ones, observers.

What is looked at first, in which order numbers are read from tensors, and where what is no number,
or too large for an integer, ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from conformance.area import Text

_X: Final = "xp.linspace(-3, 3, 8).view(4, 2)"
_ODD: Final = "xp.tensor([float('nan'), float('inf'), -float('inf'), 3e4, -3e4, 0., -0.])"
_KINDS: Final = ("", ".double()", ".half()", ".bfloat16()", ".int()", ".cfloat()", ".bool()")
_FLOATS: Final = _KINDS[:4]
_LYING: Final = (
    *("xp.arange(6.).view(2, 3).t()", "xp.tensor(2.).expand(2, 3)", "xp.ones(0, 3)", "xp.ones(())"),
    "xp.arange(24.).view(1, 2, 3, 4).to(memory_format=xp.channels_last)",
    *("xp.ones(0, 3).int()", "xp.ones(2, 3, device='meta')"),
)
_PER_TENSOR: Final = (
    *("0.3, 1, -2, 4", "0.3, 7, 5, 4", "0.3, 7, 3, 4", "0., 0, -3, 4", "1e300, 0, -3, 4"),
    *("float('nan'), 0, -3, 4", "-0.3, 0, -3, 4", "1e-42, 0, -3, 4"),
)
_BY_TENSORS: Final = (
    *("xp.tensor(0.3), xp.tensor(1)", "xp.tensor([0.3]).double(), xp.tensor([1.5])"),
    *("xp.tensor([0.3, 1]), xp.tensor([1, 2])", "xp.tensor(0.3), xp.tensor(2**40)"),
    *("xp.tensor(1e300).double(), xp.tensor(2)", "xp.tensor(1), xp.tensor(True)"),
    *("xp.tensor([]), xp.tensor(2j)", "xp.tensor(1e300).double(), xp.tensor(2**31)"),
)
_ENABLED: Final = ("xp.tensor(1)", "xp.tensor([0.])", "xp.tensor([])", "xp.tensor(True)")
_CHANNELS: Final = (
    *("xp.tensor([0.5, 1]), xp.tensor([0, 1]).int(), 1", "xp.ones(2), xp.tensor([0, 1.5]), 1"),
    *("xp.ones(2), xp.tensor([0, 1.5]).half(), 1", "xp.ones(2), xp.tensor([0, 1.5]).double(), 1"),
    *("xp.ones(2).double(), xp.ones(2).double(), 1", "xp.ones(2).bfloat16(), xp.zeros(2), 1"),
    *("xp.ones(1, 2), xp.ones(2), 1", "xp.ones(2), xp.ones(1, 2), 1", "xp.ones(2), xp.ones(3), 1"),
    *("xp.ones(2), xp.ones(2), 0", "xp.ones(2), xp.ones(2), -1", "xp.ones(2), xp.ones(2), 2"),
    *("xp.ones(2), xp.tensor([0, 3]).int(), 1", "xp.ones(2), xp.tensor([0, 3]).int(), -1"),
    "xp.tensor([0.5, 0]), xp.tensor([0, float('nan')]), 1",
)
_BOUNDS: Final = ("-2, 2", "3, 2", "-1, 3")
_SCALES: Final = (
    *("xp.tensor([0.3]), xp.tensor([1.5])", "xp.tensor([0.3]).double(), xp.tensor([9])"),
    *("xp.tensor(0.3), xp.tensor([1.5])", "xp.tensor([]), xp.tensor([1.5])"),
    *("xp.tensor([[1.]]), xp.tensor([1.5])", "xp.tensor([[1., 2.]]), xp.tensor([1.5])"),
    *("xp.tensor([1e300]).double(), xp.tensor([1.])", "xp.ones(1), xp.tensor([float('nan')])"),
    *("xp.tensor([0.]), xp.tensor([3.])", "xp.ones(1).half(), xp.ones(1)"),
)
_ROWS: Final = (
    *("xp.ones(2), xp.tensor([7., -9.5]), 1", "xp.ones(2), xp.tensor([7, -9]), 1"),
    *("xp.ones(2), xp.tensor([7, 9j]), 1", "xp.ones(4) * 0.3, xp.tensor([7., -9, 1, 2.5]), 0"),
    *("xp.ones(2), xp.ones(2), -1", "xp.ones(2), xp.ones(2), 2", "xp.ones(1, 2), xp.ones(2), 1"),
    *("xp.ones(3), xp.ones(2), 1", "xp.ones(2), xp.full((2,), float('nan')), 1"),
    "xp.ones(2).half(), xp.ones(2).long(), 1",
)
_RANGES: Final = ("-2, 4", "-6, 4, 0.7", "1, 4", "6, 4")
_GRADS: Final = (
    *("xp.linspace(-1, 2, 8).view(4, 2)", "xp.linspace(-1, 2, 8).view(2, 4).t()"),
    *("xp.linspace(-1, 2, 8)", "xp.ones(8).view(1, 4, 2)", "xp.ones(4, 2).double()", "xp.ones(3)"),
)
_OBSERVED: Final = (
    "xp.tensor(float('inf')), xp.tensor(-float('inf'))",
    *("xp.tensor(-2.), xp.tensor(3.3)", "xp.tensor([0.]), xp.tensor([0.])"),
    *("xp.tensor([-1e-4]), xp.tensor([1e-3])", "xp.tensor([1e-4]), xp.tensor([1e-3])"),
    *("xp.tensor([-1e-3]), xp.tensor([-1e-4])", "xp.tensor([5.]), xp.tensor([2.])"),
    *("xp.tensor([5.]), xp.tensor([-2.])", "xp.tensor([float('nan')]), xp.tensor([1.])"),
    *("xp.tensor([1.]).double(), xp.tensor([1.])", "xp.ones(2), xp.ones(3)"),
)
_SWITCHES: Final = ("[1]), xp.tensor([1])", "[0]), xp.tensor([1])", "[1.]), xp.tensor([0])")
_OBSERVERS: Final = (
    "0.01, 0, 255, -1",
    "0.01, -128, 127, 0, False, True",
    "0.1, 0, 15, 2",
    "1., 0, 15, 0, False, True",
)
_BY_ROW: Final = ("True, True", "True, False")
_OF_ROWS: Final = (
    *(_X, "xp.linspace(-3, 5, 8).view(4, 2, 1)", "xp.linspace(-3, 5, 8)", "xp.ones(2, 2).double()"),
)
_HELPER: Final = "xp.ops.aten._fused_moving_avg_obs_fq_helper"


def texts() -> Iterator[Text]:
    yield from (("fake-quantization", text) for text in _texts())


def _texts() -> Iterator[str]:
    yield from _of_tensors()
    yield from _of_channels()
    yield from _of_learnt()
    yield from _of_observers()


def _of_tensors() -> Iterator[str]:
    name = "xp.ops.aten.fake_quantize_per_tensor_affine_cachemask"
    for kind in _KINDS:
        yield f"{name}({_X}{kind}, 0.3, 1, -2, 4)"
        yield f"xp.fake_quantize_per_tensor_affine({_X}{kind}, xp.tensor(0.3), xp.tensor(1), -2, 4)"
    for x in _LYING:
        yield f"{name}({x}, 0.5, 0, 0, 4)"
    for kind, rest in product(_FLOATS, _PER_TENSOR):
        yield f"{name}({_ODD}{kind}, {rest})"
    for scale, enabled in product(_BY_TENSORS, _ENABLED):
        by = "xp.ops.aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams"
        yield f"{by}({_X}, {scale}, {enabled}, -2, 4)"
    yield f"xp.fake_quantize_per_tensor_affine({_X}, xp.ones(1), xp.ones(1), 5, 4)"
    for dtype in ("float32", "bool"):
        outs = f"out0=xp.ones(1), out1=xp.ones(0, dtype=xp.{dtype})"
        yield f"{name}.out({_X}, 0.5, 0, 0, 4, {outs})"
    masks = ("3, 2", "6", "4", "0, 3")
    for mask, dtype in product(masks, ("bool", "float32")):
        backward = f"{name}_backward(xp.ones(3, 2), xp.ones({mask}, dtype=xp.{dtype}))"
        yield backward
        yield backward.replace("per_tensor", "per_channel").replace("ones(3, 2), ", "ones(0, 2), ")
    quantized = "xp.fake_quantize_per_tensor_affine(x, {rest}, -2, 2)"
    for rest in ("0.5, 0", "xp.tensor(0.5, requires_grad=True), xp.tensor(0)"):
        yield _gradient(quantized.format(rest=rest))


def _gradient(call: str, of: str = "x") -> str:
    shown = f"xp.autograd.grad(y.square().sum(), ({of},), create_graph=True)"
    return f"x = {_X}.requires_grad_()\ny = {call}\n(y, {shown})"


def _of_channels() -> Iterator[str]:
    name = "xp.ops.aten.fake_quantize_per_channel_affine_cachemask"
    for channels, bounds in product(_CHANNELS, _BOUNDS):
        yield f"{name}({_X}, {channels}, {bounds})"
    for kind, channels in product(_KINDS[1:], _CHANNELS[:3]):
        yield f"xp.fake_quantize_per_channel_affine({_X}{kind}, {channels}, -2, 2)"
    for kind in _KINDS[1:4]:
        yield f"{name}({_X}{kind}, xp.ones(2).bfloat16(), xp.zeros(2).int(), 1, -2, 2)"
    yield f"{name}(xp.ones(0), xp.ones(0).bfloat16(), xp.zeros(0), 0, -2, 2)"
    for channels in (_CHANNELS[0], _CHANNELS[-1], _CHANNELS[2]):
        yield f"{name}({_ODD}[:, None].expand(7, 2), {channels}, -2, 2)"
    nhwc = "xp.linspace(-3, 3, 24).view(1, 2, 3, 4).to(memory_format=xp.channels_last)"
    yield f"{name}({nhwc}, {_CHANNELS[0]}, -2, 2)"
    for empty in ("xp.ones(4, 0), xp.tensor([])", "xp.ones(()), xp.ones(1)"):
        yield f"{name}({empty}, xp.tensor([]).int(), 1, -1, 3)"
        yield f"{name}({empty}, xp.tensor([]), 1, -1, 3)"
        yield f"{name}({empty}, xp.ones(1), 0, -1, 3)"
    yield _gradient(f"xp.fake_quantize_per_channel_affine(x, {_CHANNELS[0]}, -2, 2)")


def _of_learnt() -> Iterator[str]:
    tensor = "xp.ops.aten._fake_quantize_learnable_per_tensor_affine"
    channel = "xp.ops.aten._fake_quantize_learnable_per_channel_affine"
    for name, scales in ((tensor, _SCALES), (channel, _ROWS)):
        for scale, bounds in product(scales, _RANGES):
            yield f"{name}({_X}, {scale}, {bounds})"
            yield f"{name}_backward({_GRADS[0]}, {_X}, {scale}, {bounds})"
        for grad, kind in product(_GRADS, _FLOATS):
            yield f"{name}_backward({grad}, {_X}{kind}, {scales[0]}, -6, 4, 2.)"
        odd = f"{_ODD}[:, None].expand(7, 2)"
        yield f"{name}_backward(xp.ones(7, 2), {odd}, {scales[0]}, -2, 4)"
    yield f"{tensor}_backward(xp.ones(0), xp.ones(0), {_SCALES[0]}, 0, 4)"
    yield f"{channel}_backward(xp.ones(2, 0), xp.ones(2, 0), xp.ones(2), xp.ones(2), 0, -1, 4)"
    yield f"{channel}_backward(xp.ones(2, 0), xp.ones(2, 0), xp.ones(0), xp.ones(0), 1, -1, 4)"
    bfloat = "s = xp.tensor([0.3]).bfloat16()\n"
    yield f"{bfloat}{tensor}_backward({_X}.bfloat16(), {_X}.bfloat16(), s, s, -2, 4)"
    for kind, (name, count) in product(("", ".bfloat16()"), (("tensor", 1), ("channel", 2))):
        scale = f"s = xp.full(({count},), 0.3).requires_grad_()"
        made = f"{scale}\nz = xp.ones({count}, requires_grad=True)"
        axis = "1, " if name == "channel" else ""
        call = f"xp._fake_quantize_learnable_per_{name}_affine(x, s, z, {axis}-2, 4)"
        yield (
            f"{made}\nx = {_X}{kind}.requires_grad_()\n{call}.square().sum().backward()\n"
            "(x.grad, s.grad, z.grad)"
        )


def _of_observers() -> Iterator[str]:
    made = "a = [xp.tensor({on}, {ends}, xp.ones(1), xp.zeros(1).int()]\n"
    for on, ends, rest in product(_SWITCHES, _OBSERVED, _OBSERVERS):
        yield f"{made.format(on=on, ends=ends)}r = {_HELPER}({_X}, *a, {rest})\n(r, a)"
    empty = "xp.tensor([]), xp.tensor([])"
    for x, axis, rows in product(_OF_ROWS, (0, 1), _BY_ROW):
        begun = made.format(on=_SWITCHES[0], ends=empty)
        yield f"{begun}r = {_HELPER}({x}, *a, 0.01, -128, 127, {axis}, {rows})\n(r, a)"
    begun = made.format(on=_SWITCHES[0], ends=_OBSERVED[1])
    yield begun + _gradient("xp.fused_moving_avg_obs_fake_quant(x, *a, 0.1, 0, 15, 0)")
    yield "xp.fused_moving_avg_obs_fake_quant(xp.ones(0), *[xp.ones(2)] * 6, 0.1, 0, 15, 7)"
    yield f"{_HELPER}_functional(xp.ones(2, 3), *[xp.ones(1)] * 6, 0.1, 0, 15, 0)"
    for axis in (0, 7):
        x = "xp.ones(2, 3, device='meta')"
        yield f"{_HELPER}({x}.t(), *[{x}] * 6, 0.1, 0, 15, {axis})"
