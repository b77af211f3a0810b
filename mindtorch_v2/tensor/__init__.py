"""Tensors: so far their metadata, from which their dispatch keys follow."""
