"""Kernels at Meta, made of the profile's facts and the bodies that this package has.

An operator has one if it has a body of its own, or if this package computes it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from inspect import Parameter, signature
from typing import Any, Final

from mindtorch_v2 import profile
from mindtorch_v2.binding.python_kernel import returned
from mindtorch_v2.dispatch.forms import OUT, form_of
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.native import NONE, Native
from mindtorch_v2.kernels import refs, rows, structured
from mindtorch_v2.kernels.elementwise.tensor_iterator import is_standing_for_cpu
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.modules import import_modules
from mindtorch_v2.kernels.refs.bodies import BODIES, binary, unary
from mindtorch_v2.kernels.refs.common import worded
from mindtorch_v2.kernels.refs.wrappers import FACTORY_OPTIONS, WRAPPERS, Ref
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.dtype import DType
from mindtorch_v2.tensor.tensor import Tensor

import_modules(refs)

_CPU: Final = int(DispatchKey.CPU)
_META: Final = int(DispatchKey.Meta)
_BACKENDS: Final = (int(DispatchKey.CPU), int(DispatchKey.CompositeExplicitAutograd))
_COMPUTING: Final = (
    *_BACKENDS,
    int(DispatchKey.CompositeExplicitAutogradNonFunctional),
    int(DispatchKey.CompositeImplicitAutograd),
)
_REFS: Final = "torch._refs."
_COPY_: Final = OperatorHandle("aten::copy_")
_INPLACE_OP: Final = "torch._decomp.decompositions.register_inplace"


_ELEMENTWISE: Final[dict[tuple[str, ...], Ref]] = {("a",): unary, ("a", "b"): binary}
"""By the names of what is promoted."""


@cache
def find(name: str, key: int) -> Native:
    """The Python kernel of an operator at Meta; NONE where torch or this package has none."""
    if key != _META:
        return NONE
    facts = profile.active().refs
    function = facts["functions"].get(name)
    if function is None:
        return NONE
    wrappers = facts["wrappers"][facts["wrapped"][name]]
    found = _body(name, function, wrappers)
    if found is None and wrappers and wrappers[0][0] == "out" and _is_out_form(name):
        found, wrappers = _functional(name), wrappers[:1]  # where the others are around it as well
    if found is None:
        return NONE
    for wrapper, options in reversed(wrappers):
        named = {"shown": function} if wrapper == "out" else {}
        found = WRAPPERS[wrapper](found, **options, **named)
    if name in facts["taken"]:
        is_bound = any(wrapper == "promote" for wrapper, _ in wrappers)
        shown = None if is_bound else function.rpartition(".")[2]
        found = _taking(found, facts["taken"][name], shown)
    return Native(_unless_standing_in(name, _with_python_arguments(name, found)))


def _unless_standing_in(name: str, python: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel in Python, but for tensors that stand for others on the CPU: there what the CPU
    is asked speaks, where it can be asked without a byte."""
    native = _without_bytes(name)
    if native is None:
        return python

    def run(*stack: Any) -> Any:
        return native(*stack) if is_standing_for_cpu() else python(*stack)

    return run


def _without_bytes(name: str) -> Callable[..., Any] | None:
    """What computes on the CPU and looks at metadata alone on meta."""
    found = structured.kernel_of(name, _CPU).function
    if found is not None:
        return found
    for key in (_META, *_BACKENDS[1:]):
        row = rows.ROWS.get((name, key), NONE)
        if row.function is not None and not row.with_keyset:
            return row.function
    return None


def _body(name: str, function: str, wrappers: list[Any]) -> Ref | None:
    """The innermost function; those of one or two tensors need none of their own."""
    if function == _INPLACE_OP:
        return _inplace_op(name)
    base = name.removeprefix("aten::").partition(".")[0]
    is_copy = base.endswith("_copy") and function == _REFS + base
    if function.startswith("aten.") or is_copy:  # the copy of a view, whoever wrote it
        return _operator(name)
    own = BODIES.get(function)
    if own is not None:
        return own
    promoted = [options["names"] for wrapper, options in wrappers if wrapper == "promote"]
    if not function.startswith(_REFS) or not promoted or not _computes(name):
        return None
    return _ELEMENTWISE.get(tuple(promoted[0]))


def _taking(function: Ref, count: int, shown: str | None) -> Ref:
    """One that takes fewer arguments by position than its operator has.

    Python says so of the function ``shown``, a wrapper in words of its own where it binds them.
    """

    parameters = signature(function).parameters.values()
    least = min(count, sum(each.default is Parameter.empty for each in parameters))

    def run(*args: Any, **kwargs: Any) -> Any:
        if len(args) <= count:
            return function(*args, **kwargs)
        if shown is None:
            raise worded(
                "more arguments than a wrapper binds", **{"2": f"{count}", "3": f"{len(args)}"}
            )
        takes = f"{count}" if least == count else f"from {least} to {count}"
        raise TypeError(f"{shown}() takes {takes} positional arguments but {len(args)} were given")

    return run


def _computes(name: str) -> bool:
    """Whether this package computes the operator, or the functional one of which it is a form."""
    form = form_of(name)
    functional = name if form is None else form.functional
    return any((functional, key) in rows.ROWS for key in _COMPUTING)


def _inplace_op(name: str) -> Ref | None:
    """``register_inplace``: the functional operator, then a copy."""
    functional = _operator(name)
    if functional is None:
        return None

    def inplace(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        copied: Tensor = _COPY_(self, functional(self, *args, **kwargs))
        return copied

    return inplace


def _is_out_form(name: str) -> bool:
    form = form_of(name)
    return form is not None and form.kind == OUT and _computes(name)


def _functional(name: str) -> Ref | None:
    """The operator that an ``out=`` form is one of, where no function has a body of its own."""
    functional = _operator(name)
    assert isinstance(functional, OperatorHandle)
    taken = {argument.name for argument in functional.operator.schema.arguments}
    if not taken >= FACTORY_OPTIONS:
        return functional

    def factory(
        *args: Any, dtype: DType | None = None, device: Device | None = None, **kwargs: Any
    ) -> Any:
        return functional(*args, dtype=dtype, device=device, **kwargs)

    return factory


def _operator(name: str) -> Ref | None:
    form = form_of(name)
    return None if form is None else OperatorHandle(form.functional)


def _with_python_arguments(name: str, function: Ref) -> Callable[..., Any]:
    """A kernel that gets a stack, and passes on what a kernel in Python is called with."""
    handle = OperatorHandle(name)

    def run(*stack: Any) -> Any:
        args, kwargs = handle.operator.unboxed.python_arguments(stack)
        answer = function(*args, **kwargs)
        if answer is None or handle.operator.schema.returns:
            return answer
        return returned(handle.operator, answer, "PythonKernelHolder")  # which refuses it

    return run


rows.FIRST.append(find)
