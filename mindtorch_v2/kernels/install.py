"""Imports every module of rows, and finds kernels in them."""

from __future__ import annotations

from typing import Final

from mindtorch_v2 import kernels
from mindtorch_v2.dispatch.native import Provider
from mindtorch_v2.kernels import rows, write_back
from mindtorch_v2.kernels.modules import import_modules

_APART: Final = ("mindtorch_v2.kernels.interpreter", "mindtorch_v2.kernels.npu")
"""Packages of their own, imported when first there is use for them."""

import_modules(kernels, _APART)

find: Final[Provider] = write_back.with_write_back(rows.find, only_functional=write_back.chosen())
