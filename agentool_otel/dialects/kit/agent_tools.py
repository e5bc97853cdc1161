"""Tools with a meaning of their own: they hand over to an agent, run commands or change files."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["AgentTools"]


class AgentTools(NamedTuple):
    """Tools by which agents pass work to each other, and those by which they work on code.

    Of the former, a name that ends in an underscore or a space is a prefix.
    """

    handoffs: tuple[str, ...] = ()
    """Tools that hand over to another agent. Its name follows a prefix; a tool with a whole name
    has it as the argument `agent_name` or `to_agent`."""
    delegations: tuple[str, ...] = ()
    """Tools that give a task to another agent and wait for its answer."""
    agent_arguments: tuple[str, ...] = ()
    """Arguments of such tools that name the agent, besides those with an ordinary name. Of a
    delegating tool with a whole name, no other argument names it."""
    commands: tuple[tuple[str, str], ...] = ()
    """Tools that run a shell command, each with the argument that holds the command: a text, or a
    list of words."""
    edits: tuple[tuple[str, str], ...] = ()
    """Tools that change files, each with the argument that holds the path, or the text of a patch
    that names the paths."""
    views: tuple[tuple[str, str, str], ...] = ()
    """Of these tools those that can also read, each with an argument and its value where the call
    changes nothing."""
    exit_codes: tuple[tuple[str, str], ...] = ()
    """Tools that run a command, each with a regular expression for the text of its result, whose
    group is the exit code; an empty one is 0. They are tried in order, those that begin with `\\A`
    at the start of the text; of the others the last match counts."""
    zero_without_error: tuple[tuple[str, str], ...] = ()
    """Tools whose call ends in an error unless the exit code is 0, which an output without an error
    shows, each with the argument that is true where the call does not wait for the command."""
