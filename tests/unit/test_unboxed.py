"""The short way of calls: that it is taken, that it sees every change, and when it steps aside."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from typing import Any

import pytest

import mindtorch_v2 as xp
from mindtorch_v2.binding.operators import find_operator
from mindtorch_v2.dispatch.dispatcher import DISPATCHER
from mindtorch_v2.dispatch.kernel import Kernel
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.observers import OBSERVERS
from mindtorch_v2.dispatch.trace import trace
from mindtorch_v2.overrides import TorchFunctionMode

_OFTEN = 12
"""So many calls, and the short way is there."""


@pytest.fixture
def library() -> Iterator[Any]:
    made = xp.library.Library("short", "DEF")
    yield made
    made._destroy()


def warm(call: Any, *args: Any, **kwargs: Any) -> Any:
    for _ in range(_OFTEN):
        answer = call(*args, **kwargs)
    return answer


def test_calls_that_come_often_go_the_short_way(library: Any) -> None:
    library.define("one(Tensor x, *, float s=1.0) -> Tensor")
    library.impl("one", lambda x, s=1.0: x * s, "CPU")
    op, x = xp.ops.short.one.default, xp.ones(2)
    long_way = op.__call__
    warm(op, x)
    assert op.__call__ is not long_way
    entry = op._operator.unboxed.entry(lambda args, kwargs: (args, kwargs))
    assert entry(x).tolist() == entry(x=x).tolist() == [1.0, 1.0]
    assert entry(x, s=3).tolist() == entry(s=3, x=x).tolist() == [3.0, 3.0]
    for args, kwargs in (((), {}), ((x, 3), {}), ((x,), {"t": 3}), ((x,), {"x": x, "s": 3})):
        assert entry(*args, **kwargs) == (args, kwargs)


@pytest.mark.parametrize("args", [(), (1,), ("x",), (object(),), ([],)])
def test_what_the_short_way_does_not_take_is_refused_as_ever(
    library: Any, args: tuple[Any, ...]
) -> None:
    library.define("one(Tensor x) -> Tensor")
    library.impl("one", lambda x: x, "CPU")
    op = xp.ops.short.one.default
    with pytest.raises(RuntimeError) as before:
        op(*args)
    warm(op, xp.ones(1))
    with pytest.raises(RuntimeError) as after:
        op(*args)
    assert str(after.value) == str(before.value)
    entry = op._operator.unboxed.entry(lambda args, kwargs: (args, kwargs))
    assert entry(*args) == (args, {})


def test_an_undefined_tensor_is_shown_where_none_that_is_the_default_is_not(library: Any) -> None:
    library.define("maybe(Tensor x, Tensor? y=None, *, Tensor? z=None) -> Tensor")
    seen: list[Any] = []

    def kernel(*args: Any, **kwargs: Any) -> Any:
        seen.append((args[1:], kwargs))
        return args[0]

    library.impl("maybe", kernel, "CPU")
    operator, x = find_operator("short::maybe", ""), xp.ones(1)
    assert operator is not None
    stack = x, None, None
    for undefined, shown in (
        ((), ((), {})),
        ((1,), ((None,), {})),
        ((2,), ((), {"z": None})),
        ((1, 2), ((None,), {"z": None})),
    ):
        seen.clear()
        warm(operator.handing_on(frozenset(undefined)).call(stack).run)
        assert seen == [shown] * _OFTEN


def test_too_many_arguments_are_refused_in_torchs_words(library: Any) -> None:
    library.define("one(Tensor x) -> Tensor")
    library.impl("one", lambda x: x, "CPU")
    warm(xp.ops.short.one.default, xp.ones(1))
    with pytest.raises(RuntimeError, match=r"expected at most 1 argument\(s\) but received 2"):
        xp.ops.short.one.default(xp.ones(1), xp.ones(1))


def test_a_type_error_of_a_kernel_comes_through(library: Any) -> None:
    calls = []

    def kernel(x: Any) -> Any:
        calls.append(x)
        if len(calls) > _OFTEN:
            raise TypeError("mine")
        return x

    library.define("one(Tensor x) -> Tensor")
    library.impl("one", kernel, "CPU")
    warm(xp.ops.short.one, xp.ones(1))
    with pytest.raises(TypeError, match="mine"):
        xp.ops.short.one(xp.ones(1))
    assert len(calls) == _OFTEN + 1  # and the kernel is not run a second time


def test_a_registration_is_seen_by_the_next_call(library: Any) -> None:
    library.define("one(Tensor x) -> Tensor")
    library.impl("one", lambda x: x + 1, "CPU")
    op, x = xp.ops.short.one.default, xp.zeros(1)
    assert warm(op, x).item() == 1.0
    other = xp.library.Library("short", "FRAGMENT")
    other.impl("one", lambda x: x + 2, "AutogradCPU")
    assert warm(op, x).item() == 2.0
    other._destroy()
    assert warm(op, x).item() == 1.0


def test_a_registration_for_one_operator_leaves_others_their_kernels(library: Any) -> None:
    library.define("one(Tensor x) -> Tensor")
    library.define("two(Tensor x) -> Tensor")
    library.impl("one", lambda x: x, "CPU")
    library.impl("two", lambda x: x, "CPU")
    gc.collect()  # what others have registered for all operators is taken back now
    x = xp.ones(2)
    one, two = (getattr(xp.ops.short, name).default._operator.unboxed for name in ("one", "two"))

    def call_both() -> None:
        for _ in range(_OFTEN):
            one.call(x)
            two.call(x)

    thread = threading.Thread(target=call_both)  # which has the default sets
    thread.start()
    thread.join()
    assert one.kernels
    assert two.kernels
    library.impl("one", lambda x: x + 1, "Meta")
    assert not one.kernels
    assert two.kernels
    undo = DISPATCHER.register_fallback(DispatchKey.XLA, Kernel(lambda x: x, "a fallback"))
    undo()
    assert not two.kernels  # every operator had another kernel there


def test_a_new_schema_is_seen_by_the_next_call() -> None:
    first = xp.library.Library("short", "DEF")
    first.define("one(Tensor x) -> Tensor")
    first.impl("one", lambda x: x, "CPU")
    op, x = xp.ops.short.one.default, xp.ones(1)
    warm(op, x)
    first._destroy()
    second = xp.library.Library("short", "DEF")
    second.define("one(Tensor y, int n=2) -> Tensor")
    second.impl("one", lambda y, n=2: y * n, "CPU")
    with pytest.raises(RuntimeError, match="missing value for argument 'y'"):
        op(x=x)  # which the old schema takes
    assert op(x, 5).item() == 5.0
    assert warm(op, x, 7).item() == 7.0
    second._destroy()


def test_the_threads_sets_decide(library: Any) -> None:
    library.define("one(Tensor x) -> Tensor")
    library.impl("one", lambda x: x + 1, "CPU")
    library.impl("one", lambda x: x + 2, "AutogradCPU")
    op, x = xp.ops.short.one.default, xp.zeros(1)
    autograd = xp._C.DispatchKeySet(xp._C.DispatchKey.AutogradCPU)
    for _ in range(_OFTEN):
        assert op(x).item() == 2.0
        with xp._C._ExcludeDispatchKeyGuard(autograd):
            assert op(x).item() == 1.0


def test_who_observes_sees_every_call() -> None:
    x = xp.ones(1)
    warm(xp.add, x, x)
    with trace() as steps:
        xp.add(x, x)
    assert str(steps[0]) == "[call] op=[aten::add.Tensor], key=[AutogradCPU]"
    seen = []

    class Mode(TorchFunctionMode):
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            seen.append(func)
            return func(*args, **(kwargs or {}))

    with Mode():
        xp.add(x, x)
        xp.ops.aten.add.Tensor(x, x)
    assert seen == [xp.add, xp.ops.aten.add.Tensor]
    assert OBSERVERS.count == 0


def test_an_observer_in_one_thread_stops_no_other() -> None:
    x = xp.ones(1)
    warm(xp.add, x, x)
    answers: list[Any] = []
    with trace() as steps:
        thread = threading.Thread(target=lambda: answers.append(xp.add(x, x).item()))
        thread.start()
        thread.join()
    assert answers == [2.0]
    assert steps == []


def test_numbers_pass_for_tensors_by_the_operator_that_was_called(library: Any) -> None:
    """What a kernel in Python answers is looked at under the name that the user called."""
    library.define("one(Tensor x) -> Tensor")
    library.impl("one", lambda x: 3, "CPU")
    other = xp.library.Library("aten", "IMPL")
    x = xp.ones(1, dtype=xp.int8)
    assert warm(xp.ops.aten.add.Tensor, x, x).item() == 2
    try:
        other.impl("add.Tensor", lambda x, y: 3, "AutogradCPU")
        for _ in range(_OFTEN):
            assert xp.ops.aten.add.Tensor(x, x) == 3
            with pytest.raises(RuntimeError, match="Unable to cast"):
                xp.ops.short.one(x)
    finally:
        other._destroy()


def test_subclasses_and_modes_are_asked() -> None:
    class Sub(xp.Tensor):
        @classmethod
        def __torch_function__(
            cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            return "asked"

    x = xp.ones(1)
    sub = x.as_subclass(Sub)  # type: ignore[attr-defined]
    warm(xp.add, x, x)
    warm(xp.ops.aten.add.Tensor, x, x)
    assert xp.add(x, sub) == xp.ops.aten.add.Tensor(sub, x) == sub.add(x) == "asked"
