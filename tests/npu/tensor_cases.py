"""Cases of all other operators: products, reductions, indexing, losses, normalisation, …"""

from __future__ import annotations

import math
from collections.abc import Callable
from ctypes import c_bool, c_float, c_int, c_int8
from typing import Any, Final

import numpy as np

from .sim.cases import Case, Fixed, Out, Ref, T
from .sim.harness import DTYPES, S

__all__ = ["CASES", "TESTED_ELSEWHERE"]

#: Random numbers (their distribution), outputs whose shape is data, masks: tests of their own.
TESTED_ELSEWHERE: Final = {
    "InplaceNormal", "InplaceUniform", "InplaceRandom", "Bernoulli", "InplaceBernoulli",
    "InplaceBernoulliTensor", "Randperm", "Multinomial", "DropoutGenMask", "DropoutGenMaskV2",
    "DropoutDoMask", "MaskedSelect", "Nonzero", "NonzeroV2", "Unique2", "MaxPool2dWithMask",
    "MaxPool2dWithMaskBackward",
}  # fmt: skip

KEEP: Final = c_int8(0)
F32: Final = c_int(DTYPES["float32"])
I64: Final = c_int(DTYPES["int64"])
C64: Final = c_int(DTYPES["complex64"])
A: Final = T(2, 3, 4)
POSITIVE: Final = T(2, 3, 4, low=0.2, high=2)


def ints(*values: Any, dtype: str = "int64") -> Fixed:
    return Fixed(np.array(values, dtype))


def _products() -> list[Case]:
    mix = lambda s, a, b: 2 * s + 0.5 * (a @ b)  # noqa: E731
    rows: list[tuple[str, list[Any], Callable[..., Any]]] = [
        ("Matmul", [T(2, 1, 3, 4), T(5, 4, 2), Out(), KEEP], np.matmul),
        ("Matmul", [T(4), T(5, 4, 2), Out(), KEEP], np.matmul),
        ("Matmul", [T(3, 4), T(4), Out(), KEEP], np.matmul),
        ("Matmul", [T(4), T(4), Out(), KEEP], np.matmul),
        ("Matmul", [T(3, 0), T(0, 2), Out(), KEEP], np.matmul),
        ("Mm", [T(3, 4), T(4, 2), Out(), KEEP], np.matmul),
        ("BatchMatMul", [T(1, 3, 4), T(2, 4, 2), Out(), KEEP], np.matmul),
        ("Mv", [T(3, 4), T(4), Out(), KEEP], np.matmul),
        ("Dot", [T(4), T(4), Out()], np.dot),
        ("Addmm", [T(2), T(3, 4), T(4, 2), S(2.0), S(0.5), Out(), KEEP], mix),
        ("InplaceAddmm", [Ref(3, 2), T(3, 4), T(4, 2), S(2.0), S(0.5), KEEP], mix),
        ("Baddbmm", [T(3, 1), T(2, 3, 4), T(2, 4, 2), S(2.0), S(0.5), Out(), KEEP], mix),
        ("InplaceBaddbmm", [Ref(2, 3, 2), T(2, 3, 4), T(2, 4, 2), S(2.0), S(0.5), KEEP], mix),
        ("Addbmm", [T(3, 2), T(2, 3, 4), T(2, 4, 2), S(2.0), S(0.5), Out(), KEEP],
         lambda s, a, b: 2 * s + 0.5 * (a @ b).sum(0)),
        ("InplaceAddbmm", [Ref(3, 2), T(2, 3, 4), T(2, 4, 2), S(2.0), S(0.5), KEEP],
         lambda s, a, b: 2 * s + 0.5 * (a @ b).sum(0)),
        ("Addmv", [T(3), T(3, 4), T(4), S(0.5), S(2.0), Out(), KEEP], mix),
    ]  # fmt: skip
    counted: dict[str, int] = {}
    cases = []
    for name, arguments, expected in rows:
        counted[name] = counted.get(name, 0) + 1
        note = str(counted[name]) if counted[name] > 1 else ""
        cases.append(Case(name, arguments, expected, note=note, rtol=1e-5, atol=1e-5))
    return cases


def _reductions() -> list[Case]:
    small = T(2, 3, dtype="int64")
    flags = T(2, 3, 4, dtype="bool")
    both = lambda x: (x.max(1), x.argmax(1))  # noqa: E731
    least = lambda x: (x.min(1), x.argmin(1))  # noqa: E731
    return [
        Case("ReduceSum", [A, (0, -1), False, F32, Out()], lambda x: x.sum((0, 2))),
        Case("ReduceSum", [A, (1,), True, F32, Out()], lambda x: x.sum(1, keepdims=True), note="k"),
        Case("ReduceSum", [small, (), False, I64, Out()], np.sum, note="int64"),
        Case("ReduceSum", [flags, (), False, I64, Out("int64")], np.sum, note="bool"),
        Case("ReduceSum", [T(0, 3), (0,), False, F32, Out()], lambda x: x.sum(0), note="empty"),
        Case("ReduceSum", [T(2, 3, dtype="complex64"), (0,), False, c_int(16), Out()],
             lambda x: x.sum(0), note="complex"),
        Case("Mean", [A, (0, 2), True, F32, Out()], lambda x: x.mean((0, 2), keepdims=True)),
        Case("Amax", [A, (0, 2), False, Out()], lambda x: x.max((0, 2))),
        Case("Amin", [A, (), True, Out()], lambda x: x.min(keepdims=True)),
        Case("Any", [flags, (0,), False, Out()], lambda x: x.any(0)),
        Case("All", [flags, (0,), False, Out()], lambda x: x.all(0)),
        Case("LogSumExp", [A, (1,), False, Out()], lambda x: np.log(np.exp(x).sum(1))),
        Case("Max", [A, Out()], np.max),
        Case("Min", [small, Out()], np.min),
        Case("Prod", [T(2, 3), F32, Out()], np.prod, rtol=1e-5),
        Case("ProdDim", [A, 1, True, F32, Out()], lambda x: x.prod(1, keepdims=True), rtol=1e-5),
        Case("ArgMax", [A, 1, False, Out("int64")], lambda x: x.argmax(1)),
        Case("ArgMin", [A, -1, True, Out("int32")], lambda x: x.argmin(2, keepdims=True)),
        Case("MaxDim", [A, 1, False, Out(), Out("int64")], both),
        Case("MinDim", [A, 1, False, Out(), Out("int64")], least),
        Case("Equal", [A, A, Out("bool")], lambda x, y: np.array([(x == y).all()])),
        Case("Var", [A, (0,), True, False, Out()], lambda x: x.var(0, ddof=1), rtol=1e-5),
        Case("VarCorrection", [A, None, 1, False, Out()], lambda x: x.var(ddof=1), rtol=1e-5),
        Case("Std", [A, (0,), 0, False, Out()], lambda x: x.std(0), rtol=1e-5),
        Case("VarMean", [A, (2,), 1, True, Out(), Out()], rtol=1e-5,
             expected=lambda x: (x.var(2, ddof=1, keepdims=True), x.mean(2, keepdims=True))),
        Case("Norm", [A, S(2.0), (0, 1), False, Out()],
             lambda x: np.sqrt((x * x).sum((0, 1))), rtol=1e-5),
        Case("LinalgVectorNorm", [A, S(math.inf), (2,), True, F32, Out()],
             lambda x: np.abs(x).max(2, keepdims=True)),
    ]  # fmt: skip


def softmax(x: np.ndarray, axis: int) -> np.ndarray:
    wide = np.exp(x.astype(np.float64) - x.max(axis, keepdims=True))
    return np.asarray(wide / wide.sum(axis, keepdims=True)).astype(np.float32)


def _along_an_axis() -> list[Case]:
    kept = (A, T(2, 3, 4, low=0, high=1))
    topk = lambda x: (-np.sort(-x, 1)[:, :2], np.argsort(-x, 1)[:, :2])  # noqa: E731
    return [
        Case("Softmax", [A, -1, Out()], lambda x: softmax(x, 2)),
        Case("LogSoftmax", [A, 1, Out()], lambda x: np.log(softmax(x, 1)), atol=1e-5),
        Case("SoftmaxBackward", [*kept, 1, Out()],
             lambda g, y: y * (g - (g * y).sum(1, keepdims=True)), atol=1e-5),
        Case("LogSoftmaxBackward", [*kept, 1, Out()],
             lambda g, y: g - np.exp(y) * g.sum(1, keepdims=True), rtol=1e-5, atol=1e-5),
        Case("Cumsum", [A, 1, F32, Out()], lambda x: x.cumsum(1), atol=1e-5),
        Case("Cumsum", [T(2, 3, dtype="int64"), 0, I64, Out()], lambda x: x.cumsum(0), note="i"),
        Case("Cumsum", [T(2, 3, dtype="complex64"), 1, C64, Out()], lambda x: x.cumsum(1)),
        Case("Cumprod", [A, S(1), F32, Out()], lambda x: x.cumprod(1), rtol=1e-5),
        Case("Cummax", [A, 1, Out(), Out("int64")],
             lambda x: (np.maximum.accumulate(x, 1), _places(x, np.maximum.accumulate(x, 1)))),
        Case("Cummin", [A, 1, Out(), Out("int64")],
             lambda x: (np.minimum.accumulate(x, 1), _places(x, np.minimum.accumulate(x, 1)))),
        Case("Sort", [A, True, 1, False, Out(), Out()], lambda x: (np.sort(x, 1), x.argsort(1))),
        Case("Sort", [T(3, 4, dtype="int64"), True, 1, True, Out(), Out()], note="int64",
             expected=lambda x: (-np.sort(-x, 1), np.argsort(-x, 1, kind="stable"))),
        Case("Argsort", [A, 2, False, Out()], lambda x: x.argsort(2)),
        Case("Topk", [A, 2, 1, True, True, Out(), Out()], topk),
    ]  # fmt: skip


def _places(x: np.ndarray, extremes: np.ndarray) -> np.ndarray:
    """Where along axis 1 each running extreme was met (values are distinct)."""
    return np.argmax(x[:, None] == extremes[:, :, None], axis=2)


def _copies() -> list[Case]:
    cases = [
        Case("InplaceCopy", [Ref(2, 3), T(3, dtype="float16")],
             lambda x, y: np.broadcast_to(y.astype(np.float32), x.shape)),
        Case("InplaceFillScalar", [Ref(2, 3), S(2.5)], lambda x: np.full_like(x, 2.5)),
        Case("InplaceFillScalar", [Ref(2, 3, dtype="int32"), S(7)], lambda x: np.full_like(x, 7),
             note="int32"),
        Case("InplaceFillTensor", [Ref(2, 3), T()], lambda x, v: np.full_like(x, v)),
        Case("InplaceZero", [Ref(2, 3)], np.zeros_like),
        Case("InplaceOne", [Ref(2, 3)], np.ones_like),
        Case("Arange", [S(1), S(8), S(3), Out("int64")], lambda: np.arange(1, 8, 3)),
        Case("Arange", [S(0.0), S(1.0), S(0.25), Out("float32")],
             lambda: np.arange(0, 1, 0.25, np.float32), note="float"),
        Case("Range", [S(1), S(7), S(3), Out("int64")], lambda: np.array([1, 4, 7])),
        Case("Linspace", [S(0.0), S(1.0), 5, Out()], lambda: np.linspace(0, 1, 5, dtype="float32")),
        Case("Eye", [2, 3, Out("float32")], lambda: np.eye(2, 3, dtype="float32")),
    ]  # fmt: skip
    for source in ("float32", "float16", "int64", "uint8", "bool", "complex64"):
        for target in ("float32", "float64", "int32", "bool", "complex128"):
            if source == "complex64" and target != "complex128":
                continue
            arguments = [T(2, 3, dtype=source, low=0), c_int(DTYPES[target]), Out()]
            expected = lambda x, to=target: x.astype(to)  # noqa: E731
            cases.append(Case("Cast", arguments, expected, note=f"{source}-{target}"))
    return cases


def _shapes() -> list[Case]:
    picture = T(2, 4, 5)
    pads = ((0, 0), (3, 1), (1, 2))
    return [
        Case("Permute", [A, (2, 0, 1), Out()], lambda x: x.transpose(2, 0, 1)),
        Case("Expand", [T(3, 1), (2, 3, 4), Out()], lambda x: np.broadcast_to(x, (2, 3, 4))),
        Case("Repeat", [T(2, 3), (2, 1, 2), Out()], lambda x: np.tile(x, (2, 1, 2))),
        Case("RepeatInterleaveIntWithDim", [T(2, 3), 2, 1, 6, Out()], lambda x: x.repeat(2, 1)),
        Case("Slice", [A, 1, -2, 9, 2, Out()], lambda x: x[:, -2::2]),
        Case("SliceV2", [A, (1, 0), (3, 2), (2, 1), (2, 1), Out()], lambda x: x[:, 0:2, 1:3:2]),
        Case("Flip", [A, (0, -1), Out()], lambda x: x[::-1, :, ::-1]),
        Case("Roll", [A, (1, -2), (0, 2), Out()], lambda x: np.roll(x, (1, -2), (0, 2))),
        Case("Roll", [A, (5,), (), Out()], lambda x: np.roll(x, 5), note="flat"),
        Case("Tril", [A, -1, Out()], lambda x: np.tril(x, -1)),
        Case("Triu", [A, 1, Out()], lambda x: np.triu(x, 1)),
        Case("InplaceTril", [Ref(3, 3), 0], np.tril),
        Case("InplaceTriu", [Ref(3, 3), 0], np.triu),
        Case("ConstantPadNd", [A, (1, 2, -1, 3), S(1.5), Out()],
             lambda x: np.pad(x[:, 1:], ((0, 0), (0, 3), (1, 2)), constant_values=1.5)),
        Case("ReflectionPad2d", [picture, (1, 2, 3, 1), Out()],
             lambda x: np.pad(x, pads, mode="reflect")),
        Case("ReplicationPad2d", [picture, (1, 2, 3, 1), Out()],
             lambda x: np.pad(x, pads, mode="edge")),
        Case("Cat", [[A, T(2, 1, 4), T(0)], 1, Out()], lambda x, y, _: np.concatenate((x, y), 1)),
        Case("Cat", [[T(2, dtype="int64"), T(3)], 0, Out("float32")],
             lambda x, y: np.concatenate((x, y)), note="promotes", atol=1e-5),
        Case("Stack", [[T(2, 3), T(2, 3)], -1, Out()], lambda x, y: np.stack((x, y), -1)),
        Case("OneHot", [ints(0, 2, 1), c_int(3), Fixed(np.array([1], "float32")),
                        Fixed(np.array([0], "float32")), -1, Out()],
             lambda i, on, off: np.eye(3, dtype="float32")[i]),
    ]  # fmt: skip


def _put(index: np.ndarray, source: Any, how: str = "set") -> Callable[[np.ndarray], np.ndarray]:
    def change(x: np.ndarray) -> np.ndarray:
        result = x.copy()
        for place in np.ndindex(index.shape):
            to = (index[place], *place[1:])
            value = source[place] if isinstance(source, np.ndarray) else source
            result[to] = {"set": value, "add": result[to] + value, "mul": result[to] * value}[how]
        return result

    return change


def _indexing() -> list[Case]:
    index = np.array([[0, 2, 1], [1, 1, 0]])
    where = Fixed(np.array([[True, False, True]]))
    flags = Fixed(np.array([[True], [False]]))
    weight = T(5, 3)
    tokens = ints([0, 4], [3, 0])
    return [
        Case("SWhere", [where, T(2, 3), T(2, 1, dtype="float16"), Out("float32")], np.where),
        Case("IndexSelect", [A, 1, ints(2, 0, 2), Out()], lambda x, i: x[:, i]),
        Case("Gather", [T(3, 3), 0, Fixed(index), Out()], lambda x, i: np.take_along_axis(x, i, 0)),
        Case("Take", [A, ints([0, 23], [5, 7]), Out()], lambda x, i: x.reshape(-1)[i]),
        Case("Embedding", [weight, tokens, Out()], lambda w, i: w[i]),
        Case("EmbeddingDenseBackward", [T(2, 2, 3), tokens, 5, 4, False, Out()],
             lambda g, i: _embedding_grad(g, i, skip=4)),
        Case("Scatter", [T(3, 3), 0, Fixed(index), T(2, 4), 0, Out()],
             lambda x, i, s: _put(i, s)(x)),
        Case("Scatter", [T(3, 3), 0, Fixed(index), T(2, 3), 2, Out()],
             lambda x, i, s: _put(i, s, "mul")(x), note="multiplies"),
        Case("InplaceScatter", [Ref(3, 3), 0, Fixed(index), T(2, 3), 1],
             lambda x, i, s: _put(i, s, "add")(x)),
        Case("ScatterValue", [T(3, 3), 0, Fixed(index), S(7.5), 0, Out()],
             lambda x, i: _put(i, np.float32(7.5))(x)),
        Case("InplaceScatterValue", [Ref(3, 3), 0, Fixed(index), S(7.5), 0],
             lambda x, i: _put(i, np.float32(7.5))(x)),
        Case("ScatterAdd", [T(3, 3), 0, Fixed(index), T(2, 3), Out()],
             lambda x, i, s: _put(i, s, "add")(x)),
        Case("IndexAdd", [T(2, 3), 1, ints(2, 0, 2, 1), T(2, 4), S(0.5), Out()],
             lambda x, i, s: _index_add(x, i, 0.5 * s)),
        Case("IndexCopy", [T(2, 3), 1, ints(2, 0), T(2, 2), Out()],
             lambda x, i, s: np.stack((s[:, 1], x[:, 1], s[:, 0]), 1)),
        Case("IndexFillTensor", [T(2, 3), 1, (0, -1), S(2.0), Out()],
             lambda x: np.stack((np.full(2, 2, "float32"), x[:, 1], np.full(2, 2, "float32")), 1)),
        Case("InplaceMaskedFillScalar", [Ref(2, 3), flags, S(-1.5)],
             lambda x, m: np.where(m, np.float32(-1.5), x)),
        Case("InplaceMaskedFillTensor", [Ref(2, 3), flags, T()], lambda x, m, v: np.where(m, v, x)),
        Case("Index", [A, [ints(1, 0), T(0), ints(3, -1)], Out()],
             lambda x, i, _, j: x[i, :, j], note="apart"),
        Case("Index", [A, [T(0), ints([1, 0], [2, 2])], Out()], lambda x, _, i: x[:, i]),
        Case("Index", [A, [Fixed(np.array([[1, 0, 1], [0, 0, 1]], bool))], Out()],
             lambda x, m: x[m], note="mask"),
        Case("IndexPutImpl", [Ref(2, 3, 4), [T(0), ints(2, 0)], T(2, 4), False, False],
             lambda x, _, i, v: np.stack((np.broadcast_to(v[1], (2, 4)), x[:, 1],
                                          np.broadcast_to(v[0], (2, 4))), 1)),
        Case("IndexPutImpl", [Ref(3, 2), [ints(2, 0, 2)], T(3, 2), True, False],
             lambda x, i, v: _index_add(x.T, i, v.T).T, note="adds"),
        Case("Bincount", [ints(1, 3, 1), None, 5, Out("int64")],
             lambda x: np.bincount(x, minlength=5)),
        Case("SplitTensor", [A, 2, 1, [Out(), Out()]], lambda x: [x[:, :2], x[:, 2:]]),
        Case("SplitWithSize", [A, (1, 2), 1, [Out(), Out()]], lambda x: [x[:, :1], x[:, 1:]]),
    ]  # fmt: skip


def _embedding_grad(grad: np.ndarray, tokens: np.ndarray, skip: int) -> np.ndarray:
    result = np.zeros((5, 3), np.float32)
    for place in np.ndindex(tokens.shape):
        if tokens[place] != skip:
            result[tokens[place]] += grad[place]
    return result


def _index_add(x: np.ndarray, index: np.ndarray, source: np.ndarray) -> np.ndarray:
    result = x.copy()
    for i, place in enumerate(index):
        result[:, place] += source[:, i]
    return result


def _losses() -> list[Case]:
    x, y = T(3, 4), T(3, 4)
    chance, hit = T(3, 4, low=0.1, high=0.9), T(3, 4, low=0, high=1)
    targets = ints(1, 3, 0)
    bce = lambda p, t: -(t * np.log(p) + (1 - t) * np.log(1 - p))  # noqa: E731
    logits = lambda z, t: bce(1 / (1 + np.exp(-z.astype("float64"))), t)  # noqa: E731
    single = lambda f: lambda *arrays: np.asarray(f(*arrays)).astype("float32")  # noqa: E731
    smooth = lambda d: np.where(abs(d) < 0.5, d * d, abs(d) - 0.25)  # noqa: E731
    each = np.arange(3)
    return [
        Case("MseLoss", [x, y, 1, Out()], lambda a, b: np.mean((a - b) ** 2)),
        Case("MseLoss", [x, y, 0, Out()], lambda a, b: (a - b) ** 2, note="none"),
        Case("MseLossBackward", [T(), x, y, 1, Out()], lambda g, a, b: g * 2 * (a - b) / 12),
        Case("L1Loss", [x, y, 2, Out()], lambda a, b: np.abs(a - b).sum(), rtol=1e-5),
        Case("L1LossBackward", [x, x, y, 0, Out()], lambda g, a, b: g * np.sign(a - b)),
        Case("SmoothL1Loss", [x, y, 1, c_float(0.5), Out()],
             single(lambda a, b: smooth(a - b).mean())),
        Case("SmoothL1LossBackward", [T(), x, y, 2, c_float(0.5), Out()],
             lambda g, a, b: g * np.clip((a - b) / np.float32(0.5), -1, 1)),
        Case("KlDiv", [x, hit, 3, c_bool(False), Out()],
             single(lambda a, b: (b * (np.log(b) - a)).sum() / 3), rtol=1e-5),
        Case("BinaryCrossEntropy", [chance, hit, None, 1, Out()],
             single(lambda a, b: bce(a, b).mean())),
        Case("BinaryCrossEntropyBackward", [T(), chance, hit, None, 1, Out()],
             lambda g, a, b: g * (a - b) / (a * (1 - a)) / 12, rtol=1e-5),
        Case("BinaryCrossEntropyWithLogits", [x, hit, T(4, low=0), None, 0, Out()],
             single(lambda a, b, w: w * logits(a, b)), rtol=1e-5, atol=1e-5),
        Case("NLLLoss", [x, targets, T(4, low=0.5), 1, -100, Out(), Out()],
             single_pair(lambda a, t, w: (-(w[t] * a[each, t]).sum() / w[t].sum(), w[t].sum()))),
        Case("NLLLoss", [x, targets, T(4, low=0.5), 0, 3, Out(), Out()], note="ignores",
             expected=single_pair(lambda a, t, w: (np.where(t == 3, 0, -w[t] * a[each, t]),
                                                   np.where(t == 3, 0, w[t]).sum()))),
        Case("NLLLossBackward", [T(), x, targets, T(4, low=0.5), 1, -100, T(low=1), Out()],
             single(lambda g, a, t, w, total: np.where(
                 np.arange(4) == t[:, None], -g * w / total, 0))),
    ]  # fmt: skip


def single_pair(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *arrays: [np.asarray(each).astype("float32") for each in function(*arrays)]


def _layer(x: np.ndarray, w: np.ndarray, b: np.ndarray) -> list[np.ndarray]:
    mean = x.mean(-1, keepdims=True)
    rstd = 1 / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
    return [(x - mean) * rstd * w + b, mean, rstd]


def _normalized_grad(slope: np.ndarray, x: np.ndarray, axes: Any) -> np.ndarray:
    """Of (x - mean) / sqrt(var + 1e-5), by the chain rule written out."""
    mean, variance = x.mean(axes, keepdims=True), x.var(axes, keepdims=True) + 1e-5
    y = (x - mean) / np.sqrt(variance)
    centred = slope - slope.mean(axes, keepdims=True) - y * (slope * y).mean(axes, keepdims=True)
    return np.asarray(centred / np.sqrt(variance))


def _layer_backward(g: np.ndarray, x: np.ndarray, *rest: np.ndarray) -> list[np.ndarray]:
    mean, rstd, w, _ = rest
    # The statistics are arguments: the formula in terms of them.
    y = (x - mean) * rstd
    slope = g * w
    terms = slope.mean(-1, keepdims=True) + y * (slope * y).mean(-1, keepdims=True)
    return [rstd * (slope - terms), (g * y).sum((0, 1)), g.sum((0, 1))]


def _norms() -> list[Case]:
    x, w = T(2, 3, 4), T(4, low=0.5)
    statistic = T(2, 3, 1, low=0.5, high=2)
    image = T(2, 3, 4, 5)
    mask = [True, True, True]
    outs = [Out(), Out(), Out()]
    channels = T(3, low=0.5, high=2)
    return [
        Case("LayerNorm", [x, (4,), w, T(4), 1e-5, Out(), Out(), Out()], _layer,
             rtol=1e-4, atol=1e-4),
        Case("LayerNorm", [x, (4,), None, None, 1e-5, Out(), None, None], note="bare",
             expected=lambda a: _layer(a, np.float32(1), np.float32(0))[0], rtol=1e-4, atol=1e-4),
        Case("LayerNormBackward", [x, x, (4,), statistic, statistic, w, T(4), mask, *outs],
             _layer_backward, rtol=1e-4, atol=1e-4),
        Case("RmsNorm", [x, w, 1e-5, Out(), Out()], rtol=1e-4, atol=1e-4, expected=lambda a, g: (
            a / np.sqrt((a * a).mean(-1, keepdims=True) + 1e-5) * g,
            1 / np.sqrt((a * a).mean(-1, keepdims=True) + 1e-5))),
        Case("RmsNormGrad", [x, x, statistic, w, Out(), Out()], rtol=1e-4, atol=1e-4,
             expected=lambda g, a, r, w: (
                 r * (g * w - a * r * (g * w * a * r).mean(-1, keepdims=True)),
                 (g * a * r).sum((0, 1)))),
        Case("BatchNorm", [image, channels, T(3), Ref(3), Ref(3, low=0.5), True, 0.1, 1e-5,
                           Out(), Out(), Out()], _batch_norm, rtol=1e-4, atol=1e-4),
        Case("BatchNormBackward", [image, image, channels, None, None, T(3), channels, True, 1e-5,
                                   mask, *outs], _batch_backward, rtol=1e-3, atol=1e-3),
        Case("GroupNorm", [T(2, 4, 5), T(4), T(4), 2, 4, 5, 2, 1e-5, Out(), Out(), Out()],
             _group_norm, rtol=1e-4, atol=1e-4),
        Case("GroupNormBackward", [T(2, 4, 5), T(2, 4, 5), T(2, 2), T(2, 2, low=0.5), T(4),
                                   2, 4, 5, 2, mask, *outs], _group_backward, rtol=1e-3, atol=1e-3),
    ]  # fmt: skip


def _batch_norm(x: np.ndarray, w: np.ndarray, b: np.ndarray, mean: np.ndarray, var: np.ndarray):
    here, spread = x.mean((0, 2, 3)), x.var((0, 2, 3))
    shape = (1, 3, 1, 1)
    y = (x - here.reshape(shape)) / np.sqrt(spread + 1e-5).reshape(shape)
    moved = [0.9 * mean + 0.1 * here, 0.9 * var + 0.1 * x.var((0, 2, 3), ddof=1)]
    return [*moved, y * w.reshape(shape) + b.reshape(shape), here, spread]


def _batch_backward(g: np.ndarray, x: np.ndarray, w: np.ndarray, mean: np.ndarray, var: np.ndarray):
    shape, axes = (1, 3, 1, 1), (0, 2, 3)
    rstd = 1 / np.sqrt(var + 1e-5).reshape(shape)
    y = (x - mean.reshape(shape)) * rstd
    slope = g * w.reshape(shape)
    terms = slope.mean(axes, keepdims=True) + y * (slope * y).mean(axes, keepdims=True)
    return [rstd * (slope - terms), (g * y).sum(axes), g.sum(axes)]


def _group_norm(x: np.ndarray, w: np.ndarray, b: np.ndarray) -> list[np.ndarray]:
    groups = x.reshape(2, 2, 10)
    mean, rstd = groups.mean(2), 1 / np.sqrt(groups.var(2) + 1e-5)
    y = ((groups - mean[..., None]) * rstd[..., None]).reshape(2, 4, 5)
    return [y * w[:, None] + b[:, None], mean, rstd]


def _group_backward(
    g: np.ndarray, x: np.ndarray, mean: np.ndarray, rstd: np.ndarray, w: np.ndarray
) -> list[np.ndarray]:
    y = (x.reshape(2, 2, 10) - mean[..., None]) * rstd[..., None]
    slope = (g * w[:, None]).reshape(2, 2, 10)
    terms = slope.mean(2, keepdims=True) + y * (slope * y).mean(2, keepdims=True)
    result = (rstd[..., None] * (slope - terms)).reshape(2, 4, 5)
    flat = y.reshape(2, 4, 5)
    return [result, (g * flat).sum((0, 2)), g.sum((0, 2))]


def _convolve(x: np.ndarray, w: np.ndarray, b: Any, stride: int, pad: int, dilation: int):
    """Written with windows: [N, C, H, W] by [O, C, h, w]."""
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    size = [(n - 1) * dilation + 1 for n in w.shape[2:]]
    windows = np.lib.stride_tricks.sliding_window_view(x, size, (2, 3))
    windows = windows[:, :, ::stride, ::stride, ::dilation, ::dilation]
    result = np.einsum("nchwij,ocij->nohw", windows, w)
    return result + (0 if b is None else b[None, :, None, None])


def _convolution_grads(g: np.ndarray, x: np.ndarray, w: np.ndarray) -> list[np.ndarray]:
    """A product is linear in each factor: unit vectors give the gradients."""
    grads = []
    for which, array in enumerate((x, w)):
        grad = np.zeros_like(array)
        for place in np.ndindex(array.shape):
            unit = np.zeros_like(array)
            unit[place] = 1
            pair = (unit, w) if which == 0 else (x, unit)
            grad[place] = (g * _convolve(*pair, None, 2, 1, 1)).sum()
        grads.append(grad)
    return [*grads, g.sum((0, 2, 3))]


def _convolutions() -> list[Case]:
    x, w = T(2, 2, 5, 4), T(3, 2, 3, 2)
    two = lambda n: (n, n)  # noqa: E731
    plain = [two(2), two(1), two(1), False, two(0)]
    return [
        Case("Convolution", [x, w, T(3), *plain, 1, Out(), KEEP], rtol=1e-4, atol=1e-4,
             expected=lambda a, b, c: _convolve(a, b, c, 2, 1, 1)),
        Case("Convolution", [x, w, None, two(1), two(2), two(2), False, two(0), 1, Out(), KEEP],
             lambda a, b: _convolve(a, b, None, 1, 2, 2), note="dilated", rtol=1e-4, atol=1e-4),
        Case("Convolution", [x, T(4, 1, 3, 2), None, *plain, 2, Out(), KEEP], note="groups",
             expected=lambda a, b: np.concatenate(
                 [_convolve(a[:, i : i + 1], b[2 * i : 2 * i + 2], None, 2, 1, 1)
                  for i in range(2)], 1), rtol=1e-4, atol=1e-4),
        Case("Convolution", [T(1, 2, 5), T(3, 2, 2), None, (1,), (0,), (1,), False, (0,), 1, Out(),
                             KEEP], note="1d", rtol=1e-4, atol=1e-4,
             expected=lambda a, b: _convolve(a[:, :, None], b[:, :, None], None, 1, 0, 1)[:, :, 0]),
        Case("Convolution", [T(2, 3, 3, 3), T(3, 2, 3, 2), None, two(2), two(1), two(1), True,
                             two(0), 1, Out(), KEEP], _transposed, note="transposed",
             rtol=1e-4, atol=1e-4),
        Case("ConvolutionBackward", [T(2, 3, 3, 3), x, w, None, *plain, c_int(1),
                                     [True, True, True], KEEP, Out(), Out(), Out()],
             _convolution_grads, rtol=1e-4, atol=1e-4, layouts=("contiguous",)),
        Case("AvgPool2d", [T(2, 4, 5), two(2), (), (1, 0), True, True, 0, KEEP, Out()],
             lambda a: _average(a, True)),
        Case("AvgPool2d", [T(2, 4, 5), two(2), (), (1, 0), True, False, 0, KEEP, Out()],
             lambda a: _average(a, False), note="unpadded"),
        Case("AvgPool2dBackward", [T(2, 2, 2), T(2, 4, 5), two(2), (), two(0), False, True, 0,
                                   KEEP, Out()],
             lambda g, a: np.pad(g.repeat(2, 1).repeat(2, 2) / 4, ((0, 0), (0, 0), (0, 1)))),
        Case("AdaptiveAvgPool2d", [T(2, 4, 5), (2, 2), Out()], lambda a: np.stack(
            [np.stack([a[:, i : i + 2, j : j + 3].mean((1, 2)) for j in (0, 2)], 1)
             for i in (0, 2)], 1)),
        Case("MaxPool2dWithIndices", [T(2, 4, 4), two(2), two(2), two(0), two(1), False, Out(),
                                      Out("int64")], _max_pool),
    ]  # fmt: skip


def _transposed(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Each input element adds its weights where the convolution would have read it."""
    result = np.zeros((2, 2, 7, 6), np.float32)
    for n, c, i, j in np.ndindex(x.shape):
        result[n, :, 2 * i : 2 * i + 3, 2 * j : 2 * j + 2] += x[n, c, i, j] * w[c]
    return result[:, :, 1:-1, 1:-1]


def _average(x: np.ndarray, count_padding: bool) -> np.ndarray:
    """A row of padding above and below; the last windows reach one column beyond."""
    padded = np.pad(x, ((0, 0), (1, 1), (0, 1)))
    counted = np.pad(np.ones_like(x), ((0, 0), (1, 1), (0, 1)))
    if count_padding:
        counted[:, :, :-1] = 1
    view = np.lib.stride_tricks.sliding_window_view
    sums = [view(each, (2, 2), (1, 2))[:, ::2, ::2].sum((3, 4)) for each in (padded, counted)]
    return np.asarray(sums[0] / sums[1])


def _max_pool(x: np.ndarray) -> list[np.ndarray]:
    windows = np.lib.stride_tricks.sliding_window_view(x, (2, 2), (1, 2))[:, ::2, ::2]
    flat = windows.reshape(*windows.shape[:3], 4)
    best = flat.argmax(-1)
    rows = 2 * np.arange(2)[:, None] + best // 2
    return [flat.max(-1), rows * 4 + 2 * np.arange(2) + best % 2]


def _adamw() -> Case:
    def step(x: np.ndarray, m: np.ndarray, v: np.ndarray, g: np.ndarray, _: np.ndarray):
        m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
        update = m / (1 - 0.9**3) / (np.sqrt(v / (1 - 0.99**3)) + 1e-8)
        return [x * (1 - 0.1 * 0.01) - 0.1 * update, m, v]

    state = [Ref(2, 3), Ref(2, 3), Ref(2, 3, low=0)]
    settings = [c_float(value) for value in (0.1, 0.9, 0.99, 0.01, 1e-8)]
    arguments = [*state, None, T(2, 3), ints(2), *settings, False, False]
    return Case("ApplyAdamWV2", arguments, step, rtol=1e-4, atol=1e-4)


CASES: Final = [
    *_products(), *_reductions(), *_along_an_axis(), *_copies(), *_shapes(), *_indexing(),
    *_losses(), *_norms(), *_convolutions(), _adamw(),
]  # fmt: skip
