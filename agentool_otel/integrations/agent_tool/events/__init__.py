"""Events and objects that runtimes of Agent Tool emit.

translator   what each object does to the steps, and which references it is given
invocation   one invocation: what is known of it until its step ends
ending       what is written of it then
event_objects    events, and the objects in them
tools        what is known of the tools that are called
objects_on_spans    objects as attributes, and again
timing       how long it waited, to be approved and to be started, and how long it ran
outcomes     how it ended, in the words of `error.type`
facts        which members of an object say nothing of what people and tools said
withholding  what must not leave: redacted payloads, and the values of sensitive fields
from_spans   the objects again, from spans

Spec: Agent Tool 0.2.0.
"""
