"""Attributes of tensors that C answers: what overrides functions is asked first.

Mirrors the getters and setters of ``torch/csrc/autograd/python_variable.cpp`` and CPython's
``getset_descriptor``.  To an override, ``Tensor.shape.__get__`` is the function that was called.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from mindtorch_v2.binding.python import checks
from mindtorch_v2.binding.python.function import BASE
from mindtorch_v2.binding.python.type_names import type_name
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.torch_function import Side, handle_torch_function, is_mode_enabled

_NEVER_OVERRIDDEN: Final = frozenset(("_python_dispatch", "_has_symbolic_sizes_strides"))


class _method_wrapper:  # noqa: N801 (stands for CPython's method-wrapper)
    """``__get__`` or ``__set__`` of one attribute, equal to itself however it was come by."""

    def __init__(self, name: str, owner: getset_descriptor) -> None:
        self.__name__ = name
        self.__qualname__ = f"getset_descriptor.{name}"
        self.__self__ = owner

    def __call__(self, instance: Any, *given: Any) -> Any:
        if self.__name__ == "__get__":
            return self.__self__.get(instance)
        return self.__self__.set(instance, *given)

    def __repr__(self) -> str:
        kind = type(self.__self__).__name__
        return f"<method-wrapper '{self.__name__}' of {kind} object at {id(self.__self__):#x}>"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, _method_wrapper)
            and self.__self__ is other.__self__
            and self.__name__ == other.__name__
        )

    def __hash__(self) -> int:
        return hash((self.__name__, id(self.__self__)))


_method_wrapper.__name__ = _method_wrapper.__qualname__ = "method-wrapper"
_method_wrapper.__module__ = "builtins"


class getset_descriptor:  # noqa: N801 (CPython's name)
    """An attribute ``name`` of tensors; without ``write`` it cannot be assigned to.

    ``__get__`` and ``__set__`` of an instance, as attributes, are what overrides see; those of the
    class serve CPython's own look-up.
    """

    def __init__(
        self,
        name: str,
        read: Callable[[Any], Any],
        write: Callable[[Any, Any], None] | None = None,
    ) -> None:
        self.__name__ = name
        self.__qualname__ = f"{BASE}.{name}"
        self._read, self._write = read, write
        self._overridable = name not in _NEVER_OVERRIDDEN
        vars(self)["__get__"] = _method_wrapper("__get__", self)
        vars(self)["__set__"] = _method_wrapper("__set__", self)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else self.get(instance)

    def __set__(self, instance: Any, value: Any) -> None:
        self.set(instance, value)

    def __repr__(self) -> str:
        return f"<attribute '{self.__name__}' of 'torch._C.{BASE}' objects>"

    def get(self, instance: Any) -> Any:
        self._check(instance)
        if self._is_overridden(instance):
            return self._overridden("__get__", instance, (instance,))
        with Side(in_cpp=True):
            return self._read(instance)

    def set(self, instance: Any, value: Any) -> None:
        self._check(instance)
        if self._write is None:
            raise AttributeError(
                f"attribute '{self.__name__}' of 'torch._C.{BASE}' objects is not writable"
            )
        if self._is_overridden(instance):
            self._overridden("__set__", instance, (instance, value))
        else:
            self._write(instance, value)

    def _check(self, instance: Any) -> None:
        if not isinstance(instance, Tensor):
            raise TypeError(
                f"descriptor '{self.__name__}' for 'torch._C.{BASE}' objects doesn't apply to a "
                f"'{type_name(instance)}' object"
            )

    def _is_overridden(self, instance: Any) -> bool:
        return self._overridable and (is_mode_enabled() or checks.has_torch_function(instance))

    def _overridden(self, method: str, instance: Any, args: tuple[Any, ...]) -> Any:
        shown_name = f"torch.Tensor.{self.__name__}.{method}"
        function = vars(self)[method]
        return handle_torch_function(function, shown_name, [instance], args, None)


getset_descriptor.__module__ = "builtins"
