"""A function's signatures, and the choice of the one that a call is for.

Mirrors ``PythonArgParser`` in ``torch/csrc/utils/python_arg_parser.cpp``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from mindtorch_v2.binding.python.errors import type_error
from mindtorch_v2.binding.python.invalid import invalid_arguments
from mindtorch_v2.binding.python.signature import NoMatchError, Signature, Values, parse_signature
from mindtorch_v2.binding.unboxed import PLAIN
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.torch_function import Overloaded


class Parsed(NamedTuple):
    """A call that suits: its signature, the place at which it was declared, a value
    for each parameter, and the arguments that override functions."""

    signature: Signature
    chosen: int
    values: Values
    overloaded: Overloaded
    warning: str | None = None
    """What C++ warns of, which Python hears when the call is over (``PyWarningHandler``)."""


_QUIET: Final = PLAIN | {Tensor}
"""Types of values that no code of a user's belongs to."""


class ArgParser:
    """Parses calls of one function; deprecated signatures are tried last."""

    def __init__(self, signatures: Iterable[str]) -> None:
        declared = list(enumerate(map(parse_signature, signatures)))
        self.function_name = declared[0][1].name
        self._declared = sorted(declared, key=lambda pair: pair[1].deprecated)
        #: By the number of arguments, the signatures that take as many, with their places.
        self._plausible: dict[int, list[tuple[int, Signature]]] = {}

    def parse(self, receiver: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Parsed:
        """The first signature that takes the call; TypeError in torch's words if none does.

        ``receiver`` is the tensor whose method is called, None for a function.
        """
        only = len(self._declared) == 1
        refusals: dict[int, NoMatchError] = {}
        for index, signature in self._declared:
            try:
                values, overloaded = signature.match(receiver, args, kwargs)
            except NoMatchError as no_match:
                if only:
                    raise no_match.complaint() from None
                refusals[index] = no_match.with_traceback(None)  # which has the arguments
                continue
            warning = self._deprecation(signature) if signature.deprecated else None
            return Parsed(signature, index, values, overloaded, warning)
        raise self._refusal(receiver, args, kwargs, refusals)

    def tried(self, parsed: Parsed) -> list[Signature]:
        """The signatures up to the one that took a call."""
        found = []
        for index, signature in self._declared:
            found.append(signature)
            if index == parsed.chosen:
                break
        return found

    def _refusal(
        self,
        receiver: Any,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        refusals: Mapping[int, NoMatchError],
    ) -> TypeError:
        """Where one signature alone takes as many arguments, what that says; ``refusals`` are what
        has been said by the places of signatures.

        C++ matches it once more, which code of the arguments' own classes could notice.
        """
        given = len(args) + len(kwargs)
        plausible = self._plausible.get(given)
        if plausible is None:
            plausible = self._plausible[given] = [
                (place, signature)
                for place, signature in self._declared
                if signature.min_args <= given <= signature.max_args and not signature.hidden
            ]
        if len(plausible) == 1:
            ((place, signature),) = plausible
            if _QUIET.issuperset(map(type, (receiver, *args, *kwargs.values()))):
                return refusals[place].complaint()
            try:
                signature.match(receiver, args, kwargs)
            except NoMatchError as no_match:
                return no_match.complaint()
        return type_error(
            invalid_arguments(f"{self.function_name}()", args, kwargs, self._listed())
        )

    def _listed(self) -> list[str]:
        return [str(signature) for _, signature in self._declared if not signature.hidden]

    def _deprecation(self, signature: Signature) -> str:
        message = f"This overload of {signature.name} is deprecated:\n\t{signature.name}{signature}"
        if self._listed():
            message += "\nConsider using one of the following signatures instead:"
            message += "".join(f"\n\t{signature.name}{listed}" for listed in self._listed())
        return message
