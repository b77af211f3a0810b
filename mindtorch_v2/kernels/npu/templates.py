"""Plans without memory: good for every call with arguments that look like those of the first.

Where each executor of a plan is repeatable, and each tensor that it is for is an argument or was
made for the plan, nothing has to be planned again: a call gets new memory for what was made, the
executors get the addresses, and phase 1 is saved, with all that leads to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from mindtorch_v2.binding.fallbacks import list_of_tensors, tensors_of
from mindtorch_v2.binding.operators import Call
from mindtorch_v2.kernels.npu.accelerator import TensorMemory
from mindtorch_v2.kernels.npu.allocator import Memory
from mindtorch_v2.kernels.npu.executor import Executor, Launch
from mindtorch_v2.kernels.npu.marshal import UnsupportedError, memory_of
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

    def announced(self) -> Planned | None:
        """A plan for one call, as a pipeline wants to have it; None when its executors have been
        closed."""
        for step in self._steps:
            if step.executor.is_closed:
                return None
        prepared = Prepared(self)
        return Planned(prepared, prepared.outputs, self.announced, prepared.run_if_it_fits)

    def allocated(self) -> tuple[list[Tensor], list[Memory]]:
        """New tensors for what a call answers, and all the memory that it needs."""
        device, index = self._device, self._device.index
        assert index is not None
        memories = [TensorMemory(nbytes, index) for nbytes in self._sizes]
        storages = [UntypedStorage._on_device(memory, device) for memory in memories]
        return [like(tensor, storages[at]) for tensor, at in self._outputs], [*memories]

    def memory_of(self, call: Call) -> list[Memory] | None:
        """That of the tensors of a call, if they look like those that it was made for."""
        given = list_of_tensors(call.stack)
        if call.operator.canonical != self.name or len(given) != len(self._arguments):
            return None
        memories = []
        for tensor, form in zip(given, self._arguments, strict=True):
            memory = memory_of(tensor)
            if _form(tensor, memory) != form:
                return None
            memories.append(memory)
        return memories

    def launch(self, memories: Sequence[Memory]) -> None:
        """With the tensors of a call, and what was made for it, in this memory."""
        for executor, places in self._steps:
            executor.launch_on([memories[at] for at in places])


class Prepared:
    """A template for one call, which has its memory from when that is first asked for."""

    __slots__ = ("_made", "_template")

    def __init__(self, template: Template) -> None:
        self._template = template
        self._made: tuple[list[Tensor], list[Memory]] | None = None

    def outputs(self) -> list[Tensor]:
        """What the call is going to answer."""
        if self._made is None:
            self._made = self._template.allocated()
        return self._made[0]

    def fits(self, call: Call) -> bool:
        return self._template.memory_of(call) is not None

    def run(self, call: Call) -> Any:
        """The answer to a call that fits."""
        given, outputs = self._template.memory_of(call), self.outputs()
        assert given is not None
        return self._launched(given, outputs)

    def run_if_it_fits(self, call: Call) -> Any:
        """The answer; None for a call that does not fit."""
        try:
            given = self._template.memory_of(call)
        except UnsupportedError:
            return None
        return None if given is None else self._launched(given, self.outputs())

    def _launched(self, given: Sequence[Memory], outputs: Sequence[Tensor]) -> Any:
        assert self._made is not None
        self._template.launch([*given, *self._made[1]])
        return outputs[0] if self._template.is_single else tuple(outputs)


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
    forms = [_form(tensor, memory_of(tensor)) for tensor in given]
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


def _form(tensor: Tensor, memory: Memory) -> tuple[Any, ...]:
    """What an executor knows of a tensor in memory, but its address."""
    return (
        *(tensor._dtype, tensor._sizes, tensor._strides),
        *(tensor._storage_offset, memory.nbytes),
    )
