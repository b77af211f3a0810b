"""What functionalization does with operators that it has no kernel for.

Mirrors ``functionalizeFallback`` of ``aten/src/ATen/FunctionalizeFallbackKernel.cpp``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindtorch_v2.functionalize.storage import skip_functionalize
from mindtorch_v2.functionalize.wrapper import is_functional, synced_value, to_functional_tensor

if TYPE_CHECKING:
    from mindtorch_v2.binding.operators import Call


def functionalize_fallback(call: Call, keyset: int) -> Any:
    """Unwrap what is functional, call below, and wrap what comes of it.

    RuntimeError for an operator that changes or views its arguments.
    """
    schema = call.operator.schema
    if any(each.alias_info is not None for each in (*schema.arguments, *schema.returns)):
        raise RuntimeError(
            "Found a custom (non-ATen) operator whose output has alias annotations: "
            f"{schema}. We only support functionalizing operators whose outputs do not have "
            "alias annotations (e.g. 'Tensor(a)' is a Tensor with an alias annotation whereas "
            "'Tensor' is a Tensor without. The '(a)' is the alias annotation). The alias "
            "annotation specifies that the output Tensor shares storage with an input that has "
            "the same annotation. Please check if (1) the output needs to be an output (if not, "
            "don't return it), (2) if the output doesn't share storage with any inputs, then "
            "delete the alias annotation. (3) if the output indeed shares storage with an input, "
            "then add a .clone() before returning it to prevent storage sharing and then delete "
            "the alias annotation. Otherwise, please file an issue on GitHub."
        )
    arguments = zip(schema.arguments, call.stack, strict=True)
    has_tensors = any(
        value is not None and "Tensor" in str(argument.type) for argument, value in arguments
    )
    is_wrapped = any(map(is_functional, call.stack))
    below = tuple(map(synced_value, call.stack))
    with skip_functionalize():
        answer = call._replace(stack=below).run()
    if has_tensors and not is_wrapped:
        return answer
    if len(schema.returns) > 1:
        return tuple(map(to_functional_tensor, answer))
    return to_functional_tensor(answer)
