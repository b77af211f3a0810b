"""Area ``lookup-alias``: operators, overloads and schemas by name, those that exist and not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hypothesis import assume
from hypothesis import strategies as st

from conformance.area import Area, Text
from conformance.cases.arguments import Target, targets
from conformance.cases.pools import WRONG, C, call
from conformance.names import refusal
from conformance.vocabulary import for_profile, operator_name
from mindtorch_v2.profile import Profile

PACKET: Final = ("repr({0})", "str({0})", "{0}.overloads()", "{0}._qualified_op_name")
OVERLOAD: Final = (
    "{0}",
    "str({0})",
    "{0}.name()",
    "{0}.namespace",
    "{0}.overloadpacket",
    "{0}._schema",
    "{0}.tags",
    "{0}.is_view",
    "{0}.__name__, {0}.__qualname__, {0}.__module__",
    "{0} is {0}, {0} == {0}, hash({0}) == hash({0})",
)
PER_OVERLOAD: Final = 3
"""Questions to an overload; the next one gets the next ones."""

NO_PACKETS: Final = ("nosuch", "Add", "add_nosuch", "ADD", "_", "T", "default", "Tensor", "add__")
NO_OVERLOADS: Final = ("nosuch", "tensor", "Default", "DEFAULT", "Out", "_", "Tensor_", "x", "int_")
NAMESPACES: Final = ("aten", "prims", "quantized", "nosuch", "Aten", "torch", "_test", "mkldnn")

_ALIASES: Final = """
    absolute absolute_ arccos arccosh arcsin arcsinh arctan arctanh clip concat concatenate divide
    fix greater greater_equal less less_equal moveaxis movedim multiply negative not_equal subtract
    swapaxes swapdims true_divide det inverse logdet orgqr ger row_stack"""
ALIASES: Final = tuple(_ALIASES.split())
"""Operators of torch that do what another one does."""

QUALIFIED: Final = (
    "aten::add",
    "aten::add.Tensor",
    "aten::nosuch",
    "nosuch::add",
    "aten::",
    "::add",
    "aten",
    "add",
    "::",
    ":",
    "aten:add",
    "aten::aten::add",
    "aten.add",
    "aten::absolute",
    "prim::name",
    "Aten::add",
    "a::b::c",
)

CONSTANTS: Final = ("None", "0", "1.5", "True", "1j", "...", '""', '"nosuch"', '"Größe"', 'b"CPU"')
"""Values that may stand where the grammar wants a literal."""


def texts(profile: Profile) -> Iterator[Text]:
    found = targets(profile)
    yield from _packets(found)
    yield from _overloads(found)
    yield from _missing(found)
    yield from _by_string(found)
    yield from _whole_registry()


def _packets(found: tuple[Target, ...]) -> Iterator[Text]:
    paths = list(dict.fromkeys(target.path.rpartition(".")[0] for target in found))
    for index, path in enumerate(paths):
        yield path, PACKET[index % len(PACKET)].format(path)
        yield path, f"{path}.overloads()"
    for name in ALIASES:
        path = f"xp.ops.aten.{name}"
        yield path, f"{path}.overloads(), repr({path}), [str(s) for s in {path}._schemas.values()]"
        yield path, f"bound({path})"
        yield path, f'bound({path}, "x", nosuch=1)'


def _overloads(found: tuple[Target, ...]) -> Iterator[Text]:
    for index, target in enumerate(found):
        for offset in range(PER_OVERLOAD):
            question = OVERLOAD[(PER_OVERLOAD * index + offset) % len(OVERLOAD)]
            yield target.path, question.format(target.path)


def _missing(found: tuple[Target, ...]) -> Iterator[Text]:
    packets = list(dict.fromkeys(target.path.rpartition(".")[0] for target in found))
    for index, path in enumerate(packets):
        made_up = f"{path}_{NO_PACKETS[index % len(NO_PACKETS)]}"
        if refusal(made_up.rpartition(".")[2]) is None:
            yield "no packet", made_up
        for offset in range(2):
            name = NO_OVERLOADS[(2 * index + offset) % len(NO_OVERLOADS)]
            yield "no overload", f"{path}.{name}"
    for namespace in NAMESPACES:
        yield "namespace", f"xp.ops.{namespace}"
        yield "namespace", f"xp.ops.{namespace}.name, xp.ops.{namespace}.__name__"
        for name in NO_PACKETS:
            yield "no packet", f"xp.ops.{namespace}.{name}"
            yield "no packet", f"xp.ops.{namespace}.{name}.default"
    yield "ops", "xp.ops"
    yield "ops", "xp.ops.__name__"
    yield "ops", "xp.ops.aten.add is xp.ops.aten.add, xp.ops.aten is xp.ops.aten"


def _by_string(found: tuple[Target, ...]) -> Iterator[Text]:
    for target in found:
        name, overload = target.schema.name, target.schema.overload_name
        yield "_get_schema", f'{C}._get_schema("{name}", "{overload}")'
        if operator_name(name) is None and operator_name(overload) is None:
            yield "_dispatch_find_schema_or_throw", _found_schema(name, overload)
            yield "_get_operation_overload", _operation(name, overload)
            yield "_get_operation_overload", f"{_operation(name, overload)}[0](nosuch=1)"
    for name in dict.fromkeys(target.schema.name for target in found):
        yield "_jit_resolve_packet", f'{C}._jit_resolve_packet("{name}", nosuch=1)'
        yield "_jit_get_schemas_for_operator", f'{C}._jit_get_schemas_for_operator("{name}")'
        if operator_name(name) is None:
            yield "_jit_get_operation", f'{C}._jit_get_operation("{name}")'
    for name in QUALIFIED:
        yield "_jit_resolve_packet", f'{C}._jit_resolve_packet("{name}", 1)'
        yield "_jit_get_schemas_for_operator", f'{C}._jit_get_schemas_for_operator("{name}")'
        if name != "prim::name":
            yield "_jit_get_operation", f'{C}._jit_get_operation("{name}")[1]'
        for overload in ("", "Tensor", "out", "nosuch", "default"):
            yield "_get_schema", f'{C}._get_schema("{name}", "{overload}")'
            if not name.startswith("prim"):
                yield "_get_operation_overload", _operation(name, overload)
                yield "_dispatch_find_schema_or_throw", _found_schema(name, overload)
    for function in ("_jit_get_schemas_for_operator", "_jit_get_operation", "_get_schema"):
        for wrong in WRONG:
            if function != "_jit_get_operation" or wrong in CONSTANTS:
                yield function, call(f"{C}.{function}", [wrong])
            if function == "_get_schema":
                yield function, call(f"{C}.{function}", ['"aten::add"', wrong])
                yield function, call(f"{C}.{function}", [wrong, '"Tensor"'])
    for wrong in WRONG:
        yield "_jit_resolve_packet", call(f"{C}._jit_resolve_packet", [wrong])
        yield "_get_operation_overload", _at_key(wrong)
        yield "_get_operation_overload", _at_key(f"xp.DispatchKey.CPU, {wrong}")
        for path in ("xp.ops.aten.relu.default", "xp.ops.aten.relu"):
            yield "op", f"{path}.op({wrong}, nosuch=1)"
        if wrong in CONSTANTS:
            yield "_get_operation_overload", call(f"{C}._get_operation_overload", [wrong, '""'])
            yield "_get_operation_overload", _operation("aten::add", "x").replace('"x"', wrong)
    for arguments in ("", "arg0=xp.DispatchKey.CPU", '"CPU", 1', '"nosuch"', "1", "None, x=1"):
        yield "_get_operation_overload", _at_key(arguments)
    for left in ("None", '"aten::add"', "1", '"a\\0b"'):
        for right in ("None", '"Tensor"', "1.5", r'"Ten\0sor"'):
            wrong = f"{C}._dispatch_find_schema_or_throw({left}, {right})"
            yield "_dispatch_find_schema_or_throw", f"{wrong}.schema()"


def _operation(name: str, overload: str) -> str:
    return f'{C}._get_operation_overload("{name}", "{overload}")'


def _at_key(arguments: str) -> str:
    return f"{_operation('aten::add', 'Tensor')}[1]({arguments})"


def _found_schema(name: str, overload: str) -> str:
    return f'{C}._dispatch_find_schema_or_throw("{name}", "{overload}").schema()'


def _whole_registry() -> Iterator[Text]:
    yield "_jit_get_all_schemas", f"[str(schema) for schema in {C}._jit_get_all_schemas()]"
    yield "_jit_get_all_schemas", f"{C}._jit_get_all_schemas(1)"
    yield "_dispatch_get_all_op_names", f"sorted({C}._dispatch_get_all_op_names())"
    yield "_dispatch_get_all_op_names", f"{C}._dispatch_get_all_op_names(None)"


def strategy(profile: Profile) -> st.SearchStrategy[Text]:
    """A path of names, each either of the release or made up."""
    found, vocabulary = targets(profile), for_profile(profile.name)
    words = sorted({word for target in found for word in target.path.split(".")[2:]})
    word = st.one_of(st.sampled_from(words), st.sampled_from(NO_PACKETS))
    known = st.sampled_from(found).map(lambda target: target.path.split(".")[2:])

    @st.composite
    def lookups(draw: st.DrawFn) -> Text:
        path = draw(known)
        for position in draw(st.lists(st.integers(0, 2), max_size=2, unique=True)):
            path[position] = draw(word)
        assume(not any(vocabulary.free_refusal(("ops", *path[:end])) for end in (1, 2, 3)))
        text = f"xp.ops.{'.'.join(path[: draw(st.integers(2, 3))])}"
        return "drawn", draw(st.sampled_from(["{0}", "str({0})", "repr({0})"])).format(text)

    return lookups()


AREA: Final = Area("lookup-alias", texts, strategy)
