"""A small view of the dispatcher: register kernels of one operator, read the table that follows.

Mirrors ``torch/_python_dispatcher.py``.  Of the many dispatch keys it shows one backend of each
kind: CPU with autograd in the core library, FPGA, whose autograd is AutogradOther, XLA and Lazy,
which bring their own; and the alias keys that stand for them.

    >>> dispatcher = PythonDispatcher()
    >>> dispatcher.register(["CPU", "CompositeImplicitAutograd"])
    >>> print(dispatcher.dispatchTable())
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from mindtorch_v2 import _C, profile

_LINE: Final = "{:<15} {}\n"
_RULE: Final = "---------------------------\n"
_FALLBACK: Final = re.compile(r"registered at .*FallbackKernel\.cpp.*(?=\[)")
"""Where a fallback of the core library was registered, which a table leaves out."""


class PythonDispatcher:
    """The operator ``__test__::foo``, as long as this object lives.

    The kernel that it registers for a key is called ``fn_<key>``; nothing of it ever runs.
    """

    namespace = "__test__"
    name = "foo"
    runtime_keys: Final = [
        *("CPU", "AutogradCPU"),
        *("FPGA", "AutogradOther"),
        *("XLA", "AutogradXLA"),
        *("Lazy", "AutogradLazy"),
    ]
    alias_keys: Final = ["CompositeExplicitAutograd", "Autograd", "CompositeImplicitAutograd"]
    supported_keys: Final = runtime_keys + alias_keys

    def __init__(self) -> None:
        _C._dispatch_check_invariants(self.name)
        self.ref = _C._dispatch_library("FRAGMENT", self.namespace, "")
        self.ref.def_("foo(Tensor x) -> Tensor")

    def keys(self) -> list[str]:
        """The keys that kernels can be registered for."""
        return self.supported_keys

    def register(self, dispatchKeys: Sequence[str]) -> None:  # noqa: N803 (torch's name)
        """Register a kernel for each key.

        RuntimeError for a key that comes twice, for both composite keys, which only the code
        generator refuses otherwise, and at the first key that is not supported: those before it
        stay registered.
        """
        if len(set(dispatchKeys)) != len(dispatchKeys):
            overridden = profile.active().messages["overridden"]
            raise RuntimeError(
                f"{overridden} is not allowed but found duplicates in {dispatchKeys}."
            )
        if "CompositeImplicitAutograd" in dispatchKeys and (
            "CompositeExplicitAutograd" in dispatchKeys
        ):
            raise RuntimeError(
                "Registration to both CompositeImplicitAutograd and CompositeExplicitAutograd is "
                "not allowed."
            )
        for key in dispatchKeys:
            if key not in self.supported_keys:
                raise RuntimeError(
                    f"{key} is not supported, please select a dispatch key in "
                    f"{self.supported_keys}."
                )
            self.ref.impl_t_t("foo", dispatch=key, debug=f"fn_{key}")

    def rawRegistrations(self) -> str:  # noqa: N802 (torch's names, here and below)
        """The dump of what is registered."""
        return str(_C._dispatch_dump(f"{self.namespace}::{self.name}"))

    def rawDispatchTable(self) -> str:  # noqa: N802
        """The dump of the whole table."""
        return str(_C._dispatch_dump_table(f"{self.namespace}::{self.name}"))

    def registrations(self) -> str:
        """What is registered, alias keys included, a line per key."""
        lines = []
        for line in self.rawRegistrations().split("\n"):
            key = line.split(":")[0]
            if key.startswith(tuple(self.supported_keys)):
                lines.append(self._format_line(key, line.split("::")[0].split(" ")[1]))
        return self._format_header("Registered Kernels") + "".join(lines)

    def dispatchTable(self) -> str:  # noqa: N802
        """The table that follows, for the runtime keys: what the alias keys stand for."""
        lines = []
        for line in self.rawDispatchTable().split("\n"):
            key = line.split(":")[0]
            if key in self.runtime_keys:
                lines.append(self._format_line(key, _FALLBACK.sub("", line).split(": ")[1]))
        return self._format_header("Computed Dispatch Table") + "".join(lines)

    def _format_line(self, key: str, kernel: str) -> str:
        return _LINE.format(key, kernel)

    def _format_header(self, header: str) -> str:
        return f"\n{header}\n{self._format_line('key', 'kernel')}{_RULE}"
