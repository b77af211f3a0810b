"""Functions for a fixed number of values, written when a number first comes.

A function that takes ``*stack`` and passes it on makes a tuple and takes it apart; one that names
its values does neither.  A factory is compiled once for all operators that have so many values, so
that even one that is called once may have its function of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

Factory = Callable[..., Callable[..., Any]]
"""From what a function needs to the function."""


def names(count: int) -> str:
    """What so many values are called: ``_0, _1``."""
    return ", ".join(f"_{place}" for place in range(count))


def factory(needs: str, values: str, body: str, module: str) -> Factory:
    """Makes functions of ``values`` that do what ``body`` says, an expression, with ``needs``.

    ``module`` is whose frames theirs pass for.
    """
    return factory_of_lines(needs, values, (f"return {body}",), module)


def factory_of_lines(
    needs: str,
    values: str,
    lines: Iterable[str],
    module: str,
    scope: Mapping[str, Any] = MappingProxyType({}),
) -> Factory:
    """The same of functions that consist of these lines; ``scope`` is the same for all."""
    names: dict[str, Any] = {**scope, "__name__": module}
    text = "".join(f"  {line}\n" for line in lines)
    exec(f"def make({needs}):\n def run({values}):\n{text} return run", names)
    made: Factory = names["make"]
    return made


class Inline(NamedTuple):
    """The lines of a function that take plain calls, for who writes them into a function of his
    own; they are the function's attribute ``inline``.

    They name the values ``_0``, ``_1`` … , of which so many are ``tensors`` that override nothing,
    and are for threads in which keys alone decide where a call goes.  They answer a plain call;
    where they end, nothing has been done.
    """

    tensors: int
    lines: Sequence[str]
    scope: Mapping[str, Any]

    def written(self, values: Sequence[str], own: Callable[[str, Any], str]) -> Iterator[str]:
        """The lines with these names for the values; ``own`` keeps what they name, and answers
        under which name."""
        named = {f"_{place}": value for place, value in enumerate(values)}
        named |= {name: own(name, value) for name, value in self.scope.items()}
        names = "|".join(named)
        word = re.compile(rf"(?<![\w.])({names})(?!\w)")
        for line in self.lines:
            yield word.sub(lambda found: named[found[1]], line)
