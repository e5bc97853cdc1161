"""Trajectories and verdicts on a Spark cluster. Extra: `spark`; needs Java 17 or newer.

    from agentool_otel.spark import results, trajectories

    frame = spark.read.parquet("s3a://bucket/spans")     # or spark.read.text of OTLP/JSON lines
    trajectories(frame).write.parquet("s3a://bucket/trajectories")
    results(frame, [{"type": "no_tool_error"}]).where("passed").select("trace_id").show()

Rows are those of `agentool_otel.tables`, and have a `problem`: what could not be read, or was not
joined, is a row with nothing else but its `trace_id`.

    frames    the functions, from DataFrame to DataFrame
    grouping  runs from sorted rows of spans
    kernel    trajectories and results from sorted rows, for any engine that has Arrow batches
    lines     rows of spans from lines of OTLP/JSON
    session   the SparkSession of the command line

Workers need this package, too.
"""

from agentool_otel.spark.frames import results, spans, trajectories

__all__ = ["results", "spans", "trajectories"]
