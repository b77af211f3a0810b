"""Modules that normalize batches.

Mirrors ``torch/nn/modules/batchnorm.py``.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2._library.release import without
from mindtorch_v2.binding.python.bindings import FUNCTIONS
from mindtorch_v2.kernels.switches import HABITS
from mindtorch_v2.nn import functional, init
from mindtorch_v2.nn.modules.module import Module
from mindtorch_v2.nn.modules.parameters import made, options_of
from mindtorch_v2.nn.parameter import Parameter
from mindtorch_v2.tensor.dtype import int64

__all__ = ["BatchNorm1d", "BatchNorm2d", "BatchNorm3d"]

MAY_LACK_BIAS: Final = HABITS["a BatchNorm shows its bias"]
_TORCH: Final = FUNCTIONS["torch"]


class _NormBase(Module):
    """What has parameters and statistics for each channel."""

    _version = 2
    weight: Parameter | None
    bias: Parameter | None
    running_mean: Any
    running_var: Any
    num_batches_tracked: Any

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        options = options_of(device, dtype)
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        for name, is_wanted in (("weight", affine), ("bias", affine and bias)):
            self.register_parameter(name, made(options, num_features) if is_wanted else None)
        for name, make in (("running_mean", "zeros"), ("running_var", "ones")):
            buffer = _TORCH[make](num_features, **options) if track_running_stats else None
            self.register_buffer(name, buffer)
        count = _TORCH["tensor"](0, dtype=int64, device=device) if track_running_stats else None
        self.register_buffer("num_batches_tracked", count)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """As if no batch had come yet."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Ones and zeros."""
        self.reset_running_stats()
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def _check_input_dim(self, input: Any) -> None:
        raise NotImplementedError

    def _load_from_state_dict(
        self, state_dict: dict[str, Any], prefix: str, local_metadata: dict[str, Any], *rest: Any
    ) -> None:
        """States of the first version do not count batches."""
        name = f"{prefix}num_batches_tracked"
        is_old = (local_metadata.get("version") or 0) < 2
        if is_old and self.track_running_stats and name not in state_dict:
            count = self.num_batches_tracked
            is_kept = count is not None and not count.is_meta
            state_dict[name] = count if is_kept else _TORCH["tensor"](0, dtype=int64)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)

    def extra_repr(self) -> str:
        bias = ""
        if MAY_LACK_BIAS:
            bias = f"bias={self.bias is not None}, "
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"affine={self.affine}, {bias}track_running_stats={self.track_running_stats}"
        )


if not MAY_LACK_BIAS:
    _NormBase.__init__ = without(_NormBase.__init__, "bias")  # type: ignore[method-assign]


class _BatchNorm(_NormBase):
    """Channels brought to mean 0 and deviation 1, then scaled and moved."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        released = {"bias": bias} if MAY_LACK_BIAS else {}
        settings = (eps, momentum, affine, track_running_stats, device, dtype)
        super().__init__(num_features, *settings, **released)

    def forward(self, input: Any) -> Any:
        self._check_input_dim(input)
        share = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:  # each batch counts the same
                share = 1.0 / float(self.num_batches_tracked)
        is_kept = not self.training or self.track_running_stats
        mean, var = (self.running_mean, self.running_var) if is_kept else (None, None)
        learns = self.training or (self.running_mean is None and self.running_var is None)
        parameters = (self.weight, self.bias)
        return functional.batch_norm(input, mean, var, *parameters, learns, share, self.eps)


if not MAY_LACK_BIAS:
    _BatchNorm.__init__ = without(_BatchNorm.__init__, "bias")  # type: ignore[method-assign]


class BatchNorm1d(_BatchNorm):
    """Of batches of vectors or of sequences."""

    def _check_input_dim(self, input: Any) -> None:
        if input.dim() not in (2, 3):
            raise ValueError(f"expected 2D or 3D input (got {input.dim()}D input)")


class BatchNorm2d(_BatchNorm):
    """Of batches of images."""

    def _check_input_dim(self, input: Any) -> None:
        if input.dim() != 4:
            raise ValueError(f"expected 4D input (got {input.dim()}D input)")


class BatchNorm3d(_BatchNorm):
    """Of batches of volumes."""

    def _check_input_dim(self, input: Any) -> None:
        if input.dim() != 5:
            raise ValueError(f"expected 5D input (got {input.dim()}D input)")
