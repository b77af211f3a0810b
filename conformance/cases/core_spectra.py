"""Fourier transforms for the area core-ops, beside the samples of OpInfo: how a spectrum lies in
memory, what is refused, and what short times and other devices ask for.

A spectrum is shown beside a large term (`opinfo_samples.shown`), as there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from conformance.area import Text
from conformance.cases.opinfo_samples import shown

_OF_ANY: Final = ("fft", "ifft", "irfft", "hfft")
_OF_REAL: Final = ("rfft", "ihfft")
_COMPLEX: Final = "dtype=xp.complex64"
_X: Final = "(xp.arange(24.) * 7 % 23).view(2, 3, 4)"

_VIEWS: Final = (
    *("", ".permute(2, 0, 1)", ".transpose(0, 1)", "[:, :1]", "[:1, :, 1:3]", ".flip(1)"),
    "[:, :, :1].expand(2, 3, 4)",
)
_ON_META: Final = (
    *(
        "xp.ones(2, 3, 4, 5, device='meta')",
        "xp.ones(2, 3, 4, 5, device='meta').permute(3, 1, 2, 0)",
    ),
    f"xp.ones(2, 3, 4, 5, device='meta', {_COMPLEX}).permute(3, 2, 1, 0)",
)
_REFUSED: Final = (
    *("fft(xp.ones(0, 3))", "irfft(xp.ones(0, 3))", "fft(xp.ones(3, 0))", "fft(xp.tensor(1.))"),
    *("fft(xp.ones(4).half())", "fft(xp.ones(4).bfloat16())", "irfft(xp.ones(4).to(xp.complex32))"),
    *("fft(xp.ones(4, device='meta').half())", "irfft(xp.ones(4, device='meta').half())"),
    *("rfftn(xp.tensor(1.))", "fftn(xp.tensor(1.))", "fftn(xp.ones(2, 3), dim=())"),
    *("fftn(xp.ones(1, 1, 1, 1, 1, 1, 1, 2))", "fftn(xp.ones(4), dim=(3,))", "fft2(xp.ones(4))"),
    *("fftn(xp.ones(4, 4), dim=(0, -2))", "fftn(xp.tensor(1.), dim=(0,))", "irfft(xp.ones(1))"),
    *("fft(xp.ones(4), norm='bad')", "fft(xp.ones(4), n=-1)", "fftn(xp.ones(4), s=(-1,))"),
    *("fftn(xp.ones(4, 4), s=(2, 2, 2))", "fftn(xp.ones(4, 4), s=(2, 2), dim=(0,))"),
    *("irfftn(xp.ones(4, 1))", "irfftn(xp.ones(4, 3), s=(2, -1))", "irfftn(xp.ones(2), s=())"),
    *(f"{name}(xp.ones(4, {_COMPLEX}))" for name in ("rfft", "rfftn", "ihfft", "ihfftn")),
    *("ifft(xp.ones(4), out=xp.zeros(2))", "rfftn(xp.ones(4), out=xp.zeros(2))"),
    *(f"{name}(xp.ones(4), out=xp.zeros(2, {_COMPLEX}))" for name in ("irfft", "hfftn", "ifft")),
    *("fft(xp.ones(4), out=xp.zeros(4, dtype=xp.complex32))", "fft([1, 2])", "fft()"),
    f"ihfftn(xp.ones(4), dim=(0,), out=xp.zeros(3, {_COMPLEX}))",
    "ihfftn(xp.ones(4), dim=(0,), out=xp.zeros(3))",
    f"fft(xp.ones(4, requires_grad=True), out=xp.zeros(4, {_COMPLEX}))",
    *("fft(xp.tensor([1., float('inf'), 2.]))", "fft(xp.ones(4), 2, 0, None, 5)"),
)
_FREQUENCIES: Final = (
    *("5", "6, d=0.1, dtype=xp.float64", "0", "5, 0.", "-1", "-5", "4, dtype=xp.int64"),
    *("4, dtype=xp.complex64", "7, dtype=xp.bfloat16", "4, device='meta'", "4, out=xp.zeros(2)"),
    *("4, out=xp.zeros(2, dtype=xp.int64)", "4, requires_grad=True", "4.5"),
)
_SHIFTED: Final = (
    *("xp.arange(10).view(2, 5)", "xp.arange(4), dim=()", "xp.tensor(1.)", "xp.tensor(1.), dim=0"),
    *("xp.arange(3), dim=5", "xp.arange(9).view(3, 3), dim=(0, 0)"),
)
_OPERATORS: Final = (
    *("_fft_r2c(xp.ones(4).half(), [0], 0, True)", "_fft_r2c(xp.arange(4), [0], 0, True)"),
    *("_fft_c2c(xp.ones(4), [0], 0, True)", "_fft_c2c(xp.ones(4, device='meta'), [0], 0, True)"),
    f"_fft_c2c(xp.ones(4, 3, 2, {_COMPLEX}).permute(2, 0, 1), [], 0, True)",
    f"_fft_c2c(xp.ones(4, 3, 2, device='meta', {_COMPLEX}).permute(2, 0, 1), [], 0, True)",
    f"_fft_c2c(xp.ones(4, {_COMPLEX}), [0], 7, True)",
    f"_fft_c2c(xp.ones(0, 4, {_COMPLEX}), [0], 0, True)",
    "_fft_r2c(xp.ones(2, 3, 4, 2, device='meta'), [0, 1, 2, 3], 0, False)",
)

_WINDOW: Final = "window=xp.tensor([1., 2., 2., 1.])"
_SIGNAL: Final = "xp.arange(16.)"
_STFT: Final = (
    *("4, return_complex=True", f"4, {_WINDOW}", f"4, {_WINDOW}, return_complex=False"),
    *(f"4, {_WINDOW}, return_complex=True, center=False", "4, 2, 2, return_complex=True"),
    *(f"40, {_WINDOW}, return_complex=True", f"4, 0, {_WINDOW}, return_complex=True"),
    *(f"4, 2, 5, {_WINDOW}, return_complex=True", f"4, 2, 3, {_WINDOW}, return_complex=True"),
    *(f"0, {_WINDOW}, return_complex=True", f"-3, {_WINDOW}, return_complex=True, center=False"),
    *(f"4, {_WINDOW}.to(xp.complex64)", f"4, {_WINDOW}.to(xp.complex64), onesided=True"),
    f"4, {_WINDOW}, return_complex=True, onesided=False, normalized=True",
    f"4, {_WINDOW}, return_complex=True, pad_mode='nosuch'",
    f"4, {_WINDOW}.to('meta'), return_complex=True",
    f"8, 3, 4, {_WINDOW}, return_complex=True, center=False, align_to_window=True",
    f"9, 3, 4, {_WINDOW}, return_complex=True, center=False, align_to_window=True",
    f"4, {_WINDOW}, return_complex=True, align_to_window=True",
)
_SPECTRUM: Final = f"xp.stft({_SIGNAL}, 4, {_WINDOW}, return_complex=True)"
_ISTFT: Final = (
    *("4", f"4, {_WINDOW}", f"4, {_WINDOW}, center=False", f"4, win_length=3, {_WINDOW}"),
    *(f"4, 0, {_WINDOW}", f"4, 5, {_WINDOW}", f"4, 2, 5, {_WINDOW}", f"4, {_WINDOW}, length=30"),
    *(f"4, {_WINDOW}, length=10", f"4, {_WINDOW}, onesided=False", f"7, {_WINDOW}"),
    *(f"4, {_WINDOW}, return_complex=True", f"4, {_WINDOW}.to(xp.complex64)"),
    *(f"4, {_WINDOW}.double(), normalized=True", "4, window=xp.zeros(4)"),
)


def texts() -> Iterator[Text]:
    yield from _transforms()
    yield from _on_meta()
    for call in _REFUSED:
        yield "fft", f"xp.fft.{call}"
    for given in _FREQUENCIES:
        for name in ("fftfreq", "rfftfreq"):
            yield name, f"xp.fft.{name}({given})"
    for given in _SHIFTED:
        yield "fftshift", f"xp.fft.fftshift({given})"
    for call in _OPERATORS:
        yield "_fft", f"xp.ops.aten.{call}"
    yield from _short_times()


def _beside(call: str) -> str:
    return f"y = {call}\n({shown('y', cancels=True)})"


def _transforms() -> Iterator[Text]:
    """Of views, whose strides decide how what comes out lies."""
    for view in _VIEWS:
        for name in (*_OF_ANY, *_OF_REAL):
            yield name, _beside(f"xp.fft.{name}({_X}{view}, dim=1)")
            yield name, _beside(f"xp.fft.{name}n({_X}{view}, dim=(0, 2))")


def _on_meta() -> Iterator[Text]:
    """Where a GPU's way is taken, which transforms few dimensions at once."""
    for tensor in _ON_META:
        for dims in ("(0, 1)", "(2, 3, 0)", "(1,)", "(3, 2, 1, 0)"):
            for name in _OF_ANY:
                yield name, f"xp.fft.{name}n({tensor}, dim={dims})"
            if _COMPLEX not in tensor:
                for name in _OF_REAL:
                    yield name, f"xp.fft.{name}n({tensor}, dim={dims})"


def _short_times() -> Iterator[Text]:
    for given in _STFT:
        yield "stft", _beside(f"xp.stft({_SIGNAL}, {given})")
    for signal in ("xp.arange(16)", "xp.arange(16.).view(2, 2, 4)", "xp.arange(16.).to('meta')"):
        yield "stft", f"xp.stft({signal}, 4, {_WINDOW}, return_complex=True)"
    for given in _ISTFT:
        yield "istft", f"xp.istft({_SPECTRUM}, {given}) + 93.7"
    for view in (".real", "[None]", "[0]", "[:, :0]", ".to('meta')", ".conj()"):
        yield "istft", f"xp.istft({_SPECTRUM}{view}, 4, {_WINDOW}) + 93.7"
