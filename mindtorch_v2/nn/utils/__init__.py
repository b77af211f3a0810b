"""What training programs do with the gradients of all parameters.

Mirrors ``torch/nn/utils/clip_grad.py``.
"""

from __future__ import annotations

import warnings
from collections.abc import Generator, Iterable
from typing import Any, Final

from mindtorch_v2.autograd.grad_mode import no_grad
from mindtorch_v2.binding.python.bindings import FUNCTIONS
from mindtorch_v2.kernels.switches import HABITS
from mindtorch_v2.messages import expected
from mindtorch_v2.tensor.tensor import Tensor

__all__ = ["clip_grad_norm_", "clip_grad_value_"]

_TORCH: Final = FUNCTIONS["torch"]
_VECTOR_NORM: Final = FUNCTIONS["torch._C._linalg"]["linalg_vector_norm"]
_WARNS: Final = HABITS["clipping warns of an empty generator"]
_WITH_FOREACH: Final = ("cpu", "npu")
"""Devices whose tensors go to operators of lists."""


def clip_grad_norm_(
    parameters: Any,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Any:
    """Scale all gradients so that their norm is at most ``max_norm``; answers what it was.

    RuntimeError if it is not finite and shall be.
    """
    given: list[Any] = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    if not given and isinstance(parameters, Generator) and _WARNS:
        warnings.warn(
            "`parameters` is an empty generator, no gradient clipping will occur.", stacklevel=3
        )
    gradients = [each.grad for each in given if each.grad is not None]
    with no_grad():
        total = _total_norm(gradients, float(norm_type), foreach)
        if error_if_nonfinite and (total.isnan() or total.isinf()):
            raise RuntimeError(
                f"The total norm of order {float(norm_type)} for gradients from `parameters` is "
                "non-finite, so it cannot be clipped. To disable this error and scale the "
                "gradients by the non-finite norm anyway, set `error_if_nonfinite=False`"
            )
        if gradients:
            _scale(gradients, float(max_norm), total, foreach)
    return total


def _groups(tensors: list[Any]) -> list[list[Any]]:
    """Of a device and a dtype each (``_group_tensors_by_device_and_dtype``).

    RuntimeError if there are none.
    """
    if not tensors:
        raise RuntimeError(expected("!nested_tensorlist[0].empty()"))
    found: dict[Any, list[Any]] = {}
    for each in tensors:
        found.setdefault((str(each.device), each.dtype), []).append(each)
    return list(found.values())


def _uses_foreach(tensors: list[Any], foreach: bool | None) -> bool:
    """RuntimeError if it is asked for and there is none."""
    device = tensors[0].device
    if device.type in _WITH_FOREACH:
        return foreach is None or foreach
    if foreach:
        raise RuntimeError(
            f"foreach=True was passed, but can't use the foreach API on {device.type} tensors"
        )
    return False


def _total_norm(tensors: list[Any], order: float, foreach: bool | None) -> Any:
    if not tensors:
        return _TORCH["tensor"](0.0)
    norms: list[Any] = []
    for group in _groups(tensors):
        if _uses_foreach(group, foreach):
            norms.extend(_TORCH["_foreach_norm"](group, order))
        else:
            norms.extend(_VECTOR_NORM(each, order) for each in group)
    device = tensors[0].device
    return _VECTOR_NORM(_TORCH["stack"]([each.to(device) for each in norms]), order)


def _scale(gradients: list[Any], max_norm: float, total: Any, foreach: bool | None) -> None:
    factor = _TORCH["clamp"](max_norm / (total + 1e-6), max=1.0)
    for group in _groups(gradients):
        moved = factor.to(group[0].device)
        if _uses_foreach(group, foreach):
            _TORCH["_foreach_mul_"](group, moved)
            continue
        for each in group:
            each.mul_(moved)


def clip_grad_value_(parameters: Any, clip_value: float, foreach: bool | None = None) -> None:
    """Have no element of a gradient be further from zero than ``clip_value``."""
    given: Iterable[Any] = [parameters] if isinstance(parameters, Tensor) else parameters
    limit = float(clip_value)
    with no_grad():
        for group in _groups([each.grad for each in given if each.grad is not None]):
            if _uses_foreach(group, foreach):
                _TORCH["_foreach_clamp_min_"](group, -limit)
                _TORCH["_foreach_clamp_max_"](group, limit)
                continue
            for each in group:
                each.clamp_(min=-limit, max=limit)
