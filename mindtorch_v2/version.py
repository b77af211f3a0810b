"""The version of this package."""

__version__ = "0.1.0"

cuda: str | None = None
"""The version of CUDA that a build is for, of which this is none."""
