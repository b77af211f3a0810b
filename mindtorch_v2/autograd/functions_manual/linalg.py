"""Helpers of products of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_v2.autograd.at import call, conj
from mindtorch_v2.autograd.functions_manual.elementwise import maybe_multiply
from mindtorch_v2.tensor.dtype import strided


def mm_mat1_backward(
    grad: Any, mat2: Any, sizes: Sequence[int], strides: Sequence[int], layout: Any, alpha: Any
) -> Any:
    """Column-major if the input was."""
    if _is_column_major(grad, mat2, sizes, strides, layout):
        turned = call("t", call("mm", conj(mat2), call("t", grad)))
        return maybe_multiply(turned, conj(alpha))
    return maybe_multiply(call("mm", grad, conj(call("t", mat2))), conj(alpha))


def mm_mat2_backward(
    grad: Any, mat1: Any, sizes: Sequence[int], strides: Sequence[int], layout: Any, alpha: Any
) -> Any:
    """Column-major if the input was."""
    if _is_column_major(grad, mat1, sizes, strides, layout):
        turned = call("t", call("mm", call("t", grad), conj(mat1)))
        return maybe_multiply(turned, conj(alpha))
    return maybe_multiply(call("mm", conj(call("t", mat1)), grad), conj(alpha))


def mm_mat1_sparse_backward(grad: Any, mat1: Any, mat2: Any, alpha: Any) -> Any:
    """Of dense matrices, whatever lies how."""
    if not grad._layout is mat1._layout is mat2._layout is strided:
        raise NotImplementedError("mindtorch_v2 has no gradients of sparse products yet")
    return maybe_multiply(call("mm", grad, call("mH", mat2)), alpha)


def _is_column_major(
    grad: Any, other: Any, sizes: Sequence[int], strides: Sequence[int], layout: Any
) -> bool:
    all_strided = grad._layout is other._layout is layout is strided
    return all_strided and strides[0] == 1 and strides[1] == sizes[0]


def wrap_opt_if(tensor: Any, is_used: bool) -> Any:
    return tensor if is_used else None


def _trilinear_backward(
    grad: Any,
    i1: Any,
    i2: Any,
    i3: Any,
    expand1: Sequence[int],
    expand2: Sequence[int],
    expand3: Sequence[int],
    sumdim: Sequence[int],
    grad_mask: Sequence[bool],
) -> tuple[Any, Any, Any]:
    """The same sum, in which the gradient takes a factor's place: what that one lacks is summed."""
    if grad is None:
        return None, None, None
    of_first, of_second, of_third = grad_mask
    return (
        call("_trilinear", grad, i2, i3, sumdim, expand2, expand3, expand1) if of_first else None,
        call("_trilinear", i1, grad, i3, expand1, sumdim, expand3, expand2) if of_second else None,
        call("_trilinear", i1, i2, grad, expand1, expand2, sumdim, expand3) if of_third else None,
    )
