"""Spans and log records of dead processes that wait to be sent to an endpoint, and their removal.

No limit removes them, and no other command: whoever names the endpoint decides.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from agentool_otel.ground.environment import Signal
from agentool_otel.tracing.export.disk.frames import Stretches, read_spool, span_id_of
from agentool_otel.tracing.export.disk.leftovers import (
    RECORDING,
    Damaged,
    Leftovers,
    RecoveryReport,
    remains_in,
)
from agentool_otel.tracing.export.disk.spool import SUFFIXES

__all__ = ["Unsent", "others_waiting", "unsent_in"]

_READ = 4 << 20


class Unsent(NamedTuple):
    """Spans and log records that one dead process could not send."""

    files: tuple[Path, ...]
    spans: int
    """Spans in the spool, spans that the endpoint has refused, and those that were open."""
    logs: int
    """Log records, likewise."""


def unsent_in(
    folder: Path, address: str, report: RecoveryReport, discard: bool = False
) -> list[Unsent]:
    """Return what dead processes could not send to an endpoint.

    Args:
        folder: where it waits.
        address: the endpoint, as journals have it.
        report: takes what cannot be read or removed, and stays.
        discard: whether to remove it.
    """
    unsent: list[Unsent] = []
    for remains in remains_in(folder, report):
        if remains.destination.address.rstrip("/") != address.rstrip("/"):
            continue
        with report.handling(remains):
            files = tuple(_files(remains))
            spans, logs = _count(remains, "traces"), _count(remains, "logs")
            if discard:
                remains.discard(files)
            unsent.append(Unsent((*files, remains.path), spans, logs))
    return unsent


def others_waiting(folder: Path) -> list[str]:
    """Return the endpoints that something waits for."""
    waiting = remains_in(folder, RecoveryReport(folder))
    addresses = (remains.destination for remains in waiting)
    return list(dict.fromkeys(item.endpoint for item in addresses if item.address != RECORDING))


def _files(remains: Leftovers) -> Iterator[Path]:
    for suffixes in SUFFIXES.values():
        for suffix in suffixes:
            path = remains.sibling(suffix)
            if os.path.lexists(path):
                yield path


def _count(remains: Leftovers, signal: Signal) -> int:
    """Return how many spans or log records wait, as far as their files can be read."""
    waiting, refused = map(remains.sibling, SUFFIXES[signal])
    number = 0
    sent = Stretches()
    with suppress(OSError, Damaged):
        sent = remains.sent_stretches(signal)
    ended: list[str] = []
    for path in (waiting, refused):
        with suppress(OSError):
            for stretch in read_spool(path, _READ):
                position = stretch.start
                for item in stretch.spans:
                    if signal == "traces":
                        ended.append(span_id_of(item))
                    number += path is refused or position not in sent
                    position += 4 + len(item)
    if signal == "traces":
        with suppress(Damaged):
            number += sum(1 for _ in remains.unfinished(ended))
    return number
