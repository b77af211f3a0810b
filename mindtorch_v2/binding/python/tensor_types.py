"""Classes of tensors by name, ``torch.FloatTensor``, and how a class of tensors is called.

Mirrors ``torch/csrc/tensor/python_tensor.cpp`` and ``THPVariable_pynew`` in
``torch/csrc/autograd/python_variable.cpp``.  Types on accelerators are left out: whether they can
be called is a question of the machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MemberDescriptorType
from typing import Any, Final

from mindtorch_v2.binding.python.legacy import Kind, make, new_tensor
from mindtorch_v2.binding.python.subclasses import instance_of
from mindtorch_v2.binding.python.type_names import name_of_type, type_name
from mindtorch_v2.by_position import by_position
from mindtorch_v2.tensor.base import TensorBase
from mindtorch_v2.tensor.default_dtype import set_default_dtype
from mindtorch_v2.tensor.dtype import DTYPES, LAYOUTS, DType, Layout, sparse_coo, strided
from mindtorch_v2.tensor.made_in_c import MadeInC
from mindtorch_v2.tensor.support import CPP_NAMES
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.torch_dispatch import is_seen_by_python
from mindtorch_v2.warn import warn_once

_stored_name: Final = vars(type)["__name__"]
"""See Note [tp_name] in :mod:`mindtorch_v2.pybind.classes`."""

_DTYPES: Final = (
    *("uint8", "int8", "float64", "float32", "int32", "int64", "int16", "float16", "bool"),
    "bfloat16",
)
"""Dtypes that have a class, as ``all_declared_types`` has them; sparse ones but for bool."""


class tensortype(type, metaclass=MadeInC):  # noqa: N801 (torch's name)
    """The class of such classes: each is called, asked what it is of, and has no instances."""

    _dtype: DType
    _layout: Layout

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> tensortype:
        for base in bases:
            if isinstance(base, tensortype):
                raise TypeError(
                    f"type '{_stored_name.__get__(base)}' is not an acceptable base type"
                )
        return super().__new__(mcs, name, bases, namespace)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        return make(Kind("type", cls._dtype, cls._layout, "cpu"), args, kwargs)

    def __instancecheck__(cls, instance: object) -> bool:
        """By dtype, layout and device: subclasses of tensors count, views that conjugate do not."""
        if not isinstance(instance, TensorBase):
            return False
        tensor: Any = instance
        return (
            tensor._dtype is cls._dtype
            and tensor._layout is cls._layout
            and tensor._device.type == "cpu"
            and not tensor._lazy_bits()
        )

    @property
    def __name__(cls) -> str:  # type: ignore[override]
        name: str = _stored_name.__get__(cls)
        return name.rpartition(".")[2]

    @property
    def dtype(cls) -> DType:
        return cls._dtype

    @property
    def layout(cls) -> Layout:
        return cls._layout

    @property
    def is_sparse(cls) -> bool:
        return cls._layout is not strided

    @property
    def is_sparse_csr(cls) -> bool:
        return cls._layout is LAYOUTS["sparse_csr"]

    @property
    def is_cuda(cls) -> bool:
        return False

    @property
    def is_xpu(cls) -> bool:
        return False


_stored_name.__set__(tensortype, "torch.tensortype")
tensortype.__module__ = "mindtorch_v2"
tensortype.__qualname__ = "tensortype"


def made() -> dict[str, dict[str, tensortype]]:
    """Every class by its name, by the module that has it: ``""`` is torch, ``"sparse"`` below."""
    members = {**_members(vars(TensorBase)), **_members(vars(Tensor))}
    return {
        "": {f"{CPP_NAMES[DTYPES[n]]}Tensor": _type(n, strided, members) for n in _DTYPES},
        "sparse": {
            f"{CPP_NAMES[DTYPES[n]]}Tensor": _type(n, sparse_coo, members)
            for n in _DTYPES
            if n != "bool"
        },
    }


def _members(namespace: Mapping[str, Any]) -> dict[str, Any]:
    """What a class of tensors has for its instances to use, but how they are stored and made."""
    left_out = ("__slots__", "__dict__", "__weakref__", "__new__", "__module__", "__annotations__")
    return {
        name: member
        for name, member in namespace.items()
        if name not in left_out
        and not isinstance(member, MemberDescriptorType)
        and (name == "__torch_function__" or not isinstance(member, classmethod))
    }


def _type(dtype: str, layout: Layout, members: dict[str, Any]) -> tensortype:
    below = ".sparse" if layout is sparse_coo else ""
    name = f"{CPP_NAMES[DTYPES[dtype]]}Tensor"
    made_type = tensortype(name, (), dict(members))
    made_type._dtype, made_type._layout = DTYPES[dtype], layout
    made_type.__module__ = f"mindtorch_v2{below}"
    made_type.__doc__ = None
    _stored_name.__set__(made_type, f"torch{below}.{name}")
    return made_type


@by_position
def set_default_tensor_type(t: Any, /) -> None:
    """Make the dtype of a class such as ``torch.DoubleTensor``, or of that name, the one of floats.

    TypeError for what is no such class, or one of no dense floats; AttributeError or ImportError
    for a name that leads nowhere.
    """
    found = _imported(t) if isinstance(t, str) else t
    warn_once(
        "py_set_default_tensor_type",
        "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use "
        "torch.set_default_dtype() and torch.set_default_device() as alternatives.",
    )
    if not isinstance(found, tensortype):
        raise TypeError(
            "invalid type object: only floating-point types are supported as the default type"
        )
    if found._layout is not strided:
        raise TypeError("only dense types are supported as the default type")
    set_default_dtype(found._dtype)


def _imported(name: str) -> Any:
    """``_import_dotted_name``; this package is torch."""
    package, *names = name.split(".")
    found: Any = import_module("mindtorch_v2" if package == "torch" else package)
    for each in names:
        found = getattr(found, each)
    return found


def new_instance(*args: Any, **kwargs: Any) -> Any:
    """``torch.Tensor(…)`` and calls of its subclasses: an instance of that class.

    The errors about the class are CPython's (``tp_new_wrapper``).
    """
    here = "torch._C.TensorBase"
    if not args:
        raise TypeError(f"{here}.__new__(): not enough arguments")
    cls, *given = args
    if not isinstance(cls, type):
        raise TypeError(f"{here}.__new__(X): X is not a type object ({type_name(cls)})")
    if not issubclass(cls, TensorBase):
        name = name_of_type(cls)
        raise TypeError(f"{here}.__new__({name}): {name} is not a subtype of {here}")
    if cls is TensorBase:
        raise RuntimeError(
            "Cannot directly construct TensorBase; subclass it and then construct that"
        )
    tensor = new_tensor(tuple(given), kwargs)
    if tensor is None:  # which a mode may answer
        return None
    return instance_of(cls, tensor, comes_from_python=is_seen_by_python((tensor,)))
