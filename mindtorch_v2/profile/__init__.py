"""The facts of one torch release, and their one loader.

A profile is data that ``python -m conformance.extract`` took from an installed torch.  Each lives
in ``data/<major.minor>/``: ``keys.json`` is read when the profile loads, the other sections when
they are first looked at.  ``MINDTORCH_PROFILE`` names the one this process uses.

    >>> from mindtorch_v2 import profile
    >>> profile.load("2.4").keys.functionality_keys[1]
    'Dense'
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from mindtorch_v2.profile.kept import facts_of

if TYPE_CHECKING:
    from mindtorch_v2.profile.sections import (
        Autograd,
        Bindings,
        Derivatives,
        OpInfo,
        Registrations,
        Schemas,
        Signatures,
    )

__all__ = [
    "DEFAULT",
    "ENVIRONMENT",
    "DeviceKey",
    "GuardFacts",
    "KeyFacts",
    "Profile",
    "ProfileError",
    "UnknownProfileError",
    "active",
    "known",
    "load",
]

#: The environment variable that names the active profile, and what is active without it.
ENVIRONMENT = "MINDTORCH_PROFILE"
DEFAULT = "2.4"

_DATA = os.path.join(os.path.dirname(__file__), "data")
_EXTRACT = "python -m conformance.extract --out mindtorch_v2/profile/data"


class ProfileError(Exception):
    """A profile cannot be had; the message says which and what to do."""


class UnknownProfileError(ProfileError, ValueError):
    """No profile of that name is stored."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"unknown profile {name!r}; known profiles: {', '.join(known()) or 'none'}. "
            f"Choose one with the environment variable {ENVIRONMENT}, or make it: run "
            f"`{_EXTRACT}` where that torch release is installed"
        )


class GuardFacts(NamedTuple):
    """What an argument-less guard of torch._C does to the thread-local keysets (raw bits)."""

    #: "init" if it acts when constructed, "enter" if at ``__enter__``, None if it does nothing.
    at: str | None
    included_added: int = 0
    included_removed: int = 0
    excluded_added: int = 0
    excluded_removed: int = 0
    #: On exit: puts back the sets it found (True), or undoes only its own change (False).
    restores_all: bool = False
    #: Type and message of what it raises instead, outside the situation it is made for.
    error: tuple[str, str] | None = None


class DeviceKey(NamedTuple):
    """What ``torch._C._dispatch_key_for_device`` answers: a key's name, or an error."""

    key: str | None
    #: Exception type and message.
    error: tuple[str, str] | None = None


class KeyFacts(NamedTuple):
    """Dispatch keys and keysets of a release, field by field what ``keys.json`` holds.

    Mirrors c10/core/DispatchKey.h and DispatchKeySet.h.  Values are those of the C++ enum;
    keysets are raw 64-bit integers: backends from bit 0, then functionalities.
    """

    release: str
    #: The local version label of the wheel: ``cu121`` of ``2.4.1+cu121``, or empty.
    build: str
    git_version: str
    #: Names by value, Undefined first, PythonDispatcher last.
    functionality_keys: tuple[str, ...]
    #: Names in bit order.
    backends: tuple[str, ...]
    #: Functionality to the prefix of its runtime keys, in the order of the runtime blocks.
    per_backend: Mapping[str, str]
    #: In value order.
    alias_keys: Mapping[str, int]
    #: ``DispatchKey.__members__``, in torch's order.
    members: Mapping[str, int]
    #: Every name that parses to a key.
    parse: Mapping[str, int]
    #: Values for which ``_dispatch_is_included_in_alias`` holds, alias values among them.
    alias_members: Mapping[str, tuple[int, ...]]
    #: Autograd key to the keyset of its backends; other keys have none.
    autograd_backends: Mapping[str, int]
    #: The keysets that are attributes of torch._C.
    constants: Mapping[str, int]
    default_included: int
    default_excluded: int
    #: A guard that closes puts back the whole set it changes (True), or takes out of it only what
    #: it had brought (False).
    guards_restore_sets: bool
    #: A call passes over what its highest backend passes over: that of all its keys (True), or of
    #: its tensors' keys, whatever the thread includes and excludes (False).
    fallthrough_by_masked_backend: bool
    guards: Mapping[str, GuardFacts]
    #: Device types in the order in which torch's message lists them.
    devices: tuple[str, ...]
    device_keys: Mapping[str, DeviceKey]
    #: Backend to key; a backend that is absent has AutogradOther.
    autograd_key_of_backend: Mapping[str, str]
    #: Backend to key; a backend that is absent has none.
    autocast_key_of_backend: Mapping[str, str]

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "KeyFacts":
        """Build from the parsed file; what is missing or superfluous raises."""
        fields = dict(data)
        for name in ("functionality_keys", "backends", "devices"):
            fields[name] = tuple(fields[name])
        for name, build in (
            ("alias_members", tuple),
            ("guards", _guard_facts),
            ("device_keys", _device_key),
        ):
            fields[name] = {key: build(value) for key, value in fields[name].items()}
        return cls(**fields)


def _guard_facts(data: Mapping[str, Any]) -> GuardFacts:
    if "error" in data:
        return GuardFacts(data["at"], error=_pair(data["error"]))
    included_added, included_removed = data["included"]
    excluded_added, excluded_removed = data["excluded"]
    return GuardFacts(
        data["at"],
        included_added,
        included_removed,
        excluded_added,
        excluded_removed,
        data["restores_all"],
    )


def _device_key(data: Mapping[str, Any]) -> DeviceKey:
    if "error" in data:
        return DeviceKey(None, _pair(data["error"]))
    return DeviceKey(data["key"])


def _pair(value: list[str]) -> tuple[str, str]:
    kind, message = value
    return kind, message


@dataclass(frozen=True)
class Profile:
    """One release's facts.  ``keys`` is there at once; the rest is read when first asked for."""

    #: major.minor, as in ``load(name)``.
    name: str
    keys: KeyFacts

    @property
    def release(self) -> str:
        """The release the facts come from, for example ``2.4.1``."""
        return self.keys.release

    @cached_property
    def bindings(self) -> "Bindings":
        """What pybind11 shows of torch._C: functions, classes and their docstrings."""
        return cast("Bindings", self._section("bindings.json.xz"))

    @cached_property
    def schemas(self) -> "Schemas":
        """Operator schemas in registration order, and tags."""
        return cast("Schemas", self._section("schemas.json.xz"))

    @cached_property
    def signatures(self) -> "Signatures":
        """Python signatures as the argument parser has them, and the names bound."""
        return cast("Signatures", self._section("signatures.json.xz"))

    @cached_property
    def registrations(self) -> "Registrations":
        """Kernels registered for each operator, and backend fallbacks."""
        return cast("Registrations", self._section("registrations.json.xz"))

    @cached_property
    def derivatives(self) -> "Derivatives":
        """Nodes of the graph for each operator, their formulas, and which operators are views."""
        return cast("Derivatives", self._section("derivatives.json.xz"))

    @cached_property
    def autograd(self) -> "Autograd":
        """What ``torch.autograd`` does in this release and not in all, and in what words."""
        return cast("Autograd", self._section("autograd.json"))

    @cached_property
    def tensors(self) -> dict[str, Any]:
        """What a tensor may be: dtypes, layouts, memory formats, devices of backends."""
        return self._section("tensors.json")

    @cached_property
    def values(self) -> dict[str, Any]:
        """What tensors with values can do: kernels' dtypes, promotion, limits, wordings."""
        return self._section("values.json")

    @cached_property
    def kernels(self) -> dict[str, Any]:
        """Which dtypes the kernels of pointwise operators refuse, and in what words."""
        return self._section("kernels.json.xz")

    @cached_property
    def refs(self) -> dict[str, Any]:
        """Which Python functions are the kernels of pointwise operators at Meta."""
        return self._section("refs.json.xz")

    @cached_property
    def neural(self) -> dict[str, Any]:
        """What kernels of random numbers and of neural networks do that releases do differently."""
        return self._section("neural.json")

    @cached_property
    def python_methods(self) -> dict[str, str]:
        """Parameters of the methods that ``torch.Tensor`` writes in Python, as they stand there."""
        return self._section("python_methods.json")

    @cached_property
    def autocast(self) -> dict[str, Any]:
        """Which operators autocast casts the arguments of on the CPU, and how."""
        return self._section("autocast.json")

    @cached_property
    def conversions(self) -> dict[str, Any]:
        """Which Python values an operator's arguments take, where releases differ."""
        return self._section("conversions.json")

    @cached_property
    def devices(self) -> dict[str, Any]:
        """How devices refuse that there is nothing for."""
        return self._section("devices.json")

    @cached_property
    def argument_parser(self) -> dict[str, Any]:
        """What of Python's argument parsing differs between releases."""
        return self._section("argument_parser.json")

    @cached_property
    def indexing(self) -> dict[str, Any]:
        """What of indexing tensors differs between releases."""
        return self._section("indexing.json")

    @cached_property
    def modes(self) -> dict[str, Any]:
        """How Python's dispatch modes differ between releases."""
        return self._section("modes.json")

    @cached_property
    def messages(self) -> dict[str, Any]:
        """What of torch's messages differs from build to build: C++ files, lines and libraries."""
        return self._section("messages.json")

    @cached_property
    def functionalization(self) -> dict[str, Any]:
        """Functions about functional tensors, and what they and mutating operators refuse."""
        return self._section("functionalization.json.xz")

    @cached_property
    def library(self) -> dict[str, Any]:
        """What of ``torch.library`` differs between releases: functions, words, habits."""
        return self._section("library.json")

    @cached_property
    def opinfo(self) -> "OpInfo":
        """With what torch tests its operators: sample inputs, and what is refused."""
        return cast("OpInfo", self._section("opinfo.json.xz"))

    @cached_property
    def training(self) -> dict[str, Any]:
        """What of modules and optimizers differs between releases: words, devices, habits."""
        return self._section("training.json")

    @cached_property
    def schema_language(self) -> dict[str, Any]:
        """What schemas may name: base types, dtypes, custom classes; how a text ends."""
        return self._section("schema_language.json")

    def _section(self, file: str) -> dict[str, Any]:
        return _read(os.path.join(_DATA, self.name, file))


def known() -> tuple[str, ...]:
    """Names of the stored profiles, by version: 2.4 before 2.13."""
    names = filter(_version, os.listdir(_DATA))
    stored = (name for name in names if os.path.exists(os.path.join(_DATA, name, "keys.json")))
    return tuple(sorted(stored, key=_version))


def _version(name: str) -> tuple[int, ...]:
    """``2.13`` as (2, 13); what is no version as ()."""
    if not re.fullmatch(r"\d+\.\d+", name):
        return ()
    return tuple(map(int, name.split(".")))


def load(name: str) -> Profile:
    """The profile of a release named ``2.4`` or ``2.4.1``; the same object every time."""
    match = re.fullmatch(r"(\d+\.\d+)(\.\d.*)?", name)
    if match is None or match[1] not in known():
        raise UnknownProfileError(name)
    return _load(match[1])


@cache
def _load(name: str) -> Profile:
    path = os.path.join(_DATA, name, "keys.json")
    try:
        keys = KeyFacts.from_json(_read(path))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise _damaged(path, error) from error
    return Profile(name, keys)


@cache
def active() -> Profile:
    """The profile of this process, chosen by the environment at the first call."""
    return load(os.environ.get(ENVIRONMENT) or DEFAULT)


def _read(path: str) -> dict[str, Any]:
    """The JSON object in a file, which may be xz-compressed."""
    try:
        value = facts_of(path, _parse_packed if path.endswith(".xz") else _parse)
    except (OSError, EOFError, ValueError) as error:
        raise _damaged(path, error) from error
    if not isinstance(value, dict):
        raise _damaged(path, f"holds a {type(value).__name__}")
    return value


def _parse(data: bytes) -> Any:
    # Imported late, as lzma: what was parsed before is kept.
    import json

    return json.loads(data)


def _parse_packed(data: bytes) -> Any:
    import lzma

    try:
        return _parse(lzma.decompress(data))
    except lzma.LZMAError as error:
        raise ValueError(error) from error


def _damaged(path: str, why: object) -> ProfileError:
    return ProfileError(
        f"profile file {path} is damaged or missing ({why}); restore it from version control, "
        f"or extract the profile again: run `{_EXTRACT}` where that torch release is installed"
    )
