"""Pointwise operators: one shape, one dtype and one order of elements for several operands.

Mirrors ``aten/src/ATen/TensorIterator.cpp``, whose order of checks decides which of several
errors a call gets.  Where elements lie in a new output follows Note [Computing output strides]
there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple

from mindtorch_v2.kernels.elementwise.broadcasting import infer_size
from mindtorch_v2.kernels.elementwise.promotion import (
    BOOL,
    Operand,
    check_can_cast,
    float_of,
    number_dtype,
    result_type,
)
from mindtorch_v2.kernels.outputs import new_tensor, resize_output, warn_of_resizing
from mindtorch_v2.kernels.overlap import (
    MemOverlapStatus,
    assert_no_internal_overlap,
    assert_no_partial_overlap,
    get_overlap_status,
)
from mindtorch_v2.messages import internal_assert
from mindtorch_v2.tensor.default_dtype import get_default_dtype
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.dtype import CPP_LAYOUTS, MEMORY_FORMATS, DType, strided
from mindtorch_v2.tensor.experimental import is_experimental, raise_warning_for_complex_half
from mindtorch_v2.tensor.geometry import (
    CHANNELS_LAST,
    channels_last_strides,
    contiguous_strides,
    dense_strides_like,
    dimension_order,
    is_contiguous,
    is_non_overlapping_and_dense,
)
from mindtorch_v2.tensor.plain import KEYS
from mindtorch_v2.tensor.size import Size
from mindtorch_v2.tensor.support import CPP_NAMES
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.thread_state import ThreadLocal

_CHANNELS_LAST: Final = MEMORY_FORMATS["channels_last"]
_CPU: Final = Device("cpu")


@dataclass(frozen=True, slots=True)
class _CastCopy:
    """How the copy lies that an operand is cast to; nobody makes it here."""

    _sizes: tuple[int, ...]
    _strides: tuple[int, ...]
    _dtype: DType


class _StandIns(ThreadLocal):
    are_for_cpu = False


_stand_ins: Final = _StandIns()


@contextmanager
def standing_for_cpu() -> Iterator[None]:
    """A block in which all tensors stand for tensors on the CPU, and lie as those would."""
    outer, _stand_ins.are_for_cpu = _stand_ins.are_for_cpu, True
    try:
        yield
    finally:
        _stand_ins.are_for_cpu = outer


def is_standing_for_cpu() -> bool:
    return _stand_ins.are_for_cpu


class Config(NamedTuple):
    """What an operator allows (``TensorIteratorConfig``)."""

    check_mem_overlap: bool = True
    check_all_same_dtype: bool = True
    check_all_same_device: bool = True
    enforce_safe_casting_to_output: bool = False
    promote_inputs_to_common_dtype: bool = False
    promote_integer_inputs_to_float: bool = False
    cast_common_dtype_to_outputs: bool = False
    allow_cpu_scalars: bool = False
    resize_outputs: bool = True
    #: The dtype of outputs that are made, whatever the inputs are.
    static_dtype: DType | None = None
    #: Whether outputs of another than ``static_dtype`` are computed in the common dtype.
    casts_other_outputs: bool = False
    #: Whether what resizes an output does so once more with what is computed in its place.
    is_structured: bool = True


BINARY_OP: Final = Config(
    check_all_same_dtype=False,
    enforce_safe_casting_to_output=True,
    promote_inputs_to_common_dtype=True,
    cast_common_dtype_to_outputs=True,
    allow_cpu_scalars=True,
)
BINARY_FLOAT_OP: Final = BINARY_OP._replace(promote_integer_inputs_to_float=True)
TERNARY_OP: Final = BINARY_OP._replace(allow_cpu_scalars=False)
UNARY_OP: Final = Config()
UNARY_FLOAT_OP: Final = TERNARY_OP._replace(promote_integer_inputs_to_float=True)
COMPARISON_OP: Final = Config(
    check_all_same_dtype=False,
    promote_inputs_to_common_dtype=True,
    allow_cpu_scalars=True,
    static_dtype=BOOL,
)
STRUCTURED_COMPARISON_OP: Final = COMPARISON_OP._replace(casts_other_outputs=True)


def dtype_of(operand: Operand) -> DType:
    return operand._dtype if isinstance(operand, Tensor) else number_dtype(operand)


def _is_alike(tensor: Tensor, dtype: DType, sizes: Size) -> bool:
    """Whether it is plain, with that dtype and shape."""
    return tensor._array is not None and tensor._dtype is dtype and tensor._sizes == sizes


def sizes_of(operand: Operand) -> tuple[int, ...]:
    return operand._sizes if isinstance(operand, Tensor) else ()


_setups: Final[dict[Any, tuple[tuple[int, ...], tuple[int, ...], DType]]] = {}
"""Shape, strides and common dtype, by what these depend on: most calls come again."""
_MOST_SETUPS: Final = 10_000
_NUMBERS: Final = (bool, int, float, complex)


class TensorIterator:
    """Inputs and outputs that have been made to fit; see :class:`Config` for what is refused.

    ``outputs`` holds a tensor for each output that was given or None for one that is to be made;
    after construction, a tensor for each.
    """

    def __init__(
        self, config: Config, outputs: Sequence[Tensor | None], inputs: Sequence[Operand]
    ) -> None:
        self.config = config
        self.inputs = tuple(inputs)
        self._given = tuple(outputs)
        if self._lies_alike():
            return
        key = self._key_of_plain()
        if key is not None and key in _setups:
            self._set_up(*_setups[key])
            return
        self._check_layouts()
        self._check_overlaps()
        self._compute_shape()
        self._will_resize = [self._is_resized(output) for output in self._given]
        self._compute_types()
        self.outputs = tuple(map(self._allocated, self._given))
        if is_experimental(self.common_dtype):
            return  # next time warns again, of each copy
        if key is not None and len(_setups) < _MOST_SETUPS:
            _setups[key] = self.shape, self.strides, self.common_dtype

    @property
    def loops(self) -> list[int]:
        """Dimensions from the outermost loop over the elements to the innermost."""
        return sorted(range(len(self.shape)), key=lambda dim: -self.strides[dim])

    def _read_write(self, output: Tensor) -> bool:
        return any(output is each for each in self.inputs)

    def _lies_alike(self) -> bool:
        """Set up what has plain operands of one dtype and shape, which pass every check
        (``fast_set_up``); whether it has."""
        first = self.inputs[0]
        if not isinstance(first, Tensor) or first._array is None or not first._sizes:
            return False
        dtype, sizes = first._dtype, first._sizes
        for each in self.inputs:
            if not isinstance(each, Tensor) or not _is_alike(each, dtype, sizes):
                return False
        for output in self._given:
            if output is not None and not (
                _is_alike(output, dtype, sizes) and self._reads_before_writing(output)
            ):
                return False
        if self.config.promote_integer_inputs_to_float:
            self.common_dtype = float_of(dtype)
            if self.common_dtype is not dtype and any(each is not None for each in self._given):
                return False
        else:
            self.common_dtype = dtype
        self._set_up(tuple(sizes), first._strides, self.common_dtype)
        return True

    def _key_of_plain(self) -> Any:
        """What everything depends on that is made of dense tensors of the CPU and of numbers; None
        where there are others, or an output is given."""
        found: list[Any] = [self.config, get_default_dtype()]
        for output in self._given:
            if output is not None:
                return None
        for each in self.inputs:
            if isinstance(each, Tensor):
                if each._keys != KEYS or each._custom is not None:
                    return None
                found.append((each._dtype, each._sizes, each._strides))
            elif type(each) in _NUMBERS:
                found.append((type(each), number_dtype(each)))
            else:
                return None
        return tuple(found)

    def _set_up(
        self, shape: tuple[int, ...], strides: tuple[int, ...], common_dtype: DType
    ) -> None:
        """All that is found out step by step, of plain operands."""
        self.shape, self.strides, self.device = shape, strides, _CPU
        self.common_dtype = common_dtype
        self._will_resize = [output is None for output in self._given]
        self.outputs = tuple(map(self._allocated, self._given))

    def _reads_before_writing(self, output: Tensor) -> bool:
        """Whether an output is an input itself, or has to do with none."""
        return all(
            each is output or get_overlap_status(output, each) is MemOverlapStatus.NO
            for each in self.inputs
            if isinstance(each, Tensor)
        )

    # --- checks -------------------------------------------------------------------------------

    def _check_layouts(self) -> None:
        for operand in (*self._given, *self.inputs):
            if isinstance(operand, Tensor) and operand._layout is not strided:
                name = CPP_LAYOUTS[operand._layout]
                raise RuntimeError(f"unsupported tensor layout: {name}")

    def _check_overlaps(self) -> None:
        if not self.config.check_mem_overlap:
            return
        for output in self._given:
            if output is not None:
                assert_no_internal_overlap(output)
                for value in self.inputs:
                    if isinstance(value, Tensor) and value is not output:
                        assert_no_partial_overlap(output, value)

    def _compute_shape(self) -> None:
        counted = [] if self.config.resize_outputs else [o for o in self._given if o is not None]
        shape: tuple[int, ...] = ()
        for operand in (*counted, *self.inputs):
            sizes = tuple(sizes_of(operand))
            shape = infer_size(shape, sizes) if shape and sizes != shape else sizes or shape
        self.shape = shape

    def _is_resized(self, output: Tensor | None) -> bool:
        if output is None:
            return True
        if tuple(output._sizes) == self.shape:
            return False
        if self.config.resize_outputs and not self._read_write(output):
            return True
        raise RuntimeError(
            f"output with shape {list(output._sizes)} doesn't match the broadcast shape "
            f"{list(self.shape)}"
        )

    def _compute_types(self) -> None:
        config = self.config
        if any(each is None for each in self.inputs):
            raise RuntimeError(
                internal_assert("op.is_output", "TensorIteratorBase::compute_types")
                + "Found type undefined input tensor!"
            )
        tensors = [each for each in (*self._given, *self.inputs) if isinstance(each, Tensor)]
        self.device = next((each._device for each in tensors if each._device.type != "cpu"), _CPU)
        dtypes = [dtype_of(each) for each in self.inputs]
        self.common_dtype = dtypes[0]
        if config.check_all_same_dtype:
            for operand in tensors:
                if operand._dtype is not self.common_dtype:
                    raise RuntimeError(
                        f"Found dtype {CPP_NAMES[operand._dtype]} but expected "
                        f"{CPP_NAMES[self.common_dtype]}"
                    )
        if config.promote_inputs_to_common_dtype and (
            any(dtype is not dtypes[0] for dtype in dtypes) or not any(map(sizes_of, self.inputs))
        ):
            self.common_dtype = result_type(self.inputs)
        if config.promote_integer_inputs_to_float:
            self.common_dtype = float_of(self.common_dtype)
        self._check_operands()

    def _check_operands(self) -> None:
        config, device = self.config, self.device
        scalars = 0
        for place, operand in enumerate((*self._given, *self.inputs)):
            if operand is None:
                continue
            is_output = place < len(self._given)
            if config.check_all_same_device:
                where = operand._device if isinstance(operand, Tensor) else _CPU
                is_scalar = not is_output and not sizes_of(operand) and where.type == "cpu"
                if device.type != "cpu" and config.allow_cpu_scalars and is_scalar:
                    if scalars:
                        raise RuntimeError("Trying to pass too many CPU scalars to non-CPU kernel!")
                    scalars += 1
                elif where != device:
                    raise RuntimeError(
                        "Expected all tensors to be on the same device, but found at least two "
                        f"devices, {device} and {where}!"
                    )
            if is_output and config.enforce_safe_casting_to_output:
                check_can_cast(self.common_dtype, dtype_of(operand))
            if is_experimental(self.common_dtype) and self._has_copy(operand, is_output=is_output):
                raise_warning_for_complex_half(self.common_dtype)

    def walked(self) -> tuple[list[tuple[int, ...]], list[int]]:
        """The strides in which a loop on the CPU goes through each operand, and the dimensions from
        the innermost to the outermost."""
        operands = self._lying((*self.outputs, *self.inputs))
        strides = [_broadcast_strides(self.shape, each) for each in operands]
        return strides, iteration_order(self.shape, operands)

    # --- outputs ------------------------------------------------------------------------------

    def _allocated(self, output: Tensor | None) -> Tensor:
        if output is None:
            dtype = self.config.static_dtype or self.common_dtype
            return new_tensor(self.shape, dtype, self.device, self.strides)
        sizes = tuple(output._sizes)
        if sizes == self.shape:
            return output
        is_resized = resize_output(output, self.shape, self.strides)
        if is_resized and self.config.is_structured and self._is_cast(output):
            warn_of_resizing(sizes, self.shape)  # of the tensor that is computed in its place
        return output

    def _is_cast(self, output: Tensor) -> bool:
        """Whether the result is computed in another dtype first, which happens on the CPU."""
        config = self.config
        casts = config.cast_common_dtype_to_outputs or (
            config.casts_other_outputs and output._dtype is not config.static_dtype
        )
        return casts and self._is_on_cpu() and output._dtype is not self.common_dtype

    def _is_on_cpu(self) -> bool:
        return self.device.type == "cpu" or _stand_ins.are_for_cpu

    def _has_copy(self, operand: Operand, *, is_output: bool) -> bool:
        if is_output and isinstance(operand, Tensor):
            return self._is_cast(operand)
        return self._is_copied(operand)

    def _is_copied(self, operand: Operand) -> bool:
        """Whether an input is cast before it is read, which happens on the CPU."""
        casts = self.config.promote_inputs_to_common_dtype and self._is_on_cpu()
        return casts and dtype_of(operand) is not self.common_dtype

    def _lying(self, operands: Sequence[Operand]) -> list[Tensor | _CastCopy]:
        """What is walked: tensors, and the copies of those, and of numbers, that are cast."""
        found: list[Tensor | _CastCopy] = []
        for each in operands:
            if self._is_copied(each):
                found.append(self._copied(each))
            elif isinstance(each, Tensor):
                found.append(each)
        return found

    def _copied(self, operand: Operand) -> _CastCopy:
        if not isinstance(operand, Tensor):
            return _CastCopy((), (), self.common_dtype)
        strides = dense_strides_like(operand._sizes, operand._strides)
        return _CastCopy(operand._sizes, strides, self.common_dtype)

    @cached_property
    def strides(self) -> tuple[int, ...]:
        """Those of an output that is made or resized."""
        shaped = [
            each
            for each, resized in zip(self._given, self._will_resize, strict=True)
            if each is not None and not resized
        ]
        operands = [*shaped, *self._lying(self.inputs)]
        same_shape = all(tuple(sizes_of(each)) == self.shape for each in (*shaped, *self.inputs))
        if same_shape:
            found = _fast_strides(self.shape, operands)
            if found is not None:
                return found
        return _compatible_strides(self.shape, iteration_order(self.shape, operands))


def _fast_strides(
    shape: tuple[int, ...], operands: Sequence[Tensor | _CastCopy]
) -> tuple[int, ...] | None:
    """Strides where all operands lie alike (``compute_fast_setup_type``); None if they do not."""
    if all(is_contiguous(each._sizes, each._strides) for each in operands):
        return contiguous_strides(shape)
    if all(is_contiguous(each._sizes, each._strides, _CHANNELS_LAST) for each in operands):
        return channels_last_strides(shape, CHANNELS_LAST[_CHANNELS_LAST])
    last = operands[-1]._strides
    if all(
        is_non_overlapping_and_dense(each._sizes, each._strides) and each._strides == last
        for each in operands
    ):
        return last
    return None


def _compatible_strides(shape: tuple[int, ...], order: Sequence[int]) -> tuple[int, ...]:
    """``compatible_stride``: dimensions outside of an empty one have no stride.

    Not so in row-major order, of which nobody tells the output.
    """
    if list(order) == list(range(len(shape) - 1, -1, -1)):
        return contiguous_strides(shape)
    strides = [0] * len(shape)
    step = 1
    for dim in order:
        strides[dim] = step
        step *= shape[dim]
    return tuple(strides)


def iteration_order(shape: tuple[int, ...], operands: Sequence[Tensor | _CastCopy]) -> list[int]:
    """Dimensions from the innermost to the outermost (``reorder_dimensions``)."""
    strides = [_broadcast_byte_strides(shape, each) for each in operands]
    return dimension_order(len(shape), lambda a, b: _compare(a, b, shape, strides))


def _broadcast_byte_strides(shape: tuple[int, ...], operand: Tensor | _CastCopy) -> tuple[int, ...]:
    itemsize = operand._dtype.itemsize
    return tuple(stride * itemsize for stride in _broadcast_strides(shape, operand))


def _broadcast_strides(shape: tuple[int, ...], operand: Tensor | _CastCopy) -> tuple[int, ...]:
    missing = len(shape) - len(operand._sizes)
    return (0,) * missing + tuple(
        0 if size == 1 and wanted != 1 else stride
        for size, wanted, stride in zip(
            operand._sizes, shape[missing:], operand._strides, strict=True
        )
    )


def _compare(one: int, two: int, shape: tuple[int, ...], strides: Sequence[tuple[int, ...]]) -> int:
    """-1 if dimension ``one`` lies further in than ``two``, 1 if further out, 0 if unknown."""
    for each in strides:
        if each[one] == 0 or each[two] == 0:
            continue
        if each[one] != each[two]:
            return -1 if each[one] < each[two] else 1
        if shape[one] > shape[two]:
            return 1
    return 0
