"""Plain calls of operands that do not lie alike: numbers, other shapes, other dtypes.

What a :class:`~mindtorch_v2.kernels.tensor_iterator.TensorIterator` makes of plain tensors (Note
[Arrays of plain tensors]) and numbers follows from the dtypes and shapes of those and the types of
these.  So a call leaves behind a :class:`Recipe` for calls with the same, which go from arrays to
an array: NumPy broadcasts as torch does.

Recipes are kept where a tensor has the dtype that is computed in, since others follow from the
default dtype as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from mindtorch_v2.binding.unboxed import UNUSUAL, Run
from mindtorch_v2.dispatch import tls
from mindtorch_v2.kernels.plain import own
from mindtorch_v2.kernels.promotion import Operand
from mindtorch_v2.tensor.dtype import DType
from mindtorch_v2.tensor.elements import Array, elements_of
from mindtorch_v2.tensor.geometry import contiguous_strides
from mindtorch_v2.tensor.pending import AWAY
from mindtorch_v2.tensor.plain import array_of
from mindtorch_v2.tensor.quiet import run_quietly
from mindtorch_v2.tensor.size import Size
from mindtorch_v2.tensor.tensor import Tensor

_NUMBERS: Final = frozenset((bool, int, float))
_INT64: Final = np.dtype(np.int64)
_MOST_RECIPES: Final = 1000
_new: Final = object.__new__

Convert = Callable[[Any], Any]


class Recipe(NamedTuple):
    """What is computed of operands' arrays and numbers, and what the result looks like."""

    function: Callable[..., Any]
    #: Of each operand, what makes it one of the dtype that is computed in, unless it is.
    conversions: tuple[Convert | None, ...]
    dtype: DType
    raw: np.dtype[Any]
    sizes: Size
    strides: tuple[int, ...]

    def computed(self, operands: Sequence[Any]) -> Any:
        return run_quietly(self._computed, operands)

    def _computed(self, operands: Sequence[Any]) -> Any:
        pairs = zip(self.conversions, operands, strict=True)
        return self.function(*[each if made is None else made(each) for made, each in pairs])


class Recipes(dict[Any, Recipe]):
    """By dtypes and shapes of tensors, types of numbers, and further arguments with their types."""

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
        key, raw = _key_of(operands, rest), elements_of(dtype).raw
        if key is None or len(self) >= _MOST_RECIPES or array_of(output) is None:
            return
        if any(isinstance(each, Tensor) and array_of(each) is None for each in operands):
            return
        if not any(isinstance(each, Tensor) and each._dtype is dtype for each in operands):
            return
        self[key] = Recipe(
            function,
            tuple(_conversion(each, dtype, raw) for each in operands),
            output._dtype,
            elements_of(output._dtype).raw,
            output._sizes,
            contiguous_strides(output._sizes),
        )


def _key_of(operands: Sequence[Operand], rest: tuple[Any, ...]) -> Any:
    """What the short way looks a recipe up by; None for operands that it does not take."""
    key: list[Any] = []
    for each in operands:
        if isinstance(each, Tensor):
            key += each._dtype, each._sizes
        elif type(each) in _NUMBERS:
            key.append(type(each))
        else:
            return None
    for value in rest:
        key += value, type(value)
    return tuple(key)


def _conversion(operand: Operand, dtype: DType, raw: np.dtype[Any]) -> Convert | None:
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


def short_way(recipes: Recipes, inputs: int, record: Run | None, *, in_place: bool) -> Run:
    """What takes calls of ``inputs`` operands that there is a recipe for: UNUSUAL for others, with
    which nothing has happened."""
    thread = tls.thread_local

    def run(*stack: Any) -> Any:
        key: list[Any] = []
        arrays: list[Any] = []
        is_known = False
        for each in stack[:inputs]:
            if isinstance(each, Tensor):
                key += each._dtype, each._sizes
                array = each._array
                if array is None or (
                    (memory := each._memory) is not None
                    and memory is not each._raw_storage._raw_bytes  # type: ignore[union-attr]
                ):
                    array = array_of(each)
                    if array is None:
                        return UNUSUAL
                arrays.append(array)
                is_known = is_known or each._raw_autograd is not None
            elif type(each) in _NUMBERS:
                key.append(type(each))
                arrays.append(each)
            else:
                return UNUSUAL
        for value in stack[inputs:]:
            key += value, type(value)
        recipe = recipes.get(tuple(key))
        if recipe is None or thread.raw.inference_mode:
            return UNUSUAL
        is_recorded = is_known and (record is not None or _requires_grad(stack[:inputs]))
        if in_place:
            return UNUSUAL if is_recorded else _changed(recipe, arrays, stack[:inputs])
        if is_recorded and record is None:
            return UNUSUAL
        made = _made(recipe, own(recipe.computed(arrays), recipe.raw, *arrays), stack[0])
        return record(made, *stack) if is_recorded and record is not None else made

    return run


def _requires_grad(operands: Sequence[Operand]) -> bool:
    return any(isinstance(each, Tensor) and each._requires_grad() for each in operands)


def _made(recipe: Recipe, array: Array, like: Tensor) -> Tensor:
    """A new tensor that has the array."""
    made = _new(Tensor)
    made._array, made._memory, made._storage_offset = array, None, 0
    made._raw_storage = made._raw_versions = AWAY
    made._dtype, made._device, made._layout = recipe.dtype, like._device, like._layout
    made._sizes, made._strides, made._keys = recipe.sizes, recipe.strides, like._keys
    made._raw_autograd = made._content = made._functional = made._custom = None
    made._pending = None
    return made


def _changed(recipe: Recipe, arrays: Sequence[Any], operands: Sequence[Any]) -> Any:
    """The first operand with the result in its place, if no other may be a part of it."""
    target, *others = operands
    versions = target._versions
    count = versions.value
    if count is None:
        return UNUSUAL
    memory = target._memory
    for each in others:
        if memory is not None and isinstance(each, Tensor) and each._memory is memory:
            return UNUSUAL
    arrays[0][...] = recipe.computed(arrays)
    versions._raw_value = count + 1
    return target
