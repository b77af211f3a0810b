"""Factories that are called again with the same arguments, and make what they have made before.

What ``torch.zeros(2, 3)`` makes follows from its arguments, the default dtype, and whether new
memory is filled, as long as nothing is registered for torch's operators and no thread is an unusual
one.  So a factory that takes no random numbers keeps small tensors that it has made as what makes
another such: nothing goes through the dispatcher then.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2 import warn
from mindtorch_v2.binding.operators import Call, Operator
from mindtorch_v2.binding.python.factories import new_variable
from mindtorch_v2.binding.unboxed import Run
from mindtorch_v2.context import fills_uninitialized_memory
from mindtorch_v2.dispatch import tls
from mindtorch_v2.dispatch.dispatcher import DISPATCHER
from mindtorch_v2.numpy_later import np
from mindtorch_v2.tensor.default_dtype import get_default_dtype
from mindtorch_v2.tensor.device import NO_INDEX, Device
from mindtorch_v2.tensor.dtype import strided
from mindtorch_v2.tensor.pending import AWAY
from mindtorch_v2.tensor.plain import array_of, with_array
from mindtorch_v2.tensor.storage import UntypedStorage
from mindtorch_v2.tensor.tensor import Tensor

_RANDOM: Final = "nondeterministic_seeded"
_MOST_KEPT: Final = 1000
_LARGEST: Final = 4096
"""In bytes."""


def state() -> tuple[Any, ...]:
    """What factories look at besides their arguments, in a usual thread that nobody observes."""
    return DISPATCHER.aten_version, get_default_dtype(), fills_uninitialized_memory()


class Factory:
    """Calls an operator of which C++ makes a variable.

    ``kept`` has by :func:`state` and arguments what makes the same tensor again; whoever looks
    there looks for a usual thread first.
    """

    def __init__(self, operator: Operator) -> None:
        self._operator = operator
        self.kept: dict[Any, Run] = {}
        self._seen: set[Any] = set()

    @property
    def makes_the_same(self) -> bool:
        return _RANDOM not in self._operator.registered_tags

    def __call__(self, *stack: Any) -> Any:
        return new_variable(Call(self._operator, stack))

    def keeping(self, key: Any) -> Run:
        """The same for who has not found ``key``, under which what is made the second time is
        kept: nearly all that is made twice is made often."""
        if key not in self._seen:
            if len(self._seen) >= _MOST_KEPT:
                self._seen.clear()
            self._seen.add(key)
            return self

        def run(*stack: Any) -> Any:
            warned = warn.handlers.given
            made = new_variable(Call(self._operator, stack))
            if warn.handlers.given == warned and tls.is_usual_thread() and key[0] == state():
                again = _making_again(made)
                if again is not None:
                    if len(self.kept) >= _MOST_KEPT:
                        self.kept.clear()
                    self.kept[key] = again
            return made

        return run


def _making_again(made: Any) -> Run | None:
    """What makes another tensor that is like a new one, and small; else None."""
    if not _is_plainly_new(made):
        return None
    is_computed = made._raw_storage is AWAY
    array = made._array if is_computed else array_of(made)
    if is_computed and (array is None or array.nbytes > _LARGEST):
        return None
    if not is_computed and not _is_small_and_own(made._raw_storage, made._device):
        return None
    if array is None or not (is_computed or array.nbytes == made._raw_storage._nbytes):
        return _with_storage_again(made)
    kept, geometry = array.copy(), (made._dtype, made._sizes, made._strides)
    return lambda: with_array(Tensor, kept.copy(), *geometry)


def _with_storage_again(made: Tensor) -> Run:
    """Of one on meta, or whose elements NumPy does not compute with."""
    dtype, device, sizes, strides = made._dtype, made._device, made._sizes, made._strides
    of_first: Any = made._raw_storage
    nbytes, memory = of_first._nbytes, of_first._raw_bytes
    kept = None if memory is None else memory.copy()

    def again() -> Tensor:
        if kept is None:
            storage = UntypedStorage._without_memory(nbytes, device)
        else:
            storage = UntypedStorage._owning(kept.copy(), device)
        return Tensor._make(sizes, dtype, device=device, storage=storage, strides=strides)

    return again


def _is_plainly_new(made: Any) -> bool:
    """Whether it is a dense tensor of the CPU or on meta that has nothing but its elements."""
    if type(made) is not Tensor or made._layout is not strided or made._dtype._is_quantized:
        return False
    extras = made._content, made._functional, made._custom, made._pending, made._raw_autograd
    versions = made._raw_versions
    return (
        all(extra is None for extra in extras)
        and made._device._type in ("cpu", "meta")
        and made._device._index == NO_INDEX
        and made._storage_offset == 0
        and (versions is AWAY or versions._raw_value == 0)
    )


def _is_small_and_own(storage: Any, device: Device) -> bool:
    """Whether it has the tensor's bytes, and nobody else knows them."""
    memory = storage._raw_bytes
    return (
        type(storage) is UntypedStorage
        and storage._nbytes <= _LARGEST
        and storage._resizable
        and not storage._is_exported
        and storage._pending is None
        and (memory is None if device._type == "meta" else isinstance(memory, np.ndarray))
    )
