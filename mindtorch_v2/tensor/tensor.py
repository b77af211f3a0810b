"""Tensors: a geometry over a storage, a dtype, a device, flags and a keyset.

Mirrors ``c10/core/TensorImpl.h``, and of ``torch/csrc/autograd/python_variable.cpp`` what every
tensor answers about itself.  Where elements lie is computed in :mod:`geometry` and :mod:`views`;
how they are read, written and converted in :mod:`copying` and :mod:`conversions`.

Public methods are bound anew, with torch's argument parsing before them, so code in this package
calls those with an underscore.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from mindtorch_v2.dispatch import tls
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.keyset import PYTHON_KEYS, functionality_bit
from mindtorch_v2.tensor import (
    conversions,
    copying,
    geometry,
    layouts,
    numpy_bridge,
    sparse,
)
from mindtorch_v2.tensor.autograd_meta import UNRECORDED, AutogradMeta
from mindtorch_v2.tensor.base import TensorBase
from mindtorch_v2.tensor.custom import Custom, own, own_geometry, own_kind
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.device_memory import allocated_on
from mindtorch_v2.tensor.dtype import (
    MEMORY_FORMATS,
    DType,
    Layout,
    memory_format,
    mkldnn,
    sparse_compressed,
    sparse_coo,
    strided,
)
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.experimental import raise_warning_for_complex_half, warn_of_layout
from mindtorch_v2.tensor.options import backend_keys, tensor_keyset
from mindtorch_v2.tensor.pending import Pending, Settling, settling
from mindtorch_v2.tensor.plain import counter_of, is_host, meta_of_view, new_plain, storage_of
from mindtorch_v2.tensor.size import Size
from mindtorch_v2.tensor.storage import Bytes, UntypedStorage
from mindtorch_v2.tensor.version import VersionCounter
from mindtorch_v2.tensor.zeros import is_zero_tensor

if TYPE_CHECKING:
    from mindtorch_v2.functionalize.wrapper import FunctionalTensorWrapper


_new: Final = object.__new__

_CONJUGATE: Final = functionality_bit(DispatchKey.Conjugate)
_NEGATIVE: Final = functionality_bit(DispatchKey.Negative)
_ADINPLACE_OR_VIEW: Final = functionality_bit(DispatchKey.ADInplaceOrView)
_WITHOUT_STORAGE: Final = {
    sparse_coo: "SparseTensorImpl",
    mkldnn: "OpaqueTensorImpl",
    **dict.fromkeys(sparse_compressed, "SparseCsrTensorImpl"),
}
"""Layouts whose tensors have no storage, and the C++ class of those tensors."""


class Tensor(TensorBase):
    """Elements of one dtype in a shape."""

    __slots__ = (
        "__dict__",
        "__weakref__",
        "_array",
        "_content",
        "_custom",
        "_device",
        "_dtype",
        "_functional",
        "_keys",
        "_layout",
        "_memory",
        "_pending",
        "_raw_autograd",
        "_raw_storage",
        "_raw_versions",
        "_sizes",
        "_storage_offset",
        "_strides",
        "_view_of",
    )
    __module__ = "mindtorch_v2"

    _sizes: Size
    _strides: tuple[int, ...]
    _storage_offset: int
    _storage: Settling[UntypedStorage | None] = settling(
        "_raw_storage", storage_of, "self._array = None"
    )
    """None where the layout has none."""
    _dtype: DType
    _device: Device
    _layout: Layout
    _keys: int
    _content: Any
    """What a tensor of a special layout or dtype has besides or in place of a storage."""
    _functional: FunctionalTensorWrapper | None
    """Of a functional tensor, what it wraps."""
    _versions: Settling[VersionCounter] = settling("_raw_versions", counter_of)
    _autograd: Settling[AutogradMeta | None] = settling(
        "_raw_autograd", meta_of_view, "self._view_of = None"
    )
    """None for a tensor that autograd has nothing to do with."""
    _raw_storage: UntypedStorage | None
    _raw_versions: VersionCounter
    _raw_autograd: AutogradMeta | None
    _view_of: tuple[Tensor, int] | None
    """Of a view whose metadata nobody has asked for yet: its base, and the count of changes when it
    was made."""
    _pending: Pending | None
    _custom: Custom | None
    """What its class answers for in its stead."""
    _array: Array | None
    """See Note [Arrays of plain tensors]."""
    _memory: Bytes | None

    @classmethod
    def _make(
        cls,
        shape: Sequence[int],
        dtype: DType,
        layout: Layout = strided,
        device: Device | None = None,
        *,
        extra_keys: int = 0,
        inference: bool | None = None,
        requires_grad: bool = False,
        storage: UntypedStorage | None = None,
        strides: tuple[int, ...] | None = None,
        offset: int = 0,
    ) -> Tensor:
        """A new tensor, of zeros without a ``storage``.

        ``inference`` says whether it has no autograd keys, by default as the mode.  Raises as
        computeDispatchKey does, and RuntimeError for a gradient that the dtype cannot have.
        """
        mode = tls.is_inference_mode_enabled() if inference is None else inference
        is_usual = (
            storage is None and layout is strided and not (mode or requires_grad or extra_keys)
        )
        if is_usual and (device is None or is_host(device)):
            made = new_plain(cls, shape, dtype, strides)
            if made is not None:
                return made
        where = allocated_on(device or Device("cpu"))
        keys = backend_keys(dtype, layout, where.type) | extra_keys
        self = object.__new__(cls)  # not that of the class, which is torch's own constructor
        self._dtype, self._layout, self._device = dtype, layout, where
        self._sizes = shape if type(shape) is Size else Size._of(shape)
        self._storage_offset = offset
        if strides is None:
            strides = geometry.strides_of_new(tuple(shape), layout, dtype.itemsize)
        self._strides = strides
        if layout in _WITHOUT_STORAGE:
            warn_of_layout(layout)
        elif storage is None:
            raise_warning_for_complex_half(dtype)
            count = geometry.storage_bytes(shape, self._strides, offset, dtype.itemsize)
            storage = UntypedStorage._of(count, where)
        self._raw_storage = storage
        self._keys = tensor_keyset(keys, mode)
        self._raw_versions, self._raw_autograd = self._new_counter(), None
        self._content = self._functional = self._custom = self._pending = self._array = None
        self._set_requires_grad(requires_grad)
        return self

    def _set_requires_grad(self, requires_grad: bool) -> None:
        """At construction; :meth:`requires_grad_` is for tensors that exist."""
        if requires_grad and not self._is_differentiable():
            raise RuntimeError(
                "Only Tensors of floating point and complex dtype can require gradients"
            )
        if requires_grad or self._autograd is not None:
            self._materialize_autograd_meta().requires_grad = requires_grad

    def _materialize_autograd_meta(self) -> AutogradMeta:
        if self._autograd is None:
            self._autograd = AutogradMeta()
        return self._autograd

    def _is_differentiable(self) -> bool:
        return self._dtype.is_floating_point or self._dtype.is_complex

    # --- geometry -----------------------------------------------------------------------------

    @property
    def shape(self) -> Size:
        return self._sizes

    def size(self, dim: int | None = None) -> Size | int:
        if dim is None:
            return self._sizes
        return self._sizes[geometry.wrap_dim(dim, len(self._sizes), scalar=False)]

    def stride(self, dim: int | None = None) -> tuple[int, ...] | int:
        layout = own(self, "_layout")
        if layout is not strided:
            layouts.check_is_not_compressed(layout, "strides")
        if dim is None:
            return self._strides
        return self._strides[geometry.wrap_dim(dim, len(self._sizes), scalar=False)]

    def storage_offset(self) -> int:
        return self._storage_offset

    def dim(self) -> int:
        return self._dim()

    ndimension = dim

    @property
    def ndim(self) -> int:
        return self._dim()

    def _dim(self) -> int:
        if self._custom is not None and self._custom.asks_for_sizes:
            return self._custom.interpreter.dim(self)
        return len(self._sizes)

    def numel(self) -> int:
        return self._sym_numel()

    nelement = numel

    def _sym_numel(self) -> int:
        if self._custom is not None and self._custom.asks_for_sizes:
            return self._custom.interpreter.sym_numel(self)
        if self._functional is not None:
            return self._functional.numel
        return geometry.numel(self._sizes)

    def _numel(self) -> int:
        """The same for who has no use for a symbolic number, which is another question."""
        if self._custom is not None and self._custom.asks_for_sizes:
            return self._custom.interpreter.numel(self)
        return geometry.numel(self._sizes)

    def is_contiguous(
        self, *, memory_format: memory_format = MEMORY_FORMATS["contiguous_format"]
    ) -> bool:
        return self._is_contiguous(memory_format)

    def _is_contiguous(self, kind: memory_format) -> bool:
        if self._custom is not None and self._custom.asks_for_strides:
            return self._custom.interpreter.is_contiguous(self, kind)
        layout = own(self, "_layout")
        if layout is not strided:
            if layout is sparse_coo:
                return False
            if layout is mkldnn:
                return kind not in geometry.CHANNELS_LAST
            layouts.check_is_not_compressed(layout, "is_contiguous")
        return geometry.is_contiguous(self._sizes, self._strides, kind)

    @property
    def names(self) -> tuple[None, ...]:
        return (None,) * len(self._sizes)

    # --- storage ------------------------------------------------------------------------------

    def untyped_storage(self) -> UntypedStorage:
        return self._untyped_storage()

    def _untyped_storage(self) -> UntypedStorage:
        if self._storage is None:
            raise NotImplementedError(f"Cannot access storage of {_WITHOUT_STORAGE[self._layout]}")
        return self._storage

    def data_ptr(self) -> int:
        """The address of the first element; 0 if there is none."""
        if self._storage is None:
            raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")
        if self._functional is not None:
            return 0
        is_empty = not self._numel()
        start = self._storage._address()
        if not start or is_empty:
            return 0
        return start + int(own(self, "_storage_offset")) * self._dtype.itemsize

    def _bytes(self) -> Bytes:
        """The bytes of the storage."""
        storage = self._storage
        return (self._untyped_storage() if storage is None else storage)._memory()

    def element_size(self) -> int:
        return self._dtype.itemsize

    @property
    def itemsize(self) -> int:
        return self._dtype.itemsize

    @property
    def nbytes(self) -> int:
        if self._layout is sparse_coo:
            raise RuntimeError(
                "nbytes is not defined for sparse tensors.  If you want the size of the "
                "constituent tensors, add the nbytes of the indices and values.  If you want the "
                "size of the  equivalent dense tensor, multiply numel() by element_size()"
            )
        return self._numel() * self._dtype.itemsize

    # --- dtype, device, flags -----------------------------------------------------------------

    @property
    def dtype(self) -> DType:
        return self._dtype

    @property
    def device(self) -> Device:
        return self._device

    @property
    def layout(self) -> Layout:
        return self._layout

    def get_device(self) -> int:
        index = self._device.index
        return -1 if index is None else index

    @property
    def requires_grad(self) -> bool:
        """Whether it has a gradient: its own flag, its history, or as a view, its base's."""
        return self._requires_grad()

    def _requires_grad(self) -> bool:
        meta = self._autograd
        if meta is None:
            return False
        if meta.requires_grad or meta.grad_fn is not None:
            return True
        return meta.view is not None and meta.view.base._requires_grad()

    @property
    def is_leaf(self) -> bool:
        """Whether no operation on a tensor that requires grad made it."""
        return self._is_leaf()

    def _is_leaf(self) -> bool:
        """As C++ has it, which does not look whether a view's base has been changed."""
        return self._autograd is None or self._autograd.grad_fn is None

    @property
    def _version(self) -> int:
        return self._versions.current

    @property
    def _base(self) -> Tensor | None:
        return self._view_base()

    def _view_base(self) -> Tensor | None:
        """Of a differentiable view, the tensor that it is, at last, a view of."""
        meta = self._autograd
        return None if meta is None or meta.view is None else meta.view.base

    def _is_view(self) -> bool:
        return self._view_base() is not None

    def is_inference(self) -> bool:
        return self._is_inference()

    def _is_inference(self) -> bool:
        """Whether it was made in inference mode: it has neither autograd nor version keys."""
        return not self._keys & _ADINPLACE_OR_VIEW

    @property
    def _python_dispatch(self) -> bool:
        """Whether its class overrides operators."""
        return self._keys & PYTHON_KEYS == PYTHON_KEYS

    @property
    def is_cpu(self) -> bool:
        return self._device.type == "cpu"

    @property
    def is_meta(self) -> bool:
        return self._device.type == "meta"

    @property
    def is_sparse(self) -> bool:
        return own(self, "_layout") is sparse_coo

    @property
    def is_quantized(self) -> bool:
        return self._dtype._is_quantized

    @property
    def is_mkldnn(self) -> bool:
        return own(self, "_layout") is mkldnn

    @property
    def is_nested(self) -> bool:
        return bool(self._keys & functionality_bit(DispatchKey.NestedTensor))

    def is_floating_point(self) -> bool:
        return self._dtype.is_floating_point

    def is_complex(self) -> bool:
        return self._dtype.is_complex

    def is_signed(self) -> bool:
        return self._dtype.is_signed

    def is_conj(self) -> bool:
        return self._is_conj()

    def is_neg(self) -> bool:
        return self._is_neg()

    def _is_conj(self) -> bool:
        return bool(self._keys & _CONJUGATE)

    def _is_neg(self) -> bool:
        return bool(self._keys & _NEGATIVE)

    def _is_zerotensor(self) -> bool:
        return is_zero_tensor(self)

    def _lazy_bits(self) -> int:
        return self._keys & (_CONJUGATE | _NEGATIVE)

    # --- parts --------------------------------------------------------------------------------

    def _nnz(self) -> int:
        return sparse.count_stored(self)

    def _indices(self) -> Tensor:
        return sparse.coordinates(self).indices

    def _values(self) -> Tensor:
        return sparse.coordinates(self).values

    # --- values -------------------------------------------------------------------------------

    def item(self) -> Any:
        return conversions.item(self)

    def _refuse_for_subclass(self, method: str, got: str = "") -> None:
        """RuntimeError if its class overrides operators: elements are for that to know."""
        if self._python_dispatch:
            raise RuntimeError(f".{method} is not supported for tensor subclasses{got or '.'}")

    def tolist(self) -> Any:
        self._refuse_for_subclass("tolist()", f", got {type(self).__name__}")
        return conversions.to_list(self)

    def numpy(self, *, force: bool = False) -> Array:
        self._refuse_for_subclass("numpy()")
        return numpy_bridge.to_numpy(self, force=force)

    def __bool__(self) -> bool:
        return conversions.truth(self)

    def __index__(self) -> int:
        return conversions.index(self)

    # --- views: as much an inference tensor as their base --------------------------------------

    def _as_view(
        self,
        sizes: Sequence[int],
        strides: tuple[int, ...],
        offset: int,
        *,
        flip: int = 0,
        dtype: DType | None = None,
    ) -> Tensor:
        """An alias over the same storage; ``flip`` are lazy bits that become their opposite.

        Its changes are counted apart: what makes it a view of this tensor is the operator's kernel
        at ADInplaceOrView.
        """
        view = _new(Tensor)
        view._sizes = sizes if type(sizes) is Size else Size._of(sizes)
        view._strides, view._storage_offset = strides, offset
        view._raw_storage, view._dtype = self._storage, dtype or self._dtype
        if self._custom is None:
            view._layout, view._device = self._layout, self._device
        else:
            view._layout, view._device = own_kind(self)
        view._content = self._content
        view._keys = (self._keys ^ flip) & ~PYTHON_KEYS  # which are of the object's class
        view._raw_versions = VersionCounter(0 if self._keys & _ADINPLACE_OR_VIEW else None)
        view._raw_autograd = view._custom = view._pending = view._array = None
        view._functional = None if self._functional is None else self._functional.copy_for(view)
        return view

    def _is_recorded(self) -> bool:
        """Whether what is computed from it now has a history."""
        return self.requires_grad and tls.is_grad_enabled() and not tls.is_below_autograd()

    def _alias(self, flip: int = 0) -> Tensor:
        return self._as_view(self._sizes, self._strides, self._storage_offset, flip=flip)

    def detach(self) -> Tensor:
        return self._detached()

    def _detached(self) -> Tensor:
        """The same elements without history: no view for autograd, but changes are counted."""
        twin = self._as_view(*own_geometry(self))
        twin._versions = self._copied_counter() if self._is_inference() else self._versions
        return twin

    @property
    def data(self) -> Tensor:
        return self._untracked()

    def _untracked(self) -> Tensor:
        """The same elements without history, whose changes nobody counts."""
        twin = self._detached()
        twin._versions = self._copied_counter()
        return twin

    def _new_counter(self) -> VersionCounter:
        """That of a tensor made with these keys."""
        return VersionCounter(0 if self._keys & _ADINPLACE_OR_VIEW else None)

    def _copied_counter(self) -> VersionCounter:
        """That of a shallow copy: outside of the mode the copy of an inference tensor has one."""
        counts = not (self._is_inference() and tls.is_inference_mode_enabled())
        return VersionCounter(0 if counts else None)

    def _conjugated(self) -> Tensor:
        """Lazily: the Conjugate key flips.  A sparse tensor is computed, a real one returned."""
        if not self._dtype.is_complex:
            return self
        if self._layout is not strided:
            return self._fresh()
        return self._alias(flip=_CONJUGATE)

    def _neg_view(self) -> Tensor:
        return self._alias(flip=_NEGATIVE)

    # --- new tensors: inference tensors as the mode says ---------------------------------------

    def _fresh(self, **options: Any) -> Tensor:
        """A copy, converted to the options that are given."""
        settings = {"dtype": self._dtype, "layout": self._layout, "device": self._device, **options}
        geometry.check_size_nonnegative(self._sizes)
        is_dense = self._layout is settings["layout"] is strided
        strides = geometry.dense_strides_like(self._sizes, self._strides) if is_dense else None
        copy = Tensor._make(self._sizes, strides=strides, **settings)
        layouts.copy_contents(copy, self)
        if self._is_inference():  # nobody has masked that the copying counts
            copy._versions.bump()
        if self._is_recorded() and copy._is_differentiable():
            copy._materialize_autograd_meta().grad_fn = UNRECORDED
        return copy

    def clone(self) -> Tensor:
        return self._fresh()

    def _converted(self, device: Device, dtype: DType, *, copy: bool = False) -> Tensor:
        if dtype is self._dtype and device.type == self._device.type and not copy:
            return self
        return self._fresh(dtype=dtype, device=device)

    def _resolved(self) -> Tensor:
        """A copy that stores its values as they are shown, or itself if nothing is to be done."""
        return self._fresh() if self._lazy_bits() or is_zero_tensor(self) else self

    def cpu(self) -> Tensor:
        return self._converted(Device("cpu"), self._dtype)

    def resolve_conj(self) -> Tensor:
        return self._fresh() if self._is_conj() else self

    def resolve_neg(self) -> Tensor:
        return self._fresh() if self._is_neg() else self

    # --- changes ------------------------------------------------------------------------------

    def fill_(self, value: Any) -> Tensor:
        copying.fill(self, value)
        self._versions.bump()
        return self

    def zero_(self) -> Tensor:
        copying.zero(self)
        self._versions.bump()
        return self
