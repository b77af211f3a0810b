"""``torch.optim``: what changes parameters by their gradients."""

from mindtorch_v2.optim.adam import Adam
from mindtorch_v2.optim.adamw import AdamW
from mindtorch_v2.optim.optimizer import Optimizer
from mindtorch_v2.optim.sgd import SGD

__all__ = ["SGD", "Adam", "AdamW", "Optimizer"]
