"""The kernel that a custom operator has at Autograd, and functions that take lists of tensors.

Mirrors ``torch/_library/autograd.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from mindtorch_v2 import _C
from mindtorch_v2._library.release import does
from mindtorch_v2._library.utils import (
    fill_defaults,
    has_kwarg_only_args,
    is_out,
    is_tensorlist_like_type,
)
from mindtorch_v2.autograd.function import Function
from mindtorch_v2.dispatch import tls
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.utils import _pytree

if TYPE_CHECKING:
    from mindtorch_v2._ops import OpOverload

_Class = TypeVar("_Class", bound=type[Function])


class InfoProtocol(Protocol):
    """An operator's formula, which may change after its kernel is registered."""

    _backward_fn: Callable[..., Any] | None
    _setup_context_fn: Callable[..., Any] | None


@dataclass
class Info:
    """A formula that does not change."""

    _backward_fn: Callable[..., Any] | None
    _setup_context_fn: Callable[..., Any] | None


@dataclass
class Metadata:
    """What the kernel was called with besides the arguments: the function's last argument."""

    keyset: Any
    keyword_only_args: dict[str, Any]


def any_requires_grad(*args: Any, **kwargs: Any) -> bool:
    """Whether an argument requires grad: a tensor, or one in a list of nothing but tensors.

    ``torch._C._any_requires_grad`` of 2.8 and later; 2.5 to 2.7 ask the same in Python.
    """
    for given in (*args, *kwargs.values()):
        if isinstance(given, Tensor):
            listed = [given]
        else:
            listed = given if isinstance(given, list) and not _is_leaf(given) else []
        if any(each.requires_grad for each in listed):
            return True
    return False


def make_autograd_impl(op: OpOverload, info: InfoProtocol) -> Callable[..., Any]:
    """The kernel; its first argument is the keyset.

    RuntimeError from backward where no formula is registered, and in releases that count them if it
    returns another number of gradients than there are inputs.
    """
    schema = op._schema
    has_keyword_only = has_kwarg_only_args(schema)
    has_lists = any(
        is_tensorlist_like_type(each.type) for each in (*schema.arguments, *schema.returns)
    )
    positional = sum(not each.kwarg_only for each in schema.arguments)
    counts = does("gradients of custom operators are counted")

    def below(keyset: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return op.redispatch(keyset & _C._after_autograd_keyset, *args, **kwargs)

    def forward_no_grad(keyset: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        with _C._AutoDispatchBelowAutograd():
            return below(keyset, args, kwargs)

    def forward(ctx: Any, *args: Any) -> Any:
        given, metadata = args[:-1], args[-1]
        kwargs = metadata.keyword_only_args
        with _C._AutoDispatchBelowAutograd():
            result = below(metadata.keyset, given, kwargs)
            if info._setup_context_fn:
                inputs, named = fill_defaults(schema, given, kwargs)
                more = {"keyword_only_inputs": named} if has_keyword_only else {}
                info._setup_context_fn(ctx=ctx, inputs=inputs, **more, output=result)
        return result

    def backward(ctx: Any, *grads: Any) -> tuple[Any, ...]:
        if not info._backward_fn:
            raise RuntimeError(
                f"Trying to backward through {op} but no autograd formula was registered. Please "
                "use register_autograd to add one."
            )
        needed = ctx.needs_input_grad
        try:
            ctx.needs_input_grad = needed[:-1]
            result = info._backward_fn(ctx, *grads)
        finally:
            ctx.needs_input_grad = needed
        if counts:
            result = _counted(op, result, len(needed) - 1, positional, drops=has_lists)
        return (*result, None) if isinstance(result, tuple) else (result, None)

    name = f"GeneratedBackwardFor_{op._namespace}_{op._opname}_{op._overloadname}"
    members = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    generated: Any = type(name, (Function,), members)
    if has_lists:
        generated = supports_tensorlist(generated)
    always = does("autograd's Function runs even where nothing requires grad")

    def autograd_impl(keyset: Any, *args: Any, **keyword_only_args: Any) -> Any:
        if is_out(op):
            if tls.is_grad_enabled() and any_requires_grad(*args, **keyword_only_args):
                raise RuntimeError(
                    f"{op._opname}(): functions with out=... arguments don't support automatic "
                    "differentiation, but one of the arguments requires grad."
                )
            return forward_no_grad(keyset, args, keyword_only_args)
        if always or (tls.is_grad_enabled() and any_requires_grad(*args)):
            return generated.apply(*args, Metadata(keyset, keyword_only_args))
        return forward_no_grad(keyset, args, keyword_only_args)

    return autograd_impl


def _counted(op: OpOverload, result: Any, inputs: int, positional: int, *, drops: bool) -> Any:
    """What a formula returned, if as many as the ``inputs`` that were passed, or as the operator
    has ``positional`` ones; those beyond the inputs are None, and of lists they are dropped."""
    actual = len(result) if isinstance(result, tuple) else 1
    if actual not in {inputs, positional}:
        expected = str(inputs) if inputs == positional else f"{inputs} or {positional}"
        raise RuntimeError(
            f"The backward formula for {op} returned an incorrect number of gradients (expected "
            f"{expected}, got {actual}). Expected one gradient for each forward input, or for each "
            "positional input to the operator. Use None for inputs that do not require a gradient."
        )
    if not isinstance(result, tuple):
        return result
    if any(grad is not None for grad in result[inputs:]):
        raise RuntimeError(
            f"The backward formula for {op} returned a non-None gradient for an input that was not "
            "passed to the operator. Defaulted inputs that were not passed through autograd must "
            "return None."
        )
    return result[:inputs] if drops else result


# --- lists of tensors -------------------------------------------------------------------------


@dataclass
class TensorListMetadata:
    """How the arguments and results of a call nest, which the function's nodes see flat."""

    input_spec: _pytree.TreeSpec
    output_spec: _pytree.TreeSpec | None = None
    result_is_tuple: bool | None = None


def supports_tensorlist(cls: _Class) -> _Class:
    """Have a function take and return lists of tensors, each of which is differentiated.

    RuntimeError from backward if what it returns does not nest as the inputs do.
    """
    target: Any = cls
    forward, backward, apply = target.forward, target.backward, target.apply

    def flat_forward(ctx: Any, *args: Any) -> tuple[Any, ...]:
        *given, metadata = args
        if not isinstance(metadata, TensorListMetadata):
            raise NotImplementedError(
                "NYI: calling supports_tensorlist autograd.Function.forward directly. You should "
                "probably be calling .apply instead. Please file an issue if not."
            )
        result = forward(ctx, *_pytree.tree_unflatten(given, metadata.input_spec))
        metadata.result_is_tuple = isinstance(result, tuple)
        nested = result if metadata.result_is_tuple else (result,)
        flat, metadata.output_spec = _pytree.tree_flatten(nested, _is_leaf)
        if hasattr(ctx, "_pt_metadata"):
            raise RuntimeError("Please don't set ctx._pt_metadata; PyTorch uses it to store info")
        ctx._pt_metadata = metadata
        return tuple(flat)

    def flat_backward(ctx: Any, *grads: Any) -> tuple[Any, ...]:
        if not hasattr(ctx, "_pt_metadata"):
            raise NotImplementedError(
                "NYI: calling supports_tensorlist autograd.Function.backward directly. This will "
                "automatically get called by PyTorch autograd. Please file an issue if you need "
                "this."
            )
        metadata = ctx._pt_metadata
        nested = _pytree.tree_unflatten(list(grads), metadata.output_spec)
        needed = ctx.needs_input_grad
        try:  # the last of what is needed is the metadata
            ctx.needs_input_grad = _pytree.tree_unflatten(list(needed[:-1]), metadata.input_spec)
            result = backward(ctx, *nested)
        finally:
            ctx.needs_input_grad = needed
        if not isinstance(result, tuple):
            result = (result,)
        flat, spec = _pytree.tree_flatten(result, _is_leaf_of_gradients)
        if spec != metadata.input_spec:
            raise RuntimeError(
                "Expected the return from backward to be of the same structure as the inputs. Got: "
                f"{spec} (return from backward), {metadata.input_spec} (inputs)"
            )
        return (*flat, None)

    def nested_apply(*args: Any) -> Any:
        flat, spec = _pytree.tree_flatten(args, is_leaf=_is_leaf)
        metadata = TensorListMetadata(spec)
        result = apply(*flat, metadata)
        if metadata.output_spec is None:
            raise AssertionError("metadata.output_spec must not be None")
        nested = _pytree.tree_unflatten(list(result), metadata.output_spec)
        return nested if metadata.result_is_tuple else nested[0]

    target.forward, target.backward, target.apply = flat_forward, flat_backward, nested_apply
    return cls


def _is_leaf(tree: Any) -> bool:
    """Whether an argument or result is not taken apart: all but tuples and lists of tensors."""
    if isinstance(tree, list):
        return any(not isinstance(each, Tensor) for each in tree)
    return not isinstance(tree, tuple)


def _is_leaf_of_gradients(tree: Any) -> bool:
    """The same of gradients, where None stands for a tensor."""
    if isinstance(tree, list):
        return any(each is not None and not isinstance(each, Tensor) for each in tree)
    return not isinstance(tree, tuple)
