"""What kernels that LAPACK computes do with the tensors that they are to write to.

Those of ``aten/src/ATen/native/BatchLinearAlgebra.cpp`` that are not structured write straight into
a tensor that lies as LAPACK wants it, or has no elements and can be given that geometry.  For any
other they make one of their own, which they copy.
"""

from __future__ import annotations

from collections.abc import Sequence

from mindtorch_v2.kernels.linear_algebra import column_major_strides, is_column_major
from mindtorch_v2.kernels.outputs import resize_output, set_sizes
from mindtorch_v2.kernels.overlap import assert_no_internal_overlap
from mindtorch_v2.tensor.copying import store
from mindtorch_v2.tensor.dtype import DType
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import contiguous_strides, is_contiguous, numel
from mindtorch_v2.tensor.tensor import Tensor


def is_written_directly(
    out: Tensor, sizes: Sequence[int], dtype: DType, *, columns: bool = False
) -> bool:
    """Whether no copy is needed; ``columns``: LAPACK writes matrices column by column."""
    if out._dtype is not dtype:
        return False
    if not numel(out._sizes):
        return True
    if tuple(out._sizes) != tuple(sizes):
        return False
    return is_column_major(out) if columns else is_contiguous(out._sizes, out._strides)


def give_sizes(
    out: Tensor, sizes: Sequence[int], *, directly: bool, columns: bool = False
) -> Tensor:
    """The output with the sizes of the result; a warning if it had elements and others."""
    if not directly:
        resize_output(out, sizes)
    elif not numel(out._sizes):
        strides = column_major_strides(sizes) if columns else contiguous_strides(sizes)
        set_sizes(out, sizes, strides)
    return out


def write(out: Tensor, values: Array) -> None:
    """A copy cannot be made into a tensor that overlaps itself; none that lies as LAPACK wants it
    does."""
    assert_no_internal_overlap(out)
    store(out, values)
