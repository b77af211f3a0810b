"""Properties of tensors: ``x.T``, ``x.grad = y``, ``del x.data``.

Mirrors ``THPVariable_properties`` in ``torch/csrc/autograd/python_variable.cpp``.  What a tensor
answers from its own memory is asked of :class:`~mindtorch_v2.tensor.tensor.Tensor`; here is what
torch's C++ does around that; what it answers about autograd comes from
:mod:`mindtorch_v2.autograd.python_variable`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any, Final

from mindtorch_v2 import profile
from mindtorch_v2.binding.convert import enum_value
from mindtorch_v2.binding.python import checks
from mindtorch_v2.binding.python.errors import type_error
from mindtorch_v2.binding.python.function import BASE
from mindtorch_v2.binding.python.indexing import value_tensor
from mindtorch_v2.binding.python.manual import call_operator
from mindtorch_v2.binding.python.seen import operators_are_seen
from mindtorch_v2.binding.python.type_names import type_name
from mindtorch_v2.binding.python.unpack import dimnames
from mindtorch_v2.call_site import level_of_python
from mindtorch_v2.dispatch.observers import OBSERVERS
from mindtorch_v2.tensor.base import TensorBase
from mindtorch_v2.tensor.custom import own
from mindtorch_v2.tensor.dtype import LAYOUTS, sparse_coo
from mindtorch_v2.tensor.made_in_c import getset_descriptor
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.tensor.version import VersionCounter
from mindtorch_v2.torch_dispatch import shallow_copy_and_detach
from mindtorch_v2.torch_function import handle_torch_function

Getter = Callable[[Any], Any]
Setter = Callable[[Any, Any], None]
"""Takes the tensor and the value, ``DELETED`` where the attribute is deleted."""

_NAMES: Final = profile.active().signatures["names"]["torch._C.TensorBase"]


class Deleted:
    """C's NULL: what a setter is given for a value where there is none."""

    def __repr__(self) -> str:
        return "DELETED"


DELETED: Final = Deleted()


def made(own: Mapping[str, property]) -> dict[str, property]:
    """The properties of the release by name; ``own`` are those that tensors have of themselves.

    Their setters are given ``DELETED`` where the attribute is deleted.
    """
    names = [name for name, kind in _NAMES.items() if kind == "getset_descriptor"]
    return {name: _property(name, own.get(name)) for name in names}


def _property(name: str, own: property | None) -> property:
    get, set_ = _GETTERS.get(name), _SETTERS.get(name)
    read: Getter
    if own is not None:
        set_ = set_ or own.fset
    if get is None:
        assert own is not None, f"tensors have no {name}"
        assert own.fget is not None
        read = own.fget
    else:
        read = get if own is None or own.fget is None else _while_seen(get, own.fget)
    write = set_ or _not_writable(name)
    is_asked = name not in _SILENT
    is_set_by_asking = set_ is not None and name not in _SILENT_SETTERS

    def getter(self: Any) -> Any:
        if type(self) is Tensor and not OBSERVERS.count:
            return read(self)
        _check(name, self)
        if is_asked and checks.is_overridden(self):
            return _overridden(name, "__get__", self)
        return read(self)

    def setter(self: Any, value: Any) -> None:
        _check(name, self)
        if is_set_by_asking and checks.is_overridden(self):
            _overridden(name, "__set__", self, value)
        else:
            write(self, value)

    def deleter(self: Any) -> None:
        _check(name, self)
        if is_set_by_asking and checks.is_overridden(self):
            _overridden(name, "__delete__", self)
        else:
            write(self, DELETED)

    found = getset_descriptor(getter, setter, deleter)
    found.belongs_to(TensorBase, name)
    return found


def _while_seen(get: Getter, own: Getter) -> Getter:
    """What calls an operator, or while that has no kernel, what was written in its place."""
    return lambda tensor: (get if operators_are_seen((tensor,)) else own)(tensor)


def _check(name: str, instance: Any) -> None:
    if not isinstance(instance, Tensor):
        raise TypeError(
            f"descriptor '{name}' for 'torch._C.{BASE}' objects doesn't apply to a "
            f"'{type_name(instance)}' object"
        )


def _overridden(name: str, how: str, tensor: Any, *values: Any) -> Any:
    """``handle_torch_function_getter`` and ``handle_torch_function_setter``."""
    function = getattr(getattr(Tensor, name), how)
    shown = f"torch.Tensor.{name}.{how}"
    return handle_torch_function(function, shown, [tensor], (tensor, *values))


def _not_writable(name: str) -> Setter:
    def refuse(tensor: Any, value: Any) -> None:
        raise AttributeError(f"attribute '{name}' of 'torch._C.{BASE}' objects is not writable")

    return refuse


# --- getters ----------------------------------------------------------------------------------


def _operator(name: str) -> Getter:
    return lambda tensor: call_operator(f"aten::{name}", self=tensor)


def _is_on(device: str) -> Getter:
    return lambda tensor: tensor._device.type == device


def _data(tensor: Tensor) -> Tensor:
    """A copy of a tensor of coordinates is made with values of its own: no other asks for any."""
    if own(tensor, "_layout") is sparse_coo:
        call_operator(
            "aten::empty.memory_format",
            size=[0],
            dtype=enum_value(tensor._dtype),
            layout=enum_value(LAYOUTS["strided"]),
            device=tensor._device,
        )
    seen: Tensor | None = shallow_copy_and_detach(tensor)
    if seen is None:
        return tensor._untracked()
    seen._versions = VersionCounter()
    return seen


def _always(value: Any) -> Getter:
    return lambda tensor: value


def _volatile(tensor: Tensor) -> bool:
    _warn("volatile was removed (Variable.volatile is always False)")
    return False


def _warn(message: str) -> None:
    warnings.warn(message, UserWarning, stacklevel=level_of_python())


_GETTERS: Final[Mapping[str, Getter]] = {
    "T": _operator("numpy_T"),
    "H": _operator("matrix_H"),
    "mT": _operator("mT"),
    "mH": _operator("mH"),
    "real": _operator("real"),
    "imag": _operator("imag"),
    "data": _data,
    "name": _always(None),
    "_has_symbolic_sizes_strides": _always(False),
    "_cdata": id,
    "volatile": _volatile,
    "is_sparse_csr": lambda tensor: tensor._layout is LAYOUTS["sparse_csr"],
    **{
        f"is_{device}": _is_on(device)
        for device in ("cuda", "ipu", "maia", "mps", "mtia", "vulkan", "xla", "xpu")
    },
}

_SILENT: Final = ("_has_symbolic_sizes_strides", "_python_dispatch")
"""Properties that nothing overrides."""

_SILENT_SETTERS: Final = ("real", "imag")
"""Properties whose setters nothing overrides, though their getters are."""


# --- setters ----------------------------------------------------------------------------------


def _set_names(tensor: Tensor, value: Any) -> None:
    """Checks what it is given; no tensor keeps names yet."""
    if value is None:
        return
    if value is DELETED or not checks.is_dimname_list(value):
        raise RuntimeError("names must either be None or a tuple of dim names")
    names = [name.removeprefix("dimname::") for name in dimnames(value)]
    shown = ", ".join("None" if name == "*" else f"'{name}'" for name in names)
    if len(names) != len(tensor._sizes):
        raise RuntimeError(
            f"Number of names ({len(names)}) and number of dimensions in tensor "
            f"({len(tensor._sizes)}) do not match. Attempted to create a tensor with names "
            f"[{shown}]"
        )
    given = [name for name in names if name != "*"]
    if len(set(given)) < len(given):
        raise RuntimeError(f"Cannot construct a tensor with duplicate names. Got names: [{shown}].")
    if given:
        raise NotImplementedError("mindtorch_v2 has no named tensors yet")


def _set_volatile(tensor: Tensor, value: Any) -> None:
    _warn("volatile was removed and now has no effect. Use `with torch.no_grad():` instead.")


def _set_part(name: str) -> Setter:
    def run(tensor: Tensor, value: Any) -> None:
        part = call_operator(f"aten::{name}", self=tensor)
        if value is DELETED:
            raise type_error(f"can't delete {name}")
        call_operator("aten::copy_", self=part, src=value_tensor(part, value))

    return run


_SETTERS: Final[Mapping[str, Setter]] = {
    "names": _set_names,
    "volatile": _set_volatile,
    "real": _set_part("real"),
    "imag": _set_part("imag"),
}
