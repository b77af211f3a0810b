"""``torch.utils.dlpack``: tensors as DLPack capsules, which other libraries take and give.

Mirrors ``torch/utils/dlpack.py``, ``Tensor.__dlpack__`` and ``Tensor.__dlpack_device__`` of
``torch/_tensor.py``, and ``torch/csrc/Module.cpp``.  What came with DLPack 1.0 came together: a
choice of device and of copying, and signatures with keywords.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from functools import cached_property
from typing import Any, Final

from mindtorch_v2 import profile
from mindtorch_v2._library.release import without
from mindtorch_v2.binding.python.function import builtin_function_or_method
from mindtorch_v2.binding.python.parser import ArgParser
from mindtorch_v2.binding.python.signature import ABSENT
from mindtorch_v2.overrides import handle_torch_function, has_torch_function
from mindtorch_v2.tensor import dlpack
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.dlpack import CPU, IS_VERSIONED, Refusal
from mindtorch_v2.tensor.dtype import strided
from mindtorch_v2.tensor.made_in_c import check_count
from mindtorch_v2.tensor.tensor import Tensor

__all__ = ["DLDeviceType", "from_dlpack", "to_dlpack"]


class DLDeviceType(IntEnum):
    """Numbers of ``dlpack.h`` for the devices that there are here."""

    kDLCPU = 1  # noqa: N815 (the header's names)
    kDLExtDev = 12  # noqa: N815


_ANY_STREAM: Final = -1
"""A stream to which nothing has to be synchronised."""
_VERSION: Final = (1, 0)


# --- torch._C -------------------------------------------------------------------------------------


def _to_dlpack_of_one(receiver: None, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    check_count("torch._C._to_dlpack", 1, tuple(args), kwargs)
    if not isinstance(args[0], Tensor):
        raise RuntimeError("data must be a Tensor")
    return dlpack.to_dlpack(args[0])


class _ToDLPack:
    """``_to_dlpack`` and ``_to_dlpack_versioned`` since DLPack 1.0."""

    def __init__(self, name: str, *, versioned: bool) -> None:
        self._text = f"{name}(Tensor data, *, IntArrayRef? dl_device=None, bool? copy=None)"
        self._versioned = versioned

    @cached_property
    def _parser(self) -> ArgParser:
        return ArgParser([self._text])

    def __call__(self, receiver: None, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        values = self._parser.parse(None, args, kwargs).values
        tensor, device, copy = (None if value is ABSENT else value for value in values)
        return dlpack.to_dlpack(_placed(tensor, device, copy), versioned=self._versioned)


def _placed(tensor: Any, device: Sequence[int] | None, copy: bool | None) -> Any:
    """``maybeCopyTensor``: the tensor where, and as, a consumer wants it."""
    if device is not None:
        if len(device) != 2:
            raise RuntimeError("dl_device must be either None or a tuple of ints")
        if device[0] != CPU:
            raise Refusal(f"Unsupported device_type: {device[0]}")
        if tensor.device.type != "cpu":
            if copy is False:
                raise ValueError(
                    f"cannot move (i.e. copy=False) tensor from {tensor.device} to cpu without "
                    "copying."
                )
            return tensor.to("cpu")
    return tensor.clone() if copy else tensor


def _from_capsule(receiver: None, args: Sequence[Any], kwargs: dict[str, Any]) -> Tensor:
    check_count("torch._C._from_dlpack", 1, tuple(args), kwargs)
    return dlpack.from_dlpack(args[0])


def _device_number(receiver: None, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[int, int]:
    check_count("torch._C._torchDeviceToDLDevice", 1, tuple(args), kwargs)
    if not isinstance(args[0], Device):
        raise RuntimeError("torchDeviceToDLDevice: expected torch.device argument.")
    if args[0].type != "cpu":
        raise Refusal(f"Cannot pack tensors on {args[0]}")
    return CPU, 0


def _functions() -> dict[str, Any]:
    found: dict[str, Any] = {"_from_dlpack": _from_capsule}
    if IS_VERSIONED:
        found["_to_dlpack"] = _ToDLPack("_to_dlpack", versioned=False)
        found["_to_dlpack_versioned"] = _ToDLPack("_to_dlpack_versioned", versioned=True)
        found["_torchDeviceToDLDevice"] = _device_number
    else:
        found["_to_dlpack"] = _to_dlpack_of_one
    return {
        name: builtin_function_or_method(name, call, "torch._C") for name, call in found.items()
    }


OF_C: Final = _functions()
"""What ``torch._C`` has of it."""
to_dlpack = OF_C["_to_dlpack"]


# --- in -------------------------------------------------------------------------------------------


def _from_any(ext_tensor: Any) -> Any:
    """A tensor that shares the memory of another library's array, or of a capsule."""
    if hasattr(ext_tensor, "__dlpack__"):
        ext_tensor.__dlpack_device__()
        ext_tensor = ext_tensor.__dlpack__()
    return dlpack.from_dlpack(ext_tensor)


def _from_any_versioned(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Any:
    """The same; a producer that knows no ``copy`` or no ``device`` is asked without."""
    if not hasattr(ext_tensor, "__dlpack__"):
        if device is not None or copy is not None:
            raise AssertionError(
                "device and copy kwargs not supported when ext_tensor is already a DLPack capsule."
            )
        return dlpack.from_dlpack(ext_tensor)
    wanted: dict[str, Any] = {"max_version": _VERSION}
    if copy is not None:
        wanted["copy"] = copy
    own_device = ext_tensor.__dlpack_device__()
    moves = False
    if device is not None:
        device = Device(device) if isinstance(device, str) else device
        if not isinstance(device, Device):
            raise AssertionError(f"from_dlpack: unsupported device type: {type(device)}")
        target = OF_C["_torchDeviceToDLDevice"](device)
        moves = own_device != target
        if moves and copy is False:
            raise ValueError(
                f"cannot move DLPack tensor from device {own_device} to {target} without copying. "
                "Set copy=None or copy=True."
            )
        if not moves:
            wanted["dl_device"] = target
    capsule, is_copied = _asked(ext_tensor, wanted)
    tensor: Any = dlpack.from_dlpack(capsule)
    if moves:
        return tensor.to(device)
    return tensor.clone() if copy and not is_copied else tensor


def _asked(producer: Any, wanted: dict[str, Any]) -> tuple[Any, bool]:
    """What a producer answers to the first question that it understands, and whether that had said
    what becomes of copies."""
    for unknown in ("", "max_version", "copy"):
        wanted.pop(unknown, None)
        try:
            capsule = producer.__dlpack__(**wanted)
        except TypeError:
            continue
        if capsule is not None:
            return capsule, unknown != "copy"
    wanted.pop("dl_device", None)
    return producer.__dlpack__(**wanted), False


from_dlpack = _from_any_versioned if IS_VERSIONED else _from_any
from_dlpack.__name__ = from_dlpack.__qualname__ = "from_dlpack"


# --- out ------------------------------------------------------------------------------------------


def _check_exportable(self: Any, stream: Any) -> None:
    """RuntimeError or BufferError, by the release, for what a capsule cannot tell; TypeError for
    a stream that is no number."""
    if self.requires_grad:
        raise Refusal("Can't export tensors that require gradient, use tensor.detach()")
    if self.is_conj():
        raise Refusal("Can't export tensors with the conjugate bit set")
    if self.layout is not strided:
        raise Refusal("Can't export tensors with layout other than torch.strided")
    if stream is not None and type(stream) is not int:
        raise TypeError("stream must be ``int`` or ``none``")


def _dlpack(self: Any, stream: Any = None) -> Any:
    """A capsule of the tensor's memory."""
    if has_torch_function((self,)):
        return handle_torch_function(_bound("__dlpack__"), (self,), self, stream)
    _check_exportable(self, stream)
    return to_dlpack(self)


_DECLARED: Final = profile.active().python_methods["__dlpack__"]
_STREAM: Final = None if "stream=None" in _DECLARED else _ANY_STREAM
_MAY_BE_READ_ONLY: Final = "read_only" in _DECLARED


def _dlpack_versioned(
    self: Any,
    *,
    stream: Any = _STREAM,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[IntEnum, int] | None = None,
    copy: bool | None = None,
    read_only: bool = False,
) -> Any:
    """A capsule of the tensor's memory, or of a copy; AssertionError for a stream of the CPU,
    NotImplementedError for a capsule that is there to be read alone."""
    if has_torch_function((self,)):
        options = {
            "stream": stream,
            "max_version": max_version,
            "dl_device": dl_device,
            "copy": copy,
        }
        options |= {"read_only": read_only} if _MAY_BE_READ_ONLY else {}
        return handle_torch_function(_bound("__dlpack__"), (self,), self, **options)
    _check_exportable(self, stream)
    if self.device.type == "cpu" and stream not in (None, _ANY_STREAM):
        raise AssertionError("stream should be None on cpu.")
    if read_only:
        raise NotImplementedError("mindtorch_v2 makes no capsules for reading alone yet")
    is_old = max_version is None or max_version[0] < 1
    name = "_to_dlpack" if is_old else "_to_dlpack_versioned"
    return OF_C[name](self, dl_device=dl_device, copy=copy)


def _dlpack_device(self: Any) -> tuple[DLDeviceType, int]:
    """The number of its device; ValueError for one that DLPack has none for."""
    if has_torch_function((self,)):
        found: tuple[DLDeviceType, int] = handle_torch_function(
            _bound("__dlpack_device__"), (self,), self
        )
        return found
    kinds = {"cpu": DLDeviceType.kDLCPU, "privateuseone": DLDeviceType.kDLExtDev}
    if self.device.type not in kinds:
        raise ValueError(f"Unknown device type {self.device.type} for Dlpack")
    if self.device.type == "cpu" and self.layout is strided:
        self.is_pinned()  # which nothing is here, but modes see that it is asked
    return kinds[self.device.type], self.device.index or 0


def _bound(name: str) -> Any:
    return getattr(Tensor, name)


_MODULE: Final = f"{__name__.partition('.')[0]}._tensor"
"""Where torch defines them."""


def bind() -> None:
    """Give tensors these methods."""
    own = _dlpack_versioned if IS_VERSIONED else _dlpack
    if IS_VERSIONED and not _MAY_BE_READ_ONLY:
        own = without(own, "read_only")
    for name, function in (("__dlpack__", own), ("__dlpack_device__", _dlpack_device)):
        function.__name__, function.__qualname__ = name, f"Tensor.{name}"
        function.__module__ = _MODULE
        setattr(Tensor, name, function)
