"""Dispatch keys, keysets, thread-local sets: in the order in which they are best read.

:mod:`~mindtorch_v2.dispatch.key` (what keys there are, and their priority),
:mod:`~mindtorch_v2.dispatch.keyset` (sets of them as bitmasks) and
:mod:`~mindtorch_v2.dispatch.tls` (what a thread includes and excludes).
"""

from mindtorch_v2.dispatch.key import PRIORITY, DispatchKey
from mindtorch_v2.dispatch.keyset import DispatchKeySet

__all__ = ["PRIORITY", "DispatchKey", "DispatchKeySet"]
