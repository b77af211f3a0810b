"""Area ``tls``: every generated program, then random sequences of guards driven by rules."""

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, rule, run_state_machine_as_test

from conformance.batch import Batch
from conformance.cases import BY_NAME, tls
from conformance.cases.pools import some_keys
from conformance.session import Checker, Exploration

AREA = "tls"


def test_generated(batch: Batch, checker: Checker) -> None:
    checker.check(batch)


def test_drawn(checker: Checker) -> None:
    checker.draw(AREA)


def test_guards_in_any_order(checker: Checker) -> None:
    keys = some_keys(checker.profile.keys)
    with checker.explore(f"{AREA}-machine") as exploration:
        run_state_machine_as_test(machine(exploration, keys))


def machine(exploration: Exploration, keys: list[str]) -> type[RuleBasedStateMachine]:
    """A machine whose steps are the lines of a case; both sides run the whole of it at the end."""

    class Guards(RuleBasedStateMachine):
        made = Bundle("made")

        def __init__(self) -> None:
            super().__init__()
            self.program = tls.Program()

        @rule(target=made, guard=st.sampled_from(list(tls.guards(keys))))
        def make(self, guard: str) -> str:
            return self.program.make(guard)

        @rule(guard=made, step=st.sampled_from(list(tls.STEPS.values())))
        def use(self, guard: str, step: str) -> None:
            self.program.add(step.format(guard))

        @rule(name=st.sampled_from(tls.SETTERS), key=st.sampled_from(keys), desired=st.booleans())
        def set_one_key(self, name: str, key: str, desired: bool) -> None:
            self.program.add(f"C._dispatch_tls_set_dispatch_key_{name}({key}, {desired})")

        @rule(guard=st.sampled_from(list(tls.guards(keys))), raises=st.booleans())
        def block(self, guard: str, raises: bool) -> None:
            inside = "note(); raise ValueError" if raises else "note()"
            self.program.add(f"try:\n    with {guard}: {inside}\nexcept ValueError: note()")

        @rule()
        def look_from_another_thread(self) -> None:
            self.program.add("in_thread(note)")

        def teardown(self) -> None:
            exploration.check(BY_NAME[AREA].case("state machine", self.program.text, "hypothesis"))

    return Guards
