"""Legacy constructors and names of types: ``torch.FloatTensor(2)``, ``x.new(2)``, ``x.type("…")``.

Mirrors ``legacy_tensor_generic_ctor_new`` of ``torch/csrc/utils/tensor_new.cpp`` and
``torch/csrc/utils/tensor_types.cpp``.  A tensor by its address (``cdata``) is not made.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final, NamedTuple

from mindtorch_v2.binding.convert import enum_value
from mindtorch_v2.binding.python.constructors import (
    BY_NUMBER,
    check_has_device,
    check_storage,
    empty,
    new_from_data,
)
from mindtorch_v2.binding.python.errors import type_error
from mindtorch_v2.binding.python.function import Implementation
from mindtorch_v2.binding.python.manual import (
    Runner,
    call_operator,
    converted,
    type_text,
    value,
)
from mindtorch_v2.binding.python.parser import ArgParser, Parsed
from mindtorch_v2.binding.python.seen import operators_are_seen
from mindtorch_v2.binding.python.type_names import name_of_type, type_name
from mindtorch_v2.context import fills_uninitialized_memory
from mindtorch_v2.tensor.construct import is_sequence, tensor_from_data
from mindtorch_v2.tensor.default_dtype import get_default_dtype
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.dtype import DType, Layout, sparse_coo, strided
from mindtorch_v2.tensor.geometry import check_size_nonnegative
from mindtorch_v2.tensor.size import Size
from mindtorch_v2.tensor.support import CPP_NAMES, TYPE_NAMES
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.warn import warn_once

"""C++ types of elements as the compiler spells them, by dtype."""

_DENSE: Final = (
    "new(*, Device? device=None)",
    "new(Storage storage)",
    "new(*, int64_t cdata)|hidden",
    "new(Tensor other)",
    "new(Tensor other, *, Device? device=None)|hidden",
    "new(SymIntArrayRef size, *, Device? device=None)",
    "new(PyObject* data, *, Device? device=None)",
)
_SPARSE: Final = (
    "new(*, Device? device=None)",
    "new(*, int64_t cdata)|hidden",
    "new(Tensor indices, Tensor values, *, Device? device=None)",
    "new(Tensor indices, Tensor values, IntArrayRef size, *, Device? device=None)",
    "new(SymIntArrayRef size, *, Device? device=None)",
)
"""What the library's strings cannot say is which of them a parser has."""

_parser: Final = cache(ArgParser)


class Kind(NamedTuple):
    """What is made: tensors of one dtype, layout and device type.

    ``of`` is what makes them: ``"torch.Tensor"``, a ``"type"`` such as ``torch.FloatTensor``, or
    the method ``"new"`` (``CtorOrNew``).
    """

    of: str
    dtype: DType
    layout: Layout
    device: str

    def options(self) -> dict[str, Any]:
        return {
            "dtype": enum_value(self.dtype),
            "layout": enum_value(self.layout),
            "device": Device(self.device),
        }


def make(kind: Kind, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A tensor of a kind, from a size, data, a storage or another tensor."""
    if kind.layout is sparse_coo:
        return _sparse(kind, args, kwargs)
    parsed = _parser(_DENSE).parse(None, args, kwargs)
    first = parsed.signature.parameters[0].name
    if first == "storage":
        return _around_storage(kind, parsed)
    if first == "cdata":
        raise NotImplementedError("mindtorch_v2 makes no tensor of an address")
    if first == "other":
        return _alias_of(kind, parsed)
    _check_device(kind, value(parsed, "device"))
    if first == "device":
        return _empty([0], kind.options())
    if first == "data" or _is_sequence_itself(parsed, args):
        return _from_sequence(kind, parsed)
    return _of_size(kind, parsed, value(parsed, "size"))


def _empty(size: list[Any], options: dict[str, Any]) -> Any:
    if operators_are_seen() or fills_uninitialized_memory():
        return empty(size, **options)
    check_size_nonnegative(size)
    layout = sparse_coo if options["layout"] == enum_value(sparse_coo) else strided
    return Tensor._make(size, BY_NUMBER[options["dtype"]], layout, options["device"])


def _around_storage(kind: Kind, parsed: Parsed) -> Any:
    storage = parsed.values[0]
    check_storage(storage, kind.dtype, CPP_NAMES[kind.dtype])
    untyped = value(parsed, "storage")
    if operators_are_seen():
        return empty([], **kind.options())
    count = len(untyped) // kind.dtype.itemsize
    made = Tensor._make((count,), kind.dtype, storage=untyped)
    made._versions.bump()  # an empty tensor that is set to the storage
    return made


def _of_size(kind: Kind, parsed: Parsed, size: list[Any]) -> Any:
    device, options = value(parsed, "device"), kind.options()
    return _empty(size, options if device is None else {**options, "device": device})


def _is_sequence_itself(parsed: Parsed, args: tuple[Any, ...]) -> bool:
    """Whether what was taken for a size is a sequence of data: no Size, and given as it is."""
    given = parsed.values[0]
    return not isinstance(given, Size) and bool(args) and given is args[0]


def _from_sequence(kind: Kind, parsed: Parsed) -> Any:
    data = parsed.values[0]
    if not is_sequence(data):
        raise TypeError(f"new(): data must be a sequence (got {type_name(data)})")
    device = value(parsed, "device")
    if not operators_are_seen():
        if isinstance(data, (str, bytes)):
            raise TypeError(f"new(): invalid data type '{type_name(data)}'")
        return tensor_from_data(data, kind.dtype, device or Device(kind.device), False, False)
    return new_from_data(
        data,
        enum_value(kind.dtype),
        device,
        copy_tensors=False,
        copy_arrays=False,
        infer=False,
        default_device=Device(kind.device),
    )


_WITH_DEVICE: Final = {
    "new": "Legacy tensor new of the form tensor.new(tensor, device=device) is not supported.  "
    "Use torch.as_tensor(...) instead.",
    "type": "Legacy tensor constructor of the form torch.Tensor(tensor, device=device) is not "
    "supported.  Use torch.tensor(...) or torch.as_tensor(...) instead.",
}


def _alias_of(kind: Kind, parsed: Parsed) -> Any:
    if len(parsed.signature.parameters) > 1:
        raise RuntimeError(_WITH_DEVICE["new" if kind.of == "new" else "type"])
    other = value(parsed, "other")
    given = (other.dtype, other.layout, other.device.type)
    if kind.of != "torch.Tensor" and given != (kind.dtype, strided, kind.device):
        expected = _options_text(kind.dtype, Device(kind.device), "Strided")
        layout = "Strided" if other.layout is strided else "Sparse"
        got = _options_text(other.dtype, other.device, layout)
        raise TypeError(f"expected {expected} (got {got})")
    return call_operator("aten::alias", self=other)


def _options_text(dtype: DType, device: Device, layout: str) -> str:
    """``operator<<`` of TensorOptions."""
    return (
        f"TensorOptions(dtype={TYPE_NAMES[dtype]}, device={device}, layout={layout}, "
        "requires_grad=false (default), pinned_memory=false (default), memory_format=(nullopt))"
    )


def _check_device(kind: Kind, device: Device | None) -> None:
    if device is not None and device.type != kind.device:
        raise RuntimeError(
            f"legacy constructor expects device type: {kind.device} but device type: "
            f"{device.type} was passed"
        )


def _sparse(kind: Kind, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``legacy_sparse_tensor_generic_ctor_new``."""
    parsed = _parser(_SPARSE).parse(None, args, kwargs)
    first = parsed.signature.parameters[0].name
    names = [parameter.name for parameter in parsed.signature.parameters]
    form = "indices_size" if first == "indices" and "size" in names else first
    if first != "size":
        _warn_of_type(kind, form)
    if first == "cdata":
        raise NotImplementedError("mindtorch_v2 makes no tensor of an address")
    _check_device(kind, value(parsed, "device"))
    if first == "device":
        return _of_size(kind, parsed, [0])  # on the device, which a dense one takes no notice of
    if first == "indices":
        size = {"size": value(parsed, "size")} if form == "indices_size" else {}
        given = {name: value(parsed, name) for name in ("values", "indices")}
        return call_operator(f"aten::sparse_coo_tensor.{form}", **size, **given)
    if _is_sequence_itself(parsed, args):
        method = "SparseTensor.new" if kind.of == "new" else "torch.sparse.SparseTensor"
        raise type_error(
            f"{method}(sequence) only accepts sizes.  Please use torch.sparse_coo_tensor() "
            "or construct a strided tensor and convert it to sparse via to_sparse."
        )
    _warn_of_type(kind, form)
    return _of_size(kind, parsed, value(parsed, "size"))


_INSTEAD: Final = {
    "device": ("()", "((0,), dtype=)"),
    "cdata": ("(cdata=x._cdata)", "(x._indices(), x._values(), x.shape)"),
    "indices": ("(indices, values, *, device=)", "(indices, values, dtype=, device=)"),
    "indices_size": (
        "(indices, values, shape, *, device=)",
        "(indices, values, shape, dtype=, device=)",
    ),
    "size": ("(shape, *, device=)", "(shape, dtype=, device=)"),
}
"""Form of a call of a type of sparse tensors to how it is written, and what to write instead."""


def _warn_of_type(kind: Kind, form: str) -> None:
    if kind.of == "type":
        written, instead = _INSTEAD[form]
        warn_once(
            f"legacy_sparse_tensor_generic_ctor_new({form})",
            f"torch.sparse.SparseTensor{written} is deprecated.  Please use "
            f"torch.sparse_coo_tensor{instead}.",
        )


# --- x.new() and torch.Tensor() ---------------------------------------------------------------


def _new(receiver: Tensor, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A tensor like ``receiver``."""
    check_has_device(receiver)
    layout = sparse_coo if receiver._layout is sparse_coo else strided
    return make(Kind("new", receiver._dtype, layout, receiver._device.type), args, kwargs)


def new_tensor(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``base_tensor_ctor``: what ``torch.Tensor(…)`` makes."""
    return make(Kind("torch.Tensor", get_default_dtype(), strided, "cpu"), args, kwargs)


# --- names of types ---------------------------------------------------------------------------


def _type(receiver: Tensor, parsed: Parsed) -> Any:
    """The name of its type, or a conversion to one that a dtype, a type or its name says."""
    wanted = value(parsed, "dtype")
    if wanted is None:
        return type_text(receiver)
    memory_format = value(parsed, "memory_format")
    non_blocking = value(parsed, "non_blocking" if parsed.chosen == 0 else "async")
    if isinstance(wanted, DType):
        return converted(receiver, None, enum_value(wanted), non_blocking, False, memory_format)
    device, dtype = _options_named(_type_said(wanted))
    where = receiver.device if device.type == receiver.device.type else device
    return converted(receiver, where, enum_value(dtype), non_blocking, False, memory_format)


def _type_said(wanted: Any) -> str:
    """The name of a type, or the name itself; TypeError for anything else."""
    if isinstance(wanted, type):
        return "torch.Tensor" if wanted is Tensor else name_of_type(wanted)
    if isinstance(wanted, bytes):
        return wanted.decode("utf-8", "surrogateescape")
    if isinstance(wanted, str):
        return wanted
    raise type_error("dtype must be a type, str, or dtype object")


def _options_named(name: str) -> tuple[Device, DType]:
    """``options_from_string``; ValueError for a type that there is not."""
    if name == "torch.Tensor":
        return Device("cpu"), get_default_dtype()
    found = _BY_TYPE_NAME.get(name)
    if found is None:
        raise ValueError(f"invalid type: '{name}'")
    return Device("cpu"), found


_BY_TYPE_NAME: Final = {
    f"torch.{where}{name}Tensor": dtype
    for where in ("", "sparse.")
    for dtype, name in CPP_NAMES.items()
}

RUNNERS: Final[Mapping[str, Runner]] = {"type": _type}
"""By the name of the C function."""

WITHOUT_PARSER: Final[Mapping[str, Implementation]] = {"new": _new}
"""Methods that choose a parser themselves."""
