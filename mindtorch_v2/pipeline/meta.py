"""The meta stage: what a call will answer, known from the metadata of its arguments.

The operator runs on tensors of the device meta that look like the arguments, below autograd.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from mindtorch_v2 import warn
from mindtorch_v2.binding.operators import Call
from mindtorch_v2.dispatch import tls
from mindtorch_v2.dispatch.kernel import Kernel
from mindtorch_v2.dispatch.key import PIPELINE_BIT, DispatchKey
from mindtorch_v2.dispatch.keyset import functionality_bit, mask_of
from mindtorch_v2.kernels.structured import is_structured
from mindtorch_v2.tensor import geometry
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.options import compute_dispatch_key, tensor_keyset
from mindtorch_v2.tensor.storage import UntypedStorage
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.tensor.version import VersionCounter

_META: Final = Device("meta")
_BELOW_AUTOGRAD: Final = functionality_bit(DispatchKey.AutogradFunctionality) | functionality_bit(
    DispatchKey.ADInplaceOrView
)
_LAZY: Final = (
    functionality_bit(DispatchKey.Conjugate)
    | functionality_bit(DispatchKey.Negative)
    | functionality_bit(DispatchKey.ZeroTensor)
)


class CannotWaitError(Exception):
    """A call must run at its place in the program; the text says why."""


class Forecast:
    """What a call will answer: arguments of the call, and new tensors that have metadata only."""

    def __init__(self, call: Call, device: Device, kernel: Kernel) -> None:
        """CannotWaitError if nothing can be said, as where the call would raise or warn.

        ``kernel`` is what will compute.  A structured one is asked itself; for others the meta
        kernel speaks, which in torch is now and then another function than the backend's.
        """
        self._device = device
        self._is_mutable = call.operator.schema.is_mutable
        self._shells: dict[int, Tensor] = {}
        self._originals: dict[int, Tensor] = {}
        #: The new tensors, in the order of the answer.
        self.outputs: list[Tensor] = []
        #: For each the argument whose memory it shares, if it does.
        self.bases: list[Tensor | None] = []
        stack = tuple(mapped(value, self._shell) for value in _on_meta(call))
        found = [(shell, _geometry(shell)) for shell in self._shells.values()]
        with tls.with_state(_state_below_autograd()), warn.rehearsal():
            try:
                if kernel.function is not None and is_structured(kernel.function):
                    answer = kernel.function(*stack)
                else:
                    answer = call._replace(stack=stack).run()
            except Exception as error:
                raise CannotWaitError(f"meta: {type(error).__name__}: {error}") from error
        if any(_geometry(shell) != geometry for shell, geometry in found):
            raise CannotWaitError("it changes the geometry of an argument")
        self.answer = mapped(answer, self._original)

    def _shell(self, tensor: Tensor) -> Tensor:
        """A tensor on meta that looks like ``tensor``."""
        shell = self._shells.get(id(tensor))
        if shell is None:
            shell = _look_alike(tensor, _META)
            shell._storage, shell._autograd = _storage_of(tensor), None
            shell._versions = VersionCounter()
            self._shells[id(tensor)], self._originals[id(shell)] = shell, tensor
        return shell

    def _original(self, answered: Tensor) -> Tensor:
        """The argument that the operator answered, or a new tensor that looks as it will."""
        original = self._originals.get(id(answered))
        if original is not None:
            if not self._is_mutable:
                raise CannotWaitError("autograd may make a view of the argument that it answers")
            return original
        if answered._device.type != "meta":
            raise CannotWaitError("its meta kernel answers a tensor that is not on meta")
        aliased = [
            self._originals[id(shell)]
            for shell in self._shells.values()
            if shell._storage is answered._storage
        ]
        if aliased and _bytes_of(answered) > answered._untyped_storage()._nbytes:
            raise CannotWaitError("it may reach beyond the end of a storage")
        is_inference = aliased[0]._is_inference() if aliased else tls.is_inference_mode_enabled()
        output = _look_alike(answered, self._device)
        backend = mask_of(compute_dispatch_key(output._dtype, output._layout, self._device.type))
        output._keys = tensor_keyset(backend, is_inference) | answered._keys & _LAZY
        self.outputs.append(output)
        self.bases.append(aliased[0] if aliased else None)
        return output


def _look_alike(tensor: Tensor, device: Device) -> Tensor:
    """A tensor of the same geometry and dtype, without anything in it."""
    twin = object.__new__(Tensor)
    twin._sizes, twin._strides = tensor._sizes, tensor._strides
    twin._storage_offset, twin._dtype = tensor._storage_offset, tensor._dtype
    twin._layout, twin._device = tensor._layout, device
    twin._keys = tensor_keyset(mask_of(compute_dispatch_key(tensor._dtype, None, device.type)))
    twin._content = twin._functional = None
    return twin


def _storage_of(tensor: Tensor) -> UntypedStorage:
    """A storage with room for no more than the tensor, whatever else its own has room for."""
    return UntypedStorage._without_memory(_bytes_of(tensor), _META)


def _bytes_of(tensor: Tensor) -> int:
    return geometry.storage_bytes(
        tensor._sizes, tensor._strides, tensor._storage_offset, tensor._dtype.itemsize
    )


def _geometry(tensor: Tensor) -> tuple[object, ...]:
    storage = tensor._storage
    assert storage is not None
    parts = tensor._sizes, tensor._strides, tensor._storage_offset, tensor._dtype
    return (*parts, id(storage), storage._nbytes)


def _on_meta(call: Call) -> list[Any]:
    """The arguments, with meta for the device where one is named."""
    return [_META if isinstance(value, Device) else value for value in call.stack]


def mapped(value: Any, change: Callable[[Tensor], Tensor]) -> Any:
    """``value`` with each tensor changed, those in lists and tuples too."""
    if isinstance(value, Tensor):
        return change(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(mapped(each, change) for each in value))
    if isinstance(value, (list, tuple)):
        return type(value)(mapped(each, change) for each in value)
    return value


def _state_below_autograd() -> tls.RawLocalDispatchKeySet:
    state = tls.local_dispatch_key_set().copy()
    state.pipeline, state.grad_mode = None, False
    state.included &= ~PIPELINE_BIT
    state.excluded |= _BELOW_AUTOGRAD
    return state
