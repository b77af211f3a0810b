"""Programs for the area ``views-versions``: steps over a list of tensors, each of which may fail.

``t`` is the list; a step makes another tensor of one of them, or changes one.  At the end every
tensor is asked what it is.  None is on meta: how a copy lies there is for ``core-ops`` to show.
"""

from __future__ import annotations

import random
from typing import Final

from conformance.cases.views_versions_pools import CHANGES, COPIES, MAKINGS, VIEWS

ASKED: Final = (
    *("t._version", "t._is_view()", "t._base is x", "t.is_leaf", "t.requires_grad", "t.output_nr"),
    *("t.grad_fn", "t.is_inference()", "t.storage_offset()", "t.retains_grad", "t._backward_hooks"),
    *("t.untyped_storage().nbytes()", "xp._C._is_alias_of(t, x)"),
    *("t.grad if t.is_leaf or t.retains_grad else None", "t"),
)
"""What every tensor is asked; ``x`` is the first of the case."""

TRIED: Final = (
    "log = []\n"
    "def answer(ask, t):\n"
    "    try: return ask(t)\n"
    "    except Exception as error: return type(error).__name__, str(error)\n"
    "def asked(*tensors):\n"
    f"    questions = [{', '.join(f'lambda t: {ask}' for ask in ASKED)}]\n"
    "    return [[answer(ask, t) for ask in questions] for t in tensors]"
)


def attempt(step: str) -> str:
    """A step whose refusal is noted, and no more."""
    return (
        f"try:\n    {step}\n"
        "except Exception as error: log.append((type(error).__name__, str(error)))"
    )


_STARTS: Final = (
    "xp.tensor([[1.0, 2.0, 3.0], [4.0, 0.5, 2.0]], requires_grad=True)",
    "xp.tensor([[1.0, 2.0, 3.0], [4.0, 0.5, 2.0]])",
    "xp.tensor([1.0, 2.0, 4.0, 8.0], requires_grad=True)",
    "xp.tensor([1.0, 2.0, 4.0, 8.0], dtype=xp.float64)",
    "xp.arange(6).view(2, 3)",
    "xp.tensor([[1 + 2j, 0.5 - 1j], [2j, 3.0]])",
    "xp.tensor([[1 + 2j, 0.5 - 1j], [2j, 3.0]], requires_grad=True)",
    "xp.tensor(2.0, requires_grad=True)",
    "xp.zeros(0, 3)",
)
_COMPUTED: Final = ("{} * 2", "{} + {}", "-{}", "{}.clone()", "1 - {}", "{} / 2")
_MORE_VIEWS: Final = (
    *("xp.view_as_real({})", "xp.view_as_complex({})", "{}.imag", "{}.view(-1)", "{}.view(2, -1)"),
    *("{}[-1]", "{}[..., 0]", "{}.diagonal(0, -1, -2)", "{}.view(xp.complex64)"),
    *("{}.reshape(-1)", "{}.expand(2, *{}.shape)", "{}.unbind(-1)[0]", "{}.split(2, -1)[0]"),
    *("{}.transpose(0, -1)", "{}.select(-1, 0)", "{}.view({}.shape)"),
)
_PAIRS: Final = (
    *("{}.copy_({1}.clone())", "{}.add_({1}.clone())", "{}.mul_({1}.detach().clone())"),
    *("{}[...] = {1}.clone()", "{}.data = {}.detach().clone()", "{}.set_({1})", "{}.grad = {1}"),
)
_OBSERVED: Final = ("t[-1]._version, {}._version", "{}.grad_fn", "{}.is_leaf", "{}._base")


def program(generator: random.Random) -> str:
    """The text of one."""
    lines = [TRIED, f"x = {generator.choice(_STARTS)}", "t = [x]"]
    lines += (attempt(_step(generator)) for _ in range(generator.randint(3, 9)))
    if generator.random() < 0.4:
        lines.append(attempt("t[-1].sum().backward()"))
    lines.append("(log, asked(*t))")
    return "\n".join(lines)


def _step(generator: random.Random) -> str:
    """One that names tensors by their place; the later ones more often."""
    place = generator.choice(("t[-1]", "t[-1]", "t[-2]", "t[0]", "t[1]", "t[2]"))
    kind = generator.random()
    if kind < 0.35:
        views = generator.choice((VIEWS, _MORE_VIEWS, _MORE_VIEWS))
        made = generator.choice(views)
        step = f"t.append({applied(made, 'x', place)})"
    elif kind < 0.45:
        step = f"t.append({applied(generator.choice(_COMPUTED), 'x', place)})"
    elif kind < 0.53:
        copies = [copy for copy in COPIES if "x" not in copy.replace("xp", "")]
        step = f"t.append({applied(generator.choice(copies), 'v', place)})"
    elif kind < 0.83:
        step = generator.choice(CHANGES).replace("{}", place)
    elif kind < 0.93:
        other = generator.choice(("t[0]", "t[-1]", "t[1]"))
        step = generator.choice(_PAIRS).replace("{1}", other).replace("{}", place)
    else:
        step = f"log.append(({applied(generator.choice(_OBSERVED), 'x', place)},))"
    if step.startswith("with") or generator.random() < 0.8:
        return step
    return generator.choice(MAKINGS).replace("{}", step)


def applied(expression: str, name: str, place: str) -> str:
    """An expression of the tensor ``name``, or of ``{}``, of another."""
    if "{}" in expression:
        return expression.replace("{}", place)
    return place.join(_split_at_name(expression, name))


def _split_at_name(expression: str, name: str) -> list[str]:
    """The text around a name that stands alone: ``x`` is not that of ``xp`` or of ``expand``."""
    parts, start = [], 0
    for at, letter in enumerate(expression):
        alone = not (
            expression[at - 1 : at].isalnum() or expression[at + 1 : at + 2].isidentifier()
        )
        if letter == name and alone and expression[at - 1 : at] not in ("_", "."):
            parts.append(expression[start:at])
            start = at + 1
    return [*parts, expression[start:]]
