"""The contract of schemas: what parses, what it holds, how a refusal reads."""

import pytest

import mindtorch_v2 as torch

parse = torch._C.parse_schema


def test_a_schema_prints_as_it_is_written():
    text = (
        "aten::add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)"
    )
    schema = parse(text)
    assert str(schema) == repr(schema) == text
    assert (schema.name, schema.overload_name) == ("aten::add", "out")


def test_an_argument_tells_what_a_call_needs_to_know():
    schema = parse("f(Tensor(a!) self, SymInt[2] size=1, *, ScalarType? dtype=None) -> Tensor(a!)")
    self, size, dtype = schema.arguments
    assert [a.name for a in schema.arguments] == ["self", "size", "dtype"]
    assert (size.N, size.default_value, size.has_default_value()) == (2, [1, 1], True)
    assert (dtype.default_value, dtype.has_default_value(), dtype.kwarg_only) == (None, True, True)
    assert (self.default_value, self.has_default_value(), self.is_out) == (None, False, False)


def test_calls_are_checked_against_int_where_the_schema_says_symint_or_a_dtype():
    symint, dtype = parse("f(SymInt a, ScalarType b) -> ()").arguments
    assert (str(symint.type), symint.real_type.str()) == ("int", "SymInt")
    assert (str(dtype.type), dtype.real_type.str()) == ("int", "ScalarType")


def test_only_a_written_keyword_is_an_out_argument():
    first, second = parse("f(Tensor(a!) x, *, Tensor(b!) out) -> ()").arguments
    assert (first.is_out, second.is_out) == (False, True)


def test_an_annotation_has_sets_before_and_after():
    (argument,) = parse("f(Tensor(a! -> a|b) x) -> ()").arguments
    info = argument.alias_info
    assert info.is_write
    assert (info.before_set, info.after_set) == ({"a"}, {"a", "b"})


def test_mutable_is_a_schema_that_writes_to_an_argument():
    assert parse("f(Tensor(a!) x) -> ()").is_mutable
    assert not parse("f(Tensor(a) x) -> Tensor(a)").is_mutable


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("f(Foo x) -> ()", "unknown type specifier"),
        (
            "f(int x -> ()",
            "expected ) but found 'arrow' here:\nf(int x -> ()\n        ~~ <--- HERE\n",
        ),
        ("f(int x=y) -> ()", "invalid numeric default value"),
        ("f(..., int x) -> ()", "must be the last element of the argument list"),
        ("f.default() -> ()", "default is not a legal overload name for aten operators"),
        ("f", "only the operator name was given"),
        ("f(int a=1, int b) -> ()", "Non-default positional argument follows default argument"),
        ("f(int x) $", "expected a valid token but found ' ' here"),
    ],
)
def test_a_refusal_says_what_and_where(text, message):
    with pytest.raises(RuntimeError) as refusal:
        parse(text)
    assert message in str(refusal.value)


def test_a_type_variable_needs_leave_outside_aten_and_prim():
    with pytest.raises(RuntimeError, match="unknown type specifier"):
        parse("f(t x) -> t", allow_typevars=False)
    assert str(parse("aten::f(t x) -> t", allow_typevars=False)) == "aten::f(t x) -> t"


def test_equal_schemas_are_equal_and_know_what_replaces_them():
    old, new = parse("f(Tensor x) -> Tensor"), parse("f(Tensor x, int n=1) -> Tensor")
    assert old == parse("f(Tensor x) -> Tensor")
    assert old != new
    assert new.is_backward_compatible_with(old)
    assert not old.is_backward_compatible_with(new)
    assert new.check_forward_compatible_with(old) == (True, "")


def test_alias_queries_follow_the_annotations():
    info = torch._C._SchemaInfo(parse("f(Tensor(a!) x, Tensor y) -> Tensor(a!)"))
    side = torch._C._SchemaArgType
    x, y = (torch._C._SchemaArgument(side.input, index) for index in (0, 1))
    result = torch._C._SchemaArgument(side.output, 0)
    assert info.may_alias(x, result)
    assert not info.may_alias(y, result)
    assert (info.is_mutable("x"), info.is_mutable("y"), info.has_argument("z")) == (
        True,
        False,
        False,
    )
