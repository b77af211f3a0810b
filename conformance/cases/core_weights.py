"""Operators that layers are made of: attention by many heads, masked softmax, weights of a given
length, statistics of batches, and what accelerators compute in one kernel, on meta.

They are called by themselves, with sizes and dtypes that their layers would not give them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from conformance.area import Text

_CALL: Final = "xp.ops.aten."

# --- masked softmax ---------------------------------------------------------------------------

_SCORES: Final = "x = xp.arange(96.).view(2, 3, 4, 4).fmod(7){d}\nm = {m}\n"
_DTYPES: Final = ("", ".double()", ".half()", ".bfloat16()", ".long()")
_MASKS: Final = (
    *("x.ge(3)", "x.ge(0)", "x", "xp.ones(4, 4).tril().bool()", "xp.ones(2, 4).triu(1).bool()"),
    *("xp.ones(4, 5).bool()", "x.mT.ge(2)[..., :3]"),
)
_LAYOUTS: Final = (
    *(".to(memory_format=xp.channels_last)", ".transpose(1, 2)", ".mT", "[..., :3]", "[0]"),
    *("[:, 0]", "[:0]", "[0, 0, 0, 0]"),
)

# --- attention by many heads ------------------------------------------------------------------

_HEADS: Final = (
    "q = (xp.arange(48.) % 7 / 7).view(2, 3, 8){d}\nk = (xp.arange(48.) % 5 / 5).view(2, 3, 8){d}\n"
    "w, b = (xp.arange(192.) % 11 / 11).view(24, 8){d}, (xp.arange(24.) % 3 / 3){d}\n"
    "o, c = (xp.arange(64.) % 13 / 13).view(8, 8){d}, (xp.arange(8.) % 3){d}\n"
)
_BY_HEADS: Final = (
    *("q, q, q, 8, 2, w, b, o, c", "q, k, k, 8, 4, w, b, o, c, None, False"),
    *("q, q, k, 8, 1, w, b, o, c, None, True, False", "q, k, q, 8, 8, w, b, o[:4], c[:4]"),
    "q, q, q, 8, 2, w, b, o, c, xp.ones(3, 3).triu(1), True, True, 0",
    "q, k, k, 8, 2, w, b, o, c, xp.eye(3)[:2].bool(), True, False, 1",
    "q, q, q, 8, 2, w, b, o, c, xp.eye(3).expand(2, 2, 3, 3), True, False, 2",
    "q, q, q, 8, 2, w, b, o, c, xp.ones(3, 3).bool(), True, False, 0",
    *(
        "q, q, q, 8, 2, w, b, o, c, xp.eye(3)",
        "q, q, q, 8, 2, w, b, o, c, xp.ones(4), True, True, 0",
    ),
    *("q[0], q, q, 8, 2, w, b, o, c", "q, q, q, 4, 2, w, b, o, c", "q, q[0], q, 8, 2, w, b, o, c"),
    *("q, q, q[:, :2], 8, 2, w, b, o, c", "q, q, q[0], 8, 2, w, b, o, c"),
    *("q, q, q, 8, 2, w[0], b, o, c", "q, q, q, 8, 2, w.t(), b, o, c", "q, q, q, 8, 2, w, w, o, c"),
    *("q, q, q, 8, 2, w[:, :4], b, o, c", "q, q, q, 8, 2, w, c, o, c", "q, q, q, 8, 3, w, b, o, c"),
    *(
        "q, q, q, 8, 2, w, b, w, c",
        "q, q, q, 8, 2, w, b, o, b",
        "q[:0], q[:0], q[:0], 8, 2, w, b, o, c",
    ),
    "q, q, q, 8, -2, w, b, o, c",
)
_LAYER: Final = (
    "f, g = (xp.arange(32.) % 3 / 3 - 0.5).view(4, 8){d}, (xp.arange(32.) % 5 / 5).view(8, 4){d}\n"
    "n, h = xp.ones(8){d}, f[:, 0].contiguous()\n"
)
_LAYERS: Final = (
    *(
        "q, 8, 2, w, b, o, c, {g}, {f}, 1e-5, n, c, n, n, f, h, g, c",
        "q[:0], 8, 2, w, b, o, c, {g}, {f}, 1e-5, n, c, n, n, f, h, g, c",
    ),
    "q, 8, 2, w, b, o, c, {g}, {f}, 1e-5, n, c, n, n, f, h, g, c, xp.eye(3).bool(), 0",
    "q, 8, 2, w, b, o, c, {g}, {f}, 1e-5, n, c, n, n, f.t(), h, g, c",
    "q, 8, 2, w, b, o, c, {g}, {f}, 1e-5, n, c, n, n, f[0], h, g, c",
    "q, 8, 2, w, b, o, c, {g}, {f}, 1e-5, n, c[:4], n, n, f, h, g.t(), c",
)
_RESCALED: Final = (
    "w.view(2, 4, 24), b, 2",
    "w.view(2, 4, 24), b, 8",
    "w.view(2, 4, 24), b, 3",
    "w, b, 2",
    "q[..., :7], b, 1",
    "q[..., :7], b, 2",
)

# --- weights ----------------------------------------------------------------------------------

_WEIGHTS: Final = (
    ("xp.arange(1., 25).view(2, 3, 4)", "xp.arange(1., 3).view(2, 1, 1)", 0),
    ("xp.arange(1., 25).view(2, 3, 4)", "xp.arange(1., 4).view(1, 3, 1)", 1),
    ("xp.arange(1., 25).view(2, 3, 4)", "xp.arange(1., 5).view(1, 1, 4)", 2),
    ("xp.arange(12.).view(3, 4).t()", "xp.arange(1., 5).view(4, 1)", 0),
    ("xp.arange(12.).view(3, 4)", "xp.tensor([2.])", -1),
    ("xp.arange(3.)", "xp.arange(1., 4)", 0),
    ("xp.tensor(2.)", "xp.tensor(1.)", 0),
    ("xp.tensor(2.)", "xp.tensor(1.)", -1),
    ("xp.arange(12.).view(3, 4)", "xp.arange(1., 5)", 3),
)
_LEARNED: Final = (
    "v = {v}.detach().requires_grad_()\ng = {g}.detach().requires_grad_()\n"
    "w = xp._weight_norm(v, g, {dim})\n"
)

# --- batches ----------------------------------------------------------------------------------

_BATCHES: Final = (
    *("xp.arange(24.).view(2, 3, 4)", "xp.arange(6.).view(2, 3)", "xp.arange(6.).view(3, 2).t()"),
    *("xp.arange(48.).view(2, 3, 4, 2).to(memory_format=xp.channels_last)", "xp.ones(2, 3, 0)"),
    *("xp.arange(48.).view(2, 3, 4, 2)[..., ::2]", "xp.arange(3.)", "xp.ones(())"),
)
_RUNNING: Final = (
    "None, None",
    "xp.zeros(3){d}, xp.ones(3){d}",
    "xp.zeros(3), xp.ones(3)",
    "None, xp.ones(3){d}",
    "xp.zeros(3, 1){d}, None",
    "xp.arange(6.)[::2]{d}, None",
)

# --- on meta ----------------------------------------------------------------------------------

_NEW: Final = "m = lambda *s: xp.ones(s, device='meta')\n"
_QUERIES: Final = (
    *("m(2, 3, 4, 8)", "m(2, 3, 4, 8).mT", "m(2, 4, 3, 8).transpose(1, 2)", "m(2, 3, 300, 100)"),
    *("m(1, 1, 4, 1).expand(2, 3, 4, 8)", "m(3, 4, 8)", "m(2, 8)", "m(0, 3, 4, 8).half()"),
    *("m(2, 3, 4, 5)", "m(2, 3, 4, 8).to(xp.float8_e4m3fn)"),
)
_ON_META: Final = (
    "_scaled_dot_product_flash_attention({q}, {k}, {q}, 0.1, True, {f})",
    (
        "_scaled_dot_product_flash_attention.quantized({q}, {k}, {q}, None, None, None, 0.1, "
        "{f}, True)"
    ),
    (
        "_scaled_dot_product_flash_attention_backward({q}, {k}, {q}, {k}, {q}, {q}, {q}, {q}, 1, "
        "2, 0., {f}, {q}, {q})"
    ),
    "_flash_attention_backward({q}, {k}, {q}, {k}, {q}, {q}, {q}, {q}, 1, 2, 0., {f}, {q}, {q})",
    "_flash_attention_forward({q}, {k}, {q}, None, m(3), 4, 300, 0., True, {f})",
    "_flash_attention_forward({q}, {k}, {q}, m(3), None, 4, 5, 0., True, {f})",
    (
        "_flash_attention_forward.quantized({q}, {k}, {q}, None, None, 4, 5, 0., True, {f}, "
        "None, None, None)"
    ),
    (
        "_flash_attention_forward_no_dropout_inplace({q}, {q}, {k}, {q}, m(3), m(3), 4, 5, 0., "
        "True, {f})"
    ),
    "_scaled_dot_product_efficient_attention({q}, {k}, {q}, None, {f})",
    (
        "_scaled_dot_product_efficient_attention_backward({q}, {q}, {k}, {q}, {k}, {q}, {q}, "
        "{q}, {q}, 0., [True, True, True, {f}])"
    ),
    "_scaled_dot_product_cudnn_attention({q}, {k}, {q}, None, {f})",
    (
        "_scaled_dot_product_cudnn_attention_backward({q}, {q}, {k}, {q}, {q}, {q}, {q}, {q}, "
        "{q}, {q}, {q}, 1, 2, 0., {f})"
    ),
    "_efficient_attention_forward({q}, {k}, {q}, None, None, None, None, 7, 0., 0, {f})",
    "_efficient_attention_forward({q}, {k}, {q}, None, m(3), m(3), 40, None, 0., 0, {f})",
    "_efficient_attention_forward({q}, {k}, {q}, None, m(3), m(3), None, None, 0., 0, {f})",
    (
        "_efficient_attention_backward({q}, {q}, {k}, {q}, None, {q}, None, None, 1, 2, {q}, 0., "
        "{q}, {q}, 0, True, shared_storage_dqdkdv={f})"
    ),
    (
        "_efficient_attention_backward({q}, {q}, {k}, {q}, {k}, {q}, None, None, 1, 2, {q}, 0., "
        "{q}, {q}, 0, {f})"
    ),
    "_scaled_dot_product_fused_attention_overrideable({q}, {k}, {q}, None, 0., {f})",
    (
        "_scaled_dot_product_fused_attention_overrideable_backward({q}, {q}, {k}, {q}, {k}, "
        "[{f}] * 4, {q}, {q}, {q}, {q}, 1, 2, 0., True, {q}, {q})"
    ),
    "_scaled_dot_product_attention_math_for_mps({q}, {k}, {q}, None, 0., {f})",
    "_native_multi_head_attention({q}, {k}, {q}, 8, 2, {q}, {q}, {k}, {q}, None, True, {f})",
    "linear_backward({q}, {k}, {q}, [{f}, True, False])",
    "linear_backward({q}, {k}, {q}, [True, {f}, False])",
    "_masked_scale({q}, {k}, 2.)",
    "_fused_rms_norm_backward({q}, {q}, [8], {k}, {q}, [{f}, True])",
    "_fused_rms_norm_backward({q}, {k}, [4, 8], m(2, 3), None, [True, {f}])",
    "masked_scatter_backward({q}, {k}, [2, 3])",
)
_SHAPED: Final = (
    *("m(5, 2, 3, 4, 8)", "m(1, 2, 3, 4, 5)", "m(2, 6, 4, 8)", "m(8, 2, 4, 3).permute(1, 3, 2, 0)"),
    *("m(3, 4, 5)", "m(4, 3, 8).transpose(0, 1)", "m(3, 1, 8).expand(3, 4, 8)", "m(2, 1, 4, 5)"),
    *("m(1, 1, 4, 1).expand(2, 3, 4, 7)", "m(8)", "m()"),
)
_ON_META_TOO: Final = (
    "_scaled_dot_product_fused_attention_overrideable({q}, {q}, {k})",
    "_scaled_dot_product_attention_math_for_mps({q}, {q}, {k})",
    "_scaled_dot_product_flash_attention({q}, {q}, {k})",
    "_flash_attention_forward({q}, {k}, {k}, None, None, 4, 5, 0., True, False)",
    "_scaled_dot_product_cudnn_attention({q}, {q}, {k}, None, True)",
    (
        "_scaled_dot_product_efficient_attention_backward({q}, {q}, {q}, {k}, None, {q}, {q}, "
        "{q}, {q}, 0., [True] * 4)"
    ),
    (
        "_efficient_attention_backward({q}, {q}, {q}, {k}, None, {q}, None, None, 1, 2, {q}, 0., "
        "{q}, {q}, 0, True, shared_storage_dqdkdv=True)"
    ),
)
"""Of queries and values that are shaped differently."""
_OPTIONS: Final = ("scale=0.5", "window_size=3", "scale=0.5, num_splits_key=1", "num_splits_key=2")
_BIASES: Final = ("m(4)", "m(1)", "m(5)", "m(2, 3, 4, 0)", "m()")
_FILLED: Final = (
    *("cauchy({q})", "cauchy({q}, 0.5, 0.0)", "exponential({q}, 0.5)", "exponential({q}, 0.0)"),
    *(
        "geometric({q}, 0.5)",
        "geometric({q}, 1.0)",
        "log_normal({q})",
        "log_normal({q}, 0.0, -1.0)",
    ),
    *("cauchy({q}, generator=xp.Generator())", "exponential.out({q}, out=m(0))"),
)
_OTHERS: Final = (
    "cudnn_batch_norm({x}, m(3), {s}, None, m(3), True, 0.1, 1e-5)",
    "cudnn_batch_norm({x}, m(3), None, {s}, m(3), False, 0.1, 1e-5)",
    "cudnn_batch_norm_backward({x}, {x}, {s}, None, None, m(3), m(3), 1e-5, {x})",
    "miopen_batch_norm({x}, m(3).half(), {s}, {s}, None, True, 0.1, 1e-5)",
    "miopen_batch_norm({x}, m(3), None, None, {s}, False, 0.1, 1e-5)",
    "miopen_batch_norm_backward({x}, {x}, {s}, None, None, m(3), m(3), 1e-5)",
)

# --- rows and images --------------------------------------------------------------------------

_OFFSETS: Final = (
    *("[xp.tensor([0, 1, 2])]", "[xp.tensor([0, 2])]", "[xp.tensor([0., 2.])]", "[xp.tensor([])]"),
    *("[xp.tensor([[0, 2]])]", "[xp.tensor([0, 0, 1, 2])]", "[]", "[xp.tensor([0, 2])] * 2"),
)
_ROWS: Final = ("xp.arange(24.).view(2, 3, 4)", "xp.arange(6).view(3, 2).t()", "xp.arange(2.)")
_IMAGES: Final = "i = xp.arange(120.).view(2, 3, 4, 5).fmod(11)\n"
_UNEVEN: Final = "i = (xp.arange({}) * 37 % 101 / 101 - 0.3).view({})"
_SAMPLED: Final = (
    *(
        f"{_UNEVEN.format(120, '2, 3, 4, 5')}\n"
        f"g = (xp.arange(48.) * 53 % 97 / 31 - 1.55).view(2, 4, 3, 2)\n{_CALL}{call}"
        for call in (
            "_grid_sampler_2d_cpu_fallback(i, g, 0, 0, True)",
            "_grid_sampler_2d_cpu_fallback(i, g, 2, 2, False)",
            "_grid_sampler_2d_cpu_fallback_backward(i[:, :, :, :3].square(), i, g, 0, 2, False)",
            "_grid_sampler_2d_cpu_fallback_backward(i[:, :, :, :3].square(), i, g, 2, 1, True)",
            "_grid_sampler_2d_cpu_fallback_backward(i, i, g, 0, 0, True)",
            "_grid_sampler_2d_cpu_fallback_backward(i.long(), i, g.double(), 0, 0, True)",
            "_grid_sampler_2d_cpu_fallback_backward(i[:1, :, :, :3], i, g, 0, 0, True)",
            "_grid_sampler_2d_cpu_fallback(i.to('meta'), g.to('meta'), 0, 0, True)",
            "_grid_sampler_2d_cpu_fallback(i.to('meta'), g, 0, 0, True)",
            "_grid_sampler_2d_cpu_fallback_backward(i, i.to('meta'), g.to('meta'), 0, 0, True)",
        )
    ),
    *(
        f"{_UNEVEN.format(240, '2, 2, 3, 4, 5')}.to(xp.{dtype})\n"
        f"g = (xp.arange(72.) * 53 % 97 / 31 - 1.55).view(2, 2, 3, 2, 3).to(xp.{dtype})\n"
        f"{_CALL}{call}"
        for dtype, call in product(
            ("float32", "bfloat16"),
            (
                "grid_sampler_3d(i, g, 0, 1, False)",
                "grid_sampler_3d(i, g, 2, 2, True)",
                "grid_sampler_3d_backward(i[:, :, :2, :3, :2], i, g, 0, 0, True, [True, True])",
                "grid_sampler_3d_backward(i[:, :, :2, :3, :2], i, g, 2, 0, True, [True, True])",
            ),
        )
    ),
)
_GRIDS: Final = (
    *("xp.arange(48.).view(2, 4, 3, 2).fmod(7).div(4) - 0.7", "xp.ones(2, 0, 3, 2)"),
    *(
        "xp.ones(2, 4, 3, 3)",
        "xp.ones(2, 4, 3, 2).double()",
        "xp.ones(1, 4, 3, 2)",
        "xp.ones(2, 4, 2)",
    ),
)


def texts() -> Iterator[Text]:
    yield from _masked()
    yield from _heads()
    yield from _weights()
    yield from _batches()
    yield from _on_meta()
    yield from _rows_and_images()


def _masked() -> Iterator[Text]:
    for d, m, dim, kind in product(_DTYPES[1:4], _MASKS, ("None", "3", "1"), ("0", "1", "2")):
        text = f"{_SCORES.format(d=d, m=m)}{_CALL}_masked_softmax(x, m, {dim}, {kind})"
        yield "masked softmax", text
    for d, kind in product(_LAYOUTS, ("2", "None", "3")):
        for dim in ("None", "0", "4"):
            call = f"_masked_softmax(x, m, {dim}, {kind})"
            yield "masked softmax", f"{_SCORES.format(d=d, m='x.ge(3)')}{_CALL}{call}"
    for d, m, dim in product(_DTYPES + _LAYOUTS[-4:], ("x.ge(3)", "x", "x.ge(9)"), ("None", "0")):
        if d == "[:0]":
            continue  # divides by zero
        for y in ("x", "x.double()", "x.div(3)"):
            call = f"_masked_softmax_backward(x, {y}, m, {dim})"
            yield "masked softmax", f"{_SCORES.format(d=d, m=m)}{_CALL}{call}"
    x = "x = xp.tensor([[1., 2.], [0, 5.]], requires_grad=True)\n"
    for m in ("x.lt(2)", "x.gt(9)"):
        y = f"{x}y = xp._masked_softmax(x, {m}, 1, 2)\n"
        yield "masked softmax", f"{y}y.pow(3).sum().backward()\n(y, x.grad)"
        yield "masked softmax", f"{y}xp.autograd.grad(y.pow(3).sum(), x, create_graph=True)"
    for out in ("xp.empty(0)", "xp.empty(3)", "xp.empty(0).double()"):
        call = f"_masked_softmax.out(xp.eye(2), xp.eye(2).bool(), 0, 2, out={out})"
        yield "masked softmax", _CALL + call


def _heads() -> Iterator[Text]:
    for d, arguments in product(("", ".double()"), _BY_HEADS):
        text = f"{_HEADS.format(d=d)}{_CALL}_native_multi_head_attention({arguments})"
        yield "attention by heads", text
    for d, arguments in product((".half()", ".bfloat16()", ".long()"), _BY_HEADS[:2]):
        text = f"{_HEADS.format(d=d)}{_CALL}_native_multi_head_attention({arguments})"
        yield "attention by heads", text
    for d, arguments in product(_DTYPES, _RESCALED):
        call = f"_transform_bias_rescale_qkv({arguments})"
        yield "attention by heads", f"{_HEADS.format(d=d)}{_CALL}{call}"
    for arguments, g, f in product(_LAYERS, ("True", "False"), ("True", "False")):
        call = f"_transformer_encoder_layer_fwd({arguments.format(g=g, f=f)})"
        text = f"{_HEADS.format(d='')}{_LAYER.format(d='')}{_CALL}{call}"
        yield "attention by heads", text
    asked = _HEADS.format(d=".detach().requires_grad_()")
    text = f"{asked}xp._native_multi_head_attention(q, q, q, 8, 2, w, b, o, c)[0].sum().backward()"
    yield "attention by heads", text
    for gelu, beta in product(("True", "False"), ("1", "0.5")):
        for d in ("", ".half()", ".long()", ".to('meta')"):
            a, b = (f"xp.arange({n}.).view({s}).sub(4){d}" for n, s in ((6, "2, 3"), (12, "3, 4")))
            for added in ("xp.arange(4.)" + d, "xp.arange(3.)" + d, "xp.arange(4.).double()"):
                call = f"_addmm_activation({added}, {a}, {b}, beta={beta}, use_gelu={gelu})"
                yield "attention by heads", _CALL + call


def _weights() -> Iterator[Text]:
    for (v, g, dim), d, to in product(_WEIGHTS, _DTYPES, ("", ".to('meta')")):
        pair = f"v, g = {v}{d}{to}, {g}{d}{to}\n"
        yield "weights", f"{pair}{_CALL}_weight_norm(v, g, {dim})"
        if "[2.]" in g and not to:
            continue  # of which numbers behind it are read
        if dim != 3 or not to:
            yield "weights", f"{pair}{_CALL}_weight_norm_interface(v, g, {dim})"
            for name in ("interface", "differentiable"):
                for norm in ("g.float()", "g"):
                    call = f"_weight_norm_{name}_backward(v, v.contiguous(), g, {norm}, {dim})"
                    yield "weights", f"{pair}{_CALL}{call}"
    for (v, g, dim), d in product(_WEIGHTS[:3], ("", ".double()")):
        made = _LEARNED.format(v=v + d, g=g + d, dim=dim)
        yield "weights", f"{made}w.pow(3).mul(w + 1).sum().backward()\n(w, v.grad, g.grad)"
        both = "a, b = xp.autograd.grad(w.pow(3).sum(), (v, g), create_graph=True)\n"
        yield "weights", f"{made}{both}(a.pow(2).sum() * b.sum()).backward()\n(v.grad, g.grad)"
    made = _LEARNED.format(v=_WEIGHTS[0][0], g=_WEIGHTS[0][1], dim=0)
    yield "weights", f"{made}xp._weight_norm_interface(v, g, 0)[1].sum().backward()"
    yield "weights", "xp._weight_norm(xp.ones(2, 2), xp.ones(2, 1, device='meta'), 0)"
    for (v, g, dim), d, e in product(_WEIGHTS[4:6], _DTYPES, _DTYPES):
        if d != e:
            call = f"_weight_norm_interface(v, g, {dim})"
            yield "weights", f"v, g = {v}{d}.to('meta'), {g}{e}.to('meta')\n{_CALL}{call}"


def _batches() -> Iterator[Text]:
    for x, d, running in product(_BATCHES, _DTYPES, _RUNNING):
        given = f"x = {x}{d}\nm, v = {running.format(d=d)}\n"
        call = f"{_CALL}batch_norm_update_stats(x, m, v, 0.25)"
        yield "statistics of batches", f"{given}({call}, m, v)"
    for x, place, train in product(_BATCHES[:5], ("0", "1", "2", "3"), ("True", "False")):
        for w, mask in product(("None", "xp.arange(3.)"), ("[True] * 3", "[False, True, True]")):
            s = "xp.ones(3)"
            call = f"({place}, x, x.fmod(3), {w}, {s}, {s}, {s}, {s}, {train}, 1e-5, {mask}, x)"
            name = f"{_CALL}_batch_norm_impl_index_backward"
            yield "statistics of batches", f"x = {x}\n{name}{call}"
    for x, out in product(_BATCHES[:2], ("xp.empty(0)", "xp.empty(3)", "xp.empty(0).double()")):
        call = (
            "_batch_norm_with_update.out(x, None, xp.ones(3), m, v, 0.25, 1e-5, out=xp.empty(0), "
            f"save_mean={out}, save_invstd=xp.empty(0), reserve=xp.empty(0))"
        )
        given = f"x, m, v = {x}, xp.zeros(3), xp.ones(3)\n"
        yield "statistics of batches", f"{given}({_CALL}{call}, m, v)"


def _on_meta() -> Iterator[Text]:
    pairs = [("m(2, 3, 4, 8)", k) for k in _QUERIES] + [
        (q, "m(2, 3, 40, 8)") for q in _QUERIES[1:5]
    ]
    for call, (q, k), f in product(_ON_META, pairs, ("True", "False")):
        yield "layers on meta", f"{_NEW}{_CALL}{call.format(q=q, k=k, f=f)}"
    values = [("m(2, 3, 4, 8)", v) for v in _SHAPED] + [(q, "m(2, 3, 4, 7)") for q in _SHAPED]
    for call, (q, k) in product(_ON_META_TOO, (*values, ("m(3, 4, 8)", "m(3, 4, 5)"))):
        yield "layers on meta", f"{_NEW}{_CALL}{call.format(q=q, k=k)}"
    for bias in _BIASES:
        call = f"_scaled_dot_product_fused_attention_overrideable(q, q, q, {bias}, scale=0.5)"
        yield "layers on meta", f"{_NEW}q = m(2, 3, 4, 8)\n{_CALL}{call}"
    for options in _OPTIONS:
        rest = f"None, q, None, None, 1, 2, q, 0., q, q, 0, True, {options}"
        text = f"q = m(2, 3, 4, 8)\n{_CALL}_efficient_attention_backward(q, q, q, q, {rest})"
        yield "layers on meta", _NEW + text
    for call, f in product(_ON_META, ("True", "False")):
        made = _NEW.replace(", device='meta'", "")
        text = call.format(q="m(2, 3, 4, 8)", k="m(2, 3, 4, 8)", f=f)
        if not text.startswith(
            ("_native_multi_head", "_fused_rms", "_scaled_dot_product_attention")
        ):
            yield "layers of accelerators", f"{made}{_CALL}{text}"
    for call, q in product(_FILLED, (*_QUERIES[:3], "m(3).half()", "m(3).long()", "m(2).cfloat()")):
        yield "filled on meta", f"{_NEW}{_CALL}{call.format(q=q)}"
    for call, x, s in product(_OTHERS, _BATCHES, ("m(3)", "m(4)")):
        text = call.format(x="x", s=s)
        yield "batch norms of others", f"{_NEW}x = {x}.to('meta')\n{_CALL}{text}"
    for call, x in product(_OTHERS, _BATCHES[:2]):
        text = call.format(x="x", s="xp.ones(3)").replace("m(3)", "xp.ones(3)")
        yield "batch norms of others", f"x = {x}\n{_CALL}{text}"


def _rows_and_images() -> Iterator[Text]:
    for x, offsets, longest in product(_ROWS, _OFFSETS, ("[2]", "[1]", "[]")):
        for to in ("", ".to('meta')"):
            given = offsets.replace(")]", f"){to}]")
            call = f"_jagged_to_padded_dense_forward({x}{to}, {given}, {longest}, -1.5)"
            yield "jagged rows", _CALL + call
    for x, offsets, total in product(_ROWS, _OFFSETS, ("None", "2", "3")):
        yield "jagged rows", f"{_CALL}_padded_dense_to_jagged_forward({x}, {offsets}, {total})"
    for grid, mode, padding, corners in product(_GRIDS, "01", "012", ("True", "False")):
        call = f"_grid_sampler_2d_cpu_fallback(i, g, {mode}, {padding}, {corners})"
        yield "a sampler's fallback", f"{_IMAGES}g = {grid}\n{_CALL}{call}"
        backward = call.replace("(i, g", "_backward(xp.ones(2, 3, 4, 3), i, g")
        yield "a sampler's fallback", f"{_IMAGES}g = {grid}\n{_CALL}{backward}"
    for text in _SAMPLED:
        yield "a sampler's fallback", text
    for x, y in product(("xp.ones(2, 3)", "xp.ones(2).half()", "xp.ones(2).long()"), repeat=2):
        for to, call in product(("", ".to('meta')"), ("to_dense_backward", "to_mkldnn_backward")):
            rest = ", None" if call == "to_dense_backward" else ""
            yield "gradients of layouts", f"{_CALL}{call}({x}{to}, {y}{to}{rest})"
    for indices, by_frequency in (("xp.ones(2)", "False"), ("xp.ones(2).long()", "True")):
        call = f"embedding_sparse_backward(xp.ones(2, 3), {indices}, 4, -1, {by_frequency})"
        yield "gradients of layouts", _CALL + call
    for to, sizes in product(("", ".to('meta')"), ("3, 4", "2, 4")):
        turned = f"xp.ones(4, 3).t(){to}"
        wanted = "memory_format=xp.contiguous_format"
        yield "resized", f"{turned}.resize_([{sizes}], {wanted}).stride()"
        yield "resized", f"{turned}.resize_as_(xp.ones({sizes}){to}, {wanted}).stride()"
        if to:
            yield "resized", f"{_CALL}resize_as({turned}, xp.ones({sizes}){to})"
