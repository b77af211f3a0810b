"""Area ``npu``: the cases of other areas once more, with their tensors on an NPU.

A text of core-ops, opinfo, autograd, programs, functionalize or pipeline makes its tensors on the
device ``here()``, which in torch is the CPU (:mod:`conformance.on_npu`); what it shows must be what
torch's CPU shows: values, shapes, strides, words of errors.  That the NPU is not called CPU is one
named rule (`conformance.normalise.DEVICE_NAME`), and that it adds up in another order another
(:mod:`conformance.closeness`).  The simulated runtime (:mod:`conformance.ascend`) is used unless
there is a device; a broken rule of it is a mismatch.

*Covered* are the cases for which the NPU has kernels: nothing that a program calls, by whatever
name, runs on the CPU for want of one.  The others run too, and must agree too, but are counted as
``uncovered``.  So is a case in which a device finds a value that it cannot work with, such as an
index out of range: it tells that when it is waited for, in words of its own; one that shows a value
which CANN's documents leave open, where that value alone is not compared
(:mod:`conformance.left_open`); and one of a dtype that torch's own kernel has not on the CPU.

A run has a sample of the texts; every one, with ``CONFORMANCE_NPU=all`` in the environment.

Left out, by :mod:`conformance.cases.npu_moving`: what makes no tensor with values on a CPU; float8
and complex32, which ACL has not; layouts without strides, which an NPU has not; what only the CPU
does or says, each with a reason there; tensors as text, which names the device; logs of operators
beneath ``x[0] = 2``, for which torch calls others on a device than on the CPU; and what asks the
dispatcher for its keys and kernels, where the NPU's stand beside the CPU's: for these the area has
cases of its own (:mod:`conformance.cases.npu_keysets`).

For their values some are left out, too, where these are nothing but roundings, or overflows on the
way to a number that is none: products and rounded quotients of halves, gradients that cancel, norms
of numbers whose squares no float holds.  No tolerance could tell such a value from a wrong one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final, cast

from hypothesis import strategies as st

from conformance import ascend
from conformance.area import Area, Text, made_once
from conformance.cases import (
    autograd,
    core_ops,
    functionalize,
    npu_keysets,
    opinfo,
    pipeline,
    programs,
)
from conformance.cases.npu_moving import factories_of, moved
from conformance.cases.sample import is_sampled
from mindtorch_v2.profile import Profile

WHOLE: Final = "CONFORMANCE_NPU"
"""The variable of the environment: ``all`` runs every case of the other areas."""

_EVERY: Final = (
    (core_ops.AREA, 45),
    (opinfo.AREA, 40),
    (autograd.AREA, 40),
    (programs.AREA, 5),
    (functionalize.AREA, 30),
    (pipeline.AREA, 16),
)
"""Areas, and of how many of their cases one is in the sample."""


@made_once(WHOLE, pipeline.WHOLE)
def texts(profile: Profile) -> Iterator[Text]:
    if not ascend.can_run():
        return
    yield from npu_keysets.texts()
    factories = factories_of(profile)
    for area, every in _EVERY:
        step = 1 if os.environ.get(WHOLE) == "all" else every
        for target, text in area.texts(profile):
            on_npu = moved(text, factories) if is_sampled(text, step) else None
            if on_npu is not None:
                yield target, on_npu


def strategy(profile: Profile) -> st.SearchStrategy[Text]:
    """A drawn case of another area.  Training is left to the generated cases."""
    factories = factories_of(profile)
    areas = [area for area, _ in _EVERY if area is not programs.AREA]
    drawn = st.one_of([area.strategy(profile) for area in areas])

    def on_npu(text: Text) -> Text | None:
        made = moved(text[1], factories)
        return None if made is None else (text[0], made)

    moving = drawn.map(on_npu).filter(lambda text: text is not None)
    return cast("st.SearchStrategy[Text]", moving)


def _compares_warnings(text: str) -> bool:
    """As the areas whose texts these are; but on the CPU a result that is converted into ``out``
    goes by way of another tensor, and what is said of its size is said twice."""
    as_there = core_ops.compares_warnings(text) and autograd.compares_warnings(text)
    return as_there and "out=" not in text


AREA: Final = Area(
    "npu",
    texts,
    strategy,
    isolation="thread",
    warnings=_compares_warnings,
    close=True,
)
