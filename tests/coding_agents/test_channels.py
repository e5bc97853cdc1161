"""Each channel of a session, and all of them together, give the trajectory of the script."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import combinations
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from agentool_otel.loading import rebuild
from agentool_otel.reading.sources.opening import open_spans
from tests.coding_agents.missing import MISSING
from tests.coding_agents.recordings import FOLDER
from tests.coding_agents.stories import CHANNELS, differences, places, rebuilt, scripted


def cases() -> Iterator[ParameterSet]:
    """Yield the channels of each recording: each alone, all together, and in pairs if thorough."""
    for folder in sorted(folder for agent in MISSING for folder in FOLDER.glob(f"{agent}/*")):
        there = [name for name, file in CHANNELS.items() if (folder / file).exists()]
        for count in range(1, len(there) + 1):
            for channels in combinations(there, count):
                if telling(folder.parent.name, folder.name, channels):
                    marks = [pytest.mark.thorough] if 1 < count < len(there) else []
                    yield pytest.param(folder.parent.name, folder.name, channels, marks=marks)


def telling(agent: str, situation: str, channels: Iterable[str]) -> list[frozenset[str]]:
    """Return the fields that each channel may lack, of those that have any of the session."""
    fields = [MISSING[agent].fields(channel, situation) for channel in channels]
    return [each for each in fields if "all" not in each]


@pytest.mark.parametrize("agent", MISSING)
@pytest.mark.parametrize("channel", CHANNELS)
def test_a_command_with_another_exit_code_than_zero_has_failed(agent: str, channel: str) -> None:
    if "outcome" in MISSING[agent].fields(channel, "failing_tool") | _silent(agent, channel):
        pytest.skip("the channel has no outcomes")
    (file,) = places(FOLDER / agent / "failing_tool", [channel])
    steps = [step for run in rebuild(open_spans([file]).spans()) for step in run.document["steps"]]
    (result,) = (step["tool_result"] for step in steps if step["type"] == "tool_result")
    assert result["error"]


@pytest.mark.parametrize("agent", MISSING)
def test_all_channels_have_the_same_names_of_agents(agent: str) -> None:
    folder = FOLDER / agent / "sub_agent"
    named = {
        tuple(sorted(str(run.document["agent_id"]) for run in rebuild(open_spans([file]).spans())))
        for file in places(folder, [*CHANNELS])
        if Path(file).exists()
    }
    assert len(named - {()}) == 1


def _silent(agent: str, channel: str) -> frozenset[str]:
    is_there = Path(FOLDER, agent, "failing_tool", CHANNELS[channel]).exists()
    is_silent = not is_there or "all" in MISSING[agent].fields(channel, "failing_tool")
    return frozenset({"outcome"} if is_silent else ())


def _id(value: str | tuple[str, ...]) -> str:
    return value if isinstance(value, str) else "+".join(value)


@pytest.mark.parametrize(("agent", "situation", "channels"), [*cases()], ids=_id)
def test_the_trajectory_is_that_of_the_script(
    agent: str, situation: str, channels: tuple[str, ...]
) -> None:
    folder = FOLDER / agent / situation
    facts = json.loads((folder / "facts.json").read_text())
    missing = frozenset.intersection(*telling(agent, situation, channels))
    found = rebuilt(places(folder, channels))
    assert differences(scripted(situation, facts), found, missing) == []
