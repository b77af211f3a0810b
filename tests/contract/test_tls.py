"""Thread-local include and exclude sets: defaults, masking, guards.  Each test starts afresh."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from itertools import permutations, product
from typing import Any, Final, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

import mindtorch_v2 as xp
from mindtorch_v2 import _C, profile
from mindtorch_v2.dispatch import PRIORITY, DispatchKey, DispatchKeySet
from mindtorch_v2.dispatch.local_sets import DEFAULT
from mindtorch_v2.dispatch.tls import (
    DEFAULT_EXCLUDED,
    DEFAULT_INCLUDED,
    ExcludeDispatchKeyGuard,
    ForceDispatchKeyGuard,
    IncludeDispatchKeyGuard,
    InferenceModeGuard,
    PythonDispatcherGuard,
    RawLocalDispatchKeySet,
    SetExcludeDispatchKeyGuard,
    apply_masks,
    guarded,
    is_dispatch_key_excluded,
    is_dispatch_key_included,
    is_inference_mode_enabled,
    is_meta_in_tls_included,
    local_dispatch_key_set,
    set_dispatch_key_excluded,
    set_dispatch_key_included,
    set_meta_in_tls_included,
)

FACTS: Final = profile.active().keys
C: Final[Any] = _C
K: Final = DispatchKey
T = TypeVar("T")

NAMES: Final = [key.name for key in PRIORITY if DispatchKeySet(key).mask]
AUTOCAST: Final = [name for name in FACTS.functionality_keys if name.startswith("Autocast")]
AUTOGRAD: Final = ["AutogradFunctionality", "AutogradOther", "AutogradNestedTensor"]


def mask(*names: str) -> int:
    return DispatchKeySet.of(*(K[name] for name in names)).mask


def sets() -> tuple[int, int]:
    raw = local_dispatch_key_set()
    return raw.included, raw.excluded


DEFAULTS: Final = (mask("BackendSelect", "ADInplaceOrView"), mask(*AUTOCAST))


def effective(*names: str) -> list[str]:
    """The keys that dispatch would go to, one after the other."""
    keys = DispatchKeySet.from_mask(apply_masks(mask(*names)))
    return [key.name for key in keys.iter_keys()]


def in_thread(work: Callable[[], T]) -> T:
    results: list[T] = []
    thread = threading.Thread(target=lambda: results.append(work()))
    thread.start()
    thread.join()
    return results[0]


# Storage ----------------------------------------------------------------------------------------


def test_included_are_backend_select_and_inplace_or_view_by_default() -> None:
    assert sets()[0] == mask("BackendSelect", "ADInplaceOrView") == DEFAULT_INCLUDED


def test_excluded_are_the_autocast_keys_by_default() -> None:
    assert sets()[1] == mask(*AUTOCAST) == DEFAULT_EXCLUDED
    assert "AutocastCPU" in AUTOCAST


def test_storage_starts_with_the_defaults() -> None:
    fresh = RawLocalDispatchKeySet()
    assert fresh.sets is DEFAULT
    assert (fresh.included, fresh.excluded) == DEFAULTS


@given(st.integers(0, (1 << 66) - 1), st.integers(0, (1 << 66) - 1))
def test_the_same_sets_are_the_same_value(included: int, excluded: int) -> None:
    raw = RawLocalDispatchKeySet()
    raw.included, raw.excluded = included, excluded
    assert (raw.included, raw.excluded) == (included, excluded)
    other = RawLocalDispatchKeySet()
    other.excluded, other.included = excluded, included
    assert other.sets is raw.sets
    raw.included, raw.excluded = DEFAULTS
    assert raw.sets is DEFAULT


def test_every_thread_has_its_own_storage_and_starts_from_the_defaults() -> None:
    with guarded(ExcludeDispatchKeyGuard, mask("CPU")):
        set_dispatch_key_included(K.Python, True)
        assert in_thread(sets) == DEFAULTS
        before = sets()
        in_thread(lambda: set_dispatch_key_included(K.Functionalize, True))
        assert sets() == before
        assert in_thread(local_dispatch_key_set) is not local_dispatch_key_set()


# Masking ----------------------------------------------------------------------------------------


@given(
    st.lists(st.sampled_from(NAMES), max_size=6),
    st.lists(st.sampled_from(NAMES), max_size=6),
    st.lists(st.sampled_from(NAMES), max_size=6),
)
def test_the_effective_set_is_base_with_included_without_excluded(
    base: list[str], included: list[str], excluded: list[str]
) -> None:
    keys, more, less = (
        DispatchKeySet.of(*map(K.__getitem__, n)) for n in (base, included, excluded)
    )
    with guarded(ForceDispatchKeyGuard, more.mask, less.mask):
        assert DispatchKeySet.from_mask(apply_masks(keys.mask)) == (keys | more) - less


def test_by_default_a_cpu_tensor_meets_inplace_or_view_and_backend_select() -> None:
    assert effective("CPU", "AutogradCPU", "AutocastCPU") == [
        "AutogradCPU",
        "ADInplaceOrView",
        "BackendSelect",
        "CPU",
    ]


#: What is included, what excluded, and where a call with CPU, NPU and Meta tensors then goes.
MIXED: Final = [
    ([], [], ["BackendSelect", "Meta", "NPU", "CPU"]),
    (["Pipeline"], [], ["BackendSelect", "Pipeline", "Meta", "NPU", "CPU"]),
    (["Pipeline"], ["BackendSelect"], ["Pipeline", "Meta", "NPU", "CPU"]),
    (["Pipeline"], ["Pipeline"], ["BackendSelect", "Meta", "NPU", "CPU"]),
    (
        ["AutogradNPU"],
        ["BackendSelect"],
        ["AutogradMeta", "AutogradNPU", "AutogradCPU", "Meta", "NPU", "CPU"],
    ),
    (["Functionalize"], ["BackendSelect"], ["Functionalize", "Meta", "NPU", "CPU"]),
    (["Python"], [], ["Python", "BackendSelect", "Meta", "NPU", "CPU"]),
    ([], ["CPU"], ["BackendSelect"]),
    ([], ["NPU"], ["BackendSelect"]),
    ([], ["Meta", "BackendSelect"], []),
    (["SparseCPU"], ["Dense", "BackendSelect"], ["SparseMeta", "SparseNPU", "SparseCPU"]),
]


@pytest.mark.parametrize(("included", "excluded", "expected"), MIXED)
def test_cpu_npu_and_meta_under_masks_go_one_way_in_whatever_order_they_come(
    included: list[str], excluded: list[str], expected: list[str]
) -> None:
    """An excluded backend key takes its functionality from every backend, as in torch."""
    for backends in permutations(["CPU", "NPU", "Meta"]):
        orders = product(permutations(included), permutations(excluded))
        for order_in, order_out in orders:
            with guarded(ExcludeDispatchKeyGuard, mask("ADInplaceOrView")):
                for name in order_out:
                    set_dispatch_key_excluded(K[name], True)
                with guarded(IncludeDispatchKeyGuard, mask(*order_in)):
                    assert effective(*backends) == expected
            for name in order_out:
                set_dispatch_key_excluded(K[name], False)


@pytest.mark.parametrize("backend", ["CPU", "NPU", "Meta"])
def test_a_single_backend_under_pipeline_mode_reaches_pipeline_first(backend: str) -> None:
    """Design decision 4: what stands above BackendSelect is masked, Pipeline is included."""
    above = mask(*AUTOGRAD, "ADInplaceOrView", "Functionalize", "BackendSelect")
    keys = (backend, f"Autograd{backend}", "Functionalize")
    with (
        guarded(IncludeDispatchKeyGuard, mask("Pipeline")),
        guarded(ExcludeDispatchKeyGuard, above),
    ):
        assert effective(*keys) == ["Pipeline", backend]
    assert effective(*keys) == [
        f"Autograd{backend}",
        "ADInplaceOrView",
        "Functionalize",
        "BackendSelect",
        backend,
    ]


# Single keys ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_key_is_put_in_and_taken_out(name: str) -> None:
    for ask, put, which in (
        (is_dispatch_key_included, set_dispatch_key_included, 0),
        (is_dispatch_key_excluded, set_dispatch_key_excluded, 1),
    ):
        put(K[name], False)
        found = sets()[which]
        assert not ask(K[name])
        put(K[name], True)
        assert ask(K[name])
        assert sets()[which] == found | mask(name)
        put(K[name], False)
        assert not ask(K[name])


def test_taking_a_key_out_leaves_its_backend() -> None:
    set_dispatch_key_included(K.CUDA, True)
    set_dispatch_key_included(K.CUDA, False)
    assert sets() == (DEFAULTS[0] | 0b10, DEFAULTS[1])


def test_a_key_without_bits_is_in_every_set() -> None:
    assert is_dispatch_key_included(K.CompositeImplicitAutograd)
    assert is_dispatch_key_excluded(K.Undefined)


def test_meta_comes_and_goes_by_its_backend_bit() -> None:
    assert not is_meta_in_tls_included()
    set_meta_in_tls_included(True)
    assert is_meta_in_tls_included()
    assert effective("CPU") == ["ADInplaceOrView", "BackendSelect", "Meta", "CPU"]
    set_meta_in_tls_included(False)
    assert not is_meta_in_tls_included()
    assert sets()[0] == DEFAULTS[0] | mask("Dense")


# Guards -----------------------------------------------------------------------------------------

#: How to make a guard of every kind, and what both sets are while it is open.
GUARDS: Final[dict[str, tuple[Any, tuple[Any, ...], tuple[int, int]]]] = {
    "include": (
        IncludeDispatchKeyGuard,
        (mask("Python", "Functionalize"),),
        (DEFAULTS[0] | mask("Python", "Functionalize"), DEFAULTS[1]),
    ),
    "exclude": (
        ExcludeDispatchKeyGuard,
        (mask(*AUTOGRAD),),
        (DEFAULTS[0], DEFAULTS[1] | mask(*AUTOGRAD)),
    ),
    "force": (ForceDispatchKeyGuard, (mask("CPU"), mask("Meta")), (mask("CPU"), mask("Meta"))),
    "force empty sets": (ForceDispatchKeyGuard, (0, 0), (0, 0)),
    "only preserve": (ForceDispatchKeyGuard, (), DEFAULTS),
    "exclude one key": (
        SetExcludeDispatchKeyGuard,
        (K.Python, True),
        (DEFAULTS[0], DEFAULTS[1] | mask("Python")),
    ),
    "no longer exclude one key": (
        SetExcludeDispatchKeyGuard,
        (K.AutocastCPU, False),
        (DEFAULTS[0], mask(*AUTOCAST) & ~mask("AutocastCPU")),
    ),
    "python dispatcher": (
        PythonDispatcherGuard,
        (True,),
        (DEFAULTS[0] | mask("PythonDispatcher"), DEFAULTS[1]),
    ),
    "inference mode": (
        InferenceModeGuard,
        (True,),
        (mask("BackendSelect"), DEFAULTS[1] | mask(*AUTOGRAD)),
    ),
    "no inference mode": (InferenceModeGuard, (False,), DEFAULTS),
}
every_guard = pytest.mark.parametrize("kind", GUARDS)


@every_guard
def test_a_guard_acts_when_it_is_made_and_is_undone_when_it_closes(kind: str) -> None:
    make, arguments, inside = GUARDS[kind]
    guard = make(*arguments)
    assert sets() == inside
    guard.close()
    assert sets() == DEFAULTS


@every_guard
def test_a_block_is_undone_when_an_exception_leaves_it(kind: str) -> None:
    make, arguments, inside = GUARDS[kind]

    def fail() -> None:
        with guarded(make, *arguments):
            assert sets() == inside
            raise ValueError("inside")

    with pytest.raises(ValueError, match="inside"):
        fail()
    assert sets() == DEFAULTS


@pytest.mark.parametrize(("outer", "inner"), list(product(GUARDS, GUARDS)))
def test_guards_nest(outer: str, inner: str) -> None:
    with guarded(GUARDS[outer][0], *GUARDS[outer][1]):
        between = sets()
        with guarded(GUARDS[inner][0], *GUARDS[inner][1]):
            pass
        assert sets() == between
    assert sets() == DEFAULTS


@every_guard
def test_a_guard_changes_no_other_thread(kind: str) -> None:
    make, arguments, inside = GUARDS[kind]
    with guarded(make, *arguments):
        assert in_thread(sets) == DEFAULTS
        assert sets() == inside

    def in_another() -> tuple[int, int]:
        with guarded(make, *arguments):
            return sets()

    assert in_thread(in_another) == inside
    assert sets() == DEFAULTS


def test_one_guarded_object_serves_several_blocks_and_blocks_within() -> None:
    without_cpu = guarded(ExcludeDispatchKeyGuard, mask("CPU"))
    for _ in range(2):
        with without_cpu, without_cpu:
            assert is_dispatch_key_excluded(K.CPU)
        assert not is_dispatch_key_excluded(K.CPU)


def test_a_generator_that_is_closed_inside_a_block_undoes_it() -> None:
    def inside() -> Iterator[int]:
        with guarded(ForceDispatchKeyGuard, 0, 0):
            yield 1

    running = inside()
    next(running)
    assert sets() == (0, 0)
    running.close()  # type: ignore[attr-defined]
    assert sets() == DEFAULTS


def test_a_key_that_was_there_before_stays_when_the_guard_closes() -> None:
    set_dispatch_key_included(K.Python, True)
    with guarded(IncludeDispatchKeyGuard, mask("Python", "Functionalize")):
        pass
    assert sets()[0] == DEFAULTS[0] | mask("Python")


#: True of a release whose closing guard puts back the set it found; an older one takes out what
#: it had brought, functionalities only.
RESTORES: Final = {"2.4": False, "2.13": True}


def test_the_profile_says_how_guards_close() -> None:
    name = profile.active().name
    assert FACTS.guards_restore_sets is RESTORES.get(name, FACTS.guards_restore_sets)


@pytest.mark.parametrize("guard", [IncludeDispatchKeyGuard, ExcludeDispatchKeyGuard])
def test_guards_that_close_in_the_order_in_which_they_were_made(guard: Any) -> None:
    """Misnested: the set that is left depends on the release."""
    which = 0 if guard is IncludeDispatchKeyGuard else 1
    first, second = guard(mask("Python")), guard(mask("Functionalize"))
    first.close()
    left = sets()[which]
    second.close()
    end = sets()[which]
    if FACTS.guards_restore_sets:
        assert left == DEFAULTS[which]
        assert end == DEFAULTS[which] | mask("Python")
    else:
        assert left == DEFAULTS[which] | mask("Functionalize")
        assert end == DEFAULTS[which]


@pytest.mark.parametrize("guard", [IncludeDispatchKeyGuard, ExcludeDispatchKeyGuard])
def test_a_key_that_is_put_in_while_a_guard_is_open(guard: Any) -> None:
    which, put = {
        IncludeDispatchKeyGuard: (0, set_dispatch_key_included),
        ExcludeDispatchKeyGuard: (1, set_dispatch_key_excluded),
    }[guard]
    with guarded(guard, mask("Python")):
        put(K.Functionalize, True)
    kept = 0 if FACTS.guards_restore_sets else mask("Functionalize")
    assert sets()[which] == DEFAULTS[which] | kept


@pytest.mark.parametrize("guard", [IncludeDispatchKeyGuard, ExcludeDispatchKeyGuard])
def test_the_backend_bit_that_a_guard_brought(guard: Any) -> None:
    """An older release leaves it: subtraction takes functionalities alone."""
    which = 0 if guard is IncludeDispatchKeyGuard else 1
    with guarded(guard, mask("AutogradCUDA")):
        assert sets()[which] == DEFAULTS[which] | mask("AutogradCUDA")
    assert sets()[which] == DEFAULTS[which] | (0 if FACTS.guards_restore_sets else 0b10)


def test_a_force_guard_puts_back_both_sets_whatever_happened_meanwhile() -> None:
    set_dispatch_key_included(K.Python, True)
    found = sets()
    with guarded(ForceDispatchKeyGuard, mask("CPU"), 0):
        set_dispatch_key_included(K.Functionalize, True)
        set_dispatch_key_excluded(K.CPU, True)
        IncludeDispatchKeyGuard(mask("Tracer"))
    assert sets() == found


def test_a_guard_that_another_thread_closes_changes_the_thread_that_made_it() -> None:
    guard = ExcludeDispatchKeyGuard(mask("Python"))
    in_thread(guard.close)
    assert sets() == DEFAULTS


def test_a_force_guard_that_another_thread_closes_changes_that_thread() -> None:
    guard = ForceDispatchKeyGuard(mask("CPU"), 0)

    def closed() -> tuple[int, int]:
        set_dispatch_key_included(K.Python, True)
        guard.close()
        return sets()

    assert in_thread(closed) == DEFAULTS
    assert sets() == (mask("CPU"), 0)


def test_inference_mode_is_on_inside_and_may_be_off_again_within() -> None:
    assert not is_inference_mode_enabled()
    with xp.inference_mode():
        assert is_inference_mode_enabled()
        assert effective("CPU", "AutogradCPU", "ADInplaceOrView") == [
            "ADInplaceOrView",
            "BackendSelect",
            "CPU",
        ]
        with xp.inference_mode(False):
            assert not is_inference_mode_enabled()
            assert sets() == DEFAULTS
        assert is_inference_mode_enabled()
        assert not in_thread(is_inference_mode_enabled)
    assert not is_inference_mode_enabled()
    assert sets() == DEFAULTS


# torch._C ---------------------------------------------------------------------------------------


def test_the_names_of_torch_act_on_the_same_sets() -> None:
    assert C._dispatch_tls_local_include_set().mask == sets()[0]
    assert C._dispatch_tls_local_exclude_set().mask == sets()[1]
    with C._IncludeDispatchKeyGuard(C.DispatchKey.Python):
        assert is_dispatch_key_included(K.Python)
        with C._ExcludeDispatchKeyGuard(C.DispatchKeySet(C.DispatchKey.Functionalize)):
            assert is_dispatch_key_excluded(K.Functionalize)
            with C._ForceDispatchKeyGuard(
                C.DispatchKeySet(C.DispatchKey.CPU), C.DispatchKeySet(C.DispatchKey.Meta)
            ):
                assert sets() == (mask("CPU"), mask("Meta"))
    assert sets() == DEFAULTS


def test_the_older_kind_of_guard_acts_from_construction_to_its_end() -> None:
    guard = C.ExcludeDispatchKeyGuard(C.DispatchKeySet(C.DispatchKey.Python))
    assert is_dispatch_key_excluded(K.Python)
    del guard
    assert sets() == DEFAULTS


def test_the_newer_kind_of_guard_acts_from_entry_to_exit() -> None:
    guard = C._ExcludeDispatchKeyGuard(C.DispatchKeySet(C.DispatchKey.Python))
    assert sets() == DEFAULTS
    with guard:
        assert is_dispatch_key_excluded(K.Python)
    assert sets() == DEFAULTS


@pytest.mark.parametrize(
    ("name", "excluded"),
    [
        ("_AutoDispatchBelowAutograd", AUTOGRAD),
        ("_AutoDispatchBelowADInplaceOrView", [*AUTOGRAD, "ADInplaceOrView"]),
        ("_DisableTorchDispatch", ["Python", "PythonTLSSnapshot"]),
    ],
)
def test_guards_with_a_purpose_exclude_its_keys(name: str, excluded: list[str]) -> None:
    with getattr(C, name)():
        assert sets()[1] & mask(*excluded) == mask(*excluded)
        assert sets()[0] == DEFAULTS[0]
    assert sets() == DEFAULTS
