"""Schemas, their arguments, types and alias queries, as torch binds them.

Mirrors the registrations of ``torch/csrc/jit/python/init.cpp`` and ``python_ir.cpp``.  The logic is
in :mod:`mindtorch_v2.schema`; ``_C`` shows what :data:`EXPORTS` has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from mindtorch_v2 import profile
from mindtorch_v2.messages import internal_assert
from mindtorch_v2.pybind import cast as _cast
from mindtorch_v2.pybind.classes import bind_methods, make_enum, pybind11_type, tp_name
from mindtorch_v2.pybind.function import cpp_function
from mindtorch_v2.schema import function_schema, parse_schema, schema_info, types
from mindtorch_v2.schema.alias_info import AliasInfo
from mindtorch_v2.schema.values import Value

_functions: Final = profile.active().bindings["functions"]
_classes: Final = profile.active().bindings["classes"]

EXPORTS: Final[dict[str, Any]] = {}
"""Names of torch._C to what stands there, as far as this release has them."""


class Bound(metaclass=pybind11_type):
    """The base of bound classes: ``_cpp`` is what C++ keeps."""

    __slots__ = ("__weakref__", "_cpp")

    _cpp: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        cls = type(self)
        raise TypeError(f"{tp_name(cls)}: No constructor defined!")

    @classmethod
    def wrap(cls, value: Any) -> Any:
        """The Python side of a C++ value."""
        self = cls.__new__(cls)
        self._cpp = value
        return self


def _unwrap(self: Bound) -> Any:
    return self._cpp


def _bind(
    name: str,
    methods: Mapping[str, Callable[..., Any]],
    properties: Mapping[str, Callable[[Any], Any]],
    *,
    base: type[Bound] = Bound,
    loaders: Mapping[str, _cast.Loader] | None = None,
    setters: Mapping[str, Callable[[Any, Any], None]] | None = None,
    wrap: Callable[[Any], Any] | None = None,
) -> Any:
    """Make the class ``name`` with those methods and properties that the release has."""
    facts = _classes[name]
    module = facts["name"].rpartition(".")[0].replace("torch", "mindtorch_v2", 1)
    namespace = {"__slots__": (), "__module__": module, "__doc__": facts["doc"]}
    cls: Any = pybind11_type(name, (base,), namespace, cpp_name=f"torch._C.{name}")
    for spelled in (f"torch._C.{name}", f"c10::{name.lstrip('_')}"):
        _cast.register_class(spelled, cls, _unwrap, wrap or cls.wrap)
    bind_methods(cls, facts["methods"], methods, slot="_cpp", loaders=loaders)
    for property_name, read in properties.items():
        if property_name in facts["properties"]:
            write = (setters or {}).get(property_name)
            setattr(cls, property_name, property(_reader(read), write))
    EXPORTS[name] = cls
    return cls


def _reader(read: Callable[[Any], Any]) -> Callable[[Bound], Any]:
    return lambda self: read(self._cpp)


def _bind_static(cls: type, functions: Mapping[str, Callable[[], Any]]) -> None:
    for name, implementation in functions.items():
        doc = _classes[cls.__name__]["static_methods"].get(name)
        if doc is not None:
            made = cpp_function.documented(name, doc, implementation, cast=_wrap_type)
            setattr(cls, name, staticmethod(made))


# --- types ------------------------------------------------------------------------------------

_TYPE_CLASSES: Final[dict[str, Any]] = {}
"""Kind to the class that torch binds; a kind that has none shows as Type."""


def _wrap_type(value: types.Type) -> Any:
    return _TYPE_CLASSES.get(value.kind, _TYPE_CLASSES[""]).wrap(value)


def _load_type(value: object) -> types.Type | None:
    """A type, or None for a null pointer."""
    if value is None:
        return None
    if not isinstance(value, _TYPE_CLASSES[""]):
        raise _cast.NoMatch
    type_: types.Type = value._cpp
    return type_


def _load_types(value: object) -> list[types.Type | None]:
    """``std::vector<TypePtr>``: a sequence that is no text."""
    if not isinstance(value, (list, tuple)):
        raise _cast.NoMatch
    return [_load_type(item) for item in value]


def _requires_grad(value: types.Type) -> bool:
    return value.kind == "TensorType" or any(map(_requires_grad, value.contained))


def _of_tensor(function: str, answer: Any) -> Callable[[types.Type], Any]:
    """What a tensor type without shape answers; other types fail an assertion."""

    def read(value: types.Type) -> Any:
        if value.kind != "TensorType":
            raise RuntimeError(internal_assert("r", function))
        return answer

    return read


def _not_null(kind: str, type_: types.Type | None) -> types.Type:
    if type_ is None:
        raise RuntimeError(f"Can not create {kind} with None type")
    return type_


_type: Final = _bind(
    "Type",
    {
        "__repr__": lambda self: self.annotation,
        "str": types.printed,
        "kind": lambda self: self.kind,
        "containedTypes": lambda self: list(self.contained),
        "__eq__": lambda self, other: other is not None and types.equal(self, other),
        "isSubtypeOf": lambda self, other: other is not None and types.is_subtype(self, other),
        "is_interface_type": lambda self: False,
        "requires_grad": _requires_grad,
        "dim": _of_tensor("Type.expectRef", None),
        "undefined": _of_tensor("Type.expectRef", False),
        "scalarType": _of_tensor("Type.expectRef", None),
        "device": _of_tensor("Type.expectRef", None),
        "dtype": _of_tensor("Type.expectRef", None),
        "sizes": _of_tensor("Type.expect", None),
        "symbolic_sizes": _of_tensor("Type.expect", None),
        "varyingSizes": _of_tensor("Type.expect", None),
        "strides": _of_tensor("Type.expect", None),
    },
    {"annotation_str": lambda self: self.annotation},
    loaders={"arg0": _load_type},
    wrap=_wrap_type,
)
_TYPE_CLASSES[""] = _type

for _name in (
    "AnyType",
    "NumberType",
    "IntType",
    "SymIntType",
    "SymBoolType",
    "FloatType",
    "ComplexType",
    "TensorType",
    "BoolType",
    "StringType",
    "DeviceObjType",
    "_GeneratorType",
    "StreamObjType",
    "PyObjectType",
    "NoneType",
):
    if _name in _classes:
        _simple = getattr(types, _name.lstrip("_"))
        _TYPE_CLASSES[_simple.kind] = _bind(_name, {}, {}, base=_type)
        _bind_static(_TYPE_CLASSES[_simple.kind], {"get": _simple})


def _bind_container(
    name: str,
    make: Callable[..., types.Type],
    loader: _cast.Loader = _load_type,
    **methods: Callable[[Any], Any],
) -> Any:
    """A type made of others: constructed from them, and asked for them."""
    loaders = {"arg0": loader, "arg1": _load_type}
    cls = _bind(name, {"__init__": make, **methods}, {}, base=_type, loaders=loaders)
    _TYPE_CLASSES[name] = cls
    return cls


def _element(self: Any) -> Any:
    return self.contained[0]


def _make_union(members: Iterable[types.Type]) -> types.Type:
    listed = list(members)
    if not listed:
        condition = "!reference.empty()"
        where = internal_assert(condition, "UnionType.create")
        raise RuntimeError(f"{where}Cannot create an empty Union")
    return types.make_union(*listed)


_list: Final = _bind_container(
    "ListType",
    lambda element: types.ListType(_not_null("ListType", element)),
    getElementType=_element,
)
_bind_static(
    _list,
    {
        "ofInts": lambda: types.ListType(types.IntType()),
        "ofTensors": lambda: types.ListType(types.TensorType()),
        "ofFloats": lambda: types.ListType(types.FloatType()),
        "ofComplexDoubles": lambda: types.ListType(types.ComplexType()),
        "ofBools": lambda: types.ListType(types.BoolType()),
        "ofStrings": lambda: types.ListType(types.StringType()),
    },
)
_optional: Final = _bind_container("OptionalType", types.OptionalType, getElementType=_element)
_bind_static(_optional, {"ofTensor": lambda: types.OptionalType(types.TensorType())})
_bind_container(
    "TupleType",
    lambda elements: types.TupleType(*elements),
    _load_types,
    elements=lambda self: list(self.contained),
)
_bind_container("UnionType", _make_union, _load_types)
_bind_container(
    "DictType",
    types.DictType,
    getKeyType=lambda self: self.key,
    getValueType=lambda self: self.value,
)
for _name in ("RRefType", "FutureType", "AwaitType"):
    _bind_container(_name, getattr(types, _name), getElementType=_element)
_TYPE_CLASSES["ClassType"] = _bind(
    "ClassType",
    {
        "name": lambda self: self.text.rpartition(".")[2],
        "qualified_name": lambda self: self.text,
    },
    {},
    base=_type,
)


# --- alias info, arguments, schemas -----------------------------------------------------------


def _load_names(value: object) -> tuple[str, ...]:
    """``std::set<std::string>``, in C++'s order."""
    if not isinstance(value, (set, frozenset)):
        raise _cast.NoMatch
    return tuple(sorted((_cast.load_string(item) for item in value), reverse=True))


_alias_info: Final = _bind(
    "_AliasInfo",
    {"__init__": lambda is_write, before, after: AliasInfo(before, after, is_write)},
    {
        "is_write": lambda self: self.is_write,
        "before_set": lambda self: set(self.before),
        "after_set": lambda self: set(self.after),
    },
    loaders={"arg1": _load_names, "arg2": _load_names},
)


def _to_python(value: Value) -> Any:
    """A default as Python gets it: its own list, and text only if it is text."""
    if isinstance(value, str):
        return _decoded(value)
    return list(value) if isinstance(value, list) else value


def _decoded(text: str) -> str:
    """``text``, or UnicodeDecodeError where bytes stand in it that are no UTF-8."""
    return text if text.isascii() else text.encode("utf-8", "surrogateescape").decode("utf-8")


_argument: Final = _bind(
    "Argument",
    {"has_default_value": lambda self: self.has_default},
    {
        "name": lambda self: self.name,
        "type": lambda self: _wrap_type(self.type),
        "real_type": lambda self: _wrap_type(self.real_type),
        "N": lambda self: self.N,
        "default_value": lambda self: _to_python(self.default_value),
        "alias_info": lambda self: self.alias_info and _alias_info.wrap(self.alias_info),
        "is_write": lambda self: self.is_write,
        "is_out": lambda self: self.is_out,
        "kwarg_only": lambda self: self.kwarg_only,
    },
)


def _text(self: function_schema.FunctionSchema) -> str:
    return _decoded(str(self))


def _is_view_op(self: function_schema.FunctionSchema) -> bool:
    return any(a.alias_info is not None and not a.is_write for a in self.arguments)


_schema: Final = _bind(
    "FunctionSchema",
    {
        "is_backward_compatible_with": lambda self, old: self.is_backward_compatible_with(old),
        "check_forward_compatible_with": lambda self, old: self.check_forward_compatible_with(old),
        "_is_view_op": _is_view_op,
        "__eq__": function_schema.FunctionSchema.__eq__,
        "__hash__": lambda self: self.identity_hash(),
        "__str__": _text,
        "__repr__": _text,
    },
    {
        "name": lambda self: self.name,
        "overload_name": lambda self: self.overload_name,
        "arguments": lambda self: [_argument.wrap(argument) for argument in self.arguments],
        "returns": lambda self: [_argument.wrap(argument) for argument in self.returns],
        "is_mutable": lambda self: self.is_mutable,
    },
)

wrap_schema: Final[Callable[[function_schema.FunctionSchema], Any]] = _schema.wrap
"""The ``torch._C.FunctionSchema`` of a schema."""

EXPORTS["parse_schema"] = cpp_function.documented(
    "parse_schema",
    _functions["parse_schema"],
    lambda text, variables: wrap_schema(parse_schema(text, variables)),
)


# --- alias queries ----------------------------------------------------------------------------

_argument_type: Final = make_enum(
    "torch._C._SchemaArgType",
    "mindtorch_v2._C",
    _classes["_SchemaArgType"],
    _classes["_SchemaArgType"]["members"],
    _cast.unsigned_loader(32),
)
EXPORTS["_SchemaArgType"] = _argument_type


def _set_type(self: Bound, value: object) -> None:
    self._cpp.type = _cast.class_loader("torch._C._SchemaArgType")(value)


def _set_index(self: Bound, value: object) -> None:
    self._cpp.index = _cast.unsigned_loader(64)(value)


_bind(
    "_SchemaArgument",
    {"__init__": schema_info.SchemaArgument},
    {
        "type": lambda self: _argument_type.from_cpp(self.type),
        "index": lambda self: self.index,
    },
    loaders={"arg1": _cast.unsigned_loader(64)},
    setters={"type": _set_type, "index": _set_index},
)


def _load_dict(value: object) -> dict[Any, Any]:
    if not isinstance(value, dict):
        raise _cast.NoMatch
    return value


def _is_mutable(self: schema_info.SchemaInfo, which: Any = None) -> bool:
    if which is None:
        return self.is_mutable()
    return self.is_mutable_name(which) if isinstance(which, str) else self.is_mutable_at(which)


_info: Final = _bind(
    "_SchemaInfo",
    {
        "__init__": schema_info.SchemaInfo,
        "is_mutable": _is_mutable,
        "has_argument": schema_info.SchemaInfo.has_argument,
        "may_alias": schema_info.SchemaInfo.may_alias,
        "may_contain_alias": schema_info.SchemaInfo.may_contain_alias,
        "add_argument_value": schema_info.SchemaInfo.add_argument_value,
    },
    {},
)
bind_methods(
    _info,
    _classes["_SchemaInfo"]["methods"],
    {"add_argument_values": schema_info.SchemaInfo.add_argument_values},
    slot="_cpp",
    loaders={"arg0": _load_dict},
)
