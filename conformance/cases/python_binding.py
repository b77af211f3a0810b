"""Area ``python-binding``: every function and method of torch, called right and wrong.

The calls go through torch's argument parser for Python and stop before a kernel (see
:mod:`conformance.bound`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from keyword import iskeyword
from typing import Final

from hypothesis import strategies as st

from conformance.area import Area, Text
from conformance.cases import python_drawn, python_tensors, repeated
from conformance.cases.python_signatures import Callee, Parameter, Signature, callees
from conformance.cases.python_values import NO_RECEIVERS, POOL, RECEIVERS, good, pool
from conformance.cases.turn import Turn
from conformance.cases.values import with_classes
from mindtorch_v2.profile import Profile

PER_ARGUMENT: Final = 1
"""Values of the pool that a parameter is given; the next parameter gets the next ones."""
WHOLE_POOL: Final = 1
"""Parameters of each declared type that are given every value of the pool."""

Keywords = Mapping[str, str]

OTHER_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "input": ("self", "x", "a", "x1"),
    "self": ("input", "x"),
    "other": ("x2", "tensor"),
    "dim": ("axis", "dims"),
    "keepdim": ("keepdims",),
    "size": ("shape", "sizes"),
    "dtype": ("type",),
}
"""What a parameter is not called, though NumPy or another function of torch calls it so."""

WRONG_OUT: Final = ("None", "1", '"x"', "[]", "()", "(xp.ones(2),)", "[xp.ones(2)] * 2", "True")

OTHER_OUT: Final = (
    "xp.ones(2, 2).to_sparse()",
    'xp.ones(2, device="meta")',
    "xp.ones(2, dtype=xp.int8)",
)
"""Tensors to write to that options contradict."""


def call(path: str, positional: Sequence[str], keywords: Keywords | None = None) -> str:
    """``bound(path, …)``, after the classes that its values need."""
    named = {k: v for k, v in (keywords or {}).items() if not iskeyword(k)}
    others = [f'"{k}": {v}' for k, v in (keywords or {}).items() if iskeyword(k)]
    parts = [path, *positional, *(f"{name}={value}" for name, value in named.items())]
    if others:
        parts.append(f"**{{{', '.join(others)}}}")
    return with_classes(f"bound({', '.join(parts)})", parts)


def texts(profile: Profile) -> Iterator[Text]:
    maker = _Maker()
    for callee in callees(profile):
        for text in maker.calls(callee):
            yield callee.target, text
    yield from python_tensors.texts(profile)
    yield from repeated.arguments()
    yield from repeated.kinds()


class _Maker:
    """Makes the calls of one name after the other."""

    def __init__(self) -> None:
        self.turn = Turn()
        self.seen: dict[tuple[object, ...], int] = {}

    def calls(self, callee: Callee) -> Iterator[str]:
        yield from self.receivers(callee)
        if callee.name == "type":
            yield from TYPES
            return
        yield from self.strangers(callee)
        yield from self.statics(callee)
        if not callee.is_safe:
            return
        for signature in callee.signatures:
            yield from self.counts(callee, signature)
            yield from self.names(callee, signature)
            yield from self.values(callee, signature)
            yield from self.sequences(callee, signature)
            yield from self.faults(callee, signature)
        yield from self.mixtures(callee)
        if not callee.signatures and not callee.takes_nothing:
            yield from self.unknown(callee)

    def to(
        self, callee: Callee, positional: Sequence[str], keywords: Keywords | None = None
    ) -> str:
        """A call of ``callee``, if it is a method of a tensor."""
        if not callee.is_method:
            return call(callee.path, positional, keywords)
        receiver = self.turn.of(RECEIVERS)
        if callee.is_attribute:
            return call(f"{receiver}.{callee.name}", positional, keywords)
        return call(callee.path, [receiver, *positional], keywords)

    def receivers(self, callee: Callee) -> Iterator[str]:
        """A method without a receiver, and with what is none."""
        if callee.name == "type":
            return
        if not callee.is_method:
            if callee.is_safe:
                yield call(callee.path, [])
            return
        yield call(callee.path, [])
        yield call(callee.path, [], {"self": "xp.ones(2)"})
        yield call(callee.path, [self.turn.of(NO_RECEIVERS)])
        yield call(callee.path, [self.turn.of(NO_RECEIVERS), "xp.ones(2)"], {"nosuch": "1"})
        if callee.is_safe:
            yield self.to(callee, [])
            values = [good(p) for s in callee.signatures[-1:] for p in s.positional]
            yield call(callee.path, [self.turn.of(RECEIVERS), *values])

    def strangers(self, callee: Callee) -> Iterator[str]:
        """Keywords that nothing has, and more arguments than anything takes."""
        most = max((len(s.positional) for s in callee.signatures), default=0)
        yield self.to(callee, [], {"nosuch": "1"})
        yield self.to(callee, ["None"] * (most + 2))
        yield self.to(callee, [self.turn.of(POOL) for _ in range(most + 2)])
        if callee.takes_nothing:
            yield self.to(callee, [self.turn.of(POOL)])
            yield self.to(callee, [], {"self": "1"})
            yield self.to(callee, ["1"], {"nosuch": "1"})
            yield call(callee.path, [self.turn.of(RECEIVERS)], {"nosuch": "None", "x": "1"})

    def statics(self, callee: Callee) -> Iterator[str]:
        """A class, and names of the receiver, where the receiver stands."""
        path = callee.path
        yield call(path, ["xp.Tensor"], {"nosuch": self.turn.of(POOL)})
        yield call(path, [], {"nosuch": self.turn.of(POOL), "other": "xp.ones(2)"})
        if not callee.is_method:
            yield call(path, ["xp.ones(2)", "xp.Tensor"], {"nosuch": "1"})
            yield call(path, [self.turn.of(POOL)], {"nosuch": "1", "self": "1"})
            yield call(path, [self.turn.of(POOL)] * 3, {"nosuch": "1", "x": "1"})
            return
        yield call(path, ["xp.Tensor", "1"], {"nosuch": "1"})
        yield call(path, [self.turn.of(RECEIVERS)], {"self": "xp.ones(2)", "nosuch": "1"})
        if callee.is_safe and callee.signatures:
            values = {p.name: good(p) for p in callee.signatures[-1].required}
            yield call(path, [], {"self": self.turn.of(RECEIVERS), **values})
            yield call(path, [], {**values, "input": self.turn.of(RECEIVERS)})
            yield call(path, ["xp._C.TensorBase", *values.values()])

    def counts(self, callee: Callee, signature: Signature) -> Iterator[str]:
        """Every number of arguments, in positions and by keyword."""
        positional = signature.positional
        values = [good(p) for p in positional]
        keyword_only = {p.name: good(p) for p in signature.parameters if p.keyword_only}
        needed = {p.name: good(p) for p in signature.required if p.keyword_only}
        without_out = {name: value for name, value in keyword_only.items() if name != "out"}
        for end in range(len(positional) + 1):
            yield self.to(callee, values[:end], needed)
        yield self.to(callee, values, keyword_only)
        yield self.to(callee, values, without_out)
        yield self.to(callee, [*values, "None"], needed)
        if keyword_only:
            yield self.to(callee, [*values, *keyword_only.values()])
        everything = {p.name: good(p) for p in signature.parameters if p.name != "out"}
        yield self.to(callee, [], everything)
        yield self.to(callee, [], dict(reversed(everything.items())))
        for name in everything:
            yield self.to(callee, [], {k: v for k, v in everything.items() if k != name})
        for end, parameter in enumerate(positional):
            yield self.to(callee, values[: end + 1], {parameter.name: values[end]})

    def names(self, callee: Callee, signature: Signature) -> Iterator[str]:
        """Names that are nearly a parameter's."""
        values = {p.name: good(p) for p in signature.required}
        optional = [p for p in signature.parameters if p.default is not None and p.name != "out"]
        for parameter in [*optional[:1], *signature.parameters]:
            for other in OTHER_NAMES.get(parameter.name, ()):
                renamed = {**values, parameter.name: good(parameter)}
                yield self.to(
                    callee, [], {_other(k, parameter, other): v for k, v in renamed.items()}
                )
        positional = [good(p) for p in signature.required if not p.keyword_only]
        yield self.to(callee, positional, {"nosuch": self.turn.of(POOL)})
        for parameter in optional[-1:]:
            misspelt = f"{parameter.name}s"
            yield self.to(callee, positional, {misspelt: good(parameter)})
            yield self.to(callee, [], {**values, misspelt: good(parameter), "nosuch": "1"})
        if any(p.name == "out" for p in signature.parameters):
            yield self.to(callee, positional, {"out": self.turn.of(WRONG_OUT)})
            yield self.to(callee, positional, {"out": self.turn.of(WRONG_OUT)})
            options = [p for p in signature.parameters if p.name in ("dtype", "layout", "device")]
            for out in OTHER_OUT if options else ():
                yield self.to(callee, positional, {"out": out})
                for option in options:
                    yield self.to(callee, positional, {"out": out, option.name: good(option)})

    def values(self, callee: Callee, signature: Signature) -> Iterator[str]:
        """Each argument with values of every kind, the others good; and two of them at once."""
        positional = signature.positional
        required = [p for p in signature.required if not p.keyword_only]
        needed = {p.name: good(p) for p in signature.required if p.keyword_only}
        for index, parameter in enumerate(positional):
            values = [good(p) for p in (positional if index >= len(required) else required)]
            for value in self.some(callee, signature, parameter, index):
                given = [*values[:index], value, *values[index + 1 : len(required)]]
                yield self.to(callee, given, needed)
            value = self.turn.of(pool(callee, parameter.name, None))
            keywords = {p.name: good(p) for p in required if p is not parameter}
            yield self.to(callee, [], {**keywords, parameter.name: value, **needed})
            if index:
                before = [good(p) for p in positional[: index - 1]]
                wrong = [
                    self.turn.of(pool(callee, p.name, at))
                    for at, p in ((index - 1, positional[index - 1]), (index, parameter))
                ]
                yield self.to(callee, [*before, *wrong], needed)
        values = [good(p) for p in required]
        for parameter in signature.parameters:
            if parameter.keyword_only:
                for value in self.some(callee, signature, parameter, None):
                    yield self.to(callee, values, {**needed, parameter.name: value})

    def sequences(self, callee: Callee, signature: Signature) -> Iterator[str]:
        """A sequence's items without the sequence, of one kind or several, and more behind them."""
        for index, parameter in enumerate(signature.positional):
            if "IntArrayRef" not in parameter.type and parameter.kind != "DimnameList":
                continue
            start = [good(p) for p in signature.positional[:index]]
            one = good(parameter)[1:-1].partition(",")[0]
            keywords = {p.name: good(p) for p in signature.parameters[index + 1 :][-1:]}
            yield self.to(callee, [*start, one, one])
            yield self.to(callee, [*start, one, self.turn.of(POOL)])
            yield self.to(callee, [*start, self.turn.of(POOL), one, one])
            yield self.to(callee, [*start, one, f"[{one}]"])
            yield self.to(callee, [*start, f"({one}, {one})", one])
            yield self.to(callee, [*start, f"*[{one}] * 5"])
            yield self.to(callee, [*start, f"*({one}, {self.turn.of(POOL)}, {one})"])
            yield self.to(callee, [*start, one, one], keywords)
            yield self.to(callee, [*start, one, one], {"nosuch": "1"})
            yield self.to(callee, [*start, one], {parameter.name: f"[{one}]"})
            yield self.to(callee, start, {parameter.name: one})
            yield self.to(callee, start, {parameter.name: f"[{one}, {self.turn.of(POOL)}]"})

    def faults(self, callee: Callee, signature: Signature) -> Iterator[str]:
        """Two faults in one call: which of them is told?"""
        positional = signature.positional
        values = [good(p) for p in positional]
        needed = {p.name: good(p) for p in signature.required if p.keyword_only}
        if not values:
            return
        wrong = [self.turn.of(pool(callee, p.name, at)) for at, p in enumerate(positional)]
        first, last = positional[0].name, positional[-1].name
        yield self.to(callee, [wrong[0], *values[1:]], {**needed, "nosuch": "1"})
        yield self.to(callee, [wrong[0], *values[1:], "None"], needed)
        yield self.to(callee, [wrong[0]], {**needed, first: values[0]})
        yield self.to(callee, [wrong[0]], {**needed, last: wrong[-1], "nosuch": "1"})
        yield self.to(callee, wrong, needed)
        yield self.to(callee, values[:-1], {**needed, first: values[0], "nosuch": "1"})
        for parameter in signature.parameters:
            if parameter.keyword_only:
                other = self.turn.of(pool(callee, parameter.name, None))
                yield self.to(callee, [wrong[0], *values[1:]], {**needed, parameter.name: other})
                break

    def some(
        self, callee: Callee, signature: Signature, parameter: Parameter, position: int | None
    ) -> Iterator[str]:
        declared = (parameter.type, parameter.keyword_only, callee.numbers_as_tensors)
        values = pool(callee, parameter.name, position)
        self.seen[declared] = self.seen.get(declared, 0) + 1
        if self.seen[declared] <= WHOLE_POOL:
            yield from values
        else:
            yield from (self.turn.of(values) for _ in range(PER_ARGUMENT))

    def mixtures(self, callee: Callee) -> Iterator[str]:
        """Arguments of one signature with keywords of another."""
        for first, second in zip(callee.signatures, callee.signatures[1:], strict=False):
            values = [good(p) for p in first.positional]
            for parameter in second.parameters[-1:]:
                yield self.to(callee, values, {parameter.name: good(parameter)})
            yield self.to(
                callee,
                [good(p) for p in second.positional[:1]],
                {p.name: good(p) for p in first.positional[1:]},
            )

    def unknown(self, callee: Callee) -> Iterator[str]:
        """Calls of what has no signature."""
        yield self.to(callee, [])
        for value in POOL:
            yield self.to(callee, [value])
        for _ in range(8):
            yield self.to(callee, [self.turn.of(POOL), self.turn.of(POOL)])
            yield self.to(callee, ["xp.ones(2)", self.turn.of(POOL)], {"dtype": self.turn.of(POOL)})
        yield self.to(callee, ["xp.ones(2)"] * 2)
        yield self.to(callee, ["xp.ones(2)"] * 3)


def _other(name: str, parameter: Parameter, other: str) -> str:
    return other if name == parameter.name else name


TYPES: Final = tuple(
    f"x = xp.ones(2)\nbound(lambda: x.type({arguments}))"
    for arguments in (
        "",
        "None",
        "xp.float32",
        "xp.int64",
        "xp.float64, True",
        "xp.bool, non_blocking=False",
        '"torch.FloatTensor"',
        '"torch.DoubleTensor"',
        '"torch.nosuchTensor"',
        "dtype=xp.float16",
        "xp.float16, memory_format=xp.contiguous_format",
        "xp.float16, memory_format=1",
        "1",
        "1.5",
        "True",
        "xp.strided",
        "xp.Tensor",
        "xp.float32, 1",
        "xp.float32, None",
        "xp.float32, True, True",
        "nosuch=1",
        "xp.float32, nosuch=1",
        "xp.float32, dtype=xp.float32",
    )
)
"""Calls of what the grammar lets a case call with literals only."""


def strategy(profile: Profile) -> st.SearchStrategy[Text]:
    """Calls of bound names; one in twenty is of a class of tensors, or asks for a property."""
    calls, tensors = python_drawn.drawn(profile), python_tensors.drawn(profile)
    return python_drawn.seeded(
        lambda random: (tensors if random.random() < 0.05 else calls)(random)
    )


AREA: Final = Area("python-binding", texts, strategy)
