"""Plain calls of operands that do not lie alike: numbers, other shapes, other dtypes.

What a :class:`~mindtorch_v2.kernels.elementwise.tensor_iterator.TensorIterator` makes of plain
tensors (Note [Arrays of plain tensors]) and numbers follows from the dtypes and shapes of those and
the types of these.  So a call leaves behind a :class:`Recipe` for calls with the same, which go
from arrays to an array: NumPy broadcasts as torch does.

Recipes are kept where a tensor has the dtype that is computed in, since others follow from the
default dtype as well.

The functions stand behind those of :mod:`~mindtorch_v2.kernels.elementwise.plain`, and are written
for a number of values as well.  For ``mul.Tensor(self, other)`` they read:

    def run(_0, _1):
        if isinstance(_0, Tensor):
            k0, s0, a0 = _0._dtype, _0._sizes, _0._array
            if a0 is None or …:
                a0 = array_of(_0)
                if a0 is None:
                    return UNUSUAL
            h0 = _0._raw_autograd
        elif type(_0) in NUMBERS:
            k0, s0, a0, h0 = type(_0), None, _0, None
        else:
            return UNUSUAL
        …
        recipe = recipes.get((k0, s0, k1, s1))
        if recipe is None or thread.raw.inference_mode:
            return UNUSUAL
        function, is_new, dtype, raw, sizes, strides = recipe
        if (h0 is not None or h1 is not None) and is_for_others((_0, _1)):
            return UNUSUAL
        found = run_quietly(function, a0, a1)
        …
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np

from mindtorch_v2.binding.unboxed import UNUSUAL, Run
from mindtorch_v2.binding.written import names
from mindtorch_v2.dispatch import tls
from mindtorch_v2.kernels.elementwise.plain import is_plain_ufunc, made_lines, own, run_quietly
from mindtorch_v2.kernels.elementwise.promotion import Operand
from mindtorch_v2.tensor.dtype import DType
from mindtorch_v2.tensor.elements import Array, elements_of
from mindtorch_v2.tensor.geometry import contiguous_strides
from mindtorch_v2.tensor.pending import AWAY
from mindtorch_v2.tensor.plain import array_of
from mindtorch_v2.tensor.size import Size
from mindtorch_v2.tensor.tensor import Tensor

_NUMBERS: Final = frozenset((bool, int, float))
_INT64: Final = np.dtype(np.int64)
_MOST_RECIPES: Final = 1000

Convert = Callable[[Any], Array]


class Recipe(NamedTuple):
    """What is computed of operands' arrays and numbers, and what the result looks like."""

    function: Callable[..., Any]
    #: Whether that answers an array of ``raw`` that nobody else has, or else a single number.
    is_ufunc: bool
    dtype: DType
    raw: np.dtype[Any]
    sizes: Size
    strides: tuple[int, ...]


class Recipes(dict[Any, Recipe]):
    """By the dtype and shape of a tensor, or the type of a number, for each operand, and further
    arguments with their types."""

    def learn(
        self,
        operands: Sequence[Operand],
        rest: tuple[Any, ...],
        output: Tensor,
        dtype: DType,
        function: Callable[..., Any],
    ) -> None:
        """A call with these operands has computed in ``dtype`` and come to this output, which is
        to be plain; ``function`` takes the operands alone."""
        key, sizes = _key_of(operands, rest), output._sizes
        if key is None or key in self or len(self) >= _MOST_RECIPES:
            return
        tensors = [each for each in operands if isinstance(each, Tensor)]
        if any(array_of(each) is None for each in (output, *tensors)):
            return
        if all(each._dtype is not dtype for each in tensors):
            return
        raw = elements_of(output._dtype).raw
        conversions = [_conversion(each, dtype) for each in operands]
        self[key] = Recipe(
            _converting(function, conversions) if any(conversions) else function,
            is_plain_ufunc(function, elements_of(dtype).raw, raw),
            output._dtype,
            raw,
            sizes,
            contiguous_strides(sizes),
        )


def _key_of(operands: Sequence[Operand], rest: tuple[Any, ...]) -> Any:
    """What the short way looks a recipe up by; None for operands that it does not take."""
    key: list[Any] = []
    for each in operands:
        if isinstance(each, Tensor):
            key += each._dtype, each._sizes
        elif type(each) in _NUMBERS:
            key += type(each), None
        else:
            return None
    for value in rest:
        key += value, type(value)
    return tuple(key)


def _conversion(operand: Operand, dtype: DType) -> Convert | None:
    """What makes an operand an array of the dtype that is computed in, unless it is one."""
    raw = elements_of(dtype).raw
    if isinstance(operand, Tensor):
        return None if operand._dtype is dtype else lambda array: array.astype(raw)
    return _from_int(raw) if type(operand) is int else lambda number: np.asarray(number).astype(raw)


def _from_int(raw: np.dtype[Any]) -> Convert:
    def convert(number: int) -> Array:
        array = np.asarray(number)
        if array.dtype != _INT64:  # one that is unsigned promotes otherwise
            raise OverflowError
        return array.astype(raw)

    return convert


def _converting(
    function: Callable[..., Any], conversions: Sequence[Convert | None]
) -> Callable[..., Any]:
    """A function of operands as they are."""
    if len(conversions) == 1:
        (only,) = conversions
        return lambda one: function(only(one))  # type: ignore[misc]
    first, second = conversions
    if first is None:
        return lambda one, two: function(one, second(two))  # type: ignore[misc]
    if second is None:
        return lambda one, two: function(first(one), two)
    return lambda one, two: function(first(one), second(two))


# --- the short way ------------------------------------------------------------------------------


def short_way(
    recipes: Recipes, inputs: int, count: int, record: Run | None, *, in_place: bool
) -> Run:
    """What takes calls of ``count`` values that there is a recipe for: UNUSUAL for others, with
    which nothing has happened."""

    def is_for_others(operands: Sequence[Operand]) -> bool:
        """Whether history is to be recorded, and not here."""
        return record is None and any(
            isinstance(each, Tensor) and each._requires_grad() for each in operands
        )

    made = _maker(inputs, count, record is not None, in_place)
    return made(recipes, record, is_for_others)


def _lines(inputs: int, count: int, records: bool, in_place: bool) -> Iterator[str]:
    values, operands = names(count), range(inputs)
    arrays = ", ".join(f"a{n}" for n in operands)
    yield f" def run({values}):"
    for n in operands:
        yield f"  if isinstance(_{n}, Tensor):"
        yield f"   k{n}, s{n}, a{n} = _{n}._dtype, _{n}._sizes, _{n}._array"
        yield f"   h{n} = _{n}._raw_autograd"
        yield f"   if a{n} is None or ((memory := _{n}._memory) is not None"
        yield f"    and memory is not _{n}._raw_storage._raw_bytes): a{n} = array_of(_{n})"
        yield f"   if a{n} is None: return UNUSUAL"
        yield f"  elif type(_{n}) in NUMBERS: k{n}, s{n}, a{n}, h{n} = type(_{n}), None, _{n}, None"
        yield "  else: return UNUSUAL"
    key = *(f"k{n}, s{n}" for n in operands), *(f"_{n}, type(_{n})" for n in range(inputs, count))
    yield f"  recipe = recipes.get(({', '.join(key)}))"
    yield "  if recipe is None or thread.raw.inference_mode: return UNUSUAL"
    yield "  function, is_ufunc, dtype, raw, sizes, strides = recipe"
    is_known = " or ".join(f"h{n} is not None" for n in operands)
    yield f"  is_known = {is_known}"
    yield f"  if is_known and is_for_others(({names(inputs)},)): return UNUSUAL"
    if in_place:
        yield f"  return changed(_0, a0, function, ({names(inputs)},), ({arrays},))"
        return
    yield f"  found = run_quietly(function, {arrays})"
    yield "  if not is_ufunc or type(found) is not ndarray:"
    yield f"   found = own(found, raw, {arrays})"
    yield from (f"  {line}" for line in made_lines("dtype", "sizes", "strides"))
    yield f"  return record(made, {values}) if is_known else made" if records else "  return made"


@cache
def _maker(inputs: int, count: int, records: bool, in_place: bool) -> Callable[..., Run]:
    scope: dict[str, Any] = {
        "__name__": __name__,
        "AWAY": AWAY,
        "NUMBERS": _NUMBERS,
        "Tensor": Tensor,
        "UNUSUAL": UNUSUAL,
        "array_of": array_of,
        "changed": _changed,
        "ndarray": np.ndarray,
        "new": object.__new__,
        "own": own,
        "run_quietly": run_quietly,
        "thread": tls.thread_local,
    }
    lines = ("def make(recipes, record, is_for_others):", *_lines(inputs, count, records, in_place))
    exec("\n".join((*lines, " return run")), scope)
    made: Callable[..., Run] = scope["make"]
    return made


def _changed(
    target: Tensor,
    array: Array,
    function: Callable[..., Any],
    operands: Sequence[Any],
    arrays: Sequence[Any],
) -> Any:
    """The first operand with the result in its place, if no other may be a part of it."""
    versions, memory = target._versions, target._memory
    count = versions.value
    if count is None:
        return UNUSUAL
    for each in operands[1:]:
        if memory is not None and isinstance(each, Tensor) and each._memory is memory:
            return UNUSUAL
    array[...] = run_quietly(function, *arrays)
    versions._raw_value = count + 1
    return target
