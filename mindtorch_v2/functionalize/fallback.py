"""What functionalization does with operators that it has no kernel for.

Mirrors ``functionalizeFallback`` of ``aten/src/ATen/FunctionalizeFallbackKernel.cpp``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindtorch_v2.functionalize.rules import RuledOperator, without_functional_form
from mindtorch_v2.functionalize.storage import skip_functionalize
from mindtorch_v2.functionalize.wrapper import is_functional, synced_value, to_functional_tensor

if TYPE_CHECKING:
    from mindtorch_v2.binding.operators import Call


def functionalize_fallback(call: Call, keyset: int) -> Any:
    """Unwrap what is functional, call below, and wrap what comes of it.

    An operator that changes its arguments is called by its rule; RuntimeError for one without a
    rule, and for one that views its arguments.
    """
    schema = call.operator.schema
    rule = call.operator.entry.functionalization_rule
    if rule is not None:
        return RuledOperator(schema, rule).functionalize(call.stack)
    if any(each.alias_info is not None for each in (*schema.arguments, *schema.returns)):
        raise without_functional_form(schema)
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
