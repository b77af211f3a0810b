"""Classes of tensors that are called, asked and inherited from; properties read, set and deleted.

Legacy constructors make tensors of a size, whose elements are whatever was in memory before, so
they are called inside ``bound``, which stops them, except where they are given elements.

Left out are types on accelerators, which say what the machine has; names for dimensions, whose
first use is warned of; and the deletion of ``names`` and ``grad_dtype``, which crashes torch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Final

from conformance.area import Text
from conformance.cases.python_drawn import MORE_RECEIVERS, Draw, with_subclasses
from conformance.cases.python_values import ACCELERATORS, POOL, RECEIVERS
from conformance.cases.turn import Turn
from conformance.cases.values import with_classes
from conformance.names import SETTABLE
from conformance.vocabulary import for_profile
from mindtorch_v2.profile import Profile

DENSE: Final = tuple(
    f"xp.{name}Tensor"
    for name in "Float Double Half BFloat16 Byte Char Short Int Long Bool".split()  # noqa: SIM905
)
SPARSE: Final = tuple(name.replace("xp.", "xp.sparse.") for name in DENSE[:-1])
TYPES: Final = (*DENSE, *SPARSE)

SUB: Final = "class Sub(xp.Tensor):\n    pass\n"

WHOLE_POOL: Final = ("xp.Tensor", "xp.FloatTensor", "xp.sparse.FloatTensor")
"""Classes that are given every value there is; the others are given some in turn."""

TENSORS: Final = (*RECEIVERS, *MORE_RECEIVERS)

SHAPES: Final = ("", "2", "2, 3", "[2, 3]", "(2,)", "xp.Size([2])", "0", "-1", "2, -1", "2**63")

CALLS: Final = (
    'device="meta"',
    'device="cpu"',
    '2, device="cpu"',
    '[2], device="meta"',
    'xp.ones(2), device="cpu"',
    "size=[2]",
    "data=[2]",
    "other=xp.ones(2)",
    "storage=xp.ones(2).untyped_storage()",
    "nosuch=1",
    "2, nosuch=1",
    "dtype=xp.float32",
    "2, dtype=xp.int8",
    "2, requires_grad=True",
    "xp.ones(2), xp.ones(2)",
    "xp.ones(2), 2",
    "[1], 2",
    '1, "x"',
    "xp.tensor([[0]]), xp.ones(1)",
    "xp.tensor([[0]]), xp.ones(1), [2]",
    "xp.tensor([[0]]), xp.ones(1), xp.Size([2])",
    'xp.tensor([[0]]), xp.ones(1), [2], device="meta"',
    'xp.tensor([[0]]), xp.ones(1), "x"',
    "xp.tensor([[0]]), 1",
    "indices=xp.tensor([[0]]), values=xp.ones(1)",
    "*[2, 3]",
    '**{"device": "cpu"}',
    'cdata="x"',
    "cdata=None, device=None",
)
"""Arguments of a class."""

ELEMENTS: Final = (
    "[1, 0, 2]",
    "[[1, 2], [3, 4]]",
    "[[]]",
    "[1.5, 2]",
    "[True]",
    "range(3)",
    "(1, 2)",
    "np.array([1, 2])",
    "[xp.tensor(1), 2]",
    '["x"]',
    "[[1], [2, 3]]",
    "[None]",
    "[1j]",
)
"""What a tensor is made of, element by element."""

ASKED: Final = (
    *("dtype", "layout", "is_cuda", "is_xpu", "is_sparse", "is_sparse_csr", "nosuch", "T"),
    *("__name__", "__qualname__", "__module__", "__doc__"),
)

STATEMENTS: Final = (
    "class A(xp.FloatTensor):\n    pass",
    "class A(xp.sparse.FloatTensor):\n    pass",
    "class A(xp.Tensor, xp.FloatTensor):\n    pass",
    f"{SUB}class A(Sub, xp.LongTensor):\n    pass",
    "class A(xp.Tensor):\n    def __init__(self, a, b):\n        pass\nA([1.5], 2)",
    "class A(xp.Tensor):\n    def __init__(self, a):\n        pass\nA([1.5])",
    *(
        f"class A(xp.Tensor):\n    def __new__(cls, *a):\n        return super().__new__({args})\n"
        "A([1.5])"
        for args in ("cls, *a", "", "int", "1", "cls", "object, *a", "xp._C.TensorBase", "cls, 'x'")
    ),
    "xp._C.TensorBase is xp._C._TensorBase",
    "xp.FloatTensor is xp.FloatTensor",
    "xp.FloatTensor == xp.DoubleTensor",
    "xp.FloatTensor[1]",
    "xp.FloatTensor + 1",
    "xp.FloatTensor([1.0])()",
    "issubclass(xp.FloatTensor, xp.Tensor)",
    "issubclass(xp.Tensor, xp.FloatTensor)",
    "isinstance(xp.FloatTensor, xp.Tensor)",
    "isinstance(xp.ones(2), (int, xp.FloatTensor))",
    "isinstance(1, xp.FloatTensor)",
    "isinstance(xp.FloatTensor, xp.FloatTensor)",
    "callable(xp.FloatTensor)",
    "type(xp.FloatTensor)",
    "type(xp.sparse.FloatTensor).__name__",
    "bound(xp.add, xp.FloatTensor, 1)",
    "bound(xp.zeros, 2, dtype=xp.FloatTensor)",
    "bound(xp.zeros, xp.FloatTensor)",
    "bound(xp.FloatTensor.add, xp.ones(2), 1)",
    "bound(xp.FloatTensor.add, 1, 1)",
    "bound(xp.FloatTensor.t, xp.ones(2), 1)",
    "bound(xp.LongTensor.size, xp.ones(2))",
)


def texts(profile: Profile) -> Iterator[Text]:
    turn = Turn()
    yield from _constructors(turn)
    yield from _types()
    for name in properties(profile):
        for text in _property(name, turn):
            yield f"Tensor.{name}", text


def drawn(profile: Profile) -> Draw:
    """Any class called with any values; any property of any tensor read or set."""
    names = properties(profile)
    return lambda random: _drawn(random, names)


def _drawn(random: Random, names: Sequence[str]) -> Text:
    if random.random() < 0.5:
        path = random.choice(("xp.Tensor", "Sub", *TYPES, "xp.Tensor.new"))
        arguments = random.choices((*POOL, *TENSORS), k=random.randint(0, 3))
        if path == "xp.Tensor.new":
            arguments.insert(0, random.choice(TENSORS))
        if random.random() < 0.3:
            arguments.append(f"device={random.choice(_DEVICES)}")
        before = SUB if path == "Sub" else ""
        return path.removeprefix("xp."), before + _call(path, *arguments)
    name, tensor = random.choice(names), random.choice(TENSORS)
    if name not in SETTABLE or name == "names" or random.random() < 0.2:
        return f"Tensor.{name}", _doing(tensor, f"bound(lambda: x.{name})")
    after = f", x.{name}" if name in _SEEN_AFTER else ""
    return f"Tensor.{name}", _setting(tensor, name, random.choice((*POOL, *TENSORS)), after)


# --- classes ----------------------------------------------------------------------------------


def _constructors(turn: Turn) -> Iterator[Text]:
    for path in ("xp.Tensor", "xp._C.TensorBase", "xp._C._TensorBase", "Sub", *TYPES):
        target = path.removeprefix("xp.")
        before = SUB if path == "Sub" else ""
        for arguments in (*SHAPES, *CALLS):
            yield target, f"{before}bound({path}{', ' if arguments else ''}{arguments})"
        for value in POOL if path in WHOLE_POOL else (turn.of(POOL) for _ in range(16)):
            yield target, before + _call(path, value)
        for _ in range(16):
            yield target, before + _call(path, turn.of(POOL), turn.of(POOL))
            yield target, before + _call(path, turn.of(TENSORS), turn.of(POOL), turn.of(POOL))
            yield target, before + _call(path, "[2]", f"device={turn.of(_DEVICES)}")
        for tensor in TENSORS:
            yield target, before + _call(path, tensor)
        if path not in SPARSE and "_C" not in path:
            for elements in ELEMENTS:
                yield target, f"{before}{path}({elements})"
    for tensor in TENSORS:
        for arguments in (*SHAPES, *CALLS):
            text = f"bound({tensor}.new{', ' if arguments else ''}{arguments})"
            yield "Tensor.new", with_subclasses(text)


_DEVICES: Final = tuple(value for value in POOL if not ACCELERATORS.match(value))


def _call(path: str, *arguments: str) -> str:
    text = f"bound({', '.join([path, *arguments])})"
    return with_subclasses(with_classes(text, arguments))


def _types() -> Iterator[Text]:
    for path in TYPES:
        target = path.removeprefix("xp.")
        yield target, path
        yield target, f"str({path})"
        for name in ASKED:
            yield target, f"{path}.{name}"
        for tensor in TENSORS:
            yield target, with_subclasses(f"isinstance({tensor}, {path})")
        yield "Tensor.type", f"x = xp.ones(2)\nbound(lambda: x.type({path}))"
        yield (
            "Tensor.type",
            f"x = xp.ones(2)\nbound(lambda: x.type(dtype={path}, non_blocking=True))",
        )
        yield "Tensor.type", f'x = xp.ones(2)\nbound(lambda: x.type("torch.{target}"))'
    for statement in STATEMENTS:
        yield "FloatTensor", statement


# --- properties -------------------------------------------------------------------------------

_ADDRESSES: Final = ("_cdata",)
_CRASHES: Final = ("names", "grad_dtype")
"""What crashes when it is deleted."""
_SEEN_AFTER: Final = ("grad", "_grad", "requires_grad", "grad_dtype", "volatile")
"""What is read again after it was set."""
_NAMES: Final = ("No", "[N", "[T", "()", "[]", '["', '("', "Ro", "Pa", "xp.Size([])")
"""What values begin with that may be names."""


def properties(profile: Profile) -> list[str]:
    """The properties of tensors that a case may say, as the release has them."""
    kinds = profile.signatures["names"]["torch._C.TensorBase"]
    attributes = for_profile(profile.name).attributes
    return [
        name
        for name, kind in kinds.items()
        if kind == "getset_descriptor" and name in attributes and name not in _ADDRESSES
    ]


def _property(name: str, turn: Turn) -> Iterator[str]:
    yield f"xp.Tensor.{name}"
    yield f"xp._C.TensorBase.{name}"
    for tensor in (*TENSORS, "xp.ones(2).as_subclass(Asked)"):
        yield _doing(tensor, f"bound(lambda: x.{name})")
    if name not in SETTABLE:
        return
    after = f", x.{name}" if name in _SEEN_AFTER else ""
    for value in POOL:
        if name != "names" or not value.startswith(_NAMES):
            yield _setting(turn.of(TENSORS), name, value, after)
    for tensor in TENSORS:
        for value in ("True", "False", "1", "xp.ones(2)", "x", "xp.float16", tensor):
            yield _setting(tensor, name, value, after)
        if name != "names":
            yield _setting(tensor, name, "None", after)
        if name not in _CRASHES:
            yield _doing(tensor, "def f():", f"    del x.{name}", f"bound(f){after}")


def _setting(tensor: str, name: str, value: str, after: str) -> str:
    lines = [f"v = {value}", "def f():", f"    x.{name} = v", f"bound(f){after}"]
    return _doing(tensor, *lines, values=(value,))


def _doing(tensor: str, *lines: str, values: Sequence[str] = ()) -> str:
    text = "\n".join([f"x = {tensor}", *lines])
    return with_subclasses(with_classes(text, [tensor, *values]))
