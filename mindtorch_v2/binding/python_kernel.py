"""Kernels written in Python: what they are called with, and what becomes of their answer.

Mirrors ``PythonKernelHolder`` in ``torch/csrc/utils/python_dispatch.cpp`` and ``pushPyOutToStack``
in ``torch/csrc/autograd/python_variable.cpp``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from mindtorch_v2.binding.api_functions import api_function
from mindtorch_v2.binding.convert import converter
from mindtorch_v2.binding.errors import ConversionError, c_string
from mindtorch_v2.binding.python.type_names import type_name
from mindtorch_v2.binding.stop import Stopped, is_stopping_at_python
from mindtorch_v2.binding.written import Factory, factory, names
from mindtorch_v2.dispatch import tls
from mindtorch_v2.dispatch.kernel import Kernel
from mindtorch_v2.pybind.cast import PybindTypeError, caster_for
from mindtorch_v2.schema.function_schema import Argument
from mindtorch_v2.schema.values import same_value
from mindtorch_v2.tensor.tensor import Tensor

if TYPE_CHECKING:
    from mindtorch_v2.binding.operators import Call, Operator
    from mindtorch_v2.binding.unboxed import Route, Run


def call_python(kernel: Kernel, keyset: int, call: Call) -> Any:
    """The answer of ``kernel``; RuntimeError or PybindTypeError if the schema returns no such."""
    if is_stopping_at_python():
        raise Stopped(call)
    answer = answer_of(kernel, keyset, call.operator, *call.python_arguments())
    if kernel.inferred is not None:  # a function of C++
        return answer
    return returned(call.operator, answer, "PythonKernelHolder")


def answer_of(
    kernel: Kernel,
    keyset: int,
    operator: Operator,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> Any:
    """What ``kernel`` answers to arguments, neither of which is looked at."""
    assert kernel.function is not None
    before: list[Any] = []
    if kernel.with_keyset:
        cast = caster_for("torch._C.DispatchKeySet")
        assert cast is not None
        before.append(cast(keyset))
    if kernel.with_op:
        before.append(api_function(operator))
    return kernel.function(*before, *args, **kwargs)


def python_route(kernel: Kernel, operator: Operator) -> Route | None:
    """A kernel that is called with the values of the stack and answers a tensor, if it does what it
    is to do, and what any other answer becomes or is refused by; None for any other kernel."""
    function = kernel.function
    if function is None or kernel.is_native or _wants_to_know(kernel):
        return None
    if not operator.unboxed.python_arguments.are_the_stack or not answers_tensor(operator):
        return None
    return function, partial(_returned_of, operator), None


def python_run(kernel: Kernel, operator: Operator) -> Run | None:
    """:func:`call_python` for who has the values only; None for a kernel that wants to know of the
    call."""
    function = kernel.function
    if function is None or _wants_to_know(kernel):
        return None
    arguments = operator.unboxed.python_arguments
    usual = Tensor if answers_tensor(operator) else None  # a type that no answer has
    answered = partial(_returned_of, operator)

    def run(*stack: Any) -> Any:
        args, kwargs = arguments(stack)
        answer = function(*args, **kwargs)
        return answer if type(answer) is usual else answered(answer)

    count = len(operator.schema.arguments)
    if arguments.are_the_stack:
        return _with_stack(count)(function, usual, answered)
    if arguments.only_keyword is not None:
        default = arguments.only_default
        made = _with_keyword(count - 1, arguments.only_keyword, isinstance(default, list))
        return made(function, usual, answered, default, type(default), same_value)
    return run


def _wants_to_know(kernel: Kernel) -> bool:
    """Whether it is called with more than values, or is C++ in disguise."""
    return kernel.with_keyset or kernel.with_op or kernel.inferred is not None


def answers_tensor(operator: Operator) -> bool:
    """Whether it returns a tensor, and nothing else."""
    returns = operator.schema.returns
    return len(returns) == 1 and returns[0].real_type.kind == "TensorType"


def _returned_of(operator: Operator, answer: Any) -> Any:
    return returned(operator, answer, "PythonKernelHolder")


@cache
def _with_stack(count: int) -> Factory:
    """Makes what calls a kernel with the values of a stack."""
    values = names(count)
    body = f"answer if type(answer := function({values})) is usual else answered(answer)"
    return factory("function, usual, answered", values, body, __name__)


@cache
def _with_keyword(count: int, keyword: str, is_list: bool) -> Factory:
    """The same where the last value goes by keyword, unless it is the default."""
    values, last = names(count), f"_{count}"
    is_same = f"same({last}, default)" if is_list else f"{last} == default"
    is_default = f"type({last}) is kind and {is_same}"
    called = f"function({values}) if {is_default} else function({values}, {keyword}={last})"
    body = f"answer if type(answer := {called}) is usual else answered(answer)"
    needs = "function, usual, answered, default, kind, same"
    return factory(needs, names(count + 1), body, __name__)


class NumbersAsTensors:
    """``ToIValueAllowNumbersAsTensors``: whether in a block a number passes for a tensor."""

    __slots__ = ("_allowed", "_before", "_raw")

    def __init__(self, allowed: bool) -> None:
        self._allowed = allowed

    def __enter__(self) -> None:
        raw = self._raw = tls.local_dispatch_key_set()
        self._before, raw.numbers_as_tensors = raw.numbers_as_tensors, self._allowed

    def __exit__(self, *exception: object) -> None:
        self._raw.numbers_as_tensors = self._before


def returned(operator: Operator, answer: Any, whose: str) -> Any:
    """What a call answers: every value converted to the type that the schema returns there.

    ``whose`` answer it is, a message says that refuses one where nothing is to be returned.  A
    sequence that is too short is what is left of the answer: C++ counts what it finds.
    """
    expected = operator.schema.returns
    if len(expected) == 1:
        return _converted(expected[0], answer)
    if not expected:
        if answer is not None:
            raise RuntimeError(
                f"Expected {whose} for {operator.canonical} to return None but it returned "
                "something else instead."
            )
        return None
    if not isinstance(answer, Sequence):
        kind = type_name(answer)
        raise PybindTypeError(f"Object of type '{kind}' is not an instance of 'sequence'")
    values = [_converted(*pair) for pair in zip(expected, answer, strict=False)]
    if len(values) <= 1:
        return values[0] if values else None
    return tuple(values)


def _converted(expected: Argument, value: Any) -> Any:
    try:
        allowed = tls.local_dispatch_key_set().numbers_as_tensors
        return converter(expected.real_type, numbers_as_tensors=allowed)(value)
    except ConversionError as error:
        raise RuntimeError(c_string(error.args[0])) from None
