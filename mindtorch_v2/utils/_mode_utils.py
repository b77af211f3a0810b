"""Small helpers of those who write modes: ``torch.utils._mode_utils``.

Mirrors ``torch/utils/_mode_utils.py``.
"""

from __future__ import annotations

from collections.abc import Sequence

from mindtorch_v2 import _C

no_dispatch = _C._DisableTorchDispatch


def all_same_mode(modes: Sequence[object]) -> bool:
    """Whether they are all the same mode."""
    return all(mode == modes[0] for mode in modes)
