"""Functions that are a tensor's method, called with the tensor; methods that a dtype names."""

from __future__ import annotations

from mindtorch_v2.tensor.dtype import DTYPES, DType
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


def _converter(name: str, target: DType) -> None:
    """The method ``name``, which converts to one dtype."""

    def convert(self: Tensor) -> Tensor:
        return self._converted(self._device, target)

    convert.__name__ = name
    convert.__qualname__ = f"Tensor.{name}"
    setattr(Tensor, name, convert)


for _name in [
    "float",
    "double",
    "half",
    "bfloat16",
    "long",
    "int",
    "short",
    "char",
    "byte",
    "bool",
    "cfloat",
    "cdouble",
]:
    _converter(_name, DTYPES[{"char": "int8", "byte": "uint8"}.get(_name, _name)])
