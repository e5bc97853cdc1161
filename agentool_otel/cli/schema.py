"""`schema`: the JSON Schema of cases, for editors."""

from __future__ import annotations

import json

import click

from agentool_otel.evaluation.assertion_types import assertion_types
from agentool_otel.evaluation.cases.schema import generate, own_types, shipped_file, shipped_schema

__all__ = ["command"]


@click.command()
@click.option("--path", is_flag=True, help="Print where the file with it is installed.")
def command(path: bool) -> int:
    """Print the JSON Schema of cases: every assertion type with its parameters.

    Editors check and complete cases by it. In YAML the first line names the file that --path
    prints: `# yaml-language-server: $schema=PATH`; in JSON it is the member `$schema`, or an entry
    of `json.schemas` in the settings of VS Code.

    The file has the types of this package; what is printed has those of installed plug-ins, too.
    """
    if path:
        click.echo(shipped_file())
        return 0
    types = assertion_types()
    schema = shipped_schema() if types == own_types() else generate(types)
    click.echo(json.dumps(schema, indent=1, ensure_ascii=False))
    return 0
