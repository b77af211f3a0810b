"""Hooks that are told a module's gradients: those of its outputs, and then of its inputs.

Mirrors ``BackwardHook`` of ``torch/utils/hooks.py``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, Final

from mindtorch_v2.dispatch import tls
from mindtorch_v2.kernels.switches import HABITS
from mindtorch_v2.messages import WARNING_TEXTS
from mindtorch_v2.nn.modules._functions import BackwardHookFunction
from mindtorch_v2.tensor.tensor import Tensor

__all__ = ["BackwardHook"]

_NODE: Final = "BackwardHookFunctionBackward"

Hook = Callable[..., Any]
Gradients = tuple[Any, ...]


class BackwardHook:
    """The hooks of one call of a module.

    A node over its inputs and one over its outputs tell when all gradients of either are there.
    What is no tensor counts as an argument without a gradient.
    """

    def __init__(
        self, module: Any, user_hooks: Sequence[Hook], user_pre_hooks: Sequence[Hook]
    ) -> None:
        self.user_hooks = user_hooks
        self.user_pre_hooks = user_pre_hooks
        self.module = module
        self.grad_outputs: Gradients | None = None
        self.n_outputs = -1
        self.output_tensors_index: list[int] | None = None
        self.n_inputs = -1
        self.input_tensors_index: list[int] | None = None

    def setup_input_hook(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments, behind a node of their own."""
        found, self.input_tensors_index = _through_node(self._input_hook, args)
        self.n_inputs = len(args)
        return found

    def setup_output_hook(self, args: Any) -> Any:
        """The same of what ``forward`` answered."""
        outputs = args if isinstance(args, tuple) else (args,)
        found, self.output_tensors_index = _through_node(self._output_hook, outputs)
        self.n_outputs = len(outputs)
        return found if isinstance(args, tuple) else found[0]

    def _input_hook(self, grad_input: Gradients, _: Gradients) -> Gradients | None:
        if self.grad_outputs is None:
            return None  # a gradient that did not come by the outputs, as in a double backward
        assert self.input_tensors_index is not None
        found = _packed(self.input_tensors_index, grad_input, self.n_inputs)
        for hook in self.user_hooks:
            answer = hook(self.module, found, self.grad_outputs)
            found = _answered(answer, found, "hook", "grad_input")
        self.grad_outputs = None
        return tuple(found[place] for place in self.input_tensors_index)

    def _output_hook(self, _: Gradients, grad_output: Gradients) -> Gradients:
        assert self.output_tensors_index is not None
        found = _packed(self.output_tensors_index, grad_output, self.n_outputs)
        for hook in self.user_pre_hooks:
            found = _answered(hook(self.module, found), found, "pre hook", "grad_output")
        self.grad_outputs = found
        if self.input_tensors_index is None:
            self._tell_of_outputs_alone(found)
        return tuple(found[place] for place in self.output_tensors_index)

    def _tell_of_outputs_alone(self, grad_outputs: Gradients) -> None:
        """Where no input requires a gradient, this is the time for the hooks."""
        is_told = self.user_hooks or HABITS["a hook before a module's backward warns of no inputs"]
        if is_told and (text := WARNING_TEXTS.get("BackwardHook")) is not None:
            warnings.warn(text, stacklevel=5)
        for hook in self.user_hooks:
            answer = hook(self.module, _packed([], [], self.n_inputs), grad_outputs)
            is_nothing = isinstance(answer, tuple) and all(each is None for each in answer)
            if answer is not None and not is_nothing:
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always "
                    "return None or None for all gradients."
                )
        self.grad_outputs = None


def _answered(answer: Any, given: Any, hook: str, name: str) -> Any:
    """What a hook has answered in place of the gradients that it was given, if anything."""
    if answer is None:
        return given
    if len(answer) != len(given):
        raise RuntimeError(
            f"Backward {hook} returned an invalid number of {name}, got {len(answer)}, but "
            f"expected {len(given)}"
        )
    return answer


def _packed(places: Sequence[int], values: Sequence[Any], count: int) -> Gradients:
    """Values at their places among ``count``, None elsewhere."""
    found = [None] * count
    for place, value in zip(places, values, strict=True):
        found[place] = value
    return tuple(found)


def _through_node(hook: Hook, args: tuple[Any, ...]) -> tuple[tuple[Any, ...], list[int] | None]:
    """The arguments behind a new node that has the hook, and which of them are tensors.

    None for the latter where nothing requires a gradient, or nobody records any.
    """
    places = [place for place, arg in enumerate(args) if isinstance(arg, Tensor)]
    tensors = [args[place] for place in places]
    if not (any(each.requires_grad for each in tensors) and tls.is_grad_enabled()):
        return args, None
    passed = BackwardHookFunction.apply(*tensors)
    node = next(each.grad_fn for each in passed if each.grad_fn and each.grad_fn.name() == _NODE)
    node.register_hook(hook)
    found = list(args)
    for place, value in zip(places, passed, strict=True):
        found[place] = value
    kind = type(args)
    return (tuple(found) if kind is tuple else kind(*found)), places
