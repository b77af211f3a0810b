"""``torch.library``: what is registered lasts as long as its library, and no longer."""

from __future__ import annotations

import gc
import inspect
import sys
import weakref
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import pytest

import mindtorch_v2 as torch
from mindtorch_v2 import library
from mindtorch_v2._library import release
from mindtorch_v2._library.custom_ops import CustomOpDef, custom_op
from mindtorch_v2._library.infer_schema import infer_schema
from mindtorch_v2._library.utils import is_functional_schema
from mindtorch_v2.utils._python_dispatch import TorchDispatchMode

SCHEMA = "f(Tensor x) -> Tensor"


@pytest.fixture
def lib() -> Iterator[library.Library]:
    # A library that an exception of an earlier test still holds would, whenever it is collected,
    # take the packets of its operators along, which are by now another's.
    gc.collect()
    with library._scoped_library("library_contract", "FRAGMENT") as made:
        yield made


def answer(x: torch.Tensor) -> torch.Tensor:
    return torch.ones(3)


def test_an_operator_comes_goes_and_comes_again_with_another_schema(lib: library.Library) -> None:
    lib.define(SCHEMA)
    lib.impl("f", answer, "CPU")
    assert torch.ops.library_contract.f(torch.ones(2)).shape == (3,)
    lib._destroy()
    with pytest.raises(AttributeError, match="no attribute 'f'"):
        _ = torch.ops.library_contract.f
    with library._scoped_library("library_contract", "FRAGMENT") as other:
        other.define("f(int n) -> int")
        other.impl("f", lambda n: n + 1, "CompositeExplicitAutograd")
        assert torch.ops.library_contract.f(1) == 2


def test_a_packet_has_an_overload_that_is_defined_after_it_was_looked_up(
    lib: library.Library,
) -> None:
    lib.define(SCHEMA)
    packet = torch.ops.library_contract.f
    assert packet.overloads() == ["default"]
    lib.define("f.out(Tensor x, int n) -> Tensor")
    assert torch.ops.library_contract.f is packet
    assert packet.overloads() == ["default", "out"]
    assert str(packet.out) == "library_contract.f.out"


def test_a_library_that_is_lost_forgets_what_it_registered() -> None:
    lost = library.Library("library_contract", "FRAGMENT")
    lost.define(SCHEMA)
    lost.impl("f", answer, "CPU")
    impls = lost._op_impls
    assert impls <= library._impls
    assert "library_contract::f" in library._defs
    del lost
    gc.collect()
    assert not impls & library._impls
    assert "library_contract::f" not in library._defs
    assert not torch._C._dispatch_has_kernel("library_contract::f")


def test_a_refused_kernel_leaves_no_trace(lib: library.Library) -> None:
    lib.define(SCHEMA)
    before = torch._C._dispatch_dump("library_contract::f")
    for refused in (
        lambda: lib.impl("f", 1, "CPU"),  # type: ignore[arg-type]
        lambda: lib.impl("f", answer, "nosuch"),
        lambda: lib.impl("other::f", answer, "CPU"),
        lambda: lib.impl(1, answer, "CPU"),  # type: ignore[arg-type]
    ):
        with pytest.raises((TypeError, RuntimeError)):
            refused()
    assert torch._C._dispatch_dump("library_contract::f") == before
    assert not lib._op_impls


@pytest.mark.usefixtures("warns_always")
def test_a_kernel_of_another_is_called_by_the_kernels_that_call_the_operator() -> None:
    x = torch.ones(2, 3)
    called: list[object] = []

    def as_strided(self: torch.Tensor, *geometry: object) -> torch.Tensor:
        called.append(geometry[0])
        return self.detach()

    assert x.t().shape == (3, 2)
    views = library.Library("aten", "IMPL")
    with pytest.warns(UserWarning, match="Overriding a previously registered kernel"):
        views.impl("as_strided", as_strided, "CPU")
    try:
        assert x.t().shape == x[0:1].shape == x.shape
        assert called == [[3, 2], [1, 3]]
    finally:
        views._destroy()
    assert x.t().shape == (3, 2)
    assert x.to("meta").t().shape == (3, 2)
    assert len(called) == 2


def test_a_fallthrough_kernel_is_passed_over(lib: library.Library) -> None:
    lib.define(SCHEMA)
    lib.impl("f", library.fallthrough_kernel, "AutogradCPU")
    lib.impl("f", answer, "CPU")
    assert not torch.ops.library_contract.f(torch.ones(2, requires_grad=True)).requires_grad
    with pytest.raises(NotImplementedError, match="never be called"):
        library.fallthrough_kernel()


def test_an_operator_without_fake_says_so_on_meta_and_has_one_after_that(
    lib: library.Library,
) -> None:
    lib.define(SCHEMA)
    x = torch.ones(2, device="meta")
    with pytest.raises(NotImplementedError, match=r"no fake impl or Meta kernel registered"):
        torch.ops.library_contract.f(x)
    library.register_fake("library_contract::f", lambda x: x, lib=lib)
    assert torch.ops.library_contract.f(x) is x
    assert library.get_ctx() is None


def test_a_fake_may_not_ask_for_sizes_on_meta(lib: library.Library) -> None:
    lib.define(SCHEMA)
    library.register_fake("library_contract::f", lambda x: library.get_ctx(), lib=lib)
    with pytest.raises(RuntimeError, match="get_ctx"):
        torch.ops.library_contract.f(torch.ones(2, device="meta"))
    assert library.get_ctx() is None


def test_a_custom_operator_may_not_answer_its_input() -> None:
    schema = "(Tensor x) -> Tensor"
    same = custom_op("library_contract::same", lambda x: x, mutates_args=(), schema=schema)
    with pytest.raises(RuntimeError, match="same"):
        same(torch.ones(2))
    assert isinstance(same, CustomOpDef)


def test_a_custom_operator_counts_what_it_writes() -> None:
    write = custom_op(
        "library_contract::write",
        lambda x: None,
        mutates_args=("x",),
        schema="(Tensor(a!) x) -> ()",
    )
    x = torch.ones(2)
    before = x._version
    write(x)
    assert x._version == before + 1


RULES: dict[str, Callable[[CustomOpDef], object]] = {
    "register_autocast": lambda op: op.register_autocast("cpu", torch.float16),
    "register_vmap": lambda op: op.register_vmap(lambda info, in_dims, x: op),
    "register_fake": lambda op: op.register_fake(lambda x: op),
}


@pytest.mark.parametrize("rule", [*filter(release.has, RULES)])
def test_a_custom_operator_lives_on_in_kernels_whose_place_no_other_takes(rule: str) -> None:
    def made() -> CustomOpDef:
        schema = "(Tensor(a!) x) -> ()"
        return custom_op("library_contract::again", answer, mutates_args=("x",), schema=schema)

    first = made()
    RULES[rule](first)
    seen = weakref.ref(first)
    del first
    again = made()
    gc.collect()
    assert (seen() is not None) == (rule != "register_fake")  # each operator has a fake
    assert isinstance(again, CustomOpDef)


def test_a_formula_runs_below_autograd_and_its_results_require_grad(lib: library.Library) -> None:
    seen = []
    lib.define(SCHEMA)
    lib.impl("f", answer, "CPU")
    library.register_autograd(
        "library_contract::f",
        lambda ctx, grad: grad,
        setup_context=lambda ctx, inputs, output: seen.append((inputs, output)),
        lib=lib,
    )
    x = torch.ones(2, requires_grad=True)
    result = torch.ops.library_contract.f(x)
    assert result.requires_grad
    assert not result.is_leaf
    ((inputs, output),) = seen
    assert inputs == (x,)
    assert output is result


def test_a_kernel_of_python_alone_is_found_before_that_of_the_dispatcher(
    lib: library.Library,
) -> None:
    lib.define(SCHEMA)
    lib.impl("f", answer, "CompositeExplicitAutograd")
    overload, key = torch.ops.library_contract.f.default, torch.DispatchKey.CPU
    assert overload._get_dispatch(key) == torch.DispatchKey.CompositeExplicitAutograd
    with pytest.raises(AssertionError):
        overload._get_dispatch(key)
    overload.py_impl(key)(answer)
    assert overload._get_dispatch(key) is answer
    with pytest.raises(RuntimeError, match="override a python impl"):
        overload.py_impl(key)(answer)


def test_what_runs_a_rule_for_a_mode_is_a_function_of_its_own(lib: library.Library) -> None:
    lib.define(SCHEMA)
    overload = torch.ops.library_contract.f.default
    key = torch.DispatchKey.Python
    assert overload._get_dispatch(key) == key
    overload.py_impl(TorchDispatchMode)(answer)
    handler = overload._get_dispatch(key)
    assert handler.__qualname__ == "OpOverload._get_dispatch.<locals>.handler"
    with pytest.raises(TypeError, match=r"_to_functionality_key\(\): incompatible"):
        overload._get_dispatch(None)


def test_operators_answer_for_names_with_underscores_as_in_torch(lib: library.Library) -> None:
    lib.define(SCHEMA)
    packet = torch.ops.library_contract.f
    assert packet.__qualname__ == packet.op.__qualname__
    assert packet.__qualname__.endswith(".f")
    assert packet.default.__annotations__ == {}
    assert "__call__" not in getattr(packet, "__annotations__", {})
    with pytest.raises(AttributeError, match="has no attribute __nothing__ either"):
        _ = packet.__nothing__


def test_a_default_that_prints_as_no_schema_has_it_is_kept(lib: library.Library) -> None:
    lib.define('f(Tensor x, Device d="cpu:0") -> Tensor')
    _, device = torch.ops.library_contract.f.default._schema.arguments
    assert device.default_value == torch.device("cpu:0")


def test_schemas_are_inferred_from_hints() -> None:
    def hinted(x: torch.Tensor, n: int = 2, *, flag: bool = False) -> torch.Tensor:
        return x

    hinted.__annotations__ = {
        "x": torch.Tensor,
        "n": int,
        "flag": bool,
        "return": torch.Tensor,
    }
    found = infer_schema(hinted, mutates_args=("x",), op_name="h")
    assert found == "h(Tensor(a0!) x, SymInt n=2, *, bool flag=False) -> Tensor"
    del hinted.__annotations__["n"]
    with pytest.raises(ValueError, match="Parameter n must have a type annotation"):
        infer_schema(hinted, mutates_args=())


def test_a_hint_that_is_text_is_read_where_the_release_reads_it() -> None:
    def hinted(x: object) -> None: ...

    hinted.__annotations__ = {"x": "Tensor", "return": None}  # a name that this module lacks
    if release.fact("names_in_hints"):
        assert infer_schema(hinted, mutates_args=()) == "(Tensor x) -> ()"
        return
    reads = release.does("infer_schema reads hints that are text")
    refused = "Unsupported type annotation Tensor" if reads else "unsupported type Tensor"
    with pytest.raises(ValueError, match=refused):
        infer_schema(hinted, mutates_args=())


@pytest.mark.skipif(release.shows_file(), reason="the release shows the caller's own line")
def test_a_kernel_by_impl_is_shown_with_the_line_of_torch(lib: library.Library) -> None:
    lib.define("f(Tensor x) -> Tensor")
    library.impl("library_contract::f", "cpu", lambda x: x)
    kept = library._keep_alive.pop()  # for good, were it not for the tests after this one
    lines = release.fact("lines")["torch.library"]
    calls = lines.get("impl") or lines["_impl"]
    line = calls.get("register") or calls["register_"]
    dump = torch._C._dispatch_dump("library_contract::f")
    kept._destroy()
    assert f"CPU: registered at /dev/null:{line} ::" in dump


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ("f(Tensor x) -> Tensor", True),
        ("f(Tensor(a!) x) -> Tensor(a!)", False),
        ("f(Tensor(a) x) -> Tensor(a)", False),
        ("f(Tensor x) -> ()", False),
    ],
)
def test_a_functional_schema_mutates_nothing_and_returns_something_new(
    schema: str, expected: bool
) -> None:
    assert is_functional_schema(torch._C.parse_schema(schema)) is expected


def test_functions_are_declared_as_in_the_release() -> None:
    parameters = inspect.signature(library.Library.impl).parameters
    declared = release.fact("declared")["Library.impl"]
    assert ("allow_override" in parameters) == ("allow_override" in declared)
    for name in ("infer_schema", "register_vmap", "get_kernel"):
        assert hasattr(library, name) == release.has(name)


def test_a_redeclared_function_refuses_in_the_words_of_its_own_name() -> None:
    def newer(a: int, *, b: int = 1) -> tuple[int, int]:
        return a, b

    release._DECLARED["newer"] = "(a)"
    try:
        older = release.as_released(newer)
    finally:
        del release._DECLARED["newer"]
    assert older(2) == (2, 1)
    with pytest.raises(TypeError, match=r"newer\(\) got an unexpected keyword argument 'b'"):
        older(2, b=3)


def _frame() -> FrameType:
    frame = inspect.currentframe()
    assert frame is not None
    return frame


def test_code_of_no_file_has_no_module() -> None:
    scope: dict[str, Any] = {"inspect": inspect}
    for name, module in (("<case>", None), (__file__, sys.modules[__name__])):
        exec(compile("frame = inspect.currentframe()", name, "exec"), scope)
        assert library._module_of(scope["frame"]) is inspect.getmodule(scope["frame"]) is module
    assert library._module_of(_frame()) is sys.modules[__name__]
