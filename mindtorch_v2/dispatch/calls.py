"""From a keyset to a kernel: the way of every call.

Mirrors ``aten/src/ATen/core/dispatch/DispatchKeyExtractor.h`` and ``OperatorEntry::lookup``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

from mindtorch_v2.dispatch.kernel import AMBIGUOUS_AUTOGRAD_OTHER, MISSING, Kernel
from mindtorch_v2.dispatch.key import (
    BACKEND_ORDER,
    FUNCTIONALITY_ORDER,
    DispatchKey,
    is_per_backend_functionality_key,
    key_name,
    to_runtime_key,
)
from mindtorch_v2.dispatch.keyset import (
    functionality_bit,
    highest_priority_type_id,
    table_key,
)
from mindtorch_v2.dispatch.operator_entry import OperatorEntry

_HIGHEST_FIRST: Final = tuple(
    (functionality_bit(key), key, is_per_backend_functionality_key(key))
    for key in reversed(FUNCTIONALITY_ORDER)
)


class Target(NamedTuple):
    """Where a call goes: the keyset it has left, the key, and the kernel there."""

    keyset: int
    key: int
    kernel: Kernel


def keyset_of(values: Iterable[Any], keys_of: Callable[[Any], int | None]) -> int:
    """The keys of all tensors among arguments, those in lists too.

    ``keys_of`` answers a tensor's keys, and None for what is no tensor.
    """
    mask = 0
    for value in values:
        keys = keys_of(value)
        if keys is not None:
            mask |= keys
        elif isinstance(value, (list, tuple)):
            mask |= keyset_of(value, keys_of)
    return mask


def resolve(entry: OperatorEntry, keyset: int) -> Target:
    """The kernel for a keyset whose masks are applied: the first that is no fallthrough.

    The target's keyset has no key left that is passed over.  NotImplementedError in torch's words
    if there is no kernel, RuntimeError if two are as good.
    """
    table = entry.table
    backend = next((bit for bit in reversed(BACKEND_ORDER) if keyset & bit), 0)
    target = int(DispatchKey.Undefined)
    for bit, functionality, per_backend in _HIGHEST_FIRST:
        if keyset & bit:
            key = to_runtime_key(functionality, backend) if per_backend else functionality
            if table.get(key, MISSING).is_fallthrough:
                keyset &= ~bit
            elif target == DispatchKey.Undefined:
                target = key
    return Target(keyset, target, _runnable(entry, target, table.get(target, MISSING)))


def at_highest(entry: OperatorEntry, keyset: int) -> Target:
    """The kernel at the highest key of a keyset (``Dispatcher::redispatch``)."""
    key = table_key(highest_priority_type_id(keyset))
    return Target(keyset, key, _runnable(entry, key, entry.table.get(key, MISSING)))


def _runnable(entry: OperatorEntry, key: int, kernel: Kernel) -> Kernel:
    if kernel is MISSING:
        raise missing_kernel(entry, key)
    if kernel is AMBIGUOUS_AUTOGRAD_OTHER:
        raise RuntimeError(
            f"{entry.name} has kernels registered to both CompositeImplicitAutograd and a backend "
            "mapped to AutogradOther. This makes the backend kernel unreachable; the dispatcher "
            "will always prefer the CompositeImplicitAutograd lowering (see Note [Ambiguity in "
            "AutogradOther kernel]). If you want to override CompositeImplicitAutograd, please "
            "open an issue to request a dedicated Autograd dispatch key for the backend.\\nIf you "
            "only want to run inference instead of training, in C++, add "
            "`c10::InferenceMode mode;` before model.forward(); in Python, use "
            "`torch.inference_mode()` as a context manager (see "
            "https://pytorch.org/docs/stable/generated/torch.inference_mode.html)."
        )
    return kernel


def missing_kernel(entry: OperatorEntry, key: int) -> NotImplementedError:
    """What torch says of a call that goes to a key without kernel (``reportError``)."""
    available = f"{entry.list_all_dispatch_keys()}.\n\n{entry.dump_computed_table()}"
    if key == DispatchKey.Undefined:
        return NotImplementedError(
            "There were no tensor arguments to this function (e.g., you passed an empty list of "
            f"Tensors), but no fallback function is registered for schema {entry.name}.  This "
            "usually means that this function requires a non-empty list of Tensors, or that you "
            "(the operator writer) forgot to register a fallback function.  Available functions "
            f"are {available}"
        )
    return NotImplementedError(
        f"Could not run '{entry.name}' with arguments from the '{key_name(key)}' backend. This "
        "could be because the operator doesn't exist for this backend, or was omitted during the "
        "selective/custom build process (if using custom build). If you are a Facebook employee "
        "using PyTorch on mobile, please visit https://fburl.com/ptmfixes for possible "
        f"resolutions. '{entry.name}' is only available for these backends: {available}"
    )
