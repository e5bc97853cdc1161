"""What a model answered, put together from whatever a program has of it.

Text, messages, a provider's whole answer, or the chunks of one: an `Answer` takes them in the order
in which they come, and says at the end what the call was.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from agentool_otel.content.policy import as_text, jsonable
from agentool_otel.model.messages import Message, Part, message, text
from agentool_otel.model.messages import parts_of as parts_in
from agentool_otel.model.operations import Inference
from agentool_otel.providers.finish_reasons import finish_reason
from agentool_otel.providers.openai_values import record, string
from agentool_otel.providers.reading import Reading
from agentool_otel.providers.shapes import Shape, is_content, messages_of, parts_of, shape_of

__all__ = ["Answer"]


class Answer:
    """Takes in the answer to one model call.

    Text and content go on with what was said before. A whole answer of a provider takes the place
    of an earlier one; messages and chunks are added. Where there are messages beside a provider's
    answer, they are the output, and the answer tells of the rest.
    """

    __slots__ = (
        "_asked",
        "_failure",
        "_finish",
        "_messages",
        "_parts",
        "_reading",
        "_shape",
        "_texts",
    )

    def __init__(self, asked: Inference):
        self._asked = asked
        self._shape: Shape | None = None
        self._reading: Reading | None = None
        self._messages: list[Message] = []
        self._parts: list[Part] = []
        """What was said without a message around it."""
        self._texts: list[str] = []
        """Text that may go on."""
        self._finish: str | None = None
        self._failure: dict[str, Any] | None = None

    @property
    def complete(self) -> bool:
        """Whether it has said that nothing more will come."""
        return self._finish is not None or (self._reading is not None and self._reading.complete)

    def add(self, said: Any, why: Any = None) -> bool:
        """Take in text, messages, an answer or a chunk; True if that shows that it is streamed.

        Args:
            said: anything; what no shape fits becomes text.
            why: the finish reason, in the provider's words or the conventions'.
        """
        self._finish = finish_reason(why) or self._finish
        if isinstance(said, str):
            self._texts.append(as_text(said))
            return False
        plain = jsonable(said)
        chunks = isinstance(plain, list) and plain and all(shape_of(each) for each in plain)
        streamed = False
        for each in plain if chunks else [plain]:
            streamed = self._answered(each) or streamed
        return streamed

    def _answered(self, said: Any) -> bool:
        shape = shape_of(said)
        if shape is None:
            self._said(said)
            return False
        if self._reading is None or self._shape != shape or shape.streamed is False:
            self._shape, self._reading = shape, shape.begin(self._asked)
        (self._reading.whole if shape.streamed is False else self._reading.add)(said)
        return shape.streamed is True

    def _said(self, said: Any) -> None:
        failure = record((record(said) or {}).get("error"))
        if failure is not None and string(failure, "message") is not None:
            self._failure = failure
        elif is_content(said):
            self._join_texts()
            self._parts += parts_of(said)
        else:
            self._close()
            self._messages += messages_of(said, "assistant")

    def _join_texts(self) -> None:
        if self._texts:
            self._parts.append(text("".join(self._texts)))
            self._texts.clear()

    def _close(self) -> None:
        """Make one message of what was said without one."""
        self._join_texts()
        if self._parts:
            self._messages.append(message("assistant", self._parts))
            self._parts.clear()

    @property
    def known(self) -> Inference:
        """The call with what the answer has said of it so far, of a response alone."""
        return self._asked if self._reading is None else self._read(self._reading, False)

    def operation(self, failed: bool, whole: bool = True) -> Inference:
        """Return the call as far as it is known.

        Args:
            failed: whether an exception ended it.
            whole: whether the program has had all of the answer that it wanted.
        """
        self._close()
        failed = (failed or self._failure is not None) and not self.complete
        known = self._asked if self._reading is None else self._read(self._reading, failed)
        output = self._messages or known.output or []
        reasons = self._reasons(known, output)
        if failed:
            reasons = [it or "error" for it in reasons] or ["error"]
        told = reasons or [None] * len(output)
        output = [
            _ended(it, why or ("stop" if whole else None))
            for it, why in zip(output, told, strict=False)
        ]
        said = [it or "stop" for it in reasons] if any(reasons) else None
        known = replace(known, output=output or None, finish_reasons=said)
        return known if self._failure is None else _failed(known, self._failure)

    def _read(self, reading: Reading, failed: bool) -> Inference:
        read = reading.operation(failed)
        return read if isinstance(read, Inference) else self._asked

    def _reasons(self, known: Inference, output: list[Message]) -> Sequence[str | None]:
        """Return why each message ended, None where that was not said and cannot be seen."""
        if self._finish is not None:
            return [self._finish] * max(1, len(output))
        seen = [finish_reason(it.get("finish_reason")) or _asks(it) for it in output]
        told = known.finish_reasons
        if told is None or len(told) < len(output):
            return seen
        return told if not self._messages else [a or b for a, b in zip(seen, told, strict=False)]


def _asks(said: Message) -> str | None:
    return "tool_call" if any(it.get("type") == "tool_call" for it in parts_in(said)) else None


def _ended(said: Message, why: str | None) -> Message:
    return said if why is None else {**said, "finish_reason": why}


def _failed(known: Inference, failure: dict[str, Any]) -> Inference:
    """Return a call whose answer was an error of the server's.

    Source: the error bodies of OpenAI (`code`, `type`), Anthropic (`type`), Google (`status`).
    """
    named = (string(failure, name) for name in ("code", "status", "type"))
    return replace(
        known,
        error_type=next((it for it in named if it), "error"),
        error_message=string(failure, "message"),
    )
