"""What forks of a large process cost less for."""

import mmap
import sys
from pathlib import Path

import pytest

from conformance import pages


def huge_bytes() -> int:
    text = Path("/proc/self/smaps_rollup").read_text()
    return int(text.partition("AnonHugePages:")[2].split()[0]) * 1024


@pytest.mark.skipif(sys.platform != "linux", reason="huge pages are asked of Linux")
def test_memory_that_is_written_to_comes_to_lie_in_huge_pages() -> None:
    with mmap.mmap(-1, 8 * pages.HUGE_PAGE_BYTES, flags=mmap.MAP_PRIVATE) as memory:
        for at in range(0, len(memory), mmap.PAGESIZE):
            memory[at] = at % 251
        before = huge_bytes()
        if not pages.collapse():
            pytest.skip("this kernel collects no pages on demand")
        assert huge_bytes() >= before
        assert huge_bytes() >= 4 * pages.HUGE_PAGE_BYTES
        assert all(memory[at] == at % 251 for at in range(0, len(memory), mmap.PAGESIZE))


def test_elsewhere_nothing_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert pages.collapse() == 0
