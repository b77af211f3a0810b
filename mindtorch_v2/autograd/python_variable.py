"""What tensors answer Python about autograd: ``grad``, ``grad_fn``, hooks, ``backward`` …

Mirrors the properties of ``torch/csrc/autograd/python_variable.cpp`` and the methods of
``torch/_tensor.py`` that go to autograd.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Final

from mindtorch_v2 import profile
from mindtorch_v2.autograd import at
from mindtorch_v2.autograd.hooks import RemovableHandle
from mindtorch_v2.autograd.node import TensorPreHook
from mindtorch_v2.autograd.variable import grad_fn, output_nr, reset_grad_accumulator
from mindtorch_v2.binding.python.legacy import TYPE_META_NAMES
from mindtorch_v2.binding.python.type_names import type_name
from mindtorch_v2.dispatch import native, tls
from mindtorch_v2.overrides import handle_torch_function, has_torch_function
from mindtorch_v2.tensor.autograd_meta import UNRECORDED
from mindtorch_v2.tensor.base import TensorBase
from mindtorch_v2.tensor.dtype import DType, sparse_coo
from mindtorch_v2.tensor.support import CPP_NAMES
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.warn import warn_once

_PROPERTIES: Final = profile.active().signatures["names"]["torch._C.TensorBase"]
_TENSOR: Final[Any] = Tensor


def _cpp_dtype(tensor: Tensor) -> str:
    """``caffe2::TypeMeta`` as messages show it."""
    return TYPE_META_NAMES[repr(tensor._dtype)]


# --- properties ---------------------------------------------------------------------------------


def _get_grad(self: Tensor) -> Tensor | None:
    meta = self._autograd
    found = None if meta is None else meta.grad
    retains = meta is not None and meta.retains_grad
    if found is None and not self._is_leaf() and not retains:
        warn_once(
            "Tensor.grad",
            "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its "
            ".grad attribute won't be populated during autograd.backward(). If you indeed want "
            "the .grad field to be populated for a non-leaf Tensor, use .retain_grad() on the "
            "non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure you access "
            "the leaf Tensor instead. See github.com/pytorch/pytorch/pull/30531 for more "
            "informations.",
        )
    return found


def _set_grad(self: Tensor, grad: Any) -> None:
    if grad is None:
        if self._autograd is not None:
            self._autograd.grad = None
        return
    if not isinstance(grad, Tensor):
        raise TypeError(
            f"assigned grad expected to be a Tensor or None but got grad of type {type_name(grad)}"
        )
    if grad is self:
        raise RuntimeError("can't assign Variable as its own grad")
    _check_grad(self, grad)
    self._materialize_autograd_meta().grad = grad


def _check_grad(self: Tensor, grad: Tensor) -> None:
    if "grad_dtype" in _PROPERTIES:
        _check_grad_dtype(self, grad)
    elif grad._dtype is not self._dtype:
        raise RuntimeError(
            f"attempting to assign a gradient with dtype '{_cpp_dtype(grad)}' to a tensor with "
            f"dtype '{_cpp_dtype(self)}'. Please ensure that the gradient and the tensor have the "
            "same dtype"
        )
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
    if tuple(grad._sizes) != tuple(self._sizes):
        raise RuntimeError(
            f"attempting to assign a gradient of size '{list(grad._sizes)}' to a tensor of size "
            f"'{list(self._sizes)}'. Please ensure that the gradient and the tensor are the same "
            "size"
        )


def _check_grad_dtype(self: Tensor, grad: Tensor) -> None:
    """Of releases that let a gradient have a dtype of its own."""
    wanted = _grad_dtype(self)
    if wanted is not None and grad._dtype is not wanted:
        shown = CPP_NAMES[wanted]
        raise RuntimeError(
            f"attempting to assign a gradient with dtype '{_cpp_dtype(grad)}' to a tensor with "
            f"grad_dtype '{shown}'. The gradient must match the tensor's grad_dtype (defaults to "
            "the tensor's dtype). You can set the tensor's grad_dtype attribute with a specific "
            "dtype, or None to allow any dtype. Set grad_dtype with caution. Diverging the dtypes "
            "of a tensor and its gradient may break downstream systems that assume they match."
        )


def _del_grad(self: Tensor) -> None:
    _set_grad(self, None)


def _grad_dtype(self: Tensor) -> Any:
    meta = self._autograd
    return self._dtype if meta is None or meta.grad_dtype is ... else meta.grad_dtype


def _get_grad_dtype(self: Tensor) -> Any:
    if not self._is_leaf():
        raise RuntimeError("grad_dtype can only be accessed on leaf tensors.")
    return _grad_dtype(self)


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
    return grad_fn(self)


def _set_grad_fn(self: Any, value: Any) -> None:
    if value is not None:
        raise RuntimeError("_grad_fn can be only set to None")
    self.detach_()


def _get_is_leaf(self: Tensor) -> bool:
    return grad_fn(self) is None


def _get_requires_grad(self: Tensor) -> bool:
    return self._autograd is not None and _flag.__get__(self)


_flag: Final[Any] = vars(Tensor)["requires_grad"]


def requires_grad_leaf_error(requires_grad: bool) -> RuntimeError:
    message = "you can only change requires_grad flags of leaf variables."
    if not requires_grad:
        message += (
            " If you want to use a computed variable in a subgraph that doesn't require "
            "differentiation use var_no_grad = var.detach()."
        )
    return RuntimeError(message)


def check_not_inference(tensor: Tensor, requires_grad: bool) -> None:
    if requires_grad and tensor._is_inference() and not tls.is_inference_mode_enabled():
        raise RuntimeError(
            "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed."
        )


def _set_requires_grad(self: Tensor, requires_grad: Any) -> None:
    if not isinstance(requires_grad, bool):
        raise RuntimeError("requires_grad must be a bool")
    if not self._is_leaf():
        raise requires_grad_leaf_error(requires_grad)
    if requires_grad and not self._is_differentiable():
        raise RuntimeError("only Tensors of floating point and complex dtype can require gradients")
    check_not_inference(self, requires_grad)
    self._set_requires_grad(requires_grad)


def _get_backward_hooks(self: Tensor) -> Any:
    return None if self._autograd is None else self._autograd.backward_hooks


def _set_backward_hooks(self: Tensor, hooks: Any) -> None:
    meta = self._materialize_autograd_meta()
    meta.backward_hooks = hooks
    meta.hooks = [] if hooks is None else [TensorPreHook(hooks, 0)]


def _get_post_accumulate_grad_hooks(self: Tensor) -> Any:
    return None if self._autograd is None else self._autograd.post_accumulate_grad_hooks


def _set_post_accumulate_grad_hooks(self: Tensor, hooks: Any) -> None:
    self._materialize_autograd_meta().post_accumulate_grad_hooks = hooks


def _get_retains_grad(self: Tensor) -> bool:
    return self._autograd is not None and self._autograd.retains_grad


def _get_data(self: Tensor) -> Tensor:
    twin: Tensor = _data.__get__(self)
    return twin


_data: Final[Any] = vars(Tensor)["data"]


def _set_data(self: Tensor, data: Any) -> None:
    """Have the elements and the geometry of another tensor; history and version stay."""
    if not isinstance(data, Tensor):
        raise TypeError(f"Variable data has to be a tensor, but got {type_name(data)}")
    if self._layout is not data._layout:
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
    self._content, self._keys = data._content, data._keys


def _operator(name: str, written: str) -> Callable[[Any], Any]:
    """A property that calls an operator; until that has a kernel, what was written by hand."""
    by_hand: Any = vars(Tensor).get(written)

    def get(self: Any) -> Any:
        if by_hand is None or native.has_kernel(f"aten::{name}"):
            return at.call(name, self)
        return by_hand.__get__(self)

    return get


def _checked(getter: Callable[..., Any]) -> Callable[[Any], Any]:
    """A getter that does not show the mark of what nobody has recorded."""

    def get(self: Any) -> Any:
        found = getter(self)
        return None if found is UNRECORDED else found

    return get


PROPERTIES: Final[dict[str, property]] = {
    "grad": property(_get_grad, _set_grad, _del_grad),
    "_grad": property(_get_grad, _set_grad, _del_grad),
    "grad_dtype": property(_get_grad_dtype, _set_grad_dtype),
    "grad_fn": property(_checked(_get_grad_fn)),
    "_grad_fn": property(_checked(_get_grad_fn), _set_grad_fn),
    "is_leaf": property(_get_is_leaf),
    "requires_grad": property(_get_requires_grad, _set_requires_grad),
    "output_nr": property(output_nr),
    "retains_grad": property(_get_retains_grad),
    "_backward_hooks": property(_get_backward_hooks, _set_backward_hooks),
    "_post_accumulate_grad_hooks": property(
        _get_post_accumulate_grad_hooks, _set_post_accumulate_grad_hooks
    ),
    "data": property(_get_data, _set_data),
    "T": property(_operator("numpy_T", "T")),
    "mT": property(_operator("mT", "mT")),
    "H": property(_operator("matrix_H", "H")),
    "mH": property(_operator("mH", "mH")),
    "real": property(_operator("real", "real")),
    "imag": property(_operator("imag", "imag")),
}


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
    """Give tensors these properties and methods; those that the release has."""
    for name, prop in PROPERTIES.items():
        if name in _PROPERTIES:
            if name in vars(Tensor):
                delattr(Tensor, name)
            setattr(TensorBase, name, prop)
    for method in (backward, register_hook, register_post_accumulate_grad_hook):
        method.__qualname__ = f"Tensor.{method.__name__}"
        method.__module__ = "mindtorch_v2._tensor"
        setattr(Tensor, method.__name__, method)
