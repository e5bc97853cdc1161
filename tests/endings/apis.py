"""All APIs of the table. MCP is none of them: its requests reach tools, not a model."""

from __future__ import annotations

from tests.endings import clients, frameworks
from tests.endings.api import APIS, Api

__all__ = ["APIS", "Api", "clients", "frameworks"]
