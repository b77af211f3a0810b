"""Modes and overrides: what is asked, in which order, and what is put back."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest

import mindtorch_v2 as xp
from mindtorch_v2 import profile, torch_function
from mindtorch_v2.dispatch import mode_stack, tls
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.overrides import TorchFunctionMode
from mindtorch_v2.utils._python_dispatch import TorchDispatchMode

C: Final[Any] = xp._C
TENSOR: Final[Any] = xp.Tensor


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    yield
    assert not mode_stack.stack_len()
    assert not torch_function.mode_count()
    assert not tls.is_dispatch_key_included(DispatchKey.Python)


@pytest.fixture
def op() -> Iterator[Callable[..., Any]]:
    """An operator whose kernel answers its tensor."""
    library = C._dispatch_library("FRAGMENT", "testmodes", "")
    library.def_("op(Tensor x) -> Tensor")
    kernels = C._dispatch_library("IMPL", "testmodes", "")
    kernels.impl("op", "CPU", lambda x: x)
    yield xp.ops.testmodes.op
    kernels.reset()
    library.reset()


class Logging(TorchDispatchMode):
    def __init__(self, name: str, log: list[str]) -> None:
        super().__init__()
        self.name, self.log = name, log

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.log.append(f"{self.name} {func}")
        return func(*args, **kwargs)


class LoggingFunctions(TorchFunctionMode):
    def __init__(self, log: list[str]) -> None:
        self.log = log

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.log.append(func.__name__)
        return func(*args, **(kwargs or {}))


class Failing(TorchDispatchMode):
    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise ValueError("no")


def test_the_innermost_mode_is_asked_first_and_calls_go_to_those_below(op: Any) -> None:
    log: list[str] = []
    x = xp.ones(2)
    with Logging("outer", log), Logging("inner", log):
        op(x)
    assert log == ["inner testmodes.op.default", "outer testmodes.op.default"]


def test_a_mode_that_raises_is_back_on_the_stack(op: Any) -> None:
    mode, x = Failing(), xp.ones(2)
    with mode:
        with pytest.raises(ValueError, match="no"):
            op(x)
        assert mode_stack.get_stack_at(0) is mode
        assert tls.is_dispatch_key_included(DispatchKey.Python)


def test_a_thread_has_modes_of_its_own(op: Any) -> None:
    log: list[str] = []
    with Logging("mode", log):
        thread = threading.Thread(target=lambda: op(xp.ones(2)))
        thread.start()
        thread.join()
    assert log == []


def test_a_subclass_that_overrides_operators_has_the_keys_for_it() -> None:
    class Overriding(TENSOR):  # type: ignore[misc]
        @classmethod
        def __torch_dispatch__(cls, func: Any, types: Any, *given: Any) -> Any:
            raise ValueError(str(func))

    made = TENSOR._make_subclass(Overriding, xp.ones(2))
    assert made._python_dispatch
    assert Overriding.__torch_function__ is C._disabled_torch_function_impl
    assert not xp.ones(2)._python_dispatch  # type: ignore[attr-defined]


def test_subclasses_are_asked_before_their_bases(op: Any) -> None:
    asked: list[str] = []

    class Base(TENSOR):  # type: ignore[misc]
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, *given: Any) -> Any:
            asked.append(cls.__name__)
            return NotImplemented

    class Derived(Base):
        pass

    base, derived = (TENSOR._make_subclass(cls, xp.ones(2)) for cls in (Base, Derived))
    with pytest.raises(TypeError, match="all __torch_function__ handlers returned NotImplemented"):
        xp.cat([base, derived])  # type: ignore[attr-defined]
    assert asked == ["Derived", "Base"]


def test_function_modes_see_attributes_but_not_what_stands_for_cpp() -> None:
    log: list[str] = []
    x = xp.ones(2)
    in_kernels = {"__name__": "mindtorch_v2.kernels.cpu.some"}
    read_dtype = eval("lambda x: x.dtype", in_kernels)  # code that stands for a kernel in C++
    with LoggingFunctions(log):
        _ = x.shape
        read_dtype(x)
    assert log == ["__get__"]


def test_all_disabled_switches_modes_off_too() -> None:
    log: list[str] = []
    with LoggingFunctions(log), C.DisableTorchFunction():
        _ = xp.ones(2).shape
    assert log == []


def test_an_infra_mode_is_below_every_users_mode() -> None:
    log: list[str] = []
    user, infra = Logging("user", log), Logging("infra", log)
    infra._mode_key = C._TorchDispatchModeKey.FAKE  # type: ignore[attr-defined]
    with user, infra:
        assert mode_stack.get_stack_at(0) is infra
        assert mode_stack.get_stack_at(1) is user


def test_no_stack_is_popped_when_it_is_empty() -> None:
    for pop in (mode_stack.pop, torch_function.pop_mode):
        with pytest.raises(RuntimeError, match="trying to pop from empty mode stack"):
            pop()


def test_a_stashed_stack_comes_back_after_an_error() -> None:
    def fail() -> None:
        with mode_stack.stashed_stack():
            assert not mode_stack.any_modes_set()
            raise KeyError

    with Logging("mode", []):
        with pytest.raises(KeyError):
            fail()
        assert mode_stack.stack_len() == 1


def test_snapshots_are_for_dispatch_alone() -> None:
    with pytest.raises(RuntimeError, match="outside of '__torch_dispatch__'"):
        C._RestorePythonTLSSnapshot().__enter__()


def test_a_refusal_matches_its_signature_once_more() -> None:
    """As C++ does, so an object hears once more whether it overrides; numbers were torch's."""
    asked: list[Any] = []

    class Odd:
        @property
        def __torch_function__(self) -> Any:
            asked.append(self)
            raise AttributeError

    with pytest.raises(TypeError, match="must be Tensor, not Odd"):
        xp.add(xp.ones(2), Odd())
    assert len(asked) == (5 if profile.active().argument_parser["overrides_anywhere"] else 2)


def test_types_of_results_are_there_before_they_are_made() -> None:
    assert {"max", "all_return_types"} <= set(dir(xp.return_types))
    assert xp.return_types.max in xp.return_types.all_return_types
    assert type(xp.max(xp.ones(2), 0)) is xp.return_types.max
    with pytest.raises(AttributeError, match="no attribute 'maximum'"):
        xp.return_types.maximum  # noqa: B018 (it is looked up)
