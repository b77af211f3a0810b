"""Which samples of decompositions have results that can be compared, and how.

A sample's numbers are often those of a range, in which every row is another one and a constant: a
larger matrix of them has two independent rows.  What a decomposition answers of the others is made
of rounding errors.  So they get a larger diagonal, and values are compared of matrices whose
singular values are apart from nought, and where there are vectors, from each other.

Singular vectors and eigenvectors are unique up to a sign, or a phase.  Which of them comes out is
LAPACK's affair: MKL has others with another vector unit, and of another release.  So magnitudes are
compared, and gradients of these.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from conformance.names import words

if TYPE_CHECKING:
    from mindtorch_v2.profile.sections import Sample, SampleTensor

DECOMPOSED: Final = words("""
    geqrf linalg_qr qr linalg_svd linalg_svdvals svd linalg_eig linalg_eigvals linalg_eigh
    linalg_eigvalsh linalg_pinv linalg_pinv_hermitian pinverse linalg_lstsq
    linalg_lstsq_grad_oriented linalg_cond""")
"""Operators whose first argument is decomposed."""

REGULAR: Final = DECOMPOSED - words("linalg_eig linalg_eigvals")
"""Those whose samples get a larger diagonal.  It would be an eigenvalue of many vectors."""

UNSIGNED: Final = words("linalg_svd svd linalg_eig linalg_eigh")
"""Those that answer vectors without a sign."""

SUMMED: Final = words("norm_nuc linalg_matrix_norm linalg_norm linalg_norm_subgradients_at_zero")
"""Those that add singular values up, or take the largest: one without digits has a say in gradients
alone, and in the norm that is the smallest."""

DIGITS: Final = {
    **dict.fromkeys(("float64", "complex128"), (1e-5, 1.1)),
    **dict.fromkeys(("float32", "complex64"), (0.3, 3.0)),
}
"""By dtype, the least ratio of the smallest singular value to the largest, since as many digits as
that takes are lost; and of two that follow each other, whose vectors would be mixed."""


def is_comparable(name: str, sample: Sample) -> bool:
    """Whether rounding errors have no say in what an operator answers of a sample."""
    if name in SUMMED and "differentiable" not in sample and "-2" not in sample["arguments"]:
        return True
    if name not in DECOMPOSED and name not in SUMMED:
        return True
    matrices = _values(sample["tensors"][0])
    if not matrices.size or matrices.ndim < 2:
        return True
    found = np.linalg.svd(matrices, compute_uv=False)
    least, apart = DIGITS.get(sample["dtype"], (1.0, 1.0))
    is_regular = (found[..., -1] > least * found[..., 0]).all()
    are_apart = (found[..., :-1] > apart * found[..., 1:]).all()
    return bool(is_regular and (are_apart or name not in UNSIGNED))


def _values(facts: SampleTensor) -> np.ndarray[Any, Any]:
    """What a sample's text makes: see ``opinfo_samples``."""
    made = _numbers(facts)
    if "diagonal" not in facts:
        return made
    number, rows, columns = facts["diagonal"]
    identity: np.ndarray[Any, Any] = np.eye(rows, columns)
    if [rows, columns] != facts["shape"][-2:]:
        identity = identity.reshape(facts["shape"])
    with_diagonal: np.ndarray[Any, Any] = made + number * identity
    return with_diagonal


def _numbers(facts: SampleTensor) -> np.ndarray[Any, Any]:
    shape = facts["shape"]
    if "values" in facts or not math.prod(shape):
        values = [complex(text.replace(" ", "")) for text in facts.get("values", [])]
        return np.array(values).reshape(shape)
    steps = facts.get("stride", [])
    size = math.prod(shape)
    if steps:
        size = 1 + sum((each - 1) * step for each, step in zip(shape, steps, strict=True))
    count, first, step = (float(each) for each in facts["range"])
    numbers = np.arange(size) * (17 if count % 13 == 0 else 13) % count * step + first
    if not steps:
        return numbers.reshape(shape)
    strides = [each * numbers.itemsize for each in steps]
    return np.lib.stride_tricks.as_strided(numbers, shape, strides)


def magnitudes(text: str) -> str:
    """An expression for those of a call's results."""
    return f"[each.abs() for each in {text}]"
