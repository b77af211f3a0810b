"""Which kernel each operator has on the NPU, and how the dispatcher learns of them.

The profile knows nothing of the NPU, so nothing is registered before the first use of one: tables
and dumps are torch's own until then.  From then on every operator gets, when it is first named, the
first of these that it can have (:func:`_kernel`):

1. its row: ACLNN computes it
2. what every backend has: views and what makes tensors without values, by their geometry; what
   fills a tensor that is given to it
3. nothing, if it is composed of other operators: its composite kernel does
4. if it is an in-place or ``out=`` form of one that has a row: that, written back
5. the CPU's kernel
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from mindtorch_v2.binding.fallbacks import tensors_of
from mindtorch_v2.binding.operators import Call, Operator
from mindtorch_v2.dispatch.dispatcher import DISPATCHER, Extra
from mindtorch_v2.dispatch.forms import form_of
from mindtorch_v2.dispatch.kernel import Kernel
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.native import Native
from mindtorch_v2.dispatch.operator_entry import AnnotatedSchema
from mindtorch_v2.dispatch.operator_entry import Plan as PlanKernel
from mindtorch_v2.kernels import rows as native_rows
from mindtorch_v2.kernels import write_back
from mindtorch_v2.kernels.factories.filling import copy_
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.npu import (
    copies,
    ops_neural,
    ops_pointwise,
    ops_reductions,
    ops_shapes,
)
from mindtorch_v2.kernels.npu.accelerator import TensorMemory
from mindtorch_v2.kernels.npu.fallback import fall_back, run_on_cpu
from mindtorch_v2.kernels.npu.marshal import UnsupportedError
from mindtorch_v2.kernels.npu.plans import Builder, Plan, RefusedError, plan_ahead
from mindtorch_v2.kernels.npu.rows import ROWS, Compose
from mindtorch_v2.kernels.npu.templates import Prepared
from mindtorch_v2.kernels.structured import is_structured
from mindtorch_v2.kernels.write_back import writes_over_what_it_reads
from mindtorch_v2.pipeline import Planned, take_plan
from mindtorch_v2.tensor.copying import raw_array
from mindtorch_v2.tensor.device import EXTENSION_DEVICE, Device
from mindtorch_v2.tensor.geometry import is_contiguous
from mindtorch_v2.tensor.tensor import Tensor

__all__ = ["ops_neural", "ops_pointwise", "ops_reductions", "ops_shapes", "register"]

_NPU: Final = int(DispatchKey.NPU)
_CPU: Final = int(DispatchKey.CPU)
_IMPLICIT: Final = int(DispatchKey.CompositeImplicitAutograd)
_EXPLICIT: Final = (
    int(DispatchKey.CompositeExplicitAutogradNonFunctional),
    int(DispatchKey.CompositeExplicitAutograd),
)
_RANDOM: Final = "nondeterministic_seeded"
_HERE: Final = "registered with mindtorch_v2.kernels.npu"

_BY_GEOMETRY: Final = frozenset(
    f"aten::{name}"
    for name in (
        *("empty.memory_format", "empty_strided", "resize_", "_efficientzerotensor"),
        *("set_.source_Storage", "set_.source_Storage_storage_offset", "set_.source_Tensor"),
        *("set_", "is_set_to", "lift", "_local_scalar_dense", "fill_.Scalar", "fill_.Tensor"),
        "zero_",
    )
)
"""Operators whose kernel on the CPU asks storages for memory and bytes, wherever they are."""

_OUT: Final = re.compile(r"Tensor\(\w!\) out\w*")

_BY_DTYPE_OF_OUT: Final = frozenset(
    (
        *("aten::std.correction_out", "aten::var.correction_out"),
        *("aten::dot.out", "aten::vdot.out"),
    )
)
"""Operators that compute in, or insist on, a dtype of what they are told to write to."""

_COPY: Final = OperatorHandle("aten::copy_")
_SHARED: Final = UnsupportedError("memory that is read and written")

_COMPUTING: Final = ("mindtorch_v2.kernels.cpu.", "mindtorch_v2.kernels.rearranging")
"""Modules whose composite kernels compute themselves, and call no other operators for it."""


def register() -> None:
    """Have every operator get its kernel on the NPU.

    Operators that others define have what they have on torch's own backends: a fallback above them
    that says that nothing computes their gradients (``VariableFallbackKernel.cpp``).
    """
    DISPATCHER.extend(_extra)
    DISPATCHER.register_fallback(int(DispatchKey.AutogradNPU), Kernel(None, _HERE, "boxed "))


def _extra(
    name: str, schema: AnnotatedSchema, kernels: Mapping[int, tuple[Kernel, ...]]
) -> Extra | None:
    native = _kernel(name, schema, kernels)
    if native is None or native.function is None:
        return None
    kernel = Kernel(
        native.function,
        _HERE,
        with_keyset=native.with_keyset,
        with_op=native.with_keyset,
        is_native=True,
    )
    compose = ROWS.get(name)
    return Extra(_NPU, kernel, None if compose is None else _plan_kernel(name, compose))


def _kernel(
    name: str, schema: AnnotatedSchema, kernels: Mapping[int, tuple[Kernel, ...]]
) -> Native | None:
    """By the numbers of the module's list."""
    explicit = next((kernels[key][0] for key in _EXPLICIT if key in kernels), None)
    if _CPU not in kernels and explicit is None:
        return None  # it is composed above autograd, or not for dense tensors
    # 1. its row
    if name in ROWS:
        return Native(partial(_run_row, ROWS[name]), with_keyset=True)
    if name == "aten::copy_":
        return Native(_copy_)
    # 2. what every backend has
    if name in _BY_GEOMETRY or _is_view(schema.text) or _fills_only(schema.text):
        return None if explicit is not None else native_rows.find(name, _CPU)
    # 3. composed of other operators
    if _CPU not in kernels and explicit is not None and _is_composed(explicit.function):
        return None
    if _IMPLICIT in kernels and _CPU not in kernels:
        return None
    # 4. a form of a functional operator
    fallback = Native(fall_back, with_keyset=True)
    form = form_of(name)
    if (
        form is not None
        and _RANDOM not in schema.tags
        and form.functional in ROWS
        and name not in _BY_DTYPE_OF_OUT
    ):
        return write_back.route(name, _CPU, own=fallback) or fallback
    # 5. the CPU's kernel
    return fallback


def _is_view(text: str) -> bool:
    """Whether it answers an alias of an argument that it does not write to."""
    answers = text.rpartition("->")[2]
    return "(a" in answers and "!" not in answers


def _fills_only(text: str) -> bool:
    """Whether the only tensors it takes are those that it writes to because the caller said so."""
    arguments = text.rpartition("->")[0]
    return _OUT.search(arguments) is not None and "Tensor" not in _OUT.sub("", arguments)


def _is_composed(function: Callable[..., Any] | None) -> bool:
    if function is None or is_structured(function):
        return False
    inner = function.func if isinstance(function, partial) else function
    return not inner.__module__.startswith(_COMPUTING)


# --- rows as kernels ------------------------------------------------------------------------------


def _run_row(compose: Compose, operator: Operator, keyset: int, /, *stack: Any) -> Any:
    """The impl kernel of a row: by the plan of a pipeline if there is one, else planned now."""
    call = Call(operator, stack)
    plan = take_plan()
    try:
        if not isinstance(plan, (Plan, Prepared)) or not plan.fits(call):
            plan = _planned(compose, call)
    except UnsupportedError as reason:
        return run_on_cpu(operator, stack, reason)
    return plan.run(call)


def _plan_kernel(name: str, compose: Compose) -> PlanKernel:
    """The plan kernel of a row: None for a call that the NPU does not take, or not yet."""
    handle = OperatorHandle(name)

    def plan(*args: Any, **kwargs: Any) -> Planned | None:
        try:
            call = Call(handle.operator, handle.stack(args, kwargs))
            return plan_ahead(call, lambda ahead: _planned(compose, ahead))
        except UnsupportedError:
            return None

    return plan


def _planned(compose: Compose, call: Call) -> Plan:
    builder = Builder(call, _device_of(call))
    answer = compose(builder, *call.stack)
    return Plan(call, builder.launches, answer)


def _device_of(call: Call) -> Device:
    """The device of the tensors; RefusedError for tensors of two, and for other kinds of tensor."""
    devices = {tensor._device for tensor in tensors_of(call.stack) if tensor._device.type != "cpu"}
    if len(devices) != 1 or next(iter(devices)).type != EXTENSION_DEVICE:
        raise RefusedError("its tensors are on several devices")
    return next(iter(devices))


def _copy_(self: Tensor, src: Any, non_blocking: bool) -> Tensor:
    """The composite kernel, but a copy to the NPU that need not be waited for; and the CPU's within
    one memory, where it matters in which order it is read and written."""
    if self._device.type == EXTENSION_DEVICE and writes_over_what_it_reads(self, (src,)):
        return run_on_cpu(_COPY.operator, (self, src, non_blocking), _SHARED)  # type: ignore[no-any-return]
    storage = self._storage
    memory = None if storage is None else storage._bytes
    if (
        non_blocking
        and isinstance(memory, TensorMemory)
        and isinstance(src, Tensor)
        and src._device.type == "cpu"
        and src._dtype is self._dtype
        and tuple(src._sizes) == tuple(self._sizes)
        and not self._lazy_bits() | src._lazy_bits()
        and is_contiguous(self._sizes, self._strides)
    ):
        bits = raw_array(src).reshape(-1).view("u1")
        copies.write(memory, self._storage_offset * self._dtype.itemsize, bits, wait=False)
        return self
    return copy_(self, src, non_blocking)
