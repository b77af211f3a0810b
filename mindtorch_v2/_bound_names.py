"""Where users find the bound functions and methods: ``torch.add``, ``Tensor.add``, ``_C._nn`` …

Mirrors what ``torch/__init__.py`` and its modules take over from ``torch._C``.  Until an operator
has a kernel, the function of the same name that this package has by hand runs in its place.
"""

from __future__ import annotations

from types import ModuleType, SimpleNamespace
from typing import Any, Final

from mindtorch_v2 import _tensor, profile
from mindtorch_v2.binding.python.bindings import functions_of, methods
from mindtorch_v2.binding.python.getset import getset_descriptor
from mindtorch_v2.tensor.base import TensorBase
from mindtorch_v2.tensor.tensor import Tensor

_PREFIXES: Final = {
    "fft": "fft_",
    "linalg": "linalg_",
    "special": "special_",
    "sparse": "_sparse_",
    "nested": "nested_",
}
"""Python module to what its functions' names begin with in ``torch._C``."""


def bind_methods() -> None:
    """Give tensors every method of the release; those written by hand keep their values."""
    for name, method in methods(dict(vars(Tensor))).items():
        if name in vars(Tensor):
            delattr(Tensor, name)
        setattr(TensorBase, name, method)
    for name, kind in profile.active().signatures["names"]["torch._C.TensorBase"].items():
        own = vars(Tensor).get(name)
        if kind == "getset_descriptor" and isinstance(own, property):
            assert own.fget is not None
            setattr(TensorBase, name, getset_descriptor(name, own.fget, own.fset))
            delattr(Tensor, name)
    _tensor.bind()


def bind_functions(public: dict[str, Any], c_module: ModuleType) -> None:
    """Put the functions of the release into ``public``, torch's own names, and into ``_C``."""
    functions = functions_of("torch", public)
    public.update(functions)
    for name in ("TensorBase", "_TensorBase"):
        setattr(c_module, name, TensorBase)
    c_module._VariableFunctions = SimpleNamespace(**functions)  # type: ignore[attr-defined]
    _bind_module(c_module, "nn")
    for module, prefix in _PREFIXES.items():
        short = _bind_module(c_module, module)
        names = {name.removeprefix(prefix): function for name, function in short.items()}
        target = public.setdefault(module, ModuleType(f"mindtorch_v2.{module}"))
        for name, function in names.items():
            if not hasattr(target, name):
                setattr(target, name, function)


def _bind_module(c_module: ModuleType, module: str) -> dict[str, Any]:
    functions = functions_of(module, {})
    made = ModuleType(f"mindtorch_v2._C._{module}")
    vars(made).update(functions)
    setattr(c_module, f"_{module}", made)
    return functions
