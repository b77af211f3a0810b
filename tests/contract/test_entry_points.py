"""The project's entry points: the five points of the seeds' keyset design, as calls show them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import permutations, product
from typing import Any, Final

import pytest

import mindtorch_v2 as xp
from mindtorch_v2.binding.entry_points import dispatch, dispatch_with_keyset, redispatch
from mindtorch_v2.dispatch import DispatchKey, DispatchKeySet
from mindtorch_v2.dispatch.global_fallthrough import (
    DEFAULT,
    global_fallthrough_keys,
    set_global_fallthrough,
)
from mindtorch_v2.dispatch.kernel import fallthrough
from mindtorch_v2.dispatch.library import Library, python_kernel
from mindtorch_v2.dispatch.registry import register_alias
from mindtorch_v2.dispatch.tls import (
    ExcludeDispatchKeyGuard,
    IncludeDispatchKeyGuard,
    guarded,
)
from mindtorch_v2.schema.parser import parse_schema

K: Final = DispatchKey
NAME: Final = "contract::called"
ONE: Final = xp.ones(1)


class Operator:
    """An operator of one tensor whose kernels answer the key that they are registered at."""

    def __init__(self, library: Library) -> None:
        self.library = library

    def kernel(self, *keys: str) -> None:
        for key in keys:
            self.library.impl("called", python_kernel(lambda x, key=key: key), K[key])

    def fallthrough(self, *keys: str) -> None:
        for key in keys:
            self.library.impl("called", fallthrough(""), K[key])

    def on(self, key: str, function: Callable[..., Any]) -> None:
        """A kernel that gets the keyset."""
        self.library.impl("called", python_kernel(function, with_keyset=True), K[key])


@pytest.fixture
def operator() -> Iterator[Operator]:
    library = Library("FRAGMENT", "contract", None)
    library.define_schema(parse_schema("called(Tensor x) -> str"), "CONSERVATIVE")
    try:
        yield Operator(library)
    finally:
        library.reset()


def keyset(*names: str) -> DispatchKeySet:
    return DispatchKeySet.of(*(K[name] for name in names))


def called(*names: str) -> str:
    """Where a call with these keys goes."""
    answer: str = dispatch_with_keyset(NAME, keyset(*names), ONE)
    return answer


def included(*names: str) -> guarded:
    return guarded(IncludeDispatchKeyGuard, keyset(*names).mask)


def excluded(*names: str) -> guarded:
    return guarded(ExcludeDispatchKeyGuard, keyset(*names).mask)


ENTRY_POINTS: Final[dict[str, Callable[[], Any]]] = {
    "dispatch": lambda: dispatch(NAME, ONE),
    "dispatch_with_keyset": lambda: called("CPU"),
    "redispatch": lambda: redispatch(NAME, keyset("CPU"), ONE),
}
#: Keys at which a CPU tensor meets something else before its backend.
BEFORE: Final = ("AutogradCPU", "ADInplaceOrView", "BackendSelect")


# 1. Priority --------------------------------------------------------------------------------------


def test_pipeline_is_called_after_backend_select_and_before_every_backend(
    operator: Operator,
) -> None:
    backends = ("CPU", "NPU", "Meta", "PrivateUse1", "SparseCPU", "QuantizedNPU", "NestedTensorCPU")
    operator.kernel("BackendSelect", "Pipeline", *backends)
    for backend in backends:
        assert called(backend, "Pipeline") == "BackendSelect"
        with excluded("BackendSelect"):
            assert called(backend, "Pipeline") == "Pipeline"
            with excluded("Pipeline"):
                assert called(backend, "Pipeline") == backend


def test_what_stands_above_backend_select_is_called_before_it(operator: Operator) -> None:
    above = ["AutogradCPU", "ADInplaceOrView", "Functionalize", "Python"]
    operator.kernel(*above, "BackendSelect", "Pipeline", "CPU")
    order = [*above, "BackendSelect", "Pipeline", "CPU"]
    with included("Pipeline"):
        for position, key in enumerate(order):
            with excluded(*order[:position]):
                assert called(*order) == key


# 2. The thread's masks ----------------------------------------------------------------------------


@pytest.mark.parametrize("entry_point", ENTRY_POINTS)
def test_an_included_key_is_called_from_every_entry_point(
    operator: Operator, entry_point: str
) -> None:
    operator.kernel("CPU", "Pipeline")
    assert ENTRY_POINTS[entry_point]() == "CPU"
    with included("Pipeline"):
        assert ENTRY_POINTS[entry_point]() == "Pipeline"
    assert ENTRY_POINTS[entry_point]() == "CPU"


@pytest.mark.parametrize("entry_point", ENTRY_POINTS)
def test_an_excluded_key_is_called_from_none(operator: Operator, entry_point: str) -> None:
    operator.kernel("CPU", "Pipeline")
    with included("Pipeline"), excluded("Pipeline"):
        assert ENTRY_POINTS[entry_point]() == "CPU"
    with excluded("CPU"), pytest.raises(NotImplementedError, match="no fallback function"):
        ENTRY_POINTS[entry_point]()


@pytest.mark.parametrize("entry_point", ENTRY_POINTS)
def test_default_masks_apply(operator: Operator, entry_point: str) -> None:
    """BackendSelect and ADInplaceOrView are included by default, autocast is excluded."""
    operator.kernel("CPU", "BackendSelect", "AutocastCPU")
    assert ENTRY_POINTS[entry_point]() == "BackendSelect"


def test_a_kernel_that_calls_on_excludes_itself(operator: Operator) -> None:
    """Included, its key would be called for ever."""

    def below(keys: Any, x: Any) -> tuple[str, ...]:
        with excluded("BackendSelect"):
            return f"then {redispatch(NAME, keys, x)}"  # type: ignore[return-value]

    operator.on("BackendSelect", below)
    operator.kernel("CPU")
    assert dispatch(NAME, xp.ones(1)) == "then CPU"


def test_redispatch_of_torch_ops_knows_no_masks(operator: Operator) -> None:
    """There, as in torch, the keyset is all that counts."""
    operator.kernel("CPU", "Pipeline")
    overload = xp.ops.contract.called.default
    with included("Pipeline"):
        assert overload.redispatch(xp._C.DispatchKeySet(xp._C.DispatchKey.CPU), xp.ones(1)) == "CPU"


# 3. Global fallthrough ----------------------------------------------------------------------------

PRIVATE: Final = ("PrivateUse1", "PrivateUse2", "PrivateUse3")
COMPOSITE: Final = (
    "CompositeImplicitAutograd",
    "CompositeImplicitAutogradNestedTensor",
    "CompositeExplicitAutograd",
    "CompositeExplicitAutogradNonFunctional",
)


def test_private_and_composite_keys_fall_through_by_default() -> None:
    assert {K(key).name for key in DEFAULT} == {*PRIVATE, *COMPOSITE}
    assert global_fallthrough_keys() == DEFAULT


@pytest.mark.parametrize("backend", ["CPU", "NPU", "SparseCPU", "AutogradCPU"])
@pytest.mark.parametrize("name", [*PRIVATE, *COMPOSITE])
def test_a_key_that_falls_through_does_not_change_where_a_call_goes(
    operator: Operator, name: str, backend: str
) -> None:
    operator.kernel("CPU", "NPU", "SparseCPU", "AutogradCPU")
    assert called(backend, name) == called(backend) == backend
    with included(name):
        assert called(backend) == backend


@pytest.mark.parametrize("name", PRIVATE)
def test_a_kernel_at_such_a_key_is_called(operator: Operator, name: str) -> None:
    operator.kernel("CPU", name)
    assert called("CPU", name) == name
    assert called(name) == name


@pytest.mark.parametrize("name", COMPOSITE[2:])
def test_a_composite_kernel_serves_a_private_backend(operator: Operator, name: str) -> None:
    operator.kernel("CPU", name)
    assert called("PrivateUse1", "CPU") == name
    assert called("CPU") == "CPU"


def test_a_key_falls_through_as_long_as_it_is_in_the_set(operator: Operator) -> None:
    operator.kernel("CPU")
    undo = set_global_fallthrough(K.PrivateUse1, False)
    try:
        with pytest.raises(NotImplementedError, match="from the 'PrivateUse1' backend"):
            called("CPU", "PrivateUse1")
    finally:
        undo()
    assert called("CPU", "PrivateUse1") == "CPU"


def test_any_runtime_key_may_fall_through(operator: Operator) -> None:
    operator.kernel("CPU")
    with pytest.raises(NotImplementedError, match="from the 'QuantizedCPU' backend"):
        called("CPU", "QuantizedCPU")
    undo = set_global_fallthrough(K.QuantizedCPU)
    try:
        assert called("CPU", "QuantizedCPU") == "CPU"
    finally:
        undo()


def test_torch_ops_pass_over_no_such_key(operator: Operator) -> None:
    """There a fallthrough is registered, or the call is an error."""
    operator.kernel("CPU")
    with included("PrivateUse1"), pytest.raises(NotImplementedError, match="PrivateUse1' backend"):
        xp.ops.contract.called(xp.ones(1))


def test_alone_it_leaves_nothing_to_call(operator: Operator) -> None:
    operator.kernel("CPU")
    with pytest.raises(NotImplementedError, match="no fallback function is registered"):
        called("PrivateUse1")


# 4. CPU, NPU and Meta under masks -----------------------------------------------------------------

#: What is included, what excluded, and where a call with CPU, NPU and Meta tensors goes.
MIXED: Final = [
    ((), (), "Meta"),
    (("Pipeline",), (), "Pipeline"),
    (("Pipeline",), ("Pipeline",), "Meta"),
    (("AutogradNPU",), (), "AutogradMeta"),
    (("SparseCPU",), (), "SparseMeta"),
    (("PrivateUse1", "Pipeline"), ("Pipeline",), "Meta"),
]


@pytest.mark.parametrize(("put_in", "taken_out", "expected"), MIXED)
def test_a_call_with_several_backends_goes_one_way_in_whatever_order_they_come(
    operator: Operator, put_in: tuple[str, ...], taken_out: tuple[str, ...], expected: str
) -> None:
    operator.kernel("CPU", "NPU", "Meta", "Pipeline", "SparseMeta", "AutogradMeta")
    for backends in permutations(("CPU", "NPU", "Meta")):
        for order_in, order_out in product(permutations(put_in), permutations(taken_out)):
            with included(*order_in), excluded(*order_out):
                assert called(*backends) == expected


def test_meta_is_called_before_npu_and_npu_before_cpu(operator: Operator) -> None:
    operator.kernel("CPU", "NPU", "Meta")
    assert called("CPU", "NPU", "Meta") == called("CPU", "Meta") == "Meta"
    assert called("CPU", "NPU") == "NPU"
    assert called("CPU") == "CPU"


def test_an_error_names_the_key_that_is_left(operator: Operator) -> None:
    operator.kernel("CPU")
    with pytest.raises(NotImplementedError, match="from the 'NPU' backend"):
        called("CPU", "NPU")
    # without a pipeline's block, the fallback of its key only calls on below
    with included("Pipeline"), pytest.raises(NotImplementedError, match="from the 'NPU' backend"):
        called("CPU", "NPU")
    with pytest.raises(NotImplementedError) as refused:
        called("NPU")
    listed = str(refused.value).partition("only available for these backends: ")[2]
    assert listed.startswith("[CPU, Meta, BackendSelect, ")


# 5. Fallthrough and masks -------------------------------------------------------------------------


@pytest.mark.parametrize("entry_point", ENTRY_POINTS)
def test_what_falls_through_is_passed_over_under_masks_too(
    operator: Operator, entry_point: str
) -> None:
    operator.kernel("CPU")
    operator.fallthrough("Pipeline", "AutogradCPU", "BackendSelect")
    with included("Pipeline", "AutogradCPU"):
        assert ENTRY_POINTS[entry_point]() == "CPU"


def test_a_fallthrough_for_one_backend_leaves_the_others(operator: Operator) -> None:
    operator.kernel("AutogradCPU", "CPU", "NPU")
    operator.fallthrough("AutogradNPU")
    assert called("CPU", "AutogradCPU") == "AutogradCPU"
    assert called("NPU", "AutogradNPU") == "NPU"


def test_global_fallthrough_fallthrough_and_masks_together(operator: Operator) -> None:
    operator.kernel("CPU", "Functionalize")
    operator.fallthrough("Pipeline")
    with included("Pipeline", "PrivateUse1", "Functionalize"), excluded("Functionalize"):
        assert called("CPU") == "CPU"
    with included("Pipeline", "PrivateUse1", "Functionalize"):
        assert called("CPU") == "Functionalize"


def test_a_kernel_is_given_the_keys_that_are_left(operator: Operator) -> None:
    seen = []
    operator.on("CPU", lambda keys, x: seen.append(keys.mask) or "CPU")
    operator.fallthrough("AutogradCPU")
    with excluded("BackendSelect"):
        assert called("CPU", "AutogradCPU", "PrivateUse1") == "CPU"
    assert seen == [keyset("CPU").mask]


# Names --------------------------------------------------------------------------------------------


def test_arguments_bind_before_a_kernel_is_looked_for() -> None:
    with pytest.raises(RuntimeError, match="missing value for argument 'other'"):
        dispatch("aten::sub.Tensor", xp.ones(1))


@pytest.mark.parametrize("name", ["contract::nosuch", "contract::called.nosuch", "nosuch::called"])
def test_an_operator_that_is_not_there(operator: Operator, name: str) -> None:
    qualified, _, overload = name.partition(".")
    with pytest.raises(RuntimeError, match=f"^Could not find schema for {qualified}.{overload}$"):
        dispatch(name, xp.ones(1))


def test_the_error_of_an_alias_has_the_name_that_was_typed() -> None:
    undo = register_alias("aten::sample", "aten::poisson")
    try:
        with excluded("BackendSelect"), pytest.raises(NotImplementedError, match="aten::sample"):
            dispatch_with_keyset("aten::sample", keyset("QuantizedCPU"), xp.ones(1))
    finally:
        undo()


def test_a_name_needs_its_namespace() -> None:
    with pytest.raises(RuntimeError, match="all symbols must have a namespace"):
        dispatch("called", xp.ones(1))


@pytest.mark.parametrize("name", [NAME, f"{NAME}.default"])
def test_a_name_stands_for_its_overloads(operator: Operator, name: str) -> None:
    operator.kernel("CPU")
    assert dispatch(name, x=xp.ones(1)) == "CPU"
