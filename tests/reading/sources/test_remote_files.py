"""Files of spans wherever fsspec can read; here, its file system in memory."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec  # type: ignore[import-untyped] # ships no types
import pytest

from agentool_otel.errors import (
    MissingDependencyError,
    SourceDenied,
    SourceError,
    SourceUnreachable,
)
from agentool_otel.reading.sources.files.span_files import SpanFiles
from agentool_otel.reading.sources.opening import open_source

RECORDING = (
    Path(__file__).parents[2] / "fixtures" / "spans" / "koog-agents-jvm-0.5.4-events.koog.jsonl"
)


@pytest.fixture(name="store")
def _store() -> Iterator[Any]:
    system = fsspec.filesystem("memory")
    yield system
    system.rm("/", recursive=True)


def test_a_folder_a_file_and_a_pattern_read_as_on_disk(store: Any) -> None:
    text = RECORDING.read_bytes()
    store.pipe("/runs/a.jsonl", text)
    store.pipe("/runs/deep/b.jsonl.gz", gzip.compress(text))
    store.pipe("/runs/notes.txt", b"hello")
    spans = list(open_source(RECORDING).spans())
    assert list(open_source("memory://runs/a.jsonl").spans()) == spans
    assert list(open_source("memory://runs").spans()) == [*spans, *spans]
    assert list(open_source("memory://runs/*.jsonl").spans()) == spans


def test_a_source_is_read_from_its_beginning_each_time(store: Any) -> None:
    store.pipe("/a.jsonl", RECORDING.read_bytes())
    source = open_source("memory://a.jsonl")
    first = next(source.spans())
    assert next(source.spans()) == first
    assert len(list(source.spans())) == len(list(source.spans()))
    assert isinstance(source, SpanFiles)
    assert source.bytes_total == source.bytes_read == len(RECORDING.read_bytes())


def test_an_error_about_an_empty_place_names_the_search(store: Any) -> None:
    with pytest.raises(SourceUnreachable, match=r"nothing to read in memory://none \(looked for"):
        open_source("memory://none")


def refuse(error: Exception) -> Any:
    def fail(*_: Any, **__: Any) -> Any:
        raise error

    return fail


@pytest.mark.parametrize(
    ("error", "kind", "said"),
    [
        (PermissionError("Access Denied"), SourceDenied, "may not be read: Access Denied"),
        (RuntimeError("no route"), SourceUnreachable, "cannot be read: no route"),
        (ImportError("Install s3fs"), MissingDependencyError, "not installed: Install s3fs"),
    ],
)
def test_file_system_errors_name_the_place_without_credentials(
    store: Any, monkeypatch: pytest.MonkeyPatch, error: Exception, kind: type, said: str
) -> None:
    monkeypatch.setattr(type(store), "isfile", refuse(error))
    with pytest.raises(kind, match=f"memory://x .*{said}") as raised:
        open_source("memory://user:secret@x?token=secret")
    assert "secret" not in str(raised.value)


def test_a_broken_connection_keeps_what_was_read(
    store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.pipe("/a.jsonl", RECORDING.read_bytes())
    source = open_source("memory://a.jsonl")
    complete = RECORDING.read_bytes()
    half = complete[: complete.index(b"\n") + 1] if b"\n" in complete[:-1] else complete

    class Breaking:
        def __init__(self) -> None:
            self._parts = [half]

        def read(self, size: int) -> bytes:
            if not self._parts:
                raise RuntimeError("reset by peer")
            data = self._parts[0][:size]
            self._parts[0] = self._parts[0][size:]
            if not self._parts[0]:
                self._parts.clear()
            return data

        def close(self) -> None: ...

    monkeypatch.setattr(type(store), "_open", lambda *_, **__: Breaking())
    assert list(source.spans())
    assert "RuntimeError: reset by peer" in str(source.problems)


def test_without_fsspec_the_error_has_the_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentool_otel.reading.sources.opening.is_remote", lambda _: False)
    with pytest.raises(SourceError, match=r"pip install .*\[remote\]"):
        open_source("s3://bucket/runs")
