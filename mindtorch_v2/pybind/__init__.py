"""What pybind11 adds to a C++ function: argument conversion, its errors, classes and enums.

``torch._C`` is made with pybind11, and much of what users read when a call fails is pybind11's.
Three modules, in reading order: :mod:`~mindtorch_v2.pybind.signature` (the text that pybind11
shows, a fact of the profile), :mod:`~mindtorch_v2.pybind.cast` (which Python values a C++ type
takes), :mod:`~mindtorch_v2.pybind.function` (calls and refusals) and
:mod:`~mindtorch_v2.pybind.classes` (classes and enums).  Mirrors ``pybind11/pybind11.h`` and
``pybind11/cast.h`` as far as torch's dispatcher bindings use them.
"""
