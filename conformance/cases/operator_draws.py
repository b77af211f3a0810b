"""What hypothesis draws for area ``tensor-operators``: operands, indices, and forms around them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hypothesis import strategies as st

from conformance.area import Text
from conformance.cases.operator_forms import (
    ARITHMETIC,
    BINARY,
    CONVERSIONS,
    METHODS,
    OF_TWO,
    PRINTED,
    STATEMENTS,
    asked,
    bound_call,
    expression,
    statement,
)
from conformance.cases.operator_values import (
    ASSIGNED,
    DTYPES,
    INDEXED,
    INDICES,
    NOT_SYMBOLIC,
    SUBCLASSES,
    TENSORS,
    VALUES,
)
from conformance.cases.python_values import NO_RECEIVERS
from mindtorch_v2.profile import Profile

_WARNS_WHEN_MADE: Final = "torch.complex32"
"""As quantized dtypes do, which is the business of who makes a tensor, not of operators."""

_SHAPES: Final = ("()", "0", "1", "2", "2, 3", "(2, 0)", "1, 2, 3", "2, 1, 2, 2")
_NUMPY: Final = (
    *("bool_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
)
_CONTENTS: Final = ("0", "1", "[]", "[0, 1]", "[[1, 0], [1, 1]]", "[[[1]]]")
_PARTS: Final = (
    *(index for index in INDICES if "," not in index and "*" not in index),
    *("v", "v:", ":v", "::v", "v:v:v", "[v]", "[v, 0]", "(0, v)", "[[v, 1]]", "(v, [v])"),
    *("[None, v]", "[slice(None), v]", "[[0], v]", "[[[0]], [v]]"),
)


def strategy(profile: Profile) -> st.SearchStrategy[Text]:
    """Any two operands under any operator, in any conversion; any index of up to five parts."""
    dtypes = [
        each["aliases"][0]
        for each in profile.tensors["dtypes"]
        if not each["is_quantized"] and each["name"] != _WARNS_WHEN_MADE
    ]
    tensors = st.one_of(st.sampled_from(TENSORS), _tensors(dtypes))
    more = _more_values(tensors)
    values = st.one_of(st.sampled_from(VALUES), st.sampled_from(TENSORS), more)
    plain = st.one_of(st.sampled_from(NOT_SYMBOLIC), st.sampled_from(TENSORS), more)
    return st.one_of(
        _operated(tensors, values),
        _converted(tensors, plain),
        _named(tensors, values),
        _indexed(st.one_of(st.sampled_from(INDEXED), tensors), values),
    )


def _tensors(dtypes: Sequence[str]) -> st.SearchStrategy[str]:
    """Tensors of ones of any shape; on meta of any dtype; some of a subclass."""
    shapes = st.sampled_from(_SHAPES)
    on_cpu = st.builds("xp.ones({}, dtype=xp.{})".format, shapes, st.sampled_from(DTYPES))
    on_meta = st.builds(
        'xp.empty({}, dtype=xp.{}, device="meta")'.format,
        shapes,
        st.sampled_from(dtypes),
    )
    plain = st.one_of(on_cpu, on_meta)
    of_class = st.builds("{}.as_subclass({})".format, plain, st.sampled_from(sorted(SUBCLASSES)))
    leaf = st.builds("xp.ones({}, requires_grad=True)".format, shapes)
    return st.one_of(on_cpu, on_meta, of_class, leaf)


def _more_values(tensors: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """NumPy's arrays and scalars, numbers and strings of any kind, and lists of all that."""
    scalars = st.builds("np.{}({})".format, st.sampled_from(_NUMPY), st.sampled_from("012"))
    arrays = st.builds(
        "np.array({}, np.{})".format, st.sampled_from(_CONTENTS), st.sampled_from(_NUMPY)
    )
    numbers = st.one_of(st.integers(-(2**70), 2**70), st.integers(-3, 3), st.booleans())
    floats = st.floats(allow_nan=False, allow_infinity=False)
    texts = st.text("ab0.:-cpu", max_size=4)
    single = st.one_of(
        scalars,
        arrays,
        numbers.map(repr),
        floats.map(repr),
        texts.map(repr),
        tensors,
        st.sampled_from([value for value in NOT_SYMBOLIC if "lambda" not in value]),
    )
    lists = st.lists(single, max_size=3)
    return st.one_of(
        single,
        lists.map(lambda items: f"[{', '.join(items)}]"),
        lists.map(lambda items: f"({', '.join(items)}{',' if len(items) == 1 else ''})"),
    )


@st.composite
def _operated(
    draw: st.DrawFn, tensors: st.SearchStrategy[str], values: st.SearchStrategy[str]
) -> Text:
    symbol = draw(st.sampled_from(sorted(BINARY)))
    x, value = draw(tensors), draw(values)
    if symbol in ARITHMETIC and draw(st.booleans()):
        if draw(st.booleans()):
            return f"{symbol}=", statement(f"x {symbol}= v", x, value, then="x")
        return f"{symbol}=", statement(f"v {symbol}= x", x, value, then="v")
    operands = draw(st.permutations("xv"))
    return symbol, expression(BINARY[symbol].format(*operands), x, value)


@st.composite
def _converted(
    draw: st.DrawFn, tensors: st.SearchStrategy[str], values: st.SearchStrategy[str]
) -> Text:
    x = draw(tensors)
    text = draw(st.sampled_from((*OF_TWO, *CONVERSIONS, *PRINTED, *STATEMENTS)))
    target = text.replace("\n", " ")
    if text in OF_TWO:
        return target, expression(text, x, draw(values))
    if text in PRINTED:
        return target, asked([f"x = {x}"], text)
    if text in STATEMENTS:
        return target, statement(text, x, then="x" if "x +=" in text else "")
    return target, expression(text, x)


@st.composite
def _named(
    draw: st.DrawFn, tensors: st.SearchStrategy[str], values: st.SearchStrategy[str]
) -> Text:
    name = draw(st.sampled_from(METHODS))
    arguments = draw(st.lists(values, max_size=3))
    if arguments and draw(st.integers(0, 4)) == 0:
        keyword = draw(st.sampled_from(("other", "self", "input", "nosuch", "alpha", "out")))
        arguments[-1] = f"{keyword}={arguments[-1]}"
    receiver = draw(st.one_of(tensors, tensors, tensors, st.sampled_from(NO_RECEIVERS)))
    if receiver in NO_RECEIVERS or draw(st.booleans()):
        owner = draw(st.sampled_from(("xp.Tensor", "xp.Tensor", "xp._C.TensorBase")))
        return name, bound_call(", ".join([f"{owner}.{name}", receiver, *arguments]))
    return name, bound_call(", ".join([f"{receiver}.{name}", *arguments]))


def _in_bounds(parts: list[str]) -> bool:
    """Whether C++ stays within the sizes: a second ellipsis counts all dimensions once more, and
    what comes after it is compared with whatever stands behind them in memory."""
    return parts.count("...") < 2


@st.composite
def _indexed(
    draw: st.DrawFn, tensors: st.SearchStrategy[str], values: st.SearchStrategy[str]
) -> Text:
    parts = draw(st.lists(st.sampled_from(_PARTS), min_size=1, max_size=5).filter(_in_bounds))
    index = ", ".join(parts)
    if draw(st.integers(0, 3)) == 0:
        index = f"[{index}]" if ":" not in index else index
    x, value = draw(tensors), draw(values)
    if draw(st.booleans()):
        return "[]", expression(f"x[{index}]", x, value)
    assigned = draw(st.sampled_from((*ASSIGNED, "v", "x", "v", "x")))
    how = draw(st.sampled_from(("=", "=", "=", "+=", "@=")))
    return "[]=", statement(f"x[{index}] {how} {assigned}", x, value)
