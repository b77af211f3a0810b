"""Mutating operators without a kernel: the functional kernel, and its result written back.

Decision 6 of the design.  The tests run in a process from which the CPU's in-place and ``out=``
kernels are taken away.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from mindtorch_v2.kernels.write_back import ENVIRONMENT, FUNCTIONAL

PROLOGUE = """
import pytest
import mindtorch_v2 as torch
from mindtorch_v2.dispatch.trace import trace
x = torch.tensor([1.0, -2.0, 3.0])
"""


def run_without_kernels(body: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROLOGUE + body],
        env={**os.environ, ENVIRONMENT: FUNCTIONAL},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "body",
    [
        # the functional operator runs within the in-place one
        """
with trace() as steps:
    x.relu_()
ran = [step.operator for step in steps if step.key == "CPU"]
assert ran[:2] == ["aten::relu_", "aten::relu"]
assert x.tolist() == [1.0, 0.0, 3.0]
""",
        # the version is counted once, and views see the change
        """
view = x[1:]
assert x.add_(1) is x
assert x._version == view._version == 1
assert view.tolist() == [-1.0, 4.0]
""",
        # out= is resized, and answered
        """
out = torch.empty(0)
assert torch.mul(x, 2, out=out) is out
assert out.tolist() == [2.0, -4.0, 6.0]
""",
        # what resizes has a kernel all the same, and a loss that is reduced in its output
        """
assert x.clone().resize_(2).tolist() == [1.0, -2.0]
assert x.clone().resize_as_(torch.ones(1, 2)).tolist() == [[1.0, -2.0]]
half = torch.full((2, 3), 0.5)
loss = torch.ops.aten.binary_cross_entropy(half, half)
assert loss.shape == () and abs(loss.item() - 0.6931472) < 1e-6
""",
        # an out= operator that changes arguments as well gets results for both
        """
mean, var, new = torch.zeros(2), torch.ones(2), torch.empty(0)
batch = torch.tensor([[1.0, 2.0], [3.0, 6.0]])
found = torch.ops.aten._native_batch_norm_legit.out(
    batch, None, None, mean, var, True, 0.5, 0.0,
    out=new, save_mean=torch.empty(0), save_invstd=torch.empty(0),
)
assert len(found) == 3 and found[0] is new
assert new.tolist() == [[-1.0, -1.0], [1.0, 1.0]]
assert mean.tolist() == [1.0, 2.0] and var.tolist() == [1.5, 4.5]
""",
        # history is recorded as of any in-place operator
        """
leaf = torch.ones(3, requires_grad=True)
y = leaf * 2
y.mul_(x)
assert y.grad_fn.name() == "MulBackward0"
y.sum().backward()
assert leaf.grad.tolist() == [2.0, -4.0, 6.0]
""",
        # what does not fit is refused, and nothing has changed
        """
with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
    x.add_(torch.ones(2, 3))
with pytest.raises(RuntimeError, match="can't be cast to the desired output type Long"):
    torch.ones(3, dtype=torch.int64).mul_(0.5)
with pytest.raises(RuntimeError, match="single memory location"):
    torch.ones(1).expand(3).add_(1)
assert x.tolist() == [1.0, -2.0, 3.0] and x._version == 0
""",
        # what was written before an index was refused stays written: in place, into an output, of
        # which no other element is touched, and into one whose elements are gone through in another
        # order; which has been resized by then
        """
with pytest.raises(IndexError, match="access index 7"):
    x.put_(torch.tensor([1, 7, 0]), torch.tensor([5.0, 6.0, 7.0]))
assert x.tolist() == [1.0, 5.0, 3.0]
with pytest.raises(IndexError, match="index 4 is out of bounds"):
    x[torch.tensor([2, 4])] = 9.0
assert x.tolist() == [1.0, 5.0, 9.0]
with pytest.raises(IndexError, match="index 3 is out of bounds"):
    x.index_fill_(0, torch.tensor([0, 3]), torch.tensor(2.0))  # made of another that fills
assert x.tolist() == [2.0, 5.0, 9.0]
out = torch.full((2, 2), -1.0)
with pytest.raises(RuntimeError, match="index 3 is out of bounds for dimension 0 with size 3"):
    torch.gather(x, 0, torch.tensor([0, 3]), out=out[0])
assert out.tolist() == [[2.0, -1.0], [-1.0, -1.0]]
out = torch.full((2, 2), -1.0).t()
with pytest.raises(IndexError, match="access index 8"):
    torch.take(x, torch.tensor([[1, 9], [8, 0]]), out=out)
assert out.tolist() == [[5.0, -1.0], [-1.0, -1.0]]
out = torch.empty(0)
with pytest.raises(RuntimeError, match="index 3 is out of bounds"):
    torch.gather(x, 0, torch.tensor([3]), out=out)
assert out.shape == (1,)
""",
        # a factory makes what its output is, and keeps its shape where the elements are as many; a
        # kernel begins once, whatever is asked of it before
        """
out = torch.empty(2, 2, dtype=torch.int64).t()
assert torch.arange(0.5, 4.0, out=out).tolist() == [[0, 1], [2, 3]]
import warnings
torch.set_warn_always(True)
with warnings.catch_warnings(record=True) as given:
    warnings.simplefilter("always")
    x.scatter_(0, torch.tensor([0]), torch.ones(1), reduce="add")
assert len(given) == 1 and x.tolist() == [2.0, -2.0, 3.0]
""",
        # a functional kernel that is made of the mutating one gets that back
        """
x.masked_fill_(x < 0, 0.0)
assert x.tolist() == [1.0, 0.0, 3.0]
""",
    ],
)
def test_an_operator_without_kernel_writes_back(body: str) -> None:
    run_without_kernels(body)


def test_kernels_are_there_unless_they_are_taken_away() -> None:
    """The switch matters: without it the in-place kernel runs alone."""
    import mindtorch_v2 as torch
    from mindtorch_v2.dispatch.trace import trace

    with trace() as steps:
        torch.ones(2).relu_()
    assert "aten::relu" not in {step.operator for step in steps}
