"""`print(status())`: ten lines, whatever is installed and however much has passed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import agentool_otel
from agentool_otel.tracing.setup.status import (
    Counts,
    Destination,
    Framework,
    Masked,
    Prefilter,
    Status,
)
from agentool_otel.tracing.spans.settings import settings

NAMES = [
    "enabled", "spans", "file", "content", "journal",
    "logs", "metrics", "frameworks", "masking", "variables",
]  # fmt: skip
words = st.text(max_size=40)
counts = st.builds(Counts, **dict.fromkeys(Counts.__struct_fields__, st.integers(0, 10**12)))
patches = st.lists(
    st.fixed_dictionaries(
        {
            "target": words,
            "state": st.sampled_from(["attached", "waiting", "missing", "failed", "detached"]),
            "detail": words,
        }
    ),
    max_size=3,
)
frameworks = st.builds(
    Framework,
    installed=st.none() | words,
    supports=st.lists(words, max_size=2),
    enabled=st.booleans(),
    patches=patches,
    replaces=st.lists(words, max_size=2),
    others=st.just({}),
)
destinations = st.builds(Destination, destination=st.none() | words, counts=st.none() | counts)
statuses = st.builds(
    Status,
    enabled=st.booleans(),
    destination=st.none() | words,
    joined_provider=st.booleans(),
    content=st.booleans(),
    journal=st.booleans(),
    spans=st.none() | counts,
    logs=destinations,
    metrics=destinations,
    instrumentors=st.dictionaries(words, frameworks, max_size=12),
    threads=patches,
    refused_variables=st.dictionaries(words, words, max_size=12),
    recording=st.none() | words,
    masking=st.none()
    | st.builds(Masked, **dict.fromkeys(Masked.__struct_fields__, st.integers(0, 10**6))),
    prefilter=st.none() | st.builds(Prefilter, engine=st.none() | words, detail=words),
)


@given(statuses)
def test_any_status_is_ten_lines(status: Status) -> None:
    assert repr(status) == str(status)
    lines = str(status).split("\n")
    assert [line.split(" ", 1)[0] for line in lines] == NAMES
    assert "UNSET" not in str(status) or "UNSET" in str(status.to_dict())


PROGRAM = """
import agentool_otel
print(agentool_otel.status())
print("---")
agentool_otel.instrument()

@agentool_otel.tool
def add(a, b): return a + b

add(1, 2)
agentool_otel.flush()
print(agentool_otel.status())
"""


def test_a_program_prints_where_its_spans_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENTOOL_DIR", str(tmp_path / "records"))
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_ENDPOINT", raising=False)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    before, _, after = done.stdout.partition("---\n")
    assert [line.split(" ", 1)[0] for line in before.splitlines()] == NAMES
    assert "enabled    no, calls are not recorded" in before
    lines = dict(line.split(None, 1) for line in after.splitlines())
    assert list(lines) == NAMES
    assert lines["enabled"] == "yes"
    assert str(tmp_path / "records") in lines["spans"]
    assert lines["spans"].endswith(": 1 created, 1 exported")
    assert Path(lines["file"]).exists()
    assert lines["content"] == "captured"
    assert "prefilter: " in lines["masking"]


def test_a_status_names_the_engine_that_doctor_names() -> None:
    from agentool_otel.content.masking.prefilter.look import state

    status = agentool_otel.status()
    assert status["prefilter"]["engine"] == state().engine
    assert f"prefilter: {state().engine or 'none'}, " in str(status)


def test_a_status_without_metadata_leaves_the_engine_out(monkeypatch: pytest.MonkeyPatch) -> None:
    from agentool_otel.content.masking.prefilter import engine

    def unreadable() -> str:
        raise OSError("no descriptor is left")

    monkeypatch.setattr(engine, "installed", unreadable)
    monkeypatch.setattr(settings, "strict", False)
    status = agentool_otel.status()
    assert status.prefilter is None
    assert "prefilter" not in status
