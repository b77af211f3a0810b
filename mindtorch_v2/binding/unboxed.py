"""The short way of a call: from its arguments to its kernel, with nothing made on the way.

Mirrors ``Dispatcher::call`` and ``DispatchKeyExtractor::getDispatchKeySetUnboxed``, which C++
compiles anew for each signature.  Here a schema is turned once into Python functions:

-   :attr:`Unboxed.call` takes a value for each argument, as a stack has them;
-   :attr:`Unboxed.bind` takes a user's objects, as long as they are what nearly every call has:
    tensors of the class Tensor itself, numbers, text, torch's constants, lists of those.  Whatever
    else it meets, it answers UNUSUAL and has done nothing; then :mod:`op_schema` binds the call,
    which knows torch's words.

Both look for the kernel in a dict, by the keys of the tensors and the two sets of the thread, which
are noughts as they are stored while nobody has changed them; every registration empties it.  For
``add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor`` they read:

    def call(_0, _1, _2):
        if _observers.count:
            return _long_way(_0, _1, _2)
        _keys = (_0._keys if isinstance(_0, _Tensor) else _keys_of(_0, _none0)) | (…)
        _raw = _thread.raw
        _included, _excluded = _raw._included, _raw._excluded
        _at = (_keys, _included, _excluded) if _included or _excluded else _keys
        if _raw.pipeline is not None:
            _at = _at, _PIPELINE_BIT
        return (_kernels.get(_at) or _find(_keys))(_0, _1, _2)

    def bind(self=_absent, other=_absent, *, alpha=_default2):
        if _observers.count:
            return _UNUSUAL
        if type(self) is _Tensor:
            _keys = self._keys
        elif self is None:
            _keys = _none0
        else:
            return _UNUSUAL
        …
        if alpha is not _default2:
            if type(alpha) not in _PLAIN:
                return _UNUSUAL
            try:
                alpha = _convert2(alpha)
            except Exception:
                return _UNUSUAL
        …
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from mindtorch_v2.binding.op_schema import OpSchema, free_prefix, parameter_names
from mindtorch_v2.binding.values import PythonArguments
from mindtorch_v2.dispatch import tls
from mindtorch_v2.dispatch.key import PIPELINE_BIT
from mindtorch_v2.dispatch.observers import OBSERVERS
from mindtorch_v2.schema.base_types import Type
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.dtype import DType, Layout, memory_format
from mindtorch_v2.tensor.size import Size
from mindtorch_v2.tensor.tensor import Tensor

if TYPE_CHECKING:
    from mindtorch_v2.binding.operators import Operator

Run = Callable[..., Any]
"""Takes a value for each argument; what a call comes to once its kernel is known."""

At = int | tuple[Any, ...]
"""The keys of a call's tensors and, where they are not the defaults, the sets of the thread: what
decides where it goes."""

UNUSUAL: Final = object()
"""The answer for a call that the short way does not take; nothing has happened then."""

PLAIN: Final = frozenset(
    (*(bool, int, float, complex, str, type(None)), *(DType, Layout, memory_format, Device))
)
"""Types whose values override nothing, and convert without effects."""

_LISTS: Final = frozenset((list, tuple, Size))
_KINDS: Final = frozenset(
    (
        *("NumberType", "IntType", "FloatType", "BoolType", "ComplexType", "StringType"),
        *("SymIntType", "ScalarTypeType", "LayoutType", "MemoryFormatType", "DeviceObjType"),
    )
)
"""Kinds of arguments that take plain values."""

_ABSENT: Final = object()


class Unboxed:
    """The short way of an operator that has this schema; ``none`` are the keys of None by the
    positions of arguments whose keys count."""

    def __init__(self, operator: Operator, schema: OpSchema, none: dict[int, int]) -> None:
        self.operator = operator
        self.schema = schema
        self._none = none
        self._kernels: dict[At, Run] = {}
        #: By the keysets of calls at the highest key of one; the next registration empties it.
        self.kept_below: dict[int, Run] = {}

    @cached_property
    def call(self) -> Run:
        """Calls the operator with a value for each argument."""
        return self._compiled("call", self._call_source(), "")

    @cached_property
    def bind(self) -> Run:
        """Calls the operator as a user does; UNUSUAL for a call that is not for the short way."""
        prefix = free_prefix(self.schema.schema.arguments)
        return self._compiled("bind", self._bind_source(prefix), prefix)

    @cached_property
    def bind_below(self) -> Run:
        """The same for a call at the highest key of a keyset, which comes first."""
        prefix = free_prefix(self.schema.schema.arguments)
        return self._compiled("bind", self._bind_source(prefix, is_below=True), prefix)

    @property
    def kernels(self) -> dict[At, Run]:
        """What runs calls, by where they go; the next registration empties it."""
        return self._kernels

    def below(self, keyset: int) -> Run:
        """What runs a call at the highest key of a keyset, while nobody observes."""
        return self.kept_below.get(keyset) or self.operator.find_below(self.kept_below, keyset)

    def found_below(self, keyset: int) -> Run:
        """The same for who keeps it, though no longer than its own kernel; looked up at each call
        while there is none, which is for the call to say."""
        try:
            return self.below(keyset)
        except (NotImplementedError, RuntimeError):
            return lambda *stack: self.below(keyset)(*stack)

    @cached_property
    def python_arguments(self) -> PythonArguments:
        """What kernels written in Python are called with."""
        return PythonArguments(self.schema.schema, self.operator.undefined)

    def _find(self, keys: int) -> Run:
        return self.operator.find_kernel(self._kernels, keys)

    def _find_if_current(self, keys: int) -> Run | None:
        """None if the operator has got another schema since."""
        return self._find(keys) if self.operator.binder is self.schema else None

    def _find_below_if_current(self, keyset: int) -> Run | None:
        return self.below(keyset) if self.operator.binder is self.schema else None

    def _compiled(self, name: str, lines: Iterator[str], prefix: str) -> Run:
        arguments = self.schema.schema.arguments
        prefix = prefix or "_"
        scope: dict[str, Any] = {
            "__name__": self.operator.__module__,  # whose frames these stand for
            "observers": OBSERVERS,
            "thread": tls.thread_local,
            "Tensor": Tensor,
            "UNUSUAL": UNUSUAL,
            "PLAIN": PLAIN,
            "absent": _ABSENT,
            "float": float,
            "is_plain_list": is_plain_list,
            "keys_of": self.operator.keys_of,
            "kernels": self._kernels,
            "PIPELINE_BIT": PIPELINE_BIT,
            "find": self._find if name == "call" else self._find_if_current,
            "below": self.kept_below,
            "find_below": self._find_below_if_current,
            "long_way": self.operator.long_way,
            "takes_numbers": self.operator.takes_numbers,
        }
        for position, argument in enumerate(arguments):
            scope[f"none{position}"] = self._none.get(position)
            scope[f"convert{position}"] = self.schema.converters[position]
            default = argument.default_value if argument.has_default else _ABSENT
            scope[f"default{position}"] = default
        named = {key if key == "__name__" else prefix + key: each for key, each in scope.items()}
        exec("\n".join(lines), named)
        found: Run = named[name]
        return found

    # --- source -------------------------------------------------------------------------------

    def _call_source(self) -> Iterator[str]:
        names = [f"_{position}" for position in range(len(self.schema.schema.arguments))]
        listed = ", ".join(names)
        keys = (
            f"(_{position}._keys if isinstance(_{position}, _Tensor) "
            f"else _keys_of(_{position}, _none{position}))"
            for position in self._none
        )
        yield f"def call({listed}):"
        yield f" if _observers.count: return _long_way({listed})"
        yield f" _keys = {' | '.join(keys) or '0'}"
        yield " _raw = _thread.raw"
        yield " _included, _excluded = _raw._included, _raw._excluded"
        yield " _at = (_keys, _included, _excluded) if _included or _excluded else _keys"
        yield " if _raw.pipeline is not None: _at = _at, _PIPELINE_BIT"
        yield f" return (_kernels.get(_at) or _find(_keys))({listed})"

    def _bind_source(self, p: str, *, is_below: bool = False) -> Iterator[str]:
        arguments = self.schema.schema.arguments
        names = parameter_names(arguments, p)
        parameters, starred = [f"{p}keyset", "/"] if is_below else [], False
        for position, (argument, name) in enumerate(zip(arguments, names, strict=True)):
            if argument.kwarg_only and not starred:
                starred = True
                parameters.append("*")
            parameters.append(f"{name}={p}default{position}")
        yield f"def bind({', '.join(parameters)}):"
        yield f" if {p}observers.count: return {p}UNUSUAL"
        for position, (argument, name) in enumerate(zip(arguments, names, strict=True)):
            yield from self._argument_source(position, argument.real_type, name, p)
        if not self._none:
            yield f" {p}keys = 0"
        if is_below:
            yield f" {p}run = {p}below.get({p}keyset) or {p}find_below({p}keyset)"
            yield f" return {p}UNUSUAL if {p}run is None else {p}run({', '.join(names)})"
            return
        yield f" {p}raw = {p}thread.raw"
        yield f" {p}included, {p}excluded = {p}raw._included, {p}raw._excluded"
        at = f"({p}keys, {p}included, {p}excluded) if {p}included or {p}excluded else {p}keys"
        yield f" {p}run = {p}kernels.get({at})"
        yield f" if {p}run is None or {p}raw.pipeline is not None:"
        yield f"  {p}run = {p}find({p}keys)"
        yield f"  if {p}run is None: return {p}UNUSUAL"
        yield f" if {p}raw.numbers_as_tensors is {p}takes_numbers:"
        yield f"  return {p}run({', '.join(names)})"
        yield f" {p}before, {p}raw.numbers_as_tensors = {p}raw.numbers_as_tensors, {p}takes_numbers"
        yield f" try: return {p}run({', '.join(names)})"
        yield f" finally: {p}raw.numbers_as_tensors = {p}before"

    def _argument_source(self, position: int, type: Type, name: str, p: str) -> Iterator[str]:
        if type.kind == "OptionalType":
            type = type.contained[0]
        gets = "=" if position == min(self._none, default=None) else "|="
        if type.kind == "TensorType" and position in self._none:
            yield f" if type({name}) is {p}Tensor: {p}keys {gets} {name}._keys"
            yield f" elif {name} is None: {p}keys {gets} {p}none{position}"
            yield f" else: return {p}UNUSUAL"
            return
        if type.kind in _KINDS:
            usual = f"type({name}) in {p}PLAIN"
        elif type.kind == "ListType" and type.contained[0].kind in _KINDS:
            usual = f"{p}is_plain_list({name})"
        elif type.kind == "ListType" and position in self._none:
            yield f" if type({name}) is not list and type({name}) is not tuple: return {p}UNUSUAL"
            if gets == "=":
                yield f" {p}keys = 0"
            yield f" for {p}each in {name}:"
            yield f"  if type({p}each) is not {p}Tensor: return {p}UNUSUAL"
            yield f"  {p}keys |= {p}each._keys"
            yield f" {name} = list({name})"
            return
        else:
            usual = "False"
        yield f" if {name} is {p}absent: return {p}UNUSUAL"
        as_it_is = f" and type({name}) is not {p}float" if type.kind == "FloatType" else ""
        yield f" if {name} is not {p}default{position}{as_it_is}:"
        yield f"  if not ({usual}): return {p}UNUSUAL"
        yield f"  try: {name} = {p}convert{position}({name})"
        yield f"  except Exception: return {p}UNUSUAL"


def unusual(*args: Any, **kwargs: Any) -> Any:
    """The short way of what has none."""
    return UNUSUAL


Make = Callable[["Operator", int], "Run | None"]
"""Makes of a kernel that runs for any operator and keyset one that runs for these."""

_MAKERS: Final[dict[Any, Make]] = {}


def makes(kernel: Callable[..., Any]) -> Callable[[Make], Make]:
    """Have the short way take, in place of ``kernel``, what a function makes for an operator."""

    def register(make: Make) -> Make:
        _MAKERS[kernel] = make
        return make

    return register


def made_for(operator: Operator, keyset: int, kernel: Callable[..., Any] | None) -> Run | None:
    """What there is in a kernel's place for calls of an operator with a keyset; perhaps nothing."""
    make = _MAKERS.get(kernel)
    return None if make is None else make(operator, keyset)


def is_plain_list(value: Any) -> bool:
    """Whether it is a list of plain values, or a single one."""
    if type(value) in _LISTS:
        return all(type(each) in PLAIN for each in value)
    return type(value) in PLAIN
