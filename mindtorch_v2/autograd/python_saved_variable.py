"""A saved tensor as Python sees it: ``node._raw_saved_self``.

Mirrors ``torch/csrc/autograd/python_saved_variable_hooks.cpp`` and the binding of ``SavedTensor``
in ``torch/csrc/autograd/init.cpp``.  Which methods and properties a release's class has is a fact
of the profile (``bindings``).
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any, Final, NamedTuple

from mindtorch_v2 import profile
from mindtorch_v2.autograd.node import Node
from mindtorch_v2.autograd.saved_variable import SavedTensorHooks, SavedVariable
from mindtorch_v2.pybind.cast import register_class
from mindtorch_v2.pybind.classes import bind_methods, pybind11_type

_CPP_NAME: Final = "torch._C._autograd.SavedTensor"
_FACTS: Final = profile.active().bindings["autograd"]["classes"]["SavedTensor"]


class _Saved(NamedTuple):
    """What an instance holds: the node with the tensor, since it dies with the node."""

    variable: SavedVariable
    node: Node


class SavedTensor(metaclass=pybind11_type, cpp_name=_CPP_NAME):
    """``torch._C._autograd.SavedTensor``."""

    __slots__ = ("_cpp",)
    __module__ = "mindtorch_v2._C._autograd"
    __doc__ = None

    _cpp: _Saved

    @classmethod
    def _of(cls, variable: SavedVariable, node: Node) -> SavedTensor:
        self = cls.__new__(cls)
        self._cpp = _Saved(variable, node)
        return self


def _forbidden() -> _Saved:
    raise RuntimeError("Trying to create a SavedTensor object from Python is forbidden.")


def _register_hooks(
    saved: _Saved, pack: Callable[[Any], Any], unpack: Callable[[Any], Any]
) -> None:
    saved.variable.register_hooks(SavedTensorHooks(pack, unpack))


register_class(_CPP_NAME, SavedTensor, attrgetter("_cpp"), lambda saved: SavedTensor._of(*saved))
bind_methods(
    SavedTensor,
    _FACTS["methods"],
    {
        "__init__": _forbidden,
        "register_hooks": _register_hooks,
        "unpack": lambda saved: saved.variable.unpack(),
    },
    slot="_cpp",
)
for _name, _read in {
    "data": lambda self: self._cpp.variable.data,
    "unpack_hook": lambda self: self._cpp.variable.unpack_hook,
}.items():
    if _name in _FACTS["properties"]:
        setattr(SavedTensor, _name, property(_read))
