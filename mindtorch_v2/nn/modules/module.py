"""``Module``: parameters, buffers and other modules under names, and what is computed with them.

Mirrors ``torch/nn/modules/module.py`` as far as training programs and their users go: no lazy
parameters.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeVar, cast

from mindtorch_v2 import profile
from mindtorch_v2._typename import typename
from mindtorch_v2.autograd.hooks import RemovableHandle
from mindtorch_v2.binding.python.bindings import FUNCTIONS
from mindtorch_v2.nn.modules import (
    _calls,
    _conversion,
    _global_hooks,
    _paths,
    _registration,
    _state,
)
from mindtorch_v2.nn.modules._conversion import forget_grad
from mindtorch_v2.nn.modules._global_hooks import (
    register_module_backward_hook,
    register_module_buffer_registration_hook,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)
from mindtorch_v2.nn.modules._state import _IncompatibleKeys, _WrappedHook
from mindtorch_v2.nn.parameter import Buffer, Parameter
from mindtorch_v2.tensor.tensor import Tensor

__all__ = [
    "Module",
    "register_module_backward_hook",
    "register_module_buffer_registration_hook",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
]

Self = TypeVar("Self", bound="Module")

_HABITS: Final[dict[str, bool]] = profile.active().training["habits"]
_HAS_BUFFERS: Final = _HABITS["nn has buffers of a class"]
_PARTS: Final = dict if _HABITS["a module's parts are in plain dictionaries"] else OrderedDict
_REGISTRIES: Final = ("_parameters", "_buffers", "_modules")


def indented(text: str) -> str:
    """All lines but the first, two places to the right."""
    return text.replace("\n", "\n  ")


def _within(text: str) -> str:
    """The same of what a module shows of one below; some releases leave empty lines empty."""
    if not _HABITS["an empty line of a module's text stays empty"]:
        return indented(text)
    first, *lines = text.split("\n")
    return "\n".join([first, *(f"  {line}" if line.strip() else "" for line in lines)])


def _added(
    hooks: OrderedDict[int, Callable[..., Any]],
    hook: Callable[..., Any],
    prepend: bool = False,
    **marks: tuple[dict[int, bool], bool],
) -> RemovableHandle:
    """Add a hook, and mark it in those dictionaries of ``marks`` whose mark is true."""
    handle = RemovableHandle(hooks, extra_dict=[marked for marked, _ in marks.values()])
    hooks[handle.id] = hook
    for marked, is_set in marks.values():
        if is_set:
            marked[handle.id] = True
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


class Module:
    """The base of everything that has parameters.  A subclass defines ``forward``."""

    dump_patches: bool = False
    _version: int = 1
    training: bool
    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _non_persistent_buffers_set: set[str]
    _backward_pre_hooks: OrderedDict[int, Callable[..., Any]]
    _backward_hooks: OrderedDict[int, Callable[..., Any]]
    _is_full_backward_hook: bool | None
    _forward_hooks: OrderedDict[int, Callable[..., Any]]
    _forward_hooks_with_kwargs: OrderedDict[int, bool]
    _forward_hooks_always_called: OrderedDict[int, bool]
    _forward_pre_hooks: OrderedDict[int, Callable[..., Any]]
    _forward_pre_hooks_with_kwargs: OrderedDict[int, bool]
    _state_dict_hooks: OrderedDict[int, Callable[..., Any]]
    _state_dict_pre_hooks: OrderedDict[int, Callable[..., Any]]
    _load_state_dict_pre_hooks: OrderedDict[int, Callable[..., Any]]
    _load_state_dict_post_hooks: OrderedDict[int, Callable[..., Any]]
    _modules: dict[str, Module | None]
    call_super_init: bool = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not self.call_super_init:
            _calls.expect_no_arguments(self, args, kwargs)
        for name, make in _MADE.items():
            object.__setattr__(self, name, make())
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    # --- calls --------------------------------------------------------------------------------

    forward: Callable[..., Any] = _calls._forward_unimplemented

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        has_hooks = (
            self._backward_hooks
            or self._backward_pre_hooks
            or self._forward_hooks
            or self._forward_pre_hooks
            or _global_hooks.has_any()
        )
        return _calls.call(self, args, kwargs) if has_hooks else self.forward(*args, **kwargs)

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Have ``hook(module, args)`` called before ``forward``; it may answer other arguments.

        ``with_kwargs`` says that it is ``hook(module, args, kwargs)``, and answers both.
        """
        marks = {"with_kwargs": (self._forward_pre_hooks_with_kwargs, with_kwargs)}
        return _added(self._forward_pre_hooks, hook, prepend, **marks)

    def register_forward_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Have ``hook(module, args, output)`` called after; it may answer another output.

        ``with_kwargs`` says that it is ``hook(module, args, kwargs, output)``, ``always_call`` that
        it is called after an error as well.
        """
        return _added(
            *(self._forward_hooks, hook, prepend),
            with_kwargs=(self._forward_hooks_with_kwargs, with_kwargs),
            always_call=(self._forward_hooks_always_called, always_call),
        )

    def register_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """The same on the last node of the output's graph, as backward hooks used to be."""
        self._say_which_backward_hooks(False)
        return _added(self._backward_hooks, hook)

    def register_full_backward_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Have ``hook(module, grad_input, grad_output)`` called once both are known.

        It may answer another ``grad_input``.
        """
        self._say_which_backward_hooks(True)
        return _added(self._backward_hooks, hook, prepend)

    def _say_which_backward_hooks(self, are_full: bool) -> None:
        if self._is_full_backward_hook is (not are_full):
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a single "
                "Module. Please use only one of them."
            )
        self._is_full_backward_hook = are_full

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
        own = self.__dict__
        if isinstance(value, Parameter):
            if "_parameters" not in own:
                raise AttributeError("cannot assign parameters before Module.__init__() call")
            self._forget(name, "_buffers", "_modules")
            self.register_parameter(name, value)
        elif name in own.get("_parameters", ()):
            _registration.expect_nothing(name, value, "parameter", "torch.nn.Parameter")
            self.register_parameter(name, value)
        elif isinstance(value, Module):
            if "_modules" not in own:
                raise AttributeError("cannot assign module before Module.__init__() call")
            self._forget(name, "_parameters", "_buffers")
            self._modules[name] = _global_hooks.of_modules(self, name, value)
        elif name in own.get("_modules", ()):
            _registration.expect_nothing(name, value, "child module", "torch.nn.Module")
            self._modules[name] = _global_hooks.of_modules(self, name, value)
        elif isinstance(value, Buffer) or name in own.get("_buffers", ()):
            _registration.assign_buffer(self, name, value)
        else:
            object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        for registry in _REGISTRIES:
            if name in self.__dict__[registry]:
                del self.__dict__[registry][name]
                if registry == "_buffers":
                    self._non_persistent_buffers_set.discard(name)
                return
        object.__delattr__(self, name)

    def _forget(self, name: str, *registries: str) -> None:
        """Have a name free for a part of another kind.  One of the same kind keeps its place."""
        self.__dict__.pop(name, None)
        for registry in registries:
            self.__dict__[registry].pop(name, None)
        self._non_persistent_buffers_set.discard(name)

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter, or None for one that this module could have."""
        _registration.check_name(self, name, "parameter", "_parameters")
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{typename(param)}' object to parameter '{name}' "
                "(torch.nn.Parameter or None required)"
            )
        if param is not None and param.grad_fn:  # type: ignore[attr-defined]
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be "
                f"created explicitly. To express '{name}' as a function of another Tensor, compute "
                "the value in the forward() method."
            )
        if param is not None:
            param = _global_hooks.of_parameters(self, name, param)
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that belongs to the state but is not learned."""
        _registration.check_name(self, name, "buffer", "_buffers")
        if tensor is not None and not _registration.may_be_buffer(tensor):
            raise TypeError(
                f"cannot assign '{typename(tensor)}' object to buffer '{name}' "
                "(torch Tensor or None required)"
            )
        self._buffers[name] = _global_hooks.of_buffers(self, name, tensor)
        unsaved = self._non_persistent_buffers_set
        (unsaved.discard if persistent else unsaved.add)(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a module under a name."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{typename(module)} is not a Module subclass")
        if not isinstance(name, str):
            raise TypeError(f"module name should be a string. Got {typename(name)}")
        _registration.check_is_free(self, name, "_modules")
        if "." in name:
            raise KeyError(f'module name can\'t contain ".", got: {name}')
        if name == "":
            raise KeyError('module name can\'t be empty string ""')
        self._modules[name] = _global_hooks.of_modules(self, name, module)

    def register_module(self, name: str, module: Module | None) -> None:
        """The same."""
        self.add_module(name, module)

    # --- what there is ------------------------------------------------------------------------

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The modules right below, each once."""
        seen: set[Module] = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self) -> Iterator[Module]:
        return (module for _, module in self.named_children())

    def named_modules(
        self, memo: set[Module] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """This module and all below it, each once, or under each of its names."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                path = f"{prefix}.{name}" if prefix else name
                yield from module.named_modules(memo, path, remove_duplicate)

    def modules(self, remove_duplicate: bool = True) -> Iterator[Module]:
        return (module for _, module in self.named_modules(remove_duplicate=remove_duplicate))

    def _named(
        self, registry: str, prefix: str, recurse: bool, remove_duplicate: bool
    ) -> Iterator[tuple[str, Any]]:
        seen: set[Any] = set()
        below = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
        for path, module in below if recurse else iter([(prefix, self)]):
            for name, value in module.__dict__[registry].items():
                if value is None or value in seen:
                    continue
                if remove_duplicate:
                    seen.add(value)
                yield f"{path}.{name}" if path else name, value

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Each parameter once, with the path to it, or under each of its names."""
        return self._named("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        return (value for _, value in self.named_parameters(recurse=recurse))

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Each buffer once, with the path to it, or under each of its names."""
        return self._named("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        return (value for _, value in self.named_buffers(recurse=recurse))

    def get_submodule(self, target: str) -> Module:
        """The module at a path; AttributeError if there is none."""
        found: Module = _paths.submodule(self, target)
        return found

    if _HABITS["a submodule may be set strictly"]:

        def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
            """Put a module at a path; AttributeError for none there if ``strict``, or no module."""
            _paths.set_submodule(self, target, module, strict)

    elif _HAS_BUFFERS:  # as of the same release

        def set_submodule(self, target: str, module: Module) -> None:  # type: ignore[misc]
            """Put a module at a path; AttributeError if there is no way there."""
            _paths.set_attribute(self, target, module)

    def get_parameter(self, target: str) -> Parameter:
        """The parameter at a path; AttributeError if there is none."""
        return cast("Parameter", _paths.parameter(self, target))

    def get_buffer(self, target: str) -> Tensor:
        """The buffer at a path; AttributeError if there is none."""
        found: Tensor = _paths.buffer(self, target)
        return found

    # --- changes to all -----------------------------------------------------------------------

    def apply(self: Self, fn: Callable[[Module], Any]) -> Self:
        """Call ``fn`` with every module, the innermost first."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def _apply(self: Self, fn: Callable[[Any], Any], recurse: bool = True) -> Self:
        """Have every parameter and buffer hold what ``fn`` makes of it."""
        for module in self.children() if recurse else ():
            module._apply(fn)
        for name, param in self._parameters.items():
            if param is not None:
                self._parameters[name] = _conversion.changed(param, fn)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def _converted(self: Self, method: str, *args: Any) -> Self:
        """Have every tensor of floats hold what a method of it answers."""
        return self._apply(
            lambda each: getattr(each, method)(*args) if each.is_floating_point() else each
        )

    def to(self: Self, *args: Any, **kwargs: Any) -> Self:
        """Move or convert parameters and buffers, as ``Tensor.to``; dtypes only those of floats."""
        return self._apply(_conversion.of(*args, **kwargs))

    def to_empty(self: Self, *, device: Any, recurse: bool = True) -> Self:
        """Move parameters and buffers without what they hold."""
        make = FUNCTIONS["torch"]["empty_like"]
        return self._apply(lambda each: make(each, device=device), recurse=recurse)

    def cpu(self: Self) -> Self:
        return self._apply(lambda each: each.cpu())

    def cuda(self: Self, device: Any = None) -> Self:
        return self._apply(lambda each: each.cuda(device))

    def xpu(self: Self, device: Any = None) -> Self:
        return self._apply(lambda each: each.xpu(device))

    def ipu(self: Self, device: Any = None) -> Self:
        return self._apply(lambda each: each.ipu(device))

    def type(self: Self, dst_type: Any) -> Self:
        return self._apply(lambda each: each.type(dst_type))

    def double(self: Self) -> Self:
        return self._converted("double")

    def float(self: Self) -> Self:
        return self._converted("float")

    def half(self: Self) -> Self:
        return self._converted("half")

    def bfloat16(self: Self) -> Self:
        return self._converted("bfloat16")

    def share_memory(self: Self) -> Self:
        return self._apply(lambda each: each.share_memory_())

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

    def state_dict(
        self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> Any:
        """Parameters and buffers by their paths, detached unless ``keep_vars``."""
        return _state.save(self, args, destination, prefix, keep_vars)

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        for name, value in self._saved():
            destination[prefix + name] = value if keep_vars else value.detach()
        if self._has_extra_state("get_extra_state"):
            destination[prefix + _state.EXTRA] = self.get_extra_state()

    def _saved(self) -> Iterator[tuple[str, Any]]:
        for name, param in self._parameters.items():
            if param is not None:
                yield name, param
        for name, buffer in self._buffers.items():
            if buffer is not None and name not in self._non_persistent_buffers_set:
                yield name, buffer

    def _has_extra_state(self, method: str) -> bool:
        return getattr(type(self), method) is not getattr(Module, method)

    def get_extra_state(self) -> Any:
        """What a subclass saves beside its parameters and buffers."""
        raise RuntimeError(_NO_EXTRA_STATE.format("get"))

    def set_extra_state(self, state: Any) -> None:
        """Take it back."""
        raise RuntimeError(_NO_EXTRA_STATE.format("set"))

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> _IncompatibleKeys:
        """Copy a state into this module's, or assign it; RuntimeError if it does not fit."""
        return _state.load(self, state_dict, strict, assign)

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        keys = _IncompatibleKeys(missing_keys, unexpected_keys)
        _state.load_part(self, state_dict, prefix, local_metadata, strict, keys, error_msgs)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Have ``hook(module, prefix, keep_vars)`` called before a state is made."""
        return _added(self._state_dict_pre_hooks, hook)

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError(
                "Cannot register the same function as the state dict post hook that was "
                "previously registered via register_state_dict_post_hook"
            )
        return _added(self._state_dict_hooks, hook)

    if _HAS_BUFFERS:  # as of the same release

        def register_state_dict_post_hook(self, hook: Any) -> RemovableHandle:
            """Have ``hook(module, state, prefix, metadata)`` called after; it answers nothing."""
            hook._from_public_api = True
            return _added(self._state_dict_hooks, hook)

        def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
            """Have ``hook(module, state, prefix, …)`` called before a state comes."""
            return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def _register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], with_module: bool = False
    ) -> RemovableHandle:
        called = _WrappedHook(hook, self) if with_module else hook
        return _added(self._load_state_dict_pre_hooks, called)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Have ``hook(module, keys)`` called after a state came; it may change the keys."""
        return _added(self._load_state_dict_post_hooks, hook)

    # --- text ---------------------------------------------------------------------------------

    def extra_repr(self) -> str:
        """What a module shows of itself between its parentheses."""
        return ""

    def _get_name(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [f"({name}): {_within(repr(each))}" for name, each in self._modules.items()]
        if not children and len(lines) < 2:
            return f"{self._get_name()}({extra})"
        inner = "\n  ".join([*lines, *children])
        return f"{self._get_name()}(\n  {inner}\n)"

    def __dir__(self) -> list[str]:
        own = (self.__dict__, *(self.__dict__[registry] for registry in _REGISTRIES))
        found = [*dir(type(self)), *(name for names in own for name in names)]
        return sorted(name for name in found if not name[0].isdigit())


_MADE: Final[dict[str, Callable[[], Any]]] = {
    "training": lambda: True,
    "_parameters": _PARTS,
    "_buffers": _PARTS,
    "_non_persistent_buffers_set": set,
    "_backward_pre_hooks": OrderedDict,
    "_backward_hooks": OrderedDict,
    "_is_full_backward_hook": lambda: None,
    "_forward_hooks": OrderedDict,
    "_forward_hooks_with_kwargs": OrderedDict,
    "_forward_hooks_always_called": OrderedDict,
    "_forward_pre_hooks": OrderedDict,
    "_forward_pre_hooks_with_kwargs": OrderedDict,
    "_state_dict_hooks": OrderedDict,
    "_state_dict_pre_hooks": OrderedDict,
    "_load_state_dict_pre_hooks": OrderedDict,
    "_load_state_dict_post_hooks": OrderedDict,
    "_modules": _PARTS,
}
"""The attributes of a new module."""

_NO_EXTRA_STATE: Final = (
    "Reached a code path in Module.{}_extra_state() that should never be called. Please file an "
    "issue at https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml to report this "
    "bug."
)
