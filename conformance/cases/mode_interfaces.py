"""Texts of area ``modes`` about what can be asked of modes and overrides, and wrong calls."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.area import Text
from mindtorch_v2.profile import Profile


def texts(profile: Profile) -> Iterator[Text]:
    yield from ()
