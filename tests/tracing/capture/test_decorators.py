"""Decorators in the ordinary cases: every kind of callable, its span, and nothing noticed."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, NamedTuple

import pytest
from opentelemetry import trace

from agentool_otel.errors import ConfigurationError
from agentool_otel.loading import rebuild
from agentool_otel.tracing.capture import agent, step, tool
from tests.records import records


@tool
def add(a: int, b: int = 2) -> int:
    """Add two numbers.

    They may be negative.
    """
    return a + b


def test_a_tool_is_one_internal_span_with_arguments_and_result(spans: Any) -> None:
    assert add(1, b=3) == 4
    attributes = spans.attributes()
    assert spans.only().name == "execute_tool add"
    assert spans.json("gen_ai.tool.call.arguments") == {"a": 1, "b": 3}
    assert spans.json("gen_ai.tool.call.result") == {"result": 4}
    assert attributes["gen_ai.tool.description"] == "Add two numbers."
    assert attributes["gen_ai.tool.type"] == "function"


def test_options_name_and_describe_the_tool(spans: Any) -> None:
    tool(name="plus", description="Sum.", type="extension")(lambda a: a)(1)
    attributes = spans.attributes()
    assert attributes["gen_ai.tool.name"] == "plus"
    assert attributes["gen_ai.tool.description"] == "Sum."
    assert attributes["gen_ai.tool.type"] == "extension"


def test_a_coroutine_tool_is_covered_while_it_waits(spans: Any) -> None:
    @tool
    async def wait() -> str:
        await asyncio.sleep(0.01)
        return "done"

    assert asyncio.run(wait()) == "done"
    span = spans.only()
    assert span.end_time - span.start_time > 9_000_000


def test_a_generator_tool_records_what_it_yields(spans: Any) -> None:
    @tool
    def count(n: int) -> Iterator[int]:
        yield from range(n)

    assert list(count(3)) == [0, 1, 2]
    assert spans.json("gen_ai.tool.call.result") == {"result": [0, 1, 2]}


def test_an_async_generator_tool_records_what_it_yields(spans: Any) -> None:
    @tool
    async def count(n: int) -> AsyncIterator[int]:
        for i in range(n):
            yield i

    async def read() -> list[int]:
        return [i async for i in count(3)]

    assert asyncio.run(read()) == [0, 1, 2]
    assert spans.json("gen_ai.tool.call.result") == {"result": [0, 1, 2]}


def test_a_generator_keeps_its_protocol(spans: Any) -> None:
    @tool
    def echo() -> Any:
        got = yield "ready"
        try:
            yield got
        except KeyError:
            yield "caught"
        return "over"

    talk = echo()
    assert (next(talk), talk.send("hello"), talk.throw(KeyError())) == ("ready", "hello", "caught")
    with pytest.raises(StopIteration, match="over"):
        next(talk)


def test_a_generator_left_early_ends_its_span_without_error(spans: Any) -> None:
    @tool
    def forever() -> Iterator[int]:
        while True:
            yield 1

    for _ in forever():
        break
    assert spans.only().status.status_code.name == "UNSET"


def test_the_consumers_spans_are_not_children_of_a_suspended_generator(spans: Any) -> None:
    @tool
    def rows() -> Iterator[int]:
        yield 1
        add(1)

    for _ in rows():
        add(2)
    assert spans.tree() == "execute_tool rows\n  execute_tool add\nexecute_tool add"


class Box:
    def __init__(self, weight: int):
        self.weight = weight

    @tool
    def method(self, extra: int) -> int:
        return self.weight + extra

    @tool
    @classmethod
    def from_class(cls, extra: int) -> int:
        return extra

    @staticmethod
    @tool
    def static(extra: int) -> int:
        return extra

    @tool  # type: ignore[prop-decorator]  # mypy knows no decorator above @property
    @property
    def heavy(self) -> bool:
        return self.weight > 1

    @tool
    def __call__(self, extra: int) -> int:
        return extra


@pytest.mark.parametrize(
    "call",
    [
        lambda: Box(1).method(2),
        lambda: Box.from_class(2),
        lambda: Box.static(2),
        lambda: Box(1)(2),
        lambda: tool(functools.partial(pow, exp=5))(2),
    ],
)
def test_methods_and_callable_objects_record_their_arguments_without_self(
    spans: Any, call: Callable[[], int]
) -> None:
    call()
    (arguments,) = spans.json("gen_ai.tool.call.arguments").values()
    assert arguments == 2


def test_a_property_can_be_a_tool(spans: Any) -> None:
    assert Box(2).heavy is True
    assert spans.only().name == "execute_tool heavy"


def test_a_callable_object_can_be_a_tool(spans: Any) -> None:
    class Doubler:
        def __call__(self, n: int) -> int:
            return 2 * n

    assert tool(Doubler())(4) == 8
    assert spans.only().name == "execute_tool Doubler"


def test_a_decorated_class_stays_a_class(spans: Any) -> None:
    @tool
    class Doubler:
        def __call__(self, n: int) -> int:
            return 2 * n

    assert isinstance(Doubler(), Doubler)
    assert Doubler()(4) == 8
    assert spans.only().name == "execute_tool Doubler"


def test_a_class_whose_init_is_generated_later_cannot_be_a_tool() -> None:
    """It would keep `@dataclass` above it from writing one."""

    class Point:
        x: int

    with pytest.raises(ConfigurationError, match="put the decorator above @dataclass"):
        tool(Point)


async def _coroutine() -> None: ...
def _generator() -> Iterator[int]:
    yield 1


async def _async_generator() -> AsyncIterator[int]:
    yield 1


@pytest.mark.parametrize("fn", [add, _coroutine, _generator, _async_generator])
def test_a_decorated_callable_keeps_its_kind_and_metadata(fn: Any) -> None:
    wrapped = tool(fn)
    for look in (
        inspect.iscoroutinefunction,
        inspect.isgeneratorfunction,
        inspect.isasyncgenfunction,
        inspect.signature,
    ):
        assert look(wrapped) == look(fn)
    assert (wrapped.__name__, wrapped.__doc__) == (fn.__name__, fn.__doc__)


def test_an_exception_passes_and_is_recorded_once(spans: Any) -> None:
    @tool
    def fails() -> None:
        raise ValueError("no luck")

    @agent
    def outer() -> None:
        fails()

    with pytest.raises(ValueError, match="no luck"):
        outer()
    inner, root = spans.finished()
    assert [event.name for event in inner.events] == ["exception"]
    assert [event.name for event in root.events if event.name == "exception"] == []
    for span in (inner, root):
        assert span.status.description == "no luck"
        assert span.attributes["error.type"] == "ValueError"


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, asyncio.CancelledError])
def test_an_interrupt_ends_the_span_with_its_own_type(
    spans: Any, error: type[BaseException]
) -> None:
    @tool
    def stopped() -> None:
        raise error

    with pytest.raises(error):
        stopped()
    assert spans.attributes()["error.type"].endswith(error.__name__)


def test_arguments_are_recorded_as_they_were_before_the_call(spans: Any) -> None:
    @tool
    def clear(items: list[int]) -> None:
        items.clear()

    clear([1, 2])
    assert spans.json("gen_ai.tool.call.arguments") == {"items": [1, 2]}


@pytest.mark.parametrize("value", [0, False, "", [], {}, None, "日本", 1.5])
def test_a_falsy_or_odd_result_is_recorded_as_it_is(spans: Any, value: Any) -> None:
    tool(
        lambda: value,
    )()
    recorded = spans.json("gen_ai.tool.call.result")
    assert (recorded if isinstance(value, dict) else recorded["result"]) == value


def test_an_agent_is_a_run_with_input_output_and_a_step_event_per_step(spans: Any) -> None:
    @agent
    def clerk(question: str) -> str:
        return f"{add(1, 2)}"

    assert clerk("1+2?") == "3"
    root = spans.finished()[-1]
    assert spans.tree() == "invoke_agent clerk\n  execute_tool add"
    assert [event.attributes["agentool.step.type"] for event in root.events] == [
        "tool_call",
        "tool_result",
    ]
    assert root.attributes["agentool.status"] == "success"
    assert root.attributes["agentool.metrics.tool_call_count"] == 1


class Row(NamedTuple):
    name: str
    number: int


@pytest.mark.parametrize(
    ("value", "output"),
    [
        ({"a": 'say "hi"'}, {"a": 'say "hi"'}),
        ([1, {"b": None}], [1, {"b": None}]),
        (7, 7),
        (False, False),
        (Row("x", 1), ["x", 1]),
        ("text", "text"),
        ('{"a": 1}', '{"a": 1}'),
        (None, None),
    ],
)
def test_the_output_of_an_agent_is_the_value_that_it_returned(
    spans: Any, value: Any, output: Any
) -> None:
    agent(name="bot")(lambda: value)()
    [rebuilt] = rebuild(records(spans.finished()))
    assert rebuilt.trace.output == output
    assert type(rebuilt.trace.output) is type(output)


def test_parallel_tools_are_siblings_below_their_agent(spans: Any) -> None:
    @tool
    async def look(n: int) -> int:
        await asyncio.sleep(0.001)
        return n

    @agent
    async def many() -> list[int]:
        return list(await asyncio.gather(*(look(n) for n in range(3))))

    assert asyncio.run(many()) == [0, 1, 2]
    assert spans.tree() == "invoke_agent many" + "\n  execute_tool look" * 3


def test_steps_of_memory_reasoning_and_handoff(spans: Any) -> None:
    @step("reasoning")
    def think() -> str:
        return "first the weather"

    @step("memory_read", name="notes")
    def recall(query: str) -> list[str]:
        return ["rain"]

    @step("memory_write")
    def remember(key: str, value: str) -> None: ...

    @step("handoff")
    def hand_over(to_agent: str, message: str) -> None: ...

    @agent
    def planner() -> None:
        think()
        recall("weather")
        remember("weather", "rain")
        hand_over("writer", "write it")

    planner()
    assert spans.tree() == (
        "invoke_agent planner\n  search_memory\n  upsert_memory\n  execute_tool transfer_to_writer"
    )
    kinds = [event.attributes["agentool.step.type"] for event in spans.finished()[-1].events]
    assert kinds == ["reasoning", "memory_read", "memory_write", "handoff"]


def test_an_unknown_step_type_is_refused_by_name() -> None:
    with pytest.raises(ConfigurationError, match="unknown step type 'thinking': use one of"):
        step("thinking")  # type: ignore[arg-type]


def test_without_content_names_and_order_remain(spans: Any) -> None:
    spans.without_content()

    @agent
    def clerk(question: str) -> str:
        return f"{add(1, 2)}"

    clerk("secret question")
    tool_span, root = spans.finished()
    assert "gen_ai.tool.call.arguments" not in tool_span.attributes
    assert "gen_ai.input.messages" not in root.attributes
    assert len(root.events) == 2


def test_switched_off_a_decorated_call_makes_no_span(spans: Any) -> None:
    from agentool_otel.tracing.spans.settings import settings

    settings.enabled = False
    assert add(1) == 3
    assert spans.finished() == []


def test_suppressed_instrumentation_is_respected(spans: Any) -> None:
    from opentelemetry import context

    token = context.attach(context.set_value(context._SUPPRESS_INSTRUMENTATION_KEY, True))
    try:
        add(1)
    finally:
        context.detach(token)
    assert spans.finished() == []


def test_a_users_span_inside_a_tool_is_its_child(spans: Any) -> None:
    from agentool_otel.tracing.spans.settings import settings

    assert settings.provider is not None
    tracer = settings.provider.get_tracer("app")

    @tool
    def work() -> None:
        with tracer.start_as_current_span("inside"):
            trace.get_current_span().set_attribute("app.key", 1)

    work()
    assert spans.tree() == "execute_tool work\n  inside"


def test_without_a_provider_everything_works_and_nothing_is_recorded() -> None:
    assert add(1) == 3


def test_a_returned_generator_is_passed_on_unchanged(spans: Any) -> None:
    @tool
    def same(value: Any) -> Any:
        return value

    mine = (n for n in range(3))
    assert same(mine) is mine
    assert spans.only().name == "execute_tool same"
    assert list(mine) == [0, 1, 2]
