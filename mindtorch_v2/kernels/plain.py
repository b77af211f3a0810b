"""Plain calls of pointwise operators: operands that have arrays, and one function of arrays.

A call of plain tensors (Note [Arrays of plain tensors] in :mod:`mindtorch_v2.tensor.plain`) of one
dtype and shape needs no checks if there has been one before with the same dtype and further
arguments: a :class:`~mindtorch_v2.kernels.pointwise.Pointwise` keeps what it came to as a
:class:`Plan`, and the short way goes from the arrays of the operands to that of the result.  Of the
thread it reads nothing but the inference mode.

The functions are written for a number of values.  For ``add.Tensor(self, other, alpha)``, while
there is nothing to record, they read:

    def run(_0, _1, _2):
        if type(_0) is Tensor and type(_1) is Tensor and _0._dtype is _1._dtype:
            a0 = _0._array
            if a0 is None or (
                (memory := _0._memory) is not None and memory is not _0._raw_storage._raw_bytes
            ):
                a0 = array_of(_0)
            …
            plan = plans.get((_0._dtype, _2, type(_2)))
            if (
                plan is not None and a0 is not None and a1 is not None
                and (_0._sizes is _1._sizes or _0._sizes == _1._sizes)
                and (_0._raw_autograd is None or not _0._requires_grad())
                and (_1._raw_autograd is None or not _1._requires_grad())
                and not thread.raw.inference_mode
            ):
                function = plan.function
                try:
                    found = run_quietly(function, a0, a1)
                except RuntimeError:
                    found = quietly(function, a0, a1)
                if not plan.is_ufunc or type(found) is not ndarray:
                    found = own(found, plan.raw, a0, a1)
                return made_like(_0, found)
        return otherwise(_0, _1, _2)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np

from mindtorch_v2.binding.unboxed import Run
from mindtorch_v2.dispatch import tls
from mindtorch_v2.kernels.short_way import ShortWay
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.pending import AWAY
from mindtorch_v2.tensor.plain import array_of
from mindtorch_v2.tensor.quiet import quietly, run_quietly
from mindtorch_v2.tensor.tensor import Tensor

_MOST_PLANS: Final = 1000
_new: Final = object.__new__


@dataclass(frozen=True, slots=True)
class Plan:
    """What is computed of the arrays of operands with a dtype."""

    raw: np.dtype[Any]
    function: Callable[..., Array]
    #: Whether that answers an array that nobody else has, as tensors of the dtype are stored; or
    #: else a single number.
    is_ufunc: bool

    @classmethod
    def of(cls, raw: np.dtype[Any], compute: Callable[..., Array], rest: tuple[Any, ...]) -> Plan:
        """``compute`` gets ``rest`` after the arrays."""
        if rest:
            return cls(raw, lambda *arrays: compute(*arrays, *rest), False)
        return cls(raw, compute, isinstance(compute, np.ufunc))


class Plans(dict[Any, Plan]):
    """By dtype, and further arguments with their types."""

    def keep(self, key: Any, plan: Plan) -> None:
        if len(self) < _MOST_PLANS:
            self[key] = plan


def key_of(dtype: Any, rest: tuple[Any, ...]) -> Any:
    """Of a plan."""
    return dtype if not rest else (dtype, *(each for value in rest for each in (value, type(value))))


def own(found: Any, raw: np.dtype[Any], *operands: Array) -> Array:
    """What was computed of operands, as an array that nobody else has."""
    if type(found) is np.ndarray and found.base is None and found.dtype is raw:
        if found.flags.c_contiguous and not any(found is each for each in operands):
            return found
    return np.array(found, raw, order="C")


def made_like(tensor: Tensor, array: Array) -> Tensor:
    """A new tensor that has an array, with the geometry of a plain one."""
    made = _new(Tensor)
    made._array, made._memory, made._storage_offset = array, None, 0
    made._raw_storage = made._raw_versions = AWAY
    made._dtype, made._device, made._layout = tensor._dtype, tensor._device, tensor._layout
    made._sizes, made._strides, made._keys = tensor._sizes, tensor._strides, tensor._keys
    made._raw_autograd = made._content = made._functional = made._custom = made._pending = None
    return made


# --- the short way ------------------------------------------------------------------------------


def short_way(plans: Plans, inputs: int, *, in_place: bool) -> ShortWay:
    """That of an operator of one or two operands, the first of which the result may replace."""

    def make(otherwise: Run, count: int, *, unrecorded: bool, counted: bool = False) -> Run:
        source = _Source(inputs, count, in_place, unrecorded, counted)
        return _maker(source)(plans, otherwise)

    def count_changes(otherwise: Run, count: int, *, unrecorded: bool) -> Run:
        return make(otherwise, count, unrecorded=unrecorded, counted=True)

    return ShortWay(make, count_changes if in_place else None)


@dataclass(frozen=True)
class _Source:
    """Of a function of ``count`` values, of which the first are ``inputs``."""

    inputs: int
    count: int
    in_place: bool
    unrecorded: bool
    counted: bool

    def lines(self) -> Iterator[str]:
        operands, values = range(self.inputs), ", ".join(f"_{n}" for n in range(self.count))
        kinds = " and ".join(f"type(_{n}) is Tensor" for n in operands)
        same_dtype = " and _0._dtype is _1._dtype" if self.inputs == 2 else ""
        rest = (f"_{n}, type(_{n})" for n in range(self.inputs, self.count))
        key = ", ".join(("_0._dtype", *rest))
        arrays = ", ".join(f"a{n}" for n in operands)
        yield f" def run({values}):"
        yield f"  if {kinds}{same_dtype}:"
        for n in operands:
            yield f"   a{n} = _{n}._array"
            yield f"   if a{n} is None or ((memory := _{n}._memory) is not None"
            yield f"    and memory is not _{n}._raw_storage._raw_bytes): a{n} = array_of(_{n})"
        yield f"   try: plan = plans.get(({key}))"
        yield "   except TypeError: plan = None  # for further arguments that are no numbers"
        if self.counted:
            yield "   versions = _0._raw_versions"
            yield "   if versions is AWAY: versions = _0._versions"
            yield "   count = versions._raw_value"
        yield f"   if {' and '.join(self._conditions())}:"
        yield "    function = plan.function"
        yield f"    try: found = run_quietly(function, {arrays})"
        yield f"    except RuntimeError: found = quietly(function, {arrays})"
        if self.in_place:
            yield "    a0[...] = found"
            yield "    versions._raw_value = count + 1" if self.counted else ""
            yield "    return _0"
        else:
            yield "    if not plan.is_ufunc or type(found) is not ndarray:"
            yield f"     found = own(found, plan.raw, {arrays})"
            yield "    return made_like(_0, found)"
        yield f"  return otherwise({values})"

    def _conditions(self) -> Iterator[str]:
        operands = range(self.inputs)
        yield "plan is not None"
        yield from (f"a{n} is not None" for n in operands)
        if self.inputs == 2:
            yield "(_0._sizes is _1._sizes or _0._sizes == _1._sizes)"
        if self.unrecorded:
            for n in operands:
                yield f"(_{n}._raw_autograd is None or not _{n}._requires_grad())"
        if not self.in_place:
            yield "not thread.raw.inference_mode"
            return
        if self.inputs == 2:  # of two tensors with one memory the elements may not be the same
            yield "(_0._memory is None or _0._memory is not _1._memory or _0 is _1)"
        if self.counted:
            yield "type(count) is int"


@cache
def _maker(source: _Source) -> Callable[[Plans, Run], Run]:
    scope: dict[str, Any] = {
        "__name__": __name__,
        "AWAY": AWAY,
        "Tensor": Tensor,
        "array_of": array_of,
        "made_like": made_like,
        "ndarray": np.ndarray,
        "own": own,
        "quietly": quietly,
        "run_quietly": run_quietly,
        "thread": tls.thread_local,
    }
    exec("\n".join(("def make(plans, otherwise):", *source.lines(), " return run")), scope)
    made: Callable[[Plans, Run], Run] = scope["make"]
    return made
