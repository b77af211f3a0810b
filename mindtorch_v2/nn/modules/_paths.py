"""What is at a path below a module, ``layers.0.weight``.

Mirrors ``get_submodule``, ``set_submodule``, ``get_parameter`` and ``get_buffer`` of
``torch/nn/modules/module.py``.
"""

from __future__ import annotations

from typing import Any

from mindtorch_v2.nn.parameter import Parameter

__all__ = ["buffer", "parameter", "set_submodule", "submodule"]


def submodule(module: Any, target: str) -> Any:
    """The module at a path; AttributeError if there is none."""
    for name in target.split(".") if target else ():
        module = _module(module, name)
    return module


def set_submodule(module: Any, target: str, new: Any, strict: bool) -> None:
    """Put a module at a path, where none need be unless ``strict``."""
    from mindtorch_v2.nn.modules.module import Module

    path, name = _split(target)
    if not isinstance(new, Module):
        raise ValueError(f"`module` is not an nn.Module, found {type(new)}")
    parent = submodule(module, path)
    if strict or hasattr(parent, name):
        _module(parent, name)
    setattr(parent, name, new)


def set_attribute(module: Any, target: str, new: Any) -> None:
    """The same where nothing is asked of what is there, nor of what is put there."""
    path, name = _split(target)
    setattr(submodule(module, path), name, new)


def _split(target: str) -> tuple[str, str]:
    """The path to what holds a submodule, and what it is called there."""
    if target == "":
        raise ValueError("Cannot set the submodule without a target name!")
    path, _, name = target.rpartition(".")
    return path, name


def parameter(module: Any, target: str) -> Any:
    """The parameter at a path; AttributeError if there is none."""
    path, _, name = target.rpartition(".")
    found = _part(submodule(module, path), name)
    if not isinstance(found, Parameter):
        raise AttributeError(f"`{name}` is not an nn.Parameter")
    return found


def buffer(module: Any, target: str) -> Any:
    """The buffer at a path; AttributeError if there is none."""
    path, _, name = target.rpartition(".")
    holder = submodule(module, path)
    found = _part(holder, name)
    if name not in holder._buffers:
        raise AttributeError(f"`{name}` is not a buffer")
    return found


def _module(holder: Any, name: str) -> Any:
    from mindtorch_v2.nn.modules.module import Module

    found = _part(holder, name)
    if not isinstance(found, Module):
        raise AttributeError(f"`{name}` is not an nn.Module")
    return found


def _part(holder: Any, name: str) -> Any:
    if not hasattr(holder, name):
        raise AttributeError(f"{holder._get_name()} has no attribute `{name}`")
    return getattr(holder, name)
