"""Torch's samples with outputs that are what is read, or overlap it, or themselves.

What is written over what is read has values that a kernel's order decides, so of these cases what
is refused is compared, what is warned of, and what geometry an output is left with.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from conformance.area import Text
from conformance.cases import opinfo_samples as samples_of
from conformance.cases.opinfo_pools import UNINITIALISED, WRITTEN_OUTSIDE

if TYPE_CHECKING:
    from mindtorch_v2.profile.sections import Sample, SampledOperator

_SHOWN: Final = "o.shape, o.stride(), o.dtype"


def texts(operators: Iterable[SampledOperator]) -> Iterator[Text]:
    for operator in operators:
        name = operator["name"]
        if "out" in operator and name not in UNINITIALISED | WRITTEN_OUTSIDE:
            sample = _sample(operator)
            for text in _texts(operator, sample) if sample else ():
                yield name, samples_of.seed(operator) + text


def _sample(operator: SampledOperator) -> Sample | None:
    """The first whose tensors have most dimensions: of floating point, if there is one."""
    plain = [
        sample
        for sample in operator["samples"]
        if "differentiable" not in sample and not any("conj" in each for each in sample["tensors"])
    ]
    plain = [sample for sample in plain if sample["dtype"] == "float32"] or plain
    return max(plain, key=_rank, default=None)


def _rank(sample: Sample) -> int:
    return max((len(facts["shape"]) for facts in sample["tensors"]), default=0)


def _texts(operator: SampledOperator, sample: Sample) -> Iterator[str]:
    names = [f"a{number}" for number in range(len(sample["tensors"]))]
    made = "".join(
        f"{name} = {samples_of.tensor(facts)}\n"
        for name, facts in zip(names, sample["tensors"], strict=True)
    )
    arguments = [text.format(*names) for text in sample["arguments"]]
    plain = samples_of.called(operator["call"], arguments)
    written = samples_of.called(operator["call"], [*arguments, "out=o"])
    for name in names:
        yield f"{made}o = {name}\n{written}\n{_SHOWN}"
        shared = f"b = {name}.new_zeros({name}.numel() + 1)\n{name} = b[1:].view({name}.shape)\n"
        yield f"{made}{shared}o = b[:-1].view({name}.shape)\n{written}\n{_SHOWN}"
    yield f"{made}y = {plain}\no = y.new_zeros(()).expand(y.shape)\n{written}\n{_SHOWN}"
