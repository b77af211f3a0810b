"""Section ``keys.json``: dispatch keys, alias keys, backends, keysets, guards.

Facts of c10/core/DispatchKey.h, c10/core/DispatchKeySet.h and c10/core/impl/LocalDispatchKeySet.h.
All but two are asked of the running torch; the two inline functions that choose the autograd and
the autocast key of a backend are not bound to Python and are read from the wheel's own header.
"""

import re
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch

from conformance.extract import ExtractionError, require

C: Any = torch._C

LAST_FUNCTIONALITY = "PythonDispatcher"
MAX_VALUE = 300  # above every value a release has used; what lies beyond an enum is "Unknown"
OLD_NAMES = ("CPUTensorId", "CUDATensorId", "Autocast", "DefaultBackend", "CatchAll", "Math")
GUARD_WORDS = ("Dispatch", "Disable", "Enable", "Below", "Preserve", "Restore")


def extract() -> dict[str, Any]:
    """Everything ``keys.json`` holds, in the order in which a reader wants it."""
    functionalities = functionality_keys()
    backends = dense_backends()
    return {
        "release": torch.__version__.split("+")[0],
        "build": torch.__version__.partition("+")[2],
        "git_version": torch.version.git_version,
        "functionality_keys": functionalities,
        "backends": backends,
        "per_backend": per_backend(functionalities, backends),
        "alias_keys": alias_keys(),
        "members": {name: int(key) for name, key in C.DispatchKey.__members__.items()},
        "parse": parsed_names(),
        "alias_members": alias_members(),
        "autograd_backends": autograd_backends(),
        "constants": keyset_constants(),
        "default_included": raw(C._dispatch_tls_local_include_set()),
        "default_excluded": raw(C._dispatch_tls_local_exclude_set()),
        "guards_restore_sets": guards_restore_sets(),
        "fallthrough_by_masked_backend": fallthrough_by_masked_backend(),
        "guards": guards(),
        "devices": devices(),
        "device_keys": {device: key_for_device(device) for device in devices()},
        "autograd_key_of_backend": key_of_backend("getAutogradRelatedKeySetFromBackend"),
        "autocast_key_of_backend": key_of_backend("getAutocastRelatedKeySetFromBackend"),
    }


# Keys -------------------------------------------------------------------------------------------


def key_name(value: int) -> str:
    """The name torch prints for an enum value."""
    return str(C._dispatch_key_name(C.DispatchKey(value)))


@cache
def functionality_keys() -> list[str]:
    """Names by value, from Undefined to the last key before EndOfFunctionalityKeys."""
    names = []
    for value in range(MAX_VALUE):
        names.append(key_name(value))
        if names[-1] == LAST_FUNCTIONALITY:
            return names
    raise ExtractionError(f"no dispatch key below {MAX_VALUE} is named {LAST_FUNCTIONALITY}")


def dense_backends() -> list[str]:
    """Backend names in bit order: the keys of the Dense block."""
    members = C.DispatchKey.__members__
    first = int(members["StartOfDenseBackends"]) + 1
    last = int(members["EndOfDenseBackends"])
    names = [key_name(value) for value in range(first, last + 1)]
    require(len(names) == C._dispatch_num_backends(), f"{names}: not as many as torch counts")
    return names


def per_backend(functionalities: list[str], backends: list[str]) -> dict[str, str]:
    """Functionalities that a backend customises, in block order, and their key prefix."""
    blocks = []
    for value, name in enumerate(functionalities):
        keys = [int(key) for key in C._functionality_to_backend_keys(C.DispatchKey(value))]
        if len(keys) > 1:
            blocks.append((keys, name))
    blocks.sort()
    prefixes = {}
    for keys, name in blocks:
        prefix = key_name(keys[0]).removesuffix(backends[0])
        start = int(C.DispatchKey.__members__[f"StartOf{name}Backends"])
        for index, backend in enumerate(backends):
            require(keys[index] == start + index + 1, f"{name}: block is not contiguous")
            require(key_name(keys[index]) == prefix + backend, f"{name}: misnamed {keys[index]}")
        prefixes[name] = prefix
    return prefixes


@cache
def alias_keys() -> dict[str, int]:
    """Alias keys and their values, in value order."""
    return {key_name(value): value for value in range(MAX_VALUE) if is_alias(value)}


def is_alias(value: int) -> bool:
    return bool(C._dispatch_is_alias_key(C.DispatchKey(value)))


def runtime_and_alias_values() -> range:
    """Every value from Undefined to the last alias key."""
    return range(max(alias_keys().values()) + 1)


def parsed_names() -> dict[str, int]:
    """Every name that torch parses to a key, in the order of the values."""
    candidates = {key_name(value) for value in range(MAX_VALUE)}
    candidates.update(C.DispatchKey.__members__, header_enumerators(), OLD_NAMES)
    parsed = {name: parse(name) for name in candidates}
    found = [(value, name) for name, value in parsed.items() if value is not None]
    return {name: value for value, name in sorted(found)}


def parse(name: str) -> int | None:
    try:
        return int(C._dispatch_key_parse(name))
    except RuntimeError:
        return None


def alias_members() -> dict[str, list[int]]:
    """For each alias, the values that torch says are included in it."""
    return {
        alias: [
            value
            for value in runtime_and_alias_values()
            if C._dispatch_is_included_in_alias(C.DispatchKey(value), C.DispatchKey(alias_value))
        ]
        for alias, alias_value in alias_keys().items()
    }


def autograd_backends() -> dict[str, int]:
    """For each key that is the autograd key of some backends, those backends as raw bits."""
    found = {}
    for value in runtime_and_alias_values():
        bits = raw(C._dispatch_get_backend_keyset_from_autograd(C.DispatchKey(value)))
        if bits:
            found[key_name(value)] = bits
    return found


# Keysets ----------------------------------------------------------------------------------------


def raw(keyset: Any) -> int:
    """The 64 bits of a DispatchKeySet, by asking it: old releases do not show them."""
    shift: int = C._dispatch_num_backends() - 1
    bits = sum(
        1 << (value + shift)
        for value in range(1, len(functionality_keys()))
        if keyset.has(C.DispatchKey(value))
    )
    # A backend bit is seen only together with a functionality bit.
    dense = keyset | C.DispatchKeySet(C.DispatchKey.Dense)
    first = int(C.DispatchKey.StartOfDenseBackends) + 1
    bits |= sum(1 << index for index in range(shift + 1) if dense.has(C.DispatchKey(first + index)))
    if hasattr(keyset, "raw_repr"):
        require(keyset.raw_repr() == bits, f"{keyset}: computed {bits:#x}")
    return bits


def keyset_constants() -> dict[str, int]:
    """Every DispatchKeySet that is an attribute of torch._C."""
    values = {name: getattr(C, name) for name in sorted(dir(C))}
    return {name: raw(ks) for name, ks in values.items() if isinstance(ks, C.DispatchKeySet)}


# Guards -----------------------------------------------------------------------------------------

Sets = tuple[int, int]
Observation = tuple[Sets, Sets, Sets, bool]


def guards_restore_sets() -> bool:
    """Whether a guard that closes puts back the whole set it changes, as it found it.

    Older releases take out of the set only what the guard had brought into it.
    """
    python, functionalize = C.DispatchKey.Python, C.DispatchKey.Functionalize
    with C._ExcludeDispatchKeyGuard(C.DispatchKeySet(python)):
        C._dispatch_tls_set_dispatch_key_excluded(functionalize, True)
    restored = not C._dispatch_tls_is_dispatch_key_excluded(functionalize)
    C._dispatch_tls_set_dispatch_key_excluded(functionalize, False)
    return restored


def fallthrough_by_masked_backend() -> bool:
    """Whether the backend whose fallthroughs a call passes over is that of all its keys.

    In older releases it is that of the tensors, whatever the thread includes.
    """
    library = C._dispatch_library("FRAGMENT", "nosuch", "")
    library.define("masked(Tensor x) -> Tensor")
    library.impl("masked", C.DispatchKey.Meta, torch.library.fallthrough_kernel)
    call = C._jit_get_operation("nosuch::masked")[0]
    tensor = torch.ones(1)
    try:
        with C._IncludeDispatchKeyGuard(C.DispatchKey.Meta):
            call(tensor)
    except RuntimeError as error:  # nothing is left, or the fallthrough itself is run
        return isinstance(error, NotImplementedError)
    finally:
        library.reset()
    raise ExtractionError("an operator without kernels was called; look at keys.py")


def guards() -> dict[str, dict[str, Any]]:
    """What each argument-less guard of torch._C does to the thread-local keysets."""
    before = local_sets()
    names = [name for name in sorted(dir(C)) if is_guard(name)]
    require(local_sets() == before, "a guard that was only constructed left its mark")
    return {name: measure_guard(name) for name in names}


def is_guard(name: str) -> bool:
    cls = getattr(C, name)
    return (
        name.startswith("_")
        and any(word in name for word in GUARD_WORDS)
        and type(cls).__name__ == "pybind11_type"
        and hasattr(cls, "__enter__")
        and constructible(cls)
    )


def constructible(cls: Any) -> bool:
    try:
        cls()
    except TypeError:
        return False
    return True


def measure_guard(name: str) -> dict[str, Any]:
    """Observe one guard from every start state and sum up its effect."""
    observed: list[Observation] = []
    for start in (start_default, start_all_included, start_all_excluded):
        # A fresh process each: a guard may leave thread-local state behind, or crash.
        with ProcessPoolExecutor(1, get_context("fork")) as pool:
            result = pool.submit(observe_guard, name, start).result()
        if isinstance(result, list):
            return {"at": "enter", "error": result}
        observed.append(result)
    at_init = any(constructed != before for before, constructed, _, _ in observed)
    at_enter = any(entered != constructed for _, constructed, entered, _ in observed)
    require(not (at_init and at_enter), f"{name} acts at construction and at __enter__")
    restores = {restored for _, _, _, restored in observed}
    require(len(restores) == 1, f"{name} restores in some states only")
    return {
        "at": "init" if at_init else "enter" if at_enter else None,
        "included": effect(name, [(before[0], after[0]) for before, _, after, _ in observed]),
        "excluded": effect(name, [(before[1], after[1]) for before, _, after, _ in observed]),
        "restores_all": restores.pop(),
    }


def effect(name: str, pairs: list[Sets]) -> list[int]:
    """The bits added and removed in any state; every state must agree with the sum."""
    added = removed = 0
    for before, after in pairs:
        added |= after & ~before
        removed |= before & ~after
    for before, after in pairs:
        require((before | added) & ~removed == after, f"{name}: effect depends on the state")
    return [added, removed]


def observe_guard(name: str, start: Callable[[], None]) -> Observation | list[str]:
    """The sets before, after construction and after __enter__; and whether all is restored.

    A guard that refuses to be entered answers its exception's type and message.
    """
    start()
    before = local_sets()
    guard = getattr(C, name)()
    constructed = local_sets()
    try:
        guard.__enter__()
    except RuntimeError as error:
        return [type(error).__name__, str(error)]
    entered = local_sets()
    # Some guards undo what they did; others put back the sets they found, whatever has
    # happened inside.  A key that no guard touches, flipped inside, tells which.
    probe = C.DispatchKey.Dense
    was_included = C._dispatch_tls_is_dispatch_key_included(probe)
    C._dispatch_tls_set_dispatch_key_included(probe, not was_included)
    guard.__exit__(None, None, None)
    restored = C._dispatch_tls_is_dispatch_key_included(probe) == was_included
    return before, constructed, entered, restored


def local_sets() -> Sets:
    return raw(C._dispatch_tls_local_include_set()), raw(C._dispatch_tls_local_exclude_set())


def start_default() -> None:
    """The state of a new thread."""


def start_all_included() -> None:
    """Every functionality included and none excluded: removals from included show."""
    for value in range(1, len(functionality_keys())):
        C._dispatch_tls_set_dispatch_key_included(C.DispatchKey(value), True)
        C._dispatch_tls_set_dispatch_key_excluded(C.DispatchKey(value), False)


def start_all_excluded() -> None:
    """Every functionality excluded and none included: removals from excluded show."""
    for value in range(1, len(functionality_keys())):
        C._dispatch_tls_set_dispatch_key_included(C.DispatchKey(value), False)
        C._dispatch_tls_set_dispatch_key_excluded(C.DispatchKey(value), True)


# Devices ----------------------------------------------------------------------------------------


def devices() -> list[str]:
    """Device types in the order in which torch lists them to who names a wrong one."""
    try:
        torch.device("nosuch")
    except RuntimeError as error:
        found = re.search(r"Expected one of (.*) device type at start", str(error))
        if found:
            return found[1].split(", ")
        raise ExtractionError(f"no list of devices in: {error}") from error
    raise ExtractionError("torch.device('nosuch') is a device")


def key_for_device(device: str) -> dict[str, Any]:
    """The key of a device type, or the error that asking for it raises."""
    try:
        return {"key": C._dispatch_key_for_device(device)}
    except Exception as error:  # whatever torch raises is the fact
        return {"error": [type(error).__name__, str(error)]}


# Headers ----------------------------------------------------------------------------------------


def header(name: str) -> str:
    """The text of a header of c10/core, wherever this release keeps it."""
    include = Path(torch.__path__[0]) / "include"
    found = sorted(include.glob(f"**/core/{name}"))
    require(bool(found), f"this torch ships no {name}")
    return strip_comments("\n".join(path.read_text(encoding="utf-8") for path in found))


def strip_comments(text: str) -> str:
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)


def header_enumerators() -> Iterable[str]:
    """Every word inside ``enum class DispatchKey``; who parses them decides which are names."""
    body = re.search(r"enum class DispatchKey\b.*?\{(.*?)\};", header("DispatchKey.h"), re.DOTALL)
    require(body is not None, "no enum DispatchKey in DispatchKey.h")
    return set(re.findall(r"\w+", body[1])) if body else ()


def key_of_backend(function: str) -> dict[str, str]:
    """Backend to key, from the ``case``/``return`` lines of an inline C++ function."""
    text = header("DispatchKeySet.h")
    body = re.search(rf"DispatchKeySet {function}\([^)]*\) \{{(.*?)\n\}}", text, re.DOTALL)
    if body is None:
        raise ExtractionError(f"no {function} in DispatchKeySet.h")
    cases = re.findall(r"case BackendComponent::(\w+)Bit:\s*return ([^;]*);", body[1])
    require(bool(cases), f"no cases in {function}")
    return {backend: only_key(expression, text) for backend, expression in cases}


def only_key(expression: str, text: str) -> str:
    """The one key of ``a_ks | b_ks``, ADInplaceOrView aside: every autograd key has it along."""
    keys: set[str] = set()
    for constant in re.split(r"\s*\|\s*", expression.strip()):
        definition = rf"constexpr auto {constant}\s*=\s*DispatchKeySet\(\s*DispatchKey::(\w+)\s*\)"
        found = re.search(definition, text)
        require(found is not None, f"cannot resolve {constant} in DispatchKeySet.h")
        keys.update(found.groups() if found else ())
    keys.discard("ADInplaceOrView")
    require(len(keys) == 1, f"{expression!r} is not one key: {sorted(keys)}")
    return keys.pop()
