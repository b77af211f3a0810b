"""Area ``registration``: libraries, definitions, kernels and fallbacks, in every order.

A case is a program of steps.  After each, whether it was refused or not, the program notes the
dumps and tables of the operators it is about; so the state after a refused step is compared too.
Every case runs in a fork of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations
from random import Random
from typing import Final

from hypothesis import strategies as st

from conformance.area import Area, Text
from conformance.cases.pools import C
from mindtorch_v2.profile import Profile

PRELUDE: Final = f"""\
C = {C}
log = []
def f(*args): return args
def note():
    for name in ("t::a", "t::b.c"):
        log.append((C._dispatch_dump(name), C._dispatch_dump_table(name)))
    log.append(sorted(C._dispatch_find_dangling_impls()))
def step(run):
    try: log.append(type(run()) is type(None))
    except Exception as error: log.append((type(error) is RuntimeError, str(error)))
    note()
library = C._dispatch_library
d = library("FRAGMENT", "t", "")
i = library("IMPL", "t", "")
w = library("IMPL", "_", "")
"""

KEYS: Final = (
    *("CPU", "CUDA", "Meta", "XLA"),
    *("PrivateUse1", "QuantizedCPU", "SparseCPU", "SparseCsrCPU"),
    *("NestedTensorCPU", "MkldnnCPU", "AutogradCPU", "AutogradCUDA"),
    *("AutogradXLA", "AutogradOther", "AutogradNestedTensor", "AutogradPrivateUse1"),
    *("AutogradMeta", "ADInplaceOrView", "Functionalize", "BackendSelect"),
    *("Python", "Conjugate", "Negative", "Tracer"),
    *("AutocastCPU", "FuncTorchBatched", "FuncTorchGradWrapper", "PythonDispatcher"),
    *(
        "Autograd",
        "CompositeImplicitAutograd",
        "CompositeExplicitAutograd",
        "CompositeExplicitAutogradNonFunctional",
    ),
    *(
        "CompositeImplicitAutogradNestedTensor",
        "FuncTorchBatchedDecomposition",
        "Undefined",
        "Dense",
    ),
    *("nosuch"),
)
"""Names of keys of every kind, and of none."""

NAMES: Final = ("a", "b.c", "t::a", "t::b.c")
WRONG_NAMES: Final = ("s::a", "a.default", "a.__x", "", "a(Tensor x) -> Tensor", "::a", "a b")
SCHEMAS: Final = (
    "a(Tensor x) -> Tensor",
    "t::a(Tensor x) -> Tensor",
    "b.c(Tensor x, int y=1) -> Tensor",
    "b.c(Tensor(a!) x) -> Tensor(a!)",
    "a(Tensor x, Tensor y) -> (Tensor, Tensor)",
    "a(int x) -> int",
)
WRONG_SCHEMAS: Final = ("a", "a(", "s::a(Tensor x) -> Tensor", "a(Tensor x) -> Tensor x y", "")
ANALYSES: Final = ("", "FROM_SCHEMA", "CONSERVATIVE", "PURE_FUNCTION", "nosuch")
KINDS: Final = ("DEF", "IMPL", "FRAGMENT", "nosuch")
NAMESPACES: Final = ("t", "s", "aten", "prims")


def program(steps: Sequence[str]) -> str:
    """The case that takes these steps."""
    lines = "\n".join(f"step(lambda: {step})" for step in steps)
    return f"{PRELUDE}note()\n{lines}\nlog"


def all_steps() -> Iterator[tuple[str, str]]:
    """Every single step, with its kind."""
    for schema in (*SCHEMAS, *WRONG_SCHEMAS):
        for library in ("d", "i"):
            yield "define", f"{library}.def_({schema!r})"
        yield "define", f"d.def_legacy({schema!r})"
        yield "define", f"d.define({schema!r})"
        for analysis in ANALYSES:
            yield "define", f"d.def_({schema!r}, {analysis!r})"
        for key in ("", "CPU", "nosuch"):
            yield "define with kernel", f"d.def_schema_t_t({schema!r}, {key!r})"
    for name in (*NAMES, *WRONG_NAMES):
        yield "define with kernel", f"d.def_name_t_t({name!r})"
        for key in KEYS:
            yield "impl", f"i.impl_t_t({name!r}, {key!r})"
            yield "impl", f"i.impl({name!r}, {key!r}, f)"
    for key in KEYS:
        yield "impl", f'd.impl("a", {key!r}, xp.library.fallthrough_kernel)'
        yield "fallback", f"w.fallback_fallthrough({key!r})"
        yield "fallback", f"i.fallback_fallthrough({key!r})"
        yield "fallback", f"d.fallback_fallthrough({key!r})"
        yield "library", f'library("IMPL", "t", {key!r}).impl_t_t("a", "CPU")'
    for kind in KINDS:
        for namespace in NAMESPACES:
            yield "library", f'library({kind!r}, {namespace!r}, "")'
            yield "library", f'library({kind!r}, {namespace!r}, "CPU")'
    for library in ("d", "i", "w"):
        yield "reset", f"{library}.reset()"


SHORT: Final = (
    'd.def_("a(Tensor x) -> Tensor")',
    'i.impl_t_t("a", "CPU")',
    'i.impl_t_t("a", "CompositeImplicitAutograd")',
    'i.impl_t_t("a", "CompositeExplicitAutograd")',
    'i.impl_t_t("a", "Autograd")',
    'i.impl_t_t("a", "AutogradCPU")',
    'i.impl_t_t("a", "QuantizedCPU")',
    'd.def_("a(Tensor x, Tensor y) -> Tensor")',
    'i.impl("a", "CPU", f)',
    'w.fallback_fallthrough("CPU")',
    "i.reset()",
    "d.reset()",
)
"""Steps of which every three of the first are tried in every order."""

LENGTH: Final = 12
"""Steps of a sequence."""
ROUNDS: Final = 10
"""How often every step occurs, each time after and before others."""


def texts(profile: Profile) -> Iterator[Text]:
    for steps in permutations(SHORT[:7], 3):
        yield "permutations", program(steps)
    every = [step for _, step in all_steps()]
    for seed in range(ROUNDS):
        order = list(every)
        Random(seed).shuffle(order)
        for start in range(0, len(order), LENGTH):
            yield "sequences", program(order[start : start + LENGTH])


def strategy(profile: Profile) -> st.SearchStrategy[Text]:
    """Sequences of up to twelve steps."""
    steps = st.sampled_from([step for _, step in all_steps()])
    good = st.sampled_from(SHORT)
    sequences = st.lists(st.one_of(good, steps), min_size=1, max_size=12)
    return sequences.map(lambda taken: ("sequence", program(taken)))


AREA: Final = Area("registration", texts, strategy, isolation="fork")
