"""Each channel of a session, and all of them together, give the trajectory of the script."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import combinations

import pytest

from tests.coding_agents.missing import MISSING
from tests.coding_agents.recordings import FOLDER
from tests.coding_agents.stories import CHANNELS, differences, places, rebuilt, scripted

Case = tuple[str, str, tuple[str, ...]]


def cases() -> Iterator[Case]:
    for folder in sorted(folder for agent in MISSING for folder in FOLDER.glob(f"{agent}/*")):
        there = [name for name, file in CHANNELS.items() if (folder / file).exists()]
        for count in range(1, len(there) + 1):
            for channels in combinations(there, count):
                yield folder.parent.name, folder.name, channels


def _id(value: str | tuple[str, ...]) -> str:
    return value if isinstance(value, str) else "+".join(value)


@pytest.mark.parametrize(("agent", "situation", "channels"), [*cases()], ids=_id)
def test_the_trajectory_is_that_of_the_script(
    agent: str, situation: str, channels: tuple[str, ...]
) -> None:
    folder = FOLDER / agent / situation
    facts = json.loads((folder / "facts.json").read_text())
    missing = frozenset.intersection(
        *(MISSING[agent].fields(channel, situation) for channel in channels)
    )
    found = rebuilt(places(folder, channels))
    assert differences(scripted(situation, facts), found, missing) == []
