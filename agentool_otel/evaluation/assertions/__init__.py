"""The assertion types. Spec: agentool interoperability spec v0.1 for the first seven; the others
are open words of the same shape.

contains_tool_call, no_tool_call, tool_call_count, tool_sequence, args_match    which tools, and how
handoff, status, no_loop, no_tool_error                                         how the run went
ran_command, changed_file, tests_after_last_change, no_denied_tool, max_turns   for coding agents
output_equals, output_contains, output_matches, response_format                 what it answered
latency, context_efficiency, max_cost_usd                                       what it took
output_property, no_hallucination, rubric                                       for a judge
"""

from __future__ import annotations
