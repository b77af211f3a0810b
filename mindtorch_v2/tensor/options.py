"""From dtype, layout and device to the dispatch key of a tensor.

Mirrors ``computeDispatchKey`` in ``c10/core/TensorOptions.h`` and the key set that the
constructor of ``c10::TensorImpl`` completes.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from mindtorch_v2 import profile
from mindtorch_v2.dispatch.key import DispatchKey, parse_dispatch_key
from mindtorch_v2.dispatch.keyset import highest_backend_bit, mask_of
from mindtorch_v2.tensor.device import EXTENSION_DEVICE
from mindtorch_v2.tensor.dtype import (
    dtype,
    float32,
    jagged,
    layout,
    mkldnn,
    sparse_compressed,
    sparse_coo,
    strided,
)
from mindtorch_v2.tensor.support import exception_of

_FACTS: Final = profile.active()


def _backend_of_device() -> dict[str, str]:
    """Device type to the suffix of its per-backend keys (C10_FORALL_BACKEND_DEVICE_TYPES)."""
    listed = set(_FACTS.tensors["backend_devices"])
    backends = {
        device: answer.key
        for device, answer in _FACTS.keys.device_keys.items()
        if answer.key is not None and answer.key in listed
    }
    return {**backends, EXTENSION_DEVICE: "NPU"}


BACKEND_OF_DEVICE: Final = _backend_of_device()


@cache
def compute_dispatch_key(
    dtype: dtype | None = None, layout: layout | None = None, device_type: str | None = None
) -> int:
    """The backend key of a tensor with these options; None stands for the default.

    Raises NotImplementedError where the layout does not exist on the device, and torch's
    internal assertion for the device types that Caffe2 left behind.
    """
    wanted = layout or strided
    device = device_type or "cpu"
    if wanted is strided or wanted is jagged:
        prefix = "Quantized" if (dtype or float32)._is_quantized else ""
        return _key_of_backend(prefix, device) or _other_dense_key(device)
    if wanted is sparse_coo:
        return _key_of_backend("Sparse", device) or _unsupported("sparse layout", device)
    if wanted is mkldnn:
        if device == "cpu":
            return DispatchKey.MkldnnCPU
        return _unsupported("mkldnn layout", device)
    kind = f"{sparse_compressed[wanted]} layout"
    return _key_of_backend("SparseCsr", device) or _unsupported(kind, device)


def _key_of_backend(prefix: str, device: str) -> int | None:
    backend = BACKEND_OF_DEVICE.get(device)
    return None if backend is None else int(DispatchKey[prefix + backend])


def _other_dense_key(device: str) -> int:
    """The key of a device that is no backend component, fpga for one; or torch's refusal."""
    answer = _FACTS.keys.device_keys[device]
    if answer.error is not None:
        raise exception_of(*answer.error)
    assert answer.key is not None
    return parse_dispatch_key(answer.key)


def _unsupported(what: str, device: str) -> int:
    raise NotImplementedError(f"Unsupported device type for {what}: {device}")


# --- the rest of a tensor's keys --------------------------------------------------------------


def _related(keys: dict[str, str]) -> dict[int, int]:
    """Backend bit to the bits of the key that facts name for that backend."""
    return {
        highest_backend_bit(mask_of(DispatchKey[backend])): mask_of(DispatchKey[key])
        for backend, key in keys.items()
    }


_AUTOGRAD_OF_BACKEND: Final = _related(
    {**_FACTS.keys.autograd_key_of_backend, "NPU": "AutogradNPU"}
)
_AUTOCAST_OF_BACKEND: Final = _related(dict(_FACTS.keys.autocast_key_of_backend))


@cache
def tensor_keyset(keys: int, inference: bool = False) -> int:
    """The whole keyset of a tensor that has ``keys`` for a backend, as a mask.

    Autocast and autograd keys follow from the backend; an inference tensor has no autograd.
    """
    backend = highest_backend_bit(keys)
    keys |= _AUTOCAST_OF_BACKEND.get(backend, 0)
    if inference:
        return keys
    autograd = _AUTOGRAD_OF_BACKEND.get(backend, mask_of(DispatchKey.AutogradOther))
    return keys | autograd | mask_of(DispatchKey.ADInplaceOrView)


@cache
def backend_keys(dtype: dtype, layout: layout, device_type: str) -> int:
    """The backend key of a tensor with these options, as a mask; raises as
    :func:`compute_dispatch_key` does."""
    return mask_of(compute_dispatch_key(dtype, layout, device_type))


@cache
def dense_keys(dtype: dtype, device_type: str, inference: bool) -> int:
    """The whole keyset of a new strided tensor, as a mask."""
    return tensor_keyset(backend_keys(dtype, strided, device_type), inference)
