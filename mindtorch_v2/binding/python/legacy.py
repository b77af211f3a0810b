"""Legacy constructors and names of types: ``x.new(2, 3)``, ``x.type("torch.IntTensor")``.

Mirrors ``legacy_tensor_generic_ctor_new`` of ``torch/csrc/utils/tensor_new.cpp`` and
``torch/csrc/utils/tensor_types.cpp``.  A tensor by its address (``cdata``) is not made.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from mindtorch_v2 import profile
from mindtorch_v2.binding.convert import enum_value
from mindtorch_v2.binding.python import checks
from mindtorch_v2.binding.python.constructors import check_storage, empty, new_from_data
from mindtorch_v2.binding.python.errors import type_error
from mindtorch_v2.binding.python.function import Implementation
from mindtorch_v2.binding.python.manual import Runner, call_operator, converted, type_text, value
from mindtorch_v2.binding.python.parser import ArgParser, Parsed
from mindtorch_v2.binding.python.type_names import name_of_type, type_name
from mindtorch_v2.tensor.construct import is_sequence
from mindtorch_v2.tensor.default_dtype import get_default_dtype
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.dtype import DType, sparse_coo, strided
from mindtorch_v2.tensor.size import Size
from mindtorch_v2.tensor.support import CPP_NAMES
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.torch_function import handle_torch_function, is_mode_enabled

TYPE_META_NAMES: Final[dict[str, str]] = profile.active().argument_parser["type_meta_names"]
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


def _new(receiver: Tensor, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if is_mode_enabled() or checks.has_torch_function(receiver):
        method = Tensor.new  # type: ignore[attr-defined]
        return handle_torch_function(
            method, "torch.Tensor.new", [receiver], (receiver, *args), kwargs or None
        )
    if receiver.layout is sparse_coo:
        return _new_sparse(receiver, args, kwargs)
    parsed = _parser(_DENSE).parse(None, args, kwargs)
    kind = parsed.signature.parameters[0].name
    if kind == "storage":
        check_storage(parsed.values[0], receiver, CPP_NAMES[receiver.dtype])
        return empty([], **_options(receiver))
    if kind == "cdata":
        raise NotImplementedError("mindtorch_v2 makes no tensor of an address")
    if kind == "other":
        return _alias_of(receiver, parsed)
    _check_device(receiver, value(parsed, "device"))
    if kind == "device":
        return empty([0], **_options(receiver))
    if kind == "data" or _is_sequence_itself(parsed, args):
        return _from_sequence(receiver, parsed)
    return _of_size(receiver, parsed)


def _options(like: Tensor) -> dict[str, Any]:
    return {
        "dtype": enum_value(like.dtype),
        "layout": enum_value(strided),
        "device": Device(like.device.type),
    }


def _of_size(receiver: Tensor, parsed: Parsed) -> Any:
    device = value(parsed, "device")
    options = _options(receiver)
    size = value(parsed, "size")
    return empty(size, **(options if device is None else {**options, "device": device}))


def _is_sequence_itself(parsed: Parsed, args: tuple[Any, ...]) -> bool:
    """Whether what was taken for a size is a sequence of data: no Size, and given as it is."""
    given = parsed.values[0]
    return not isinstance(given, Size) and bool(args) and given is args[0]


def _from_sequence(receiver: Tensor, parsed: Parsed) -> Any:
    data = parsed.values[0]
    if not is_sequence(data):
        raise TypeError(f"new(): data must be a sequence (got {type_name(data)})")
    return new_from_data(
        data,
        enum_value(receiver.dtype),
        value(parsed, "device"),
        copy_tensors=False,
        copy_arrays=False,
        infer=False,
        default_device=Device(receiver.device.type),
    )


def _alias_of(receiver: Tensor, parsed: Parsed) -> Any:
    if len(parsed.signature.parameters) > 1:
        raise RuntimeError(
            "Legacy tensor new of the form tensor.new(tensor, device=device) is not supported.  "
            "Use torch.as_tensor(...) instead."
        )
    other = value(parsed, "other")
    if (other.dtype, other.layout, other.device.type) != (
        receiver.dtype,
        strided,
        receiver.device.type,
    ):
        expected = _options_text(receiver.dtype, Device(receiver.device.type), "Strided")
        layout = "Strided" if other.layout is strided else "Sparse"
        got = _options_text(other.dtype, other.device, layout)
        raise TypeError(f"expected {expected} (got {got})")
    return call_operator("aten::alias", self=other)


def _options_text(dtype: DType, device: Device, layout: str) -> str:
    """``operator<<`` of TensorOptions."""
    return (
        f"TensorOptions(dtype={TYPE_META_NAMES[repr(dtype)]}, device={device}, layout={layout}, "
        "requires_grad=false (default), pinned_memory=false (default), memory_format=(nullopt))"
    )


def _check_device(receiver: Tensor, device: Device | None) -> None:
    if device is not None and device.type != receiver.device.type:
        raise RuntimeError(
            f"legacy constructor expects device type: {receiver.device.type} but device type: "
            f"{device.type} was passed"
        )


def _new_sparse(receiver: Tensor, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``legacy_sparse_tensor_generic_ctor_new``."""
    parsed = _parser(_SPARSE).parse(None, args, kwargs)
    kind = parsed.signature.parameters[0].name
    if kind == "cdata":
        raise NotImplementedError("mindtorch_v2 makes no tensor of an address")
    _check_device(receiver, value(parsed, "device"))
    layout = {"layout": enum_value(sparse_coo)}
    if kind == "device":
        return empty([0], **{**_options(receiver), **layout})
    if kind == "indices":
        sized = parsed.signature.parameters[2].name == "size"
        given = {"indices": value(parsed, "indices"), "values": value(parsed, "values")}
        if sized:
            size = value(parsed, "size")
            return call_operator("aten::sparse_coo_tensor.indices_size", size=size, **given)
        return call_operator("aten::sparse_coo_tensor.indices", **given)
    if _is_sequence_itself(parsed, args):
        raise type_error(
            "SparseTensor.new(sequence) only accepts sizes.  Please use torch.sparse_coo_tensor() "
            "or construct a strided tensor and convert it to sparse via to_sparse."
        )
    return empty(value(parsed, "size"), **{**_options(receiver), **layout})


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
