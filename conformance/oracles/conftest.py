"""Hands the suite's hooks and fixtures to pytest."""

from conformance.oracle import choose_profile

# The subject reads its profile when it is first imported, which the next line does.
choose_profile()

from conformance.session import (  # noqa: E402, F401 (pytest finds them by name)
    checker,
    pytest_addoption,
    pytest_collection_finish,
    pytest_collection_modifyitems,
    pytest_configure,
    pytest_generate_tests,
    pytest_report_header,
    pytest_sessionfinish,
    pytest_terminal_summary,
)
