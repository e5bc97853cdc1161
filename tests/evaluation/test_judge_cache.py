"""Answers of a judge on disk: one call per question, and never instead of a good answer."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from agentool_otel.evaluation import OpenAIJudge
from agentool_otel.reading.sources.opening import open_source
from agentool_otel.testing.loopback_model import LoopbackModel, Turn
from tests.evaluation.judges import GROUNDED, POLITE, RUBRIC, claims, judged, model_judge, verdict
from tests.evaluation.runs import Object


def entries(folder: Path) -> list[Path]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return sorted(path for path in files if path.name != ".gitignore")


def test_an_answered_question_is_not_asked_again(model: LoopbackModel, tmp_path: Path) -> None:
    model.push(verdict(True, 0.9, reason="so kind", step_ids=["step_001"]))
    first = judged(RUBRIC, model_judge(model, cache=tmp_path))
    judge = model_judge(model, cache=tmp_path)
    assert judged(RUBRIC, judge) == first
    assert len(model.requests) == 1
    assert (judge.usage.kept, judge.usage.calls, judge.usage.input_tokens) == (1, 0, 0)


def test_claims_are_cached_whole(model: LoopbackModel, tmp_path: Path) -> None:
    import json

    model.push(json.dumps(claims(("a", "supported", ["step_002"]))))
    first = judged(GROUNDED, model_judge(model, cache=tmp_path))
    assert judged(GROUNDED, model_judge(model, cache=tmp_path)) == first


def test_the_cache_depends_on_question_model_and_parameters(
    model: LoopbackModel, tmp_path: Path
) -> None:
    model.push(*[verdict()] * 6)
    others: list[tuple[Object, OpenAIJudge, Object]] = [
        (POLITE, model_judge(model, cache=tmp_path), {}),
        ({**POLITE, "property": "is short"}, model_judge(model, cache=tmp_path), {}),
        (POLITE, model_judge(model, cache=tmp_path), {"output": "another"}),
        (POLITE, OpenAIJudge("judge-2", model.base_url, cache=tmp_path), {}),
        (POLITE, OpenAIJudge("judge-1", f"{model.base_url}/", cache=tmp_path), {}),
        (POLITE, model_judge(model, cache=tmp_path, parameters={"seed": 1}), {}),
    ]
    for assertion, judge, members in others:
        assert judged(assertion, judge, **members).passed is True
    assert len(model.requests) == 6


@pytest.mark.parametrize(
    "turns",
    [
        ["nonsense", "nonsense"],
        [verdict(None, None)],
        [verdict(step_ids=["step_77"])],
        [Turn(status=401)],
        [Turn(text="no", stop="refusal")],
    ],
)
def test_only_verdicts_are_cached(model: LoopbackModel, tmp_path: Path, turns: list[Any]) -> None:
    model.push(*turns)
    assert judged(POLITE, model_judge(model, cache=tmp_path)).passed is None
    assert entries(tmp_path) == []


@pytest.mark.parametrize("content", [b"", b'{"passed": tr', b"[]", b'{"score": 7}', b"\xff\x00"])
def test_a_damaged_cache_entry_is_asked_again(
    model: LoopbackModel, tmp_path: Path, content: bytes
) -> None:
    model.push(verdict(), verdict())
    judged(POLITE, model_judge(model, cache=tmp_path))
    (entry,) = entries(tmp_path)
    entry.write_bytes(content)
    assert judged(POLITE, model_judge(model, cache=tmp_path)).passed is True
    assert len(model.requests) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_cache_entries_are_readable_by_their_owner_only(
    model: LoopbackModel, tmp_path: Path
) -> None:
    model.push(verdict())
    judged(POLITE, model_judge(model, cache=tmp_path / "recordings" / "judge"))
    (entry,) = entries(tmp_path)
    assert stat.S_IMODE(entry.stat().st_mode) == 0o600
    for folder in list(entry.parents)[:3]:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700, folder


@pytest.mark.skipif(sys.platform == "win32", reason="Windows makes no such links")
def test_a_symbolic_link_in_the_cache_is_not_read(model: LoopbackModel, tmp_path: Path) -> None:
    model.push(verdict(True), verdict(False, 0.0))
    judged(POLITE, model_judge(model, cache=tmp_path / "kept"))
    (entry,) = entries(tmp_path)
    entry.rename(tmp_path / "elsewhere")
    os.symlink(tmp_path / "elsewhere", entry)
    assert judged(POLITE, model_judge(model, cache=tmp_path / "kept")).passed is False


def test_an_unwritable_cache_folder_costs_no_verdict(
    model: LoopbackModel, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("not a folder")
    model.push(verdict(), verdict())
    judge = model_judge(model, cache=tmp_path / "file")
    assert judged(POLITE, judge).passed is True
    assert judged(POLITE, judge).passed is True
    assert caplog.text.count("the answers of the judge are not kept in") == 1


def test_the_default_cache_is_not_read_as_a_recording(
    model: LoopbackModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENTOOL_DIR", str(tmp_path))
    recording = tmp_path / "traces.jsonl"
    recording.write_text("")
    model.push(verdict())
    judge = model_judge(model, cache=True)
    assert judge.cache_folder == tmp_path / "judge"
    assert judged(POLITE, judge).passed is True
    assert len(entries(tmp_path / "judge")) == 1
    source = open_source()
    assert list(source.spans()) == []
    assert source.problems == []
