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
_VIEWS: Final = (
    *("view.default(x, [3, 2])", "view.dtype(x, xp.int32)", "alias.default(x)", "t.default(x)"),
    *("select.int(x, 0, 1)", "slice.Tensor(x, 0, 1)", "split.Tensor(x, 1)", "unbind.int(x)"),
    *("as_strided.default(x, [2], [1])", "detach.default(x)", "expand.default(x, [4, 2, 3])"),
    *("transpose.int(x, 0, 1)", "unsqueeze.default(x, 0)", "squeeze.default(x)"),
    *("permute.default(x, [1, 0])", "diagonal.default(x)"),
    *("_unsafe_view.default(x, [6])", "unfold.default(x, 0, 1, 1)", "_neg_view.default(x)"),
    *("unsafe_split.Tensor(x, 1)", "unsafe_split_with_sizes.default(x, [1, 1])"),
    *("split_with_sizes.default(x, [1, 1])", "view_as_real.default(x * 1j)"),
)
"""Called below autograd with nothing masked: kernels of a backend make aliases, no views."""


def texts() -> Iterator[Text]:
    for device, view in product(("CPU", "Meta"), _VIEWS):
        name, given = view.split("(", 1)
        yield (
            "kernels of a backend",
            f"x = xp.ones(2, 3, device='{device.lower()}', requires_grad=True)\n"
            f"y = xp.ops.aten.{name}.redispatch(xp._C.DispatchKeySet('{device}'), {given}\n"
            "y = y[0] if isinstance(y, (list, tuple)) else y\n"
            "(y.requires_grad, y.grad_fn, y.is_leaf, y._is_view(), y._version, y._base is x)",
        )
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
