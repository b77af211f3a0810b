"""The kernel that an operator has at FuncTorchBatched: ``torch.library.register_vmap``.

Mirrors the kernels of ``torch/library.py`` and ``torch/_library/custom_ops.py``.  There is no
functorch here, whose interpreter would call the function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch_v2._ops import OpOverload


def vmap_kernel(
    op: OpOverload, function: Callable[[], Callable[..., Any] | None]
) -> Callable[..., Any]:
    """A kernel that would have functorch call ``function()``; its first argument is the keyset.

    It keeps alive what that refers to, as torch's does.
    """

    def wrapped_func(keyset: Any, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(
            f"mindtorch_v2 has no functorch yet that would batch {op} by {function()!r}"
        )

    return wrapped_func
