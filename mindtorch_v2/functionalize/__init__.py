"""Functionalization: programs that change tensors and look at parts of them, without either.

A functional tensor wraps another one.  What would change it computes a new value for it instead;
what would be a view of it keeps how the view is made, so that changes of one find the other.  See
Note [Functionalization: Alias Removal] in ``aten/src/ATen/FunctionalTensorWrapper.cpp``.

Read in this order: :mod:`storage`, :mod:`wrapper`, :mod:`inverses`, :mod:`mutations` and
:mod:`views` (the kernels), :mod:`by_hand`, :mod:`fallback`, :mod:`layers` (functorch's stack of
transforms), :mod:`transform` (``functionalize(f)``).
"""
