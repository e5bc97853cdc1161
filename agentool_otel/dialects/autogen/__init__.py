"""AutoGen, whose teams speak by messages."""
