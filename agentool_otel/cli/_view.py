"""The console for what people look at. Apart from the other output, which needs no `rich`."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from agentool_otel.ground.words import clean

__all__ = ["View"]


class View(Console):
    """A console that leaves a closed pipe to `_main`, and shows no character that is not seen."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        for it in super().render(renderable, options):
            if it.control or it.text.isprintable():
                yield it
            else:
                yield Segment(clean(it.text), it.style)

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError
