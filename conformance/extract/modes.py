"""Extracts how Python's dispatch modes differ between releases: ``torch.utils._python_dispatch``."""

from typing import Any

from torch import _C as C
from torch.utils._python_dispatch import TorchDispatchMode


class Plain(TorchDispatchMode):
    @staticmethod
    def __torch_dispatch__(*given: Any) -> Any: ...


def extract() -> dict[str, Any]:
    """The section ``modes.json``."""
    return {
        # What a mode keeps of the time before it was entered: attributes in order ...
        "flags": list(vars(TorchDispatchMode())),
        # ... which hold one flag or, for every time that it was entered, one.
        "keeps_stack": hasattr(next(iter(vars(TorchDispatchMode()).values())), "append"),
        # Whether what a class defines as __torch_dispatch__ becomes a function around it.
        "wraps_handlers": not isinstance(vars(Plain)["__torch_dispatch__"], staticmethod),
        "knows_infra_modes": hasattr(TorchDispatchMode, "is_infra_mode"),
        "refusals": {
            "key": refusal(lambda: TorchDispatchMode(0)),
            "other key": refusal(TorchDispatchMode(C.DispatchKey.CPU).__enter__),
            "pre-dispatch": refusal(TorchDispatchMode(C.DispatchKey.PreDispatch).__enter__),
        },
    }


def refusal(provoke: Any) -> str:
    """The message of an AssertionError."""
    try:
        provoke()
    except AssertionError as error:
        return str(error).replace(repr(TorchDispatchMode), "%r")
    raise AssertionError("torch takes what it used to refuse; look at modes.py")
