"""Data types, layouts, memory formats and qschemes: named constants of the active profile.

Mirrors ``c10/core/ScalarType.h``, ``Layout.h``, ``MemoryFormat.h`` and ``QScheme.h`` as
``torch/csrc/Dtype.cpp`` and its siblings show them to Python.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

from mindtorch_v2 import profile
from mindtorch_v2.tensor.made_in_c import METH_NOARGS, MadeInC, final

_FACTS: Final = profile.active().tensors


@final
class dtype(metaclass=MadeInC):  # noqa: N801 (torch's name)
    """A data type.  There is one instance of each; it is compared by identity."""

    __slots__ = ("_facts",)
    __module__ = "mindtorch_v2"

    def __init__(self, facts: dict[str, Any]) -> None:
        self._facts = facts

    @property
    def itemsize(self) -> int:
        """Bytes per element (of a whole pack, for the packed sub-byte types)."""
        return int(self._facts["itemsize"])

    @property
    def is_floating_point(self) -> bool:
        return bool(self._facts["is_floating_point"])

    @property
    def is_complex(self) -> bool:
        return bool(self._facts["is_complex"])

    @property
    def is_signed(self) -> bool:
        """Whether values can be negative; RuntimeError for quantized and bits types."""
        answer = self._facts["is_signed"]
        if isinstance(answer, str):
            raise RuntimeError(answer)
        return bool(answer)

    @METH_NOARGS
    def to_real(self) -> dtype:
        """Of the parts of a complex number; any other dtype is its own."""
        return REAL_OF_COMPLEX.get(self, self)

    @METH_NOARGS
    def to_complex(self) -> dtype:
        """Of numbers whose parts are such; RuntimeError where there are none."""
        found = self if self.is_complex else COMPLEX_OF_REAL.get(self)
        if found is None:
            cpp_name = profile.active().values["cpp_names"][str(self).removeprefix("torch.")]
            raise RuntimeError(f"Unknown Complex ScalarType for {cpp_name}")
        return found

    @property
    def _is_quantized(self) -> bool:
        """c10::isQIntType."""
        return bool(self._facts["is_quantized"])

    def __repr__(self) -> str:
        return str(self._facts["name"])

    def __reduce__(self) -> str:
        return str(self).rpartition(".")[2]


# Layouts, memory formats and qschemes are named constants that are compared by identity.  Their
# classes have no base in common, so these are the methods of each.


def _init(self: Any, name: str, attribute: str) -> None:
    self._name = name
    self._attribute = attribute


def _repr(self: Any) -> str:
    return str(self._name)


def _reduce(self: Any) -> str:
    return str(self._attribute)


@final
class layout(metaclass=MadeInC):  # noqa: N801 (torch's name)
    """How elements lie in memory."""

    __slots__ = ("_attribute", "_name")
    __module__ = "mindtorch_v2"
    __init__ = _init
    __repr__ = _repr
    __reduce__ = _reduce


@final
class memory_format(metaclass=MadeInC):  # noqa: N801 (torch's name)
    """In which order the dimensions of a strided tensor lie in memory."""

    __slots__ = ("_attribute", "_name")
    __module__ = "mindtorch_v2"
    __init__ = _init
    __repr__ = _repr
    __reduce__ = _reduce


@final
class qscheme(metaclass=MadeInC):  # noqa: N801 (torch's name)
    """How a quantized tensor maps integers to values."""

    __slots__ = ("_attribute", "_name")
    __module__ = "mindtorch_v2"
    __init__ = _init
    __repr__ = _repr
    __reduce__ = _reduce


DType: TypeAlias = dtype
Layout: TypeAlias = layout
"""The classes under names that no parameter called ``dtype`` or ``layout`` hides."""


def _by_attribute(kind: Any, names: dict[str, str]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for attribute, name in names.items():
        made.setdefault(name, kind(name, attribute))
    return {attribute: made[name] for attribute, name in names.items()}


def _dtypes() -> dict[str, dtype]:
    return {
        alias: instance
        for facts in _FACTS["dtypes"]
        for instance in [dtype(facts)]
        for alias in facts["aliases"]
    }


DTYPES: Final = _dtypes()
"""Every dtype by every name it has, ``half`` as well as ``float16``."""
_BY_NAME: Final = {repr(each): each for each in DTYPES.values()}
PYTHON_DTYPES: Final[dict[Any, dtype]] = {
    kind: _BY_NAME[_FACTS["python_dtypes"][kind.__name__]]
    for kind in (float, bool, int, complex)
    if kind.__name__ in _FACTS["python_dtypes"]
}
"""What Python's own types stand for where a dtype is asked for."""
REAL_OF_COMPLEX: Final = {
    _BY_NAME[wide]: _BY_NAME[real] for wide, real in _FACTS["to_real"].items()
}
"""Of what dtype the two halves of a complex element are."""
COMPLEX_HALVES: Final = tuple(wide for wide in REAL_OF_COMPLEX if wide.itemsize == 4)
"""Complex dtypes that C++ computes in the next larger one."""
COMPLEX_OF_REAL: Final = {
    _BY_NAME[real]: _BY_NAME[wide] for real, wide in _FACTS["to_complex"].items()
}
"""Which complex dtype goes with a floating-point one (``c10::toComplexType``)."""
LAYOUTS: Final[dict[str, layout]] = _by_attribute(layout, _FACTS["layouts"])
MEMORY_FORMATS: Final[dict[str, memory_format]] = _by_attribute(
    memory_format, _FACTS["memory_formats"]
)
QSCHEMES: Final[dict[str, qscheme]] = _by_attribute(qscheme, _FACTS["qschemes"])


def _refused(cls: Any, *args: Any, **kwargs: Any) -> Any:
    raise TypeError(f"cannot create 'torch.{cls.__name__}' instances")


for _kind in (dtype, layout, memory_format, qscheme):  # there are no more than these
    _kind.__new__ = _refused  # type: ignore[method-assign]

float32: Final = DTYPES["float32"]
int64: Final = DTYPES["int64"]
strided: Final = LAYOUTS["strided"]
jagged: Final = LAYOUTS["jagged"]
sparse_coo: Final = LAYOUTS["sparse_coo"]
mkldnn: Final = LAYOUTS["_mkldnn"]
CPP_LAYOUTS: Final[dict[layout, str]] = {
    each: profile.active().argument_parser["layout_names"][repr(each)] for each in LAYOUTS.values()
}
"""What C++ prints of a layout."""
sparse_compressed: Final = {
    LAYOUTS[f"sparse_{name}"]: CPP_LAYOUTS[LAYOUTS[f"sparse_{name}"]]
    for name in ("csr", "csc", "bsr", "bsc")
}
"""The compressed layouts, by the names that C++ prints."""

MKLDNN_DTYPES: Final = frozenset(
    instance for instance in DTYPES.values() if repr(instance) in _FACTS["mkldnn_dtypes"]
)
