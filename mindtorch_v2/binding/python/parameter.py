"""One parameter of a Python signature: ``Tensor? weight=None``, and what it takes.

Mirrors ``FunctionParameter`` in ``torch/csrc/utils/python_arg_parser.cpp``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from mindtorch_v2.binding.python import checks
from mindtorch_v2.torch_function import Overloaded, append_overloaded

_NUMPY_NAMES: Final = {
    "dim": ("axis",),
    "keepdim": ("keepdims",),
    "input": ("x", "a", "x1"),
    "other": ("x2",),
}
"""Other keywords that a parameter answers to, since NumPy's functions have them."""


class ParameterType:
    """What a type of the signature language is called in messages, and which objects it takes.

    There is one object of each.  ``takes`` is None for those that :class:`Parameter` looks at
    itself.
    """

    __slots__ = ("name", "takes")

    def __init__(self, name: str | None, takes: Callable[[Any], bool] | None) -> None:
        self.name, self.takes = name, takes

    @property
    def shown(self) -> str:
        """Its name; RuntimeError for the type that torch's messages have forgotten."""
        if self.name is None:
            raise RuntimeError("unknown parameter type")
        return self.name


TENSOR: Final = ParameterType("Tensor", None)
TENSOR_LIST: Final = ParameterType("tuple of Tensors", None)
SCALAR: Final = ParameterType("Number", checks.is_scalar)
COMPLEX: Final = ParameterType("complex", checks.is_complex)
DOUBLE: Final = ParameterType("float", checks.is_double)
INT64: Final = ParameterType("int", checks.is_int)
DEVICE_INDEX: Final = ParameterType("int", checks.is_device_index)
SYM_INT: Final = ParameterType("int", checks.is_symbolic_int)
INT_LIST: Final = ParameterType("tuple of ints", None)
SYM_INT_LIST: Final = ParameterType("tuple of ints", None)
FLOAT_LIST: Final = ParameterType("tuple of floats", None)
SCALAR_LIST: Final = ParameterType("tuple of Scalars", None)
DIMNAME: Final = ParameterType("name", checks.is_dimname)
DIMNAME_LIST: Final = ParameterType("tuple of names", None)
GENERATOR: Final = ParameterType("torch.Generator", checks.is_generator)
BOOL: Final = ParameterType("bool", checks.is_bool)
STORAGE: Final = ParameterType("torch.Storage", checks.is_storage)
PYOBJECT: Final = ParameterType("object", checks.is_anything)
SCALARTYPE: Final = ParameterType("torch.dtype", checks.is_dtype)
LAYOUT: Final = ParameterType("torch.layout", checks.is_layout)
MEMORY_FORMAT: Final = ParameterType("torch.memory_format", checks.is_memory_format)
QSCHEME: Final = ParameterType("torch.qscheme", checks.is_qscheme)
DEVICE: Final = ParameterType("torch.device", checks.is_device)
STRING: Final = ParameterType("str", checks.is_string)
STREAM: Final = ParameterType(None, checks.is_stream)
DISPATCH_KEY_SET: Final = ParameterType("DispatchKeySet", checks.is_keyset)

_TYPES: Final = {
    "Tensor": TENSOR,
    "Scalar": SCALAR,
    "int64_t": INT64,
    "SymInt": SYM_INT,
    "double": DOUBLE,
    "complex": COMPLEX,
    "TensorList": TENSOR_LIST,
    "c10::List<::std::optional<Tensor>>": TENSOR_LIST,
    "c10::List<c10::optional<Tensor>>": TENSOR_LIST,
    "IntArrayRef": INT_LIST,
    "SymIntArrayRef": SYM_INT_LIST,
    "ArrayRef<double>": FLOAT_LIST,
    "Generator": GENERATOR,
    "bool": BOOL,
    "Storage": STORAGE,
    "PyObject*": PYOBJECT,
    "ScalarType": SCALARTYPE,
    "Layout": LAYOUT,
    "MemoryFormat": MEMORY_FORMAT,
    "QScheme": QSCHEME,
    "Device": DEVICE,
    "DeviceIndex": DEVICE_INDEX,
    "Stream": STREAM,
    "std::string": STRING,
    "c10::string_view": STRING,
    "std::string_view": STRING,
    "Dimname": DIMNAME,
    "DimnameList": DIMNAME_LIST,
    "ScalarList": SCALAR_LIST,
    "DispatchKeySet": DISPATCH_KEY_SET,
}
INT_LISTS: Final = (INT_LIST, SYM_INT_LIST)


class Parameter:
    """A formal parameter.  ``length`` is that of a list which one element fills, 0 if none."""

    __slots__ = (
        *("type", "name", "length", "default", "keyword_only", "numbers_as_tensors"),
        *("nullable", "allows_none", "optional", "names", "_refuses_text"),
    )

    def __init__(
        self,
        type: ParameterType,
        name: str,
        length: int,
        nullable: bool,
        default: str | None,
        keyword_only: bool,
        numbers_as_tensors: bool,
    ) -> None:
        self.type, self.name, self.length = type, name, length
        #: As the signature writes it; None for a parameter that must be given.
        self.default = default
        self.keyword_only = keyword_only
        self.numbers_as_tensors = numbers_as_tensors
        #: Whether its type says that there may be no value, ``int?``.
        self.nullable = nullable
        self.allows_none = nullable or default == "None"
        self.optional = default is not None
        #: Whether it has refused a string, as it refuses any other then.
        self._refuses_text = False
        #: The keywords that it answers to.
        self.names = (name, *_NUMPY_NAMES.get(name, ()))

    def __str__(self) -> str:
        """As a message lists it."""
        default = "" if self.default is None else f" = {self.default}"
        return f"{self.type.shown} {self.name}{default}"

    def takes(self, value: Any, overloaded: Overloaded, position: int) -> bool:
        """Whether ``value`` is passed on; it joins ``overloaded`` if it overrides functions.

        TypeError for a list of tensors, the ``position``-th argument, that has something else.
        """
        is_text = type(value) is str
        if is_text and self._refuses_text:
            return False
        if self._suits(value, overloaded, position):
            return True
        if is_text:
            self._refuses_text = True
            return False
        is_asked = checks.OVERRIDES_ANYWHERE and not checks.is_tensor(value)
        if not is_asked and not (checks.OVERRIDES_DTYPES and self.type is SCALARTYPE):
            return False
        if checks.has_torch_function(value):
            append_overloaded(overloaded, value)
            return True
        return False

    def _suits(self, value: Any, overloaded: Overloaded, position: int) -> bool:
        kind = self.type
        if kind.takes is not None:
            return kind.takes(value)
        if kind is TENSOR:
            if checks.is_tensor_like(value, overloaded):
                return True
            return self.numbers_as_tensors and checks.is_number(value)
        if kind in INT_LISTS:
            single = self.length > 0 and checks.is_symbolic_int(value)
            return checks.is_int_list(value, overloaded) or single
        if kind is TENSOR_LIST:
            return checks.is_tensor_list(value, overloaded, position)
        if kind is FLOAT_LIST:
            return checks.is_float_list(value, overloaded)
        if kind is SCALAR_LIST:
            return checks.is_scalar_list(value, overloaded)
        assert kind is DIMNAME_LIST
        return checks.is_dimname_list(value) or (self.length == 1 and checks.is_dimname(value))


def parse_parameter(text: str, *, keyword_only: bool, numbers_as_tensors: bool) -> Parameter:
    """The parameter that ``text`` declares, such as ``IntArrayRef[1]? dim=None``."""
    declared, _, rest = text.partition(" ")
    name, equals, default = rest.partition("=")
    declared, question, _ = declared.partition("?")
    kind, _, length = declared.partition("[")
    return Parameter(
        type=_TYPES[kind],
        name=name,
        length=int(length.removesuffix("]") or 0),
        nullable=bool(question),
        default=default if equals else None,
        keyword_only=keyword_only,
        numbers_as_tensors=numbers_as_tensors,
    )
