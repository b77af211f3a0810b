"""``Module``: parameters, buffers and other modules under names, and what is computed with them.

Mirrors ``torch/nn/modules/module.py`` as far as training programs and their users go: no lazy
parameters, no hooks of all modules.
"""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

from mindtorch_v2.autograd.grad_mode import no_grad
from mindtorch_v2.autograd.hooks import RemovableHandle
from mindtorch_v2.nn.modules._backward_hook import BackwardHook
from mindtorch_v2.nn.parameter import Parameter
from mindtorch_v2.tensor.tensor import Tensor

__all__ = ["Module"]

Self = TypeVar("Self", bound="Module")
_REGISTRIES = ("_parameters", "_buffers", "_modules")


class _IncompatibleKeys(NamedTuple):
    """Which names a state had too few or too many."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return (
            f"_IncompatibleKeys(missing_keys={self.missing_keys}, "
            f"unexpected_keys={self.unexpected_keys})"
        )


def indented(text: str) -> str:
    """All lines but the first, two places to the right."""
    return text.replace("\n", "\n  ")


def _added(
    hooks: OrderedDict[int, Callable[..., Any]], hook: Callable[..., Any], prepend: bool
) -> RemovableHandle:
    handle = RemovableHandle.added(hooks, hook)
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


class Module:
    """The base of everything that has parameters.  A subclass defines ``forward``."""

    training: bool
    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Module | None]
    _unsaved: set[str]
    _forward_hooks: OrderedDict[int, Callable[..., Any]]
    _forward_pre_hooks: OrderedDict[int, Callable[..., Any]]
    _backward_hooks: OrderedDict[int, Callable[..., Any]]
    _backward_pre_hooks: OrderedDict[int, Callable[..., Any]]

    def __init__(self) -> None:
        for name, value in (
            ("training", True),
            ("_parameters", {}),
            ("_buffers", {}),
            ("_modules", {}),
            ("_unsaved", set()),
            ("_forward_hooks", OrderedDict()),
            ("_forward_pre_hooks", OrderedDict()),
            ("_backward_hooks", OrderedDict()),
            ("_backward_pre_hooks", OrderedDict()),
        ):
            object.__setattr__(self, name, value)

    # --- calls --------------------------------------------------------------------------------

    def forward(self, *inputs: Any) -> Any:
        """What a subclass computes."""
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        for hook in tuple(self._forward_pre_hooks.values()):
            changed = hook(self, args)
            if changed is not None:
                args = changed if isinstance(changed, tuple) else (changed,)
        told: BackwardHook | None = None
        if self._backward_hooks or self._backward_pre_hooks:
            hooks = (self._backward_hooks, self._backward_pre_hooks)
            told = BackwardHook(self, *(tuple(each.values()) for each in hooks))
            args = told.setup_input_hook(args)
        result = self.forward(*args, **kwargs)
        for hook in tuple(self._forward_hooks.values()):
            changed = hook(self, args, result)
            if changed is not None:
                result = changed
        if told is None:
            return result
        if not isinstance(result, (Tensor, tuple)):
            warnings.warn(
                "For backward hooks to be called, module output should be a Tensor or a tuple of "
                f"Tensors but received {type(result)}",
                stacklevel=2,
            )
        return told.setup_output_hook(result)

    def register_forward_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Have ``hook(module, args)`` called before ``forward``; it may answer other arguments."""
        return RemovableHandle.added(self._forward_pre_hooks, hook)

    def register_forward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Have ``hook(module, args, output)`` called after; it may answer another output."""
        return RemovableHandle.added(self._forward_hooks, hook)

    def register_full_backward_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Have ``hook(module, grad_input, grad_output)`` called once both are known.

        It may answer another ``grad_input``.
        """
        return _added(self._backward_hooks, hook, prepend)

    def register_full_backward_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Have ``hook(module, grad_output)`` called before; it may answer another."""
        return _added(self._backward_pre_hooks, hook, prepend)

    # --- attributes ---------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        for registry in _REGISTRIES:
            found = self.__dict__.get(registry, {})
            if name in found:
                return found[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, Parameter):
            self._before_init("parameters")
            self._forget(name)
            self.register_parameter(name, value)
        elif self.__dict__.get("_parameters") and name in self._parameters:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{type_name(value)}' as parameter '{name}' "
                    "(torch.nn.Parameter or None expected)"
                )
            self._parameters[name] = None
        elif isinstance(value, Module):
            self._before_init("module")
            self._forget(name)
            self._modules[name] = value
        elif name in self.__dict__.get("_modules", ()):
            if value is not None:
                raise TypeError(
                    f"cannot assign '{type_name(value)}' as child module '{name}' "
                    "(torch.nn.Module or None expected)"
                )
            self._modules[name] = None
        elif name in self.__dict__.get("_buffers", ()):
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(
                    f"cannot assign '{type_name(value)}' as buffer '{name}' "
                    "(torch.nn.Buffer, torch.Tensor or None expected)"
                )
            self._buffers[name] = value
        else:
            object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        for registry in _REGISTRIES:
            if name in self.__dict__[registry]:
                del self.__dict__[registry][name]
                return
        object.__delattr__(self, name)

    def _before_init(self, what: str) -> None:
        if "_parameters" not in self.__dict__:
            raise AttributeError(f"cannot assign {what} before Module.__init__() call")

    def _forget(self, name: str) -> None:
        self.__dict__.pop(name, None)
        for registry in _REGISTRIES:
            if name in self.__dict__[registry] and registry != "_parameters":
                del self.__dict__[registry][name]

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter, or None for one that this module could have."""
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that belongs to the state but is not learned."""
        self._buffers[name] = tensor
        (self._unsaved.discard if persistent else self._unsaved.add)(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a module under a name."""
        self._modules[name] = module

    register_module = add_module

    # --- what there is ------------------------------------------------------------------------

    def named_children(self) -> Iterator[tuple[str, Module]]:
        seen: set[int] = set()
        for name, module in self._modules.items():
            if module is not None and id(module) not in seen:
                seen.add(id(module))
                yield name, module

    def children(self) -> Iterator[Module]:
        return (module for _, module in self.named_children())

    def named_modules(
        self, memo: set[int] | None = None, prefix: str = ""
    ) -> Iterator[tuple[str, Module]]:
        """This module and all below it, each once."""
        memo = set() if memo is None else memo
        if id(self) in memo:
            return
        memo.add(id(self))
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, f"{prefix}.{name}" if prefix else name)

    def modules(self) -> Iterator[Module]:
        return (module for _, module in self.named_modules())

    def _named(self, registry: str, prefix: str, recurse: bool) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        owners = self.named_modules(prefix=prefix) if recurse else iter([(prefix, self)])
        for path, module in owners:
            for name, value in module.__dict__[registry].items():
                if value is not None and id(value) not in seen:
                    seen.add(id(value))
                    yield f"{path}.{name}" if path else name, value

    def named_parameters(
        self, prefix: str = "", recurse: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Each parameter once, with the path to it."""
        return self._named("_parameters", prefix, recurse)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        return (value for _, value in self.named_parameters(recurse=recurse))

    def named_buffers(self, prefix: str = "", recurse: bool = True) -> Iterator[tuple[str, Tensor]]:
        return self._named("_buffers", prefix, recurse)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        return (value for _, value in self.named_buffers(recurse=recurse))

    def get_submodule(self, target: str) -> Module:
        """The module at a path; AttributeError if there is none."""
        module = self
        for name in filter(None, target.split(".")):
            if not hasattr(module, name):
                raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
            module = getattr(module, name)
            if not isinstance(module, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    # --- changes to all -----------------------------------------------------------------------

    def apply(self: Self, fn: Callable[[Module], Any]) -> Self:
        """Call ``fn`` with every module, the innermost first."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def _apply(self: Self, change: Callable[[Tensor], Tensor]) -> Self:
        """Have every parameter and buffer hold what ``change`` makes of it."""
        for module in self.children():
            module._apply(change)
        for name, param in self._parameters.items():
            if param is not None:
                self._parameters[name] = _changed(param, change)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = change(buffer)
        return self

    def to(self: Self, *args: Any, **kwargs: Any) -> Self:
        """Move or convert parameters and buffers, as ``Tensor.to``; dtypes only those of floats."""

        def moved(tensor: Tensor) -> Tensor:
            wanted = tensor.to(*args, **kwargs)  # type: ignore[attr-defined]
            if tensor._dtype.is_floating_point or tensor._dtype.is_complex:
                return wanted  # type: ignore[no-any-return]
            return tensor.to(wanted._device)  # type: ignore[attr-defined, no-any-return]

        return self._apply(moved)

    def double(self: Self) -> Self:
        return self._apply(lambda each: each.double() if each._dtype.is_floating_point else each)  # type: ignore[attr-defined]

    def float(self: Self) -> Self:
        return self._apply(lambda each: each.float() if each._dtype.is_floating_point else each)  # type: ignore[attr-defined]

    def train(self: Self, mode: bool = True) -> Self:
        """Say whether to train: dropout does something, or nothing."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self: Self) -> Self:
        return self.train(False)

    def requires_grad_(self: Self, requires_grad: bool = True) -> Self:
        for param in self.parameters():
            param.requires_grad_(requires_grad)  # type: ignore[attr-defined]
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients, or have them be zeros."""
        for param in self.parameters():
            forget_grad(param, set_to_none)

    # --- state --------------------------------------------------------------------------------

    def state_dict(self, *, prefix: str = "", keep_vars: bool = False) -> OrderedDict[str, Any]:
        """Parameters and buffers by their paths, detached unless ``keep_vars``."""
        found: OrderedDict[str, Any] = OrderedDict()
        for name, value in self._saved():
            found[prefix + name] = value if keep_vars else value.detach()
        for name, module in self._modules.items():
            if module is not None:
                found |= module.state_dict(prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        return found

    def _saved(self) -> Iterator[tuple[str, Tensor]]:
        for name, param in self._parameters.items():
            if param is not None:
                yield name, param
        for name, buffer in self._buffers.items():
            if buffer is not None and name not in self._unsaved:
                yield name, buffer

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True
    ) -> _IncompatibleKeys:
        """Copy a state into this module's; RuntimeError if it does not fit."""
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        own = self.state_dict(keep_vars=True)
        missing = [name for name in own if name not in state_dict]
        unexpected = [name for name in state_dict if name not in own]
        errors = []
        for name, target in own.items():
            if name in state_dict:
                error = _copied(name, target, state_dict[name])
                errors += [error] if error else []
        if strict:
            errors = [*_listed("Missing", missing), *_listed("Unexpected", unexpected), *errors]
        if errors:
            lines = "\n\t".join(errors)
            raise RuntimeError(
                f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{lines}"
            )
        return _IncompatibleKeys(missing, unexpected)

    # --- text ---------------------------------------------------------------------------------

    def extra_repr(self) -> str:
        """What a module shows of itself between its parentheses."""
        return ""

    def _get_name(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [f"({name}): {indented(repr(each))}" for name, each in self._modules.items()]
        if not children and len(lines) < 2:
            return f"{self._get_name()}({extra})"
        inner = "\n  ".join([*lines, *children])
        return f"{self._get_name()}(\n  {inner}\n)"


def _changed(param: Any, change: Callable[[Tensor], Tensor]) -> Any:
    """The parameter with what ``change`` makes of it, or on another device a new one."""
    with no_grad():
        changed: Any = change(param)
        grad = None if param.grad is None else change(param.grad)
    kept = param
    if changed._device == param._device:
        param.data = changed
    else:
        kept = Parameter(changed, param.requires_grad)
    if grad is not None:
        kept.grad = grad
    return kept


def forget_grad(param: Any, set_to_none: bool) -> None:
    """No gradient, or one of zeros that has no history."""
    if param.grad is None:
        return
    if set_to_none:
        param.grad = None
        return
    if param.grad.grad_fn is not None:
        param.grad.detach_()
    else:
        param.grad.requires_grad_(False)
    param.grad.zero_()


def _copied(name: str, target: Any, value: Any) -> str | None:
    """Copy one tensor; what is wrong with it otherwise."""
    if not isinstance(value, Tensor):
        return (
            f'While copying the parameter named "{name}", expected torch.Tensor or Tensor-like '
            f"object from checkpoint but received {type(value)}"
        )
    if tuple(target._sizes) != tuple(value._sizes):
        return (
            f"size mismatch for {name}: copying a param with shape {value._sizes} from "
            f"checkpoint, the shape in current model is {target._sizes}."
        )
    with no_grad():
        target.copy_(value)
    return None


def _listed(which: str, names: list[str]) -> list[str]:
    shown = ", ".join(f'"{name}"' for name in names)
    return [f"{which} key(s) in state_dict: {shown}. "] if names else []


def type_name(value: Any) -> str:
    """``torch.typename``."""
    if isinstance(value, Tensor):
        return str(value.type())  # type: ignore[attr-defined]
    cls = type(value)
    return cls.__name__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__name__}"
