"""What pybind11 adds to a bound function: signatures, conversions, calls and refusals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pytest
from pybind_messages import CPU, HEADER, C, message

from mindtorch_v2 import ops, profile
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.pybind.cast import (
    NULL,
    Loader,
    NoMatch,
    caster_for,
    load_bool,
    load_c_string,
    load_dispatch_key,
    load_object,
    load_string,
    loader_for,
    unsigned_loader,
)
from mindtorch_v2.pybind.function import Overload, cpp_function
from mindtorch_v2.pybind.signature import Parameter, Signature, parse_docstring, parse_signature
from tests.other_profiles import once_per_other_profile, run_again

MISSING_HEADER: Final = """

Did you forget to `#include <pybind11/stl.h>`? Or <pybind11/complex.h>,
<pybind11/functional.h>, <pybind11/chrono.h>, etc. Some automatic
conversions are optional and require extra headers to be included
when compiling your pybind11 module."""


# Signatures -------------------------------------------------------------------------------------


def docstrings(bindings: Any) -> Iterator[tuple[str, str]]:
    if "autograd" in bindings:
        yield from docstrings(bindings["autograd"])
    yield from bindings["functions"].items()
    for owner in bindings["classes"].values():
        yield from owner["methods"].items()
        yield from owner["static_methods"].items()


#: Of every docstring in the bindings: how many parse, how many signatures that makes, and how many
#: docstrings are empty, which pybind11's are not.
COUNTS: Final = {"2.4": (1257, 1296, 0), "2.13": (1357, 1396, 133)}


@pytest.mark.parametrize("name", profile.known())
def test_every_docstring_parses_or_is_no_signature(name: str) -> None:
    parsed = signatures = empty = 0
    for function, doc in docstrings(profile.load(name).bindings):
        if not doc:
            empty += 1
            with pytest.raises(ValueError, match="not a pybind11 signature"):
                parse_docstring(doc)
            continue
        overloads = parse_docstring(doc)
        parsed += 1
        signatures += len(overloads)
        for signature in overloads:
            assert signature.name == function
            assert f"{signature.name}{signature.text}" in doc
            assert signature.text.endswith(f" -> {signature.returns}")
    assert (parsed, signatures, empty) == COUNTS.get(name, (parsed, signatures, empty))


@pytest.mark.parametrize("name", profile.known())
def test_every_parameter_has_a_name_and_a_type(name: str) -> None:
    for _, doc in docstrings(profile.load(name).bindings):
        for signature in parse_docstring(doc) if doc else ():
            for parameter in signature.parameters:
                assert parameter.name.lstrip("*").isidentifier()
                assert bool(parameter.type) is not parameter.name.startswith("*")
                assert parameter.type.count("[") == parameter.type.count("]")


def test_a_signature_is_a_name_parameters_and_a_result() -> None:
    line = "has(self: torch._C.DispatchKeySet, arg0: torch._C.DispatchKey) -> bool"
    assert parse_signature(line) == Signature(
        "has",
        "(self: torch._C.DispatchKeySet, arg0: torch._C.DispatchKey) -> bool",
        (
            Parameter("self", "torch._C.DispatchKeySet", takes_keyword=False),
            Parameter("arg0", "torch._C.DispatchKey", takes_keyword=False),
        ),
        "bool",
    )


def test_commas_and_arrows_inside_brackets_belong_to_a_type() -> None:
    line = "f(a: Callable[[int, str], bool], b: tuple[int, int] = (1, 2), *args) -> dict[str, int]"
    signature = parse_signature(line)
    assert [(p.name, p.type, p.default) for p in signature.parameters] == [
        ("a", "Callable[[int, str], bool]", None),
        ("b", "tuple[int, int]", "(1, 2)"),
        ("*args", "", None),
    ]
    assert signature.returns == "dict[str, int]"


def test_a_default_is_what_stands_after_the_equals_sign() -> None:
    line = "f(dispatch_key: str = '', linenum: int = 0, check: Optional[bool] = None) -> None"
    assert [p.default for p in parse_signature(line).parameters] == ["''", "0", "None"]


@pytest.mark.parametrize(
    ("line", "keywords"),
    [
        ("f(kind: str, name: str) -> None", ["kind", "name"]),
        ("f(arg0: str, arg1: bool) -> None", []),
        ("f(self: C) -> int", []),  # a name that pybind11 makes up, as arg0
        ("f(self: C, arg0: int) -> int", []),
        ("f(self: C, other: int) -> int", ["self", "other"]),
        ("f(self: object, other: object, /) -> bool", []),
        ("f(a: int, /, b: int) -> bool", ["b"]),
        ("f(self: C, *args, **kwargs) -> int", []),
        ("f() -> None", []),
    ],
)
def test_a_parameter_takes_a_keyword_if_torch_named_it(line: str, keywords: list[str]) -> None:
    parameters = parse_signature(line).parameters
    assert [parameter.name for parameter in parameters if parameter.takes_keyword] == keywords


def test_overloads_come_in_the_order_in_which_they_are_listed() -> None:
    doc = (
        "f(*args, **kwargs)\nOverloaded function.\n\n"
        "1. f(module: M, min_size: int = 4) -> None\n\nWhat it does:\n  2.5 times as much.\n\n"
        "2. f(graph: G, min_size: int = 4) -> None\n"
    )
    texts = [signature.text for signature in parse_docstring(doc)]
    assert texts == [
        "(module: M, min_size: int = 4) -> None",
        "(graph: G, min_size: int = 4) -> None",
    ]


def test_what_follows_a_lone_signature_is_prose() -> None:
    assert len(parse_docstring("f(a: int) -> int\n\n1. First, f(b: int) -> int\n")) == 1


@pytest.mark.parametrize("doc", ["", "\n", "Members:\n\n  CPU", "f(a: int)", "f -> int", "text"])
def test_other_text_is_no_signature(doc: str) -> None:
    with pytest.raises(ValueError, match="not a pybind11 signature"):
        parse_docstring(doc)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("__init__(self: m.C) -> None", "m.C()"),
        ("__init__(self: m.C, arg0: int) -> None", "m.C(arg0: int)"),
        (
            "__init__(self: m.C, a: f[int, str], b: str = ')') -> None",
            "m.C(a: f[int, str], b: str = ')')",
        ),
    ],
)
def test_a_constructor_is_shown_as_a_call_of_its_class(line: str, text: str) -> None:
    assert parse_signature(line).constructor_text == text


# Conversions ------------------------------------------------------------------------------------


class Index:
    def __init__(self, value: Any) -> None:
        self.value = value

    def __index__(self) -> Any:
        return self.value


class Int:
    def __int__(self) -> int:
        return 5


class IndexFails(Int):
    def __index__(self) -> int:
        raise ValueError


class Truth:
    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def __bool__(self) -> Any:
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


class Sized:
    def __len__(self) -> int:
        return 1


class FloatWithIndex(float):
    def __index__(self) -> int:
        return 5


load_16: Final = unsigned_loader(16)

#: A loader, a value, and what C++ makes of it.
LOADED: Final = [
    (load_object, None, None),
    (load_object, "x", "x"),
    (load_bool, True, True),
    (load_bool, False, False),
    (load_bool, None, False),
    (load_bool, 0, False),
    (load_bool, 2, True),
    (load_bool, 0.5, True),
    (load_bool, Truth(True), True),
    (load_16, 0, 0),
    (load_16, 65535, 65535),
    (load_16, True, 1),
    (load_16, Index(7), 7),
    (load_16, Int(), 5),
    (load_16, IndexFails(), 5),
    (load_16, CPU, int(DispatchKey.CPU)),
    (unsigned_loader(64), (1 << 64) - 1, (1 << 64) - 1),
    (load_string, "", ""),
    (load_string, "é", "é"),
    (load_string, "a\0b", "a\0b"),
    (load_string, b"CPU", "CPU"),
    (load_string, bytearray(b"CPU"), "CPU"),
    (load_c_string, "a\0b", "a"),
    (load_c_string, None, None),
    (load_dispatch_key, CPU, int(DispatchKey.CPU)),
    (load_dispatch_key, "CPU", int(DispatchKey.CPU)),
    (load_dispatch_key, "NPU", int(DispatchKey.NPU)),
    (load_dispatch_key, DispatchKey.CPU, DispatchKey.CPU),
    (load_dispatch_key, None, NULL),
    (loader_for("torch._C.DispatchKeySet"), None, NULL),
    (loader_for("torch._C.DispatchKeySet"), C.DispatchKeySet(CPU), C.DispatchKeySet(CPU).mask),
]
#: A loader, and a value that it does not take.
REFUSED: Final = [
    (load_bool, "True"),
    (load_bool, ""),
    (load_bool, []),
    (load_bool, Sized()),
    (load_bool, object()),
    (load_bool, Truth(3)),
    (load_bool, Truth(ValueError())),
    (load_bool, Truth(KeyboardInterrupt())),
    (load_16, -1),
    (load_16, 65536),
    (load_16, 1 << 70),
    (load_16, 1.0),
    (load_16, FloatWithIndex(5)),
    (load_16, "5"),
    (load_16, b"5"),
    (load_16, None),
    (load_16, 1 + 0j),
    (load_16, Index("x")),
    (load_16, object()),
    (unsigned_loader(64), 1 << 64),
    (load_string, None),
    (load_string, 3),
    (load_string, "\ud800"),
    (load_c_string, 3),
    (load_dispatch_key, 3),
    (load_dispatch_key, b"CPU"),
    (load_dispatch_key, C.DispatchKeySet(CPU)),
    (loader_for("torch._C.DispatchKeySet"), CPU),
    (loader_for("torch._C.DispatchKeySet"), 3),
]


def label(value: object) -> str:
    return getattr(value, "__name__", type(value).__name__)


@pytest.mark.parametrize(("load", "value", "expected"), LOADED, ids=label)
def test_a_loader_makes_a_cpp_value(load: Loader, value: object, expected: object) -> None:
    loaded = load(value)
    assert loaded == expected
    assert type(loaded) is type(expected)


@pytest.mark.parametrize(("load", "value"), REFUSED, ids=label)
def test_a_loader_refuses_a_value(load: Loader, value: object) -> None:
    with pytest.raises(NoMatch):
        load(value)


def test_a_name_that_is_no_key_leaves_at_once() -> None:
    assert message(RuntimeError, lambda: load_dispatch_key("nosuch")) == (
        "could not parse dispatch key: nosuch"
    )


def test_a_name_without_utf8_is_no_cpp_string() -> None:
    assert message(RuntimeError, lambda: load_dispatch_key("\ud800")) == (
        "Unable to cast Python instance of type <class 'str'> to C++ type '?' "
        "(#define PYBIND11_DETAILED_ERROR_MESSAGES or compile in debug mode for details)"
    )


def test_a_type_of_a_signature_has_its_loader() -> None:
    for name, loader in (
        ("bool", load_bool),
        ("str", load_string),
        ("object", load_object),
        ("tuple", load_object),
        ("c10::DispatchKey", load_dispatch_key),
        ("torch._C.DispatchKey", load_dispatch_key),
    ):
        assert loader_for(name) is loader


@pytest.mark.parametrize(
    "name",
    ["Optional[torch._C.DispatchKey]", "torch._C.DispatchKey | None"],
)
def test_an_optional_result_is_none_or_its_class(name: str) -> None:
    cast = caster_for(name)
    assert cast is not None
    assert cast(None) is None
    assert cast(int(DispatchKey.CPU)) == CPU


@pytest.mark.parametrize("name", ["list[torch._C.DispatchKey]", "List[torch._C.DispatchKey]"])
def test_a_list_result_is_cast_item_by_item(name: str) -> None:
    cast = caster_for(name)
    assert cast is not None
    assert cast([int(DispatchKey.CPU)]) == [CPU]


def test_a_result_of_a_python_type_is_left_alone() -> None:
    assert [caster_for(name) for name in ("None", "int", "str", "list[str]", "Optional[bool]")] == (
        [None] * 5
    )


# Calls ------------------------------------------------------------------------------------------


def bind(*lines: str, log: list[Any] | None = None, **loaders: Loader) -> cpp_function:
    """A function with these signatures, which returns what C++ would be called with."""
    overloads = tuple(
        Overload(parse_signature(line), lambda *args, line=line: (line, *args), loaders)
        for line in lines
    )
    return cpp_function(lines[0].partition("(")[0], lambda: overloads, "\n".join(lines))


def test_arguments_come_by_place_and_by_name() -> None:
    line = "f(a: object, b: str, c: bool = False) -> int"
    f = bind(line)
    assert f(1, "x") == (line, 1, "x", False)
    assert f(1, "x", True) == f(1, b="x", c=True) == f(c=True, b="x", a=1) == (line, 1, "x", True)
    for call in (
        lambda: f(),
        lambda: f(1),
        lambda: f(1, "x", True, 3),
        lambda: f(1, "x", a=1),
        lambda: f(1, "x", d=1),
    ):
        assert message(TypeError, call).startswith("f(): incompatible function arguments.")


def test_defaults_are_the_values_of_their_text() -> None:
    line = "f(a: str = '', b: object = None, c: bool = True, d: bool = False) -> int"
    assert bind(line)() == (line, "", None, True, False)


def test_a_made_up_name_is_no_keyword() -> None:
    f = bind("f(arg0: object) -> int")
    assert f(1)
    assert message(TypeError, lambda: f(arg0=1)).endswith("Invoked with: kwargs: arg0=1")


def test_the_first_overload_that_takes_the_arguments_is_called() -> None:
    lines = ("f(arg0: bool) -> int", "f(arg0: str) -> int", "f(arg0: object) -> int")
    f = bind(*lines)
    assert f(True) == (lines[0], True)
    assert f("x") == (lines[1], "x")
    assert f([]) == (lines[2], [])


def test_arguments_are_loaded_from_left_to_right_and_an_exception_leaves_at_once() -> None:
    seen: list[str] = []

    def noting(name: str, error: Exception | None = None) -> Loader:
        def load(value: object) -> object:
            seen.append(name)
            if error is not None:
                raise error
            return value

        return load

    line = "f(a: object, b: object, c: object) -> int"
    refused = bind(line, a=noting("a"), b=noting("b", NoMatch()), c=noting("c"))
    assert message(TypeError, lambda: refused(1, 2, 3))
    assert seen == ["a", "b"]
    seen.clear()
    fails = bind(line, "f(a: object) -> int", a=noting("a", RuntimeError("no")), b=noting("b"))
    assert message(RuntimeError, lambda: fails(1, 2, 3)) == "no"
    assert seen == ["a"]


def test_none_for_a_class_is_refused_once_all_have_loaded() -> None:
    line = "f(arg0: c10::DispatchKey, arg1: c10::DispatchKey) -> int"
    f = bind(line)
    assert (
        message(RuntimeError, lambda: f(None, "nosuch")) == "could not parse dispatch key: nosuch"
    )
    assert (
        message(RuntimeError, lambda: f("nosuch", None)) == "could not parse dispatch key: nosuch"
    )
    assert message(TypeError, lambda: f(None, 3)).endswith("Invoked with: None, 3")
    assert message(TypeError, lambda: f(None, "CPU")).endswith("Invoked with: None, 'CPU'")


def test_a_message_from_cpp_ends_at_the_first_nul() -> None:
    assert message(RuntimeError, lambda: C._dispatch_key_name("no\0such")) == (
        "could not parse dispatch key: no"
    )


def test_a_message_from_cpp_that_is_no_utf8_is_a_decoding_error() -> None:
    with pytest.raises(UnicodeDecodeError):
        C._dispatch_key_for_device(b"\xff")


# Refusals ---------------------------------------------------------------------------------------


def test_a_refused_function_says_what_it_would_have_taken() -> None:
    listed = HEADER.format("function") + "    1. (arg0: c10::DispatchKey) -> str\n\nInvoked with: "
    f = C._dispatch_key_name
    for call, invoked in (
        (lambda: f(), ""),
        (lambda: f(3.5), "3.5"),
        (lambda: f("CPU", "CUDA"), "'CPU', 'CUDA'"),
        (lambda: f(arg0="CPU"), "kwargs: arg0='CPU'"),
        (lambda: f("CPU", x=1, y=[2]), "'CPU'; kwargs: x=1, y=[2]"),
    ):
        assert message(TypeError, call) == f"_dispatch_key_name(): {listed}{invoked}"


def test_a_refused_method_shows_its_object_among_the_arguments() -> None:
    listed = HEADER.format("function") + (
        "    1. (self: torch._C.DispatchKeySet, arg0: torch._C.DispatchKey) -> bool\n"
        "\nInvoked with: "
    )
    keys = C.DispatchKeySet(CPU)
    assert message(TypeError, lambda: keys.has(3)) == f"has(): {listed}DispatchKeySet(CPU), 3"
    assert message(TypeError, lambda: C.DispatchKeySet.has(3, CPU)) == (
        f"has(): {listed}3, <DispatchKey.CPU: {CPU.value}>"
    )


def test_a_refused_constructor_is_shown_as_a_call_of_its_class() -> None:
    listed = HEADER.format("constructor") + (
        "    1. torch._C.DispatchKeySet(arg0: torch._C.DispatchKey)\n\nInvoked with: "
    )
    for call, invoked in (
        (lambda: C.DispatchKeySet(), ""),
        (lambda: C.DispatchKeySet(3), "3"),
        (lambda: C.DispatchKeySet(CPU, 1), f"<DispatchKey.CPU: {CPU.value}>, 1"),
        (lambda: C.DispatchKeySet(key="CPU"), "kwargs: key='CPU'"),
    ):
        assert message(TypeError, call) == f"__init__(): {listed}{invoked}"


def test_every_overload_is_listed_with_its_number() -> None:
    f = bind("f(arg0: bool) -> int", "f(self: str, other: bool = True) -> int")
    assert message(TypeError, lambda: f(3.5, 1, 2)) == (
        f"f(): {HEADER.format('function')}"
        "    1. (arg0: bool) -> int\n"
        "    2. (self: str, other: bool = True) -> int\n"
        "\nInvoked with: 3.5, 1, 2"
    )


def test_a_message_that_names_the_standard_library_asks_for_a_header() -> None:
    f = bind("f(arg0: std::vector<int>) -> int", arg0=load_16)
    assert message(TypeError, lambda: f("x")) == (
        f"f(): {HEADER.format('function')}    1. (arg0: std::vector<int>) -> int\n"
        f"\nInvoked with: 'x'{MISSING_HEADER}"
    )
    # it is the whole message that is searched, so an argument may bring the words
    text = message(TypeError, lambda: C._dispatch_key_name({"std::": 1}))
    assert text.endswith("Invoked with: {'std::': 1}" + MISSING_HEADER)


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt()])
def test_a_repr_that_raises_is_said_to_have_raised(error: BaseException) -> None:
    class Silent:
        def __repr__(self) -> str:
            raise error

    text = message(TypeError, lambda: C._dispatch_key_name(Silent(), x=Silent()))
    assert text.endswith("Invoked with: <repr raised Error>; kwargs: x=<repr raised Error>")


def test_a_repr_without_utf8_counts_as_one_that_raises() -> None:
    class Surrogate:
        def __repr__(self) -> str:
            return "\ud800"

    text = message(TypeError, lambda: C._dispatch_key_name(Surrogate()))
    assert text.endswith("Invoked with: <repr raised Error>")


# Functions --------------------------------------------------------------------------------------


def test_a_bound_function_has_its_name_and_its_signature() -> None:
    f = C._dispatch_key_name
    assert f.__name__ == "_dispatch_key_name"
    assert f.__doc__ == "_dispatch_key_name(arg0: c10::DispatchKey) -> str\n"
    assert f.__text_signature__ is None
    owner = profile.active().messages["function_owner"]
    assert f.__qualname__ == f"{owner.rpartition('.')[2]}._dispatch_key_name"
    assert repr(f).startswith(f"<built-in method _dispatch_key_name of {owner} object at 0x")
    assert type(f).__qualname__ == "builtin_function_or_method"
    assert type(C.DispatchKeySet.__init__).__qualname__ == "builtin_function_or_method"


def test_what_args_and_kwargs_take_comes_last() -> None:
    signature = parse_signature("f(arg0: str, *args, **kwargs) -> object")
    assert signature.is_variadic
    assert Overload(signature, print).load(("x", 1, 2), {"y": 3}) == ["x", (1, 2), {"y": 3}]
    with pytest.raises(NoMatch):
        Overload(signature, print).load((), {"arg0": "x"})


def test_a_bound_function_in_a_class_is_a_method() -> None:
    keys = C.DispatchKeySet(CPU)
    assert keys.has.__self__ is keys
    assert keys.has(CPU) is C.DispatchKeySet.has(keys, CPU) is True


# The other profiles -----------------------------------------------------------------------------


@once_per_other_profile
def test_all_of_this_holds_under_every_other_profile(other: str) -> None:
    run_again(__file__, other)


def test_bound_functions_say_where_they_are() -> None:
    assert C._dispatch_key_name.__module__ == "mindtorch_v2._C"
    assert C.parse_schema.__module__ == "mindtorch_v2"  # public, so that torch renames it
    assert C.DispatchKeySet.has.__module__ == "mindtorch_v2._C"
    add = ops.aten.add
    assert add.op.__module__ == add.Tensor._op.__module__ == "mindtorch_v2._ops.aten"
    assert C._get_operation_overload("aten::add", "Tensor")[0].__module__ is None
