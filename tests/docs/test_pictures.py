"""The pictures of the documents: small, self-contained, and up to date with `poe pictures`."""

from __future__ import annotations

import platform
import re
from xml.etree import ElementTree

import pytest

from tests.pages.pictures import PICTURES, sections, svg_of

NAMES = ("terminal.svg", "report.png", "phoenix.png")
LARGEST = 300_000


@pytest.mark.parametrize("name", NAMES)
def test_every_picture_is_there_and_light(name: str) -> None:
    picture = PICTURES / name
    assert 10_000 < picture.stat().st_size < LARGEST
    if picture.suffix == ".png":
        assert picture.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


def test_no_other_file_is_beside_them() -> None:
    assert sorted(path.name for path in PICTURES.iterdir()) == sorted(NAMES)


def test_the_terminal_shows_the_spans_steps_and_verdicts_of_the_demo() -> None:
    shown = text_of((PICTURES / "terminal.svg").read_text(encoding="utf-8"))
    for words in (
        "$ agentool-otel demo",
        "invoke_agent trip-planner",
        "chat loopback-model",
        "1,031 tokens",
        "✗ TimeoutError",
        '✗ {"type": "no_tool_error"}',
    ):
        assert words.replace(" ", "") in shown


def test_the_terminal_loads_nothing_and_names_no_machine() -> None:
    picture = (PICTURES / "terminal.svg").read_text(encoding="utf-8")
    assert set(re.findall(r"https?://[^\s\"<]+", picture)) == {
        "http://www.w3.org/2000/svg",
        "https://www.textualize.io",  # in a comment: what made the file
    }
    assert not re.search(r"url\(\W*http|<script|<image|@import|@font-face|href", picture)
    assert "/tmp" not in picture
    assert f"-{platform.node()}-" not in picture


def test_colours_of_the_output_are_in_the_picture() -> None:
    svg = svg_of("a command", "plain \x1b[31mred\x1b[0m \x1b[1mbold\x1b[0m <&>")
    assert text_of(svg).split()[-1] == "plainredbold<&>"
    assert "#cc555a" in svg
    assert "font-weight: bold" in svg


def test_parts_of_the_output_that_are_left_out_are_three_dots() -> None:
    output = "asked\n\nits spans ───\na tree\n\nanother ───\nmore\n\nwhat holds of it ───\n✓\n"
    shown = sections(output + "\nwhere it is ───\n/a/path\n")
    assert shown == "asked\n\nits spans ───\na tree\n\n…\n\nwhat holds of it ───\n✓"


def text_of(svg: str) -> str:
    """Return the text of a terminal's picture line by line, without blanks, which SVG places."""
    lines: dict[float, str] = {}
    for element in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text"):
        if "y" in element.attrib and "clip-path" in element.attrib:
            at = float(element.attrib["y"])
            lines[at] = lines.get(at, "") + (element.text or "")
    return "\n".join("".join(item.split()) for _, item in sorted(lines.items()))
