"""The two phases of an ACLNN call: an executor is planned, and then launched on a stream.

Note [Executors]
    An executor is good for one launch, which also frees it, whatever the launch answers.  One that
    ACL agrees to call repeatable may be launched again with other addresses: calls that differ in
    nothing else share it, and save the first phase.  Some operators refuse that, and then the
    executor is an ordinary one.

Descriptors must live until the launch has returned; memory until the stream has passed it, which
is the allocator's business: a launch tells it which stream uses what.
"""

from __future__ import annotations

import ctypes
import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, Final

from mindtorch_v2.kernels.npu import libraries, runtime, status
from mindtorch_v2.kernels.npu.allocator import Memory
from mindtorch_v2.kernels.npu.marshal import (
    Marshalled,
    Slot,
    UnsupportedError,
    check,
    key_of,
    marshal,
    memory_of,
)
from mindtorch_v2.kernels.npu.prototypes import Aclnn, aclnn
from mindtorch_v2.kernels.npu.streams import current_queue
from mindtorch_v2.tensor.tensor import Tensor

_REFUSALS: Final = frozenset((status.INVALID_ARGUMENT, *status.NO_KERNEL))
CACHED: Final = 1024
"""Repeatable executors that are kept; the one that was not used for longest goes first."""


class Executor:
    """An executor, its workspace's size, and the descriptors that it was planned with."""

    def __init__(self, operator: Aclnn, marshalled: Marshalled, device: int) -> None:
        """Phase 1.  AclError if ACLNN refuses, UnsupportedError if there is no such operator."""
        functions = libraries.operator_functions(operator)
        if functions is None:
            raise UnsupportedError(f"this release of CANN has no {operator.symbol}")
        planning, self._running = functions
        self.operator, self.device = operator, device
        self._marshalled, self._shown = marshalled, ""
        size, address = ctypes.c_uint64(), ctypes.c_void_p()
        runtime.use_device(device)
        code: int = planning(*marshalled.values, ctypes.byref(size), ctypes.byref(address))
        if code in _REFUSALS:  # this release or chip takes less than the table says
            raise UnsupportedError(f"{operator.symbol} refuses: {runtime.recent_message()}")
        status.check(
            code,
            f"{operator.symbol}GetWorkspaceSize",
            runtime.recent_message,
            lambda: described(operator, marshalled.tensors),
        )
        assert address.value is not None
        self._address, self.workspace_size = address.value, size.value
        self.is_repeatable = self.is_closed = False
        marshalled.handles.own_executor(self._address)

    def make_repeatable(self) -> None:
        """Have it launched many times, if ACL agrees; only directly after phase 1."""
        code: int = libraries.function("aclSetAclOpExecutorRepeatable")(self._address)
        self.is_repeatable = code == status.SUCCESS
        if code != status.SUCCESS:
            runtime.recent_message()
            return
        self._shown = self._described()
        #: Where its tensors are, as far as it knows.
        self._addresses: list[int | None] = [
            memory_of(tensor).address for tensor in self._marshalled.tensors
        ]
        self._marshalled.tensors.clear()  # whose memory it shall not keep

    def launch_on(self, memories: Sequence[Memory]) -> None:
        """Phase 2 of a repeatable executor, with its tensors in this memory."""
        queue = current_queue(self.device)
        with _lock:  # another thread may launch it with other addresses
            for at, memory in enumerate(memories):
                memory.used_on(queue)
                if memory.address != self._addresses[at]:
                    self._move(at, self._marshalled.slots[at], memory.address)
            self.launch()

    def _move(self, at: int, slot: Slot, address: int) -> None:
        """Tell the executor where a tensor is now; it knows that until it is told otherwise."""
        self._addresses[at] = None  # until it has been told
        name = "aclSetOutputTensorAddr" if slot.is_output else "aclSetInputTensorAddr"
        runtime.call(name, self._address, slot.place, slot.descriptor, address or None)
        self._addresses[at] = address

    def launch(self) -> None:
        """Phase 2, on the current stream.  AclError if the launch fails; see Note [Executors].

        Under ASCEND_LAUNCH_BLOCKING it is waited for.
        """
        queue, size = current_queue(self.device), self.workspace_size
        workspace = Memory(size, self.device) if size else None
        if not self.is_repeatable:
            self._marshalled.handles.disown(self._address)
        runtime.use_device(self.device)
        address = None if workspace is None else workspace.address
        code: int = self._running(address, size, self._address, queue.handle)
        if code != status.SUCCESS:
            symbol = self.operator.symbol
            status.check(code, symbol, runtime.recent_message, self._described)
        if runtime.is_blocking():
            queue.synchronize(self._described())

    def _described(self) -> str:
        return self._shown or described(self.operator, self._marshalled.tensors)

    def close(self) -> None:
        """It cannot be launched any more."""
        self.is_closed = True
        self._marshalled.handles.close()


def described(operator: Aclnn, tensors: Sequence[Tensor]) -> str:
    """The tensors of a call, for who must find out what was wrong with them."""
    shown = (
        f"{each._dtype} {list(each._sizes)} strides {list(each._strides)} "
        f"offset {each._storage_offset}"
        for each in tensors
    )
    return f"{operator.symbol}({', '.join(shown)})"


# --- launches -------------------------------------------------------------------------------------

_lock: Final = threading.RLock()
_repeatable: Final[OrderedDict[tuple[Any, ...], Executor]] = OrderedDict()


class Launch:
    """A call that is planned: an executor, and the tensors that it is for."""

    def __init__(self, name: str, values: Sequence[Any], device: int) -> None:
        """Phase 1, or an executor that can stand in for it.

        UnsupportedError for what the operator does not take, AclError if ACLNN refuses.
        """
        operator = aclnn(name)
        check(operator, values)
        self.tensors = [each for each in _flat(values) if isinstance(each, Tensor)]
        self.executor = _executor(operator, values, device)

    @property
    def workspace_size(self) -> int:
        return self.executor.workspace_size

    def run(self) -> None:
        """Phase 2."""
        executor = self.executor
        if executor.is_repeatable:
            executor.launch_on([memory_of(tensor) for tensor in self.tensors])
            return
        queue = current_queue(executor.device)
        for tensor in self.tensors:
            memory_of(tensor).used_on(queue)
        try:
            executor.launch()
        finally:
            executor.close()


def _flat(values: Sequence[Any]) -> list[Any]:
    flat: list[Any] = []
    for value in values:
        flat += value if isinstance(value, (list, tuple)) else [value]
    return flat


def _executor(operator: Aclnn, values: Sequence[Any], device: int) -> Executor:
    key = key_of(operator, values)
    if key is None:
        return Executor(operator, marshal(operator, values), device)
    key = (device, *key)
    with _lock:
        known = _repeatable.get(key)
        if known is not None:
            _repeatable.move_to_end(key)
            return known
        made = Executor(operator, marshal(operator, values), device)
        made.make_repeatable()
        if made.is_repeatable:
            _repeatable[key] = made
            if len(_repeatable) > CACHED:
                _repeatable.popitem(last=False)  # who still has it keeps it alive
        return made


@runtime.at_close
def forget_executors() -> None:
    """Destroy the executors that are kept."""
    with _lock:
        executors = list(_repeatable.values())
        _repeatable.clear()
    for executor in executors:
        executor.close()
