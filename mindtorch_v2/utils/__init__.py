"""``torch.utils``."""

from mindtorch_v2.utils import _python_dispatch as _python_dispatch
from mindtorch_v2.utils import _pytree as _pytree
from mindtorch_v2.utils import deterministic as deterministic
from mindtorch_v2.utils import dlpack as dlpack
from mindtorch_v2.utils import hooks as hooks
