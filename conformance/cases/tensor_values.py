"""Area ``tensor-values``: tensors made from values, and what they answer about themselves.

Construction from nested data, numbers, arrays and tensors with every dtype, right and wrong; the
factories; reading values back; geometry; storages; sizes; versions and views; limits of types.

Warnings are not compared here: most are given once in a process, so whether a case gives one is a
matter of what ran before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from hypothesis import strategies as st

from conformance.area import Area, Text
from mindtorch_v2.profile import Profile

NAN: Final = "float('nan')"
INF: Final = "float('inf')"

NUMBERS: Final = (
    "0",
    "1",
    "-1",
    "2",
    "-2",
    "127",
    "128",
    "-128",
    "-129",
    "255",
    "256",
    "-255",
    "-256",
    "32767",
    "32768",
    "65535",
    "65536",
    "70000",
    "2**31 - 1",
    "2**31",
    "-2**31 - 1",
    "2**32",
    "2**53 + 1",
    "2**63 - 1",
    "2**63",
    "-2**63",
    "2**64 - 1",
    "2**64",
    "-2**70",
    "True",
    "False",
    "0.0",
    "-0.0",
    "0.5",
    "-0.5",
    "1.5",
    "2.5",
    "-1.0",
    "255.5",
    "1e5",
    "1e10",
    "1e20",
    "3.5e38",
    "1e300",
    "1e-8",
    "1e-45",
    "0.1",
    NAN,
    INF,
    f"-{INF}",
    "0j",
    "1j",
    "1+0j",
    "1.5-2j",
    f"complex({NAN}, 1)",
    "1e300+1j",
)
"""Numbers at the limits of one type or another."""

BEYOND_SCALARS: Final = ("2**63", "2**64 - 1", "2**64", "-2**70")
"""What argument parsing already refuses, in some releases at least."""

DATA: Final = (
    "[]",
    "[[]]",
    "[[], []]",
    "[[[]]]",
    "()",
    "[1, 2, 3]",
    "(1, 2, 3)",
    "[1.5, 2]",
    "[1, 2.5, True]",
    "[True, False]",
    "[True, 2]",
    "[True, 2.0]",
    "[1, 2j]",
    "[1.5, 2j, True]",
    "[[1, 2], [3, 4]]",
    "[[1, 2.5], [True, 4]]",
    "[(1, 2), [3, 4]]",
    "([1, 2], (3, 4))",
    "[[[1], [2]], [[3], [4]]]",
    "range(4)",
    "[range(2), range(2)]",
    "bytearray(b'ab')",
    "[xp.tensor(1), 2.5]",
    "[xp.tensor(1.5), xp.tensor(2.5)]",
    "[xp.tensor([1]), xp.tensor([2])]",
    "[xp.tensor([1, 2]), xp.tensor([3, 4])]",
    "[xp.tensor(True), 1]",
    "xp.tensor([1, 2])",
    "xp.tensor(2.5)",
    "xp.ones(2, requires_grad=True)",
    "xp.ones(2, 2).t()",
    "xp.tensor([1j]).conj()",
    "xp.ones(2).numpy()",
    "xp.ones(2, 3).t().numpy()",
    "xp.arange(6).numpy()[::2]",
    "xp.arange(6).numpy()[::-1]",
    "xp.arange(6).numpy()[1]",
    "[xp.arange(6).numpy()[1], 2.5]",
    "[xp.ones(2).numpy(), xp.zeros(2).numpy()]",
    "xp.ones(2, dtype=xp.float64).numpy()[0]",
    "xp.tensor(True).numpy()",
    "xp.Size([1, 2])",
    "[xp.Size([1, 2]), (3, 4)]",
    # wrong ones
    "[1, [2]]",
    "[[1], 2]",
    "[[1, 2], [3]]",
    "[[1, 2], [3, 4, 5]]",
    "[[1, 2], 3]",
    "[[[1, 2]], [[3]]]",
    "[[], [1]]",
    "[[1], []]",
    "None",
    "[None]",
    "[1, None]",
    "'a'",
    "['a']",
    "[['ab', 'cd']]",
    "[1, 'a']",
    "b'ab'",
    "[b'ab']",
    "{}",
    "[{}]",
    "{1: 2}",
    "{1, 2}",
    "...",
    "[...]",
    "object()",
    "[object()]",
    "slice(1)",
    "int",
    "len",
    "xp.float32",
    "[xp.float32]",
    "xp.device('cpu')",
    "(lambda: 0)",
    "iter([1, 2])",
    "map(int, [1])",
    "enumerate([1])",
    "[[xp.ones(2)], [xp.ones(3)]]",
    "[xp.ones(2), xp.ones(3)]",
    "[xp.ones(2), 1]",
    "[xp.tensor([1, 2]), [3, 4]]",
)

CONVERTED: Final = (
    *("bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64"),
    *("float16", "bfloat16", "float32", "float64", "float8_e5m2", "float8_e4m3fn"),
    *("complex32", "complex64", "complex128"),
)
"""Dtypes that every release converts to each other."""

VIEWS: Final = (
    "xp.arange(24).view(2, 3, 4)",
    "xp.arange(24.0).view(2, 3, 4).transpose(0, 2)",
    "xp.arange(24).view(2, 3, 4)[1]",
    "xp.arange(24).view(2, 3, 4)[:, 1:]",
    "xp.arange(24).view(2, 3, 4)[..., ::2]",
    "xp.arange(24).view(4, 6)[1:3, 2:5]",
    "xp.arange(6).view(2, 3).t()",
    "xp.arange(6).view(2, 3).mT",
    "xp.arange(6)[2]",
    "xp.arange(6)[3:3]",
    "xp.arange(6)[None]",
    "xp.arange(6)[..., None]",
    "xp.arange(6)[None, 1:4, None]",
    "xp.arange(6).view(1, 6, 1)",
    "xp.arange(6).view(-1, 2)",
    "xp.arange(6).view(2, 3).t().view(3, 2)",
    "xp.arange(6).view(2, 3).t()[1:]",
    "xp.tensor(5)",
    "xp.tensor([])",
    "xp.zeros(2, 0, 3)",
    "xp.zeros(0)",
    "xp.zeros(1, 1, 1, 1)",
    "xp.zeros(1, 3, 2, 2)",
    "xp.empty((1, 3, 2, 2), memory_format=xp.channels_last, device='meta')",
    "xp.empty((1, 3, 2, 2, 2), memory_format=xp.channels_last_3d, device='meta')",
    "xp.empty((4, 1, 2, 2), memory_format=xp.channels_last, device='meta')",
    "xp.ones(2, dtype=xp.complex64)",
    "xp.ones(2, dtype=xp.complex64).real",
    "xp.ones(2, dtype=xp.complex64).imag",
    "xp.ones(2, dtype=xp.complex64).conj()",
    "xp.ones(2, dtype=xp.complex128).conj().imag",
    "xp._neg_view(xp.ones(2))",
    "xp.ones(3, device='meta')",
    "xp.empty((2, 3), device='meta').t()",
    "xp.ones(2, requires_grad=True)",
    "xp.ones(2, requires_grad=True).detach()",
    "xp.ones(2, requires_grad=True).data",
    "xp.ones(2, 3).t().clone()",
    "xp.ones(2, 3, 4)[..., ::2].clone()",
    "xp.ones(2, 3).t().double()",
    "xp.ones(4, dtype=xp.bfloat16)",
    "xp.ones(4, dtype=xp.bool)[1:]",
)

ANSWERS: Final = (
    "size()",
    "shape",
    "size(0)",
    "size(-1)",
    "size(1)",
    "size(5)",
    "stride()",
    "stride(0)",
    "stride(-1)",
    "stride(7)",
    "storage_offset()",
    "numel()",
    "nelement()",
    "dim()",
    "ndim",
    "ndimension()",
    "element_size()",
    "itemsize",
    "nbytes",
    "is_contiguous()",
    "is_contiguous(memory_format=xp.channels_last)",
    "is_contiguous(memory_format=xp.channels_last_3d)",
    "get_device()",
    "dtype",
    "device",
    "layout",
    "requires_grad",
    "is_leaf",
    "_version",
    "_is_view()",
    "_base",
    "is_conj()",
    "is_neg()",
    "is_floating_point()",
    "is_complex()",
    "is_signed()",
    "is_inference()",
    "is_cpu",
    "is_meta",
    "is_quantized",
    "tolist()",
    "item()",
    "detach()",
    "data",
    "clone()",
    "numpy()",
    "untyped_storage().nbytes()",
    "untyped_storage().device",
    "storage().size()",
    "storage().dtype",
    "element_size() * 2",
    "T",
)

SCALARS: Final = (
    "xp.tensor(0)",
    "xp.tensor(1)",
    "xp.tensor(-3)",
    "xp.tensor(2**62)",
    "xp.tensor(1.5)",
    "xp.tensor(-0.5)",
    f"xp.tensor({NAN})",
    f"xp.tensor({INF})",
    "xp.tensor(1e30)",
    "xp.tensor(True)",
    "xp.tensor(False)",
    "xp.tensor(1j)",
    "xp.tensor(2+0j)",
    "xp.tensor(0j)",
    "xp.tensor([1])",
    "xp.tensor([[1.5]])",
    "xp.tensor([0])",
    "xp.tensor([1, 2])",
    "xp.tensor([])",
    "xp.zeros(2, 0)",
    "xp.tensor(1, dtype=xp.uint8)",
    "xp.tensor(1.5, dtype=xp.float16)",
    "xp.tensor(1.5, dtype=xp.bfloat16)",
    "xp.tensor(2**64 - 1, dtype=xp.uint64)",
    "xp.tensor(1.5, requires_grad=True)",
    "xp.tensor(1, device='meta')",
    "xp.tensor([1, 2], device='meta')",
    "xp.tensor([1.5], device='meta')",
    "xp.zeros(1, dtype=xp.bits8)",
    "xp._neg_view(xp.tensor(1.5))",
    "xp.tensor(1+2j).conj()",
)

USES: Final = (
    "bool({0})",
    "int({0})",
    "float({0})",
    "complex({0})",
    "len({0})",
    "list({0})",
    "[7, 8, 9][{0}]",
    "range({0})",
    "{0}.item()",
    "{0}.tolist()",
    "{0}.numpy()",
    "str({0}.item())",
    "{0} is {0}",
    "not {0}",
    "1 if {0} else 2",
    "[item for item in {0}]",
    "xp.Size([{0}])",
    "xp.zeros({0}.dim())",
    "hash({0}) == 0",
    "xp.tensor({0})",
    "xp.as_tensor({0})",
    "{0}[0]",
    "{0}[-1]",
    "{0}[...]",
    "{0}[None]",
)

INDICES: Final = (
    "0",
    "1",
    "-1",
    "2",
    "-3",
    "5",
    "True",
    "None",
    "...",
    ":",
    "1:",
    ":1",
    "::2",
    "::-1",
    "::0",
    "5:",
    "-1:",
    "1:1",
    "2:1",
    "0, 1",
    "0, 1, 1",
    "0, 1, 1, 1",
    "..., 0",
    "0, ...",
    "0, ..., 1",
    "None, 0",
    "0, None",
    ":, 1",
    ":, :, 1:",
    "1:, None, ..., 0",
    "..., None",
    "()",
    "1.5",
    "'a'",
    "0, 1.5",
    "0, 'a'",
    "object()",
    "xp.tensor(1)",
)

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

FACTORIES: Final = (
    "xp.zeros(2, 3)",
    "xp.zeros((2, 3))",
    "xp.zeros([2, 3])",
    "xp.zeros(())",
    "xp.zeros(0)",
    "xp.zeros(xp.Size([2]))",
    "xp.zeros(-1)",
    "xp.zeros(2, -3)",
    "xp.ones(-1)",
    "xp.ones(2, -3)",
    "xp.full((-1,), 1)",
    "xp.full((2, -3), 1)",
    "xp.empty(-1)",
    "xp.empty(2, -3)",
    "xp.empty(2, -3, device='meta')",
    "xp.ones(3)",
    "xp.ones(2, 0)",
    "xp.full((2, 2), 7)",
    "xp.full((2,), 1.5)",
    "xp.full((), True)",
    "xp.full((2,), 1j)",
    "xp.full((0,), 300, dtype=xp.uint8)",
    "xp.full((1,), 300, dtype=xp.uint8)",
    "xp.full((2,), 300, dtype=xp.uint8, device='meta')",
    "xp.full((2,), 1, requires_grad=True)",
    "xp.full((2,), 1.0, requires_grad=True)",
    "xp.zeros(2, requires_grad=True)",
    "xp.zeros(2, dtype=xp.int32, requires_grad=True)",
    "xp.zeros(2, dtype=xp.complex64, requires_grad=True)",
    "xp.tensor(1, requires_grad=True)",
    "xp.tensor(1.5, requires_grad=True)",
    "xp.tensor([1.5], dtype=xp.int64, requires_grad=True)",
    "xp.tensor([1, 2], device='meta')",
    "xp.tensor([[1, 2], [3]], device='meta')",
    "xp.tensor([1.5], pin_memory=True)",
    "xp.zeros(2, pin_memory=True)",
    "xp.eye(0)",
    "xp.eye(3)",
    "xp.eye(2, 3)",
    "xp.eye(3, 2)",
    "xp.eye(2, 0)",
    "xp.eye(-1)",
    "xp.eye(2, -1)",
    "xp.eye(2, device='meta')",
    "xp.eye(2, requires_grad=True)",
    "xp.arange(5)",
    "xp.arange(0)",
    "xp.arange(1, 4)",
    "xp.arange(1, 8, 3)",
    "xp.arange(5, 0, -2)",
    "xp.arange(5, 5)",
    "xp.arange(5, 0)",
    "xp.arange(0, 5, -1)",
    "xp.arange(0, 5, 0)",
    "xp.arange(0.0, 1.0, 0.25)",
    "xp.arange(0, 1, 0.125)",
    "xp.arange(5.0)",
    "xp.arange(2.5)",
    "xp.arange(-2.5, 3)",
    "xp.arange(-2.5, 3, dtype=xp.int64)",
    "xp.arange(1.0, -1.0, -0.5)",
    "xp.arange(True)",
    "xp.arange(3, dtype=xp.float16)",
    "xp.arange(3, dtype=xp.bfloat16)",
    "xp.arange(3, dtype=xp.uint8)",
    "xp.arange(300, dtype=xp.uint8)[-3:]",
    "xp.arange(0, 3, 0.5, dtype=xp.int64)",
    "xp.arange(0, 3, 1.5, dtype=xp.int64)",
    f"xp.arange({INF})",
    f"xp.arange(0, {NAN})",
    f"xp.arange(0, 5, {NAN})",
    "xp.arange(1j)",
    "xp.arange(0, 1j)",
    "xp.arange(2**63 - 2, 2**63 - 1)",
    "xp.arange(0, 10, 3, device='meta')",
    "xp.arange(3, requires_grad=True)",
    "xp.arange(3.0, requires_grad=True)",
    "xp.empty(2, memory_format=xp.channels_last)",
    "xp.empty(1, 2, 3, 4, memory_format=xp.preserve_format)",
    "xp.empty(1, 2, 3, 4, memory_format=xp.channels_last_3d)",
    "xp.zeros_like(xp.ones(2, 3).t())",
    "xp.ones_like(xp.zeros(2, 3), dtype=xp.int32)",
    "xp.zeros_like(xp.ones(2, 3, device='meta'))",
    "xp.empty_like(xp.ones(2, 3, 4)[..., ::2]).stride()",
    "xp.empty_like(xp.ones(2, 3, 4).transpose(0, 2)).stride()",
)


def texts(profile: Profile) -> Iterator[Text]:
    names = [dtype["name"].removeprefix("torch.") for dtype in profile.tensors["dtypes"]]
    whole = [name for name in names if not name.startswith("q")]
    yield from _construction(names, whole)
    yield from _answers()
    yield from _uses()
    yield from _sizes()
    yield from _storages(whole)
    yield from _types(names)
    for made in FACTORIES:
        yield "factories", made
    for text in SHARING:
        yield "sharing", text


def _construction(names: list[str], whole: list[str]) -> Iterator[Text]:
    fitting = [number for number in NUMBERS if number not in BEYOND_SCALARS]
    for number in NUMBERS:
        yield "tensor", f"xp.tensor({number})"
        yield "tensor", f"xp.tensor([{number}, 1])"
    for number in fitting:
        yield "full", f"xp.full((2,), {number})"
    for number, dtype in product(NUMBERS, whole):
        yield dtype, f"xp.tensor({number}, dtype=xp.{dtype})"
    for number, dtype in product(fitting, whole):
        yield dtype, f"xp.full((2,), {number}, dtype=xp.{dtype})"
    for data in DATA:
        yield "tensor", f"xp.tensor({data})"
        yield "as_tensor", f"xp.as_tensor({data})"
        yield "tensor", f"xp.tensor({data}, device='meta')"
        for dtype in ("float64", "int32", "bool", "complex64", "bfloat16", "bits8", "uint64"):
            yield "tensor", f"xp.tensor({data}, dtype=xp.{dtype})"
    for dtype in whole:
        for make in ("zeros(2)", "ones(2)", "ones(1)", "eye(2)", "arange(3)"):
            yield dtype, f"xp.{make[:-1]}, dtype=xp.{dtype})"
        for use in ("item()", "tolist()", "numpy()", "clone()", "float()"):
            yield dtype, f"xp.zeros(1, dtype=xp.{dtype}).{use}"
        yield dtype, f"xp.zeros(1, dtype=xp.{dtype}).to(xp.float32)"
        yield dtype, f"xp.tensor([1.5, -2.0, 100.0]).to(xp.{dtype})"
    for source, target in product(CONVERTED, CONVERTED):
        yield "to", f"xp.tensor([0, 1, 3], dtype=xp.{source}).to(xp.{target})"
    for dtype in names:
        yield "set_default_dtype", _default_dtype(dtype)


def _default_dtype(dtype: str) -> str:
    return (
        f"try:\n    xp.set_default_dtype(xp.{dtype})\n"
        "    found = xp.get_default_dtype(), xp.tensor(1.5).dtype, xp.zeros(1).dtype\n"
        "finally:\n    xp.set_default_dtype(xp.float32)\nfound"
    )


def _answers() -> Iterator[Text]:
    for made, answer in product(VIEWS, ANSWERS):
        yield answer.partition("(")[0], f"({made}).{answer}"
    base = "xp.arange(12).view(2, 3, 2)"
    for made, index in product((base, "xp.arange(3)", "xp.tensor(5)", "xp.zeros(2, 0)"), INDICES):
        if index not in ("True", "xp.tensor(1)"):
            yield "getitem", f"{made}[{index}]"


def _uses() -> Iterator[Text]:
    for made, use in product(SCALARS, USES):
        yield "numbers", use.format(made)


def _sizes() -> Iterator[Text]:
    for made, use in product(SIZES, OF_SIZES):
        yield "Size", use.format(made)


def _storages(whole: list[str]) -> Iterator[Text]:
    for made, use in product(STORAGES, OF_STORAGES):
        yield "storages", use.format(made)
    for text in WRONG_STORAGES:
        yield "storages", text
    for dtype in whole:
        yield "storages", f"xp.zeros(2, dtype=xp.{dtype}).storage()"
        yield "storages", f"xp.zeros(2, dtype=xp.{dtype}).untyped_storage().nbytes()"


def _types(names: list[str]) -> Iterator[Text]:
    for dtype in names:
        yield "finfo", f"xp.finfo(xp.{dtype})"
        yield "iinfo", f"xp.iinfo(xp.{dtype})"
        for name in ("bits", "eps", "max", "min", "tiny", "smallest_normal", "resolution", "dtype"):
            yield "finfo", f"xp.finfo(xp.{dtype}).{name}"
        for name in ("bits", "max", "min", "dtype"):
            yield "iinfo", f"xp.iinfo(xp.{dtype}).{name}"
    yield "finfo", "xp.finfo()"
    yield "finfo", "xp.finfo(xp.float32) == xp.finfo(xp.float32)"
    yield "finfo", "xp.finfo(xp.float32) == xp.finfo(xp.float64)"
    yield "iinfo", "xp.iinfo(xp.int8) == xp.iinfo(xp.int8)"
    for one, two in product(names, names):
        yield "promote_types", f"xp.promote_types(xp.{one}, xp.{two})"


def strategy(profile: Profile) -> st.SearchStrategy[Text]:
    """Tensors of drawn nested data, and chains of views of them."""
    numbers = st.sampled_from(NUMBERS)
    data = st.recursive(
        numbers, lambda inner: st.lists(inner, max_size=3).map(lambda xs: f"[{', '.join(xs)}]")
    )
    dtypes = st.sampled_from(["", *(f", dtype=xp.{name}" for name in CONVERTED)])
    made = st.tuples(data, dtypes).map(lambda pair: f"xp.tensor({pair[0]}{pair[1]})")
    steps = st.sampled_from([*(f"[{i}]" for i in INDICES[8:32]), ".t()", ".detach()", ".clone()"])
    views = st.tuples(st.sampled_from(VIEWS), st.lists(steps, max_size=4)).map(
        lambda pair: f"x = {pair[0]}{''.join(pair[1])}\n"
        "(x, x.storage_offset(), x.is_contiguous(), x._is_view(), x.untyped_storage().nbytes())"
    )
    return st.one_of(
        made.map(lambda text: ("tensor", text)), views.map(lambda text: ("views", text))
    )


AREA: Final = Area("tensor-values", texts, strategy, warnings=False)
