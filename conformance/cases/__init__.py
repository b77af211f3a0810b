"""The areas, in the order in which reports list them.

The generators of schema-parse, operator-binding and packet-binding are here too; they join when
every case they draw agrees.
"""

from conformance.area import Area
from conformance.cases import keys, keysets, lookup_alias, priority, schema_facts, tensor_keys, tls

AREAS: tuple[Area, ...] = (
    keys.AREA,
    keysets.AREA,
    priority.AREA,
    tls.AREA,
    tensor_keys.AREA,
    schema_facts.AREA,
    lookup_alias.AREA,
)

BY_NAME: dict[str, Area] = {area.name: area for area in AREAS}
