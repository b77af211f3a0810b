"""Operators as C++ calls them: ``at::add(x, y)`` and ``x.add(y)``, by name.

Which overload is meant follows from the arguments, as for ``torch.ops.aten.add``; every call goes
through the dispatcher.  Mirrors the functions and methods of ``ATen/Functions.h`` and
``TensorBody.h``, of the latter also what they answer without an operator.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final, NamedTuple

from mindtorch_v2.binding.operators import Call, Operator, Packet, find_packet, takes_numbers
from mindtorch_v2.kernels.elementwise.promotion import Operand, number_dtype
from mindtorch_v2.tensor import geometry
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.dtype import (
    MEMORY_FORMATS,
    DType,
    Layout,
    memory_format,
    sparse_coo,
    strided,
)
from mindtorch_v2.tensor.geometry import numel, wrap_dim
from mindtorch_v2.tensor.tensor import Tensor

CONTIGUOUS: Final = MEMORY_FORMATS["contiguous_format"]


class UndefinedTensor:
    """What an optional holds that has a value and no tensor; anywhere else it is None."""


UNDEFINED: Final = UndefinedTensor()


class TensorOptions(NamedTuple):
    """``at::TensorOptions``: what a new tensor shall have."""

    dtype: DType
    layout: Layout
    device: Device

    @classmethod
    def of(cls, tensor: Operand) -> TensorOptions:
        """Those of a tensor, or the one that wraps a number."""
        if not isinstance(tensor, Tensor):
            return cls(number_dtype(tensor), strided, Device._made("cpu"))
        device = tensor._device  # which its class is asked for first
        return cls(tensor._dtype, tensor._layout, device)


class UnknownFunctionError(NotImplementedError):
    """A formula needs a function that there is not."""


@cache
def _packet(name: str) -> Packet | None:
    return find_packet(f"aten::{name}")


def has_operator(name: str) -> bool:
    return _packet(name) is not None


def call(name: str, *args: Any, **kwargs: Any) -> Any:
    """The operator of a name; options and a memory format become arguments of that name.

    None is an undefined tensor where it is given for one, and no tensor where it is the default.
    """
    packet = _packet(name)
    if packet is None:
        raise UnknownFunctionError(f"mindtorch_v2 has no function {name} for backward yet")
    plain = []
    for arg in args:
        if isinstance(arg, TensorOptions):
            kwargs.update(arg._asdict())
        elif isinstance(arg, memory_format):
            kwargs["memory_format"] = arg
        else:
            plain.append(arg)
    names = _keywords(name, len(plain))
    if names:
        kwargs.update(zip(names, plain[-len(names) :], strict=True))
        plain = plain[: -len(names)]
    of_number = _of_number(name) if len(plain) == 2 and is_number(plain[1]) else None
    return _handing_on((of_number or packet).bind(plain, kwargs), len(plain), kwargs).run()


@cache
def _of_number(name: str) -> Operator | None:
    """The overload that C++ takes for a tensor and a number, where Python's operators make a tensor
    of the number: an arithmetic one."""
    packet = _packet(name)
    assert packet is not None
    return packet.overloads.get("Scalar") if takes_numbers(f"aten::{name}") else None


def _handing_on(call: Call, count: int, kwargs: Mapping[str, Any]) -> Call:
    """The call, of whose first ``count`` arguments and ``kwargs`` no tensor is an undefined one."""
    operator, stack = call
    missing = [place for place in operator.optional_tensors if stack[place] is None]
    if not missing:
        return call
    names = [each.name for each in operator.schema.arguments]
    given = frozenset(place for place in missing if place < count or names[place] in kwargs)
    return call._replace(operator=operator.handing_on(given))


@cache
def _keywords(name: str, count: int) -> tuple[str, ...]:
    """The names of the last of ``count`` arguments, if no overload takes so many by position.

    In C++ what a schema has after its asterisk is passed by position too.
    """
    packet = _packet(name)
    assert packet is not None
    found: tuple[str, ...] = ()
    for operator in packet.overloads.values():
        names = [each.name for each in operator.schema.arguments if not each.is_out]
        positional = sum(not each.kwarg_only for each in operator.schema.arguments)
        if positional >= count:
            return ()
        if not found and len(names) >= count:
            found = tuple(names[positional:count])
    return found


def method(receiver: Any, name: str, *args: Any) -> Any:
    """``receiver.name(args)``, whatever the receiver is in C++."""
    own = OF_ANYTHING.get(name)
    if own is not None:
        return own(receiver, *args)
    if isinstance(receiver, Tensor):
        of_tensor = _OF_TENSORS.get(name)
        if of_tensor is not None:
            return of_tensor(receiver, *args)
        return call(name, receiver, *args)
    of_value = _OF_VALUES.get(name)
    if of_value is not None:
        return of_value(receiver, *args)
    if receiver is None or is_number(receiver):  # tensors in C++: undefined, or wrapping it
        return call(name, receiver, *args)
    raise UnknownFunctionError(f"mindtorch_v2 knows no method {name} of C++'s values yet")


def is_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float, complex))


def scalar_type(value: Any) -> DType:
    """Of a tensor, or the one that wraps a number."""
    return value._dtype if isinstance(value, Tensor) else number_dtype(value)


def sizes(value: Any) -> tuple[int, ...]:
    if isinstance(value, Tensor):
        return tuple(value._sizes)
    return (0,) if value is UNDEFINED else ()


def dim(value: Any) -> int:
    return len(sizes(value))


def conj(value: Any) -> Any:
    """Of a real tensor itself."""
    if isinstance(value, Tensor):
        return call("_conj", value) if value._dtype.is_complex else value
    return value.conjugate() if isinstance(value, complex) else value


def size(value: Any, place: int) -> int:
    found = sizes(value)
    return found[wrap_dim(place, len(found), scalar=False)]


def suggest_memory_format(tensor: Tensor) -> memory_format:
    return geometry.suggest_memory_format(tensor._sizes, tensor._strides)


def _same(value: Any) -> Any:
    return value


OF_ANYTHING: Final[Mapping[str, Callable[..., Any]]] = {
    "defined": lambda value: value is not None and value is not UNDEFINED,
    "has_value": lambda value: value is not None,
    "value": _same,
    "value_or": lambda value, default: default if value is None else value,
    "conj": conj,
    "scalar_type": scalar_type,
    "sizes": sizes,
    "sym_sizes": sizes,
    "dim": dim,
    "numel": lambda value: numel(sizes(value)),
    "sym_numel": lambda value: numel(sizes(value)),
    "sym_size": size,
    "is_complex": lambda value: scalar_type(value).is_complex,
}

_OF_TENSORS: Final[Mapping[str, Callable[..., Any]]] = {
    "options": TensorOptions.of,
    "sym_strides": lambda tensor: tensor._strides,
    "sym_storage_offset": lambda tensor: tensor._storage_offset,
    "requires_grad": lambda tensor: tensor._requires_grad(),
    "layout": lambda tensor: tensor._layout,
    "device": lambda tensor: tensor._device,
    "dtype": lambda tensor: tensor._dtype,
    "is_conj": lambda tensor: tensor._is_conj(),
    "is_sparse": lambda tensor: tensor._layout is sparse_coo,
    "is_cpu": lambda tensor: tensor.is_cpu,
    "is_xpu": lambda tensor: False,
    "suggest_memory_format": suggest_memory_format,
    "neg": lambda tensor: call("neg", tensor),
}

_OF_VALUES: Final[Mapping[str, Callable[..., Any]]] = {
    "is_cpu": lambda device: device.type == "cpu",
    "is_xpu": lambda device: False,
    "toDouble": float,
    "toFloat": float,
    "toComplexDouble": complex,
    "isComplex": lambda number: isinstance(number, complex),
    "size": len,
    "vec": _same,
    "back": lambda values: values[-1],
    "dtype": lambda options, dtype: options._replace(dtype=dtype),
    "equal": lambda one, two: one == two,
    "zeros": lambda info: info.zeros(),
}
