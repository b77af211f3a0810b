"""The registry: so far, other names for operators.

An alias is a name that stands for all overloads of an operator.  It is resolved where a kernel is
looked up; what a user sees, errors included, keeps the name that was typed.

    >>> register_alias("aten::magnitude", "aten::abs")
    >>> resolve("aten::magnitude")
    'aten::abs'
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

from mindtorch_v2.dispatch.operator_names import check_qualified, in_registration_order

_aliases: Final[dict[str, str]] = {}
_lock: Final = threading.Lock()


class AliasError(RuntimeError):
    """An alias cannot be; nothing has changed."""


def register_alias(alias: str, target: str) -> Callable[[], None]:
    """Make ``alias`` (``ns::name``) a name of the operator ``target``; answers what undoes it.

    The target may be an alias itself.  AliasError if it names nothing, if ``alias`` is the name
    of an operator or of another target, or if it would stand for itself.
    """
    for name in (alias, target):
        check_qualified(name)
        if "." in name:
            raise AliasError(f"an alias stands for all overloads of an operator: {name!r} is one")
    with _lock:
        _check(alias, target)
        _aliases[alias] = target
    return lambda: _remove(alias, target)


def _check(alias: str, target: str) -> None:
    if in_registration_order(alias):
        raise AliasError(f"alias {alias!r} would shadow the operator of that name")
    if alias in (target, *_chain(target)):
        raise AliasError(f"alias {alias!r} would stand for itself: {' -> '.join(_chain(target))}")
    known = _aliases.get(alias)
    if known is not None and known != target:
        raise AliasError(f"alias {alias!r} stands for {known!r} already")
    if not in_registration_order(resolve(target)):
        raise AliasError(f"alias {alias!r} has an unknown target: no operator {target!r}")


def _chain(name: str) -> list[str]:
    """``name`` and what it stands for, step by step."""
    names = [name]
    while names[-1] in _aliases:
        names.append(_aliases[names[-1]])
    return names


def resolve(name: str) -> str:
    """The canonical name: what an alias stands for in the end, any other name itself."""
    return _chain(name)[-1]


def _remove(alias: str, target: str) -> None:
    with _lock:
        if _aliases.get(alias) == target:
            del _aliases[alias]
