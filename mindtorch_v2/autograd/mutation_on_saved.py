"""``allow_mutation_on_saved_tensors``: what is saved for backward is copied before it changes.

Mirrors the last part of ``torch/autograd/graph.py``.  A tensor is known by its object, its
memory and its version; its aliases by memory and version alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any, Final, TypeAlias
from weakref import WeakKeyDictionary, WeakValueDictionary

from mindtorch_v2 import profile
from mindtorch_v2.autograd.saved_tensors_hooks import saved_tensors_hooks

_TensorID: TypeAlias = tuple[int, int, int]
_StorageID: TypeAlias = tuple[int, int]

_LISTS_MAY_CHANGE: Final = profile.active().autograd["python"]["saved_lists_may_change"]
_OUTSIDE: Final = (
    "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context"
    "in which the graph was originally recorded."
)


class _Enabled:
    """Whether such a context runs: one for all threads, as in torch."""

    value = False


class _Handle:
    """Stands for a saved tensor in the graph; what nobody holds any more was freed by backward."""


class _AllowMutationOnSavedContext:
    """What was saved: as it is, or as it was before it changed."""

    def __init__(self) -> None:
        self.cloned: MutableMapping[_Handle, Any] = WeakKeyDictionary()
        self.original: MutableMapping[_Handle, Any] = WeakKeyDictionary()
        self.tid_to_weakhandle: MutableMapping[_TensorID, _Handle] = WeakValueDictionary()
        self.sid_to_tid: defaultdict[_StorageID, set[_TensorID]] = defaultdict(set)

    def clear(self) -> None:
        self.cloned.clear()
        self.original.clear()
        self.tid_to_weakhandle.clear()
        self.sid_to_tid.clear()

    def pack(self, tensor: Any) -> _Handle:
        tid, sid = _identities(tensor)
        self.sid_to_tid[sid].add(tid)
        handle = self.tid_to_weakhandle.get(tid)
        if handle is None:
            handle = self.tid_to_weakhandle[tid] = _Handle()
            self.original[handle] = tensor
        return handle

    def unpack(self, handle: _Handle) -> Any:
        assert _Enabled.value, _OUTSIDE
        if handle in self.cloned:
            return self.cloned[handle]
        assert handle in self.original, _OUTSIDE
        return self.original[handle]

    def before_change(self, tensor: Any) -> None:
        """Copy every saved tensor that shares this one's memory, and is as old."""
        _, sid = _identities(tensor)
        for tid in self.sid_to_tid.get(sid, ()):
            handle = self.tid_to_weakhandle.get(tid)
            if handle is not None and handle not in self.cloned:
                self.cloned[handle] = self.original.pop(handle).clone()


def _identities(tensor: Any) -> tuple[_TensorID, _StorageID]:
    address, version = tensor.data_ptr(), tensor._version
    return (id(tensor), address, version), (address, version)


def _changed(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[Any]:
    """The arguments that an operator writes to."""
    for place, argument in enumerate(func._schema.arguments):
        if argument.alias_info is None or not argument.alias_info.is_write:
            continue
        given = kwargs["out"] if argument.is_out else args[place]
        yield from given if _LISTS_MAY_CHANGE and isinstance(given, list) else (given,)


def _cloning_mode(context: _AllowMutationOnSavedContext) -> Any:
    from mindtorch_v2.utils._python_dispatch import TorchDispatchMode

    class _CloneArgBeforeMutateMode(TorchDispatchMode):
        def __torch_dispatch__(
            self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            kwargs = kwargs or {}
            for tensor in _changed(func, args, kwargs):
                context.before_change(tensor)
            return func(*args, **kwargs)

    return _CloneArgBeforeMutateMode()


@contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[_AllowMutationOnSavedContext]:
    """Context of forward and backward in which saved tensors may change in between."""
    context = _AllowMutationOnSavedContext()
    with saved_tensors_hooks(context.pack, context.unpack), _cloning_mode(context):
        try:
            if _Enabled.value:
                raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
            _Enabled.value = True
            yield context
        finally:
            context.clear()
            _Enabled.value = False
