"""Decompositions of matrices for the area core-ops, beyond torch's samples.

The matrices have singular values that are apart, so what comes out is certain up to the signs of
vectors: of these magnitudes are compared (:mod:`conformance.cases.opinfo_matrices`).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from conformance.area import Text
from conformance.cases.opinfo_matrices import magnitudes
from conformance.cases.pairwise import pairwise

_SHAPES: Final = ("(4, 3)", "(2, 3, 4)", "(2, 3, 0)")
_SQUARE: Final = ("(3, 3)", "(2, 3, 3)", "(0, 0)")
_NO_MATRICES: Final = ("()", "(3,)", "(2, 3, 4)")
_DTYPES: Final = ("float64", "complex128")
_OTHER_DTYPES: Final = ("bfloat16", "int64", "complex32")
_DEVICES: Final = ("cpu", "meta")

_VECTORS: Final = (
    *("linalg.svd({0})", "linalg.svd({0}, full_matrices=False)", "svd({0})"),
    *("svd({0}, some=False)", "linalg.eigh({1})", "linalg.eigh({1}, UPLO='u')", "linalg.eig({1})"),
)
"""Calls that answer vectors: of a matrix, or of a Hermitian one."""
_RECTANGULAR: Final = (
    *("linalg.qr({0})", "linalg.qr({0}, mode='complete')", "linalg.qr({0}, mode='r')"),
    *("qr({0})", "qr({0}, some=False)", "geqrf({0})", "linalg.svdvals({0})"),
    *("svd({0}, compute_uv=False)", "linalg.pinv({0})", "linalg.pinv({0}, rtol=0.3)"),
    *("linalg.pinv({0}, 0.3)", "linalg.pinv({0}, atol=2.0)", "pinverse({0})"),
    *(
        "linalg.matrix_rank({0})",
        "linalg.matrix_rank({0}, 2.0)",
        "linalg.matrix_rank({0}, rtol=0.3)",
    ),
    *("linalg.matrix_rank({0}, tol=xp.tensor(3.0))", "linalg.matrix_rank({0}, atol=1.0, rtol=0.1)"),
    *(
        "linalg.cond({0})",
        "linalg.cond({0}, -2)",
        "nuclear_norm({0})",
        "frobenius_norm({0}, [-2, -1])",
    ),
)
_OF_SQUARE: Final = (
    *("linalg.eigvals({0})", "linalg.eigvalsh({1})", "linalg.eigvalsh({1}, UPLO='U')"),
    *("linalg.pinv({1}, hermitian=True)", "linalg.matrix_rank({1}, hermitian=True)"),
    *("matrix_exp({0})", "matrix_exp({0} * 1e-9)", "matrix_exp({0} * 1e-6)"),
    *("matrix_exp({0} * 0.003)", "matrix_exp({0} * 0.03)", "matrix_exp({0} * 0.1)"),
)
_NORMS: Final = ("-2", "1", "-xp.inf", "'fro'", "'nuc'", "None", "'x'", "1j")
_DIMS: Final = (
    *("dim=(0, 2)", "dim=(2, -3), keepdim=True", "dim=(1, 1)", "dim=(1,)", "dim=(0, 5)"),
    *("dim=(0, 1, 2)", "dim=()"),
)
_DRIVERS: Final = ("gels", "gelsy", "gelsd", "gelss")
_SYSTEMS: Final = (
    *("(3, 3) (3, 2)", "(4, 3) (4, 2)", "(3, 4) (3, 2)", "(4, 3) (4,)", "(2, 4, 3) (2, 4)"),
    *("(2, 4, 3) (1, 4, 2)", "(0, 3) (0, 2)", "(3, 0) (3, 2)", "(3, 3) (2, 2)", "(3,) (3,)"),
    *("(3, 3) ()", "(3, 3) (2, 3, 3)", "(2, 3, 3) (3, 3)"),
)
_CHECKED: Final = (
    *("linalg.qr({0})", "geqrf({0})", "linalg.svd({0})", "svd({0}, compute_uv=False)"),
    *("linalg.eigh({0})", "linalg.eig({0})", "linalg.eigvals({0})", "matrix_exp({0})"),
    *("linalg.pinv({0})", "linalg.matrix_rank({0})", "linalg.cond({0})", "linalg.cond({0}, 1)"),
    *("linalg.matrix_norm({0})", "linalg.matrix_norm({0}, 2)", "linalg.vecdot({0}, {0})"),
    "linalg.lstsq({0}, {0})",
)
_ARGUMENTS: Final = (
    *("linalg.qr({0}, mode='x')", "linalg.eigh({0}, UPLO='x')", "linalg.eigh({0}, UPLO='UL')"),
    *("linalg.svd({0}, driver='gesvd')", "linalg.cond({0}, 3)", "linalg.cond({0}, 'x')"),
    *("linalg.cond({0}, -xp.inf)", "linalg.pinv({0}, atol=xp.tensor(1j))", "linalg.cond({0}, 1j)"),
    *("linalg.pinv({0}, xp.tensor(1j))", "linalg.matrix_rank({0}, rtol=xp.tensor(1j))"),
    *("linalg.matrix_rank({0}, atol=xp.ones(1, device='meta'))", "linalg.eig({0} * xp.nan)"),
    *("linalg.svd({0} * xp.nan)", "linalg.svdvals({0}[None] * xp.inf)", "matrix_exp({0} * xp.nan)"),
    *("linalg.svdvals({0}.mT)", "linalg.qr({0}.mT)", "linalg.qr({0}[:, ::2])"),
)


_WEIGHTED: Final = "(y * xp.arange(1, y.numel() + 1).view_as(y)).sum()"
"""The sum of all eigenvalues is one of few elements."""


def _matrix(shape: str, dtype: str = "float64", device: str = "cpu") -> str:
    numbers = f"xp.arange(xp.ones({shape}).numel(), device='{device}')"
    made = f"((({numbers} + 3) ** 2 * 7 % 31) * 0.25 - 3.4).reshape({shape})"
    if dtype.startswith("complex"):
        made = f"({made} + 0.5j * {made}.roll(1))"
    return f"{made}.to(xp.{dtype})"


def _hermitian(shape: str, dtype: str = "float64", device: str = "cpu") -> str:
    made = _matrix(shape, dtype, device)
    return f"({made} + {made}.mH)"


def _target(call: str) -> str:
    return call.partition("(")[0].replace(".", "_")


def _called(call: str, shape: str, dtype: str = "float64", device: str = "cpu") -> str:
    """Hermitian matrices are square."""
    of = _hermitian(shape, dtype, device) if "{1}" in call else ""
    return "xp." + call.format(_matrix(shape, dtype, device), of)


def texts() -> Iterator[Text]:
    yield from _values()
    yield from _refused()
    yield from _norms()
    yield from _least_squares()
    yield from _reflections()
    yield from _outputs()
    yield from _gradients()


def _values() -> Iterator[Text]:
    for call, dtype in product(_VECTORS, _DTYPES):
        for shape in _SQUARE[1:2] if "{1}" in call else _SHAPES[1:2]:
            yield _target(call), magnitudes(_called(call, shape, dtype))
    for calls, shapes in ((_RECTANGULAR, _SHAPES), (_OF_SQUARE, _SQUARE)):
        for call, shape, dtype in pairwise(calls, shapes, _DTYPES):
            yield _target(call), _called(call, shape, dtype)
    for call in (*_VECTORS[::2], *_RECTANGULAR[::2], *_OF_SQUARE[::2]):
        yield _target(call), _called(call, "(2, 3, 3)", "float32", "meta")


def _refused() -> Iterator[Text]:
    for call, shape, device in pairwise(_CHECKED, _NO_MATRICES, _DEVICES):
        text = _called(call, shape, device=device)
        has_sign = device == "cpu" and call in _VECTORS and shape.startswith("(2")
        yield _target(call), magnitudes(text) if has_sign else text
    for call, dtype, device in pairwise(_CHECKED, _OTHER_DTYPES, _DEVICES):
        made = f"xp.ones((2, 2), dtype=xp.{dtype}, device='{device}')"
        yield _target(call), "xp." + call.format(made)
    for call in _ARGUMENTS:
        yield _target(call), "xp." + call.format(_matrix("(3, 3)"))


def _norms() -> Iterator[Text]:
    for order, shape in pairwise(_NORMS, ("(3, 4)", "(0, 3)", "(3,)", "(2, 3, 4)", "()")):
        yield "linalg_norm", f"xp.linalg.norm({_matrix(shape)}, {order})"
    for order, rest, name in pairwise(_NORMS, _DIMS, ("matrix_norm", "norm")):
        yield f"linalg_{name}", f"xp.linalg.{name}({_matrix('(2, 3, 4)')}, {order}, {rest})"
    for order, dtype in pairwise(
        ("2", "1", "'fro'", "'nuc'"), ("float32", "float64", "complex128", "int64")
    ):
        x = _matrix("(3, 4)", "float32")
        yield "linalg_matrix_norm", f"xp.linalg.matrix_norm({x}, {order}, dtype=xp.{dtype})"
    for shapes in ("(3,) (3,)", "(2, 3) (3,)", "(2, 3) (2, 1)", "(0,) (0,)", "(3,) (4,)", "() ()"):
        one, two = (_matrix(f"({shape}", "complex128") for shape in shapes[1:].split(" ("))
        yield "linalg_vecdot", f"xp.linalg.vecdot({one}, {two}, dim=0)"
    x = _matrix("(3,)")
    yield "linalg_vecdot", f"xp.linalg.vecdot({x}, {x}.float())"
    yield "linalg_vecdot", f"xp.linalg.vecdot({x}, {x}, out=xp.ones(0))"
    yield "linalg_vecdot", f"xp.linalg.vecdot({x}, {x}, out=xp.ones(2, dtype=xp.float64))"


def _least_squares() -> Iterator[Text]:
    for pair, driver in pairwise(_SYSTEMS, _DRIVERS):
        one, two = (_matrix(f"({shape}") for shape in pair[1:].split(" ("))
        yield "linalg_lstsq", f"xp.linalg.lstsq({one}, {two}, driver='{driver}')"
    a, b = _matrix("(4, 3)"), _matrix("(4, 2)")
    for rest in ("driver='GELSY'", "driver='x'", "rcond=0.5, driver='gelsd'"):
        yield "linalg_lstsq", f"xp.linalg.lstsq({a}, {b}, {rest})"
    yield "linalg_lstsq", f"xp.linalg.lstsq({a}, {b}.float())"
    made = _matrix("(4, 3)", device="meta")
    yield "linalg_lstsq", f"xp.linalg.lstsq({made}, {made})"


def _reflections() -> Iterator[Text]:
    made = f"h, tau = xp.geqrf({{0}})\nc = {_matrix('(4, 4)')}.cos()\n"
    for shape, dtype in product(("(4, 4)", "(4, 3)", "(4, 2)"), _DTYPES):
        start = made.format(_matrix(shape, dtype)) + f"c = c.to(xp.{dtype})\n"
        yield "orgqr", f"{start}xp.orgqr(h, tau)"
        for left, turned in product((True, False), repeat=2):
            yield "ormqr", f"{start}xp.ormqr(h, tau, c, {left}, {turned})"
    for shapes in (
        *("(4, 3) (3,) (3, 4)", "(4, 3) (4,) (4, 4)", "(4, 3) (2,) (4, 4)", "(4,) (3,) (4, 4)"),
        *("(4, 3) (3,) (4,)", "(2, 4, 3) (2, 3) (4, 4)", "(2, 4, 3) (3,) (2, 4, 4)"),
        *("(2, 4, 3) (1, 3) (2, 4, 4)", "(2, 4, 3) (2, 3) (1, 4, 4)", "(3, 4) (3,) (3, 3)"),
    ):
        for device in _DEVICES:
            h, tau, c = (f"xp.ones(({each}, device='{device}')" for each in shapes[1:].split(" ("))
            yield "ormqr", f"xp.ormqr({h}, {tau}, {c})"
            yield "linalg_householder_product", f"xp.linalg.householder_product({h}, {tau})"
    for one, two, three in (
        ("h.float()", "tau", "c"),
        ("h", "tau.float()", "c"),
        ("h", "tau", "c.float()"),
    ):
        start = made.format(_matrix("(4, 3)"))
        for device in _DEVICES:
            given = ", ".join(f"{each}.to('{device}')" for each in (one, two, three))
            yield "ormqr", f"{start}xp.ormqr({given})"
        yield "orgqr", f"{start}xp.orgqr({one}, {two})"


def _outputs() -> Iterator[Text]:
    x = _matrix("(3, 3)")
    shown = "[(o.shape, o.stride(), o.dtype, o.abs()) for o in out]"
    for call, count in (
        *(("linalg.qr", 2), ("qr", 2), ("geqrf", 2), ("linalg.svd", 3), ("svd", 3)),
        *(("linalg.eigh", 2), ("linalg.eig", 2)),
    ):
        for out in (
            *("xp.empty(0, dtype=xp.float64)", "xp.empty(0)", "xp.empty((3, 3), dtype=xp.float64)"),
            *("xp.empty(2, dtype=xp.complex128)", "xp.empty(0, dtype=xp.int64)"),
        ):
            made = f"out = [{out} for _ in range({count})]\nxp.{call}({x}, out=out)\n{shown}"
            yield _target(call), made
    shown = "(out.shape, out.stride(), out.dtype, out)"
    for call in (
        *("linalg.svdvals({0}, ", "linalg.eigvals({0}, ", "linalg.eigvalsh({0}, "),
        *(
            "linalg.pinv({0}, ",
            "linalg.matrix_rank({0}, ",
            "linalg.cond({0}, ",
            "linalg.norm({0}, ",
        ),
        *("linalg.matrix_norm({0}, ", "linalg.householder_product({0}, {0}[0], "),
        *("ormqr({0}, {0}[0], {0}, ", "nuclear_norm({0}, "),
    ):
        for out in (
            *("xp.empty(0)", "xp.empty(2, dtype=xp.complex128)"),
            "xp.empty((3, 3), dtype=xp.float64).mT",
        ):
            yield _target(call), f"x = {x}\nout = {out}\nxp.{call.format('x')}out=out)\n{shown}"


def _gradients() -> Iterator[Text]:
    for call in (
        *(
            "linalg.svdvals(x)",
            "linalg.eigvalsh(x + x.mH)",
            "linalg.pinv(x)",
            "matrix_exp(x * 0.1)",
        ),
        *("linalg.svd(x)[1]", "linalg.svd(x, full_matrices=False)[0].abs()", "linalg.cond(x)"),
        *("linalg.svd(x)[2].abs()", "linalg.eigh(x + x.mH)[1].abs()", "linalg.norm(x, 2)"),
        *("linalg.norm(x, 'nuc')", "linalg.matrix_norm(x, -1)", "linalg.qr(x, mode='r')[1]"),
        *(
            "linalg.qr(x, mode='complete')[0]",
            "geqrf(x)[0]",
            "linalg.pinv(x + x.mH, hermitian=True)",
        ),
    ):
        for shape in ("(3, 3)", "(4, 3)", "(3, 4)"):
            if "complete" in call and shape != "(4, 3)":
                continue
            made = f"x = {_matrix(shape)}.requires_grad_()\ny = xp.{call}\n"
            yield _target(call), f"{made}{_WEIGHTED}.backward()\n(y, x.grad)"
    x = f"x = {_matrix('(3, 3)', 'complex128')}.requires_grad_()\n"
    for call in ("linalg.svd(x)[0]", "linalg.svd(x)[2]", "linalg.eigh(x)[1]", "linalg.svdvals(x)"):
        yield _target(call), f"{x}xp.{call}.sum().abs().backward()\nx.grad"
    pair = f"a = {_matrix('(4, 3)')}.requires_grad_()\nb = {_matrix('(4, 2)')}.requires_grad_()\n"
    for place in range(2):
        call = f"y = xp.linalg.lstsq(a, b, driver='gels')\ny[{place}].sum().backward()"
        yield "linalg_lstsq", f"{pair}{call}\n(a.grad, b.grad)"
    start = f"x = {_matrix('(4, 3)')}.requires_grad_()\nt = {_matrix('(3,)')}.requires_grad_()\n"
    yield "orgqr", f"{start}xp.orgqr(x * 0.1, t * 0.1).sum().backward()\n(x.grad, t.grad)"
    c = f"c = {_matrix('(4, 4)')}.requires_grad_()\n"
    for left, turned in product((True, False), repeat=2):
        call = f"xp.ormqr(x * 0.1, t * 0.1, c, {left}, {turned}).sum().backward()"
        yield "ormqr", f"{start}{c}{call}\n(x.grad, t.grad, c.grad)"
