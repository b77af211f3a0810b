"""Drift: what changed between two releases of PyTorch, by rule and not by case.

``model`` has the form; ``schemas``, ``facts`` and ``outcomes`` find what changed in schemas, in the
rest of two profiles and in two recordings; ``text`` shows it.
"""
