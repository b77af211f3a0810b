"""Extracts what ``torch.autograd`` does in this release and not in all.

``python``: what it takes, refuses and answers; ``words``: messages that releases word differently;
``node_methods``: what ``torch.autograd.graph.Node`` leaves to the classes of nodes.
"""

import re
from collections.abc import Callable
from typing import Any

import torch

from conformance.extract import require


def extract() -> dict[str, Any]:
    return {
        "python": {name: raised_by(call) is None for name, call in NEWER.items()}
        | {"grad_refuses_no_inputs": isinstance(raised_by(grad_of_nothing), RuntimeError)}
        | {"errors_name_operations": changed_tensor()[0] == "Exp"}
        | {"materialized_requires_grad": grad_of_other().requires_grad}
        | {"modes_show_themselves": "mode=True" in repr(torch.set_grad_enabled(True))}
        | {"scalar_gradients_follow_subclasses": device_of_gradient() == "meta"}
        | {"accumulation_ends_in_hooks": is_hook_called_without_gradient()}
        | {"late_hooks_are_called": is_late_hook_called()},
        "words": {
            "anomaly_advice": changed_tensor()[1],
            "unused_input": str(raised_by(grad_of_unused)).replace("index 1", "index {}"),
            "returned_as_is": str(raised_by(lambda: ReturnsItsInput.apply(leaf()))),
            "inference_saved": str(raised_by(inference_saved)),
            "changed_by_pack_hook": str(raised_by(changed_by_pack_hook)),
            "output_is_no_tensor": output_is_no_tensor(),
            "hook_without_gradient": hook_without_gradient(),
            "edge_without_node": edge_without_node(),
            "mark_dirty": refused_mark("mark_dirty"),
            "mark_non_differentiable": refused_mark("mark_non_differentiable"),
            "unapplied_function": unapplied_function(),
        },
        "node_methods": sorted(torch.autograd.graph.Node.__abstractmethods__),
    }


def changed_tensor() -> tuple[str, str]:
    """How the error about a changed tensor names its node, and the call that it advises."""
    made = leaf().exp()
    made.mul_(2)
    message = str(raised_by(made.backward))
    name, advice = re.findall(r"output 0 of (\w+),.* with (.*)\.$", message)[0]
    require(name in ("Exp", "ExpBackward0"), f"unknown name of a node: {message}")
    return name, advice


def output_is_no_tensor() -> list[str]:
    """The name of what is raised, and its message."""
    error = raised_by(lambda: torch.autograd.backward((1,), leaf()))
    return [type(error).__name__, str(error)]


def hook_without_gradient() -> list[str]:
    """The same for a hook of tensors of which one gets no gradient."""
    hook = torch.autograd.graph.register_multi_grad_hook
    error = raised_by(lambda: hook((torch.ones(1),), print))
    return [type(error).__name__, str(error)]


def edge_without_node() -> str:
    """How the first object of an edge is called that is no node."""
    edge = torch.autograd.graph.GradientEdge(3, 0)
    name, found, _ = str(raised_by(lambda: torch.autograd.grad(leaf() * 2, [edge]))).partition(
        " must be an autograd.graph.Node"
    )
    require(bool(found), f"an edge without a node is refused in other words: {name}")
    return name


def unapplied_function() -> str:
    """How a function refuses an attribute of nodes before it is applied; empty if it is a node."""
    error = raised_by(NEWER["unapplied_functions_are_nodes"])
    return "" if error is None else str(error).replace("'name'", "'{}'")


def change_saved_list() -> None:
    """Change, by an operator of lists, what was saved."""
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        x = leaf().clone()
        x.square()
        torch._foreach_mul_([x], 2.0)


def refused_mark(method: str) -> str:
    """What a context says of the second argument of a method, which is a word and no tensor."""

    class Marks(Doubled):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            getattr(ctx, method)(torch.ones(()), "word")
            return x * 2

    error = raised_by(lambda: Marks.apply(leaf()))
    require(isinstance(error, RuntimeError), f"{method} took what is no tensor: {error!r}")
    return re.sub(r"\bstr$", "{type}", str(error).replace("argument 1 ", "argument {place} "))


def inference_saved() -> None:
    with torch.inference_mode():
        made = leaf() * 2
    leaf() * made


def changed_by_pack_hook() -> None:
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.mul_(2), lambda t: t):
        leaf().exp()


def leaf() -> torch.Tensor:
    return torch.ones((), requires_grad=True)


class ReturnsItsInput(torch.autograd.Function):
    """One that torch refuses: what it returns and saves is its input."""

    @staticmethod
    def forward(x: torch.Tensor) -> torch.Tensor:
        return x

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(output)


class Doubled(torch.autograd.Function):
    """A function of the user."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return x * 2


class Overriding(torch.Tensor):
    """A class that overrides operators, and does as torch does."""

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return super().__torch_dispatch__(func, types, args, kwargs)


def device_of_gradient() -> str:
    """Where the gradient of a scalar arrives whose class overrides operators."""
    seen: list[str] = []
    x = torch.Tensor._make_subclass(Overriding, torch.ones((), device="meta"), True)
    x.register_hook(lambda grad: seen.append(grad.device.type))
    x.backward(torch.ones(()))
    return seen[0]


def grad_of_nothing() -> None:
    torch.autograd.grad(leaf() * 2, ())


def grad_of_unused() -> None:
    x = leaf()
    torch.autograd.grad(x * 2, [x, leaf()])


def grad_of_other() -> torch.Tensor:
    """The zeros that are made for an input that nothing depends on."""
    return torch.autograd.grad(leaf() * 2, leaf(), materialize_grads=True)[0]


def grad_of_edge() -> None:
    x = leaf()
    torch.autograd.grad(torch.autograd.graph.get_gradient_edge(x * 2), x, torch.ones(()))


def grad_of_dict() -> None:
    x = leaf()
    torch.autograd.grad(x * 2, {"x": x})


#: Calls that older releases refuse.
NEWER: dict[str, Callable[[], object]] = {
    "backward_takes_edges": lambda: torch.autograd.backward(
        torch.autograd.graph.get_gradient_edge(leaf() * 2), torch.ones(())
    ),
    "grad_takes_edges": grad_of_edge,
    "inputs_may_be_dict": grad_of_dict,
    "saved_lists_may_change": change_saved_list,
    "apply_takes_keywords": lambda: Doubled.apply(x=leaf()),
    "unapplied_functions_are_nodes": lambda: torch._C._FunctionBase().name(),
}


def is_hook_called_without_gradient() -> bool:
    """Whether the hooks after accumulation see a leaf too that no gradient has arrived at."""
    x = leaf()
    seen: list[Any] = []
    x.register_post_accumulate_grad_hook(seen.append)
    made = x * 2
    made.grad_fn.register_hook(lambda inputs, outputs: (None,) * len(inputs))
    made.backward()
    return bool(seen)


def is_late_hook_called() -> bool:
    """Whether a node calls hooks that come while it runs, here as it unpacks what it saved."""
    seen: list[Any] = []

    def unpack(saved: torch.Tensor) -> torch.Tensor:
        node: Any = torch._C._current_autograd_node()
        node.register_hook(lambda inputs, outputs: seen.append(outputs))
        return saved

    with torch.autograd.graph.saved_tensors_hooks(lambda saved: saved, unpack):
        leaf().exp().backward()
    require(seen in ([], [()]), f"a hook that came late was given {seen}")
    return bool(seen)


def raised_by(call: Callable[[], object]) -> Exception | None:
    try:
        call()
    except Exception as error:
        return error
    return None
