"""Plain calls of view operators: parts of dense tensors of the CPU, where they lay before.

Where a view lies in its base's memory follows from the base's sizes and strides and from the
operator's arguments.  So a call that has been made before with the same needs no computation and no
checks: the short way knows the geometry, and makes what autograd calls a view.
Of tensors that are more than dense, or elsewhere, it makes nothing.

The functions are written for a number of values; that of ``select.int(self, dim, index)`` reads:

    def run(_0, _1, _2):
        if type(_0) is Tensor and _0._keys == KEYS and (own or own.look()):
            try:
                sizes, strides, r1, r2, found = last[0]
                if sizes is not _0._sizes or strides is not _0._strides or …:
                    found = known.get((_0._sizes, _0._strides, _1, _2))
                    if found is None:
                        found = known.learn((_0._sizes, _0._strides, _1, _2), _0, _1, _2)
                    last[0] = _0._sizes, _0._strides, _1, _2, found
                (sizes, strides, distance), raw, meta = found, thread.raw, _0._raw_autograd
                if raw.grad_mode and not raw.inference_mode and (
                    meta is None or meta is AWAY and …
                ):
                    view = …  # with _0 for its base, or what that is a view of, and no history
                    return view
                …
            except Exception:  # that the long way raises too
                pass
        return otherwise(_0, _1, _2)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Final, TypeVar

from mindtorch_v2.autograd.variable import as_view
from mindtorch_v2.binding.unboxed import UNUSUAL, Run
from mindtorch_v2.binding.written import Factory, Inline, factory_of_lines, names
from mindtorch_v2.dispatch import tls
from mindtorch_v2.dispatch.keyset import BELOW_INPLACE_OR_VIEW
from mindtorch_v2.kernels.elementwise.short_way import ShortWay
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.own import Own
from mindtorch_v2.kernels.wrapping.inplace_or_view import creation_meta
from mindtorch_v2.tensor.pending import AWAY
from mindtorch_v2.tensor.plain import KEYS
from mindtorch_v2.tensor.size import Size
from mindtorch_v2.tensor.tensor import Tensor

Kernel = TypeVar("Kernel", bound=Callable[..., Tensor])

_MOST_GEOMETRIES: Final = 1000

Geometry = tuple[Size, tuple[int, ...], int]
"""Sizes, strides, and how far behind the base's first element the view's is."""


class _Geometries(dict[Any, Geometry]):
    """By a base's sizes and strides with the arguments, of one operator's ``kernel``."""

    def __init__(self, kernel: Callable[..., Tensor]) -> None:
        self._kernel = kernel
        kinds = [str(kind) for name, kind in kernel.__annotations__.items() if name != "return"]
        self.takes_list = kinds[1:2] == ["Sequence[int]"]

    def learn(self, key: Any, base: Tensor, *args: Any) -> Geometry:
        """That of a further view, which is known from now on."""
        view: Tensor = tls.call_excluding(BELOW_INPLACE_OR_VIEW, self._kernel, base, *args)
        found = view._sizes, view._strides, view._storage_offset - base._storage_offset
        if len(self) < _MOST_GEOMETRIES:
            self[key] = found
        return found


def geometric(*calls: OperatorHandle) -> Callable[[Kernel], Kernel]:
    """Give a view operator's kernel a short way: it looks at nothing but geometry, and ``calls``
    these operators on its tensor."""
    return lambda kernel: _with_short_way(kernel, Own(calls))


def _with_short_way(kernel: Kernel, own: Own) -> Kernel:
    known = _Geometries(kernel)

    def make(otherwise: Run, count: int, record: Run | None) -> Run:
        last = [(None,) * (count + 2)]
        run = _factory(count, known.takes_list)(known, own, otherwise, record, last)
        scope = {**_SCOPE, "known": known, "own": own, "record": record, "last": last}
        lines = tuple(_short(count, known.takes_list, is_inline=True))
        run.inline = Inline(1, lines, scope)  # type: ignore[attr-defined]
        return run

    kernel.short_way = ShortWay(above=make)  # type: ignore[attr-defined]
    return kernel


def _lines(count: int, takes_list: bool) -> Iterator[str]:
    """Of a function of ``count`` values: a tensor, perhaps a list, and others."""
    yield from _short(count, takes_list, is_inline=False)
    yield f"return otherwise({names(count)})"


def _short(count: int, takes_list: bool, *, is_inline: bool) -> Iterator[str]:
    """What answers a plain call."""
    values, args = names(count), [f"_{place}" for place in range(1, count)]
    key = ["tuple(_1)", *args[1:]] if takes_list else args
    parts = f"({', '.join(('_0._sizes', '_0._strides', *key))})"
    kept = ["sizes", "strides", *(f"r{place}" for place in range(1, count)), "found"]
    given = ["_0._sizes", "_0._strides", *key, "found"]
    others = [f"{one} is not {other}" for one, other in zip(kept[:-1], given, strict=False)]
    if takes_list:  # which is another one for each call
        others[2] = "r1 != key"
    kind = "(type(_0) is Tensor or (isinstance(_0, Tensor) and _0._custom is None))"
    is_plain = "_0._custom is None" if is_inline else kind
    yield f"if {is_plain} and _0._keys == KEYS and (own or own.look()):"
    yield " try:"
    if takes_list:
        yield "  key = tuple(_1)"
        parts = parts.replace("tuple(_1)", "key")
        given[2] = "key"
    yield f"  {', '.join(kept)} = last[0]"
    yield f"  if {' or '.join(others)}:"
    yield f"   found = known.get({parts})"
    yield f"   if found is None: found = known.learn({parts}, {values})"
    yield f"   last[0] = {', '.join(given)}"
    yield "  (sizes, strides, distance), meta, raw = found, _0._raw_autograd, thread.raw"
    mode = "" if is_inline else " and not raw.inference_mode"
    yield f"  if (raw.grad_mode{mode}"
    yield "   and (meta is None or (meta is AWAY and _0._pending is None"
    yield "   and _0._view_of[0]._raw_autograd is None))):"  # nor has got one since
    yield from (f"   {line}" for line in _VIEW.splitlines())
    yield "   return view"
    yield "  alias = _0._as_view(sizes, strides, _0._storage_offset + distance)"
    yield "  view = as_view(_0, alias, creation_meta=how_created())"
    yield "  if meta is None: return view"
    yield f"  answer = UNUSUAL if record is None else record(view, {values})"
    yield "  if answer is not UNUSUAL: return answer"
    # what the long way raises too, unless it has to raise another first
    yield " except Exception: pass"


_ALIAS: Final = """\
versions, storage = _0._raw_versions, _0._raw_storage
if versions is AWAY: versions = _0._versions
if storage is AWAY: storage = _0._storage
view = new(Tensor)
view._sizes, view._strides = sizes, strides
view._storage_offset = _0._storage_offset + distance
view._dtype, view._device, view._layout = _0._dtype, _0._device, _0._layout
view._keys, view._raw_storage, view._raw_versions = _0._keys, storage, versions
view._content = view._functional = view._custom = view._pending = view._array = None"""
"""The same elements, and the same count of changes."""

_VIEW: Final = f"""\
{_ALIAS}
count = versions._raw_value
if type(count) is not int: count = versions.current
view._view_of = _0 if meta is None else _0._view_of[0], count
view._raw_autograd = AWAY"""
"""What :func:`~mindtorch_v2.autograd.variable.as_view` makes of an alias of a tensor without
history, which waits for who asks."""


def detaching(kernel: Kernel) -> Kernel:
    """Give the kernel of ``detach`` a short way: an alias that has no history."""
    lines = [
        "if _0._keys == KEYS and _0._custom is None:",
        " sizes, strides, distance = _0._sizes, _0._strides, 0",
        *(f" {line}" for line in _ALIAS.splitlines()),
        " view._raw_autograd = None",
        " return view",
    ]
    hand_on = "return otherwise(_0)"
    made = factory_of_lines("otherwise", "_0", (_IS_TENSOR, *lines, hand_on), __name__, _SCOPE)

    def make(otherwise: Run, count: int, record: Run | None) -> Run:
        run = made(otherwise)
        run.inline = Inline(1, lines, _SCOPE)  # type: ignore[attr-defined]
        return run

    kernel.short_way = ShortWay(above=make)  # type: ignore[attr-defined]
    return kernel


_IS_TENSOR: Final = "if type(_0) is not Tensor: return otherwise(_0)"


@cache
def _factory(count: int, takes_list: bool) -> Factory:
    lines = _lines(count, takes_list)
    needs = "known, own, otherwise, record, last"
    return factory_of_lines(needs, names(count), lines, __name__, _SCOPE)


_SCOPE: Final[dict[str, Any]] = {
    "AWAY": AWAY,
    "KEYS": KEYS,
    "Tensor": Tensor,
    "UNUSUAL": UNUSUAL,
    "as_view": as_view,
    "how_created": creation_meta,
    "new": object.__new__,
    "thread": tls.thread_local,
}
