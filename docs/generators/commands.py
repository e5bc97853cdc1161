"""The commands, from the objects that click runs."""

from __future__ import annotations

import inspect

import click

from agentool_otel.cli._main import main as group
from generators.text import cell, prose

__all__ = ["commands"]


def commands() -> str:
    """Return a section for each command: usage, help, options."""
    root = click.Context(group, info_name="agentool-otel")
    return "\n".join(_section(name, root) for name in group.list_commands(root))


def _section(name: str, root: click.Context) -> str:
    command = group.get_command(root, name)
    assert command is not None
    context = click.Context(command, parent=root, info_name=name)
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    records = [it.get_help_record(context) for it in command.get_params(context)]
    options = [f"| `{option}` | {cell(text)} |" for option, text in filter(None, records) if text]
    parts = [
        f"## {name}",
        f"```text\n{usage}\n```",
        prose(inspect.cleandoc(command.help or "")),
        prose(inspect.cleandoc(command.epilog or "")),
        "\n".join(["| option | meaning |", "| --- | --- |", *options]),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"
