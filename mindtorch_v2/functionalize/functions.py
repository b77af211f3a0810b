"""What Python is offered about functional tensors: ``torch._to_functional_tensor`` and its like.

Mirrors the definitions at the end of ``torch/csrc/autograd/python_torch_functions_manual.cpp`` and
the ones about functionalization in ``torch/csrc/functorch/init.cpp``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from mindtorch_v2 import profile
from mindtorch_v2.autograd.basic_ops import Error
from mindtorch_v2.autograd.variable import set_history
from mindtorch_v2.dispatch import tls
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.functionalize import layers
from mindtorch_v2.functionalize.facts import ASSERTS, REFUSALS
from mindtorch_v2.functionalize.reapply_views import (
    get_reapply_views,
    reapply_views,
    set_reapply_views,
)
from mindtorch_v2.functionalize.wrapper import (
    FunctionalTensorWrapper,
    from_functional_tensor,
    is_functional,
    to_functional_tensor,
    wrapper_of,
)
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.views.setting import check_set_storage
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.plain import forget
from mindtorch_v2.tensor.tensor import Tensor

_SETS_STORAGES_OF_ANOTHER_DEVICE: Final[bool] = profile.active().modes["aliasing"][
    "sets_storages_of_another_device"
]
_AS_STRIDED_: Final = OperatorHandle("aten::as_strided_")
_COPY_: Final = OperatorHandle("aten::copy_")
_RESIZE_: Final = OperatorHandle("aten::resize_")

Function = Callable[..., Any]


def _wrapper(name: str, tensor: Tensor) -> FunctionalTensorWrapper:
    """RuntimeError for a plain tensor, in the words of the function."""
    if not is_functional(tensor):
        raise RuntimeError(REFUSALS[name])
    return wrapper_of(tensor)


def _of_wrapper(name: str, function: Callable[..., Any]) -> Function:
    """A function about a functional tensor, given what that wraps."""

    def call(tensor: Tensor, *rest: Any) -> Any:
        return function(_wrapper(name, tensor), *rest)

    return call


# --- of torch -------------------------------------------------------------------------------------


def _replace(tensor: Tensor, value: Tensor) -> None:
    _wrapper("_functionalize_replace", tensor).replace(value)


def unsafe_set(dst: Tensor, src: Tensor) -> None:
    """Have ``dst`` share the storage of ``src``, and ask neither whether it is large enough.

    RuntimeError where one of them has none, or in some releases if they are on two devices.
    """
    storage = src._untyped_storage()
    if _SETS_STORAGES_OF_ANOTHER_DEVICE and dst._untyped_storage() is not None:
        dst._storage = storage
    else:
        check_set_storage(dst, storage, dst._storage_offset)
    forget(dst)


def mirror_autograd_meta_to(src: Tensor, dst: Tensor) -> None:
    """Have ``dst`` say of itself what ``src`` says: whether it requires grad, and is a leaf."""
    if src._autograd is None:
        return
    dst._set_requires_grad(src._requires_grad())
    if dst._requires_grad():
        message = "Cannot backprop through mirrored meta, file a bug in PyTorch"
        set_history((dst,), Error(message))


def enable_functionalization(reapply_views: bool = False) -> None:
    """From now on operators without tensors make functional ones; RuntimeError if they do."""
    if tls.is_dispatch_key_included(DispatchKey.Functionalize):
        raise RuntimeError(ASSERTS["enabled twice"])
    tls.set_dispatch_key_included(DispatchKey.Functionalize, True)
    if reapply_views:
        set_reapply_views(True)


def disable_functionalization() -> None:
    tls.set_dispatch_key_included(DispatchKey.Functionalize, False)
    set_reapply_views(False)


def _hide_mutation(wrapper: FunctionalTensorWrapper) -> None:
    wrapper.storage.hidden_from_autograd += 1


def _storage_size(wrapper: FunctionalTensorWrapper, before: bool) -> int:
    return wrapper.storage.original_size


_OF_WRAPPERS: Final[Mapping[str, Callable[..., Any]]] = {
    "_freeze_functional_tensor": lambda wrapper: wrapper.storage.freeze(),
    "_functionalize_apply_view_metas": FunctionalTensorWrapper.apply_view_metas,
    "_functionalize_are_all_mutations_hidden_from_autograd": (
        lambda wrapper: wrapper.storage.are_all_mutations_hidden_from_autograd()
    ),
    "_functionalize_are_all_mutations_under_no_grad_or_inference_mode": (
        lambda wrapper: wrapper.storage.are_all_mutations_under_no_grad()
    ),
    "_functionalize_commit_update": FunctionalTensorWrapper.commit_update,
    "_functionalize_get_storage_size": _storage_size,
    "_functionalize_has_data_mutation": lambda wrapper: wrapper.storage.generation > 0,
    "_functionalize_has_metadata_mutation": lambda wrapper: wrapper.has_metadata_mutation,
    "_functionalize_inductor_storage_resized_counter": (
        lambda wrapper: bool(wrapper.storage.inductor_storage_resized_counter)
    ),
    "_functionalize_is_multi_output_view": lambda wrapper: wrapper.is_multi_output_view,
    "_functionalize_is_symbolic": lambda wrapper: False,
    "_functionalize_mark_mutation_hidden_from_autograd": _hide_mutation,
    "_functionalize_mark_storage_changed": FunctionalTensorWrapper.mark_storage_changed,
    "_functionalize_mutation_counter": lambda wrapper: wrapper.storage.mutation_counter,
    "_functionalize_storage_changed_counter": lambda wrapper: wrapper.storage_changed_counter,
    "_functionalize_sync": FunctionalTensorWrapper.sync,
    "_functionalize_was_inductor_storage_resized": (
        lambda wrapper: bool(wrapper.storage.inductor_storage_resized_counter)
    ),
    "_functionalize_was_storage_changed": lambda wrapper: wrapper.was_storage_changed,
    "_is_functional_tensor_base": lambda wrapper: not wrapper.view_metas,
}

OF_TORCH: Final[Mapping[str, Function]] = {
    **{name: _of_wrapper(name, function) for name, function in _OF_WRAPPERS.items()},
    "_disable_functionalization": disable_functionalization,
    "_enable_functionalization": enable_functionalization,
    "_from_functional_tensor": from_functional_tensor,
    "_functionalize_enable_reapply_views": set_reapply_views,
    "_functionalize_replace": _replace,
    "_functionalize_unsafe_set": unsafe_set,
    "_is_functional_tensor": is_functional,
    "_mirror_autograd_meta_to": mirror_autograd_meta_to,
    "_to_functional_tensor": to_functional_tensor,
}
"""By name, those that a release may have in ``torch``."""

OF_C: Final[Mapping[str, Function]] = {"_functionalization_reapply_views_tls": get_reapply_views}
"""Those of ``torch._C``."""


# --- of functorch ---------------------------------------------------------------------------------


def wrap_functional_tensor(tensor: Tensor, level: int) -> Tensor:
    """An argument of a function that is transformed."""
    wrapped: Tensor = to_functional_tensor(tensor)
    wrapper_of(wrapped).level = level
    return wrapped


def assert_wrapped_functional(unwrapped: Tensor, wrapped: Tensor) -> None:
    """RuntimeError unless one tensor is the value of the other."""
    value = _wrapper("_assert_wrapped_functional", wrapped).value
    if is_functional(unwrapped):
        raise RuntimeError(ASSERTS["unwrapped is functional"])
    if value is not unwrapped:
        raise RuntimeError(ASSERTS["wrapped another"])


def unwrap_functional_tensor(tensor: Tensor, add_back_views: bool) -> Tensor:
    """A result of a function that was transformed, with every change that is queued."""
    wrapper = _wrapper("_unwrap_functional_tensor", tensor)
    with reapply_views(add_back_views):
        if wrapper.storage.apply_updates():
            wrapper.regenerate_from_base()
    return wrapper.value


def propagate_functional_input_mutation(unwrapped: Tensor, wrapped: Tensor) -> None:
    """Bring to an argument what a function that was transformed has done to it."""
    wrapper = _wrapper("_propagate_functional_input_mutation", wrapped)
    if is_functional(unwrapped):
        raise RuntimeError(ASSERTS["input is functional"])
    wrapper.sync()
    value = wrapper.value
    if value is unwrapped:
        return
    if _nbytes(unwrapped) != _nbytes(value):
        _RESIZE_(unwrapped, value._sizes)
    if tuple(unwrapped._sizes) != tuple(value._sizes):
        _AS_STRIDED_(unwrapped, value._sizes, value._strides)
    _COPY_(unwrapped, value)


def _nbytes(tensor: Tensor) -> int:
    return numel(tensor._sizes) * tensor._dtype.itemsize


def get_unwrapped(tensor: Tensor) -> Tensor:
    """The value of a functional tensor; RuntimeError for another."""
    if not is_functional(tensor):
        raise RuntimeError("No wrappers present!")
    return wrapper_of(tensor).value


def maybe_get_level(tensor: Tensor) -> int:
    """Of a functional tensor, which transform has made it; else -1."""
    return wrapper_of(tensor).level if is_functional(tensor) else -1


OF_FUNCTORCH: Final[Mapping[str, Function]] = {
    "_assert_wrapped_functional": assert_wrapped_functional,
    "_func_decrement_nesting": layers.pop_functionalize,
    "_func_increment_nesting": layers.push_functionalize,
    "_propagate_functional_input_mutation": propagate_functional_input_mutation,
    "_unwrap_functional_tensor": unwrap_functional_tensor,
    "_wrap_functional_tensor": wrap_functional_tensor,
    "current_level": layers.current_level,
    "get_unwrapped": get_unwrapped,
    "is_functionaltensor": is_functional,
    "is_functorch_wrapped_tensor": lambda tensor: maybe_get_level(tensor) != -1,
    "maybe_current_level": layers.maybe_current_level,
    "maybe_get_level": maybe_get_level,
}
"""Those of ``torch._C._functorch``."""
