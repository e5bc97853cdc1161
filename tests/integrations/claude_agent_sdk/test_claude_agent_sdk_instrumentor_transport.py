"""Transports of the program's own, whose frames are scripted: no CLI is started."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from tests.integrations.claude_agent_sdk.conftest import Scene


def frames(number: int) -> list[dict[str, Any]]:
    """Return a run of two model calls and a tool, as the CLI writes it without streams."""
    session = {"session_id": f"s{number}", "parent_tool_use_id": None}

    def said(message_id: str, block: dict[str, Any]) -> dict[str, Any]:
        usage = {"input_tokens": 10 + number, "output_tokens": 1}
        model = {"id": message_id, "model": "claude", "stop_reason": None, "usage": usage}
        return {"type": "assistant", "message": {**model, "content": [block]}, **session}

    use = {"type": "tool_use", "id": f"t{number}", "name": "Look", "input": {"q": number}}
    found = {"type": "tool_result", "tool_use_id": f"t{number}", "content": f"found {number}"}
    return [
        {"type": "system", "subtype": "init", "model": "claude", "tools": ["Look"], **session},
        said("m1", {"type": "text", "text": "Let me look."}),
        said("m1", use),
        {"type": "user", "message": {"role": "user", "content": [found]}, **session},
        said("m2", {"type": "text", "text": f"Answer {number}"}),
        {
            "type": "result",
            "subtype": "success",
            "duration_ms": 1,
            "duration_api_ms": 1,
            "is_error": False,
            "num_turns": 2,
            "result": f"Answer {number}",
            **session,
        },
    ]


def scripted(scene: Scene, number: int) -> Any:
    queue: asyncio.Queue[Any] = asyncio.Queue()

    class Scripted(scene.sdk.Transport):  # type: ignore[misc, name-defined, unused-ignore]
        async def connect(self) -> None:
            pass

        async def write(self, data: str) -> None:
            frame = json.loads(data)
            if frame["type"] == "control_request":
                answer = {"subtype": "success", "request_id": frame["request_id"], "response": {}}
                queue.put_nowait({"type": "control_response", "response": answer})
            elif frame["type"] == "user":
                for item in [*frames(number), None]:
                    queue.put_nowait(item)

        async def read_messages(self) -> Any:
            while (frame := await queue.get()) is not None:
                await asyncio.sleep(0)
                yield frame

        async def close(self) -> None:
            queue.put_nowait(None)

        def is_ready(self) -> bool:
            return True

        async def end_input(self) -> None:
            pass

    return Scripted()


def ask(scene: Scene, count: int) -> list[str]:
    async def run(number: int) -> str:
        transport = scripted(scene, number)
        messages = scene.sdk.query(prompt=f"Question {number}", transport=transport)
        return str([item async for item in messages][-1].result)

    async def run_all() -> list[str]:
        return await asyncio.gather(*(run(number) for number in range(count)))

    return asyncio.run(run_all())


def test_forty_runs_at_once_have_their_own_steps(scene: Scene) -> None:
    assert ask(scene, 40) == [f"Answer {number}" for number in range(40)]
    spans = scene.stage.recorded.spans()
    roots = [span for span in spans if span.parent_id is None]
    assert len(roots) == 40
    for root in roots:
        number = int(root.attributes["gen_ai.conversation.id"].removeprefix("s"))
        steps = [span for span in spans if span.parent_id == root.span_id]
        chats = [span.attributes for span in steps if span.name == "chat claude"]
        assert [item["gen_ai.usage.input_tokens"] for item in chats] == [10 + number] * 2
        (tool,) = [span.attributes for span in steps if span.name == "execute_tool Look"]
        assert tool["gen_ai.tool.call.id"] == f"t{number}"
        assert f"found {number}" in tool["gen_ai.tool.call.result"]


def test_several_frames_of_a_message_are_one_model_call(scene: Scene) -> None:
    ask(scene, 1)
    first, second = scene.all("chat")
    assert first["gen_ai.response.id"] == "m1"
    assert "Let me look." in first["gen_ai.output.messages"]
    assert '"t0"' in first["gen_ai.output.messages"]
    assert "found 0" in second["gen_ai.input.messages"]
    assert not any("agentool.interrupted" in item for item in (first, second))


def test_the_placeholder_of_a_message_is_no_number_of_tokens(scene: Scene) -> None:
    ask(scene, 1)
    assert not any("gen_ai.usage.output_tokens" in item for item in scene.all("chat"))
