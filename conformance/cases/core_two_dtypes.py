"""Operators of two tensors that have not the same dtype, for the area core-ops."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from conformance.area import Text

_DTYPES: Final = ("float32", "float64", "float16", "bfloat16", "int64", "bool", "complex64")
_DEVICES: Final = ("cpu", "meta")
_FUNCTIONAL: Final = "xp.nn.functional."
_LOGITS: Final = f"{_FUNCTIONAL}binary_cross_entropy_with_logits"
_CALLS: Final = (
    f"{_LOGITS}(a, b, reduction='none').dtype",
    f"{_LOGITS}(a, a, weight=b).dtype",
    f"{_LOGITS}(a, b, pos_weight=b).dtype",
    f"{_FUNCTIONAL}poisson_nll_loss(a, b, reduction='none').dtype",
    f"{_FUNCTIONAL}conv1d(a[None, None], a[None, None], b[:1], padding='valid')",
    f"{_FUNCTIONAL}layer_norm(a, (3,), b)",
    "xp.polar(a, b)",
    "xp.polar(a, b, out=xp.empty(0, dtype=xp.complex64, device=a.device))",
    "xp.complex(a, b)",
    "xp.ldexp(a, b)",
    "xp.ldexp(a, b, out=b.clone())",
    "xp.heaviside(a, b)",
    "xp.isin(a, b)",
    "xp.logaddexp2(a, b[:2])",
    "xp.histc(a, 2, out=b.clone())",
    "xp.addmm(a[:, None], a[:, None][:, :0], a[None][:0, :1], beta=0.5)",
    "xp.baddbmm(a[None, None], a[None, None][..., :0], b[None, None][:, :0], beta=2j)",
    "xp.topk(a, 2, out=(b.clone(), xp.empty(0, dtype=xp.int64, device=a.device)))",
    "xp.topk(a, 2, out=(a.clone(), b.clone()))",
    "xp.ops.aten.gelu_backward(a, b)",
    "xp.ops.aten.logit_backward(a, b, 0.2)",
    "xp.ops.aten.mish_backward(a, b)",
    "xp.ops.aten._softmax_backward_data(a, b, 0, a.dtype)",
    "xp.ops.aten._softmax_backward_data(a[None], b[None], 0, b.dtype)",
    "xp.ops.aten._log_softmax_backward_data(a, a, 0, b.dtype)",
    "xp.ops.aten._log_softmax_backward_data(a[None], b[None], 0, a.dtype)",
)


def texts() -> Iterator[Text]:
    for call, one, two, device in product(_CALLS, _DTYPES, _DTYPES, _DEVICES):
        if device == "meta" and one == two:
            continue  # which every operator has cases of
        target = call.partition("(")[0].rpartition(".")[2]
        made = f"xp.tensor([0.25, 1, 2], device='{device}')"
        yield target, f"a, b = {made}.to(xp.{one}), {made}.to(xp.{two})\n{call}"
