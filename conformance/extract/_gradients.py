"""Questions about gradients, for ``neural.json``: see :mod:`conformance.extract.neural`."""

from collections.abc import Callable

import torch

from conformance.extract._asking import is_reached, options_of

A = torch.ops.aten


def gradient_at_origin() -> torch.Tensor:
    self, other = torch.zeros((), requires_grad=True), torch.zeros(())
    return torch.autograd.grad(torch.atan2(self, other), self)[0]


def gradient_on_bound() -> float:
    """Of what is clamped by a tensor, where it equals that."""
    leaf = torch.ones(1, requires_grad=True)
    leaf.clamp(torch.ones(1)).backward()
    assert leaf.grad is not None
    return float(leaf.grad)


def power_of_powers() -> torch.Tensor:
    return torch.pow(torch.ones(1, requires_grad=True), torch.ones(1))


def gradient_of_unpooling() -> torch.Tensor:
    image = torch.ones(1, 1, 1, requires_grad=True)
    place = torch.zeros(1, 1, 1, dtype=torch.int64)
    return torch.autograd.grad(A.max_unpool2d(image, place, [1, 2]).sum(), image)[0]


def gradient_of_bessel() -> torch.Tensor:
    leaf = torch.ones(1, requires_grad=True)
    return torch.autograd.grad(torch.special.i1(leaf), leaf)[0]


HABITS: dict[str, Callable[[], bool]] = {
    "atan2 has a gradient of zero at its origin": lambda: not gradient_at_origin().isnan(),
    "a power's gradient of zero is made as a number": lambda: bool(
        options_of(A.scalar_tensor.default, lambda: power_of_powers().sum().backward())
    ),
    "clamp shares its gradient with the bound": lambda: gradient_on_bound() == 0.5,
    "the gradient of an unpooling is reshaped": lambda: (
        not is_reached(A.clone.default, gradient_of_unpooling)
    ),
    "a slope at nought asks what is near to it": lambda: (
        is_reached(A.le.Scalar, gradient_of_bessel)
    ),
}
