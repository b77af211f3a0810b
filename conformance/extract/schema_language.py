"""Section ``schema_language.json``: what the schema language of a release knows by name.

The parser (torch/csrc/jit/frontend/schema_type_parser.cpp) is asked about each candidate.
"""

import re
from typing import Any

import torch

from conformance.extract import require

C: Any = torch._C

CANDIDATES = [
    "Generator",
    "Dimname",
    "ScalarType",
    "Layout",
    "MemoryFormat",
    "Storage",
    "QScheme",
    "Quantizer",
    "ConstQuantizerPtr",
    "Device",
    "DeviceIndex",
    "Stream",
    "Scalar",
    "str",
    "float",
    "complex",
    "int",
    "SymInt",
    "SymFloat",
    "SymBool",
    "bool",
    "None",
    "NoneType",
    "Capsule",
    "Any",
    "AnyClassType",
    "AnyEnumType",
    "AnyListType",
    "AnyTupleType",
    "PyObject",
    "Function",
    "string",
    "double",
    "Number",
    "Complex",
    "Float",
    "Int",
    "Bool",
    "Event",
    "Symbol",
]


def extract() -> dict[str, Any]:
    """Names of types to the kind of each, names of dtypes, custom classes; and one oddity."""
    kinds = {name: base_type(name) for name in CANDIDATES}
    return {
        "base_types": {name: kind for name, kind in kinds.items() if kind},
        "dtypes": dtypes(),
        "classes": sorted(custom_classes()),
        # Whether ``a.b`` is one name of a type: only type variables are named so.
        "dotted_names": parse("f(a.b x) -> ()") is not None,
        "ends_at_zero": ends_at_zero(),
        "written_in_training": written_in_training(),
    }


def base_type(name: str) -> str | None:
    """The kind of the type of that name; None if it is not known."""
    schema = parse(f"f({name} x) -> ()", False)
    kind: str | None = schema and schema.arguments[0].real_type.kind()
    return kind


def dtypes() -> dict[str, int]:
    """Names that a ScalarType default may have, with their numbers."""
    names = sorted(name for name in dir(torch) if isinstance(getattr(torch, name), torch.dtype))
    schemas = {name: parse(f"f(ScalarType x={name}) -> ()") for name in names}
    return {name: s.arguments[0].default_value for name, s in schemas.items() if s}


def custom_classes() -> set[str]:
    """Classes that schemas may name."""
    texts = [str(s) for s in (*C._jit_get_custom_class_schemas(), *C._jit_get_all_schemas())]
    found = set(re.findall(r"__torch__\.torch\.classes\.\w+\.\w+", " ".join(texts)))
    return {name for name in found if parse(f"f({name} x) -> ()")}


def ends_at_zero() -> bool:
    """Whether the end of a text that ends in a number is said to be its beginning.

    The excerpt of an error there then shows the text after the place and not before it.
    """
    try:
        C.parse_schema("f(int x=1")
    except RuntimeError as error:
        found = str(error)
        require("but found 'eof' here:\nf(int x=1" in found, f"an unknown excerpt: {found!r}")
        return found.endswith("\n")
    raise AssertionError("half a schema was taken")


def written_in_training() -> dict[str, list[str]]:
    """Schemas to the arguments that are written to where a flag says so, but not annotated.

    torch has a list of them (getTrainingOps of torch/csrc/utils/schema_info.cpp).
    """
    found = {}
    for schema in C._jit_get_all_schemas():
        info = C._SchemaInfo(schema)
        names = [a.name for a in schema.arguments if info.is_mutable(a.name) and not is_write(a)]
        if names:
            found[str(schema)] = names
    return found


def is_write(argument: Any) -> bool:
    return argument.alias_info is not None and argument.alias_info.is_write


def parse(text: str, typevars: bool = True) -> Any:
    """The schema, or None."""
    try:
        return C.parse_schema(text, typevars)
    except RuntimeError:
        return None
