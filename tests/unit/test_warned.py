"""What C++ warns of: functions, devices and layouts that go away or are not finished."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable
from functools import reduce
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mindtorch_v2 as xp
from mindtorch_v2 import profile
from mindtorch_v2.amp import deprecated
from tests.other_profiles import once_per_other_profile, run_again

PLACES = profile.active().messages["warnings"]
"""By the C++ function that warns."""


@once_per_other_profile
def test_under_the_other_profile(other: str) -> None:
    run_again(__file__, other)


def warned(call: Callable[[], object]) -> list[tuple[type[Warning], str]]:
    """What a call warns of, as often as C++ does if it is told to."""
    xp.set_warn_always(True)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call()
    finally:
        xp.set_warn_always(False)
    return [(each.category, str(each.message)) for each in caught]


# --- autocast -------------------------------------------------------------------------------------


def test_a_function_of_one_device_says_which_has_replaced_it() -> None:
    place = profile.active().autocast["deprecated"]["is_autocast_cpu_enabled"]
    text = (
        "torch.is_autocast_cpu_enabled() is deprecated. Please use "
        f"torch.is_autocast_enabled('cpu') instead. (Triggered internally at {place}.)"
    )
    assert warned(xp.is_autocast_cpu_enabled) == [(DeprecationWarning, text)]


def test_it_does_the_same() -> None:
    before = xp.get_autocast_dtype("cuda")
    try:
        ((_, text),) = warned(lambda: xp.set_autocast_gpu_dtype(xp.float64))
        assert "set_autocast_dtype('cuda', dtype) instead" in text
        assert xp.get_autocast_dtype("cuda") is xp.float64
    finally:
        xp.set_autocast_dtype("cuda", before)


def test_it_refuses_before_it_warns() -> None:
    def refuse() -> None:
        with pytest.raises(TypeError, match=r"^enabled must be a bool \(got int\)$"):
            xp.set_autocast_cpu_enabled(1)
        with pytest.raises(TypeError, match=r"^dtype must be a torch.dtype \(got str\)$"):
            xp.set_autocast_cpu_dtype("float16")

    assert warned(refuse) == []


def test_all_of_the_release_are_there() -> None:
    assert deprecated.FUNCTIONS
    assert all(callable(getattr(xp, name)) for name in deprecated.FUNCTIONS)
    assert not hasattr(xp, "is_autocast_gpu_enabled")  # which no release has


# --- what is in beta ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "count"),
    [
        ([np.ones(2)], 1),
        ([np.ones(2), np.ones(2)], 2),
        ([np.ones((2, 1))], 3),  # its rows are arrays too
        (np.ones(2), 0),
        ([np.float32(1)], 0),
    ],
)
def test_each_array_of_a_list_is_warned_of(data: Any, count: int) -> None:
    found = warned(lambda: xp.tensor(data))
    assert len(found) == count
    assert all(text.endswith(f"internally at {PLACES['recursive_store']}.)") for _, text in found)


def test_a_device_that_is_none_any_more() -> None:
    found = warned(lambda: xp.device("mkldnn", 0))
    assert len(found) == ("parse_type" in PLACES)
    with pytest.raises(RuntimeError, match="must not include an index because index was passed"):
        xp.device("cuda:1", -1)
    with pytest.raises(RuntimeError, match="Device index must not be negative"):
        xp.device("cuda", -1)


def test_a_layout_in_beta_is_named() -> None:
    ((_, text),) = warned(lambda: xp.empty(2, 2, layout=xp.sparse_csc))
    assert text.startswith("Sparse CSC tensor support is in beta state.")


def test_nested_tensors_are_a_prototype() -> None:
    ((_, text),) = warned(lambda: xp.nested.nested_tensor([[1.0], [2.0, 3.0]]))
    assert text.startswith("The PyTorch API of nested tensors is in prototype stage")


# --- what goes away -------------------------------------------------------------------------------


def test_resize_keeps_the_elements_and_the_history() -> None:
    x = xp.ones(2, 3, requires_grad=True)
    with pytest.warns(UserWarning, match="^non-inplace resize is deprecated$"):
        y = x.resize(6)
    assert type(y.grad_fn).__name__ == "ResizeBackward"
    y.sum().backward()
    assert x.grad.tolist() == [[1.0] * 3] * 2
    refusal = r"^requested resize to 4 \(4 elements in total\), but .* size of 2x3 \(6 elements\)"
    with pytest.warns(UserWarning, match="resize_as"), pytest.raises(RuntimeError, match=refusal):
        x.resize_as(xp.ones(4))


@pytest.mark.parametrize("sizes", [(2, 9), (2, 3, 4), (4, 3, 2, 1), (5, 1, 7, 2, 9, 3)])
def test_many_matrices_are_multiplied(sizes: tuple[int, ...]) -> None:
    xp.manual_seed(len(sizes))
    matrices = [xp.rand(one, two) for one, two in pairwise(sizes)]
    if len(matrices) > 1:
        found = xp.linalg.multi_dot(matrices)
        out = xp.empty(0)
        assert xp.linalg.multi_dot(matrices, out=out) is out
        assert xp.equal(out, found)
    else:
        ((_, text),) = warned(lambda: xp.chain_matmul(*matrices))
        assert text.startswith("torch.chain_matmul is deprecated")
        found = xp.chain_matmul(*matrices)
    assert xp.allclose(found, reduce(xp.mm, matrices))


@pytest.mark.parametrize(
    ("tensors", "refusal"),
    [
        ([xp.ones(2)], "expected at least 2 tensors but got 1"),
        ([xp.ones(1, 2, 3), xp.ones(2)], "the first tensor must be 1D or 2D but got 3D"),
        ([xp.ones(2), xp.ones(2), xp.ones(2)], "tensor 1 must be 2D but got 1D"),
        (
            [xp.ones(2), xp.ones(2).long()],
            "all tensors must have be the same dtype but tensor 0 is float and tensor 1 long int",
        ),
        (
            [xp.ones(2), xp.ones(3, 2)],
            r"tensors 0 and 1 with shapes \[2\] and \[3, 2\] cannot be multiplied",
        ),
    ],
)
def test_what_cannot_be_multiplied_is_refused(tensors: Any, refusal: str) -> None:
    with pytest.raises(RuntimeError, match=rf"^multi_dot\(\): {refusal}$"):
        xp.linalg.multi_dot(tensors)


# --- places ---------------------------------------------------------------------------------------


def functions_that_warn(source: str) -> set[str]:
    """The C++ functions that a module's calls of ``warn`` and ``warn_once`` name by a literal."""
    return {
        node.args[0].value
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("warn", "warn_once")
        and isinstance(node.args[0], ast.Constant)
    }


def test_a_release_knows_where_each_function_warns() -> None:
    """A name that no release knows would be a warning that nobody is told of."""
    modules = Path(xp.__file__).parent.rglob("*.py")
    named = set[str]().union(*(functions_that_warn(module.read_text()) for module in modules))
    located = set[str]().union(
        *(profile.load(release).messages["warnings"] for release in profile.known())
    )
    assert len(named) > 40
    assert named - located == set()


def test_a_function_that_left_python_warns_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(PLACES, "cholesky", raising=False)
    assert warned(lambda: xp.ops.aten.cholesky(xp.ones(1, 1))) == []
