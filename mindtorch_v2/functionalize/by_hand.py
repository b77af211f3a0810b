"""Kernels at Functionalize that torch writes by hand.

Mirrors ``aten/src/ATen/FunctionalizeFallbackKernel.cpp``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.keyset import mask_of
from mindtorch_v2.dispatch.tls import local_dispatch_key_set
from mindtorch_v2.functionalize.facts import ASSERTS
from mindtorch_v2.functionalize.reapply_views import get_reapply_views
from mindtorch_v2.functionalize.storage import FUNCTIONALIZE, ViewMeta, skip_functionalize
from mindtorch_v2.functionalize.wrapper import (
    from_functional_tensor,
    is_functional,
    sync,
    synced_value,
    to_functional_tensor,
    view_with_meta,
    wrapper_of,
)
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.tensor.geometry import contiguous_strides, numel
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.tensor.views import infer_size, view_strides

_AS_STRIDED: Final = OperatorHandle("aten::as_strided")
_AS_STRIDED_COPY: Final = OperatorHandle("aten::as_strided_copy")
_AS_STRIDED_SCATTER: Final = OperatorHandle("aten::as_strided_scatter")
_CLONE: Final = OperatorHandle("aten::clone")
_LIFT: Final = OperatorHandle("aten::lift")
_LIFT_FRESH: Final = OperatorHandle("aten::lift_fresh")
_LIFT_FRESH_COPY: Final = OperatorHandle("aten::lift_fresh_copy")
_RESIZE: Final = OperatorHandle("aten::resize")
_RESIZE_: Final = OperatorHandle("aten::resize_")
_SET_: Final = OperatorHandle("aten::set_.source_Tensor")
_SHALLOW_COPY_DATA_: Final = OperatorHandle("aten::shallow_copy_data_")
_TO_COPY: Final = OperatorHandle("aten::_to_copy")
_UNSAFE_VIEW: Final = OperatorHandle("aten::_unsafe_view")
_VIEW_AS: Final = OperatorHandle("aten::view_as")


def resize_(self: Tensor, size: Sequence[int], memory_format: int | None) -> Tensor:
    """A change if the storage grows, else a view; see Note [resize_ in Functionalization]."""
    if not is_functional(self):
        with skip_functionalize():
            _RESIZE_(self, size, memory_format=memory_format)
        return self
    sync(self)
    with skip_functionalize():
        resized = _RESIZE(from_functional_tensor(self), size, memory_format=memory_format)
    strides = contiguous_strides(size)
    wrapper = wrapper_of(self)
    needed = self._dtype.itemsize * (wrapper.storage_offset + numel(size))
    if needed > self._untyped_storage().nbytes():
        wrapper.maybe_replace_storage(resized)
        return self
    views = get_reapply_views()

    def forward(base: Tensor, index: int) -> Any:
        return (_AS_STRIDED if views else _AS_STRIDED_COPY)(base, size, strides, None)

    def reverse(base: Tensor, changed: Tensor, index: int) -> Any:
        return _AS_STRIDED_SCATTER(base, changed, size, strides, None)

    wrapper.mutate_view_meta(ViewMeta(forward, reverse))
    return self


def lift(self: Tensor) -> Any:
    if is_functional(self):
        if "lift" in ASSERTS:
            raise RuntimeError(ASSERTS["lift"])
        return _VIEW_AS(self, self)
    with skip_functionalize():
        lifted = _LIFT(self)
    return to_functional_tensor(lifted)


def lift_fresh(self: Tensor) -> Any:
    if is_functional(self):
        return _VIEW_AS(self, self)
    with skip_functionalize():
        lifted = _LIFT_FRESH(self)
    return to_functional_tensor(lifted)


def lift_fresh_copy(self: Tensor) -> Any:
    if is_functional(self):
        return _CLONE.redispatch(mask_of(DispatchKey.Functionalize), self, memory_format=None)
    with skip_functionalize():
        lifted = _LIFT_FRESH_COPY(self)
    return to_functional_tensor(lifted)


def to_copy(self: Tensor, *options: Any) -> Any:
    """Functional only if the key is included: outside of a transform no device here asks for it."""
    below = synced_value(self)
    with skip_functionalize():
        copy = _TO_COPY(below, *options)
        if not local_dispatch_key_set().included & FUNCTIONALIZE:
            return copy
    return to_functional_tensor(copy)


def unsafe_view(self: Tensor, size: Sequence[int]) -> Any:
    """A view, though the schema does not say so.

    RuntimeError where ``size`` does not fit the elements that the wrapper counts, which are those
    from before a ``resize_`` to fewer.
    """
    if not is_functional(self):
        with skip_functionalize():
            return _UNSAFE_VIEW(self, size)
    with skip_functionalize():
        answer = _UNSAFE_VIEW(from_functional_tensor(self), size)

    def forward(base: Tensor, index: int) -> Any:
        return _UNSAFE_VIEW(base, size)

    def reverse(base: Tensor, changed: Tensor, index: int) -> Any:
        return _UNSAFE_VIEW(changed, base._sizes)

    out = view_with_meta(answer, self, ViewMeta(forward, reverse))
    inferred = infer_size(size, self.numel())
    if view_strides(self._sizes, self._strides, inferred) is None and "unsafe_view" in ASSERTS:
        raise RuntimeError(ASSERTS["unsafe_view"])
    wrapper_of(out).numel = numel(inferred)
    return out


def set_(self: Tensor, source: Tensor) -> Tensor:
    """``set_.source_Tensor``: RuntimeError unless both are functional, or neither is."""
    return _become(
        self,
        source,
        _SET_,
        "set__functionalize: Tried to mutate a non-functional tensor with a functional tensor, "
        "which is not allowed",
        "set__functionalize: We do not currently support x.set_(y) where y is not a "
        "FunctionalTensor. Please file an issue",
    )


def shallow_copy_data_(self: Tensor, source: Tensor) -> Tensor:
    """The same in other words (``aten/src/ATen/native/ShallowCopyData.cpp``)."""
    return _become(
        self,
        source,
        _SHALLOW_COPY_DATA_,
        "shallow_copy_data_: cannot mutate a non-functional tensor with a functional tensor",
        "shallow_copy_data_: source must be a FunctionalTensor",
    )


def _become(
    self: Tensor, source: Tensor, below: OperatorHandle, plain_self: str, plain_source: str
) -> Tensor:
    """RuntimeError with one of the last texts if one tensor is functional and the other is not."""
    if is_functional(self) and is_functional(source):
        wrapper_of(self).set_(wrapper_of(source))
        return self
    if is_functional(self):
        raise RuntimeError(plain_source)
    if is_functional(source):
        raise RuntimeError(plain_self)
    with skip_functionalize():
        return below(self, source)  # type: ignore[no-any-return]


KERNELS: Final[Mapping[str, Callable[..., Any]]] = {
    "aten::resize_": resize_,
    "aten::lift": lift,
    "aten::lift_fresh": lift_fresh,
    "aten::lift_fresh_copy": lift_fresh_copy,
    "aten::_to_copy": to_copy,
    "aten::_unsafe_view": unsafe_view,
    "aten::set_.source_Tensor": set_,
    "aten::shallow_copy_data_": shallow_copy_data_,
}
"""By the operator's full name."""
