"""``torch.storage``."""

from mindtorch_v2.tensor.storage import UntypedStorage
from mindtorch_v2.tensor.typed_storage import TypedStorage

__all__ = ["TypedStorage", "UntypedStorage"]
