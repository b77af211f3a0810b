"""Section ``schemas.json.xz``: every operator schema of a plain ``import torch``.

``schemas`` has them in the order of the JIT's registry (torch/csrc/jit/runtime/operator.cpp),
where the overloads of one operator stand in registration order; the dispatcher's own operators
are among them.  Modules of torch that load late (and other packages) register more; they are not
in a profile, so this section looks at the registry before it touches ``torch.ops``.
"""

from typing import Any

import torch

from conformance.extract import require

C: Any = torch._C


def extract() -> dict[str, Any]:
    """Schemas, the dispatcher's names in its own order, and tags."""
    schemas = [str(schema) for schema in C._jit_get_all_schemas()]
    names = [operator_name(schema) for schema in schemas]
    require(len(set(names)) == len(names), "two schemas have one name")
    defined = set(names)  # others have kernels only: the dangling ones of registrations
    dispatcher = [name for name in C._dispatch_get_all_op_names() if name in defined]
    check_overload_order(names, set(dispatcher))
    tags, unresolvable = resolve_tags(names)
    return {
        "schemas": schemas,
        "dispatcher_names": dispatcher,
        "tags": tags,
        "unresolvable": unresolvable,
    }


def operator_name(schema: str) -> str:
    """``aten::add.Tensor`` of a printed schema."""
    return schema.split("(", 1)[0]


def check_overload_order(names: list[str], dispatcher: set[str]) -> None:
    """A packet of torch.ops has the dispatcher's overloads first, each part in registry order."""
    packets: dict[str, list[str]] = {}
    for name in sorted(names, key=lambda name: name not in dispatcher):  # sorted() is stable
        packet, _, overload = name.partition(".")
        packets.setdefault(packet, []).append(overload)
    for packet, overloads in packets.items():
        require(C._jit_get_operation(packet)[1] == overloads, f"{packet}: overloads out of order")


def resolve_tags(names: list[str]) -> tuple[dict[str, list[str]], list[str]]:
    """Tags by operator name, none where there are none; and the names torch.ops has not."""
    tags = {}
    unresolvable = []
    for name in names:
        overload = find_overload(name)
        if overload is None:
            unresolvable.append(name)
        elif overload.tags:
            tags[name] = [tag.name for tag in overload.tags]
    return tags, unresolvable


def find_overload(name: str) -> Any:
    """The torch.ops object of an operator name, or None."""
    namespace, _, rest = name.partition("::")
    operator, _, overload = rest.partition(".")
    try:
        packet = getattr(getattr(torch.ops, namespace), operator)
        return getattr(packet, overload or "default")
    except (AttributeError, RuntimeError):
        return None
