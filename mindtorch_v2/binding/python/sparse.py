"""Sparse tensors from indices and values: ``torch.sparse_coo_tensor``, ``sparse_csr_tensor`` …

Mirrors ``sparse_coo_tensor_ctor`` and ``sparse_compressed_tensor_ctor_worker`` of
``torch/csrc/utils/tensor_new.cpp``: the values are made first, and the indices where they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from mindtorch_v2.binding.convert import enum_value
from mindtorch_v2.binding.python.constructors import (
    default_scalar_type,
    new_from_data,
    scalar_type,
)
from mindtorch_v2.binding.python.manual import Runner, call_operator, is_absent, value
from mindtorch_v2.binding.python.parser import Parsed
from mindtorch_v2.tensor.absent_devices import check_linked
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.dtype import CPP_LAYOUTS, DTYPES, LAYOUTS, sparse_coo
from mindtorch_v2.warn import is_warned_of, warn_once

_INT64: Final = enum_value(DTYPES["int64"])


def _coo(receiver: None, parsed: Parsed) -> Any:
    _warn_unless_chosen(parsed)
    device = _guarded(parsed)
    if parsed.signature.parameters[0].name == "size":
        where = Device("cpu") if device is None else Device(device.type)
        return call_operator(
            "aten::sparse_coo_tensor.size",
            size=value(parsed, "size"),
            dtype=scalar_type(parsed, default_scalar_type()),
            layout=enum_value(sparse_coo),
            device=where,
            pin_memory=None,
        )
    values = _values(parsed)
    indices = _indices(parsed, "indices", values, _INT64, infer=False)
    given = {name: value(parsed, name) for name in _given(parsed, "size", "is_coalesced")}
    overload = "indices_size" if "size" in given else "indices"
    return call_operator(
        f"aten::sparse_coo_tensor.{overload}",
        indices=indices,
        values=values,
        **given,
        **_options(parsed, values, enum_value(sparse_coo)),
    )


def _compressed(layout: str | None) -> Runner:
    """The constructor of tensors of one ``layout``, or of whichever is asked for."""

    def run(receiver: None, parsed: Parsed) -> Any:
        for item in parsed.values[:2]:
            getattr(item, "dtype", None)  # an attribute of the caller's may raise
        _warn_unless_chosen(parsed)
        _guarded(parsed)
        values = _values(parsed)
        names = [parameter.name for parameter in parsed.signature.parameters[:2]]
        compressed, plain = (_indices(parsed, n, values, _INT64, infer=True) for n in names)
        size = {name: value(parsed, name) for name in _given(parsed, "size")}
        return call_operator(
            f"aten::sparse_compressed_tensor.comp_plain_value{'_size' if size else ''}",
            compressed_indices=compressed,
            plain_indices=plain,
            values=values,
            **size,
            **_options(parsed, values, _checked_layout(parsed, layout)),
        )

    return run


def _checked_layout(parsed: Parsed, required: str | None) -> int | None:
    """The layout's number; RuntimeError for another than the function's own."""
    given: int | None = value(parsed, "layout")
    if required is None:
        return given
    wanted = enum_value(LAYOUTS[required])
    if given is not None and given != wanted:
        names = {enum_value(layout): CPP_LAYOUTS[layout] for layout in LAYOUTS.values()}
        raise RuntimeError(
            f"{parsed.signature.name}: layout must be {names[wanted]} but got {names[given]}"
        )
    return wanted


def _warn_unless_chosen(parsed: Parsed) -> None:
    """Newer releases want to be told whether to check what makes a sparse tensor a valid one.

    The first that did, 2.11 and 2.12, say so to who has told them as well: a guard sets the choice,
    and asks first what it was.
    """
    warning = "checkSparseTensorInvariants"
    told = "" if is_absent(parsed, "check_invariants") else "(chosen)"
    if is_warned_of(warning + told):
        warn_once(
            warning,
            "Sparse invariant checks are implicitly disabled. Memory errors (e.g. SEGFAULT) will "
            "occur when operating on a sparse tensor which violates the invariants, but checks "
            "incur performance overhead. To silence this warning, explicitly opt in or out. See "
            "`torch.sparse.check_sparse_tensor_invariants.__doc__` for guidance. ",
        )


def _guarded(parsed: Parsed) -> Device | None:
    """Where it is to be made; RuntimeError for a device that cannot be made the current one."""
    device: Device | None = value(parsed, "device")
    if device is not None:
        check_linked(device)
    return device


def _values(parsed: Parsed) -> Any:
    return new_from_data(
        value(parsed, "values"),
        scalar_type(parsed, default_scalar_type()),
        value(parsed, "device"),
        copy_tensors=False,
        copy_arrays=True,
        infer=is_absent(parsed, "dtype"),
    )


def _indices(parsed: Parsed, name: str, values: Any, dtype: int, *, infer: bool) -> Any:
    return new_from_data(
        value(parsed, name),
        dtype,
        value(parsed, "device"),
        copy_tensors=False,
        copy_arrays=True,
        infer=infer,
        default_device=values.device,
    )


def _given(parsed: Parsed, *names: str) -> list[str]:
    return [p.name for p in parsed.signature.parameters if p.name in names]


def _options(parsed: Parsed, values: Any, layout: int | None) -> dict[str, Any]:
    pinned = _given(parsed, "pin_memory")
    return {
        "dtype": enum_value(values.dtype),
        "layout": layout,
        "device": values.device,
        "pin_memory": value(parsed, "pin_memory") if pinned else None,
    }


RUNNERS: Final[Mapping[str, Runner]] = {
    "sparse_coo_tensor": _coo,
    "sparse_compressed_tensor": _compressed(None),
    **{
        f"{layout}_tensor": _compressed(layout)
        for layout in ("sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc")
    },
}
"""By the name of the C function."""
