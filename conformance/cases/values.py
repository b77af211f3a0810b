"""Values of all kinds, right and wrong, that areas of calls give for arguments.

Everything here is source text.  A value may be an instance of one of `CLASSES`; the text of its
case then begins with that class.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

TENSOR: Final = 'xp.empty(2, device="meta")'


def _class(head: str, **methods: str) -> str:
    """A class statement whose methods return what an expression says."""
    lines = [f"class {head}:"]
    for name, body in methods.items():
        parameters, _, value = body.partition(": ")
        lines += [f"    def __{name}__({parameters}):", f"        {value}"]
    return "\n".join([*lines, *([] if methods else ["    pass"])])


def overriding(name: str, answer: str) -> str:
    """A class whose instances take the place of torch's functions."""
    return (
        f"class {name}:\n    @classmethod\n"
        f"    def __torch_function__(cls, func, types, args=(), kwargs=None):\n"
        f"        return {answer}"
    )


def _operators(answer: str) -> dict[str, str]:
    """Methods for all operators of two operands; the answer may hold the operator's name."""
    names = (*_ARITHMETIC, *(f"r{name}" for name in _ARITHMETIC), *_COMPARISONS)
    return {name: f"self, other: return {answer.format(name)}" for name in names}


_ARITHMETIC: Final = (
    *("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "divmod", "pow"),
    *("lshift", "rshift", "and", "or", "xor"),
)
_COMPARISONS: Final = ("eq", "ne", "lt", "le", "gt", "ge")
_FAILS: Final = "raise ValueError('no')"
_CONVERSIONS: Final = ("index", "int", "float", "complex", "bool", "len")

CLASSES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "Index": _class("Index", index="self: return 3"),
        "Int": _class("Int", int="self: return 2"),
        "Float": _class("Float", float="self: return 2.5"),
        "Complex": _class("Complex", complex="self: return 1 + 2j"),
        "Truth": _class("Truth", bool="self: return False"),
        "Length": _class("Length", len="self: return 2"),
        "Items": _class("Items", len="self: return 2", getitem="self, at: return [1, 2][at]"),
        "Unsized": _class("Unsized", getitem="self, at: return [1, 2][at]"),
        "Iterable": _class("Iterable", iter="self: return iter([1, 2])"),
        "Refusing": _class(
            "Refusing",
            **dict.fromkeys(_CONVERSIONS, f"self: {_FAILS}"),
        ),
        "Lying": _class(
            "Lying",
            **dict.fromkeys((*_CONVERSIONS, "iter"), "self: return 'no'"),
        ),
        "Unprintable": _class("Unprintable", repr=f"self: {_FAILS}"),
        "Misprinted": _class("Misprinted", repr="self: return 5"),
        "Named": _class("Named", repr="self: return '\\ud800'", str="self: return 'a\\0b'"),
        "Text": _class("Text(str)"),
        "Bytes": _class("Bytes(bytes)"),
        "Number": _class("Number(int)", repr="self: return 'Number'"),
        "Real": _class("Real(float)"),
        "Imaginary": _class("Imaginary(complex)"),
        "Row": _class("Row(list)", iter="self: return iter([7])"),
        "Pair": _class("Pair(tuple)", len="self: return 1"),
        "Long": _class("Long(tuple)", len="self: return 3"),
        "Entries": _class("Entries(dict)"),
        "Own": _class("Own", eq=f"self, other: {_FAILS}", hash="self: return 1"),
        "Overriding": overriding("Overriding", "func.__name__, args, kwargs or {}, types"),
        "Declining": overriding("Declining", "NotImplemented"),
        "Plain": _class(
            "Plain", torch_function="self, func, types, args=(), kwargs=None: return func.__name__"
        ),
        "Answering": _class("Answering", **_operators("'{}', other")),
        "Abstaining": _class("Abstaining", **_operators("NotImplemented")),
    }
)
"""Classes by name, as statements.

None raises where torch would show the exception: it shows with it the interpreter's stack, of which
this harness is a part.
"""

_NAMES: Final = re.compile(rf"\b(?:{'|'.join(CLASSES)})\b(?=\()")


def with_classes(call: str, values: Sequence[str]) -> str:
    """``call`` after the classes whose instances are among the values."""
    found = dict.fromkeys(name for value in values for name in _NAMES.findall(value))
    return "\n".join([*(CLASSES[name] for name in found), call])


NUMBERS: Final = (
    "True",
    "False",
    "0",
    "1",
    "-1",
    "2**31",
    "2**63 - 1",
    "2**63",
    "-2**63 - 1",
    "2**64 - 1",
    "2**70",
    "10**400",
    "1.5",
    "-0.0",
    "1e308",
    "5e-324",
    'float("nan")',
    'float("inf")',
    'float("-inf")',
    "1j",
    'complex("nan")',
    "-0.0 - 0j",
    "Number(2)",
    "Real(0.5)",
    "Imaginary(1, 2)",
)
NUMPY_NUMBERS: Final = (
    "np.bool_(True)",
    "np.bool_(False)",
    "np.int8(-3)",
    "np.int32(2)",
    "np.int64(2**62)",
    "np.uint8(200)",
    "np.uint64(2**64 - 1)",
    "np.float16(0.1)",
    "np.float32(0.1)",
    "np.float64(0.1)",
    'np.float32("nan")',
    'np.float64("-inf")',
    "np.complex64(1 + 2j)",
    "np.complex128(1j)",
)
SYMBOLIC: Final = (
    "xp._C._get_nested_int(5, 1)",
    "xp._C._get_nested_int(0, 3)",
    "xp.SymInt(5)",
    "xp.SymFloat(1.5)",
    "xp.SymBool(True)",
)
_STRINGS: Final = (
    '""',
    '"x"',
    '"1"',
    '"cpu"',
    '"cpu:1"',
    '"cuda"',
    '"meta:0"',
    '"mean"',
    '"größe"',
    r'"\ud800"',
    r'"a\0b"',
    r'"a\nb\t\'"',
    "'\"'",
    'b"cpu"',
    'b""',
    r'b"\xff"',
    'bytearray(b"ab")',
    'Text("cpu")',
    'Bytes(b"cpu")',
    'np.str_("cpu")',
)
_SEQUENCES: Final = (
    "[]",
    "()",
    "[0]",
    "[1, 2]",
    "(1, True)",
    "[True, False]",
    "[1.5, 2]",
    "[1j]",
    "[None]",
    '["x"]',
    '["a", b"b"]',
    "[2**63]",
    "[-1, 2**70]",
    "[[1], [2]]",
    "[(1, 2), [3]]",
    "[[]]",
    "range(2)",
    "range(0)",
    "Row([1, 2])",
    "Pair((1, 2))",
    "Pair((1, 2, 3))",
    "Long([1])",
    "[Index(), 1]",
    "[Refusing()]",
    "[Number(1)]",
    "[Real(1)]",
    '[Text("x")]',
    "[np.int64(1), 2]",
    "(np.float32(0.5),)",
    "[np.bool_(True)]",
    "[np.complex64(1)]",
    "np.array([1, 2])",
    "np.array([[1.5]])",
    "np.array([True])",
    "np.array([])",
    "np.array(2)",
    "np.array(1.5)",
    "np.array(None)",
    "xp.Size([1, 2])",
    "xp.Size([])",
    "[xp.Size([3])]",
    "[1, xp._C._get_nested_int(5, 1)]",
    "[xp.SymInt(5)]",
    "[xp.float32]",
    '[xp.device("cpu")]',
    "[xp.Generator()]",
    "[...]",
    "[object()]",
    "[Unprintable()]",
    "[Misprinted(), 1]",
)
_MAPPINGS: Final = (
    "{}",
    '{"a": 1}',
    '{"a": "b", "c": "d"}',
    '{"a": [1, 2.5]}',
    '{"a": None}',
    '{"a": {"b": 1}}',
    "{1: 1.5}",
    "{None: 1}",
    "{(1, 2): 3}",
    '{b"a": "b"}',
    "{np.int64(1): 2}",
    'Entries({"a": "b"})',
    '[("a", "b")]',
    '{"a": "b"}.items()',
)
_COLLECTIONS: Final = (
    "{1}",
    "frozenset((0, 1))",
    "{1: 2}.keys()",
    "{1: 2}.values()",
    "(i for i in (0, 1))",
    "map(int, (0, 1))",
    "iter([1])",
    "zip([1], [2])",
    "enumerate([1])",
    "reversed([1, 2])",
    "Items()",
    "Unsized()",
    "Iterable()",
)
_OBJECTS: Final = (
    "...",
    "NotImplemented",
    "slice(0, 1)",
    "int",
    "len",
    "object()",
    "(lambda: 0)",
    'ValueError("x")',
    "Index()",
    "Int()",
    "Float()",
    "Complex()",
    "Truth()",
    "Length()",
    "Refusing()",
    "Lying()",
    "Unprintable()",
    "Misprinted()",
    "Named()",
    "Own()",
)
_TORCHS: Final = (
    "xp.float32",
    "xp.int64",
    "xp.quint8",
    "xp.strided",
    "xp.sparse_coo",
    "xp.contiguous_format",
    "xp.channels_last",
    "xp.per_tensor_affine",
    "xp.per_channel_symmetric",
    'xp.device("cpu")',
    'xp.device("meta")',
    'xp.device("cuda:1")',
    "xp.Generator()",
    'xp.Stream("cpu")',
    "xp.UntypedStorage(0)",
    "xp.tensor([1, 2], dtype=xp.uint8).untyped_storage()",
    "xp.tensor([1.5]).storage()",
    "[xp.UntypedStorage(0)]",
    "xp.dtype",
    "xp.ops.aten.add.Tensor",
    "xp.DispatchKey.CPU",
    'xp._C.parse_schema("f(int x) -> ()")',
    'xp._C.DispatchKeySet("CPU")',
)
_SINGLE: Final = (
    "xp.tensor(7)",
    "xp.tensor(-2.5)",
    "xp.tensor(False)",
    "xp.tensor(1.5, requires_grad=True)",
    "xp.tensor(2, dtype=xp.uint8)",
    "xp.tensor(1 - 1j)",
)
WITHOUT_DIMENSIONS: Final = (
    *_SINGLE,
    'xp.empty((), dtype=xp.int64, device="meta")',
    'xp.empty((), dtype=xp.float64, device="meta")',
    'xp.empty((), device="meta", requires_grad=True)',
)
"""Tensors that Python refuses to iterate, and says in which of torch's files."""

_ON_CPU: Final = (
    "xp.tensor([1])",
    "xp.tensor([[2.5]])",
    "xp.tensor([True])",
    "xp.tensor([1, 2])",
    "xp.tensor([0.1, -1.5])",
    "xp.tensor([])",
    "xp.tensor([1j])",
    "xp.tensor([3], dtype=xp.uint8)",
    "xp.tensor([-3], dtype=xp.int8)",
    "xp.tensor([300], dtype=xp.int16)",
    "xp.tensor([2**40], dtype=xp.int32)",
    "xp.tensor([-1], dtype=xp.int64)",
    "xp.tensor([0.1], dtype=xp.float16)",
    "xp.tensor([0.1], dtype=xp.bfloat16)",
    "xp.tensor([0.1], dtype=xp.float64)",
    "xp.tensor([1 + 2j], dtype=xp.complex128)",
    'xp.tensor([float("nan")])',
    'xp.tensor([float("inf")], dtype=xp.float64)',
    "[xp.tensor([1])]",
    "[xp.tensor([2.5])]",
    "[xp.tensor(3)]",
    "[xp.tensor(True)]",
    "[xp.tensor(2.5), 1]",
    "[1, xp.tensor([2])]",
    '{"a": xp.tensor([1])}',
)
"""Tensors with values; most hold one, and count as a number."""

TENSORS: Final = (
    TENSOR,
    *WITHOUT_DIMENSIONS,
    *_ON_CPU,
    'xp.empty(0, dtype=xp.int64, device="meta")',
    'xp.empty((1, 2), dtype=xp.bool, device="meta")',
    f"[{TENSOR}]",
    f"({TENSOR}, None)",
    f"[{TENSOR}, 1]",
    f"[[{TENSOR}]]",
    f'{{"a": {TENSOR}}}',
)

POOL: Final = (
    "None",
    *NUMBERS,
    *NUMPY_NUMBERS,
    *SYMBOLIC,
    *_STRINGS,
    *_SEQUENCES,
    *_MAPPINGS,
    *_COLLECTIONS,
    *_OBJECTS,
    *_TORCHS,
    *TENSORS,
)

ONCE: Final = frozenset(
    (
        "(i for i in (0, 1))",
        "map(int, (0, 1))",
        "iter([1])",
        "zip([1], [2])",
        "enumerate([1])",
        "reversed([1, 2])",
    )
)
"""What the first that looks at it uses up."""

NO_CONSTANTS: Final = frozenset(
    (
        "-1",
        "2**31",
        "2**63 - 1",
        "np.int8(-3)",
        "np.int64(2**62)",
        "np.uint8(200)",
        "xp.DispatchKey.CPU",
        *_SINGLE,
        *_ON_CPU,
    )
)
"""Numbers that C++ takes for constants, and then has no name for."""

PLAIN: Final = (
    "None",
    "True",
    "0",
    "2**63",
    "1.5",
    "1j",
    '"x"',
    'b"cpu"',
    "[0]",
    "[1, 2]",
    "[1.5, 2]",
    "[]",
    "{}",
    "(1, True)",
    '{"a": 1}',
    '{"a": "b", "c": "d"}',
    '{"a": [1, 2.5]}',
    "{1: 1.5}",
    "[None]",
    "[(1, 2), [3]]",
    "[[1], [2]]",
    "np.float64(0.1)",
    "Number(2)",
    "Real(0.5)",
    "xp.Size([1, 2])",
    "xp.float32",
    "xp.strided",
    "xp.per_tensor_affine",
    'xp.device("cuda:1")',
    "xp.Generator()",
    'xp.Stream("cpu")',
    TENSOR,
    f"[{TENSOR}, 1]",
    f'{{"a": {TENSOR}}}',
)
"""For ``Any``, torch compiles the class of a value that it does not know; these it knows."""
