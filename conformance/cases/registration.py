"""Area ``registration``: libraries, definitions, kernels and fallbacks, in every order.

A case is a program of steps (:mod:`~conformance.cases.registration_program` says what it notes
after each).  Steps register and take back, in blocks of several kinds, by ``reset`` or as garbage;
and they call the operators, through ``torch.ops``, afresh, and through objects kept from before.
Every case runs in a fork of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations, permutations
from random import Random
from typing import Any, Final

from hypothesis import strategies as st

from conformance.area import Area, Text
from conformance.cases.pools import C
from conformance.cases.registration_program import program
from mindtorch_v2.profile import Profile

BACKENDS: Final = ("CPU", "Meta", "CUDA", "XLA", "QuantizedCPU", "SparseCPU", "PrivateUse1")
ALIASES: Final = (
    "CompositeImplicitAutograd",
    "CompositeExplicitAutograd",
    "CompositeExplicitAutogradNonFunctional",
    "CompositeImplicitAutogradNestedTensor",
    "Autograd",
    "FuncTorchBatchedDecomposition",
)
USUAL_KEYS: Final = (*BACKENDS[:2], *BACKENDS, "AutogradCPU", "AutogradOther", *ALIASES, "CPU", "")
OTHER_KEYS: Final = (
    *("SparseCsrCPU", "NestedTensorCPU", "MkldnnCPU", "AutogradCUDA", "AutogradXLA"),
    *("AutogradNestedTensor", "AutogradPrivateUse1", "AutogradMeta", "ADInplaceOrView"),
    *("Functionalize", "BackendSelect", "Python", "Conjugate", "Negative", "Tracer", "FPGA"),
    *("AutocastCPU", "FuncTorchBatched", "FuncTorchGradWrapper", "PythonDispatcher"),
    *("PythonTLSSnapshot", "ZeroTensor", "Undefined", "Dense", "Sparse", "AutogradFunctionality"),
    *("HIP", "NestedTensor", "AutogradHIP", "PreDispatch", "nosuch"),
)
KEYS: Final = tuple(dict.fromkeys((*USUAL_KEYS, *OTHER_KEYS)))
"""Names of keys of every kind, and of none."""

USUAL_SCHEMAS: Final[Mapping[str, tuple[str, ...]]] = {
    "a": (
        "a(Tensor x) -> Tensor",
        "a(Tensor x) -> Tensor",
        "t::a(Tensor x) -> Tensor",
        "a(Tensor x, int y=1) -> Tensor",
        "a(Tensor x, Tensor y) -> (Tensor, Tensor)",
        "a(int x) -> int",
        "a(Tensor(a!) x, *, Tensor? y=None) -> Tensor(a!)",
        "a(Tensor[] x) -> Tensor[]",
        "a() -> ()",
    ),
    "b": ("b(Tensor x, int y) -> Tensor", "b(Tensor x) -> Tensor", "b(int x) -> int"),
    "b.out": (
        "b.out(Tensor z) -> Tensor",
        "b.out(Tensor z, str y) -> Tensor",
        "b.out(float x) -> float",
    ),
}
"""By name, what it is mostly defined with.

No two overloads take arguments of the same types and names: TorchScript's registry tells them
apart by no more (``canonicalSchemaString``), and keeps the second when its operator is gone.
"""
WRONG_SCHEMAS: Final = (
    *("a", "b.out", "a(", "s::a(Tensor x) -> Tensor", "a(Tensor x) -> Tensor x y", ""),
    *(
        "a.default(Tensor x) -> Tensor",
        "a(Tensor x, Tensor x) -> Tensor",
        "a(int x=1, int y) -> ()",
    ),
)
NAMES: Final = ("a", "b.out", "b", "t::a", "t::b.out")
WRONG_NAMES: Final = (
    "s::a",
    "a.default",
    "a.__x",
    "",
    "a(Tensor x) -> Tensor",
    "::a",
    "a b",
    "x::",
)
ANALYSES: Final = ("", "FROM_SCHEMA", "CONSERVATIVE", "PURE_FUNCTION", "nosuch")
KERNELS: Final = ("f", "f", "g", "two", "odd", "bad", "thru", "ks", "down")
"""Kernels by the names that a program has for them; the last two take the keyset."""
KEYSET_KERNELS: Final = ("ks", "down")
KINDS: Final = ("DEF", "IMPL", "FRAGMENT", "nosuch")
KINDS_AND_NAMESPACES: Final = (
    *((kind, namespace) for kind in KINDS for namespace in ("t", "s", "aten", "prims", "u")),
    *((kind, "_") for kind in ("IMPL", "FRAGMENT", "nosuch")),
)
"""What opens a block; not DEF for any namespace, where torch reads a name that is not there."""
BLOCKS: Final[Mapping[str, str]] = {
    "d": 'library("FRAGMENT", "t", "")',
    "e": 'library("FRAGMENT", "t", "", linenum=9)',
    "i": 'library("IMPL", "t", "")',
    "j": 'library("IMPL", "t", "CPU", linenum=8)',
    "w": 'library("IMPL", "_", "")',
    "v": 'library("IMPL", "_", "Meta")',
    "s": 'library("FRAGMENT", "s", "")',
    "p": 'library("IMPL", "s", "")',
    "m": 'library("IMPL", "aten", "")',
    "t": 'library("DEF", "t", "")',
}
"""Every block by its name, with what opens it anew; the last is not open at the beginning."""

ARGUMENTS: Final = (
    "x",
    "x",
    "m",
    "r",
    "1",
    "x, 2",
    "x, x",
    "x, y=2",
    "[x, m]",
    "r, 2",
    "2.5",
    "",
    "x, 'y'",
)
PACKETS: Final = ("t::a", "t::b", "s::a")
OVERLOADS: Final = (("t::a", ""), ("t::b", ""), ("t::b", "out"), ("s::a", ""))
OF_PACKETS: Final = ("", ".default", ".out")
KEYSETS: Final = ("CPU", "Meta", "AutogradCPU", "QuantizedCPU", "BackendSelect", "Undefined")
GUARDS: Final = (
    "C._AutoDispatchBelowADInplaceOrView()",
    'C._ExcludeDispatchKeyGuard(C.DispatchKeySet("AutogradCPU"))',
    'C._ExcludeDispatchKeyGuard(C.DispatchKeySet("ADInplaceOrView"))',
    "C._IncludeDispatchKeyGuard(C.DispatchKey.AutogradOther)",
)
"""Changes of the thread's sets that a call may be made under.

None sends other operators elsewhere: a refused call prints its arguments, which calls some.
"""


def call(name: str, overload: str, way: str, arguments: str) -> str:
    """A call of an operator, by one of WAYS."""
    return WAYS[way].format(
        C=C, name=name, overload=overload, path=f".{overload or 'default'}", arguments=arguments
    )


WAYS: Final[Mapping[str, str]] = {
    "packet": "packet({name!r})({arguments})",
    "overload": "packet({name!r}){path}({arguments})",
    "afresh": "C._jit_get_operation({name!r})[0]({arguments})",
    "overload afresh": "C._get_operation_overload({name!r}, {overload!r})[0]({arguments})",
    "boxed": (
        "C._dispatch_call_boxed("
        "C._dispatch_find_schema_or_throw({name!r}, {overload!r}), {arguments})"
    ),
}


def redispatch(name: str, overload: str, key: str, arguments: str) -> str:
    return (
        f"packet({name!r}).{overload or 'default'}"
        f".redispatch(C.DispatchKeySet(C.DispatchKey.{key}), {arguments})"
    )


KEPT: Final[Mapping[str, tuple[str, str]]] = {
    "packet": ("t::a", "packet('t::a')"),
    "overload": ("t::a", "packet('t::a').default"),
    "overloads": ("t::b", "packet('t::b')"),
    "one of two": ("t::b", "packet('t::b').out"),
    "function": ("t::a", 'C._get_operation_overload("t::a", "")[0]'),
    "functions": ("t::b", 'C._jit_get_operation("t::b")[0]'),
    "handle": ("t::a", 'C._dispatch_find_schema_or_throw("t::a", "")'),
}
"""What a program may keep of an operator, by the name it keeps it under."""

OF_KEPT: Final[Mapping[str, tuple[str, ...]]] = {
    "packet": ("again({0!r}).overloads()", "str(again({0!r}))"),
    "overload": ("str(again({0!r})._schema)", "again({0!r}).name()"),
    "overloads": ("again({0!r}).overloads()",),
    "one of two": ("str(again({0!r})._schema)",),
    "function": (),
    "functions": (),
    "handle": (
        "str(again({0!r}).schema())",
        "again({0!r}).debug()",
        "C._dispatch_call_boxed(again({0!r}), x)",
        "C._dispatch_set_report_error_callback(again({0!r}), told)",
        "C._dispatch_set_report_error_callback(again({0!r}), bad)",
        "again({0!r}).redispatch_boxed(C.DispatchKeySet(C.DispatchKey.CPU), x)",
    ),
}


def kernel(name: str) -> str:
    """The arguments of ``impl`` for a kernel."""
    return f"{name}, True" if name in KEYSET_KERNELS else name


NULLS: Final = (
    'L["d"].def_(None)',
    'L["d"].def_(None, "nosuch")',
    'L["d"].def_("a(Tensor x) -> Tensor", None)',
    'L["d"].def_legacy(None)',
    'L["d"].def_name_t_t(None, "nosuch")',
    'L["d"].def_name_t_t("b", "CPU", None)',
    'L["d"].def_schema_t_t(None)',
    'L["d"].def_schema_t_t("a(Tensor x) -> Tensor", "CPU", None)',
    'L["d"].def_schema_t_t("a(Tensor x) -> Tensor", "CPU", "", None)',
    'L["d"].define(None)',
    'L["d"].define("a(Tensor x) -> Tensor", None)',
    'L["i"].impl_t_t(None)',
    'L["i"].impl_t_t("a", "CPU", None)',
    'L["i"].impl(None, "CPU", f)',
    'L["i"].impl("a", None, f)',
    'library(None, "t", "")',
    'library("IMPL", None, "")',
    'library("IMPL", "t", None)',
)
"""Null pointers for text; not for the keys of kernels written in C++, which end the process."""


# --- every step -------------------------------------------------------------------------------


def all_steps() -> Iterator[str]:
    """Every step that registers or takes back, good and bad."""
    schemas = tuple(dict.fromkeys(text for texts in USUAL_SCHEMAS.values() for text in texts))
    for schema in (*schemas, *WRONG_SCHEMAS):
        for block in ("d", "i"):
            yield f'L["{block}"].def_({schema!r})'
        yield f'L["d"].def_legacy({schema!r})'
        yield f'L["d"].define({schema!r})'
        for analysis in ANALYSES:
            yield f'L["d"].def_({schema!r}, {analysis!r})'
        for key in ("", "CPU", "nosuch"):
            yield f'L["d"].def_schema_t_t({schema!r}, {key!r})'
    for name in (*NAMES, *WRONG_NAMES):
        yield f'L["d"].def_name_t_t({name!r})'
        for key in KEYS:
            yield f'L["i"].impl_t_t({name!r}, {key!r})'
            yield f'L["i"].impl({name!r}, {key!r}, f)'
    for key in KEYS:
        yield f'L["d"].impl("a", {key!r}, thru)'
        for block in ("w", "i", "d", "v"):
            yield f'L["{block}"].fallback_fallthrough({key!r})'
            yield f'L["{block}"].fallback({key!r}, fb)'
        yield f'library("IMPL", "t", {key!r}).impl_t_t("a", "CPU")'
    for kind, namespace in KINDS_AND_NAMESPACES:
        for key in ("", "CPU"):
            yield f"library({kind!r}, {namespace!r}, {key!r})"
    yield from NULLS
    for block, opening in BLOCKS.items():
        yield f'L["{block}"].reset()'
        yield f'L.pop("{block}")'
        yield f"L.update({block}={opening})"


SHORT: Final = (
    'L["d"].def_("a(Tensor x) -> Tensor")',
    'L["i"].impl_t_t("a", "CPU")',
    'L["i"].impl("a", "CompositeImplicitAutograd", f)',
    'L["i"].impl_t_t("a", "CompositeExplicitAutograd")',
    'L["i"].impl("a", "AutogradCPU", down, True)',
    'L["i"].impl_t_t("a", "QuantizedCPU")',
    'L["i"].reset()',
    'L.pop("d")',
)
"""Steps of which every three are taken in every order, each followed by a call."""
CALL: Final = 'C._jit_get_operation("t::a")[0](r)'

LENGTH: Final = 12
"""Steps of a sequence."""
UNSUITABLE: Final = 40
"""Programs of several kernels that a schema does not suit."""
ROUNDS: Final = 3
"""How often every step occurs, each time after and before others."""


_OF_ONE_TENSOR: Final = (
    *("(Tensor _0) -> Tensor", "(Tensor(a) _0) -> Tensor(a)", "(Tensor a) -> Tensor"),
    *("(*, Tensor _0) -> Tensor", "(Tensor _0, int x=1) -> Tensor", "(Tensor _0) -> ()"),
)


def texts(profile: Profile) -> Iterator[Text]:
    yield from python_dispatcher()
    for steps in permutations(SHORT, 3):
        yield "permutations", program([each for step in steps for each in (step, CALL)])
    yield from _unsuitable_kernels()
    yield from _tensors_for_numbers()
    yield from _alike_overloads()
    every = list(all_steps())
    for seed in range(ROUNDS):
        order = list(every)
        Random(seed).shuffle(order)
        for start in range(0, len(order), LENGTH):
            yield "sequences", program(order[start : start + LENGTH])


def _tensors_for_numbers() -> Iterator[Text]:
    """Tensors, which a call asks for the number in them; newer releases warn of lost gradients."""
    asked = ("float x", "complex x", "int x", "bool x", "Scalar x", "float[] x", "str x")
    for argument in asked:
        steps = [f"packet('t::b')({value})" for value in ("r", "r[0]", "[r]", "[r[0]]", "x[0]")]
        yield "tensors for numbers", program([f"L['d'].def_('b({argument}) -> Tensor')", *steps])


def _alike_overloads() -> Iterator[Text]:
    """Two overloads go away, whose schemas may differ by their names at most.

    The one that goes last has a kernel of another library, or torch would look for it in memory
    that is free.
    """
    kernel, last = "L['i'].impl_t_t('b', 'CPU', debug='one')", "L['d'].def_name_t_t('b', 'CPU')"
    for schema in _OF_ONE_TENSOR:
        first = f"L['d'].def_('b.out{schema}')"
        for steps in ([kernel, first, last], [first, kernel, last], [first, last, kernel]):
            yield "alike", program([*steps, "L['d'].reset()", "packet('t::b')"])


def _unsuitable_kernels() -> Iterator[Text]:
    """Kernels at several keys, some taken back, that no schema suits which comes then.

    The refusal names one of them: which, the map says that torch keeps them in.
    """
    keys = [key for key in KEYS if key not in ("", "nosuch", "Undefined")]
    random = Random(0)
    for _ in range(UNSUITABLE):
        registered = [
            f'L.update(k{place}=library("IMPL", "t", {key!r}).impl_t_t("a", "", {key!r}))'
            for place, key in enumerate(random.sample(keys, random.randint(2, 8)))
        ]
        lost = [f'L.pop("k{place}")' for place in range(len(registered)) if random.random() < 0.2]
        yield "unsuitable kernels", program([*registered, *lost, 'L["d"].def_("a(int x) -> int")'])


# --- the Python dispatcher --------------------------------------------------------------------

SHOWN_KEYS: Final = (
    *("CPU", "AutogradCPU", "FPGA", "AutogradOther", "XLA", "AutogradXLA", "Lazy", "AutogradLazy"),
    *("CompositeExplicitAutograd", "Autograd", "CompositeImplicitAutograd"),
)
WRONG_KEYS: Final = (["CPU", "CPU"], ["CPU", "CUDA"], ["nosuch"], [""], "CPU", ["CPU", 1], 1, None)
DISPATCHER: Final = """\
def shown(keys):
    dispatcher = xp._python_dispatcher.PythonDispatcher()
    try: answer = dispatcher.register(keys)
    except Exception as error: answer = type(error).__name__, str(error)
    texts = dispatcher.registrations(), dispatcher.dispatchTable()
    return answer, texts, dispatcher.rawRegistrations(), dispatcher.rawDispatchTable()
"""
PER_CASE: Final = 8
"""Sets of keys in one case."""


def python_dispatcher() -> Iterator[Text]:
    """What ``PythonDispatcher`` shows of kernels at every three keys, and of wrong ones."""
    yield "PythonDispatcher", "xp._python_dispatcher.PythonDispatcher().keys()"
    taken = [list(keys) for size in range(4) for keys in combinations(SHOWN_KEYS, size)]
    taken += [list(keys) for keys in combinations(SHOWN_KEYS, len(SHOWN_KEYS) - 1)]
    for start in range(0, len(taken), PER_CASE):
        chunk = taken[start : start + PER_CASE]
        yield "PythonDispatcher", f"{DISPATCHER}[shown(keys) for keys in {chunk}]"
    for keys in WRONG_KEYS:
        yield "PythonDispatcher", f"{DISPATCHER}shown({keys!r})"
    for wrong in (
        "PythonDispatcher(1)",
        "PythonDispatcher().register()",
        "PythonDispatcher().keys(1)",
    ):
        yield "PythonDispatcher", f"xp._python_dispatcher.{wrong}"
    both = "[xp._python_dispatcher.PythonDispatcher(), xp._python_dispatcher.PythonDispatcher()]"
    yield "PythonDispatcher", f"len({both})"


# --- sequences that make sense ----------------------------------------------------------------

Draw = Any
"""The function that hypothesis gives a composite strategy."""


def _one(draw: Draw, *choices: Any) -> Any:
    return draw(st.sampled_from(choices))


def _key(draw: Draw) -> Any:
    return _one(draw, *(USUAL_KEYS if draw(st.integers(0, 4)) else OTHER_KEYS))


def _define(draw: Draw) -> str:
    block = _one(draw, "d", "d", "d", "e", "e", "t", "s", "i")
    wrong = not draw(st.integers(0, 11))
    usual = USUAL_SCHEMAS["a" if block == "s" else _one(draw, "a", "a", "b", "b.out")]
    schema = _one(draw, *(WRONG_SCHEMAS if wrong else usual))
    way = _one(draw, "def_", "def_", "define", "def_legacy", "alias", "kernel", "name")
    if way == "alias":
        return f'L["{block}"].{_one(draw, "def_", "define")}({schema!r}, {_one(draw, *ANALYSES)!r})'
    if way == "kernel":
        return f'L["{block}"].def_schema_t_t({schema!r}, {_key(draw)!r}, debug="kernel")'
    if way == "name":
        name = _one(draw, *NAMES, *NAMES, *NAMES, *WRONG_NAMES)
        return f'L["{block}"].def_name_t_t({name!r}, {_key(draw)!r})'
    return f'L["{block}"].{way}({schema!r})'


def _impl(draw: Draw) -> str:
    block = _one(draw, "i", "i", "i", "j", "d", "e", "p", "m")
    names = {"p": ("a",), "m": ("erfinv", "aten::erfinv")}.get(block, NAMES)
    name = _one(draw, *(names if draw(st.integers(0, 14)) else WRONG_NAMES))
    key = _one(draw, "CPU", "CPU", "", "Meta") if block == "j" else _key(draw)
    if draw(st.integers(0, 2)) and key:  # a kernel in Python has a key
        taken = draw(st.sampled_from(KERNELS))
        return f'L["{block}"].impl({name!r}, {key!r}, {kernel(taken)})'
    return f'L["{block}"].impl_t_t({name!r}, {key!r}, debug={_one(draw, "one", "other")!r})'


def _fallback(draw: Draw) -> str:
    block = _one(draw, "w", "w", "w", "v", "i", "d")
    key = _key(draw)
    if draw(st.booleans()):
        return f'L["{block}"].fallback({key!r}, {_one(draw, "fb", "fk, True", "thru")})'
    return f'L["{block}"].fallback_fallthrough({key!r})'


def _take_back(draw: Draw) -> str:
    block = _one(draw, "d", "d", "i", "i", "e", "j", "w", "w", "v", "m", "s", "p", "t")
    way = _one(draw, 'L["{0}"].reset()', 'L.pop("{0}")', "L.update({0}={1})")
    return str(way.format(block, BLOCKS[block]))


def _open(draw: Draw) -> str:
    block = _one(draw, *BLOCKS, "t", "t")
    if draw(st.integers(0, 3)):
        return f"L.update({block}={BLOCKS[block]})"
    kind, namespace = _one(draw, *KINDS_AND_NAMESPACES)
    return f"library({kind!r}, {namespace!r}, {_one(draw, '', '', _key(draw))!r})"


def _call(draw: Draw) -> str:
    arguments = _one(draw, *ARGUMENTS)
    name, overload = _one(draw, *OVERLOADS[:1], *OVERLOADS)
    if not draw(st.integers(0, 7)):
        return redispatch(name, overload, _one(draw, *KEYSETS), arguments)
    called = call(name, overload, _one(draw, *WAYS), arguments)
    if draw(st.integers(0, 5)):
        return called
    return f"under({_one(draw, *GUARDS)}, lambda: {called})"


def _keep(draw: Draw) -> str:
    under = _one(draw, *KEPT)
    name, get = KEPT[under]
    return f"keep({under!r}, {name!r}, lambda: {get})"


def _use_kept(draw: Draw) -> str:
    under = _one(draw, *KEPT)
    questions = OF_KEPT[under]
    if questions and (under == "handle" or draw(st.booleans())):
        return str(_one(draw, *questions).format(under))
    return f"again({under!r})({_one(draw, *ARGUMENTS)})"


STEPS: Final = (
    *(_define,) * 4,
    *(_impl,) * 6,
    *(_call,) * 5,
    *(_take_back,) * 3,
    *(_use_kept,) * 2,
    *(_fallback, _fallback, _keep, _open),
)
"""What draws a step, as often as such steps shall come."""


@st.composite
def sequences(draw: Draw) -> list[str]:
    """Up to twelve steps: most make sense after those before them, some are refused.

    Most begin with an operator and a kernel, without which there is little to see.
    """
    steps = []
    if draw(st.integers(0, 5)):
        steps = [_define(draw), _impl(draw)]
        if draw(st.booleans()):
            steps.reverse()
    steps += [_one(draw, *STEPS)(draw) for _ in range(draw(st.integers(1, LENGTH - len(steps))))]
    return steps


def strategy(profile: Profile) -> st.SearchStrategy[Text]:
    """Sequences of up to twelve steps."""
    return sequences().map(lambda steps: ("sequence", program(steps)))


EXAMPLES: Final = {"ci": 1_000, "dev": 1_000, "nightly": 50_000}
"""Sequences that a run draws, by its hypothesis profile."""

AREA: Final = Area("registration", texts, strategy, isolation="fork", examples=EXAMPLES)
