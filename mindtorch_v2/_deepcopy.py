"""Deep copies of tensors: a leaf with its gradient, over a copy of its storage.

Mirrors ``Tensor.__deepcopy__`` of ``torch/_tensor.py``, for tensors that have a storage or can be
cloned; quantized ones are left out.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any, Final

from mindtorch_v2.autograd.grad_mode import no_grad
from mindtorch_v2.tensor.tensor import Tensor

_CLONED: Final = ("lazy", "xla", "mtia", "mps", "maia", "meta", "ipu")
"""Types of devices whose storages are not copied."""


def deep_copied(self: Any, memo: dict[Any, Any]) -> Any:
    """The copy that ``memo`` has, or a new one; RuntimeError for what is no leaf.

    Tensors that share a storage are copied to tensors that share its copy.
    """
    if not self.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
            "protocol at the moment.  If you were attempting to deepcopy a module, this may be "
            "because of a torch.nn.utils.weight_norm usage, see "
            "https://github.com/pytorch/pytorch/pull/103001"
        )
    if id(self) in memo:
        return memo[id(self)]
    with no_grad():
        copy = _elements(self, memo)
        if self.requires_grad:
            copy.requires_grad_()
        if self.grad is not None:
            copy.grad = self.grad.__deepcopy__(memo)
        copy.__dict__ = deepcopy(self.__dict__, memo)
    memo[id(self)] = copy
    return copy


def _elements(self: Any, memo: dict[Any, Any]) -> Any:
    has_no_memory = type(self) is not Tensor and self.data_ptr() == 0
    if self.is_sparse or self.device.type in _CLONED or has_no_memory:
        return _of_class(self, self.clone(), _NO_CLONE)
    storage = deepcopy(self.untyped_storage(), memo)
    copy = _of_class(self, self.new_empty([]), _NO_NEW_EMPTY)
    copy.set_(storage, self.storage_offset(), self.size(), self.stride())
    if self.is_conj():
        copy = copy.conj().resolve_conj()
    return copy.neg() if self.is_neg() else copy


def _of_class(self: Any, copy: Any, refusal: str) -> Any:
    if type(copy) is not type(self):
        raise RuntimeError(refusal)
    return copy


_NO_CLONE: Final = (
    "The default implementation of __deepcopy__() for wrapper subclasses only works for subclass "
    "types that implement clone() and for which cloning returns another instance of the same "
    "subclass. You should either properly implement clone() for your subclass or override "
    "__deepcopy__() if it is intended behavior for clone() to return an instance of a different "
    "type."
)
_NO_NEW_EMPTY: Final = (
    "The default implementation of __deepcopy__() for non-wrapper subclasses only works for "
    "subclass types that implement new_empty() and for which that function returns another "
    "instance of the same subclass. You should either properly implement new_empty() for your "
    "subclass or override __deepcopy__() if it is intended behavior for new_empty() to return an "
    "instance of a different type."
)
