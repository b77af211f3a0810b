"""Extracts which kernels take which dtypes: pointwise operators, asked with tensors of each.

Each fact is what torch answers when it is asked.  An operator is asked with every tensor of one
dtype, every number ``NUMBER`` (or True, lest it bring in another dtype), and the values of its
other arguments that ``CHOICES`` has.
"""

import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import product
from typing import Any

import torch

from conformance.extract.tensors import dtypes
from conformance.extract.values import cpp_name, short

#: Values of arguments that choose a kernel.
CHOICES: dict[str, list[Any]] = {
    "rounding_mode": [None, "trunc", "floor"],
    "approximate": ["none", "tanh"],
}
#: Marks an operator that is asked with a second tensor of no dimensions, if it answers otherwise.
SCALAR = "[scalar]"
#: A number that no kernel has a shortcut for.
NUMBER = 3
#: Optional arguments that are given: without any of them there is nothing to do.
GIVEN = ("min", "max")
#: Tensors that are masks whatever the others are.
MASKS = ("condition", "mask")
THREE = torch.ones(3)
#: Questions that releases answer differently, each with yes or no.
HABITS: dict[str, Callable[[], object]] = {
    "a power is cast to its output": lambda: torch.pow(
        torch.ones(1), 3, out=torch.ones(1, dtype=torch.float64)
    ),
    "a loss's gradient promotes its target": lambda: torch.ops.aten.mse_loss_backward(
        torch.ones(()), torch.ones(1), torch.ones(1, dtype=torch.int64), 1
    ),
    "a cross product goes where it comes from": lambda: torch.linalg.cross(
        THREE, torch.ones(3), out=THREE
    ),
    "addmv takes two dtypes": lambda: torch.mv(
        torch.ones(0, 1), torch.ones(1, dtype=torch.float64)
    ),
    "a dot of halves rounds its products": lambda: answers(
        torch.tensor([1 + 2**-7, 1], dtype=torch.bfloat16)
        .dot(torch.tensor([1 + 2**-7, -1 - 2**-6], dtype=torch.bfloat16))
        .item()
        == 0
    ),
    "addmv of float16 adds in more precision": lambda: answers(
        torch.addmv(
            torch.tensor([1 + 2**-10], dtype=torch.float16),
            torch.tensor([[-1 - 2**-9, 0]], dtype=torch.float16),
            torch.ones(2, dtype=torch.float16),
            beta=1 + 2**-10,
        ).item()
        != 0
    ),
    "isclose broadcasts what is no number": lambda: torch.isclose(
        torch.ones(2, 1), torch.ones(2, 2), equal_nan=True
    ),
    "a gradient of softmax rounds its sum": lambda: answers(
        torch.ops.aten._softmax_backward_data(
            torch.tensor([1, 2**-9], dtype=torch.bfloat16),
            torch.ones(2, dtype=torch.bfloat16),
            0,
            torch.bfloat16,
        )[0].item()
        == 0
    ),
    "index_add takes an index from elsewhere": lambda: torch.index_add(
        torch.ones(1, device="meta"), 0, torch.zeros(1).long(), torch.ones(1, device="meta")
    ),
    "linear flattens three dimensions whatever the bias": lambda: says(
        "expanded size",
        lambda: torch.nn.functional.linear(torch.ones(1, 2, 3), torch.ones(3, 3), torch.ones(3, 3)),
    ),
    "take_along_dim counts from the end": lambda: torch.take_along_dim(
        torch.ones(1), torch.tensor([-1]), 0
    ),
    "topk refuses before it resizes": lambda: answers(leaves_its_output(torch.topk, 1)),
    "sort refuses before it resizes": lambda: answers(leaves_its_output(torch.sort)),
    "nansum adds up floats as integers": lambda: torch.ones(1).nansum(dtype=torch.int64),
    "nanmean looks at its dtype": lambda: says(
        "could not infer", lambda: torch.ones(1).nanmean(dtype=torch.int64)
    ),
    "nanmean writes to an output on meta": lambda: torch.nanmean(
        torch.empty(2, device="meta"), out=torch.empty((), device="meta")
    ),
    "logsumexp takes complex numbers": lambda: torch.logsumexp(
        torch.ones(1, dtype=torch.complex64), 0
    ),
    "a norm looks at the kind of its order": lambda: says(
        "non-complex", lambda: torch.ones(1).norm(1j)
    ),
    "a norm drops imaginary halves": lambda: answers(
        torch.tensor([1j, 1j], dtype=torch.complex32).norm().item() == 0
    ),
    "a running extreme takes any dimension of a scalar": lambda: torch.ones(()).cummax(2),
    "a running extreme takes any dimension of nothing": lambda: torch.ones(0).cummax(2),
    "aminmax looks at its outputs first": lambda: says(
        "Expected out tensor",
        lambda: torch.aminmax(torch.ones(1), dim=2, out=(torch.ones(1).int(),) * 2),
    ),
    "the outputs of aminmax may overlap": lambda: torch.aminmax(
        torch.ones(1), out=(torch.ones(()),) * 2
    ),
    "matmul folds whatever the stride of one row is": lambda: says(
        "size mismatch", lambda: torch.matmul(torch.ones(2), torch.ones(1, 3, 3))
    ),
    "linear answers a view": lambda: answers(
        torch.nn.functional.linear(
            torch.ones(2, requires_grad=True), torch.ones(2, 2), torch.ones(2)
        )._is_view()
    ),
    "combinations are counted before they are looked for": lambda: torch.combinations(
        torch.ones(1, device="meta")
    ),
    "clamp drops bounds beyond an integer's range": lambda: torch.clamp(
        torch.ones(1, dtype=torch.uint8), max=256
    ),
    "hardtanh leaves bytes to clamp": lambda: torch.nn.functional.hardtanh(
        torch.ones(1, dtype=torch.uint8)
    ),
    "a trace has a gradient along its diagonal alone": lambda: answers(
        gradient_of_trace() == [[1.0], [0.0], [0.0]]
    ),
    "clamp looks no further than a NaN": lambda: torch.clamp(torch.ones(1), float("nan"), 1j),
    "softshrink keeps the sign of its zeros": lambda: answers(
        torch.nn.functional.softshrink(-torch.ones(1) / 4).signbit().item()
    ),
    "softshrink has a bound by dtype": lambda: says(
        "must be in range", lambda: torch.nn.functional.softshrink(torch.ones(1), -1)
    ),
    "ldexp has powers of the dtype of what they multiply": lambda: answers(
        torch.ldexp(torch.ones(1).double(), torch.tensor([200])).isfinite().item()
    ),
    "a mean of halves leaves its output": lambda: answers(
        left_by_mean(torch.ones((), dtype=torch.float16)) == 1
    ),
    "fill_diagonal_ asks no value for its offset": lambda: says(
        "storage offset 1", diagonal_of_copy
    ),
    "lerp on meta subtracts": lambda: says(
        "two bool tensors",
        lambda: torch.lerp(*[torch.ones(1, dtype=torch.bool, device="meta")] * 3),
    ),
}
#: Operators that are pointwise though nothing says so.
UNTAGGED = (
    *("floor_divide", "isfinite", "leaky_relu", "threshold", "elu", "celu", "hardtanh", "softplus"),
    *("mish", "hardsigmoid", "hardswish", "hardshrink", "softshrink"),
)
#: Operators of a formula that have kernels here.
BACKWARD = tuple(
    f"{name}_backward"
    for name in (
        *("elu", "gelu", "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "leaky_relu"),
        *("logit", "mish", "sigmoid", "silu", "softplus", "softshrink", "tanh", "threshold"),
    )
)
#: Reductions and scans, which are asked over all dimensions or the first, and for results of the
#: dtype.
REDUCTIONS = (
    *("sum.dim_IntList", "amax", "amin", "prod.dim_int", "nansum", "any.dim", "all.dim", "any"),
    *("all", "max", "min", "max.dim", "min.dim", "aminmax", "argmax", "argmin", "cumsum"),
    *("cumprod", "cummax", "cummin", "median", "median.dim", "count_nonzero.dim_IntList"),
    *("var.correction", "var_mean.correction", "linalg_vector_norm"),
)
#: Products of matrices, with the shapes of their operands.
PRODUCTS: dict[str, list[tuple[int, ...]]] = {
    "mm": [(2, 2), (2, 2)],
    "bmm": [(1, 2, 2), (1, 2, 2)],
    "baddbmm": [(1, 2, 2), (1, 2, 2), (1, 2, 2)],
    "mv": [(2, 2), (2,)],
    "dot": [(2,), (2,)],
    "vdot": [(2,), (2,)],
    "addr": [(2, 2), (2,), (2,)],
    "trace": [(2, 2)],
    "linalg_cross": [(3,), (3,)],
}
#: Tensors that hold one number.
NUMBERS = {("masked_fill", "value")}


def extract() -> dict[str, Any]:
    """The section ``kernels.json``."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {name: refusals(operator, choice) for name, operator, choice in asked()}
    for name in [name for name in found if name.endswith(SCALAR)]:
        if found[name] == found[name.removesuffix(SCALAR)]:
            del found[name]
    return {
        "refusals": {name: answers for name, answers in sorted(found.items()) if answers},
        "habits": {name: is_taken(ask) for name, ask in HABITS.items()},
    }


def is_taken(ask: Callable[[], object]) -> bool:
    try:
        ask()
    except (RuntimeError, IndexError, TypeError, ValueError):
        return False
    return True


def gradient_of_trace() -> list[list[float]]:
    """Of a matrix with more rows than its diagonal has elements."""
    matrix = torch.ones(3, 1, requires_grad=True)
    torch.trace(matrix).backward()
    found: list[list[float]] = matrix.grad.tolist()
    return found


def diagonal_of_copy() -> None:
    """Fill the diagonal of a functional tensor whose value begins where its storage does, which
    it did not at first."""
    y = torch._to_functional_tensor(torch.ones(5)[1:].view(2, 2))
    y.squeeze_()
    y.fill_diagonal_(1)


def left_by_mean(output: torch.Tensor) -> float:
    """What is in an output behind it."""
    torch.mean(torch.zeros(2, dtype=output.dtype), 0, out=output)
    return float(output)


def answers(yes: bool) -> None:
    """RuntimeError for a no."""
    if not yes:
        raise RuntimeError("no")


def leaves_its_output(function: Callable[..., object], *args: int) -> bool:
    """Whether an output has the size that it had, where the elements are refused."""
    indices = torch.zeros(3).long()
    with suppress(RuntimeError, TypeError, ValueError):
        values = torch.ones(2, dtype=torch.complex64)
        function(values, *args, out=(torch.zeros_like(values), indices))
    return len(indices) == 3


def says(words: str, ask: Callable[[], object]) -> None:
    """RuntimeError unless an error has these words."""
    try:
        ask()
    except RuntimeError as error:
        if words in str(error):
            return
    raise RuntimeError(f"no error with {words}")


def asked() -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Every pointwise operator that makes a tensor, once for each choice; its name tells which."""
    for name in sorted(torch._C._dispatch_get_all_op_names()):
        namespace, _, rest = name.partition("::")
        base, _, overload = rest.partition(".")
        if namespace != "aten" or base.startswith(("special_", "_")):
            continue
        operator = getattr(getattr(torch.ops.aten, base), overload or "default")
        arguments = operator._schema.arguments
        if operator._schema.is_mutable:
            continue
        is_pointwise = torch.Tag.pointwise in operator.tags or base in (*UNTAGGED, *BACKWARD)
        if not is_pointwise and rest not in (*REDUCTIONS, *PRODUCTS):
            continue
        if (base.endswith("_backward") and base not in BACKWARD) or not is_askable(arguments):
            continue
        chosen = [argument.name for argument in arguments if argument.name in CHOICES]
        for values in product(*(CHOICES[each] for each in chosen)):
            suffix = f"({', '.join(map(str, values))})" if chosen else ""
            choice = dict(zip(chosen, values, strict=True))
            yield name + suffix, operator, choice
            if sum(str(argument.type) == "Tensor" for argument in arguments) == 2:
                yield f"{name}{suffix}{SCALAR}", operator, {**choice, SCALAR: True}


def is_askable(arguments: list[Any]) -> bool:
    kinds = [
        str(argument.type)
        for argument in arguments
        if not argument.has_default_value() and argument.name not in (*CHOICES, "dim")
    ]
    return "Tensor" in kinds and set(kinds) <= {"Tensor", "number", "int", "bool"}


def refusals(operator: Any, choice: dict[str, Any]) -> list[dict[str, Any]]:
    """Each error that an operator raises for tensors of a dtype, once, and those dtypes.

    ``{}`` in a message stands for the C++ name of the dtype.  The kernels that C++ compiles for
    each dtype say that they are not implemented for it; other messages are checks before them.
    """
    found: dict[tuple[str, str], list[str]] = {}
    for dtype in dtypes():
        if short(dtype).startswith(("q", "bits")):
            continue  # whose tensors other backends compute, or nobody
        refusal = refused(operator, choice, dtype)
        if refusal is not None:
            error, message = refusal
            text = message.replace(f"'{cpp_name(dtype)}'", "'{}'")
            found.setdefault((error, text), []).append(short(dtype))
    return [
        {"error": error, "message": message, "dtypes": names}
        for (error, message), names in found.items()
    ]


def refused(operator: Any, choice: dict[str, Any], dtype: torch.dtype) -> tuple[str, str] | None:
    """What an operator raises for tensors of a dtype; None if it takes them."""
    values: list[Any] = []
    base = operator._schema.name.removeprefix("aten::")
    shapes: list[tuple[int, ...]] = [(2,), () if SCALAR in choice else (2,), (2,), (2,)]
    if SCALAR not in choice:
        shapes = list(PRODUCTS.get(base, shapes))
    for argument in operator._schema.arguments:
        name, kind = argument.name, str(argument.type)
        if name in GIVEN:
            kind = kind.removeprefix("Optional[").removesuffix("]")
        if kind == "Tensor" and (base, name) in NUMBERS:
            values.append(ones(dtype, ()))
        elif kind == "Tensor":
            values.append(ones(torch.bool if name in MASKS else dtype, shapes.pop(0)))
        elif name in CHOICES:
            values.append(choice[name])
        elif name == "dtype":
            values.append(dtype)
        elif name == "dim":
            has_default = argument.has_default_value()
            values.append(0 if kind == "int" else argument.default_value if has_default else [])
        elif argument.has_default_value() and name not in GIVEN:
            values.append(argument.default_value)
        elif kind == "bool":
            values.append(False)
        else:
            values.append(dtype is torch.bool or NUMBER)
    keywords = {
        argument.name: value
        for argument, value in zip(operator._schema.arguments, values, strict=True)
    }
    try:
        operator(**keywords)
    except Exception as error:
        message = str(error).partition("\n")[0]
        if "Could not run" not in message and "INTERNAL ASSERT" not in message:
            return type(error).__name__, message
    return None


def ones(dtype: torch.dtype, shape: tuple[int, ...]) -> torch.Tensor:
    """Ones, or zeros where no kernel makes ones."""
    try:
        return torch.ones(shape).to(dtype)
    except (RuntimeError, NotImplementedError):
        return torch.zeros(shape, dtype=dtype)
