"""Our own names, for data of the agentool documents that the conventions have no name for.

Spec: this file. Every name starts with `agentool.`; `MEANING` lists them all for the docs.
"""

from agentool_otel.semconv._naming import naming

_name, MEANING = naming()
"""Name to its meaning in one line, in the order below."""

# The run: on the span that is the root of one trace document
TRACE_ID = _name("agentool.trace.id", "id of the ReasoningTrace this run is")
AGENT_ID = _name("agentool.agent.id", "agent_id of the ReasoningTrace, whatever hosts the agent")
SESSION_ID = _name(
    "agentool.session.id",
    "id that groups runs, as the user gave it; one that begins with `inferred-` follows from the"
    " messages of a chat",
)
CASE_ID = _name("agentool.case.id", "id of the EvalCase that the run is a try of")
TAGS = _name("agentool.tags", "words by which runs are found and grouped, as the user gave them")
STATUS = _name(
    "agentool.status", "status of the ReasoningTrace: success, error, timeout, in_progress, ..."
)
INPUT = _name("agentool.input", "input of the run where it is not messages, as JSON (content)")
OUTPUT = _name("agentool.output", "output of the run where it is not messages, as JSON (content)")
FILE_INPUT = _name(
    "agentool.file.input",
    "input of the run, from beside its spans in a file, as JSON (content); never written",
)
FILE_OUTPUT = _name(
    "agentool.file.output",
    "output of the run, from beside its spans in a file, as JSON (content); never written",
)
FILE_STATUS = _name(
    "agentool.file.status", "status of the run, from beside its spans in a file; never written"
)
METADATA = _name("agentool.metadata", "metadata of the ReasoningTrace, as JSON")
EXTRA = _name(
    "agentool.extra", "members of the trace that its spans do not imply (content), as JSON"
)
SCHEMA_VERSION = _name("agentool.schema_version", "version of the agentool spec that was written")
DOCUMENT = _name("agentool.document", "a document of the spec that is no trace, as JSON (content)")
DOCUMENT_TYPE = _name("agentool.document.type", "its type: ToolSpec, ToolRegistry, EvalCase, ...")

# What a span holds, on an event beside it
EVENT_DETAILS = _name(
    "agentool.operation.details",
    "event name: content of an operation the conventions have no event for, in the context of its"
    " span",
)

# Messages as events, one each, in the generation that has them so: members of the body
MESSAGE = _name(
    "agentool.message",
    "the full message (content), as JSON, where the body of its event cannot hold all of it; "
    "null where an event before it does",
)
SYSTEM_INSTRUCTIONS = _name(
    "agentool.system_instructions",
    "instructions separate from the messages (content), as JSON",
)

# Steps: events on the run's span, in order
STEP_EVENT = _name("agentool.step", "event name: one step of the run")
STEPS_SPAN = _name("agentool.steps", "span name: a child of the run that holds further step events")
STEP_INDEX = _name("agentool.step.index", "position of the step in the run, from 0")
STEP_ID = _name("agentool.step.id", "step_id of the step")
STEP_TYPE = _name("agentool.step.type", "type of the step: reasoning, tool_call, handoff, ...")
STEP_CONTENT = _name(
    "agentool.step.content", "content of a step without a span of its own (content)"
)
STEP_CONTEXT_TOKENS = _name("agentool.step.context_tokens", "tokens in the context at this step")
STEP_EXTRA = _name(
    "agentool.step.extra", "members of the step that its span does not imply (content), as JSON"
)
STEP_SPAN_ID = _name("agentool.step.span_id", "id of the span that carries the step's payload")
STEP_RESULT_INDEX = _name(
    "agentool.step.result.index", "position of the tool_result step that a tool span includes"
)
STEP_RESULT_ID = _name("agentool.step.result.id", "step_id of that tool_result step")
STEP_RESULT_EXTRA = _name(
    "agentool.step.result.extra",
    "members of that step that its span does not imply (content), as JSON",
)

# Totals of a run, on its root span; never added to the usage of the leaves
METRICS_PREFIX = "agentool.metrics."
METRICS_TOTAL_TOKENS = _name("agentool.metrics.total_tokens", "input and output tokens of the run")
METRICS_TOTAL_COST_USD = _name("agentool.metrics.total_cost_usd", "cost of the run in US dollars")
METRICS_TOTAL_DURATION_MS = _name("agentool.metrics.total_duration_ms", "length of the run in ms")
METRICS_STEP_COUNT = _name("agentool.metrics.step_count", "number of steps of the run")
METRICS_TOOL_CALL_COUNT = _name("agentool.metrics.tool_call_count", "number of tool calls")

# Tool spans
TOOL_DURATION_MS = _name("agentool.tool.duration_ms", "duration as the tool result reports it")
TOOL_COST_TOKENS = _name(
    "agentool.tool.cost_tokens", "cost in tokens as the tool result reports it"
)
TOOL_ERROR = _name("agentool.tool.error", "the tool's error text (content)")
TOOL_WRAPPED = _name(
    "agentool.tool.wrapped",
    "which of arguments, result and a handoff's message were put into an object",
)
TOOL_INCOMPLETE = _name(
    "agentool.tool.incomplete", "the half that is known: call_only, result_only"
)
CALLS_REQUESTED = _name(
    "agentool.calls.requested",
    "ids of the tool calls that an answer requests, where content is off",
)
CALLS_ANSWERED = _name(
    "agentool.calls.answered",
    "ids of the tool calls whose results a model call sends, where content is off",
)
TRANSFER_TARGET = _name("agentool.transfer.target", "agent a handoff goes to")
TRANSFER_MESSAGE = _name(
    "agentool.transfer.message",
    "message of a handoff (content): in earlier recordings, and in addition to arguments",
)

# Memory spans
MEMORY_WRAPPED = _name(
    "agentool.memory.wrapped",
    "how a value was put into gen_ai.memory.records: each item of a list, or the whole value",
)
MEMORY_KEY = _name(
    "agentool.memory.key", "key that was written: in earlier recordings, where it has no other name"
)
MEMORY_CONTENT = _name(
    "agentool.memory.content",
    "value that was written, as JSON (content): in earlier recordings, and in addition to records",
)
MEMORY_RESULTS = _name(
    "agentool.memory.results",
    "result of a search, as JSON (content): in earlier recordings, and in addition to records",
)

FORMS = frozenset({TOOL_WRAPPED, MEMORY_WRAPPED})
"""Marks of content that was put into the shape of the conventions: nothing is lost without them."""

# Evaluation results: on spans in the judged trace, and on events in the context of the judged span
EVAL_RESULT_ID = _name(
    "agentool.eval.result_id", "the EvalResult that this is a part of, the same whenever it is sent"
)
EVAL_ID = _name("agentool.eval.id", "eval_id of the EvalResult")
EVAL_CASE_ID = _name("agentool.eval.case_id", "case_id of the EvalResult")
EVAL_TRACE_ID = _name("agentool.eval.trace_id", "trace_id of the EvalResult")
EVAL_JUDGE_MODEL = _name("agentool.eval.judge_model", "model that judged")
EVAL_EVALUATED_AT = _name("agentool.eval.evaluated_at", "when it was judged, RFC 3339")
EVAL_INDEX = _name(
    "agentool.eval.index",
    "position of the assertion in the EvalResult, from 0; absent for the result itself",
)
EVAL_PASSED = _name(
    "agentool.eval.passed", "whether the assertion held, or the result passed; absent: not known"
)
EVAL_EVALUATED = _name(
    "agentool.eval.evaluated", "how many assertions of the result were evaluated"
)
EVAL_TOTAL = _name("agentool.eval.total", "of how many")
EVAL_STEP_IDS = _name("agentool.eval.step_ids", "steps that the verdict on an assertion rests on")
EVAL_NOTES = _name("agentool.eval.notes", "notes of the EvalResult (content)")
EVAL_EXTRA = _name(
    "agentool.eval.extra", "members of the result that its spans do not imply (content), as JSON"
)
EVAL_SPAN_ID = _name("agentool.eval.span_id", "id of the span with the same data as this event")

# Any span
COST_USD = _name("agentool.cost.usd", "cost of this operation in US dollars")
INCOMPLETE = _name("agentool.incomplete", "true when the span never ended and was closed for it")
UNCAUGHT = _name(
    "agentool.uncaught",
    "true on a child of the last call outside any run, which has the exception that ended the"
    " program",
)
ATTEMPT_OF = _name(
    "agentool.attempt.of",
    "span id of the failed model call that this one makes again, outside any run",
)
INFERRED = _name(
    "agentool.inferred",
    "what of a span nobody reported: `run` for the span of a plain loop, `times` for a tool whose"
    " times are those of the messages around it",
)
INTERRUPTED = _name("agentool.interrupted", "what ended the span early without being an error")
SPAN_KIND = _name("agentool.span.kind", "span kind, for stores that drop it")
SPAN_PARENT_ID = _name("agentool.span.parent_id", "parent span id, for stores that drop it")
SPAN_START_NS = _name("agentool.span.start_ns", "exact start, for stores that round times")
SPAN_END_NS = _name("agentool.span.end_ns", "exact end, for stores that round times")
ALSO = _name(
    "agentool.also",
    "second vocabulary whose names were added to a span that was sent, for backends that read "
    "those; after it, its names that were there before",
)
DIALECT = _name(
    "agentool.dialect",
    "vocabulary of an exported span, where its scope or other names suggest another",
)
VOCABULARIES = ("openinference",)
"""Those that can be written beside our own names."""
COPIES = frozenset({SPAN_KIND, SPAN_PARENT_ID, SPAN_START_NS, SPAN_END_NS})
"""Copies of the span's own members: in recordings, and sent if `AGENTOOL_SPAN_COPIES=on`."""

CONTENT_REDACTED = _name(
    "agentool.content.redacted",
    "attributes of this span or event whose text a `redact` hook has changed or left out",
)
CONTENT_SHORTENED = _name(
    "agentool.content.shortened",
    "attributes of this span or event that were shortened or left out to fit, as JSON: name to"
    " bytes, sha256 of the whole text and, where it is kept, the place it is stored",
)
