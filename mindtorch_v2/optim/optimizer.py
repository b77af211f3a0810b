"""``Optimizer``: groups of parameters with options, and a state for each parameter.

Mirrors ``torch/optim/optimizer.py``; no hooks, no profiling.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from copy import deepcopy
from itertools import chain
from typing import Any

from mindtorch_v2._typename import typename
from mindtorch_v2.autograd.grad_mode import enable_grad, no_grad
from mindtorch_v2.nn.modules._conversion import forget_grad
from mindtorch_v2.tensor.tensor import Tensor

__all__ = ["Optimizer"]

Group = dict[str, Any]


class Optimizer:
    """The base of optimizers: a subclass has ``_update``, which changes the parameters of a group.

    ``param_groups`` is a list of dictionaries, each with ``params`` and the group's options;
    ``state`` has a dictionary for each parameter.
    """

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, "
                f"but got {typename(params)}"
            )
        self.defaults = defaults
        self.state: defaultdict[Any, dict[str, Any]] = defaultdict(dict)
        self.param_groups: list[Group] = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(dict(group))

    def add_param_group(self, param_group: Group) -> None:
        """Add parameters with options of their own; TypeError or ValueError for wrong ones."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, Tensor):
            found = [params]
        elif isinstance(params, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the "
                "ordering of tensors in sets will change between runs. Please use a list instead."
            )
        else:
            found = list(params)
        for param in found:
            if not isinstance(param, Tensor):
                raise TypeError(
                    f"optimizer can only optimize Tensors, but one of the params is "
                    f"{typename(param)}"
                )
            if not (param.is_leaf or param.retains_grad):  # type: ignore[attr-defined]
                raise ValueError("can't optimize a non-leaf Tensor")
        param_group["params"] = found
        for name, default in self.defaults.items():
            param_group.setdefault(name, default)
        known = {id(each) for group in self.param_groups for each in group["params"]}
        if known & {id(each) for each in found}:
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(param_group)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients, or have them be zeros."""
        for param in self._params():
            forget_grad(param, set_to_none)

    def _params(self) -> Iterable[Any]:
        return chain.from_iterable(group["params"] for group in self.param_groups)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One step: change the parameters by their gradients.

        ``closure`` computes the loss and the gradients anew, and what it answers is answered.
        """
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        with no_grad():
            for group in self.param_groups:
                for param in group["params"]:
                    if param.grad is not None:
                        grad = param.grad if not group["maximize"] else -param.grad
                        self._update(param, grad, self.state[param], group)
        return loss

    def _update(self, param: Any, grad: Any, state: dict[str, Any], group: Group) -> None:
        raise NotImplementedError

    # --- state --------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """The states by the numbers of parameters, and the groups with numbers for parameters."""
        numbers = {id(param): number for number, param in enumerate(self._params())}
        groups = [
            {
                **{name: value for name, value in group.items() if name != "params"},
                "params": [numbers[id(param)] for param in group["params"]],
            }
            for group in self.param_groups
        ]
        state = {numbers[id(param)]: value for param, value in self.state.items()}
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue from a state; ValueError if its groups are others."""
        saved = state_dict["param_groups"]
        if len(saved) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        sizes = [[len(group["params"]) for group in each] for each in (saved, self.param_groups)]
        if sizes[0] != sizes[1]:
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of "
                "optimizer's group"
            )
        for group, other in zip(self.param_groups, saved, strict=True):
            group.update({k: deepcopy(v) for k, v in other.items() if k != "params"})
        params = dict(enumerate(self._params()))
        self.state = defaultdict(dict)
        for number, values in state_dict["state"].items():
            self.state[params[number]] = {name: _copied(value) for name, value in values.items()}

    # --- text ---------------------------------------------------------------------------------

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for number, group in enumerate(self.param_groups):
            lines.append(f"{chr(10) if number else ''}Parameter Group {number}")
            lines += [f"    {name}: {group[name]}" for name in sorted(group) if name != "params"]
        return "\n".join([*lines, ")"])


def _copied(value: Any) -> Any:
    return value.clone() if isinstance(value, Tensor) else deepcopy(value)
