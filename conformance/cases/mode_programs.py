"""The programs of area ``modes``: what they define, and the lines that use it.

A program defines an operator of its own, modes and subclasses that log what they see, and tries
one step after the other; the log is its value.  What an override answers is a *body*, the last
line of its method.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import Final

PRELUDE: Final = """\
C = xp._C
P = xp.utils._python_dispatch
O = xp.overrides
log = []
x, out = xp.ones(2), xp.zeros(3)
def tls():
    return (C._dispatch_tls_local_include_set(), C._dispatch_tls_local_exclude_set())
def state():
    log.append((tls(), C._len_torch_dispatch_stack(), C._len_torch_function_stack()))
    log.append((C._is_torch_function_enabled(), C._is_torch_function_mode_enabled()))
def show(value):
    if isinstance(value, (list, tuple)): return [show(each) for each in value]
    if not isinstance(value, xp.Tensor): return repr(value)
    return ("a tensor", value is x, value is out, str(type(value)), C._dispatch_keys(value))
def fresh(size=4):
    with C._DisableTorchDispatch():
        with C.DisableTorchFunction(): return xp.zeros(size)
def named(values):
    return [value.__name__ for value in values]
def step(run):
    try: log.append(("returned", show(run())))
    except Exception as error: log.append(("raised", type(error).__name__, str(error)))"""

OPERATORS: Final = """\
m = C._dispatch_library("FRAGMENT", {namespace!r}, "")
m.def_("one(Tensor x, int y=1, *, int z=2) -> Tensor")
m.def_("many(Tensor[] x, Tensor? y=None) -> Tensor")
m.def_("none(int y=1) -> Tensor")
m.def_("nothing(Tensor x) -> ()")
m.def_("two(Tensor x) -> (Tensor, Tensor)")
m.def_("change(Tensor(a!) x) -> Tensor(a!)")
m.def_("number(Tensor x) -> int")
m.def_("one.other(Tensor x, Tensor y) -> Tensor")
i = C._dispatch_library("IMPL", {namespace!r}, "")
def kernel(name, answer):
    def run(*args, **kwargs):
        log.append((name, len(args), sorted(kwargs), tls(), C._len_torch_dispatch_stack()))
        return answer()
    return run
i.impl("one", "CPU", kernel("one", lambda: fresh()))
i.impl("one.other", "CPU", kernel("one.other", lambda: fresh()))
i.impl("many", "CPU", kernel("many", lambda: fresh()))
i.impl("none", "BackendSelect", kernel("none", lambda: fresh()))
i.impl("nothing", "CPU", kernel("nothing", lambda: None))
i.impl("two", "CPU", kernel("two", lambda: (fresh(), fresh(5))))
i.impl("number", "CPU", kernel("number", lambda: 7))
ops = xp.ops.{namespace}"""

OPERATOR_CALLS: Final = (
    "ops.one({0})",
    "ops.one.default({0}, 3, z=4)",
    "ops.one.other({0}, x)",
    "ops.one.other(x, {0})",
    "ops.many([x, {0}])",
    "ops.many([{0}, x], {0})",
    "ops.none()",
    "ops.none.default(5)",
    "ops.nothing({0})",
    "ops.two({0})",
    "ops.number({0})",
)
"""Calls of the program's own operators; ``{0}`` is a tensor."""

REFUSED_CALLS: Final = (
    "ops.one()",
    "ops.one({0}, 'y')",
    "ops.one.default({0}, w=1)",
    "ops.many(3, {0})",
    "ops.change({0})",
    "ops.one({0}, ops)",
    "ops.nosuch({0})",
)

ATEN_CALLS: Final = (
    "xp.add({0}, x)",
    "xp.add(x, {0}, alpha=2)",
    "xp.mul({0}, 2)",
    "xp.sin({0})",
    "xp.ops.aten._foobar({0}, True, arg3=False)",
    "{0}.add_(1)",
    "{0} + 1",
    "2 - {0}",
    "{0} * {0}",
    "-{0}",
    "{0} == x",
    "{0}.sum()",
    "{0}.sum(0, dtype=xp.float64)",
    "xp.cat([x, {0}])",
    "xp.stack([{0}, {0}], 0)",
    "xp.ones(2)",
    "xp.zeros((2, 3), dtype=xp.int64)",
    "xp.empty(2)",
    "xp.full((2,), 7)",
    "xp.ops.aten.add.Tensor({0}, x)",
    "xp.ops.aten.mm.default({0}, x)",
    "xp.ops.aten.sum.dim_IntList({0}, [0], True)",
    "xp.relu({0})",
    "xp.topk({0}, 1)",
    "xp.where({0} > 0, {0}, x)",
    "{0}.fill_(3)",
    "{0}.zero_()",
)
"""Calls of torch's own: for modes that answer them, and call no kernel."""

ATTRIBUTES: Final = (
    *("{0}.shape", "{0}.dtype", "{0}.device", "{0}.layout", "{0}.ndim", "{0}.requires_grad"),
    *("{0}.is_leaf", "{0}.itemsize", "{0}.is_cpu", "{0}.is_meta", "{0}.is_sparse", "{0}.nbytes"),
    *("{0}.is_quantized", "{0}._version", "{0}._base", "{0}.is_nested", "{0}._python_dispatch"),
    *("{0}.size()", "{0}.size(0)", "{0}.stride()", "{0}.dim()", "{0}.numel()", "{0}.is_complex()"),
    *("{0}.is_floating_point()", "{0}.element_size()", "{0}.storage_offset()", "{0}.get_device()"),
    *("{0}.is_contiguous()", "{0}.is_inference()", "{0}.is_conj()", "xp.numel({0})"),
    *("xp.is_floating_point({0})", "xp.is_complex({0})", "xp.is_conj({0})", "len({0})"),
)
"""What a tensor answers about itself."""

FUNCTION_CALLS: Final = (
    *ATEN_CALLS,
    *ATTRIBUTES,
    "{0}[0]",
    "{0}[0:1, None]",
    "{0}[x]",
    "x[{0}]",
    "x[{0}, 0]",
    "{0}.new(2)",
    "{0}.tolist()",
    "{0}.reciprocal()",
    "{0}.add(1, alpha={0})",
    "{0}.__add__(1)",
    "{0}.__radd__(1)",
    "x + {0}",
    "1 / {0}",
    "{0} // 2",
    "{0} ** 2",
    "xp.fft.fft({0})",
    "xp.linalg.det({0})",
    "xp._C._nn.gelu({0})",
    "xp.special.erf({0})",
    "xp.tensor([1.0])",
    "xp.arange(3)",
    "xp.as_tensor({0})",
    "{0}.item()",
    "bool({0})",
    "int({0})",
    "abs({0})",
    "~{0}",
    "{0}.unflatten(0, (1, 2))",
    "{0}.split(1)",
    "{0}.type(xp.float64)",
    "{0}.to(xp.float64)",
    "xp.clamp({0}, min=0, max={0})",
    "xp.max({0}, 0)",
)
"""Calls that ``__torch_function__`` sees, all but the last few lists."""

REFUSED_FUNCTION_CALLS: Final = (
    "xp.add({0})",
    "xp.add({0}, 'y')",
    "xp.add(1, 2, 3, 4)",
    "{0}.add()",
    "{0}.sum('a', 'b', 'c')",
    "xp.ones('a')",
    "xp.cat(3)",
    "{0}.dim(1)",
    "{0}.shape.nosuch",
    "xp.cat([{0}, 3])",
)
"""Calls whose arguments no parser takes."""

ELEMENT_CALLS: Final = (
    *("{0}.tolist()", "{0}.numpy()", "{0}.numpy(force=True)", "{0}.map_(x, len)", "{0}.detach()"),
    *("x.map_({0}, len)", "x.map2_(x, {0}, len)", "C._dispatch_isTensorSubclassLike({0})"),
)
"""What wants a tensor's elements, which a subclass does not show."""

VALUE_CALLS: Final = (
    *("xp.tensor([1, 2])", "xp.as_tensor([1.0])", "xp.FloatTensor([1.0, 2.0])"),
    *("{0}.new([1.0])", "{0}.new_tensor([1])", "xp.tensor([1], device='meta')", "{0}.data"),
    *("{0}[0]", "{0}[0:1]", "{0}[None]", "{0}[...]", "{0}.unbind(0)"),
    *("xp.unbind({0})", "{0}.split(1)", "float({0}[:1])", "int({0}[0])", "bool({0}[0])"),
    *("complex({0}[0])", "{0}[1].item()", "xp.tensor(3).__index__()", "xp.tensor(1.5).item()"),
)
"""What makes tensors of values, and values of tensors, on the way past operators."""

SETTINGS: Final = (
    *("{0}.requires_grad = {1}", "{0}[0] = {1}", "{0}[x] = {1}", "{0}[0:1] = {1}"),
    *("x[{0}] = out", "x[0] = {0}"),
)
"""Assignments, to a tensor ``{0}`` and of a value ``{1}``."""


# --- overrides --------------------------------------------------------------------------------


DISPATCH_MODE: Final = "xp.utils._python_dispatch.TorchDispatchMode"
FUNCTION_MODE: Final = "xp.overrides.TorchFunctionMode"


def dispatch_mode(name: str, body: str, base: str = DISPATCH_MODE) -> str:
    """A class of modes that log what they see of operators."""
    return (
        f"class {name}({base}):\n"
        "    def __torch_dispatch__(self, func, types, args=(), kwargs=None):\n"
        f"        log.append(({name!r}, str(func), named(types), len(args), sorted(kwargs)))\n"
        "        log.append((tls(), C._len_torch_dispatch_stack()))\n"
        f"        {body}"
    )


INFRA_KEYS: Final = ("FAKE", "PROXY", "FUNCTIONAL")


def infra_mode(name: str, key: str, body: str) -> str:
    """A class of infra modes, of which there may be one of each kind."""
    return (
        f"{dispatch_mode(name, body)}\n"
        "    def __init__(self):\n"
        f"        super().__init__()\n        self._mode_key = C._TorchDispatchModeKey.{key}"
    )


def dispatch_class(name: str, body: str, base: str = "xp.Tensor") -> str:
    """A subclass that logs what it sees of operators."""
    return (
        f"class {name}({base}):\n"
        "    @classmethod\n"
        "    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):\n"
        f"        log.append(({name!r}, cls.__name__, str(func), named(types), len(args)))\n"
        "        log.append((sorted(kwargs), tls(), C._len_torch_dispatch_stack()))\n"
        f"        {body}"
    )


def function_mode(name: str, body: str, base: str = FUNCTION_MODE) -> str:
    """A class of modes that log what they see of functions."""
    return (
        f"class {name}({base}):\n"
        "    def __torch_function__(self, func, types, args=(), kwargs=None):\n"
        f"        log.append(({name!r}, func.__name__, named(types), len(args)))\n"
        "        log.append((kwargs and sorted(kwargs), C._len_torch_function_stack()))\n"
        f"        {body}"
    )


def function_class(name: str, body: str, base: str = "xp.Tensor", kind: str = "classmethod") -> str:
    """A class that logs what it sees of functions, a subclass of tensors or not.

    ``kind`` is how the method is bound; an empty one stands for a plain method.
    """
    first = {"classmethod": "cls, ", "staticmethod": "", "": "self, "}[kind]
    decorator = f"    @{kind}\n" if kind else ""
    return (
        f"class {name}({base}):\n{decorator}"
        f"    def __torch_function__({first}func, types, args=(), kwargs=None):\n"
        f"        log.append(({name!r}, func.__name__, named(types), len(args)))\n"
        "        log.append((kwargs and sorted(kwargs), C._is_torch_function_enabled()))\n"
        f"        {body}"
    )


PASS_ON: Final = "return func(*args, **(kwargs or {}))"
DECLINE: Final = "return NotImplemented"
DECLINE_AT_FIRST: Final = "return NotImplemented if len(log) < 30 else 5"
"""Where what declines is asked again: ``Tensor.__torch_function__`` calls what was called."""
ANSWER: Final = "return fresh()"
RAISE: Final = "raise ValueError(str(len(log)))"

MODE_BODIES: Final = (
    PASS_ON,
    DECLINE,
    ANSWER,
    RAISE,
    "return 5",
    "return None",
    "return out",
    "return (fresh(), fresh(5))",
    "return [fresh()]",
    "return 'text'",
    "return args[0] if isinstance(args[0], xp.Tensor) else fresh()",
    "log.append(show(ops.one(x))); " + PASS_ON,
    "with C._DisableTorchDispatch(): " + PASS_ON,
    "with P._disable_current_modes() as old: log.append(len(old)); " + PASS_ON,
    "raise NotImplementedError(str(func))",
)
"""What a dispatch mode answers; those after the first few want operators of the program's own."""

FUNCTION_ANSWERS: Final = (
    DECLINE_AT_FIRST,
    ANSWER,
    RAISE,
    "return 5",
    "return None",
    "return func",
)
"""The same for functions."""
ANSWERS: Final = (DECLINE, ANSWER, RAISE, "return 5", "return None", "return func")
"""Bodies that call no function."""

PASS_ON_BELOW: Final = "with C.DisableTorchFunctionSubclass(): " + PASS_ON
INHERIT: Final = "return super().__torch_function__(func, types, args, kwargs or {})"
"""For classes that see functions, which would see what they call."""
DISABLED: Final = "with C._DisableTorchDispatch(): " + PASS_ON
UNWRAPPED: Final = (
    "return func(*[x if isinstance(each, xp.Tensor) else each for each in args], **kwargs)"
)
"""For operators without lists of tensors."""


def made(name: str) -> str:
    """An instance of a subclass."""
    return f"xp.Tensor._make_subclass({name}, x)"


def program(definitions: Iterable[str], steps: Iterable[str], *, operators: bool = True) -> str:
    """The case that defines things and tries these steps."""
    body = "\n".join([*definitions, *steps, "state()", "log"])
    if not operators:
        return f"{PRELUDE}\n{body}"
    namespace = f"m{zlib.crc32(body.encode()):08x}"
    return f"{PRELUDE}\n{OPERATORS.format(namespace=namespace)}\n{body}"


def tried(expression: str) -> str:
    """A step: the log has what an expression is, or the error it raises."""
    return f"step(lambda: {expression})"


def tried_block(block: str) -> str:
    """The same for statements."""
    inner = block.replace("\n", "\n    ")
    return f"def run():\n    {inner}\nstep(run)"


def within(context: str, steps: Iterable[str]) -> str:
    """Steps in a ``with`` block."""
    inner = "\n".join(steps).replace("\n", "\n    ")
    return f"with {context}:\n    {inner}"
