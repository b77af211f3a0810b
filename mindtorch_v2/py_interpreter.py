"""Questions that C++ puts to the class of a tensor: its sizes, strides, device, layout.

Mirrors ``ConcretePyInterpreterVTable`` in ``torch/csrc/PyInterpreter.cpp``.  An answer is checked
as there; None means that the tensor's own value counts, where torch knows such.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from mindtorch_v2.binding.casts import to_int
from mindtorch_v2.binding.errors import CastError
from mindtorch_v2.pybind.classes import tp_name
from mindtorch_v2.tensor import geometry
from mindtorch_v2.tensor.custom import own, own_geometry
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.dtype import LAYOUTS, MEMORY_FORMATS, Layout, memory_format
from mindtorch_v2.tensor.size import Size
from mindtorch_v2.tensor.symbolic import SymInt
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.torch_dispatch import dispatch_from_tensor_impl

_CONTIGUOUS: Final = MEMORY_FORMATS["contiguous_format"]
_LAYOUTS: Final = dict(enumerate(LAYOUTS.values()))


def _integers(shown_name: str, answer: Any) -> tuple[Any, ...]:
    if not isinstance(answer, (tuple, list)):
        raise RuntimeError(f"{shown_name} must be a list or a tuple")
    return tuple(map(_integer, answer))


def _integer(answer: Any) -> Any:
    return answer if isinstance(answer, SymInt) else _int64(answer)


def _int64(answer: Any) -> int:
    """``py::cast<int64_t>``: a RuntimeError here, where no schema is to be blamed."""
    try:
        return to_int(answer)
    except CastError as error:
        raise RuntimeError(error.args[0]) from None


def _sizes(tensor: Tensor, operator: str, shown_name: str) -> Size:
    answer = dispatch_from_tensor_impl(tensor, operator)
    if answer is None:
        return own(tensor, "_sizes")  # type: ignore[no-any-return]
    return Size._of(_integers(shown_name, answer))


def _strides(tensor: Tensor, operator: str, shown_name: str) -> tuple[int, ...]:
    answer = dispatch_from_tensor_impl(tensor, operator)
    if answer is None:
        return own(tensor, "_strides")  # type: ignore[no-any-return]
    return _integers(shown_name, answer)


def _checked(answer: Any, name: str, expected: str, kinds: type | tuple[type, ...]) -> Any:
    if not isinstance(answer, kinds):
        kind = tp_name(type(answer))
        raise RuntimeError(f"{name} returned invalid type {kind}, expected {expected}")
    return answer


def sizes(tensor: Tensor) -> Size:
    """``Tensor::sizes``, which is another question than ``sym_sizes``."""
    custom = tensor._custom
    if custom is None or not custom.asks_for_sizes:
        return tensor._sizes
    return _sizes(tensor, "aten::size", "sizes")


def strides(tensor: Tensor) -> tuple[int, ...]:
    """``Tensor::strides``, which is another question than ``sym_strides``."""
    custom = tensor._custom
    if custom is None or not custom.asks_for_strides:
        return tensor._strides
    return _strides(tensor, "aten::stride", "strides")


def _sym_sizes(tensor: Tensor) -> Size:
    return _sizes(tensor, "aten::sym_size", "sym_size")


def _sym_strides(tensor: Tensor) -> tuple[int, ...]:
    return _strides(tensor, "aten::sym_stride", "sym_strides")


def _sym_storage_offset(tensor: Tensor) -> Any:
    answer = dispatch_from_tensor_impl(tensor, "aten::sym_storage_offset")
    return own(tensor, "_storage_offset") if answer is None else _integer(answer)


def _device(tensor: Tensor) -> Device:
    return dispatch_from_tensor_impl(tensor, "prim::device")  # type: ignore[no-any-return]


def _layout(tensor: Tensor) -> Layout:
    answer = dispatch_from_tensor_impl(tensor, "prim::layout")
    answer = _checked(answer, "layout", "Layout", (Layout, int))
    return answer if isinstance(answer, Layout) else _LAYOUTS[answer]


_OF_SLOTS: Final[Mapping[str, Callable[[Tensor], Any]]] = {
    "_sizes": _sym_sizes,
    "_strides": _sym_strides,
    "_storage_offset": _sym_storage_offset,
    "_device": _device,
    "_layout": _layout,
}


class _Interpreter:
    """See :class:`mindtorch_v2.tensor.custom.PyInterpreter`."""

    def slot(self, tensor: Tensor, name: str) -> Any:
        return _OF_SLOTS[name](tensor)

    def dim(self, tensor: Tensor) -> int:
        answer = dispatch_from_tensor_impl(tensor, "aten::dim")
        return int(_checked(answer, "dim", "int", int))

    def numel(self, tensor: Tensor) -> int:
        answer = dispatch_from_tensor_impl(tensor, "aten::numel")
        return geometry.numel(own(tensor, "_sizes")) if answer is None else _int64(answer)

    def sym_numel(self, tensor: Tensor) -> int:
        answer = dispatch_from_tensor_impl(tensor, "aten::sym_numel")
        if answer is None:
            return geometry.numel(own(tensor, "_sizes"))
        return _integer(answer)  # type: ignore[no-any-return]

    def is_contiguous(self, tensor: Tensor, kind: memory_format) -> bool:
        extra = () if kind is _CONTIGUOUS else (kind,)
        answer = _opinion(tensor, "is_contiguous", *extra)
        return _own(tensor, geometry.is_contiguous, kind) if answer is None else answer


def is_strides_like(tensor: Tensor, kind: memory_format) -> bool:
    """Whether the strides are those of a channels-last tensor, in the class's opinion."""
    answer = _opinion(tensor, "is_strides_like_format", kind)
    return _own(tensor, geometry.is_strides_like, kind) if answer is None else answer


def is_non_overlapping_and_dense(tensor: Tensor) -> bool:
    """Whether the elements fill a stretch of memory, in the class's opinion."""
    answer = _opinion(tensor, "is_non_overlapping_and_dense")
    return _own(tensor, geometry.is_non_overlapping_and_dense) if answer is None else answer


def _opinion(tensor: Tensor, operator: str, *extra: memory_format) -> bool | None:
    """None where the class declines, or is not asked."""
    custom = tensor._custom
    if custom is None or not custom.asks_for_strides:
        return None
    overload = ".memory_format" if operator == "is_contiguous" and extra else ""
    shown_name = f"torch.ops.aten.{operator.removesuffix('_format')}"
    answer = dispatch_from_tensor_impl(
        tensor, f"aten::{operator}{overload}", *extra, shown_name=shown_name
    )
    return None if answer is None else bool(_checked(answer, operator, "bool", bool))


def _own(tensor: Tensor, question: Callable[..., bool], *extra: memory_format) -> bool:
    sizes, strides, _ = own_geometry(tensor)
    return question(sizes, strides, *extra)


INTERPRETER: Final = _Interpreter()
