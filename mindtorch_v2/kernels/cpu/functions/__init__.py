"""Functions of numbers that NumPy has not, or computes otherwise; some are operators, too."""
