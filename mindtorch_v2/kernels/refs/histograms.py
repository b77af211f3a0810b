"""Histograms over several dimensions on meta, in releases that have them there.

Mirrors ``torch/_meta_registrations.py``; a function is named as it is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.refs.bodies import body
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.tensor import Tensor

_META: Final = "torch._meta_registrations."


@body(_META + "meta_histogramdd_bin_edges")
def meta_histogramdd_bin_edges(
    self: Tensor,
    bins: Sequence[int],
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> list[Tensor]:
    _check(self, bins)
    return [_like(self, (count + 1,)) for count in bins]


@body(_META + "meta_histogramdd_from_bin_cts")
def meta_histogramdd_from_bin_cts(
    self: Tensor,
    bins: Sequence[int],
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> Tensor:
    _check(self, bins)
    return _like(self, bins)


@body(_META + "meta_histogramdd_from_bin_tensors")
def meta_histogramdd_from_bin_tensors(
    self: Tensor, bins: Sequence[Tensor], weight: Tensor | None = None, density: bool = False
) -> Tensor:
    _check(self, bins)
    return _like(self, [numel(edges._sizes) - 1 for edges in bins])


def _check(self: Tensor, bins: Sequence[object]) -> None:
    if size_at(self, -1) != len(bins):
        raise RuntimeError(
            "histogramdd: The size of bins must be equal to the innermost dimension of the input."
        )


def _like(self: Tensor, sizes: Sequence[int]) -> Tensor:
    """``new_empty``."""
    return new_tensor(sizes, self._dtype, self._device)
