"""Kernels written in Python: what they are called with, and what becomes of their answer.

Mirrors ``PythonKernelHolder`` in ``torch/csrc/utils/python_dispatch.cpp`` and ``pushPyOutToStack``
in ``torch/csrc/autograd/python_variable.cpp``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from mindtorch_v2.binding.convert import converter
from mindtorch_v2.binding.errors import ConversionError, c_string
from mindtorch_v2.binding.python.type_names import type_name
from mindtorch_v2.dispatch.kernel import Kernel
from mindtorch_v2.pybind.cast import caster_for
from mindtorch_v2.schema.function_schema import Argument

if TYPE_CHECKING:
    from mindtorch_v2.binding.operators import Call, Operator


def find_api_functions(find: Callable[[str, str], Any]) -> None:
    """Have fallbacks get what ``find`` answers for an operator's two names: ``torch.ops`` lies
    above this module."""
    _find_api_function.append(find)


_find_api_function: Final[list[Callable[[str, str], Any]]] = []


def call_python(kernel: Kernel, keyset: int, call: Call) -> Any:
    """The answer of ``kernel``; RuntimeError or TypeError if it is not what the schema returns."""
    assert kernel.function is not None
    args, kwargs = call.python_arguments()
    before: list[Any] = []
    if kernel.with_keyset:
        cast = caster_for("torch._C.DispatchKeySet")
        assert cast is not None
        before.append(cast(keyset))
    if kernel.with_op:
        name, _, overload_name = call.operator.canonical.partition(".")
        before.append(_find_api_function[-1](name, overload_name))
    answer = kernel.function(*before, *args, **kwargs)
    if kernel.inferred is not None:  # a function of C++
        return answer
    return returned(call.operator, answer)


def returned(operator: Operator, answer: Any) -> Any:
    """What a call answers: every value converted to the type that the schema returns there.

    A sequence that is too short is what is left of the answer: C++ counts what it finds.
    """
    expected = operator.schema.returns
    if len(expected) == 1:
        return _converted(expected[0], answer)
    if not expected:
        if answer is not None:
            raise RuntimeError(
                f"Expected PythonKernelHolder for {operator.canonical} to return None but it "
                "returned something else instead."
            )
        return None
    if not isinstance(answer, Sequence):
        raise TypeError(f"Object of type '{type_name(answer)}' is not an instance of 'sequence'")
    values = [_converted(*pair) for pair in zip(expected, answer, strict=False)]
    if len(values) <= 1:
        return values[0] if values else None
    return tuple(values)


def _converted(expected: Argument, value: Any) -> Any:
    try:
        return converter(expected.real_type)(value)
    except ConversionError as error:
        raise RuntimeError(c_string(error.args[0])) from None
