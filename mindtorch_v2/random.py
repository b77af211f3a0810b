"""``torch.random``: the state of the generator that is there by default.

Mirrors ``torch/random.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from mindtorch_v2.tensor.generator import Generator, default_generator

__all__ = [
    "default_generator",
    "fork_rng",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "seed",
    "set_rng_state",
]


def manual_seed(seed: Any) -> Generator:
    """Have the same random numbers follow whenever the same ``seed`` is set."""
    return default_generator.manual_seed(int(seed))


def seed() -> int:
    """Set a seed that nobody can foresee, and answer it."""
    return default_generator.seed()


def initial_seed() -> int:
    """The seed that was set last."""
    return default_generator.initial_seed()


def get_rng_state() -> Any:
    """The state as a tensor of bytes."""
    return default_generator.get_state()


def set_rng_state(new_state: Any) -> None:
    """Continue from a state that :func:`get_rng_state` has answered."""
    default_generator.set_state(new_state)


@contextmanager
def fork_rng(
    devices: Iterable[Any] | None = None, enabled: bool = True, *, device_type: str | None = None
) -> Iterator[None]:
    """Have the state afterwards that there is now.

    There is one generator, the CPU's: RuntimeError for ``devices`` of another ``device_type``.
    """
    if not enabled or device_type == "meta":
        yield
        return
    if devices is not None and list(devices):
        raise RuntimeError(
            "mindtorch_v2 has no generators of devices; use fork_rng(devices=[]) for the CPU's"
        )
    state = get_rng_state()
    try:
        yield
    finally:
        set_rng_state(state)
