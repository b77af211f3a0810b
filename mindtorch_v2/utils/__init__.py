"""``torch.utils``."""

from mindtorch_v2.utils import _python_dispatch as _python_dispatch
