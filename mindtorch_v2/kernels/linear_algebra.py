"""What operators on matrices share: their checks, their geometry, the words for what went wrong.

Mirrors ``aten/src/ATen/native/LinearAlgebraUtils.h`` and ``_linalg_check_errors`` of
``BatchLinearAlgebra.cpp``.  A batch of matrices has its last two dimensions for them; LAPACK wants
each column by column.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels.elementwise.broadcasting import infer_size
from mindtorch_v2.kernels.elementwise.promotion import can_cast
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor, resize_output
from mindtorch_v2.kernels.overlap import assert_no_internal_overlap
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import COMPLEX_TYPES, FLOATING_TYPES, HABITS
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.linalg_error import _LinAlgError
from mindtorch_v2.messages import internal_assert
from mindtorch_v2.tensor.copying import store, value_array
from mindtorch_v2.tensor.dtype import DTYPES, DType
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import contiguous_strides, is_contiguous
from mindtorch_v2.tensor.support import CPP_NAMES, worded
from mindtorch_v2.tensor.tensor import Tensor

COMPUTED: Final = FLOATING_TYPES | COMPLEX_TYPES
"""The dtypes that LAPACK has: ``AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES``."""
INT32: Final = DTYPES["int32"]
"""That of pivots and of what LAPACK informs of."""
_SOLVES_WHAT_IS_GIVEN: Final = HABITS["linalg_solve factors what it is given"]
_COPY_: Final = OperatorHandle("aten::copy_")
_MT: Final = OperatorHandle("aten::mT")
_TRANSPOSE: Final = OperatorHandle("aten::transpose.int")
_EXPAND: Final = OperatorHandle("aten::expand")


# --- checks -----------------------------------------------------------------------------------


def check_is_matrix(tensor: Tensor, function: str, name: str = "A") -> None:
    """``checkIsMatrix``."""
    if len(tensor._sizes) < 2:
        raise RuntimeError(f"{function}: The input tensor {name} must have at least 2 dimensions.")


def check_square(tensor: Tensor, function: str, name: str = "A") -> None:
    """``squareCheckInputs``."""
    check_is_matrix(tensor, function, name)
    rows, columns = tensor._sizes[-2:]
    if rows != columns:
        raise RuntimeError(
            f"{function}: {name} must be batches of square matrices, but they are {rows} by "
            f"{columns} matrices"
        )


def check_solver(a: Tensor, b: Tensor, function: str, *, left: bool) -> None:
    """``checkInputsSolver``: whether ``b`` has as many rows, or columns, as the square ``a``."""
    check_square(a, function)
    check_is_matrix(b, function, "B")
    place = -2 if left else -1
    if a._sizes[place] != b._sizes[place]:
        (rows, columns), (others, more) = a._sizes[-2:], b._sizes[-2:]
        raise RuntimeError(
            f"{function}: Incompatible shapes of A and B for the equation "
            f"{'AX = B' if left else 'XA = B'} ({rows}x{columns} and {others}x{more})"
        )


def check_linear_solve(b: Tensor, a: Tensor, function: str) -> None:
    """``linearSolveCheckInputs``: of ``a`` and the right-hand sides ``b`` of older operators."""
    if b._device != a._device:
        raise RuntimeError(
            f"Expected b and A to be on the same device, but found b on {b._device} and A on "
            f"{a._device} instead."
        )
    if b._dtype is not a._dtype:
        raise RuntimeError(
            "Expected b and A to have the same dtype, but found b of type "
            f"{CPP_NAMES[b._dtype]} and A of type {CPP_NAMES[a._dtype]} instead."
        )
    check_sizes_of_system(b, a, function)


def check_sizes_of_system(b: Tensor, a: Tensor, function: str) -> None:
    """Whether ``a`` is square, and ``b`` has as many rows."""
    rows, columns = size_at(a, -2), size_at(a, -1)
    if rows != columns:
        raise RuntimeError(
            f"A must be batches of square matrices, but they are {rows} by {columns} matrices"
        )
    if rows != size_at(b, -2):
        raise RuntimeError(
            f"Incompatible matrix sizes for {function}: each A matrix is {rows} by {rows} but "
            f"each b matrix is {size_at(b, -2)} by {size_at(b, -1)}"
        )


def two_dtypes(function: str, one: tuple[str, Tensor], two: tuple[str, Tensor]) -> RuntimeError:
    """What a solver says of tensors, each with its name, that have not the same dtype."""
    (first, a), (second, b) = one, two
    return RuntimeError(
        f"{function}: Expected {first} and {second} to have the same dtype, but found {first} of "
        f"type {CPP_NAMES[a._dtype]} and {second} of type {CPP_NAMES[b._dtype]} instead"
    )


def check_floating_or_complex(tensor: Tensor, function: str, *, halves: bool = True) -> None:
    """``checkFloatingOrComplex``, which may take no ``halves``."""
    dtype = tensor._dtype
    if not (dtype.is_floating_point or dtype.is_complex):
        raise worded("a matrix of integers", **{"linalg.det": function, "Long": CPP_NAMES[dtype]})
    if not halves and dtype not in COMPUTED:
        raise worded("a matrix of halves", **{"linalg.inv": function, "Half": CPP_NAMES[dtype]})


def check_same_device(function: str, result: Tensor, input: Tensor, name: str = "result") -> None:
    """``checkSameDevice``."""
    if result._device != input._device:
        raise RuntimeError(
            f"{function}: Expected {name} and input tensors to be on the same device, but got "
            f"{name} on {result._device} and input on {input._device}"
        )


def check_castable(function: str, result: Tensor, dtype: DType, name: str = "result") -> None:
    """``checkLinalgCompatibleDtype``: whether a result of ``dtype`` can be copied into one."""
    if not can_cast(dtype, result._dtype):
        raise RuntimeError(
            f"{function}: Expected {name} to be safely castable from {CPP_NAMES[dtype]} dtype, "
            f"but got {name} with dtype {CPP_NAMES[result._dtype]}"
        )


def copied_to(function: str, out: Tensor, input: Tensor, compute: Callable[[], Tensor]) -> Tensor:
    """The ``out=`` form of operators that compute a result of the input's dtype, and copy it."""
    check_same_device(function, out, input)
    check_castable(function, out, input._dtype)
    result = compute()
    resize_output(out, result._sizes)
    _COPY_(out, result)
    return out


# --- geometry ---------------------------------------------------------------------------------


def column_major_strides(sizes: Sequence[int]) -> tuple[int, ...]:
    """``batched_matrix_contiguous_strides`` of matrices that lie column by column."""
    strides = contiguous_strides(sizes)
    if len(sizes) < 2:
        return strides
    return (*strides[:-2], 1, max(sizes[-2], 1))


def new_column_major(sizes: Sequence[int], like: Tensor, dtype: DType | None = None) -> Tensor:
    """An uninitialised batch of matrices that lie column by column."""
    return new_tensor(sizes, dtype or like._dtype, like._device, column_major_strides(sizes))


def clone_column_major(tensor: Tensor) -> Tensor:
    """``cloneBatchedColumnMajor``."""
    if len(tensor._sizes) < 2:
        _TRANSPOSE(_MT(tensor), -2, -1)  # one of which refuses it
    *batch, rows, columns = tensor._sizes
    strides = contiguous_strides((*batch, columns, rows))
    turned = (*strides[:-2], strides[-1], strides[-2])
    made = new_tensor(tensor._sizes, tensor._dtype, tensor._device, turned)
    _COPY_(made, tensor)
    return made


def is_column_major(tensor: Tensor) -> bool:
    """``mT().is_contiguous()``."""
    sizes, strides = tensor._sizes, tensor._strides
    return is_contiguous(
        (*sizes[:-2], sizes[-1], sizes[-2]), (*strides[:-2], strides[-1], strides[-2])
    )


def factors_transposes(matrices: Tensor) -> bool:
    """Whether the transposes are factored instead, which lie as LAPACK wants it."""
    is_row_major = is_contiguous(matrices._sizes, matrices._strides)
    return is_row_major and not matrices._dtype.is_complex


def solves_transposes(matrices: Tensor) -> bool:
    """The same of what ``linalg_solve`` factors, in releases that do so."""
    return not _SOLVES_WHAT_IS_GIVEN and factors_transposes(matrices)


def transposed(tensor: Tensor, name: str = "mT") -> Tensor:
    """A view of the same elements, whose matrices are turned; RuntimeError if there are none."""
    sizes, strides = tensor._sizes, tensor._strides
    if len(sizes) < 2:
        raise RuntimeError(
            f"tensor.{name} is only supported on matrices or batches of matrices. Got "
            f"{len(sizes)}-D tensor."
        )
    return tensor._as_view(
        (*sizes[:-2], sizes[-1], sizes[-2]),
        (*strides[:-2], strides[-1], strides[-2]),
        tensor._storage_offset,
    )


def batch_count(tensor: Tensor) -> int:
    """``batchCount``: how many matrices there are."""
    return prod(tensor._sizes[:-2])


def broadcast_batch_sizes(one: Tensor, two: Tensor) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """``_linalg_broadcast_batch_dims``: the sizes of both once there are as many matrices."""
    batch = infer_size(one._sizes[:-2], two._sizes[:-2])
    return (*batch, *one._sizes[-2:]), (*batch, *two._sizes[-2:])


def broadcast_batches(one: Tensor, two: Tensor) -> tuple[Tensor, Tensor]:
    """Both, expanded to these sizes."""
    wanted = broadcast_batch_sizes(one, two)
    first, second = (
        each if tuple(each._sizes) == sizes else _EXPAND(each, list(sizes))
        for each, sizes in zip((one, two), wanted, strict=True)
    )
    return first, second


def is_vector_rhs(a: Tensor, b: Tensor) -> bool:
    """``linalg_solve_is_vector_rhs``: whether ``b`` is a vector for each matrix of ``a``."""
    sizes = b._sizes
    if len(sizes) == 1:
        return True
    return len(a._sizes) - 1 == len(sizes) and tuple(sizes) == tuple(a._sizes[:-1])


def write(output: Tensor, values: Array) -> None:
    """Put a result into an output.

    Where one that was given does not lie as LAPACK wants it, torch copies to it, and looks first.
    """
    assert_no_internal_overlap(output)
    store(output, values)


# --- what went wrong --------------------------------------------------------------------------

_SINGULAR: Final = "because the input matrix is singular."
_ILL: Final = (
    "The algorithm failed to converge because the input matrix is ill-conditioned or has too many "
    "repeated"
)
_WORDS: Final[Sequence[tuple[str, str]]] = (
    (
        "inv",
        f"The diagonal element {{0}} is zero, the inversion could not be completed {_SINGULAR}",
    ),
    ("solve", f"The solver failed {_SINGULAR}"),
    (
        "cholesky",
        "The factorization could not be completed because the input is not positive-definite (the "
        "leading minor of order {0} is not positive-definite).",
    ),
    ("svd", f"{_ILL} singular values (error code: {{0}})."),
    ("eig", f"{_ILL} eigenvalues (error code: {{0}})."),
    ("syevd", f"{_ILL} eigenvalues (error code: {{0}})."),
    (
        "lstsq",
        "The least squares solution could not be computed because the input matrix does not have "
        "full rank (error code: {0}).",
    ),
)
"""What part of a function's name has which words for what LAPACK informs of."""
_NO_FACTORS: Final = (
    "U[{0},{0}] is zero and using it on lu_solve would result in a division by zero. If you still "
    "want to perform the factorization, consider calling linalg.lu(A, pivot) or "
    "linalg.lu_factor_ex(A, pivot)"
)
_NON_FINITE: Final = (
    "The algorithm failed to converge because the input matrix contained non-finite values."
)


@kernel("aten::_linalg_check_errors", key="CompositeExplicitAutograd")
def check_errors(info: Tensor, api_name: str, is_matrix: bool) -> None:
    """Raise what a function says of the first matrix that LAPACK informs of."""
    if info._dtype is not INT32:
        raise RuntimeError(internal_assert("infos.scalar_type() == kInt", "_linalg_check_errors"))
    if info.is_meta:
        return
    found = np.reshape(value_array(info), -1)
    wrong = np.flatnonzero(found)
    if not wrong.size:
        return
    code = int(found[wrong[0]])
    who = api_name if is_matrix else f"{api_name}: (Batch element {wrong[0]})"
    if code < 0:
        if "svd" in api_name and code == -4:
            raise _LinAlgError(f"{who}: {_NON_FINITE}")
        raise RuntimeError(
            f"{who}: Argument {-code} has illegal value. Most certainly there is a bug in the "
            "implementation calling the backend library."
        )
    for part, words in _WORDS:
        if part in api_name:
            raise _LinAlgError(f"{who}: {words.format(code)}")
    if "lu_factor" in api_name:
        raise RuntimeError(f"{who}: {_NO_FACTORS.format(code)}")
    where = internal_assert("false", "_linalg_check_errors(unknown)")
    raise RuntimeError(f"{where}{api_name}: Unknown error code: {code}.")


CHECK_ERRORS: Final = OperatorHandle("aten::_linalg_check_errors")


def check_matrices(info: Any, function: str, matrices: Tensor) -> None:
    """The same by the operator, of what was found out about ``matrices``."""
    CHECK_ERRORS(info, function, is_matrix=len(matrices._sizes) == 2)
