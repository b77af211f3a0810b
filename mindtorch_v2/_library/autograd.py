"""The kernel that a custom operator has at Autograd.

Mirrors ``torch/_library/autograd.py``.  There is no engine yet: forward runs as in a ``Function``
of torch, with a context, and its results remember that they require grad; what backward would be
called with is kept by nobody.  :func:`apply` is where ``autograd.Function`` takes its place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from mindtorch_v2 import _C
from mindtorch_v2._library.release import does
from mindtorch_v2._library.utils import fill_defaults, has_kwarg_only_args, is_out, iter_tensors
from mindtorch_v2.tensor.autograd_meta import UNRECORDED
from mindtorch_v2.tensor.tensor import Tensor

if TYPE_CHECKING:
    from mindtorch_v2._ops import OpOverload

_Forward = Callable[..., Any]


class InfoProtocol(Protocol):
    """An operator's formula, which may change after its kernel is registered."""

    _backward_fn: Callable[..., Any] | None
    _setup_context_fn: Callable[..., Any] | None


@dataclass
class Info:
    """A formula that does not change."""

    _backward_fn: Callable[..., Any] | None
    _setup_context_fn: Callable[..., Any] | None


class FunctionCtx:
    """What forward keeps for backward: ``torch.autograd.function.FunctionCtx``."""

    def __init__(self, needs_input_grad: tuple[bool, ...]) -> None:
        self.needs_input_grad = needs_input_grad
        self.saved_tensors: tuple[Any, ...] = ()
        self.materialize_grads = True
        self.non_differentiable: tuple[Any, ...] = ()

    def save_for_backward(self, *tensors: Any) -> None:
        self.saved_tensors = tensors

    def mark_non_differentiable(self, *tensors: Any) -> None:
        self.non_differentiable = tensors

    def set_materialize_grads(self, value: bool) -> None:
        self.materialize_grads = value


def requires_grad(args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> bool:
    """Whether a tensor among the arguments, or in a list among them, requires grad."""
    return any(tensor.requires_grad for tensor in iter_tensors(args, kwargs or {}))


def make_autograd_impl(op: OpOverload, info: InfoProtocol) -> Callable[..., Any]:
    """The kernel; its first argument is the keyset."""
    named_inputs = has_kwarg_only_args(op._schema)

    def below(keyset: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        with _C._AutoDispatchBelowAutograd():
            return op.redispatch(keyset & _C._after_autograd_keyset, *args, **kwargs)

    def forward(keyset: Any, kwargs: dict[str, Any]) -> _Forward:
        def run(ctx: FunctionCtx, *args: Any) -> Any:
            with _C._AutoDispatchBelowAutograd():
                result = op.redispatch(keyset & _C._after_autograd_keyset, *args, **kwargs)
                if info._setup_context_fn:
                    inputs, named = fill_defaults(op._schema, args, kwargs)
                    more = {"keyword_only_inputs": named} if named_inputs else {}
                    info._setup_context_fn(ctx=ctx, inputs=inputs, **more, output=result)
            return result

        return run

    def autograd_impl(keyset: Any, *args: Any, **keyword_only_args: Any) -> Any:
        if is_out(op):
            if requires_grad(args, keyword_only_args):
                raise RuntimeError(
                    f"{op._opname}(): functions with out=... arguments don't support automatic "
                    "differentiation, but one of the arguments requires grad."
                )
            return below(keyset, args, keyword_only_args)
        always = does("autograd's Function runs even where nothing requires grad")
        if always or requires_grad(args):
            return apply(forward(keyset, keyword_only_args), args)
        return below(keyset, args, keyword_only_args)

    return autograd_impl


def apply(forward: _Forward, args: tuple[Any, ...]) -> Any:
    """``Function.apply`` as far as it needs no engine: an input that is returned becomes a view,
    and floating-point results require grad where an input does."""
    needs = tuple(isinstance(each, Tensor) and each.requires_grad for each in args)
    ctx = FunctionCtx((*needs, False))  # the last is torch's own argument
    result = forward(ctx, *args)
    records = requires_grad(args)
    inputs = {id(tensor) for tensor in iter_tensors(args, {})}

    def output(value: Any) -> Any:
        if isinstance(value, list):
            return [output(item) for item in value]
        if not isinstance(value, Tensor):
            return value
        if id(value) in inputs:
            value = value._alias()
        is_marked = any(value is each for each in ctx.non_differentiable)
        if records and value._is_differentiable() and not is_marked:
            value._materialize_autograd_meta().grad_fn = UNRECORDED
        return value

    return tuple(map(output, result)) if isinstance(result, tuple) else output(result)
