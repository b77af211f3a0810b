"""``torch.func.functionalize``: a function without changes of tensors, and perhaps without views.

Mirrors ``torch/_functorch/eager_transforms.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from mindtorch_v2.functionalize import layers
from mindtorch_v2.functionalize.functions import (
    assert_wrapped_functional,
    propagate_functional_input_mutation,
    unwrap_functional_tensor,
    wrap_functional_tensor,
)
from mindtorch_v2.functionalize.wrapper import is_functional, wrapper_of
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.utils._pytree import tree_flatten, tree_map


def functionalize(func: Callable[..., Any], *, remove: str = "mutations") -> Callable[..., Any]:
    """A function that does the same as ``func``, and calls no operator that changes a tensor.

    With ``remove="mutations_and_views"`` it calls none that views one either.  What ``func`` does
    to its arguments is brought to them at the end.  RuntimeError for another ``remove``.
    """
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(
            "functionalize(f, remove='mutations'): received invalid argument for remove="
            f"{remove}. Valid options are:\n"
            "     remove='mutations': all inplace and out= operators will be removed from the "
            "program, and replaced with their out-of-place equivalents.\n"
            "     remove='mutations_and_views': In addition to the above, all aliasing operators "
            "{view} will be replaced with their non-aliasing counterparts, {view}_copy.\n"
        )
    reapply_views = remove == "mutations"

    @wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        try:
            level = layers.push_functionalize(reapply_views)
            inner_args, inner_kwargs = tree_map(lambda each: _wrap(each, level), (args, kwargs))
            given = _leaves(args), _leaves(kwargs)
            inner = _leaves(inner_args), _leaves(inner_kwargs)
            answer = func(*inner_args, **inner_kwargs)
            outputs = tree_map(lambda each: _unwrap(each, reapply_views), answer)
            for each in (*inner[0], *inner[1]):
                if isinstance(each, Tensor):
                    wrapper_of(each).sync()
            for outside, inside in zip(given, inner, strict=True):
                for one, other in zip(outside, inside, strict=True):
                    if isinstance(one, Tensor) and isinstance(other, Tensor):
                        propagate_functional_input_mutation(one, other)
            return outputs
        finally:
            layers.pop_functionalize()

    return wrapped


def _leaves(tree: Any) -> list[Any]:
    leaves: list[Any] = tree_flatten(tree)[0]
    return leaves


def _wrap(value: Any, level: int) -> Any:
    if not isinstance(value, Tensor):
        return value
    wrapped = wrap_functional_tensor(value, level)
    assert_wrapped_functional(value, wrapped)
    return wrapped


def _unwrap(value: Any, reapply_views: bool) -> Any:
    """The value of a result; a global tensor, which was never wrapped, is returned as it is."""
    if not isinstance(value, Tensor) or not is_functional(value):
        return value
    wrapper_of(value).sync()
    return unwrap_functional_tensor(value, reapply_views)
