"""Tensors on the NPU: made, moved, viewed, changed, read and printed."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest

import mindtorch_v2 as torch

from .comparing import assert_same, on_npu

nll_loss = torch.nn.functional.nll_loss
pytestmark = [pytest.mark.npu, pytest.mark.usefixtures("npu")]


def test_a_device_without_index_is_the_current_one() -> None:
    made = torch.empty(2, device="npu")
    assert made.device == torch.device("npu:0")
    assert made.is_npu
    assert not made.is_cpu
    assert made.get_device() == 0
    assert made.to("npu") is made
    assert made.npu() is made


def test_a_tensor_goes_there_and_back() -> None:
    x = torch.arange(6).view(2, 3)
    for there in (
        x.npu(),
        x.to("npu:0"),
        x.to(torch.device("npu")),
        torch.tensor(x.tolist(), device="npu"),
    ):
        assert_same(there, x)
        back = there.cpu()
        assert back.device == torch.device("cpu")
        assert back.tolist() == x.tolist()


def test_one_device_is_not_another() -> None:
    if torch.npu.device_count() < 2:
        pytest.skip("there is one NPU")
    x = torch.ones(2, device="npu:1")
    assert x.device == torch.device("npu:1")
    assert (x + 1).device == torch.device("npu:1")
    assert x.to("npu:0").device == torch.device("npu:0")
    with pytest.raises(RuntimeError, match="at least two devices, npu:1 and npu:0"):
        torch.add(x, torch.ones(2, device="npu:0"))


@pytest.mark.parametrize("name", ["zeros", "ones", "rand", "randn"])
def test_factories_make_what_they_make_on_the_cpu(name: str) -> None:
    torch.manual_seed(3)
    expected = getattr(torch, name)(2, 3)
    torch.manual_seed(3)
    assert_same(getattr(torch, name)(2, 3, device="npu"), expected)


def test_other_factories() -> None:
    assert_same(torch.arange(1, 9, 2, device="npu"), torch.arange(1, 9, 2))
    assert_same(torch.full((2,), 7, device="npu"), torch.full((2,), 7))
    assert_same(torch.eye(3, device="npu"), torch.eye(3))
    torch.manual_seed(1)
    expected = torch.randint(9, (4,))
    torch.manual_seed(1)
    assert_same(torch.randint(9, (4,), device="npu"), expected)


def test_views_share_memory_and_have_offsets_and_strides() -> None:
    x, y = torch.arange(24.0).view(2, 3, 4), on_npu(torch.arange(24.0).view(2, 3, 4))
    for view in (
        lambda t: t[1],
        lambda t: t[:, 1:, ::2],
        lambda t: t.transpose(0, 2),
        lambda t: t.permute(2, 0, 1)[1:],
        lambda t: t.diagonal(),
        lambda t: t.select(2, 3).unsqueeze(0).expand(2, 2, 3),
        lambda t: t.as_strided((2, 2), (5, 3), 4),
    ):
        assert_same(view(y), view(x))
        assert_same(view(y) + 1, view(x) + 1)
    y[1].fill_(0)
    x[1].fill_(0)
    y[:, 1:, ::2].mul_(2)
    x[:, 1:, ::2].mul_(2)
    assert_same(y, x)


def test_in_place_operators_write_where_their_tensor_lies() -> None:
    x, y = torch.arange(6.0).view(2, 3), on_npu(torch.arange(6.0).view(2, 3))
    before = y.data_ptr()
    for change in (
        lambda t: t.add_(1),
        lambda t: t.t().mul_(2),
        lambda t: t.relu_(),
        lambda t: t[0].copy_(t[1]),
        lambda t: t.clamp_(0, 9),
        lambda t: t.addcmul_(t, t, value=0.5),
        lambda t: t.masked_fill_(t > 20, -1),
        lambda t: t.zero_(),
    ):
        change(x), change(y)
        assert_same(y, x)
        assert y._version == x._version
    assert y.data_ptr() == before


def test_out_tensors_are_resized_and_written() -> None:
    out = torch.empty(0, device="npu")
    x = on_npu(torch.ones(2, 3))
    assert torch.add(x, 1, out=out) is out
    assert_same(out, torch.ones(2, 3) + 1)


def test_elements_are_read_without_a_warning() -> None:
    x = torch.tensor([1.5, -2.0], device="npu")
    assert x[0].item() == 1.5
    assert float(x[1]) == -2.0
    assert bool(x[0])
    assert x.tolist() == [1.5, -2.0]
    assert int(torch.tensor(3, device="npu")) == 3


def test_a_tensor_prints_as_on_the_cpu_with_its_device() -> None:
    x = torch.tensor([[1.0, -2.5], [3.0, 1e-3]])
    assert repr(on_npu(x)) == repr(x)[:-1] + ", device='npu:0')"
    assert repr(torch.zeros(0, device="npu")) == "tensor([], device='npu:0')"


def test_numpy_needs_a_copy_first() -> None:
    x = torch.ones(2, device="npu")
    with pytest.raises(TypeError, match="npu:0 device type tensor to numpy"):
        x.numpy()
    np.testing.assert_array_equal(x.cpu().numpy(), [1, 1])


def test_keys_are_those_of_an_npu() -> None:
    assert str(torch._C._dispatch_keys(torch.ones(1, device="npu"))) == (
        "DispatchKeySet(NPU, ADInplaceOrView, AutogradNPU)"
    )


def test_tensors_without_elements_are_fine() -> None:
    x = torch.empty(0, 3, device="npu")
    assert_same(x + 1, torch.empty(0, 3))
    assert_same(x.sum(0), torch.zeros(3))
    assert_same(torch.cat([x, torch.ones(1, 3, device="npu")]), torch.ones(1, 3))
    assert x.data_ptr() == 0


def test_tensors_on_two_devices_do_not_mix() -> None:
    x, y = torch.ones(2, 3, device="npu"), torch.ones(2, 3)
    for call in (torch.add, torch.mul, lambda a, b: torch.mm(a, b.t()), torch.maximum):
        with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
            call(x, y)
    assert_same(x + torch.tensor(1.0), torch.full((2, 3), 2.0))
    assert_same(torch.tensor(1.0) + x, torch.full((2, 3), 2.0))


def test_conjugated_and_negated_views_are_read_as_they_are() -> None:
    z = torch.tensor([1 + 2j, 3 - 1j])
    assert_same((on_npu(z).conj() * 1).resolve_conj(), (z.conj() * 1).resolve_conj())
    assert_same(on_npu(z).conj().imag + 0, z.conj().imag + 0)


def test_errors_are_those_of_the_cpu() -> None:
    x = torch.ones(2, 3, device="npu")
    with pytest.raises(RuntimeError, match=r"mat1 and mat2 shapes cannot be multiplied \(2x3 and"):
        x @ x
    with pytest.raises(RuntimeError, match="must match the size of tensor b"):
        x + torch.ones(4, device="npu")
    with pytest.raises(IndexError, match="Dimension out of range"):
        x.sum(2)
    with pytest.raises(RuntimeError, match="cannot be converted to type uint8_t without overflow"):
        x.byte() ** 300
    with pytest.raises(RuntimeError, match="rounding_mode to be one of"):
        x[:1].expand(2, 3).div_(2, rounding_mode="nosuch")
    with pytest.raises(RuntimeError, match="expected scalar type Float but found BFloat16"):
        nll_loss(x, torch.tensor([2, 0], device="npu"), torch.ones(3, device="npu").bfloat16())


def test_a_part_of_a_storage_is_the_same_memory() -> None:
    x = torch.ones(4, device="npu")
    part = x.untyped_storage()[4:12]
    assert (part.device, len(part)) == (torch.device("npu:0"), 8)
    part.fill_(0)
    assert x.tolist() == [1.0, 0.0, 0.0, 1.0]
    assert len(x.untyped_storage()[3:2]) == 0


def test_what_a_kernel_refuses_is_refused_at_the_call_in_a_pipeline() -> None:
    x, index = torch.zeros(2, device="npu"), torch.tensor([0], device="npu")
    with torch.pipeline() as queue:
        with pytest.raises(RuntimeError, match="shape mismatch"):
            x.index_put((index,), torch.ones(2, device="npu"))
        queue.flush()


def test_a_copy_may_go_on_while_it_is_made(npu: ModuleType) -> None:
    source = torch.arange(1000.0)
    target = torch.empty(1000, device="npu")
    for number in range(5):
        source.fill_(number)
        target.copy_(source, non_blocking=True)
    source.fill_(-1)
    npu.synchronize()
    assert target.cpu().tolist() == [4.0] * 1000
    assert torch.ones(3).npu(non_blocking=True).cpu().tolist() == [1, 1, 1]


def test_what_lies_between_elements_that_overlap_stays(npu: ModuleType) -> None:
    """There are as many elements as places from the first to the last, and yet there are gaps."""
    x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], device="npu")
    column = x.expand(2, 2, 3).select(-1, 0)
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        column.copy_(column.clone())
    assert x.tolist() == [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
