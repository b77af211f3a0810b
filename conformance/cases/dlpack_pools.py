"""Texts of area ``tensor-values`` about DLPack: capsules that go out, and come in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final

from conformance.area import Text

_GEOMETRIES: Final = (
    *("xp.ones(2, 3).t()", "xp.arange(4)[2:]", "xp.arange(6)[::2]", "xp.ones(1).expand(3)"),
    *("xp.ones(())", "xp.ones(0, 3)", "xp.ones(1, 3)", "xp.ones(2, 3, 1)[:1].transpose(0, 1)"),
    *("xp.ones(2, dtype=xp.complex64).conj().imag", "xp._neg_view(xp.ones(2))", "xp.ones(2).data"),
    *("np.array([[1.5], [2.5]])", "np.array(3)", "np.array([True])", "np.array([1 + 2j])[::1]"),
    *("np.array([[1, 2, 3], [4, 5, 6]])[:, ::2]", "np.array([[1.0, 2.0]]).T", "np.array([])"),
    *("np.array([1], dtype='uint16')", "np.array([1.0], dtype='float16')"),
)
_REFUSED: Final = (
    *("xp.ones(2, requires_grad=True)", "xp.ones(2, dtype=xp.complex64).conj()", "xp.Parameter(x)"),
    *("xp.ones(2).to_sparse()", "xp.ones(2, device='meta')", "3", "None", "[1]", "xp.Size([1])"),
    *("np.array(['a'])", "np.array([None])", "np.array([1.0], dtype='>f8')"),
)
_CALLS: Final = (
    *("xp.from_dlpack({})", "xp.from_dlpack(xp.to_dlpack({}))", "xp.from_dlpack({}, copy=True)"),
    *("xp.from_dlpack({}, device='cpu')", "xp.from_dlpack({}, copy=False)"),
    *("xp.from_dlpack({}, device='meta')", "xp.from_dlpack({}, device=3)"),
    *("xp.from_dlpack({}, 'cpu')", "xp.to_dlpack(data={}) and 1", "xp.to_dlpack({}, 1)"),
    *("xp.from_dlpack({}.__dlpack__())", "xp.from_dlpack({}.__dlpack__(max_version=(1, 0)))"),
    *("xp.from_dlpack({}.__dlpack__(copy=True))", "xp.from_dlpack({}.__dlpack__(stream=None))"),
    *("xp.from_dlpack({}.__dlpack__(stream='x'))", "xp.from_dlpack({}.__dlpack__(1))"),
    *("xp.from_dlpack({}.__dlpack__(dl_device=(1, 0), copy=False))", "{}.__dlpack_device__()[1]"),
    *("xp.from_dlpack({}.__dlpack__(dl_device=3))", "xp.from_dlpack({}.__dlpack__(stream=1))"),
    *(
        "xp.from_dlpack({}.__dlpack__(dl_device=(3, 0)))",
        "xp.from_dlpack(xp.to_dlpack({}), copy=1)",
    ),
)
_TWICE: Final = (
    "c = xp.to_dlpack(xp.ones(2))\nx = xp.from_dlpack(c)\nxp.from_dlpack(c)",
    "x = xp.ones(2)\ny = xp.from_dlpack(x)\ny.add_(1)\n(x, x._version, y._version)",
    "x = xp.ones(3)\ny = xp.from_dlpack(xp.to_dlpack(x))\nx[1] = 5\ndel x\ny",
    "n = np.array([1.0, 2.0])\nx = xp.from_dlpack(n)\nx.mul_(2)\nn",
    "n = np.array([1.0, 2.0])\nx = xp.from_dlpack(n)\nn[:] = 7\ndel n\nx",
    "with xp.inference_mode():\n    x = xp.from_dlpack(np.array([1.0]))\nx.is_inference()",
    "x = xp.ones(3)\nd = xp.to_dlpack(x)\nx.resize_(100)[:3]",
    "x = xp.from_dlpack(np.array([1.0]))\nx.resize_(100)",
    "x = xp.from_dlpack(np.array([1.0])).requires_grad_()\n(x * 2).sum().backward()\nx.grad",
)
_FROM_DATA: Final = (
    *("xp.asarray({})", "xp.asarray({}, dtype=xp.int32)", "xp.asarray({}, copy=False)"),
    *("xp.asarray({}, device='meta')", "xp.asarray({}, requires_grad=True)", "xp.as_tensor({})"),
    *(
        "xp.tensor({})",
        "xp.asarray([{}])",
        "xp.asarray({}, copy=True)",
        "xp.ones(1).new_tensor({})",
    ),
)
_EXPORTING: Final = """\
log = []
class E:
    def __init__(self, inner): self.inner = inner
    def __dlpack__(self, *args, **kwargs):
        log.append((args, sorted(kwargs)))
        return self.inner.__dlpack__(*args, **kwargs)
    def __dlpack_device__(self):
        log.append("device")
        return self.inner.__dlpack_device__()
class Listed(list):
    def __dlpack__(self, *args, **kwargs): return xp.ones(2).__dlpack__()
    def __dlpack_device__(self): return (1, 0)
class Number:
    def __float__(self): return 2.5
    def __dlpack__(self, *args, **kwargs): raise ValueError("not now")
    def __dlpack_device__(self): return (1, 0)
x = xp.arange(3)
"""
"""Other libraries' tensors, as far as DLPack says."""
_EXPORTED: Final = (
    *("E(x)", "E(xp.ones(2, 2).t())", "E(xp.ones(()))", "E(xp.ones(2, requires_grad=True))"),
    *("E(xp.ones(1, device='meta'))", "E(3)", "Listed([1, 2, 3])", "Number()", "E(np.ones(2))"),
    "E(xp.ones(1, dtype=xp.complex64).conj())",
)
_IMPORTS: Final = (
    *("xp.tensor({}, dtype=xp.float32)", "xp.tensor({}, requires_grad=True)", "xp.Tensor({})"),
    *("xp.tensor({}, device='meta')", "xp.tensor({}, pin_memory=True)", "xp.FloatTensor({})"),
    *("xp.as_tensor({}, dtype=xp.int8)", "x[{}]", "x.new({})", "xp.from_dlpack({})"),
    "xp.as_tensor({}).add_(1)",
)
_SHOWN: Final = (
    "(y, y.dtype, y.stride(), y.storage_offset(), y.untyped_storage().nbytes(), y._version, "
    "y.is_leaf, y._is_view(), y.untyped_storage().resizable())"
)


def texts(dtypes: Sequence[str]) -> Iterator[Text]:
    for dtype in dtypes:
        yield "dlpack", f"x = xp.zeros(2, dtype=xp.{dtype})\ny = xp.from_dlpack(x)\n{_SHOWN}"
    for made, call in product(_GEOMETRIES, _CALLS[:2]):
        if "np" not in made or "to_" not in call:
            yield "dlpack", f"y = {call.format(made)}\n{_SHOWN}"
    for made, call in product(_REFUSED, _CALLS[:2]):
        yield "dlpack", f"x = xp.ones(1)\n{call.format(made)}"
    for made, call in product(("xp.ones(2)", "xp.arange(3)[1:]", "np.array([1.0])"), _CALLS):
        if made.startswith("xp") or "__" not in call:
            yield "dlpack", call.format(made)
    for call in _FROM_DATA:
        yield "dlpack", call.format("xp.to_dlpack(xp.ones(2))")
    for made, call in product(_EXPORTED, (*_FROM_DATA, *_IMPORTS)):
        yield (
            "dlpack",
            f"{_EXPORTING}try: log.append({call.format(made)})\n"
            + ("except Exception as error: log.append((str(type(error)), str(error)))\n(log, x)"),
        )
    for text in _TWICE:
        yield "dlpack", text
