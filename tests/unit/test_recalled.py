"""Factories that make what they have made before: nothing that decides what they make is missed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import mindtorch_v2 as xp
from mindtorch_v2.binding.python import recalled

C: Any = xp._C
_OFTEN = 12


@pytest.fixture(autouse=True)
def states_are_put_back() -> Iterator[None]:
    yield
    xp.set_default_dtype(xp.float32)
    xp.use_deterministic_algorithms(False)
    xp.set_warn_always(False)


def often(text: str, **names: Any) -> Any:
    """The last of many answers, all of which are alike."""
    names["xp"] = xp
    answers = [eval(text, names) for _ in range(_OFTEN)]
    assert len({repr(each) for each in answers}) == 1
    return answers[-1]


def makings(monkeypatch: pytest.MonkeyPatch, text: str, **names: Any) -> int:
    """How often a call that was made often goes to the operator, made twice more."""
    for _ in range(_OFTEN):
        eval(text, {"xp": xp, **names})
    count = 0
    real = recalled.new_variable

    def counted(call: Any) -> Any:
        nonlocal count
        count += 1
        return real(call)

    monkeypatch.setattr(recalled, "new_variable", counted)
    for _ in range(2):
        eval(text, {"xp": xp, **names})
    return count


@pytest.mark.parametrize(
    "text",
    [
        "xp.zeros(2, 3)",
        "xp.ones([2, 3], dtype=xp.int8)",
        "xp.empty(2, device='meta')",
        "xp.full((2,), 1.5)",
        "xp.arange(6.0)",
        "xp.zeros(0)",
        "xp.zeros(2, dtype=xp.bfloat16)",
        "xp.ones(2, requires_grad=True)",
        "xp.zeros_like(x)",
        "xp.full_like(x, 2)",
    ],
)
def test_the_same_arguments_go_to_the_operator_no_more(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert makings(monkeypatch, text, x=xp.ones(2, 3)) == 0


@pytest.mark.parametrize("text", ["xp.randn(2)", "xp.rand_like(x)", "xp.zeros(2000)"])
def test_random_numbers_and_what_is_large_are_made_anew(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert makings(monkeypatch, text, x=xp.ones(2)) == 2


def test_each_is_a_tensor_of_its_own() -> None:
    first, second = (often("xp.zeros(2)") for _ in range(2))
    first.add_(1)
    assert (first.tolist(), second.tolist()) == ([1.0, 1.0], [0.0, 0.0])
    assert (first._version, second._version) == (1, 0)
    assert often("xp.zeros(2)").tolist() == [0.0, 0.0]
    assert first.untyped_storage().nbytes() == 8
    assert first.data_ptr() != second.data_ptr()


@pytest.mark.parametrize("text", ["xp.zeros(2, device='meta')", "xp.zeros(3, dtype=xp.bfloat16)"])
def test_storages_are_as_those_of_the_first(text: str) -> None:
    first = eval(text, {"xp": xp})
    again = often(text)
    for name in ("device", "dtype", "layout", "shape", "_version", "requires_grad"):
        assert getattr(again, name) == getattr(first, name)
    assert again.stride() == first.stride()
    storages = [each.untyped_storage() for each in (first, again)]
    assert storages[0].nbytes() == storages[1].nbytes()
    assert storages[0].device == storages[1].device
    if again.device.type != "meta":
        assert again.tolist() == first.tolist()
    for each in storages:
        each.resize_(32)
        assert each.nbytes() == 32


def test_numbers_that_are_equal_are_not_the_same() -> None:
    assert often("xp.full((1,), 0.0)").tolist() == [0.0]
    assert str(often("xp.full((1,), -0.0)").item()) == "-0.0"
    assert often("xp.full((1,), 1)").dtype == xp.int64
    assert often("xp.full((1,), True)").dtype == xp.bool
    assert often("xp.full((1,), 1.0)").dtype == xp.float32
    nan = often("xp.full((1,), nan)", nan=float("nan")).item()
    assert nan != nan


def test_the_default_dtype_is_looked_at() -> None:
    assert often("xp.arange(3.0)").dtype == xp.float32
    xp.set_default_dtype(xp.float64)
    assert often("xp.arange(3.0)").dtype == xp.float64
    xp.set_default_dtype(xp.float32)
    assert often("xp.arange(3.0)").dtype == xp.float32


def test_new_memory_that_is_filled_is_filled() -> None:
    often("xp.empty(1)")
    xp.use_deterministic_algorithms(True)
    filled = often("xp.empty(1)").item()
    assert filled != filled


def test_a_mode_and_a_guard_are_seen() -> None:
    often("xp.zeros(2)")
    seen = []

    class Mode(xp.utils._python_dispatch.TorchDispatchMode):  # type: ignore[misc,name-defined]
        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
        ) -> Any:
            seen.append(str(func))
            return func(*args, **(kwargs or {}))

    with Mode():
        xp.zeros(2)
    assert seen == ["aten.zeros.default"]
    with xp.inference_mode():
        assert xp.zeros(2).is_inference()
    assert not xp.zeros(2).is_inference()


def test_a_kernel_that_is_registered_is_called_from_then_on() -> None:
    often("xp.ones(2)")
    calls = []
    library = xp.library.Library("aten", "IMPL")

    def kernel(*args: Any, **kwargs: Any) -> Any:
        calls.append(args)
        return xp.tensor([5.0])

    library.impl("ones", kernel, "CPU")
    try:
        assert xp.ones(2).tolist() == [5.0]
        assert len(calls) == 1
    finally:
        library._destroy()
    assert often("xp.ones(2)").tolist() == [1.0, 1.0]


def test_what_is_registered_for_other_operators_changes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    often("xp.ones(2)")
    library = xp.library.Library("test_recalled", "DEF")
    library.define("f(Tensor x) -> Tensor")
    library.impl("f", lambda x: x, "CPU")
    try:
        with monkeypatch.context() as patch:
            patch.setattr(recalled, "new_variable", lambda call: pytest.fail("made anew"))
            assert xp.ones(2).tolist() == [1.0, 1.0]
    finally:
        library._destroy()


def test_a_fallback_is_noticed() -> None:
    often("xp.ones(2)")
    library = C._dispatch_library("IMPL", "_", "CPU")
    library.fallback_fallthrough("CPU")
    before = recalled.state()
    del library
    assert before != recalled.state()


@pytest.mark.filterwarnings("ignore:.*overrid")
@pytest.mark.parametrize("called", ["empty.memory_format", "fill_.Scalar"])
def test_a_kernel_of_what_a_factory_calls_is_called_from_then_on(called: str) -> None:
    often("xp.ones(2)")
    names = []
    library = xp.library.Library("aten", "IMPL")

    def kernel(keyset: Any, *args: Any, **kwargs: Any) -> Any:
        names.append(called)
        return xp.tensor([1.0, 1.0])

    try:
        library.impl(called, kernel, "CPU", with_keyset=True)
        xp.ones(2)
    finally:
        library._destroy()
    assert names == [called]


def test_what_was_warned_of_is_warned_of_again() -> None:
    xp.set_warn_always(True)
    for _ in range(_OFTEN):
        with pytest.warns(UserWarning, match="ComplexHalf"):
            xp.zeros(2, dtype=xp.complex32)


def test_tensors_that_lie_otherwise_are_told_apart() -> None:
    rows, columns = xp.ones(2, 3), xp.ones(3, 2).t()
    assert often("xp.empty_like(x)", x=rows).stride() == (3, 1)
    assert often("xp.empty_like(x)", x=columns).stride() == (1, 2)
    assert often("xp.empty_like(x)", x=xp.ones(2, dtype=xp.int8)).dtype == xp.int8
    assert often("xp.full_like(x, v)", x=rows, v=2.0).tolist() == [[2.0] * 3] * 2


def test_a_tensor_that_is_a_value_is_looked_at() -> None:
    filled = [xp.full((1,), xp.tensor(float(value))).item() for value in range(_OFTEN)]
    assert filled == [float(value) for value in range(_OFTEN)]
