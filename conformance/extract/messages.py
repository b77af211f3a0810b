"""Extracts the parts of messages that differ from build to build, by provoking each message.

torch's internal assertions name the C++ file and line they stand in, and the C++ library has its
own words.  What else a message says is a rule of the subject.
"""

import re
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import numpy
import torch
from torch import _C as C
from torch._python_dispatcher import PythonDispatcher
from torch.utils._python_dispatch import BaseTorchDispatchMode

from conformance.extract import ExtractionError

TRIGGERED = re.compile(r"\(Triggered internally at (\S+:\d+)\.\)$")
LOCATION = re.compile(r'INTERNAL ASSERT FAILED at ("[^"]+":\d+)')


def extract() -> dict[str, Any]:
    """The section ``messages.json``."""
    return {
        "asserts": {
            name: location for name, provoke in ASSERTS.items() if (location := assert_at(provoke))
        },
        "ambiguous_autogradother": ambiguity(),
        "conditions": {name: condition_of(ASSERTS[name]) for name in REWORDED},
        "override": caught_by(override_kernel)[0].partition("\n")[0],
        "overridden": refusal(lambda: PythonDispatcher().register(["CPU"] * 2)).partition(" ")[0],
        "warnings": {
            name: location
            for name, provoke in WARNINGS.items()
            if (location := warned_at(provoke, required=name not in NOT_EVERYWHERE))
        }
        | of_anomalies(),
        "operators_hand_warnings_on": operators_hand_warnings_on(),
        "none_refusals": {name: refusal(partial(getattr(C, name), None)) for name in OF_A_MODE},
        "warning_texts": {
            name: texts[0].partition(" (Triggered")[0]
            for name, provoke in {**PYTHON_WARNINGS, **WARNINGS}.items()
            if name in REWORDED_WARNINGS and (texts := caught_by(provoke))
        },
        "not_differentiable": not_differentiable(),
        "null_string": refusal(lambda: C._parse_dispatch_key(None)),
        "function_owner": type_name(C.parse_schema.__self__),
        **unknown_buffer_format(),
    }


def unknown_buffer_format() -> dict[str, str]:
    """What ``asarray`` says of a buffer whose format it reads and does not know."""
    pointers = memoryview(bytearray(8)).cast("P")
    try:
        torch.asarray(pointers)
    except ValueError as error:
        return {"unknown_buffer_format": str(error).replace("'P'", "'{}'")}
    return {}


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
    """``"file":line`` of the assertion; None where this release lacks the way to it, or takes the
    call."""
    try:
        provoke()
    except AttributeError:
        return None
    except RuntimeError as error:
        message = str(error)
    else:
        return None
    found = LOCATION.search(message)
    if found is None:
        raise ExtractionError(f"no internal assertion in {message!r}")
    return found[1]


def hooked_without_inputs() -> None:
    """The gradients of a module none of whose inputs requires one."""
    module = torch.nn.Linear(1, 1)
    module.register_full_backward_hook(lambda *gradients: None)
    module(torch.ones(1)).backward()


def caught_by(provoke: Callable[[], object]) -> list[str]:
    """The warnings that a call gives, those too that torch gives but once."""
    torch.set_warn_always(True)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with suppress(TypeError):
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


class Failing(torch.autograd.Function):
    """Cannot be differentiated."""

    @staticmethod
    def forward(ctx: Any, tensor: torch.Tensor) -> torch.Tensor:
        return tensor.clone()

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
        raise TypeError


class FailingTwice(Failing):
    """Cannot be differentiated twice."""

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
        made: torch.Tensor = Failing.apply(grad)
        return made


def of_anomalies() -> dict[str, str]:
    """Where anomaly mode warns of a node, of the one that made it, and of one it knows nothing
    of."""

    def provoke() -> None:
        with torch.autograd.set_detect_anomaly(True):
            leaf, start = (torch.ones(1, requires_grad=True) for _ in range(2))
            made = FailingTwice.apply(leaf)
            (grad,) = torch.autograd.grad(made, leaf, start, create_graph=True)
            grad.backward()

    def provoke_without_forward() -> None:
        made = Failing.apply(torch.ones(1, requires_grad=True))
        with torch.autograd.set_detect_anomaly(True):
            made.backward()

    node, parent = caught_by(provoke)
    (unknown,) = caught_by(provoke_without_forward)
    found = {
        "print_stack": node,
        "print_stack(parent)": parent,
        "print_stack(no stack)": unknown,
    }
    return {name: TRIGGERED.findall(text)[-1] for name, text in found.items()}


def put_at_its_place() -> None:
    """Call an operator that is not deterministic."""
    C._set_deterministic_algorithms(True, warn_only=True)
    try:
        torch.ones(1).put_(torch.tensor([0]), torch.ones(1))
    finally:
        C._set_deterministic_algorithms(False)


def not_differentiable() -> str:
    """What torch says of a result without gradient that has history, ``{}`` for its dtype."""
    tensor = torch.ones(2).int()
    tensor.fill_(torch.ones((), requires_grad=True))
    return re.sub(r"\bInt\b", "{}", refusal(lambda: tensor.view(-1)))


def accumulated(*, create_graph: bool) -> None:
    """Add gradients that lie in memory in another order than their tensor."""
    tensor = torch.ones(2, 2, requires_grad=True)
    tensor.grad = torch.ones(2, 2).t()
    ((accumulate, _),) = tensor.sum().grad_fn.next_functions
    with torch.set_grad_enabled(create_graph):
        accumulate(torch.ones(2, 2).t())


def operators_hand_warnings_on() -> bool:
    """Whether Python learns of what C++ warns of in a call through ``torch.ops``."""
    return bool(caught_by(lambda: torch.ops.aten.neg.out(torch.ones(2), out=torch.ones(3))))


def through_custom_operator() -> None:
    """Backward through an operator that has no kernel at Autograd."""
    library = torch.library.Library("extracted", "FRAGMENT")
    library.define("copied(Tensor x) -> Tensor")
    library.impl("copied", lambda x: x.detach().clone(), "CPU")
    try:
        torch.ops.extracted.copied(torch.ones((), requires_grad=True)).backward()
    finally:
        library._destroy()


def condition_of(provoke: Callable[[], object]) -> str:
    """The condition that an assertion shows, where releases write it differently."""
    return refusal(provoke).partition(" INTERNAL ASSERT FAILED")[0]


def schema_info() -> Any:
    return C._SchemaInfo(C.parse_schema("f(Tensor x) -> ()"))


def argument(index: int) -> Any:
    return C._SchemaArgument(C._SchemaArgType.input, index)


def without_schema(ask: Callable[[Any], object]) -> object:
    """Ask the handle of an operator that is defined no more, and lives on by its kernel."""
    definition = C._dispatch_library("FRAGMENT", "nosuch", "").def_("undefined(Tensor x) -> Tensor")
    kernels = C._dispatch_library("IMPL", "nosuch", "").impl_t_t("undefined", "CPU")
    handle = C._dispatch_find_schema_or_throw("nosuch::undefined", "")
    definition.reset()
    try:
        return ask(handle)
    finally:
        kernels.reset()


def call_unreported() -> object:
    """Call an operator without kernel whose own report says nothing."""
    library = C._dispatch_library("FRAGMENT", "nosuch", "").def_("unreported(Tensor x) -> Tensor")
    handle = C._dispatch_find_schema_or_throw("nosuch::unreported", "")
    C._dispatch_set_report_error_callback(handle, lambda key: None)
    try:
        return C._dispatch_call_boxed(handle, torch.ones(1))
    finally:
        library.reset()


def no_list(method: Callable[[object], object]) -> object:
    """A call with an integer in an array for a list; AttributeError where torch does not look."""
    looks = torch.ones(2, 3).sum(torch.tensor(1)).dim() == 1
    if not looks:
        raise AttributeError("this release reads the length of what is no list from its memory")
    return method(numpy.array(0))


class Overriding:
    """An object that overrides torch's functions."""

    @classmethod
    def __torch_function__(cls, *_: object) -> str:
        return "overridden"


def nobody_asked() -> object:
    """Override indexing by an object too deep in the index to be asked."""
    try:
        assert torch.ones(1)[[Overriding()]] == "overridden"
    except RuntimeError:
        raise AttributeError("this release looks for no such object in lists") from None
    return torch.ones(1)[[0, [Overriding()]]]


def stale_table() -> None:
    """Have torch check a table that it has not brought up to date."""
    library = C._dispatch_library("FRAGMENT", "nosuch", "")
    library.def_name_t_t("stale").impl_t_t("stale", "QuantizedCPU")
    try:
        C._dispatch_check_invariants("nosuch::stale")
    finally:
        library.reset()


def beyond_protocol() -> None:
    """Have torch ask a mode that has no ``__torch_function__``."""
    C._push_on_torch_function_stack(0)
    try:
        torch.ones(1)
    finally:
        C._pop_torch_function_stack()


def without_snapshot() -> None:
    """Come to the key Python without PythonTLSSnapshot; AttributeError where that is taken."""
    with BaseTorchDispatchMode():
        C._dispatch_tls_set_dispatch_key_included(C.DispatchKey.PythonTLSSnapshot, False)
        torch.ones(1)
    raise AttributeError("this release does not ask for a snapshot")


def view_without_history() -> object:
    """Have torch make the history of a view anew, of a base that has none."""
    base = torch.ones(1, dtype=torch.complex64)
    view = torch.view_as_real(base.view(-1).requires_grad_())
    base.add_(1)
    return view.grad_fn


def lose_hook() -> None:
    """Change a tensor in place whose hook is not where torch looks for it."""
    kept = torch.ones(2, requires_grad=True) * 2
    kept.retain_grad()
    kept.unsqueeze_(0)
    kept.add_(1)


def override_kernel() -> None:
    """Register two kernels for one key."""
    library = C._dispatch_library("FRAGMENT", "nosuch", "")
    library.define("override(Tensor x) -> Tensor")
    for _ in range(2):
        library.impl("override", C.DispatchKey.CPU, lambda x: x)
    library.reset()


class Changes(torch.autograd.Function):
    """Changes its input, and says so."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.mark_dirty(x.add_(1))
        return x


def change_one_of_several() -> None:
    """Change one of several views in a function; AttributeError where that is no assertion."""
    view = torch.ones(2, requires_grad=True).clone().split(1)[0]
    try:
        Changes.apply(view)
    except RuntimeError as error:
        if "INTERNAL ASSERT" not in str(error):
            raise AttributeError("rebase_history") from error
        raise


def call_under(key: str) -> None:
    """Call an operator that has a kernel for the CPU alone, with a key that no tensor has."""
    library = C._dispatch_library("FRAGMENT", "nosuch", "")
    library.define("called(Tensor x) -> Tensor")
    library.impl("called", C.DispatchKey.CPU, lambda x: x)
    call = C._jit_get_operation("nosuch::called")[0]
    tensor = torch.ones(1)
    try:
        with C._IncludeDispatchKeyGuard(getattr(C.DispatchKey, key)):
            call(tensor)
    finally:
        library.reset()


def run_fallthrough() -> None:
    """Dispatch again to a key that every operator passes over."""
    keyset = C.DispatchKeySet(C.DispatchKey.BackendSelect)
    torch.ops.aten.relu.default.redispatch(keyset, torch.ones(1))


def run_ambiguous(name: str) -> None:
    """Call a new operator that has a composite kernel, and one for a backend without autograd."""
    library = C._dispatch_library("FRAGMENT", "nosuch", "")
    library.define(f"{name}(Tensor x) -> Tensor")
    for key in ("CompositeImplicitAutograd", "MkldnnCPU"):
        library.impl(name, key, lambda x: x)
    keyset = C.DispatchKeySet(C.DispatchKey.AutogradOther)
    handle = C._dispatch_find_schema_or_throw(f"nosuch::{name}", "")
    try:
        handle.redispatch_boxed(keyset, torch.ones(1))
    finally:
        library.reset()


def ambiguity() -> str:
    """What torch says of it, between the operator's name and its registrations."""
    said = refusal(lambda: run_ambiguous("message"))
    return said.partition("nosuch::message ")[2].partition("\nCanonical state")[0]


def return_another() -> None:
    """Write to a conjugated tensor and return none of the arguments."""
    library = C._dispatch_library("FRAGMENT", "nosuch", "")
    library.define("another(Tensor(a!) x) -> Tensor(a!)")
    library.impl("another", C.DispatchKey.CPU, lambda x: torch.ones(1))
    tensor = torch.ones(1, dtype=torch.complex64).conj()
    try:
        C._jit_get_operation("nosuch::another")[0](tensor)
    finally:
        library.reset()


#: Function in which the assertion stands to a call that trips it.
ASSERTS: dict[str, Callable[[], object]] = {
    "_set_autograd_fallback_mode": lambda: C._set_autograd_fallback_mode("nosuch"),
    "cpu_kernel": lambda: torch.ldexp(
        torch.ones(1), torch.ones(1, dtype=torch.int32), out=torch.ones(1, dtype=torch.float64)
    ),
    "batch_norm_cpu_transform_input_template": lambda: torch.native_batch_norm(
        *(torch.ones(2, 2).t(), torch.ones(2), None, *[torch.ones(2).double()] * 2, False, 0.1, 0.1)
    ),
    "TensorIteratorBase::compute_types": lambda: (
        torch.ops.aten.floor_divide_.Tensor(None, torch.ones(1))
    ),
    "checkInvariants": lambda: stale_table(),
    "OperatorEntry.schema": lambda: without_schema(lambda handle: handle.schema()),
    "OperatorEntry.debug": lambda: without_schema(lambda handle: handle.debug()),
    "OperatorEntry.reportError": lambda: call_unreported(),
    "Library": lambda: C._dispatch_library("FRAGMENT", "nosuch", "CPU"),
    "Library.fallback": lambda: C._dispatch_library("IMPL", "_", "").fallback_fallthrough(),
    "fallthrough_kernel": lambda: run_fallthrough(),
    "ambiguous_autogradother_kernel": lambda: run_ambiguous("location"),
    "pythonDispatcherFallback": lambda: call_under("PythonDispatcher"),
    "dynamicLayerFrontFallback": lambda: call_under("FuncTorchDynamicLayerFrontMode"),
    "dead_tensor_wrapper_fallback": lambda: call_under("FuncTorchGradWrapper"),
    "isBatchedAtLevel": lambda: call_under("FuncTorchBatched"),
    "MathOpFallback": lambda: return_another(),
    "rebase_history": lambda: change_one_of_several(),
    "update_tensor_hooks_on_new_gradfn": lambda: view_without_history(),
    "update_tensor_hooks_on_new_gradfn of a gradient that is kept": lambda: lose_hook(),
    "dispatch_on_mode": lambda: beyond_protocol(),
    "pythonFallback": lambda: without_snapshot(),
    "intlist": lambda: no_list(torch.ones(1).sum),
    "symintlist": lambda: no_list(torch.ones(1).roll),
    "dispatch_on_subclass": lambda: nobody_asked(),
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
    "is_constant_index": lambda: torch.ops.aten.index(torch.ones(1), [None]),
    "mse_loss": lambda: torch.ops.aten.mse_loss(torch.ones(1), torch.ones(1), 3),
    "copy_arg": lambda: torch.ops.aten._foreach_abs.out([torch.ones(1)], out=[]),
    "batch_norm_cpu_transform_input": lambda: torch.native_batch_norm(
        torch.ones(1, 1, 4)[..., ::2], torch.ones(1, 1), None, None, None, True, 0.0, 1.0
    ),
    "smooth_l1_loss": lambda: torch.ops.aten.smooth_l1_loss(torch.ones(1), torch.ones(1), 3),
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

#: Indices and values of a sparse tensor.
COO = (torch.zeros(1, 1, dtype=torch.int64), torch.ones(1))

#: Functions that refuse None in words of the compiler.
OF_A_MODE = ("_set_dispatch_mode", "_get_dispatch_mode", "_unset_dispatch_mode")


class ChangesAnother(torch.autograd.Function):
    """Says that it has changed a tensor that it was not given."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        made = x.clone()
        ctx.mark_dirty(made)
        return made


class Instantiated(torch.autograd.Function):
    """Is made an instance of, against all advice."""


def masked_by_numbers() -> None:
    """A mask of numbers, which is refused after the warning."""
    with suppress(RuntimeError):
        torch.ones(1).masked_scatter(torch.ones(1, dtype=torch.uint8), torch.ones(1))


def pinned_for_the_cpu() -> None:
    """Which no release has an allocator for."""
    with suppress(RuntimeError):
        torch.ones(1).pin_memory("cpu")


def read_only() -> Any:
    """An array that nobody may write to."""
    made = numpy.ones(1)
    made.setflags(write=False)
    return made


#: C++ function to a call that it warns of.
WARNINGS: dict[str, Callable[[], object]] = {
    "registerKernel": lambda: override_kernel(),
    "check_deprecated": lambda: torch.add(torch.ones(1), 1, torch.ones(1)),
    "checkSparseTensorInvariants": lambda: torch.sparse_coo_tensor((1,)),
    "checkSparseTensorInvariants(chosen)": lambda: torch.sparse_coo_tensor(
        (1,), check_invariants=True
    ),
    "tensor_frombuffer": lambda: torch.frombuffer(b"1", dtype=torch.int8),
    "treatSequenceAsTuple": lambda: torch.ones(1)[[slice(None)]],
    "treatSequenceAsTuple(constant)": lambda: torch.ones(1)[[None]],
    "requires_grad_to_scalar": lambda: float(torch.ones((), requires_grad=True)),
    "dispatch_on_subclass": lambda: torch.add(torch.FloatTensor, 1),
    "legacy_sparse_tensor_generic_ctor_new(device)": lambda: torch.sparse.FloatTensor(),
    "legacy_sparse_tensor_generic_ctor_new(size)": lambda: torch.sparse.FloatTensor(1),
    "legacy_sparse_tensor_generic_ctor_new(indices)": lambda: torch.sparse.FloatTensor(*COO),
    "legacy_sparse_tensor_generic_ctor_new(indices_size)": lambda: torch.sparse.FloatTensor(
        *COO, [1]
    ),
    "resize_output_check": lambda: torch.neg(torch.ones(2), out=torch.ones(3)),
    "warn_invalid_degrees_of_freedom": lambda: torch.ones(1).var(),
    "cov": lambda: torch.cov(torch.ones(2, 1)),
    "ger_out": lambda: torch.ger(torch.ones(1), torch.ones(1), out=torch.ones(1, 1)),
    "check_from_to_in_range": lambda: torch.ones(1).random_(0, 2**30),
    "copy_impl": lambda: torch.ones(1).logical_and_(torch.ones(1, dtype=torch.complex64)),
    "convolution_same": lambda: torch.conv1d(
        torch.ones(1, 1, 2), torch.ones(1, 1, 2), padding="same"
    ),
    "where": lambda: torch.where(torch.ones(1, dtype=torch.uint8), torch.ones(1), torch.ones(1)),
    "masked_fill_": lambda: torch.ones(1).expand(2).masked_fill_(torch.tensor([True, False]), 1),
    "index_fill_": lambda: torch.ones(1).expand(2).index_fill_(0, torch.tensor([0]), 1),
    "index_reduce": lambda: torch.ones(1).index_reduce(0, torch.tensor([0]), torch.ones(1), "prod"),
    "index_put_": lambda: torch.ones(1).expand(2).index_put_((torch.tensor([0]),), torch.ones(1)),
    "warnAutogradNotImplemented": lambda: through_custom_operator(),
    "masked_scatter_": lambda: masked_by_numbers(),
    "scatter_meta": lambda: torch.ones(1).scatter(
        0, torch.zeros(1).long(), torch.ones(1), reduce="add"
    ),
    "expandTensors": lambda: torch.ones(1)[torch.ones(1, dtype=torch.uint8)],
    "searchsorted(input)": lambda: torch.searchsorted(torch.ones(2), torch.ones(2, 2).t()),
    "searchsorted(boundaries)": lambda: torch.searchsorted(torch.ones(2, 2).t(), torch.ones(2, 1)),
    "searchsorted(sorter)": lambda: torch.searchsorted(
        torch.ones(2, 2), torch.ones(2, 1), sorter=torch.tensor([[0, 1], [1, 0]]).t()
    ),
    "mse_kernel": lambda: torch.nn.functional.mse_loss(torch.ones(1).half(), torch.ones(1).half()),
    "arange_out": lambda: torch.arange(2, out=torch.ones(1)),
    "numpy_T": lambda: torch.ones(()).T,
    "numpy_T(dim)": lambda: torch.ones(1).T,
    "matrix_H": lambda: torch.ones(()).H,
    "mT": lambda: torch.ones(()).mT,
    "mH": lambda: torch.ones(()).mH,
    "adjoint": lambda: torch.ones(()).adjoint(),
    "meshgrid": lambda: torch._C._VariableFunctions.meshgrid([torch.ones(1)]),
    "set_named_tensor_meta": lambda: torch.empty(1, names=[None]),
    "raise_warning_for_complex_half": lambda: torch.empty(1, dtype=torch.complex32),
    "raise_warning_for_bcomplex32": lambda: (
        torch.empty(1, dtype=getattr(torch, "bcomplex32", torch.float32))
    ),
    "cross": lambda: torch.cross(torch.ones(3), torch.ones(3)),
    "AccumulateGrad": lambda: accumulated(create_graph=False),
    "AccumulateGrad(create_graph)": lambda: accumulated(create_graph=True),
    "Engine.execute": lambda: (torch.ones(1, requires_grad=True) * 2).backward(create_graph=True),
    "Tensor.grad": lambda: (torch.ones(1, requires_grad=True) * 2).grad,
    "mark_dirty": lambda: ChangesAnother.apply(torch.ones(1, requires_grad=True)),
    "asarray": lambda: torch.asarray(torch.ones(1, requires_grad=True)),
    "py_set_default_tensor_type": lambda: torch.set_default_tensor_type(torch.FloatTensor),
    "alertNotDeterministic": lambda: put_at_its_place(),
    "is_pinned": lambda: torch.ones(1).is_pinned("cpu"),
    "pin_memory": lambda: pinned_for_the_cpu(),
    "recursive_store": lambda: torch.tensor([numpy.ones(1)]),
    "warn_numpy_not_writeable": lambda: torch.from_numpy(read_only()),
    "SparseCsrTensorImpl": lambda: torch.ones(1, 1).to_sparse_csr(),
    "NestedTensorImpl": lambda: torch._nested_tensor_from_tensor_list([torch.ones(1)]),
    "parse_type": lambda: torch.device("mkldnn"),
    "chain_matmul": lambda: C._VariableFunctions.chain_matmul([torch.ones(1, 1)]),
    "chain_matmul_out": lambda: C._VariableFunctions.chain_matmul(
        [torch.ones(1, 1)], out=torch.ones(1, 1)
    ),
    "_aminmax": lambda: torch._aminmax(torch.ones(1), 0),
    "_aminmax_all": lambda: torch._aminmax(torch.ones(1)),
    "warn_backwards": lambda: torch.ops.aten._test_warn_in_autograd(
        torch.ones(1, requires_grad=True)
    ).backward(),
}
#: The same of warnings that Python gives.
PYTHON_WARNINGS: dict[str, Callable[[], object]] = {
    "BackwardHook": lambda: hooked_without_inputs(),
    "Function": lambda: Instantiated(),
    "get_enum": lambda: torch.nn._reduction.get_enum("elementwise_mean"),
}
#: Warnings whose words differ between releases.
REWORDED_WARNINGS = (
    *("BackwardHook", "Function", "get_enum", "Tensor.grad", "mark_dirty"),
    *("warn_numpy_not_writeable", "SparseCsrTensorImpl", "NestedTensorImpl", "parse_type"),
)
#: Of these, what releases warn of or not.
NOT_EVERYWHERE = (
    "set_named_tensor_meta",
    "checkSparseTensorInvariants",
    "checkSparseTensorInvariants(chosen)",
    "treatSequenceAsTuple",
    "treatSequenceAsTuple(constant)",
    "requires_grad_to_scalar",
    "mse_kernel",
    "asarray",
    "raise_warning_for_bcomplex32",
    "is_pinned",
    "pin_memory",
    "parse_type",
)
