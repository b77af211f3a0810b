"""Cases of the area core-ops on the NPU: what the CPU's kernels answer, values and refusals.

Each tensor that a case makes goes to the NPU first.  What differs for a reason is not compared:
dtypes that a kernel of the CPU refuses and ACLNN takes; indices out of bounds, of which a device
tells when it is waited for, in words of its own; and NaN and infinity in operators for which CANN's
documents do not say what becomes of them.
"""

from __future__ import annotations

import ast
import re
import warnings
from typing import Any, Final

import numpy as np
import pytest

import mindtorch_v2 as torch
from conformance.cases import core_ops
from conformance.cases.npu_moving import stays
from conformance.cases.sample import is_sampled
from mindtorch_v2 import profile

from .sim.harness import Runtime

pytestmark = pytest.mark.npu

PARTS: Final = 4
EVERY: Final = 150
"""Of how many cases one is run."""

_FACTORIES: Final = frozenset(("tensor", "ones", "zeros", "arange", "full", "eye", "linspace"))
_REFUSED_BY_THE_CPU: Final = re.compile(r'^"\w+" not implemented for|out of (bounds|range)')
_NOT_MOVED: Final = re.compile(
    r"complex32|meta|1e300|device=|layout=|out=xp\.empty\(|_nnz\(|_values\(|_indices\("
    r"|_efficient_attention_forward|_pad_packed_sequence|_jagged_to_padded"
)
"""The last say that nobody computes them, and name the backend; packed sequences have their lengths
on the CPU."""


class _Moved(ast.NodeTransformer):
    """``xp.ones(2)`` becomes ``moved(xp.ones(2))``."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        function = node.func
        if (
            isinstance(function, ast.Attribute)
            and isinstance(function.value, ast.Name)
            and function.value.id == "xp"
            and function.attr in _FACTORIES
            and not any(keyword.arg == "out" for keyword in node.keywords)
        ):
            return ast.Call(ast.Name("moved", ast.Load()), [node], [])
        return node


def texts() -> list[str]:
    """Cases that make tensors which can go to the NPU."""
    found = (case.text for case in core_ops.AREA.cases(profile.active()))
    sampled = (text for text in found if is_sampled(text, EVERY))
    chosen = [text for text in sampled if not (_NOT_MOVED.search(text) or stays(text))]
    return [text for text in chosen if any(f"xp.{name}(" in text for name in _FACTORIES)]


def moved(tensor: Any) -> Any:
    """On the NPU, a leaf where it was one."""
    return tensor.detach().npu().requires_grad_(tensor.requires_grad)


def outcome(text: str, move: Any) -> Any:
    """What a case shows, or the exception that it raises."""
    *statements, last = ast.fix_missing_locations(_Moved().visit(ast.parse(text))).body
    names = {"xp": torch, "np": np, "moved": move}
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(compile(ast.Module(statements, []), text, "exec"), names)
            if not isinstance(last, ast.Expr):
                return None
            return shown(eval(compile(ast.Expression(last.value), text, "eval"), names))
        except Exception as error:
            return type(error).__name__, without_device(str(error))


def without_device(text: str) -> str:
    """As on the CPU, where types of tensors have no device in their names."""
    return text.replace("npu:0", "cpu").replace("torch.npu.", "torch.")


def shown(value: Any) -> Any:
    """Values to compare, without the device and without addresses."""
    if isinstance(value, (list, tuple)):
        return [shown(each) for each in value]
    if not isinstance(value, torch.Tensor) or value.layout is not torch.strided:
        return re.sub(r" at 0x\w+", "", without_device(repr(value)))
    copied = value.detach().cpu().clone()  # of zeros that are not stored, some that are
    numbers = copied.resolve_conj().resolve_neg().tolist()
    return [str(value.dtype), *value.shape, *value.stride(), numbers]


def is_close(one: Any, other: Any) -> bool:
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(is_close, one, other))
    if isinstance(one, (float, complex)) and isinstance(other, (float, complex)):
        return bool(np.isclose(one, other, rtol=2e-3, atol=1e-3, equal_nan=True))
    return bool(one == other)


def is_compared(on_cpu: Any) -> bool:
    return not (isinstance(on_cpu, tuple) and _REFUSED_BY_THE_CPU.search(on_cpu[1]))


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.usefixtures("npu")
def test_outcomes_are_those_of_the_cpu(part: int, simulator: Runtime | None) -> None:
    chosen = texts()[part::PARTS]
    assert len(chosen) > 10
    different = []
    for text in chosen:
        on_cpu = outcome(text, lambda tensor: tensor)
        on_npu = outcome(text, moved)
        is_open = simulator is not None and simulator.open()  # what no document says
        if is_compared(on_cpu) and not is_open and not is_close(on_npu, on_cpu):
            different.append(f"{text}\n  CPU: {on_cpu}\n  NPU: {on_npu}")
    assert different == []
