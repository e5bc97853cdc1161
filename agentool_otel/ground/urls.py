"""URLs of servers: paths added, and credentials removed.

A user name, a password and query parameters are credentials, or may be: they are used, and neither
shown nor stored.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote

from agentool_otel.ground import lazy_re as re

__all__ = [
    "credentials_in",
    "printable_place",
    "with_path",
    "without_credentials",
    "without_path",
    "without_secrets",
]

_SCHEME = re.compile(r"(?:[A-Za-z][\w+.-]*::)*[A-Za-z][\w+.-]+:[/\\]+|[/\\]{2,}")
"""Beginning of a URL, also with the prefix of a cache, with one slash as in a `Path`, with
backslashes, and without a scheme.
"""
_USER_INFO = re.compile(r"[^\s/\\:@]+:[^\s/\\@]+@")
"""User name and password at the beginning of a URL that has neither scheme nor slashes."""
_SHORTEST = 4
"""Characters of a secret that is looked for in a text; a shorter one is in any text."""

_PLACE = re.compile(r"[^/@:]*(:\d*)?|\[[^\]/@]*\](:\d*)?")
"""A host and maybe a port."""


def without_credentials(url: str) -> str:
    """Return a URL without user name, password, query and fragment, however it is written."""
    head, *behind = re.split(r"[?#]", url, maxsplit=1)
    begins = _SCHEME.match(head)
    scheme = begins[0] if begins else ""
    credentials = head[len(scheme) :]
    if not _PLACE.fullmatch(credentials.partition("/")[0]):
        # A password may hold a slash, unquoted by mistake: it is none of the path's then,
        if "@" in credentials:
            credentials = credentials.rpartition("@")[2]
        # nor is a mark of the query's.
        elif behind and "@" in behind[0]:
            credentials = without_credentials(behind[0].rpartition("@")[2])
    return f"{scheme}{credentials}"


def printable_place(place: str | Path) -> str:
    """Return a path as it is, and anything that begins as a URL without its credentials."""
    text = str(place)
    begins = _SCHEME.match(text) or _USER_INFO.match(text)
    return without_credentials(text) if begins else text


def credentials_in(url: str, query: bool = True) -> list[str]:
    """Return the texts of a URL that no message may have, the longest first.

    Args:
        url: any text; what is no URL has none.
        query: whether the parameters are credentials too.
    """
    begins = _SCHEME.match(url)
    if begins is None and not _USER_INFO.match(url):
        return []
    remainder = url[begins.end() :] if begins else url
    head, *behind = re.split(r"[?#]", remainder, maxsplit=1)
    credentials: list[str] = []
    if not _PLACE.fullmatch(head.partition("/")[0]) and "@" in remainder:
        userinfo, _, after = remainder.rpartition("@")
        behind = re.split(r"[?#]", after, maxsplit=1)[1:]
        password = userinfo.partition(":")[2] or userinfo
        # What parses a URL may see, and quote, a part of it: up to a mark that is not escaped.
        credentials += [userinfo, password, *re.split(r"[/?#:@]", password)]
    if query and behind:
        credentials += [part.partition("=")[2] or part for part in behind[0].split("&")]
    credentials += [unquote(item) for item in credentials]
    return sorted({item for item in credentials if len(item) >= _SHORTEST}, key=len, reverse=True)


def without_secrets(text: str, secrets: Iterable[str]) -> str:
    """Return a text with a mark in place of each of some secrets."""
    for secret in secrets:
        text = text.replace(secret, "***")
    return text


def with_path(url: str, path: str) -> str:
    """Return a URL with a path at the end of its own, before its query."""
    head, sign, query = url.partition("?")
    return f"{head.rstrip('/')}{path}{sign}{query}"


def without_path(url: str, path: str) -> str:
    """Return a URL without a path at the end of its own, if it has that."""
    head, sign, query = url.partition("?")
    return f"{head.rstrip('/').removesuffix(path)}{sign}{query}"
