"""Programs of the area ``functionalize`` that are put together from the release's schemas.

As those of :mod:`functionalize_drawn` they fill the list ``t`` step by step.  There a step is one
of many that somebody has written; here it is any overload of an operator that torch has samples
of, called with what its schema asks for.  So nobody has to think of an operator, a form or a
default for it to be called; most calls are refused for one reason or another, and the words of
that are compared too.

Some things are no part of a program here either, see there: operators whose results nobody knows,
and eagerly tensors whose elements overlap, and what is written to where it is read.  Nor are
dimensions by name, for which torch takes no string from here, and those of `LEFT_OUT`.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Final, NamedTuple

from conformance.cases import opinfo
from conformance.cases.arguments import Target, targets
from conformance.cases.functionalize_pools import DRAWN_BASES
from conformance.cases.functionalize_programs import program
from conformance.cases.opinfo_matrices import DECOMPOSED
from conformance.cases.opinfo_pools import CANCELLED, NEARLY_FLAT, ROUNDED, UNINITIALISED
from conformance.functionalized import WAYS
from conformance.names import words
from mindtorch_v2.profile import Profile, load
from mindtorch_v2.schema import Argument, FunctionSchema

_LENGTH: Final = (2, 5)
"""The least and the most steps of a program."""

_KINDS: Final = ("view",) * 4 + ("change",) * 3 + ("out",) * 2 + ("made",) * 2
_TAKEN: Final = ("t[-1]",) * 3 + ("t[0]",)
_MADE: Final = (
    *("xp.ones(2, 3)", "xp.full((2, 3), 2.)", "xp.tensor(3.)", "xp.arange(3.)"),
    *("xp.tensor([[0, 1, 0], [1, 0, 1]])", "xp.tensor([0, 1])", "(x > 2)"),
)
_OUTS: Final = (
    *("xp.zeros(2, 3)", "xp.zeros(0)", "xp.zeros(2, 3, dtype=xp.float64)"),
    "xp.zeros(2, 2, 2, dtype=xp.int64)",
)
_INDICES: Final = ("xp.tensor([0, 1])", "xp.tensor([[0, 1, 0], [1, 0, 1]])", "xp.tensor([1])")
_MASKS: Final = ("(t[0] > 2)", "(t[-1] > 1)", "xp.tensor([True, False, True])")
_SIZES: Final = ("[2, 3]", "[3, 2]", "[6]", "[-1]", "[2]", "[1, 2]", "[2, 2]", "[1, 2, 3]")
_DIMS: Final = ("[0]", "[1]", "[0, 1]", "[-1]", "[1, 0]", "[]", "[1, 1]")

_VALUES: Final[Mapping[str, Sequence[str]]] = {
    "number": ("1", "2.5", "0", "-1", "3"),
    "int": ("0", "0", "1", "1", "-1", "2", "-2"),
    "SymInt": ("0", "0", "1", "1", "-1", "2", "-2"),
    "float": ("0.5", "1.0", "0.0", "2.0"),
    "bool": ("True", "False"),
    "str": ("'mean'", "'sum'", "'none'", "'prod'", "'amax'", "'floor'", "'trunc'", "'tanh'"),
    **dict.fromkeys(("List[int]", "List[SymInt]"), _DIMS),
    "List[Optional[Tensor]]": (f"[{_INDICES[0]}]", "[None, xp.tensor([2, 0])]", f"[{_MASKS[0]}]"),
}
"""What is given for an argument, by its type."""

_STRIDES: Final = ("[3, 1]", "[1, 2]", "[1]", "[1, 0]", "[0, 1]")
_LISTS: Final = dict.fromkeys(("size", "sizes", "shape", "split_sizes"), _SIZES)
_NAMED: Final[Mapping[str, Mapping[str, Sequence[str]]]] = {
    "number": {"alpha": ("1", "2.5", "3")},  # as elu makes of 0 a negative zero in some releases
    "Tensor": {
        **dict.fromkeys(("index", "indices"), _INDICES),
        **dict.fromkeys(("mask", "condition"), _MASKS),
    },
    **{kind: {**_LISTS, "stride": _STRIDES} for kind in ("List[int]", "List[SymInt]")},
}
"""The same by its type and its name, which says more."""

INEXACT: Final = words("""
    acos acosh asin asinh atan atan2 atanh binary_cross_entropy binary_cross_entropy_with_logits
    celu cos cosh cumprod deg2rad digamma elu erf erfc exp exp2 expm1 float_power hypot kl_div
    lerp lgamma log log10 log1p log2 log_softmax logaddexp logaddexp2 logcumsumexp logit
    logsumexp mean mish mse_loss nanmean norm poisson_nll_loss polar polygamma pow rad2deg
    reciprocal rms_norm rsqrt selu sigmoid silu sin sinc sinh soft_margin_loss softmax softplus
    sqrt std std_mean tan triplet_margin_loss var var_mean xlogy""")
"""What is rounded may be rounded otherwise, and what is small in one step is large after some: so
these are the last step of a program."""

LEFT_OUT: Final[Mapping[str, str]] = {
    "aten::nanmean.out": "runs the loops of another over a wrapper, which kills PyTorch 2.4.1",
    **dict.fromkeys(
        (
            *("aten::multi_margin_loss", "aten::multi_margin_loss.out"),
            *("aten::multilabel_margin_loss", "aten::multilabel_margin_loss.out"),
            *("aten::soft_margin_loss", "aten::soft_margin_loss.out"),
        ),
        "of no samples what memory holds is the result",
    ),
}
"""Operators that are not drawn, and why."""

_UNCERTAIN: Final = CANCELLED | NEARLY_FLAT | UNINITIALISED | frozenset(ROUNDED) | DECOMPOSED
"""Operators of which not all values are known to all digits."""

_BY_NAME: Final = re.compile(r"[Dd]imname|names|named")
_CHANGED_AT_ONCE: Final = 0.6
"""How often a view is changed by what nearly every tensor takes, so that its inverse is called."""

_CHANGE: Final = "xp.ops.aten.mul_.Scalar(t[-1], 2)"
_LEFT_TO_DEFAULT: Final = 0.6
"""How often an argument that has a default is not given."""

_OVERLAPS: Final = re.compile(r"expand|broadcast|as_strided|unfold")

_ROOMY: Final = frozenset({"mse_loss", "smooth_l1_loss"})
"""What lies in more memory than it has elements, the rest of which nobody has written."""


class Schemas(NamedTuple):
    """The operators of a release, by what they do to their arguments."""

    view: list[Target]
    change: list[Target]
    out: list[Target]
    made: list[Target]


@cache
def schemas_of(name: str) -> Schemas:
    """Of the release with the profile of this name."""
    profile = load(name)
    sampled = frozenset(_sampled(profile))
    found = Schemas([], [], [], [])
    dispatched = frozenset(profile.schemas["dispatcher_names"])
    for target in targets(profile):
        name = target.schema.full_name
        if name not in dispatched or name in LEFT_OUT or _BY_NAME.search(name):
            continue
        is_sampled = name.startswith("aten::") and _operator(target) in sampled
        if is_sampled and _can_be_called(target.schema):
            getattr(found, _kind(target.schema)).append(target)
    return found


def _operator(target: Target) -> str:
    """Its name without namespace, overload, and the mark of what is in place."""
    return target.schema.name.partition("::")[2].removesuffix("_")


def _sampled(profile: Profile) -> Iterator[str]:
    """Names of operators of which values are known."""
    for operator in opinfo.operators(profile):
        is_known = operator["name"] not in _UNCERTAIN
        if is_known and "seeded" not in operator:
            yield re.sub(r".*\.|_$", "", operator["call"])


def _can_be_called(schema: FunctionSchema) -> bool:
    """Whether it is of tensors, and every argument that it needs is of a type with values."""
    tensors = ("Tensor", "List[Tensor]")
    if not schema.arguments or str(schema.arguments[0].type) not in tensors:
        return False
    if any(str(each.type) not in tensors for each in schema.returns):
        return False
    return all(each.has_default or _has_values(each) for each in schema.arguments)


def _has_values(argument: Argument) -> bool:
    text = _type(argument)
    return "Tensor" in text or text in _VALUES


def _type(argument: Argument) -> str:
    """As text, of an optional one that of its value."""
    text = str(argument.real_type)
    return text.removeprefix("Optional[").removesuffix("]") if text[0] == "O" else text


def _kind(schema: FunctionSchema) -> str:
    if any(each.is_out for each in schema.arguments):
        return "out"
    if schema.is_mutable:
        return "change"
    return "view" if any(each.alias_info for each in schema.arguments) else "made"


# --- programs -------------------------------------------------------------------------------------


def drawn_program(chance: random.Random, profile: str) -> str:
    """The text of one for the release with this profile, by what ``chance`` chooses."""
    schemas = schemas_of(profile)
    way = chance.choice(tuple(WAYS))
    bases = [each for each in DRAWN_BASES if way != "eager" or not _OVERLAPS.search(each)]
    steps, is_roomy = ["lambda: t.append(x.clone())"], False
    for _ in range(chance.randint(*_LENGTH)):
        kind = chance.choice(_KINDS)
        target = chance.choice(getattr(schemas, kind))
        if way == "eager" and _OVERLAPS.search(target.path):
            continue
        if is_roomy and "as_strided" in target.path:
            continue
        is_roomy |= _operator(target) in _ROOMY
        steps.append(f"lambda: {_step(chance, kind, target, way == 'eager')}")
        if _operator(target) in INEXACT:
            break
        if kind == "view" and chance.random() < _CHANGED_AT_ONCE:
            steps.append(f"lambda: {_CHANGE}")
    lines = ["t = [x]", f"attempt(log, [{', '.join(steps)}])", "return t"]
    return program(chance.choice(bases), lines, way)


def _step(chance: random.Random, kind: str, target: Target, is_eager: bool) -> str:
    call = f"{target.path}({', '.join(_arguments(chance, target.schema, is_eager))})"
    if kind in ("change", "out"):
        return call
    returns = target.schema.returns
    is_one = len(returns) == 1 and str(returns[0].type) == "Tensor"
    return f"t.{'append' if is_one else 'extend'}({call})"


def _arguments(chance: random.Random, schema: FunctionSchema, is_eager: bool) -> Iterator[str]:
    """By keyword from the first that has a default, as one may be left to it."""
    by_keyword = False
    for place, argument in enumerate(schema.arguments):
        by_keyword |= argument.has_default or argument.kwarg_only
        if argument.has_default and (
            not _has_values(argument) or chance.random() < _LEFT_TO_DEFAULT
        ):
            continue
        value = _value(chance, argument, place, is_eager and schema.is_mutable)
        yield f"{argument.name}={value}" if by_keyword else value


def _value(chance: random.Random, argument: Argument, place: int, is_copied: bool) -> str:
    """``is_copied`` has what is read be another tensor than what is written."""
    kind = _type(argument)
    if argument.is_out:
        return chance.choice(_OUTS if is_copied else (*_OUTS, *_TAKEN))
    named = _NAMED.get(kind, {}).get(argument.name)
    if named:
        return chance.choice(named)
    if kind == "List[Tensor]":
        return f"[{_tensor(chance, is_copied)}, {_tensor(chance, is_copied)}]"
    if kind != "Tensor":
        return chance.choice(_VALUES[kind])
    return chance.choice(_TAKEN) if not place else _tensor(chance, is_copied)


def _tensor(chance: random.Random, is_copied: bool) -> str:
    if chance.random() < 0.5:
        return chance.choice(_MADE)
    return chance.choice(_TAKEN) + (".clone()" if is_copied else "")
