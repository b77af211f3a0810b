"""Functions that are a tensor's method, called with the tensor."""

from __future__ import annotations

from mindtorch_v2.tensor.tensor import Tensor


def clone(input: Tensor) -> Tensor:
    return input.clone()


def detach(input: Tensor) -> Tensor:
    return input.detach()


def is_inference(input: Tensor) -> bool:
    return input.is_inference()


def resolve_conj(input: Tensor) -> Tensor:
    return input.resolve_conj()


def resolve_neg(input: Tensor) -> Tensor:
    return input.resolve_neg()
