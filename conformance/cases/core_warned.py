"""Calls that C++ warns of, for the area core-ops: what it says, and where that stands.

Nested tensors, devices and functions that go away, arrays one by one; and the calls beside them
that are not warned of.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from conformance.area import Text

_ARRAYS: Final = (
    *("xp.tensor([{0}])", "xp.tensor([{0}, {0}])", "xp.tensor([[{0}], [{0}]])"),
    *("xp.tensor(({0}, {0}))", "xp.as_tensor([{0}])", "xp.Tensor([{0}])", "xp.FloatTensor([{0}])"),
    *("xp.ones(1).new_tensor([{0}])", "xp.asarray([{0}])", "xp.tensor([{0}, 1.0])"),
    *("xp.tensor([{0}, [1, 2]])", "xp.tensor({0})"),
)
_NUMPYS: Final = ("np.array([1, 2])", "np.array([[1.0], [2.0]])", "np.array(3)", "np.float32(2)")
_CALLS: Final = (
    *("xp.chain_matmul({0})", "xp.chain_matmul({0}, {0})", "xp.chain_matmul({0}, {0}.t(), {0})"),
    *("xp.chain_matmul()", "xp.chain_matmul([{0}, {0}])", "xp.chain_matmul({0}, 2)"),
    *("xp.chain_matmul({0}, {0}, out=xp.empty(2, 2))", "xp.chain_matmul({0}, out=xp.empty(3))"),
    *("xp.chain_matmul({0}[0], {0})", "xp.functional.chain_matmul({0}, {0})"),
    *(
        "xp._aminmax({0})",
        "xp._aminmax({0}, 0)",
        "xp._aminmax({0}, 1, True)",
        "xp._aminmax({0}, 2)",
    ),
    *("xp.linalg.multi_dot([{0}, {0}[0]])", "xp.linalg.multi_dot([{0}[0], {0}, {0}, {0}, {0}[1]])"),
    *("xp.linalg.multi_dot([{0}])", "xp.linalg.multi_dot([{0}, xp.ones(3, 2)])"),
    *("xp.linalg.multi_dot([{0}, {0}.half()])", "xp.linalg.multi_dot([{0}, {0}[0], {0}])"),
    "xp.linalg.multi_dot([xp.ones(1, 5), xp.ones(5, 2), {0}, xp.ones(2, 7), xp.ones(7)])",
    "xp.linalg.multi_dot([{0}, {0}], out=xp.empty(4, dtype={0}.dtype))",
    "xp.linalg.multi_dot([{0}, {0}, {0}.t()], out=xp.empty(0))",
    *("{0}.resize(4)", "{0}.resize(2, 2)", "{0}.resize((4,))", "{0}.resize(1)", "{0}.resize()"),
    *("{0}.resize_as(xp.ones(4))", "{0}.resize_as(xp.ones(3))", "{0}.resize_as(4)"),
)
_NESTED: Final = (
    "xp.nested.nested_tensor([xp.ones(2), xp.ones(3)]).is_nested",
    "xp.nested.nested_tensor([[1, 2], [3.0]], dtype=xp.float64).is_nested",
    "xp.nested.nested_tensor([xp.ones(2), xp.ones(2, 2)])",
)
_MATRICES: Final = (
    *("xp.ones(2, 2)", "xp.arange(4.0).view(2, 2).t()", "xp.ones(2, 2, requires_grad=True)"),
    *("xp.ones(2, 2, dtype=xp.int64)", "xp.ones(2, 2, dtype=xp.complex64)"),
    "xp.ones(2, 2, device='meta')",
)
_MKLDNN: Final = (
    *("xp.device('mkldnn')", "xp.device('mkldnn', 0)", "xp.device('mkldnn:1')"),
    *("xp.device(type='mkldnn')", "xp.empty(0, device='mkldnn')", "xp.device('mkl')"),
)


def texts() -> Iterator[Text]:
    for call, array in product(_ARRAYS, _NUMPYS):
        yield "arrays in lists", call.format(array)
    for call, matrix in product(_CALLS, _MATRICES):
        yield "going away", f"x = {matrix}\n{call.format('x')}"
    for call in (*_NESTED, *_MKLDNN):
        yield "in beta", call
