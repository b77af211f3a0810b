"""The NPU's layer as far as it needs no runtime: tables, errors, and machines without one."""

from __future__ import annotations

import os
import subprocess
import sys
from ctypes import c_void_p
from pathlib import Path
from typing import Final

import pytest

from mindtorch_v2.kernels.npu import libraries, prototypes, status
from mindtorch_v2.kernels.npu.aclnn_table import TABLE
from mindtorch_v2.tensor.dtype import DTYPES

ROOT: Final = Path(__file__).parents[2]


def test_every_entry_of_the_table_is_parsed() -> None:
    entries = [line for line in TABLE.splitlines() if line and not line.startswith(" ")]
    for line in entries:
        operator = prototypes.aclnn(line.partition("(")[0])
        assert all(argument.kind in prototypes.KINDS for argument in operator.arguments)
        places = [argument.kind == "out" for argument in operator.arguments]
        assert any(places) or operator.name.startswith(("Inplace", "IndexPut"))


def test_an_entry_has_kinds_names_and_dtypes() -> None:
    gather = prototypes.aclnn("Gather")
    assert gather.symbol == "aclnnGather"
    assert [argument.kind for argument in gather.arguments] == ["tensor", "i64", "tensor", "out"]
    assert gather.arguments[2].dtypes == {DTYPES["int32"], DTYPES["int64"]}
    assert gather.arguments[3].dtypes is None
    relu = prototypes.aclnn("Relu").arguments[0].dtypes
    assert relu is not None
    assert DTYPES["bfloat16"] in relu
    assert DTYPES["int16"] not in relu


def test_the_first_phase_answers_a_size_and_an_executor() -> None:
    planning = prototypes.aclnn("Add").planning
    assert planning.argtypes[:4] == (c_void_p,) * 4
    assert len(planning.argtypes) == 6


def test_an_error_says_function_code_meaning_and_the_librarys_words() -> None:
    with pytest.raises(status.AclError) as raised:
        status.check(107002, "aclrtMalloc", lambda: "EE1001: no context", lambda: "tensor x")
    assert str(raised.value) == (
        "NPU function error: call aclrtMalloc failed, error code is 107002 (the thread has no "
        "current context)\ntensor x\nEE1001: no context"
    )
    assert (raised.value.function, raised.value.code) == ("aclrtMalloc", 107002)


def test_an_error_of_the_device_may_be_of_work_before() -> None:
    with pytest.raises(status.AclError, match="set ASCEND_LAUNCH_BLOCKING=1"):
        status.check(507015, "aclrtSynchronizeStream", lambda: "", lambda: "")


def test_success_asks_nobody() -> None:
    def fail() -> str:
        raise AssertionError

    status.check(0, "aclInit", fail, fail)


def test_a_code_that_nobody_knows_is_an_error_too() -> None:
    assert "error code is 42 (unknown error)" in str(status.AclError("aclInit", 42))


def test_the_root_is_what_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in libraries.ROOTS:
        monkeypatch.delenv(name, raising=False)
    assert libraries.root() is None
    monkeypatch.setenv("ASCEND_TOOLKIT_HOME", "/older")
    assert libraries.root() == Path("/older")
    monkeypatch.setenv("ASCEND_HOME_PATH", "/newer")
    assert libraries.root() == Path("/newer")


def run_without_npu(program: str) -> str:
    """What a program prints in a process of its own, on a machine without CANN."""
    hidden = {name: value for name, value in os.environ.items() if not name.startswith("ASCEND")}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**hidden, "PYTHONPATH": str(ROOT), "LD_LIBRARY_PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_without_cann_questions_are_answered_and_tensors_are_an_error() -> None:
    if libraries.root() is not None:
        pytest.skip("CANN may be here")
    program = """
import mindtorch_v2 as torch
print(torch.npu.is_available(), torch.npu.device_count(), torch.npu.is_initialized())
print(torch.npu.memory_allocated(), torch.npu.empty_cache())
for make in (lambda: torch.ones(2, device="npu"), lambda: torch.ones(2).npu(),
             lambda: torch.npu.set_device(0), torch.npu.synchronize):
    try:
        make()
    except RuntimeError as error:
        print(str(error)[:32])
print(torch.device("npu", 1), (torch.ones(2) + 1).tolist())
"""
    assert run_without_npu(program).splitlines() == [
        "False 0 False",
        "0 None",
        *("CANN's runtime cannot be loaded ",) * 4,
        "npu:1 [2.0, 2.0]",
    ]


def test_the_package_is_imported_without_looking_for_cann() -> None:
    program = """
import ctypes
def refuse(*args, **kwargs):
    raise AssertionError(args)
ctypes.CDLL = refuse
import mindtorch_v2
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.dispatcher import DISPATCHER
print(int(DispatchKey.NPU) in DISPATCHER.find("aten::add.Tensor").kernels)
"""
    assert run_without_npu(program) == "False\n"
