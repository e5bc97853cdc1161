"""The process that runs regular expressions and JSON Schemas of cases, which may never end.

It is started as a script and imports nothing of this package. A request on standard input has a
time limit, a kind of work and arguments; a reply on standard output has an outcome and a value.
Where the limit is reached, the operating system ends the process: no code has to cooperate.
"""

from __future__ import annotations

import faulthandler
import json
import marshal
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from importlib import import_module
from typing import Any

_IDLE_S = 60.0
"""Seconds without work after which the process ends."""
_LARGEST = 2 << 30
"""Bytes of memory that it may have."""
_SHOWN = 200
_DATA = ("const", "default", "enum", "examples")
"""Members of a schema that hold values, not schemas."""


def compiles(pattern: str) -> str | None:
    """Return why a pattern is not a regular expression; None if it is one."""
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        return str(error)
    return None


def search(pattern: str, text: str) -> tuple[int, int] | None:
    """Return the first match of a pattern in a text."""
    match = re.search(pattern, text)
    return match and match.span()


def replace(patterns: list[tuple[str, int]], placeholder: str, text: str) -> str:
    """Return a text with a placeholder for each match of patterns, which have flags."""
    for pattern, flags in patterns:
        text = re.compile(pattern, flags).sub(placeholder, text)
    return text


def violation(schema: str, value: str) -> str | None:
    """Return the first violation of a schema, with its JSON path; None without any.

    Raises:
        ValueError: the schema is none.
    """
    worst = next(_validator(schema).iter_errors(json.loads(value)), None)
    if worst is None:
        return None
    message = worst.message if len(worst.message) <= _SHOWN else f"{worst.message[:_SHOWN]}…"
    return f"{message} - at {worst.json_path}"


def schema_fault(text: str) -> str | None:
    """Return why a text is not a usable JSON Schema; None if it is one."""
    try:
        _validator(text)
    except ValueError as error:
        return str(error)
    schema = json.loads(text)
    names = list(_references(schema))
    if not names or "$id" in text:
        return None  # names below an identifier of its own are looked for when they are needed
    referencing: Any = import_module("referencing.jsonschema")
    specification = referencing.specification_with(
        schema.get("$schema", ""), default=referencing.DRAFT202012
    )
    registry = import_module("jsonschema_specifications").REGISTRY
    resolver = registry.with_resource("", specification.create_resource(schema)).resolver()
    for name in names:
        try:
            resolver.lookup(name)
        except import_module("referencing.exceptions").Unresolvable:
            return f"$ref {name!r} is nowhere in this JSON Schema, and nothing is fetched"
    return None


def _references(schema: Any) -> Iterator[str]:
    """Yield the references of a schema."""
    waiting = [schema]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if isinstance(name := value.get("$ref"), str):
                yield name
            waiting += [value for key, value in value.items() if key not in _DATA]
        elif isinstance(value, list):
            waiting += value


@lru_cache(maxsize=256)
def _validator(text: str) -> Any:
    library: Any = import_module("jsonschema")
    schema = json.loads(text)
    kind = library.validators.validator_for(schema, default=library.Draft202012Validator)
    try:
        kind.check_schema(schema)
    except library.SchemaError as error:
        raise ValueError(f"this is no JSON Schema: {error.message}") from None
    # A registry of one's own, because the default one fetches what a schema refers to.
    return kind(schema, registry=import_module("jsonschema_specifications").REGISTRY)


_WORK: dict[str, Callable[..., Any]] = {
    item.__name__: item for item in (compiles, search, replace, violation, schema_fault)
}


def _end_after(seconds: float) -> None:
    """Let this process end by itself, whatever it does."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)
    else:
        faulthandler.dump_traceback_later(seconds, exit=True)


def _prepare() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C is for the program above
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGALRM])
    try:
        resource: Any = import_module("resource")
        resource.setrlimit(resource.RLIMIT_AS, (_LARGEST, resource.RLIM_INFINITY))
    except (ImportError, OSError, ValueError):  # not on every system, or less is allowed already
        pass


def _serve() -> None:
    requests, replies = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints must not be taken for a reply
    _end_after(_IDLE_S)
    sys.path[:] = marshal.load(requests)
    while True:
        try:
            seconds, kind, *arguments = marshal.load(requests)
        except EOFError:
            return
        _end_after(seconds)
        try:
            reply = ("value", _WORK[kind](*arguments))
        except ValueError as error:
            reply = ("ValueError", str(error))
        except Exception as error:  # of any library: it is the reason why there is no value
            reply = ("error", f"{type(error).__name__}: {error}"[:_SHOWN])
        _end_after(_IDLE_S)
        marshal.dump(reply, replies)
        replies.flush()


if __name__ == "__main__":
    _prepare()
    _serve()
