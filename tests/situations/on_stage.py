"""What a framework on the stage has recorded, in the forms that tests compare."""

from __future__ import annotations

from typing import Any

from tests.situations.conftest import Stage

__all__ = ["OnStage"]


class OnStage:
    """A framework on the stage."""

    stage: Stage

    def rows(self) -> list[dict[str, Any]]:
        """Return the attributes of the spans, in the order of their start, parents first."""
        spans = sorted(self.stage.recorded.spans(), key=lambda span: span.start_ns or 0)
        return [{"name": span.name, **span.attributes} for span in spans]

    def all(self, operation: str) -> list[dict[str, Any]]:
        """Return the attributes of the spans of an operation, in the order of their start."""
        return [row for row in self.rows() if row.get("gen_ai.operation.name") == operation]

    def names(self) -> list[str]:
        """Return the names of the spans, indented below their parents."""
        spans = sorted(self.stage.recorded.spans(), key=lambda span: span.start_ns or 0)
        ids = {span.span_id for span in spans}

        def below(parent: str | None, depth: int) -> list[str]:
            lines: list[str] = []
            for span in spans:
                if (span.parent_id if span.parent_id in ids else None) == parent:
                    lines += ["  " * depth + span.name, *below(span.span_id, depth + 1)]
            return lines

        return below(None, 0)
