"""Kernels: what operators compute, by operator and dispatch key.

``rows`` holds them, ``handle`` is how one calls another operator.  A package a backend: ``cpu``
(NumPy); ``composite`` has the operators that are made of others.

All of it is imported when a kernel is first looked for (:func:`load`).
"""

from __future__ import annotations

from mindtorch_v2.dispatch.native import Provider


def load() -> Provider:
    """Import every module of rows; who finds the kernel of an operator among them."""
    from mindtorch_v2.kernels import install

    return install.find
