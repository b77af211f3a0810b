"""Extracts what of ``torch.library`` and ``torch._library`` differs between releases.

Which functions there are and how they are declared, what their messages say (each provoked, with
the values that it shows taken out again), what they do where releases do differently, and the lines
that a registration from torch's own files is shown with.
"""

import ast
import inspect
import re
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, Union

import torch
from torch import _C as C
from torch import library
from torch._library import custom_ops, simple_registry
from torch.utils._python_dispatch import TorchDispatchMode

from conformance.extract import ExtractionError, takes
from conformance.extract._hints import (
    advised_list,
    hinted,
    inferred,
    list_types,
    names_in_hints,
    odd_default,
    plain,
    supported_types,
)
from conformance.extract._library_calls import (
    NAMESPACE,
    SCHEMA,
    custom_op,
    fake_impl_holder,
    py_impl,
    scoped,
)
from conformance.extract._library_habits import HABITS
from conformance.extract.python_methods import parameters

#: Classes whose methods are listed, by the name that the subject has for them.
CLASSES: dict[str, type] = {
    "Library": library.Library,
    "CustomOpDef": custom_ops.CustomOpDef,
    "OpOverload": torch._ops.OpOverload,
    "OpOverloadPacket": torch._ops.OpOverloadPacket,
}


def extract() -> dict[str, Any]:
    """The section ``library.json``."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {
            "declared": dict(declared()),
            "lines": {
                module.__name__: calls_by_line(module)
                for module in (library, custom_ops, inspect.getmodule(fake_impl_holder()))
                if module is not None
            },
            "registered_at": registered_at(),
            "messages": {name: provoked(*row) for name, row in MESSAGES.items()},
            "habits": {name: ask() for name, ask in HABITS.items()},
            "custom_op_tags": [tag.name for tag in custom_op().default.tags],
            "list_types": list_types(),
            "advised_list": advised_list(),
            "names_in_hints": names_in_hints(),
            "autocast_devices": [name for name in device_types() if has_autocast(name)],
            "autocast_op_devices": autocast_op_devices(),
            "autocast_py_kernels": autocast_py_kernels(),
            "pystubs": pystubs(),
            "pyobj_dispatch": pyobj_dispatch(),
            "number": str(torch.types.Number),
            "group_name": any("GroupName" in str(each) for each in supported_types()),
            "optional_tensor_lists": Union[list[torch.Tensor], None] in supported_types(),  # noqa: UP007
        }


# --- what there is ----------------------------------------------------------------------------


def declared() -> Iterator[tuple[str, str]]:
    """Function, or class and method, to its parameters without annotations."""
    for name, function in sorted(vars(library).items()):
        own = getattr(function, "__module__", "").startswith(("torch.library", "torch._library"))
        if isinstance(function, FunctionType) and own and not name.startswith("_"):
            yield name, parameters(inspect.unwrap(function))
    for owner, cls in CLASSES.items():
        for base in reversed(cls.__mro__[:-1]):
            for name, method in sorted(vars(base).items()):
                if isinstance(method, FunctionType) and not name.startswith("__"):
                    yield f"{owner}.{name}", parameters(inspect.unwrap(method))


def calls_by_line(module: ModuleType) -> dict[str, dict[str, int]]:
    """Function of a module to what it calls, each with the line of the last such call."""
    assert module.__file__ is not None
    found: dict[str, dict[str, int]] = {}
    for function in ast.walk(ast.parse(Path(module.__file__).read_text())):
        if isinstance(function, ast.FunctionDef):
            calls = {
                name: node.lineno
                for node in ast.walk(function)
                if isinstance(node, ast.Call) and (name := called(node)) in REGISTERING
            }
            if calls:
                found.setdefault(function.name, {}).update(calls)
    return found


#: What makes a library, or calls what does.
REGISTERING = ("Library", "register", "register_", "get_library_allowing_overwrite")


def called(node: ast.Call) -> str:
    """The last name of what is called."""
    function = node.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def registered_at() -> str:
    """How an operator says where it was registered, of a file and a line."""
    made = C._dispatch_library("FRAGMENT", NAMESPACE, "", "<file>", 7)
    made.define(f"f{SCHEMA}")
    dump = C._dispatch_dump(f"{NAMESPACE}::f")
    made.reset()
    found = re.search(r"debug: (.*):7\n", dump)
    if found is None:
        raise ExtractionError("an operator does not say where it was registered")
    return found[1].replace("<file>", "$file") + ":$line"


# --- messages ---------------------------------------------------------------------------------


def provoked(provoke: Callable[[], object], shown: dict[str, str] | None = None) -> list[str]:
    """What the exception has for arguments, the values that it shows replaced by ``$name``."""
    try:
        provoke()
    except Exception as error:
        arguments = [str(argument) for argument in error.args]
    else:
        raise ExtractionError("a call that torch used to refuse was taken; look at library.py")
    for name, value in (shown or {}).items():
        arguments = [argument.replace(value, f"${name}") for argument in arguments]
    return arguments


def destroyed_define() -> None:
    made = library.Library(NAMESPACE, "FRAGMENT")
    made._destroy()
    made.define(f"f{SCHEMA}")


def register_fake(made: library.Library) -> Any:
    """Register a fake implementation that overrides none; answers the handle of it."""
    holder: Any = simple_registry.singleton.find(f"{NAMESPACE}::f").abstract_impl
    taken = inspect.signature(holder.register).parameters
    options = {"lib": made, "allow_override": False}
    return holder.register(
        lambda x: x, "<source>", **{name: options[name] for name in options if name in taken}
    )


def fake_twice(made: library.Library) -> None:
    first = register_fake(made)
    try:
        register_fake(made)
    finally:
        first.destroy()


def fake_over(key: str) -> Callable[[library.Library], None]:
    def register(made: library.Library) -> None:
        made.impl("f", lambda x: x, key)
        register_fake(made)

    return register


def ctx_on_meta(made: library.Library) -> None:
    library.register_fake(f"{NAMESPACE}::f", lambda x: library.get_ctx(), lib=made)
    try:
        getattr(torch.ops, NAMESPACE).f(torch.empty(1, device="meta"))
    except RuntimeError as error:
        shown = re.sub(r"(?<=\()(implemented at )?[^()]*\.py:\d+(?=\))", r"\1<source>", str(error))
        raise RuntimeError(shown) from None


def aliasing() -> None:
    custom_op()
    try:
        getattr(torch.ops, NAMESPACE).g(torch.ones(1))
    except RuntimeError as error:
        shown = re.sub(r"<module .*?>", "<module>", str(error)).replace("op: g (", "op: <name> (")
        raise RuntimeError(re.sub(r"^g \(", "<name> (", shown)) from None


def mode_twice(made: library.Library) -> None:
    for _ in range(2):
        py_impl(TorchDispatchMode)(made)


def autocast_with_keywords(made: library.Library) -> None:
    made.define("h(Tensor x, *, int y=1) -> Tensor")
    library.register_autocast(f"{NAMESPACE}::h", "cpu", torch.float16, lib=made)
    overload = getattr(torch.ops, NAMESPACE).h.default
    overload.redispatch(C.DispatchKeySet("AutocastCPU"), torch.ones(1), y=2)


def custom_autocast_with_keywords() -> None:
    schema = "(Tensor x, *, int y=1) -> Tensor"
    made = library.custom_op(f"{NAMESPACE}::k", lambda x, y=1: x, mutates_args=(), schema=schema)
    made.register_autocast("cpu", torch.float16)(None, torch.ones(1), y=2)


def no_key() -> None:
    library.Library("_", "IMPL").fallback(lambda x: x)


def cached_dispatch(made: library.Library) -> None:
    overload = getattr(torch.ops, NAMESPACE).f.default
    for _ in range(2):
        overload._dispatch_cache[C.DispatchKey.CPU] = C.DispatchKey.CPU
        overload._get_dispatch(C.DispatchKey.CPU)


def no_meta_kernel(made: library.Library) -> None:
    getattr(torch.ops, NAMESPACE).f(torch.empty(1, device="meta"))


#: Functions of torch.library that take an operator, with arguments after that.
REGISTRATIONS: dict[str, tuple[Any, ...]] = {
    "register_kernel": ("cpu",),
    "register_fake": (),
    "register_autograd": (print,),
    "register_torch_dispatch": (object,),
    "register_vmap": (),
    "register_autocast": ("cpu", torch.float16),
}

#: Message to the call that provokes it, and the values that it shows.
MESSAGES: dict[str, tuple[Any, ...]] = {
    "unknown kind": (lambda: library.Library(NAMESPACE, "<kind>"), {"kind": "<kind>"}),
    "reserved namespace": (lambda: library.Library("prim", "DEF"), {"namespace": "prim"}),
    "destroyed": (destroyed_define,),
    "neither name nor overload": (
        scoped(lambda made: made.impl(1, lambda x: x)),
        {"api": "impl", "type": "<class 'int'>"},
    ),
    **(
        {
            "fallback of a namespace": (
                scoped(lambda made: made.fallback(lambda x: x, "CPU")),
                {"namespace": NAMESPACE},
            ),
            "fallback without a key": (no_key,),
        }
        if hasattr(library.Library, "fallback")
        else {}
    ),
    **{
        f"unexpected op of {name}": (
            partial(getattr(library, name), 1, *arguments),
            {"type": "<class 'int'>", "op": "1"},
        )
        for name, arguments in REGISTRATIONS.items()
        if hasattr(library, name)
    },
    **(
        {
            "autocast of another device": (
                lambda: library.register_autocast("aten::abs", "meta", torch.float16),
                {"device": "meta"},
            ),
            "autocast with keywords": (scoped(autocast_with_keywords),),
            "autocast of a custom op with keywords": (
                custom_autocast_with_keywords,
                {"names": "['y']"},
            ),
        }
        if hasattr(library, "register_autocast")
        else {}
    ),
    "fake twice": (
        scoped(fake_twice),
        {"qualname": f"{NAMESPACE}::f", "source": "<source>"},
    ),
    "fake over Meta": (scoped(fake_over("Meta")), {"qualname": f"{NAMESPACE}::f"}),
    "fake over composite": (
        scoped(fake_over("CompositeImplicitAutograd")),
        {"qualname": f"{NAMESPACE}::f"},
    ),
    "context of a meta kernel": (
        scoped(ctx_on_meta),
        {"qualname": f"{NAMESPACE}::f", "source": "<source>"},
    ),
    "no meta kernel": (scoped(no_meta_kernel), {"name": f"{NAMESPACE}::f"}),
    "aliases": (aliasing, {"name": "<name>", "module": "<module>"}),
    "unsupported default": (
        lambda: inferred(odd_default),
        {
            "parameter": "Parameter x",
            "type": "<class 'tuple'>",
            "signature": "(x: int = ()) -> None",
        },
    ),
    "unknown mutated argument": (
        lambda: inferred(plain, ("nosuch",)),
        {"names": "{'nosuch'}", "signature": "(x: torch.Tensor) -> None"},
    ),
    **(
        {
            "hint of no name": (
                hinted("nosuch"),
                {
                    "signature": "(x: 'nosuch') -> None",
                    "error": "name 'nosuch' is not defined",
                    "hint": "nosuch",
                },
            ),
            "hint of no value": (
                hinted("1 / 0"),
                {
                    "signature": "(x: '1 / 0') -> None",
                    "type": "ZeroDivisionError",
                    "error": "division by zero",
                    "hint": "1 / 0",
                },
            ),
        }
        if takes(hinted("int"))
        else {}
    ),
    "py_impl of no key": (scoped(py_impl("CPU")), {"type": "<class 'str'>"}),
    "py_impl of a mode twice": (scoped(mode_twice), {"mode": str(TorchDispatchMode)}),
    "py_impl of Python": (scoped(py_impl(C.DispatchKey.Python)),),
    "dispatch cached": (
        scoped(cached_dispatch),
        {"op": f"{NAMESPACE}.f.default", "key": "DispatchKey.CPU"},
    ),
}


# --- devices, and operators whose fake implementations stand in Python modules ----------------


def device_types() -> list[str]:
    """Every type of device, as the message about an unknown one lists them."""
    try:
        C._dispatch_key_for_device("nosuch")
    except RuntimeError as error:
        listed = str(error).removeprefix("Expected one of ").partition(" device type")[0]
        return listed.split(", ")
    raise ExtractionError("torch knows a type of device 'nosuch'")


def has_autocast(device_type: str) -> bool:
    try:
        return bool(C._is_autocast_available(device_type))
    except RuntimeError:
        return False


def autocast_op_devices() -> list[str]:
    """The types of devices that ``torch.library.register_autocast`` takes."""
    if not hasattr(library, "register_autocast"):
        return []
    return [
        name for name in device_types() if not isinstance(raised(name), (ValueError, RuntimeError))
    ]


def raised(device_type: str) -> Exception | None:
    with library._scoped_library(NAMESPACE, "FRAGMENT") as made:
        made.define(f"f{SCHEMA}")
        try:
            library.register_autocast(f"{NAMESPACE}::f", device_type, torch.float16, lib=made)
        except Exception as error:
            return error
    return None


def autocast_py_kernels() -> list[str]:
    """Where an operator has Python kernels after it has autocast for the CPU."""
    if not hasattr(library, "register_autocast"):
        return []
    with library._scoped_library(NAMESPACE, "FRAGMENT") as made:
        made.define(f"f{SCHEMA}")
        library.register_autocast(f"{NAMESPACE}::f", "cpu", torch.float16, lib=made)
        kernels = getattr(torch.ops, NAMESPACE).f.default.py_kernels
        return sorted(key.name for key in kernels if key.name.startswith("Autocast"))


def pyobj_dispatch() -> list[str]:
    """Operators of torch's own that are dispatched by their Python objects."""
    return sorted(
        overload.name()
        for packet in map(partial(getattr, torch.ops.prims), dir(torch.ops.prims))
        if isinstance(packet, torch._ops.OpOverloadPacket)
        for overload in map(partial(getattr, packet), packet.overloads())
        if getattr(overload, "_pyobj_dispatcher", None) is not None
    )


def pystubs() -> list[dict[str, Any]]:
    """Module and context that were said of operators, each with their names."""
    found: dict[tuple[str, str], list[str]] = {}
    for name in C._dispatch_get_all_op_names():
        operator, _, overload = name.partition(".")
        stub = C._dispatch_pystub(operator, overload)
        if stub is not None:
            found.setdefault(stub, []).append(name)
    return [
        {"module": module, "context": context, "operators": sorted(names)}
        for (module, context), names in sorted(found.items())
    ]
