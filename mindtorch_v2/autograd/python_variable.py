"""What tensors answer Python about autograd: ``grad``, ``grad_fn``, hooks, ``backward`` …

Mirrors the properties of ``torch/csrc/autograd/python_variable.cpp`` and the methods of
``torch/_tensor.py`` that go to autograd.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Final

from mindtorch_v2.autograd.hooks import RemovableHandle
from mindtorch_v2.autograd.node import TensorPreHook
from mindtorch_v2.autograd.variable import (
    GRADIENTS_HAVE_DTYPES,
    grad_fn,
    output_nr,
    reset_grad_accumulator,
)
from mindtorch_v2.binding.python.accessors import LEAVES_ALONE, NO_INFERENCE_TENSORS
from mindtorch_v2.binding.python.manual import call_operator
from mindtorch_v2.binding.python.properties import DELETED
from mindtorch_v2.binding.python.type_names import type_name
from mindtorch_v2.dispatch import tls
from mindtorch_v2.dispatch.keyset import PYTHON_KEYS
from mindtorch_v2.messages import WARNING_TEXTS
from mindtorch_v2.overrides import handle_torch_function, has_torch_function
from mindtorch_v2.tensor.autograd_meta import UNRECORDED
from mindtorch_v2.tensor.dtype import DType, sparse_coo
from mindtorch_v2.tensor.support import CPP_NAMES, HABITS, TYPE_NAMES
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.warn import warn

"""Whether the gradient may have another dtype than the tensor, which the tensor then says."""

_TENSOR: Final[Any] = Tensor


def _cpp_dtype(tensor: Tensor) -> str:
    """``caffe2::TypeMeta`` as messages show it."""
    return TYPE_NAMES[tensor._dtype]


# --- properties ---------------------------------------------------------------------------------


def _get_grad(self: Tensor) -> Tensor | None:
    meta = self._autograd
    found = None if meta is None else meta.grad
    retains = meta is not None and meta.retains_grad
    if found is None and not self._is_leaf() and not retains:
        warn("Tensor.grad", WARNING_TEXTS["Tensor.grad"])
    return found


def _set_grad(self: Tensor, grad: Any) -> None:
    if grad is None or grad is DELETED:
        if self._autograd is not None:
            self._autograd.grad = None
        return
    if not isinstance(grad, Tensor):
        raise TypeError(
            f"assigned grad expected to be a Tensor or None but got grad of type {type_name(grad)}"
        )
    if grad is self:
        raise RuntimeError("can't assign Variable as its own grad")
    _check_grad_dtype(self, grad)
    _check_grad_place(self, grad)
    if grad._sizes != self._sizes:
        raise RuntimeError(
            f"attempting to assign a gradient of size '{list(grad._sizes)}' to a tensor of size "
            f"'{list(self._sizes)}'. Please ensure that the gradient and the tensor are the same "
            "size"
        )
    self._materialize_autograd_meta().grad = grad


def _check_grad_dtype(self: Tensor, grad: Tensor) -> None:
    wanted = _grad_dtype(self)
    if wanted is None or grad._dtype is wanted:
        return
    start = f"attempting to assign a gradient with dtype '{_cpp_dtype(grad)}' to a tensor with "
    if not GRADIENTS_HAVE_DTYPES:
        raise RuntimeError(
            f"{start}dtype '{_cpp_dtype(self)}'. Please ensure that the gradient and "
            "the tensor have the same dtype"
        )
    raise RuntimeError(
        f"{start}grad_dtype '{CPP_NAMES[wanted]}'. The gradient must match the tensor's "
        "grad_dtype (defaults to the tensor's dtype). You can set the tensor's grad_dtype "
        "attribute with a specific dtype, or None to allow any dtype. Set grad_dtype with caution. "
        "Diverging the dtypes of a tensor and its gradient may break downstream systems that "
        "assume they match."
    )


def _check_grad_place(self: Tensor, grad: Tensor) -> None:
    if grad._device.type != self._device.type:
        raise RuntimeError(
            f"attempting to assign a gradient with device type '{grad._device.type}' to a tensor "
            f"with device type '{self._device.type}'. Please ensure that the gradient and the "
            "tensor are on the same device"
        )
    if grad._layout is not sparse_coo and grad._layout is not self._layout:
        raise RuntimeError(
            "attempting to assign a gradient to a tensor that has data of a different type"
        )


def _grad_dtype(self: Tensor) -> Any:
    meta = self._autograd
    return self._dtype if meta is None or meta.grad_dtype is ... else meta.grad_dtype


def _get_grad_dtype(self: Tensor) -> Any:
    if not self._is_leaf() and not HABITS["the dtype of its gradient is told of any tensor"]:
        raise RuntimeError("grad_dtype can only be accessed on leaf tensors.")
    return _grad_dtype(self)


def _has_grad_dtype_override(self: Tensor) -> bool:
    if not self._is_leaf():
        raise RuntimeError("_has_grad_dtype_override is only supported for leaf tensors.")
    meta = self._autograd
    return meta is not None and meta.grad_dtype is not ...


def _set_grad_dtype(self: Tensor, dtype: Any) -> None:
    if dtype is not None and not isinstance(dtype, DType):
        raise RuntimeError(f"grad_dtype must be a torch.dtype or None, but got {type_name(dtype)}")
    if not self._is_leaf():
        raise RuntimeError("grad_dtype can only be set on leaf tensors.")
    meta = self._materialize_autograd_meta()
    if meta.grad is not None and dtype is not None and meta.grad._dtype is not dtype:
        raise RuntimeError(
            f"Cannot set grad_dtype to '{CPP_NAMES[dtype]}' because there is already a gradient "
            f"with dtype '{_cpp_dtype(meta.grad)}'. Please clear the gradient (.grad = None) "
            "before changing grad_dtype, or ensure the new grad_dtype matches the existing "
            "gradient's dtype."
        )
    meta.grad_dtype = dtype
    reset_grad_accumulator(self)


def _get_grad_fn(self: Tensor) -> Any:
    """None too for the mark of what nobody has recorded."""
    found = grad_fn(self)
    return None if found is UNRECORDED else found


def _set_grad_fn(self: Any, value: Any) -> None:
    if value is DELETED:
        raise RuntimeError("Deletion of _grad_fn not allowed. Detach tensor instead!")
    if value is not None:
        raise RuntimeError("_grad_fn can be only set to None")
    call_operator("aten::detach_", self=self)


def _get_is_leaf(self: Tensor) -> bool:
    return grad_fn(self) is None


def _set_requires_grad(self: Tensor, requires_grad: Any) -> None:
    if not isinstance(requires_grad, bool):
        raise RuntimeError("requires_grad must be a bool")
    if not self._is_leaf():
        raise RuntimeError(LEAVES_ALONE[requires_grad])
    if requires_grad and not self._is_differentiable():
        raise RuntimeError("only Tensors of floating point and complex dtype can require gradients")
    if requires_grad and self._is_inference() and not tls.is_inference_mode_enabled():
        raise RuntimeError(NO_INFERENCE_TENSORS)
    self._set_requires_grad(requires_grad)


def _get_backward_hooks(self: Tensor) -> Any:
    return None if self._autograd is None else self._autograd.backward_hooks


def _set_backward_hooks(self: Tensor, hooks: Any) -> None:
    if hooks is DELETED:
        raise RuntimeError("Deletion of _backwards_hooks not allowed!")
    meta = self._materialize_autograd_meta()
    meta.backward_hooks = hooks
    meta.hooks = [] if hooks is None else [TensorPreHook(hooks, 0)]


def _get_post_accumulate_grad_hooks(self: Tensor) -> Any:
    return None if self._autograd is None else self._autograd.post_accumulate_grad_hooks


def _set_post_accumulate_grad_hooks(self: Tensor, hooks: Any) -> None:
    self._materialize_autograd_meta().post_accumulate_grad_hooks = hooks


def _get_retains_grad(self: Tensor) -> bool:
    return self._autograd is not None and self._autograd.retains_grad


def _set_data(self: Tensor, data: Any) -> None:
    """Have the elements and the geometry of another tensor; history and version stay."""
    if data is DELETED:
        raise RuntimeError("Deleting tensor data is not allowed. Delete tensor instead!")
    if not isinstance(data, Tensor):
        raise TypeError(f"Variable data has to be a tensor, but got {type_name(data)}")
    if not call_operator("aten::_has_compatible_shallow_copy_type", **{"self": self, "from": data}):
        raise RuntimeError(
            "Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have "
            "incompatible tensor type."
        )
    if self.requires_grad and not data._is_differentiable():
        raise RuntimeError(
            "data set to a tensor that requires gradients must be floating point or complex dtype"
        )
    if data._dtype is not self._dtype or data._device != self._device:
        reset_grad_accumulator(self)
    for slot in ("sizes", "strides", "storage_offset", "storage", "dtype", "device", "layout"):
        setattr(self, f"_{slot}", getattr(data, f"_{slot}"))
    own = self._keys & PYTHON_KEYS  # which are the class's
    self._content, self._keys = data._content, data._keys & ~PYTHON_KEYS | own
    if self._functional is not None and data._functional is not None:
        self._functional.shallow_copy_from(data._functional)


PROPERTIES: Final[dict[str, property]] = {
    "grad": property(_get_grad, _set_grad),
    "_grad": property(_get_grad, _set_grad),
    "grad_dtype": property(_get_grad_dtype, _set_grad_dtype),
    "_has_grad_dtype_override": property(_has_grad_dtype_override),
    "grad_fn": property(_get_grad_fn),
    "_grad_fn": property(_get_grad_fn, _set_grad_fn),
    "is_leaf": property(_get_is_leaf),
    "requires_grad": property(vars(Tensor)["requires_grad"].fget, _set_requires_grad),
    "output_nr": property(output_nr),
    "retains_grad": property(_get_retains_grad),
    "_backward_hooks": property(_get_backward_hooks, _set_backward_hooks),
    "_post_accumulate_grad_hooks": property(
        _get_post_accumulate_grad_hooks, _set_post_accumulate_grad_hooks
    ),
    "data": property(vars(Tensor)["data"].fget, _set_data),
}
"""What tensors answer about autograd, as ``binding.python.properties`` takes it."""


# --- methods that torch writes in Python ----------------------------------------------------------


def backward(
    self: Any,
    gradient: Any = None,
    retain_graph: Any = None,
    create_graph: Any = False,
    inputs: Any = None,
) -> None:
    """Add to the gradients of the leaves that a tensor was computed from."""
    from mindtorch_v2 import autograd

    if has_torch_function((self,)):
        options = {"gradient": gradient, "retain_graph": retain_graph}
        options |= {"create_graph": create_graph, "inputs": inputs}
        handle_torch_function(_TENSOR.backward, (self,), self, **options)
        return
    autograd.backward(self, gradient, retain_graph, create_graph, inputs=inputs)


def register_hook(self: Any, hook: Any) -> Any:
    """Call ``hook(grad)`` when the gradient is known; what it answers replaces it."""
    if has_torch_function((self,)):
        return handle_torch_function(_TENSOR.register_hook, (self,), self, hook)
    if not self.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if self._backward_hooks is None:
        self._backward_hooks = OrderedDict()
        if self.grad_fn is not None:
            self.grad_fn._register_hook_dict(self)
    return RemovableHandle.added(self._backward_hooks, hook)


def register_post_accumulate_grad_hook(self: Any, hook: Any) -> Any:
    """Call ``hook(tensor)`` after a leaf's ``grad`` has changed."""
    if has_torch_function((self,)):
        method = _TENSOR.register_post_accumulate_grad_hook
        return handle_torch_function(method, (self,), self, hook)
    if not self.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if self.grad_fn is not None:
        raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
    if self._post_accumulate_grad_hooks is None:
        self._post_accumulate_grad_hooks = OrderedDict()
    return RemovableHandle.added(self._post_accumulate_grad_hooks, hook)


def bind() -> None:
    """Give tensors the methods of this module."""
    for method in (backward, register_hook, register_post_accumulate_grad_hook):
        method.__qualname__ = f"Tensor.{method.__name__}"
        method.__module__ = "mindtorch_v2._tensor"
        setattr(Tensor, method.__name__, method)
