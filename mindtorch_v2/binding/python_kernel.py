"""Kernels written in Python: what they are called with, and what becomes of their answer.

Mirrors ``PythonKernelHolder`` in ``torch/csrc/utils/python_dispatch.cpp`` and ``pushPyOutToStack``
in ``torch/csrc/autograd/python_variable.cpp``.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from mindtorch_v2.binding.convert import converter
from mindtorch_v2.binding.errors import ConversionError, PybindTypeError, c_string
from mindtorch_v2.dispatch.kernel import Kernel
from mindtorch_v2.pybind.cast import caster_for
from mindtorch_v2.schema.function_schema import Argument, FunctionSchema
from mindtorch_v2.torch_function import Side

if TYPE_CHECKING:
    from mindtorch_v2.binding.operators import Call


def call_python(kernel: Kernel, keyset: int, call: Call) -> Any:
    """The answer of ``kernel``; RuntimeError or PybindTypeError if the schema returns no such."""
    assert kernel.function is not None
    args, kwargs = call.python_arguments()
    before: list[Any] = []
    if kernel.with_keyset:
        cast = caster_for("torch._C.DispatchKeySet")
        assert cast is not None
        before.append(cast(keyset))
    if kernel.with_op:
        before.append(call.operator)
    with Side(in_cpp=False):
        answer = kernel.function(*before, *args, **kwargs)
    return returned(call.operator.schema, answer, "PythonKernelHolder")


class _Numbers(threading.local):
    allowed = False


_numbers: Final = _Numbers()


class NumbersAsTensors:
    """``ToIValueAllowNumbersAsTensors``: whether in a block a number passes for a tensor."""

    __slots__ = ("_allowed", "_before")

    def __init__(self, allowed: bool) -> None:
        self._allowed = allowed

    def __enter__(self) -> None:
        self._before, _numbers.allowed = _numbers.allowed, self._allowed

    def __exit__(self, *exception: object) -> None:
        _numbers.allowed = self._before


def returned(schema: FunctionSchema, answer: Any, whose: str) -> Any:
    """What a call answers: every value converted to the type that the schema returns there.

    ``whose`` answer it is, a message says that refuses one where nothing is to be returned.
    """
    if len(schema.returns) == 1:
        return _converted(schema.returns[0], answer)
    if not schema.returns:
        if answer is not None:
            raise RuntimeError(
                f"Expected {whose} for {schema.full_name} to return None but it returned "
                "something else instead."
            )
        return None
    if not isinstance(answer, Sequence):
        raise PybindTypeError(
            f"Object of type '{type(answer).__name__}' is not an instance of 'sequence'"
        )
    # C++ has as many values as came back, and of a single one it makes no tuple.
    values = [_converted(*pair) for pair in zip(schema.returns, answer, strict=False)]
    return values[0] if len(values) == 1 else tuple(values) or None


def _converted(expected: Argument, value: Any) -> Any:
    try:
        return converter(expected.real_type, numbers_as_tensors=_numbers.allowed)(value)
    except ConversionError as error:
        raise RuntimeError(c_string(error.args[0])) from None
