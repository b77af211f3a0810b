"""A saved tensor as Python sees it: ``node._raw_saved_self``.

Mirrors ``torch/csrc/autograd/python_saved_variable_hooks.cpp`` and the binding of ``SavedTensor``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch_v2.autograd.node import Node
from mindtorch_v2.autograd.saved_variable import SavedTensorHooks, SavedVariable


class SavedTensor:
    """``torch._C._autograd.SavedTensor``."""

    __slots__ = ("_node", "_variable")
    __module__ = "mindtorch_v2._C._autograd"

    _variable: SavedVariable
    _node: Node

    def __init__(self) -> None:
        raise RuntimeError("Trying to create a SavedTensor object from Python is forbidden.")

    @classmethod
    def _of(cls, variable: SavedVariable, node: Node) -> SavedTensor:
        self = cls.__new__(cls)
        self._variable, self._node = variable, node
        return self

    def register_hooks(self, pack: Callable[[Any], Any], unpack: Callable[[Any], Any]) -> None:
        self._variable.register_hooks(SavedTensorHooks(pack, unpack))
