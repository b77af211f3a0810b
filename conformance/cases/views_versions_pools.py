"""What the cases of :mod:`conformance.cases.views_versions` are made of."""

from __future__ import annotations

from typing import Final

_VALUES: Final = "xp.tensor([[1.0, 2.0, 3.0], [4.0, 0.5, 2.0]]{})"

#: How the tensor ``x``, 2 by 3, comes to be.
SETTINGS: Final = {
    "plain": f"x = {_VALUES.format('')}",
    "leaf": f"x = {_VALUES.format(', requires_grad=True')}",
    "computed": f"leaf = {_VALUES.format(', requires_grad=True')}\nx = leaf * 2",
    "view": f"x = {_VALUES.format('')}.t().t()",
    "view of computed": f"leaf = {_VALUES.format(', requires_grad=True')}\nx = (leaf * 2)[...]",
    "inference": f"with xp.inference_mode():\n    x = {_VALUES.format('')}",
    "meta": f"x = {_VALUES.format(', device=' + repr('meta'))}",
}

#: Where a step is taken; ``{}`` is the step.
MAKINGS: Final = (
    "{}",
    "with xp.no_grad(): {}",
    "with xp.inference_mode(): {}",
    "with xp.inference_mode(), xp.inference_mode(False): {}",
)

#: Views of ``x``, 2 by 3; each names it first.
VIEWS: Final = (
    *(
        "x.view(6)",
        "x.view(3, 2)",
        "x.view_as(x)",
        "xp.ops.aten.alias(x)",
        "x[...]",
        "x[None]",
        "x[0]",
    ),
    *("x[:, 1:]", "x[::2]", "x[0, 1]", "x.select(1, 2)", "x.narrow(1, 0, 2)", "x.t()", "x.T"),
    *("x.transpose(0, 1)", "x.permute(1, 0)", "x.movedim(0, 1)", "x.swapaxes(0, 1)", "x.mT"),
    *("x.squeeze()", "x.squeeze(0)", "x.squeeze((0, 1))", "x.unsqueeze(0)", "x.unsqueeze(-1)"),
    *("x.expand(2, 2, 3)", "x.expand_as(x)", "x.broadcast_to((2, 3))", "x.diagonal()"),
    *("x.unfold(1, 2, 2)", "x.flatten()", "x.reshape(6)", "x.unflatten(1, (3, 1))"),
    *("x.as_strided((2, 2), (3, 1))", "x.as_strided((3,), (1,), 1)", "x.as_strided((), ())"),
    *("x.unbind()[0]", "x.unbind(1)[1]", "x.split(1)[0]", "x.split([1, 2], 1)[1]"),
    *("x.chunk(2)[1]", "x.tensor_split(2)[0]", "x.tensor_split((1, 2), 1)[1]"),
    *(
        "x.split_with_sizes([1, 1])[1]",
        "x.view(xp.int32)",
        "x.view(xp.float32)",
        "x.view(xp.int16)",
    ),
    *(
        "x.detach()",
        "x.data",
        "x._neg_view()",
        "x.real",
        "x.conj()",
        "x.contiguous()",
        "x.to('cpu')",
    ),
    *("x.t().contiguous()", "x.T.reshape(6)", "x.adjoint()", "x.mH"),
)

#: Views of complex ``x``, 2 by 2.
COMPLEX_VIEWS: Final = (
    *("xp.view_as_real(x)", "x.real", "x.imag", "x.conj()", "x.mH", "x.H", "x.adjoint()", "x[0]"),
    *("xp.view_as_complex(xp.view_as_real(x))", "x.conj().conj()", "x.conj().imag", "x.t().real"),
    *("x.view(xp.float32)", "x.resolve_conj()", "x.conj().resolve_conj()", "x.detach()", "x.data"),
)

#: Changes of ``{}``, refused ones too.  None rounds, or makes a nan: views of integers would show
#: the last bits, which are the processor's.
CHANGES: Final = (
    *(
        "{}.add_(1)",
        "{}.mul_({}.clone())",
        "{}.zero_()",
        "{}.fill_(3)",
        "{}.neg_()",
        "{}.square_()",
    ),
    *("{}[...] = 5", "{}[0] = 7", "{}[0:1] = 0", "{} += 1", "{} *= 2", "{}.copy_({}.clone() * 2)"),
    *("{}.copy_(xp.ones(7, 7))", "{}.add_(xp.ones(7, 7))", "{}.add_('a')", "{}[9] = 1"),
    *("{}.fill_(xp.ones(2))", "{}.masked_fill_({}.clone() > 1, 0.0)", "{}.pow_(2)", "{}.abs_()"),
    *("{}.clamp_(min=1.0)", "{}.relu_()", "{}.div_(2, rounding_mode='nosuch')", "{}.tril_()"),
    *("xp.add({}.clone(), 1, out={})", "xp.neg({}.detach().clone(), out={})"),
    *("xp.add(xp.ones(2), 'a', out={})", "{}.detach().add_(1)"),
    *("{}.data.add_(1)", "{}.data = xp.zeros(2)", "{}.data = xp.zeros(2, dtype=xp.int64)"),
    *("{}.data = xp.zeros(2, 3, device='meta')", "{}.t_()", "{}.transpose_(0, 1)", "{}.squeeze_()"),
    *("{}.unsqueeze_(0)", "{}.squeeze_(0)", "{}.transpose_(0, 5)", "{}.as_strided_((2,), (1,))"),
    *("{}.as_strided_((9,), (9,))", "{}.resize_(min({}.numel() // 2, 1))", "{}.resize_(0)"),
    *(
        "{}.set_(xp.ones(2))",
        "{}.set_()",
        "{}.set_({}.detach())",
        "{}.set_(xp.ones(9).untyped_storage())",
    ),
    *("{}.set_(xp.arange(8.0).untyped_storage(), 1, (2,), (1,))", "{}.set_(xp.arange(4))"),
    *("{}.resize_as_({}.detach().reshape(-1)[:1])",),
    *("{}.detach_()", "{}.requires_grad_()", "{}.requires_grad_(False)", "{}.requires_grad = True"),
    *("{}.requires_grad = False", "xp.autograd.graph.increment_version({})", "{}.retain_grad()"),
    *("{}.grad = {}.detach()", "{}.mul_(xp.ones((), requires_grad=True))"),
    *("with xp.no_grad(): {}.add_(1)", "with xp.inference_mode(): {}.add_(1)"),
    *("with xp.no_grad(): {}.copy_(xp.ones((), requires_grad=True))",),
    *(
        "with xp.no_grad(): {}.resize_(min({}.numel(), 1))",
        "with xp.no_grad(): {}.set_(xp.ones(2))",
    ),
    *("with xp.no_grad(): {}.data.zero_()", "with xp.no_grad(): {}.t_()"),
    *("with xp.no_grad(): {}.detach_()", "with xp.no_grad(): {}.requires_grad_()"),
    *("with xp.autograd._unsafe_preserve_version_counter({}): {}.detach().add_(1)",),
)

#: Sizes and strides that ``resize_``, ``as_strided_`` and ``set_`` refuse, or complete.
GEOMETRIES: Final = (
    *(((-2,), (1,)), ((2, -2), (1, 1)), ((-2, 2), (-1, 1)), ((-1, 0), (1, 1)), ((0, -1), (-3, 1))),
    *(((1, -2, 2, 2), (1, 1, 1, 1)), ((2, 3), (-1, 2)), ((2, 3), (2, -1)), ((2,), (-1,))),
    *(((2, 2), (1,)), ((), (1,)), ((9,), (1,)), ((2,), (9,)), ((2, 0), (1, 1))),
    *(((2**62,), (0,)), ((2**62, 4), (0, 0))),
)

#: Tensors made of ``v`` that share its memory, or do not.
COPIES: Final = (
    *("v.clone()", "v.detach()", "v.data", "v.detach().clone()", "v.new_tensor(v.tolist())"),
    *("xp.empty_like(v).fill_(1)", "xp.zeros_like(v)", "xp.tensor(v.tolist())", "xp.as_tensor(v)"),
    *("v.contiguous()", "v.to(v.dtype)", "v.to(xp.float64)", "v.to(v.dtype, copy=True)", "v.cpu()"),
    *(
        "v.float()",
        "v.clone(memory_format=xp.contiguous_format)",
        "deepcopy(v)",
        "deepcopy([x, v])[1]",
    ),
    *("v.detach().requires_grad_()", "xp.as_tensor(v.detach().numpy())", "v.reshape(v.shape)"),
    *("v.resolve_conj()", "v.resolve_neg()", "v.view_as(v).detach()", "v.new_empty(0).set_(v)"),
    *("xp.tensor(v)", "v.type(xp.float32)"),
)
