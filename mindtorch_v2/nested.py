"""``torch.nested``."""

from mindtorch_v2.tensor.factories import nested_tensor

__all__ = ["nested_tensor"]
