"""Attention and bags of embeddings for the area core-ops.

What is asked of attention decides which of two ways it goes, and both are to say the same of it;
masks may leave a query with nothing to see.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from conformance.area import Text

_DEVICES: Final = ("cpu", "meta")
_QUERY: Final = "q = (xp.arange(384, device='{device}') % 7 / 7).view(2, 6, 4, 8)\n"
_ASKED: Final = (
    *("q, q, q", "q, q, q, is_causal=True", "q[0], q[0], q[0], is_causal=True"),
    *("q[0, 0], q[0, 0], q[0, 0]", "q[0, 0, 0], q, q", "q, q.double(), q", "q, q, q[..., :3]"),
    *("q.half(), q.half(), q.half()", "q.bfloat16(), q.bfloat16(), q.bfloat16()"),
    *("q[0].half(), q[0].half(), q[0].half()", "q.long(), q.long(), q.long()"),
    *("q.cfloat(), q.cfloat(), q.cfloat()", "q.mT, q.mT, q.mT", "q, q[:, :2], q[:, :2]"),
    *("q, q, q, scale=-0.5", "q[1], q[1], q[1], scale=-0.5", "q[1], q[1], q[1], scale=0"),
    *("q, q[:, :, :0], q[:, :, :0]", "q[:, :, :0], q, q", "q[:0], q[:0], q[:0]"),
    *("q[..., :0], q[..., :0], q[..., :0]", "q[0][..., :0], q[0][..., :0], q[0]"),
    *("q, q, q, dropout_p=-1.0", "q, q, q, dropout_p=2.0"),
    *("q, q[:, :3], q[:, :3], enable_gqa=True", "q[0], q[0, :3], q[0, :3], enable_gqa=True"),
    *("q[:, :5], q[:, :3], q[:, :3], enable_gqa=True", "q, q[:, :3], q[:, :1], enable_gqa=True"),
)
_MASKS: Final = (
    *("xp.arange(16.0).view(4, 4)", "xp.arange(16).view(4, 4) % 3 == 0", "xp.zeros(4)"),
    *("xp.arange(16).view(4, 4) > 8", "xp.arange(8.0).view(2, 1, 1, 4)", "xp.zeros(3, 4)"),
    *("xp.arange(24.0).view(6, 4, 1)", "xp.zeros(4, 4).long()", "xp.zeros(4, 4).double()"),
)
_MASKED: Final = (
    *("q, q, q, m", "q[0], q[0], q[0], m", "q.half(), q.half(), q.half(), m"),
    *("q[0].half(), q[0].half(), q[0].half(), m", "q, q, q, m, is_causal=True"),
    "q[0], q[0], q[0], m, is_causal=True",
)
_FUSED: Final = (
    *("q, q, q", "q[0], q, q", "q[0], q[0], q[0]", "q.long(), q, q", "q, q, q, 0.5"),
    *("q, q, q[..., :2]", "q.half(), q.half(), q.half()", "q.double(), q.double(), q.double()"),
)
_HEADS: Final = (
    "f, x = xp.nn.functional.multi_head_attention_forward, xp.arange(24.0).view(3, 2, 4) % 5\n"
    "w, o = xp.arange(48.0).view(12, 4) % 7 / 7, xp.eye(4)\n"
)
_BY_HEADS: Final = (
    *("", "need_weights=False", "average_attn_weights=False", "is_causal=True"),
    *("attn_mask=xp.zeros(3, 3), key_padding_mask=xp.zeros(2, 3).bool()", "dropout_p=2.0"),
    *("attn_mask=xp.zeros(3, 3), is_causal=True, need_weights=False", "static_k=x"),
    *("attn_mask=xp.zeros(2, 3)", "attn_mask=xp.zeros(2, 3, 3)", "attn_mask=xp.zeros(3)"),
    *("attn_mask=xp.zeros(3, 3).long()", "key_padding_mask=xp.zeros(3, 3)"),
    *("key_padding_mask=xp.zeros(2, 4)", "key_padding_mask=xp.zeros(2)"),
    *("static_v=xp.ones(4, 3, 3)", "static_k=xp.ones(4, 3, 2), static_v=xp.ones(4, 3, 2)"),
    *("bias_k=xp.ones(1, 1, 4)", "bias_v=xp.ones(1, 1, 4)", "embed_dim_to_check=5"),
    *("bias_k=xp.ones(1, 1, 4), bias_v=xp.ones(1, 1, 4), add_zero_attn=True", "num_heads=3"),
    *("in_proj_weight=None", "use_separate_proj_weight=True, q_proj_weight=o, k_proj_weight=o"),
)
_GIVEN: Final = {
    "embed_dim_to_check": "4",
    "num_heads": "2",
    "in_proj_weight": "w",
    "in_proj_bias": "None",
    "bias_k": "None",
    "bias_v": "None",
    "add_zero_attn": "False",
    "dropout_p": "0.0",
    "out_proj_weight": "o",
    "out_proj_bias": "None",
}
_TABLE: Final = "w, i = xp.arange(12.0).view(4, 3) % 5, xp.tensor([0, 2, 1, 3])\n"
_OFFSETS: Final = ("[0, 2]", "[0, 2, 2, 4]", "[1, 2]", "[0, 5]", "[0.0, 2]", "[[0, 2]]")
_BAGS: Final = (
    *("w, i, o, False, {mode}", "w, i, o, False, {mode}, False, None, True"),
    *("w, i, o, False, {mode}, False, None, False, 2", "w.half(), i.int(), o, False, {mode}"),
    *("w, i, o, False, {mode}, False, xp.arange(4.0)", "w.double(), i - 1, o, False, {mode}"),
    *(
        "w.long(), i, o, False, {mode}",
        "w[0], i, o, False, {mode}",
        "w, i[:0], o[:0], False, {mode}",
    ),
    *("w, i, o, False, {mode}, False, None, False, 7", "w, i, o, False, 0, False, xp.ones({mode})"),
)
_LEARNED: Final = (
    "w = (xp.arange(12.0).view(4, 3) % 5 / 7).requires_grad_()\n"
    "i, o = xp.tensor([0, 2, 1, 0, 3]), xp.tensor([0, 2])\n"
    "y = xp.embedding_bag(w, i, o, {})\n"
    "(y[0] * xp.arange(6.0).view(2, 3)).sum().backward()\n"
    "(y, y[0].grad_fn, w.grad)"
)


def texts() -> Iterator[Text]:
    yield from _attention()
    yield from _fused()
    yield from _of_heads()
    yield from _bags()


def _attention() -> Iterator[Text]:
    name = "scaled_dot_product_attention"
    call = f"xp.nn.functional.{name}"
    for asked, device in product(_ASKED, _DEVICES):
        yield name, f"{_QUERY.format(device=device)}{call}({asked})"
    for asked, mask in product(_MASKED, _MASKS):
        yield name, f"{_QUERY.format(device='cpu')}m = {mask}\n{call}({asked})"
    yield name, f"xp.manual_seed(3)\n{_QUERY.format(device='cpu')}{call}(q, q, q, dropout_p=0.5)"
    made = f"{_QUERY.format(device='cpu')}q = q.double().requires_grad_()\n"
    for asked in ("q, q, q", "q, q, q, is_causal=True", "q, q, q, xp.zeros(6, 4, 4).double()"):
        yield name, f"{made}y = {call}({asked})\ny.sum().backward()\n(y, y.grad_fn, q.grad.shape)"


def _fused() -> Iterator[Text]:
    name = "_scaled_dot_product_flash_attention_for_cpu"
    for asked, device in product(_FUSED, _DEVICES):
        made = f"q = xp.ones(1, 2, 2, 3, device='{device}')\n"
        if device == "meta" and asked not in _FUSED[:1] + _FUSED[-2:]:
            continue
        yield name, f"{made}xp.ops.aten.{name}({asked})"
    made = "q = xp.ones(1, 2, 2, 3)\n"
    for mask in ("xp.ones(2, 2).double()", "xp.ones(2)", "xp.ones(3, 3)", "xp.ones(2, 2)"):
        yield name, f"{made}xp.ops.aten.{name}(q, q, q, attn_mask={mask})"
    for value in ("q[:, :, :1]", "q[:, :, :1].double()"):
        call = f"xp.ops.aten.{name}_backward(q, q, q[:, :, :1], {value}, q, q[..., 0], 0.0, True)"
        yield f"{name}_backward", made + call
    for device in _DEVICES:
        made = f"q = xp.ones(1, 2, 2, 3, device='{device}')\n"
        yield "_fused_sdp_choice", f"{made}xp.ops.aten._fused_sdp_choice(q, q, q)"
        yield (
            "_scaled_dot_product_attention_math",
            f"{made}xp.ops.aten._scaled_dot_product_attention_math(q, q, q, None, 0.0, True)",
        )


def _of_heads() -> Iterator[Text]:
    name = "multi_head_attention_forward"
    for options in _BY_HEADS:
        given = ", ".join(
            f"{key}={text}" for key, text in _GIVEN.items() if f"{key}=" not in options
        )
        yield name, f"{_HEADS}f(x, x, x, {given}{options and ', '}{options})"
    given = ", ".join(f"{key}={text}" for key, text in _GIVEN.items())
    for inputs in (
        "x, x, x.clone()",
        "x, x, x[:2]",
        "x[0], x[0], x[0]",
        "x[0], x, x",
        "x[0, 0], x, x",
    ):
        yield name, f"{_HEADS}f({inputs}, {given})"


def _bags() -> Iterator[Text]:
    for call, offsets, mode in product(_BAGS, _OFFSETS, "012"):
        if offsets != _OFFSETS[0] and (mode != "1" or call not in _BAGS[:2]):
            continue
        made = f"{_TABLE}o = xp.tensor({offsets})\n"
        yield "embedding_bag", f"{made}xp.embedding_bag({call.format(mode=mode)})"
    for options in ("False, 0", "True, 0", "True, 1, False, None, False, 0", "False, 2"):
        yield "embedding_bag", _LEARNED.format(options)
    made = "w = xp.ones(4, 3, device='meta')\ni = o = xp.ones(2, device='meta').long()\n"
    for call, mode in product(_BAGS[:5], "012"):
        given = call.format(mode=mode).replace("xp.arange(4.0)", "w[:2, 0]")
        yield "embedding_bag", f"{made}xp.embedding_bag({given})"
    for call in ("i, w", "i.view(2, 2), w", "w, i.view(2, 2)", "i, w[0], o", "i[0], w, o"):
        yield (
            "embedding_bag",
            f"{_TABLE}o = xp.tensor([0, 2])\nxp.nn.functional.embedding_bag({call})",
        )
    for mode in (
        "'x'",
        "'max', scale_grad_by_freq=True",
        "'max', sparse=True",
        "'sum', max_norm=1.0",
    ):
        call = f"xp.nn.functional.embedding_bag(i, w, o, mode={mode})"
        yield "embedding_bag", f"{_TABLE}o = xp.tensor([0, 2])\n({call}, w)"
