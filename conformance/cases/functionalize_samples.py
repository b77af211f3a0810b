"""Torch's samples as programs of area ``functionalize``: what each operator calls, and what is
called in the stead of one that changes.

What an operator computes compares the area ``opinfo``.  Here its log is compared, so of each
operator there is a sample as a function, in place, and into an output; and, without a transform,
one of its gradient, whose formula calls operators in C++'s order.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from conformance.cases import opinfo
from conformance.cases import opinfo_samples as samples_of
from conformance.cases.functionalize_programs import program
from conformance.cases.opinfo_pools import CANCELLED, UNINITIALISED, has_values
from conformance.cases.turn import Turn
from conformance.names import words
from mindtorch_v2.profile import Profile

if TYPE_CHECKING:
    from mindtorch_v2.profile.sections import Sample, SampledOperator, SampleTensor

NAME: Final = "a{}"
UNDEFINED: Final = words("nn_functional_binary_cross_entropy")
"""Their gradients hand on an optional tensor that is there and undefined.  torch's log shows None
for it; ours, in which it is None, shows no argument that is the default."""


def texts(profile: Profile, ways: list[str]) -> Iterator[str]:
    """Each program in one of ``ways``, which take turns."""
    turn = Turn()
    for operator in opinfo.operators(profile):
        sample = _sample(operator)
        if sample is None:
            continue
        for lines in _bodies(operator, sample):
            yield _program(operator, sample, lines, turn.of(ways))
        yield from _gradients(operator)


def _sample(operator: SampledOperator) -> Sample | None:
    """The second one, if there are two: the first may well be of no dimensions."""
    name = operator["name"]
    found = [
        sample
        for sample in operator["samples"]
        if "differentiable" not in sample and has_values(name, sample)
    ]
    return found[min(1, len(found) - 1)] if found and name not in UNINITIALISED else None


def _bodies(operator: SampledOperator, sample: Sample) -> Iterator[list[str]]:
    given = _named(sample)
    call = samples_of.called(operator["call"], given)
    yield [f"return {call}"]
    if "inplace" in operator and sample["arguments"][:1] == ["{0}"]:
        changed = samples_of.called(f".{operator['inplace']}", ["y", *given[1:]])
        yield ["y = x.clone()", changed, "return y"]
    if "out" in operator:
        again = samples_of.called(operator["call"], [*given, "out=y"])
        yield [f"y = {call}", f"return {again}, y"]


def _gradients(operator: SampledOperator) -> Iterator[str]:
    """Of the first tensor, in the first sample where it has one; of all tensors, in the last."""
    if operator["name"] in CANCELLED | UNDEFINED:
        return
    samples = [each for each in operator["samples"] if "differentiable" in each]
    samples = [each for each in samples if "requires_grad" in each["tensors"][0]]
    if samples:
        yield _gradient(operator, samples[0], ["x"])
    if samples[1:]:
        wanted = [
            name
            for name, facts in zip(_names(samples[-1]), samples[-1]["tensors"], strict=True)
            if "requires_grad" in facts
        ]
        yield _gradient(operator, samples[-1], wanted)


def _gradient(operator: SampledOperator, sample: Sample, wanted: list[str]) -> str:
    places = sample["differentiable"]
    sums = ["y.sum()"] if places is None else [f"y[{place}].sum()" for place in places]
    of = wanted[0] if len(wanted) == 1 else f"[{', '.join(wanted)}]"
    call = samples_of.called(operator["call"], _named(sample))
    lines = [f"y = {call}", f"return xp.autograd.grad({' + '.join(sums)}, {of})"]
    return _program(operator, sample, lines, "eager")


def _names(sample: Sample) -> list[str]:
    """Of the tensors: the first is the program's."""
    return ["x", *map(NAME.format, range(1, len(sample["tensors"])))]


def _named(sample: Sample) -> list[str]:
    """The arguments, with the tensors by their names."""
    return [text.format(*_names(sample)) for text in sample["arguments"]]


def _program(operator: SampledOperator, sample: Sample, lines: list[str], way: str) -> str:
    """The other tensors are made before the program, and are none of its arguments."""
    base, *others = map(_made, sample["tensors"]) if sample["tensors"] else ["xp.ones(2)"]
    made = [f"{NAME.format(number)} = {text}\n" for number, text in enumerate(others, 1)]
    seed = samples_of.SEED if "seeded" in operator else ""
    return seed + "".join(made) + program(base, lines, way)


def _made(facts: SampleTensor) -> str:
    tensor = samples_of.tensor(facts)
    return f"{tensor}.requires_grad_()" if "requires_grad" in facts else tensor
