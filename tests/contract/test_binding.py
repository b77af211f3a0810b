"""The contract of binding: arguments are bound before a kernel is looked for, in torch's words."""

import numpy as np
import pytest

import mindtorch_v2 as torch
from mindtorch_v2.binding import OpSchema

ADD = "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"
X = torch.empty(2, device="meta")
MATRIX = torch.ones(2, 2)
NOT_YET = "no kernel for aten::_to_sparse_bsr at CPU yet"


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
    assert "missing value" in refusal(torch.ops.aten._to_sparse_bsr.default)
    with pytest.raises(NotImplementedError, match=NOT_YET):
        torch.ops.aten._to_sparse_bsr.default(MATRIX, [1, 1])


@pytest.mark.parametrize(
    "path",
    [
        lambda: torch.ops.aten._to_sparse_bsr,
        lambda: torch.ops.aten._to_sparse_bsr.op,
        lambda: torch.ops.aten._to_sparse_bsr.default,
        lambda: torch.ops.aten._to_sparse_bsr.default.op,
        lambda: torch._C._jit_get_operation("aten::_to_sparse_bsr")[0],
        lambda: torch._C._get_operation_overload("aten::_to_sparse_bsr", "")[0],
    ],
)
def test_every_way_to_call_an_operator_binds_first(path):
    message = refusal(path(), MATRIX, [1, 1], None, nosuch=1)
    assert "Unknown keyword argument 'nosuch' for operator 'aten::_to_sparse_bsr'" in message or (
        "expected at most 3 argument(s) but received 4" in message
    )
    with pytest.raises(NotImplementedError, match=NOT_YET):
        path()(MATRIX, [1, 1])


def test_resolving_a_packet_calls_nothing():
    assert torch._C._jit_resolve_packet("aten::add", X, X) == "Tensor"
    assert torch._C._jit_resolve_packet("aten::_lazy_clone", X) == "default"
    message = refusal(torch._C._jit_resolve_packet, "aten::add", X, "y")
    assert message == refusal(torch.ops.aten.add, X, "y")


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


@pytest.mark.parametrize(
    ("declared", "given", "value"),
    [
        ("int", np.int8(3), 3),
        ("float", np.float32(0.5), 0.5),
        ("bool", np.bool_(True), True),
        ("complex", np.complex64(1j), 1j),
        ("int[]", np.array([1, 2]), [1, 2]),
        ("int[]", torch.Size([2, 3]), [2, 3]),
        ("Scalar", torch.per_channel_affine, 1),
        ("int", torch.tensor([4]), 4),
    ],
)
def test_values_of_numpy_and_of_torch_are_numbers(declared, given, value):
    bound = OpSchema(f"aten::f({declared} x) -> ()").bind((given,), {})
    assert bound == {"x": value}
    assert type(bound["x"]) is type(value)


@pytest.mark.parametrize(
    ("declared", "given"),
    [
        ("Generator?", torch.Generator()),
        ("Stream", torch.Stream()),
        ("SymInt", torch._C._get_nested_int(5, 1)),
        ("Storage", torch.UntypedStorage(0)),
    ],
)
def test_objects_are_bound_as_they_are(declared, given):
    assert OpSchema(f"aten::f({declared} x) -> ()").bind((given,), {})["x"] is given
    with pytest.raises(RuntimeError, match="Expected a value of type"):
        OpSchema(f"aten::f({declared} x) -> ()").bind(("x",), {})


def test_numbers_are_taken_for_tensors_where_torch_takes_them():
    assert torch.ops.aten.add(1, 2.5).item() == 3.5
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
