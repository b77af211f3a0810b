"""What the cases of core-ops are made of: operators, dtypes, values, numbers, shapes, layouts."""

from __future__ import annotations

from typing import Final

DTYPES: Final = tuple(
    f"{kind}{bits}"
    for kind, sizes in (
        ("bool", ("",)),
        ("uint", (8, 16, 32, 64)),
        ("int", (8, 16, 32, 64)),
        ("float", (16, 32, 64)),
        ("bfloat", (16,)),
        ("complex", (32, 64, 128)),
        ("float8_", ("e4m3fn", "e5m2", "e4m3fnuz", "e5m2fnuz", "e8m0fnu")),
    )
    for bits in sizes
)
TRUTHS: Final = ("bool", "uint8", "int32", "int64", "float16", "float32", "float64", "complex64")
"""One of each category of dtypes and size."""

_NAN: Final = "float('nan')"
_INF: Final = "float('inf')"

_FLOATS: Final = (
    ("1.5", "-2.25", "0.75"),
    ("2.0", "0.5", "-3.0"),
    ("0.0", "-0.0", "1.0"),
    (_NAN, _INF, f"-{_INF}"),
)
_UNSIGNED: Final = (("3", "2", "7"), ("2", "1", "5"), ("0", "1", "100"))
_SIGNED: Final = (("3", "-2", "7"), ("-2", "1", "5"), ("0", "-1", "100"))
_BOOLS: Final = (("True", "False", "True"), ("True", "True", "False"))
_COMPLEX: Final = (
    ("1.5+0.5j", "-2.0+0.25j", "0.75-3j"),
    ("2+1j", "0.5-0.5j", "-3+2j"),
)


def pools_of(dtype: str) -> tuple[tuple[str, ...], ...]:
    """Kinds of values of a dtype, three of each."""
    if dtype.startswith("complex"):
        return _COMPLEX
    if "float" in dtype:
        return _FLOATS
    if dtype == "bool":
        return _BOOLS
    return _UNSIGNED if dtype.startswith("u") else _SIGNED


NUMBERS: Final = ("True", "2", "-1", "0", "300", "2.5", "-0.5", "1e300", _NAN, "1+2j")

_OF_ONE: Final = (
    "abs acos asin atan bitwise_not ceil cos cosh erf exp exp2 expm1 floor frac log log10 log1p "
    "log2 logical_not neg reciprocal round rsqrt sigmoid sign sin sinh sqrt square tan tanh trunc"
)
_EXACT: Final = (
    "abs bitwise_not ceil floor frac logical_not neg reciprocal round sign sqrt square trunc"
)
_QUESTIONS: Final = "isnan isinf isfinite absolute negative arccos fix"

UNARY: Final = tuple(f"xp.{name}({{0}})" for name in _OF_ONE.split())
EXACT: Final = tuple(f"xp.{name}({{0}})" for name in _EXACT.split())
"""Those whose results are the same everywhere, to the last digit."""
FUNCTIONS: Final = tuple(f"xp.{name}({{0}})" for name in _QUESTIONS.split())
"""Further ones, which are called in no other form."""
INEXACT: Final = ("pow", "atan2")
"""Operators of two tensors of which that does not hold."""
WIDE: Final = ("float64", "complex128")
"""What shows more digits than a float32 computation has."""

UNARY_WITH_ARGUMENTS: Final = (
    "xp.relu({0})",
    "xp.ops.aten.silu({0})",
    "xp.ops.aten.gelu({0})",
    "xp.ops.aten.gelu({0}, approximate='tanh')",
    "xp.ops.aten.leaky_relu({0})",
    "xp.ops.aten.leaky_relu({0}, 0.5)",
    "xp.ops.aten.elu({0})",
    "xp.ops.aten.elu({0}, -1, 2)",
    "xp.ops.aten.threshold({0}, 1, 20)",
    "xp.ops.aten.threshold({0}, 0.5, -1.5)",
    "xp.round({0}, decimals=1)",
    "xp.clamp({0}, min=1)",
    "xp.clamp({0}, max=1.5)",
    "xp.clamp({0}, 1, 2)",
)

_OF_TWO: Final = (
    "add sub mul div floor_divide remainder fmod pow maximum minimum fmax fmin atan2 copysign eq "
    "ne lt le gt ge logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor "
    "bitwise_left_shift bitwise_right_shift"
)
_ALIASES: Final = "subtract multiply divide true_divide greater less_equal not_equal arctan2 rsub"

BINARY: Final = (
    *(f"xp.{name}({{0}}, {{1}})" for name in _OF_TWO.split()),
    "xp.add({0}, {1}, alpha=2)",
    "xp.sub({0}, {1}, alpha=2)",
    "xp.div({0}, {1}, rounding_mode='floor')",
    "xp.div({0}, {1}, rounding_mode='trunc')",
)
BINARY_FUNCTIONS: Final = (
    *(f"xp.{name}({{0}}, {{1}})" for name in _ALIASES.split()),
    "xp.max({0}, {1})",
    "xp.min({0}, {1})",
    "{0} + {1}",
    "{0} // {1}",
    "{0} % {1}",
    "{0} ** {1}",
    "{0} << {1}",
    "{0} >> {1}",
    "{0} & {1}",
    "{0} != {1}",
    "xp.div({0}, {1}, rounding_mode='nosuch')",
)
"""Other names and Python's operators."""
WITHOUT_IN_PLACE: Final = ("maximum", "minimum", "fmax", "fmin", "rsub")

MIXED: Final = (
    "xp.add({0}, {1})",
    "xp.mul({0}, {1})",
    "xp.div({0}, {1})",
    "xp.eq({0}, {1})",
    "xp.maximum({0}, {1})",
    "xp.logical_and({0}, {1})",
)
"""One of each kind of type promotion."""

BINARY_NUMBERS: Final = (
    *(
        call
        for call in BINARY
        if not any(name in call for name in ("imum", "fmax", "fmin", "atan2", "logical"))
    ),
    "xp.ops.aten.rsub({0}, {1})",
    "xp.pow({1}, {0})",
    "xp.remainder({1}, {0})",
    "xp.add({0}, 1, alpha={1})",
    "xp.sub({1}, {0})",
    "xp.mul({1}, {0})",
    "xp.clamp_min({0}, {1})",
    "xp.clamp_max({0}, {1})",
)

TERNARY: Final = (
    "xp.where({mask}, {0}, {1})",
    "xp.clamp({0}, {1}, {2})",
    "xp.clamp({0}, min={1})",
    "xp.clamp({0}, max={1})",
    "xp.addcmul({0}, {1}, {2})",
    "xp.addcmul({0}, {1}, {2}, value=2)",
    "xp.addcdiv({0}, {1}, {2}, value=0.5)",
    "xp.lerp({0}, {1}, {2})",
    "xp.lerp({0}, {1}, 0.25)",
    "{0}.masked_fill({mask}, 2)",
)

SHAPES: Final = (
    "()",
    "(1,)",
    "(3,)",
    "(0,)",
    "(2, 3)",
    "(1, 3)",
    "(2, 1)",
    "(2, 2, 3)",
    "(2, 0)",
    "(4,)",
)

LAYOUTS: Final = (
    "xp.ones((2, 3), device='{0}')",
    "xp.ones((3, 2), device='{0}').t()",
    "xp.ones((2, 6), device='{0}')[:, ::2]",
    "xp.ones((3, 3), device='{0}')[1:]",
    "xp.ones((2, 1), device='{0}')",
    "xp.ones((3,), device='{0}')",
    "xp.ones((), device='{0}')",
    "xp.ones((2, 4, 2, 3), device='{0}').transpose(1, 3).transpose(2, 3)",
    "xp.ones((2, 3, 4, 2), device='{0}')",
    "xp.ones((1, 3, 1, 1), device='{0}')",
    "xp.ones((1, 3, 1, 1), device='{0}').transpose(0, 3)",
    "xp.ones((2, 3, 4, 2), device='{0}').transpose(0, 2)",
    "xp.ones((0, 3), device='{0}')",
)
"""Where elements lie: row-major, transposed, with gaps, inside of a storage, channels-last."""
