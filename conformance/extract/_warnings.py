"""What torch warns of, and where in C++: a part of the section ``messages``.

Each warning is provoked by a call.
"""

import re
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy
import torch
from torch import _C as C

from conformance.extract import ExtractionError, takes

TRIGGERED = re.compile(r"\(Triggered internally at (\S+:\d+)\.\)$")


def places() -> dict[str, str]:
    """``file:line`` of each warning of C++ by the function that gives it."""
    found = {
        name: location
        for name, provoke in WARNINGS.items()
        if (location := warned_at(provoke, required=name not in NOT_EVERYWHERE))
    }
    return found | of_anomalies()


def texts() -> dict[str, str]:
    """The words of those that releases word otherwise."""
    return {
        name: found[0].partition(" (Triggered")[0]
        for name, provoke in {**PYTHON_WARNINGS, **WARNINGS}.items()
        if name in REWORDED_WARNINGS and (found := caught_by(provoke))
    }


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
        raise ExtractionError("torch used to warn of a call and did not; look at _warnings.py")
    return None


def operators_hand_warnings_on() -> bool:
    """Whether Python learns of what C++ warns of in a call through ``torch.ops``."""
    return bool(caught_by(lambda: torch.ops.aten.neg.out(torch.ones(2), out=torch.ones(3))))


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


def hooked_without_inputs() -> None:
    """The gradients of a module none of whose inputs requires one."""
    module = torch.nn.Linear(1, 1)
    module.register_full_backward_hook(lambda *gradients: None)
    module(torch.ones(1)).backward()


def put_at_its_place() -> None:
    """Call an operator that is not deterministic."""
    C._set_deterministic_algorithms(True, warn_only=True)
    try:
        torch.ones(1).put_(torch.tensor([0]), torch.ones(1))
    finally:
        C._set_deterministic_algorithms(False)


def accumulated(*, create_graph: bool) -> None:
    """Add gradients that lie in memory in another order than their tensor."""
    tensor = torch.ones(2, 2, requires_grad=True)
    tensor.grad = torch.ones(2, 2).t()
    ((accumulate, _),) = tensor.sum().grad_fn.next_functions
    with torch.set_grad_enabled(create_graph):
        accumulate(torch.ones(2, 2).t())


def through_custom_operator() -> None:
    """Backward through an operator that has no kernel at Autograd."""
    library = torch.library.Library("extracted", "FRAGMENT")
    library.define("copied(Tensor x) -> Tensor")
    library.impl("copied", lambda x: x.detach().clone(), "CPU")
    try:
        torch.ops.extracted.copied(torch.ones((), requires_grad=True)).backward()
    finally:
        library._destroy()


def override_kernel() -> None:
    """Register two kernels for one key."""
    library = C._dispatch_library("FRAGMENT", "nosuch", "")
    library.define("override(Tensor x) -> Tensor")
    for _ in range(2):
        library.impl("override", C.DispatchKey.CPU, lambda x: x)
    library.reset()


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


# --- the calls ------------------------------------------------------------------------------------

#: Indices and values of a sparse tensor.
COO = (torch.zeros(1, 1, dtype=torch.int64), torch.ones(1))


def deprecated(name: str) -> Callable[..., object]:
    """The function of C++, where there still is one."""
    return getattr(C._VariableFunctions, name, lambda *inputs, **output: None)


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
    "lstm": lambda: torch.lstm(
        *(torch.ones(1, 1, 1), [torch.ones(1, 1, 1), torch.ones(1, 1, 2)]),
        *([torch.ones(each) for each in ((8, 1), (8, 1), (1, 2))], False, 1, 0.0, *[False] * 3),
    ),
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
    "rms_norm": lambda: torch.rms_norm(torch.ones(1, 1), (1,), torch.ones(1).double()),
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
    "stft": lambda: torch.stft(torch.ones(4), 4, return_complex=True),
    "stft(real)": lambda: torch.stft(torch.ones(4), 4, window=torch.ones(4), return_complex=False),
    "istft": lambda: torch.istft(torch.ones(3, 2, dtype=torch.complex64), 4),
    "istft(padded)": lambda: torch.istft(
        torch.ones(3, 2, dtype=torch.complex64), 4, window=torch.ones(4), length=9
    ),
    "qr": lambda: deprecated("qr")(torch.ones(1, 1)),
    "qr_out": lambda: deprecated("qr")(torch.ones(1, 1), out=(torch.ones(0), torch.ones(0))),
    "nuclear_norm": lambda: C._VariableFunctions.nuclear_norm(torch.ones(1, 1)),
    "nuclear_norm_out": lambda: C._VariableFunctions.nuclear_norm(
        torch.ones(1, 1), out=torch.ones(0)
    ),
    "nuclear_norm_dim_out": lambda: C._VariableFunctions.nuclear_norm(
        torch.ones(1, 1), [0, 1], out=torch.ones(0)
    ),
    "frobenius_norm": lambda: C._VariableFunctions.frobenius_norm(torch.ones(1, 1), [0, 1]),
    "frobenius_norm_out": lambda: C._VariableFunctions.frobenius_norm(
        torch.ones(1, 1), [0, 1], out=torch.ones(0)
    ),
    "cholesky": lambda: deprecated("cholesky")(torch.ones(1, 1)),
    "cholesky_out": lambda: deprecated("cholesky")(torch.ones(1, 1), out=torch.ones(1, 1)),
    "_lu_with_info": lambda: C._VariableFunctions._lu_with_info(torch.ones(1, 1)),
    "lu_solve": lambda: C._VariableFunctions.lu_solve(*[torch.ones(1, 1)] * 2, torch.ones(1).int()),
    "lu_solve_out": lambda: C._VariableFunctions.lu_solve(
        *[torch.ones(1, 1)] * 2, torch.ones(1).int(), out=torch.ones(1, 1)
    ),
    "triangular_solve_out_impl": lambda: C._VariableFunctions.triangular_solve(
        *[torch.ones(1, 1)] * 2
    ),
    "_aminmax": lambda: torch._aminmax(torch.ones(1), 0),
    "_aminmax_all": lambda: torch._aminmax(torch.ones(1)),
    "_scaled_dot_product_attention_math": lambda: torch._scaled_dot_product_attention_math(
        *[torch.ones(1, 1)] * 3, None, 0.5, False, torch.ones(1, 1, dtype=torch.bool)
    ),
    "HandleWeightsSaturation": lambda: torch._saturate_weight_to_fp16(torch.full((1, 1), 1e5)),
    "fbgemm_linear_quantize_weight": lambda: (
        C._VariableFunctions.fbgemm_linear_quantize_weight(torch.ones(1, 1))
    ),
    "fbgemm_linear_int8_weight_fp32_activation": lambda: takes(
        lambda: C._VariableFunctions.fbgemm_linear_int8_weight(
            *[torch.ones(1)] * 4, 1, 1, torch.ones(1)
        )
    ),
    "fbgemm_linear_fp16_weight_fp32_activation": lambda: takes(
        lambda: C._VariableFunctions.fbgemm_linear_fp16_weight(*[torch.ones(1)] * 3)
    ),
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
    "stft",
)
#: Of these, what releases warn of or not.
NOT_EVERYWHERE = (
    *("qr", "qr_out", "cholesky", "cholesky_out"),
    "set_named_tensor_meta",
    "checkSparseTensorInvariants",
    "checkSparseTensorInvariants(chosen)",
    "treatSequenceAsTuple",
    "treatSequenceAsTuple(constant)",
    "requires_grad_to_scalar",
    "mse_kernel",
    "rms_norm",
    "asarray",
    "raise_warning_for_bcomplex32",
    "is_pinned",
    "pin_memory",
    "parse_type",
)
