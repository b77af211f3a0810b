"""What the tests of bound functions and of bound classes share: a key, and a refusal's words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest

from mindtorch_v2 import _C

C: Final[Any] = _C
CPU: Final = C.DispatchKey.CPU

#: How the message begins, after the function's name, and with what was called in it.
HEADER: Final = "incompatible {} arguments. The following argument types are supported:\n"


def message(kind: type[BaseException], call: Callable[[], object]) -> str:
    """The words of the exception that ``call`` raises, which is a ``kind`` and no subclass."""
    with pytest.raises(kind) as caught:
        call()
    assert type(caught.value) is kind, repr(caught.value)
    return str(caught.value)
