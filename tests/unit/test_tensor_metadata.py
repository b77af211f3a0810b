"""What a tensor's dispatch keys are made of: dtype, layout, device, and how it came to be."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final

import pytest
from fakes.accelerator import Accelerator

import mindtorch_v2
from mindtorch_v2 import profile
from mindtorch_v2.dispatch import DispatchKey, DispatchKeySet
from mindtorch_v2.tensor import device_memory
from mindtorch_v2.tensor.device import parse_device_string
from mindtorch_v2.tensor.options import compute_dispatch_key, tensor_keyset
from tests.other_profiles import once_per_other_profile, run_again


@pytest.fixture(autouse=True)
def npu_in_host_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tensors on the NPU, on machines without one."""
    monkeypatch.setattr(device_memory, "_provided", [Accelerator()])


xp: Final[Any] = mindtorch_v2
K: Final = DispatchKey
PROFILE: Final = profile.active().name
BACKENDS: Final = (*profile.active().keys.backends, "NPU")

#: Backends without an autograd key of their own, and those that mixed precision knows.
AUTOGRAD_OTHER: Final = {"2.4": "HIP VE MTIA", "2.13": "HIP VE"}
AUTOCAST: Final = {
    "2.4": "CPU CUDA XLA HPU IPU XPU PrivateUse1",
    "2.13": "CPU CUDA XLA HPU IPU XPU PrivateUse1 MPS MAIA MTIA",
}
needs_table: Final = pytest.mark.skipif(PROFILE not in AUTOCAST, reason="no table for it here")


def keys_of(tensor: Any) -> set[str]:
    found = xp._C._dispatch_keys(tensor)
    return {xp._C._dispatch_key_name(key) for key in found.iter_keys()}


def names(mask: int) -> set[str]:
    return {key.name for key in DispatchKeySet.from_mask(mask).iter_keys()}


def mask(*keys: str) -> int:
    return DispatchKeySet.of(*(K[key] for key in keys)).mask


# Backends ---------------------------------------------------------------------------------------


@needs_table
@pytest.mark.parametrize("backend", BACKENDS)
def test_autograd_and_autocast_keys_follow_from_the_backend(backend: str) -> None:
    other = backend in AUTOGRAD_OTHER[PROFILE].split()
    autograd = "AutogradOther" if other else f"Autograd{backend}"
    autocast = {f"Autocast{backend}"} if backend in AUTOCAST[PROFILE].split() else set()
    keys = names(tensor_keyset(mask(backend)))
    assert keys == {backend, autograd, "ADInplaceOrView"} | autocast


@needs_table
@pytest.mark.parametrize("backend", BACKENDS)
def test_an_inference_tensor_has_no_autograd_keys(backend: str) -> None:
    autocast = {f"Autocast{backend}"} if backend in AUTOCAST[PROFILE].split() else set()
    assert names(tensor_keyset(mask(backend), inference=True)) == {backend} | autocast


def test_keys_without_a_backend_have_autograd_other() -> None:
    assert names(tensor_keyset(mask("FPGA"))) == {"FPGA", "AutogradOther", "ADInplaceOrView"}


def test_the_highest_backend_decides() -> None:
    assert names(tensor_keyset(mask("CPU", "NPU"))) >= {"AutogradNPU", "ADInplaceOrView"}
    assert "AutocastCPU" not in names(tensor_keyset(mask("CPU", "NPU")))
    assert (
        K.AutogradMeta in DispatchKeySet.from_mask(tensor_keyset(mask("NPU", "Meta"))).iter_keys()
    )


# computeDispatchKey -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dtype", "layout", "device", "key"),
    [
        (None, None, None, "CPU"),
        ("float64", "strided", "cpu", "CPU"),
        ("quint8", "strided", "cpu", "QuantizedCPU"),
        ("float32", "sparse_coo", "cpu", "SparseCPU"),
        ("quint8", "sparse_coo", "cpu", "SparseCPU"),
        ("float32", "sparse_csr", "cpu", "SparseCsrCPU"),
        ("float32", "sparse_bsc", "cuda", "SparseCsrCUDA"),
        ("float32", "_mkldnn", "cpu", "MkldnnCPU"),
        ("float32", "jagged", "meta", "Meta"),
        ("float32", None, "privateuseone", "PrivateUse1"),
        ("float32", None, "fpga", "FPGA"),
        ("float32", "strided", "npu", "NPU"),
        ("qint8", "strided", "npu", "QuantizedNPU"),
        ("float32", "sparse_coo", "npu", "SparseNPU"),
        ("float32", "sparse_csc", "npu", "SparseCsrNPU"),
    ],
)
def test_dtype_layout_and_device_make_a_key(
    dtype: str | None, layout: str | None, device: str | None, key: str
) -> None:
    kind = getattr(xp, dtype) if dtype else None
    how = getattr(xp, layout) if layout else None
    assert compute_dispatch_key(kind, how, device) == K[key]


@pytest.mark.parametrize(
    ("layout", "device", "words"),
    [
        ("sparse_coo", "fpga", "Unsupported device type for sparse layout: fpga"),
        ("_mkldnn", "cuda", "Unsupported device type for mkldnn layout: cuda"),
        ("_mkldnn", "npu", "Unsupported device type for mkldnn layout: npu"),
        ("sparse_csr", "vulkan", "Unsupported device type for SparseCsr layout: vulkan"),
        ("sparse_bsc", "vulkan", "Unsupported device type for SparseBsc layout: vulkan"),
    ],
)
def test_a_layout_that_a_device_does_not_have_is_refused(
    layout: str, device: str, words: str
) -> None:
    with pytest.raises(NotImplementedError) as caught:
        compute_dispatch_key(xp.float32, getattr(xp, layout), device)
    assert str(caught.value) == words


def test_a_device_that_caffe2_left_behind_trips_torchs_assertion() -> None:
    with pytest.raises(RuntimeError, match="grandfathered Caffe2 device type opengl"):
        compute_dispatch_key(device_type="opengl")


# Devices ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "device"),
    [("cpu", ("cpu", -1)), ("npu", ("npu", -1)), ("npu:1", ("npu", 1)), ("cuda:255", ("cuda", -1))],
)
def test_a_device_string_is_a_type_and_perhaps_an_index(text: str, device: tuple[str, int]) -> None:
    assert parse_device_string(text) == device


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "Device string must not be empty"),
        ("cpu:", "Invalid device string: 'cpu:'"),
        ("cpu:01", "Invalid device string: 'cpu:01'"),
        ("cpu:9999999999", "Could not parse device index '9999999999' in device string"),
        ("nosuch", "device type at start of device string: nosuch"),
    ],
)
def test_a_device_string_that_names_none_is_refused(text: str, words: str) -> None:
    with pytest.raises(RuntimeError) as caught:
        parse_device_string(text)
    assert words in str(caught.value)


def test_torchs_list_of_devices_is_shown_without_npu() -> None:
    with pytest.raises(RuntimeError) as caught:
        parse_device_string("nosuch")
    assert ", meta, hpu, mtia, privateuseone device type at start" in str(caught.value)
    assert "npu" not in str(caught.value)


def test_a_device_shows_and_compares_its_type_and_index() -> None:
    assert repr(xp.device("npu:1")) == "device(type='npu', index=1)"
    assert str(xp.device("npu", 1)) == "npu:1"
    assert xp.device("npu:1") == xp.device("npu", 1) == xp.device(xp.device("npu:1"))
    assert xp.device("npu") != xp.device("npu:0")
    with pytest.raises(RuntimeError, match="must not include an index because index was passed"):
        xp.device("npu:1", 1)


# Tensors ----------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:Sparse CS. tensor support is in beta")
@pytest.mark.parametrize(
    ("options", "key"),
    [
        ({}, "NPU"),
        ({"requires_grad": True}, "NPU"),
        ({"dtype": "complex64"}, "NPU"),
        ({"dtype": "quint8"}, "QuantizedNPU"),
        ({"layout": "sparse_coo"}, "SparseNPU"),
        ({"layout": "sparse_csr"}, "SparseCsrNPU"),
    ],
)
def test_a_tensor_on_the_npu_has_the_npus_keys(options: dict[str, Any], key: str) -> None:
    given = {name: getattr(xp, v) if isinstance(v, str) else v for name, v in options.items()}
    tensor = xp.empty((2, 2), device="npu", **given)
    assert keys_of(tensor) == {key, "AutogradNPU", "ADInplaceOrView"}
    assert tensor.device == xp.device("npu")


def test_a_tensor_moved_to_the_npu_and_back_changes_its_keys() -> None:
    tensor = xp.ones(2)
    assert keys_of(tensor) == {"CPU", "AutogradCPU", "ADInplaceOrView", "AutocastCPU"}
    moved = tensor.to("npu:0")
    assert keys_of(moved) == {"NPU", "AutogradNPU", "ADInplaceOrView"}
    assert moved.to("npu:0") is moved
    assert keys_of(moved.to("cpu")) == keys_of(tensor)


def test_a_gradient_is_no_key() -> None:
    assert keys_of(xp.ones(2, requires_grad=True)) == keys_of(xp.ones(2))


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors is in prototype")
def test_a_nested_tensor_has_both_autograd_keys() -> None:
    assert keys_of(xp.nested.nested_tensor([xp.ones(2)])) == {
        "NestedTensorCPU",
        "AutogradNestedTensor",
        "AutogradCPU",
        "ADInplaceOrView",
        "AutocastCPU",
    }


def test_a_zero_tensor_has_its_key_beside_the_backends() -> None:
    assert keys_of(xp._efficientzerotensor(2)) - keys_of(xp.empty(2)) == {"ZeroTensor"}


def test_conjugate_and_negative_flip_their_keys() -> None:
    tensor = xp.ones(2, dtype=xp.complex64)
    plain = keys_of(tensor)
    assert keys_of(tensor.conj()) == plain | {"Conjugate"}
    assert keys_of(tensor.conj().conj()) == plain
    assert keys_of(xp._neg_view(tensor.conj())) == plain | {"Conjugate", "Negative"}
    assert keys_of(tensor.conj().imag) == plain | {"Negative"}
    assert keys_of(tensor.conj().real) == plain
    assert keys_of(tensor.conj().resolve_conj()) == plain
    assert xp.ones(2).conj().is_conj() is False


# Inference mode ---------------------------------------------------------------------------------

VIEWS: Final[dict[str, Callable[[Any], Any]]] = {
    "detach": lambda tensor: tensor.detach(),
    "t": lambda tensor: tensor.t(),
    "view": lambda tensor: tensor.view(4),
    "conj": lambda tensor: tensor.conj(),
    "real": lambda tensor: tensor.real,
    "negative": xp._neg_view,
}
FRESH: Final[dict[str, Callable[[Any], Any]]] = {
    "clone": lambda tensor: tensor.clone(),
    "to a dtype": lambda tensor: tensor.to(xp.complex128),
    "to a device": lambda tensor: tensor.to("npu"),
    "to sparse": lambda tensor: tensor.to_sparse(),
    "empty_like": xp.empty_like,
    "resolved": lambda tensor: tensor.conj().resolve_conj(),
}


def complex_tensor(inference: bool) -> Any:
    with xp.inference_mode(inference):
        return xp.ones(2, 2, dtype=xp.complex64)


def has_autograd_keys(tensor: Any) -> bool:
    return any(name.startswith(("Autograd", "ADInplace")) for name in keys_of(tensor))


@pytest.mark.parametrize("mode", [True, False])
def test_a_tensor_is_an_inference_tensor_if_it_is_made_in_the_mode(mode: bool) -> None:
    tensor = complex_tensor(mode)
    assert tensor.is_inference() is mode
    assert has_autograd_keys(tensor) is not mode


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("base", [True, False])
@pytest.mark.parametrize("mode", [True, False])
def test_a_view_is_what_its_base_is(view: str, base: bool, mode: bool) -> None:
    tensor = complex_tensor(inference=base)
    with xp.inference_mode(mode):
        made = VIEWS[view](tensor)
    assert made is not tensor
    assert made.is_inference() is base
    assert has_autograd_keys(made) is not base


@pytest.mark.parametrize("make", FRESH)
@pytest.mark.parametrize("base", [True, False])
@pytest.mark.parametrize("mode", [True, False])
def test_a_fresh_tensor_is_what_the_mode_is(make: str, base: bool, mode: bool) -> None:
    tensor = complex_tensor(inference=base)
    with xp.inference_mode(mode):
        made = FRESH[make](tensor)
    assert made.is_inference() is mode
    assert has_autograd_keys(made) is not mode


def test_an_inference_tensor_on_the_npu_has_its_backend_key_alone() -> None:
    with xp.inference_mode():
        assert keys_of(xp.empty(2, device="npu")) == {"NPU"}


def test_another_thread_is_in_no_inference_mode() -> None:
    made: list[Any] = []
    with xp.inference_mode():
        thread = threading.Thread(target=lambda: made.append(xp.empty(2)))
        thread.start()
        thread.join()
    assert made[0].is_inference() is False


def test_an_inference_tensor_outside_the_mode_takes_no_gradient() -> None:
    tensor = complex_tensor(inference=True)
    with pytest.raises(RuntimeError) as caught:
        tensor.requires_grad_()
    assert str(caught.value) == (
        "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed."
    )
    with xp.inference_mode():
        assert tensor.requires_grad_().requires_grad


# The other profiles -----------------------------------------------------------------------------


@once_per_other_profile
def test_all_of_this_holds_under_every_other_profile(other: str) -> None:
    run_again(__file__, other)


# --- sizes that are not given ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("indices", "values", "size"),
    [
        ([[1, 1]], [1.0, 2.0], (2,)),
        ([[0, 2], [1, 0]], [1.0, 2.0], (3, 2)),
        ([[0]], [[1.0, 2.0]], (1, 2)),
        (xp.zeros(1, 0, dtype=xp.int64), xp.zeros(0, 3), (0, 3)),
    ],
)
def test_a_sparse_tensor_has_room_for_its_indices(indices: Any, values: Any, size: Any) -> None:
    assert tuple(xp.sparse_coo_tensor(indices, values).shape) == size


@pytest.mark.filterwarnings("ignore:Sparse CS. tensor support is in beta")
def test_a_compressed_one_has_room_for_its_plain_indices() -> None:
    assert tuple(xp.sparse_csr_tensor([0, 1, 2], [0, 4], [1.0, 2.0]).shape) == (2, 5)
    assert tuple(xp.sparse_csc_tensor([0, 1, 2], [0, 4], [1.0, 2.0]).shape) == (5, 2)


def test_indices_below_zero_and_of_another_rank_are_refused() -> None:
    with pytest.raises(RuntimeError, match=r"^found negative index -1 for dim 1$"):
        xp.sparse_coo_tensor([[0], [-1]], [1.0])
    with pytest.raises(RuntimeError, match=r"^indices must be sparse_dim x nnz, but got: \[1\]$"):
        xp.sparse_coo_tensor([0], [1.0])


def test_a_memory_format_is_for_strided_tensors() -> None:
    sparse = xp.ones(1, 1, 1, 1).to_sparse()
    with pytest.raises(RuntimeError, match=r"^memory format option is only"):
        xp.empty_like(sparse, memory_format=xp.preserve_format)


def test_a_sparse_tensor_without_values_takes_a_size() -> None:
    for options in ({}, {"check_invariants": True}):
        assert tuple(xp.sparse_coo_tensor((2, 3), **options).shape) == (2, 3)


def test_indices_that_nobody_can_read_give_no_size() -> None:
    with pytest.raises(NotImplementedError, match=r"^Cannot copy out of meta tensor; no data!$"):
        xp.sparse_coo_tensor([[0]], [1.0], device="meta")


def test_invariants_that_nobody_checks_are_refused() -> None:
    with pytest.raises(NotImplementedError, match="does not check the invariants of"):
        xp.sparse_csr_tensor([0, 1], [0], [1.0], (1, 1), check_invariants=True)
