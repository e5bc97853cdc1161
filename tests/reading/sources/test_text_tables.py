"""Tables in text, whatever is between their cells, are read as CSV is."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentool_otel.cli import main
from agentool_otel.loading import rebuild
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.sources.files.span_files import SpanFiles
from tests.laws import many
from tests.reading.sources.encoders.exports import as_csv

SEPARATORS = [",", ";", "|", "\t"]
ESCAPES = {"\b": "\\b", "\f": "\\f", "\r": "\\r", "\n": "\\n", "\t": "\\t", "\0": "\\0"}
TYPES = ["String", "FixedString(16)", "DateTime64(9, 'UTC')", "Map(LowCardinality(String), String)"]
texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1) | st.sampled_from(
    ["a\tb", "a\nb", '"quoted"', "back\\slash", "it's", "\\N", "{'a': 1}", ";|,"]
)


def spans_of(table: str) -> list[SpanRecord]:
    return list(SpanFiles([io.BytesIO(table.encode())]).spans())


def quoted(rows: list[list[str]], separator: str) -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=separator).writerows(rows)
    return text.getvalue()


def escaped(text: str) -> str:
    """A text as ClickHouse's `TabSeparated` has it."""
    return "".join(ESCAPES.get(item, item) for item in text.replace("\\", "\\\\"))


def clickhouse(rows: list[list[str]]) -> str:
    return "".join("\t".join(row) + "\n" for row in rows)


def a_table(attributes: str) -> list[list[str]]:
    names = ["TraceId", "SpanId", "Timestamp", "SpanAttributes"]
    return [names, ["1" * 32, "2" * 16, "2026-11-01 10:00:00", attributes]]


@pytest.mark.parametrize("separator", SEPARATORS)
def test_a_table_gives_the_same_run_whatever_is_between_its_cells(separator: str) -> None:
    rows = list(csv.reader(io.StringIO(as_csv())))
    assert spans_of(quoted(rows, separator)) == spans_of(as_csv())
    if separator == "\t":
        head, *remainder = rows
        escaped_rows = [[escaped(cell) for cell in row] for row in remainder]
        assert spans_of(clickhouse([head, *escaped_rows])) == spans_of(as_csv())


@settings(max_examples=many(300), deadline=None)
@given(value=texts, separator=st.sampled_from(SEPARATORS))
def test_any_text_comes_back_from_every_table(value: str, separator: str) -> None:
    attributes = json.dumps({"gen_ai.x": value}, ensure_ascii=False)
    [span] = spans_of(quoted(a_table(attributes), separator))
    assert span.attributes == {"gen_ai.x": value}


@settings(max_examples=many(300), deadline=None)
@given(value=texts)
def test_any_text_comes_back_from_the_tsv_of_clickhouse(value: str) -> None:
    attributes = json.dumps({"gen_ai.x": value}, ensure_ascii=False)
    [span] = spans_of(clickhouse(a_table(escaped(attributes))))
    assert span.attributes == {"gen_ai.x": value}


@settings(max_examples=many(300), deadline=None)
@given(value=texts.filter(lambda text: "\0" not in text))
def test_any_text_comes_back_from_a_map_of_clickhouse(value: str) -> None:
    text = escaped(value).replace("'", "\\'")
    [span] = spans_of(clickhouse(a_table(f"{{'gen_ai.x':'{text}'}}")))
    assert span.attributes == {"gen_ai.x": value}


@pytest.mark.parametrize("separator", [",", "\t"])
def test_a_row_of_types_is_no_span(separator: str) -> None:
    head, row = a_table('{"gen_ai.x": 1}')
    assert [span.span_id for span in spans_of(quoted([head, TYPES, row], separator))] == ["2" * 16]


def test_a_null_is_no_value() -> None:
    head, row = a_table('{"gen_ai.x":1}')
    [span] = spans_of(clickhouse([[*head, "ParentSpanId"], [*row, "\\N"]]))
    assert span.parent_id is None


# ------------------------------------------------------------------------------------- made ids


def test_ids_that_were_made_are_in_the_fidelity_report(tmp_path: Path) -> None:
    span = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
    [rebuilt] = rebuild(spans_of(json.dumps(span)))
    [note] = [note for note in rebuilt.fidelity.notes if note.field == "trace_id"]
    assert (note.outcome, note.rule) == (
        "inferred",
        "made of content: the span came without a span id or a trace id",
    )


@pytest.mark.parametrize("command", ["rebuild", "show", "export"])
def test_every_command_notes_derived_ids(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "spans.json"
    attributes: dict[str, Any] = {"gen_ai.operation.name": "chat"}
    place.write_text(
        json.dumps([{**attributes, "gen_ai.request.model": character} for character in "ab"])
    )
    arguments = [command, str(place)]
    if command == "export":
        arguments += ["-o", str(tmp_path / "out.jsonl")]
    with pytest.raises(SystemExit):
        main(arguments)
    assert (
        "2 spans without a span id or a trace id: such ids are made of the content"
        in capsys.readouterr().err
    )
