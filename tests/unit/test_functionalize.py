"""Functionalization: which operators have a functional form, and what a wrapper keeps."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

import mindtorch_v2 as torch
from mindtorch_v2 import profile
from mindtorch_v2.dispatch.dispatcher import DISPATCHER
from mindtorch_v2.dispatch.forms import INPLACE, MUTABLE, OUT, form_of
from mindtorch_v2.functionalize import by_hand, layers
from mindtorch_v2.functionalize.facts import mixed_mutation
from mindtorch_v2.functionalize.inverses import INVERSES
from mindtorch_v2.functionalize.storage import FunctionalStorageImpl
from mindtorch_v2.functionalize.wrapper import is_functional, wrapper_of
from mindtorch_v2.schema.function_schema import FunctionSchema
from tests.other_profiles import once_per_other_profile, run_again

OPERATORS = profile.active().registrations["operators"]

WITHOUT_KERNEL = {
    "aten::_cudnn_attention_forward_no_dropout_inplace": "is called behind a custom operator",
    "aten::_cummax_helper": "changes what should be out=",
    "aten::_cummin_helper": "changes what should be out=",
    "aten::_fill_mem_eff_dropout_mask_": "is for tests of torch alone",
    "aten::_flash_attention_forward_no_dropout_inplace": "is called behind a custom operator",
    "aten::_slow_conv2d_backward.grad_input": "is not grouped with its functional form",
    "aten::adaptive_avg_pool3d_backward.grad_input": "is not grouped with its functional form",
    "aten::lift.out": "belongs to lift, which makes functional tensors",
    "aten::polygamma_": "has another order of arguments than polygamma",
    "aten::record_stream": "changes no values",
    "aten::resize.out": "belongs to resize_, which is a view or a change",
    "aten::set.source_Tensor_out": "belongs to set_, which shares a storage",
}
"""Mutating operators that torch does not functionalize, and why."""


def mutating() -> list[str]:
    """Every operator of the release whose schema marks a change."""
    found = []
    for name in OPERATORS:
        entry = DISPATCHER.find(name) if name.startswith("aten::") else None
        if entry is None or entry.schema is None:
            continue
        if any(argument.is_write for argument in entry.schema.schema.arguments):
            found.append(name)
    return found


def schema_of(name: str) -> FunctionSchema:
    entry = DISPATCHER.find(name)
    assert entry is not None
    assert entry.schema is not None
    return entry.schema.schema


def keys_of(name: str) -> set[str]:
    return {kernel[0] for kernel in OPERATORS[name]["kernels"]}


MUTATING = mutating()


def test_there_are_as_many_mutating_operators_as_torch_has() -> None:
    assert len(MUTATING) > 1400


def test_every_mutating_operator_has_a_functional_form_or_a_reason() -> None:
    """Those with a kernel at Functionalize have a form or are written by hand; of the others some
    are made of other operators, and the rest is torch's own list."""
    formless = {
        name
        for name in MUTATING
        if "Functionalize" in keys_of(name)
        and "CompositeImplicitAutograd" not in keys_of(name)
        and form_of(name) is None
        and name not in by_hand.KERNELS
    }
    assert formless == set()


def test_what_torch_does_not_functionalize_is_its_own_list() -> None:
    left = {
        name
        for name in MUTATING
        if not keys_of(name) & {"Functionalize", "CompositeImplicitAutograd"}
    }
    assert left == {name for name in WITHOUT_KERNEL if name in OPERATORS}


SEEN: Mapping[str, str] = profile.active().functionalization["forms"]
"""By mutating operator, what torch was seen to call in its stead."""

NOT_SEEN = {
    "aten::adaptive_avg_pool1d.out": "of a size for each of its dimensions",
    "aten::adaptive_avg_pool3d.out": "of a size for each of its dimensions",
    "aten::avg_pool1d.out": "of a size for each of its dimensions",
    "aten::upsample_bilinear2d.vec_out": "of a size or a scale, and not of both",
    "aten::upsample_nearest2d.vec_out": "of a size or a scale, and not of both",
    "aten::conj_physical.out": "whose functional form is made of none for real numbers",
    "aten::conj_physical_": "whose functional form is made of none for real numbers",
    "aten::rename_": "of names, for which torch takes no string from here",
    "aten::squeeze_.dimname": "of names, for which torch takes no string from here",
    "aten::set_.source_Tensor": "which calls nothing",
    "aten::shallow_copy_data_": "which calls nothing",
}
"""Operators with a kernel at Functionalize that were not seen to call anything, and why."""


def test_torch_was_seen_to_functionalize_every_operator_that_it_has_a_kernel_for() -> None:
    functionalized = {name for name in MUTATING if "Functionalize" in keys_of(name)}
    assert len(SEEN) > 1200
    assert functionalized - set(SEEN) <= set(NOT_SEEN)
    assert set(SEEN) <= functionalized


def test_a_functional_form_is_what_torch_calls() -> None:
    """Of forms that are no composite of others, which are seen in the parts they are made of."""
    forms = {name: form.functional for name in SEEN if (form := form_of(name)) is not None}
    seen = {
        name: SEEN[name]
        for name, functional in forms.items()
        if "CompositeImplicitAutograd" not in keys_of(functional)
    }
    assert len(seen) > 1100
    assert seen == {name: forms[name] for name in seen}


def test_what_is_seen_without_a_form_is_written_by_hand_or_a_composite() -> None:
    formless = {name for name in SEEN if form_of(name) is None}
    composite = {name for name in formless if "CompositeImplicitAutograd" in keys_of(name)}
    assert formless - composite <= set(by_hand.KERNELS)


def test_every_operator_that_may_mix_tensors_knows_where_torch_refuses_it() -> None:
    """torch names the line of the kernel, and each kernel has its own."""
    mixing = [
        name
        for name in MUTATING
        if "Functionalize" in keys_of(name)
        and name not in by_hand.KERNELS
        and any(
            "Tensor" in str(argument.type) and not argument.is_write
            for argument in schema_of(name).arguments
        )
    ]
    assert len(mixing) > 900
    places = {mixed_mutation(name) for name in mixing}
    assert len(places) == len(mixing)


@pytest.mark.parametrize(
    ("name", "functional", "kind"),
    [
        ("aten::add_.Tensor", "aten::add.Tensor", INPLACE),
        ("aten::add.out", "aten::add.Tensor", OUT),
        ("aten::__ilshift__.Scalar", "aten::__lshift__.Scalar", INPLACE),
        ("aten::normal_", "aten::normal_functional", INPLACE),
        ("aten::arange.start_out", "aten::arange.start_step", OUT),
        ("aten::empty_like.out", "aten::empty_like", OUT),
        ("aten::_native_batch_norm_legit", "aten::_native_batch_norm_legit_functional", MUTABLE),
        ("aten::transpose_", "aten::transpose.int", INPLACE),
        ("aten::_foreach_add_.Scalar", "aten::_foreach_add.Scalar", INPLACE),
        ("aten::max.dim_max", "aten::max.dim", OUT),
    ],
)
def test_a_form_is_found_by_what_a_call_passes(name: str, functional: str, kind: str) -> None:
    assert form_of(name) == (functional, kind)


@pytest.mark.parametrize("name", ["aten::add.Tensor", "aten::polygamma_", "aten::record_stream"])
def test_what_changes_nothing_or_has_no_form_has_none(name: str) -> None:
    assert form_of(name) is None


def test_every_view_operator_has_an_inverse_or_is_not_dense() -> None:
    """Sparse and nested tensors, and forward mode, are not functionalized in torch either."""
    views = profile.active().derivatives["views"]
    wanted = {
        name
        for name in views
        if name in OPERATORS
        and "Functionalize" in keys_of(name)
        and "CompositeImplicitAutograd" not in keys_of(name)
        and form_of(name) is None
    }
    words = ("indices", "values", "sparse", "nested", "fw_primal", "make_dual", "_test_", "inverse")
    missing = {
        name
        for name in wanted - INVERSES.keys() - by_hand.KERNELS.keys()
        if not any(word in name for word in words)
    }
    assert missing == set()


# --- wrappers -------------------------------------------------------------------------------------


def test_a_change_is_queued_and_reaches_the_base_when_it_is_asked_for() -> None:
    base = torch._to_functional_tensor(torch.zeros(4))
    view = base[2:]
    view.add_(1)
    storage: FunctionalStorageImpl = wrapper_of(base).storage
    assert wrapper_of(view).storage is storage
    assert storage.base.tolist() == [0, 0, 1, 1]  # in-place kernels sync what they have changed
    assert wrapper_of(base).value.tolist() == [0, 0, 0, 0]
    torch._sync(base)
    assert torch._from_functional_tensor(base).tolist() == [0, 0, 1, 1]


def test_what_is_wrapped_does_not_change() -> None:
    plain = torch.zeros(2)
    functional = torch._to_functional_tensor(plain)
    functional.add_(1)
    assert plain.tolist() == [0, 0]
    assert torch._from_functional_tensor(functional).tolist() == [1, 1]


def test_data_that_is_set_is_that_of_the_other_tensor_and_its_storage() -> None:
    one, other = (torch._to_functional_tensor(torch.zeros(size)) for size in (2, 3))
    one.data = other
    one.add_(1)
    torch._sync(other)
    assert torch._from_functional_tensor(other).tolist() == [1, 1, 1]


def test_the_storage_of_a_functional_tensor_has_a_size_and_nothing_to_read() -> None:
    storage = torch._to_functional_tensor(torch.zeros(2)).untyped_storage()
    assert storage.nbytes() == 8
    with pytest.raises(RuntimeError, match="its data is not allocated yet"):
        storage[0]
    with pytest.raises(RuntimeError, match=r"fill_\(\) on an invalid python storage"):
        storage.fill_(0)


def test_a_storage_counts_the_tensors_that_have_it() -> None:
    base = torch._to_functional_tensor(torch.zeros(2))
    storage = wrapper_of(base).storage
    assert storage.use_count() == 1
    view = base.view(1, 2)
    assert storage.use_count() == 2
    del view
    assert storage.use_count() == 1


def test_a_frozen_storage_refuses_changes() -> None:
    base = torch._to_functional_tensor(torch.zeros(2))
    torch._freeze_functional_tensor(base)
    with pytest.raises(RuntimeError, match="cannot mutate tensors with frozen storage"):
        base.add_(1)


# --- the transform --------------------------------------------------------------------------------


@pytest.mark.parametrize("remove", ["mutations", "mutations_and_views"])
def test_a_transformed_function_changes_its_argument_as_the_function_does(remove: str) -> None:
    def change(x: torch.Tensor) -> torch.Tensor:
        x[1].mul_(3)
        return x + 1

    plain, transformed = torch.ones(2, 2), torch.ones(2, 2)
    expected = change(plain)
    found = torch.func.functionalize(change, remove=remove)(transformed)
    assert found.tolist() == expected.tolist()
    assert transformed.tolist() == plain.tolist()
    assert transformed._version == 1  # one copy, however many changes
    assert not is_functional(found)


def test_a_failing_function_leaves_no_transform_behind() -> None:
    before = str(torch._C._dispatch_tls_local_include_set())

    def fail(x: torch.Tensor) -> None:
        x.add_(1)
        raise ValueError("no")

    x = torch.zeros(2)
    with pytest.raises(ValueError, match="no"):
        torch.func.functionalize(fail)(x)
    assert layers.maybe_current_level() is None
    assert str(torch._C._dispatch_tls_local_include_set()) == before
    assert x.tolist() == [0, 0]


def test_an_argument_that_would_grow_is_refused_and_nothing_has_changed() -> None:
    x = torch.zeros(2)
    with pytest.raises(RuntimeError, match="broadcast"):
        torch.func.functionalize(lambda x: x.add_(torch.ones(3, 2)))(x)
    assert (x.tolist(), x._version) == ([0, 0], 0)


@once_per_other_profile
def test_all_of_it_holds_for_the_other_releases(other: str) -> None:
    run_again(__file__, other)
