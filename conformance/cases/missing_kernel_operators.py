"""Operators of the release, called with tensors for which the release has no kernel.

What is compared is the whole message: every backend that has a kernel, with the place in torch's
sources where it was registered, in the order in which torch lists them.
Left out are tensors on Meta where the operator is not ATen's: there the message may name a Python
module that has the operator's fake implementation, which is a matter of ``torch.library``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, Final

from conformance.area import Text
from conformance.cases.arguments import Target, good, named, targets
from conformance.cases.values import TENSOR
from mindtorch_v2.profile import Profile

BACKENDS: Final = {
    "SparseCPU": "xp.ones(2, 2).to_sparse()",
    "SparseMeta": "xp.zeros((2, 2), layout=xp.sparse_coo, device='meta')",
    "SparseCsrCPU": "xp.ones(2, 2).to_sparse_csr()",
    "QuantizedCPU": "xp.quantize_per_tensor(xp.ones(2), 0.1, 0, xp.quint8)",
    "MkldnnCPU": "xp.ones(2, 2).to_mkldnn()",
    "NestedTensorCPU": "xp.nested.nested_tensor([xp.ones(2)])",
    "Meta": "xp.ones(2, device='meta')",
}
"""A tensor of each backend besides the CPU."""

_COMPOSITE: Final = frozenset(
    (
        "CompositeImplicitAutograd",
        "CompositeImplicitAutogradNestedTensor",
        "CompositeExplicitAutograd",
        "CompositeExplicitAutogradNonFunctional",
    )
)
_QUANTIZED: Final = ("xp.ones(2)", "xp.ones(2, 2)", "xp.zeros(1, 1, 1)", "xp.zeros(0, 3)")
"""What is quantized for operators that make their outputs and call their ``out=`` forms."""
_STRUCTURED: Final = (
    *("xp.bmm(t, t)", "xp.mm(t, t)", "xp.matmul(t, t)", "xp.bmm(t, t[0])", "xp.addmm(t, t, t)"),
    *("t + t", "t * t", "t - t", "xp.add(t, xp.zeros(3, 2))", "t.mul_(t)", "t.add_(t)"),
    *("t.exp()", "t.sin_()", "t.sum()", "t.sum(5)", "t.prod(0)", "t.cumsum(0)"),
    *("xp.maximum(t, t)", "t.softmax(0)", "t.tril()", "t.argmax()", "t.gather(0, t)"),
    "xp.bmm(t, xp.zeros(1, 1, 1))",
)
_ABOVE: Final = frozenset(
    ("AutogradCPU", "AutogradMeta", "AutogradNestedTensor", "BackendSelect", "Functionalize")
)
"""Keys above a backend at which a kernel of torch may do something else first."""


def texts(profile: Profile) -> Iterator[Text]:
    """Every operator with every backend that neither has a kernel for it nor gets a composite."""
    for values, call in product(_QUANTIZED, _STRUCTURED):
        yield "structured", f"t = xp.quantize_per_tensor({values}, 0.1, 0, xp.qint8)\n{call}"
    operators = profile.registrations["operators"]
    for target in targets(profile):
        facts = operators.get(target.schema.full_name)
        if facts is None or not target.is_safe:
            continue
        keys = {kernel[0] for kernel in facts["kernels"]}
        if keys & (_COMPOSITE | _ABOVE) or not _takes_tensor(target):
            continue
        for backend, tensor in BACKENDS.items():
            if backend not in keys and (backend != "Meta" or ".aten." in target.path):
                yield backend, f"t = {tensor}\n{_call(target)}"


def _takes_tensor(target: Target) -> bool:
    return any(TENSOR in good(argument) for argument in _required(target))


def _required(target: Target) -> Iterator[Any]:
    return (argument for argument in target.schema.arguments if not argument.has_default)


def _call(target: Target) -> str:
    positional = [
        good(argument).replace(TENSOR, "t")
        for argument in _required(target)
        if not argument.kwarg_only
    ]
    keywords: Mapping[str, str] = {
        argument.name: good(argument).replace(TENSOR, "t")
        for argument in _required(target)
        if argument.kwarg_only and named(argument)
    }
    given = ", ".join((*positional, *(f"{name}={value}" for name, value in keywords.items())))
    return f"{target.path}({given})"
