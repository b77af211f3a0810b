"""Kernels at Autograd: run the operator below and record what it did.

Mirrors what ``torchgen/packaged/autograd/gen_variable_type.py`` writes for each operator; what
differs between operators are facts of the profile.  Forward mode is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, cached_property
from typing import Any, Final

from mindtorch_v2 import profile
from mindtorch_v2.autograd.at import UNDEFINED
from mindtorch_v2.autograd.basic_ops import Underivable
from mindtorch_v2.autograd.formula import compiled
from mindtorch_v2.autograd.generated import (
    GeneratedNode,
    NodeOfLists,
    node_class,
    saved_attributes,
    savers,
)
from mindtorch_v2.autograd.node import Node, any_requires_grad, flattened
from mindtorch_v2.autograd.saved_variable import SavedVariable
from mindtorch_v2.autograd.variable import (
    check_inplace,
    collect_next_edges,
    rebase_history,
    reset_grad_accumulator,
    set_history,
)
from mindtorch_v2.binding.fallbacks import may_require_grad
from mindtorch_v2.binding.operators import Call, Operator
from mindtorch_v2.binding.unboxed import Run, makes
from mindtorch_v2.dispatch import tls
from mindtorch_v2.dispatch.kernel import NO_SIGNATURE
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.keyset import (
    AUTOGRAD_KEYS,
    BELOW_INPLACE_OR_VIEW,
    full_after,
    intersection,
)
from mindtorch_v2.dispatch.observers import OBSERVERS
from mindtorch_v2.kernels.elementwise.short_way import short_way_of
from mindtorch_v2.kernels.foreach import check_count
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.wrapping.inplace_or_view import with_written, written_places
from mindtorch_v2.kernels.wrapping.recording import Recorded, recorder
from mindtorch_v2.tensor.support import worded
from mindtorch_v2.tensor.tensor import Tensor

AFTER_AUTOGRAD: Final = full_after(DispatchKey.AutogradOther)

_CLONE: Final = OperatorHandle("aten::clone")


def _is_inplace(base: str) -> bool:
    """By its name; what changes arguments and does not say so is ``mutable``, and no history of
    theirs is looked at."""
    return base.startswith("__i") if base.endswith("__") else base.endswith("_")


def unpack(operator: Operator, stack: tuple[Any, ...]) -> None:
    """RuntimeError for an undefined tensor where there must be one."""
    for place, name in _tensors(operator):
        if stack[place] is None:
            raise RuntimeError(
                "Expected a proper Tensor but got None (or an undefined Tensor in C++) "
                f"for argument #{place} '{name}'"
            )


@cache
def _tensors(operator: Operator) -> tuple[tuple[int, str], ...]:
    """Places and names of the arguments that are one tensor."""
    arguments = enumerate(operator.schema.arguments)
    return tuple((place, each.name) for place, each in arguments if str(each.type) == "Tensor")


class VariableType:
    """What autograd does for one operator."""

    def __init__(self, operator: Operator) -> None:
        derivatives = profile.active().derivatives
        name = operator.canonical
        self.facts = derivatives["operators"].get(name, {})
        self.operator = operator
        schema = operator.schema
        self.names = [argument.name for argument in schema.arguments]
        self.base = operator.name.removeprefix("aten::")
        self.is_inplace = _is_inplace(self.base) and any(a.is_write for a in schema.arguments)
        self.outs = [place for place, a in enumerate(schema.arguments) if a.is_out]
        self.is_view = name in derivatives["views"]
        keeps_below = self.is_view or self.is_inplace or self.outs
        #: The keys that calls from the kernel pass over.
        self.excluded = AUTOGRAD_KEYS if keeps_below else BELOW_INPLACE_OR_VIEW
        self.node = self.facts.get("node")
        self.inputs = self._places("inputs")
        self.refused = self._places("refused")
        self.checked = self._places("checked")
        self.outputs = tuple(self.facts.get("outputs", ()))
        self.condition = self.facts.get("when")
        self.resets_grad_accumulator = self.base in derivatives["resets_grad_accumulator"]

    def _places(self, key: str) -> tuple[int, ...]:
        names: Sequence[str] = self.facts.get(key, ())  # type: ignore[assignment]
        return tuple(map(self.names.index, names))

    @cached_property
    def base_name(self) -> str:
        """Without the mark of an in-place operator."""
        return self.base.removesuffix("_") if self.is_inplace else self.base

    @cached_property
    def cpp_name(self) -> str:
        """Of the C++ function."""
        return f"{self.base}_out" if self.outs else self.base

    @cached_property
    def _is_boxed(self) -> bool:
        """Whether it is ``autogradNotImplementedFallback``, which takes every operator."""
        kernel = self.operator.entry.kernels[int(DispatchKey.Autograd)][0]
        return kernel.signature == NO_SIGNATURE

    @cached_property
    def lists(self) -> dict[str, int]:
        """Where inputs are lists of tensors, by name."""
        if self.node is None:
            return {}
        shown = profile.active().derivatives["nodes"][self.node]["inputs"]
        names = [name.removesuffix("[]") for name in shown if name.endswith("[]")]
        return {name: self.names.index(name) for name in names}

    @cached_property
    def counted(self) -> tuple[int, ...]:
        """Of an operator for each tensor of lists: where other lists with derivatives are."""
        if self.node is None or not self.base.startswith("_foreach_"):
            return ()
        arguments = self.operator.schema.arguments
        lists = [place for place in self.inputs if str(arguments[place].type) == "List[Tensor]"]
        return tuple(lists[1:])  # a number may stand before the first

    # --- the kernel ---------------------------------------------------------------------------

    def run(self, keyset: int, stack: tuple[Any, ...]) -> Any:
        if not self._is_boxed:
            unpack(self.operator, stack)
        is_boxed_out = bool(self.outs) and self._is_boxed
        if not self.facts and not is_boxed_out:
            return self._below(keyset, stack)
        if self.counted:
            self._check_counts(stack)
        inputs = list(stack) if is_boxed_out else [stack[place] for place in self.inputs]
        recorded = tls.is_grad_enabled() and any_requires_grad(inputs) and self._fits(stack)
        if is_boxed_out:
            self._check_boxed_out(stack, recorded)
        elif self.outs:
            self._check_out(stack)
            recorded = False
        elif self.is_inplace:
            for target in flattened(stack[:1]):
                if target is not None:
                    check_inplace(target, recorded)
        self._check_refused(stack)
        if recorded and self.is_inplace and isinstance(stack[0], (list, tuple)):
            # each tensor has a node of its own: that of the operator of one
            below = intersection(keyset, full_after(DispatchKey.ADInplaceOrView))
            return Call(self.operator, stack).redispatch(below)
        node = self._node(inputs, stack) if recorded else None
        answer = self._below(keyset, stack)
        results = answer if isinstance(answer, tuple) else (answer,)
        places = self.outputs or (range(len(self.outs)) if is_boxed_out else ())
        differentiable = [results[place] for place in places]
        if node is not None:
            self._record(node, differentiable)
        self._check_complex(differentiable)
        if isinstance(node, GeneratedNode):
            self._save_outputs(node, results)
        if self.resets_grad_accumulator:
            reset_grad_accumulator(stack[0])
        return answer

    def while_nothing_requires_grad(self, keyset: int) -> Run | None:
        """The kernel for calls that nobody observes, which looks closer at others only."""
        if self.resets_grad_accumulator or self.outs:
            return None
        arguments = self.operator.schema.arguments
        kinds = [str(argument.type) for argument in arguments]
        required = [place for place, kind in enumerate(kinds) if kind == "Tensor"]
        others = [
            place for place, kind in enumerate(kinds) if "Tensor" in kind and kind != "Tensor"
        ]
        unboxed, after = self.operator.unboxed, intersection(keyset, AFTER_AUTOGRAD)
        excluded, written = self.excluded, written_places(self.operator)
        counted = self.counted

        def run(*stack: Any) -> Any:
            if OBSERVERS.count:
                return self.run(keyset, stack)
            for place in required:
                value = stack[place]
                if type(value) is not Tensor or (
                    value._autograd is not None and value._requires_grad()
                ):
                    return self.run(keyset, stack)
            for place in others:
                if stack[place] is not None and may_require_grad((stack[place],)):
                    return self.run(keyset, stack)
            if counted:
                self._check_counts(stack)
            answer = tls.call_excluding(excluded, unboxed.below(after), *stack)
            if written is not None:
                return with_written(self.operator, stack, answer)
            if type(answer) is not Tensor or answer._dtype.is_complex:
                results = answer if isinstance(answer, tuple) else (answer,)
                self._check_complex([results[place] for place in self.outputs])
            return answer

        short = None if others else short_way_of(unboxed.found_below(after), after)
        if short is None or short.make is None:
            return run
        record = self._recorder() if self._is_recorded_shortly else None
        return short.make(run, len(arguments), record)

    @cached_property
    def _is_recorded_shortly(self) -> bool:
        """Whether all that comes of a call is one tensor and its history."""
        one_answer = self.outputs == (0,) and len(self.operator.schema.returns) == 1
        changes = self.is_inplace or self.outs or self.operator.undefined
        special = self.lists or self.refused or self.condition is not None or self._is_boxed
        return one_answer and self.node is not None and not changes and not special

    def _recorder(self) -> Run:
        """What records a plain call."""
        assert self.node is not None
        save_outputs = self._save_outputs if savers(self.node, "outputs") else None
        return recorder(Recorded(self.node, self.names, self.inputs, save_outputs))

    def _fits(self, stack: tuple[Any, ...]) -> bool:
        """``output_differentiability`` with a condition."""
        if self.condition is None:
            return True
        return bool(compiled(self.condition)(dict(zip(self.names, stack, strict=True))))

    def _below(self, keyset: int, stack: tuple[Any, ...]) -> Any:
        keys = intersection(keyset, AFTER_AUTOGRAD)
        if OBSERVERS.count:
            redispatch = Call(self.operator, stack).redispatch
            answer = tls.call_excluding(self.excluded, redispatch, keys)
        else:
            answer = tls.call_excluding(self.excluded, self.operator.unboxed.below(keys), *stack)
        return with_written(self.operator, stack, answer)

    # --- checks -------------------------------------------------------------------------------

    def _check_counts(self, stack: tuple[Any, ...]) -> None:
        """What torch looks at before it asks each tensor for a derivative in forward mode."""
        for place in self.counted:
            check_count(stack[0], stack[place])

    def _check_out(self, stack: tuple[Any, ...]) -> None:
        if not tls.is_grad_enabled():
            return
        results = [self.outs[place] for place in self.outputs]  # those that have gradients
        for places in (self.checked, results):
            if any_requires_grad([stack[place] for place in places]):
                raise _out_requires_grad(self.base_name)

    def _check_boxed_out(self, stack: tuple[Any, ...], recorded: bool) -> None:
        """``autogradNotImplementedFallback`` takes what could be changed in place."""
        for place in self.outs:
            for each in flattened([stack[place]]):
                if each is None:
                    continue
                try:
                    check_inplace(each, recorded)
                except RuntimeError:
                    raise _out_requires_grad(self.operator.name) from None

    def _check_refused(self, stack: tuple[Any, ...]) -> None:
        """``check_no_requires_grad``, which lets the tensors of a list pass: having looked at the
        grad mode for all of them it tells itself not to, and takes that for no grad mode."""
        if not self.refused or not tls.is_grad_enabled():
            return
        for place in self.refused:
            if isinstance(stack[place], Tensor) and any_requires_grad([stack[place]]):
                raise RuntimeError(
                    f"The function '{self.cpp_name}' is not differentiable with respect to "
                    f"argument '{self.names[place]}'. This input cannot have requires_grad True."
                )

    def _check_complex(self, outputs: Sequence[Any]) -> None:
        """torch generates the check for new tensors only, not for lists of them, and the boxed
        fallback has none."""
        if self.facts.get("complex") or self.is_inplace or self.outs or self._is_boxed:
            return
        for each in outputs:
            if isinstance(each, Tensor) and each._dtype.is_complex and each._requires_grad():
                raise worded("complex numbers without a gradient", slice_copy=self.base_name)

    # --- history ------------------------------------------------------------------------------

    def _record(self, node: Node, outputs: Sequence[Any]) -> None:
        """Give results their history; the boxed fallback passes over dtypes without gradients."""
        found = list(flattened(outputs))
        if self._is_boxed:
            found = [each for each in found if each is not None and each._is_differentiable()]
        changes = (self.is_inplace or self.outs) and not self.is_view
        (rebase_history if changes else set_history)(found, node)

    def _node(self, inputs: Sequence[Any], stack: tuple[Any, ...]) -> Node:
        if self._is_boxed:  # the fallback has edges of those alone that want a gradient
            inputs = [each for each in flattened(inputs) if any_requires_grad((each,))]
        edges = collect_next_edges(inputs)
        if self.node is None:
            unknown = Underivable(self.operator.name if self._is_boxed else self.cpp_name)
            unknown._set_next_edges(edges)
            return unknown
        node = node_class(self.node)()
        node._set_next_edges(edges)
        values = dict(zip(self.names, stack, strict=True))
        for place in self.operator.undefined:
            if stack[place] is None:
                values[self.names[place]] = UNDEFINED
        if self.is_inplace and self._saves_self(node):
            values["self"] = _CLONE(stack[0], memory_format=None)
        node._save(savers(self.node, "inputs"), values)
        if isinstance(node, NodeOfLists):
            node._counts = {name: len(stack[place]) for name, place in self.lists.items()}
        return node

    def _saves_self(self, node: GeneratedNode) -> bool:
        """Whether the value is kept that the operator is about to change."""
        assert self.node is not None
        return any(
            saved.name == "self" and saved.is_tensor and node._is_wanted(saved.condition)
            for saved in saved_attributes(self.node, "inputs")
        )

    def _save_outputs(self, node: GeneratedNode, results: Sequence[Any]) -> None:
        assert self.node is not None
        attributes = savers(self.node, "outputs")
        if not attributes:
            return
        if self.is_inplace:
            tensor = results[0]
            for saved in attributes:
                if saved.name == "result":
                    kept = SavedVariable(tensor, True, tensor._is_view())
                    node._kept[saved.place] = kept
                else:
                    node._save((saved,), {"result": tensor}, is_output=True)
            return
        returns = self.operator.schema.returns
        names = [each.name or f"result{place}" for place, each in enumerate(returns)]
        if len(returns) == 1 and not returns[0].name:
            names = ["result"]
        node._save(attributes, dict(zip(names, results, strict=True)), is_output=True)


@cache
def _of(operator: Operator) -> VariableType:
    return VariableType(operator)


def variable_type(operator: Operator, keyset: int, /, *stack: Any) -> Any:
    """The kernel of every operator that torch's code generator has one for."""
    return _of(operator).run(keyset, stack)


@makes(variable_type)
def _made(operator: Operator, keyset: int) -> Run | None:
    return _of(operator).while_nothing_requires_grad(keyset)


def _out_requires_grad(name: str) -> RuntimeError:
    """``throw_error_out_requires_grad``."""
    return RuntimeError(
        f"{name}(): functions with out=... arguments don't support automatic differentiation, "
        "but one of the arguments requires grad."
    )
