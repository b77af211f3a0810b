"""Plans without memory: good for every call with arguments that look like those of the first.

Where each executor of a plan is repeatable, and each tensor that it is for is an argument or was
made for the plan, nothing has to be planned again: a call gets new memory for what was made, the
executors get the addresses, and phase 1 is saved, with all that leads to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from mindtorch_v2.binding.fallbacks import tensors_of
from mindtorch_v2.binding.operators import Call
from mindtorch_v2.kernels.npu.allocator import Memory
from mindtorch_v2.kernels.npu.executor import Executor, Launch
from mindtorch_v2.kernels.npu.marshal import memory_of
from mindtorch_v2.pipeline.meta import Planned, like, metadata_copy
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.storage import UntypedStorage
from mindtorch_v2.tensor.tensor import Tensor


class _Step(NamedTuple):
    """A launch; its tensors are in the memory of the arguments, and then of what was made."""

    executor: Executor
    places: list[int]


class Template:
    """What is left of a plan when its memory is taken away."""

    def __init__(
        self,
        call: Call,
        arguments: Sequence[tuple[Any, ...]],
        steps: Sequence[_Step],
        sizes: Sequence[int],
        device: Device,
        outputs: Sequence[tuple[Tensor, int]],
        is_single: bool,
    ) -> None:
        """``arguments`` are the forms of the call's tensors, ``sizes`` the bytes of what is made,
        ``outputs`` the answered tensors and in which of that memory each is."""
        self.name = call.operator.canonical
        self.is_single = is_single
        self._arguments, self._steps = arguments, steps
        self._sizes, self._device, self._outputs = sizes, device, outputs

    def prepared(self) -> Prepared:
        """With memory for a call."""
        storages = [UntypedStorage._of(nbytes, self._device) for nbytes in self._sizes]
        outputs = [like(tensor, storages[at]) for tensor, at in self._outputs]
        return Prepared(self, outputs, [_memory(storage) for storage in storages])

    def announced(self) -> Planned | None:
        """The same, as a pipeline wants to have it; None when its executors have been closed."""
        if any(step.executor.is_closed for step in self._steps):
            return None
        prepared = self.prepared()
        return Planned(prepared, prepared.outputs, self.announced)

    def fits(self, call: Call) -> bool:
        """Whether the tensors of a call look like those that it was made for."""
        return call.operator.canonical == self.name and self._arguments == [
            _form(tensor) for tensor in tensors_of(call.stack)
        ]

    def launch(self, call: Call, made: Sequence[Memory]) -> None:
        memories = [*map(memory_of, tensors_of(call.stack)), *made]
        for executor, places in self._steps:
            executor.launch_on([memories[at] for at in places])


class Prepared:
    """A template with memory, for one call."""

    __slots__ = ("_made", "_template", "outputs")

    def __init__(
        self, template: Template, outputs: Sequence[Tensor], made: Sequence[Memory]
    ) -> None:
        self.outputs = outputs
        self._template, self._made = template, made

    def fits(self, call: Call) -> bool:
        return self._template.fits(call)

    def run(self, call: Call) -> Any:
        self._template.launch(call, self._made)
        return self.outputs[0] if self._template.is_single else tuple(self.outputs)


def template_of(call: Call, launches: Sequence[Launch], answer: Any) -> Template | None:
    """What is good for other calls, of a plan; None if nothing is.

    That is for a number that was read from a tensor on the CPU, an executor that cannot be
    repeated, memory of arguments under another name, and what answers more than new tensors.
    """
    given = list(tensors_of(call.stack))
    answered = [answer] if isinstance(answer, Tensor) else list(tensors_of((answer,)))
    made = _Made(given)
    if any(tensor._device.type == "cpu" for tensor in given) or not answered:
        return None
    if type(answer) not in (Tensor, tuple) or any(map(made.is_given, answered)):
        return None
    steps = []
    for launch in launches:
        places = [made.place(tensor) for tensor in launch.tensors]
        if not launch.executor.is_repeatable or None in places:
            return None
        steps.append(_Step(launch.executor, [at for at in places if at is not None]))
    outputs = [(metadata_copy(tensor), made.index(tensor)) for tensor in answered]
    if len({at for _, at in outputs}) < len(outputs):
        return None
    sizes = [storage._nbytes for storage in made.storages]
    forms = [_form(tensor) for tensor in given]
    is_single = isinstance(answer, Tensor)
    return Template(call, forms, steps, sizes, answered[0]._device, outputs, is_single)


class _Made:
    """Where a plan's tensors are: arguments come first, then each storage that was made."""

    def __init__(self, given: Sequence[Tensor]) -> None:
        self._given = given
        self.storages: list[UntypedStorage] = []

    def is_given(self, tensor: Tensor) -> bool:
        """Whether it is in the memory of an argument."""
        return any(tensor._storage is each._storage for each in self._given)

    def place(self, tensor: Tensor) -> int | None:
        """None for one of which another call's tensors do not tell where it is."""
        sharing = [at for at, each in enumerate(self._given) if each._storage is tensor._storage]
        if not sharing:
            return len(self._given) + self.index(tensor)
        same = [at for at in sharing if self._given[at] is tensor]
        if same:
            return same[0]
        return sharing[0] if len(sharing) == 1 else None

    def index(self, tensor: Tensor) -> int:
        """Of the storage among those that were made."""
        storage = tensor._storage
        assert storage is not None
        if storage not in self.storages:
            self.storages.append(storage)
        return self.storages.index(storage)


def _form(tensor: Tensor) -> tuple[Any, ...]:
    """What an executor knows of a tensor, but its address."""
    return (
        *(tensor._dtype, tensor._sizes, tensor._strides, tensor._storage_offset),
        memory_of(tensor).nbytes,
    )


def _memory(storage: UntypedStorage) -> Memory:
    assert isinstance(storage._bytes, Memory)
    return storage._bytes
