"""Small modules that stand in for torch and for its imitators, and what runs cases in them.

The harness takes any module as oracle and any as subject, so its own tests need no torch.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from hypothesis import HealthCheck, settings

from conformance.case import Case, Isolation
from conformance.execute import HELPERS
from conformance.ledger import Ledger
from conformance.names import refusal
from conformance.runner import Runner
from conformance.vocabulary import Vocabulary
from conformance.worker import Limits

PATIENCE = 20.0
"""Seconds that nothing here takes which ends at all."""
SECONDS = 2.5
"""The limit of cases that are to exceed it: any other keeps it, on however busy a machine."""

patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""For ``@given``: how long an example takes says nothing, and a loaded machine is slow."""


def vocabulary(*modules: ModuleType) -> Vocabulary:
    """Cases may say every name of ``modules`` that a case may say at all."""
    names = (name for module in modules for name in vars(module) if refusal(name) is None)
    return Vocabulary(frozenset(names), settable=frozenset()).with_helpers(*HELPERS)


def runner(
    oracle: ModuleType,
    subject: ModuleType | None = None,
    *,
    ledger: Ledger | None = None,
    seconds: float = PATIENCE,
    memory: int = 4 << 30,
) -> Runner:
    """A runner of cases that may say what ``oracle`` has; without a subject that is both."""
    subject = oracle if subject is None else subject
    limits = Limits(seconds, memory)
    return Runner(oracle, subject, vocabulary(oracle, subject), ledger or Ledger(), limits)


def case(text: str, isolation: Isolation = "shared", *, warnings: bool = True) -> Case:
    return Case("fakes", "case", text, isolation=isolation, warnings=warnings)


def module(name: str, **functions: Callable[..., Any]) -> ModuleType:
    """A module called ``name`` whose functions are handed it first: its classes are its own.

    ``xp.Error`` is an exception, ``xp.other.Error`` one of the same name elsewhere, ``xp.Key``
    a class whose values have the default repr, ``xp.Tensor`` what the harness takes for one.
    """
    made = ModuleType(name)
    made.Error = type("Error", (Exception,), {"__module__": name})
    made.other = ModuleType(f"{name}.other")
    made.other.Error = type("Error", (Exception,), {"__module__": f"{name}.other"})
    made.Key = type("Key", (), {"__module__": name})
    made.Tensor = type("Tensor", (Tensor,), {"__module__": name})
    for label, function in functions.items():
        setattr(made, label, _bound(function, made))
    return made


def _bound(function: Callable[..., Any], owner: ModuleType) -> Callable[..., Any]:
    return lambda *arguments: function(owner, *arguments)


class Tensor:
    """Metadata and values as they are given: nothing is computed, so nothing is right."""

    def __init__(
        self,
        values: Any,
        *,
        dtype: str = "float32",
        device: str = "cpu",
        layout: str = "strided",
        requires_grad: bool = False,
        shape: tuple[Any, ...] = (2,),
        stride: tuple[Any, ...] = (1,),
    ) -> None:
        self.values = values
        self._dtype = dtype
        self.device = device
        self.layout = layout
        self._requires_grad = requires_grad
        self.shape = shape
        self._stride = stride

    @property
    def dtype(self) -> str:
        return self._dtype

    @property
    def requires_grad(self) -> bool:
        return self._requires_grad

    def stride(self) -> tuple[Any, ...]:
        return self._stride

    def detach(self) -> Tensor:
        return self

    def tolist(self) -> Any:
        return self.values
