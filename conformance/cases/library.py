"""Area ``library``: ``torch.library``, its libraries and functions, and what operators become.

Most cases are programs of steps over a few operators of the namespace ``t``: they are defined,
given kernels, fakes and formulas, made anew, destroyed, called on cpu and on meta, well and badly.
Every step notes what it answers or how it is refused, and the dumps of the operators; at the end
of a program come their tables.  Other cases infer schemas, from every type hint there is.

Where a message shows the file of a module of torch (of the function that aliases, of a fake that
asks for a context), a case leaves that path out: it is the installation's, and no two are alike.

A custom operator whose place another takes is garbage, and when that is collected, its library
forgets names that are the other's by then.  So that it happens at the same moment on both sides, a
program calls the collector then.

Calls that end in a segmentation fault of PyTorch are left out where that is known beforehand: of a
packet whose operators have all gone with a library that was lost, not destroyed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from random import Random
from typing import Final

from hypothesis import strategies as st

from conformance.annotated import names as hint_names
from conformance.area import Area, Text
from conformance.cases import (
    inner_kernels,
    library_answers,
    library_autograd,
    library_fallback,
    repeated,
)
from conformance.cases.pools import C
from mindtorch_v2.profile import Profile

PRELUDE: Final = f"""\
C = {C}
L = xp.library
log = []
ops = {{}}
x, y, m = xp.ones(2), xp.ones(2, requires_grad=True), xp.ones(2, device="meta")
names = "t::a", "t::b.c", "t::o", "t::w"
def f(*args, **kwargs):
    log.append(("f", len(args), sorted(kwargs)))
    return xp.ones(3)
def same(*args, **kwargs):
    log.append(("same", len(args), sorted(kwargs)))
    return args[0] if args else None
def k(keyset, *args, **kwargs):
    log.append(("k", str(keyset), len(args), sorted(kwargs)))
    return xp.ones(4)
def op(overload, *args, **kwargs):
    log.append(("op", str(overload), len(args)))
    return xp.ones(5)
def ctx(*args): return L.get_ctx()
def setup(**kwargs): log.append(("setup", sorted(kwargs), len(kwargs["inputs"])))
def fails(*args, **kwargs): raise ValueError("fails")
def take(x): return xp.ones(2)
def write(x): return None
class Mode: pass
def said(error):
    text = str(error)
    if "get_ctx()" in text and ".py:" in text: text = text.split(" (")[0] + text.split(")", 1)[1]
    parts = text.split("' from '")
    return (str(type(error)), [part.split("'>)")[-1] for part in parts])
def note():
    for name in names: log.append(C._dispatch_dump(name))
    log.append(sorted(xp.ops.t))
def shown(answer):
    if isinstance(answer, xp.Tensor):
        return (answer.detach(), answer.requires_grad, answer._version)
    if isinstance(answer, (list, tuple)): return [shown(each) for each in answer]
    return answer if isinstance(answer, (bool, int, str)) else str(type(answer))
def step(run):
    try: answer = run()
    except Exception as error: log.append(said(error))
    else: log.append(shown(answer))
    note()
def make(key, run):
    ops.pop(key, None)
    try: ops[key] = run()
    except Exception as error: log.append(said(error))
    collect()
    note()
libs = {{}}
for key in ("d", "e"): libs[key] = L.Library("t", "FRAGMENT")
libs["i"] = L.Library("t", "IMPL")
libs["c"], libs["w"] = L.Library("t", "IMPL", "CPU"), L.Library("_", "IMPL")
note()
"""

EPILOGUE: Final = """\
for name in names: log.append(C._dispatch_dump_table(name))
log.append(sorted(C._dispatch_find_dangling_impls()))
log"""

IMPORTS: Final = ("_dynamo", "_custom_op.impl", "_subclasses.schema_check_mode")

SCHEMAS: Final = (
    "a(Tensor x) -> Tensor",
    "b.c(Tensor x, int y=1, *, bool z=False) -> Tensor",
    "a(Tensor(a!) x) -> ()",
    "a(Tensor(a) x) -> Tensor(a)",
    "a(Tensor[] x) -> Tensor",
    "b.c(Tensor x) -> (Tensor, Tensor)",
    "a(int x) -> int",
    "a() -> Tensor",
    "a(Tensor x, *, Tensor z) -> Tensor",
    "b.c(int x, Device device) -> Tensor",
)
WRONG_SCHEMAS: Final = (
    *("a", "a(", "t::a(Tensor x) -> Tensor", "s::a(Tensor x) -> Tensor", ""),
    *("a(Tensor x) -> Tensor x y", "a.default(Tensor x) -> Tensor"),
)
NAMELESS: Final = (
    "(Tensor x) -> Tensor",
    "(Tensor(a!) x) -> ()",
    "() -> Tensor",
    "(Tensor x)",
    "a",
)
ANALYSES: Final = ('""', '"CONSERVATIVE"', '"PURE_FUNCTION"', '"nosuch"', "1")
TAGS: Final = (
    *("xp.Tag.core", "(xp.Tag.core, xp.Tag.pointwise)", "[xp.Tag.core, xp.Tag.core]", "(1,)"),
    *("xp.Tag.inplace", "xp.Tag.out", "None"),
)
TAGGED: Final = (
    "a(Tensor x) -> Tensor",
    "a(Tensor(a!) x) -> Tensor(a!)",
    "a(Tensor(a!) x) -> ()",
    "a(Tensor(a!) x, Tensor(b!) y) -> Tensor(a!)",
    "a(Tensor(a!) x, Tensor(b!) y) -> Tensor(b!)",
    "a(Tensor(a!)[] x) -> Tensor(a!)[]",
    "a(Tensor(a!) x) -> Tensor(a)",
    "a(Tensor(a!) x) -> Tensor",
    "a(Tensor(a!) x) -> int",
    "a(*, Tensor(a!) x) -> Tensor(a!)",
    "a(*, Tensor(a!) x, Tensor(b!) y) -> (Tensor(a!), Tensor(b!))",
    "a(*, Tensor(a!) x, Tensor(b!) y) -> (Tensor(b!), Tensor(a!))",
    "a(*, Tensor(a!)[] x) -> ()",
    "a(Tensor y, *, Tensor(a!) x) -> Tensor",
    "a(Tensor y, *, Tensor(a!) x) -> Tensor(a)",
    "a() -> ()",
)
KEYS: Final = (
    *("CPU", "CUDA", "Meta", "Autograd", "AutogradCPU", "ADInplaceOrView", "BackendSelect"),
    *(
        "CompositeImplicitAutograd",
        "CompositeExplicitAutograd",
        "CompositeExplicitAutogradNonFunctional",
    ),
    *("QuantizedCPU", "FuncTorchBatched", "PythonTLSSnapshot", "nosuch", ""),
)
NAMES: Final = ("a", "b.c", "t::a", "t::b.c", "o")
WRONG_NAMES: Final = ("b", "s::a", "", "a.default", "a b")
OVERLOADS: Final = ("xp.ops.t.a.default", "xp.ops.t.b.c", "xp.ops.t.o.default")
IDENTIFIERS: Final = (
    *('"t::a"', '"t::b.c"', '"t::o"', '"t::w"', '"a"', '"t::nosuch"', '"s::t::a"', "1"),
    *(*OVERLOADS, "xp.ops.t.a", 'ops["o"]', 'ops["w"]'),
)
DEVICES: Final = (
    *('"cpu"', '"meta"', '"cuda"', '("cpu", "meta")', '["cpu", "cuda"]', "None", '"default"'),
    *('"nosuch"', '"CPU"', '"Autograd"', "()", "1"),
)
KERNELS: Final = ("f", "same", "fails", "L.fallthrough_kernel", "1", "None")
MAKINGS: Final = (
    'L.custom_op("t::o", annotated(take, x="Tensor", returns="Tensor"), mutates_args=())',
    'L.custom_op("t::o", annotated(take, x="Tensor", returns="Tensor"), mutates_args=(), '
    'device_types="cpu")',
    'L.custom_op("t::o", annotated(take, x="Tensor"), mutates_args=())',
    'L.custom_op("t::o", take, mutates_args=())',
    'L.custom_op("t::o", mutates_args=())(annotated(take, x="Tensor", returns="Tensor"))',
    'L.custom_op("t::o", same, mutates_args=(), schema="(Tensor x) -> Tensor")',
    'L.custom_op("t::o", same, mutates_args=(), schema="(Tensor(a) x) -> Tensor(a)")',
    'L.custom_op("t::o", f, mutates_args=(), schema="(Tensor x, int y=1, *, int z=2) -> Tensor")',
    'L.custom_op("t::o", f, mutates_args=(), schema="(Tensor x, *, Tensor z) -> Tensor")',
    'L.custom_op("t::o", f, mutates_args=(), schema="(Tensor[] x) -> Tensor")',
    'L.custom_op("t::o", f, mutates_args=(), schema="o(Tensor x) -> Tensor")',
    'L.custom_op("t::o", f, mutates_args=(), schema="(Tensor x)")',
    'L.custom_op("t::o", f, mutates_args=("x",), schema="(Tensor x) -> Tensor")',
    'L.custom_op("t::o", f, mutates_args=(), device_types="cpu", schema="(int x) -> Tensor")',
    'L.custom_op("t::o", f, mutates_args=(), device_types="cpu", '
    'schema="(int x, Device device) -> Tensor")',
    'L.custom_op("t::o", f, mutates_args=(), device_types="nosuch", schema="(Tensor x) -> Tensor")',
    'L.custom_op("t::o", f)',
    'L.custom_op("o", f, mutates_args=(), schema="(Tensor x) -> Tensor")',
    'L.custom_op("s::t::o", f, mutates_args=(), schema="(Tensor x) -> Tensor")',
    'L.custom_op("t::o", 1, mutates_args=())',
    'L.custom_op("t::o", f, mutates_args=(), schema="(Tensor x) -> Tensor", tags=xp.Tag.core)',
    'L.custom_op("t::o", same, mutates_args=("x",), schema="(Tensor(a!) x) -> Tensor(a!)", '
    "tags=xp.Tag.inplace)",
    'L.custom_op("t::o", f, mutates_args=("x",), schema="(Tensor(a!) x) -> Tensor(a!)", '
    "tags=(xp.Tag.inplace,))",
    'L.custom_op("t::w", annotated(write, x="Tensor", returns="None"), mutates_args=("x",))',
    'L.custom_op("t::w", annotated(write, x="Tensor", returns="None"), mutates_args="unknown")',
    'L.custom_op("t::w", annotated(write, x="Tensor", returns="None"), mutates_args=("y",))',
    'L.custom_op("t::w", write, mutates_args=("x",), schema="(Tensor(a!) x) -> ()")',
    'L.custom_op("t::w", same, mutates_args=("x",), schema="(Tensor(a!) x) -> Tensor(a!)")',
    'L.custom_op("t::w", f, mutates_args=("x",), schema="(Tensor(a!)[] x) -> Tensor")',
)
"""Ways to make a custom operator, and not to.  What was of its name cannot be called after that."""

CALLS: Final = (
    *("xp.ops.t.a(x)", "xp.ops.t.a(y)", "xp.ops.t.a(m)", "xp.ops.t.a(1)", "xp.ops.t.a()"),
    *("xp.ops.t.a([x, x])", "xp.ops.t.a(x, z=x)", "xp.ops.t.a.default(x)"),
    *("xp.ops.t.b(x)", "xp.ops.t.b.c(x, 2)", "xp.ops.t.b.c(x, z=True)", "xp.ops.t.b.c(m, 1)"),
    *('xp.ops.t.b(1, "cpu")', 'xp.ops.t.b(1, "meta")', "xp.ops.t.b.nosuch(x)"),
    *(
        "xp.ops.t.o(x)",
        "xp.ops.t.o(y)",
        "xp.ops.t.o(m)",
        "xp.ops.t.o([x])",
        "xp.ops.t.o(x, 2, z=3)",
    ),
    *('ops["o"](x)', 'ops["o"](y)', 'ops["w"](x)', "xp.ops.t.w(x)", "xp.ops.t.w([x])"),
    *("xp.ops.t.w(m)", "(xp.ops.t.w(x), x._version)[1]", 'xp.ops.t.o(1, xp.device("cpu"))'),
    "xp.ops.t.o(x=x)",
)


GOOD: Final = (
    'libs["d"].define("a(Tensor x) -> Tensor")',
    'libs["d"].define("b.c(Tensor x, int y=1, *, bool z=False) -> Tensor")',
    'libs["i"].impl("a", f, "CPU")',
    'libs["i"].impl("b.c", f, "CompositeExplicitAutograd")',
    MAKINGS[0],
    MAKINGS[23],
)
"""With some of these a program begins."""


def program(steps: Sequence[str]) -> str:
    """The case that takes these steps."""
    lines = "\n".join(
        f"make({name_of(step)!r}, lambda: {step})"
        if step.startswith("L.custom_op(")
        else f"step(lambda: {step})"
        for step in steps
    )
    return f"{PRELUDE}{lines}\n{EPILOGUE}"


def name_of(making: str) -> str:
    """What the custom operator of a step is called, without its namespace."""
    return "w" if '"t::w"' in making else "o"


# --- steps ------------------------------------------------------------------------------------


def library_steps() -> Iterator[str]:
    """Methods of libraries."""
    for kind, namespace, key in product(
        ("DEF", "IMPL", "FRAGMENT", "nosuch"),
        ("t", "prim", "_", "aten"),
        ('""', '"CPU"', '"nosuch"'),
    ):
        if (kind, namespace) != ("DEF", "_"):  # after which PyTorch 2.4 crashes, by and by
            yield f'repr(L.Library("{namespace}", "{kind}", {key}))'
    for schema in (*SCHEMAS, *WRONG_SCHEMAS):
        for key in ("d", "e", "i"):
            yield f'libs["{key}"].define({schema!r})'
    for analysis in ANALYSES:
        yield f'libs["d"].define({SCHEMAS[0]!r}, {analysis})'
    for tags, schema in product(TAGS, TAGGED):
        yield f'libs["d"].define({schema!r}, tags={tags})'
    for name, key in product((*NAMES, *WRONG_NAMES), KEYS):
        yield f'libs["i"].impl({name!r}, f, {key!r})'
    for name, kernel in product(NAMES, KERNELS):
        yield f'libs["c"].impl({name!r}, {kernel})'
        yield f'libs["i"].impl({name!r}, {kernel}, "CUDA")'
    for overload, key in product((*OVERLOADS, "xp.ops.t.a", "1"), KEYS[:4]):
        yield f'libs["d"].impl({overload}, same, "{key}")'
    for name, key in product(NAMES, ("CPU", "Autograd", "Meta")):
        yield f'libs["i"].impl({name!r}, k, {key!r}, with_keyset=True)'
        for allow in (True, False):
            yield f'libs["i"].impl({name!r}, same, {key!r}, allow_override={allow})'
    for key in ("CPU", "CUDA", "AutogradCPU", "BackendSelect", ""):
        for library in ("w", "i", "d"):
            yield f'libs["{library}"].fallback(op, {key!r})'
        yield f'libs["w"].fallback(L.fallthrough_kernel, {key!r})'
    yield 'libs["d"].impl("a", f, C.DispatchKey.CPU)'
    yield 'libs["w"].fallback(f)'
    for name, fake in product((*NAMES, "nosuch"), ("same", "ctx", "f", "1")):
        yield f'libs["d"]._register_fake({name!r}, {fake})'
    for name in NAMES:
        yield f'libs["d"]._register_torch_dispatch_rule({name!r}, Mode, f)'
    for key in libs_of_steps():
        yield f'libs["{key}"]._destroy()'
        yield f'repr(libs["{key}"])'
    yield 'libs["e"].m is None'


def libs_of_steps() -> tuple[str, ...]:
    return ("d", "e", "i", "c", "w")


def function_steps() -> Iterator[str]:
    """Functions of ``torch.library``."""
    for name, schema in product(('"t::a"', '"t::b.c"', '"a"', '"s::t::a"', "1"), NAMELESS):
        yield f"L.define({name}, {schema!r})"
        yield f'L.define({name}, {schema!r}, lib=libs["d"])'
    yield 'L.define("t::a", "(Tensor x) -> Tensor", tags=xp.Tag.core)'
    for schema in SCHEMAS:
        yield f'L.define(libs["d"], {schema!r})(f) is f'
    for name, device in product(('"t::a"', '"t::b.c"', '"a"'), DEVICES):
        yield f"L.impl({name}, {device}, f)"
        yield f'L.impl({name}, {device}, lib=libs["d"])(same)'
    for name in NAMES:
        yield f'L.impl(libs["d"], {name!r}, "CPU")(f) is f'
    for op, device in product(IDENTIFIERS, DEVICES):
        yield f"L.register_kernel({op}, {device}, f)"
    for op in IDENTIFIERS:
        yield from of_one_operator(op)
    yield "L.fallthrough_kernel()"
    yield "L.get_ctx()"
    for name, key in product(
        ("t::a", "t::b.c", "t::o", "nosuch"), ('"CPU"', '"Autograd"', '"x"', "1")
    ):
        yield f"str(L.get_kernel({name!r}, {key}))"
    yield 'L.get_kernel("t::a", "CPU").call_boxed(C.DispatchKeySet("CPU"), x)'
    yield 'L.get_kernel("t::a", "CPU").call_boxed(C.DispatchKeySet("CPU"))'
    yield 'str(L.get_kernel("t::a", "CPU").op_handle.schema())'


def of_one_operator(op: str) -> Iterator[str]:
    """Functions of ``torch.library`` about an operator."""
    yield f"L.register_kernel({op}, 'cpu')(same) is same"
    yield f"L.register_kernel({op}, 'cpu', 1)"
    yield f"L.register_kernel({op}, 'cpu', same, lib=libs['d'])"
    for fake in ("same", "f", "ctx", "fails"):
        yield f"L.register_fake({op}, {fake})"
    yield f"L.register_fake({op})(f) is f"
    yield f"L.register_fake({op}, same, lib=libs['d'])"
    for allow in (True, False):
        yield f"L.register_fake({op}, f, allow_override={allow})"
    yield f"L.impl_abstract({op})(f) is f"
    yield f"L.register_autograd({op}, f)"
    yield f"L.register_autograd({op}, f, setup_context=setup)"
    yield f"L.register_autograd({op}, f, setup_context=setup, lib=libs['d'])"
    yield f"L.register_vmap({op}, f)"
    yield f"L.register_vmap({op})(f)"
    yield f"L.register_torch_dispatch({op}, Mode, f) is f"
    yield f"L.register_torch_dispatch({op}, Mode)(same) is same"
    yield f"L.register_autocast({op}, 'cpu', xp.float16)"
    yield f"L.register_autocast({op}, 'nosuch', xp.float16)"


def custom_op_steps() -> Iterator[str]:
    """Custom operators and their methods."""
    yield from MAKINGS
    for op in ('ops["o"]', 'ops["w"]'):
        yield f"repr({op})"
        for device in DEVICES:
            yield f"{op}.register_kernel({device}, f)"
            yield f"{op}.register_kernel({device})(same) is same"
        for method in ("register_fake", "register_autograd", "register_vmap"):
            yield f"{op}.{method}(f)"
        yield f"{op}.register_fake(fn=f)"
        yield f"{op}.register_fake(fails)"
        yield f"{op}.register_autograd(f, setup_context=setup)"
        yield f"{op}.register_torch_dispatch(Mode, f) is f"
        yield f"{op}.register_autocast('cpu', xp.float16)"
        yield f"{op}.register_autocast(1, xp.float16)"
        for device, enabled in product(('"cpu"', '"cuda"', "None"), (True, False)):
            yield (
                f"[(manager.__enter__(), {op}(x), manager.__exit__(None, None, None))[1] "
                f"for manager in [{op}.set_kernel_enabled({device}, {enabled})]]"
            )


def overload_steps() -> Iterator[str]:
    """What an overload says of itself and does."""
    for overload in (*OVERLOADS, "xp.ops.aten.add.Tensor", "xp.ops.aten.abs.default"):
        yield f"str({overload}.tags)"
        yield f"({overload}._defined_in_python, {overload}.is_view)"
        yield f"str({overload}._handle.schema())"
        yield f"{overload}._handle.redispatch_boxed(C.DispatchKeySet('CPU'), 'no tensor')"
        yield f"{overload}.has_kernel_for_any_dispatch_key(C.DispatchKeySet('CPU'))"
        yield f"{overload}.decompose('no tensor') is NotImplemented"
    for overload in OVERLOADS:
        for key in (
            "CPU",
            "AutogradCPU",
            "CompositeImplicitAutograd",
            "Meta",
            "Python",
            "Undefined",
        ):
            named = f"C.DispatchKey.{key}"
            yield f"{overload}.has_kernel_for_dispatch_key({named})"
            yield f"{overload}.py_impl({named})(same) is same"
            yield f"str({overload}._get_dispatch({named}))[:20]"
        yield f"({overload}._uncache_dispatch(C.DispatchKey.CPU), len({overload}._dispatch_cache))"
        yield f"{overload}.py_impl('CPU')(same)"
        yield f"{overload}.py_impl(xp.Tensor)(same) is same"
        yield f"{overload}._can_decompose()"
        yield f"sorted(map(str, {overload}.py_kernels))"
    for overload in OVERLOADS:
        yield f"{overload}.redispatch(C.DispatchKeySet('CPU'), x)"
        yield f"{overload}.decompose(x)"
        yield f"{overload}._handle.debug()"
    for packet in ("xp.ops.t.a", "xp.ops.t.b", "xp.ops.t.o"):
        yield f"{packet}.overloads()"
        yield f"[str(each) for each in {packet}.op_overloads()]"
        yield f"sorted({packet})"
        yield f"{packet} is {packet}"


STEPS: Final = {
    "Library": tuple(library_steps()),
    "functions": tuple(function_steps()),
    "custom_op": tuple(custom_op_steps()),
    "overloads": tuple(overload_steps()),
    "calls": CALLS,
}
"""Every step by what it is about."""

LENGTH: Final = 9
"""Steps of a program between its beginning and its calls."""
ROUNDS: Final = 2
"""How often every step occurs, each time after and before others."""


def sequence(random: Random, steps: Sequence[str]) -> str:
    """A program of ``steps`` with a beginning and an end of its own."""
    good = random.sample(GOOD, random.randint(1, len(GOOD)))
    return program([*good, *steps, *random.sample(CALLS, 4)])


def programs() -> Iterator[Text]:
    for seed in range(ROUNDS):
        random = Random(seed)
        every = [(kind, step) for kind, steps in STEPS.items() for step in steps]
        random.shuffle(every)
        for start in range(0, len(every), LENGTH):
            yield "programs", sequence(random, [step for _, step in every[start : start + LENGTH]])


def autocast_programs() -> Iterator[Text]:
    """Autocast of an operator, and a call with keywords, which it takes none of."""
    for device in ("cpu", "cuda", "meta", "nosuch"):
        steps = (
            *GOOD[1:4:2],
            f"L.register_autocast('t::b.c', '{device}', xp.float16)",
            "sorted(map(str, xp.ops.t.b.c.py_kernels))",
            "xp.ops.t.b.c.redispatch(C.DispatchKeySet('AutocastCPU'), x, z=True)",
            MAKINGS[7],
            f"ops['o'].register_autocast('{device}', xp.float16)(None, x, z=3)",
        )
        yield "register_autocast", program(steps)


# --- schemas from type hints ------------------------------------------------------------------

DEFAULTS: Final = (
    *("1", "True", "None", "1.5", '"text"', 'xp.device("cpu")', "xp.float32", "()", "[1]", "x"),
)
FUNCTIONS: Final = (
    *("def g(x): pass", "def g(x, y): pass", "def g(x, *, y): pass", "def g(*x): pass"),
    *("def g(**x): pass", "def g(x, /): pass", "def g(): pass", "def g(x=1, *, y=2): pass"),
)
MUTATIONS: Final = ("()", '("x",)', '["y"]', '{"x", "y"}', '"unknown"', '"x"', "{}", "1", '("z",)')


def infer(definition: str, hints: str, options: str = "mutates_args=()") -> str:
    """The case that infers a schema, by both functions that do."""
    return f"""\
x, log = xp.ones(1), []
{definition}
annotated(g, {hints})
for run in (
    lambda: xp.library.infer_schema(g, {options}),
    lambda: xp.library.custom_op("t::g", g, {options}),
    lambda: str(xp.ops.t.g.default._schema),
):
    try: log.append(str(run()))
    except Exception as error: log.append((str(type(error)), str(error)))
log"""


def inferred() -> Iterator[Text]:
    for value in ("1", "'f'", "len", "int", "None"):
        yield "infer_schema", f"xp.library.infer_schema({value}, mutates_args=())"
        yield "infer_schema", f"xp.library.custom_op('t::g', {value}, mutates_args=())"
    for hint in hint_names():
        yield "infer_schema", infer("def g(x): pass", f'x={hint!r}, returns="None"')
        yield "infer_schema", infer("def g(x): pass", f'x="Tensor", returns={hint!r}')
        yield (
            "infer_schema",
            infer("def g(x): pass", f'x={hint!r}, returns="Tensor"', 'mutates_args=("x",)'),
        )
        yield (
            "infer_schema",
            infer("def g(x): pass", f'x={hint!r}, returns="Tensor"', 'mutates_args="unknown"'),
        )
    for default, hint in product(DEFAULTS, ("int", "Tensor", "Optional[str]", "dtype", "device")):
        yield "infer_schema", infer(f"def g(x={default}): pass", f'x={hint!r}, returns="int"')
    for definition, mutated in product(FUNCTIONS, MUTATIONS):
        options = f"mutates_args={mutated}"
        yield "infer_schema", infer(definition, 'x="Tensor", y="Tensor", returns="None"', options)
        yield "infer_schema", infer(definition, 'x="Tensor"', options)
    for tag, definition in product(("inplace", "out", "core"), FUNCTIONS):
        for mutated, returned in product(
            MUTATIONS[:5], ("Tensor", "None", "tuple[Tensor, Tensor]")
        ):
            options = f"mutates_args={mutated}, tags=xp.Tag.{tag}"
            hints = f'x="Tensor", y="Tensor", returns={returned!r}'
            yield "infer_schema", infer(definition, hints, options)
    for options in ("", "op_name='h', mutates_args=()", "mutates_args=(), tags=None", "(), 1"):
        yield "infer_schema", infer("def g(x): pass", 'x="Tensor", returns="Tensor"', options)


def texts(profile: Profile) -> Iterator[Text]:
    yield from programs()
    yield from autocast_programs()
    yield from inferred()
    yield from repeated.changes()
    yield from repeated.blocks()
    yield from inner_kernels.texts()
    yield from library_autograd.texts()
    yield from library_fallback.texts()
    yield from library_answers.texts()


def strategy(profile: Profile) -> st.SearchStrategy[Text]:
    """Programs of any steps, most of them about one thing; schemas of any hints."""
    any_step = st.one_of([st.sampled_from(steps) for steps in STEPS.values()])
    good = st.lists(st.sampled_from(GOOD), min_size=1, max_size=4, unique=True)
    steps = st.tuples(good, st.lists(any_step, min_size=1, max_size=10))
    hints = st.sampled_from(hint_names())
    schemas = st.builds(
        lambda definition, x, y, returned, mutated: infer(
            definition, f"x={x!r}, y={y!r}, returns={returned!r}", f"mutates_args={mutated}"
        ),
        *(st.sampled_from(FUNCTIONS), hints, hints, hints, st.sampled_from(MUTATIONS)),
    )
    return st.one_of(
        steps.map(lambda pair: ("program", program([*pair[0], *pair[1]]))),
        steps.map(lambda pair: ("program", program([*pair[0], *pair[1]]))),
        schemas.map(lambda text: ("infer_schema", text)),
        library_autograd.strategy(),
    )


AREA: Final = Area("library", texts, strategy, isolation="fork", imports=IMPORTS)
