"""``torch.library``: operators, kernels and formulas registered from Python.

Mirrors ``torch/library.py``.  A name that the release lacks is not defined here.
"""

from __future__ import annotations

import inspect
import re
import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import singledispatch
from itertools import islice
from types import FrameType, FunctionType, ModuleType
from typing import Any, Final, NoReturn

from mindtorch_v2 import _C
from mindtorch_v2._library import autograd, named, simple_registry, utils
from mindtorch_v2._library.autocast import (
    autocast_kernel,
    autocast_key,
    check_autocast_available,
    set_py_kernels,
)
from mindtorch_v2._library.custom_ops import CustomOpDef, DeviceTypes, _maybe_get_opdef
from mindtorch_v2._library.custom_ops import custom_op as custom_op
from mindtorch_v2._library.fake_impl import global_ctx_getter
from mindtorch_v2._library.infer_schema import infer_schema as infer_schema
from mindtorch_v2._library.pystub import checked_once
from mindtorch_v2._library.release import (
    as_released,
    does,
    frames,
    has,
    line_of,
    message,
    released_class,
    shows_file,
    taken,
)
from mindtorch_v2._library.tagged_schemas import check_inplace_schema, check_out_schema
from mindtorch_v2._library.triton import triton_op as triton_op
from mindtorch_v2._library.triton import wrap_triton as wrap_triton
from mindtorch_v2._library.vmap import vmap_kernel
from mindtorch_v2._operator_bindings import Tag
from mindtorch_v2._ops import OpOverload, _refresh_packet, ops
from mindtorch_v2.dispatch.python_modules import is_in_python

_Kernel = Callable[..., Any]
_Op = str | OpOverload | CustomOpDef

_impls: Final[set[str]] = set()
"""What has a kernel from Python, ``ns/op/key``."""
_defs: Final[set[str]] = set()
"""Full names of operators that are defined in Python."""
_keep_alive: Final[list[Library]] = []
"""Libraries of registrations that were made without one."""

_RESERVED_NAMESPACES: Final = ("prim",)
_NAMELESS_SCHEMA: Final = re.compile(r"\(.*\) -> .*")


def fallthrough_kernel() -> NoReturn:
    """Registered in place of a kernel, it has dispatch pass over the key."""
    raise NotImplementedError("fallthrough_kernel() should never be called.")


@released_class
class Library:
    """A block of registrations for a namespace: they last until it is destroyed or lost.

    ``kind`` is "DEF" (the one block of a new namespace), "FRAGMENT" (one more of any namespace) or
    "IMPL" (kernels only); ``dispatch_key`` is that of kernels that are registered without one.
    """

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in ("IMPL", "DEF", "FRAGMENT"):
            raise ValueError(*message("unknown kind", kind=kind))
        if ns in _RESERVED_NAMESPACES and kind != "IMPL":
            raise ValueError(*message("reserved namespace", namespace=ns))
        self.m: Any = _C._dispatch_library(kind, ns, dispatch_key, *_made_at())
        self.ns = ns
        self._op_defs: set[str] = set()
        self._op_impls: set[str] = set()
        self._registration_handles: list[utils.RegistrationHandle] = []
        self.kind = kind
        self.dispatch_key = dispatch_key
        own = (self._op_impls, self._op_defs, self._registration_handles)
        keeps_cpp = does("a library that is lost takes its packets along")
        weakref.finalize(self, _del_library, _impls, _defs, *own, self.m if keeps_cpp else None)

    def __repr__(self) -> str:
        return f"Library(kind={self.kind}, ns={self.ns}, dispatch_key={self.dispatch_key})>"

    def define(self, schema: str, alias_analysis: str = "", *, tags: Any = ()) -> str:
        """Define the operator of a schema; answers its full name without the overload's.

        RuntimeError for an unknown alias analysis and for what the dispatcher refuses, ValueError
        for a schema that does not suit its tags.
        """
        if alias_analysis not in ["", "FROM_SCHEMA", "CONSERVATIVE"]:
            raise RuntimeError(f"Invalid alias_analysis type {alias_analysis}")
        m = _not_destroyed(self)
        listed = (tags,) if isinstance(tags, Tag) else tags
        name = schema.split("(")[0]
        packet_name = name.split(".")[0]
        namespace = getattr(ops, self.ns)
        has_packet = hasattr(namespace, packet_name)
        check_out_schema(schema, listed)
        check_inplace_schema(schema, listed)
        result: str = m.define(schema, alias_analysis, tuple(listed))
        if has_packet:  # it has one overload more
            _refresh_packet(getattr(namespace, packet_name))
        qualname = f"{self.ns}::{name}"
        self._op_defs.add(qualname)
        _defs.add(qualname)
        return result

    def _register_fake(
        self, op_name: str, fn: _Kernel, _stacklevel: int = 1, *, allow_override: bool = False
    ) -> None:
        """Register what an operator does with tensors that have no data."""
        source = utils.get_source(_stacklevel + 1)
        frame, _ = next(islice(frames(), _stacklevel, None))
        module = _module_of(frame)
        module_name = None if module is None else module.__name__
        if module_name is not None and module_name.startswith("torchvision."):
            module_name = None
        qualname = f"{self.ns}::{op_name}"
        entry = simple_registry.singleton.find(qualname)
        function = fn if module_name is None else checked_once(fn, qualname, module_name)
        handle = entry.fake_impl.register(function, source, self, allow_override=allow_override)
        self._registration_handles.append(handle)

    def _register_torch_dispatch_rule(
        self, op_name: str, torch_dispatch_class: type, fn: _Kernel
    ) -> None:
        """Register what an operator does for a class with ``__torch_dispatch__``."""
        entry = simple_registry.singleton.find(f"{self.ns}::{op_name}")
        handle = entry.torch_dispatch_rules.register(torch_dispatch_class, fn)
        self._registration_handles.append(handle)

    def _impl_with_aoti_compile(self, op_name: _Op, dispatch_key: str = "") -> None:
        """Register a kernel that is compiled when it is first called."""
        dispatch_key = dispatch_key if dispatch_key != "" else self.dispatch_key
        keyset: Any = _C.DispatchKeySet(dispatch_key)  # type: ignore[call-arg]
        if not keyset.has(_C.DispatchKey.Dense):
            raise AssertionError(f"dispatch_key {dispatch_key} does not have Dense in its keyset")
        name = named.resolve_op_name(op_name, "_impl_with_aoti_compile").split("::")[-1]
        impl_key = self.ns + "/" + name + "/" + dispatch_key
        _check_no_impl(impl_key)
        _not_destroyed(self).impl_with_aoti_compile(self.ns, name, dispatch_key)
        _note_impl(self, impl_key)

    def impl(
        self,
        op_name: str | OpOverload,
        fn: _Kernel,
        dispatch_key: str = "",
        *,
        with_keyset: bool = False,
        allow_override: bool = False,
    ) -> None:
        """Give an operator a kernel at a key, the library's or CompositeImplicitAutograd without.

        ``fn`` may be :func:`fallthrough_kernel`; ``with_keyset`` has it called with the keyset
        before its arguments.  RuntimeError, unless it may override, where Python has registered a
        kernel; and for a kernel at Meta of an operator that is composed of others.
        """
        if not callable(fn):
            raise TypeError(
                f"Input function is required to be a callable but found type {type(fn)}"
            )
        dispatch_key = dispatch_key if dispatch_key != "" else self.dispatch_key
        name = named.resolve_op_name(op_name, "impl")
        impl_key = self.ns + "/" + name.split("::")[-1] + "/" + dispatch_key
        if not allow_override:
            _check_no_impl(impl_key)
        if dispatch_key == "Meta":
            named.check_not_composed(name if "::" in name else f"{self.ns}::{name}", name)
        key = dispatch_key if dispatch_key != "" else "CompositeImplicitAutograd"
        _not_destroyed(self).impl(name, key, fn, with_keyset)
        _note_impl(self, impl_key)

    def fallback(self, fn: _Kernel, dispatch_key: str = "", *, with_keyset: bool = False) -> None:
        """Register what runs at a key for every operator that has nothing there.

        Only a library of the namespace ``_`` can: RuntimeError else.
        """
        dispatch_key = dispatch_key if dispatch_key != "" else self.dispatch_key
        if self.ns != "_":
            raise RuntimeError(*message("fallback of a namespace", namespace=self.ns))
        if dispatch_key == "":
            raise AssertionError(*message("fallback without a key"))
        _not_destroyed(self).fallback(dispatch_key, fn, with_keyset)

    def _destroy(self) -> None:
        """Take back every registration."""
        if self.m is not None:
            self.m.reset()
        self.m = None
        for handle in self._registration_handles:
            handle.destroy()
        self._registration_handles.clear()
        _impls.difference_update(self._op_impls)
        named.forget_packets(self._op_defs)


def _made_at() -> tuple[str, int]:
    """File and line of what made a library: its caller, or in older releases the caller of that.

    Those do not show the file, and see one frame further.
    """
    _, caller, *further = islice(frames(), 1, 4)
    frame, called = caller if shows_file() or not further else further[0]
    return frame.f_code.co_filename, line_of(frame, called)


def _module_of(frame: FrameType) -> ModuleType | None:
    """``inspect.getmodule``, which for code of no file goes through the files of all modules."""
    is_of_no_file = re.fullmatch("<.*>", frame.f_code.co_filename)
    return None if is_of_no_file else inspect.getmodule(frame)


def _not_destroyed(library: Library) -> Any:
    """What the library is in C++."""
    if library.m is None:
        raise AssertionError(*message("destroyed"))
    return library.m


def _check_no_impl(impl_key: str) -> None:
    """RuntimeError if Python has registered that kernel; see :data:`_impls`."""
    namespace, _, name = impl_key.partition("/")
    name, _, key = name.rpartition("/")
    if impl_key in _impls or is_in_python(f"{namespace}::{name}", key):
        raise RuntimeError(
            "This is not allowed since there's already a kernel registered from python overriding "
            f"{name}'s behavior for {key} dispatch key and {namespace} namespace."
        )


def _note_impl(library: Library, key: str) -> None:
    _impls.add(key)
    library._op_impls.add(key)


def _del_library(
    impls: set[str],
    defs: set[str],
    op_impls: set[str],
    op_defs: set[str],
    handles: list[utils.RegistrationHandle],
    m: Any,
) -> None:
    """When a library is lost; ``m`` is None where C++ forgets what it registered by itself."""
    impls -= op_impls
    defs -= op_defs
    for handle in handles:
        handle.destroy()
    if does("a library that is lost takes its packets along"):
        if m is not None:
            m.reset()
        named.forget_packets(op_defs)


@contextmanager
def _scoped_library(*args: Any, **kwargs: Any) -> Iterator[Library]:
    """A library that is destroyed at the end of the block."""
    try:
        lib = Library(*args, **kwargs)
        yield lib
    finally:
        lib._destroy()


# --- definitions and kernels ------------------------------------------------------------------


@singledispatch
def define(qualname: Any, schema: str, *, lib: Library | None = None, tags: Any = ()) -> None:
    """Define ``ns::name`` with a schema such as ``(Tensor x) -> Tensor``; ValueError for others."""
    if not isinstance(qualname, str):
        raise ValueError(
            "define(qualname, schema): expected qualname to be instance of str, "
            f"got {type(qualname)}"
        )
    namespace, name = utils.parse_namespace(qualname)
    if lib is None:
        lib = Library(namespace, "FRAGMENT")
        _keep_alive.append(lib)
    if not _NAMELESS_SCHEMA.fullmatch(schema):
        raise ValueError(
            "define(qualname, schema, ...): expected schema to look like e.g. "
            f'"(Tensor x) -> Tensor" but got "{schema}"'
        )
    lib.define(name + schema, alias_analysis="", tags=tags)


@define.register  # type: ignore[arg-type]
def _(lib: Library, schema: str, alias_analysis: str = "") -> Callable[[_Kernel], _Kernel]:
    """The older way: decorates the kernel of a new operator of ``lib``."""

    def wrap(f: _Kernel) -> _Kernel:
        name = lib.define(schema, alias_analysis)
        lib.impl(name, f)
        return f

    return wrap


@singledispatch
def impl(
    qualname: Any,
    types: str | Sequence[str],
    func: _Kernel | None = None,
    *,
    lib: Library | None = None,
) -> Any:
    """Give an operator a kernel for types of devices ("default" for all) or at keys."""
    keys = set(map(_key_of, (types,) if isinstance(types, str) else types))

    def register(func: _Kernel) -> None:
        namespace, _ = utils.parse_namespace(qualname)
        if lib is None:
            use_lib = Library(namespace, "FRAGMENT")
            _keep_alive.append(use_lib)
        else:
            use_lib = lib
        for key in keys:
            use_lib.impl(qualname, func, key)

    if func is None:
        return register
    register(func)
    return None


@impl.register
def _(lib: Library, name: str, dispatch_key: str = "") -> Callable[[_Kernel], _Kernel]:
    """The older way: decorates the kernel of an operator of ``lib``."""

    def wrap(f: _Kernel) -> _Kernel:
        lib.impl(name, f, dispatch_key)
        return f

    return wrap


def _key_of(device_type: str) -> str:
    """The key of a type of device; a key's name is that."""
    if _C._parse_dispatch_key(device_type):
        return device_type
    if device_type == "default":
        return "CompositeExplicitAutograd"
    key: str = _C._dispatch_key_for_device(device_type)
    return key


# --- what a custom operator has, too ----------------------------------------------------------


def _resolve_op(op: Any, registration: str) -> str | CustomOpDef:
    """The name of an operator, or its custom operator; ValueError for what is neither."""
    if not isinstance(op, (str, OpOverload, CustomOpDef)):
        raise ValueError(*message(f"unexpected op of {registration}", op=op, type=type(op)))
    name = op._name if isinstance(op, OpOverload) else op
    return _maybe_get_opdef(name) or name


def _library_for_registration(namespace: str, lib: Library | None) -> Library:
    """``lib``, or a new library that lasts."""
    if lib is None:
        lib = Library(namespace, "FRAGMENT")
        _keep_alive.append(lib)
    return lib


def register_kernel(
    op: _Op,
    device_types: DeviceTypes,
    func: _Kernel | None = None,
    /,
    *,
    lib: Library | None = None,
) -> Any:
    """Give an operator a kernel for types of devices, or for all of them if None."""
    found = _resolve_op(op, "register_kernel")
    if isinstance(found, CustomOpDef):
        return found.register_kernel(device_types, func)
    if device_types is None:
        device_types = "CompositeExplicitAutograd"
    if func is not None and does("register_kernel wraps what it registers"):
        func = _wrapped(func)
    return impl(found, device_types, func, lib=lib)


def _wrapped(func: _Kernel) -> _Kernel:
    """A kernel that calls ``func``, whatever that is."""
    return lambda *args, **kwargs: func(*args, **kwargs)


def register_fake(
    op: _Op,
    func: _Kernel | None = None,
    /,
    *,
    lib: Library | None = None,
    _stacklevel: int = 1,
    allow_override: bool = False,
) -> Any:
    """Register what an operator does with tensors that have no data; a decorator without ``func``.

    RuntimeError, unless it may override, if there is such a kernel.
    """
    found = _resolve_op(op, "register_fake")
    if isinstance(found, CustomOpDef):
        return found.register_fake if func is None else found.register_fake(func)
    stacklevel = _stacklevel
    options = taken("Library._register_fake", allow_override=allow_override)

    def register(func: _Kernel) -> _Kernel:
        namespace, op_name = utils.parse_namespace(found)
        if lib is None:
            use_lib = Library(namespace, "FRAGMENT")
            _keep_alive.append(use_lib)
        else:
            use_lib = lib
        use_lib._register_fake(op_name, func, _stacklevel=stacklevel + 1, **options)
        return func

    if func is None:
        return register
    stacklevel += 1
    return register(func)


def impl_abstract(
    qualname: str,
    func: _Kernel | None = None,
    *,
    lib: Library | None = None,
    _stacklevel: int = 1,
) -> Any:
    """The former name of :func:`register_fake`; it warns."""
    warnings.warn(
        "`torch.library.impl_abstract` was renamed to `torch.library.register_fake`. Please use "
        "that instead; we will remove `torch.library.impl_abstract` in a future version of "
        "PyTorch.",
        FutureWarning,
        stacklevel=2,
    )
    if func is not None:
        _stacklevel = _stacklevel + 1
    return register_fake(qualname, func, lib=lib, _stacklevel=_stacklevel)


def register_autograd(
    op: _Op,
    backward: _Kernel,
    /,
    *,
    setup_context: _Kernel | None = None,
    lib: Library | None = None,
) -> None:
    """Register an operator's backward formula, a kernel at Autograd.

    RuntimeError unless it mutates nothing and returns something new; NotImplementedError for
    tensors that are keywords only.
    """
    qualname = _resolve_op(op, "register_autograd")
    if isinstance(qualname, CustomOpDef):
        qualname.register_autograd(backward, setup_context=setup_context)
        return
    found = utils.lookup_op(qualname)
    schema = found._schema
    if utils.is_out(found):
        raise RuntimeError(
            "Cannot register autograd formula for operator tagged with torch.Tag.out: "
            f"{found}. Out variants do not support autograd."
        )
    if not utils.is_functional_schema(schema):
        raise RuntimeError(
            f"Cannot register autograd formula for non-functional operator {found} with schema "
            f"{schema}. Please create a functional operator and register an autograd formula for "
            "that."
        )
    _refuse_kwarg_only_tensors("register_autograd", schema)
    kernel = autograd.make_autograd_impl(found, autograd.Info(backward, setup_context))
    namespace, opname = utils.parse_namespace(qualname)
    if lib is None:
        lib = Library(namespace, "FRAGMENT")
        _keep_alive.append(lib)
    lib.impl(opname, kernel, "Autograd", with_keyset=True)


def _refuse_kwarg_only_tensors(registration: str, schema: Any) -> None:
    if utils.has_kwarg_only_tensors(schema):
        raise NotImplementedError(
            f"{registration} with kwarg-only Tensor args. In the original definition of the op, "
            f"please make your tensors not kwarg-only. Got: {schema}"
        )


def register_torch_dispatch(
    op: _Op,
    torch_dispatch_class: Any,
    func: _Kernel | None = None,
    /,
    *,
    lib: Library | None = None,
) -> Any:
    """Register what an operator does for a mode or subclass with ``__torch_dispatch__``."""
    found = _resolve_op(op, "register_torch_dispatch")
    if isinstance(found, CustomOpDef):
        return found.register_torch_dispatch(torch_dispatch_class, func)

    def register(func: _Kernel) -> _Kernel:
        namespace, op_name = utils.parse_namespace(found)
        use_lib = _library_for_registration(namespace, lib)
        use_lib._register_torch_dispatch_rule(op_name, torch_dispatch_class, func)
        return func

    return register if func is None else register(func)


def register_vmap(op: _Op, func: _Kernel | None = None, /, *, lib: Library | None = None) -> Any:
    """Register what ``torch.vmap`` does with an operator, a kernel at FuncTorchBatched."""
    qualname = _resolve_op(op, "register_vmap")
    if isinstance(qualname, CustomOpDef):
        return qualname.register_vmap(func)
    overload = utils.lookup_op(qualname)
    _refuse_kwarg_only_tensors("register_vmap", overload._schema)

    def register(func: _Kernel) -> None:
        nonlocal lib
        namespace, opname = utils.parse_namespace(qualname)
        lib = _library_for_registration(namespace, lib)
        kernel = vmap_kernel(overload, lambda: func)
        lib.impl(opname, kernel, "FuncTorchBatched", with_keyset=True)

    return register if func is None else register(func)


def register_autocast(
    op: _Op, device_type: str, cast_inputs: Any, /, *, lib: Library | None = None
) -> Any:
    """Have an operator's floating-point inputs cast where autocast is on for a type of device."""
    qualname = _resolve_op(op, "register_autocast")
    check_autocast_available(device_type)
    if isinstance(qualname, CustomOpDef):
        return qualname.register_autocast(device_type, cast_inputs)
    overload = utils.lookup_op(qualname)
    namespace, opname = utils.parse_namespace(qualname)
    use_lib = _library_for_registration(namespace, lib)
    kernel = autocast_kernel(overload, device_type, cast_inputs)
    set_py_kernels(overload, device_type, kernel)
    return use_lib.impl(opname, kernel, autocast_key(device_type), with_keyset=True)


def get_ctx() -> Any:
    """The context of the fake implementation that runs."""
    return global_ctx_getter()


def get_kernel(op: str | OpOverload, dispatch_key: Any) -> Any:
    """The kernel that an operator's table has for a key; ``call_boxed`` runs it."""
    if not isinstance(op, (str, OpOverload)):
        raise ValueError(f"get_kernel({op}): got unexpected type for op: {type(op)}")
    name = op._name if isinstance(op, OpOverload) else op
    if isinstance(dispatch_key, str):
        if dispatch_key not in _C.DispatchKey.__members__:
            raise ValueError(f"Invalid dispatch key: {dispatch_key}")
        dispatch_key = _C.DispatchKey.__members__[dispatch_key]
    return _C._dispatch_get_computed_kernel_for_dispatch_key(name, dispatch_key)


def _drop_what_is_not_released() -> None:
    """Leave the functions that the release has, each declared as it is there."""
    for name, function in list(globals().items()):
        if not isinstance(function, FunctionType) or name.startswith("_"):
            continue
        if function.__module__ != __name__:
            continue
        if has(name):
            globals()[name] = as_released(function, name)
        else:
            del globals()[name]


_drop_what_is_not_released()
