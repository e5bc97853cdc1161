"""`help`: the help of a command, or a topic that several commands share."""

from __future__ import annotations

import click

from agentool_otel.cli._help import COMMANDS, EXTRA_TOPICS

__all__ = ["command"]


@click.command()
@click.argument("topic", required=False, metavar="[TOPIC]")
def command(topic: str | None) -> int:
    """Explain a command, or the forms of a SOURCE.

    TOPIC is a command or `source`. Without one the commands are listed.
    """
    context = click.get_current_context()
    group = context.parent
    assert group is not None
    if topic in EXTRA_TOPICS:
        click.echo(EXTRA_TOPICS[topic](), nl=False)
        return 0
    if topic is None:
        click.echo(group.get_help())
        return 0
    assert isinstance(group.command, click.Group)
    explained = group.command.get_command(group, topic)
    if explained is None:
        raise click.BadArgumentUsage(
            f"no help for {topic!r}; hint: one of {', '.join((*COMMANDS, *EXTRA_TOPICS))}", context
        )
    with click.Context(explained, info_name=topic, parent=group) as inner:
        click.echo(inner.get_help())
    return 0
