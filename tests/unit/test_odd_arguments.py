"""Calls with arguments that nobody means: what they are refused with is torch's all the same."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import mindtorch_v2 as xp
from mindtorch_v2.kernels.switches import HABITS

# once in a process, unless a test before has had it warn always
pytestmark = pytest.mark.filterwarnings("ignore:Sparse CS. tensor support is in beta")

x: Any = xp.ones(2, 3)
leaf: Any = xp.ones(2, 2, requires_grad=True)
meta: Any = xp.ones(2, 3, device="meta")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # that such layouts are in beta
    csr: Any = xp.ones(2, 2).to_sparse_csr()

REFUSED: dict[str, tuple[Any, type[Exception], str]] = {
    # the boxed fallback looks at a leaf before a kernel looks at dtypes and sizes
    "a leaf": (
        lambda: leaf.__ilshift__(1),
        RuntimeError,
        "a leaf Variable that requires grad is being used in an in-place operation.",
    ),
    "another dtype": (
        lambda: x.map_(xp.ones(2, 3, dtype=xp.int8), max),
        TypeError,
        "map_: expected torch.FloatTensor for 'other' (got torch.CharTensor)",
    ),
    "another device": (
        lambda: x.map2_(x, meta, max),
        TypeError,
        "map2_: expected torch.FloatTensor for argument 'y' (got MetaFloatType)",
    ),
    "nothing to call": (
        lambda: x.__torch_dispatch__(1, (), (), 1),
        TypeError,
        "'int' object is not callable",
    ),
    "a type that C names": (
        lambda: x.__torch_dispatch__(len, (), xp.float32, {}),
        TypeError,
        "expected List or Tuple (got torch.dtype)",
    ),
    "a stack level": (
        lambda: xp.nn.functional.softmax(x, None, "2"),
        TypeError,
        "'str' object cannot be interpreted as an integer",
    ),
    "few dimensions": (
        lambda: xp.nn.functional.unfold(xp.ones(2), 1),
        IndexError,
        "Dimension out of range (expected to be in range of [-1, 0], but got 1)",
    ),
    "a part of another layout": (
        lambda: x.crow_indices(),
        RuntimeError,
        "crow_indices expected sparse row compressed tensor layout but got Strided",
    ),
    "strides of a layout without": (
        lambda: csr.stride(),
        RuntimeError,
        "Sparse CSR tensors do not have strides",
    ),
    "dense dimensions": (
        lambda: x.to_sparse_csr(-1),
        RuntimeError,
        "dense_to_sparse_csr: dense_dim argument must be in [0,0] range, but -1 is given",
    ),
    "sparse dimensions": (
        lambda: x.to_sparse(3),
        RuntimeError,
        "dense_to_sparse: sparse_dim argument must be in [0,2] range, but 3 is given",
    ),
    "a layout with blocks": (
        lambda: x.to_sparse(layout=xp.sparse_bsr),
        RuntimeError,
        "dense_to_sparse: conversion from Strided to SparseBsr without blocksize argument given "
        "is not supported",
    ),
    "a dimension by its name": (
        lambda: x.size("a"),
        RuntimeError,
        "Name 'a' not found in Tensor[None, None].",
    ),
    "lists of other lengths": (
        lambda: xp._foreach_sub_([leaf, leaf], [x]),
        RuntimeError,
        "Tensor lists must have the same number of tensors, got 2 and 1",
    ),
    "a layout that no loop goes over": (
        lambda: xp.cosh(xp.ones(2, 3).to_mkldnn()),
        RuntimeError,
        "unsupported tensor layout: Mkldnn",
    ),
    "an alias of what has no storage": (
        lambda: xp._neg_view(xp.ones(2, 2).to_sparse()),
        NotImplementedError,
        "Cannot access storage of SparseTensorImpl",
    ),
    "a dtype that mkldnn has not": (
        lambda: x.to_mkldnn(xp.complex64),
        RuntimeError,
        "cpu tensor only can be converted to be a float, bfloat16, half, uint8, int8 mkldnn tensor",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_call_is_refused_in_torchs_words(name: str) -> None:
    call, kind, message = REFUSED[name]
    with pytest.raises(kind) as caught:
        call()
    assert type(caught.value) is kind
    assert str(caught.value) == message


@pytest.mark.parametrize("name", ["size", "stride"])
def test_an_integer_of_more_than_64_bits_is_refused_before_it_counts_dimensions(name: str) -> None:
    with pytest.raises((ValueError, RuntimeError), match=r"^Overflow when unpacking long"):
        getattr(x, name)(10**30)


@pytest.mark.parametrize("call", ["_nnz", "_values", "_indices"])
def test_a_method_of_this_package_does_not_answer_where_torch_has_no_kernel(call: str) -> None:
    with pytest.raises(NotImplementedError, match=f"Could not run 'aten::{call}' with arguments"):
        getattr(x, call)()


def test_what_an_opaque_tensor_says_of_its_strides() -> None:
    opaque = xp.ones(2, 3).to_mkldnn()
    assert opaque.stride() == (1, 0)
    assert opaque.is_contiguous()
    assert not opaque.is_contiguous(memory_format=xp.channels_last)


@pytest.mark.parametrize(
    ("make", "node"),
    [
        (lambda: leaf.to_sparse(), "ToSparseBackward1"),
        (lambda: leaf.to_sparse(2), "ToSparseBackward0"),
        (lambda: leaf.to_sparse_csr(), "ToSparseCsrBackward0"),
    ],
)
def test_a_conversion_to_a_sparse_layout_is_recorded(make: Any, node: str) -> None:
    assert type(make().grad_fn).__name__ == node


def test_the_warning_of_softmax_is_of_who_calls_it() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        xp.nn.functional.softmax(x)
    (warning,) = caught
    assert warning.filename == __file__


@pytest.mark.parametrize("name", ["complex64", "complex128"])
def test_a_difference_of_complex_numbers_is_a_sum_with_the_negative(name: str) -> None:
    number: Any = xp.tensor([complex(1, -0.0)], dtype=getattr(xp, name))
    for difference in (number - 1, number - number.conj(), number.sub(1, alpha=1.0)):
        assert repr(difference.item()) == "0j"
    assert repr(number.nan_to_num().item()) == "(1-0j)"


@pytest.mark.parametrize(("name", "kept"), [("tril", 0), ("triu", 12)])
def test_a_triangle_may_begin_anywhere(name: str, kept: int) -> None:
    ones: Any = xp.ones(3, 4)
    assert getattr(ones, name)(-(2**63)).sum().item() == kept


def test_the_gradient_of_a_sparse_tensor_comes_back_to_a_dense_one() -> None:
    start: Any = xp.ones(2, 2, requires_grad=True)
    (start * 2).to_sparse().backward(xp.ones(2, 2).to_sparse())
    assert start.grad.tolist() == [[2.0, 2.0], [2.0, 2.0]]


@pytest.mark.parametrize("name", ["sum", "flip", "clone", "zeros", "full", "arange"])
def test_an_output_that_is_none_is_no_tensor_of_any_backend(name: str) -> None:
    given: dict[str, tuple[Any, ...]] = {
        "flip": (x, [0]),
        "zeros": ([2],),
        "full": ([2], 1),
        "arange": (3,),
    }
    with pytest.raises(NotImplementedError, match=r"^There were no tensor arguments to this"):
        getattr(xp.ops.aten, name).out(*given.get(name, (x,)), out=None)


def test_a_tensor_is_copied_to_the_device_of_who_makes_it_where_the_release_does() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that clone().detach() is better
        made = meta.new_tensor(x)
    follows = HABITS["new_tensor copies a tensor to the receiver's device"]
    assert made.device.type == ("meta" if follows else "cpu")


def test_a_number_may_stand_before_a_list() -> None:
    (found,) = xp._foreach_pow(2, [x])
    assert found.tolist() == [[2.0] * 3] * 2
