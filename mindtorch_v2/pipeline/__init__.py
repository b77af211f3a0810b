"""Pipeline mode: operators wait in a queue until somebody needs what they compute.

    with mindtorch_v2.pipeline() as p:
        y = x @ w          # its shape is known, its values are not
        y.relu_()
        print(y.sum())     # needs values: everything that waits is planned, then run

Each call runs its meta kernel, which tells shape and dtype and refuses what does not fit, and
waits with the state of its thread.  A flush calls the plan kernels of all that waits, then runs
one after the other as if it were called now: autograd records then.

What a backend registers (:func:`mindtorch_v2.dispatch.registry.register_kernels`):

- ``meta(*args)`` answers tensors that look like the outputs;
- ``plan(*args)`` is called at the flush, before anything runs, and answers whatever the impl kernel
  wants; in `Reusable`, it is good for every later call with the same metadata and numbers, and
  `Planned` says how to have one for those.  It may ask what memory an argument that waits is going
  to have (`planned_output`);
- ``impl(*args)`` computes; `take_plan` hands it the plan, or None where it was called without one.

A runtime's ``synchronize`` calls `flush` first.

Where to look:

- :mod:`~mindtorch_v2.tensor.pending`: how state that is not there yet flushes whoever asks for it
- :mod:`~mindtorch_v2.pipeline.block`: the block, its queue, and what a flush does
- :mod:`~mindtorch_v2.pipeline.capture`: which calls wait, and which run at their place
- :mod:`~mindtorch_v2.pipeline.traits`: what of an operator alone says whether its calls may wait
- :mod:`~mindtorch_v2.pipeline.signature`: which calls are foreseen, and planned, alike
- :mod:`~mindtorch_v2.pipeline.meta`: what a call will answer, as far as metadata tell
- :mod:`~mindtorch_v2.pipeline.rehearsal`: what a kernel refuses that its meta kernel does not
- :mod:`~mindtorch_v2.pipeline.queue`: a call that waits, and the state that it keeps from others
- :mod:`~mindtorch_v2.pipeline.trace`: what happened, as events and as a picture
- :mod:`~mindtorch_v2.pipeline.html`: the same as a page
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from mindtorch_v2.dispatch import tls

if TYPE_CHECKING:
    from mindtorch_v2.pipeline.block import Pipeline
    from mindtorch_v2.pipeline.meta import Planned, Reusable
    from mindtorch_v2.pipeline.queue import planned_output, take_plan

__all__ = ["Planned", "Reusable", "flush", "pipeline", "planned_output", "take_plan"]

_LATER: Final = {
    "Planned": "meta",
    "Reusable": "meta",
    "planned_output": "queue",
    "take_plan": "queue",
}
"""Names of modules that a program without pipelines does not import."""


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})


def pipeline(**options: Any) -> Pipeline:
    """A block in which operators wait, with the options of :class:`~.block.Pipeline`."""
    from mindtorch_v2.pipeline.block import Pipeline

    return Pipeline(**options)


def flush(reason: str) -> None:
    """Run what waits in the pipeline of the calling thread, if it is in one's block.

    For whoever waits for a device: a runtime's ``synchronize`` begins with it.
    """
    current = tls.local_dispatch_key_set().pipeline
    if current is not None:
        current.flush(reason)
