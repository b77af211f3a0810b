"""``detect_anomaly``: backward stops at the first nan.

Mirrors ``torch/autograd/anomaly_mode.py``; where in the forward pass the node was made is not
kept.
"""

from __future__ import annotations

import warnings

from mindtorch_v2.autograd import anomaly

_WARNING = (
    "Anomaly Detection has been enabled. This mode will increase the runtime and should only be "
    "enabled for debugging."
)


class detect_anomaly:  # noqa: N801 (torch's name)
    """Context manager that switches it on."""

    def __init__(self, check_nan: bool = True) -> None:
        self.prev = anomaly.is_anomaly_enabled(), anomaly.is_anomaly_check_nan_enabled()
        self.check_nan = check_nan
        warnings.warn(_WARNING, stacklevel=2)

    def __enter__(self) -> None:
        self.prev = anomaly.is_anomaly_enabled(), anomaly.is_anomaly_check_nan_enabled()
        anomaly.set_enabled(True, self.check_nan)

    def __exit__(self, *args: object) -> None:
        anomaly.set_enabled(*self.prev)


class set_detect_anomaly:  # noqa: N801 (torch's name)
    """Switches it on or off, at once; back at the end of a ``with``."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self.prev = anomaly.is_anomaly_enabled(), anomaly.is_anomaly_check_nan_enabled()
        anomaly.set_enabled(mode, check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *args: object) -> None:
        anomaly.set_enabled(*self.prev)
