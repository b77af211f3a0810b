"""A tensor as C++ prints it, which the words of a refusal do.

Mirrors ``print`` of ``aten/src/ATen/core/Formatting.cpp``, which up to 2.7 is written with streams
and from then on with fmt.  What sparse and quantized tensors print beyond their values is left out.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Final, NamedTuple

from mindtorch_v2.functionalize.wrapper import is_functional, synced_value, wrapper_of
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.tensor.copying import raw_array
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.dtype import DTYPES
from mindtorch_v2.tensor.support import HABITS
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.tensor.type_string import type_string

_FLOAT64: Final = DTYPES["float64"]
_LINE: Final = 80
_SHOWS_FUNCTIONAL: Final = HABITS["a functional tensor is printed as its value"]
_BY_FMT: Final = HABITS["tensors are printed by fmt"]

_CONTIGUOUS: Final = OperatorHandle("aten::contiguous")
_SELECT: Final = OperatorHandle("aten::select.int")
_TO: Final = OperatorHandle("aten::to.device")


def printed(tensor: Tensor) -> str:
    """``operator<<``: the elements, line by line, and ``[ torch.FloatTensor{2,3} ]``."""
    if _SHOWS_FUNCTIONAL and _is_of_transform(tensor):
        tensor = synced_value(tensor)
    values = _CONTIGUOUS(_TO(tensor, Device("cpu"), _FLOAT64))
    lines = "" if 0 in values._sizes else _Printer().tensor(values)
    return f"{lines}[ {type_string(tensor)}{{{','.join(map(str, values._sizes))}}} ]"


def _is_of_transform(tensor: Tensor) -> bool:
    """Whether it is functional, and a transform has made it so: nobody unwraps any other."""
    return is_functional(tensor) and wrapper_of(tensor).level != -1


class _Format(NamedTuple):
    """How the elements of a tensor are printed: as multiples of a scale, in so many columns."""

    scale: float
    width: int
    spec: str

    def element(self, value: float) -> str:
        text = format(value / self.scale, self.spec)
        if math.isnan(value) and math.copysign(1, value) < 0:
            text = f"-{text}"
        return text.rjust(self.width)


class _Printer:
    """A stream, and the format of its numbers, which outlives the matrix that it was set for."""

    def __init__(self) -> None:
        self._general = "g"

    def tensor(self, values: Tensor) -> str:
        dim = len(values._sizes)
        if dim == 0:
            return self._number(_elements(values)[0]) + "\n"
        if dim == 1:
            return self._vector(values)
        if dim == 2:
            return self._matrix(values, 0)
        return "\n".join(self._matrices(values))

    def _matrices(self, values: Tensor) -> Iterator[str]:
        """Those of the last two dimensions, the first index counting fastest."""
        counts = map(range, reversed(values._sizes[:-2]))
        for reverse in itertools.product(*counts):
            matrix, place = values, reverse[::-1]
            for index in place:
                matrix = _SELECT(matrix, 0, index)
            at = "".join(f"{index + 1}," for index in place)
            yield f"({at}.,.) = \n{self._matrix(matrix, 1)}"

    def _vector(self, values: Tensor) -> str:
        style = self._format(values)
        return self._scale(style) + "".join(f"{style.element(v)}\n" for v in _elements(values))

    def _matrix(self, values: Tensor, indent: int) -> str:
        """Its columns in blocks that fit into a line, rows after the first indented."""
        style = self._format(values)
        rows, columns = values._sizes
        margin, per_line = " " * indent, (_LINE - indent) // (style.width + 1)
        text = "" if _BY_FMT else margin
        for first in range(0, columns, per_line):
            last = min(first + per_line, columns)
            if per_line < columns:
                text += "\n" * (first != 0) + f"Columns {first + 1} to {last}{margin}"
            is_scaled = style.scale != 1
            text += self._scale(style) + margin * is_scaled
            text += f"{margin}{' ' * is_scaled}".join(
                " ".join(map(style.element, _elements(_SELECT(values, 0, row))[first:last])) + "\n"
                for row in range(rows)
            )
        return text

    def _scale(self, style: _Format) -> str:
        return "" if style.scale == 1 else f"{self._number(style.scale)} *\n"

    def _number(self, value: float) -> str:
        return repr(value).removesuffix(".0") if _BY_FMT else format(value, self._general)

    def _format(self, values: Tensor) -> _Format:
        """``__printFormat``."""
        elements = [value for value in _elements(values) if math.isfinite(value)]
        least, most = _exponents(elements)
        if all(map(float.is_integer, elements)):
            return self._scientific(11) if most > 9 else _Format(1, most + 1, self._general)
        if most - least > 4:
            return self._scientific(12 if max(abs(most), abs(least)) > 99 else 11)
        self._set_precision()
        if most > 5 or most < 0:
            return _Format(10.0 ** (most - 1), 7, ".4f")
        return _Format(1, most + 6 if most else 7, ".4f")

    def _scientific(self, width: int) -> _Format:
        self._set_precision()
        return _Format(1, width, ".4e")

    def _set_precision(self) -> None:
        """A stream keeps it for numbers in the general format, which are printed later."""
        if not _BY_FMT:
            self._general = ".4g"


def _elements(values: Tensor) -> list[float]:
    return [float(value) for value in raw_array(values).flat]


def _exponents(elements: list[float]) -> tuple[int, int]:
    """Those of the numbers nearest to and farthest from zero, from 1 for numbers below 10.

    A stream's format takes for the farthest the last number that is larger than those before it.
    """
    if not elements:
        return 1, 1
    least, most = min(map(abs, elements)), abs(elements[0])
    for value in elements:
        if (abs(value) if _BY_FMT else value) > most:
            most = abs(value)
    return _exponent(least), _exponent(most)


def _exponent(value: float) -> int:
    return math.floor(math.log10(value)) + 1 if value else 1
