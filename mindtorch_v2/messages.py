"""Messages whose words depend on how a release was built.

Mirrors TORCH_INTERNAL_ASSERT in ``c10/util/Exception.h``: its message names the C++ file and line
it stands in, which are facts of the profile.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2 import profile

_FACTS: Final = profile.active().messages

FUNCTION_OWNER: Final[str] = _FACTS["function_owner"]
"""What pybind11's functions are methods of, as their repr has it."""

AMBIGUOUS_AUTOGRAD_OTHER: Final[str] = _FACTS["ambiguous_autogradother"]
"""What is said of an operator with two kernels that are as good."""


WARNING_TEXTS: Final[dict[str, str]] = _FACTS["warning_texts"]
"""What is warned of in other words by other releases, by the function that does."""


METADATA: Final[dict[str, Any]] = _FACTS["metadata"]
"""What is said of a tensor that is not as was asserted, and what is looked at for that."""


def not_differentiable(dtype: str) -> str:
    """What is said of a result with history whose C++ dtype has no gradients."""
    return str(_FACTS["not_differentiable"]).format(dtype)


def std_string(pointer: str | None) -> str:
    """``std::string(const char*)``: RuntimeError for a null pointer, in the C++ library's words."""
    if pointer is None:
        raise RuntimeError(_FACTS["null_string"])
    return pointer


def internal_assert(condition: str, function: str) -> str:
    """The message of a TORCH_INTERNAL_ASSERT that failed in a C++ ``function``.

    Where releases write the condition otherwise, theirs is a fact.

    Where that stands is not known of a release whose profile was made without its torch.
    """
    location = _FACTS["asserts"].get(function, "an unknown place")
    written = _FACTS["conditions"].get(function, condition)
    return f"{written} INTERNAL ASSERT FAILED at {location}, please report a bug to PyTorch. "


def uncast() -> str:
    """What a loop says of tensors of other dtypes than it is compiled for: it casts none."""
    return internal_assert("!needs_dynamic_casting<func_t>::check(iter)", "cpu_kernel")


def expected(condition: str) -> str:
    """The message of a TORCH_CHECK that failed and was given no words."""
    return (
        f"Expected {condition} to be true, but got false.  (Could this error message be improved?  "
        "If so, please report an enhancement request to PyTorch.)"
    )


def out_of_bounds(index: object, dim: int, size: int) -> str:
    """What is said of an index by functions that look at their indices themselves."""
    return f"index {index} is out of bounds for dimension {dim} with size {size}"


def is_asserted(function: str) -> bool:
    """Whether this release's C++ ``function`` has the assertion that is known of it."""
    return function in _FACTS["asserts"]
