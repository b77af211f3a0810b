"""Operators by name, and what is asked of their schemas.

Mirrors ``torch/_library/utils.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from mindtorch_v2 import _C
from mindtorch_v2._library.release import does, frames, message
from mindtorch_v2._operator_bindings import Tag
from mindtorch_v2.tensor.tensor import Tensor

if TYPE_CHECKING:
    from mindtorch_v2._ops import OpOverload

_TAG_OUT: Final = getattr(Tag, "out", None)
_TAG_INPLACE: Final = getattr(Tag, "inplace", None)


@dataclass
class Kernel:
    """A function, and where it was registered: ``file.py:12``."""

    func: Callable[..., Any]
    source: str

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.func(*args, **kwargs)


class RegistrationHandle:
    """Takes a registration back."""

    def __init__(self, on_destroy: Callable[[], None]) -> None:
        self._on_destroy = on_destroy

    def destroy(self) -> None:
        self._on_destroy()


def get_source(stacklevel: int) -> str:
    """File and line of the frame so many calls up, this function's own being the first."""
    frame, _ = next(islice(frames(), stacklevel, None))
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


# --- names ------------------------------------------------------------------------------------


def parse_namespace(qualname: str) -> tuple[str, str]:
    """``ns::name`` in its two parts; ValueError for anything else."""
    splits = qualname.split("::")
    if len(splits) != 2:
        raise ValueError(
            f'Expected `qualname` to be of the form "namespace::name", but got {qualname}. '
            "The qualname passed to the torch.library APIs must consist of a namespace and a "
            "name, e.g. aten::sin"
        )
    return splits[0], splits[1]


def lookup_op(qualname: str) -> OpOverload:
    """The overload of a full name; AttributeError if there is none."""
    from mindtorch_v2._ops import ops

    namespace, name = parse_namespace(qualname)
    overload = "default"
    if "." in name:
        name, overload = name.split(".")
    found: OpOverload = getattr(getattr(getattr(ops, namespace), name), overload)
    return found


def is_builtin(op: OpOverload) -> bool:
    return op.namespace in {"aten", "prim", "prims"}


def is_out(op: OpOverload) -> bool:
    return _TAG_OUT is not None and _TAG_OUT in op.tags


def is_inplace(op: OpOverload) -> bool:
    return _TAG_INPLACE is not None and _TAG_INPLACE in op.tags


# --- schemas ----------------------------------------------------------------------------------


def _kind(type_: Any) -> str:
    """``Tensor``, ``List[Tensor]``, ``Optional[Tensor]`` …"""
    return str(type_.annotation_str)


def _is_tensor(type_: Any) -> bool:
    return _kind(type_) == "Tensor"


def is_tensor_like_type(type_: Any) -> bool:
    return _kind(type_) in ("Tensor", "Optional[Tensor]")


def is_tensorlist_like_type(type_: Any) -> bool:
    lists = ("List[Tensor]", "List[Optional[Tensor]]")
    return _kind(type_) in (*lists, *(f"Optional[{each}]" for each in lists))


def is_functional_schema(schema: Any, *, allow_valid_view: bool = False) -> bool:
    """Whether nothing is mutated and something new returned; a view of the one tensor, if asked.

    ``schema`` may be a text.
    """
    if isinstance(schema, str):
        schema = _C.parse_schema(schema)
    if schema.is_mutable:
        return False
    if any(_aliases(each) and not each.alias_info.is_write for each in schema.returns):
        tensors = [sum(_is_tensor(each.type) for each in side) for side in _sides(schema)]
        return allow_valid_view and tensors == [1, 1]
    return bool(schema.returns)


def _aliases(argument: Any) -> bool:
    return argument.alias_info is not None


def _sides(schema: Any) -> tuple[list[Any], list[Any]]:
    return schema.arguments, schema.returns


def is_written(argument: Any) -> bool:
    return argument.alias_info is not None and bool(argument.alias_info.is_write)


def has_kwarg_only_args(schema: Any) -> bool:
    return any(argument.kwarg_only for argument in schema.arguments)


def _takes_tensors(argument: Any) -> bool:
    return is_tensor_like_type(argument.type) or is_tensorlist_like_type(argument.type)


def has_kwarg_only_tensors(schema: Any) -> bool:
    return any(argument.kwarg_only and _takes_tensors(argument) for argument in schema.arguments)


def has_tensor_arg(schema: Any) -> bool:
    return any(map(_takes_tensors, schema.arguments))


def get_device_arg_index(schema: Any) -> int | None:
    """Where the argument ``Device device`` stands; None if there is none."""
    for index, argument in enumerate(schema.arguments):
        if argument.name == "device" and _kind(argument.type) == "Device":
            return index
    return None


def mutated_args_kwargs(schema: Any) -> tuple[list[int], list[str]]:
    """Places and names of the arguments that are written to."""
    written = [(at, each) for at, each in enumerate(schema.arguments) if is_written(each)]
    return (
        [at for at, each in written if not each.kwarg_only],
        [each.name for _, each in written if each.kwarg_only],
    )


def fill_defaults(
    schema: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call with the defaults of those that it leaves out."""
    plain = [argument for argument in schema.arguments if not argument.kwarg_only]
    named = [argument for argument in schema.arguments if argument.kwarg_only]
    missing = tuple(argument.default_value for argument in plain[len(args) :])
    filled = {each.name: kwargs.get(each.name, each.default_value) for each in named}
    return (*args, *missing), filled


# --- fake implementations ---------------------------------------------------------------------


def can_generate_trivial_fake_impl(op: OpOverload) -> bool:
    """Whether a call on tensors without data has nothing to compute."""
    if is_builtin(op):
        return False
    if is_out(op) or is_inplace(op):
        return True
    return bool(op._schema.is_mutable) and not op._schema.returns


def generate_trivial_fake_impl(op: OpOverload, *args: Any, **kwargs: Any) -> Any:
    """What such a call answers: the tensors that it wrote to, where it returns them."""
    if is_out(op):
        _, names = mutated_args_kwargs(op._schema)
        written = tuple(kwargs[name] for name in names)
        return written[0] if len(written) == 1 else written
    return args[0] if is_inplace(op) else None


# --- aliases ----------------------------------------------------------------------------------


def iter_tensors(
    args: Iterable[Any], kwargs: dict[str, Any], allowed_nesting: int = 1
) -> Iterator[Tensor]:
    """The tensors among arguments, and those in lists and tuples."""
    for value in (*args, *kwargs.values()):
        if isinstance(value, Tensor):
            yield value
        elif allowed_nesting > 0 and isinstance(value, (tuple, list)):
            yield from iter_tensors(value, {}, allowed_nesting - 1)


def _results(result: Any) -> Iterator[Tensor]:
    """The tensors among results, and those in containers that the release looks into."""
    values = result if isinstance(result, tuple) else (result,)
    if does("aliases are looked for in tuples of results"):
        yield from iter_tensors(values, {})
        return
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, list):
            yield from _results(tuple(value))


def check_aliasing_constraint(
    name: str,
    inputs: Iterable[Tensor],
    result: Any,
    get_module: Callable[[], object],
) -> None:
    """RuntimeError if a result shares its storage with an input or another result."""
    storages = {id(tensor.untyped_storage()) for tensor in inputs}
    for tensor in _results(result):
        storage = id(tensor.untyped_storage())
        if storage in storages:
            raise RuntimeError(*message("aliases", name=name, module=get_module()))
        storages.add(storage)
