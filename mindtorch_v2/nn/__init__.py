"""``torch.nn``: modules, parameters, and what they begin with.

What is here is what training programs need; the operators below are those of torch.
"""

from mindtorch_v2 import profile
from mindtorch_v2.nn import functional, init, modules, parameter, utils
from mindtorch_v2.nn.modules import *  # noqa: F403 (its __all__ is the list)
from mindtorch_v2.nn.modules import __all__ as _modules
from mindtorch_v2.nn.parameter import Parameter

__all__ = ["Parameter", "functional", "init", "modules", "parameter", "utils"]
__all__ += _modules

if profile.active().training["habits"]["nn has buffers of a class"]:
    Buffer = parameter.Buffer
    __all__ += ["Buffer"]
