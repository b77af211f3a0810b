"""``torch.autograd.Function``: operations whose forward and backward a user writes.

Mirrors ``torch/autograd/function.py``, ``torch/csrc/autograd/python_function.cpp`` and, for what
becomes of the outputs, ``custom_function.cpp``.  Forward mode and functorch are left out.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Any, ClassVar, Final, NoReturn

from mindtorch_v2 import profile
from mindtorch_v2.autograd.basic_ops import Error
from mindtorch_v2.autograd.custom_function import Returned, process_outputs
from mindtorch_v2.autograd.hooks import RemovableHandle
from mindtorch_v2.autograd.node import (
    Edge,
    Gradient,
    Hook,
    Node,
    any_requires_grad,
    current_graph_task,
)
from mindtorch_v2.autograd.python_saved_variable import SavedTensor
from mindtorch_v2.autograd.saved_variable import ERR_BACKWARD_TWICE, SavedVariable
from mindtorch_v2.autograd.type_and_size import TypeAndSize
from mindtorch_v2.autograd.variable import (
    bump_version,
    collect_next_edges,
    create_gradient_edge,
    grad_fn,
    tensor_data,
)
from mindtorch_v2.binding.python.type_names import type_name
from mindtorch_v2.dispatch import tls
from mindtorch_v2.messages import WARNING_TEXTS
from mindtorch_v2.tensor.made_in_c import check_count
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.warn import call_in_python

_TAKES_KEYWORDS: Final = profile.active().autograd["python"]["apply_takes_keywords"]
_ARE_NODES: Final = profile.active().autograd["python"]["unapplied_functions_are_nodes"]
_WORDS: Final = profile.active().autograd["words"]
_INSTANTIATED: Final = WARNING_TEXTS["Function"].partition("> ")[2]
_numbers: Final = count()


class FunctionBase(Node):
    """``torch._C._FunctionBase``: a node, and the context that a user's functions are given."""

    __module__ = "mindtorch_v2._C"

    _has_node: ClassVar[bool] = _ARE_NODES
    """Whether there is a node, as there is of every function that is applied."""

    def __init__(self) -> None:
        super().__init__()
        self.to_save: Any = None
        self.saved_for_forward: Any = None
        self.non_differentiable: Any = None
        self.dirty_tensors: Any = None
        self.needs_input_grad: Any = None
        self._materialize_grads = self._materialize_non_diff_grads = True
        self._is_tensor_input: tuple[bool, ...] = ()
        self._output_info: list[TypeAndSize | None] = []
        self._saved_variables: list[SavedVariable] = []
        self._has_freed_buffers = False

    # --- as a context -------------------------------------------------------------------------

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        if self.saved_for_forward is not None:
            found: tuple[Any, ...] = self.saved_for_forward
            return found
        return self._unpacked()

    @property
    def _raw_saved_tensors(self) -> tuple[SavedTensor, ...]:
        if self._has_freed_buffers:
            raise RuntimeError(ERR_BACKWARD_TWICE)
        return tuple(SavedTensor._of(saved, self) for saved in self._saved_variables)

    @property
    def saved_variables(self) -> tuple[Any, ...]:
        warnings.warn(
            "'saved_variables' is deprecated; use 'saved_tensors'",
            DeprecationWarning,
            stacklevel=2,
        )
        return self._unpacked()

    @property
    def materialize_grads(self) -> NoReturn:
        raise AttributeError(
            "attribute 'materialize_grads' of 'mindtorch_v2._C._FunctionBase' objects is not "
            "readable"
        )

    @materialize_grads.setter
    def materialize_grads(self, value: Any) -> None:
        if not isinstance(value, bool):
            raise TypeError(
                "set_materialize_grads received an invalid combination of arguments - got (), but "
                "expected (bool)"
            )
        self._materialize_grads = value

    def _unpacked(self) -> tuple[Any, ...]:
        if self._has_freed_buffers:
            raise RuntimeError(ERR_BACKWARD_TWICE)
        return tuple(saved.unpack(self) for saved in self._saved_variables)

    def maybe_clear_saved_tensors(self, /, *args: Any) -> None:
        """Let go of what was saved, in a backward that does not keep the graph."""
        if args:
            check_count("_FunctionBase.maybe_clear_saved_tensors", 0, args, {})
        task = current_graph_task()
        if task is not None and not task.keep_graph:
            self._release_variables()

    # --- as a node ----------------------------------------------------------------------------

    def _check_node(self, attribute: str) -> None:
        if not self._has_node:
            raise RuntimeError(_WORDS["unapplied_function"].format(attribute))

    def name(self) -> str:
        self._check_node("name")
        return "torch._C._FunctionBase" if type(self) is FunctionBase else super().name()

    @property
    def next_functions(self) -> tuple[Edge, ...]:
        self._check_node("next_functions")
        return super().next_functions

    @property
    def metadata(self) -> dict[str, Any]:
        if not self._has_node:
            raise RuntimeError(
                "You attempted to access the anomaly metadata of a custom autograd function but "
                "the underlying PyNode has already been deallocated.  The most likely reason this "
                "occurred is because you assigned x.grad_fn to a local variable and then let the "
                "original variable get deallocated.  Don't do that!  If you really have no way of "
                "restructuring your code so this is the case, please file an issue reporting that "
                "you are affected by this."
            )
        return super().metadata

    def register_hook(self, fn: Hook) -> Any:
        self._check_node("register_hook")
        return super().register_hook(fn)

    def register_prehook(self, fn: Hook) -> Any:
        self._check_node("register_prehook")
        return super().register_prehook(fn)

    def _release_variables(self) -> None:
        self._saved_variables = []
        self._has_freed_buffers = True

    def _apply(self, grads: list[Gradient]) -> list[Gradient]:
        given = tuple(map(self._materialized, range(len(grads)), grads))
        answer = call_in_python(self.apply, given)  # type: ignore[attr-defined]
        answers = answer if isinstance(answer, tuple) else (answer,)
        expected = len(self._is_tensor_input)
        if len(answers) > expected and all(each is None for each in answers[expected:]):
            answers = answers[:expected]
        if len(answers) != expected:
            raise RuntimeError(
                f"function {self.name()} returned an incorrect number of gradients (expected "
                f"{expected}, got {len(answers)})"
            )
        return self._gradients(answers)

    def _materialized(self, place: int, grad: Gradient) -> Any:
        """Zeros for a gradient that did not arrive, unless the user wants to see that."""
        if grad is not None or not self._materialize_grads:
            return grad
        info = self._output_info[place]
        is_differentiable = self._received[place] is not None
        if info is None or not (is_differentiable or self._materialize_non_diff_grads):
            return None
        return info.zeros()

    def _gradients(self, answers: Sequence[Any]) -> list[Gradient]:
        found: list[Gradient] = []
        pairs = zip(answers, self._is_tensor_input, strict=True)
        for place, (answer, is_tensor) in enumerate(pairs):
            if not is_tensor:
                if answer is not None:
                    raise RuntimeError(
                        f"function {self.name()} returned a gradient different than None at "
                        f"position {place + 1}, but the corresponding forward input was not a "
                        "Variable"
                    )
                continue
            if answer is not None and not isinstance(answer, Tensor):
                raise RuntimeError(f"expected Variable or None (got {type_name(answer)})")
            found.append(answer)
        return found

    def _register_hook_dict(self, tensor: Any) -> None:
        if not isinstance(tensor, Tensor):
            raise RuntimeError("_register_hook_dict expected a Tensor")
        self._check_node("_register_hook_dict")
        super()._register_hook_dict(tensor)

    # --- forward ------------------------------------------------------------------------------

    def _run(self, cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        has_setup = cls.setup_context is not _SingleLevelFunction.setup_context
        inputs = args if not kwargs else _by_place(cls.forward, args, kwargs, int(not has_setup))
        tensors = [each for each in inputs if isinstance(each, Tensor)]
        is_executable = tls.is_grad_enabled() and any_requires_grad(tensors)
        self._set_next_edges(collect_next_edges(tensors) if is_executable else [])
        self._is_tensor_input = tuple(isinstance(each, Tensor) for each in inputs)
        self.needs_input_grad = tuple(
            isinstance(each, Tensor) and each._requires_grad() for each in inputs
        )
        with tls.guarded(tls.AutoGradMode, False):
            if has_setup:
                output = cls.forward(*inputs)
                cls.setup_context(self, inputs, output)
            else:
                output = cls.forward(self, *inputs)
        return self._returned(tensors, output, is_executable, has_setup)

    def _returned(
        self, tensors: list[Tensor], output: Any, is_executable: bool, has_setup: bool
    ) -> Any:
        raw = output if isinstance(output, tuple) else (output,)
        self._received = ()
        saved = self._tensors_to_save(is_executable)
        returned = Returned(
            inputs=tensors,
            raw=raw,
            node=self if is_executable else None,
            non_differentiable=self._non_differentiable(),
            dirty=self._dirty(),
            saved=saved if has_setup else [],
        )
        outputs = process_outputs(returned)
        if is_executable:
            self._output_info = [
                TypeAndSize.of(each) if isinstance(each, Tensor) else None for each in outputs
            ]
            self._saved_variables = [
                SavedVariable(each, each is not None and grad_fn(each) is self) for each in saved
            ]
        self.to_save = self.saved_for_forward = None
        return outputs if isinstance(output, tuple) else outputs[0]

    def _tensors_to_save(self, is_executable: bool) -> list[Tensor | None]:
        if self.to_save is None:
            return []
        for place, each in enumerate(self.to_save):
            if is_executable and each is not None and not isinstance(each, Tensor):
                raise TypeError(
                    f"save_for_backward can only save variables, but argument {place} is of type "
                    f"{type(each).__name__}"
                )
        return [each for each in self.to_save if each is None or isinstance(each, Tensor)]

    def _non_differentiable(self) -> list[Tensor]:
        marked = list(_tensors_only(self.non_differentiable or (), "mark_non_differentiable"))
        self.non_differentiable = None
        return marked

    def _dirty(self) -> list[Tensor]:
        marked: list[Tensor] = []
        for each in _tensors_only(self.dirty_tensors or (), "mark_dirty"):
            bump_version(each)
            marked.append(each)
        self.dirty_tensors = None
        return marked


FunctionBase.__name__ = FunctionBase.__qualname__ = "_FunctionBase"


def _by_place(
    forward: Any, args: tuple[Any, ...], kwargs: dict[str, Any], first: int
) -> tuple[Any, ...]:
    """Arguments in the order in which ``forward``, a function of Python, takes them.

    TypeError for one that it does not take by place, or if there is a gap: what it would put there
    by itself is not looked up.
    """
    code = forward.__code__
    names = code.co_varnames[first : code.co_argcount]
    found = dict(enumerate(args))
    for name, value in kwargs.items():
        if name not in names:
            raise TypeError(f"forward() got an unexpected keyword argument '{name}'")
        if names.index(name) in found:
            raise TypeError(f"forward() got multiple values for argument '{name}'")
        found[names.index(name)] = value
    for place in range(len(found)):
        if place not in found:
            raise TypeError(
                f"forward() missing required argument: '{names[place]}' (position {place})"
            )
    return tuple(found[place] for place in range(len(found)))


def _tensors_only(marked: Sequence[Any], method: str) -> Iterator[Tensor]:
    """What a method of the context was told; RuntimeError at the first that is no tensor."""
    for place, each in enumerate(marked):
        if not isinstance(each, Tensor):
            # 2.13 and older print no more than the first part of it.
            raise RuntimeError(_WORDS[method].format(place=place, type=type(each).__name__))
        yield each


class FunctionCtx:
    """What ``ctx`` can be told."""

    def save_for_backward(self, *tensors: Any) -> None:
        self.to_save = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        for tensor in tensors:
            assert isinstance(tensor, Tensor) or tensor is None, (
                "save_for_forward expects all arguments to be tensors; you should save "
                "non-tensors as attributes on ctx."
            )
        self.saved_for_forward = tensors

    def mark_dirty(self, *args: Any) -> None:
        self.dirty_tensors = args

    def mark_shared_storage(self, *pairs: Any) -> None:
        warnings.warn(
            "`mark_shared_storage` is deprecated. Tensors with shared storages are automatically "
            "tracked. Note that calls to `set_()` are not tracked",
            FutureWarning,
            stacklevel=2,
        )

    def mark_non_differentiable(self, *args: Any) -> None:
        self.non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        self.materialize_grads = value


class _HookMixin:
    @staticmethod
    def _register_hook(
        backward_hooks: OrderedDict[int, Any] | None, hook: Any
    ) -> tuple[OrderedDict[int, Any], RemovableHandle]:
        if backward_hooks is None:
            backward_hooks = OrderedDict()
        return backward_hooks, RemovableHandle.added(backward_hooks, hook)


class BackwardCFunction(FunctionBase, FunctionCtx, _HookMixin):  # type: ignore[misc]
    """The node of a user's function."""

    _has_node = True
    _forward_cls: ClassVar[Any]

    def apply(self, *args: Any) -> Any:
        backward, vjp = self._forward_cls.backward, self._forward_cls.vjp
        if backward is not Function.backward and vjp is not Function.vjp:
            raise RuntimeError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You "
                "should only implement one of them."
            )
        return (vjp if vjp is not Function.vjp else backward)(self, *args)


class FunctionMeta(type):
    """Gives every class of functions a class of nodes."""

    def __init__(cls, name: str, bases: tuple[type, ...], attrs: dict[str, Any]) -> None:
        members = {"_forward_cls": cls, "__module__": BackwardCFunction.__module__}
        backward = type(f"{name}Backward", (BackwardCFunction,), members)
        backward._autograd_function_id = next(_numbers)  # type: ignore[attr-defined]
        cls._backward_cls: Any = backward
        super().__init__(name, bases, attrs)


class _SingleLevelFunction(  # type: ignore[misc]
    FunctionBase, FunctionCtx, _HookMixin, metaclass=FunctionMeta
):
    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(
            "You must implement the forward function for custom autograd.Function."
        )

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom "
            "autograd.Function to use it with backward mode AD."
        )

    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with "
            "forward mode AD."
        )


class Function(_SingleLevelFunction):
    """An operation: ``forward``, ``backward``, and ``apply``, which runs and records it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        warnings.warn(
            f"{self.__class__} {_INSTANTIATED}",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use "
            "new-style autograd function with static forward method. (Example: "
            "https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
        )

    generate_vmap_rule = False

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap staticmethod "
            "or set generate_vmap_rule=True."
        )

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        if cls.setup_context is not _SingleLevelFunction.setup_context:
            bound = inspect.signature(cls.forward).bind(*args, **kwargs)
            bound.apply_defaults()
            args = bound.args
            kwargs = bound.kwargs if _TAKES_KEYWORDS else kwargs
        if kwargs and not _TAKES_KEYWORDS:
            raise TypeError("apply() takes no keyword arguments")
        return cls._backward_cls()._run(cls, args, kwargs)


class InplaceFunction(Function):
    """Keeps whether it was asked to work in place."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


def once_differentiable(function: Callable[..., Any]) -> Callable[..., Any]:
    """A ``backward`` that is not recorded: to differentiate its answer is an error."""

    @functools.wraps(function)
    def wrapper(ctx: Any, *args: Any) -> Any:
        with tls.guarded(tls.AutoGradMode, False):
            outputs = function(ctx, *args)
        if not tls.is_grad_enabled() or not any_requires_grad(args):
            return outputs
        given = outputs if isinstance(outputs, tuple) else (outputs,)
        return delayed_error(
            "trying to differentiate twice a function that was marked with @once_differentiable",
            [_as_leaf(each) for each in given],
        )

    return wrapper


def _as_leaf(value: Any) -> Any:
    if value is None:
        return None
    leaf = value.detach()  # whatever a user's backward has answered
    leaf.requires_grad = True
    return leaf


def delayed_error(message: str, inputs: list[Any]) -> Any:
    """``DelayedError``: the same tensors, whose history raises."""
    node = Error(message)
    node._set_next_edges(collect_next_edges(inputs))
    outputs = [None if each is None else tensor_data(each) for each in inputs]
    for each in outputs:
        create_gradient_edge(each, node)
    return outputs[0] if len(outputs) == 1 else tuple(outputs)
