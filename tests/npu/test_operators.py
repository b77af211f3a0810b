"""Each row computes on the NPU what the CPU's kernel computes, and nothing of it on the CPU."""

from __future__ import annotations

from types import ModuleType
from typing import Any, Final

import pytest

import mindtorch_v2 as torch
from mindtorch_v2.dispatch import native
from mindtorch_v2.dispatch.dispatcher import DISPATCHER
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.trace import trace
from mindtorch_v2.kernels.npu.install import ROWS

from .comparing import assert_same, on_npu

pytestmark = pytest.mark.npu


def _numbers() -> dict[str, Any]:
    """Tensors for the calls, the same each time."""
    torch.manual_seed(0)
    x = torch.randn(2, 3)
    return {
        "x": x,
        "y": torch.randn(2, 3),
        "p": x.abs() + 0.5,
        "u": torch.rand(2, 3),
        "v": torch.randn(3),
        "s": torch.tensor(1.5),
        "h": x.half(),
        "i": torch.arange(1, 7).view(2, 3),
        "j": torch.tensor([[3, -2, 1], [2, 2, -5]]),
        "b": x > 0,
        "c": torch.tensor([[True, False, True]]),
        "m": torch.randn(3, 4),
        "t": torch.randn(4, 3).t(),
        "B": torch.randn(2, 3, 4),
        "D": torch.randn(2, 4, 5),
        "E": torch.randn(2, 3, 5),
        "n": torch.randn(2, 3, 6, 6),
        "w": torch.randn(4, 3, 3, 3),
        "l": torch.tensor([2, 0]),
        "k": torch.tensor([1, 0, 1]),
        "g": torch.tensor([[0, 1, 0], [1, 0, 1]]),
    }


UNARY: Final = (
    *("abs", "neg", "sign", "floor", "ceil", "round", "trunc", "relu", "sigmoid", "tanh"),
    *("exp", "exp2", "expm1", "sin", "cos", "tan", "sinh", "cosh", "atan", "erf"),
    "logical_not",
)
POSITIVE: Final = ("log", "log2", "log10", "log1p", "sqrt", "rsqrt", "reciprocal")
UNIT: Final = ("asin", "acos")

CALLS: Final = (
    *(f"x.{name}()" for name in UNARY),
    *(f"p.{name}()" for name in POSITIVE),
    *(f"u.{name}()" for name in UNIT),
    *("i.sqrt()", "i.sin()", "b.logical_not()", "~b", "~i", "i.neg()"),
    *("x + y", "x - y", "x * y", "x / y", "x + 2", "x - 0.5", "x * 3", "x / 4", "2 - x", "1 / x"),
    *("x + v", "x + s", "i + s", "i * 2", "i * 2.5", "i / 2", "i / i", "b + b", "h + x", "h * 2"),
    *("x.add(y, alpha=2)", "i.sub(j, alpha=3)", "x.t() + y.t()", "x[:, 1:] * y[:, :2]"),
    *("x.expand(4, 2, 3) + y", "x.atan2(y)", "i.atan2(i)", "torch.maximum(x, y)"),
    *("torch.minimum(i, j)", "x.fmod(y)", "x // y", "p ** y", "p ** 2", "2 ** x", "i ** 2"),
    *("x.div(y, rounding_mode='floor')", "x.div(y, rounding_mode='trunc')", "x.remainder(y)"),
    *("x // 0.5", "1 // p"),
    *(f"x {sign} y" for sign in ("<", "<=", ">", ">=", "==", "!=")),
    *("x > 0", "i == 2", "i < 2.5", "i > j", "b == c", "i & j", "i | j", "i ^ j", "b & c"),
    *("torch.logical_and(x, i)", "torch.logical_or(b, c)", "torch.logical_xor(b, x)"),
    *("nn.gelu(x)", "nn.gelu(x, approximate='tanh')", "nn.silu(x)"),
    *("nn.leaky_relu(x, 0.1)", "torch.threshold(x, 0.1, 2.0)"),
    *("x.clamp(-0.5, 0.5)", "x.clamp(min=0.1)", "x.clamp_max(0.2)", "x.clamp_min(0.3)"),
    *("x.clamp(min=y)", "i.clamp(2, 4)"),
    *("torch.addcmul(x, y, p, value=0.5)", "torch.addcdiv(x, y, p, value=2)"),
    *("torch.lerp(x, y, 0.3)", "torch.lerp(x, y, p)", "torch.where(b, x, y)"),
    *("torch.where(b, x, s)", "torch.where(c, i, j)"),
    *("x @ m", "x.mm(t)", "B @ D", "torch.bmm(B, D)", "torch.addmm(y[:, :1], x, m)"),
    *("torch.addmm(x, y @ t, m.t(), beta=0.5, alpha=2)", "torch.dot(v, v)", "x @ v"),
    *("torch.baddbmm(E, B, D, alpha=0.5)", "torch.addbmm(E[0], B, D)", "h @ h.t()"),
    *("x.sum()", "x.sum(1)", "x.sum(0, keepdim=True)", "i.sum()", "b.sum()", "x.t().sum(0)"),
    *("x.sum(dtype=torch.float64)", "x.mean()", "x.mean(-1)", "n.mean((2, 3))", "x.prod()"),
    *("p.prod(1)", "x.amax(1)", "x.amin((0, 1))", "x.max()", "i.min()", "x.max(1)", "x.min(0)"),
    *("x.argmax()", "x.argmin(1)", "x.t().argmax()", "b.any()", "b.all(1)", "b.any(0)"),
    *("x.var()", "x.var(1)", "x.std(0)", "x.std(1, correction=0)", "torch.var_mean(x, 1)"),
    *("x.norm()", "x.norm(dim=1)", "x.norm(p=1)", "x.cumsum(1)", "i.cumsum(0)", "x.cumprod(0)"),
    *("x.softmax(1)", "x.log_softmax(0)", "x.logsumexp(1)", "v.topk(2)", "x.topk(1, 0)"),
    *("x.sort(1)", "x.sort(0, descending=True)", "v.argsort()"),
    *("torch.cat([x, y])", "torch.cat([x, i], 1)", "torch.stack([x, y], 1)", "x.repeat(2, 2)"),
    *(
        "x.flip(1)",
        "x.roll(1, 0)",
        "torch.constant_pad_nd(x, (1, 2), 3.0)",
        "m.tril()",
        "m.triu(1)",
    ),
    *("x.index_select(1, l)", "x.gather(1, g)", "x.scatter(1, g, y)", "x.scatter(1, g, 2.0)"),
    *("x.scatter_add(1, g, y)", "x.index_add(1, l, y[:, :2], alpha=2)", "x[k]", "x[:, l]"),
    *("x.masked_fill(b, 7.0)", "i.masked_fill(c, 0)", "x.t().masked_fill(b.t(), 1)"),
    *("F.embedding(l, m)", "F.mse_loss(x, y)", "nn.mse_loss(x, y, 0)"),
    *("F.cross_entropy(x, l)", "F.nll_loss(x, l, weight=v.abs(), reduction='sum')"),
    *("F.nll_loss(x, l, reduction='none')", "F.layer_norm(x, (3,), v, v)"),
    *("F.layer_norm(B, (3, 4))", "F.conv2d(n, w)", "F.conv2d(n, w, padding=1, stride=2)"),
    "F.conv2d(n, w, v.new_ones(4))",
    *("x.to(torch.float64)", "x.half()", "x.to(torch.int32)", "i.float()", "b.long()", "x.bool()"),
    *("x.clone()", "x.t().contiguous()", "n.permute(0, 2, 3, 1).reshape(2, -1)", "x.bfloat16()"),
    *("b.all()", "b.all((0, 1))", "b.any((0, 1))", "x >= 0.5", "x <= 0.5", "x != 0.5"),
    *("x.clone().abs_()", "torch.masked_fill(x, b, s)", "x.clone().masked_fill_(b, 2)"),
    *("x.clone().masked_fill_(b, s)", "x.index_put((k,), v)"),
    *("torch.zeros_like(x)", "torch.full_like(x, 3)", "x.new_ones(2)", "torch.ones_like(x.t())"),
    *("torch.std_mean(x, 1)", "torch.std_mean(p, (0, 1), correction=0)"),
    *("v.addmv(x.t(), y[:, 0], beta=0.5, alpha=2)", "s.addmv(x, v)", "torch.vdot(v, v)"),
    *("v.gather(0, s.long())", "s.gather(0, l[1:])", "v.scatter(0, s.long(), s)"),
    *("v.scatter(0, s.long(), 2.0)", "v.scatter_add(0, s.long(), s)"),
    *(
        "i.byte().clamp_min(-1)",
        "i.byte().clamp_max(-1)",
        "x.to(torch.complex128).add(1, alpha=1e39)",
    ),
)


@pytest.fixture
def both_sides() -> tuple[dict[str, Any], dict[str, Any]]:
    names = {"torch": torch, "F": torch.nn.functional, "nn": torch._C._nn}
    numbers = _numbers()
    return {**names, **numbers}, {**names, **{name: on_npu(x) for name, x in numbers.items()}}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.usefixtures("npu", "on_npu_alone")
def test_an_operator_answers_what_the_cpu_answers(
    call: str, both_sides: tuple[dict[str, Any], dict[str, Any]]
) -> None:
    on_cpu, on_device = both_sides
    assert_same(eval(call, on_device), eval(call, on_cpu), rtol=1e-4, atol=1e-5)


DIFFERENTIATED: Final = (
    *("x * y", "x / p", "x ** 2", "x.exp()", "p.log()", "x.tanh()", "x.sigmoid()", "x.relu()"),
    *("nn.gelu(x)", "nn.gelu(x, approximate='tanh')", "nn.silu(x)"),
    *(
        "nn.leaky_relu(x, 0.1)",
        "x @ m",
        "B @ D",
        "x.softmax(1)",
        "x.log_softmax(1)",
        "x.mean(0)",
        "x.sum(1)",
        "x.t() + 1",
    ),
    *("torch.cat([x, y])", "x.masked_fill(b, 0.0)", "x[:, 1:]", "x.gather(1, g)", "x.var(1)"),
    *("F.mse_loss(x, y)", "F.cross_entropy(x, l)"),
    *("F.layer_norm(x, (3,), v, v)", "F.embedding(l, m)", "F.conv2d(n, w)"),
    "F.linear(x, t.t(), m[0])",
)


@pytest.mark.parametrize("call", DIFFERENTIATED)
@pytest.mark.usefixtures("npu", "on_npu_alone")
def test_a_gradient_is_that_of_the_cpu(
    call: str, both_sides: tuple[dict[str, Any], dict[str, Any]]
) -> None:
    gradients = []
    for side in both_sides:
        leaves = [
            value.requires_grad_()
            for value in side.values()
            if isinstance(value, torch.Tensor) and value.is_floating_point() and value.is_leaf
        ]
        answer = eval(call, side)
        (answer * answer).sum().backward()
        gradients.append([leaf.grad for leaf in leaves if leaf.grad is not None])
    assert gradients[0]
    assert_same(gradients[1], gradients[0], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", sorted(ROWS))
def test_a_row_is_of_an_operator_that_backends_have(name: str) -> None:
    entry = DISPATCHER.find(name)
    assert entry is not None
    backends = (
        DispatchKey.CPU,
        DispatchKey.CompositeExplicitAutograd,
        DispatchKey.CompositeExplicitAutogradNonFunctional,
    )
    assert any(int(key) in entry.kernels for key in backends)
    assert native.has_kernel(name)


def test_every_row_is_called(
    npu: ModuleType, both_sides: tuple[dict[str, Any], dict[str, Any]]
) -> None:
    _, on_device = both_sides
    with trace() as steps:
        for call in CALLS:
            eval(call, on_device)
        for value in on_device.values():
            if isinstance(value, torch.Tensor) and value.is_floating_point() and value.is_leaf:
                value.requires_grad_()
        for call in DIFFERENTIATED:
            eval(call, on_device).sum().backward()
    called = {step.operator for step in steps if step.key == "NPU"}
    assert set(ROWS) - called == set()


def test_there_are_rows_enough() -> None:
    assert len(ROWS) >= 60


def test_an_output_is_refused_in_the_order_of_the_cpu(npu: ModuleType) -> None:
    """What the CPU looks at in tensors that have values, it looks at before their shapes."""

    def refusal(device: str) -> str:
        x = torch.ones(4, device=device)
        with pytest.raises((RuntimeError, ValueError)) as refused:
            torch.ops.aten.nll_loss.out(x, x.clone(), out=torch.zeros(2, device=device))
        return str(refused.value)

    assert refusal("npu") == refusal("cpu")


def test_an_output_of_another_dtype_lies_as_on_the_cpu(npu: ModuleType) -> None:
    def strides(device: str) -> tuple[int, ...]:
        x = torch.arange(8, device=device).view(2, 2, 2).mH[:, 1:]
        return torch.expm1(x, out=torch.zeros(0, device=device)).stride()

    assert strides("npu") == strides("cpu") == (2, 2, 1)


def test_a_mean_refuses_integers_whatever_it_is_written_to(npu: ModuleType) -> None:
    x = torch.arange(8, device="npu")
    calls = [lambda out: torch.mean(x, 0, out=out)]
    if "dtype_out" in torch.ops.aten.mean.overloads():  # newer releases have it
        calls.append(lambda out: torch.ops.aten.mean.dtype_out(x, out=out))
    for call in calls:
        with pytest.raises(RuntimeError, match=r"^mean\(\): could not infer output dtype"):
            call(torch.zeros(1, device="npu"))
