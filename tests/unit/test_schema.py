"""The schema language, without torch: types, tokens, excerpts, numbers, values and printing."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindtorch_v2 import profile
from mindtorch_v2.schema import AliasInfo, parse_printed_schema, parse_schema
from mindtorch_v2.schema.lexer import tokenize
from mindtorch_v2.schema.number_text import stod, stoll
from mindtorch_v2.schema.schema_info import INPUT, OUTPUT, SchemaArgument, SchemaInfo
from mindtorch_v2.schema.source_range import highlight
from mindtorch_v2.schema.string_literal import MalformedLiteralError, parse_string_literal
from mindtorch_v2.schema.types import (
    DictType,
    FutureType,
    IntType,
    ListType,
    NoneType,
    NumberType,
    OptionalType,
    StringType,
    TensorType,
    TupleType,
    VarType,
    equal,
    is_subtype,
    make_union,
    printed,
)
from mindtorch_v2.schema.values import quote, same_value, show

SCHEMAS = profile.active().schemas["schemas"]


# Types ------------------------------------------------------------------------------------------


def test_two_types_spelled_alike_are_one():
    assert ListType(OptionalType(TensorType())) is ListType(OptionalType(TensorType()))


def test_a_type_cannot_be_changed():
    with pytest.raises(AttributeError, match="frozen"):
        IntType().text = "x"


def test_a_type_has_two_spellings():
    made = DictType(StringType(), ListType(NumberType()))
    assert (made.text, str(made)) == ("Dict(str, Scalar[])", "Dict[str, List[number]]")


def test_streams_print_futures_like_annotations_and_lists_like_schemas():
    assert printed(ListType(FutureType(IntType()))) == "Future[int][]"


def test_an_optional_of_an_optional_is_another_type_equal_to_it():
    once = OptionalType(IntType())
    assert OptionalType(once) is not once
    assert equal(OptionalType(once), once)


def test_any_two_type_variables_are_equal():
    assert equal(ListType(VarType("t")), ListType(VarType("u")))
    assert not equal(VarType("t"), IntType())


def test_a_union_of_nothing_but_itself_is_refused():
    with pytest.raises(RuntimeError, match="has the single type int"):
        make_union(IntType(), IntType())


def test_a_union_with_none_comes_down_to_an_optional():
    assert make_union(IntType(), NoneType()) is OptionalType(IntType())


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (IntType(), NumberType(), True),
        (NumberType(), IntType(), False),
        (NoneType(), OptionalType(TensorType()), True),
        (TensorType(), OptionalType(TensorType()), True),
        (OptionalType(TensorType()), TensorType(), False),
        (ListType(IntType()), ListType(NumberType()), False),
        (TupleType(IntType()), TupleType(NumberType()), True),
        (make_union(IntType(), StringType()), OptionalType(IntType()), False),
    ],
    ids=str,
)
def test_is_subtype(left, right, expected):
    assert is_subtype(left, right) is expected


# Tokens and excerpts ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("a.b", "ident . ident eof"),
        ("1.5j -> ...", "number arrow dots eof"),
        ("is not isnot not in", "is not|ident|not in|eof"),
        ("'a' '''b\nc''' 0x1F", "string_literal string_literal number eof"),
        ("(\n a)\n  b", "( ident ) indent ident eof"),
        ("a # b\nc", "ident newline ident eof"),
        ("a $", "ident error"),
    ],
)
def test_tokens(text, kinds):
    expected = kinds.split("|") if "|" in kinds else kinds.split()
    assert tokenize(text, ends_at_zero=False).kinds == expected


def test_a_number_at_the_end_may_end_at_zero():
    assert tokenize("f(1", ends_at_zero=True).ends == [1, 2, 0, 0]
    assert tokenize("f(1", ends_at_zero=False).ends == [1, 2, 3, 3]


@given(st.text(alphabet="ab \n", max_size=30), st.integers(0, 30), st.integers(0, 30))
def test_an_excerpt_marks_as_many_letters_as_the_range_has(text, start, length):
    start = min(start, len(text))
    end = min(start + length, len(text))
    if end - start == len(text) or "\n" in text[start:end] or " " in text[start:end]:
        return
    assert highlight(text, start, end).count("~") == end - start


def test_an_excerpt_has_two_lines_on_each_side():
    text = "".join(f"line {number}\n" for number in range(10))
    start = text.index("5")
    shown = highlight(text, start, start + 1).splitlines()
    assert shown[0] == "line 3"
    assert shown[2:4] == ["line 5", "     ~ <--- HERE"]
    assert shown[-1] == "line 7"


# Numbers, strings, values -----------------------------------------------------------------------


def test_numbers_are_read_as_far_as_they_go():
    assert (stoll("3.7"), stoll("0x10"), stod("1e+"), stod("0x1p-1074")) == (3, 0, 1.0, 5e-324)


@pytest.mark.parametrize(
    ("function", "text", "error"),
    [
        (stoll, ".5", ValueError),
        (stoll, "9223372036854775808", IndexError),
        (stod, "-", ValueError),
        (stod, "1e999", IndexError),
        (stod, "1e-320", IndexError),
    ],
)
def test_numbers_out_of_reach(function, text, error):
    with pytest.raises(error, match=function.__name__):
        function(text)


def test_string_literals():
    assert parse_string_literal(r"'''a\n\101'b'''") == "a\nA'b"
    with pytest.raises(MalformedLiteralError, match="unsupported hex"):
        parse_string_literal(r"'\x41'")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1."),
        (-0.0, "0."),
        (0.1, "0.10000000000000001"),
        (1e20, "1e+20"),
        (complex(0, -2), "0.-2.j"),
        ([True, None], "[True, None]"),
    ],
)
def test_values_print_as_in_cpp(value, text):
    assert show(value) == text


def test_one_is_not_true():
    assert same_value([1], [1])
    assert not same_value(1, True)
    assert not same_value([1], [1.0])


def test_quoting_divides_a_signed_char():
    assert quote("\x01é'") == '"\\001' + "\\0)+" + "\\/.)" + "\\'" + '"'


# Schemas ----------------------------------------------------------------------------------------


def test_every_schema_prints_as_it_was_printed():
    assert [str(parse_printed_schema(text)) for text in SCHEMAS] == SCHEMAS


def test_two_alias_sets_change_places_when_parsed():
    text = "f(Tensor(a|b) x) -> ()"
    assert str(parse_schema(text)) == "f(Tensor(b|a) x) -> ()"
    assert parse_schema(text) == parse_printed_schema(text)


def test_the_order_of_alias_sets_is_no_part_of_them():
    assert AliasInfo(("a", "b")) == AliasInfo(("b", "a"))
    assert hash(AliasInfo(("a", "b"))) == hash(AliasInfo(("b", "a")))


def test_hash_and_equality_agree_for_every_schema():
    for text in SCHEMAS[::50]:
        one, other = parse_schema(text), parse_schema(text)
        assert one == other
        assert hash(one) == hash(other)


@pytest.mark.parametrize(
    ("kind", "are_apart"),
    [
        ("Tensor?", False),
        ("Union(Tensor?)", True),
        ("Union(Tensor, NoneType)", True),
        ("Union(int?)?", True),
    ],
)
def test_optionals_that_a_union_came_down_to_hash_apart(kind, are_apart):
    one, other = (parse_schema(f"_({kind} x) -> ()").arguments[0] for _ in range(2))
    assert one == other
    assert (one.identity_hash() != other.identity_hash()) is are_apart


def test_lists_that_are_parsed_twice_hash_apart():
    one, other = (parse_schema("f(int[] x) -> ()") for _ in range(2))
    assert one.identity_hash() != other.identity_hash()
    one, other = (parse_schema("f(Tensor? x) -> ()") for _ in range(2))
    assert one.identity_hash() == other.identity_hash()


def test_importing_the_schemas_reads_no_stored_schema():
    code = "import mindtorch_v2.schema as s; from mindtorch_v2 import profile; "
    code += "assert 'schemas' not in vars(profile.active())"
    subprocess.run([sys.executable, "-c", code], check=True)


# Alias queries ----------------------------------------------------------------------------------


def test_two_lists_may_share_elements_and_are_not_one():
    info = SchemaInfo(parse_schema("f(Tensor[] x, Tensor[] y) -> ()"))
    left, right = SchemaArgument(INPUT, 0), SchemaArgument(INPUT, 1)
    assert not info.may_alias(left, right)
    assert info.may_contain_alias(left, right)


def test_an_output_is_written_to_if_the_input_that_it_aliases_is():
    info = SchemaInfo(parse_schema("f(Tensor(a!) x, Tensor y) -> (Tensor(a!), Tensor)"))
    assert info.is_mutable_at(SchemaArgument(OUTPUT, 0))
    assert not info.is_mutable_at(SchemaArgument(OUTPUT, 1))


def test_inputs_of_one_value_alias_each_other():
    class Fake:
        dtype = device = None

    info = SchemaInfo(parse_schema("f(Tensor x, Tensor y) -> ()"))
    value = Fake()
    info.add_argument_values({"x": value, "y": value})
    assert info.may_alias(SchemaArgument(INPUT, 0), SchemaArgument(INPUT, 1))
