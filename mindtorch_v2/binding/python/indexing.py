"""``x[index]`` and ``x[index] = value``: the slots of tensors, up to the operators they call.

Mirrors ``torch/csrc/autograd/python_variable_indexing.cpp`` and
``aten/src/ATen/TensorIndexing.h``.  Tracing is left out.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from operator import index as to_index
from typing import Any, Final

from mindtorch_v2 import profile
from mindtorch_v2.binding.convert import enum_value
from mindtorch_v2.binding.python import checks
from mindtorch_v2.binding.python.assigned_numbers import (
    Number,
    fill,
    fill_chosen,
    plain_number,
)
from mindtorch_v2.binding.python.constructors import new_from_data
from mindtorch_v2.binding.python.errors import type_error
from mindtorch_v2.binding.python.function import Implementation
from mindtorch_v2.binding.python.manual import call_operator, options_text
from mindtorch_v2.binding.python.seen import item_of
from mindtorch_v2.binding.python.type_names import type_name
from mindtorch_v2.binding.python.unpack import kept, unpack_long
from mindtorch_v2.call_site import is_assignment, level_of_python
from mindtorch_v2.messages import internal_assert, out_of_bounds
from mindtorch_v2.numpy_later import np
from mindtorch_v2.tensor.construct import infer_scalar_type, is_sequence
from mindtorch_v2.tensor.device import EXTENSION_DEVICE, Device
from mindtorch_v2.tensor.dtype import DTYPES, DType, sparse_compressed, sparse_coo
from mindtorch_v2.tensor.geometry import wrap_dim
from mindtorch_v2.tensor.scalar_ops import scalar_tensor_static
from mindtorch_v2.tensor.scalars import is_integral
from mindtorch_v2.tensor.symbolic import SymBool, SymFloat, SymInt
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.torch_function import Overloaded, handle_torch_function, is_mode_enabled
from mindtorch_v2.warn import is_warned_of, warn

_MASKS: Final = (DTYPES["uint8"], DTYPES["bool"])
_FACTS: Final = profile.active().indexing
_SKIPS_PAST_THE_END: Final[bool] = _FACTS["skips_slices_past_the_end"]
_OVERRIDES_IN_SEQUENCES: Final[bool] = _FACTS["overrides_in_sequences"]
_OVERRIDES_GET_TUPLE: Final[bool] = _FACTS["overrides_get_tuple"]
_READS_SYMBOLIC_STEPS: Final[bool] = _FACTS["reads_symbolic_steps"]
_COMPARES_SYMBOLIC_PLACES: Final[bool] = _FACTS["compares_symbolic_places"]
_LOOKS_UP_SIZES_OF_SCALARS: Final[bool] = _FACTS["looks_up_sizes_of_scalars"]
_MASKS_TAKE_THEIR_DIMENSIONS: Final[bool] = _FACTS["masks_take_their_dimensions"]
_INT64: Final = enum_value(DTYPES["int64"])
_SSIZE_MAX: Final = (1 << 63) - 1
_LEAST_SYM_INT: Final = -(1 << 62)
"""``SymInt::min_representable_int``: below it a number's bits would mark a symbol."""
_INLINE_SIZES: Final = 5
_SHORT: Final = 32
"""A longer sequence is never taken for a tuple."""


# --- getting ----------------------------------------------------------------------------------


def _get_item(receiver: Tensor, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    (index,) = args
    if checks.is_overridden(receiver):
        return _overridden("__getitem__", receiver, index)
    if index is None:
        return _unsqueeze(receiver, 0)
    if index is Ellipsis:
        return _alias(receiver)
    if checks.is_integer(index):
        return _select(receiver, 0, unpack_long(index), 0)
    if isinstance(index, slice):
        return _slice(receiver, 0, _bounds(index))
    if isinstance(index, bool):
        inner = _unsqueeze(receiver, 0)
        return _index(inner, [_mask(inner, index)])
    indices = _as_tuple(index)
    if _is_overridden(indices):
        return _overridden("__getitem__", receiver, indices if _OVERRIDES_GET_TUPLE else index)
    found, tensors = _apply(receiver, indices)
    if tensors:
        return _index(found, tensors)
    return _alias(found) if found is receiver else found


def _as_tuple(index: Any) -> tuple[Any, ...]:
    return tuple(index) if _stands_for_tuple(index) else (index,)


def _stands_for_tuple(index: Any) -> bool:
    """A tuple, or a short sequence with something in it that no list of numbers has."""
    if isinstance(index, tuple):
        return True
    if isinstance(index, Tensor) or type(index) is np.ndarray or not is_sequence(index):
        return False
    try:
        length = len(index)
        items = (index[place] for place in range(length if length < _SHORT else 0))
        telling = next(filter(_is_no_number, items), _NUMBERS)
    except Exception:  # PyErr_Clear: whatever it was
        return False
    if telling is _NUMBERS:
        return False
    constant = telling is Ellipsis or telling is None
    place = "treatSequenceAsTuple(constant)" if constant else "treatSequenceAsTuple"
    if is_warned_of(place):
        warn(place, _DEPRECATION)
    return True


_NUMBERS: Final = object()
_DEPRECATION: Final = (
    "Using a non-tuple sequence for multidimensional indexing is deprecated and will be changed "
    "in pytorch 2.9; use x[tuple(seq)] instead of x[seq]. In pytorch 2.9 this will be "
    "interpreted as tensor index, x[torch.tensor(seq)], which will result either in an error or "
    "a different result"
)


def _is_no_number(item: Any) -> bool:
    return (
        isinstance(item, (Tensor, slice)) or item is Ellipsis or item is None or is_sequence(item)
    )


# --- overriding -------------------------------------------------------------------------------


def _is_overridden(indices: tuple[Any, ...]) -> bool:
    """Whether one of the indices overrides functions, or something in a list or tuple of them."""
    return any(
        checks.has_torch_function(item)
        or (
            _OVERRIDES_IN_SEQUENCES
            and isinstance(item, (list, tuple))
            and any(map(checks.has_torch_function, _items(item)))
        )
        for item in indices
    )


def _overridden(name: str, receiver: Tensor, index: Any, *given: Any) -> Any:
    """``handle_torch_function_indexing``: who is asked is looked up in the index as it is given."""
    overloaded: Overloaded = []
    checks.is_tensor_like(receiver, overloaded)
    for item in checks.stored(index) if isinstance(index, tuple) else (index,):
        if not checks.is_tensor_like(item, overloaded) and _OVERRIDES_IN_SEQUENCES:
            for inner in _items(item) if is_sequence(item) else ():
                checks.is_tensor_like(inner, overloaded)
    for value in given:
        checks.is_tensor_like(value, overloaded)
    if not overloaded and not is_mode_enabled():
        return _nobody_asked()
    function, shown = getattr(Tensor, name), f"torch.Tensor.{name}"
    return handle_torch_function(function, shown, overloaded, (receiver, index, *given))


def _items(sequence: Any) -> list[Any]:
    """What a sequence answers for its places; without those that it does not answer for."""
    found = []
    with suppress(Exception):  # PyErr_Clear: whatever it was
        for place in range(len(sequence)):
            with suppress(Exception):
                found.append(sequence[place])
    return found


def _nobody_asked() -> None:
    """What was found to override stands where nobody looks for it."""
    if _OVERRIDES_IN_SEQUENCES:
        condition = internal_assert("0", "dispatch_on_subclass")
        raise RuntimeError(
            f"{condition}dispatch_on_subclass called with NO overloaded args that actually "
            "triggered dispatch, perhaps there is a divergence in how you detect torch "
            "function/dispatch and how overloaded args is computed?  overloaded_args = [], "
            "is_mode_active = 0"
        )
    # The slot fails without an error.  The method, which looks for one, does not notice.
    if is_assignment():
        raise SystemError("error return without exception set")


# --- what indices are -------------------------------------------------------------------------


def _specified(indices: tuple[Any, ...]) -> int:
    """How many dimensions are indexed: by all but ellipsis, None and truth values."""
    count = 0
    for item in indices:
        if isinstance(item, Tensor):
            count += len(item._sizes) if item._dtype in _MASKS else 1
        elif item is not None and item is not Ellipsis and not isinstance(item, bool):
            count += 1
    return count


def _apply(tensor: Tensor, indices: tuple[Any, ...]) -> tuple[Tensor, list[Tensor | None]]:
    """``applySlicing``: what is left to index, and the tensors by which."""
    specified, rank = _specified(indices), len(tensor._sizes)
    if specified > rank:
        raise IndexError(f"too many indices for tensor of dimension {rank}")
    found, dim = tensor, 0
    tensors: list[Tensor | None] = []

    def skip(dimensions: int) -> None:
        nonlocal dim
        dim += dimensions
        if tensors and _MASKS_TAKE_THEIR_DIMENSIONS:
            tensors.extend([None] * dimensions)

    def record(by: Tensor) -> None:
        nonlocal dim
        if not tensors or not _MASKS_TAKE_THEIR_DIMENSIONS:
            tensors.extend([None] * (dim - len(tensors)))
        tensors.append(by)
        takes_more = _MASKS_TAKE_THEIR_DIMENSIONS and by._dtype in _MASKS
        dim += len(by._sizes) if takes_more else 1

    for place, given in enumerate(indices):
        item = _converted(tensor, given)
        if isinstance(item, bool):
            found = _unsqueeze(found, dim)
            record(_mask(found, item))
        elif isinstance(item, (int, SymInt)):
            found = _select(found, dim, item, place)
        elif isinstance(item, tuple):
            found = _slice(found, dim, item, may_skip=True)
            skip(1)
        elif item is Ellipsis:
            skip(rank - specified)
        elif item is None:
            found = _unsqueeze(found, dim)
            skip(1)
        elif item._sizes or not is_integral(item._dtype):
            record(item)
        elif item._dtype not in _MASKS:
            found = _select(found, dim, int(item_of(item)), place)
        else:
            found = _unsqueeze(found, dim)
            record(_mask(found, bool(item_of(item))))
    while tensors and tensors[-1] is None:
        tensors.pop()
    return found, tensors


def _converted(tensor: Tensor, item: Any) -> Any:
    """A C++ TensorIndex: a number, three bounds, ellipsis, None, a truth value or a tensor."""
    if checks.is_integer(item):
        return unpack_long(item)
    if isinstance(item, slice):
        return _bounds(item)
    if item is Ellipsis or item is None or isinstance(item, (bool, Tensor)):
        return item
    if is_sequence(item):
        return _from_sequence(tensor, item)
    try:
        number = to_index(item)
    except Exception:  # PyErr_Clear: whatever it was
        raise IndexError(
            "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are "
            f"valid indices (got {type_name(item)})"
        ) from None
    return unpack_long(number)


def _from_sequence(tensor: Tensor, items: Any) -> Any:
    """``indexing_tensor_from_data``: a mask where the numbers are one, else integers."""
    inferred = infer_scalar_type(items)
    return new_from_data(
        items,
        enum_value(inferred) if inferred in _MASKS else _INT64,
        None,
        copy_tensors=False,
        copy_arrays=False,
        infer=False,
        default_device=tensor._device,
    )


def _bounds(item: slice) -> tuple[Any, Any, Any]:
    """``__PySlice_Unpack``: start, stop and step; ValueError for a step of 0, in the end."""
    step = 1 if item.step is None else _bound(item.step)
    if isinstance(step, SymInt) and not _READS_SYMBOLIC_STEPS:
        step = 0
    backwards = not isinstance(step, SymInt) and step < 0
    start = item.start
    start = (_SSIZE_MAX if backwards else 0) if start is None else _bound(start)
    stop = item.stop
    stop = (_LEAST_SYM_INT if backwards else _SSIZE_MAX) if stop is None else _bound(stop)
    if step == 0:
        raise ValueError("slice step cannot be zero")
    return start, stop, step


def _bound(item: Any) -> Any:
    """``_PyEval_SliceIndex``: what does not fit is cut off."""
    if isinstance(item, SymInt):
        return kept(item)
    try:
        number = to_index(item)
    except TypeError:
        if hasattr(type(item), "__index__"):
            raise
        raise TypeError(
            "slice indices must be integers or None or have an __index__ method"
        ) from None
    number = max(-_SSIZE_MAX - 1, min(number, _SSIZE_MAX))
    if number < _LEAST_SYM_INT:
        warnings.warn(
            "Truncating the start/stop/step of slice. This is likely because of saved old models "
            "when the start/stop/step were larger.",
            UserWarning,
            stacklevel=level_of_python(),
        )
    return max(_LEAST_SYM_INT, number)


# --- setting ----------------------------------------------------------------------------------


def _set_item(receiver: Tensor, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    index, given = args
    if checks.is_overridden(receiver, given):
        _overridden("__setitem__", receiver, index, given)
        return
    if receiver._layout is sparse_coo or receiver._layout in sparse_compressed:
        raise type_error("Cannot assign to a sparse tensor")
    number = plain_number(given)
    value = value_tensor(receiver, given) if number is None else number
    if index is False:
        return
    if index is Ellipsis:
        _copy_to(receiver, value)
    elif index is None or index is True:
        _copy_to(_unsqueeze(receiver, 0), value)
    elif checks.is_integer(index) or isinstance(index, SymInt):
        number = kept(index) if isinstance(index, SymInt) else unpack_long(index)
        _copy_to(_select(receiver, 0, number, 0), value)
    elif isinstance(index, slice):
        _copy_to(_slice(receiver, 0, _bounds(index), may_skip=True), value)
    else:
        _set_items(receiver, index, value, given)


def _set_items(receiver: Tensor, index: Any, value: Tensor | Number, given: Any) -> None:
    indices = _as_tuple(index)
    if _is_overridden(indices):
        _overridden("__setitem__", receiver, index, given)
        return
    found, tensors = _apply(receiver, indices)
    if not tensors:
        _copy_to(found, value)
        return
    if not isinstance(value, Tensor):
        if fill_chosen(found, tensors, value):
            return
        value = value_tensor(receiver, given)
    call_operator(
        "aten::index_put_", self=found, indices=tensors, values=_without_leading_ones(value)
    )


def value_tensor(receiver: Tensor, given: Any) -> Tensor:
    """``valueToTensor``: a number in a tensor like the one that is assigned to."""
    if isinstance(given, Tensor):
        return given
    if checks.is_integer(given) or isinstance(given, bool):
        number: Any = unpack_long(given)
    elif isinstance(given, (SymInt, SymFloat, SymBool)):
        number = kept(given)
    elif isinstance(given, (float, complex)):
        number = float(given) if isinstance(given, float) else complex(given)
    else:
        dtype, device = _assigned_options(receiver)
        target = options_text(dtype, receiver._layout, device)
        raise type_error(f"can't assign a {type_name(given)} to a {target}")
    dtype, device = _assigned_options(receiver)
    if device.type == "cpu" and not isinstance(number, (SymInt, SymFloat, SymBool)):
        made = scalar_tensor_static(number, dtype)
        return call_operator("aten::lift_fresh", self=made)  # type: ignore[no-any-return]
    return call_operator(  # type: ignore[no-any-return]
        "aten::scalar_tensor",
        s=number,
        dtype=enum_value(dtype),
        layout=enum_value(receiver._layout),
        device=device,
    )


def _assigned_options(receiver: Tensor) -> tuple[DType, Device]:
    """Of the tensor that a number becomes: of a quantized one, floats on the CPU."""
    if receiver._dtype._is_quantized:
        return DTYPES["float32"], Device("cpu")
    return receiver._dtype, receiver._device


def _copy_to(target: Tensor, value: Tensor | Number) -> None:
    sizes = list(target._sizes)
    if not isinstance(value, Tensor):
        fill(target, value)
    elif sizes == list(value._sizes):
        call_operator("aten::copy_", self=target, src=value)
    elif not value._sizes and value.is_cpu:
        call_operator("aten::fill_.Tensor", self=target, value=value)
    else:
        shown = call_operator("aten::view", self=value, size=_leading_ones_off(value._sizes))
        if sizes != list(shown._sizes):
            shown = call_operator("aten::expand", self=shown, size=sizes)
        call_operator("aten::copy_", self=target, src=shown)


def _leading_ones_off(sizes: Sequence[int]) -> list[int]:
    first = next((place for place, size in enumerate(sizes) if size != 1), len(sizes))
    return list(sizes[first:])


def _without_leading_ones(value: Tensor) -> Tensor:
    sizes = _leading_ones_off(value._sizes)
    if sizes == list(value._sizes):
        return value
    return call_operator("aten::view", self=value, size=sizes)  # type: ignore[no-any-return]


# --- operators --------------------------------------------------------------------------------


def _alias(tensor: Tensor) -> Any:
    return call_operator("aten::alias", self=tensor)


def _unsqueeze(tensor: Tensor, dim: int) -> Any:
    return call_operator("aten::unsqueeze", self=tensor, dim=dim)


def _index(tensor: Tensor, tensors: Sequence[Tensor | None]) -> Any:
    return call_operator("aten::index.Tensor", self=tensor, indices=list(tensors))


_USUAL_DEVICES: Final = ("cpu", "cuda", EXTENSION_DEVICE)
"""Those that C++ has shorter ways for, with words of their own; the NPU speaks as the CPU."""


def _mask(tensor: Tensor, keep: bool) -> Any:
    """``boolToIndexingTensor``: an index for the new dimension, or none for False."""
    options = {"dtype": _INT64, "layout": enum_value(tensor.layout), "device": tensor.device}
    if tensor.device.type in _USUAL_DEVICES:
        made = call_operator("aten::empty.memory_format", size=[int(keep)], **options)
        return call_operator("aten::fill_.Scalar", self=made, value=0.0) if keep else made
    name = "aten::zeros" if keep else "aten::empty.memory_format"
    return call_operator(name, size=[int(keep)], **options)


def _select(tensor: Tensor, dim: int, index: Any, shown_dim: int) -> Any:
    """IndexError where there is no such element; ``shown_dim`` is the place of the index."""
    if isinstance(index, SymInt):
        if _COMPARES_SYMBOLIC_PLACES:
            raise RuntimeError("NYI")  # as nested integers answer
    else:
        if index == 0 and dim == 0 and not tensor._sizes:
            raise IndexError(
                "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or "
                "`tensor.item<T>()` in C++ to convert a 0-dim tensor to a number"
            )
        size = _size_at(tensor, dim)
        if not -size <= index < size:
            raise IndexError(out_of_bounds(index, shown_dim, size))
    return call_operator("aten::select.int", self=tensor, dim=dim, index=index)


def _slice(
    tensor: Tensor, dim: int, bounds: tuple[Any, Any, Any], *, may_skip: bool = False
) -> Any:
    """ValueError unless it goes forward; with ``may_skip`` nothing is called for all of a dim."""
    start, stop, step = bounds
    if not isinstance(step, SymInt) and step <= 0:
        raise ValueError("step must be greater than zero")
    if tensor._sizes or _LOOKS_UP_SIZES_OF_SCALARS:
        if dim >= len(tensor._sizes) and tensor._device.type not in _USUAL_DEVICES:
            wrap_dim(dim, len(tensor._sizes), scalar=False)
        size = _size_at(tensor, dim)
        if may_skip and start == 0 and step == 1 and _takes_all(stop, size):
            return tensor
    return call_operator(
        "aten::slice.Tensor", self=tensor, dim=dim, start=start, end=stop, step=step
    )


def _size_at(tensor: Tensor, dim: int) -> int:
    """The size of a dimension.  After a second ellipsis there may be no such dimension: then C++
    reads on in its memory.  There are the strides, after room for five sizes at least
    (c10/core/impl/SizesAndStrides.h)."""
    if dim < len(tensor._sizes):
        return tensor._sizes[dim]
    memory = (*tensor._sizes, *(0,) * (_INLINE_SIZES - len(tensor._sizes)), *tensor._strides)
    return memory[dim] if dim < len(memory) else 0


def _takes_all(stop: Any, size: int) -> bool:
    if isinstance(stop, SymInt):
        return False
    return bool(stop >= size) if _SKIPS_PAST_THE_END else stop == size


def _delete_item(receiver: Tensor, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    raise type_error("Tensor does not support deleting items")


def _length(receiver: Tensor, args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    """Of a tensor without dimensions 0; ``torch.Tensor`` refuses that in Python."""
    if checks.is_overridden(receiver):
        name = "__len__"
        method, shown = getattr(Tensor, name), f"torch.Tensor.{name}"
        answer = handle_torch_function(method, shown, [receiver], (receiver,))
        if not isinstance(answer, int):
            raise TypeError("an integer is required")
        return int(answer)
    return int(receiver._sizes[0]) if receiver._sizes else 0


SLOTS: Final[Mapping[str, tuple[Implementation, int]]] = {
    "__len__": (_length, 0),
    "__getitem__": (_get_item, 1),
    "__setitem__": (_set_item, 2),
    "__delitem__": (_delete_item, 1),
}
"""Name to what a slot does, and how many arguments CPython's wrapper of it takes."""
