"""Functions of autograd that torch itself writes in Python: ``torch.autograd._functions``."""

from mindtorch_v2.autograd._functions.tensor import Resize

__all__ = ["Resize"]
