"""Operators that draw from a generator."""
