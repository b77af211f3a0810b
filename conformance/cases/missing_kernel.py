"""Areas ``missing-kernel`` and ``fallbacks``: calls, and what they say where there is no kernel.

A case is a program: it defines an operator, registers kernels written in Python and fallthroughs
at keys of every kind, and then calls it, in every way in, with tensors of every kind, under guards
that change the thread's masks.  Its log has every kernel that ran, what each was called with,
every answer and every exception.  In ``fallbacks`` the program registers fallbacks for all
operators too, which PyTorch does not take back as it found them: these run in a fork each.

Left out, because PyTorch reads a null pointer there and dies: a key without kernel and fallback
called by ``_op_dk``, the key FuncTorchDynamicLayerBackMode outside of a transform, the key Tracer
outside of tracing.  The key Python belongs to the area of modes.  Tensors that are lazily
conjugated, negated or zero are called only under guards beneath which PyTorch can copy them.
Warnings are not compared: which of them a kernel gives on its way to a tensor is a matter of the
kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from itertools import product
from random import Random
from typing import Final

from hypothesis import strategies as st

from conformance.area import Area, Text
from conformance.cases import missing_kernel_operators
from conformance.cases.missing_kernel_pools import (
    ALIASES,
    ANSWERS,
    BELOW,
    COMPOSITE,
    END,
    GUARDS,
    INCLUDED,
    LAZY,
    PRELUDE,
    PRINTED,
    REDISPATCHED,
    REGISTERED,
    SAFE_GUARDS,
    SCHEMAS,
    TENSORS,
)
from mindtorch_v2.profile import Profile

Pick = Callable[[Sequence[str]], str]
"""Chooses one of several texts: by a seed, or by hypothesis."""

ROUNDS: Final = 6500
FALLBACK_ROUNDS: Final = 600
"""Programs in which everything is chosen at random."""


def program(steps: Sequence[str], tensors: Sequence[str] = ("xp.ones(2)", "xp.ones(2)")) -> str:
    """The case that takes these steps with two tensors, ``x`` and ``y``.

    Its operator has a name of its own, for ``torch.ops`` remembers the operators it has seen.
    """
    x, y = tensors
    lines = "\n".join(f"    step(lambda: {step})" for step in steps)
    text = f"{PRELUDE}x = {x}\ny = {y}\ndef steps():\n{lines}\n{END}"
    return text.replace("OPERATOR", f"a{sha256(text.encode()).hexdigest()[:8]}")


def define(schema: str) -> str:
    return f"d.def_({schema!r})"


def impl(key: str, answer: str, *, with_keyset: bool = False) -> str:
    """A kernel that notes its call and gives an answer made of its ``args``."""
    kernel = f"kernel({key!r}, lambda *args: {answer})"
    return f"i.impl('OPERATOR', {key!r}, {kernel}, {with_keyset})"


def again(key: str, way: str) -> str:
    """A kernel that gets the keyset and calls the operator again."""
    return f"i.impl('OPERATOR', {key!r}, kernel({key!r}, lambda ks, *args: {way}), True)"


def fallthrough(key: str) -> str:
    return f"i.impl('OPERATOR', {key!r}, xp.library.fallthrough_kernel)"


def fallback(key: str, answer: str, *, with_keyset: bool) -> str:
    kernel = f"kernel('fallback {key}', lambda *args: {answer})"
    return f"w.fallback({key!r}, {kernel}, {with_keyset})"


def under(guard: str, call: str) -> str:
    return f"under({guard}, lambda: {call})"


def ways(arguments: str, keys: Sequence[str] = ()) -> Iterator[str]:
    """Every way to call the operator with these arguments; ``keys`` have a kernel for certain."""
    separated = f", {arguments}" if arguments else ""
    yield f"xp.ops.t.OPERATOR({arguments})"
    yield f"xp.ops.t.OPERATOR.default({arguments})"
    yield f"xp.ops.t.OPERATOR.op({arguments})"
    yield f"xp.ops.t.OPERATOR.default.op({arguments})"
    yield f"xp.ops.t.OPERATOR.default._op({arguments})"
    yield f"C._dispatch_call_boxed(xp.ops.t.OPERATOR.default._handle{separated})"
    for keyset in REDISPATCHED:
        yield f"xp.ops.t.OPERATOR.default.redispatch({keyset}{separated})"
        yield f"xp.ops.t.OPERATOR.default._handle.redispatch_boxed({keyset}{separated})"
    for key in keys:
        yield f"xp.ops.t.OPERATOR.default._op_dk(K.{key}{separated})"


# --- systematic programs ----------------------------------------------------------------------


def _every_key(profile: Profile) -> Iterator[Text]:
    """A kernel at one key, tensors of every kind, and no guard."""
    schema, arguments = "OPERATOR(Tensor x) -> Tensor", "x"
    for key, tensor in product((*_registered(profile), ""), (*TENSORS, *LAZY)):
        registered = [impl(key, "args[0]")] if key else []
        called = [way for way in ways(arguments) if "redispatch" not in way]
        yield "one kernel", program([define(schema), *registered, *called], (tensor, "None"))


def _every_guard(profile: Profile) -> Iterator[Text]:
    """A kernel for the CPU, every schema, under every guard."""
    for (schema, calls), guard in product(SCHEMAS.items(), _guards(profile)):
        called = [under(guard, f"xp.ops.t.OPERATOR({arguments})") for arguments in calls]
        yield "guards", program([define(schema), impl("CPU", ANSWERS[schema][0]), *called])


def _every_answer(profile: Profile) -> Iterator[Text]:
    """What becomes of the answers that a kernel may give and may not give."""
    for schema, calls in SCHEMAS.items():
        answers = (*ANSWERS[schema], *(PRINTED if schema.endswith("-> Tensor") else ()))
        for answer, key in product(answers, ("CPU", "CompositeImplicitAutograd")):
            called = [way for way in ways(calls[-1], [key]) if "redispatch" not in way]
            steps = [define(schema), impl(key, answer), *called]
            yield "answers", program(steps)
            yield "answers", program(steps, ("xp.ones(2, requires_grad=True)", "xp.ones(2)"))


def _every_way(profile: Profile) -> Iterator[Text]:
    """Every way in, with every schema and every form of its arguments."""
    for (schema, calls), key in product(SCHEMAS.items(), ("CPU", *ALIASES)):
        for arguments in calls:
            registered = impl(key, ANSWERS[schema][0], with_keyset=True)
            registered = registered.replace("lambda *args", "lambda ks, *args")
            yield "ways", program([define(schema), registered, *ways(arguments, [key])])


def _every_fallthrough(profile: Profile) -> Iterator[Text]:
    """A fallthrough at one key or two, and what is called instead."""
    keys = _registered(profile)
    for one, other in zip(keys, (*keys[7:], *keys[:7]), strict=True):
        for tensor in TENSORS:
            registered = [fallthrough(one), impl("CPU", "args[0]")]
            calls = [f"xp.ops.t.OPERATOR({given})" for given in ("x, y", "y, y", "x, x")]
            masked = [under(f"C._IncludeDispatchKeyGuard(K.{key})", calls[0]) for key in BELOW]
            steps = [*registered, *calls, *masked, fallthrough(other), *calls]
            schema = define("OPERATOR(Tensor x, Tensor y) -> Tensor")
            yield "fallthrough", program([schema, *steps], (tensor, "o"))


def _every_fallback(profile: Profile) -> Iterator[Text]:
    """A fallback in Python, or a fallthrough, for every operator."""
    schema = define("OPERATOR(Tensor x) -> Tensor")
    for key, tensor in product(_registered(profile), TENSORS[:4]):
        made = [f"w.fallback_fallthrough({key!r})"]
        if _has_fallbacks(profile):
            for with_keyset in (False, True):
                made.append(fallback(key, "args[-1]", with_keyset=with_keyset))
        masked = under(f"C._IncludeDispatchKeyGuard({key!r})", "xp.ops.t.OPERATOR(x)")
        for each in made:
            yield "fallback", program([schema, each, *ways("x"), masked], (tensor, "None"))


def _has_fallbacks(profile: Profile) -> bool:
    """Whether this release's libraries take fallbacks that are written in Python."""
    return "fallback" in profile.bindings["classes"]["_DispatchModule"]["methods"]


def _registered(profile: Profile) -> list[str]:
    return [key for key in REGISTERED if key in profile.keys.parse]


def _guards(profile: Profile) -> list[str]:
    included = [key for key in INCLUDED if key in profile.keys.members]
    return [
        *GUARDS,
        *(f"C._IncludeDispatchKeyGuard(K.{key})" for key in included),
        *(f"C._ExcludeDispatchKeyGuard(C.DispatchKeySet(K.{key}))" for key in included),
    ]


# --- programs at random -----------------------------------------------------------------------


def random_program(
    profile: Profile, pick: Pick, more: Callable[[int], int], *, fallbacks: bool
) -> Text:
    """A program in which everything is chosen; ``more(n)`` answers a number up to ``n``.

    It registers fallthroughs, or ``fallbacks`` for all operators.
    """
    schema = pick(list(SCHEMAS))
    calls = SCHEMAS[schema]
    keys = _registered(profile)
    lazy = more(3) == 0
    tensors = (pick(LAZY if lazy else TENSORS), pick(TENSORS))
    guards = list(SAFE_GUARDS) if lazy else _guards(profile)
    steps = [define(schema)]
    implemented: list[str] = []
    for _ in range(1 + more(4)):
        key, kind = pick(keys), more(9)
        if kind <= 3:
            steps.append(impl(key, pick(ANSWERS[schema])))
        elif kind <= 6 and key not in COMPOSITE:
            steps.append(again(key, _again(profile, pick, key, lazy or more(1) == 1)))
        elif not fallbacks:
            steps.append(fallthrough(key))
        elif _has_fallbacks(profile) and more(1):
            with_keyset = more(1) == 1
            steps.append(fallback(key, pick(ANSWERS[schema]), with_keyset=with_keyset))
        else:
            steps.append(f"w.fallback_fallthrough({key!r})")
        if kind <= 6 and key in profile.keys.members:
            implemented.append(key)
    for _ in range(2 + more(4)):
        call = pick(list(ways(pick(calls), implemented)))
        for _ in range(more(2)):
            call = under(pick(guards), call)
        steps.append(call)
    return "random", program(steps, tensors)


def _again(profile: Profile, pick: Pick, key: str, redispatch: bool) -> str:
    """A call from within a kernel at ``key``, which does not lead to ``key`` again: below the key,
    or with the key excluded."""
    if key == "Autograd":
        return "xp.ops.t.OPERATOR.default.redispatch(ks & C._after_autograd_keyset, *args)"
    if redispatch or key not in profile.keys.members:
        below = f"C._dispatch_keyset_full_after(C._parse_dispatch_key({key!r}))"
        return f"xp.ops.t.OPERATOR.default.redispatch(ks & {below}, *args)"
    exclude = f"C._ExcludeDispatchKeyGuard(C.DispatchKeySet(K.{key}))"
    way = pick(["", ".default", ".default._op"])
    return under(exclude, f"xp.ops.t.OPERATOR{way}(*args)")


def _seeded(profile: Profile, rounds: int, *, fallbacks: bool) -> Iterator[Text]:
    for seed in range(rounds):
        random = Random(seed)

        def more(most: int, random: Random = random) -> int:
            return random.randint(0, most)

        yield random_program(profile, random.choice, more, fallbacks=fallbacks)


def _drawn(profile: Profile, *, fallbacks: bool) -> st.SearchStrategy[Text]:
    @st.composite
    def programs(draw: st.DrawFn) -> Text:
        def pick(values: Sequence[str]) -> str:
            return draw(st.sampled_from(values))

        def more(most: int) -> int:
            return draw(st.integers(0, most))

        return random_program(profile, pick, more, fallbacks=fallbacks)

    return programs()


def texts(profile: Profile) -> Iterator[Text]:
    yield from _every_key(profile)
    yield from _every_guard(profile)
    yield from _every_answer(profile)
    yield from _every_way(profile)
    yield from _every_fallthrough(profile)
    yield from missing_kernel_operators.texts(profile)
    yield from _seeded(profile, ROUNDS, fallbacks=False)


def strategy(profile: Profile) -> st.SearchStrategy[Text]:
    """Programs at random."""
    return _drawn(profile, fallbacks=False)


def fallback_texts(profile: Profile) -> Iterator[Text]:
    yield from _every_fallback(profile)
    yield from _seeded(profile, FALLBACK_ROUNDS, fallbacks=True)


def fallback_strategy(profile: Profile) -> st.SearchStrategy[Text]:
    """Programs at random, which register fallbacks."""
    return _drawn(profile, fallbacks=True)


AREA: Final = Area("missing-kernel", texts, strategy, warnings=False)
FALLBACKS: Final = Area(
    "fallbacks",
    fallback_texts,
    fallback_strategy,
    isolation="fork",
    warnings=False,
    imports=("fx.experimental.symbolic_shapes",),
)
