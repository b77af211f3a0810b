"""Operators made of triton kernels, which needs triton; without it, they are custom operators.

Mirrors ``torch/_library/triton.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

from mindtorch_v2._library.custom_ops import CustomOpDef, custom_op
from mindtorch_v2._library.infer_schema import infer_schema
from mindtorch_v2._library.release import exposed


@exposed
def triton_op(
    name: str,
    fn: Callable[..., Any] | None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    schema: str | None = None,
) -> Any:
    """A custom operator whose function is its fake implementation, too."""

    def dec(fn: Callable[..., Any]) -> CustomOpDef:
        def backend_fn(*args: Any, **kwargs: Any) -> Any:
            return fn(*args, **kwargs)

        text = infer_schema(fn, mutates_args=mutates_args)
        result: CustomOpDef = custom_op(name, backend_fn, mutates_args=mutates_args, schema=text)
        result.register_fake(fn)
        return result

    return dec if fn is None else dec(fn)


@exposed
def wrap_triton(triton_kernel: Callable[..., Any], /) -> Any:
    """A triton kernel that can be traced; ModuleNotFoundError without triton."""
    import_module("triton")
    raise RuntimeError(
        "wrap_triton only works on functions annotated with triton.jit or triton.autotune"
    )
