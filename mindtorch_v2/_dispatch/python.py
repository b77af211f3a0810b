"""The Python dispatcher's switches: ``torch._dispatch.python``.

Mirrors ``torch/_dispatch/python.py``.  While the dispatcher is on, every call asks the operator's
Python object for a kernel; see :mod:`mindtorch_v2.binding.python_fallbacks`.
"""

from __future__ import annotations

from mindtorch_v2 import _C

enable_python_dispatcher = _C._EnablePythonDispatcher
no_python_dispatcher = _C._DisablePythonDispatcher
enable_pre_dispatch = _C._EnablePreDispatch
