"""What hypothesis draws follows from the seed and the strategies alone.

Of its own accord hypothesis takes one number or text in twenty from the literals of whatever
modules the process has loaded, those of site-packages apart.  Which these are depends on the areas
that ran before and on how the package was installed: a seed did not say what is drawn, and a run
that was told to draw the same cases every time did not.  No setting of hypothesis turns it off.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

_PROVIDERS: Final = "hypothesis.internal.conjecture.providers"


def follow_from_the_seed() -> None:
    """Have hypothesis draw no constants of modules, in this process, from here on.

    Releases of hypothesis that know none have nothing to leave out.
    """
    providers: Any = import_module(_PROVIDERS)
    if hasattr(providers, "_get_local_constants"):
        none = providers.Constants()
        providers._get_local_constants = lambda: none
