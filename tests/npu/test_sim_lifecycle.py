"""The simulator's life cycle: initialising, devices, contexts, leaks."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from ctypes import byref, c_int32, c_int64, c_size_t, c_uint32, c_void_p
from pathlib import Path

import pytest

from .sim.harness import Runtime

pytestmark = pytest.mark.npu


def test_a_call_before_init_is_refused(lazy: Runtime) -> None:
    lazy.acl.sim_reset()
    assert lazy.status("aclrtSetDevice", 0) == 100001
    assert lazy.rules() == ["not-initialised"]


def test_a_second_init_is_told_and_is_no_violation(lazy: Runtime) -> None:
    assert lazy.status("aclInit", None) == 100002


def test_finalize_twice_and_init_again(lazy: Runtime) -> None:
    assert lazy.status("aclFinalize") == 0
    assert lazy.status("aclFinalize") == 100037
    assert lazy.status("aclInit", None) == 0


def test_a_new_thread_has_no_device(lazy: Runtime) -> None:
    answers = []

    def work() -> None:
        stream = c_void_p()
        answers.append(lazy.status("aclrtCreateStream", byref(stream)))
        answers.append(lazy.status("aclrtSetDevice", 0))
        answers.append(lazy.status("aclrtCreateStream", byref(stream)))
        answers.append(lazy.status("aclrtDestroyStream", stream))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert answers == [107002, 0, 0, 0]
    violation, = lazy.violations()  # fmt: skip
    assert violation["rule"] == "no-context"
    assert "aclrtCreateStream on thread" in violation["call"]


def test_the_device_may_be_asked_for_without_one(lazy: Runtime) -> None:
    answers = []
    ask = lambda: answers.append(lazy.status("aclrtGetDevice", byref(c_int32())))  # noqa: E731
    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    assert answers == [107002]


def test_there_are_two_devices(lazy: Runtime) -> None:
    count = c_uint32()
    lazy.call("aclrtGetDeviceCount", byref(count))
    assert count.value == 2
    assert lazy.status("aclrtSetDevice", 2) == 107001
    assert lazy.rules() == ["device-id"]


def test_the_chip_has_a_name(lazy: Runtime) -> None:
    names = []
    for soc in (0, 1, 2):
        lazy.config("soc", soc)
        names.append(lazy.acl.aclrtGetSocName())
    assert names == [b"Ascend910B3", b"Ascend910A", b"Ascend950"]


def test_the_last_reset_of_a_device_ends_what_lies_on_it(lazy: Runtime) -> None:
    block = lazy.malloc(64)
    event, stream = lazy.made("aclrtCreateEvent"), lazy.made("aclrtCreateStream")
    lazy.call("aclrtSetDevice", 0)
    lazy.call("aclrtResetDevice", 0)
    assert lazy.count("blocks") == 1
    lazy.call("aclrtResetDevice", 0)
    assert lazy.count("blocks") == 0
    lazy.call("aclrtSetDevice", 0)
    assert lazy.status("aclrtFree", c_void_p(block)) != 0
    assert lazy.status("aclrtDestroyEvent", c_void_p(event)) != 0
    assert lazy.status("aclrtDestroyStream", c_void_p(stream)) != 0
    assert lazy.rules() == ["double-free", "handle-destroyed", "handle-destroyed"]


def test_a_reset_without_a_set(lazy: Runtime) -> None:
    assert lazy.status("aclrtResetDevice", 1) == 107002
    assert lazy.rules() == ["device-not-set"]


def test_the_default_context_cannot_be_destroyed(lazy: Runtime) -> None:
    context = lazy.made("aclrtGetCurrentContext")
    assert lazy.status("aclrtDestroyContext", c_void_p(context)) == 107002
    assert lazy.rules() == ["default-context"]


def test_explicit_contexts_have_streams_of_their_own(lazy: Runtime) -> None:
    first = lazy.made("aclrtGetCurrentContext")
    stream = lazy.made("aclrtCreateStream")
    second = lazy.made("aclrtCreateContext", 1)
    assert lazy.status("aclrtSynchronizeStream", c_void_p(stream)) == 107003
    assert lazy.rules() == ["stream-context"]
    lazy.call("aclrtSetCurrentContext", c_void_p(first))
    lazy.call("aclrtSynchronizeStream", c_void_p(stream))
    lazy.call("aclrtDestroyContext", c_void_p(second))


def test_parameters_of_context_and_process(lazy: Runtime) -> None:
    value = c_int64()
    lazy.call("aclrtCtxSetSysParamOpt", 0, c_int64(1))
    lazy.call("aclrtCtxGetSysParamOpt", 0, byref(value))
    assert value.value == 1
    lazy.call("aclrtGetSysParamOpt", 0, byref(value))
    assert value.value == 0
    assert lazy.status("aclrtSetSysParamOpt", 9, c_int64(1)) == 100000
    assert lazy.rules() == ["invalid-argument"]


def test_leaks_are_named_at_finalize_with_the_call_that_made_them(lazy: Runtime) -> None:
    lazy.malloc(100)
    lazy.made("aclrtMallocHost", c_size_t(10))
    lazy.made("aclrtCreateStream")
    lazy.made("aclrtCreateEvent")
    lazy.scalar(1.0)
    lazy.call("aclFinalize")
    found = lazy.violations()
    assert {each["rule"] for each in found} == {"leak"}
    messages = " ".join(each["message"] for each in found)
    for leaked in ("device block of 100", "host block of 10", "Stream", "Event", "aclScalar"):
        assert leaked in messages
    assert "aclrtCreateStream on thread" in str(found)


def test_the_error_text_is_given_once_and_to_its_thread(lazy: Runtime) -> None:
    lazy.status("aclrtSetDevice", 7)
    lazy.rules()
    heard: list[str] = []
    thread = threading.Thread(target=lambda: heard.append(lazy.message()))
    thread.start()
    thread.join()
    assert heard == [""]
    assert "no device 7" in lazy.message()
    assert lazy.message() == ""
    assert lazy.status("aclrtPeekAtLastError", 0) == 107001
    assert lazy.status("aclrtGetLastError", 0) == 107001
    assert lazy.status("aclrtGetLastError", 0) == 0


def in_a_process(root: Path, body: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs lines with ``r``, a started Runtime, in a process of its own."""
    head = (
        "import ctypes, sys\nfrom pathlib import Path\n"
        "from npu.sim.harness import *\nfrom npu.sim.harness import S\n"
        f"r = Runtime(Path({str(root)!r}))\nr.start()\n"
    )
    paths = {"PYTHONPATH": str(Path(__file__).parents[1])}
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", head + body],
        capture_output=True, text=True, env={**os.environ, **paths, **variables},
    )  # fmt: skip


def test_a_host_that_reads_device_memory_dies(simulator_root: Path) -> None:
    done = in_a_process(simulator_root, "ctypes.string_at(r.malloc(64), 1)")
    assert done.returncode == -11


def test_a_violation_can_end_the_process(simulator_root: Path) -> None:
    done = in_a_process(simulator_root, "r.status('aclrtSetDevice', 9)", ACL_SIM_ABORT="1")
    assert done.returncode == -6
    assert '"rule": "device-id"' in done.stderr


def test_a_forked_child_starts_without_a_runtime(simulator_root: Path) -> None:
    body = (
        "import os\nimport numpy as np\n"
        "x, out = r.tensor(np.ones(4, np.float32)), r.empty((4,))\n"
        "r.op('Neg', x, out)\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    assert r.status('aclrtSetDevice', 0) == 100001\n"
        "    assert r.rules() == ['not-initialised']\n"
        "    r.blocks.clear(), r.tensors.clear()\n"
        "    r.call('aclInit', None), r.call('aclrtSetDevice', 0)\n"
        "    x, out = r.tensor(np.ones(4, np.float32)), r.empty((4,))\n"
        "    r.op('Neg', x, out)\n"
        "status = 0 if child == 0 else os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])\n"
        "assert out.read().tolist() == [-1, -1, -1, -1]\n"
        "r.finish()\n"
        "assert r.violations() == [] and status == 0\n"
    )
    done = in_a_process(simulator_root, body)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_end_of_the_process_tells_what_is_left(simulator_root: Path) -> None:
    done = in_a_process(simulator_root, "r.malloc(64)")
    assert "the process ends without aclFinalize, with 1 handles and 1 blocks" in done.stderr
