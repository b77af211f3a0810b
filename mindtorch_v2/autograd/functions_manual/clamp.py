"""The gradients of ``clamp``.

On a bound there are many subgradients.  Older releases give all to what is clamped, and none to the
bound.  Newer ones give half to each where the bound is a tensor; a bound that is a number takes its
half along.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2.autograd.at import call
from mindtorch_v2.autograd.functions_manual.elementwise import (
    masked_fill_inplace_if_safe,
    scalar_like,
)
from mindtorch_v2.autograd.operators import div, eq, ge, gt, le, lt
from mindtorch_v2.kernels.switches import HABITS
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.torch_dispatch import is_tensor_subclass_like

_SHARES: Final = HABITS["clamp shares its gradient with the bound"]


def clamp_backward(grad: Any, self: Any, min: Any, max: Any) -> Any:
    """The gradient of what is clamped."""
    if min is None and max is None:
        return grad
    if _SHARES and (isinstance(min, Tensor) or isinstance(max, Tensor)):
        return _shared_by_self(grad, self, min, max)
    above, below = (gt, lt) if _SHARES else (ge, le)
    zero = scalar_like(0.0, grad)
    if min is not None and max is not None:
        inside = _both("logical_and", above(self, min), below(self, max), self, min, max)
    else:
        inside = below(self, max) if min is None else above(self, min)
    return call("where", inside, grad, zero)


def clamp_backward_min_max(grad: Any, self: Any, min: Any, max: Any, mask: list[bool]) -> Any:
    """The gradients of bounds that are tensors."""
    if grad is None:
        return [None, None]
    if _SHARES:
        return _shared_by_bounds(grad, self, min, max, mask)
    zero = scalar_like(0.0, grad)
    found: list[Any] = [None, None]
    seen = (self, min, max)
    if min is not None and mask[0]:
        below = lt(self, min)
        chosen = below if max is None else _both("logical_and", below, lt(min, max), *seen)
        found[0] = call("where", chosen, grad, zero)
    if max is not None and mask[1]:
        above = gt(self, max)
        chosen = above if min is None else _both("logical_or", above, lt(max, min), *seen)
        found[1] = call("where", chosen, grad, zero)
    return found


def _both(name: str, one: Any, two: Any, *seen: Any) -> Any:
    """``logical_and`` or ``logical_or``, in place unless a tensor of a subclass was seen."""
    tensors = [each for each in seen if isinstance(each, Tensor)]
    is_new = len(tensors) == len(seen) and any(map(is_tensor_subclass_like, tensors))
    return call(name if is_new else f"{name}_", one, two)


# --- shared with the bound ----------------------------------------------------------------------


def _shared_by_self(grad: Any, self: Any, min: Any, max: Any) -> Any:
    """All of it inside, half on a bound; where the two bounds are one, all of it there too."""
    if max is None:
        return _shared(grad, self, min, without=lt(self, min))
    if min is None:
        return _shared(grad, self, max, without=gt(self, max))
    is_range = lt(min, max)
    on_bound = call("logical_or", eq(self, min), eq(self, max))
    on_bound = call("logical_and", on_bound, is_range)
    outside = call("logical_or", lt(self, min), gt(self, max))
    shared = call("where", on_bound, div(grad, 2), grad)
    return masked_fill_inplace_if_safe(shared, outside, 0)


def _shared_by_bounds(grad: Any, self: Any, min: Any, max: Any, mask: list[bool]) -> Any:
    """All of it beyond a bound, half on it; bounds in the wrong order leave it to the upper one."""
    wants_min, wants_max = mask
    if max is None:
        return [_shared(grad, self, min, without=gt(self, min)) if wants_min else None, None]
    if min is None:
        return [None, _shared(grad, self, max, without=lt(self, max)) if wants_max else None]
    is_range, is_point = lt(min, max), eq(min, max)
    of_min = of_max = None
    if wants_min:
        reached = call("logical_and", is_range, le(self, min))
        beyond = call("logical_and", is_point, lt(self, min))
        without = call("logical_not", call("logical_or", reached, beyond))
        of_min = _shared(grad, self, min, without=without)
    if wants_max:
        is_reversed = lt(max, min)
        reached = call("logical_and", is_range, ge(self, max))
        reached = call("logical_or", is_reversed, reached)
        beyond = call("logical_and", is_point, gt(self, max))
        without = call("logical_not", call("logical_or", reached, beyond))
        half = div(grad, 2)
        on_bound = call("logical_and", eq(self, max), is_range)
        of_max = masked_fill_inplace_if_safe(call("where", on_bound, half, grad), without, 0)
    return [of_min, of_max]


def _shared(grad: Any, self: Any, bound: Any, *, without: Any) -> Any:
    """Half of the gradient on the bound, and what ``without`` holds of gets none."""
    half = div(grad, 2)
    return masked_fill_inplace_if_safe(call("where", eq(self, bound), half, grad), without, 0)
