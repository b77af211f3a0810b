"""How C++ names the type of a tensor in messages.

Mirrors ``TensorBase::toString`` and ``processErrorMsg`` of ``torch/csrc/Exceptions.cpp``, which
gives some of those names the form of Python's legacy tensor types.
"""

from __future__ import annotations

from typing import Final

from mindtorch_v2.dispatch.key import key_name
from mindtorch_v2.tensor.options import compute_dispatch_key
from mindtorch_v2.tensor.support import CPP_NAMES
from mindtorch_v2.tensor.tensor import Tensor

_TRANSLATED: Final = frozenset(("Byte", "Char", "Double", "Float", "Int", "Long", "Short", "Half"))
"""Types that have a class of torch's in messages, if they are on one of ..."""
_BACKENDS: Final = {
    "CPU": "torch",
    "CUDA": "torch.cuda",
    "NPU": "torch.npu",
    "SparseCPU": "torch.sparse",
    "SparseCUDA": "torch.cuda.sparse",
    "SparseNPU": "torch.npu.sparse",
}


def dispatch_key(tensor: Tensor) -> int:
    """``TensorOptions::computeDispatchKey``, of the tensor's options."""
    return compute_dispatch_key(tensor._dtype, tensor._layout, tensor._device.type)


def type_string(tensor: Tensor) -> str:
    """``torch.FloatTensor`` for the types of old, ``MetaFloatType`` and its like for others."""
    backend, dtype = key_name(dispatch_key(tensor)), CPP_NAMES[tensor._dtype]
    if backend in _BACKENDS and dtype in _TRANSLATED:
        return f"{_BACKENDS[backend]}.{dtype}Tensor"
    return f"{backend}{dtype}Type"
