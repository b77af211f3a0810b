"""Where users find the bound functions and methods: ``torch.add``, ``Tensor.add``, ``_C._nn`` …

Mirrors what ``torch/__init__.py`` and its modules take over from ``torch._C``.  Until an operator
has a kernel, the function of the same name that this package has by hand runs in its place.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any, Final

from mindtorch_v2 import _tensor, functional
from mindtorch_v2.amp import deprecated
from mindtorch_v2.autograd import python_variable
from mindtorch_v2.binding.python import properties, tensor_types
from mindtorch_v2.binding.python.bindings import functions_of, methods
from mindtorch_v2.binding.python.exceptions import has_no_module
from mindtorch_v2.binding.python.function import BASE, OWNERS, module_function
from mindtorch_v2.linalg_error import _LinAlgError
from mindtorch_v2.pybind.function import cpp_function
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

_IN_PYTHON: Final = (
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "block_diag",
    "broadcast_shapes",
    "broadcast_tensors",
    "cartesian_prod",
    "chain_matmul",
    "einsum",
    "lu",
    "meshgrid",
    "norm",
    "split",
    "tensordot",
    "unique",
    "unique_consecutive",
    "unravel_index",
)
"""Functions of torch that stand before those of C++."""


_OF_C: Final = (
    *("Generator", "Size", "Stream", "default_generator", "device", "dtype", "finfo", "iinfo"),
    *("layout", "memory_format", "qscheme"),
)
"""What torch takes over from ``torch._C``, and this package has elsewhere."""

_FUNCTIONS_OF_C: Final[dict[int | None, Sequence[str]]] = {
    0: (
        *("autocast_decrement_nesting", "autocast_increment_nesting", "clear_autocast_cache"),
        *("get_default_dtype", "is_anomaly_check_nan_enabled", "is_anomaly_enabled"),
        *("is_autocast_cache_enabled", "is_grad_enabled", "is_inference_mode_enabled"),
    ),
    1: ("set_autocast_cache_enabled",),
    None: (
        *("get_autocast_dtype", "is_autocast_enabled", "set_autocast_dtype"),
        "set_autocast_enabled",
    ),
}
"""Its functions, by how many arguments CPython lets through; None where they count themselves."""


def bind_methods() -> None:
    """Give tensors every method of the release; those written by hand keep their values."""
    for name, method in methods(dict(vars(Tensor))).items():
        if name in vars(Tensor):
            delattr(Tensor, name)
        setattr(TensorBase, name, method)
    own = {name: value for name, value in vars(Tensor).items() if type(value) is property}
    for name in own:
        delattr(Tensor, name)
    for name, made in properties.made({**own, **python_variable.PROPERTIES}).items():
        setattr(TensorBase, name, made)
    _tensor.bind()
    python_variable.bind()
    TensorBase.__new__ = tensor_types.new_instance  # type: ignore[method-assign]


def bind_functions(public: dict[str, Any], c_module: ModuleType) -> None:
    """Put the functions of the release into ``public``, torch's own names, and into ``_C``."""
    functions = functions_of("torch", public)
    public.update({name: each for name, each in functions.items() if not has_no_module(name)})
    public.update({name: getattr(functional, name) for name in _IN_PYTHON})
    c_module.TensorBase = c_module._TensorBase = TensorBase  # type: ignore[attr-defined]
    owner = type("_VariableFunctionsClass", (), {**functions, "__module__": c_module.__name__})
    vars(c_module).update(_VariableFunctionsClass=owner, _VariableFunctions=owner())
    OWNERS.update({owner.__name__: owner, BASE: TensorBase})
    _bind_module(c_module, "nn")
    for module, prefix in _PREFIXES.items():
        short = _bind_module(c_module, module)
        names = {name.removeprefix(prefix): function for name, function in short.items()}
        target = public.setdefault(module, ModuleType(f"mindtorch_v2.{module}"))
        for name, function in names.items():
            if not hasattr(target, name):
                setattr(target, name, function)
    public["linalg"].LinAlgError = _LinAlgError


def bind_types(public: dict[str, Any]) -> None:
    """Put the classes of tensors by name where torch has them, ``torch.sparse`` included."""
    for module, types in tensor_types.made().items():
        target = vars(public[module]) if module else public
        target.update(types)


def bind_what_c_has(public: dict[str, Any], c_module: ModuleType) -> None:
    """Put into ``_C`` what torch's own names come from; its functions are C's."""
    for count, names in _FUNCTIONS_OF_C.items():
        made = {name: module_function(name, public[name], count, "torch") for name in names}
        public.update(made)
        vars(c_module).update(made)
    for name, function in deprecated.FUNCTIONS.items():
        public[name] = module_function(name, function, deprecated.takes(name), "torch")
        setattr(c_module, name, public[name])
    vars(c_module).update({name: public[name] for name in _OF_C})


def name_modules(c_module: ModuleType) -> None:
    """Have the functions of ``_C`` say where they are: the public ones, torch renames to itself."""
    public = c_module.__name__.partition(".")[0]
    for name, function in vars(c_module).items():
        if isinstance(function, cpp_function):
            is_own = name.startswith("_") or name.endswith("Base")
            function.__module__ = c_module.__name__ if is_own else public


def _bind_module(c_module: ModuleType, module: str) -> dict[str, Any]:
    functions = functions_of(module, {})
    made = ModuleType(f"mindtorch_v2._C._{module}")
    sys.modules[made.__name__] = made  # where pickles look its functions up
    vars(made).update(functions)
    setattr(c_module, f"_{module}", made)
    return functions
