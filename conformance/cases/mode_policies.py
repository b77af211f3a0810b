"""Texts of area ``modes`` about subclasses that answer for sizes, strides, device or layout."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from conformance.area import Text
from conformance.cases.mode_programs import program, tried

_SLOT: Final = "dispatch_sizes_strides_policy"
_POLICIES: Final = (
    f"{_SLOT}='strides'",
    f"{_SLOT}='sizes'",
    "dispatch_device=True",
    "dispatch_layout=True",
    "dispatch_device=True, dispatch_layout=True",
)
_MAKERS: Final = (
    "xp.Tensor._make_wrapper_subclass(S, (2, 3), {0})",
    "xp.Tensor._make_wrapper_subclass(S, (2, 3), requires_grad=True, {0})",
    "xp.Tensor._make_subclass(S, xp.zeros(6).view(2, 3), {0})",
)

_NUMBERS: Final = ("dim", "numel", "sym_numel", "sym_storage_offset")
_LISTS: Final = ("size", "sym_size", "stride", "sym_stride")
_OPINIONS: Final = (
    *("is_contiguous.default", "is_contiguous.memory_format"),
    *("is_strides_like_format.default", "is_non_overlapping_and_dense.default"),
)


def _answers(lists: str, number: str, opinion: str, device: str, layout: str) -> str:
    """What a class answers, by the name of the operator."""
    aten = {f"{name}.default": lists for name in _LISTS}
    aten |= {f"{name}.default": number for name in _NUMBERS}
    aten |= dict.fromkeys(_OPINIONS, opinion)
    rows = [f"'aten.{name}': {answer}" for name, answer in aten.items()]
    return ", ".join(
        [*rows, f"'prim.device.default': {device}", f"'prim.layout.default': {layout}"]
    )


_KINDS: Final = ("xp.device('cpu')", "xp.strided")
_ANSWERS: Final = (
    _answers("None", "None", "None", *_KINDS) + ", 'aten.dim.default': 2",
    _answers("[5, 7]", "2", "False", "xp.device('meta')", "xp.sparse_coo"),
    _answers("(5, 7)", "True", "True", "xp.device('meta', 1)", "1"),
)
_WRONG_ANSWERS: Final = (
    "",
    _answers("None", "None", "None", *_KINDS),  # which has no rank
    _answers("'w'", "'w'", "'w'", "xp.device('cpu')", "'w'"),
    _answers("3", "2.5", "1", "xp.device('cpu')", "None"),
    _answers("('w', 3)", "[3]", "[]", "xp.device('cpu')", "2.5"),
)
"""PyTorch itself dies of them where autograd asks."""

_QUESTIONS: Final = (
    *("{0}.size()", "{0}.size(1)", "{0}.size(-1)", "{0}.size(9)", "{0}.shape", "{0}.stride()"),
    *("{0}.stride(0)", "{0}.stride(-5)", "{0}.dim()", "{0}.ndim", "{0}.ndimension()", "len({0})"),
    *("{0}.numel()", "{0}.nelement()", "xp.numel({0})", "{0}.nbytes", "{0}.storage_offset()"),
    *("{0}.is_contiguous()", "{0}.is_contiguous(memory_format=xp.channels_last)"),
    *("{0}.contiguous()", "{0}.item()", "bool({0})"),
    *("{0}.device", "{0}.is_cpu", "{0}.is_meta", "{0}.is_cuda", "{0}.get_device()"),
    *("xp.get_device({0})", "{0}.layout", "{0}.is_sparse", "{0}.is_sparse_csr", "{0}.is_mkldnn"),
    *("{0}.dtype", "{0}.itemsize", "{0}.is_nested", "C._dispatch_keys({0})", "{0}.is_leaf"),
    *("{0}.detach()", "{0}.add(1)", "{0}.sum()"),
    *("xp.ones(2, 3).expand_as({0})", "xp.ones(6).view_as({0})", "xp.matmul({0}, xp.ones(3))"),
)
_OPERATORS: Final = (
    *(f"xp.ops.aten.{name}.default({{0}})" for name in (*_LISTS, *_NUMBERS)),
    *(f"xp.ops.aten.{name}.int({{0}}, 1)" for name in _LISTS),
    *("xp.ops.aten.size.int({0}, 9)", "xp.ops.aten.stride.int({0}, -4)"),
    "xp.ops.aten.is_contiguous.default({0})",
    "xp.ops.aten.is_non_overlapping_and_dense.default({0})",
    *(
        f"xp.ops.aten.{name}({{0}}, xp.channels_last)"
        for name in ("is_contiguous.memory_format", "is_strides_like_format.default")
    ),
)
"""The questions as operators: some of them the interpreter's, which nothing dispatches."""


def texts() -> Iterator[Text]:
    steps = [tried(question.format("s")) for question in (*_QUESTIONS, *_OPERATORS)]
    for policy, maker, answers in product(_POLICIES, _MAKERS, (*_ANSWERS, *_WRONG_ANSWERS)):
        if answers in _WRONG_ANSWERS and "requires_grad" in maker:
            continue
        define = _class(maker.format(policy), answers)
        yield "sizes, device, layout", program(define, steps, operators=False)
    for tensor, question in product(_TENSORS, _OPERATORS):
        yield "size as an operator", program([], [tried(question.format(tensor))], operators=False)


_TENSORS: Final = (
    *("xp.ones(2, 3)", "xp.ones(())", "xp.ones(2, 0, 4, 3)", "xp.ones(2, 3, requires_grad=True)"),
    *("xp.ones(2, 3, 4, 5).to(memory_format=xp.channels_last)", "xp.ones(2, 3, device='meta').t()"),
    "xp.ones(6)[2:]",
)


def _class(maker: str, answers: str) -> list[str]:
    """A class that answers for itself, and whatever is computed from it with a new tensor."""
    return [
        f"answers = {{{answers}}}",
        "class S(xp.Tensor):",
        "    @classmethod",
        "    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):",
        "        log.append((str(func), len(args)))",
        "        name = str(func)",
        "        if name in answers: return answers[name]",
        "        if not answers: return NotImplemented",
        "        return fresh()",
        f"s = {maker}",
    ]
