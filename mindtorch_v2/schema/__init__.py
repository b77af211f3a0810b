"""The schema language: types, alias annotations, declarations, and their printed form.

Modules in reading order: :mod:`~mindtorch_v2.schema.types`, :mod:`~mindtorch_v2.schema.subtyping`,
:mod:`~mindtorch_v2.schema.alias_info`, :mod:`~mindtorch_v2.schema.function_schema`,
:mod:`~mindtorch_v2.schema.lexer`, :mod:`~mindtorch_v2.schema.parser` and
:mod:`~mindtorch_v2.schema.schema_info`.  Nothing here parses a stored schema on import.
"""

from mindtorch_v2.schema.alias_info import AliasInfo
from mindtorch_v2.schema.function_schema import Argument, FunctionSchema
from mindtorch_v2.schema.parser import (
    parse_name,
    parse_printed_schema,
    parse_schema,
    parse_schema_or_name,
)

__all__ = [
    "AliasInfo",
    "Argument",
    "FunctionSchema",
    "parse_name",
    "parse_printed_schema",
    "parse_schema",
    "parse_schema_or_name",
]
