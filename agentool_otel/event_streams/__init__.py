"""Systems that tell of their work by events, not by spans: from their events to steps.

recording     what a translator needs of whoever keeps the steps
records       keeps them as collected spans, for logs that are read afterwards
amplifier/    Amplifier's kernel events

A translator is used twice: live, by an instrumentor, whose steps are OpenTelemetry spans, and
offline, by a source, whose steps are span records. So both give the same trajectories.
"""
