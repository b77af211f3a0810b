"""Thread-local include and exclude sets, and the guards that change them.

Mirrors ``c10/core/impl/LocalDispatchKeySet.h`` and ``.cpp``.  Every dispatch of a thread works
on ``((keys | included) - excluded) & mask``; guards change the two sets and put them back.

Note [TLS initialization]
    Thread-local storage of C++ starts as zeros, so what it stores is the XOR of a set with its
    default: BackendSelect and ADInplaceOrView included, autocast excluded.  Here both sets are one
    value (:mod:`~mindtorch_v2.dispatch.local_sets`), and a thread starts with the defaults.

Note [Guards belong to a thread]
    As in C++, a guard remembers the storage of the thread that constructed it, and undoes its
    change there even when another thread drops it.  :class:`ForceDispatchKeyGuard` alone
    restores into the thread that drops it.

Note [Watched storages]
    A thread is usual as long as its calls go where their arguments' keys alone say.  Nearly all
    threads are, so short ways do not look: they ask whether any storage is watched, and look at
    their thread's own only then (:func:`is_usual_thread`).  Who changes the sets, the pipeline or
    the inference mode of a thread has its storage watched before; it stays so until somebody
    looks, and finds it usual.
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any, Final, Protocol, TypeVar

from mindtorch_v2.dispatch.key import FUNCTIONALITY_ORDER, PIPELINE_BIT, PIPELINE_VALUE, DispatchKey
from mindtorch_v2.dispatch.keyset import (
    AUTOGRAD_KEYS,
    BACKEND_MASK,
    difference,
    functionality_bit,
    mask_of,
)
from mindtorch_v2.dispatch.local_sets import DEFAULT, Change, LocalSets, local_sets
from mindtorch_v2.dispatch.local_sets import DEFAULT_EXCLUDED as DEFAULT_EXCLUDED
from mindtorch_v2.dispatch.local_sets import DEFAULT_INCLUDED as DEFAULT_INCLUDED
from mindtorch_v2.profile import GuardFacts
from mindtorch_v2.thread_state import ThreadLocal, carried

Answer = TypeVar("Answer")


class Modes:
    """Dispatch modes: those of users, the topmost last, and one of each infra kind."""

    __slots__ = ("infra", "users")

    def __init__(self) -> None:
        self.users: list[Any] = []
        self.infra: dict[int, Any] = {}


watched: Final[set[int]] = set()
"""The storages that may not be usual, by identity.  Note [Watched storages]"""


class RawLocalDispatchKeySet:
    """One thread's storage (c10::impl::PODLocalDispatchKeySet)."""

    __slots__ = (
        "grad_mode",
        "inference_mode",
        "is_watched",
        "modes",
        "multithreading",
        "numbers_as_tensors",
        "on_entry",
        "pipeline",
        "python_dispatcher",
        "sets",
    )

    def __init__(self) -> None:
        #: Note [Watched storages]
        self.is_watched = False
        self.sets = DEFAULT
        self.grad_mode = True
        self.inference_mode = False
        #: Whether backward may use several threads, which it never does here.
        self.multithreading = True
        self.python_dispatcher = False
        self.modes = Modes()
        #: Whether what a kernel in Python answers may be a number in a tensor's place.
        self.numbers_as_tensors = False
        #: ``tls_on_entry``: the sets where a call on its way to Python came in.
        self.on_entry: LocalSets | None = None
        #: The pipeline whose block the thread is in.
        self.pipeline: Pipeline | None = None

    def __del__(self) -> None:
        self._forget(id(self))

    _forget = watched.discard  # which is there to the interpreter's end

    @property
    def is_usual(self) -> bool:
        """Whether the arguments' keys alone decide where a call of the thread goes."""
        return self.sets.is_default and self.pipeline is None and not self.inference_mode

    def watch(self) -> None:
        watched.add(id(self))
        self.is_watched = True

    def unwatch(self) -> None:
        watched.discard(id(self))
        self.is_watched = False

    def copy(self) -> RawLocalDispatchKeySet:
        """One that no thread has, and nobody watches."""
        copy = object.__new__(RawLocalDispatchKeySet)
        copy.is_watched, copy.sets = False, self.sets
        copy.grad_mode, copy.inference_mode = self.grad_mode, self.inference_mode
        copy.multithreading = self.multithreading
        copy.python_dispatcher, copy.pipeline = self.python_dispatcher, self.pipeline
        copy.modes = self.modes
        copy.numbers_as_tensors, copy.on_entry = self.numbers_as_tensors, self.on_entry
        return copy

    @property
    def included(self) -> int:
        return self.sets.included

    @included.setter
    def included(self, mask: int) -> None:
        self.sets = self.sets.with_included(mask)

    @property
    def excluded(self) -> int:
        return self.sets.excluded

    @excluded.setter
    def excluded(self, mask: int) -> None:
        self.sets = self.sets.with_excluded(mask)


class Pipeline(Protocol):
    """What the calls of a thread may wait in."""

    def flush(self, reason: str = ...) -> None: ...


class _ThreadLocal(ThreadLocal):
    def __init__(self) -> None:
        self.raw = RawLocalDispatchKeySet()


thread_local: Final = carried(_ThreadLocal())
"""Its ``raw`` is the calling thread's storage: for who cannot afford to call a function."""


def local_dispatch_key_set() -> RawLocalDispatchKeySet:
    """The calling thread's storage."""
    return thread_local.raw


def is_usual_thread() -> bool:
    """Whether the calling thread is.  Note [Watched storages]"""
    raw = thread_local.raw
    if not raw.is_usual:
        return False
    if raw.is_watched:
        raw.unwatch()
    return True


def apply_masks(mask: int) -> int:
    """``(mask | included) - excluded`` for the calling thread."""
    raw = thread_local.raw
    keys = difference(mask | raw.sets.included, raw.sets.excluded)
    return keys if raw.pipeline is None else _in_pipeline(keys, raw.pipeline)


def goes_past_pipeline(mask: int) -> bool:
    """Whether a call with these keys does not wait in the thread's pipeline."""
    raw = thread_local.raw
    return bool(difference(mask | raw.included, raw.excluded) & _NOT_FOR_PIPELINES)


def _in_pipeline(keys: int, pipeline: Pipeline) -> int:
    """Note [Calls that a pipeline takes]

    In a pipeline's block autograd and BackendSelect are masked, so that a call reaches
    ``Pipeline`` first; what waits there meets them when it runs.  Modes, transforms and lazy bits
    have to be met in the order of the program, so a call with such keys goes past the pipeline,
    after all that waits.
    """
    if keys & _NOT_FOR_PIPELINES:
        pipeline.flush("a call that modes, transforms or lazy bits have to do with")
        return keys & ~PIPELINE_BIT
    return difference(keys, _ABOVE_PIPELINE)


# --- single keys ------------------------------------------------------------------------------


def is_dispatch_key_included(key: int) -> bool:
    bits = mask_of(key)
    return thread_local.raw.included & bits == bits


def set_dispatch_key_included(key: int, desired: bool) -> None:
    """Put ``key`` into the included set or take its functionality out; without a guard."""
    if is_dispatch_key_included(key) != desired:
        raw = thread_local.raw
        raw.watch()
        raw.included = _with(raw.included, key) if desired else _without(raw.included, key)


def is_dispatch_key_excluded(key: int) -> bool:
    bits = mask_of(key)
    return thread_local.raw.excluded & bits == bits


def set_dispatch_key_excluded(key: int, desired: bool) -> None:
    """Put ``key`` into the excluded set or take its functionality out; without a guard."""
    if is_dispatch_key_excluded(key) != desired:
        raw = thread_local.raw
        raw.watch()
        raw.excluded = _with(raw.excluded, key) if desired else _without(raw.excluded, key)


def _with(mask: int, key: int) -> int:
    return mask | mask_of(key)


def _without(mask: int, key: int) -> int:
    return difference(mask, mask_of(key))


# --- guards -----------------------------------------------------------------------------------


class Guard(Protocol):
    """A change that construction makes and :meth:`close` undoes, once."""

    def close(self) -> None: ...


class SetsGuard:
    """A change of the sets; on close it is taken back."""

    __slots__ = ("_change", "_raw")

    def __init__(self, mask: int) -> None:
        raw = self._raw = thread_local.raw
        change = self._change = self._made(raw.sets, mask)
        if not raw.is_watched:
            raw.watch()
        raw.sets = change.within

    def _made(self, found: LocalSets, mask: int) -> Change:
        raise NotImplementedError

    def close(self) -> None:
        raw, change = self._raw, self._change
        if not raw.is_watched:
            raw.watch()
        raw.sets = change.after if raw.sets is change.within else change.undone(raw.sets)


class IncludeDispatchKeyGuard(SetsGuard):
    """Includes ``mask``; on close the included set is without what that has brought."""

    __slots__ = ()

    def _made(self, found: LocalSets, mask: int) -> Change:
        return found.include(mask)


class ExcludeDispatchKeyGuard(SetsGuard):
    """Excludes ``mask``; on close the excluded set is without what that has brought."""

    __slots__ = ()

    def _made(self, found: LocalSets, mask: int) -> Change:
        return found.exclude(mask)


def call_excluding(mask: int, run: Callable[..., Answer], *args: Any) -> Answer:
    """The answer of a call in a thread that excludes ``mask`` meanwhile, as with the guard."""
    raw = thread_local.raw
    found = raw.sets
    change = found.excluding.get(mask) or found.exclude(mask)
    if not raw.is_watched:
        raw.watch()
    raw.sets = change.within
    try:
        return run(*args)
    finally:
        if not raw.is_watched:
            raw.watch()
        raw.sets = change.after if raw.sets is change.within else change.undone(raw.sets)


class ForceDispatchKeyGuard:
    """Saves both sets and, if given, replaces them; on close puts back what it saved."""

    __slots__ = ("_saved",)

    def __init__(self, included: int | None = None, excluded: int | None = None) -> None:
        raw = thread_local.raw
        self._saved = raw.sets
        if included is not None and excluded is not None:
            raw.watch()
            raw.sets = local_sets(included, excluded)

    def close(self) -> None:
        raw = thread_local.raw
        raw.watch()
        raw.sets = self._saved


class SetExcludeDispatchKeyGuard:
    """Sets whether one key is excluded; on close sets it back."""

    __slots__ = ("_key", "_old")

    def __init__(self, key: int, desired: bool) -> None:
        self._key = key
        self._old = is_dispatch_key_excluded(key)
        set_dispatch_key_excluded(key, desired)

    def close(self) -> None:
        set_dispatch_key_excluded(self._key, self._old)


class PythonDispatcherGuard:
    """Switches the Python dispatcher on or off; on close back to what it was.

    Mirrors c10/core/impl/PythonDispatcherTLS.cpp: whether it is on is a state of its own, of
    which the key in the included set follows.  A key that was included without that state
    is taken out when the guard closes, as in torch.
    """

    __slots__ = ("_old",)

    def __init__(self, desired: bool) -> None:
        self._old = thread_local.raw.python_dispatcher
        self._set(desired)

    def close(self) -> None:
        self._set(self._old)

    @staticmethod
    def _set(desired: bool) -> None:
        thread_local.raw.python_dispatcher = desired
        set_dispatch_key_included(DispatchKey.PythonDispatcher, desired)


class InferenceModeGuard:
    """c10::InferenceMode: no ADInplaceOrView, no autograd keys; or, disabled, both again."""

    __slots__ = ("_force", "_old")

    def __init__(self, enabled: bool = True) -> None:
        raw = thread_local.raw
        inplace_or_view = mask_of(DispatchKey.ADInplaceOrView)
        if enabled:
            included = difference(raw.included, inplace_or_view)
            excluded = raw.excluded | AUTOGRAD_KEYS
        else:
            included = raw.included | inplace_or_view
            excluded = difference(raw.excluded, AUTOGRAD_KEYS)
        self._force = ForceDispatchKeyGuard(included, excluded)
        self._old = raw.inference_mode, raw.grad_mode, raw.multithreading
        raw.inference_mode, raw.grad_mode = enabled, not enabled
        raw.multithreading = not enabled

    def close(self) -> None:
        raw = thread_local.raw
        raw.watch()
        raw.inference_mode, raw.grad_mode, raw.multithreading = self._old
        self._force.close()


class AutoGradMode:
    """Sets whether operations are recorded (``GradMode``); on close back to what it was."""

    __slots__ = ("_old",)

    def __init__(self, enabled: bool) -> None:
        self._old = thread_local.raw.grad_mode
        thread_local.raw.grad_mode = enabled

    def close(self) -> None:
        thread_local.raw.grad_mode = self._old


def is_grad_enabled() -> bool:
    """``GradMode``: whether operations on tensors that require a gradient are recorded."""
    return thread_local.raw.grad_mode


def set_grad_enabled(enabled: bool) -> None:
    """Without a guard."""
    thread_local.raw.grad_mode = enabled


def is_below_autograd() -> bool:
    """Whether autograd's kernels are passed over, as below one of them."""
    return bool(thread_local.raw.excluded & _AUTOGRAD)


def is_below_inplace_or_view() -> bool:
    """Whether ADInplaceOrView's kernels are."""
    return bool(thread_local.raw.excluded & _INPLACE_OR_VIEW)


def is_just_above_backends() -> bool:
    """The same while the kernels of dense backends are not masked themselves."""
    return thread_local.raw.excluded & _INPLACE_OR_VIEW_AND_DENSE == _INPLACE_OR_VIEW


def is_inference_mode_enabled() -> bool:
    return thread_local.raw.inference_mode


def set_meta_in_tls_included(desired: bool) -> None:
    """Put Meta into the included set, or take its backend bit out (not its functionality)."""
    raw = thread_local.raw
    raw.watch()
    meta = mask_of(DispatchKey.Meta)
    raw.included = raw.included | meta if desired else raw.included & ~(meta & BACKEND_MASK)


def is_meta_in_tls_included() -> bool:
    return bool(thread_local.raw.included & mask_of(DispatchKey.Meta) & BACKEND_MASK)


def guard_from_facts(facts: GuardFacts) -> Guard:
    """What a guard without arguments does, as observed in the release.

    All but the Python dispatcher's include keys, exclude keys, or only preserve both sets.
    """
    if facts.error is not None:
        raise RuntimeError(facts.error[1])
    if _PYTHON_DISPATCHER in (facts.included_added, facts.included_removed):
        return PythonDispatcherGuard(bool(facts.included_added))
    if facts.included_added:
        return IncludeDispatchKeyGuard(facts.included_added)
    if facts.excluded_added:
        return ExcludeDispatchKeyGuard(facts.excluded_added)
    return ForceDispatchKeyGuard()


_PYTHON_DISPATCHER: Final = mask_of(DispatchKey.PythonDispatcher)


_AUTOGRAD: Final = functionality_bit(DispatchKey.AutogradFunctionality)
_INPLACE_OR_VIEW: Final = functionality_bit(DispatchKey.ADInplaceOrView)
_INPLACE_OR_VIEW_AND_DENSE: Final = _INPLACE_OR_VIEW | functionality_bit(DispatchKey.Dense)


def _above_pipeline() -> int:
    mask = 0
    for key in FUNCTIONALITY_ORDER[FUNCTIONALITY_ORDER.index(PIPELINE_VALUE) + 1 :]:
        mask |= functionality_bit(key)
    return mask


_ABOVE_PIPELINE: Final = _above_pipeline()
_NOT_FOR_PIPELINES: Final = _ABOVE_PIPELINE & ~(
    functionality_bit(DispatchKey.BackendSelect)
    | _AUTOGRAD
    | _INPLACE_OR_VIEW
    | functionality_bit(DispatchKey.AutogradOther)
)
"""Of None and numbers in a tensor's place, AutogradOther stands for autograd."""


class outside_pipeline:  # noqa: N801 (used as a function)
    """A block whose calls run at once: what waits in the thread's pipeline has run before it."""

    __slots__ = ("_found", "_raw", "_reason")

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def __enter__(self) -> None:
        raw = self._raw = thread_local.raw
        self._found = raw.pipeline, raw.included & PIPELINE_BIT
        if raw.pipeline is not None:
            raw.pipeline.flush(self._reason)
            raw.pipeline, raw.included = None, raw.included & ~PIPELINE_BIT

    def __exit__(self, *raised: object) -> None:
        pipeline, bit = self._found
        if pipeline is not None:
            self._raw.watch()
            self._raw.pipeline = pipeline
            self._raw.included |= bit


class with_state:  # noqa: N801 (used as a function)
    """A block that runs with a storage of another time, perhaps of another thread."""

    __slots__ = ("_found", "_state", "_watches")

    def __init__(self, state: RawLocalDispatchKeySet) -> None:
        self._state = state

    def __enter__(self) -> None:
        self._found = thread_local.raw
        # which belong to the call that is being made, or to the thread, and not to the state
        self._state.numbers_as_tensors = self._found.numbers_as_tensors
        self._state.on_entry = self._found.on_entry
        self._state.modes = self._found.modes
        self._watches = not self._state.is_watched
        if self._watches:
            self._state.watch()
        thread_local.raw = self._state

    def __exit__(self, *raised: object) -> None:
        thread_local.raw = self._found
        if self._watches:
            self._state.unwatch()


class guarded:  # noqa: N801 (used as a function)
    """A guard as a context manager: ``with guarded(ExcludeDispatchKeyGuard, mask): …``.

    The guard is made on entry and closed on exit, whatever leaves the block; blocks may nest,
    those of one object too.
    """

    __slots__ = ("_args", "_guards", "_type")

    def __init__(self, guard: type[Guard], *args: int) -> None:
        self._type = guard
        self._args = args
        self._guards: list[Guard] = []

    def __enter__(self) -> None:
        self._guards.append(self._type(*self._args))

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._guards.pop().close()
