"""Area ``opinfo``: the inputs with which torch tests its operators.

The samples of OpInfo are facts of the profile (:mod:`conformance.extract.opinfo`).  Each is called
as torch's tests call it: as a function, on CPU and on meta; some as a method, by a symbol, in
place, into an output, and with gradients.  What an operator refuses is called on CPU and on meta.

What is not here, by rule, and where the rule stands:

- what no text can say, and samples beyond what is enough: the profile counts them by operator
  under ``left_out``;
- operators without a kernel: `OPERATORS` lists the others, and a test asks mindtorch_v2 about each
  that is not listed;
- values that are whatever memory holds (`UNINITIALISED`), or whose digits are those of a vector
  unit (`ROUNDED`): of these what comes out on meta is compared;
- gradients that are but the last digits of a result (`NEARLY_FLAT`, `CONSTANT`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from hypothesis import strategies as st

from conformance.area import Area, Text
from conformance.cases import opinfo_drawn, opinfo_outputs
from conformance.cases import opinfo_samples as samples_of
from conformance.cases.core_ops import compares_warnings
from conformance.cases.opinfo_matrices import REGULAR
from conformance.cases.opinfo_pools import (
    FACTORED,
    OPERATORS,
    SPECTRA,
    WEIGHTED,
    has_gradients,
    has_values,
)
from mindtorch_v2.profile import Profile

if TYPE_CHECKING:
    from mindtorch_v2.profile.sections import Sample, SampledOperator

FORMS: Final = 3
"""How many samples of the principal dtype are called in each further way."""


def operators(profile: Profile) -> list[SampledOperator]:
    """Those of the release that mindtorch_v2 computes."""
    return [
        samples_of.regular(each) if each["name"] in FACTORED | REGULAR else each
        for each in profile.opinfo["operators"]
        if each["name"] in OPERATORS
    ]


def texts(profile: Profile) -> Iterator[Text]:
    found = operators(profile)
    for operator in found:
        for text in _texts(operator):
            yield operator["name"], text

    yield from opinfo_outputs.texts(found)


def _texts(operator: SampledOperator) -> Iterator[str]:
    name = operator["name"]
    samples = operator["samples"]
    plain = [sample for sample in samples if "differentiable" not in sample]
    principal = [sample for sample in plain if sample["dtype"] == plain[0]["dtype"]]
    first = {sample["dtype"]: sample for sample in reversed(plain)}
    others = [sample for dtype, sample in first.items() if dtype != plain[0]["dtype"]]
    cancels = name in SPECTRA
    for sample in plain:
        if has_values(name, sample):
            yield samples_of.function(operator, sample, cancels=cancels)
    for sample in (*principal, *others):
        yield samples_of.function(operator, sample, "meta")
    for sample in (*principal[:FORMS], *others):
        yield from _other_forms(operator, sample)
    for sample in samples:
        if has_gradients(name, sample):
            weighted = name in WEIGHTED
            yield samples_of.gradient(operator, sample, weighted=weighted, cancels=cancels)
    for sample in operator["errors"]:
        yield samples_of.function(operator, sample)
        yield samples_of.function(operator, sample, "meta")


def _other_forms(operator: SampledOperator, sample: Sample) -> Iterator[str]:
    """In place, as a method, by a symbol, into an output; without values all of them on meta."""
    device = "cpu" if has_values(operator["name"], sample) else "meta"
    cancels = operator["name"] in SPECTRA and device == "cpu"
    of_tensor = sample["arguments"][:1] == ["{0}"]
    if "inplace" in operator and of_tensor:
        yield samples_of.in_place(operator, sample, device)
    if "method" in operator and of_tensor:
        yield samples_of.method(operator, sample, device, cancels=cancels)
    if "symbol" in operator and len(sample["arguments"]) == 2:
        yield samples_of.symbol(operator, sample, device)
    if "out" in operator:
        yield samples_of.with_out(operator, sample, device, cancels=cancels)
        if device == "cpu":
            yield samples_of.with_out(operator, sample, "meta")


def strategy(profile: Profile) -> st.SearchStrategy[Text]:
    return opinfo_drawn.strategy(operators(profile))


AREA: Final = Area("opinfo", texts, strategy, warnings=compares_warnings, close=True)
