"""What hypothesis draws for area ``opinfo``: a sample, and one thing in it that is otherwise.

Another dtype, another number, a transposed tensor, an argument too many or too few.  A sample whose
values nobody can compare is drawn on meta, and so is what may read past a tensor's end.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from hypothesis import strategies as st

from conformance.area import Text
from conformance.cases import opinfo_samples as samples_of
from conformance.cases.opinfo_matrices import DECOMPOSED, SUMMED
from conformance.cases.opinfo_pools import (
    EXACT_DTYPES,
    KEYWORDS,
    SPECTRA,
    UNCHECKED,
    has_values,
)

if TYPE_CHECKING:
    from mindtorch_v2.profile.sections import Sample, SampledOperator, SampleTensor

NUMBER: Final = re.compile(r"(?P<name>\w+=)?-?\d+")


def strategy(operators: list[SampledOperator]) -> st.SearchStrategy[Text]:
    """Samples of these operators, varied."""
    drawn = [(each, sample) for each in operators for sample in each["samples"]]
    # by their place: hypothesis shows what it draws from
    return st.integers(0, len(drawn) - 1).flatmap(lambda place: _varied(*drawn[place]))


def _varied(operator: SampledOperator, sample: Sample) -> st.SearchStrategy[Text]:
    changes = [_transposed(sample), _numbers(sample)]
    if "{" not in operator["call"]:  # which says how many arguments there are
        changes += [_more(sample), _fewer(sample)]
    if all(facts["dtype"] in EXACT_DTYPES for facts in sample["tensors"]):
        changes.append(_dtypes(sample))
    name = operator["name"]
    is_checked = name not in UNCHECKED | DECOMPOSED | SUMMED
    device = "cpu" if has_values(name, sample) and is_checked else "meta"
    cancels = name in SPECTRA and device == "cpu"
    possible = [change for change in changes if change is not None]
    return st.one_of(*(possible or [st.just(sample)])).map(
        lambda changed: (name, samples_of.function(operator, changed, device, cancels=cancels))
    )


def _with_arguments(sample: Sample, arguments: list[str]) -> Sample:
    return {"dtype": sample["dtype"], "arguments": arguments, "tensors": sample["tensors"]}


def _dtypes(sample: Sample) -> st.SearchStrategy[Sample] | None:
    """One of the tensors in another dtype whose results are exact."""
    tensors = sample["tensors"]
    if not tensors:
        return None

    def changed(place: int, dtype: str) -> Sample:
        made = [*tensors]
        made[place] = _cast(tensors[place], dtype)
        return {"dtype": dtype, "arguments": sample["arguments"], "tensors": made}

    return st.builds(changed, st.integers(0, len(tensors) - 1), st.sampled_from(EXACT_DTYPES))


def _cast(facts: SampleTensor, dtype: str) -> SampleTensor:
    made = facts.copy()
    made["dtype"] = dtype
    return made


def _transposed(sample: Sample) -> st.SearchStrategy[Sample] | None:
    """The places of the first tensor's dimensions exchanged."""
    texts = sample["arguments"]
    if texts[:1] != ["{0}"] or len(sample["tensors"][0]["shape"]) < 2:
        return None
    return st.sampled_from([".transpose(0, -1)", "[..., :1]", "[None]", "[0]", "[::2]"]).map(
        lambda view: _with_arguments(sample, [f"{{0}}{view}", *texts[1:]])
    )


def _numbers(sample: Sample) -> st.SearchStrategy[Sample] | None:
    """Another integer for one of those that are there: a dimension out of range, a size."""
    texts = sample["arguments"]
    places = [place for place, text in enumerate(texts) if NUMBER.fullmatch(text)]
    if not places:
        return None

    def changed(place: int, number: int) -> Sample:
        name = texts[place].rpartition("=")[0]
        text = f"{name}={number}" if name else str(number)
        return _with_arguments(sample, [*texts[:place], text, *texts[place + 1 :]])

    return st.builds(changed, st.sampled_from(places), st.integers(-4, 4))


def _more(sample: Sample) -> st.SearchStrategy[Sample]:
    """A keyword that the function may not have."""
    given = {text.partition("=")[0] for text in sample["arguments"]}
    left = [text for text in KEYWORDS if text.partition("=")[0] not in given]
    return st.sampled_from(left).map(
        lambda text: _with_arguments(sample, [*sample["arguments"], text])
    )


def _fewer(sample: Sample) -> st.SearchStrategy[Sample] | None:
    """Without the last argument, unless it says where a tensor is made."""
    if len(sample["arguments"]) < 2 or "device" in sample["arguments"][-1]:
        return None
    return st.just(_with_arguments(sample, sample["arguments"][:-1]))
