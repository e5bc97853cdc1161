"""The instrumentor of the Claude Agent SDK: `patches` has the table and what is seen."""
