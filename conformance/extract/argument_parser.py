"""Section ``argument_parser.json``: what of PythonArgParser differs between releases and builds.

The rules are code (torch/csrc/utils/python_arg_parser.{h,cpp}).  Here are the words and the choices
that a release changed, each found by a call that shows it, and the names that C++ prints for
dtypes and layouts.
"""

import re
import warnings
from collections.abc import Callable
from typing import Any

import torch

from conformance.bound import bound
from conformance.extract import ExtractionError

STRIDED = torch.zeros(2, 3)
ONE_INTEGER = torch.tensor(1)
TOO_BIG = 2**70


def extract() -> dict[str, Any]:
    element_error = str(refusal(lambda: STRIDED.expand([1, TOO_BIG])))
    overflow = refusal(lambda: STRIDED.split(TOO_BIG))
    return {
        "overflow": {
            "type": type(overflow).__name__,
            "message": str(overflow),
            "with_stack": "frame #" in element_error,
        },
        "message_buffer": message_buffer(),
        "tensors_fill_lists": STRIDED.sum(ONE_INTEGER).dim() == 1,
        "varargs_begin_with_int": "found element" not in str(refusal(lambda: STRIDED.permute("a"))),
        "overrides_anywhere": overrides_anywhere(),
        "overrides_dtypes": overrides_dtypes(),
        "symbolic_devices": isinstance(
            refusal(lambda: torch.zeros(1, device=torch.SymInt(None))), AttributeError
        ),
        "accelerator": accelerator(),
        "no_accelerator": str(refusal(lambda: torch.zeros(1, device=0))),
        "copy_advice": copy_advice(),
        "unsigned_numbers": unsigned_numbers(),
        "functional_refusals": functional_refusals(),
        **subclass_checks(),
        "layout_names": {repr(layout): layout_name(layout) for layout in kinds(torch.layout)},
    }


class Overriding:
    """An object that overrides torch's functions."""

    @classmethod
    def __torch_function__(cls, *_: object) -> str:
        return "overridden"


class OverridingTensor(torch.Tensor):
    """The same, of a tensor."""

    @classmethod
    def __torch_function__(cls, *_: object) -> str:
        return "overridden"


def overrides_anywhere() -> bool:
    """Whether an object that overrides functions is asked wherever it stands."""
    try:
        return bool(torch.dropout(STRIDED, Overriding(), True) == "overridden")
    except TypeError:
        return False


def overrides_dtypes() -> bool:
    """Whether what overrides functions, a tensor too, is asked in a dtype's place."""
    tensor = STRIDED.as_subclass(OverridingTensor)
    try:
        return bool(torch.can_cast(tensor, torch.float32) == "overridden")
    except TypeError:
        return False


def unsigned_numbers() -> dict[str, str | None]:
    """What is said of a number beyond int64, as a Scalar and in a tensor's place; None if taken."""
    calls: dict[str, Callable[[], object]] = {
        "Scalar": lambda: bound(torch, torch.add, STRIDED, 1, alpha=2**63),
        "Tensor": lambda: bound(torch, torch.add, STRIDED, 2**63),
    }
    said: dict[str, str | None] = {}
    for kind, call in calls.items():
        try:
            call()
        except RuntimeError as error:
            said[kind] = str(error)
        else:
            said[kind] = None
    return said


def functional_refusals() -> dict[str, str]:
    """Name to what a function about functional tensors says of plain ones."""
    found = {}
    for name in dir(torch._C._VariableFunctions):
        if "functional" not in name or name == "_enable_functionalization":
            continue
        for args in ((STRIDED,), (STRIDED, STRIDED), (STRIDED, True)):
            try:
                getattr(torch, name)(*args)
            except RuntimeError as error:
                found[name] = str(error)
            except TypeError:
                continue
            break
    return found


def copy_advice() -> str:
    """What torch recommends instead of ``torch.tensor`` of a tensor."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.tensor(STRIDED)
    return found(r"recommended to use (\S+) or", str(caught[0].message))


def subclass_checks() -> dict[str, Any]:
    """How a class is refused that is none of tensors, and when.

    ``wrapper_class_first``: before it is asked for ``__torch_dispatch__``.
    ``as_subclass_is_seen``: whether a Python dispatcher sees the alias that ``as_subclass`` makes.
    ``keeps_objects``: whether a tensor that an override has made may stay the object that it is.
    """
    refused = refusal(lambda: STRIDED._make_subclass(int, STRIDED))
    wrapped = refusal(lambda: STRIDED._make_wrapper_subclass(int, [1]))
    try:
        seen = bound(torch, STRIDED.as_subclass, int)[1] == "aten::alias"
    except type(refused):
        seen = False
    return {
        "no_subclass": {"type": type(refused).__name__, "message": str(refused)},
        "wrapper_class_first": str(wrapped) == str(refused),
        "as_subclass_is_seen": seen,
        "keeps_objects": "not a subclass of the requested"
        in str(refusal(lambda: torch.Tensor._make_subclass(torch.nn.Parameter, Itself()))),
    }


class Itself(torch.Tensor):
    """Answers every operator with its first argument."""

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return args[0]


def accelerator() -> str | None:
    """The device that a number is the index of, whether the machine has one or not."""
    try:
        return str(torch._C._nn._parse_to(0)[0].type)
    except RuntimeError:
        return None


def message_buffer() -> int | None:
    """Bytes that a message is formatted into, its final NUL included; None for no limit."""
    message = str(refusal(lambda: torch.numel(STRIDED, **{"a" * 5000: 1})))
    return len(message) + 1 if len(message) < 5000 else None


def refusal(call: Callable[[], object]) -> Exception:
    """The exception of a call that torch refuses; one that it takes is an error here."""
    try:
        call()
    except (RuntimeError, TypeError, ValueError, AssertionError, AttributeError) as error:
        return error
    raise ExtractionError("a call that torch used to refuse was taken; look at argument_parser.py")


def kinds(kind: type) -> list[Any]:
    """Every instance of ``kind`` that torch names, each once, sorted by its text."""
    found = {repr(value): value for value in vars(torch).values() if isinstance(value, kind)}
    return [found[text] for text in sorted(found)]


def layout_name(layout: torch.layout) -> str:
    """As C++ prints it: from the message about an ``out`` of another layout."""
    out = torch.zeros(2)
    if layout is torch.strided:
        out = out.to_sparse()
    message = str(refusal(lambda: torch.zeros(2, out=out, layout=layout)))
    return found(r"^layout (\w+) does not match", message)


def found(pattern: str, message: str) -> str:
    match = re.search(pattern, message)
    if match is None:
        raise ExtractionError(f"no {pattern!r} in {message!r}")
    return match[1]
