"""Operators that torch generates because another form of them exists: functional and ``out=``.

A functional operator that is only there for a mutating one changes copies of the arguments; an
``out=`` operator that is only there for a functional one copies its results.  The tag ``generated``
says which they are.  Mirrors ``torchgen/native_function_generation.py``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final

from mindtorch_v2.binding.convert import enum_value
from mindtorch_v2.binding.operators import Call, Operator, find_operator
from mindtorch_v2.dispatch.forms import OUT, form_of, is_generated
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.native import NONE, Native
from mindtorch_v2.dispatch.operator_names import in_registration_order
from mindtorch_v2.kernels import rows
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import resize_output
from mindtorch_v2.messages import internal_assert
from mindtorch_v2.tensor.support import TYPE_NAMES
from mindtorch_v2.tensor.tensor import Tensor

_CLONE: Final = OperatorHandle("aten::clone")
_COPY_: Final = OperatorHandle("aten::copy_")
_KEY: Final = int(DispatchKey.CompositeExplicitAutograd)
_META: Final = int(DispatchKey.Meta)
"""Where some releases have the ``out=`` forms of functions in Python."""


def _operator(name: str) -> Operator:
    base, _, overload_name = name.partition(".")
    found = find_operator(base, overload_name)
    assert found is not None
    return found


@cache
def _mutating_form(name: str) -> str | None:
    """The operator that a generated functional one is there for."""
    base = name.partition(".")[0]
    plain = base.removesuffix("_functional")
    for candidate in (f"{plain}_", plain):
        for text in in_registration_order(candidate):
            full = f"{candidate}.{text.overload_name}" if text.overload_name else candidate
            form = form_of(full)
            if form is not None and form.functional == name and form.kind != OUT:
                return full
    return None


def _functional(mutating: Operator) -> Any:
    def run(operator: Operator, keyset: int, /, *stack: Any) -> Any:
        arguments = mutating.schema.arguments
        names = [each.name for each in operator.schema.arguments]
        values = dict(zip(names, stack, strict=True))
        changed = {each.name: _cloned(values[each.name]) for each in arguments if each.is_write}
        values.update(changed)
        answer = Call(mutating, tuple(values[each.name] for each in arguments)).run()
        returns = mutating.schema.returns
        results = answer if len(returns) > 1 else (answer,)
        pairs = zip(returns, results, strict=False)
        new = [value for each, value in pairs if each.alias_info is None]
        found = (*new, *changed.values())
        return found[0] if len(found) == 1 else found

    return run


def _cloned(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_cloned(each) for each in value]
    return None if value is None else _CLONE(value, memory_format=None)


def _out(functional: Operator) -> Any:
    def run(operator: Operator, keyset: int, /, *stack: Any) -> Any:
        arguments = operator.schema.arguments
        values = {each.name: value for each, value in zip(arguments, stack, strict=True)}
        outs = [values[each.name] for each in arguments if each.is_out]
        values.update(_options_of(outs[0], values))
        wanted = functional.schema.arguments
        answer = Call(functional, tuple(values.get(each.name) for each in wanted)).run()
        results = (answer,) if len(functional.schema.returns) == 1 else answer
        for out, result in zip(outs, results, strict=False):  # an output may want the first alone
            copied_into(out, result)
        if not operator.schema.returns:
            return None
        return tuple(outs) if len(outs) > 1 else outs[0]

    return run


def _options_of(out: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """What the functional operator is to make, where only an ``out=`` tensor says so."""
    if not isinstance(out, Tensor):
        return {}
    options = {
        "dtype": enum_value(out._dtype),
        "layout": enum_value(out._layout),
        "device": out._device,
    }
    return {name: value for name, value in options.items() if name not in given}


def copied_into(out: Any, result: Any) -> None:
    """``copy_arg``, and ``resize_out_helper`` before it."""
    if isinstance(out, Sequence):
        if len(out) != len(result):
            raise RuntimeError(internal_assert("dst.size() == src.size()", "copy_arg"))
        for one, each in zip(out, result, strict=True):
            copied_into(one, each)
        return
    resize_output(out, (0,) if result is None else result._sizes)
    if result is None:
        raise RuntimeError(
            "Expected out tensor to have dtype nullptr (uninitialized), but got "
            f"{TYPE_NAMES[out._dtype]} instead"
        )
    if out._dtype is not result._dtype:
        raise RuntimeError(
            f"Expected out tensor to have dtype {TYPE_NAMES[result._dtype]}, but got "
            f"{TYPE_NAMES[out._dtype]} instead"
        )
    if out._device != result._device:
        raise RuntimeError(
            f"Expected out tensor to have device {result._device}, but got {out._device} instead"
        )
    _COPY_(out, result)


def _find(name: str, key: int) -> Native:
    if key not in (_KEY, _META) or not is_generated(name):
        return NONE
    form = form_of(name)
    if form is not None and form.kind == OUT:
        return Native(_out(_operator(form.functional)), with_keyset=True)
    mutating = _mutating_form(name) if key == _KEY else None
    if mutating is None:
        return NONE
    return Native(_functional(_operator(mutating)), with_keyset=True)


rows.DERIVED.append(_find)
