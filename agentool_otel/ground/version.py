"""Name and version of this distribution in the spans that it writes.

pyproject.toml has the version, too; a test compares them.
"""

__version__ = "0.1.0.dev0"

SCOPE = "agentool_otel"
"""The instrumentation scope of our spans, log records and metrics."""
