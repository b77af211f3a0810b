"""Keysets: one integer, torch's set operations, keys in priority order.

Sets here are made of single keys.  What becomes of extension keys in torch's complete sets is said
in test_extension_keys.py.
"""

from __future__ import annotations

from operator import and_, or_, sub
from typing import Any, Final, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindtorch_v2 import _C, profile
from mindtorch_v2.dispatch import PRIORITY, DispatchKey, DispatchKeySet
from mindtorch_v2.dispatch.keyset import functionality_bit, mask_of

FACTS: Final = profile.active().keys
K: Final = DispatchKey
BACKENDS: Final = frozenset({*FACTS.backends, "NPU"})


def keyset(*names: str) -> DispatchKeySet:
    return DispatchKeySet.of(*(K[name] for name in names))


def names(keys: DispatchKeySet) -> list[str]:
    return [key.name for key in keys.iter_keys()]


def bound(keys: DispatchKeySet) -> Any:
    """The same set as torch._C binds it."""
    return _C.DispatchKeySet.from_mask(keys.mask)


# A model: which functionalities, which backends -------------------------------------------------


class Model(NamedTuple):
    """A keyset as two sets of names, with the operations as torch's notes describe them."""

    functionalities: frozenset[str] = frozenset()
    backends: frozenset[str] = frozenset()

    def union(self, other: Model) -> Model:
        return Model(self.functionalities | other.functionalities, self.backends | other.backends)

    def intersection(self, other: Model) -> Model:
        both = self.backends | other.backends
        return Model(
            self.functionalities & other.functionalities,
            self.all_backends(both) & other.all_backends(both),
        )

    def difference(self, other: Model) -> Model:
        """Functionalities are taken away, backends stay."""
        return Model(self.functionalities - other.functionalities, self.backends)

    def all_backends(self, among: frozenset[str]) -> frozenset[str]:
        """The backends; a set with every backend of torch has NPU too, where there is one."""
        complete = self.backends >= set(FACTS.backends)
        return self.backends | ({"NPU"} & among if complete else frozenset())

    def has(self, other: Model) -> bool:
        backends = self.all_backends(BACKENDS)
        return other.functionalities <= self.functionalities and other.backends <= backends

    def mask(self) -> int:
        bits = [functionality_bit(K[name]) for name in self.functionalities]
        bits += [mask_of(K[name]) & ~functionality_bit(K.Dense) for name in self.backends]
        return sum(bits)


def models() -> dict[str, Model]:
    """The model of the set of each key, by the key's name."""
    found = {name: Model() for name in ("Undefined", *FACTS.alias_keys)}
    for name in ("Pipeline", "EndOfFunctionalityKeys", *FACTS.functionality_keys[1:]):
        found[name] = Model(frozenset({name}))
    for functionality, prefix in FACTS.per_backend.items():
        found[f"StartOf{functionality}Backends"] = Model(frozenset({functionality}))
        for backend in BACKENDS:
            found[prefix + backend] = Model(frozenset({functionality}), frozenset({backend}))
    return found


MODELS: Final = models()
RUNTIME: Final = {key.name: MODELS[key.name] for key in PRIORITY if MODELS[key.name] != Model()}
OPERATIONS: Final = [(or_, Model.union), (and_, Model.intersection), (sub, Model.difference)]

#: A set and its model.
Pair = tuple[DispatchKeySet, Model]


def pair(name: str) -> Pair:
    return keyset(name), MODELS[name]


@st.composite
def combined(draw: st.DrawFn, one: st.SearchStrategy[Pair]) -> Pair:
    operate, of_model = draw(st.sampled_from(OPERATIONS))
    (left, left_model), (right, right_model) = draw(one), draw(one)
    return operate(left, right), of_model(left_model, right_model)


def unions(names: list[str]) -> Pair:
    model = Model()
    for name in names:
        model = model.union(MODELS[name])
    return keyset(*names), model


#: Sets of any keys, and what comes of them under the three operations.
keysets: Final = st.recursive(
    st.lists(st.sampled_from(sorted(MODELS)), max_size=20).map(unions), combined, max_leaves=5
)
#: Sets of keys that can have a kernel.
runtime_keysets: Final = st.lists(st.sampled_from(sorted(RUNTIME)), max_size=12).map(unions)


def expected_keys(model: Model) -> list[str]:
    """PRIORITY, filtered by the model."""
    return [
        key.name
        for key in PRIORITY
        if MODELS[key.name] != Model()
        and MODELS[key.name].functionalities <= model.functionalities
        and MODELS[key.name].backends <= model.backends
    ]


# Construction -----------------------------------------------------------------------------------


def test_every_key_has_a_model() -> None:
    assert MODELS.keys() == K.__members__.keys() - {
        name for name in K.__members__ if K[name].name != name
    }


@pytest.mark.parametrize("name", sorted(MODELS))
def test_the_set_of_one_key_is_its_functionality_and_its_backend(name: str) -> None:
    assert DispatchKeySet(K[name]).mask == MODELS[name].mask()


def test_a_set_is_an_integer() -> None:
    """The issue's own picture: backends from bit 0, functionalities above them."""
    dense = 1 << len(FACTS.backends)
    assert type(keyset("CPU").mask) is int
    assert keyset("CPU").mask == dense | 0b1
    assert keyset("CUDA").mask == dense | 0b10
    assert keyset("Dense").mask == dense
    assert keyset("CPU", "CUDA").mask == dense | 0b11


def test_a_functionality_alone_has_no_backend() -> None:
    assert names(keyset("AutogradFunctionality")) == []
    assert (
        keyset("AutogradFunctionality").highestPriorityTypeId()
        == K["StartOfAutogradFunctionalityBackends"]
    )


def test_a_runtime_key_is_its_functionality_with_its_backend() -> None:
    assert keyset("CUDA") == keyset("Dense") | (keyset("CUDA") - keyset("Dense"))
    assert keyset("SparseCUDA") | keyset("AutogradCPU") == keyset(
        "SparseCPU", "AutogradCUDA", "SparseCUDA"
    )


@pytest.mark.parametrize("name", ["Undefined", *FACTS.alias_keys])
def test_undefined_and_alias_keys_make_the_empty_set(name: str) -> None:
    assert keyset(name) == DispatchKeySet() == DispatchKeySet(K.Undefined)
    assert keyset(name).mask == 0
    assert repr(keyset(name)) == "DispatchKeySet()"


def test_a_set_is_made_of_an_integer_that_is_a_keys_value() -> None:
    assert DispatchKeySet(int(K.CUDA)) == keyset("CUDA")
    with pytest.raises(TypeError):
        DispatchKeySet("CUDA")  # type: ignore[arg-type]


# Operations -------------------------------------------------------------------------------------


@given(keysets)
def test_operations_agree_with_a_model_of_two_sets(drawn: Pair) -> None:
    keys, model = drawn
    assert keys.mask == model.mask()


@given(keysets, st.sampled_from(sorted(MODELS)))
def test_single_key_operations_are_operations_with_the_set_of_that_key(
    drawn: Pair, name: str
) -> None:
    keys, model = drawn
    key, of_key = K[name], MODELS[name]
    assert keys.add(key).mask == model.union(of_key).mask()
    assert keys.remove(key).mask == model.difference(of_key).mask()
    assert keys.has(key) is model.has(of_key)


@given(keysets, st.lists(st.sampled_from(sorted(MODELS)), max_size=5))
def test_without_takes_away_all_of_the_keys(drawn: Pair, taken: list[str]) -> None:
    keys, model = drawn
    expected = model.difference(unions(taken)[1]).mask()
    assert keys.without(keyset(*taken)).mask == expected
    assert keys.without(K[name] for name in taken).mask == expected


def test_subtraction_leaves_backends() -> None:
    """``DispatchKeySet(AutogradCUDA) - DispatchKeySet(AutogradCUDA)`` keeps the CUDA bit."""
    rest = keyset("AutogradCUDA") - keyset("AutogradCUDA")
    assert rest.mask == 0b10
    assert names(rest) == []
    assert names(rest | keyset("Dense")) == ["CUDA"]
    assert keyset("AutogradCUDA").remove(K.AutogradCPU) == rest
    assert keyset("CPU", "AutogradCPU") - keyset("AutogradCPU") == keyset("CPU")
    assert keyset("CPU") - keyset("AutogradCPU") == keyset("CPU")


def test_subtraction_takes_a_functionality_from_every_backend() -> None:
    assert names(keyset("SparseCPU", "SparseCUDA", "CPU") - keyset("SparseHIP")) == ["CUDA", "CPU"]


def test_union_joins_functionalities_with_all_backends() -> None:
    joined = keyset("AutogradCPU") | keyset("CUDA")
    assert names(joined) == ["AutogradCUDA", "AutogradCPU", "CUDA", "CPU"]


def test_a_set_has_what_its_bits_make_up() -> None:
    keys = keyset("AutogradCPU", "CUDA")
    assert keys.has(K.CPU)
    assert keys.has(K.AutogradCUDA)
    assert keys.has(K.Dense)
    assert not keys.has(K.SparseCPU)
    assert not keys.has(K.Meta)


@pytest.mark.parametrize("name", ["Undefined", *FACTS.alias_keys])
def test_every_set_has_the_keys_without_bits(name: str) -> None:
    assert DispatchKeySet().has(K[name])


# Values -----------------------------------------------------------------------------------------


@given(keysets, keysets)
def test_sets_are_equal_exactly_if_their_keys_are(one: Pair, other: Pair) -> None:
    assert (one[0] == other[0]) is (one[1] == other[1])
    assert (one[0] != other[0]) is (one[1] != other[1])
    if one[0] == other[0]:
        assert hash(one[0]) == hash(other[0])


def test_a_set_equals_no_integer_and_no_name() -> None:
    assert keyset("CPU") != keyset("CPU").mask
    assert keyset("CPU") != "CPU"


def test_sets_serve_as_keys_of_a_dict() -> None:
    assert {keyset("CPU", "CUDA"): "both"}[keyset("CUDA") | keyset("CPU")] == "both"


@given(keysets, keysets, st.sampled_from(sorted(MODELS)))
def test_operations_change_none_of_their_operands(one: Pair, other: Pair, name: str) -> None:
    (left, _), (right, _) = one, other
    before = left.mask, right.mask
    for operate, _ in OPERATIONS:
        operate(left, right)
    for change in (left.add, left.remove, left.has):
        change(K[name])
    left.without(right)
    list(left.iter_keys())
    assert (left.mask, right.mask) == before


@pytest.mark.parametrize("keys", [keyset("CPU"), bound(keyset("CPU"))], ids=["ours", "bound"])
def test_the_mask_of_a_set_cannot_be_changed(keys: Any) -> None:
    before = keys.mask
    with pytest.raises(AttributeError):
        keys.mask = 0
    with pytest.raises(AttributeError):
        keys.other = 0
    assert keys.mask == before


# Order ------------------------------------------------------------------------------------------


@given(keysets)
def test_iter_keys_is_priority_filtered_by_the_set(drawn: Pair) -> None:
    keys, model = drawn
    assert names(keys) == expected_keys(model)
    assert all(isinstance(key, DispatchKey) for key in keys.iter_keys())


@given(runtime_keysets)
def test_the_first_of_iter_keys_is_where_dispatch_goes(drawn: Pair) -> None:
    keys, _ = drawn
    first = next(keys.iter_keys(), K.Undefined)
    assert keys.highestPriorityTypeId() == first


@pytest.mark.parametrize("name", sorted(RUNTIME))
def test_a_set_of_one_runtime_key_dispatches_to_it(name: str) -> None:
    assert names(keyset(name)) == [name]
    assert keyset(name).highestPriorityTypeId() == K[name]


def test_a_set_without_functionalities_dispatches_nowhere() -> None:
    assert DispatchKeySet().highestPriorityTypeId() == K.Undefined
    assert (keyset("CPU") - keyset("CPU")).highestPriorityTypeId() == K.Undefined
    assert list(DispatchKeySet().iter_keys()) == []


def test_a_tensors_keys_come_in_the_order_in_which_they_are_handled() -> None:
    """The seeds' example: a CUDA tensor that requires a gradient, with what TLS includes."""
    keys = keyset("CUDA", "AutogradCUDA", "ADInplaceOrView", "BackendSelect")
    assert names(keys) == ["AutogradCUDA", "ADInplaceOrView", "BackendSelect", "CUDA"]


@given(runtime_keysets)
def test_the_text_names_the_keys_from_the_last_to_the_first(drawn: Pair) -> None:
    keys, model = drawn
    assert repr(keys) == f"DispatchKeySet({', '.join(reversed(expected_keys(model)))})"


# The same sets as torch._C binds them -----------------------------------------------------------


@given(keysets, keysets, st.sampled_from(sorted(MODELS)))
def test_the_bound_class_has_the_same_operations(one: Pair, other: Pair, name: str) -> None:
    (left, _), (right, _) = one, other
    bound_left, bound_right, bound_key = bound(left), bound(right), _C.DispatchKey.from_cpp(K[name])
    for operate, _ in OPERATIONS:
        assert operate(bound_left, bound_right).mask == operate(left, right).mask
    assert bound_left.add(bound_key).mask == left.add(K[name]).mask
    assert bound_left.remove(bound_key).mask == left.remove(K[name]).mask
    assert bound_left.has(bound_key) is left.has(K[name])
    assert bound_left.without([bound_key]).mask == left.without([K[name]]).mask
    assert bound_left.without(bound_right).mask == left.without(right).mask
    assert bound_left.highestPriorityTypeId().value == left.highestPriorityTypeId()
    assert [key.value for key in bound_left.iter_keys()] == list(left.iter_keys())
