"""The reference functions of blocks of an image and of an image of blocks.

Mirrors ``torch/_decomp/decompositions.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mindtorch_v2.kernels.cpu.convolutions.im2col import Blocks
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.refs.bodies import body
from mindtorch_v2.kernels.refs.common import worded
from mindtorch_v2.tensor.tensor import Tensor

_DECOMPOSED: Final = "torch._decomp.decompositions."


def _check_ranks(prefix: str, **named: Sequence[int]) -> None:
    for name, values in named.items():
        if len(values) != 2:
            raise RuntimeError(f"{prefix}only 2D {name} supported")


def _check_positive(subject: str, **named: Sequence[int]) -> None:
    """Older releases forgot to put the parameter and its numbers into the message."""
    for name, values in named.items():
        if min(values) < (0 if name == "padding" else 1):
            raise worded(subject, kernel_size=name, **{"[0, 1]": f"{list(values)}"})


@body(_DECOMPOSED + "im2col")
def im2col(
    input: Tensor,
    kernel_size: Sequence[int],
    dilation: Sequence[int],
    padding: Sequence[int],
    stride: Sequence[int],
) -> Tensor:
    _check_ranks(
        "im2col(): ", kernel=kernel_size, dilation=dilation, padding=padding, stride=stride
    )
    _check_positive(
        "im2col without a kernel", kernel_size=kernel_size, dilation=dilation, stride=stride
    )
    sizes = tuple(input._sizes)
    if len(sizes) not in (3, 4) or 0 in sizes[-3:]:
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor for input with possible 0 batch size and "
            f"non-zero dimensions, but got: {sizes}"
        )
    counts = Blocks(kernel_size, dilation, padding, stride).counts(sizes[-2:])
    if min(counts) < 1:
        words = {
            "(2, 3)": f"{sizes[-2:]}",
            "[4, 5]": f"{list(kernel_size)}",
            "[6, 7]": f"{list(dilation)}",
            "[0, 1]": f"{list(padding)}",
            "[8, 9]": f"{list(stride)}",
            "(-2, -2)": f"{counts}",
        }
        raise worded("im2col of an image that has no block", **words)
    planes = sizes[-3] * kernel_size[0] * kernel_size[1]
    made = (*sizes[:-3], planes, counts[0] * counts[1])
    return new_tensor(made, input._dtype, input._device)


@body(_DECOMPOSED + "col2im")
def col2im(
    input: Tensor,
    output_size: Sequence[int],
    kernel_size: Sequence[int],
    dilation: Sequence[int],
    padding: Sequence[int],
    stride: Sequence[int],
) -> Tensor:
    _check_ranks(
        "",
        output_size=output_size,
        kernel=kernel_size,
        dilation=dilation,
        padding=padding,
        stride=stride,
    )
    _check_positive(
        "col2im without a kernel",
        kernel_size=kernel_size,
        dilation=dilation,
        padding=padding,
        stride=stride,
        output_size=output_size,
    )
    sizes = tuple(input._sizes)
    if len(sizes) not in (2, 3) or 0 in sizes[-2:]:
        raise RuntimeError(
            "Expected 2D or 3D (batch mode) tensor for input with possible 0 batch size and "
            f"non-zero dimensions, but got: {sizes}"
        )
    area = kernel_size[0] * kernel_size[1]
    if sizes[-2] % area:
        raise RuntimeError(
            "Expected size of input's first non-batch dimension to be divisible by the product of "
            f"kernel_size, but got input.shape[-2] = {sizes[-2]} and "
            f"kernel_size={list(kernel_size)}"
        )
    high, wide = Blocks(kernel_size, dilation, padding, stride).counts(output_size)
    if sizes[-1] != high * wide:
        raise RuntimeError(
            f"Given output_size={list(output_size)}, kernel_size={list(kernel_size)}, "
            f"dilation={list(dilation)}, padding={list(padding)}, stride={list(stride)}, expected "
            f"input.size(-1) to be {high * wide} but got {sizes[-1]}."
        )
    made = (*sizes[:-2], sizes[-2] // area, *output_size)
    return new_tensor(made, input._dtype, input._device)
