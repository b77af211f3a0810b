"""CANN's libraries: where they are, and their functions, each looked up when it is first used.

``ASCEND_HOME_PATH`` or ``ASCEND_TOOLKIT_HOME`` say where CANN is installed; without them the
loader's own path is searched.  Nothing is opened before the first look-up.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

from mindtorch_v2.kernels.npu.prototypes import FUNCTIONS, RUNNING, Aclnn, Prototype

Function = Callable[..., Any]

ROOTS: Final = ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME")
CUSTOM: Final = "ASCEND_CUSTOM_OPP_PATH"

RUNTIME: Final = ("libascendcl.so", "libacl_rt.so")
"""The first that can be opened has the runtime."""
DESCRIPTORS: Final = "libnnopbase.so"
PRELOADED: Final = ("libascend_protobuf.so*", "libplatform.so")
"""What the runtime may need and not find; opened only if it cannot be opened without."""
OLDER_OPERATORS: Final = tuple(
    f"libaclnn_{part}.so" for part in ("ops_infer", "ops_train", "math", "sparse", "fft", "rand")
)


class MissingLibraryError(RuntimeError):
    """CANN is not installed here, or not all of it."""


def root() -> Path | None:
    """Where CANN is installed, if the environment says so."""
    named = (os.environ.get(name) for name in ROOTS)
    return next((Path(path) for path in named if path), None)


def _folder() -> Path | None:
    found = root()
    return None if found is None else found / "lib64"


def _open(name: str | Path, *, everywhere: bool = True) -> ctypes.CDLL:
    """By CDLL, which gives up the interpreter's lock during calls: some of them wait.

    ``everywhere``: symbols are visible to libraries that are opened later by name.
    """
    return ctypes.CDLL(str(name), ctypes.RTLD_GLOBAL if everywhere else ctypes.RTLD_LOCAL)


def _open_in_root(name: str, *, everywhere: bool = True) -> ctypes.CDLL:
    folder = _folder()
    inside = None if folder is None else folder / name
    return _open(inside if inside is not None and inside.exists() else name, everywhere=everywhere)


@cache
def runtime() -> ctypes.CDLL:
    """The library of the runtime; MissingLibraryError if there is none."""
    reasons = []
    for preload in (False, True):
        if preload:
            _preload()
        for name in RUNTIME:
            try:
                return _open_in_root(name)
            except OSError as error:
                reasons.append(str(error))
    where = root()
    hint = f"in {where}" if where else f"({' and '.join(ROOTS)} are not set)"
    raise MissingLibraryError(f"CANN's runtime cannot be loaded {hint}: {'; '.join(reasons[:2])}")


def _preload() -> None:
    folder = _folder()
    for pattern in PRELOADED:
        for path in sorted(folder.glob(pattern)) if folder is not None else ():
            try:
                _open(path)
            except OSError:
                continue


@cache
def descriptors() -> ctypes.CDLL:
    """The library of tensors' descriptors and executors; MissingLibraryError if there is none."""
    runtime()
    try:
        return _open_in_root(DESCRIPTORS)
    except OSError as error:
        raise MissingLibraryError(f"{DESCRIPTORS} cannot be loaded: {error}") from error


@cache
def operators() -> tuple[ctypes.CDLL, ...]:
    """The libraries of operators that can be opened, in the order in which they are searched."""
    descriptors()
    found = []
    for name, everywhere in _operator_libraries():
        try:
            found.append(_open_in_root(name, everywhere=everywhere))
        except OSError:
            continue
    return tuple(found)


def _operator_libraries() -> Iterator[tuple[str, bool]]:
    """Custom operators, the parts of newer releases, the one of all, the parts of older ones."""
    for package in os.environ.get(CUSTOM, "").split(":"):
        if package:
            yield str(Path(package) / "op_api" / "lib" / "libcust_opapi.so"), False
    folder = _folder()
    if folder is not None:
        for path in sorted(folder.glob("libopapi_*.so")):
            yield path.name, False
    yield "libopapi.so", True
    for name in OLDER_OPERATORS:
        yield name, False


# --- functions ------------------------------------------------------------------------------------


@cache
def function(name: str) -> Function:
    """A function that is no operator; MissingLibraryError if no library has it."""
    found = find_function(name)
    if found is None:
        raise MissingLibraryError(f"this release of CANN has no function {name}")
    return found


@cache
def find_function(name: str) -> Function | None:
    libraries = (descriptors, runtime) if name in _OF_DESCRIPTORS else (runtime,)
    for library in libraries:
        found = _declared(library(), name, FUNCTIONS[name])
        if found is not None:
            return found
    return None


_OF_DESCRIPTORS: Final = frozenset(
    name
    for name in FUNCTIONS
    if name.startswith(("aclCreate", "aclDestroy", "aclGetView", "aclSet"))
)


@cache
def operator_functions(operator: Aclnn) -> tuple[Function, Function] | None:
    """The two functions of an operator, of the first library that has both.

    None is a normal answer: releases of CANN differ in the operators that they have.
    """
    for library in operators():
        planning = _declared(library, f"{operator.symbol}GetWorkspaceSize", operator.planning)
        running = _declared(library, operator.symbol, RUNNING)
        if planning is not None and running is not None:
            return planning, running
    return None


def _declared(library: ctypes.CDLL, name: str, prototype: Prototype) -> Function | None:
    """Each look-up makes a function object of its own, so that nobody else's types are changed."""
    try:
        found = library[name]
    except AttributeError:
        return None
    found.restype, found.argtypes = prototype.restype, list(prototype.argtypes)
    return found
