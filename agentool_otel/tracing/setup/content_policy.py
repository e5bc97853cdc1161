"""The content policy that `instrument()` applies, and its notices."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from agentool_otel.content import policy as rules
from agentool_otel.content.fitting import offload
from agentool_otel.content.fitting.fitter import Sizes, Store
from agentool_otel.errors import AgentoolError
from agentool_otel.ground import environment

__all__ = ["Going", "check", "policy", "stricter", "tightens"]


class Going(NamedTuple):
    """Destinations of content under a plan."""

    spans: str | None
    """In words."""
    logs: str | None
    """The same for log records, None if they are recorded or sent."""
    network: bool
    """Whether spans or log records leave the machine."""
    beside: Path | None
    """The folder of the recording, if spans are recorded."""
    messages: bool
    """Whether messages of model calls are log records, as in an older generation."""


def policy(
    content: bool | None,
    redact: rules.Redact | None,
    going: Going,
    environ: Mapping[str, str],
    say: Callable[[str, str, int], None],
    redact_all: bool = False,
) -> rules.Policy:
    """Return the content policy.

    Args:
        content: whether it is captured, if that was said in code.
        redact: the user's hook.
        going: where it would go.
        environ: the environment.
        say: takes a topic, words about it and a level; says each topic once.
        redact_all: whether the hook is offered every text.
    """
    requested = content if content is not None else rules.requested(environ)
    capture = not going.network if requested is None else requested
    if requested is None:
        say(f"content-{capture}", _default_notice(capture, going.spans), logging.INFO)
    on_spans, in_events = rules.places(environ)
    if capture and in_events and going.logs is not None:
        hint = (
            "is on spans alone" if on_spans else "is not captured; hint: SPAN_ONLY sets it on spans"
        )
        say(
            "events",
            f"{environment.CAPTURE} asks for events, but log records go {going.logs}: "
            f"content {hint}",
            logging.WARNING,
        )
        capture, in_events = capture and on_spans, False
    if capture and going.logs is not None and going.messages:
        say(
            "messages",
            f"{environment.GENERATION}=1.36 has messages in log records, but those go "
            f"{going.logs}: messages are on spans, under names of ours",
            logging.WARNING,
        )
    return rules.Policy(
        capture=capture,
        on_spans=on_spans,
        in_events=in_events,
        redact=redact,
        redact_all=redact_all,
        sizes=Sizes.requested(environ),
        store=_store(environ, going.beside) if capture else None,
    )


def check(environ: Mapping[str, str]) -> None:
    """Read every variable of content, so that invalid ones are known."""
    rules.requested(environ)
    Sizes.requested(environ)
    _store(environ, None)


def _default_notice(capture: bool, destination: str | None) -> str:
    if capture:
        verb, switch = "is", f"content=False or {environment.CAPTURE}=NO_CONTENT"
    else:
        verb, switch = "is not", f"content=True or {environment.CAPTURE}=SPAN_ONLY"
    return (
        f"message, argument and result content {verb} captured (spans go to {destination}); "
        f"{switch} changes that"
    )


def stricter(before: rules.Policy, after: rules.Policy) -> rules.Policy:
    """Return the policy for the time while one policy replaces another.

    The destination changes meanwhile, and what only one of the two is to have may go to either.
    """
    capture = before.capture and after.capture
    redact = after.redact or before.redact
    redact_all = after.redact_all or before.redact_all
    return msgspec.structs.replace(after, capture=capture, redact=redact, redact_all=redact_all)


def tightens(before: rules.Policy, after: rules.Policy) -> bool:
    """Return whether content captured under the earlier policy may be forbidden under the later
    one.
    """
    if after.redact is not None and after.redact is not before.redact:
        return True
    return before.capture and (not after.capture or before.on_spans > after.on_spans)


def _store(environ: Mapping[str, str], recording: Path | None) -> Store | None:
    """Return the store for content that is too large for an attribute: beside the recording by
    default."""
    default = None if recording is None else offload.Folder(recording / "content", recording)
    return environment.usable(environment.OFFLOAD, _named_store, default, environ)


def _named_store(where: str) -> Store | None:
    try:
        return None if where.lower() == "none" else offload.open_store(where)
    except (AgentoolError, OSError) as error:
        raise ValueError(f"cannot be used: {error}") from error
