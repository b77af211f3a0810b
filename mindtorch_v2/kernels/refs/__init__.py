"""Kernels at Meta that torch registers from Python, which speak with other words than C++'s.

Which operators have one, the function and its wrappers are facts of the profile (section
``refs``); a function without a body here is elementwise in its tensors.

Mirrors ``torch/_refs``, ``torch/_meta_registrations.py`` and ``torch/_decomp``.
"""
