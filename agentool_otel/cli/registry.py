"""`registry`: our attribute names, for live checks by other tools."""

from __future__ import annotations

import click

from agentool_otel.semconv.weaver import registry

__all__ = ["command"]


@click.command()
def command() -> int:
    """Print our own names as a registry file of OpenTelemetry Weaver.

    Spans hold the names of the GenAI conventions and some of ours, `agentool.*` and, of calls of
    Agent Tool, `agenttool.*`. A live check calls those unknown until it reads this file:

      agentool-otel registry > your-registry/agentool.yaml
    """
    click.echo(registry(), nl=False)
    return 0
