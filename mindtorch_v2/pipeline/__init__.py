"""Pipeline mode: operators wait in a queue until somebody needs what they compute.

    with mindtorch_v2.pipeline() as p:
        y = x @ w          # its shape is known, its values are not
        y.relu_()
        print(y.sum())     # needs values: everything that waits is planned, then run

Each call runs its meta kernel, which tells shape and dtype and refuses what does not fit, and
waits with the state of its thread.  A flush calls the plan kernels of all that waits, then runs
one after the other as if it were called now: autograd records then.

Where to look:

- :mod:`~mindtorch_v2.tensor.pending`: how state that is not there yet flushes whoever asks for it
- :mod:`~mindtorch_v2.pipeline.pipeline`: the block, its queue, and what a flush does
- :mod:`~mindtorch_v2.pipeline.capture`: which calls wait, and which run at their place
- :mod:`~mindtorch_v2.pipeline.meta`: what a call will answer, as far as metadata tell
- :mod:`~mindtorch_v2.pipeline.trace`: what happened, as events and as a picture
"""

from mindtorch_v2.pipeline.pipeline import Pipeline as pipeline  # noqa: N813 (one calls it)
from mindtorch_v2.pipeline.queue import take_plan

__all__ = ["pipeline", "take_plan"]
