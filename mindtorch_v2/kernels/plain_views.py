"""Plain calls of view operators: parts of dense tensors of the CPU, where they lay before.

Where a view lies in its base's memory follows from the base's sizes and strides and from the
operator's arguments.  So a call that has been made before with the same needs no computation and no
checks: the short way knows the geometry, and makes what autograd calls a view.
Of tensors that are more than dense, or elsewhere, it makes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from mindtorch_v2.autograd.variable import as_view
from mindtorch_v2.binding.unboxed import UNUSUAL, Run
from mindtorch_v2.dispatch import tls
from mindtorch_v2.dispatch.dispatcher import DISPATCHER
from mindtorch_v2.dispatch.keyset import BELOW_INPLACE_OR_VIEW
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.inplace_or_view import creation_meta
from mindtorch_v2.kernels.short_way import ShortWay
from mindtorch_v2.tensor.autograd_meta import AutogradMeta, ViewInfo
from mindtorch_v2.tensor.pending import AWAY
from mindtorch_v2.tensor.plain import KEYS
from mindtorch_v2.tensor.size import Size
from mindtorch_v2.tensor.tensor import Tensor

Kernel = TypeVar("Kernel", bound=Callable[..., Tensor])

_MOST_GEOMETRIES: Final = 1000
_new: Final = object.__new__
_new_tuple: Final = tuple.__new__

Geometry = tuple[Size, tuple[int, ...], int]
"""Sizes, strides, and how far behind the base's first element the view's is."""


class _Geometries(dict[Any, Geometry]):
    """By a base's sizes and strides and the arguments, of one operator's ``kernel``."""

    def __init__(self, kernel: Callable[..., Tensor]) -> None:
        self._kernel = kernel
        kinds = [str(kind) for name, kind in kernel.__annotations__.items() if name != "return"]
        self.takes_list = kinds[1:2] == ["Sequence[int]"]

    def learn(self, key: Any, base: Tensor, args: tuple[Any, ...]) -> Geometry:
        """That of a further view, which is known from now on."""
        view: Tensor = tls.call_excluding(BELOW_INPLACE_OR_VIEW, self._kernel, base, *args)
        found = view._sizes, view._strides, view._storage_offset - base._storage_offset
        if len(self) < _MOST_GEOMETRIES:
            self[base._sizes, base._strides, key] = found
        return found


class _Own(dict[int, bool]):
    """Empty while an operator that a view's kernel calls may end at somebody else's kernel: every
    registration for one of them empties it."""

    def __init__(self, operators: Sequence[OperatorHandle]) -> None:
        self._operators = operators
        if not operators:
            self[KEYS] = True

    def look(self) -> bool:
        """Whether none of them does so now."""
        version = DISPATCHER.version
        operators = [each.operator for each in self._operators]
        found = all(each.is_untouched(KEYS) for each in operators)
        for each in operators if found else ():
            DISPATCHER.remember(each.canonical, version, self, KEYS, True)
        return found


def geometric(*calls: OperatorHandle) -> Callable[[Kernel], Kernel]:
    """Give a view operator's kernel a short way: it looks at nothing but geometry, and ``calls``
    these operators on its tensor."""
    return lambda kernel: _with_short_way(kernel, _Own(calls))


def _with_short_way(kernel: Kernel, own: _Own) -> Kernel:
    known, thread = _Geometries(kernel), tls.thread_local

    def make(otherwise: Run, count: int, record: Run | None) -> Run:
        takes_list = known.takes_list

        def run(self: Any, *args: Any) -> Any:
            if (
                not (type(self) is Tensor or (isinstance(self, Tensor) and self._custom is None))
                or self._keys != KEYS
                or not (own or own.look())
            ):
                return otherwise(self, *args)
            try:
                key = (tuple(args[0]), *args[1:]) if takes_list else args
                found = known.get((self._sizes, self._strides, key))
                if found is None:
                    found = known.learn(key, self, args)
                (sizes, strides, distance), raw = found, thread.raw
                if self._raw_autograd is None and raw.grad_mode and not raw.inference_mode:
                    return _view(self, sizes, strides, distance)
                alias = self._as_view(sizes, strides, self._storage_offset + distance)
                view = as_view(self, alias, creation_meta=creation_meta())
                if self._raw_autograd is None:
                    return view
                answer = UNUSUAL if record is None else record(view, self, *args)
            except Exception:  # that the long way raises too, unless it has to raise another first
                return otherwise(self, *args)
            return otherwise(self, *args) if answer is UNUSUAL else answer

        return run

    kernel.short_way = ShortWay(above=make)  # type: ignore[attr-defined]
    return kernel


def _view(base: Tensor, sizes: Size, strides: tuple[int, ...], distance: int) -> Tensor:
    """:func:`~mindtorch_v2.autograd.variable.as_view` of an alias of a tensor without history."""
    versions, storage = base._raw_versions, base._raw_storage
    if versions is AWAY:
        versions = base._versions
    if storage is AWAY:
        storage = base._storage
    view, meta, count = _new(Tensor), AutogradMeta(), versions._raw_value
    view._sizes, view._strides = sizes, strides
    view._storage_offset = base._storage_offset + distance
    view._dtype, view._device, view._layout = base._dtype, base._device, base._layout
    view._keys, view._raw_storage, view._raw_versions = base._keys, storage, versions
    view._content = view._functional = view._custom = view._pending = view._array = None
    meta.view = _new_tuple(ViewInfo, (base, None))
    meta.attr_version = count if type(count) is int else versions.current
    view._raw_autograd = meta
    return view
