"""The ``torch._C`` names: a thin façade over :mod:`mindtorch_v2.dispatch`, no logic.

Which of these names a release has, and how each prints its arguments, are facts of the profile
(``bindings``): a name below that the release lacks is not defined.  Mirrors the registrations
in ``torch/csrc/utils/python_dispatch.cpp``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

from mindtorch_v2 import (
    _dispatcher_bindings,
    _kernel_bindings,
    _mode_bindings,
    _operator_bindings,
    _schema_bindings,
    profile,
)
from mindtorch_v2 import torch_dispatch as _torch_dispatch
from mindtorch_v2 import torch_function as _torch_function
from mindtorch_v2.binding import autograd_fallback as _autograd_fallback
from mindtorch_v2.binding.python_fallbacks import RestoredSnapshotGuard as _RestoredSnapshotGuard
from mindtorch_v2.dispatch import key as _key
from mindtorch_v2.dispatch import keyset as _keyset
from mindtorch_v2.dispatch import tls as _tls
from mindtorch_v2.linalg_error import _LinAlgError as _LinAlgError
from mindtorch_v2.messages import std_string as _std_string
from mindtorch_v2.pybind import cast as _cast
from mindtorch_v2.pybind.classes import bind_methods, make_enum, pybind11_type
from mindtorch_v2.pybind.guard import make_guard_class, make_sets_guard_class
from mindtorch_v2.pybind.module import bound_functions
from mindtorch_v2.tensor import views as _views
from mindtorch_v2.tensor.base import TensorBase as TensorBase
from mindtorch_v2.tensor.device import device_type_for_key as _device_type_for_key
from mindtorch_v2.tensor.options import compute_dispatch_key as _compute_dispatch_key
from mindtorch_v2.tensor.symbolic import nested_int as _nested_int
from mindtorch_v2.tensor.tensor import Tensor as _Tensor

_facts: Final = profile.active()
_docs: Final = _facts.bindings["functions"]
_classes: Final = _facts.bindings["classes"]

if TYPE_CHECKING:  # most names are the profile's, which a type checker cannot see

    def __getattr__(name: str) -> Any: ...


def _define(functions: dict[str, Callable[..., Any]], **loaders: _cast.Loader) -> None:
    """Define those of ``functions`` that this release has; ``loaders`` as in bind_methods."""
    globals().update(bound_functions(_docs, functions, loaders))


def _define_static(cls: type, functions: dict[str, Callable[..., Any]], **loaders: Any) -> None:
    """Static methods of a class, as :func:`_define`."""
    docs = _classes[cls.__name__]["static_methods"]
    for name, function in bound_functions(docs, functions, loaders).items():
        setattr(cls, name, staticmethod(function))


# --- keys -------------------------------------------------------------------------------------

DispatchKey: Any = make_enum(
    "torch._C.DispatchKey",
    "mindtorch_v2",
    _classes["DispatchKey"],
    _facts.keys.members,
    _cast.unsigned_loader(16),
    _key.EXTENSION_KEYS,
)


# --- keysets ----------------------------------------------------------------------------------


class DispatchKeySet(metaclass=pybind11_type, cpp_name="torch._C.DispatchKeySet"):
    """A :class:`mindtorch_v2.dispatch.keyset.DispatchKeySet` as torch binds it."""

    __slots__ = ("_mask",)
    __module__ = "mindtorch_v2"
    __doc__ = None

    _mask: int

    @classmethod
    def from_mask(cls, mask: int) -> DispatchKeySet:
        self = cls.__new__(cls)
        self._mask = mask
        return self

    @property
    def mask(self) -> int:
        """torch's 64-bit representation, and bits above it for the extension keys."""
        return self._mask

    def without(self, keys: Any) -> DispatchKeySet:
        """Without the functionalities of all ``keys``: a set, or an iterable of keys."""
        taken = keys if isinstance(keys, DispatchKeySet) else _keyset.DispatchKeySet.of(*keys)
        return self.from_mask(_keyset.difference(self.mask, taken.mask))

    def iter_keys(self) -> Any:
        """The runtime keys of the set, highest priority first."""
        keys = _keyset.DispatchKeySet.from_mask(self.mask).iter_keys()
        return (DispatchKey.from_cpp(key) for key in keys)


for _spelled in ("torch._C.DispatchKeySet", "c10::DispatchKeySet"):
    _cast.register_class(_spelled, DispatchKeySet, attrgetter("_mask"), DispatchKeySet.from_mask)
bind_methods(
    DispatchKeySet,
    _classes["DispatchKeySet"]["methods"],
    {
        "__init__": _keyset.mask_of,
        "__or__": int.__or__,
        "__sub__": _keyset.difference,
        "__and__": _keyset.intersection,
        "__eq__": _keyset.equal,
        "__repr__": _keyset.to_string,
        "__getstate__": lambda mask: (_keyset.raw_repr(mask),),
        "raw_repr": _keyset.raw_repr,
        "highestPriorityTypeId": _keyset.highest_priority_type_id,
        "remove": lambda mask, key: _keyset.difference(mask, _keyset.mask_of(key)),
        "add": lambda mask, key: mask | _keyset.mask_of(key),
        "has": _keyset.has,
    },
    slot="_mask",
)
_define_static(DispatchKeySet, {"from_raw_repr": _keyset.completed}, arg0=_cast.unsigned_loader(64))


# --- functions of keys and keysets ------------------------------------------------------------


def _functionality_to_backend_keys(key: int) -> list[int]:
    if not _key.is_per_backend_functionality_key(key):
        return [key]
    return list(_keyset.runtime_keys(_keyset.mask_of(key) | _key.FULL_BACKEND_MASK))


def _parse_dispatch_key(name: str | None) -> int | None:
    text = _std_string(name)
    try:
        return _key.parse_dispatch_key(text)
    except RuntimeError:
        return None


_define(
    {
        "_dispatch_key_name": _key.key_name,
        "_dispatch_key_parse": lambda key: key,
        "_dispatch_is_alias_key": _key.is_alias_dispatch_key,
        "_dispatch_is_included_in_alias": _keyset.is_included_in_alias,
        "_to_functionality_key": _key.to_functionality_key,
        "_functionality_to_backend_keys": _functionality_to_backend_keys,
        "_dispatch_num_backends": lambda: _key.NUM_BACKENDS,
        "_dispatch_get_backend_keyset_from_autograd": _keyset.backend_keyset_from_autograd,
        "_dispatch_key_for_device": lambda text: _key.key_name(
            _compute_dispatch_key(device_type=_device_type_for_key(text))
        ),
        "_dispatch_keyset_full": lambda: _keyset.FULL,
        "_dispatch_keyset_full_after": _keyset.full_after,
        "_dispatch_keyset_to_string": _keyset.to_string,
    }
)
_define({"_parse_dispatch_key": _parse_dispatch_key}, arg0=_cast.load_c_string)
for _name, _mask in _facts.keys.constants.items():
    globals()[_name] = DispatchKeySet.from_mask(_keyset.completed(_mask))

# --- autograd ---------------------------------------------------------------------------------

_define(
    {
        "_get_autograd_fallback_mode": _autograd_fallback.get_mode,
        "_set_autograd_fallback_mode": _autograd_fallback.set_mode,
    }
)

# --- tensors ----------------------------------------------------------------------------------

_cast.register_class("torch.Tensor", _Tensor)
_define(
    {
        "_dispatch_keys": lambda tensor: tensor._keys,
        "_dispatch_key_set": lambda tensor: _keyset.to_string(tensor._keys),
        "_dispatch_isTensorSubclassLike": _torch_dispatch.is_tensor_subclass_like,
        "_is_alias_of": _views.is_alias_of,
    }
)

_define(
    {"_get_nested_int": _nested_int}, arg0=_cast.signed_loader(64), arg1=_cast.signed_loader(64)
)

# --- schemas ----------------------------------------------------------------------------------

globals().update(_schema_bindings.EXPORTS)

# --- operators by name ------------------------------------------------------------------------

globals().update(_operator_bindings.EXPORTS)
globals().update(_dispatcher_bindings.EXPORTS)
globals().update(_kernel_bindings.EXPORTS)

# --- modes ------------------------------------------------------------------------------------

globals().update(_mode_bindings.EXPORTS)

# --- thread-local state -----------------------------------------------------------------------

_define(
    {
        "_dispatch_tls_local_include_set": lambda: _tls.local_dispatch_key_set().included,
        "_dispatch_tls_local_exclude_set": lambda: _tls.local_dispatch_key_set().excluded,
        "_dispatch_tls_set_dispatch_key_included": _tls.set_dispatch_key_included,
        "_dispatch_tls_set_dispatch_key_excluded": _tls.set_dispatch_key_excluded,
        "_dispatch_tls_is_dispatch_key_included": _tls.is_dispatch_key_included,
        "_dispatch_tls_is_dispatch_key_excluded": _tls.is_dispatch_key_excluded,
        "_meta_in_tls_dispatch_include": _tls.is_meta_in_tls_included,
        "_set_meta_in_tls_dispatch_include": _tls.set_meta_in_tls_included,
    }
)


def _define_guard(name: str, make: Callable[..., type], /, *args: Any, **further: Any) -> None:
    """A guard class, made of its name, its module, its methods' docs, and what is given besides."""
    if name not in _classes:
        return
    module = __name__ if name.startswith("_") else "mindtorch_v2"  # as torch renames them
    cls = make(name, module, _classes[name]["methods"], *args, **further)
    _cast.register_class(f"torch._C.{name}", cls)
    globals()[name] = cls


_make = make_guard_class
_define_guard("ExcludeDispatchKeyGuard", _make, _tls.ExcludeDispatchKeyGuard, at_init=True)
_define_guard(
    "_ExcludeDispatchKeyGuard",
    make_sets_guard_class,
    lambda mask: mask,
    "given._mask",
    excludes=True,
)
_define_guard(
    "_IncludeDispatchKeyGuard",
    make_sets_guard_class,
    _keyset.mask_of,
    "mask_of(given._value)",
    excludes=False,
)
_define_guard("_ForceDispatchKeyGuard", _make, _tls.ForceDispatchKeyGuard)
_define_guard("_SetExcludeDispatchKeyGuard", _make, _tls.SetExcludeDispatchKeyGuard)
_define_guard(
    "_EnableTorchFunction",
    _make,
    lambda: _torch_function.StateGuard(_torch_function.State.ENABLED),
    at_init=True,
)
_define_guard("_RestorePythonTLSSnapshot", _make, _RestoredSnapshotGuard)
for _name, _guard_facts in _facts.keys.guards.items():
    _acts = _guard_facts.at is not None or _guard_facts.restores_all
    if _acts and _guard_facts.error is None:
        _define_guard(
            _name,
            _make,
            partial(_tls.guard_from_facts, _guard_facts),
            at_init=_guard_facts.at == "init",
        )
