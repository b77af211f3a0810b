"""``torch._utils``: how tensors are made again from what :mod:`mindtorch_v2._pickling` tells.

Mirrors the ``_rebuild_…`` functions of ``torch/_utils.py``, under the same names: a pickle names
them.  Tensors of quantized dtypes, nested ones and those of devices without storages are left out.
"""

from __future__ import annotations

import copyreg
from collections.abc import Sequence
from typing import Any

from mindtorch_v2.binding.python.bindings import FUNCTIONS
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.keyset import functionality_bit
from mindtorch_v2.tensor.dtype import DType
from mindtorch_v2.tensor.factories import empty
from mindtorch_v2.tensor.plain import forget
from mindtorch_v2.tensor.storage import UntypedStorage, typename
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.tensor.typed_storage import TypedStorage

_BITS = {
    "conj": functionality_bit(DispatchKey.Conjugate),
    "neg": functionality_bit(DispatchKey.Negative),
}
"""What a tensor is seen as, by the names that its metadata has for it."""


def _untyped(storage: TypedStorage | UntypedStorage) -> UntypedStorage:
    """AttributeError for a storage without a dtype, as torch's own functions raise it."""
    if isinstance(storage, TypedStorage):
        return storage._untyped_storage
    raise AttributeError(f"'{typename(storage)}' object has no attribute '_untyped_storage'")


def _element_size(dtype: Any) -> int:
    """How many bytes an element of a dtype takes; RuntimeError for what is no dtype."""
    if not isinstance(dtype, DType):
        raise RuntimeError(f"expected torch.dtype, but got {type(dtype)}")
    return dtype.itemsize


def get_tensor_metadata(tensor: Tensor) -> dict[str, bool]:
    return {name: True for name, bit in _BITS.items() if tensor._keys & bit}


def set_tensor_metadata(tensor: Tensor, metadata: dict[str, bool]) -> None:
    for name in metadata:
        forget(tensor)._keys |= _BITS[name]


def _rebuild_tensor(
    storage: TypedStorage, storage_offset: int, size: Sequence[int], stride: Sequence[int]
) -> Any:
    made: Any = empty((0,), dtype=storage.dtype, device=_untyped(storage).device)
    return made.set_(_untyped(storage), storage_offset, size, stride)


def _rebuild_tensor_v2(
    storage: TypedStorage,
    storage_offset: int,
    size: Sequence[int],
    stride: Sequence[int],
    requires_grad: bool,
    backward_hooks: Any,
    metadata: dict[str, bool] | None = None,
) -> Any:
    made = _rebuild_tensor(storage, storage_offset, size, stride)
    made.requires_grad = requires_grad
    if metadata:
        set_tensor_metadata(made, metadata)
    made._backward_hooks = backward_hooks
    return made


def _rebuild_tensor_v3(
    storage: Any,
    storage_offset: int,
    size: Sequence[int],
    stride: Sequence[int],
    requires_grad: bool,
    backward_hooks: Any,
    dtype: Any,
    metadata: dict[str, bool] | None = None,
) -> Any:
    made: Any = empty(
        (0,), dtype=dtype, device=_untyped(storage).device, requires_grad=requires_grad
    )
    made.set_(_untyped(storage), storage_offset, size, stride)
    if metadata:
        set_tensor_metadata(made, metadata)
    made._backward_hooks = backward_hooks
    return made


def _rebuild_meta_tensor_no_storage(
    dtype: Any, size: Sequence[int], stride: Sequence[int], requires_grad: bool
) -> Any:
    return FUNCTIONS["torch"]["empty_strided"](
        size, stride, dtype=dtype, device="meta", requires_grad=requires_grad
    )


def _rebuild_sparse_tensor(layout: Any, data: Sequence[Any]) -> Any:
    indices, values, size, *is_coalesced = data
    options = {"is_coalesced": is_coalesced[0]} if is_coalesced else {}
    return FUNCTIONS["torch"]["sparse_coo_tensor"](
        indices, values, size, check_invariants=False, **options
    )


def _rebuild_wrapper_subclass(
    cls: Any,
    dtype: Any,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int,
    layout: Any,
    device: Any,
    requires_grad: bool,
) -> Any:
    makes: Any = Tensor
    return makes._make_wrapper_subclass(
        cls,
        size,
        strides=stride,
        dtype=dtype,
        storage_offset=storage_offset,
        layout=layout,
        device=device,
        requires_grad=requires_grad,
    )


def _rebuild_parameter(data: Any, requires_grad: bool, backward_hooks: Any) -> Any:
    from mindtorch_v2.nn.parameter import Parameter  # late: not every program has modules

    made: Any = Parameter(data, requires_grad)
    made._backward_hooks = backward_hooks
    return made


def _rebuild_parameter_with_state(
    data: Any, requires_grad: bool, backward_hooks: Any, state: Any
) -> Any:
    return _set_obj_state(_rebuild_parameter(data, requires_grad, backward_hooks), state)


# --- what Python keeps of a tensor ------------------------------------------------------------


def _get_obj_state(obj: Any) -> Any:
    """Its attributes, and of a class with slots their values as a second part."""
    own = type(obj).__dict__.get("__getstate__")
    inherited = next((each for each in type(obj).__mro__ if "__getstate__" in vars(each)), object)
    if own is not None or not issubclass(Tensor, inherited):
        return obj.__getstate__()
    return default_state(obj)


def default_state(obj: Any) -> Any:
    """What ``object.__getstate__`` answers of torch's tensors, whose own parts are in C++."""
    own = set(copyreg._slotnames(Tensor))  # type: ignore[attr-defined]
    names = [each for each in copyreg._slotnames(type(obj)) if each not in own]  # type: ignore[attr-defined]
    state = obj.__dict__ or None  # the dictionary itself, which may hold the tensor
    slots = {name: getattr(obj, name) for name in names if hasattr(obj, name)}
    return (state, slots) if slots else state


def _set_obj_state(obj: Any, state: Any) -> Any:
    """RuntimeError for a tuple that is no pair."""
    attributes, slots = state, None
    if isinstance(state, tuple):
        if len(state) != 2:
            raise RuntimeError(f"Invalid serialized state: {state}")
        attributes, slots = state
    for part in (attributes, slots):
        for name, value in (part or {}).items():
            setattr(obj, name, value)
    return obj
