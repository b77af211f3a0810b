"""Convolutions on the CPU, by the ways in which torch computes them."""
