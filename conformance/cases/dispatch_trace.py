"""Area ``dispatch-trace``: the keys that a call goes through, and the calls within it.

A case gives operators kernels that take down their key and call on below it
(:mod:`conformance.traced`), makes tensors, and calls.  Its value is the trace: operator, key and
keyset of each kernel, in order and depth.  Keys are those above the backends, whose kernels it would
need to compute.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from hypothesis import strategies as st

from conformance.area import Area, Text
from conformance.cases.turn import Turn
from mindtorch_v2.profile import Profile

OPERATORS: Final = (
    *("add.Tensor", "mul.Tensor", "sub.Tensor", "neg", "clone", "copy_", "t", "transpose.int"),
    *("view", "select.int", "slice.Tensor", "unsqueeze", "expand", "mm", "matmul", "sum", "relu"),
    *("add_.Tensor", "mul_.Tensor", "fill_.Scalar", "zero_", "detach", "alias", "reshape"),
    *("_to_copy", "empty.memory_format", "ones", "zeros_like", "where.self", "addmm", "cat"),
)
CALLS: Final = (
    *("x + y", "x * 2", "x - 1", "-x", "x.clone()", "x.t()", "x[0]", "x[1:]", "x.view(-1)"),
    *("x.reshape(-1)", "x.t().reshape(-1)", "x @ y.t()", "xp.mm(x, y.t())", "x.sum()", "x.relu()"),
    *("x.detach()", "x.detach().add_(1)", "x.clone().mul_(2)", "x.unsqueeze(0)", "x.double()"),
    *("x.expand(2, 2, 3)", "x.detach().fill_(1)", "x.detach().zero_()", "xp.ones(2)", "x.T"),
    *("xp.zeros_like(x)", "xp.where(x > 1, x, y)", "x.clone().copy_(y)", "xp.cat([x, y])"),
    *("xp.addmm(x, x, y.t()[:, :1].expand(3, 3))", "xp.empty(2).fill_(2)", "x.squeeze()"),
    *("xp.add(x, y, out=xp.empty(0))", "x.contiguous()", "x.t().contiguous()", "x.flatten()"),
)
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
    trace = f"traced(run, {list(OPERATORS)}, {keys})"
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
    drawn = st.tuples(*map(st.sampled_from, pools))
    return drawn.map(lambda values: (values[1], case(*values)))


AREA: Final = Area("dispatch-trace", texts, strategy)
