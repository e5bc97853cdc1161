"""The processor of the Collector that reduces names to those of the conventions."""
