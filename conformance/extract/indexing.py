"""Section ``indexing.json``: what of indexing tensors differs between releases.

The rules are code (``torch/csrc/autograd/python_variable_indexing.cpp``).  Here are the choices
that a release changed, each found by a call that shows it.
"""

from typing import Any

import torch

from conformance.bound import bound

INDEXED = torch.zeros(2, 3)


class Overriding:
    """An object that overrides torch's functions, and answers what they are given."""

    @classmethod
    def __torch_function__(cls, function: object, types: object, args: object) -> object:
        return args


def extract() -> dict[str, Any]:
    return {
        "skips_slices_past_the_end": skips_slices_past_the_end(),
        "overrides_in_sequences": overrides_in_sequences(),
        "overrides_get_tuple": overrides_get_tuple(),
        "reads_symbolic_steps": reads_symbolic_steps(),
        "looks_up_sizes_of_scalars": looks_up_sizes_of_scalars(),
        "masks_take_their_dimensions": masks_take_their_dimensions(),
        "assigns_numbers_as_such": assigns_numbers_as_such(),
        "compares_symbolic_places": compares_symbolic_places(),
    }


def skips_slices_past_the_end() -> bool:
    """Whether a slice that ends past its dimension takes all of it without an operator."""
    _, operator, *_ = bound(torch, INDEXED.__getitem__, (slice(0, len(INDEXED) + 1),))
    return bool(operator == "aten::alias")


def overrides_in_sequences() -> bool:
    """Whether an object in a list is asked that overrides functions."""
    try:
        return isinstance(INDEXED[[Overriding()]], tuple)
    except RuntimeError:
        return False


def overrides_get_tuple() -> bool:
    """Whether an object that overrides ``__getitem__`` gets the index as a tuple."""
    return isinstance(INDEXED[Overriding()][1], tuple)


def reads_symbolic_steps() -> bool:
    """Whether the step of a slice may be symbolic; one that is not read is nought."""
    try:
        bound(torch, INDEXED.__getitem__, slice(None, None, torch._C._get_nested_int(0, 1)))
    except ValueError as error:
        return "cannot be zero" not in str(error)
    except RuntimeError:
        pass
    return True


def compares_symbolic_places() -> bool:
    """Whether a symbolic index is held against the size of its dimension."""
    try:
        bound(torch, INDEXED.__setitem__, torch._C._get_nested_int(5, 1), 1)
    except RuntimeError:
        return True
    return False


def looks_up_sizes_of_scalars() -> bool:
    """Whether slicing looks for the size of a dimension in a tensor that has none."""
    try:
        bound(torch, torch.empty((), device="meta").__getitem__, slice(None))
    except IndexError:
        return True
    return False


def masks_take_their_dimensions() -> bool:
    """Whether what follows a mask is of the dimension after all of the mask's."""
    mask = torch.ones(2, 3, dtype=torch.bool)
    _, operator, (_, dim), _ = bound(torch, INDEXED.__getitem__, (mask, None))
    assert operator == "aten::unsqueeze"
    return bool(dim == "2")


def assigns_numbers_as_such() -> bool:
    """Whether a number that is assigned stays one, and is not made a tensor."""
    _, operator, *_ = bound(torch, torch.zeros(2, 3).__setitem__, ..., 2)
    return bool(operator == "aten::fill_.Scalar")
