"""``torch.utils.deterministic``: whether uninitialised memory is filled."""

from mindtorch_v2._context_bindings import make_deterministic

make_deterministic(__name__)
