"""A tensor's metadata: what its dispatch keys are made of.

Mirrors the part of ``c10/core/TensorImpl.h`` that decides ``key_set()``.  There is no storage
yet: shapes, flags and keys follow torch's rules, values do not exist.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2.dispatch import tls
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.keyset import functionality_bit, mask_of
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.dtype import (
    DTYPES,
    LAYOUTS,
    MKLDNN_DTYPES,
    DType,
    Layout,
    mkldnn,
    sparse_coo,
    strided,
)
from mindtorch_v2.tensor.options import compute_dispatch_key, tensor_keyset

_CONJUGATE: Final = functionality_bit(DispatchKey.Conjugate)
_NEGATIVE: Final = functionality_bit(DispatchKey.Negative)
_ADINPLACE_OR_VIEW: Final = functionality_bit(DispatchKey.ADInplaceOrView)

_REAL_OF_COMPLEX: Final = {
    DTYPES["complex32"]: DTYPES["float16"],
    DTYPES["complex64"]: DTYPES["float32"],
    DTYPES["complex128"]: DTYPES["float64"],
}
_TO_MKLDNN_DTYPES: Final = frozenset(
    DTYPES[name] for name in ("float32", "bfloat16", "float16", "uint8", "int8")
)


class Tensor:
    """Metadata of a tensor: shape (in elements), dtype, device, layout, flags and keyset."""

    __slots__ = (
        "__weakref__",
        "_keys",
        "_requires_grad",
        "device",
        "dtype",
        "is_leaf",
        "layout",
        "shape",
    )
    __module__ = "mindtorch_v2"

    shape: tuple[int, ...]
    dtype: DType
    device: Device
    layout: Layout
    is_leaf: bool
    """Whether no operation on a tensor that requires grad made it."""
    _keys: int

    @classmethod
    def _make(
        cls,
        shape: tuple[int, ...],
        dtype: DType,
        layout: Layout = strided,
        device: Device | None = None,
        *,
        extra_keys: int = 0,
        inference: bool | None = None,
        requires_grad: bool = False,
    ) -> Tensor:
        """A new tensor; ``inference`` says whether it has no autograd keys, by default as the mode.

        Raises as computeDispatchKey does, and RuntimeError for a gradient that the dtype
        cannot have.
        """
        where = device or Device("cpu")
        keys = mask_of(compute_dispatch_key(dtype, layout, where.type)) | extra_keys
        self = cls.__new__(cls)
        self.shape, self.dtype, self.layout, self.device = shape, dtype, layout, where
        mode = tls.is_inference_mode_enabled()
        self._keys = tensor_keyset(keys, mode if inference is None else inference)
        self._requires_grad, self.is_leaf = False, True
        if requires_grad:
            if not (dtype.is_floating_point or dtype.is_complex):
                raise RuntimeError(
                    "Only Tensors of floating point and complex dtype can require gradients"
                )
            self._requires_grad = True
        return self

    def __repr__(self) -> str:
        """As torch prints a meta tensor; there are no values to print for others yet."""
        parts = ["..."]
        if self.device.type != "cpu":
            parts.append(f"device='{self.device}'")
        parts.append(f"size={self.shape}")
        if self.dtype is not DTYPES["float32"]:
            parts.append(f"dtype={self.dtype}")
        if self.layout is not strided:
            parts.append(f"layout={self.layout}")
        if self._requires_grad:
            parts.append("requires_grad=True")
        return f"tensor({', '.join(parts)})"

    # --- questions ----------------------------------------------------------------------------

    @property
    def requires_grad(self) -> bool:
        return self._requires_grad

    def dim(self) -> int:
        return len(self.shape)

    def is_inference(self) -> bool:
        """Whether it was made in inference mode: it has neither autograd nor version keys."""
        return not self._keys & _ADINPLACE_OR_VIEW

    @property
    def is_meta(self) -> bool:
        return self.device.type == "meta"

    @property
    def is_sparse(self) -> bool:
        return self.layout is sparse_coo

    @property
    def is_quantized(self) -> bool:
        return self.dtype._is_quantized

    @property
    def is_mkldnn(self) -> bool:
        return self.layout is mkldnn

    @property
    def is_nested(self) -> bool:
        return bool(self._keys & functionality_bit(DispatchKey.NestedTensor))

    def is_conj(self) -> bool:
        return bool(self._keys & _CONJUGATE)

    def is_neg(self) -> bool:
        return bool(self._keys & _NEGATIVE)

    # --- views: as much an inference tensor as their base --------------------------------------

    def _view(self, shape: tuple[int, ...], flip: int = 0, dtype: DType | None = None) -> Tensor:
        view = Tensor.__new__(Tensor)
        view.shape, view.dtype = shape, dtype or self.dtype
        view.layout, view.device = self.layout, self.device
        view._keys = self._keys ^ flip
        view._requires_grad = self._requires_grad
        view.is_leaf = not self._requires_grad
        return view

    def detach(self) -> Tensor:
        view = self._view(self.shape)
        view._requires_grad, view.is_leaf = False, True
        return view

    def t(self) -> Tensor:
        return self._view(self.shape[::-1])

    def view(self, *shape: int) -> Tensor:
        return self._view(shape)

    @property
    def data(self) -> Tensor:
        return self.detach()

    @property
    def T(self) -> Tensor:  # noqa: N802 (torch's name)
        return self._view(self.shape[::-1])

    @property
    def mT(self) -> Tensor:  # noqa: N802 (torch's name)
        return self._view((*self.shape[:-2], self.shape[-1], self.shape[-2]))

    @property
    def mH(self) -> Tensor:  # noqa: N802 (torch's name)
        return self.mT.conj()

    @property
    def H(self) -> Tensor:  # noqa: N802 (torch's name)
        return self.T.conj()

    def conj(self) -> Tensor:
        """Lazily: the Conjugate key flips.  A sparse tensor is computed, a real one returned."""
        if not self.dtype.is_complex:
            return self
        if self.layout is not strided:
            return self._fresh()
        return self._view(self.shape, flip=_CONJUGATE)

    def _neg_view(self) -> Tensor:
        return self._view(self.shape, flip=_NEGATIVE)

    @property
    def real(self) -> Tensor:
        return self._part(0) if self.dtype.is_complex else self

    @property
    def imag(self) -> Tensor:
        if not self.dtype.is_complex:
            raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
        return self._part(_NEGATIVE if self.is_conj() else 0)

    def _part(self, flip: int) -> Tensor:
        conjugate = _CONJUGATE if self.is_conj() else 0
        return self._view(self.shape, flip ^ conjugate, _REAL_OF_COMPLEX[self.dtype])

    # --- new tensors: inference tensors as the mode says ---------------------------------------

    def _fresh(self, **options: Any) -> Tensor:
        settings = {"dtype": self.dtype, "layout": self.layout, "device": self.device, **options}
        tensor = Tensor._make(self.shape, **settings)
        floats = tensor.dtype.is_floating_point or tensor.dtype.is_complex
        recording = not tls.is_inference_mode_enabled()
        tensor._requires_grad = self._requires_grad and floats and recording
        tensor.is_leaf = not tensor._requires_grad
        return tensor

    def clone(self) -> Tensor:
        return self._fresh()

    def to(
        self,
        *targets: DType | Device | str | Tensor,
        dtype: DType | None = None,
        device: Device | str | None = None,
    ) -> Tensor:
        """Converted to a dtype and moved to a device; itself if it is there already."""
        for target in targets:
            if isinstance(target, Tensor):
                dtype, device = target.dtype, target.device
            elif isinstance(target, DType):
                dtype = target
            else:
                device = target
        where = self.device if device is None else Device(device)
        kind = dtype or self.dtype
        if kind is self.dtype and where.type == self.device.type:
            return self
        return self._fresh(dtype=kind, device=where)

    def cpu(self) -> Tensor:
        return self.to("cpu")

    def to_sparse(self) -> Tensor:
        return self._fresh(layout=sparse_coo)

    def to_sparse_csr(self) -> Tensor:
        return self._fresh(layout=LAYOUTS["sparse_csr"])

    def to_sparse_csc(self) -> Tensor:
        return self._fresh(layout=LAYOUTS["sparse_csc"])

    def to_dense(self) -> Tensor:
        return self._fresh(layout=strided)

    def to_mkldnn(self) -> Tensor:
        if self.dtype not in _TO_MKLDNN_DTYPES:
            raise RuntimeError(
                "dense_to_mkldnn expects float, bfloat16, half, uint8, int8 tensor input"
            )
        return self._fresh(layout=mkldnn)

    def dequantize(self) -> Tensor:
        return self._fresh(dtype=DTYPES["float32"])

    def resolve_conj(self) -> Tensor:
        return self._fresh() if self.is_conj() else self

    def resolve_neg(self) -> Tensor:
        return self._fresh() if self.is_neg() else self

    # --- changes ------------------------------------------------------------------------------

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        if not self.is_leaf and not requires_grad:
            raise RuntimeError(
                "you can only change requires_grad flags of leaf variables. If you want to use a "
                "computed variable in a subgraph that doesn't require differentiation use "
                "var_no_grad = var.detach()."
            )
        if requires_grad:
            if not (self.dtype.is_floating_point or self.dtype.is_complex):
                raise RuntimeError("only Tensors of floating point dtype can require gradients")
            if self.is_inference() and not tls.is_inference_mode_enabled():
                raise RuntimeError(
                    "Setting requires_grad=True on inference tensor outside InferenceMode "
                    "is not allowed."
                )
        self._requires_grad = requires_grad
        return self


def _converter(name: str, target: DType) -> None:
    """The method ``name``, which converts to one dtype."""

    def convert(self: Tensor) -> Tensor:
        return self.to(target)

    convert.__name__ = name
    convert.__qualname__ = f"Tensor.{name}"
    setattr(Tensor, name, convert)


for _name in [
    "float",
    "double",
    "half",
    "bfloat16",
    "long",
    "int",
    "short",
    "char",
    "byte",
    "bool",
    "cfloat",
    "cdouble",
]:
    _converter(_name, DTYPES[{"char": "int8", "byte": "uint8"}.get(_name, _name)])


MKLDNN_UNSUPPORTED: Final = "get_mkldnn_dtype: unsupported data type"


def check_mkldnn(dtype: DType) -> None:
    """RuntimeError unless a tensor of ``dtype`` can have the mkldnn layout."""
    if dtype not in MKLDNN_DTYPES:
        raise RuntimeError(MKLDNN_UNSUPPORTED)
