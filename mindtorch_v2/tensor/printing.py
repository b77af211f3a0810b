"""Tensors as text, to the character as torch prints them.

Mirrors ``torch/_tensor_str.py``: one column width for all elements, found by formatting those
that are shown; scientific notation where magnitudes differ much; ``...`` for the middle of what
is large.  Of tensors that functorch wraps, those of functionalization; forward mode is left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Final

from mindtorch_v2.dispatch import mode_stack, tls
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.keyset import functionality_bit
from mindtorch_v2.numpy_later import np
from mindtorch_v2.tensor import layouts, quantized, sparse
from mindtorch_v2.tensor.autograd_meta import UNRECORDED, ViewInfo
from mindtorch_v2.tensor.copying import value_array
from mindtorch_v2.tensor.default_dtype import get_default_dtype
from mindtorch_v2.tensor.dtype import (
    DTYPES,
    REAL_OF_COMPLEX,
    DType,
    int64,
    sparse_compressed,
    sparse_coo,
    strided,
)
from mindtorch_v2.tensor.elements import Array, elements_of
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.support import HABITS, check_dtype

if TYPE_CHECKING:
    from mindtorch_v2.functionalize.wrapper import FunctionalTensorWrapper
    from mindtorch_v2.tensor.tensor import Tensor

_TRANSFORMS: Final = functionality_bit(
    DispatchKey.FuncTorchDynamicLayerFrontMode
) | functionality_bit(DispatchKey.FuncTorchDynamicLayerBackMode)


# --- options ------------------------------------------------------------------------------------


@dataclass
class PrinterOptions:
    """How tensors are printed."""

    precision: Any = 4
    threshold: Any = 1000
    edgeitems: Any = 3
    linewidth: Any = 80
    sci_mode: Any = None


PRINT_OPTS: Final = PrinterOptions()

_PROFILES: Final[dict[str, PrinterOptions]] = {
    "default": PrinterOptions(),
    "short": PrinterOptions(precision=2, edgeitems=2),
    "full": PrinterOptions(threshold=math.inf),
}


def set_printoptions(
    precision: Any = None,
    threshold: Any = None,
    edgeitems: Any = None,
    linewidth: Any = None,
    profile: Any = None,
    sci_mode: Any = None,
) -> None:
    """Change the options that are given, after those of a profile; ``sci_mode`` always."""
    chosen = _PROFILES.get(profile)
    given = {
        "precision": precision,
        "threshold": threshold,
        "edgeitems": edgeitems,
        "linewidth": linewidth,
    }
    for name, value in given.items():
        if value is None and chosen is not None:
            value = getattr(chosen, name)
        if value is not None:
            setattr(PRINT_OPTS, name, value)
    PRINT_OPTS.sci_mode = sci_mode


def get_printoptions() -> dict[str, Any]:
    return asdict(PRINT_OPTS)


@contextmanager
def printoptions(**kwargs: Any) -> Iterator[None]:
    """Options as :func:`set_printoptions` takes them, for a block."""
    before = get_printoptions()
    set_printoptions(**kwargs)
    try:
        yield
    finally:
        for field in fields(PRINT_OPTS):
            setattr(PRINT_OPTS, field.name, before[field.name])


_PRINTED_AS_BYTES: Final = DTYPES.get("float4_e2m1fn_x2")
_COMPARED_BY_BITS: Final = DTYPES.get("float8_e8m0fnu")


# --- one element --------------------------------------------------------------------------------


class _Column:
    """How each of some elements is written, all as wide as the widest of them."""

    def __init__(self, values: Array, dtype: DType) -> None:
        self.floating = dtype.is_floating_point
        self.int_mode, self.sci_mode, self.width = True, False, 1
        if self.floating:
            self._measure_floats(values.reshape(-1), dtype)
        else:
            numbers = values.reshape(-1).tolist()
            self.width = max([1, *(len(f"{number}") for number in numbers)])

    def _measure_floats(self, values: Array, dtype: DType) -> None:
        zero = elements_of(dtype)
        nothing = zero.decode(zero.encode(np.zeros((), np.float32)))
        finite = np.isfinite(values)
        if dtype is _COMPARED_BY_BITS and HABITS["a NaN of float8_e8m0fnu is finite"]:
            finite = np.ones_like(finite)
        shown = values[finite & (values != nothing)]
        if not shown.size:
            return
        self.int_mode = bool((shown == np.ceil(shown)).all())
        self.sci_mode = self._wants_sci_mode(np.abs(shown).astype(np.float64))
        if not HABITS["sci_mode is forced before widths are measured"]:
            self._measure(shown)
        if PRINT_OPTS.sci_mode is not None:
            self.sci_mode = PRINT_OPTS.sci_mode
        if HABITS["sci_mode is forced before widths are measured"]:
            self._measure(shown)

    def _wants_sci_mode(self, magnitudes: Array) -> bool:
        lowest, highest = magnitudes.min(), magnitudes.max()
        with np.errstate(all="ignore"):
            wide = highest / lowest > 1000.0
        return bool(wide or highest > 1.0e8 or lowest < 1.0e-4)

    def _measure(self, shown: Array) -> None:
        if self.sci_mode:
            spec, more = f".{PRINT_OPTS.precision}e", 0
        elif self.int_mode:
            spec, more = ".0f", 1
        else:
            spec, more = f".{PRINT_OPTS.precision}f", 0
        texts = (format(number, spec) for number in shown.tolist())
        self.width = max([1, *(len(text) + more for text in texts)])

    def format(self, value: Any) -> str:
        return self._text(value).rjust(self.width)

    def _text(self, value: Any) -> str:
        if not self.floating:
            return f"{value}"
        if self.sci_mode:
            return f"{value:{self.width}.{PRINT_OPTS.precision}e}"
        if not self.int_mode:
            return f"{value:.{PRINT_OPTS.precision}f}"
        return f"{value:.0f}" + ("." if math.isfinite(value) else "")


class _ComplexColumn:
    """Real and imaginary parts, each as wide as its own widest."""

    def __init__(self, values: Array, part: DType) -> None:
        self.real, self.imag = _Column(values.real, part), _Column(values.imag, part)
        self.width = self.real.width + self.imag.width + 1

    def format(self, value: complex) -> str:
        real = self.real.format(value.real)
        imag = (self.imag.format(value.imag) + "j").lstrip()
        return real + imag if imag[0] in "+-" else f"{real}+{imag}"


# --- an array of them ---------------------------------------------------------------------------


def _summarised(values: Array) -> Array:
    """The elements at the edges, which alone are shown of what is large."""
    if values.ndim == 0:
        return values
    edge = PRINT_OPTS.edgeitems
    if values.ndim == 1:
        if values.shape[0] > 2 * edge:
            return np.concatenate([values[:edge], values[-edge:]])
        return values
    if not edge:
        return values[:0]
    count = values.shape[0]
    shown = [*range(edge), *range(count - edge, count)] if count > 2 * edge else range(count)
    if not shown:
        raise RuntimeError("stack expects a non-empty TensorList")
    return np.stack([_summarised(values[row]) for row in shown])


def _array_str(
    values: Array, indent: int, summarize: bool, column: _Column | _ComplexColumn
) -> str:
    if values.ndim == 0:
        return column.format(values.item())
    if values.ndim == 1:
        return _vector_str(values, indent, summarize, column)
    edge = PRINT_OPTS.edgeitems
    count = values.shape[0]
    if summarize and count > 2 * edge:
        places = [*range(edge), None, *range(count - edge, count)]
    else:
        places = [*range(count)]
    parts = [
        "..." if place is None else _array_str(values[place], indent + 1, summarize, column)
        for place in places
    ]
    between = "," + "\n" * (values.ndim - 1) + " " * (indent + 1)
    return f"[{between.join(parts)}]"


def _vector_str(
    values: Array, indent: int, summarize: bool, column: _Column | _ComplexColumn
) -> str:
    per_line = max(1, math.floor((PRINT_OPTS.linewidth - indent) / (column.width + 2)))
    edge = PRINT_OPTS.edgeitems

    def texts(part: Array) -> list[str]:
        return [column.format(value) for value in part.tolist()]

    if summarize and not edge:
        words = ["..."]
    elif summarize and values.shape[0] > 2 * edge:
        words = [*texts(values[:edge]), " ...", *texts(values[-edge:])]
    else:
        words = texts(values)
    lines = [", ".join(words[start : start + per_line]) for start in range(0, len(words), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def contents(tensor: Tensor, indent: int) -> str:
    """The elements between brackets."""
    if numel(tensor._sizes) == 0:
        return "[]"
    summarize = numel(tensor._sizes) > PRINT_OPTS.threshold
    dtype, values = tensor.dtype, value_array(tensor)
    if dtype is not _PRINTED_AS_BYTES or not tensor._sizes:
        check_dtype("item", dtype)
    measured = _summarised(values) if summarize else values
    column: _Column | _ComplexColumn
    if dtype.is_complex:
        column = _ComplexColumn(measured, REAL_OF_COMPLEX[dtype])
    else:
        column = _Column(measured, dtype)
    return _array_str(values, indent, summarize, column)


# --- the whole ----------------------------------------------------------------------------------


def _add_suffixes(text: str, suffixes: list[str], indent: int, force_newline: bool) -> str:
    """``text``, and each suffix on the same line if it fits there."""
    parts = [text]
    last_line = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if force_newline or last_line + len(suffix) + 2 > PRINT_OPTS.linewidth:
            parts.append(",\n" + " " * indent + suffix)
            last_line, force_newline = indent + len(suffix), False
        else:
            parts.append(", " + suffix)
            last_line += len(suffix) + 2
    return "".join(parts) + ")"


def _has_default_dtype(dtype: DType) -> bool:
    double = get_default_dtype() is DTYPES["float64"]
    complex_dtype = DTYPES["complex128"] if double else DTYPES["complex64"]
    return dtype in (get_default_dtype(), complex_dtype, int64, DTYPES["bool"])


def _size(tensor: Tensor) -> str:
    return f"size={tuple(tensor.shape)}"


def _describe(tensor: Tensor) -> Iterator[str]:
    """What the elements of a tensor do not show."""
    if tensor._device.type != "cpu":
        yield f"device='{tensor._device}'"
    if _is_sparse(tensor):
        yield _size(tensor)
        if not tensor.is_meta:
            yield f"nnz={sparse.count_stored(tensor)}"
        if not _has_default_dtype(tensor._dtype):
            yield f"dtype={tensor._dtype}"
    elif isinstance(tensor._content, quantized.Quantizer):
        quantizer = tensor._content
        yield _size(tensor)
        yield f"dtype={tensor._dtype}"
        yield f"quantization_scheme=torch.{quantizer.scheme}"
        yield f"scale={quantizer.scale}"
        yield f"zero_point={quantizer.zero_point}"
    elif not tensor.is_nested and tensor._functional is None:
        yield from _describe_dense(tensor)
    if tensor._layout is not strided:
        yield f"layout={tensor._layout}"
    history = _history(tensor)
    if history is not None:
        yield f"grad_fn=<{history}>"
    elif tensor.requires_grad:
        yield "requires_grad=True"


def _describe_dense(tensor: Tensor) -> Iterator[str]:
    shows_dtype = _has_default_dtype(tensor._dtype)
    if tensor.is_meta:
        yield _size(tensor)
        shows_dtype = tensor._dtype is get_default_dtype()
    elif numel(tensor._sizes) == 0:
        if len(tensor._sizes) != 1:
            yield _size(tensor)
        shows_dtype = tensor._dtype is get_default_dtype()
    elif not PRINT_OPTS.edgeitems:
        yield _size(tensor)
    if not shows_dtype:
        yield f"dtype={tensor._dtype}"


def _elements(tensor: Tensor, indent: int) -> str:
    if _is_sparse(tensor):
        return _sparse(tensor, indent)
    if isinstance(tensor._content, quantized.Quantizer):
        return contents(tensor._fresh(dtype=DTYPES["float32"]), indent)
    if tensor.is_nested:
        return _nested(tensor)
    if tensor._functional is not None:
        return repr(tensor._functional.value)
    if tensor.is_meta:
        return "..."
    return contents(layouts.dense(tensor), indent) if numel(tensor._sizes) else "[]"


def _is_sparse(tensor: Tensor) -> bool:
    return tensor._layout is sparse_coo or tensor._layout in sparse_compressed


def _parts_str(parts: dict[str, Tensor], meta: bool, indent: int) -> str:
    """The tensors that a sparse one consists of, by what they are called."""
    texts = []
    for name, part in parts.items():
        prefix = f"{name}=tensor("
        text = "..." if meta else contents(part, indent + len(prefix))
        if meta or numel(part._sizes) == 0:
            text += f", {_size(part)}"
        texts.append(f"{prefix}{text})")
    return (",\n" + " " * indent).join(texts)


def _sparse(tensor: Tensor, indent: int) -> str:
    parts: dict[str, Tensor]
    if tensor.layout is sparse_coo:
        parts = sparse.coordinates(tensor)._asdict()
    else:
        lines, others = ("row", "column") if tensor.layout in sparse.BY_ROWS else ("column", "row")
        held = sparse.compressed(tensor)
        parts = {
            f"c{lines[:3]}_indices": held.compressed,
            f"{others[:3]}_indices": held.plain,
            "values": held.values,
        }
    return _parts_str(parts, tensor.is_meta, indent)


def _nested(tensor: Tensor) -> str:
    rows = []
    for content in tensor._content:
        row = content._detached()
        # whose base decides whether it requires a gradient
        row._materialize_autograd_meta().view = ViewInfo(tensor)
        rows.append("\n".join(f"  {line}" for line in tensor_str(row).split("\n")))
    return "[\n" + ",\n".join(rows) + "\n]"


def tensor_str(tensor: Tensor, tensor_contents: str | None = None) -> str:
    """``repr`` of a tensor; ``tensor_contents`` stands in for its elements."""
    functional = tensor._functional
    if functional is not None and functional.level != -1:
        _sync_unseen(functional)
        value = repr(functional.value)
        return f"FunctionalTensor(lvl={functional.level}, value=\\\n{value})"
    prefix = "nested_tensor(" if tensor.is_nested else f"{_class_name(tensor)}("
    indent = len(prefix)
    text = _elements(tensor, indent) if tensor_contents is None else tensor_contents
    if functional is not None:
        prefix = "_to_functional_tensor("
    suffixes = list(_describe(tensor))
    shown = _add_suffixes(prefix + text, suffixes, indent, force_newline=tensor.is_sparse)
    return f"Parameter({shown})" if _is_other_parameter(tensor) else shown


def _sync_unseen(functional: FunctionalTensorWrapper) -> None:
    """Bring it up to date with no mode, no transform and no history to see how."""
    guard = tls.AutoGradMode(enabled=False)
    try:
        with mode_stack.stashed_stack():
            tls.call_excluding(_TRANSFORMS, functional.sync)
    finally:
        guard.close()


def _history(tensor: Any) -> str | None:
    """The name of the node that computed it; a view that was changed unseen has an invalid one."""
    try:
        grad_fn = tensor.grad_fn
    except RuntimeError:
        return "Invalid"
    if grad_fn is None or grad_fn is UNRECORDED:
        return None
    name = type(grad_fn).__name__
    return str(grad_fn.name().rpartition("::")[2] if name == "CppFunction" else name)


def _is_other_parameter(tensor: Tensor) -> bool:
    """Whether it is a parameter of another class than ``Parameter``."""
    if _class_name(tensor) == "tensor":
        return False
    from mindtorch_v2.nn.parameter import Parameter

    return isinstance(tensor, Parameter)


def _class_name(tensor: Tensor) -> str:
    name = type(tensor).__name__
    return "tensor" if name in ("Tensor", "Parameter") else name
