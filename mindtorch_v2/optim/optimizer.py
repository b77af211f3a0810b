"""``Optimizer``: groups of parameters with options, and a state for each parameter.

Mirrors ``torch/optim/optimizer.py``; no profiling.
"""

from __future__ import annotations

import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from copy import deepcopy
from functools import wraps
from itertools import chain
from typing import Any, Final

from mindtorch_v2 import profile
from mindtorch_v2._typename import typename
from mindtorch_v2.autograd.grad_mode import (
    _unsafe_preserve_version_counter,
    enable_grad,
    set_grad_enabled,
)
from mindtorch_v2.autograd.hooks import RemovableHandle
from mindtorch_v2.nn.modules._conversion import forget_grad
from mindtorch_v2.tensor.dtype import DTYPES
from mindtorch_v2.tensor.tensor import Tensor

__all__ = [
    "Optimizer",
    "register_optimizer_step_post_hook",
    "register_optimizer_step_pre_hook",
]

_FACTS: Final = profile.active().training
HABITS: Final[dict[str, bool]] = _FACTS["habits"]
DEVICES: Final[dict[str, list[str]]] = _FACTS["devices"]
"""Those that optimizers name in refusals: where they are ``fused``, and where ``capturable``."""

_HOOKS: Final = tuple(
    f"_optimizer_{each}_hooks"
    for each in (
        *("step_pre", "step_post", "state_dict_pre", "state_dict_post"),
        *("load_state_dict_pre", "load_state_dict_post"),
    )
)

Group = dict[str, Any]
Hook = Callable[..., Any]


_PRE: Final[OrderedDict[int, Hook]] = OrderedDict()
_POST: Final[OrderedDict[int, Hook]] = OrderedDict()
"""Hooks of the steps of all optimizers."""


def register_optimizer_step_pre_hook(hook: Hook) -> RemovableHandle:
    """Have ``hook(optimizer, args, kwargs)`` called before steps of every optimizer."""
    return RemovableHandle.added(_PRE, hook)


def register_optimizer_step_post_hook(hook: Hook) -> RemovableHandle:
    """Have ``hook(optimizer, args, kwargs)`` called after steps of every optimizer."""
    return RemovableHandle.added(_POST, hook)


class _RequiredParameter:
    """The default of an option that each group has to give."""

    def __repr__(self) -> str:
        return "<required parameter>"


required: Final = _RequiredParameter()


class Optimizer:
    """The base of optimizers: a subclass has ``step``, which changes the parameters.

    ``param_groups`` is a list of dictionaries, each with ``params`` and the group's options;
    ``state`` has a dictionary for each parameter.
    """

    defaults: dict[str, Any]
    state: defaultdict[Any, Any]
    param_groups: list[Group]
    _optimizer_step_pre_hooks: OrderedDict[int, Hook]
    _optimizer_step_post_hooks: OrderedDict[int, Hook]
    _optimizer_state_dict_pre_hooks: OrderedDict[int, Hook]
    _optimizer_state_dict_post_hooks: OrderedDict[int, Hook]
    _optimizer_load_state_dict_pre_hooks: OrderedDict[int, Hook]
    _optimizer_load_state_dict_post_hooks: OrderedDict[int, Hook]

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self._have_hooks()
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, "
                f"but got {typename(params)}"
            )
        self.state = defaultdict(dict)
        self.param_groups = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(group)

    def _have_hooks(self) -> None:
        """Have a place for hooks, and have the class's ``step`` call them."""
        for name in _HOOKS:
            if name not in self.__dict__:
                setattr(self, name, OrderedDict())
        cls: Any = type(self)
        if not getattr(cls.step, "hooked", False):
            cls.step = self.profile_hook_step(cls.step)
            cls.step.hooked = True

    def __getstate__(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in ("defaults", "state", "param_groups")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._have_hooks()
        self.defaults.setdefault("differentiable", False)

    # --- groups -------------------------------------------------------------------------------

    def add_param_group(self, param_group: Group) -> None:
        """Add parameters with options of their own; TypeError or ValueError for wrong ones."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the "
                "ordering of tensors in sets will change between runs. Please use a list instead."
            )
        param_group["params"] = [params] if isinstance(params, Tensor) else list(params)
        if HABITS["parameters may have names"]:
            _take_names(param_group)
        found = param_group["params"]
        for param in found:
            self._check_param(param)
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(
                    "parameter group didn't specify a value of required optimization parameter "
                    f"{name}"
                )
            param_group.setdefault(name, default)
        if len(set(found)) != len(found):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this "
                "will cause an error; see github.com/pytorch/pytorch/issues/40967 for more "
                "information",
                stacklevel=3,
            )
        is_named = "param_names" in param_group
        if any(("param_names" in group) != is_named for group in self.param_groups):
            raise ValueError(
                "all optimizer param groups should be with/without names. cannot add param group "
                f"{'with' if is_named else 'without'} names to the optimizer"
            )
        if not set(_params_of(self)).isdisjoint(found):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(param_group)

    def _check_param(self, param: Any) -> None:
        if not isinstance(param, Tensor):
            raise TypeError(
                f"optimizer can only optimize Tensors, but one of the params is {typename(param)}"
            )
        is_kept: bool = param.is_leaf or param.retains_grad  # type: ignore[attr-defined]
        if not (is_kept or self.defaults.get("differentiable")):
            raise ValueError("can't optimize a non-leaf Tensor")

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients, or have them be zeros."""
        for param in _params_of(self):
            forget_grad(param, set_to_none)

    # --- steps --------------------------------------------------------------------------------

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One step: change the parameters by their gradients.

        ``closure`` computes the loss and the gradients anew, and what it answers is answered.
        """
        raise NotImplementedError

    @staticmethod
    def profile_hook_step(func: Callable[..., Any]) -> Any:
        """A ``step`` around which an optimizer's hooks are called."""

        @wraps(func)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            self = args[0]
            for hook in chain(_PRE.values(), self._optimizer_step_pre_hooks.values()):
                changed = hook(self, args, kwargs)
                if changed is None:
                    continue
                if not isinstance(changed, tuple) or len(changed) != 2:
                    raise RuntimeError(
                        f"{func} must return None or a tuple of (new_args, new_kwargs), but got "
                        f"{changed}."
                    )
                args, kwargs = changed
            answer = func(*args, **kwargs)
            for hook in chain(self._optimizer_step_post_hooks.values(), _POST.values()):
                hook(self, args, kwargs)
            return answer

        return wrapper

    def _cuda_graph_capture_health_check(self) -> None:
        """What subclasses call as steps begin: no device here captures graphs."""

    _accelerator_graph_capture_health_check = _cuda_graph_capture_health_check

    # --- hooks --------------------------------------------------------------------------------

    def register_step_pre_hook(self, hook: Hook) -> RemovableHandle:
        """Have ``hook(optimizer, args, kwargs)`` called before steps; it may answer other ones."""
        return RemovableHandle.added(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Hook) -> RemovableHandle:
        """Have ``hook(optimizer, args, kwargs)`` called after steps."""
        return RemovableHandle.added(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Have ``hook(optimizer)`` called before a state is made."""
        return _added(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Have ``hook(optimizer, state)`` called after; it may answer another."""
        return _added(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(
        self, hook: Hook, prepend: bool = False
    ) -> RemovableHandle:
        """Have ``hook(optimizer, state)`` called before one comes back; it may answer another."""
        return _added(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(
        self, hook: Hook, prepend: bool = False
    ) -> RemovableHandle:
        """Have ``hook(optimizer)`` called after it came back."""
        return _added(self._optimizer_load_state_dict_post_hooks, hook, prepend)

    # --- state --------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """The states by the numbers of parameters, and the groups with numbers for parameters."""
        for hook in self._optimizer_state_dict_pre_hooks.values():
            hook(self)
        numbers: dict[int, int] = {}
        start = 0
        for group in self.param_groups:
            own = {id(each): number for number, each in enumerate(group["params"], start)}
            numbers = {**own, **numbers}
            start += len(group["params"])
        groups = [
            {
                **{name: value for name, value in group.items() if name != "params"},
                "params": [numbers[id(param)] for param in group["params"]],
            }
            for group in self.param_groups
        ]
        state = {
            numbers[id(key)] if isinstance(key, Tensor) else key: value
            for key, value in self.state.items()
        }
        found: dict[str, Any] = {"state": state, "param_groups": groups}
        for hook in self._optimizer_state_dict_post_hooks.values():
            answer = hook(self, found)
            found = found if answer is None else answer
        return found

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue from a state; ValueError if its groups are others."""
        given = state_dict.copy()
        for hook in self._optimizer_load_state_dict_pre_hooks.values():
            answer = hook(self, given)
            given = given if answer is None else answer
        saved = deepcopy(given["param_groups"])
        if len(saved) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        sizes = [[len(group["params"]) for group in each] for each in (saved, self.param_groups)]
        if sizes[0] != sizes[1]:
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of "
                "optimizer's group"
            )
        names = chain.from_iterable(group["params"] for group in saved)
        params = dict(zip(names, _params_of(self), strict=True))
        state: defaultdict[Any, Any] = defaultdict(dict)
        for name, value in given["state"].items():
            if name in params:
                options = _options_of(name, given["param_groups"])
                state[params[name]] = _fitted(params[name], value, options)
            else:
                state[name] = value
        for group, other in zip(self.param_groups, saved, strict=True):
            other["params"] = group["params"]
            if "param_names" in group:
                other.setdefault("param_names", group["param_names"])
        self.__setstate__({"state": state, "param_groups": saved})
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)

    # --- text ---------------------------------------------------------------------------------

    def __repr__(self) -> str:
        text = f"{type(self).__name__} ("
        for number, group in enumerate(self.param_groups):
            names = sorted(name for name in group if name != "params")
            text += f"\nParameter Group {number}\n"
            text += "".join(f"    {name}: {group[name]}\n" for name in names)
        return f"{text})"


def stepped(
    optimizer: Optimizer,
    update: Callable[[Group, list[Any]], None],
    closure: Callable[[], Any] | None,
) -> Any:
    """A step by groups, of those parameters that have gradients; what ``closure`` answers."""
    with set_grad_enabled(optimizer.defaults["differentiable"]):
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        for group in optimizer.param_groups:
            update(group, [each for each in group["params"] if each.grad is not None])
    return loss


def _params_of(optimizer: Optimizer) -> Iterator[Any]:
    """Those of all groups; no method, for subclasses have attributes of many names."""
    return chain.from_iterable(group["params"] for group in optimizer.param_groups)


def _added(hooks: OrderedDict[int, Hook], hook: Hook, prepend: bool) -> RemovableHandle:
    handle = RemovableHandle.added(hooks, hook)
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


def _take_names(group: Group) -> None:
    """Have the names of parameters that come in pairs with them apart; ValueError for some."""
    given = group["params"]
    names = [each[0] for each in given if isinstance(each, tuple)]
    if not names:
        return
    group["params"] = [each[1] if isinstance(each, tuple) else each for each in given]
    if len(names) != len(given):
        raise ValueError(
            "all optimizer params should be with/without names. Some param names are missing"
        )
    group["param_names"] = names


def _options_of(name: Any, groups: Iterable[Group]) -> Group:
    """Those of the group that has a parameter, or none."""
    return next((group for group in groups if name in group["params"]), {})


def _fitted(param: Any, value: Any, options: Group, key: Any = None) -> Any:
    """A state with its tensors where the parameter is, of its dtype; but for numbers of steps."""
    if isinstance(value, Tensor):
        found: Any = value
        if key == "step":
            is_with_param = options.get("capturable", False) or options.get("fused", False)
            float32 = DTYPES["float32"]
            return found.to(dtype=float32, device=param.device) if is_with_param else found
        dtype = {"dtype": param.dtype} if param.is_floating_point() else {}
        return found.to(device=param.device, **dtype)
    if isinstance(value, dict):
        return {name: _fitted(param, each, options, name) for name, each in value.items()}
    if isinstance(value, Iterable):
        make: Any = type(value)
        return make(_fitted(param, each, options) for each in value)
    return value


# --- what optimizers share ----------------------------------------------------------------------


def check_fused_device(param: Any) -> None:
    """RuntimeError for a parameter that nothing fused takes.

    The NPU is a backend beside torch, as the one that the release's list calls ``privateuseone``.
    """
    of_list = "privateuseone" if param.device.type == "npu" else param.device.type
    if of_list not in DEVICES["fused"] or not param.is_floating_point():
        is_named = HABITS["a fused optimizer looks at devices in its steps"]
        which = f" but {param.dtype} and {param.device.type}" if is_named else "."
        raise RuntimeError(
            "`fused=True` requires all the params to be floating point Tensors of supported "
            f"devices: {DEVICES['fused']}{which}"
        )


def check_fused_devices_early(optimizer: Optimizer) -> None:
    """The same of all parameters of a new optimizer, in releases that look at them then."""
    if not HABITS["a fused optimizer looks at devices in its steps"]:
        for param in _params_of(optimizer):
            check_fused_device(param)


def check_rate(lr: Any) -> None:
    """ValueError for a tensor that is no rate, in releases that look at it."""
    is_checked = HABITS["a tensor that is a rate has one element"] and isinstance(lr, Tensor)
    if is_checked and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")


def as_number(value: Any) -> Any:
    """An option, which may be a tensor of one element."""
    is_row = isinstance(value, Tensor) and value.dim() != 0
    if is_row and HABITS["a rate of one dimension counts as a number"]:
        return value.squeeze()
    return value


@contextmanager
def uncounted_if(fused: Any, tensors: list[Any]) -> Iterator[None]:
    """What is fused changes tensors without autograd's knowing: their versions stay."""
    with ExitStack() as versions:
        for each in tensors if fused else ():
            versions.enter_context(_unsafe_preserve_version_counter(each))
        yield
