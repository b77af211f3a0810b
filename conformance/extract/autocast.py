"""Extracts what autocast does on the CPU: which operators it casts the arguments of, and how.

The kernel of each operator is called with tensors of several dtypes, and a mode notes what becomes
of them before anything else is called.  ``policies`` has C++'s names (``CastPolicy`` in
``ATen/autocast_mode.h``), ``dtypes`` what a device is cast to when nobody says, ``warnings`` what a
context says that does nothing, ``habits`` what contexts of this release do, ``deprecated`` the
functions that newer ones have replaced.
"""

import re
import warnings
from contextlib import suppress
from functools import partial
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from conformance.extract import ExtractionError
from conformance.extract._warnings import warned_at

KEY = "AutocastCPU"
LOWER = torch.bfloat16
OF_A_DEVICE = re.compile(r"(?:set|is|get)_autocast_[a-z]+_(?:enabled|dtype)")
DEVICES = ("cpu", "cuda", "xpu", "mps", "hpu", "ipu", "xla", "mtia", "maia", "privateuseone")
NUMBERS: dict[str, Any] = {"int": 1, "float": 1.0, "number": 1, "bool": True, "str": "dimname::a"}


class NoCastError(Exception):
    """An operator was called that casts nothing."""


class Casts(TorchDispatchMode):
    """Lets casts of some tensors pass, notes their dtypes, and stops everything else."""

    def __init__(self, tensors: list[torch.Tensor]) -> None:
        super().__init__()
        self.tensors = tensors
        self.dtypes: set[torch.dtype] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        options = kwargs or {}
        if func is not torch.ops.aten._to_copy.default or "dtype" not in options:
            raise NoCastError
        if not any(args[0] is tensor for tensor in self.tensors):
            raise NoCastError
        self.dtypes.add(options["dtype"])
        return func(*args, **options)


def extract() -> dict[str, Any]:
    policies: dict[str, list[str]] = {"lower_precision_fp": [], "fp32": [], "promote": []}
    for name in sorted(torch._C._dispatch_get_registrations_for_dispatch_key(KEY)):
        policies[policy_of(name)].append(name)
    available = filter(torch.amp.is_autocast_available, DEVICES)
    dtypes = {name: str(torch.get_autocast_dtype(name))[6:] for name in available}
    idle = {"dtype": warning("cpu", torch.float32), "cuda": warning("cuda", torch.float16)}
    return {
        "policies": policies,
        "dtypes": dtypes,
        "warnings": idle,
        "habits": habits(),
        "deprecated": deprecated(),
    }


def deprecated() -> dict[str, str]:
    """The functions of a single device, and where in C++ each warns that another is there."""
    found = {}
    for name in filter(OF_A_DEVICE.fullmatch, dir(torch)):
        if name.startswith("set"):
            now = getattr(torch, re.sub("^set", "is" if name.endswith("enabled") else "get", name))
            call = partial(getattr(torch, name), now())
        else:
            call = getattr(torch, name)
        if location := warned_at(call, required=False):
            found[name] = location
    return found


def habits() -> dict[str, bool]:
    context: Any = torch.autocast("cpu")
    with context as entered:
        pass
    try:
        context(3)
    except TypeError:
        refuses = True
    else:
        refuses = False
    return {
        "entering answers the context": entered is context,
        "only a callable is decorated": refuses,
    }


def warning(device: str, dtype: torch.dtype) -> str:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.autocast(device, dtype=dtype)
    (found,) = caught
    return str(found.message)


def policy_of(name: str) -> str:
    if LOWER in casts_of(name, torch.float32, torch.float32):
        return "lower_precision_fp"
    if torch.float32 in casts_of(name, LOWER, LOWER):
        return "fp32"
    if torch.float32 in casts_of(name, torch.float32, LOWER):
        return "promote"
    raise ExtractionError(f"autocast does to {name} what no policy does")


def casts_of(name: str, *dtypes: torch.dtype) -> set[torch.dtype]:
    """What tensors are cast to that come in these dtypes by turns."""
    base, _, overload = name.removeprefix("aten::").partition(".")
    operator = getattr(getattr(torch.ops.aten, base), overload or "default")
    tensors = [torch.ones(2, 2, dtype=dtype) for dtype in dtypes]
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for place, argument in enumerate(operator._schema.arguments):
        value = dummy(argument.type, tensors[place % 2 :] + tensors[: place % 2])
        if argument.kwarg_only:
            kwargs[argument.name] = value
        else:
            args.append(value)
    casts = Casts(tensors)
    # The arguments need not make sense: casts come first.
    with warnings.catch_warnings(), suppress(Exception):
        warnings.simplefilter("ignore")
        with torch.autocast("cpu", dtype=LOWER), casts:
            operator(*args, **kwargs)
    return casts.dtypes


def dummy(kind: Any, tensors: list[torch.Tensor]) -> Any:
    """A value of a JIT type; tensors where it takes them."""
    text = str(kind)
    if text in ("Tensor", "Optional[Tensor]"):
        return tensors[0]
    if text == "List[Tensor]":
        return tensors
    if text.startswith("List"):
        return [dummy(kind.getElementType(), tensors)] * 2
    return NUMBERS.get(text)
