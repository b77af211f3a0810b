"""Functions of torch that are written in Python, before bound ones of their names.

Mirrors ``torch/functional.py``.  Here are those that methods of tensors go through, and those that
take any number of tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from operator import mul
from typing import Any

from mindtorch_v2._boolean_dispatch import Flags, boolean_dispatch
from mindtorch_v2.binding.python.bindings import FUNCTIONS
from mindtorch_v2.kernels.switches import HABITS as NEURAL_HABITS
from mindtorch_v2.overrides import handle_torch_function, has_torch_function
from mindtorch_v2.tensor import dtype as dtypes
from mindtorch_v2.tensor.dtype import strided
from mindtorch_v2.tensor.size import Size
from mindtorch_v2.tensor.support import HABITS
from mindtorch_v2.tensor.symbolic import SymInt
from mindtorch_v2.tensor.tensor import Tensor


def bound_function(name: str, module: str = "torch") -> Callable[..., Any]:
    """What torch binds under this name: ``torch._VF`` in torch's own words."""
    return FUNCTIONS[module][name]


def _linalg(name: str) -> Callable[..., Any]:
    return bound_function(f"linalg_{name}", "torch._C._linalg")


def norm(
    input: Any,
    p: Any = "fro",
    dim: Any = None,
    keepdim: Any = False,
    out: Any = None,
    dtype: Any = None,
) -> Any:
    """The norm over some dimensions or all: of vectors and matrices, by ``torch.linalg``."""
    if has_torch_function((input,)):
        options = {"p": p, "dim": dim, "keepdim": keepdim, "out": out, "dtype": dtype}
        return handle_torch_function(norm, (input,), input, **options)
    is_one = isinstance(dim, (int, SymInt))
    dims = [dim] if is_one else dim
    given = {} if out is None else {"out": out}
    if input.layout is not strided:
        return _norm_of_other_layout(input, p, dims, keepdim, given, dtype)
    if not isinstance(p, str):
        p = 2.0 if p is None else p
        return _linalg("vector_norm")(input, p, dims, keepdim, dtype=dtype, **given)
    if p == "fro" and (dim is None or is_one or len(dim) <= 2):
        return _linalg("vector_norm")(input, 2, dims, keepdim, dtype=dtype, **given)
    if dims is None:
        dims = list(range(input.ndim))
    return _linalg("matrix_norm")(input, p, dims, keepdim, dtype=dtype, **given)


def _norm_of_other_layout(
    input: Any, p: Any, dims: Any, keepdim: Any, given: dict[str, Any], dtype: Any
) -> Any:
    """Of sparse tensors: by the operators of the norms' own names."""
    everything = list(range(input.dim()))
    is_plain = dims is None and not given and dtype is None
    if p == "fro" and isinstance(p, str):
        if is_plain:
            return bound_function("frobenius_norm")(input, dim=(), keepdim=keepdim)
        _refuse_dtype(dtype, "frobenius")
        dims = everything if dims is None else dims
        return bound_function("frobenius_norm")(input, dims, keepdim=keepdim, **given)
    if p == "nuc" and isinstance(p, str):
        _refuse_dtype(dtype, "nuclear")
        where: Sequence[Any] = () if dims is None else (dims,)
        return bound_function("nuclear_norm")(input, *where, keepdim=keepdim, **given)
    if isinstance(p, str):
        raise RuntimeError(f"only valid string values are 'fro' and 'nuc', found {p}")
    if is_plain and p is not None:
        return bound_function("norm")(input, p, dim=everything, keepdim=keepdim)
    if dtype is not None:
        given = {**given, "dtype": dtype}
    dims = everything if dims is None else dims
    return bound_function("norm")(input, p, dims, keepdim=keepdim, **given)


def _refuse_dtype(dtype: Any, which: str) -> None:
    if dtype is not None:
        raise ValueError(f"dtype argument is not supported in {which} norm")


def _of_many(name: str) -> Callable[..., Any]:
    """A function of any number of tensors, which C++ takes as one tuple."""

    def function(*tensors: Any) -> Any:
        if has_torch_function(tensors):
            return handle_torch_function(function, tensors, *tensors)
        return bound_function(name)(tensors)

    function.__name__ = function.__qualname__ = name
    return function


def _of_one_or_many(name: str) -> Callable[..., Any]:
    """The same, but that one tensor stays one, and one list counts as its tensors."""

    def function(*tensors: Any) -> Any:
        if has_torch_function(tensors):
            return handle_torch_function(function, tensors, *tensors)
        return bound_function(name)(tensors[0] if len(tensors) == 1 else tensors)

    function.__name__ = function.__qualname__ = name
    return function


atleast_1d = _of_one_or_many("atleast_1d")
atleast_2d = _of_one_or_many("atleast_2d")
atleast_3d = _of_one_or_many("atleast_3d")
block_diag = _of_many("block_diag")
broadcast_tensors = _of_many("broadcast_tensors")
cartesian_prod = _of_many("cartesian_prod")


def split(tensor: Any, split_size_or_sections: Any, dim: Any = 0) -> Any:
    """The parts of a tensor, by the method of the name."""
    if has_torch_function((tensor,)):
        options = {"dim": dim}
        return handle_torch_function(split, (tensor,), tensor, split_size_or_sections, **options)
    return tensor.split(split_size_or_sections, dim)


def meshgrid(*tensors: Any, indexing: Any = None) -> Any:
    """The coordinates of a grid; a list of tensors counts as its tensors."""
    if has_torch_function(tensors):
        return handle_torch_function(meshgrid, tensors, *tensors, indexing=indexing)
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tuple(tensors[0])
    given = {} if indexing is None else {"indexing": indexing}
    return bound_function("meshgrid")(tensors, **given)


def stft(
    input: Any,
    n_fft: Any,
    hop_length: Any = None,
    win_length: Any = None,
    window: Any = None,
    center: Any = True,
    pad_mode: Any = "reflect",
    normalized: Any = False,
    onesided: Any = None,
    return_complex: Any = None,
    **later: Any,
) -> Any:
    """The short-time Fourier transform; ``later`` holds ``align_to_window`` where it exists."""
    if center and later.get("align_to_window") is not None:
        raise RuntimeError("stft align_to_window should only be set when center = false")
    if center:
        signal_dim = input.dim()
        extended = [1] * (3 - signal_dim) + list(input.size())
        pad = int(n_fft // 2)
        padded = bound_function("pad", "torch._C._nn")
        input = padded(input.view(extended), [pad, pad], pad_mode, None)
        input = input.view(input.shape[-signal_dim:])
    rest = (normalized, onesided, return_complex, *later.values())
    return bound_function("stft")(input, n_fft, hop_length, win_length, window, *rest)


def tensordot(a: Any, b: Any, dims: Any = 2, out: Any = None) -> Any:
    """The product over the last dimensions of one and the first of the other, or over pairs."""
    if has_torch_function((a, b)):
        return handle_torch_function(tensordot, (a, b), a, b, dims=dims, out=out)
    if not isinstance(dims, (tuple, list, Tensor, int, SymInt)):
        raise RuntimeError(
            "tensordot expects dims to be int or Tuple[List[int], List[int]] or List[List[int]] "
            f"containing two lists, but got dims={dims}"
        )
    dims_a: Any
    dims_b: Any
    if isinstance(dims, (tuple, list)):
        dims_a, dims_b = dims
    elif isinstance(dims, Tensor) and dims.numel() > 1:
        assert dims._sizes[0] == 2
        dims_a, dims_b = dims.tolist()
    else:
        count: Any = int(dims.item()) if isinstance(dims, Tensor) else dims
        if count < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if count is dims and count > min(a.dim(), b.dim()):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        dims_a, dims_b = list(range(-count, 0)), list(range(count))
    given = {} if out is None else {"out": out}
    return bound_function("tensordot")(a, b, dims_a, dims_b, **given)


def chain_matmul(*matrices: Any, out: Any = None) -> Any:
    """The product of matrices, in the order that takes the fewest operations."""
    if has_torch_function(matrices):
        return handle_torch_function(chain_matmul, matrices, *matrices)
    given = {} if out is None else {"out": out}
    return bound_function("chain_matmul")(matrices, **given)


def _lu(wanted: Flags) -> Callable[..., Any]:
    def compute(A: Any, pivot: Any = True, get_infos: Any = False, out: Any = None) -> Any:  # noqa: N803
        if has_torch_function((A,)):
            options = {"pivot": pivot, "get_infos": get_infos, "out": out}
            return handle_torch_function(lu, (A,), A, **options)
        found = bound_function("_lu_with_info")(A, pivot=pivot, check_errors=not get_infos)
        if out is None:
            return found if all(wanted) else (found[0], found[1])
        count = 2 + bool(get_infos)
        if len(out) != count:
            raise TypeError(f"expected tuple of {count} elements but got {len(out)}")
        if not isinstance(out, (tuple, list)):
            raise TypeError(f"argument 'out' must be tuple of Tensors, not {type(out).__name__}")
        for place in range(len(out)):
            out[place].resize_as_(found[place]).copy_(found[place])
        return out

    return compute


lu = boolean_dispatch(
    "lu", {"get_infos": 2}, {(False,): "_lu_no_infos", (True,): "_lu_with_infos"}, _lu, __name__
)
"""Both factors of matrices in one, the rows that were exchanged, and what LAPACK informs of."""


def _subscript(place: Any) -> str:
    if place == Ellipsis:
        return "..."
    if place >= 0 and place < 26:
        return chr(ord("A") + place)
    if place >= 26 and place < 52:
        return chr(ord("a") + place - 26)
    raise ValueError("einsum(): subscript in subscript list is not within the valid range [0, 52)")


def _equation(lists: Sequence[Any]) -> str:
    return ",".join("".join(map(_subscript, each)) for each in lists)


def einsum(*args: Any) -> Any:
    """Einstein's sum: an equation and operands, or operands with lists of subscripts.

    Operands are contracted from left to right; ``opt_einsum``, which torch asks for another way if
    it is installed, is not asked.
    """
    if len(args) < 2:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one "
            "operand and its subscripts list"
        )
    if isinstance(args[0], Tensor):
        equation = _equation(args[1::2])
        has_output = bool(len(args) % 2)
        if has_output:
            equation += "->" + _equation(args[-1:])
        operands = args[:-1:2] if has_output else args[::2]
    else:
        equation, operands = args[0], args[1:]
    if has_torch_function(operands):
        return handle_torch_function(einsum, operands, equation, *operands)
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        return einsum(equation, *operands[0])
    if len(operands) <= 2:
        return bound_function("einsum")(equation, operands)
    return bound_function("einsum")(equation, operands, path=None)


def _unique(wanted: Flags) -> Callable[..., Any]:
    def compute(
        input: Any,
        sorted: Any = True,
        return_inverse: Any = False,
        return_counts: Any = False,
        dim: Any = None,
    ) -> Any:
        options = {"return_inverse": return_inverse, "return_counts": return_counts}
        if has_torch_function((input,)):
            return handle_torch_function(unique, (input,), input, sorted=sorted, **options, dim=dim)
        if dim is not None:
            found = bound_function("unique_dim")(input, dim, sorted=sorted, **options)
        else:
            found = bound_function("_unique2")(input, sorted=sorted, **options)
        return _wanted(found, (True, *wanted))

    return compute


unique = boolean_dispatch(
    "unique",
    {"return_inverse": 2, "return_counts": 3},
    {
        (False, False): "_return_output",
        (False, True): "_return_counts",
        (True, False): "_return_inverse",
        (True, True): "_unique_impl"
        if NEURAL_HABITS["unique of everything is its implementation"]
        else "_return_inverse_and_counts",
    },
    _unique,
    __name__,
)
"""The different elements, and what else is asked for."""


def _unique_consecutive(wanted: Flags) -> Callable[..., Any]:
    def compute(
        input: Any, return_inverse: Any = False, return_counts: Any = False, dim: Any = None
    ) -> Any:
        options = {
            "return_inverse": return_inverse,
            "return_counts": return_counts,
            "dim": dim,
        }
        if has_torch_function((input,)):
            return handle_torch_function(unique_consecutive, (input,), input, **options)
        found = bound_function("unique_consecutive")(input, **options)
        return _wanted(found, (True, *wanted))

    return compute


unique_consecutive = boolean_dispatch(
    "unique_consecutive",
    {"return_inverse": 2, "return_counts": 1},  # which stand the other way round
    {
        (False, False): "_consecutive_return_output",
        (False, True): "_consecutive_return_counts",
        (True, False): "_consecutive_return_inverse",
        (True, True): "_unique_consecutive_impl"
        if NEURAL_HABITS["unique of everything is its implementation"]
        else "_consecutive_return_inverse_and_counts",
    },
    _unique_consecutive,
    __name__,
)
"""The elements that differ from the one before, and what else is asked for."""


def _wanted(found: Sequence[Any], wanted: Sequence[bool]) -> Any:
    output, inverse_indices, counts = found  # ValueError for what an override answers instead
    found = output, inverse_indices, counts
    parts = tuple(part for part, is_wanted in zip(found, wanted, strict=True) if is_wanted)
    return parts if len(parts) > 1 else parts[0]


# --- shapes -----------------------------------------------------------------------------------


def broadcast_shapes(*shapes: Any) -> Size:
    """The shape that tensors of these shapes have in common."""
    if HABITS["broadcast_shapes speaks as operators do"]:
        given = [(shape,) if _is_int(shape) else shape for shape in shapes if shape is not None]
        return Size(_common_shape(given) if given else ())
    sized = [1 if _is_int(each) else len(each) for each in shapes if _is_shape(each)]
    common: list[Any] = [1] * max(sized, default=0)
    for shape in shapes:
        if not _is_shape(shape):
            words = "Input shapes should be of type ints, a tuple of ints, or a list of ints, got "
            raise RuntimeError(words, shape)
        sizes = (shape,) if _is_int(shape) else shape
        for dim in range(-1, -1 - len(sizes), -1):
            size = sizes[dim]
            if size < 0:
                raise RuntimeError(
                    f"Trying to create tensor with negative dimension ({size}): ({size})"
                )
            if size in (1, common[dim]):
                continue
            if common[dim] != 1:
                raise RuntimeError("Shape mismatch: objects cannot be broadcast to a single shape")
            common[dim] = size
    return Size(common)


def _common_shape(shapes: Sequence[Any]) -> list[Any]:
    """The same as the kernels at Meta that are written in Python find it (``torch._refs``)."""
    for shape in shapes:
        if not isinstance(shape, Sequence):
            words = "Input shapes should be of type ints, a tuple of ints, or a list of ints, got "
            if HABITS["broadcast_shapes formats what is no shape"]:
                raise RuntimeError(f"{words}{shape}")
            raise RuntimeError(words, shape)
    common: list[Any] = [1] * max(map(len, shapes))
    for place, shape in enumerate(shapes):
        for dim in range(-1, -1 - len(shape), -1):
            size = shape[dim]
            if size == common[dim]:
                continue
            if common[dim] == 1:
                if size < 0:
                    raise ValueError("Attempting to broadcast a dimension with negative length!")
                common[dim] = size
            elif size != 1:
                raise RuntimeError(
                    f"Attempting to broadcast a dimension of length {size} at {dim}! Mismatching "
                    f"argument at index {place} had {shape}; but expected shape should be "
                    f"broadcastable to {common}"
                )
    return common


def _is_shape(value: object) -> bool:
    return _is_int(value) or isinstance(value, (tuple, list))


def _is_int(value: object) -> bool:
    return isinstance(value, (int, SymInt))


def unravel_index(indices: Any, shape: Any) -> Any:
    """The coordinates, dimension by dimension, of places in a flat tensor of a shape."""
    if has_torch_function((indices,)):
        return handle_torch_function(unravel_index, (indices,), indices, shape=shape)
    if (
        indices.is_complex()
        or indices.is_floating_point()
        or indices.dtype == dtypes.DTYPES["bool"]
    ):
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    sizes = _checked_shape(shape)
    if not all(sizes) and indices.numel() and HABITS["no place is in a shape of nothing"]:
        raise ValueError(
            "'shape' cannot have zero dimensions when 'indices' is non-empty, but got "
            f"{tuple(sizes)}"
        )
    steps = [*accumulate(reversed([*sizes[1:], 1]), mul)][::-1]
    options = {"device": indices.device, "dtype": dtypes.int64}
    made = bound_function("tensor")
    places = indices.unsqueeze(-1).floor_divide(made(steps, **options))
    return (places % made(sizes, **options)).unbind(-1)


def _checked_shape(shape: Any) -> Size:
    if _is_int(shape):
        shape = (shape,)
    elif not isinstance(shape, Sequence):
        raise TypeError(f"expected 'shape' to be int or sequence of ints, but got {type(shape)}")
    _check_ints(shape)
    if any(size < 0 for size in shape):
        raise ValueError(f"'shape' cannot have negative values, but got {tuple(shape)}")
    return Size(shape)


def _check_ints(sizes: Iterable[Any]) -> None:
    for size in sizes:
        if not _is_int(size):
            raise TypeError(f"expected 'shape' sequence to only contain ints, but got {type(size)}")
