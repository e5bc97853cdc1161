"""The objects of Agent Tool 0.2.0, held without loss.

objects      their types: unknown members are kept and written back, unknown words are carried
vocabulary   the words that the specification gives for kinds, states, events and errors
checking     which object a JSON object is, and what is wrong with it
schema       their JSON Schemas; the files in `schemas/` are generated from the types

Spec: Agent Tool 0.2.0 (limecloud/agenttool), its specification and contracts. It is a draft without
code: what is published as prose is read here, the schemas are our own.
"""
