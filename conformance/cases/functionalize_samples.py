"""Torch's samples as programs of area ``functionalize``: what each operator calls, and what is
called in the stead of one that changes.

What an operator computes compares the area ``opinfo``.  Here its log is compared, so of each
operator there is a sample as a function, in place, and into an output; and, without a transform,
some of its gradients, whose formulas call operators in C++'s order.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from conformance.cases import opinfo
from conformance.cases import opinfo_samples as samples_of
from conformance.cases.functionalize_programs import program
from conformance.cases.opinfo_matrices import UNSIGNED, magnitudes
from conformance.cases.opinfo_pools import (
    CANCELLED,
    NEARLY_FLAT,
    SPECTRA,
    UNINITIALISED,
    WEIGHTED,
    has_values,
)
from conformance.cases.turn import Turn
from conformance.names import words
from mindtorch_v2.profile import Profile

if TYPE_CHECKING:
    from mindtorch_v2.profile.sections import Sample, SampledOperator, SampleTensor

NAME: Final = "a{}"
PRIMS: Final = words("nn_functional_normalize nn_functional_softsign special_i0e special_i1e")
"""Their second gradients are asked of tensors of zeros that nothing stores, and those ask torch's
Python functions of meta tensors, whose ``prims`` its log shows: this package has no such
operators."""

GRIDS: Final = words("nn_functional_grid_sample grid_sampler_2d grid_sampler_3d")
"""Where a release has formulas for their second gradients, those are functions in C++ that call
more than a hundred operators, by the modes of interpolation and of padding, and this package has
none of them yet."""

OF_CONSTANTS: Final = words("fft_hfft2 fft_hfftn fft_ihfft2 fft_ihfftn")
"""In some releases C++ has constant references for their outputs, takes their ``out=`` forms for
in-place ones of the input, and answers that, if Python is called in between."""


def texts(profile: Profile, ways: list[str]) -> Iterator[str]:
    """Each program in one of ``ways``, which take turns."""
    turn = Turn()
    for operator in opinfo.operators(profile):
        samples = _samples(operator)
        if not samples:
            continue
        sample = samples[min(1, len(samples) - 1)]  # the first may well be of no dimensions
        for lines in _bodies(operator, sample):
            yield _program(operator, sample, lines, turn.of(ways))
        for other in _of_other_shapes(samples, sample):
            call = samples_of.called(operator["call"], _named(other))
            lines = [f"return {_shown(operator, call)}"]
            yield _program(operator, other, lines, turn.of(ways))
        yield from _gradients(operator, profile)


def _samples(operator: SampledOperator) -> list[Sample]:
    """Those with values, if the operator has any."""
    name = operator["name"]
    return [
        sample
        for sample in operator["samples"]
        if "differentiable" not in sample and has_values(name, sample) and name not in UNINITIALISED
    ]


def _of_other_shapes(samples: list[Sample], sample: Sample) -> Iterator[Sample]:
    """Samples whose tensors have other ranks, no elements, or one along a dimension: what is made
    of other operators looks at these."""
    seen = {_shapes(sample)}
    for other in samples:
        if other["dtype"] == sample["dtype"] and _shapes(other) not in seen:
            seen.add(_shapes(other))
            yield other


def _shapes(sample: Sample) -> tuple[tuple[int, ...], ...]:
    """Nothing, one or more along each dimension."""
    return tuple(tuple(min(size, 2) for size in each["shape"]) for each in sample["tensors"])


def _bodies(operator: SampledOperator, sample: Sample) -> Iterator[list[str]]:
    given = _named(sample)
    call = samples_of.called(operator["call"], given)
    yield [f"return {_shown(operator, call)}"]
    if "inplace" in operator and sample["arguments"][:1] == ["{0}"]:
        changed = samples_of.called(f".{operator['inplace']}", ["y", *given[1:]])
        yield ["y = x.clone()", changed, "return y"]
    if "out" in operator:
        again = samples_of.called(operator["call"], [*given, "out=y"])
        if operator["name"] in OF_CONSTANTS:
            yield [f"y = {call}", again, f"return {_shown(operator, 'y')}"]
        else:
            yield [f"y = {call}", f"return {_shown(operator, again)}, {_shown(operator, 'y')}"]


def _shown(operator: SampledOperator, result: str) -> str:
    """A result; a spectrum is shown beside a large term, since its rounding is one of such, and of
    vectors without a sign magnitudes are."""
    if operator["name"] in UNSIGNED:
        return magnitudes(result)
    return f"{result} + {samples_of.LARGE}" if operator["name"] in SPECTRA else result


def _gradients(operator: SampledOperator, profile: Profile) -> Iterator[str]:
    """Of the first tensor, in the first sample where it has one, and the gradient's own; of all
    tensors, in the last."""
    name = operator["name"]
    if name in CANCELLED | NEARLY_FLAT:
        return
    samples = [each for each in operator["samples"] if "differentiable" in each]
    samples = [each for each in samples if has_values(name, each)]
    samples = [each for each in samples if "requires_grad" in each["tensors"][0]]
    if samples:
        yield _gradient(operator, samples[0], "x")
        if name not in PRIMS and not (name in GRIDS and _differentiates_grids(profile)):
            yield _second_gradient(operator, samples[0])
    if samples[1:]:
        yield _gradient(operator, samples[-1], _all(samples[-1]))


def _differentiates_grids(profile: Profile) -> bool:
    """Whether a release has formulas for the second gradients of ``GRIDS``."""
    return "GridSampler2DBackwardBackward0" in profile.derivatives["nodes"]


def _gradient(operator: SampledOperator, sample: Sample, of: str) -> str:
    call = samples_of.called(operator["call"], _named(sample))
    if operator["name"] in UNSIGNED:  # of whose magnitudes there is only one gradient
        call = magnitudes(call)
    grads = f"xp.autograd.grad({_sum(operator, sample)}, {of})"
    if operator["name"] in SPECTRA:
        grads = f"[{_shown(operator, 'each')} for each in {grads}]"
    lines = [f"y = {call}", f"return {grads}"]
    return _program(operator, sample, lines, "eager")


def _second_gradient(operator: SampledOperator, sample: Sample) -> str:
    """What it calls, and not its values, of which many are nothing but rounding."""
    call, of = samples_of.called(operator["call"], _named(sample)), _all(sample)
    total = _sum(operator, sample)
    lines = [
        f"y = {call}",
        f"g = xp.autograd.grad({total}, {of}, create_graph=True, allow_unused=True)",
        "z = [each.sum() for each in g if each is not None and each.requires_grad]",
        f"xp.autograd.grad(z, {of}, allow_unused=True)",
    ]
    return _program(operator, sample, lines, "eager")


def _sum(operator: SampledOperator, sample: Sample) -> str:
    return samples_of.sums(sample, weighted=operator["name"] in WEIGHTED)


def _all(sample: Sample) -> str:
    """The tensors whose gradients are asked for."""
    named = zip(_names(sample), sample["tensors"], strict=True)
    wanted = [name for name, facts in named if "requires_grad" in facts]
    return wanted[0] if len(wanted) == 1 else f"[{', '.join(wanted)}]"


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
