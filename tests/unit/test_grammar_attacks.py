"""Attacks on the grammar of cases: each is refused where it begins, the real ones work unchecked.

``▲`` stands before the place a refusal names, and ``CANARY`` for the path of a file that nothing
may make.
"""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

import pytest
from fakes.refusals import PLACE, VOCABULARY, marked, refused

from conformance.grammar import namespace

#: Each makes the canary if nobody checks its text: a test below runs it so.
REAL_ATTACKS = [
    # Modules that torch holds, by name and by detour.
    "xp.▲os.mkdir(CANARY)",
    "a = xp\na.▲os.mkdir(CANARY)",
    "[xp][0].▲os.mkdir(CANARY)",
    "{'m': xp}['m'].▲sys.modules['os'].mkdir(CANARY)",
    "(m := xp).▲os.mkdir(CANARY)",
    "(lambda m: m.os)(xp).▲mkdir(CANARY)",
    "(lambda m=xp.▲os: m.mkdir(CANARY))()",
    "def f(m=xp.▲os): m.mkdir(CANARY)\nf()",
    "[m.os for m in [xp]][0].▲mkdir(CANARY)",
    "[f for m in [xp] for f in [m.▲os.mkdir]][0](CANARY)",
    "max([xp], key=lambda m: m.▲os.mkdir(CANARY) or 1)",
    "for m in [xp]: m.▲os.mkdir(CANARY)",
    "with xp.no_grad() as a: xp.▲os.mkdir(CANARY)",
    "class X:\n    data = xp.▲os.mkdir(CANARY)",
    "assert xp.▲os.mkdir(CANARY) is None",
    '▲f"{xp.os.mkdir(CANARY)}"',
    "▲match xp:\n    case object(os=found): found.mkdir(CANARY)",
    "xp.▲oſ.mkdir(CANARY)",
    "xp.▲ｏｓ.mkdir(CANARY)",
    "xp.library.▲sys.modules['os'].mkdir(CANARY)",
    "xp.nn.functional.▲importlib.import_module('os').mkdir(CANARY)",
    "xp.▲builtins.open(CANARY, 'w')",
    "xp.functional.▲torch.os.mkdir(CANARY)",
    # Names with two leading underscores.
    "xp.is_tensor.▲__globals__['os'].mkdir(CANARY)",
    "object.▲__getattribute__(xp, 'os').mkdir(CANARY)",
    "xp.▲__dict__['os'].mkdir(CANARY)",
    "[c for c in ().▲__class__.__base__.__subclasses__() if c.__name__ == '_wrap_close'][0]"
    ".__init__.__globals__['mkdir'](CANARY)",
    # Frames.
    "try:\n    1 / 0\nexcept Exception as e:\n"
    "    e.▲__traceback__.tb_frame.f_back.f_builtins['open'](CANARY, 'w')",
    "class X:\n    def __enter__(self): pass\n    def __exit__(self, t, e, tb):\n"
    "        tb.▲tb_frame.f_back.f_builtins['open'](CANARY, 'w')\nwith X(): 1 / 0",
    "g = (g.▲gi_frame.f_back.f_back.f_builtins['open'](CANARY, 'w') for _ in [1])\nlist(g)",
    # Files, by torch and by NumPy.
    "xp.▲save(xp.ones(1), CANARY)",
    "xp.▲serialization.save(xp.ones(1), CANARY)",
    "xp.▲from_file(CANARY, shared=True, size=4)",
    "xp.UntypedStorage.▲from_file(CANARY, True, 4)",
    "xp.ones(2).numpy().▲dump(CANARY)",
    # Operators that open files, looked up by name, alias, string and constructor.
    "xp.ops.aten.▲from_file(CANARY, True, 4)",
    "xp.ops.aten.▲from_file.default(CANARY, True, 4)",
    "o = xp.ops.aten\no.▲from_file(CANARY, True, 4)",
    "o = xp.ops\np = o.aten\np.▲from_file(CANARY, True, 4)",
    "xp._C._jit_get_operation(▲'aten::from_' + 'file')[0](CANARY, True, 4)",
    "n = 'aten::from_file'\nxp._C._jit_get_operation(▲n)[0](CANARY, True, 4)",
    "f = xp._C.▲_jit_get_operation\nf('aten::from_file')[0](CANARY, True, 4)",
    "xp._C._get_operation_overload(▲'aten::from_file', '')[0](CANARY, True, 4)",
    "▲type(xp.ops.aten.add)('aten::from_file', 'from_file', None, ['']).default(CANARY, True, 4)",
    "P = ▲type(xp.ops.aten.add)\n"
    "P('aten::from_file', 'from_file', None, ['']).default(CANARY, True, 4)",
    "P = ▲type(xp.ops.aten.add).__new__(type(xp.ops.aten.add))\n"
    "P.__init__('aten::from_file', 'from_file', None, [''])\nP.default(CANARY, True, 4)",
    "p = xp.ops.aten._test_check_tensor\np.▲__init__('aten::from_file', 'from_file', p, [''])\n"
    "p.default(CANARY, True, 4)",
    "h = xp._C._dispatch_find_schema_or_throw(▲'aten::from_file', '')\n"
    "k = xp._C.DispatchKeySet(xp._C.DispatchKey.CPU)\nh.redispatch_boxed(k, CANARY, True, 4)",
    "xp._C._dispatch_call_boxed(\n"
    "    xp._C._dispatch_find_schema_or_throw(▲'aten::from_file', ''), CANARY, True, 4)",
    "xp._C._dispatch_call_boxed(xp.ops.aten.▲from_file.default._handle, CANARY, True, 4)",
    # Functions that import what a string names, and call it.
    "xp.ones(2).untyped_storage().type(▲'canary_module.run')",
    "f = xp.ones(2).untyped_storage().▲type\nf('canary_module.run')",
    "list(map(xp.ones(2).untyped_storage().▲type, ['canary_module.run']))",
    "(lambda f: f('canary_module.run'))(xp.ones(2).untyped_storage().▲type)",
    "class X:\n    def __eq__(self, other): return other('canary_module.run')\n"
    "xp.ones(2).untyped_storage().▲type == X()",
    "xp.▲set_default_tensor_type('canary_module.run')",
]

#: Further ones, each a step of an escape, or one that harms the process that runs it.
ATTACKS = [
    "▲import os",
    "▲from os import *",
    "▲__import__('os')",
    "▲__builtins__",
    "▲__build_class__(lambda: 0, 'X')",
    "▲getattr(xp, 'os')",
    "▲setattr(xp, 'add', 1)",
    "▲vars(xp)",
    "▲globals()",
    "▲eval('1')",
    "▲exec('1')",
    "▲open('x')",
    "▲breakpoint()",
    "▲memoryview(b'')",
    "'{0.os}'.▲format(xp)",
    "str.▲format('{0.os}', xp)",
    "'{m.os}'.▲format_map({'m': xp})",
    "▲format(xp, '')",
    "▲type('X', (), {'__array_interface__': {}})",
    "▲type(type(1))('X', (), {})",
    "▲type(1).__call__('2')",
    "xp.Tensor.▲mro()",
    "(lambda: 0).▲__code__",
    "(lambda: 0).▲__closure__",
    "xp.ones.▲__self__",
    "xp.ones(1).add.▲__func__",
    "xp.ones.▲__wrapped__",
    "xp.Tensor.▲__mro__",
    "xp.Tensor.▲__bases__",
    "xp.Tensor.▲__subclasses__()",
    "xp.ones(1).▲__reduce_ex__(2)",
    "xp.ones(1).▲_reduce_ex_internal(2)",
    "xp.ones(1).▲__array_interface__",
    "(n for n in [1]).▲gi_code",
    "in_thread.▲__globals__",
    "class X(object, ▲metaclass=object): pass",
    "class X(▲type(xp)): pass",
    "class X:\n    ▲def _pybind11_conduit_v1_(self, a, b, c): return b",
    "class X:\n    ▲__array_interface__ = {'data': (1, False)}",
    "class X:\n    ▲def __reduce__(self): pass",
    "class X:\n    ▲def __del__(self): pass",
    "class X:\n    ▲def __getattr__(self, name): pass",
    "class X:\n    ▲def __init_subclass__(cls): pass",
    "class X:\n    ▲def __class_getitem__(cls, k): pass",
    "class X:\n    ▲def __set_name__(self, o, n): pass",
    "class X:\n    def data(self): return ▲__class__",
    "class X:\n    ▲__slots__ = ()",
    "class X:\n    ▲__annotations__ = {}",
    "class X:\n    ▲__annotations__: int",
    "def f(x: ▲'__import__(\"os\")'): pass\nxp.library.infer_schema(f)",
    "@xp.▲compile\ndef f(): pass",
    "@(▲lambda f: f)\nclass X: pass",
    "▲type = lambda *a: a",
    "def f(▲type): type(1, 2, 3)",
    "xp.Tensor.▲add = 1",
    "xp.autograd.▲grad = 1",
    "with xp as xp.▲os: pass",
    "o = xp.ops\nfor o in [xp]: pass\no.▲os",
    "o = xp.ops.aten\nlambda o: o.▲os",
    "o = [xp.ops][0]\no.▲zorg",
    "o = p.▲zorg\np = o.zorg",
    "xp.ops.▲load_library('x')",
    "o = xp.ops\no.▲load_library('x')",
    "xp.ops.▲import_module('os')",
    "xp.ops.▲loaded_libraries",
    "xp.ops.▲higher_order.print",
    "xp.ops.▲_higher_order_op_namespace.print",
    "xp.ops.▲_modules",
    "xp.ops.▲c10d.send",
    "xp.ops.▲inductor._reinterpret_tensor",
    "xp.ops.aten.▲_reshape_alias(xp.ones(1), [100], [1])",
    "xp.ops.aten.▲write_something",
    "xp.ops.▲image.read_file",
    "xp.▲_from_blob(1, [1])",
    "xp._C.▲_construct_storage_from_data_pointer(1, 2, 3)",
    "xp._C.▲_maybe_call_torch_function_for_op_packet(1)",
    "xp._C.▲import_ir_module('x')",
    "xp._C.▲PyTorchFileReader('x')",
    "xp._C.▲_jit_set_profiling_mode(True)",
    "xp._C.▲_set_worker_signal_handlers()",
    "xp._C._dispatch_library('DEF', 'a', '').▲impl_with_aoti_compile",
    "xp.▲hub.load('a/b', 'c')",
    "xp.▲load('x')",
    "xp.▲load_something('x')",
    "xp.▲jit.script('x')",
    "xp.▲compile(lambda: 0)",
    "xp.▲classes.load_library('x')",
    "xp.▲multiprocessing",
    "xp.▲distributed",
    "xp.▲package",
    "xp.storage.▲copy",
    "xp.utils.▲cpp_extension",
    "xp.ones(1).▲share_memory_()",
    "xp.library.▲triton_op('a::b', lambda: 0)",
    "xp.library.get_kernel(▲'aten::from_file', 'CPU')",
    "xp.overrides.▲resolve_name",
    "xp.▲get_device_module('os')",
    "xp.ones(1).numpy().▲ctypes",
    "xp.ones(1).numpy().▲tofile('x')",
    "try: pass\nexcept* ValueError: pass",
    "def f[T](): pass",
    "class X[T]: pass",
    "type X = int",
]


@pytest.mark.parametrize("text", REAL_ATTACKS + ATTACKS)
def test_an_attack_is_refused_where_it_begins(text: str) -> None:
    if PLACE not in text:  # a syntax that some releases of Python do not have
        refused(text)
        return
    text, line, column = marked(text)
    refusal = refused(text.replace("CANARY", "'canary'"))
    assert (refusal.line, refusal.column) == (line, column)


def test_every_attack_is_its_own() -> None:
    assert len(set(REAL_ATTACKS + ATTACKS)) == len(REAL_ATTACKS) + len(ATTACKS)


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", REAL_ATTACKS)
def test_an_attack_would_succeed_if_nobody_checked(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch = pytest.importorskip("torch")
    canary = tmp_path / "canary"
    module = f"import os\nos.mkdir({str(canary)!r})\n"
    (tmp_path / "canary_module.py").write_text(module)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "canary_module", raising=False)
    source = text.replace(PLACE, "").replace("CANARY", repr(str(canary)))
    names = namespace(torch, VOCABULARY, {})
    names["__builtins__"]["type"] = type
    with contextlib.suppress(Exception):
        exec(compile(source, "<attack>", "exec"), names)
    assert canary.exists()
