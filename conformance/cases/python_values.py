"""Arguments of Python calls, as text: a good one for each declared type, and the pool of all kinds.

What is good is good for the parser: the call stops before a kernel could say more.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Final

from conformance.cases.python_signatures import Callee, Parameter
from conformance.cases.values import POOL as VALUES

RECEIVERS: Final = (
    "xp.ones(2, 3)",
    "xp.tensor(2)",
    'xp.ones(2, device="meta")',
    "xp.ones(2, requires_grad=True)",
    "xp.zeros(1, 2, 3, dtype=xp.int32)",
    "xp.tensor([True, False])",
    "xp.tensor(0.5, dtype=xp.float64)",
    "xp.tensor([1 + 2j])",
    "xp.ones(0, dtype=xp.float16)",
    'xp.ones((), device="meta", dtype=xp.int64)',
    "xp.zeros(1, 2, 1, 2)",
)
"""Tensors whose methods are called."""

NO_RECEIVERS: Final = (
    "None",
    "1",
    '"x"',
    "[1]",
    "object()",
    "xp.Tensor",
    "(lambda: 0)",
    "xp.float32",
    "np.float32(1)",
    "np.array([1.0])",
    "...",
    "Index()",
)
"""What has none of them."""

CPU_TENSORS: Final = (
    "xp.ones(2)",
    "xp.tensor(3)",
    "xp.tensor(-1)",
    "xp.tensor(2.5)",
    "xp.tensor(0.0)",
    "xp.tensor(True)",
    "xp.tensor(1j)",
    "xp.tensor([2])",
    "xp.tensor([1.5])",
    "xp.tensor([])",
    "xp.tensor(1, dtype=xp.uint8)",
    "xp.tensor(0.5, dtype=xp.bfloat16)",
    "xp.tensor(2.0, requires_grad=True)",
    "xp.ones(1, requires_grad=True)",
    "xp.ones(2, 2, dtype=xp.int64)",
    "[xp.ones(2)]",
    "(xp.ones(2), xp.ones(3))",
    "[xp.ones(2), None]",
    "[xp.ones(2), 1]",
    "(xp.ones(2), [xp.ones(2)])",
    "[xp.tensor(1), 2]",
    "[1, xp.tensor(2)]",
    "[xp.tensor(1.5)]",
    "[xp.tensor(True), xp.tensor(1)]",
    "[1, xp.tensor([2])]",
    "(2, xp.tensor(1.5, requires_grad=True))",
    "(xp.ones(2),) * 5",
    "[None, xp.tensor(1)]",
    "{0: xp.ones(2)}",
    "{xp.float32: 1}",
)
_MORE: Final = (
    "[1, 2, 3]",
    "(1,)",
    "(-1, 0, 1)",
    "(1, 2, 3, 4, 5, 6, 7)",
    "[1, 2.0]",
    "[1, None]",
    '[1, "x"]',
    "(1, [2])",
    "[True, 1]",
    "[1.5]",
    "[1j, 1]",
    '("a", "b")',
    "[slice(None)]",
    "[2**70]",
    "slice(None)",
    "slice(None, None, -1)",
    "range(3)",
    "set()",
    "frozenset({1})",
    "iter([1])",
    'np.array(["a"])',
    'b"1"',
    '"sum"',
    '"ij,jk->ik"',
    '"float32"',
    '"cpu:x"',
    '"nosuch"',
    '"cpu:-1"',
    '"CPU"',
    '"meta"',
    '"trunc"',
    "xp",
    "xp.Size",
    "xp.Size([1, 2])",
    "xp.finfo(xp.float16)",
    "xp.iinfo(xp.int8)",
    "xp.add",
    "xp.bool",
    "xp.complex64",
    "xp.uint8",
    "xp.sparse_csr",
    "xp.preserve_format",
    "xp.channels_last_3d",
    "xp.per_tensor_symmetric",
)

ACCELERATORS: Final = re.compile(
    r"""'?"cuda"|xp\.device\("cuda|(?:np\.u?int\d*\(|Number\()?\d[\d* +-]*\)?$"""
)
"""Devices that a binding looks for before it calls an operator: a number is an accelerator's,
and what is said of it depends on the machine."""

_LEFT_OUT: Final[Mapping[str, str]] = MappingProxyType(
    {
        "Long": "says that it is longer than it is, and the parser reads beyond its end",
        "xp.Tensor": "passes for anything in 2.13, which reads a layout out of the class itself",
        "xp.Stream": "is made only where there is hardware that has streams",
    }
)
"""What values of the common pool begin with that is no value here, and why."""

_STORAGES: Final = re.compile(r"xp\.tensor\(.*\)\.(?:untyped_)?storage\(\)$")
"""Storages that are read by operators of their own, whose calls are not the function's."""

POOL: Final = tuple(
    value
    for value in dict.fromkeys((*VALUES, *CPU_TENSORS, *_MORE))
    if value.lstrip("[(").partition("(")[0] not in _LEFT_OUT and not _STORAGES.match(value)
)

_GOOD: Final[Mapping[str, str]] = MappingProxyType(
    {
        "Tensor": "xp.ones(2)",
        "TensorList": "[xp.ones(2)]",
        "c10::List<::std::optional<Tensor>>": "[xp.ones(2), None]",
        "Scalar": "2",
        "ScalarList": "[2, 0.5]",
        "int64_t": "1",
        "SymInt": "1",
        "DeviceIndex": "1",
        "double": "0.5",
        "bool": "True",
        "ScalarType": "xp.float32",
        "Layout": "xp.strided",
        "Device": '"cpu"',
        "MemoryFormat": "xp.contiguous_format",
        "Dimname": '"N"',
        "Generator": "xp.Generator()",
        "c10::string_view": '"mean"',
        "std::string_view": '"mean"',
        "DispatchKeySet": 'xp._C.DispatchKeySet("CPU")',
        "PyObject*": "[1, 2]",
        "Storage": "xp.ones(2).untyped_storage()",
        "Stream": "None",
        "ArrayRef<double>": "[0.5, 1]",
    }
)


def good(parameter: Parameter) -> str:
    """A value that the parser takes for it."""
    kind = parameter.kind
    count = parameter.size
    if kind in ("IntArrayRef", "SymIntArrayRef"):
        return f"[{', '.join(['1'] * (count or 2))}]"
    if kind == "DimnameList":
        return '["N"]'
    if kind == "TensorList" and count:
        return f"({', '.join(['xp.ones(2)'] * count)})"
    return _GOOD[kind]


def pool(callee: Callee, name: str, position: int | None) -> tuple[str, ...]:
    """What may be given for a parameter of this name and position, right or wrong."""
    for signature in callee.signatures:
        for index, parameter in enumerate(signature.parameters):
            is_here = index == position and not parameter.keyword_only
            if parameter.kind == "Device" and (is_here or parameter.name == name):
                return _without_accelerators()
    return POOL


@cache
def _without_accelerators() -> tuple[str, ...]:
    return tuple(value for value in POOL if not ACCELERATORS.match(value))
