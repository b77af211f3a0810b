"""mindtorch_v2: a PyTorch-compatible framework whose dispatcher behaves as PyTorch's does.

The public namespace: the same names at the same paths as in torch.  Which release is mirrored
is the profile's choice (environment variable ``MINDTORCH_PROFILE``, default ``2.4``).

What not every program needs waits until it is named: the packages of :data:`_LATER`, and the
kernels, which are imported when the dispatcher first looks for one.
"""

from importlib import import_module
from math import e, inf, nan, pi
from typing import TYPE_CHECKING, Any

from mindtorch_v2 import _collector, _linalg_utils

# isort: split
from mindtorch_v2 import (
    _C,
    autograd,
    kernels,
    nested,
    random,
    return_types,
    storage,
    types,
)
from mindtorch_v2._bound_names import (
    bind_functions,
    bind_methods,
    bind_types,
    bind_what_c_has,
    name_modules,
)
from mindtorch_v2._C import DispatchKey, DispatchKeySet, ExcludeDispatchKeyGuard
from mindtorch_v2._operator_bindings import Tag
from mindtorch_v2._ops import ops
from mindtorch_v2._typename import typename
from mindtorch_v2.autograd.anomaly import is_anomaly_check_nan_enabled, is_anomaly_enabled
from mindtorch_v2.autograd.grad_mode import (
    enable_grad,
    inference_mode,
    no_grad,
    set_grad_enabled,
)
from mindtorch_v2.binding.python import devices, storages
from mindtorch_v2.binding.python.tensor_types import set_default_tensor_type
from mindtorch_v2.dispatch import native, tls
from mindtorch_v2.kernels import npu as npu_kernels
from mindtorch_v2.random import (
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)
from mindtorch_v2.tensor import device_memory, legacy_storages
from mindtorch_v2.tensor.default_dtype import get_default_dtype, set_default_dtype
from mindtorch_v2.tensor.device import device
from mindtorch_v2.tensor.dtype import (
    DTYPES,
    LAYOUTS,
    MEMORY_FORMATS,
    QSCHEMES,
    dtype,
    layout,
    memory_format,
    qscheme,
)
from mindtorch_v2.tensor.factories import (
    _efficientzerotensor,
    _empty_affine_quantized,
    _neg_view,
    arange,
    as_tensor,
    empty,
    empty_like,
    eye,
    from_numpy,
    full,
    ones,
    ones_like,
    quantize_per_tensor,
    sparse_coo_tensor,
    sparse_csc_tensor,
    sparse_csr_tensor,
    tensor,
    zeros,
    zeros_like,
)
from mindtorch_v2.tensor.functions import (
    clone,
    detach,
    is_inference,
    is_tensor,
    promote_types,
    resolve_conj,
    resolve_neg,
)
from mindtorch_v2.tensor.generator import Generator
from mindtorch_v2.tensor.printing import set_printoptions
from mindtorch_v2.tensor.size import Size
from mindtorch_v2.tensor.storage import UntypedStorage
from mindtorch_v2.tensor.stream import Stream
from mindtorch_v2.tensor.symbolic import SymBool, SymFloat, SymInt
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.tensor.type_info import finfo, iinfo
from mindtorch_v2.tensor.typed_storage import TypedStorage, is_storage
from mindtorch_v2.version import __version__
from mindtorch_v2.warn import is_warn_always_enabled, set_warn_always

typename.__module__ = __name__  # where torch defines it
newaxis = None
is_inference_mode_enabled = tls.is_inference_mode_enabled
is_grad_enabled = tls.is_grad_enabled

globals().update(_linalg_utils.functions())
globals().update(DTYPES)
globals().update(LAYOUTS)
globals().update(MEMORY_FORMATS)
globals().update(QSCHEMES)
globals().update(legacy_storages.CLASSES)

bind_functions(globals(), _C)
bind_methods()
bind_types(globals())
native.provide(kernels.load)
devices.install()
storages.install()
device_memory.provide(npu_kernels.load)
from mindtorch_v2 import (  # noqa: E402 (they look at what has been bound)
    _autograd_bindings,
    _checks,
    _context_bindings,
    _dispatch,
    _functional_bindings,
    _npu_methods,
    _pickling,
    _utils,
    amp,
    func,
    overrides,
    utils,
)
from mindtorch_v2.amp.autocast_mode import (  # noqa: E402
    autocast,
    autocast_decrement_nesting,
    autocast_increment_nesting,
    clear_autocast_cache,
    get_autocast_dtype,
    is_autocast_cache_enabled,
    is_autocast_enabled,
    set_autocast_cache_enabled,
    set_autocast_dtype,
    set_autocast_enabled,
)
from mindtorch_v2.pipeline import pipeline  # noqa: E402
from mindtorch_v2.utils._device import (  # noqa: E402
    get_default_device,
    set_default_device,
)

_npu_methods.bind()
_pickling.bind()
utils.dlpack.bind()
from_dlpack, to_dlpack = utils.dlpack.from_dlpack, utils.dlpack.to_dlpack
vars(_C).update(utils.dlpack.OF_C)
utils._device.bind()
globals().update(_functional_bindings.OF_TORCH, _sync=_functional_bindings.sync)
globals().update(_context_bindings.OF_TORCH)
globals().update(_checks.OF_TORCH)
vars(_C).update(_functional_bindings.OF_C, **_autograd_bindings.EXPORTS)
vars(_C).update(_context_bindings.OF_C)
bind_what_c_has(globals(), _C)
name_modules(_C)
vars(_C)["_functorch"] = _functional_bindings.functorch_module()

_collector.go_on()
_LATER = ("cuda", "library", "nn", "npu", "optim")

if TYPE_CHECKING:
    from mindtorch_v2 import cuda, library, nn, npu, optim
else:

    def __getattr__(name: str) -> Any:
        if name in _LATER:
            return import_module(f"{__name__}.{name}")
        if name == "Storage":
            return legacy_storages.class_of(get_default_dtype(), device._made("cpu"))
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER, "Storage"})


__all__ = [
    "_C",
    "DispatchKey",
    "DispatchKeySet",
    "ExcludeDispatchKeyGuard",
    "Generator",
    "Size",
    "Stream",
    "SymBool",
    "SymFloat",
    "SymInt",
    "Tag",
    "Tensor",
    "TypedStorage",
    "UntypedStorage",
    "__version__",
    "_dispatch",
    "_efficientzerotensor",
    "_empty_affine_quantized",
    "_neg_view",
    "amp",
    "arange",
    "as_tensor",
    "autocast",
    "autocast_decrement_nesting",
    "autocast_increment_nesting",
    "autograd",
    "clear_autocast_cache",
    "clone",
    "conj",
    "default_generator",
    "detach",
    "device",
    "dtype",
    "empty",
    "empty_like",
    "enable_grad",
    "eye",
    "finfo",
    "from_dlpack",
    "from_numpy",
    "full",
    "func",
    "get_autocast_dtype",
    "get_default_device",
    "get_default_dtype",
    "get_rng_state",
    "iinfo",
    "imag",
    "inference_mode",
    "initial_seed",
    "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled",
    "is_autocast_cache_enabled",
    "is_autocast_enabled",
    "is_grad_enabled",
    "is_inference",
    "is_inference_mode_enabled",
    "is_storage",
    "is_tensor",
    "is_warn_always_enabled",
    "layout",
    "library",
    "manual_seed",
    "memory_format",
    "nested",
    "nn",
    "no_grad",
    "npu",
    "ones",
    "ones_like",
    "ops",
    "optim",
    "overrides",
    "pipeline",
    "promote_types",
    "qscheme",
    "quantize_per_tensor",
    "random",
    "real",
    "resolve_conj",
    "resolve_neg",
    "return_types",
    "seed",
    "set_autocast_cache_enabled",
    "set_autocast_dtype",
    "set_autocast_enabled",
    "set_default_device",
    "set_default_dtype",
    "set_default_tensor_type",
    "set_grad_enabled",
    "set_printoptions",
    "set_rng_state",
    "set_warn_always",
    "sparse_coo_tensor",
    "sparse_csc_tensor",
    "sparse_csr_tensor",
    "storage",
    "t",
    "tensor",
    "to_dlpack",
    "typename",
    "types",
    "utils",
    "zeros",
    "zeros_like",
]
__all__ += [*DTYPES, *LAYOUTS, *MEMORY_FORMATS, *QSCHEMES]
