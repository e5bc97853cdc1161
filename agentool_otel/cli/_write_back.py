"""`eval --write-back`: results into the traces they judge, on disk or at an endpoint."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import click
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan

from agentool_otel.cli import _text
from agentool_otel.cli._output import collect_warnings, say
from agentool_otel.content.policy import Policy
from agentool_otel.errors import ConfigurationError
from agentool_otel.evaluation.write_back import anchor_of_document, spans_and_events
from agentool_otel.ground.environment import recordings_folder
from agentool_otel.model.documents import EvalResult, ReasoningTrace
from agentool_otel.otlp.json_encoder import encode_log, encode_spans
from agentool_otel.otlp.log_record import LogRecord
from agentool_otel.otlp.protobuf_encoder import encode_log as log_request
from agentool_otel.reading.rebuild.trace import Rebuilt
from agentool_otel.reading.sources.source import Source, files_of
from agentool_otel.tracing.export.disk.files import AppendFile, RecordingDir
from agentool_otel.tracing.export.disk.recording import SUFFIX
from agentool_otel.tracing.export.masking.logs import mask_log
from agentool_otel.tracing.export.masking.spans import Masking
from agentool_otel.tracing.export.otlp_variables import timeout_s
from agentool_otel.tracing.export.readable_spans import Readable
from agentool_otel.tracing.export.send.otlp import (
    OtlpExporter,
    OtlpTarget,
    attempts,
    batches,
    sender_of,
)

__all__ = ["Endpoint", "WriteBack", "WriteBackOptions", "takes_write_back"]

_KIND = "evaluations"
_SERVICE = "agentool-otel"
_BATCH = 512
_Command = Callable[..., int]


class WriteBackOptions(NamedTuple):
    """The options for writing results back."""

    wanted: bool
    where: str | None
    content: bool

    @contextmanager
    def open(self, source: Source, named: str | None) -> Generator[WriteBack | None]:
        """Open the writer of results, None if it was not requested.

        Args:
            source: what is judged.
            named: how the command line names it.

        Raises:
            ConfigurationError: there is no place to write to.
        """
        if not self.wanted and self.where is None:
            yield None
            return
        sink: _Sink
        if self.where is not None and "://" in self.where:
            masking = Masking(Policy(capture=True))
            sink = Endpoint(OtlpTarget.at(self.where, os.environ), masking)
        else:
            sink = _Folder(_folder(self.where) if self.where else _folder_of(source, named))
        with collect_warnings("agentool_otel.tracing.export.send.otlp"):
            try:
                yield WriteBack(sink, self.content)
            finally:
                sink.close()


def takes_write_back(command: _Command) -> _Command:
    """Add the options for writing back; the command receives them as `write_back`."""

    @wraps(command)
    def called(
        *args: Any,
        write_back: bool,
        write_back_to: str | None,
        write_back_content: bool,
        **options: Any,
    ) -> int:
        chosen = WriteBackOptions(write_back, write_back_to, write_back_content)
        return command(*args, write_back=chosen, **options)

    for option in (
        click.option(
            "--write-back-content",
            is_flag=True,
            help="Write reasons and notes back, too: they quote people and models.",
        ),
        click.option(
            "--write-back-to",
            metavar="WHERE",
            help="Write results to an OTLP endpoint instead, http://host:4318 or grpc://host:4317, "
            "or to another folder.",
        ),
        click.option(
            "--write-back",
            is_flag=True,
            help="Add the results to their traces, in a new file next to the source.",
        ),
    ):
        called = option(called)
    return called


def _folder(named: str) -> Path:
    folder = Path(named)
    if folder.exists() and not folder.is_dir():
        raise ConfigurationError(
            f"--write-back-to {named} is a file, and no file is changed"
            "; hint: name a folder, or an endpoint such as http://localhost:4318"
        )
    return folder


def _folder_of(source: Source, named: str | None) -> Path:
    """Return the folder that is read, or that of the files that are read."""
    if named is None:
        return recordings_folder()
    if Path(named).is_dir():
        return Path(named)
    files = [file for file in files_of(source) if isinstance(file, Path)]
    if not files:
        raise ConfigurationError(
            f"--write-back: {source.name} cannot be written to"
            "; hint: --write-back-to http://localhost:4318 sends results to an OTLP endpoint, "
            "--write-back-to FOLDER writes them there"
        )
    return files[0].parent


class WriteBack:
    """Writes results."""

    def __init__(self, sink: _Sink, content: bool):
        self._sink = sink
        self._content = content
        self._resource = _resource()
        self._readable = Readable()
        self._count = 0

    def add(
        self, result: EvalResult, trace: ReasoningTrace | None, rebuilt: Rebuilt | None
    ) -> None:
        """Write the result of a trace; a result without one is not written.

        Args:
            result: the result.
            trace: the trace.
            rebuilt: the same with its spans; None if it was read as a document.
        """
        if trace is None:
            return
        anchor = rebuilt.anchor if rebuilt is not None else anchor_of_document(trace)
        if anchor is not None:
            output = spans_and_events(result, anchor, self._resource, self._content)
            self._sink.put([*map(self._readable, output.spans)], output.events)
            self._count += 1

    def finish(self) -> bool:
        """Write the rest, and print a summary; return False if something could not be written."""
        self._sink.close()
        reason = self._sink.reason
        if reason is not None:
            say(f"some results could not be written back to {self._sink}: {reason}", label="error:")
            say(" hint: run this again with the same results: each is there once")
            return False
        say(f"written back to {self._sink}: {_text.count(self._count, 'result')}")
        return True


def _resource() -> Resource:
    """Return the resource of this command, or of the service that the environment names."""
    attributes = dict(Resource.create().attributes)
    attributes.pop("service.instance.id", None)  # another one for each start of the command
    if str(attributes.get("service.name")).startswith("unknown_service"):
        attributes["service.name"] = _SERVICE
    return Resource(attributes)


# --------------------------------------------------------------------------------------- where to


class _Sink(Protocol):
    reason: str | None
    """Why something could not be written; nothing is tried any more then."""

    def put(self, spans: list[ReadableSpan], events: list[LogRecord]) -> None: ...

    def close(self) -> None: ...


class _Folder:
    """A new file in a folder, created with the first result."""

    def __init__(self, folder: Path):
        self.reason: str | None = None
        self._place = RecordingDir(folder, _KIND)
        self._file: AppendFile | None = None
        self._path = folder

    def __str__(self) -> str:
        return str(self._path)

    def put(self, spans: list[ReadableSpan], events: list[LogRecord]) -> None:
        if self.reason is not None:
            return
        lines = [encode_spans(spans), *map(encode_log, events), b""]
        try:
            if self._file is None:
                self._file = self._place.open(SUFFIX)
                self._path = self._file.path
            self._file.append(b"\n".join(lines))
        except OSError as error:  # the results themselves are not lost with it
            self.reason = error.strerror or str(error)

    def close(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            file.close()


class Endpoint:
    """An OTLP receiver, which may have no place for events.

    Args:
        target: the receiver.
        masking: masks credentials; None sends spans and events as they are.
    """

    def __init__(self, target: OtlpTarget, masking: Masking | None):
        self.reason: str | None = None
        self._target = target
        self._exporter = OtlpExporter(target)
        self._logs = sender_of(target, "logs")
        self._takes_logs = True
        self._spans: list[ReadableSpan] = []
        self._events: list[LogRecord] = []
        self._masking = masking

    def __str__(self) -> str:
        return str(self._target)

    def put(self, spans: list[ReadableSpan], events: list[LogRecord]) -> None:
        if self.reason is None:
            masking = self._masking
            self._spans += spans if masking is None else map(masking, spans)
            self._events += (
                events if masking is None else (mask_log(masking, event) for event in events)
            )
            if len(self._spans) >= _BATCH:
                self._send()

    def close(self) -> None:
        self._send()
        self._exporter.shutdown()
        self._logs.close()

    def _send(self) -> None:
        spans, self._spans = self._spans, []
        events, self._events = self._events, []
        if spans and self.reason is None:
            self._exporter.export(spans)
            self.reason = self._exporter.reason
        if events and self.reason is None and self._takes_logs:
            self._send_events(events)

    def _send_events(self, events: list[LogRecord]) -> None:
        for batch in batches(map(log_request, events), self._logs.limit):
            for _, answer in attempts(self._logs, batch, timeout_s("logs")):
                if answer.unknown:
                    self._takes_logs = False  # Jaeger and Tempo; the spans say the same
                elif answer.verdict != "accepted" or answer.rejected:
                    self.reason = answer.reason
