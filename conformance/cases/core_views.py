"""Area ``core-views``: view operators, on tensors of every geometry, right and wrong.

A case calls one operator through ``xp.ops`` and shows what came out and what became of the
tensor: shape, strides, offset, values, keyset.  On meta the same, without values.

Left out is ``unflatten`` with sizes that no shape can have: torch 2.13 puts C++'s own backtrace,
addresses and all, into that message.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final

from hypothesis import strategies as st

from conformance.area import Area, Text
from conformance.cases.turn import Turn
from mindtorch_v2.profile import Profile

BASES: Final = (
    "xp.arange(6)",
    "xp.arange(6).view(2, 3)",
    "xp.arange(6).view(2, 3).t()",
    "xp.arange(8).view(2, 1, 4)",
    "xp.arange(24).view(4, 6)[1:, ::2]",
    "xp.arange(3).view(1, 3).expand(2, 3)",
    "xp.arange(24, dtype=xp.float32).view(2, 3, 2, 2)",
    "xp.tensor(5)",
    "xp.zeros(0, 3)",
    "xp.zeros(2, 0, dtype=xp.int8)",
    "xp.tensor([1 + 2j, 3 - 4j])",
    "xp.tensor([[1 + 2j, 3 - 4j]]).conj()",
    "xp.arange(4, dtype=xp.int16)",
    "xp.zeros(2, 3, device='meta')",
    "xp.zeros(2, 1, 3, device='meta').transpose(0, 2)",
    "xp.zeros((), device='meta')",
    "xp.zeros(3, dtype=xp.complex64, device='meta')",
)
"""Tensors; none requires grad."""

DIMS: Final = ("0", "1", "-1", "2", "-2", "-3", "5")
SIZES: Final = (
    *(
        "[]",
        "[6]",
        "[-1]",
        "[3, 2]",
        "[-1, 2]",
        "[2, 3]",
        "[1, 6, 1]",
        "[-1, -1]",
        "[0]",
        "[0, -1]",
    ),
    *("[24]", "[2, 3, 4]", "[4, -1, 6]", "[5]", "[-2, 3]", "[2, -3, 1]", "[2, 0]", "[1, 2, 3]"),
)
ORDERS: Final = (
    "[]",
    "[0]",
    "[1, 0]",
    "[0, 1]",
    "[-1, 0]",
    "[2, 0, 1]",
    "[0, 0]",
    "[0, -2]",
    "[3, 1]",
)
COUNTS: Final = ("0", "1", "2", "3", "-1", "7")
INDICES: Final = ("0", "1", "-1", "2", "-3", "6", "-7")
BOUNDS: Final = ("None", "0", "1", "-1", "3", "-4", "9")
STRIDES: Final = ("[]", "[1]", "[2]", "[3, 1]", "[1, 1]", "[0, 0]", "[-1]", "[1, 2, 1]")
DTYPES: Final = ("float32", "int8", "float64", "int16", "complex64", "uint8", "complex128")

Pool = Sequence[str]

VIEWS: Final[dict[str, tuple[Pool, ...]]] = {
    "alias": (),
    "detach": (),
    "view": (SIZES,),
    "_unsafe_view": (SIZES,),
    "reshape": (SIZES,),
    "expand": (SIZES,),
    "broadcast_to": (SIZES,),
    "permute": (ORDERS,),
    "transpose.int": (DIMS, DIMS),
    "swapaxes": (DIMS, DIMS),
    "t": (),
    "squeeze": (),
    "squeeze.dim": (DIMS,),
    "squeeze.dims": (ORDERS,),
    "unsqueeze": (DIMS,),
    "select.int": (DIMS, INDICES),
    "slice.Tensor": (DIMS, BOUNDS, BOUNDS, ("1", "2", "5", "0", "-1")),
    "narrow": (DIMS, INDICES, COUNTS),
    "diagonal": (INDICES, DIMS, DIMS),
    "unfold": (DIMS, COUNTS, COUNTS),
    "unbind.int": (DIMS,),
    "split.Tensor": (COUNTS, DIMS),
    "split_with_sizes": (ORDERS, DIMS),
    "split.sizes": (ORDERS, DIMS),
    "chunk": (COUNTS, DIMS),
    "tensor_split.sections": (COUNTS, DIMS),
    "tensor_split.indices": (ORDERS, DIMS),
    "as_strided": (SIZES, STRIDES, ("None", "0", "1", "-1", "4")),
    "flatten.using_ints": (DIMS, DIMS),
    "unflatten.int": (DIMS, ("[2, 3]", "[-1]", "[3, -1]", "[6, 1]", "[7]")),
    "movedim.int": (DIMS, DIMS),
    "movedim.intlist": (ORDERS, ORDERS),
    "view.dtype": (tuple(f"xp.{name}" for name in DTYPES),),
    "view_as_real": (),
    "_conj": (),
    "conj": (),
    "real": (),
    "_neg_view": (),
    "adjoint": (),
    "squeeze_": (),
    "squeeze_.dim": (DIMS,),
    "squeeze_.dims": (ORDERS,),
    "unsqueeze_": (DIMS,),
    "transpose_": (DIMS, DIMS),
    "t_": (),
    "as_strided_": (SIZES, STRIDES, ("None", "0", "1", "-1")),
}
"""Operators, with the pools that each argument after the tensor is taken from."""

MANY: Final = 90
"""Of an operator with more combinations of arguments than this, so many are taken."""


def shown(operator: str, base: str, arguments: Sequence[str]) -> str:
    """A call, its answer or answers with their offsets, and the tensor afterwards."""
    call = ", ".join(("x", *arguments))
    return (
        f"x = {base}\n"
        f"y = xp.ops.aten.{operator}({call})\n"
        "found = [y] if isinstance(y, xp.Tensor) else y\n"
        f"(y, [(each.storage_offset(), {_KEYS}) for each in found], x)"
    )


_KEYS: Final = "xp._C._dispatch_keys(each)"


def texts(profile: Profile) -> Iterator[Text]:
    turn = Turn()
    for operator, pools in VIEWS.items():
        combinations = list(product(*pools))
        step = max(1, len(combinations) // MANY)
        for arguments in combinations[::step]:
            for _ in range(3):
                yield operator, shown(operator, turn.of(BASES), arguments)
        for base in BASES:
            for arguments in combinations[:: max(1, len(combinations) // 7)]:
                yield operator, shown(operator, base, arguments)


def strategy(profile: Profile) -> st.SearchStrategy[Text]:
    """Any operator on any tensor, or on a view of one."""
    numbers = st.integers(-4, 6).map(str)
    lists = st.lists(st.integers(-2, 6), max_size=4).map(str)

    def taken(pool: Pool) -> st.SearchStrategy[str]:
        drawn = st.sampled_from(pool)
        if pool[0].startswith("["):
            return st.one_of(drawn, lists)
        return st.one_of(drawn, numbers) if pool[0].lstrip("-").isdigit() else drawn

    @st.composite
    def called(draw: st.DrawFn) -> Text:
        operator = draw(st.sampled_from(sorted(VIEWS)))
        arguments = [draw(taken(pool)) for pool in VIEWS[operator]]
        base = draw(st.sampled_from(BASES))
        if operator == "unflatten.int":
            arguments[1] = draw(st.sampled_from(VIEWS[operator][1]))
        return operator, shown(operator, base, arguments)

    return called()


AREA: Final = Area("core-views", texts, strategy)
