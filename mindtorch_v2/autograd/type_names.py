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

_TRANSLATED: Final = {
    f"{backend}{name}Type": f"torch.{module}{name}Tensor"
    for backend, module in (
        *(("CPU", ""), ("SparseCPU", "sparse.")),
        *(("NPU", "npu."), ("SparseNPU", "npu.sparse.")),
    )
    for name in ("Byte", "Char", "Double", "Float", "Int", "Long", "Short", "Half")
}

__all__ = ["dispatch_key", "type_string"]


def dispatch_key(tensor: Tensor) -> int:
    """``TensorOptions::computeDispatchKey``, of the tensor's options."""
    return compute_dispatch_key(tensor._dtype, tensor._layout, tensor._device.type)


def type_string(tensor: Tensor) -> str:
    """``torch.FloatTensor`` or ``MetaFloatType``."""
    name = f"{key_name(dispatch_key(tensor))}{CPP_NAMES[tensor._dtype]}Type"
    return _TRANSLATED.get(name, name)
