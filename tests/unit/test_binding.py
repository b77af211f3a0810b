"""The mechanism of binding: compiled signatures, casts, lazy look-up, what kernels would get."""

import gc
import subprocess
import sys

import pytest

import mindtorch_v2 as torch
from mindtorch_v2.binding import OpSchema, bound, casts
from mindtorch_v2.binding.errors import CastError, PythonError, c_string
from mindtorch_v2.binding.op_schema import _CALLS_BEFORE_COMPILING, compile_signature
from mindtorch_v2.binding.operators import find_operator, find_packet
from mindtorch_v2.dispatch.operator_names import in_call_order, in_registration_order, registered
from mindtorch_v2.schema import parse_schema

META = torch.empty(2, device="meta")


def fresh(code: str) -> str:
    """What a new interpreter prints for ``code``."""
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()


def test_the_good_path_is_a_function_of_the_schemas_own_signature():
    schema = parse_schema("aten::f(Tensor self, int n=2, *, str? mode=None) -> Tensor")
    binder = OpSchema(schema)
    assert binder._compiled(META) == (META, 2, None)
    assert binder._compiled(self=META, n=3, mode="x") == (META, 3, "x")
    with pytest.raises(TypeError, match="positional argument"):
        binder._compiled(META, 2, "x")


@pytest.mark.parametrize(
    ("text", "args", "kwargs", "expected"),
    [
        ("aten::f(int from, int to) -> ()", (), {"from": 1, "to": 2}, (1, 2)),
        ("aten::f(int lambda=3) -> ()", (), {"lambda": 4}, (4,)),
        ("aten::f(int _at, int _value0) -> ()", (1, 2), {}, (1, 2)),
        ("aten::f(int __convert0=1) -> ()", (), {"__convert0": 5}, (5,)),
        ("aten::f(int bind, int Tensor) -> ()", (), {"Tensor": 1, "bind": 2}, (2, 1)),
        ("aten::f() -> ()", (), {}, ()),
    ],
)
def test_names_that_python_or_the_compiler_uses_bind_all_the_same(text, args, kwargs, expected):
    binder = OpSchema(text)
    for _ in range(_CALLS_BEFORE_COMPILING + 1):  # the last is the function's
        assert binder.stack(args, kwargs) == expected


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [
        ((META, 1), {}),
        ((META,), {"n": 1, "mode": "x"}),
        ((META, "x"), {}),
        ((META, 1, "x"), {}),
        ((META,), {"m": 1}),
        ((), {"n": 1}),
        ((META, 1), {"n": 1}),
        ((META, 1, 2, 3), {"self": 4}),
    ],
)
def test_the_first_calls_are_bound_like_all_others(args, kwargs):
    binder = OpSchema("aten::f(Tensor self, int n=2, *, str? mode=None) -> Tensor")

    def bound():
        try:
            return binder.stack(args, kwargs)
        except RuntimeError as error:
            return str(error)

    first = [bound() for _ in range(_CALLS_BEFORE_COMPILING)]
    assert "_compiled" not in vars(binder)
    assert {bound(), *first} == {first[0]}
    assert "_compiled" in vars(binder)


def test_a_required_list_may_follow_a_default():
    binder = OpSchema("aten::f(int a=1, int[] b) -> ()")
    assert binder.stack((1, [2]), {}) == (1, [2])
    with pytest.raises(RuntimeError, match="missing value for argument 'b'"):
        binder.stack((), {})


def test_a_value_is_converted_once_even_if_it_does_not_suit():
    seen = []

    def convert(value):
        seen.append(value)
        raise CastError("no")

    schema = parse_schema("aten::f(int a) -> ()")
    with pytest.raises(Exception, match="Cast error details: no"):
        compile_signature(schema, [convert])(7)
    assert seen == [7]


def test_nothing_is_converted_before_all_that_is_required_is_there():
    seen = []
    schema = parse_schema("aten::f(float a=1., *, int b=1, int c) -> ()")
    bind = compile_signature(schema, [seen.append] * 3)
    with pytest.raises(TypeError):
        bind(7, b=8)
    assert seen == []
    assert bind(7, b=8, c=9) == (None, None, None)
    assert seen == [7, 8, 9]


def test_every_operator_of_the_profile_compiles_and_prints_as_torch_prints_it():
    for name in registered():
        packet = find_packet(name)
        assert packet is not None
        for operator in packet.overloads.values():
            assert operator.binder._compiled is not None
            assert str(operator.schema) == operator.text


def test_importing_the_package_parses_no_schema():
    code = (
        "import sys\n"
        "PARSERS = 'parse_schema', 'parse_printed_schema'\n"
        "calls = []\n"
        "def look(frame, event, _):\n"
        "    name = frame.f_code.co_name\n"
        "    if event == 'call' and name in PARSERS: calls.append(name)\n"
        "sys.setprofile(look)\n"
        "import mindtorch_v2 as torch\n"
        "print(len(calls)); torch.ops.aten.add; print(len(calls))\n"
        "torch.ops.aten.add.Tensor; print(len(calls))\n"
        "torch.ops.aten.add.Tensor._schema; print(len(calls))"
    )
    before, packet, overload, again = map(int, fresh(code).split())
    assert (before, packet) == (0, 0)
    assert (overload - packet, again - overload) == (1, 0)


def test_a_packet_tries_the_dispatchers_overloads_first():
    tried = in_call_order("aten::add")
    assert [operator.in_dispatcher for operator in tried] == sorted(
        (operator.in_dispatcher for operator in tried), reverse=True
    )
    assert sorted(tried) == sorted(in_registration_order("aten::add"))


def test_overloads_that_do_not_suit_leave_nothing_behind():
    """What an error has is tied into circles: who kept one would keep the tensors of the call."""
    tensor = torch.ones(1)
    before = sys.getrefcount(tensor)
    gc.disable()
    try:
        torch.ops.aten.to(tensor, torch.float64)  # which is not for the first overload
        assert sys.getrefcount(tensor) == before
    finally:
        gc.enable()


def test_kernels_are_called_without_what_is_default():
    assert bound(torch.ops.aten.sum.dim_IntList, (META, 0, False), {}) == (
        "aten::sum.dim_IntList",
        ((META, [0]), {}),
    )
    name, shown = bound(torch.ops.aten.add.Tensor, (META, META), {"alpha": True})
    assert shown == ((META, META), {"alpha": True})
    assert shown[1]["alpha"] is True  # not the default 1
    assert bound(torch.ops.aten.add.int, (1, 2), {}) == ("aten::add.int", None)
    assert name == "aten::add.Tensor"


def test_constants_are_numbers_while_bound_and_constants_again_for_a_kernel():
    op = torch.ops.aten.empty.memory_format
    operator = find_operator("aten::empty", "memory_format")
    assert operator is not None
    stack = operator.bind(([2],), {"dtype": torch.float64}).stack
    assert stack[1] == 7
    assert bound(op, ([2],), {"dtype": 7, "layout": 0})[1] == (
        ([2],),
        {"dtype": torch.float64, "layout": torch.strided},
    )


class Index:
    def __index__(self):
        return 5


class Int:
    def __int__(self):
        return 6


class Float:
    def __float__(self):
        return 0.5


@pytest.mark.parametrize(
    ("cast", "value", "expected"),
    [
        (casts.to_int, True, 1),
        (casts.to_int, Index(), 5),
        (casts.to_int, Int(), 6),
        (casts.to_float, 2, 2.0),
        (casts.to_float, Float(), 0.5),
        (casts.to_float, Index(), 5.0),
        (casts.to_complex, 1, 1 + 0j),
        (casts.to_bool, None, False),
        (casts.to_bool, range(0), False),
        (casts.to_bool, 2j, True),
        (casts.to_string, b"x", "x"),
    ],
)
def test_casts_take_what_pybind11_takes(cast, value, expected):
    answer = cast(value)
    assert answer == expected
    assert type(answer) is type(expected)


@pytest.mark.parametrize(
    ("cast", "value"),
    [
        (casts.to_int, 1.0),
        (casts.to_int, "1"),
        (casts.to_int, 2**63),
        (casts.to_int, 1j),
        (casts.to_int, Float()),
        (casts.to_float, "1.5"),
        (casts.to_float, 10**400),
        (casts.to_float, Int()),
        (casts.to_complex, "1j"),
        (casts.to_bool, []),
        (casts.to_bool, "x"),
        (casts.to_string, "\ud800"),
        (casts.to_string, 1),
        (casts.vector(casts.to_int), "12"),
        (casts.vector(casts.to_int), {1: 2}),
        (casts.vector(casts.to_int), [1, "x"]),
        (casts.vector(casts.to_tensor), [META, None]),
    ],
)
def test_casts_refuse_what_pybind11_refuses(cast, value):
    with pytest.raises(CastError, match="Unable to cast Python instance of type") as refused:
        cast(value)
    assert f"of type {type(value)} to C++" in str(refused.value)


def test_what_python_does_not_iterate_is_pythons_error():
    with pytest.raises(PythonError, match=r"^\n Python error details: TypeError: 'int' object"):
        casts.iterate(1)


def test_a_message_ends_at_nul_and_must_be_utf8():
    assert c_string("a\0b") == "a"
    with pytest.raises(UnicodeDecodeError, match="can't decode byte 0xff in position 1"):
        c_string("a\udcff")
