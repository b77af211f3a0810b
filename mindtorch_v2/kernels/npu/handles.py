"""What ACL makes and its caller must destroy: descriptors, and executors that have not run.

A :class:`Handles` owns what one call needs, and destroys it once, the newest first.  A list of
tensors owns its members from the moment it exists: they are handed over to it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Final

from mindtorch_v2.kernels.npu import libraries, runtime

_MADE_AND_DESTROYED: Final = {
    "aclCreateTensor": "aclDestroyTensor",
    "aclCreateScalar": "aclDestroyScalar",
    "aclCreateIntArray": "aclDestroyIntArray",
    "aclCreateBoolArray": "aclDestroyBoolArray",
    "aclCreateTensorList": "aclDestroyTensorList",
}


class Handles:
    """Descriptors that live and die together; a context manager, closed by its finaliser at last.

    RuntimeError from the methods that make one if the library refuses.
    """

    __slots__ = ("_owned",)

    def __init__(self) -> None:
        self._owned: list[tuple[str, int]] = []

    def __enter__(self) -> Handles:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def __del__(self) -> None:
        if self._owned:
            self.close()

    def close(self) -> None:
        """Destroy everything; again does nothing.  After the runtime there is nothing to do.

        What destroying answers is not looked at: a finaliser could not act on it.
        """
        owned, self._owned = self._owned, []
        if runtime.is_started():
            for destroy, address in reversed(owned):
                libraries.function(destroy)(address)

    def make(self, function: str, *arguments: object) -> int:
        """A descriptor by the function that makes it; RuntimeError where that answers NULL."""
        address: int | None = libraries.function(function)(*arguments)
        if not address:
            raise RuntimeError(f"{function} answered NULL: {runtime.recent_message()}")
        self._owned.append((_MADE_AND_DESTROYED[function], address))
        return address

    def own_executor(self, address: int) -> None:
        """Destroy an executor too, which nobody is going to run."""
        self._owned.append(("aclDestroyAclOpExecutor", address))

    def disown(self, address: int) -> None:
        """Somebody else destroys it."""
        self._owned = [each for each in self._owned if each[1] != address]

    def make_tensor_list(self, members: Sequence[int]) -> int:
        """A list of tensors that are here, which it takes over."""
        array = (ctypes.c_void_p * len(members))(*members)
        made = self.make("aclCreateTensorList", array, len(members))
        for member in members:
            self.disown(member)
        return made
