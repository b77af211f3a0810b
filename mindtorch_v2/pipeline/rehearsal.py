"""What a kernel refuses before it looks at an element, and its meta kernel does not know.

Meta kernels speak of shapes.  That a kernel has no code for a dtype, or that a value does not fit
where an index leads, it finds out itself.  Kernels of this package on the CPU can be asked: they
run on tensors that look like the arguments and have no memory, as far as they get without any.
A kernel in Python is left alone, for it may do anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

from mindtorch_v2 import warn
from mindtorch_v2.binding.operators import Call
from mindtorch_v2.binding.stop import Stopped, stopping_at_python
from mindtorch_v2.dispatch import tls
from mindtorch_v2.kernels.foretold import listening
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.generator import Generator
from mindtorch_v2.tensor.pending import AWAY, Unknown
from mindtorch_v2.tensor.storage import UntypedStorage


class StateNeededError(BaseException):
    """The end of a rehearsal.  No Exception, so that nothing on the way catches it."""


_NOTHING: Final = Unknown(StateNeededError)
"""What has the state of a storage or a generator that nobody may read."""


def storage_without_bytes(nbytes: int, device: Device) -> UntypedStorage:
    """A storage that ends a rehearsal when somebody reads or writes it."""
    storage = UntypedStorage._without_memory(nbytes, device)
    storage._raw_bytes, storage._pending = AWAY, _NOTHING
    return storage


@contextmanager
def without_state(generators: Iterable[Generator]) -> Iterator[None]:
    """A block in which generators have no numbers to give."""
    found = []
    for generator in generators:
        pending = generator._pending
        state = None if pending else (generator._engine, generator._next_normal)
        found.append((generator, pending, state))
        if state is not None:
            generator._raw_engine = generator._raw_next_normal = AWAY
        generator._pending = _NOTHING
    try:
        yield
    finally:
        for generator, pending, state in found:
            generator._pending = pending
            if state is not None:
                generator._engine, generator._next_normal = state


def rehearse(call: Call, state: tls.RawLocalDispatchKeySet) -> Any:
    """Run a call of tensors without bytes: what is raised before one is needed comes through.

    Its answer where no byte is needed at all, or what the kernel has foretold; else None.
    """
    with (
        listening() as foretold,
        suppress(StateNeededError, Stopped),
        tls.with_state(state),
        warn.rehearsal(),
        stopping_at_python(),
    ):
        return call.run()
    return foretold.get(call.operator.canonical)
