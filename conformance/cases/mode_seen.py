"""Texts of area ``modes`` about what modes see of calls that torch makes itself.

A storage has no code of its own for elements but makes tensors; what initialises, DLPack and NumPy
call operators and methods.  Of each call a mode of either kind takes down what it sees.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from conformance.area import Text

_PRELUDE: Final = """\
log = []
def shown(value):
    if isinstance(value, xp.Tensor): return "tensor", tuple(value.shape), str(value.dtype)
    if isinstance(value, (xp.TypedStorage, xp.UntypedStorage)): return type(value).__name__
    if isinstance(value, (list, tuple)): return [shown(each) for each in value]
    if isinstance(value, dict): return [(name, shown(each)) for name, each in value.items()]
    return str(value)
class D(xp.utils._python_dispatch.TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        log.append((str(func), shown(args), shown(kwargs or {})))
        return func(*args, **(kwargs or {}))
class F(xp.overrides.TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        log.append((func.__name__, func.__qualname__, shown(args), shown(kwargs or {})))
        return func(*args, **(kwargs or {}))
"""

_TYPED: Final = (
    *("s[0]", "s[-1]", "s[2]", "s.tolist()", "list(s)", "str(s)", "repr(s)", "s.fill_(3)"),
    *("s.__setitem__(0, 5)", "s.__setitem__(slice(0, 1), 2)", "s.__setitem__(-1, True)"),
    *("s.clone()", "s.copy_(s)", "s.cpu()", "s.untyped()", "s == s", "1 in s", "9 in s"),
    *("s.double()", "s.int()", "s.half()", "s.bool()", "s.float()", "s.type()", "len(s)"),
    *("xp.zeros(1, dtype=s.dtype).set_(s)", "xp.TypedStorage([1, 0], dtype=s.dtype)"),
    "xp.TypedStorage(2, dtype=s.dtype)",
)
_BYTES: Final = (
    *("s[0]", "s[-1]", "s[9]", "s[0:1]", "s.tolist()", "list(s)", "str(s)", "s.fill_(3)"),
    *("s.__setitem__(0, 5)", "s.__setitem__(slice(0, 2), 5)", "s.__setitem__(-1, 5)"),
    *("s.clone()", "s.copy_(s)", "s.cpu()", "s.double()", "s.int()", "s.nbytes()", "len(s)"),
    *("xp.zeros(1).set_(s)", "1 in s"),
)
_STORAGES: Final = (
    "xp.FloatStorage([1.0, 2.0])",
    "xp.FloatStorage(2)",
    "xp.UntypedStorage([1, 2])",
    "xp.ones(2).storage()",
    "xp.ones(2).untyped_storage()",
    "xp.ones(2).storage().fill_(2)",
)
_ARRAYS: Final = (
    *("xp.from_dlpack(x)", "x.__dlpack_device__()", "x.is_pinned()"),
    *("xp.from_numpy(np.array([1.0]))", "x + np.array(2.5)", "x * np.float64(2)", "x.numpy()"),
)
_NETWORKS: Final = (
    *("xp.nn.Embedding(3, 4, 0)", "xp.nn.Embedding(3, 4)", "xp.nn.Linear(2, 3)"),
    *("xp.nn.BatchNorm1d(2)", "xp.nn.LayerNorm(2)", "xp.nn.Tanh()(xp.ones(2))"),
    *("xp.nn.BatchNorm2d(3, 0.1, None, False, False)", "xp.nn.Sigmoid()(xp.ones(2))"),
    *("xp.nn.functional.threshold(xp.ones(2), 1, 0)", "xp.nn.ReLU()(xp.ones(2))"),
    "xp.nn.functional.max_pool2d(xp.ones(1, 4, 4), 2)",
    "xp.nn.functional.max_pool2d(xp.ones(1, 4, 4), 2, return_indices=True)",
    "xp.einsum('ij,jk,kl->li', xp.ones(2, 3), xp.ones(3, 4), xp.ones(4, 5))",
    *(
        "xp.ops.aten.einsum('ij,jk,kl->il', [xp.ones(2, 3), xp.ones(3, 4), xp.ones(4, 5)],"
        f" path={path})"
        for path in ([0, 1, 0, 1], [1, 2, 0, 1], [2, 0, 1, 0])
    ),
)
_GRAPHS: Final = (
    "y.grad_fn._raw_saved_self.register_hooks(lambda t: t, lambda t: t)",
    "y.grad_fn._saved_self",
    "y.retain_grad()",
    "y.sum().backward()",
    "y.backward(xp.ones(2))",
    "xp.autograd.grad(y, x, xp.ones(2), create_graph=True)",
    "xp.autograd.graph.get_gradient_edge(x).output_nr",
    "xp.autograd.graph.get_gradient_edge(y).output_nr",
    *(f"y.norm({order}).backward()" for order in ("0.5", "1", "1.5", "2", "3", "float('inf')")),
    "y.requires_grad_()",
    "y.register_hook(lambda g: g)",
)
_READ: Final = (
    *("shape", "T", "mT", "H", "data", "grad", "grad_fn", "is_leaf", "requires_grad", "dtype"),
    *("device", "layout", "ndim", "names", "nbytes", "itemsize", "is_meta", "_base", "_version"),
    *("output_nr", "name", "retains_grad", "is_sparse", "is_cpu", "real", "volatile"),
    *("_backward_hooks", "is_quantized"),
)

_CHANGED: Final = ("data", "grad", "requires_grad", "shape", "T", "_backward_hooks")


def texts() -> Iterator[Text]:
    for dtype in ("float32", "int64", "uint8", "bool", "complex64", "bfloat16"):
        setup = f"s = xp.tensor([1, 0], dtype=xp.{dtype}).storage()"
        for call in _TYPED:
            yield from _of_both("storages", setup, call)
    for call in _BYTES:
        yield from _of_both("storages", "s = xp.tensor([1, 2, 3]).untyped_storage()", call)
    for call in _STORAGES:
        yield from _of_both("storages", "", call)
    for call in _ARRAYS:
        yield from _of_both("arrays", "x = xp.ones(2)", call)
    for call in _NETWORKS:
        yield from _of_both("networks", "", call)
    for call in _GRAPHS:
        setup = "x = xp.tensor([1.0, 2.0], requires_grad=True)\ny = x * x"
        yield from _of_both("graphs", setup, call)
    for name in _READ:
        yield _seen("properties", "F", "x = xp.ones(2, 2)", f"x.{name}")
    for name, how in product(_CHANGED, ("x.{} = None", "x.{} = x", "del x.{}")):
        setup = f"x = xp.ones(2, 2)\ndef change():\n    {how.format(name)}"
        yield _seen("properties", "F", setup, "change()")


def _of_both(target: str, setup: str, call: str) -> Iterator[Text]:
    for mode in ("D", "F"):
        yield _seen(target, mode, setup, call)


def _seen(target: str, mode: str, setup: str, call: str) -> Text:
    """The mode is in force for the call alone; what is raised is part of the value."""
    lines = (
        f"{setup}\n" if setup else "",
        f"run = lambda: {call}\n",
        "try:\n",
        f"    with {mode}(): answer = shown(run())\n",
        "except Exception as error: answer = type(error).__name__, str(error)\n",
        "answer, log",
    )
    return target, _PRELUDE + "".join(lines)
