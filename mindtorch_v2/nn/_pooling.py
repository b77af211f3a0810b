"""Pooling of ``torch.nn.functional``.

Mirrors the part of ``torch/nn/functional.py`` that has it.  What answers the places of its values
if it is asked to is two functions there, of which the one that always does has a name of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from mindtorch_v2._boolean_dispatch import Flags, boolean_dispatch
from mindtorch_v2.binding.python.bindings import FUNCTIONS
from mindtorch_v2.kernels.switches import HABITS
from mindtorch_v2.nn._overriding import overridable

_TORCH: Final = FUNCTIONS["torch"]
_NN: Final = FUNCTIONS["torch._C._nn"]

Function = Callable[..., Any]


def ntuple(values: Any, count: int) -> tuple[Any, ...]:
    """The numbers that there are, or a number so many times."""
    return tuple(values) if isinstance(values, Iterable) else (values,) * count


def _pair(
    name: str,
    place: int,
    values: Function,
    with_places: Function,
    asked: Sequence[str] = ("input",),
) -> tuple[Function, Function]:
    """``boolean_dispatch`` by ``return_indices``, which stands at ``place``; and the one of the
    two that answers places."""
    names: dict[Flags, str] = {(True,): f"{name}_with_indices", (False,): f"_{name}"}

    def public() -> Function:
        return dispatched

    both = overridable(*asked)(_named(with_places, names[True,]))
    alone = overridable(*asked, public=public)(_named(values, names[False,]))
    module = f"{__package__}.functional"
    dispatched = boolean_dispatch(
        name,
        {"return_indices": place},
        names,
        lambda flags: both if flags == (True,) else alone,
        module,
    )
    return dispatched, both


def _named(function: Function, name: str) -> Function:
    function.__name__ = function.__qualname__ = name
    return function


# --- largest values ---------------------------------------------------------------------------


def _largest(bound: Function) -> Function:
    def pool(
        input: Any,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        step = [] if stride is None else stride
        return bound(input, kernel_size, step, padding, dilation, ceil_mode)

    return pool


def largest(dims: int) -> tuple[Function, Function]:
    """``max_pool1d`` and its like."""
    name = f"max_pool{dims}d"
    with_places = (_TORCH if dims == 1 else _NN)[f"{name}_with_indices"]
    return _pair(name, 6, _largest(_TORCH[name]), _largest(with_places))


def adaptive_largest(dims: int) -> tuple[Function, Function]:
    """``adaptive_max_pool1d`` and its like."""
    name = f"adaptive_max_pool{dims}d"
    bound = (_TORCH if dims == 1 else _NN)[name]

    def with_places(input: Any, output_size: Any, return_indices: bool = False) -> Any:
        size = output_size if dims == 1 else list_with_default(output_size, input.size())
        return bound(input, size)

    def values(input: Any, output_size: Any, return_indices: bool = False) -> Any:
        return pair[1](input, output_size)[0]

    pair = _pair(name, 2, values, with_places)
    return pair


def fractional_largest(dims: int) -> tuple[Function, Function]:
    """``fractional_max_pool2d`` and ``fractional_max_pool3d``."""
    name = f"fractional_max_pool{dims}d"

    def with_places(
        input: Any,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Any = None,
    ) -> Any:
        if output_size is None and output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
        if output_size is None:
            output_size = _part_of(input, output_ratio, dims)
        if _random_samples is None:
            count = 1 if input.dim() == dims + 1 else input.size(0)
            sizes = (count, input.size(-dims - 1), dims)
            _random_samples = _TORCH["rand"](*sizes, dtype=input.dtype, device=input.device)
        return _NN[name](input, kernel_size, output_size, _random_samples)

    def values(
        input: Any,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Any = None,
    ) -> Any:
        given = (kernel_size, output_size, output_ratio, return_indices, _random_samples)
        return pair[1](input, *given)[0]

    pair = _pair(name, 4, values, with_places, ("input", "_random_samples"))
    return pair


def _part_of(input: Any, ratio: Any, dims: int) -> list[int]:
    """The sizes that are a part of the input's."""
    if dims == 2 and len(ratio) > 2:
        raise ValueError(
            "fractional_max_pool2d requires output_ratio to either be a single Int or tuple of "
            "Ints."
        )
    ratios = ntuple(ratio, dims)
    return [int(input.size(dim - dims) * ratios[dim]) for dim in range(dims)]


# --- means ------------------------------------------------------------------------------------


@overridable("input")
def adaptive_avg_pool2d(input: Any, output_size: Any) -> Any:
    return _NN["adaptive_avg_pool2d"](input, list_with_default(output_size, input.size()))


@overridable("input")
def adaptive_avg_pool3d(input: Any, output_size: Any) -> Any:
    return _NN["adaptive_avg_pool3d"](input, list_with_default(output_size, input.size()))


def list_with_default(output_size: Any, defaults: Sequence[int]) -> Any:
    """Where no size is given, that of the input."""
    if isinstance(output_size, int):
        return output_size
    if len(defaults) <= len(output_size):
        raise ValueError(f"Input dimension should be at least {len(output_size) + 1}")
    given = zip(output_size, defaults[-len(output_size) :], strict=False)
    return [default if size is None else size for size, default in given]


# --- the inverse ------------------------------------------------------------------------------


@overridable("input")
def max_unpool1d(
    input: Any,
    indices: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Any:
    """As an image of one column."""
    size, _, _ = _unpooling(1, input, kernel_size, stride, padding, output_size)
    size = [*size, 1] if isinstance(size, list) else (*size, 1)
    return _NN["max_unpool2d"](input.unsqueeze(-1), indices.unsqueeze(-1), size).squeeze(-1)


@overridable("input")
def max_unpool2d(
    input: Any,
    indices: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Any:
    size, _, _ = _unpooling(2, input, kernel_size, stride, padding, output_size)
    return _NN["max_unpool2d"](input, indices, size)


@overridable("input")
def max_unpool3d(
    input: Any,
    indices: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Any:
    size, step, edge = _unpooling(3, input, kernel_size, stride, padding, output_size)
    return _NN["max_unpool3d"](input, indices, size, step, edge)


def _unpooling(
    dims: int, input: Any, kernel_size: Any, stride: Any, padding: Any, output_size: Any
) -> tuple[Any, tuple[Any, ...], tuple[Any, ...]]:
    """The size of the output, with the stride and the padding of the pool."""
    kernel = ntuple(kernel_size, dims)
    step = kernel if stride is None else ntuple(stride, dims)
    edge = ntuple(padding, dims)
    return _unpool_output_size(input, kernel, step, edge, output_size), step, edge


def _unpool_output_size(
    input: Any,
    kernel: Sequence[Any],
    stride: Sequence[Any],
    padding: Sequence[Any],
    output_size: Any,
) -> Any:
    """That of what has been pooled, of several that there may be the one that is asked for."""
    sizes, dims = input.size(), len(kernel)
    found: Any = [
        (sizes[dim - dims] - 1) * stride[dim] + kernel[dim] - 2 * padding[dim]
        for dim in range(dims)
    ]
    if output_size is not None:
        found = _checked_output_size(output_size, found, stride)
    if HABITS["max_unpool of torch.nn takes no sizes below zero"]:
        for dim in range(dims):
            if found[dim] < 0:
                raise ValueError(
                    "max_unpooling: output_size must contain non-negative spatial dimensions, but "
                    f"got output_size[{dim}]={found[dim]}"
                )
    return found


def _checked_output_size(output_size: Any, default: Sequence[int], stride: Sequence[Any]) -> Any:
    dims = len(default)
    if len(output_size) == dims + 2:
        output_size = output_size[2:]
    if len(output_size) != dims:
        raise ValueError(
            f"output_size should be a sequence containing {dims} or {dims + 2} elements, but it "
            f"has a length of '{len(output_size)}'"
        )
    for dim in range(dims):
        least, most = default[dim] - stride[dim], default[dim] + stride[dim]
        if not least < output_size[dim] < most:
            raise ValueError(
                f'invalid output_size "{output_size}" (dim {dim} must be between {least} and '
                f"{most})"
            )
    return output_size
