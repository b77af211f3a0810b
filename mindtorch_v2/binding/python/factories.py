"""Tensors that C++ makes for Python: ``torch::ones`` and the other variable factories.

Mirrors ``torch/csrc/autograd/generated/variable_factories.h``, and ``make_variable`` of
``torch/csrc/autograd/variable.h``: what came from below becomes the variable if nobody else has it,
else a shallow copy does.  torch counts references to tell, and so does this; only an override or a
kernel in Python can have kept what it made.
"""

from __future__ import annotations

from sys import getrefcount
from typing import Any, Final

from mindtorch_v2.binding.operators import Call
from mindtorch_v2.binding.python.exceptions import is_of_a_tensors_kind
from mindtorch_v2.binding.python.signature import Signature
from mindtorch_v2.dispatch import tls
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.keyset import BELOW_INPLACE_OR_VIEW, functionality_bit
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.pending import AWAY
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.tensor.version import VersionCounter
from mindtorch_v2.torch_dispatch import shallow_copy_and_detach

_PIPELINE: Final = functionality_bit(DispatchKey.Pipeline)
_OURS: Final = 2
"""References to an object that one variable has, the one that ``getrefcount`` takes included."""


_CPU: Final = Device("cpu")


def default_device(signature: Signature) -> Device | None:
    """Where a function makes a tensor unless it is told; None: where another one is."""
    return None if is_of_a_tensors_kind(signature.name) else _CPU


def new_variable(call: Call) -> Any:
    """What a factory makes."""
    answer = tls.call_excluding(BELOW_INPLACE_OR_VIEW, call.run)
    if not isinstance(answer, Tensor) or answer._functional is not None:
        return answer
    if tls.local_dispatch_key_set().included & _PIPELINE:
        return answer  # which the queue holds too: counting says nothing there
    if getrefcount(answer) <= _OURS and _counts_alone(answer):
        return answer
    return tls.call_excluding(BELOW_INPLACE_OR_VIEW, _shallow_copy, answer)


def _counts_alone(tensor: Tensor) -> bool:
    """Whether nobody else has its version counter, which nobody may have asked for yet."""
    is_unasked = tensor._raw_versions is AWAY and tensor._pending is None
    return is_unasked or getrefcount(tensor._versions) <= _OURS


def _shallow_copy(tensor: Tensor) -> Any:
    """Without history, and with a version of its own; overrides are asked for it."""
    seen = shallow_copy_and_detach(tensor)
    if seen is None:
        return tensor._untracked()
    seen._autograd, seen._versions = None, VersionCounter()
    return seen
