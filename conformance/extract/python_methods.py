"""Extracts how ``torch.Tensor`` declares the methods that it writes in Python."""

import inspect
from types import FunctionType
from typing import Any

import torch

from conformance.extract import require


def extract() -> dict[str, Any]:
    """Method to its parameters, without annotations and with what its wrapper takes."""
    methods = {
        name: parameters(method)
        for name, method in sorted(vars(torch.Tensor).items())
        if isinstance(method, FunctionType)
    }
    require("split" in methods, "torch.Tensor writes no split in Python")
    return methods


def parameters(method: FunctionType) -> str:
    declared = inspect.signature(method, follow_wrapped=False)
    plain = [p.replace(annotation=p.empty) for p in declared.parameters.values()]
    return str(declared.replace(parameters=plain, return_annotation=declared.empty))
