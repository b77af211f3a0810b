"""Plain calls: pointwise operators and views of dense tensors, made without a check that has been
made before, and who steps aside."""

from __future__ import annotations

import math
import threading
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mindtorch_v2 as xp
from mindtorch_v2.binding.unboxed import UNUSUAL
from mindtorch_v2.dispatch import native, tls
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.kernels.elementwise.pointwise import Pointwise
from mindtorch_v2.kernels.elementwise.short_way import short_way_of
from mindtorch_v2.kernels.views import strided as views
from mindtorch_v2.tensor.plain import KEYS
from mindtorch_v2.tensor.quiet import quietly

_OFTEN = 12


@pytest.fixture
def only_plain(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Calls have come often, and from now on none but a plain one is computed."""
    x, y = xp.ones(2, 3), xp.ones(2, 3)
    for _ in range(_OFTEN):
        xp.add(x, y)
        xp.sub(x, y, alpha=2)
        xp.neg(x)
        y.mul_(x)

    def refuse(*arguments: Any) -> Any:
        raise NotImplementedError("looked closer")

    monkeypatch.setattr(Pointwise, "__call__", refuse)
    return


def short(kernel: Any, count: int) -> Any:
    """The short way of a kernel of so many values, alone: UNUSUAL for what it hands on."""
    way = short_way_of(kernel, KEYS)
    assert way is not None
    make = way.make or way.above
    assert make is not None
    return make(lambda *values: UNUSUAL, count, None)


@pytest.mark.parametrize("size", [1, 2, 1000])
@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "clamp_min", "clamp_max", "copysign"])
def test_in_place_is_what_a_new_tensor_would_have_in_the_same_memory(name: str, size: int) -> None:
    other = xp.linspace(-2, 3, size)
    for is_shared in (False, True):
        x = xp.linspace(1, 4, size)
        shares = x.view(-1) if is_shared else x  # which has a storage, or not yet
        for _ in range(_OFTEN):
            expected = getattr(x, name)(other).tolist()
            version = x._version
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                assert getattr(x, f"{name}_")(other) is x
            assert x.tolist() == shares.tolist() == expected
            assert x._version == version + 1
        getattr(x, f"{name}_")(x)
        assert shares.tolist() == x.tolist()


_ODD = (
    0,
    1,
    -1,
    127,
    -128,
    200,
    2**63 - 1,
    -0.0,
    5e-324,
    1e-40,
    3e38,
    -3e38,
    1e308,
    math.inf,
    math.nan,
)
_NUMBERS = st.sampled_from(_ODD) | st.floats(width=32) | st.floats()
_DTYPES = ("float64", "float32", "float16", "bfloat16", "int64", "int32", "int8", "uint8", "bool")


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div"])
@given(
    dtype=st.sampled_from(_DTYPES),
    sizes=st.sampled_from([(), (1,), (1, 1, 1)]),
    numbers=st.tuples(_NUMBERS, _NUMBERS),
)
def test_the_only_element_is_what_numpy_would_have_computed_in_silence(
    name: str, dtype: str, sizes: tuple[int, ...], numbers: tuple[float, float]
) -> None:
    kind = getattr(xp, dtype)
    with np.errstate(all="ignore"):
        stored = np.array(numbers).astype(np.dtype(dtype if dtype != "bfloat16" else "float32"))
    x, y = (xp.tensor(each.item()).to(kind).reshape(sizes) for each in stored)
    for _ in range(2):
        try:
            expected = bits(getattr(xp, name)(x, y))
            getattr(x.clone(), f"{name}_")(y)
        except RuntimeError:  # as division of integers, and subtraction of truth values
            return
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            assert bits(getattr(x.clone(), f"{name}_")(y)) == expected
        assert not warned


def bits(x: Any) -> list[int]:
    """All of them, but those of what is no number."""
    found: list[int] = xp.where(x == x, x, 0).reshape(-1).view(xp.uint8).tolist()
    return found


@pytest.mark.usefixtures("only_plain")
def test_plain_calls_are_computed_at_once() -> None:
    x, y = xp.full((2, 3), 2.0), xp.full((2, 3), 5.0)
    assert xp.add(x, y).tolist() == [[7.0] * 3] * 2
    assert xp.sub(x, y, alpha=2).tolist() == [[-8.0] * 3] * 2
    assert xp.neg(x).tolist() == [[-2.0] * 3] * 2
    assert y.mul_(x) is y
    assert y.tolist() == [[10.0] * 3] * 2
    assert y._version == 1


@pytest.mark.usefixtures("only_plain")
@pytest.mark.parametrize(
    "other",
    [
        "xp.ones(3)",
        "xp.ones(2, 3, dtype=xp.float64)",
        "xp.ones(3, 2).t()",
        "xp.ones(2, 6)[:, ::2]",
        "xp.ones(2, 3)._neg_view()",
        "xp.tensor(1.0)",
    ],
)
def test_others_are_looked_at(other: str) -> None:
    made = eval(other)
    for one, two in ((xp.ones(2, 3), made), (made, xp.ones(2, 3))):
        with pytest.raises(NotImplementedError, match="looked closer"):
            xp.add(one, two)


@pytest.mark.usefixtures("only_plain")
def test_lazy_bits_and_inference_tensors_are_for_others() -> None:
    add = short(native.find("aten::add.Tensor", DispatchKey.CPU).function, 3)
    x = xp.ones(2, 3)
    assert add(x, x, 1).tolist() == [[2.0] * 3] * 2
    with xp.inference_mode():
        inferred = xp.ones(2, 3)
    for other in (xp.ones(2, 3)._neg_view(), inferred):
        assert add(x, other, 1) is add(other, x, 1) is UNUSUAL


@pytest.mark.usefixtures("only_plain")
def test_what_shares_memory_with_what_changes_is_looked_at() -> None:
    y = xp.ones(2, 3)
    with pytest.raises(NotImplementedError, match="looked closer"):
        y.mul_(y[:])
    y.mul_(y)


@pytest.mark.usefixtures("only_plain")
def test_plain_calls_are_recorded() -> None:
    x = xp.ones(2, 3, requires_grad=True)
    made = xp.sub(xp.ones(2, 3), x, alpha=2)
    assert made.grad_fn.name() == "SubBackward0"
    assert made.grad_fn._saved_alpha == 2
    with xp.no_grad():
        assert not xp.add(x, x).requires_grad


def test_a_view_that_was_asked_for_before_is_known() -> None:
    x = xp.arange(6.0).view(2, 3).clone()
    first, select = views.select(x, 0, 1), short(views.select, 3)
    known = select(x, 0, 1)
    assert select(x.detach(), 0, -1).tolist() == [3.0, 4.0, 5.0]
    assert known.tolist() == first.tolist() == [3.0, 4.0, 5.0]
    assert known._storage is x._storage
    conj = xp.ones(2, dtype=xp.complex64).conj()
    assert select(conj, 0, 0) is UNUSUAL
    assert short(views.permute, 2)(x, [1, 0]).shape == (3, 2)


def test_an_offset_is_that_of_the_base() -> None:
    x = xp.arange(12.0).view(4, 3)
    for _ in range(_OFTEN):
        assert x.select(0, 1).tolist() == [3.0, 4.0, 5.0]
    assert x[2:].select(0, 1).tolist() == [9.0, 10.0, 11.0]
    assert x.view(4, 3)[2:].select(0, 1).storage_offset() == 9


def test_kernels_below_see_the_sets_of_the_thread_as_ever() -> None:
    x, raw = xp.ones(2, 2), tls.local_dispatch_key_set()
    before = raw.included, raw.excluded
    for _ in range(_OFTEN):
        x.view(4)
        with pytest.raises(RuntimeError):
            x.view(5)
    assert (raw.included, raw.excluded) == before


def test_numpy_warns_of_nothing_quietly() -> None:
    zero, before = np.zeros(1), np.geterr()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isnan(quietly(np.divide, zero, zero)).all()
        assert np.isnan(quietly(quietly, np.divide, zero, zero)).all()
    assert np.geterr() == before
    with pytest.warns(RuntimeWarning):
        np.divide(zero, zero)


def test_threads_compute_quietly_side_by_side() -> None:
    inside, answers = threading.Barrier(2), []

    def compute() -> None:
        inside.wait()
        with warnings.catch_warnings(record=True) as seen:
            np.divide(np.zeros(1), 0)
        answers.append(len(seen))

    threads = [threading.Thread(target=quietly, args=(compute,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [0, 0]
