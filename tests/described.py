"""Tensors as outcomes have them, for tests that hold outcomes against each other."""

from __future__ import annotations

from typing import Any


def described_tensor(*values: str, dtype: str = "torch.int32") -> dict[str, Any]:
    """What `conformance.describe` makes of a tensor of one dimension on the CPU."""
    return {
        "type": "torch.Tensor",
        "dtype": dtype,
        "device": "cpu",
        "layout": "torch.strided",
        "requires_grad": "False",
        "shape": [len(values)],
        "stride": [1],
        "values": list(values),
    }
