"""The project's own entry points of dispatch, by the name of an operator.

They differ from ``torch.ops`` in two ways.  The thread's masks apply to all three, to
:func:`redispatch` as well, so a kernel that calls on below its key excludes that key for the time
being.  And the keys that fall through globally are passed over
(:mod:`mindtorch_v2.dispatch.global_fallthrough`).  An error is that of the key which is highest
when all this is done.

    >>> dispatch("aten::add", x, y)
    >>> with guarded(ExcludeDispatchKeyGuard, mask_of(DispatchKey.AutogradCPU)):
    ...     redispatch("aten::add.Tensor", keyset, x, y)
"""

from __future__ import annotations

from typing import Any, Protocol

from mindtorch_v2.binding.operators import Call, find_packet
from mindtorch_v2.dispatch.calls import at_highest
from mindtorch_v2.dispatch.global_fallthrough import without_global_fallthrough
from mindtorch_v2.dispatch.tls import apply_masks

__all__ = ["dispatch", "dispatch_with_keyset", "redispatch"]


class Keyset(Protocol):
    """A set of keys: mindtorch_v2.dispatch's, or the one of ``torch._C``."""

    @property
    def mask(self) -> int: ...


def dispatch(name: str, /, *args: Any, **kwargs: Any) -> Any:
    """Call an operator with the keys that its tensors have.

    ``name`` is that of an operator, ``aten::add.Tensor``, or of all its overloads, of which the
    first is called that takes the arguments; an alias is as good.  RuntimeError for an unknown
    name or unsuitable arguments, NotImplementedError where there is no kernel, in torch's words.
    """
    call = _bind(name, args, kwargs)
    return _run(call, call.keys())


def dispatch_with_keyset(name: str, keyset: Keyset, /, *args: Any, **kwargs: Any) -> Any:
    """The same with the keys of ``keyset`` in place of those of the tensors."""
    return _run(_bind(name, args, kwargs), keyset.mask)


def redispatch(name: str, keyset: Keyset, /, *args: Any, **kwargs: Any) -> Any:
    """Call on from within a kernel, with the keys that are left to it."""
    return _run(_bind(name, args, kwargs), keyset.mask, redispatched=True)


def _bind(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
    qualified, separator, overload_name = name.partition(".")
    packet = find_packet(qualified)
    if packet is not None and not separator:
        return packet.bind(args, kwargs)
    wanted = "" if overload_name == "default" else overload_name
    if packet is None or wanted not in packet.overloads:
        raise RuntimeError(f"Could not find schema for {qualified}.{wanted}")
    return packet.overloads[wanted].bind(args, kwargs)


def _run(call: Call, keys: int, *, redispatched: bool = False) -> Any:
    entry = call.operator.entry
    masked = without_global_fallthrough(entry, apply_masks(keys))
    keyset = entry.table.non_fallthrough(masked, masked)
    target = at_highest(entry, keyset, call.operator.full_name)
    return call.run_at(target, redispatched=redispatched)
