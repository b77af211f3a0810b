"""Operators that ACLNN has not, or not for these arguments: they run on the CPU.

Tensors are copied to the host and results back, which is slow, so it is said once for each
operator.  :func:`set_fallback` turns it off: then such a call is an error that says why.  Tensors
that share memory have copies that share memory: what writes over what it reads does so in the order
of the CPU.  What was written is copied back even if the call is then refused.

Random numbers are drawn on the CPU on purpose, by torch's own generator: a seed gives the same
numbers on every device.  Reading one element, and calls that have nothing to compute, are not worth
a warning either.

Mirrors ``aten/src/ATen/native/CPUFallback.cpp``.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import numpy as np

from mindtorch_v2.binding.fallbacks import tensors_of
from mindtorch_v2.binding.operators import Call, Operator
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.keyset import mask_of
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.npu.plans import NothingToDoError, RefusedError
from mindtorch_v2.kernels.outputs import new_tensor, set_sizes
from mindtorch_v2.tensor.copying import raw_array, store_bits
from mindtorch_v2.tensor.device import EXTENSION_DEVICE, Device
from mindtorch_v2.tensor.dtype import strided
from mindtorch_v2.tensor.geometry import numel, storage_bytes
from mindtorch_v2.tensor.storage import UntypedStorage
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.tensor.zeros import is_zero_tensor

_CPU: Final = Device("cpu")
_CPU_KEYS: Final = mask_of(DispatchKey.CPU)
_ZEROS: Final = OperatorHandle("aten::_efficientzerotensor")
_NO_ROW: Final = "no kernel is written for it"
_INDICES: Final = "List[Optional[Tensor]]"
_RANDOM: Final = "nondeterministic_seeded"
_WIDEST: Final = 16
"""The bytes of the widest element: where a storage is cut, every tensor of it fits."""

_STATISTICS: Final = frozenset(("running_mean", "running_var"))
"""Arguments that batch norms change, and whose schemas do not say so."""

_warned: Final[set[str]] = set()
_recorded: Final[list[list[str]]] = []
"""A list for each open :func:`record_fallbacks`."""
_enabled: Final = [True]


def set_fallback(enabled: bool) -> None:
    """Whether operators without a kernel on the NPU run on the CPU (they do at first)."""
    _enabled[0] = enabled


def is_fallback_enabled() -> bool:
    return _enabled[0]


@contextmanager
def record_fallbacks() -> Iterator[list[str]]:
    """In the block, operators that run on the CPU for want of a kernel are listed, and not warned
    of; each as often as it is called, by whatever thread."""
    names: list[str] = []
    _recorded.append(names)
    try:
        yield names
    finally:
        _recorded.remove(names)


def fall_back(operator: Operator, keyset: int, /, *stack: Any) -> Any:
    """The kernel at NPU of operators that have no row."""
    return run_on_cpu(operator, stack, None)


def run_on_cpu(operator: Operator, stack: Sequence[Any], reason: Exception | None) -> Any:
    """Run a call on the CPU; ``reason`` is why it cannot run on the NPU, None if nothing can.

    NotImplementedError if the fallback is off.
    """
    is_quiet = isinstance(reason, NothingToDoError) or _is_quiet(operator)
    if not (_enabled[0] or is_quiet or isinstance(reason, RefusedError)):
        raise NotImplementedError(
            f"Could not run '{operator.full_name}' on the NPU: {reason or _NO_ROW}, and the "
            "fallback to the CPU is off (mindtorch_v2.npu.set_fallback)"
        )
    check_same_device(operator, stack)
    if not (is_quiet or isinstance(reason, RefusedError)):
        _record(operator)
    answer = _run(operator, stack)
    if not is_quiet:
        _warn(operator, reason)
    return answer


def check_same_device(operator: Operator, stack: Sequence[Any]) -> None:
    """``common_device_check``: RuntimeError for tensors of several devices.

    One without dimensions may be on the CPU, as indices may be.
    """
    found: Device | None = None
    for argument, value in zip(operator.schema.arguments, stack, strict=True):
        if str(argument.type) == _INDICES:
            continue
        for tensor in tensors_of((value,)):
            if tensor._device.type == "cpu" and not tensor._sizes:
                continue
            if found is not None and tensor._device != found:
                raise RuntimeError(
                    "Expected all tensors to be on the same device, but found at least two "
                    f"devices, {found} and {tensor._device}!"
                )
            found = tensor._device


def _is_quiet(operator: Operator) -> bool:
    return _RANDOM in operator.registered_tags


def _record(operator: Operator) -> None:
    for names in _recorded:
        names.append(operator.canonical)


def _warn(operator: Operator, reason: Exception | None) -> None:
    name = operator.canonical
    if name not in _warned and not _recorded:
        _warned.add(name)
        warnings.warn(
            f"The operator '{name}' is not supported on the NPU ({reason or _NO_ROW}) and falls "
            "back to run on the CPU. This may have performance implications.",
            UserWarning,
            stacklevel=2,
        )


def _run(operator: Operator, stack: Sequence[Any]) -> Any:
    device = _device_of(stack)
    copies = _copies(tensors_of(stack))
    on_cpu = tuple(_on_cpu(value, copies) for value in stack)
    call = Call(operator, on_cpu)
    try:
        answer = call.redispatch(_CPU_KEYS)
    finally:  # a kernel may have written something before it found what it refuses
        _write_all_back(operator, on_cpu, stack)
    originals = {id(copies[id(each)]): each for each in tensors_of(stack) if id(each) in copies}
    return _back(answer, device, originals)


def _write_all_back(operator: Operator, on_cpu: Sequence[Any], stack: Sequence[Any]) -> None:
    for argument, value, given in zip(operator.schema.arguments, on_cpu, stack, strict=True):
        if argument.is_write or argument.name in _STATISTICS:
            for copy, original in zip(tensors_of((value,)), tensors_of((given,)), strict=True):
                if copy is not original:
                    _write_back(original, copy)


def _device_of(stack: Sequence[Any]) -> Device:
    for tensor in tensors_of(stack):
        if tensor._device.type == EXTENSION_DEVICE:
            return tensor._device
    return next(value for value in stack if isinstance(value, Device))


def _on_cpu(value: Any, copies: dict[int, Tensor]) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(_on_cpu(each, copies) for each in value)
    if isinstance(value, Device) and value.type == EXTENSION_DEVICE:
        return _CPU
    if not isinstance(value, Tensor) or value._device.type != EXTENSION_DEVICE:
        return value
    return copies[id(value)]


def _copies(tensors: Iterable[Tensor]) -> dict[int, Tensor]:
    """By the tensors' ids, the same elements in the same geometry on the CPU."""
    copies = {}
    by_storage: dict[int, list[Tensor]] = {}
    for tensor in tensors:
        if tensor._device.type != EXTENSION_DEVICE:
            continue
        if is_zero_tensor(tensor):
            copies[id(tensor)] = _zeros_like(tensor, _CPU)
        else:
            by_storage.setdefault(id(tensor._storage), []).append(tensor)
    for sharing in by_storage.values():
        first = min(map(_start, sharing)) // _WIDEST * _WIDEST
        storage = _part(sharing[0], first, max(map(_stop, sharing)))
        copies.update({id(tensor): _copied(tensor, storage, first) for tensor in sharing})
    return copies


def _start(tensor: Tensor) -> int:
    return tensor._storage_offset * tensor._dtype.itemsize


def _stop(tensor: Tensor) -> int:
    itemsize = tensor._dtype.itemsize
    nbytes = storage_bytes(tensor._sizes, tensor._strides, 0, itemsize)
    return _start(tensor) + nbytes


def _part(tensor: Tensor, first: int, stop: int) -> UntypedStorage:
    """The same bytes as those of a tensor's storage, between two places."""
    storage = UntypedStorage._of(stop - first, _CPU)
    end = min(stop, tensor._untyped_storage()._nbytes)
    if end > first:
        storage._put(0, tensor._untyped_storage()._span(first, end))
    return storage


def _copied(tensor: Tensor, storage: UntypedStorage, first: int) -> Tensor:
    """A tensor of a storage that begins elsewhere; conjugated or negated later if it is."""
    copy = Tensor._make(
        tensor._sizes,
        tensor._dtype,
        device=_CPU,
        strides=tensor._strides,
        storage=storage,
        offset=(_start(tensor) - first) // tensor._dtype.itemsize,
    )
    copy._keys |= tensor._lazy_bits()
    return copy


def _zeros_like(tensor: Tensor, device: Device) -> Any:
    """Zeros that are stored nowhere are so on every device."""
    return _ZEROS(list(tensor._sizes), dtype=tensor._dtype, device=device)


def _write_back(original: Tensor, copy: Tensor) -> None:
    if tuple(original._sizes) != tuple(copy._sizes):
        set_sizes(original, tuple(copy._sizes), copy._strides)
    store_bits(original, raw_array(copy))


def _back(answer: Any, device: Device, originals: dict[int, Tensor]) -> Any:
    """What was answered, on the device; an argument where the copy of one was answered."""
    if isinstance(answer, tuple) and hasattr(answer, "_fields"):
        return type(answer)(*(_back(each, device, originals) for each in answer))
    if isinstance(answer, (list, tuple)):
        return type(answer)(_back(each, device, originals) for each in answer)
    if not isinstance(answer, Tensor) or answer._layout is not strided:
        return answer
    if id(answer) in originals:
        return originals[id(answer)]
    if is_zero_tensor(answer):
        return _zeros_like(answer, device)
    made = new_tensor(answer._sizes, answer._dtype, device, answer._strides)
    made._keys |= answer._lazy_bits()
    if numel(answer._sizes):
        store_bits(made, np.asarray(raw_array(answer)))
    return made
