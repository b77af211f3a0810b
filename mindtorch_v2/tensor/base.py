"""The class below ``Tensor`` that has torch's bound methods: ``torch._C.TensorBase``.

Mirrors ``THPVariableType`` and its metaclass in ``torch/csrc/autograd/python_variable.cpp``.
"""

from __future__ import annotations


class _TensorMeta(type):
    """The metaclass of tensors."""


class TensorBase(metaclass=_TensorMeta):
    """Has no state of its own; its methods are bound from the profile."""

    __slots__ = ()


_TensorMeta.__module__ = TensorBase.__module__ = "mindtorch_v2._C"
