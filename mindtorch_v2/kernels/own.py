"""Whether what a kernel calls is this package's own: who asks nobody else need not ask at all."""

from __future__ import annotations

from collections.abc import Sequence

from mindtorch_v2.dispatch.dispatcher import DISPATCHER
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.tensor.plain import KEYS


class Own(dict[int, bool]):
    """Empty while one of some operators may end at somebody else's kernel for plain tensors: every
    registration for one of them empties it."""

    def __init__(self, operators: Sequence[OperatorHandle]) -> None:
        self._operators = operators
        if not operators:
            self[KEYS] = True

    def look(self) -> bool:
        """Whether none of them does so now."""
        version = DISPATCHER.version
        operators = [each.operator for each in self._operators]
        found = all(each.is_untouched(KEYS) for each in operators)
        for each in operators if found else ():
            DISPATCHER.remember(each.canonical, version, self, KEYS, True)
        return found
