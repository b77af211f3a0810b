"""Linear algebra: factors of matrices, what they solve, and what LAPACK computes of them."""
