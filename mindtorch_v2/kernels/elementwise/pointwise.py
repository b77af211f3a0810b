"""Pointwise operators: a :class:`TensorIterator` and a function of NumPy arrays.

Mirrors ``aten/src/ATen/native/BinaryOps.cpp``, ``UnaryOps.cpp`` and their CPU kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels import structured
from mindtorch_v2.kernels.dtypes import SCALAR, check_implemented, check_supported
from mindtorch_v2.kernels.elementwise import plain
from mindtorch_v2.kernels.elementwise.alike import (
    array_of,
    common_dtype,
    is_computed_as_stored,
    tensor_of,
)
from mindtorch_v2.kernels.elementwise.plain_unlike import Recipes
from mindtorch_v2.kernels.elementwise.plain_unlike import short_way as unlike_short_way
from mindtorch_v2.kernels.elementwise.promotion import Number, Operand, to_opmath
from mindtorch_v2.kernels.elementwise.short_way import ShortWay
from mindtorch_v2.kernels.elementwise.tensor_iterator import (
    Config,
    TensorIterator,
    dtype_of,
    sizes_of,
)
from mindtorch_v2.kernels.elementwise.vector_loop import in_vectors
from mindtorch_v2.kernels.overlap import may_overlap_itself, rows_of, writes_what_it_reads
from mindtorch_v2.kernels.structured import Outputs, changed_in_place
from mindtorch_v2.tensor.copying import store, value_array, warn_of_cast
from mindtorch_v2.tensor.dtype import COMPLEX_HALVES, DType
from mindtorch_v2.tensor.elements import Array, elements_of
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.quiet import quietly
from mindtorch_v2.tensor.scalars import scalar_to
from mindtorch_v2.tensor.support import ELEMENT_TYPES, check_dtype
from mindtorch_v2.tensor.tensor import Tensor

Compute = Callable[..., Array]
"""From arrays of the dtype that is computed in, and the arguments after them, to an array."""


_COMPARABLE: Final = frozenset((bool, int, float, str, type(None)))
_MOST_ALIKE: Final = 1000


@dataclass(frozen=True)
class Pointwise:
    """A structured kernel: ``inputs`` operands, then arguments that ``compute`` gets.

    ``facts`` is the operator whose refusals the profile has.  ``before`` sees the operands and the
    arguments before anything else, ``check`` the iterator and the arguments; ``prepare`` makes of
    the common dtype and the arguments those that ``compute`` gets.  ``scalar_in_opmath``: a second
    operand of one element enters a computation in higher precision as it is.  ``also_output``: the
    kernel is compiled for the output's dtype as well.  ``backwards``: the last operand is the first
    one that elements are ordered by, and the first that ``compute`` gets.  ``array_function`` says
    what ``compute`` comes to for a dtype and these arguments, if that is a function of the operands
    alone.  ``by_lanes`` says of a dtype and these arguments whether ``compute`` gets as ``lanes``
    which elements are computed in vectors; of operands that lie alike it is to see for itself.
    ``sign`` is Python's operator for two numbers, where the bare function is NumPy's.
    """

    facts: str
    compute: Compute
    config: Config
    inputs: int
    before: Callable[..., None] | None = None
    check: Callable[..., None] | None = None
    prepare: Callable[..., tuple[Any, ...]] | None = None
    scalar_in_opmath: bool = False
    also_output: bool = False
    backwards: bool = False
    array_function: Callable[..., Compute | None] | None = None
    by_lanes: Callable[..., bool] | None = None
    sign: str = ""
    #: Of calls with operands that lie alike, by what decides whether they are refused: what
    #: ``compute`` gets after the operands.
    _alike: dict[Any, tuple[Any, ...]] = field(default_factory=dict, repr=False, compare=False)
    _plans: plain.Plans = field(default_factory=plain.Plans, repr=False, compare=False)
    #: Of calls that answer a new tensor, and of those in place.
    _recipes: tuple[Recipes, Recipes] = field(
        default_factory=lambda: (Recipes(), Recipes()), repr=False, compare=False
    )

    def __call__(self, outputs: Outputs, *stack: Any) -> tuple[Tensor, ...]:
        operands, rest = self._operands(stack), stack[self.inputs :]
        key = self._key_of_alike(outputs, operands, rest)
        if key is not None and key in self._alike:
            self._plan(operands[0]._dtype, rest, self._alike[key])
            return (self._run_alike(outputs, operands, self._alike[key]),)
        iterator = self._iterator(outputs, stack)
        (output,) = iterator.outputs
        if output._device.type != "meta":
            rest = self._run(iterator, output, rest)
            if key is None:
                self._learn(iterator, outputs, stack, rest)
            elif len(self._alike) < _MOST_ALIKE:
                self._alike[key] = rest
        return iterator.outputs

    def _operands(self, stack: tuple[Any, ...]) -> tuple[Any, ...]:
        return stack[self.inputs - 1 :: -1] if self.backwards else stack[: self.inputs]

    def _key_of_alike(
        self, outputs: Outputs, operands: Sequence[Operand], rest: tuple[Any, ...]
    ) -> Any:
        """All that checks look at, of a call with operands that lie alike; None for any other."""
        dtype = common_dtype(self.config, outputs, operands)
        if dtype is None or self.also_output:
            return None
        if not _are_comparable(rest):
            return None
        is_scalar = self.scalar_in_opmath and self._has_scalar(dtype, operands[1])
        return dtype, is_scalar, rest, tuple(map(type, rest))

    @staticmethod
    def _has_scalar(dtype: DType, operand: Operand) -> bool:
        """Whether the second operand is a number, but to complex halves, which have no such way."""
        return numel(sizes_of(operand)) == 1 and dtype not in COMPLEX_HALVES

    def _run_alike(
        self, outputs: Outputs, operands: Sequence[Any], rest: tuple[Any, ...]
    ) -> Tensor:
        computed = quietly(self.compute, *map(array_of, operands), *rest)
        output = outputs[0]
        if output is None:
            return tensor_of(computed, operands[0])
        array_of(output)[...] = computed
        return output

    def short_way(self, *, in_place: bool) -> ShortWay | None:
        """That of plain calls, for operators of one or two operands."""
        if self.backwards or self.also_output or self.inputs > 2:
            return None
        recipes = self._recipes[in_place]
        unlike = partial(unlike_short_way, recipes, self.inputs, in_place=in_place)
        plans, inputs = self._plans, self.inputs
        return plain.short_way(plans, inputs, unlike, in_place=in_place, sign=self.sign)

    def _learn(
        self,
        iterator: TensorIterator,
        outputs: Outputs,
        stack: tuple[Any, ...],
        prepared: tuple[Any, ...],
    ) -> None:
        """Have plain calls with operands of these kinds and shapes go the short way from now on."""
        dtype, rest, (output,) = iterator.common_dtype, stack[self.inputs :], iterator.outputs
        in_place = changed_in_place(outputs) is not None
        if (
            self.inputs > 2
            or self._goes_by_lanes(dtype, rest)
            or not is_computed_as_stored(dtype)
            or not _are_comparable(rest)
            or (outputs[0] is not None and not (in_place and output._dtype is dtype))
        ):
            return
        compute = None if self.array_function is None else self.array_function(dtype, *rest)
        if compute is None:
            compute = partial(_with, self.compute, prepared) if prepared else self.compute
        self._recipes[in_place].learn(stack[: self.inputs], rest, output, dtype, compute)

    def _plan(self, dtype: DType, rest: tuple[Any, ...], prepared: tuple[Any, ...]) -> None:
        """Have plain calls of this dtype go the short way from now on, whatever their shape.

        Those of one element may be refused, or not, where others are not: then neither does.
        """
        key, compute = plain.key_of(dtype, rest), self.compute
        if key in self._plans or not (self._takes(dtype) and self._takes(dtype, SCALAR)):
            return
        bare = None if self.array_function is None else self.array_function(dtype, *rest)
        if bare is not None:
            compute, prepared = bare, ()
        raw = elements_of(dtype).raw
        self._plans.keep(key, plain.Plan.of(raw, compute, prepared, self.sign))

    def _takes(self, dtype: DType, scalar: str = "") -> bool:
        try:
            check_implemented(self.facts + scalar, dtype)
        except (RuntimeError, NotImplementedError):
            return False
        return True

    def prologue(self, outputs: Outputs, *stack: Any) -> None:
        """What is said of outputs that are given, and how they are resized."""
        (output,) = self._iterator(outputs, stack).outputs
        self._check_output(output)

    def _iterator(self, outputs: Outputs, stack: tuple[Any, ...]) -> TensorIterator:
        operands, rest = self._operands(stack), stack[self.inputs :]
        if self.before is not None:
            self.before(*stack)
        else:
            check_supported(self.facts, *map(dtype_of, stack[: self.inputs]))
        iterator = TensorIterator(self.config, outputs, operands)
        if self.check is not None:
            self.check(iterator, *rest)
        return iterator

    def _run(
        self, iterator: TensorIterator, output: Tensor, rest: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        """Computes the output; answers what ``compute`` gets after the operands."""
        dtype = iterator.common_dtype
        scalar = self.scalar_in_opmath and self._has_scalar(dtype, iterator.inputs[1])
        check_implemented(self.facts + SCALAR * scalar, dtype)
        self._check_output(output)
        by_lanes = self._goes_by_lanes(dtype, rest)
        if self.prepare is not None:
            rest = self.prepare(dtype, *rest)
        if not numel(output._sizes):
            return rest

        arrays = [as_array(operand, dtype) for operand in iterator.inputs]
        if scalar:
            arrays[1] = as_array(iterator.inputs[1], dtype, convert=False)
        lanes = in_vectors(iterator) if by_lanes else None
        compute = partial(self.compute, lanes=lanes) if by_lanes else self.compute

        def computed(arrays: Sequence[Array]) -> Array:
            return rounded(np.asarray(quietly(compute, *arrays, *rest)), dtype)

        found = computed(arrays)
        if not self.also_output:  # whose kernel writes the output's own dtype
            self._warn_of_cast(dtype, output._dtype)
        is_read_again = writes_what_it_reads(output, iterator.inputs)
        if not is_read_again and not may_overlap_itself(output):
            store(output, found)
            return rest
        for row, index in rows_of(output, iterator.loops):  # what one round writes the next reads
            for place, operand in enumerate(iterator.inputs):
                if dtype_of(operand) is dtype:  # and not a copy that was converted before
                    arrays[place] = as_array(operand, dtype)
            if by_lanes:
                store(row, np.broadcast_to(computed(arrays), tuple(output._sizes))[index])
            else:
                store(row, computed([_part(array, output, index) for array in arrays]))
        return rest

    def _goes_by_lanes(self, dtype: DType, rest: tuple[Any, ...]) -> bool:
        return self.by_lanes is not None and self.by_lanes(dtype, *rest)

    def _check_output(self, output: Tensor) -> None:
        """NotImplementedError for an output of a dtype that no kernel is compiled for."""
        if self.also_output:
            check_implemented(self.facts, output._dtype)

    def _warn_of_cast(self, dtype: DType, output: DType) -> None:
        if output is not self.config.static_dtype:
            warn_of_cast(dtype, output)


def _part(array: Array, output: Tensor, index: tuple[Any, ...]) -> Array:
    """The elements of an operand that some elements of the output are computed from."""
    return np.broadcast_to(array, tuple(output._sizes))[index] if array.ndim else array


def _are_comparable(rest: tuple[Any, ...]) -> bool:
    """Whether equal arguments of the same types are the same: two zeros are equal, and are not."""
    return all(type(each) in _COMPARABLE and (each or type(each) is not float) for each in rest)


def _with(compute: Compute, rest: tuple[Any, ...], *arrays: Array) -> Array:
    return compute(*arrays, *rest)


def as_array(operand: Operand, dtype: DType, *, convert: bool = True) -> Array:
    """The values of an operand in the precision in which kernels of ``dtype`` compute.

    They are those that ``dtype`` has unless ``convert`` is false.
    """
    computed = elements_of(to_opmath(dtype)).computed
    if isinstance(operand, Tensor):
        values, same = value_array(operand), operand._dtype is dtype
    else:
        values, same = np.asarray(operand), False
    if convert and not same:
        elements = elements_of(dtype)
        values = elements.decode(elements.encode(values))
    return values if values.dtype == computed else quietly(values.astype, computed)


def rounded(values: Array, dtype: DType) -> Array:
    """Results of a computation in higher precision, as values of ``dtype``."""
    if to_opmath(dtype) is dtype or values.dtype != elements_of(to_opmath(dtype)).computed:
        return values
    elements = elements_of(dtype)
    return elements.decode(elements.encode(values))


def element(number: Number, dtype: DType) -> Any:
    """``Scalar::to<scalar_t>()``: a number as NumPy's scalar, in the values that ``dtype`` has.

    RuntimeError if it is out of range.
    """
    value = np.asarray(scalar_to(number, dtype, ELEMENT_TYPES[dtype]))
    return rounded(quietly(value.astype, elements_of(dtype).computed), dtype)[()]


def opmath_element(number: Number, dtype: DType) -> Any:
    """The same in the precision in which kernels of ``dtype`` compute."""
    return element(number, to_opmath(dtype))


def check_fill(like: Tensor, dtype: DType) -> None:
    """Raise what ``fill_`` of a result raises for a dtype that it does not take."""
    if not like.is_meta:
        check_dtype("fill_one" if numel(like._sizes) == 1 else "fill_", dtype)


def pointwise(name: str, compute: Compute, config: Config, inputs: int, **steps: Any) -> None:
    """Register a pointwise operator and its forms; ``steps`` are fields of :class:`Pointwise`."""
    function = Pointwise(steps.pop("facts", name), compute, config, inputs, **steps)
    structured.add(name, function)
    structured.prologue(name)(function.prologue)
