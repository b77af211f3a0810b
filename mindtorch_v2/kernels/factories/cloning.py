"""Copies of a tensor: ``clone``, ``contiguous`` and ``_lazy_clone``.

Mirrors ``clone`` and ``contiguous`` in ``aten/src/ATen/native/TensorFactories.cpp`` and
``TensorProperties.cpp``, and ``_lazy_clone`` in ``AutogradComposite.cpp``.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2.binding.values import memory_format_of_value
from mindtorch_v2.dispatch import tls
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.tensor.copying import copy_values
from mindtorch_v2.tensor.dtype import MEMORY_FORMATS, memory_format, strided
from mindtorch_v2.tensor.factories import strides_in
from mindtorch_v2.tensor.geometry import dense_strides_like
from mindtorch_v2.tensor.tensor import Tensor

_CLONE: Final = OperatorHandle("aten::clone")
_COPY_: Final = OperatorHandle("aten::copy_")
_PRESERVE: Final = MEMORY_FORMATS["preserve_format"]


@kernel("aten::clone", keys=("Meta", "CompositeExplicitAutograd"))
def clone(self: Tensor, memory_format: int | None) -> Tensor:
    if self._layout is not strided:
        return self._fresh()
    wanted = _PRESERVE if memory_format is None else memory_format_of_value(memory_format)
    copy = new_tensor(self._sizes, self._dtype, self._device, _strides(self, wanted))
    if _is_seen_above(copy) or not _COPY_.operator.is_untouched(copy._keys):
        _COPY_(copy, self, False)
    else:
        copy_values(copy, self)
    return copy


def _is_seen_above(copy: Tensor) -> bool:
    """Whether autograd is to see the ``copy_`` that fills a new tensor, and counts it: its kernels
    have masked that, but an inference tensor has none and comes straight here."""
    return not copy._is_inference() and not tls.is_below_inplace_or_view()


def _strides(self: Tensor, wanted: memory_format) -> tuple[int, ...] | None:
    if wanted is _PRESERVE:
        return dense_strides_like(self._sizes, self._strides)
    return strides_in(self._sizes, wanted)


@kernel("aten::contiguous", key="CompositeImplicitAutograd")
def contiguous(self: Tensor, memory_format: int) -> Any:
    wanted = memory_format_of_value(memory_format)
    if self._is_contiguous(wanted):
        return self
    if wanted is _PRESERVE:
        raise RuntimeError("preserve memory format is unsupported by the contiguous operator")
    return _CLONE(self, memory_format=wanted)


@kernel("aten::_lazy_clone", key="CompositeExplicitAutograd")
def lazy_clone(self: Any) -> Tensor:
    """A tensor that lies in a copy of the whole storage as this one does in its own.

    In torch both share their bytes until one of them is written to; here they are copied at once,
    which nobody can tell who does not ask for addresses.
    """
    return Tensor._make(
        self._sizes,
        self._dtype,
        self._layout,
        self._device,
        storage=self.untyped_storage().clone(),
        strides=self._strides,
        offset=self._storage_offset,
    )
