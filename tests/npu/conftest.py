"""Which runtime the tests run on: Ascend's where there is a device, else the simulated one.

The simulated one is built when the first test needs it, and found as an installation would be, by
``ASCEND_HOME_PATH``.  Tests of the simulator itself (``test_sim_*.py``) use it everywhere.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import mindtorch_v2
from mindtorch_v2.kernels.npu import runtime as npu_runtime

from .sim.build import CompilerMissingError, build
from .sim.harness import Runtime


@pytest.fixture(scope="session")
def build_cache(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where builds are kept from one run to the next."""
    cache = getattr(request.config, "cache", None)
    return cache.mkdir("npu-sim") if cache else tmp_path_factory.mktemp("npu-sim")


@pytest.fixture(scope="session")
def simulator_root(build_cache: Path) -> Path:
    """The simulated installation; skips where there is no C compiler.

    ``ACL_SIM_TEST_ROOT`` names one that was built before, for example with sanitisers.
    """
    if "ACL_SIM_TEST_ROOT" in os.environ:
        return Path(os.environ["ACL_SIM_TEST_ROOT"])
    try:
        return build(build_cache)
    except CompilerMissingError as missing:
        pytest.skip(f"the simulated Ascend runtime cannot be built: {missing}")


@pytest.fixture(scope="session", autouse=True)
def installation(request: pytest.FixtureRequest) -> Path:
    """The root of the runtime that mindtorch_v2 finds."""
    if shutil.which("npu-smi") and "ASCEND_HOME_PATH" in os.environ:
        return Path(os.environ["ASCEND_HOME_PATH"])
    root: Path = request.getfixturevalue("simulator_root")
    os.environ["ASCEND_HOME_PATH"] = str(root)
    return root


@pytest.fixture(scope="session")
def loaded_simulator(simulator_root: Path) -> Runtime:
    """What mindtorch_v2 has there is given back first: the tests of the simulator reset it."""
    npu_runtime.close()
    return Runtime(simulator_root)


@pytest.fixture(params=["lazy", "eager"])
def runtime(loaded_simulator: Runtime, request: pytest.FixtureRequest) -> Iterator[Runtime]:
    """The simulator from its beginning, in both modes: a rule broken or a leak fails the test."""
    loaded_simulator.start(eager=request.param == "eager")
    yield loaded_simulator
    assert loaded_simulator.violations() == []
    loaded_simulator.finish()
    assert loaded_simulator.violations() == []


@pytest.fixture
def lazy(loaded_simulator: Runtime) -> Iterator[Runtime]:
    """The same in lazy mode alone, for tests that break rules: they ask for the violations."""
    loaded_simulator.start()
    yield loaded_simulator
    assert loaded_simulator.violations() == []
    loaded_simulator.acl.sim_reset()


# --- tests of mindtorch_v2 ------------------------------------------------------------------------


def is_on_hardware() -> bool:
    """Whether the tests run on a device."""
    return shutil.which("npu-smi") is not None and "ASCEND_HOME_PATH" in os.environ


def pytest_report_header() -> str:
    return f"npu: {'Ascend hardware' if is_on_hardware() else 'the simulated runtime'}"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Last what gives the dispatcher kernels for NPUs, which is not taken back; at the very end the
    tests of the simulator, which reset it."""
    here = Path(__file__).parent
    items.sort(key=lambda item: (item.path.parent == here, item.path.name.startswith("test_sim")))


@pytest.fixture
def simulator(installation: Path) -> Runtime | None:
    """The simulator that mindtorch_v2 runs on, to be told and asked; None on hardware."""
    return None if is_on_hardware() else Runtime(installation)


@pytest.fixture(params=["lazy", "eager"])
def npu(simulator: Runtime | None, request: pytest.FixtureRequest) -> Iterator[ModuleType]:
    """``mindtorch_v2.npu``; on the simulator in both modes, where a broken rule fails the test."""
    if simulator is None and request.param == "eager":
        pytest.skip("hardware has one mode")
    mindtorch_v2.npu.synchronize()
    if simulator is not None:
        simulator.config("eager", request.param == "eager")
        simulator.violations()
    yield mindtorch_v2.npu
    mindtorch_v2.npu.synchronize()
    mindtorch_v2.npu.set_fallback(True)
    if simulator is not None:
        assert simulator.violations() == []


@pytest.fixture
def on_npu_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing runs on the CPU, however good the reason."""

    def fail(operator: object, stack: object, reason: object) -> None:
        raise AssertionError(f"{operator} ran on the CPU: {reason}")

    monkeypatch.setattr("mindtorch_v2.kernels.npu.install.run_on_cpu", fail)
    monkeypatch.setattr("mindtorch_v2.kernels.npu.fallback.run_on_cpu", fail)
