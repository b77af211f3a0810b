"""What is raised of a matrix with which a computation cannot go on.

Mirrors ``c10::LinAlgError`` and ``torch._C._LinAlgError``, which is ``torch.linalg.LinAlgError``.
"""

from __future__ import annotations


class _LinAlgError(RuntimeError):
    """A matrix is singular, or not positive-definite, or an iteration does not converge."""

    __module__ = "mindtorch_v2._C"
