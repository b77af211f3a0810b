"""Subclasses that wrap tensors: what each release lets them answer, and how it refuses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest

import mindtorch_v2 as xp
from mindtorch_v2 import profile
from mindtorch_v2.utils import _python_dispatch as found
from tests.other_profiles import once_per_other_profile, run_again

RELEASE: Final = tuple(map(int, profile.active().release.split(".")))
SPEAKS: Final = RELEASE >= (2, 10)
"""Since then an assertion says what it has found."""
Define = Callable[..., Any]


@once_per_other_profile
def test_under_the_other_profile(other: str) -> None:
    run_again(__file__, other)


@pytest.fixture
def define() -> Iterator[Define]:
    library = xp.library.Library("testwrappers", "DEF")

    def define(signature: str, *tags: Any) -> Any:
        library.define("f" + signature, tags=tags)
        return xp.ops.testwrappers.f.default

    yield define
    library._destroy()


def shares(one: Any, other: Any) -> bool:
    return one.untyped_storage() is other.untyped_storage()


def test_a_view_shares_the_storage_and_keeps_its_geometry(define: Define) -> None:
    view = define("(Tensor(a) x) -> Tensor(a)")
    given, out = xp.arange(6.0), xp.zeros(3)[1:]
    answer = found.return_and_correct_aliasing(view, (given,), {}, out)
    assert answer is out
    assert shares(given, out)
    assert (tuple(out.shape), out.storage_offset()) == ((2,), 1)
    assert out.tolist() == [1.0, 2.0]


def test_an_argument_that_is_written_to_is_the_answer(define: Define) -> None:
    change = define("(Tensor x, *, Tensor(a!) out) -> Tensor(a!)")
    one, two = xp.ones(1), xp.ones(1)
    assert found.return_and_correct_aliasing(change, (one,), {"out": two}, one) is two


def test_of_a_list_each_element_shares() -> None:
    given, out = xp.arange(4.0), [xp.zeros(2), xp.zeros(2)]
    found.return_and_correct_aliasing(xp.ops.aten.split.Tensor, (given, 2), {}, out)
    assert all(shares(given, each) for each in out)


def test_geometry_of_the_wrapper_is_changed() -> None:
    given = xp.ones(2, 3)
    assert found.return_and_correct_aliasing(xp.ops.aten.t_.default, (given,), {}, given) is given
    assert tuple(given.shape) == (3, 2)
    assert not xp._C._meta_in_tls_dispatch_include()


@pytest.mark.parametrize(
    ("signature", "args", "out", "text"),
    [
        ("(Tensor(a) x) -> Tensor(a)", [], 0, "args must be a tuple, got <class 'list'>"),
        (
            "(Tensor(a!) x, Tensor(a!) y) -> Tensor(a!)",
            (0, 1),
            0,
            "Expected exactly one argument index for the given output alias",
        ),
        (
            "(Tensor(a|b!) x) -> Tensor(a|b!)",
            (0,),
            0,
            "Expected alias_set to contain exactly one element",
        ),
    ],
)
def test_what_no_schema_allows_is_refused(
    define: Define, signature: str, args: Any, out: Any, text: str
) -> None:
    with pytest.raises(AssertionError) as refused:
        found.return_and_correct_aliasing(define(signature), args, {}, out)
    assert str(refused.value) == (text if SPEAKS else "")


def test_a_result_that_is_no_tensor_is_refused_in_words(define: Define) -> None:
    view = define("(Tensor(a) x) -> Tensor(a)")
    with pytest.raises(AssertionError) as refused:
        found.return_and_correct_aliasing(view, (xp.ones(1),), {}, 3)
    expected = "expected torch.Tensor, got <class 'int'>" if SPEAKS else "type: <class 'int'>"
    assert str(refused.value) == expected


def test_when_a_schema_is_looked_at(define: Define) -> None:
    """Releases that look at it late have given the result its storage before they refuse."""
    half = define("(Tensor(a!) x, Tensor(b) y) -> (Tensor(a!), Tensor(b))")
    given, outs = (xp.ones(1), xp.ones(1)), (xp.ones(1), xp.ones(1))
    with pytest.raises(RuntimeError, match="Unsupported schema: testwrappers::f"):
        found.return_and_correct_aliasing(half, given, {}, outs)
    assert shares(given[1], outs[1]) is (RELEASE < (2, 10))


def test_how_many_are_returned(define: Define) -> None:
    both = define("(Tensor(a!) x, Tensor(b!) y) -> (Tensor(a!), Tensor(b!))")
    one, two = xp.ones(1), xp.ones(1)
    answer = found.return_and_correct_aliasing(both, (one, two), {}, (0,))
    assert answer == ((one,) if RELEASE < (2, 9) else (one, two))


def test_a_set_of_aliases_that_is_read_alone(define: Define) -> None:
    read = define("(Tensor(a|b) x) -> Tensor(a|b)")
    if RELEASE < (2, 9):
        with pytest.raises(AssertionError):
            found.return_and_correct_aliasing(read, (xp.ones(1),), {}, xp.ones(1))
    else:
        found.return_and_correct_aliasing(read, (xp.ones(1),), {}, xp.ones(1))


class Pair(xp.Tensor):
    """Of two tensors, and what was handed to its constructor beside them."""

    given: tuple[Any, ...] = ()
    one: Any
    two: Any

    @staticmethod
    def of(one: Any, two: Any, *given: Any) -> Any:
        made: Any = xp.Tensor._make_wrapper_subclass(Pair, one.size(), dtype=one.dtype)
        made.one, made.two, made.given = one, two, given
        return made

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise NotImplementedError

    def __tensor_flatten__(self) -> tuple[list[str], str]:
        return ["one", "two"], "context"

    @staticmethod
    def __tensor_unflatten__(inner: Any, context: Any, size: Any, stride: Any) -> Any:
        return Pair.of(inner["one"], inner["two"], context, size, stride)


def test_a_subclass_is_made_of_what_its_tensors_become() -> None:
    pair = Pair.of(xp.ones(2), xp.zeros(2))
    made = found.transform_subclass(pair, lambda name, inner: inner + len(name))
    assert (made.one.tolist(), made.two.tolist()) == ([4.0, 4.0], [3.0, 3.0])
    assert made.given == ("context", xp.Size([2]), (1,))


@pytest.mark.parametrize(
    ("change", "strides", "text"),
    [
        (
            lambda name, inner: inner[:1],
            None,
            "shape equal to torch.Size([2]), but got: torch.Size([1])",
        ),
        (lambda name, inner: inner, (2,), "stride equal to (2,), but got: (1,)"),
    ],
)
def test_a_subclass_of_another_geometry_is_refused(change: Any, strides: Any, text: str) -> None:
    with pytest.raises(AssertionError) as refused:
        found.transform_subclass(Pair.of(xp.ones(2), xp.ones(2)), change, outer_stride=strides)
    expected = f"Expected return value from {Pair}__tensor_unflatten__() to have {text}"
    assert str(refused.value) == expected
