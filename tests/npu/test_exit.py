"""The end of a process: everything is given back, in order, whoever still has a tensor."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .sim.harness import Runtime

pytestmark = pytest.mark.npu

ROOT = Path(__file__).parents[2]

#: Asks the simulator at the very end, as what is registered first is called last.
ASK = """
import atexit, ctypes, os
def ask():
    library = ctypes.CDLL(os.environ["ASCEND_HOME_PATH"] + "/lib64/libascendcl.so")
    library.sim_violations.restype = ctypes.c_char_p
    print("violations:", library.sim_violations().decode())
atexit.register(ask)
import mindtorch_v2 as torch
"""

PROGRAMS = {
    "tensors and streams that live to the end": """
x = torch.ones(3, device="npu")
event, stream = torch.npu.Event(), torch.npu.Stream()
event.record()
stream.wait_event(event)
with torch.npu.stream(stream):
    kept = [x + 1, torch.randn(100, device="npu").npu(non_blocking=True)]
""",
    "a thread that used the device": """
import threading
kept = []
thread = threading.Thread(target=lambda: kept.append(torch.ones(3, device="npu") * 2))
thread.start(); thread.join()
""",
    "both devices": """
kept = [torch.ones(3, device=f"npu:{i}") + 1 for i in range(torch.npu.device_count())]
""",
    "an error in the middle": """
x = torch.ones(3, device="npu") + 1
try:
    x + torch.ones(4, device="npu")
except RuntimeError:
    pass
""",
    "a plan that never runs": """
try:
    with torch.pipeline():
        y = torch.ones(3, device="npu") + 1
        z = torch.ones(2, 3, device="npu") @ torch.ones(3, device="npu")
        raise KeyError
except KeyError:
    pass
""",
    "only a question": """
assert torch.npu.is_available()
""",
    "a forked child": """
import sys
x = torch.ones(3, device="npu") + 1
child = os.fork()
if not child:
    try:
        torch.ones(3, device="npu")
    except RuntimeError as error:
        assert "forked subprocess" in str(error), error
        os._exit(0)
    os._exit(1)
assert os.waitpid(child, 0)[1] == 0
assert x.tolist() == [2, 2, 2]
""",
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_nothing_is_left(program: str, installation: Path, simulator: Runtime | None) -> None:
    if simulator is None:
        pytest.skip("only the simulator can tell")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", ASK + PROGRAMS[program]],
        env={**os.environ, "PYTHONPATH": str(ROOT), "ASCEND_HOME_PATH": str(installation)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "violations: []\n"
