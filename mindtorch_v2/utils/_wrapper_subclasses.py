"""Subclasses that wrap tensors: taken apart and put together, and answering as schemas promise.

Mirrors the end of ``torch/utils/_python_dispatch.py``, which is where Python finds all of this.
What a ``__torch_dispatch__`` has computed is new tensors; the schema says which of them are to
share an argument's storage, and in whose place the argument itself is to be returned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from inspect import Parameter, Signature
from itertools import product
from typing import TYPE_CHECKING, Any, Final, NoReturn

from mindtorch_v2 import _C, profile
from mindtorch_v2._functional_bindings import OF_TORCH
from mindtorch_v2._ops import OpOverload
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.utils._mode_utils import no_dispatch

if TYPE_CHECKING:
    from mindtorch_v2.schema.function_schema import Argument

_FACTS: Final = profile.active().modes["aliasing"]


# --- taking apart, putting together ---------------------------------------------------------------


def is_traceable_wrapper_subclass(t: object) -> bool:
    """Whether it is of a subclass that can be taken apart and put together again."""
    return isinstance(t, Tensor) and type(t) is not Tensor and _has_protocol(t)


def is_traceable_wrapper_subclass_type(t: type) -> bool:
    return issubclass(t, Tensor) and t is not Tensor and _has_protocol(t)


def _has_protocol(value: object) -> bool:
    return hasattr(value, "__tensor_flatten__") and hasattr(value, "__tensor_unflatten__")


def transform_subclass(
    t: Any,
    callback: Callable[[str, Any], Any],
    outer_size: Any = None,
    outer_stride: Any = None,
) -> Any:
    """Another of the same subclass, around what ``callback`` makes of each inner tensor.

    AssertionError if that is not of the size and the strides of ``t``, or of those given.
    """
    size = t.size() if outer_size is None else outer_size
    stride = t.stride() if outer_stride is None else outer_stride
    attributes, context = t.__tensor_flatten__()
    inner = {name: callback(name, getattr(t, name)) for name in attributes}
    made = type(t).__tensor_unflatten__(inner, context, size, stride)
    for what, found, expected in (
        ("shape", lambda: made.shape, size),
        ("stride", lambda: made.stride(), stride),
    ):
        if found() != expected:
            raise AssertionError(
                f"Expected return value from {type(t)}__tensor_unflatten__() to have "
                f"{what} equal to {expected}, but got: {found()}"
            )
    return made


# --- what a schema says ---------------------------------------------------------------------------


@dataclass
class AliasInfo:
    """Of an argument or a result: its alias sets, whether it is written to, and its name."""

    alias_set: set[str]
    is_write: bool
    name: str | None


@dataclass
class SchemaInfo:
    args: list[AliasInfo]
    outs: list[AliasInfo]


def get_alias_info(func: Any) -> SchemaInfo:
    """What the schema of an operator says about aliases.

    RuntimeError or AssertionError, where the release looks at schemas here, for one with which
    :func:`return_and_correct_aliasing` can do nothing.
    """
    info = _alias_info(func)
    if _FACTS["checks_schemas_first"]:
        _written_results(func, info)
    return info


@cache
def _alias_info(func: Any) -> SchemaInfo:
    is_aten = func.namespace == "aten"  # whose schemas torchgen reads for this
    schema = func._operator.schema
    return SchemaInfo(
        *(
            [_of_value(value, is_aten) for value in values]
            for values in (schema.arguments, schema.returns)
        )
    )


def _of_value(value: Argument, is_aten: bool) -> AliasInfo:
    """To torchgen a list has the aliases of its elements, and a result without name none."""
    name = None if is_aten and not value.name else value.name
    annotation = value.alias_info
    if annotation is None:
        return AliasInfo(set(), False, name)
    names = set(annotation.before_set)
    if is_aten:
        names = names.union(*(inner.before_set for inner in annotation.contained))
    return AliasInfo(names, annotation.is_write, name)


def _written_results(func: Any, info: SchemaInfo) -> list[str] | None:
    """For each result the alias that is written to; None if there are no such results."""
    aliases = [_write_alias(out) for out in info.outs]
    written = [alias for alias in aliases if alias is not None]
    if not written:
        return None
    if len(written) != len(aliases):
        raise RuntimeError(f"Unsupported schema: {func._schema}")
    return written


def _write_alias(value: AliasInfo) -> str | None:
    if not value.alias_set:
        return None
    if len(value.alias_set) != 1 and (value.is_write or _FACTS["refuses_sets_of_reads"]):
        _refuse("set of aliases")
    return next(iter(value.alias_set)) if value.is_write else None


def _refuse(what: str, value: object = None) -> NoReturn:
    """AssertionError, in the words of the release, which may be none."""
    text = _FACTS["refusals"][what].replace("%r", repr(type(value)))
    raise AssertionError(*filter(None, [text]))


# --- what is returned -----------------------------------------------------------------------------


def return_and_correct_aliasing(func: Any, args: Any, kwargs: Any, out: Any) -> Any:
    """What the ``__torch_dispatch__`` of a subclass that wraps tensors is to return for ``func``.

    Results of a view take the storage of the tensor that they view; for an operator that writes
    to arguments and returns them, those are returned, whatever ``out`` is.  AssertionError for
    results that are not what a view returns.
    """
    info = get_alias_info(func)
    _correct_storage_aliasing(func, info, args, out if isinstance(out, tuple) else (out,))
    if _C.Tag.inplace_view in func.tags:
        _change_geometry(func, info, args, kwargs)
    written = _written_results(func, info)
    if written is None:
        return out
    if len(written) == 1:
        return _argument_of(func, info, written[0], args, kwargs)
    if _FACTS["returns_as_many_as_it_is_given"]:
        written = [alias for alias, _ in zip(written, out, strict=False)]
    return type(out)([_argument_of(func, info, alias, args, kwargs) for alias in written])


def _argument_of(func: Any, info: SchemaInfo, alias: str, args: Any, kwargs: Any) -> Any:
    """The argument that the schema gives the alias."""
    positional, named = _normalized(func, args, kwargs)
    at = [index for index, value in enumerate(info.args) if alias in value.alias_set]
    if len(at) != 1:
        _refuse("arguments of an alias")
    name = info.args[at[0]].name
    return named[name] if name in named else positional[at[0]]


def _change_geometry(func: Any, info: SchemaInfo, args: Any, kwargs: Any) -> None:
    """Run ``transpose_`` and its like on the wrapper itself, which nothing else changes."""
    mutated = [at for at in range(len(args)) if _write_alias(info.args[at]) is not None]
    if len(mutated) != 1:
        _refuse("mutated arguments")
    _as_of_meta(lambda: func(*args, **kwargs))


def _as_of_meta(call: Callable[[], object]) -> None:
    """Call what is not to reach the subclass, nor elements that the wrapper has none of."""
    with no_dispatch():
        before = _C._meta_in_tls_dispatch_include()
        _C._set_meta_in_tls_dispatch_include(True)
        try:
            call()
        finally:
            _C._set_meta_in_tls_dispatch_include(before)


# --- storages -------------------------------------------------------------------------------------


def _correct_storage_aliasing(func: Any, schema_info: SchemaInfo, args: Any, outs: Any) -> None:
    """Give results that view arguments the storages of those, and leave their geometry."""
    for is_as_needed, what in (
        (isinstance(func, OpOverload), "operator"),
        (isinstance(args, tuple), "arguments"),
        (isinstance(outs, list | tuple), "results"),
    ):
        if not is_as_needed:
            _refuse(what, args)
    for arg, out in _read_only_aliases(schema_info):
        _share_storage(func, args[arg], outs[out])


def _read_only_aliases(info: SchemaInfo) -> Iterator[tuple[int, int]]:
    for (i, arg), (j, out) in product(enumerate(info.args), enumerate(info.outs)):
        if arg.alias_set & out.alias_set and not arg.is_write:
            yield i, j


def _share_storage(func: Any, arg: Any, ret: Any) -> None:
    results = ret if isinstance(ret, list) else [ret]
    if is_traceable_wrapper_subclass(arg) or is_traceable_wrapper_subclass(ret):
        for result in results:
            if type(result) is not type(arg):
                raise AssertionError(
                    f"Called {func} with input of type {type(arg)}\n"
                    f"and output of type {type(ret)}. But expected types to match."
                )
    if not isinstance(ret, list | Tensor):
        _refuse("result", ret)
    for result in results:
        _take_storage(result, arg)


def _set_storage(dst: Any, src: Any) -> None:
    """``_functionalize_unsafe_set`` for releases that do not have it."""
    from mindtorch_v2 import ops

    set_ = ops.aten.set_.source_Storage_storage_offset
    _as_of_meta(
        lambda: set_(dst, src.untyped_storage(), dst.storage_offset(), dst.shape, dst.stride())
    )


_take_storage: Final[Callable[[Any, Any], object]] = OF_TORCH.get(
    "_functionalize_unsafe_set", _set_storage
)


# --- arguments ------------------------------------------------------------------------------------


def _normalized(func: Any, args: Any, kwargs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Every argument, those that were not given too; TypeError if they are not the operator's.

    Mirrors ``normalize_function`` of ``torch/fx/operator_schemas.py``: ``self`` is ``input``.
    """
    signature = _signature(func)
    try:
        bound = signature.bind(*args, **({} if kwargs is None else kwargs))
    except TypeError:
        bound = None
    if bound is None or not _is_supported(signature):
        raise TypeError("cannot unpack non-iterable NoneType object")
    bound.apply_defaults()
    positional = tuple(bound.arguments.values())[: len(args)]
    return positional, dict(list(bound.arguments.items())[len(args) :])


@cache
def _signature(func: Any) -> Signature:
    parameters: list[Parameter] = []
    for argument in func._operator.schema.arguments:
        name = "input" if argument.name == "self" else argument.name
        kind = Parameter.KEYWORD_ONLY if argument.kwarg_only else Parameter.POSITIONAL_OR_KEYWORD
        if name == "from":  # a word of Python's, so that it cannot be given by name
            kind = Parameter.POSITIONAL_ONLY
            parameters = [parameter.replace(kind=kind) for parameter in parameters]
        default = argument.default_value if argument.has_default else Parameter.empty
        parameters.append(Parameter(name, kind, default=default))
    return Signature(parameters)


def _is_supported(signature: Signature) -> bool:
    """Parameters without names are not, but for those of ``uniform_``, which are common."""
    if list(signature.parameters) == ["input", "from", "to", "generator"]:
        return True
    return all(p.kind is not Parameter.POSITIONAL_ONLY for p in signature.parameters.values())
