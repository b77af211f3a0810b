"""The contract of binding: arguments are bound before a kernel is looked for, in torch's words."""

import pytest

import mindtorch_v2 as torch
from mindtorch_v2.binding import OpSchema

ADD = "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"
X = torch.empty(2, device="meta")


def refusal(call, *args, **kwargs):
    with pytest.raises(RuntimeError) as refused:
        call(*args, **kwargs)
    assert type(refused.value) is RuntimeError
    return str(refused.value)


def test_bind_answers_every_argument_by_name_with_defaults_filled_in():
    bound = OpSchema(ADD).bind((X,), {"other": X})
    assert list(bound) == ["self", "other", "alpha"]
    assert bound == {"self": X, "other": X, "alpha": 1}


def test_defaults_come_from_the_schema():
    text = "aten::f(Tensor x, int[2] k=[1, 2], float p=0.5, str m='a', bool? b=None) -> Tensor"
    bound = OpSchema(text.replace("'", '"')).bind((X,), {})
    assert bound == {"x": X, "k": [1, 2], "p": 0.5, "m": "a", "b": None}


def test_too_many_arguments():
    assert refusal(OpSchema(ADD).bind, (X, X, 1), {"alpha": 1}) == (
        f"aten::add() expected at most 3 argument(s) but received 4 argument(s). Declaration: {ADD}"
    )


def test_a_keyword_only_argument_by_position():
    assert refusal(OpSchema(ADD).bind, (X, X, 1), {}) == (
        f"aten::add() takes 2 positional argument(s) but 3 was/were given.  Declaration: {ADD}"
    )


def test_a_missing_argument():
    assert refusal(OpSchema(ADD).bind, (X,), {}) == (
        f"aten::add() is missing value for argument 'other'. Declaration: {ADD}"
    )


def test_an_unknown_keyword():
    assert refusal(OpSchema(ADD).bind, (X, X), {"beta": 1}) == (
        f"Unknown keyword argument 'beta' for operator 'aten::add'. Schema: {ADD}"
    )


def test_a_keyword_given_twice():
    assert refusal(OpSchema(ADD).bind, (X, X), {"self": X}) == (
        f"Argument 'self' specified both as positional and keyword argument. Schema: {ADD}"
    )


def test_a_wrong_type_names_position_value_and_declaration():
    assert refusal(OpSchema(ADD).bind, (X, "y"), {}) == (
        "aten::add() Expected a value of type 'Tensor' for argument 'other' but instead found "
        f"type 'str'.\nPosition: 1\nValue: 'y'\nDeclaration: {ADD}\n"
        "Cast error details: Unable to cast y to Tensor"
    )


def test_earlier_arguments_are_converted_before_later_ones_are_counted():
    assert "argument 'self'" in refusal(OpSchema(ADD).bind, ("x", X, 1), {})


@pytest.mark.parametrize(
    ("declared", "given", "value"),
    [
        ("int[2]", 3, [3, 3]),
        ("float[3]", 0.5, [0.5] * 3),
        ("int[]", (True, 2), [1, 2]),
        ("Scalar", True, True),
        ("Scalar", torch.float32, 6),
        ("float", 2, 2.0),
        ("bool", None, False),
        ("complex", 1, 1 + 0j),
        ("Tensor?", None, None),
        ("int?", None, None),
        ("ScalarType", torch.int64, 4),
        ("Device", "cpu:1", torch.device("cpu:1")),
        ("Dict(str, int)", {"a": True}, {"a": 1}),
        ("(int, str)", [1, "x"], (1, "x")),
    ],
)
def test_values_are_normalised(declared, given, value):
    bound = OpSchema(f"aten::f({declared} x) -> ()").bind((given,), {})
    assert bound == {"x": value}
    assert type(bound["x"]) is type(value)


def test_a_device_that_does_not_exist_is_its_own_error():
    message = refusal(OpSchema("aten::f(Device x) -> ()").bind, ("nosuch",), {})
    assert message.startswith("Expected one of cpu, cuda")


def test_none_for_a_dict_does_not_suit_the_function():
    with pytest.raises(TypeError, match="incompatible function arguments"):
        OpSchema("aten::f(Dict(str, int) x) -> ()").bind((None,), {})


def test_a_call_binds_before_it_looks_for_a_kernel():
    assert "missing value" in refusal(torch.ops.aten.relu.default)
    with pytest.raises(NotImplementedError, match="no kernel for aten::relu yet"):
        torch.ops.aten.relu.default(X)


def test_a_packet_reports_every_overloads_reason():
    message = refusal(torch.ops.aten.add, X, "y")
    assert message.startswith(
        "Overloaded torch operator invoked from Python failed to match any schema:\n"
        "aten::add() Expected a value of type 'Tensor' for argument 'other'"
    )
    assert message.count("Declaration: ") == len(torch.ops.aten.add.overloads())
    assert message.endswith("\n\n")


def test_a_packet_of_one_overload_reports_that_ones():
    assert refusal(torch.ops.aten.dropout_).startswith("aten::dropout_() is missing value")


def test_numbers_are_taken_for_tensors_where_torch_takes_them():
    with pytest.raises(NotImplementedError, match=r"aten::add\.Tensor"):
        torch.ops.aten.add(1, 2.5)
    assert "Unable to cast 1 to Tensor" in refusal(torch.ops.aten.relu, 1)


def test_look_ups_that_fail_say_so_in_torchs_words():
    for look_up, words in (
        (lambda: torch.ops.aten.nosuch, "'_OpNamespace' 'aten' object has no attribute 'nosuch'"),
        (lambda: torch.ops.no.add, "'_OpNamespace' 'no' object has no attribute 'add'"),
        (
            lambda: torch.ops.aten.add.nosuch,
            "The underlying op of 'aten.add' has no overload name 'nosuch'",
        ),
    ):
        with pytest.raises(AttributeError) as refused:
            look_up()
        assert str(refused.value) == words
