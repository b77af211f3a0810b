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
from conformance.cases.pipeline import in_pipeline
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
