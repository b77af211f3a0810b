"""What is bound by hand, and what goes by a function's name, is there in a release for a reason."""

import warnings
from typing import Any

import pytest

import mindtorch_v2 as xp
from conformance.bound import bound
from mindtorch_v2.binding.python import by_hand, exceptions
from mindtorch_v2.profile import known, load

RELEASES = known()


def functions(signatures: dict[str, Any]) -> set[str]:
    """C functions that a release writes by hand."""
    manual = {b["function"] for names in signatures["manual"].values() for b in names.values()}
    return manual | set(signatures["compiled"])


BY_HAND = {release: functions(load(release).signatures) for release in RELEASES}
EVERY = set().union(*BY_HAND.values())


@pytest.mark.parametrize("name", sorted({*by_hand.RUNNERS, *by_hand.WITHOUT_PARSER}))
def test_what_is_here_by_hand_torch_writes_by_hand(name: str) -> None:
    assert name in EVERY


@pytest.mark.parametrize("name", sorted(by_hand.DIRECT))
def test_what_dispatches_nothing_is_generated_so(name: str) -> None:
    modules = [load(release).signatures["modules"] for release in RELEASES]
    overloads = [
        each
        for facts in modules
        for module in facts.values()
        for each in module.get(name, {"overloads": []})["overloads"]
    ]
    assert any(each.get("direct") for each in overloads)


@pytest.mark.parametrize(
    "name",
    sorted({*exceptions.UNASKED, *exceptions.ASKED_FIRST, *exceptions.SILENT}),
)
def test_an_exception_bears_the_name_of_a_function_of_a_release(name: str) -> None:
    assert name in EVERY


@pytest.mark.parametrize("table", ["UNASKED", "ASKED_FIRST", "SILENT"])
def test_an_exception_has_a_reason(table: str) -> None:
    assert all(getattr(exceptions, table).values())


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (xp.sparse.FloatTensor, "device(type='cpu', index=1)"),
        (xp.FloatTensor, "device(type='cpu')"),
    ],
)
def test_a_type_of_sparse_tensors_passes_the_number_of_a_cpu_on(kind: Any, expected: str) -> None:
    """Without a size, of which a type of dense tensors makes an empty one wherever."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _, name, _, given = bound(xp, kind, device="cpu:1")
    assert (name, given["device"]) == ("aten::empty.memory_format", expected)
