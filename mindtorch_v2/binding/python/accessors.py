"""What tensors are as Python's values, and say of themselves: ``numpy``, ``tolist``, ``set_`` …

Mirrors the hand-written methods of ``tools/autograd/templates/python_variable_methods.cpp`` that
are no conversions between dtypes and devices, and ``torch/csrc/utils/tensor_apply.cpp``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from mindtorch_v2.binding.python.constructors import BY_NUMBER, check_storage, tensor_from_numpy
from mindtorch_v2.binding.python.function import Implementation
from mindtorch_v2.binding.python.manual import (
    PASSED_ON,
    Runner,
    call_operator,
    converted,
    device_and_dtype,
    is_absent,
    value,
)
from mindtorch_v2.binding.python.parser import Parsed
from mindtorch_v2.binding.python.seen import item_of
from mindtorch_v2.binding.python.signature import ABSENT
from mindtorch_v2.binding.python.type_names import type_name
from mindtorch_v2.dispatch import tls
from mindtorch_v2.numpy_later import np
from mindtorch_v2.tensor import conversions, numpy_bridge
from mindtorch_v2.tensor.absent_devices import maybe_initialize_device
from mindtorch_v2.tensor.copying import store_bits, value_array
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.scalars import is_integral, pack_numbers, unpack_scalar
from mindtorch_v2.tensor.support import TYPE_NAMES
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.tensor.type_string import type_string
from mindtorch_v2.warn import is_warned_of, warn_once

# --- Python's values --------------------------------------------------------------------------


def _numpy(receiver: Tensor, parsed: Parsed) -> Any:
    receiver._refuse_for_subclass("numpy()")
    force = value(parsed, "force")
    numpy_bridge.check_convertible(receiver, force=force)
    return numpy_bridge.to_numpy(call_operator("aten::detach", self=receiver), force=force)


def _tolist(receiver: Tensor, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    receiver._refuse_for_subclass("tolist()", f", got {type_name(receiver)}")
    resolved = call_operator("aten::resolve_conj", self=receiver)
    data = call_operator("aten::resolve_neg", self=resolved)
    if data._functional is not None and numel(data._sizes):
        raise RuntimeError("tolist() shouldn't be called on a tensor with unallocated storage")
    return conversions.to_list(data)


def _bool(receiver: Tensor, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return call_operator("aten::is_nonzero", self=receiver)


def _scalar(
    convert: Callable[[Tensor, conversions.Read], Any], *, warns: bool = True
) -> Implementation:
    """A conversion to a number of Python's; newer releases warn where a gradient gets lost."""

    def run(receiver: Tensor, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if warns and receiver.requires_grad and is_warned_of("requires_grad_to_scalar"):
            warn_once(
                "requires_grad_to_scalar",
                "Converting a tensor with requires_grad=True to a scalar may lead to unexpected "
                "behavior.\nConsider using tensor.detach() first.",
            )
        return convert(receiver, item_of)

    return run


def _invert(receiver: Tensor, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if not is_integral(receiver.dtype):
        raise TypeError(
            "~ (operator.invert) is only implemented on integer and Boolean-type tensors"
        )
    return call_operator("aten::bitwise_not", self=receiver)


def _eq(receiver: Tensor, parsed: Parsed) -> Any:
    """An array becomes a tensor first; what else there is goes to ``eq``."""
    other = value(parsed, "other")
    if isinstance(other, np.ndarray):
        return call_operator("aten::eq.Tensor", self=receiver, other=tensor_from_numpy(other))
    return PASSED_ON


# --- functions of Python, applied to elements -------------------------------------------------


def _apply_(receiver: Tensor, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    _refuse_gradients("apply_", receiver)
    if receiver.is_meta:
        return receiver
    if not receiver.is_cpu:
        raise TypeError("apply_ is only implemented on CPU tensors")
    return _applied(args[0], receiver)


def _map_(receiver: Tensor, parsed: Parsed) -> Any:
    return _mapped(receiver, parsed, "map_", ("other",))


def _map2_(receiver: Tensor, parsed: Parsed) -> Any:
    return _mapped(receiver, parsed, "map2_", ("x", "y"))


def _mapped(receiver: Tensor, parsed: Parsed, name: str, others: tuple[str, ...]) -> Any:
    tensors = [value(parsed, other) for other in others]
    _refuse_gradients(name, receiver, *tensors)
    for tensor in (receiver, *tensors) if name == "map_" else tensors:
        tensor._refuse_for_subclass(name)
    wanted, named = type_string(receiver), "argument " * (name == "map2_")
    for other, tensor in zip(others, tensors, strict=True):
        if (given := type_string(tensor)) != wanted:
            raise TypeError(f"{name}: expected {wanted} for {named}'{other}' (got {given})")
    if receiver.is_meta:
        return receiver
    return _applied(value(parsed, "callable"), receiver, *tensors)


def _refuse_gradients(name: str, *tensors: Tensor) -> None:
    if any(tensor.requires_grad for tensor in tensors):
        raise RuntimeError(
            f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() "
            "instead."
        )


def _applied(function: Callable[..., Any], target: Tensor, *others: Tensor) -> Tensor:
    """The target, each element what the function makes of it and of those in its place."""
    target.data_ptr()  # RuntimeError where there is none
    values, size = value_array(target), list(target.shape)
    expanded = [call_operator("aten::expand", self=other, size=size) for other in others]
    sources = list(map(value_array, expanded))
    made = [
        unpack_scalar(function(*(each.item() for each in items)), target.dtype)
        for items in zip(values.flat, *(source.flat for source in sources), strict=True)
    ]
    if made:
        store_bits(target, pack_numbers(made, target.dtype).reshape(values.shape))
    return target


# --- flags and storage ------------------------------------------------------------------------


LEAVES_ALONE: Final = {
    True: "you can only change requires_grad flags of leaf variables.",
    False: "you can only change requires_grad flags of leaf variables. If you want to use a "
    "computed variable in a subgraph that doesn't require differentiation use "
    "var_no_grad = var.detach().",
}
"""What is said of a tensor that is no leaf, by the flag that it was to get."""

NO_INFERENCE_TENSORS: Final = (
    "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed."
)


def _requires_grad_(receiver: Tensor, parsed: Parsed) -> Any:
    from mindtorch_v2.functionalize.layers import check_supports_inplace_requires_grad

    check_supports_inplace_requires_grad()
    requires_grad: bool = value(parsed, "requires_grad")
    if not receiver._is_leaf() and not requires_grad:
        raise RuntimeError(LEAVES_ALONE[requires_grad])
    if requires_grad and not receiver._is_differentiable():
        raise RuntimeError("only Tensors of floating point dtype can require gradients")
    if requires_grad and receiver._is_inference() and not tls.is_inference_mode_enabled():
        raise RuntimeError(NO_INFERENCE_TENSORS)
    receiver._set_requires_grad(requires_grad)
    return receiver


def _set_(receiver: Tensor, parsed: Parsed) -> Any:
    names = [parameter.name for parameter in parsed.signature.parameters]
    if names:
        check_storage(parsed.values[0], receiver.dtype, TYPE_NAMES[receiver.dtype])
    given = {name: value(parsed, name) for name in reversed(names)}  # as compiled C++ has it
    if not given:
        return call_operator("aten::set_", self=receiver)
    kind = "Tensor" if isinstance(parsed.values[0], Tensor) else "Storage"
    if len(given) > 1:
        return call_operator(f"aten::set_.source_{kind}_storage_offset", self=receiver, **given)
    source = given["source"]
    if kind == "Tensor" and source.dtype is not receiver.dtype:
        raise RuntimeError(
            f"Could not set tensor of type {TYPE_NAMES[source.dtype]} to a tensor of "
            f"type {TYPE_NAMES[receiver.dtype]}"
        )
    return call_operator(f"aten::set_.source_{kind}", self=receiver, source=source)


# --- devices that are not there ---------------------------------------------------------------


def _to_accelerator(device: str) -> Runner:
    shown = "MTIA" if device == "mtia" else device

    def run(receiver: Tensor, parsed: Parsed) -> Any:
        wanted = value(parsed, "device")
        if wanted is not None and wanted.type != device:
            raise RuntimeError(f"Invalid device, must be {shown} device")
        maybe_initialize_device(Device(device))
        memory_format = value(parsed, "memory_format")
        return converted(receiver, wanted or Device(device), None, memory_format=memory_format)

    return run


def _parse_to(receiver: None, parsed: Parsed) -> tuple[Any, Any, bool, Any]:
    """The device, dtype, memory format and so on that ``Module.to`` is called with."""
    device = dtype = None
    if not is_absent(parsed, "copy"):
        if parsed.chosen == 2:
            value(parsed, "tensor")
        raise RuntimeError(".to() does not accept copy argument")
    if parsed.chosen == 2:
        device, dtype = device_and_dtype(value(parsed, "tensor"))
    else:
        device = value(parsed, "device") if parsed.chosen == 0 else None
        dtype = value(parsed, "dtype")
    memory_format = parsed.values[-1]
    return (
        device,
        None if dtype is None else BY_NUMBER[dtype],
        value(parsed, "non_blocking"),
        None if memory_format is ABSENT else memory_format,
    )


RUNNERS: Final[Mapping[str, Runner]] = {
    "numpy": _numpy,
    "__eq__": _eq,
    "map_": _map_,
    "map2_": _map2_,
    "requires_grad_": _requires_grad_,
    "set_": _set_,
    "_parse_to": _parse_to,
    **{device: _to_accelerator(device) for device in ("cuda", "xpu", "ipu", "mtia")},
}
"""By the name of the C function."""

WITHOUT_PARSER: Final[Mapping[str, Implementation]] = {
    "tolist": _tolist,
    "item": lambda receiver, args, kwargs: item_of(receiver),
    "bool_scalar": _bool,
    "invert": _invert,
    "apply_": _apply_,
    "const_data_ptr": lambda receiver, args, kwargs: receiver.data_ptr(),
    "has_names": lambda receiver, args, kwargs: False,
    "index_scalar": _scalar(conversions.index, warns=False),
    "integral_scalar": _scalar(conversions.integer, warns=False),
    "float_scalar": _scalar(conversions.floating),
    "complex_scalar": _scalar(conversions.complex_number),
}
"""Methods that take their arguments as CPython hands them over."""
