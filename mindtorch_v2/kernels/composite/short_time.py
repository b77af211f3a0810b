"""The Fourier transform of short times, and back.

Mirrors ``stft`` and ``istft`` of ``aten/src/ATen/native/SpectralOps.cpp``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from mindtorch_v2.kernels.composite.spectral import halved
from mindtorch_v2.kernels.cpu.spectral import BY_N, BY_ROOT_N, NONE
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.messages import WARNING_TEXTS
from mindtorch_v2.tensor.dtype import MEMORY_FORMATS
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.support import refused_as, worded
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.tensor.type_string import type_string
from mindtorch_v2.warn import warn_once

_IMPLICIT: Final = "CompositeImplicitAutograd"
_CONTIGUOUS: Final = MEMORY_FORMATS["contiguous_format"]
_ABS: Final = OperatorHandle("aten::abs")
_AS_STRIDED: Final = OperatorHandle("aten::as_strided")
_C2C: Final = OperatorHandle("aten::_fft_c2c")
_C2R: Final = OperatorHandle("aten::_fft_c2r")
_CLONE: Final = OperatorHandle("aten::clone")
_CONSTANT_PAD: Final = OperatorHandle("aten::constant_pad_nd")
_COPY_: Final = OperatorHandle("aten::copy_")
_DIV: Final = OperatorHandle("aten::div.Tensor")
_EQUAL: Final = OperatorHandle("aten::equal")
_EXPAND: Final = OperatorHandle("aten::expand")
_FILL_: Final = OperatorHandle("aten::fill_.Scalar")
_LT: Final = OperatorHandle("aten::lt.Scalar")
_MIN: Final = OperatorHandle("aten::min")
_MUL: Final = OperatorHandle("aten::mul.Tensor")
_NARROW: Final = OperatorHandle("aten::narrow")
_NEW_ONES: Final = OperatorHandle("aten::new_ones")
_ONES: Final = OperatorHandle("aten::ones")
_PAD: Final = OperatorHandle("aten::pad")
_POW: Final = OperatorHandle("aten::pow.Tensor_Scalar")
_R2C: Final = OperatorHandle("aten::_fft_r2c")
_RESOLVE_CONJ: Final = OperatorHandle("aten::resolve_conj")
_SLICE: Final = OperatorHandle("aten::slice.Tensor")
_SQUEEZE: Final = OperatorHandle("aten::squeeze.dim")
_SQUEEZE_: Final = OperatorHandle("aten::squeeze_.dim")
_STFT: Final = OperatorHandle("aten::stft.center")
_TRANSPOSE: Final = OperatorHandle("aten::transpose.int")
_TRANSPOSE_: Final = OperatorHandle("aten::transpose_")
_UNFOLD_BACKWARD: Final = OperatorHandle("aten::unfold_backward")
_UNSQUEEZE: Final = OperatorHandle("aten::unsqueeze")
_VIEW: Final = OperatorHandle("aten::view")
_VIEW_AS_COMPLEX: Final = OperatorHandle("aten::view_as_complex")
_VIEW_AS_REAL: Final = OperatorHandle("aten::view_as_real")
_ZEROS: Final = OperatorHandle("aten::zeros")


@dataclass(frozen=True)
class _Frames:
    """What a transform is asked for."""

    name: str
    self: Tensor
    n_fft: int
    hop_length: int
    win_length: int
    window: Tensor | None
    options: dict[str, Any]
    """What else the call says, in the order in which messages show it."""

    def refused(self, why: str) -> RuntimeError:
        """The call as C++ shows it, and what is wrong with it."""
        return RuntimeError(self.told(why))

    def told(self, why: str) -> str:
        """The words of that."""
        window = self.window
        seen = None if window is None else f"{type_string(window)}{{{list(window._sizes)}}}"
        numbers = {
            "n_fft": self.n_fft,
            "hop_length": self.hop_length,
            "win_length": self.win_length,
            "window": seen,
            **{key: int(on) if on is not None else None for key, on in self.options.items()},
        }
        shown = ", ".join(f"{key}={value}" for key, value in numbers.items())
        of = f"{type_string(self.self)}{list(self.self._sizes)}"
        return f"{self.name}({of}, {shown}) {why}"

    def check_device(self) -> None:
        if self.window is not None and self.window._device != self.self._device:
            raise RuntimeError(
                f"{self.name} input and window must be on the same device but got self on "
                f"{self.self._device} and window on {self.window._device}"
            )

    @property
    def has_window(self) -> bool:
        """Whether the window, if there is one, has a row of as many numbers as it should."""
        return self.window is None or list(self.window._sizes) == [self.win_length]

    @property
    def left(self) -> int:
        """Before a window in the middle of its frame."""
        return halved(self.n_fft - self.win_length)


_REFUSED_SIDES: Final = "Cannot have onesided output if window or input is complex"


def _options(tensor: Tensor) -> dict[str, Any]:
    return {"dtype": tensor._dtype, "layout": tensor._layout, "device": tensor._device}


# --- there --------------------------------------------------------------------------------------


@kernel("aten::stft", key=_IMPLICIT)
def stft(
    self: Tensor,
    n_fft: int,
    hop_length: int | None,
    win_length: int | None,
    window: Tensor | None,
    *options: Any,
) -> Any:
    return _STFT(self, n_fft, hop_length, win_length, window, False, "constant", *options)


@kernel("aten::stft.center", key=_IMPLICIT)
def stft_center(
    self: Tensor,
    n_fft: int,
    hop_length: int | None,
    win_length: int | None,
    window: Tensor | None,
    center: bool,
    pad_mode: str,
    normalized: bool,
    onesided: bool | None,
    return_complex: bool | None,
    *align_to_window: bool | None,
) -> Any:
    """Some releases can have the first window begin with the signal."""
    if window is None:
        warn_once("stft", WARNING_TEXTS["stft"])
    options = {"normalized": normalized, "onesided": onesided, "return_complex": return_complex}
    frames = _Frames(
        *("stft", self, n_fft),
        n_fft >> 2 if hop_length is None else hop_length,
        n_fft if win_length is None else win_length,
        window,
        options | dict(zip(("align_to_window",), align_to_window, strict=False)),
    )
    frames.check_device()
    is_complex = self._dtype.is_complex or (window is not None and window._dtype.is_complex)
    as_complex = is_complex if return_complex is None else return_complex
    if center and align_to_window not in ((), (None,)):
        raise RuntimeError("stft align_to_window should only be set when center = false.")
    if not as_complex:
        _warn_of_real(return_complex)
    input = _signal(frames, center, pad_mode)
    framed = _framed(frames, input, aligned=True in align_to_window)
    sides = not framed._dtype.is_complex if onesided is None else onesided
    norm = BY_ROOT_N if normalized else NONE
    if not framed._dtype.is_complex:
        out = _R2C(framed, [2], norm, sides)
    elif sides:
        raise RuntimeError(_REFUSED_SIDES)
    else:
        out = _C2C(framed, [2], norm, True)
    _TRANSPOSE_(out, 1, 2)
    if len(self._sizes) == 1:
        _SQUEEZE_(out, 0)
    return out if as_complex else _VIEW_AS_REAL(out)


def _warn_of_real(return_complex: bool | None) -> None:
    if return_complex is None:
        raise RuntimeError(
            "stft requires the return_complex parameter be given for real inputs, and will "
            "further require that return_complex=True in a future PyTorch release."
        )
    warn_once(
        "stft(real)",
        "stft with return_complex=False is deprecated. In a future pytorch release, stft will "
        "return complex tensors for all inputs, and return_complex=False will raise an error.\n"
        "Note: you can still call torch.view_as_real on the complex output to recover the old "
        "return format.",
    )


def _signal(frames: _Frames, center: bool, pad_mode: str) -> Any:
    """Rows of signals; with ``center`` the first frame is centered at the first element."""
    input: Any = frames.self
    if not (input._dtype.is_floating_point or input._dtype.is_complex):
        told = frames.told(": expected a tensor of floating point or complex values")
        raise refused_as("stft of integers", told)
    if len(input._sizes) not in (1, 2):
        raise frames.refused(": expected a 1D or 2D tensor")
    if len(input._sizes) == 1:
        input = _UNSQUEEZE(input, 0)
    if center:
        pad = halved(frames.n_fft)
        input = _PAD(_VIEW(input, [1, *input._sizes]), [pad, pad], pad_mode)
        input = _VIEW(input, list(input._sizes[1:]))
    length = input._sizes[1]
    n_fft, hop_length, win_length = frames.n_fft, frames.hop_length, frames.win_length
    if not 0 < n_fft <= length:
        raise frames.refused(f": expected 0 < n_fft < {length}, but got n_fft={win_length}")
    if hop_length <= 0:
        raise frames.refused(f": expected hop_length > 0, but got hop_length={hop_length}")
    if not 0 < win_length <= n_fft:
        raise frames.refused(f": expected 0 < win_length <= n_fft, but got win_length={win_length}")
    if not frames.has_window:
        assert frames.window is not None
        raise frames.refused(
            f": expected a 1D window tensor of size equal to win_length={win_length}, but got "
            f"window with size {list(frames.window._sizes)}"
        )
    return input


def _framed(frames: _Frames, input: Any, *, aligned: bool) -> Any:
    """Each signal as frames that overlap, seen through the window."""
    n_fft, hop_length, win_length = frames.n_fft, frames.hop_length, frames.win_length
    window = _stretched(frames)
    length = input._sizes[1]
    if aligned:
        count = 1 + (length - win_length) // hop_length
        input = _CONSTANT_PAD(input, [frames.left] * 2, 0)
    else:
        count = 1 + (length - n_fft) // hop_length
    rows, step = input._strides
    framed = _AS_STRIDED(input, [input._sizes[0], count, n_fft], [rows, hop_length * step, step])
    return framed if window is None else _MUL(framed, window)


def _stretched(frames: _Frames) -> Any:
    """The window, in the middle of a frame."""
    if frames.win_length == frames.n_fft:
        return frames.window
    like = frames.self if frames.window is None else frames.window
    stretched = _ZEROS([frames.n_fft], **_options(like))
    middle = _NARROW(stretched, 0, frames.left, frames.win_length)
    if frames.window is None:
        _FILL_(middle, 1)
    else:
        _COPY_(middle, frames.window)
    return stretched


# --- and back -----------------------------------------------------------------------------------


@kernel("aten::istft", key=_IMPLICIT)
def istft(
    self: Tensor,
    n_fft: int,
    hop_length: int | None,
    win_length: int | None,
    window: Tensor | None,
    center: bool,
    normalized: bool,
    onesided: bool | None,
    length: int | None,
    return_complex: bool,
) -> Any:
    if window is None:
        warn_once(
            "istft",
            "A window was not provided. A rectangular window will be applied."
            "Please provide the same window used by stft to make the inversion lossless."
            "To suppress this warning and use a rectangular window, explicitly set "
            "`window=torch.ones(n_fft, device=<device>)`.",
        )
    options = {"center": center, "normalized": normalized, "onesided": onesided}
    frames = _Frames(
        *("istft", self, n_fft),
        n_fft >> 2 if hop_length is None else hop_length,
        n_fft if win_length is None else win_length,
        window,
        options | {"length": length, "return_complex": return_complex},
    )
    frames.check_device()
    if not self._dtype.is_complex:
        raise worded("istft of real numbers")
    input = _VIEW_AS_REAL(_RESOLVE_CONJ(self))
    sides = _checked_sides(frames, input, onesided)
    stretched = _stretched_back(frames, input)
    norm = BY_ROOT_N if normalized else BY_N
    summed = _transformed_back(frames, input, sides, norm, return_complex=return_complex)
    y_tmp = _MUL(summed, _VIEW(stretched, [1, 1, n_fft]))
    return _overlapped(frames, input, y_tmp, stretched, center, length)


def _checked_sides(frames: _Frames, input: Any, onesided: bool | None) -> bool:
    """Whether the spectrum has one side alone."""
    count, size = size_at(input, -2), size_at(input, -3)
    del count  # whose dimension is looked at first
    n_fft, rank = frames.n_fft, len(input._sizes)
    if not numel(input._sizes):
        raise frames.refused(": input tensor cannot be empty.")
    if rank not in (3, 4):
        raise frames.refused(f": expected a tensor with 3 or 4 dimensions, but got {rank}")
    sides = size != n_fft if onesided is None else onesided
    wanted = halved(n_fft) + 1 if sides else n_fft
    if wanted != size:
        what = "n_fft / 2 + 1 when onesided=True" if sides else "n_fft when onesided=False"
        raise frames.refused(
            ": expected the frequency dimension (3rd to the last) of the input tensor to match "
            f"{what}, but got {size}"
        )
    if not 0 < frames.hop_length <= frames.win_length:
        raise frames.refused(": expected 0 < hop_length <= win_length")
    if not 0 < frames.win_length <= n_fft:
        raise frames.refused(": expected 0 < win_length <= n_fft")
    if not frames.has_window:
        raise frames.refused(
            ": Invalid window shape. window has to be 1D and length of `win_length`"
        )
    return sides


def _stretched_back(frames: _Frames, input: Any) -> Any:
    window: Any = frames.window
    if window is None:
        window = _ONES([frames.win_length], dtype=input._dtype, device=input._device)
    if frames.win_length == frames.n_fft:
        return window
    right = frames.n_fft - frames.win_length - frames.left
    return _CONSTANT_PAD(window, [frames.left, right], 0)


def _transformed_back(
    frames: _Frames, input: Any, onesided: bool, norm: int, *, return_complex: bool
) -> Any:
    """Signals by frames."""
    if len(input._sizes) == 3:
        input = _UNSQUEEZE(input, 0)
    input = _as_complex(_TRANSPOSE(input, 1, 2))
    if return_complex:
        if onesided:
            raise RuntimeError(_REFUSED_SIDES)
        return _C2C(input, [2], norm, False)
    if frames.window is not None and frames.window._dtype.is_complex:
        raise RuntimeError("Complex windows are incompatible with return_complex=False")
    if not onesided:
        input = _SLICE(input, -1, 0, halved(frames.n_fft) + 1)
    return _C2R(input, [2], norm, frames.n_fft)


def _as_complex(self: Any) -> Any:
    """``as_complex``: a view if there can be one."""
    *outer, step = self._strides
    is_viewed = step == 1 and not any(each % 2 for each in (*outer, self._storage_offset))
    return _VIEW_AS_COMPLEX(self if is_viewed else _CLONE(self, memory_format=_CONTIGUOUS))


def _overlapped(
    frames: _Frames, input: Any, y_tmp: Any, window: Any, center: bool, length: int | None
) -> Any:
    """The frames added up, over the squares of the windows added up."""
    n_fft, count = frames.n_fft, size_at(input, -2)
    expected = n_fft + frames.hop_length * (count - 1)
    where = (1, n_fft, frames.hop_length)
    y = _UNFOLD_BACKWARD(y_tmp, [y_tmp._sizes[0], expected], *where)
    squares = _EXPAND(_POW(window, 2), [1, count, n_fft])
    envelope = _UNFOLD_BACKWARD(squares, [1, expected], *where)
    start = halved(n_fft) if center else 0
    end = expected
    if length is not None:
        end = start + length
    elif center:
        end = -halved(n_fft)
    y, envelope = _SLICE(y, 1, start, end), _SLICE(envelope, 1, start, end)
    lowest = _LT(_MIN(_ABS(envelope)), 1e-11)
    if _EQUAL(lowest, _NEW_ONES(lowest, [], **_options(lowest))):  # is_scalar_tensor_true
        raise frames.refused(f"window overlap add min: 1\n[ {type_string(lowest)}{{}} ]")
    y = _DIV(y, envelope)
    if len(input._sizes) == 3:
        y = _SQUEEZE(y, 0)
    if end > expected:
        warn_once(
            "istft(padded)",
            "The length of signal is shorter than the length parameter. Result is being padded "
            "with zeros in the tail. Please check your center and hop_length settings.",
        )
        y = _CONSTANT_PAD(y, [0, end - expected], 0)
    return y
