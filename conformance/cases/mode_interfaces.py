"""Texts of area ``modes`` about what can be asked of modes and overrides, and wrong calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final

from conformance.area import Text
from conformance.cases.mode_programs import (
    ANSWER,
    DECLINE,
    DISPATCH_MODE,
    FUNCTION_MODE,
    PASS_ON,
    dispatch_class,
    dispatch_mode,
    function_class,
    function_mode,
    infra_mode,
    made,
    program,
    tried,
    tried_block,
    within,
)
from conformance.cases.pools import wrong_calls
from mindtorch_v2.profile import Profile


def texts(profile: Profile) -> Iterator[Text]:
    yield from _stacks()
    yield from _functions_of_c(profile)
    yield from _classes()
    yield from _wrappers()
    yield from _overrides()
    yield from _modes_in_python(profile)
    yield from _handlers()
    yield from _switches_of_autograd()
    yield from _functions_that_count()


# --- torch._C ---------------------------------------------------------------------------------

_KEY: Final = "C._TorchDispatchModeKey"
_KEYS: Final = (f"{_KEY}.FAKE", f"{_KEY}.PROXY", f"{_KEY}.FUNCTIONAL")
_STACK_STEPS: Final = (
    "C._push_on_torch_dispatch_stack(m)",
    "C._push_on_torch_dispatch_stack(n)",
    "C._pop_torch_dispatch_stack(None)",
    "C._push_on_torch_function_stack(f)",
    "C._pop_torch_function_stack()",
    "C._len_torch_dispatch_stack()",
    "C._len_torch_function_stack()",
    "C._get_dispatch_stack_at(0)",
    "C._get_dispatch_stack_at(1)",
    "C._get_function_stack_at(0)",
    "C._push_on_torch_dispatch_stack(None)",
    "C._push_on_torch_function_stack(None)",
    *(f"C._set_dispatch_mode({mode})" for mode in ("fake", "proxy", "functional", "m")),
    *(f"C._push_on_torch_dispatch_stack({mode})" for mode in ("fake", "proxy")),
    *(f"C._unset_dispatch_mode({key})" for key in _KEYS),
    *(f"C._get_dispatch_mode({key})" for key in _KEYS),
    *(f"C._pop_torch_dispatch_stack({key})" for key in _KEYS),
    "P._get_current_dispatch_mode()",
    "P._get_current_dispatch_mode_stack()",
    "O._get_current_function_mode()",
    "O._get_current_function_mode_stack()",
    "P._pop_mode()",
    "P._push_mode(n)",
    "O._pop_mode()",
    "O._push_mode(f)",
    "C._is_torch_function_mode_enabled()",
    "C._dispatch_tls_set_dispatch_key_included(C.DispatchKey.Python, False)",
    "ops.one(x)",
)
_MODES: Final = (
    dispatch_mode("M", PASS_ON),
    dispatch_mode("N", ANSWER, "M"),
    function_mode("F", PASS_ON),
    infra_mode("Fake", "FAKE", PASS_ON),
    infra_mode("Proxy", "PROXY", PASS_ON),
    infra_mode("Functional", "FUNCTIONAL", PASS_ON),
    "m, n, f, fake, proxy, functional = M(), N(), F(), Fake(), Proxy(), Functional()",
)
_EMPTY: Final = """\
for _ in range(C._len_torch_dispatch_stack()): C._pop_torch_dispatch_stack(None)
for _ in range(C._len_torch_function_stack()): C._pop_torch_function_stack()"""


def _stacks() -> Iterator[Text]:
    """Every two steps, in both orders, and what they leave."""
    for first, second in product(_STACK_STEPS, repeat=2):
        if any(is_set_twice(first, second, mode) for mode in ("fake", "proxy", "functional")):
            continue
        steps = [tried(first), "state()", tried(second), tried("ops.one(x)"), "state()", _EMPTY]
        yield "mode stacks", program(_MODES, steps)


def is_set_twice(first: str, second: str, mode: str) -> bool:
    """Whether torch would refuse the second step, and release a mode that it does not own."""
    return f"({mode})" in first and f"({mode})" in second


_ARGUMENTS: Final = {
    "_pop_torch_dispatch_stack": ["None"],
    "_get_dispatch_stack_at": ["0"],
    "_len_torch_dispatch_stack": [],
    "_set_dispatch_mode": ["None"],
    "_get_dispatch_mode": [_KEYS[0]],
    "_unset_dispatch_mode": [_KEYS[0]],
    "_pop_torch_function_stack": [],
    "_get_function_stack_at": ["0"],
    "_len_torch_function_stack": [],
    "_is_torch_function_enabled": [],
    "_is_torch_function_mode_enabled": [],
    "_has_torch_function": ["(x,)"],
    "_has_torch_function_unary": ["x"],
    "_has_torch_function_variadic": ["x", "x"],
    "_TorchDispatchModeKey": ["1"],
    "_EnableTorchFunction": [],
    "_RestorePythonTLSSnapshot": [],
    "_is_torch_function_all_disabled": [],
    "_get_torch_function_state": [],
}
_PUSHED: Final = ("(m)", "(f)", "(None)", "(x)", "(M)", "()", "(m, n)", "(a=m)", "(m, a=m)")
"""What a stack is given, all of which somebody keeps: torch does not."""
_DISABLED_CALLS: Final = (
    *("()", "(len)", "(len, ())", "(len, (), ())", "(len, (), ([1],))", "(len, (), [[1]])"),
    *("(dict, (), (), {'a': 1})", "(len, (), 5)", "(len, (), 'a')", "(5, ())", "(1, 2, 3, 4, 5)"),
    *("(len, (), ([1],), a=1)", "(tls, ())", "(C._is_torch_function_enabled, ())"),
    *("(ops.one, (), (x,))", "(ops.one, (), (x,), {'z': 3})", "(ops.none, (xp.Tensor,))"),
)
"""Calls of what stands for an override that there is not."""
_ONLY_NEWER: Final = ("_is_torch_function_all_disabled", "_get_torch_function_state")


def _functions_of_c(profile: Profile) -> Iterator[Text]:
    newer = "_TorchFunctionState" in profile.bindings["classes"]
    for name, arguments in _ARGUMENTS.items():
        if newer or name not in _ONLY_NEWER:
            calls = wrong_calls(f"C.{name}", arguments)
            for call in [each for each in calls if "-1" not in each][::3]:  # which torch looks up
                steps = [tried(f"str({call})"), _EMPTY]
                yield name, program([], steps, operators=False)
            yield name, program([], [tried(f"C.{name}")], operators=False)
    for kind, given in product(("dispatch", "function"), _PUSHED):
        call = f"C._push_on_torch_{kind}_stack{given}"
        yield "push", program(_MODES, [tried(call), tried("ops.one(x)"), "state()", _EMPTY])
    for kind, given in product(("function", "dispatch"), _DISABLED_CALLS):
        call = f"C._disabled_torch_{kind}_impl{given}"
        yield "disabled", program(_MODES, [tried(call), within("M()", [tried(call)])])
    members = (*_KEYS, f"{_KEY}(1)", f"{_KEY}(7)")
    questions = ("{0}", "int({0})", "{0}.name", "{0}.value", "hash({0})", "{0} == 1")
    for member, question in product(members, questions):
        yield (
            "_TorchDispatchModeKey",
            program([], [tried(question.format(member))], operators=False),
        )
    yield "_TorchDispatchModeKey", program([], [tried(f"{_KEY}.__members__")], operators=False)
    if newer:
        for state in ("ENABLED", "SUBCLASSES_DISABLED", "ALL_DISABLED"):
            steps = [
                tried(f"C._set_torch_function_state(C._TorchFunctionState.{state})"),
                tried("C._get_torch_function_state()"),
                tried("C._is_torch_function_all_disabled()"),
                tried("ops.one(x)"),
                within("F()", [tried("ops.one(x)"), "state()"]),
            ]
            yield "_set_torch_function_state", program(_MODES, steps)
    yield from _switches()


def _switches() -> Iterator[Text]:
    names = ("DisableTorchFunction", "DisableTorchFunctionSubclass", "_EnableTorchFunction")
    lives = (
        ("g.__enter__()", "g.__enter__()", "g.__exit__(None, None, None)"),
        ("g.__exit__(None, None, None)", "g.__enter__()"),
        ("g.__enter__()", "g = None"),
        ("g = None",),
        ("g.__enter__(1)", "g.__exit__()", "g.nosuch", "g.__exit__(a=1)"),
    )
    define = [function_class("T", ANSWER), f"t = {made('T')}"]
    for name, outer, life in product(names, (*names, "_PreserveDispatchKeyGuard"), lives):
        steps = [f"g = C.{name}()", "state()"]
        for line in life:
            steps += [line if line == "g = None" else tried(line), "state()"]
        steps = [within(f"C.{outer}()", steps), "g = None"]
        yield f"life of {name}", program(define, steps, operators=False)


# --- classes ----------------------------------------------------------------------------------

_BASES: Final = ("xp.Tensor", "xp._C.TensorBase", "xp._C._TensorBase", "object", "xp.Tensor, list")
_MEMBERS: Final = (
    "pass",
    "__torch_dispatch__ = None",
    "__torch_dispatch__ = xp._C._disabled_torch_dispatch_impl",
    "__torch_dispatch__ = 5",
    "__torch_function__ = None",
    "__torch_function__ = xp._C._disabled_torch_function_impl",
    "def __torch_dispatch__(self, func, types, args=(), kwargs=None): return fresh()",
    "@staticmethod\n    def __torch_dispatch__(func, types, args=(), kwargs=None): return fresh()",
    "@classmethod\n    def __torch_dispatch__(cls, func, types, *given): return fresh()",
    "@classmethod\n    def __torch_dispatch__(cls, func): return fresh()",
    "@classmethod\n    def __torch_function__(cls, func, types, args=(), kwargs=None): return 7",
    "def __torch_function__(self, func, types, args=(), kwargs=None): return 7",
    "def __torch_function__(self, func): return 7",
)
_QUESTIONS: Final = (
    "C._dispatch_keys({0})",
    "{0}._python_dispatch",
    "type({0}) is K",
    "{0}.shape",
    "ops.one({0})",
    "ops.many([x, {0}])",
    "K.__torch_function__ is C._disabled_torch_function_impl",
    "K.__torch_dispatch__ is C._disabled_torch_dispatch_impl",
    "{0}.__torch_dispatch__ is C._disabled_torch_dispatch_impl",
    "C._has_torch_function_unary({0})",
    "O.is_tensor_like({0})",
    "len(O._get_overloaded_args([{0}, x, 5]))",
    "isinstance({0}, xp.Tensor)",
    "{0}.requires_grad",
)
_MAKERS: Final = (
    "xp.Tensor._make_subclass(K, x)",
    "xp.Tensor._make_subclass(K, x, True)",
    "x.as_subclass(K)",
    "xp.Tensor._make_wrapper_subclass(K, (2, 3))",
)


def _classes() -> Iterator[Text]:
    for base, member, maker in product(_BASES, _MEMBERS, _MAKERS):
        lines = [
            "def run():",
            f"    class K({base}):\n        {member.replace(chr(10), chr(10) + '    ')}",
            f"    k = {maker}",
            "    return (K, k)",
            "made = None",
            "try: made = run()",
            "except Exception as error: log.append((type(error).__name__, str(error)))",
            "K, k = made or (None, None)",
        ]
        steps = [tried(question.format("k")) for question in _QUESTIONS]
        yield "classes", program(lines, [*(f"if made: {step}" for step in steps)])
    wrong = ("int", "3", "x", "None", "xp.Tensor", "list")
    for cls, maker in product(wrong, _MAKERS):
        yield "classes", program([], [tried(maker.replace("K", cls, 1))], operators=False)
    for maker, good in (("xp.Tensor._make_subclass", ["S", "x"]), ("x.as_subclass", ["S"])):
        for call in wrong_calls(maker, good):
            define = [dispatch_class("S", ANSWER)]
            yield "classes", program(define, [tried(call)], operators=False)
    policies = ("dispatch_sizes_strides_policy='nosuch'", "dispatch_sizes_strides_policy=None")
    devices = ("'cuda'", "'meta'", "'cpu'", "xp.device('xla')", "None")
    options = (*policies, *(f"device_for_backend_keys={device}" for device in devices))
    for option in options:
        call = f"C._dispatch_keys(xp.Tensor._make_subclass(S, x, {option}))"
        yield "classes", program([dispatch_class("S", ANSWER)], [tried(call)], operators=False)


# --- tensors without data ---------------------------------------------------------------------

_OPTIONS: Final = (
    *("dtype=xp.int64", "dtype=xp.complex64", "device='meta'", "device='cuda'", "device='cuda:1'"),
    *("strides=(1, 2)", "strides=(0, 0), storage_offset=4", "storage_offset=4", "strides=(1,)"),
    *("requires_grad=True", "dtype=xp.int32, requires_grad=True", "pin_memory=True"),
    *("memory_format=xp.channels_last", "storage_size=100", "storage_size=0", "layout=xp.strided"),
    *("_extra_dispatch_keys=C.DispatchKeySet(C.DispatchKey.Conjugate)", "layout=xp.jagged"),
    *("_extra_dispatch_keys=C.DispatchKeySet(C.DispatchKey.NestedTensor)", "dtype=None"),
    *("dispatch_sizes_strides_policy='nosuch'", "nosuch=1", "dtype=3", "strides='a'", ""),
)
_SIZES: Final = ("(2, 3)", "(0,)", "()", "[4]", "(2, -3)", "5", "'a'", "(1, 2, 3)")
_METADATA: Final = (
    "w.shape",
    "w.stride()",
    "w.storage_offset()",
    "w.dtype",
    "w.device",
    "w.layout",
    "w.requires_grad",
    "w.numel()",
    "w.dim()",
    "w.is_leaf",
    "C._dispatch_keys(w)",
    "w.untyped_storage().nbytes()",
    "w.untyped_storage().device",
)


def _wrappers() -> Iterator[Text]:
    define = [dispatch_class("S", ANSWER)]
    for size, option in product(_SIZES, _OPTIONS):
        call = f"xp.Tensor._make_wrapper_subclass(S, {size}, {option})"
        steps = ["w = None", f"try: w = {call}"]
        steps += ["except Exception as error: log.append((type(error).__name__, str(error)))"]
        asked = [f"if w is not None: {tried(question)}" for question in _METADATA]
        yield "_make_wrapper_subclass", program(define, [*steps, *asked], operators=False)


# --- torch.overrides ----------------------------------------------------------------------------

_VALUES: Final = ("x", "t", "d", "s", "w", "5", "None", "'a'", "T", "W", "[t]", "xp", "{}", "...")


_FUNCTION_SWITCHES: Final = (
    "C._PreserveDispatchKeyGuard()",
    "C.DisableTorchFunction()",
    "C.DisableTorchFunctionSubclass()",
    "F()",
)


def _overrides() -> Iterator[Text]:
    define = [
        function_class("T", ANSWER),
        function_class("W", DECLINE, "object"),
        dispatch_class("S", ANSWER),
        "class D(xp.Tensor):\n    __torch_function__ = C._disabled_torch_function_impl",
        "class E(xp.Tensor): pass",
        f"t, d, s, e, w = {made('T')}, {made('D')}, {made('S')}, {made('E')}, W()",
        "def f(a, b=None): return 7",
        "g = O.wrap_torch_function(lambda a, b=None: (a, b))(f)",
    ]
    for value in _VALUES:
        calls = [
            f"O.has_torch_function_unary({value})",
            f"O.has_torch_function(({value}, x))",
            f"O.has_torch_function([{value}])",
            f"O.has_torch_function_variadic(x, {value})",
            f"O.is_tensor_like({value})",
            f"P.is_traceable_wrapper_subclass({value})",
            f"len(O._get_overloaded_args([{value}, x, t, w]))",
            f"f({value})",
            f"g({value})",
            f"g(x, {value})",
            f"O.handle_torch_function(f, ({value},), {value}, b=x)",
            f"O.handle_torch_function(f, [x, {value}, w], 1)",
        ]
        for call, context in product(calls, _FUNCTION_SWITCHES):
            mode = function_mode("F", "return 9")
            steps = [within(context, [tried(call)])]
            yield "torch.overrides", program([*define, mode], steps, operators=False)
    questions = ("add", "shape", "dim", "sum", "numel", "requires_grad", "T")
    for name in questions:
        attribute = f"xp.Tensor.{name}"
        asked = f"O.is_tensor_method_or_property({attribute})"
        for call in (asked, attribute, f"{attribute}.__name__"):
            yield "torch.overrides", program([], [tried(call)], operators=False)
    for name in ("add", "sum", "ones"):
        yield "torch.overrides", program([], [tried(f"xp.{name}")], operators=False)


# --- torch.utils._python_dispatch -------------------------------------------------------------


def _modes_in_python(profile: Profile) -> Iterator[Text]:
    lives: Sequence[Sequence[str]] = (
        ("m.__exit__(None, None, None)",),
        ("m.__enter__()", "m.__enter__()", "m.__exit__(None, None, None)", "ops.one(x)"),
        ("m.__enter__()", "n.__enter__()", "m.__exit__(None, None, None)", "ops.one(x)"),
        ("f.__exit__(None, None, None)",),
        ("f.__enter__()", "f.__enter__()", "f.__exit__(None, None, None)", "x.shape"),
        ("M.push()", "F.push()"),
        ("M(3)", "M(C.DispatchKey.CPU).__enter__()", "M(C.DispatchKey.PreDispatch).__enter__()"),
        ("P.TorchDispatchMode().__torch_dispatch__(1, 2)",),
        ("O.TorchFunctionMode().__torch_function__(1, 2)",),
        ("P.BaseTorchDispatchMode().__torch_dispatch__(len, (), ([1],))",),
        ("O.BaseTorchFunctionMode().__torch_function__(len, (), ([1],))",),
        ("m.__enter__() is m", "P._get_current_dispatch_mode() is m"),
        ("P._pop_mode(C.DispatchKey.PreDispatch)", "P._pop_mode(5)", f"P._pop_mode({_KEYS[0]})"),
    )
    for life in lives:
        steps = [part for call in life for part in (tried(call), "state()")]
        yield "modes in Python", program(_MODES, [*steps, _EMPTY])
    inside = (
        "P.is_in_torch_dispatch_mode()",
        "P._get_current_dispatch_mode() is m",
        "len(P._get_current_dispatch_mode_stack())",
        "len(O._get_current_function_mode_stack())",
        "ops.one(x)",
    )
    contexts = (
        *("m", "n", "f", "fake", "P._disable_current_modes()"),
        *("P._pop_mode_temporarily()", "O._pop_mode_temporarily()"),
    )
    for outer, middle, inner in product(contexts, contexts[:5], contexts):
        if [outer, middle, inner].count("fake") > 1:  # see `is_set_twice`
            continue
        block = within(middle, [within(inner, map(tried, inside)), *map(tried, inside)])
        yield "modes in Python", program(_MODES, [tried_block(within(outer, [block])), _EMPTY])
    errors = ("ValueError('inside')", "KeyError")
    for context, error in product(("m", "f", "fake", "m, n", "P._disable_current_modes()"), errors):
        block = within(context, ["state()", f"raise {error}"])
        yield "modes in Python", program(_MODES, [tried_block(block)])
    if profile.modes["knows_infra_modes"]:
        steps = [tried("M.is_infra_mode()"), tried("P.is_in_torch_dispatch_mode(False)")]
        yield "modes in Python", program(_MODES, steps)


def _handlers() -> Iterator[Text]:
    """Handlers that no protocol fits, on the stack or in a class.

    None of them is a function written in C: newer releases write on the handler of a dispatch
    mode that no compiler may look at it.
    """
    handlers = (
        "def {0}(self, func): return 1",
        "def {0}(self): return 1",
        "@classmethod\n    def {0}(cls, func, types, args=(), kwargs=None): return 1",
        "@staticmethod\n    def {0}(func, types, args=(), kwargs=None): return 1",
        "{0} = None",
        "pass",
        "{0} = lambda self, func, types, args=(), kwargs=None: fresh()",
    )
    for handler, protocol in product(handlers, ("dispatch", "function")):
        member = handler.format(f"__torch_{protocol}__")
        for base in ("object", DISPATCH_MODE if protocol == "dispatch" else FUNCTION_MODE):
            define = [f"class H({base}):\n    {member}", "h = H()"]
            push = f"C._push_on_torch_{protocol}_stack(h)"
            calls = ("ops.one(x)", "x.dim()", "ops.none()", "ops.many([x])")
            yield "handlers", program(define, [push, *map(tried, calls), "state()", _EMPTY])


# --- what C has besides operators ---------------------------------------------------------------


_INITS: Final = (
    *("uniform_(out)", "uniform_(out, 1, b=2)", "normal_(out)", "constant_(out, 3)", "ones_(out)"),
    *("zeros_(out)", "xavier_uniform_(xp.ones(2, 2))", "xavier_normal_(xp.ones(2, 2, 2), 2)"),
    *("kaiming_uniform_(xp.ones(2, 2))", "kaiming_normal_(xp.ones(2, 2), 1, 'fan_out', 'relu')"),
    *(
        "kaiming_uniform_(xp.ones(0, 2))",
        "kaiming_uniform_(out)",
        "uniform_()",
        "uniform_(out, c=1)",
    ),
    "kaiming_normal_(xp.ones(2, 2), 1, 'nosuch', 'other')",
)


def _switches_of_autograd() -> Iterator[Text]:
    """Functions of C that set something, devices, and functions of Python that ask first: a mode
    that overrides functions sees them."""
    names = ("_set_grad_enabled", "_set_multithreading_enabled")
    given = (
        "(True)",
        "(False)",
        "(enabled=False)",
        "()",
        "(1)",
        "(None)",
        "(True, False)",
        "(a=1)",
    )
    calls = [f"C.{name}{arguments}" for name, arguments in product(names, given)]
    calls += ["xp.set_grad_enabled(False)", "xp.autograd.set_multithreading_enabled(False)"]
    calls += ["xp.unique(x)", "xp.unique(x, True, True, True, 0)", "xp.unique_consecutive(x)"]
    calls += ["xp.unique_consecutive(x, return_inverse=True, return_counts=True)"]
    calls += [f"xp.nn.init.{name}" for name in _INITS]
    devices = ("'cpu'", "'meta', 0", "type='cpu'", "xp.device('meta')", "3.5", "", "'nosuch'")
    calls += [f"xp.device({arguments})" for arguments in devices]
    blocks = (
        *("xp.no_grad()", "xp.enable_grad()", "xp.set_grad_enabled(False)", "xp.inference_mode()"),
        "xp.autograd.set_multithreading_enabled(False)",
    )
    asked = [tried(f"xp.{each}_enabled()") for each in ("is_grad", "is_inference_mode")]
    asked.append(tried("C._is_multithreading_enabled()"))
    for answer, contexts in product((PASS_ON, "return 9"), ("F()", "F(), F()")):
        define = [function_mode("F", answer)]
        for call in calls:
            steps = [within(contexts, [tried(call)]), *asked]
            yield "switches", program(define, steps, operators=False)
        for block in blocks:
            steps = [tried_block(within(contexts, [within(block, asked)])), *asked]
            yield "switches", program(define, steps, operators=False)
    for call in calls:
        yield "switches", program([], [tried(call), *asked], operators=False)


_COUNTING: Final = """
    C._current_autograd_node C._current_graph_task_execution_order C._current_graph_task_id
    C._get_deterministic_algorithms C._get_deterministic_algorithms_warn_only
    C._is_multithreading_enabled C._will_engine_execute_node xp.autocast_decrement_nesting
    xp.autocast_increment_nesting xp.clear_autocast_cache xp.get_default_dtype
    xp.is_anomaly_check_nan_enabled xp.is_anomaly_enabled xp.is_autocast_cache_enabled
    xp.is_grad_enabled xp.is_inference_mode_enabled xp.set_autocast_cache_enabled
"""
"""Functions that take no argument, or one, and leave it to CPython to say so."""


def _functions_that_count() -> Iterator[Text]:
    attributes = ("__name__", "__qualname__", "__module__")
    for name in _COUNTING.split():
        steps = [tried(f"{name}{given}") for given in ("(1, 2)", "(a=1)", "(1, a=2)")]
        steps += [tried(f"{name}.{attribute}") for attribute in attributes]
        yield "functions that count", program([], [*steps, tried(f"str({name})")], operators=False)
    for name in ("xp.add", "x.add", "xp.Tensor.add", "x.__add__", "xp.Tensor.__add__", "xp.ones"):
        steps = [tried(f"{name}.{each}") for each in attributes]
        yield "functions that count", program([], [*steps, tried(f"str({name})")], operators=False)
