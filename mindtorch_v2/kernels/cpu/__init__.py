"""Kernels that compute with NumPy, and say on meta what would come out."""
