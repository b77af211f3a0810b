"""Extracts what differs between releases of ``torch.nn``'s modules and of ``torch.optim``.

``devices`` lists those that optimizers name in refusals, ``words`` what is said in other words, and
``habits`` answers questions with yes or no.
"""

import re
import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import nn, optim

from conformance.extract import ExtractionError, said, takes


def extract() -> dict[str, Any]:
    """The section ``training.json``."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {
            "devices": {
                "fused": _listed(_step_fused_on_meta),
                "capturable": _listed(_step_capturable),
            },
            "words": {"post hook": _message(_answer_of_a_post_hook)},
            "habits": {name: bool(ask()) for name, ask in HABITS.items()},
        }


def _message(ask: Callable[[], object]) -> str:
    try:
        ask()
    except Exception as error:
        return str(error)
    raise ExtractionError("torch took what it used to refuse")


def _listed(ask: Callable[[], object]) -> list[str]:
    """The names in the list that a message has."""
    found = re.search(r"\[(.*)\]", _message(ask))
    if found is None:
        raise ExtractionError("torch names no devices in what it refuses")
    return [name.strip("' ") for name in found[1].split(",")]


def _with_gradient(*, device: str = "cpu") -> torch.Tensor:
    leaf = torch.ones(1, requires_grad=True, device=device)
    leaf.grad = torch.ones(1, device=device)
    return leaf


def _step_fused_on_meta() -> None:
    optim.AdamW([_with_gradient(device="meta")], fused=True).step()


def _step_capturable() -> None:
    optim.AdamW([_with_gradient()], capturable=True, foreach=False).step()


def _answer_of_a_post_hook() -> None:
    module = nn.ReLU()
    module.register_load_state_dict_post_hook(lambda module, keys: 1)
    module.load_state_dict({})


class _Overriding:
    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return NotImplemented


class _Spaced(nn.Module):
    def extra_repr(self) -> str:
        return "a\n\nb"


def _module_with_scalar() -> nn.Module:
    module = nn.Module()
    module.register_buffer("x", torch.zeros(()))
    return module


def _sgd(**options: Any) -> Callable[[], object]:
    return lambda: optim.SGD([_with_gradient()], **options).step()


def _adam(**options: Any) -> Callable[[], object]:
    return lambda: optim.Adam([_with_gradient()], **options).step()


#: Questions with yes or no for an answer.
HABITS: dict[str, Callable[[], bool]] = {
    "AdamW is an Adam": lambda: issubclass(optim.AdamW, optim.Adam),
    "a tensor that is a rate has one element": lambda: (
        "1-element" in _message(_sgd(lr=torch.ones(2)))
    ),
    "a rate of one dimension counts as a number": lambda: takes(_sgd(lr=torch.ones(1))),
    "Adam's betas are both numbers or both tensors": lambda: (
        "both" in said(_adam(betas=(torch.tensor(0.5), 0.5)))
    ),
    "Adam's betas are in a tuple": lambda: isinstance(
        optim.Adam([_with_gradient()], betas=[0.5, 0.5]).defaults["betas"],
        tuple,
    ),
    "parameters may have names": lambda: takes(lambda: optim.SGD([("x", _with_gradient())])),
    "a fused optimizer looks at devices in its steps": lambda: takes(
        lambda: optim.SGD([torch.ones(1, device="meta")], fused=True)
    ),
    "nn has buffers of a class": lambda: hasattr(nn, "Buffer"),
    "what overrides functions may be a buffer": lambda: takes(
        lambda: nn.Module().register_buffer("x", _Overriding())
    ),
    "a module's parts are in plain dictionaries": lambda: type(nn.Module()._modules) is dict,
    "an empty line of a module's text stays empty": lambda: (
        "\n\n" in repr(nn.Sequential(_Spaced()))
    ),
    "a scalar is loaded from one element alone": lambda: not takes(
        lambda: _module_with_scalar().load_state_dict({"x": torch.ones(2)})
    ),
    "modules may be listed under each of their names": lambda: takes(
        lambda: nn.Module().modules(remove_duplicate=False)
    ),
    "modules move to MTIA": lambda: hasattr(nn.Module, "mtia"),
    "a submodule may be set strictly": lambda: takes(
        lambda: nn.Sequential(nn.Sequential()).set_submodule("0", nn.Sequential(), strict=True)
    ),
}
