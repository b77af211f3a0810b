"""Tensors that nodes keep for backward, and what must not happen to them until then.

Mirrors ``torch/csrc/autograd/saved_variable.cpp``.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from mindtorch_v2 import profile
from mindtorch_v2.autograd import anomaly
from mindtorch_v2.autograd.node import Node
from mindtorch_v2.autograd.variable import (
    grad_accumulator,
    grad_fn,
    output_nr,
    set_grad_accumulator,
    set_gradient_edge,
    tensor_data,
    variable_data,
)
from mindtorch_v2.binding.python.type_names import type_name
from mindtorch_v2.dispatch import tls
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.tensor.pending import AWAY
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.tensor.type_string import type_string
from mindtorch_v2.thread_state import ThreadLocal, carried
from mindtorch_v2.warn import call_in_python

_WORDS: Final = profile.active().autograd["words"]
_DETACH: Final = OperatorHandle("aten::detach")

ERR_BACKWARD_TWICE: Final = (
    "Trying to backward through the graph a second time (or directly access saved tensors after "
    "they have already been freed). Saved intermediate values of the graph are freed when you "
    "call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward "
    "through the graph a second time or if you need to access saved tensors after calling "
    "backward."
)


class SavedTensorHooks(NamedTuple):
    """What a tensor becomes when it is saved, and how it comes back."""

    pack: Callable[[Any], Any]
    unpack: Callable[[Any], Any]


class _Defaults(ThreadLocal):
    def __init__(self) -> None:
        self.hooks: list[SavedTensorHooks] = []
        self.disabled: str | None = None


defaults: Final = carried(_Defaults())
"""The hooks that are in force (``torch.autograd.graph.saved_tensors_hooks``)."""


class SavedVariable:
    """A tensor, or None; of a result without its node, which would keep itself alive."""

    __slots__ = (
        "_accumulator",
        "_data",
        "_grad_fn",
        "_hooks",
        "_is_leaf",
        "_is_output",
        "_original",
        "_output_nr",
        "_packed",
        "_requires_grad",
        "_was_none",
        "_weak_grad_fn",
        "version",
    )
    _data: Tensor | None
    _hooks: SavedTensorHooks | None
    _weak_grad_fn: weakref.ReferenceType[Node] | None
    _accumulator: weakref.ReferenceType[Node] | None
    _packed: Any
    _grad_fn: Any

    def __init__(
        self, tensor: Tensor | None, is_output: bool, is_inplace_on_view: bool = False
    ) -> None:
        self._data = self._hooks = self._weak_grad_fn = self._accumulator = None
        self._packed = self._grad_fn = None
        self._requires_grad = self._original = False
        self._was_none = tensor is None
        if tensor is None:
            return
        if tensor._is_inference():
            raise RuntimeError(_WORDS["inference_saved"])
        versions, meta = tensor._raw_versions, tensor._raw_autograd
        is_uncounted = versions is AWAY and tensor._pending is None
        self.version = 0 if is_uncounted else tensor._versions.current
        self._is_leaf = meta is None or tensor._is_leaf()
        self._is_output = is_output
        if not (is_output or is_inplace_on_view or defaults.hooks):
            self._original, self._data, self._output_nr = True, tensor, 0
            return
        self._output_nr = output_nr(tensor)
        if is_inplace_on_view:
            self._weak_grad_fn = weakref.ref(grad_fn(tensor))
        if defaults.hooks:
            self._save_metadata(tensor)
            self._pack(defaults.hooks[-1], tensor)
        elif not is_output or self._is_leaf:
            self._original, self._data, self._output_nr = True, tensor, 0
        else:
            self._save_metadata(tensor)
            self._data = tensor_data(tensor)

    def _save_metadata(self, tensor: Tensor) -> None:
        self._output_nr = output_nr(tensor)
        if self._is_leaf:
            self._requires_grad = tensor._requires_grad()
            accumulator = grad_accumulator(tensor)
            self._accumulator = None if accumulator is None else weakref.ref(accumulator)
        elif not self._is_output:
            self._grad_fn = grad_fn(tensor)

    def _pack(self, hooks: SavedTensorHooks, tensor: Tensor) -> None:
        self._hooks = hooks
        with tls.guarded(tls.AutoGradMode, False):
            version = tensor._versions.current
            given = _DETACH(tensor) if self._original else tensor
            self._packed = call_in_python(hooks.pack, (given,))
            if tensor._versions.current != version:
                raise RuntimeError(_WORDS["changed_by_pack_hook"])

    def register_hooks(self, hooks: SavedTensorHooks) -> None:
        """RuntimeError if it has hooks, is freed, or None."""
        if self._hooks is not None:
            raise RuntimeError(
                "Calling register_hooks on a saved tensor whose hooks have already been set. "
                "Hint: only one pair of hooks is allowed at a time."
            )
        if self._was_none:
            raise RuntimeError(
                "Calling register_hooks on a saved tensor with value None is forbidden"
            )
        if self._data is None:
            raise RuntimeError(
                "Calling register_hooks on a saved tensor after it has been freed. Saved "
                "intermediate values of the graph are freed when you call .backward() or "
                "autograd.grad(). Specify retain_graph=True if you need to backward through the "
                "graph a second time or if you need to access saved variables after calling "
                "backward."
            )
        if self._original:
            self._save_metadata(self._data)
        self._pack(hooks, self._data)
        self._data = None

    @property
    def data(self) -> Any:
        """What is kept: the tensor, without its history if it is a result; what a hook made of it;
        or None where there is nothing (any more)."""
        return self._data if self._hooks is None else self._packed

    @property
    def unpack_hook(self) -> Callable[[Any], Any] | None:
        """The hook that brings back what another has packed, if there are hooks."""
        return None if self._hooks is None else self._hooks.unpack

    def reset(self) -> None:
        self._hooks = self._grad_fn = self._data = self._packed = None

    def unpack(self, saved_for: Node | None = None) -> Tensor | None:
        """The tensor with its history; RuntimeError if it was freed or has been changed."""
        if self._was_none:
            return None
        if self._data is None and self._hooks is None:
            raise RuntimeError(ERR_BACKWARD_TWICE)
        node = self._node()
        if not self._is_leaf and node is None:
            if saved_for is None:
                raise RuntimeError(
                    "Trying to use a saved tensor that has been detached in-place, i.e. with "
                    ".detach_().This is not supported, please use out-of-place `.detach()` instead"
                )
            node = saved_for
        if self._hooks is None:
            assert self._data is not None
            self._check_version(self._data, node)
            if self._original:
                return self._data
        data = self._data if self._hooks is None else self._unpacked(self._hooks)
        assert data is not None
        if node is None and not self._requires_grad and not data._requires_grad():
            return data
        found = variable_data(data)
        if node is not None:
            set_gradient_edge(found, (node, self._output_nr))
        else:
            found._set_requires_grad(self._requires_grad)
            set_grad_accumulator(found, self._accumulator)
        found._versions = data._versions
        return found

    def _node(self) -> Any:
        if self._weak_grad_fn is not None:
            return self._weak_grad_fn()
        if self._hooks is not None:
            return self._grad_fn
        return grad_fn(self._data) if self._original and self._data is not None else None

    def _unpacked(self, hooks: SavedTensorHooks) -> Tensor:
        found = call_in_python(hooks.unpack, (self._packed,))
        if not isinstance(found, Tensor):
            raise TypeError(
                "Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
                f"{type_name(found)}"
            )
        return found

    def _check_version(self, data: Tensor, node: Any) -> None:
        current = data._versions.current
        if current == self.version:
            return
        computed = ""
        if node is not None:
            computed = f", which is output {self._output_nr} of {node._shown_name()},"
        hint = (
            "the backtrace further above shows the operation that failed to compute its "
            "gradient. The variable in question was changed in there or anywhere later. Good luck!"
            if anomaly.is_anomaly_enabled()
            else "enable anomaly detection to find the operation that failed to compute its "
            f"gradient, with {_WORDS['anomaly_advice']}."
        )
        raise RuntimeError(
            "one of the variables needed for gradient computation has been modified by an inplace "
            f"operation: [{type_string(data)} {list(data._sizes)}]{computed} is at version "
            f"{current}; expected version {self.version} instead. Hint: {hint}"
        )
