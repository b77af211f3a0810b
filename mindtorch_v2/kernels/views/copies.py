"""Views as copies: ``{view}_copy`` of every view operator, and views put back into a copy.

Mirrors what ``GenCompositeViewCopyKernel`` of ``torchgen/gen_functionalization_type.py`` writes,
and the functions ``…_scatter`` of ``aten/src/ATen/native/TensorShape.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mindtorch_v2 import profile
from mindtorch_v2.binding.operators import Call, Operator, find_operator
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.native import NONE, Native
from mindtorch_v2.functionalize.facts import ASSERTS, DIAGONAL_IS_CHECKED_ON_META
from mindtorch_v2.kernels import rows
from mindtorch_v2.kernels.generated import copied_into
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import set_sizes
from mindtorch_v2.kernels.overlap import has_internal_overlap
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.structured import prologue
from mindtorch_v2.kernels.switches import HABITS
from mindtorch_v2.messages import expected
from mindtorch_v2.tensor.dtype import MEMORY_FORMATS
from mindtorch_v2.tensor.geometry import is_contiguous, numel, wrap_dim
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.tensor.views import infer_size, view_strides

_AS_STRIDED: Final = OperatorHandle("aten::as_strided")
_CLONE: Final = OperatorHandle("aten::clone")
_COPY: Final = OperatorHandle("aten::copy_")
_DIAGONAL: Final = OperatorHandle("aten::diagonal")
_EMPTY_STRIDED: Final = OperatorHandle("aten::empty_strided")
_NARROW: Final = OperatorHandle("aten::narrow")
_RESHAPE: Final = OperatorHandle("aten::reshape")
_SELECT: Final = OperatorHandle("aten::select.int")
_SLICE: Final = OperatorHandle("aten::slice.Tensor")
_SPLIT: Final = OperatorHandle("aten::split.Tensor")
_SPLIT_WITH_SIZES: Final = OperatorHandle("aten::split_with_sizes")
_UNBIND: Final = OperatorHandle("aten::unbind.int")
_VIEW: Final = OperatorHandle("aten::view")

_CALLED: Final = "()" if HABITS["a count of outputs follows the parentheses of a call"] else ""
_CONTIGUOUS: Final = MEMORY_FORMATS["contiguous_format"]
_COPY_KEYS: Final = (int(DispatchKey.CompositeExplicitAutogradNonFunctional), int(DispatchKey.Meta))
_COMPOSITE: Final = "CompositeExplicitAutogradNonFunctional"
_KEYS: Final = (_COMPOSITE, "Meta")


# --- copies ---------------------------------------------------------------------------------------


@kernel("aten::view_copy", keys=_KEYS)
def view_copy(self: Tensor, size: Sequence[int]) -> Any:
    """A view if there is one, else what ``reshape`` makes, which is new then."""
    shape = infer_size(size, numel(self._sizes))
    if view_strides(self._sizes, self._strides, shape) is None:
        return _RESHAPE(self, size)
    return _CLONE(_VIEW(self, size), memory_format=_CONTIGUOUS)


def _copied(view: Operator) -> Any:
    def copy(operator: Operator, keyset: int, /, *stack: Any) -> Any:
        answer = Call(view, stack).run()
        if isinstance(answer, (list, tuple)):
            return [_CLONE(each, memory_format=_CONTIGUOUS) for each in answer]
        return _CLONE(answer, memory_format=_CONTIGUOUS)

    return copy


def _find(name: str, key: int) -> Native:
    """``{view}_copy.{overload}`` for every operator ``{view}.{overload}`` that views."""
    base, _, overload_name = name.partition(".")
    if key not in _COPY_KEYS or not base.endswith("_copy"):
        return NONE
    viewed = base.removesuffix("_copy") + (f".{overload_name}" if overload_name else "")
    if viewed not in profile.active().derivatives["views"] and viewed not in _OTHER_VIEWS:
        return NONE
    view = find_operator(base.removesuffix("_copy"), overload_name)
    return NONE if view is None else Native(_copied(view), with_keyset=True)


_OTHER_VIEWS: Final = frozenset(
    (
        *("aten::view.dtype", "aten::detach", "aten::lift_fresh"),
        *("aten::_fw_primal", "aten::_make_dual", "aten::_sparse_broadcast_to"),
    )
)
"""Views that autograd does not treat as others."""

rows.DERIVED.insert(0, _find)


@kernel("aten::narrow_copy", keys=("CPU", "Meta", _COMPOSITE))
def narrow_copy(self: Tensor, dim: int, start: int, length: int) -> Any:
    return _CLONE(_narrowed(self, dim, start, length), memory_format=_CONTIGUOUS)


def _narrowed(self: Tensor, dim: int, start: int, length: int) -> Any:
    """``narrow``, which has other words for a dimension and a length on the CPU than this."""
    rank = len(self._sizes)
    if rank and not self.is_meta:
        if dim >= rank:
            raise RuntimeError(expected("dim < static_cast<int64_t>(self_sizes.size())"))
        size = self._sizes[wrap_dim(dim, rank)]
        if not -size <= start <= size:
            raise IndexError(
                f"start out of range (expected to be in range of [{-size}, {size}], but got "
                f"{start})"
            )
        first = start + size if start < 0 else start
        if not 0 <= length <= size - first:
            raise RuntimeError(
                f"start ({first}) + length ({length}) exceeds dimension size ({size})."
            )
    return _NARROW(self, dim, start, length)


@kernel("aten::narrow_copy.out", keys=("CPU", "Meta"))
def narrow_copy_out(self: Tensor, dim: int, start: int, length: int, out: Tensor) -> Tensor:
    _COPY(out, _prepared((out,), self, dim, start, length))
    return out


@prologue("aten::narrow_copy")
def _prepared(outputs: Sequence[Tensor], self: Tensor, dim: int, start: int, length: int) -> Any:
    """Checks and resizes the output; answers what is copied."""
    (out,) = outputs
    if not self._sizes:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if self._dtype is not out._dtype:
        raise RuntimeError(expected("self.dtype() == output.dtype()"))
    part = _narrowed(self, dim, start, length)
    if tuple(out._sizes) != tuple(part._sizes):
        set_sizes(out, tuple(part._sizes))
    return part


@kernel("aten::split_with_sizes_copy.out", keys=("CompositeExplicitAutograd", "Meta"))
def split_with_sizes_copy_out(
    self: Tensor, split_sizes: Sequence[int], dim: int, out: Sequence[Tensor]
) -> None:
    parts = _SPLIT_WITH_SIZES(self, split_sizes, dim)
    _copy_parts(f"split_with_sizes_copy_out{_CALLED}", parts, out)


@kernel("aten::split_copy.Tensor_out", keys=("CompositeExplicitAutograd", "Meta"))
def split_copy_tensor_out(self: Tensor, split_size: int, dim: int, out: Sequence[Tensor]) -> None:
    parts = _SPLIT(self, split_size, dim)
    _check_count("split_copy_Tensor_out()", out, parts)
    for given, part in zip(out, parts, strict=True):
        _COPY(given, part)


@kernel("aten::unbind_copy.int_out", keys=("CompositeExplicitAutograd", "Meta"))
def unbind_copy_int_out(self: Tensor, dim: int, out: Sequence[Tensor]) -> None:
    parts = _UNBIND(self, dim)
    if HABITS["unbind_copy looks at its outputs"]:
        _copy_parts(f"unbind_copy_int_out{_CALLED}", parts, out)
        return
    _check_count("unbind_copy_int_out()", out, parts)
    for given, part in zip(out, parts, strict=True):
        _COPY(given, part)


def _copy_parts(name: str, parts: Sequence[Tensor], out: Sequence[Tensor]) -> None:
    """Into outputs that are resized, and that have the parts' dtype."""
    _check_count(name, out, parts)
    for given, part in zip(out, parts, strict=True):
        copied_into(given, part)


def _check_count(name: str, out: Sequence[Tensor], parts: Sequence[Tensor]) -> None:
    if len(out) != len(parts):
        raise RuntimeError(
            f"{name} expected an out= argument of size {len(parts)}, got size {len(out)}"
        )


# --- views put back -------------------------------------------------------------------------------


def clone_preserve_strides(self: Tensor) -> Any:
    """A clone of the whole storage, with the tensor in the same place of it."""
    if has_internal_overlap(self):
        return _CLONE(self, memory_format=None)
    count = self._untyped_storage().nbytes() // self._dtype.itemsize
    whole = _CLONE(_AS_STRIDED(self, [count], [1], 0), memory_format=None)
    return _AS_STRIDED(whole, self._sizes, self._strides, self._storage_offset)


@kernel("aten::copy", keys=_KEYS)
def copy(self: Tensor, src: Tensor, non_blocking: bool) -> Any:
    """``copy_`` that changes nothing: the values of ``src`` in the geometry of ``self``."""
    if self._untyped_storage().nbytes() or self.is_meta:
        output = clone_preserve_strides(self)
    else:
        options = {"dtype": self._dtype, "layout": self._layout, "device": self._device}
        output = _EMPTY_STRIDED(self._sizes, self._strides, **options)
    _COPY(output, src, non_blocking)
    return output


def _put_back(view: OperatorHandle, self: Tensor, src: Tensor, arguments: tuple[Any, ...]) -> Any:
    output = clone_preserve_strides(self)
    part = view(output, *arguments)
    if tuple(part._sizes) != tuple(src._sizes):
        raise RuntimeError(
            "expected src to have a size equal to the slice of self. src size = "
            f"{list(src._sizes)}, slice size = {list(part._sizes)}"
        )
    _COPY(part, src)
    return output


@kernel("aten::slice_scatter", "aten::select_scatter", key="Meta")
def scatter_on_meta(self: Tensor, *_: Any) -> Any:
    """Of Python's, which look at nothing else."""
    return clone_preserve_strides(self)


@kernel("aten::diagonal_scatter", key="Meta")
def diagonal_scatter_on_meta(self: Tensor, src: Tensor, offset: int, dim1: int, dim2: int) -> Any:
    output = clone_preserve_strides(self)
    if not DIAGONAL_IS_CHECKED_ON_META:
        return output
    part = _DIAGONAL(output, offset, dim1, dim2)
    if tuple(part._sizes) != tuple(src._sizes):
        raise RuntimeError(
            "expected src to have a size equal to the diagonal of the input."
            f"Got {src._sizes} for a diagonal of shape {part._sizes}"
        )
    return output


@kernel("aten::slice_scatter", key=_COMPOSITE)
def slice_scatter(
    self: Tensor, src: Tensor, dim: int, start: int | None, end: int | None, step: int
) -> Any:
    return _put_back(_SLICE, self, src, (dim, start, end, step))


@kernel("aten::select_scatter", key=_COMPOSITE)
def select_scatter(self: Tensor, src: Tensor, dim: int, index: int) -> Any:
    return _put_back(_SELECT, self, src, (dim, index))


@kernel("aten::diagonal_scatter", key=_COMPOSITE)
def diagonal_scatter(self: Tensor, src: Tensor, offset: int, dim1: int, dim2: int) -> Any:
    return _put_back(_DIAGONAL, self, src, (offset, dim1, dim2))


@kernel("aten::as_strided_scatter", keys=_KEYS)
def as_strided_scatter(
    self: Tensor,
    src: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None,
) -> Any:
    if self.requires_grad and not is_contiguous(self._sizes, self._strides):
        raise RuntimeError(ASSERTS["as_strided_scatter"])
    return _put_back(_AS_STRIDED, self, src, (size, stride, storage_offset))
