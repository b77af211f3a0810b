"""What the cases of :mod:`conformance.cases.autograd` are made of."""

from __future__ import annotations

from typing import Final

#: Reductions and scans of ``x``, with elements that are 0, equal, or no numbers too.
REDUCTIONS: Final = (
    *("x.prod()", "x.prod(0)", "x.prod(1, True)", "(x - 1).prod()", "(x - 1).prod(1)"),
    *("x.max()", "x.min()", "x.max(0)[0]", "x.min(1, True)[0]", "x.amax(1)", "x.amin()"),
    *("x.amax((0, 1))", "x.max(1)[1]", "x.var()", "x.var(0)", "x.var(1, unbiased=False)"),
    *("x.var((0, 1), correction=2)", "x.std()", "x.std(1, True)", "x[:, :1].std(1)"),
    *("xp.var_mean(x, 1)[0]", "xp.var_mean(x)[1]", "xp.std_mean(x, 0)[0]", "x.norm()"),
    *("x.norm(1)", "x.norm(3, 0)", "x.norm(float('inf'))", "x.norm(2, 1, True)", "x.norm(0.5)"),
    *("x.norm(1.5, 1)", "x.norm(0)", "(x - 1).norm(1, 1)", "xp.ops.aten.norm(x, 2)"),
    *("x.cumsum(0)", "x.cumsum(1)", "x.cumprod(1)", "(x - 1).cumprod(1)", "(x - x).cumprod(1)"),
    *("x.cummax(1)[0]", "x.cummin(0)[0]", "x.logsumexp(1)", "x.logsumexp((0, 1), True)"),
    *("x.nansum()", "x.nansum(1)", "x.nanmean(0)", "(x / (x - 1)).nansum(0)", "x.median()"),
    *("x.median(1)[0]", "x.nanmedian()", "x.nanmedian(0, True)[0]", "x.any()", "x.argmax(0)"),
    *("x.count_nonzero()", "x.sum(0, dtype=xp.float32)", "(x * 0 + 1).max()", "x.trace()"),
)
#: Products of matrices and vectors that ``x`` holds.
PRODUCTS: Final = (
    *("xp.addmm(x[:, :2], x, x.t())", "xp.addmm(x[0, :2], x, x.t(), beta=2, alpha=3)"),
    *("xp.addmv(x[:, 0], x, x[0])", "xp.addr(x, x[:, 0], x[0])", "xp.outer(x[0], x[1])"),
    *("xp.addr(x, x[:, 1], x[1], beta=2, alpha=0.5)", "xp.addmv(x[0, :2], x, x[1], alpha=2)"),
    *("xp.baddbmm(x[None, :, :2], x[None], x.t()[None])", "xp.bmm(x[None], x.t()[None])"),
    *("xp.baddbmm(x[0, :2], x[None], x.t()[None], beta=0.5)", "xp.dot(x[0], x[1])"),
    *("xp.addbmm(x[:, :2], x[None], x.t()[None], alpha=2)", "xp.vdot(x[0], x[1])"),
    *("xp.mv(x, x[0])", "xp.matmul(x, x[0])", "xp.matmul(x[0], x.t())", "x[None] @ x.t()"),
    *("xp._C._nn.linear(x, x)", "xp._C._nn.linear(x, x, x[:, 0])", "x[None, None] @ x.t()[None]"),
    *("xp._C._nn.linear(x[None], x, x[:, 1])", "xp._C._nn.linear(x[0], x, x[:, 1])"),
)

LEAF: Final = (
    "x = xp.tensor([[1.0, 2.0, 3.0], [4.0, 0.5, 2.0]], dtype=xp.float64, requires_grad=True)\n"
)
COMPLEX_LEAF: Final = "z = xp.tensor([1 + 2j, 0.5 - 1j], dtype=xp.complex128, requires_grad=True)\n"

#: Expressions of ``x`` (2 by 3, positive) that are differentiable, and of ``y`` like it.
UNARY: Final = (
    *("x + 1", "1 + x", "x - 1", "1 - x", "x * 2", "2 * x", "x / 2", "2 / x", "-x", "x ** 2"),
    *("x ** 0", "x ** 0.5", "x ** 3", "2 ** x", "x.exp()", "x.log()", "x.sqrt()", "x.rsqrt()"),
    *("x.sin()", "x.cos()", "x.tanh()", "x.sigmoid()", "x.relu()", "x.abs()", "x.neg()"),
    *("x.reciprocal()", "x.square()", "x.clamp(1.5, 3.0)", "x.clamp(min=2.0)", "x.clamp(max=2.0)"),
    *("x.clamp(x * 0 + 2)", "x.clamp(x * 0 + 1.5, x * 0 + 2)", "x.fmax(x * 0 + 2)"),
    *("x.sign()", "x.floor()", "x.round()", "x.log1p()", "x.expm1()", "x.exp2()", "x.log2()"),
    *("x.log10()", "x.sinh()", "x.cosh()", "x.tan()", "x.atan()", "x.erf()", "x.trunc()"),
    *("xp.add(x, x, alpha=3)", "xp.sub(x, x, alpha=2)", "xp.rsub(x, 1)", "x.add(1, alpha=2)"),
    *("x.sum()", "x.sum(0)", "x.sum(1, True)", "x.sum((0, 1))", "x.mean()", "x.mean(0)"),
    *("x.mean(1, True)", "x.mean((0, 1), True)", "x.clone()", "x.contiguous()", "x.t()"),
    *("x.view(6)", "x.view(3, 2)", "x.view(-1)", "x.reshape(3, 2)", "x.t().reshape(6)"),
    *("x.transpose(0, 1)", "x.permute(1, 0)", "x.unsqueeze(0)", "x.unsqueeze(-1)", "x[0]"),
    *("x[:, 1]", "x[1, 2]", "x[:, 0:2]", "x[::2]", "x[..., 1]", "x[None]", "x[0:1].squeeze()"),
    *("x.select(0, 1)", "x.narrow(1, 0, 2)", "x.expand(2, 2, 3)", "x[0].expand(2, 3)"),
    *("x.diagonal()", "x.flatten()", "x.as_strided((2,), (1,))", "x.as_strided((2, 2), (1, 1))"),
    *("x.as_strided((3,), (0,))", "x.unbind()[0]", "x.unbind(1)[2]", "x.split(1)[1]"),
    *("x.chunk(2, 1)[0]", "x.split([1, 2], 1)[1]", "x.squeeze()", "x.unsqueeze(1).squeeze(1)"),
    *("x.view_as(x.t())", "x.expand_as(x)", "x.masked_fill(x > 2, 0.0)", "x.where(x > 2, 0.0)"),
    *("xp.where(x > 2, x, x * 2)", "x.maximum(x * 0 + 2)", "x.minimum(x * 0 + 2)", "x.tril()"),
    *("x.triu()", "x.flip(0)", "x.roll(1, 0)", "x.repeat(2, 1)", "xp.cat([x, x])"),
    *("xp.cat([x, x * 2], 1)", "xp.stack([x, x])", "xp.stack([x, x], -1)", "x.to(xp.float64)"),
    *("x.double().sum()", "x.movedim(0, 1)", "x.swapaxes(0, 1)", "x.unflatten(1, (3, 1))"),
    *("x.index_select(0, xp.tensor([0, 0]))", "x.gather(1, xp.tensor([[0], [2]]))"),
    *("x[xp.tensor([0, 1, 0])]", "x[x > 2]", "x.masked_select(x > 2)", "x.take(xp.tensor([0, 5]))"),
    *("x.sort()[0]", "x.topk(2)[0]", "x * x", "x / x", "x - x * x", "x ** x", "x @ x.t()"),
    *("xp.mm(x, x.t())", "x.t().mm(x)", "x.mm(x.t()).t()", "x.t().t().mm(x.t())"),
    *("x.where(x > 2, x * 0)", "x.detach() * x", "(x * 2).detach() * x", "x.fill_diagonal_(1.0)"),
    *("x + x[0]", "x[0] * x", "x * x.sum()", "x / x[:, 0:1]", "x - x.mean(0)"),
    *("x.diagonal(1)", "x.unfold(1, 2, 1)", "x.real", "x.T", "x.mT", "x.silu()", "x.gelu()"),
    *REDUCTIONS,
    *PRODUCTS,
    *("x.argmax()", "x > 1", "x.eq(x)", "x.long()", "x.isnan()", "x.logical_not()", "x.ceil()"),
)

#: Expressions of complex ``z``.
COMPLEX: Final = (
    *("z * 2", "z * z", "z * 1j", "z + 1j", "z / 2", "z / z", "z.conj()", "z.real", "z.imag"),
    *("z.abs()", "z.exp()", "z.sin()", "-z", "z.sum()", "z.view(2)", "z[0]", "z.clone()"),
    *("z * z.real", "z.real * z.imag", "xp.view_as_real(z)", "z ** 2", "z - z.conj()", "z.sgn()"),
    *("z.prod()", "(z - z).prod()", "z.cumsum(0)", "z.cumprod(0)", "z.norm()", "z.norm(1)"),
    *("z.var()", "z.std()", "z.norm(3)", "xp.vdot(z, z * 2)", "xp.dot(z, z)", "xp.outer(z, z)"),
    *("xp.var_mean(z)[1]", "xp.addr(z.outer(z), z, z)", "z.norm(float('inf'))"),
    *("z.conj() * z", "z.resolve_conj()", "z.mean()", "z.log()", "z.sqrt()", "z.tanh()"),
)

#: In-place changes of ``x``.
INPLACE: Final = (
    *("add_(1)", "sub_(1)", "mul_(2)", "div_(2)", "neg_()", "exp_()", "sqrt_()", "zero_()"),
    *("fill_(1.5)", "relu_()", "pow_(2)", "clamp_(1.0, 2.0)", "sigmoid_()", "square_()"),
    *("copy_(xp.ones(2, 3))", "masked_fill_(xp.tensor([True, False, True]), 0.0)", "abs_()"),
    *("cumsum_(1)", "cumprod_(0)", "addr_(xp.ones(2), xp.ones(3))"),
    *("t_()", "transpose_(0, 1)", "unsqueeze_(0)", "squeeze_()", "detach_()", "resize_(3)"),
    *("requires_grad_(False)", "requires_grad_()", "add_(xp.ones(2, 3, requires_grad=True))"),
    *("copy_(xp.ones(2, 3, requires_grad=True))", "as_strided_((2,), (1,))", "log_()", "sin_()"),
)

#: Calls of a tensor that may write to another one.
WITH_OUT: Final = (
    *("sum({0}, 0", "prod({0}, 0", "var({0}, 0", "norm({0}, 2, 0", "cumsum({0}, 0", "max({0}"),
    *("amax({0}, 0", "argmax({0}, 0", "any({0}, 0", "logsumexp({0}, 0", "nansum({0}, 0"),
    *("matmul({0}, {0}", "mm({0}, {0}.t()", "mv({0}, {0}[0]", "dot({0}[0], {0}[1]"),
    *("outer({0}[0], {0}[1]", "addmm({0}, {0}, {0}", "addr({0}, {0}[:, 0], {0}[0]"),
)

#: Views of ``x``, 2 by 3.
VIEWS: Final = (
    *("x[0]", "x.t()", "x.view(6)", "x.transpose(0, 1)[1]", "x.detach()", "x.unbind()[0]"),
    *("x.split(1)[0]", "x.chunk(2)[1]", "x.expand(2, 2, 3)", "x[:, 1:]", "x.unsqueeze(0)"),
    *("x.diagonal()", "x.view(6)[0:2]", "x.as_strided((2,), (1,))", "x.permute(1, 0)", "x.data"),
    *("x.view(3, 2).t()[0]", "x.view_as(x)", "x.squeeze()", "x[None]", "x[...]"),
)

#: How a tensor of the graph is asked about.
ASKED: Final = (
    *("is_leaf", "requires_grad", "grad_fn", "output_nr", "retains_grad", "_version", "_base"),
    *("_is_view()", "grad", "_backward_hooks", "grad_fn.name()", "grad_fn.next_functions"),
    *("is_inference()", "data", "detach()", "grad_fn.metadata", "grad_fn.requires_grad"),
)

#: Calls of backward and grad that go wrong, or nearly; ``x`` is a leaf, ``y`` computed from it.
CALLS: Final = (
    *("y.backward()", "y.sum().backward()", "y.backward(y)", "y.backward(xp.ones(3))"),
    *("y.backward(1)", "y.backward('a')", "y.backward(xp.ones(2, 3))", "y.backward([1])"),
    *("y.backward(xp.ones(2, 3, dtype=xp.float64))", "y.backward(xp.ones(2, 3, dtype=xp.int64))"),
    *("y.backward(xp.ones(2, 3, dtype=xp.complex64))", "y.backward(xp.ones(2, 3, device='meta'))"),
    *("x.backward(xp.ones(2, 3))", "x.detach().sum().backward()", "y.sum().backward(inputs=x)"),
    *("y.sum().backward(inputs=[x])", "y.sum().backward(inputs=[])", "y.sum().backward(inputs=y)"),
    *("y.sum().backward(inputs=[1])", "y.sum().backward(inputs=x.detach())"),
    *("y.sum().backward(inputs={'x': x})", "y.sum().backward(inputs=())"),
    *("xp.autograd.backward(y)", "xp.autograd.backward([y.sum(), y.mean()])"),
    *(
        "xp.autograd.backward([y, y], [None, None])",
        "xp.autograd.backward([y.sum()], [None, None])",
    ),
    *("xp.autograd.backward([y.sum(), y.sum()], [None])", "xp.autograd.backward([])"),
    *("xp.autograd.backward([1])", "xp.autograd.backward('a')", "xp.autograd.backward(None)"),
    *("xp.autograd.backward([y.sum(), x.detach().sum()])", "xp.autograd.backward((y,), (y,))"),
    *("xp.autograd.backward(y, y, grad_variables=y)", "xp.autograd.grad(y, x)"),
    *("xp.autograd.grad(y.sum(), x)", "xp.autograd.grad(y.sum(), [x, x])"),
    *("xp.autograd.grad(y.sum(), ())", "xp.autograd.grad((), x)", "xp.autograd.grad(1, x)"),
    *("xp.autograd.grad(y.sum(), 1)", "xp.autograd.grad(y.sum(), [1])"),
    *("xp.autograd.grad(y.sum(), [None])", "xp.autograd.grad(y.sum(), x.detach())"),
    *("xp.autograd.grad(y.sum(), xp.ones(1, requires_grad=True))",),
    *("xp.autograd.grad(y.sum(), xp.ones(1, requires_grad=True), allow_unused=True)",),
    *("xp.autograd.grad(y.sum(), xp.ones(1, requires_grad=True), materialize_grads=True)",),
    *("xp.autograd.grad(y.sum(), x, materialize_grads=True, allow_unused=False)",),
    *("xp.autograd.grad(y, x, xp.ones(2, 3))", "xp.autograd.grad(y, x, xp.ones(3))"),
    *("xp.autograd.grad([y, y], x, [xp.ones(2, 3), None])", "xp.autograd.grad(y.sum(), y)"),
    *("xp.autograd.grad([y.sum(), y.mean()], [x, y])", "xp.autograd.grad(y.sum(), {'x': x})"),
    *("xp.autograd.grad(y.sum(), x, create_graph=True)", "xp.autograd.grad(x, x, x.detach())"),
    *("xp.autograd.grad(y.sum(), x, retain_graph=True), xp.autograd.grad(y.sum(), x)",),
    *("xp.autograd.grad(y.sum(), x), xp.autograd.grad(y.mean(), x)", "y.long().sum().backward()"),
    *("y.sum().backward(), y.sum().backward()", "y.sum().backward(retain_graph=True), y.grad_fn"),
    *("xp.autograd.grad(y.to(xp.complex64).sum(), x)", "xp.autograd.grad(y.grad_fn, x)"),
    *("xp.autograd.grad(xp.autograd.graph.get_gradient_edge(y.sum()), x)",),
    *("xp.autograd.grad(y.sum(), xp.autograd.graph.get_gradient_edge(x))",),
    *("xp.autograd.backward(xp.autograd.graph.get_gradient_edge(y), xp.ones(2, 3))",),
    *("xp.autograd.graph.get_gradient_edge(x.detach())", "y.retain_grad()", "x.retain_grad()"),
    *("x.detach().retain_grad()", "x.register_hook(len)", "x.detach().register_hook(len)"),
    *("y.register_post_accumulate_grad_hook(len)", "x.detach().requires_grad_().grad"),
)

#: Assignments and flags of a leaf ``x`` and of ``y``, computed from it.
FLAGS: Final = (
    *("x.grad = xp.ones(2, 3)", "x.grad = xp.ones(3)", "x.grad = 1", "x.grad = x", "x.grad = None"),
    *("x.grad = xp.ones(2, 3, dtype=xp.float64)", "x.grad = xp.ones(2, 3, device='meta')"),
    *("x.grad = xp.ones(2, 3).to_sparse()", "x.grad = xp.ones(2, 3, dtype=xp.int64)", "del x"),
    *("y.grad = xp.ones(2, 3)", "x.requires_grad = False", "y.requires_grad = False"),
    *("y.requires_grad = True", "x.requires_grad = 1", "x.requires_grad = None", "y.data = 1"),
    *("xp.ones(2, dtype=xp.int64).requires_grad = True", "y.requires_grad_(False)"),
    *("xp.ones(2, dtype=xp.int64).requires_grad_()", "y.requires_grad_()", "x.requires_grad_(0)"),
    *("x.data = xp.zeros(2)", "x.data = xp.zeros(2, dtype=xp.int64)", "y.data = xp.zeros(1)"),
    *("x.data = xp.zeros(2, dtype=xp.float64)", "y.grad = x"),
)
