"""The grammar of cases: what it lets in, what it refuses and where, and what then runs.

In the tables ``▲`` stands before the place a refusal names.
"""

from __future__ import annotations

import io
import pickle
import re
import tokenize
import unicodedata
import warnings
from types import CodeType
from typing import Any

import pytest
from fakes.refusals import VOCABULARY, marked, refused
from hypothesis import example, given, settings
from hypothesis import strategies as st

from conformance import grammar
from conformance import vocabulary as words
from conformance.grammar import MAX_DEPTH, MAX_LENGTH, CaseRefused, compiled, namespace, parse


def value(text: str, xp: Any = None, **helpers: Any) -> Any:
    return parse(text, VOCABULARY).run(namespace(xp, VOCABULARY, helpers))


# Accepted ---------------------------------------------------------------------------------------

ACCEPTED = """
xp.add(xp.ones(2), "x")
---
xp._C.DispatchKeySet(xp._C.DispatchKey.CPU) | xp._C.DispatchKeySet(xp._C.DispatchKey.Meta)
---
with xp._C._ExcludeDispatchKeyGuard(xp._C.DispatchKeySet(xp._C.DispatchKey.CPU)):
    xp._C._dispatch_tls_local_exclude_set()
---
keys = [xp._C.DispatchKey.CPU, xp._C.DispatchKey.Meta]
[(k.name, int(k.value)) for k in keys if k is not None]
---
xp._C.DispatchKey.__members__["CPU"].__or__(1)
---
lib = xp.library.Library("case_a", "DEF")
lib.define("foo(Tensor x, *, int n=1) -> Tensor")
lib.impl("foo", lambda x, *, n=1: x + n, "CPU")
xp.ops.case_a.foo(xp.ones(2), n=2)
---
calls = []
def kernel(keyset, x, /, y=1, *rest, alpha=1, **more):
    "What is called, in order."
    calls.append((y, rest, alpha, more))
    return x @ x if calls else -x
kernel(None, xp.ones(1))
calls[0][1:], calls
---
try:
    xp.ones(2).add("x", alpha=2)
except (TypeError, RuntimeError) as error:
    found = type(error).__name__, str(error), error.args
else:
    found = None
finally:
    done = True
found
---
class Logged(xp.Tensor):
    elem = None
    __torch_dispatch__ = xp._C._disabled_torch_dispatch_impl

    @staticmethod
    def __new__(cls, data):
        return super().__new__(cls, data)

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return super().__torch_function__(func, types, args, kwargs or {})
Logged(xp.ones(2)).sum()
---
class Infra(xp.utils._python_dispatch.TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self._mode_key = xp._C._TorchDispatchModeKey.FAKE

    def __tensor_flatten__(self):
        return [], None
with Infra():
    xp._C._get_dispatch_mode(xp._C._TorchDispatchModeKey.FAKE)
---
class Mode(xp.utils._python_dispatch.TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.calls = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.calls.append(str(func))
        return func(*args, **(kwargs or {}))
with Mode() as mode:
    xp.ones(2) * 2
mode.calls
---
class Base(object):
    pass
class Failed(Exception, Base):
    def __str__(self):
        return "failed: %s" % (self.args,)
try:
    raise Failed(1) from ValueError("x")
except Failed as error:
    text = repr(error)
---
x = xp.ones(2, 3, requires_grad=True)
x.grad = xp.ones(2, 3)
x.data = x.data * 2
x.grad += 1
x[0, ...][1:2] = 5
x.requires_grad
---
a, (b, *c) = 1, (2, 3, 4)
d = [n for n in range(3) for m in c if n if m] + [*c]
e = {**{"k": a}, "l": {1, 2}, 3j: b"\\x00"}
del a, d[0]
for i, n in enumerate(d):
    if n == 2:
        continue
    elif n is None:
        break
    else:
        pass
assert all(k for k in e), "empty"
---
(n := 3) + n if True else ~n
---
xp.ops.aten.nosuch, xp.ops.nowhere.zorg.blah, xp.ops.zorg
---
o = xp.ops.aten
p = o.zorg
p.Tensr
---
xp.ops.quantized._test_load
---
in_thread(lambda: xp._C._dispatch_tls_local_include_set())
---
xp._C._jit_get_operation("aten::nosuch.overload")
---
xp._C._dispatch_find_schema_or_throw("aten::add", "Tensor")
---
type(xp.ones(2)) is xp.Tensor, 1
---
type(xp.ones(2)), [type(None)]
---
type(xp.ones(2)).__qualname__ == "Tensor"
---
xp.device("cpu").type == "cpu"
---
str(xp.device("cpu").type), [xp.device("cpu").type]
---
str(xp.device("cpu").type).upper()
---
xp.ones(2).type(xp.float64), xp.ones(2).type("torch.DoubleTensor"), xp.ones(2).type()
---
"％s × ünïcode" % "x"
---
# a comment × with other letters
1
---
pow(2, 3), isinstance(1, (int, float)), max([1, 2], key=lambda n: -n), callable(len)
---
xp._C._dispatch_keys; xp.__version__
"""

ACCEPTED_TEXTS = [text.strip("\n") for text in ACCEPTED.split("\n---\n")]


@pytest.mark.parametrize("text", ACCEPTED_TEXTS)
def test_a_case_as_people_write_it_is_accepted(text: str) -> None:
    assert parse(text, VOCABULARY).text == text


SPLIT = [
    *("1", "a = 2", "a = 2\na + 1", "a = 2; a + 1", "if 1:\n    2\n    3", "if 1: 2\nelse: 3"),
    *("a = 1\n3 if a else 4\n", "[1,\n2]", "a = '''\n'''", "'''a\n'''\n'b'", "f = 1 + \\\n2"),
    *("for a in 1, 2:\n    a\n(a)", "# 1\n2", "1 # \n# 2", "\n\n1\n\n2", "a = 1\n 2"),
    *("a = 1\r\na", "a = '\\\n'\na", "assert (1,\n2)\n3", "lambda: (\n1)", "'\\d'\n2", "1 is 1"),
]
"""Texts whose last line is an expression, or looks like one, or is none."""


def is_empty(code: CodeType) -> bool:
    """Whether it was compiled of comments."""
    return not code.co_names and code.co_consts == (None,)


@pytest.mark.filterwarnings("ignore::SyntaxWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("text", [*ACCEPTED_TEXTS, *SPLIT])
def test_a_text_that_was_let_in_is_compiled_to_the_same_code(text: str) -> None:
    try:
        parsed = parse(text, VOCABULARY)
    except CaseRefused as refusal:
        with pytest.raises(CaseRefused, match=re.escape(str(refusal))):
            compiled(text)
    else:
        made = compiled(text)
        assert made.expression == parsed.expression
        assert made.statements == parsed.statements or (
            not parsed.statements and all(map(is_empty, made.statements))
        )


@pytest.mark.parametrize(
    "text", ["", "x = ", "a\0b", "(" * 1000, "1\n" + "-" * 10_000 + "1"], ids=range(5)
)
def test_what_is_no_python_is_refused_even_if_it_was_let_in(text: str) -> None:
    with pytest.raises(CaseRefused):
        compiled(text)


def test_the_value_of_a_case_is_its_last_expression() -> None:
    assert value("a = 2\na + 1") == 3
    assert value("1 + 1") == 2
    assert value("a = 2") is None


def test_a_case_without_statements_before_its_expression_compiles_only_that() -> None:
    parsed = parse("1", VOCABULARY)
    assert parsed.statements == ()
    assert parsed.expression is not None


def test_asserts_are_kept() -> None:
    with pytest.raises(AssertionError):
        value("assert False")


def test_annotations_are_not_inherited_from_the_grammar_own_future_imports() -> None:
    flags = parse("lambda: 0", VOCABULARY).expression
    assert flags is not None
    assert not flags.co_flags & 0x1000000  # CO_FUTURE_ANNOTATIONS


# Refused ----------------------------------------------------------------------------------------

#: Text, node, part of the reason.
REFUSED: list[tuple[str, str, str]] = [
    ("▲import os", "Import", "imports nothing"),
    ("▲from os import *", "ImportFrom", "imports nothing"),
    ("▲while True: pass", "While", "'for'"),
    ("▲f'{1}'", "JoinedStr", "'%'"),
    ("x = 1\n▲x: int = 2", "AnnAssign", "annotations"),
    ("def f(x: ▲int): pass", "Name", "annotations"),
    ("def f() -> ▲int: pass", "Name", "annotations"),
    ("def f(*args: ▲'1'): pass", "Constant", "annotations"),
    ("def f():\n    ▲global x", "Global", "a list or a dict"),
    ("def f():\n    x = 1\n    def g():\n        ▲nonlocal x", "Nonlocal", "a list or a dict"),
    ("▲async def f(): pass", "AsyncFunctionDef", "not part of a case"),
    ("def f():\n    ▲yield 1", "Yield", "generator"),
    ("lambda: (▲yield 1)", "Yield", "generator"),
    ("def f():\n    ▲yield from []", "YieldFrom", "generator"),
    ("[n async for ▲n in []]", "Name", "'async'"),
    ("▲match 1:\n    case 1: pass", "Match", "not part of a case"),
    ("@▲property\ndef f(): pass", "Name", "decorator"),
    ("class X:\n    @▲property\n    def data(self): pass", "Name", "decorator"),
    ("@▲staticmethod\ndef f(): pass", "Name", "decorator"),
    (
        "class X:\n    def data(self):\n        @▲staticmethod\n        def g(): pass",
        "Name",
        "deco",
    ),
    ("@▲len\nclass X: pass", "Name", "decorator"),
    ("class X(▲metaclass=object): pass", "keyword", "metaclass"),
    ("class X(▲[object][0]): pass", "Subscript", "base class"),
    ("class X(▲*[object]): pass", "Starred", "base class"),
    ("class X(▲xp): pass", "Name", "base class"),
    ("class X(xp.ops.aten.▲add): pass", "Attribute", "base class"),
    ("x = 1\nclass X(▲x): pass", "Name", "class statement"),
    ("class X: pass\nX = 1\nclass Y(▲X): pass", "Name", "class statement"),
    ("class X(object.▲__or__): pass", "Attribute", "base class"),
    ("class X(▲type(1)): pass", "Call", "compared by"),
    ("class X(▲type): pass", "Name", "may only be called"),
    ("class X:\n    ▲def nosuch(self): pass", "FunctionDef", "a class may define"),
    ("class X:\n    ▲nosuch = 1", "Name", "a class may define"),
    ("class X:\n    for ▲nosuch in []: pass", "Name", "a class may define"),
    ("class X:\n    ▲__name__ = 1", "Name", "a class may define"),
    ("▲__init__ = 1", "Name", "Python's own"),
    ("▲def __init__(): pass", "FunctionDef", "Python's own"),
    ("lambda ▲__x: 0", "arg", "Python's own"),
    ("class X:\n    def data(self): return self.▲__x", "Attribute", "not on the list"),
    ("f = 1\nf(▲__class__=1)", "keyword", "Python's own"),
    ("▲nowhere", "Name", "not bound"),
    ("x = 1\nlambda: ▲y", "Name", "not bound"),
    ("▲__name__", "Name", "not bound"),
    ("▲id(1)", "Name", "not bound"),
    ("▲print(1)", "Name", "not bound"),
    ("del ▲nowhere", "Name", "not bound"),
    ("▲classmethod(1)", "Name", "not bound"),
    ("x = 1\ndel x.▲dtype", "Attribute", "may set"),
    ("lambda ▲xp: 0", "arg", "keeps its meaning"),
    ("▲xp = 1", "Name", "keeps its meaning"),
    ("for ▲xp in []: pass", "Name", "keeps its meaning"),
    ("(▲type := 1)", "Name", "keeps its meaning"),
    ("▲def str(x): pass", "FunctionDef", "keeps its meaning"),
    ("▲in_thread = 1", "Name", "keeps its meaning"),
    ("try: pass\n▲except Exception as type: pass", "ExceptHandler", "keeps its meaning"),
    ("▲class repr: pass", "ClassDef", "keeps its meaning"),
    ("xp.▲add = 1", "Attribute", "may set"),
    ("x = 1\nx.▲nosuch = 1", "Attribute", "may set"),
    ("x = 1\nx.▲dtype += 1", "Attribute", "may set"),
    ("for xp.▲add in []: pass", "Attribute", "may set"),
    ("xp.Tensor.▲data = 1", "Attribute", "xp itself"),
    ("xp.▲nosuch", "Attribute", "not on the list of names a case may reach"),
    ("x = 'é'; x.▲nosuch", "Attribute", "not on the list"),
    ("(xp\n  .\n  ▲nosuch)", "Attribute", "not on the list"),
    ("'a' if 1 else 'é'.▲casefold()", "Attribute", "not on the list"),
    ("xp.ops.aten.add.Tensor.▲zorg", "Attribute", "not on the list"),
    ("xp.ones.▲zorg", "Attribute", "not on the list"),
    ("o = xp.ops.aten\np = o\np.▲zorg", "Attribute", "not on the list"),
    ("▲é = 1", "Name", "ASCII"),
    ("x = '×'; ▲ｘｐ", "Name", "ASCII"),
    ("▲type(1)(2)", "Call", "compared by"),
    ("x = ▲type(1)", "Call", "compared by"),
    ("▲type(1, 2, 3)", "Call", "exactly one argument"),
    ("▲type(*[1])", "Call", "exactly one argument"),
    ("map(▲type, [1])", "Name", "may only be called"),
    ("▲type(1) == xp", "Call", "compared by"),
    ("type(▲type(1)) is 1", "Call", "compared by"),
    ("class X:\n    def data(self): return ▲super(X, self)", "Call", "no arguments"),
    ("x = ▲super", "Name", "may only be called"),
    ("xp.ones.▲__init__()", "Attribute", "super()"),
    ("xp.Tensor.▲__new__(xp.Tensor)", "Attribute", "super()"),
    ("x = xp.ones(2).▲type", "Attribute", "literals"),
    ("xp.ones(2).▲type == xp", "Attribute", "literals"),
    ("xp.ones(2).type(▲'os.abort')", "Constant", "no name such as"),
    ("xp.ones(2).type(▲'torch')", "Constant", "no name such as"),
    ("xp.ones(2).type(▲'torch.os.a.FloatTensor')", "Constant", "no name such as"),
    ("xp.ones(2).type(▲'a' + 'b')", "BinOp", "takes literals"),
    ("xp.ones(2).type(xp.Tensor.▲data)", "Attribute", "takes literals"),
    ("xp.ones(2).type(xp.▲__version__)", "Attribute", "takes literals"),
    ("xp.ones(2).type(dtype=▲'os.abort')", "Constant", "no name such as"),
    ("xp.ones(2).type(▲*['os.abort'])", "Starred", "takes literals"),
    ("xp.ones(2).type(▲**{})", "keyword", "'**'"),
    ("f = xp._C.▲_jit_get_operation", "Attribute", "called on the spot"),
    ("xp._C._jit_get_operation(▲'aten::save')", "Constant", "opens files"),
    ("xp._C._jit_get_operation(▲'prim::zorg')", "Constant", "stack"),
    ("xp._C._get_operation_overload(▲'aten::from_file', '')", "Constant", "opens files"),
]


@pytest.mark.parametrize(("text", "node", "reason"), REFUSED)
def test_a_refusal_names_node_place_and_reason(text: str, node: str, reason: str) -> None:
    text, line, column = marked(text)
    refusal = refused(text)
    assert (refusal.node, refusal.line, refusal.column) == (node, line, column)
    assert reason in refusal.reason


def outcome(text: str) -> tuple[Any, ...]:
    """What is made of a text, or the words in which it is refused."""
    try:
        parsed = parse(text, VOCABULARY)
    except CaseRefused as refusal:
        return str(refusal), refusal.node
    names = [sorted(set(code.co_names)) for code in parsed.statements]
    return sorted({name for each in names for name in each}), parsed.expression


@pytest.mark.filterwarnings("ignore::SyntaxWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize(
    "text", [*ACCEPTED_TEXTS, *SPLIT, *(marked(text)[0] for text, _, _ in REFUSED)]
)
def test_a_text_is_the_same_whatever_came_before_it(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its beginning may have been checked as that of another text, up to any of its lines."""
    for continued in (text, f"{text}\n1"):
        monkeypatch.setattr(grammar, "_beginnings", grammar._Beginnings())
        monkeypatch.setattr(grammar._Beginnings, "least", MAX_LENGTH)
        whole = outcome(continued)
        monkeypatch.setattr(grammar._Beginnings, "least", 1)
        lines = continued.split("\n")
        for count in range(1, len(lines)):
            monkeypatch.setattr(grammar, "_beginnings", grammar._Beginnings())
            outcome("\n".join((*lines[:count], "another_end")))
            assert outcome(continued) == whole


def test_what_cases_begin_with_is_checked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grammar, "_beginnings", grammar._Beginnings())
    beginning = "def f(x):\n    return x + 1\n" + "a = f(1)\n" * 30
    assert len(parse(f"{beginning}a", VOCABULARY).statements) == 1
    parsed = [parse(f"{beginning}f(a) + {n}", VOCABULARY) for n in range(2)]
    assert [len(each.statements) for each in parsed] == [1, 1]
    assert parsed[0].statements[0] is parsed[1].statements[0]
    assert [each.run(namespace(None, VOCABULARY, {})) for each in parsed] == [3, 4]
    with pytest.raises(CaseRefused, match="line 33, column 5: attribute '__class__'"):
        parse(f"{beginning}f(a.__class__)", VOCABULARY)


def test_a_refusal_reads_as_one_line() -> None:
    assert str(refused("xp.os")) == (
        "line 1, column 4: attribute 'os' is not on the list of names a case may reach"
    )


def test_a_refusal_survives_pickling() -> None:
    refusal = refused("xp.os")
    copied = pickle.loads(pickle.dumps(refusal))
    assert str(copied) == str(refusal)
    assert (copied.node, copied.line, copied.column) == ("Attribute", 1, 4)


@pytest.mark.parametrize(
    ("text", "node", "line", "column", "reason"),
    [
        ("x = (1,\n", "SyntaxError", 1, 5, "never closed"),
        ("x = = 1", "SyntaxError", 1, 5, "syntax error"),
        ("return 1", "SyntaxError", 1, 1, "outside function"),
        ("1\n\ud800", "Text", 2, 1, "half a character"),
        ("9" * 5000, "SyntaxError", 1, 1, "Exceeds the limit"),
        ("", "Module", 1, 1, "no statement"),
        ("# nothing", "Module", 1, 1, "no statement"),
        ("1 " * MAX_LENGTH, "Text", 1, 1, "longer than 20,000"),
    ],
)
def test_what_is_no_python_is_refused_too(
    text: str, node: str, line: int, column: int, reason: str
) -> None:
    refusal = refused(text)
    assert (refusal.node, refusal.line, refusal.column) == (node, line, column)
    assert reason in refusal.reason


def test_a_text_that_python_warns_about_is_accepted() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert value("1 is 1, '\\\\d'")[0] is True


def test_a_null_byte_is_refused() -> None:
    assert "null bytes" in refused("1\n\0").reason


@pytest.mark.parametrize(
    "text",
    [
        "(" * 9_000,
        "-" * 15_000 + "1",
        "not " * 4_000 + "1",
        "x" + ".data" * 3_000,
        "1" + "+1" * 9_000,
        "1" + "**1" * 6_000,
        "lambda:" * 2_000 + "1",
        "f" + "()" * 9_000,
        "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1),
        "(" * (MAX_DEPTH + 1) + "1" + ",)" * (MAX_DEPTH + 1),
        "".join(" " * n + "if 1:\n" for n in range(90)) + " " * 90 + "pass",
        "if 1: pass\n" + "elif 1: pass\n" * 1_500,
    ],
    ids=lambda text: repr(text[:12]),
)
def test_a_text_nested_too_deep_is_refused(text: str) -> None:
    reason = refused("f = x = 1\n" + text).reason
    assert "nested" in reason or "xp" in reason


def test_brackets_without_meaning_do_not_count_as_levels() -> None:
    assert value("(" * 50 + "7" + ")" * 50) == 7


# What holds for every text ----------------------------------------------------------------------

NAMES = "xp os add ones data x y lambda def class for in with try except as if else raise pass del"
DUNDERS = "__class__ __init__ __globals__ __or__ __torch_function__ __x __name__ __import__"
LOOK_ALIKES = "_＿x__ __ｃlass__ ｏｓ oſ ﬁll"
CALLS = "type super str return import match case"
OTHERS = ". . . ( ) [ ] { } , : = := @ * ** 'a' '__class__' f'{x}' 1 2j ... + - is == not"
WORDS = " ".join((NAMES, DUNDERS, LOOK_ALIKES, CALLS, OTHERS))
FRAGMENTS = st.sampled_from([*WORDS.split(), "\n"])


def dunders(text: str) -> set[str]:
    """Names of a text with two leading underscores, as Python reads them."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    names = {unicodedata.normalize("NFKC", t.string) for t in tokens if t.type == tokenize.NAME}
    return {name for name in names if name.startswith("__")}


TEMPLATES = st.sampled_from(
    [
        "xp.{}",
        "xp.ops.{}.{}",
        "x = xp\nx.{}.{}",
        "lambda {}: {}",
        "def {}({}={}): pass",
        "class {}(xp.{}):\n    def {}(self): return self.{}",
        "class X:\n    {} = {}",
        "with xp as {}: {}",
        "try: {}\nexcept Exception as {}: pass",
        "f = 1\nf({}={})",
        "[{} for {} in {}]",
        "({} := {})",
        "type(xp).{}",
        "super().{}",
        "{}",
    ]
)


@st.composite
def filled_templates(draw: st.DrawFn) -> str:
    template = draw(TEMPLATES)
    return template.format(*(draw(FRAGMENTS) for _ in range(template.count("{}"))))


SOUPS = st.lists(FRAGMENTS, max_size=12).map(" ".join)


@settings(max_examples=1_000, deadline=None)
@given(st.one_of(filled_templates(), SOUPS))
def test_an_accepted_text_has_no_dunder_but_those_listed(text: str) -> None:
    try:
        parse(text, VOCABULARY)
    except CaseRefused:
        return
    assert dunders(text) <= words.DEFINABLE | words.READABLE
    assert not any(name in text for name in LOOK_ALIKES.split())


@settings(max_examples=300, deadline=None)
@example("\r\x80")
@given(st.one_of(st.text(), st.text(alphabet="xp.os_()[]{}\n\r\t \0'\"\\#é:=@"), SOUPS))
def test_any_text_is_accepted_or_refused_with_a_place_in_it(text: str) -> None:
    refusal = None
    try:
        parse(text, VOCABULARY)
    except CaseRefused as error:
        refusal = error
    assert refusal is None or (refusal.line >= 1 and refusal.column >= 1)


# The namespace ----------------------------------------------------------------------------------


def test_a_case_finds_xp_helpers_and_listed_builtins() -> None:
    xp = object()
    names = namespace(xp, VOCABULARY, {"in_thread": len})
    assert names["xp"] is xp
    assert names["in_thread"] is len
    assert "open" not in names["__builtins__"]
    assert "getattr" not in names["__builtins__"]


def test_namespaces_do_not_share_their_builtins() -> None:
    first, second = (namespace(None, VOCABULARY, {}) for _ in range(2))
    assert first["__builtins__"] is not second["__builtins__"]


def test_a_helper_that_the_vocabulary_does_not_have_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match="elsewhere"):
        namespace(None, VOCABULARY, {"elsewhere": len})


def test_classes_work_and_belong_to_the_case() -> None:
    text = (
        "class X:\n    def __init__(self): self.calls = 1\n"
        "    @classmethod\n    def add(cls): return cls()\n"
        "    @staticmethod\n    def sum(): return 2\n"
        "X.add().calls + X.sum(), X.__module__"
    )
    assert value(text) == (3, "case")


def test_helpers_are_called() -> None:
    assert value("in_thread(lambda: 3)", in_thread=lambda f: f()) == 3
