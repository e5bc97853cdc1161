"""`python -m agentool_otel` is `agentool-otel`."""

from __future__ import annotations

from agentool_otel.cli import main

if __name__ == "__main__":
    main(prog_name="agentool-otel")
