"""Kernels that are made of other operators."""
