"""Fake implementations: what an operator does with tensors that have no data.

Mirrors ``torch/_library/fake_impl.py`` (``abstract_impl.py`` in older releases).  There are no fake
tensors here, so the context of a fake implementation is never one that makes sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any, NoReturn

from mindtorch_v2 import _C
from mindtorch_v2._library.release import does, message, taken
from mindtorch_v2._library.utils import Kernel, RegistrationHandle

if TYPE_CHECKING:
    from mindtorch_v2.library import Library


class FakeImplHolder:
    """The fake implementations of one operator; the last one runs."""

    def __init__(self, qualname: str) -> None:
        self.qualname = qualname
        self.kernels: list[Kernel] = []
        self.lib: Library | None = None

    @property
    def kernel(self) -> Kernel | None:
        return self.kernels[-1] if self.kernels else None

    def register(
        self, func: Callable[..., Any], source: str, lib: Library, *, allow_override: bool = False
    ) -> RegistrationHandle:
        """Make ``func`` the operator's kernel at Meta, through ``lib``.

        RuntimeError, unless it may override, for an operator that has one, or a kernel at Meta or
        CompositeImplicitAutograd.
        """
        if not allow_override:
            self._check_none()
        kernel = Kernel(func, source)
        self.kernels.append(kernel)
        owns_library = does("a fake impl has a library of its own")
        if owns_library:
            from mindtorch_v2 import library

            namespace = self.qualname.split("::")[0]
            made: Any = library.Library
            lib = self.lib = self.lib or made(namespace, "FRAGMENT")
        options = taken("Library.impl", allow_override=allow_override)
        meta_kernel = construct_meta_kernel(self.qualname, self)
        try:
            lib.impl(self.qualname, meta_kernel, "Meta", **options)
        except Exception:
            if not owns_library:
                self.kernels.remove(kernel)
            raise
        return RegistrationHandle(lambda: self._deregister(kernel))

    def _deregister(self, kernel: Kernel) -> None:
        if self.lib is not None:
            self.lib._destroy()
            self.lib = None
        if kernel in self.kernels:
            self.kernels.remove(kernel)

    def _check_none(self) -> None:
        if self.kernel is not None:
            shown = {"qualname": self.qualname, "source": self.kernel.source}
            raise RuntimeError(*message("fake twice", **shown))
        for key, name in (
            ("Meta", "fake over Meta"),
            ("CompositeImplicitAutograd", "fake over composite"),
        ):
            if _C._dispatch_has_kernel_for_dispatch_key(self.qualname, key):
                raise RuntimeError(*message(name, qualname=self.qualname))


def construct_meta_kernel(qualname: str, holder: FakeImplHolder) -> Callable[..., Any]:
    """A kernel that runs the fake implementation, which then may not ask for a context."""
    assert holder.kernel is not None

    @wraps(holder.kernel.func)
    def meta_kernel(*args: Any, **kwargs: Any) -> Any:
        kernel = holder.kernel
        assert kernel is not None

        def error_on_ctx() -> NoReturn:
            shown = {"qualname": qualname, "source": kernel.source}
            raise RuntimeError(*message("context of a meta kernel", **shown))

        with set_ctx_getter(error_on_ctx):
            return kernel(*args, **kwargs)

    return meta_kernel


def get_none() -> None:
    return None


_ctx_getter: list[Callable[[], Any]] = [get_none]


def global_ctx_getter() -> Any:
    """The context of the fake implementation that runs; None outside of one."""
    return _ctx_getter[0]()


@contextmanager
def set_ctx_getter(ctx_getter: Callable[[], Any]) -> Iterator[None]:
    before, _ctx_getter[0] = _ctx_getter[0], ctx_getter
    try:
        yield
    finally:
        _ctx_getter[0] = before
