"""Bound classes and enums have the names, constructors, members and refusals of pybind11's."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Final

import pytest
from pybind_messages import CPU, HEADER, C, message

from mindtorch_v2 import profile
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.pybind.classes import bind_methods, pybind11_type
from tests.other_profiles import once_per_other_profile, run_again

PROFILE: Final = profile.active().name

# Classes ----------------------------------------------------------------------------------------


def test_a_class_has_a_short_name_and_cpythons_messages_the_long_one() -> None:
    cls = C.DispatchKeySet
    assert (cls.__name__, cls.__qualname__, cls.__module__) == (
        "DispatchKeySet",
        "DispatchKeySet",
        "mindtorch_v2",
    )
    assert repr(cls) == "<class 'mindtorch_v2.DispatchKeySet'>"
    keys = cls(CPU)
    for call, words in (
        (lambda: keys.nosuch, "'torch._C.DispatchKeySet' object has no attribute 'nosuch'"),
        (lambda: cls.nosuch, "type object 'torch._C.DispatchKeySet' has no attribute 'nosuch'"),
        (
            lambda: setattr(keys, "nosuch", 1),
            "'torch._C.DispatchKeySet' object has no attribute 'nosuch'",
        ),
    ):
        assert message(AttributeError, call) == words
    for call, words in (
        (lambda: len(keys), "object of type 'torch._C.DispatchKeySet' has no len()"),
        (
            lambda: keys + 1,
            "unsupported operand type(s) for +: 'torch._C.DispatchKeySet' and 'int'",
        ),
        (lambda: ~keys, "bad operand type for unary ~: 'torch._C.DispatchKeySet'"),
    ):
        assert message(TypeError, call) == words


def test_the_metaclass_is_pybind11s() -> None:
    assert repr(type(C.DispatchKeySet)) == "<class 'pybind11_builtins.pybind11_type'>"


def test_a_second_construction_is_ignored() -> None:
    keys = C.DispatchKeySet(CPU)
    assert keys.__init__(C.DispatchKey.CUDA) is None
    assert repr(keys) == "DispatchKeySet(CPU)"
    CPU.__init__(3)
    assert CPU.name == "CPU"


def test_a_constructor_wants_its_own_object_first() -> None:
    words = "__init__(self, ...) called with invalid or missing `self` argument"
    assert message(TypeError, lambda: C.DispatchKeySet.__init__()) == words
    assert message(TypeError, lambda: C.DispatchKeySet.__init__(3, CPU)) == words


def test_a_subclass_must_call_the_bound_constructor() -> None:
    class Kept(C.DispatchKeySet):  # type: ignore[misc]
        pass

    class Forgotten(C.DispatchKeySet):  # type: ignore[misc]
        def __init__(self) -> None:
            pass

    assert repr(Kept(CPU)) == "DispatchKeySet(CPU)"
    assert message(TypeError, Forgotten) == (
        "torch._C.DispatchKeySet.__init__() must be called when overriding __init__"
    )


def test_a_class_has_the_methods_that_its_release_documents() -> None:
    documented = profile.active().bindings["classes"]["DispatchKeySet"]["methods"]
    assert ("raw_repr" in documented) is hasattr(C.DispatchKeySet, "raw_repr")
    cls = pybind11_type("X", (), {"__slots__": ("_it",)}, cpp_name="torch._C.X")
    docs = {"__init__": "__init__(self: torch._C.X) -> None\n"}
    bind_methods(cls, docs, {"__init__": SimpleNamespace, "gone": lambda it: it}, slot="_it")
    assert not hasattr(cls(), "gone")


@pytest.mark.parametrize("hashed", [True, False])
def test_a_class_that_compares_but_does_not_hash_is_unhashable(hashed: bool) -> None:
    cls = pybind11_type("X", (), {"__slots__": ("_it",)}, cpp_name="torch._C.X")
    docs = {
        "__init__": "__init__(self: torch._C.X) -> None\n",
        "__eq__": "__eq__(self: object, other: object) -> bool\n",
        **({"__hash__": "__hash__(self: object) -> int\n"} if hashed else {}),
    }
    implementations: dict[str, Any] = {
        "__init__": SimpleNamespace,
        "__eq__": lambda left, right: True,
        "__hash__": lambda it: 1,
    }
    bind_methods(cls, docs, implementations, slot="_it")
    if hashed:
        assert hash(cls()) == 1
    else:
        assert message(TypeError, lambda: hash(cls())) == "unhashable type: 'torch._C.X'"


# Enums ------------------------------------------------------------------------------------------


def test_an_enum_knows_its_members_in_torchs_order() -> None:
    cls = C.DispatchKey
    members = cls.__members__
    assert list(members.items())[:2] == [
        ("Undefined", cls(0)),
        ("CompositeExplicitAutogradNonFunctional", cls.CompositeExplicitAutogradNonFunctional),
    ]
    assert all(members[name] is getattr(cls, name) for name in members)
    assert message(AttributeError, lambda: C.DispatchKeySet.__members__) == (
        "type object 'torch._C.DispatchKeySet' has no attribute '__members__'"
    )


def test_an_enum_has_two_names_as_a_class_has() -> None:
    cls = C.DispatchKey
    assert (cls.__name__, cls.__module__) == ("DispatchKey", "mindtorch_v2")
    assert cls.__doc__.startswith("Members:\n\n  Undefined\n\n  ")
    assert message(AttributeError, lambda: CPU.nosuch) == (
        "'torch._C.DispatchKey' object has no attribute 'nosuch'"
    )
    assert message(TypeError, lambda: CPU < CPU) == (
        "'<' not supported between instances of 'torch._C.DispatchKey' and 'torch._C.DispatchKey'"
    )


def test_an_enum_member_is_a_value_with_a_name() -> None:
    value = int(DispatchKey.CPU)
    assert (CPU.name, CPU.value, int(CPU), range(100)[CPU]) == ("CPU", value, value, value)
    assert repr(CPU) == f"<DispatchKey.CPU: {value}>"
    assert str(CPU) == "DispatchKey.CPU"
    assert C.DispatchKey(value) == CPU
    assert C.DispatchKey.CUDA != CPU
    assert value != CPU
    assert hash(CPU) == hash(C.DispatchKey(value))


def test_a_value_in_range_that_is_no_member_has_no_name() -> None:
    nameless = C.DispatchKey(65535)
    assert nameless.name == "???"
    assert repr(nameless) == "<DispatchKey.???: 65535>"
    assert str(nameless) == "DispatchKey.???"


def test_the_constructor_of_an_enum_refuses_as_the_release_words_it() -> None:
    kind = {"2.4": "int", "2.13": "typing.SupportsInt | typing.SupportsIndex"}
    if PROFILE in kind:
        assert message(TypeError, lambda: C.DispatchKey("CPU")) == (
            f"__init__(): {HEADER.format('constructor')}"
            f"    1. torch._C.DispatchKey(value: {kind[PROFILE]})\n\nInvoked with: 'CPU'"
        )


def test_methods_of_an_enum_take_keywords_as_the_release_names_them() -> None:
    if "/" not in C.DispatchKey.__eq__.__doc__:  # (self: object, other: object)
        assert CPU.__eq__(other=CPU) is C.DispatchKey.__eq__(self=CPU, other=CPU) is True
    else:  # (self: object, other: object, /)
        assert "kwargs: other=" in message(TypeError, lambda: CPU.__eq__(other=CPU))
    assert "kwargs: self=" in message(TypeError, lambda: C.DispatchKey.__int__(self=CPU))


# The other profiles -----------------------------------------------------------------------------


@once_per_other_profile
def test_all_of_this_holds_under_every_other_profile(other: str) -> None:
    run_again(__file__, other)


def test_a_guard_takes_one_step_each_for_what_every_block_does() -> None:
    keys = C.DispatchKeySet(C.DispatchKey.AutogradCPU)
    guard = C._ExcludeDispatchKeyGuard
    assert type(vars(guard)["__enter__"]).__name__ == "instancemethod"
    assert repr(guard.__enter__).startswith("<built-in method __enter__ of ")
    with guard(keys) as entered:
        assert entered is None
        assert C._dispatch_tls_is_dispatch_key_excluded(C.DispatchKey.AutogradCPU)
    assert not C._dispatch_tls_is_dispatch_key_excluded(C.DispatchKey.AutogradCPU)
    for call in (guard, guard(keys).__enter__, guard(keys).__exit__):
        with pytest.raises(TypeError, match="incompatible"):
            call(1)


def is_excluded() -> bool:
    excluded: bool = C._dispatch_tls_is_dispatch_key_excluded(C.DispatchKey.AutogradCPU)
    return excluded


def test_a_guard_that_somebody_has_is_not_given_to_another_block() -> None:
    keys = C.DispatchKeySet(C.DispatchKey.AutogradCPU)
    guard = C._ExcludeDispatchKeyGuard(keys)
    with guard:
        assert is_excluded()
    with C._ExcludeDispatchKeyGuard(C.DispatchKeySet(C.DispatchKey.Meta)) as entered:
        assert not is_excluded()
        assert entered is None
    with guard:
        assert is_excluded()
    assert not is_excluded()


@pytest.mark.parametrize(
    "enter",
    [lambda guard: guard.__enter__(), C._ExcludeDispatchKeyGuard.__enter__],
    ids=["as a method", "through the class"],
)
def test_a_guard_that_is_dropped_while_it_is_in_force_is_undone_at_once(
    enter: Callable[[Any], None],
) -> None:
    guard = C._ExcludeDispatchKeyGuard(C.DispatchKeySet(C.DispatchKey.AutogradCPU))
    for _ in range(2):
        with guard:
            pass
    enter(guard)
    assert is_excluded()
    del guard
    assert not is_excluded()


def test_a_subclass_of_a_guard_is_made_as_pybind11_makes_it() -> None:
    class Silent(C._ExcludeDispatchKeyGuard):
        def __init__(self, keys: object) -> None:
            pass

    with pytest.raises(TypeError, match="must be called when overriding __init__"):
        Silent(C.DispatchKeySet(C.DispatchKey.CPU))
