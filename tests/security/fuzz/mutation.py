"""Changes to input that is well formed: to its bytes, and to the JSON in it."""

from __future__ import annotations

import copy
import json
from random import Random
from typing import Any

ODD_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**63, 2**64, -(2**70), 10**400, 1.5, -0.0, 1e308,
    "", "0", "-1", "1e999", "NaN", "null", "[]", "{}", '{"a":', "a" * 3000, "\x00", "\x1b[2J",
    "\u202e\u200b\U000e0041", "\ud800", "x\nerror: FAKE", "../../etc/passwd", "zz", "f" * 32,
    "99999999999999999999999999", [], {}, [[]], [None], [{}], {"": ""}, {"stringValue": 7},
    {"intValue": "x"}, {"arrayValue": {"values": None}}, {"kvlistValue": {"values": [{}]}},
)  # fmt: skip
ODD_BYTES = (
    b"", b"\0", b"\n", b"\r\n", b"{", b"}", b"[", b"]", b'"', b"\\", b"\\u0000", b"\\ud800", b",",
    b"\xff\xfe", b"\xef\xbb\xbf", b"\x1f\x8b", b"-", b"1e999", b"9" * 400, b"[" * 300,
    b'{"a":' * 200, b"null", b"\x80" * 12, b"\r\n\r\n", b"HTTP/1.1 100 Continue\r\n\r\n",
    b"content-length: -1\r\n",
    b"transfer-encoding: chunked\r\n", b"retry-after: nan\r\n", b"\x1b]0;x\x07", b"ffffffff\r\n",
)  # fmt: skip
_DEEPEST = 400


def mutated(data: bytes, random: Random) -> bytes:
    """Return bytes with some changes of either kind; JSON lines stay lines mostly."""
    if random.random() < 0.6:
        data = _lines(data, random)
    for _ in range(random.choice((0, 0, 1, 1, 2, 5))):
        data = _bytes(data, random)
    return data


def _lines(data: bytes, random: Random) -> bytes:
    lines = data.split(b"\n")
    at = random.randrange(len(lines))
    try:
        value = json.loads(lines[at])
    except ValueError:
        return data
    for _ in range(random.choice((1, 1, 2, 4))):
        value = _value(value, random)
    ascii_only = random.random() < 0.5
    text = json.dumps(value, ensure_ascii=ascii_only).encode(errors="surrogatepass")
    lines[at : at + 1] = [text] * random.choice((1, 1, 1, 2))
    return b"\n".join(lines)


def _value(value: Any, random: Random) -> Any:
    """Return a JSON value with one change somewhere in it."""
    if isinstance(value, str) and value[:1] in ("{", "[") and random.random() < 0.5:
        try:
            return json.dumps(_value(json.loads(value), random))
        except ValueError:
            pass
    inner: list[Any] = list(value) if isinstance(value, (dict, list)) else []
    holder: Any = value
    if not inner or random.random() < 0.1:
        return _odd(value, random)
    key = random.choice(inner) if isinstance(value, dict) else random.randrange(len(inner))
    how = random.random()
    if how < 0.75:
        holder[key] = _value(holder[key], random)
    elif how < 0.85:
        del holder[key]
    elif isinstance(value, list):
        holder[key:key] = [holder[key]] * random.choice((1, 3, 50))
    else:
        holder[str(random.choice(ODD_VALUES))[:100]] = holder[key]
    return value


def _odd(value: Any, random: Random) -> Any:
    if random.random() < 0.1:
        for _ in range(random.randrange(_DEEPEST)):
            value = [value] if random.random() < 0.5 else {"a": value}
        return value
    return copy.deepcopy(random.choice(ODD_VALUES))


def _bytes(data: bytes, random: Random) -> bytes:
    at = random.randrange(len(data) + 1)
    end = min(len(data), at + random.choice((0, 1, 1, 4, 60)))
    how = random.random()
    if how < 0.15:
        return data[:at]
    if how < 0.35:
        return data[:end] + data[at:]
    if how < 0.5:
        return data[:at] + bytes([random.randrange(256)]) + data[at + 1 :]
    return data[:at] + random.choice(ODD_BYTES) + data[end:]
