"""Names of dimensions, of which there are none: a tensor may be given as many times None.

Mirrors ``internal_set_names_inplace`` of ``aten/src/ATen/NamedTensorUtils.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.warn import warn_once

_NAMESPACE: Final = "dimname::"
WILDCARD: Final = f"{_NAMESPACE}*"
"""What a dimension without a name goes by among operators, where Python says None."""


def set_names(tensor: Tensor, names: Sequence[str | None] | None) -> Tensor:
    """A new tensor, once its names are looked at; NotImplementedError for any but None."""
    if names is None:
        return tensor
    given = [
        None if name is None or name == WILDCARD else name.removeprefix(_NAMESPACE)
        for name in names
    ]
    if len(given) != len(tensor._sizes):
        shown = ", ".join("None" if each is None else f"'{each}'" for each in given)
        raise RuntimeError(
            f"Number of names ({len(given)}) and number of dimensions in tensor "
            f"({len(tensor._sizes)}) do not match. Attempted to create a tensor with names "
            f"[{shown}]"
        )
    if any(given):
        raise NotImplementedError("mindtorch_v2 has no tensors with named dimensions")
    warn_once(
        "set_named_tensor_meta",
        "Named tensors and all their associated APIs are an experimental feature and subject to "
        "change. Please do not use them for anything important until they are released as stable.",
    )
    return tensor
