"""Python argument parsing: ``torch.add(x, "y")`` and ``x.view("a")`` in torch's own words.

Modules in reading order: :mod:`~mindtorch_v2.binding.python.checks` (what a parameter takes),
:mod:`~mindtorch_v2.binding.python.parameter`, :mod:`~mindtorch_v2.binding.python.signature`,
:mod:`~mindtorch_v2.binding.python.invalid` (the message of a call that none takes),
:mod:`~mindtorch_v2.binding.python.parser`, :mod:`~mindtorch_v2.binding.python.unpack` (values for
C++), :mod:`~mindtorch_v2.binding.python.calls` (the operator that is called),
:mod:`~mindtorch_v2.binding.python.exceptions` (the rules that go by a function's name, all of
them), :mod:`~mindtorch_v2.binding.python.manual` (what torch writes by hand; with it
:mod:`~mindtorch_v2.binding.python.constructors`, :mod:`~mindtorch_v2.binding.python.sparse`,
:mod:`~mindtorch_v2.binding.python.legacy`, :mod:`~mindtorch_v2.binding.python.indexing`,
:mod:`~mindtorch_v2.binding.python.subclasses`, :mod:`~mindtorch_v2.binding.python.accessors`),
:mod:`~mindtorch_v2.binding.python.by_hand` (the list of all that),
:mod:`~mindtorch_v2.binding.python.bindings` (functions and methods by name),
:mod:`~mindtorch_v2.binding.python.properties`, :mod:`~mindtorch_v2.binding.python.tensor_types`
(classes of tensors, and how they are called).
"""
