"""Area ``pipeline``: the cases of other areas once more, with their calls waiting in a pipeline.

A text of core-ops, core-views, views-versions, opinfo, autograd, functionalize or programs runs in
``with pipeline(…):``, which in torch is no block at all (:mod:`conformance.pipelined`): whatever it
shows must be what eager mode shows.  The limits are 1, 2, 7 and none, by a number of the text.
Some texts are cut by a flush after one of their lines.  A run has a sample of them; every one, with
``CONFORMANCE_PIPELINE=all`` in the environment.  Programs of the area's own interleave what waits
with what does not (:mod:`~conformance.cases.pipeline_programs`).

What a kernel alone refuses, and torch's meta kernel does not, comes with the flush and not with the
call: that is what the mode is.  So a program that catches errors flushes at the end of what it
tries (`_Flushing`), and nothing is left out but logs of what backward calls (`stays`).
"""

from __future__ import annotations

import ast
import os
import random
import re
from collections.abc import Iterator
from typing import Final

from hypothesis import strategies as st

from conformance import functionalized
from conformance.area import Area, Text, made_once
from conformance.cases import (
    autograd,
    core_ops,
    core_views,
    functionalize,
    opinfo,
    programs,
    views_versions,
)
from conformance.cases.pipeline_programs import (
    data_of_another_mode,
    lists_of_views,
    otherwise_on_meta,
    program,
)
from conformance.cases.sample import is_sampled, number_of
from mindtorch_v2.profile import Profile

WHOLE: Final = "CONFORMANCE_PIPELINE"
"""The variable of the environment: ``all`` runs every case of the other areas."""
PROGRAMS: Final = 600
_GRADIENTS: Final = re.compile(r"\.backward\(|autograd\.grad\(")

_EVERY: Final = (
    (core_ops.AREA, 25),
    (core_views.AREA, 10),
    (views_versions.AREA, 12),
    (opinfo.AREA, 40),
    (autograd.AREA, 30),
    (functionalize.AREA, 50),
    (programs.AREA, 8),
)
"""Areas, and of how many of their cases one is in the sample."""
_LIMITS: Final = ("", "max_ops=1", "max_ops=2", "max_ops=7", "max_pending_bytes=64")
_BLOCK: Final = "with pipeline({}) as queue:\n"
_FLUSH: Final = "queue.flush()"
_CATCHING: Final = ("try", *functionalized.__all__)
"""What the text of a program that catches errors has somewhere."""


@made_once(WHOLE)
def texts(profile: Profile) -> Iterator[Text]:
    for area, every in _EVERY:
        step = 1 if os.environ.get(WHOLE) == "all" else every
        for target, text in area.texts(profile):
            if is_sampled(text, step) and not stays(text):
                turn = number_of(text) // every
                yield target, in_pipeline(text, _LIMITS[turn % len(_LIMITS)], turn)
    for number in range(PROGRAMS):
        yield "interleaved", program(random.Random(number))
    yield from lists_of_views()
    yield from data_of_another_mode()
    yield from otherwise_on_meta()


def stays(text: str) -> bool:
    """Whether a text is not for a pipeline.

    What logs operators there keeps their answers until these are computed, and a gradient that
    somebody keeps is not reused: backward calls other operators then.
    """
    return "functionalized(" in text and _GRADIENTS.search(text) is not None


def in_pipeline(text: str, limits: str, turn: int = 0) -> str:
    """The program ``text`` in a block; its value is computed there, and shown after it.

    Of three turns one has a flush after one of its lines.
    """
    tree = ast.parse(text)
    if any(word in text for word in _CATCHING) and any(map(_catches, ast.walk(tree))):
        text = ast.unparse(_Flushing().visit(tree))
        tree = ast.parse(text)
    *statements, last = tree.body
    lines = text.split("\n")
    parts = [
        "\n".join(lines[node.lineno - 1 : node.end_lineno])
        for node in statements
        if not _shares_line(node, [*statements, last])
    ]
    if len(parts) < len(statements):
        parts = ["\n".join(lines[: last.lineno - 1])] if last.lineno > 1 else []
    if turn % 3 == 0 and parts:
        parts.insert(turn // 3 % len(parts) + 1, _FLUSH)
    ending = "\n".join(lines[last.lineno - 1 :])
    parts.append(f"shown = {ending}" if isinstance(last, ast.Expr) else ending)
    body = "".join(f"    {line}\n" for part in parts for line in part.split("\n"))
    after = "shown" if isinstance(last, ast.Expr) else ""
    return f"{_BLOCK.format(limits)}{body}{after}".rstrip("\n")


class _Flushing(ast.NodeTransformer):
    """Has a ``try`` end with a flush, so that what waits fails where the program looks for it.

    The helpers that catch errors for a program are told how to flush.
    """

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        if _is_watching(node):
            node.args.append(ast.parse(_FLUSH.removesuffix("()"), mode="eval").body)
        return node

    def visit_Try(self, node: ast.Try) -> ast.Try:
        self.generic_visit(node)
        last = node.body[-1]
        if isinstance(last, ast.Return) and last.value is not None:
            found = ast.Assign([ast.Name("answered", ast.Store())], last.value, lineno=last.lineno)
            node.body[-1:] = [found, *_flush(), ast.Return(ast.Name("answered", ast.Load()))]
        elif kept := _appended(last):
            made = ast.Assign([ast.Name("made", ast.Store())], kept.args[0], lineno=last.lineno)
            kept.args = [ast.Name("made", ast.Load())]
            node.body[-1:] = [made, *_flush(), last]
        elif not isinstance(last, (ast.Return, ast.Raise, ast.Continue, ast.Break)):
            node.body += _flush()
        return node


def _catches(node: ast.AST) -> bool:
    return isinstance(node, ast.Try) or _is_watching(node)


def _appended(node: ast.stmt) -> ast.Call | None:
    """What appends to the program's list of tensors: none of them could not be made."""
    if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
        return None
    return node.value if ast.unparse(node.value.func) == "t.append" else None


def _is_watching(node: ast.AST) -> bool:
    """Whether it calls a helper that catches errors."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in functionalized.__all__
    )


def _flush() -> list[ast.stmt]:
    return ast.parse(_FLUSH).body


def _shares_line(node: ast.stmt, statements: list[ast.stmt]) -> bool:
    """Whether another of the statements begins or ends on a line of this one."""
    return any(
        other is not node
        and other.lineno <= (node.end_lineno or 0)
        and (other.end_lineno or 0) >= node.lineno
        for other in statements
    )


def strategy(profile: Profile) -> st.SearchStrategy[Text]:
    """A program of the area's own, or a drawn case of another in a block with drawn limits and
    flushes.  Training is left to the generated cases, for it takes long."""
    areas = [area for area, _ in _EVERY if area is not programs.AREA]
    drawn = st.one_of([area.strategy(profile) for area in areas])
    drawn = drawn.filter(lambda text: not stays(text[1]))

    @st.composite
    def cases(draw: st.DrawFn) -> Text:
        target, text = draw(drawn)
        return target, in_pipeline(text, draw(st.sampled_from(_LIMITS)), draw(st.integers(0, 30)))

    numbers = st.integers(PROGRAMS, 2**40)
    interleaved = numbers.map(lambda number: ("interleaved", program(random.Random(number))))
    return interleaved | interleaved | cases()


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
