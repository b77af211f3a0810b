"""The methods of tensors that torch writes in Python: its operators, above all.

Mirrors ``torch/_tensor.py``.  How a release declares them is a fact of the profile: one that it
does not write in Python is not bound here, and what it does not pass on is not asked for.
"""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from numbers import Number
from types import FunctionType
from typing import Any, Final

import mindtorch_v2 as torch
from mindtorch_v2 import _dim_order, _linalg_utils, functional, profile, torch_dispatch
from mindtorch_v2._deepcopy import deep_copied
from mindtorch_v2.autograd._functions import Resize
from mindtorch_v2.functional import bound_function
from mindtorch_v2.named_tensor import (
    ellipsis_index,
    is_ellipsis,
    resolve_ellipsis,
    unzip_named_shape,
    update_names,
)
from mindtorch_v2.overrides import (
    get_default_nowrap_functions,
    handle_torch_function,
    has_torch_function,
)
from mindtorch_v2.tensor.base import TensorBase
from mindtorch_v2.tensor.legacy_storages import class_of
from mindtorch_v2.tensor.printing import tensor_str
from mindtorch_v2.tensor.symbolic import SymBool, SymFloat, SymInt
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.tensor.typed_storage import TypedStorage, storage, warn_typed_storage_removal
from mindtorch_v2.torch_function import without_torch_function
from mindtorch_v2.warn import is_warned_of

_DECLARED: Final = profile.active().python_methods

_LOST_GRADIENTS_WARN: Final = is_warned_of("requires_grad_to_scalar")
"""A release that warns of gradients lost in a conversion leaves them aside where it formats."""

_TENSOR: Final[Any] = Tensor
"""Has the methods of this module too, which its class statement does not show."""


def _operator(function: Callable[..., Any]) -> Callable[..., Any]:
    """A binary operator: a TypeError has Python ask the other side."""

    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            if has_torch_function(args):
                return handle_torch_function(wrapped, args, *args, **kwargs)
            return function(*args, **kwargs)
        except TypeError:
            return NotImplemented

    def run_with_self(self: Any, *args: Any, **kwargs: Any) -> Any:
        return run(self, *args, **kwargs)

    needs_self = _DECLARED["__pow__"].startswith("(self")
    wrapped = wraps(function)(run_with_self if needs_self else run)
    wrapped.__module__ = __name__
    return wrapped


class _Methods:
    """The methods by name; ``bind`` gives them to Tensor."""

    @_operator
    def __rsub__(self: Any, other: Any) -> Any:
        return bound_function("rsub")(self, other)

    @_operator
    def __rdiv__(self: Any, other: Any) -> Any:
        return self.reciprocal() * other

    @_operator
    def __rmod__(self: Any, other: Any) -> Any:
        return bound_function("remainder")(other, self)

    @_operator
    def __rpow__(self: Any, other: Any) -> Any:
        return bound_function("pow")(other, self)

    @_operator
    def __floordiv__(self: Any, other: Any) -> Any:
        return bound_function("floor_divide")(self, other)

    @_operator
    def __rfloordiv__(self: Any, other: Any) -> Any:
        return bound_function("floor_divide")(other, self)

    @_operator
    def __rlshift__(self: Any, other: Any) -> Any:
        return bound_function("bitwise_left_shift")(other, self)

    @_operator
    def __rrshift__(self: Any, other: Any) -> Any:
        return bound_function("bitwise_right_shift")(other, self)

    @_operator
    def __rmatmul__(self: Any, other: Any) -> Any:
        return bound_function("matmul")(other, self)

    def __hash__(self: Any) -> Any:
        return id(self)

    def __deepcopy__(self: Any, memo: Any) -> Any:
        if has_torch_function((self,)):
            return handle_torch_function(_TENSOR.__deepcopy__, (self,), self, memo)
        return deep_copied(self, memo)

    def __len__(self: Any) -> Any:
        if has_torch_function((self,)):
            return handle_torch_function(_TENSOR.__len__, (self,), self)
        if self.dim() == 0:
            raise TypeError("len() of a 0-d tensor")
        return self.shape[0]

    def __iter__(self: Any) -> Any:
        if self.dim() == 0:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def __reversed__(self: Any) -> Any:
        if has_torch_function((self,)):
            return handle_torch_function(_TENSOR.__reversed__, (self,), self)
        return self if self.dim() == 0 else self.flip(0)

    def __contains__(self: Any, element: Any) -> Any:
        if has_torch_function((self,)):
            return handle_torch_function(_TENSOR.__contains__, (self,), self, element)
        if isinstance(element, (Tensor, Number, SymInt, SymFloat, SymBool)):
            return bool((element == self).any().item())
        raise RuntimeError(
            "Tensor.__contains__ only supports Tensor or scalar, "
            f"but you passed in a {type(element)}."
        )

    def __repr__(self: Any, *, tensor_contents: Any = None) -> Any:
        if has_torch_function((self,)):
            options = {"tensor_contents": tensor_contents}
            return handle_torch_function(_TENSOR.__repr__, (self,), self, **options)
        return tensor_str(self, tensor_contents)

    def __format__(self: Any, format_spec: Any) -> Any:
        if has_torch_function((self,)):
            return handle_torch_function(_TENSOR.__format__, (self,), self, format_spec)
        if self.dim() == 0 and not self.is_meta and type(self) is Tensor:
            number = self.detach() if _LOST_GRADIENTS_WARN else self
            return number.item().__format__(format_spec)
        return object.__format__(self, format_spec)

    def __dir__(self: Any) -> Any:
        if has_torch_function((self,)):
            return handle_torch_function(_TENSOR.__dir__, (self,), self)
        names = {*dir(type(self)), *vars(self)} - {"volatile", "__cuda_array_interface__"}
        names -= {*TensorBase.__slots__, *Tensor.__slots__}  # where torch has members of C++
        return sorted(names)

    def __array__(self: Any, dtype: Any = None) -> Any:
        if has_torch_function((self,)):
            return handle_torch_function(_TENSOR.__array__, (self,), self, dtype=dtype)
        return self.numpy() if dtype is None else self.numpy().astype(dtype, copy=False)

    def __array_wrap__(self: Any, array: Any) -> Any:
        if has_torch_function((self,)):
            return handle_torch_function(_TENSOR.__array_wrap__, (self,), self, array=array)
        return torch.from_numpy(array.astype("uint8") if array.dtype == bool else array)

    def is_shared(self: Any) -> Any:
        if has_torch_function((self,)):
            return handle_torch_function(_TENSOR.is_shared, (self,), self)
        return self.untyped_storage().is_shared()

    def storage(self: Any) -> Any:
        if has_torch_function((self,)):
            return handle_torch_function(_TENSOR.storage, (self,), self)
        return storage(self)

    def storage_type(self: Any) -> Any:
        if has_torch_function((self,)):
            return handle_torch_function(_TENSOR.storage_type, (self,), self)
        warn_typed_storage_removal()
        return class_of(self.dtype, self.device)

    def _typed_storage(self: Any) -> Any:
        return TypedStorage._of(self.untyped_storage(), self.dtype)

    def norm(
        self: Any, p: Any = "fro", dim: Any = None, keepdim: Any = False, dtype: Any = None
    ) -> Any:
        if has_torch_function((self,)):
            options = {"p": p, "dim": dim, "keepdim": keepdim, "dtype": dtype}
            return handle_torch_function(_TENSOR.norm, (self,), self, **options)
        return functional.norm(self, p, dim, keepdim, dtype=dtype)

    def lu(self: Any, pivot: Any = True, get_infos: Any = False) -> Any:
        if has_torch_function((self,)):
            options = {"pivot": pivot, "get_infos": get_infos}
            return handle_torch_function(_TENSOR.lu, (self,), self, **options)
        found = bound_function("_lu_with_info")(self, pivot=pivot, check_errors=not get_infos)
        return tuple(found) if get_infos else tuple(found)[:2]

    def resize(self: Any, *sizes: Any) -> Any:
        if has_torch_function((self,)):
            return handle_torch_function(_TENSOR.resize, (self,), self, *sizes)
        warnings.warn("non-inplace resize is deprecated", stacklevel=2)
        return Resize.apply(self, sizes)

    def resize_as(self: Any, tensor: Any) -> Any:
        if has_torch_function((self, tensor)):
            return handle_torch_function(_TENSOR.resize_as, (self, tensor), self, tensor)
        warnings.warn("non-inplace resize_as is deprecated", stacklevel=2)
        return Resize.apply(self, tensor.size())

    def split(self: Any, split_size: Any, dim: Any = 0) -> Any:
        if has_torch_function((self,)):
            return handle_torch_function(_TENSOR.split, (self,), self, split_size, dim=dim)
        if isinstance(split_size, Tensor):
            with suppress(ValueError):
                split_size = int(split_size)
        is_one = isinstance(split_size, (int, SymInt))
        return bound_function("split" if is_one else "split_with_sizes")(self, split_size, dim)

    def unique(
        self: Any,
        sorted: Any = True,
        return_inverse: Any = False,
        return_counts: Any = False,
        dim: Any = None,
    ) -> Any:
        options = {"sorted": sorted, "return_inverse": return_inverse}
        options |= {"return_counts": return_counts, "dim": dim}
        if has_torch_function((self,)):
            return handle_torch_function(_TENSOR.unique, (self,), self, **options)
        return functional.unique(self, **options)

    def unique_consecutive(
        self: Any, return_inverse: Any = False, return_counts: Any = False, dim: Any = None
    ) -> Any:
        options = {"return_inverse": return_inverse, "return_counts": return_counts, "dim": dim}
        if has_torch_function((self,)):
            return handle_torch_function(_TENSOR.unique_consecutive, (self,), self, **options)
        return functional.unique_consecutive(self, **options)

    def to_sparse_coo(self: Any) -> Any:
        return self.to_sparse()

    def istft(
        self: Any,
        n_fft: Any,
        hop_length: Any = None,
        win_length: Any = None,
        window: Any = None,
        center: Any = True,
        normalized: Any = False,
        onesided: Any = None,
        length: Any = None,
        return_complex: Any = False,
    ) -> Any:
        if has_torch_function((self,)):
            options = {"hop_length": hop_length, "win_length": win_length, "window": window}
            options |= {"center": center, "normalized": normalized, "onesided": onesided}
            options |= {"length": length, "return_complex": return_complex}
            return handle_torch_function(_TENSOR.istft, (self,), self, n_fft, **options)
        positional = (hop_length, win_length, window, center, normalized, onesided, length)
        return bound_function("istft")(self, n_fft, *positional, return_complex=return_complex)

    def unflatten(self: Any, dim: Any, sizes: Any) -> Any:
        if has_torch_function((self,)):
            return handle_torch_function(_TENSOR.unflatten, (self,), self, dim, sizes)
        if not sizes:
            raise RuntimeError("unflatten: sizes must be non-empty")
        given: tuple[Any, ...] = (dim, sizes)
        if "rename" in _DECLARED and _is_named_shape(sizes):
            names, sizes = unzip_named_shape(sizes)
            given = (dim, sizes, names)
        base: Any = super(Tensor, self)
        return base.unflatten(*given)

    def refine_names(self: Any, *names: Any) -> Any:
        if has_torch_function((self,)):
            return handle_torch_function(_TENSOR.refine_names, (self,), self, *names)
        resolved = resolve_ellipsis(names, self.names, "refine_names")
        base: Any = super(Tensor, self)
        return base.refine_names(resolved)

    def align_to(self: Any, *names: Any) -> Any:
        if has_torch_function((self,)):
            return handle_torch_function(_TENSOR.align_to, (self,), self, *names)
        place = ellipsis_index(names, "align_to")
        base: Any = super(Tensor, self)
        if place is None:
            return base.align_to(names)
        return base.align_to([name for name in names if not is_ellipsis(name)], place)

    def rename(self: Any, *names: Any, **rename_map: Any) -> Any:
        if has_torch_function((self,)):
            return handle_torch_function(_TENSOR.rename, (self,), self, *names, **rename_map)
        return update_names(self, names, rename_map, in_place=False)

    def rename_(self: Any, *names: Any, **rename_map: Any) -> Any:
        if has_torch_function((self,)):
            return handle_torch_function(_TENSOR.rename_, (self,), self, *names, **rename_map)
        return update_names(self, names, rename_map, in_place=True)

    def module_load(self: Any, other: Any, assign: Any = False) -> Any:
        if has_torch_function((self, other)):
            given = (self, other)
            return handle_torch_function(_TENSOR.module_load, given, *given, assign=assign)
        return other.detach() if assign else self.copy_(other).detach()

    def _clear_non_serializable_cached_data(self: Any) -> Any:
        if has_torch_function((self,)):
            clear = _TENSOR._clear_non_serializable_cached_data
            handle_torch_function(clear, (self,), self)

    def _update_names(self: Any, names: Any, inplace: Any) -> Any:
        if has_torch_function((self,)):
            return handle_torch_function(_TENSOR._update_names, (self,), self, names, inplace)
        base: Any = super(Tensor, self)
        return base.rename_(names) if inplace else base.rename(names)


_METHODS: Final[Any] = _Methods


def _contains_at_position(self: Any, element: Any, /) -> Any:
    return _METHODS.__contains__(self, element)


def _stft(
    self: Any,
    n_fft: Any,
    hop_length: Any = None,
    win_length: Any = None,
    window: Any = None,
    center: Any = True,
    pad_mode: Any = "reflect",
    normalized: Any = False,
    onesided: Any = None,
    return_complex: Any = None,
) -> Any:
    options = {"hop_length": hop_length, "win_length": win_length, "window": window}
    options |= {"center": center, "pad_mode": pad_mode, "normalized": normalized}
    options |= {"onesided": onesided, "return_complex": return_complex}
    return _transformed(self, n_fft, options)


def _stft_with_alignment(
    self: Any,
    n_fft: Any,
    hop_length: Any = None,
    win_length: Any = None,
    window: Any = None,
    center: Any = True,
    pad_mode: Any = "reflect",
    normalized: Any = False,
    onesided: Any = None,
    return_complex: Any = None,
    align_to_window: Any = None,
) -> Any:
    options = {"hop_length": hop_length, "win_length": win_length, "window": window}
    options |= {"center": center, "pad_mode": pad_mode, "normalized": normalized}
    options |= {"onesided": onesided, "return_complex": return_complex}
    return _transformed(self, n_fft, {**options, "align_to_window": align_to_window})


def _transformed(self: Any, n_fft: Any, options: dict[str, Any]) -> Any:
    if has_torch_function((self,)):
        return handle_torch_function(_TENSOR.stft, (self,), self, n_fft, **options)
    return functional.stft(self, n_fft, **options)


def _is_named_shape(sizes: Any) -> bool:
    """``(("N", 2), …)`` or an OrderedDict of such."""
    if isinstance(sizes, OrderedDict):
        return True
    return isinstance(sizes, (tuple, list)) and isinstance(sizes[0], (tuple, list))


def _torch_function(
    cls: type, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
) -> Any:
    """What a subclass inherits: the function itself, its tensors made instances of the class."""
    if not all(issubclass(cls, each) for each in types):
        return NotImplemented
    with without_torch_function():
        answer = func(*args, **(kwargs or {}))
        return answer if func in get_default_nowrap_functions() else _converted(answer, cls)


_torch_function.__name__ = "__torch_function__"
_torch_function.__qualname__ = "Tensor.__torch_function__"


def _converted(answer: Any, cls: Any) -> Any:
    """``_convert``: the answer with its tensors as instances of a subclass."""
    if cls is Tensor:
        return answer
    if isinstance(answer, Tensor) and not isinstance(answer, cls):
        answer = answer.as_subclass(cls)  # type: ignore[attr-defined]
    if isinstance(answer, (tuple, list)):
        answer = type(answer)(_converted(item, cls) for item in answer)
    return answer


def _cuda_array_interface(self: Any) -> Any:
    if has_torch_function((self,)):
        get = _TENSOR.__cuda_array_interface__.__get__
        return handle_torch_function(get, (self,), self)
    raise AttributeError(
        f"Can't get __cuda_array_interface__ on non-CUDA tensor type: {self.type()} "
        "If CUDA data is required use tensor.cuda() to copy tensor to device memory."
    )


def bind() -> None:
    """Give ``Tensor`` its methods that are written in Python."""
    base: Any = TensorBase
    bound = vars(TensorBase)  # as they are, not as looking them up on the class makes them
    methods: dict[str, Any]
    methods = {n: m for n, m in vars(_Methods).items() if isinstance(m, FunctionType)}
    if "/" in _DECLARED["__contains__"]:
        methods["__contains__"] = _contains_at_position
    methods |= _linalg_utils.methods()
    aligned = "align_to_window" in _DECLARED["stft"]
    methods["stft"] = _stft_with_alignment if aligned else _stft
    is_checked = "ambiguity_check" in _DECLARED["dim_order"]
    methods["dim_order"] = _dim_order.of_unambiguous if is_checked else _dim_order.of_any
    for name, method in methods.items():
        if name in _DECLARED:
            method.__name__, method.__qualname__ = name, f"Tensor.{name}"
            method.__module__ = __name__
            setattr(Tensor, name, method)
    others = {
        "__rtruediv__": methods["__rdiv__"],
        "__itruediv__": base.__idiv__,
        "__pow__": _operator(base.pow),
        "__ipow__": _operator(base.pow_),
        "__pos__": bound["positive"],
        "__neg__": bound["neg"],
        "__abs__": bound["abs"],
        "__array_priority__": 1000,
        "__cuda_array_interface__": property(_cuda_array_interface),
        "__torch_function__": classmethod(_torch_function),
        "__torch_dispatch__": torch_dispatch.disabled,
    }
    for name, other in others.items():
        setattr(Tensor, name, other)
    Tensor.__doc__ = None
