"""Extracts which Python function runs at Meta for an operator, and how it is wrapped.

Mirrors ``activate_meta`` in torch/_meta_registrations.py, which registers the functions of
torch/_refs, torch/_decomp and its own there, and the wrappers of torch/_prims_common/wrappers.py.
"""

from collections.abc import Callable, Iterator
from inspect import signature
from math import prod
from types import FunctionType
from typing import Any

import torch
from torch._decomp import global_decomposition_table
from torch._prims_common import wrappers

from conformance.extract import said
from conformance.extract._asking import holds

#: Which registration counts of several.
PRECEDENCE = ("meta", "post_autograd", "pre_autograd")

#: Wrappers that change nothing of what comes out for tensors.
PLAIN = (
    "_convert_out_params",
    "_disable_dynamo",
    "elementwise_unary_scalar_wrapper",
    "_inplace_wrapper",
)
#: Makers of elementwise functions, which differ by their names alone.
ELEMENTWISE = ("_make_elementwise_unary_reference", "_make_elementwise_binary_reference")


#: Questions about the bodies of functions that releases answer differently.
HABITS: dict[str, Callable[[], object]] = {
    "an integer takes no float in place": lambda: meta(torch.int64).add_(meta(torch.float32)),
    "two truth values are not subtracted": lambda: meta(torch.bool) - meta(torch.bool),
    "a mean goes into its own dtype": lambda: torch.mean(
        meta(torch.float32), 0, out=meta(torch.float64, 0)
    ),
    "bmm looks at dtypes": lambda: torch.bmm(
        torch.empty(1, 1, 1, device="meta"),
        torch.empty(1, 1, 1, device="meta", dtype=torch.float64),
    ),
    "embedding looks at its indices": lambda: torch.embedding(shaped(2, 2), shaped(2)),
    "addr looks at truth values": lambda: torch.addr(
        meta(torch.int64), meta(torch.int64), meta(torch.int64), beta=True
    ),
    "the device of an output is looked at first": lambda: torch.add(
        meta(torch.float32, 2), meta(torch.float32, 3), out=torch.empty(2)
    ),
    "a number of the CPU stays there": lambda: wrappers._safe_copy_out(
        copy_from=torch.ones(()), copy_to=shaped()
    ),
}

#: Messages whose words are the release's.
WORDS: dict[str, Callable[[], object]] = {
    "gather by floats": lambda: meta(torch.float32).gather(0, meta(torch.float32)),
    "gather with a large index": lambda: shaped(1, 1).gather(0, shaped(1, 2).long()),
    "scatter by floats": lambda: meta(torch.float32).scatter(0, meta(torch.float32), 1),
    "scatter a number with a large index": lambda: (
        shaped(1, 1).scatter(0, shaped(1, 2).long(), 1)
    ),
    "scatter a tensor with a large index": lambda: (
        shaped(1, 1).scatter(0, shaped(1, 2).long(), shaped(3, 3))
    ),
    "scatter a small tensor": lambda: (shaped(2, 2).scatter(0, shaped(1, 2).long(), shaped(1, 1))),
    "masked_scatter from another dtype": lambda: (
        shaped(1).masked_scatter(shaped(1).bool(), shaped(1).long())
    ),
    "max_pool2d without dilation": lambda: torch.max_pool2d(shaped(1, 1, 2, 2), 1, dilation=0),
    "topk of less than nothing": lambda: shaped(2).topk(-1),
    "topk of more than there is": lambda: shaped(2).topk(3),
    "multinomial of a number": lambda: shaped().multinomial(1),
    "a truth value takes a number in place": lambda: meta(torch.bool).add_(meta(torch.int64)),
    "a truth value less another": lambda: meta(torch.bool) - meta(torch.bool),
    "a minus sign before a truth value": lambda: -meta(torch.bool),
    "hardtanh of truth values": lambda: torch.nn.functional.hardtanh(meta(torch.bool)),
    "vector_norm of integers": lambda: torch.linalg.vector_norm(meta(torch.int64)),
    "vector_norm in integers": lambda: (
        torch.linalg.vector_norm(meta(torch.float32), dtype=torch.int64)
    ),
    "more labels than rows": lambda: torch._C._nn.nll_loss(shaped(2, 3), shaped(5).long()),
    "more arguments than a wrapper binds": lambda: torch.ops.aten.add.Scalar_out(
        shaped(1), 1, 2, out=shaped(1)
    ),
    "cat of other sizes": lambda: torch.cat([shaped(5, 5), shaped(5, 6)]),
    "stack of other sizes": lambda: torch.stack([shaped(2), shaped(3)], out=shaped(0)),
    "a size of less than nothing": lambda: torch.full([-1], 1, out=shaped(1)),
    "im2col without a kernel": lambda: (
        torch.ops.aten.im2col(shaped(1, 2, 3), [0, 1], [1, 1], [0, 0], [1, 1])
    ),
    "im2col of an image that has no block": lambda: (
        torch.ops.aten.im2col(shaped(1, 2, 3), [4, 5], [6, 7], [0, 1], [8, 9])
    ),
    "col2im without a kernel": lambda: (
        torch.ops.aten.col2im(shaped(1, 1, 1), [2, 3], [0, 1], [1, 1], [0, 0], [1, 1])
    ),
    "pixel_shuffle by nothing": lambda: torch.pixel_shuffle(shaped(1, 1, 1), 0),
    "pixel_shuffle by too much": lambda: torch.pixel_shuffle(shaped(1, 1, 1), 3037000500),
    "pixel_unshuffle by nothing": lambda: torch.pixel_unshuffle(shaped(1, 1, 1), 0),
    "pixel_shuffle of a matrix": lambda: torch.pixel_shuffle(shaped(5, 7), 3),
    "pixel_shuffle of too few channels": lambda: torch.pixel_shuffle(shaped(5, 7, 8), 3),
    "split_with_sizes_copy into less than nothing": lambda: (
        torch.split_with_sizes_copy(shaped(2), [3, -1])
    ),
    "split_with_sizes_copy into too much": lambda: torch.split_with_sizes_copy(shaped(7), [8]),
    "searchsorted in other rows": lambda: torch.searchsorted(shaped(1, 2), shaped(3, 4)),
    "searchsorted by a larger order": lambda: (
        torch.searchsorted(shaped(2), shaped(1), sorter=shaped(3).long())
    ),
    "searchsorted on both sides": lambda: (
        torch.searchsorted(shaped(2), shaped(1), side="left", right=True)
    ),
    "histc from a number to a lesser one": lambda: shaped(2).histc(min=1, max=0),
    "avg_pool2d of bytes": lambda: torch._C._nn.avg_pool2d(meta(torch.uint8)[None, None], 1),
    "polar of integers": lambda: torch.polar(meta(torch.float32), meta(torch.int64)),
    "polar of two dtypes": lambda: torch.polar(meta(torch.float32), meta(torch.float64)),
    "isposinf of complex numbers": lambda: torch.isposinf(meta(torch.complex64)),
    "fft of real numbers": lambda: torch.ops.aten._fft_c2c(shaped(2), [0], 0, True),
}

#: Questions with yes or no for an answer.
ANSWERS: dict[str, Callable[[], bool]] = {
    "fill_ takes anything": lambda: (
        not is_refused(lambda: meta(torch.float32).fill_(meta(torch.float32)))
    ),
    "zeros on meta lie as the tensor does": lambda: (
        torch.ops.aten.zero(shaped(2, 3).t()).stride() == (1, 3)
    ),
    "gradients of a convolution lie as it does": lambda: (
        torch.ops.aten.convolution_backward(
            *[shaped(1, 2, 2, 2).to(memory_format=torch.channels_last)] * 3,
            *(None, [1], [1], [1], False, [0], 1, [True, False, False]),
        )[0].stride(1)
        == 1
    ),
    "a correction is not negative": lambda: (
        raised(lambda: meta(torch.float32).var(correction=-1)) == "ValueError"
    ),
    "a dimension is asserted": lambda: (
        raised(lambda: meta(torch.float32).cummax(3)) == "AssertionError"
    ),
    "trace tells the number of dimensions": lambda: (
        "{" not in raised(lambda: meta(torch.float32).trace(), message=True)
    ),
    "a loss of logits has the target's dtype": lambda: (
        torch.nn.functional.binary_cross_entropy_with_logits(
            meta(torch.float64, 1), shaped(1)
        ).dtype
        is torch.float32
    ),
    "log_sigmoid_backward reads its buffer": lambda: (
        raised(lambda: torch.ops.aten.log_sigmoid_backward(*[meta(torch.bool)] * 3)) == ""
    ),
    "a norm looks at no dimension from the end": lambda: (
        raised(lambda: torch.linalg.vector_norm(meta(torch.float32, 0)[None], -1, 0)) == ""
        and raised(lambda: torch.linalg.vector_norm(meta(torch.float32, 0)[None], -1, -2)) != ""
    ),
    "a norm over one element is its size": lambda: (
        raised(lambda: torch.linalg.vector_norm(meta(torch.float32, 1), 3, (0, 0))) == ""
    ),
    "a norm over one element counts from the end": lambda: (
        torch.linalg.vector_norm(shaped(2, 1), 3, (-1,)).dim() == 1
    ),
    "a norm of one element has its dtype": lambda: (
        torch.linalg.vector_norm(meta(torch.float16, 1), 3).dtype is torch.float16
    ),
    "a norm has words for what has no identity": lambda: (
        raised(lambda: torch.linalg.vector_norm(meta(torch.float32, 0), -1)) == "RuntimeError"
    ),
    "a norm tells the dtype that is too narrow": lambda: (
        "{" not in raised(lambda: meta(torch.float64).norm(dtype=torch.float32), message=True)
    ),
    "scatter counts the dimensions of its source": lambda: (
        raised(lambda: shaped(1, 1).scatter(0, shaped(1, 1).long(), shaped(1))) == "RuntimeError"
    ),
    "assertions say what they ask": lambda: (
        raised(
            lambda: torch.native_batch_norm(shaped(1, 1), *(None,) * 4, False, 0.1, 0), message=True
        )
        != ""
    ),
    "softmax makes floats of bfloat16": lambda: (
        raised(lambda: torch._softmax(meta(torch.bfloat16), 0, True)) == ""
    ),
    "index_copy looks at its source": lambda: (
        raised(lambda: shaped(2).index_copy(0, shaped(1).long(), shaped(2))) == "RuntimeError"
    ),
    "index_fill keeps strides that leave no gaps only": lambda: (
        shaped(2, 4)[:, ::2].t().index_fill(0, shaped(1).long(), 1).stride() == (2, 1)
    ),
    "a convolution looks at its window": lambda: (
        "Kernel size"
        in raised(lambda: torch.conv1d(shaped(1, 1, 2), shaped(1, 1, 3)), message=True)
    ),
    "an extreme looks at its output first": lambda: (
        "Expected the dtype"
        in raised(lambda: torch.amin(meta(torch.int64), 5, out=meta(torch.float32)), message=True)
    ),
    "in place nothing is resized": lambda: (
        "doesn't match the broadcast shape"
        in raised(lambda: shaped(1).div_(shaped(2), rounding_mode="floor"), message=True)
    ),
    "what is added to a product is expanded": lambda: (
        raised(lambda: torch.addmv(shaped(1, 2), shaped(2, 2), shaped(2))) == "RuntimeError"
    ),
    "addmv takes two dtypes on meta": lambda: (
        not raised(lambda: torch.addmv(shaped(1), shaped(1, 1), meta(torch.float64, 1)))
    ),
    "nothing is added to an empty product": lambda: (
        torch.addmv(shaped(1), shaped(0, 0), shaped(0)).shape == (1,)
    ),
    "nansum over no dimension is over all": lambda: not meta(torch.float32).nansum([]).shape,
    "clamp looks at an integer's range": lambda: (
        raised(lambda: meta(torch.uint8).clamp(max=-1)) == "RuntimeError"
    ),
    "complex is elementwise on meta": lambda: (
        torch.complex(shaped(2, 3).t(), shaped(2, 3).t()).stride() == (1, 3)
    ),
    "an index on meta lies as the tensor does": lambda: (
        shaped(2, 3, 4).transpose(0, 1)[:, :, torch.zeros(1).long()].stride(0) == 1
    ),
    "nonzero_static goes by columns": lambda: (
        torch.nonzero_static(shaped(2, 2), size=3).stride() == (1, 3)
    ),
    "a convolution looks at its output": lambda: (
        "too small"
        in raised(lambda: torch.conv1d(shaped(1, 1, 2), shaped(1, 1, 1), stride=-1), message=True)
    ),
    "channels last is looked for beside contiguous": lambda: (
        torch.empty(1, 3, 1, 1, device="meta").transpose(0, -1).exp().stride() == (1, 1, 1, 3)
    ),
    "repeat looks at its counts on meta": lambda: raised(
        lambda: shaped(2, 3).repeat(-1, 2), message=True
    ).startswith("Repeats"),
    "a pool forgets to format what it got": lambda: (
        "{dH}" in raised(lambda: torch._C._nn.avg_pool2d(shaped(1, 2, 2), 1, -1), message=True)
    ),
    "a gradient of a convolution looks at that of its output": lambda: (
        convolution_gradient(row_major(4), of_pixels(4)).is_contiguous()
        and not convolution_gradient(of_pixels(4), row_major(4)).is_contiguous()
    ),
    "gradients of a convolution of volumes lie as it does": lambda: (
        not convolution_gradient(of_pixels(5), of_pixels(5)).is_contiguous()
    ),
    "a transposed convolution looks at what it adds": lambda: (
        "output padding"
        in raised(
            lambda: torch.conv_transpose1d(shaped(1, 1, 2), shaped(1, 1, 1), output_padding=1),
            message=True,
        )
    ),
    "a transposed convolution looks at its bias": lambda: (
        "bias"
        in raised(
            lambda: torch.conv_transpose1d(shaped(1, 1, 2), shaped(1, 1, 1), shaped(2)),
            message=True,
        )
    ),
    "pixel_shuffle looks at its factor": lambda: (
        "factor" in raised(lambda: torch.pixel_shuffle(shaped(1, 1, 1), 0), message=True)
    ),
    "pixel_shuffle looks at its output": lambda: (
        "negative" not in raised(lambda: torch.pixel_shuffle(shaped(1, 1, 1), -1), message=True)
    ),
    "split_with_sizes_copy splits in Python": lambda: (
        raised(lambda: torch.split_with_sizes_copy(shaped(), [1])) == "IndexError"
        and raised(lambda: torch.split_with_sizes(shaped(), [1])) != "IndexError"
    ),
    "gradients of a layer norm's parameters are like these": lambda: (
        torch.ops.aten.native_layer_norm_backward(
            *(*[torch.ones(2, 3, dtype=torch.bfloat16, device="meta")] * 2, [3]),
            *[torch.ones(*size, device="meta") for size in ((2, 1), (2, 1), (3,), (3,))],
            [True] * 3,
        )[1].dtype
        is torch.float32
    ),
    "channels last is told by steps": lambda: (
        torch._prims_common.suggest_memory_format(
            torch.empty_strided((1, 2, 2, 2), (8, 1, 4, 1), device="meta")
        )
        is torch.channels_last
    ),
    "avg_pool2d on meta takes no bytes": lambda: (
        raised(lambda: torch._C._nn.avg_pool2d(meta(torch.uint8)[None, None], 1)) != ""
    ),
    "a layer norm on meta takes no complex numbers": lambda: (
        raised(lambda: torch.native_layer_norm(meta(torch.complex64), [2], None, None, 1)) != ""
    ),
    "reflection on meta wants every dimension": lambda: (
        raised(lambda: torch.ops.aten.reflection_pad2d(shaped(1, 1, 2, 2), [0, 0, -1, -1])) != ""
    ),
    "replication on meta wants every dimension": lambda: (
        raised(lambda: torch.ops.aten.replication_pad2d(shaped(1, 1, 2, 2), [0, 0, -1, -1])) != ""
    ),
    "gradients of padding on meta look at channels": lambda: (
        raised(
            lambda: torch.ops.aten.reflection_pad1d_backward(
                shaped(2, 1, 2), shaped(1, 2, 2), [0, 0]
            )
        )
        != ""
    ),
    "replication on meta takes no bool": lambda: (
        raised(lambda: torch.ops.aten.replication_pad1d(meta(torch.bool)[None], [1, 1])) != ""
    ),
    "ldexp on meta has powers of the dtype": lambda: (
        torch.ldexp(meta(torch.float16), meta(torch.int64)).dtype is torch.float16
    ),
    "nan_to_num_ on meta takes complex": lambda: (
        raised(lambda: meta(torch.complex64).nan_to_num_()) == ""
    ),
    "polar looks at its dtypes": lambda: (
        raised(lambda: torch.polar(meta(torch.float16), meta(torch.bfloat16))) != ""
    ),
    "searchsorted on meta looks at shapes": lambda: (
        raised(lambda: torch.searchsorted(shaped(1, 2), shaped(3, 4))) != ""
    ),
    "a group norm looks at its channels on meta": lambda: (
        "channels" in raised(lambda: grouped(shaped(1, 0, 1, 1)), message=True)
    ),
    "a group norm on meta is contiguous": lambda: (
        grouped(shaped(1, 2, 2, 2).to(memory_format=torch.channels_last)).is_contiguous()
    ),
    "the gradient of a group norm lies as its input does": lambda: (
        torch.ops.aten.native_group_norm_backward(
            shaped(1, 2, 2, 2),
            shaped(1, 2, 2, 2).to(memory_format=torch.channels_last),
            *[shaped(1, 1)] * 2,
            *(None, 1, 2, 4, 1, [True, False, False]),
        )[0].stride(1)
        == 1
    ),
    "a spectrum on meta lies as on a GPU": lambda: (
        torch.fft.rfft(shaped(2, 2), dim=0).stride() == (1, 2)
    ),
    "strides of a spectrum on meta are given to its dimensions in order": lambda: (
        torch.ops.aten._fft_c2c(
            torch.zeros(3, 2, dtype=torch.complex64, device="meta").t(), [1, 0], 0, True
        ).stride()
        == (2, 1)
    ),
    "complex numbers are transformed in stages on meta": lambda: (
        torch.fft.fftn(shaped(2, 3, 4, 5)).stride()[0] == 1
    ),
    "miopen_batch_norm on meta makes all like the input": lambda: holds(
        lambda: (
            torch.ops.aten.miopen_batch_norm(
                shaped(1, 1), shaped(1).half(), None, None, None, True, 0.1, 1e-5
            )[1].dtype
            is torch.float32
        )
    ),
    "randint_like below a tensor is a new tensor on meta": lambda: holds(
        lambda: (
            torch.ops.aten.randint_like.Tensor(
                shaped(1, 1).half(), torch.tensor(1), dtype=torch.int8
            )
        ).dtype
        is torch.half
    ),
    "dynamic products of four bits on meta take bfloat16": lambda: (
        "bf16"
        in said(
            lambda: torch.ops.aten._dyn_quant_matmul_4bit(shaped(1, 1).half(), shaped(1), 1, 1, 1)
        )
    ),
    "segments are counted along their axis": lambda: (
        torch.segment_reduce(shaped(2, 3), "sum", lengths=shaped(4, 5).long(), axis=1).shape
        == (2, 5)
    ),
    "the gradient of a group norm views its input": lambda: (
        "view"
        in raised(
            lambda: torch.ops.aten.native_group_norm_backward(
                *[shaped(1, 2, 2, 2).transpose(2, 3)] * 2,
                *[shaped(1, 1)] * 2,
                *(None, 1, 2, 4, 1, [False, True, False]),
            ),
            message=True,
        )
    ),
    "gradients of oneDNN's layers are floats": lambda: (
        torch.ops.aten.mkldnn_rnn_layer_backward(
            *[meta(torch.float64)] * 10,
            *(None, None, None, False, 2, 1, 1, True, True, False, [], False, meta(torch.uint8)),
        )[0].dtype
        is torch.float32
    ),
}


def extract() -> dict[str, Any]:
    """The section ``refs.json``."""
    wrappers: list[list[list[Any]]] = []
    functions: dict[str, str] = {}
    wrapped: dict[str, int] = {}
    taken: dict[str, int] = {}
    for name, function in sorted(registered()):
        functions[name], around, innermost = peeled(function)
        if takes_too_few(innermost, name):
            taken[name] = positional(innermost)
        if around not in wrappers:
            wrappers.append(around)
        wrapped[name] = wrappers.index(around)
    return {
        "functions": functions,
        "wrapped": wrapped,
        "wrappers": wrappers,
        "taken": taken,
        "habits": {
            **{name: is_refused(ask) for name, ask in HABITS.items()},
            **{name: ask() for name, ask in ANSWERS.items()},
        },
        "words": {name: [raised(ask), raised(ask, message=True)] for name, ask in WORDS.items()},
    }


def meta(dtype: torch.dtype, size: int = 2) -> torch.Tensor:
    return torch.empty(size, dtype=dtype, device="meta")


def shaped(*sizes: int) -> torch.Tensor:
    return torch.empty(sizes, device="meta")


def row_major(rank: int) -> torch.Tensor:
    return shaped(1, *(2,) * (rank - 1))


def of_pixels(rank: int) -> torch.Tensor:
    """With its channels last."""
    last = torch.channels_last if rank == 4 else torch.channels_last_3d
    return row_major(rank).to(memory_format=last)


def convolution_gradient(weight: torch.Tensor, input: torch.Tensor) -> torch.Tensor:
    """That of an input, whose output is row-major."""
    rank = input.dim()
    ones, zeros = [1] * (rank - 2), [0] * (rank - 2)
    settings = (ones, zeros, ones, False, zeros, 1, [True, False, False])
    output = shaped(1, 1, *ones)
    return torch.ops.aten.convolution_backward(output, input, weight, None, *settings)[0]


def grouped(input: torch.Tensor) -> torch.Tensor:
    """All channels in one group."""
    count, channels, *pixels = input.shape
    sizes = (count, channels, prod(pixels))
    return torch.ops.aten.native_group_norm(input, None, None, *sizes, 1, 1e-5)[0]


def raised(ask: Callable[[], object], *, message: bool = False) -> str:
    """The name of the error that a question ends in, or its message."""
    try:
        ask()
    except Exception as error:
        return str(error) if message else type(error).__name__
    return ""


def is_refused(ask: Callable[[], object]) -> bool:
    try:
        ask()
    except RuntimeError as error:
        return "broadcast a dimension" not in str(error)
    return False


def registered() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Every overload whose kernel at Meta is written in Python."""
    table: dict[Any, Callable[..., Any]] = {}
    for kind in PRECEDENCE:
        for operator, function in global_decomposition_table[kind].items():
            table.setdefault(operator, function)
    for operator, function in table.items():
        if not isinstance(operator, torch._ops.OpOverload) or operator.namespace != "aten":
            continue
        dump = torch._C._dispatch_dump(operator.name())
        kernels = [line for line in dump.splitlines() if line.startswith("Meta: ")]
        if kernels and kernels[0].endswith("[ boxed ]"):
            yield operator.name(), function


def peeled(function: Callable[..., Any]) -> tuple[str, list[list[Any]], Callable[..., Any]]:
    """The innermost function's full name, the wrappers around it from outside, and itself."""
    name = function.__name__
    wrappers: list[list[Any]] = []
    while isinstance(function, FunctionType):
        cells = closure(function)
        code: Any = function.__code__  # Python tells its qualified name from 3.11 on
        owner, _, inner = code.co_qualname.partition(".<locals>")
        if owner == "out_wrapper":
            options = {"exact_dtype": cells["exact_dtype"]}
            if cells["out_names"] != ("out",):
                options["names"] = list(cells["out_names"])
            wrappers.append(["out", options])
        elif owner == "elementwise_type_promotion_wrapper.__call__":
            kind = cells["self"].type_promotion_kind.name
            names = list(cells["self"].type_promoting_arg_names)
            wrappers.append(["promote", {"kind": kind, "names": names}])
        elif owner == "type_casts":
            wrappers.append(["type_casts", casting(cells)])
        elif owner in ("_make_inplace", "_register_inplace_meta"):
            name = name.removesuffix("_")
            wrappers.append([owner.strip("_"), {}])
        elif owner == "_make_copy_from_view":
            if cells.get("return_none_on_out_variant"):
                wrappers.append(["nothing_of_out", {}])
        elif owner not in PLAIN:
            if inner and owner not in ELEMENTWISE:
                name = owner  # a function that another makes goes by the maker's name
            return f"{function.__module__}.{name}", wrappers, function
        function = cells["f"] if "f" in cells else cells["fn"]
    return str(function), wrappers, function  # an operator, ``aten.lerp``


def casting(cells: dict[str, Any]) -> dict[str, Any]:
    """How ``type_casts`` promotes: what is rare is told where it is so."""
    options = {"kind": cells["type_promotion"].name}
    if cells["compute_dtype_only"]:
        options["keeps_result"] = True
    if cells.get("include_non_tensor_args"):
        options["counts_numbers"] = True
    return options


def takes_too_few(function: Callable[..., Any], name: str) -> bool:
    """Whether the operator passes more on by position than the function in Python takes."""
    if not isinstance(function, FunctionType):
        return False
    parameters = signature(function).parameters.values()
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
        return False
    arguments = torch._C._get_schema(*name.partition(".")[::2]).arguments
    return sum(not argument.kwarg_only for argument in arguments) > positional(function)


def positional(function: Callable[..., Any]) -> int:
    """How many arguments a function takes by position."""
    parameters = signature(function).parameters.values()
    return sum(parameter.kind is parameter.POSITIONAL_OR_KEYWORD for parameter in parameters)


def closure(function: Callable[..., Any]) -> dict[str, Any]:
    cells = function.__closure__ or ()
    return {
        name: cell.cell_contents
        for name, cell in zip(function.__code__.co_freevars, cells, strict=True)
    }
