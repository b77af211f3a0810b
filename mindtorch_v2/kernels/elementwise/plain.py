"""Plain calls of pointwise operators: operands that have arrays, and one function of arrays.

A call of plain tensors (Note [Arrays of plain tensors] in :mod:`mindtorch_v2.tensor.plain`) of one
dtype and shape needs no checks if there has been one before with the same dtype and further
arguments: a :class:`~mindtorch_v2.kernels.elementwise.pointwise.Pointwise` keeps what it came to as
a :class:`Plan`, and the short way goes from the arrays of the operands to that of the result.  Of
the thread it reads nothing but the inference mode.

The functions are written for a number of values.  For ``add.Tensor(self, other, alpha)`` they read:

    def run(_0, _1, _2):
        if (
            (type(_0) is Tensor or isinstance(_0, Tensor))
            and (type(_1) is Tensor or isinstance(_1, Tensor))
            and _0._dtype is _1._dtype
        ):
            kind, sizes = _0._dtype, _0._sizes
            a0 = _0._array
            if a0 is None or (
                (memory := _0._memory) is not None and memory is not _0._raw_storage._raw_bytes
            ):
                a0 = array_of(_0)
            …
            try:
                dtype, r2, plan = last[0]
                if dtype is not kind or r2 is not _2:
                    plan = plans.get((kind, _2, type(_2)))
                    if plan is not None:
                        last[0] = kind, _2, plan
                if (
                    plan is not None and a0 is not None and a1 is not None
                    and (sizes is _1._sizes or sizes == _1._sizes)
                    and not thread.raw.inference_mode
                ):
                    found = run_quietly(plan.function, a0, a1)
                    if type(found) is not plan.answers:
                        found = own(found, plan.raw, a0, a1)
                    made = …  # a tensor with the array that was found
                    if _0._raw_autograd is None and _1._raw_autograd is None:
                        return made
                    made = record(made, _0, _1, _2)
                    if made is not UNUSUAL:
                        return made
            except Exception:  # that the long way raises too, unless it has to raise another first
                pass
        try:
            answer = unlike(_0, _1, _2)  # with operands that do not lie alike
        except Exception:
            answer = UNUSUAL
        return otherwise(_0, _1, _2) if answer is UNUSUAL else answer
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np

from mindtorch_v2.binding.unboxed import UNUSUAL, Run
from mindtorch_v2.binding.written import Inline
from mindtorch_v2.dispatch import tls
from mindtorch_v2.kernels.elementwise.short_way import ShortWay
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.pending import AWAY
from mindtorch_v2.tensor.plain import array_of
from mindtorch_v2.tensor.quiet import quiet_run, quietly
from mindtorch_v2.tensor.tensor import Tensor

_MOST_PLANS: Final = 1000

_ONLY: Final = {(1,) * dims: (0,) * dims for dims in range(65)} | {(1,): 0}
"""Where the only element of an array is, by the array's shape."""

run_quietly: Final = quiet_run()
"""As :func:`~mindtorch_v2.tensor.quiet.quietly`, for who cannot afford a call: RuntimeError, and
nothing has been computed, while another thread, or what this one has interrupted, computes so."""


def made_lines(dtype: str, sizes: str, strides: str) -> Iterator[str]:
    """``made`` is a new tensor that has the array ``found``; what is not said is that of ``_0``."""
    yield "made = new(Tensor)"
    yield "made._array, made._memory, made._storage_offset = found, None, 0"
    yield "made._raw_storage = made._raw_versions = AWAY"
    yield f"made._dtype, made._device, made._layout = {dtype}, _0._device, _0._layout"
    yield f"made._sizes, made._strides, made._keys = {sizes}, {strides}, _0._keys"
    yield "made._raw_autograd = made._content = made._functional = made._custom = None"
    yield "made._pending = None"


def is_plain_ufunc(function: Callable[..., Any], computed: np.dtype[Any], raw: Any) -> bool:
    """Whether arrays of the one dtype become one of the other, which nobody else has."""
    if not isinstance(function, np.ufunc):
        return False
    answered = quietly(function, *[np.ones(1, computed)] * function.nin)
    return bool(answered.dtype == raw)


@dataclass(frozen=True, slots=True)
class Plan:
    """What is computed of the arrays of operands with a dtype."""

    raw: np.dtype[Any]
    function: Callable[..., Array]
    #: ``np.ndarray`` if an array that it answers is one that nobody else has, as tensors of the
    #: dtype are stored.  It may answer a single number besides.
    answers: type | None
    #: From which number to which Python's operator comes to the same of two; None if there is none.
    least: Any = None
    most: Any = None

    @classmethod
    def of(
        cls, raw: np.dtype[Any], compute: Callable[..., Array], rest: tuple[Any, ...], sign: str
    ) -> Plan:
        """``compute`` gets ``rest`` after the arrays; a function of NumPy's is what ``sign`` is.

        Integers are exact either way, and of floats of single precision a double has more than
        twice the digits, so that rounding twice is rounding once.
        """
        if rest:
            return cls(raw, lambda *arrays: compute(*arrays, *rest), None)
        if not is_plain_ufunc(compute, raw, raw):
            return cls(raw, compute, None)
        if not sign or raw.kind not in "iuf":
            return cls(raw, compute, np.ndarray)
        limits = np.iinfo(raw) if raw.kind in "iu" else np.finfo(raw)
        return cls(raw, compute, np.ndarray, *np.array([limits.min, limits.max], raw).tolist())


class Plans(dict[Any, Plan]):
    """By dtype, and further arguments with their types."""

    def keep(self, key: Any, plan: Plan) -> None:
        if len(self) < _MOST_PLANS:
            self[key] = plan


def key_of(dtype: Any, rest: tuple[Any, ...]) -> Any:
    """Of a plan."""
    kinds = [each for value in rest for each in (value, type(value))]
    return (dtype, *kinds) if rest else dtype


def own(found: Any, raw: np.dtype[Any], *operands: Array) -> Array:
    """What was computed of operands, as an array that nobody else has."""
    is_new = type(found) is np.ndarray and found.base is None and id(found) not in map(id, operands)
    if is_new and found.dtype is raw and found.flags.c_contiguous:
        return found  # type: ignore[no-any-return]
    return np.array(found, raw, order="C")


# --- the short way ------------------------------------------------------------------------------


def short_way(
    plans: Plans,
    inputs: int,
    unlike: Callable[[int, Run | None], Run],
    *,
    in_place: bool,
    sign: str,
) -> ShortWay:
    """That of an operator of one or two operands, the first of which the result may replace.

    ``sign`` is Python's operator for two numbers, where the plans' function is NumPy's.  ``unlike``
    makes what takes calls whose operands do not lie alike, or answers UNUSUAL.
    """

    def make(otherwise: Run, count: int, record: Run | None) -> Run:
        source = _Source(inputs, count, record is not None)
        return source.function(plans, otherwise, record, unlike(count, record))

    def make_in_place(otherwise: Run, count: int, record: Run | None) -> Run:
        source = _InPlace(inputs, count, False, sign)
        return source.function(plans, otherwise, record, unlike(count, None))

    return ShortWay(above=make_in_place) if in_place else ShortWay(make)


@dataclass(frozen=True)
class _Source:
    """Of a function of ``count`` values, of which the first are ``inputs``."""

    inputs: int
    count: int
    records: bool
    #: Python's operator for two numbers, where the plans' function is NumPy's; empty if none.
    sign: str = ""

    def function(self, plans: Plans, otherwise: Run, record: Run | None, unlike: Run) -> Run:
        last = [(None,) * (self.count - self.inputs + 2)]
        run = _maker(self)(plans, otherwise, record, unlike, last)
        scope = {**_SCOPE, "plans": plans, "record": record, "last": last}
        run.inline = Inline(  # type: ignore[attr-defined]
            self.inputs, tuple(self.short(is_inline=True)), scope
        )
        return run

    def lines(self) -> Iterator[str]:
        yield f" def run({self.values}):"
        yield from (f"  {line}" for line in self.short(is_inline=False))
        yield f"  try: answer = unlike({self.values})"
        yield "  except Exception: answer = UNUSUAL"
        yield f"  return otherwise({self.values}) if answer is UNUSUAL else answer"

    def short(self, *, is_inline: bool) -> Iterator[str]:
        """What answers a plain call whose operands lie alike."""
        operands, arrays = range(self.inputs), ", ".join(f"a{n}" for n in range(self.inputs))
        kinds = [f"(type(_{n}) is Tensor or isinstance(_{n}, Tensor))" for n in operands]
        key = "kind", *(f"_{n}, type(_{n})" for n in range(self.inputs, self.count))
        same_dtype = [f"_0._dtype is _{n}._dtype" for n in operands[1:]]
        mode = [] if is_inline else ["not thread.raw.inference_mode"]
        alike = same_dtype if is_inline else kinds + same_dtype
        yield f"if {' and '.join(alike) or True}:"
        yield " kind, sizes = _0._dtype, _0._sizes"
        for n in operands:
            yield f" a{n} = _{n}._array"
            yield f" if a{n} is None or ((memory := _{n}._memory) is not None"
            yield f"  and memory is not _{n}._raw_storage._raw_bytes): a{n} = array_of(_{n})"
        yield " try:"
        yield from (f"  {line}" for line in self.planned(", ".join(key)))
        yield from (f"  {line}" for line in self.prepared())
        yield f"  if {' and '.join((*self.conditions(), *mode))}:"
        yield from (f"   {line}" for line in self.computed(arrays))
        yield " except Exception: pass"

    @property
    def values(self) -> str:
        return ", ".join(f"_{n}" for n in range(self.count))

    def planned(self, key: str) -> Iterator[str]:
        """Finds the plan; with further arguments, which nearly always are the very same objects as
        those of the call before, by looking at these first."""
        rest = range(self.inputs, self.count)
        if not rest:
            yield f"plan = plans.get({key})"
            return
        yield f"dtype, {', '.join(f'r{n}' for n in rest)}, plan = last[0]"
        differs = " or ".join(f"r{n} is not _{n}" for n in rest)
        yield f"if dtype is not kind or {differs}:"
        yield f" plan = plans.get(({key}))"
        found = ", ".join(f"_{n}" for n in rest)
        yield f" if plan is not None: last[0] = kind, {found}, plan"

    def prepared(self) -> Iterator[str]:
        yield from ()

    def conditions(self) -> Iterator[str]:
        operands = range(self.inputs)
        yield "plan is not None"
        yield from (f"a{n} is not None" for n in operands)
        yield from (f"(sizes is _{n}._sizes or sizes == _{n}._sizes)" for n in operands[1:])
        if not self.records:
            yield from (
                f"(_{n}._raw_autograd is None or not _{n}._requires_grad())" for n in operands
            )

    def computed(self, arrays: str) -> Iterator[str]:
        """Calls the plan's function, and answers."""
        yield f"found = run_quietly(plan.function, {arrays})"
        yield "if type(found) is not plan.answers:"
        yield f" found = own(found, plan.raw, {arrays})"
        yield from made_lines("kind", "sizes", "_0._strides")
        if self.records:
            has_none = " and ".join(f"_{n}._raw_autograd is None" for n in range(self.inputs))
            yield f"if {has_none}: return made"
            yield f"made = record(made, {self.values})"
            yield "if made is not UNUSUAL: return made"
        else:
            yield "return made"


class _InPlace(_Source):
    """The same where the result takes the first operand's place, and autograd records nothing."""

    def prepared(self) -> Iterator[str]:
        yield "versions = _0._raw_versions"
        yield "if versions is AWAY: versions = _0._versions"
        yield "count = versions._raw_value + 1"  # no number for an inference tensor

    def conditions(self) -> Iterator[str]:
        yield from super().conditions()
        if self.inputs == 2:  # of two tensors with one memory the elements may not be the same
            yield "(_0._memory is None or _0._memory is not _1._memory or _0 is _1)"

    def computed(self, arrays: str) -> Iterator[str]:
        branch = "if"
        if self.sign:  # Python computes two numbers in a fifth of the time that NumPy needs
            yield "if ((place := only.get(sizes)) is not None and plan.least is not None"
            yield f" and plan.least <= (value := a0.item() {self.sign} a1.item()) <= plan.most):"
            yield " a0[place] = value"
            branch = "elif"
        # NumPy computes in place what has more than one element; of one it would make a copy first
        yield f"{branch} plan.answers is not None and a0.size > 1:"
        yield f" run_quietly(plan.function, {arrays}, out=a0)"
        yield "else:"
        yield f" found = run_quietly(plan.function, {arrays})"
        # what has no storage yet, nobody shares (no other thread runs between the two)
        yield " if _0._memory is None and type(found) is plan.answers: _0._array = found"
        yield " else: a0[...] = found"
        yield "versions._raw_value = count"
        yield "return _0"


_SCOPE: Final[dict[str, Any]] = {
    "AWAY": AWAY,
    "Tensor": Tensor,
    "UNUSUAL": UNUSUAL,
    "array_of": array_of,
    "new": object.__new__,
    "only": _ONLY,
    "own": own,
    "run_quietly": run_quietly,
}


@cache
def _maker(source: _Source) -> Callable[..., Run]:
    scope: dict[str, Any] = {**_SCOPE, "__name__": __name__, "thread": tls.thread_local}
    begin = "def make(plans, otherwise, record, unlike, last):"
    exec("\n".join((begin, *source.lines(), " return run")), scope)
    made: Callable[..., Run] = scope["make"]
    return made
