"""Conversions of modules: parameters and buffers on other devices, of other dtypes.

Mirrors ``Module.to`` and ``Module._apply`` of ``torch/nn/modules/module.py``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Final

from mindtorch_v2.autograd.grad_mode import no_grad
from mindtorch_v2.binding.python.bindings import FUNCTIONS
from mindtorch_v2.nn.parameter import Parameter

__all__ = ["changed", "forget_grad", "of"]

_PARSE_TO: Final = FUNCTIONS["torch._C._nn"]["_parse_to"]
_MAY_TAKE_OVER: Final = FUNCTIONS["torch"]["_has_compatible_shallow_copy_type"]
"""Whether ``tensor.data`` can become another tensor; else a new parameter takes its place."""


def of(*args: Any, **kwargs: Any) -> Callable[[Any], Any]:
    """What ``Module.to`` does with each tensor; TypeError for a dtype that learns nothing."""
    device, dtype, non_blocking, memory_format = _PARSE_TO(*args, **kwargs)
    if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
        raise TypeError(
            "nn.Module.to only accepts floating point or complex dtypes, but got desired "
            f"dtype={dtype}"
        )
    if dtype is not None and dtype.is_complex:
        warnings.warn(
            "Complex modules are a new feature under active development whose design may "
            "change, and some modules might not work as expected when using complex tensors as "
            "parameters or buffers. Please file an issue at "
            "https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml if a "
            "complex module does not work as expected.",
            stacklevel=3,
        )

    def moved(tensor: Any) -> Any:
        wanted = dtype if tensor.is_floating_point() or tensor.is_complex() else None
        is_image = memory_format is not None and tensor.dim() in (4, 5)
        options = {"memory_format": memory_format} if is_image else {}
        try:
            return tensor.to(device, wanted, non_blocking, **options)
        except NotImplementedError as error:
            if str(error) != "Cannot copy out of meta tensor; no data!":
                raise
            raise NotImplementedError(
                f"{error} Please use torch.nn.Module.to_empty() instead of torch.nn.Module.to() "
                "when moving module from meta to a different device."
            ) from None

    return moved


def changed(param: Any, change: Callable[[Any], Any]) -> Any:
    """The parameter with what ``change`` makes of it, or on another device a new one."""
    with no_grad():
        changed: Any = change(param)
    is_kept = _MAY_TAKE_OVER(param, changed)
    grad = param.grad
    made: Any = param
    if is_kept:
        param.data = changed
    else:
        assert param.is_leaf
        made = Parameter(changed, param.requires_grad)
    if grad is not None:
        with no_grad():
            changed_grad = change(grad)
        if _MAY_TAKE_OVER(grad, changed_grad):
            assert made.grad is not None
            made.grad.data = changed_grad
        else:
            assert grad.is_leaf
            made.grad = changed_grad.requires_grad_(grad.requires_grad)
    return made


def forget_grad(param: Any, set_to_none: bool) -> None:
    """No gradient, or one of zeros that has no history."""
    if param.grad is None:
        return
    if set_to_none:
        param.grad = None
        return
    if param.grad.grad_fn is not None:
        param.grad.detach_()
    else:
        param.grad.requires_grad_(False)
    param.grad.zero_()
