"""Tensors through ``pickle`` and ``copy``: what comes back, and what it shares."""

import copy
import pickle

import pytest

import mindtorch_v2 as torch


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_tensor_comes_back_with_its_geometry(protocol):
    x = torch.arange(6.0).view(2, 3).t()
    y = pickle.loads(pickle.dumps(x, protocol))
    assert y.tolist() == x.tolist()
    assert (y.shape, y.stride(), y.dtype) == (x.shape, x.stride(), x.dtype)
    assert y.data_ptr() != x.data_ptr()


def test_tensors_of_one_pickle_have_storages_of_their_own():
    x = torch.zeros(4)
    one, two = pickle.loads(pickle.dumps([x, x[1:]]))
    one.fill_(7)
    assert two.tolist() == [0.0, 0.0, 0.0]


def test_one_tensor_twice_in_a_pickle_is_one_tensor():
    x = torch.zeros(4)
    one, two = pickle.loads(pickle.dumps([x, x]))
    assert one is two


def test_deep_copies_of_tensors_that_share_memory_share_memory():
    x = torch.zeros(4)
    one, two = copy.deepcopy([x, x[1:]])
    one.fill_(7)
    assert two.tolist() == [7.0, 7.0, 7.0]
    assert x.tolist() == [0.0] * 4


def test_a_shallow_copy_shares_memory_and_no_history():
    x = torch.ones(2, requires_grad=True)
    y = copy.copy(x * 2)
    assert y.is_leaf
    assert y.requires_grad
    z = copy.copy(x.detach())
    z.fill_(5)
    assert x.tolist() == [5.0, 5.0]


def test_attributes_come_along():
    x = torch.ones(2)
    x.note = ["here"]
    assert pickle.loads(pickle.dumps(x)).note == ["here"]
    assert copy.copy(x).note is x.note
    assert copy.deepcopy(x).note == ["here"]


def test_a_hook_stays_behind_with_a_warning():
    x = torch.ones(2, requires_grad=True)
    x.register_hook(torch.neg)
    with pytest.warns(UserWarning, match="will not be serialized"):
        y = pickle.loads(pickle.dumps(x))
    assert not y._backward_hooks


def test_a_hook_that_says_so_stays_behind_without_a_warning(recwarn):
    @torch.utils.hooks.unserializable_hook
    def hook(gradient):
        return gradient

    x = torch.ones(2, requires_grad=True)
    x.register_hook(hook)
    pickle.dumps(x)
    assert not recwarn


def test_a_parameter_comes_back_as_one():
    x = torch.nn.Parameter(torch.ones(2), requires_grad=False)
    for y in (pickle.loads(pickle.dumps(x)), copy.copy(x), copy.deepcopy(x)):
        assert type(y) is torch.nn.Parameter
        assert not y.requires_grad


def test_a_deep_copy_of_a_parameter_has_no_gradient():
    x = torch.nn.Parameter(torch.ones(2))
    x.grad = torch.ones(2)
    assert copy.deepcopy(x).grad is None


def test_a_conjugate_view_comes_back_as_one():
    x = torch.tensor([1 + 2j]).conj()
    y = pickle.loads(pickle.dumps(x))
    assert y.is_conj()
    assert y.tolist() == [1 - 2j]


def test_a_storage_without_a_dtype_is_refused_when_it_is_loaded():
    pickled = pickle.dumps(torch.ones(2).untyped_storage())
    with pytest.raises(AttributeError, match="has no attribute 'dtype'"):
        pickle.loads(pickled)


def test_old_states_are_still_taken():
    x = torch.ones(2)
    x.__setstate__((True, None, None))
    assert x.requires_grad
    with pytest.raises(RuntimeError, match="only called on leaf"):
        (x * 2).__setstate__((True, None, None))
