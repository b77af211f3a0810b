"""Copies: values into a storage, converted to its dtype.

Mirrors ``aten/src/ATen/native/Copy.cpp``, ``Fill.cpp`` and ``cpu/CopyKernel.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from mindtorch_v2 import profile
from mindtorch_v2.numpy_later import np
from mindtorch_v2.tensor.device import EXTENSION_DEVICE
from mindtorch_v2.tensor.device_memory import accelerator
from mindtorch_v2.tensor.dtype import DTYPES, DType
from mindtorch_v2.tensor.elements import Array, elements_of
from mindtorch_v2.tensor.geometry import is_non_overlapping_and_dense, numel, storage_bytes
from mindtorch_v2.tensor.pending import AWAY, Unknown
from mindtorch_v2.tensor.plain import kept_array
from mindtorch_v2.tensor.scalars import is_integral, scalar_of_many, scalar_of_one
from mindtorch_v2.tensor.support import CPP_NAMES, check_dtype, exception_of
from mindtorch_v2.tensor.zeros import is_zero_tensor
from mindtorch_v2.warn import warn_once

if TYPE_CHECKING:
    from mindtorch_v2.tensor.storage import Bytes
    from mindtorch_v2.tensor.tensor import Tensor

_BOOL, _UINT32 = DTYPES["bool"], DTYPES["uint32"]
_FAR: Final = 1 << 58
"""In elements: so many bytes NumPy may not be able to count."""


_FLOAT8: Final = frozenset(each for name, each in DTYPES.items() if name.startswith("float8"))
_NAN_IS_ZERO: Final = frozenset(
    each for name, each in DTYPES.items() if name.endswith(("fnuz", "fnu"))
)
"""Whose NaN, of which there is one, compilers make nought of any integer type."""


def _becomes_zero(source: DType, target: DType) -> bool:
    """Whether NaN becomes nought, where NumPy makes the least integer of it: 32 bits without a sign
    are the low half of 64, which NumPy's vectors do not say."""
    if source in _NAN_IS_ZERO:
        return is_integral(target) and target is not _BOOL
    return source in _FLOAT8 and target is _UINT32


def raw_array(tensor: Tensor) -> Array:
    """The bits of a tensor as a NumPy view of its storage: writing to it changes the tensor.

    Of an accelerator's memory it is a view of a copy, which nobody can write to, and so is that of
    zeros that are not stored.
    """
    kept = kept_array(tensor)
    if kept is not None:
        return kept
    if 0 in tensor._sizes:
        raw = elements_of(tensor._dtype).raw
        return np.empty([max(size, 0) for size in tensor._sizes], raw)
    if is_zero_tensor(tensor):
        return np.broadcast_to(np.zeros((), elements_of(tensor._dtype).raw), tensor._sizes)
    if is_on_accelerator(tensor):
        start, stop = _span(tensor)
        return _strided(tensor, tensor._untyped_storage()._span(start, stop), 0)
    return _strided(tensor, tensor._bytes(), tensor._storage_offset)


def _strided(tensor: Tensor, memory: Bytes, offset: int) -> Array:
    """RuntimeError for more dimensions than an array has, and where torch reads past a storage."""
    raw = elements_of(tensor._dtype).raw
    steps: Sequence[int] = tensor._strides
    if max(steps, default=0) > _FAR:  # along which nobody goes
        steps = [step if size > 1 else 0 for size, step in zip(tensor._sizes, steps, strict=True)]
    try:
        return np.ndarray(
            tensor._sizes,
            raw,
            buffer=memory,
            offset=offset * raw.itemsize,
            strides=[step * raw.itemsize for step in steps],
        )
    except ValueError as error:
        raise RuntimeError(
            f"mindtorch_v2 has no elements of shape {list(tensor._sizes)} and strides "
            f"{list(tensor._strides)} in {len(memory)} bytes"
        ) from error


def is_on_accelerator(tensor: Tensor) -> bool:
    """Whether the host cannot write to the tensor's memory."""
    return tensor._device.type == EXTENSION_DEVICE


def _span(tensor: Tensor) -> tuple[int, int]:
    """The bytes of a storage between a tensor's first element and its last."""
    itemsize = tensor._dtype.itemsize
    start = tensor._storage_offset * itemsize
    return start, storage_bytes(tensor._sizes, tensor._strides, tensor._storage_offset, itemsize)


def value_array(tensor: Tensor) -> Array:
    """The values of a tensor, its lazy conjugation and negation done; perhaps a view."""
    kept = kept_array(tensor)
    if kept is not None:  # of a plain tensor bits are values
        return kept
    values = elements_of(tensor._dtype).decode(raw_array(tensor))
    if tensor._is_conj():
        values = np.conj(values)
    if tensor._is_neg():
        check_negated(tensor._dtype)
        values = np.negative(values)
    return values


def check_negated(dtype: DType) -> None:
    """Raise what carrying a lazy negation out raises for a dtype that has no sign."""
    facts = profile.active().neural
    if dtype in (DTYPES[name] for name in facts["switches"]["neg_cpu"].split()):
        message = f"\"neg_cpu\" not implemented for '{CPP_NAMES[dtype]}'"
        raise exception_of(facts["error"], message)


def warn_of_cast(source: DType, target: DType) -> None:
    """What ``copy_impl`` says of numbers that lose a part."""
    if source.is_complex and not target.is_complex and target is not _BOOL:
        warn_once("copy_impl", "Casting complex values to real discards the imaginary part")


def store(tensor: Tensor, values: Array) -> None:
    """Put values, which broadcast to its shape, into a tensor, in the dtype that it has."""
    kept = kept_array(tensor)
    if kept is not None:
        same = type(values) is np.ndarray and values.dtype == kept.dtype
        kept[...] = values if same else elements_of(tensor._dtype).encode(np.asarray(values))
        return
    if not numel(tensor._sizes):
        return
    elements = elements_of(tensor._dtype)
    bits = elements.encode(np.asarray(values))
    if tensor._is_neg():
        bits = elements.encode(np.negative(elements.decode(bits)))
    if tensor._is_conj():
        bits = elements.encode(np.conj(elements.decode(bits)))
    store_bits(tensor, bits)


def store_bits(tensor: Tensor, bits: Array) -> None:
    if not numel(tensor._sizes):
        return
    if is_on_accelerator(tensor):
        _store_on_accelerator(tensor, bits)
    else:
        raw_array(tensor)[...] = bits


def _store_on_accelerator(tensor: Tensor, bits: Array) -> None:
    """What lies between the elements of the tensor is read first."""
    (start, stop), storage = _span(tensor), tensor._untyped_storage()
    if is_non_overlapping_and_dense(tensor._sizes, tensor._strides):
        memory = np.empty(stop - start, np.uint8)
    else:
        memory = storage._span(start, stop).copy()
    _strided(tensor, memory, 0)[...] = bits
    storage._put(start, memory)


def copy_values(target: Tensor, source: Tensor) -> None:
    """The values of ``source``, converted; on meta there is nothing to do."""
    if target._device.type == "meta" or numel(target._sizes) == 0:
        return
    if source._device.type == "meta":
        raise NotImplementedError("Cannot copy out of meta tensor; no data!")
    if is_zero_tensor(source):  # which stores none, on whatever device
        store(target, np.zeros(tuple(target._sizes)))
        return
    on_accelerator = is_on_accelerator(target) and is_on_accelerator(source)
    if on_accelerator and accelerator().copy(target, source):
        return
    same = target._dtype is source._dtype
    if same and target._lazy_bits() == source._lazy_bits():
        check_dtype("clone", source._dtype)
        if not _is_unknown_too(target, source):
            store_bits(target, raw_array(source))
        return
    if not same:
        check_conversion(source._dtype, target._dtype)
    if not _is_unknown_too(target, source):
        values = value_array(source)
        if _becomes_zero(source._dtype, target._dtype):
            values = np.where(np.isnan(values), 0, values)
        store(target, values)


def _is_unknown_too(target: Tensor, source: Tensor) -> bool:
    """Whether nobody may know the source's bytes, and so nobody those of its copy."""
    if source._raw_storage is AWAY and source._array is not None:  # it was just computed
        return False
    unknown = source._untyped_storage()._pending
    if not isinstance(unknown, Unknown):
        return False
    storage = target._untyped_storage()
    if storage._pending is not unknown:
        storage._raw_bytes, storage._pending = AWAY, unknown
    return True


def check_conversion(source: DType, target: DType) -> None:
    """What the copy kernel of the target's dtype refuses, and then that of the source's."""
    check_dtype("convert_to", target)
    check_dtype("convert_from", source)


def fill(tensor: Tensor, value: Any) -> None:
    """One number everywhere, converted to the tensor's dtype."""
    count = numel(tensor._sizes)
    if tensor._device.type == "meta":
        return
    check_dtype("fill_one" if count == 1 else "fill_", tensor._dtype)
    convert = scalar_of_one if count == 1 else scalar_of_many
    number = convert(value, tensor._dtype)  # RuntimeError for what it cannot hold
    if not (is_on_accelerator(tensor) and accelerator().fill(tensor, value)):
        store(tensor, np.asarray(number))


def zero(tensor: Tensor) -> None:
    """All bits zero, in whatever dtype; without memory of their own they are filled."""
    if tensor._device.type == "meta":
        return
    if not numel(tensor._sizes):
        fill(tensor, 0)
    elif not (is_on_accelerator(tensor) and accelerator().fill(tensor, 0)):
        store_bits(tensor, np.zeros((), elements_of(tensor._dtype).raw))
