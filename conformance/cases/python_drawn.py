"""Calls of bound names that hypothesis draws: any callee, any values, in any form.

A call is wrong in several ways at once more often than those that the area generates: a list has
one bad element anywhere, keywords belong to another signature, arguments are one too many, the
receiver is a subclass, sparse or conjugated, and the call is written as users write it.

What overrides functions answers the same whether it is handed no keywords or none of them, None or
an empty dictionary: that depends on how CPython calls a method in C, ``Tensor.add(x, y, **{})`` or
``x.add(y, **{})``, which a function written in Python cannot see.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from keyword import iskeyword
from random import Random
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

OVERRIDING: Final = (
    "Overriding()",
    "[Overriding()]",
    "Declining()",
    "[xp.ones(2), Declining()]",
    "Plain()",
    "xp.FloatTensor",
)
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
    "starred": "bound(lambda: {callee}({starred}))",
}
"""How a call is written; its values are computed before."""


Draw = Callable[[Random], Text]
"""Makes a case of a generator of random numbers."""


def seeded(draw: Draw) -> st.SearchStrategy[Text]:
    """What ``draw`` makes of seeds that hypothesis draws.

    Hypothesis draws the seed of a call, not its parts: what it does to parts, to vary those that
    it has drawn before, keeps it among few of the names, and a call of three lines needs no
    shrinking.
    """
    seeds = st.tuples(*[st.integers(0, 0xFFFF)] * 4)
    return seeds.map(lambda seed: draw(Random(repr(seed))))


def drawn(profile: Profile) -> Draw:
    """Calls of any name: any values, some in positions, the rest by keyword."""
    chosen = [c for c in callees(profile) if c.is_safe and c.name != "type"]
    return lambda random: _call(random, chosen)


def _call(random: Random, chosen: Sequence[Callee]) -> Text:
    callee = random.choice(chosen)
    signature = random.choice(callee.signatures) if callee.signatures else _NOTHING
    values = [_value(random, callee, p, at) for at, p in enumerate(signature.parameters)]
    end = random.randint(0, len(values))
    positional = values[:end]
    if not values or random.random() < 0.1:
        positional += random.choices(VALUES, k=random.randint(0, 3))
    by_name = {p.name: v for p, v in zip(signature.parameters, values, strict=True)}
    names = _keywords(random, callee, signature, end)
    keywords = {name: by_name.get(name) or random.choice(VALUES) for name in names}
    path = _place(random, callee)
    receiver = ""
    if callee.is_method:
        receiver = random.choice(NO_RECEIVERS if random.random() < 0.2 else TENSORS)
        if callee.is_attribute and receiver in TENSORS and random.random() < 0.7:
            path = f"{{}}.{callee.name}"
        else:
            positional = [receiver, *positional]
    form = random.choice([*FORMS])
    if form == "starred" and positional and "storage()" in positional[0]:
        form = "written"  # a storage is read by operators of its own, which are not the function's
    return callee.target, written(form, path, receiver, positional, keywords)


_NOTHING: Final = Signature((), False)


def _value(random: Random, callee: Callee, parameter: Parameter, position: int) -> str:
    """A good value half of the time; else one of any kind, or a list of anything."""
    if random.random() < 0.5:
        return good(parameter)
    elements = ELEMENTS.get(parameter.kind)
    values = pool(callee, parameter.name, position)
    overriding: tuple[str, ...] = () if callee.name in DEAF else OVERRIDING
    if elements is not None and random.random() < 0.5:
        return _list(random, (*elements, *overriding[:1]))
    if values is POOL and random.random() < 0.15:
        return random.choice((*MORE_RECEIVERS, *overriding))
    return random.choice(values)


def _list(random: Random, elements: Sequence[str]) -> str:
    """A list or tuple of what is good, or of anything."""
    count = random.randint(0, 4)
    items = [random.choice(elements if random.random() < 0.75 else VALUES) for _ in range(count)]
    listed = f"[{', '.join(items)}]"
    # a Pair says that it has one item: were it none, releases would read beyond its end
    forms = (
        listed,
        listed,
        f"tuple({listed})",
        f"Row({listed})",
        *([f"Pair({listed})"] * (count > 0)),
    )
    return random.choice(forms)


def _keywords(random: Random, callee: Callee, signature: Signature, end: int) -> list[str]:
    """What is still needed, mostly; some of any signature of the name; any at all."""
    needed = [p.name for p in signature.parameters[end:] if p.default is None]
    own = sorted({p.name for s in callee.signatures for p in s.parameters}) or OTHER_KEYWORDS
    names = needed if random.random() < 0.8 else []
    names += random.sample(own, min(len(own), random.choice((0, 0, 1, 1, 2, 3))))
    if random.random() < 0.25:
        names += random.sample(OTHER_KEYWORDS, random.randint(1, 2))
    return list(dict.fromkeys(names))


def _place(random: Random, callee: Callee) -> str:
    """Where a name is found: as users have it, or in the object that torch binds it to."""
    if not callee.is_attribute or random.random() < 0.7:
        return callee.path
    owner = "xp._C.TensorBase" if callee.is_method else "xp._C._VariableFunctions"
    return f"{owner}.{callee.name}"


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
        starred=", ".join(f"*{place}" if place == "v0" else place for place in arguments),
        conditional=", ".join(
            argument if "*" in argument else _conditional(argument) for argument in arguments
        ),
    )
    return with_subclasses(with_classes("\n".join([*lines, call]), list(values.values())))


def with_subclasses(text: str) -> str:
    """``text`` after the classes of tensors that it makes instances of."""
    return "\n".join([*(SUBCLASSES[n] for n in SUBCLASSES if f"({n})" in text), text])


def _conditional(argument: str) -> str:
    """The same argument, behind a condition."""
    name, equals, value = argument.rpartition("=")
    return f"{name}{equals}{value} if {value} is not None else None"


def _is_plain(keyword: str) -> bool:
    """Whether Python's syntax takes it before ``=``."""
    return keyword.isidentifier() and keyword.isascii() and not iskeyword(keyword)
