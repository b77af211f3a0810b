"""Texts of area ``autograd`` about what is recorded while the thread masks keys.

Excluded: autograd's own keys, those of other backends, and what counts versions and views.  A
number among the arguments is a tensor on the CPU, with that tensor's keys.

What torch's kernels do by way of the dispatcher below a masked autograd is not looked at: they
make their outputs (so BackendSelect is never excluded) and write into them (so versions are
compared of what the call itself changes).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from conformance.area import Text

_KEYS: Final = (
    *("AutogradCPU", "AutogradMeta", "AutogradOther", "AutogradFunctionality", "AutogradXLA"),
    *("ADInplaceOrView", "AutogradPrivateUse1", "Negative", "Functionalize", "AutocastCPU"),
)
_GUARDS: Final = (
    "xp._C._ExcludeDispatchKeyGuard(xp._C.DispatchKeySet(xp._C.DispatchKey.{}))",
    "xp._C._IncludeDispatchKeyGuard(xp._C.DispatchKey.{})",
)
_INCLUDED: Final = ("AutogradCPU", "AutogradOther", "ADInplaceOrView")
_CALLS: Final = (
    *("x * 4", "4 * x", "x * x", "x + 1", "1 - x", "x / 2", "x ** 2", "2 ** x", "x > 0", "-x"),
    *("xp.mul(x, 4)", "xp.add(x, x, alpha=2)", "xp.ops.aten.mul.Tensor(x, 4)", "x.clamp(0)"),
    *("xp.where(x > 0, x, 0.0)", "xp.cat([x, x])", "x.sum()", "x.exp()", "x.detach()", "x.clone()"),
    *("x.view(2, 1)", "x[0]", "x.t()", "x.unbind()[0]", "x.expand(3, 2)", "x.detach().add_(1)"),
    *("x.clone().add_(1)", "x.clone().mul_(x)", "x.clone()[:1].add_(2)", "xp.ones_like(x)"),
)
_LEAVES: Final = ("xp.ones(2, requires_grad=True)", "xp.ones(2, device='meta', requires_grad=True)")


def texts() -> Iterator[Text]:
    exclude, include = _GUARDS
    masks = [exclude.format(key) for key in _KEYS] + [include.format(key) for key in _INCLUDED]
    for leaf, guard, call in product(_LEAVES, masks, _CALLS):
        version = ", y._version" if "_(" in call else ""
        yield (
            "masked keys",
            f"x = {leaf}\nwith {guard}:\n    y = {call}\n"
            f"(y.requires_grad, y.grad_fn, y.is_leaf, y._is_view(){version}, "
            "xp._C._dispatch_keys(y))",
        )
