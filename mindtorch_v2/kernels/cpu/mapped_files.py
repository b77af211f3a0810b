"""Tensors of what is in a file.

Mirrors ``from_file`` in ``aten/src/ATen/native/TensorFactories.cpp`` and
``aten/src/ATen/MapAllocator.cpp``.  A file is read at once, and none is written to.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from mindtorch_v2.binding.values import dtype_of_value
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.tensor.default_dtype import get_default_dtype
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.tensor import Tensor


@kernel("aten::from_file")
def from_file(
    filename: str,
    shared: bool | None,
    size: int | None,
    dtype: int | None,
    layout: int | None,
    device: Device | None,
    pin_memory: bool | None,
) -> Tensor:
    if pin_memory:
        raise RuntimeError("tensors constructed from a file cannot be pinned")
    element = get_default_dtype() if dtype is None else dtype_of_value(dtype)
    count = (size or 0) * element.itemsize
    if count == 0:
        return new_tensor((0,), element, Device("cpu"))
    if shared:
        raise NotImplementedError("mindtorch_v2 has no storages that share a file yet")
    content = _read(filename, count)
    made = new_tensor((size or 0,), element, Device("cpu"))
    storage: Any = made.untyped_storage()
    storage._bytes[:] = np.frombuffer(content, np.uint8)
    storage._resizable = False
    return made


def _read(filename: str, count: int) -> bytes:
    try:
        with open(filename, "rb") as file:
            available = os.fstat(file.fileno()).st_size
            content = file.read(count) if count > 0 else b""
    except OSError as error:
        raise RuntimeError(
            f"unable to open file <{filename}> in read-only mode: {error.strerror} ({error.errno})"
        ) from None
    if count > available:
        raise RuntimeError(
            f"file <{filename}> size <{available}> is smaller than the required mapping size "
            f"<{count}>"
        )
    return content
