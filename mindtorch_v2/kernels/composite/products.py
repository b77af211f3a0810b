"""Products that are made of others.

Mirrors ``aten/src/ATen/native/LinearAlgebra.cpp`` and ``Linear.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Final

from mindtorch_v2.kernels.cpu.outer import check_vector
from mindtorch_v2.kernels.dtypes import HABITS
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import resize_output
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import HABITS as NEURAL_HABITS
from mindtorch_v2.tensor.geometry import dim_list, is_contiguous
from mindtorch_v2.tensor.support import CPP_NAMES
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.torch_dispatch import is_tensor_subclass_like
from mindtorch_v2.warn import warn

_IMPLICIT: Final = "CompositeImplicitAutograd"
_ADD: Final = OperatorHandle("aten::add.Tensor")
_ADD_: Final = OperatorHandle("aten::add_.Tensor")
_ADDMM: Final = OperatorHandle("aten::addmm")
_ADDMM_OUT: Final = OperatorHandle("aten::addmm.out")
_COPY_: Final = OperatorHandle("aten::copy_")
_DOT: Final = OperatorHandle("aten::dot")
_FLATTEN: Final = OperatorHandle("aten::flatten.using_ints")
_MATMUL: Final = OperatorHandle("aten::matmul")
_MATMUL_OUT: Final = OperatorHandle("aten::matmul.out")
_MM: Final = OperatorHandle("aten::mm")
_MUL: Final = OperatorHandle("aten::mul.Tensor")
_MUL_OUT: Final = OperatorHandle("aten::mul.out")
_OUTER: Final = OperatorHandle("aten::outer")
_OUTER_OUT: Final = OperatorHandle("aten::outer.out")
_PERMUTE: Final = OperatorHandle("aten::permute")
_RESHAPE: Final = OperatorHandle("aten::reshape")
_SQUEEZE: Final = OperatorHandle("aten::squeeze")
_SUM: Final = OperatorHandle("aten::sum.dim_IntList")
_SUM_ALL: Final = OperatorHandle("aten::sum")
_T: Final = OperatorHandle("aten::t")
_TENSORDOT: Final = OperatorHandle("aten::tensordot")
_TENSORDOT_OUT: Final = OperatorHandle("aten::tensordot.out")
_UNSAFE_VIEW: Final = OperatorHandle("aten::_unsafe_view")
_VIEW: Final = OperatorHandle("aten::view")


@kernel("aten::outer", key=_IMPLICIT)
def outer(self: Tensor, vec2: Tensor) -> Any:
    check_vector("outer", "self", self)
    check_vector("outer", "vec2", vec2)
    return _MUL(_RESHAPE(self, [self._sizes[0], 1]), vec2)


@kernel("aten::outer.out", key=_IMPLICIT)
def outer_out(self: Tensor, vec2: Tensor, out: Tensor) -> Any:
    check_vector("outer", "self", self)
    check_vector("outer", "vec2", vec2)
    _MUL_OUT(_RESHAPE(self, [self._sizes[0], 1]), vec2, out=out)
    return out


@kernel("aten::ger", key=_IMPLICIT)
def ger(self: Tensor, vec2: Tensor) -> Any:
    return _OUTER(self, vec2)


@kernel("aten::ger.out", key=_IMPLICIT)
def ger_out(self: Tensor, vec2: Tensor, out: Tensor) -> Any:
    warn(
        "ger_out",
        "torch.ger is deprecated and will be removed in a future PyTorch release. Use torch.outer "
        "instead.",
    )
    return _OUTER_OUT(self, vec2, out=out)


# --- tensordot, inner -------------------------------------------------------------------------


@kernel("aten::tensordot", key=_IMPLICIT)
def tensordot(
    self: Tensor, other: Tensor, dims_self: Sequence[int], dims_other: Sequence[int]
) -> Any:
    """By one ``mm``: the dimensions that are summed over go to the inside."""
    if len(dims_self) != len(dims_other):
        raise RuntimeError("both dimension lists should have same length")
    if self._dtype is not other._dtype:
        raise RuntimeError("both inputs should have same dtype")
    inner, one, two = 1, self, other
    for first, second in zip(dims_self, dims_other, strict=True):
        size, other_size = self.size(first), other.size(second)
        if other_size == 1:
            one = _SUM(one, [first], True, one._dtype)
        elif size == 1:
            two = _SUM(two, [second], True, two._dtype)
        elif size != other_size:
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {size} in dim {first} "
                f"and second has size {other_size} in dim {second}"
            )
        else:
            inner *= size
    kept, rest = _not_in(dims_self, len(self._sizes)), _not_in(dims_other, len(other._sizes))
    rows, columns = [one._sizes[dim] for dim in kept], [two._sizes[dim] for dim in rest]
    if NEURAL_HABITS["a contraction to one number is a dot"] and prod(rows) == prod(columns) == 1:
        left, right = _PERMUTE(one, [*kept, *dims_self]), _PERMUTE(two, [*dims_other, *rest])
        return _RESHAPE(_contracted(left, right), [*rows, *columns])
    left = _RESHAPE(_PERMUTE(one, [*kept, *dims_self]), [prod(rows), inner])
    right = _RESHAPE(_PERMUTE(two, [*dims_other, *rest]), [inner, prod(columns)])
    return _RESHAPE(_MM(left, right), [*rows, *columns])


def _contracted(left: Tensor, right: Tensor) -> Any:
    """The sum of all products; what is not contiguous is not copied for it."""
    if all(is_contiguous(each._sizes, each._strides) for each in (left, right)):
        flat_right = _FLATTEN(right)
        return _DOT(_FLATTEN(left), flat_right)
    squeezed_right = _SQUEEZE(right)
    return _SUM_ALL(_MUL(_SQUEEZE(left), squeezed_right), dtype=left._dtype)


def _not_in(dims: Sequence[int], rank: int) -> list[int]:
    """The other dimensions."""
    named = dim_list(dims, rank)
    return [dim for dim in range(rank) if dim not in named]


@kernel("aten::tensordot.out", key=_IMPLICIT)
def tensordot_out(
    self: Tensor,
    other: Tensor,
    dims_self: Sequence[int],
    dims_other: Sequence[int],
    out: Tensor,
) -> Any:
    result = tensordot(self, other, dims_self, dims_other)
    if not out._device == self._device == other._device:
        raise RuntimeError(
            "tensordot: Expected the output and input tensors to be on the same device, but got "
            f"the output tensor on {out._device}, input tensor a on {self._device}, and input "
            f"tensor b on {other._device}"
        )
    if result._dtype is not out._dtype:
        raise RuntimeError(
            f"tensordot: Expected the output tensor to have dtype {CPP_NAMES[result._dtype]}, but "
            f"got an output tensor with dtype {CPP_NAMES[out._dtype]}"
        )
    resize_output(out, result._sizes)
    return _COPY_(out, result, False)


@kernel("aten::inner", key=_IMPLICIT)
def inner(self: Tensor, other: Tensor) -> Any:
    _check_device_type("inner()", self, other)
    if not self._sizes or not other._sizes:
        return _MUL(self, other)
    _check_inner(self, other)
    return _TENSORDOT(self, other, [-1], [-1])


@kernel("aten::inner.out", key=_IMPLICIT)
def inner_out(self: Tensor, other: Tensor, out: Tensor) -> Any:
    _check_device_type("inner()", self, out, other)
    if not self._sizes or not other._sizes:
        return _MUL_OUT(self, other, out=out)
    _check_inner(self, other)
    return _TENSORDOT_OUT(self, other, [-1], [-1], out=out)


def _check_device_type(called: str, self: Tensor, *others: Tensor) -> None:
    """``checkDeviceType``."""
    wanted = self._device.type
    for other in others:
        if other._device.type != wanted:
            raise RuntimeError(
                f"Expected tensor to have {wanted} DeviceType, but got tensor with "
                f"{other._device.type} DeviceType (while checking arguments for {called})"
            )


def _check_inner(self: Tensor, other: Tensor) -> None:
    if self._sizes[-1] != other._sizes[-1]:
        raise RuntimeError(
            "inner() the last dimension must match on both input tensors but got shapes "
            f"{list(self._sizes)} and {list(other._sizes)}"
        )


# --- linear -----------------------------------------------------------------------------------


@kernel("aten::linear", key=_IMPLICIT)
def linear(input: Tensor, weight: Tensor, bias: Tensor | None) -> Any:
    """By one ``addmm`` if the input is a matrix or can be seen as one."""
    rank, weight_rank = len(input._sizes), len(weight._sizes)
    if not rank or not weight_rank:
        raise RuntimeError(
            f"both arguments to linear need to be at least 1D, but they are {rank}D and "
            f"{weight_rank}D"
        )
    if bias is not None and rank == 2:
        return _ADDMM(bias, input, _T(weight))
    fits = bias is not None and _fits_addmm(bias, rank)
    if fits and is_contiguous(input._sizes, input._strides):
        assert bias is not None
        return _flattened(input, weight, bias)
    output = _MATMUL(input, _T(weight))
    if bias is None:
        return output
    return (_ADD if is_tensor_subclass_like(bias) else _ADD_)(output, bias)


def _fits_addmm(bias: Tensor, rank: int) -> bool:
    """Whether the bias is added by ``addmm`` to an input of more or less than two dimensions."""
    is_vector = len(bias._sizes) == 1
    if HABITS["linear flattens three dimensions whatever the bias"]:
        return rank == 3 or is_vector
    is_row = is_vector or len(_SQUEEZE(bias)._sizes) == 1
    return is_row and is_contiguous(bias._sizes, bias._strides)


def _flattened(input: Tensor, weight: Tensor, bias: Tensor) -> Any:
    """``_flatten_nd_linear``."""
    *outer_sizes, inner = input._sizes
    matrix = _RESHAPE(input, [prod(outer_sizes), inner])
    output = _ADDMM(bias, matrix, _T(weight))
    view = _VIEW if HABITS["linear answers a view"] else _UNSAFE_VIEW
    return view(output, [*outer_sizes, output._sizes[1]])


@kernel("aten::linear.out", key="CompositeExplicitAutograd")
def linear_out(input: Tensor, weight: Tensor, bias: Tensor | None, out: Tensor) -> Any:
    if bias is not None and len(input._sizes) == 2:
        return _ADDMM_OUT(bias, input, _T(weight), out=out)
    _MATMUL_OUT(input, _T(weight), out=out)
    return out if bias is None else _ADD_(out, bias)


def _kron_views(self: Tensor, other: Tensor) -> tuple[Any, Any, list[int]]:
    """Both with dimensions of one between their own, such that their product has each with each."""
    rank = max(len(self._sizes), len(other._sizes))
    one, two = ((1,) * (rank - len(each._sizes)) + tuple(each._sizes) for each in (self, other))
    first = _UNSAFE_VIEW(self, [part for size in one for part in (size, 1)])
    second = _UNSAFE_VIEW(other, [part for size in two for part in (1, size)])
    return first, second, [a * b for a, b in zip(one, two, strict=True)]


@kernel("aten::kron", key=_IMPLICIT)
def kron(self: Tensor, other: Tensor) -> Any:
    first, second, shape = _kron_views(self, other)
    return _UNSAFE_VIEW(_MUL(first, second), shape)


@kernel("aten::kron.out", key=_IMPLICIT)
def kron_out(self: Tensor, other: Tensor, out: Tensor) -> Tensor:
    first, second, shape = _kron_views(self, other)
    resize_output(out, tuple(shape))
    pairs = zip(first._sizes, second._sizes, strict=True)
    _MUL_OUT(first, second, out=_UNSAFE_VIEW(out, [a * b for a, b in pairs]))
    return out
