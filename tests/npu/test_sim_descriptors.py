"""The simulator's descriptors: what they copy, what they refuse, who owns them."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, byref, c_double, c_int, c_int64, c_uint64, c_void_p

import numpy as np
import pytest

from .sim.harness import DTYPES, Runtime, Tensor

pytestmark = pytest.mark.npu


def create(
    runtime: Runtime,
    block: int | None,
    dims: tuple[int, ...],
    strides: tuple[int, ...] | None,
    storage: tuple[int, ...],
    offset: int = 0,
    dtype: str = "float32",
) -> int | None:
    """A descriptor by plain arguments, or None."""
    array = lambda values: (c_int64 * len(values))(*values)  # noqa: E731
    handle = runtime.acl.aclCreateTensor(
        array(dims), len(dims), DTYPES[dtype], None if strides is None else array(strides),
        offset, 2, array(storage), len(storage), block,
    )  # fmt: skip
    return None if handle is None else int(handle)


def shape_of(runtime: Runtime, handle: int | None, name: str = "aclGetViewShape") -> list[int]:
    dims, count = POINTER(c_int64)(), c_uint64()
    runtime.call(name, c_void_p(handle), byref(dims), byref(count))
    return dims[: count.value]


def test_the_callers_arrays_are_copied(lazy: Runtime) -> None:
    dims, storage = (c_int64 * 2)(2, 3), (c_int64 * 1)(6)
    block = lazy.malloc(24)
    handle = lazy.acl.aclCreateTensor(dims, 2, 0, None, 0, 2, storage, 1, block)
    dims[0] = storage[0] = 999
    assert shape_of(lazy, handle) == [2, 3]
    assert shape_of(lazy, handle, "aclGetStorageShape") == [6]
    assert shape_of(lazy, handle, "aclGetViewStrides") == [3, 1]


def test_what_a_descriptor_is_asked_for(lazy: Runtime) -> None:
    block = lazy.malloc(64)
    handle = create(lazy, block, (2,), (2,), (16,), offset=3)
    offset, number, address = c_int64(), c_int(), c_void_p()
    lazy.call("aclGetViewOffset", c_void_p(handle), byref(offset))
    assert offset.value == 3
    lazy.call("aclGetDataType", c_void_p(handle), byref(number))
    assert number.value == 0
    lazy.call("aclGetFormat", c_void_p(handle), byref(number))
    assert number.value == 2
    lazy.call("aclGetRawTensorAddr", c_void_p(handle), byref(address))
    assert address.value == block


def test_null_arrays_and_negative_numbers_make_no_tensor(lazy: Runtime) -> None:
    block = lazy.malloc(64)
    assert lazy.acl.aclCreateTensor(None, 2, 0, None, 0, 2, None, 0, block) is None
    assert create(lazy, block, (-2,), (1,), (16,)) is None
    assert create(lazy, block, (2,), (-1,), (16,)) is None
    assert create(lazy, block, (1,) * 17, None, (16,)) is None
    rules = ["null-argument", "tensor-negative", "tensor-negative", "tensor-rank"]
    assert lazy.rules() == rules


def test_the_memory_must_be_a_live_block_and_large_enough(lazy: Runtime) -> None:
    block, freed = lazy.malloc(64), lazy.malloc(64)
    lazy.free(freed)
    host = np.zeros(16, np.float32)
    assert create(lazy, host.ctypes.data, (2,), None, (2,)) is None
    assert create(lazy, freed, (2,), None, (2,)) is None
    assert create(lazy, block + 4, (2,), None, (2,)) is None
    assert create(lazy, block, (2,), None, (17,)) is None
    assert create(lazy, block + 32, (2,), None, (8,)) is not None
    rules = ["tensor-address", "use-after-free", "tensor-alignment", "tensor-storage"]
    assert lazy.rules() == rules


def test_a_view_that_leaves_its_storage_is_refused_in_phase_1(lazy: Runtime) -> None:
    block = lazy.malloc(64)
    # The classic mistake: the storage is given as the view's shape, the strides are another's.
    bad = create(lazy, block, (2, 3), (1, 4), (6,))
    good = create(lazy, block, (2, 3), (1, 4), (16,))
    out = lazy.empty((2, 3))
    assert lazy.refusal("Exp", c_void_p(bad), out) == 561103
    assert lazy.rules() == ["tensor-view"]
    lazy.op("Exp", c_void_p(good), out)
    lazy.synchronize()


def test_scalars_are_read_at_once_and_have_torch_npus_kinds(lazy: Runtime) -> None:
    held = c_double(2.5)
    scalar = lazy.acl.aclCreateScalar(ctypes.cast(byref(held), c_void_p), DTYPES["float64"])
    held.value = 99
    x = lazy.tensor(np.zeros(2, np.float32))
    lazy.op("InplaceFillScalar", x, c_void_p(scalar))
    np.testing.assert_array_equal(x.read(), [2.5, 2.5])
    assert lazy.acl.aclCreateScalar(ctypes.cast(byref(held), c_void_p), DTYPES["float32"])
    assert not lazy.acl.aclCreateScalar(ctypes.cast(byref(held), c_void_p), DTYPES["float16"])
    assert not lazy.acl.aclCreateScalar(None, DTYPES["float64"])
    assert lazy.rules() == ["scalar-kind", "scalar-kind", "null-argument"]


def test_an_empty_array_is_not_null(lazy: Runtime) -> None:
    empty, size = lazy.ints([]), c_uint64(9)
    assert empty
    lazy.call("aclGetIntArraySize", c_void_p(empty), byref(size))
    assert size.value == 0
    x, out = lazy.tensor(np.ones((2, 2), np.float32)), lazy.empty(())
    assert lazy.refusal("ReduceSum", x, None, False, c_int(0), out) == 161001
    assert lazy.rules() == ["null-argument"]


@pytest.mark.parametrize("kind", ["Tensor", "Scalar", "IntArray", "TensorList"])
def test_destroying_null_is_nothing_and_twice_is_a_mistake(lazy: Runtime, kind: str) -> None:
    lazy.call(f"aclDestroy{kind}", None)
    tensor = lazy.empty((2,))
    made = {
        "Tensor": lambda: tensor.describe(),
        "Scalar": lambda: lazy.scalar(1),
        "IntArray": lambda: lazy.ints([1]),
        "TensorList": lambda: lazy.tensor_list([tensor]),
    }[kind]()
    lazy.call(f"aclDestroy{kind}", c_void_p(made))
    assert lazy.status(f"aclDestroy{kind}", c_void_p(made)) != 0
    assert lazy.rules() == ["handle-destroyed"]


def test_a_list_owns_its_members(lazy: Runtime) -> None:
    tensors = [lazy.empty((2,)), lazy.empty((2,))]
    members = [tensor.describe() for tensor in tensors]
    made = lazy.tensor_list(tensors)
    assert lazy.status("aclDestroyTensor", c_void_p(members[0])) != 0
    lazy.call("aclDestroyTensorList", c_void_p(made))
    out = lazy.empty((2,))
    assert lazy.refusal("Exp", c_void_p(members[0]), out) == 561000
    assert lazy.rules() == ["list-owner", "handle-destroyed"]


def test_a_member_belongs_to_one_list(lazy: Runtime) -> None:
    tensor = lazy.empty((2,))
    member = tensor.describe()
    lazy.tensor_list([tensor])
    tensor.handle = member
    assert not lazy.acl.aclCreateTensorList((c_void_p * 1)(member), 1)
    assert lazy.rules() == ["list-owner"]


def test_the_address_of_a_descriptor_can_be_set(lazy: Runtime) -> None:
    x = lazy.tensor(np.ones(4, np.float32))
    other = lazy.tensor(np.full(4, 3, np.float32))
    lazy.call("aclSetRawTensorAddr", c_void_p(x.describe()), c_void_p(other.block))
    out = lazy.empty((4,))
    lazy.op("Neg", x, out)
    np.testing.assert_array_equal(out.read(), np.full(4, -3, np.float32))


def test_a_descriptor_can_be_described_again(lazy: Runtime) -> None:
    x = lazy.tensor(np.arange(4, dtype=np.float32))
    dims, storage = (c_int64 * 1)(2), (c_int64 * 1)(4)
    lazy.call(
        "aclInitTensor", c_void_p(x.describe()), dims, c_uint64(1), 0, None, c_int64(2), 2,
        storage, c_uint64(1), c_void_p(x.block),
    )  # fmt: skip
    out = lazy.empty((2,))
    lazy.op("Neg", x, out)
    np.testing.assert_array_equal(out.read(), [-2, -3])


def pending_select(lazy: Runtime) -> tuple[Tensor, Tensor]:
    x = lazy.tensor(np.arange(4, dtype=np.float32))
    mask = lazy.tensor(np.array([True, False, False, True]))
    out = lazy.empty((4,))
    with lazy.arguments([x, mask, out]) as given:
        size, executor = lazy.plan("MaskedSelect", *given)
        workspace = lazy.malloc(size)
        lazy.call(
            "aclnnMaskedSelect", c_void_p(workspace), c_uint64(size), c_void_p(executor), None
        )
    return x, out


def test_an_output_tells_its_shape_after_the_run(lazy: Runtime) -> None:
    _, out = pending_select(lazy)
    dims, count = POINTER(c_int64)(), c_uint64()
    early = lazy.status("aclGetViewShape", c_void_p(out.handle), byref(dims), byref(count))
    assert early != 0
    assert lazy.rules() == ["unsynchronised"]
    lazy.synchronize()
    assert shape_of(lazy, out.handle) == [2]
    np.testing.assert_array_equal(out.read()[:2], [0, 3])


def test_an_output_whose_shape_nobody_read_may_not_be_destroyed(lazy: Runtime) -> None:
    _, out = pending_select(lazy)
    lazy.synchronize()
    assert lazy.status("aclDestroyTensor", c_void_p(out.handle)) != 0
    assert lazy.rules() == ["shape-not-read"]
