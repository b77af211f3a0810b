"""Pipeline and the NPU keys among torch's own: in sets that mean "all keys", and in torch._C.

See the note "Extension keys in torch's complete sets" in mindtorch_v2/dispatch/keyset.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import and_, or_, sub
from typing import Any, Final, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindtorch_v2 import _C, profile
from mindtorch_v2.dispatch import PRIORITY, DispatchKey, DispatchKeySet
from mindtorch_v2.dispatch.key import EXTENSION_KEYS
from mindtorch_v2.dispatch.keyset import FULL, full_after, mask_of

FACTS: Final = profile.active().keys
C: Final[Any] = _C
K: Final = DispatchKey
TORCH_64: Final = (1 << 64) - 1

#: torch's functionalities from BackendSelect on: masks below them reach above Pipeline.
BACKEND_SELECT: Final = FACTS.functionality_keys.index("BackendSelect")
AT_OR_ABOVE: Final = FACTS.functionality_keys[BACKEND_SELECT:]
BELOW: Final = FACTS.functionality_keys[1:BACKEND_SELECT]
#: Keys that can be in a set, highest priority first.
RUNTIME: Final = [member.name for member in PRIORITY if mask_of(member)]
TORCHS: Final = [name for name in RUNTIME if name not in EXTENSION_KEYS]


def key(name: str) -> Any:
    """A key as torch._C binds it; some have a value there, and no name."""
    return C.DispatchKey.from_cpp(K[name])


def bound(*names: str) -> Any:
    """The set of some keys, as torch._C binds it."""
    return C.DispatchKeySet.from_mask(DispatchKeySet.of(*(K[name] for name in names)).mask)


def after(name: str) -> Any:
    """Every key below one."""
    return C._dispatch_keyset_full_after(key(name))


def names(keys: Any) -> list[str]:
    return [C._dispatch_key_name(member) for member in keys.iter_keys()]


#: A call on the NPU in pipeline mode, as far as its keys go.
NPU_CALL: Final = bound("NPU", "AutogradNPU", "ADInplaceOrView", "BackendSelect", "Pipeline")


# Masks ------------------------------------------------------------------------------------------


def test_the_full_set_keeps_every_extension_key() -> None:
    kept = C._dispatch_keyset_full() & NPU_CALL
    assert names(kept) == ["AutogradNPU", "ADInplaceOrView", "BackendSelect", "Pipeline", "NPU"]


def test_below_autograd_are_the_npu_and_pipeline() -> None:
    below = ["ADInplaceOrView", "BackendSelect", "Pipeline", "NPU"]
    assert names(after("AutogradOther") & NPU_CALL) == below
    assert names(after("AutogradNPU") & NPU_CALL) == below
    assert names(C._after_autograd_keyset & NPU_CALL) == below
    assert names(C._after_ADInplaceOrView_keyset & NPU_CALL) == below[1:]


@pytest.mark.parametrize("name", AT_OR_ABOVE)
def test_a_mask_that_reaches_above_pipeline_keeps_it_on_either_side(name: str) -> None:
    mask, keys = after(name), bound("Pipeline", "NPU")
    assert names(mask & keys) == names(keys & mask) == ["Pipeline", "NPU"]


@pytest.mark.parametrize("name", BELOW)
def test_a_mask_below_pipeline_drops_it(name: str) -> None:
    assert "Pipeline" not in names(after(name) & NPU_CALL)
    assert not after(name).has(C.DispatchKey.Pipeline)


def test_below_pipeline_is_what_is_below_backend_select_but_pipeline() -> None:
    """A Pipeline kernel that goes on with the keys below its own does not come back to itself."""
    assert names(after("Pipeline") & NPU_CALL) == ["NPU"]
    assert names(after("BackendSelect") & NPU_CALL) == ["Pipeline", "NPU"]
    assert repr(after("Pipeline")) == repr(after("BackendSelect"))


@pytest.mark.parametrize("name", RUNTIME)
def test_below_a_key_that_key_is_not(name: str) -> None:
    if name != "PythonDispatcher":  # which is never masked
        assert names(after(name) & bound(name)) == []


def test_the_npu_is_below_every_functionality_that_any_backend_is_below() -> None:
    for functionality, prefix in FACTS.per_backend.items():
        npu, model = f"{prefix}NPU", f"{prefix}PrivateUse1"
        for name in RUNTIME:
            kept = after(name).has(key(functionality))
            assert names(after(name) & bound(model)) == ([model] if kept else [])
            assert names(after(name) & bound(npu)) == ([npu] if kept else [])


def test_what_is_taken_from_the_full_set_is_gone_and_nothing_else() -> None:
    full = C._dispatch_keyset_full()
    call = names(NPU_CALL)
    without_pipeline = full - bound("Pipeline")
    assert names(without_pipeline & NPU_CALL) == [name for name in call if name != "Pipeline"]
    assert not without_pipeline.has(C.DispatchKey.Pipeline)
    assert names((full - bound("Dense")) & NPU_CALL) == [name for name in call if name != "NPU"]
    assert names((without_pipeline | bound("Pipeline")) & NPU_CALL) == call
    assert names((without_pipeline | full) & NPU_CALL) == call


def test_subtracting_a_mask_takes_the_extension_keys_it_holds() -> None:
    assert names(NPU_CALL - C._dispatch_keyset_full()) == []
    assert names(NPU_CALL - after("AutogradOther")) == ["AutogradNPU"]
    assert names(NPU_CALL - after("Pipeline")) == names(NPU_CALL - bound("NPU"))
    assert names(NPU_CALL - bound("CPU")) == names(NPU_CALL - bound("NPU"))


@pytest.mark.parametrize("name", EXTENSION_KEYS)
def test_the_full_set_has_every_extension_key(name: str) -> None:
    assert C._dispatch_keyset_full().has(key(name))
    assert not bound("CPU", "BackendSelect").has(key(name))


def test_a_mask_of_some_backends_drops_the_npu() -> None:
    assert names(bound("CPU", "CUDA", "PrivateUse1") & bound("NPU")) == []


@pytest.mark.skipif(not hasattr(C.DispatchKeySet, "from_raw_repr"), reason="not in this release")
def test_a_mask_made_of_its_raw_representation_is_the_same_mask() -> None:
    for mask in (C._dispatch_keyset_full(), after("AutogradOther"), after("CPU")):
        again = C.DispatchKeySet.from_raw_repr(mask.raw_repr())
        assert again == mask
        assert names(again & NPU_CALL) == names(mask & NPU_CALL)


# torch's sets show torch's keys -----------------------------------------------------------------


@pytest.mark.parametrize("name", [*FACTS.functionality_keys, *FACTS.members])
def test_torchs_masks_show_torchs_keys_alone(name: str) -> None:
    mask = full_after(K[name])
    assert_torchs_alone(mask)
    assert_torchs_alone(mask & ~mask_of(K.PythonDispatcher))


def test_the_full_set_shows_torchs_keys_alone() -> None:
    assert_torchs_alone(FULL)
    assert_torchs_alone(FULL & ~mask_of(K.PythonDispatcher))
    assert names(C._dispatch_keyset_full()) == TORCHS


def assert_torchs_alone(mask: int) -> None:
    keys = DispatchKeySet.from_mask(mask)
    torchs = DispatchKeySet.from_mask(mask & TORCH_64)
    assert repr(keys) == repr(torchs)
    assert keys.raw_repr() == torchs.raw_repr() == mask & TORCH_64
    assert list(keys.iter_keys()) == list(torchs.iter_keys())
    assert keys.highestPriorityTypeId() == torchs.highestPriorityTypeId()
    assert keys == torchs
    assert hash(keys) == hash(torchs)
    assert not {member.name for member in keys.iter_keys()} & EXTENSION_KEYS.keys()


def test_a_union_that_makes_up_the_full_set_equals_it() -> None:
    assert DispatchKeySet.of(*(K[name] for name in TORCHS)) == DispatchKeySet.from_mask(FULL)


# The algebra of masks, against a model ----------------------------------------------------------


class Model(NamedTuple):
    """What a set shows, as torch's 64 bits and two truths, and whether it holds Pipeline."""

    raw: int
    npu: bool
    pipeline: bool
    holds_pipeline: bool

    @property
    def holds_npu(self) -> bool:
        backends = (1 << len(FACTS.backends)) - 1
        return self.npu or self.raw & backends == backends

    @classmethod
    def of(cls, names: Iterable[str]) -> Model:
        raw, pipeline = 0, "Pipeline" in names
        for name in names:
            raw |= mask_of(K[name]) & TORCH_64
        return cls(raw, any(name.endswith("NPU") for name in names), pipeline, pipeline)

    @classmethod
    def after(cls, name: str) -> Model:
        reaches = RUNTIME.index(name) < RUNTIME.index("Pipeline")
        return cls(full_after(K[name]) & TORCH_64, False, False, reaches)

    def union(self, other: Model) -> Model:
        return Model(
            self.raw | other.raw,
            self.npu or other.npu,
            self.pipeline or other.pipeline,
            self.holds_pipeline or other.holds_pipeline,
        )

    def intersection(self, other: Model) -> Model:
        holds_pipeline = self.holds_pipeline and other.holds_pipeline
        return Model(
            self.raw & other.raw,
            (self.npu or other.npu) and self.holds_npu and other.holds_npu,
            (self.pipeline or other.pipeline) and holds_pipeline,
            holds_pipeline,
        )

    def difference(self, other: Model) -> Model:
        backends = (1 << len(FACTS.backends)) - 1
        return Model(
            self.raw & (backends | ~other.raw),
            self.npu,
            self.pipeline and not other.holds_pipeline,
            self.holds_pipeline and not other.holds_pipeline,
        )


Pair = tuple[DispatchKeySet, Model]
OPERATIONS: Final = [(or_, Model.union), (and_, Model.intersection), (sub, Model.difference)]


def of_keys(names: list[str]) -> Pair:
    return DispatchKeySet.of(*(K[name] for name in names)), Model.of(names)


def of_mask(name: str) -> Pair:
    return DispatchKeySet.from_mask(full_after(K[name])), Model.after(name)


def full_set() -> Pair:
    return DispatchKeySet.from_mask(FULL), Model(FULL & TORCH_64, False, False, True)


@st.composite
def combined(draw: st.DrawFn, one: st.SearchStrategy[Pair]) -> Pair:
    operate, of_model = draw(st.sampled_from(OPERATIONS))
    (left, left_model), (right, right_model) = draw(one), draw(one)
    return operate(left, right), of_model(left_model, right_model)


def expressions(keys: Iterable[str], masks: Iterable[str]) -> st.SearchStrategy[Pair]:
    leaf = st.one_of(
        st.lists(st.sampled_from(sorted(keys)), max_size=5).map(of_keys),
        st.sampled_from(sorted(masks)).map(of_mask),
        st.builds(full_set),
    )
    return st.recursive(leaf, lambda one: combined(one), max_leaves=6)


@given(expressions(RUNTIME, RUNTIME))
def test_sets_with_extension_keys_agree_with_a_model(drawn: Pair) -> None:
    keys, model = drawn
    assert keys.raw_repr() == model.raw
    assert keys.has(K.Pipeline) is model.holds_pipeline
    shown = {member.name for member in keys.iter_keys()}
    assert ("Pipeline" in shown) is model.pipeline
    assert keys.has(K.SparseNPU) is (keys.has(K.Sparse) and model.holds_npu)
    if keys.has(K.Sparse):
        assert ("SparseNPU" in shown) is model.npu


@given(expressions(TORCHS, TORCHS))
def test_a_set_without_extension_keys_never_grows_one(drawn: Pair) -> None:
    keys, _ = drawn
    assert not {member.name for member in keys.iter_keys()} & EXTENSION_KEYS.keys()
    assert keys == DispatchKeySet.from_mask(keys.raw_repr())
    assert keys.highestPriorityTypeId() <= 0xFFFF


# Where dispatch goes ----------------------------------------------------------------------------


@pytest.mark.parametrize("extension", EXTENSION_KEYS)
def test_an_extension_key_mixed_with_another_goes_where_priority_says(extension: str) -> None:
    for other in RUNTIME:
        both = DispatchKeySet.of(K[extension], K[other])
        members = [name for name in RUNTIME if both.has(K[name])]
        assert {extension, other} <= set(members)
        assert both.highestPriorityTypeId() == K[members[0]]


@pytest.mark.parametrize("name", AT_OR_ABOVE)
def test_pipeline_is_under_backend_select_and_all_above_it(name: str) -> None:
    expected = "AutogradCPU" if name == "AutogradFunctionality" else name
    assert bound("Pipeline", "CPU", name).highestPriorityTypeId() == key(expected)


@pytest.mark.parametrize("name", BELOW)
@pytest.mark.parametrize("backend", ["CPU", "NPU", "Meta"])
def test_pipeline_is_over_dense_and_all_beside_it(name: str, backend: str) -> None:
    keys = bound("Pipeline", backend, name)
    assert keys.highestPriorityTypeId() == C.DispatchKey.Pipeline
    assert (keys - bound("Pipeline")).highestPriorityTypeId() != C.DispatchKey.Pipeline


@pytest.mark.parametrize("functionality", FACTS.per_backend)
def test_meta_is_over_npu_and_npu_over_every_other_backend(functionality: str) -> None:
    prefix = FACTS.per_backend[functionality]
    npu = prefix + "NPU"
    for backend in FACTS.backends:
        other = prefix + backend
        first = other if backend == "Meta" else npu
        assert bound(npu, other).highestPriorityTypeId() == key(first)
    order = [prefix + backend for backend in ("Meta", "NPU", "PrivateUse3")]
    assert names(bound(*order)) == order


# torch._C ---------------------------------------------------------------------------------------


def test_the_members_of_the_enum_are_torchs() -> None:
    members = C.DispatchKey.__members__
    assert list(members) == list(FACTS.members)
    assert {name: member.value for name, member in members.items()} == FACTS.members
    assert members.keys().isdisjoint(EXTENSION_KEYS)


@pytest.mark.parametrize(("name", "value"), EXTENSION_KEYS.items())
def test_an_extension_key_is_an_attribute_with_a_name(name: str, value: int) -> None:
    found = getattr(C.DispatchKey, name)
    assert (found.name, found.value, int(found)) == (name, value, value)
    assert repr(found) == f"<DispatchKey.{name}: {value}>"
    assert str(found) == f"DispatchKey.{name}"
    assert found == key(name)
    assert C._dispatch_key_name(found) == name
    assert C._dispatch_key_parse(name) == C._parse_dispatch_key(name) == found
    assert not C._dispatch_is_alias_key(found)


@pytest.mark.parametrize("name", EXTENSION_KEYS)
def test_every_operation_of_a_bound_set_takes_an_extension_key(name: str) -> None:
    ours, cpu = getattr(C.DispatchKey, name), bound("CPU")
    one, both = C.DispatchKeySet(ours), cpu.add(ours)
    assert names(one) == [name]
    assert repr(one) == C._dispatch_keyset_to_string(one) == f"DispatchKeySet({name})"
    assert one.highestPriorityTypeId() == ours
    assert (one.has(ours), cpu.has(ours)) == (True, False)
    assert both.mask == (cpu | one).mask == DispatchKeySet.of(K.CPU, K[name]).mask
    assert both.remove(ours).mask == (both - one).mask == both.without([ours]).mask
    assert not both.remove(ours).has(ours)
    assert names(one & both) == [name]
    assert C.DispatchKeySet(name).mask == one.mask


def test_functions_of_keys_know_the_npu() -> None:
    assert C._to_functionality_key(key("AutogradNPU")) == key("AutogradFunctionality")
    assert C._to_functionality_key(key("Pipeline")) == key("Pipeline")
    assert names(C._dispatch_get_backend_keyset_from_autograd(key("AutogradNPU"))) == ["NPU"]
    assert C._dispatch_key_for_device("npu") == "NPU"
    assert C._dispatch_num_backends() == len(FACTS.backends)


@pytest.mark.parametrize("alias", FACTS.alias_keys)
def test_an_alias_includes_the_npus_keys_as_it_includes_privateuse1s(alias: str) -> None:
    for prefix in FACTS.per_backend.values():
        npu, model = key(f"{prefix}NPU"), key(f"{prefix}PrivateUse1")
        included = C._dispatch_is_included_in_alias(npu, key(alias))
        assert included is C._dispatch_is_included_in_alias(model, key(alias))
    assert not C._dispatch_is_included_in_alias(key("Pipeline"), key(alias))


@pytest.mark.parametrize("name", EXTENSION_KEYS)
def test_thread_local_sets_take_an_extension_key(name: str) -> None:
    for what in ("included", "excluded"):
        ask = getattr(C, f"_dispatch_tls_is_dispatch_key_{what}")
        put = getattr(C, f"_dispatch_tls_set_dispatch_key_{what}")
        assert not ask(name)
        put(name, True)
        assert ask(name)
        put(name, False)
        assert not ask(name)
    with C._IncludeDispatchKeyGuard(key(name)):
        assert name in names(C._dispatch_tls_local_include_set())
    with C._ExcludeDispatchKeyGuard(bound(name)):
        assert name in names(C._dispatch_tls_local_exclude_set())


def test_values_of_extension_keys_make_no_key_of_torch() -> None:
    """The constructor takes what fits torch's 16 bits, as torch's does."""
    with pytest.raises(TypeError, match="incompatible constructor arguments"):
        C.DispatchKey(EXTENSION_KEYS["NPU"])
