"""In-place and ``out=`` operators without a kernel of their own: the functional one, written back.

The functionalizing route of the design (decision 6): a mutating operator that is a form of a
functional one needs no row on a backend.  As in torch's functionalization it is first called with
tensors of no values, which says what does not fit and how outputs are resized: by what its kernel
begins with (:func:`mindtorch_v2.kernels.structured.prologue`), or on meta if that is structured.
Then the functional kernel computes, and what it made is copied into what the caller gave.  Versions
and history are counted above, at ADInplaceOrView and Autograd, as of any other kernel.

Operators of the project's own registry are written back by their rules, which they must have:
:mod:`mindtorch_v2.functionalize.rules`.

``MINDTORCH_KERNELS=functional`` takes away the CPU's rows of all mutating operators that this route
can stand in for, so that the suite can show that it does.  A functional kernel that is made of the
mutating one (``masked_fill`` of ``masked_fill_``) gets that back while it runs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from itertools import chain, combinations
from typing import Any, Final

from mindtorch_v2.binding.convert import enum_value
from mindtorch_v2.binding.operators import Call, Operator, find_operator
from mindtorch_v2.dispatch.forms import INPLACE, MUTABLE, OUT, Form, form_of
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.native import Native, Provider
from mindtorch_v2.functionalize.mutations import functional_arguments
from mindtorch_v2.kernels import rows, structured
from mindtorch_v2.kernels.elementwise.promotion import BOOL, check_can_cast
from mindtorch_v2.kernels.elementwise.tensor_iterator import standing_for_cpu
from mindtorch_v2.kernels.outputs import new_tensor, resize_output, set_sizes
from mindtorch_v2.kernels.overlap import (
    assert_no_internal_overlap,
    assert_no_partial_overlap,
    may_overlap_itself,
    share_memory,
)
from mindtorch_v2.kernels.refused import Refused, listening, refused
from mindtorch_v2.tensor.copying import (
    copy_values,
    raw_array,
    store,
    value_array,
)
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.thread_state import ThreadLocal
from mindtorch_v2.warn import once, warn_once

Shape = tuple[Sequence[int], tuple[int, ...]]
"""Sizes and strides."""

ENVIRONMENT: Final = "MINDTORCH_KERNELS"
FUNCTIONAL: Final = "functional"

_POINTWISE: Final = "pointwise"
"""The tag of operators that make each element of those at its place."""

BACKENDS: Final = (DispatchKey.CPU, DispatchKey.CompositeExplicitAutograd)
"""Where a kernel computes.  Elsewhere one has something else to do, and is needed."""

_META: Final = Device("meta")

COPIES: Final = frozenset(("aten::copy_", "aten::fill_.Scalar", "aten::fill_.Tensor"))
"""What writing back is made of, and what is written back by itself."""


NO_FORMS: Final = frozenset(
    f"aten::{name}"
    for name in (
        # Into an output they take what the functional operators refuse: tensors of no elements,
        # complex bounds of real numbers, dtypes that nothing of their own dtype can be computed of.
        *("max.unary_out", "min.unary_out", "linspace.out"),
        *("var.correction_out", "std.correction_out"),
        # They draw numbers for the output's dtype and sizes, or add to what it holds.
        *("normal.Tensor_float_out", "normal.float_Tensor_out", "normal.Tensor_Tensor_out"),
        *("_compute_linear_combination.out", "_batch_norm_with_update.out"),
        # They refuse, or resize, outputs in their own words.
        *("geqrf.a", "ormqr.out", "cholesky.out", "linalg_eig.out", "_fft_r2c.out"),
        *("linalg_householder_product.out", "linalg_solve_triangular.out"),
        *("histogram.bins_tensor_out", "histogram.bin_ct_out", "mvlgamma_", "mvlgamma.out"),
        *("max_pool3d_with_indices.out", "max_unpool2d.out", "max_unpool3d.out"),
        *("multi_margin_loss.out", "multilabel_margin_loss_forward.output"),
        "_convert_indices_from_csr_to_coo.out",
    )
)
"""Mutating operators that say more than the functional operators they seem to be forms of."""

INFERS_DTYPE: Final = frozenset(
    f"aten::{name}" for name in ("sum", "mean", "prod", "nansum", "cumsum", "cumprod")
)
"""They compute in the dtype of an output, unless they are told one (``infer_dtype_from_optional``
of ``ReduceOps.cpp``)."""

NO_VALUES: Final = frozenset(f"aten::{name}" for name in ("resize_", "resize_as_", "set_"))
"""Of whatever overload: they give a tensor a shape or a memory that nothing written back has."""


def chosen() -> bool:
    """Whether the environment takes the mutating operators' kernels away."""
    return os.environ.get(ENVIRONMENT) == FUNCTIONAL


def with_write_back(find: Provider, *, only_functional: bool = False) -> Provider:
    """A look-up that has this route for mutating operators that ``find`` has no kernel of.

    ``only_functional``: for all that it can stand in for.
    """

    def provide(name: str, key: int) -> Native:
        own = find(name, key)
        is_taken = only_functional and key == DispatchKey.CPU and name not in COPIES
        if own.function is not None and not is_taken:
            return own
        return _route(find, name, key, own) or own

    return provide


def route(name: str, key: int, *, own: Native) -> Native | None:
    """The kernel of this route for a backend whose functional operators are those at ``key``.

    ``own`` runs where the functional operator is made of the mutating one, and reads and writes
    memory in torch's order.  None for an operator that is no form of one that there is.
    """
    return _route(rows.find, name, key, own)


def _route(find: Provider, name: str, key: int, own: Native) -> Native | None:
    form = form_of(name) if key in BACKENDS else None
    if (
        form is None
        or form.kind == MUTABLE
        or name in NO_FORMS
        or name.partition(".")[0] in NO_VALUES
        or not any(find(form.functional, at).function for at in (key, *BACKENDS))
    ):
        return None
    return Native(partial(_run_once, form, own), with_keyset=True)


class _Running(ThreadLocal):
    """The functional operators that this thread computes in order to write them back."""

    def __init__(self) -> None:
        self.names: list[str] = []


_running = _Running()


def _run_once(form: Form, own: Native, operator: Operator, keyset: int, /, *stack: Any) -> Any:
    """By the route, or by the operator's ``own`` kernel: within the route, and where it matters in
    which order memory is read and written, which a functional kernel does not say."""
    if form.functional in _running.names or (
        own.function and (_writes_more(form, operator) or _writes_to_inputs(form, operator, stack))
    ):
        return _run_own(own, operator, keyset, stack)
    _running.names.append(form.functional)
    try:
        with once():
            return _run(form, own, operator, keyset, *stack)
    finally:
        _running.names.pop()


def _writes_more(form: Form, operator: Operator) -> bool:
    """Whether in place it writes to more than its first argument, or to the tensors of a list."""
    written = [each for each in operator.schema.arguments if each.is_write]
    return form.kind == INPLACE and [str(each.type) for each in written] != ["Tensor"]


def _writes_to_inputs(form: Form, operator: Operator, stack: Sequence[Any]) -> bool:
    """Whether what is written to is memory of what else is read, or of another output."""
    element_wise = _POINTWISE in operator.registered_tags
    if form.kind == INPLACE:
        return writes_over_what_it_reads(stack[0], stack[1:], element_wise=element_wise)
    given = [
        (each, argument.is_out)
        for argument, value in zip(operator.schema.arguments, stack, strict=True)
        for each in _tensors(value)
    ]
    return any(_overlaps_itself(each) for each, is_out in given if is_out) or any(
        (is_out and other_is_out and one is two)
        or ((is_out or other_is_out) and share_memory(one, two, element_wise=element_wise))
        for (one, is_out), (two, other_is_out) in combinations(given, 2)
    )


def writes_over_what_it_reads(
    target: Any, others: Sequence[Any], *, element_wise: bool = True
) -> bool:
    """Whether what is written in place is also memory of another of its elements, or of another
    tensor that is read.  ``element_wise``: each element after it was read itself."""
    read = (each for value in others for each in _tensors(value) if each is not target)
    return isinstance(target, Tensor) and (
        _overlaps_itself(target)
        or any(share_memory(target, each, element_wise=element_wise) for each in read)
    )


def _tensors(value: Any) -> Sequence[Tensor]:
    """The tensor that an argument is, or those of a list."""
    values = value if isinstance(value, (list, tuple)) else (value,)
    return [each for each in values if isinstance(each, Tensor)]


def _overlaps_itself(target: Tensor) -> bool:
    return numel(target._sizes) > 1 and may_overlap_itself(target)


def _run_own(own: Native, operator: Operator, keyset: int, stack: Sequence[Any]) -> Any:
    if own.function is None:
        raise NotImplementedError(
            f"mindtorch_v2 has no kernel for {operator.full_name} that is not made of itself"
        )
    return own.function(operator, keyset, *stack) if own.with_keyset else own.function(*stack)


def _run(form: Form, own: Native, operator: Operator, keyset: int, /, *stack: Any) -> Any:
    count = 1
    if form.kind == INPLACE:
        inputs, outputs = stack, stack[:1]
    else:
        count = sum(argument.is_out for argument in operator.schema.arguments)
        inputs, outputs = stack[: len(stack) - count], stack[len(stack) - count :]
        pairs = zip(operator.schema.arguments, inputs, strict=False)
        outputs = (*outputs, *(value for each, value in pairs if each.is_write))
    if outputs[0] is None:  # an undefined tensor, of which the functional form speaks
        return _functional(form, operator, keyset, stack)
    if form.kind == INPLACE:  # TensorIterator looks at memory before it looks at shapes
        _check_overlaps(inputs, outputs, is_within=_begins(form) is None)
    shapes = _shapes(form, inputs, outputs)
    _check_overlaps(inputs, outputs)
    try:
        with listening() as heard:
            made = _functional(form, operator, keyset, stack)
    except Exception as error:
        written = _written(heard, outputs[0], shapes)
        if written is not None and own.function and outputs[0]._strides != written.output._strides:
            return _run_own(own, operator, keyset, stack)  # whose loops are others
        _resize(outputs, shapes or ())
        if written is not None:
            raw_array(outputs[0])[written.places] = raw_array(written.output)[written.places]
            refused(error, outputs[0], written.places)
        raise
    values = made if isinstance(made, tuple) else (made,)
    if shapes is None:
        shapes = [_checked(*each, form.kind) for each in zip(outputs, values, strict=True)]
    _resize(outputs, shapes)
    from_complex = any(map(_is_complex, inputs))
    for output, value in zip(outputs, values, strict=True):
        _write(output, value, from_complex)
    return outputs[:count] if count > 1 else outputs[0]


def _written(
    heard: Sequence[Refused], target: Tensor, shapes: Sequence[Shape] | None
) -> Refused | None:
    """What the functional operator had made of its answer, and not of something on the way."""
    if not heard:  # nor need the target be one tensor
        return None
    sizes = shapes[0][0] if shapes else target._sizes
    for each in reversed(heard):
        if tuple(each.output._sizes) == tuple(sizes) and each.output._dtype is target._dtype:
            return each
    return None


def _resize(outputs: Sequence[Tensor], shapes: Sequence[Shape]) -> None:
    for output, (sizes, strides) in zip(outputs, shapes, strict=False):
        if tuple(output._sizes) != tuple(sizes):
            set_sizes(output, sizes, strides)


def _is_complex(value: Any) -> bool:
    return value._dtype.is_complex if isinstance(value, Tensor) else isinstance(value, complex)


def _shapes(form: Form, inputs: Sequence[Any], outputs: Sequence[Tensor]) -> list[Shape] | None:
    """What the outputs are to be, by the ``out=`` kernel's prologue or by the meta function of a
    structured kernel; None without either."""
    function = _begins(form)
    if function is None:
        return None
    device = None if function is structured.prologue_of(form.functional) else _META
    twins: dict[int, Tensor] = {}
    inputs = [_twin(each, device, twins) for each in inputs]
    given = tuple(_twin(each, device, twins) for each in outputs)
    is_meta = outputs[0].is_meta  # else what stands for it is asked as the CPU would be
    with nullcontext() if is_meta else standing_for_cpu():
        function(structured.InPlace(given) if form.kind == INPLACE else given, *inputs)
    return [(twins[id(each)]._sizes, twins[id(each)]._strides) for each in outputs]


def _begins(form: Form) -> Callable[..., Any] | None:
    """What the kernel begins with, if that is known apart: what is wrong with one tensor's own
    memory it says itself, in the order in which it looks at things."""
    prologue = structured.prologue_of(form.functional)
    return prologue or structured.function_of(form.functional)


def _twin(value: Any, device: Device | None, twins: dict[int, Tensor]) -> Any:
    """A tensor's like without values, the same for the same tensor; any other value itself."""
    if isinstance(value, (list, tuple)):
        return [_twin(each, device, twins) for each in value]
    if not isinstance(value, Tensor):
        return value
    if id(value) not in twins:
        at = device or value._device
        twins[id(value)] = new_tensor(value._sizes, value._dtype, at, value._strides)
    return twins[id(value)]


def _functional(form: Form, operator: Operator, keyset: int, stack: Sequence[Any]) -> Any:
    """What the functional operator answers, on the backend that was called."""
    base, _, overload_name = form.functional.partition(".")
    functional = find_operator(base, overload_name)
    assert functional is not None
    values = functional_arguments(operator, stack)
    if form.kind == OUT and base in INFERS_DTYPE and values["dtype"] is None:
        values["dtype"] = enum_value(stack[-1]._dtype)
    wanted = tuple(values[argument.name] for argument in functional.schema.arguments)
    return Call(functional, wanted).redispatch(keyset)


def _check_overlaps(
    inputs: Sequence[Any], outputs: Sequence[Tensor], *, is_within: bool = True
) -> None:
    """RuntimeError for tensors that share memory, and of outputs also ``is_within`` themselves."""
    for output in chain.from_iterable(map(_tensors, outputs)):
        if is_within:
            assert_no_internal_overlap(output)
        for value in chain.from_iterable(map(_tensors, inputs)):
            if value is not output:
                assert_no_partial_overlap(output, value)


def _checked(target: Tensor, value: Tensor, kind: str) -> Shape:
    """What an output is to be; RuntimeError for a shape or a dtype that it cannot take."""
    if kind == INPLACE and tuple(target._sizes) != tuple(value._sizes):
        raise RuntimeError(
            f"output with shape {list(target._sizes)} doesn't match the broadcast shape "
            f"{list(value._sizes)}"
        )
    check_can_cast(value._dtype, target._dtype)
    resize_output(target, value._sizes, value._strides)
    return target._sizes, target._strides


def _write(target: Tensor, value: Tensor, from_complex: bool) -> None:
    """``from_complex``: it was computed of complex numbers, whatever it is itself.

    What has no elements was not computed, and leaves the target what it is.
    """
    if not numel(value._sizes):
        return
    same = target._dtype in (value._dtype, BOOL)
    is_real = value._dtype.is_floating_point  # a part or a magnitude
    if from_complex and not target._dtype.is_complex and not (same or is_real):
        warn_once("copy_impl", "Casting complex values to real discards the imaginary part")
    if tuple(value._sizes) == tuple(target._sizes):
        copy_values(target, value)
    else:  # of a factory, which keeps an output's shape where the elements are as many
        store(target, value_array(value).reshape(tuple(target._sizes)))
