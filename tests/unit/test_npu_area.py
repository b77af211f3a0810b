"""The area npu as far as it needs no runtime: texts, names of devices, what is counted apart."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from conformance.case import Case
from conformance.cases import npu_keysets
from conformance.cases.npu_moving import factories_of, moved
from conformance.compare import compare
from conformance.normalise import DEVICE_NAME, normalise
from conformance.on_npu import Here, is_on_npu
from conformance.outcome import DEVICE_FAULT, NO_KERNEL, VIOLATIONS, Outcome
from mindtorch_v2 import profile

FACTORIES = factories_of(profile.active())
ON_NPU = Case("npu", "add", "xp.ones(2, device=here()) + 1", close=True)
ONE = Outcome("returned", "1 : int")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("xp.ones(2) + 1", "xp.ones(2, device=here()) + 1"),
        ("xp.tensor([1.5]).cpu()", "xp.tensor([1.5], device=here()).to(here())"),
        ("xp.ones(2, device='cpu')", "xp.ones(2, device=here())"),
        ("xp.ones(2).numpy()", "xp.ones(2, device=here()).cpu().numpy()"),
        ("nn.Linear(2, 3), nn.ReLU()", "(nn.Linear(2, 3, device=here()), nn.ReLU())"),
        ("xp.arange(3, out=xp.empty(0))", "xp.arange(3, out=xp.empty(0, device=here()))"),
        ("xp.ones(2); xp.Generator()", "xp.ones(2, device=here())\nxp.Generator()"),
    ],
)
def test_what_makes_a_tensor_is_given_the_device(text: str, expected: str) -> None:
    assert moved(text, FACTORIES) == expected


@pytest.mark.parametrize(
    "text",
    [
        "xp.float32",
        "xp.ones(2, device='meta')",
        "xp.ones(2, dtype=xp.complex32)",
        "xp._C._dispatch_keys(xp.ones(2))",
        "xp.ones(2, pin_memory=True)",
        "xp.ones(2).pin_memory('cpu')",
        "xp.eye(3).to_mkldnn().t()",
        "xp.add(xp.ones(3), 2, out=1j)",
        "xp.nn.functional.mse_loss(xp.ones(2).to(xp.float16), xp.ones(2).to(xp.float16))",
        "def f(x): x[0] = 2\nfunctionalized(f, xp.ones(2), 'eager', [])",
    ],
)
def test_what_is_left_out(text: str) -> None:
    assert moved(text, FACTORIES) is None


def test_a_case_that_asks_for_the_device_is_known_by_its_text() -> None:
    assert is_on_npu("xp.ones(2, device=here())")
    assert not is_on_npu("xp.where(xp.ones(2))")


def test_every_text_of_keysets_asks_for_the_device() -> None:
    assert all(is_on_npu(text) for _, text in npu_keysets.texts())


@pytest.mark.parametrize(
    ("ours", "torchs"),
    [
        ("npu:0", "cpu"),
        ("device(type='npu', index=0)", "device(type='cpu')"),
        (r"device(type=\'npu\', index=0)", r"device(type=\'cpu\')"),
        ("tensor([1.], device='npu:0')", "tensor([1.])"),
        ("tensor([1.],\n       device='npu:0')", "tensor([1.])"),
        ("torch.npu.FloatTensor", "torch.FloatTensor"),
        ("the 'AutogradNPU' backend", "the 'AutogradCPU' backend"),
    ],
)
def test_the_npu_is_called_cpu(ours: str, torchs: str) -> None:
    assert DEVICE_NAME(ours) == torchs


@pytest.mark.parametrize("text", ["cpu", "device(type='cpu')", "cpu and npu:0"])
def test_what_is_on_the_cpu_differs_still(text: str) -> None:
    assert DEVICE_NAME(text) != text.replace("npu:0", "cpu")


@pytest.mark.parametrize(
    "text", ['"add_cpu" not', "npu:1", "inputs", "meta", "torch.cuda", "native/cpu/Kernel.h"]
)
def test_nothing_else_is_renamed(text: str) -> None:
    assert "npu:1" in text or DEVICE_NAME(text) == text
    assert DEVICE_NAME("npu:1") == "cpu:1"


@pytest.mark.parametrize("text", ["ones(1)", "it's one", "both ' and \""])
def test_a_string_without_the_device_is_quoted_as_that_is(text: str) -> None:
    """Python chooses the quotes by what is inside, which was the device's name."""
    on_npu = text + ", device='npu:0'"
    ours = Outcome("returned", f"{on_npu!r} : str")
    assert normalise(ours, (DEVICE_NAME,)) == Outcome("returned", f"{text!r} : str")
    assert normalise(ours, (DEVICE_NAME,)) != Outcome("returned", f"{text + '…'!r} : str")


def test_a_string_that_is_shown_shortened_keeps_its_quotes() -> None:
    ours = Outcome("returned", "\"ones, device='npu:0'… : str")
    assert normalise(ours, (DEVICE_NAME,)) == Outcome("returned", '"ones… : str')


def test_a_case_that_ran_elsewhere_is_counted_apart_if_it_agrees() -> None:
    elsewhere = Outcome("returned", "1 : int", uncovered="aten::median")
    found = compare(ON_NPU, ONE, elsewhere)
    assert (found.verdict, found.reason) == ("uncovered", "aten::median")
    assert compare(ON_NPU, Outcome("returned", "2 : int"), elsewhere).verdict == "mismatch"


def test_what_a_device_refuses_in_its_own_words_is_counted_apart() -> None:
    refused = Outcome("raised", type="IndexError", message="index out of range")
    late = Outcome("raised", type="torch.npu.AclError", message="507015", uncovered=DEVICE_FAULT)
    assert compare(ON_NPU, refused, late).verdict == "uncovered"
    assert compare(ON_NPU, ONE, late).verdict == "mismatch"
    caught = Outcome("returned", {"type": "tuple", "items": ["'IndexError' : str"]})
    shown = Outcome("returned", "1 : int", uncovered=DEVICE_FAULT)
    assert compare(ON_NPU, caught, shown).verdict == "uncovered"
    assert compare(ON_NPU, caught, ONE).verdict == "mismatch"
    missing = Outcome("raised", type="NotImplementedError", message="…", uncovered=NO_KERNEL)
    other = Outcome("raised", type="NotImplementedError", message="Could not run")
    assert compare(ON_NPU, other, missing).verdict == "uncovered"
    assert compare(ON_NPU, refused, missing).verdict == "mismatch"


@pytest.mark.parametrize(
    "words",
    [
        "\"add\" not implemented for 'Half'",
        "softmax with half to float conversion is not supported on CPU",
    ],
)
def test_a_dtype_that_the_cpu_has_not_is_counted_apart_but_not_a_broken_rule(words: str) -> None:
    refused = Outcome("raised", type="RuntimeError", message=words)
    assert compare(ON_NPU, refused, ONE).verdict == "uncovered"
    broken = Outcome("raised", type=VIOLATIONS, message="operator-dtype: …")
    assert compare(ON_NPU, refused, broken).verdict == "mismatch"
    elsewhere = Case("core-ops", "add", "xp.ones(2) + 1")
    assert compare(elsewhere, refused, ONE).verdict == "mismatch"


def tensor(values: Any, dtype: str = "torch.float32") -> Outcome:
    return Outcome("returned", {"type": "torch.Tensor", "dtype": dtype, "values": values})


def test_where_terms_cancel_the_tolerance_is_of_the_largest() -> None:
    one, two = tensor(["30.0", "0.100001"]), tensor(["30.0", "0.100101"])
    assert compare(ON_NPU, one, two).verdict == "agree"
    assert compare(ON_NPU, one, tensor(["30.0", "0.101"])).verdict == "mismatch"
    assert compare(ON_NPU, tensor(["1"], "torch.int32"), tensor(["2"], "torch.int32")).verdict == (
        "mismatch"
    )


class FakeNpu:
    AclError = RuntimeError

    def __init__(self, names: list[str]) -> None:
        self.names = names

    def record_fallbacks(self) -> Any:
        names = self.names

        class Recording:
            def __enter__(self) -> list[str]:
                return names

            def __exit__(self, *raised: object) -> None:
                pass

        return Recording()

    def synchronize(self) -> None:
        pass


def test_here_is_the_cpu_where_there_is_no_npu() -> None:
    here = Here(SimpleNamespace())  # type: ignore[arg-type]
    assert (here(), here("AutogradCPU")) == ("cpu", "AutogradCPU")
    assert here.judged(ONE) is ONE


def test_here_is_the_npu_and_sees_what_runs_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.ascend.provide", lambda: None)
    monkeypatch.setattr("conformance.ascend.violations", list)
    monkeypatch.setattr("conformance.ascend.take_open", list)
    here = Here(SimpleNamespace(npu=FakeNpu(["aten::a", "aten::b", "aten::a"])))  # type: ignore[arg-type]
    assert (here(), here("AutogradPrivateUse3")) == ("npu", "AutogradNPU")
    assert here.judged(ONE).uncovered == "aten::a, aten::b"


def test_a_broken_rule_is_the_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.ascend.provide", lambda: None)
    monkeypatch.setattr("conformance.ascend.violations", lambda: ["use-after-free: …"])
    monkeypatch.setattr("conformance.ascend.take_open", list)
    here = Here(SimpleNamespace(npu=FakeNpu([])))  # type: ignore[arg-type]
    here()
    assert here.judged(ONE).type == VIOLATIONS
