"""Keysets with the NPU's keys among others, for the area ``npu``: tensors, masks and calls.

Two backends of torch stand in for the NPU, which torch has not: the CPU where a tensor is on it,
and PrivateUse3, whose keys are the next lower ones, where the CPU, the NPU and meta meet.  ``here``
of a key's name is the NPU's (``here('AutogradPrivateUse3')``).  What a case shows are labels and
truths, never the names of keys or their bits.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from itertools import combinations, product
from typing import Final

from conformance.area import Text
from conformance.on_npu import is_on_npu

_NAMES: Final = (
    *("CPU", "PrivateUse3", "Meta", "AutogradCPU", "AutogradPrivateUse3", "AutogradMeta"),
    *("SparseCPU", "SparseMeta"),
    *("BackendSelect", "ADInplaceOrView", "Functionalize", "AutocastCPU", "Python", "PrivateUse2"),
)
"""Keys that sets are made of and asked for."""
_OPERATIONS: Final = ("|", "&", "-")

_TENSORS: Final = (
    "xp.ones(2, device=here())",
    "xp.ones(2, device=here(), requires_grad=True)",
    "xp.ones(2, device=here()).view(1, 2)",
    "xp.ones(2, device=here(), dtype=xp.complex64).conj()",
    "xp.nn.Parameter(xp.ones(2, device=here()))",
    "xp.ones(2, device='meta', requires_grad=True)",
    "xp.ones(2, device=here()).to('meta')",
)
_ASKED: Final = (
    *("CPU", "Meta", "AutogradCPU", "AutogradMeta", "ADInplaceOrView", "Conjugate", "Python"),
)
_BY_NAME: Final = "C.DispatchKeySet(key({}))"
_MASKS: Final = (
    "",
    "xp.no_grad()",
    "xp.inference_mode()",
    "C._AutoDispatchBelowAutograd()",
    "C._AutoDispatchBelowADInplaceOrView()",
    *(f"C._IncludeDispatchKeyGuard(key({{{name}}}))" for name in ("backend", "autograd")),
    *("C._IncludeDispatchKeyGuard(key('Meta'))", "C._IncludeDispatchKeyGuard(key('AutogradMeta'))"),
    *("C._IncludeDispatchKeyGuard(key('CPU'))", "C._IncludeDispatchKeyGuard(key('BackendSelect'))"),
    *(
        f"C._ExcludeDispatchKeyGuard({_BY_NAME.format(name)})"
        for name in ("{backend}", "{autograd}", "'Meta'", "'AutogradMeta'", "'ADInplaceOrView'")
    ),
    f"C._ForceDispatchKeyGuard({_BY_NAME.format('{backend}')}, {_BY_NAME.format('{autograd}')})",
)
"""What changes a thread's masks; a backend and its autograd key are named below."""
_WITHOUT_HOST: Final = tuple(mask for mask in _MASKS if "'CPU'" not in mask)
_OF_TORCH_CPU: Final = {"backend": "here('CPU')", "autograd": "here('AutogradCPU')"}
_OF_THE_NEXT: Final = {
    "backend": "here('PrivateUse3')",
    "autograd": "here('AutogradPrivateUse3')",
}
_CALL: Final = """\
C, log = xp._C, []
key = C._parse_dispatch_key
def under(guard, run):
    with guard: return run()
def kernel(label):
    def run(*args):
        log.append(label)
        return args[0]
    return run
def step(run):
    try: log.append(run() is x)
    except Exception as error: log.append(type(error).__name__)
d = C._dispatch_library('FRAGMENT', 't', '')
i = C._dispatch_library('IMPL', 't', '')
d.def_('OPERATOR(Tensor x) -> Tensor')
"""
_KERNELS: Final = (
    {"{backend}": "ours", "'Meta'": "meta", "'CPU'": "host"},
    {"{backend}": "ours", "{autograd}": "gradient", "'Meta'": "meta", "'CPU'": "host"},
    {"'CompositeExplicitAutograd'": "composite", "{backend}": "ours"},
    {"'CompositeExplicitAutograd'": "composite", "'Meta'": "meta"},
    {"'CompositeImplicitAutograd'": "implicit"},
    {"{autograd}": "gradient", "'AutogradMeta'": "gradient of meta"},
    {"'Autograd'": "gradients", "{backend}": "ours", "'BackendSelect'": "selected"},
    {"'ADInplaceOrView'": "in place", "{backend}": "ours", "'Meta'": "meta"},
)
"""Keys at which a program registers kernels, and what each logs."""


def texts() -> Iterator[Text]:
    for target, text in (*_sets(), *_tensors(), *_calls()):
        if is_on_npu(text):
            yield target, text


def _named(name: str) -> str:
    """The text of a key's name: ours in place of the keys that stand for them."""
    return f"here({name!r})" if "PrivateUse3" in name else repr(name)


def _sets() -> Iterator[Text]:
    """Two and three keys: what is in their set, what comes first, and what comes after that."""
    listed = ", ".join(_named(name) for name in _NAMES)
    head = f"C = xp._C\nkeys = [C._parse_dispatch_key(name) for name in [{listed}]]\n"
    head += "one, two, three, *_ = [C.DispatchKeySet(keys[place]) for place in {}]\n"
    shown = (
        "top = s.highestPriorityTypeId()\nafter = C._dispatch_keyset_full_after(top)\n"
        "([s.has(k) for k in keys], [k == top for k in keys], [after.has(k) for k in keys])"
    )
    for places in combinations(range(len(_NAMES)), 3):
        if any("PrivateUse3" in _NAMES[place] for place in places):
            first, second = (_OPERATIONS[(sum(places) + shift) % 3] for shift in (0, 1))
            made = (
                f"s = one | two {second} three"
                if first == "|"
                else f"s = (one | three) {first} two"
            )
            yield "DispatchKeySet", f"{head.format([*places])}{made}\n{shown}"


def _tensors() -> Iterator[Text]:
    """The keys of a tensor, and of a call with it, under masks."""
    asked = ", ".join(f"here({name!r})" if "CPU" in name else repr(name) for name in _ASKED)
    head = f"C = xp._C\nkey = C._parse_dispatch_key\nnames = [{asked}]\n"
    shown = "[C._dispatch_keys(x).has(key(name)) for name in names]"
    tls = "[(C._dispatch_tls_is_dispatch_key_included(key(name)), "
    tls += "C._dispatch_tls_is_dispatch_key_excluded(key(name))) for name in names]"
    for tensor, mask in product(_TENSORS, _WITHOUT_HOST):
        guard = mask.format(**_OF_TORCH_CPU)
        if not guard:
            yield "_dispatch_keys", f"{head}x = {tensor}\n{shown}, x.is_leaf, x.device.type"
        else:
            # under masks alone most calls have no kernel, and the making of a tensor has calls
            made = f"with {guard}:\n    x = {tensor}\n" if "mode" in guard else f"x = {tensor}\n"
            yield "_dispatch_keys", f"{head}{made}with {guard}:\n    found = {shown}, {tls}\nfound"


def _calls() -> Iterator[Text]:
    """Which kernel is called, with tensors on the NPU and on meta, and with none on the NPU but its
    keys in the masks."""
    for tensor, mask, kernels in product(_TENSORS, _WITHOUT_HOST, _KERNELS):
        yield "call", _call(tensor, mask, {k: v for k, v in kernels.items() if v != "host"}, True)
    for tensor, mask, kernels in product(
        ("xp.ones(2)", "xp.ones(2, device='meta')"), _MASKS, _KERNELS
    ):
        # PrivateUse3 has no fallback for autograd, as the NPU has
        with_autograd = (
            kernels if "'Autograd'" in kernels else {**kernels, "{autograd}": "gradient"}
        )
        yield "call", _call(tensor, mask, with_autograd, False)


def _call(tensor: str, mask: str, kernels: dict[str, str], is_on_npu: bool) -> str:
    names = _OF_TORCH_CPU if is_on_npu else _OF_THE_NEXT
    lines = [
        f"i.impl('OPERATOR', {key.format(**names)}, kernel({label!r}), False)"
        for key, label in kernels.items()
    ]
    guard = mask.format(**names) or "C._ForceDispatchKeyGuard()"
    lines += [
        f"x = {tensor}",
        "step(lambda: xp.ops.t.OPERATOR(x))",
        f"step(lambda: under({guard}, lambda: xp.ops.t.OPERATOR(x)))",
        f"step(lambda: under({guard}, lambda: xp.ops.t.OPERATOR.default(x)))",
        "for each in (i, d): each.reset()\nlog",
    ]
    text = _CALL + "\n".join(lines)
    return text.replace("OPERATOR", f"n{sha256(text.encode()).hexdigest()[:8]}")
