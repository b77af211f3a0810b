"""Operators that make tensors, alike on every backend and in every layout.

Mirrors ``aten/src/ATen/native/TensorFactories.cpp``.  What a tensor may be is for
:mod:`mindtorch_v2.tensor.factories` to say; here an operator's arguments become its options.

As in C++ a new tensor is filled by an operator, in place: where ``zeros`` is called above
ADInplaceOrView, as in formulas of gradients, that counts as a change.  On meta
(``torch/_refs/__init__.py``) nothing is filled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from mindtorch_v2.binding import messages
from mindtorch_v2.binding.casts import uncastable
from mindtorch_v2.binding.convert import enum_value
from mindtorch_v2.binding.operators import find_operator
from mindtorch_v2.binding.values import dtype_of_value, layout_of_value, memory_format_of_value
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.keyset import mask_of
from mindtorch_v2.kernels.factories.uninitialized import filled_if_deterministic
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor, set_sizes
from mindtorch_v2.kernels.overlap import assert_no_internal_overlap
from mindtorch_v2.kernels.pinning import check_pin_memory
from mindtorch_v2.kernels.refs.common import assertion, strides_like
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.structured import prologue
from mindtorch_v2.kernels.switches import dispatch
from mindtorch_v2.kernels.views.strided import unsigned_nbytes
from mindtorch_v2.tensor import factories
from mindtorch_v2.tensor.absent_devices import is_absent
from mindtorch_v2.tensor.arange import UncountableError, is_in_python
from mindtorch_v2.tensor.copying import fill, is_on_accelerator, store, value_array, zero
from mindtorch_v2.tensor.default_dtype import get_default_dtype
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.device_memory import with_index
from mindtorch_v2.tensor.dtype import (
    DTYPES,
    MEMORY_FORMATS,
    DType,
    Layout,
    int64,
    mkldnn,
    sparse_coo,
    strided,
)
from mindtorch_v2.tensor.geometry import (
    check_dimensionality,
    check_size_nonnegative,
    completed_strides,
    is_contiguous,
    numel,
    storage_bytes,
)
from mindtorch_v2.tensor.options import tensor_keyset
from mindtorch_v2.tensor.plain import set_strides
from mindtorch_v2.tensor.scalars import scalar_to
from mindtorch_v2.tensor.storage import UntypedStorage
from mindtorch_v2.tensor.support import SCALAR_TENSOR_TYPES, check_dtype
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.warn import warn

Sizes = Sequence[int]
Options = tuple[int | None, int | None, Device | None, bool | None]
"""Dtype, layout, device and pinned memory, in the order of every schema that has them."""

_ARANGE_OUT: Final = OperatorHandle("aten::arange.start_out")
_AS_STRIDED: Final = OperatorHandle("aten::as_strided")
_EMPTY_LIKE: Final = OperatorHandle("aten::empty_like")
_EMPTY_OF: Final = OperatorHandle("aten::empty.memory_format")
_EMPTY_STRIDED: Final = OperatorHandle("aten::empty_strided")
_EYE_OUT: Final = OperatorHandle("aten::eye.m_out")
_FILL_: Final = OperatorHandle("aten::fill_.Scalar")
_RESIZE_: Final = OperatorHandle("aten::resize_")
_ZERO_: Final = OperatorHandle("aten::zero_")
_OPTIONS: Final = ("dtype", "layout", "device", "pin_memory")
_PRESERVE: Final = MEMORY_FORMATS["preserve_format"]
_BACKENDS: Final = {
    "cpu": tensor_keyset(mask_of(DispatchKey.CPU)),
    "meta": tensor_keyset(mask_of(DispatchKey.Meta)),
}
_MADE: Final = ("Meta", "CompositeExplicitAutograd")
_EMPTY: Final = (
    *("CPU", "Meta", "QuantizedCPU", "QuantizedMeta", "MkldnnCPU"),
    *("SparseCPU", "SparseMeta", "SparseCsrCPU", "SparseCsrMeta"),
)
_LIKE: Final = (
    *("CompositeExplicitAutograd", "Meta", "QuantizedCPU"),
    *("SparseCPU", "SparseMeta", "SparseCsrCPU", "SparseCsrMeta"),
)


def given_options(options: Sequence[Any]) -> dict[str, Any]:
    """The options that are there, as the functions of this package take them."""
    dtype, layout, device, pin_memory, *format = options
    found = {
        "dtype": None if dtype is None else dtype_of_value(dtype),
        "layout": None if layout is None else layout_of_value(layout),
        "device": None if device is None else with_index(device),
        "pin_memory": pin_memory,
    }
    if format and format[0] is not None:
        found["memory_format"] = memory_format_of_value(format[0])
    return {name: value for name, value in found.items() if value is not None}


def _like(self: Tensor, options: Sequence[Any]) -> dict[str, Any]:
    """Those of a tensor where none are given; to preserve its format is what is done anyway."""
    given = given_options(options)
    if given.get("memory_format") is _PRESERVE:
        del given["memory_format"]
    return {"dtype": self._dtype, "layout": self._layout, "device": self._device, **given}


def _refuse(size: Sizes, dtype: DType, layout: Layout, device: Device) -> None:
    """Raise what the dispatcher does where no backend makes an empty tensor."""
    _EMPTY_OF(list(size), dtype=dtype, layout=layout, device=device)


factories.REFUSE[:] = [_refuse]


# --- of a shape -------------------------------------------------------------------------------


@kernel("aten::empty.memory_format", keys=_EMPTY)
def empty(size: Sizes, *options: Any) -> Tensor:
    return filled_if_deterministic(factories.empty(tuple(size), **given_options(options)))


@kernel("aten::empty_strided", keys=("CPU", "Meta"))
def empty_strided(size: Sizes, stride: Sizes, *options: Any) -> Tensor:
    given = given_options(options)
    check_size_nonnegative(size)
    dtype = given.get("dtype", get_default_dtype())
    check_dimensionality(size, stride)
    device = given.get("device", Device("cpu"))
    if device.type != "meta":  # there the bytes are counted in symbolic integers, without a bound
        unsigned_nbytes(size, stride, dtype.itemsize)
    made = new_tensor(size, dtype, device, completed_strides(size, stride))
    if device.type == "meta" and min(stride, default=0) < 0:
        counted = storage_bytes(size, stride, 0, dtype.itemsize)
        made._storage = UntypedStorage._without_memory(counted, device)
    return filled_if_deterministic(made)


@kernel("aten::empty_permuted", keys=_MADE)
def empty_permuted(size: Sizes, physical_layout: Sizes, *options: Any) -> Any:
    """Its dimensions lie in memory in the order of ``physical_layout``."""
    rank = len(size)
    if len(physical_layout) != rank:
        raise RuntimeError(
            "Number of dimensions in size does not match the length of the physical_layout; i.e. "
            f"len(size) = {rank} is not equal to len(physical_layout) = {len(physical_layout)}"
        )
    for place, dim in enumerate(physical_layout):
        if not 0 <= dim < rank:
            raise RuntimeError(
                f"Dimension out of range (expected to be between 0 and {rank - 1}, but got {dim} "
                f"at index {place}).  NB: negative dims not currently supported; file an issue if "
                "you want it."
            )
        if dim in physical_layout[:place]:
            raise RuntimeError("Duplicate dim not allowed")
    made = _EMPTY_OF(
        [size[dim] for dim in physical_layout], **dict(zip(_OPTIONS, options, strict=True))
    )
    strides = [0] * rank
    for dim, stride in zip(physical_layout, made._strides, strict=True):
        strides[dim] = stride
    return _AS_STRIDED(made, list(size), strides)


def made_empty(size: Sizes, **given: Any) -> Tensor:
    """``at::empty``: an operator where somebody else's kernel makes what is empty."""
    if _are_made_here(given):
        return factories.empty(tuple(size), **given)
    made: Tensor = _EMPTY_OF(list(size), **given)
    return made


def _are_made_here(given: Mapping[str, Any]) -> bool:
    device = given.get("device")
    keys = _BACKENDS.get("cpu" if device is None else device.type)
    return keys is None or _EMPTY_OF.operator.is_untouched(keys)


@kernel("aten::zeros", keys=_MADE)
def zeros(size: Sizes, *options: Any) -> Any:
    return _zeros(size, given_options(options))


def _zeros(size: Sizes, given: Mapping[str, Any]) -> Any:
    if not _are_made_here(given):
        return _ZERO_(made_empty(size, **given))
    return _zeroed(factories.zeros(tuple(size), **given))


def _zeroed(made: Tensor) -> Any:
    """A new tensor, which holds zeros already, as ``zero_`` answers or refuses it."""
    return _ZERO_(made) if _is_told_to_hold(made) and _has_operators(made) else made


def _is_filled(made: Tensor) -> bool:
    """Whether a new tensor has elements that an operator sets."""
    return made._layout is strided and not made.is_meta and not made._dtype._is_quantized


def _is_told_to_hold(made: Tensor) -> bool:
    """The same, and of quantized tensors, whose backends may have no such operator."""
    return _is_filled(made) or (made._dtype._is_quantized and made._layout is strided)


def _is_filled_by_none(made: Tensor) -> bool:
    """Whether it is where no backend can fill it, which the dispatcher says."""
    return (made.is_meta and made._dtype._is_quantized) or made._layout is mkldnn


def _has_operators(made: Tensor) -> bool:
    """Whether there are kernels where it lies: an accelerator may be there for its memory alone."""
    return not is_on_accelerator(made) or DispatchKey.NPU in _ZERO_.operator.entry.table


@kernel("aten::ones", keys=_MADE)
def ones(size: Sizes, *options: Any) -> Any:
    given = given_options(options)
    factories.check_layout_of_full(given.get("layout"))
    return _filled(made_empty(size, **given), 1)


@kernel("aten::full", keys=_MADE)
def full(size: Sizes, fill_value: Any, *options: Any) -> Any:
    given = {"dtype": factories.dtype_to_fill(fill_value), **given_options(options)}
    if given.get("layout") is sparse_coo:
        factories.check_layout_of_full(sparse_coo)
    return _filled(made_empty(size, **given), fill_value)


def _filled(made: Tensor, value: Any) -> Any:
    if (_is_filled(made) and _has_operators(made)) or _is_filled_by_none(made):
        return _FILL_(made, value)
    if _is_filled(made):
        fill(made, value)
    return made


@kernel("aten::scalar_tensor", keys=_MADE)
def scalar_tensor(s: Any, *options: Any) -> Tensor:
    """On a CPU without an operator, and whatever layout and place is asked for."""
    given = {"dtype": get_default_dtype(), **given_options(options)}
    device = given.get("device")
    if device is not None and device.type != "cpu":
        return factories.full((), s, **given)
    dtype, pin_memory = given["dtype"], given.get("pin_memory", False)
    made = factories.empty((), dtype=dtype, pin_memory=pin_memory)
    check_dtype("scalar_tensor", dtype)
    checked = SCALAR_TENSOR_TYPES[dtype]
    if checked or (isinstance(s, complex) and not dtype.is_complex):
        s = scalar_to(s, dtype, checked or "double")
    store(made, np.asarray(s))
    return made


@kernel("aten::arange", keys=_MADE)
def arange(end: Any, *options: Any) -> Any:
    return arange_start_step(0, end, 1, *options)


@kernel("aten::arange.start", keys=_MADE)
def arange_start(start: Any, end: Any, *options: Any) -> Any:
    return arange_start_step(start, end, 1, *options)


@kernel("aten::arange.start_step", keys=_MADE)
def arange_start_step(start: Any, end: Any, step: Any, *options: Any) -> Any:
    """An empty tensor that an operator is told to write to, which then has the numbers' shape."""
    given = given_options(options)
    is_strided = given.get("layout", strided) is strided
    if is_strided and "device" in given and given["device"].type == "meta":
        make = _arange_in_python if is_in_python() else _arange
        return make(start, end, step, **given)
    given.setdefault("dtype", factories.dtype_of_range(start, end, step))
    made = made_empty((0,), **given)
    if is_on_accelerator(made):  # whose memory alone may be there
        return _arange(start, end, step, **given)
    return _ARANGE_OUT(start, end, step, out=made)


def _arange_in_python(*bounds: Any, pin_memory: bool | None = None, **options: Any) -> Tensor:
    check_pin_memory(pin_memory)
    for name, bound in zip(("start", "end", "step"), bounds, strict=True):
        if isinstance(bound, complex):
            raise assertion(f"arange does not support complex {name}")
    return _arange(*bounds, **options)


def _arange(*bounds: Any, **options: Any) -> Tensor:
    """On meta a prim is asked for as many numbers as Python counts, and takes an int64."""
    try:
        return factories.arange(*bounds, **options)
    except UncountableError as beyond:
        iota = find_operator("prims::iota", "")
        assert iota is not None
        refusal = messages.mismatch(iota.schema, 0, beyond.count, uncastable(beyond.count))
        raise RuntimeError(str(refusal)) from None


@kernel("aten::eye", keys=_MADE)
def eye(n: int, *options: Any) -> Any:
    return eye_m(n, n, *options)


@kernel("aten::eye.m", keys=_MADE)
def eye_m(n: int, m: int, *options: Any) -> Any:
    """As a range is made, but on meta in Python's way, which makes it at once."""
    given = given_options(options)
    made = made_empty((0,), **given)
    if is_on_accelerator(made) or (made.is_meta and made._layout is strided):
        return factories.eye(n, m, **given)
    return _EYE_OUT(n, m, out=made)


@kernel("aten::_efficientzerotensor", keys=("CPU", "Meta"))
def efficient_zero_tensor(size: Sizes, *options: Any) -> Tensor:
    given = given_options(options)
    return factories._efficientzerotensor(
        tuple(size), dtype=given.get("dtype"), device=given.get("device")
    )


@kernel("aten::lift", keys=("CPU", "Meta", "CompositeExplicitAutograd"))
def lift(self: Tensor) -> Tensor:
    """Itself, as the next."""
    return self


@kernel("aten::lift_fresh", key="CompositeExplicitAutograd")
def lift_fresh(self: Tensor) -> Tensor:
    """Itself: only functionalization has something to do here."""
    return self


# --- like a tensor ----------------------------------------------------------------------------


def _made_like(make: Callable[..., Tensor], self: Tensor, options: Sequence[Any]) -> Any:
    """Like a tensor on meta, strides are those that its elementwise operators answer
    (``torch._refs.empty_like``)."""
    given = _like(self, options)
    if options[4] is not None and given["layout"] is not strided:
        raise RuntimeError("memory format option is only supported by strided tensors")
    is_elsewhere = make is not factories.zeros_like and given["layout"] is not strided
    if self._layout is strided and (is_elsewhere or is_absent(given["device"])):
        return _lying_like(self, options)
    made = make(self, **given)
    is_ordered = made._layout is self._layout is strided and "memory_format" not in given
    if is_ordered:
        set_strides(made, strides_like(self))
    return made


def _are_like_made_here(self: Tensor) -> bool:
    return _EMPTY_LIKE.operator.is_untouched(self._keys)


def _lying_like(self: Tensor, options: Sequence[Any]) -> Any:
    """In another layout, or somewhere whose backend has no operator that takes strides."""
    dtype, layout, device, pin_memory, format = options
    if format is not None and memory_format_of_value(format) is not _PRESERVE:
        return _EMPTY_OF(self._sizes, dtype, layout, device, pin_memory, format)
    return _EMPTY_STRIDED(
        self._sizes,
        self._strides,
        dtype=enum_value(self._dtype) if dtype is None else dtype,
        layout=layout,
        device=device or self._device,
        pin_memory=pin_memory,
    )


@kernel("aten::empty_like", keys=_LIKE)
def empty_like(self: Tensor, *options: Any) -> Tensor:
    return filled_if_deterministic(_made_like(factories.empty_like, self, options))


@kernel("aten::zeros_like", keys=_MADE)
def zeros_like(self: Tensor, *options: Any) -> Any:
    if not _are_like_made_here(self):
        return _ZERO_(_EMPTY_LIKE(self, *options))
    return _zeroed(_made_like(factories.zeros_like, self, options))


@kernel("aten::ones_like", keys=_MADE)
def ones_like(self: Tensor, *options: Any) -> Any:
    return full_like(self, 1, *options)


@kernel("aten::full_like", key="CompositeExplicitAutograd")
def full_like(self: Tensor, fill_value: Any, *options: Any) -> Any:
    if not _are_like_made_here(self):
        return _FILL_(_EMPTY_LIKE(self, *options), fill_value)
    return _FILL_(_made_like(factories.empty_like, self, options), fill_value)


@kernel("aten::new_empty", keys=_MADE)
def new_empty(self: Tensor, size: Sizes, *options: Any) -> Tensor:
    return filled_if_deterministic(made_empty(size, **_like(self, options)))


@kernel("aten::new_empty_strided", keys=("Meta", "CompositeExplicitAutogradNonFunctional"))
def new_empty_strided(self: Tensor, size: Sizes, stride: Sizes, *options: Any) -> Tensor:
    found = _like(self, options)
    named = (enum_value(found["dtype"]), enum_value(found["layout"]), found["device"])
    if is_absent(found["device"]):
        _EMPTY_STRIDED(size, stride, *named)
    return empty_strided(size, stride, *named, found.get("pin_memory"))


@kernel("aten::new_zeros", keys=_MADE)
def new_zeros(self: Tensor, size: Sizes, *options: Any) -> Any:
    given = _like(self, options)
    if any(extent < 0 for extent in size):  # which ``zeros`` has words of its own for
        return factories.empty(tuple(size), **given)
    return _zeros(size, given)


@kernel("aten::new_ones", keys=_MADE)
def new_ones(self: Tensor, size: Sizes, *options: Any) -> Any:
    return new_full(self, size, 1, *options)


@kernel("aten::new_full", keys=_MADE)
def new_full(self: Tensor, size: Sizes, fill_value: Any, *options: Any) -> Any:
    given = _like(self, options)
    if given["layout"] is sparse_coo:
        return _FILL_(factories.empty(tuple(size), **given), fill_value)
    return _filled(made_empty(size, **given), fill_value)


# --- into a tensor ----------------------------------------------------------------------------


@kernel("aten::zeros.out", keys=_MADE)
def zeros_out(size: Sizes, out: Tensor) -> Tensor:
    _resize(out, size)
    zero(out)
    return out


@kernel("aten::ones.out", keys=_MADE)
def ones_out(size: Sizes, out: Tensor) -> Tensor:
    return full_out(size, 1, out)


@kernel("aten::full.out", keys=_MADE)
def full_out(size: Sizes, fill_value: Any, out: Tensor) -> Tensor:
    if out is not None and out._layout is sparse_coo:
        raise RuntimeError("full(...) is not implemented for sparse layout")
    _resize(out, size)
    fill(out, fill_value)
    return out


@kernel("aten::empty.out", key="CompositeImplicitAutograd")
def empty_out(size: Sizes, memory_format: int | None, out: Tensor) -> Any:
    check_size_nonnegative(size)
    return filled_if_deterministic(_RESIZE_(out, size, memory_format=memory_format))


@prologue("aten::arange")
def _prepare_arange_to(outputs: Sequence[Tensor], end: Any) -> None:
    _prepare_arange(outputs, 0, end, 1)


@kernel("aten::arange.out", keys=_MADE)
def arange_out(end: Any, out: Tensor) -> Any:
    if out is None:  # an undefined one, which no backend has
        return _ARANGE_OUT(0, end, 1, out=out)
    return arange_start_out(0, end, 1, out)


@prologue("aten::arange.start_step")
def _prepare_arange(outputs: Sequence[Tensor], start: Any, end: Any, step: Any) -> Tensor:
    """Answers the numbers."""
    (out,) = outputs
    made = _arange(start, end, step, dtype=out._dtype, device=out._device)
    given, count = numel(out._sizes), numel(made._sizes)
    if given and given != count:
        warn(
            "arange_out",
            f"The number of elements in the out tensor of shape {list(out._sizes)} is {given} "
            f"which does not match the computed number of elements {count}. Note that this may "
            "occur as a result of rounding error. The out tensor will be resized to a tensor of "
            f"shape ({count},).",
        )
    if given != count:
        set_sizes(out, (count,))
    if not out.is_meta and not is_contiguous(out._sizes, out._strides):
        assert_no_internal_overlap(out)  # what is not contiguous is copied to
    return made


@kernel("aten::arange.start_out", keys=("CPU", "Meta"))
def arange_start_out(start: Any, end: Any, step: Any, out: Tensor) -> Tensor:
    return _written(out, _prepare_arange((out,), start, end, step))


@prologue("aten::eye")
def _prepare_square_eye(outputs: Sequence[Tensor], n: int) -> None:
    _prepare_eye(outputs, n, n)


@kernel("aten::eye.out", keys=("CPU", "Meta"))
def eye_out(n: int, out: Tensor) -> Tensor:
    return eye_m_out(n, n, out)


@prologue("aten::eye.m")
def _prepare_eye(outputs: Sequence[Tensor], n: int, m: int) -> None:
    (out,) = outputs
    factories.check_eye(n, m)
    _resize(out, (n, m))


@kernel("aten::eye.m_out", keys=("CPU", "Meta"))
def eye_m_out(n: int, m: int, out: Tensor) -> Tensor:
    _prepare_eye((out,), n, m)
    if not out.is_meta:
        _ZERO_(out)
        check_dtype("eye", out._dtype)
        store(out, np.eye(n, m))
    return out


def _written(out: Tensor, made: Tensor) -> Tensor:
    """The same numbers in the same order, whatever the shape of the output."""
    if not out.is_meta:
        store(out, value_array(made).reshape(tuple(out._sizes)))
    return out


def _resize(out: Tensor, size: Sizes) -> None:
    """``resize_``: nothing for the sizes that it has."""
    if out is None:  # an undefined one, which no backend has
        _RESIZE_(out, size)
    if tuple(size) != tuple(out._sizes):
        set_sizes(out, tuple(size))


# --- indices of triangles ---------------------------------------------------------------------


def _triangle(name: str, find: Any) -> None:
    """Rows and columns of the places in a triangle of a matrix, row by row."""

    def run(row: int, col: int, offset: int, *options: Any) -> Tensor:
        given = given_options(options)
        dtype, device = given.get("dtype", int64), given.get("device", Device("cpu"))
        for what, size in (("row", row), ("col", col)):
            if size < 0:
                gap = " " if device.type == "meta" else ""
                raise RuntimeError(f"{what} must be non-negative, got{gap}{size}")
        layout = given.get("layout", strided)
        if device.type != "meta" and layout is not strided:
            raise RuntimeError(f"only support layout=torch.strided, got{layout}")
        if device.type == "meta":
            if dtype not in (int64, DTYPES["int32"]):
                raise RuntimeError(f"\"{name}\" not implemented for '{dtype}'")
            if is_in_python():  # the ranges that it is made of
                check_pin_memory(given.get("pin_memory"))
        places = np.stack(find(row, max(offset, -row), col))
        made = factories.empty(
            places.shape, **{**given, "dtype": dtype, "device": device, "layout": strided}
        )
        if not made.is_meta:
            dispatch(name, dtype)
            store(made, places)
        return made

    kernel(f"aten::{name}", keys=("CPU", "Meta"))(run)


_triangle("tril_indices", np.tril_indices)
_triangle("triu_indices", np.triu_indices)
