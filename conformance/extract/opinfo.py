"""Extracts the inputs with which torch tests its operators: OpInfo's samples and error inputs.

Mirrors ``op_db`` of torch/testing/_internal/common_methods_invocations.py, which needs the package
``expecttest``.  What is taken are inputs alone, as facts: how a function is called, and for each
sample the texts of its arguments and the dtype, sizes, strides and values of its tensors.

An input is written so that it can be read: numbers have three digits, and a tensor of more than
`LITERALS` elements is a range of numbers over the interval of its own.  A sample that no text can
say (`Unwritable`) is counted under its reason, and so are those beyond the limits below.
"""

import contextlib
import math
import operator
import random
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from typing import Any

import numpy
import torch
from torch.overrides import TorchFunctionMode, resolve_name

#: In this order; the first that an operator takes is its principal one, of which more is asked.
DTYPES = ("float32", "float64", "int64", "bool", "complex64", "float16", "bfloat16")
#: How many samples are kept of the principal dtype, of each other, with gradients, of errors.
PRINCIPAL, OTHER, GRADIENTS, ERRORS = 16, 4, 6, 24
#: The dtype of samples whose gradient is asked for.
GRADIENT_DTYPE = torch.float64
#: Tensors of more elements are written as a range, and those of more than ``LARGEST`` not at all.
LITERALS, LARGEST = 6, 600
#: How many different values a range has at most.
RANGE = 61
#: Decimal digits of a number.
DIGITS = 3
#: Functions with a symbol in Python, and how they are written.
SYMBOLS = {
    **{
        f"__r{name}__": f"{{1}} {symbol} {{0}}"
        for name, symbol in (
            ("add", "+"),
            ("sub", "-"),
            ("mul", "*"),
            ("div", "/"),
            ("mod", "%"),
            ("pow", "**"),
            ("matmul", "@"),
            ("and", "&"),
            ("or", "|"),
            ("xor", "^"),
        )
    },
    "__getitem__": "{0}[{1}]",
}
#: The functions of Python's ``operator`` that samples are called with.
OPERATORS = {
    operator.add: "+",
    operator.sub: "-",
    operator.mul: "*",
    operator.truediv: "/",
    operator.floordiv: "//",
    operator.mod: "%",
    operator.pow: "**",
    operator.matmul: "@",
    operator.and_: "&",
    operator.or_: "|",
    operator.xor: "^",
    operator.lshift: "<<",
    operator.rshift: ">>",
    operator.eq: "==",
    operator.ne: "!=",
    operator.lt: "<",
    operator.le: "<=",
    operator.gt: ">",
    operator.ge: ">=",
}
#: Where functions are looked for, by how a case says it.
MODULES = {
    "xp": torch,
    "xp.nn.functional": torch.nn.functional,
    "xp.linalg": torch.linalg,
    "xp.special": torch.special,
    "xp.fft": torch.fft,
    "xp.sparse": torch.sparse,
    "xp._C._nn": torch._C._nn,
}
#: What a function that draws random numbers is tested through: it sets the seed first.
SEEDED = "wrapper_set_seed"
#: What functions of the tests do before they call what they test.
PREPARATION = (torch.manual_seed, torch.clone, torch.Tensor.clone)


class Unwritable(Exception):  # noqa: N818 (it is no error of anyone's)
    """A sample that no text can say; the message is the reason."""


def extract() -> dict[str, Any]:
    """The section ``opinfo.json``."""
    # Imported late: it takes seconds, and has torch import much of itself.
    from torch.testing._internal.common_methods_invocations import op_db

    with warnings.catch_warnings(), torch.random.fork_rng():
        warnings.simplefilter("ignore")
        found = [operator_facts(info) for info in op_db]
    return {
        "operators": [facts for facts, _ in found if facts],
        "left_out": {
            info.formatted_name: dict(sorted(reasons.items()))
            for info, (_, reasons) in zip(op_db, found, strict=True)
            if reasons
        },
    }


def operator_facts(info: Any) -> tuple[dict[str, Any], Counter[str]]:
    """What is known of one operator, empty without any sample; and why what is left out."""
    left_out: Counter[str] = Counter()
    call = Call(info)
    samples = [*plain_samples(info, call, left_out), *gradient_samples(info, call, left_out)]
    errors = list(error_samples(info, call, left_out))
    if not samples and not errors:
        return {}, left_out
    facts: dict[str, Any] = {"name": info.formatted_name, "call": call.text}
    if call.is_seeded:
        facts["seeded"] = True
    if call.is_direct:
        facts |= variants(info)
    return {**facts, "samples": samples, "errors": errors}, left_out


def variants(info: Any) -> dict[str, Any]:
    """The other ways in which an operator is called, where it has them."""
    found = {
        "method": name_of(info.method_variant),
        "inplace": name_of(info.inplace_variant),
        "symbol": OPERATORS.get(info.operator_variant),
        "out": info.supports_out,
    }
    return {name: value for name, value in found.items() if value}


def name_of(method: Any) -> str | None:
    """The name of a method of tensors, None for any other function."""
    name = getattr(method, "__name__", "")
    return name if method is not None and getattr(torch.Tensor, name, None) is method else None


# How it is called -------------------------------------------------------------------------------


class Call:
    """How an operator's samples are called: ``xp.add``, ``.item``, or ``{1} + {0}``.

    ``info.op`` is torch's function, or a function of the tests that calls one: then what it calls
    is looked at, with which arguments.
    """

    def __init__(self, info: Any) -> None:
        self._function = info.op
        self.text = path_of(info.op)
        self.is_direct = bool(self.text)
        code = getattr(info.op, "__code__", None)
        self.is_seeded = bool(code and SEEDED in code.co_names)

    def arguments(self, sample: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Those of the function that ``text`` says, for a sample."""
        args, kwargs = (sample.input, *sample.args), sample.kwargs
        if self.is_direct:
            return args, kwargs
        watch = Watch()
        with watch, contextlib.suppress(Exception):
            self._function(*args, **kwargs)
        calls = [each for each in watch.calls if not is_preparation(each[0])]
        if len(calls) != 1:
            raise Unwritable("it calls several functions of torch's, or none")
        function, args, kwargs = calls[0]
        text = path_of(function)
        if not text or (self.text and text != self.text):
            raise Unwritable("it calls a function without a name")
        self.text = text
        return args, kwargs

    def result(self, sample: Any) -> Any:
        return self._function(sample.input, *sample.args, **sample.kwargs)


class Watch(TorchFunctionMode):
    """Takes down which functions of torch's are called, not those that they call in turn."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = []

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        self.calls.append((func, args, kwargs or {}))
        return func(*args, **(kwargs or {}))


def is_preparation(function: Any) -> bool:
    """Whether a function of the tests only prepares a call with it, or looks at what came out."""
    return function in PREPARATION or getattr(function, "__self__", None) is torch.Tensor.device


def path_of(function: Any) -> str:
    """How a case says a function: ``xp.nn.functional.relu``; empty if it cannot.

    A method is ``.item``; a property, or what Python has a symbol for, has its arguments in it.
    """
    name = getattr(function, "__name__", "")
    if name == "__get__":
        return f"{{0}}.{function.__self__.__name__}"
    if isinstance(function, (torch._ops.OpOverload, torch._ops.OpOverloadPacket)):
        return f"xp.ops.{resolve_name(function) or function}"
    if getattr(torch.Tensor, name, None) is function:
        return SYMBOLS.get(name, "" if name.startswith("__") else f".{name}")
    return functions().get(id(function), "")


@cache
def functions() -> dict[int, str]:
    """By identity; the first name of a function is the one it is known by."""
    found: dict[int, str] = {}
    for path, module in MODULES.items():
        for name, value in vars(module).items():
            if callable(value) and not name.startswith("__") and not isinstance(value, type):
                found.setdefault(id(value), f"{path}.{name}")
    return found


# Samples ----------------------------------------------------------------------------------------


def plain_samples(info: Any, call: Call, left_out: Counter[str]) -> Iterator[dict[str, Any]]:
    """Some of every dtype, without gradients."""
    supported = info.supported_dtypes("cpu")
    dtypes = [dtype for dtype in (getattr(torch, name) for name in DTYPES) if dtype in supported]
    for which, dtype in enumerate(dtypes):
        made = drawn(partial(info.sample_inputs, "cpu", dtype), left_out)
        limit = OTHER if which else PRINCIPAL
        for sample in written(made, call, limit, left_out):
            yield {"dtype": str(dtype).removeprefix("torch."), **sample}


def gradient_samples(info: Any, call: Call, left_out: Counter[str]) -> Iterator[dict[str, Any]]:
    """Some whose results can be differentiated; ``differentiable`` says which results can."""
    if not info.supports_autograd or GRADIENT_DTYPE not in info.supported_backward_dtypes("cpu"):
        return
    made = drawn(lambda: info.sample_inputs("cpu", GRADIENT_DTYPE, requires_grad=True), left_out)
    for sample in written(made, call, GRADIENTS, left_out, gradients=True):
        yield {"dtype": str(GRADIENT_DTYPE).removeprefix("torch."), **sample}


def error_samples(info: Any, call: Call, left_out: Counter[str]) -> list[dict[str, Any]]:
    """What an operator refuses."""
    if info.error_inputs_func is None:
        return []
    made = drawn(lambda: (each.sample_input for each in info.error_inputs("cpu")), left_out)
    return written(made, call, ERRORS, left_out)


def drawn(make: Callable[[], Iterable[Any]], left_out: Counter[str]) -> list[Any]:
    """Samples of the same random numbers every time."""
    torch.manual_seed(0)
    random.seed(0)
    numpy.random.seed(0)
    found = []
    try:
        for sample in make():
            found.append(sample)
    except Exception as error:
        left_out[f"drawing samples raises {type(error).__name__}"] += 1
    return found


def written(
    samples: Sequence[Any],
    call: Call,
    limit: int,
    left_out: Counter[str],
    *,
    gradients: bool = False,
) -> list[dict[str, Any]]:
    """At most ``limit`` of the samples that can be written, each once, evenly spaced."""
    found: list[dict[str, Any]] = []
    for sample in spaced(samples, limit * 2, left_out):
        try:
            args, kwargs = call.arguments(sample)
            facts = Writer().sample(args, kwargs)
            if gradients:
                facts["differentiable"] = differentiable(call, sample)
        except Unwritable as reason:
            left_out[str(reason)] += 1
        else:
            if facts not in found:
                found.append(facts)
    return spaced(found, limit, left_out)


def spaced(samples: Sequence[Any], limit: int, left_out: Counter[str]) -> list[Any]:
    """At most ``limit`` of the samples, the first among them."""
    if len(samples) <= limit:
        return list(samples)
    left_out["more than enough"] += len(samples) - limit
    return [samples[place * len(samples) // limit] for place in range(limit)]


def differentiable(call: Call, sample: Any) -> list[int] | None:
    """The places of results that have a gradient; None for a result that is one tensor."""
    result = call.result(sample)
    if isinstance(result, torch.Tensor) and result.requires_grad:
        return None
    if isinstance(result, (tuple, list)):
        places = [place for place, each in enumerate(result) if has_gradient(each)]
        if places:
            return places
    raise Unwritable("its result has no gradient")


def has_gradient(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.requires_grad


# Texts ------------------------------------------------------------------------------------------


class Writer:
    """Writes the arguments of one call: ``{0}`` stands for the first tensor in it, and so on."""

    def __init__(self) -> None:
        self._tensors: list[dict[str, Any]] = []

    def sample(self, args: Iterable[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        positional = [self.text(value) for value in args]
        named = [f"{name}={self.text(value)}" for name, value in kwargs.items()]
        return {"arguments": [*positional, *named], "tensors": self._tensors}

    def text(self, value: Any) -> str:
        """A Python expression for ``value``."""
        if isinstance(value, torch.Tensor):
            self._tensors.append(tensor_facts(value))
            return f"{{{len(self._tensors) - 1}}}"
        if isinstance(value, (torch.dtype, torch.layout, torch.memory_format)):
            return str(value).replace("torch.", "xp.")
        if isinstance(value, torch.device):
            return repr(str(value))
        if isinstance(value, (list, tuple)):
            return self._sequence(value)
        if isinstance(value, slice):
            return (
                f"slice({self.text(value.start)}, {self.text(value.stop)}, {self.text(value.step)})"
            )
        if type(value) in (float, complex):
            return number(value)
        if value is None or type(value) in (bool, int, str):
            return repr(value).replace("{", "{{").replace("}", "}}")
        if value is Ellipsis:
            return "..."
        raise Unwritable(f"an argument is a {type(value).__name__}")

    def _sequence(self, values: Any) -> str:
        inner = ", ".join(map(self.text, values))
        if isinstance(values, list):
            return f"[{inner}]"
        return f"({inner},)" if len(values) == 1 else f"({inner})"


def number(value: complex) -> str:
    """A number of few digits as a text."""
    if isinstance(value, complex):
        real, imaginary = (float(f"{part:.{DIGITS}g}") for part in (value.real, value.imag))
        if not (math.isfinite(real) and math.isfinite(imaginary)):
            raise Unwritable("a complex number is not finite")
        return repr(complex(real, imaginary))
    if math.isnan(value):
        return "xp.nan"
    if math.isinf(value):
        return "xp.inf" if value > 0 else "-xp.inf"
    return repr(float(f"{value:.{DIGITS}g}"))


def tensor_facts(tensor: torch.Tensor) -> dict[str, Any]:
    """A tensor's dtype, sizes and values; its strides where it is not row-major."""
    if type(tensor) is not torch.Tensor or tensor.is_quantized or tensor.layout != torch.strided:
        raise Unwritable(f"a tensor of {type(tensor).__name__}, {tensor.layout}")
    if tensor.device.type != "cpu":
        raise Unwritable(f"a tensor on {tensor.device.type}")
    if tensor.numel() > LARGEST:
        raise Unwritable("a large tensor")
    if tensor.is_conj():
        return {**tensor_facts(tensor.conj()), "conj": True}
    if tensor.is_neg():
        raise Unwritable("a tensor with its negative bit")
    facts: dict[str, Any] = {
        "dtype": str(tensor.dtype).removeprefix("torch."),
        "shape": list(tensor.shape),
        **values_of(tensor.detach()),
    }
    if tensor.stride() != torch.empty(tensor.shape, device="meta").stride():
        facts["stride"] = list(tensor.stride())
    if tensor.requires_grad:
        facts["requires_grad"] = True
    return facts


def values_of(tensor: torch.Tensor) -> dict[str, Any]:
    """``values``, each as a text, or ``range``: how many numbers from where, in what steps."""
    flat = tensor.reshape(-1)
    count = flat.numel()
    if count <= LITERALS or (not flat.isfinite().all() and count <= RANGE):
        texts = [
            number(each) if isinstance(each, (float, complex)) else repr(each)
            for each in flat.tolist()
        ]
        return {"values": texts}
    part = flat.real if flat.is_complex() else flat
    finite = part[part.isfinite()].to(torch.float64 if part.is_floating_point() else torch.int64)
    if not len(finite):
        raise Unwritable("a tensor without a finite number")
    low, high = finite.min().item(), finite.max().item()
    if part.is_floating_point():
        return {"range": float_range(low, high, has_zero=bool((finite == 0).any()))}
    return {"range": [min(RANGE, high - low + 1), low, max(1, (high - low + 1) // RANGE)]}


def float_range(low: float, high: float, *, has_zero: bool) -> list[float]:
    """In steps of a power of two, so that every number is exact, in half precision too.

    Zero is among them only if it is among the values.
    """
    if high == low:
        return [1, low, 1]
    step = 2.0 ** math.floor(math.log2((high - low) / (RANGE - 1)))
    aside = 0.0 if has_zero else 0.5
    first = math.ceil(low / step - aside)
    count = min(RANGE, math.floor(high / step - aside) - first + 1)
    return [count, (first + aside) * step, step]
