"""Helpers: tensors on both sides, and what must be the same."""

from __future__ import annotations

from typing import Any

import numpy as np

import mindtorch_v2 as torch


def on_npu(value: Any) -> Any:
    """Tensors, in lists too, on the NPU, as leaves where they were leaves."""
    if isinstance(value, (list, tuple)):
        return type(value)(map(on_npu, value))
    if not isinstance(value, torch.Tensor):
        return value
    return value.detach().npu().requires_grad_(value.requires_grad)


def assert_same(on_device: Any, expected: Any, *, rtol: float = 1e-5, atol: float = 1e-6) -> None:
    """Shapes, dtypes and values; strides too, as kernels of the CPU choose them."""
    if isinstance(expected, (list, tuple)):
        assert len(on_device) == len(expected)
        for one, other in zip(on_device, expected, strict=True):
            assert_same(one, other, rtol=rtol, atol=atol)
        return
    if not isinstance(expected, torch.Tensor):
        assert on_device == expected
        return
    assert on_device.device == torch.device("npu:0")
    assert on_device.dtype is expected.dtype
    assert on_device.shape == expected.shape
    assert on_device.stride() == expected.stride()
    found, wanted = (each.detach().cpu().to(_plain(each)).numpy() for each in (on_device, expected))
    np.testing.assert_allclose(found, wanted, rtol=rtol, atol=atol)


def _plain(tensor: Any) -> Any:
    """A dtype that numpy has."""
    return torch.float32 if tensor.dtype is torch.bfloat16 else tensor.dtype
