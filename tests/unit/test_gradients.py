"""Analytic gradients against central differences, for every operator with a derivative and kernels.

Which operators these are is the profile's table of derivatives; what they are called with follows
from their schemas, and where a schema does not tell (shapes that fit, indices), from `ARGUMENTS`.
An operator that takes none of these arguments is skipped, and so is one whose derivative calls an
operator without a kernel; `-rs` lists them, and how many may be is limited.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np
import pytest

import mindtorch_v2 as torch
from mindtorch_v2 import profile
from mindtorch_v2.dispatch import native
from mindtorch_v2.schema.parser import parse_printed_schema
from tests.other_profiles import once_per_other_profile, run_again

STEP: Final = 1e-6
TOLERANCE: Final = 1e-7
"""Of float64: a difference over 2e-6 has about nine digits, and no value here is large."""

SCHEMAS: Final = {text.partition("(")[0]: text for text in profile.active().schemas["schemas"]}


def operators() -> Iterator[str]:
    """Those that record a node, less ``out=`` forms, whose gradient is refused, those that draw
    random numbers, which are another function each time, lists changed in place, which have no
    nodes here yet, those of torch's tests, which have a test of their own here, and those of
    layouts without elements to step at."""
    for name, facts in profile.active().derivatives["operators"].items():
        if name in OF_TESTS | OF_STEPS | OF_LAYOUTS:
            continue
        if facts.get("node") and native.has_kernel(name) and not is_random(name):
            schema = parse_printed_schema(SCHEMAS[name])
            changed = [each for each in schema.arguments if each.is_write]
            if not any(each.is_out or str(each.type) == "List[Tensor]" for each in changed):
                yield name


def is_random(name: str) -> bool:
    return torch.Tag.nondeterministic_seeded in overload(name).tags


def overload(name: str) -> Any:
    namespace, _, rest = name.partition("::")
    base, _, overload_name = rest.partition(".")
    packet = getattr(getattr(torch.ops, namespace), base)
    return getattr(packet, overload_name or "default")


def values(*sizes: int, seed: int = 0) -> Any:
    """Numbers between 0.1 and 0.9, all different, none near a place where a function bends."""
    count = int(np.prod(sizes))
    numbers = 0.1 + 0.8 * ((np.arange(count) * 0.618034 + 0.137 * (seed + 1)) % 1)
    return torch.tensor(numbers.reshape(sizes), dtype=torch.float64)


def index(*numbers: Any) -> Any:
    return torch.tensor(list(numbers))


MASK: Final = torch.tensor([[True, False, True], [False, True, True]])
COLUMNS: Final = index([0, 2], [1, 0])

BATCHES: Final = {"batch1": values(2, 2, 3), "batch2": values(2, 3, 2, seed=1)}
CONVOLUTION: Final = {
    "input": values(1, 2, 3, 3),
    "weight": values(2, 1, 2, 2, seed=1),
    "bias": values(2, seed=2),
    "stride": [1, 2],
    "padding": [1, 0],
    "dilation": [1, 1],
    "output_padding": [0, 0],
    "groups": 2,
}
IMAGE: Final = values(1, 1, 3, 4)
POOLING: Final = {"self": IMAGE, "kernel_size": [2, 2], "stride": [1, 2]}
PLACES: Final = index([[0, 6]])
"""Of the largest values of two windows, in an image or a volume of one channel."""
OF_PLACES: Final = {"grad_output": values(1, 1, 2), "self": values(1, 2, 4), "indices": PLACES}
OF_DEEP_PLACES: Final = {
    "grad_output": values(1, 1, 1, 2),
    "self": values(1, 1, 2, 4),
    "indices": index([[[0, 6]]]),
}
VOLUME: Final = values(1, 2, 3, 4)
VOLUMES: Final = {"self": VOLUME, "kernel_size": [2, 2, 2], "stride": [1, 1, 2]}
FRACTIONAL: Final = {"self": values(1, 3, 5), "kernel_size": [2, 2], "output_size": [1, 2]}
FRACTIONAL_OF_VOLUMES: Final = {
    "self": values(1, 3, 3, 5),
    "kernel_size": [2, 2, 2],
    "output_size": [1, 1, 2],
}
AFFINE: Final = {"weight": values(3), "bias": values(3, seed=1)}
STATISTICS: Final = {**AFFINE, "running_mean": values(3, seed=2), "running_var": values(3, seed=3)}
SQUARE: Final = values(3, 3) + torch.eye(3, dtype=torch.float64)
COLUMN: Final = values(3, 2, seed=1)
PIVOTS: Final = torch.tensor([2, 3, 3], dtype=torch.int32)
A_NUMBER: Final = torch.tensor(0.7, dtype=torch.float64)
OF_A_LIST: Final = {"self": [values(2, 3)], "other": A_NUMBER}
"""Of one tensor: to the number beside a longer list no gradient fits."""
UNFOLDED: Final = {
    "kernel_size": [2, 2],
    "dilation": [1, 1],
    "padding": [0, 0],
    "stride": [1, 1],
}
FILLED: Final = {"dim": 1, "index": index(2, 0)}
DOUBLE: Final = 7  # as schemas number dtypes


def upsampling() -> Iterator[tuple[str, dict[str, Any]]]:
    """What is enlarged, by one more along every dimension, and the gradients of that."""
    for kind, dimensions in (
        *(("linear", 1), ("bilinear", 2), ("bicubic", 2), ("trilinear", 3)),
        *((kind, count) for kind in ("nearest", "nearest_exact") for count in (1, 2, 3)),
        *((f"{kind}_aa", 2) for kind in ("bilinear", "bicubic", "lanczos")),
    ):
        before = [1, 1, 2, 3, 2][: 2 + dimensions]
        after = [3, 4, 3][:dimensions]
        plain, smoothed, _ = kind.partition("_aa")
        name = f"{'_' if '_' in kind else ''}upsample_{plain}{dimensions}d{smoothed}"
        yield name, {"self": values(*before), "output_size": after}
        yield (
            f"{name}_backward",
            {"grad_output": values(1, 1, *after), "output_size": after, "input_size": before},
        )


def padding() -> Iterator[tuple[str, dict[str, Any]]]:
    """One more on every side, and the gradients of that."""
    for dimensions in (1, 2, 3):
        sizes = [2, 3, 2][:dimensions]
        given = {"self": values(1, *sizes), "padding": [1, 1] * dimensions}
        grad = values(1, *(size + 2 for size in sizes), seed=1)
        for kind in ("reflection", "replication"):
            yield f"{kind}_pad{dimensions}d", given
            yield f"{kind}_pad{dimensions}d_backward", {**given, "grad_output": grad}


#: By operator, without the mark of its in-place form: arguments by name, where the schema does
#: not tell.
ARGUMENTS: Final[dict[str, dict[str, Any]]] = {
    "_adaptive_avg_pool2d": {"self": IMAGE, "output_size": [2, 2]},
    "_adaptive_avg_pool2d_backward": {"grad_output": values(1, 1, 2, 2), "self": IMAGE},
    "_adaptive_avg_pool3d": {"self": VOLUME, "output_size": [1, 2, 3]},
    "_adaptive_avg_pool3d_backward": {"grad_output": values(1, 1, 2, 3), "self": VOLUME},
    "adaptive_max_pool2d": {"self": IMAGE, "output_size": [2, 2]},
    "adaptive_max_pool2d_backward": OF_PLACES,
    "adaptive_max_pool3d": {"self": VOLUME, "output_size": [1, 2, 3]},
    "adaptive_max_pool3d_backward": OF_DEEP_PLACES,
    "_reshape_alias": {"size": [3, 2], "stride": [2, 1]},
    "acosh": {"self": values(2, 3) + 1},
    "_conj": {"self": values(3, 2)},
    "pow_.Scalar": {"self": values(2, 3)},
    "_unsafe_view": {"size": [3, 2]},
    "addbmm": {"self": values(2, 2), **BATCHES},
    "addr": {"vec1": values(2), "vec2": values(3, seed=1)},
    "baddbmm": {"self": values(2, 2, 2, seed=2), **BATCHES},
    "addmm": {"self": values(2, 2), "mat1": values(2, 3), "mat2": values(3, 2, seed=1)},
    "addmv": {"self": values(2), "mat": values(2, 3), "vec": values(3, seed=1)},
    "as_strided": {"size": [2, 2], "stride": [3, 1]},
    "avg_pool2d": POOLING,
    "avg_pool3d": VOLUMES,
    "avg_pool3d_backward": {**VOLUMES, "grad_output": values(1, 1, 2, 2), "padding": [0, 0, 0]},
    "bmm": {"self": values(2, 2, 3), "mat2": values(2, 3, 2, seed=1)},
    "_convolution": {**CONVOLUTION, **dict.fromkeys(("benchmark", "deterministic"), False)},
    "convolution": CONVOLUTION,
    "channel_shuffle": {"self": values(2, 4, 2), "groups": 2},
    "clamp.Tensor": {"min": values(2, 3, seed=3) / 2, "max": values(2, 3, seed=4)},
    "clamp": {"min": 0.3, "max": 0.6},
    "diagonal_backward": {"grad_output": values(2), "input_sizes": [2, 3], "dim1": 0, "dim2": 1},
    "dot": {"self": values(3), "tensor": values(3, seed=1)},
    "embedding": {"indices": index(1, 0, 1)},
    "embedding_dense_backward": {"indices": index(1, 0), "num_weights": 3, "padding_idx": -1},
    "expand": {"size": [2, 2, 3]},
    "fractional_max_pool2d": {**FRACTIONAL, "random_samples": values(1, 1, 2)},
    "fractional_max_pool2d_backward": {
        **OF_PLACES,
        "kernel_size": [2, 2],
        "output_size": [1, 2],
    },
    "fractional_max_pool3d": {**FRACTIONAL_OF_VOLUMES, "random_samples": values(1, 1, 3)},
    "fractional_max_pool3d_backward": {
        **OF_DEEP_PLACES,
        "kernel_size": [2, 2, 2],
        "output_size": [1, 1, 2],
    },
    "gather": {"dim": 1, "index": COLUMNS},
    "huber_loss_backward": {"reduction": 0},  # whose gradient is no single number
    "index.Tensor": {"indices": [index(1, 0, 1)]},
    "index_add": {"dim": 1, "index": index(2, 0), "source": values(2, 2, seed=1)},
    "index_put": {"indices": [index(1)], "values": values(3, seed=1)},
    "_index_put_impl": {"indices": [index(1)], "values": values(3, seed=1)},
    "index_select": {"dim": 1, "index": index(2, 0, 2)},
    "masked_fill.Tensor": {"value": torch.tensor(0.7, dtype=torch.float64)},
    "fill.Tensor": {"value": torch.tensor(0.7, dtype=torch.float64)},
    "masked_scatter": {"source": values(2, 3, seed=1)},
    "masked_scatter_backward": {"mask": MASK, "sizes": [4]},
    "matmul": {"other": values(3, 2, seed=1)},
    "mm": {"mat2": values(3, 2, seed=1)},
    "max_pool2d": POOLING,
    "max_pool2d_with_indices": POOLING,
    "max_pool3d_with_indices": VOLUMES,
    "max_pool3d_with_indices_backward": {
        **OF_DEEP_PLACES,
        "kernel_size": [1, 2, 2],
        "stride": [1, 1, 2],
        "padding": [0, 0, 0],
        "dilation": [1, 1, 1],
    },
    "max_unpool2d": {"self": values(1, 1, 2), "indices": PLACES, "output_size": [2, 4]},
    "max_unpool3d": {
        "self": values(1, 1, 1, 2),
        "indices": index([[[0, 6]]]),
        "output_size": [1, 2, 4],
        "stride": [1, 1, 1],
        "padding": [0, 0, 0],
    },
    "mean.dim": {"dim": [1]},
    "native_batch_norm": {**AFFINE, "training": True, "eps": 0.5},
    "_native_batch_norm_legit.no_stats": {**AFFINE, "training": True, "eps": 0.5},
    "multi_margin_loss": {"target": index(2, 0)},
    "multi_margin_loss_backward": {"target": index(2, 0), "reduction": 0},
    "multilabel_margin_loss_forward": {"target": index([0, -1, 1], [2, 1, -1])},
    "_fft_r2c": {"dim": [1], "normalization": 0, "onesided": True},
    "segment_reduce": {"reduce": "prod", "lengths": torch.tensor([1, 1])},
    "native_group_norm": {
        "input": values(1, 2, 3),
        "weight": values(2, seed=1),
        "bias": values(2, seed=2),
        "N": 1,
        "C": 2,
        "HxW": 3,
        "group": 1,
        "eps": 0.5,
    },
    "native_layer_norm": {"normalized_shape": [3], "weight": values(3), "bias": values(3, seed=1)},
    "nll_loss2d_forward": {"self": values(2, 3, 1, 2), "target": index([[0, 2]], [[1, 0]])},
    "nll_loss_forward": {"target": index(2, 0)},
    "norm.ScalarOpt_dim_dtype": {"p": 2.5, "dim": [1], "dtype": DOUBLE},
    "norm.ScalarOpt_dtype": {"p": 2.5, "dtype": DOUBLE},
    "vdot": {"self": values(3), "other": values(3, seed=1)},
    "sum.dim_IntList": {"dim": [1]},
    "mv": {"vec": values(3, seed=1)},
    "permute": {"dims": [1, 0]},
    "pow.Scalar": {"self": 1.5},
    "put": {"index": index(0, 4), "source": values(2, seed=1)},
    "repeat": {"repeats": [2, 1]},
    "roll": {"shifts": [1], "dims": [1]},
    "scatter.src": {"dim": 1, "index": COLUMNS, "src": values(2, 2, seed=1)},
    "scatter.value": {"dim": 1, "index": COLUMNS},
    "scatter_add": {"dim": 1, "index": COLUMNS, "src": values(2, 2, seed=1)},
    "scatter_reduce.two": {
        "dim": 1,
        "index": COLUMNS,
        "src": values(2, 2, seed=1),
        "reduce": "mean",
    },
    "select_backward": {"grad_output": values(3), "input_sizes": [2, 3], "dim": 0, "index": 1},
    "slice_backward": {
        "grad_output": values(2, 2),
        "input_sizes": [2, 3],
        "dim": 1,
        "start": 0,
        "end": 2,
        "step": 1,
    },
    "soft_margin_loss_backward": {"reduction": 0},  # as that of a Huber loss
    "sort.stable": {"stable": True},
    "split_with_sizes": {"split_sizes": [1, 2], "dim": 1},
    "squeeze": {"self": values(2, 1, 3)},
    "squeeze.dim": {"self": values(2, 1, 3), "dim": 1},
    "squeeze.dims": {"self": values(2, 1, 3), "dim": [1]},
    "take": {"index": index(0, 4, 0)},
    "topk": {"k": 2},
    "transpose.int": {"dim0": 0, "dim1": 1},
    "transpose": {"dim0": 0, "dim1": 1},
    "unfold": {"dimension": 1, "size": 2, "step": 1},
    "unfold_backward": {
        "grad_in": values(2, 2, 2),
        "input_sizes": [2, 3],
        "dim": 1,
        "size": 2,
        "step": 1,
    },
    "view": {"size": [3, 2]},
    "view_as_complex": {"self": values(3, 2)},
    "view_as_real": {"self": values(3, 2)},
    **dict(upsampling()),
    **dict(padding()),
    **{name: {"A": SQUARE} for name in ("_linalg_det", "_linalg_slogdet", "_linalg_eigh")},
    "linalg_inv_ex": {"A": SQUARE},
    **{name: {"self": SQUARE} for name in ("cholesky", "cholesky_inverse", "linalg_cholesky_ex")},
    "linalg_matrix_exp": {"self": SQUARE},
    "_linalg_solve_ex": {"A": SQUARE, "B": COLUMN},
    "cholesky_solve": {"self": COLUMN, "input2": SQUARE},
    "linalg_solve_triangular": {"self": SQUARE, "B": COLUMN, "upper": True},
    "triangular_solve": {"self": COLUMN, "A": SQUARE},
    "linalg_householder_product": {"input": COLUMN, "tau": values(2)},
    "ormqr": {"self": COLUMN, "input2": values(2), "input3": values(3, 2, seed=2)},
    "linalg_lu_solve": {"LU": SQUARE, "pivots": PIVOTS, "B": COLUMN},
    "lu_unpack": {"LU_data": SQUARE, "LU_pivots": PIVOTS},
    **{f"_foreach_{each}.Tensor": OF_A_LIST for each in ("add", "div", "mul")},
    "_foreach_mm": {"mat2": [values(3, 2, seed=3), values(3, 2, seed=4)]},
    **{
        name: {**STATISTICS, "training": True, "eps": 0.5}
        for name in (
            *("_batch_norm_no_update", "_batch_norm_with_update"),
            *("_batch_norm_with_update_functional", "_native_batch_norm_legit"),
            *("_native_batch_norm_legit_functional", "_native_batch_norm_legit_no_training"),
        )
    },
    "_fused_rms_norm": {"normalized_shape": [3], "weight": values(3)},
    "_embedding_bag": {"indices": index(1, 0, 1), "offsets": index(0, 2)},
    "_reshape_copy": {"size": [3, 2]},
    "_unsafe_index.Tensor": {"indices": [index(1, 0, 1)]},
    "_unsafe_index_put": {"indices": [index(1)], "values": values(3, seed=1)},
    "affine_grid_generator": {"theta": values(1, 2, 3), "size": [1, 1, 2, 2]},
    "avg_pool2d_backward": {**POOLING, "grad_output": values(1, 1, 2, 2), "padding": [0, 0]},
    "max_pool2d_with_indices_backward": {
        **OF_PLACES,
        "grad_output": values(1, 1, 1, 2),
        "self": values(1, 1, 2, 4),
        "indices": index([[[0, 6]]]),
        "kernel_size": [2, 2],
        "stride": [1, 2],
        "padding": [0, 0],
        "dilation": [1, 1],
    },
    "constant_pad_nd": {"pad": [1, 2]},
    "col2im": {**UNFOLDED, "self": values(4, 4), "output_size": [3, 3]},
    "im2col": {**UNFOLDED, "self": values(1, 3, 3)},
    "glu": {"self": values(2, 4)},
    "glu_backward": {"self": values(2, 4), "grad_output": values(2, 2), "dim": 1},
    "grid_sampler_2d": {
        "input": values(1, 1, 3, 3),
        "grid": values(1, 2, 2, 2),
        **dict.fromkeys(("interpolation_mode", "padding_mode"), 0),
    },
    "grid_sampler_3d": {
        "input": values(1, 1, 2, 3, 3),
        "grid": values(1, 1, 2, 2, 3),
        **dict.fromkeys(("interpolation_mode", "padding_mode"), 0),
    },
    "index_copy": {**FILLED, "source": values(2, 2, seed=1)},
    "index_fill.int_Scalar": FILLED,
    "index_fill.int_Tensor": {**FILLED, "value": A_NUMBER},
    "index_reduce": {**FILLED, "source": values(2, 2, seed=1), "reduce": "mean"},
    "nll_loss_backward": {
        "grad_output": A_NUMBER,
        "target": index(2, 0),
        "total_weight": torch.tensor(2.0, dtype=torch.float64),
    },
    "nll_loss2d_backward": {
        "grad_output": A_NUMBER,
        "self": values(2, 3, 1, 2),
        "target": index([[0, 2]], [[1, 0]]),
        "ignore_index": -100,
        "total_weight": torch.tensor(4.0, dtype=torch.float64),
    },
    "pixel_shuffle": {"self": values(1, 4, 2, 2), "upscale_factor": 2},
    "pixel_unshuffle": {"self": values(1, 1, 4, 2), "downscale_factor": 2},
    "special_zeta.self_scalar": {"self": 1.5},  # it is not defined below one
    "unsafe_split_with_sizes": {"split_sizes": [1, 2], "dim": 1},
    "where.self": {"condition": MASK},
}


def positive(factor: Any) -> Any:
    return factor @ factor.mT


BEFORE: Final[dict[str, Callable[[Any], Any]]] = {
    **dict.fromkeys(("aten::_linalg_eigh", "aten::cholesky"), positive),
    "aten::linalg_cholesky_ex": positive,
    **dict.fromkeys(("aten::cholesky_inverse", "aten::cholesky_solve"), torch.tril),
    "aten::_conj": torch.ops.aten.view_as_complex,
    "aten::view_as_real": torch.ops.aten.view_as_complex,
}
"""What is done to the numbers that an operator wants in another form."""


OF_THE_FORWARD: Final = ("aten::log_sigmoid_backward",)
"""Kernels that read what the forward has kept, which a step of the input does not change."""
OF_TESTS: Final = frozenset(
    ("aten::_test_autograd_multiple_dispatch.fullcoverage", "aten::_test_warn_in_autograd")
)
"""What torch's own tests call, with a gradient on purpose that is another, or warns."""
OF_STEPS: Final = frozenset(
    (
        "aten::fake_quantize_per_tensor_affine_cachemask",
        "aten::_fake_quantize_per_tensor_affine_cachemask_tensor_qparams",
        "aten::fake_quantize_per_channel_affine_cachemask",
        "aten::_fake_quantize_learnable_per_tensor_affine",
        "aten::_fake_quantize_learnable_per_channel_affine",
    )
)
"""Functions that go by steps, whose gradient is that of the line through these."""
OF_LAYOUTS: Final = frozenset(
    (
        *("aten::_to_sparse", "aten::_to_sparse.sparse_dim"),
        *("aten::_to_sparse_csr", "aten::_to_sparse_csc", "aten::to_mkldnn", "aten::values"),
    )
)
"""Their results, or their operands, are sparse or opaque (tests/unit/test_odd_arguments.py)."""


def spelled(name: str) -> str:
    """The key in `ARGUMENTS`: ``aten::scatter_.src`` has the arguments of ``scatter.src``."""
    base, dot, overload_name = name.removeprefix("aten::").partition(".")
    return f"{base.rstrip('_') if base.endswith('_') else base}{dot}{overload_name}"


def arguments(name: str) -> dict[str, Any]:
    """A value for every argument of an operator."""
    own = name.removeprefix("aten::")
    given = ARGUMENTS.get(own) or ARGUMENTS.get(spelled(name), {})
    found = {}
    for place, argument in enumerate(parse_printed_schema(SCHEMAS[name]).arguments):
        if argument.name in given:
            found[argument.name] = given[argument.name]
        elif argument.has_default:
            found[argument.name] = argument.default_value
        else:
            found[argument.name] = sample(argument.name, str(argument.type), place)
    return found


def sample(name: str, kind: str, seed: int) -> Any:
    """A value of a type; `LookupError` where it takes more than the type to find one."""
    if kind == "Tensor":
        return MASK if name in ("mask", "condition") else values(2, 3, seed=seed)
    if kind == "List[Tensor]":
        return [values(2, 3, seed=seed), values(2, 3, seed=seed + 1)]
    if kind == "List[number]":
        return [0.7, 1.3]
    known = {"number": 0.7, "float": 0.7, "bool": False, "int": 1, "SymInt": 1, "List[int]": [0]}
    return known.get(kind) if kind.startswith("Optional") else known[kind]


class Function:
    """An operator as a function of those of its arguments that have a gradient."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.arguments = arguments(name)
        facts = profile.active().derivatives["operators"][name]
        self.outputs = facts["outputs"]
        named = [each for each in facts["inputs"] if each in self.arguments]
        self.places = [(each, at) for each in named for at in self._tensors(self.arguments[each])]
        self.operator = overload(name)
        self.schema = parse_printed_schema(SCHEMAS[name])

    @staticmethod
    def _tensors(value: Any) -> Iterator[int | None]:
        """Where the float tensors of an argument are: it itself, or its items."""
        if isinstance(value, torch.Tensor):
            if value.is_floating_point():
                yield None
        elif isinstance(value, list):
            yield from range(len(value)) if isinstance(value[0], torch.Tensor) else ()

    def inputs(self) -> list[Any]:
        return [
            self.arguments[each] if at is None else self.arguments[each][at]
            for each, at in self.places
        ]

    def __call__(self, *inputs: Any) -> Any:
        """A weighted sum of all outputs that have a gradient."""
        given = {
            name: list(value) if isinstance(value, list) else value
            for name, value in self.arguments.items()
        }
        before = BEFORE.get(self.name, lambda each: each)
        for (name, at), value in zip(self.places, inputs, strict=True):
            if at is None:
                given[name] = before(value)
            else:
                given[name][at] = before(value)
        for argument in self.schema.arguments:
            if argument.is_write:
                given[argument.name] = copied(given[argument.name])
        split = [argument.name for argument in self.schema.arguments if argument.kwarg_only]
        keywords = {name: given.pop(name) for name in split}
        outputs = self.operator(*given.values(), **keywords)
        if isinstance(outputs, tuple):
            outputs = [outputs[at] for at in self.outputs]
        return sum(weighted(each) for each in flattened(outputs))


def copied(value: Any) -> Any:
    return [each.clone() for each in value] if isinstance(value, list) else value.clone()


def flattened(outputs: Any) -> Iterator[Any]:
    for each in outputs if isinstance(outputs, (list, tuple)) else (outputs,):
        if each.is_complex():
            each = each.resolve_conj()
            yield torch.ops.aten.view_as_real(each)
        elif each.is_floating_point():
            yield each


def weighted(tensor: Any) -> Any:
    weights = values(*tensor.shape, seed=9) if tensor.dim() else 0.6
    return (tensor * weights).sum()


def differences(function: Function, inputs: list[Any], place: int) -> list[float]:
    """The derivative of a function after each number of one of its inputs."""
    found = []
    flat = inputs[place].reshape(-1).tolist()
    for at in range(len(flat)):
        ends = []
        for step in (STEP, -STEP):
            moved = [*flat]
            moved[at] += step
            near = torch.tensor(moved, dtype=torch.float64).reshape(inputs[place].shape)
            ends.append(function(*inputs[:place], near, *inputs[place + 1 :]).item())
        found.append((ends[0] - ends[1]) / (2 * STEP))
    return found


def attempt(name: str) -> tuple[Function, list[Any], Any] | Exception:
    """A function of leaves and what it answers, or why its operator refuses the arguments."""
    try:
        function = Function(name)
        leaves = [each.clone().requires_grad_() for each in function.inputs()]
        return function, leaves, function(*leaves)
    except (LookupError, RuntimeError, TypeError, ValueError) as error:
        return error


def test_nine_of_ten_operators_have_arguments() -> None:
    names = sorted(operators())
    refused = [name for name in names if isinstance(attempt(name), Exception)]
    assert len(refused) <= len(names) / 10, refused


def is_nothing(grad: Any) -> bool:
    """No gradient, or zeros without storage, which show no values."""
    return grad is None or grad._is_zerotensor()


def test_what_torch_s_own_tests_call_has_the_gradient_that_they_look_for() -> None:
    x = torch.ones(2, requires_grad=True)
    torch._test_autograd_multiple_dispatch(x).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]  # that of a copy, and one more
    with pytest.warns(UserWarning, match="Warn from backward"):
        torch.ops.aten._test_warn_in_autograd(x).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


@pytest.mark.filterwarnings("ignore:torch.triangular_solve is deprecated")
@pytest.mark.parametrize("name", sorted(operators()))
def test_a_gradient_is_the_limit_of_differences(name: str) -> None:
    if name in OF_THE_FORWARD:
        pytest.skip("its gradient is that of the forward's input, which it does not look at")
    checked = attempt(name)
    if isinstance(checked, Exception):
        pytest.skip(f"no arguments are known that it takes: {checked}")
    function, leaves, result = checked
    inputs = function.inputs()
    assert inputs, "no argument has a gradient"
    assert result.requires_grad
    try:
        grads = torch.autograd.grad(result, leaves, allow_unused=True)
    except NotImplementedError as missing:
        pytest.skip(str(missing))
    for place, grad in enumerate(grads):
        shown = [0.0] * inputs[place].numel() if is_nothing(grad) else grad.reshape(-1).tolist()
        expected = differences(function, inputs, place)
        assert shown == pytest.approx(expected, rel=TOLERANCE, abs=TOLERANCE), place


@once_per_other_profile
def test_gradients_of_other_releases(other: str) -> None:
    run_again(__file__, other)


def test_a_wrong_gradient_is_noticed() -> None:
    """The check can fail: it is given a derivative that is off by a millionth."""
    function = Function("aten::mul.Tensor")
    inputs = function.inputs()
    leaves = [each.clone().requires_grad_() for each in inputs]
    (grad, _) = torch.autograd.grad(function(*leaves), leaves)
    expected = differences(function, inputs, 0)
    assert grad.reshape(-1).tolist() == pytest.approx(expected, rel=TOLERANCE, abs=TOLERANCE)
    assert (grad * (1 + 1e-6)).reshape(-1).tolist() != pytest.approx(
        expected, rel=TOLERANCE, abs=TOLERANCE
    )
