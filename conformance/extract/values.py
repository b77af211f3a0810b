"""Extracts what tensors with values can do: which kernels take which dtypes, promotion, limits.

Each fact is what torch answers when it is asked; nothing here is known beforehand.
"""

import math
import operator
import os
import re
import warnings
from collections.abc import Callable
from contextlib import suppress
from inspect import signature
from typing import Any

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from conformance.bound import bound
from conformance.extract import ExtractionError, takes
from conformance.extract.tensors import dtypes

#: What refuses a dtype, to a call that reaches it.
KERNELS: dict[str, Callable[[torch.dtype], object]] = {
    "item": lambda dtype: made(dtype).item(),
    "tolist": lambda dtype: made(dtype).tolist(),
    "tensor": lambda dtype: torch.tensor([1], dtype=dtype),
    "fill_": lambda dtype: torch.empty(2, dtype=dtype).fill_(1),
    "fill_out": lambda dtype: set_item(dtype, 1),
    "fill_one": lambda dtype: torch.empty(1, dtype=dtype).fill_(1),
    "scalar_tensor": lambda dtype: torch.scalar_tensor(1, dtype=dtype),
    "clone": lambda dtype: made(dtype).clone(),
    "convert_from": lambda dtype: made(dtype).to(torch.float64 if is_f32(dtype) else torch.float32),
    "convert_to": lambda dtype: torch.ones(1, dtype=other_than(dtype)).to(dtype),
    "arange": lambda dtype: torch.arange(3, dtype=dtype),
    "eye": lambda dtype: torch.eye(2, dtype=dtype),
    "linspace": lambda dtype: torch.linspace(0, 1, 3, dtype=dtype),
    "sort": lambda dtype: made(dtype, 2).sort(),
    "topk": lambda dtype: made(dtype, 2).topk(1),
    "numpy": lambda dtype: made(dtype).numpy(),
    "storage": lambda dtype: repr(made(dtype).storage()),
    "set_default_dtype": lambda dtype: set_default(dtype),
    "finfo": lambda dtype: torch.finfo(dtype),
    "iinfo": lambda dtype: torch.iinfo(dtype),
}

MATRIX = torch.ones(2, 3)


def truths() -> torch.Tensor:
    return torch.tensor([True])


def integers() -> torch.Tensor:
    return torch.tensor([1])


#: Messages and answers whose words are the release's, None where it has none: the call is taken,
#: or is torch's end.
WORDS: dict[str, Callable[[], object]] = {
    "unpack an int": lambda: torch.tensor(2**63),
    "add a list to a Size": lambda: operator.add(torch.Size([1]), [1]),
    "bounds of arange": lambda: torch.arange(5, 0),
    "integer step of arange": lambda: survived(lambda: torch.arange(0, 3, 0.5, dtype=torch.int64)),
    "zeros of a negative size": lambda: torch.zeros(-1),
    "pixel_shuffle by too much": lambda: torch.pixel_shuffle(torch.ones(1, 1, 1), 3037000500),
    "a multi margin loss of too few labels": lambda: torch._C._nn.multi_margin_loss(
        torch.ones(5, 7), torch.zeros(3)
    ),
    "an RMS norm over other sizes": lambda: torch.rms_norm(torch.ones(2, 3, 5), (7,)),
    "an RMS norm over too many dimensions": lambda: torch.rms_norm(
        torch.ones(2, 3, 5), (7, 8, 9, 6)
    ),
    "isin of truth values": lambda: torch.isin(*[torch.ones(1, dtype=torch.bool)] * 2),
    "gradient of bytes": lambda: torch.gradient(torch.ones(2, dtype=torch.uint8)),
    "gelu_backward of doubles": lambda: torch.ops.aten.gelu_backward(
        torch.ones(2).double(), torch.ones(2)
    ),
    "heaviside of complex numbers": lambda: torch.heaviside(*[torch.ones(1) * 1j] * 2),
    "allocate less than nothing": lambda: torch.UntypedStorage(-1),
    "allocate more than there is": lambda: torch.UntypedStorage(1 << 62),
    "cat of nothing": lambda: torch.cat([]),
    "cat into a narrower dtype": lambda: torch.cat(
        [torch.empty(1)], out=torch.empty(1, dtype=torch.int32)
    ),
    "gather by floats": lambda: torch.ones(1).gather(0, torch.ones(1)),
    "scatter by floats": lambda: torch.ones(1).scatter(0, torch.ones(1), 1),
    "gather with a large index": lambda: torch.ones(1, 1).gather(0, torch.zeros(1, 2).long()),
    "scatter a number with a large index": lambda: (
        torch.ones(1, 1).scatter(0, torch.zeros(1, 2).long(), 1)
    ),
    "scatter with a large index": lambda: (
        torch.ones(1, 1).scatter(0, torch.zeros(1, 2).long(), torch.ones(3, 3))
    ),
    "a truth value less another": lambda: torch.tensor([True]) - torch.tensor([True]),
    "a number less a truth value": lambda: torch.ones(1) - torch.tensor([True]),
    "a plus sign before a truth value": lambda: +torch.tensor([True]),
    "imag of what is real": lambda: torch.ones(1).imag,
    "view_as_real of what is real": lambda: torch.view_as_real(torch.ones(1)),
    "view_as_complex of integers": lambda: torch.view_as_complex(torch.ones(2).int()),
    "view_as_complex of complex numbers": lambda: (
        torch.view_as_complex(torch.ones(2, dtype=torch.complex64))
    ),
    "relu of truth values": lambda: truths().relu(),
    "hardtanh of truth values": lambda: torch.nn.functional.hardtanh(truths()),
    "trapezoid of truth values": lambda: torch.trapezoid(truths()),
    "trapezoid of truth values at points": lambda: torch.trapezoid(truths(), truths()),
    "cov of truth values": lambda: torch.cov(torch.ones(1, dtype=torch.bool)),
    "var of integers": lambda: integers().var(),
    "var_mean of integers": lambda: torch.var_mean(integers()),
    "vector_norm of integers": lambda: torch.linalg.vector_norm(integers()),
    "norm of integers": lambda: torch.ops.aten.norm.ScalarOpt_dim(integers(), 2, [0]),
    "mean of integers": lambda: integers().mean(),
    "nanmean of integers": lambda: integers().nanmean(),
    "nanmean of integers into an output": lambda: torch.nanmean(integers(), out=torch.ones(())),
    "vander of halves": lambda: torch.linalg.vander(torch.ones(1).half()),
    "mm of a vector": lambda: torch.ones(1).mm(MATRIX),
    "mm by a vector": lambda: MATRIX.mm(torch.ones(1)),
    "mm of other sizes": lambda: MATRIX.mm(torch.ones(5, 7)),
    "addmm of a vector": lambda: torch.addmm(MATRIX, torch.ones(1), MATRIX),
    "addmm by a vector": lambda: torch.addmm(MATRIX, MATRIX, torch.ones(1)),
    "addmm of other sizes": lambda: torch.addmm(MATRIX, MATRIX, torch.ones(5, 7)),
    "pad of no such size": lambda: torch.nn.functional.pad(torch.ones(1), (1, 1), "circular"),
    "pin_memory": lambda: torch.empty(1, pin_memory=True),
    "complex numbers of integers": lambda: torch.complex(integers(), integers()),
    "numpy of a sparse tensor": lambda: torch.empty(1, layout=torch.sparse_coo).numpy(),
    "a size of a pool beyond an int": lambda: torch.max_pool2d(torch.ones(1, 1, 1, 1), 2**31),
    "a pool of volumes in a format of images": lambda: torch.max_pool3d(
        torch.ones(1, 2, 2, 2).to(memory_format=torch.channels_last), 1
    ),
    "degrees of complex numbers": lambda: torch.deg2rad(torch.ones(1, dtype=torch.complex64)),
    "attention of heads that do not divide those that ask": lambda: (
        torch.nn.functional.scaled_dot_product_attention(
            torch.ones(1, 5, 2, 2), *[torch.ones(1, 3, 2, 2)] * 2, enable_gqa=True
        )
    ),
    "fft of halves": lambda: torch.fft.fft(torch.ones(4).half()),
    "fft of brain floats on meta": lambda: torch.fft.fft(
        torch.ones(4, dtype=torch.bfloat16, device="meta")
    ),
    "fft of halves by MKL": lambda: torch.ops.aten._fft_r2c(torch.ones(4).half(), [0], 0, True),
    "rfft of complex numbers": lambda: torch.fft.rfft(torch.ones(4, dtype=torch.complex64)),
    "rfftn of complex numbers": lambda: torch.fft.rfftn(torch.ones(4, dtype=torch.complex64)),
    "stft of integers": lambda: torch.stft(
        torch.arange(16), 4, window=torch.ones(4), return_complex=True
    ),
    "istft of real numbers": lambda: torch.istft(torch.ones(3, 5), 4),
    "lu_unpack of other pivots": lambda: torch.lu_unpack(
        torch.eye(2), torch.tensor([1, 2, 2], dtype=torch.int32)
    ),
    "cond of no such norm": lambda: torch.linalg.cond(torch.eye(2), 3),
    "cond of a norm of no such name": lambda: torch.linalg.cond(torch.eye(2), "x"),
    "cond of a complex norm": lambda: torch.linalg.cond(torch.eye(2), 1j),
    "a matrix of integers": lambda: torch.linalg.det(torch.ones(2, 2).long()),
    "a matrix of halves": lambda: torch.linalg.inv(torch.eye(2).half()),
    "fft of real numbers": lambda: torch.ops.aten._fft_c2c(torch.ones(1), [0], 0, True),
    "fft of complex numbers as real ones": lambda: torch.ops.aten._fft_r2c(
        torch.ones(1, dtype=torch.complex64), [0], 0, True
    ),
    "gradients on meta of what a bag was not summed by": lambda: (
        torch.ops.aten._embedding_bag_per_sample_weights_backward(
            *[torch.ones(1, 1, device="meta")] * 2, *[torch.ones(1).long()] * 3, 1
        )
    ),
    "a fractional max pool of no window": lambda: torch.nn.FractionalMaxPool3d(0, 2),
    "fft of no signals": lambda: torch.fft.fft(torch.ones(0, 1)),
    "fft of too many dimensions": lambda: torch.fft.fftn(torch.ones((1,) * 8)),
    "complex numbers without a gradient": lambda: torch.ops.aten.slice_copy.Tensor(
        torch.ones(1, dtype=torch.complex64, requires_grad=True)
    ),
}


#: Questions that releases answer differently, each with yes or no.
class Exporting:
    """Another library's tensor, as DLPack has it."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor

    def __dlpack__(self, **options: object) -> object:
        return self.tensor.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.tensor.__dlpack_device__()


HABITS: dict[str, Callable[[], bool]] = {
    "tensors are made of what exports DLPack": lambda: takes(
        lambda: torch.tensor(Exporting(torch.ones(1)))
    ),
    "a tuple plus a Size is a Size": lambda: isinstance(
        operator.add((1,), torch.Size([1])), torch.Size
    ),
    "arange counts in int64 whatever its numbers are": lambda: (
        torch.arange(0, 2.5, dtype=torch.int64).numel() == 2
    ),
    "arange takes a step below 1 in int32": lambda: bool(
        torch.arange(0, 1, 0.5, dtype=torch.int32).numel()
    ),
    "arange takes a step without end": lambda: (
        not refused(lambda: torch.arange(0, 1, float("inf")))
    ),
    "quantization rounds after adding the zero point": lambda: (
        torch.quantize_per_tensor(torch.tensor([0.25]), 0.5, 1, torch.qint8).int_repr().item() == 2
    ),
    "what is too large for float8_e4m3fn becomes its largest": lambda: (
        torch.tensor(1e9, dtype=torch.float8_e4m3fn).item() == 448
    ),
    "a NaN of float8_e8m0fnu is finite": lambda: bool(
        torch.isfinite(torch.tensor(float("nan"), dtype=torch.float8_e8m0fnu))
    ),
    "a shape with a negative size is shown": lambda: (
        "shape [-2]" in refusal(lambda: torch.ones(1).view(-2))[1]
    ),
    "as_strided takes negative strides on meta": lambda: (
        not refused(lambda: torch.empty(1, device="meta").as_strided([1], [-1]))
    ),
    "as_strided looks at the offset before the storage": lambda: (
        refusal(lambda: torch.ones(1).as_strided([9], [1], -1))[1].endswith("offset -1")
    ),
    "as_strided counts bytes from the offset": lambda: (
        "overflowed" in refusal(lambda: torch.ones(9).as_strided([1], [1], -2))[1]
    ),
    "the double beside the largest integer is in range": lambda: (
        not refused(lambda: torch.zeros(1, dtype=torch.int64).fill_(2.0**63))
    ),
    "a conjugate view can be viewed in its own dtype": lambda: (
        not refused(
            lambda: torch.ops.aten.view.dtype(
                torch.ones(1, dtype=torch.complex64).conj(), torch.complex64
            )
        )
    ),
    "set_ looks whether a storage is large enough": lambda: refused(
        lambda: torch.empty(4).set_(torch.empty(1).untyped_storage(), 0, (4,))
    ),
    "unfold looks at a negative size itself": lambda: (
        "size is -1" in refusal(lambda: torch.empty(1).unfold(0, -1, 1))[1]
    ),
    "a shape with a negative size does not unflatten": lambda: (
        "unexpected" not in refusal(lambda: torch.empty(1).unflatten(0, [-2]))[1]
    ),
    "in-place views on meta assert their dimensions": lambda: (
        refusal(lambda: torch.empty(1, device="meta").unsqueeze_(9))[0] == "AssertionError"
    ),
    "a gradient edge owns its graph": lambda: (
        "ownership_token" in torch.autograd.graph.GradientEdge._fields
    ),
    "versions of several tensors are counted at once": lambda: (
        not refused(lambda: torch.autograd.graph.increment_version([torch.ones(1)]))
    ),
    "versions of several tensors are put back at once": lambda: (
        not refused(lambda: torch.autograd._unsafe_preserve_version_counter((torch.ones(1),)))
    ),
    "gather takes int32": lambda: (
        not refused(lambda: torch.ones(1).gather(0, torch.zeros(1, dtype=torch.int32)))
    ),
    "a scalar too large for a half becomes infinite": lambda: bool(set_item(torch.float16, 70000)),
    "sci_mode is forced before widths are measured": lambda: widths_without_sci_mode() == 1,
    "cumprod's gradient is scattered around zeros": lambda: version_of_cumprods_gradient() > 0,
    "the dtype of its gradient is told of any tensor": lambda: (
        torch.ones(1, requires_grad=True).neg().grad_dtype is torch.float32
    ),
    "einsum multiplies in the order of its result": lambda: (
        torch.einsum("ab,bc->ca", torch.ones(2, 3), torch.ones(3, 5)).is_contiguous()
    ),
    "a block's device is the default": lambda: is_context_the_default(),
    "no default device is none": lambda: refused(default_device_taken_back),
    "broadcast_shapes speaks as operators do": lambda: (
        "Mismatching argument" in refusal(lambda: torch.broadcast_shapes((2,), (3,)))[1]
    ),
    "a float is cut before its range is looked at": lambda: (
        torch.tensor(127.5, dtype=torch.int8).item() == 127
    ),
    "a bool of NumPy is a number": lambda: not refused(lambda: torch.tensor(np.bool_(True))),
    "functions of torch itself take no names": lambda: refused(lambda: torch.is_tensor(obj=1)),
    "a check of a tensor is told of that of all elements": lambda: (
        "_check_tensor_all" in refusal(lambda: torch._check(torch.ones(1)))[1]
    ),
    "a check takes a text": lambda: refusal(lambda: torch._check(False, "no"))[1] == "no",
    "a size that is checked may have a bound": lambda: (
        "max" in signature(torch._check_is_size).parameters
    ),
    "a check of a size will be removed": lambda: is_deprecated(lambda: torch._check_is_size(1)),
    "dimensions that are expanded have no order": lambda: (
        not refused(lambda: torch.ones(3, 2).dim_order(ambiguity_check=True))
        and refused(lambda: torch.ones(1, 2).expand(3, 2).dim_order(ambiguity_check=True))
    ),
    "limits of dtypes have a hash": lambda: bool(hash(torch.iinfo(torch.int8))),
    "linspace computes halves as floats": lambda: (
        bool(torch.linspace(-65504, 65504, 3, dtype=torch.float16).isfinite().all())
    ),
    "no place is in a shape of nothing": lambda: (
        refusal(lambda: torch.unravel_index(torch.tensor([0]), (0,)))[0] == "ValueError"
    ),
    "what DLPack cannot tell is a BufferError": lambda: (
        refusal(lambda: torch.ones(1, requires_grad=True).__dlpack__())[0] == "BufferError"
    ),
    "DLPack tells the stride of one element": lambda: (
        torch.from_dlpack(torch.ones(2, 3, 1)[:1].transpose(0, 1)).stride() == (1, 3, 1)
    ),
    "DLPack leaves strides that are contiguous": lambda: (
        torch.from_dlpack(torch.ones(1, 3)).stride() == (3, 1)
    ),
    "DLPack has floats of eight bits": lambda: (
        not refused(lambda: torch.zeros(1, dtype=torch.float8_e5m2).__dlpack__())
    ),
    "broadcast_shapes formats what is no shape": lambda: (
        not refusal(lambda: torch.broadcast_shapes((2,), 1.5))[1].startswith("(")
    ),
    "what is no tuple of tensors is told so": lambda: (
        refusal(lambda: torch.autograd._unsafe_preserve_version_counter(None))[1] != ""
    ),
    "complex functions are formulas of real parts": lambda: bool(
        torch.exp(torch.tensor(complex(math.inf, 0))).imag.isnan()
    ),
    "elu of zero is an exponential less one": lambda: (
        not torch.nn.functional.elu(torch.tensor([-0.0])).signbit().item()
    ),
    "fmax answers the first of two zeros": lambda: (
        not torch.fmax(torch.zeros(1), -torch.zeros(1)).signbit().item()
    ),
    "tensors are printed by fmt": lambda: "100000 *" in printed(torch.full((1, 1), 123456.5)),
    "a functional tensor is printed as its value": lambda: (
        not refused(lambda: torch.func.functionalize(lambda t: len(printed(t)))(torch.ones(1, 1)))
    ),
    "refusals of storages reach Python": lambda: (
        refusal(lambda: torch.UntypedStorage(["a"]))[0] != "SystemError"
    ),
    "view_as_complex asks no stride of one element": lambda: (
        not refused(lambda: torch.view_as_complex(torch.ones(2).as_strided((1, 2), (3, 1))))
    ),
    "cov takes the correction from the number of observations": lambda: (
        "sub.Scalar" not in operators_of(lambda: torch.cov(torch.ones(3)))
    ),
    "where there is no infinity nothing is infinite": lambda: (
        not torch.isinf(torch.ones(1).to(torch.float8_e8m0fnu)).item()
    ),
}


def extract() -> dict[str, Any]:
    """The section ``values.json``."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {
            "cpp_names": {short(dtype): cpp_name(dtype) for dtype in dtypes()},
            "c_types": {short(dtype): c_type(dtype) for dtype in dtypes()},
            "scalar_tensor_types": {
                short(dtype): c_type(dtype, torch.scalar_tensor, (1e300,)) for dtype in dtypes()
            },
            "type_names": {short(dtype): type_name(dtype) for dtype in dtypes()},
            "refusals": {name: refusals(call) for name, call in KERNELS.items()},
            **promotions(),
            "new_storage_dtypes": sorted(map(short, torch.storage._new_dtypes())),
            "storage_types": sorted(map(short, torch.storage._dtype_to_storage_type_map())),
            "words": {name: words(call) for name, call in WORDS.items()},
            "habits": {name: answer(ask) for name, ask in HABITS.items()},
            "finfo": limits(torch.finfo, ("bits", "eps", "max", "min", "tiny", "resolution")),
            "iinfo": limits(torch.iinfo, ("bits", "max", "min")),
        }


def operators_of(call: Callable[[], object]) -> list[str]:
    """The overloads that a call comes to below autograd, as ``sub.Scalar``."""
    seen: list[str] = []

    class Watching(TorchDispatchMode):
        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            seen.append(str(func).removeprefix("aten."))
            return func(*args, **(kwargs or {}))

    with Watching():
        call()
    return seen


def short(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def is_f32(dtype: torch.dtype) -> bool:
    return dtype is torch.float32


def other_than(dtype: torch.dtype) -> torch.dtype:
    return torch.float64 if is_f32(dtype) else torch.float32


def made(dtype: torch.dtype, count: int = 1) -> torch.Tensor:
    return torch.from_numpy(np.zeros(count * dtype.itemsize, np.uint8)).view(dtype)


def set_default(dtype: torch.dtype) -> None:
    before = torch.get_default_dtype()
    try:
        torch.set_default_dtype(dtype)
    finally:
        torch.set_default_dtype(before)


def set_item(dtype: torch.dtype, number: object) -> Any:
    """Assign to a part of a tensor, up to the first operator that is called."""
    return bound(torch, torch.empty(2, dtype=dtype).__setitem__, 0, number)


def version_of_cumprods_gradient() -> int:
    leaf = torch.zeros(2, requires_grad=True)
    leaf.cumprod(0).sum().backward()
    assert leaf.grad is not None
    return int(leaf.grad._version)


def cpp_name(dtype: torch.dtype) -> str:
    """The name in ``c10::ScalarType``, which messages of kernels show."""
    _, message = refusal(lambda: torch.ones(1, dtype=other_than(dtype)).dot(made(dtype)))
    return message.rpartition(" ")[2]


def c_type(
    dtype: torch.dtype,
    make: Callable[..., object] = lambda number, dtype: torch.full((2,), number, dtype=dtype),
    numbers: tuple[complex, ...] = (1j, 1e300 + 0j),
) -> str | None:
    """The C++ type of its elements, as messages show it; None where no number is too large."""
    for number in numbers:
        try:
            make(number, dtype=dtype)
        except RuntimeError as error:
            found = re.search("converted to type (.*) without overflow", str(error))
            return found and found[1]
    return None


def type_name(dtype: torch.dtype) -> str:
    """What ``caffe2::TypeMeta`` calls the C++ type of its elements."""
    one = torch.ones(1, dtype=other_than(dtype))
    _, message = refusal(lambda: torch.lerp(one, made(dtype), 0.5))
    return message.rpartition("but got dtype ")[2]


def answer(ask: Callable[[], bool]) -> bool:
    """Yes or no; to raise is a no."""
    try:
        return ask()
    except (AttributeError, RuntimeError, TypeError):
        return False


def refusal(call: Callable[[], object]) -> tuple[str, str]:
    """Type and message of what a call raises."""
    try:
        call()
    except Exception as error:
        return type(error).__name__, str(error)
    raise ExtractionError("a call that torch used to refuse was taken; look at values.py")


def printed(tensor: torch.Tensor) -> str:
    """A matrix as C++ prints it."""
    try:
        torch.ops.aten.meshgrid([tensor])
    except RuntimeError as error:
        if str(error).startswith("torch.meshgrid"):
            return str(error)
        raise
    raise ExtractionError("meshgrid took a matrix; look at values.py")


def words(call: Callable[[], object]) -> list[str] | None:
    """The same; None where the call is taken, or ends the process."""
    return list(refusal(call)) if refused(call) else None


def survived(call: Callable[[], object]) -> object:
    """What a call does that may end the process, here too if a child survives it."""
    child = os.fork()
    if not child:
        with suppress(Exception):
            call()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return call() if status == 0 else None


def is_deprecated(call: Callable[[], object]) -> bool:
    """Whether a call warns that it will be gone."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return bool(caught)


def refused(call: Callable[[], object]) -> bool:
    """Whether a call raises."""
    try:
        call()
    except Exception:
        return True
    return False


def refusals(call: Callable[[torch.dtype], object]) -> list[dict[str, Any]]:
    """Each error that a call raises, once, and the dtypes for which it does.

    ``{}`` in a message stands for the C++ name of the dtype, ``{dtype}`` for Python's.
    """
    found: dict[tuple[str, str], list[str]] = {}
    for dtype in dtypes():
        try:
            call(dtype)
        except Exception as error:
            message = str(error).partition("\n")[0]
            if "Could not run" in message:
                continue  # the dispatcher's own words, which follow from the registrations
            message = message.replace(str(dtype), "{dtype}").replace(cpp_name(dtype), "{}")
            found.setdefault((type(error).__name__, message), []).append(short(dtype))
    return [
        {"error": error, "message": message, "dtypes": names}
        for (error, message), names in found.items()
    ]


def promotions() -> dict[str, Any]:
    """``promote_types`` of every two dtypes, by their places in ``cpp_names``.

    A negative number -n stands for the n-th refusal, whose ``{0}`` and ``{1}`` are the two.
    """
    found: list[str] = []
    places = {dtype: place for place, dtype in enumerate(dtypes())}
    table = [[promoted(one, two, places, found) for two in places] for one in places]
    return {"promotions": table, "promotion_refusals": found}


def promoted(
    one: torch.dtype, two: torch.dtype, places: dict[torch.dtype, int], found: list[str]
) -> int:
    try:
        return places[torch.promote_types(one, two)]
    except RuntimeError as error:
        names = iter((rf"\b{cpp_name(one)}\b", rf"\b{cpp_name(two)}\b"))
        message = str(error)
        for number, name in enumerate(names):
            message = re.sub(name, f"{{{number}}}", message, count=1)
        if message not in found:
            found.append(message)
        return -1 - found.index(message)


def limits(ask: Callable[[torch.dtype], Any], names: tuple[str, ...]) -> dict[str, Any]:
    """What ``finfo`` or ``iinfo`` say of each dtype that they take."""
    found: dict[str, Any] = {}
    for dtype in dtypes():
        try:
            info = ask(dtype)
        except (TypeError, RuntimeError):
            continue
        answers = {name: answer_or_error(getattr, info, name) for name in (*names, "dtype")}
        found[short(dtype)] = {**answers, "repr": answer_or_error(repr, info)}
    return found


def answer_or_error(ask: Callable[..., Any], *arguments: Any) -> Any:
    """What a function answers; type and message of what it raises instead."""
    try:
        return ask(*arguments)
    except Exception as error:
        return [type(error).__name__, str(error)]


def is_context_the_default() -> bool:
    """Whether a device that is a context counts as the default device."""
    with torch.device("meta"):
        return bool(torch.get_default_device() == torch.device("meta"))


def default_device_taken_back() -> torch.device:
    """The default device after one was set and taken back."""
    torch.set_default_device("cpu")
    torch.set_default_device(None)
    return torch.get_default_device()


def widths_without_sci_mode() -> int:
    """How many widths the columns have where numbers that ask for scientific notation get none."""
    torch.set_printoptions(sci_mode=False)
    try:
        shown = repr(torch.tensor([1e-6, 1e6]))
    finally:
        torch.set_printoptions(profile="default")
    return len({len(column) for column in shown[len("tensor([") : -len("])")].split(", ")})
