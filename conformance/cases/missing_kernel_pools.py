"""Pools of area ``missing-kernel``: schemas with calls and answers, tensors, keys, guards."""

from __future__ import annotations

from typing import Final

PRELUDE: Final = """\
C = xp._C
K = C.DispatchKey
log = []
o = xp.ones(3)
def show(value):
    if isinstance(value, xp.Tensor):
        keys = C._dispatch_keys(value)
        return ("tensor", keys, value.requires_grad, value is x, value is y, value is o)
    if isinstance(value, (list, tuple)):
        return [type(value) is list, *(show(each) for each in value)]
    return value
def step(run):
    try: log.append(show(run()))
    except Exception as error: log.append(error)
def kernel(name, answer):
    def run(*args, **kwargs):
        log.append([name, show(args), *((key, show(kwargs[key])) for key in sorted(kwargs))])
        return answer(*args)
    return run
def refuse(error):
    raise error
def under(guard, run):
    with guard: return run()
library = C._dispatch_library
d = library("FRAGMENT", "t", "")
i = library("IMPL", "t", "")
w = library("IMPL", "_", "")
"""
END: Final = """\
under(C._ForceDispatchKeyGuard(), steps)
for each in (w, i, d): each.reset()
log"""

SCHEMAS: Final[dict[str, tuple[str, ...]]] = {
    "OPERATOR(Tensor x) -> Tensor": ("x", "y", "x=x", "None", "3", ""),
    "OPERATOR(Tensor x, Tensor y) -> Tensor": ("x, y", "y, x", "x, y=x", "x, None"),
    "OPERATOR(Tensor[] x) -> Tensor[]": ("[]", "[x]", "[x, y]", "(y, x)"),
    "OPERATOR(Tensor?[] x) -> int": ("[]", "[None]", "[x, None]", "[None, y]", "[y, x]"),
    "OPERATOR(Tensor? x=None) -> Tensor?": ("", "None", "x", "x=y"),
    "OPERATOR(Tensor[]? x=None) -> int": ("", "None", "[x]", "[x, y]"),
    "OPERATOR(int n) -> int": ("3", "n=3", "True", "'x'"),
    "OPERATOR() -> int": ("",),
    "OPERATOR() -> ()": ("",),
    "OPERATOR(Tensor(a!) x) -> Tensor(a!)": ("x", "y"),
    "OPERATOR(Tensor(a!) x) -> ()": ("x", "y"),
    "OPERATOR(Tensor(a) x) -> Tensor(a)": ("x", "y"),
    "OPERATOR(Tensor(a)[] x) -> Tensor(a)[]": ("[]", "[x, y]"),
    "OPERATOR(Tensor(a!)[] x) -> ()": ("[]", "[y]", "[x, y]"),
    "OPERATOR(Tensor x, *, Tensor(a!) out) -> Tensor(a!)": ("x, out=y", "y, out=x"),
    "OPERATOR(Tensor x) -> (Tensor, Tensor)": ("x", "y"),
    "OPERATOR(Tensor x, int y=1, *, Scalar s=2) -> (Tensor, int)": (
        *("x", "x, 3", "x, s=1.5", "y, 1, s=2", "x, 2, s=2", "x, y=1"),
    ),
    "OPERATOR(int[2] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor": (
        *("[2, 3]", "(2, 3), dtype=xp.float32", "2, device='cpu', layout=xp.strided"),
    ),
    "OPERATOR(Tensor x, str s) -> str": ("x, 'text'", "y, ''"),
    "OPERATOR(Generator? g=None, Tensor? x=None) -> bool": ("", "None, x", "x=y"),
    "OPERATOR(Tensor x, Tensor(b!) y, Tensor(c) z) -> Tensor": ("x, y, o", "y, o, x"),
    "OPERATOR(Tensor x, Tensor(b!) y, Tensor(c!) z) -> ()": ("o, x, y", "y, x, x", "x, y, o"),
    "OPERATOR(Tensor x, *, Tensor(a!) p, Tensor(b!) q) -> (Tensor(a!), Tensor(b!))": (
        "o, p=x, q=y",
    ),
}
"""Schemas, and the arguments with which each is called."""

_TENSOR: Final = ("args[0]", "o", "(1, 2)", "[len(args)]", "3", "None", "'text'", "True")
_WRONG: Final = (
    *("refuse(ValueError('v'))", "refuse(RuntimeError())", "refuse(NotImplementedError('n', 1))"),
    *("refuse(KeyError('k'))", "refuse(TypeError('a\\0b'))", "object()", "{}", "xp.float32"),
)
_PAIR: Final = ("(args[0], 5)", "[o, o]", "args[0]", "[]", "(o,)", "['x', 'y']", "'xy'", "None")
_LIST: Final = ("args[0]", "[o]", "()", "[]", "o", "[None]", "[o, 3]", "None", "iter(args)")
_NUMBER: Final = ("3", "True", "1.5", "len(args)", "args", "o", "None", "'x'", "1 << 64", "-1")
_NOTHING: Final = ("None", "args", "()", "3", "o")

ANSWERS: Final[dict[str, tuple[str, ...]]] = {
    schema: (*good, *_WRONG)
    for schema, good in zip(
        SCHEMAS,
        (
            *(_TENSOR, ("args[1]", *_TENSOR), _LIST, _NUMBER, ("None", *_TENSOR), _NUMBER),
            *(_NUMBER, _NUMBER, _NOTHING, _TENSOR, _NOTHING, _TENSOR, _LIST, _NOTHING),
            *(_TENSOR, _PAIR, _PAIR, ("o", *_TENSOR), ("args[-1]", "'text'", "3", "None")),
            *(("True", "1", "None", "o"), _TENSOR, _NOTHING, _PAIR),
        ),
        strict=True,
    )
}
"""What kernels answer for each schema, made of the positional ``args``; the first suits it.

No answer has more items than the schema returns: PyTorch reads past the end of its returns then.
None makes PyTorch print a tensor, which under most guards says more about printing than of calls.
"""
PRINTED: Final = ("args", "[args[0]]", "[args]", "{1: args[0]}")
"""Further answers in place of a tensor, which PyTorch prints."""

TENSORS: Final = (
    "xp.ones(2)",
    "xp.ones(2, device='meta')",
    "xp.ones(2, requires_grad=True)",
    "xp.ones(2, 2).to_sparse()",
    "xp.ones(2, 2).to_sparse_csr()",
    "xp.quantize_per_tensor(xp.ones(2), 0.1, 0, xp.quint8)",
    "xp.ones(2, 2).to_mkldnn()",
    "xp.nested.nested_tensor([xp.ones(2)])",
    "under(xp.inference_mode(), lambda: xp.ones(2))",
    "xp.zeros((2, 2), layout=xp.sparse_coo, device='meta')",
    "xp.ones(2, dtype=xp.int64)",
)
LAZY: Final = (
    "xp.ones(2, dtype=xp.complex64).conj()",
    "xp._neg_view(xp.ones(2))",
    "xp._neg_view(xp.ones(2, dtype=xp.complex64).conj())",
    "xp._efficientzerotensor(2)",
)
"""Tensors that a fallback resolves before a kernel sees them."""

KEYS: Final = (
    *("CPU", "CUDA", "Meta", "PrivateUse1", "QuantizedCPU", "SparseCPU", "SparseMeta"),
    *("SparseCsrCPU", "NestedTensorCPU", "MkldnnCPU", "AutogradCPU", "AutogradCUDA"),
    *("AutogradMeta", "AutogradOther", "AutogradNestedTensor", "AutogradPrivateUse1"),
    *("ADInplaceOrView", "Functionalize", "BackendSelect", "Conjugate", "Negative", "ZeroTensor"),
    *("AutocastCPU", "FuncTorchBatched", "FuncTorchGradWrapper", "FuncTorchVmapMode"),
    *("PythonTLSSnapshot", "FuncTorchDynamicLayerFrontMode", "PreDispatch", "PythonDispatcher"),
    *("Named", "Tracer", "Vulkan"),
)
COMPOSITE: Final = (
    "CompositeImplicitAutograd",
    "CompositeExplicitAutograd",
    "CompositeExplicitAutogradNonFunctional",
    "CompositeImplicitAutogradNestedTensor",
    "FuncTorchBatchedDecomposition",
)
"""Alias keys that serve every key, or the lack of keys: to call again below them makes no end."""
ALIASES: Final = ("Autograd", *COMPOSITE)
REGISTERED: Final = (*KEYS, *ALIASES)
"""Keys at which kernels are registered."""

INCLUDED: Final = (
    *("CPU", "CUDA", "Meta", "PrivateUse1", "Dense", "Quantized", "QuantizedCUDA", "Sparse"),
    *("SparseCPU", "SparseCsrCPU", "NestedTensorCPU", "MkldnnCPU", "AutogradCPU"),
    *("AutogradOther", "AutogradFunctionality", "AutogradNestedTensor", "AutogradPrivateUse1"),
    *("ADInplaceOrView", "Functionalize", "BackendSelect", "Conjugate", "Negative"),
    *("ZeroTensor", "AutocastCPU", "AutocastCUDA", "FuncTorchBatched", "FuncTorchGradWrapper"),
    *("FuncTorchVmapMode", "PythonTLSSnapshot", "FuncTorchDynamicLayerFrontMode"),
    *("PreDispatch", "PythonDispatcher", "Undefined"),
)
"""Keys that guards put into the thread's sets."""

BELOW: Final = ("CUDA", "Sparse", "AutogradCUDA", "Meta", "BackendSelect")

SAFE_GUARDS: Final = (
    "C._AutoDispatchBelowAutograd()",
    "C._AutoDispatchBelowADInplaceOrView()",
    "xp.inference_mode()",
    "xp.inference_mode(False)",
    "C._SetExcludeDispatchKeyGuard(K.AutocastCPU, False)",
    "C._ExcludeDispatchKeyGuard(C.DispatchKeySet(K.Conjugate))",
    "C._ExcludeDispatchKeyGuard(C.DispatchKeySet(K.Negative))",
    "C._ExcludeDispatchKeyGuard(C.DispatchKeySet(K.ZeroTensor))",
)
"""Guards beneath which PyTorch's own operators run."""

GUARDS: Final = (
    *SAFE_GUARDS,
    "C._ForceDispatchKeyGuard()",
    "C._ForceDispatchKeyGuard(C.DispatchKeySet(K.CUDA), C.DispatchKeySet(K.AutogradCPU))",
    "C._ForceDispatchKeyGuard(C.DispatchKeySet(K.Sparse), C.DispatchKeySet(K.Dense))",
    "C._ForceDispatchKeyGuard(C.DispatchKeySet(K.AutocastCPU), C.DispatchKeySet(K.Undefined))",
    "C._ExcludeDispatchKeyGuard(C._dispatch_keyset_full())",
    "C._ExcludeDispatchKeyGuard(C._dispatch_keyset_full_after(K.BackendSelect))",
    "C._ExcludeDispatchKeyGuard(C._after_autograd_keyset)",
    "C._PreserveDispatchKeyGuard()",
)

REDISPATCHED: Final = (
    "C._dispatch_keys(x)",
    "C._dispatch_keys(x) & C._after_autograd_keyset",
    "C._dispatch_keys(y) & C._after_ADInplaceOrView_keyset",
    "C.DispatchKeySet(K.CPU)",
    "C.DispatchKeySet(K.Dense)",
    "C.DispatchKeySet(K.SparseCUDA)",
    "C.DispatchKeySet(K.Undefined)",
    "C.DispatchKeySet(K.AutogradOther) | C.DispatchKeySet(K.CPU)",
    "C.DispatchKeySet(K.BackendSelect)",
    "C.DispatchKeySet(K.Autograd)",
    "C.DispatchKeySet(K.Meta) | C.DispatchKeySet(K.CPU)",
)
"""Keysets with which a call is made again."""
