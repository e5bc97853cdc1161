"""Trajectories and results on a Spark cluster. Extra: `spark`."""
