"""Recordings: what a torch release answered, kept, so that it need not be installed.

Read in this order: ``blocks`` ties outcomes to generated cases, ``area`` is one area's outcomes as
a file, ``recording`` a release's directory of them; ``passes`` and ``recorder`` make one, ``check``
holds one against the torch that is installed.
"""
