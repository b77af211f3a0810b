"""Section ``devices.json``: how devices refuse that this build of torch has nothing for.

Mirrors ``torch/csrc/utils/device_lazy_init.h`` (which devices are initialized by a module of
Python's before anything is made there), ``getDeviceGuardImpl`` of
``c10/core/impl/DeviceGuardImplInterface.h`` (which have no runtime linked in) and
``supports_as_strided`` of ``c10/core/Device.h``.

Nothing here depends on whether the wheel is one for CUDA: that device is asked as a build without
it answers.  What it says of generators and of pinned memory then stands in a header alone.
"""

import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import torch

from conformance.extract import require, said

#: What every build has.
PRESENT = ("cpu", "meta")
NOT_LINKED = "PyTorch is not linked with support for"


def extract() -> dict[str, Any]:
    with warnings.catch_warnings(), without_cuda():
        warnings.simplefilter("ignore")  # of types that are no longer used
        return {
            "initialized": {
                name: error_of(partial(torch.empty, 0, device=name))
                for name in devices()
                if is_initialized(name)
            },
            "unlinked": " ".join(name for name in devices() if not is_linked(name)),
            "without_strides": " ".join(name for name in devices() if not has_strides(name)),
            "generators": {
                "cuda": generator_on_cuda(),
                "privateuseone": error_of(lambda: torch.Generator("privateuseone")),
            },
            "pinned": pinned(),
            "storages": {name: storage(name) for name in devices()},
        }


def devices() -> list[str]:
    """Every type that a device may have and that is not there, in the order of torch's message."""
    listed = re.search(r"Expected one of (.*?) device type", said(lambda: torch.device("nosuch")))
    require(listed is not None, "torch.device does not list the types of devices")
    assert listed is not None
    return [name for name in listed[1].split(", ") if name not in PRESENT]


@contextmanager
def without_cuda() -> Iterator[None]:
    """As in a build for the CPU, as far as ``torch.cuda`` looks: it asks for this name."""
    name = "_cuda_getDeviceCount"
    held = torch._C.__dict__.get(name)
    if held is None:
        yield
        return
    delattr(torch._C, name)
    try:
        yield
    finally:
        setattr(torch._C, name, held)


def is_initialized(name: str) -> bool:
    """Whether a module of Python's comes first: what the dispatcher refuses is a RuntimeError."""
    error, _ = error_of(lambda: torch.empty(0, device=name))
    return error in ("AssertionError", "ModuleNotFoundError")


def is_linked(name: str) -> bool:
    """Whether the current device can be asked for.  Wheels for CUDA have its runtime alone."""
    if name == "cuda":
        return False
    to = torch.ops.aten.to.device
    _, message = error_of(lambda: to(torch.ones(2, 3), torch.device(name), torch.float32))
    return NOT_LINKED not in message


def has_strides(name: str) -> bool:
    """Whether a copy there is made with strides."""
    if name == "cuda":
        return True
    copy = torch.ops.aten._to_copy.default
    _, message = error_of(lambda: copy(torch.ones(2, 3), device=torch.device(f"{name}:0")))
    return "'aten::empty.memory_format'" not in message


def error_of(call: Callable[[], object]) -> list[str]:
    """The type and the message of what a call raises, the traces of C++ left out."""
    try:
        call()
    except Exception as error:
        return [type(error).__name__, str(error)]
    return ["", ""]


def generator_on_cuda() -> list[str]:
    """In a build without CUDA, which has hooks in its place, or what no build has in hooks' way."""
    words = "Cannot get CUDA generator without ATen_cuda library. "
    if words in cuda_hooks():
        return ["RuntimeError", words + cuda_help()]
    error, message = error_of(lambda: torch.Generator("hip"))
    return [error, message.replace("HIP", "CUDA")]


def pinned() -> dict[str, list[str]]:
    """What is said of memory pinned for a device, or with an empty name for the current one.

    Nothing where an operator of the device is asked, as releases did before accelerators had hooks.
    """
    found = {name: error_of(partial(pin, name)) for name in ("cpu", "meta", *devices())}
    del found["cuda"]
    if not all(error == "RuntimeError" for error, _ in found.values()):
        return {}
    return {
        "": ["RuntimeError", "Cannot access accelerator device when none is available."],
        "cuda": ["RuntimeError", without_library() + cuda_help()],
        **found,
    }


def pin(name: str) -> object:
    return torch.ones(1).pin_memory(name)


def without_library() -> str:
    """How a build without CUDA refuses what the hooks of an accelerator are asked first."""
    _, said_of_hip = error_of(lambda: pin("hip"))
    if said_of_hip == "Pinned memory requires HIP.":
        return "Pinned memory requires CUDA. "
    return "Cannot initialize CUDA without ATen_cuda library. "


def storage(name: str) -> list[str]:
    """What the constructor of storages says; of CUDA, as of XPU, which no wheel here has."""
    if name == "cuda":
        error, message = storage("xpu")
        return [error, message.replace("xpu", "cuda").replace("XPU", "CUDA")]
    return error_of(lambda: torch.UntypedStorage(1, device=name))


def cuda_hooks() -> str:
    return (Path(torch.__file__).parent / "include/ATen/detail/CUDAHooksInterface.h").read_text()


def cuda_help() -> str:
    """What a build without CUDA advises (``CUDA_HELP``), of the branch for other systems than
    Windows."""
    texts = re.findall(r"CUDA_HELP =\s*((?:\"(?:[^\"\\]|\\.)*\"\s*)+);", cuda_hooks())
    require(len(texts) == 2, "CUDAHooksInterface.h does not define CUDA_HELP twice")
    return "".join(re.findall(r"\"((?:[^\"\\]|\\.)*)\"", texts[1]))
