"""The wrappers of reference functions: type promotion, ``out=``, in place.

Mirrors ``torch/_prims_common/wrappers.py`` and ``_make_inplace`` of ``torch/_refs``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import wraps
from inspect import signature
from typing import Any, Final

from mindtorch_v2.kernels.outputs import set_sizes
from mindtorch_v2.kernels.refs.common import (
    HABITS,
    broadcast_shapes,
    can_safe_cast_to,
    elementwise_dtypes,
    is_cpu_scalar_tensor,
    strides_in_format_of,
    to_dtype,
)
from mindtorch_v2.tensor.copying import copy_values
from mindtorch_v2.tensor.dtype import DType
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.warn import check_rehearsal

Ref = Callable[..., Any]

FACTORY_OPTIONS: Final = frozenset(("dtype", "device"))
"""Parameters by which a function is known for one that makes a tensor of nothing."""


def promote(function: Ref, kind: str, names: Sequence[str]) -> Ref:
    """``elementwise_type_promotion_wrapper``: arguments in the dtype of the computation, the
    result in its own."""
    parameters = tuple(signature(function).parameters)

    @wraps(function)  # what is around it asks what it takes
    def promoted(*args: Any, **kwargs: Any) -> Any:
        bound = dict(zip(parameters, args, strict=False)) | kwargs
        given = [name for name in names if name in bound]
        operands = [each for name in given for each in _leaves(bound[name])]
        computed, result = elementwise_dtypes(*operands, kind=kind)
        for name in given:
            value = bound[name]
            is_list = isinstance(value, (list, tuple))
            found = [to_dtype(each, computed) for each in _leaves(value)]
            bound[name] = found if is_list else found[0]
        return to_dtype(function(**bound), bound.get("dtype") or result)

    return promoted


def _leaves(value: Any) -> Sequence[Any]:
    """The tensors of a list, or the one that there is."""
    return value if isinstance(value, (list, tuple)) else (value,)


def type_casts(
    function: Ref, kind: str, keeps_result: bool = False, counts_numbers: bool = False
) -> Ref:
    """``type_casts`` of torch/_decomp: tensors in the dtype of the computation, and those that
    come out in the result's, but for a function that ``keeps_result`` as it is.

    Numbers have a say in the dtypes only where they are counted.
    """
    counted = (Tensor, bool, int, float) if counts_numbers else (Tensor,)

    @wraps(function)
    def cast(*args: Any, **kwargs: Any) -> Any:
        leaves = [leaf for value in (*args, *kwargs.values()) for leaf in _leaves(value)]
        operands = [leaf for leaf in leaves if isinstance(leaf, counted)]
        computed, result = elementwise_dtypes(*operands, kind=kind)
        made = function(
            *(_each_cast(value, computed) for value in args),
            **{name: _each_cast(value, computed) for name, value in kwargs.items()},
        )
        return made if keeps_result else _each_cast(made, result)

    return cast


def _each_cast(value: Any, dtype: DType) -> Any:
    """The tensors of a tuple or a list, or the one that there is, in a dtype."""
    if isinstance(value, (list, tuple)):
        return type(value)(_each_cast(each, dtype) for each in value)
    return to_dtype(value, dtype) if isinstance(value, Tensor) else value


def preserve_memory_format(function: Ref) -> Ref:
    """Have an output that is resized lie as the result does (an option of ``out_wrapper``)."""
    function.preserves_memory_format = True  # type: ignore[attr-defined]
    return function


def out(function: Ref, exact_dtype: bool, names: Sequence[str] = ("out",), shown: str = "") -> Ref:
    """``out_wrapper``: the results go into the arguments of these names if they are given.

    What makes a tensor gets its options from there.  The wrapper hands an argument of another name
    on as ``out``, so that it cannot be given one (of the function that is ``shown``).
    """
    keeps_format = getattr(function, "preserves_memory_format", False)
    is_factory = signature(function).parameters.keys() >= FACTORY_OPTIONS

    def written(*args: Any, **kwargs: Any) -> Any:
        outs = [kwargs.pop(name, None) for name in names]
        if "out" in kwargs:
            raise TypeError(f"{shown}() got multiple values for keyword argument 'out'")
        if None in outs:
            return function(*args, **kwargs)
        if _LOOKS_AT_DEVICES_FIRST and isinstance(args[0], Tensor):
            for each in (leaf for leaves in map(_leaves, outs) for leaf in leaves):
                _check_copy_devices(args[0], each)
        if is_factory:
            kwargs = {"dtype": outs[0]._dtype, "device": outs[0]._device, **kwargs}
        results = function(*args, **kwargs)
        if len(outs) == 1 and isinstance(outs[0], Tensor):
            if keeps_format:
                resize_out(outs[0], results, strides_in_format_of(results, results._sizes))
            return written_out(outs[0], results, exact_dtype=exact_dtype)
        if len(outs) == 1:  # a list for the parts of a tensor
            outs = outs[0]
        if len(outs) != len(results):
            raise TypeError(f"expected tuple of {len(results)} elements but got {len(outs)}")
        return tuple(
            written_out(each, result, exact_dtype=exact_dtype)
            for each, result in zip(outs, results, strict=True)
        )

    return written


def written_out(out: Tensor, result: Tensor, *, exact_dtype: bool = False) -> Tensor:
    """``out`` in the result's shape; RuntimeError if it cannot take the values."""
    resize_out(out, result)
    _check_copy(result, out, exact_dtype)
    if not (out.is_meta or result.is_meta):
        copy_values(out, result)
    return out


def resize_out(out: Tensor, result: Tensor, strides: tuple[int, ...] | None = None) -> None:
    """``_maybe_resize_out``, whose message forgot to be formatted."""
    if tuple(out._sizes) == tuple(result._sizes):
        return
    if numel(out._sizes):
        check_rehearsal()
        warnings.warn(
            "An output with one or more elements was resized since it had shape "
            f"{out._sizes} which does not match the required output shape {{str(shape)}}. "
            "This behavior is deprecated, and in a future PyTorch release outputs will not "
            "be resized unless they have zero elements. "
            "You can explicitly reuse an out tensor t by resizing it, inplace, to zero elements "
            "with t.resize_(0).",
            stacklevel=2,
        )
    set_sizes(out, result._sizes, strides)


def _check_copy_devices(source: Tensor, target: Tensor) -> None:
    if source._device != target._device:
        raise RuntimeError(
            f"Attempting to copy from device {source._device} to device {target._device}, but "
            "cross-device copies are not allowed!"
        )


_LOOKS_AT_DEVICES_FIRST: Final = HABITS["the device of an output is looked at first"]
"""And once more where it is copied to."""
_KEEPS_NUMBERS: Final = HABITS["a number of the CPU stays there"]
"""Or else such a number is copied to any device."""


def _check_copy(source: Tensor, target: Tensor, exact_dtype: bool) -> None:
    """``_safe_copy_out``."""
    if _KEEPS_NUMBERS or not is_cpu_scalar_tensor(source):
        _check_copy_devices(source, target)
    if exact_dtype:
        if source._dtype is not target._dtype:
            raise RuntimeError(
                f"Expected out tensor to have dtype {source._dtype} but got {target._dtype} instead"
            )
    elif not can_safe_cast_to(source._dtype, target._dtype):
        raise RuntimeError(
            f"Attempting to cast from {source._dtype} to out tensor with dtype {target._dtype}, "
            "but this can't be cast because it is not safe!"
        )


def nothing_of_out(function: Ref) -> Ref:
    """``return_none_on_out_variant``: what was written to outputs is not returned as well."""

    def written(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        return None if "out" in kwargs else result

    return written


def make_inplace(function: Ref) -> Ref:
    """The function with its first argument for ``out``."""

    def inplace(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        if HABITS["in place nothing is resized"]:
            given = (*args, *kwargs.values())
            check_inplace_broadcast(self, *(each for each in given if isinstance(each, Tensor)))
        changed: Tensor = function(self, *args, out=self, **kwargs)
        return changed

    return inplace


def register_inplace_meta(function: Ref) -> Ref:
    """``_register_inplace_meta``: the first argument, if the result would fit into it."""

    def inplace(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        result = function(self, *args, **kwargs)
        check_inplace_broadcast(self, result)
        return self

    return inplace


def check_inplace_broadcast(self: Tensor, *others: Tensor) -> None:
    shape = broadcast_shapes(self._sizes, *(other._sizes for other in others))
    if shape != tuple(self._sizes):
        raise RuntimeError(
            f"output with shape {self._sizes} doesn't match the broadcast shape {shape}"
        )


WRAPPERS: Final[dict[str, Callable[..., Ref]]] = {
    "promote": promote,
    "type_casts": type_casts,
    "out": out,
    "nothing_of_out": nothing_of_out,
    "make_inplace": make_inplace,
    "register_inplace_meta": register_inplace_meta,
}
"""By the names that the profile has for them."""
