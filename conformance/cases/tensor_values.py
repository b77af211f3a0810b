"""Area ``tensor-values``: tensors made from values, and what they answer about themselves.

Construction from nested data, numbers, arrays and tensors with every dtype, right and wrong; the
factories; reading values back; geometry; storages; DLPack's capsules; sizes; versions and views;
limits of types.

Warnings are not compared here: most are given once in a process, so whether a case gives one is a
matter of what ran before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations, permutations, product
from typing import Final

from hypothesis import strategies as st

from conformance.area import Area, Text
from conformance.cases import dlpack_pools, object_pools
from conformance.cases.storage_pools import (
    LEGACY,
    OF_LEGACY,
    OF_SIZES,
    OF_STORAGES,
    SHARING,
    SIZES,
    STORAGES,
    WRONG_STORAGES,
    of_bytes,
)
from conformance.cases.tensor_values_pools import (
    ANSWERS,
    BEYOND,
    BEYOND_SCALARS,
    CONVERTED,
    DATA,
    DEVICE_ARGUMENTS,
    DEVICE_CONTEXTS,
    FACTORIES,
    INDICES,
    NUMBERS,
    OF_PYTHON_TYPES,
    SCALARS,
    SHAPES_ALONE,
    SHARED,
    SHARING_ARGUMENTS,
    TAKEN_OVER,
    USES,
    VIEWS,
    WITHOUT_DEVICE,
)
from mindtorch_v2.profile import Profile


def texts(profile: Profile) -> Iterator[Text]:
    names = [dtype["name"].removeprefix("torch.") for dtype in profile.tensors["dtypes"]]
    whole = [name for name in names if not name.startswith("q")]
    yield from _construction(names, whole)
    yield from _refused()
    yield from _answers()
    yield from _uses()
    yield from _sizes()
    yield from _storages(whole)
    yield from _types(names)
    yield from dlpack_pools.texts(whole)
    for made in FACTORIES:
        yield "factories", made
    for text in SHARING:
        yield "sharing", text
    yield from _shared()
    yield from _python_types_and_devices()
    yield from _of_numpy()
    yield from _made_otherwise()
    yield from object_pools.texts()
    yield from of_bytes()


_DEFAULT: Final = "xp.set_default_dtype(xp.{})\n"


def _python_types_and_devices() -> Iterator[Text]:
    for made, kind in product(OF_PYTHON_TYPES, ("int", "bool", "float", "complex", "str")):
        yield "dtype", made.format(kind)
    for text in SHAPES_ALONE:
        yield "shapes", text
    for made in WITHOUT_DEVICE:
        yield "device", f"with xp.device('meta'): x = xp.{made}\n(x.device, x.shape)"
    for given in DEVICE_ARGUMENTS:
        yield "device", f"xp.device({given})"
    for given, asked in product(("'cuda', 129", "'cuda:129'", "'cuda', 255"), ("index", "type")):
        yield "device", f"xp.device({given}).{asked}"
    for text in DEVICE_CONTEXTS:
        yield "device", text
    for text in TAKEN_OVER:
        yield "taken over", text
    for text in BEYOND:
        yield "beyond", text
    for dtype in ("float16", "bfloat16", "float32", "float64"):
        made = "xp.full((2,), 1 + 1j).dtype, xp.full((2,), 1.0).dtype"
        yield "full", f"{_DEFAULT.format(dtype)}y = {made}\n{_DEFAULT.format('float32')}y"


_REST: Final = ((0,), (0, 4), (0, 2, 2))
_OF_UNCOUNTABLE: Final = (
    "xp.empty({0}).stride()",
    "xp.empty({0}, device='meta').stride()",
    "xp.ones(2).new_empty({0}, dtype=xp.float64).stride()",
    "xp.empty_strided({0}, [1] * len({0})).stride()",
    "xp.empty(0).view({0}).stride()",
    "xp.empty(0).reshape({0}).stride()",
    "xp.empty(0).resize_({0}).stride()",
)


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


def _refused() -> Iterator[Text]:
    """Lists that contain themselves, and sizes that nobody can count, with no elements too."""
    for start, made in product(
        ("[]", "[0]", "[0, []]"), ("xp.tensor(z)", "xp.as_tensor([1, z])", "xp.tensor([[1], z])")
    ):
        yield "tensor", f"z = {start}\nz.append(z)\n{made}"
    large = (2**31, 2**61, 2**62, 2**63 - 1)
    orders = chain.from_iterable(permutations((*rest, each)) for each in large for rest in _REST)
    for sizes, call in product(dict.fromkeys(orders), _OF_UNCOUNTABLE):
        yield "sizes", call.format(list(sizes))


def _shared() -> Iterator[Text]:
    """With each argument, and with each pair of values of two of them."""
    given = [[f"{name}={value}" for value in values] for name, values in SHARING_ARGUMENTS.items()]
    pairs = [product(one, other) for one, other in combinations(given, 2)]
    arguments = [(), *((each,) for each in chain(*given)), *chain(*pairs)]
    for made, chosen in product(SHARED, arguments):
        call = ", ".join(("a", *chosen))
        yield "asarray", f"a = {made}\nb = xp.asarray({call})\n(b, b is a, b.is_leaf, b.grad_fn)"


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


_OF_NUMPY: Final = (
    *("xp.tensor({})", "xp.tensor([{}])", "xp.tensor([1.5, {}])", "xp.as_tensor({})"),
    *("xp.tensor({}, dtype=xp.bool)", "xp.tensor([{}], dtype=xp.float32)", "xp.full((2,), {})"),
    *("xp.ones(2) + {}", "xp.ones(2).fill_({})", "x = xp.ones(2)\nx[0] = {}\nx"),
    *("xp.Generator().manual_seed({}).initial_seed()", "xp.Generator().set_offset({})"),
    *("xp.manual_seed({}).initial_seed()", "xp.ones(2, 3).sum({})", "xp.ones(3).view({}, 3)"),
)
_SCALARS_OF_NUMPY: Final = ("bool_(True)", "int64(1)", "int64(-3)", "uint8(1)", "float32(1)")


def _of_numpy() -> Iterator[Text]:
    for use, scalar in product(_OF_NUMPY, _SCALARS_OF_NUMPY):
        yield "NumPy's numbers", use.format(f"np.{scalar}")


_OVER_STORAGES: Final = (
    *("xp.Tensor(x.untyped_storage())", "xp.Tensor(x.storage())", "x.new(x.untyped_storage())"),
    *("xp.FloatTensor(x.storage())", "xp.Tensor(x)", "xp.Tensor([1, 2])", "xp.Tensor(2)"),
)
_NAMED: Final = ("None", "('a', 'b')", "(None,)", "3", "['a', 'b', 'c']")


def _made_otherwise() -> Iterator[Text]:
    for made in _OVER_STORAGES:
        yield "_version", f"x = xp.ones(2)\ny = {made}\n(y._version, y.view(-1)._version)"
    for names in _NAMED:
        yield "names", f"xp.tensor([1.0], names={names})"
    for function in ("is_tensor(obj=1)", "is_storage(obj=1)", "set_default_dtype(d=xp.float32)"):
        yield "by position", f"xp.{function}"


def _sizes() -> Iterator[Text]:
    for made, use in product(SIZES, OF_SIZES):
        yield "Size", use.format(made)


def _storages(whole: list[str]) -> Iterator[Text]:
    for made, use in product(STORAGES, OF_STORAGES):
        yield "storages", use.format(made)
    for text in WRONG_STORAGES:
        yield "storages", text
    for name, use in product(LEGACY, OF_LEGACY):
        yield "storages", use.format(name)
    for dtype in whole:
        yield "storages", f"xp.zeros(2, dtype=xp.{dtype}).storage()"
        yield "storages", f"xp.zeros(2, dtype=xp.{dtype}).untyped_storage().nbytes()"


def _types(names: list[str]) -> Iterator[Text]:
    for dtype in names:
        for asked in ("to_real()", "to_complex()", "to_real(1)", "is_signed", "itemsize"):
            yield "dtype", f"xp.{dtype}.{asked}"
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
    yield "iinfo", "xp.iinfo(xp.int8) == xp.int8, xp.int8 == xp.iinfo(xp.int8)"
    yield "finfo", "xp.finfo(xp.half) == xp.float32, xp.finfo(xp.half) != xp.Size()"
    yield "finfo", "xp.finfo(xp.half).__eq__(object()), xp.finfo(xp.half).__lt__(object())"
    yield "finfo", "xp.finfo(xp.complex64) == xp.finfo(xp.float32)"
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
