"""Four texts that tools and models return, as results of about a kilobyte and as conversations.

What a traced call costs depends on the text: a search for secrets looks closer at quotes, dashes
and equals signs. `rows` has next to none of them; the others have what English, logs and code have.
None holds a secret, but the search takes the header in `code` for one.
"""

from __future__ import annotations

from typing import Any

__all__ = ["NAMES", "messages", "result", "texts"]

_ROWS = (
    "The harbour office keeps the tide tables of the last forty years and lends them to schools "
)
_ENGLISH = (
    "Mara's reply came late - after the second bell, \"as usual\" - and it wasn't what we'd asked "
    "for: the key point, she wrote, is who signs; the rest is a matter of taste. Compare chapter 7 "
    "(notes: pp. 41-43) with https://books.example.com/search?q=tides&page=2. In short: - one "
    "author, - two editors; no pass to the archive, no secret doors. Don't rush - they'll call. "
)
_LOG = (
    "2026-03-02T08:15:27.804Z WARN  [pool-2] conn=41e7-09 method=PUT url=/api/v2/boxes?dry=1 "
    'code=409 took=88.1ms etag="W/5c-1f" retry=2 key=box:77 agent="okhttp/4.12"\n'
    "2026-03-02T08:15:28.010Z DEBUG [pool-2] cache: hit=false ttl=300 user=guest\n"
)
_CODE = (
    "class Client:\n"
    '    def __init__(self, base: str, *, token: str = "", password: str | None = None):\n'
    '        self.headers = {"Authorization": f"Token {token}", "Accept": "application/json"}\n'
    "        self.auth = (base.user, password) if password else None\n\n"
    "    def fetch(self, key, *, retries=3):\n"
    '        url = f"{self.base}/items/{key}?limit={self.limit}"\n'
    "        return [row['id'] for row in self.get(url, headers=self.headers)['rows']]\n\n"
)
_TEXTS = {"rows": _ROWS, "english": _ENGLISH, "log": _LOG, "code": _CODE}

NAMES = tuple(_TEXTS)

_SNIPPET = {"rows": 110}
"""Characters of each of five snippets, by payload; 200 for the others."""

_MESSAGES = 20
_MESSAGE = 2_048


def _cut(name: str, start: int, length: int) -> str:
    """Return `length` characters of a text that goes on without end."""
    text = _TEXTS[name]
    start %= len(text)
    return (text * (2 + length // len(text)))[start : start + length]


def result(name: str) -> list[dict[str, Any]]:
    """Return the result of a search: five rows with a snippet of the text each."""
    length = _SNIPPET.get(name, 200)
    return [
        {
            "url": f"https://example.org/page/{number}",
            "title": f"Page {number} of the answer",
            "snippet": _cut(name, number * 61, length),
        }
        for number in range(5)
    ]


def messages(name: str) -> list[dict[str, str]]:
    """Return a conversation of 40 KB: twenty messages of a user and a model in turns."""
    return [
        {
            "role": ("user", "assistant")[number % 2],
            "content": _cut(name, number * 97, _MESSAGE),
        }
        for number in range(_MESSAGES)
    ]


def texts() -> dict[str, Any]:
    """Return every payload, as a worker takes it."""
    return {
        name: {"result": result(name), "messages": messages(name), "answer": _cut(name, 5, 400)}
        for name in NAMES
    }
