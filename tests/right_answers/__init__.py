"""Contents of real traces, and the share that a reader finds: for tests and for the recall
table.
"""
