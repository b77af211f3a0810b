"""Bindings that torch writes by hand: what each does with a parsed call.

Mirrors ``tools/autograd/templates/python_variable_methods.cpp`` and
``torch/csrc/autograd/python_torch_functions_manual.cpp``.  Their signatures are facts of the
profile; what is here is what no signature says.  One that has no entry calls the operator of its
name, as generated bindings do.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import lru_cache
from operator import itemgetter
from typing import Any, Final

from mindtorch_v2.binding.convert import enum_value
from mindtorch_v2.binding.operators import Call, Operator
from mindtorch_v2.binding.python.calls import Values, check_out, operator_named
from mindtorch_v2.binding.python.factories import new_variable
from mindtorch_v2.binding.python.parser import Parsed
from mindtorch_v2.binding.python.signature import ABSENT
from mindtorch_v2.binding.python.unpack import unpack
from mindtorch_v2.binding.stop import is_stopping
from mindtorch_v2.call_site import level_of_python
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.keyset import functionality_bit
from mindtorch_v2.tensor.absent_devices import check_linked, maybe_initialize_device
from mindtorch_v2.tensor.default_dtype import get_default_dtype
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.dtype import DTYPES, MEMORY_FORMATS, DType, Layout, sparse_coo, strided
from mindtorch_v2.tensor.geometry import wrap_dim
from mindtorch_v2.tensor.support import CPP_NAMES
from mindtorch_v2.tensor.symbolic import SymBool, SymFloat, SymInt
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.tensor.zeros import is_zero_tensor

Runner = Callable[[Any, Parsed], Any]
"""Runs a parsed call; takes the receiver, or None for a function."""

PASSED_ON: Final = object()
"""A runner's answer where the generated method of its bare name takes the same arguments."""


def value(parsed: Parsed, name: str) -> Any:
    """The converted value of a parameter; its default if it was not given."""
    place = parsed.signature.places[name]
    return unpack(parsed.signature, place, parsed.values[place])


def is_absent(parsed: Parsed, name: str) -> bool:
    return parsed.values[parsed.signature.places[name]] is ABSENT


def call_operator(full_name: str, **arguments: Any) -> Any:
    """Call an operator with converted values; arguments that are not named have their default."""
    return call_of_operator(full_name, **arguments).run()


def call_of_operator(full_name: str, **arguments: Any) -> Call:
    """The same call, yet to be run."""
    operator = operator_named(full_name)
    ordered, defaults = _order(operator, tuple(arguments))
    return Call(operator, ordered((*arguments.values(), *defaults)))


@lru_cache(maxsize=1000)
def _order(
    operator: Operator, names: tuple[str, ...]
) -> tuple[Callable[[tuple[Any, ...]], tuple[Any, ...]], tuple[Any, ...]]:
    """What makes a stack of values for these names and the defaults behind them; the defaults.

    A name that the operator has not in every release is left out.
    """
    arguments = operator.schema.arguments
    given = {name: place for place, name in enumerate(names)}
    places = [given.get(each.name, len(names) + at) for at, each in enumerate(arguments)]
    defaults = tuple(each.default_value for each in arguments)
    if len(places) < 2:  # of which itemgetter makes no tuple
        return lambda values: tuple(values[place] for place in places), defaults
    return itemgetter(*places), defaults


# --- conversions ------------------------------------------------------------------------------


def _to(receiver: Tensor, parsed: Parsed) -> Any:
    device = dtype = None
    if parsed.chosen == 0:
        device, dtype = value(parsed, "device"), value(parsed, "dtype")
    elif parsed.chosen == 1:
        dtype = value(parsed, "dtype")
    else:
        device, dtype = device_and_dtype(value(parsed, "tensor"))
    copy = value(parsed, "copy")
    memory_format = value(parsed, "memory_format")
    maybe_initialize_device(device)
    if device is None and dtype is None and not copy and memory_format is None:
        return receiver
    return converted(receiver, device, dtype, value(parsed, "non_blocking"), copy, memory_format)


_NUMBER_DTYPES: Final = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}


def device_and_dtype(like: Any) -> tuple[Device, int]:
    """Those of a tensor, or of the one that wraps a number."""
    if isinstance(like, Tensor):
        return like.device, enum_value(like.dtype)
    kind = {SymInt: int, SymFloat: float, SymBool: bool}.get(type(like), type(like))
    return Device("cpu"), enum_value(DTYPES[_NUMBER_DTYPES[kind]])


def converted(
    receiver: Tensor,
    device: Device | None,
    dtype: int | None,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: int | None = None,
) -> Any:
    """``dispatch_to``: which overload of ``to`` is called depends on what is given."""
    rest = {"non_blocking": non_blocking, "copy": copy, "memory_format": memory_format}
    if dtype is None:
        return call_operator(
            "aten::to.dtype_layout",
            self=receiver,
            dtype=enum_value(receiver.dtype),
            layout=enum_value(receiver.layout),
            device=receiver.device if device is None else device,
            **rest,
        )
    if device is None:
        return call_operator("aten::to.dtype", self=receiver, dtype=dtype, **rest)
    return call_operator("aten::to.device", self=receiver, device=device, dtype=dtype, **rest)


def _to_dtype(dtype: DType) -> Runner:
    def run(receiver: Tensor, parsed: Parsed) -> Any:
        memory_format = value(parsed, "memory_format")
        return converted(receiver, None, enum_value(dtype), memory_format=memory_format)

    return run


def _cpu(receiver: Tensor, parsed: Parsed) -> Any:
    return converted(receiver, Device("cpu"), None, memory_format=value(parsed, "memory_format"))


def type_text(tensor: Tensor) -> str:
    """``torch.FloatTensor``, as ``options_to_string`` has it."""
    return options_text(tensor.dtype, tensor.layout, tensor.device)


def options_text(dtype: DType, layout: Layout, device: Device) -> str:
    where = "" if device.type == "cpu" else f"{device.type}."
    if layout is sparse_coo:
        where += "sparse."
    elif dtype._is_quantized:
        where += "quantized."
    return f"torch.{where}{CPP_NAMES[dtype]}Tensor"


# --- methods with an operator under them ------------------------------------------------------


def _contiguous(receiver: Tensor, parsed: Parsed) -> Any:
    memory_format = value(parsed, "memory_format")
    if _is_contiguous(receiver, parsed):
        return receiver
    if _is_contiguous(receiver, parsed):  # ``Tensor::contiguous`` asks again, its class maybe
        return receiver
    return call_operator("aten::contiguous", self=receiver, memory_format=memory_format)


def _is_contiguous(receiver: Tensor, parsed: Parsed) -> bool:
    wanted = parsed.values[0]
    return receiver._is_contiguous(
        MEMORY_FORMATS["contiguous_format"] if wanted is ABSENT else wanted
    )


def _copy_(receiver: Tensor, parsed: Parsed) -> Any:
    other = value(parsed, "other")
    non_blocking = value(parsed, "non_blocking" if parsed.chosen == 0 else "async")
    return call_operator("aten::copy_", self=receiver, src=other, non_blocking=non_blocking)


def _nonzero(receiver: Tensor | None, parsed: Parsed) -> Any:
    tensor = value(parsed, "input") if receiver is None else receiver
    names = [parameter.name for parameter in parsed.signature.parameters]
    if "out" in names and not is_absent(parsed, "out"):
        if value(parsed, "as_tuple"):
            raise RuntimeError("nonzero does not support the out kwarg when as_tuple is True")
        return call_operator("aten::nonzero.out", self=tensor, out=value(parsed, "out"))
    if "as_tuple" in names and value(parsed, "as_tuple"):
        return tuple(call_operator("aten::nonzero_numpy", self=tensor))
    return call_operator("aten::nonzero", self=tensor)


def _size(receiver: Tensor, parsed: Parsed) -> Any:
    if is_absent(parsed, "dim"):
        return receiver._sizes
    dim = value(parsed, "dim")
    if isinstance(dim, str):
        return call_operator("aten::size.Dimname", self=receiver, dim=dim)
    place = wrap_dim(dim, receiver._dim(), scalar=False)
    return receiver._sizes[place]


def _stride(receiver: Tensor, parsed: Parsed) -> Any:
    if is_absent(parsed, "dim"):
        return receiver._strides
    dim = value(parsed, "dim")
    if isinstance(dim, str):
        return call_operator("aten::stride.Dimname", self=receiver, dim=dim)
    strides = receiver._strides
    return strides[wrap_dim(dim, len(strides), scalar=False)]


# --- functions that dispatch nothing ----------------------------------------------------------


def run_directly(receiver: Tensor | None, parsed: Parsed) -> Any:
    """What C++ answers from the tensor at hand."""
    tensor = value(parsed, "input") if receiver is None else receiver
    return DIRECT[parsed.signature.name](tensor)


def _conj(tensor: Tensor) -> Any:
    if not tensor.dtype.is_complex:
        return tensor
    if tensor.layout is strided:
        return call_operator("aten::_conj", self=tensor)
    if is_stopping():
        return call_operator("aten::conj_physical", self=tensor)
    return tensor._conjugated()  # which has no kernel for sparse tensors yet


def _retain_grad(tensor: Tensor) -> None:
    from mindtorch_v2.autograd.variable import retain_grad  # stands above the binding

    retain_grad(tensor)


DIRECT: Final[Mapping[str, Callable[[Tensor], Any]]] = {
    "conj": _conj,
    "retain_grad": _retain_grad,
    "is_floating_point": lambda tensor: tensor.dtype.is_floating_point,
    "is_complex": lambda tensor: tensor.dtype.is_complex,
    "is_signed": lambda tensor: tensor.dtype.is_signed,
    "is_conj": lambda tensor: bool(tensor._keys & functionality_bit(DispatchKey.Conjugate)),
    "is_neg": lambda tensor: bool(tensor._keys & functionality_bit(DispatchKey.Negative)),
    "_is_zerotensor": is_zero_tensor,
    "is_inference": lambda tensor: not tensor._keys
    & functionality_bit(DispatchKey.ADInplaceOrView),
}

READ_AT_ONCE: Final = frozenset(
    (
        *("dim", "ndimension", "numel", "nelement", "size", "stride", "is_contiguous"),
        *("is_floating_point", "is_complex", "is_signed", "is_inference"),
        *("is_conj", "is_neg", "_is_zerotensor"),
    )
)
"""Methods that without arguments only read what the tensor has: nothing can go wrong."""


def _numel(receiver: None, parsed: Parsed) -> int:
    return value(parsed, "input").numel()  # type: ignore[no-any-return]


def _get_device(receiver: None, parsed: Parsed) -> int:
    return value(parsed, "input").get_device()  # type: ignore[no-any-return]


def _range(receiver: None, parsed: Parsed) -> Any:
    warnings.warn(
        "torch.range is deprecated and will be removed in a future release because its behavior "
        "is inconsistent with Python's range builtin. Instead, use torch.arange, which produces "
        "values in [start, end).",
        UserWarning,
        stacklevel=level_of_python(),
    )
    numbers = {name: value(parsed, name) for name in ("step", "end", "start")}
    if not is_absent(parsed, "out"):
        check_out(Values(parsed), reads_default_layout=True)
        return call_operator("aten::range.out", **numbers, out=value(parsed, "out"))
    dtype = (
        enum_value(get_default_dtype()) if is_absent(parsed, "dtype") else value(parsed, "dtype")
    )
    device = Device("cpu") if is_absent(parsed, "device") else value(parsed, "device")
    maybe_initialize_device(device)
    check_linked(device)
    call = call_of_operator(
        "aten::range.step",
        **numbers,
        dtype=dtype,
        layout=value(parsed, "layout"),
        device=device,
    )
    made = new_variable(call)
    if value(parsed, "requires_grad"):
        made._set_requires_grad(True)
    return made


RUNNERS: Final[Mapping[str, Runner]] = {
    "to": _to,
    "cpu": _cpu,
    "contiguous": _contiguous,
    "is_contiguous": _is_contiguous,
    "copy_": _copy_,
    "nonzero": _nonzero,
    "size": _size,
    "stride": _stride,
    "numel": _numel,
    "get_device": _get_device,
    "range": _range,
    **{
        name: _to_dtype(DTYPES[{"char": "int8", "byte": "uint8"}.get(name, name)])
        for name in (
            *("float", "double", "half", "bfloat16", "long", "int", "short", "char", "byte"),
            *("bool", "cfloat", "cdouble"),
        )
    },
}
"""By the name of the C function."""
