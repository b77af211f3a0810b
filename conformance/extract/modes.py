"""Extracts how modes differ between releases: ``torch.utils._python_dispatch`` with what it has for
subclasses that wrap tensors, and which functions that torch binds by hand ask no override of
functions.
"""

import re
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import torch
from torch import _C as C
from torch.overrides import (
    TorchFunctionMode,
    _get_current_function_mode_stack,
    is_tensor_method_or_property,
)
from torch.utils._device import DeviceContext
from torch.utils._python_dispatch import (
    TorchDispatchMode,
    _correct_storage_aliasing,
    get_alias_info,
    return_and_correct_aliasing,
)

from conformance.extract import signatures


class Plain(TorchDispatchMode):
    @staticmethod
    def __torch_dispatch__(*given: Any) -> Any: ...


ONE = torch.ones(2)


def extract() -> dict[str, Any]:
    """The section ``modes.json``."""
    return {
        # What a mode keeps of the time before it was entered: attributes in order ...
        "flags": list(vars(TorchDispatchMode())),
        # ... which hold one flag or, for every time that it was entered, one.
        "keeps_stack": hasattr(next(iter(vars(TorchDispatchMode()).values())), "append"),
        # Whether what a class defines as __torch_dispatch__ becomes a function around it.
        "wraps_handlers": not isinstance(vars(Plain)["__torch_dispatch__"], staticmethod),
        "knows_infra_modes": hasattr(TorchDispatchMode, "is_infra_mode"),
        "copies_detached": calls_of(ONE.detach) > 1,
        # Whether the mode of a default device goes below those that are there.
        "devices_lie_below": lies_below(),
        "unasked": sorted(set(unasked())),
        "tensor_methods": sorted(tensor_methods()),
        "refusals": {
            "key": refusal(lambda: TorchDispatchMode(0)),
            "other key": refusal(TorchDispatchMode(C.DispatchKey.CPU).__enter__),
            "pre-dispatch": refusal(TorchDispatchMode(C.DispatchKey.PreDispatch).__enter__),
        },
        "aliasing": aliasing(),
    }


def calls_of(function: Callable[[], object]) -> int:
    """How often a mode is asked while a function runs."""
    calls = 0

    class Counting(TorchDispatchMode):
        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            nonlocal calls
            calls += 1
            return func(*args, **(kwargs or {}))

    with Counting():
        function()
    return calls


def lies_below() -> bool:
    """Whether a device's mode is the first to be entered, whoever is there."""
    context = DeviceContext("cpu")
    with TorchFunctionMode(), context:
        return _get_current_function_mode_stack()[0] is context


def refusal(provoke: Any) -> str:
    """The message of an AssertionError, with the type that it speaks of as ``%r``."""
    try:
        provoke()
    except AssertionError as error:
        return re.sub("<class '.+'>", "%r", str(error))
    raise AssertionError("torch takes what it used to refuse; look at modes.py")


def tensor_methods() -> Iterator[str]:
    """Methods of tensors that overrides see, says torch."""
    for name in dir(torch.Tensor):
        method = getattr(torch.Tensor, name)
        if hasattr(method, "__name__") and is_tensor_method_or_property(method):
            yield name


# --- return_and_correct_aliasing ------------------------------------------------------------------


def aliasing() -> dict[str, Any]:
    """When schemas are looked at, and the words in which what is no view is refused."""
    library = torch.library.Library("extracted", "DEF")
    names = iter("abcdefgh")

    def operator(signature: str, *tags: torch.Tag) -> Any:
        name = next(names)
        library.define(name + signature, tags=tags)
        return getattr(torch.ops.extracted, name).default

    def corrected(op: Any, *args: Any, out: Any = ONE) -> Callable[[], object]:
        return lambda: return_and_correct_aliasing(op, args, {}, out)

    some_written = operator("(Tensor(a!) x) -> (Tensor(a!), Tensor)")
    read = operator("(Tensor(a|b) x) -> Tensor(a|b)")
    view = operator("(Tensor(a) x) -> Tensor(a)")
    both_written = operator("(Tensor(a!) x, Tensor(b!) y) -> (Tensor(a!), Tensor(b!))")
    of_one_result: Any = corrected(both_written, ONE, ONE, out=(ONE,))()
    info = get_alias_info(view)
    return {
        "checks_schemas_first": raises(RuntimeError, lambda: get_alias_info(some_written)),
        "refuses_sets_of_reads": raises(AssertionError, corrected(read, ONE)),
        "returns_as_many_as_it_is_given": len(of_one_result) == 1,
        "sets_storages_of_another_device": sets_storages_of_another_device(),
        "refusals": {
            "operator": refusal(lambda: _correct_storage_aliasing(None, info, (ONE,), (ONE,))),
            "arguments": refusal(lambda: return_and_correct_aliasing(view, [ONE], {}, ONE)),
            "results": refusal(lambda: _correct_storage_aliasing(view, info, (ONE,), ONE)),
            "result": refusal(corrected(view, ONE, out=0)),
            "set of aliases": refusal(corrected(operator("(Tensor(a|b!) x) -> Tensor(a|b!)"), ONE)),
            "arguments of an alias": refusal(
                corrected(operator("(Tensor(a!) x, Tensor(a!) y) -> Tensor(a!)"), ONE, ONE)
            ),
            "mutated arguments": refusal(
                corrected(operator("(Tensor x) -> ()", torch.Tag.inplace_view), ONE)
            ),
        },
    }


def sets_storages_of_another_device() -> bool:
    """Whether nobody asks where the storage is that a tensor is given unsafely."""
    if not hasattr(torch, "_functionalize_unsafe_set"):
        return False
    call = torch._functionalize_unsafe_set
    return not raises(RuntimeError, lambda: call(torch.ones(1), torch.ones(1, device="meta")))


def raises(kind: type[Exception], call: Callable[[], object]) -> bool:
    try:
        call()
    except kind:
        return True
    return False


# --- functions that ask nobody ------------------------------------------------------------------


class SeenError(Exception):
    """A mode was asked."""


class Refusing(TorchFunctionMode):
    def __torch_function__(self, *given: Any, **kwargs: Any) -> Any:
        raise SeenError


VALUES: tuple[Any, ...] = (ONE, 0, True, [1], [ONE], torch.Tensor, bytearray(8))


def unasked() -> Iterator[str]:
    """C functions with signatures written by hand that run though a mode is there."""
    found = signatures.extract()
    for name in found["compiled"]:
        if is_unasked(getattr(C._VariableFunctions, name)):
            yield name
    for owner, names in found["manual"].items():
        for name, binding in names.items():
            function = function_of(owner, name)
            if binding["signatures"] and not name.startswith("__") and is_unasked(function):
                yield binding["function"]


def function_of(owner: str, name: str) -> Callable[..., Any]:
    if owner != "Tensor":
        module = C._VariableFunctions if owner == "torch" else getattr(C, f"_{owner}")
        function: Callable[..., Any] = getattr(module, name)
        return function
    method = getattr(C.TensorBase, name)
    static = isinstance(vars(C.TensorBase)[name], (staticmethod, type(len)))
    return method if static else lambda *args, **kwargs: method(ONE, *args, **kwargs)


def is_unasked(function: Callable[..., Any]) -> bool:
    """Whether calls that the function takes ask no mode."""
    for count, options in product(range(4), ({}, {"dtype": torch.int8})):
        for args in product(VALUES, repeat=count):
            try:
                with Refusing():
                    function(*args, **options)
            except SeenError:
                return False
            except TypeError as error:
                if "must define __torch_dispatch__" in str(error):
                    return True
                continue
            except Exception:  # whatever it is, it comes of a call that was taken
                return True
            return True
    return False
