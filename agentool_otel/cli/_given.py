"""Credentials in the URLs that a command was given, which no message of it may repeat.

Sources and endpoints keep them out of their own messages. Any other message may quote an argument:
of an option that takes no URL, of a command that does not exist, of a library.
"""

from __future__ import annotations

from collections.abc import Iterable

from agentool_otel.ground import lazy_re as re
from agentool_otel.ground.urls import credentials_in, without_secrets

__all__ = ["note", "without_given_secrets"]

_URL = re.compile(r"(?:(?:[A-Za-z][\w+.-]*::)*[A-Za-z][\w+.-]+:[/\\]|[/\\]{2}).*", re.DOTALL)
_secrets: list[str] = []


def note(arguments: Iterable[str]) -> None:
    """Remember the credentials of a command's arguments, and forget those of the one before."""
    secrets: set[str] = set()
    for argument in arguments:
        secrets.update(credentials_in(argument, query=False))
        if url := _URL.search(argument):
            secrets.update(credentials_in(url[0], query=not _is_of_server(url[0])))
    _secrets[:] = sorted(secrets, key=len, reverse=True)


def _is_of_server(url: str) -> bool:
    """Return whether a URL is that of a server source, whose parameters are no secrets."""
    from agentool_otel.ground.plugins import plugins

    return re.split(r"[+:]", url.lower(), maxsplit=1)[0] in plugins("agentool_otel.sources")


def without_given_secrets(text: str) -> str:
    """Return a message without the credentials of the arguments."""
    return without_secrets(text, _secrets)
