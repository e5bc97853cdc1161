"""JSON Schemas of the objects, generated from their types.

    python -m agentool_otel.integrations.agent_tool.documents.schema

writes the files that ship beside it.

They are our own: the specification publishes others, which are not copied here.
"""

from __future__ import annotations

import json
import sys
from importlib import resources
from pathlib import Path
from typing import Any

from agentool_otel.ground.json_codec import loads
from agentool_otel.integrations.agent_tool.documents.objects import OBJECTS, Versioned
from agentool_otel.integrations.agent_tool.documents.vocabulary import VERSION
from agentool_otel.model import schema as of_documents

__all__ = ["generate", "shipped_schema"]


def shipped_schema(cls: type[Versioned]) -> dict[str, Any]:
    """Return the schema of an object as it ships with this package."""
    folder = resources.files("agentool_otel.integrations.agent_tool.documents") / "schemas"
    schema: dict[str, Any] = loads((folder / of_documents.file_name(cls)).read_text("utf-8"))
    return schema


def generate(cls: type[Versioned]) -> dict[str, Any]:
    """Return the schema of an object as its type and docstrings give it now; needs the source."""
    return of_documents.generate(cls, f"urn:agentool-otel:agent-tool:{{}}:{VERSION}")


def _main() -> None:
    folder = Path(__file__).with_name("schemas")
    folder.mkdir(exist_ok=True)
    for cls in OBJECTS:
        text = json.dumps(generate(cls), indent=2, ensure_ascii=False) + "\n"
        (folder / of_documents.file_name(cls)).write_text(text, encoding="utf-8")
    print(f"wrote {len(OBJECTS)} schemas to {folder}", file=sys.stderr)


if __name__ == "__main__":
    _main()
