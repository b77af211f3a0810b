"""The helpers ``functionalized`` and ``attempt`` of cases: a program, and what is kept of its run.

``functionalized(f, x, way, log)`` calls the case's function ``f`` on the tensor ``x``, in one of
the `WAYS`, and adds to ``log`` every operator that reaches ``__torch_dispatch__`` below
functionalization, with the geometry of its tensors.  It answers the log, what ``f`` returned or
raised, ``x`` afterwards, and how often that was changed.

``attempt(log, steps)`` calls one function after the other; what one is refused for goes to the log.

Every program of a run is watched the same way, so this is the harness's and no part of each text:
to check and compile it anew takes longer than to run most programs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from types import MappingProxyType, ModuleType
from typing import Any, Final

__all__ = ["WAYS", "attempt", "functionalized"]

Function = Callable[[Any], Any]
Flush = Callable[[], Any]
"""Of the pipeline around a program: what waits fails where errors are caught."""


def _nothing_waits() -> None:
    """There is no pipeline."""


def functionalized(
    xp: ModuleType, f: Function, x: Any, way: str, log: list[Any], flush: Flush = _nothing_waits
) -> tuple[list[Any], Any, Any, int]:
    """The log, what became of ``f``, the argument and its version; KeyError for another way."""
    run = WAYS[way]
    logger = _logger(xp)(log, flush)
    try:
        with logger:
            found = run(xp, f, x, log)
            flush()
    except Exception as error:
        found = (type(error).__name__, str(error))
    logger.forget_what_never_came()
    return log, found, x, x._version


_AFTER_AN_ELEMENT: Final = re.compile(
    "ZeroDivisionError"
    r"|(?i:index|target) -?\d+ is out of bounds|tried to access index"
    "|index out of range in self|INDICES element is out of DATA bounds"
    r"|all elements of \w+ should be between 0 and 1"
    "|shape mismatch: value tensor of shape"  # how many elements a mask chooses
    "|ntensor >= 3"  # a mask without dimensions
    "|Number of elements of source < number of ones in mask"
    "|setStorage: sizes"  # index_fill_ of nothing
    "|Subtraction, the `-` operator, with a bool tensor"  # of a weight, after other steps
    r"|output with shape \[\] doesn't match the broadcast shape"  # logsumexp over no dimension
)
"""What a kernel refuses that has looked at an element of a tensor by then, and meta lets pass."""


def attempt(
    log: list[Any], steps: Iterable[Callable[[], Any]], flush: Flush = _nothing_waits
) -> None:
    """Call each step; the words of an error are logged, and the next step follows.

    In a pipeline a program ends with what is refused after a look at an element: the operator has
    been queued, and what it should have answered, or changed, is lost.
    """
    for step in steps:
        try:
            step()
            flush()
        except Exception as error:
            if flush is not _nothing_waits and _AFTER_AN_ELEMENT.search(str(error)):
                raise
            log.append(str(error))


# --- ways to run a function -----------------------------------------------------------------------


def _eager(xp: ModuleType, f: Function, x: Any, log: list[Any]) -> Any:
    return f(x)


def _transformed(**options: str) -> Callable[..., Any]:
    """As ``functionalize`` of a release does it."""
    return lambda xp, f, x, log: xp.func.functionalize(f, **options)(x)


def _wrapped(*, reapply_views: bool) -> Callable[..., Any]:
    """By hand, as compilers do it: what became of the wrapped argument is logged."""

    def run(xp: ModuleType, f: Function, x: Any, log: list[Any]) -> Any:
        w = xp._to_functional_tensor(x)
        xp._enable_functionalization(reapply_views=reapply_views)
        try:
            y = f(w)
        finally:
            xp._disable_functionalization()
        has_mutation = xp._functionalize_has_data_mutation(w)
        log.append((has_mutation, xp._functionalize_has_metadata_mutation(w)))
        log.append((w._version, w.shape, w.stride(), w.storage_offset()))
        return _unwrapped(xp, y), _unwrapped(xp, w)

    return run


def _unwrapped(xp: ModuleType, value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_unwrapped(xp, each) for each in value]
    if not isinstance(value, xp.Tensor) or not xp._is_functional_tensor(value):
        return value
    xp._sync(value)
    return xp._from_functional_tensor(value)


WAYS: Final[Mapping[str, Callable[..., Any]]] = MappingProxyType(
    {
        "eager": _eager,
        "mutations": _transformed(),
        "mutations_and_views": _transformed(remove="mutations_and_views"),
        "wrapped": _wrapped(reapply_views=True),
        "wrapped, copies": _wrapped(reapply_views=False),
    }
)
"""How a program runs its function, by what cases call it."""


# --- the log --------------------------------------------------------------------------------------


@cache
def _logger(xp: ModuleType) -> Callable[[list[Any], Flush], Any]:
    """The class of modes that log the operators that reach them."""
    tensors = xp.Tensor
    can_wait = hasattr(xp, "pipeline")
    mode: Any = xp.utils._python_dispatch.TorchDispatchMode

    def show(value: Any) -> str:
        """The geometry of a tensor; of a list, of each."""
        if isinstance(value, (list, tuple)):
            return f"[{', '.join([show(each) for each in value])}]"
        if not isinstance(value, tensors):
            return repr(value)
        return f"{value.dtype} {[*value.shape]} {value.stride()} {value.storage_offset()}"

    def came(value: Any) -> bool:
        """Whether a tensor was computed; of a list, each."""
        if isinstance(value, (list, tuple)):
            return all(came(each) for each in value)
        if isinstance(value, tensors):
            try:
                value.data_ptr()
            except RuntimeError:
                return False
        return True

    class Logger(mode):  # type: ignore[misc]
        def __init__(self, log: list[Any], flush: Flush) -> None:
            super().__init__()
            self._log, self._flush = log, flush
            self._may_wait = can_wait and flush is not _nothing_waits
            self._answers: list[tuple[int, Any]] = []
            """Places in the log, and what the operators logged there have answered."""

        def __torch_dispatch__(
            self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
        ) -> Any:
            named = kwargs or {}
            answer = func(*args, **named)
            if any(answer is each for each in (*args, *named.values())):
                self._flush()  # what refuses a change, does so by now
            more = [f"{key}={show(named[key])}" for key in sorted(named)]
            if self._may_wait:  # a factory copies what somebody else holds
                self._answers.append((len(self._log), answer))
            self._log.append(f"{func} {show(args)} {more} = {show(answer)}")
            return answer

        def forget_what_never_came(self) -> None:
            """Take from the log the operators that waited, and failed when their turn came.

            One that fails at its place was never logged.
            """
            for place, answer in reversed(self._answers):
                if not came(answer):
                    del self._log[place]

    return Logger
