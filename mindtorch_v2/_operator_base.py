"""Kernels that only Python knows of an operator, and the kernel that it finds for a key.

Mirrors ``OperatorBase`` and ``resolve_key`` of ``torch/_ops.py``.  Nothing is dispatched here but
what the Python dispatcher dispatches.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from string import Template
from typing import Any, Final

from mindtorch_v2 import _C, profile
from mindtorch_v2.tensor.tensor import Tensor

Kernel = Callable[..., Any]

_MESSAGES: Final[dict[str, list[str]]] = profile.active().library["messages"]
_SUBCLASSES_HAVE_RULES: Final = profile.active().library["habits"][
    "a subclass of tensors may have a rule of an operator"
]


class OperatorBase:
    """What any kind of operator has."""

    def __init__(self) -> None:
        #: Key to the kernel that it dispatches to, or to the key at which C++ has one.
        self._dispatch_cache: dict[Any, Any] = {}
        self.py_kernels: dict[Any, Kernel] = {}
        #: Modes, and subclasses of tensors, to what runs in place of their ``__torch_dispatch__``.
        self.python_key_table: dict[type, Kernel] = {}
        self.functorch_table: dict[Any, Kernel] = {}

    def name(self) -> str:
        raise NotImplementedError

    def has_kernel_for_dispatch_key(self, k: Any) -> bool:
        return k in self.py_kernels

    def has_kernel_for_any_dispatch_key(self, ks: Any) -> bool:
        return any(not _C._dispatch_is_alias_key(k) and ks.has(k) for k in self.py_kernels)

    def py_impl(self, k: Any) -> Callable[[Kernel], Kernel]:
        """Decorates the kernel for a key, or for a class that has ``__torch_dispatch__``.

        RuntimeError for a key that has one, AssertionError for what is no key.
        """

        def inner(fn: Kernel) -> Kernel:
            if _has_rules(k):
                if k in self.python_key_table:
                    raise _assertion("py_impl of a mode twice", mode=k)
                self.python_key_table[k] = fn
                self._dispatch_cache.clear()
                return fn
            if not isinstance(k, _C.DispatchKey):
                raise _assertion("py_impl of no key", type=type(k))
            if k == _C.DispatchKey.Python:
                raise _assertion("py_impl of Python")
            if k in self.py_kernels:
                raise RuntimeError(
                    f"Trying to override a python impl for {k} on operator {self.name()}"
                )
            self.py_kernels[k] = fn
            self._dispatch_cache.clear()
            return fn

        return inner

    def _uncache_dispatch(self, key: Any) -> None:
        self._dispatch_cache.pop(key, None)


def _assertion(name: str, /, **shown: object) -> AssertionError:
    """torch's assertion, which has words in some releases."""
    texts = {key: str(value) for key, value in shown.items()}
    return AssertionError(*(Template(text).safe_substitute(texts) for text in _MESSAGES[name]))


def _has_rules(k: Any) -> bool:
    """Whether ``k`` is a class of modes, or in newer releases of tensors."""
    if not inspect.isclass(k):
        return False
    if issubclass(k, Tensor):
        return bool(_SUBCLASSES_HAVE_RULES)
    return any(base.__name__ == "TorchDispatchMode" for base in k.__mro__)


def resolve_key(op: OperatorBase, k: Any) -> Any:
    """The key whose kernel runs at ``k``, in the steps of ``computeDispatchTableEntryWithDebug``.

    NotImplementedError if there is none, RuntimeError if two are as good.
    """
    keys = _C.DispatchKey
    is_undefined = k == keys.Undefined

    def serves(alias: Any, *, counts_undefined: bool = True) -> bool:
        is_member = (counts_undefined and is_undefined) or _C._dispatch_is_included_in_alias(
            k, alias
        )
        return is_member and op.has_kernel_for_dispatch_key(alias)

    # 1. a kernel for this key
    if op.has_kernel_for_dispatch_key(k):
        return k
    # 2.1, 2.2. a kernel for every backend
    for alias in (keys.CompositeExplicitAutogradNonFunctional, keys.CompositeExplicitAutograd):
        if serves(alias):
            return alias
    # 2.3. a composition of other operators
    has_backend_kernel = op.has_kernel_for_any_dispatch_key(
        _C._dispatch_get_backend_keyset_from_autograd(k)
    ) or op.has_kernel_for_dispatch_key(keys.CompositeExplicitAutograd)
    nested = keys.CompositeImplicitAutogradNestedTensor
    if not is_undefined and serves(nested) and not has_backend_kernel:
        return nested
    if serves(keys.CompositeImplicitAutograd):
        others = _C._dispatch_autogradother_backends
        if k == keys.AutogradOther and op.has_kernel_for_any_dispatch_key(others):
            raise RuntimeError("ambiguous autogradother kernel")
        if not has_backend_kernel:
            return keys.CompositeImplicitAutograd
    # 2.4, 2.5. a kernel for every autograd or batched key
    for alias in (keys.Autograd, keys.FuncTorchBatchedDecomposition):
        if serves(alias, counts_undefined=False):
            return alias
    # 3. the key's fallback
    if _C._dispatch_has_backend_fallback(k):
        return k
    raise NotImplementedError(f"could not find kernel for {op} at dispatch key {k}")


# --- what is cached, to be forgotten together -------------------------------------------------

_cached_ops: Final[set[OperatorBase]] = set()


def add_cached_op(op: OperatorBase) -> None:
    _cached_ops.add(op)


def reset_cached_ops() -> None:
    _cached_ops.clear()


def get_cached_ops() -> set[OperatorBase]:
    """The operators that have something in their dispatch cache."""
    return _cached_ops
