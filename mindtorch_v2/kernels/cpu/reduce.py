"""Reductions whose output is memory of what they reduce.

Mirrors ``review_reduce_result`` of ``aten/src/ATen/native/ReduceOpsUtils.h``, ``cpu/Reduce.h`` and
``foreach_reduced_elt`` of ``aten/src/ATen/TensorIteratorReduce.cpp``.

Note [Outputs that are inputs]
An ``out=`` tensor may be (part of) the tensor that is reduced.  If it is that tensor itself, it has
been resized before anything is computed: what is reduced has the geometry of the result.  If it
only shares memory, that memory is written while it is read.  There are two orders of doing so.
Sums, products and most extremes fill the output with their identity before they begin, and so read
that (``binary_kernel_reduce_vec``).  All others compute element after element, and each reads what
those before it have written (``binary_kernel_reduce``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from mindtorch_v2.kernels.elementwise.broadcasting import infer_size
from mindtorch_v2.tensor.copying import store
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.tensor import Tensor

Compute = Callable[[Array, tuple[int, ...]], Array]
"""Of values, and the dimensions to reduce."""


def shares_storage(output: Tensor, self: Tensor) -> bool:
    return output._storage is not None and output._storage is self._storage


def review_reduce_result(result: Tensor, dims: Sequence[int], *, keepdim: bool) -> Tensor:
    """The result with a dimension of size one for each that is reduced."""
    sizes, strides = list(result._sizes), list(result._strides)
    for dim in () if keepdim else sorted(dims):
        sizes.insert(dim, 1)
        strides.insert(dim, 0)
    return result._as_view(sizes, tuple(strides), result._storage_offset)


def fill_and_reduce(
    viewed: Tensor, read: Callable[[], Array], compute: Compute, identity: Array
) -> Array:
    """``binary_kernel_reduce_vec``: the identity is written before anything is read."""
    shape = infer_size(read().shape, viewed._sizes)
    store(viewed, identity)
    return compute(np.broadcast_to(read(), shape), _reduced_dims(viewed))


def foreach_reduced_elt(viewed: Tensor, read: Callable[[], Array], compute: Compute) -> None:
    """One element of the output after the other."""
    shape, dims = infer_size(read().shape, viewed._sizes), _reduced_dims(viewed)
    for place in places_in_order(viewed._sizes, viewed._strides):
        row = tuple(
            slice(None) if dim in dims else slice(at, at + 1) for dim, at in enumerate(place)
        )
        found = compute(np.broadcast_to(read(), shape)[row], dims)
        store(element_at(viewed, place), np.asarray(found).reshape(()))


def _reduced_dims(viewed: Tensor) -> tuple[int, ...]:
    return tuple(dim for dim, size in enumerate(viewed._sizes) if size == 1)


def places_in_order(sizes: Sequence[int], strides: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """All indices, the innermost dimension being that of the least stride."""
    order = sorted(range(len(sizes)), key=lambda dim: -strides[dim])
    for index in np.ndindex(*(sizes[dim] for dim in order)):
        found = dict(zip(order, index, strict=True))
        yield tuple(found[dim] for dim in range(len(sizes)))


def element_at(tensor: Tensor, place: Sequence[int]) -> Tensor:
    steps = (at * stride for at, stride in zip(place, tensor._strides, strict=True))
    return tensor._as_view((), (), tensor._storage_offset + sum(steps))
