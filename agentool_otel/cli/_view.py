"""The console for output to people. Separate from other output, which needs no `rich`."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from agentool_otel.ground.untrusted_text import clean

__all__ = ["View"]


class View(Console):
    """A console that leaves a closed pipe to `_main`, and shows no character that is not seen."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield Segment(clean(segment.text), segment.style)

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError
