"""What the reference functions are made of: type promotion, broadcasting, checks, prims.

Mirrors ``torch/_prims_common/__init__.py``, ``_prim_elementwise_meta`` of ``torch/_prims`` and the
helpers of ``torch/_refs``.  A tensor that comes out holds no values: it is on meta.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from itertools import pairwise
from typing import Any, Final

from mindtorch_v2 import profile
from mindtorch_v2.kernels.elementwise.broadcasting import infer_expand_geometry
from mindtorch_v2.kernels.elementwise.promotion import BOOL, Operand, to_opmath
from mindtorch_v2.kernels.elementwise.tensor_iterator import is_standing_for_cpu
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.tensor import geometry
from mindtorch_v2.tensor.default_dtype import get_default_dtype
from mindtorch_v2.tensor.dtype import (
    COMPLEX_OF_REAL,
    DTYPES,
    MEMORY_FORMATS,
    REAL_OF_COMPLEX,
    DType,
    int64,
    memory_format,
)
from mindtorch_v2.tensor.geometry import (
    CHANNELS_LAST,
    channels_last_strides,
    dense_strides_like,
    is_contiguous,
    strides_in_order,
    wrap_dim,
)
from mindtorch_v2.tensor.scalars import is_integral
from mindtorch_v2.tensor.size import Size
from mindtorch_v2.tensor.support import reworded
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.tensor.type_info import iinfo

HABITS: Final[dict[str, bool]] = profile.active().refs["habits"]
"""Questions that releases answer differently (``conformance/extract/refs.py`` asks them)."""

_WORDS: Final[dict[str, list[str]]] = profile.active().refs["words"]

_COMPUTED_IN_MORE: Final = tuple(
    DTYPES[name] for name in ("bfloat16", "float16", "complex32", "bcomplex32") if name in DTYPES
)
_CHANNELS_LAST: Final = MEMORY_FORMATS["channels_last"]
_ORDERED_TYPES: Final = (bool, int, float, complex)
_ORDERED_DTYPES: Final = tuple(
    tuple(DTYPES[name] for name in names.split() if name in DTYPES)
    for names in (
        "bool",
        "uint8 int8",
        "int16",
        "int32",
        "int64",
        "float16 bfloat16",
        "float32",
        "float64",
        "complex32 bcomplex32",
        "complex64",
        "complex128",
    )
)


def maybe_wrap_dim(dim: int, rank: int) -> int:
    """``maybe_wrap_dim`` of torch/_meta_registrations.py."""
    count = max(rank, 1)
    if HABITS["a dimension is asserted"] and not -count <= dim < count:
        raise AssertionError(f"dim {dim} out of bounds ({-count}, {count - 1})")
    return wrap_dim(dim, rank)


def check_is_size(*sizes: int) -> None:
    """``validate_dim_length``, of each."""
    if min(sizes, default=0) < 0:
        raise worded("a size of less than nothing")


def suggest_memory_format(tensor: Tensor) -> memory_format:
    """That of torch/_prims_common, which once counted a dimension by its step, not its size."""
    sizes, strides = tensor._sizes, tensor._strides
    if not HABITS["channels last is told by steps"]:
        return geometry.suggest_memory_format(sizes, strides)
    counted = zip(sizes, strides, strict=True)
    told = [size if step > 1 or not size else 1 for size, step in counted]
    return geometry.suggest_memory_format(told, strides)


def strides_in_format_of(tensor: Tensor, sizes: Sequence[int]) -> tuple[int, ...] | None:
    """Strides in the memory format of a tensor; None if it is row-major."""
    order = CHANNELS_LAST.get(suggest_memory_format(tensor))
    return None if order is None else channels_last_strides(sizes, order)


def worded(subject: str, **words: str) -> Exception:
    """The exception with which the release's functions say something, some words replaced."""
    return reworded(_WORDS[subject], words)


# --- types of numbers ------------------------------------------------------------------------


def is_integer(dtype: DType) -> bool:
    """``is_integer_dtype``: bool is none."""
    return is_integral(dtype) and dtype is not BOOL


def check_range(dtype: DType, low: object, high: object) -> None:
    """RuntimeError for bounds that leave no value of ``dtype``; others beyond its range, which
    the function drops, change neither shape nor dtype."""
    limits = iinfo(dtype)
    beyond = {
        "min": isinstance(low, int) and low > limits.max,
        "max": isinstance(high, int) and high < limits.min,
    }
    for (name, is_beyond), bound in zip(beyond.items(), (low, high), strict=True):
        if is_beyond:
            raise RuntimeError(
                f"Clamp {name} value {bound} is outside the representable range of {dtype}"
            )


def dtype_to_type(dtype: DType) -> type:
    """The Python type of a dtype's values; ValueError where there is none."""
    if dtype is BOOL:
        return bool
    if is_integer(dtype):
        return int
    if dtype.is_floating_point:
        return float
    if dtype.is_complex:
        return complex
    raise ValueError("Invalid dtype!")


def is_weakly_lesser_type(one: type, two: type) -> bool:
    return _ORDERED_TYPES.index(one) <= _ORDERED_TYPES.index(two)


def get_higher_dtype(one: DType | None, two: DType) -> DType:
    """The first dtype that is weakly higher than both; RuntimeError for two it does not know."""
    if one is None or one is two:
        return two
    for place, dtypes in enumerate(_ORDERED_DTYPES):
        if one in dtypes and two in dtypes:
            return _ORDERED_DTYPES[place + 1][0]
        if one in dtypes:
            return two
        if two in dtypes:
            return one
    raise RuntimeError("Unexpected termination!")


def assertion(message: str) -> AssertionError:
    """Which some releases raise without a word."""
    return AssertionError(message) if HABITS["assertions say what they ask"] else AssertionError()


def corresponding_complex_dtype(dtype: DType) -> DType:
    return COMPLEX_OF_REAL[dtype]  # KeyError is what torch raises


def can_safe_cast_to(cast_from: DType, cast_to: DType) -> bool:
    kinds: tuple[Callable[[DType], bool], ...] = (
        lambda dtype: dtype.is_complex,
        lambda dtype: dtype.is_floating_point,
        is_integer,
        lambda dtype: dtype is BOOL,
    )
    for is_kind in kinds:
        if is_kind(cast_to):
            return True
        if is_kind(cast_from):
            return False
    raise ValueError(f"Received unknown dtypes {cast_to}, {cast_from}!")


def elementwise_dtypes(*args: Operand | None, kind: str) -> tuple[DType, DType]:
    """The dtypes of a computation and of its result, by the kind of type promotion."""
    operands = [each for each in args if each is not None]
    highest: type = bool
    for operand in operands:
        own = dtype_to_type(operand._dtype) if isinstance(operand, Tensor) else type(operand)
        if not is_weakly_lesser_type(own, highest):
            highest = own
    result = _result_dtype(operands, highest)
    return _by_kind(result, kind)


def _result_dtype(operands: Sequence[Operand], highest: type) -> DType:
    if highest is bool:
        return BOOL
    if highest is int:
        return _highest_dtype(operands, is_integer) or int64
    if highest is float:
        found = _highest_dtype(operands, lambda dtype: dtype.is_floating_point)
        return found or get_default_dtype()
    found = _highest_dtype(
        operands,
        lambda dtype: dtype.is_floating_point or dtype.is_complex,
        convert=lambda dtype: (
            corresponding_complex_dtype(dtype) if dtype.is_floating_point else dtype
        ),
    )
    return found or corresponding_complex_dtype(get_default_dtype())


def _highest_dtype(
    operands: Sequence[Operand],
    counts: Callable[[DType], bool],
    *,
    convert: Callable[[DType], DType] = lambda dtype: dtype,
) -> DType | None:
    """The highest dtype of tensors; those without dimensions count if there are no others."""
    without_dims: DType | None = None
    with_dims: DType | None = None
    for operand in operands:
        if isinstance(operand, Tensor) and counts(operand._dtype):
            dtype = convert(operand._dtype)
            if operand._sizes:
                with_dims = get_higher_dtype(with_dims, dtype)
            else:
                without_dims = get_higher_dtype(without_dims, dtype)
    return with_dims or without_dims


def get_computation_dtype(dtype: DType) -> DType:
    return to_opmath(dtype) if dtype in _COMPUTED_IN_MORE else dtype


def _by_kind(result: DType, kind: str) -> tuple[DType, DType]:
    if kind == "NO_OPMATH":
        return result, result
    if kind == "BOOL_TO_LONG" and result is BOOL:
        return int64, int64
    if kind == "INT_TO_FLOAT" and is_integral(result):
        result = get_default_dtype()
    computed = get_computation_dtype(result)
    if kind == "ALWAYS_BOOL":
        return computed, BOOL
    if kind == "COMPLEX_TO_FLOAT" and result.is_complex:
        return computed, REAL_OF_COMPLEX[result]
    return computed, result


# --- conversion and broadcasting -------------------------------------------------------------


def to_dtype(operand: Any, dtype: DType) -> Any:
    """``_maybe_convert_to_dtype``."""
    if operand is None:
        return None
    if not isinstance(operand, Tensor):
        return dtype_to_type(dtype)(operand)
    if operand._dtype is dtype:
        return operand
    strides = dense_strides_like(operand._sizes, operand._strides)
    return new_tensor(operand._sizes, dtype, operand._device, strides)


def pw_cast_for_opmath(function: Callable[..., Any]) -> Callable[..., Any]:
    """Have a function compute in the dtype to which all tensors promote, and answer in theirs."""

    @wraps(function)
    def inner(*args: Any, **kwargs: Any) -> Any:
        tensors = [each for each in (*args, *kwargs.values()) if isinstance(each, Tensor)]
        computed, result = elementwise_dtypes(*tensors, kind="DEFAULT")

        def increase_prec(value: Any) -> Any:
            return to_dtype(value, computed) if isinstance(value, Tensor) else value

        made = function(
            *map(increase_prec, args),
            **{name: increase_prec(each) for name, each in kwargs.items()},
        )
        return to_dtype(made, result)

    return inner


def broadcast_shapes(*shapes: Sequence[int]) -> tuple[int, ...]:
    """``_broadcast_shapes``; RuntimeError in its words."""
    common = [1] * max(map(len, shapes), default=0)
    for place, shape in enumerate(shapes):
        for dim in range(-1, -1 - len(shape), -1):
            if common[dim] == shape[dim]:
                continue
            if common[dim] == 1:
                common[dim] = shape[dim]
            elif shape[dim] != 1:
                raise RuntimeError(
                    f"Attempting to broadcast a dimension of length {shape[dim]} at {dim}! "
                    f"Mismatching argument at index {place} had {Size._of(shape)}; but expected "
                    f"shape should be broadcastable to {common}"
                )
    return tuple(common)


def is_cpu_scalar_tensor(operand: object) -> bool:
    return isinstance(operand, Tensor) and not operand._sizes and operand._device.type == "cpu"


def maybe_broadcast(*operands: Operand) -> tuple[Operand, ...]:
    """Tensors expanded to a common shape, but for numbers on the CPU."""
    shape = broadcast_shapes(*(each._sizes for each in operands if isinstance(each, Tensor)))
    return tuple(_expanded(each, shape) if isinstance(each, Tensor) else each for each in operands)


def _expanded(tensor: Tensor, shape: tuple[int, ...]) -> Tensor:
    if is_cpu_scalar_tensor(tensor) or tuple(tensor._sizes) == shape:
        return tensor
    sizes, strides = infer_expand_geometry(tensor._sizes, tensor._strides, shape)
    return tensor._as_view(sizes, strides, tensor._storage_offset)


def check_same_device(*operands: Operand, allow_cpu_scalar_tensors: bool = True) -> None:
    if len(operands) <= 1:
        return
    device = None
    for operand in operands:
        if not isinstance(operand, Tensor):
            continue
        if allow_cpu_scalar_tensors and is_cpu_scalar_tensor(operand):
            continue
        device = device or operand._device
        if operand._device != device:
            raise RuntimeError(
                f"Tensor on device {operand._device} is not on the expected device {device}!"
            )


def check_same_shape(*tensors: Tensor) -> None:
    """Of those that a function takes no number for."""
    shape = tensors[0]._sizes
    for each in tensors[1:]:
        if tuple(each._sizes) != tuple(shape):
            raise RuntimeError(
                f"Shape {Size._of(each._sizes)} is not the expected shape {Size._of(shape)}!"
            )


def _check_same_dtype(*operands: Operand) -> None:
    dtype = None
    for operand in operands:
        if isinstance(operand, Tensor):
            dtype = dtype or operand._dtype
            if operand._dtype is not dtype:
                raise RuntimeError(
                    f"Tensor with dtype {operand._dtype} is not the expected dtype of {dtype}!"
                )


# --- the elementwise prim --------------------------------------------------------------------


def elementwise(*operands: Operand, also: Sequence[Tensor] = ()) -> Tensor:
    """``_prim_elementwise_meta``: one result for operands of one dtype and shape.

    ``also`` are operands whose dtype is their own business.
    """
    _check_same_dtype(*operands)
    everything = (*also, *operands)
    check_same_device(*everything)
    tensors = [each for each in everything if isinstance(each, Tensor)]
    shaped = [each for each in tensors if not is_cpu_scalar_tensor(each)]
    shape = tuple(shaped[0]._sizes) if shaped else ()
    device = (shaped or tensors)[0]._device
    like = [each for each in operands if isinstance(each, Tensor)]
    dtype = next((each._dtype for each in like if not is_cpu_scalar_tensor(each)), None)
    if dtype is None:
        dtype = like[-1]._dtype if like else _dtype_of_number(operands[-1])
    return new_tensor(shape, dtype, device, output_strides(shape, shaped))


def _dtype_of_number(number: Any) -> DType:
    """``type_to_dtype``."""
    if isinstance(number, complex):
        return corresponding_complex_dtype(get_default_dtype())
    if isinstance(number, float):
        return get_default_dtype()
    return BOOL if isinstance(number, bool) else int64


def output_strides(shape: Sequence[int], tensors: Sequence[Tensor]) -> tuple[int, ...]:
    """Of what is computed from tensors: they say which dimension lies within which."""
    return strides_in_order(shape, physical_order(shape, tensors))


def physical_order(shape: Sequence[int], tensors: Sequence[Tensor]) -> list[int]:
    """``compute_elementwise_output_logical_to_physical_perm``, from the innermost dimension."""
    rank = len(shape)
    order = list(range(rank - 1, -1, -1))
    if rank > 1:
        contiguous = all(is_contiguous(each._sizes, each._strides) for each in tensors)
        channels_last = HABITS["channels last is looked for beside contiguous"] and all(
            is_contiguous(each._sizes, each._strides, _CHANNELS_LAST) for each in tensors
        )
        if channels_last and not contiguous:
            order = list(CHANNELS_LAST[_CHANNELS_LAST])
        elif not contiguous or channels_last:
            _sort(order, shape, tensors)
    return order


def strides_like(tensor: Tensor) -> tuple[int, ...]:
    """Of what ``empty_like`` makes: on meta they are those of an elementwise operator."""
    if tensor.is_meta and not is_standing_for_cpu():
        return output_strides(tensor._sizes, (tensor,))
    return dense_strides_like(tensor._sizes, tensor._strides)


def row_major(tensor: Tensor) -> Tensor:
    """``contiguous``, of a tensor on meta: itself where it is, whatever its dimensions of one
    element have for strides."""
    if is_contiguous(tensor._sizes, tensor._strides):
        return tensor
    return new_tensor(tensor._sizes, tensor._dtype, tensor._device)


def row_major_like(tensor: Tensor) -> Tensor:
    """The same of what ``empty_like`` makes."""
    strides = output_strides(tensor._sizes, (tensor,))
    return row_major(new_tensor(tensor._sizes, tensor._dtype, tensor._device, strides))


def _sort(order: list[int], shape: Sequence[int], tensors: Sequence[Tensor]) -> None:
    """An insertion sort from the innermost dimension: what is ambiguous keeps its order."""
    for place in range(1, len(order)):
        moved = place
        for earlier in range(place - 1, -1, -1):
            answer = _should_swap(order[earlier], order[moved], shape, tensors)
            if answer > 0:
                order[earlier], order[moved] = order[moved], order[earlier]
                moved = earlier
            elif answer < 0:
                break


def is_sorted_strictly(order: list[int], shape: Sequence[int], tensors: Sequence[Tensor]) -> bool:
    """Whether each dimension that a sort put into ``order`` lies within the one after it for sure.

    What is contiguous, or channels last, but not both, was not sorted.
    """
    contiguous = all(is_contiguous(each._sizes, each._strides) for each in tensors)
    channels_last = all(
        is_contiguous(each._sizes, each._strides, _CHANNELS_LAST) for each in tensors
    )
    if contiguous is not channels_last:
        return True
    return all(_should_swap(one, two, shape, tensors) < 0 for one, two in pairwise(order))


def _should_swap(one: int, two: int, shape: Sequence[int], tensors: Sequence[Tensor]) -> int:
    for tensor in tensors:
        stride_one, stride_two = tensor._strides[one], tensor._strides[two]
        if stride_one == 0 or stride_two == 0:
            continue
        if stride_one != stride_two:
            return -1 if stride_one < stride_two else 1
        if shape[one] > shape[two]:
            return 1
    return 0


def shaped_elementwise(*operands: Operand) -> Tensor:
    """Broadcasting, then the prim."""
    return elementwise(*maybe_broadcast(*operands))
