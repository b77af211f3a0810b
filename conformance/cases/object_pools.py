"""What area ``tensor-values`` asks of objects of C: their classes, their order, their pickles."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from conformance.area import Text

#: An object of each class.
OBJECTS: Final = {
    "dtype": "xp.float32",
    "device": "xp.device('cuda:1')",
    "layout": "xp.strided",
    "memory_format": "xp.channels_last",
    "qscheme": "xp.per_tensor_affine",
    "finfo": "xp.finfo(xp.float32)",
    "iinfo": "xp.iinfo(xp.int8)",
    "Size": "xp.Size([2, 3])",
    "Generator": "xp.Generator()",
    "return_types.max": "xp.ones(2, 2).max(0)",
}

#: Attributes of such objects, asked of the class.
_ATTRIBUTES: Final = {
    "dtype": ("itemsize", "is_complex", "is_floating_point", "is_signed"),
    "device": ("type", "index"),
    "finfo": ("eps", "max", "min", "bits", "dtype", "tiny", "smallest_normal", "resolution"),
    "iinfo": ("max", "min", "bits", "dtype"),
    "Generator": ("device",),
}

_DEVICES: Final = (
    *("cpu", "cpu:0", "cuda", "cuda:1", "cuda:200", "meta", "meta:3", "xpu", "mps", "xla:7", "ipu"),
    *("hpu", "ve", "fpga", "maia", "lazy", "mtia", "vulkan", "opencl", "hip", "ideep", "mkldnn"),
)

_LIMITS: Final = (
    *("", "None", "1", "1.5", "'float32'", "float", "int", "complex", "bool", "str", "xp.strided"),
    *("type=xp.float32", "type=xp.int8", "type=None", "type=3", "type=float", "foo=1"),
    *("xp.float32, 1", "xp.int8, xp.int8", "xp.float32, foo=1", "xp.int8, type=1", "*[1, 2, 3]"),
    *("xp.float32, None", "[xp.float32]", "dtype=xp.float32", "foo=1, bar=2"),
)

_ALONE: Final = (
    "xp.Size([np.float64(2)])",
    "xp.Size([np.array(1.5)])",
    "sorted([xp.device('cpu'), xp.device('cpu')])",
    "max(xp.device('cpu'), xp.device('meta'))",
    "{xp.device('cpu'): 1}[xp.device('cpu')]",
    "xp.device('cpu') == 'cpu', xp.device('cpu') != 'cpu'",
)

_PARAMETER: Final = "class P(xp.nn.Parameter): pass\n"
_OF_TENSORS: Final = (
    _PARAMETER + "repr(P(xp.ones(2)))",
    _PARAMETER + "repr(P(xp.ones(2), requires_grad=False))",
    _PARAMETER + "str(P(xp.tensor(1.5)))",
    _PARAMETER + "repr(deepcopy(P(xp.ones(2))))",
    _PARAMETER + "repr(P(xp.ones(2)).detach()), repr(P(xp.ones(2)) + 1)",
    "class A(xp.Tensor): pass\nrepr(xp.nn.Parameter(xp.ones(2).as_subclass(A)))",
    "xp.Tensor.__doc__",
    "m = {}\nd = deepcopy(xp.ones(4), m)\nlen(m)",
    "m = {}\nd = deepcopy(xp.ones(4, requires_grad=True), m)\nlen(m)",
    "xp.ones(2).is_shared(), xp.ones(2, device='meta').is_shared()",
    "xp.empty(1, layout=xp.sparse_coo).is_shared()",
    "xp.ones(16).resize_([1, 2, 2, 4], memory_format=xp.preserve_format)",
    "x = xp.ones(4)\ntry: x.resize_([2, 2], memory_format=xp.preserve_format)\n"
    "except RuntimeError: pass\nx.shape, x.stride()",
)


def texts() -> Iterator[Text]:
    for name, made in OBJECTS.items():
        yield name, f"class A(xp.{name}): pass"
        if name not in ("Generator", "return_types.max"):
            for way in ("pickled(a)", "pickled(a, 0)", "pickled(a, 1)", "copied(a)", "deepcopy(a)"):
                yield name, f"a = {made}\n{way} == a"
    for name, attributes in _ATTRIBUTES.items():
        for attribute in attributes:
            yield name, f"xp.{name}.{attribute}"
    for one, other, order in product(
        ("xp.device('cpu')", "1"), ("xp.device('meta')", "xp.float32"), ("<", "<=", ">", ">=")
    ):
        yield "device", f"{one} {order} {other}"
    for device in _DEVICES:
        yield "device", f"hash(xp.device('{device}'))"
        yield "device", f"[pickled(xp.device('{device}'), n) for n in range(6)]"
    for name, given in product(("finfo", "iinfo"), _LIMITS):
        yield name, f"xp.{name}({given})"
    for text in (*_ALONE, *_OF_TENSORS):
        yield "objects", text
