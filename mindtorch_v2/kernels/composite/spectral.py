"""``torch.fft``: the transforms in one dimension and in several, frequencies, and shifts.

Mirrors ``aten/src/ATen/native/SpectralOps.cpp``, but for short times
(:mod:`~mindtorch_v2.kernels.composite.short_time`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import copysign, inf
from typing import Any, Final, TypeAlias

from mindtorch_v2.kernels.cpu.spectral import BY_N, BY_ROOT_N, NONE
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import add, kernel
from mindtorch_v2.tensor.default_dtype import get_default_dtype
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.dtype import DTYPES, DType, Layout
from mindtorch_v2.tensor.geometry import wrap_dim
from mindtorch_v2.tensor.support import CPP_NAMES, has_words, worded
from mindtorch_v2.tensor.tensor import Tensor

_IMPLICIT: Final = "CompositeImplicitAutograd"
_EXPLICIT: Final = "CompositeExplicitAutograd"
_ARANGE_OUT: Final = OperatorHandle("aten::arange.start_out")
_C2C: Final = OperatorHandle("aten::_fft_c2c")
_C2C_OUT: Final = OperatorHandle("aten::_fft_c2c.out")
_C2R: Final = OperatorHandle("aten::_fft_c2r")
_C2R_OUT: Final = OperatorHandle("aten::_fft_c2r.out")
_CONJ: Final = OperatorHandle("aten::conj")
_CONJ_PHYSICAL: Final = OperatorHandle("aten::conj_physical")
_CONJ_PHYSICAL_OUT: Final = OperatorHandle("aten::conj_physical.out")
_EMPTY: Final = OperatorHandle("aten::empty.memory_format")
_MUL_: Final = OperatorHandle("aten::mul_.Scalar")
_PAD: Final = OperatorHandle("aten::constant_pad_nd")
_R2C: Final = OperatorHandle("aten::_fft_r2c")
_R2C_OUT: Final = OperatorHandle("aten::_fft_r2c.out")
_ROLL: Final = OperatorHandle("aten::roll")
_SLICE: Final = OperatorHandle("aten::slice.Tensor")
_TO: Final = OperatorHandle("aten::to.dtype")

_HALVES_ELSEWHERE: Final = (
    DTYPES["float16"],
    *([] if has_words("fft of brain floats on meta") else [DTYPES["bfloat16"]]),
)
"""What other devices compute in; on meta nothing is computed."""
_FLOATS: Final = (DTYPES["float32"], DTYPES["float64"])

Sizes: TypeAlias = Sequence[int]
_Transform: TypeAlias = Callable[..., Any]
"""A function of ``torch.fft`` but for its name and direction."""


# --- what all of them do first -------------------------------------------------------------------


def _promoted(self: Tensor, *, to_complex: bool = False) -> Any:
    """``promote_tensor_fft``: integers become floats of the default dtype."""
    dtype = self._dtype
    if dtype.is_complex:
        return self
    if not dtype.is_floating_point:
        dtype = get_default_dtype()
    if dtype not in _FLOATS and not (
        dtype in _HALVES_ELSEWHERE and self._device.type in ("cuda", "meta")
    ):
        raise worded("fft of halves", Half=CPP_NAMES[dtype])
    wanted = dtype
    if to_complex:  # of brain floats there are no complex numbers to compute with
        wanted = DTYPES["complex64"] if dtype is DTYPES["bfloat16"] else dtype.to_complex()
    return self if wanted is self._dtype else _TO(self, wanted)


def norm_of(norm: str | None, *, forward: bool) -> int:
    """``norm_from_string``: the names are NumPy's, of the direction that is divided."""
    if norm in (None, "backward", "forward"):
        return BY_N if (norm == "forward") == forward else NONE
    if norm == "ortho":
        return BY_ROOT_N
    raise RuntimeError(f'Invalid normalization mode: "{norm}"')


def _resized(self: Any, dims: Sequence[int], sizes: Sizes) -> Any:
    """``resize_fft_input``: cut off, or filled up with zeros."""
    padding = [0] * (2 * len(self._sizes))
    for dim, size in zip(dims, sizes, strict=True):
        own = self._sizes[dim]
        if own < size:
            padding[len(padding) - 2 * dim - 1] = size - own
        elif own > size:
            self = _SLICE(self, dim, 0, size)
    return _PAD(self, padding) if any(padding) else self


def _check_count(count: int) -> None:
    if count < 1:
        raise RuntimeError(f"Invalid number of data points ({count}) specified")


def _check_complex(name: str, out: Tensor | None) -> None:
    if out is not None and not out._dtype.is_complex:
        raise RuntimeError(
            f"{name} expects a complex output tensor, but got {CPP_NAMES[out._dtype]}"
        )


def _check_floating_point(name: str, out: Tensor | None) -> None:
    if out is not None and not out._dtype.is_floating_point:
        raise RuntimeError(
            f"{name} expects a floating point output tensor, but got {CPP_NAMES[out._dtype]}"
        )


# --- the operators beneath, into an output if there is one ---------------------------------------


def _c2c(name: str, out: Tensor | None, self: Any, dims: Sizes, norm: int, forward: bool) -> Any:
    if out is None:
        return _C2C(self, dims, norm, forward)
    _check_complex(name, out)
    return _C2C_OUT(self, dims, norm, forward, out=out)


def _c2r(name: str, out: Tensor | None, self: Any, dims: Sizes, norm: int, size: int) -> Any:
    if out is None:
        return _C2R(self, dims, norm, size)
    _check_floating_point(name, out)
    return _C2R_OUT(self, dims, norm, size, out=out)


def _r2c(name: str, out: Tensor | None, self: Any, dims: Sizes, norm: int, onesided: bool) -> Any:
    if out is None:
        return _R2C(self, dims, norm, onesided)
    _check_complex(name, out)
    return _R2C_OUT(self, dims, norm, onesided, out=out)


# --- in one dimension ----------------------------------------------------------------------------


def _real_to_complex(
    name: str,
    out: Tensor | None,
    input: Tensor,
    n: int | None,
    dim: int,
    norm: str | None,
    *,
    forward: bool,
    onesided: bool = True,
) -> Any:
    """``fft_r2c``: backwards it is the conjugate of what is computed forwards."""
    if input._dtype.is_complex:
        given = CPP_NAMES[input._dtype]
        raise worded("rfft of complex numbers", rfft=name, ComplexFloat=given)
    _check_complex(name, out)
    input = _promoted(input)
    input, dim = _with_points(input, n, dim)
    mode = norm_of(norm, forward=forward)
    if forward:
        return _r2c(name, out, input, [dim], mode, onesided)
    found = _R2C(input, [dim], mode, onesided)
    return _CONJ(found) if out is None else _CONJ_PHYSICAL_OUT(found, out=out)


def _with_points(input: Any, n: int | None, dim: int) -> tuple[Any, int]:
    """So many of them, along a dimension that is counted from the front."""
    dim = wrap_dim(dim, len(input._sizes), scalar=False)
    _check_count(input._sizes[dim] if n is None else n)
    return (input if n is None else _resized(input, [dim], [n])), dim


def _any_to_complex(
    name: str,
    out: Tensor | None,
    input: Tensor,
    n: int | None,
    dim: int,
    norm: str | None,
    *,
    forward: bool,
) -> Any:
    """``fft_c2c`` of complex numbers, ``fft_r2c`` of others."""
    if not input._dtype.is_complex:
        given = (n, dim, norm)
        return _real_to_complex(name, out, input, *given, forward=forward, onesided=False)
    input, dim = _with_points(input, n, dim)
    return _c2c(name, out, input, [dim], norm_of(norm, forward=forward), forward)


def _complex_to_real(
    name: str,
    out: Tensor | None,
    input: Tensor,
    n: int | None,
    dim: int,
    norm: str | None,
    *,
    forward: bool,
) -> Any:
    """``fft_c2r``: forwards it is the transform back of the conjugate."""
    _check_floating_point(name, out)
    input = _promoted(input, to_complex=True)
    dim = wrap_dim(dim, len(input._sizes), scalar=False)
    count = 2 * (input._sizes[dim] - 1) if n is None else n
    _check_count(count)
    if n is not None:
        input = _resized(input, [dim], [n // 2 + 1])
    mode = norm_of(norm, forward=forward)
    return _c2r(name, out, _CONJ(input) if forward else input, [dim], mode, count)


# --- in several dimensions -----------------------------------------------------------------------


def _shape_and_dims(
    input: Tensor, shape: Sizes | None, dims: Sizes | None
) -> tuple[list[int], list[int]]:
    """``canonicalize_fft_shape_and_dim_args``: of all dimensions, or the last, if none are said."""
    sizes, rank = input._sizes, len(input._sizes)
    chosen = None if dims is None else [wrap_dim(dim, rank, scalar=False) for dim in dims]
    if chosen is not None and len(set(chosen)) < len(chosen):
        raise RuntimeError("FFT dims must be unique")
    if shape is None:
        chosen = list(range(rank)) if chosen is None else chosen
        counts = [sizes[dim] for dim in chosen]
    else:
        if chosen is not None and len(chosen) != len(shape):
            raise RuntimeError("When given, dim and shape arguments must have the same length")
        if len(shape) > rank:
            raise RuntimeError(
                f"Got shape with {len(shape)} values but input tensor only has {rank} dimensions."
            )
        chosen = list(range(rank - len(shape), rank)) if chosen is None else chosen
        pairs = zip(shape, chosen, strict=True)
        counts = [sizes[dim] if count == -1 else count for count, dim in pairs]
    for count in counts:
        _check_count(count)
    return counts, chosen


def _check_any(name: str, dims: Sizes) -> None:
    if not dims:
        raise RuntimeError(f"{name} must transform at least one axis")


def _any_to_complex_nd(
    name: str,
    out: Tensor | None,
    input: Tensor,
    s: Sizes | None,
    dim: Sizes | None,
    norm: str | None,
    *,
    forward: bool,
) -> Any:
    """``fftn_c2c``, which calls itself ``fftn`` in both directions."""
    counts, dims = _shape_and_dims(input, s, dim)
    input = _resized(_promoted(input, to_complex=True), dims, counts)
    return _c2c("fftn", out, input, dims, norm_of(norm, forward=forward), forward)


def _real_to_complex_nd(
    name: str,
    out: Tensor | None,
    input: Tensor,
    s: Sizes | None,
    dim: Sizes | None,
    norm: str | None,
    *,
    forward: bool,
) -> Any:
    """``fft_rfftn_impl`` and ``fft_ihfftn_impl``."""
    if forward and input._dtype.is_complex:
        given = CPP_NAMES[input._dtype]
        raise worded("rfftn of complex numbers", rfftn=name, ComplexFloat=given)
    counts, dims = _shape_and_dims(input, s, dim)
    _check_any(name, dims)
    input = _resized(_promoted(input), dims, counts)
    mode = norm_of(norm, forward=forward)
    if forward:
        return _r2c(name, out, input, dims, mode, True)
    *others, last = dims
    half = _R2C(input, [last], mode, True)
    if others:
        return _c2c(name, out, _CONJ_PHYSICAL(half), others, mode, False)
    if out is None:
        return _CONJ(half)
    return _CONJ_PHYSICAL_OUT(out, out=half)  # torch's own slip: the output stays as it was


def _complex_to_real_nd(
    name: str,
    out: Tensor | None,
    input: Tensor,
    s: Sizes | None,
    dim: Sizes | None,
    norm: str | None,
    *,
    forward: bool,
) -> Any:
    """``fft_irfftn_impl`` and ``fft_hfftn_impl``."""
    counts, dims = _shape_and_dims(input, s, dim)
    _check_any(name, dims)
    *others, last = dims
    is_said = s is not None and s[-1] != -1
    size = counts[-1] if is_said else 2 * (input._sizes[last] - 1)
    _check_count(size)
    counts[-1] = size // 2 + 1
    input = _resized(_promoted(input, to_complex=True), dims, counts)
    mode = norm_of(norm, forward=forward)
    if not forward:
        return _c2r(name, out, input, dims, mode, size)
    half = _C2C(input, others, mode, True) if others else input
    return _c2r(name, out, _CONJ(half), [last], mode, size)


# --- rows ----------------------------------------------------------------------------------------


_TRANSFORMS: Final[tuple[tuple[str, _Transform, _Transform, bool], ...]] = (
    ("fft", _any_to_complex, _any_to_complex_nd, True),
    ("ifft", _any_to_complex, _any_to_complex_nd, False),
    ("rfft", _real_to_complex, _real_to_complex_nd, True),
    ("ihfft", _real_to_complex, _real_to_complex_nd, False),
    ("hfft", _complex_to_real, _complex_to_real_nd, True),
    ("irfft", _complex_to_real, _complex_to_real_nd, False),
)
"""In one dimension and in several, and the direction."""


def _run(
    transform: _Transform,
    name: str,
    forward: bool,
    self: Tensor,
    sizes: Any,
    dims: Any,
    norm: str | None,
    out: Tensor | None = None,
) -> Any:
    """An output is answered whatever was written to it."""
    found = transform(name, out, self, sizes, dims, norm, forward=forward)
    return found if out is None else out


for _name, _in_one, _in_several, _forward in _TRANSFORMS:
    for _form in ("", ".out"):
        add(f"aten::fft_{_name}{_form}", _IMPLICIT, partial(_run, _in_one, _name, _forward))
        for _ending in "n2":  # which differ by their default dimensions alone
            _kernel = partial(_run, _in_several, f"{_name}n", _forward)
            add(f"aten::fft_{_name}{_ending}{_form}", _IMPLICIT, _kernel)


# --- frequencies and shifts ----------------------------------------------------------------------


def _check_frequencies(name: str, dtype: DType) -> None:
    if not dtype.is_floating_point and not dtype.is_complex:
        raise RuntimeError(f"{name} requires a floating point or complex dtype")


def _step(n: int, d: float) -> float:
    """Between two frequencies: the quotient of doubles in C++."""
    width = n * d
    return 1.0 / width if width else copysign(inf, width)


def halved(number: int) -> int:
    """Towards zero."""
    return abs(number) // 2 * (-1 if number < 0 else 1)


@kernel("aten::fft_fftfreq.out", key=_EXPLICIT)
def fft_fftfreq_out(n: int, d: float, out: Tensor) -> Any:
    _check_frequencies("fftfreq", out._dtype)
    _ARANGE_OUT(0, n, 1, out=out)
    _ARANGE_OUT(-halved(n), 0, 1, out=_SLICE(out, 0, halved(n + 1), 0))
    return _MUL_(out, _step(n, d))


@kernel("aten::fft_rfftfreq.out", key=_EXPLICIT)
def fft_rfftfreq_out(n: int, d: float, out: Tensor) -> Any:
    _check_frequencies("rfftfreq", out._dtype)
    _ARANGE_OUT(0, halved(n) + 1, 1, out=out)
    return _MUL_(out, _step(n, d))


@kernel("aten::fft_fftfreq", key=_EXPLICIT)
def fft_fftfreq(
    n: int,
    d: float,
    dtype: DType | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
) -> Any:
    return fft_fftfreq_out(n, d, _EMPTY([n], dtype, layout, device, pin_memory, None))


@kernel("aten::fft_rfftfreq", key=_EXPLICIT)
def fft_rfftfreq(
    n: int,
    d: float,
    dtype: DType | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
) -> Any:
    sizes = [halved(n) + 1]
    return fft_rfftfreq_out(n, d, _EMPTY(sizes, dtype, layout, device, pin_memory, None))


@kernel("aten::fft_fftshift", key=_IMPLICIT)
def fft_fftshift(self: Tensor, dim: Sizes | None) -> Any:
    return _shifted(self, dim, 0)


@kernel("aten::fft_ifftshift", key=_IMPLICIT)
def fft_ifftshift(self: Tensor, dim: Sizes | None) -> Any:
    return _shifted(self, dim, 1)


def _shifted(self: Tensor, dim: Sizes | None, odd: int) -> Any:
    """By half of each size, of an odd one by so much more."""
    rank = len(self._sizes)
    dims = range(rank) if dim is None else [wrap_dim(each, rank, scalar=False) for each in dim]
    return _ROLL(self, [(self._sizes[each] + odd) // 2 for each in dims], list(dims))
