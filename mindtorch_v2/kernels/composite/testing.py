"""Operators that torch's own tests call: optional lists, defaults, derivatives of each key.

Mirrors ``aten/src/ATen/native/TestOps.cpp``, ``_test_serialization_subcmul`` of ``BinaryOps.cpp``
and ``_test_functorch_fallback`` of ``TensorCompare.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mindtorch_v2.kernels.elementwise.promotion import Number
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.pointers import check_pointers
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.messages import expected
from mindtorch_v2.tensor import factories
from mindtorch_v2.tensor.copying import store, value_array
from mindtorch_v2.tensor.dtype import DTYPES, DType, int64
from mindtorch_v2.tensor.tensor import Tensor

_EXPLICIT: Final = "CompositeExplicitAutograd"
_IMPLICIT: Final = "CompositeImplicitAutograd"
_CLONE: Final = OperatorHandle("aten::clone")
_MUL: Final = OperatorHandle("aten::mul.Scalar")
_SUB: Final = OperatorHandle("aten::sub.Tensor")
_VIEW: Final = OperatorHandle("aten::view")


@kernel("aten::_test_optional_intlist", "aten::_test_optional_filled_intlist")
def test_optional_intlist(values: Tensor, addends: Sequence[int] | None) -> Tensor:
    return _sums(values, addends, DTYPES["int32"])


@kernel("aten::_test_optional_floatlist")
def test_optional_floatlist(values: Tensor, addends: Sequence[float] | None) -> Tensor:
    return _sums(values, addends, DTYPES["float32"])


def _sums(values: Tensor, addends: Sequence[Number] | None, dtype: DType) -> Tensor:
    """Element by element; the tensor itself without a list."""
    if addends is None:
        return values
    _check(len(values._sizes) == 1, "values.dim() == 1")
    check_pointers(dtype, values)
    output = new_tensor(values._sizes, dtype, values._device)
    store(output, value_array(values) + addends[: values._sizes[0]])
    return output


def _check(holds: bool, condition: str) -> None:
    if not holds:
        raise RuntimeError(expected(condition))


@kernel("aten::_test_string_default", key=_IMPLICIT)
def test_string_default(dummy: Tensor, a: str, b: str) -> Tensor:
    """Both strings have quotes and a backslash in the schema."""
    for name, given in (("A", a), ("B", b)):
        if given != "\"'\\":
            raise RuntimeError(f"Default {name} failed")
    return dummy


@kernel("aten::_test_ambiguous_defaults.a", key=_IMPLICIT)
def test_ambiguous_defaults_a(dummy: Tensor, a: int, b: int) -> Tensor:
    _check(a == 1, "a == 1")
    _check(b == 1, "b == 1")
    return factories.full((), 1, dtype=int64)


@kernel("aten::_test_ambiguous_defaults.b", key=_IMPLICIT)
def test_ambiguous_defaults_b(dummy: Tensor, a: int, b: str) -> Tensor:
    _check(a == 2, "a == 2")
    _check(b == "2", 'b == "2"')
    return factories.full((), 2, dtype=int64)


@kernel("aten::_test_warn_in_autograd", key=_EXPLICIT)
def test_warn_in_autograd(self: Tensor) -> Any:
    return _CLONE(self)


@kernel("aten::_test_autograd_multiple_dispatch.fullcoverage", key=_EXPLICIT)
def test_autograd_multiple_dispatch(self: Tensor) -> Any:
    return _CLONE(self)


@kernel("aten::_test_autograd_multiple_dispatch.ntonly", key=_IMPLICIT)
def test_autograd_multiple_dispatch_ntonly(self: Tensor, b: bool) -> Any:
    return _CLONE(self)


@kernel("aten::_test_autograd_multiple_dispatch_view", key=_EXPLICIT)
def test_autograd_multiple_dispatch_view(self: Tensor) -> Any:
    return _VIEW(self, [-1])


@kernel("aten::_test_functorch_fallback")
def test_functorch_fallback(self: Tensor, other: Tensor) -> Any:
    return _CLONE(self)


@kernel("aten::_test_parallel_materialize", key=_EXPLICIT)
def test_parallel_materialize(self: Tensor, num_parallel: int, skip_first: bool) -> Tensor:
    self.data_ptr()  # all that its threads do
    return self


@kernel("aten::_test_serialization_subcmul", key=_IMPLICIT)
def test_serialization_subcmul(self: Tensor, other: Tensor, alpha: Number) -> Any:
    return _SUB(self, _MUL(other, alpha))
