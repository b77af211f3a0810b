"""The functions about functional tensors, as pybind11 binds them: in torch, ``_C`` and functorch.

Releases that parse the arguments of those in torch as they do for every other function have them
in :mod:`mindtorch_v2.binding.python.accessors`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any, Final

from mindtorch_v2 import profile
from mindtorch_v2.functionalize import functions
from mindtorch_v2.pybind import cast as _cast
from mindtorch_v2.pybind.function import cpp_function
from mindtorch_v2.tensor.tensor import Tensor

_DOCS: Final = profile.active().functionalization["functions"]

_cast.register_class("torch.Tensor", Tensor)


def _bound(module: str, known: Mapping[str, Any]) -> dict[str, Any]:
    """Those of a module that the release has."""
    found = {}
    for name, doc in _DOCS[module].items():
        function = known.get(name)
        if function is not None:
            made = cpp_function.documented(name, doc, function, _LOADERS.get(name))
            made.__module__ = module.replace("torch", "mindtorch_v2", 1)
            found[name] = made
    return found


_LOADERS: Final = {"_wrap_functional_tensor": {"arg1": _cast.signed_loader(64)}}

OF_TORCH: Final = _bound("torch", functions.OF_TORCH)
OF_C: Final = _bound("torch._C", functions.OF_C)


def functorch_module() -> ModuleType:
    """``torch._C._functorch``."""
    made = ModuleType("mindtorch_v2._C._functorch")
    vars(made).update(_bound("torch._C._functorch", functions.OF_FUNCTORCH))
    return made


def sync(t: Any) -> None:
    """``torch._sync``, which torch writes in Python, so that a subclass may answer."""
    from mindtorch_v2 import _functionalize_sync  # type: ignore[attr-defined]

    _functionalize_sync(t)


sync.__doc__ = None
sync.__name__ = sync.__qualname__ = "_functionalize_sync"
sync.__module__ = "mindtorch_v2._utils"
