"""Section ``derivatives.json.xz``: what autograd knows of each operator.

From ``derivatives.yaml``, read by torch's own code generator, and from what that generator writes
into VariableType (``gen_variable_type.emit_body``) and ADInplaceOrView
(``gen_inplace_or_view_type``).  Formulas stay C++; whoever runs them parses them.

``nodes``, by the class that torch generates (``AddBackward0``)
    ``inputs``: the arguments that have a derivative, in the order of the node's edges; a list of
    tensors is as many edges as it has tensors, and ends in ``[]`` here.
    ``derivatives``: the inputs that a formula is for, and the formula; one that is only asked when
    a gradient arrived is marked.  ``saved_inputs``, ``saved_outputs``: name, the expression that
    is saved, its C++ type, and the condition under which it is saved, if any.
    ``named_gradients``: what formulas call the gradients of the outputs.

``operators``, by full name, those of VariableType
    ``node`` (None: its derivative is not implemented); ``inputs``, the differentiable arguments
    whose gradient is computed; ``refused``, those that must not require one; ``outputs``, by index;
    ``complex``, whether complex outputs are refused; ``when``, a condition on the outputs' being
    differentiable.  An operator that has nothing to differentiate has an empty entry.

``views``: operator to the argument that its outputs are views of.
"""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import torch
import torchgen.packaged as packaged
from torchgen.api import cpp
from torchgen.api.autograd import (
    Derivative,
    DifferentiabilityInfo,
    NativeFunctionWithDifferentiabilityInfo,
    SavedAttribute,
    dispatch_strategy,
    gen_differentiable_outputs,
    is_differentiable,
    match_differentiability_info,
)
from torchgen.api.types import SpecialArgName
from torchgen.context import native_function_manager
from torchgen.gen import parse_native_yaml
from torchgen.model import Argument, SchemaKind, SelfArgument
from torchgen.packaged.autograd import gen_inplace_or_view_type as views
from torchgen.packaged.autograd import gen_variable_type as variable_type
from torchgen.packaged.autograd.load_derivatives import load_derivatives

from conformance.extract import require

ROOT = Path(next(iter(packaged.__path__)))
NATIVE = str(ROOT / "ATen/native/native_functions.yaml")
TAGS = str(ROOT / "ATen/native/tags.yaml")
#: What the key Autograd is called in derivatives.yaml.
DEFAULT = "Default"
DERIVATIVES = str(ROOT / "autograd/derivatives.yaml")


def extract() -> dict[str, Any]:
    """Nodes, operators and views of this release."""
    functions = functions_with_derivatives()
    infos = {info.op: info for each in functions for info in infos_of(each) if info.op}
    return {
        "nodes": {name: node(info) for name, info in sorted(infos.items())},
        "without_class": sorted(name for name in infos if not hasattr(torch._C._functions, name)),
        "operators": {
            f"aten::{each.func.func.name}": operator(each)
            for each in functions
            if dispatch_strategy(each) == "use_derived" and is_default(each)
        },
        "views": {
            f"aten::{each.func.func.name}": view
            for each in functions
            if (view := views.get_view_info(each.func)) is not None
        },
        "views_with_metadata_change": sorted(views.VIEW_FUNCTIONS_WITH_METADATA_CHANGE),
        "resets_grad_accumulator": sorted(variable_type.RESET_GRAD_ACCUMULATOR),
    }


@cache
def functions_with_derivatives() -> list[NativeFunctionWithDifferentiabilityInfo]:
    """Every native function and the differentiability info that serves it, if one does."""
    infos, _ = load_derivatives(DERIVATIVES, NATIVE, TAGS)
    functions = parse_native_yaml(NATIVE, TAGS).native_functions
    in_order = sorted(functions, key=lambda f: cpp.name(f.func))
    matched: list[Any] = match_differentiability_info(in_order, infos)
    return matched


def is_default(each: NativeFunctionWithDifferentiabilityInfo) -> bool:
    """Whether it has a kernel for all autograd keys, not only for some of them."""
    return not each.info or DEFAULT in each.info


def infos_of(each: NativeFunctionWithDifferentiabilityInfo) -> Iterator[DifferentiabilityInfo]:
    """Those for all autograd keys; the node of another key is a node of its own."""
    yield from (each.info or {}).values()


# Nodes --------------------------------------------------------------------------------------------


def node(info: DifferentiabilityInfo) -> dict[str, Any]:
    inputs = [argument.name for argument in info.args_with_derivatives]
    lists = {
        binding.name
        for binding in info.args_with_derivatives
        if views.is_tensor_list_type(binding.argument.type)
    }
    found: dict[str, Any] = {
        "inputs": [f"{name}[]" if name in lists else name for name in inputs],
        "derivatives": [derivative(each, info) for each in info.derivatives],
        "saved_inputs": [
            saved(each, guard(each, info, bool(lists))) for each in in_order(info.all_saved_inputs)
        ],
        "saved_outputs": [saved(each, None) for each in in_order(info.all_saved_outputs)],
    }
    if info.used_named_gradients:
        found["named_gradients"] = list(info.available_named_gradients)
    return found


def in_order(attributes: Any) -> list[SavedAttribute]:
    """As the code generator saves them."""
    return sorted(attributes, key=lambda attribute: str(attribute.nctype.name))


def derivative(each: Derivative, info: DifferentiabilityInfo) -> dict[str, Any]:
    found: dict[str, Any] = {
        "names": list(each.var_names),
        "formula": " ".join(each.formula.split()),
    }
    if len(each.var_names) == 1 and "not_implemented" not in each.formula:
        types = [
            str(binding.argument.type)
            for binding in info.args_with_derivatives
            if binding.name == each.var_names[0] and isinstance(binding.argument, Argument)
        ]
        if types in (["Tensor"], ["Tensor?"]):
            found["if_any_grad"] = True
    return found


def name_of(attribute: SavedAttribute) -> str:
    name = attribute.nctype.name
    return str(name.name if isinstance(name, SpecialArgName) else name)


def saved(attribute: SavedAttribute, condition: str | None) -> list[Any]:
    entry = [name_of(attribute), attribute.expr, attribute.nctype.type.cpp_type()]
    return entry if condition is None else [*entry, condition]


def guard(attribute: SavedAttribute, info: DifferentiabilityInfo, has_lists: bool) -> str | None:
    """``guard_for`` of emit_body: what a tensor is saved for, if it is one derivative alone."""
    is_tensor = attribute.nctype.type.cpp_type() == "at::Tensor"
    if has_lists or "backward" in info.name or len(info.args_with_derivatives) <= 1:
        return None
    users = [each for each in info.derivatives if attribute in each.saved_inputs]
    if not is_tensor or len(users) != 1:
        return None
    if len(users[0].var_names) == 1:
        names = [argument.name for argument in info.args_with_derivatives]
        return f"should_compute_output({names.index(users[0].var_names[0])})"
    name = re.escape(str(attribute.nctype.name))
    match = re.search(rf"wrap_opt_if\({name},(.*?)\)", users[0].formula)
    if match is None:
        return None
    return re.sub(r"grad_input_mask\[(\d+)\]", r"should_compute_output(\1)", match[1].strip())


# Operators ----------------------------------------------------------------------------------------


def operator(each: NativeFunctionWithDifferentiabilityInfo) -> dict[str, Any]:
    """What ``emit_body`` decides before it writes."""
    with native_function_manager(each.func):
        return decided(each)


def decided(each: NativeFunctionWithDifferentiabilityInfo) -> dict[str, Any]:
    function = each.func
    info = each.info[DEFAULT] if each.info else None
    base = views.get_base_name(function)
    name = cpp.name(function.func)
    is_derived = info is not None and info.has_derivatives
    # what has no formula is left to the boxed fallback, if not for its base name, which of
    # ``__lshift__`` is ``lshift``
    unasked = {base, name} if is_derived else {base}
    if unasked & variable_type.DONT_REQUIRE_DERIVATIVE:
        return {}
    arguments = [
        argument.argument if isinstance(argument, SelfArgument) else argument
        for argument in function.func.arguments.non_out
    ]
    inputs = [
        argument.name
        for argument in arguments
        if isinstance(argument, Argument) and is_differentiable(argument.name, argument.type, info)
    ]
    is_inplace_foreach = name.startswith("_foreach") and is_inplace(each)
    outputs = [output.name for output in gen_differentiable_outputs(each)]
    if not inputs or not (outputs or is_inplace_foreach):
        return {}
    names = [name if name is not None else "" for name in cpp.return_names(function)]
    found: dict[str, Any] = {"outputs": [names.index(output) for output in outputs]}
    with_derivatives = inputs
    if info is not None and is_derived:
        found["node"] = info.op
        if not is_inplace_foreach:
            wanted = {name for each in info.derivatives for name in each.var_names}
            with_derivatives = [name for name in inputs if name in wanted]
            require(wanted == set(with_derivatives), f"{name} lacks arguments of its derivatives")
    found["inputs"] = with_derivatives
    if function.func.kind() == SchemaKind.out:
        found["checked"] = inputs
    ignored = {"output", *with_derivatives, *(info.non_differentiable_arg_names if info else ())}
    refused = [name for name in inputs if name not in ignored]
    if refused:
        found["refused"] = refused
    if base in variable_type.GRADIENT_IMPLEMENTED_FOR_COMPLEX:
        found["complex"] = True
    if info is not None and info.output_differentiability_conditions:
        (found["when"],) = info.output_differentiability_conditions
    return found


def is_inplace(each: NativeFunctionWithDifferentiabilityInfo) -> bool:
    return bool(each.func.func.kind() == SchemaKind.inplace)
