"""Properties of tensors, whose class may override reading and setting them.

Mirrors ``handle_torch_function_getter`` and its twin of ``torch/csrc/utils/python_arg_parser.cpp``,
which the properties of ``torch/csrc/autograd/python_variable.cpp`` begin with.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any, Final

from mindtorch_v2.binding.python import checks
from mindtorch_v2.tensor.base import TensorBase
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.torch_function import handle_torch_function

_PACKAGE: Final = __name__.partition(".")[0]


def overridable(name: str, plain: property) -> property:
    """The property ``name``, which asks a subclass before it answers.

    Code of this package stands for C++ here, which reads the tensor itself.
    """
    read: Any = plain.fget
    write: Any = plain.fset

    def get(tensor: Tensor) -> Any:
        if type(tensor) is Tensor or not _is_asked(tensor, sys._getframe(1)):
            return read(tensor)
        function, shown = vars(TensorBase)[name].__get__, f"torch.Tensor.{name}.__get__"
        return handle_torch_function(function, shown, [tensor], (tensor,))

    def set_(tensor: Tensor, value: Any) -> None:
        if type(tensor) is Tensor or not _is_asked(tensor, sys._getframe(1)):
            write(tensor, value)
            return
        function, shown = vars(TensorBase)[name].__set__, f"torch.Tensor.{name}.__set__"
        handle_torch_function(function, shown, [tensor], (tensor, value))

    return property(get, None if write is None else set_, doc=plain.__doc__)


def _is_asked(tensor: Tensor, reader: FrameType) -> bool:
    module: str = reader.f_globals.get("__name__", "")
    return module.partition(".")[0] != _PACKAGE and checks.has_torch_function(tensor)
