"""Area ``core-ops``: operators that compute, on CPU and on meta.

Each with every dtype, pair of dtypes, kind of number; shapes that broadcast and those that do not;
empty, 0-dimensional, transposed, channels-last, expanded and strided tensors; in place, and with
``out=`` that fits, must be resized, has another dtype or overlaps.  Where a call has many
parameters, every pair of values of two of them occurs, not every combination of all.

Floats of float32 and float64 results compare by the rule of :mod:`conformance.closeness`; all else
compares exactly.

The warnings of cases with complex32, also called chalf, which float16 and complex numbers make too,
are not compared: that it is experimental is said once for every tensor that C++ allocates on the
way, so their number is that of its temporaries.

Not here, since what comes out is not torch's own but that of a vector unit or the C library: gelu
of large negative numbers, 0 to a complex power, complex numbers by 0 (which were
nan where vectors of numbers were divided, up to 2.8, and inf where one was); and outputs that show
more digits than the float32 that was computed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final

from hypothesis import strategies as st

from conformance.area import Area, Text, made_once
from conformance.cases import (
    core_absent_devices,
    core_advanced_indexing,
    core_aligned,
    core_assignments,
    core_attention,
    core_batch_norm,
    core_compiled,
    core_complex_halves,
    core_composites,
    core_convolutions,
    core_decompositions,
    core_dense_operands,
    core_distances,
    core_drawn_convolutions,
    core_extremes,
    core_fake_quantization,
    core_foreach,
    core_group_norm,
    core_histograms,
    core_kernels_say,
    core_large_numbers,
    core_last_digits,
    core_looked_at,
    core_low_precision,
    core_made_of_few,
    core_margins,
    core_memory_order,
    core_misfits,
    core_nn,
    core_odd_arguments,
    core_odd_calls,
    core_ops_factories,
    core_ops_indexing,
    core_ops_products,
    core_ops_reductions,
    core_optim,
    core_outputs,
    core_pad_gradients,
    core_pooling,
    core_random,
    core_rare_calls,
    core_read_again,
    core_recurrent,
    core_refusals,
    core_samples,
    core_selections,
    core_sizes,
    core_small_operators,
    core_solving,
    core_special,
    core_spectra,
    core_two_dtypes,
    core_upsampling,
    core_warned,
    core_weights,
    core_windows,
)
from conformance.cases.core_ops_pools import (
    BINARY,
    BINARY_FUNCTIONS,
    BINARY_NUMBERS,
    DTYPES,
    EXACT,
    FUNCTIONS,
    INEXACT,
    LAYOUTS,
    MIXED,
    NUMBERS,
    SHAPES,
    TERNARY,
    TRUTHS,
    UNARY,
    UNARY_WITH_ARGUMENTS,
    WIDE,
    WITHOUT_IN_PLACE,
    pools_of,
)
from conformance.cases.pairwise import pairwise
from mindtorch_v2.profile import Profile

DEVICES: Final = ("cpu", "meta")


@made_once()
def texts(profile: Profile) -> Iterator[Text]:
    dtypes = [name for name in DTYPES if name in {*_names(profile)}]
    yield from _unary(dtypes)
    yield from _edges()
    yield from _pairs(dtypes)
    yield from _numbers(dtypes)
    yield from _shapes()
    yield from _layouts()
    yield from _in_place(dtypes)
    yield from _out(dtypes)
    yield from _ternary(dtypes)
    yield from core_ops_reductions.texts(dtypes)
    yield from core_ops_factories.texts(dtypes)
    yield from core_ops_products.texts(dtypes)
    yield from core_ops_indexing.texts(dtypes)
    yield from core_nn.texts(dtypes)
    yield from core_convolutions.texts(dtypes)
    yield from core_drawn_convolutions.texts()
    yield from core_batch_norm.texts(dtypes)
    yield from core_random.texts(dtypes)
    yield from core_selections.texts(dtypes)
    yield from core_composites.texts(dtypes)
    yield from core_compiled.texts()
    yield from core_foreach.texts(profile)
    yield from core_aligned.texts()
    yield from core_misfits.texts()
    yield from core_optim.texts()
    yield from core_samples.texts()
    yield from core_made_of_few.texts()
    yield from core_fake_quantization.texts()
    yield from core_low_precision.texts()
    yield from core_odd_arguments.texts()
    yield from core_odd_calls.texts(dtypes)
    yield from core_large_numbers.texts()
    yield from core_kernels_say.texts(dtypes)
    yield from core_refusals.texts()
    yield from core_read_again.texts()
    yield from core_recurrent.texts()
    yield from core_rare_calls.texts()
    yield from core_outputs.texts(dtypes)
    yield from core_assignments.texts()
    yield from core_advanced_indexing.texts()
    yield from core_extremes.texts(dtypes)
    yield from core_group_norm.texts()
    yield from core_upsampling.texts()
    yield from core_windows.texts()
    yield from core_decompositions.texts()
    yield from core_sizes.texts()
    yield from core_small_operators.texts()
    yield from core_dense_operands.texts()
    yield from core_absent_devices.texts()
    yield from core_two_dtypes.texts()
    yield from core_complex_halves.texts()
    yield from core_pad_gradients.texts()
    yield from core_memory_order.texts()
    yield from core_last_digits.texts()
    yield from core_pooling.texts()
    yield from core_looked_at.texts()
    yield from core_warned.texts()
    yield from core_weights.texts()
    yield from core_special.texts()
    yield from core_margins.texts()
    yield from core_distances.texts()
    yield from core_attention.texts()
    yield from core_spectra.texts()
    yield from core_histograms.texts()
    yield from core_solving.texts()


def _names(profile: Profile) -> Iterator[str]:
    return (dtype["name"].removeprefix("torch.") for dtype in profile.tensors["dtypes"])


def tensor(values: str, dtype: str, device: str = "cpu") -> str:
    where = "" if device == "cpu" else f", device='{device}'"
    return f"xp.tensor({values}, dtype=xp.{dtype}{where})"


def _values(dtype: str, which: int = 0) -> str:
    pools = pools_of(dtype)
    return f"[{', '.join(pools[which % len(pools)])}]"


def _target(call: str) -> str:
    name = call.partition("(")[0]
    for prefix in ("xp.", "ops.aten.", "{0}."):
        name = name.removeprefix(prefix)
    return name if "{" not in name else name.replace("{0} ", "").replace(" {1}", "")


def _unary(dtypes: Sequence[str]) -> Iterator[Text]:
    for call, dtype in product((*UNARY, *FUNCTIONS, *UNARY_WITH_ARGUMENTS), dtypes):
        for which in (0, 2) if "gelu" in call else range(len(pools_of(dtype))):
            yield _target(call), call.format(tensor(_values(dtype, which), dtype))
        yield _target(call), call.format(tensor(_values(dtype), dtype, "meta"))
        yield _target(call), call.format(tensor(pools_of(dtype)[0][0], dtype))


def _edges() -> Iterator[Text]:
    """Complex numbers that are no numbers: what C's annex G answers, or a formula alone.  One at a
    time, since what fills a vector is another's answer in some releases.
    """
    edges = [f"float('{edge}')" for edge in ("inf", "-inf", "nan", "1", "-0.0")]
    for call, real, imag in product(UNARY, edges, edges):
        for dtype in ("complex64", "complex128"):
            yield _target(call), call.format(tensor(f"[complex({real}, {imag})]", dtype))


def _pairs(dtypes: Sequence[str]) -> Iterator[Text]:
    for call, one, two in product(BINARY, dtypes, dtypes):
        a, b = _values(one), _values(two, 1)
        yield _target(call), call.format(tensor(a, one), tensor(b, two))
        if one in TRUTHS and two in TRUTHS and call not in MIXED:
            yield (
                _target(call),
                call.format(tensor(a, one, "meta"), tensor(b, two, "meta")),
            )
    for which in range(3):  # two numbers and a row either way, and meta
        for call, one, two in pairwise(MIXED, dtypes, dtypes):
            a, b, number = _values(one), _values(two, 1), pools_of((one, two)[which % 2])[0][1]
            operands = (
                (tensor(number, one), tensor(b, two)),
                (tensor(a, one), tensor(number, two)),
                (tensor(a, one, "meta"), tensor(b, two, "meta")),
            )[which]
            yield _target(call), call.format(*operands)


def _numbers(dtypes: Sequence[str]) -> Iterator[Text]:
    for call, (one, two, device) in product(BINARY_FUNCTIONS, [*pairwise(TRUTHS, TRUTHS, DEVICES)]):
        a, b = tensor(_values(one), one, device), tensor(_values(two, 1), two, device)
        yield _target(call), call.format(a, b)
    for call, dtype, number in product(BINARY_FUNCTIONS, dtypes, NUMBERS):
        if call.startswith("{0}"):
            yield _target(call), call.format(tensor(_values(dtype), dtype), number)
    for call, dtype, number in product(BINARY_NUMBERS, dtypes, NUMBERS):
        if number == "0" and call == "xp.pow({1}, {0})" and dtype.startswith("complex"):
            continue  # whatever the C library makes of that
        yield _target(call), call.format(tensor(_values(dtype), dtype), number)
    for call, dtype, number in product(BINARY_NUMBERS, TRUTHS, NUMBERS):
        yield _target(call), call.format(tensor(_values(dtype), dtype, "meta"), number)


def _shapes() -> Iterator[Text]:
    for device in DEVICES:
        for call, one, two in pairwise(MIXED, SHAPES, SHAPES):
            a, b = (f"xp.ones({shape}, device='{device}')" for shape in (one, two))
            yield _target(call), call.format(a, b)
    for one, two in product(SHAPES[:6], SHAPES[:6]):
        for first, second in (("cpu", "meta"), ("meta", "cpu")):
            text = f"xp.add(xp.ones({one}, device='{first}'), xp.ones({two}, device='{second}'))"
            yield "add", text


def _layouts() -> Iterator[Text]:
    for device in DEVICES:
        made = [layout.format(device) for layout in LAYOUTS]
        for call, one in product(UNARY, made):
            yield _target(call), call.format(one)
        for call, one, two in pairwise(MIXED, made, made):
            yield _target(call), call.format(one, two)
    made = [layout.format("meta") for layout in LAYOUTS]
    for call, one, kind in product(BINARY_NUMBERS, made, ("", ".int()")):
        yield _target(call), call.format(f"{one}{kind}", 2)


def _in_place(dtypes: Sequence[str]) -> Iterator[Text]:
    for call in (*UNARY, *UNARY_WITH_ARGUMENTS):
        changed = _in_place_of(call)
        for dtype, device in product(dtypes, DEVICES):
            made = tensor(_values(dtype), dtype, device)
            yield _target(changed), f"x = {made}\ny = {changed.format('x')}\n(x, y is x)"
    for call, (one, two, device) in product(
        _in_place_ones(BINARY), [*pairwise(TRUTHS, TRUTHS, DEVICES)]
    ):
        changed = _in_place_of(call)
        a, b = tensor(_values(one), one, device), tensor(_values(two, 1), two, device)
        yield _target(changed), f"x = {a}\ny = {changed.format('x', b)}\n(x, y is x)"
    for call, one, two, device in pairwise(_in_place_ones(MIXED), SHAPES, SHAPES, DEVICES):
        changed = _in_place_of(call)
        a, b = (f"xp.ones({shape}, device='{device}')" for shape in (one, two))
        yield _target(changed), f"x = {a}\n{changed.format('x', b)}"
    for call, one, number in product(_in_place_ones(BINARY_NUMBERS), TRUTHS, NUMBERS):
        changed = _in_place_of(call)
        yield _target(changed), f"x = {tensor(_values(one), one)}\n{changed.format('x', number)}"


def _in_place_ones(calls: Sequence[str]) -> list[str]:
    """Those of operators that have an in-place form, with what changes first."""
    return [call for call in calls if "({0}" in call and _target(call) not in WITHOUT_IN_PLACE]


def _in_place_of(call: str) -> str:
    """``xp.add({0}, {1})`` as ``{0}.add_({1})``, and an operator by its name with ``_``."""
    name, _, rest = call.partition("(")
    if name.startswith("xp.ops.aten."):
        return f"{name}_({rest}"
    rest = rest.removeprefix("{0}").removeprefix(", ")
    return f"{{0}}.{name.removeprefix('xp.')}_({rest}"


def _out(dtypes: Sequence[str]) -> Iterator[Text]:
    computed = ("float32", "int64", "bool")
    for call, (one, out, device) in product(UNARY, [*pairwise(computed, dtypes, DEVICES)]):
        made = tensor(_values(one), one, device)
        target = f"xp.zeros(3, dtype=xp.{out}, device='{device}')"
        if call in EXACT or out not in WIDE:
            yield _target(call), f"o = {target}\ny = {_with_out(call).format(made)}\n(o, y is o)"
    operands = (("float32", "float32"), ("int64", "int32"), ("int64", "float64"))
    for call, ((one, two), out, device) in product(BINARY, [*pairwise(operands, dtypes, DEVICES)]):
        a, b = tensor(_values(one), one, device), tensor(_values(two, 1), two, device)
        target = f"xp.zeros(3, dtype=xp.{out}, device='{device}')"
        if _target(call) not in INEXACT or out not in WIDE:
            text = f"o = {target}\ny = {_with_out(call).format(a, b)}\n(o, y is o)"
            yield _target(call), text
    for call, shape, device in product((*MIXED, *UNARY), SHAPES, DEVICES):
        a = f"xp.ones((2, 3), device='{device}')"
        target = f"xp.zeros({shape}, device='{device}')"
        yield _target(call), f"o = {target}\n{_with_out(call).format(a, a)}\no"
    for call, layout, device in product(MIXED, LAYOUTS, DEVICES):
        made = layout.format(device)
        yield _target(call), f"o = {made}\n{_with_out(call).format('o', 'o')}\no"
        yield _target(call), f"o = {made}\n{_with_out(call).format('o', 'xp.ones(3)')}\no"
    for call, overlap in product(MIXED, OVERLAPS):
        yield _target(call), overlap.format(_with_out(call).format("a", "b"))


OVERLAPS: Final = (
    "o = xp.ones(4)\na, b = o[:3], o[:3]\no = o[1:]\n{}",
    "o = xp.ones(4)\na, b = o[:2], o[2:]\no = o[1:3]\n{}",
    "o = xp.ones(4)\na, b = o[:2], o[2:]\no = o[:2]\n{}",
    "o = xp.ones(4)\na, b = o[::2], o[1::2]\no = o[:2]\n{}",
    "a = b = xp.ones(2, 2)\no = a.t()\n{}",
    "a = b = xp.ones(2)\no = xp.ones(1, 2).transpose(0, 1)\n{}",
)
"""What is written to shares memory with what is read."""


def _with_out(call: str) -> str:
    return f"{call[:-1]}, out=o)"


def _ternary(dtypes: Sequence[str]) -> Iterator[Text]:
    for call, dtype, device in product(TERNARY, dtypes, DEVICES):
        made = [tensor(_values(dtype, which), dtype, device) for which in range(3)]
        mask = tensor("[True, False, True]", "bool", device)
        yield _target(call), call.format(*made, mask=mask)
    for call, (one, two, like, device) in product(
        TERNARY, [*pairwise(TRUTHS, TRUTHS, (0, 1), DEVICES)]
    ):
        made = [tensor(_values(name), name, device) for name in (one, two, (one, two)[like])]
        mask = tensor("[True, False, True]", "bool", device)
        yield _target(call), call.format(*made, mask=mask)
    for call, one, two, device in pairwise(TERNARY, SHAPES, SHAPES, DEVICES):
        made = [f"xp.ones({shape}, device='{device}')" for shape in (one, two, one)]
        mask = f"xp.ones({two}, device='{device}', dtype=xp.bool)"
        yield _target(call), call.format(*made, mask=mask)
    for dtype in dtypes:
        mask = tensor("[1, 0, 1]", dtype)
        yield "where", f"xp.where({mask}, xp.ones(3), xp.zeros(3))"
        yield "masked_fill", f"xp.ones(3).masked_fill({mask}, 2)"
    for dtype, number in product(dtypes, NUMBERS):
        one = tensor(_values(dtype), dtype)
        if dtype == "float8_e8m0fnu" and number.startswith("-"):
            continue  # whose only values are powers of two
        yield "where", f"xp.where(xp.tensor([True, False, True]), {one}, {number})"
        yield "where", f"xp.where(xp.tensor([True, False, True]), {number}, {one})"
        yield "masked_fill", f"{one}.masked_fill(xp.tensor([True, False, True]), {number})"
    for low, high in product(NUMBERS, NUMBERS):
        yield "where", f"xp.where(xp.tensor([True, False, True]), {low}, {high})"
        yield "clamp", f"xp.clamp(xp.arange(5), {low}, {high})"
        yield "clamp", f"xp.clamp(xp.tensor([1.5, -2.0, 7.0]), {low}, {high})"


def strategy(profile: Profile) -> st.SearchStrategy[Text]:
    """An operator of drawn tensors: dtypes, shapes, layouts and devices as they come."""
    names = [name for name in DTYPES if name in {*_names(profile)}]
    shaped = st.tuples(
        st.lists(st.sampled_from([0, 1, 1, 2, 3]), max_size=4),
        st.sampled_from(names),
        st.sampled_from(["", "", "", ".t()", ".transpose(0, -1)", "[..., ::2]", "[None]", "[0]"]),
        st.sampled_from(["cpu", "cpu", "cpu", "meta"]),
    ).map(_drawn_tensor)
    operands = st.one_of(shaped, shaped, st.sampled_from(NUMBERS))
    calls = st.sampled_from([*UNARY, *BINARY, *BINARY])
    drawn = st.tuples(calls, shaped, operands).filter(lambda call: not _is_complex_by_0(*call))
    return drawn.map(lambda call: (_target(call[0]), call[0].format(call[1], call[2])))


def _is_complex_by_0(call: str, tensor: str, number: str) -> bool:
    return "div" in call and "complex" in tensor and number == "0"


def _drawn_tensor(drawn: tuple[list[int], str, str, str]) -> str:
    shape, dtype, view, device = drawn
    return f"xp.ones({shape}, dtype=xp.{dtype}, device='{device}'){view}"


_OF_HALVES: Final = re.compile("complex32|chalf")


def compares_warnings(text: str) -> bool:
    is_complex = "complex" in text or "1+2j" in text or "polar" in text
    return not _OF_HALVES.search(text) and not ("float16" in text and is_complex)


AREA: Final = Area("core-ops", texts, strategy, warnings=compares_warnings, close=True)
