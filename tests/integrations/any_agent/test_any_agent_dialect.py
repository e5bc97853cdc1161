"""any-agent: public traces of its tests."""

from __future__ import annotations

from tests.dialects.spelled import coverage, spelled, text
from tests.dialects.traces import load

OPENAI = load("any_agent/OPENAI_trace.json")
LANGCHAIN = load("any_agent/LANGCHAIN_trace.json")


def test_a_run_with_the_openai_agents_sdk_is_read() -> None:
    assert spelled(*OPENAI) == text("""
        any_agent: chat model=mistral/mistral-small-latest cost=3.17e-05 in=269 out=16
          > system: Use the available tools to answer.
          > user: Find what year it is in the America/New_Yo… you have taken.
          < assistant: [call None] get_current_time {"timezone":"America/New_York"}
        any_agent: tool get_current_time arguments={"timezone":"America/New_York"}
            result={"timezone":"America/New_York","datetime":…","is_dst":true}
        any_agent: chat model=mistral/mistral-small-latest cost=4.01e-05 in=359 out=14
          < assistant: [call None] write_file {"text":"2025"}
        any_agent: tool write_file arguments={"text":"2025"} result={}
        any_agent: chat model=mistral/mistral-small-latest cost=5.3e-05 in=392 out=46
          < assistant: {"steps":[{"number":1,"description":"Get c…r to a file."}]}
        any_agent: agent model=mistral/mistral-small-latest agent=any_agent
    """)
    assert coverage(OPENAI) == 0.98


def test_a_run_with_langchain_is_read() -> None:
    assert spelled(*LANGCHAIN) == text("""
        any_agent: chat model=mistral/mistral-small-latest cost=2.93e-05 in=245 out=16
          > system: Use the available tools to answer.
          > user: Find what year it is in the America/New_Yo… you have taken.
          < assistant: [call None] get_current_time {"timezone":"America/New_York"}
        any_agent: tool get_current_time arguments={"timezone":"America/New_York"}
            result={"timezone":"America/New_York","datetime":…","is_dst":true}
        any_agent: chat model=mistral/mistral-small-latest cost=3.73e-05 in=331 out=14
          < assistant: [call None] write_file {"text":"2025"}
        any_agent: tool write_file arguments={"text":"2025"}
        any_agent: chat model=mistral/mistral-small-latest cost=4.649999999999999e-05 in=366
            out=33
          < assistant: Here are the steps I have taken:⏎⏎1. Found… year to a file.
        any_agent: chat model=mistral/mistral-small-latest cost=5.06e-05 in=320 out=62
          < assistant: {"steps":[{"number":1,"description":"Found…r to a file."}]}
        any_agent: agent model=mistral/mistral-small-latest agent=any_agent
    """)
    assert coverage(LANGCHAIN) == 0.98
