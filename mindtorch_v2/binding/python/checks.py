"""Which objects a parameter takes, before anything is converted.

Mirrors ``FunctionParameter::check`` and its helpers in ``torch/csrc/utils/python_arg_parser.cpp``
and the checks of ``torch/csrc/utils/python_numbers.h``.  There are no symbolic numbers here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from operator import index
from typing import Any, Final

from mindtorch_v2 import profile
from mindtorch_v2._C import DispatchKeySet
from mindtorch_v2.binding.python.type_names import type_name
from mindtorch_v2.call_site import is_called_by_cpp
from mindtorch_v2.numpy_later import np
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.dtype import PYTHON_DTYPES, DType, Layout, memory_format, qscheme
from mindtorch_v2.tensor.generator import Generator
from mindtorch_v2.tensor.storage import UntypedStorage
from mindtorch_v2.tensor.stream import Stream
from mindtorch_v2.tensor.symbolic import SymBool, SymFloat, SymInt
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.tensor.typed_storage import TypedStorage
from mindtorch_v2.torch_function import (
    NEVER_ASKED,
    Overloaded,
    append_overloaded,
    is_mode_enabled,
    overrides,
)

_FACTS: Final = profile.active().argument_parser
_SYMBOLIC_DEVICES: Final[bool] = _FACTS["symbolic_devices"]
OVERRIDES_ANYWHERE: Final[bool] = _FACTS["overrides_anywhere"]
OVERRIDES_DTYPES: Final[bool] = _FACTS["overrides_dtypes"]
"""Whether what overrides functions is taken for any parameter, and as an element of any list."""

_FLOATS: Final = (float, int, SymFloat)
_NUMBERS: Final = (float, int, complex, SymInt, SymFloat, SymBool)


def is_anything(value: object) -> bool:
    return True


# --- tensors ----------------------------------------------------------------------------------


def is_tensor(value: object) -> bool:
    return isinstance(value, Tensor)


def is_tensor_like(value: Any, overloaded: Overloaded) -> bool:
    """A tensor, or an object whose class has ``__torch_function__``."""
    cls = type(value)
    if cls is Tensor:
        return True
    if cls in NEVER_ASKED:
        return False
    if has_torch_function(value):
        append_overloaded(overloaded, value)
        return True
    return isinstance(value, Tensor)


def has_torch_function(value: Any) -> bool:
    """Whether ``value`` overrides functions."""
    return overrides(value, never=Tensor)


def is_asked(*values: Any) -> bool:
    """``check_has_torch_function``: whether there is a mode, or one of the values overrides."""
    return is_mode_enabled() or any(map(has_torch_function, values))


def is_overridden(*values: Any) -> bool:
    """The same, of a bound function that Python calls.  See Note [C++ asks no override]."""
    return is_asked(*values) and not is_called_by_cpp()


def overriding_arguments(values: Iterable[Any]) -> Overloaded:
    """Those of an operator's arguments that override functions, alone or in a list."""
    overloaded: Overloaded = []
    for value in values:
        is_tensor_like(value, overloaded)
        if isinstance(value, (list, tuple)):
            for item in stored(value):
                if not is_tensor_like(item, overloaded):
                    break
    return overloaded


def is_tensor_list(value: Any, overloaded: Overloaded, position: int) -> bool:
    """A list or tuple; TypeError if it holds something that is no tensor."""
    if not isinstance(value, (list, tuple)):
        return False
    for place, item in enumerate(stored(value)):
        if not is_tensor_like(item, overloaded):
            raise TypeError(
                f"expected Tensor as element {place} in argument {position}, "
                f"but got {type_name(item)}"
            )
    return True


# --- numbers ----------------------------------------------------------------------------------


def is_number(value: object) -> bool:
    """``THPUtils_checkScalar``."""
    return isinstance(value, _NUMBERS) or _is_numpy_number(value)


def is_scalar(value: Any) -> bool:
    return is_number(value) or is_double(value)


def is_complex(value: Any) -> bool:
    return isinstance(value, complex) or is_double(value)


def is_double(value: Any) -> bool:
    return is_float(value) or isinstance(value, SymInt) or _is_plain_scalar_tensor(value)


def is_float(value: object) -> bool:
    """``is_float_or_symfloat``: of NumPy's numbers, any."""
    return isinstance(value, _FLOATS) or _is_numpy_number(value)


def _is_numpy_number(value: object) -> bool:
    return isinstance(value, _numpy_numbers())


@cache
def _numpy_numbers() -> tuple[type, ...]:
    return (np.integer, np.floating, np.complexfloating, np.bool_)


def _is_plain_scalar_tensor(value: Any) -> bool:
    return isinstance(value, Tensor) and not value.requires_grad and value.dim() == 0


def is_int(value: Any) -> bool:
    if is_integer(value) or isinstance(value, SymInt):
        return True
    return _is_plain_scalar_tensor(value) and _is_integral(value.dtype, with_bool=False)


def is_device_index(value: Any) -> bool:
    """As any integer, of which fewer bits are kept."""
    return is_int(value)


def is_integer(value: object) -> bool:
    """``THPUtils_checkLong``."""
    if isinstance(value, int):
        return not isinstance(value, bool)
    return isinstance(value, np.integer)


def is_symbolic_int(value: Any) -> bool:
    """A tensor of one integer, or whatever has ``__index__``, but no truth value."""
    if isinstance(value, SymInt):
        return True
    if isinstance(value, Tensor) and holds_one_integer(value):
        return True
    return is_index(value)


def holds_one_integer(tensor: Tensor) -> bool:
    return tensor.numel() == 1 and _is_integral(tensor.dtype, with_bool=True)


def is_index(value: Any) -> bool:
    """``THPUtils_checkIndex``."""
    if isinstance(value, bool):
        return False
    if is_integer(value):
        return True
    try:
        index(value)
    except Exception:  # PyErr_Clear: whatever it was
        return False
    return True


def _is_integral(dtype: DType, *, with_bool: bool) -> bool:
    if repr(dtype).endswith(".bool"):
        return with_bool
    return not (dtype.is_floating_point or dtype.is_complex or dtype._is_quantized)


def is_bool(value: object) -> bool:
    return isinstance(value, bool)


# --- lists ------------------------------------------------------------------------------------


def stored(value: Sequence[Any]) -> Sequence[Any]:
    """What a list or tuple holds, whatever its class makes of that: C looks at the memory."""
    if type(value) in (list, tuple):
        return value
    if isinstance(value, list):
        return tuple(list.__iter__(value))
    assert isinstance(value, tuple)
    return tuple(tuple.__iter__(value))


def is_int_list(value: Any, overloaded: Overloaded) -> bool:
    """A list or tuple; only its first element is looked at, but for what overrides functions.

    A release that does not look for those asks the object itself for its length and that element.
    """
    if not OVERRIDES_ANYWHERE and isinstance(value, (list, tuple)):
        return len(value) == 0 or is_symbolic_int(value[0])
    return _is_list(value, overloaded, is_symbolic_int, first_only=True)


def is_float_list(value: Any, overloaded: Overloaded) -> bool:
    """As :func:`is_int_list`, of floating-point or complex numbers."""
    return _is_list(
        value, overloaded, lambda item: is_float(item) or isinstance(item, complex), first_only=True
    )


def is_scalar_list(value: Any, overloaded: Overloaded) -> bool:
    """A list or tuple of numbers; all of them are looked at."""
    return _is_list(value, overloaded, is_number, first_only=False)


def _is_list(
    value: Any, overloaded: Overloaded, suits: Callable[[Any], bool], *, first_only: bool
) -> bool:
    """A list or tuple whose elements suit, as far as one that overrides functions."""
    if not isinstance(value, (list, tuple)):
        return False
    overridden = False
    for place, item in enumerate(stored(value)):
        if OVERRIDES_ANYWHERE and has_torch_function(item):
            append_overloaded(overloaded, item)
            overridden = True
        if not (overridden or (first_only and place) or suits(item)):
            return False
    return True


def is_dimname(value: object) -> bool:
    return value is None or is_string(value)


def is_dimname_list(value: Any) -> bool:
    """A list or tuple; only its first element is looked at."""
    if not isinstance(value, (list, tuple)):
        return False
    items = stored(value)
    return not items or is_dimname(items[0])


# --- torch's own classes ----------------------------------------------------------------------


def is_dtype(value: object) -> bool:
    return isinstance(value, DType) or any(value is kind for kind in PYTHON_DTYPES)


def is_layout(value: object) -> bool:
    return isinstance(value, Layout)


def is_memory_format(value: object) -> bool:
    return isinstance(value, memory_format)


def is_device(value: object) -> bool:
    if isinstance(value, SymInt):
        return _SYMBOLIC_DEVICES
    return is_integer(value) or is_string(value) or isinstance(value, Device)


def is_string(value: object) -> bool:
    """``THPUtils_checkString``: bytes count."""
    return isinstance(value, (str, bytes))


def is_keyset(value: object) -> bool:
    return isinstance(value, DispatchKeySet)


def is_generator(value: object) -> bool:
    return isinstance(value, Generator)


def is_storage(value: object) -> bool:
    return isinstance(value, (TypedStorage, UntypedStorage))


def is_qscheme(value: object) -> bool:
    return isinstance(value, qscheme)


def is_stream(value: object) -> bool:
    return isinstance(value, Stream)
