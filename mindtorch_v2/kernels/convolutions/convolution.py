"""Convolutions, transposed ones, and those whose padding has a name.

Mirrors ``aten/src/ATen/native/Convolution.cpp``.  Of the backends that torch chooses from on the
CPU only the results are told apart by nobody, so one function computes them all.  What is checked
of settings is in :mod:`mindtorch_v2.kernels.convolutions.params`, and what each of the backends
says in :mod:`mindtorch_v2.kernels.convolutions.backends`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from mindtorch_v2.autograd.at import suggest_memory_format
from mindtorch_v2.kernels.convolutions.backends import (
    check_dilated,
    check_mkldnn,
    check_slow,
    check_transposed,
)
from mindtorch_v2.kernels.convolutions.params import COLUMNS_3D, DILATED, MKLDNN, ConvParams
from mindtorch_v2.kernels.cpu.blas import REAL, gemm
from mindtorch_v2.kernels.cpu.convolutions import convolution as arrays
from mindtorch_v2.kernels.elementwise.pointwise import as_array, rounded
from mindtorch_v2.kernels.elementwise.promotion import check_can_cast
from mindtorch_v2.kernels.elementwise.tensor_iterator import is_standing_for_cpu
from mindtorch_v2.kernels.foretold import foretell
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.pointers import check_pointers
from mindtorch_v2.kernels.refs.common import row_major
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import HABITS, dispatch
from mindtorch_v2.tensor.copying import store, warn_of_cast
from mindtorch_v2.tensor.dtype import MEMORY_FORMATS, DType
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import CHANNELS_LAST, channels_last_strides, numel
from mindtorch_v2.tensor.support import TYPE_NAMES, promote_types
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.tensor.type_string import type_string
from mindtorch_v2.warn import warn_once

_IMPLICIT: Final = "CompositeImplicitAutograd"
_CONVOLUTION: Final = OperatorHandle("aten::convolution", none_is_undefined=True)
_BACKEND: Final = OperatorHandle("aten::_convolution")
_OVERRIDEABLE: Final = OperatorHandle("aten::convolution_overrideable", none_is_undefined=True)
_MODE: Final = OperatorHandle("aten::_convolution_mode")
_PAD: Final = OperatorHandle("aten::constant_pad_nd")
_UNSQUEEZE: Final = OperatorHandle("aten::unsqueeze")
_SQUEEZE: Final = OperatorHandle("aten::squeeze.dim")
_REAL_VIEW: Final = OperatorHandle("aten::view_as_real")
_RESOLVE_CONJ: Final = OperatorHandle("aten::resolve_conj")
_SELECT: Final = OperatorHandle("aten::select.int")
_ADD: Final = OperatorHandle("aten::add.Tensor")
_ADD_: Final = OperatorHandle("aten::add_.Tensor")
_CLONE: Final = OperatorHandle("aten::clone")
_PRODUCT: Final = OperatorHandle("aten::mul.Tensor")
_UNSAFE_VIEW: Final = OperatorHandle("aten::_unsafe_view")
_VIEW: Final = OperatorHandle("aten::view")
_NEW_ZEROS: Final = OperatorHandle("aten::new_zeros")
_ZEROS_LIKE: Final = OperatorHandle("aten::zeros_like")
_SUB: Final = OperatorHandle("aten::sub.Tensor")
_MUL: Final = OperatorHandle("aten::mul.Scalar")
_CHANNELS_LAST: Final = MEMORY_FORMATS["channels_last"]
_CHANNELS_LAST_3D: Final = MEMORY_FORMATS["channels_last_3d"]

Convolve = Callable[[Any, Any, Any], Any]
"""A convolution of an input, a weight and a bias, with settings of its own."""


# --- what is called ---------------------------------------------------------------------------


def _register(dim: int) -> None:
    """The operators for a number of dimensions of space."""

    def conv(input: Tensor, weight: Tensor, bias: Tensor | None, *settings: Any) -> Any:
        if bias is not None and bias._dtype is not input._dtype:
            raise RuntimeError(
                f"Input type ({TYPE_NAMES[input._dtype]}) and bias type "
                f"({TYPE_NAMES[bias._dtype]}) should be the same"
            )
        *window, groups = settings

        def convolve(input: Any, weight: Any, bias: Any) -> Any:
            return _CONVOLUTION(input, weight, bias, *window, False, [0] * dim, groups)

        return _batched(f"conv{dim}d", dim, convolve, input, weight, bias)

    def conv_by_mode(input: Tensor, weight: Tensor, bias: Tensor | None, *settings: Any) -> Any:
        def convolve(input: Any, weight: Any, bias: Any) -> Any:
            return _MODE(input, weight, bias, *settings)

        return _batched(f"conv{dim}d", dim, convolve, input, weight, bias)

    def conv_transpose(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        stride: Sequence[int],
        padding: Sequence[int],
        output_padding: Sequence[int],
        groups: int,
        dilation: Sequence[int],
    ) -> Any:
        settings = (stride, padding, dilation, True, output_padding, groups)

        def convolve(input: Any, weight: Any, bias: Any) -> Any:
            return _CONVOLUTION(input, weight, bias, *settings)

        return _batched(f"conv_transpose{dim}d", dim, convolve, input, weight, bias)

    kernel(f"aten::conv{dim}d", key=_IMPLICIT)(conv)
    kernel(f"aten::conv{dim}d.padding", key=_IMPLICIT)(conv_by_mode)
    transposed = f"aten::conv_transpose{dim}d" + ("" if dim == 1 else ".input")
    kernel(transposed, key=_IMPLICIT)(conv_transpose)


def _batched(
    name: str, dim: int, convolve: Convolve, input: Tensor, weight: Tensor, bias: Tensor | None
) -> Any:
    """``batchify``: an input without a batch is a batch of one."""
    rank = len(input._sizes)
    if rank not in (dim + 1, dim + 2):
        raise RuntimeError(
            f"Expected {dim + 1}D (unbatched) or {dim + 2}D (batched) input to {name}, but got "
            f"input of size: {list(input._sizes)}"
        )
    is_batched = rank == dim + 2
    batch = input if is_batched else _UNSQUEEZE(input, 0)
    run = _of_complex if input._dtype.is_complex else _of_real
    output = run(convolve, batch, weight, bias)
    return output if is_batched else _SQUEEZE(output, 0)


def _of_real(convolve: Convolve, input: Tensor, weight: Tensor, bias: Tensor | None) -> Any:
    return convolve(input, weight, bias)


def _of_complex(convolve: Convolve, input: Tensor, weight: Tensor, bias: Tensor | None) -> Any:
    """``complex_convolution``: three convolutions of real numbers, by Gauss's trick.

    As compiled, what stands on the right is computed first.
    """
    _check_same_type(input, weight, bias, "")
    (x, xi), (w, wi) = _parts(input), _parts(weight)
    b, bi = (None, None) if bias is None else _parts(bias)
    one, two = convolve(x, w, b), convolve(xi, wi, None)
    both = None if bias is None else _ADD(b, bi)
    weights = _ADD(w, wi)
    three = convolve(_ADD(x, xi), weights, both)
    imaginary = _MUL(_SUB(_SUB(three, one), two), 1j)
    return _ADD(_SUB(one, two), imaginary)


def _parts(tensor: Tensor) -> tuple[Any, Any]:
    pairs = _REAL_VIEW(_RESOLVE_CONJ(tensor))
    last = len(pairs._sizes) - 1
    return _SELECT(pairs, last, 0), _SELECT(pairs, last, 1)


def _check_same_type(input: Tensor, weight: Tensor, bias: Tensor | None, rest: str) -> None:
    """``check_input_same_type_as_parameters``."""
    for name, other in (("weight", weight), ("bias", bias)):
        if other is None:
            continue
        if (other._dtype, other._device) != (input._dtype, input._device):
            raise RuntimeError(
                f"Input type ({type_string(input)}) and {name} type ({type_string(other)}) should "
                f"be the same{rest.format(name)}"
            )


for _dim in (1, 2, 3):
    _register(_dim)


# --- padding that has a name ------------------------------------------------------------------


@kernel("aten::_convolution_mode", key=_IMPLICIT)
def _convolution_mode(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: str,
    dilation: Sequence[int],
    groups: int,
) -> Any:
    if padding == "same":
        return _convolution_same(input, weight, bias, stride, dilation, groups)
    if padding == "valid":
        return _CONVOLUTION(input, weight, bias, stride, [0], dilation, False, [0], groups)
    raise RuntimeError(f"Invalid padding string: '{padding}'")


def _convolution_same(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> Any:
    """As much padding as keeps the size; where it is not the same at both ends, zeros first."""
    rank = len(weight._sizes)
    dim = rank - 2
    if dim <= 0:
        raise RuntimeError("weight should have at least three dimensions")
    if groups <= 0:
        raise RuntimeError("non-positive groups is not supported")
    if rank != len(input._sizes):
        raise RuntimeError(
            f"Expected {rank}-dimensional input for {rank}-dimensional weight"
            f"{list(weight._sizes)}, but got {len(input._sizes)}-dimensional input of size "
            f"{list(input._sizes)} instead"
        )
    for name, given in (("stride", stride), ("dilation", dilation)):
        if len(given) not in (dim, 1):
            raise RuntimeError(f"{name} cannot broadcast to {dim} dimensions")
    if any(each != 1 for each in stride):
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    steps = list(dilation) * (dim if len(dilation) == 1 else 1)
    totals = [step * (size - 1) for step, size in zip(steps, weight._sizes[2:], strict=True)]
    left = [abs(total) // 2 * (1 if total > 0 else -1) for total in totals]  # as C++ divides
    if any(total % 2 for total in totals):
        warn_once(
            "convolution_same",
            "Using padding='same' with even kernel lengths and odd dilation may require a "
            "zero-padded copy of the input be created",
        )
        more: list[int] = []
        for place, total in reversed(list(enumerate(totals))):
            right = total - left[place]
            more += (0, right - left[place]) if right > left[place] else (right - left[place], 0)
            if not HABITS["an input that is cut keeps its padding"]:
                left[place] = min(left[place], right)
        input = _PAD(input, more, 0)
    return _CONVOLUTION(input, weight, bias, stride, left, dilation, False, [0] * dim, groups)


# --- forward ----------------------------------------------------------------------------------


@kernel("aten::convolution", key="CompositeExplicitAutograd")
def convolution(input: Tensor, weight: Tensor, bias: Tensor | None, *settings: Any) -> Any:
    return _BACKEND(input, weight, bias, *settings, False, False, True, True)


@kernel("aten::_convolution", key="CompositeExplicitAutograd")
def _convolution_by_backend(
    input: Tensor, weight: Tensor, bias: Tensor | None, *settings: Any
) -> Any:
    """On meta, where a release has no function for that, it is left to a backend to come."""
    if input.is_meta and not is_standing_for_cpu():
        ConvParams.of(weight, *settings[:6]).check(input, weight._sizes, bias)
        if all(input._sizes[:2]):
            return _OVERRIDEABLE(input, weight, bias, *settings[:6])
    return _convolution(input, weight, bias, *settings)


@kernel("aten::_convolution", "aten::convolution", key="Meta")
def _convolution(input: Tensor, weight: Tensor, bias: Tensor | None, *settings: Any) -> Tensor:
    parameters = ConvParams.of(weight, *settings[:6])
    parameters.check(input, weight._sizes, bias)
    sizes = parameters.output_sizes(input._sizes, weight._sizes)
    strides = None
    is_meta = input.is_meta and not is_standing_for_cpu()
    if not (is_meta and HABITS["a convolution on meta is row-major"]):
        strides = _strides(input, weight, parameters, sizes)
    if not (is_meta or all(input._sizes[:2])):
        return _of_nothing(input, weight, bias, sizes)
    if not input.is_meta:
        _check_for_backend(input, weight, bias, parameters, sizes)
    output = new_tensor(sizes, input._dtype, input._device, strides)
    if output.is_meta or not numel(sizes):
        return output
    foretell("aten::convolution", output)
    dtype = input._dtype
    with np.errstate(all="ignore"):
        values, kernels = (as_array(each, dtype) for each in (input, weight))
        found = arrays.convolve(
            values,
            kernels,
            parameters,
            sizes,
            _rounding(dtype),
            _product(dtype, parameters.backend(input, weight)),
        )
        if bias is not None:
            _check_bias(bias, dtype, is_added=parameters.transposed)
            found = found + as_array(bias, dtype).reshape(1, -1, *(1,) * (len(sizes) - 2))
        store(output, rounded(np.asarray(found), dtype))
    return output


def _check_bias(bias: Tensor, dtype: DType, *, is_added: bool) -> None:
    """What is not added in place is copied there, before anything else is."""
    if is_added:
        check_can_cast(promote_types(dtype, bias._dtype), dtype)
    else:
        warn_of_cast(bias._dtype, dtype)


def _rounding(dtype: DType) -> arrays.Rounding:
    return lambda array: rounded(array, dtype)


def _product(dtype: DType, backend: str) -> Callable[..., Array]:
    """What sums the window up; only where nothing is there before is that ``gemm``."""
    return np.matmul if dtype not in REAL or backend in (MKLDNN, DILATED) else gemm


def _of_nothing(input: Tensor, weight: Tensor, bias: Tensor | None, sizes: Sequence[int]) -> Tensor:
    """``ConvBackend::Empty``: a product of the operands, which has no elements, in other sizes."""
    flat = _UNSAFE_VIEW(_CLONE(weight, memory_format=MEMORY_FORMATS["contiguous_format"]), [-1])
    if input._sizes[1]:
        output = _PRODUCT(input, _SELECT(flat, 0, 0))
    else:
        output = _PRODUCT(_VIEW(input, [-1]), flat)
    if bias is not None:
        _ADD_(output, _SELECT(bias, 0, 0))
    made: Tensor = _VIEW(output, sizes)
    return made


def _strides(
    input: Tensor, weight: Tensor, parameters: ConvParams, sizes: Sequence[int]
) -> tuple[int, ...] | None:
    """Of the output: channels lie innermost if they do in either operand, in volumes oneDNN's."""
    in_lines = len(sizes) == 3
    looked_at = [input, weight]
    if in_lines:  # whose input is made row-major
        looked_at = [_view4d(row_major(input)), _view4d(weight)]
    formats = [suggest_memory_format(each) for each in looked_at]
    if len(_in_two(sizes)) == 4 and _CHANNELS_LAST in formats:
        strides = channels_last_strides(_in_two(sizes), CHANNELS_LAST[_CHANNELS_LAST])
        return (*strides[:2], strides[3]) if in_lines else strides
    is_of_volume = len(sizes) == 5 and _CHANNELS_LAST_3D in formats and not input.is_meta
    if is_of_volume and parameters.backend(input, weight) == MKLDNN:
        return channels_last_strides(sizes, CHANNELS_LAST[_CHANNELS_LAST_3D])
    return None


def _view4d(tensor: Tensor) -> Tensor:
    """Lines as images of one row each."""
    sizes, strides = tuple(tensor._sizes), tensor._strides
    step = sizes[2] * strides[2]
    return tensor._as_view(
        (*sizes[:2], 1, sizes[2]), (*strides[:2], step, strides[2]), tensor._storage_offset
    )


def _in_two(sizes: Sequence[int]) -> Sequence[int]:
    """``view4d``: one dimension of space is taken for two."""
    return (*sizes[:2], 1, sizes[2]) if len(sizes) == 3 else sizes


def _check_for_backend(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    parameters: ConvParams,
    sizes: Sequence[int],
) -> None:
    """What the backend says: oneDNN, or the one that is slow."""
    if not numel(input._sizes):
        raise RuntimeError(
            "Only zero batch or zero channel inputs are supported, but got input shape: "
            f"{list(_in_two(input._sizes))}"
        )
    backend = parameters.backend(input, weight)
    if backend == MKLDNN:
        rest = " or input should be a MKLDNN tensor and {} is a dense tensor"
        _check_same_type(input, weight, bias, rest)
        check_mkldnn(parameters, weight._sizes, sizes)
        return
    if parameters.transposed:
        check_transposed(parameters, input._sizes, weight._sizes, sizes)
    elif backend == DILATED:
        check_dilated(parameters, weight._sizes)
    else:
        check_slow(weight._sizes)
    said = ""
    if backend == COLUMNS_3D and parameters.columns_are_a_view(weight._sizes):
        said = "slow_conv3d_cpu"
    dispatch(backend, input._dtype, said)
    # a bias is copied or, by the transposed one in two dimensions, added as an operator does
    reads_bias = parameters.transposed and len(sizes) == 5
    check_pointers(input._dtype, weight, bias if reads_bias else None)


# --- backward ---------------------------------------------------------------------------------


@kernel("aten::convolution_backward", keys=("CompositeExplicitAutograd", "Meta"))
def convolution_backward(
    grad_output: Tensor,
    input: Tensor,
    weight: Tensor,
    bias_sizes: Sequence[int] | None,
    *settings: Any,
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    *window, output_mask = settings
    parameters = ConvParams.of(weight, *window)
    parameters.check(input, weight._sizes, None)
    if len(input._sizes) != len(grad_output._sizes):
        raise RuntimeError(
            "Expected input and grad_output to have the same number of dimensions, but got: "
            f"{len(input._sizes)} and {len(grad_output._sizes)}"
        )
    if not parameters.transposed and any(parameters.output_padding):
        raise RuntimeError(
            "output_padding is not supported for non-transposed convolutions; got: "
            f"{list(parameters.output_padding)}"
        )
    if not (input.is_meta or all(input._sizes[:2])):
        return _gradients_of_nothing(input, weight, bias_sizes, output_mask)
    of_bias = (parameters.output_channels(weight._sizes),)
    of_weight: Sequence[int] = weight._sizes
    output_mask = list(output_mask)
    if output_mask[2] and not (output_mask[1] or input.is_meta):
        # oneDNN makes both or none, and only what was asked for loses the dimension it gained
        output_mask[1] = parameters.backend(input, weight) == MKLDNN
        of_weight = _in_two(of_weight)
    shapes: tuple[Sequence[int], ...] = (input._sizes, of_weight, of_bias)
    made: list[Tensor | None] = [
        new_tensor(shape, input._dtype, input._device, _strides(input, weight, parameters, shape))
        if wanted
        else None
        for shape, wanted in zip(shapes, output_mask, strict=True)
    ]
    if not input.is_meta:
        dtype = input._dtype
        grad, values, kernels = (as_array(each, dtype) for each in (grad_output, input, weight))
        found = arrays.backward(grad, values, kernels, parameters, _rounding(dtype))
        for target, value in zip(made, found, strict=True):
            if target is not None:
                store(target, rounded(value.reshape(tuple(target._sizes)), dtype))
    return made[0], made[1], made[2]


def _gradients_of_nothing(
    input: Tensor, weight: Tensor, bias_sizes: Sequence[int] | None, output_mask: Sequence[bool]
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """Zeros."""
    wanted, of_weight, of_bias = output_mask
    return (
        _ZEROS_LIKE(input) if wanted else None,
        _ZEROS_LIKE(weight) if of_weight else None,
        _NEW_ZEROS(weight, bias_sizes) if of_bias else None,
    )
