"""Calls of bound names that hypothesis draws: any callee, any values, in any form.

A call is wrong in several ways at once more often than those that the area generates: a list has
one bad element anywhere, keywords belong to another signature, arguments are one too many, the
receiver is a subclass, sparse or conjugated, and the call is written as users write it.

What overrides functions answers the same whether it is handed no keywords or none of them, None or
an empty dictionary: that depends on how CPython calls a method in C, ``Tensor.add(x, y, **{})`` or
``x.add(y, **{})``, which a function written in Python cannot see.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from keyword import iskeyword
from typing import Final

from hypothesis import strategies as st

from conformance.area import Text
from conformance.cases.python_signatures import Callee, Parameter, Signature, callees
from conformance.cases.python_values import NO_RECEIVERS, POOL, RECEIVERS, good, pool
from conformance.cases.values import overriding, with_classes
from mindtorch_v2.profile import Profile

SUBCLASSES: Final[Mapping[str, str]] = {
    "Sub": "class Sub(xp.Tensor):\n    pass",
    "Asked": overriding("Asked(xp.Tensor)", "func.__name__, len(args), kwargs or {}"),
}
"""Classes of tensors: one that inherits how functions are overridden, one that answers itself."""

MORE_RECEIVERS: Final = (
    "xp.ones(2).as_subclass(Sub)",
    "xp.ones(2).as_subclass(Asked)",
    "xp.ones(2, 2).to_sparse()",
    "xp.ones(2, dtype=xp.complex64).conj()",
    "xp.zeros(2, 3).t()",
    "xp.ones(3)[1:]",
    "xp.ones(2, requires_grad=True).detach()",
    "xp.tensor(3, dtype=xp.uint8)",
    "xp.tensor([7], dtype=xp.int16)",
    "xp.tensor(float('nan'))",
    "xp.zeros(2, 0, dtype=xp.bfloat16)",
)
"""Tensors that are special in what a binding looks at before it calls an operator."""

TENSORS: Final = (*RECEIVERS, *MORE_RECEIVERS)

OVERRIDING: Final = ("Overriding()", "[Overriding()]", "Declining()", "[xp.ones(2), Declining()]")
"""What takes the place of torch's functions."""

DEAF: Final = frozenset(
    (
        *("range", "frombuffer", "nested_tensor", "set_", "new", "new_tensor", "as_subclass"),
        *("_view_func", "_view_func_unsafe", "_make_subclass", "_make_wrapper_subclass"),
        "_dtensor__new__",
    )
)
"""Functions that newer releases run with what overrides functions, and read its memory."""

VALUES: Final = (*POOL, *MORE_RECEIVERS)

OTHER_KEYWORDS: Final = (
    *("nosuch", "self", "input", "other", "tensor", "out", "x", "a", "x1", "x2", "A", "args"),
    *("dim", "dims", "axis", "keepdim", "keepdims", "size", "shape", "dtype", "device", "layout"),
    *("requires_grad", "pin_memory", "memory_format", "generator", "names", "alpha", "from"),
    *("a b", "", "größe", "std::x"),
)
"""Keywords that some function has, that NumPy's have, and that none has."""

ELEMENTS: Final[Mapping[str, tuple[str, ...]]] = {
    "IntArrayRef": ("1", "-1", "0", "2**62", "xp.tensor(1)", "np.int64(2)", "Index()", "Number(1)"),
    "SymIntArrayRef": ("1", "-1", "2", "xp.tensor(2)", "np.int32(1)", "xp.SymInt(5)", "Number(3)"),
    "DimnameList": ('"N"', "None", 'b"C"', '"1"', '"a b"', 'Text("x")'),
    "TensorList": ("xp.ones(2)", "xp.tensor(1)", "xp.ones(2).as_subclass(Sub)"),
    "ScalarList": ("1", "0.5", "1j", "True", "np.float32(2)", "xp.SymInt(1)", "xp.SymFloat(1.5)"),
    "ArrayRef<double>": ("0.5", "1", "np.float64(1)", "1j", "Real(2)"),
}
"""What lists may hold, by their type."""

FORMS: Final[Mapping[str, str]] = {
    "handed over": "bound({callee}{rest})",
    "written": "bound(lambda: {callee}({arguments}))",
    "unpacked": "bound(lambda: {callee}(*[{positional}], **{{{named}}}))",
    "conditional": "bound(lambda: {callee}({conditional}))",
}
"""How a call is written; its values are computed before."""


def strategy(profile: Profile) -> st.SearchStrategy[Text]:
    """A call of any name: any values, some in positions, the rest by keyword."""
    chosen = [c for c in callees(profile) if c.is_safe and c.name != "type"]
    return st.sampled_from(chosen).flatmap(_calls_of)


@st.composite
def _call(draw: st.DrawFn, callee: Callee) -> Text:
    signature = draw(st.sampled_from(callee.signatures)) if callee.signatures else _NOTHING
    values = [draw(_value(callee, p, at)) for at, p in enumerate(signature.parameters)]
    end = draw(st.integers(0, len(values)))
    positional = values[:end]
    if draw(st.integers(0, 9)) == 0 or not values:
        positional += draw(st.lists(st.sampled_from(VALUES), max_size=3))
    by_name = {p.name: v for p, v in zip(signature.parameters, values, strict=True)}
    names = draw(_names(callee, signature, end))
    keywords = {name: by_name.get(name) or draw(st.sampled_from(VALUES)) for name in names}
    path, receiver = draw(_places(callee)), ""
    if callee.is_method:
        receiver = draw(st.sampled_from((*TENSORS, *TENSORS, *NO_RECEIVERS)))
        if callee.is_attribute and receiver in TENSORS and draw(st.integers(0, 2)):
            path = f"{{}}.{callee.name}"
        else:
            positional = [receiver, *positional]
    form = draw(st.sampled_from(tuple(FORMS)))
    return callee.target, written(form, path, receiver, positional, keywords)


_NOTHING: Final = Signature((), False)


@cache
def _calls_of(callee: Callee) -> st.SearchStrategy[Text]:
    return _call(callee)


@cache
def _value(callee: Callee, parameter: Parameter, position: int) -> st.SearchStrategy[str]:
    """A good value, one of any kind, or where the parameter takes a list, a list of any."""
    values = pool(callee, parameter.name, position)
    several = [st.just(good(parameter)), st.just(good(parameter)), st.sampled_from(values)]
    elements = ELEMENTS.get(parameter.kind, ())
    if callee.name not in DEAF:
        several.append(st.sampled_from(OVERRIDING))
        elements = (*elements, "Overriding()") if elements else ()
    if values is POOL:
        several.append(st.sampled_from(MORE_RECEIVERS))
    if elements:
        several.append(_lists(elements))
    return st.one_of(several)


@cache
def _lists(elements: Sequence[str]) -> st.SearchStrategy[str]:
    """Lists and tuples of what is good, or of anything."""
    item = st.one_of(*[st.sampled_from(elements)] * 3, st.sampled_from(VALUES))
    return st.one_of(
        st.lists(item, max_size=4).map(lambda items: f"[{', '.join(items)}]"),
        st.lists(item, max_size=4).map(lambda items: f"({''.join(f'{i}, ' for i in items)})"),
        st.lists(item, max_size=4).map(lambda items: f"Row([{', '.join(items)}])"),
        # which says that it has one item: were it none, releases would read beyond its end
        st.lists(item, min_size=1, max_size=4).map(lambda items: f"Pair([{', '.join(items)}])"),
    )


@cache
def _names(callee: Callee, signature: Signature, end: int) -> st.SearchStrategy[list[str]]:
    """Keywords: what is still needed, mostly; some of any signature of the name; any at all."""
    needed = [p.name for p in signature.parameters[end:] if p.default is None]
    own = sorted({p.name for s in callee.signatures for p in s.parameters})
    some = st.lists(st.sampled_from(own or OTHER_KEYWORDS), unique=True, max_size=3)
    others = st.lists(st.sampled_from(OTHER_KEYWORDS), unique=True, max_size=2)
    chosen = st.one_of(some, some, some.flatmap(lambda names: others.map(lambda o: names + o)))
    with_needed = chosen.map(lambda names: list(dict.fromkeys([*needed, *names])))
    return st.one_of(with_needed, with_needed, with_needed, chosen)


@cache
def _places(callee: Callee) -> st.SearchStrategy[str]:
    """Where a name is found: as users have it, or in the object that torch binds it to."""
    places = {callee.path}
    if callee.is_attribute:
        owner = "xp._C.TensorBase" if callee.is_method else "xp._C._VariableFunctions"
        places.add(f"{owner}.{callee.name}")
    return st.sampled_from(sorted(places, reverse=True))


def written(
    form: str,
    path: str,
    receiver: str,
    positional: Sequence[str],
    keywords: Mapping[str, str],
) -> str:
    """A call in one of `FORMS`; ``path`` has a place for a receiver that is asked by attribute."""
    named = {f"k{at}": value for at, value in enumerate(keywords.values())}
    places = {f"v{at}": value for at, value in enumerate(positional)}
    values = {"x": receiver, **places, **named} if "{}" in path else {**places, **named}
    lines = [f"{name} = {value}" for name, value in values.items()]
    plain = [f"{k}={v}" for k, v in zip(keywords, named, strict=True) if _is_plain(k)]
    odd = [f'"{k}": {v}' for k, v in zip(keywords, named, strict=True) if not _is_plain(k)]
    arguments = [*places, *plain, *([f"**{{{', '.join(odd)}}}"] if odd else [])]
    call = FORMS[form].format(
        callee=path.format("x"),
        rest="".join(f", {argument}" for argument in arguments),
        arguments=", ".join(arguments),
        positional=", ".join(places),
        named=", ".join(f'"{k}": {v}' for k, v in zip(keywords, named, strict=True)),
        conditional=", ".join(
            argument if "*" in argument else _conditional(argument) for argument in arguments
        ),
    )
    text = with_classes("\n".join([*lines, call]), list(values.values()))
    return "\n".join([*(SUBCLASSES[n] for n in SUBCLASSES if f"({n})" in text), text])


def _conditional(argument: str) -> str:
    """The same argument, behind a condition."""
    name, equals, value = argument.rpartition("=")
    return f"{name}{equals}{value} if {value} is not None else None"


def _is_plain(keyword: str) -> bool:
    """Whether Python's syntax takes it before ``=``."""
    return keyword.isidentifier() and keyword.isascii() and not iskeyword(keyword)
