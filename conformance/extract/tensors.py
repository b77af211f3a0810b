"""Extracts what a tensor may be: dtypes, layouts, memory formats, qschemes, and which backend
serves which.

Mirrors c10/core/ScalarType.h, Layout.h, MemoryFormat.h and TensorOptions.h.
"""

import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from conformance.extract import ExtractionError


def extract() -> dict[str, Any]:
    """The section ``tensors.json``."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # sparse layouts and quantized dtypes are "in beta"
        return {
            "dtypes": [describe_dtype(dtype) for dtype in dtypes()],
            "python_dtypes": {
                kind.__name__: str(dtype)
                for kind in (float, bool, int, complex)
                if (dtype := stands_for(kind))
            },
            "to_complex": {str(dtype): str(to) for dtype in dtypes() if (to := to_complex(dtype))},
            "to_real": {str(dtype): str(dtype.to_real()) for dtype in dtypes() if dtype.is_complex},
            "layouts": aliases(torch.layout),
            "memory_formats": aliases(torch.memory_format),
            "qschemes": aliases(torch.qscheme),
            "mkldnn_dtypes": [str(dtype) for dtype in dtypes() if takes_mkldnn(dtype)],
            "backend_devices": backend_devices(),
        }


def aliases(kind: type) -> dict[str, str]:
    """Attribute of torch to the repr of what it holds, for every instance of ``kind``."""
    return {name: repr(value) for name, value in vars(torch).items() if isinstance(value, kind)}


def dtypes() -> list[torch.dtype]:
    """Every dtype once, in the order of torch's attributes."""
    found = {str(value): value for value in vars(torch).values() if isinstance(value, torch.dtype)}
    return [found[name] for name in sorted(found)]


def describe_dtype(dtype: torch.dtype) -> dict[str, Any]:
    """What a dtype says of itself; a question that raises is answered by its message."""
    return {
        "name": str(dtype),
        "aliases": sorted(name for name, value in vars(torch).items() if value is dtype),
        "itemsize": dtype.itemsize,
        "is_floating_point": dtype.is_floating_point,
        "is_complex": dtype.is_complex,
        "is_signed": answer(lambda: dtype.is_signed),
        "is_quantized": "Quantized" in repr(torch._C._dispatch_keys(torch.empty(0, dtype=dtype))),
    }


def stands_for(kind: Any) -> torch.dtype | None:
    """The dtype that a type of Python's counts as; None for one that is no dtype."""
    try:
        return torch.empty(0, dtype=kind).dtype
    except TypeError:
        return None


def to_complex(dtype: torch.dtype) -> torch.dtype | None:
    """The complex dtype of a floating-point one's precision; None for a dtype without one."""
    try:
        return dtype.to_complex() if dtype.is_floating_point else None
    except RuntimeError:
        return None


def answer(ask: Callable[[], bool]) -> Any:
    """The answer, or the message with which torch refuses it."""
    try:
        return ask()
    except RuntimeError as error:
        return str(error)


def takes_mkldnn(dtype: torch.dtype) -> bool:
    """Whether a tensor of ``dtype`` may have the mkldnn layout."""
    try:
        torch.empty(1, dtype=dtype, layout=torch._mkldnn)
    except RuntimeError:
        return False
    return True


def backend_devices() -> list[str]:
    """The devices that have quantized, sparse and compressed tensors, in C++ order.

    They are the list C10_FORALL_BACKEND_DEVICE_TYPES, which only the headers show.
    """
    include = Path(torch.__file__).parent / "include"
    for header in sorted(include.rglob("DeviceType.h")):
        text = header.read_text()
        macro = re.search(
            r"#define C10_FORALL_BACKEND_DEVICE_TYPES\(_, extra\) *\\\n((?:.*\\\n)*.*)", text
        )
        if macro:
            return re.findall(r"_\((\w+), extra\)", macro[1])
    raise ExtractionError("no DeviceType.h of this torch defines C10_FORALL_BACKEND_DEVICE_TYPES")
