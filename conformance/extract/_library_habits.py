"""What ``torch.library`` does where releases do differently, each asked of the release."""

import gc
import inspect
import weakref
from collections.abc import Callable
from types import GenericAlias
from typing import Any

import torch
from torch import _C as C
from torch import library
from torch._library import simple_registry

from conformance.extract import said, takes
from conformance.extract._hints import (
    hinted,
    inferred,
    plain,
    refusal,
    with_many,
    with_object,
    with_single_tuple,
    with_text,
    with_tuple,
    without_return,
)
from conformance.extract._library_calls import (
    NAMESPACE,
    SCHEMA,
    custom_op,
    fake_impl_holder,
    py_impl,
    scoped,
)


def forgets_packets_of_lost_libraries() -> bool:
    made = library.Library(NAMESPACE, "FRAGMENT")
    made.define(f"lost{SCHEMA}")
    namespace = getattr(torch.ops, NAMESPACE)
    _ = namespace.lost
    del made
    gc.collect()
    found = "lost" in vars(namespace)
    vars(namespace).pop("lost", None)
    return not found


def forgets_names() -> bool:
    with library._scoped_library(NAMESPACE, "FRAGMENT") as made:
        made.define(f"listed{SCHEMA}")
        namespace = getattr(torch.ops, NAMESPACE)
        _ = namespace.listed
    return "listed" not in namespace._dir


def runs_function_without_grad() -> bool:
    called: list[object] = []
    with library._scoped_library(NAMESPACE, "FRAGMENT") as made:
        made.define(f"f{SCHEMA}")
        made.impl("f", lambda x: x.clone(), "CPU")
        library.register_autograd(
            f"{NAMESPACE}::f",
            lambda ctx, grad: grad,
            setup_context=lambda ctx, inputs, output: called.append(1),
            lib=made,
        )
        getattr(torch.ops, NAMESPACE).f(torch.ones(1))
    return bool(called)


def counts_gradients() -> bool:
    """Whether it is an operator's own error that its formula returns too many gradients."""
    function = library.custom_op(f"{NAMESPACE}::g", lambda x: x + 1, mutates_args=(), schema=SCHEMA)
    function.register_autograd(lambda ctx, grad: (grad, grad))
    try:
        function(torch.ones(1, requires_grad=True)).backward()
    except RuntimeError as error:
        return "The backward formula" in str(error)
    return False


def own_library_of_fakes() -> bool:
    holder: Any = fake_impl_holder()
    return "lib" not in inspect.signature(holder.register).parameters


def aliases_in_tuples() -> bool:
    """Whether a tuple among results is searched for tensors that are inputs too."""
    function = library.custom_op(
        f"{NAMESPACE}::g",
        lambda x: ((x,), x.clone()),
        mutates_args=(),
        schema="(Tensor x) -> (Tensor[], Tensor)",
    )
    return not takes(lambda: function(torch.ones(1)))


def excludes_inplace_or_view() -> bool:
    """Whether the kernel of a mutating operator runs with ADInplaceOrView excluded."""
    found: list[bool] = []
    function = library.custom_op(
        f"{NAMESPACE}::g",
        lambda x: found.append(
            C._dispatch_tls_is_dispatch_key_excluded(C.DispatchKey.ADInplaceOrView)
        ),
        mutates_args=("x",),
        schema="(Tensor(a!) x) -> ()",
    )
    function(torch.ones(1))
    return found == [True]


def keeps_custom_op() -> bool:
    """Whether a mutating operator is alive while a kernel is registered that it alone had."""
    name = f"{NAMESPACE}::g"
    schema = "(Tensor(a!) x) -> ()"
    first = library.custom_op(name, lambda x: None, mutates_args=("x",), schema=schema)
    kept = weakref.ref(first)
    del first
    second = library.custom_op(name, lambda x: None, mutates_args=(), schema="(Tensor x) -> ()")
    gc.collect()
    del second
    return kept() is not None


HABITS: dict[str, Callable[[], bool]] = {
    "a library that is lost takes its packets along": forgets_packets_of_lost_libraries,
    "a destroyed operator leaves its namespace's listing": forgets_names,
    "autograd's Function runs even where nothing requires grad": runs_function_without_grad,
    "gradients of custom operators are counted": counts_gradients,
    "a fake impl has a library of its own": own_library_of_fakes,
    "a kernel of a device without tensors needs a device": lambda: not takes(
        lambda: custom_op(schema="(int x) -> Tensor", device_types="cpu")
    ),
    "an operator that views may answer an alias": lambda: takes(
        lambda: library.custom_op(
            f"{NAMESPACE}::g",
            lambda x: x.view(-1),
            mutates_args=(),
            schema="(Tensor(a) x) -> Tensor(a)",
        )(torch.ones(1))
    ),
    "an operator that views may have an autograd formula": lambda: takes(
        lambda: library.register_autograd(
            library.custom_op(
                f"{NAMESPACE}::g", lambda x: x, mutates_args=(), schema="(Tensor(a) x) -> Tensor(a)"
            ),
            lambda ctx, grad: grad,
        )
    ),
    "a subclass of tensors may have a rule of an operator": lambda: takes(
        scoped(py_impl(torch.Tensor))
    ),
    "a fake impl of an operator of C++ needs a module that C++ names": (
        torch._library.utils.requires_set_python_module
    ),
    "register_autocast asks for the device's key": lambda: "Expected one of"
    in said(lambda: library.register_autocast("aten::abs", "nosuch", torch.float16)),
    "an operator's entry checks its name": lambda: not takes(
        lambda: simple_registry.singleton.find("nosuch::nosuch::f")
    ),
    "register_kernel wraps what it registers": lambda: takes(
        scoped(lambda made: library.register_kernel(f"{NAMESPACE}::f", "cpu", 1, lib=made))
    ),
    "aliases are looked for in tuples of results": aliases_in_tuples,
    "a mutating custom op runs with ADInplaceOrView excluded": excludes_inplace_or_view,
    "the kernels of a mutating custom op keep it alive": keeps_custom_op,
    "custom_op takes a tag that is in no list": lambda: takes(
        lambda: custom_op(tags=torch.Tag.core)
    ),
    "infer_schema reads hints that are text": lambda: takes(hinted("int")),
    "infer_schema reads text in hints": lambda: takes(hinted(GenericAlias(list, ("int",)))),
    "infer_schema asks every hint for its origin": lambda: "__origin__" in refusal(with_object),
    "infer_schema lists mutations first": lambda: "iterable" in refusal(with_many, 1),
    "infer_schema advises lists for tuples": lambda: "Tuple inputs" in refusal(with_tuple),
    "infer_schema takes text for a default": lambda: takes(lambda: inferred(with_text)),
    "infer_schema knows unknown mutations": lambda: takes(lambda: inferred(plain, "unknown")),
    "infer_schema misses return annotations": lambda: "No return type" in refusal(without_return),
    "infer_schema marks a tuple of one": lambda: inferred(with_single_tuple).endswith("((SymInt))"),
}
