"""What a pickle and a shallow copy of a tensor are made of.

Mirrors ``__reduce_ex__``, ``__setstate__`` and ``_rebuild_from_type_v2`` of ``torch/_tensor.py``.
A tensor tells its storage, which a copy shares and a pickle writes down: each tensor of a pickle
has a storage of its own when it comes back, as in torch, where only ``torch.save`` keeps it shared.
What :mod:`mindtorch_v2._utils` does not make again is left out.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Final

from mindtorch_v2 import _utils, profile
from mindtorch_v2.overrides import handle_torch_function, has_torch_function
from mindtorch_v2.tensor.dtype import DTYPES
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.tensor.typed_storage import TypedStorage
from mindtorch_v2.tensor.zeros import is_zero_tensor
from mindtorch_v2.utils.hooks import warn_if_has_hooks

_UNTYPED: Final = tuple(
    DTYPES[name] for name in profile.active().values["new_storage_dtypes"] if name in DTYPES
)
"""``_new_dtypes``: dtypes that are told beside a storage that has none."""


def reduce_ex(self: Any, proto: Any) -> Any:
    """``Tensor.__reduce_ex__``: a function and the arguments with which it makes the tensor."""
    state = _utils._get_obj_state(self)
    is_plain: bool = type(self) is Tensor  # which tells mypy nothing of its methods
    if is_plain and not state:
        return self._reduce_ex_internal(proto)
    if has_torch_function((self,)):
        tensor: Any = Tensor
        return handle_torch_function(tensor.__reduce_ex__, (self,), self, proto)
    function, args = self._reduce_ex_internal(proto)
    return _rebuild_from_type_v2, (function, type(self), args, state)


def reduce_ex_internal(self: Any, proto: Any) -> Any:
    if is_zero_tensor(self):
        raise RuntimeError("ZeroTensor is not serializable, please file an issue if required.")
    warn_if_has_hooks(self)
    if self.is_meta:
        facts = (self.dtype, tuple(self.size()), self.stride(), self.requires_grad)
        return _utils._rebuild_meta_tensor_no_storage, facts
    if self.is_sparse:
        parts = (self._indices(), self._values(), self.size(), self.is_coalesced())
        return _utils._rebuild_sparse_tensor, (self.layout, parts)
    geometry = (tuple(self.size()), self.stride())
    if _is_wrapper(self):
        rest = (self.storage_offset(), self.layout, self.device, self.requires_grad)
        return _utils._rebuild_wrapper_subclass, (type(self), self.dtype, *geometry, *rest)
    is_untyped = self.dtype in _UNTYPED
    storage = self.untyped_storage()
    args: tuple[Any, ...] = (
        storage if is_untyped else TypedStorage._of(storage, self.dtype),
        self.storage_offset(),
        *geometry,
        self.requires_grad,
        OrderedDict(),  # hooks are not serialized
    )
    if is_untyped:
        args = (*args, self.dtype)
    metadata = _utils.get_tensor_metadata(self)
    if metadata:
        args = (*args, metadata)
    return (_utils._rebuild_tensor_v3 if is_untyped else _utils._rebuild_tensor_v2), args


def _is_wrapper(self: Any) -> bool:
    """Whether it is of a subclass that keeps its elements elsewhere."""
    is_plain = type(self) is Tensor or type(self).__torch_dispatch__ is Tensor.__torch_dispatch__  # type: ignore[attr-defined]
    return not is_plain and self.data_ptr() == 0


def _rebuild_from_type_v2(func: Any, new_type: Any, args: Any, state: Any) -> Any:
    tensor: Any = Tensor
    made = func(*args)
    if type(made) is not new_type:
        made = made.as_subclass(new_type)
    if type(made).__setstate__ is not tensor.__setstate__:
        made.__setstate__(state)
        return made
    return _utils._set_obj_state(made, state)


def setstate(self: Any, state: Any) -> None:
    """``Tensor.__setstate__``: of pickles that older releases have written."""
    if has_torch_function((self,)):
        tensor: Any = Tensor
        handle_torch_function(tensor.__setstate__, (self,), self, state)
        return
    if not self.is_leaf:
        raise RuntimeError("__setstate__ can be only called on leaf Tensors")
    if len(state) == 4:
        self.set_(*state)
        return
    if len(state) == 5:
        self.data = state[0]
        state = (state[3], state[4], state[2])
    self.requires_grad, _, self._backward_hooks = state


_METHODS: Final[tuple[tuple[type, str, Any], ...]] = (
    (Tensor, "__reduce_ex__", reduce_ex),
    (Tensor, "__setstate__", setstate),
    (Tensor, "_reduce_ex_internal", reduce_ex_internal),
)


def bind() -> None:
    """Give tensors these methods."""
    for cls, name, function in _METHODS:
        function.__name__, function.__qualname__ = name, f"{cls.__name__}.{name}"
        setattr(cls, name, function)
