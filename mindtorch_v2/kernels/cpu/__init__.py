"""Kernels that compute with NumPy, and say on meta what would come out.

``functions`` has what they compute of single numbers; ``linalg``, ``pools`` and ``images`` are
kernels of one kind each.
"""
