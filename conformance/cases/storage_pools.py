"""What area ``tensor-values`` knows of sizes and storages, and asks of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from conformance.area import Text

SIZES: Final = (
    "xp.Size()",
    "xp.Size([])",
    "xp.Size([1, 2])",
    "xp.Size((3,))",
    "xp.Size([0, 5])",
    "xp.Size([-1, 2])",
    "xp.Size([True, 2])",
    "xp.Size(range(3))",
    "xp.Size([2**40, 2**40])",
    "xp.Size([2**62])",
    "xp.ones(2, 3).shape",
    "xp.ones(2, 3).size()",
    "xp.Size([xp.tensor(2)])",
    "xp.Size([xp.tensor([3])])",
    "xp.Size([xp.tensor(1.5)])",
    "xp.Size([xp.tensor([1, 2])])",
    "xp.Size(['a'])",
    "xp.Size([1, None])",
    "xp.Size([1.5])",
    "xp.Size([[1]])",
    "xp.Size('12')",
    "xp.Size(3)",
    "xp.Size(None)",
    "xp.Size([1], [2])",
    "xp.Size(sizes=[1])",
    "xp.Size({1: 2})",
    "xp.Size(xp.Size([1, 2]))",
    "xp.Size([2**63])",
)
OF_SIZES: Final = (
    "{0}",
    "str({0})",
    "'%s' % [{0}]",
    "len({0})",
    "{0}.numel()",
    "{0}[0]",
    "{0}[-1]",
    "{0}[5]",
    "{0}[1:]",
    "{0}[::-1]",
    "{0}['a']",
    "{0} + (7,)",
    "{0} + {0}",
    "(7,) + {0}",
    "{0} + [7]",
    "{0} + 7",
    "{0} + None",
    "{0} + ('a',)",
    "[7] + {0}",
    "7 + {0}",
    "{0} * 2",
    "2 * {0}",
    "{0} * -1",
    "{0} * 1.5",
    "{0} == (1, 2)",
    "{0} == [1, 2]",
    "{0} < (1, 3)",
    "hash({0}) == hash((1, 2))",
    "1 in {0}",
    "list({0})",
    "tuple({0})",
    "{0}.count(1)",
    "{0}.index(2)",
    "{0}.index(9)",
    "sum({0})",
    "max({0})",
    "sorted({0})",
    "bool({0})",
    "isinstance({0}, tuple)",
    "[*{0}, 1]",
    "{0}.numel(1)",
)

STORAGES: Final = (
    "xp.tensor([1.0, 2.0]).untyped_storage()",
    "xp.tensor([1, 2, 3], dtype=xp.uint8).untyped_storage()",
    "xp.zeros(0).untyped_storage()",
    "xp.ones(2, device='meta').untyped_storage()",
    "xp.tensor([1, 2, 3], dtype=xp.int16)[1:].untyped_storage()",
    "xp.UntypedStorage()",
    "xp.UntypedStorage(3).fill_(7)",
    "xp.UntypedStorage([1, 2, 300])",
    "xp.UntypedStorage(2, device='meta')",
    "xp.tensor([1.0, 2.0]).storage()",
    "xp.tensor([1, 2, 3], dtype=xp.uint8).storage()",
    "xp.tensor([True, False]).storage()",
    "xp.tensor([1+2j]).storage()",
    "xp.tensor([1.5, 2.5], dtype=xp.bfloat16).storage()",
    "xp.ones(2, device='meta').storage()",
    "xp.TypedStorage([1, 2])",
    "xp.TypedStorage([1, 2], dtype=xp.int64)",
    "xp.TypedStorage(3, dtype=xp.int16).fill_(0)",
    "xp.TypedStorage()",
    "xp.TypedStorage(wrap_storage=xp.UntypedStorage([0, 0, 128, 63]), dtype=xp.float32)",
)
OF_STORAGES: Final = (
    "xp.tensor({0})",
    "xp.tensor({0}, dtype=xp.float32)",
    "xp.as_tensor({0}, dtype=xp.int16)",
    "xp.asarray({0}, device='meta')",
    "xp.ones(1, dtype=xp.uint8).new_tensor({0})",
    "s = {0}\nxp.as_tensor(s, dtype=xp.uint8).fill_(1)\ns.tolist()",
    "{0}",
    "str({0})",
    "len({0})",
    "{0}.nbytes()",
    "{0}.size()",
    "{0}.element_size()",
    "{0}.device",
    "{0}.get_device()",
    "{0}.tolist()",
    "list({0})",
    "{0}[0]",
    "{0}[-1]",
    "{0}[1]",
    "{0}[50]",
    "{0}[-50]",
    "{0}[1:]",
    "{0}['a']",
    "{0}[1.5]",
    "{0}[None]",
    "{0}.fill_(1)",
    "{0}.clone()",
    "{0}.untyped()",
    "{0}.cpu()",
    "{0}.resizable()",
    "{0}.is_shared()",
    "{0}.is_pinned()",
    "{0}.is_cuda",
    "{0}.is_sparse",
    "{0}.type()",
    "{0}.float()",
    "{0}.int()",
    "{0}.bool()",
    "{0}.half()",
    "{0}.double()",
    "{0}.byte()",
    "{0}.copy_({0})",
    "{0}.copy_(xp.UntypedStorage(1))",
    "xp.is_storage({0})",
    "xp.is_storage([{0}])",
    "s = {0}\ns.resize_(16)\ns.nbytes()",
    "s = {0}\ns.resize_(0)\ns.nbytes()",
    "s = {0}\ns[0] = 7\ns.tolist()",
    "s = {0}\ns[0:2] = 3\ns.tolist()",
    "s = {0}\ns[60] = 3\ns.tolist()",
)

WRONG_STORAGES: Final = (
    *(f"xp.zeros(1, dtype=xp.{each}).storage_type()" for each in ("float32", "int8", "uint16")),
    "xp.zeros(1, device='meta').storage_type()",
    "s = xp.UntypedStorage(2)\ns.grad = 3\ns.grad",
    "xp.UntypedStorage(-1)",
    "xp.UntypedStorage(1.5)",
    "xp.UntypedStorage(None)",
    "xp.TypedStorage('a')",
    "xp.TypedStorage(1, 2)",
    "xp.TypedStorage(1.5)",
    "xp.TypedStorage([[1, 2], [3]])",
    "xp.TypedStorage(wrap_storage=xp.UntypedStorage(8))",
    "xp.TypedStorage(wrap_storage=1, dtype=xp.float32)",
    "xp.TypedStorage(1, wrap_storage=xp.UntypedStorage(8), dtype=xp.float32)",
    "xp.empty(1, layout=xp.sparse_coo).untyped_storage()",
    "xp.empty(1, layout=xp.sparse_coo).storage()",
    "xp.empty((1, 1), layout=xp.sparse_csr).untyped_storage()",
    "xp.empty(1, layout=xp._mkldnn).untyped_storage()",
    "x = xp.ones(2)\nn = x.numpy()\nx.untyped_storage().resizable()",
    "x = xp.ones(2)\nn = x.numpy()\nx.untyped_storage().resize_(20)",
    "x = xp.ones(2)\nx.untyped_storage() is x.untyped_storage()",
    "x = xp.ones(2)\nx[1:].untyped_storage() is x.untyped_storage()",
    "x = xp.ones(2)\nx.untyped_storage() is x.clone().untyped_storage()",
    "x = xp.ones(2)\nx.untyped_storage().fill_(0)\nx",
    "x = xp.ones(2)\nx.storage()[0] = 5\nx",
    "x = xp.ones(2)\nx.storage().fill_(5)\nx",
    "x = xp.arange(4)\nx.untyped_storage().copy_(xp.zeros(4, dtype=xp.int64).untyped_storage())\nx",
    "xp.ones(0).untyped_storage().copy_(xp.ones(0, device='meta').untyped_storage())",
    "xp.ones(0, device='meta').untyped_storage().cpu()",
    "x = xp.ones(3)\n[y.data_ptr() - x.data_ptr() for y in (x, x[1:], x[2], x.detach())]",
    "[x.data_ptr() for x in (xp.zeros(0), xp.ones(2, device='meta'))]",
    "xp.ones(2, layout=xp.sparse_coo).data_ptr()",
    "xp.zeros(2, layout=xp.sparse_coo).data_ptr()",
    "xp.zeros(2, layout=xp.sparse_coo).tolist()",
    "xp.zeros(2, layout=xp.sparse_coo).numpy()",
    "xp.zeros((2, 2), layout=xp.sparse_csr).numpy()",
    "xp.zeros((2, 2), layout=xp._mkldnn).numpy()",
)

SHARING: Final = (
    "x = xp.zeros(4)\ny = x[1:3]\ny.fill_(5)\n(x, y, x._version, y._version)",
    "x = xp.zeros(4)\nx.fill_(1)\nx.zero_()\n(x, x._version)",
    "x = xp.zeros(2, 2)\nx.t().fill_(3)\n(x, x._version)",
    "x = xp.zeros(4)\ny = x.detach()\ny.fill_(2)\n(x, x._version, y._version)",
    "x = xp.zeros(4)\ny = x.data\ny.fill_(2)\n(x, x._version, y._version)",
    "x = xp.zeros(4)\ny = x.clone()\ny.fill_(2)\n(x, x._version, y._version)",
    "x = xp.zeros(4)\ny = x.view(2, 2)[1]\ny.fill_(2)\n(x, y._base is x, y._is_view())",
    "x = xp.zeros(4)\ny = x.view(2, 2)\nz = y.t()\n(z._base is x, y._base is x, z._base is y)",
    "x = xp.zeros(4)\ny = x.detach()[1:]\n(y._base is x, y._is_view(), x.detach()._is_view())",
    "x = xp.zeros(4)\nn = x.numpy()\nx.fill_(3)\nn",
    "x = xp.zeros(4)\nn = x.numpy()\nn[1:] = 7\nx",
    "n = xp.zeros(4).numpy()\nx = xp.from_numpy(n)\nx.fill_(3)\nn",
    "n = xp.zeros(4).numpy()\nx = xp.from_numpy(n)\nn[0] = 3\nx",
    "n = xp.zeros(4).numpy()\nx = xp.tensor(n)\nn[0] = 3\nx",
    "n = xp.zeros(4).numpy()\nx = xp.as_tensor(n)\nn[0] = 3\nx",
    "n = xp.zeros(4).numpy()\nx = xp.as_tensor(n, dtype=xp.float64)\nn[0] = 3\nx",
    "x = xp.zeros(4)\nxp.as_tensor(x) is x",
    "x = xp.zeros(4)\nxp.as_tensor(x, dtype=xp.float64) is x",
    "x = xp.zeros(4)\nxp.tensor(x) is x",
    "n = xp.arange(6).view(2, 3).numpy()\n[xp.from_numpy(m).stride() for m in (n, n[:, ::2])]",
    "n = xp.arange(6).numpy()\nxp.from_numpy(n[::-1])",
    "n = xp.arange(6).numpy()\nxp.from_numpy(n[2:])",
    "n = xp.arange(6).numpy()\nxp.from_numpy(n[3:3])",
    "xp.from_numpy([1])",
    "xp.from_numpy(xp.ones(2))",
    "xp.from_numpy(None)",
    "with xp.inference_mode():\n    x = xp.zeros(2)\nx._version",
    "with xp.inference_mode():\n    x = xp.zeros(2)\n    y = x[1:]\n(y._is_view(), y._base)",
    "x = xp.tensor([1+2j, 3])\nx.real.fill_(5)\nx",
    "x = xp.tensor([1+2j, 3])\nx.imag.fill_(5)\nx",
    "x = xp.tensor([1+2j, 3])\nx.conj().fill_(5+1j)\nx",
    "x = xp.ones(2)\nxp._neg_view(x).fill_(5)\nx",
    "y = xp.ones(2, dtype=xp.complex64).conj()\n(y.is_conj(), y.resolve_conj().is_conj())",
    "[x._version for x in xp.ones(3)]",
    "x = xp.arange(3)\n[y._base is x for y in x]",
    "x = xp.arange(3)\nlist(x), x.tolist()",
)

LEGACY: Final = (
    *("FloatStorage", "LongStorage", "ByteStorage", "BoolStorage", "ComplexFloatStorage"),
    "QInt8Storage",
)
OF_LEGACY: Final = (
    *("xp.{0}", "type(xp.{0}([1]))", "xp.{0}.dtype", "xp.{0}([1, 0]).tolist()", "len(xp.{0}(3))"),
    *("len(xp.{0}())", "xp.{0}([])", "xp.{0}(2, dtype=xp.int8)", "xp.{0}(1, 2)", "xp.{0}([300])"),
    *("xp.{0}(device='cpu')", "xp.{0}(3.5)", "xp.{0}(None)", "xp.{0}('a')", "xp.{0}(-1)"),
    "xp.{0}(wrap_storage=xp.UntypedStorage([0, 0, 0, 0, 0, 0, 0, 0]))",
    "xp.{0}(1, wrap_storage=xp.UntypedStorage(8))",
    "xp.{0}(wrap_storage=3)",
    "xp.{0}(wrap_storage=xp.UntypedStorage(2, device='meta'))",
    *(f"isinstance({made}, xp.{{0}})" for made in ("xp.ones(2)", *STORAGES[9:16])),
)
"""What is asked of a class of storages of one dtype."""

#: Bytes of storages in C's words: what is no place, no byte, no sequence of bytes.
_OF_BYTES: Final = (
    *("s[0] = 'a'", "s[0] = 1.5", "s['a'] = 1", "s[1, 2] = 1", "s[0] = True", "s[True] = 1"),
    *("s[None] = 1", "s[100] = 1", "s[0:8:2] = 3", "s[0:8:2] = 'a'", "s[:4] = 1.5", "s[::-1] = 1"),
    *("s[4:] = 300", "s[-1] = -1", "s[5:2] = 7", "s[np.int64(1)] = 9", "s[np.float64(1)] = 9"),
    *("s[::2]", "s[::-1]", "s[0:8:2]", "s[True]", "s[np.int64(1)]", "s[xp.tensor(1)]", "s['a':]"),
    *("s.copy_(3)", "s.copy_(None)", "s.copy_()", "s.copy_(xp.ones(2))", "s.copy_(s, 1)"),
    *("s.copy_(src=s)", "s.copy_(source=s)", "s.copy_(s, True)", "s.copy_(s, False, 3)"),
    *("s.copy_(xp.ones(2).storage())", "s.copy_(s, non_blocking='a')", "s.storage()"),
)
_MADE_OF: Final = (
    *("[1, 2, 'a']", "'a'", "''", "b'ab'", "[1, 1.5]", "[1, True]", "[[1]]", "range(3)", "{1: 2}"),
    *("np.zeros(2, np.uint8)", "np.zeros(2)", "xp.ones(2)", "True", "{1, 2}", "4, 5", "foo=5"),
    *("4, 'cpu'", "sequence=[1, 2]", "size=4, device='meta'", "[1, 2], device='meta'", "1.5, 2"),
    *("4, size=4", "xp.UntypedStorage(2).fill_(5)", "(1, 2), device=xp.device('cpu')"),
)
_SIZED: Final = (
    *("4, device='cpu'", "size=4", "4, device=None", "4, allocator=None", "xp.tensor(2)"),
    *("np.int64(2)", "device='cpu'", "xp.tensor(2), device='meta'"),
)
_BUFFERS: Final = (
    *(
        f"b'abcdefghijklmnop', '{order}', dtype=xp.{dtype}"
        for order in ("big", "little", "native")
        for dtype in (
            *("uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32"),
            *("float64", "complex64", "complex128", "bool", "quint8", "complex32", "float8_e5m2"),
        )
    ),
    *("b'abcd', dtype=xp.int16", "b'abcd', dtype=xp.uint8", "b'abcd', dtype=xp.bool", "b'abcd'"),
    *("b'abcd', 'foo', dtype=xp.int16", "b'abcd', 2, dtype=xp.int16", "b'abcd', 'big'"),
    *("b'abcd', 'big', dtype='a'", "b'abcd', 'big', dtype=None", "'abc', 'big', dtype=xp.int16"),
    *("[1], 'big', dtype=xp.int16", "b'abc', 'big', dtype=xp.int16", "b'', 'big', dtype=xp.int16"),
    *(f"b'abcd', 'big', {given}, xp.int16" for given in ("1, 2", "1, 1", "2, 1", "0, 0", "-3, 0")),
    *(f"b'abcd', 'big', offset={n}, dtype=xp.int16" for n in (1, 2, 4, 5, -1)),
    *("b'abcd', 'big', count=9, dtype=xp.int16", "b'abcd', 'foo', dtype=xp.uint8"),
)


def of_bytes() -> Iterator[Text]:
    for use in _OF_BYTES:
        made = "s = xp.zeros(2).untyped_storage()"
        on_meta = "s = xp.zeros(2, device='meta').untyped_storage()"
        is_set = " = " in use or "copy_" in use
        yield "storages", f"{made}\n{use}\ns.tolist()" if is_set else f"{made}\n{use}"
        if "copy_" not in use:
            yield "storages", f"{on_meta}\n{use}"
    for given in _MADE_OF:
        yield "storages", f"xp.UntypedStorage({given})"
    for given in _SIZED:
        yield "storages", f"xp.UntypedStorage({given}).nbytes()"
    for given in _BUFFERS:
        yield "storages", f"xp.UntypedStorage.from_buffer({given})"
