"""Functional tensors: a value below functionalization, and how it is a view of a shared base.

Mirrors ``aten/src/ATen/FunctionalTensorWrapper.h`` and ``.cpp``.  What C++ has in a subclass of
TensorImpl is here a :class:`FunctionalTensorWrapper` that a tensor holds in ``_functional``; the
tensor's sizes and strides are always those of the value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final
from weakref import ref

from mindtorch_v2.dispatch import tls
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.keyset import PYTHON_KEYS, functionality_bit
from mindtorch_v2.functionalize.facts import ASSERTS, REFUSALS
from mindtorch_v2.functionalize.storage import (
    FUNCTIONALIZE,
    FunctionalStorageImpl,
    ViewMeta,
    skip_functionalize,
)
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.tensor import Tensor

FUNCTORCH_TRANSFORMS: Final = sum(
    functionality_bit(DispatchKey[name])
    for name in (
        *("FuncTorchBatched", "FuncTorchVmapMode", "Batched", "VmapMode"),
        "FuncTorchGradWrapper",
    )
)
"""``c10::functorch_transforms_ks``."""

_NOT_TAKEN_OVER: Final = FUNCTORCH_TRANSFORMS | PYTHON_KEYS
_TO_COPY: Final = OperatorHandle("aten::_to_copy")
_VIEW_CANNOT_GROW: Final = (
    "Attempted to resize a view tensor to a larger size. This is not allowed in the "
    "functionalization pass"
)


class FunctionalTensorWrapper:
    """What a functional tensor is besides a tensor."""

    def __init__(
        self, tensor: Tensor, value: Tensor, storage: FunctionalStorageImpl | None = None
    ) -> None:
        if storage is None:
            storage = FunctionalStorageImpl(value)
        self._tensor = ref(tensor)
        self.value = value
        self.storage = storage
        #: Of the transform that has made it, for functorch; -1 without one.
        self.level = -1
        #: ``storage_offset_``, which stays behind the value's when an in-place view changes that.
        self.storage_offset = value._storage_offset
        #: ``numel_``, which stays behind likewise.
        self.numel = numel(value._sizes)
        self.view_metas: tuple[ViewMeta, ...] = ()
        #: The storage's, when the value was last made anew.
        self.generation = 0
        self.has_metadata_mutation = False
        self.is_multi_output_view = False
        self.was_storage_changed = False
        self.storage_changed_counter = 0
        storage.give_to(tensor)

    @property
    def tensor(self) -> Tensor:
        """The tensor that this is part of, which keeps it alive."""
        tensor = self._tensor()
        assert tensor is not None
        return tensor

    def copy_for(self, tensor: Tensor) -> FunctionalTensorWrapper:
        """``copy_tensor_metadata``: the same for another tensor."""
        copy = FunctionalTensorWrapper(tensor, self.value, self.storage)
        copy.level, copy.view_metas = self.level, self.view_metas
        copy.storage_offset, copy.numel = self.storage_offset, self.numel
        copy.generation = self.generation
        copy.has_metadata_mutation = self.has_metadata_mutation
        copy.is_multi_output_view = self.is_multi_output_view
        copy.was_storage_changed = self.was_storage_changed
        return copy

    def shallow_copy_from(self, source: FunctionalTensorWrapper) -> None:
        """Be what another one is, for a tensor that has taken over the geometry of the other's."""
        self.value, self.storage = source.value, source.storage
        self.level, self.view_metas = source.level, source.view_metas
        self.generation = source.generation
        self.has_metadata_mutation = source.has_metadata_mutation
        self.is_multi_output_view = source.is_multi_output_view
        self.was_storage_changed = source.was_storage_changed
        self.storage_offset, self.numel = source.storage_offset, source.numel
        self.storage.give_to(self.tensor)

    # --- the value ----------------------------------------------------------------------------

    def _adopt(self, value: Tensor) -> None:
        """Have another value, and with it another geometry."""
        self.value = value
        tensor = self.tensor
        tensor._sizes, tensor._strides = value._sizes, value._strides
        tensor._storage_offset, tensor._device = value._storage_offset, value._device

    def _set_sizes_and_strides(self) -> None:
        """Have what follows from the geometry follow from the value's."""
        self.storage_offset, self.numel = self.value._storage_offset, numel(self.value._sizes)

    def replace(self, value: Tensor, *, is_lazy: bool = False) -> None:
        """Take a changed value, in the dtype and layout that the tensor has.

        ``is_lazy`` says that the change has been counted when it was queued.
        """
        if is_functional(value):
            raise RuntimeError(ASSERTS["replaced by functional"])
        self._adopt(value)
        self._set_sizes_and_strides()
        tensor = self.tensor
        if value._dtype is not tensor._dtype or value._layout is not tensor._layout:
            with skip_functionalize():
                self._adopt(_TO_COPY(value, dtype=tensor._dtype, layout=value._layout))
            if is_functional(self.value):  # a transform of functorch has seen the copy
                raise RuntimeError(ASSERTS["cast to functional"])
        if not is_lazy:
            self.storage.mutation_counter += 1
            if not tls.is_grad_enabled() or tls.is_inference_mode_enabled():
                self.storage.under_no_grad += 1

    def show_value(self) -> None:
        """Have the geometry of the value, which something below may have changed."""
        self._adopt(self.value)

    def commit_update(self) -> None:
        """Queue the value as a change of the base."""
        self.storage.add_update(self.value, self.view_metas)

    def sync(self) -> None:
        """Make the value anew if the base has changed since."""
        if self.generation == self.storage.generation:
            return
        self.storage.apply_updates()
        self.regenerate_from_base()

    def apply_view_metas(self, base: Tensor) -> Tensor:
        """The same view of another base."""
        view = base
        for meta in self.view_metas:
            view = meta.view_of(view)
        return view

    def regenerate_from_base(self) -> None:
        with skip_functionalize():
            self.replace(self.apply_view_metas(self.storage.base), is_lazy=True)
        self.generation = self.storage.generation

    # --- changes of what it is a view of ------------------------------------------------------

    def mutate_view_meta(self, meta: ViewMeta) -> None:
        """See Note [Functionalization Pass - Inplace View Ops]."""
        self.view_metas = (*self.view_metas, meta)
        self.has_metadata_mutation = True
        with skip_functionalize():
            self._adopt(meta.view_of(self.value))

    def maybe_replace_storage(self, value: Tensor) -> None:
        """Have a larger storage; RuntimeError for a view, and for what has views."""
        if self.storage.use_count() != 1 or self.view_metas:
            raise RuntimeError(_VIEW_CANNOT_GROW)
        self.storage = FunctionalStorageImpl(value)
        self.storage.give_to(self.tensor)
        self._adopt(value)
        self.numel = numel(value._sizes)
        self.generation = 0
        self.has_metadata_mutation = True

    def set_(self, source: FunctionalTensorWrapper) -> None:
        """``set__impl``: become the same as another; what had the old storage cannot change."""
        self.storage.freeze()
        self.generation, self.view_metas = source.generation, source.view_metas
        self.storage = source.storage
        self.storage.give_to(self.tensor)
        self.mark_storage_changed()
        self._adopt(source.value)
        self._set_sizes_and_strides()

    def mark_storage_changed(self) -> None:
        self.was_storage_changed = True
        self.storage_changed_counter += 1


# --- functional tensors and others ----------------------------------------------------------------


def is_functional(value: Any) -> bool:
    """Whether a value is a functional tensor, or a list with one."""
    if isinstance(value, Tensor):
        return bool(value._keys & FUNCTIONALIZE)
    return isinstance(value, (list, tuple)) and any(map(is_functional, value))


def wrapper_of(tensor: Tensor) -> FunctionalTensorWrapper:
    """``unsafeGetFunctionalWrapper``."""
    assert tensor._functional is not None
    return tensor._functional


def _tensor_around(value: Tensor) -> Tensor:
    if is_functional(value):
        raise RuntimeError(ASSERTS["wrapped twice"])
    tensor = object.__new__(Tensor)
    tensor._sizes, tensor._strides = value._sizes, value._strides
    tensor._storage_offset, tensor._device = value._storage_offset, value._device
    tensor._dtype, tensor._layout, tensor._content = value._dtype, value._layout, value._content
    tensor._keys = (value._keys & ~_NOT_TAKEN_OVER) | FUNCTIONALIZE
    tensor._versions, tensor._autograd = value._versions, None
    tensor._custom = tensor._pending = tensor._array = None
    return tensor


def to_functional_tensor(value: Any) -> Any:
    """A functional tensor around a value; of a list, around each; anything else as it is."""
    return _each(_wrapped, value)


def _wrapped(value: Tensor) -> Tensor:
    tensor = _tensor_around(value)
    tensor._functional = FunctionalTensorWrapper(tensor, value)
    return tensor


def from_functional_tensor(value: Any, *, is_asserted: bool = True) -> Any:
    """The value of a functional tensor; RuntimeError for another, unless ``is_asserted`` is off.

    A list may have both.
    """
    if isinstance(value, (list, tuple)):
        return [from_functional_tensor(each, is_asserted=False) for each in value]
    if not isinstance(value, Tensor):
        return value
    if is_functional(value):
        return wrapper_of(value).value
    if is_asserted:
        raise RuntimeError(REFUSALS["_from_functional_tensor"])
    return value


def sync(value: Any) -> None:
    """Bring functional tensors up to date."""
    for wrapper in _wrappers(value):
        wrapper.sync()


def show_values(value: Any) -> None:
    """Have functional tensors the geometry of what they wrap."""
    for wrapper in _wrappers(value):
        wrapper.show_value()


def _wrappers(value: Any) -> Iterator[FunctionalTensorWrapper]:
    """Those of the functional tensors in a value."""
    if isinstance(value, (list, tuple)):
        for each in value:
            yield from _wrappers(each)
    elif isinstance(value, Tensor) and is_functional(value):
        yield wrapper_of(value)


def synced_value(value: Any) -> Any:
    """The value of a functional tensor, or of a list with one, up to date; else ``value``."""
    if not is_functional(value):
        return value
    sync(value)
    return from_functional_tensor(value)


def change(tensor: Any, value: Any) -> None:
    """Have functional tensors the values that an operator has computed for them."""
    if isinstance(tensor, (list, tuple)):
        for each, changed in zip(tensor, value, strict=True):
            wrapper_of(each).replace(changed)
        for each in tensor:
            wrapper_of(each).commit_update()
        sync(tensor)
        return
    wrapper = wrapper_of(tensor)
    wrapper.replace(value)
    wrapper.commit_update()
    wrapper.sync()


def _each(function: Callable[[Tensor], Tensor], value: Any) -> Any:
    if isinstance(value, Tensor):
        return function(value)
    if isinstance(value, (list, tuple)):
        return [_each(function, each) for each in value]
    return value


# --- views ----------------------------------------------------------------------------------------


def view_with_meta(view: Any, base: Tensor, meta: ViewMeta) -> Any:
    """``create_functional_tensor_with_view_meta``: a functional view of ``base``, or each of
    several, around what was computed below."""
    if isinstance(view, Sequence):
        return [_view(each, base, meta.to_out_index(place)) for place, each in enumerate(view)]
    return _view(view, base, meta)


def _view(value: Tensor, base: Tensor, meta: ViewMeta) -> Tensor:
    of_base = wrapper_of(base)
    tensor = _tensor_around(value)
    wrapper = FunctionalTensorWrapper(tensor, value, of_base.storage)
    wrapper.is_multi_output_view = of_base.is_multi_output_view or meta.is_multi_output
    wrapper.was_storage_changed = of_base.was_storage_changed
    wrapper.view_metas = (*of_base.view_metas, meta)
    tensor._functional = wrapper
    return tensor
