"""Area ``schema-parse``: every schema of the release, and texts that are nearly schemas."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from itertools import product
from typing import Final

from hypothesis import strategies as st

from conformance.area import Area, Text
from conformance.cases.schema_texts import (
    ALIASES,
    BASE_TYPES,
    COMPOUND_TYPES,
    DEFAULTS,
    NAMES,
    STRINGS,
    SUFFIXES,
    TOKENS,
    TYPES,
    C,
    literal,
    parse,
    sample,
    settled,
    spoil,
    truncations,
)
from mindtorch_v2.profile import Profile

TRUNCATED: Final = 40
"""Schemas that are cut at every position."""
SPOILT: Final = 26_000
"""Schemas with something wrong in them, before those that are alike are taken out."""
SEED: Final = "schema-parse"

DECLARATIONS: Final = (
    "f() -> ()",
    "f(...) -> ...",
    "f(int x, ...) -> (int, ...)",
    "f(..., int x) -> ()",
    "f(...,) -> ()",
    "f(int x=1, ...) -> ()",
    "f() -> (..., int)",
    "f() -> (...)",
    "f() -> (int)",
    "f() -> int",
    "f() -> int x",
    "f() -> (int x)",
    "f() -> (int x, Tensor(a!) y, str[])",
    "f() -> (int x, ...)",
    "f() -> int x=1",
    "f() -> (int x=1)",
    "f() -> ((int, int))",
    "f() -> ((int, int)[])",
    "f() -> (int, int)[]",
    "f() -> (int[2] x)",
    "f() -> *",
    "f() ->",
    "f()",
    "f",
    "",
    " ",
    "\n",
    "()",
    "-> ()",
    "f(*) -> ()",
    "f(*, *) -> ()",
    "f(*, int x, *, int y) -> ()",
    "f(int x, *, int y=1, int z) -> ()",
    "f(*, ...) -> ()",
    "f(int x=1, int y) -> ()",
    "f(int x=1, int[] y) -> ()",
    "f(int x=1, int[]? y) -> ()",
    "f(int x=1, *, int y, int z=2) -> ()",
    "f(int x, int x) -> ()",
    "f(Tensor? x='\u00e9', Tensor y) -> ()",
    "f(Scalar x='\\303', Tensor y) -> ()",
    "f(str x='\\303', Tensor y) -> ()",
    "f(int) -> ()",
    "f(x) -> ()",
    "f(int x,) -> ()",
    "f(,int x) -> ()",
    "f(int x int y) -> ()",
    "f(int x)) -> ()",
    "f((int x) -> ()",
    "f(int[x] y) -> ()",
    "f(int[-1] y) -> ()",
    "f(int[0] y=1) -> ()",
    "f(int[2.7] y=1) -> ()",
    "f(int[.5] y) -> ()",
    "f(int[1e3] y) -> ()",
    "f(int[0x10] y) -> ()",
    "f(int[2j] y=4) -> ()",
    "f(int[4294967295] y) -> ()",
    "f(int[4294967295] y=1) -> ()",
    "f(int[4294967298] y=1) -> ()",
    "f(int[99999999999999999999] y) -> ()",
    "f(int[2][3] y) -> ()",
    "f(int[2][] y) -> ()",
    "f(int[2]?? y) -> ()",
    "f(int[2](a) y) -> ()",
    "f(int[2](a)? y) -> ()",
    "f(int[2]?(a) y) -> ()",
    "f(Tensor(a!)[2](b) y) -> ()",
    "f(Tensor(a)[](b)[](c) y) -> ()",
    "f((Tensor(a), Tensor(b!)) y) -> ()",
    "f(Dict(str, Tensor(a))(b!) y) -> ()",
    "f(Future(Tensor(a)) y) -> Future(Tensor(a!))",
    "f(Future(Tensor)(a) y) -> ()",
    "f(Tensor! x, Tensor! y, Tensor![] z) -> (Tensor!, Tensor!)",
    "f(Dict(str) y) -> ()",
    "f(Dict(str, int, int) y) -> ()",
    "f(Dict(Tensor?, int) y) -> ()",
    "f(Dict(t, int) y) -> ()",
    "f(Dict(int[], int) y) -> ()",
    "f(Dict y) -> ()",
    "f(Union() y) -> ()",
    "f(Union(int) y) -> ()",
    "f(Union(int, int) y) -> ()",
    "f(Union(int?, str) y) -> ()",
    "f(Union(Any, int) y) -> ()",
    "f(Union(t, u) y) -> ()",
    "f(Union((int, int), (int, str)) y) -> ()",
    "f(Union((int, int), (int, None)) y) -> ()",
    "f(Union(Scalar, str) y) -> ()",
    "f(Union(Scalar, None) y) -> ()",
    "f(Union(bool, int, float, complex, str) y) -> ()",
    "f(Union(Future(int), Future(None)) y) -> ()",
    "f(Union(int, str)? y, Union(int, str, None)[] z) -> ()",
    "f(None? y) -> ()",
    "f(NoneType[]? y) -> ()",
    "f(Any? y) -> ()",
    "f(Scalar?? y) -> ()",
    "f(__torch__ y) -> ()",
    "f(__torch__.torch y) -> ()",
    "f(__torch__.foo.classes.a.b y) -> ()",
    "f(__torch__.torch.foo.a.b y) -> ()",
    "f(__torch__.torch.classes.a.b y) -> ()",
    "f(__torch__.torch.classes.a y) -> ()",
    "f(__torch__.torch.classes.rnn.CellParamsBase(a) y) -> ()",
    "f(__torch__.torch.classes.rnn.CellParamsBase.x y) -> ()",
    "f(Float(2, 3) y) -> ()",
    "f(a.b x) -> a.b",
    "f(a.B.c(a!)[] x, int.x y, str.int z) -> ()",
    "f(A.b x) -> ()",
    "f(a..b x) -> ()",
    "f(a. b x) -> ()",
    "f(a. x) -> ()",
    "f(a.1 x) -> ()",
    "f(a.None x) -> ()",
    "f(None.a x) -> ()",
    "f(a... x) -> ()",
    "f(Tensor.a x) -> ()",
    "f(Dict.a x) -> ()",
    "f(double.a x) -> ()",
    "f(_a.b x) -> ()",
    "f(a.$ x) -> ()",
    "f(Tensor x) -> () # comment",
    "f(Tensor x) # comment\n -> ()",
    "# comment\nf(Tensor x) -> ()",
    "f(Tensor x, # comment\n  int y) -> ()",
    "f(Tensor x) -> () # type: int",
    "f(Tensor x)\\\n -> ()",
    "f(Tensor x) \\ -> ()",
    "f(Tensor x)\n-> ()",
    "f(Tensor x) -> ()\n",
    "f(Tensor x) -> ()\n\n",
    "f(Tensor x) -> ()\n  ",
    "f(Tensor x) -> ()\n  x",
    "f(Tensor x) -> ()\nx",
    "  f(Tensor x) -> ()",
    "  f(Tensor x) -> ()\nx",
    "  f(Tensor x) -> ()\n  x",
    "    f(Tensor x) -> ()\n  x",
    "\n\n  f(Tensor x) -> ()\n\n",
    "f(\n  Tensor x,\n  int y = 1\n) -> (\n  Tensor\n)",
    "f(\n  Tensor x,\n  int y = \n) -> (\n  Tensor\n)",
    "a\nb\nc\nd\nf(Tensor x",
    "f(\n\n\n\n\n\nfoo\n\n\n\n\n\n)",
    "f(\n1,\n2,\n3,\n4,\nFoo x,\n5,\n6,\n7,\n8)",
    "f(int a,\nint b,\nint c,\nint d,\nFoo x,\nint e,\nint f,\nint g,\nint h) -> ()",
    "f(str x='''a\nb''' y) -> ()",
    "f(Layout x='''a\nb\nc\nd''', int y) -> ()",
    "f(str x='''\\x\nb''') -> ()",
    "f(str x='''\n\n\\x\n b''') -> ()",
    "\tf\t(\tTensor\tx\t)\t->\t(\t)\t",
    "f(Tensor\x0bx)\x0c->\r()",
    "f(Tensor\xa0x) -> ()",
    "f(Tensor x) - > ()",
    "f(Tensor x) --> ()",
    "f(Tensor x) -> -> ()",
    "f(Tensor is not) -> ()",
    "f(Tensor not in) -> ()",
    "f(Tensor isnot) -> ()",
    "f(Tensor is  not) -> ()",
    "f(is notx) -> ()",
    "f(Tensor x) -> () f(Tensor x) -> ()",
    "f(Tensor x)->()->()",
    "f[](Tensor x) -> ()",
    "f{Tensor x} -> ()",
)


def texts(profile: Profile) -> Iterator[Text]:
    schemas = profile.schemas["schemas"]
    yield from _released(schemas)
    yield from _put("declarations", DECLARATIONS)
    yield from _put("names", (form.format(name) for name in NAMES for form in ("{}", "{}() -> ()")))
    yield from _put("types", _types())
    yield from _put("aliases", _aliases())
    yield from _put("defaults", _defaults())
    yield from _put("truncated", _truncated(schemas))
    yield from _put("spoilt", _spoilt(schemas))
    yield from _put("brackets", _brackets(schemas))
    yield from _type_variables()
    yield from _wrong_calls()


def _put(target: str, made: Iterable[str]) -> Iterator[Text]:
    """Each text parsed, and shown as it prints."""
    for text in made:
        if settled(text):
            yield target, f"str({parse(text)})"


def _released(schemas: list[str]) -> Iterator[Text]:
    for text in schemas:
        yield "released", f"str({parse(text)})"
    for text in schemas:
        yield "round trip", f"s = {parse(text)}\n[{C}.parse_schema(str(s)) == s, repr(s), s]"


def _types() -> Iterator[str]:
    for name, suffix in product((*TYPES, "Foo", "double", "int64_t", "T", "Symfloat"), SUFFIXES):
        yield f"f({name}{suffix} x) -> {name}{suffix}"
        yield f"f(Dict(str, {name}{suffix}) x, {name} y) -> ({name}{suffix} r, int)"


def _aliases() -> Iterator[str]:
    names = ("Tensor", "int", "t", "Any", "Dict(str, int)", "(int, Tensor)", "Union(int, str)")
    for name, alias in product(names, ALIASES):
        for suffix in ("{}", "{}?", "?{}", "{}[]", "[]{}", "{}[2]", "[2]{}", "{}[]?", "[]{}?"):
            yield f"f({name}{suffix.format(alias)} x) -> ()"
        yield f"f() -> {name}{alias}"
        yield f"f() -> ({name}{alias} r, {name}[]{alias})"
    for left, right in product(ALIASES, repeat=2):
        yield f"f(Tensor{left}[]{right} x) -> ()"


def _defaults() -> Iterator[str]:
    names = [*BASE_TYPES, "Union(int, str)", "Future(int)", "(int, int)", "Dict(str, int)"]
    for name, default in product(names, DEFAULTS):
        yield f"f({name} x={default}) -> ()"
    for name, default in product(("int", "SymInt", "float", "complex", "bool", "str"), DEFAULTS):
        for suffix in ("[]", "[2]", "?", "[]?", "[2]?", "[][]", "[0]", "[1]", "[3]"):
            yield f"f({name}{suffix} x={default}) -> ()"
    for name, default in product(("ScalarType", "Layout", "Tensor", "Scalar", "t"), DEFAULTS):
        for suffix in ("[]", "[2]", "?", "??"):
            yield f"f({name}{suffix} x={default}) -> ()"
    for name, default in product(("str", "str?", "int", "Device", "Scalar", "str[]"), STRINGS):
        yield f"f({name} x={default}) -> ()"
        yield f"f({name} x={default}"


def _truncated(schemas: list[str]) -> Iterator[str]:
    for text in sample(schemas, TRUNCATED, SEED):
        yield from truncations(text)


def _spoilt(schemas: list[str]) -> Iterator[str]:
    chance = random.Random(SEED)
    for _ in range(SPOILT):
        text = spoil(chance.choice(schemas), chance)
        yield spoil(text, chance) if text and chance.random() < 0.3 else text


def _brackets(schemas: list[str]) -> Iterator[str]:
    """Every bracket of some schemas left out, doubled, or of another kind."""
    for text in sample(schemas, TRUNCATED, SEED + "/brackets"):
        for index, character in enumerate(text):
            if character in "()[]":
                for other in ("", character * 2, *"()[]{}"):
                    yield text[:index] + other + text[index + 1 :]


def _type_variables() -> Iterator[Text]:
    for name, allowed, space in product(
        (
            "t",
            "T",
            "double",
            "double.x",
            "t.u",
            "int64_t",
            "int",
            "t?",
            "t[]",
            "Dict(int, t)",
            "_t",
            "é",
        ),
        ("", ", True", ", False", ", allow_typevars=False", ", allow_typevars=True", ", None"),
        ("", "aten::", "prim::", "foo::", "aten", "Aten::"),
    ):
        yield (
            "type variables",
            f"str({C}.parse_schema({literal(f'{space}f({name} x) -> {name}')}{allowed}))",
        )


def _wrong_calls() -> Iterator[Text]:
    good = literal("f() -> ()")
    for arguments in (
        "",
        "None",
        "1",
        "1.5",
        "[]",
        "b'f() -> ()'",
        f"{good}, 1",
        f"{good}, 'x'",
        f"{good}, []",
        f"{good}, True, 1",
        f"schema={good}",
        f"allow_typevars=False, schema={good}",
        f"{good}, schema={good}",
        f"{good}, x=1",
        f"text={good}",
        f"*[{good}]",
        f"{C}.parse_schema({good})",
    ):
        yield "wrong calls", f"{C}.parse_schema({arguments})"


def strategy(profile: Profile) -> st.SearchStrategy[Text]:
    """Schemas by the grammar, spoilt or not; those of the release, spoilt; tokens in any order."""
    schemas = profile.schemas["schemas"]
    chance = st.randoms(use_true_random=False)
    spoilt = st.builds(spoil, st.sampled_from(schemas), chance)
    declared = declarations()
    twice = st.builds(lambda text, r: spoil(text, r) if text else text, spoilt, chance)
    tokens = st.lists(st.sampled_from([*TOKENS, *TYPES, "(", ")", "->", " "]), max_size=20)
    text = st.one_of(
        declared,
        st.builds(spoil, declared, chance),
        spoilt,
        twice,
        tokens.map("".join),
        tokens.map(lambda parts: "f(" + " ".join(parts)),
    ).filter(settled)
    return text.map(lambda drawn: ("drawn", f"str({parse(drawn)})"))


def declarations() -> st.SearchStrategy[str]:
    """Whole declarations by the grammar, most of them right."""
    word = st.from_regex(r"[a-z_][a-z0-9_]{0,5}", fullmatch=True)
    base = st.sampled_from([*BASE_TYPES, COMPOUND_TYPES[-1]])

    def grow(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        return st.one_of(
            inner.map(lambda t: t + "?"),
            inner.map(lambda t: t + "[]"),
            st.builds("{}({})".format, st.sampled_from(["Future", "Await", "RRef"]), inner),
            st.builds("Dict({}, {})".format, inner, inner),
            st.lists(inner, max_size=3).map(lambda ts: f"({', '.join(ts)})"),
            st.lists(inner, min_size=1, max_size=4).map(lambda ts: f"Union({', '.join(ts)})"),
        )

    types = st.recursive(base, grow, max_leaves=5)
    alias = st.one_of(st.just(""), st.just(""), st.sampled_from(ALIASES))
    size = st.sampled_from(["", "", "", "[1]", "[2]", "[3]?", "[]", "?"])
    default = st.one_of(
        st.just(""),
        st.sampled_from([*DEFAULTS, *STRINGS]).map("={}".format),
        st.integers(-(1 << 65), 1 << 65).map("={}".format),
        st.floats(allow_nan=False, allow_infinity=False).map(lambda f: f"={f!r}"),
        st.lists(st.integers(-5, 5), max_size=3).map(lambda v: f"={v}"),
        st.text(max_size=5).filter(_is_whole).map(lambda t: f"={t!r}"),
    )
    argument = st.builds("{}{}{} {}{}".format, types, alias, size, word, default)
    arguments = st.lists(st.one_of(argument, argument, argument, st.just("*")), max_size=5)
    result = st.builds("{}{}{}".format, types, alias, st.sampled_from(["", " r", "[]"]))
    returns = st.one_of(
        st.just("()"),
        st.just("..."),
        result,
        st.lists(result, max_size=3).map(lambda rs: f"({', '.join(rs)})"),
    )
    vararg = st.sampled_from(["", "", "", "", ", ..."])
    name = st.one_of(word, st.builds("{}::{}".format, word, word), st.sampled_from(NAMES))
    overload = st.one_of(st.just(""), word.map(".{}".format))
    return st.builds(
        lambda n, o, a, v, r: f"{n}{o}({', '.join(a)}{v}) -> {r}",
        name,
        overload,
        arguments,
        vararg,
        returns,
    )


def _is_whole(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


AREA: Final = Area("schema-parse", texts, strategy)
