"""A strict simulated Ascend runtime in C, and what tests need to build and drive it."""
