"""What a pipeline foresees of a call is what comes of it, for samples of every sampled operator.

The program would notice otherwise: strides and dtype of a tensor that waits can be asked for.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest

import mindtorch_v2 as xp
from conformance.area import Text
from conformance.case import Case
from conformance.cases import functionalize_schemas, opinfo
from conformance.cases.pipeline import in_pipeline, stays
from conformance.execute import HELPERS, execute
from conformance.vocabulary import for_profile
from mindtorch_v2 import profile
from mindtorch_v2.pipeline import queue
from mindtorch_v2.tensor.tensor import Tensor

Geometry = tuple[object, ...]


def geometry(tensor: Tensor) -> Geometry:
    return tuple(tensor._sizes), tuple(tensor._strides), tensor._storage_offset, tensor._dtype


@pytest.fixture
def surprises(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Geometry, Geometry]]:
    """What was foreseen, and came otherwise."""
    found: list[tuple[Geometry, Geometry]] = []
    become = queue._become

    def watched(output: Tensor, computed: Tensor) -> None:
        foreseen, came = geometry(output), geometry(computed)
        if foreseen != came:
            found.append((foreseen, came))
        become(output, computed)

    monkeypatch.setattr(queue, "_become", watched)
    return found


def texts() -> Iterator[Text]:
    release = profile.active()
    yield from islice(opinfo.AREA.texts(release), 0, None, 30)
    for seed in range(300):
        yield "schemas", functionalize_schemas.drawn_program(random.Random(seed), release.name)


@pytest.mark.parametrize("dims", [(3, 1, 2, 0), (0, 3, 1, 2)])
def test_a_batch_norm_lies_as_its_input_does(surprises: list[Any], dims: tuple[int, ...]) -> None:
    """Sizes of one hide a memory format from who looks for a suggestion, and not from the CPU."""
    with xp.pipeline():
        x = xp.ones(2, 3, 1, 1).permute(dims)
        running = xp.ones(x.shape[1])
        xp.native_batch_norm(x, None, None, running, running, False, 0.1, 1e-5)
    assert surprises == []


def test_logs_of_what_backward_calls_stay_out_of_a_pipeline() -> None:
    assert stays("functionalized(lambda x: x.sum().backward(), xp.ones(2), 'eager', [])")
    assert not stays("xp.ones(2, requires_grad=True).sum().backward()")


def test_what_is_foreseen_is_what_comes(surprises: list[Any]) -> None:
    names = for_profile(profile.active().name).with_helpers(*HELPERS).with_free_attributes()
    wrong = []
    ran = 0
    for target, text in texts():
        case = Case("pipeline", target, in_pipeline(text, ""))
        ran += execute(case, xp, names).kind == "returned"
        if surprises:
            wrong.append((case.text, *surprises))
            surprises.clear()
    assert ran > 700
    assert wrong == []
