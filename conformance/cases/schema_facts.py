"""Area ``schema-facts``: what schemas, arguments and types answer, and what may alias what."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final

from hypothesis import strategies as st

from conformance.area import Area, Text
from conformance.cases.schema_parse import declarations
from conformance.cases.schema_texts import (
    ALIASES,
    SUFFIXES,
    TYPES,
    C,
    literal,
    parse,
    settled,
    spoil,
)
from mindtorch_v2.profile import Profile

SEED: Final = "schema-facts"
SPOILT: Final = 3
"""Neighbours of each schema that it is compared with."""

ALIAS: Final = (
    "def alias(i): return i and [i.is_write, i.before_set, i.after_set]\n"
    "def argument(a): return [a.name, repr(a.type), a.real_type, a.real_type.str(), a.N,"
    " a.default_value, a.has_default_value(), a.kwarg_only, a.is_out, alias(a.alias_info)]\n"
)
FACTS: Final = (
    ALIAS + "s = {}\n"
    "[s.name, s.overload_name, s.is_mutable, list(map(argument, s.arguments)),"
    " list(map(argument, s.returns))]"
)

PLACES: Final = (
    f"def place(side, index): return {C}._SchemaArgument(side, index)\n"
    f"def places(s): return ([place({C}._SchemaArgType.input, i) for i in range(len(s.arguments))]"
    f" + [place({C}._SchemaArgType.output, i) for i in range(len(s.returns))])\n"
)
QUERIES: Final = (
    PLACES + f"s = {{}}\ni = {C}._SchemaInfo(s)\n{{}}"
    "[i.is_mutable(), [i.is_mutable(p) for p in places(s)],"
    " [[(i.may_alias(p, q), i.may_contain_alias(p, q)) for q in places(s)] for p in places(s)]]"
)

COMPARED: Final = (
    "s = {}\nt = {}\n"
    "[s == t, hash(s) == hash(t), s.is_backward_compatible_with(t),"
    " s.check_forward_compatible_with(t), t.is_backward_compatible_with(s),"
    " t.check_forward_compatible_with(s)]"
)

TYPE_FACTS: Final = (
    "t = {}.arguments[0].real_type{}\n"
    "[t, str(t), t.str(), t.kind(), t.annotation_str, t.containedTypes(), t.requires_grad(),"
    " t.is_interface_type(), t == t, t == None, t.isSubtypeOf(t), t.isSubtypeOf(None)]"
)
# fmt: off
TENSOR_QUESTIONS: Final = (
    "dim", "undefined", "sizes", "symbolic_sizes", "varyingSizes", "strides", "scalarType",
    "device", "dtype",
)
# fmt: on

#: Schemas that may replace each other, or nearly.
VERSIONS: Final = (
    "f(Tensor x) -> Tensor",
    "f(Tensor? x) -> Tensor",
    "f(Any x) -> Tensor",
    "f(Tensor y) -> Tensor",
    "f(Tensor x) -> Tensor?",
    "f(Tensor x) -> (Tensor, Tensor)",
    "f(Tensor x) -> Tensor r",
    "f(Tensor x, int y) -> Tensor",
    "f(Tensor x, int y=1) -> Tensor",
    "f(Tensor x, int y=2) -> Tensor",
    "f(Tensor x, Scalar y=1) -> Tensor",
    "f(Tensor x, float y=1) -> Tensor",
    "f(Tensor x, int[] y=[1, 1]) -> Tensor",
    "f(Tensor x, int[2] y=1) -> Tensor",
    "f(Tensor x, int[2] y=2) -> Tensor",
    "f(Tensor x, int? y=None) -> Tensor",
    "f(Tensor x, int y=1, int z=2) -> Tensor",
    "f(Tensor x, *, int y=1) -> Tensor",
    "f(Tensor x, *, int y) -> Tensor",
    "f(Tensor x, int y=1, *, Tensor(a!) out) -> Tensor(a!)",
    "f(Tensor x, *, Tensor(a!) out) -> Tensor(a!)",
    "f(Tensor x, *, Tensor(b!) out) -> Tensor(b!)",
    "f(Tensor x, *, int y=1, Tensor(a!) out) -> Tensor(a!)",
    "f(Tensor x, *, Tensor(a!) out, Tensor(b!) out2) -> (Tensor(a!), Tensor(b!))",
    "f(*, Tensor(a!) out) -> Tensor(a!)",
    "f(Tensor x, *, int[] y=[1], Tensor(a!) out) -> Tensor(a!)",
    "f(Tensor(a) x) -> Tensor(a)",
    "f(Tensor(a!) x) -> Tensor(a!)",
    "f(Tensor(a|b) x) -> Tensor(a)",
    "f(Tensor(b|a) x) -> Tensor(a)",
    "f(SymInt x) -> ()",
    "f(int x) -> ()",
    "f(t x) -> u",
    "f(u x) -> t",
    "f(...) -> ...",
    "f(...) -> ()",
    "f.x(Tensor x) -> Tensor",
    "g(Tensor x) -> Tensor",
    "f(int[] x) -> int[]",
    "f(Tensor[] x) -> Tensor[]",
    "f((int, int) x) -> ((int, int))",
    "f(int[]? x=None) -> ()",
    "f(str x='a') -> ()",
    "f(bool x=1) -> ()",
    "f(bool x=0) -> ()",
    "f(bool x=None) -> ()",
    "f(bool x=False) -> ()",
    "f(bool x=0.0) -> ()",
    "f(bool x=0j) -> ()",
    "f(bool x='') -> ()",
    "f(bool x=True) -> ()",
    "f(float x=1) -> ()",
    "f(float x=1.0) -> ()",
)
# fmt: off
ALIASED: Final = (
    "Tensor", "Tensor?", "Tensor[]", "Tensor?[]", "Tensor[]?", "Tensor[2]", "int", "int[]", "t",
    "t[]", "Any", "Dict(str,Tensor)", "(Tensor,int)", "(Tensor[],Tensor?)", "Union(Tensor,int[])",
    "Future(Tensor)", "Scalar", "__torch__.torch.classes.rnn.CellParamsBase", "Union(int,str)",
)
# fmt: on


def texts(profile: Profile) -> Iterator[Text]:
    schemas = profile.schemas["schemas"]
    for text in schemas:
        yield "schema", FACTS.format(parse(text))
    for text in schemas:
        if "(a" in text or "(*" in text or "(b" in text:
            yield "alias queries", QUERIES.format(parse(text), "")
    yield from _alias_forms()
    yield from _values(schemas)
    yield from _compared(schemas)
    yield from _types()
    yield from _type_pairs()
    yield from _type_classes()
    yield from _wrong_calls()


def _alias_forms() -> Iterator[Text]:
    """Every type under every annotation, beside others that share its sets or its type."""
    names = [name.replace(",", ", ") for name in ALIASED]
    for name, alias in product(names, ALIASES):
        text = f"f({_annotated(name, alias)} x, Tensor(a!) y, int[] z) -> Tensor(b)"
        yield "alias forms", QUERIES.format(parse(text), "")
    for left, right in product(names, repeat=2):
        for alias in ("(a)", "(*)", "(a!)"):
            mine, other = _annotated(left, alias), _annotated(right, alias)
            text = f"f({mine} x, {right} y, {left} z) -> ({other} r, {left} q)"
            yield "alias forms", QUERIES.format(parse(text), "")
    for text in (
        "f(Tensor(a) x, Tensor(a) y, Tensor z, Tensor(*) w) -> (Tensor(a), Tensor(*))",
        "f(Tensor(a) x, Tensor(a)[] y, Tensor(a)[](b) z, Tensor(b) w) -> Tensor(b)[]",
        "f() -> (Tensor(a), Tensor(a), Tensor(*), Tensor[])",
    ):
        yield "alias forms", QUERIES.format(parse(text), "")


def _annotated(name: str, alias: str) -> str:
    """``Tensor(a)[]`` of ``Tensor[]`` and ``(a)``: an annotation stands before ``?`` and ``[]``."""
    found = re.fullmatch(r"(.*?)((?:\?|\[\d*\])*)", name)
    assert found is not None
    return f"{found[1]}{alias}{found[2]}"


# fmt: off
VALUES: Final = (
    "1", "1.5", "True", "False", "None", "'a'", "[]", "[1]", "[1,'a']", "[1,None]", "[1,2.0]",
    "{}", "{'a':1}", "{'a':1,'b':'x'}", "{1:2}", "{None:1}", "()", "(1,'a')", "1j", "range(3)",
    "{1,2}", "(lambda:1)", "object()", "[[]]", "int",
)
# fmt: on


def _values(schemas: Sequence[str]) -> Iterator[Text]:
    flags = [
        text for text in schemas if re.search(r"bool (training|train|use_input_stats)\b", text)
    ]
    for text, value in product(flags, ("True", "False", "1", "None")):
        names = re.findall(r"bool (training|train|use_input_stats)\b", text)
        if value in ("True", "False"):
            known = "".join(f"i.add_argument_value({name!r}, {value})\n" for name in names)
            yield "flags", QUERIES.format(parse(text), known)
    for text in flags:
        yield "flags", QUERIES.format(parse(text), "")
    same = parse("f(Tensor(a) self, Tensor[] y, int z=1) -> Tensor(a)")
    for name, value in product(("self", "input", "y", "z", "nosuch"), VALUES):
        line = f"i.add_argument_value({name!r}, {value})\n"
        yield "values", QUERIES.format(same, line)
        yield "values", QUERIES.format(same, f"i.add_argument_values({{{name!r}: {value}}})\n")
    for line in (
        "i.add_argument_values({1: 1})\n",
        "i.add_argument_values({None: 1, 'self': 2})\n",
        "i.add_argument_values([])\n",
        "i.add_argument_values(None)\n",
        "i.add_argument_value(1, 1)\n",
        "i.add_argument_value('self')\n",
        "i.add_argument_value()\n",
    ):
        yield "values", QUERIES.format(same, line)
    made = f"i = {C}._SchemaInfo({same})\n"
    for name in ("self", "x", "y", "z", "nosuch", "input", ""):
        yield "values", f"{made}i.has_argument({name!r})"
        yield "values", f"{made}i.is_mutable({name!r})"


def _compared(schemas: Sequence[str]) -> Iterator[Text]:
    """Each schema with itself and with neighbours of it; old and new versions in all pairs."""
    for text in schemas:
        yield "compared", COMPARED.format(parse(text), parse(text))
    chance = random.Random(SEED)
    for text, _ in product(schemas, range(SPOILT)):
        other = spoil(text, chance)
        if settled(other):
            yield "compared with a neighbour", COMPARED.format(parse(text), parse(other))
    for left, right in product(VERSIONS, repeat=2):
        yield "versions", COMPARED.format(parse(left), parse(right))


def _spelled() -> list[str]:
    return [f"{name}{suffix}" for name in TYPES for suffix in SUFFIXES]


def _types() -> Iterator[Text]:
    for name in _spelled():
        schema = parse(f"f({name} x) -> ()")
        yield "types", f"{schema}.arguments[0].type"
        yield "types", TYPE_FACTS.format(schema, "")
        # The parts of a type are fake types: see `mindtorch_v2.schema.function_schema.Argument`.
        yield "types", TYPE_FACTS.format(parse(f"f(({name}, int) x) -> ()"), ".elements()[0]")
    questions = ("getElementType", "elements", "getKeyType", "getValueType", *TENSOR_QUESTIONS)
    for name, suffix, question in product(TYPES, ("", "?", "[]"), questions):
        asked = f"{parse(f'f({name}{suffix} x) -> ()')}.arguments[0].real_type.{question}()"
        yield "types", asked


def _type_pairs() -> Iterator[Text]:
    names = [*TYPES, *(f"{name}{suffix}" for name in TYPES[:20] for suffix in ("?", "[]"))]
    for left, right in product(names, repeat=2):
        schema = parse(f"f({left} x, {right} y) -> ()")
        yield (
            "pairs of types",
            f"t, u = [a.real_type for a in {schema}.arguments]\n"
            "[t == u, t.isSubtypeOf(u), u.isSubtypeOf(t)]",
        )


def _type_classes() -> Iterator[Text]:
    """What the classes of types make themselves."""
    # fmt: off
    simple = (
        "AnyType", "NumberType", "IntType", "SymIntType", "SymBoolType", "FloatType",
        "ComplexType", "TensorType", "BoolType", "StringType", "DeviceObjType", "_GeneratorType",
        "StreamObjType", "NoneType",
    )
    # fmt: on
    made = [f"{C}.{name}.get()" for name in simple]
    for text in made:
        yield "type classes", f"t = {text}\n[t, t.kind(), t.str()]"
    yield "type classes", f"{C}.ListType(None)"  # torch crashes on other types of nothing
    for name in ("ListType", "OptionalType"):
        for text in (*made, "1", f"[{made[0]}]", f"{C}.ListType.ofInts()"):
            yield "type classes", f"{C}.{name}({text})"
            yield "type classes", f"{C}.{name}({text}).getElementType()"
    for name in ("ofInts", "ofTensors", "ofFloats", "ofComplexDoubles", "ofBools", "ofStrings"):
        yield "type classes", f"{C}.ListType.{name}()"
    yield "type classes", f"{C}.OptionalType.ofTensor()"
    for left, right in product(made[:8], repeat=2):
        yield "type classes", f"{C}.DictType({left}, {right})"
        yield "type classes", f"{C}.TupleType([{left}, {right}])"
        yield "type classes", f"{C}.UnionType([{left}, {right}])"
    for text in ("", "[]", "None", "1", "[1]", "()", f"({made[2]},)", f"{made[2]}"):
        yield "type classes", f"{C}.TupleType({text})"
        yield "type classes", f"{C}.UnionType({text})"
        yield "type classes", f"{C}.DictType({text})"


def _wrong_calls() -> Iterator[Text]:
    schema = parse("f(Tensor(a!) x, int y=1) -> Tensor(a!)")
    info = f"{C}._SchemaInfo({schema})"
    place = f"{C}._SchemaArgument({C}._SchemaArgType.input, 0)"
    wrong = ("", "None", "1", "'x'", "[]", "1.5", "True", schema, info, place, f"{C}.IntType.get()")
    for argument in wrong:
        for method in ("is_backward_compatible_with", "check_forward_compatible_with", "__eq__"):
            yield "wrong calls", f"{schema}.{method}({argument})"
        for method in ("is_mutable", "has_argument", "may_alias", "may_contain_alias"):
            yield "wrong calls", f"i = {info}\ni.{method}({argument})"
            yield "wrong calls", f"i = {info}\ni.{method}({place}, {argument or None})"
        yield "wrong calls", f"{C}._SchemaInfo({argument})"
        yield "wrong calls", f"{C}._SchemaArgument({argument})"
        yield "wrong calls", f"{C}._SchemaArgument({C}._SchemaArgType.input, {argument or -1})"
        yield "wrong calls", f"{C}.IntType.get() == ({argument})"
        yield "wrong calls", f"{C}.IntType.get().isSubtypeOf({argument})"
    for side, index in product(("input", "output"), (0, 1, 2, 5, (1 << 64) - 1, 1 << 64, -1)):
        one = f"{C}._SchemaArgument({C}._SchemaArgType.{side}, {index})"
        yield "places", f"p = {one}\n[repr(p.type), p.index]"
        yield "places", f"i = {info}\ni.is_mutable({one})"
        yield "places", f"i = {info}\ni.may_alias({one}, {place})"
        yield "places", f"i = {info}\ni.may_alias({place}, {one})"
        yield "places", f"i = {info}\ni.may_contain_alias({place}, {one})"
    for name in ("name", "overload_name", "arguments", "returns", "is_mutable", "nosuch"):
        yield "attributes", f"s = {schema}\ns.{name}"
    for name in (
        "name",
        "type",
        "real_type",
        "N",
        "default_value",
        "alias_info",
        "is_out",
        "nosuch",
    ):
        for index in (0, 1, 2):
            yield "attributes", f"{schema}.arguments[{index}].{name}"
    for text in ("hash({})", "len({})", "bool({})", "list({})", "{}()", "{} < 1", "{} == None"):
        if text != "hash({})":
            yield "attributes", text.format(schema)
        yield "attributes", text.format(f"{C}.IntType.get()")


def strategy(profile: Profile) -> st.SearchStrategy[Text]:
    """Facts, alias queries and comparisons of declarations made by the grammar."""
    declared = declarations().filter(settled)
    chance = st.randoms(use_true_random=False)
    released = st.sampled_from(profile.schemas["schemas"])
    spoilt = st.builds(spoil, released, chance).filter(settled)
    text = st.one_of(declared, spoilt).map(literal).map(f"{C}.parse_schema({{}})".format)
    return st.one_of(
        text.map(lambda drawn: ("drawn facts", FACTS.format(drawn))),
        text.map(lambda drawn: ("drawn queries", QUERIES.format(drawn, ""))),
        st.tuples(text, text).map(lambda drawn: ("drawn pairs", COMPARED.format(*drawn))),
        st.tuples(released, chance)
        .map(lambda drawn: (drawn[0], spoil(*drawn)))
        .filter(lambda drawn: settled(drawn[1]))
        .map(lambda drawn: ("drawn pairs", COMPARED.format(*map(parse, drawn)))),
    )


AREA: Final = Area("schema-facts", texts, strategy)
