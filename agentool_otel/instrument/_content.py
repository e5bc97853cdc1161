"""What `instrument()` does about content: the policy in force, and what is said of it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from agentool_otel.emit import content as rules
from agentool_otel.emit import offload
from agentool_otel.emit.fitting import Sizes, Store

__all__ = ["Going", "policy"]


class Going(NamedTuple):
    """Where content would go."""

    spans: str | None
    """In words."""
    logs: str | None
    """The same of log records, None where somebody takes them."""
    network: bool
    """Whether either leaves the machine."""
    beside: Path | None
    """The folder of the recording, if spans are recorded."""


def policy(
    content: bool | None,
    redact: rules.Redact | None,
    going: Going,
    environ: Mapping[str, str],
    say: Callable[[str, str, int], None],
) -> rules.Policy:
    """Return what happens to content.

    Args:
        content: whether it is captured, if that was said in code.
        redact: the user's hook.
        going: where it would go.
        environ: the environment.
        say: takes a topic, words about it and a level; says each topic once.
    """
    asked = content if content is not None else rules.requested(environ)
    capture = not going.network if asked is None else asked
    if asked is None:
        how = f"content=True or {rules.CAPTURE_VARIABLE}=SPAN_ONLY"
        if capture:
            how = f"content=False or {rules.CAPTURE_VARIABLE}=NO_CONTENT"
        verb = "is" if capture else "is not"
        say(
            f"content-{capture}",
            f"message, argument and result content {verb} captured "
            f"(spans go to {going.spans}); {how} changes that",
            logging.INFO,
        )
    on_spans, in_events = rules.places(environ)
    if capture and in_events and going.logs is not None:
        kept = "is on spans alone" if on_spans else "is not captured"
        say(
            "events",
            f"{rules.CAPTURE_VARIABLE} asks for events, but log records go {going.logs}: "
            f"content {kept}",
            logging.WARNING,
        )
        capture, in_events = capture and on_spans, False
    return rules.Policy(
        capture=capture,
        on_spans=on_spans,
        in_events=in_events,
        redact=redact,
        sizes=Sizes.requested(environ),
        store=_store(environ, going.beside) if capture else None,
    )


def _store(environ: Mapping[str, str], beside: Path | None) -> Store | None:
    """Where content that is too large for an attribute is kept: beside a recording by default."""
    where = environ.get(offload.VARIABLE, "").strip()
    if where.lower() == "none":
        return None
    if where:
        return offload.open_store(where)
    return None if beside is None else offload.Folder(beside / "content")
