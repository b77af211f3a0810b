"""How fast it is, and against what: ``python -m benchmarks``, or ``nox -s bench``.

- :mod:`~benchmarks.dispatch`: statements in torch and in the subject by turns, as a ratio to torch
- :mod:`~benchmarks.calls`: what calls of operators cost, the same way
- :mod:`~benchmarks.start`: time and memory of an import
- :mod:`~benchmarks.training`: a training step of a transformer block
- :mod:`~benchmarks.growth`: how cost grows with the number of operators, overloads, cases …
- :mod:`~benchmarks.suite`: a live run of the suite, and what the oracle alone needs for its cases
- :mod:`~benchmarks.pipeline`: host time per operator on the simulated Ascend runtime, eager mode
  against pipeline mode
- :mod:`~benchmarks.overlap`: wall time of a chain in a pipeline, against the device's alone

A module has ``measure(options)``, which answers a :class:`~benchmarks.results.Result`.  Each prints
a table, and keeps its figures as JSON and a picture of them in the reports' folder.
"""
