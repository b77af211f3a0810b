"""Torch's samples as texts: a tensor, and the calls that a sample is a sample of."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from conformance.cases.opinfo_matrices import UNSIGNED, magnitudes

if TYPE_CHECKING:
    from mindtorch_v2.profile.sections import Sample, SampledOperator, SampleTensor

SEED: Final = "xp.manual_seed(5)\n"
IMAGINARY: Final = "(1 + 0.5j)"
"""What a range of complex numbers is a real one times."""

NESTED: Final = 4
"""Tensors of more dimensions are not written as nested lists."""


# Tensors ----------------------------------------------------------------------------------------


def tensor(facts: SampleTensor, device: str = "cpu") -> str:
    """An expression for a tensor; on meta it has no values, and only its strides are kept."""
    if device == "meta":
        made = _on_meta(facts)
    elif "diagonal" in facts:
        made = _with_diagonal(facts)
    else:
        made = _with_values(facts)
    return f"{made}.conj()" if "conj" in facts else made


def _on_meta(facts: SampleTensor) -> str:
    options = f"dtype=xp.{facts['dtype']}, device='meta'"
    if "stride" in facts:
        return f"xp.empty_strided({_tuple(facts['shape'])}, {_tuple(facts['stride'])}, {options})"
    return f"xp.empty({_tuple(facts['shape'])}, {options})"


def _with_values(facts: SampleTensor) -> str:
    shape, dtype = facts["shape"], facts["dtype"]
    if "stride" in facts:
        geometry = f"{_tuple(shape)}, {_tuple(facts['stride'])}"
        return f"{_storage(facts)}.as_strided({geometry})"
    if "values" in facts:
        if not math.prod(shape):
            return f"xp.empty({_tuple(shape)}, dtype=xp.{dtype})"
        return _literal(facts["values"], shape, dtype)
    return _numbers(facts, math.prod(shape), _tuple(shape))


def _with_diagonal(facts: SampleTensor) -> str:
    shape, (number, rows, columns) = facts["shape"], facts["diagonal"]
    identity = f"xp.eye({rows}, {columns}, dtype=xp.{facts['dtype']})"
    if [rows, columns] != shape[-2:]:
        identity += f".view({_tuple(shape)})"
    return f"({_with_values(facts)} + {number} * {identity})"


def _storage(facts: SampleTensor) -> str:
    """The one-dimensional tensor that a strided one is a view of."""
    shape, stride = facts["shape"], facts["stride"]
    if not math.prod(shape):
        return f"xp.empty(0, dtype=xp.{facts['dtype']})"
    steps = zip(shape, stride, strict=True)
    extent = 1 + sum((size - 1) * step for size, step in steps)
    if "values" not in facts:
        return _numbers(facts, extent)
    values = [facts["values"][0]] * extent
    for value, place in zip(facts["values"], _places(shape, stride), strict=True):
        values[place] = value
    return _literal(values, [extent], facts["dtype"])


def _places(shape: Sequence[int], stride: Sequence[int]) -> Iterator[int]:
    """Where in the storage the elements are, in row-major order."""
    if not shape:
        yield 0
        return
    for index in range(shape[0]):
        for inner in _places(shape[1:], stride[1:]):
            yield index * stride[0] + inner


def _numbers(facts: SampleTensor, size: int, shape: str = "") -> str:
    """So many numbers of a range, in an order that is not that of their size."""
    count, first, step = facts["range"]
    dtype = facts["dtype"]
    if count == 1:
        return f"xp.full({shape or _tuple([size])}, {first}, dtype=xp.{dtype})"
    scattered = f"xp.arange({size}) * {17 if count % 13 == 0 else 13} % {count}"
    if step != 1:
        scattered += f" * {step}"
    if first:
        scattered += f" + {first}"
    if dtype.startswith("complex"):
        scattered = f"({scattered}) * {IMAGINARY}"
    viewed = f".view{shape}" if shape and shape != _tuple([size]) else ""
    return f"({scattered}){viewed}.to(xp.{dtype})"


def _literal(values: Sequence[str], shape: Sequence[int], dtype: str) -> str:
    """Nested lists; of many dimensions a flat one, viewed."""
    if len(shape) > NESTED:
        return f"xp.tensor([{', '.join(values)}], dtype=xp.{dtype}).view({_tuple(shape)})"
    return f"xp.tensor({_nested(values, shape)}, dtype=xp.{dtype})"


def _nested(values: Sequence[str], shape: Sequence[int]) -> str:
    if not shape:
        return values[0]
    size = math.prod(shape[1:])
    rows = [values[start : start + size] for start in range(0, len(values), size)]
    return f"[{', '.join(_nested(row, shape[1:]) for row in rows)}]"


def _tuple(sizes: Sequence[int]) -> str:
    inner = ", ".join(map(str, sizes))
    return f"({inner},)" if len(sizes) == 1 else f"({inner})"


def regular(operator: SampledOperator) -> SampledOperator:
    """The same operator, whose samples are matrices that are far from being singular."""
    samples = []
    for sample in operator["samples"]:
        tensors = sample["tensors"]
        dominated = [_dominated(facts, alone=len(tensors) == 1) for facts in tensors]
        samples.append({**sample, "tensors": dominated})
    return {**operator, "samples": samples}  # type: ignore[typeddict-item]


def _dominated(facts: SampleTensor, *, alone: bool) -> SampleTensor:
    """A range of numbers, as matrices whose diagonal is larger than all else of a row.

    Those that are not square are right-hand sides, unless the tensor is ``alone``.
    """
    is_integral = not facts["dtype"].startswith(("float", "bfloat", "complex"))
    matrix = _matrix(facts["shape"], alone=alone)
    if is_integral or not matrix or facts.get("range", [1])[0] == 1:
        return facts
    count, first, step = facts["range"]
    largest = max(abs(first), abs(first + (count - 1) * step))
    return {**facts, "diagonal": [1 + math.ceil(largest * abs(1 + 0.5j) * matrix[1]), *matrix]}


def _matrix(shape: Sequence[int], *, alone: bool) -> Sequence[int]:
    """The rows and columns of what is factored; of many dimensions all may make one matrix."""
    rows = math.isqrt(math.prod(shape))
    if len(shape) >= 2 and shape[-1] == shape[-2]:
        return shape[-2:]
    if len(shape) > 2 and rows**2 == math.prod(shape):
        return rows, rows
    return shape[-2:] if alone and len(shape) >= 2 else ()


# Calls ------------------------------------------------------------------------------------------


def arguments(sample: Sample, device: str = "cpu") -> list[str]:
    """The arguments of a sample, its tensors in them."""
    made = [tensor(facts, device) for facts in sample["tensors"]]
    given = [text.format(*made) for text in sample["arguments"]]
    return [text.replace("'cpu'", f"'{device}'") for text in given]


def called(call: str, given: Sequence[str]) -> str:
    """A call of what :class:`SampledOperator.call` says, with these arguments."""
    if call.startswith("."):
        return f"{given[0]}{call}({', '.join(given[1:])})"
    if "{" in call:
        return call.format(*(f"({text})" if text[0] in "-(" else text for text in given))
    return f"{call}({', '.join(given)})"


LARGE: Final = 93.7
"""About what the terms of a sum are that may all cancel."""


def shown(name: str, *, cancels: bool) -> str:
    """A result; of one whose elements may be what is left of large terms, the sum with another such
    term, and how it lies."""
    if not cancels:
        return name
    return f"{name}.dtype, {name}.stride(), {name}.is_conj(), {name} + {LARGE}"


def function(
    operator: SampledOperator, sample: Sample, device: str = "cpu", *, cancels: bool = False
) -> str:
    text = called(operator["call"], arguments(sample, device))
    return seed(operator) + _shown(operator, text, device, cancels=cancels)


def method(
    operator: SampledOperator, sample: Sample, device: str = "cpu", *, cancels: bool = False
) -> str:
    text = called(f".{operator['method']}", arguments(sample, device))
    return _shown(operator, text, device, cancels=cancels)


def _shown(operator: SampledOperator, call: str, device: str, *, cancels: bool) -> str:
    """What a call answers, or what of it has a sign, without."""
    if cancels:
        return f"y = {call}\n({shown('y', cancels=True)})"
    return magnitudes(call) if device == "cpu" and operator["name"] in UNSIGNED else call


def symbol(operator: SampledOperator, sample: Sample, device: str = "cpu") -> str:
    return called(f"{{0}} {operator['symbol']} {{1}}", arguments(sample, device))


def in_place(operator: SampledOperator, sample: Sample, device: str = "cpu") -> str:
    """The first argument changes; the case shows it and whether that is what came out."""
    first, *rest = arguments(sample, device)
    return f"x = {first}\ny = {called('.' + operator['inplace'], ['x', *rest])}\n(x, y is x)"


def with_out(
    operator: SampledOperator, sample: Sample, device: str = "cpu", *, cancels: bool = False
) -> str:
    """With what came out of a call as the output of another."""
    given = arguments(sample, device)
    once, again = (called(operator["call"], each) for each in (given, [*given, "out=o"]))
    output = shown("o", cancels=True) if cancels else _shown(operator, "o", device, cancels=False)
    return f"{seed(operator)}o = {once}\ny = {again}\n({output}, y is o)"


WEIGHTS: Final = "(xp.arange({0}.numel()) % 7).view_as({0})"
"""One for each element.  Small ones: of what large ones have in common, a difference is left."""


def gradient(
    operator: SampledOperator, sample: Sample, *, weighted: bool = False, cancels: bool = False
) -> str:
    """The sum of what can be differentiated, and the gradients of what requires one."""
    lines: list[str] = []
    names: list[str] = []
    made: list[str] = []
    for facts in sample["tensors"]:
        if "requires_grad" not in facts:
            made.append(tensor(facts))
            continue
        names.append("abcdefghij"[len(names) % 10] * (1 + len(names) // 10))
        made.append(names[-1])
        lines.append(f"{names[-1]} = {tensor(facts)}.requires_grad_()")
    given = [text.format(*made) for text in sample["arguments"]]
    call = called(operator["call"], given)
    lines.append(f"y = {_shown(operator, call, 'cpu', cancels=False)}")
    total = sums(sample, weighted=weighted)
    if " + " in total:
        total = f"({total})"
    results = ["y", *(f"{name}.grad" for name in names)]
    found = ", ".join(shown(each, cancels=cancels) for each in results)
    if cancels:
        found = f"y.grad_fn, {found}"
    return "\n".join((seed(operator) + lines[0], *lines[1:], f"{total}.backward()", f"({found})"))


def sums(sample: Sample, *, weighted: bool) -> str:
    """Of all results of ``y`` that have a gradient."""
    places = sample["differentiable"]
    results = ["y"] if places is None else [f"y[{place}]" for place in places]
    if weighted:
        results = [f"({each} * {WEIGHTS.format(each)})" for each in results]
    return " + ".join(f"{each}.sum()" for each in results)


def seed(operator: SampledOperator) -> str:
    return SEED if "seeded" in operator else ""
