"""Area ``interpreter``: operators that torch has for the interpreter of TorchScript.

``torch.ops`` finds them among the others, and calls of packets may end at one:
``xp.ops.aten.sqrt(-1)``.  Each is called with values of its types, by overload and by packet.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from hypothesis import strategies as st

from conformance.area import Area, Text
from conformance.cases.arguments import Target, targets
from mindtorch_v2.profile import Profile
from mindtorch_v2.schema.function_schema import Argument

CALLS: Final = 24
"""At most so many calls of an overload."""

_VALUES: Final[dict[str, tuple[str, ...]]] = {
    "int": ("3", "-2", "1", "100", "0", "7", "2**62", "-5", "2**31", "True", "'a'"),
    "float": (
        *("2.5", "-1.5", "3", "0.1", "0.0", "-0.0", "1e300", "1e-05", "-3.7", "170.5"),
        *("float('nan')", "float('inf')", "-float('inf')", "xp.tensor(2.5)", "'a'"),
    ),
    "bool": ("True", "False", "2", "None"),
    "complex": (
        *("1j", "(1+2j)", "(-1.5-2j)", "2", "2.5", "0j", "complex(0.0, float('inf'))"),
        "complex(float('nan'), 1.0)",
    ),
    "number": (
        *("2", "2.5", "-1", "1j", "-2.5", "0.1", "(1+2j)", "2**40", "300", "float('nan')"),
        *("True", "7", "'a'"),
    ),
    "str": (
        *("'a b  c'", "'Hello World'", "'x'", "'12'", "'-7.5'", "'aXbXc'", "'ABC'", "' '"),
        *("'\\ta\\nb\\n'", "'1e3'", "'a1'", "'inf'", "'é'", "'cpu'", "'meta:0'", "'l'", "' 12'"),
        "1",
    ),
    "Device": ("xp.device('cpu')", "'meta'", "'nosuch'"),
    "ScalarType": ("xp.float64", "xp.int32", "xp.bool"),
    "Tensor": (
        *("xp.tensor(2)", "xp.tensor(1.5)", "xp.arange(6.0).reshape(2, 3)", "xp.tensor([1, 2, 3])"),
        *("xp.ones(3, requires_grad=True)", "xp.zeros(0, 3)", "xp.tensor([1+2j, 3-1j])"),
        *("xp.ones(2, 3, device='meta')", "xp.tensor(1.5, requires_grad=True)", "xp.tensor(True)"),
        *("xp.tensor(1j)", "xp.tensor([5], dtype=xp.int32)", "xp.tensor(float('nan'))"),
    ),
    "List[int]": ("[3, 1, 2]", "[1]", "[0, 1]", "[-1, 3]", "[]", "[2**31, 2**31]", "[0, 0]"),
    "List[float]": ("[2.5, -1.5]", "[3.0, 1.0, 2.0]", "[0.0]", "[]", "[1]", "[0.5]"),
    "List[complex]": ("[1j, 2]", "[1.5, 2]", "[]"),
    "List[bool]": ("[True, False]", "[False, False]", "[True]", "[]"),
    "List[str]": ("['b', 'a']", "['x', 'y', 'x']", "['']", "[]", "['é']"),
    "List[Tensor]": (
        *("[xp.tensor(1)]", "[xp.tensor(2.5), xp.tensor(1.5)]", "[]", "[xp.ones(2)]"),
        "[xp.tensor([1, 0]), xp.tensor([1])]",
    ),
    "Any": ("(1, 2)", "xp.tensor(1.5)", "None", "1", "'a'", "()", "(xp.tensor(2),)"),
}
"""What is given for an argument of a type; the last of some types are of another."""

#: Of no memory but a CPU's, which C++ takes for granted.
_INDEXED: Final[dict[str, tuple[str, ...]]] = {
    "self": ("xp.arange(6.0).reshape(2, 3)", "xp.tensor([1, 2, 3])", "xp.zeros(0, 3)"),
    "indices": ("[xp.tensor(1)]", "[xp.tensor([1, 0]), xp.tensor([1])]", "[]", "[xp.ones(2)]"),
    "values": ("xp.tensor(2)", "xp.tensor(1.5)", "xp.zeros(0, 3)"),
}
_WRITING: Final = ("_index_put_impl_", "_unsafe_index_put", "index_put", "index_put_")
_TEXTS: Final = ("'a b  c'", "'aXbXc'", "'x'", "'X'")
#: C++ does not look whether another number is one of a dtype, or what there is to copy to.
_BY_NAME: Final = {"copy": ("False",), "dtype": ("None", "xp.float64", "3", "xp.bool")}
#: C++ does not come to an end with others, or ends the process.
_SPARED: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    **{f"aten::{name}.hacked_twin": _INDEXED for name in _WRITING},
    **{f"aten::{name}.Tensor_hacked_twin": _INDEXED for name in ("index", "_unsafe_index")},
    "aten::__round_to_zero_floordiv": {"b": ("3", "-2")},
    "aten::_infer_size": {"a": ("[3, 1, 2]", "[1]"), "b": ("[1]", "[3, 1, 1]", "[4]")},
    "aten::broadcast_shapes": {"a": ("[3, 1, 2]", "[1]"), "b": ("[1]", "[3, 1, 1]", "[4]")},
    "aten::center": {"width": ("5", "20", "7")},
    "aten::count": {"substr": _TEXTS},
    "aten::get_autocast_dtype": {"device_type": ("'cpu'", "'cuda'", "'nosuch'", "1")},
    "aten::grad": {"inputs": ("[xp.tensor(1)]", "[xp.ones(2, requires_grad=True)]")},
    "aten::_grad_sum_to_size": {"size": ("None", "[]")},
    "aten::ljust": {"width": ("5", "20", "-2")},
    "aten::mul": {"n": ("2", "0", "-1")},
    "aten::mul_": {"n": ("2", "0", "-1")},
    "aten::remainder": {"b": ("3", "-2", "2.5", "-0.5", "1j")},
    "aten::replace": {"old": _TEXTS},
    "aten::rjust": {"width": ("5", "20", "-2")},
    "aten::rsplit": {"separator": _TEXTS},
    "aten::to": {"device": ("None", "xp.device('cpu')", "'meta'")},
    "aten::zfill": {"width": ("5", "20", "-2")},
    "prim::ReductionSizes": {"red_axes": ("[0]", "[]")},
    "prim::rangelist": {"n": ("3", "0", "-2")},
}
#: What is random, takes the time, needs another process or a graph, prints, or is of the machine.
_LEFT_OUT: Final = (
    *("aten::Generator", "aten::_get_cpu_capability", "aten::_no_grad_normal_"),
    *("aten::_no_grad_uniform_", "aten::hash", "aten::initial_seed", "aten::isidentifier"),
    *(
        "aten::cuda",
        "aten::manual_seed",
        "aten::save",
        "aten::seed",
        "aten::set_grad_enabled",
        "aten::wait",
    ),
    *("prim::AddStatValue", "prim::Guard", "prim::Print", "prim::RaiseException"),
    *("prim::TimePoint", "prim::awaitable_nowait", "prim::awaitable_wait", "prim::profile"),
)
#: mindtorch_v2 has no kernels for what these call.
_NOT_YET: Final = (
    "aten::__interpolate",
    "aten::__upsample",
    "prim::MKLDNN",
    "prim::mkldnn",
    "aten::_ncf",
)


def interpreted(profile: Profile) -> Iterator[Target]:
    """The operators of the release that its dispatcher does not know, and that a case may call."""
    dispatched = frozenset(profile.schemas["dispatcher_names"])
    for target in targets(profile):
        schema = target.schema
        if schema.full_name in dispatched or not schema.name.startswith(("aten::", "prim::")):
            continue
        if schema.name in _LEFT_OUT or schema.name.startswith(_NOT_YET):
            continue
        if schema.name.startswith("prim::") and schema.is_vararg:
            continue  # made of a node of a graph
        if all(_pool(schema.full_name, argument) for argument in schema.arguments):
            yield target


def _pool(name: str, argument: Argument) -> tuple[str, ...]:
    """What is given for an argument; nothing for one whose values are not converted."""
    if argument.name in _BY_NAME:
        return _BY_NAME[argument.name]
    spared = _SPARED.get(name, _SPARED.get(name.partition(".")[0], {})).get(argument.name)
    if spared is not None:
        return spared
    text = str(argument.type)
    if text.startswith("Optional["):
        inner = _VALUES.get(text.removeprefix("Optional[").removesuffix("]"), ())
        return ("None", *inner)
    if text.startswith(("List[t]", "Dict[")):
        return ("[]", "[1]") if text.startswith("List") else ("{}", "{'a': 1}")
    return _VALUES.get(text, ("1",) if text in ("t", "t1", "t2") else ())


def texts(profile: Profile) -> Iterator[Text]:
    for target in interpreted(profile):
        name = target.path.removeprefix("xp.ops.")
        packet = target.path.rpartition(".")[0]
        for place, text in enumerate(_calls(target)):
            yield name, _call(packet if place % 3 == 2 else target.path, *text)


def _call(path: str, values: list[str], keywords: dict[str, str]) -> str:
    given = [*values, *(f"{name}={value}" for name, value in keywords.items())]
    return f"{path}({', '.join(given)})"


Given = tuple[list[str], dict[str, str]]


def _calls(target: Target) -> Iterator[Given]:
    """At most ``CALLS``, of all combinations of values."""
    arguments = target.schema.arguments
    pools = [_pool(target.schema.full_name, argument) for argument in arguments]
    seen: list[Given] = []
    for values in _spread(pools):
        given = _given(arguments, values)
        if given not in seen:
            seen.append(given)
            yield given


def _spread(pools: list[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """Of all combinations so many, in steps that go round every place."""
    if not pools:
        yield ()
        return
    every = list(product(*pools))
    step = next(each for each in _STEPS if len(every) % each)
    for turn in range(min(CALLS, len(every))):
        yield every[turn * max(1, len(every) // CALLS) * step % len(every)]


_STEPS: Final = (7, 11, 13, 17, 19, 23, 29, 31, 37, 41)


def _given(arguments: tuple[Argument, ...], values: tuple[str, ...]) -> Given:
    pairs = list(zip(arguments, values, strict=True))
    keywords = {argument.name: value for argument, value in pairs if argument.kwarg_only}
    return [value for argument, value in pairs if not argument.kwarg_only], keywords


def strategy(profile: Profile) -> st.SearchStrategy[Text]:
    """An operator with any values of its types."""
    found = list(interpreted(profile))

    @st.composite
    def calls(draw: st.DrawFn) -> Text:
        target = found[draw(st.integers(0, len(found) - 1))]
        arguments = target.schema.arguments
        values = tuple(
            draw(st.sampled_from(_pool(target.schema.full_name, argument)))
            for argument in arguments
        )
        path = target.path if draw(st.booleans()) else target.path.rpartition(".")[0]
        return target.path.removeprefix("xp.ops."), _call(path, *_given(arguments, values))

    return calls()


AREA: Final = Area("interpreter", texts, strategy, warnings=False, close=True)
