"""Area ``pipeline``: the cases of other areas once more, with their calls waiting in a pipeline.

A text of core-ops, core-views, views-versions, autograd, functionalize or programs runs inside
``with pipeline(…):``, which in torch is no block at all (:mod:`conformance.pipelined`): whatever it
shows must be what eager mode shows.  The limits are 1, 2, 7 and none in turn.  Some texts are
cut by a flush after one of their lines.

Not here: programs that catch, where it is called, what a kernel alone refuses and torch's meta
kernel does not.  A failure in a kernel surfaces with the flush; that is what the mode is.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from hypothesis import strategies as st

from conformance.area import Area, Text
from conformance.cases import (
    autograd,
    core_ops,
    core_views,
    functionalize,
    programs,
    views_versions,
)
from mindtorch_v2.profile import Profile

_EVERY: Final = (
    (core_ops.AREA, 25),
    (core_views.AREA, 10),
    (views_versions.AREA, 12),
    (autograd.AREA, 30),
    (functionalize.AREA, 20),
    (programs.AREA, 8),
)
"""Areas, and of how many of their cases one is run here."""
_LIMITS: Final = ("", "max_ops=1", "max_ops=2", "max_ops=7", "max_pending_bytes=64")
_BLOCK: Final = "with pipeline({}) as p:\n"

_REFUSED_BY_KERNELS: Final = re.compile(
    r"\.fill_\(xp\.ones\(2\)\)"  # a value with a dimension
    r"|\d+j(.|\n)*(\.relu_\(\)|\.clone\(\) > 1)"  # the order of complex numbers
    r"|\.bitwise_\w+_\("  # bits of floats
    r"|= xp\.zeros\(4, 6\)\[::2, ::2\](.|\n)*out=y"  # an output of another shape
)
"""What programs do that only a kernel refuses, in one release or the other."""
_LOGS_REFUSALS: Final = ("drawn programs",)
"""Targets whose programs go on after every step that is refused, and log where it was."""


def texts(profile: Profile) -> Iterator[Text]:
    turn = 0
    for area, every in _EVERY:
        for target, text in islice(area.texts(profile), turn % every, None, every):
            turn += 1
            if is_caught(text) or target in _LOGS_REFUSALS:
                continue
            yield target, in_pipeline(text, _LIMITS[turn % len(_LIMITS)], turn)


def is_caught(text: str) -> bool:
    """Whether a program catches what its block would only raise later."""
    return "except" in text and _REFUSED_BY_KERNELS.search(text) is not None


def in_pipeline(text: str, limits: str, turn: int = 0) -> str:
    """The program ``text`` in a block; its value is computed there, and shown after it.

    Of three turns one has a flush after one of its lines.
    """
    *statements, last = ast.parse(text).body
    lines = text.split("\n")
    parts = [
        "\n".join(lines[node.lineno - 1 : node.end_lineno])
        for node in statements
        if not _shares_line(node, [*statements, last])
    ]
    if len(parts) < len(statements):
        parts = ["\n".join(lines[: last.lineno - 1])] if last.lineno > 1 else []
    if turn % 3 == 0 and parts:
        parts.insert(turn // 3 % len(parts) + 1, "p.flush()")
    ending = "\n".join(lines[last.lineno - 1 :])
    parts.append(f"shown = {ending}" if isinstance(last, ast.Expr) else ending)
    body = "".join(f"    {line}\n" for part in parts for line in part.split("\n"))
    after = "shown" if isinstance(last, ast.Expr) else ""
    return f"{_BLOCK.format(limits)}{body}{after}".rstrip("\n")


def _shares_line(node: ast.stmt, statements: list[ast.stmt]) -> bool:
    """Whether another of the statements begins or ends on a line of this one."""
    return any(
        other is not node
        and other.lineno <= (node.end_lineno or 0)
        and (other.end_lineno or 0) >= node.lineno
        for other in statements
    )


def strategy(profile: Profile) -> st.SearchStrategy[Text]:
    """A drawn case of one of the areas, in a block with drawn limits and flushes.

    Training is left to the generated cases, for it takes long; functionalization, for its drawn
    programs log refusals.
    """
    areas = [area for area, _ in _EVERY if area not in (programs.AREA, functionalize.AREA)]
    drawn = st.one_of([area.strategy(profile) for area in areas])

    @st.composite
    def cases(draw: st.DrawFn) -> Text:
        target, text = draw(drawn.filter(lambda drawn: not is_caught(drawn[1])))
        return target, in_pipeline(text, draw(st.sampled_from(_LIMITS)), draw(st.integers(0, 30)))

    return cases()


def _compares_warnings(text: str) -> bool:
    """As core-ops and autograd, whose texts these are."""
    return core_ops.compares_warnings(text) and autograd.compares_warnings(text)


AREA: Final = Area(
    "pipeline",
    texts,
    strategy,
    isolation="thread",
    warnings=_compares_warnings,
    close=True,
)
