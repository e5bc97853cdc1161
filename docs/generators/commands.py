"""The commands, from the objects that click runs."""

from __future__ import annotations

import inspect
import re

import click

from agentool_otel.cli._main import main as group
from generators.text import cell, prose

__all__ = ["commands"]

_BARS = "\\|"  # a bar in a cell of a table
_CODE = re.compile(
    r"`[^`]*`|(?<![\w-])--[a-z][a-z-]*[a-z]|\b[A-Z]+(?:_[A-Z]+)+\b|\.agentool(?:/\w*)*"
)


def commands() -> str:
    """Return a section for each command: usage, help, options."""
    root = click.Context(group, **group.context_settings, info_name="agentool-otel")
    return "\n".join(_section(name, root) for name in group.list_commands(root))


def _section(name: str, root: click.Context) -> str:
    command = group.get_command(root, name)
    assert command is not None
    context = click.Context(command, parent=root, info_name=name)
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    records = [it.get_help_record(context) for it in command.get_params(context)]
    options = [
        f"| `{option.replace('|', _BARS)}` | {cell(_marked(text))} |"
        for option, text in filter(None, records)
        if text
    ]
    parts = [
        f"## {name}",
        f"```text\n{usage}\n```",
        prose(_marked(inspect.cleandoc(command.help or ""))),
        prose(inspect.cleandoc(command.epilog or "")),
        "\n".join(["| option | meaning |", "| --- | --- |", *options]),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _marked(text: str) -> str:
    """Return help text with options, variables and paths as code spans; indented lines stay."""
    lines = text.splitlines()
    return "\n".join(it if it.startswith("  ") else _CODE.sub(_span, it) for it in lines)


def _span(found: re.Match[str]) -> str:
    return found[0] if found[0].startswith("`") else f"`{found[0]}`"
