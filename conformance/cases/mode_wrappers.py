"""Texts of area ``modes`` about ``return_and_correct_aliasing``: wrappers alias as schemas say.

A subclass wraps a tensor, answers every operator by new wrappers, and leaves to the function which
of them share an argument's storage or are that argument.  Schemas of operators that do not exist,
with arguments and results that fit them or do not, are given to the function itself.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from itertools import product
from typing import Final

from hypothesis import strategies as st

from conformance.area import Text

_PRELUDE: Final = """\
C, modes = xp._C, xp.utils._python_dispatch
log = []
class W(xp.Tensor):
    def __repr__(self, *, tensor_contents=None): return "a W of " + str(tuple(self.elem.shape))
    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        log.append(str(func))
        kwargs = kwargs or {}
        inner = {name: bare(each) for name, each in kwargs.items()}
        found = func(*[bare(each) for each in args], **inner)
        return modes.return_and_correct_aliasing(func, args, kwargs, around(found))
class V(W): pass
def bare(value):
    if isinstance(value, (list, tuple)): return [bare(each) for each in value]
    return value.elem if isinstance(value, W) else value
def around(value):
    if isinstance(value, tuple): return tuple([around(each) for each in value])
    if isinstance(value, list): return [around(each) for each in value]
    return wrapped(value) if isinstance(value, xp.Tensor) else value
def wrapped(elem, cls=W):
    made = xp.Tensor._make_wrapper_subclass(
        cls, elem.size(), strides=elem.stride(), storage_offset=elem.storage_offset(),
        dtype=elem.dtype, requires_grad=elem.requires_grad,
    )
    made.elem = elem.detach() if elem.requires_grad else elem
    return made
def facts(value, other):
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [facts(each, other) for each in value]
    if not isinstance(value, xp.Tensor): return value
    shares = value.untyped_storage()._cdata == other.untyped_storage()._cdata
    place = tuple(value.shape), value.stride(), value.storage_offset()
    return type(value).__name__, place, shares, value is other, value._version, str(value.grad_fn)
def step(run, other):
    try: log.append(facts(run(), other))
    except Exception as error: log.append((type(error).__name__, str(error)))"""

_VIEWS: Final = (
    *("{0}.t()", "{0}.transpose(0, 1)", "{0}[1]", "{0}[1:, ::2]", "{0}[0].expand(5, 4)"),
    *("{0}.view(12)", "{0}.view(xp.int32)", "{0}.detach()", "xp.ops.aten.alias({0})"),
    *("{0}.split(2)", "{0}.chunk(2, 1)", "{0}.unbind()", "xp.tensor_split({0}, 3)"),
    *("{0}.as_strided((2, 2), (1, 2), 1)", "{0}.reshape(2, 6)", "{0}.permute(1, 0)"),
    *("{0}.unfold(0, 2, 1)", "{0}.diagonal()", "{0}.squeeze(0)", "{0}.narrow(0, 1, 1)"),
    *("{0}.conj()", "{0}.real", "{0}.t().flatten()", "{0}[0].expand_as({0})"),
)
_CHANGES: Final = (
    *("{0}.add_(1)", "{0}.mul_({0})", "{0}.zero_()", "{0}.copy_(wrapped(xp.ones(4)))"),
    *("{0}.t_()", "{0}.transpose_(0, 1)", "{0}.unsqueeze_(0)", "{0}.squeeze_()"),
    *("{0}.swapdims_(0, 1)", "{0}.as_strided_((2, 2), (1, 2), 1)", "{0}.resize_(2, 2)"),
    *("xp.add({0}, {0}, out={0})", "xp.add({0}, 1, out=wrapped(xp.zeros(0)))"),
    *("xp._foreach_add_([{0}, {0}], 1)", "{0}.uniform_(2, 2)", "{0}.uniform_(to=0.0)"),
    *("{0}.random_(3, 4)", "{0}.lerp_({0}, 0.5)", "{0}.clamp_(min=3)", "{0}.set_({0}.t())"),
    "xp.sort({0}, out=(wrapped(xp.ones(3, 4)), wrapped(xp.zeros(3, 4, dtype=xp.int64))))",
)
_FRESH: Final = (
    *("{0} + {0}", "{0}.clone()", "{0} @ {0}.t()", "{0}.max(0)", "{0}.topk(1)", "{0}[0, 0].item()"),
    *("{0}.unsafe_split(2)", "xp._foreach_add([{0}, {0}], 1)", "xp.where({0} > 1, {0}, 0.0)"),
)

_CALLS: Final = (*_VIEWS, *_CHANGES, *_FRESH)

_VALUES: Final = "x, w, v = xp.ones(2), wrapped(xp.ones(2)), wrapped(xp.ones(2), V)"
_TAGS: Final = ("", "xp.Tag.inplace_view")
_SCHEMAS: Final = (
    *("(Tensor(a) x) -> Tensor(a)", "(Tensor(a!) x) -> Tensor(a!)", "(Tensor(a!) x) -> ()"),
    *("(Tensor(a!) x) -> (Tensor(a!), Tensor)", "(Tensor(a|b) x) -> Tensor(a|b)"),
    *("(Tensor(a|b!) x) -> Tensor(a|b!)", "(Tensor(a!) x, Tensor(a!) y) -> Tensor(a!)"),
    "(Tensor(a) x, Tensor(b) y) -> (Tensor(a), Tensor(b))",
    "(Tensor(a!) x, Tensor(b!) y) -> (Tensor(a!), Tensor(b!))",
    *("(Tensor(a) x, Tensor(a) y) -> Tensor(a)", "(Tensor(a)[] x) -> Tensor(a)[]"),
    *("(Tensor x, *, Tensor(a!) y) -> Tensor(a!)", "(Tensor(a)? x) -> Tensor(a)?"),
    *("(Tensor x, Tensor? y=None) -> Tensor", "(Tensor(a!) x, int n=3) -> Tensor(a!)"),
    "(Tensor(a!) self, float from=0) -> Tensor(a!)",
    "(Tensor(a!) self, float from=0, float to=1, *, Generator? generator=None) -> Tensor(a!)",
    *("(Tensor(a!) self) -> Tensor(a!)", "(Tensor(a -> *) x) -> Tensor(a)[]"),
)
_ARGUMENTS: Final = (
    *("(w, v), {}", "(w,), {}", "(x,), {}", "[w], {}", "(), dict(x=w)", "(x,), dict(y=w)"),
    *("(x, 3), {}", "(None,), {}", "(w,), None", "(w, 1.0), {}"),
)
_RESULTS: Final = (
    *("wrapped(xp.zeros(2))", "xp.zeros(2)", "(wrapped(xp.zeros(2)), wrapped(xp.zeros(2)))"),
    *("[wrapped(xp.zeros(2)), xp.zeros(2)]", "v", "3", "None", "(xp.zeros(1),)", "()"),
)
_SETS: Final = (
    *("x, xp.zeros(2)", "x, xp.zeros(4)", "x[1:], xp.arange(4.0)", "x, xp.zeros(2, device='meta')"),
    *("x, w", "w, x", "x, xp.zeros(2).to_sparse()", "x.to_sparse(), x", "x", "x, 1"),
    *("x, xp._to_functional_tensor(x)", "xp._to_functional_tensor(x), x"),
)


def texts() -> Iterator[Text]:
    for call, needs_grad in product(_CALLS, (False, True)):
        yield "wrappers", _of_wrapper(call, needs_grad=needs_grad)
    for schema, tag in product(_SCHEMAS, _TAGS):
        for args, result in (
            *product(_ARGUMENTS, _RESULTS[:1]),
            *product(_ARGUMENTS[:1], _RESULTS),
        ):
            yield "wrappers, schemas", _of_schema(schema, tag, args, result)
    for schema in _SCHEMAS:
        asked = "[(sorted(a.alias_set), a.is_write, a.name) for a in (*found.args, *found.outs)]"
        yield "alias info", _with_operator(schema, "", f"found = modes.get_alias_info(op)\n{asked}")
    for pair in _SETS:
        call = f"(xp._functionalize_unsafe_set({pair}), x)[1]"
        yield "unsafe set", f"{_PRELUDE}\n{_VALUES}\n{_step(call, 'w')}\n{_step('x', 'x')}\nlog"


@st.composite
def drawn(draw: st.DrawFn) -> Text:
    """Several calls of one wrapper, or arguments and results for a schema."""
    if draw(st.booleans()):
        schema, tag, args, result = map(
            draw, map(st.sampled_from, (_SCHEMAS, _TAGS, _ARGUMENTS, _RESULTS))
        )
        return "wrappers, schemas", _of_schema(schema, tag, args, result)
    calls = draw(st.lists(st.sampled_from(_CALLS), min_size=1, max_size=4))
    return "wrappers", _of_wrapper(*calls, needs_grad=draw(st.booleans()))


def _of_wrapper(*calls: str, needs_grad: bool) -> str:
    changed = ".requires_grad_()" if needs_grad else ""
    define = f"w = wrapped(xp.arange(12.0).reshape(3, 4)){changed}"
    steps = "\n".join(_step(call.format("w"), "w") for call in (*calls, "{0}"))
    return f"{_PRELUDE}\n{define}\n{steps}\nlog"


def _of_schema(schema: str, tag: str, args: str, result: str) -> str:
    call = f"modes.return_and_correct_aliasing(op, {args}, {result})"
    steps = [_step(call, "w"), *(_step(name, "w") for name in "xv")]
    return _with_operator(schema, tag, "\n".join([*steps, "log"]))


def _with_operator(schema: str, tag: str, body: str) -> str:
    name = f"w{zlib.crc32((schema + tag + body).encode()):08x}"
    tags = f", tags=({tag},)" if tag else ""
    return f"""\
{_PRELUDE}
{_VALUES}
lib = xp.library.Library("{name}", "DEF")
lib.define("f{schema}"{tags})
op = xp.ops.{name}.f.default
{body}"""


def _step(call: str, other: str) -> str:
    return f"step(lambda: {call}, {other})"
