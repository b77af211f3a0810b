"""Operators that few programs call, for the area core-ops: ranges, samples, inverse functions,
zeros that are not stored, and what torch has for its own tests.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from conformance.area import Text

_DTYPES: Final = ("float32", "float64", "float16", "int64", "int8", "bool", "complex64")
_CALLS: Final = (
    "xp.logspace(-2, 3, 7, dtype=xp.{0})",
    "xp.logspace(0.3, 2.7, 6, base=2, dtype=xp.{0})",
    "xp.logspace(1, 2, 1, dtype=xp.{0})",
    "xp.logspace(0, 2, 4, out=xp.empty(2, 2, dtype=xp.{0}).t())",
    "xp.logspace(0, 1, 3, dtype=xp.{0}, device='meta')",
    "xp.range(0, 3, dtype=xp.{0})",
    "xp.range(5, 1, -2, dtype=xp.{0})",
    "xp.range(0, -3, dtype=xp.{0})",
    "xp.manual_seed(3)\nxp.empty(5, dtype=xp.{0}).geometric_(0.3)",
    "xp.manual_seed(3)\nxp.empty(5, dtype=xp.{0}).cauchy_(2, 3)",
    "xp.manual_seed(3)\nxp.empty(20, dtype=xp.{0}).log_normal_(0.5, 0.25)",
    "xp.manual_seed(3)\nxp.poisson(xp.tensor([[0, 1, 5], [9, 12, 100]]).to(xp.{0}))",
    "xp.erfinv(xp.tensor([0, 0.1, -0.5, 0.9, 0.99999, 1, -1, 2]).to(xp.{0}))",
    "a = xp.tensor([0, 1, 2.5]).to(xp.{0})\nxp.ops.aten.special_xlog1py(a, a.flip(0))",
)
_REDUCED: Final = (
    "xp.renorm({0}, 2, 0, 3.0)",
    "xp.renorm({0}, 1, 1, 5)",
    "{0}.renorm_(3, -1, 2)",
    "xp.renorm({0}.t(), 2, 0, 1, out=xp.empty(0, dtype=xp.{1}))",
    *(
        f"xp.index_reduce({{0}}, {dim}, xp.tensor([0, 2, 0]), {{0}} + 1, '{reduce}', "
        f"include_self={kept})"
        for reduce in ("prod", "mean", "amax", "amin")
        for dim, kept in ((0, True), (1, False))
    ),
    "xp.index_reduce({0}[0], 0, xp.tensor([0, 2, 0]), {0}[1], 'amax', include_self=False)",
)
_FAR_ROWS: Final = tuple(
    f"x = {x}\ny = None\ntry:\n    y = x.index_reduce_(0, xp.tensor([{index}]), {rows}, "
    f"'{reduce}', include_self={kept})\nexcept IndexError as error:\n    y = str(error)\n(x, y)"
    for x, rows in (("xp.tensor(-4.0)", "xp.tensor(1.0)"), ("xp.arange(3.0)", "xp.ones(1)"))
    for index in (0, -1, 5, -3, -4)
    for reduce in ("amax", "mean")
    for kept in (True, False)
)
"""Some counted from behind, some that are not there."""
_PADS: Final = tuple(
    f"xp.ops.aten.{border}_pad{rank}d_backward(xp.ones({grad}, device='{device}'), "
    f"xp.ones({size}, device='{device}'), {[1, 2] + [0, 1] * (rank - 1)}).shape"
    for border in ("reflection", "replication")
    for rank, size, grad in (
        (1, (3,), (6,)),
        (1, (2, 3), (2, 6)),
        (1, (2, 4), (2, 4)),
        (1, (2, 0, 3, 1), (2, 0, 5, 1)),
        (1, (2, 3, 3, 1), (2, 6, 3, 1)),
        (2, (3,), (6,)),
        (2, (2, 3), (2, 6)),
        (2, (1, 2, 4, 4, 2), (1, 3, 7, 4, 2)),
        (2, (1, 2, 4, 4, 2), (1, 2, 4, 4, 2)),
        (3, (2, 3, 4), (2, 3, 4)),
        (3, (2, 3, 3, 4), (2, 4, 4, 5)),
    )
    for device in ("cpu", "meta")
)
"""Gradients of tensors that have not as many dimensions as are padded, or more."""
_ON_META: Final = (
    *("xp.renorm({0}, 0.5, 0, 1)", "xp.renorm({0}, xp.inf, 1, 1)", "xp.renorm({0}, 0, 0, 1)"),
    *("xp.renorm({0}, 1, 2, 1)", "xp.renorm({0}, 1, 0, -1)", "xp.renorm({0}, 1j, 0, 1)"),
    *("xp.renorm({0}, 1, 0, -1.5)", "xp.renorm({0}, 1, 0, -1.23456789)"),
    *("xp.renorm({0}, 1, 0, 1j)", "xp.renorm({0}[0], 1, 0, 1)", "xp.renorm({0}.t(), 2, 0, 1)"),
    *("{0}.t().renorm_(2, 0, 1)", "xp.ops.aten.renorm_.default({0}, 2, 2, 1)"),
    *("{0}.index_reduce(0, xp.tensor([0, 2, 0]), {0}, 'bad')", "{0}.erfinv_()"),
    *("{0}.index_reduce(3, xp.tensor([0, 2, 0]), {0}, 'mean')", "{0}.log_normal_(0, -1)"),
    *("{0}.index_reduce_(3, xp.tensor([0, 2, 0]), {0}, 'mean')", "{0}.cauchy_(0, -1)"),
    *("{0}.t().index_reduce(0, xp.tensor([0, 2, 0]), {0}, 'amax')", "{0}.geometric_(2)"),
)
_NOT_STORED: Final = (
    *("z.copy_(o)", "z.copy_(z)", "z.copy_(1)", "z.copy_(o[:, :2])", "z.view(6).copy_(o.view(6))"),
    *(
        "z[0] = o[0]",
        "z[0] = 1",
        "o[0] = z[0]\no",
        "o.copy_(z)",
        "z.fill_(1)",
        "z.zero_()",
        "z.add_(o)",
    ),
    *("o.add_(z)", "z.t_()", "z.detach().copy_(o)", "xp.add(o, o, out=z)", "xp.ones(2, 3, out=z)"),
    *("z.data_ptr()", "z.untyped_storage().nbytes()", "z.untyped_storage().data_ptr()"),
    *(
        "z.untyped_storage().clone()",
        "z.untyped_storage().tolist()",
        "z.untyped_storage().fill_(1)",
    ),
    *("o.untyped_storage().copy_(z.untyped_storage())", "z.untyped_storage().resize_(4)"),
    *("deepcopy(z)", "z[0, 0].item()", "float(z[1, 1])", "z.tolist()", "str(z)", "repr(z.t())"),
    *("y = z[0].dot(o[0])\n(y.clone(), y._is_zerotensor())", "z.resize_(0).shape"),
    *("y = o[0].inner(z[0])\n(y.clone(), y._is_zerotensor())", "z.clone().add_(1)"),
    "y = z.to(xp.complex64)\n(y[0].vdot(y[1].conj()).clone(), y[0].dot(y[1].conj()).clone())",
)
"""Of zeros that are not stored, and ones."""
_OTHER_LAYOUTS: Final = ("xp.eye(3).to_sparse()", "xp.eye(3).to_mkldnn()")
_VIEWS: Final = (
    *("t[:0]", "t.expand(2, -1)", "t.expand(3, 3)", "t.narrow(0, 0, 1)", "t.diagonal()"),
    *("t.unfold(0, 1, 1)", "t.split(1)", "t.as_strided((1,), (1,))", "t.squeeze()"),
)
"""Of tensors that have no strides."""
_FLOAT8: Final = tuple(
    f"float8_{kind}" for kind in ("e5m2", "e4m3fn", "e4m3fnuz", "e5m2fnuz", "e8m0fnu")
)
_INTEGERS: Final = ("uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "bool")
"""What their NaN becomes."""
_SIZES: Final = ("-1", "2, -3", "0, -1", "1 << 40, 1 << 40", "3, 1 << 62", "0, 2", "")
"""Of such zeros: few can be."""

_OTHERS: Final = (
    "xp.renorm(xp.ones(2, 3), -1, 0, 1)",
    "xp.renorm(xp.ones(3), 1, 0, 1)",
    "xp.renorm(xp.ones(2, 3), 1, 0, -1.5)",
    "xp.renorm(xp.ones(2, 3, device='meta'), -1, 0, 1)",
    "xp.ones(2, 3).index_reduce(0, xp.tensor([0]), xp.ones(1, 3), 'sum')",
    "xp.ones(2, 3).index_reduce(0, xp.tensor([5]), xp.ones(1, 3), 'prod')",
    "xp.ones(2, 3).index_reduce(0, xp.tensor([0, 1]), xp.ones(1, 3), 'prod')",
    "xp.logspace(1, 2, -1)",
    "xp.logspace(1j, 2, 3, dtype=xp.float32)",
    "xp.logspace(xp.tensor(1), 2, 3, base=3)",
    "xp.logspace(xp.ones(1), xp.ones(2), 3)",
    "xp.range(1, 4, 0.5)",
    "xp.range(0.1, 1, 0.1, dtype=xp.float64)",
    "xp.range(0, 3, 0)",
    "xp.range(0, 3, out=xp.zeros(1).expand(4))",
    "xp.range(0, 3, out=xp.zeros(4, 2)[:, 0])",
    "xp.range(0, 3, out=xp.zeros(2, 2).t())",
    "xp.logspace(0, 3, 4, out=xp.zeros(1).expand(4))",
    "xp.logspace(0, 3, 1, out=xp.zeros(1, 1).expand(1, 1))",
    "xp.logspace(0, 3, 4, out=xp.zeros(2, 1).expand(2, 2))",
    "xp.range(0, float('inf'))",
    "xp.range(1, 2, requires_grad=True)",
    "xp.empty(3).geometric_(1.5)",
    "xp.empty(3).cauchy_(sigma=0)",
    "xp.empty(3).log_normal_(std=-1)",
    "xp.empty(3, device='meta').geometric_(2)",
    "xp.empty(3, device='meta').cauchy_(1, 0)",
    "xp.empty(1).expand(3).cauchy_()",
    "xp.poisson(xp.tensor([-1.0]))",
    "xp.poisson(xp.ones(3) * 4, generator=xp.Generator().manual_seed(1))",
    "xp.ops.aten.special_xlog1py.self_scalar(2, xp.tensor([1.0, 2.0]))",
    "xp.ops.aten.special_xlog1py(xp.tensor([0.0, 2, 1]), xp.tensor([-1, -1, float('nan')]))",
    "xp.erfinv(xp.linspace(-0.999999, 0.999999, 40, dtype=xp.float64))",
    "xp.nn.BatchNorm1d(2, bias=False)",
    "l = xp.nn.ReLU()\n[type(m).__name__ for m in xp.nn.Sequential(l, l).modules(False)]",
)
#: Operators that another one's name stands for.
_OTHER_NAMES: Final = (
    "xp.ops.aten.concat([x, x.int()], 1)",
    "xp.ops.aten.concat([], 0)",
    "xp.ops.aten.concatenate([x, x[:, :1]], 1)",
    "xp.ops.aten.concat.out([x, x], 0, out=xp.empty(1))",
    "xp.ops.aten.linalg_matmul(x, x)",
    "xp.ops.aten.linalg_matmul(x, xp.ones(3))",
    "xp.ops.aten.linalg_diagonal(x, offset=1)",
    "xp.ops.aten.linalg_diagonal(x, dim1=0, dim2=0)",
    "xp.ops.aten.special_logit(x, 0.1)",
    "xp.ops.aten.special_log_softmax(x, 1)",
    "xp.ops.aten.special_round(x * 10, decimals=1)",
    "xp.ops.aten.special_round.out(x, decimals=1, out=xp.empty(0))",
)
#: What torch has for its own tests: optional lists, defaults that tell overloads apart, derivatives
#: for each key.
_TESTS: Final = (
    *(
        f"xp._C._nn._test_optional_{kind}list(xp.tensor({values}).to(xp.{{0}}), {addends})"
        for kind in ("int", "float", "filled_int")
        for values, addends in (("[1, 2]", "[3, 4]"), ("[1, 2]", "None"), ("[[1, 2]]", "[3, 4]"))
    ),
    "xp._C._nn._test_optional_filled_intlist(xp.tensor([1, 2]).to(xp.{0}), 5)",
    "xp._C._nn._test_string_default(x)",
    "xp._C._nn._test_string_default(x, a='x')",
    "xp._C._nn._test_ambiguous_defaults(x)",
    "xp._C._nn._test_ambiguous_defaults(x, 2, '2')",
    "xp._C._nn._test_ambiguous_defaults(x, 1, '2')",
    "xp._C._nn._test_ambiguous_defaults(x, 1, 3)",
    "xp.ops.aten._test_ambiguous_defaults.b(x)",
    *(
        f"x.requires_grad_()\ny = {call}\n(y, y.grad_fn.name(), xp.autograd.grad(y.sum(), x))"
        for call in (
            "xp._test_autograd_multiple_dispatch(x)",
            "xp._test_autograd_multiple_dispatch(x, True)",
            "xp._test_autograd_multiple_dispatch_view(x)",
            "xp._test_autograd_multiple_dispatch_view(x * 1).mul_(2)",
            "xp._test_autograd_multiple_dispatch_view_copy(x)",
            "xp._test_functorch_fallback(x, x)",
            "xp._test_parallel_materialize(x, 2)",
            "xp.ops.aten._test_serialization_subcmul(x, x, 3)",
        )
    ),
)
#: Memory that would be pinned for a device that is named; and what warns in backward.
_WARNED: Final = (
    "x.is_pinned('cpu')",
    "x.is_pinned(device='meta')",
    "x.to('meta').is_pinned('cpu')",
    "xp.ops.aten.is_pinned(x, 'cpu')",
    "x.pin_memory('cpu')",
    "x.requires_grad_()\ny = xp._C._nn._test_warn_in_autograd(x)\nxp.autograd.grad(y.sum(), x)",
    "x.requires_grad_()\ny = xp.ops.aten._test_warn_in_autograd(x).sum()\ny.backward()\nx.grad",
)
#: Zeros that are not stored, beside others and each other.
_ZEROS: Final = (
    *(
        f"xp.{name}({{0}}, {other})"
        for name in ("add", "sub", "mul", "div")
        for other in ("xp.ones(2, 3).to(xp.{1})", "{0}", "2", "2.5", "True", "xp.tensor(2.5)")
    ),
    *(
        f"xp.{name}(xp.full((2, 3), 2).to(xp.{{1}}), {{0}})"
        for name in ("add", "sub", "mul", "div")
    ),
    *(
        f"xp.{name}({{0}}, xp.ones(2, 1).to(xp.{{1}}), alpha={alpha})"
        for name in ("add", "sub", "rsub")
        for alpha in ("2", "0.5", "True")
    ),
    "xp.add({0}, xp.ones(3, device='meta'))",
    "xp.linalg.cross({0}, xp.ones(3).to(xp.{1}))",
    "xp.linalg.cross(xp.ones(2, 3).to(xp.{1}), {0})",
)
#: Names where there are places, which are refused, and no name at all.
_NAMED: Final = (
    "xp.cat([x, x], 'N')",
    "xp.cat([x, x], '*')",
    "xp.sum(x, '*')",
    "xp.sum(x, ('N', '*'))",
    "xp.softmax(x, '*')",
    "xp.ones(2, names=('*',))",
    "xp.ones(2, names=('a*',))",
)


def texts() -> Iterator[Text]:
    for call in (*_OTHER_NAMES, *_NAMED):
        made = "x = xp.tensor([[0.15, 0.25], [0.351, 0.4]])"
        yield _target(call), f"{made}\n{call}"
    for call, dtype in product(_CALLS, _DTYPES):
        yield _target(call), call.format(dtype)
    for call, dtype in product(_REDUCED, ("float32", "float64", "bfloat16", "int64", "int8")):
        made = f"xp.tensor([[1, 2, 3], [4, 5, 60], [1, 0, 0]], dtype=xp.{dtype})"
        yield _target(call.replace("{0}.", "xp.")), call.format(made, dtype)
    for call, dtype in product((*_REDUCED, *_ON_META), (*_DTYPES, "bool", "complex64")):
        made = f"xp.zeros(2, 3, 3, dtype=xp.{dtype}, device='meta')[0]"
        on_meta = call.replace("xp.empty(0,", "xp.empty(0, device='meta',")
        on_meta = on_meta.replace("xp.tensor([0, 2, 0])", "xp.zeros(3, dtype=int, device='meta')")
        yield _target(call.replace("{0}.", "xp.")), on_meta.format(made, dtype)
    for call in _WARNED:
        yield _target(call), f"x = xp.ones(2)\n{call}"
    for call, dtype in product(_TESTS, ("float32", "int32")):
        made = f"x = xp.tensor([[1, 2], [3, 4]]).to(xp.{dtype})"
        yield _target(call), f"{made}\n{call.format(dtype)}"
    for call, dtype in product(_ZEROS, ("float32", "float16", "int64", "bool", "complex64")):
        zeros = f"xp._efficientzerotensor(3, dtype=xp.{dtype})"
        yield _target(call), f"y = {call.format(zeros, dtype)}\n(y, y._is_zerotensor())"
    for call in _NOT_STORED:
        yield _target(call), f"z, o = xp._efficientzerotensor(2, 3), xp.ones(2, 3)\n{call}"
    for size, device in product(_SIZES, ("cpu", "meta")):
        made = f"z = xp._efficientzerotensor([{size}], device='{device}')"
        yield "_efficientzerotensor", f"{made}\n(z.shape, z.untyped_storage().nbytes())"
    for made, call in product(_OTHER_LAYOUTS, _VIEWS):
        yield _target(call), f"t = {made}\n{call}"
    for name in ("flatten", "reshape"):
        yield name, f"{_OTHER_LAYOUTS[0]}.{name}(-1)"
    for kind, call in product(_FLOAT8, ("mean()", "mean(0)", "mean(1, True)", "sum(1)")):
        yield _target(call), f"xp.empty(0, 3, dtype=xp.{kind}).{call}"
    for reduction in ("mean", "sum", "none"):
        call = f"xp.nn.functional.nll_loss(x, xp.zeros(0, dtype=int), reduction='{reduction}')"
        yield "nll_loss", f"x = xp.empty(0, 0)\n{call}"
    for kind, dtype in product(_FLOAT8, _INTEGERS):
        yield "to", f"xp.tensor([float('nan'), 1.0, 0.5], dtype=xp.{kind}).to(xp.{dtype})"
    for call in _FAR_ROWS:
        yield "index_reduce_", call
    for call in (*_OTHERS, *_PADS):
        yield _target(call), call


def _target(call: str) -> str:
    return call.rpartition("\n")[2].partition("(")[0].rpartition(".")[2] or "modules"
