"""What torch runs at a key for every operator that has nothing there: its boxed fallbacks.

Each is named after its C++ function.  They are of three kinds: those that do something and call
again below, those that only call again, and those that refuse.  One that wraps or unwraps tensors
(functorch, functionalization) is here as far as no tensor is wrapped.  Those of the keys that lead
to Python are in :mod:`~mindtorch_v2.binding.python_fallbacks`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from mindtorch_v2.binding import autograd_fallback, python_fallbacks
from mindtorch_v2.binding.unboxed import PLAIN, Route, Run, makes, routes
from mindtorch_v2.binding.written import Factory, factory, names
from mindtorch_v2.dispatch import tls
from mindtorch_v2.dispatch.key import PIPELINE_VALUE, DispatchKey
from mindtorch_v2.dispatch.keyset import (
    AUTOGRAD_KEYS,
    BACKEND_MASK,
    full_after,
    intersection,
    mask_of,
    runtime_keys,
)
from mindtorch_v2.dispatch.observers import OBSERVERS
from mindtorch_v2.dispatch.python_modules import no_meta_kernel
from mindtorch_v2.messages import internal_assert
from mindtorch_v2.schema.function_schema import Argument, FunctionSchema
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.tensor.zeros import is_zero_tensor
from mindtorch_v2.torch_dispatch import flattened

if TYPE_CHECKING:
    from mindtorch_v2.autograd.basic_ops import WarnNotImplemented
    from mindtorch_v2.binding.operators import Call, Operator

Fallback = Callable[["Call", int], Any]
"""Runs a call with the keyset that it came with."""


def _below(call: Call, keyset: int, key: int) -> Any:
    return call.redispatch(intersection(keyset, full_after(key)))


def tensors_of(values: Iterable[Any]) -> Iterator[Tensor]:
    """The tensors among values, those in lists too."""
    return (value for value in flattened(values) if isinstance(value, Tensor))


def list_of_tensors(values: Iterable[Any]) -> list[Tensor]:
    """The same as a list, for who asks of every call."""
    found: list[Tensor] = []
    for value in values:
        if isinstance(value, Tensor):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found += list_of_tensors(value)
    return found


# --- autograd ---------------------------------------------------------------------------------


def basic_autograd_not_implemented(call: Call, keyset: int) -> Any:
    """``basicAutogradNotImplementedFallback``: what comes of tensors that require grad requires
    grad, though nobody knows its derivative, and backward warns of it."""
    from mindtorch_v2.autograd.basic_ops import WarnNotImplemented
    from mindtorch_v2.autograd.variable import set_history

    if autograd_fallback.mode == "nothing":
        return _below(call, keyset, DispatchKey.AutogradOther)
    arguments = zip(call.operator.schema.arguments, call.stack, strict=True)
    inputs = tuple(tensors_of(value for each, value in arguments if not _has_gaps(each)))
    node = None
    if tls.is_grad_enabled() and any(tensor.requires_grad for tensor in inputs):
        node = WarnNotImplemented(call.operator.name, inputs)
    answer = _below(call, keyset, DispatchKey.AutogradOther)
    if node is not None:
        answers = answer if isinstance(answer, tuple) else (answer,)
        for expected, value in zip(call.operator.schema.returns, answers, strict=False):
            is_mutable = expected.alias_info is not None and expected.alias_info.is_write
            for tensor in tensors_of((value,)):
                if not tensor._is_differentiable():
                    continue
                if tensor.requires_grad:
                    _have_backward_warn(tensor, node, is_mutable)
                elif not is_mutable:
                    set_history((tensor,), node)
    return answer


def _have_backward_warn(tensor: Tensor, node: WarnNotImplemented, is_mutable: bool) -> None:
    """Of a result that has a history: the kernel called operators that do have derivatives."""
    from mindtorch_v2.autograd.variable import register_hook

    register_hook(tensor, node.warn)
    base = tensor._base if is_mutable else None  # the view's history may be made anew
    if base is not None and base.requires_grad:
        register_hook(base, node.warn)


@makes(basic_autograd_not_implemented)
def _without_history(operator: Operator, keyset: int) -> Run:
    """The same while no input requires grad."""
    below = intersection(keyset, full_after(DispatchKey.AutogradOther))

    def any_way(*stack: Any) -> Any:
        return basic_autograd_not_implemented(operator.call(stack), keyset)

    may_be_tensors = tuple("Tensor" in str(each.type) for each in operator.schema.arguments)
    needed = any_way, operator.unboxed.found_below(below), OBSERVERS, Tensor, PLAIN
    return _passing_on(may_be_tensors)(*needed)


@routes(basic_autograd_not_implemented)
def _past_autograd(operator: Operator, keyset: int) -> Route | None:
    """The same for a user's call: straight to what is below, while autograd knows no tensor."""
    if any(each.real_type.kind == "ListType" for each in operator.schema.arguments):
        return None
    below = intersection(keyset, full_after(DispatchKey.AutogradOther))
    route = operator.unboxed.found_route_below(below)
    return route and (*route[:2], _without_history(operator, keyset))


@cache
def _passing_on(may_be_tensors: tuple[bool, ...]) -> Factory:
    """Makes what passes a call on while nobody observes and no value requires grad."""
    values = names(len(may_be_tensors))
    checks = (
        f"({name}._autograd is None or not {name}._requires_grad()"
        f" if type({name}) is Tensor else type({name}) in PLAIN)"
        if may_be_tensor
        else f"type({name}) in PLAIN"
        for name, may_be_tensor in zip(values.split(", "), may_be_tensors, strict=False)
    )
    is_usual = " and ".join(("not OBSERVERS.count", *checks))
    body = f"below({values}) if {is_usual} else any_way({values})"
    needs = "any_way, below, OBSERVERS, Tensor, PLAIN"
    return factory(needs, values, body, __name__)


def may_require_grad(stack: Iterable[Any]) -> bool:
    """Whether a closer look is needed to tell that nothing among the values requires grad."""
    for value in stack:
        if isinstance(value, Tensor):
            if value._autograd is not None and value._requires_grad():
                return True
        elif isinstance(value, (list, tuple)) and may_require_grad(value):
            return True
    return False


def _has_gaps(argument: Argument) -> bool:
    """A list of tensors that may miss is no list of tensors to C++, which passes it over."""
    return str(argument.type) == "List[Optional[Tensor]]"


# --- lazy conjugation, negation, zeros --------------------------------------------------------


def _is_write(schema: FunctionSchema, title: str, name: str) -> bool | None:
    """Whether the arguments that results may alias are written to; None if there are none.

    RuntimeError of the fallback called ``name`` for arguments of both kinds.
    """
    kinds = {each.alias_info.is_write for each in schema.arguments if each.alias_info is not None}
    if len(kinds) > 1:
        raise RuntimeError(
            f"Unsupported operator for {title}: {schema.name}{name} doesn't work for operators "
            "with a mix mutable and non-mutable inputs that alias with outputs, this must be "
            "implemented manually.  If you got this error on a core op, please report a bug to "
            "PyTorch."
        )
    return next(iter(kinds), None)


_TENSOR_LISTS: Final = frozenset(("List[Tensor]", "Optional[List[Tensor]]"))
"""Of these, C++ says that they are lists of tensors; of a list of optional tensors it does not."""


def _materialised(call: Call, resolve: Callable[[Argument, Tensor], Tensor]) -> Call:
    """The call with its tensors resolved, those in lists of tensors too."""
    stack = []
    for argument, value in zip(call.operator.schema.arguments, call.stack, strict=True):
        if isinstance(value, Tensor):
            value = resolve(argument, value)
        elif value is not None and str(argument.type) in _TENSOR_LISTS:
            value = [resolve(argument, each) for each in value]
        stack.append(value)
    return call._replace(stack=tuple(stack))


def _math_bit(key: int, name: str, is_set: Callable[[Tensor], bool]) -> Fallback:
    """``MathOpFallback``: the kernel sees tensors whose bit is resolved, and what it has written
    to one of them is copied back."""

    def run(call: Call, keyset: int) -> Any:
        from mindtorch_v2.kernels.factories.filling import COPY  # both stand on this package
        from mindtorch_v2.kernels.outputs import resize_output

        schema = call.operator.schema
        if _is_write(schema, f"{name} fallback", f"{name} fallback") is False:
            return _below(call, keyset, key)
        written: list[tuple[Tensor, Tensor]] = []

        def resolve(argument: Argument, tensor: Tensor) -> Tensor:
            if not is_set(tensor):
                return tensor
            mutable = argument.alias_info is not None
            if mutable and argument.real_type.kind == "ListType":
                raise RuntimeError(
                    f" fallback doesn't currently support mutable TensorLists with {name} inputs. "
                    f"Please materialize all the {name} input tensor(s) in the mutable TensorList "
                    f"inputs before calling {schema.name}"
                )
            clone = tensor.clone()
            if mutable and written:
                raise RuntimeError(
                    f"{name} fallback does not support operators with more than one mutable "
                    f"tensors with {name}bit set to true."
                )
            if mutable:
                written.append((tensor, clone))
            return clone

        answer = _below(_materialised(call, resolve), keyset, key)
        for tensor, clone in written:
            first, *others = answer if isinstance(answer, tuple) else (answer,)
            if first is not clone:
                condition = "cloned_mutable_input.is_same(returned_output)"
                raise RuntimeError(internal_assert(condition, "MathOpFallback"))
            resize_output(tensor, clone._sizes)
            COPY(tensor, clone, False)
            answer = (tensor, *others) if others else tensor
        return answer

    return run


def _zero_tensor(call: Call, keyset: int) -> Any:
    """``zeroTensorFallback``: the kernel sees zeros in place of tensors that store none."""
    from mindtorch_v2.kernels.elementwise.zero_tensor import materialised  # stands on this package

    schema = call.operator.schema
    if _is_write(schema, "ZeroTensorFallback", "ZeroTensor fallback") is False:
        return _below(call, keyset, DispatchKey.ZeroTensor)

    def resolve(argument: Argument, tensor: Tensor) -> Tensor:
        if not is_zero_tensor(tensor):
            return tensor
        if argument.alias_info is not None:
            raise RuntimeError(
                "ZeroTensors are immutable. Please use the materialized zero tensor obtained "
                "using .clone() if you want a mutable tensor."
            )
        return materialised(tensor)

    return _below(_materialised(call, resolve), keyset, DispatchKey.ZeroTensor)


# --- functionalization ------------------------------------------------------------------------


def _functionalize(call: Call, keyset: int) -> Any:
    from mindtorch_v2.functionalize.fallback import functionalize_fallback  # stands on this package

    return functionalize_fallback(call, keyset)


# --- functorch --------------------------------------------------------------------------------


def _front(call: Call, keyset: int) -> Any:
    from mindtorch_v2.functionalize.layers import front_fallback  # stands on this package

    return front_fallback(call, keyset)


def _back(call: Call, keyset: int) -> Any:
    from mindtorch_v2.functionalize.layers import back_fallback  # stands on this package

    return back_fallback(call, keyset)


def _batched(key: int, title: str) -> Fallback:
    """``batchedTensorForLoopFallback`` outside of vmap."""

    def run(call: Call, keyset: int) -> Any:
        schema = call.operator.schema
        takes_list = any(str(each.type) == "List[Tensor]" for each in schema.arguments)
        if takes_list or any(each.type.kind != "TensorType" for each in schema.returns):
            raise RuntimeError(
                f"{title} not implemented for {call.operator.full_name}. "
                "We could not generate a fallback."
            )
        if any(str(each.type) == "Tensor" for each in schema.arguments) or any(
            isinstance(value, Tensor) for value in call.stack
        ):
            raise RuntimeError(internal_assert("maybe_level.has_value()", "isBatchedAtLevel"))
        with tls.guarded(tls.ExcludeDispatchKeyGuard, mask_of(key)):
            return call.run()

    return run


# --- pipeline ---------------------------------------------------------------------------------


def _pipeline(call: Call, keyset: int) -> Any:
    from mindtorch_v2.pipeline.capture import pipeline_fallback  # stands on this package

    return pipeline_fallback(call, keyset)


@makes(_pipeline)
def _in_pipeline(operator: Operator, keyset: int) -> Run:
    from mindtorch_v2.pipeline.capture import run_in_pipeline  # stands on this package

    return run_in_pipeline(operator, keyset)


# --- refusals and keys that are only passed on ------------------------------------------------


def _passed_on(key: int) -> Fallback:
    return lambda call, keyset: _below(call, keyset, key)


def _asserts(condition: str, function: str, explanation: str = "") -> Fallback:
    """An assertion about a state that only torch's own modes bring about."""

    def run(call: Call, keyset: int) -> Any:
        raise RuntimeError(internal_assert(condition, function) + explanation)

    return run


def _meta(call: Call, keyset: int) -> Any:
    raise no_meta_kernel(call.operator.full_name)


def _named_not_supported(call: Call, keyset: int) -> Any:
    raise RuntimeError(
        f"{call.operator.full_name} is not yet supported with named tensors. Please drop names via "
        "`tensor = tensor.rename(None)`, call the op with an unnamed tensor, and set names on the "
        "result of the operation."
    )


def _all() -> Iterator[tuple[int, Fallback]]:
    for key in runtime_keys(AUTOGRAD_KEYS | BACKEND_MASK):
        yield key, basic_autograd_not_implemented
    yield DispatchKey.Conjugate, _math_bit(DispatchKey.Conjugate, "conjugate", Tensor._is_conj)
    yield DispatchKey.Negative, _math_bit(DispatchKey.Negative, "negation", Tensor._is_neg)
    yield DispatchKey.ZeroTensor, _zero_tensor
    yield DispatchKey.Functionalize, _functionalize
    batched, nested = DispatchKey.FuncTorchBatched, DispatchKey.BatchedNestedTensor
    yield batched, _batched(batched, "Batching rule")
    yield nested, _batched(nested, "Nested batching rule")
    yield DispatchKey.Python, python_fallbacks.python
    yield DispatchKey.PythonTLSSnapshot, python_fallbacks.snapshot
    yield DispatchKey.PythonDispatcher, python_fallbacks.python_dispatcher
    yield DispatchKey.PreDispatch, _passed_on(DispatchKey.PreDispatch)
    yield DispatchKey.FuncTorchDynamicLayerFrontMode, _front
    yield DispatchKey.FuncTorchDynamicLayerBackMode, _back
    yield (
        DispatchKey.FuncTorchGradWrapper,
        _asserts(
            "unwrapped_count > 0",
            "dead_tensor_wrapper_fallback",
            "Should have at least one dead wrapper",
        ),
    )
    yield PIPELINE_VALUE, _pipeline
    yield DispatchKey.Meta, _meta
    if "Named" in DispatchKey.__members__:
        yield DispatchKey.Named, _named_not_supported


FALLBACKS: Final[Mapping[int, Fallback]] = MappingProxyType(dict(_all()))
"""By runtime key."""
