"""Matrices that are factored, solved and inverted, for the area core-ops: odd shapes, dtypes and
layouts, what is singular, and what is written to.

All matrices are far from singular, or exactly so: between these rounding decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from conformance.area import Text

_DEVICES: Final = ("cpu", "meta")
_REGULAR: Final = "xp.tensor([[4.0, 1.0, 0.5], [1.0, 5.0, 2.0], [0.5, 2.0, 6.0]], device='{}')"
_SINGULAR: Final = "xp.tensor([[1.0, 2.0, 3.0], [0.0, 0.0, 4.0], [0.0, 0.0, 5.0]])"
_INDEFINITE: Final = "xp.tensor([[0.0, 2.0, 1.0], [2.0, 0.0, 3.0], [1.0, 3.0, 0.0]])"
_OF_ONE: Final = (
    *("xp.det({})", "xp.slogdet({})", "xp.logdet({})", "xp.inverse({})", "xp.linalg.inv_ex({})"),
    *("xp.linalg.lu({})", "xp.linalg.lu_factor_ex({})", "xp.lu({})", "xp.linalg.ldl_factor({})"),
    *("xp.linalg.cholesky({})", "xp.linalg.cholesky_ex({})", "xp.cholesky({}, True)"),
    *("xp.cholesky_inverse({})", "xp.matrix_power({}, -2)", "xp.matrix_power({}, 5)"),
)
_OF_TWO: Final = (
    *("xp.linalg.solve({0}, {1})", "xp.linalg.solve({0}, {1}, left=False)"),
    *("xp.triangular_solve({1}, {0})", "xp.cholesky_solve({1}, {0})"),
    *("xp.linalg.solve_triangular({0}, {1}, upper=True)", "xp.linalg.solve_ex({0}, {1})"),
    "xp.linalg.solve_triangular({0}, {1}, upper=False, left=False, unitriangular=True)",
)
_SHAPES: Final = ("(3,)", "(2, 3)", "(0, 0)", "(2, 0, 0)", "(0, 3, 3)", "()")
_DTYPES: Final = ("int64", "bool", "float16", "complex64")
_RIGHT_SIDES: Final = (
    *("xp.ones(3, device='{}')", "xp.ones(3, 2, device='{}')", "xp.ones(2, 3, device='{}')"),
    *("xp.ones(2, 3, 3, device='{}')", "xp.ones(3, 0, device='{}')", "xp.ones((), device='{}')"),
    "xp.ones(3, 3, dtype=xp.float64, device='{}')",
)


def texts() -> Iterator[Text]:
    for text in (*_shapes(), *_pairs(), *_singular(), *_outputs(), *_calls(), *_gradients()):
        yield "linear_algebra", text


def _shapes() -> Iterator[str]:
    for place, call in enumerate(_OF_ONE):
        for shift, shape in enumerate(_SHAPES):
            device = _DEVICES[(place + shift) % 2]
            yield call.format(f"xp.ones({shape}, device='{device}')")
        device = _DEVICES[place % 2]
        for dtype in _DTYPES:
            yield call.format(f"{_REGULAR.format(device)}.to(xp.{dtype})")
        yield call.format(f"{_REGULAR.format(_DEVICES[1 - place % 2])}.tril().T")


def _pairs() -> Iterator[str]:
    for place, call in enumerate(_OF_TWO):
        for shift, right in enumerate(_RIGHT_SIDES):
            device = _DEVICES[(place + shift) % 2]
            yield call.format(_REGULAR.format(device), right.format(device))


def _singular() -> Iterator[str]:
    for call in (*_OF_ONE[:8], *(call.replace("{1}", "xp.ones(3, 3)") for call in _OF_TWO[:2])):
        yield call.format(_SINGULAR)
    for call in ("inv", "lu_factor", "lu_factor_ex", "inv_ex"):
        options = ", check_errors=True" if call.endswith("ex") else ""
        yield f"xp.linalg.{call}(xp.stack([xp.eye(3), xp.zeros(3, 3)]){options})"
    for call in ("cholesky", "cholesky_ex", "ldl_factor", "ldl_factor_ex"):
        yield f"xp.linalg.{call}(xp.stack([xp.eye(3), {_INDEFINITE}]))"
    yield "xp.cholesky_inverse(xp.zeros(2, 2))"
    yield f"xp.linalg.cholesky_ex({_INDEFINITE}, check_errors=True)"
    yield f"xp.linalg.ldl_solve(*xp.linalg.ldl_factor({_INDEFINITE}), xp.ones(3, 2))"
    yield (
        f"a = {_INDEFINITE} * (1 + 0.5j)\na = a + a.mH\n"
        "y = xp.linalg.ldl_factor(a, hermitian=True)\n"
        "(y, xp.linalg.ldl_solve(*y, xp.ones(3, 1).cfloat(), hermitian=True))"
    )
    yield "xp.linalg.lu_factor(xp.eye(2), pivot=False)"
    yield "xp.linalg.lu(xp.eye(2, device='meta'), pivot=False)"


def _outputs() -> Iterator[str]:
    calls = (
        *("linalg.det", "linalg.inv", "linalg.cholesky", "cholesky", "cholesky_inverse"),
        "inverse",
    )
    for place, call in enumerate(calls):
        for shift, out in enumerate(
            (
                "xp.empty(0, device='{}')",
                "xp.empty(2, 2, device='{}')",
                "xp.empty(3, 3, dtype=xp.float64, device='{}')",
                "xp.empty(3, 3, dtype=xp.int64, device='{}')",
            )
        ):
            device = _DEVICES[(place + shift) % 2]
            made = out.format(device)
            yield f"o = {made}\ny = xp.{call}({_REGULAR.format(device)}, out=o)\n(o, y is o)"
    for call in ("linalg.solve(a, b, out=o)", "linalg.solve_triangular(a, b, upper=True, out=o)"):
        for out in ("xp.empty(3, 2)", "xp.empty(2, 3).T", "xp.empty(3, 2, dtype=xp.float64)"):
            yield f"a = {_REGULAR.format('cpu')}\nb = xp.ones(3, 2)\no = {out}\n(xp.{call}, o)"
    yield "xp.lu(xp.eye(2), out=[xp.empty(0), xp.empty(0, dtype=xp.int32)])"
    yield "xp.lu(xp.eye(2), get_infos=True, out=(xp.empty(0), xp.empty(0, dtype=xp.int32)))"


def _calls() -> Iterator[str]:
    regular = _REGULAR.format("cpu")
    factors = f"f, p = xp.linalg.lu_factor({regular} * (2 - 1j))\n"
    for left in ("True", "False"):
        for adjoint in ("True", "False"):
            options = f"left={left}, adjoint={adjoint}"
            yield f"{factors}xp.linalg.lu_solve(f, p, xp.ones(3, 3).cfloat(), {options})"
    for pivots in ("[0, 2, 3]", "[1, 2, 4]", "[1, 2]", "[[1, 2, 3]]"):
        yield f"xp.linalg.lu_solve({regular}, xp.tensor({pivots}, dtype=xp.int32), xp.ones(3, 1))"
    yield "xp.lu_unpack(xp.ones(2, 3), xp.tensor([2, 2], dtype=xp.int32), unpack_data=False)"
    yield "xp.lu_unpack(xp.ones(3, 2), xp.tensor([2, 5], dtype=xp.int32))"
    yield "xp.lu_unpack(xp.ones(3, 2), xp.tensor([2, 2]))"
    yield "xp.lu_unpack(xp.arange(6).view(3, 2), xp.tensor([3, 2], dtype=xp.int32))"
    yield "xp.linalg.tensorinv((xp.eye(6) * 2 + 1).view(2, 3, 6), ind=0)"
    yield "xp.linalg.tensorinv(xp.zeros(2, 3, 6), ind=2)"
    yield "xp.linalg.tensorinv(xp.ones(2, 3, 5), ind=2)"
    moved = "(xp.eye(6) * 2 + 1).view(2, 3, 6).movedim(2, 0)"
    yield f"xp.linalg.tensorsolve({moved}, xp.ones(2, 3), dims=(0,))"
    yield "xp.linalg.tensorsolve(xp.eye(6).view(2, 3, 6), xp.ones(2, 2))"
    for power in ("0", "1", "-1", "2", "3"):
        yield f"xp.matrix_power({regular}, {power})"
    yield "xp.matrix_power(xp.tensor([[1, 2], [3, 4]]), 3)"
    yield "xp.matrix_power(xp.tensor([[1, 2], [3, 4]]), -1)"
    yield f"{regular}.to(xp.complex64).mH.inverse()"
    conjugated = f"({regular} * (2 - 1j)).conj()"
    yield f"xp.linalg.solve_triangular({conjugated}, xp.ones(3, 2).cfloat(), upper=True)"
    yield f"xp.linalg.solve_triangular({conjugated}.mT, xp.ones(3, 2).cfloat(), upper=False)"
    yield f"xp.linalg.solve({conjugated}, xp.ones(2, 3).cfloat(), left=False)"
    yield f"xp.linalg.solve(xp.stack([{regular}] * 2), xp.ones(2, 3))"
    yield f"xp.linalg.solve_triangular({regular}, xp.ones(3, 2).double(), upper=True)"


def _gradients() -> Iterator[str]:
    yield "a = xp.eye(2).requires_grad_()\nxp.det(a).grad_fn, xp.linalg.inv(a).grad_fn"
    for call in (
        *("xp.linalg.lu(a)[2]", "xp.linalg.lu(a[:2])[1]", "xp.linalg.lu(a[:, :2])[2]"),
        *("xp.linalg.lu_factor(a)[0]", "xp.slogdet(a)[1]", "xp.linalg.cholesky(a)"),
        *("xp.linalg.solve(a, a)", "xp.matrix_power(a, -3)", "xp.matrix_power(a, 0)"),
        "xp.linalg.det(a)",
    ):
        grad = "g, = xp.autograd.grad(y.sum(), a, create_graph=True)\n"
        regular = _REGULAR.format("cpu").replace(", device='cpu'", ", dtype=xp.float64")
        made = f"a = {regular}.requires_grad_()\ny = {call}\n"
        if call != "xp.linalg.det(a)":  # whose second one may ask for singular values
            yield f"{made}{grad}(y, g, xp.autograd.grad((g * g).sum(), a))"
        yield f"{made}y.sum().backward()\n(y, a.grad)"
    refused = "xp.eye(2).requires_grad_()"
    yield f"xp.linalg.ldl_factor({refused})"
    yield f"xp.linalg.inv({refused}, out=xp.empty(2, 2))"
