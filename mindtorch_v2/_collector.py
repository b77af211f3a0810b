"""The garbage collector waits while the package is imported; imported first, for its effect.

Nearly all that an import makes stays.  To search it for garbage, again and again as it grows, would
be a third of the import's time.
"""

from __future__ import annotations

import gc
from typing import Final

from mindtorch_v2 import profile

profile.active()  # an unknown profile is refused while nothing has changed

_WAS_ENABLED: Final = gc.isenabled()
gc.disable()


def go_on() -> None:
    """The import is done: what it made is as old, for the collector, as what was there before."""
    if not gc.get_freeze_count():  # frozen objects of the program's stay so
        gc.freeze()
        gc.unfreeze()
    if _WAS_ENABLED:
        gc.enable()
