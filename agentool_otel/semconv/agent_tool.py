"""Names for the data of Agent Tool that the conventions have no name for.

Spec: this file, for objects of Agent Tool 0.2.0. Every name starts with `agenttool.`. An object is
written as JSON in two attributes: its facts (ids, references, enumerated words, times and counts),
and the difference between these and the whole (content).
"""

from agentool_otel.semconv._naming import naming

_name, MEANING = naming()
"""Name to its meaning in one line, in the order below."""

# The invocation: on the span of the tool's execution
INVOCATION_ID = _name("agenttool.invocation.id", "invocation_id")
INVOCATION_STATUS = _name("agenttool.invocation.status", "last state of the invocation")
INVOCATION_FACTS = _name("agenttool.invocation.facts", "the Invocation without content, as JSON")
INVOCATION_CONTENT = _name(
    "agenttool.invocation.content", "its members besides facts and inputs (content), as JSON"
)
TOOL_ID = _name("agenttool.tool.id", "tool_id")
TOOL_NAMESPACE = _name("agenttool.tool.namespace", "namespace of the tool")
TOOL_KIND = _name("agenttool.tool.kind", "tool_kind of the tool")
SURFACE_ID = _name("agenttool.surface.id", "surface_id")
INPUT_MODEL = _name("agenttool.input.model", "model_input (content), as JSON")
INPUT_OBSERVABLE = _name("agenttool.input.observable", "observable_input (content), as JSON")
INPUT_PERMISSION = _name("agenttool.input.permission", "permission_input (content), as JSON")
INPUT_CALL = _name("agenttool.input.call", "call_input (content), as JSON")
INPUT_MUTATED = _name("agenttool.input.mutated", "true where not all inputs that are known agree")
INPUT_MUTATED_BY = _name("agenttool.input.mutated_by", "source_type of each mutation, in order")
QUEUE_MS = _name("agenttool.queue_ms", "from the queue, else the request, to the start, in ms")
RUN_MS = _name("agenttool.run_ms", "from the start to the end of the execution, in ms")
APPROVAL_MS = _name("agenttool.approval_ms", "time that it waited to be approved, in ms")
PROGRESS_COUNT = _name("agenttool.progress.count", "how many progress updates there were")
PROGRESS_DROPPED = _name(
    "agenttool.progress.dropped", "how many of them are on no span event, for want of room"
)
EVENTS_DROPPED = _name(
    "agenttool.events.dropped", "how many other events are on no span event, for want of room"
)
WITHHELD = _name(
    "agenttool.withheld",
    "why its payload is not here: redacted, ref_only, ...; `ended` where an event was recorded "
    "after the end of its invocation, so that its content is not here",
)

# Its result
RESULT_ID = _name("agenttool.result.id", "result_id")
RESULT_STATUS = _name("agenttool.result.status", "status of the result")
RESULT_IS_ERROR = _name("agenttool.result.is_error", "is_error of the result")
RESULT_REDACTION_STATE = _name("agenttool.result.redaction_state", "redaction_state of the result")
RESULT_PAYLOAD = _name(
    "agenttool.result.payload", "whether its payload was present, empty, missing or withheld"
)
RESULT_SIZE_BYTES = _name("agenttool.result.size_bytes", "size of its payload, in bytes")
RESULT_FACTS = _name("agenttool.result.facts", "the Result without content, as JSON")
RESULT_CONTENT = _name(
    "agenttool.result.content", "its members besides its facts (content), as JSON"
)
ERROR_CODE = _name("agenttool.error.code", "error_code of the result's error")
ERROR_RECOVERABILITY = _name("agenttool.error.recoverability", "what would have to change")

# Span events that the specification has no word for; others have the names that it gives events
EVENT_STATUS = _name("agenttool.status", "event name: a state of the invocation")
EVENT_INVOCATION = _name(
    "agenttool.invocation",
    "event name: an Invocation that has no span of its own, or none any more",
)
EVENT_INPUT_MUTATION = _name("agenttool.input_mutation", "event name: an InputMutation")
EVENT_HOOK = _name("agenttool.hook", "event name: a Hook that runs neither before nor after a tool")
EVENT_INTERFACE = _name("agenttool.interface", "event name: a ToolInterface")
EVENT_EXECUTION_PROFILE = _name("agenttool.execution_profile", "event name: an ExecutionProfile")
EVENT_PERMISSION_PROFILE = _name("agenttool.permission_profile", "event name: a PermissionProfile")
EVENT_SCHEDULER_POLICY = _name("agenttool.scheduler_policy", "event name: a SchedulerPolicy")

# Any other object, on a span event
OBJECT_KIND = _name("agenttool.object.kind", "which object of Agent Tool it is, such as `Hook`")
OBJECT_FACTS = _name("agenttool.object.facts", "the object without content, as JSON")
OBJECT_CONTENT = _name(
    "agenttool.object.content", "its members besides its facts (content), as JSON"
)
PERMISSION_BEHAVIOR = _name("agenttool.permission.behavior", "allow, ask, deny or passthrough")
PERMISSION_SOURCE = _name("agenttool.permission.source", "where the rule comes from")
PERMISSION_REASON = _name("agenttool.permission.reason", "type of the reason")
PROGRESS_SEQUENCE = _name("agenttool.progress.sequence", "place of a progress update")
PROGRESS_STATUS = _name("agenttool.progress.status", "text of a progress update")
PERSISTENCE_STRATEGY = _name("agenttool.persistence.strategy", "what becomes of a result")
MUTATION_SOURCE = _name("agenttool.mutation.source", "source_type of a mutation")

INPUTS = {
    "model_input": INPUT_MODEL,
    "observable_input": INPUT_OBSERVABLE,
    "permission_input": INPUT_PERMISSION,
    "call_input": INPUT_CALL,
}
"""The four inputs of an invocation, from the model's to the executor's."""
