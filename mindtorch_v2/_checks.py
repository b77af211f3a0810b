"""``torch._check`` and its siblings: errors of a program's own, unless something holds.

Mirrors the functions of ``torch/__init__.py``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any, Final

from mindtorch_v2.tensor.dtype import DTYPES
from mindtorch_v2.tensor.support import HABITS
from mindtorch_v2.tensor.symbolic import SymBool
from mindtorch_v2.tensor.tensor import Tensor

UNSAID: Final = (
    "Expected cond to be True, but got False. (Could this error message be improved? If so, please "
    "report an enhancement request to PyTorch.)"
)
"""What is said of a condition of which the caller says nothing."""
_OF_TENSORS: Final = "a check of a tensor is told of that of all elements"
_REMOVED: Final = (
    "_check_is_size will be removed in a future PyTorch release along with guard_size_oblivious. "
    "    Use _check(i >= 0) instead."
)


def _check_with(error_type: Any, cond: Any, message: Any) -> None:
    """Raise an error of a class unless ``cond`` is true; ``message`` is called for its text."""
    if not isinstance(cond, (bool, SymBool)):
        if isinstance(cond, Tensor) and HABITS[_OF_TENSORS]:
            raise TypeError(
                "cond must be a bool, but got a Tensor. For tensor conditions, use "
                "torch._check_tensor_all() to assert that all elements are true."
            )
        raise TypeError(f"cond must be a bool, but got {type(cond)}")
    if cond:
        return
    assert issubclass(error_type, Exception)
    assert not issubclass(error_type, Warning)
    if message is None:
        raise error_type(UNSAID)
    if not callable(message):
        if HABITS["a check takes a text"]:
            raise error_type(str(message))
        raise TypeError("message must be a callable")
    raise error_type(str(message()))


def _check_tensor_all_with(error_type: Any, cond: Any, message: Any = None) -> None:
    """The same for every element of a tensor."""
    if not isinstance(cond, Tensor):
        raise TypeError(f"cond must be a tensor, but got {type(cond)}")
    if cond.dtype is not DTYPES["bool"]:
        raise TypeError(f"cond tensor must have dtype torch.bool, but got {cond.dtype}")
    every: Any = cond
    _check_with(error_type, every._is_all_true().item(), message)


def _raising(name: str, error_type: type[Exception], check: Callable[..., None]) -> Any:
    """A function that raises errors of one class."""

    def bound(cond: Any, message: Any = None) -> None:
        check(error_type, cond, message)

    bound.__name__ = bound.__qualname__ = name
    return bound


def _check_is_size(i: Any, message: Any = None) -> None:
    """RuntimeError for a negative number."""
    _check_with(RuntimeError, i >= 0, message)


def _check_is_size_within(i: Any, message: Any = None, *, max: Any = None) -> None:
    """The same, and for one above ``max``."""
    _check_is_size(i, message)
    if max is not None:
        _check_with(RuntimeError, i <= max, message)


_check_is_size_within.__name__ = _check_is_size_within.__qualname__ = "_check_is_size"


def _to_be_removed(check: Callable[..., None]) -> Callable[..., None]:
    """``deprecated`` of ``typing_extensions``: warns of every call, even of one that is refused."""

    @wraps(check)
    def warning(*args: Any, **kwargs: Any) -> None:
        warnings.warn(_REMOVED, FutureWarning, stacklevel=2)
        return check(*args, **kwargs)

    return warning


_OF_A_SIZE: Final = (
    _check_is_size_within if HABITS["a size that is checked may have a bound"] else _check_is_size
)


_ERRORS: Final = {
    "_check": RuntimeError,
    "_check_index": IndexError,
    "_check_value": ValueError,
    "_check_type": TypeError,
    "_check_not_implemented": NotImplementedError,
}

OF_TORCH: Final[dict[str, Any]] = {
    **{name: _raising(name, error, _check_with) for name, error in _ERRORS.items()},
    "_check_tensor_all": _raising("_check_tensor_all", RuntimeError, _check_tensor_all_with),
    "_check_tensor_all_with": _check_tensor_all_with,
    "_check_is_size": (
        _to_be_removed(_OF_A_SIZE) if HABITS["a check of a size will be removed"] else _OF_A_SIZE
    ),
    "_check_with": _check_with,
}
