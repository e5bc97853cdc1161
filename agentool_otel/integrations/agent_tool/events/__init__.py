"""Events and objects that runtimes of Agent Tool emit.

translator   the effect of each object on the steps, and the references it gets
invocation   one invocation: the objects about it until its step ends
ending       the attributes that are written at its end
event_objects    events, and the objects in them
tools        names, kinds and sensitive data of the tools that are called
objects_on_spans    objects to attributes and back
timing       how long it waited, to be approved and to be started, and how long it ran
outcomes     its end as a value of `error.type`
facts        members of objects that have no content of people and tools
withholding  redacted payloads, and the values of sensitive fields
from_spans   spans back to objects

Spec: Agent Tool 0.2.0.
"""
