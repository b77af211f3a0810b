"""The pools of area ``functionalize``: views, changes, programs, questions."""

from __future__ import annotations

from typing import Final

REAL: Final = "xp.arange(6.).view(2, 3)"
COMPLEX: Final = "xp.tensor([[1 + 2j, 3 - 4j]])"

VIEWS: Final = (
    *("x.view(3, 2)", "x.view(-1)", "x.view_as(x)", "x.reshape(3, 2)", "x.flatten()", "x.ravel()"),
    *("x.t()", "x.transpose(0, 1)", "x.permute(1, 0)", "x.swapaxes(0, 1)", "x.movedim(0, 1)"),
    *("x.T", "x.mT", "x.unsqueeze(1)", "x.unsqueeze(0).squeeze(0)", "x.squeeze(0)", "x.squeeze()"),
    *("x[0]", "x[:, 1:]", "x[:, ::2]", "x[None]", "x[..., -1]", "x[1, 2]", "x.select(1, -1)"),
    *("x.narrow(1, 1, 2)", "x.diagonal()", "x.diagonal(1)", "x.unbind(1)[1]", "x.unbind()[0]"),
    *("x.split(2, 1)[1]", "x.split([1, 2], 1)[0]", "x.chunk(2, 1)[0]", "x.tensor_split(2, 1)[0]"),
    *("x.hsplit(3)[1]", "x.vsplit([1])[0]"),
    *("x.as_strided((2,), (1,))", "x.as_strided((2, 2), (3, 1), 1)", "x.unfold(1, 2, 2)"),
    *("x.detach()", "xp.ops.aten.alias(x)", "x.unflatten(1, (3, 1))", "x.view(xp.int32)"),
    *("xp.ops.aten._neg_view(x)", "x.t()[0].view(2, 1)", "x[0][1:]", "x.view(1, 2, 3)[0, :, 1]"),
    *("xp.ops.aten._unsafe_view(x, [3, 2])", "x.t().reshape(6)", "x.contiguous()", "x.to(xp.int8)"),
)
"""Of a real matrix."""

COMPLEX_VIEWS: Final = (
    *("x.conj()", "xp.view_as_real(x)", "x.real", "x.imag", "x.mH", "x.conj().imag", "x.H"),
    *("xp.view_as_complex(xp.view_as_real(x))", "x.conj().t()", "x.view(2)", "x[0]"),
    "xp.view_as_real(x.resolve_conj())[..., 1]",
)

CHANGES: Final = (
    *("y.add_(1)", "y.mul_(y)", "y.zero_()", "y.fill_(3)", "y.copy_(y + 1)", "y[...] = 5"),
    *("xp.add(y, y, out=y)", "xp.neg(y, out=y)", "y.clamp_(min=1)", "y.add_(xp.ones(5))"),
    *("y.unsqueeze_(0)", "y.squeeze_()", "y.t_()", "y.transpose_(0, -1)", "y.detach_()"),
    *("y.as_strided_((2,), (1,))", "y.resize_(2)", "y += x", "y.sub_(x.sum())"),
)
"""Of a view ``y``, and by that of ``x``."""

_SGD: Final = (
    "weight_decay=0.1, momentum=0., lr=0.1, dampening=0., nesterov=False, maximize=False, "
    "is_first_step=True"
)
_RATES: Final = "lr=0.1, lr_decay=0., weight_decay=0., eps=1e-8, maximize=True"
PROGRAMS: Final = (
    # several changes, several views, and what is not used afterwards
    ("y = x.view(-1)", "y.add_(1)", "z = y[2:]", "z.mul_(2)", "return x, y, z"),
    ("y, z = x[0], x[1]", "y.add_(1)", "z.mul_(y)", "y.sub_(z)", "return x.sum()"),
    ("y = x.t()", "x.add_(1)", "z = x.t()", "z.mul_(2)", "return y, z"),
    ("y = x[0]", "y.add_(1)", "return None"),
    ("y = x.view(-1)", "del y", "return x + 1"),
    ("y = x.view(-1)", "x.add_(1)", "return y"),
    ("x.add_(0)", "return x"),
    ("y = x.clone()", "y.add_(1)", "return y"),
    ("y = x * 2", "y[0].zero_()", "y[:, 1].fill_(9)", "return y, x"),
    ("a, b = x.split(1)", "a.add_(b)", "b.add_(a)", "return x"),
    ("for each in x.unbind(1): each.mul_(2)", "return x"),
    ("for i in range(3): x.add_(i)", "return x"),
    ("y = x.view(3, 2)", "y.t_()", "y.add_(1)", "return x, y"),
    ("x.t_()", "x.add_(1)", "return x"),
    ("x.unsqueeze_(0)", "return x + 1"),
    ("x.transpose_(0, 1)", "x.squeeze_()", "return x"),
    ("y = x.as_strided((3,), (1,))", "y.add_(1)", "return x, y"),
    ("y = x[0].as_strided((3,), (1,))", "y.add_(1)", "return x, y"),
    ("y = x.expand(2, 2, 3).clone()", "y.add_(1)", "return y"),
    ("y = x[:1].expand(4, 3)", "z = y + 1", "x.add_(1)", "return y, z"),
    ("x.as_strided_((2, 2), (1, 2))", "n = x.numel()", "y = x.reshape(-1)", "return x * n"),
    ("x.as_strided_((2, 2), (3, 2))", "x.mul_(x.numel())", "return x * x.numel()"),
    ("y = xp.isclose(x, x, equal_nan=True)", "z = xp.vander(x[0])", "return y, z"),
    ("y = xp.zeros(0)", "xp.diff(x[0:0], dim=0, out=y)", "return y"),
    ("y = xp.zeros(0)", "xp.ldexp(x * 1j, x, out=y)", "return y"),
    ("x.resize_(2, 2)", "return x"),
    ("x.resize_(10)", "x.fill_(1)", "return x"),
    ("y = x[0]", "x.resize_(10)", "x.fill_(1)", "return x"),
    ("y = x + 1", "y.resize_(2)", "y.add_(1)", "return y"),
    ("y = x + 1", "y.resize_(20)", "y.fill_(1)", "return y"),
    ("y = x + 1", "y.resize_(0)", "return y"),
    ("x.resize_as_(x[0])", "return x"),
    # out=
    ("y = xp.zeros(2, 3)", "xp.add(x, 1, out=y)", "return y"),
    ("y = xp.zeros(0)", "xp.add(x, 1, out=y)", "return y"),
    ("y = xp.zeros(3, 2)", "z = y.t()", "xp.mul(x, 2, out=z)", "return y, z"),
    ("y = xp.zeros(6)", "xp.neg(x, out=y)", "return y"),
    ("y = xp.zeros(2, 3, dtype=xp.float64)", "xp.add(x, 1, out=y)", "return y"),
    ("y = xp.zeros(2, 3, dtype=xp.int32)", "xp.add(x, 1, out=y)", "return y"),
    ("y = xp.zeros(2, 3, dtype=xp.bool)", "xp.gt(x, 2, out=y)", "return y"),
    ("y = xp.zeros(3)", "xp.sum(x, 0, out=y)", "return y"),
    ("y = xp.zeros(2, 3)", "xp.cat([x[:1], x[1:]], out=y)", "return y"),
    ("xp.clamp(x, 1, 3, out=x)", "return x"),
    ("y = xp.ones(4)", "xp.zeros(4, out=y)", "return y"),
    ("y = xp.ones(6)", "z = y[::2]", "xp.ones(3, out=z)", "return y, z"),
    ("y = xp.ones(3)", "xp.full((3,), 7., out=y)", "return y"),
    ("v, i = xp.zeros(2), xp.zeros(2).long()", "xp.topk(x[:, 0], 1, out=(v, i))", "return v"),
    ("y = xp.zeros(2, 3)", "xp.where(x > 2, x, y, out=y)", "return y"),
    ("y = xp.zeros(2, 2)", "xp.mm(x, x.t(), out=y)", "return y"),
    # factories, and what they make
    ("y = xp.zeros(2, 3)", "y.add_(x)", "return y"),
    ("y = xp.ones_like(x)", "y[0] = x[1]", "return y"),
    ("y = xp.empty(2, 3)", "y.copy_(x)", "return y"),
    ("y = xp.full((2, 3), 2.)", "y.mul_(x)", "return y"),
    ("y = xp.arange(3)", "y.add_(1)", "return x + y"),
    ("y = xp.tensor([1., 2., 3.])", "y.mul_(x[0])", "return y"),
    ("y = x.new_zeros(2)", "y.add_(1)", "return y"),
    ("y = xp.zeros(3)", "x.add_(y)", "return x"),
    ("y = xp.scalar_tensor(3.)", "x.mul_(y)", "return x"),
    ("y = xp.empty_like(x)", "y.fill_(1)", "return y"),
    # conversions, indexing, conditions
    ("y = x.to(xp.float64)", "y.add_(1)", "return y, x"),
    ("y = x.to(xp.float32)", "y.add_(1)", "return y, x"),
    ("y = x.double()", "y.add_(x)", "return y"),
    ("x[x > 2] = 0", "return x"),
    ("x[0] = x[1]", "return x"),
    ("x[0, 1:] += 5", "return x"),
    ("x[:, [0, 2]] = 7", "return x"),
    ("y = x[:, [0, 2]]", "y.add_(1)", "return x, y"),
    ("y = x[x > 2]", "y.add_(1)", "return x, y"),
    ("x.masked_fill_(x > 2, 0)", "return x"),
    ("x.scatter_(1, xp.tensor([[0], [1]]), 9)", "return x"),
    ("x.index_add_(0, xp.tensor([0, 1]), x + 1)", "return x"),
    ("x.index_put_((xp.tensor([0]),), xp.tensor(1.))", "return x"),
    ("if x.sum() > 3: x.add_(1)", "return x"),
    ("return x.sum().item(), float(x[0, 1]), int(x[1, 1]), bool(x[0, 0])",),
    ("x[0].add_(x[0, 1].item())", "return x"),
    ("return x",),
    ("return x, x",),
    ("return x.view(-1)",),
    ("return [x.t(), {'a': x[0]}, 3]",),
    ("return (x.shape, x.stride(), x.storage_offset(), x._version, x.is_leaf)",),
    ("y = x[0]", "x.add_(1)", "return (y._version, y._base is x, x._version, y._is_view())"),
    ("y = x[1:]", "y.add_(1)", "return (y.shape, y.stride(), y.storage_offset(), repr(y))"),
    ("return xp._C._dispatch_keys(x)",),
    ("return xp._is_functional_tensor(x), xp._C._functionalization_reapply_views_tls()",),
    ("y = x.t()", "y.set_(x)", "y.add_(1)", "return x, y"),
    ("y = x + 1", "y.set_(x)", "y.add_(1)", "return x, y"),
    ("with xp.no_grad(): x.add_(1)", "return x"),
    (
        "y = x.requires_grad_()",
        "return (y * 2).requires_grad",
    ),
    ("with xp.inference_mode(): y = x + 1", "return y"),
    ("x.data.add_(1)", "return x"),
    ("y = x.detach()", "y.add_(1)", "return x, y"),
    ("raise ValueError('no')",),
    ("return xp.func.functionalize(lambda y: y.add_(1))(x)",),
    ("return xp.nosuch",),
    ("xp._sync(x)", "return x"),
    # several outputs, lists
    ("a, b = xp.zeros(3), xp.zeros(3)", "xp.aminmax(x, dim=0, out=(a, b))", "return a.add_(b), b"),
    ("v, i = x.clone(), x.long()", "xp.cummax(x, 1, out=(v, i))", "return v, i"),
    ("v = xp.zeros(1, 3)", "xp.min(x, 0, True, out=(v, v))", "return v"),
    ("y = x.clone()", "xp.ops.aten.unbind_copy.int_out(x, 0, out=[y[1], y[0]])", "return y"),
    ("xp._foreach_add_([x, x[0]], 1)", "return x"),
    ("y = x + 1", "xp._foreach_mul_([x, y], [y, x])", "return x, y"),
    ("xp._foreach_zero_([x[:, 1], x.t()])", "return x"),
    (
        "y = x + 1",
        f"xp._fused_sgd_([x], [y], [], {_SGD}, grad_scale=xp.tensor(2.))",
        "return x, y",
    ),
    (f"xp._fused_sgd_([x[:1], x[1:]], [x[1:], x[:1]], [], {_SGD})", "return x"),
    ("y = x + 1", f"xp._fused_adagrad_([x], [y], [y * 2], [xp.tensor(1.)], {_RATES})", "return x"),
    (
        "f = xp.zeros(1)",
        "xp._amp_foreach_non_finite_check_and_unscale_([x, x[0]], f, xp.tensor(0.5))",
        "return x, f",
    ),
    (
        "t = xp.zeros(1, dtype=xp.int32)",
        "xp._amp_update_scale_(x[0, :1], t, xp.zeros(1), 2., 0.5, 1)",
        "return x, t",
    ),
    ("a, b, c = x.unbind(1)", "a.add_(b)", "c.mul_(a)", "return x, a, b, c"),
    ("a, b = x.split(1)", "a.t_()", "a.add_(1)", "return x, a, b"),
    ("a, b = x.tensor_split([1], 1)", "b.zero_()", "x.add_(1)", "return a, b, x"),
    ("y = x.clone()", "xp.sum(y, 0, out=y)", "return y"),
    ("y = x.clone()", "xp.mean(y, 0, out=y)", "return y"),
    ("xp.amax(x, 0, out=x[0])", "return x"),
    ("xp.prod(x, 1, True, out=x)", "return x"),
    # frozen, replaced, resized
    ("y = x[0]", "xp._freeze_functional_tensor(x)", "y.add_(1)", "return x"),
    ("xp._freeze_functional_tensor(x)", "x.t_()", "y = x + 1", "return x, y.add_(1)"),
    ("y = x[0]", "x.add_(1)", "xp._sync(y)", "return y, y._version, x._version"),
    ("x.data = x + 1", "x.add_(1)", "return x"),
    ("y = x + 1", "x.data = y[0]", "x.add_(1)", "return x, y"),
    ("y = x[0]", "x.data = x + 5", "y.add_(1)", "return x, y"),
    ("y = x + 1", "y.t_()", "x.data = y", "y.add_(1)", "return x"),
    ("x.data = x.double()", "return x"),
    ("x.set_(x.clone())", "x.add_(1)", "return x"),
    ("y = x.clone()", "x.set_(y[0])", "x.add_(1)", "return x, y"),
    ("y = x.clone()", "z = y[0]", "y.set_(x)", "z.add_(1)", "return y, z"),
    ("x.set_(x.untyped_storage())", "return x"),
    ("x.resize_(3, 2)", "y = x.t()", "y.add_(1)", "return x, y"),
    ("y = x.view(-1)", "x.resize_(2)", "y.add_(1)", "return x, y"),
    ("y = x.clone()", "y.resize_(1).resize_(2)", "y.add_(1)", "return y"),
    *(
        (
            *("y = x.clone()", f"y.resize_({size})", f"z = xp.ops.aten._unsafe_view(y, {wanted})"),
            *("z.add_(1)", "return y, z, z.numel()"),
        )
        for size in ("2", "2, 2", "()", "0")
        for wanted in ("[-1]", "[2, -1]", "[2]", "[6]", "[4]", "[0]", "[]")
    ),
    # views of views
    ("y = x.view(-1).as_strided((2,), (2,))", "y.add_(1)", "return x, y"),
    ("y = x.as_strided((3,), (2,))", "z = y[1:]", "z.add_(1)", "return x, y, z"),
    ("x.as_strided_((3,), (2,))", "y = x[1:]", "y.add_(1)", "return x, y"),
    ("y = x.as_strided((3,), (1,), 2)", "x.mul_(2)", "return y"),
    ("x.squeeze_(0).unsqueeze_(1).transpose_(0, 2)", "x.add_(1)", "return x"),
    ("y = x.unfold(1, 2, 2)", "y.mul_(3)", "return x, y"),
    ("y = xp.view_as_complex(x.view(3, 2)).conj()", "y.add_(1j)", "return x, y"),
    ("y = x[0].expand(2, 3)", "x.add_(1)", "return y"),
    # composites, of which transforms have some of their own
    ("return xp.where(x > 1, 1j, x)",),
    ("return xp.where(x > 1, 1, 2.), xp.where(x > 1, x, 2.)",),
    ("xp.manual_seed(3)", "return xp.dropout(x, 0.5, True), xp.alpha_dropout(x, 0.5, True)"),
    ("xp.manual_seed(3)", "y = x.clone()", "xp.feature_dropout_(y, 0.5, True)", "return y"),
    ("return xp.nn.functional.linear(x[None], xp.ones(4, 3), xp.ones(1, 4))",),
    ("return xp.nn.functional.linear(x[0], xp.ones(4, 3), xp.ones(4))",),
    ("return xp.isfinite(x), xp.isfinite(x + 1j), xp.isfinite(x.int())",),
    ("return xp.inner(x[0], x[1]), xp.inner(x[:, 0], x[:, 1]), xp.inner(x, x)",),
    # words of refusals that hang on how elements are added
    ("return x.index_add(0, xp.tensor([5]), x[:1])",),
    ("x.index_add_(0, xp.tensor([-3]), x[:1].clone(), alpha=2)", "return x"),
    ("x.T.diagonal().copy_(xp.ones(2))", "return x"),
    # what is done before a refusal, and what is written where it is read
    ("attempt(log, [lambda: x.repeat_interleave(xp.tensor(1), dim=2)])", "return x"),
    ("return xp.logsumexp(x * 1j, 0, out=xp.zeros(3))",),
    ("attempt(log, [lambda: xp.ops.aten.meshgrid([x])])", "return x"),
    ("y = x.double()", "return xp.ops.aten.meshgrid([y])"),
    # derivatives with a kernel for each backend, and one made of other operators
    *(
        (
            "y = x.detach().requires_grad_()",
            f"xp.nn.functional.{name}(y).sum().backward()",
            "return y.grad",
        )
        for name in ("silu", "mish", "gelu", "softplus")
    ),
    # what is printed is brought up to date unseen
    ("y = x.t()", "x.zero_()", "log.append(repr(y))", "return y.add_(1)"),
    ("x.zero_()", "y = x[0]", "log.append(str(y))", "return y"),
    ("x.requires_grad_()", "x.zero_()", "y = x.t()", "log.append(str(y))", "return y"),
    ("x.as_strided_((3, 2), (1, 2))", "x.add_(1)", "return x"),
)
"""Bodies of functions of ``x``."""

INPLACE: Final = (
    *("multiply_(2)", "subtract_(x)", "absolute_()", "negative_()", "greater_(2)", "clip_(1, 2)"),
    *("abs_()", "neg_()", "square_()", "sqrt_()", "exp_()", "sin_()", "tanh_()", "sigmoid_()"),
    *("reciprocal_()", "ceil_()", "floor_()", "round_()", "trunc_()", "sign_()", "relu_()"),
    *("logical_not_()", "erf_()", "log_()", "rsqrt_()", "sgn_()", "cos_()"),
    *("add_(2, alpha=3)", "sub_(x)", "mul_(2)", "div_(2)", "div_(x, rounding_mode='floor')"),
    *("pow_(2)", "remainder_(2)", "fmod_(2)", "floor_divide_(2)", "atan2_(x)"),
    *("clamp_(1, 4)", "clamp_min_(2)", "clamp_max_(2)", "addcmul_(x, x)", "addcdiv_(x, x)"),
    *("lerp_(x, 0.5)", "eq_(2)", "gt_(2)", "le_(x)", "ne_(x)", "logical_and_(x)"),
    *("masked_fill_(x > 2, 0)", "masked_fill_(x > 2, xp.tensor(1.))", "zero_()", "fill_(x[0, 0])"),
    *("t_()", "squeeze_(0)", "unsqueeze_(-1)", "transpose_(1, 0)", "swapaxes_(0, 1)", "nosuch_()"),
    *("bitwise_and_(1)", "add_(xp.ones(3, 3))", "mul_(1j)", "add_(xp.ones(2, 3).double())"),
    *("copy_(x.double())", "copy_(xp.ones(3))", "copy_(xp.ones(2, 2, 3))"),
    *("cumsum_(0)", "cumprod_(1)", "triu_()", "tril_(-1)", "fill_diagonal_(7)", "sinh_()"),
    *("put_(xp.tensor([0, 2]), xp.ones(2))", "index_add_(0, xp.tensor([0]), xp.ones(1, 3))"),
    *("scatter_(1, xp.tensor([[0]]), 9)", "scatter_add_(0, xp.tensor([[0]]), xp.ones(1, 1))"),
    *("masked_scatter_(x > 2, xp.ones(9))", "index_put_((xp.tensor([0]),), xp.tensor(1.))"),
    *("addmm_(xp.ones(2, 2), x)", "lerp_(x, xp.ones(()))", "arctan2_(x)", "cumsum_(5)"),
    *("index_fill_(0, xp.tensor([1]), 5)", "index_copy_(0, xp.tensor([0]), xp.ones(1, 3))"),
    *("copysign_(-x)", "copysign_(-1)", "frac_()", "index_fill_(1, xp.tensor(0), 2)"),
    *(
        "swapdims_(0, 1)",
        "resize_as_(x[:1])",
        "normal_(3, 0.)",
        "requires_grad_(False)",
        "detach_()",
    ),
)
"""Methods that change a tensor."""

OUT: Final = (
    *(
        "xp.abs(x, {})",
        "xp.round(x, {})",
        "xp.add(x, 2, {})",
        "xp.mul(x, x, {})",
        "xp.sub(x, 1, {})",
    ),
    *("xp.div(x, 2, {})", "xp.pow(x, 2, {})", "xp.gt(x, 2, {})", "xp.clamp(x, 1, 3, {})"),
    *("xp.sum(x, 0, {})", "xp.mm(x, x.t(), {})", "xp.cat([x, x], {})", "xp.stack([x, x], {})"),
    *("xp.where(x > 1, x, x, {})", "xp.maximum(x, x + 1, {})"),
    *("xp.index_select(x, 0, xp.tensor([1]), {})", "xp.gather(x, 0, xp.tensor([[0]]), {})"),
    *("xp.neg(x[0], {})", "xp.zeros(3, {})", "xp.full((2,), 7, {})", "xp.addcmul(x, x, x, {})"),
    *("xp.logical_not(x, {})", "xp.lerp(x, x, 0.5, {})", "xp.sqrt(x, {})"),
    *("xp.cumsum(x, 0, {})", "xp.cumprod(x, 1, {})", "xp.matmul(x, x.t(), {})", "xp.eq(x, 1, {})"),
    *("xp.std(x, 0, {})", "xp.triu(x, {})", "xp.mean(x, 0, {})", "xp.amax(x, 0, {})"),
    *("xp.arange(5, {})", "xp.arange(1, 7, 2, {})", "xp.eye(2, {})", "xp.eye(2, 3, {})"),
    *("xp.copysign(x, -x, {})", "xp.frac(x, {})", "xp.index_copy(x, 0, xp.tensor([1]), x[:1], {})"),
    *("xp.take(x, xp.tensor([0]), {})", "xp.bmm(x[None], x.t()[None], {})", "xp.ones(2, {})"),
)
"""Functions with ``out=``, which stands for ``{}``."""
TARGETS: Final = (
    *("xp.zeros(2, 3)", "xp.zeros(0)", "xp.zeros(3, 2).t()", "xp.zeros(4, 6)[::2, ::2]"),
    *("xp.zeros(2, 3, dtype=xp.int64)", "xp.zeros(2, 3).double()", "xp.zeros(7)"),
)

GRADIENTS: Final = (
    ("y = x.view(-1).clone()", "y.mul_(2)", "return y.sum()"),
    ("y = x * 1", "y[0].mul_(x[1])", "return (y * y).sum()"),
    ("y = x + 0", "y.t()[1].zero_()", "return y.sum()"),
    ("y = xp.zeros(2, 3)", "y.copy_(x)", "y.diagonal().mul_(3)", "return (y * x).sum()"),
    ("y = x.clone()", "y.view(3, 2)[:, 1:].mul_(x.view(3, 2)[:, :1])", "return y.sum()"),
    ("y = x * 2", "y.as_strided((2,), (3,), 1).mul_(5)", "return (y * y).sum()"),
    ("a, b = (x * 1).split([1, 2], 1)", "return (a * b).sum()"),
    ("y = x.clone()", "y.unsqueeze_(0)", "y.add_(x)", "return (y * y).sum()"),
)
"""Functions of a tensor that requires a gradient, to a number."""

OPERATOR_PROGRAMS: Final = (
    ("return ops.one(x)",),
    ("y = ops.one(x[0], 3)", "y.add_(1)", "return y"),
    ("x.add_(1)", "return ops.many([x, x[0]], x)"),
    ("return ops.many([])",),
    ("return ops.two(x, [x, None])",),
    ("a, b = ops.two(x.t(), [])", "a.add_(b)", "return a"),
    ("y = ops.made(3)", "y.add_(1)", "return y"),
    ("ops.change_(x)", "return x"),
    ("ops.change(x[0])", "return x"),
    ("y = ops.part(x)", "y.add_(1)", "return x"),
    ("return ops.composite(x[0])",),
    ("x.add_(1)", "y = ops.one(x)", "x.copy_(y)", "return x"),
    ("return ops.maybe(x, None)",),
    ("y = x.clone()", "return ops.maybe(x, y), y"),
    ("ops.each_([x, x[0]])", "return x"),
    ("ops.each_([])", "return x"),
    ("return ops.pair_(x[0], x[1])",),
    ("y = xp.zeros(2, 3)", "return ops.into(x, out=y), y"),
    ("return ops.into(x, out=x)",),
    ("y = ops.same(x)", "y.add_(1)", "return x, y"),
    ("x.t_()", "return ops.steps(x[0])"),
    ("y = xp.ones(3)", "return ops.change(y), ops.one(y, x)"),
)

SCATTERS: Final = (
    *("xp.select_scatter(x, {}, 0, 1)", "xp.select_scatter(x, {}, -1, -1)"),
    *("xp.slice_scatter(x, {}, 0, 1)", "xp.slice_scatter(x, {}, 1, 0, 3, 2)"),
    *("xp.slice_scatter(x, {})", "xp.diagonal_scatter(x, {})", "xp.diagonal_scatter(x, {}, 1)"),
    *(
        "xp.as_strided_scatter(x, {}, (2,), (1,))",
        "xp.as_strided_scatter(x, {}, (2, 2), (1, 2), 1)",
    ),
    *("xp.ops.aten.copy(x, {})", "xp.select_scatter(x, {}, 5, 0)"),
)
SOURCES: Final = ("x[0]", "x[:, 0]", "x[1:]", "x[:, ::2]", "xp.ones(2)", "xp.ones(2, 2)", "x")
NUMBERS: Final = (
    *("x.expand(n, 2, 3)", "x.expand((n, 2, 3))", "x.expand(n, *x.shape)", "x.reshape(i, n)"),
    *("x.view(i, n)", "x.narrow(0, 1, o)", "x.narrow(0, o, 1)", "x.select(o, 1)", "x[o]", "x[o:]"),
    *("x[:, o]", "x.split([o, 1])", "x.split(o)", "x.chunk(n)", "x.unbind(o)", "x.sum(o)"),
    *("x.sum((o,))", "x.mean(o, True)", "x.transpose(o, 0)", "x.permute(o, 0)", "x.unsqueeze(o)"),
    *("x.squeeze(o)", "x.flatten(o)", "x.repeat(n, 1)", "x.roll(o)", "x.flip(o)", "x.diagonal(o)"),
    *("xp.zeros(n, 3)", "xp.zeros((n,))", "xp.full((n,), 3.0)", "xp.full((2,), n)", "xp.eye(n)"),
    *("xp.arange(n)", "xp.arange(o, n)", "x.new_ones(n)", "xp.ones(2, out=xp.zeros(n))"),
    *("xp.add(x, x, alpha=n)", "x.clamp(o, n)", "x.pow(n)", "x.add_(n)", "x.fill_(n)"),
    *("x.masked_fill_(x > 0, n)", "xp.dropout(x, d, False)", "x.topk(o)", "x.cumsum(o)"),
    *("xp.ops.aten.view(x, [i, n])", "xp.ops.aten.select(x, o, 1)", "xp.ops.aten.sum(x, [o])"),
    *("range(n)[o]", "[1, 2][o]", "int(n)", "float(n)", "bool(o)", "n.item()", "n.tolist()"),
    *("x.softmax(o)", "x.std(o)", "x.sort(o)", "xp.cat([x, x], o)", "xp.stack([x, x], n)"),
)
"""Calls with tensors where numbers belong: one, two, three and a float that is nought."""
COPIES: Final = (
    *("view_copy(x, [6])", "view_copy(x, [7])", "view_copy.dtype(x, xp.int32)", "t_copy(x)"),
    *("select_copy.int(x, 0, 1)", "slice_copy.Tensor(x, 1, 0, 2)", "expand_copy(x, [2, 2, 3])"),
    *("permute_copy(x, [1, 0])", "transpose_copy.int(x, 0, 1)", "unsqueeze_copy(x, 0)"),
    *("squeeze_copy(x)", "squeeze_copy.dim(x, 0)", "squeeze_copy.dims(x, [0])", "alias_copy(x)"),
    *("split_copy.Tensor(x, 2, 1)", "split_with_sizes_copy(x, [1, 2], 1)", "unbind_copy.int(x)"),
    *("unfold_copy(x, 1, 2, 1)", "diagonal_copy(x)", "detach_copy(x)", "_neg_view_copy(x)"),
    *("as_strided_copy(x, [2], [1])", "lift_fresh_copy(x)"),
    *("view_as_real_copy(x)", "_conj_copy(x)", "view_as_complex_copy(x)", "t_copy(x[0, 0:0])"),
)

WRAPPERS: Final = (
    "w",
    "w[0]",
    "w.t()",
    "w.split(1)[1]",
    "x",
    "w.detach()",
    "(w + 1)",
    "(1)",
    "None",
)
QUESTIONS: Final = (
    *("xp._is_functional_tensor({})", "xp._from_functional_tensor({})", "xp._sync({})"),
    *("xp._functionalize_sync({})", "xp._functionalize_commit_update({})"),
    *("xp._functionalize_has_data_mutation({})", "xp._functionalize_has_metadata_mutation({})"),
    *("xp._functionalize_is_multi_output_view({})", "xp._functionalize_is_symbolic({})"),
    *("xp._functionalize_was_storage_changed({})", "xp._functionalize_replace({}, x)"),
    *("xp._functionalize_replace({}, w)", "xp._functionalize_get_storage_size({}, True)"),
    *(
        "xp._functionalize_are_all_mutations_hidden_from_autograd({})",
        "xp._is_functional_tensor_base({})",
    ),
    "xp._functionalize_are_all_mutations_under_no_grad_or_inference_mode({})",
    "xp._functionalize_mark_mutation_hidden_from_autograd({})",
    *("xp._functionalize_mutation_counter({})", "xp._functionalize_storage_changed_counter({})"),
    *("xp._functionalize_was_inductor_storage_resized({})", "xp._freeze_functional_tensor({})"),
    *("xp._functionalize_mark_storage_changed({})", "xp._to_functional_tensor({})"),
    *("xp._C._functorch.maybe_get_level({})", "xp._C._functorch.get_unwrapped({})"),
    *(
        "xp._C._functorch.is_functionaltensor({})",
        "xp._C._functorch.is_functorch_wrapped_tensor({})",
    ),
    *(
        "xp._C._functorch._unwrap_functional_tensor({}, True)",
        "repr({})",
        "xp._C._dispatch_keys({})",
    ),
    *("xp._C._functorch._unwrap_functional_tensor({}, False)", "{}.add_(1)", "x.add_({})"),
    *("xp._C._functorch._propagate_functional_input_mutation(x, {})", "x.copy_({})", "x.set_({})"),
    *("xp._C._functorch._assert_wrapped_functional(x, {})", "{}.set_(x)", "{}.tolist()"),
    *(
        "{}.untyped_storage().nbytes()",
        "{0}.untyped_storage()._cdata == x.untyped_storage()._cdata",
        "{}.data_ptr() == 0",
        "{}.untyped_storage().data_ptr() == 0",
    ),
    *("xp.ops.aten.lift({})", "xp.ops.aten.lift_fresh({})", "xp.ops.aten.lift_fresh_copy({})"),
    "xp.cat([x, x], out={})",
    *("{}.untyped_storage()[0]", "{}.untyped_storage()[99]", "{}.untyped_storage().fill_(0)"),
    *("repr({}.untyped_storage())", "{}.untyped_storage().tolist()", "{}.untyped_storage()[:0]"),
    *("{}.untyped_storage().clone()", "x.untyped_storage().copy_({}.untyped_storage())"),
)
STATES: Final = ("", "w.add_(1)", "w.t_()", "w[0].mul_(2)", "with xp.no_grad(): w.mul_(2)")

# --- programs that are drawn ----------------------------------------------------------------------
# ``{0}`` and ``{1}`` are tensors of a program.

DRAWN_BASES: Final = (
    *(REAL, REAL, REAL, "xp.arange(4.)", "xp.arange(8).view(2, 2, 2)", "xp.ones(())"),
    *(COMPLEX, "xp.zeros(0, 3)", "xp.arange(6.).view(3, 2).t()", "xp.arange(9.)[1:5].view(2, 2)"),
    *(f"{REAL}.requires_grad_()", f"({REAL}.requires_grad_() * 1)", f"{REAL}.double()"),
    "xp.arange(6.)[:3].expand(2, 3)",
)

DRAWN_VIEWS: Final = (
    *(view.replace("x", "{0}", 1) for view in VIEWS if view.count("x") == 1 and "int" not in view),
    *("{0}.view(xp.int32)", "{0}.view_as({1})", "{0}.view({1}.shape)", "{0}.reshape({1}.shape)"),
    *("{0}.expand(2, *{0}.shape)", "{0}.expand_as({1})", "{0}.narrow(0, 0, 1)", "{0}[-1:]"),
    *("{0}[0:0]", "{0}.squeeze(-1)", "{0}.squeeze((0, -1))", "{0}.unsqueeze(-1)", "{0}[...]"),
    *("{0}.transpose(0, -1)", "{0}.unbind(-1)[0]", "{0}.split(1, -1)[-1]", "{0}.split(1)[0]"),
    *("xp.view_as_real({0})", "xp.view_as_complex({0})", "{0}.real", "{0}.imag", "{0}.conj()"),
    *("{0}.resolve_conj()", "{0}.data", "{0}.mH", "{0}.select(0, -1)", "{0}.diagonal(0, -1, -2)"),
    *("{0}.unfold(-1, 1, 1)", "{0}.movedim(0, -1)", "{0}.chunk(2)[-1]"),
    *("{0}.as_strided({1}.shape, {1}.stride())", "{0}.broadcast_to((2, 2, 3))", "{0}.t()"),
    *("{0}[1:].view(-1)", "{0}.T[0]", "{0}.flatten()[1:]", "{0}.unbind()[-1]", "{0}.view(-1)[::2]"),
    *("{0}.unsqueeze(0)[0]", "{0}.split([1, 1])[1]", "{0}.detach()[0]"),
)

DRAWN_CHANGES: Final = (
    *("{0}.add_(1)", "{0}.add_(1)", "{0}.mul_(2)", "{0}.mul_({1})", "{0}.zero_()", "{0}.fill_(3)"),
    *("{0}.copy_({1})", "{0}[...] = 2", "{0} += {1}", "{0}.sub_({1}, alpha=2)", "{0}.neg_()"),
    *("{0}[0] = {1}[0]", "{0}[0].mul_(3)", "{0}[..., 1:] += 1", "{0}.fill_({1}.amax())"),
    *("{0}.clamp_(0, 3)", "{0}.masked_fill_({1} > 2, 7)", "{0}.abs_()", "{0}.relu_()"),
    *("{0}.sub_({1}.amax())", "{0}.div_(2)", "{0}.floor_divide_(2)", "{0}.logical_not_()"),
    *("{0}.t_()", "{0}.unsqueeze_(0)", "{0}.squeeze_()", "{0}.transpose_(0, -1)", "{0}.detach_()"),
    *(
        "{0}.squeeze_(0)",
        "{0}.unsqueeze_(-1)",
        "{0}.as_strided_((2,), (1,))",
        "{0}.swapaxes_(0, 1)",
    ),
    *("{0}.resize_(3, 4).fill_(1)", "{0}.resize_(0)", "{0}.resize_(1, 1).fill_(4)"),
    "{0}.is_contiguous() and {0}.resize_({0}[:1].shape)",
    *("{0}.resize_as_({1}).fill_(2)", "{0}.set_({1})", "{0}.requires_grad_()", "{0}.data.add_(1)"),
    "xp.no_grad()(lambda: {0}.add_(1))()",
    "{0}.scatter_(0, {0}[:1].to(xp.int64) * 0, 5)",
    *("{0}[[0]] = 4", "{0}[{0} > 2] = 0", "{0}.index_put_((xp.tensor([0]),), {1}[0])"),
    *("{0}.addcmul_({1}, {1})", "{0}.lerp_({1}, 0.5)", "{0}.cumsum_(0)", "{0}.eq_({1})"),
    *("{0}.unbind()[0].add_(1)", "[each.mul_(2) for each in {0}.split(1)]", "{0}.view(-1).neg_()"),
    *("{1}.amax() > 3 and {0}.add_(1)", "{0}.add_({1}.amax().item())"),
    *("{0}.diagonal().fill_(9)", "{0}.expand(2, *{0}.shape).add_(1)", "{0}.copy_({1}.double())"),
    *("{0}.bitwise_and_(1)", "{0}.add_(1j)", "{0}.nosuch_()"),
    *("xp.func.functionalize(lambda y: y.add_(1))({0})", "xp._sync({0})", "{0}.fill_diagonal_(1)"),
)

DRAWN_OUT: Final = (
    *("xp.add({1}, 1, out={0})", "xp.neg({1}, out={0})", "xp.mul({0}, {1}, out={0})"),
    *("xp.add({0}, {1}, out={0})", "xp.gt({1}, 1, out={0})", "xp.sum({1}, 0, out={0})"),
    *("xp.cat([{1}, {1}], out={0})", "xp.stack([{1}], out={0})", "xp.zeros(3, out={0})"),
    *(
        "xp.full((2,), 7, out={0})",
        "xp.where({1} > 1, {1}, 0, out={0})",
        "xp.mm({1}, {1}, out={0})",
    ),
    *("xp.maximum({1}, {1} + 1, out={0})", "xp.clamp({1}, 1, 3, out={0})", "xp.ones(0, out={0})"),
    "xp.logical_not({1}, out={0})",
    *("xp.max({1}, 0, out=({0}, xp.zeros(0).long()))", "xp.sort({1}, out=({0}, xp.tensor([1])))"),
    *("xp.topk({1}, 1, out=({0}, xp.zeros(0).long()))", "xp.aminmax({1}, out=({0}, xp.ones(())))"),
    *("xp.cumsum({1}, 0, out={0})", "xp.ops.aten.t_copy.out({1}, out={0})"),
    "xp.ops.aten.select_copy.int_out({1}, 0, 0, out={0})",
)

DRAWN_MAKERS: Final = (
    *("xp.zeros(2, 3)", "xp.ones(3)", "xp.zeros_like({0})", "xp.arange(3.)", "{0}.clone()"),
    *("{0} + 1", "{0} * {1}", "{0}.sum(0)", "xp.cat([{0}, {1}])", "xp.stack([{0}, {0}])"),
    *("xp.where({0} > 1, {0}, {1})", "{0}.to(xp.float64)", "xp.tensor([1., 2.])", "{0} > {1}"),
    *("{0}.new_zeros(2)", "{0}.new_ones({1}.shape)", "xp.full((2,), 3.)", "{0}.contiguous()"),
    *("{0}.to(xp.float32)", "xp.empty_like({0}).fill_(1)", "{0}[:, [0]]", "xp.scalar_tensor(2.)"),
    *("xp.select_scatter({0}, {1}[0], 0, 0)", "xp.slice_scatter({0}, {1})", "-{0}", "{0}.mT + {0}"),
    *("xp.func.functionalize(lambda y: y + 1)({0})", "xp._to_functional_tensor(xp.ones(2))"),
    *("xp.ops.aten.split_copy.Tensor({0}, 1)[0]", "xp.ops.aten.lift_fresh({0})", "{0}.flip(0)"),
)

DRAWN_OPERATORS: Final = (
    *("ops.one({0})", "ops.many([{0}, {1}])[1]", "ops.made(2)", "ops.two({0}, [{1}, None])[0]"),
    *("ops.change_({0})", "ops.change({0})", "ops.part({0})", "ops.composite({0})", "{0}[0]"),
    *("ops.maybe({0}, None)", "ops.maybe({0}, {1})", "ops.each_([{0}, {1}])", "ops.same({0})"),
    *("ops.pair_({0}, {1})", "ops.into({0}, out={1})", "ops.steps({0})"),
)

DRAWN_QUESTIONS: Final = tuple(
    f"log.append(str({question}))"
    for question in (
        *("{0}._version", "{0}._is_view()", "{0}._base is {1}", "xp._is_functional_tensor({0})"),
        *("xp._functionalize_has_data_mutation({0})", "xp._C._dispatch_keys({0})"),
        *("xp._functionalize_has_metadata_mutation({0})", "{0}.storage_offset()"),
        *("xp._functionalize_is_multi_output_view({0})", "{0}.is_contiguous()", "{0}.stride()"),
        *("xp._functionalize_was_storage_changed({0})", "{0}.requires_grad", "{0}.is_leaf"),
    )
)
