"""Untrusted text becomes one clean line: no character of a file, a receiver, a name or an exception
moves the cursor, hides or turns the direction of text, and none begins a line.
"""

from __future__ import annotations

import ast
import io
import json
import logging
import re
import sys
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import agentool_otel
from agentool_otel.cli import main
from agentool_otel.ground import untrusted_text
from agentool_otel.otlp.protobuf_encoder import encode_span
from agentool_otel.tracing.export.disk.leftovers import RecoveryReport
from agentool_otel.tracing.export.send.attempt import Answer, HttpSender
from agentool_otel.tracing.export.send.otlp import OtlpExporter, OtlpTarget
from tests.click_runner import CliRunner
from tests.security.slow_receivers import SlowReceiver
from tests.tracing.export.receiver import HttpReceiver
from tests.tracing.export.samples import span_with

UNSEEN = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})
IGNORABLE = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180f\u3164\ufe00\ufe0d\uffa0\U000e0100\U000e01ef"
"""Characters that Unicode calls default ignorable and puts into other categories."""
FAKE = "x\nerror: FAKE\r\nerror: FAKE\x1b[2J\u202e\u2028error: FAKE\u200b\U000e0041\x85error: FAKE"

texts = st.one_of(
    st.text(st.characters(categories=["L", "N", "P", "S", "Z", "C"]), max_size=20),
    st.lists(st.sampled_from(["\n", "\r", "\t", "error: FAKE", "\x1b[2J", *FAKE]), max_size=12).map(
        "".join
    ),
).map("x{}".format)
"""None begins with a line of its own: a name may stand at the beginning of one."""


def is_unseen(character: str) -> bool:
    unassigned = "\U000e0000" <= character <= "\U000e0fff"  # ignorable, whatever it will be
    return unassigned or unicodedata.category(character) in UNSEEN or character in IGNORABLE


def assert_clean(shown: str) -> None:
    """Assert that the output has no such character, and no line from untrusted text."""
    assert not [item for item in shown if is_unseen(item) and item not in "\n\t"]
    assert not re.search(r"^error: FAKE", shown, re.MULTILINE)


def test_every_character_that_is_not_seen_is_spelled_out() -> None:
    every = map(chr, range(sys.maxunicode + 1))
    unseen = "".join(item for item in every if is_unseen(item) and item not in "\n\t")
    assert not [item for item in untrusted_text.clean(unseen) if is_unseen(item)]


@given(texts)
@example(FAKE)
def test_words_are_one_line_and_flat_text_keeps_every_character(text: str) -> None:
    for shown in (untrusted_text.line(text), untrusted_text.flat(text)):
        assert not [item for item in shown if is_unseen(item)]
    if not any(map(is_unseen, text)) and "\\" not in text:
        assert untrusted_text.flat(text) == text == untrusted_text.clean(text)


@given(st.text())
@example("\U000e0041\u200b\x7f\x9b")
def test_json_for_a_terminal_has_the_same_value(text: str) -> None:
    shown = untrusted_text.in_json(json.dumps(text, ensure_ascii=False))
    assert json.loads(shown) == text
    assert not [item for item in shown if is_unseen(item)]


@given(texts)
@example(FAKE)
def test_the_reason_of_an_answer_is_a_clean_line(text: str) -> None:
    reason = Answer("later", text).reason
    assert len(reason) <= 4 * 200
    assert not [item for item in reason if is_unseen(item)]


def test_a_receivers_reason_phrase_is_a_clean_line() -> None:
    def script(connection: Any) -> bytes:
        connection.recv(65_536)
        return b"HTTP/1.1 400 Bad \x1b]0;TITLE\x07\r\ncontent-length: 0\r\n\r\n"

    with SlowReceiver((script, b"")) as receiver:
        sender = HttpSender(OtlpTarget.at(f"http://{receiver.endpoint}", {}))
        answer = sender.send(encode_span(span_with({})), 5)
        sender.close()
    assert answer == Answer("invalid", "HTTP 400 Bad \\x1b]0;TITLE\\x07")


def test_a_partial_success_is_one_line_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

    reply = ExportTraceServiceResponse()
    reply.partial_success.rejected_spans = 1
    reply.partial_success.error_message = "\x1b]0;OWN\x07\nERROR root FAKE LINE"
    with HttpReceiver(reply=lambda _: (200, {}, reply.SerializeToString())) as receiver:
        exporter = OtlpExporter(OtlpTarget.at(receiver.endpoint, {}))
        exporter.export([span_with({})])
        exporter.shutdown()
    (record,) = caplog.records
    assert "\n" not in record.getMessage()
    assert "\\x1b]0;OWN\\x07 ERROR root FAKE LINE" in record.getMessage()


@given(texts)
@example(FAKE)
def test_what_is_logged_is_one_clean_line(text: str) -> None:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    log = untrusted_text.logger("agentool_otel.tests.words")
    log.propagate, log.handlers = False, [handler]
    log.warning("%s cannot be read (%s): %d", Path("f") / text.replace("\0", ""), OSError(text), 3)
    template = f"{text.replace('%', '%%')}%s"
    log.warning(template, "")
    logged = stream.getvalue()
    assert logged.count("\n") == 2
    assert not [item for item in logged if is_unseen(item) and item != "\n"]


def test_every_logger_of_ours_is_made_in_one_place() -> None:
    [package] = agentool_otel.__path__
    makers = [
        path.relative_to(package).as_posix()
        for path in Path(package).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr == "getLogger"
    ]
    # The commands take the handlers of loggers, and log nothing.
    assert sorted(makers) == ["cli/_messages.py", "cli/_output.py", "ground/untrusted_text.py"]


def test_a_survey_of_odd_files_is_logged_in_one_line_each(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    survey = RecoveryReport(tmp_path)
    survey.left_alone[tmp_path / "a\nERROR root FAKE"] = "because\x1b[2J"
    survey.log()
    assert [message for message in caplog.messages if "\n" in message or "\x1b" in message] == []


# ------------------------------------------------------------------------------------- commands


def recording(text: str) -> bytes:
    """A recording in which everything that is a text is this one."""

    def attribute(key: str, value: str) -> dict[str, Any]:
        return {"key": key, "value": {"stringValue": value}}

    def span(n: int, name: str, parent: int, *attributes: dict[str, Any]) -> dict[str, Any]:
        return {
            "traceId": "a" * 32, "spanId": f"{n:016x}", "name": name,
            "parentSpanId": f"{parent:016x}" if parent else "", "kind": 1,
            "startTimeUnixNano": str(10**18 + n), "endTimeUnixNano": str(10**18 + 100 - n),
            "attributes": [*attributes, attribute("x" + text, text)],
            "status": {"code": 2, "message": text},
            "events": [{"name": text, "timeUnixNano": str(10**18), "attributes": []}],
        }  # fmt: skip

    messages = json.dumps([{"role": "user", "parts": [{"type": "text", "content": text}]}])
    spans = [
        span(1, f"invoke_agent {text}", 0, attribute("gen_ai.operation.name", "invoke_agent"),
             attribute("gen_ai.agent.name", text), attribute("gen_ai.conversation.id", text),
             attribute("gen_ai.input.messages", messages), attribute("error.type", text)),
        span(2, f"chat {text}", 1, attribute("gen_ai.operation.name", "chat"),
             attribute("gen_ai.request.model", text),
             attribute("gen_ai.output.messages", messages)),
        span(3, f"execute_tool {text}", 1, attribute("gen_ai.operation.name", "execute_tool"),
             attribute("gen_ai.tool.name", text), attribute("gen_ai.tool.call.id", text),
             attribute("gen_ai.tool.call.arguments", json.dumps({text: text})),
             attribute("gen_ai.tool.call.result", text), attribute("error.type", text)),
        span(4, text, 1),
    ]  # fmt: skip
    scopes = [{"scope": {"name": "agentool_otel.capture", "version": text}, "spans": spans}]
    resource = {"attributes": [attribute("service.name", text)]}
    document = {"resourceSpans": [{"resource": resource, "scopeSpans": scopes}]}
    return json.dumps(document).encode() + b"\n"


def printed(monkeypatch: pytest.MonkeyPatch, *args: str) -> str:
    """Return the output of a command as on a terminal, without the colours."""
    import click.testing

    monkeypatch.setattr(click.testing._NamedTextIOWrapper, "isatty", lambda _: True)
    monkeypatch.setenv("TERM", "dumb")
    done = CliRunner().invoke(main, list(args), color=False)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exc_info
    return re.sub(r"\x1b\[[0-9;]*m", "", done.output)


COMMANDS = (
    ("show",), ("show", "--full"), ("show", "--explain"), ("show", "--spans"), ("show", "--json"),
    ("rebuild",), ("validate",), ("export",), ("diff", "b.jsonl"), ("recover",),
)  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=texts)
@example(text=FAKE)
@example(text="\x9b2J\u2066\u200e\u061c\ufeff")
def test_no_command_prints_what_is_not_seen(
    text: str, command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("b.jsonl").write_bytes(recording("plain"))
    name, *options = command
    source = Path("a.jsonl")
    source.write_bytes(recording(text))
    if name == "export":
        CliRunner().invoke(main, ["rebuild", "a.jsonl", "-o", "traces.jsonl"])
        source = Path("traces.jsonl")
    if name == "recover":
        folder = tmp_path / "left"
        folder.mkdir(exist_ok=True)
        (folder / "a.open").write_bytes(recording(text))
        source = folder
    assert_clean(printed(monkeypatch, name, str(source), *options))


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=texts)
@example(text=FAKE)
def test_names_of_files_and_damage_in_them_are_shown_clean(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    name = re.sub("[\0/\ud800-\udfff]", "", text)[:40] or "x"
    folder = tmp_path / "odd"
    folder.mkdir(exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    (folder / f"{name}.jsonl").write_bytes(
        recording(text)[:-40] + b"\n{" + text.encode(errors="ignore")
    )
    for command in ("show", "rebuild", "validate", "recover"):
        assert_clean(printed(monkeypatch, command, "odd"))
        assert_clean(printed(monkeypatch, command, f"odd/{name}.jsonl"))
        assert_clean(printed(monkeypatch, command, f"missing{name}"))


@settings(
    max_examples=4, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(text=texts)
@example(text=FAKE)
@pytest.mark.parametrize("options", [(), ("--json",)], ids=["text", "json"])
def test_doctor_shows_the_environment_and_receivers_clean(
    text: str, options: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    variable = re.sub("[\0\ud800-\udfff]", "", text)
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", f"a={variable}")
    monkeypatch.setenv("OTEL_SERVICE_NAME", variable)
    with HttpReceiver(status=400) as receiver:
        shown = printed(monkeypatch, "doctor", "--endpoint", receiver.endpoint, *options)
    assert_clean(shown)
