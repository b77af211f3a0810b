"""Area ``dispatch-trace``: the keys that a call goes through, and the calls within it.

A case gives operators kernels that take down their key and call on below it
(:mod:`conformance.traced`), makes tensors, and calls.  Its value is the trace: operator, key and
keyset of each kernel, in order and depth.  Keys are those above the backends, whose own kernels
are needed to compute; and Python cannot call on with a number in place of a tensor.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from hypothesis import strategies as st

from conformance.area import Area, Text
from conformance.cases.turn import Turn
from mindtorch_v2.profile import Profile

_VIEW: Final = ("t", "view", "reshape")
CALLS: Final[dict[str, tuple[str, ...]]] = {
    "x + y": ("add.Tensor",),
    "x * y - x": ("mul.Tensor", "sub.Tensor"),
    "-x": ("neg",),
    "x.clone()": ("clone",),
    "x.t()": _VIEW,
    "x.T": ("numpy_T", "t", "permute"),
    "x[0]": ("select.int",),
    "x[1:]": ("slice.Tensor",),
    "x.view(-1)": _VIEW,
    "x.flatten()": (*_VIEW, "flatten.using_ints"),
    "x.reshape(3, 2)": _VIEW,
    "x.t().reshape(-1)": ("t", "reshape", "clone", "_unsafe_view"),
    "x @ y.t()": ("matmul", "mm", "t"),
    "xp.mm(x, y.t())": ("mm", "t"),
    "xp.addmm(x, x[:, :2], y[:, :2].t() @ y)": ("addmm", "matmul", "mm", "t", "slice.Tensor"),
    "x.relu()": ("relu",),
    "x.detach()": ("detach", "alias"),
    "x.detach().add_(y)": ("detach", "add_.Tensor"),
    "x.clone().mul_(y)": ("clone", "mul_.Tensor"),
    "x.detach().copy_(y)": ("detach", "copy_"),
    "x.clone().zero_()": ("clone", "zero_"),
    "x.unsqueeze(0)": ("unsqueeze",),
    "x.squeeze()": ("squeeze",),
    "x.expand(2, 2, 3)": ("expand",),
    "x.expand_as(y)": ("expand", "expand_as"),
    "x.narrow(1, 0, 2)": ("narrow", "slice.Tensor"),
    "x.swapaxes(0, 1)": ("swapaxes", "transpose.int"),
    "x.movedim(0, 1)": ("movedim.int", "permute"),
    "x.mT": ("mT", "transpose.int"),
    "x.split(1)[0]": ("split.Tensor",),
    "x.chunk(2)[1]": ("chunk", "split.Tensor"),
    "x.unbind()[0]": ("unbind.int",),
    "x.contiguous()": ("contiguous", "clone"),
    "x.t().contiguous()": ("contiguous", "clone", "t"),
    "xp.ones(2)": ("ones",),
    "xp.zeros_like(x)": ("zeros_like",),
    "x.new_zeros(2)": ("new_zeros",),
    "xp.where(x > y, x, y)": ("where.self", "gt.Tensor"),
    "xp.cat([x, y])": ("cat",),
    "xp.stack([x, y])": ("stack",),
    "xp.add(x, y, out=xp.empty(0))": ("add.out",),
}
"""Calls, and the operators that record: those called, and what compositions make of them.  Not what
the kernel of a backend calls to compute, as ``clone`` calls ``copy_``: that is no one's order."""

KEYS: Final = (
    "['AutogradCPU']",
    "['ADInplaceOrView']",
    "['AutogradCPU', 'ADInplaceOrView']",
    "['ADInplaceOrView', 'AutogradCPU', 'AutocastCPU']",
    "['AutogradCPU', 'AutogradMeta', 'BackendSelect']",
    "['BackendSelect', 'ADInplaceOrView']",
    "['AutogradCPU', 'ADInplaceOrView', 'BackendSelect', 'Tracer', 'AutocastCPU']",
    "['PythonDispatcher', 'AutogradCPU', 'PreDispatch']",
)
TENSORS: Final = (
    "x, y = xp.ones(2, 3), xp.ones(2, 3)",
    "x, y = xp.ones(2, 3, requires_grad=True), xp.ones(2, 3)",
    "x, y = xp.ones(2, 3, device='meta'), xp.ones(2, 3, device='meta')",
    "with xp.inference_mode():\n    x, y = xp.ones(2, 3), xp.ones(2, 3)",
    "with xp.inference_mode():\n    x = xp.ones(2, 3)\ny = xp.ones(2, 3, requires_grad=True)",
)
AROUND: Final = (
    "",
    "xp.no_grad()",
    "xp.inference_mode()",
    "xp._C._AutoDispatchBelowAutograd()",
    "xp._C._AutoDispatchBelowADInplaceOrView()",
    "xp._C._ExcludeDispatchKeyGuard(xp._C.DispatchKeySet(xp._C.DispatchKey.ADInplaceOrView))",
    "xp._C._IncludeDispatchKeyGuard(xp._C.DispatchKey.AutocastCPU)",
    "xp._C._IncludeDispatchKeyGuard(xp._C.DispatchKey.Tracer)",
    "xp._C._IncludeDispatchKeyGuard(xp._C.DispatchKey.BackendSelect)",
)


def case(tensors: str, call: str, keys: str, around: str = "") -> str:
    run = f"run = lambda: xp._C._dispatch_keys({call})"
    trace = f"traced(run, {list(CALLS[call])}, {keys})"
    if not around:
        return f"{tensors}\n{run}\n{trace}"
    return f"{tensors}\n{run}\nwith {around}:\n    found = {trace}\nfound"


def texts(profile: Profile) -> Iterator[Text]:
    turn = Turn()
    for call, tensors in product(CALLS, TENSORS):
        for _ in range(3):
            yield call, case(tensors, call, turn.of(KEYS), turn.of(AROUND))
    for call, keys in product(CALLS, KEYS):
        yield call, case(turn.of(TENSORS), call, keys)
    for call, around in product(CALLS, AROUND):
        yield call, case(TENSORS[1], call, turn.of(KEYS), around)


def strategy(profile: Profile) -> st.SearchStrategy[Text]:
    pools = (TENSORS, CALLS, KEYS, AROUND)
    drawn = st.tuples(*map(st.sampled_from, map(tuple, pools)))
    return drawn.map(lambda values: (values[1], case(*values)))


# References in Python have 2.7 and others import the compiler, which would be traced too.
AREA: Final = Area("dispatch-trace", texts, strategy, imports=("_dynamo",))
