"""The operators that torch has for the interpreter of TorchScript, and calls as any other.

Mirrors ``torch/csrc/jit/runtime/register_prim_ops.cpp`` and ``register_special_ops.cpp``: builtin
functions of Python as C++ has them, ``aten::len.t`` or ``aten::sqrt.int``.  No dispatcher knows
them; ``torch.ops.aten.sqrt(-1)`` finds them like the rest.  What they answer is C++'s: an ``int``
has 64 bits and a ``str`` is bytes.

They are loaded when the first of them is called.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from mindtorch_v2.kernels.interpreter import (
    conversions,
    dicts,
    elementary,
    gradients,
    lists,
    numbers,
    stack,
    states,
    strings,
    tensors,
)
from mindtorch_v2.kernels.interpreter.values import Operation

_BY_NAME: Final[dict[str, Operation]] = {
    **conversions.OPERATIONS,
    **elementary.OPERATIONS,
    **gradients.OPERATIONS,
    **lists.OPERATIONS,
    **numbers.OPERATIONS,
    **stack.OPERATIONS,
    **states.OPERATIONS,
    **strings.OPERATIONS,
    **tensors.OPERATIONS,
}


_FAMILIES: Final = (numbers, elementary, lists, dicts)


@cache
def find(name: str, types: tuple[str, ...]) -> Operation | None:
    """What the operator ``aten::add.int`` with arguments of these types does; None if unknown."""
    found = _BY_NAME.get(name)
    if found is None:
        base = name.partition(".")[0]
        found = next(filter(None, (family.find(base, types) for family in _FAMILIES)), None)
    return found
