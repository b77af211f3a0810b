"""Kernels at the keys above the backends: autograd, autocast, functionalization and their like."""
