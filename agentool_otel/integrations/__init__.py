"""Products: code for one framework, client, store, server, agent or specification each.

A folder is a product: what changes when one vendor releases. It holds roles, modules or packages of
fixed names, each of which is found by its entry point and knows no other product:

- `instrumentor`: live, patches and hooks of a framework or client
- `hook`: live, what a framework mounts
- `emitter`: live, what a runtime calls
- `dialect`: what the attributes of its spans mean
- `store`: its exports, in files
- `server`: its query API
- `log_reader`: its own logs, as spans
- `format`: trajectories in its shape
- `cases`: its eval sets, as cases
- `converter`: its documents of tools, as those of the agentool spec
- `results`: verdicts of its evaluator
- `events`: its events as steps, live and from logs
- `documents`: its own types

A third party's product has the same roles, in a package of its own.
"""
