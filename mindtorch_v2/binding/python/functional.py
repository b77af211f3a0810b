"""Functions about functional tensors, in releases that parse their arguments as for any other.

Mirrors ``torch/csrc/autograd/python_torch_functions_manual.cpp``; later releases have pybind11 bind
them (:mod:`mindtorch_v2._functional_bindings`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from mindtorch_v2.binding.python.function import Implementation
from mindtorch_v2.binding.python.manual import Runner, value
from mindtorch_v2.binding.python.parser import Parsed


def _functions() -> Mapping[str, Callable[..., Any]]:
    from mindtorch_v2.functionalize.functions import OF_TORCH  # which stands on this package

    return OF_TORCH


def _runner(name: str) -> Runner:
    def run(receiver: None, parsed: Parsed) -> Any:
        parameters = parsed.signature.parameters
        return _functions()[name](*(value(parsed, each.name) for each in parameters))

    return run


_NAMES: Final = (
    *("_freeze_functional_tensor", "_from_functional_tensor", "_is_functional_tensor"),
    *("_to_functional_tensor", "_enable_functionalization", "_mirror_autograd_meta_to"),
    *(
        f"_functionalize_{name}"
        for name in (
            *("apply_view_metas", "commit_update", "enable_reapply_views", "get_storage_size"),
            *("are_all_mutations_hidden_from_autograd", "has_data_mutation", "is_symbolic"),
            "are_all_mutations_under_no_grad_or_inference_mode",
            *("has_metadata_mutation", "is_multi_output_view", "replace", "sync"),
            *("mark_mutation_hidden_from_autograd", "was_inductor_storage_resized"),
            "was_storage_changed",
        )
    ),
)

RUNNERS: Final[Mapping[str, Runner]] = {name: _runner(name) for name in _NAMES}
"""By the name of the C function."""

WITHOUT_PARSER: Final[Mapping[str, Implementation]] = {
    "_disable_functionalization": lambda receiver, args, kwargs: _functions()[
        "_disable_functionalization"
    ](),
}
