"""An area: a family of cases with one generator and its hypothesis strategies."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import wraps
from typing import TYPE_CHECKING

from conformance.case import GENERATED, Case, Isolation

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from mindtorch_v2.profile import Profile

Text = tuple[str, str]
"""A target and the text of a case about it."""

Texts = Callable[["Profile"], Iterable[Text]]


def made_once(*variables: str) -> Callable[[Texts], Texts]:
    """A decorator for texts that take long to make: a process keeps those of the last profile.

    ``variables`` of the environment decide which there are.
    """

    def decorate(texts: Texts) -> Texts:
        kept: dict[tuple[str | None, ...], list[Text]] = {}

        @wraps(texts)
        def remembered(profile: Profile) -> Iterable[Text]:
            key = (profile.name, *map(os.environ.get, variables))
            if key not in kept:
                kept.clear()
                kept[key] = list(texts(profile))
            return kept[key]

        return remembered

    return decorate


@dataclass(frozen=True)
class Area:
    """``texts`` yields the cases that every run has; ``strategy`` draws further ones."""

    name: str
    texts: Texts
    strategy: Callable[[Profile], SearchStrategy[Text]]
    isolation: Isolation = "shared"
    warnings: bool | Callable[[str], bool] = True
    """Whether the warnings that its cases draw are compared, perhaps by the text of a case."""
    close: bool = False
    """Whether float elements agree that are close (:mod:`conformance.closeness`)."""
    examples: Mapping[str, int] = field(default_factory=dict)
    """How many cases a hypothesis profile draws, where it is another number than the profile's."""
    imports: tuple[str, ...] = ()
    """Modules of torch that its cases have torch import, which takes seconds: a worker does it
    once, before it forks for a case.  Not the process that makes the workers: what an import
    registers, the cases of other areas would find."""

    def cases(self, profile: Profile) -> Iterator[Case]:
        """The cases for one release: each text once, in the generator's order."""
        seen: set[str] = set()
        for target, text in self.texts(profile):
            if text not in seen:
                seen.add(text)
                yield self.case(target, text)

    def count(self, profile: Profile) -> int:
        """How many cases there are for one release."""
        return len({text for _, text in self.texts(profile)})

    def case(self, target: str, text: str, origin: str = GENERATED) -> Case:
        warnings = self.warnings if isinstance(self.warnings, bool) else self.warnings(text)
        return Case(self.name, target, text, origin, self.isolation, warnings, self.close)

    def drawn(self, profile: Profile) -> SearchStrategy[Case]:
        """Cases drawn by hypothesis, in the same form as the generated ones."""
        return self.strategy(profile).map(lambda text: self.case(*text, origin="hypothesis"))
