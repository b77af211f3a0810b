"""What Python calls of torch there are: every bound name, how it is reached, its signatures.

A name is reached as a user reaches it: ``xp.add``, ``x.add``.  Where a function of Python shadows
it, as ``torch.split`` does, its own place is named: ``xp._C._VariableFunctions.split``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Final

from conformance.names import refusal
from conformance.vocabulary import Vocabulary, for_profile
from mindtorch_v2.profile import Profile, load

OWNERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "torch": "torch._C._VariableFunctions",
        "Tensor": "torch._C.TensorBase",
        "nn": "torch._C._nn",
        "fft": "torch._C._fft",
        "linalg": "torch._C._linalg",
        "special": "torch._C._special",
        "sparse": "torch._C._sparse",
        "nested": "torch._C._nested",
    }
)
"""Module of the profile's signatures, and the object that holds its names."""

BOUND: Final = frozenset(("builtin_function_or_method", "method_descriptor", "wrapper_descriptor"))
"""Types of what torch binds."""

WRONG_ONLY: Final[Mapping[str, str]] = MappingProxyType(
    {
        name: reason
        for reason, names in {
            "calls what it is given, for each element": "apply_ map_ map2_",
            "answers an address": "data_ptr const_data_ptr",
            "answers a count of references": "_use_count",
            "asks for hardware": "cuda xpu ipu mtia",
            "enters functionalization, and stays there": "_enable_functionalization",
            "makes a functional tensor, or has others made": """
                _to_functional_tensor _functionalize_enable_reapply_views""",
            "changes the object behind a tensor": "_fix_weakref",
        }.items()
        for name in names.split()
    }
)
"""Names that are only called in ways that no signature takes, and why."""


PYTHON_METHODS: Final[Mapping[str, str]] = MappingProxyType(
    {
        signature.partition("(")[0]: signature
        for signature in (
            "align_to(DimnameList names)",
            "istft(int64_t n_fft, int64_t? hop_length=None, int64_t? win_length=None,"
            " Tensor? window=None, bool center=True, bool normalized=False,"
            " bool? onesided=None, int64_t? length=None, bool return_complex=False)",
            "lu(bool pivot=True, bool get_infos=False)",
            'norm(Scalar? p="fro", IntArrayRef? dim=None, bool keepdim=False,'
            " ScalarType? dtype=None)",
            "refine_names(DimnameList names)",
            "rename(DimnameList? names)",
            "rename_(DimnameList? names)",
            "split(SymInt split_size, int64_t dim=0)",
            "stft(int64_t n_fft, int64_t? hop_length=None, int64_t? win_length=None,"
            ' Tensor? window=None, bool center=True, c10::string_view pad_mode="reflect",'
            " bool normalized=False, bool? onesided=None, bool? return_complex=None)",
            "to_sparse_coo()",
            "unflatten(int64_t dim, SymIntArrayRef sizes)",
            "unique(bool sorted=True, bool return_inverse=False, bool return_counts=False,"
            " int64_t? dim=None)",
            "unique_consecutive(bool return_inverse=False, bool return_counts=False,"
            " int64_t? dim=None)",
        )
    }
)
"""Methods that torch.Tensor writes in Python, before bound ones mostly, and what they take."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter as PythonArgParser declares it: ``SymIntArrayRef[2] padding=0``."""

    type: str
    name: str
    default: str | None
    keyword_only: bool

    @property
    def kind(self) -> str:
        """Its type without size and question mark."""
        return self.type.removesuffix("?").partition("[")[0]

    @property
    def size(self) -> int:
        found = re.search(r"\[(\d+)\]", self.type)
        return int(found[1]) if found else 0


@dataclass(frozen=True, slots=True)
class Signature:
    """One of the ways in which a name is called."""

    parameters: tuple[Parameter, ...]
    deprecated: bool

    @property
    def positional(self) -> tuple[Parameter, ...]:
        return tuple(p for p in self.parameters if not p.keyword_only)

    @property
    def required(self) -> tuple[Parameter, ...]:
        return tuple(p for p in self.parameters if p.default is None)


_SIGNATURE: Final = re.compile(r"\w+\((.*)\)(\|deprecated)?")
_COMMA: Final = re.compile(r", (?![^{]*\})")
_PARAMETER: Final = re.compile(r"(.+?) (\w+)(?:=(.*))?")


@cache
def parse_signature(text: str) -> Signature:
    """``Signature`` of ``add(Tensor input, Tensor other, *, Scalar alpha=1)``."""
    match = _SIGNATURE.fullmatch(text)
    if match is None:
        raise ValueError(f"no signature: {text!r}")
    parameters, keyword_only = [], False
    for declared in _COMMA.split(match[1]) if match[1] else ():
        if declared == "*":
            keyword_only = True
            continue
        found = _PARAMETER.fullmatch(declared)
        if found is None:
            raise ValueError(f"no parameter: {declared!r} in {text!r}")
        parameters.append(Parameter(found[1], found[2], found[3], keyword_only))
    return Signature(tuple(parameters), match[2] is not None)


@dataclass(frozen=True, slots=True)
class Callee:
    """A bound name.  ``path`` is a function's place, or a method's in its class."""

    owner: str
    name: str
    path: str
    signatures: tuple[Signature, ...]
    #: Whether an object has it as a method of this name; torch.Tensor may shadow it.
    is_attribute: bool
    takes_nothing: bool
    numbers_as_tensors: bool
    in_python: bool = False

    @property
    def target(self) -> str:
        return f"{self.owner}.{self.name}" + (" in Python" if self.in_python else "")

    @property
    def is_method(self) -> bool:
        return self.owner == "Tensor"

    @property
    def is_safe(self) -> bool:
        """Whether it may be called as it should be."""
        return self.name not in WRONG_ONLY


def callees(profile: Profile) -> tuple[Callee, ...]:
    """Every bound name of the release that a case may say, and some methods before them."""
    return _callees_of(profile.name)


def bound_names(profile: Profile, owner: str) -> list[str]:
    """What is bound to one object, without what every object of Python has."""
    names = profile.signatures["names"][OWNERS[owner]]
    inherited = set(dir(object)) | {"__getstate__"}  # the latter as of Python 3.11
    return [name for name, kind in names.items() if kind in BOUND and name not in inherited]


def refused(profile: Profile) -> dict[str, str]:
    """Names that no case says, and why."""
    vocabulary = for_profile(profile.name)
    return {
        f"{owner}.{name}": reason
        for owner in OWNERS
        for name in bound_names(profile, owner)
        if (reason := _refusal(vocabulary, name))
    }


def _refusal(vocabulary: Vocabulary, name: str) -> str | None:
    if name in vocabulary.attributes:
        return None
    return refusal(name) or "the vocabulary of cases has no such name"


@cache
def _callees_of(name: str) -> tuple[Callee, ...]:
    profile = load(name)
    left_out = refused(profile)
    bound = [
        _callee(profile, owner, name)
        for owner in OWNERS
        for name in bound_names(profile, owner)
        if f"{owner}.{name}" not in left_out
    ]
    kinds = profile.signatures["names"]["torch.Tensor"]
    in_python = [name for name in PYTHON_METHODS if kinds.get(name) == "function"]
    return (*bound, *map(_python_method, in_python))


def _python_method(name: str) -> Callee:
    signature = parse_signature(PYTHON_METHODS[name])
    return Callee(
        "Tensor",
        name,
        f"xp.Tensor.{name}",
        (signature,),
        is_attribute=True,
        takes_nothing=not signature.parameters,
        numbers_as_tensors=False,
        in_python=True,
    )


def _callee(profile: Profile, owner: str, name: str) -> Callee:
    facts = profile.signatures
    seen = facts["names"]["torch.Tensor" if owner == "Tensor" else "torch"].get(name, "")
    is_attribute = owner in ("torch", "Tensor") and seen in BOUND
    path = f"xp.{OWNERS[owner].removeprefix('torch.')}.{name}"
    if is_attribute:
        path = f"xp.{name}" if owner == "torch" else f"xp.Tensor.{name}"
    signatures, takes_nothing = _signatures(profile, owner, name)
    numbers = profile.conversions["numbers_as_tensors"]
    return Callee(
        owner,
        name,
        path,
        tuple(map(parse_signature, signatures)),
        is_attribute,
        takes_nothing,
        f"aten::{name}" in numbers,
    )


def _signatures(profile: Profile, owner: str, name: str) -> tuple[list[str], bool]:
    """Signatures as texts, those of a binding by hand first; whether it is METH_NOARGS."""
    facts = profile.signatures
    manual = facts["manual"].get(owner, {}).get(name)
    generated = facts["modules"][owner].get(manual["function"] if manual else name)
    if manual is not None and (manual["signatures"] or generated is None):
        return manual["signatures"], manual["flags"] == "METH_NOARGS"
    if generated is not None:
        texts = [overload["signature"] for overload in generated["overloads"]]
        return texts, owner == "Tensor" and generated["noargs"]
    return (facts["compiled"].get(name, []) if owner == "torch" else []), False
