"""Extracts what kernels of random numbers and of neural networks do that differs between releases,
and of a few operators that came with them.

``switches`` has the ``AT_DISPATCH`` switches over dtypes by the names that they give themselves,
each with the dtypes that it refuses: calls of every dtype are tried, and what refuses one tells its
name.
"""

import re
import warnings
from collections.abc import Callable
from functools import partial
from inspect import signature
from typing import Any

import torch

from conformance.extract import (
    _attention,
    _convolutions,
    _fused_attention,
    _gradients,
    _lists,
    _losses,
    _matrices,
    _pools,
    _quantization,
    _recurrent,
    _samples,
    _weights,
    takes,
)
from conformance.extract._asking import (
    error_of,
    in_a_fork,
    is_reached,
    meta,
    options_of,
    warns,
)
from conformance.extract.tensors import dtypes
from conformance.extract.values import short

Ask = Callable[[torch.dtype], object]

REFUSED = re.compile(r'^"([^"]+)" not implemented for \'\w+\'$')
"""What a switch says."""


def zeros(dtype: torch.dtype, *sizes: int) -> torch.Tensor:
    return torch.zeros(sizes, dtype=dtype)


LABELS = torch.zeros(2, dtype=torch.int64)
ROWS = torch.zeros(2, 2)
HALVES = ROWS.half()
IMAGE = (1, 1, 4, 4)
#: Channels last, with moments that show what is rounded of them.
PIXELS = torch.tensor([2.0, 6, 6, -2, 7, 6]).div(10).view(1, 3, 1, 2).permute(0, 3, 1, 2)
A = torch.ops.aten


def uninitialized(dtype: torch.dtype) -> torch.Tensor:
    """New memory, which is filled."""
    torch._C._set_deterministic_algorithms(True)
    try:
        return torch.empty(1, dtype=dtype)
    finally:
        torch._C._set_deterministic_algorithms(False)


def of_volume(dtype: torch.dtype, dim: int, step: int, transposed: bool) -> tuple[Any, ...]:
    """Arguments of a convolution of a dilation ``step``."""
    input, weight = zeros(dtype, 1, 1, *(4,) * dim), zeros(dtype, 1, 1, *(2,) * dim)
    window = ([1], [0], [step], transposed, [0], 1)
    return input, weight, None, *window, False, False, True, True


def border(operator: Callable[..., object], rank: int, memory_format: torch.memory_format) -> Ask:
    """Padding, or its gradient, of an image that lies so."""

    def ask(dtype: torch.dtype) -> None:
        sizes = (1, 2, *(3,) * rank)
        image = zeros(dtype, *sizes).contiguous(memory_format=memory_format)
        padding = [0] * (2 * rank)
        is_backward = str(operator).endswith("_backward")
        operator(*[image] * (2 if is_backward else 1), padding)

    return ask


CALLS: tuple[Ask, ...] = (
    lambda dtype: zeros(dtype, 2).uniform_(),
    lambda dtype: zeros(dtype, 2).normal_(),
    lambda dtype: zeros(dtype, 2).random_(),
    lambda dtype: zeros(dtype, 2).random_(0, 1),
    lambda dtype: zeros(dtype, 2).random_(0, None),
    lambda dtype: zeros(dtype, 2).random_(-(2**63), None),
    lambda dtype: zeros(dtype, 2).bernoulli_(0.5),
    lambda dtype: zeros(dtype, 2).bernoulli_(torch.zeros(2)),
    lambda dtype: torch.zeros(2).bernoulli_(zeros(dtype, 2)),
    lambda dtype: torch.randperm(2, dtype=dtype),
    lambda dtype: zeros(dtype, 2).exponential_(),
    lambda dtype: torch.repeat_interleave(zeros(dtype, 2)),
    lambda dtype: torch.round(zeros(dtype, 2), decimals=0),
    lambda dtype: torch.nn.functional.softshrink(zeros(dtype, 2)),
    lambda dtype: zeros(dtype, 2).multinomial(2, True),
    lambda dtype: zeros(dtype, 2).multinomial(1),
    lambda dtype: zeros(dtype, 2).logcumsumexp(0),
    lambda dtype: zeros(dtype, 2).kthvalue(1),
    lambda dtype: zeros(dtype, 2).mode(),
    lambda dtype: zeros(dtype, 2).min(),
    lambda dtype: zeros(dtype, 2, 2).gather(0, torch.stack((LABELS, LABELS))),
    lambda dtype: zeros(dtype, 2).scatter(0, LABELS, True),
    lambda dtype: zeros(dtype, 2).take(LABELS),
    lambda dtype: zeros(dtype, 2).put(LABELS, zeros(dtype, 2)),
    lambda dtype: zeros(dtype, 2).index_select(0, LABELS),
    lambda dtype: zeros(dtype, 2).index_add(0, LABELS, zeros(dtype, 2)),
    lambda dtype: zeros(dtype, 2).index_copy(0, LABELS, zeros(dtype, 2)),
    lambda dtype: zeros(dtype, 2).index_fill(0, LABELS, 0),
    lambda dtype: zeros(dtype, 2).index_put((LABELS,), zeros(dtype, 2)),
    lambda dtype: zeros(dtype, 2).masked_scatter(LABELS == 0, zeros(dtype, 2)),
    lambda dtype: zeros(dtype, 2).masked_select(LABELS == 0),
    lambda dtype: zeros(dtype, 2).nonzero(),
    lambda dtype: zeros(dtype, 2).unique(),
    lambda dtype: zeros(dtype, 2).unique(dim=0),
    lambda dtype: torch.cat([zeros(dtype, 2)] * 2),
    lambda dtype: zeros(dtype, 2)[LABELS],
    lambda dtype: A._softmax(zeros(dtype, 2, 2), 1, False),
    lambda dtype: A._softmax(zeros(dtype, 2, 2), 0, False),
    lambda dtype: A._log_softmax(zeros(dtype, 2, 2), 1, False),
    lambda dtype: A._log_softmax(zeros(dtype, 2, 2), 0, False),
    lambda dtype: A._softmax_backward_data(zeros(dtype, 2, 2), zeros(dtype, 2, 2), 1, dtype),
    lambda dtype: A._softmax_backward_data(zeros(dtype, 2, 2), zeros(dtype, 2, 2), 0, dtype),
    lambda dtype: A._log_softmax_backward_data(zeros(dtype, 2, 2), zeros(dtype, 2, 2), 1, dtype),
    lambda dtype: A._log_softmax_backward_data(zeros(dtype, 2, 2), zeros(dtype, 2, 2), 0, dtype),
    *(
        border(getattr(A, f"{name}_pad{rank}d{form}"), rank, memory_format)
        for name in ("reflection", "replication")
        for rank, *memory_formats in (
            (1, torch.contiguous_format),
            (2, torch.contiguous_format, torch.channels_last),
            (3, torch.contiguous_format, torch.channels_last_3d),
        )
        for form in ("", "_backward")
        for memory_format in memory_formats
    ),
    lambda dtype: torch.isin(zeros(dtype, 2), zeros(dtype, 2)),
    lambda dtype: A.log_sigmoid_forward(zeros(dtype, 2)),
    lambda dtype: A.log_sigmoid_backward(*(zeros(dtype, 2),) * 3),
    lambda dtype: A.glu(zeros(dtype, 2)),
    lambda dtype: A.glu_backward(zeros(dtype, 1), zeros(dtype, 2), 0),
    lambda dtype: A._prelu_kernel(zeros(dtype, 2), zeros(dtype, 1)),
    lambda dtype: A._prelu_kernel_backward(zeros(dtype, 2), zeros(dtype, 2), zeros(dtype, 1)),
    lambda dtype: A.tril_indices(2, 2, dtype=dtype),
    lambda dtype: A.triu_indices(2, 2, dtype=dtype),
    lambda dtype: A.smooth_l1_loss(zeros(dtype, 2), zeros(dtype, 2), 0),
    lambda dtype: A.smooth_l1_loss_backward(*(zeros(dtype, 2),) * 3, 0, 1.0),
    lambda dtype: A.huber_loss(zeros(dtype, 2), zeros(dtype, 2), 0),
    lambda dtype: A.huber_loss_backward(*(zeros(dtype, 2),) * 3, 0, 1.0),
    lambda dtype: A.binary_cross_entropy(zeros(dtype, 2), zeros(dtype, 2), None, 0),
    lambda dtype: A.binary_cross_entropy_backward(*(zeros(dtype, 2),) * 3, None, 0),
    lambda dtype: A.native_layer_norm(zeros(dtype, 2, 2), [2], None, None, 1e-5),
    lambda dtype: A.native_batch_norm(zeros(dtype, 2, 2), *(None,) * 4, True, 0.1, 1e-5),
    lambda dtype: A.native_batch_norm_backward(
        *(zeros(dtype, 2, 2), zeros(dtype, 2, 2), None, None, None),
        *(zeros(dtype, 2), zeros(dtype, 2), True, 1e-5, [True] * 3),
    ),
    lambda dtype: zeros(dtype, 2, 2).tril(),
    lambda dtype: zeros(dtype, 2, 2).triu(),
    lambda dtype: A.polar(zeros(dtype, 2), zeros(dtype, 2)),
    lambda dtype: A.ldexp(zeros(dtype, 2), LABELS),
    lambda dtype: A.ldexp(ROWS, zeros(dtype, 2, 2)),
    lambda dtype: A._neg_view(zeros(dtype, 2)).clone(),
    lambda dtype: A.mse_loss(zeros(dtype, 2), zeros(dtype, 2), 0),
    lambda dtype: A.mse_loss_backward(zeros(dtype, 2), zeros(dtype, 2), zeros(dtype, 2), 0),
    lambda dtype: A.nll_loss_forward(zeros(dtype, 2, 2), LABELS, None, 1, -100),
    lambda dtype: A.nll_loss_backward(
        *(zeros(dtype), zeros(dtype, 2, 2), LABELS, None, 1, -100, zeros(dtype))
    ),
    lambda dtype: A.embedding_dense_backward(zeros(dtype, 2, 2), LABELS, 2, -1, False),
    lambda dtype: A.max_pool2d_with_indices(zeros(dtype, *IMAGE), [2, 2]),
    lambda dtype: A.max_pool2d_with_indices_backward(
        *(zeros(dtype, 1, 1, 2, 2), zeros(dtype, *IMAGE), [2, 2], [2, 2], [0, 0], [1, 1], False),
        torch.zeros(1, 1, 2, 2, dtype=torch.int64),
    ),
    *_pools.CALLS,
    *_quantization.CALLS,
    lambda dtype: A._slow_conv2d_forward(
        zeros(dtype, *IMAGE), zeros(dtype, 1, 1, 2, 2), [2, 2], None, [1, 1], [0, 0]
    ),
    lambda dtype: A._convolution(*of_volume(dtype, 3, 1, False)),
    lambda dtype: A._convolution(*of_volume(dtype, 2, 2, False)),
    lambda dtype: A._convolution(*of_volume(dtype, 2, 1, True)),
    lambda dtype: A._convolution(*of_volume(dtype, 3, 1, True)),
    lambda dtype: uninitialized(dtype),
    lambda dtype: torch.bincount(zeros(dtype, 2)),
    lambda dtype: zeros(dtype, 2).flip(0),
    lambda dtype: torch.equal(zeros(dtype, 2), zeros(dtype, 2)),
    lambda dtype: torch.equal(*(zeros(dtype, 2),) * 2),
    lambda dtype: A.unfold_backward(zeros(dtype, 2, 2), [3], 0, 2, 1),
    lambda dtype: torch.special.i1(zeros(dtype, 2)),
    lambda dtype: torch.special.i1e(zeros(dtype, 2)),
)


def questions() -> dict[str, Callable[[], object]]:
    """All that is asked, by what it is about."""
    parts = (
        *(_matrices, _lists, _attention, _fused_attention, _gradients),
        *(_pools, _losses, _convolutions, _samples, _recurrent, _weights, _quantization),
    )
    return HABITS | {name: ask for part in parts for name, ask in part.HABITS.items()}


def extract() -> dict[str, Any]:
    """The section ``neural.json``."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {
            "switches": switches(),
            "error": error_of(lambda: zeros(torch.int64, 2).normal_())[0],
            "generator": generator(),
            "no_descriptors": [
                *(
                    error_of(partial(ask, torch.ones(2, 1, 3), torch.ones(1, 1, 0)))[1]
                    for ask in (torch.conv1d, torch.conv_transpose1d)
                ),
                _recurrent.no_descriptor(),
            ],
            "no_view": error_of(of_doubles_by_onednn)[1].replace("Double", "{}"),
            "habits": {name: bool(ask()) for name, ask in questions().items()},
        }


def of_doubles_by_onednn() -> torch.Tensor:
    image = zeros(torch.float64, *IMAGE)
    return A.mkldnn_convolution(image, image, None, [0], [1], [1], 1)


#: Devices that have no generator of their own in any build of torch for a CPU or CUDA.
_WITHOUT_GENERATORS = (
    *("ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga", "maia", "xla"),
    *("lazy", "vulkan", "mps", "meta", "hpu", "mtia"),
)


def generator() -> dict[str, Any]:
    """What a random number generator says of seeds, states and devices that it cannot be on."""
    made = torch.Generator()
    _, size = error_of(lambda: made.set_state(zeros(torch.uint8, 3)))
    return {
        "overflow": list(error_of(lambda: made.manual_seed(2**64))),
        "state_size": size.removesuffix("3"),
        "refused": {
            name: list(error_of(partial(torch.Generator, name))) for name in _WITHOUT_GENERATORS
        },
    }


def switches() -> dict[str, str]:
    found: dict[str, list[str]] = {}
    for ask in CALLS:
        for dtype in dtypes():
            if short(dtype).startswith(("q", "bits")):
                continue
            try:
                ask(dtype)
            except Exception as error:
                refused = REFUSED.match(str(error))
                if refused and short(dtype) not in found.setdefault(refused[1], []):
                    found[refused[1]].append(short(dtype))
    return {name: " ".join(sorted(names)) for name, names in sorted(found.items())}


def draws_two_words() -> bool:
    """Whether a Bernoulli sample takes a double of the generator's, or the stream of MKL."""
    one, two = (torch.Generator().manual_seed(3) for _ in range(2))
    torch.zeros(100).bernoulli_(0.5, generator=one)
    torch.zeros(200, dtype=torch.int32).random_(generator=two)
    return torch.equal(one.get_state()[24:5016], two.get_state()[24:5016]) and (
        int(torch.zeros(1).random_(generator=one)) == int(torch.zeros(1).random_(generator=two))
    )


def draws_exponential_doubles() -> bool:
    """Whether exponential samples of floats take two words of the generator each."""
    one, two = (torch.Generator().manual_seed(3) for _ in range(2))
    torch.zeros(100).exponential_(generator=one)
    torch.zeros(200).uniform_(generator=two)
    return bool(
        torch.equal(torch.zeros(1).uniform_(generator=one), torch.zeros(1).uniform_(generator=two))
    )


def rounds_floats() -> bool:
    """Whether numbers of half precision are those of float32, rounded."""
    one, two = (torch.Generator().manual_seed(3) for _ in range(2))
    floats = torch.zeros(4).uniform_(generator=one)
    halves = zeros(torch.float16, 4).uniform_(generator=two)
    return bool(torch.equal(halves, floats.half()))


def takes_two_words(span: int) -> bool:
    """Whether an integer of a range is made of two words of the generator."""
    one, two = (torch.Generator().manual_seed(3) for _ in range(2))
    torch.zeros(1, dtype=torch.int32).random_(0, span, generator=one)
    torch.zeros(2).uniform_(generator=two)
    return bool(torch.equal(one.get_state(), two.get_state()))


def nll_refusal(labels: torch.Tensor, rows: torch.Tensor = ROWS) -> str:
    return error_of(lambda: A.nll_loss_forward(rows, labels, None, 1, -100))[1]


def gradient_of_other_channels() -> torch.Tensor:
    """Of a replicated volume that has one channel, where its padding has two."""
    return A.replication_pad3d_backward(torch.ones(2, 1, 1, 1), torch.ones(1, 1, 1, 1), [0] * 6)


def gradient_of_running_extreme() -> None:
    torch.cummax(torch.ones(2, requires_grad=True), 0)[0].sum().backward()


def hook_before_backward_of_module() -> None:
    """The only hook, on a module whose input requires no gradient."""
    module = torch.nn.Linear(1, 1)
    module.register_full_backward_pre_hook(lambda module, grad_output: None)
    module(torch.ones(1)).backward()


def gradient_of_running_product() -> None:
    """One that has a gradient itself, around a zero."""
    factors = torch.zeros(3, requires_grad=True)
    torch.autograd.grad(factors.cumprod(0).sum(), factors, create_graph=True)


def read_statistics() -> tuple[torch.Tensor | None, ...]:
    """Arguments of an instance norm, which has no weight and no bias."""
    return torch.ones(1, 2, 3), None, None, ROWS[0], ROWS[1]


#: Questions with yes or no for an answer.
HABITS: dict[str, Callable[[], bool]] = {
    "pixel_shuffle bounds its factor": lambda: (
        error_of(lambda: torch.pixel_shuffle(torch.ones(1, 1, 1), 3037000500))[0] == "ValueError"
    ),
    "im2col shows its height twice": lambda: (
        "(2, 2), kernel_size"
        in error_of(lambda: A.im2col(torch.ones(1, 2, 3), [2, 1], [2, 2], [0, 0], [2, 2]))[1]
    ),
    "isin takes no bfloat16": lambda: (
        not takes(lambda: torch.isin(torch.ones(1, dtype=torch.bfloat16), torch.ones(1)))
    ),
    "padding takes the usual dimensions alone": lambda: (
        not takes(lambda: A.reflection_pad1d(torch.ones(1, 1, 1, 2), [0, 0]))
    ),
    "gradients of padding are worded alike": lambda: (
        "grad_output"
        in error_of(
            lambda: A.replication_pad1d_backward(torch.ones(1, 1, 4), torch.ones(1, 1, 3), [1, 1])
        )[1]
    ),
    "gradients of replicated padding look at channels": lambda: not takes(
        lambda: A.replication_pad1d_backward(torch.ones(2, 1, 3), torch.ones(2, 2, 3), [0, 0])
    ),
    "gradients of replicated volumes look at channels": lambda: not takes(
        gradient_of_other_channels
    ),
    "channels of replicated volumes are called a width": lambda: (
        not takes(gradient_of_other_channels) and "width" in error_of(gradient_of_other_channels)[1]
    ),
    "a gradient of a mirrored volume tells its padding's length": lambda: (
        "but got"
        in error_of(lambda: A.reflection_pad3d_backward(*[torch.ones(1, 1, 1, 1, 1)] * 2, [1]))[1]
    ),
    "reflection wants every dimension": lambda: (
        not takes(lambda: A.reflection_pad2d(torch.ones(1, 1, 2, 2), [0, 0, -1, -1]))
    ),
    "replication wants every dimension": lambda: (
        not takes(lambda: A.replication_pad2d(torch.ones(1, 1, 2, 2), [0, 0, -1, -1]))
    ),
    "an input that is cut keeps its padding": lambda: (
        "padding"
        not in error_of(
            lambda: torch.conv1d(torch.ones(1, 1, 4), torch.ones(1, 1, 0), padding="same")
        )[1]
    ),
    "a batch norm has both statistics or none": lambda: not takes(
        lambda: A.native_batch_norm(ROWS, None, None, None, ROWS[0], True, 0.1, 1e-5)
    ),
    "a batch norm adds up halves in floats": lambda: bool(
        A.native_batch_norm(
            torch.tensor([[-300.0], [300.0]]).half(), *(None,) * 4, True, 0.1, 1e-5
        )[2].item()
    ),
    "a gradient of unfold looks at its step": lambda: not takes(
        lambda: A.unfold_backward(torch.ones(2, 1), [2], 0, 1, -1)
    ),
    "unbind_copy looks at its outputs": lambda: not takes(
        lambda: A.unbind_copy.int_out(torch.ones(1), out=[torch.ones(()).int()])
    ),
    "a count of outputs follows the parentheses of a call": lambda: (
        "()" in error_of(lambda: A.split_with_sizes_copy.out(LABELS, [2], out=[]))[1]
    ),
    "a clamp to one bound looks for a NaN": lambda: (
        "double" in error_of(lambda: torch.ones(1).half().clamp(1j))[1]
    ),
    "a Bernoulli sample is a double of the generator": draws_two_words,
    "an exponential sample is a double of the generator": draws_exponential_doubles,
    "a half is a float that is rounded": rounds_floats,
    "aminmax refuses a complex scalar": lambda: not takes(
        lambda: torch.aminmax(torch.tensor(1j), dim=0)
    ),
    "a batch norm refuses to divide by nothing": lambda: not takes(
        lambda: torch.nn.functional.batch_norm(torch.ones(2, 1), None, None, training=True, eps=0)
    ),
    "padding may leave nothing": lambda: takes(lambda: A.constant_pad_nd(ROWS, [-2, 0, 1, 1])),
    "nan_to_num on meta keeps the order of memory": lambda: (
        torch.empty(2, 3, device="meta").t().nan_to_num().stride() == (1, 3)
    ),
    "_int_mm takes bytes on its left": lambda: (
        takes(lambda: torch._int_mm(torch.ones(17, 8).byte(), torch.ones(8, 8).char()))
    ),
    "_int_mm is worded as mm is": lambda: (
        "matrix"
        in error_of(lambda: torch._int_mm(torch.ones(8).char(), torch.ones(8, 8).char()))[1]
    ),
    "a BatchNorm shows its bias": lambda: "bias" in repr(torch.nn.BatchNorm1d(1)),
    "a LayerNorm shows its bias": lambda: "bias" in repr(torch.nn.LayerNorm(1)),
    "Adam may decouple weight decay": lambda: (
        "decoupled_weight_decay" in torch.optim.Adam([torch.zeros(1)]).defaults
    ),
    "a range of 2**28 takes 64 bits": lambda: takes_two_words(2**28),
    "clipping warns of an empty generator": lambda: warns(
        lambda: torch.nn.utils.clip_grad_norm_((each for each in [ROWS][:0]), 1.0)
    ),
    "losses take weights": lambda: "weight" in signature(torch.nn.functional.mse_loss).parameters,
    "labels of another dtype are named": lambda: "target dtype" in nll_refusal(LABELS.float()),
    "quantiles have ranks in float64": lambda: torch.float64
    in options_of(A._to_copy.default, lambda: torch.quantile(ROWS, 0.5)),
    "a scan's gradient is among zeros like itself": lambda: is_reached(
        A.new_zeros.default, lambda: gradient_of_running_extreme()
    ),
    "a hook before a module's backward warns of no inputs": lambda: warns(
        hook_before_backward_of_module
    ),
    "a gradient of products joins no parts": lambda: not is_reached(
        A.cat.default, gradient_of_running_product
    ),
    "a row has one label": lambda: "must have size 1" in nll_refusal(LABELS, torch.zeros(3)),
    "a contraction to one number is a dot": lambda: (
        '"dot"' in error_of(lambda: torch.tensordot(LABELS == 0, LABELS == 0, 1))[1]
    ),
    "a new tensor on meta is lifted": lambda: is_reached(
        A.lift_fresh.default, lambda: torch.tensor([1], device="meta")
    ),
    "any integers repeat": lambda: takes(
        lambda: torch.repeat_interleave(torch.ones(1, dtype=torch.int8))
    ),
    "dropout draws real noise for complex numbers": lambda: takes(
        lambda: torch.dropout(torch.ones(1, dtype=torch.complex64), 0.5, True)
    ),
    "dropout has row-major noise": lambda: torch.contiguous_format
    in options_of(A.empty_like.default, lambda: torch.dropout(ROWS, 0.5, True)),
    "a subclass selects an element's gradient among new zeros": lambda: not options_of(
        A.zeros.default, lambda: A.value_selecting_reduction_backward(ROWS[0], 0, LABELS, [2], True)
    ),
    "one_hot says what it takes": lambda: (
        "LongTensor" in error_of(lambda: torch.nn.functional.one_hot(torch.ones(2)))[1]
    ),
    "lerp promotes a weight without dimensions": lambda: takes(
        lambda: torch.lerp(torch.ones(2), torch.ones(2), torch.ones((), dtype=torch.float64))
    ),
    "one_hot asks for both extremes at once": lambda: is_reached(
        A.aminmax.default, lambda: torch.nn.functional.one_hot(LABELS)
    ),
    "a convolution on meta is row-major": lambda: torch.conv2d(
        torch.zeros(1, 2, 4, 4, device="meta").contiguous(memory_format=torch.channels_last),
        torch.zeros(2, 2, 3, 3, device="meta"),
    ).is_contiguous(),
    "functions on meta count dimensions": lambda: (
        "got 0D" in error_of(lambda: A.nll_loss_forward(meta(()), meta(()), None, 1, -100))[1]
    ),
    "new_tensor copies a tensor to the receiver's device": lambda: (
        torch.ones(1, device="meta").new_tensor(torch.ones(1)).is_meta
    ),
    "a text that is no number is a ValueError": lambda: (
        error_of(lambda: torch.ops.aten.Int.str("a"))[0] == "ValueError"
    ),
    "isnan of a number is an integer": lambda: (type(torch.ops.aten.isnan.float(2.5)) is int),
    "the longer of two lists is asked of the second": lambda: (
        torch.ops.prim.max.float_list([1.0], [float("nan"), 1.0]) == [1.0]
    ),
    "an adaptive average pool's gradient has as many dimensions": lambda: (
        "template" in error_of(lambda: A._adaptive_avg_pool2d_backward(ROWS, ROWS))[1]
    ),
    "a Huber loss of float16 is computed in floats": lambda: (
        A.huber_loss(
            torch.tensor([-7.95], dtype=torch.float16), torch.tensor([-3.03]).half(), 0, 8.7
        ).item()
        == 12.1015625
    ),
    "rot90 wraps its dimensions first": lambda: (
        error_of(lambda: torch.rot90(ROWS, 1, (2, 0)))[0] == "IndexError"
    ),
    "the place of an extreme looks at the dtype first": lambda: (
        "bool input" in error_of(lambda: torch.argmax(LABELS == 0, 2))[1]
    ),
    "index takes at least one index": lambda: (
        error_of(lambda: A.index(ROWS, []))[0] == "IndexError"
    ),
    "unique of everything is its implementation": lambda: error_of(
        lambda: torch.unique(ROWS, True, True, True, 0, 0)
    )[1].startswith("_unique_impl"),
    "random integers on meta have limits": lambda: not takes(
        lambda: torch.randint(3, 2, (2,), device="meta")
    ),
    "quantile looks at its ranks inside a mode": lambda: is_reached(
        A.ge.Scalar, lambda: torch.quantile(torch.ones(1), 0.5)
    ),
    "avg_pool2d cuts its sizes off": lambda: (
        "kH: -" in error_of(lambda: torch._C._nn.avg_pool2d(torch.ones(1, 1, 1), [2**31]))[1]
    ),
    "avg_pool2d looks at its sizes first": lambda: (
        "out of range" in error_of(lambda: torch._C._nn.avg_pool2d(torch.ones(1, 1, 1), [0]))[1]
    ),
    "a batch norm looks for its statistics first": lambda: (
        "must be defined"
        in error_of(lambda: torch.native_batch_norm(ROWS[0, 0], *(None,) * 4, False, 0.1, 0))[1]
    ),
    "a group norm wants channels and pixels": lambda: not takes(
        lambda: torch.group_norm(torch.ones(1, 0), 1)
    ),
    "a gradient of a group norm is like its weight": lambda: not takes(
        lambda: A.native_group_norm_backward(
            ROWS, ROWS, *[torch.ones(2, 1)] * 2, None, 2, 2, 1, 1, [False, True, False]
        )
    ),
    "a group norm rounds its squares": lambda: (
        A.native_group_norm(PIXELS, None, None, 1, 2, 3, 1, 1e-5)[2].item() > 3.1403888
    ),
    "moments of rows begin with a vector of them": lambda: (
        A.native_layer_norm(torch.tensor([1.0, 1e30] * 4), [8], None, None, 1e-5)[2].item() == 0
    ),
    "a group norm takes any input": lambda: takes(
        lambda: A.native_group_norm(torch.ones(1, 3, 2, 2).mT, None, None, 1, 3, 4, 1, 1e-5)
    ),
    "mvlgamma in place asks for its output's dtype": lambda: (
        in_a_fork(lambda: "can't be cast" in error_of(lambda: torch.arange(0).mvlgamma_(1))[1])
    ),
    "a grid samples halves": lambda: takes(
        lambda: A.grid_sampler_2d(*[torch.ones(1, 2, 2, 2).half()] * 2, 0, 0, False)
    ),
    "a grid names its switch": lambda: (
        '"'
        in error_of(lambda: A.grid_sampler_2d(*[torch.ones(1, 2, 2, 2).long()] * 2, 0, 0, True))[1]
    ),
    "nearest pixels on meta ignore a scale of nothing": lambda: takes(
        lambda: A.upsample_nearest1d.out(meta((1, 1, 2)), [2], 0.0, out=meta((1, 1, 2)))
    ),
    "volumes of nearest pixels on meta keep their format": lambda: (
        A.upsample_nearest3d.out(
            meta((1, 2, 2, 2, 2)).to(memory_format=torch.channels_last_3d),
            [2, 2, 2],
            out=meta((0,)),
        ).stride(1)
        == 1
    ),
    "a Gaussian loss takes its variance as a number": lambda: takes(
        lambda: torch.nn.functional.gaussian_nll_loss(ROWS, ROWS, 1.0)
    ),
    "a Gaussian loss takes its variance of any dimension": lambda: takes(
        lambda: torch.nn.functional.gaussian_nll_loss(ROWS, ROWS, torch.ones(1, 2))
    ),
    "an RMS norm is computed in floats": lambda: is_reached(
        A._to_copy.default, lambda: torch.rms_norm(HALVES, (2,))
    ),
    "an RMS norm is rounded at its end": lambda: (
        torch.rms_norm(HALVES, (2,), ROWS[0]).dtype == torch.float16
    ),
    "an RMS norm is row-major": lambda: torch.rms_norm(torch.ones(3, 2).t(), (3,)).is_contiguous(),
    "uniform numbers on meta keep the order of memory": lambda: (
        A.uniform(torch.ones(2, 3, device="meta").t(), 0.0, 1.0).stride() == (1, 3)
    ),
    "an instance norm leaves statistics that it reads": lambda: not is_reached(
        A.copy_.default, lambda: torch.instance_norm(*read_statistics(), False, 0.1, 1e-5, True)
    ),
    "native_channel_shuffle looks at its groups": lambda: not takes(
        lambda: torch.native_channel_shuffle(ROWS, 1)
    ),
    "native_channel_shuffle on meta looks at its groups": lambda: not takes(
        lambda: torch.native_channel_shuffle(ROWS.to("meta"), 1)
    ),
    "rrelu wants finite bounds": lambda: not takes(lambda: torch.rrelu(ROWS, 0, float("inf"))),
    "chunks of any strides are joined": lambda: takes(
        lambda: torch._chunk_cat([torch.ones(6).as_strided((2, 3), (1, 2))], 0, 1)
    ),
}
