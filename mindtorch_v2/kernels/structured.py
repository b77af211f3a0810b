"""Structured kernels: one function for an operator, its in-place form and its ``out=`` form.

A structured kernel is called with what to write to before the operator's arguments: None for an
output that is to be made, the tensor for one that is given.  It checks and makes the outputs,
computes unless they are on meta, and answers them:

    @structured("aten::mm")
    def mm(outputs: Outputs, self: Tensor, mat2: Tensor) -> tuple[Tensor, ...]: ...

Mirrors the structured kernels of ``torchgen`` (``structured_delegate`` in native_functions.yaml).

An ``out=`` kernel that is not structured in torch may still say apart what it does with its outputs
before it computes (:func:`prologue`): what :mod:`mindtorch_v2.kernels.write_back` asks in its
stead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, TypeAlias, TypeVar

from mindtorch_v2.dispatch.forms import INPLACE, form_of, is_generated
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.native import NONE, Native
from mindtorch_v2.kernels import rows
from mindtorch_v2.tensor.tensor import Tensor

Outputs: TypeAlias = Sequence[Tensor | None]
Structured: TypeAlias = Callable[..., tuple[Tensor, ...]]

KEYS: Final = (
    *("CPU", "Meta"),
    *("CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional"),
)
"""Where torch has such a kernel: some operators stand at the composite key and are nothing but a
call of their ``out=`` form; others are the default of backends that have none."""

_STRUCTURED: Final[dict[tuple[str, int], tuple[Structured, int]]] = {}
"""By the functional operator's full name and the key: the kernel and its number of outputs."""


def structured(
    name: str, *, keys: Sequence[str] = KEYS, outputs: int = 1
) -> Callable[[Structured], Structured]:
    """Make a function the kernel of an operator and of its forms, at each of ``keys``."""

    def register(function: Structured) -> Structured:
        add(name, function, keys=keys, outputs=outputs)
        return function

    return register


def add(name: str, function: Structured, *, keys: Sequence[str] = KEYS, outputs: int = 1) -> None:
    for key in keys:
        rows.add(name, key, _with_short_way(partial(_functional, function, outputs), function))
        _STRUCTURED[name, int(DispatchKey[key])] = (function, outputs)


def _with_short_way(
    kernel: partial[Any], function: Structured, *, in_place: bool = False
) -> partial[Any]:
    """The kernel, with what its function has for plain calls: see
    :mod:`~mindtorch_v2.kernels.elementwise.plain`."""
    make = getattr(function, "short_way", None)
    if make is not None:
        kernel.short_way = make(in_place=in_place)  # type: ignore[attr-defined]
    return kernel


def function_of(name: str) -> Structured | None:
    """The structured kernel of a functional operator on the CPU, which on meta checks alone."""
    found = _STRUCTURED.get((name, int(DispatchKey.CPU)))
    return None if found is None else found[0]


def kernel_of(name: str, key: int) -> Native:
    """The structured kernel of an operator at a key, or the one that its form makes of it."""
    found = _STRUCTURED.get((name, key))
    if found is None:
        return _form(name, key)
    return Native(_with_short_way(partial(_functional, *found), found[0]))


Prologue: TypeAlias = Callable[..., object]
_AnyPrologue = TypeVar("_AnyPrologue", bound=Prologue)

_PROLOGUES: Final[dict[str, Prologue]] = {}
"""By the functional operator's full name."""


def prologue(name: str) -> Callable[[_AnyPrologue], _AnyPrologue]:
    """Make a function what an operator's ``out=`` kernel on the CPU begins with.

    It is called as a structured kernel is, with outputs that are given: it raises what is wrong
    with them, resizes them, and computes nothing.  Structured kernels need one only if they look
    at an output's dtype when they compute: on meta they do not come to that.
    """

    def register(function: _AnyPrologue) -> _AnyPrologue:
        _PROLOGUES[name] = function
        return function

    return register


def prologue_of(name: str) -> Prologue | None:
    return _PROLOGUES.get(name)


def is_structured(kernel: Callable[..., Any] | None) -> bool:
    """Whether a kernel is one of these, in any form: on meta it checks as it does elsewhere."""
    return isinstance(kernel, partial) and kernel.func in (_functional, _inplace, _out)


def _functional(function: Structured, count: int, /, *stack: Any) -> Any:
    made = function((None,) * count, *stack)
    return made[0] if count == 1 else made


class InPlace(tuple[Tensor, ...]):
    """What an in-place form writes to, which ``out=`` forms may be given as well."""

    __slots__ = ()


class Assigned(tuple[Tensor, ...]):
    """What a kernel assigns to the references to its outputs, which in C++ are others then: the
    tensors that were given stay as they are."""

    __slots__ = ()


def changed_in_place(outputs: Outputs) -> Tensor | None:
    """The tensor whose place the result takes, in an operator's in-place form."""
    return outputs[0] if isinstance(outputs, InPlace) else None


def _inplace(function: Structured, /, *stack: Any) -> Tensor:
    function(InPlace(stack[:1]), *stack)
    target: Tensor = stack[0]
    return target


def _out(function: Structured, count: int, /, *stack: Any) -> Any:
    """``out=`` arguments stand last in a schema."""
    outputs = stack[len(stack) - count :]
    found = function(outputs, *stack[: len(stack) - count])
    answered = found if isinstance(found, Assigned) else outputs
    return answered[0] if count == 1 else answered


def _form(name: str, key: int) -> Native:
    form = None if is_generated(name) else form_of(name)
    found = None if form is None else _STRUCTURED.get((form.functional, key))
    if form is None or found is None:
        return NONE
    function, count = found
    if form.kind == INPLACE:
        inplace = partial(_inplace, function)
        return Native(_with_short_way(inplace, function, in_place=True))
    return Native(partial(_out, function, count))


rows.DERIVED.append(_form)
