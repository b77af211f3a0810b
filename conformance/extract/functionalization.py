"""Extracts what functionalization has in each release: its functions, and where it refuses.

Section ``functionalization.json.xz``.  torch's internal assertions name the C++ file and line they
stand in; the kernels of mutating operators are generated, so each of them has lines of its own.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from torch import _C as C
from torch.utils._python_dispatch import TorchDispatchMode

from conformance.extract.bindings import is_function

FUNCTORCH: Any = C._functorch
PLAIN = torch.ones(2, 2)
DOUBLE = PLAIN.double()
WORDS = (
    "functional",
    "_sync",
    "_freeze",
    "_mirror_autograd_meta_to",
)


def extract() -> dict[str, Any]:
    """The section."""
    return {
        "functions": {
            "torch": dict(functions(torch, *WORDS)),
            "torch._C": dict(functions(C, "_functionalization")),
            "torch._C._functorch": dict(functions(FUNCTORCH, "func", "level", "unwrapped")),
        },
        # Of what plain tensors are refused, by the function.
        "refusals": dict(refusals()),
        "asserts": {name: text for name, call in ASSERTS.items() if (text := refusal(call))},
        # Of a mutating operator, where it refuses to change a plain tensor by a functional one.
        "mutations": dict(mutations()),
        # Of a mutating operator, what is called in its stead: a composite one is seen in parts.
        "forms": dict(forms()),
        "out_dtype_is_default": out_dtype_is_default(),
        # Whether diagonal_scatter looks at the sizes of what it scatters on meta.
        "diagonal_is_checked_on_meta": refusal(diagonal_on_meta) is not None,
        # Whether one of several views is made anew without the others.
        "outputs_are_replayed_alone": "aten::select" in names_called(second_of_two_views),
    }


def functions(module: Any, *words: str) -> Iterator[tuple[str, str]]:
    """The functions that pybind11 has made of a module, with one of the words in their names."""
    for name in sorted(dir(module)):
        value = getattr(module, name)
        if is_function(value) and any(word in name for word in words):
            yield name, value.__doc__ or ""


def refusal(call: Callable[[], object]) -> str | None:
    """The message of a RuntimeError; None if there is none."""
    try:
        call()
    except RuntimeError as error:
        return str(error)
    return None


def wrapped() -> torch.Tensor:
    return torch._to_functional_tensor(PLAIN.clone())


def refusals() -> Iterator[tuple[str, str]]:
    names = {*dir(torch), *dir(FUNCTORCH)}
    for name in sorted(names):
        if not any(word in name for word in (*WORDS, "_unwrap_functional")):
            continue
        function = getattr(torch, name, None) or getattr(FUNCTORCH, name)
        if not callable(function) or name.startswith(("_to_", "_wrap_", "is_")):
            continue
        for args in ((PLAIN,), (PLAIN, PLAIN), (PLAIN, True)):
            try:
                message = refusal(partial(function, *args))
            except TypeError:
                continue
            if message is not None:
                yield name, message
            break


def twice_enabled() -> None:
    torch._enable_functionalization()
    try:
        torch._enable_functionalization()
    finally:
        torch._disable_functionalization()


ASSERTS: dict[str, Callable[[], object]] = {
    "wrapped twice": lambda: torch._to_functional_tensor(wrapped()),
    "enabled twice": twice_enabled,
    "replaced by functional": lambda: torch._functionalize_replace(wrapped(), wrapped()),
    "cast to functional": lambda: torch.func.functionalize(
        lambda x: torch._functionalize_replace(x, DOUBLE)
    )(PLAIN.clone()),
    "unwrapped is functional": lambda: FUNCTORCH._assert_wrapped_functional(wrapped(), wrapped()),
    "wrapped another": lambda: FUNCTORCH._assert_wrapped_functional(PLAIN, wrapped()),
    "input is functional": lambda: FUNCTORCH._propagate_functional_input_mutation(
        wrapped(), wrapped()
    ),
    "as_strided_scatter": lambda: torch.as_strided_scatter(
        torch.ones(2, 2, requires_grad=True).t(), torch.ones(1), (1,), (1,)
    ),
    "lift": lambda: torch.ops.aten.lift(wrapped()),
    # Of as many elements as there were before the tensor became shorter.
    "unsafe_view": lambda: torch.ops.aten._unsafe_view(wrapped().resize_(1), [-1]),
    "popped empty": FUNCTORCH._func_decrement_nesting,
    "no level": FUNCTORCH.current_level,
}
"""What is refused, and what provokes it."""


def mutations() -> Iterator[tuple[str, str]]:
    """Calls with plain tensors for what is changed, and functional ones for the rest."""
    for name, schema in functionalized():
        if not any("Tensor" in str(each.type) and not is_write(each) for each in schema.arguments):
            continue
        with passes_on_meta(schema, name):
            message = refusal(call_of(schema)) or ""
        where, found, _ = message.partition(", please report a bug to PyTorch. mutating")
        if found:
            yield name, where.partition("ASSERT FAILED at ")[2]


def forms() -> Iterator[tuple[str, str]]:
    """Calls with functional tensors alone, as far as the first operator below."""
    torch._functionalize_enable_reapply_views(True)
    for name, schema in functionalized():
        call = call_of(schema, wraps_all=True)
        try:
            with passes_on_meta(schema, name), Stopping():
                call()
        except Reached as reached:
            yield name, str(reached)
        except Exception:  # what suits its types need not suit the operator
            continue
    torch._functionalize_enable_reapply_views(False)


class Reached(Exception):  # noqa: N818 (no error)
    """An operator has been called, whose name it has."""


class Stopping(TorchDispatchMode):
    """Every operator raises :class:`Reached`."""

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        raise Reached(func.name())


def functionalized() -> Iterator[tuple[str, Any]]:
    """The mutating operators that have a kernel at Functionalize, and their schemas."""
    known = set(C._dispatch_get_all_op_names())
    for schema in C._jit_get_all_schemas():
        name = schema.name + (f".{schema.overload_name}" if schema.overload_name else "")
        is_known = schema.is_mutable and name in known and name.startswith("aten::")
        if is_known and C._dispatch_has_kernel_for_dispatch_key(name, "Functionalize"):
            yield name, schema


def is_write(argument: Any) -> bool:
    return argument.alias_info is not None and argument.alias_info.is_write


@contextmanager
def passes_on_meta(schema: Any, name: str) -> Iterator[None]:
    """Have the call on meta that precedes an in-place one accept whatever it is given."""
    library = C._dispatch_library("IMPL", "aten", "", __file__, 0)
    if not any(each.kwarg_only and is_write(each) for each in schema.arguments):
        changed = [place for place, each in enumerate(schema.arguments) if is_write(each)]
        library.impl(name.removeprefix("aten::"), "Meta", returns(changed, len(schema.returns)))
    try:
        yield
    finally:
        library.reset()


def returns(changed: Sequence[int], count: int) -> Callable[..., Any]:
    """A kernel that returns the first arguments that it should have changed."""

    def kernel(*args: Any, **named: Any) -> Any:
        if count == 1:
            return args[changed[0]]
        return tuple(args[place] for place in changed[:count]) or None

    return kernel


def call_of(schema: Any, *, wraps_all: bool = False) -> Callable[[], object]:
    """A call of an operator's kernel at Functionalize; what is changed may be functional too."""
    keyset = C.DispatchKeySet(C.DispatchKey.Functionalize)
    packet = getattr(torch.ops.aten, schema.name.removeprefix("aten::"))
    operator = getattr(packet, schema.overload_name or "default")
    values = [(each, argument_of(each, wraps_all=wraps_all)) for each in schema.arguments]
    args = [value for each, value in values if not each.kwarg_only]
    named = {each.name: value for each, value in values if each.kwarg_only}
    return partial(operator.redispatch, keyset, *args, **named)


VALUES: Mapping[str, Any] = {
    "int": 0,
    "SymInt": 0,
    "float": 0.5,
    "number": 1,
    "bool": False,
    "str": "sum",
    "Device": torch.device("cpu"),
    "Storage": torch.ones(1).untyped_storage(),
    "List[int]": [1, 1],
    "List[SymInt]": [1, 1],
    "List[float]": [0.5, 0.5],
    "List[number]": [1],
}
"""What an argument without a default is given, by its type."""


def argument_of(argument: Any, *, wraps_all: bool) -> Any:
    """A value of an argument's type: a plain tensor for what is changed, else a functional one."""
    kind = str(argument.type)
    if "Tensor" in kind:
        value = PLAIN.clone() if is_write(argument) and not wraps_all else wrapped()
        return [value] if "List" in kind else value
    if argument.has_default_value():
        return argument.default_value
    if kind == "List[bool]":
        return [True] * (argument.N or 1)
    return VALUES.get(kind)


def diagonal_on_meta() -> None:
    meta = torch.ones(2, 3, device="meta")
    torch.diagonal_scatter(meta, meta[0])


def second_of_two_views() -> None:
    """Have a view made anew of a base that has changed."""
    base = wrapped()
    view = base.unbind()[1]
    base.add_(1)
    torch._sync(view)


def names_called(call: Callable[[], object]) -> list[str]:
    """The operators that a call comes to below functionalization, which has to be on."""
    found = []

    class Watching(TorchDispatchMode):
        def __torch_dispatch__(
            self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
        ) -> Any:
            found.append(func.name().partition(".")[0])
            return func(*args, **(kwargs or {}))

    torch._enable_functionalization(reapply_views=True)
    try:
        with Watching():
            call()
    finally:
        torch._disable_functionalization()
    return found


def out_dtype_is_default() -> list[str]:
    """``out=`` operators whose functional form is given the dtype of ``out`` if none is."""
    found = []
    for name in ("cumsum", "cumprod"):
        out = torch._to_functional_tensor(torch.ones(2, dtype=torch.int32))
        getattr(torch, name)(torch._to_functional_tensor(torch.ones(2)), 0, out=out)
        if torch._from_functional_tensor(out).dtype == torch.int32 and is_cast_first(name):
            found.append(f"aten::{name}.out")
    return found


def is_cast_first(name: str) -> bool:
    """Whether 0.5 is truncated before it is summed or multiplied."""
    out = torch._to_functional_tensor(torch.zeros(2, dtype=torch.int32))
    halves = torch._to_functional_tensor(torch.full((2,), 1.5))
    getattr(torch, name)(halves, 0, out=out)
    last: int = torch._from_functional_tensor(out).tolist()[1]
    return last == (2 if name == "cumsum" else 1)
