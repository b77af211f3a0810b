"""Dispatch on Python objects, which leads to a kernel in Python without C++ between.

Mirrors the ``_PyObjectDispatcher`` of ``torch/_ops.py``.  Of a call it looks for tensors in lists,
and for symbols in sizes, then passes the objects on; of an iterator, which gives its items once,
the conversion that follows finds what was left.  What a kernel in Python answers is converted by
nobody, and neither is what one is called with from another kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from types import GeneratorType
from typing import Any, Final

from mindtorch_v2 import profile
from mindtorch_v2.binding.op_schema import Stack
from mindtorch_v2.binding.operators import Call, Operator
from mindtorch_v2.binding.python_kernel import answer_of
from mindtorch_v2.binding.stop import is_stopping
from mindtorch_v2.binding.unboxed import UNUSUAL
from mindtorch_v2.dispatch import trace
from mindtorch_v2.dispatch.calls import Target, at_highest, resolve
from mindtorch_v2.dispatch.kernel import Kernel
from mindtorch_v2.schema.function_schema import FunctionSchema
from mindtorch_v2.schema.types import ListType, SymIntType, TensorType
from mindtorch_v2.tensor.tensor import Tensor

_ONCE: Final = (GeneratorType, map, zip)
"""What a vector is made of and gives its items once."""

Look = Callable[[Any], None]


def dispatches_objects(full_name: str) -> bool:
    """Whether an operator that comes with torch is dispatched by its Python objects."""
    return full_name in _NAMES


def may_dispatch_objects(schema: FunctionSchema) -> bool:
    """``OpOverload._can_enable_pyobj_dispatch``, in releases that have it."""
    returned = schema.returns
    return bool(_NAMES) and all(isinstance(each.type, TensorType) for each in returned)


class ObjectDispatch:
    """What is looked at of the arguments of one operator."""

    def __init__(self, schema: FunctionSchema) -> None:
        kinds = [argument.real_type for argument in schema.arguments]
        only_tensors = all(map(_is_of_tensors, kinds))
        self._lists = [isinstance(kind, ListType) for kind in kinds] if only_tensors else None
        self._looks: list[tuple[int, str, Look]] = []
        for place, argument in enumerate(schema.arguments):
            look = _look_of(argument.real_type)
            if look is not None:
                self._looks.append((place, argument.name, look))

    def taken(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """The positional arguments, for the conversion that follows.

        Where a schema wants tensors and lists of these alone, and gets them all by place, whatever
        can be iterated is a list: a tensor too.
        """
        if self._lists is not None and not kwargs and len(args) == len(self._lists):
            found = tuple(map(_taken, args, self._lists))
            if all(each is not None for each in found):
                return found
        self.look_through(args, kwargs)
        return args

    def look_through(self, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        """Take from iterators what a look at them takes; anything else stays as it is."""
        for place, name, look in self._looks:
            given = args[place] if place < len(args) else kwargs.get(name)
            if type(given) in _ONCE:
                look(given)


def _is_of_tensors(kind: Any) -> bool:
    return isinstance(kind.element if isinstance(kind, ListType) else kind, TensorType)


def _taken(given: Any, is_list: bool) -> Any:
    """A tensor, or a list of tensors; None for what is neither."""
    if not is_list:
        return given if isinstance(given, Tensor) else None
    try:
        items = list(given)
    except Exception:  # as in torch, which forgets it and converts what is left
        return None
    return items if all(isinstance(item, Tensor) for item in items) else None


def _look_of(kind: Any) -> Look | None:
    if not isinstance(kind, ListType):
        return None
    element = kind.element
    if isinstance(element, TensorType):
        return _for_tensors
    return _for_symbols if isinstance(element, SymIntType) else None


def _for_tensors(given: Any) -> None:
    for _ in given:
        pass


def _for_symbols(given: Any) -> None:
    """Up to what is no number."""
    for item in given:
        if not isinstance(item, int):
            return


def run(call: Call) -> Any:
    """``dispatch``: what the kernel answers to the arguments of a call."""
    operator = call.operator
    target = resolve(operator.entry, call.keys(), operator.full_name)
    if not _is_in_python(target.kernel) or is_stopping():
        return call.run()
    return _answer(operator, target, *call.python_arguments())


def redispatch(operator: Operator, keyset: int, args: Stack, kwargs: dict[str, Any]) -> Any:
    """What the kernel at the highest key answers to arguments that nobody looks at; UNUSUAL for a
    kernel of C++, which they are converted for."""
    try:
        target = at_highest(operator.entry, keyset, operator.full_name)
    except RuntimeError:  # there is none
        return UNUSUAL
    if not _is_in_python(target.kernel) or is_stopping():
        return UNUSUAL
    return _answer(operator, target, args, kwargs, redispatched=True)


def _is_in_python(kernel: Kernel) -> bool:
    """Whether it is a user's; what is C++ in disguise is none."""
    return kernel.function is not None and not kernel.is_native and kernel.inferred is None


def _answer(
    operator: Operator,
    target: Target,
    args: Stack,
    kwargs: dict[str, Any],
    *,
    redispatched: bool = False,
) -> Any:
    run = partial(answer_of, target.kernel, target.keyset, operator, args, kwargs)
    if not trace.is_tracing():
        return run()
    return trace.traced(operator.canonical, target, redispatched, run)


_NAMES: Final[frozenset[str]] = frozenset(profile.active().library["pyobj_dispatch"])
