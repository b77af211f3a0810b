"""Extracts the parts of messages that differ from build to build, by provoking each message.

torch's internal assertions name the C++ file and line they stand in, and the C++ library has its
own words.  What else a message says is a rule of the subject.
"""

import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy
import torch
from torch import _C as C

from conformance.extract import ExtractionError

TRIGGERED = re.compile(r"\(Triggered internally at (\S+:\d+)\.\)$")
LOCATION = re.compile(r'INTERNAL ASSERT FAILED at ("[^"]+":\d+)')


def extract() -> dict[str, Any]:
    """The section ``messages.json``."""
    return {
        "asserts": {
            name: location for name, provoke in ASSERTS.items() if (location := assert_at(provoke))
        },
        "conditions": {name: condition_of(ASSERTS[name]) for name in REWORDED},
        "override": caught_by(override_kernel)[0].partition("\n")[0],
        "warnings": {
            name: location
            for name, provoke in WARNINGS.items()
            if (location := warned_at(provoke, required=name not in NOT_EVERYWHERE))
        },
        "null_string": refusal(lambda: C._parse_dispatch_key(None)),
        "function_owner": type_name(C.parse_schema.__self__),
    }


def type_name(value: object) -> str:
    """The name of an object's type as its default repr has it."""
    cls = type(value)
    return cls.__name__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__name__}"


def refusal(provoke: Callable[[], object]) -> str:
    """The message with which torch refuses; a call that it takes is an error here."""
    try:
        provoke()
    except RuntimeError as error:
        return str(error)
    raise ExtractionError("a call that torch used to refuse was taken; look at messages.py")


def assert_at(provoke: Callable[[], object]) -> str | None:
    """``"file":line`` of the assertion, or None where this release lacks the way to it."""
    try:
        message = refusal(provoke)
    except AttributeError:
        return None
    found = LOCATION.search(message)
    if found is None:
        raise ExtractionError(f"no internal assertion in {message!r}")
    return found[1]


def caught_by(provoke: Callable[[], object]) -> list[str]:
    """The warnings that a call gives, those too that torch gives but once."""
    torch.set_warn_always(True)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            provoke()
    finally:
        torch.set_warn_always(False)
    return [str(each.message) for each in caught]


def warned_at(provoke: Callable[[], object], *, required: bool) -> str | None:
    """``file:line`` in C++ of the warning that a call gives."""
    for message in caught_by(provoke):
        found = TRIGGERED.search(message)
        if found is not None:
            return found[1]
    if required:
        raise ExtractionError("torch used to warn of a call and did not; look at messages.py")
    return None


def condition_of(provoke: Callable[[], object]) -> str:
    """The condition that an assertion shows, where releases write it differently."""
    return refusal(provoke).partition(" INTERNAL ASSERT FAILED")[0]


def schema_info() -> Any:
    return C._SchemaInfo(C.parse_schema("f(Tensor x) -> ()"))


def argument(index: int) -> Any:
    return C._SchemaArgument(C._SchemaArgType.input, index)


def no_list(method: Callable[[object], object]) -> object:
    """A call with an integer in an array for a list; AttributeError where torch does not look."""
    looks = torch.ones(2, 3).sum(torch.tensor(1)).dim() == 1
    if not looks:
        raise AttributeError("this release reads the length of what is no list from its memory")
    return method(numpy.array(0))


def stale_table() -> None:
    """Have torch check a table that it has not brought up to date."""
    library = C._dispatch_library("FRAGMENT", "nosuch", "")
    library.def_name_t_t("stale").impl_t_t("stale", "QuantizedCPU")
    try:
        C._dispatch_check_invariants("nosuch::stale")
    finally:
        library.reset()


def override_kernel() -> None:
    """Register two kernels for one key."""
    library = C._dispatch_library("FRAGMENT", "nosuch", "")
    library.define("override(Tensor x) -> Tensor")
    for _ in range(2):
        library.impl("override", C.DispatchKey.CPU, lambda x: x)
    library.reset()


#: Function in which the assertion stands to a call that trips it.
ASSERTS: dict[str, Callable[[], object]] = {
    "checkInvariants": lambda: stale_table(),
    "Library": lambda: C._dispatch_library("FRAGMENT", "nosuch", "CPU"),
    "Library.fallback": lambda: C._dispatch_library("IMPL", "_", "").fallback_fallthrough(),
    "intlist": lambda: no_list(torch.ones(1).sum),
    "symintlist": lambda: no_list(torch.ones(1).roll),
    "findErrorInKwargs": lambda: torch.ops.aten.std.dim(None, None, True, unbiased=True),
    "iterator": lambda: repr(C.DispatchKeySet.from_raw_repr(1 << 63)),
    "runtimeDispatchKeySetHas": lambda: C._dispatch_is_included_in_alias("CPU", "Undefined"),
    "UnionType": lambda: C.parse_schema("f(None? x) -> ()"),
    "TensorImpl._set_conj": lambda: torch.ops.aten._conj(torch.ones(1)),
    "checkSchema": lambda: C.parse_schema("f(int x=1, int y) -> ()"),
    "toBool": lambda: C.parse_schema("f(bool[] x=[1]) -> ()"),
    "toComplexDouble": lambda: C.parse_schema("f(complex[] x=[True]) -> ()"),
    "toDouble": lambda: C.parse_schema("f(float[] x=[True]) -> ()"),
    "toInt": lambda: C.parse_schema("f(int[] x=[None]) -> ()"),
    "UnionType.create": lambda: C.UnionType([]),
    "Type.expect": lambda: C.IntType.get().sizes(),
    "Type.expectRef": lambda: C.IntType.get().dim(),
    "type_caster<SymInt>": lambda: torch.ops.aten.view.default(
        torch.empty(1, device="meta"), [C._get_nested_int(1, 1), torch.tensor(True)]
    ),
    "FunctionSchema.may_alias(lhs)": lambda: schema_info().may_alias(argument(1), argument(0)),
    "FunctionSchema.may_alias(rhs)": lambda: schema_info().may_alias(argument(0), argument(1)),
    "SchemaInfo.is_mutable(argument)": lambda: schema_info().is_mutable(argument(1)),
    "SchemaInfo.is_mutable(name)": lambda: schema_info().is_mutable("y"),
    "SchemaInfo.addArgumentValue": lambda: schema_info().add_argument_value("y", 1),
    "SchemaInfo.add_argument_values": lambda: schema_info().add_argument_values({1: 1}),
}
#: Of these, the assertions whose condition differs between releases.
REWORDED = ("SchemaInfo.addArgumentValue",)


class ChangesAnother(torch.autograd.Function):
    """Says that it has changed a tensor that it was not given."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        made = x.clone()
        ctx.mark_dirty(made)
        return made


#: C++ function to a call that it warns of.
WARNINGS: dict[str, Callable[[], object]] = {
    "registerKernel": lambda: override_kernel(),
    "check_deprecated": lambda: torch.add(torch.ones(1), 1, torch.ones(1)),
    "checkSparseTensorInvariants": lambda: torch.sparse_coo_tensor((1,)),
    "tensor_frombuffer": lambda: torch.frombuffer(b"1", dtype=torch.int8),
    "treatSequenceAsTuple": lambda: torch.ones(1)[[slice(None)]],
    "treatSequenceAsTuple(constant)": lambda: torch.ones(1)[[None]],
    "requires_grad_to_scalar": lambda: float(torch.ones((), requires_grad=True)),
    "Engine.execute": lambda: (torch.ones(1, requires_grad=True) * 2).backward(create_graph=True),
    "Tensor.grad": lambda: (torch.ones(1, requires_grad=True) * 2).grad,
    "mark_dirty": lambda: ChangesAnother.apply(torch.ones(1, requires_grad=True)),
}
#: Of these, what releases warn of or not.
NOT_EVERYWHERE = (
    "checkSparseTensorInvariants",
    "treatSequenceAsTuple",
    "treatSequenceAsTuple(constant)",
    "requires_grad_to_scalar",
)
