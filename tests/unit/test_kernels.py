"""Kernels: how rows are found, and what pointwise operators and reference functions are made of."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import mindtorch_v2 as torch
from mindtorch_v2 import profile
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.native import NONE
from mindtorch_v2.kernels import rows
from mindtorch_v2.kernels.cpu.functions.error_function import erf
from mindtorch_v2.kernels.dtypes import check_implemented, check_supported
from mindtorch_v2.kernels.elementwise.promotion import Operand, result_type
from mindtorch_v2.kernels.elementwise.tensor_iterator import BINARY_OP, TensorIterator
from mindtorch_v2.kernels.refs import find
from mindtorch_v2.kernels.refs.common import broadcast_shapes, elementwise_dtypes
from mindtorch_v2.tensor.dtype import DTYPES

CPU, META = int(DispatchKey.CPU), int(DispatchKey.Meta)


def of(dtype: str, *shape: int) -> Any:
    return torch.empty(shape, dtype=DTYPES[dtype])


def test_a_row_is_registered_once() -> None:
    with pytest.raises(ValueError, match="has a kernel at CPU already"):
        rows.add("aten::relu", "CPU", lambda self: self)


def test_what_nobody_has_is_not_found() -> None:
    assert rows.find("aten::nosuch", CPU) is NONE
    assert find.find("aten::nosuch", META) is NONE


def test_reference_functions_stand_before_rows() -> None:
    assert rows.find("aten::add.Tensor", META) == find.find("aten::add.Tensor", META)
    assert rows.find("aten::add.Tensor", CPU) == rows.ROWS["aten::add.Tensor", CPU]


def test_every_kernel_that_has_a_python_twin_on_meta_has_a_reference_function_or_a_row() -> None:
    functions = profile.active().refs["functions"]
    here = {name for name, key in rows.ROWS if key == CPU and name in functions}
    spoken_for = {name for name in here if (name, META) in rows.ROWS}
    missing = [name for name in sorted(here - spoken_for) if find.find(name, META) is NONE]
    assert len(here) > 70
    assert not missing


@pytest.mark.parametrize(
    ("operands", "expected"),
    [
        ((of("int32", 2), of("int64")), "int32"),
        ((of("int32", 2), of("float64")), "float64"),
        ((of("float16", 2), of("float64")), "float16"),
        ((of("float16", 2), 1j), "complex32"),
        ((of("bool", 2), 1), "int64"),
        ((of("uint16", 2), of("complex64")), "complex64"),
        ((1, 2.5), "float32"),
    ],
)
def test_result_type(operands: tuple[Operand, ...], expected: str) -> None:
    assert result_type(operands) is DTYPES[expected]


@pytest.mark.parametrize(
    ("kind", "dtype", "computed", "result"),
    [
        ("DEFAULT", "float16", "float32", "float16"),
        ("NO_OPMATH", "float16", "float16", "float16"),
        ("INT_TO_FLOAT", "int64", "float32", "float32"),
        ("COMPLEX_TO_FLOAT", "complex64", "complex64", "float32"),
        ("BOOL_TO_LONG", "bool", "int64", "int64"),
        ("ALWAYS_BOOL", "float16", "float32", "bool"),
    ],
)
def test_kinds_of_type_promotion(kind: str, dtype: str, computed: str, result: str) -> None:
    found = elementwise_dtypes(of(dtype, 2), kind=kind)
    assert found == (DTYPES[computed], DTYPES[result])


def test_shapes_broadcast_on_meta_in_words_of_their_own() -> None:
    assert broadcast_shapes((2, 1), (3,)) == (2, 3)
    with pytest.raises(RuntimeError, match="dimension of length 3 at -1! Mismatching argument"):
        broadcast_shapes((2,), (3,))


def test_what_is_checked_before_is_not_compiled_either() -> None:
    complex64 = DTYPES["complex64"]
    with pytest.raises(RuntimeError, match="clamp is not supported for complex types"):
        check_supported("aten::clamp.Tensor", complex64)
    with pytest.raises(RuntimeError, match="\"clamp_cpu\" not implemented for 'ComplexFloat'"):
        check_implemented("aten::clamp.Tensor", complex64)
    check_supported("aten::clamp.Tensor", DTYPES["float32"])
    check_implemented("aten::clamp.Tensor", DTYPES["float32"])


def test_an_output_outside_of_an_empty_dimension_has_no_stride() -> None:
    made = torch.empty((3, 0)).t() + torch.empty(())
    assert made.stride() == (1, 0)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_error_function_of_many_elements_is_that_of_each(dtype: str) -> None:
    ends = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 6.0, -6.1, 5e-324])
    many = np.concatenate([ends, np.linspace(-7, 7, 20_001)]).astype(dtype)
    each = np.array([math.erf(value) for value in many], dtype)
    found = erf(many)
    assert found.dtype == dtype
    assert np.array_equal(np.signbit(found), np.signbit(each))
    np.testing.assert_array_max_ulp(found, each, maxulp=2 if dtype == "float64" else 1)
    assert np.array_equal(erf(many[:9]), each[:9], equal_nan=True)


@pytest.mark.parametrize(
    ("number", "default", "expected"),
    [
        (1.5, torch.float32, torch.float32),
        (1.5, torch.float64, torch.float64),
        (1j, torch.float64, torch.complex128),
        (1, torch.float64, torch.int64),
        (True, torch.float64, torch.int64),
    ],
)
def test_what_operands_come_to_depends_on_the_default_dtype(
    number: complex, default: torch.dtype, expected: torch.dtype
) -> None:
    """It is found out once for operands that lie alike."""
    torch.set_default_dtype(default)
    try:
        for _ in range(2):
            operands = torch.arange(3), number
            assert TensorIterator(BINARY_OP, (None,), operands).outputs[0].dtype is expected
    finally:
        torch.set_default_dtype(torch.float32)


def test_what_operands_come_to_depends_on_how_they_lie() -> None:
    x, y = torch.arange(6.0).view(2, 3), torch.arange(6.0).view(3, 2).t()
    for _ in range(3):
        assert torch.lerp(x, y, 0.5).stride() == (3, 1)
        assert torch.lerp(y, y, 0.5).stride() == (1, 2)
        assert torch.lerp(y, x, 0.5).stride() == (1, 2)
        assert torch.lerp(x[:1], y, 0.5).shape == (2, 3)


@pytest.mark.parametrize(("is_turned", "name"), [(False, "input"), (True, "target")])
def test_what_is_no_share_is_found_in_the_order_of_memory(is_turned: bool, name: str) -> None:
    x = torch.arange(6.0).view(2, 3) if not is_turned else torch.arange(6.0).view(3, 2).t()
    y = x * 2 if is_turned else x * 0.5
    with pytest.raises(RuntimeError, match=f"^all elements of {name} should be between 0 and 1$"):
        torch.ops.aten.binary_cross_entropy(x, y)
