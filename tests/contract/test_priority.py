"""Priority: torch's order, with Pipeline right below BackendSelect and NPU right below Meta."""

from __future__ import annotations

import enum
import json
import os
import subprocess
import sys
from typing import Final

import pytest

from mindtorch_v2 import profile
from mindtorch_v2.dispatch import PRIORITY, DispatchKey, DispatchKeySet
from mindtorch_v2.dispatch.key import EXTENSION_KEYS

FACTS: Final = profile.active().keys

#: Every functionality, highest priority first, and here and there what is handled at it.
#: ``X<backend>`` is a per-backend functionality: there stand its runtime keys, one for each
#: backend of BACKENDS, in that order.
ORDER: Final = {
    "2.4": """
        PythonDispatcher                a Python dispatcher in place of this one
        PreDispatch                     tracing before dispatch
        TESTING_ONLY_GenericMode
        TESTING_ONLY_GenericWrapper
        FuncTorchDynamicLayerFrontMode  functorch's transforms, outermost
        PythonTLSSnapshot               remembers thread-local state for __torch_dispatch__
        DeferredInit
        FuncTorchGradWrapper
        VmapMode
        Batched
        FuncTorchVmapMode
        BatchedNestedTensor
        FuncTorchBatched                vmap
        AutocastPrivateUse1             mixed precision, by device
        AutocastCUDA
        AutocastXLA
        AutocastHPU
        AutocastIPU
        AutocastXPU
        AutocastCPU
        Tracer                          torch.jit.trace
        AutogradNestedTensor
        Autograd<backend>               records the backward pass
        AutogradOther                   the same, for backends without a key of their own
        ADInplaceOrView                 version counters and views
        ZeroTensor                      tensors of zeros that store nothing
        Negative                        lazily negated
        Conjugate                       lazily conjugated
        Named                           named dimensions
        Functionalize                   mutation becomes new values
        FuncTorchDynamicLayerBackMode   functorch's transforms, on the way down
        Fake
        Python                          __torch_dispatch__
        BackendSelect                   finds the backend of a call without tensors
        Pipeline                        ours: captures instead of computing
        NestedTensor<backend>
        SparseCsr<backend>
        Sparse<backend>
        MkldnnCPU
        CustomRNGKeyId
        Quantized<backend>
        Metal
        Vulkan
        MAIA
        FPGA
        <backend>                       computes: strided tensors
        """,
    "2.13": """
        PythonDispatcher
        PreDispatch
        TESTING_ONLY_GenericMode
        TESTING_ONLY_GenericWrapper
        FuncTorchDynamicLayerFrontMode
        PythonTLSSnapshot
        DeferredInit
        FuncTorchGradWrapper
        VmapMode
        Batched
        FuncTorchVmapMode
        BatchedNestedTensor
        FuncTorchBatched
        AutocastPrivateUse1
        AutocastCUDA
        AutocastMPS
        AutocastXLA
        AutocastHPU
        AutocastIPU
        AutocastXPU
        AutocastMAIA
        AutocastMTIA
        AutocastCPU
        Tracer
        AutogradNestedTensor
        Autograd<backend>
        AutogradOther
        ADInplaceOrView
        ZeroTensor
        Negative
        Conjugate
        Functionalize
        FuncTorchDynamicLayerBackMode
        Python
        Fake
        BackendSelect
        Pipeline
        NestedTensor<backend>
        SparseCsr<backend>
        Sparse<backend>
        MkldnnCPU
        CustomRNGKeyId
        Quantized<backend>
        Metal
        Vulkan
        FPGA
        <backend>
        """,
}
BACKENDS: Final = {
    "2.4": """
        Meta NPU PrivateUse3 PrivateUse2 PrivateUse1
        MTIA Lazy VE HPU XPU IPU MPS XLA HIP CUDA CPU
        """,
    "2.13": """
        Meta NPU PrivateUse3 PrivateUse2 PrivateUse1
        MAIA MTIA Lazy VE HPU XPU IPU MPS XLA HIP CUDA CPU
        """,
}
#: After every runtime key, in any release so far.
ALIASES: Final = [
    "Autograd",
    "CompositeImplicitAutograd",
    "FuncTorchBatchedDecomposition",
    "CompositeImplicitAutogradNestedTensor",
    "CompositeExplicitAutograd",
    "CompositeExplicitAutogradNonFunctional",
]
#: Above torch's 16-bit enum, the same in every profile.
EXTENSIONS: Final = {
    "Pipeline": 0x10000,
    "NPU": 0x10001,
    "QuantizedNPU": 0x10002,
    "SparseNPU": 0x10003,
    "SparseCsrNPU": 0x10004,
    "NestedTensorNPU": 0x10005,
    "AutogradNPU": 0x10006,
}
NAMES: Final = [key.name for key in PRIORITY]
PREFIXES: Final = tuple(FACTS.per_backend.values())


def expanded(order: str, backends: str) -> list[str]:
    return [
        row.replace("<backend>", backend)
        for row in (line.split()[0] for line in order.strip().splitlines())
        for backend in (backends.split() if row.endswith("<backend>") else [""])
    ]


def rank(name: str) -> int:
    """0 for the key that is handled first."""
    return NAMES.index(name)


def raw_bits(name: str) -> int:
    """torch's raw representation of a key, from the facts: backends from bit 0, then the rest."""
    bits = {name: 1 << bit for bit, name in enumerate(FACTS.backends)}
    bit = len(FACTS.backends) - 1
    functionalities = {
        name: 1 << (bit + value) for value, name in enumerate(FACTS.functionality_keys) if value
    }
    for functionality, prefix in FACTS.per_backend.items():
        for backend in FACTS.backends:
            if name == prefix + backend:
                return functionalities[functionality] | bits[backend]
    return functionalities.get(name, 0)


# The order --------------------------------------------------------------------------------------


@pytest.mark.skipif(profile.active().name not in ORDER, reason="no table for this profile here")
def test_the_whole_order_is_as_written_above() -> None:
    name = profile.active().name
    assert expanded(ORDER[name], BACKENDS[name]) + ALIASES == NAMES


def test_every_key_that_can_have_a_kernel_stands_in_the_order_once() -> None:
    backends = [*FACTS.backends, "NPU"]
    keys = {name for name in FACTS.functionality_keys if name not in FACTS.per_backend}
    keys |= {prefix + backend for prefix in PREFIXES for backend in backends}
    keys |= {"Pipeline", *FACTS.alias_keys}
    assert set(NAMES) == keys - {"Undefined"}
    assert len(set(NAMES)) == len(NAMES)


def test_building_blocks_and_placeholders_have_no_place_in_it() -> None:
    for key in DispatchKey:
        if key.name in FACTS.per_backend or key.name.startswith(("StartOf", "EndOf", "Undefined")):
            assert key not in PRIORITY


def test_torchs_keys_are_in_torchs_order() -> None:
    """A higher functionality bit first; within a functionality, a higher backend bit first."""
    raws = [raw_bits(name) for name in NAMES if name not in EXTENSIONS]
    mask = (1 << len(FACTS.backends)) - 1
    runtime = raws[: -len(FACTS.alias_keys)]
    assert runtime == sorted(runtime, key=lambda raw: (raw & ~mask, raw & mask), reverse=True)


@pytest.mark.parametrize("backend", ["CPU", "CUDA", "NPU", "Meta"])
def test_autograd_then_inplace_or_view_then_functionalize_then_python_then_backend_select(
    backend: str,
) -> None:
    keys = [
        f"Autograd{backend}",
        "ADInplaceOrView",
        "Functionalize",
        "Python",
        "BackendSelect",
        "Pipeline",
        backend,
    ]
    assert sorted(keys, key=rank) == keys


def test_pipeline_stands_immediately_below_backend_select() -> None:
    assert rank("Pipeline") == rank("BackendSelect") + 1


def test_pipeline_stands_above_every_backend() -> None:
    others = set(PREFIXES) - {"Autograd"}
    below = {prefix + backend for prefix in others for backend in (*FACTS.backends, "NPU")}
    assert all(rank("Pipeline") < rank(name) for name in below)


@pytest.mark.parametrize("functionality", FACTS.per_backend)
def test_npu_stands_between_privateuse3_and_meta(functionality: str) -> None:
    prefix = FACTS.per_backend[functionality]
    order = [prefix + backend for backend in ("Meta", "NPU", "PrivateUse3")]
    first = rank(order[0])
    assert NAMES[first : first + 3] == order


def test_the_keys_that_fall_through_by_default_have_a_place() -> None:
    for name in ("PrivateUse1", "PrivateUse2", "PrivateUse3"):
        assert rank("Pipeline") < rank(name) < rank("CPU")
    for name in ("CompositeImplicitAutograd", "CompositeExplicitAutograd"):
        assert rank(name) > rank("CPU")


def test_an_alias_key_comes_after_every_runtime_key() -> None:
    assert set(NAMES[-len(FACTS.alias_keys) :]) == FACTS.alias_keys.keys()


# Bits -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "key", [key for key in PRIORITY if key.name not in EXTENSIONS], ids=lambda key: key.name
)
def test_a_key_of_torch_has_torchs_bits_and_no_others(key: DispatchKey) -> None:
    assert DispatchKeySet(key).mask == raw_bits(key.name)
    assert DispatchKeySet(key).raw_repr() == raw_bits(key.name)
    assert raw_bits(key.name) < 1 << 64


@pytest.mark.parametrize("name", EXTENSIONS)
def test_an_extension_key_has_one_bit_above_torchs_64(name: str) -> None:
    beyond, raw = divmod(DispatchKeySet(DispatchKey[name]).mask, 1 << 64)
    assert beyond.bit_count() == 1
    functionality = {
        prefix + "NPU": functionality for functionality, prefix in FACTS.per_backend.items()
    }.get(name)
    assert raw == (raw_bits(functionality) if functionality else 0)


def test_pipeline_and_npu_have_different_bits() -> None:
    pipeline, npu = (DispatchKeySet(DispatchKey[name]).mask for name in ("Pipeline", "NPU"))
    assert pipeline & npu == 0


def test_every_backend_of_npu_is_the_same_bit() -> None:
    masks = [DispatchKeySet(DispatchKey[prefix + "NPU"]).mask >> 64 for prefix in PREFIXES]
    assert len(set(masks)) == 1


# Values -----------------------------------------------------------------------------------------


def test_a_dispatch_key_is_an_int_enum() -> None:
    assert issubclass(DispatchKey, enum.IntEnum)
    assert DispatchKey.Undefined == 0
    assert DispatchKey.Dense == 1
    assert [1, 2][DispatchKey.Dense] == 2


def test_torchs_keys_have_torchs_values() -> None:
    values = {name: int(key) for name, key in DispatchKey.__members__.items()}
    ours = {name: values.pop(name) for name in EXTENSIONS}
    assert ours.keys().isdisjoint(FACTS.members)
    functionalities = {name: value for value, name in enumerate(FACTS.functionality_keys)}
    assert values == {
        **FACTS.members,
        **functionalities,
        **FACTS.alias_keys,
        **FACTS.parse,
        "EndOfFunctionalityKeys": len(functionalities),
    }


def test_extension_keys_have_values_above_16_bits_in_every_profile() -> None:
    assert {name: int(DispatchKey[name]) for name in EXTENSIONS} == EXTENSIONS
    assert EXTENSION_KEYS == EXTENSIONS
    assert min(EXTENSIONS.values()) > 0xFFFF
    assert max(key for key in DispatchKey if key.name not in EXTENSIONS) <= 0xFFFF


def imported_afresh(hash_seed: str) -> list[object]:
    code = """
import json
from mindtorch_v2.dispatch import PRIORITY, DispatchKey
print(json.dumps([list(DispatchKey.__members__.items()), PRIORITY]))
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    found: list[object] = json.loads(done.stdout)
    return found


def test_every_process_has_the_same_values_in_the_same_order() -> None:
    here = [[list(item) for item in DispatchKey.__members__.items()], list(PRIORITY)]
    assert imported_afresh("1") == imported_afresh("2") == here
