"""Drives a runtime by ctypes, as plainly as can be: tensors from arrays, operators by name.

It is independent of ``mindtorch_v2.kernels.npu``, so that the simulator is tested by itself.
"""

from __future__ import annotations

import ctypes
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from ctypes import byref, c_bool, c_double, c_float, c_int, c_int8, c_int64, c_uint64, c_void_p
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

__all__ = ["D2D", "D2H", "DTYPES", "H2D", "AclError", "Runtime", "Tensor", "bfloat16"]

#: numpy's name of a dtype (bf16 has none: see `bfloat16`), and aclDataType.
DTYPES: Final = {
    "float32": 0, "float16": 1, "int8": 2, "int32": 3, "uint8": 4, "int16": 6, "uint16": 7,
    "uint32": 8, "int64": 9, "uint64": 10, "float64": 11, "bool": 12, "complex64": 16,
    "complex128": 17, "bfloat16": 27,
}  # fmt: skip
H2D, D2H, D2D = 1, 2, 3


class AclError(Exception):
    """A call answered something else than 0."""

    def __init__(self, function: str, status: int, message: str) -> None:
        super().__init__(f"{function}: {status}: {message}")
        self.status = status


def bfloat16(values: Any) -> np.ndarray:
    """The bits of bf16 numbers, rounded to nearest even, as uint16."""
    bits = np.asarray(values, np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def from_bfloat16(bits: np.ndarray) -> np.ndarray:
    return (bits.astype(np.uint32) << 16).view(np.float32)


@dataclass
class Tensor:
    """A tensor on the device: its memory, its view, its descriptor."""

    runtime: Runtime
    block: int | None
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    count: int
    dtype: str
    handle: int | None = None

    def describe(self) -> int:
        """The descriptor, made now if it is not there."""
        if self.handle is None:
            dims = (c_int64 * len(self.shape))(*self.shape)
            strides = (c_int64 * len(self.strides))(*self.strides)
            storage = (c_int64 * 1)(self.count)
            self.handle = self.runtime.acl.aclCreateTensor(
                dims, len(self.shape), DTYPES[self.dtype], strides, self.offset, 2, storage, 1,
                self.block,
            )  # fmt: skip
        assert self.handle, self.runtime.message()
        return self.handle

    def read(self) -> np.ndarray:
        """What it holds, after a synchronise, as a numpy array (bf16: as float32)."""
        self.runtime.synchronize()
        bits = np.dtype("uint16" if self.dtype == "bfloat16" else self.dtype)
        storage = np.zeros(self.count, bits)
        if self.block is not None:
            self.runtime.copy(storage.ctypes.data, self.block, storage.nbytes, D2H)
        strides = [stride * bits.itemsize for stride in self.strides]
        view = np.lib.stride_tricks.as_strided(storage[self.offset :], self.shape, strides)
        return from_bfloat16(view.copy()) if self.dtype == "bfloat16" else view.copy()


@dataclass
class Runtime:
    """The libraries of an installation, with a device set and nothing else."""

    root: Path
    acl: Any = field(init=False)
    blocks: list[int] = field(default_factory=list)
    tensors: list[Tensor] = field(default_factory=list)

    def __post_init__(self) -> None:
        for name in ("libascendcl.so", "libnnopbase.so", "libopapi.so"):
            library = ctypes.CDLL(str(self.root / "lib64" / name), mode=ctypes.RTLD_GLOBAL)
        self.acl = library  # its handle finds the symbols of what it links
        for name in ("Tensor", "Scalar", "IntArray", "BoolArray", "TensorList"):
            getattr(library, f"aclCreate{name}").restype = c_void_p
            getattr(library, f"aclDestroy{name}").argtypes = [c_void_p]
        library.aclCreateTensor.argtypes = [
            c_void_p, c_uint64, c_int, c_void_p, c_int64, c_int, c_void_p, c_uint64, c_void_p,
        ]  # fmt: skip
        library.aclCreateScalar.argtypes = [c_void_p, c_int]
        for name in ("aclCreateIntArray", "aclCreateBoolArray", "aclCreateTensorList"):
            getattr(library, name).argtypes = [c_void_p, c_uint64]
        for name in ("aclGetRecentErrMsg", "aclrtGetSocName", "sim_violations", "sim_take_open"):
            getattr(library, name).restype = ctypes.c_char_p
        library.sim_config.argtypes = [ctypes.c_char_p, c_int64]
        library.sim_count.argtypes = [ctypes.c_char_p]
        library.sim_count.restype = c_int64

    # --- the simulator's own -------------------------------------------------------------

    def start(self, **settings: int) -> None:
        """Everything as at the beginning, then these settings, then device 0."""
        self.acl.sim_reset()
        self.blocks.clear()
        self.tensors.clear()
        for key, value in settings.items():
            self.config(key, value)
        self.call("aclInit", None)
        self.call("aclrtSetDevice", 0)

    def config(self, key: str, value: int) -> None:
        assert self.acl.sim_config(key.encode(), value) == 0, key

    def count(self, name: str) -> int:
        return int(self.acl.sim_count(name.encode()))

    def violations(self) -> list[dict[str, Any]]:
        """Broken rules since the last time this was asked."""
        found: list[dict[str, Any]] = json.loads(self.acl.sim_violations())
        self.acl.sim_clear_violations()
        return found

    def open(self) -> list[str]:
        """What documents leave to a device and happened since the last time this was asked."""
        self.synchronize()
        return bytes(self.acl.sim_take_open()).decode().split()

    def rules(self) -> list[str]:
        return [violation["rule"] for violation in self.violations()]

    # --- calls ---------------------------------------------------------------------------

    def message(self) -> str:
        text = self.acl.aclGetRecentErrMsg()
        return "" if text is None else text.decode()

    def status(self, name: str, *arguments: Any) -> int:
        """What a function answers; pointers are given as c_void_p or byref."""
        return int(getattr(self.acl, name)(*arguments))

    def call(self, name: str, *arguments: Any) -> None:
        status = self.status(name, *arguments)
        if status != 0:
            raise AclError(name, status, self.message())

    def made(self, name: str, *arguments: Any) -> int:
        """The handle or address that a function writes to its first argument."""
        result = c_void_p()
        self.call(name, byref(result), *arguments)
        assert result.value
        return result.value

    def synchronize(self) -> None:
        self.call("aclrtSynchronizeDevice")

    def copy(self, to: int, source: int, count: int, kind: int) -> None:
        if count:
            sizes = ctypes.c_size_t(count)
            self.call("aclrtMemcpy", c_void_p(to), sizes, c_void_p(source), sizes, kind)

    def malloc(self, size: int) -> int:
        address = self.made("aclrtMalloc", ctypes.c_size_t(size), 0)
        self.blocks.append(address)
        return address

    # --- tensors -------------------------------------------------------------------------

    def tensor(self, array: Any, dtype: str | None = None) -> Tensor:
        """A tensor with an array's values and strides (of its base, where it is a view)."""
        array = np.asarray(array)
        name = dtype or array.dtype.name
        base = array if array.base is None or array.size == 0 else array.base
        if not isinstance(base, np.ndarray) or base.dtype != array.dtype:
            base = array = array.copy()
        storage = np.ascontiguousarray(base).ravel()
        offset = 0
        if array is not base and base.flags.c_contiguous:
            start = array.__array_interface__["data"][0] - base.__array_interface__["data"][0]
            offset = start // array.itemsize
            strides = tuple(stride // array.itemsize for stride in array.strides)
        else:
            array = np.ascontiguousarray(array).reshape(array.shape)
            storage = array.ravel()
            strides = tuple(stride // array.itemsize for stride in array.strides)
        block = self.malloc(max(storage.nbytes, 1)) if storage.size else None
        if block is not None:
            self.copy(block, storage.ctypes.data, storage.nbytes, H2D)
        made = Tensor(self, block, array.shape, strides, offset, storage.size, name)
        self.tensors.append(made)
        return made

    def empty(self, shape: Sequence[int], dtype: str = "float32") -> Tensor:
        bits = "uint16" if dtype == "bfloat16" else dtype
        return self.tensor(np.zeros(tuple(shape), bits), dtype)

    # --- descriptors ---------------------------------------------------------------------

    def scalar(self, value: Any) -> int:
        """An aclScalar of the kind that torch_npu makes for a Python number."""
        if isinstance(value, bool):
            held, dtype = ctypes.cast(byref(c_bool(value)), c_void_p), DTYPES["bool"]
        elif isinstance(value, int):
            held, dtype = ctypes.cast(byref(c_int64(value)), c_void_p), DTYPES["int64"]
        elif isinstance(value, complex):
            pair = (c_double * 2)(value.real, value.imag)
            held, dtype = ctypes.cast(pair, c_void_p), DTYPES["complex128"]
        else:
            held, dtype = ctypes.cast(byref(c_double(value)), c_void_p), DTYPES["float64"]
        return int(self.acl.aclCreateScalar(held, dtype))

    def ints(self, values: Sequence[int]) -> int:
        return int(self.acl.aclCreateIntArray((c_int64 * len(values))(*values), len(values)))

    def bools(self, values: Sequence[bool]) -> int:
        return int(self.acl.aclCreateBoolArray((c_bool * len(values))(*values), len(values)))

    def tensor_list(self, tensors: Sequence[Tensor]) -> int:
        handles = (c_void_p * len(tensors))(*[tensor.describe() for tensor in tensors])
        for tensor in tensors:
            tensor.handle = None  # the list's now
        return int(self.acl.aclCreateTensorList(handles, len(tensors)))

    # --- operators -----------------------------------------------------------------------

    def plan(self, name: str, *arguments: Any) -> tuple[int, int]:
        """Phase 1 with raw arguments: workspace size and executor."""
        size, executor = c_uint64(), c_void_p()
        self.call(f"aclnn{name}GetWorkspaceSize", *arguments, byref(size), byref(executor))
        assert executor.value
        return size.value, executor.value

    def run(self, name: str, size: int, executor: int, stream: int | None = None) -> None:
        """Phase 2 with as much workspace as was asked for, freed after a synchronise."""
        workspace = self.malloc(size) if size else None
        self.call(f"aclnn{name}", c_void_p(workspace), c_uint64(size), c_void_p(executor),
                  c_void_p(stream))  # fmt: skip
        if workspace is not None:
            self.call("aclrtSynchronizeStream", c_void_p(stream))
            self.free(workspace)

    def free(self, block: int) -> None:
        self.blocks.remove(block)
        self.call("aclrtFree", c_void_p(block))

    @contextmanager
    def arguments(self, given: Sequence[Any]) -> Iterator[list[Any]]:
        """Given values as what the ABI takes; what was made for them is destroyed after.

        Tensors, lists of tensors, None, `S` (scalars), lists of bools or ints, ctypes values,
        int (int64_t), float (double), bool, str (char*).
        """
        made: list[tuple[str, int]] = []

        def keep(kind: str, handle: int) -> c_void_p:
            made.append((kind, handle))
            return c_void_p(handle)

        def one(value: Any) -> Any:
            if value is None:
                return c_void_p()
            if isinstance(value, Tensor):
                return c_void_p(value.describe())
            if isinstance(value, S):
                return keep("Scalar", self.scalar(value.value))
            if isinstance(value, list) and value and isinstance(value[0], Tensor):
                return keep("TensorList", self.tensor_list(value))
            if isinstance(value, list) and value and isinstance(value[0], bool):
                return keep("BoolArray", self.bools(value))
            if isinstance(value, (list, tuple)):
                return keep("IntArray", self.ints(value))
            if isinstance(value, bool):
                return c_bool(value)
            if isinstance(value, int):
                return c_int64(value)
            if isinstance(value, float):
                return c_double(value)
            if isinstance(value, str):
                return ctypes.c_char_p(value.encode())
            return value

        try:
            yield [one(value) for value in given]
        finally:
            for kind, handle in made:
                self.call(f"aclDestroy{kind}", c_void_p(handle))

    def op(self, name: str, *given: Any) -> None:
        """An operator from plan to queue."""
        with self.arguments(given) as arguments:
            self.run(name, *self.plan(name, *arguments))

    def refusal(self, name: str, *given: Any) -> int:
        """The status with which phase 1 refuses."""
        try:
            with self.arguments(given) as arguments:
                self.plan(name, *arguments)
        except AclError as error:
            return error.status
        raise AssertionError(f"aclnn{name} took {given}")

    def finish(self) -> None:
        """Frees all that this object made, and ends the runtime."""
        self.synchronize()
        for tensor in self.tensors:
            if tensor.handle is not None:
                self.call("aclDestroyTensor", c_void_p(tensor.handle))
        for block in self.blocks:
            self.call("aclrtFree", c_void_p(block))
        self.call("aclFinalize")


@dataclass(frozen=True)
class S:
    """A number that is passed as an aclScalar."""

    value: bool | int | float | complex


I8: Final = c_int8
F32: Final = c_float
