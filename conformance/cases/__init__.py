"""The areas, in the order in which reports list them."""

from conformance.area import Area
from conformance.cases import (
    autograd,
    core_ops,
    core_views,
    dispatch_table,
    keys,
    keysets,
    lookup_alias,
    missing_kernel,
    operator_binding,
    packet_binding,
    printing,
    priority,
    python_binding,
    registration,
    schema_facts,
    schema_parse,
    tensor_keys,
    tensor_operators,
    tensor_values,
    tls,
)

AREAS: tuple[Area, ...] = (
    keys.AREA,
    keysets.AREA,
    priority.AREA,
    tls.AREA,
    tensor_keys.AREA,
    tensor_values.AREA,
    printing.AREA,
    core_views.AREA,
    core_ops.AREA,
    autograd.AREA,
    schema_parse.AREA,
    schema_facts.AREA,
    operator_binding.AREA,
    packet_binding.AREA,
    python_binding.AREA,
    tensor_operators.AREA,
    lookup_alias.AREA,
    registration.AREA,
    dispatch_table.AREA,
    missing_kernel.AREA,
    missing_kernel.FALLBACKS,
)

BY_NAME: dict[str, Area] = {area.name: area for area in AREAS}
