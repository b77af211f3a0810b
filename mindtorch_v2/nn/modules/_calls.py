"""Calls of modules that have hooks.

Mirrors ``Module._call_impl`` of ``torch/nn/modules/module.py``.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

from mindtorch_v2.nn.modules import _global_hooks
from mindtorch_v2.nn.modules._backward_hook import BackwardHook
from mindtorch_v2.tensor.tensor import Tensor

__all__ = ["call", "expect_no_arguments"]


def _forward_unimplemented(self: Any, *inputs: Any) -> None:
    """What a subclass computes."""
    raise NotImplementedError(
        f'Module [{type(self).__name__}] is missing the required "forward" function'
    )


def expect_no_arguments(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """TypeError for arguments of ``Module.__init__``."""
    init = f"{type(module).__name__}.__init__()"
    if kwargs:
        raise TypeError(f"{init} got an unexpected keyword argument '{next(iter(kwargs))}'")
    if args:
        raise TypeError(f"{init} takes 1 positional argument but {len(args) + 1} were given")


def call(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What ``forward`` answers, and what hooks make of it."""
    hooked = _Call(module, args, kwargs)
    try:
        return hooked.run()
    except Exception:
        hooked.run_hooks_that_are_always_called()
        raise


def _all(of_all: Any, own: Any) -> list[tuple[int, Any]]:
    """Hooks by their numbers, those of all modules first."""
    return [*of_all.items(), *own.items()]


def _backward_hooks(module: Any, are_full: bool) -> tuple[Any, ...]:
    """Those that see all gradients, or those on the last node."""
    own = module._backward_hooks.values() if module._is_full_backward_hook is are_full else ()
    return (*_global_hooks.backward_hooks(are_full), *own)


class _Call:
    """One call: the arguments and the result as hooks leave them."""

    def __init__(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.module = module
        self.args = args
        self.kwargs = kwargs
        self.result: Any = None
        self.called: set[int] = set()

    def run(self) -> Any:
        module = self.module
        self._run_forward_pre_hooks()
        full = _backward_hooks(module, True)
        pre_hooks = (*_global_hooks.backward_pre_hooks(), *module._backward_pre_hooks.values())
        told = BackwardHook(module, full, pre_hooks) if full or pre_hooks else None
        if told is not None:
            self.args = told.setup_input_hook(self.args)
        self.result = module.forward(*self.args, **self.kwargs)
        for key, hook in _all(_global_hooks.FORWARD, module._forward_hooks):
            self._run_forward_hook(key, hook)
        if told is not None:
            self._tell_of_outputs(told)
        if hooks := _backward_hooks(module, False):
            self._register_on_node(hooks)
        return self.result

    def _run_forward_pre_hooks(self) -> None:
        module = self.module
        for key, hook in _all(_global_hooks.FORWARD_PRE, module._forward_pre_hooks):
            if key not in module._forward_pre_hooks_with_kwargs:
                changed = hook(module, self.args)
                if changed is not None:
                    self.args = changed if isinstance(changed, tuple) else (changed,)
                continue
            changed = hook(module, self.args, self.kwargs)
            if changed is None:
                continue
            if not isinstance(changed, tuple) or len(changed) != 2:
                raise RuntimeError(
                    "forward pre-hook must return None or a tuple of (new_args, new_kwargs), "
                    f"but got {changed}."
                )
            self.args, self.kwargs = changed

    def _run_forward_hook(self, key: int, hook: Any, *, after_error: bool = False) -> None:
        module = self.module
        self.called.add(key)
        takes_kwargs = key in module._forward_hooks_with_kwargs or (
            key in _global_hooks.FORWARD_WITH_KWARGS and not after_error
        )
        given = (self.args, self.kwargs) if takes_kwargs else (self.args,)
        changed = hook(module, *given, self.result)
        if changed is not None:
            self.result = changed

    def run_hooks_that_are_always_called(self) -> None:
        """Those that were not, after an error; theirs become warnings."""
        always = {**_global_hooks.FORWARD_ALWAYS_CALLED, **self.module._forward_hooks_always_called}
        for key, hook in _all(_global_hooks.FORWARD, self.module._forward_hooks):
            if key not in always or key in self.called:
                continue
            kind = "global" if key in _global_hooks.FORWARD else "module"
            try:
                self._run_forward_hook(key, hook, after_error=True)
            except Exception as error:
                warnings.warn(
                    f"{kind} forward hook with ``always_call=True`` raised an exception that was "
                    f"silenced as another error was raised in forward: {error}",
                    stacklevel=4,
                )

    def _tell_of_outputs(self, told: BackwardHook) -> None:
        if not isinstance(self.result, (Tensor, tuple)):
            warnings.warn(
                "For backward hooks to be called, module output should be a Tensor or a tuple of "
                f"Tensors but received {type(self.result)}",
                stacklevel=5,
            )
        self.result = told.setup_output_hook(self.result)

    def _register_on_node(self, hooks: tuple[Any, ...]) -> None:
        """Hooks of the old kind see the gradients of the last node alone."""
        found: Any = self.result
        while not isinstance(found, Tensor):
            if isinstance(found, dict):
                found = next(each for each in found.values() if isinstance(each, Tensor))
            else:
                found = found[0]
        node: Any = found.grad_fn  # type: ignore[attr-defined]
        if node is None:
            return
        for hook in hooks:
            node.register_hook(partial(hook, self.module))
        for missing in _missing(self.args, self.result, node):
            warnings.warn(missing, FutureWarning, stacklevel=5)


_ADVICE = "Please use register_full_backward_hook to get the documented behavior."


def _missing(args: tuple[Any, ...], result: Any, node: Any) -> Iterator[str]:
    """What a hook on a node does not see of a module's gradients: at most one text."""
    outputs: Any = (result,) if isinstance(result, Tensor) else result
    if not _are_tensors(outputs):
        yield (
            "Using non-full backward hooks on a Module that does not return a single Tensor or a "
            "tuple of Tensors is deprecated and will be removed in future versions. This hook will "
            f"be missing some of the grad_output. {_ADVICE}"
        )
        return
    if not _are_tensors(args):
        yield (
            "Using non-full backward hooks on a Module that does not take as input a single Tensor "
            "or a tuple of Tensors is deprecated and will be removed in future versions. This hook "
            f"will be missing some of the grad_input. {_ADVICE}"
        )
        return
    nodes = {each.grad_fn for each in outputs if each.grad_fn is not None}
    if not nodes or (len(nodes) == 1 and node not in nodes):
        yield (
            "Using a non-full backward hook when outputs are nested in python data structure is "
            "deprecated and will be removed in future versions. This hook will be missing some "
            "grad_output."
        )
    elif len(nodes) > 1:
        yield (
            "Using a non-full backward hook when outputs are generated by different autograd Nodes "
            "is deprecated and will be removed in future versions. This hook will be missing some "
            f"grad_output. {_ADVICE}"
        )
    elif {each.grad_fn for each in args if each.grad_fn is not None} != {
        following for following, _ in node.next_functions
    }:
        yield (
            "Using a non-full backward hook when the forward contains multiple autograd Nodes is "
            "deprecated and will be removed in future versions. This hook will be missing some "
            f"grad_input. {_ADVICE}"
        )


def _are_tensors(values: Any) -> bool:
    return isinstance(values, tuple) and all(isinstance(each, Tensor) for each in values)
