"""The loader of profiles, and what must hold of the key facts of every release."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from mindtorch_v2 import profile
from mindtorch_v2.binding.python.signature import parse_signature
from mindtorch_v2.profile.kept import facts_of

DATA = Path(profile.__file__).parent / "data"
SECTIONS = ("bindings", "derivatives", "schemas", "signatures", "registrations")
MASK_64 = (1 << 64) - 1
ENOUGH_BYTES = 1_000_000


@pytest.fixture(params=profile.known())
def facts(request: pytest.FixtureRequest) -> profile.KeyFacts:
    return profile.load(request.param).keys


def run_python(code: str, **environment: str) -> str:
    """What a fresh interpreter prints for ``code``."""
    variables = {k: v for k, v in os.environ.items() if k != profile.ENVIRONMENT}
    path = os.pathsep.join(filter(None, [str(DATA.parents[2]), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**variables, "PYTHONPATH": path, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip() if done.returncode == 0 else done.stderr.strip()


# Choosing a profile -----------------------------------------------------------------------------


def test_known_profiles_are_in_version_order_and_hold_the_default() -> None:
    names = profile.known()
    assert profile.DEFAULT in names
    assert names.index("2.4") < names.index("2.13")


@pytest.mark.parametrize("section", ["neural", "kernels", "library", "refs", "values", "training"])
def test_every_release_was_asked_for_every_habit(section: str) -> None:
    """A rule that goes by one is a KeyError where it is not known."""
    asked = {name: {*getattr(profile.load(name), section)["habits"]} for name in profile.known()}
    everything = set().union(*asked.values())
    assert {
        name: everything - habits for name, habits in asked.items() if everything != habits
    } == {}


def test_a_full_version_names_the_profile_of_its_major_and_minor() -> None:
    assert profile.load("2.4.1") is profile.load("2.4")
    assert profile.load("2.4").name == "2.4"
    assert profile.load("2.4").release == "2.4.1"


@pytest.mark.parametrize(
    "name", ["2.99", "2", "", "latest", "2.4x", "../data/2.4", "2.4.", "2.4\n"]
)
def test_an_unknown_name_is_refused_with_what_to_do(name: str) -> None:
    with pytest.raises(profile.UnknownProfileError) as caught:
        profile.load(name)
    message = str(caught.value)
    assert isinstance(caught.value, ValueError)
    assert repr(name) in message
    assert ", ".join(profile.known()) in message
    assert profile.ENVIRONMENT in message
    assert "python -m conformance.extract" in message


ACTIVE = "from mindtorch_v2 import profile; print(profile.active().release)"


@pytest.mark.parametrize(
    ("environment", "release"),
    [
        ({}, "2.4.1"),
        ({profile.ENVIRONMENT: ""}, "2.4.1"),
        ({profile.ENVIRONMENT: "2.13"}, "2.13.0"),
        ({profile.ENVIRONMENT: "2.4.0"}, "2.4.1"),
    ],
)
def test_the_environment_chooses_the_active_profile(
    environment: dict[str, str], release: str
) -> None:
    assert run_python(ACTIVE, **environment) == release


def test_an_unknown_active_profile_is_an_error_that_names_it() -> None:
    said = run_python(ACTIVE, **{profile.ENVIRONMENT: "9.9"})
    assert "UnknownProfileError: unknown profile '9.9'" in said


def test_the_active_profile_is_fixed_at_first_use() -> None:
    code = f"""
import os
from mindtorch_v2 import profile
first = profile.active()
os.environ[{profile.ENVIRONMENT!r}] = "2.13"
print(profile.active() is first)
"""
    assert run_python(code) == "True"


# Reading files ----------------------------------------------------------------------------------


def test_loading_opens_keys_json_alone() -> None:
    """And what is kept of it."""
    code = """
import sys
from mindtorch_v2 import profile
opened = []
sys.addaudithook(lambda event, args: event == "open" and opened.append(str(args[0])))
profile.load("2.13")
print({path.rsplit("/", 1)[-1].split(".")[0] for path in opened if "/data/2.13/" in path})
"""
    assert run_python(code) == "{'keys'}"


def test_a_section_is_read_once_when_first_asked_for() -> None:
    stored = profile.load("2.13")
    assert stored.schemas is stored.schemas


@pytest.fixture
def copied_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A profile whose files a test may damage."""
    shutil.copytree(DATA / "2.4", tmp_path / "2.4")
    monkeypatch.setattr(profile, "_DATA", tmp_path)
    profile._load.cache_clear()
    yield tmp_path / "2.4"
    profile._load.cache_clear()


@pytest.mark.parametrize(
    "text", ["", "[]", "{", "{}", '{"release": "2.4.1"}', "null", '"\\ud800"', "\x00"]
)
def test_a_damaged_keys_json_is_named_and_explained(copied_data: Path, text: str) -> None:
    path = copied_data / "keys.json"
    path.write_text(text)
    with pytest.raises(profile.ProfileError) as caught:
        profile.load("2.4")
    assert str(path) in str(caught.value)
    assert "python -m conformance.extract" in str(caught.value)


@pytest.mark.parametrize("section", SECTIONS)
def test_a_truncated_section_is_named_and_explained(copied_data: Path, section: str) -> None:
    path = copied_data / f"{section}.json.xz"
    path.write_bytes(path.read_bytes()[:-100])
    loaded = profile.load("2.4")
    with pytest.raises(profile.ProfileError) as caught:
        getattr(loaded, section)
    assert str(path) in str(caught.value)
    assert "restore it from version control" in str(caught.value)


def test_a_section_of_other_bytes_or_none_is_named_too(copied_data: Path) -> None:
    path = copied_data / "schemas.json.xz"
    loaded = profile.load("2.4")
    path.write_bytes(b"not xz")
    with pytest.raises(profile.ProfileError, match="schemas"):
        _ = loaded.schemas
    path.unlink()
    with pytest.raises(profile.ProfileError, match="schemas"):
        _ = loaded.schemas


def test_a_damaged_section_leaves_the_others_readable(copied_data: Path) -> None:
    (copied_data / "schemas.json.xz").write_bytes(b"")
    assert profile.load("2.4").bindings["functions"]


@pytest.mark.parametrize("name", profile.known())
def test_a_profile_is_small(name: str) -> None:
    sizes = {path.name: path.stat().st_size for path in (DATA / name).iterdir()}
    assert sizes.keys() >= {"keys.json", *(f"{section}.json.xz" for section in SECTIONS)}
    assert sum(sizes.values()) < ENOUGH_BYTES


# Facts about keys -------------------------------------------------------------------------------


def functionality_bit(facts: profile.KeyFacts, name: str) -> int:
    value = facts.functionality_keys.index(name)
    return 1 << (len(facts.backends) + value - 1)


def start_of(facts: profile.KeyFacts, functionality: str) -> int:
    return facts.members[f"StartOf{functionality}Backends"]


def test_functionalities_run_from_undefined_to_python_dispatcher(facts: profile.KeyFacts) -> None:
    names = facts.functionality_keys
    assert (names[0], names[1], names[-1]) == ("Undefined", "Dense", "PythonDispatcher")
    assert len(set(names)) == len(names)


def test_bits_are_unique_and_fit_in_64(facts: profile.KeyFacts) -> None:
    assert len(set(facts.backends)) == len(facts.backends)
    assert functionality_bit(facts, "Dense") == 1 << len(facts.backends)
    assert functionality_bit(facts, "PythonDispatcher") <= MASK_64


def test_torch_orders_functionalities_as_the_design_says(facts: profile.KeyFacts) -> None:
    order = ["BackendSelect", "Python", "Functionalize", "ADInplaceOrView", "AutogradFunctionality"]
    values = [facts.functionality_keys.index(name) for name in order]
    assert values == sorted(values)
    assert facts.backends[-1] == "Meta"


def test_blocks_follow_the_functionalities_without_gap(facts: profile.KeyFacts) -> None:
    block = len(facts.backends) + 1
    first = len(facts.functionality_keys) + 1  # after EndOfFunctionalityKeys
    starts = [start_of(facts, functionality) for functionality in facts.per_backend]
    assert starts == [first + block * index for index in range(len(starts))]


def test_runtime_keys_stand_in_their_block_by_backend(facts: profile.KeyFacts) -> None:
    for functionality, prefix in facts.per_backend.items():
        assert functionality in facts.functionality_keys
        for index, backend in enumerate(facts.backends):
            value = facts.members[prefix + backend]
            assert value == start_of(facts, functionality) + index + 1


def test_alias_keys_stand_above_every_runtime_key(facts: profile.KeyFacts) -> None:
    values = list(facts.alias_keys.values())
    last_runtime = facts.members["EndOfAutogradFunctionalityBackends"]
    assert values == list(range(last_runtime + 1, last_runtime + 1 + len(values)))


def test_names_mean_the_same_key_wherever_they_stand(facts: profile.KeyFacts) -> None:
    values = dict(facts.members)
    for other in (
        facts.parse,
        facts.alias_keys,
        {name: value for value, name in enumerate(facts.functionality_keys)},
    ):
        for name, value in other.items():
            assert values.setdefault(name, value) == value


def test_every_parsed_name_is_a_runtime_or_alias_key(facts: profile.KeyFacts) -> None:
    last = max(facts.alias_keys.values())
    assert all(0 <= value <= last for value in facts.parse.values())
    assert facts.parse.keys() >= facts.alias_keys.keys()


def test_alias_members_are_ascending_and_without_undefined(facts: profile.KeyFacts) -> None:
    assert facts.alias_members.keys() == facts.alias_keys.keys()
    for members in facts.alias_members.values():
        assert list(members) == sorted(set(members))
        assert 0 < members[0] <= members[-1] <= max(facts.alias_keys.values())


def test_composite_implicit_is_composite_explicit_and_autograd_and_more(
    facts: profile.KeyFacts,
) -> None:
    members = {alias: set(values) for alias, values in facts.alias_members.items()}
    implicit = members["CompositeImplicitAutograd"]
    assert implicit > members["CompositeExplicitAutograd"] | members["Autograd"]
    assert members["CompositeExplicitAutograd"] > members["CompositeExplicitAutogradNonFunctional"]


def test_keysets_have_only_bits_of_keys(facts: profile.KeyFacts) -> None:
    full = 2 * functionality_bit(facts, "PythonDispatcher") - 1
    keysets = [facts.default_included, facts.default_excluded]
    keysets += [*facts.constants.values(), *facts.autograd_backends.values()]
    for guard in facts.guards.values():
        keysets += [guard.included_added, guard.included_removed]
        keysets += [guard.excluded_added, guard.excluded_removed]
    assert all(0 <= keyset <= full for keyset in keysets)


def test_default_thread_local_sets(facts: profile.KeyFacts) -> None:
    bit = {name: functionality_bit(facts, name) for name in facts.functionality_keys[1:]}
    assert facts.default_included == bit["BackendSelect"] | bit["ADInplaceOrView"]
    assert facts.default_excluded == sum(
        value for name, value in bit.items() if name.startswith("Autocast")
    )


def test_keysets_after_a_key_are_all_below_it_and_the_python_dispatcher(
    facts: profile.KeyFacts,
) -> None:
    python_dispatcher = functionality_bit(facts, "PythonDispatcher")
    for constant, key in (
        ("_after_autograd_keyset", "AutogradOther"),
        ("_after_ADInplaceOrView_keyset", "ADInplaceOrView"),
    ):
        below = functionality_bit(facts, key) - 1
        assert facts.constants[constant] == below | python_dispatcher


def test_autograd_backends_of_a_backend_key_are_that_backend(facts: profile.KeyFacts) -> None:
    dense = functionality_bit(facts, "Dense")
    for backend, key in facts.autograd_key_of_backend.items():
        if key in facts.autograd_backends:
            assert facts.autograd_backends[key] == dense | 1 << facts.backends.index(backend)


def test_keys_of_backends_exist(facts: profile.KeyFacts) -> None:
    for table, prefix in (
        (facts.autograd_key_of_backend, "Autograd"),
        (facts.autocast_key_of_backend, "Autocast"),
    ):
        assert table
        for backend, key in table.items():
            assert backend in facts.backends
            assert key == prefix + backend


def test_guards_below_autograd_exclude_the_autograd_keys(facts: profile.KeyFacts) -> None:
    autograd = sum(
        functionality_bit(facts, name)
        for name in ("AutogradFunctionality", "AutogradOther", "AutogradNestedTensor")
    )
    below = facts.guards["_AutoDispatchBelowAutograd"]
    lower = facts.guards["_AutoDispatchBelowADInplaceOrView"]
    assert below.excluded_added == autograd
    assert lower.excluded_added == autograd | functionality_bit(facts, "ADInplaceOrView")
    assert below.at == "init"
    assert lower.at == "enter"


def test_a_guard_acts_exactly_if_it_says_when(facts: profile.KeyFacts) -> None:
    for guard in facts.guards.values():
        acts = any(
            (
                guard.included_added,
                guard.included_removed,
                guard.excluded_added,
                guard.excluded_removed,
                guard.error,
            )
        )
        assert (guard.at in ("init", "enter")) if acts else guard.at is None


def test_every_device_has_a_key_or_an_error(facts: profile.KeyFacts) -> None:
    assert tuple(facts.device_keys) == facts.devices
    for found in facts.device_keys.values():
        assert (found.key is None) != (found.error is None)
        assert found.key is None or found.key in {*facts.functionality_keys, *facts.members}
    assert facts.device_keys["cpu"].key == "CPU"
    assert facts.device_keys["privateuseone"].key == "PrivateUse1"


# Facts in the other sections --------------------------------------------------------------------


@pytest.fixture(params=profile.known())
def stored(request: pytest.FixtureRequest) -> profile.Profile:
    return profile.load(request.param)


def operator_names(stored: profile.Profile) -> list[str]:
    return [schema.partition("(")[0] for schema in stored.schemas["schemas"]]


def test_every_operator_has_one_schema(stored: profile.Profile) -> None:
    names = operator_names(stored)
    dispatcher = stored.schemas["dispatcher_names"]
    assert len(set(names)) == len(names)
    assert len(set(dispatcher)) == len(dispatcher)
    assert set(dispatcher) < set(names)


def test_overloads_of_one_operator_stand_together(stored: profile.Profile) -> None:
    packets = [name.partition(".")[0] for name in operator_names(stored)]
    changes = sum(one != other for one, other in pairwise(packets))
    assert changes + 1 == len(set(packets))


def test_tags_belong_to_operators(stored: profile.Profile) -> None:
    tags = stored.schemas["tags"]
    assert tags.keys() <= set(operator_names(stored))
    assert all(tags.values())
    assert "pointwise" in tags["aten::add.Tensor"]


def test_signatures_call_known_operators(stored: profile.Profile) -> None:
    known = set(operator_names(stored))
    for functions in stored.signatures["modules"].values():
        for function in functions.values():
            for overload in function["overloads"]:
                assert overload["base"] in known
                assert overload.get("out", overload["base"]) in known


def test_a_binding_made_by_hand_has_signatures_that_can_be_parsed(
    stored: profile.Profile,
) -> None:
    manual = (
        s for m in stored.signatures["manual"].values() for b in m.values() for s in b["signatures"]
    )
    compiled = (s for texts in stored.signatures["compiled"].values() for s in texts)
    for text in (*manual, *compiled):
        parsed = parse_signature(text)
        assert text.startswith(f"{parsed.name}(")
        assert all(p.name.isidentifier() for p in parsed.parameters)


def test_a_signature_is_marked_deprecated_exactly_if_it_says_so(stored: profile.Profile) -> None:
    for functions in stored.signatures["modules"].values():
        for function in functions.values():
            for overload in function["overloads"]:
                says = overload["signature"].endswith(")|deprecated")
                assert says is overload.get("deprecated", False) is ("call" in overload)
                assert says or overload["signature"].endswith(")")


def test_functions_without_parameters_have_one_overload(stored: profile.Profile) -> None:
    for functions in stored.signatures["modules"].values():
        for name, function in functions.items():
            if function["noargs"]:
                assert [o["signature"] for o in function["overloads"]] == [f"{name}()"]


def test_generated_and_manual_names_are_bound(stored: profile.Profile) -> None:
    signatures = stored.signatures
    for module, functions in signatures["modules"].items():
        owner = {"Tensor": "TensorBase", "torch": "_VariableFunctions"}.get(module, f"_{module}")
        bound = signatures["names"][f"torch._C.{owner}"]
        assert functions.keys() | signatures["manual"].get(module, {}).keys() <= bound.keys()


def test_add_has_the_deprecated_overload_first(stored: profile.Profile) -> None:
    assert stored.signatures["modules"]["torch"]["add"]["overloads"] == [
        {
            "signature": "add(Tensor input, Scalar alpha, Tensor other, *, Tensor out=None)"
            "|deprecated",
            "base": "aten::add.Tensor",
            "out": "aten::add.out",
            "deprecated": True,
            "call": ["out", "self", "other", "alpha"],
        },
        {
            "signature": "add(Tensor input, Tensor other, *, Scalar alpha=1, Tensor out=None)",
            "base": "aten::add.Tensor",
            "out": "aten::add.out",
        },
    ]


def test_every_dispatcher_operator_has_registrations(stored: profile.Profile) -> None:
    names = set(stored.schemas["dispatcher_names"])
    assert stored.registrations["operators"].keys() == names
    assert stored.registrations["table_digests"].keys() == names


def test_every_text_of_the_registrations_is_used(stored: profile.Profile) -> None:
    registrations = stored.registrations
    used = {fallback["debug"] for fallback in registrations["fallbacks"].values()}
    for operator in registrations["operators"].values():
        used |= {operator["debug"], operator["alias analysis kind"]}
        used |= {index for kernel in operator["kernels"] for index in kernel[1:]}
    assert used == set(range(len(registrations["texts"])))
    assert len(set(registrations["texts"])) == len(registrations["texts"])


def test_kernels_stand_in_the_order_of_their_keys(stored: profile.Profile) -> None:
    keys = stored.keys
    values = {name: value for value, name in enumerate(keys.functionality_keys)}
    values.update(keys.members)
    for operator in stored.registrations["operators"].values():
        order = [values[kernel[0]] for kernel in operator["kernels"]]
        assert order == sorted(order)


def test_computed_tables_follow_from_what_is_stored(stored: profile.Profile) -> None:
    assert stored.registrations["underived_tables"] == {}


def test_no_text_names_a_directory_of_the_extracting_machine(stored: profile.Profile) -> None:
    assert not [t for t in stored.registrations["texts"] if "site-packages" in t]


def test_a_dump_can_be_rebuilt() -> None:
    stored = profile.load("2.4")
    name = "aten::square"
    registrations = stored.registrations
    text = registrations["texts"]
    operator = registrations["operators"][name]
    schema = stored.schemas["schemas"][operator_names(stored).index(name)]
    lines = [
        f"name: {name}",
        f"schema: {schema}",
        f"debug: {text[operator['debug']]}",
        f"alias analysis kind: {text[operator['alias analysis kind']]}",
    ]
    for key, debug, signature, state in operator["kernels"]:
        alias = "[alias]" if key in stored.keys.alias_keys else ""
        lines.append(f"{key}{alias}: {text[debug]} :: {text[signature]} [ {text[state]}]")
    assert lines == [
        "name: aten::square",
        "schema: aten::square(Tensor self) -> Tensor",
        "debug: registered at aten/src/ATen/RegisterSchema.cpp:6",
        "alias analysis kind: FROM_SCHEMA",
        "Named: registered at ../aten/src/ATen/core/NamedRegistrations.cpp:11"
        " :: (none) [ fallthrough boxed ]",
        "Tracer: registered at ../torch/csrc/autograd/generated/TraceType_1.cpp:16060"
        " :: (Tensor _0) -> Tensor _0 [ boxed unboxed ]",
        "CompositeImplicitAutograd[alias]: registered at"
        " aten/src/ATen/RegisterCompositeImplicitAutograd.cpp:6895"
        " :: (Tensor _0) -> Tensor _0 [ boxed unboxed ]",
        "FuncTorchBatchedDecomposition[alias]: registered at"
        " ../aten/src/ATen/functorch/BatchRulesDecompositions.cpp:32"
        " :: (Tensor _0) -> Tensor _0 [ boxed unboxed ]",
    ]


def test_bindings_show_the_enum_of_the_keys(stored: profile.Profile) -> None:
    assert stored.bindings["classes"]["DispatchKey"]["members"] == dict(stored.keys.members)


def test_bindings_hold_the_lines_of_type_errors(stored: profile.Profile) -> None:
    bindings = stored.bindings
    assert bindings["functions"]["_dispatch_key_name"] == (
        "_dispatch_key_name(arg0: c10::DispatchKey) -> str\n"
    )
    assert bindings["classes"]["DispatchKeySet"]["methods"]["has"] == (
        "has(self: torch._C.DispatchKeySet, arg0: torch._C.DispatchKey) -> bool\n"
    )
    assert all(doc for doc in bindings["functions"].values())


# What is kept of a section ----------------------------------------------------------------------


def parsed(data: bytes) -> list[str]:
    """What a file holds, where that has to be parsed."""
    PARSED.append(data)
    return data.decode().split()


PARSED: list[bytes] = []


@pytest.fixture
def section(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "pycache_prefix", None)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    PARSED.clear()
    path = tmp_path / "section.json.xz"
    path.write_text("one two")
    return path


def test_a_file_is_parsed_once_until_it_changes(section: Path) -> None:
    for _ in range(2):
        assert facts_of(str(section), parsed) == ["one", "two"]
    section.write_text("three")
    for _ in range(2):
        assert facts_of(str(section), parsed) == ["three"]
    assert PARSED == [b"one two", b"three"]


def test_what_was_kept_badly_is_parsed_again(section: Path) -> None:
    facts_of(str(section), parsed)
    (kept,) = (section.parent / "__pycache__").iterdir()
    kept.write_bytes(kept.read_bytes()[:20])
    assert facts_of(str(section), parsed) == ["one", "two"]
    assert len(PARSED) == 2


def test_nothing_is_kept_where_no_bytecode_is(
    section: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    facts_of(str(section), parsed)
    assert [path.name for path in section.parent.iterdir()] == [section.name]
