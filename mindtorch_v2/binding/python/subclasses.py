"""Instances of subclasses of tensors, and the replay of views.

Mirrors the ``extra_methods`` of ``torch/csrc/autograd/python_variable.cpp``.  How views are
replayed by the functions that made them is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any, Final

from mindtorch_v2 import overloaded, profile
from mindtorch_v2.autograd.node import any_requires_grad
from mindtorch_v2.binding.python.constructors import BY_NUMBER, default_scalar_type, scalar_type
from mindtorch_v2.binding.python.function import Implementation
from mindtorch_v2.binding.python.manual import Runner, call_operator, is_absent, value
from mindtorch_v2.binding.python.parser import Parsed
from mindtorch_v2.binding.python.type_names import name_of_type, type_name
from mindtorch_v2.binding.stop import is_stopping
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.keyset import PYTHON_KEYS, functionality_bit, mask_of
from mindtorch_v2.dispatch.mode_stack import stashed_stack
from mindtorch_v2.py_interpreter import INTERPRETER
from mindtorch_v2.tensor import geometry
from mindtorch_v2.tensor.base import TensorBase
from mindtorch_v2.tensor.custom import SIZES_STRIDES_POLICIES, customize
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.dtype import DType, Layout, jagged, strided
from mindtorch_v2.tensor.options import compute_dispatch_key, tensor_keyset
from mindtorch_v2.tensor.storage import UntypedStorage
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.torch_dispatch import (
    disabled,
    has_torch_dispatch,
    is_seen_by_python,
)

_FACTS: Final = profile.active().argument_parser
_REFUSAL: Final[dict[str, str]] = _FACTS["no_subclass"]
_ERRORS: Final = {"RuntimeError": RuntimeError, "TypeError": TypeError}
_ALIAS_IS_SEEN: Final[bool] = _FACTS["as_subclass_is_seen"]
_CLASS_FIRST: Final[bool] = _FACTS["wrapper_class_first"]
_KEPT: Final = functionality_bit(DispatchKey.Conjugate) | functionality_bit(DispatchKey.Negative)
_KEEPS_OBJECTS: Final[bool] = _FACTS["keeps_objects"]


def _class(parsed: Parsed) -> type:
    cls = value(parsed, "cls")
    if not isinstance(cls, type):
        raise TypeError(f"cls must be a type (got {type_name(cls)})")
    return cls


def _check_subclass(cls: type) -> None:
    if not issubclass(cls, TensorBase):
        raise _ERRORS[_REFUSAL["type"]](_REFUSAL["message"])


def instance_of(
    cls: Any, tensor: Tensor, *, comes_from_python: bool = False, keeps_object: bool = True
) -> Any:
    """``THPVariable_NewWithVar``: the same tensor as an object of another class.

    What ``comes_from_python``, from an override of the operator that made it, is an object already
    and stays that one.  RuntimeError if its class is not the wanted one, and if it may not stay
    (``allow_preexisting_pyobj``).
    """
    _check_subclass(cls)
    if comes_from_python:
        return _object_of(cls, tensor, keeps_object)
    made = object.__new__(cls)
    _ = tensor._storage, tensor._versions, tensor._autograd  # which are all there now
    for slot in Tensor.__slots__:
        if not slot.startswith("__") and hasattr(tensor, slot):
            setattr(made, slot, getattr(tensor, slot))
    made._array = None
    if has_torch_dispatch(made):
        made._keys |= PYTHON_KEYS
    else:
        made._keys &= ~PYTHON_KEYS
    return made


def _object_of(cls: type, tensor: Tensor, keeps_object: bool) -> Tensor:
    refusal = (
        f"Creating a new Tensor subclass {name_of_type(cls)} but the raw Tensor object is already "
        f"associated to a python object of type {name_of_type(type(tensor))}"
    )
    if not keeps_object:
        raise RuntimeError(refusal)
    if not isinstance(tensor, cls):
        raise RuntimeError(f"{refusal} which is not a subclass of the requested type")
    return tensor


def _as_subclass(receiver: Tensor, parsed: Parsed) -> Any:
    cls = _class(parsed)
    with nullcontext() if _ALIAS_IS_SEEN else stashed_stack():
        is_seen = is_seen_by_python([receiver])
        if is_stopping() and not (_ALIAS_IS_SEEN or is_seen or any_requires_grad([receiver])):
            return instance_of(cls, receiver._alias())
        alias = call_operator("aten::alias", self=receiver)
        return instance_of(cls, alias, comes_from_python=is_seen, keeps_object=_KEEPS_OBJECTS)


def _make_subclass(receiver: None, parsed: Parsed) -> Any:
    cls = _class(parsed)
    if _CLASS_FIRST:
        _check_subclass(cls)
    with stashed_stack():
        is_seen = is_seen_by_python([value(parsed, "data")])
        data = _detached(value(parsed, "data"))
    data._set_requires_grad(value(parsed, "require_grad"))
    slots = _customized(parsed)
    device = value(parsed, "device_for_backend_keys")
    if device is not None:
        data._keys = tensor_keyset(
            mask_of(compute_dispatch_key(data._dtype, data._layout, device.type)),
            data._is_inference(),
        )
    made = instance_of(cls, data, comes_from_python=is_seen, keeps_object=_KEEPS_OBJECTS)
    customize(made, slots, INTERPRETER)
    return made


def _customized(parsed: Parsed) -> tuple[str, ...]:
    """The slots that the class wants to answer for.  See Note [Custom policies]."""
    policy = value(parsed, "dispatch_sizes_strides_policy")
    if policy not in SIZES_STRIDES_POLICIES:
        raise ValueError(f"Unknown sizes_strides_policy: {policy}; expected 'strides' or 'sizes'")
    device = ("_device",) if value(parsed, "dispatch_device") else ()
    layout = ("_layout",) if value(parsed, "dispatch_layout") else ()
    return (*SIZES_STRIDES_POLICIES[policy], *device, *layout)


def _detached(tensor: Tensor) -> Tensor:
    if is_seen_by_python([tensor]):
        twin: Tensor = call_operator("aten::detach", self=tensor)
    else:
        twin = tensor._detached()
    twin._autograd = None
    return twin


def _make_wrapper_subclass(receiver: None, parsed: Parsed) -> Any:
    """A tensor without data whose class answers for it; TypeError for one that does not."""
    cls = _class(parsed)
    if _CLASS_FIRST:
        _check_subclass(cls)
    _check_dispatch(cls)
    sizes, strides = value(parsed, "size"), value(parsed, "strides")
    offset, nbytes = value(parsed, "storage_offset"), value(parsed, "storage_size")
    dtype = BY_NUMBER[scalar_type(parsed, default_scalar_type())]
    layout = strided if is_absent(parsed, "layout") else parsed.values[_place(parsed, "layout")]
    device = value(parsed, "device") or Device("cpu")
    steps = geometry.contiguous_strides(sizes) if strides is None else tuple(strides)
    geometry.check_dimensionality(sizes, steps)
    if strides is None and offset is not None:
        raise RuntimeError("setting storage offset without stride not supported")
    extra = value(parsed, "_extra_dispatch_keys")
    made = _without_data(
        sizes,
        dtype,
        strided if layout is jagged else layout,
        device,
        nbytes=nbytes,
        extra_keys=0 if extra is None else extra.mask,
        requires_grad=value(parsed, "requires_grad"),
        strides=steps,
        offset=offset or 0,
    )
    slots = _customized(parsed)
    instance = instance_of(cls, made)
    customize(instance, slots, INTERPRETER)
    return instance


def _check_dispatch(cls: type) -> None:
    if overloaded.attribute(cls, "__torch_dispatch__") in (overloaded.ABSENT, disabled):
        raise TypeError(f"{name_of_type(cls)} must define __torch_dispatch__")


def _without_data(
    sizes: Sequence[int],
    dtype: DType,
    layout: Layout,
    device: Device,
    *,
    strides: tuple[int, ...],
    offset: int = 0,
    nbytes: int | None = None,
    extra_keys: int,
    requires_grad: bool,
) -> Tensor:
    """``make_tensor_for_subclass_helper``: a tensor whose storage has a size and no bytes."""
    if any(size < 0 for size in sizes):
        raise RuntimeError("numel: integer multiplication overflow")
    if nbytes is None:
        nbytes = geometry.storage_bytes(sizes, strides, offset, dtype.itemsize)
    storage = UntypedStorage._of(nbytes, Device("meta"))
    storage.device = device  # where there is nothing of it
    return Tensor._make(
        sizes,
        dtype,
        layout,
        device,
        extra_keys=extra_keys,
        requires_grad=requires_grad,
        storage=storage,
        strides=strides,
        offset=offset,
    )


def _make_dtensor(receiver: None, parsed: Parsed) -> Any:
    """The same of what a part of it has; whether the part is conjugate or negative stays."""
    cls = _class(parsed)
    _check_dispatch(cls)
    sizes, strides = value(parsed, "size"), tuple(value(parsed, "strides"))
    local = value(parsed, "local_tensor")
    geometry.check_dimensionality(sizes, strides)
    made = _without_data(
        sizes,
        local._dtype,
        local._layout,
        local._device,
        extra_keys=local._keys & _KEPT,
        requires_grad=value(parsed, "requires_grad"),
        strides=strides,
    )
    return instance_of(cls, made)


def _place(parsed: Parsed, name: str) -> int:
    return [parameter.name for parameter in parsed.signature.parameters].index(name)


def _dtensor_new(receiver: None, parsed: Parsed) -> Any:
    cls = _class(parsed)
    _check_subclass(cls)
    raise NotImplementedError("mindtorch_v2 has no distributed tensors")


# --- replay of views --------------------------------------------------------------------------


_CHANGES_OF_MEANING: Final = {DispatchKey.Conjugate: "_conj", DispatchKey.Negative: "_neg_view"}
"""Views that are replayed by their function (``VIEW_FUNCTIONS_WITH_METADATA_CHANGE``)."""


def _view_func(check_base: bool) -> Callable[[Tensor, Parsed], Any]:
    def run(receiver: Tensor, parsed: Parsed) -> Any:
        """The view of another base; None for what is no view."""
        new_base = value(parsed, "new_base")
        base = receiver._view_base()
        if base is None:
            return None
        if check_base:
            same = call_operator("aten::_has_same_storage_numel", self=new_base, other=base)
            if not same:
                return None
        for key, function in _CHANGES_OF_MEANING.items():
            if (receiver._keys ^ base._keys) & functionality_bit(key):
                for visitor in ("symint_visitor_fn", "tensor_visitor_fn"):
                    _check_function(value(parsed, visitor))
                return call_operator(f"aten::{function}", self=new_base)
        return call_operator(
            "aten::as_strided",
            self=new_base,
            size=list(receiver._sizes),
            stride=list(receiver._strides),
            storage_offset=receiver._storage_offset,
        )

    return run


def _check_function(visitor: Any) -> None:
    """``py::cast<py::function>``, but for None."""
    if visitor is not None and not callable(visitor):
        kind = type_name(visitor)
        raise RuntimeError(f"Object of type '{kind}' is not an instance of 'function'")


def _rev_view_func(receiver: Tensor, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    (new_view,) = args
    if not isinstance(new_view, Tensor):
        raise RuntimeError("_rev_view_func expect a single argument that is a Tensor")
    if receiver._view_base() is None:
        return None
    raise RuntimeError("No _rev_view_func() found")


RUNNERS: Final[Mapping[str, Runner]] = {
    "as_subclass": _as_subclass,
    "_make_subclass": _make_subclass,
    "_make_wrapper_subclass": _make_wrapper_subclass,
    "_make_dtensor": _make_dtensor,
    "_dtensor__new__": _dtensor_new,
    "_view_func": _view_func(True),
    "_view_func_unsafe": _view_func(False),
}
"""By the name of the C function."""

WITHOUT_PARSER: Final[Mapping[str, Implementation]] = {
    "_rev_view_func_unsafe": _rev_view_func,
    "_use_count": lambda receiver, args, kwargs: 1,  # of the tensor, which its object alone has
    "_fix_weakref": lambda receiver, args, kwargs: None,
}
"""Methods that take their arguments as CPython hands them over."""
