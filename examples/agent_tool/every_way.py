"""A program on the runtime: every way that a call can go.

python examples/agent_tool/every_way.py
agentool-otel show
"""

from __future__ import annotations

import asyncio
from typing import Any

from tool_runtime import Call, Object, Runtime, Tool

import agentool_otel

FILES = {"/notes/today": "Water the plants.", "/notes/long": "word " * 200}


async def read(call: Call) -> str:
    """Read a file."""
    await asyncio.sleep(0)
    return FILES[call.input["path"]]


async def write(call: Call) -> Object:
    """Write a file."""
    FILES[call.input["path"]] = call.input["text"]
    return {"written": len(call.input["text"])}


async def index(call: Call) -> str:
    """Index all files, which takes long."""
    for number in range(1_000):
        call.progress(f"file {number}", number / 10)
        await asyncio.sleep(0.001)
    return "done"


async def balance(call: Call) -> Object:
    """Look up the balance of an account."""
    return {"account": call.input["account"], "balance": "48,213.77 EUR"}


async def weather(call: Call) -> Object:
    """Look up the weather."""
    return {"city": call.input["city"], "sky": "clear"}


async def wait(call: Call) -> None:
    """Wait for somebody who does not come."""
    await asyncio.sleep(60)


def needs(*names: str, **more: Any) -> Object:
    """Return an input contract."""
    properties = {name: {"type": "string"} for name in names}
    schema = {"type": "object", "properties": properties, "required": list(names)}
    return {"model_input_schema": schema, **more}


def runtime() -> Runtime:
    """Return a runtime with the tools of this program."""
    result = Runtime(
        Tool(read, tool_id="files.read", name="read_file", aliases=["read"],
             tool_kind="file_operation", input_contract=needs("path")),
        Tool(write, tool_id="files.write", name="write_file", tool_kind="file_operation",
             input_contract=needs("path", "text")),
        Tool(index, tool_id="files.index", name="index_files", input_contract=needs()),
        Tool(balance, tool_id="bank.balance", name="look_up_balance", redacts=True,
             input_contract=needs("account", sensitive_fields=["account"])),
        Tool(weather, tool_id="mcp.weather", name="look_up_weather", tool_kind="mcp_tool",
             lifecycle="deferred", search_hint="weather of a city", input_contract=needs("city")),
        Tool(wait, tool_id="wait", name="wait", timeout_s=0.01, input_contract=needs()),
    )  # fmt: skip

    def absolute(call: Call, obj: Object) -> Object | None:
        path = obj.get("path", "/")
        return None if path.startswith("/") else {**obj, "path": f"/notes/{path}"}

    async def ask(call: Call) -> bool:
        await asyncio.sleep(0.02)  # a person thinks about it
        return "plants" in call.input["text"]

    result.pre_hooks.append(absolute)
    result.rules.update(write_file="ask", index_files="allow")
    result.ask = ask
    return result


async def every_way(tools: Runtime) -> list[Object]:
    """Make calls that go every way, and return their results."""
    results = [await tools.call("look_up_weather", "call_1", city="Rome")]  # is not loaded
    tools.search("weather")
    results += [
        await tools.call("look_up_weather", "call_2", city="Rome"),
        await tools.call("read", "call_3", path="today"),  # by an alias, made absolute by a hook
        await tools.call("read_file", "call_4"),  # lacks its argument
        await tools.call("read_file", "call_5", path="../secrets"),  # is not valid
        await tools.call("fly", "call_6"),  # does not exist
        await tools.call("write_file", "call_7", path="/notes/new", text="The plants are fine."),
        await tools.call("write_file", "call_8", path="/notes/new", text="Forget it."),  # rejected
        await tools.call("read_file", "call_9", path="/notes/long"),  # too large
        await tools.call("look_up_balance", "call_10", account="DE02-1203-0000"),  # redacted
        await tools.call("wait", "call_11"),  # takes too long
    ]
    tools.rules["write_file"] = "deny"
    results.append(await tools.call("write_file", "call_12", path="/notes/new", text="Again."))
    results += await tools.call_together(
        ("index_files", "call_13", {}),
        ("read_file", "call_14", {"path": "/nowhere"}),  # fails, and cancels its siblings
        ("index_files", "call_15", {}),
    )
    task = asyncio.ensure_future(tools.call("index_files", "call_16"))
    await asyncio.sleep(0.05)
    task.cancel()  # by the user
    results.append(await task)
    return results


def main() -> list[Object]:
    with agentool_otel.run("assistant", input="Do all there is to do.") as run:
        results = asyncio.run(every_way(runtime()))
        run.output = (
            f"{sum(not result['is_error'] for result in results)} of {len(results)} went well."
        )
    return results


if __name__ == "__main__":
    agentool_otel.instrument(service_name="agent-tool-example")
    for result in main():
        error = result.get("error", {})
        print(result["invocation_id"], result["status"], error.get("error_class", ""))
