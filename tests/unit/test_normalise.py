"""The rules of normalisation: what each is for, and that it hides nothing else.

A rule's text is made here of pieces: ``span`` is what the rule names, and may differ between two
runs; ``near`` looks like it and is none, so it is compared to the letter.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from fakes import case, module, patient, runner
from hypothesis import assume, given
from hypothesis import strategies as st

from conformance import normalise as normalising
from conformance.normalise import (
    BOTH_SIDES,
    DEVICE_NAME,
    INTERPRETER_FRAMES,
    MEMORY_ADDRESS,
    REGISTRATION_SOURCE,
    Rule,
    normalise,
    subject_module,
)
from conformance.outcome import Outcome

SUBJECT = subject_module("mindtorch_v2")
ALL = (SUBJECT, *BOTH_SIDES)

HEX = st.text("0123456789abcdef", min_size=1, max_size=16)
LINE = st.text(st.characters(codec="utf-8", exclude_characters="\n\r…"), min_size=1, max_size=12)
PATH = st.text("abz_-./AZ09~+@()", min_size=1, max_size=12)
NUMBER = st.integers(0, 99_999).map(str)


def frames(numbered: str, *, traceback: bool) -> st.SearchStrategy[str]:
    """The block that torch appends to a message; both its forms end their last line."""
    head = st.builds("\nException raised from {} at {}.cpp:{}".format, LINE, PATH, NUMBER)
    middle = "\nC++ CapturedTraceback:" if traceback else ""
    listed = st.lists(LINE, min_size=1, max_size=3).map(
        lambda lines: "".join(f"\n{numbered.format(n)} {line}" for n, line in enumerate(lines))
    )
    return st.builds(lambda h, ls: f"{h} (most recent call first):{middle}{ls}", head, listed)


@dataclass(frozen=True)
class Spec:
    """What one rule is about, written down once more, without looking at the rule."""

    rule: Rule
    span: st.SearchStrategy[str]
    near: tuple[str, ...]
    key: str
    """Without it in a text, the rule has nothing to do there."""
    gap: str
    """What stands between two pieces, so that they do not make a span together."""


SPECS = {
    spec.rule.name: spec
    for spec in (
        Spec(
            MEMORY_ADDRESS,
            HEX.map(" at 0x{}>".format),
            (
                *("0x7f1a", "at 0x7f1a", " at 0x7f1a", "at 0x7f1a>", " at 0x7f1a >", "@0x7f1a>"),
                *(
                    " at 0x>",
                    " at 0xg>",
                    " at 0x7F1A>",
                    " at 7f1a>",
                    " at 0x7f1a)",
                    " from 0x7f1a>",
                ),
                *("\tat 0x7f1a>", " at 0x7f1a\n>", " at 0x7f1.a>", "  at 0X7f1a>", " at 12>"),
            ),
            " at 0x",
            "|",
        ),
        Spec(
            REGISTRATION_SOURCE,
            st.builds("registered at {}.py:{}".format, PATH, NUMBER),
            (
                *("registered at a.cpp:12", "registered at /dev/null:3", "registered at a.py"),
                *("registered at a.py:", "registered at a.py:x", "registered at .py:1"),
                *("registered at a b.py:1", "registered  at a.py:1", "registered at\na.py:1"),
                *("Registered at a.py:1", "deregistered at a.py:1", "registered from a.py:1"),
                *('File "a.py", line 12', "at a.py:12", "a.py:12", "registered at a.pyi:1"),
                *("registered at a.cpp:12,b.py:34", "registered at a:b.py:1"),
                *("registered at a.py:1x", "registered at a.py:1registered at a.py:2"),
                *("implemented at a.cpp:1", "implemented in a.py:1", "reimplemented at a.py:1"),
                *(r"registered at a\nb.py:1", 'registered at a","b.py:1'),
            ),
            "registered at ",
            " | ",
        ),
        Spec(
            INTERPRETER_FRAMES,
            st.one_of(
                frames("#{}", traceback=True),
                frames("#{}", traceback=False),
                frames("frame #{}:", traceback=False),
            ),
            (
                *("\nException raised from f at a.cpp:1", "frame #0: f", "\nframe #0: f", "#4 f"),
                *(
                    "\n#4 f from a.so:1",
                    "\nC++ CapturedTraceback:\n#4 f",
                    "(most recent call first):",
                ),
                "Exception raised from f at a.cpp:1 (most recent call first):\n#4 f",
                "\nException raised from f at a.cpp:1 (most recent call first):",
                "\nException raised from f at a.cpp:1 (most recent call first):\nf",
                "\nException raised from f at a.cpp:1 (most recent call first):\n #4 f",
                "\nException raised from f at a.cpp:1 (most recent call last):\n#4 f",
                "\nException raised from f\nat a.cpp:1 (most recent call first):\n#4 f",
                "\nTraceback (most recent call last):\n#4 f",
                "\\nException raised from f at a.cpp:1 (most recent call first):\\n#4 f",
                "\\nException raised from f at a.cpp:1 (most recent call first):\\n#4 f\\n': str",
            ),
            "Exception raised from",
            "\n|",
        ),
        Spec(
            SUBJECT,
            st.sampled_from(["mindtorch_v2", "torch"]),
            (
                *("mindtorch_v2x", "xmindtorch_v2", "mindtorch_v", "mindtorch_v22", "mindtorch"),
                *("mindtorch-v2", "_mindtorch_v2", "mindtorch_v2_", "my.mindtorch_v2", "torch_v2"),
                *("Mindtorch_v2", "mindtorch_v2-nightly", "old-mindtorch_v2", "mindtorch v2"),
                *("mindtorch_v3", "torch2", "éмmindtorch_v2", "mindtorch_v2é"),
            ),
            "torch",
            "|",
        ),
    )
}

Text = list[tuple[str, str]]
"""Pieces, each with its kind: ``plain`` or ``span``."""


def pieces(spec: Spec) -> st.SearchStrategy[Text]:
    return st.lists(
        st.one_of(plain(spec).map(lambda text: ("plain", text)), spans(spec)), max_size=5
    )


def plain(spec: Spec) -> st.SearchStrategy[str]:
    tokens = st.sampled_from([*spec.near, "a", "", " ", "x:1>", "\n"])
    drawn = st.text(max_size=8).filter(lambda text: spec.key not in text and "…" not in text)
    return st.one_of(tokens, drawn)


def spans(spec: Spec) -> st.SearchStrategy[tuple[str, str]]:
    return spec.span.map(lambda text: ("span", text))


def joined(spec: Spec, text: Text) -> str:
    return "".join(f"{spec.gap}{piece}" for _, piece in text) + spec.gap


def skeleton(text: Text) -> list[str | None]:
    """The text with its spans' content taken out."""
    return [piece if kind == "plain" else None for kind, piece in text]


each_rule = pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)


# The list ---------------------------------------------------------------------------------------


def test_there_are_these_five_rules_and_no_other() -> None:
    """A sixth needs a reason in the design, and its Spec here.

    That of the NPU's cases has its tests in test_npu_area.py.
    """
    names = ["subject-module", "memory-address", "registration-source", "interpreter-frames"]
    assert [rule.name for rule in ALL] == names
    assert list(SPECS) == [*names[1:], names[0]]
    defined = [value for value in vars(normalising).values() if isinstance(value, Rule)]
    assert defined == [*BOTH_SIDES, DEVICE_NAME]


@pytest.mark.parametrize("rule", ALL, ids=lambda rule: rule.name)
def test_no_text_without_the_literal_is_one_that_a_rule_rewrites(rule: Rule) -> None:
    """The literal is a part of the pattern itself, outside of every choice and option."""
    written = rule.literal.replace(".", r"\.").replace("\n", r"\n")
    assert written in rule.pattern.pattern


def test_the_runner_uses_these_rules_and_that_of_the_subject_for_the_subject_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    used = []

    def spy(outcome: Outcome, rules: tuple[Rule, ...]) -> Outcome:
        used.append(rules)
        return normalise(outcome, rules)

    monkeypatch.setattr("conformance.runner.normalise", spy)
    judge = runner(module("torch"), module("mindtorch_v2")).judge
    judge(case("1"), Outcome("returned", "1 : int"), Outcome("returned", "1 : int"))
    assert used == [BOTH_SIDES, ALL]


@each_rule
def test_every_rule_has_a_reason(spec: Spec) -> None:
    assert len(spec.rule.reason.split()) > 5


# What each is for -------------------------------------------------------------------------------

AGREE = {
    "a default repr": (
        MEMORY_ADDRESS,
        "<torch._C.Argument object at 0x7f3a5c0b1e70>",
        "<torch._C.Argument object at 0x55d0>",
    ),
    "reprs within reprs": (
        MEMORY_ADDRESS,
        "[<bound method A.f of <A object at 0x7f3a>>, <function <lambda> at 0x1>]",
        "[<bound method A.f of <A object at 0x10>>, <function <lambda> at 0x2>]",
    ),
    "a dumped registration": (
        REGISTRATION_SOURCE,
        "CPU: registered at /a/library.py:505 :: (none) [ boxed ]\nMeta: registered at a.cpp:2",
        "CPU: registered at /b/library.py:12 :: (none) [ boxed ]\nMeta: registered at a.cpp:2",
    ),
    "an implementation in Python": (
        REGISTRATION_SOURCE,
        "the meta implementation for t::a (implemented at /a/torch/custom_ops.py:142)You have",
        "the meta implementation for t::a (implemented at /b/custom_ops.py:65)You have",
    ),
    "two registrations in a sentence": (
        REGISTRATION_SOURCE,
        "Previous registration of TORCH_LIBRARY was registered at a.py:2; latest registration was "
        "registered at a.py:9",
        "Previous registration of TORCH_LIBRARY was registered at b.py:20; latest registration was "
        "registered at c.py:90",
    ),
    "frames as torch 2.4 and 2.13 write them": (
        INTERPRETER_FRAMES,
        "could not parse dispatch key: x\n"
        "Exception raised from parseDispatchKey at ../c10/core/DispatchKey.cpp:381 "
        "(most recent call first):\n"
        "C++ CapturedTraceback:\n"
        "#4 std::function<std::string ()>)::{lambda()#1}>::_M_invoke from libc10.so:545789\n"
        "#5 ?? from /lib/libc.so.6:160329\n",
        "could not parse dispatch key: x",
    ),
    "frames as torch writes them without a symbolizer": (
        INTERPRETER_FRAMES,
        "no\nException raised from f at a.cpp:1 (most recent call first):\n"
        "frame #0: c10::Error::Error + 0x57 (0x7f in libc10.so)\nframe #1: main + 0x1 (0x7 in a)\n",
        "no",
    ),
    "frames in a message that is a value": (
        INTERPRETER_FRAMES,
        repr(
            "no\nException raised from f at a.cpp:1 (most recent call first):\n"
            "frame #0: f(char) + 0x57 (0x7f in a.so)\n<omitting python frames>\nframe #9: main\n"
        )
        + " : str",
        "'no' : str",
    ),
    "a class": (SUBJECT, "<class 'mindtorch_v2.dtype'>", "<class 'torch.dtype'>"),
    "a nested module": (SUBJECT, "mindtorch_v2._C.DispatchKey", "torch._C.DispatchKey"),
    "a module in a message": (
        SUBJECT,
        "module 'mindtorch_v2' has no attribute 'x'",
        "module 'torch' has no attribute 'x'",
    ),
}


@pytest.mark.parametrize(("rule", "left", "right"), AGREE.values(), ids=AGREE)
def test_after_a_rule_what_two_runs_cannot_share_is_the_same(
    rule: Rule, left: str, right: str
) -> None:
    assert left != right
    assert rule(left) == rule(right)


@each_rule
@patient
@given(data=st.data())
def test_texts_that_differ_in_what_a_rule_names_agree_after_it(
    spec: Spec, data: st.DataObject
) -> None:
    text = data.draw(pieces(spec))
    other = [(kind, data.draw(spec.span) if kind == "span" else piece) for kind, piece in text]
    assert spec.rule(joined(spec, text)) == spec.rule(joined(spec, other))


# That it hides nothing --------------------------------------------------------------------------


@each_rule
@patient
@given(data=st.data())
def test_texts_that_differ_in_anything_else_differ_after_a_rule(
    spec: Spec, data: st.DataObject
) -> None:
    """One plain piece is replaced, spans change as they like: the difference is still there."""
    text = data.draw(pieces(spec).filter(lambda text: any(kind == "plain" for kind, _ in text)))
    places = [index for index, (kind, _) in enumerate(text) if kind == "plain"]
    place = data.draw(st.sampled_from(places))
    other = [(kind, data.draw(spec.span) if kind == "span" else piece) for kind, piece in text]
    other[place] = ("plain", data.draw(plain(spec)))
    assume(other[place] != text[place])
    assert spec.rule(joined(spec, text)) != spec.rule(joined(spec, other))


@each_rule
@patient
@given(data=st.data())
def test_a_piece_more_or_less_is_a_difference_after_a_rule(spec: Spec, data: st.DataObject) -> None:
    text = data.draw(pieces(spec))
    place = data.draw(st.integers(0, len(text)))
    more = ("plain", data.draw(plain(spec)))
    other = [*text[:place], more, *text[place:]]
    assert spec.rule(joined(spec, text)) != spec.rule(joined(spec, other))


@each_rule
@patient
@given(data=st.data())
def test_what_only_looks_like_it_is_left_as_it_is(spec: Spec, data: st.DataObject) -> None:
    text = joined(spec, [("plain", piece) for piece in data.draw(st.lists(plain(spec)))])
    assert spec.rule(text) == text


@pytest.mark.parametrize(
    "rules",
    [*((rule,) for rule in ALL), ALL],
    ids=lambda rules: "+".join(rule.name for rule in rules),
)
@patient
@given(data=st.data())
def test_normalisation_changes_nothing_the_second_time(
    rules: tuple[Rule, ...], data: st.DataObject
) -> None:
    """Also of texts that put spans next to each other, and into each other."""
    token = st.one_of(
        *(st.one_of(spec.span, st.sampled_from(spec.near)) for spec in SPECS.values()),
        st.sampled_from(["…", " at 0x…>", "registered at ….py:…", "\n", ":1", ".py:2", "f", " "]),
        st.text(max_size=3),
    )
    text = "".join(data.draw(st.lists(token, max_size=8)))
    once = normalise(Outcome("raised", type="E", message=text), rules)
    assert normalise(once, rules) == once


# Outcomes ---------------------------------------------------------------------------------------


def test_every_text_of_an_outcome_is_normalised() -> None:
    before, after = "mindtorch_v2.A at 0x1>", "torch.A at 0x…>"

    def outcome(text: str) -> Outcome:
        value = {"type": text, "items": [text, {"type": "dict", "pairs": [[text, text]]}]}
        return Outcome("raised", value, text, text, ((text, text), (text, "other")))

    assert normalise(outcome(before), ALL) == outcome(after)


def test_what_is_no_text_of_an_outcome_is_left_as_it_is() -> None:
    value = {"type": "a.Tensor", "mindtorch_v2": "1", "shape": [2, 3], "values": [["1.0"], []]}
    outcome = Outcome("returned", value)
    assert normalise(outcome, ALL) == outcome
    assert normalise(Outcome("crashed", message="SIGSEGV"), ALL).value is None


@pytest.mark.parametrize("name", ["a.b", "a+b", "imitation"])
def test_the_subjects_name_is_a_name_and_no_pattern(name: str) -> None:
    rule = subject_module(name)
    assert rule(f"<{name}.x> <acb.x> <aab.x>") == "<torch.x> <acb.x> <aab.x>"


def test_the_oracles_own_use_of_the_subjects_name_is_not_hidden() -> None:
    text = "mindtorch_v2.f is not torch.f"
    judge = runner(module("torch"), module("mindtorch_v2")).judge
    compared = judge(case("1"), *[Outcome("raised", type="E", message=text)] * 2)
    assert compared.verdict == "mismatch"
