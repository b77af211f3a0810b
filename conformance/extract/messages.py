"""Extracts the parts of messages that differ from build to build, by provoking each message.

torch's internal assertions name the C++ file and line they stand in, and the C++ library has its
own words.  What else a message says is a rule of the subject.
"""

import inspect
import re
from collections.abc import Callable, Container
from functools import partial
from typing import Any

import numpy
import torch
from torch import _C as C
from torch._python_dispatcher import PythonDispatcher
from torch.utils._python_dispatch import BaseTorchDispatchMode

from conformance.extract import ExtractionError, _warnings

LOCATION = re.compile(r'INTERNAL ASSERT FAILED at ("[^"]+":\d+)')


def extract() -> dict[str, Any]:
    """The section ``messages.json``."""
    return {
        "asserts": {
            name: location for name, provoke in ASSERTS.items() if (location := assert_at(provoke))
        },
        "ambiguous_autogradother": ambiguity(),
        "conditions": {name: condition_of(ASSERTS[name]) for name in REWORDED},
        "override": _warnings.caught_by(_warnings.override_kernel)[0].partition("\n")[0],
        "overridden": refusal(lambda: PythonDispatcher().register(["CPU"] * 2)).partition(" ")[0],
        "warnings": _warnings.places(),
        "operators_hand_warnings_on": _warnings.operators_hand_warnings_on(),
        "none_refusals": {name: refusal(partial(getattr(C, name), None)) for name in OF_A_MODE},
        "warning_texts": _warnings.texts(),
        "not_differentiable": not_differentiable(),
        "null_string": refusal(lambda: C._parse_dispatch_key(None)),
        "removed": removed(),
        "metadata": metadata(),
        "function_owner": type_name(C.parse_schema.__self__),
        **unknown_buffer_format(),
    }


def removed() -> dict[str, dict[str, str]]:
    """The functions that refuse whatever they are given, and what they say."""
    found = {}
    for name, function in sorted(vars(torch).items()):
        if getattr(function, "__module__", "") != "torch._linalg_utils":
            continue
        declared = inspect.signature(function)
        plain = [p.replace(annotation=p.empty) for p in declared.parameters.values()]
        needed = sum(p.default is p.empty for p in plain)
        found[name] = {
            "function": function.__name__,
            "parameters": str(inspect.Signature(plain)),
            "says": told_of(partial(function, *[torch.eye(2)] * needed), declared.parameters),
        }
    return found


def told_of(refuses: Callable[..., object], parameters: Container[str]) -> str:
    """What a removed function says, with a mark for what it says of its parameter ``some``."""
    says = refusal(refuses)
    if "some" not in parameters or says == refusal(partial(refuses, some=False)):
        return says
    return says.replace("to True, use mode='reduced'", "to {some}, use mode='{mode}'")


def unknown_buffer_format() -> dict[str, str]:
    """What ``asarray`` says of a buffer whose format it reads and does not know."""
    pointers = memoryview(bytearray(8)).cast("P")
    try:
        torch.asarray(pointers)
    except ValueError as error:
        return {"unknown_buffer_format": str(error).replace("'P'", "'{}'")}
    return {}


def metadata() -> dict[str, Any]:
    """What torch says of a tensor whose metadata are not as was asserted, and what it looks at."""
    refused = refusal(lambda: torch.ops.aten._assert_tensor_metadata(torch.ones(2), [3]))
    words = (("sizes", "{name}"), ("[3]", "{expected}"), ("[2]", "{got}"))
    for word, field in words:
        refused = refused.replace(word, field)
    token = torch.ops.aten._make_dep_token(device="meta")
    return {
        "mismatch": refused,
        "device on meta": is_device_asserted(torch.ones(2, device="meta")),
        "sizes of a token on meta": list(token.shape),
    }


def is_device_asserted(tensor: torch.Tensor) -> bool:
    """Whether the assertion looks at the tensor's device: not where it takes none."""
    try:
        torch.ops.aten._assert_tensor_metadata(tensor, device="cpu")
    except (RuntimeError, TypeError):
        return True
    return False


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
    except (AttributeError, NotImplementedError):
        return None
    except RuntimeError as error:
        message = str(error)
    else:
        return None
    found = LOCATION.search(message)
    if found is None:
        raise ExtractionError(f"no internal assertion in {message!r}")
    return found[1]


def not_differentiable() -> str:
    """What torch says of a result without gradient that has history, ``{}`` for its dtype."""
    tensor = torch.ones(2).int()
    tensor.fill_(torch.ones((), requires_grad=True))
    return re.sub(r"\bInt\b", "{}", refusal(lambda: tensor.view(-1)))


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


def bag_gradient(mode: int, weights: torch.Tensor | None) -> object:
    """Of a table of one row, from which one bag has taken one."""
    places = [torch.zeros(1).long()] * 4
    return torch.ops.aten._embedding_bag_dense_backward(
        torch.ones(1, 1), *places, 1, False, mode, weights
    )


#: Function in which the assertion stands to a call that trips it.
ASSERTS: dict[str, Callable[[], object]] = {
    **{
        f"affine_grid_generator_{len(size)}D_backward": partial(
            torch.ops.aten.affine_grid_generator_backward, torch.ones(1), size, True
        )
        for size in ([1, 1, 1, 1], [1, 1, 1, 1, 1])
    },
    "_thnn_fused_lstm_cell_backward": lambda: torch.ops.aten._thnn_fused_lstm_cell_backward(
        None, None, *[torch.ones(1, 1)] * 3, False
    ),
    "_set_autograd_fallback_mode": lambda: C._set_autograd_fallback_mode("nosuch"),
    "ldexp_kernel": lambda: torch.ldexp(
        torch.ones(1), torch.ones(1, dtype=torch.int32), out=torch.ones(1, dtype=torch.float64)
    ),
    "cpu_kernel": lambda: torch.native_batch_norm(
        *(torch.ones(2, 2).t(), torch.ones(2), None, *[torch.ones(2).double()] * 2, False, 0.1, 0.1)
    ),
    "TensorIteratorBase::compute_types": lambda: (
        torch.ops.aten.floor_divide_.Tensor(None, torch.ones(1))
    ),
    "checkInvariants": lambda: stale_table(),
    "add_relu_impl": lambda: torch.ops.aten._add_relu.Tensor(*[torch.ones(1).half()] * 2),
    "convert_indices_from_csr_to_coo_cpu": lambda: (
        torch.ops.aten._convert_indices_from_csr_to_coo.out(
            torch.tensor([0, 2]), torch.tensor([0, 1]), out=torch.zeros(2, 2).long().t()
        )
    ),
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
    "IValue.toObject": lambda: torch.ops.prim.ModuleContainerIndex.list(1, 1),
    "IValue.toString": lambda: torch.ops.prim.RaiseException.default("message"),
    "IValue.toTuple": lambda: torch.ops.prim.TupleUnpack.default(1),
    "_propagate_xla_data": lambda: torch.ops.aten._propagate_xla_data(*[torch.ones(1)] * 2),
    "_fw_primal": lambda: torch.ops.aten._fw_primal_copy(torch.ones(1), 0),
    "_make_dual": lambda: torch.ops.aten._make_dual_copy(*[torch.ones(1)] * 2, 0),
    "AutogradMeta.set_fw_grad": lambda: torch._make_dual(torch.ones(1).int(), torch.ones(1), 0),
    "_is_all_true": lambda: torch.ops.aten._is_all_true(torch.ones(1)),
    "_is_any_true": lambda: torch.ops.aten._is_any_true(torch.ones(1)),
    **{
        f"_embedding_bag_per_sample_weights_backward_cpu_template({name})": partial(
            torch.ops.aten._embedding_bag_per_sample_weights_backward,
            *(torch.ones(grad), torch.ones(weight), *[torch.ones(indices).long()] * 3, 0),
        )
        for name, grad, weight, indices in (
            ("grad", (1,), (1, 1), (1,)),
            ("indices", (1, 1), (1, 1), ()),
            ("weight", (1, 1), (1,), (1,)),
            ("width", (1, 1), (1, 2), (1,)),
        )
    },
    "_embedding_bag_dense_backward_cpu": lambda: bag_gradient(3, None),
    "_embedding_bag_dense_backward_cpu_sum_mean": lambda: bag_gradient(1, torch.ones(1)),
    "_linalg_check_errors": lambda: torch.ops.aten._linalg_check_errors(
        torch.ones(1), "", is_matrix=True
    ),
    "_linalg_check_errors(unknown)": lambda: torch.ops.aten._linalg_check_errors(
        torch.ones(1).int(), "", is_matrix=True
    ),
    "dense_to_sparse": lambda: torch.ops.aten._to_sparse(torch.ones(1), layout=torch.strided),
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
    "weight_norm_kernel": lambda: torch.ops.aten._weight_norm_interface(
        torch.ones(1, 1), torch.ones(1), 2
    ),
    "weight_norm_backward_kernel": lambda: torch.ops.aten._weight_norm_interface_backward(
        torch.ones(1, 1), torch.ones(1, 1), torch.ones(1), torch.ones(1), 2
    ),
    "_batch_norm_impl_index_backward": lambda: torch.ops.aten._batch_norm_impl_index_backward(
        *(3, torch.ones(1, 1), torch.ones(1, 1)),
        *(*[None] * 5, True, 0.1, [True] * 3, torch.ones(1)),
    ),
    "_jagged_to_padded_dense_forward_cpu": lambda: (
        torch.ops.aten._jagged_to_padded_dense_forward(torch.ones(1), [], [1])
    ),
    "_padded_dense_to_jagged_forward_cpu": lambda: (
        torch.ops.aten._padded_dense_to_jagged_forward(torch.ones(1, 1), [])
    ),
}
#: Of these, the assertions whose condition differs between releases.
REWORDED = (
    "SchemaInfo.addArgumentValue",
    *("_embedding_bag_dense_backward_cpu", "_embedding_bag_dense_backward_cpu_sum_mean"),
)


#: Functions that refuse None in words of the compiler.
OF_A_MODE = ("_set_dispatch_mode", "_get_dispatch_mode", "_unset_dispatch_mode")
