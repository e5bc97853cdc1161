"""`show` of the session files of coding agents."""

from __future__ import annotations

import re

import pytest

from tests.cli.conftest import Invoke
from tests.coding_agents.missing import MISSING
from tests.coding_agents.recordings import FOLDER

_TREE = """\
└── invoke_agent claude-code
    ├── chat claude-sonnet-4-5
    ├── execute_tool Agent
    │   └── invoke_agent general-purpose
    │       ├── chat claude-sonnet-4-5
    │       ├── execute_tool Read
    │       └── chat claude-sonnet-4-5
    └── chat claude-sonnet-4-5"""


@pytest.mark.parametrize("selected", [(), ("1",)])
def test_the_spans_of_a_session_file_are_a_tree(invoke: Invoke, selected: tuple[str, ...]) -> None:
    folder = FOLDER / "claude-code" / "sub_agent" / "session"
    lines = invoke("show", folder, *selected, "--spans").stdout.splitlines()[1:]
    names = [re.sub(r"(?<=\w)  .*", "", line) for line in lines]
    assert "\n".join(names) == _TREE


@pytest.mark.parametrize("agent", MISSING)
def test_a_killed_session_cannot_be_recovered(invoke: Invoke, agent: str) -> None:
    shown = invoke("show", FOLDER / agent / "killed" / "session").stdout
    assert "recover" not in shown
