"""What tests of several folders share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mindtorch_v2 import warn


@pytest.fixture
def warns_always() -> Iterator[None]:
    """What is told once is told each time, whichever test comes first."""
    before = warn.is_warn_always_enabled()
    warn.set_warn_always(True)
    yield
    warn.set_warn_always(before)
