"""The offline side: from collected spans to trajectories and the documents that tools take.

parallel  rebuilding in several processes
rebuild   collected spans back to trajectories
sources   files, streams and servers that spans are read from
formats   trajectories in the shapes of other tools

Nothing here imports `tracing` or `evaluation`.
"""
