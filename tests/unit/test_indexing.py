"""Indices that cases cannot make."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, Final

import mindtorch_v2

xp: Final[Any] = mindtorch_v2


class Row(IntEnum):
    FIRST = 0
    SECOND = 1


def test_a_list_of_members_of_an_enumeration_is_one_index() -> None:
    x = xp.arange(6).view(2, 3)
    chosen = x[[Row.SECOND]]
    assert chosen.tolist() == [[3, 4, 5]]
    assert not chosen._is_view()


def test_a_member_of_an_enumeration_is_a_number() -> None:
    assert xp.arange(6).view(2, 3)[Row.SECOND].tolist() == [3, 4, 5]
    assert xp.tensor([Row.SECOND]).tolist() == [1]
