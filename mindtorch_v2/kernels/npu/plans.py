"""One operator's calls of ACLNN, planned and then run.

A row says of an operator's arguments which calls to make, to a :class:`Builder`: it allocates what
is written to and plans each call (phase 1) as it is named.  The :class:`Plan` launches them in
order (phase 2).  An eager call does both at once; in a pipeline the first is done ahead of all
runs, with the memory of outputs that are still to be computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, Final

from mindtorch_v2.binding.fallbacks import tensors_of
from mindtorch_v2.binding.operators import Call
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.keyset import mask_of
from mindtorch_v2.kernels.elementwise.promotion import BOOL, Number, Operand
from mindtorch_v2.kernels.npu.chips import chip
from mindtorch_v2.kernels.npu.executor import Launch
from mindtorch_v2.kernels.npu.marshal import UnsupportedError, memory_of
from mindtorch_v2.kernels.npu.templates import template_of
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.pipeline.meta import (
    CannotWaitError,
    Forecast,
    Planned,
    Recipe,
    Reusable,
    mapped,
)
from mindtorch_v2.pipeline.queue import planned_output
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.dtype import DTYPES, DType, strided
from mindtorch_v2.tensor.geometry import is_contiguous, numel, storage_bytes
from mindtorch_v2.tensor.scalars import is_integral, scalar_to
from mindtorch_v2.tensor.storage import UntypedStorage
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.tensor.version import VersionCounter

_CPU: Final = mask_of(DispatchKey.CPU)
_FLOAT: Final = DTYPES["float32"]
_KEEP_DTYPE: Final = 0
_ALLOW_DOWN_PRECISION: Final = 1


class RefusedError(UnsupportedError):
    """What the operator answers cannot be told from metadata: the CPU's kernel has the word."""


def check_dtype(dtype: DType, *tensors: Tensor | None) -> None:
    """RefusedError for tensors of another dtype: where the CPU's kernel promotes nothing."""
    if any(tensor is not None and tensor._dtype is not dtype for tensor in tensors):
        raise RefusedError("its tensors have several dtypes")


class NothingToDoError(UnsupportedError):
    """There are no elements to read or to write; what comes of that the CPU's kernel knows."""


class Builder:
    """The calls for one call of an operator, in the order in which a row names them."""

    def __init__(self, call: Call, device: Device) -> None:
        assert device.index is not None
        self.call, self.device = call, device
        self.launches: list[Launch] = []
        self._index = device.index

    # --- what it answers ----------------------------------------------------------------------

    @cached_property
    def _forecast(self) -> Forecast:
        """What the operator answers: by its kernel on the CPU if that checks without computing,
        else by its meta kernel.

        RefusedError where those would raise or warn.
        """
        kernel = self.call.operator.entry.table.lookup(_CPU)[1]
        tensors = list(tensors_of(self.call.stack))
        try:
            recipe = Recipe(self.call, tensors, self.device, _CPU, kernel, is_rehearsed=False)
            forecast = recipe.forecast(tensors)
        except CannotWaitError as error:
            raise RefusedError(str(error)) from error
        if any(base is not None for base in forecast.bases):
            raise RefusedError("it answers a view")
        for output in forecast.outputs:
            if output._device != self.device or output._layout is not strided:
                raise RefusedError("it answers a tensor of another kind")
            self._give_memory(output)
        return forecast

    def check(self) -> None:
        """RefusedError for arguments that do not fit; for a row that makes no output."""
        _ = self._forecast

    @property
    def outputs(self) -> list[Tensor]:
        """New tensors with memory, for what the operator answers, in that order."""
        return self._forecast.outputs

    @property
    def answer(self) -> Any:
        """All of them, as the operator answers them."""
        return self._forecast.answer

    @property
    def out(self) -> Tensor:
        """The one tensor that the operator answers.  NothingToDoError if that has no elements."""
        (output,) = self.outputs
        if not numel(output._sizes):
            raise NothingToDoError("the result has no elements")
        return output

    def _give_memory(self, output: Tensor) -> None:
        nbytes = storage_bytes(
            output._sizes, output._strides, output._storage_offset, output._dtype.itemsize
        )
        output._storage = UntypedStorage._of(nbytes, self.device)
        output._autograd, output._pending = None, None
        output._versions = VersionCounter(None if output._is_inference() else 0)

    def new(
        self, sizes: Sequence[int], dtype: DType, strides: tuple[int, ...] | None = None
    ) -> Tensor:
        """A tensor on the device, of no particular values."""
        return new_tensor(sizes, dtype, self.device, strides)

    # --- operands -----------------------------------------------------------------------------

    def cast(self, tensor: Tensor, dtype: DType) -> Tensor:
        """The tensor in a dtype: itself if it has it.  RefusedError for a number of two parts, of
        which one would be lost: the CPU warns of that."""
        if tensor._dtype is dtype:
            return tensor
        if tensor._dtype.is_complex and not dtype.is_complex:
            raise RefusedError("the imaginary part is discarded")
        made = self.new(tensor._sizes, dtype)
        self.launch("Cast", tensor, dtype, made)
        return made

    def operand(self, value: Operand, dtype: DType) -> Tensor:
        """A tensor or a number as a tensor of a dtype; a tensor without dimensions may be on the
        CPU."""
        if isinstance(value, Tensor) and value._device == self.device:
            return self.cast(value, dtype)
        return self.number(number_of(value), dtype)

    def number(self, value: Number, dtype: DType, sizes: Sequence[int] = ()) -> Tensor:
        """A tensor with a number everywhere, without dimensions by default."""
        made = self.new(sizes, dtype)
        self.launch("InplaceFillScalar", made, value)
        return made

    def contiguous(self, tensor: Tensor) -> Tensor:
        if is_contiguous(tensor._sizes, tensor._strides):
            return tensor
        made = self.new(tensor._sizes, tensor._dtype)
        self.copy(made, tensor)
        return made

    def copy(self, target: Tensor, source: Tensor) -> None:
        """Values of another tensor, converted, broadcast."""
        self.launch("InplaceCopy", target, source)

    def cube_math_type(self, dtype: DType) -> int:
        """How matrices are multiplied: in their own type, or as older chips can, which have no
        other way for float32."""
        is_old = not chip().has_bfloat16
        return _ALLOW_DOWN_PRECISION if is_old and dtype is _FLOAT else _KEEP_DTYPE

    # --- calls --------------------------------------------------------------------------------

    def launch(self, name: str, *values: Any) -> None:
        """Plan a call of ``aclnn<name>``.

        NothingToDoError for a tensor without elements: what comes of those is the CPU's to say.
        """
        for value in values:  # in a list one without elements may have a meaning
            if isinstance(value, Tensor) and not numel(value._sizes):
                raise NothingToDoError("a tensor has no elements")
        self.launches.append(Launch(name, values, self._index))


def is_number(value: Any) -> bool:
    """Whether an operand counts as a number: one, or a tensor without dimensions on the CPU."""
    return not isinstance(value, Tensor) or (value._device.type == "cpu" and not value._sizes)


def as_scalar(number: Number, dtype: DType) -> Number:
    """A number of the kind that ACLNN wants beside tensors of a dtype.

    RefusedError for one that the dtype cannot hold.
    """
    try:
        element = scalar_to(number, dtype)
    except RuntimeError as error:
        raise RefusedError(str(error)) from error
    if dtype is BOOL:
        return bool(number)
    if is_integral(dtype):
        return int(element)  # of an unsigned dtype, which has no number below zero
    return number if dtype.is_complex else float(number.real)


def number_of(value: Operand) -> Number:
    """The number that an operand is; UnsupportedError for a tensor that is none."""
    if not isinstance(value, Tensor):
        return value
    if not is_number(value):
        raise UnsupportedError(f"a tensor is on {value._device}")
    number: Number = value._detached().item()
    return number


# --- plans ----------------------------------------------------------------------------------------


class Plan:
    """What a call is going to launch, and answer."""

    def __init__(self, call: Call, launches: Sequence[Launch], answer: Any) -> None:
        self.name = call.operator.canonical
        self._launches, self._answer = launches, answer
        self._places = _places(call.stack)

    def fits(self, call: Call) -> bool:
        """Whether it was made for this call: the operator's, with tensors at the same places."""
        return call.operator.canonical == self.name and _places(call.stack) == self._places

    def run(self, call: Call) -> Any:
        for launch in self._launches:
            launch.run()
        return self._answer

    def announced(self, call: Call) -> Planned:
        """What the pipeline is told: the memory of what it answers, and whether it is good again
        for a call like the one that it was made for."""
        template = template_of(call, self._launches, self._answer)
        again = None if template is None else template.announced
        given = set(map(id, tensors_of(call.stack)))
        made = [each for each in tensors_of((self._answer,)) if id(each) not in given]
        return Planned(self, made, again)


UNKNOWN: Final = Reusable(None)
"""For a pipeline: the calls of a signature are planned when they run."""


def plan_ahead(call: Call, plan: Callable[[Call], Plan]) -> Planned:
    """The plan of a call whose tensors may wait: for these it is made with tensors like them.

    `UNKNOWN` if those are to be elsewhere in memory, and that cannot be told to the executors.
    """
    is_known = True

    def seen(tensor: Tensor) -> Tensor:
        nonlocal is_known
        if tensor._pending is None:
            return tensor
        twin, is_right = planned_output(tensor)
        is_known &= is_right
        return twin

    ahead = call._replace(stack=tuple(mapped(value, seen) for value in call.stack))
    found = plan(ahead).announced(ahead)
    return found if is_known or found.again is not None else UNKNOWN


def _places(stack: Sequence[Any]) -> list[tuple[Any, ...]]:
    return list(_places_of(tensors_of(stack)))


def _places_of(tensors: Iterator[Tensor]) -> Iterator[tuple[Any, ...]]:
    for tensor in tensors:
        on_device = tensor._device.type != "cpu"
        address = memory_of(tensor).address if on_device else id(tensor)
        yield address, tensor._dtype, tensor._sizes, tensor._strides, tensor._storage_offset
