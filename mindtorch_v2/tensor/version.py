"""Version counters: how often the values of a tensor have been changed in place.

Mirrors ``c10::VariableVersion`` of ``c10/core/TensorImpl.h``.
"""

from __future__ import annotations

from mindtorch_v2.tensor.pending import Pending, Settling, settled, settling


class VersionCounter:
    """A count that a tensor, its views and its detached twins share.

    A tensor that is made an inference tensor has one without a value: it counts nothing.  Which
    of the two a tensor has is settled when it is made; ``data =`` may change its keys later.
    """

    __slots__ = ("_pending", "_raw_value")
    _pending: Pending | None
    value: Settling[int | None] = settling("_raw_value")

    def __init__(self, value: int | None = 0) -> None:
        self._raw_value, self._pending = value, None

    @property
    def current(self) -> int:
        """RuntimeError where nothing is counted."""
        value = self.value
        if value is None:
            raise RuntimeError("Inference tensors do not track version counter.")
        return value

    def set(self, value: int | None) -> None:
        """Have the count be another one, once all that waits has counted."""
        settled(self).value = value

    def bump(self) -> None:
        value = self.value
        if value is not None:
            self._raw_value = value + 1

    def take_back(self) -> None:
        """A change that was counted has not come about."""
        if self.value is not None:
            self.value -= 1
