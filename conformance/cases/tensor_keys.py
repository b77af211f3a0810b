"""Area ``tensor-keys``: the keyset of a tensor, and computeDispatchKey with its errors.

Every dtype, layout and device that a tensor can have without an accelerator, with and without a
gradient, in and out of inference mode, and every kind of tensor that has a key of its own.

Warnings are not compared here: which of them a kernel gives on its way to a tensor is a matter of
the kernels, and this area is about keys.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any, Final

from hypothesis import strategies as st

from conformance.area import Area, Text
from conformance.cases.pools import C, wrong_calls
from mindtorch_v2.profile import Profile

DEVICES: Final = ("cpu", "meta")

WITHOUT_SPARSE: Final = ("fpga", "vulkan", "opengl", "opencl", "ideep", "maia")
"""Devices for which computeDispatchKey itself refuses a layout, and torch loads nothing."""
WITHOUT_MKLDNN: Final = ("meta", "xla", "hip", "ve", "lazy", "mps", "ipu", *WITHOUT_SPARSE)

NEW: Final = (
    "xp.empty((2, 2))",
    "xp.ones(2)",
    "xp.ones(2, 2)",
    "xp.zeros((2, 3), dtype=xp.int64)",
    "xp.empty((2, 2), dtype=xp.complex64)",
    "xp.empty((2, 2), dtype=xp.complex128, requires_grad=True)",
    "xp.empty((2, 2), dtype=xp.bool)",
    "xp.empty((2, 2), dtype=xp.float64, requires_grad=True)",
    "xp.empty((2, 2), device='meta')",
    "xp.empty((2, 2), dtype=xp.complex64, device='meta')",
    "xp.tensor(1)",
    "xp.tensor([1.0, 2.0], requires_grad=True)",
    "xp.tensor([[1, 2]])",
    "xp._efficientzerotensor(2)",
    "xp._efficientzerotensor(2, dtype=xp.complex64)",
    "xp._efficientzerotensor(2, device='meta')",
    "xp.quantize_per_tensor(xp.ones(2), 0.1, 0, xp.quint8)",
    "xp.quantize_per_tensor(xp.ones(2), 0.1, 0, xp.qint8)",
    "xp._empty_affine_quantized((2,), scale=1.0, zero_point=0, dtype=xp.qint32)",
    "xp.zeros((2, 2), layout=xp.sparse_coo)",
    "xp.zeros((2, 2), layout=xp._mkldnn)",
    "xp.nested.nested_tensor([xp.ones(2)])",
    "xp.nested.nested_tensor([xp.ones(2)], requires_grad=True)",
)

NEGATED: Final = (
    "xp.uint8",
    "xp.int8",
    "xp.int16",
    "xp.int32",
    "xp.int64",
    "xp.float16",
    "xp.bfloat16",
    "xp.float32",
    "xp.float64",
    "xp.complex64",
    "xp.complex128",
)
"""The dtypes that can be negated and conjugated on the CPU of every release."""

STEPS: Final = (
    ".detach()",
    ".conj()",
    ".conj().conj()",
    ".resolve_conj()",
    ".resolve_neg()",
    ".clone()",
    ".real",
    ".imag",
    ".conj().imag",
    ".requires_grad_(False)",
)
"""What can be done with any strided tensor and makes a tensor again."""

CONVERSIONS: Final = (
    "xp.ones(2, 2).to_sparse()",
    "xp.ones(2, 2).to_sparse().to_dense()",
    "xp.ones(2, 2).to_mkldnn()",
    "xp.ones(2, 2).to_mkldnn().to_dense()",
    "xp.ones(2, 2).to_sparse_csr()",
    "xp.ones(2, 2).to_sparse_csc()",
    "xp.ones(2, 2).to_sparse().detach()",
    "xp.ones(2, 2, dtype=xp.complex64).to_sparse().conj()",
    "xp.ones(2, 2).to(xp.float64)",
    "xp.ones(2, 2).to('meta')",
    "xp.ones(2, 2).requires_grad_()",
    "xp.ones(2, 2).requires_grad_().to_sparse()",
    "xp.ones(2, 2).requires_grad_().detach().requires_grad_()",
    "xp.ones(2, 2, dtype=xp.int64).requires_grad_()",
    "xp.ones(2, 2, dtype=xp.int64).to_mkldnn()",
    "xp.ones(2, 2, dtype=xp.complex64).to_mkldnn()",
    "xp.quantize_per_tensor(xp.ones(2), 0.1, 0, xp.quint8).dequantize()",
    "xp.ones(2, 2).t()",
    "xp._neg_view(xp.ones(2, 2)).t()",
    "xp.ones(2, layout=xp.sparse_coo)",
    "xp.empty_like(xp.ones(2))",
    "xp.zeros_like(xp.ones(2, 2).to_sparse())",
    "xp.ones_like(xp.ones(2), dtype=xp.int64)",
    "xp.rand(2, 2, dtype=xp.float64, requires_grad=True)",
    "xp.randn(2, device='meta')",
    "xp.full((2,), 1)",
    "xp.full((2,), 1.0, device='meta')",
    "xp.arange(3)",
    "xp.arange(0.0, 3.0)",
    "xp.eye(2)",
    "xp.sparse_coo_tensor([[0], [1]], [1.0], (2, 2))",
    "xp.sparse_coo_tensor([[0], [1]], [1.0], (2, 2), device='meta', requires_grad=True)",
    "xp.sparse_csr_tensor([0, 1, 2], [0, 1], [1.0, 2.0], (2, 2))",
    "xp.sparse_csc_tensor([0, 1, 2], [0, 1], [1.0, 2.0], (2, 2), dtype=xp.float64)",
    "xp.ones(2, 2).to(device='meta', dtype=xp.float64)",
    "xp.ones(2, 2).to('cpu', xp.float16)",
    "xp.ones(2, 2).double()",
    "xp.ones(2, 2).half()",
    "xp.ones(2, 2).long()",
    "xp.ones(2, 2).bool()",
    "xp.ones(2, 2).cpu()",
    "xp.ones(2, 2, requires_grad=True).data",
    "xp.ones(2, 2).T",
    "xp.ones(2, 2, dtype=xp.complex64).mH",
    "xp.ones(2, 2, dtype=xp.complex64).H",
    "xp.conj(xp.ones(2, dtype=xp.complex64))",
    "xp.imag(xp.ones(2, dtype=xp.complex64).conj())",
    "xp.resolve_conj(xp.ones(2, dtype=xp.complex64).conj())",
    "xp.detach(xp.clone(xp.ones(2)))",
    "xp.empty_like(xp.ones(2), device='meta', requires_grad=True)",
)

FLAGS: Final = [
    "dtype",
    "is_meta",
    "is_sparse",
    "is_quantized",
    "is_mkldnn",
    "is_nested",
    "is_conj()",
    "is_neg()",
    "is_inference()",
    "requires_grad",
    "is_leaf",
    "dim()",
]

INFERENCE: Final = (
    ("xp.inference_mode()", "made = {new}", "made"),
    ("xp.inference_mode(False)", "made = {new}", "made"),
    ("xp.inference_mode()", "made = {new}", "made.detach()"),
    ("xp.inference_mode()", "made = {new}", "made.clone()"),
    ("xp.inference_mode()", "made = {new}.detach().clone()", "made.requires_grad_()"),
)
"""Made inside a block, looked at (or used) after it."""


def texts(profile: Profile) -> Iterator[Text]:
    yield from _options(profile.tensors)
    yield from _refused_options(profile.tensors)
    yield from _kinds()
    yield from _inference()
    yield from _wrong_calls()


def keys_of(tensor: str) -> str:
    return f"{C}._dispatch_keys({tensor})"


def _dtypes(tensors: dict[str, Any]) -> list[str]:
    return [f"xp.{dtype['aliases'][0]}" for dtype in tensors["dtypes"]]


def _options(tensors: dict[str, Any]) -> Iterator[Text]:
    """dtype × layout × device × requires_grad, on a shape that every layout takes."""
    layouts = dict.fromkeys(tensors["layouts"])
    for dtype, layout, device in product(_dtypes(tensors), layouts, DEVICES):
        for extra in ("", ", requires_grad=True"):
            made = f"xp.empty((2, 2), dtype={dtype}, layout=xp.{layout}, device='{device}'{extra})"
            yield f"{layout} on {device}", keys_of(made)
            yield f"{layout} on {device}", f"{C}._dispatch_key_set({made})"
            yield f"{layout} on {device}", f"{C}._dispatch_isTensorSubclassLike({made})"


def _refused_options(tensors: dict[str, Any]) -> Iterator[Text]:
    """What computeDispatchKey refuses before any kernel is looked for."""
    for layout in tensors["layouts"]:
        devices: tuple[str, ...] = WITHOUT_MKLDNN if layout == "_mkldnn" else WITHOUT_SPARSE
        if layout in ("strided", "jagged"):
            devices = ("opengl", "opencl", "ideep")
        for device, dtype in product(devices, ("xp.float32", "xp.int64", "xp.quint8")):
            made = f"xp.empty((2, 2), dtype={dtype}, layout=xp.{layout}, device='{device}')"
            yield "computeDispatchKey", keys_of(made)
    for layout in ("sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc"):
        for device in DEVICES:
            yield "empty", keys_of(f"xp.empty(3, layout=xp.{layout}, device='{device}')")


def _kinds() -> Iterator[Text]:
    for new in NEW:
        yield "kinds", keys_of(new)
        if any(word in new for word in ("nested", "layout", "quantize", "_efficient", "bool")):
            continue  # no kernel negates or conjugates these
        for negated in (new, f"xp._neg_view({new})"):
            yield "kinds", keys_of(negated)
            for step in STEPS:
                yield "kinds", keys_of(negated + step)
                yield "kinds", f"({negated}{step}).is_conj(), ({negated}{step}).is_neg()"
    for made in CONVERSIONS:
        yield "conversions", keys_of(made)
        if "requires_grad_()" not in made and "to_mkldnn" not in made:
            yield "conversions", f"t = {made}\n[{', '.join(f't.{name}' for name in FLAGS)}]"


def _inference() -> Iterator[Text]:
    for new, (mode, make, use) in product((*NEW, *CONVERSIONS), INFERENCE):
        if "nested" in new or "refuse" in new:
            continue
        inside = make.format(new=new)
        yield "inference", f"with {mode}:\n    {inside}\n{keys_of(use)}, made.is_inference()"
        outside = f"made = {new}\nwith {mode}:\n    used = {use}\n{keys_of('used')}"
        yield "inference", f"{outside}, used.is_inference()"


def _wrong_calls() -> Iterator[Text]:
    for name in ("_dispatch_keys", "_dispatch_key_set", "_dispatch_isTensorSubclassLike"):
        for text in wrong_calls(f"{C}.{name}", ["xp.empty(0, device='meta')"]):
            if "keyword" not in text:
                yield name, text


def strategy(profile: Profile) -> st.SearchStrategy[Text]:
    """A chain of steps on a new tensor, in and out of inference mode."""
    option = st.tuples(st.sampled_from(NEGATED), st.sampled_from(DEVICES), st.booleans())

    @st.composite
    def chains(draw: st.DrawFn) -> Text:
        dtype, device, grad = draw(option)
        made = f"xp.empty((2, 2), dtype={dtype}, device='{device}', requires_grad={grad})"
        lines = [f"t = {made}"]
        for _ in range(draw(st.integers(0, 5))):
            step = draw(st.sampled_from([*STEPS, "negate"]))
            line = "t = xp._neg_view(t)" if step == "negate" else f"t = t{step}"
            block = draw(st.sampled_from(["", "with xp.inference_mode(): ", ""]))
            lines.append(block + line)
        lines.append(f"{keys_of('t')}, t.is_inference(), t.requires_grad")
        return "chains", "\n".join(lines)

    return chains()


AREA: Final = Area("tensor-keys", texts, strategy, warnings=False)
