"""The local files of ToolSmith, which tests whether an agent selects the right tool.

Spec: ToolSmith 1.0.0, local file shapes, and what 1.1.0 adds to runs; runs of 0.1 had other words
for what went wrong. ToolSmith never executes a tool and measures no time.

tools      `tools.json`: a ToolRegistry
tasks      `tasks.json`: EvalCases
runs       `.toolsmith/runs/latest.json`: a ReasoningTrace and an EvalResult for each task
documents  the converter, which tells them apart
"""
