"""Custom operators with a formula, rules for modes, and what operators without either do."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import mindtorch_v2 as torch
from mindtorch_v2 import library
from mindtorch_v2._library.autograd import supports_tensorlist
from mindtorch_v2.utils._python_dispatch import TorchDispatchMode

FALLBACK = "an autograd kernel was not registered"


class Mode(TorchDispatchMode):
    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


@pytest.fixture
def lib() -> Iterator[Any]:
    with library._scoped_library("custom", "FRAGMENT") as made:
        yield made


def custom_op(name: str, function: Any, schema: str) -> Any:
    return library.custom_op(f"custom::{name}", function, mutates_args=(), schema=schema)


# --- formulas ---------------------------------------------------------------------------------


def test_a_formula_gets_what_was_saved_and_gives_the_gradient() -> None:
    op = custom_op("sin", lambda x: torch.from_numpy(np.sin(x.numpy())), "(Tensor x) -> Tensor")
    op.register_autograd(
        lambda ctx, grad: grad * ctx.saved_tensors[0].cos(),
        setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs),
    )
    x = torch.tensor([0.0, 1.0], requires_grad=True)
    y = op(x)
    assert y.grad_fn.name() == "GeneratedBackwardFor_custom_sin_defaultBackward"
    y.sum().backward()
    assert x.grad.tolist() == x.detach().cos().tolist()


def test_lists_of_tensors_have_lists_of_gradients() -> None:
    schema = "(Tensor[] xs, Tensor y) -> Tensor[]"
    op = custom_op("pair", lambda xs, y: [each * y for each in xs], schema)
    needed = []

    def backward(ctx: Any, grads: Any) -> Any:
        needed.append(ctx.needs_input_grad)
        return [grad * 3 for grad in grads], None

    op.register_autograd(backward)
    x, z = torch.ones(2, requires_grad=True), torch.ones(2)
    sum(each.sum() for each in op([x, z], torch.ones(2))).backward()
    assert x.grad.tolist() == [3, 3]
    assert needed == [([True, False], False)]


def test_gradients_that_nest_otherwise_than_the_inputs_are_refused() -> None:
    op = custom_op("flat", lambda xs: xs[0] * 1, "(Tensor[] xs) -> Tensor")
    op.register_autograd(lambda ctx, grad: grad)
    with pytest.raises(RuntimeError, match="to be of the same structure as the inputs"):
        op([torch.ones(1, requires_grad=True)] * 2).sum().backward()


def test_without_a_formula_backward_says_so() -> None:
    op = custom_op("none", lambda x: x * 2, "(Tensor x) -> Tensor")
    y = op(torch.ones(1, requires_grad=True))
    with pytest.raises(RuntimeError, match="but no autograd formula was registered"):
        y.backward()


def test_a_function_for_lists_is_not_called_by_its_parts() -> None:
    @supports_tensorlist
    class Stack(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, xs: Any) -> Any:
            return torch.stack(xs)

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return list(grad.unbind(0))

    x = torch.ones(2, requires_grad=True)
    Stack.apply([x, x]).sum().backward()
    assert x.grad.tolist() == [2, 2]
    for part in (Stack.forward, Stack.backward):
        with pytest.raises(NotImplementedError, match="NYI: calling supports_tensorlist"):
            part(object(), x)


# --- rules ------------------------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(library, "register_torch_dispatch"), reason="not in this release")
def test_a_rule_answers_for_its_mode_and_ends_with_its_library(lib: Any) -> None:
    lib.define("ruled(Tensor x) -> Tensor")
    lib.impl("ruled", lambda x: x * 2, "CPU")
    op = torch.ops.custom.ruled
    with library._scoped_library("custom", "FRAGMENT") as made:
        library.register_torch_dispatch(
            "custom::ruled", Mode, lambda mode, func, types, args, kwargs: args[0] * 5, lib=made
        )
        with Mode():
            assert op(torch.ones(1)).tolist() == [5]
        assert op(torch.ones(1)).tolist() == [2]
    with Mode():
        assert op(torch.ones(1)).tolist() == [2]


# --- neither ----------------------------------------------------------------------------------


def test_backward_warns_of_a_kernel_that_records(lib: Any) -> None:
    lib.define("plain(Tensor x) -> Tensor")
    lib.impl("plain", lambda x: x * 2, "CPU")
    x = torch.ones(1, requires_grad=True)
    with pytest.warns(UserWarning, match=FALLBACK):
        torch.ops.custom.plain(x).backward()
    assert x.grad.tolist() == [2]


def test_nothing_is_said_in_the_mode_that_says_nothing(lib: Any) -> None:
    lib.define("quiet(Tensor x) -> Tensor")
    lib.impl("quiet", lambda x: x.detach() * 2, "CPU")
    torch._C._set_autograd_fallback_mode("nothing")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert not torch.ops.custom.quiet(torch.ones(1, requires_grad=True)).requires_grad
    finally:
        torch._C._set_autograd_fallback_mode("warn")
    with pytest.raises(RuntimeError, match="NYI: mode='error'"):
        torch._C._set_autograd_fallback_mode("error")


def test_a_library_that_goes_takes_its_kernels_along_at_once() -> None:
    def register() -> None:
        made = library.Library("custom", "FRAGMENT")
        made.define("gone(Tensor x) -> Tensor")
        made.impl("gone", lambda x: x, "CPU")

    gc.collect()
    gc.disable()
    try:
        register()
        register()  # refused while the first has its kernel
    finally:
        gc.enable()
    assert not torch._C._dispatch_has_kernel("custom::gone")
