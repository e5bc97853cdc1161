"""Large values are shortened to valid JSON, stored in full if there is a store, and restored."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import agentool_otel
from agentool_otel.content.fitting.fitter import Sizes, fit
from agentool_otel.content.fitting.offload import Folder, open_store
from agentool_otel.content.fitting.shortening import shorten
from agentool_otel.content.policy import Policy
from agentool_otel.loading import rebuild
from agentool_otel.otlp.json_encoder import encode_spans
from agentool_otel.reading.sources.offloaded import restore_texts
from agentool_otel.reading.sources.opening import open_source
from agentool_otel.semconv import agentool, gen_ai
from agentool_otel.tracing.spans.settings import settings

LARGE = {"rows": [{"id": i, "text": "x" * 50} for i in range(200)]}


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=200),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    ),
    st.integers(100, 1000),
)
def test_a_shortened_value_is_valid_json_that_fits(value: Any, most: int) -> None:
    short = shorten(json.dumps(value), most)
    json.loads(short)
    assert len(short.encode("utf-8", "surrogatepass")) <= most


def test_messages_keep_their_shape() -> None:
    messages = [{"role": "user", "parts": [{"type": "text", "content": "x" * 9000}]}]
    [message] = json.loads(shorten(json.dumps(messages), 1000))
    [part] = message["parts"]
    assert (message["role"], part["type"]) == ("user", "text")
    assert part["content"].endswith("… [truncated: 9000 characters]")


def test_one_huge_member_leaves_the_others_whole() -> None:
    value = {"huge": ["x" * 9000], "a": [1, 2], "b": "small", "c": {"d": None}}
    short = json.loads(shorten(json.dumps(value), 500))
    assert {**short, "huge": ["x" * 9000]} == value
    assert len(short["huge"][0]) > 300


def test_of_too_many_members_the_first_are_kept_with_the_total_count() -> None:
    short = json.loads(shorten(json.dumps(list(range(5000))), 1000))
    assert short[:-1] == list(range(len(short) - 1))
    assert short[-1] == {"$truncated": "bytes", "$length": 5000}
    short = json.loads(shorten(json.dumps({str(n): n for n in range(5000)}), 1000))
    assert (short["0"], short["$truncated"], short["$length"]) == (0, "bytes", 5000)


@pytest.mark.parametrize("text", ["é" * 3000, '"' * 3000, "\n" * 3000, "a" * 3000])
def test_a_text_that_grows_when_escaped_fits_too(text: str) -> None:
    short = shorten(json.dumps({"a": text}), 500)
    assert len(short.encode()) <= 500
    assert json.loads(short)["a"].endswith("… [truncated: 3000 characters]")


@pytest.mark.parametrize("text", ['{"\\ud800":"' + "x" * 900 + '"}', "[" * 10**6 + "]" * 10**6])
def test_json_that_cannot_be_parsed_leaves_a_mark(text: str) -> None:
    assert json.loads(shorten(text, 100)) == {"$truncated": "bytes", "$length": len(text)}


def test_what_was_shortened_before_is_not_shortened_again() -> None:
    class Counting:
        stored = 0

        def put(self, digest: str, data: bytes) -> str | None:
            self.stored += 1
            return "there"

        def put_chunks(self, digest: str, size: int, chunks: Iterable[Any]) -> str | None:
            raise AssertionError("no media")

    store = Counting()
    arguments, result = json.dumps("a" * 5000), json.dumps("r" * 5000)
    opening: dict[str, Any] = {gen_ai.TOOL_CALL_ARGUMENTS: arguments}
    cuts = fit(opening, Sizes(attribute=1000), store)
    ending: dict[str, Any] = {
        gen_ai.TOOL_CALL_ARGUMENTS: arguments,
        gen_ai.TOOL_CALL_RESULT: result,
    }
    fit(ending, Sizes(attribute=1000), store, cuts)
    assert store.stored == 2
    assert ending[gen_ai.TOOL_CALL_ARGUMENTS] is opening[gen_ai.TOOL_CALL_ARGUMENTS]
    assert len(json.loads(ending[agentool.CONTENT_SHORTENED])) == 2


def test_what_fits_is_left_alone() -> None:
    attributes = {gen_ai.TOOL_CALL_RESULT: json.dumps(LARGE)}
    before = dict(attributes)
    fit(attributes, Sizes(), None)
    assert attributes == before


def test_the_original_length_is_on_the_span() -> None:
    attributes: dict[str, Any] = {gen_ai.TOOL_CALL_RESULT: "é" * 5000}
    fit(attributes, Sizes(attribute=1000), None)
    note = json.loads(attributes[agentool.CONTENT_SHORTENED])[gen_ai.TOOL_CALL_RESULT]
    assert (note["bytes"], len(note["sha256"])) == (10_000, 64)


def test_a_span_over_its_budget_loses_history_before_answers() -> None:
    text = json.dumps("x" * 5000)
    attributes: dict[str, Any] = {gen_ai.OUTPUT_MESSAGES: text, gen_ai.INPUT_MESSAGES: text}
    fit(attributes, Sizes(span=8000), None)
    assert attributes[gen_ai.OUTPUT_MESSAGES] == text
    assert list(json.loads(attributes[agentool.CONTENT_SHORTENED])) == [gen_ai.INPUT_MESSAGES]


@pytest.mark.parametrize(
    ("said", "sizes"),
    [
        ({}, Sizes()),
        ({"AGENTOOL_MAX_ATTRIBUTE_BYTES": "1000"}, Sizes(attribute=1000)),
        ({"AGENTOOL_MAX_SPAN_BYTES": "1000"}, Sizes(attribute=1000, span=1000)),
        ({"AGENTOOL_MAX_ATTRIBUTE_BYTES": "much"}, Sizes()),
    ],
)
def test_the_environment_sets_the_size_limits(said: dict[str, str], sizes: Sizes) -> None:
    assert Sizes.requested(said) == sizes


def test_a_text_is_stored_once_and_readable_by_its_owner_only(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        store = Folder(tmp_path / "content")
        assert store.put("ab", b"data") == store.put("ab", b"data")
    finally:
        os.umask(before)
    [file] = (tmp_path / "content").glob("[!.]*")
    assert (file.name, file.read_bytes()) == ("ab", b"data")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_an_unwritable_store_loses_the_whole_text_but_not_the_call(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    store = Folder(tmp_path / "file")
    assert store.put("ab", b"data") is None
    assert store.put("cd", b"data") is None
    assert len(caplog.records) == 1


def _recorded(spans: Any, store: Any, path: Path, result: Any = LARGE) -> Any:
    @agentool_otel.tool
    def search(query: str) -> Any:
        return result

    settings.configure(policy=Policy(capture=True, sizes=Sizes(attribute=1000), store=store))
    with agentool_otel.run("r"):
        search("q")
    path.write_bytes(encode_spans(spans.finished()))
    [rebuilt] = rebuild(open_source(path).spans())
    return rebuilt


def _output(rebuilt: Any) -> Any:
    [output] = [s["tool_result"]["output"] for s in rebuilt.trace.to_dict()["steps"][1:]]
    return output


def test_stored_text_is_restored_when_spans_are_read(spans: Any, tmp_path: Path) -> None:
    rebuilt = _recorded(spans, Folder(tmp_path / "content"), tmp_path / "t.jsonl")
    assert _output(rebuilt) == LARGE
    assert "truncated" not in rebuilt.fidelity.summary()


def test_a_store_may_be_any_fsspec_url(
    spans: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("fsspec")
    monkeypatch.setenv("AGENTOOL_OFFLOAD", "memory://content")
    rebuilt = _recorded(spans, open_store("memory://content"), tmp_path / "t.jsonl")
    assert _output(rebuilt) == LARGE


@pytest.mark.parametrize("damage", ["gone", "changed"])
def test_stored_text_with_another_hash_is_reported_as_truncated(
    spans: Any, tmp_path: Path, damage: str
) -> None:
    class Damaging(Folder):
        def put(self, digest: str, data: bytes) -> str | None:
            return super().put(digest, data[::-1]) if damage == "changed" else "/nowhere"

    result = {**LARGE, "stored": damage}  # as no other test has stored it
    rebuilt = _recorded(spans, Damaging(tmp_path / "content"), tmp_path / "t.jsonl", result)
    assert _output(rebuilt) != result
    assert rebuilt.fidelity.summary()["truncated"] >= 1


def test_a_span_file_cannot_make_its_reader_open_connections() -> None:
    note = {"bytes": 1, "sha256": "0" * 64, "stored": "http://127.0.0.1:9/x"}
    texts = {"a": "short", agentool.CONTENT_SHORTENED: json.dumps({"a": note})}
    assert restore_texts(texts) is texts


def test_at_a_low_attribute_limit_content_is_dropped_first() -> None:
    from opentelemetry.sdk.trace import SpanLimits, TracerProvider

    from agentool_otel.tracing.spans.sdk_spans import set_all

    provider = TracerProvider(shutdown_on_exit=False, span_limits=SpanLimits(max_attributes=32))
    started = {gen_ai.OPERATION_NAME: "chat", gen_ai.REQUEST_MODEL: "m"}
    span: Any = provider.get_tracer("t").start_span("chat", attributes=started)
    ended = {gen_ai.USAGE_INPUT_TOKENS: 1, gen_ai.INPUT_MESSAGES: "[]"}
    set_all(span, {**ended, **{f"x{i}": i for i in range(40)}}, len(started))
    attributes = set(span.attributes)
    assert {gen_ai.OPERATION_NAME, gen_ai.REQUEST_MODEL, gen_ai.USAGE_INPUT_TOKENS} <= attributes
    assert (gen_ai.INPUT_MESSAGES in attributes, len(attributes)) == (False, 32)
