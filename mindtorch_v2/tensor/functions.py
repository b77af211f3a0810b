"""Functions that are a tensor's method, called with the tensor."""

from __future__ import annotations

from mindtorch_v2.tensor.tensor import Tensor


def clone(input: Tensor) -> Tensor:
    return input.clone()


def conj(input: Tensor) -> Tensor:
    return input.conj()


def detach(input: Tensor) -> Tensor:
    return input.detach()


def imag(input: Tensor) -> Tensor:
    return input.imag


def is_inference(input: Tensor) -> bool:
    return input.is_inference()


def real(input: Tensor) -> Tensor:
    return input.real


def resolve_conj(input: Tensor) -> Tensor:
    return input.resolve_conj()


def resolve_neg(input: Tensor) -> Tensor:
    return input.resolve_neg()


def t(input: Tensor) -> Tensor:
    return input.t()
