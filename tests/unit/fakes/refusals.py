"""A small vocabulary for cases, and how the grammar refuses a text in it."""

from __future__ import annotations

import pytest

from conformance.grammar import CaseRefused, parse
from conformance.vocabulary import Facts, Vocabulary, for_facts

FACTS = Facts(
    keys=frozenset({"CPU", "Meta", "AutogradCPU"}),
    functions=frozenset(
        {
            "ones",
            "add",
            "mul",
            "sum",
            "data",
            "size",
            "select",
            "sinh",
            "sinh_",
            "values",
            "indices",
        }
        | {"from_file", "save", "_from_blob", "share_memory_", "load_something"}
        | {"os", "copy", "__class__"}
    ),
    bindings={
        "DispatchKey": frozenset({"name", "__or__", "__reduce__"}),
        "DispatchKeySet": frozenset({"has", "raw_repr"}),
        "_dispatch_keys": frozenset(),
        "_dispatch_library": frozenset(),
        "_dispatch_tls_local_include_set": frozenset(),
        "_dispatch_tls_local_exclude_set": frozenset(),
        "_dispatch_find_schema_or_throw": frozenset(),
        "_dispatch_call_boxed": frozenset(),
        "_DispatchModule": frozenset({"def_", "impl_with_aoti_compile", "_pybind11_conduit_v1_"}),
        "_jit_set_profiling_mode": frozenset(),
        "_set_worker_signal_handlers": frozenset(),
        "import_ir_module": frozenset(),
    },
    operators=frozenset({"aten", "add", "Tensor", "quantized", "_test_load", "save"}),
)
VOCABULARY = for_facts(FACTS).with_helpers("in_thread")

PLACE = "▲"


def marked(text: str) -> tuple[str, int, int]:
    """The text without its mark, and the mark's line and column."""
    before, mark, _ = text.partition(PLACE)
    assert mark, "no place marked"
    return text.replace(PLACE, ""), before.count("\n") + 1, len(before) - before.rfind("\n")


def refused(text: str, vocabulary: Vocabulary = VOCABULARY) -> CaseRefused:
    with pytest.raises(CaseRefused) as caught:
        parse(text, vocabulary)
    return caught.value
