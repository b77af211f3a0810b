"""``torch._dispatch``."""

from mindtorch_v2._dispatch import python as python
