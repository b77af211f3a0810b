"""Area ``tls``: the thread-local include and exclude sets, and every guard that changes them.

Each case runs in a thread of its own, so it starts from the defaults.  A case is a program that
notes both sets after each step; :class:`Program` builds them, for the generator and for the
hypothesis state machine alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final

from hypothesis import strategies as st

from conformance.area import Area, Text
from conformance.cases.pools import (
    KEY,
    KEYSET,
    C,
    all_keys,
    key_names,
    keyset,
    some_keys,
    wrong_calls,
)
from mindtorch_v2.profile import KeyFacts, Profile

PRELUDE: Final = f"""\
C = {C}
log = []
def note():
    log.append((C._dispatch_tls_local_include_set(), C._dispatch_tls_local_exclude_set()))
note()"""

OF_A_KEY: Final = ("_IncludeDispatchKeyGuard",)
OF_A_SET: Final = ("_ExcludeDispatchKeyGuard", "ExcludeDispatchKeyGuard")
OF_NOTHING: Final = (
    "_PreserveDispatchKeyGuard",
    "_AutoDispatchBelowAutograd",
    "_AutoDispatchBelowADInplaceOrView",
    "_DisableTorchDispatch",
    "_DisableFuncTorch",
    "_DisableAutocast",
    "_DisablePythonDispatcher",
    "_EnablePythonDispatcher",
    "_EnablePreDispatch",
)
SETTERS: Final = ("included", "excluded")


class Program:
    """Lines of a case, and the guards it has made so far."""

    def __init__(self) -> None:
        self.lines = [PRELUDE]
        self.guards: list[str] = []

    def make(self, guard: str) -> str:
        """Construct a guard under the next name."""
        name = f"g{len(self.guards)}"
        self.guards.append(name)
        self.add(f"{name} = {guard}")
        return name

    def add(self, line: str) -> None:
        """A line, then a note of both sets."""
        self.lines += [line, "note()"]

    @property
    def text(self) -> str:
        return "\n".join([*self.lines, "log"])


def guards(keys: Sequence[str]) -> Iterator[str]:
    """Every kind of guard, over these keys, as text."""
    for key in keys:
        for name in OF_A_KEY:
            yield f"{C}.{name}({key})"
        for name in OF_A_SET:
            yield f"{C}.{name}({keyset(key)})"
        yield f"{C}._ForceDispatchKeyGuard({keyset(key)}, {keyset(keys[0])})"
        for desired in (True, False):
            yield f"{C}._SetExcludeDispatchKeyGuard({key}, {desired})"
    for name in OF_NOTHING:
        yield f"{C}.{name}()"


def kind(guard: str) -> str:
    """The class of a guard's text."""
    return guard.partition("(")[0].rpartition(".")[2]


def texts(profile: Profile) -> Iterator[Text]:
    facts = profile.keys
    yield from _single_keys(facts)
    yield from _one_guard(facts)
    yield from _two_guards(facts)
    yield from _lives(facts)
    yield from _exceptions_and_threads(facts)
    yield from _refusals()


def _single_keys(facts: KeyFacts) -> Iterator[Text]:
    for name in SETTERS:
        setter = f"{C}._dispatch_tls_set_dispatch_key_{name}"
        question = f"{C}._dispatch_tls_is_dispatch_key_{name}"
        for key in all_keys(facts) + key_names(facts):
            yield question, f"{question}({key})"
            program = Program()
            for desired in (True, True, False, False, True):
                program.add(f"{setter}({key}, {desired})")
                program.add(f"log.append({question}({key}))")
            yield setter, program.text
    for name in ("included", "excluded"):
        callee = f"{C}._dispatch_tls_set_dispatch_key_{name}"
        for text in wrong_calls(callee, [f"{KEY}.CPU", "True"]):
            yield callee, f"({text}, {C}._dispatch_tls_local_{name[:-1]}_set())"
        for text in wrong_calls(f"{C}._dispatch_tls_is_dispatch_key_{name}", [f"{KEY}.CPU"]):
            yield f"{C}._dispatch_tls_is_dispatch_key_{name}", text
    for setting in (True, False):
        program = Program()
        program.add(f"{C}._set_meta_in_tls_dispatch_include({setting})")
        program.add(f"log.append({C}._meta_in_tls_dispatch_include())")
        program.add(f"{C}._set_meta_in_tls_dispatch_include(False)")
        program.add(f"log.append({C}._meta_in_tls_dispatch_include())")
        yield "_set_meta_in_tls_dispatch_include", program.text


def _one_guard(facts: KeyFacts) -> Iterator[Text]:
    for guard in guards(all_keys(facts)):
        program = Program()
        program.add(f"with {guard}: note()")
        yield kind(guard), program.text


def _two_guards(facts: KeyFacts) -> Iterator[Text]:
    """Nested and misnested, over keys that share a backend, a functionality, both or neither."""
    keys = [f"{KEY}.{name}" for name in ("CPU", "AutogradCPU", "AutogradCUDA", "BackendSelect")]
    for outer, inner in product(guards(keys), repeat=2):
        nested = Program()
        nested.add(f"with {outer}:\n    note()\n    with {inner}: note()\n    note()")
        yield f"{kind(outer)} over {kind(inner)}", nested.text
        misnested = Program()
        first, second = misnested.make(outer), misnested.make(inner)
        for step in (f"{first}.__enter__()", f"{second}.__enter__()"):
            misnested.add(step)
        for name in (first, second):
            misnested.add(f"{name}.__exit__(None, None, None)")
        yield f"{kind(outer)} across {kind(inner)}", misnested.text


def _lives(facts: KeyFacts) -> Iterator[Text]:
    """Entered twice, left without entering, dropped while entered, entered again after leaving."""
    leave = "g0.__exit__(None, None, None)"
    lives = (
        ("g0.__enter__()", "g0.__enter__()", leave, leave),
        (leave, "g0.__enter__()", leave),
        ("g0.__enter__()", "del g0"),
        ("g0.__enter__()", leave, "g0.__enter__()", "g0 = None"),
        ("h = g0", "g0.__enter__()", "del g0", "del h"),
        ("del g0",),
    )
    keys = [f"{KEY}.{name}" for name in ("CPU", "AutogradCPU", "Python", "AutocastCPU", "Autograd")]
    for guard, life in product(guards(keys), lives):
        program = Program()
        program.make(guard)
        for step in life:
            program.add(step)
        yield f"life of {kind(guard)}", program.text


def _exceptions_and_threads(facts: KeyFacts) -> Iterator[Text]:
    keys = [f"{KEY}.{name}" for name in ("CPU", "Functionalize", "AutogradCPU")]
    for guard in guards(keys):
        program = Program()
        program.add(
            f"try:\n    with {guard}:\n        note()\n        raise ValueError('inside')\n"
            "except ValueError as error:\n    log.append(str(error))"
        )
        yield f"exception in {kind(guard)}", program.text
        program = Program()
        inside = f"    with {guard}:\n        note()\n        in_thread(note)\n    in_thread(note)"
        program.add(f"def work():\n    note()\n{inside}\n    note()")
        program.add("work()")
        program.add("in_thread(work)")
        program.add(f"with {guard}:\n    in_thread(work)\n    note()")
        yield f"threads of {kind(guard)}", program.text
    for name in SETTERS:
        program = Program()
        setter = f"C._dispatch_tls_set_dispatch_key_{name}"
        program.add(f"in_thread(lambda: ({setter}({KEY}.Python, True), note()))")
        program.add(f"{setter}({KEY}.Functionalize, True)")
        program.add("in_thread(note)")
        yield "threads", program.text
    program = Program()
    program.add("with xp.inference_mode():\n    note()\n    with xp.inference_mode(False): note()")
    yield "inference_mode", program.text


def _refusals() -> Iterator[Text]:
    good = {
        **{name: [f"{KEY}.CPU"] for name in OF_A_KEY},
        **{name: [f"{KEYSET}({KEY}.CPU)"] for name in OF_A_SET},
        "_ForceDispatchKeyGuard": [f"{KEYSET}({KEY}.CPU)", f"{KEYSET}({KEY}.CUDA)"],
        "_SetExcludeDispatchKeyGuard": [f"{KEY}.CPU", "True"],
        **{name: [] for name in OF_NOTHING},
    }
    for name, arguments in good.items():
        made = f"{C}.{name}({', '.join(arguments)})"
        for text in wrong_calls(f"{C}.{name}", arguments):
            yield name, f"type({text})"
        for text in wrong_calls(f"{made}.__enter__", []):
            yield name, text
        for text in wrong_calls(f"{made}.__exit__", ["None", "None", "None"]):
            yield name, text
        yield name, f"{made}.nosuch"
    for name in ("include", "exclude"):
        for text in wrong_calls(f"{C}._dispatch_tls_local_{name}_set", []):
            yield f"_dispatch_tls_local_{name}_set", text


def strategy(profile: Profile) -> st.SearchStrategy[Text]:
    """Programs of random steps; the state machine in the test drives the same steps by rules."""
    keys = some_keys(profile.keys)
    guard = st.sampled_from(list(guards(keys)))
    setter = st.tuples(st.sampled_from(SETTERS), st.sampled_from(keys), st.booleans())

    @st.composite
    def programs(draw: st.DrawFn) -> Text:
        program = Program()
        for _ in range(draw(st.integers(1, 12))):
            step = draw(st.sampled_from(["make", "enter", "leave", "drop", "set", "block"]))
            if step == "make" or not program.guards:
                program.make(draw(guard))
            elif step == "set":
                name, key, desired = draw(setter)
                program.add(f"C._dispatch_tls_set_dispatch_key_{name}({key}, {desired})")
            elif step == "block":
                program.add(f"with {draw(guard)}: note()")
            else:
                program.add(STEPS[step].format(draw(st.sampled_from(program.guards))))
        return "programs", program.text

    return programs()


STEPS: Final = {
    "enter": "{0} and {0}.__enter__()",
    "leave": "{0} and {0}.__exit__(None, None, None)",
    "drop": "{0} = None",
}
"""What can be done with a guard; a dropped one is None, and nothing more comes of it."""

AREA: Final = Area("tls", texts, strategy, isolation="thread")
