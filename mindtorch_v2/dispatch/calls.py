"""From a keyset to a kernel: the way of every call.

Mirrors ``Dispatcher::callBoxed``, ``redispatchBoxed`` and ``callBoxedForDispatchKey``, and
``OperatorEntry::lookup`` with ``reportError``.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from mindtorch_v2 import messages
from mindtorch_v2.dispatch.kernel import AMBIGUOUS_AUTOGRAD_OTHER, MISSING, Kernel
from mindtorch_v2.dispatch.key import DispatchKey, key_name
from mindtorch_v2.dispatch.keyset import highest_priority_type_id, table_key
from mindtorch_v2.dispatch.operator_entry import OperatorEntry
from mindtorch_v2.dispatch.tls import apply_masks


class Target(NamedTuple):
    """Where a call goes: the keyset that the kernel is called with, its key, and the kernel."""

    keyset: int
    key: int
    kernel: Kernel


def resolve(entry: OperatorEntry, keys: int, name: str = "") -> Target:
    """The kernel of a call whose arguments have these keys: at the highest key that is left with
    the thread's masks and without the operator's fallthroughs.

    A table keeps what was found: the same operator is called with the same keys again and again.
    """
    table = entry.table
    masked = apply_masks(keys)
    target = table.targets.get((masked, keys))
    if target is None:
        keyset = table.non_fallthrough(masked, keys)
        target = at_highest(entry, keyset, name)
        if len(table.targets) >= _MOST_TARGETS:
            table.targets.clear()
        table.targets[masked, keys] = target
    return target


_MOST_TARGETS: Final = 1000
"""So many a table keeps; then it forgets all."""


def effective_keys(entry: OperatorEntry, keys: int) -> int:
    """``getDispatchKeySetBoxed``: the keys among which the highest is called."""
    return entry.table.non_fallthrough(apply_masks(keys), keys)


def at_highest(entry: OperatorEntry, keyset: int, name: str = "") -> Target:
    """The kernel at the highest key of a keyset, with nothing masked and nothing passed over.

    NotImplementedError in torch's words if there is none, RuntimeError if two are as good.
    ``name`` is what the user called the operator, an alias perhaps.
    """
    key, kernel = entry.table.lookup(keyset)
    if kernel is MISSING:
        raise missing_kernel(entry, highest_priority_type_id(keyset), name or entry.name)
    return Target(keyset, key, runnable(entry, kernel))


def at_key(entry: OperatorEntry, key: int, keys: int) -> Target | None:
    """The kernel registered for exactly ``key``, an alias key too, else the key's fallback.

    The kernel gets the keyset that any call would have got.  None if there is neither: torch runs
    into a null pointer there.
    """
    kernel = entry.kernel_at(key) or entry.fallback_at(table_key(key))
    if kernel is None:
        return None
    return Target(effective_keys(entry, keys), table_key(key), runnable(entry, kernel))


def runnable(entry: OperatorEntry, kernel: Kernel) -> Kernel:
    """``kernel``, unless its only purpose is to say why there is none: RuntimeError."""
    if kernel is AMBIGUOUS_AUTOGRAD_OTHER:
        raise RuntimeError(
            f"{messages.internal_assert('0', 'ambiguous_autogradother_kernel')}"
            f"{entry.name} {messages.AMBIGUOUS_AUTOGRAD_OTHER}\n"
            f"Canonical state\n~~~~~~~~~~~\n{entry.dump_state()}\n\n"
        )
    if kernel.is_fallthrough:
        raise RuntimeError(
            messages.internal_assert("0", "fallthrough_kernel")
            + "fallthrough_kernel was executed but it should have been short-circuited by the "
            "dispatcher. This could occur if you registered a fallthrough kernel as a override "
            "for a specific operator (as opposed to a backend fallback); this is NOT currently "
            "supported, and we do not intend to add support for it in the near future.  If you "
            "do find yourself in need of this, let us know in the bug tracker."
        )
    return kernel


def missing_kernel(entry: OperatorEntry, key: int, name: str) -> NotImplementedError:
    """What torch says of a call that goes to a key without kernel (``reportError``).

    RuntimeError is raised where the table is not what the registrations make of it.  An operator's
    own report, which is to raise, comes before torch's words.
    """
    entry.check_invariants()
    if entry.report_error is not None:
        entry.report_error(key_name(key))
        raise RuntimeError(messages.internal_assert("false", "OperatorEntry.reportError"))
    available = f"{entry.list_all_dispatch_keys()}.\n\n{entry.dump_computed_table()}"
    if key == DispatchKey.Undefined:
        return NotImplementedError(
            "There were no tensor arguments to this function (e.g., you passed an empty list of "
            f"Tensors), but no fallback function is registered for schema {name}.  This "
            "usually means that this function requires a non-empty list of Tensors, or that you "
            "(the operator writer) forgot to register a fallback function.  Available functions "
            f"are {available}"
        )
    return NotImplementedError(
        f"Could not run '{name}' with arguments from the '{key_name(key)}' backend. This "
        "could be because the operator doesn't exist for this backend, or was omitted during the "
        "selective/custom build process (if using custom build). If you are a Facebook employee "
        "using PyTorch on mobile, please visit https://fburl.com/ptmfixes for possible "
        f"resolutions. '{name}' is only available for these backends: {available}"
    )
