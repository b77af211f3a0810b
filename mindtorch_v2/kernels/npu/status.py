"""Status codes of ACL and ACLNN, and the exceptions that they become."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

SUCCESS: Final = 0
ALREADY_INITIALIZED: Final = 100002
NO_CONTEXT: Final = 107002
FEATURE_NOT_SUPPORTED: Final = 207000
OUT_OF_MEMORY: Final = frozenset((207001, 207018))
NULL_POINTER: Final = 161001
INVALID_ARGUMENT: Final = 161002
NO_KERNEL: Final = frozenset((561003, 561112))

_ASYNCHRONOUS: Final = range(507000, 508000)
"""Faults of the device: they belong to work that was queued earlier."""

MEANINGS: Final = {
    100000: "invalid parameter",
    100001: "ACL is not initialised",
    100002: "ACL is initialised already",
    100037: "ACL is finalised already",
    100039: "a link-time stub of the library was loaded",
    107000: "invalid parameter of a runtime call",
    107001: "invalid device id",
    107002: "the thread has no current context",
    107003: "the stream belongs to another context",
    107006: "the event's time stamp is not valid yet",
    107007: "the events' time stamps are reversed",
    107008: "the address is not aligned",
    107015: "callback not registered",
    107016: "invalid memory type",
    107017: "invalid handle",
    107018: "invalid type of allocation",
    107019: "the wait timed out",
    107020: "the task timed out",
    107022: "the device's tasks are being aborted",
    107023: "the stream is being aborted",
    148049: "the operator package's path is wrong",
    200000: "host memory could not be allocated",
    200001: "the interface is not supported",
    207000: "the feature is not supported",
    207001: "device memory could not be allocated",
    207002: "device memory could not be freed",
    207003: "AI-core overflow",
    207004: "no device",
    207005: "resources exhausted",
    207006: "no permission",
    207007: "event resources exhausted",
    207008: "stream resources exhausted",
    207018: "the device is out of memory",
    500000: "internal error",
    500001: "failure",
    500002: "graph engine failure",
    500003: "runtime failure",
    500004: "driver failure",
    507000: "internal error of the runtime",
    507001: "internal error of the task scheduler",
    507004: "the stream's work is not complete",
    507006: "the event is not complete",
    507008: "the chip's version cannot be read: driver missing, or a container without device",
    507010: "the device's heartbeat is lost",
    507011: "execution failed",
    507012: "a report timed out",
    507013: "DMA error",
    507014: "AI-core timeout",
    507015: "AI-core exception: a kernel crashed, often by a bad address or index",
    507016: "AI-core trap",
    507017: "AI-CPU timeout",
    507018: "AI-CPU exception",
    507033: "the device cannot be set up: driver and firmware differ, or it is busy",
    507034: "vector-core timeout",
    507035: "vector-core exception",
    507036: "vector-core trap",
    507042: "trap: overflow of a read (cube)",
    507043: "trap: overflow of a write (cube)",
    507044: "trap: overflow of a read (vector)",
    507045: "trap: overflow of a write (vector)",
    507046: "synchronisation of the stream timed out",
    507047: "synchronisation of the event timed out",
    507053: "device memory error",
    507054: "multi-bit ECC error",
    507055: "suspect device memory",
    507056: "link error",
    507899: "internal error of the driver",
    507900: "internal error of the AI-CPU",
    507901: "the connection to the device is closed",
    161001: "a required pointer is NULL",
    161002: "a dtype, shape, dimension, attribute or format is refused",
    361001: "a runtime call failed underneath",
    561000: "internal error of ACLNN",
    561001: "shape inference failed",
    561002: "tiling failed",
    561003: "no kernel was found",
    561101: "the executor could not be created",
    561102: "the executor was not transferred",
    561103: "an internal pointer is NULL, or a view leaves its storage",
    561107: "the operator package's path is missing (ASCEND_OPP_PATH)",
    561108: "a kernel's description cannot be read",
    561112: "the operator's kernels are not installed for this chip",
}


class AclError(RuntimeError):
    """A call of ACL or ACLNN that failed.

    ``function`` is its name, ``code`` what it answered, ``detail`` the library's own words.
    """

    def __init__(self, function: str, code: int, detail: str = "", context: str = "") -> None:
        self.function, self.code, self.detail = function, code, detail
        meaning = MEANINGS.get(code, "unknown error")
        lines = [f"NPU function error: call {function} failed, error code is {code} ({meaning})"]
        if context:
            lines.append(context)
        if detail:
            lines.append(detail)
        if code in _ASYNCHRONOUS:
            lines.append(
                "The error may come from an operator that was launched before; set "
                "ASCEND_LAUNCH_BLOCKING=1 to have each one waited for and named."
            )
        super().__init__("\n".join(lines))


class OutOfMemoryError(RuntimeError):
    """The device has no memory left (``torch.OutOfMemoryError``)."""


def check(
    code: int, function: str, recent_message: Callable[[], str], context: Callable[[], str]
) -> None:
    """AclError unless ``code`` is success; the two texts are asked for only then.

    ``recent_message`` must be asked at once and on the thread of the failed call: the library
    forgets the text when it has been read.
    """
    if code != SUCCESS:
        raise AclError(function, code, recent_message(), context())
