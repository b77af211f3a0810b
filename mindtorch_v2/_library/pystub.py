"""Fake implementations of operators that C++ has defined stand in the module that C++ names.

Mirrors ``_check_pystubs_once`` of ``torch/library.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from mindtorch_v2._library.release import does
from mindtorch_v2._library.utils import lookup_op
from mindtorch_v2.dispatch.python_modules import python_module


def checked_once(
    func: Callable[..., Any], qualname: str, actual_module_name: str
) -> Callable[..., Any]:
    """``func``, whose first call checks that it stands in the module that C++ has named.

    RuntimeError for an operator of C++ that names another module, or none.
    """
    checked: Final[list[bool]] = []

    def inner(*args: Any, **kwargs: Any) -> Any:
        if not checked:
            _check(qualname, actual_module_name)
            checked.append(True)
        return func(*args, **kwargs)

    return inner


def _check(qualname: str, actual: str) -> None:
    op = lookup_op(qualname)
    if op._defined_in_python:
        return
    found = python_module(op._name)
    if found is None:
        if not does("a fake impl of an operator of C++ needs a module that C++ names"):
            return
        raise RuntimeError(
            f"Operator '{qualname}' was defined in C++ and has a Python fake impl. In this "
            "situation, we require there to also be a companion C++ "
            f'`m.set_python_module("{actual}")` call, but we could not find one. Please add that '
            f"to to the top of the C++ TORCH_LIBRARY({op.namespace}, ...) block the operator was "
            f"registered in ({op._handle.debug()})"
        )
    if found[0] != actual:
        raise RuntimeError(
            f"Operator '{qualname}' specified that its python fake impl is in the Python module "
            f"'{found[0]}' but it was actually found in '{actual}'. Please either move the fake "
            f"impl or correct the m.set_python_module call ({op._handle.debug()})"
        )
