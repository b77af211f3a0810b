"""Kernels: what operators compute, by operator and dispatch key.

``rows`` holds them, ``handle`` is how one calls another operator.  A package a backend: ``cpu``
(NumPy); ``composite`` has the operators that are made of others.
"""
