"""Who sees which operators a call comes to, and elements that C++ reads by one.

Mirrors ``Tensor::item``, which is an operator for whoever sees operators.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, Final

from mindtorch_v2.binding.fallbacks import tensors_of
from mindtorch_v2.binding.operators import Call, Operator, find_operator
from mindtorch_v2.binding.stop import is_stopping
from mindtorch_v2.binding.unboxed import PLAIN
from mindtorch_v2.dispatch import tls
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.keyset import functionality_bit
from mindtorch_v2.tensor import conversions
from mindtorch_v2.tensor.tensor import Tensor

_PYTHON: Final = functionality_bit(DispatchKey.Python)
_FUNCTIONALIZED: Final = functionality_bit(DispatchKey.Functionalize)
_TRANSFORMED: Final = _FUNCTIONALIZED | functionality_bit(
    DispatchKey.FuncTorchDynamicLayerFrontMode
)


def operators_are_seen(values: Iterable[Any] = ()) -> bool:
    """Whether somebody watches which operators a call with these values comes to."""
    return is_stopping() or is_overridden_or_transformed(values)


def is_overridden_or_transformed(values: Iterable[Any]) -> bool:
    """Whether a mode or a transform sees a call, or one of the values is a tensor of such."""
    raw = tls.local_dispatch_key_set()
    seen = _FUNCTIONALIZED if raw.excluded & _PYTHON else _FUNCTIONALIZED | _PYTHON
    if raw.included & (seen | _TRANSFORMED):
        return True
    for value in values:
        if isinstance(value, Tensor):
            if value._keys & seen:
                return True
        elif isinstance(value, (list, tuple)) and _any_has(seen, value):
            return True
    return False


def _any_has(keys: int, values: Iterable[Any]) -> bool:
    if PLAIN.issuperset(map(type, values)):
        return False
    return any(tensor._keys & keys for tensor in tensors_of(values))


def item_of(tensor: Tensor) -> Any:
    """The one element as a Python number."""
    if is_overridden_or_transformed((tensor,)) or not is_read_at_once(tensor):
        return Call(_operator("aten::item"), (tensor,)).run()
    return conversions.item(tensor)


def is_read_at_once(value: Any) -> bool:
    """Whether nobody has a kernel of his own to read elements with, if it is a tensor."""
    if not isinstance(value, Tensor):
        return True
    return _operator("aten::_local_scalar_dense").is_untouched(value._keys)


@cache
def _operator(name: str) -> Operator:
    operator = find_operator(name, "")
    assert operator is not None
    return operator
