"""Tensors and modes that override operators: ``__torch_dispatch__``.

Mirrors ``ConcretePyInterpreterVTable::dispatch`` in ``torch/csrc/PyInterpreter.cpp``, the kernel
of the key Python in ``aten/src/ATen/core/PythonFallbackKernel.cpp``, and ``python_variable.cpp``
as far as it says which tensors have that key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

from mindtorch_v2 import overloaded
from mindtorch_v2.binding.api_functions import api_function_named
from mindtorch_v2.dispatch import mode_stack, tls
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.keyset import (
    FULL,
    PYTHON_KEYS,
    TENSOR_SUBCLASS_LIKE,
    difference,
    full_after,
    functionality_bit,
)
from mindtorch_v2.overloaded import ABSENT, Overloaded, append_overloaded, attribute
from mindtorch_v2.pybind.classes import tp_name
from mindtorch_v2.tensor.pending import settled
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.torch_dispatch_rules import RULES, find_torch_dispatch_rule
from mindtorch_v2.warn import call_in_python, handlers

_PYTHON: Final = functionality_bit(DispatchKey.Python)
ABOVE_PYTHON: Final = FULL & ~full_after(DispatchKey.Python) & ~_PYTHON
"""``after_Python_keyset``: excluded while an override runs, since a call is past these keys."""
_FROM_PYTHON_ON: Final = difference(FULL, full_after(DispatchKey.Python))
"""The same and Python; as torch subtracts keysets, every backend is in it too."""


disabled: Final = overloaded.DisabledImpl(
    "_disabled_torch_dispatch_impl",
    lambda: tls.guarded(tls.ExcludeDispatchKeyGuard, _FROM_PYTHON_ON),
)
"""A class that has it overrides no operator."""


def has_torch_dispatch(value: Any) -> bool:
    """Whether the class of a tensor overrides operators; ``torch.Tensor`` itself does not."""
    if type(value) is Tensor:
        return False
    found = attribute(value, "__torch_dispatch__")
    return found is not ABSENT and found is not disabled


def is_python_tensor(value: Any) -> bool:
    return isinstance(value, Tensor) and bool(value._keys & _PYTHON)


def is_tensor_subclass_like(tensor: Tensor) -> bool:
    """Whether kernels must not look into a tensor: there is a mode, or it is of a kind that
    overrides operators (``aten/src/ATen/TensorSubclassLikeUtils.h``)."""
    return mode_stack.is_enabled() or bool(tensor._keys & TENSOR_SUBCLASS_LIKE)


def is_seen_by_python(values: Any) -> bool:
    """Whether a call with these values would get to an override: of a mode, or of a tensor."""
    raw = tls.local_dispatch_key_set()
    if raw.excluded & _PYTHON:
        return False
    return bool(raw.included & _PYTHON) or has_python_tensor(values)


def has_python_tensor(values: Any) -> bool:
    """Whether there is a tensor among the values whose class overrides operators."""
    return any(map(is_python_tensor, flattened(values)))


def flattened(values: Any, around: tuple[Any, ...] = ()) -> Iterator[Any]:
    """The values, and those in lists among them; a list that is in itself ends there."""
    for value in values:
        if not isinstance(value, (list, tuple)):
            yield value
        elif all(value is not outer for outer in around):
            yield from flattened(value, (*around, value))


_PROTOCOL: Final = overloaded.Protocol(
    "__torch_dispatch__",
    mode_stack.is_enabled,
    mode_stack.take,
    mode_stack.put_back,
    lambda method: method is disabled,
    warns_of_plain_methods=False,
    rule=find_torch_dispatch_rule,
)


def dispatch(
    function: Callable[..., Any],
    values: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """What modes or tensors among ``values`` answer to a call of the operator ``function``."""
    overloaded_args: Overloaded = []
    for value in flattened(values):
        if is_python_tensor(value):
            append_overloaded(overloaded_args, value)
    return overloaded.handle(_PROTOCOL, function, overloaded_args, args, kwargs)


def ask_users_mode(
    raw: tls.RawLocalDispatchKeySet,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """The same of the topmost mode of a user, which is there, for values that override nothing;
    with every key above Python excluded.

    Every call under a mode comes here, so what happens to the thread happens without a step
    between: ExcludeDispatchKeyGuard, :func:`mode_stack.take`, and both undone.
    """
    found, modes = raw.sets, raw.modes
    change = found.excluding.get(ABOVE_PYTHON) or found.exclude(ABOVE_PYTHON)
    inside, mode = change.within, modes.users.pop()
    if not modes.users and not modes.infra:
        inside = inside.modeless or inside.without_modes()
    if not raw.is_watched:
        raw.watch()
    raw.sets = inside
    try:
        method = overloaded.method_of_mode(_PROTOCOL, mode)
        rule = RULES and find_torch_dispatch_rule(function, type(mode))
        if rule:
            method = partial(rule, mode)
        if handlers.buffer is None:
            answer = method(function, (), args, kwargs)
        else:
            answer = call_in_python(method, (function, (), args, kwargs))
    finally:
        modes.users.append(mode)
        if not raw.is_watched:
            raw.watch()
        if raw.sets is inside:
            raw.sets = change.after
        else:
            raw.sets = change.undone(raw.sets.include(PYTHON_KEYS).within)
    if answer is NotImplemented:
        raise overloaded.all_declined(_PROTOCOL, overloaded.full_name(function), mode, ())
    return answer


def dispatch_from_tensor_impl(
    tensor: Tensor, name: str, *extra: Any, shown_name: str | None = None
) -> Any:
    """What modes or the tensor's class answer to an operator that C++ asks of them without a
    dispatch (``torchDispatchFromTensorImpl``)."""
    operator, _, overload_name = name.partition(".")
    shown_name = shown_name or f"torch.ops.{operator.replace('::', '.')}"
    function = api_function_named(operator, overload_name)
    return overloaded.handle(_PROTOCOL, function, [tensor], (tensor, *extra), {}, shown_name)


def shallow_copy_and_detach(tensor: Tensor) -> Any:
    """What modes or the tensor's class answer to ``detach``, which is asked of them without a
    dispatch; None if nobody is there to answer.  RuntimeError for what is no tensor.

    Of functional tensors modes are not asked: their class in C++ copies itself.
    """
    if tensor._functional is not None or not is_seen_by_python((tensor,)):
        return None
    answer = dispatch_from_tensor_impl(tensor, "aten::detach")
    if not isinstance(answer, Tensor):
        kind = tp_name(type(answer))
        raise RuntimeError(f"detach returned invalid type {kind}, expected Tensor")
    return settled(answer)  # C++ gives it a counter of its own
