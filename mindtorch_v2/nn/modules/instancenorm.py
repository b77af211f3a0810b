"""Modules that normalize each sample by itself.

Mirrors ``torch/nn/modules/instancenorm.py``.
"""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

from mindtorch_v2._library.release import without
from mindtorch_v2.nn import functional
from mindtorch_v2.nn.modules.batchnorm import MAY_LACK_BIAS, _NormBase

__all__ = ["InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d"]


class _InstanceNorm(_NormBase):
    """The channels of each sample brought to mean 0 and deviation 1.

    Unless told to, it learns no parameters and keeps no statistics.
    """

    _sample_dims: ClassVar[int]

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        released = {"bias": bias} if MAY_LACK_BIAS else {}
        settings = (eps, momentum, affine, track_running_stats, device, dtype)
        super().__init__(num_features, *settings, **released)

    def _check_input_dim(self, input: Any) -> None:
        one, batch = self._sample_dims, self._sample_dims + 1
        if input.dim() not in (one, batch):
            raise ValueError(f"expected {one}D or {batch}D input (got {input.dim()}D input)")

    def forward(self, input: Any) -> Any:
        """Of a sample without a batch as well."""
        self._check_input_dim(input)
        rank = input.dim()
        dim = rank - self._sample_dims
        if input.size(dim) != self.num_features:
            self._refuse_channels(dim, input.size(dim))
        if rank > self._sample_dims:
            return self._apply_instance_norm(input)
        return self._apply_instance_norm(input.unsqueeze(0)).squeeze(0)

    def _refuse_channels(self, dim: int, size: int) -> None:
        """ValueError for another number of channels, or a warning where nothing depends on it."""
        if self.affine:
            raise ValueError(
                f"expected input's size at dim={dim} to match num_features ({self.num_features}), "
                f"but got: {size}."
            )
        warnings.warn(
            f"input's size at dim={dim} does not match num_features. You can silence this warning "
            "by not passing in num_features, which is not used because affine=False",
            stacklevel=2,
        )

    def _apply_instance_norm(self, input: Any) -> Any:
        learns = self.training or not self.track_running_stats
        share = 0.0 if self.momentum is None else self.momentum
        parameters = (self.running_mean, self.running_var, self.weight, self.bias)
        return functional.instance_norm(input, *parameters, learns, share, self.eps)

    def _load_from_state_dict(
        self, state_dict: dict[str, Any], prefix: str, local_metadata: dict[str, Any], *rest: Any
    ) -> None:
        """States of the first version have statistics in any case."""
        if local_metadata.get("version") is None and not self.track_running_stats:
            names = [prefix + name for name in ("running_mean", "running_var")]
            found = [name for name in names if name in state_dict]
            if found:
                rest[-1].append(_unexpected(" and ".join(f'"{name}"' for name in found), self))
            for name in found:
                state_dict.pop(name)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)


def _unexpected(names: str, module: _InstanceNorm) -> str:
    kind = type(module).__name__
    return (
        f"Unexpected running stats buffer(s) {names} for {kind} with track_running_stats=False. If "
        "state_dict is a checkpoint saved before 0.4.0, this may be expected because "
        f"{kind} does not track running stats by default since 0.4.0. Please remove these keys "
        "from state_dict. If the running stats are actually needed, instead set "
        f"track_running_stats=True in {kind} to enable them. See the documentation of {kind} for "
        "details."
    )


if not MAY_LACK_BIAS:
    _InstanceNorm.__init__ = without(  # type: ignore[method-assign]
        _InstanceNorm.__init__, "bias"
    )


class InstanceNorm1d(_InstanceNorm):
    """Of sequences."""

    _sample_dims = 2


class InstanceNorm2d(_InstanceNorm):
    """Of images."""

    _sample_dims = 3


class InstanceNorm3d(_InstanceNorm):
    """Of volumes."""

    _sample_dims = 4
