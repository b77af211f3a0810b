"""Pointwise operators: operands that are brought together, and the loops over their elements."""
