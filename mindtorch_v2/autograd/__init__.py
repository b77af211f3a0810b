"""``torch.autograd``: gradients of what was computed.

The public names; the mechanism is in the modules.  A reading order: :mod:`node`, :mod:`variable`,
:mod:`saved_variable`, :mod:`formula`, :mod:`generated`, :mod:`basic_ops`, :mod:`engine`, then
:mod:`mindtorch_v2.kernels.wrapping.variable_type`, where operators are recorded.
"""

from mindtorch_v2.autograd import forward_ad, function, grad_mode, graph
from mindtorch_v2.autograd.anomaly_mode import detect_anomaly, set_detect_anomaly
from mindtorch_v2.autograd.backward import backward, grad
from mindtorch_v2.autograd.function import Function
from mindtorch_v2.autograd.grad_mode import (
    _unsafe_preserve_version_counter,
    enable_grad,
    inference_mode,
    is_multithreading_enabled,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)
from mindtorch_v2.autograd.python_saved_variable import SavedTensor
from mindtorch_v2.autograd.variable_class import Variable

backward.__module__ = grad.__module__ = __name__  # where torch defines them

__all__ = [
    "Function",
    "SavedTensor",
    "Variable",
    "_unsafe_preserve_version_counter",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "forward_ad",
    "function",
    "grad",
    "grad_mode",
    "graph",
    "inference_mode",
    "is_multithreading_enabled",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
]
