"""AutoGen, whose teams communicate by messages."""
