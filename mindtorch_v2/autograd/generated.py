"""The nodes that torch's code generator writes, made from the profile's formulas.

Mirrors ``torch/csrc/autograd/generated/Functions.cpp``: a class for each node, what it saves, and
how it comes to gradients; and ``python_functions.cpp``: its attributes ``_saved_…``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from functools import cache
from typing import Any, ClassVar, Final, NamedTuple

from mindtorch_v2 import profile
from mindtorch_v2.autograd.at import UNDEFINED
from mindtorch_v2.autograd.formula import Formula, compiled
from mindtorch_v2.autograd.node import CppFunction, Gradient, begin, next_sequence_nr
from mindtorch_v2.autograd.python_saved_variable import SavedTensor
from mindtorch_v2.autograd.saved_variable import ERR_BACKWARD_TWICE, SavedVariable
from mindtorch_v2.autograd.type_and_size import TypeAndSize
from mindtorch_v2.profile.sections import NodeFacts
from mindtorch_v2.tensor.factories import tensor as wrapped_tensor
from mindtorch_v2.tensor.scalars import DTYPES_OF_NUMBERS

_TENSORS: Final = ("at::Tensor", "::std::optional<at::Tensor>")
_TENSOR_LISTS: Final = (
    "at::TensorList",
    "c10::List<::std::optional<at::Tensor>>",
    "::std::vector<at::Tensor>",
)
_HIDDEN: Final = (
    "torch::autograd::generated::TypeAndSize",
    "at::ScalarType",
    "at::Layout",
    "at::TensorOptions",
    "at::TensorGeometry",
    "::std::vector<::std::vector<int64_t>>",
    "::std::vector<::std::vector<c10::SymInt>>",
    "::std::vector<at::ScalarType>",
)
"""Types of which Python sees nothing."""

_INTEGERS: Final = (
    "int64_t",
    "c10::SymInt",
    "at::IntArrayRef",
    "c10::SymIntArrayRef",
    "at::OptionalIntArrayRef",
    "::std::optional<int64_t>",
    "::std::optional<c10::SymInt>",
    "::std::optional<c10::SymIntArrayRef>",
)


_NO_COUNTS: Final[Mapping[str, int]] = {}
_OF_EACH: Final = "grads[i]"
"""What is in the formulas of ``_foreach_…`` operators."""


class Saved(NamedTuple):
    """Something that a node saves: where among all that it saves, what it is called, the C++
    expression, its type, and the condition."""

    place: int
    name: str
    expression: str
    type: str
    condition: str = ""

    @property
    def is_tensor(self) -> bool:
        return self.type in _TENSORS

    @property
    def is_tensor_list(self) -> bool:
        return self.type in _TENSOR_LISTS

    @property
    def is_scalar(self) -> bool:
        """Whether it is a Scalar, an optional one, or several."""
        return re.search(r"at::Scalar\b", self.type) is not None

    @property
    def keep(self) -> Keep:
        """What becomes of a value when it is saved."""
        if self.is_tensor:
            return _keep_tensor
        if self.is_tensor_list:
            return _keep_tensors
        return _keep_type_and_size if self.type.endswith("TypeAndSize") else keep_value


Keep = Callable[[Any, bool], Any]
"""Takes a value, and whether it is a result of the operator."""


def keep_value(value: Any, is_output: bool) -> Any:
    return None if value is UNDEFINED else value


def _keep_tensor(value: Any, is_output: bool) -> Any:
    if _is_number(value):
        return value
    return SavedVariable(None if value is UNDEFINED else value, is_output)


def _keep_tensors(values: Any, is_output: bool) -> Any:
    if values is None or values is UNDEFINED:
        return []
    return [SavedVariable(each, is_output) for each in values]


def _keep_type_and_size(value: Any, is_output: bool) -> Any:
    return TypeAndSize.of(keep_value(value, is_output))


class Saver(NamedTuple):
    """What saves an attribute: the function of its expression, and what becomes of the value."""

    place: int
    name: str
    condition: str
    evaluate: Formula
    keep: Keep


class Variables(Enum):
    """What becomes of what a node has saved."""

    RETAINED = "retained"
    LEAVING = "leaving"
    """With the backward that runs now."""
    RELEASED = "released"


class GeneratedNode(CppFunction):
    """A node whose gradients are formulas over what it has saved."""

    __slots__ = ("_kept", "_leaves", "_variables")

    _leaves: tuple[Any, ...]
    """Leaves that its edges lead to, whose nodes may not keep them, if the short way has made it:
    Note [Kept accumulating nodes]."""
    _kept: list[Any]
    """By place in ``_saved``."""
    _variables: Variables
    _facts: ClassVar[NodeFacts]
    _saved: ClassVar[tuple[Saved, ...]]
    _scalars: ClassVar[frozenset[str]]
    _releases: ClassVar[bool]
    _results: ClassVar[frozenset[str]]
    """What is saved of the operator's results."""
    _places: ClassVar[dict[str, range]]
    """Where inputs stand among the edges; of nodes with a list among them each node says."""

    def __init__(self) -> None:
        begin_generated(self)

    # --- saving -------------------------------------------------------------------------------

    def _save(
        self, attributes: Iterable[Saver], values: Mapping[str, Any], *, is_output: bool = False
    ) -> None:
        """Save what is wanted of the operator's arguments, or of its results."""
        kept = self._kept
        for place, _, condition, evaluate, keep in attributes:
            if not condition or self._is_wanted(condition):
                kept[place] = keep(evaluate(values), is_output)

    def _is_wanted(self, condition: str) -> bool:
        """Whether a gradient for which something is saved can be asked for."""
        names = {"should_compute_output": self._should_compute_output}
        return not condition or bool(compiled(condition)(names))

    def _set_saved(self, name: str, value: Any) -> None:
        """Save what no operator's argument is."""
        saved = next(each for each in self._saved if each.name == name)
        self._kept[saved.place] = saved.keep(value, False)

    def _will_release_variables(self) -> None:
        if self._variables is Variables.RETAINED:
            self._variables = Variables.LEAVING

    def _release_variables(self) -> None:
        if not self._releases:
            return
        for value in self._kept:
            for each in value if isinstance(value, list) else (value,):
                if isinstance(each, SavedVariable):
                    each.reset()
        self._variables = Variables.RELEASED

    # --- backward -----------------------------------------------------------------------------

    def _unpacked(self) -> dict[str, Any]:
        """The values of what was saved, by the names that formulas have for them."""
        names: dict[str, Any] = {}
        is_released = self._variables is Variables.RELEASED
        if is_released and any(saved.is_tensor_list for saved in self._saved):
            raise RuntimeError(ERR_BACKWARD_TWICE)
        for saved in self._saved:
            value = self._kept[saved.place]
            saved_for = self if saved.name in self._results else None
            if isinstance(value, SavedVariable):
                value = value.unpack(saved_for)
            elif saved.is_tensor_list:
                value = [each.unpack(saved_for) for each in value or ()]
            elif saved.is_tensor and is_released and value is not None:
                raise RuntimeError(ERR_BACKWARD_TWICE)
            names[saved.name] = value
        return names

    def _ranges(self) -> dict[str, range]:
        """The places of each input among the edges."""
        return self._places

    def _apply(self, grads: list[Gradient]) -> list[Gradient]:
        names = self._unpacked()
        ranges = self._ranges()
        names |= {"grad": grads[0] if grads else None, "grads": grads}
        names |= dict(zip(self._facts.get("named_gradients", ()), grads, strict=False))
        names["retain_variables"] = self._variables is Variables.RETAINED
        found: list[Gradient] = [None] * sum(map(len, ranges.values()))
        for derivative in self._facts["derivatives"]:
            wanted = [self._wants(ranges[name]) for name in derivative["names"]]
            if True not in wanted:
                continue
            if derivative.get("if_any_grad") and all(grad is None for grad in grads):
                continue
            names["grad_input_mask"] = wanted
            value = _value(derivative["formula"], names, self._scalars)
            parts = [value] if len(wanted) == 1 else list(value)
            for name, part, is_wanted in zip(derivative["names"], parts, wanted, strict=True):
                if is_wanted:
                    _put(found, ranges[name], part)
        return found

    def _wants(self, places: range) -> bool:
        return any(map(self._task_should_compute_output, places))

    # --- what Python sees ---------------------------------------------------------------------

    def _shown(self, saved: Saved) -> Any:
        value = self._kept[saved.place]
        if saved.is_tensor_list:
            self._check_not_released()
            return tuple(each.unpack(self) for each in value or ())
        if isinstance(value, SavedVariable):
            return value.unpack(self if saved.name in self._results else None)
        if saved.is_tensor and value is not None:  # a number, which C++ has wrapped
            self._check_not_released()
            return wrapped_tensor(value, dtype=DTYPES_OF_NUMBERS[type(value)])
        if saved.type in _INTEGERS and value is not None:
            return _unsigned(value)
        return tuple(value) if isinstance(value, list) else value

    def _check_not_released(self) -> None:
        if self._variables is Variables.RELEASED:
            raise RuntimeError(ERR_BACKWARD_TWICE)

    def _raw(self, saved: Saved) -> Any:
        value = self._kept[saved.place]
        if isinstance(value, list):
            return tuple(SavedTensor._of(each, self) for each in value)
        return SavedTensor._of(SavedVariable(None, False) if value is None else value, self)


class NodeOfLists(GeneratedNode):
    """One with lists of tensors among its inputs, each of which has an edge."""

    __slots__ = ("_counts",)
    __module__ = "builtins"

    _counts: Mapping[str, int]
    """How many tensors the inputs are that are lists."""

    def __init__(self) -> None:
        super().__init__()
        self._counts = _NO_COUNTS

    def _ranges(self) -> dict[str, range]:
        found, start = {}, 0
        for shown in self._facts["inputs"]:
            name = shown.removesuffix("[]")
            count = self._counts.get(name, 0) if shown.endswith("[]") else 1
            found[name] = range(start, start + count)
            start += count
        return found


def begin_generated(node: GeneratedNode) -> None:
    """:func:`~mindtorch_v2.autograd.node.begin` for a node of these."""
    begin(node, next_sequence_nr())
    node._kept, node._variables = [None] * len(node._saved), Variables.RETAINED


def _value(formula: str, names: dict[str, Any], scalars: frozenset[str]) -> Any:
    """Of a formula; of one for each of several tensors a list, None where no gradient came."""
    evaluate = compiled(formula, scalars)
    if _OF_EACH not in formula:
        return evaluate(names)
    return [
        None if grad is None else evaluate({**names, "i": place})
        for place, grad in enumerate(names["grads"])
    ]


def _is_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float, complex))


def _unsigned(value: Any) -> Any:
    """As Python's getter shows a C++ integer: ``PyLong_FromUnsignedLong``."""
    if isinstance(value, (list, tuple)):
        return tuple(map(_unsigned, value))
    return value % 2**64 if isinstance(value, int) else value


def _put(found: list[Gradient], places: range, part: Any) -> None:
    """``copy_range``: a list is one by what the formula gives, be its input a list or none."""
    if isinstance(part, (list, tuple)):
        if len(part) != len(places):
            raise RuntimeError("inconsistent range for TensorList output")
        found[places.start : places.stop] = part
    elif places:
        found[places.start] = part


def _property(read: Callable[[GeneratedNode, Saved], Any], saved: Saved) -> property:
    return property(lambda node: read(node, saved))


@cache
def node_class(name: str) -> type[GeneratedNode]:
    """The class of a node that torch generates, by its name."""
    facts = profile.active().derivatives["nodes"][name]
    saved = (*saved_attributes(name, "inputs"), *saved_attributes(name, "outputs"))
    members: dict[str, Any] = {
        "__slots__": (),
        "__module__": "builtins",
        "_facts": facts,
        "_saved": saved,
        "_scalars": frozenset(each.name for each in saved if each.is_scalar),
        "_releases": any(each.is_tensor or each.is_tensor_list for each in saved),
        "_results": frozenset(entry[0] for entry in facts["saved_outputs"]),
    }
    has_lists = any(shown.endswith("[]") for shown in facts["inputs"])
    base = NodeOfLists if has_lists else GeneratedNode
    if not has_lists:
        inputs = enumerate(facts["inputs"])
        members["_places"] = {shown: range(place, place + 1) for place, shown in inputs}
    if name in profile.active().derivatives["without_class"]:
        members["name"] = lambda node: name
        return type("CppFunction", (base,), members)
    for each in saved:
        if each.type in _HIDDEN:
            continue
        members[f"_saved_{each.name}"] = _property(GeneratedNode._shown, each)
        if each.is_tensor or each.is_tensor_list:
            members[f"_raw_saved_{each.name}"] = _property(GeneratedNode._raw, each)
    return type(name, (base,), members)


@cache
def saved_attributes(name: str, which: str) -> tuple[Saved, ...]:
    """What a node saves of its ``inputs`` or ``outputs``, which come behind these."""
    facts: Any = profile.active().derivatives["nodes"][name]
    first = len(facts["saved_inputs"]) if which == "outputs" else 0
    entries = enumerate(facts[f"saved_{which}"], first)
    return tuple(Saved(place, *entry) for place, entry in entries)


@cache
def savers(name: str, which: str) -> tuple[Saver, ...]:
    """What saves that."""
    return tuple(
        Saver(saved.place, saved.name, saved.condition, compiled(saved.expression), saved.keep)
        for saved in saved_attributes(name, which)
    )
