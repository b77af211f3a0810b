"""Extracts which Python function runs at Meta for pointwise operators, and how it is wrapped.

Mirrors ``activate_meta`` in torch/_meta_registrations.py, which registers the functions of
torch/_refs, torch/_decomp and its own there, and the wrappers of torch/_prims_common/wrappers.py.
"""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch._decomp import global_decomposition_table

from conformance.extract import ExtractionError

#: Which registration counts of several.
PRECEDENCE = ("meta", "post_autograd", "pre_autograd")

#: Wrappers that change nothing of what comes out for tensors.
PLAIN = ("_disable_dynamo", "elementwise_unary_scalar_wrapper")


def extract() -> dict[str, Any]:
    """The section ``refs.json``."""
    operators: dict[str, str] = {}
    functions: dict[str, Any] = {}
    for name, function in registered():
        module, wrappers, core = peeled(function)
        label = f"{module}.{core}"
        facts = {"wrappers": wrappers}
        # The same function may be wrapped differently for different operators.
        key = label if functions.get(label, facts) == facts else f"{label}@{name}"
        functions[key] = facts
        operators[name] = key
    return {
        "operators": dict(sorted(operators.items())),
        "functions": dict(sorted(functions.items())),
    }


def registered() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Every overload of a pointwise operator whose kernel at Meta is written in Python."""
    table: dict[Any, Callable[..., Any]] = {}
    for kind in PRECEDENCE:
        for operator, function in global_decomposition_table[kind].items():
            table.setdefault(operator, function)
    for operator, function in table.items():
        if not isinstance(operator, torch._ops.OpOverload) or not is_pointwise(operator):
            continue
        dump = torch._C._dispatch_dump(operator.name())
        kernels = [line for line in dump.splitlines() if line.startswith("Meta: ")]
        if kernels and kernels[0].endswith("[ boxed ]"):
            yield operator.name(), function


def is_pointwise(operator: Any) -> bool:
    """Whether an overload of the operator, or of that which it is a form of, has the tag."""
    base = operator._schema.name.removeprefix("aten::")
    if operator.namespace != "aten":
        return False
    packets = [base, base.removesuffix("_")]
    overloads = [
        getattr(packet, overload)
        for packet in (getattr(torch.ops.aten, each, None) for each in packets)
        if packet is not None
        for overload in packet.overloads()
    ]
    return any(torch.Tag.pointwise in overload.tags for overload in overloads)


def peeled(function: Callable[..., Any]) -> tuple[str, list[list[Any]], str]:
    """The module and name of the innermost function, and the wrappers around it from outside."""
    wrappers: list[list[Any]] = []
    while True:
        cells = closure(function)
        owner, _, inner = function.__code__.co_qualname.partition(".<locals>")
        if owner == "out_wrapper":
            wrappers.append(["out", {"exact_dtype": cells["exact_dtype"]}])
        elif owner == "elementwise_type_promotion_wrapper.__call__":
            wrapper = cells["self"]
            kind = wrapper.type_promotion_kind.name
            wrappers.append(["promote", {"kind": kind, "args": [*wrapper.type_promoting_arg_names]}])
        elif owner in ("_make_inplace", "_inplace_wrapper"):
            wrappers.append([owner.strip("_"), {}])
        elif owner not in PLAIN:
            return function.__module__, wrappers, owner_name(function, owner)
        function = cells["fn"]


def owner_name(function: Callable[..., Any], owner: str) -> str:
    """What the innermost function is called: by its maker if it is made, else by its name."""
    return owner if "<locals>" not in function.__code__.co_qualname else function.__name__


def closure(function: Callable[..., Any]) -> dict[str, Any]:
    cells = function.__closure__ or ()
    return {
        name: cell.cell_contents
        for name, cell in zip(function.__code__.co_freevars, cells, strict=True)
    }
