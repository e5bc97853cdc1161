"""The answer of a model, assembled from whatever a program has of it.

An `Answer` takes text, messages, a provider's whole answer or the chunks of one, in the order in
which they come, and returns the call at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from agentool_otel.content.values import as_text, jsonable
from agentool_otel.model.messages import Message, Part, message, reasons_of, text
from agentool_otel.model.messages import parts_of as parts_in
from agentool_otel.model.operations import Inference
from agentool_otel.providers.fields import is_a, record, string
from agentool_otel.providers.finish_reasons import finish_reason
from agentool_otel.providers.reading import Reading
from agentool_otel.providers.shapes import Shape, is_content, messages_of, parts_of, shape_of

__all__ = ["Answer"]


class Answer:
    """Collects the answer to one model call.

    Text and content continue the message before. A provider's whole answer replaces an earlier
    one; messages and chunks are added. If there are messages beside a provider's answer, they are
    the output, and everything else comes from the answer.
    """

    __slots__ = (
        "_failure",
        "_finish",
        "_messages",
        "_parts",
        "_reading",
        "_request",
        "_shape",
        "_texts",
    )

    def __init__(self, request: Inference):
        self._request = request
        self._shape: Shape | None = None
        self._reading: Reading | None = None
        self._messages: list[Message] = []
        self._parts: list[Part] = []
        """Content without a message around it."""
        self._texts: list[str] = []
        """Fragments of a text that may continue."""
        self._finish: str | None = None
        self._failure: dict[str, Any] | None = None

    @property
    def complete(self) -> bool:
        """Return whether the answer is known to be complete."""
        return self._finish is not None or (self._reading is not None and self._reading.complete)

    def add(self, value: Any, reason: Any = None) -> bool:
        """Add text, messages, an answer or a chunk; return True if that shows that it is streamed.

        Args:
            value: anything; what no shape fits becomes text.
            reason: the finish reason, in the provider's words or the conventions'.
        """
        self._finish = finish_reason(reason) or self._finish
        if is_a(value, str):
            self._texts.append(as_text(value))
            return False
        plain = jsonable(value)
        chunks = isinstance(plain, list) and plain and all(shape_of(each) for each in plain)
        streamed = False
        for each in plain if chunks else [plain]:
            streamed = self._add_shaped(each) or streamed
        return streamed

    def _add_shaped(self, value: Any) -> bool:
        shape = shape_of(value)
        if shape is None:
            self._add_unshaped(value)
            return False
        if self._reading is None or self._shape != shape or shape.streamed is False:
            self._shape, self._reading = shape, shape.begin(self._request)
        (self._reading.whole if shape.streamed is False else self._reading.add)(value)
        return shape.streamed is True

    def _add_unshaped(self, value: Any) -> None:
        failure = record((record(value) or {}).get("error"))
        if failure is not None and string(failure, "message") is not None:
            self._failure = failure
        elif is_content(value):
            self._join_texts()
            self._parts += parts_of(value)
        else:
            self._close()
            self._messages += messages_of(value, "assistant")

    def _join_texts(self) -> None:
        if self._texts:
            self._parts.append(text("".join(self._texts)))
            self._texts.clear()

    def _close(self) -> None:
        """Make a message of content that has none."""
        self._join_texts()
        if self._parts:
            self._messages.append(message("assistant", self._parts))
            self._parts.clear()

    @property
    def operation_so_far(self) -> Inference:
        """Return the call as the provider's response alone has it so far."""
        if self._reading is None:
            return self._request
        read = self._reading.operation()
        return read if isinstance(read, Inference) else self._request

    def operation(self) -> Inference:
        """Return the call as far as it is known."""
        self._close()
        inference = self.operation_so_far
        output = self._messages or inference.output or []
        reasons = self._reasons(inference, output)
        of_messages = reasons or [None] * len(output)
        output = [
            _with_reason(item, reason) for item, reason in zip(output, of_messages, strict=False)
        ]
        inference = replace(inference, output=output or None, finish_reasons=reasons_of(reasons))
        return inference if self._failure is None else _failed_call(inference, self._failure)

    def _reasons(self, inference: Inference, output: list[Message]) -> Sequence[str | None]:
        """Return the finish reason of each message, None if it is neither stated nor inferable."""
        if self._finish is not None:
            return [self._finish] * max(1, len(output))
        reasons = [
            finish_reason(item.get("finish_reason")) or _inferred_reason(item) for item in output
        ]
        reported = inference.finish_reasons
        if reported is None or len(reported) < len(output):
            return reasons
        return (
            reported
            if not self._messages
            else [a or b for a, b in zip(reasons, reported, strict=False)]
        )


def _inferred_reason(item: Message) -> str | None:
    return "tool_call" if any(part.get("type") == "tool_call" for part in parts_in(item)) else None


def _with_reason(item: Message, reason: str | None) -> Message:
    return item if reason is None else {**item, "finish_reason": reason}


def _failed_call(inference: Inference, failure: dict[str, Any]) -> Inference:
    """Return a call whose answer was an error of the server's.

    Source: the error bodies of OpenAI (`code`, `type`), Anthropic (`type`), Google (`status`).
    """
    named = (string(failure, name) for name in ("code", "status", "type"))
    return replace(
        inference,
        error_type=next((item for item in named if item), "error"),
        error_message=string(failure, "message"),
    )
