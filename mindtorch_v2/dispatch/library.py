"""Blocks of registrations, as C++ writes them: ``TORCH_LIBRARY`` and its variants.

Mirrors ``aten/src/ATen/core/library.cpp``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from string import Template
from typing import Any, Final

from mindtorch_v2 import profile
from mindtorch_v2.dispatch.dispatcher import DISPATCHER, Dispatcher, Undo
from mindtorch_v2.dispatch.kernel import Kernel
from mindtorch_v2.dispatch.key import DispatchKey, key_name
from mindtorch_v2.dispatch.keyset import runtime_dispatch_keyset, runtime_keys
from mindtorch_v2.dispatch.operator_entry import AnnotatedSchema
from mindtorch_v2.messages import internal_assert
from mindtorch_v2.schema.function_schema import FunctionSchema
from mindtorch_v2.schema.parser import parse_name, parse_schema, parse_schema_or_name

KINDS: Final = {
    "DEF": "TORCH_LIBRARY",
    "IMPL": "TORCH_LIBRARY_IMPL",
    "FRAGMENT": "TORCH_LIBRARY_FRAGMENT",
}
_ALIAS_ANALYSIS: Final = {
    "": "FROM_SCHEMA",
    "FROM_SCHEMA": "FROM_SCHEMA",
    "CONSERVATIVE": "CONSERVATIVE",
    "PURE_FUNCTION": "PURE_FUNCTION",
}
LEGACY: Final = "CONSERVATIVE (default)"
"""How the aliases of an operator are known when nobody has said."""


_REGISTERED_AT: Final = Template(profile.active().library["registered_at"])
"""How a registration says where it stands; not every release shows the file that it is told."""
SHOWS_FILE: Final = "$file" in _REGISTERED_AT.template


def _named(key: int | None) -> int | None:
    """``key``, but None for Undefined, which is the old name of the catch-all."""
    return None if key == DispatchKey.Undefined else key


def parse_alias_analysis(text: str) -> str:
    """As a dump prints it; RuntimeError for an unknown name."""
    if text not in _ALIAS_ANALYSIS:
        raise RuntimeError(f"could not parse {text}")
    return _ALIAS_ANALYSIS[text]


class Library:
    """A block; what it registers lasts until :meth:`reset`.

    ``kind`` is one of KINDS, ``namespace`` may be ``_`` for any, ``key`` is None for no key.
    RuntimeError if there is a DEF block for the namespace already.
    """

    def __init__(
        self,
        kind: str,
        namespace: str,
        key: int | None,
        *,
        file: str = "/dev/null",
        line: int = 0,
        dispatcher: Dispatcher = DISPATCHER,
    ) -> None:
        if kind not in KINDS:
            raise RuntimeError(f"could not parse {kind}")
        self.kind = KINDS[kind]
        self.namespace = None if namespace == "_" else namespace
        self.key = _named(key)
        self.debug = _REGISTERED_AT.substitute(file=file, line=line)
        place = self.debug.removeprefix("registered at ")
        self._context = f"(Error occurred while processing {self.kind} block at {place})"
        self._dispatcher = dispatcher
        self._registrations: list[Undo] = []
        if kind == "DEF":
            if self.namespace is None:
                raise RuntimeError("bad optional access")
            self._registrations.append(dispatcher.register_library(namespace, self.debug))
        if kind != "IMPL":
            try:
                self._check_defines()
            except RuntimeError:
                self.reset()
                raise

    def _check_defines(self) -> None:
        if self.namespace is None:
            raise RuntimeError(
                f"{self.kind}: cannot define {self.kind} with the wildcard namespace _ (every "
                f"{self.kind} defines operators for a distinct namespace!) Did you mean to use "
                f"TORCH_LIBRARY_IMPL instead?  {self._context}"
            )
        if self.key is not None:
            assertion = internal_assert("!dispatch_key_.has_value()", "Library")
            raise RuntimeError(f"{assertion}{self._context}")

    def reset(self) -> None:
        """Take back every registration, the oldest first, as the vector of C++ does."""
        registrations, self._registrations = self._registrations, []
        for undo in registrations:
            undo()

    # --- definitions --------------------------------------------------------------------------

    def define_schema(
        self, schema: FunctionSchema, alias_analysis: str, tags: tuple[str, ...] = ()
    ) -> str:
        """Define the operator of a schema; answers its full name.

        RuntimeError in an IMPL block, for another namespace's operator, for one there is.
        """
        if self.kind == KINDS["IMPL"]:
            raise RuntimeError(
                f'def("{schema.full_name}"): Cannot define an operator inside of a {self.kind} '
                "block.  All def()s should be placed in the (unique) TORCH_LIBRARY block for "
                f"their namespace.  {self._context}"
            )
        namespace, separator, _ = schema.name.partition("::")
        if separator and namespace != self.namespace:
            raise RuntimeError(
                f"Explicitly provided namespace ({namespace}) in schema string does not match "
                f"namespace of enclosing {self.kind} block ({self.namespace}).  Move this "
                "definition to the (unique) TORCH_LIBRARY block corresponding to this namespace "
                "(and consider deleting the namespace from your schema string.)  "
                f"{self._context}"
            )
        if not separator:
            schema = replace(schema, name=f"{self.namespace}::{schema.name}")
        annotated = AnnotatedSchema(
            str(schema), self.debug, alias_analysis, lambda: schema, tuple(tags)
        )
        self._registrations.append(self._dispatcher.register_def(annotated))
        return schema.full_name

    def define_with_kernel(
        self, schema: FunctionSchema, alias_analysis: str, kernel: Kernel, key: int | None
    ) -> None:
        """Define the operator of a schema and give it ``kernel``; the definition stays if the
        kernel does not suit."""
        self._register(self.define_schema(schema, alias_analysis), self._block_key(key), kernel)

    def define_by_name(self, text: str, kernel: Kernel, key: int | None) -> None:
        """The same of a name alone, with the schema inferred for ``kernel``; or of a schema."""
        parsed = parse_schema_or_name(text)
        if isinstance(parsed, FunctionSchema):
            name = self.define_schema(parsed, "FROM_SCHEMA")
        else:
            assert kernel.inferred is not None
            inferred = replace(kernel.inferred, name=parsed[0], overload_name=parsed[1])
            name = self.define_schema(inferred, "CONSERVATIVE")
        self._register(name, self._block_key(key), kernel)

    def _block_key(self, key: int | None) -> int | None:
        named = _named(key)
        return self.key if named is None else named

    # --- kernels ------------------------------------------------------------------------------

    def resolve(self, text: str) -> str:
        """The full name of an operator of this block; RuntimeError for another namespace's."""
        name, overload_name = parse_name(text)
        namespace, separator, _ = name.partition("::")
        if not separator:
            name = f"{self.namespace}::{name}"
        elif namespace != self.namespace:
            raise RuntimeError(
                f'impl("{text}", ...): Explicitly provided namespace ({namespace}) in operator '
                f"name does not match namespace of enclosing {self.kind} block "
                f"({self.namespace or ''}).  Move this definition to the {self.kind} block "
                "corresponding to this namespace (and consider deleting the namespace from your "
                f"schema string.)  {self._context}"
            )
        return f"{name}.{overload_name}" if overload_name else name

    def impl(self, text: str, kernel: Kernel, key: int | None) -> None:
        """Give an operator a kernel; RuntimeError for a key that is not the block's."""
        name, key = self.resolve(text), _named(key)
        if key is not None and self.key is not None and key != self.key:
            raise RuntimeError(
                f'impl("{text}", ...): Explicitly provided dispatch key ({key_name(key)}) is '
                f"inconsistent with the dispatch key of the enclosing {self.kind} block "
                f"({key_name(self.key)}).  Please declare a separate {self.kind} block for this "
                f"dispatch key and move your impl() there.  {self._context}"
            )
        self._register(name, self._block_key(key), kernel)

    def _register(self, name: str, key: int | None, kernel: Kernel) -> None:
        self._registrations.append(
            self._dispatcher.register_impl(name, key, self._annotated(kernel))
        )

    def _annotated(self, kernel: Kernel) -> Kernel:
        return kernel if kernel.debug else replace(kernel, debug=self.debug)

    def fallback(self, kernel: Kernel, key: int | None) -> None:
        """What runs at a key for every operator that has nothing there.

        RuntimeError in a block of one namespace, without a key, for a key that has a fallback.
        """
        if self.kind != KINDS["IMPL"]:
            raise RuntimeError(
                f"fallback(...): Cannot define an operator inside of a {self.kind} block.  Did "
                "you mean to call this function inside a TORCH_LIBRARY_IMPL block?  "
                f"{self._context}"
            )
        at = self._block_key(key)
        if at is None:
            assertion = internal_assert("dispatch_key.has_value()", "Library.fallback")
            raise RuntimeError(f"{assertion}{self._context}")
        if self.namespace is not None:
            raise RuntimeError(
                "fallback(...): Fallback functions which apply to only a single namespace (you "
                f"specified {self.namespace}) are not supported.  If you intended to apply this "
                "fallback function globally, please define a separate block:\n\n"
                f"    TORCH_LIBRARY_IMPL(_, {key_name(at)}, m) {{ m.fallback(...); }}\n\n"
                f"{self._context}"
            )
        annotated = self._annotated(kernel)
        if key_name(at) in profile.active().registrations["aliases_without_runtime_keys"]:
            return
        for runtime_key in runtime_keys(runtime_dispatch_keyset(at)):
            self._registrations.append(self._dispatcher.register_fallback(runtime_key, annotated))


@cache
def identity_schema() -> FunctionSchema:
    """The schema that C++ infers of a function from a tensor to a tensor."""
    return parse_schema("_(Tensor _0) -> Tensor _0")


def identity_kernel(debug: str, origin: str) -> Kernel:
    """A C++ function that answers its argument, made to be registered in tests.

    There is one for each of torch's functions that register it, named by ``origin``.
    """
    schema = identity_schema()
    signature = str(schema).removeprefix("_")
    return Kernel(_identity, debug, "boxed unboxed ", signature, schema, origin=origin)


def _identity(tensor: Any) -> Any:
    return tensor


def python_kernel(
    function: Callable[..., Any],
    debug: str = "",
    *,
    with_keyset: bool = False,
    with_op: bool = False,
) -> Kernel:
    """A kernel written in Python; with the keyset, and with the operator, before its arguments."""
    return Kernel(function, debug, with_keyset=with_keyset, with_op=with_op)
