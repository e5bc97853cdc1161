"""Each channel of a session, and all of them together, give the trajectory of the script."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import combinations

import pytest
from _pytest.mark import ParameterSet

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
