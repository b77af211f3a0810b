"""Mixed precision: ``torch.amp``, as far as the CPU has it."""

from mindtorch_v2.amp.autocast_mode import autocast, is_autocast_available

__all__ = ["autocast", "is_autocast_available"]
