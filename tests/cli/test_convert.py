"""`convert`: documents of other systems, and losses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Invoke
from tests.seed_systems.examples import TOOLS


@pytest.fixture
def mcp(tmp_path: Path) -> Path:
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps(TOOLS["mcp-tools"]))
    return file


def test_a_files_format_is_recognised_by_content(invoke: Invoke, mcp: Path) -> None:
    [tool] = json.loads(invoke("convert", mcp, "--to", "anthropic-tools").stdout)
    assert tool["input_schema"] == TOOLS["mcp-tools"]["tools"][0]["inputSchema"]


def test_what_is_lost_is_listed_with_its_path(invoke: Invoke, mcp: Path) -> None:
    done = invoke("convert", mcp, "--to", "anthropic-tools")
    assert done.exit_code == 0
    assert done.stderr.splitlines()[0] == 'lost: $.tools[0].title "Search"'


def test_what_is_different_is_lost_changed_or_added(invoke: Invoke) -> None:
    tool = b'{"name": "a", "inputSchema": {}, "title": "A"}'
    done = invoke("convert", "-", "--to", "openai-tools", input=tool)
    words = {line.split(":")[0] for line in done.stderr.splitlines()}
    assert words == {"lost", "added"}
    empty = b'{"registry_id": "r", "tools": []}'
    assert invoke("convert", "-", "--to", "openai-tools", input=empty).stderr == (
        'changed: $ {"registry_id":"r","tools":[]} becomes []\n'
    )


def test_an_ambiguous_document_is_reported(invoke: Invoke) -> None:
    tool = b'{"name": "a", "description": "A.", "input_schema": {"type": "object"}}'
    text = "read as anthropic-tools; hint: --from, if it is a document of amplifier\n"
    assert invoke("convert", "-", "--to", "mcp-tools", input=tool).stderr == text
    named = invoke("convert", "-", "--to", "mcp-tools", "--from", "amplifier", input=tool)
    assert named.stderr == ""


def test_strict_makes_a_loss_an_error_and_writes_nothing(invoke: Invoke, mcp: Path) -> None:
    done = invoke("convert", mcp, "--to", "anthropic-tools", "--strict", "-o", "out.json")
    assert done.exit_code == 1
    assert "nothing was written" in done.stderr
    assert not Path("out.json").exists()


def test_strict_is_silent_without_losses(invoke: Invoke, mcp: Path) -> None:
    done = invoke("convert", mcp, "--to", "agentool", "--strict", "-o", "out.json")
    assert (done.exit_code, done.stderr) == (0, "")
    assert json.loads(Path("out.json").read_text())["name"] == "search_web"


def test_a_bad_document_leaves_the_old_file_as_it_was(invoke: Invoke, mcp: Path) -> None:
    mcp.write_text('{"tools": [{"name": "a", "inputSchema": []}]}')
    Path("out.json").write_text("old")
    done = invoke("convert", mcp, "--to", "agentool", "-o", "out.json")
    assert done.exit_code == 3
    expected = f"expected object, got array of 0 - at $.tools[0].inputSchema in {mcp}"
    hint = f"agentool-otel validate {mcp} lists all problems"
    assert done.stderr == f"error: {expected}\n hint: {hint}\n"
    assert Path("out.json").read_text() == "old"


def test_a_pipe_of_two_commands_keeps_everything(invoke: Invoke, mcp: Path) -> None:
    middle = invoke("convert", mcp, "--to", "agentool").stdout.encode()
    done = invoke("convert", "-", "--to", "mcp-tools", input=middle)
    assert json.loads(done.stdout) == TOOLS["mcp-tools"]


def test_json_lines_are_a_list(invoke: Invoke) -> None:
    lines = "\n".join(json.dumps(tool) for tool in TOOLS["openai-tools"])
    done = invoke("convert", "-", "--to", "agentool", input=lines.encode())
    assert [load["name"] for load in json.loads(done.stdout)] == ["search_web", "of_responses"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"[1", "expected JSON, got text that is not"),
        (b"", "expected JSON, got text that is not"),
        (b'{"a": 1}\n\n{"b"\n', "expected JSON on line 3, got text that is not"),
        (b'{"a": 1}', "got an object with members a"),
        (b"[]", "got an empty list"),
        (b'{"name": "a", "description": "", "input_schema": 1}', "expected object, got int 1"),
        (b'[{"type": "function", "function": {"name": 5}}]', "at $[0].function.name"),
        (b'[{"type": "function", "name": 5}]', "at $[0].name"),
        (b'[{"type": "function", "function": 5}]', "at $[0].function in"),
    ],
)
def test_a_file_without_document_is_an_error_with_the_reason(
    invoke: Invoke, text: bytes, message: str
) -> None:
    done = invoke("convert", "-", "--to", "agentool", input=text)
    assert done.exit_code == 3
    assert message in done.stderr


def test_an_unknown_format_is_answered_with_the_known_ones(invoke: Invoke, mcp: Path) -> None:
    done = invoke("convert", mcp, "--to", "nothing")
    assert done.exit_code == 2
    assert "anthropic-tools, mcp-tools, openai-tools" in done.stderr
