"""``torch.autograd.forward_ad``: levels at which tensors have tangents.

Mirrors ``torch/autograd/forward_ad.py`` and ``torch/csrc/autograd/forward_grad.cpp``.  Levels are
entered and exited, and what is refused without one is; tensors with tangents are left out, so a
dual cannot be made.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from mindtorch_v2.functional import bound_function
from mindtorch_v2.utils._contextlib import _DecoratorContextManager

__all__ = [
    "UnpackedDualTensor",
    "dual_level",
    "enter_dual_level",
    "exit_dual_level",
    "make_dual",
    "unpack_dual",
]

LEVELS: Final[list[int]] = []
"""Those that are entered, which is one at most; of the whole process, as in C++."""


class UnpackedDualTensor(NamedTuple):
    """What a tensor is, and its tangent if it has one."""

    primal: Any
    tangent: Any


def enter_dual_level() -> int:
    """Begin the next level; RuntimeError in another."""
    if LEVELS:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    LEVELS.append(0)
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """End the last level; RuntimeError for another, and for none."""
    current = len(LEVELS) - 1
    if level is None:
        level = current
    if level != current:
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This "
            "is not supported."
        )
    if level < 0:
        raise RuntimeError("Dual level must be a positive number.")
    LEVELS.pop()


def make_dual(tensor: Any, tangent: Any, *, level: int | None = None) -> Any:
    """The tensor with a tangent."""
    if level is None:
        level = len(LEVELS) - 1
    if level < 0:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to "
            "enter_dual_level() first."
        )
    for name, each in (("primal", tensor), ("tangent", tangent)):
        if not (each.is_floating_point() or each.is_complex()):
            raise ValueError(
                f"Expected {name} to be floating point or complex, but got: {each.dtype}"
            )
    return bound_function("_make_dual")(tensor, tangent, level=level)


def unpack_dual(tensor: Any, *, level: int | None = None) -> UnpackedDualTensor:
    """The tensor without its tangent, and that."""
    if level is None:
        level = len(LEVELS) - 1
    if level < 0:
        return UnpackedDualTensor(tensor, None)
    primal, tangent = bound_function("_unpack_dual")(tensor, level=level)
    return UnpackedDualTensor(primal, tangent)


class dual_level(_DecoratorContextManager):  # noqa: N801
    """A level within a block."""

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        exit_dual_level()
