"""Operands of Python's operators on tensors, as text.

The calls stop where a kernel would begin, so what tensors hold matters to conversions only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from conformance.cases.python_values import POOL, RECEIVERS
from conformance.cases.values import SYMBOLIC, with_classes

DTYPES: Final = (
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "bool",
    "complex64",
    "complex128",
)


def _subclass(name: str, answer: str) -> str:
    """A class of tensors with a ``__torch_function__`` of its own.

    It answers nothing that holds the tensor: describing one asks it again.
    """
    return (
        f"class {name}(xp.Tensor):\n    @classmethod\n"
        f"    def __torch_function__(cls, func, types, args=(), kwargs=None):\n"
        f"        return {answer}"
    )


SUBCLASSES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "Sub": "class Sub(xp.Tensor):\n    pass",
        "Reporting": _subclass("Reporting", "func.__name__, len(args), kwargs and sorted(kwargs)"),
        "Leaving": _subclass("Leaving", "NotImplemented"),
        "Passing": _subclass(
            "Passing", "super().__torch_function__(func, types, args, kwargs or {})"
        ),
        "Plain": "class Plain(xp.Tensor):\n"
        "    __torch_function__ = xp._C._disabled_torch_function_impl",
    }
)
"""Classes of tensors by name, as statements; a case defines those that it names."""

_SUBCLASS_NAMES: Final = re.compile(rf"\bas_subclass\(({'|'.join(SUBCLASSES)})\)")

SUBCLASSED: Final = (
    *(f"xp.ones(2).as_subclass({name})" for name in SUBCLASSES),
    "xp.tensor(1).as_subclass(Sub)",
    "xp.tensor(1).as_subclass(Reporting)",
)


def with_subclasses(call: str, values: Sequence[str]) -> str:
    """``call`` after the classes whose instances are among the values, tensors or not."""
    found = dict.fromkeys(name for value in values for name in _SUBCLASS_NAMES.findall(value))
    return "\n".join([*(SUBCLASSES[name] for name in found), with_classes(call, values)])


OVERRIDING: Final = (
    "Overriding()",
    "[Overriding()]",
    "Declining()",
    "Answering()",
    "Abstaining()",
)
"""What answers to operators, or to all functions of torch, itself."""

TENSORS: Final = (
    *RECEIVERS,
    *(f"xp.ones(2, dtype=xp.{name})" for name in DTYPES),
    *(f"xp.ones((), dtype=xp.{name})" for name in DTYPES),
    *(f'xp.ones(1, 2, dtype=xp.{name}, device="meta")' for name in DTYPES[2::5]),
    "xp.tensor(2.0, requires_grad=True)",
    "xp.tensor(-3)",
    "xp.tensor(2**62)",
    "xp.tensor([[5]])",
    "xp.tensor([0])",
    "xp.tensor([])",
    'xp.tensor(float("nan"))',
    'xp.tensor(float("inf"))',
    "xp.tensor(1.5 + 2j)",
    "xp.tensor(2 + 0j)",
    "xp.tensor(False)",
    "xp.ones(2, 2).to_sparse()",
    "xp.zeros(2, 3).t()",
    *SUBCLASSED,
)
"""Tensors that differ in what conversions, indexing and binding look at."""

VALUES: Final = (
    *(value for value in POOL if value != "xp"),  # whose repr says where torch is installed
    *OVERRIDING,
    *SUBCLASSED,
)
"""The other operand: everything that functions are given, and what overrides them."""

NOT_SYMBOLIC: Final = tuple(value for value in VALUES if value not in SYMBOLIC)
"""Those without arithmetic, hashes and conversions of symbolic numbers, which are a language of
their own."""

INDEXED: Final = (
    "xp.arange(3)",
    "xp.ones(2, 3)",
    "xp.zeros(2, 3, 4)",
    'xp.ones(2, 3, device="meta")',
    "xp.ones(2, 2, requires_grad=True)",
    "xp.tensor(5)",
    "xp.ones(0, 3)",
    "xp.tensor([True, False])",
)
"""Tensors that are indexed; the second is the usual one."""

OF_THREE: Final = (
    *("0", ":", "0:1", "...", "None", "True", "False", "[0]", "[True, False]"),
    *("xp.zeros(2, dtype=xp.int64)", "xp.ones(2, 3, dtype=xp.bool)", "xp.tensor(True)"),
    "xp.ones(3, 1, dtype=xp.uint8)",
)
"""Indices of which a tensor gets every three: what one takes moves those that follow."""

INDICES: Final = (
    "0",
    "-1",
    "2",
    "-3",
    "5",
    "...",
    "None",
    "True",
    "False",
    ":",
    "1:",
    ":-1",
    "::2",
    "::-1",
    "::0",
    "5:",
    "2:1",
    "-5:5:3",
    "0, 0",
    "0, 0, 0",
    "0, 0, 0, 0, 0",
    ":, 0",
    ":, 9",
    ":, :, :, :",
    "..., 0",
    "0, ...",
    "..., ...",
    "..., None, ...",
    "None, None",
    ":, None, 1:",
    "True, 0",
    ":, True",
    ":, False",
    "(), ",
    "[]",
    "[[]]",
    "[0]",
    "[0, 1]",
    "[[0, 1], [1, 0]]",
    "[0], [1]",
    ":, [0, 1]",
    "[True, False]",
    "[[True, False, True]]",
    "[slice(None), 0]",
    "[slice(1), None, 0]",
    "[None, 1]",
    "[..., 1]",
    "[[0], [1]]",
    "[[0, 1], 1]",
    "xp.tensor(0)",
    "xp.tensor(5)",
    "xp.tensor(True)",
    "xp.tensor([0, 1])",
    "xp.tensor([True, False])",
    "xp.tensor([0, 1], dtype=xp.uint8)",
    "xp.tensor([0, 1], dtype=xp.int32)",
    "xp.tensor([0.0, 1.0])",
    "xp.tensor(1.0)",
    "xp.tensor(1), xp.tensor(1)",
    ":, xp.tensor(1)",
    ":, xp.tensor([1])",
    "xp.tensor(1):",
    ":xp.tensor([1])",
    ":xp.tensor(1.5)",
    "::xp.tensor(2)",
    'xp.ones((), dtype=xp.int64, device="meta")',
    'xp.ones(2, dtype=xp.int64, device="meta")',
    'xp.ones(2, dtype=xp.bool, device="meta")',
    "np.array([0, 1])",
    ":, np.array([0, 1])",
    "np.int64(1)",
    ":, np.int64(1)",
    "np.int64(0):np.int64(2)",
    "range(2)",
    ":, range(2)",
    "(0, 1), (0, 1)",
    "((0, 1), (0, 1)), ",
    "xp.Size([1, 2])",
    "2**63",
    ":, 2**63",
    "2**63:",
    "-2**70:2**70",
    "1.0",
    "1.5:",
    '"x":',
    ':, "x"',
    "1, 'x'",
    "*[0] * 40",
    "*[None] * 70",
)
"""What stands between the brackets."""

ASSIGNED: Final = (
    "1",
    "1.5",
    "True",
    "1j",
    "xp.ones(2)",
    "xp.ones(3)",
    "xp.tensor(2)",
    'xp.ones((), device="meta")',
    "[1, 2, 3]",
    '"x"',
    "None",
    "np.array([1, 2])",
    "2**63",
)
