"""URLs of servers: with a path put on, and without what only the server is to know.

A user name, a password and query parameters are credentials, or may be: they are used, and neither
shown nor stored.
"""

from __future__ import annotations

import re

__all__ = ["with_path", "without_credentials", "without_path"]

_PLACE = re.compile(r"[^/@:]*(:\d*)?|\[[^\]/@]*\](:\d*)?")
"""A host and maybe a port."""


def without_credentials(url: str) -> str:
    """Return a URL without user name, password, query and fragment, however it is written."""
    head, *behind = re.split(r"[?#]", url, maxsplit=1)
    scheme, sign, rest = head.partition("://")
    if not sign:
        scheme, rest = "", head
    if not _PLACE.fullmatch(rest.partition("/")[0]):
        # A password may hold a slash, unquoted by mistake: it is none of the path's then,
        if "@" in rest:
            rest = rest.rpartition("@")[2]
        # nor is a mark of the query's.
        elif behind and "@" in behind[0]:
            rest = without_credentials(behind[0].rpartition("@")[2])
    return f"{scheme}{sign}{rest}"


def with_path(url: str, path: str) -> str:
    """Return a URL with a path at the end of its own, before its query."""
    head, sign, query = url.partition("?")
    return f"{head.rstrip('/')}{path}{sign}{query}"


def without_path(url: str, path: str) -> str:
    """Return a URL without a path at the end of its own, where it has that."""
    head, sign, query = url.partition("?")
    return f"{head.rstrip('/').removesuffix(path)}{sign}{query}"
