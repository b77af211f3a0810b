"""The project's own registry: what it registers beside what torch has words for.

It stands on the dispatcher, and keeps nothing of its own but aliases:

-   an operator's stages (``meta``, ``plan``, ``impl``) are two kernels of its table and a plan
    beside the second, all of them kept by its entry;
-   a functionalization rule is kept by the entry of the operator that it is for;
-   an alias is a name that stands for all overloads of an operator.  It is resolved where a kernel
    is looked up; what a user sees, errors included, keeps the name that was typed.

Every registration answers what undoes it, and one that is refused leaves everything as it was.

    >>> undo = register_alias("aten::magnitude", "aten::abs")
    >>> resolve("aten::magnitude")
    'aten::abs'
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from mindtorch_v2.dispatch import dispatcher
from mindtorch_v2.dispatch.dispatcher import DISPATCHER, Undo, undo_all
from mindtorch_v2.dispatch.global_fallthrough import (
    global_fallthrough_keys,
    restore_global_fallthrough_keys,
)
from mindtorch_v2.dispatch.kernel import MISSING, Kernel
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.keyset import table_key
from mindtorch_v2.dispatch.library import parse_alias_analysis, python_kernel
from mindtorch_v2.dispatch.operator_entry import AnnotatedSchema, OperatorEntry, Plan, Rule
from mindtorch_v2.dispatch.operator_names import check_qualified, in_registration_order
from mindtorch_v2.schema.parser import parse_schema

_aliases: Final[dict[str, str]] = {}
_lock: Final = threading.RLock()


# --- operators --------------------------------------------------------------------------------


def register_schema(text: str, *, functionalization_rule: Rule | None = None) -> Undo:
    """Define the operator of a schema whose name has a namespace, with its rule if it needs one.

    A mutating operator needs one, unless it is the in-place form of an operator that is there.
    RuntimeError in torch's words if it has none, if there is the operator, or the schema does not
    parse.
    """
    from mindtorch_v2.functionalize.rules import derived_rule, without_functional_form

    schema = parse_schema(text)
    check_qualified(schema.name)
    if schema.is_mutable and functionalization_rule is None:
        functionalization_rule = derived_rule(schema)
        if functionalization_rule is None:
            raise without_functional_form(schema)
    kind = parse_alias_analysis("")
    annotated = AnnotatedSchema(str(schema), _HERE, kind, lambda: schema)
    with undo_all() as done:
        done.append(DISPATCHER.register_def(annotated))
        if functionalization_rule is not None:
            done.append(register_functionalization_rule(schema.full_name, functionalization_rule))
    return done.undo


def register_functionalization_rule(name: str, rule: Rule) -> Undo:
    """Say how a mutating operator is called without mutation, where its schema does not tell.

    Where a backend has no kernel of its own the operator runs by the rule, which is written back
    (see :mod:`mindtorch_v2.functionalize.rules`).  RuntimeError for an operator that is not
    defined, mutates nothing, or has a rule.
    """
    from mindtorch_v2.functionalize.rules import RuledOperator

    full_name = resolve_overload(name)
    with undo_all() as done:
        done.append(DISPATCHER.register_functionalization_rule(full_name, rule))
        entry = DISPATCHER.find_schema(full_name)
        assert entry is not None
        ruled = RuledOperator(entry.defined_schema.schema, rule)
        kernel = python_kernel(ruled.kernel, _HERE)
        key = int(DispatchKey.CompositeExplicitAutograd)
        done.append(DISPATCHER.register_impl(full_name, key, kernel))
    return done.undo


def functionalization_rule(name: str) -> Rule | None:
    """The rule of an operator, if it has one."""
    entry = DISPATCHER.find(resolve_overload(name))
    return None if entry is None else entry.functionalization_rule


# --- stages -----------------------------------------------------------------------------------


class Stages(NamedTuple):
    """What a pipeline takes of an operator on one backend; None where it has nothing.

    ``meta`` makes the output's metadata, ``plan`` says what ``impl`` will need.
    """

    meta: Kernel | None
    plan: Plan | None
    impl: Kernel | None


def register_kernels(
    name: str,
    key: DispatchKey | int,
    *,
    impl: Callable[..., Any] | None = None,
    meta: Callable[..., Any] | None = None,
    plan: Plan | None = None,
) -> Undo:
    """Give an operator stages on the backend of ``key``: all of them, or none.

    The operator may be defined later, as torch's may.  RuntimeError for a key that no tensor has,
    and for a plan where there is one.
    """
    check_qualified(name)
    full_name, at = resolve_overload(name), int(key)
    with undo_all() as done:
        if meta is not None:
            kernel = python_kernel(meta, _HERE)
            done.append(DISPATCHER.register_impl(full_name, int(DispatchKey.Meta), kernel))
        if plan is not None:
            done.append(DISPATCHER.register_plan(full_name, at, plan))
        if impl is not None:
            done.append(DISPATCHER.register_impl(full_name, at, python_kernel(impl, _HERE)))
    return done.undo


def stages(name: str, key: DispatchKey | int) -> Stages:
    """What an operator has on the backend of ``key``, by its table.

    RuntimeError in torch's words for an operator that does not exist.
    """
    entry = DISPATCHER.find(resolve_overload(name))
    if entry is None:
        raise RuntimeError(f"operator {name} does not exist")
    at = table_key(int(key))
    return Stages(
        _runnable(entry, int(DispatchKey.Meta)), entry.plans.get(at), _runnable(entry, at)
    )


def _runnable(entry: OperatorEntry, key: int) -> Kernel | None:
    """The operator's own kernel: a key's fallback is no stage."""
    kernel = entry.entry(key)
    if kernel is MISSING or kernel.is_fallthrough or kernel is DISPATCHER.fallback(key):
        return None
    return kernel


_HERE: Final = "registered with mindtorch_v2.dispatch.registry"


# --- aliases ----------------------------------------------------------------------------------


class AliasError(RuntimeError):
    """An alias cannot be; nothing has changed."""


def register_alias(alias: str, target: str) -> Undo:
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
    if _is_operator(alias):
        raise AliasError(f"alias {alias!r} would shadow the operator of that name")
    if alias in (target, *_chain(target)):
        raise AliasError(f"alias {alias!r} would stand for itself: {' -> '.join(_chain(target))}")
    known = _aliases.get(alias)
    if known is not None and known != target:
        raise AliasError(f"alias {alias!r} stands for {known!r} already")
    if not _is_operator(resolve(target)):
        raise AliasError(f"alias {alias!r} has an unknown target: no operator {target!r}")


def _is_operator(name: str) -> bool:
    return bool(in_registration_order(name) or DISPATCHER.is_defined(name))


def _chain(name: str) -> list[str]:
    """``name`` and what it stands for, step by step.

    An operator that is defined under the name of an alias takes the name over.
    """
    names = [name]
    while names[-1] in _aliases and not DISPATCHER.is_defined(names[-1]):
        names.append(_aliases[names[-1]])
    return names


def resolve(name: str) -> str:
    """The canonical name: what an alias stands for in the end, any other name itself."""
    return _chain(name)[-1] if name in _aliases else name


def resolve_overload(full_name: str) -> str:
    """The same for the name of an overload, ``aten::magnitude.out``."""
    name, dot, overload_name = full_name.partition(".")
    return f"{resolve(name)}{dot}{overload_name}"


def _remove(alias: str, target: str) -> None:
    with _lock:
        if _aliases.get(alias) == target:
            del _aliases[alias]


# --- the state as a whole ---------------------------------------------------------------------


class Snapshot(NamedTuple):
    """Everything that is registered."""

    dispatcher: dispatcher.Snapshot
    aliases: Mapping[str, str]
    global_fallthrough_keys: frozenset[int]


def snapshot() -> Snapshot:
    """What is registered now: operators, kernels, plans, rules, fallbacks, libraries, aliases, and
    the keys of global fallthrough."""
    with _lock:
        aliases = MappingProxyType(dict(_aliases))
        return Snapshot(DISPATCHER.snapshot(), aliases, global_fallthrough_keys())


def restore(state: Snapshot) -> None:
    """Have registered what was registered at :func:`snapshot`, and nothing else.

    What was registered since is gone, and taking it back then does nothing; what was taken back
    since is there again, and can be taken back again.
    """
    with _lock:
        DISPATCHER.restore(state.dispatcher)
        _aliases.clear()
        _aliases.update(state.aliases)
        restore_global_fallthrough_keys(state.global_fallthrough_keys)
