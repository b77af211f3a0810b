"""``torch.func``: transforms of functions, of which there is one so far."""

from mindtorch_v2.functionalize.transform import functionalize

__all__ = ["functionalize"]

functionalize.__module__ = __name__
