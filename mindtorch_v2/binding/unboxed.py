"""The short way of a call: from its arguments to its kernel, with nothing made on the way.

Mirrors ``Dispatcher::call`` and ``DispatchKeyExtractor::getDispatchKeySetUnboxed``, which C++
compiles anew for each signature.  Here a schema is turned once into Python functions:

-   :attr:`Unboxed.call` takes a value for each argument, as a stack has them;
-   :meth:`Unboxed.entry` takes a user's objects, as long as they are what nearly every call has:
    tensors of the class Tensor itself, numbers, text, torch's constants, lists of those.  A call
    with any other it hands on, and has done nothing then: :mod:`op_schema` knows torch's words.

Both look for the kernel in dicts, by the thread's two sets and then by the keys of the tensors;
every registration empties them.  For
``add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor`` they read:

    def call(_0, _1, _2):
        if observers.count:
            return long_way(_0, _1, _2)
        keys = (_0._keys if isinstance(_0, Tensor) else keys_of(_0, none0)) | (…)
        raw = thread.raw
        try:
            run = (kernels if raw.pipeline is None else waiting)[raw.sets][keys]
        except KeyError:
            run = None
        return (run or find(keys))(_0, _1, _2)

    def entry(*args, **kwargs):
        while not observers.count:
            try:
                [_0, _1, _2] = named(*args, **kwargs) if kwargs else args + rest[len(args)]
            except NOT_SO:
                break
            if type(_0) is Tensor:
                keys = _0._keys
            elif _0 is None:
                keys = none0
            else:
                break
            …
            if _2 is not default2:
                if type(_2) not in PLAIN:
                    break
                try:
                    _2 = convert2(_2)
                except Exception:
                    break
            …
        return otherwise(args, kwargs)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache
from types import CodeType
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from mindtorch_v2.binding import unboxed_source
from mindtorch_v2.binding.op_schema import OpSchema, free_prefix, parameter_names
from mindtorch_v2.binding.values import PythonArguments
from mindtorch_v2.binding.written import Inline
from mindtorch_v2.dispatch import tls
from mindtorch_v2.dispatch.dispatcher import DISPATCHER
from mindtorch_v2.dispatch.local_sets import DEFAULT, LocalSets
from mindtorch_v2.dispatch.observers import OBSERVERS
from mindtorch_v2.pybind.cast import PybindTypeError
from mindtorch_v2.schema.function_schema import Argument, FunctionSchema
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.dtype import DType, Layout, memory_format
from mindtorch_v2.tensor.size import Size
from mindtorch_v2.tensor.tensor import Tensor

if TYPE_CHECKING:
    from mindtorch_v2.binding.operators import Operator

Run = Callable[..., Any]
"""Takes a value for each argument; what a call comes to once its kernel is known."""

Route = tuple[Run, Run | None, Run | None]
"""How a user's call runs: what runs it, what an answer has to go through that is no tensor, and
what runs it instead if autograd knows of one of its tensors."""

Otherwise = Callable[[tuple[Any, ...], dict[str, Any]], Any]
"""Takes the arguments and the keywords of a call."""

UNUSUAL: Final = object()
"""The answer for a call that the short way does not take; nothing has happened then."""

PLAIN: Final = frozenset(
    (*(bool, int, float, complex, str, type(None)), *(DType, Layout, memory_format, Device))
)
"""Types whose values override nothing, and convert without effects."""

_LISTS: Final = frozenset((list, tuple, Size))
_ABSENT: Final = object()
_NOT_SO: Final = (KeyError, TypeError, ValueError)
"""What Python says where arguments are of another number, or go by another name."""


Way = TypeVar("Way", Run, Route)


class Kept(Generic[Way]):
    """How calls run, by the thread's sets and the keys of the tensors; in the block of a pipeline
    it is another way than outside with the same sets."""

    __slots__ = ("in_pipeline", "outside")

    def __init__(self) -> None:
        self.outside: dict[LocalSets, dict[int, Way]] = {DEFAULT: {}}
        self.in_pipeline: dict[LocalSets, dict[int, Way]] = {}

    def of_thread(self, raw: tls.RawLocalDispatchKeySet) -> dict[int, Way]:
        """Those of a thread as it is now, by keys; what is in there registrations empty."""
        kept: dict[LocalSets, dict[int, Way]]
        kept = self.outside if raw.pipeline is None else self.in_pipeline
        if len(kept) > _MOST_SETS:
            for sets in list(kept):
                if sets is not DEFAULT:
                    kept.pop(sets, None)
        if raw.sets.is_default and kept is self.outside:
            return kept.setdefault(raw.sets, kept[DEFAULT])
        return kept.setdefault(raw.sets, {})


_MOST_SETS: Final = 1000
"""For so many values of the thread's sets ways are kept."""


class Unboxed:
    """The short way of an operator that has this schema; ``none`` are the keys of None by the
    positions of arguments whose keys count."""

    def __init__(self, operator: Operator, schema: OpSchema, none: dict[int, int]) -> None:
        self.operator = operator
        self.schema = schema
        self._none = none
        self._kernels: Kept[Run] = Kept()
        self._routes: Kept[Route] = Kept()
        #: By the keysets of calls at the highest key of one; the next registration empties it.
        self.kept_below: dict[int, Run] = {}
        self._routes_below: dict[int, Route] = {}

    @cached_property
    def call(self) -> Run:
        """Calls the operator with a value for each argument."""
        return self._function("call", _code(unboxed_source.of_call(self._schema, self._none)))

    def entry(self, otherwise: Otherwise) -> Run:
        """Calls the operator as a user does; ``otherwise`` is for what is not for the short way."""
        return self._function("entry", self._entry_code, otherwise=otherwise)

    @cached_property
    def _entry_code(self) -> CodeType:
        return _code(unboxed_source.of_entry(self._schema, self._none, is_below=False))

    @cached_property
    def entry_below(self) -> Callable[[int, tuple[Any, ...], dict[str, Any]], Any]:
        """The same for a call at the highest key of a keyset; UNUSUAL where ``otherwise`` was."""
        code = _code(unboxed_source.of_entry(self._schema, self._none, is_below=True))
        return self._function("entry_below", code)

    @property
    def kernels(self) -> dict[int, Run]:
        """What runs calls in a thread with the default sets; the next registration empties it."""
        return self._kernels.outside[DEFAULT]

    def inline(self, keys: int) -> tuple[Inline, dict[int, bool]] | None:
        """The lines of what runs calls with these keys now, and what the keys are in as long as
        that does; None if it has no lines, or nothing runs them, or something waits for it."""
        raw, version = tls.thread_local.raw, DISPATCHER.version
        if not raw.sets.is_default or raw.pipeline is not None:
            return None
        try:
            run = self.kernels.get(keys) or self._find(keys)
        except (NotImplementedError, RuntimeError):
            return None
        inline: Inline | None = getattr(run, "inline", None)
        if inline is None:
            return None
        held: dict[int, bool] = {}
        DISPATCHER.remember(self.operator.canonical, version, held, keys, True)
        return inline, held

    def below(self, keyset: int) -> Run:
        """What runs a call at the highest key of a keyset, while nobody observes."""
        found = self.kept_below.get(keyset)
        return found or self.operator.find_below(self.kept_below, keyset, self.operator.run_of)

    def found_below(self, keyset: int) -> Run:
        """The same for who keeps it, though no longer than its own kernel; looked up at each call
        while there is none, which is for the call to say."""
        try:
            return self.below(keyset)
        except (NotImplementedError, RuntimeError):
            return lambda *stack: self.below(keyset)(*stack)

    def found_route_below(self, keyset: int) -> Route | None:
        """The same as a route; None while there is no kernel."""
        try:
            return self._route_below(keyset)
        except (NotImplementedError, RuntimeError):
            return None

    @cached_property
    def python_arguments(self) -> PythonArguments:
        """What kernels written in Python are called with."""
        return PythonArguments(self.schema.schema, self.operator.undefined)

    @property
    def _schema(self) -> FunctionSchema:
        return self.schema.schema

    def _find(self, keys: int) -> Run:
        return self.operator.find_kernel(self._kernels, keys, self.operator.run_of)

    def _find_route(self, keys: int) -> Route | None:
        """None if the operator has got another schema since."""
        if self.operator.binder is not self.schema:
            return None
        return self.operator.find_kernel(self._routes, keys, self.operator.route_of)

    def _find_route_below(self, keyset: int) -> Route | None:
        return self._route_below(keyset) if self.operator.binder is self.schema else None

    def _route_below(self, keyset: int) -> Route:
        found, operator = self._routes_below, self.operator
        return found.get(keyset) or operator.find_below(found, keyset, operator.route_of)

    def _function(self, name: str, code: CodeType, **further: Any) -> Run:
        """The function that the code defines under this name."""
        scope: dict[str, Any] = {
            "__name__": self.operator.__module__,  # whose frames these stand for
            "observers": OBSERVERS,
            "thread": tls.thread_local,
            "Tensor": Tensor,
            "UNUSUAL": UNUSUAL,
            "PLAIN": PLAIN,
            "NOT_SO": _NOT_SO,
            "PybindTypeError": PybindTypeError,
            "is_plain_list": is_plain_list,
            "keys_of": self.operator.keys_of,
            "keys_of_list": keys_of_list,
            "kernels": self._kernels.outside,
            "waiting": self._kernels.in_pipeline,
            "find": self._find,
            "routes": self._routes.outside,
            "waiting_routes": self._routes.in_pipeline,
            "find_route": self._find_route,
            "routes_below": self._routes_below,
            "find_route_below": self._find_route_below,
            "long_way": self.operator.long_way,
            "takes_numbers": self.operator.takes_numbers,
            "named": self._named,
            "rest": self._rest,
            **further,
        }
        for position, argument in enumerate(self._schema.arguments):
            scope[f"none{position}"] = self._none.get(position)
            scope[f"convert{position}"] = self.schema.converters[position]
            scope[f"default{position}"] = _default(argument)
        exec(code, scope)
        found: Run = scope[name]
        return found

    @cached_property
    def _named(self) -> Callable[..., tuple[Any, ...]]:
        """Binds arguments and keywords as Python does: a value, perhaps none, for each argument."""
        arguments = self._schema.arguments
        prefix = free_prefix(arguments)
        names = parameter_names(arguments, prefix)
        parameters = [f"{name}={prefix}[{place}]" for place, name in enumerate(names)]
        by_position = sum(not each.kwarg_only for each in arguments)
        if by_position < len(parameters):
            parameters.insert(by_position, "*")
        text = f"lambda {', '.join(parameters)}: [{', '.join(names)}]"
        named: Run = eval(text, {prefix: list(map(_default, arguments))})
        return named

    @cached_property
    def _rest(self) -> dict[int, tuple[Any, ...]]:
        """What the other arguments are, by how many are given by position."""
        arguments, rest = self._schema.arguments, {}
        for given in range(sum(not each.kwarg_only for each in arguments), -1, -1):
            if all(each.has_default for each in arguments[given:]):
                rest[given] = tuple(map(_default, arguments[given:]))
        return rest


def _default(argument: Argument) -> Any:
    return argument.default_value if argument.has_default else _ABSENT


@lru_cache(maxsize=1000)
def _code(text: str) -> CodeType:
    """Compiled once for all operators that have the same."""
    return compile(text, "<string>", "exec")


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


MakeRoute = Callable[["Operator", int], Route | None]

_ROUTES: Final[dict[Any, MakeRoute]] = {}


def routes(kernel: Callable[..., Any]) -> Callable[[MakeRoute], MakeRoute]:
    """Have a function make the routes of calls that lead to ``kernel``."""

    def register(make: MakeRoute) -> MakeRoute:
        _ROUTES[kernel] = make
        return make

    return register


def route_for(operator: Operator, keyset: int, kernel: Callable[..., Any] | None) -> Route | None:
    make = _ROUTES.get(kernel)
    return None if make is None else make(operator, keyset)


def is_plain_list(value: Any) -> bool:
    """Whether it is a list of plain values, or a single one."""
    if type(value) in _LISTS:
        return all(type(each) in PLAIN for each in value)
    return type(value) in PLAIN


def keys_of_list(value: Any) -> int | None:
    """The keys of a list of tensors that are of the class Tensor itself; None if it is none."""
    if type(value) is not list and type(value) is not tuple:
        return None
    keys = 0
    for each in value:
        if type(each) is not Tensor:
            return None
        keys |= each._keys
    return keys
