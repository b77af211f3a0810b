"""Samples that are computed from random numbers, and sequences that pass for random."""
