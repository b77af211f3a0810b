"""Einstein's sums.

Mirrors ``einsum`` and ``sumproduct_pair`` of ``aten/src/ATen/native/Linear.cpp``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any, Final

from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.tensor.support import HABITS
from mindtorch_v2.tensor.tensor import Tensor

_BMM: Final = OperatorHandle("aten::bmm")
_DIAGONAL: Final = OperatorHandle("aten::diagonal")
_MOVEDIM: Final = OperatorHandle("aten::movedim.int")
_MUL: Final = OperatorHandle("aten::mul.Tensor")
_PERMUTE: Final = OperatorHandle("aten::permute")
_RESHAPE: Final = OperatorHandle("aten::reshape")
_SUM: Final = OperatorHandle("aten::sum.dim_IntList")
_UNSQUEEZE: Final = OperatorHandle("aten::unsqueeze")
_VIEW: Final = OperatorHandle("aten::view")

_AS_RESULT: Final = HABITS["einsum multiplies in the order of its result"]

_ELLIPSIS: Final = "..."
_LABELS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_ARROW: Final = "->"


# --- what an equation says ----------------------------------------------------------------------


def _read(text: str, start: int, of: str, twice: str, broken: str) -> Iterator[str]:
    """The subscripts of one tensor, which begin ``start`` characters into the equation."""
    has_ellipsis = False
    place = 0
    while place < len(text):
        label = text[place]
        if label == ".":
            if has_ellipsis:
                raise RuntimeError(f"einsum(): found '.' for {of} {twice}")
            if text[place : place + 3] != _ELLIPSIS:
                raise RuntimeError(f"einsum(): found '.' for {of} {broken}")
            has_ellipsis = True
            place += 2
            yield _ELLIPSIS
        elif label in _LABELS:
            yield label
        elif label != " ":
            raise RuntimeError(
                f"einsum(): invalid subscript given at index {start + place} in the equation "
                "string, subscripts must be in [a-zA-Z]"
            )
        place += 1


def _inputs(equation: str, count: int) -> list[list[str]]:
    """The subscripts of each operand."""
    found: list[list[str]] = []
    start = 0
    for text in equation.split(","):
        if len(found) == count:
            raise RuntimeError(
                "einsum(): fewer operands were provided than specified in the equation"
            )
        words = "for which an ellipsis was already found", "that is not part of any ellipsis"
        found.append(list(_read(text, start, f"operand {len(found)}", *words)))
        start += len(text) + 1
    if len(found) < count:
        raise RuntimeError("einsum(): more operands were provided than specified in the equation")
    return found


def _output(text: str, start: int, seen: set[str]) -> list[str]:
    """The subscripts of the result."""
    words = "but an ellipsis (...) was already found", "that is not part of any ellipsis (...)"
    found: list[str] = []
    for label in _read(text, start, "output", *words):
        if label != _ELLIPSIS and (label not in seen or label in found):
            what = (
                "appears more than once in the output"
                if label in found
                else "does not appear in the equation for any input operand"
            )
            raise RuntimeError(f"einsum(): output subscript {label} {what}")
        found.append(label)
    return found


def _covered(operands: Sequence[Tensor], subscripts: Sequence[Sequence[str]]) -> int:
    """How many dimensions the ellipsis stands for at most."""
    most = 0
    for place, (operand, labels) in enumerate(zip(operands, subscripts, strict=True)):
        rank, count = len(operand._sizes), len(labels) - (_ELLIPSIS in labels)
        if _ELLIPSIS in labels:
            most = max(most, rank - count)
            if count > rank:
                raise RuntimeError(
                    f"einsum(): the number of subscripts in the equation ({count}) is more than "
                    f"the number of dimensions ({rank}) for operand {place}"
                )
        elif count != rank:
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({count}) does not match the "
                f"number of dimensions ({rank}) for operand {place} and no ellipsis was given"
            )
    return most


# --- operands with the same dimensions ----------------------------------------------------------


class _Aligned:
    """Brings operands to the dimensions of the result, and after these those to sum over."""

    def __init__(self, order: Sequence[str], covered: int) -> None:
        self.covered = covered
        self.places: dict[str, int] = {}
        """Of each subscript, the first of its dimensions."""
        self.rank = 0
        for label in order:
            self.places[label] = self.rank
            self.rank += covered if label == _ELLIPSIS else 1
        self.sizes = [1] * self.rank
        self.counts = [0] * self.rank
        """In how many operands a dimension has another size than 1."""

    def align(self, which: int, operand: Any, labels: Sequence[str]) -> Any:
        places = [-1] * self.rank
        dim = 0
        given = len(operand._sizes)
        for label in labels:
            at = self.places[label]
            if label == _ELLIPSIS:
                missing = self.covered - (given - (len(labels) - 1))
                for place in range(at + missing, at + self.covered):
                    self._count(place, which, operand, dim, None)
                    places[place] = dim
                    dim += 1
            elif places[at] == -1:
                self._count(at, which, operand, dim, label)
                places[at] = dim
                dim += 1
            else:
                operand = _of_diagonal(which, operand, label, places[at], dim)
        for place, found in enumerate(places):
            if found == -1:
                operand = _UNSQUEEZE(operand, dim)
                places[place] = dim
                dim += 1
        return _PERMUTE(operand, places)

    def _count(self, place: int, which: int, operand: Any, dim: int, label: str | None) -> None:
        size, seen = operand._sizes[dim], self.sizes[place]
        if size == 1:
            return
        if seen not in (1, size):
            if label is None:
                raise RuntimeError(
                    f"einsum(): dimension {dim} covered by ellipsis in operand {which}has size "
                    f"{size} which does not broadcast with previously seen ellipsis with size "
                    f"{seen} for the respective dimension"
                )
            raise RuntimeError(
                f"einsum(): subscript {label} has size {size} for operand {which} which does not "
                f"broadcast with previously seen size {seen}"
            )
        self.sizes[place] = size
        self.counts[place] += 1


def _of_diagonal(which: int, operand: Any, label: str, one: int, two: int) -> Any:
    """An operand without the second of two dimensions that have the same subscript."""
    first, second = operand._sizes[one], operand._sizes[two]
    if first != second:
        raise RuntimeError(
            f"einsum(): subscript {label} is repeated for operand {which} but the sizes don't "
            f"match, {second} != {first}"
        )
    return _MOVEDIM(_DIAGONAL(operand, 0, one, two), -1, one)


# --- sums of products ---------------------------------------------------------------------------


def sumproduct_pair(left: Any, right: Any, dims: Sequence[int]) -> Any:
    """``(left * right).sum(dims, keepdim=True)``, by a product of matrices."""
    if len(left._sizes) != len(right._sizes):
        raise RuntimeError("number of dimensions must match")
    if not dims:
        return _MUL(left, right)
    both, in_left, in_right = [], [], []
    summed = 1
    for dim in range(len(left._sizes)):
        one, two = left._sizes[dim], right._sizes[dim]
        if one != 1 and two != 1 and one != two:
            raise RuntimeError("non-broadcast dimensions must match")
        if dim in dims:
            if one != 1 and two != 1:
                summed *= one
            elif one != 1:
                left = _SUM(left, [dim], True)
            elif two != 1:
                right = _SUM(right, [dim], True)
        elif one != 1 and two != 1:
            both.append(dim)
        elif one != 1:
            in_left.append(dim)
        else:
            in_right.append(dim)
    if _AS_RESULT and in_left and in_right and in_right[-1] < in_left[0]:
        left, right, in_left, in_right = right, left, in_right, in_left
    order = [*both, *in_left, *dims, *in_right]
    batch, rows = ([left._sizes[dim] for dim in each] for each in (both, in_left))
    columns = [right._sizes[dim] for dim in in_right]
    sizes = [*batch, *rows, *(1 for _ in dims), *columns]
    left = _RESHAPE(_PERMUTE(left, order), [prod(batch), prod(rows), summed])
    other_order = [*both, *dims, *in_right, *in_left]
    right = _RESHAPE(_PERMUTE(right, other_order), [prod(batch), summed, prod(columns)])
    product = _VIEW(_BMM(left, right), sizes)
    return _PERMUTE(product, [order.index(dim) for dim in range(len(order))])


def _contracted(one: Any, two: Any, dims: range, counts: list[int]) -> Any:
    """The product of two operands, over the dimensions that no other operand has."""
    shared: list[int] = []
    in_one: list[int] = []
    in_two: list[int] = []
    for dim in dims:
        has_one, has_two = one._sizes[dim] != 1, two._sizes[dim] != 1
        if has_one and has_two:
            counts[dim] -= 1
            where = shared
        else:
            where = in_one if has_one else in_two
        if counts[dim] == 1 and (has_one or has_two):
            where.append(dim)
            counts[dim] = 0
    if in_one:
        one = _SUM(one, in_one, True)
    if in_two:
        two = _SUM(two, in_two, True)
    return sumproduct_pair(one, two, shared)


def _pair(path: Iterator[int], count: int) -> tuple[int, int]:
    """The two operands that a path says are next."""
    one, two = sorted((next(path), next(path)))
    if one == two or one < 0 or two >= count:
        why = (
            "cannot contract an operand with itself"
            if one == two
            else "operand index is out of bounds"
        )
        raise RuntimeError(f"einsum(): invalid contraction ({one}, {two}) {why}")
    return one, two


@kernel("aten::einsum", key="CompositeImplicitAutograd")
def einsum(equation: str, tensors: Sequence[Tensor], path: Sequence[int] | None) -> Any:
    if not tensors:
        raise RuntimeError("einsum(): must provide at least one operand")
    steps = 1 if len(tensors) == 1 else (len(tensors) - 1) * 2
    if path is not None and len(path) != steps:
        raise RuntimeError(
            "einsum(): expected contraction path given in path parameter to have size "
            f"{steps} but got {len(path)}"
        )
    given, arrow, wanted = equation.partition(_ARROW)
    subscripts = _inputs(given, len(tensors))
    covered = _covered(tensors, subscripts)
    seen = [label for labels in subscripts for label in labels]
    if arrow:
        output = _output(wanted, len(given) + 2, set(seen))
    else:
        output = [_ELLIPSIS, *(label for label in _LABELS if seen.count(label) == 1)]
    summed = [label for label in (_ELLIPSIS, *_LABELS) if label in seen and label not in output]
    aligned = _Aligned([*output, *summed], covered)
    rank = aligned.rank - sum(covered if label == _ELLIPSIS else 1 for label in summed)
    operands = [
        aligned.align(which, operand, labels)
        for which, (operand, labels) in enumerate(zip(tensors, subscripts, strict=True))
    ]
    dims = range(rank, aligned.rank)
    if len(operands) == 1:
        return _SUM(operands[0], list(dims)) if dims else operands[0]
    along = None if path is None else iter(path)
    while len(operands) > 1:
        one, two = (0, 1) if along is None else _pair(along, len(operands))
        second, first = operands.pop(two), operands.pop(one)
        where = 0 if along is None else len(operands)
        operands.insert(where, _contracted(first, second, dims, aligned.counts))
    (result,) = operands
    return _VIEW(result, list(result._sizes[:rank])) if dims else result
