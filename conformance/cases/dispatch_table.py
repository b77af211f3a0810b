"""Area ``dispatch-table``: what every operator has registered, and the table that follows.

Each operator's real registrations are the profile's; the subject computes their tables by itself.
A case about an operator compares its dump, its whole computed table, or the answer for every
runtime key at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hypothesis import strategies as st

from conformance.area import Area, Text
from conformance.cases.pools import C, all_keys, key_names
from mindtorch_v2.profile import Profile

ABOUT_A_NAME: Final = ("_dispatch_dump", "_dispatch_dump_table", "_dispatch_has_kernel")
ABOUT_A_KEY: Final = (
    "_dispatch_has_kernel_for_dispatch_key",
    "_dispatch_kernel_for_dispatch_key_is_fallthrough",
)
NO_OPERATORS: Final = ("aten::nosuch", "nosuch::op", "aten::add.nosuch", "", "add", "a::b::c", "(")


def texts(profile: Profile) -> Iterator[Text]:
    names = profile.schemas["dispatcher_names"]
    runtime = runtime_names(profile)
    for name in (*names, *NO_OPERATORS):
        for function in ABOUT_A_NAME:
            yield function, f"{C}.{function}({name!r})"
    for name in names:
        yield "every key", every_key(name, runtime)
    for name in runtime + list(profile.keys.alias_keys):
        yield (
            "_dispatch_get_registrations_for_dispatch_key",
            f"sorted({C}._dispatch_get_registrations_for_dispatch_key({name!r}))",
        )
    # A table has no place for what follows the last key: torch reads what lies behind.
    behind = f"{C}.DispatchKey({profile.keys.members['StartOfDenseBackends'] - 1})"
    for key in all_keys(profile.keys):
        if key == behind:
            continue
        yield "_dispatch_has_backend_fallback", f"{C}._dispatch_has_backend_fallback({key})"
    for key in ("'FPGA'", "'nosuch'", "'Undefined'", "None", "1", "'FPGA', 'CPU'"):
        function = "_dispatch_print_registrations_for_dispatch_key"  # which prints to the log
        yield function, f"{C}.{function}({key})"
    for function in ("_dispatch_is_main_interpreter", "_dispatch_clear_leaked_python_filenames"):
        if function in profile.bindings["functions"]:
            for arguments in ("", "1"):
                yield function, f"{C}.{function}({arguments})"
    yield from _wrong_calls()
    yield "_dispatch_find_dangling_impls", f"sorted({C}._dispatch_find_dangling_impls())"
    yield "_dispatch_get_all_op_names", f"sorted({C}._dispatch_get_all_op_names())"
    yield "_dispatch_check_all_invariants", f"{C}._dispatch_check_all_invariants()"
    for name in names[:: max(1, len(names) // 40)]:
        for key in all_keys(profile.keys):
            for function in ABOUT_A_KEY:
                yield function, f"{C}.{function}({name!r}, {key})"


def _wrong_calls() -> Iterator[Text]:
    """Null pointers for names, which C++ notices when it makes strings of them; wrong types.

    One of the functions does not look whether the operator exists, and torch crashes.
    """
    key, keyset = f"{C}.DispatchKey.CPU", f"{C}.DispatchKeySet({C}.DispatchKey.CPU)"
    others = {
        "_dispatch_dump": (),
        "_dispatch_dump_table": (),
        "_dispatch_check_invariants": (),
        "_dispatch_has_kernel": (),
        "_dispatch_get_registrations_for_dispatch_key": (),
        "_dispatch_has_kernel_for_dispatch_key": (key, "1", "None", "'nosuch'"),
        "_dispatch_kernel_for_dispatch_key_is_fallthrough": (key, "None", "'nosuch'"),
        "_dispatch_has_kernel_for_any_dispatch_key": (keyset, key, "None"),
        "_dispatch_has_computed_kernel_for_dispatch_key": ("'CPU'", "None", key),
    }
    for function, seconds in others.items():
        names = ["None", "1", "'aten::abs'", "b'aten::abs'", "'a b'"]
        if not function.endswith("is_fallthrough"):
            names.append("'nosuch::a'")
        for name in names:
            for second in ("", *(f", {second}" for second in seconds)):
                yield function, f"{C}.{function}({name}{second})"


def runtime_names(profile: Profile) -> list[str]:
    """The names that have an entry in a table: those that parse, without the alias keys."""
    aliases = set(profile.keys.alias_keys)
    return [name for name in profile.keys.parse if name not in aliases and name != "Undefined"]


def every_key(name: str, keys: list[str]) -> str:
    """Whether dispatch finds a kernel, for every key at once."""
    return (
        f"[{C}._dispatch_has_computed_kernel_for_dispatch_key({name!r}, key) "
        f"for key in {' '.join(keys)!r}.split()]"
    )


def strategy(profile: Profile) -> st.SearchStrategy[Text]:
    """Questions about any operator and any key."""
    names = st.sampled_from([*profile.schemas["dispatcher_names"], *NO_OPERATORS])
    keys = st.sampled_from(list(all_keys(profile.keys)))
    texts = st.sampled_from([*key_names(profile.keys), "nosuch", ""])

    def about_a_key(function: str, name: str, key: str) -> Text:
        return function, f"{C}.{function}({name!r}, {key})"

    def computed(name: str, key: str) -> Text:
        function = "_dispatch_has_computed_kernel_for_dispatch_key"
        return function, f"{C}.{function}({name!r}, {key!r})"

    return st.one_of(
        st.builds(about_a_key, st.sampled_from(ABOUT_A_KEY), names, keys),
        st.builds(computed, names, texts),
    )


AREA: Final = Area("dispatch-table", texts, strategy)
