"""Operators by name: which one is meant, what it may not have, what ``torch.ops`` keeps of it."""

from __future__ import annotations

from typing import Any

from mindtorch_v2 import _C
from mindtorch_v2._library.release import does, message
from mindtorch_v2._ops import OpOverload, ops


def resolve_op_name(op_name: Any, api: str) -> str:
    """The name of an operator that is given by name or as an object; RuntimeError for others."""
    if isinstance(op_name, str):
        return op_name
    if isinstance(op_name, OpOverload):
        return op_name._name
    raise RuntimeError(*message("neither name nor overload", api=api, type=type(op_name)))


def check_not_composed(qualname: str, name: str) -> None:
    if _C._dispatch_has_kernel_for_dispatch_key(qualname, "CompositeImplicitAutograd"):
        raise RuntimeError(
            f"We should not register a meta kernel directly to the operator '{name}', because it "
            "has a CompositeImplicitAutograd kernel in core. Instead we should let the operator "
            "decompose, and ensure that we have meta kernels for the base ops that it decomposes "
            "into."
        )


def forget_packets(op_defs: set[str]) -> None:
    """Have ``torch.ops`` look up these operators anew."""
    tidy = does("a destroyed operator leaves its namespace's listing")
    for qualname in op_defs:
        ns, name = qualname.split("::")
        name = name.split(".")[0]
        namespace = getattr(ops, ns)
        if not tidy:
            hasattr(namespace, name)  # which lists it, if another library has an overload
        if name in vars(namespace):
            delattr(namespace, name)
            if tidy and name in namespace._dir:
                namespace._dir.remove(name)
