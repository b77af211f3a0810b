"""Optimizers' steps over lists of tensors, and gradients that are scaled back.

With every option, in every dtype, in lists that do not fit, where gradients are asked for, and on
meta.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from conformance.area import Text
from conformance.cases.core_samples import written_out

_SHORT: Final = {
    "@sgd": "weight_decay=0.1, momentum=0., lr=0.1, @rest",
    "@rest": "dampening=0., nesterov=False, maximize=False, is_first_step=True",
    "@going": "dampening=0.3, nesterov=True, maximize=False, is_first_step=False",
    "@eps": "eps=1e-3, maximize=False",
    "@seven": "beta1=0.9, beta2=0.77, amsgrad=False, lr=0.07, weight_decay=0.3, eps=1., @up",
    "@up": "maximize=True",
    "@adagrad": "lr=0.1, lr_decay=0., weight_decay=0., eps=1e-8, maximize=True",
    "@plain": "beta1=0.5, beta2=0., amsgrad=False, @adam",
    "@largest": "beta1=0.5, beta2=0.5, amsgrad=True, @adam",
    "@adam": "lr=0.1, weight_decay=0., eps=1., maximize=False",
    "@unscale": "_amp_foreach_non_finite_check_and_unscale",
}

_OPERATORS: Final = {
    "_fused_adam_": "beta1=0.9, beta2=0.5, eps=1e-3, amsgrad={flag}",
    "_fused_adamw_": "beta1=0.3, beta2=0.999, eps=1e-8, amsgrad={flag}",
    "_fused_adagrad_": "lr_decay=0.1, eps=1e-3",
    "_fused_sgd_": "momentum=0.9, dampening=0.2, nesterov={flag}, is_first_step=False",
}
_STATES: Final = {
    "_fused_adam_": "[n], [s], [m] if {flag} else [], [i]",
    "_fused_adamw_": "[n], [s], [m] if {flag} else [], [i]",
    "_fused_adagrad_": "[s], [i]",
    "_fused_sgd_": "[n]",
}
#: Halves that fill a vector are moved by no gradient descent, and read past their end.
_SIZES: Final = {"float32": 19, "float64": 19, "bfloat16": 21, "float16": 21}
_SCALES: Final = (
    *("", ", grad_scale=xp.tensor(4.)", ", grad_scale=xp.tensor([3.]), found_inf=xp.tensor(0.)"),
    ", found_inf=xp.tensor(1.)",
)
_META_CALLS: Final = """
A.cauchy(O(2, 3, M).t(), 1., 2.)
A.cauchy(O(2, 3, M), 1., -2.)
A.cauchy(O(2, 3, M, dtype=xp.int64), 1., 2.)
A.cauchy(O(2, 3, M, dtype=xp.bfloat16), 1., 2.)
A.cauchy(O(2, 3, M, dtype=xp.complex64), 1., 2., generator=xp.Generator())
A.cauchy(O(2, 3, M, dtype=xp.complex64), 1., 2.)
A.exponential(O(2, 3, M, dtype=xp.half), 1.)
A.exponential(O(2, 3, M, dtype=xp.int32), 1.)
A.exponential(O(2, 3, M), 0.)
A.geometric(O(2, 3, M).t(), 0.5)
A.geometric(O(2, 3, M, dtype=xp.int16), 0.5)
A.geometric(O(2, 3, M, dtype=xp.uint8), 0.5)
A.geometric(O(2, 3, M, dtype=xp.uint8), 1.5)
A.geometric(O(2, 3, M, dtype=xp.bool), 1.5)
A.geometric(O(2, 3, M, dtype=xp.complex64), 1.5)
A.log_normal(O(2, 3, M), 0.5, 1.)
A.log_normal(O(2, 3, M, dtype=xp.bfloat16), 0.5, 1.)
A.log_normal(O(2, 3, M), 0.5, -1.)
A.log_normal(O(2, 3, M).long(), 0.5, -1.)
A.log_normal(O(2, 3, M)[:, ::2], 0.5, 1., generator=xp.Generator())
A._fused_dropout(O(2, 3, M).t(), 0.5)
A._fused_dropout(O(2, 3, M).half(), 0.5)
A._fused_dropout(O(2, 3, M).long(), 0.0)
A._fused_dropout(O(2, 3, M).bool(), 0.5)
A._fused_dropout(O(4, 3, M).bfloat16()[::2], 0.5)
A._fused_dropout(O(2, 3, M), 0.5, xp.Generator())
A._fused_dropout(O(2, 3), 0.5)
A._fused_dropout.out(O(2, 3), 0.5, out0=O(2, 3), out1=O(2, 3).to(xp.uint8))
A._masked_scale(O(2, 3, M), O(3), 0.5)
A._masked_scale(O(2, 3, 4, 5, M).to(memory_format=xp.channels_last), O(3), 0.5)
A._masked_scale(O(2, 3, 4, M).transpose(0, 1), O(3, M), 0.5)
A._masked_scale(O(2, 3, 4), O(2, 3, 4), 0.5)
A._fused_adam_([O(3, M)], [], [], [], [], [], @plain)
A._fused_adamw_([O(3, M)], [], [], [], [], [], @plain)
A._fused_adam_([], [], [], [], [], [], @plain)
A._fused_adam([O(3, M)], [O(3, 2, M).t()], [], [], [], [], @plain)
A._fused_adamw([O(3, M)], [O(3, 2, M).t()], [], [], [], [], @plain)
A._fused_sgd([O(3, M)], [O(3, 2, M).t()], [], @sgd)
A._fused_sgd_([O(3, M)], [O(3, 2, M).t()], [], @sgd)
A._fused_adagrad_([O(3, M)], [O(3, 2, M).t()], [], [], @adagrad)
A.@unscale_([O(3, M)], O(1, M), O((), M))
A.@unscale_([O(3, M)], O(2, M), O(3, M))
A.@unscale_([O(3, M)], O(1, M).long(), O(3, M))
A.@unscale_([O(3, M)], O(1, M).long(), O(1, M).long())
A.@unscale_([O(3, M)], O(1, M).half(), O(1, M).long())
A.@unscale([O(3, M)], O(1, M).half(), O(1, M))
A._amp_update_scale_(O(1, M), O(1, M), O(1, M), 2., 0.5, 10)
A._amp_update_scale(O(1, M), O(1, M), O(1, M), 2., 0.5, 10)
A._philox_key_split(O(3, 2, M, dtype=xp.uint64), 4)
A._philox_key_split(O(3, 2, M, dtype=xp.uint64), 0)
A._philox_key_split(O(3, 2, M, dtype=xp.int64), 0)
A._philox_key_split(O(3, M, dtype=xp.int64), 0)
A._philox_key_split(O(2, dtype=xp.uint64), 3)
A._philox_key_fold_in(O(2, dtype=xp.uint64, M), 3)
A._philox_key_fold_in(O(2, dtype=xp.int64, M), 3)
A._philox_key_fold_in(O((), dtype=xp.uint64, M), 3)
A._philox_key_fold_in(O(2, dtype=xp.uint64), 3)
A._philox_normal_(O(2, M), O(2, dtype=xp.uint64, M))
A._philox_normal_(O(2, M).long(), O(2, dtype=xp.uint64, M))
A._philox_uniform_(O(2, M), O(2, dtype=xp.int64, M))
A._philox_uniform_(O(2, M), O(2, dtype=xp.uint64))
A._philox_uniform_(O(2, M), O(3, dtype=xp.uint64, M))
A._philox_uniform_(O(2, 3, M), O(2, 2, dtype=xp.uint64, M))
A._philox_uniform_(O(2, 3, M), O(3, 1, 2, dtype=xp.uint64, M), 2., 3.)
A._philox_uniform_(O(2, 3, M), O(2, 1, 2, dtype=xp.uint64, M), 2., 3.)
A._philox_uniform(O(2, 3, M), O(2, 1, 2, dtype=xp.uint64, M), 2., 3.)
A._philox_uniform_(O(2, 3), O(2, 1, 2, dtype=xp.uint64), 2., 3.)
A._philox_normal_(O(2, 3), O(2, 1, 2), 2., 3.)
A._philox_key_split(R(12).view(2, 3, 2).transpose(0, 1).to(xp.uint64), 3)
A._philox_key_split(O(2, 0).long(), 0)
A._philox_key_split(O(2).long(), 0)
A._philox_key_fold_in((R(4) - 2).view(xp.uint64).view(2, 2), -3)
A._philox_uniform_(O(50).double(), R(2).to(xp.uint64), 0.3, 7.1)
A._philox_uniform_(O(50).half(), R(2).to(xp.uint64), 0.3, 7.1)
A._philox_uniform_(O(5, 10).bfloat16(), R(10).view(5, 1, 2).to(xp.uint64), -0.3, 7.1)
A._philox_uniform_(O(4, 3).t(), R(6).view(3, 1, 2).to(xp.uint64))
A._philox_uniform_(O(3, 4)[:1].expand(2, 4), R(2).to(xp.uint64))
A._philox_uniform_(O(2, 3).long(), O(3))
A._philox_uniform_(O(2, 3), O(2, 0, 2).to(xp.uint64))
A._philox_normal_(O(401), R(2).to(xp.uint64), 0.3, 2.2)
A._philox_normal_(O(401).double(), R(2).to(xp.uint64), 0.3, 2.2)
A._philox_normal_(O(3, 7).half(), R(6).view(3, 1, 2).to(xp.uint64), 0.3, 2.2)
A._philox_normal_(O(2, 3), O(2).to(xp.uint64).to('meta'))
A._standard_gamma(O(3, 2, M).t())
A._standard_gamma(O(3, 2, M).long(), generator=xp.Generator())
A._standard_gamma.out(O(3, 2, M), out=O(1, M))
A.randint_like.Tensor(O(3, 2, M).t(), T(5))
A.randint_like.Tensor(O(3, 2, M).t(), O((), M), dtype=xp.int64)
"""
_STEP_CALLS: Final = """
A._fused_adagrad_([O(3)], [O(3)], [Z(3)], [T(1)], @adagrad)
A._fused_adagrad_([O(3).long()], [O(3)], [Z(3)], [T([1, 2])], @adagrad)
A._fused_adagrad_([O(3)], [O(3).double()], [Z(3)], [T([1, 2])], @adagrad)
A._fused_adagrad_([O(3)], [O(3)], [Z(3).half()], [T([1, 2])], @adagrad)
A._fused_adagrad_([O(3)], [O(3)], [], [], @adagrad, grad_scale=T(2), found_inf=T(3))
A._fused_adagrad_([O(3)], [O(3)], [], [], @adagrad, grad_scale=T(2.), found_inf=T(1))
A._fused_adagrad_([O(3)], [O(3)], [], [], @adagrad, grad_scale=T(2.), found_inf=T(1.))
A._fused_adagrad_([O(3)], [], [], [], @adagrad, found_inf=T(2.))
A._fused_adagrad_([], [], [], [], @adagrad, found_inf=T(2.))
A._fused_adagrad_([], [O(3)], [], [], @adagrad, found_inf=T(2.))
A._fused_sgd_.tensor_lr([O(3)], [O(3)], [], weight_decay=0.1, momentum=0., lr=T([0.1, 0.2]), @rest)
A._fused_sgd_.tensor_lr([O(3)], [], [], weight_decay=0.1, momentum=0., lr=T(True), @rest)
A._fused_sgd_.tensor_lr([O(3)], [O(3)], [], weight_decay=0.1, momentum=0., lr=T(1+0.j), @rest)
A._fused_sgd_.tensor_lr([O(3)], [O(3)], [], weight_decay=0.1, momentum=0., lr=T(1+1.j), @rest)
A._fused_sgd_([O(3)], [O(3)], [], weight_decay=0.1, momentum=0.5, lr=0.1, @rest)
A._fused_sgd_([O(3)], [O(3)], [O(3)], @sgd)
A._fused_sgd_([O(3)], [O(3)], [O(3).double()], weight_decay=0.1, momentum=0.5, lr=0.1, @rest)
A._fused_sgd_([O(3), O(2).long()], [O(3), O(2)], [], @sgd)
A._fused_adam_([O(2).cfloat()], [O(2)], [O(2)], [O(2)], [], [T([1., 2.])], @plain)
A._fused_adam_([O(2)], [O(2).double()], [O(2).half()], [O(2)], [], [T([1., 2.])], @plain)
A._fused_adam_([O(2)], [O(2).double()], [O(2).half()], [O(2)], [], [T([1.])], @plain)
"""
_STEP_PROGRAMS: Final = """
p, g = R(21).bfloat16() / 8, R(21).bfloat16() / 7
A._fused_sgd_([p], [g], [], @sgd, grad_scale=T(3.))
(p, g)

p, g = R(21).half() / 8, R(21).half() / 7
A._fused_sgd_([p], [g], [], @sgd)
(p, g)

p, g, m = R(16).bfloat16() / 8, Z(16).bfloat16(), Z(16).bfloat16()
A._fused_sgd_([p], [g], [m], weight_decay=0.1, momentum=0.5, lr=0.1, @rest)
(p, m)

p, g, m = R(16).half() / 8, R(16).half() / 7, R(16).half() / 9
A._fused_adagrad_([p], [g], [m], [T(3.)], lr=0.07, lr_decay=0.1, weight_decay=0.3, @eps)
(p, m)

p, g, m = R(11) / 8 - 0.3, R(11) / 7 - 0.9, R(11) / 9
A._fused_sgd_([p], [g], [m], weight_decay=0.1, momentum=0.9, lr=0.07, @going)
(p, m)

p, g, m = R(7).double() / 8 - 0.3, R(7).double() / 7 - 0.9, R(7).double() / 9
A._fused_sgd_([p], [g], [m], weight_decay=0.1, momentum=0.9, lr=0.07, @going)
(p, m)

p, g, m, n = R(11) / 8 - 0.3, R(11) / 7 - 0.9, R(11) / 9 - 0.4, R(11) / 13
A._fused_adam_([p], [g], [m], [n], [], [T(3.)], @seven)
(p, m, n)

p = R(6.).reshape(2, 3).t()
g = O(3, 2)
A._fused_sgd_([p], [g], [], @sgd)
p

p = R(12.)[::2]
q = p._base
g = O(6)
A._fused_sgd_([p], [g], [], @sgd)
(p, q)

p = R(12.)[3:7]
g = O(6)
A._fused_adagrad_([p], [g], [Z(4)], [T(1.)], @adagrad)
(p, p._base)

p = R(12.)[3:7]
p2 = R(12.)[3:7]
A._fused_adagrad_([p], [p2], [Z(4)], [T([1., 2.])], @adagrad)

p = [O(3), O(2).long()]
r = A._fused_sgd(p, p, [], @sgd)

p = [O(3), O(2)]
r = A._fused_sgd(p, p, [], @sgd)
(r, p)

p = [O(3), O(2)]
q = [Z(3), Z(2)]
r = A._fused_sgd.out(p, p, [], @sgd, out=q)
(r, p, q)

p = [O(3), O(2)]
r = A._fused_sgd.tensor_lr(p, p, [], weight_decay=0.1, momentum=0., lr=T(0.1), @rest)
(r, p)

p = [O(3)]
r = A._fused_adam(p, p, p, p, p, [T(2.)], @largest)
(r, p)

p = [O(3)]
r = A._fused_adamw.out(p, p, p, p, p, [T(2.)], @largest, out=[Z(3)])
(r, p)

p = [O(3, requires_grad=True)]
A._fused_sgd_(p, [O(3)], [], @sgd)

p = [O(3, requires_grad=True) * 2]
A._fused_sgd_(p, [O(3)], [], @sgd)
(p, p[0].grad_fn, p[0]._version)

p = [O(3, requires_grad=True) * 2]
A._fused_sgd_(p, [O(3)], [], @sgd)
p[0].sum().backward()

p = [O(3, requires_grad=True)]
with xp.no_grad():
    A._fused_sgd_(p, [O(3)], [], @sgd)
(p, p[0]._version)

p = [O(3, requires_grad=True)]
r = A._fused_sgd(p, [O(3)], [], @sgd)
r

p = [O(10), O(3)]
n = [xp.full((10,), float('nan')), xp.full((3,), float('nan'))]
s = [Z(10), Z(3)]
m = [O(10), O(3)]
A._fused_adam_(p, n, s, s, m, [T(2.), T(2.)], @largest)
(p, m)

p = [O(10)]
s = [Z(10)]
m = [O(10)]
A._fused_adam_(p, [O(10)], s, m, [], [T(0.)], beta1=0.5, beta2=0.5, amsgrad=False, @adam)
(p, m)

p = [O(10)]
s = [Z(10)]
m = [O(10)]
A._fused_adam_(p, [O(10)], s, m, [], [T(3.)], beta1=1.5, beta2=1.5, amsgrad=False, @adam)
(p, m)

p = [O(10)]
s = [Z(10)]
m = [O(10)]
A._fused_adam_(p, [O(10)], s, m, [], [T(-3.)], @plain)
(p, m)

p = [O(2)]
A._fused_adam_(p, [O(2)], [O(2)], [O(2)], [], [T(1e300, dtype=xp.float64)], @plain)
p

p = [O(2)]
A._fused_adam_(p, [O(2)], [O(2)], [O(2)], [O(2)], [T(1.)], @plain)
p

p = [O(2)]
A._fused_adam_(p, [O(2)], [O(2)], [O(2)], [], [T(1.)], beta1=0.5, beta2=0., amsgrad=True, @adam)
p

p = [O(2, M)]
A._fused_adam_(p, [O(2)], [O(2)], [O(2)], [], [T(1.)], beta1=0.5, beta2=0., amsgrad=True, @adam)
p

g = T([2., 4.])
f = Z(1)
r = A.@unscale_([g, g * 3], f, T(0.5))
(r, g, f)

g = T([2., float('inf')]).half()
f = Z(())
r = xp.@unscale_([g], f, T(0.5))
(r, g, f)
"""
_SCALE_CALLS: Final = """
xp.@unscale_([O(3).long()], Z(()), T(1.))
xp.@unscale_([O(3).cfloat()], Z(()), T(1.))
xp.@unscale_([O(3).bool()], Z(()), T(1.))
xp.@unscale_([], Z((3)), T(1.))
xp.@unscale_([O(3)], Z(3), O(3))
xp.@unscale_([O(3)], Z(1).long(), O(3))
xp.@unscale_([O(3)], Z(1).long(), O(1).long())
xp.@unscale_([O(3)], Z(1).long(), O(1))
xp.@unscale_([O(3), O(3, M)], Z(1), O(1))
xp.@unscale_([O(3)], Z(1), O(1, M))
xp._amp_update_scale_(O(2), O(2), O(3), 2., 0.5, 4)
xp._amp_update_scale_(O(2), O(1), O(3), 2., 0.5, 4)
xp._amp_update_scale_(O(1), O(1), O(3), 2., 0.5, 4)
xp._amp_update_scale_(O(1), O(1), O(1), 2., 0.5, 4)
xp._amp_update_scale_(O(1).half(), O(1).int(), O(1), 2., 0.5, 4)
xp._amp_update_scale_(O(1), O(1).int(), O(1).double(), 2., 0.5, 4)
xp._amp_update_scale_(O(1), O(1).int(), O(1, M), 2., 0.5, 4)
A._amp_update_scale_(O(1, M), O(1, M), O(1, M), 2., 0.5, 10)
A._amp_update_scale_(O(1, M).long(), O(4, M).half(), O(3, M), 2., 0.5, 10)
A._amp_update_scale_(O(1, M).long(), O(4).half(), O(3, M), 2., 0.5, 10)
A._amp_update_scale_(O(1, M).long(), O(4).half(), O(3), 2., 0.5, 10)
"""
_SCALE_PROGRAMS: Final = """
g = T([2., 4.])
f = Z(1)
r = A.@unscale_([g, g * 3], f, T(0.5))
(r, g, f)

g = T([2., float('inf')]).half()
f = Z(())
r = xp.@unscale_([g], f, T(0.3))
(r, g, f)

g = R(40).bfloat16()
f = Z(())
r = xp.@unscale_([g, O(3).double()], f, T(0.3))
(r, g, f)

g = R(6.).reshape(2, 3).t()[::2]
f = Z(())
r = xp.@unscale_([g, T(float('nan'))], f, T(1.))
(r, g, f)

g = R(3.).expand(2, 3)
xp.@unscale_([g], Z(()), T(1.))

g = T([2., float('inf')])
f = Z(())
r = A.@unscale([g], f, T(0.5))
(r, g, f)

g = T([2., float('inf')])
f = Z(())
o = [Z(2)]
r = A.@unscale.out([g], f, T(0.5), out=o)
(r, g, f, o)

g = T([2., float('inf')], requires_grad=True)
A.@unscale_([g], Z(()), T(0.5))

g = T([2., float('inf')], requires_grad=True) * 2
A.@unscale_([g], Z(()), T(0.5))
(g, g.grad_fn)

s = T(4.)
t = T(3, dtype=xp.int32)
r = xp._amp_update_scale_(s, t, T(0.), 2., 0.5, 4)
(r, s, t, r is s)

s = T(4.)
t = T([1], dtype=xp.int32)
r = xp._amp_update_scale_(s, t, T(0.), 2., 0.5, 4)
(r, s, t)

s = T([4.])
t = T(3, dtype=xp.int32)
r = xp._amp_update_scale_(s, t, T(2.), 2., 0.3, 4)
(r, s, t)

s = T([4.])
t = T(3, dtype=xp.int32)
r = xp._amp_update_scale_(s, t, T(0.), 1e300, 0.3, 4)
(r, s, t)

s = T([4.])
t = T(2**31 - 1, dtype=xp.int32)
r = xp._amp_update_scale_(s, t, T(float('nan')), 1e300, float('inf'), 4)
(r, s, t)

s, t = T([4.]), T(3, dtype=xp.int32)
r = A._amp_update_scale(s, t, T(0.), 3., 0.3, 4)
(r, s, t)

s, t = T([4.]), T(3, dtype=xp.int32)
o = Z(1)
r = A._amp_update_scale.out(s, t, T(0.), 3., 0.3, 4, out=o)
(r, s, t, o)

s, t = T([4.], requires_grad=True), T(3, dtype=xp.int32)
xp._amp_update_scale_(s, t, T(0.), 3., 0.3, 4)
"""


def texts() -> Iterator[Text]:
    yield from _of_steps()
    for name, block in (
        ("what steps look at on meta", _META_CALLS),
        ("odd steps", _STEP_CALLS),
        ("scales of gradients", _SCALE_CALLS),
    ):
        for text in block.strip().splitlines():
            yield name, written_out(text, _SHORT)
    for name, block in (("odd steps", _STEP_PROGRAMS), ("scales of gradients", _SCALE_PROGRAMS)):
        for text in block.strip().split("\n\n"):
            yield name, written_out(text, _SHORT)


def _of_steps() -> Iterator[Text]:
    flags, rates = ("True", "False"), ("0.", "0.3")
    for operator, dtype in product(_OPERATORS, _SIZES):
        for (flag, decay), scale in zip(product(flags, rates), _SCALES, strict=True):
            size = 7 if "sgd" in operator and "16" in dtype else _SIZES[dtype]
            number = f"(xp.arange({size}) * {{}} % 101 / 64 - {{}}).to(xp.{dtype})"
            lines = [
                f"p, g, n = {number.format(7, 0.5)}, {number.format(37, 0.75)}, "
                f"{number.format(11, 1)}",
                "s, m, i = n.abs(), g.abs(), xp.tensor(2.)",
                f"r = xp.ops.aten.{operator}([p], [g], {_STATES[operator]}, lr=0.1, "
                f"weight_decay={decay}, maximize={flag}, {_OPERATORS[operator]}{scale})",
                "(r, p, g, n, s, m)",
            ]
            yield "steps of optimizers", "\n".join(lines).replace("{flag}", flag)
