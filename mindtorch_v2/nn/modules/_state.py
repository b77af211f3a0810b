"""States of modules: what is saved of one, and how it comes back.

Mirrors ``state_dict`` and ``load_state_dict`` of ``torch/nn/modules/module.py``.
"""

from __future__ import annotations

import warnings
import weakref
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from mindtorch_v2 import profile
from mindtorch_v2.autograd.grad_mode import no_grad
from mindtorch_v2.nn.parameter import Parameter
from mindtorch_v2.tensor.tensor import Tensor

__all__ = ["EXTRA", "load", "load_part", "save"]

_FACTS: Final = profile.active().training
_ONE_ELEMENT: Final = _FACTS["habits"]["a scalar is loaded from one element alone"]

EXTRA: Final = "_extra_state"
"""The name of what a module saves beside its parameters and buffers."""


class _IncompatibleKeys(
    NamedTuple(
        "IncompatibleKeys", [("missing_keys", "list[str]"), ("unexpected_keys", "list[str]")]
    )
):
    """Which names a state had too few or too many."""

    __slots__ = ()
    __module__ = "mindtorch_v2.nn.modules.module"

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


class _WrappedHook:
    """A hook that is given its module first, and does not keep it alive."""

    def __init__(self, hook: Callable[..., Any], module: Any) -> None:
        self.hook = hook
        self._module = weakref.ref(module)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        module = self._module()
        if module is None:
            raise RuntimeError("You are trying to call the hook of a dead Module!")
        return self.hook(module, *args, **kwargs)

    def __getstate__(self) -> dict[str, Any]:
        return {"hook": self.hook, "module": self._module()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.hook = state["hook"]
        if state["module"] is None:
            raise RuntimeError("You are trying to revive the hook of a dead Module!")
        self._module = weakref.ref(state["module"])


class _State(OrderedDict[str, Any]):
    """A state on its way into modules."""

    _metadata: Any


def save(module: Any, args: tuple[Any, ...], destination: Any, prefix: str, keep_vars: bool) -> Any:
    """``Module.state_dict``."""
    if args:
        warnings.warn(
            "Positional args are being deprecated, use kwargs instead. Refer to "
            "https://pytorch.org/docs/main/generated/torch.nn.Module.html"
            "#torch.nn.Module.state_dict for details.",
            FutureWarning,
            stacklevel=3,
        )
        destination = args[0] if destination is None else destination
        prefix = args[1] if len(args) > 1 and prefix == "" else prefix
        keep_vars = args[2] if len(args) > 2 and keep_vars is False else keep_vars
    if destination is None:
        destination = OrderedDict()
        destination._metadata = OrderedDict()
    metadata = {"version": module._version}
    if hasattr(destination, "_metadata"):
        destination._metadata[prefix[:-1]] = metadata
    for hook in module._state_dict_pre_hooks.values():
        hook(module, prefix, keep_vars)
    module._save_to_state_dict(destination, prefix, keep_vars)
    for name, child in module._modules.items():
        if child is not None:
            options = {"prefix": f"{prefix}{name}.", "keep_vars": keep_vars}
            child.state_dict(destination=destination, **options)
    for hook in module._state_dict_hooks.values():
        answer = hook(module, destination, prefix, metadata)
        if getattr(hook, "_from_public_api", False):
            if answer is not None:
                raise RuntimeError("state_dict post-hook must return None")
        elif answer is not None:
            destination = answer
    return destination


def load(module: Any, given: Any, strict: bool, assign: bool) -> _IncompatibleKeys:
    """``Module.load_state_dict``."""
    if not isinstance(given, Mapping):
        raise TypeError(f"Expected state_dict to be dict-like, got {type(given)}.")
    keys = _IncompatibleKeys([], [])
    errors: list[str] = []
    metadata = getattr(given, "_metadata", None)
    state = _State(given)
    if metadata is not None:
        state._metadata = metadata

    def descend(module: Any, state: dict[str, Any], prefix: str) -> None:
        local = {} if metadata is None else metadata.get(prefix[:-1], {})
        if assign:
            local["assign_to_params_buffers"] = assign
        module._load_from_state_dict(state, prefix, local, True, *keys, errors)
        for name, child in module._modules.items():
            if child is not None:
                below = f"{prefix}{name}."
                descend(child, {k: v for k, v in state.items() if k.startswith(below)}, below)
        for hook in module._load_state_dict_post_hooks.values():
            assert hook(module, keys) is None, _FACTS["words"]["post hook"]

    descend(module, state, "")
    if strict:
        errors = [
            *_listed("Missing", keys.missing_keys),
            *_listed("Unexpected", keys.unexpected_keys),
            *errors,
        ]
    if errors:
        lines = "\n\t".join(errors)
        raise RuntimeError(
            f"Error(s) in loading state_dict for {type(module).__name__}:\n\t{lines}"
        )
    return keys


def _listed(which: str, names: list[str]) -> list[str]:
    shown = ", ".join(f'"{name}"' for name in names)
    return [f"{which} key(s) in state_dict: {shown}. "] if names else []


def load_part(
    module: Any,
    state: dict[str, Any],
    prefix: str,
    metadata: dict[str, Any],
    strict: bool,
    keys: _IncompatibleKeys,
    errors: list[str],
) -> None:
    """``Module._load_from_state_dict``: what is the module's own, not that of modules below."""
    for hook in module._load_state_dict_pre_hooks.values():
        hook(state, prefix, metadata, strict, *keys, errors)
    own = dict(module._saved())
    for name, target in own.items():
        key = prefix + name
        if key in state:
            error = _take(module, name, target, key, state[key], metadata)
            errors += [error] if error else []
        elif strict:
            keys.missing_keys.append(key)
    extra = prefix + EXTRA
    if module._has_extra_state("set_extra_state"):
        if extra in state:
            module.set_extra_state(state[extra])
        elif strict:
            keys.missing_keys.append(extra)
    elif strict and extra in state:
        keys.unexpected_keys.append(extra)
    if strict:
        keys.unexpected_keys.extend(_foreign(module, own, state, prefix, extra))


def _foreign(
    module: Any, own: dict[str, Tensor], state: dict[str, Any], prefix: str, extra: str
) -> list[str]:
    """The keys of a state that belong to nothing in a module."""
    found = []
    for key in state:
        if key.startswith(prefix) and key != extra:
            name, dot, _ = key[len(prefix) :].partition(".")
            if name not in (module._modules if dot else own):
                found.append(key)
    return found


def _take(
    module: Any, name: str, target: Any, key: str, value: Any, metadata: dict[str, Any]
) -> str | None:
    """Copy a tensor into one of a module's, or assign it; what is wrong with it otherwise."""
    if not hasattr(value, "__torch_function__"):
        return (
            f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like '
            f"object from checkpoint but received {type(value)}"
        )
    given: Any = value
    if len(target.shape) == 0 and len(given.shape) == 1 and _stands_for_scalar(given):
        given = given[0]
    if given.shape != target.shape:
        return (
            f"size mismatch for {key}: copying a param with shape {given.shape} from "
            f"checkpoint, the shape in current model is {target.shape}."
        )
    assigns = metadata.get("assign_to_params_buffers", False)
    if target.is_meta and not given.is_meta and not assigns:
        warnings.warn(
            f"for {key}: copying from a non-meta parameter in the checkpoint to a meta parameter "
            "in the current model, which is a no-op. (Did you mean to pass `assign=True` to assign "
            "items in the state dictionary to their corresponding key in the module instead of "
            "copying them in place?)",
            stacklevel=2,
        )
    try:
        with no_grad():
            if assigns:
                setattr(module, name, _assigned(given, target))
            else:
                target.copy_(given)
    except Exception as error:
        return (
            f'While copying the parameter named "{key}", whose dimensions in the model are '
            f"{target.size()} and whose dimensions in the checkpoint are {given.size()}, an "
            f"exception occurred : {error.args}."
        )
    return None


def _stands_for_scalar(value: Any) -> bool:
    """States of old releases have scalars in vectors of one element."""
    return value.shape[0] == 1 if _ONE_ELEMENT else True


def _assigned(given: Any, target: Any) -> Any:
    """What takes the place of a parameter or buffer: a parameter again, if it was one."""
    if not isinstance(target, Parameter):
        return given
    if isinstance(given, Parameter):
        return given.requires_grad_(target.requires_grad)  # type: ignore[attr-defined]
    return Parameter(given, requires_grad=target.requires_grad)
