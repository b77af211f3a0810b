"""The dispatcher as torch binds it: libraries, dumps, questions; ``_C`` shows what EXPORTS has.

Mirrors ``initDispatchBindings`` in ``torch/csrc/utils/python_dispatch.cpp``.  The logic is in
:mod:`mindtorch_v2.dispatch`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NoReturn

from mindtorch_v2 import profile
from mindtorch_v2._operator_bindings import Tag
from mindtorch_v2._schema_bindings import Bound
from mindtorch_v2.binding.inplace_or_view import inplace_or_view_kernel
from mindtorch_v2.dispatch.dispatcher import DISPATCHER
from mindtorch_v2.dispatch.kernel import Kernel, fallthrough
from mindtorch_v2.dispatch.key import (
    DispatchKey,
    is_alias_dispatch_key,
    key_name,
    parse_dispatch_key,
)
from mindtorch_v2.dispatch.keyset import table_key
from mindtorch_v2.dispatch.library import (
    LEGACY,
    SHOWS_FILE,
    Library,
    identity_kernel,
    parse_alias_analysis,
    python_kernel,
)
from mindtorch_v2.dispatch.operator_entry import OperatorEntry
from mindtorch_v2.dispatch.python_modules import python_module
from mindtorch_v2.messages import std_string
from mindtorch_v2.pybind import cast as _cast
from mindtorch_v2.pybind.classes import bind_methods
from mindtorch_v2.pybind.module import bound_functions
from mindtorch_v2.schema.function_schema import FunctionSchema
from mindtorch_v2.schema.parser import parse_known_schema, parse_name, parse_schema

_functions: Final = profile.active().bindings["functions"]
_classes: Final = profile.active().bindings["classes"]

EXPORTS: Final[dict[str, Any]] = {}
"""Names of torch._C to what stands there."""


def _define(functions: Mapping[str, Callable[..., Any]], **loaders: _cast.Loader) -> None:
    EXPORTS.update(bound_functions(_functions, functions, loaders, cast=lambda value: value))


# --- libraries --------------------------------------------------------------------------------


class _DispatchModule(Bound, cpp_name="torch._C._DispatchModule"):
    """``torch::Library``: what it registered goes when it does."""

    __slots__ = ()
    __module__ = "mindtorch_v2._C"
    __doc__ = None

    def __del__(self) -> None:
        if hasattr(self, "_cpp"):
            self._cpp.reset()


def _key(name: str | None) -> int | None:
    """The key of a name; None for an empty one, RuntimeError for a null pointer."""
    text = std_string(name)
    return parse_dispatch_key(text) if text else None


def _python_kernel(function: Any, with_keyset: bool, *, with_op: bool = False) -> Kernel:
    from mindtorch_v2.library import fallthrough_kernel  # looked up when it is needed, as in C++

    if function is fallthrough_kernel:
        return fallthrough("")
    return python_kernel(function, with_keyset=with_keyset, with_op=with_op)


def _compile(*args: Any, **kwargs: Any) -> NoReturn:
    """Stands for a kernel that torch compiles when it is first called."""
    raise NotImplementedError("mindtorch_v2 compiles no kernels")


def _chained(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method that answers the object it was called on."""

    def call(self: _DispatchModule, *args: Any) -> _DispatchModule:
        method(self._cpp, *args)
        return self

    return call


_python_registrations: Final[dict[tuple[str, int], Any]] = {}
"""The kernel that Python has last registered for an operator and key, even if it was taken back:
torch keeps it, and what it refers to, for ever (``python_registrations_``)."""


def _annotated(schema: str | None, alias_analysis: str | None) -> tuple[FunctionSchema, str]:
    """``torch::schema``: the schema of a text, and how its aliases are known, which is read first,
    as compiled C++ evaluates."""
    kind = parse_alias_analysis(std_string(alias_analysis))
    return parse_known_schema(std_string(schema), allow_typevars=False), kind


def _t_t(dispatch: str | None, debug: str | None, method: str) -> tuple[Kernel, int | None]:
    """A kernel written in C++ and its key, which C++ evaluates before what they are for."""
    key = _key(dispatch)
    return identity_kernel(std_string(debug), method), key


def _def_name_t_t(
    library: Library, name: str | None, dispatch: str | None, debug: str | None
) -> None:
    kernel, key = _t_t(dispatch, debug, "def_name_t_t")
    library.define_by_name(std_string(name), kernel, key)


def _def_schema_t_t(
    library: Library,
    schema: str | None,
    dispatch: str | None,
    alias_analysis: str | None,
    debug: str | None,
) -> None:
    kernel, key = _t_t(dispatch, debug, "def_schema_t_t")
    library.define_with_kernel(*_annotated(schema, alias_analysis), kernel, key)


def _impl_t_t(library: Library, name: str | None, dispatch: str | None, debug: str | None) -> None:
    kernel, key = _t_t(dispatch, debug, "impl_t_t")
    library.impl(std_string(name), kernel, key)


def _impl(
    self: _DispatchModule, name: str | None, key: int, function: Any, with_keyset: bool
) -> None:
    kernel = _python_kernel(function, with_keyset)
    self._cpp.impl(std_string(name), kernel, key)
    if kernel.function is not None:
        _python_registrations[self._cpp.resolve(name), key] = function


def _define_operator(
    self: _DispatchModule, schema: str | None, alias_analysis: str | None, tags: Any
) -> str:
    parsed, kind = _annotated(schema, alias_analysis)
    self._cpp.define_schema(parsed, kind, tuple(tag.name for tag in tags))
    return parsed.name


def _load_tags(value: Any) -> tuple[Any, ...]:
    """``std::vector<at::Tag>``."""
    if not isinstance(value, (list, tuple)) or not all(isinstance(tag, Tag) for tag in value):
        raise _cast.NoMatch
    return tuple(value)


_METHODS: Final = _classes["_DispatchModule"]["methods"]
_C_STRINGS: Final = dict.fromkeys(
    ("name", "schema", "alias", "alias_analysis", "debug", "ns", "op_name_with_overload"),
    _cast.load_c_string,
)

bind_methods(  # those whose key is text
    _DispatchModule,
    _METHODS,
    {
        "def_name_t_t": _chained(_def_name_t_t),
        "def_schema_t_t": _chained(_def_schema_t_t),
        "impl_t_t": _chained(_impl_t_t),
        "fallback_fallthrough": _chained(
            lambda library, dispatch: library.fallback(fallthrough(""), _key(dispatch))
        ),
    },
    slot="_cpp",
    loaders={**_C_STRINGS, "dispatch": _cast.load_c_string},
)
bind_methods(
    _DispatchModule,
    _METHODS,
    {
        "reset": lambda self: self._cpp.reset(),
        "def_": _chained(
            lambda library, schema, alias: library.define_schema(*_annotated(schema, alias))
        ),
        "def_legacy": _chained(
            lambda library, schema: library.define_schema(parse_schema(std_string(schema)), LEGACY)
        ),
        "impl": _impl,
        "define": _define_operator,
        "fallback": lambda self, key, function, with_keyset: self._cpp.fallback(
            _python_kernel(function, with_keyset, with_op=True), key
        ),
        "register_ad_inplace_or_view_fallback": lambda self, name: self._cpp.impl(
            std_string(name), inplace_or_view_kernel(), int(DispatchKey.ADInplaceOrView)
        ),
        "impl_with_aoti_compile": lambda self, ns, name, key: self._cpp.impl(
            f"{std_string(ns)}::{std_string(name)}", python_kernel(_compile), key
        ),
    },
    slot="_cpp",
    loaders={**_C_STRINGS, "tags": _load_tags},
)
EXPORTS["_DispatchModule"] = _DispatchModule


def _library(
    kind: str | None, name: str, dispatch: str | None, file: str | None, line: int
) -> _DispatchModule:
    shown = std_string(file) if SHOWS_FILE else ""
    key = _key(dispatch)
    block = Library(std_string(kind), name, key, file=shown, line=line)
    module: _DispatchModule = _DispatchModule.wrap(block)
    return module


_define(
    {"_dispatch_library": _library},
    kind=_cast.load_c_string,
    dispatch=_cast.load_c_string,
    file=_cast.load_c_string,
    linenum=_cast.unsigned_loader(32),
)


# --- operators by name ------------------------------------------------------------------------


def _found(name: str) -> OperatorEntry | None:
    parsed, overload_name = parse_name(name)
    return DISPATCHER.find(f"{parsed}.{overload_name}" if overload_name else parsed)


def _existing(name: str) -> OperatorEntry:
    entry = _found(name)
    if entry is None:
        raise RuntimeError(f"operator {name} does not exist")
    return entry


def _dump(name: str) -> str:
    entry = _found(name)
    return "" if entry is None else entry.dump_state()


def _dump_table(name: str) -> str:
    entry = _found(name)
    return "" if entry is None else entry.dump_computed_table()


def _check_invariants(name: str) -> None:
    entry = _found(name)
    if entry is not None:
        entry.check_invariants()


def _check_all_invariants() -> None:
    for entry in DISPATCHER.entries():
        entry.check_invariants()


def _has_computed_kernel(name: str | None, dispatch: str | None) -> bool:
    entry = _existing(std_string(name))
    key = parse_dispatch_key(std_string(dispatch))
    if is_alias_dispatch_key(key):
        raise RuntimeError("Alias keys do not have runtime kernel registrations.")
    return table_key(key) in entry.table


def _is_fallthrough(name: str, key: int) -> bool:
    kernel = _existing(name).kernel_at(key)
    if kernel is None:
        raise RuntimeError(f"no kernel for {key_name(key)} on {name}")
    return kernel.is_fallthrough


def _named(function: Callable[..., Any]) -> Callable[..., Any]:
    """Of an operator's name C++ makes a std::string: RuntimeError for a null pointer."""

    def call(name: str | None, *args: Any) -> Any:
        return function(std_string(name), *args)

    return call


_define(
    {
        "_dispatch_dump": _named(_dump),
        "_dispatch_dump_table": _named(_dump_table),
        "_dispatch_check_invariants": _named(_check_invariants),
        "_dispatch_has_kernel": _named(lambda name: _found(name) is not None),
        "_dispatch_has_kernel_for_dispatch_key": _named(
            lambda name, key: key in _existing(name).kernels
        ),
        "_dispatch_has_kernel_for_any_dispatch_key": _named(
            lambda name, keyset: _existing(name).has_kernel_for_any(keyset)
        ),
        "_dispatch_kernel_for_dispatch_key_is_fallthrough": _named(_is_fallthrough),
        "_dispatch_get_registrations_for_dispatch_key": _named(
            lambda name: DISPATCHER.names_with_kernel(_key(name))
        ),
        "_dispatch_print_registrations_for_dispatch_key": _named(
            lambda name: print(*DISPATCHER.names_with_kernel(_key(name)), sep="\n")
        ),
    },
    arg0=_cast.load_c_string,
    dispatch_key=_cast.load_c_string,
)
_define(
    {"_dispatch_has_computed_kernel_for_dispatch_key": _has_computed_kernel},
    arg0=_cast.load_c_string,
    arg1=_cast.load_c_string,
)
_define(
    {
        "_dispatch_check_all_invariants": _check_all_invariants,
        "_dispatch_find_dangling_impls": lambda: [
            entry.dump_state() for entry in DISPATCHER.dangling()
        ],
        "_dispatch_get_all_op_names": DISPATCHER.names,
        "_dispatch_pystub": lambda name, overload_name: python_module(
            f"{name}.{overload_name}" if overload_name else name
        ),
        "_dispatch_clear_leaked_python_filenames": lambda: None,  # there are no leaked ones
        "_dispatch_is_main_interpreter": lambda: True,  # there is one
        "_dispatch_has_backend_fallback": lambda key: DISPATCHER.fallback(table_key(key))
        is not None,
    },
)
